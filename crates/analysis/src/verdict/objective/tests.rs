use super::*;
use crate::fixture::{closed_plan, quiet_measurement};
use crate::verdict::summary::summarise;
use model::summary::Server;
use model::{Code, CommandCounts, Measurement};

fn operations() -> Vec<String> {
    ["pay", "look: up"].map(str::to_owned).to_vec()
}

/// Checks an objective on a quiet run that `spoil` changes: 7500 transactions of the first operation and 2500 of
/// the second, 2.5 ms each, 999/s.
#[track_caller]
fn check(objective: &str, spoil: impl FnOnce(&mut Measurement), expected: &str) {
    let mut measured = quiet_measurement();
    spoil(&mut measured);
    let summary = summarise(&measured, Server::default(), closed_plan());
    let result = parse(objective, &operations()).expect(objective).judge(&summary);
    let sign = if result.is_lower_bound { ">" } else { "" };
    let shown = result.measured.map_or("-".to_owned(), |it| format!("{sign}{it:.6}"));
    let lacks = result.too_few.map_or(String::new(), |too_few| {
        let nearest =
            too_few.nearest.map_or(String::new(), |(share, value)| format!(", {share}: {value:.6}"));
        format!(", needs {}{nearest}", too_few.needed)
    });
    let judged = format!("{:?} {shown} of {}{lacks}", result.verdict, result.samples);
    assert_eq!(judged, expected, "{objective}");
}

#[test]
fn finds_the_objective_of_the_live_view() {
    for (objectives, expected) in [
        (&["errors < 1%", "p95 < 100ms", "p99 < 200ms"][..], Some(("p95", 0.95, None))),
        (&["pay: p99 <= 1s", "p50 < 5ms"][..], Some(("p50", 0.5, None))),
        (&["max < 1s", "look: up: p99 < 1s"][..], Some(("look: up: p99", 0.99, Some(1)))),
        (&["mean < 1s", "pay/login: p99 < 1s", "tps > 5"][..], None),
        (&[][..], None),
    ] {
        let mut setup = crate::fixture::trial::experiment(&["direct"], None).cells.remove(0).setup;
        setup.operations =
            operations().iter().map(|it| model::plan::Operation::script(it, 1, "SELECT 1;\n")).collect();
        setup.objectives = objectives.iter().map(|it| (*it).to_owned()).collect();
        let found = latency_objective(&setup);
        let found = found.as_ref().map(|it| (it.metric.as_str(), it.quantile, it.operation));
        assert_eq!(found, expected, "{objectives:?}");
    }
}

#[test]
fn judges_met_and_violated_objectives() {
    for (objective, expected) in [
        ("p99 < 200ms", "Met 0.002500 of 10000"),
        ("p99<2ms", "Violated 0.002500 of 10000"),
        ("p50 <= 2500us", "Met 0.002500 of 10000"),
        ("p50 < 2500us", "Violated 0.002500 of 10000"),
        ("mean < 0.01s", "Met 0.002500 of 10000"),
        ("max < 1m", "Met 0.002500 of 10000"),
        ("errors < 1%", "Met 0.000000 of 10000"),
        ("errors < 0%", "Violated 0.000000 of 10000"),
        ("errors <= 0%", "Met 0.000000 of 10000"),
        ("dropped < 0.1 %", "Met 0.000000 of 10000"),
        ("tps > 998", "Met 999.000000 of 10000"),
        ("tps > 999", "Violated 999.000000 of 10000"),
        ("tps >= 999/s", "Met 999.000000 of 10000"),
        ("pay: p99 < 1s", "Met 0.002500 of 7500"),
        ("look: up: p99 < 1s", "Met 0.002500 of 2500"),
    ] {
        check(objective, |_| {}, expected);
    }
}

