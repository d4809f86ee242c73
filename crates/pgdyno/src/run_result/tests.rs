//! Comparison of a real run's result with the tables of its file

use super::*;
use model::chart::{ChartKind, ChartSeriesKind, Charts};
use rusqlite::{Connection, OpenFlags};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/shop.dyno");

fn rows(sql: &str) -> Vec<Vec<f64>> {
    let connection =
        Connection::open_with_flags(FIXTURE, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the fixture is there");
    let mut statement = connection.prepare(sql).expect("views are as documented");
    let width = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get(at)).collect::<rusqlite::Result<_>>();
    statement.query_map([], row).expect("the rows can be read").collect::<Result<_, _>>().expect("numbers")
}

fn track(
    charts: &Charts,
    kind: ChartKind,
    series_kind: ChartSeriesKind,
    label: Option<&str>,
) -> Vec<Option<f64>> {
    let chart =
        charts.charts.iter().find(|it| it.kind == kind).unwrap_or_else(|| panic!("{kind:?} is drawn"));
    let track = chart.series.iter().find(|it| it.kind == series_kind && it.label.as_deref() == label);
    track.unwrap_or_else(|| panic!("{kind:?} has {series_kind:?} {label:?}")).values.clone()
}

/// Compares the values of all trials with the rows of `sql`: trial, second, value.
#[track_caller]
fn check(account: &RunResult, kind: ChartKind, series_kind: ChartSeriesKind, label: Option<&str>, sql: &str) {
    let expected = rows(sql);
    assert!(!expected.is_empty(), "{sql} has rows");
    for row in expected {
        let [trial, second, value] = row[..] else { panic!("three columns") };
        let charts = &account.trials[trial as usize - 1].charts;
        let shown = track(charts, kind, series_kind, label)[second as usize];
        let close = shown.is_some_and(|it| (it - value).abs() <= 1e-9 * value.abs());
        assert!(close, "trial {trial}, second {second} of {kind:?} {series_kind:?}: {shown:?}, not {value}");
    }
}

/// Condition for whole seconds. The last tick of a trial is the partial second after its window.
const WHOLE: &str = "second < (SELECT max(second) FROM ticks w WHERE w.trial = t.trial)";

