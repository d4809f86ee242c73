//! Mixes of scripts and requests, feeds and captures: requests sent and outcomes

use crate::english;
use load::feed::{DrawOrder, Feed};
use load::script::{Mode, Program, ProgramBuilder, ScriptHeader};
use load::sim::{self, SimulatedSystem, drive};
use load::{Action, LoadEvent, LoadPlan, PostgresEndpoint, Service, Shard, Workload};
use model::plan::{AmmoDetails, CaptureSource, Expectation, HttpStep, RequestBody};
use model::row_table::{RowFormat, RowLayout, Rows};
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, Spacing};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::pg::{Login, Transport};

fn plan(program: Program, clients: u32, schedule: Schedule) -> LoadPlan {
    LoadPlan {
        transactions: Some(3),
        backlog_max: 1_000,
        drain: Nanos::from_secs(10),
        measured: load::MeasuredCommands::All,
        ..sim::plan(program, Mode::Prepared, clients, 1, schedule)
    }
}

fn head(name: &str) -> ScriptHeader<'_> {
    ScriptHeader { name, weight: 1, draws: None }
}

/// Feed with the rows of `text`, whose first line names the columns.
fn feed(text: &str, order: DrawOrder) -> (Feed, Vec<String>) {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().expect("columns");
    let columns: Vec<String> = first.trim().split(',').map(str::to_owned).collect();
    let mut layout = RowLayout::new(RowFormat::Lines { delimiter: b',' }, columns.clone());
    let mut at = first.len() as u64;
    for line in lines {
        layout.push(at);
        at += line.len() as u64;
    }
    (Feed::new(Rows::new(Arc::new(text.to_owned().into_bytes()), layout), order), columns)
}

/// Requests that a shard sent, outcomes of its transactions, and events that it reported.
struct Exchange {
    sent: Vec<String>,
    outcomes: Vec<Outcome>,
    events: Vec<LoadEvent>,
}

