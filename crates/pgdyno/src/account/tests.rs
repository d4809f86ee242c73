//! Does the account of a real run agree with its tables?

use super::*;
use model::chart::{ChartKind, Charts, TrackKind};
use rusqlite::{Connection, OpenFlags};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/shop.dyno");

fn rows(sql: &str) -> Vec<Vec<f64>> {
    let connection =
        Connection::open_with_flags(FIXTURE, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the fixture is there");
    let mut statement = connection.prepare(sql).expect("views are as documented");
    let width = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get(at)).collect::<rusqlite::Result<_>>();
    statement.query_map([], row).expect("it can be read").collect::<Result<_, _>>().expect("numbers")
}

fn track(it: &Charts, kind: ChartKind, what: TrackKind, label: Option<&str>) -> Vec<Option<f64>> {
    let chart = it.charts.iter().find(|it| it.kind == kind).unwrap_or_else(|| panic!("{kind:?} is drawn"));
    let track = chart.tracks.iter().find(|it| it.what == what && it.label.as_deref() == label);
    track.unwrap_or_else(|| panic!("{kind:?} has {what:?} {label:?}")).values.clone()
}

/// Values of all trials beside those of `sql`: trial, second, value.
#[track_caller]
fn check(account: &Account, kind: ChartKind, what: TrackKind, label: Option<&str>, sql: &str) {
    let expected = rows(sql);
    assert!(!expected.is_empty(), "{sql} has rows");
    for row in expected {
        let [trial, second, value] = row[..] else { panic!("three columns") };
        let charts = &account.trials[trial as usize - 1].charts;
        let shown = track(charts, kind, what, label)[second as usize];
        let close = shown.is_some_and(|it| (it - value).abs() <= 1e-9 * value.abs());
        assert!(close, "trial {trial}, second {second} of {kind:?} {what:?}: {shown:?}, not {value}");
    }
}

/// The last tick of a trial is what came after its window.
const WHOLE: &str = "second < (SELECT max(second) FROM ticks w WHERE w.trial = t.trial)";

#[test]
fn charts_agree_with_the_views() {
    let account = of(Path::new(FIXTURE)).expect("the fixture can be read");
    let per_second = "/ ((to_ns - from_ns) / 1e9) FROM ticks t WHERE";
    check(
        &account,
        ChartKind::Rate,
        TrackKind::Delivered,
        None,
        &format!("SELECT trial, second, sum(ok - late) {per_second} {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Rate,
        TrackKind::Delivered,
        Some("read"),
        &format!("SELECT trial, second, (ok - late) {per_second} operation = 'read' AND {WHOLE}"),
    );
    check(
        &account,
        ChartKind::Rate,
        TrackKind::Offered,
        None,
        &format!("SELECT trial, second, (begun + sum(dropped)) {per_second} {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Response,
        TrackKind::Max,
        None,
        &format!("SELECT trial, second, max(response_max_ns) / 1e9 FROM ticks t WHERE {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::InFlight,
        TrackKind::InFlight,
        None,
        &format!("SELECT trial, second, in_flight FROM ticks t WHERE {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Failures,
        TrackKind::Failed,
        Some("22012"),
        &format!(
            "SELECT trial, second, sum(count) / (SELECT (to_ns - from_ns) / 1e9 FROM ticks k
                WHERE k.trial = t.trial AND k.second = t.second LIMIT 1)
             FROM failures t WHERE class = 'failed' AND code = '22012' AND {WHOLE} GROUP BY 1, 2"
        ),
    );
    let mean = |series: &str, asked: &str, label: &str| {
        format!(
            "SELECT t.trial, cast(t.at_s AS INTEGER), sum(t.value) * 1.0 / (SELECT count(DISTINCT m.at_s) FROM samples m
                WHERE m.trial = t.trial AND m.series = '{asked}' AND m.at_s > 0
                    AND cast(m.at_s AS INTEGER) = cast(t.at_s AS INTEGER))
             FROM samples t WHERE t.series = '{series}' AND t.label LIKE '{label}' AND t.at_s > 0
                AND t.at_s < (SELECT max(second) FROM ticks w WHERE w.trial = t.trial) GROUP BY 1, 2"
        )
    };
    check(
        &account,
        ChartKind::Pooler,
        TrackKind::ClientsWaiting,
        None,
        &mean("pgbouncer_cl_waiting", "pgbouncer_cl_waiting", "%"),
    );
    check(
        &account,
        ChartKind::Connections,
        TrackKind::Sessions,
        Some("active"),
        &mean("pg_sessions", "pg_connections_used", "active"),
    );
    check(
        &account,
        ChartKind::Waits,
        TrackKind::Waiting,
        Some("running"),
        &mean("pg_active_waits", "pg_connections_used", "running"),
    );
}

#[test]
fn cells_agree_with_the_views() {
    let account = of(Path::new(FIXTURE)).expect("the fixture can be read");
    let sums = rows(
        "SELECT r.cell, sum(t.ok), sum(t.failed + t.unknown), sum(t.ok - t.late),
            sum(t.service_sum_ns) / sum(t.ok), (SELECT sum(window_ns) / 1e9 FROM whole w JOIN trials v ON v.trial = w.trial WHERE v.cell = r.cell)
         FROM ticks t JOIN trials r ON r.trial = t.trial WHERE r.valid GROUP BY 1",
    );
    assert_eq!(sums.len(), account.cells.len());
    for row in sums {
        let [cell, ok, bad, delivered, service, window] = row[..] else { panic!("six columns") };
        let it = &account.cells[cell as usize];
        let total = it.total.as_ref().expect("its trials are valid");
        assert_eq!(total.count as f64, ok, "cell {cell}");
        assert_eq!(total.failures.iter().map(|it| it.count).sum::<u64>() as f64, bad, "cell {cell}");
        assert!((total.delivered.0 - delivered / window).abs() < 1e-6, "cell {cell}");
        assert_eq!(total.service.mean.map(|it| it.0 as f64), Some(service.floor()), "cell {cell}");
        let each: u64 = it.operations.iter().map(|it| it.count).sum();
        assert_eq!(each, total.count, "operations of cell {cell} add up");
        let good = total.goodput.expect("there is an objective of latency");
        assert!(good.0 <= total.delivered.0 && good.0 > 0.0);
        assert!(it.statements.iter().any(|it| it.text.starts_with("SELECT value_id, type FROM profiles")));
    }
    let hops: Vec<Vec<&str>> =
        account.cells.iter().map(|it| it.hops.iter().map(|it| it.node.as_str()).collect()).collect();
    let pooled = vec!["generator", "pooler", "postgres"];
    assert_eq!(hops, [vec!["generator", "postgres"], pooled.clone(), pooled]);
    let pooler = &account.cells[1].hops[1];
    assert!(pooler.queue.is_some_and(|it| it > 1.0), "the queue is where the finding says: {pooler:?}");
    assert_eq!(account.about.command, "pgdyno run shop.yaml");
    assert_eq!(account.about.state, RunState::Complete);
    assert_eq!(account.stand.nodes.len(), 2, "one pooler and one PostgreSQL in one configuration");
}
