//! Mixes of scripts and requests, their feeds and captures: which bytes leave, and what comes of the answers.

use load::feed::{Feed, Order};
use load::random::Seeds;
use load::script::{Head, Maker, Mode, Program};
use load::sim::{World, drive};
use load::{Action, Initial, Plan, Postgres, Said, Seeding, Service, Shard, Workload};
use model::plan::{Body, CaptureFrom, Expect, Step};
use model::rows::{Form, Layout, Rows};
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, Spacing};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::pg::{Login, Transport};

const CLOSED: Schedule = Schedule::Closed { think: Nanos::ZERO };

fn plan(program: Program, clients: u32, schedule: Schedule) -> Plan {
    let mut seeds = Seeds::new(7);
    let variables = program.slot("client_id").map(|slot| (slot, Initial::Client)).into_iter().collect();
    Plan {
        program,
        mode: Mode::Prepared,
        schedule,
        duration: None,
        transactions: Some(3),
        clients,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 1_000,
        drain: Nanos::from_secs(10),
        reconnect: false,
        connecting_max: 1000,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        verbose: false,
        statements: true,
        seeds: Seeding {
            clients: (0..clients).map(|_| seeds.client()).collect(),
            choices: vec![seeds.thread().choose],
            arrivals: 7,
            other: 7,
            variables,
        },
    }
}

fn step(method: &str, target: &str) -> Step {
    Step {
        name: None,
        method: method.to_owned(),
        target: target.to_owned(),
        headers: Vec::new(),
        body: None,
        captures: Vec::new(),
        expect: Expect::default(),
        redirects: 0,
        unpack: false,
    }
}

fn head(name: &str) -> Head<'_> {
    Head { name, weight: 1, draws: None }
}

/// Of these rows, whose columns the first line names.
fn feed(text: &str, order: Order) -> (Feed, Vec<String>) {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().expect("columns");
    let columns: Vec<String> = first.trim().split(',').map(str::to_owned).collect();
    let mut layout = Layout::new(Form::Lines { delimiter: b',' }, columns.clone());
    let mut at = first.len() as u64;
    for it in lines {
        layout.push(at);
        at += it.len() as u64;
    }
    (Feed::new(Rows::new(Arc::new(text.to_owned().into_bytes()), layout), order), columns)
}

/// What was sent, what came of it, and what was told.
struct Talk {
    sent: Vec<String>,
    outcomes: Vec<Outcome>,
    said: Vec<Said>,
}