#[test]
fn unanswered_arrivals_exceed_every_bound() {
    let dropped = |n: u64| move |it: &mut Measurement| it.interval.scripts[0].dropped = n;
    // If 1 % or more are unanswered, p99 is one of them. A single one is enough for mean and max.
    check("p99 < 200ms", dropped(50), "Met 0.002500 of 10050");
    check("p99 < 200ms", dropped(150), "Violated >10.000000 of 10150");
    check("p99 < 60m", dropped(150), "Violated >10.000000 of 10150");
    check("p99 < 2ms", dropped(50), "Violated 0.002500 of 10050");
    check("p50 < 200ms", dropped(150), "Met 0.002500 of 10150");
    check("max < 1m", dropped(10), "Violated >10.000000 of 10010");
    check("mean < 1m", dropped(10), "Violated >10.000000 of 10010");
    check("pay: p99 < 200ms", dropped(150), "Violated >10.000000 of 7650");
    check("look: up: p99 < 200ms", dropped(150), "Met 0.002500 of 2500");
    // A connection refused before sending and a request without a response count too. An error response does not.
    let failed =
        |code| move |it: &mut Measurement| (0..150).for_each(|_| it.interval.scripts[0].failed.count(code));
    check("p99 < 200ms", failed(Code::REFUSED), "Violated >10.000000 of 10150");
    check("p99 < 200ms", failed(Code::SqlState(*b"40P01")), "Met 0.002500 of 10000");
    check("p99 < 200ms", failed(Code::Http(503)), "Met 0.002500 of 10000");
    let unknown = |measurement: &mut Measurement| {
        (0..150).for_each(|_| measurement.interval.scripts[0].unknown.count(Code::TIMED_OUT));
    };
    check("p99 < 200ms", unknown, "Violated >10.000000 of 10150");
    // Most arrivals are unanswered.
    check("p50 < 1s", dropped(30_000), "Violated >10.000000 of 40000");
    // Too few samples for a quantile.
    let few = |measurement: &mut Measurement| {
        measurement.interval.scripts[0].response = crate::fixture::millis(100, 5);
        measurement.interval.scripts[0].dropped = 5;
    };
    check("pay: p99 < 1s", few, "Unknown - of 105, needs 1000, 0.9: 0.005000");
}

#[test]
fn judges_outages_of_a_closed_model() {
    let outage = |from: u64, to: u64, failing| {
        move |measurement: &mut Measurement| {
            let unended = to == 10_000;
            let (from, to) = (Nanos::from_millis(from), Nanos::from_millis(to));
            measurement.outages = vec![model::Outage { from, to, ongoing: unended, failing }];
        }
    };
    // A user who arrives during the outage waits for its end.
    check("p99 < 50ms", outage(2_000, 5_000, false), "Violated >2.900000 of 10000");
    check("p99 < 3s", outage(2_000, 5_000, false), "Met >2.900000 of 10000");
    check("p50 < 50ms", outage(2_000, 5_000, false), "Met 0.002500 of 10000");
    check("max < 1s", outage(2_000, 5_000, false), "Violated >3.000000 of 10000");
    check("mean < 100ms", outage(2_000, 5_000, false), "Violated >0.450000 of 10000");
    check("pay: p99 < 50ms", outage(2_000, 5_000, false), "Violated >2.900000 of 7500");
    // The users who waited were eventually served.
    check("errors < 1%", outage(2_000, 5_000, false), "Met 0.000000 of 10000");
    check("errors < 1%", outage(2_000, 5_000, true), "Violated >0.300000 of 10000");
    // The outage continues to the end of the window, so its length is unknown.
    check("p99 < 50ms", outage(7_000, 10_000, false), "Violated >2.900000 of 10000");
    check("p99 < 3s", outage(7_000, 10_000, false), "Unknown >2.900000 of 10000");
    check("p50 < 3s", outage(7_000, 10_000, false), "Met 0.002500 of 10000");
    check("errors < 1%", outage(7_000, 10_000, false), "Violated >0.300000 of 10000");
}

