//! Arrivals with recorded times and rows, on shards in simulated time

use load::feed::{DrawOrder, Feed};
use load::script::{Mode, ProgramBuilder, ScriptHeader, Slot};
use load::sim::{self, SimulatedSystem, drive};
use load::{LoadPlan, Recorder, Shard, TraceEvent, Workload};
use model::row_table::{RowFormat, RowLayout, Rows};
use model::{ArrivalList, ListedArrival, Nanos, Outcome, Record, Schedule, ScriptId};
use std::sync::Arc;
use wire::pg::{Login, Transport};

/// Recorder of the rows that transactions sent, and of their records.
struct RowRecorder {
    id: Slot,
    /// Rows in the order in which they were sent.
    rows: Vec<u32>,
    /// Time since the start of the window in milliseconds, script and row.
    sent: Vec<(u64, u16, u32)>,
    lag_max: Nanos,
    dropped: usize,
    begin: Nanos,
}

impl Recorder for RowRecorder {
    const TRACES: bool = true;

    fn trace(&mut self, event: TraceEvent<'_>) {
        if let TraceEvent::Statement { variables, .. } = event {
            let text = std::str::from_utf8(variables.text(self.id)).expect("digits");
            self.rows.push(text.parse().expect("the row has its number"));
        }
    }

    fn record(&mut self, record: &Record) {
        if record.outcome == Outcome::Dropped {
            self.dropped += 1;
            return;
        }
        assert_eq!(record.outcome, Outcome::Ok);
        self.lag_max = self.lag_max.max(record.started - record.intended);
        self.sent.push((
            (record.intended - self.begin).0 / 1_000_000,
            record.script.0,
            *self.rows.last().expect("a request was sent"),
        ));
    }
}

/// Runs a schedule of two scripts that share a feed of `rows` rows.
fn run(
    schedule: Schedule,
    rows: u32,
    clients: u32,
    threads: u16,
    row_scripts: Option<Vec<ScriptId>>,
) -> Sent {
    let columns = vec!["id".to_owned()];
    let mut layout = RowLayout::new(RowFormat::Lines { delimiter: b',' }, columns.clone());
    let mut text = String::new();
    for row in 0..rows {
        layout.push(text.len() as u64);
        text += &format!("{row}\n");
    }
    let feed = Feed::new(Rows::new(Arc::new(text.into_bytes()), layout), DrawOrder::Sequential);
    let mut builder = ProgramBuilder::new(Mode::Extended, &[]);
    for name in ["one", "two"] {
        let head = ScriptHeader { name, weight: 1, draws: Some((0, &columns)) };
        builder.add_pgbench(&head, "SELECT :id;\n", false);
    }
    let program = builder.finish().expect("the scripts are valid");
    let id = program.slot("id").expect("the column is used");
    let plan =
        LoadPlan { transactions: None, ..sim::plan(program, Mode::Extended, clients, threads, schedule) };
    let mut work =
        Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix).with_feeds(vec![feed]);
    if let Some(scripts) = row_scripts {
        let scripts: Arc<[ScriptId]> = scripts.into();
        work = work.with_row_scripts(vec![Some(Arc::clone(&scripts)), Some(scripts)]);
    }
    let work = Arc::new(work);
    let world = SimulatedSystem { servers: clients, ..SimulatedSystem::default() };
    let recorder = || RowRecorder {
        id,
        rows: Vec::new(),
        sent: Vec::new(),
        lag_max: Nanos::ZERO,
        dropped: 0,
        begin: Nanos::ZERO,
    };
    let shards = (0..threads).map(|k| Shard::new(Arc::clone(&work), k, recorder())).collect();
    let recorders: Vec<RowRecorder> = drive(shards, &world).into_iter().map(|it| it.recorder).collect();
    let sent: Vec<(u64, u16, u32)> = recorders.iter().flat_map(|it| it.sent.iter().copied()).collect();
    let mut records = sent;
    records.sort_unstable();
    // The simulated generator is late only if all clients are busy.
    assert!(recorders.iter().all(|it| it.lag_max < Nanos::from_millis(1)));
    let dropped = recorders.iter().map(|it| it.dropped).sum();
    Sent { records, rows: recorders.into_iter().map(|it| it.rows).collect(), dropped }
}

/// Requests that the shards of a run sent.
struct Sent {
    /// Time of each transaction in milliseconds, its script, and the row that was sent last. In order of time.
    records: Vec<(u64, u16, u32)>,
    /// Rows by thread, in the order in which they were sent.
    rows: Vec<Vec<u32>>,
    dropped: usize,
}

/// Two bursts, a gap of an hour, and single arrivals. Rows and scripts are in no order.
fn list() -> (ArrivalList, Vec<(u64, u16, u32)>) {
    let times = (0..40_u32).map(|n| match n {
        0..10 => 5,
        10..20 => 3_600_000,
        _ => 3_600_000 + u64::from(n) * 7,
    });
    let expected: Vec<(u64, u16, u32)> =
        (0..).zip(times).map(|(n, at): (u32, u64)| (at, (n % 2) as u16, (n * 7) % 40)).collect();
    let arrival = |&(at, script, row): &(u64, u16, u32)| ListedArrival {
        at: Nanos::from_millis(at),
        row,
        script: ScriptId(script),
    };
    let arrivals = expected.iter().map(arrival).collect();
    (ArrivalList { duration: Nanos::from_secs(4000), arrivals }, expected)
}

#[test]
fn sends_each_row_at_its_time() {
    let (list, expected) = list();
    let schedule = Schedule::Listed(Arc::new(list));
    let times = |all: &[(u64, u16, u32)], base: u64| {
        let mut times: Vec<(u64, u16)> = all.iter().map(|it| (it.0 - base, it.1)).collect();
        times.sort_unstable();
        times
    };
    let in_order: Vec<u32> = expected.iter().map(|it| it.2).collect();
    for threads in [1, 2, 3] {
        let sent = run(schedule.clone(), 40, 60, threads, None);
        assert_eq!(times(&sent.records, sent.records[0].0 - 5), times(&expected, 0), "{threads} threads");
        // A thread sends its rows in the order of the list.
        let of_thread = |k: usize| in_order.iter().skip(k).step_by(threads.into()).copied().collect();
        let rows: Vec<Vec<u32>> = (0..usize::from(threads)).map(of_thread).collect();
        assert_eq!(sent.rows, rows, "{threads} threads");
        assert_eq!(sent.dropped, 0);
    }
}

#[test]
fn arrivals_after_the_window_are_not_sent() {
    let (list, expected) = list();
    let list = ArrivalList { duration: Nanos::from_secs(1), ..list };
    let sent = run(Schedule::Listed(Arc::new(list)), 40, 20, 1, None);
    assert_eq!((sent.records.len(), sent.dropped), (10, 0));
    assert_eq!(expected.iter().filter(|it| it.0 < 1000).count(), 10);
}

#[test]
fn rows_select_their_script() {
    let scripts: Vec<ScriptId> = (0..10).map(|row| ScriptId(u16::from(row % 3 == 0))).collect();
    let rate = model::PerSecond(10.0);
    let curve = model::Curve::Ramp { from: rate, to: rate, duration: Nanos::from_secs(3) };
    let schedule = Schedule::Open { curve, spacing: model::Spacing::Even };
    let sent = run(schedule, 10, 4, 1, Some(scripts));
    assert_eq!(sent.records.len(), 30);
    for (_, script, row) in sent.records {
        assert_eq!(script, u16::from(row % 3 == 0), "row {row}");
    }
}
