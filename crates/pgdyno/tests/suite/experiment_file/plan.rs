//! Tests files with HTTP operations, feeds and users.

use super::common::printed;
use experiment::{
    Diagnostics, GrammarDiagnostic, Grammars, Plan, ReadRequest, ScheduleExtent, UrlTarget, read,
};
use model::plan::{
    Expectation, Experiment, LoadModel, NodeKind, OperationKind, ProgramReadiness, Setup, StatsAddress,
    StatsForm, StatsPage, ThinkTime, Transport,
};
use model::{Nanos, SplitMix64, message};
use report::lang::{self, english};
use std::path::Path;

const SERVICE: &str = "stack: { service: { url: \"http://127.0.0.1:1\" } }\n";
const CLOSED: &str = "load: { model: closed, clients: 8, duration: 10s }\n";

/// Reads a file with test grammars. Each schedule lasts ten seconds, at five per second; `shop` is on another machine;
/// `!` is always invalid.
fn try_reading(text: &str) -> Result<Plan, Diagnostics> {
    let refuse = |text: &str| match text.find('!') {
        Some(i) => Err(vec![GrammarDiagnostic { span: i..text.len(), message: message!("schedule-empty") }]),
        None => Ok(()),
    };
    let place = |text: &str| UrlTarget {
        address: "shop:80".to_owned(),
        transport: Transport::Tcp,
        is_local: !text.contains("shop"),
        target: "/".to_owned(),
    };
    let extent = ScheduleExtent { duration: Nanos::from_secs(10), max_rate: 5.0 };
    let grammars = Grammars {
        dsn: &|text| Some(place(text)),
        schedule: &|text| refuse(text).map(|()| extent),
        script: &|text, _, _| refuse(text),
        url: &|text| refuse(text).map(|()| place(text)),
        log_format: &refuse,
        regex: &refuse,
        secret: &|name| if name == "NONE" { refuse("!") } else { Ok(()) },
        settings: &|_, _| Vec::new(),
        rule: &|_, _| Ok(()),
        objective: &|_, _| Ok(()),
    };
    read(&ReadRequest {
        path: Path::new("there/book.yaml"),
        text,
        sets: &[],
        quick: false,
        grammars,
        read: &|_| Ok(String::new()),
        columns: &|_, _, given| Ok(given.map_or(vec!["author".to_owned()], <[String]>::to_vec)),
        log_sample: &|_, _| Ok(()),
        requests: &|_| Ok(experiment::FeedRequests::default()),
        recording: &|_, _| Err(message!("traffic-no-recording")),
        dump: &|_| Err(std::io::ErrorKind::NotFound.into()),
    })
}

fn experiment(text: &str) -> (Experiment, Vec<Nanos>, Vec<String>) {
    let plan = try_reading(text).unwrap_or_else(|mistakes| panic!("{text}\n{}", printed(&mistakes)));
    let warnings = plan.warnings.iter().map(|it| english().message(it)).collect();
    (plan.experiment, plan.durations, warnings)
}

fn setup(text: &str) -> Setup {
    experiment(text).0.cells.remove(0).setup
}

/// Requests of an operation, one per line.
#[track_caller]
fn check_requests(operation: &str, expected: &str) {
    let feeds = "feeds: { books: { file: a.csv } }\n";
    let setup = setup(&format!("{SERVICE}{CLOSED}{feeds}operations: {{ a: {operation} }}\n"));
    assert_eq!(setup.operations[0].text(), expected, "{operation}");
}