#[test]
fn clients_that_never_connected_count_as_errors() {
    let few = |measurement: &mut Measurement| {
        measurement.clients = vec![10_000, 0, 0, 0];
        measurement.interval.refused.add(Code::SqlState(*b"53300"), 408);
    };
    check("errors < 1%", few, "Violated >0.750000 of 10000");
    check("errors < 80%", few, "Met >0.750000 of 10000");
    // Clients that log in late or wait for a pooler are not refused.
    let late = |it: &mut Measurement| it.interval.refused.add(Code::SqlState(*b"53300"), 408);
    check("errors < 1%", late, "Met 0.000000 of 10000");
    check("errors < 1%", |it| it.clients = vec![10_000, 0, 0, 0], "Met 0.000000 of 10000");
}

#[test]
fn a_load_that_ended_early_meets_no_objective() {
    let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
    validity::add_feed_end(&mut summary, 10_000, Nanos::from_secs(60));
    for (objective, expected) in [
        ("tps > 998", (ObjectiveVerdict::Unknown, true)),
        ("p99 < 200ms", (ObjectiveVerdict::Unknown, true)),
        ("errors < 1%", (ObjectiveVerdict::Unknown, true)),
        ("tps > 999", (ObjectiveVerdict::Violated, false)),
        ("p99 < 2ms", (ObjectiveVerdict::Violated, false)),
    ] {
        let result = parse(objective, &operations()).expect(objective).judge(&summary);
        assert_eq!((result.verdict, result.ended_early), expected, "{objective}");
    }
}

#[test]
fn judges_errors_and_drops() {
    let spoil = |measurement: &mut Measurement| {
        let cell = &mut measurement.interval.scripts[1];
        (0..100).for_each(|_| cell.failed.count(Code::SqlState(*b"40P01")));
        (0..150).for_each(|_| cell.unknown.count(Code::RESET));
        cell.dropped = 250;
    };
    check("errors < 5%", spoil, "Met 0.047619 of 10500");
    check("errors < 4%", spoil, "Violated 0.047619 of 10500");
    check("dropped < 3%", spoil, "Met 0.023810 of 10500");
    check("look: up: errors < 5%", spoil, "Violated 0.166667 of 3000");
    check("pay: errors < 5%", spoil, "Met 0.000000 of 7500");
}

#[test]
fn is_unknown_with_too_few_samples() {
    let few = |count| {
        move |it: &mut Measurement| it.interval.scripts[0].response = crate::fixture::millis(count, 5)
    };
    check("pay: p99 < 200ms", few(1000), "Met 0.005000 of 1000");
    check("pay: p99 < 200ms", few(900), "Unknown - of 900, needs 1000, 0.95: 0.005000");
    // The objective can no longer be met.
    check("pay: p99 < 4ms", few(900), "Violated - of 900");
    check("pay: p50 < 4ms", few(5), "Unknown - of 5, needs 20");
    // All ten are above the bound, which chance explains once in a thousand cases.
    check("pay: p50 < 4ms", few(10), "Violated - of 10");
    check("pay: p95 < 4ms", few(2), "Violated - of 2");
    check("pay: p95 < 200ms", few(150), "Unknown - of 150, needs 200, 0.9: 0.005000");
    // A few slow answers raise the mean above the bound of a high quantile, but not of the median.
    let mixed = |measured: &mut Measurement| {
        let response = &mut measured.interval.scripts[0].response;
        *response = crate::fixture::millis(12, 1);
        response.merge(&crate::fixture::millis(6, 8_000));
    };
    check("pay: p95 < 2s", mixed, "Violated - of 18");
    check("pay: p50 < 2s", mixed, "Unknown - of 18, needs 20");
    let nothing = |it: &mut Measurement| it.interval.clear();
    check("p50 < 1s", nothing, "Unknown - of 0, needs 20");
    for objective in ["mean < 1s", "max < 1s", "errors < 1%", "dropped < 1%"] {
        check(objective, nothing, "Unknown - of 0");
    }
    check("tps > 1", nothing, "Violated 0.000000 of 0");
}