#[test]
fn charts_equal_the_sql_views() {
    let account = from_file(Path::new(FIXTURE)).expect("the fixture can be read");
    let per_second = "/ ((to_ns - from_ns) / 1e9) FROM ticks t WHERE";
    check(
        &account,
        ChartKind::Rate,
        ChartSeriesKind::Delivered,
        None,
        &format!("SELECT trial, second, sum(ok - late) {per_second} {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Rate,
        ChartSeriesKind::Delivered,
        Some("read"),
        &format!("SELECT trial, second, (ok - late) {per_second} operation = 'read' AND {WHOLE}"),
    );
    check(
        &account,
        ChartKind::Rate,
        ChartSeriesKind::Offered,
        None,
        &format!("SELECT trial, second, (begun + sum(dropped)) {per_second} {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Response,
        ChartSeriesKind::Max,
        None,
        &format!("SELECT trial, second, max(response_max_ns) / 1e9 FROM ticks t WHERE {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::InFlight,
        ChartSeriesKind::InFlight,
        None,
        &format!("SELECT trial, second, in_flight FROM ticks t WHERE {WHOLE} GROUP BY 1, 2"),
    );
    check(
        &account,
        ChartKind::Failures,
        ChartSeriesKind::Failed,
        Some("22012"),
        &format!(
            "SELECT trial, second, sum(count) / (SELECT (to_ns - from_ns) / 1e9 FROM ticks k
                WHERE k.trial = t.trial AND k.second = t.second LIMIT 1)
             FROM failures t WHERE class = 'failed' AND code = '22012' AND {WHOLE} GROUP BY 1, 2"
        ),
    );
    let mean = |series: &str, base_series: &str, label: &str| {
        format!(
            "SELECT t.trial, cast(t.at_s AS INTEGER), sum(t.value) * 1.0 / (SELECT count(DISTINCT m.at_s) FROM samples m
                WHERE m.trial = t.trial AND m.series = '{base_series}' AND m.at_s > 0
                    AND cast(m.at_s AS INTEGER) = cast(t.at_s AS INTEGER))
             FROM samples t WHERE t.series = '{series}' AND t.label LIKE '{label}' AND t.at_s > 0
                AND t.at_s < (SELECT max(second) FROM ticks w WHERE w.trial = t.trial) GROUP BY 1, 2"
        )
    };
    check(
        &account,
        ChartKind::Pooler,
        ChartSeriesKind::ClientsWaiting,
        None,
        &mean("pgbouncer_cl_waiting", "pgbouncer_cl_waiting", "%"),
    );
    check(
        &account,
        ChartKind::Connections,
        ChartSeriesKind::Sessions,
        Some("active"),
        &mean("pg_sessions", "pg_connections_used", "active"),
    );
    check(
        &account,
        ChartKind::Waits,
        ChartSeriesKind::Waiting,
        Some("running"),
        &mean("pg_active_waits", "pg_connections_used", "running"),
    );
}

#[test]
fn cells_equal_the_sql_views() {
    let account = from_file(Path::new(FIXTURE)).expect("the fixture can be read");
    let sums = rows(
        "SELECT r.cell, sum(t.ok), sum(t.failed + t.unknown), sum(t.ok - t.late),
            sum(t.service_sum_ns) / sum(t.ok), (SELECT sum(window_ns) / 1e9 FROM whole w JOIN trials v ON v.trial = w.trial WHERE v.cell = r.cell)
         FROM ticks t JOIN trials r ON r.trial = t.trial WHERE r.valid GROUP BY 1",
    );
    assert_eq!(sums.len(), account.cells.len());
    for row in sums {
        let [cell, ok, bad, delivered, service, window] = row[..] else { panic!("six columns") };
        let cell_result = &account.cells[cell as usize];
        let total = cell_result.total.as_ref().expect("its trials are valid");
        assert_eq!(total.count as f64, ok, "cell {cell}");
        assert_eq!(total.failures.iter().map(|it| it.count).sum::<u64>() as f64, bad, "cell {cell}");
        assert!((total.delivered.0 - delivered / window).abs() < 1e-6, "cell {cell}");
        assert_eq!(total.service.mean.map(|it| it.0 as f64), Some(service.floor()), "cell {cell}");
        let each: u64 = cell_result.operations.iter().map(|it| it.count).sum();
        assert_eq!(each, total.count, "operations of cell {cell} add up");
        let good = total.goodput.expect("there is an objective of latency");
        assert!(good.0 <= total.delivered.0 && good.0 > 0.0);
        assert!(
            cell_result
                .statements
                .iter()
                .any(|it| it.text.starts_with("SELECT value_id, type FROM profiles"))
        );
    }
    let hops: Vec<Vec<&str>> =
        account.cells.iter().map(|cell| cell.hops.iter().map(|it| it.node.as_str()).collect()).collect();
    let pooled = vec!["generator", "pooler", "postgres"];
    assert_eq!(hops, [vec!["generator", "postgres"], pooled.clone(), pooled]);
    let pooler = &account.cells[1].hops[1];
    assert!(pooler.queue.is_some_and(|it| it > 1.0), "the queue is where the finding says: {pooler:?}");
    assert_eq!(account.info.command, "pgdyno run shop.yaml");
    assert_eq!(account.info.state, RunState::Complete);
    assert_eq!(account.environment.nodes.len(), 2, "one pooler and one PostgreSQL in one configuration");
}

/// Checks that the rules get samples of all series that they read. Those of statements are also counted elsewhere.
#[test]
fn facts_contain_every_series_of_the_rules() {
    let run = StoredRun::from_file(Path::new(FIXTURE)).expect("the fixture can be read");
    let mut present = 0;
    for series in analysis::facts::SERIES {
        let stored = rows(&format!("SELECT count(*) FROM samples WHERE series = '{series}'"))[0][0] > 0.0;
        let known = run.ended().iter().any(|it| !it.samples.view().of_series(series).is_empty());
        assert!(known || !stored, "{series}");
        present += usize::from(stored);
    }
    assert!(present > 20, "only {present} series are in the fixture");
}

/// Sets every number in the tables and the JSON of a run's file to extreme values. Reading the file may then fail, but
/// must not panic.
#[test]
fn extreme_numbers_do_not_panic() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.dyno");
    let open = || Connection::open(&path).expect("the file is a database");
    std::fs::copy(FIXTURE, &path).expect("the fixture is there");
    // A few seconds of one trial suffice.
    let small = "DELETE FROM trial WHERE id > 1; DELETE FROM tick WHERE trial > 1 OR second > 2;
        DELETE FROM outcome WHERE tick NOT IN (SELECT id FROM tick); DELETE FROM failure WHERE tick NOT IN (SELECT id FROM tick);
        DELETE FROM histogram WHERE tick NOT IN (SELECT id FROM tick); DELETE FROM statement WHERE tick NOT IN (SELECT id FROM tick);
        DELETE FROM moment WHERE trial > 1 OR at_ns > 3000000000;
        DELETE FROM sample WHERE moment NOT IN (SELECT id FROM moment); VACUUM";
    open().execute_batch(small).expect("the file is a run");
    let original = std::fs::read(&path).expect("the file can be read");
    let account = from_file(&path).unwrap_or_else(|it| panic!("{:?}", it.message));
    assert_eq!(account.trials.len(), 1);
    let mut changes: Vec<(String, String)> = Vec::new();
    let connection = open();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("the query is valid");
        statement
            .query_map([], |row| row.get(0))
            .expect("the rows can be read")
            .map(|it| it.expect("a name"))
            .collect()
    };
    for table in names("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let sql =
            format!("SELECT name FROM pragma_table_info('{table}') WHERE type IN ('INTEGER', 'REAL', 'ANY')");
        for column in names(&sql) {
            for value in ["-1", "1 << 39", "1 << 62"] {
                let one = format!("UPDATE OR IGNORE {table} SET {column} = {value}");
                changes.push((one, String::new()));
            }
        }
    }
    for (table, column) in [("run", "experiment"), ("trial", "summary")] {
        let text = names(&format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL")).remove(0);
        let json: Value = serde_json::from_str(&text).expect("the text is JSON");
        let mut places = Vec::new();
        number_pointers(&json, &mut String::new(), &mut places);
        for place in places {
            for value in ["0", "-1", "1e300"] {
                let mut changed = json.clone();
                *changed.pointer_mut(&place).expect("the field exists") =
                    serde_json::from_str(value).expect("the text is JSON");
                changes.push((format!("UPDATE {table} SET {column} = ?1"), changed.to_string()));
            }
        }
    }
    drop(connection);
    let mut read = 0;
    // Each number gets one of its values, unless `PGDYNO_EXTREME_NUMBERS` is set: all values take a minute.
    let step = if std::env::var_os("PGDYNO_EXTREME_NUMBERS").is_some() { 1 } else { 3 };
    let share = changes.iter().enumerate().filter(|(at, _)| step == 1 || at % step == (at / step) % step);
    for (sql, json) in share.map(|it| it.1) {
        std::fs::write(&path, &original).expect("the file can be written");
        let done = if json.is_empty() { open().execute(sql, []) } else { open().execute(sql, [json]) };
        // SQLite rejects some values.
        if done.is_err() {
            continue;
        }
        let done = std::panic::catch_unwind(|| {
            from_file(&path).map(|it| report::page::page(&it, report::lang::english()))
        });
        let done = done.unwrap_or_else(|_| panic!("{sql} {json}"));
        read += usize::from(done.is_ok());
    }
    assert!(read > 50, "{read} of {} are read", changes.len());
}