#[test]
fn reads_requests() {
    check_requests("{ get: /books }", "GET /books");
    check_requests("{ head: / }", "HEAD /");
    check_requests("{ delete: \"/books?a=${author}\", feed: books }", "DELETE /books?a=${author}");
    check_requests(
        "{ get: /b, query: { page: 1, q: \"a b&${client_id}$$\" } }",
        "GET /b?page=1&q=a%20b%26${client_id}%24",
    );
    check_requests("{ get: \"/b?x=1\", query: { \"ж\": \"\" } }", "GET /b?x=1&%D0%B6=");
    check_requests("{ post: /, headers: { X-A: 5, B: \" on \" } }", "POST /\nX-A: 5\nB: on");
    check_requests(
        "{ put: /, feed: books, json: { a: \"${author}\", price: 100, of: [x, ~, 1.5] } }",
        "PUT /\n{\"a\":\"${author}\",\"price\":100,\"of\":[\"x\",null,1.5]}",
    );
    check_requests(
        "{ post: /, set: { n: \"random(1, 5)\" }, json: '{\"n\": ${n}}' }",
        "\\set n random(1, 5)\n\nPOST /\n{\"n\": ${n}}",
    );
    check_requests("{ patch: /, form: { a: b c, d: 1 } }", "PATCH /\na=b c\nd=1");
    check_requests("{ post: /, body: \"line\\nline\" }", "POST /\nline\nline");
    check_requests(
        "{ steps: [{ get: /a, capture: { t: { json: /t } } }, { get: \"/${t}\" }] }",
        "GET /a\n\nGET /${t}",
    );
}

#[test]
fn reads_response_expectations() {
    let steps = |operation: &str| {
        let setup = setup(&format!("{SERVICE}{CLOSED}operations: {{ a: {operation} }}\n"));
        let OperationKind::Http(steps) = setup.operations[0].kind.clone() else { panic!("{setup:?}") };
        steps
    };
    for (expect, expected) in [
        ("{}", &[][..]),
        ("{ status: 201 }", &[(201, 201)]),
        ("{ status: 2xx }", &[(200, 299)]),
        ("{ status: 200-204 }", &[(200, 204)]),
        ("{ status: [200, 404, 5XX] }", &[(200, 200), (404, 404), (500, 599)]),
    ] {
        let steps = steps(&format!("{{ get: /, expect: {expect} }}"));
        assert_eq!(steps[0].expect.status, expected, "{expect}");
    }
    let lists = steps("{ get: /, expect: { contains: [a, \"${client_id}\"], not_contains: b } }");
    let Expectation { contains, not_contains, .. } = &lists[0].expect;
    assert_eq!(
        (contains.as_slice(), not_contains.as_slice()),
        (&["a", "${client_id}"].map(str::to_owned)[..], &["b".to_owned()][..])
    );
    let steps = steps(
        "{ get: /, expect: { contains: ok }, capture: { a: { header: Location }, b: { regex: x(.) } } }",
    );
    assert_eq!(steps[0].expect.contains, ["ok"]);
    let captures: Vec<String> = steps[0].captures.iter().map(|it| format!("{} {:?}", it.0, it.1)).collect();
    assert_eq!(captures, ["a Header(\"Location\")", "b Regex(\"x(.)\")"]);
}

#[test]
fn operations_share_the_load() {
    let check = |operations: &str, load: &str, expected: &str| {
        let (experiment, durations, _) =
            experiment(&format!("{SERVICE}operations: {operations}\nload: {load}\n"));
        let setup = &experiment.cells[0].setup;
        let weights: Vec<String> = setup.operations.iter().map(|it| it.weight.to_string()).collect();
        let schedule = match &setup.load.model {
            LoadModel::Open { schedule, .. } => schedule.clone(),
            model => format!("{}", model.clients()),
        };
        let seconds = durations[0].as_secs_f64();
        assert_eq!(format!("{} {schedule} {seconds}s", weights.join(":")), expected, "{operations} {load}");
    };
    let rates = "{ a: { rate: 10, get: / }, b: { rate: 2.5, get: / } }";
    check(rates, "{ model: open, duration: 60s, max_in_flight: 1 }", "4:1 const(12.5, 60s) 60s");
    check(
        rates,
        "{ model: open, duration: 60s, max_in_flight: 1, coefficient: 3 }",
        "4:1 const(37.5, 60s) 60s",
    );
    check(rates, "{ model: open, schedule: x, max_in_flight: 1, warmup: 2s }", "4:1 x 12s");
    check(rates, CLOSED.trim_start_matches("load: "), "4:1 8 10s");
    let operations = "{ a: { weight: 3, get: / }, b: { schedule: y, get: / } }";
    check(operations, "{ model: open, schedule: x, max_in_flight: 1 }", "3:0 x 10s");
    check("{ b: { schedule: y, get: / } }", "{ model: open, max_in_flight: 1 }", "0 const(0, 10s) 10s");
}