#[test]
fn judges_single_steps() {
    let steps = |measurement: &mut Measurement| {
        let script = &mut measurement.interval.scripts[0];
        script.statements = vec![CommandCounts::default(); 4];
        script.statements[1].service = crate::fixture::millis(2_000, 3);
        script.statements[2].service = crate::fixture::millis(900, 40);
        script.statements[2].failed.add(Code::Http(503), 100);
    };
    let check = |objective, change: &dyn Fn(&mut Measurement), expected| {
        let mut measured = quiet_measurement();
        steps(&mut measured);
        change(&mut measured);
        let mut plan = closed_plan();
        plan.scripts[0].commands = ["", "login", "pay", "receipt"].map(str::to_owned).to_vec();
        let summary = summarise(&measured, Server::default(), plan);
        let objective = parse_with_steps(objective, &operations(), &step_names()).expect(objective);
        let result = objective.judge(&summary);
        let figure = result.measured.map_or("-".to_owned(), |it| format!("{it:.3}"));
        let text = format!("{:?} {figure} of {}", result.verdict, result.samples);
        assert_eq!(text, expected, "{}", objective.text());
    };
    let nothing = |_: &mut Measurement| {};
    check("pay/login: p99 < 5ms", &nothing, "Met 0.003 of 2000");
    check("pay/1: p99 < 2ms", &nothing, "Violated 0.003 of 2000");
    check("pay/pay: p95 < 30ms", &nothing, "Violated 0.040 of 900");
    check("pay / pay: p99 < 50ms", &nothing, "Unknown - of 900");
    check("pay/pay: errors < 11%", &nothing, "Met 0.100 of 1000");
    check("pay/2: errors < 9%", &nothing, "Violated 0.100 of 1000");
    check("pay/pay: tps > 80", &nothing, "Met 90.000 of 900");
    // A step without a request meets nothing.
    check("pay/receipt: p99 < 1s", &nothing, "Unknown - of 0");
    check("pay/receipt: errors < 1%", &nothing, "Unknown - of 0");
    // Requests without a response are longer than any bound.
    let lost = |measurement: &mut Measurement| {
        measurement.interval.scripts[0].statements[1].unknown.add(Code::TIMED_OUT, 40);
    };
    check("pay/login: p99 < 5s", &lost, "Violated 10.000 of 2040");
    let wrong = |text| parse_with_steps(text, &operations(), &step_names()).expect_err(text);
    for (text, part, id) in [
        ("pay/buy: p99 < 1s", "buy", "objective-step"),
        ("pay/4: p99 < 1s", "4", "objective-step"),
        ("pay/0: p99 < 1s", "0", "objective-step"),
        ("look: up/1: p99 < 1s", "1", "objective-step"),
        ("pay/: p99 < 1s", "pay/", "rule-operation"),
        ("pay/login: dropped < 1%", "dropped", "objective-step-dropped"),
    ] {
        let diagnostic = wrong(text);
        assert_eq!((&text[diagnostic.span.clone()], &*diagnostic.message.id), (part, id), "{text}");
    }
}

/// Names of the commands of [`operations`].
fn step_names() -> Vec<Vec<String>> {
    vec![["", "login", "pay", "receipt"].map(str::to_owned).to_vec(), Vec::new()]
}

#[test]
fn reports_diagnostics_with_position() {
    for (objective, offset, expected, message) in [
        ("", 0, "", "form"),
        ("p99 200ms", 0, "p99 200ms", "form"),
        ("p98 < 1s", 0, "p98", "metric"),
        ("p99 < 200", 6, "200", "time"),
        ("p99 <", 5, "", "time"),
        ("p99 < -1s", 6, "-1s", "time"),
        ("errors < 1", 9, "1", "share"),
        ("errors < 101%", 9, "101%", "share"),
        ("tps > 5ms", 6, "5ms", "rate"),
        ("tps < 5", 4, "<", "relation"),
        ("p99 >= 5ms", 4, ">=", "relation"),
        ("buy: p99 < 1s", 0, "buy", "operation"),
        ("  buy : p99 < 1s", 2, "buy", "operation"),
    ] {
        let diagnostic = parse(objective, &operations()).expect_err(objective);
        let id = diagnostic.message.id.split_once('-').map(|it| it.1);
        let part = &objective[diagnostic.span.clone()];
        assert_eq!((diagnostic.span.start, part, id), (offset, expected, Some(message)), "{objective}");
    }
}
