use super::*;
use crate::fixture::trial::setup;
use crate::fixture::{closed_plan, millis, open_plan, quiet_measurement, replay_plan};
use crate::verdict::summary::summarise;
use model::StatementKind;
use model::plan::{LoadModel, RecordedMix, RecordingFile};
use model::summary::{BenchPlan, Server};

/// Checks the reasons and doubts of a quiet measurement under `plan` that `spoil` changes.
#[track_caller]
fn check(plan: BenchPlan, spoil: impl FnOnce(&mut Measurement), expected: &str) {
    let mut measured = quiet_measurement();
    spoil(&mut measured);
    let validity = summarise(&measured, Server::default(), plan).validity;
    assert_eq!(validity.valid, validity.reasons.iter().all(|it| *it == InvalidReason::NoSuccess));
    let reasons = validity.reasons.iter().map(|it| format!("{it:?}"));
    let doubts = validity.doubts.iter().map(|it| format!("? {it:?}"));
    assert_eq!(reasons.chain(doubts).collect::<Vec<_>>().join("; "), expected);
}

#[test]
fn a_quiet_run_is_valid() {
    check(closed_plan(), |_| {}, "");
    check(open_plan(), |_| {}, "");
}

fn quiet_part() -> AgentPart {
    AgentPart {
        agent: "a".to_owned(),
        host: "h".to_owned(),
        threads: 1,
        ok: 10,
        arrivals: 10,
        p99: None,
        send_lag: None,
        busy: None,
        jitter: None,
        clock_uncertainty: Some(Nanos::from_micros(80)),
        late: Nanos::ZERO,
        lost: None,
    }
}

#[test]
fn invalid_if_an_agent_is_lost_or_late_or_its_clock_is_uncertain() {
    let part = quiet_part();
    let check = |spoil: &dyn Fn(&mut AgentPart), expected: &[InvalidReason]| {
        let mut summary = summarise(&quiet_measurement(), Server::default(), open_plan());
        let mut spoilt = part.clone();
        spoil(&mut spoilt);
        add_agents(&mut summary, &[part.clone(), spoilt]);
        assert_eq!(summary.validity.reasons, expected);
        assert_eq!(summary.validity.verdict == Verdict::Invalid, !expected.is_empty());
    };
    let agent = 1;
    let (late, uncertain) = (Nanos::from_millis(2), Some(Nanos::from_millis(11)));
    check(&|_| {}, &[]);
    check(&|it| it.late = Nanos::from_micros(900), &[]);
    check(&|it| it.late = late, &[InvalidReason::AgentLate { agent, late }]);
    check(
        &|it| it.clock_uncertainty = uncertain,
        &[InvalidReason::ClockUncertain { agent, uncertainty: uncertain }],
    );
    check(&|it| it.clock_uncertainty = None, &[InvalidReason::ClockUncertain { agent, uncertainty: None }]);
    let lost = model::message!("agents-lost-damaged");
    check(&|it| (it.lost, it.late) = (Some(lost.clone()), late), &[InvalidReason::AgentLost { agent }]);
}

#[test]
fn late_agents_limit_the_load() {
    let part = |busy| AgentPart { busy, ..quiet_part() };
    let check = |busy: &[Option<f64>], lag: u64, expected: Option<(usize, usize, Option<f64>)>| {
        let mut measured = quiet_measurement();
        measured.interval.send_lag = millis(1000, lag);
        let mut summary = summarise(&measured, Server::default(), open_plan());
        add_agents(&mut summary, &busy.iter().map(|it| part(*it)).collect::<Vec<_>>());
        let limit = summary.validity.reasons.iter().find_map(|reason| match *reason {
            InvalidReason::AgentsLimit { agents, more, busy } => Some((agents, more, busy)),
            _ => None,
        });
        assert_eq!(limit, expected, "{busy:?}");
    };
    check(&[Some(0.99), Some(0.5)], 0, None);
    // Agents whose threads are not busy are late for another reason, and one more agent has fewer transactions each.
    check(&[Some(0.2), Some(0.1)], 5, Some((2, 1, Some(0.2))));
    check(&[Some(0.98), Some(0.5)], 5, Some((2, 1, Some(0.98))));
    check(&[Some(1.0); 7], 5, Some((7, 3, Some(1.0))));
    check(&[None], 5, Some((1, 1, None)));
    check(&[], 5, None);
}