#[test]
fn reads_user_stages() {
    let check = |load: &str, expected: &LoadModel, duration: u64| {
        let setup = setup(&format!(
            "{SERVICE}operations: {{ a: {{ get: / }} }}\nload: {{ model: closed, {load} }}\n"
        ));
        assert_eq!(setup.load.model, *expected, "{load}");
        assert_eq!(setup.load.duration, Some(Nanos::from_secs(duration)), "{load}");
    };
    let stage = |users, spawn_rate, seconds| model::plan::UserStage {
        users,
        spawn_rate,
        duration: Nanos::from_secs(seconds),
    };
    let second = Nanos::from_secs(1);
    let plain = LoadModel::Closed { clients: 8, think: second };
    check("clients: 8, duration: 9s, think: 1s", &plain, 9);
    // A single stage of users equals `clients`.
    check("users: [{ users: 8, duration: 9s }], think: 1s", &plain, 9);
    let users = |stages, think, pacing, rate_max| LoadModel::Users { stages, think, pacing, rate_max };
    check(
        "users: [{ users: 1000, spawn_rate: 50, duration: 90s }, { users: 10, duration: 5s }]",
        &users(vec![stage(1000, Some(50.0), 90), stage(10, None, 5)], ThinkTime::NONE, None, None),
        95,
    );
    check(
        "clients: 8, duration: 9s, think: exponential(1s), pacing: 1s",
        &users(vec![stage(8, None, 9)], ThinkTime::Exponential { mean: second }, Some(second), None),
        9,
    );
    check(
        "clients: 8, duration: 9s, think: \"lognormal(1s, 0.5)\", max_rate: 500",
        &users(
            vec![stage(8, None, 9)],
            ThinkTime::LogNormal { median: second, sigma: 0.5 },
            None,
            Some(500.0),
        ),
        9,
    );
}

#[test]
fn reads_services() {
    let command = "[bin/shop, ../x.jar, ./y, z/w, -v]";
    let text = format!(
        "stack: {{ service: {{ command: {command} }}, postgres: {{}} }}\noperations: {{ a: {{ get: / }} }}\n{CLOSED}"
    );
    let setup = setup(&text);
    let NodeKind::Service(service) = &setup.stack.nodes[0].kind else { panic!("{setup:?}") };
    assert_eq!(service.command, ["there/bin/shop", "there/../x.jar", "there/./y", "z/w", "-v"]);
    assert_eq!((service.copies, service.ready_path.as_str(), service.url.as_deref()), (1, "/health", None));
    // A closed load on a remote system has a cap, even if none is requested.
    let far =
        "stack: { service: { url: \"http://shop\", allow: \"SHOP:80\" } }\noperations: { a: { get: / } }\n";
    let (experiment, ..) = experiment(&format!("{far}{CLOSED}"));
    let LoadModel::Users { rate_max, stages, .. } = &experiment.cells[0].setup.load.model else { panic!() };
    assert_eq!((*rate_max, stages[0].users), (Some(1000.0), 8));
}

