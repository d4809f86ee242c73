//! Simulated outages and freezes of a server during a run, from the shard to the verdict

use analysis::facts::outage::OutageDetector;
use analysis::verdict::objective;
use load::random::SeedSequence;
use load::script::{Mode, ScriptSource, parse};
use load::sim::{ServiceTime, SimulatedOutage, SimulatedSystem, drive};
use load::{IntervalRecorder, LoadPlan, RngSeeds, Shard, Workload};
use model::objective::ObjectiveVerdict;
use model::summary::{self, EndCondition, LoadModelSummary, QueryMode, Server};
use model::{Curve, Interval, LatencyHistogram, Measurement, Nanos, PerSecond, Schedule, Spacing, Summary};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use wire::pg::{Login, Transport};

const CLIENTS: u32 = 20;
const WINDOW: Nanos = Nanos::from_secs(6);
const AT: Nanos = Nanos::from_millis(2_200);
/// A time long after the window.
const NEVER: Nanos = Nanos::from_secs(600);

fn open() -> Schedule {
    let curve = Curve::Ramp { from: PerSecond(500.0), to: PerSecond(500.0), duration: WINDOW };
    Schedule::Open { curve, spacing: Spacing::Even }
}

fn closed() -> Schedule {
    Schedule::Closed { think: Nanos::ZERO }
}

/// System without a listener from `AT` to `to`.
fn killed(to: Nanos) -> SimulatedSystem {
    SimulatedSystem { outages: vec![SimulatedOutage { endpoint: 0, from: AT, to }], ..world() }
}

/// System that serves nothing from `AT` to `to`.
fn frozen(to: Nanos) -> SimulatedSystem {
    SimulatedSystem { pauses: vec![(AT, to)], ..world() }
}

fn world() -> SimulatedSystem {
    let service = ServiceTime::Constant(Nanos::from_millis(2));
    SimulatedSystem { servers: 1000, service, delay: Nanos::from_micros(50), ..SimulatedSystem::default() }
}

/// Simulated equivalent of `pgdyno::measure`, without threads and real clocks.
fn measure(schedule: Schedule, world: &SimulatedSystem, users: u32) -> Summary {
    let model = match &schedule {
        Schedule::Closed { think } => LoadModelSummary::Closed { think: *think },
        _ => LoadModelSummary::Open {
            schedule: "const(500,6s)".to_owned(),
            arrivals: Spacing::Even,
            slack: Nanos::ZERO,
        },
    };
    let source = ScriptSource::new("pay", "SELECT 1;\n");
    let program = parse(&[source], Mode::Prepared, false, &[]).expect("the script is right");
    let mut seeds = SeedSequence::new(7);
    let plan = LoadPlan {
        program,
        mode: Mode::Prepared,
        schedule,
        duration: Some(WINDOW),
        transactions: None,
        clients: users,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 100,
        drain: Nanos::from_secs(1),
        reconnect: false,
        connecting_max: 64,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        abandon_max: None,
        verbose: false,
        reports_steps: false,
        measured: load::MeasuredCommands::None,
        seeds: RngSeeds {
            clients: (0..users).map(|_| seeds.client_rng()).collect(),
            script_rngs: vec![seeds.thread_rngs().choose],
            arrivals: 7,
            other: 7,
            variables: Vec::new(),
        },
    };
    let work = Arc::new(Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix));
    let (filled, seconds) = sync_channel(20);
    let (empty, take_empty) = sync_channel(20);
    (0..20).for_each(|_| empty.send(Box::new(Interval::new(&[0]))).expect("there is room"));
    let recorder =
        IntervalRecorder::new((0, users), Interval::new(&[0]), Nanos::MAX, filled, take_empty, None);
    let shard = drive(vec![Shard::new(work, 0, recorder)], world).pop().expect("one went in");
    let (rest, clients) = shard.recorder.finish(WINDOW + Nanos::from_secs(1));
    let (mut gaps, mut all) = (OutageDetector::default(), Interval::new(&[0]));
    for second in seconds.try_iter().chain([rest]) {
        gaps.second(&*second);
        all.merge(&second);
    }
    let measured = Measurement {
        window: WINDOW,
        interval: all,
        outages: gaps.finish(WINDOW),
        empty_statements: Vec::new(),
        clients,
        thread_usage: Vec::new(),
        connect_time: Nanos::ZERO,
        aborted_clients: 0,
        jitter: LatencyHistogram::new(),
        suspended: Nanos::ZERO,
        steal_time: None,
        exhausted_connects: 0,
    };
    let plan = summary::BenchPlan {
        scripts: vec![summary::Script { name: "pay".to_owned(), weight: 1, commands: Vec::new() }],
        scale: 1,
        partitions: None,
        query_mode: QueryMode::Prepared,
        clients: users,
        threads: 1,
        max_tries: 1,
        end: EndCondition::Time(WINDOW),
        model,
        reconnect: false,
        latency_limit: None,
        seed: 7,
        driver: "simulator".to_owned(),
    };
    analysis::verdict::summarise(&measured, Server::default(), plan)
}