#[test]
fn invalid_if_the_generator_is_late() {
    check(
        open_plan(),
        |it| it.interval.send_lag = millis(1000, 5),
        "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
    );
    // The host's jitter explains the lag.
    check(
        open_plan(),
        |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(1000, 3)),
        "? HostLate { quantile: 0.99, lag: Nanos(5000000), jitter: Nanos(3000000) }",
    );
    check(
        open_plan(),
        |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(1000, 2)),
        "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(2000000)) }",
    );
    // With fewer samples of the jitter, the highest quantile that they allow is compared: p95 with 400.
    check(
        open_plan(),
        |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(400, 4)),
        "? HostLate { quantile: 0.95, lag: Nanos(5000000), jitter: Nanos(4000000) }",
    );
    // A single outlier among ten thousand does not count as late. A short run is judged by the highest quantile it
    // has.
    check(open_plan(), |it| it.interval.send_lag.merge(&millis(1, 90)), "");
    check(
        open_plan(),
        |it| it.interval.send_lag = millis(100, 5),
        "Late { quantile: 0.9, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
    );
    check(open_plan(), |it| it.interval.send_lag = millis(18, 5), "");
    // A slack allows the lag.
    let slack = |millis| {
        let LoadModelSummary::Open { schedule, arrivals, .. } = open_plan().model else {
            panic!("an open model");
        };
        let model = LoadModelSummary::Open { schedule, arrivals, slack: Nanos::from_millis(millis) };
        BenchPlan { model, ..open_plan() }
    };
    check(slack(5), |it| it.interval.send_lag = millis(1000, 5), "");
    check(
        slack(3),
        |it| it.interval.send_lag = millis(1000, 5),
        "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
    );
}

/// A disturbance counts if it could have changed the result: 121 ms matter for answers of 5 ms, but not of 5.9 s.
#[test]
fn tolerates_disturbances_that_are_short_compared_with_the_answers() {
    let slow = |answer_millis: u64, spoil: fn(&mut Measurement)| {
        move |measured: &mut Measurement| {
            for script in &mut measured.interval.scripts {
                script.service = millis(script.service.count().max(1000), answer_millis);
                script.response = millis(script.response.count().max(1000), answer_millis);
            }
            spoil(measured);
        }
    };
    let stall = |it: &mut Measurement| it.thread_usage[0].longest_stall = Nanos::from_millis(121);
    let late = |it: &mut Measurement| it.interval.send_lag = millis(1000, 5);
    check(open_plan(), slow(5_900, stall), "");
    check(open_plan(), slow(5_900, late), "");
    check(open_plan(), slow(5, stall), "Stalled { thread: 0, duration: Nanos(121000000) }");
    check(
        open_plan(),
        slow(5, late),
        "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
    );
}

#[test]
fn invalid_for_other_reasons() {
    check(
        closed_plan(),
        |it| it.thread_usage[1].system = Nanos::from_millis(9_100),
        "Saturated { thread: 1, busy: 0.919 }",
    );
    // Busy polling does not count as CPU use.
    check(
        closed_plan(),
        |measurement| {
            (measurement.thread_usage[1].user, measurement.thread_usage[1].spun) =
                (Nanos::from_secs(9), Nanos::from_secs(8));
        },
        "",
    );
    check(closed_plan(), |it| it.exhausted_connects = 3, "ResourcesExhausted { connections: 3 }");
    check(
        closed_plan(),
        |it| it.suspended = Nanos::from_millis(11),
        "Suspended { duration: Nanos(11000000) }",
    );
    check(
        closed_plan(),
        |it| it.thread_usage[0].longest_stall = Nanos::from_millis(101),
        "Stalled { thread: 0, duration: Nanos(101000000) }",
    );
}

#[test]
fn invalid_if_the_generator_is_throttled() {
    for (share, expected) in [(None, true), (Some(0.009), true), (Some(0.01), false)] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        add_throttling(&mut summary, share);
        assert_eq!(
            (summary.validity.valid, summary.validity.reasons.is_empty()),
            (expected, expected),
            "{share:?}"
        );
    }
}

#[test]
fn invalid_if_no_transaction_succeeded() {
    for (succeeded, share, expected) in [
        (true, 0.0, Verdict::Valid),
        (true, 0.5, Verdict::Invalid),
        (false, 0.0, Verdict::Invalid),
        (false, 0.5, Verdict::Invalid),
    ] {
        let mut measured = quiet_measurement();
        if !succeeded {
            measured.interval.clear();
        }
        let mut summary = summarise(&measured, Server::default(), closed_plan());
        add_throttling(&mut summary, Some(share));
        assert_eq!(summary.validity.verdict, expected, "{succeeded}, {share}");
    }
}

#[test]
fn sorts_doubts_by_their_rank() {
    let cap = Doubt::InFlightCapReached { arrivals: 10, waited: 5, dropped: 0 };
    let few = Doubt::FewSamples { count: 5 };
    let starved = Doubt::Starved { thread: 0, share: 0.2 };
    let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
    add_doubts(&mut summary, [&few, &starved, &cap].map(Doubt::clone));
    assert_eq!(summary.validity.doubts, [cap, starved, few]);
}

