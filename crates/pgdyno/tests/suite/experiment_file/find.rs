//! Tests the section `find`.

use super::common::{printed, read_with_url};
use experiment::{Diagnostics, Plan, UrlTarget};
use model::Nanos;
use model::plan::{Confirm, Goal, LoadModel, LoadScale, MaxSearch, Soak, Sweep, TargetLevel};

const OPEN: &str = "load: { model: open, max_in_flight: 50 }";
const CLOSED: &str = "load: { model: closed }";

fn plan(load: &str, rest: &str) -> Result<Plan, Diagnostics> {
    let operations = if load.contains("operations:") { "" } else { "operations: { a: { sql: SELECT 1 } }\n" };
    read_with_url(&format!("stack: {{ postgres: {{}} }}\n{operations}{load}\n{rest}\n"), &|_| Err(Vec::new()))
}

#[test]
fn reads_modes_and_settings() {
    let check = |load: &str, rest: &str, expected: Goal| {
        let plan = plan(load, rest).unwrap_or_else(|it| panic!("{rest}\n{}", printed(&it)));
        assert_eq!(plan.experiment.goal, expected, "{rest}");
    };
    let usual = MaxSearch::DEFAULT;
    let rated = "load: { model: open, schedule: \"const(5, 10s)\", max_in_flight: 50 }";
    check(rated, "", Goal::Once);
    check(rated, "find: once", Goal::Once);
    check(OPEN, "find: max", Goal::Max(usual.clone()));
    check(CLOSED, "find: max", Goal::Max(MaxSearch { scale: LoadScale::Clients, ..usual.clone() }));
    check(OPEN, "find: max\nprove: true", Goal::Max(MaxSearch { prove: true, ..usual.clone() }));
    check(
        OPEN,
        "find: { max: { from: 20, limit: 4000, precision: 2%, window: 10s, hold: 30s } }",
        Goal::Max(MaxSearch {
            from: Some(20.0),
            limit: Some(4000.0),
            precision: 0.02,
            window: Nanos::from_secs(10),
            hold: Nanos::from_secs(30),
            ..usual.clone()
        }),
    );
    check(rated, "find: sweep", Goal::Sweep(Sweep { max: None }));
    check(OPEN, "find: { sweep: { max: {} } }", Goal::Sweep(Sweep { max: Some(usual.clone()) }));
    let (ramp, hold) = (Nanos::from_secs(60), Nanos::from_secs(300));
    let level = TargetLevel::Share { share: 1.0, max: usual.clone() };
    check(OPEN, "find: confirm", Goal::Confirm(Confirm { level, ramp, hold }));
    let level = TargetLevel::Absolute { level: 646.0, maximum: None };
    check(
        rated,
        "find: { confirm: { level: 646, ramp: 10s, hold: 60s } }",
        Goal::Confirm(Confirm { level, ramp: Nanos::from_secs(10), hold: Nanos::from_secs(60) }),
    );
    let level = TargetLevel::Share { share: 0.5, max: MaxSearch { from: Some(9.0), ..usual.clone() } };
    check(
        OPEN,
        "find: { soak: { share: 50%, duration: 6h, max: { from: 9 } } }",
        Goal::Soak(Soak { level, duration: Nanos::from_secs(6 * 3600) }),
    );
    let level = TargetLevel::Absolute { level: 34.0, maximum: Some(646.0) };
    check(
        rated,
        "find: { soak: { level: 34, maximum: 646 } }",
        Goal::Soak(Soak { level, duration: Nanos::from_secs(3600) }),
    );
}

#[test]
fn search_needs_no_load_level() {
    let load = |load: &str, rest: &str| plan(load, rest).unwrap().experiment.cells.remove(0).setup.load;
    let LoadModel::Open { schedule, .. } = load(OPEN, "find: { max: { from: 40, window: 5s } }").model else {
        panic!("it is open")
    };
    assert_eq!(schedule, "const(40, 5s)");
    let rates = "load: { model: open, max_in_flight: 50 }\noperations: { a: { rate: 34, sql: SELECT 1 } }";
    let LoadModel::Open { schedule, .. } = load(rates, "find: { max: { window: 5s } }").model else {
        panic!("it is open")
    };
    assert_eq!(schedule, "const(34, 5s)");
    let soak = load(OPEN, "find: { soak: { level: 34, duration: 90s } }");
    let LoadModel::Open { schedule, .. } = soak.model else { panic!("it is open") };
    assert_eq!(schedule, "const(34, 90s)");
    let closed = load(CLOSED, "find: { max: { window: 5s } }");
    assert_eq!(closed.duration, Some(Nanos::from_secs(5)));
    assert_eq!(closed.model, LoadModel::Closed { clients: 1, think: Nanos::ZERO });
}