#[test]
fn reads_redirects_secrets_and_timeouts() {
    let text = r#"{ get: "/${env:A}", headers: { B: "${env:B} $$" }, query: { c: "${env:C}" }, redirects: 5, decompress: true }"#;
    check_requests(text, "GET /${env:A}?c=${env:C}\nB: ${env:B} $$");
    check_requests("{ post: /, json: { a: \"${env:A}\" } }", "POST /\n{\"a\":\"${env:A}\"}");
    check_requests("{ post: /, form: { a: \"${env:A}\" } }", "POST /\na=${env:A}");
    let load = "load: { model: closed, clients: 8, duration: 10s, cookies: true, connect_timeout: 2s, first_byte_timeout: 500ms }";
    let setup_with = |load: &str| setup(&format!("{SERVICE}operations: {{ a: {text} }}\n{load}\n"));
    let (customized, plain) = (setup_with(load), setup_with(CLOSED));
    let OperationKind::Http(steps) = &customized.operations[0].kind else { panic!("{customized:?}") };
    assert_eq!((steps[0].redirects, steps[0].decompress), (5, true));
    let timeouts =
        (customized.load.connect_timeout, customized.load.first_byte_timeout, customized.load.cookies);
    assert_eq!(timeouts, (Some(Nanos::from_secs(2)), Some(Nanos::from_millis(500)), true));
    let timeouts = (plain.load.connect_timeout, plain.load.first_byte_timeout, plain.load.cookies);
    assert_eq!(timeouts, (None, None, false));
    let missing =
        try_reading(&format!("{SERVICE}{CLOSED}operations: {{ a: {{ get: \"/?${{env:NONE}}\" }} }}\n"));
    let diagnostics = missing.expect_err("it is missing").list;
    let [diagnostic] = &diagnostics[..] else { panic!("{diagnostics:?}") };
    let text = format!("{SERVICE}{CLOSED}operations: {{ a: {{ get: \"/?");
    assert_eq!(diagnostic.span.bytes, text.len()..text.len() + "${env:NONE}".len());
}

#[test]
fn reports_warnings() {
    let text = "feeds: { spare: { sql: SELECT 1 } }\nstack: { service: { url: \"http://127.0.0.1:1\" }, \
                postgres: { attach: \"postgres://h/d\" } }\n\
                operations: { a: { steps: [{ get: /, capture: { t: { json: /t }, u: { json: \"\" } } }, { get: \"/${u}\" }] } }\n";
    let (.., warnings) = experiment(&format!("{text}{CLOSED}matrix: {{ load.clients: [1, 2] }}\n"));
    assert_eq!(
        warnings,
        ["variable `t` captured by `a` is not used", "feed `spare` is not used by any operation"]
    );
}

/// Experiment file with many different elements.
const RICH: &str = r#"stack:
  service: { url: "http://shop", allow: "shop:80", caps: { rate: 99, clients: 9, duration: 5m }, ready: /r, stats: /s }
  postgres: { attach: "postgres://h/d" }
feeds:
  books: { file: a.csv, columns: [author, ж], order: zipfian(1.2), lookup_column: a.b.c }
  asked: { sql: SELECT 1, order: once }
  rows: { rows: [{ a: 1, b: x }, { a: 2, b: "y" }] }
operations:
  get: { rate: 0.5, get: "/${author}?e=$$", feed: books, query: { "ж": "${ж} $$" }, set: { n: "random(1, :client_id) + 1" } }
  json: { rate: 1, post: /, feed: rows, json: { "${a}": ["${b}", ~, 1_0, 0x1] }, headers: { A: "é${a}" }, expect: { status: [2xx, 200-404], contains: é } }
  text: { schedule: "const(1, 5s)", put: /, json: "{\"é\": ${client_id}, \"$$\": [1]}" }
  steps: { rate: 3, steps: [{ name: é, post: /, form: { a: "${client_id}" }, capture: { t: { json: /a~1 }, u: { regex: "é(" } } }, { get: "/${t}${u}" }] }
load: { model: open, duration: 60s, coefficient: 1.5, max_in_flight: 5 }
matrix: { load.coefficient: [1, 2], load.arrivals: [even, poisson] }
"#;