#[test]
fn only_noted_doubts_leave_a_measurement_valid() {
    for (doubt, expected) in [
        (Doubt::FewSamples { count: 3 }, Verdict::Valid),
        (Doubt::ClockStepped { step: 1 }, Verdict::Valid),
        (Doubt::Starved { thread: 0, share: 0.77 }, Verdict::ValidWithDoubts),
        (Doubt::LogIncomplete, Verdict::ValidWithDoubts),
    ] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        add_doubts(&mut summary, [doubt]);
        assert_eq!(summary.validity.verdict, expected, "{:?}", summary.validity.doubts);
    }
}

#[test]
fn raises_a_doubt_if_the_clock_was_set() {
    for (millis, expected) in [(-3_600_000, 1), (-100, 1), (-99, 0), (0, 0), (99, 0), (100, 1)] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        let before = summary.validity.doubts.len();
        add_clock_step(&mut summary, millis * 1_000_000);
        assert_eq!(
            (summary.validity.valid, summary.validity.doubts.len() - before),
            (true, expected),
            "{millis} ms"
        );
    }
}

#[test]
fn raises_a_doubt_if_a_feed_ends_early() {
    // The window is 10 s long.
    for (planned, expected) in [(60, true), (11, true), (10, false), (0, false)] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        add_feed_end(&mut summary, 20, Nanos::from_secs(planned));
        let doubt = Doubt::FeedExhausted { rows: 20, at: summary.window, planned: Nanos::from_secs(planned) };
        assert_eq!(doubts_in_verdict(&summary), Vec::from_iter(expected.then_some(doubt)), "{planned} s");
        assert!(summary.validity.valid);
    }
    // The arrival without a row is dropped, although a client was free.
    for (waited, left) in [(0, 1), (5, 2)] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), open_plan());
        summary.validity.doubts = vec![Doubt::InFlightCapReached { arrivals: 501, waited, dropped: 1 }];
        add_feed_end(&mut summary, 500, Nanos::from_secs(60));
        assert_eq!(summary.validity.doubts.len(), left, "{:?}", summary.validity.doubts);
    }
}

fn recording() -> RecordingFile {
    RecordingFile {
        path: "shop.traffic".into(),
        bytes: 1,
        duration: Nanos::from_secs(1),
        requests: 1,
        requests_per_second_max: 1,
        sessions: 1,
        sessions_max: 1,
    }
}

fn replay_load() -> Load {
    Load { model: LoadModel::Replay { recording: recording(), speed: 1.0 }, ..setup("direct").load }
}

fn mix_load() -> Load {
    let mix = RecordedMix { recording: recording(), transactions: 4, sessions: 1, unfinished: 0 };
    Load { traffic: Some(mix), ..setup("direct").load }
}

/// Three quarters of the transactions are of the first script.
#[test]
fn shares_that_are_not_those_of_the_recording_are_a_doubt() {
    let differs = |recorded| Doubt::MixDiffers { operation: "b.sql".to_owned(), recorded, measured: 0.25 };
    for (load, weights, expected) in [
        (mix_load(), [3, 1], None),
        (mix_load(), [7, 3], None),
        (mix_load(), [1, 1], Some(differs(0.5))),
        (replay_load(), [1, 1], None),
        (setup("direct").load, [1, 1], None),
    ] {
        let mut plan = open_plan();
        plan.scripts.iter_mut().zip(weights).for_each(|(script, weight)| script.weight = weight);
        let mut summary = summarise(&quiet_measurement(), Server::default(), plan);
        add_mix_difference(&mut summary, &load);
        assert_eq!(doubts_in_verdict(&summary), Vec::from_iter(expected));
    }
}

#[test]
fn results_of_a_replay_that_differ_are_a_doubt() {
    let figures = |[failed, fewer]: [u64; 2]| ReplayFigures {
        operation: 0,
        answers: 10,
        other_status: failed,
        failed,
        succeeded: 0,
        sized: 8,
        smaller: fewer,
        larger: 0,
        measured: 1,
        recorded: 1,
    };
    let (other, mix, replay) = (setup("direct").load, mix_load(), replay_load());
    for (load, counts, expected) in [
        (&replay, [0, 0], None),
        (&replay, [1, 2], Some(Doubt::ResultsDiffer { results: 20, differing: 3 })),
        (&mix, [1, 2], Some(Doubt::ResultsDiffer { results: 20, differing: 3 })),
        (&other, [1, 2], None),
    ] {
        let mut summary = summarise(&quiet_measurement(), Server::default(), open_plan());
        add_result_differences(&mut summary, load, &[figures(counts), figures([0, 0])]);
        assert_eq!(doubts_in_verdict(&summary), Vec::from_iter(expected));
    }
}

