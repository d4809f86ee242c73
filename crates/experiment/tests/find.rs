//! What does a file look for?

mod common;

use common::asked;
use experiment::{Mistakes, Place, Plan};
use model::Nanos;
use model::plan::{Confirm, Find, Level, LoadModel, Max, Scale, Soak, Sweep};

const OPEN: &str = "load: { model: open, max_in_flight: 50 }";
const CLOSED: &str = "load: { model: closed }";

fn plan(load: &str, rest: &str) -> Result<Plan, Mistakes> {
    let operations = if load.contains("operations:") { "" } else { "operations: { a: { sql: SELECT 1 } }\n" };
    asked(&format!("stack: {{ postgres: {{}} }}\n{operations}{load}\n{rest}\n"), &|_| Err(Vec::new()))
}

#[test]
fn words_and_settings() {
    let check = |load: &str, rest: &str, expected: Find| {
        let plan = plan(load, rest).unwrap_or_else(|it| panic!("{rest}\n{it}"));
        assert_eq!(plan.experiment.find, expected, "{rest}");
    };
    let usual = Max::USUAL;
    let rated = "load: { model: open, schedule: \"const(5, 10s)\", max_in_flight: 50 }";
    check(rated, "", Find::Once);
    check(rated, "find: once", Find::Once);
    check(OPEN, "find: max", Find::Max(usual.clone()));
    check(CLOSED, "find: max", Find::Max(Max { scale: Scale::Clients, ..usual.clone() }));
    check(OPEN, "find: max\nprove: true", Find::Max(Max { prove: true, ..usual.clone() }));
    check(
        OPEN,
        "find: { max: { from: 20, most: 4000, precision: 2%, window: 10s, hold: 30s } }",
        Find::Max(Max {
            from: Some(20.0),
            most: Some(4000.0),
            precision: 0.02,
            window: Nanos::from_secs(10),
            hold: Nanos::from_secs(30),
            ..usual.clone()
        }),
    );
    check(rated, "find: sweep", Find::Sweep(Sweep { max: None }));
    check(OPEN, "find: { sweep: { max: {} } }", Find::Sweep(Sweep { max: Some(usual.clone()) }));
    let (ramp, hold) = (Nanos::from_secs(60), Nanos::from_secs(300));
    let level = Level::Share { share: 1.0, max: usual.clone() };
    check(OPEN, "find: confirm", Find::Confirm(Confirm { level, ramp, hold }));
    let level = Level::Given { level: 646.0, of: None };
    check(
        rated,
        "find: { confirm: { level: 646, ramp: 10s, hold: 60s } }",
        Find::Confirm(Confirm { level, ramp: Nanos::from_secs(10), hold: Nanos::from_secs(60) }),
    );
    let level = Level::Share { share: 0.5, max: Max { from: Some(9.0), ..usual.clone() } };
    check(
        OPEN,
        "find: { soak: { share: 50%, for: 6h, max: { from: 9 } } }",
        Find::Soak(Soak { level, lasting: Nanos::from_secs(6 * 3600) }),
    );
    let level = Level::Given { level: 34.0, of: Some(646.0) };
    check(
        rated,
        "find: { soak: { level: 34, of: 646 } }",
        Find::Soak(Soak { level, lasting: Nanos::from_secs(3600) }),
    );
}

#[test]
fn a_search_needs_no_level_of_its_own() {
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
    let soak = load(OPEN, "find: { soak: { level: 34, for: 90s } }");
    let LoadModel::Open { schedule, .. } = soak.model else { panic!("it is open") };
    assert_eq!(schedule, "const(34, 90s)");
    let closed = load(CLOSED, "find: { max: { window: 5s } }");
    assert_eq!(closed.duration, Some(Nanos::from_secs(5)));
    assert_eq!(closed.model, LoadModel::Closed { clients: 1, think: Nanos::ZERO });
}

#[test]
fn mistakes() {
    let check = |load: &str, rest: &str, expected: &str| {
        let told = plan(load, rest).expect_err(rest).to_string();
        assert!(told.contains(expected), "{rest}\n{told}");
    };
    check(OPEN, "find: {}", "it looks for nothing, or for several things at once");
    check(OPEN, "find: { max: {}, soak: {} }", "several things at once");
    check(OPEN, "find: maximum", "`maximum`");
    check(OPEN, "find: { max: { form: 3 } }", "`form`");
    check(OPEN, "find: { max: { from: 0 } }", "write more than 0");
    check(OPEN, "find: { max: { from: 9, most: 3 } }", "at most 3, from 9");
    check(OPEN, "find: { max: { precision: 90% } }", "a precision of 90%");
    check(OPEN, "find: { max: { window: 1500ms } }", "write whole seconds");
    check(OPEN, "find: { confirm: { level: 5, share: 50% } }", "`share` beside a level");
    check(OPEN, "find: { soak: { of: 5 } }", "`of` without a level");
    check(OPEN, "find: { soak: { share: 0% } }", "a share of nothing");
    check(OPEN, "find: once", "the open model without `schedule`");
    check(CLOSED, "find: once", "the closed model without `clients`");
    check(OPEN, "matrix: { find: [once, max] }", "is the same in all cells");
    let rated = "load: { model: open, schedule: \"const(5, 10s)\", max_in_flight: 50 }";
    check(rated, "prove: true", "`prove` where no maximum is looked for");
    let stages = "load: { model: closed, users: [{ users: 5, spawn_rate: 1, for: 10s }] }";
    check(stages, "find: max", "users in stages where a level is looked for");
    let own = "operations: { a: { schedule: \"const(5, 10s)\", sql: SELECT 1 } }\n";
    for find in ["max", "confirm", "soak", "{ soak: { level: 5 } }", "{ sweep: { max: {} } }"] {
        let told = "every operation has a schedule of its own where a level is looked for";
        check(&format!("{own}{OPEN}"), &format!("find: {find}"), told);
    }
}

/// Whoever searches does not go beyond what a machine of others may bear.
#[test]
fn searches_of_other_machines_keep_to_their_caps() {
    let check = |find: &str, expected: Result<Option<f64>, &str>| {
        let text = format!(
            "stack: {{ service: {{ url: \"http://shop\", allow: \"shop:80\" }} }}\n\
             operations: {{ a: {{ get: / }} }}\n{OPEN}\n{find}\n"
        );
        let found = far(&text).map(|it| it.experiment.find.max().and_then(|it| it.most));
        match (found, expected) {
            (Ok(most), Ok(expected)) => assert_eq!(most, expected, "{find}"),
            (Err(told), Err(expected)) => assert!(told.to_string().contains(expected), "{find}\n{told}"),
            (found, _) => panic!("{find}: {found:?}"),
        }
    };
    check("find: max", Ok(Some(1000.0)));
    check("find: { max: { most: 200 } }", Ok(Some(200.0)));
    check("find: { max: { most: 5000 } }", Err("5000, beyond the cap of 1000 for services"));
    check("find: { max: { from: 2000 } }", Err("2000, beyond the cap of 1000"));
    check("find: { max: { hold: 10m } }", Err("600s, beyond the cap of 300s"));
    check("find: soak", Err("3600s, beyond the cap of 300s"));
    check("find: { confirm: { level: 1500, hold: 60s } }", Err("1500, beyond the cap of 1000"));
}

fn far(text: &str) -> Result<Plan, Mistakes> {
    let place = Place {
        address: "shop:80".to_owned(),
        entrance: model::plan::Entrance::Tcp,
        near: false,
        target: "/".to_owned(),
    };
    asked(text, &|_| Ok(place.clone()))
}