#[test]
fn no_text_panics() {
    experiment(RICH);
    let seed: u64 = 0x5eed;
    let mut rng = SplitMix64(seed);
    let mut draw = |below: usize| rng.below(below as u64) as usize;
    let signs: Vec<&str> =
        "$ { } [ ] : , \" ' ~ é / ( ) 0 -1 1e309 \n ! ${ ${a} null {} [] NaN %".split(' ').collect();
    let (mut right, mut wrong) = (0, 0);
    for round in 0..1000 {
        let mut text: Vec<char> = RICH.chars().collect();
        for _ in 0..=draw(3) {
            let at = draw(text.len());
            let length = [0, 1, 1, 4, 12][draw(5)].min(text.len() - at);
            let new: Vec<char> = match draw(3) {
                0 => Vec::new(),
                1 => signs[draw(signs.len())].chars().collect(),
                _ => {
                    let from = draw(text.len());
                    text[from..(from + draw(20)).min(text.len())].to_vec()
                }
            };
            text.splice(at..at + length, new);
        }
        let text: String = text.into_iter().collect();
        match try_reading(&text) {
            Ok(plan) => {
                assert!(!plan.experiment.cells[0].setup.operations.is_empty());
                right += 1;
            }
            Err(mistakes) => {
                assert!(!mistakes.list.is_empty(), "seed {seed}, round {round}:\n{text}");
                for diagnostic in &mistakes.list {
                    let source = &mistakes.sources[diagnostic.span.source].text;
                    assert!(
                        source.get(diagnostic.span.bytes.clone()).is_some(),
                        "seed {seed}, round {round}:\n{text}\n{diagnostic:?}"
                    );
                    for lang in lang::all() {
                        let (text, help) =
                            (lang.message(&diagnostic.message), lang.help(&diagnostic.message));
                        assert!(!text.is_empty() && !help.is_empty(), "{}: {diagnostic:?}", lang.code());
                    }
                }
                wrong += 1;
            }
        }
    }
    assert!(right > 10 && wrong > 500, "{right} right, {wrong} wrong");
}

/// All forms of `stats` and `metrics` become pages and URLs.
#[test]
fn reads_pages_of_services_and_hosts() {
    let service = |keys: &str| {
        let text = format!(
            "stack: {{ service: {{ url: \"http://127.0.0.1:1\", {keys} }} }}\noperations: {{ a: {{ get: / }} }}\n{CLOSED}"
        );
        match setup(&text).stack.nodes.remove(0).kind {
            NodeKind::Service(service) => service,
            other => panic!("{other:?}"),
        }
    };
    let page = |form, address, series: &[&str]| StatsPage {
        form,
        address,
        program: None,
        series: series.iter().map(|&it| it.to_owned()).collect(),
    };
    let text = |it: &str| it.to_owned();
    let own = StatsPage::own(text("/stats"));
    let fpm = page(StatsForm::PhpFpm, StatsAddress::Port(81, text("/status?json")), &[]);
    let metrics = page(StatsForm::Prometheus, StatsAddress::Url(text("http://127.0.0.1:9/m")), &["a_total"]);
    for (keys, expected) in [
        ("stats: /stats", vec![own.clone()]),
        ("stats: { path: /stats }", vec![own.clone()]),
        ("stats: [/stats, { path: \"/status?json\", port: 81, form: php-fpm }]", vec![own, fpm]),
        ("stats: { url: \"http://127.0.0.1:9/m\", form: prometheus, series: [a_total] }", vec![metrics]),
    ] {
        assert_eq!(service(keys).stats, expected, "{keys}");
    }
    assert_eq!(service("ready: /").metrics, [""; 0]);
}