#[test]
fn reports_doubts() {
    check(closed_plan(), |it| it.steal_time = Some(Nanos::from_millis(100)), "? Stolen { processors: 0.01 }");
    check(closed_plan(), |it| it.steal_time = Some(Nanos::from_millis(99)), "");
    check(
        closed_plan(),
        |it| it.thread_usage[1].starved = Some(Nanos::from_millis(500)),
        "? Starved { thread: 1, share: 0.05 }",
    );
    check(
        open_plan(),
        |it| it.interval.backlog_wait = millis(100, 1),
        "? InFlightCapReached { arrivals: 10000, waited: 100, dropped: 0 }",
    );
    check(open_plan(), |it| it.interval.backlog_wait = millis(99, 1), "");
    check(
        open_plan(),
        |it| it.interval.scripts[1].dropped = 1,
        "? InFlightCapReached { arrivals: 10001, waited: 0, dropped: 1 }",
    );
    // A replay is behind schedule if many requests wait for a long time, or if some are never sent.
    check(
        replay_plan(),
        |it| it.interval.backlog_wait = millis(100, 110),
        "? BehindSchedule { arrivals: 10000, waited: 100, dropped: 0, wait: Nanos(110000000) }",
    );
    check(replay_plan(), |it| it.interval.backlog_wait = millis(100, 90), "");
    check(replay_plan(), |it| it.interval.backlog_wait = millis(99, 110), "");
    check(
        replay_plan(),
        |it| it.interval.scripts[1].dropped = 1,
        "? BehindSchedule { arrivals: 10001, waited: 0, dropped: 1, wait: Nanos(0) }",
    );
    check(replay_plan(), |it| it.clients = vec![10_000, 0, 0, 0], "");
    check(
        closed_plan(),
        |it| it.clients = [vec![500; 20], vec![0; 180]].concat(),
        "? UnevenClients { jain: 0.1, min_transactions: 0, max_transactions: 500 }",
    );
    check(
        closed_plan(),
        |it| it.clients = [vec![33; 300], vec![0; 3]].concat(),
        "? UnevenClients { jain: 0.9900990099009901, min_transactions: 0, max_transactions: 33 }",
    );
    check(closed_plan(), |it| it.clients = vec![3, 30, 30, 30], "");
    check(open_plan(), |it| it.clients = vec![10_000, 0, 0, 0], "");
    let outage = |from: u64, to: u64| {
        let (from, to) = (Nanos::from_millis(from), Nanos::from_millis(to));
        model::Outage { from, to, ongoing: false, failing: false }
    };
    for plan in [open_plan(), closed_plan()] {
        check(
            plan,
            |it| it.outages = vec![outage(0, 1_500), outage(2_200, 6_000)],
            "? Outage { count: 2, duration: Nanos(5300000000), from: Nanos(2200000000), to: Nanos(6000000000) }",
        );
    }
    let sizes = |small: u64, large: u64| {
        move |measurement: &mut Measurement| {
            let mut answers = model::AnswerSizes::new((0, 0));
            (0..small).for_each(|_| answers.sizes.record(2_000));
            (0..large).for_each(|_| answers.sizes.record(40_000));
            measurement.interval.answers = vec![answers];
        }
    };
    check(closed_plan(), sizes(600, 400), "? SmallAnswers { small: 2047, large: 40000, share: 0.6 }");
    check(closed_plan(), sizes(400, 600), "");
    check(closed_plan(), sizes(1000, 0), "");
    let empty = |statement, count| EmptyStatement {
        operation: 0,
        command: 4,
        statement,
        count,
        share: 1.0,
        second: None,
    };
    let (update, select, delete) = (StatementKind::Update, StatementKind::Select, StatementKind::Delete);
    check(
        closed_plan(),
        |it| it.empty_statements = vec![empty(select, 500), empty(update, 900), empty(delete, 1000)],
        "? NoRows { operation: 0, command: 4, statement: Update, statements: 2, count: 900, share: 1.0, second: None }",
    );
    check(
        closed_plan(),
        |it| it.empty_statements = vec![empty(delete, 900), empty(StatementKind::Queue, 900)],
        "",
    );
    check(closed_plan(), |it| it.aborted_clients = 2, "Aborted { clients: 2, total_clients: 4 }");
    let dropped = |it: &mut Measurement| (it.aborted_clients, it.interval.scripts[0].dropped) = (2, 5);
    check(open_plan(), dropped, "Aborted { clients: 2, total_clients: 4 }");
    check(closed_plan(), |it| it.interval.clear(), "NoSuccess");
    check(
        closed_plan(),
        |measurement| {
            measurement.interval.clear();
            measurement.interval.scripts[0].response = millis(999, 1);
            measurement.interval.scripts[0].ok = 999;
        },
        "? FewSamples { count: 999 }",
    );
}