/// Lets one thread ask an invented service, a millisecond between a request and what `answer` makes of it.
fn talk(plan: Plan, feeds: Vec<Feed>, mut answer: impl FnMut(&str) -> String) -> Talk {
    let work = Workload::of(plan, None, vec![Service::plain("sim")]).with_feeds(feeds);
    let mut shard: Shard<Vec<Record>> = Shard::new(Arc::new(work), 0, Vec::new());
    let (mut sent, mut said, mut asked) = (Vec::new(), Vec::new(), VecDeque::new());
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
                    asked.push_back((conn, answer(&text)));
                    sent.push(text);
                }
                Action::Say(it) => said.push(it),
                Action::Wait(until) if until <= now => shard.advance(now),
                Action::Wait(_) => break,
                Action::Done => {
                    let outcomes = shard.recorder.iter().map(|it| it.outcome).collect();
                    return Talk { sent, outcomes, said };
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) | Action::Shell { .. } => {}
            }
        }
        now += Nanos::from_millis(1);
        for (conn, text) in asked.drain(..) {
            shard.receive(now, conn, text.as_bytes());
        }
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nX-Token: tea\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn tokens(outcomes: &[Outcome]) -> String {
    let told = outcomes.iter().map(|it| match it {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Failed(code) => format!("failed {code}"),
        Outcome::Unknown(code) => format!("unknown {code}"),
        Outcome::Dropped => "dropped".to_owned(),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// First lines.
fn lines(sent: &[String]) -> Vec<&str> {
    sent.iter().map(|it| it.split(" HTTP").next().expect("a line")).collect()
}

#[test]
fn steps_use_what_was_drawn_computed_and_captured() {
    let (names, columns) = feed("name,unused,city\nann,x,a b\nbob,y,\"q\n", Order::Sequential);
    let sets = [("n".to_owned(), "7 * 6".to_owned()), ("m".to_owned(), ":n + :client_id".to_owned())];
    let login = Step {
        name: Some("log in".to_owned()),
        headers: vec![("X-N".to_owned(), "${m}".to_owned())],
        body: Some(Body::Json("{\"who\": \"${name}\", \"city\": \"${city}\"}".to_owned())),
        captures: vec![
            ("token".to_owned(), CaptureFrom::Json("/auth/0/token".to_owned())),
            ("kind".to_owned(), CaptureFrom::Header("x-token".to_owned())),
            ("csrf".to_owned(), CaptureFrom::Regex("csrf=([a-z]+)".to_owned())),
        ],
        ..step("POST", "/login?n=${n}")
    };
    let search = Step {
        headers: vec![("Authorization".to_owned(), "Bearer ${token}".to_owned())],
        body: Some(Body::Form(vec![
            ("city".to_owned(), "${city}".to_owned()),
            ("a b".to_owned(), "я".to_owned()),
        ])),
        expect: Expect { status: vec![(200, 200)], contains: Some("found".to_owned()) },
        ..step("POST", "/search/${kind}/${csrf}")
    };
    let mut maker = Maker::new(Mode::Prepared, &["client_id"]);
    maker.http(&Head { draws: Some((0, &columns)), ..head("both") }, 0, &sets, &[login, search]);
    let program = maker.finish().expect("it is right");
    let names_of_steps: Vec<&str> =
        program.scripts[0].commands.iter().map(|it| it.first_line.as_str()).collect();
    assert_eq!(
        names_of_steps,
        ["\\set n 7 * 6", "\\set m :n + :client_id", "log in", "POST /search/${kind}/${csrf}"]
    );
    let told = talk(plan(program, 1, CLOSED), vec![names], |it| match it.starts_with("POST /login") {
        true => ok("{\"auth\": [{\"token\": \"t\\u00e9\"}], \"page\": \"csrf=abc;\"}"),
        false => ok("we found it"),
    });
    assert_eq!(tokens(&told.outcomes), "ok, ok, ok");
    let bodies: Vec<&str> = told.sent.iter().map(|it| it.split("\r\n\r\n").nth(1).expect("a body")).collect();
    assert_eq!(
        bodies[..4],
        [
            r#"{"who": "ann", "city": "a b"}"#,
            "city=a%20b&a%20b=%D1%8F",
            r#"{"who": "bob", "city": "\"q"}"#,
            "city=%22q&a%20b=%D1%8F"
        ]
    );
    assert_eq!(lines(&told.sent)[..2], ["POST /login?n=42", "POST /search/tea/abc"]);
    assert!(told.sent[0].contains("\r\nX-N: 42\r\nContent-Type: application/json\r\n"), "{}", told.sent[0]);
    assert!(told.sent[1].contains("\r\nAuthorization: Bearer té\r\n"), "{}", told.sent[1]);
    assert!(told.sent[1].contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
}

#[test]
fn what_is_not_there_is_a_failure_with_a_code_of_its_own() {
    let check = |from: CaptureFrom, contains: Option<&str>, body: &str, expected: &str| {
        let first = Step {
            captures: vec![("token".to_owned(), from.clone())],
            expect: Expect { status: Vec::new(), contains: contains.map(str::to_owned) },
            ..step("GET", "/a")
        };
        let mut maker = Maker::new(Mode::Simple, &[]);
        maker.http(&head("two"), 0, &[], &[first, step("GET", "/b?${token}")]);
        let program = maker.finish().expect("it is right");
        let body = body.to_owned();
        let told = talk(plan(program, 1, CLOSED), Vec::new(), |_| ok(&body));
        assert_eq!(tokens(&told.outcomes), [expected; 3].join(", "), "{from:?} in {body}");
        let asked = if expected == "ok" { 6 } else { 3 };
        assert_eq!(told.sent.len(), asked, "the first step that fails ends the transaction");
    };
    let json = || CaptureFrom::Json("/token".to_owned());
    check(json(), None, "{\"token\":1}", "ok");
    check(json(), None, "{\"token\":null}", "failed check capture");
    check(json(), None, "", "failed check capture");
    check(CaptureFrom::Header("x-token".to_owned()), None, "", "ok");
    check(CaptureFrom::Header("x-tokens".to_owned()), None, "", "failed check capture");
    check(CaptureFrom::Regex("a+".to_owned()), None, "baab", "ok");
    check(CaptureFrom::Regex("a+".to_owned()), None, "bb", "failed check capture");
    check(CaptureFrom::Regex("a+".to_owned()), Some("b"), "a", "failed check text");
    check(CaptureFrom::Regex("a+".to_owned()), Some("ba"), "aba", "ok");
}

#[test]
fn a_variable_of_another_operation_is_undefined() {
    // Whichever is drawn first: the request would sometimes be sent without the value.
    let mut maker = Maker::new(Mode::Simple, &[]);
    maker.pgbench(&head("numbers"), "\\set n 5\n", false);
    maker.http(&head("asks"), 0, &[], &[step("GET", "/${n}")]);
    let told = maker.finish().expect_err("a variable is undefined");
    assert_eq!(told[0].message, "operation \"asks\": the variable ${n} is not defined");
    let mut maker = Maker::new(Mode::Simple, &[]);
    maker.http(&head("asks"), 0, &[("n".to_owned(), "5".to_owned())], &[step("GET", "/${n}")]);
    maker.pgbench(&head("reads"), "SELECT :n;\n", false);
    let program = maker.finish().expect("pgbench sends what is undefined");
    assert_eq!(program.undefined.len(), 1);
}

#[test]
fn ammunition_is_sent_as_it_is() {
    let columns = load::script::Ammo::COLUMNS.map(str::to_owned).to_vec();
    let mut bytes = Vec::new();
    let mut layout = Layout::new(Form::Packed, columns.clone());
    for row in [
        ["GET", "/a?b=1", "X: y\r\nA: b\r\n", ""],
        ["POST", "/c", "", "12\r\n\r\n3"],
        ["POST", "/d", "", ""],
        ["HEAD", "/e", "", ""],
        ["PURGE", "/f", "", ""],
    ] {
        layout.push(bytes.len() as u64);
        for it in row {
            bytes.extend((it.len() as u32).to_le_bytes());
            bytes.extend(it.as_bytes());
        }
    }
    let feed = Feed::new(Rows::new(Arc::new(bytes), layout), Order::Once);
    let mut maker = Maker::new(Mode::Simple, &[]);
    maker.ammo(&Head { draws: Some((0, &columns)), ..head("log") }, 0);
    let program = maker.finish().expect("it is right");
    let plan = Plan { transactions: None, ..plan(program, 1, CLOSED) };
    let told = talk(plan, vec![feed], |it| match it.starts_with("HEAD") {
        true => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_owned(),
        false => ok("hello"),
    });
    assert_eq!(tokens(&told.outcomes), "ok, ok, ok, ok, ok");
    assert_eq!(told.said, [Said::Exhausted { feed: 0 }]);
    assert_eq!(
        told.sent,
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
fn the_load_ends_with_the_rows_and_loses_no_arrival() {
    let rows = || "id\n".to_owned() + &(0..100).map(|it| format!("{it}\n")).collect::<String>();
    let program = |columns: &[String]| {
        let mut maker = Maker::new(Mode::Simple, &[]);
        maker.http(&Head { draws: Some((0, columns)), ..head("once") }, 0, &[], &[step("GET", "/${id}")]);
        maker.finish().expect("it is right")
    };
    let whole = |sent: &[String]| {
        let mut numbers: Vec<u32> = lines(sent).iter().map(|it| it[5..].parse().expect("a number")).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    };
    let (all, columns) = feed(&rows(), Order::Once);
    let told = talk(Plan { transactions: None, ..plan(program(&columns), 7, CLOSED) }, vec![all], |_| ok(""));
    whole(&told.sent);
    assert_eq!(told.outcomes, [Outcome::Ok; 100], "in the closed model nothing is dropped");
    assert_eq!(told.said, [Said::Exhausted { feed: 0 }]);
    // 4,000/s, two clients that manage 1,000/s each: the backlog is not empty when the last row is drawn.
    let curve =
        Curve::Ramp { from: PerSecond(4_000.0), to: PerSecond(4_000.0), lasting: Nanos::from_secs(1) };
    let open = Schedule::Open { curve, spacing: Spacing::Even };
    let (all, columns) = feed(&rows(), Order::Once);
    let told = talk(Plan { transactions: None, ..plan(program(&columns), 2, open) }, vec![all], |_| ok(""));
    whole(&told.sent);
    let dropped = told.outcomes.iter().filter(|it| **it == Outcome::Dropped).count();
    // Two a millisecond are served of the four that come: as many wait as were served.
    assert!((99..=110).contains(&dropped), "{dropped} found no row");
    assert_eq!(told.outcomes.len(), 100 + dropped);
}

#[test]
fn another_try_is_with_the_same_row() {
    let (all, columns) = feed(&("id\n".to_owned() + &"7\n".repeat(90)), Order::Once);
    let mut maker = Maker::new(Mode::Simple, &[]);
    // Were the row not copied anew, the second try would compute 1 / 0.
    let text = "\\set n 1 / (:id - 6)\n\\set id 6\nSELECT :n;\n";
    maker.pgbench(&Head { draws: Some((0, &columns)), ..head("tries") }, text, false);
    let program = maker.finish().expect("it is right");
    let plan = Plan { transactions: None, max_tries: 10, ..plan(program, 3, CLOSED) };
    let postgres = Postgres::new(Arc::new(Login::new("me", "db")), Transport::Unix);
    let work = Arc::new(Workload::of(plan, Some(postgres), Vec::new()).with_feeds(vec![all]));
    // Not every third: of three clients that would be the same one each time.
    let world = World { failing: Some((4, *b"40001")), ..World::default() };
    let records = drive(vec![Shard::<Vec<Record>>::new(work, 0, Vec::new())], &world).remove(0).recorder;
    // What fails after the last row was drawn is not tried again: the load has ended.
    let failed: Vec<Outcome> = records.iter().map(|it| it.outcome).filter(|it| *it != Outcome::Ok).collect();
    assert!(failed.len() < 3, "{failed:?}");
    assert!(failed.iter().all(|it| *it == Outcome::Failed(Code::SqlState(*b"40001"))), "{failed:?}");
    assert_eq!(records.len(), 90, "a row for each transaction, not for each try");
    assert!(records.iter().any(|it| it.tries > 1));
}

#[test]
fn mistakes_are_told_all_at_once() {
    let columns = ["method".to_owned()];
    let mut maker = Maker::new(Mode::Simple, &["given"]);
    let wrong = Step {
        headers: vec![("Host".to_owned(), "x".to_owned())],
        captures: vec![
            ("a b".to_owned(), CaptureFrom::Header("x".to_owned())),
            ("c".to_owned(), CaptureFrom::Json("c".to_owned())),
            ("d".to_owned(), CaptureFrom::Regex("(".to_owned())),
        ],
        ..step("FETCH", "a b")
    };
    let sets = [("x".to_owned(), "1 +".to_owned()), ("1".to_owned(), "2".to_owned())];
    maker.http(&head("op"), 0, &sets, &[wrong, step("GET", "/${nobody}${given}")]);
    maker.ammo(&Head { draws: Some((0, &columns)), ..head("ammo") }, 0);
    let told: Vec<String> =
        maker.finish().expect_err("it is wrong").iter().map(ToString::to_string).collect();
    let expected = [
        "op:1: syntax error\n\\set x 1 +\n          ^ error found here\nhint: expected an operand: a number, :variable, function(…), CASE or \"(\", but the line ends here",
        "op:1: invalid variable name: \"1\"\n\\set 1 2\n       ^ error found here\nhint: letters, digits and underscores, not a digit first",
        "operation \"op\", step 1: there is no method \"FETCH\"\nhint: write one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
        "operation \"op\", step 1: \"a b\" is no target\nhint: write a path such as /books?page=1, blanks as %20",
        "operation \"op\", step 1: the header Host is written by pgdyno itself\nhint: leave it out",
        "operation \"op\", step 1: \"a b\" is no variable's name\nhint: use letters, digits and underscores",
        "operation \"op\", step 1: the capture \"c\": \"c\" is no JSON pointer\nhint: write one such as /items/0/id",
        "operation \"op\", step 1: the capture \"d\": \"(\" is no regular expression: unclosed group\nhint: write one such as name=\"token\" value=\"([^\"]+)\"",
        "operation \"op\": the variable ${nobody} is not defined\nhint: set it, capture it in an earlier step, or draw it from a feed with such a column",
        "operation \"ammo\": its feed has no column \"target\" of requests\nhint: ammunition is a feed of the form uri, uripost, raw or access",
        "operation \"ammo\": its feed has no column \"headers\" of requests\nhint: ammunition is a feed of the form uri, uripost, raw or access",
        "operation \"ammo\": its feed has no column \"body\" of requests\nhint: ammunition is a feed of the form uri, uripost, raw or access",
    ];
    assert_eq!(told, expected);
}