/// Readiness of the first program, in the key `ready` or by default.
#[test]
fn programs_are_ready_when_their_port_accepts() {
    for (first, others, expected) in [
        ("command: [a]", "", ProgramReadiness::Running),
        ("command: [a, \"${port}\"]", "", ProgramReadiness::Port),
        ("command: [a], env: { LISTEN: \"${address}\" }", "", ProgramReadiness::Port),
        ("command: [a], env: { HOST: \"${host}\" }", "", ProgramReadiness::Running),
        ("command: [a]", "b: { command: [b, \"${a.address}\"] }, ", ProgramReadiness::Port),
        ("command: [a]", "b: { command: [b, \"${port}\"] }, ", ProgramReadiness::Running),
        ("command: [a, \"${port}\"], ready: running", "", ProgramReadiness::Running),
        ("command: [a], ready: port", "", ProgramReadiness::Port),
        ("command: [a], ready: /up", "", ProgramReadiness::Path("/up".to_owned())),
        ("command: [a], ready: \"${dir}/a.sock\"", "", ProgramReadiness::Socket("a.sock".to_owned())),
    ] {
        let yaml = format!(
            "stack: {{ service: {{ programs: {{ a: {{ {first} }}, {others}web: {{ command: [web] }} }} }}, postgres: {{}} }}\n\
             operations: {{ a: {{ get: / }} }}\nload: {{ model: closed, clients: 1, duration: 1s }}\n"
        );
        let setup = setup(&yaml);
        let NodeKind::Service(service) = &setup.stack.nodes[0].kind else { panic!("{setup:?}") };
        assert_eq!(service.programs[0].ready, expected, "{first} {others}");
        assert_eq!(service.serving_program().map(|it| it.name.as_str()), Some("web"));
    }
}

/// Stored plans of earlier versions can be read. Each row has the current key of the kind, and the product.
#[test]
fn reads_stored_plans_of_earlier_versions() {
    let postgres = r#"{"postgres": {"version": null, "max_connections": 9, "settings": []}}"#;
    let pgbouncer = r#"{"pg_bouncer": {"version": [1, 21], "mode": "transaction", "size": 7, "max_client_conn": 8, "settings": []}}"#;
    let odyssey = r#"{"odyssey": {"mode": "session", "size": 7, "workers": 2, "client_max": 8, "pool_timeout": 5, "settings": []}}"#;
    let haproxy = r#"{"ha_proxy": {"maxconn": 7, "queue_timeout": 5, "check": null}}"#;
    let attached =
        r#"{"attached": {"dsn": "host=a", "admin": null, "role": "pg_bouncer", "allow": null, "others": 0}}"#;
    for (text, key, product) in [
        (postgres, "postgres", "PostgreSQL"),
        (pgbouncer, "pg_bouncer", "PgBouncer"),
        (odyssey, "odyssey", "Odyssey"),
        (haproxy, "ha_proxy", "HAProxy"),
        (attached, "attached", "PgBouncer"),
    ] {
        let kind: NodeKind = serde_json::from_str(text).unwrap();
        assert_eq!(kind.product().name, product);
        if let Some(pooler) = kind.pooler() {
            assert_eq!((pooler.size, pooler.max_client_conn), (7, 8), "{text}");
        }
        let stored = serde_json::to_value(&kind).unwrap();
        assert_eq!(stored.as_object().unwrap().keys().collect::<Vec<_>>(), [key]);
        assert_eq!(serde_json::from_value::<NodeKind>(stored).unwrap(), kind);
    }
    for (stats, expected) in [("null", vec![]), ("\"/stats\"", vec![StatsPage::own("/stats".to_owned())])] {
        let stored = format!(
            r#"{{"service": {{"command": [], "url": null, "env": [], "copies": 1, "ready_path": "/", "stats_path": {stats}}}}}"#
        );
        let kind: NodeKind = serde_json::from_str(&stored).unwrap();
        let NodeKind::Service(service) = &kind else { panic!("{kind:?}") };
        assert_eq!(service.stats, expected);
        let stored = serde_json::to_value(&kind).unwrap();
        assert_eq!(serde_json::from_value::<NodeKind>(stored).unwrap(), kind);
    }
    let unknown = serde_json::from_str::<NodeKind>(r#"{"pgcat": {}}"#).unwrap_err().to_string();
    assert!(unknown.contains("unknown node kind `pgcat`"), "{unknown}");
}