#[test]
fn reports_find_diagnostics() {
    let check = |load: &str, rest: &str, expected: &str| {
        let message = printed(&plan(load, rest).expect_err(rest));
        assert!(message.contains(expected), "{rest}\n{message}");
    };
    check(OPEN, "find: {}", "`find` must have exactly one mode");
    check(OPEN, "find: { max: {}, soak: {} }", "exactly one mode");
    check(OPEN, "find: maximum", "`maximum`");
    check(OPEN, "find: { max: { form: 3 } }", "`form`");
    check(OPEN, "find: { max: { from: 0 } }", "write a value from 0.001 to 10000000");
    check(OPEN, "find: { max: { from: 9, limit: 3 } }", "`limit` (3) is less than `from` (9)");
    check(OPEN, "find: { max: { precision: 90% } }", "`precision` is out of range: 90%");
    check(OPEN, "find: { max: { window: 1500ms } }", "write whole seconds");
    check(OPEN, "find: { confirm: { level: 5, share: 50% } }", "`share` cannot be combined with `level`");
    check(OPEN, "find: { soak: { maximum: 5 } }", "`maximum` requires `level`");
    check(OPEN, "find: { soak: { share: 0% } }", "`share` must be greater than 0%");
    check(OPEN, "find: once", "`model: open` requires `schedule`");
    check(CLOSED, "find: once", "`model: closed` requires `clients`");
    check(OPEN, "matrix: { find: [once, max] }", "cannot differ between cells");
    let rated = "load: { model: open, schedule: \"const(5, 10s)\", max_in_flight: 50 }";
    check(rated, "prove: true", "`prove` requires a search for a maximum");
    let stages = "load: { model: closed, users: [{ users: 5, spawn_rate: 1, duration: 10s }] }";
    check(stages, "find: max", "a search cannot vary `users`");
    let operations = "operations: { a: { schedule: \"const(5, 10s)\", sql: SELECT 1 } }\n";
    for find in ["max", "confirm", "soak", "{ soak: { level: 5 } }", "{ sweep: { max: {} } }"] {
        let message = "the search has no rate to vary: every operation has its own `schedule`";
        check(&format!("{operations}{OPEN}"), &format!("find: {find}"), message);
    }
}

/// A search does not exceed the caps of a remote system.
#[test]
fn searches_on_other_machines_respect_caps() {
    let check = |find: &str, expected: Result<Option<f64>, &str>| {
        let text = format!(
            "stack: {{ service: {{ url: \"http://shop\", allow: \"shop:80\" }} }}\n\
             operations: {{ a: {{ get: / }} }}\n{OPEN}\n{find}\n"
        );
        let found = far(&text).map(|plan| plan.experiment.goal.max_search().and_then(|it| it.limit));
        match (found, expected) {
            (Ok(most), Ok(expected)) => assert_eq!(most, expected, "{find}"),
            (Err(message), Err(expected)) => {
                let message = printed(&message);
                assert!(message.contains(expected), "{find}\n{message}");
            }
            (found, _) => panic!("{find}: {found:?}"),
        }
    };
    check("find: max", Ok(Some(1000.0)));
    check("find: { max: { limit: 200 } }", Ok(Some(200.0)));
    check(
        "find: { max: { limit: 5000 } }",
        Err("5000 exceeds the cap of 1000 for systems on other machines"),
    );
    check("find: { max: { from: 2000 } }", Err("2000 exceeds the cap of 1000"));
    check("find: { max: { hold: 10m } }", Err("600s exceeds the cap of 300s"));
    check("find: soak", Err("3600s exceeds the cap of 300s"));
    check("find: { confirm: { level: 1500, hold: 60s } }", Err("1500 exceeds the cap of 1000"));
}

fn far(text: &str) -> Result<Plan, Diagnostics> {
    let place = UrlTarget {
        address: "shop:80".to_owned(),
        transport: model::plan::Transport::Tcp,
        is_local: false,
        target: "/".to_owned(),
    };
    read_with_url(text, &|_| Ok(place.clone()))
}