/// Paths of all numbers, as JSON pointers.
fn number_pointers(value: &Value, at: &mut String, all: &mut Vec<String>) {
    let length = at.len();
    match value {
        Value::Number(_) => all.push(at.clone()),
        Value::Array(them) => {
            for (n, item) in them.iter().enumerate() {
                *at += &format!("/{n}");
                number_pointers(item, at, all);
                at.truncate(length);
            }
        }
        Value::Object(them) => {
            for (key, value) in them {
                *at += &format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                number_pointers(value, at, all);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// Result of the fixture after `sql` has changed it.
fn from_changed_file(sql: &str) -> Result<RunResult, CommandError> {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.dyno");
    std::fs::copy(FIXTURE, &path).expect("the fixture is there");
    Connection::open(&path).and_then(|it| it.execute_batch(sql)).expect(sql);
    from_file(&path)
}

#[test]
fn notes_of_a_trial_are_texts_for_people() {
    let sql = r#"INSERT INTO note (trial, subject, text) VALUES (1, 'replayed', '[]'),
        (1, 'target', '{"server":{"system":"7","major_version":15,"database":"d"},"data":null}'),
        (1, 'generator', 'cpu is not limited: no controller')"#;
    let result = from_changed_file(sql).unwrap_or_else(|it| panic!("{:?}", it.message));
    let subjects: Vec<String> = result.trials[0].notes.iter().map(|it| it.subject.describe()).collect();
    assert_eq!(subjects, ["growth"]);
}

#[test]
fn reports_a_fact_that_cannot_be_read() {
    let sql = "INSERT INTO note (trial, subject, text) VALUES (2, 'ordeal', '{\"inflicted\":7}')";
    let error = from_changed_file(sql).expect_err("a fact cannot be read").message;
    assert!(error.describe().starts_with("store-unreadable-fact(fault_injection, 2, "), "{error:?}");
}
