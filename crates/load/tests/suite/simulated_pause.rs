//! Pauses between the requests of a transaction

use crate::simulated_start::{Exchange, exchange};
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::{LoadPlan, sim};
use model::plan::{CaptureSource, HttpStep, ThinkTime};
use model::{Curve, Nanos, Outcome, PerSecond, Schedule, Spacing};

const SECOND: Nanos = Nanos::from_secs(1);

/// Runs transactions of a log-in and two requests, with a pause before the last one.
fn run(clients: u32, schedule: Schedule, pause: ThinkTime) -> Exchange {
    let mut builder = ProgramBuilder::new(Mode::Simple, &[]);
    let login = HttpStep {
        captures: vec![("token".to_owned(), CaptureSource::Header("token".to_owned()))],
        ..HttpStep::new("POST", "/login")
    };
    let steps = [
        login,
        HttpStep::new("GET", "/read?${token}"),
        HttpStep { pause, ..HttpStep::new("GET", "/write?${token}") },
    ];
    builder.add_http(&ScriptHeader { name: "visit", weight: 1, draws: None }, 0, &[], &steps);
    let program = builder.finish().expect("the program is valid");
    let plan = LoadPlan {
        duration: Some(SECOND),
        backlog_max: 0,
        drain: SECOND,
        ..sim::plan(program, Mode::Simple, clients, 1, schedule)
    };
    exchange(plan, |_| true)
}

fn constant(rate: f64) -> Schedule {
    let curve = Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: SECOND };
    Schedule::Open { curve, spacing: Spacing::Even }
}

const CLOSED: Schedule = Schedule::Closed { think: Nanos::ZERO };

fn count(exchange: &Exchange, prefix: &str) -> usize {
    exchange.sent.iter().filter(|it| it.2.starts_with(prefix)).count()
}

/// Each of the three requests takes a millisecond, and a pause is not part of that time.
#[test]
fn times_do_not_include_pauses() {
    let ms = Nanos::from_millis;
    let pauses = [
        ThinkTime::Constant(ms(100)),
        ThinkTime::Exponential { mean: ms(50) },
        ThinkTime::LogNormal { median: ms(50), sigma: 0.5 },
    ];
    for pause in pauses {
        for schedule in [CLOSED, constant(20.0)] {
            let result = run(10, schedule, pause);
            assert!(result.records.len() >= 15, "{pause}: {}", result.records.len());
            for record in &result.records {
                assert_eq!(record.outcome, Outcome::Ok);
                // The simulated clock advances by a millisecond, so a pause ends up to a millisecond late.
                let times = [record.response(), record.service()];
                assert!(times.iter().all(|it| (ms(3)..=ms(5)).contains(it)), "{pause}: {record:?}");
            }
        }
    }
}

#[test]
fn client_pauses_before_its_request() {
    let result = run(1, CLOSED, ThinkTime::Constant(Nanos::from_millis(100)));
    let times = |prefix| result.sent.iter().filter(move |it| it.2.starts_with(prefix)).map(|it| it.0);
    let pauses: Vec<Nanos> = times("GET /read").zip(times("GET /write")).map(|(a, b)| b - a).collect();
    assert!(pauses.len() >= 9, "{pauses:?}");
    let is_one = |it: &Nanos| (Nanos::from_millis(101)..=Nanos::from_millis(102)).contains(it);
    assert!(pauses.iter().all(is_one), "{pauses:?}");
}

/// The end of the load neither waits for pauses nor counts their transactions as failures.
#[test]
fn transactions_in_a_pause_are_discarded_at_the_end() {
    // With 330 ms, the clients are in the requests before their pause when the load ends.
    for (schedule, pause) in [(CLOSED, 400), (constant(20.0), 400), (CLOSED, 330)] {
        let result = run(10, schedule, ThinkTime::Constant(Nanos::from_millis(pause)));
        let (logins, written) = (count(&result, "POST /login"), count(&result, "GET /write"));
        assert_eq!(result.records.len(), written);
        assert!(result.records.iter().all(|it| it.outcome == Outcome::Ok), "{:?}", result.records);
        assert!(written >= 10 && logins >= written + 5, "{logins} log-ins, {written} writes");
        let last = result.sent.iter().map(|it| it.0).max().expect("requests were sent");
        assert!(last <= SECOND + Nanos::from_millis(10), "a request was sent at {last:?}");
    }
}