/// Runs one thread against a simulated service, which sends `answer`'s result a millisecond after each request.
fn exchange(plan: LoadPlan, feeds: Vec<Feed>, mut answer: impl FnMut(&str) -> String) -> Exchange {
    let work = Workload::with_services(plan, None, vec![Service::without_tls("sim")]).with_feeds(feeds);
    let mut shard: Shard<Vec<Record>> = Shard::new(Arc::new(work), 0, Vec::new());
    let (mut sent, mut events, mut responses) = (Vec::new(), Vec::new(), VecDeque::new());
    let mut now = Nanos::ZERO;
    shard.begin(now);
    loop {
        shard.advance(now);
        loop {
            match shard.poll() {
                Action::Connect(conn) => shard.connected(now, conn),
                Action::Transmit(conn, bytes) => {
                    let text = String::from_utf8(bytes.to_vec()).expect("requests are texts");
                    shard.sent(conn, text.len());
                    responses.push_back((conn, answer(&text)));
                    sent.push(text);
                }
                Action::Report(event) => events.push(event),
                Action::Wait(deadline) if deadline <= now => shard.advance(now),
                Action::Wait(_) => break,
                Action::Done => {
                    let outcomes = shard.recorder.iter().map(|it| it.outcome).collect();
                    return Exchange { sent, outcomes, events };
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) | Action::Shell { .. } => {}
            }
        }
        now += Nanos::from_millis(1);
        for (conn, text) in responses.drain(..) {
            shard.receive(now, conn, text.as_bytes());
        }
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nX-Token: tea\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn tokens(outcomes: &[Outcome]) -> String {
    let names = outcomes.iter().map(|outcome| match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Failed(code) => format!("failed {code}"),
        Outcome::Unknown(code) => format!("unknown {code}"),
        Outcome::Dropped => "dropped".to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// First lines of all requests.
fn lines(sent: &[String]) -> Vec<&str> {
    sent.iter().map(|it| it.split(" HTTP").next().expect("a line")).collect()
}

#[test]
fn steps_use_drawn_computed_and_captured_values() {
    let (names, columns) = feed("name,unused,city\nann,x,a b\nbob,y,\"q\n", DrawOrder::Sequential);
    let sets = [("n".to_owned(), "7 * 6".to_owned()), ("m".to_owned(), ":n + :client_id".to_owned())];
    let login = HttpStep {
        name: Some("log in".to_owned()),
        headers: vec![("X-N".to_owned(), "${m}".to_owned())],
        body: Some(RequestBody::Json("{\"who\": \"${name}\", \"city\": \"${city}\"}".to_owned())),
        captures: vec![
            ("token".to_owned(), CaptureSource::Json("/auth/0/token".to_owned())),
            ("kind".to_owned(), CaptureSource::Header("x-token".to_owned())),
            ("csrf".to_owned(), CaptureSource::Regex("csrf=([a-z]+)".to_owned())),
        ],
        ..HttpStep::new("POST", "/login?n=${n}")
    };
    let search = HttpStep {
        headers: vec![("Authorization".to_owned(), "Bearer ${token}".to_owned())],
        body: Some(RequestBody::Form(vec![
            ("city".to_owned(), "${city}".to_owned()),
            ("a b".to_owned(), "я".to_owned()),
        ])),
        expect: Expectation {
            status: vec![(200, 200)],
            contains: vec!["found".to_owned()],
            ..Expectation::default()
        },
        ..HttpStep::new("POST", "/search/${kind}/${csrf}")
    };
    let mut maker = ProgramBuilder::new(Mode::Prepared, &["client_id"]);
    maker.add_http(&ScriptHeader { draws: Some((0, &columns)), ..head("both") }, 0, &sets, &[login, search]);
    let program = maker.finish().expect("the program is valid");
    let names_of_steps: Vec<&str> =
        program.scripts[0].commands.iter().map(|it| it.first_line.as_str()).collect();
    assert_eq!(
        names_of_steps,
        ["\\set n 7 * 6", "\\set m :n + :client_id", "log in", "POST /search/${kind}/${csrf}"]
    );
    let result = exchange(plan(program, 1, sim::CLOSED), vec![names], |request| {
        match request.starts_with("POST /login") {
            true => ok("{\"auth\": [{\"token\": \"t\\u00e9\"}], \"page\": \"csrf=abc;\"}"),
            false => ok("we found it"),
        }
    });
    assert_eq!(tokens(&result.outcomes), "ok, ok, ok");
    let bodies: Vec<&str> =
        result.sent.iter().map(|it| it.split("\r\n\r\n").nth(1).expect("a body")).collect();
    assert_eq!(
        bodies[..4],
        [
            r#"{"who": "ann", "city": "a b"}"#,
            "city=a%20b&a%20b=%D1%8F",
            r#"{"who": "bob", "city": "\"q"}"#,
            "city=%22q&a%20b=%D1%8F"
        ]
    );
    assert_eq!(lines(&result.sent)[..2], ["POST /login?n=42", "POST /search/tea/abc"]);
    assert!(
        result.sent[0].contains("\r\nX-N: 42\r\nContent-Type: application/json\r\n"),
        "{}",
        result.sent[0]
    );
    assert!(result.sent[1].contains("\r\nAuthorization: Bearer té\r\n"), "{}", result.sent[1]);
    assert!(result.sent[1].contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
}

/// A response must contain all expected texts and none of the others, with the values that the variables have.
#[test]
fn expected_and_excluded_texts_have_variables() {
    let check = |contains: &[&str], not_contains: &[&str], body: &str, expected: &str| {
        let texts = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect();
        let expect =
            Expectation { status: Vec::new(), contains: texts(contains), not_contains: texts(not_contains) };
        let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
        let sets = [("id".to_owned(), "40 + 2".to_owned())];
        maker.add_http(&head("one"), 0, &sets, &[HttpStep { expect, ..HttpStep::new("GET", "/a/${id}") }]);
        let program = maker.finish().expect("the program is valid");
        let body = body.to_owned();
        let result = exchange(plan(program, 1, sim::CLOSED), Vec::new(), |_| ok(&body));
        assert_eq!(
            tokens(&result.outcomes),
            [expected; 3].join(", "),
            "{contains:?} {not_contains:?} {body}"
        );
    };
    check(&["id 42", "ok"], &[], "ok: id 42", "ok");
    check(&["id 42", "ok"], &[], "id 42", "failed check text");
    check(&["id ${id}", "$$5"], &[], "$5 id 42", "ok");
    check(&["id ${id}", "$$5"], &[], "$5 id 43", "failed check text");
    check(&[], &["login"], "welcome", "ok");
    check(&[], &["error", "login"], "please login", "failed check not_contains");
    check(&["id ${id}"], &["not ${id}"], "id 42, not 41", "ok");
    check(&["id ${id}"], &["not ${id}"], "id 42, not 42", "failed check not_contains");
    check(&["no"], &["login"], "login", "failed check text");
}

#[test]
fn missing_capture_fails_with_its_own_code() {
    let check = |from: CaptureSource, contains: Option<&str>, body: &str, expected: &str| {
        let first = HttpStep {
            captures: vec![("token".to_owned(), from.clone())],
            expect: Expectation {
                contains: contains.map(str::to_owned).into_iter().collect(),
                ..Expectation::default()
            },
            ..HttpStep::new("GET", "/a")
        };
        let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
        maker.add_http(&head("two"), 0, &[], &[first, HttpStep::new("GET", "/b?${token}")]);
        let program = maker.finish().expect("the program is valid");
        let body = body.to_owned();
        let result = exchange(plan(program, 1, sim::CLOSED), Vec::new(), |_| ok(&body));
        assert_eq!(tokens(&result.outcomes), [expected; 3].join(", "), "{from:?} in {body}");
        let requests = if expected == "ok" { 6 } else { 3 };
        assert_eq!(result.sent.len(), requests, "the first step that fails ends the transaction");
    };
    let json = || CaptureSource::Json("/token".to_owned());
    check(json(), None, "{\"token\":1}", "ok");
    check(json(), None, "{\"token\":null}", "failed check capture");
    check(json(), None, "", "failed check capture");
    check(CaptureSource::Header("x-token".to_owned()), None, "", "ok");
    check(CaptureSource::Header("x-tokens".to_owned()), None, "", "failed check capture");
    check(CaptureSource::Regex("a+".to_owned()), None, "baab", "ok");
    check(CaptureSource::Regex("a+".to_owned()), None, "bb", "failed check capture");
    check(CaptureSource::Regex("a+".to_owned()), Some("b"), "a", "failed check text");
    check(CaptureSource::Regex("a+".to_owned()), Some("ba"), "aba", "ok");
}

#[test]
fn variables_are_local_to_operation() {
    // Either script may be drawn first. Without a check, the request would sometimes be sent without the value.
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    maker.add_pgbench(&head("numbers"), "\\set n 5\n", false);
    maker.add_http(&head("asks"), 0, &[], &[HttpStep::new("GET", "/${n}")]);
    let errors = maker.finish().expect_err("a variable is undefined");
    assert_eq!(english::text(&errors[0].message), "operation \"asks\": the variable ${n} is not defined");
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    maker.add_http(&head("asks"), 0, &[("n".to_owned(), "5".to_owned())], &[HttpStep::new("GET", "/${n}")]);
    maker.add_pgbench(&head("reads"), "SELECT :n;\n", false);
    let program = maker.finish().expect("pgbench sends what is undefined");
    assert_eq!(program.undefined.len(), 1);
}

/// Feed of whole requests.
fn ammo(rows: &[[&str; 4]]) -> (Feed, Vec<String>) {
    let columns = load::script::Ammo::COLUMNS.map(str::to_owned).to_vec();
    let mut bytes = Vec::new();
    let mut layout = RowLayout::new(RowFormat::Packed, columns.clone());
    for row in rows {
        layout.push(bytes.len() as u64);
        for field in row {
            bytes.extend((field.len() as u32).to_le_bytes());
            bytes.extend(field.as_bytes());
        }
    }
    (Feed::new(Rows::new(Arc::new(bytes), layout), DrawOrder::Once), columns)
}

/// All requests of ammunition get headers, unless they have their own, and each response is checked.
#[test]
fn ammo_has_headers_and_an_expected_response() {
    let (feed, columns) = ammo(&[
        ["GET", "/a", "accept: text/html\r\n", ""],
        ["POST", "/b", "", "1"],
        ["GET", "/login", "X-Accept: y\r\n", ""],
        ["GET", "/missing", "", ""],
    ]);
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let details = AmmoDetails {
        headers: vec![header("Accept", "application/json"), header("X-Client", "${client_id}")],
        expect: Expectation {
            status: vec![(200, 200)],
            not_contains: vec!["Sign in".to_owned()],
            ..Expectation::default()
        },
    };
    let mut maker = ProgramBuilder::new(Mode::Simple, &["client_id"]);
    maker.add_ammo(&ScriptHeader { draws: Some((0, &columns)), ..head("log") }, 0, &details);
    let program = maker.finish().expect("the program is valid");
    let plan = LoadPlan { transactions: None, ..plan(program, 1, sim::CLOSED) };
    let result = exchange(plan, vec![feed], |request| match request.split(' ').nth(1) {
        Some("/login") => ok("<h1>Sign in</h1>"),
        Some("/missing") => "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".to_owned(),
        _ => ok("hello"),
    });
    let failed = [Code::TextFound, Code::Http(302)].map(Outcome::Failed);
    assert_eq!(result.outcomes, [Outcome::Ok, Outcome::Ok, failed[0], failed[1]]);
    assert_eq!(
        result.sent[..3],
        [
            "GET /a HTTP/1.1\r\nHost: sim\r\naccept: text/html\r\nX-Client: 0\r\n\r\n",
            "POST /b HTTP/1.1\r\nHost: sim\r\nAccept: application/json\r\nX-Client: 0\r\n\
             Content-Length:          1\r\n\r\n1",
            "GET /login HTTP/1.1\r\nHost: sim\r\nX-Accept: y\r\nAccept: application/json\r\nX-Client: 0\r\n\r\n",
        ]
    );
}

#[test]
fn ammo_is_sent_verbatim() {
    let (feed, columns) = ammo(&[
        ["GET", "/a?b=1", "X: y\r\nA: b\r\n", ""],
        ["POST", "/c", "", "12\r\n\r\n3"],
        ["POST", "/d", "", ""],
        ["HEAD", "/e", "", ""],
        ["PURGE", "/f", "", ""],
    ]);
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    maker.add_ammo(&ScriptHeader { draws: Some((0, &columns)), ..head("log") }, 0, &AmmoDetails::default());
    let program = maker.finish().expect("the program is valid");
    let plan = LoadPlan { transactions: None, ..plan(program, 1, sim::CLOSED) };
    let result = exchange(plan, vec![feed], |request| match request.starts_with("HEAD") {
        true => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_owned(),
        false => ok("hello"),
    });
    assert_eq!(tokens(&result.outcomes), "ok, ok, ok, ok, ok");
    assert_eq!(result.events, [LoadEvent::Exhausted { feed: 0 }]);
    assert_eq!(
        result.sent,
        [
            "GET /a?b=1 HTTP/1.1\r\nHost: sim\r\nX: y\r\nA: b\r\n\r\n",
            "POST /c HTTP/1.1\r\nHost: sim\r\nContent-Length:          7\r\n\r\n12\r\n\r\n3",
            "POST /d HTTP/1.1\r\nHost: sim\r\nContent-Length:          0\r\n\r\n",
            "HEAD /e HTTP/1.1\r\nHost: sim\r\n\r\n",
            "PURGE /f HTTP/1.1\r\nHost: sim\r\nContent-Length:          0\r\n\r\n",
        ]
    );
}

#[test]
fn exhausted_feed_ends_load_without_losing_arrivals() {
    let rows = || "id\n".to_owned() + &(0..100).map(|it| format!("{it}\n")).collect::<String>();
    let program = |columns: &[String]| {
        let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
        maker.add_http(
            &ScriptHeader { draws: Some((0, columns)), ..head("once") },
            0,
            &[],
            &[HttpStep::new("GET", "/${id}")],
        );
        maker.finish().expect("the program is valid")
    };
    let check_every_row_once = |sent: &[String]| {
        let mut numbers: Vec<u32> = lines(sent).iter().map(|it| it[5..].parse().expect("a number")).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    };
    let (all, columns) = feed(&rows(), DrawOrder::Once);
    let result = exchange(
        LoadPlan { transactions: None, ..plan(program(&columns), 7, sim::CLOSED) },
        vec![all],
        |_| ok(""),
    );
    check_every_row_once(&result.sent);
    assert_eq!(result.outcomes, [Outcome::Ok; 100], "in the closed model nothing is dropped");
    assert_eq!(result.events, [LoadEvent::Exhausted { feed: 0 }]);
    // The schedule has 4,000 arrivals/s, and two clients complete 1,000/s each. The backlog is therefore not empty when
    // the last row is drawn.
    let curve =
        Curve::Ramp { from: PerSecond(4_000.0), to: PerSecond(4_000.0), duration: Nanos::from_secs(1) };
    let open = Schedule::Open { curve, spacing: Spacing::Even };
    let (all, columns) = feed(&rows(), DrawOrder::Once);
    let result =
        exchange(LoadPlan { transactions: None, ..plan(program(&columns), 2, open) }, vec![all], |_| ok(""));
    check_every_row_once(&result.sent);
    let dropped = result.outcomes.iter().filter(|it| **it == Outcome::Dropped).count();
    // Of four arrivals per millisecond, two are served. The backlog is therefore as long as the number of served
    // arrivals.
    assert!((99..=110).contains(&dropped), "{dropped} found no row");
    assert_eq!(result.outcomes.len(), 100 + dropped);
}

#[test]
fn retry_uses_the_same_row() {
    let (all, columns) = feed(&("id\n".to_owned() + &"7\n".repeat(90)), DrawOrder::Once);
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    // If a retry did not copy the row again, the second attempt would compute 1 / 0.
    let text = "\\set n 1 / (:id - 6)\n\\set id 6\nSELECT :n;\n";
    maker.add_pgbench(&ScriptHeader { draws: Some((0, &columns)), ..head("tries") }, text, false);
    let program = maker.finish().expect("the program is valid");
    let plan = LoadPlan { transactions: None, max_tries: 10, ..plan(program, 3, sim::CLOSED) };
    let postgres = PostgresEndpoint::new(Arc::new(Login::new("me", "db")), Transport::Unix);
    let work = Arc::new(Workload::with_services(plan, Some(postgres), Vec::new()).with_feeds(vec![all]));
    // Every fourth statement fails. If every third failed, it would always be that of the same client, because there
    // are three.
    let world = SimulatedSystem { failing: Some((4, *b"40001")), ..SimulatedSystem::default() };
    let records = drive(vec![Shard::<Vec<Record>>::new(work, 0, Vec::new())], &world).remove(0).recorder;
    // Failures after the last row was drawn are not retried, because the load has ended.
    let failed: Vec<Outcome> = records.iter().map(|it| it.outcome).filter(|it| *it != Outcome::Ok).collect();
    assert!(failed.len() < 3, "{failed:?}");
    assert!(failed.iter().all(|it| *it == Outcome::Failed(Code::SqlState(*b"40001"))), "{failed:?}");
    assert_eq!(records.len(), 90, "a row for each transaction, not for each try");
    assert!(records.iter().any(|it| it.tries > 1));
}

#[test]
fn reports_all_diagnostics_at_once() {
    let columns = ["method".to_owned()];
    let mut maker = ProgramBuilder::new(Mode::Simple, &["given"]);
    let wrong = HttpStep {
        headers: vec![("Host".to_owned(), "x".to_owned())],
        captures: vec![
            ("a b".to_owned(), CaptureSource::Header("x".to_owned())),
            ("c".to_owned(), CaptureSource::Json("c".to_owned())),
            ("d".to_owned(), CaptureSource::Regex("(".to_owned())),
        ],
        ..HttpStep::new("FETCH", "a b")
    };
    let sets = [("x".to_owned(), "1 +".to_owned()), ("1".to_owned(), "2".to_owned())];
    maker.add_http(&head("op"), 0, &sets, &[wrong, HttpStep::new("GET", "/${nobody}${given}")]);
    maker.add_ammo(&ScriptHeader { draws: Some((0, &columns)), ..head("ammo") }, 0, &AmmoDetails::default());
    let errors: Vec<String> =
        maker.finish().expect_err("the program is invalid").iter().map(english::show).collect();
    let expected = [
        "op:1: syntax error\n\\set x 1 +\n          ^ error found here\nhint: expected an operand: a number, :variable, function(…), CASE or \"(\", but the line ends here",
        "op:1: invalid variable name: \"1\"\n\\set 1 2\n       ^ error found here\nhint: use letters, digits and underscores, and begin with no digit",
        "operation \"op\", step 1: there is no method \"FETCH\"\nhint: write one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
        "operation \"op\", step 1: \"a b\" is not a path\nhint: write a path such as /books?page=1, with blanks as %20",
        "operation \"op\", step 1: pgdyno itself sends the header Host\nhint: remove it",
        "operation \"op\", step 1: invalid variable name: \"a b\"\nhint: use letters, digits and underscores, and begin with no digit",
        "operation \"op\", step 1: the capture \"c\": \"c\" is not a JSON pointer\nhint: write one such as /items/0/id",
        "operation \"op\", step 1: the capture \"d\": invalid regular expression \"(\": unclosed group\nhint: write one such as name=\"token\" value=\"([^\"]+)\"",
        "operation \"op\": the variable ${nobody} is not defined\nhint: set it, capture it in an earlier step, or draw it from a feed with such a column",
        "operation \"ammo\": the feed has no column \"target\", which every request requires\nhint: use a feed in the format uri, uripost, raw or access",
        "operation \"ammo\": the feed has no column \"headers\", which every request requires\nhint: use a feed in the format uri, uripost, raw or access",
        "operation \"ammo\": the feed has no column \"body\", which every request requires\nhint: use a feed in the format uri, uripost, raw or access",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn steps_are_the_commands_that_send_a_request() {
    let check = |mode: Mode, texts: &[&str], expected: &[&[&str]]| {
        let mut maker = ProgramBuilder::new(mode, &[]);
        texts.iter().for_each(|text| maker.add_pgbench(&head("sql"), text, false));
        assert_eq!(maker.step_names(), expected, "{texts:?}");
    };
    check(Mode::Simple, &["SELECT 1;"], &[&[]]);
    let two = "\\set a 1\nSELECT :a;\n\\sleep 1 ms\nSELECT 2;";
    check(Mode::Simple, &[two, "SELECT 1;"], &[&["", "SELECT :a;", "", "SELECT 2;"], &[]]);
    let pipeline = "SELECT 1;\n\\startpipeline\nSELECT 2;\nSELECT 3;\n\\endpipeline\n";
    check(Mode::Extended, &[pipeline], &[&["SELECT 1;", "", "", "", "\\endpipeline"]]);
    // The histograms of this number of commands would take too much memory.
    check(Mode::Simple, &[two, &"SELECT 1;\n".repeat(253)], &[&[], &[]]);
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    maker.add_http(&head("web"), 0, &[("n".to_owned(), "1".to_owned())], &[HttpStep::new("GET", "/${n}")]);
    assert_eq!(maker.step_names(), [["", "GET /${n}"]]);
}