/// Checks the verdicts on `p99 < 50ms`, on `errors < 1%`, and on the trial.
#[track_caller]
fn check(
    name: &str,
    schedule: Schedule,
    world: &SimulatedSystem,
    objectives: [ObjectiveVerdict; 2],
    outage: &str,
) {
    let summary = measure(schedule, world, CLIENTS);
    let judge = |text| objective::parse(text, &["pay".to_owned()]).expect(text).judge(&summary);
    let judged = ["p99 < 50ms", "errors < 1%"].map(judge);
    assert_eq!(judged.each_ref().map(|it| it.verdict), objectives, "{name}: {judged:?}");
    let style = report::bench::BenchStyle::default();
    let text = report::bench::render(&summary, &[], style, report::lang::english());
    let prose: Vec<&str> = text.split_whitespace().collect();
    let prose = prose.join(" ");
    let has_doubts = prose.contains("verdict valid with doubts");
    assert!(prose.contains(outage) && has_doubts == (outage != "verdict valid"), "{name}: {text}");
}

#[test]
fn an_outage_breaks_objectives_and_is_reported() {
    use ObjectiveVerdict::{Met, Violated};
    let to_the_end = "no transaction succeeded for 3.8";
    let for_a_while = "no transaction succeeded for 1.";
    let ends = Nanos::from_millis(3_700);
    for (name, model) in [("open", open as fn() -> Schedule), ("closed", closed)] {
        check(&format!("{name}, killed"), model(), &killed(NEVER), [Violated, Violated], to_the_end);
        check(&format!("{name}, frozen"), model(), &frozen(NEVER), [Violated, Violated], to_the_end);
        check(&format!("{name}, nothing"), model(), &world(), [Met, Met], "verdict valid");
    }
    // Frozen users were served late; refused ones were not served at all.
    check("closed, frozen for a while", closed(), &frozen(ends), [Violated, Met], for_a_while);
    check("open, frozen for a while", open(), &frozen(ends), [Violated, Violated], for_a_while);
    check("closed, killed for a while", closed(), &killed(ends), [Violated, Violated], for_a_while);
    check("open, killed for a while", open(), &killed(ends), [Violated, Violated], for_a_while);
}

#[test]
fn short_outages_count_together() {
    use ObjectiveVerdict::{Met, Violated};
    // Freezes of 0.85 s each, within a window of 6 s.
    let freeze = |n: u64| (Nanos::from_millis(1_100 * n + 300), Nanos::from_millis(1_100 * n + 1_150));
    let often = SimulatedSystem { pauses: (0..4).map(freeze).collect(), ..world() };
    let altogether = "no transaction succeeded for 3.";
    check("closed, frozen often", closed(), &often, [Violated, Met], altogether);
    // A quick restart: logins fail for 0.3 s.
    let restarted = killed(Nanos::from_millis(2_500));
    let for_a_while = "no transaction succeeded for 3";
    check("closed, restarted", closed(), &restarted, [Violated, Violated], for_a_while);
    // Less than 1 % of the time.
    let once = SimulatedSystem { pauses: vec![(AT, AT + Nanos::from_millis(40))], ..world() };
    check("closed, frozen once", closed(), &once, [Met, Met], "verdict valid");
    assert_eq!(measure(closed(), &once, CLIENTS).outages, []);
}

/// Each statement is fast or takes 0.4 s, independently of the others.
#[test]
fn slow_statements_are_no_outage() {
    for (users, share) in
        [(1, 0.01), (2, 0.001), (2, 0.01), (4, 0.01), (4, 0.05), (4, 0.3), (20, 0.05), (20, 0.5)]
    {
        let (fast, slow) = (Nanos::from_millis(2), Nanos::from_millis(400));
        let system = SimulatedSystem { service: ServiceTime::Bimodal(fast, slow, share), ..world() };
        let summary = measure(closed(), &system, users);
        assert_eq!(summary.outages, [], "{users} users, {share}");
    }
}

#[test]
fn a_quiet_run_has_no_outage() {
    for schedule in [open(), closed()] {
        let summary = measure(schedule, &world(), CLIENTS);
        assert!(summary.outages.is_empty() && summary.total.response.unanswered.is_none(), "{summary:?}");
    }
}
