//! Cookies, redirects, compressed responses and secrets: requests sent and outcomes

use crate::english;
use load::script::call::SecretLookup;
use load::script::{Mode, Program, ProgramBuilder, ScriptHeader};
use load::{Action, LoadEvent, LoadPlan, Recorder, Service, Shard, Workload, sim};
use model::plan::{CaptureSource, Expectation, HttpStep, RequestBody, ThinkTime, UserStage};
use model::{Nanos, Outcome, Record, RequestSample, Schedule, ScriptId, UserRamp};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::pg::Secret;

const HOST: &str = "shop.test:8080";

fn program(steps: &[HttpStep]) -> Program {
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]).with_secrets(SecretLookup(&environment));
    maker.add_http(&ScriptHeader { name: "op", weight: 1, draws: None }, 0, &[], steps);
    maker.finish().expect("the program is valid")
}

fn environment(name: &str) -> Option<Secret> {
    (name == "TOKEN").then(|| Secret::new("CANARY \"7\"\r\nX: y"))
}

#[derive(Debug, Default)]
struct EventLog {
    outcomes: Vec<Outcome>,
    took: Vec<Nanos>,
    steps: Vec<Nanos>,
    samples: Vec<(u16, RequestSample)>,
    failed: Vec<(u16, Outcome, RequestSample)>,
    connected: usize,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.outcomes.push(record.outcome);
        self.took.push(record.finished - record.started);
    }

    fn statement_finished(&mut self, _: ScriptId, command: u16, sample: &RequestSample) {
        self.steps.push(sample.elapsed);
        self.samples.push((command, *sample));
    }

    fn statement_failed(&mut self, _: ScriptId, command: u16, outcome: Outcome, sample: &RequestSample) {
        self.failed.push((command, outcome, *sample));
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }
}

/// Requests that a shard sent, outcomes of its transactions, and events that it reported.
struct Exchange {
    sent: Vec<String>,
    all: EventLog,
    messages: Vec<String>,
}

impl Exchange {
    fn outcomes(&self) -> String {
        let names = self.all.outcomes.iter().map(|outcome| match outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed(code) => format!("failed {code}"),
            Outcome::Unknown(code) => format!("unknown {code}"),
            Outcome::Dropped => "dropped".to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// Summary of each request: first line, cookies and body.
    fn requests(&self) -> Vec<String> {
        let one = |text: &String| {
            let (head, body) = text.split_once("\r\n\r\n").expect("a head has an end");
            let line = head.split(" HTTP").next().expect("a line");
            let cookies: Vec<&str> = head.lines().filter(|it| it.starts_with("Cookie: ")).collect();
            [&[line], &cookies[..], &[body]].concat().join(" | ").trim_end_matches(" | ").to_owned()
        };
        self.sent.iter().map(one).collect()
    }
}

/// Response of the service, sent a millisecond after the request. If `close` is true, the service closes the connection
/// without announcing it.
struct Response {
    text: Vec<u8>,
    close: bool,
}

fn answer(status: u16, headers: &str, body: &[u8]) -> Response {
    let head = format!("HTTP/1.1 {status} Any\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    Response { text: [head.as_bytes(), body].concat(), close: false }
}

fn ok(headers: &str) -> Response {
    answer(200, headers, b"here")
}

fn to(location: &str) -> Response {
    answer(302, &format!("Location: {location}\r\n"), b"")
}

/// Runs `transactions` transactions per client, and returns what was exchanged.
fn exchange(
    program: Program,
    (clients, transactions): (u32, u64),
    service: Service,
    schedule: Schedule,
    mut serve: impl FnMut(&str) -> Response,
) -> Exchange {
    let plan = LoadPlan {
        transactions: Some(transactions),
        backlog_max: 0,
        drain: Nanos::from_secs(10),
        verbose: true,
        reports_steps: false,
        measured: load::MeasuredCommands::All,
        ..sim::plan(program, Mode::Simple, clients, 1, schedule)
    };
    let work = Workload::with_services(plan, None, vec![service]);
    let mut shard = Shard::new(Arc::new(work), 0, EventLog::default());
    let (mut sent, mut messages, mut responses) = (Vec::new(), Vec::new(), VecDeque::new());
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
                    responses.push_back((conn, serve(&text)));
                    sent.push(text);
                }
                Action::Report(LoadEvent::Failed { message, .. }) => messages.push(message),
                Action::Wait(deadline) if deadline <= now => shard.advance(now),
                Action::Wait(_) => break,
                Action::Done => return Exchange { sent, all: shard.recorder, messages },
                _ => {}
            }
        }
        now += Nanos::from_millis(1);
        for (conn, response) in responses.drain(..) {
            shard.receive(now, conn, &response.text);
            if response.close {
                shard.closed(now, conn);
            }
        }
    }
}

fn once(steps: &[HttpStep], serve: impl FnMut(&str) -> Response) -> Exchange {
    exchange(program(steps), (1, 1), Service::without_tls(HOST), sim::CLOSED, serve)
}

#[test]
fn follows_redirects_by_status() {
    let check = |method: &str, status: u16, expected: &str| {
        let request_step = HttpStep {
            redirects: 1,
            headers: vec![("Content-Language".to_owned(), "ru".to_owned()), ("X".to_owned(), "y".to_owned())],
            body: (method == "POST" || method == "PUT").then(|| RequestBody::Json("{\"a\": 1}".to_owned())),
            ..HttpStep::new(method, "/a/b?c")
        };
        let talk = once(&[request_step], |request| {
            let body: &[u8] = if request.starts_with("HEAD") { b"" } else { b"here" };
            match request.contains(" /a/b?c ") {
                true => answer(status, "Location: ../d\r\n", body),
                false => answer(200, "", body),
            }
        });
        assert_eq!(talk.outcomes(), "ok", "{method} {status}");
        let second = talk.requests().into_iter().nth(1).unwrap_or_default();
        assert_eq!(second, expected, "{method} {status}");
        if !second.is_empty() {
            let head = &talk.sent[1];
            assert!(
                head.contains(&format!("\r\nHost: {HOST}\r\n")) && head.contains("\r\nX: y\r\n"),
                "{head}"
            );
            // A redirect that drops the body also drops the headers that describe it.
            let same = second.starts_with(method) && status != 303;
            assert_eq!(head.contains("Content-"), same, "{head}");
        }
    };
    for status in [301, 302, 303, 307, 308] {
        check("GET", status, "GET /d");
        check("HEAD", status, "HEAD /d");
    }
    for (method, fetched) in
        [("POST", [true, true, true, false, false]), ("PUT", [false, false, true, false, false])]
    {
        for (status, fetched) in [301, 302, 303, 307, 308].into_iter().zip(fetched) {
            check(
                method,
                status,
                &if fetched { "GET /d".to_owned() } else { format!("{method} /d | {{\"a\": 1}}") },
            );
        }
    }
    // These responses are no redirects: they have no target, or their status is not that of a redirect.
    for status in [300, 305, 306] {
        check("GET", status, "");
    }
}

#[test]
fn redirects_count_as_one_operation() {
    let first = HttpStep {
        redirects: 5,
        captures: vec![("token".to_owned(), CaptureSource::Header("x-token".to_owned()))],
        ..HttpStep::new("POST", "/login")
    };
    let second = HttpStep { redirects: 5, ..HttpStep::new("GET", "/use/${token}") };
    let serve = |request: &str| match request.split(' ').nth(1).expect("a target") {
        // The redirects cover each kind of relative reference. The service closes the connection after the last one.
        "/login" => answer(303, "Location: /1?a b\r\n", b""),
        "/1?a%20b" => answer(301, "Location: http://SHOP.test:8080/x/2#top\r\n", b""),
        "/x/2" => answer(308, "Location: 3\r\nConnection: close\r\n", b"elsewhere"),
        "/x/3" => ok("X-Token: t7\r\n"),
        "/use/t7" => ok(""),
        other => panic!("{other} was asked for"),
    };
    let talk = once(&[first.clone(), second.clone()], serve);
    assert_eq!(talk.outcomes(), "ok");
    let lines = ["POST /login", "GET /1?a%20b", "GET /x/2", "GET /x/3", "GET /use/t7"];
    assert_eq!(talk.requests(), lines);
    let ms = Nanos::from_millis;
    assert_eq!((talk.all.steps, talk.all.took, talk.all.connected), (vec![ms(4), ms(1)], vec![ms(5)], 2));
    // Without `redirects`, no redirect is followed.
    let plain = HttpStep { redirects: 0, captures: Vec::new(), ..first };
    let talk = once(&[plain], serve);
    assert_eq!((talk.outcomes().as_str(), talk.sent.len()), ("ok", 1));
    // A status without a redirect target is checked like any other status.
    let strict =
        HttpStep { expect: Expectation { status: vec![(200, 200)], ..Expectation::default() }, ..second };
    let talk = once(&[HttpStep { target: "/".to_owned(), ..strict }], |_| answer(302, "", b""));
    assert_eq!((talk.outcomes().as_str(), talk.sent.len()), ("failed HTTP 302", 1));
}

#[test]
fn rejects_cross_origin_and_looping_redirects() {
    let check =
        |redirects: u8, serve: fn(&str) -> Response, requests: usize, outcome: &str, message: &str| {
            let talk = once(&[HttpStep { redirects, ..HttpStep::new("GET", "/") }], serve);
            assert_eq!((talk.outcomes().as_str(), talk.sent.len()), (outcome, requests));
            assert_eq!(talk.messages, [message]);
            assert_eq!(talk.all.connected, 1);
        };
    let cross_origin = |origin: &str| format!("redirect to another origin, {origin}, is not followed");
    check(5, |_| to("http://other.test/a?t=secret"), 1, "failed net 18", &cross_origin("http://other.test"));
    check(5, |_| to("https://shop.test:8080/"), 1, "failed net 18", &cross_origin("https://shop.test:8080"));
    check(5, |_| to("//shop.test/"), 1, "failed net 18", &cross_origin("//shop.test"));
    let unreadable = "redirect with an invalid Location header";
    check(5, |_| to("http://a@shop.test:8080/"), 1, "failed net 71", unreadable);
    let too_many = "too many redirects (maximum is 5)";
    check(5, |_| to("/"), 6, "failed net 40", too_many);
    check(1, |_| to("x/y"), 2, "failed net 40", "too many redirects (maximum is 1)");
    check(255, |_| to("/"), 256, "failed net 40", "too many redirects (maximum is 255)");
    // The total length of growing targets is limited too.
    check(
        255,
        |it| to(&format!("{}{}", it.split(' ').nth(1).expect("a target"), "x".repeat(1000))),
        9,
        "failed net 71",
        unreadable,
    );
}

#[test]
fn redirect_retries_on_closed_idle_connection() {
    // The service closes the connection after the redirect without announcing it. The next request is sent again on a
    // new connection.
    let mut request_count = 0;
    let talk = once(&[HttpStep { redirects: 1, ..HttpStep::new("POST", "/") }], |request| {
        request_count += 1;
        match (request_count, request.starts_with("POST")) {
            (1, true) => to("/there"),
            (2, false) => Response { text: Vec::new(), close: true },
            (3, false) => ok(""),
            other => panic!("{other:?}: {request}"),
        }
    });
    assert_eq!((talk.outcomes().as_str(), talk.all.connected), ("ok", 2));
    assert_eq!(talk.requests(), ["POST /", "GET /there", "GET /there"]);
}

fn with_cookies() -> Service {
    Service { cookies: true, ..Service::without_tls(HOST) }
}

#[test]
fn each_client_has_its_own_cookies() {
    let login = HttpStep { redirects: 2, ..HttpStep::new("POST", "/user/login") };
    let steps = [
        login,
        HttpStep::new("GET", "/user/me"),
        HttpStep::new("GET", "/"),
        HttpStep::new("POST", "/user/leave"),
        HttpStep::new("GET", "/user/me"),
    ];
    let mut users = 0;
    let talk = exchange(program(&steps), (2, 2), with_cookies(), sim::CLOSED, |request| {
        let target = request.split(' ').nth(1).expect("a target");
        match target {
            // A login usually responds with a redirect. Its cookies must apply to the redirected request.
            "/user/login" => {
                users += 1;
                let cookies = format!("Set-Cookie: id=u{users}; HttpOnly\r\nset-cookie: lang=ru; Path=/\r\n");
                answer(302, &format!("Location: /user/home\r\n{cookies}"), b"")
            }
            "/user/leave" => ok("Set-Cookie: id=; Max-Age=0\r\n"),
            _ => ok(""),
        }
    });
    assert_eq!(talk.outcomes(), "ok, ok, ok, ok");
    let session_requests = |user: u32| {
        let cookies = format!("Cookie: id=u{user}; lang=ru");
        [
            format!("GET /user/home | {cookies}"),
            format!("GET /user/me | {cookies}"),
            "GET / | Cookie: lang=ru".to_owned(),
            format!("POST /user/leave | {cookies}"),
            "GET /user/me | Cookie: lang=ru".to_owned(),
        ]
    };
    // The two clients alternate, so every second request comes from the same client.
    for (client, users) in [(0, [1, 3]), (1, [2, 4])] {
        let requests: Vec<String> = talk.requests().into_iter().skip(client).step_by(2).collect();
        let first = ["POST /user/login".to_owned()].into_iter().chain(session_requests(users[0]));
        let second =
            ["POST /user/login | Cookie: lang=ru".to_owned()].into_iter().chain(session_requests(users[1]));
        assert_eq!(requests, first.chain(second).collect::<Vec<_>>(), "client {client}");
    }
    // A service without `cookies` neither stores nor sends cookies.
    let plain = Service::without_tls(HOST);
    let talk = exchange(program(&steps[1..2]), (1, 2), plain, sim::CLOSED, |_| ok("Set-Cookie: id=7\r\n"));
    assert_eq!(talk.requests(), ["GET /user/me", "GET /user/me"]);
}

#[test]
fn new_user_starts_without_cookies() {
    let stage = |users, secs| UserStage { users, spawn_rate: None, duration: Nanos::from_secs(secs) };
    let users = Schedule::Users(UserRamp {
        stages: vec![stage(1, 1), stage(0, 1), stage(1, 1)],
        think: ThinkTime::Constant(Nanos::from_millis(100)),
        pacing: None,
        rate_max: None,
    });
    let mut request_count = 0;
    let talk = exchange(program(&[HttpStep::new("GET", "/")]), (1, 1000), with_cookies(), users, |request| {
        request_count += 1;
        assert!(request_count == 1 || !request.contains("id=1;"), "{request}");
        ok(&format!("Set-Cookie: id={request_count}; Max-Age=1000\r\n"))
    });
    let without = talk.requests().iter().filter(|it| !it.contains("Cookie")).count();
    assert_eq!(without, 2, "only the first request of each user has no cookie: {:?}", talk.requests());
}

#[test]
fn cookie_flood_keeps_requests_bounded() {
    let mut n = 0;
    let talk = exchange(program(&[HttpStep::new("GET", "/")]), (1, 300), with_cookies(), sim::CLOSED, |_| {
        let cookies: String =
            (0..60).map(|it| format!("Set-Cookie: c{n}-{it}={}\r\n", "x".repeat(500))).collect();
        n += 1;
        ok(&cookies)
    });
    assert!(talk.all.outcomes.iter().all(|it| *it == Outcome::Ok));
    let longest = talk.sent.iter().map(String::len).max().expect("something was sent");
    assert!((7_000..9_000).contains(&longest), "{longest} bytes in a request");
}

#[test]
fn requests_and_decompresses_compressed_responses() {
    // {"token": "t7"}, compressed by Python's gzip.compress(…, mtime=0).
    const PACKED: &[u8] = include_bytes!("../packed.gz");
    let look = HttpStep {
        captures: vec![("token".to_owned(), CaptureSource::Json("/token".to_owned()))],
        expect: Expectation { contains: vec!["\"t7\"".to_owned()], ..Expectation::default() },
        ..HttpStep::new("GET", "/a")
    };
    let steps = |unpack| [HttpStep { decompress: unpack, ..look.clone() }, HttpStep::new("GET", "/${token}")];
    let serve = |_: &str| answer(200, "Content-Encoding: gzip\r\n", PACKED);
    let talk = once(&steps(true), serve);
    assert_eq!(talk.outcomes(), "ok");
    assert_eq!(talk.requests(), ["GET /a", "GET /t7"]);
    assert!(talk.sent[0].contains("\r\nAccept-Encoding: gzip, deflate\r\n"), "{}", talk.sent[0]);
    assert!(
        !talk.sent[1].contains("Accept-Encoding"),
        "compression was not requested there: {}",
        talk.sent[1]
    );
    assert_eq!(
        once(&steps(false), serve).outcomes(),
        "failed check text",
        "the compressed body lacks the text"
    );
    let step_with_coding =
        HttpStep { headers: vec![("accept-encoding".to_owned(), "br".to_owned())], ..steps(true)[0].clone() };
    let talk = once(&[step_with_coding], |_| answer(200, "Content-Encoding: br\r\n", b"?"));
    assert_eq!((talk.outcomes().as_str(), talk.sent[0].matches("ncoding").count()), ("failed net 71", 1));
    assert_eq!(talk.messages, ["the response has a Content-Encoding that was not requested"]);
}

#[test]
fn secrets_are_sent_but_never_reported() {
    let text = "a ${env:TOKEN}".to_owned();
    let query = HttpStep {
        headers: vec![("X".to_owned(), text.clone())],
        body: Some(RequestBody::Json("{\"t\": \"${env:TOKEN}\"}".to_owned())),
        ..HttpStep::new("POST", "/?t=${env:TOKEN}")
    };
    let form = HttpStep {
        body: Some(RequestBody::Form(vec![("t".to_owned(), text)])),
        ..HttpStep::new("POST", "/")
    };
    let program = program(&[query, form]);
    assert_eq!(program.scripts[0].commands[0].first_line, "POST /?t=${env:TOKEN}");
    assert!(!format!("{program:?}").contains("CANARY"), "{program:?}");
    let work = |program: &Program| format!("{:?}", program.names);
    assert!(!work(&program).contains("TOKEN"), "a secret is not a client variable");
    let talk = exchange(program, (1, 1), Service::without_tls(HOST), sim::CLOSED, |_| answer(500, "", b""));
    let [only] = &talk.sent[..] else { panic!("a failed step ends the operation: {:?}", talk.sent) };
    assert!(only.starts_with("POST /?t=CANARY%20%227%22%0D%0AX%3A%20y HTTP/1.1\r\n"), "{only}");
    assert!(only.contains("\r\nX: a CANARY \"7\"  X: y\r\n"), "{only}");
    assert!(only.ends_with("{\"t\": \"CANARY \\\"7\\\"\\r\\nX: y\"}"), "{only}");
    assert_eq!(talk.messages, ["unexpected status of the response: HTTP 500"]);
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]).with_secrets(SecretLookup(&environment));
    let missing =
        HttpStep { headers: vec![("X".to_owned(), "${env:NONE}".to_owned())], ..HttpStep::new("GET", "/") };
    maker.add_http(&ScriptHeader { name: "op", weight: 1, draws: None }, 0, &[], &[missing]);
    let errors = maker
        .finish()
        .expect_err("the environment variable is missing")
        .iter()
        .map(english::show)
        .collect::<String>();
    assert!(errors.contains("the environment has no variable NONE"), "{errors}");
}

#[test]
fn measures_phases_and_bytes_of_each_step() {
    let moved = HttpStep { redirects: 1, ..HttpStep::new("GET", "/moved") };
    let steps = [
        moved,
        HttpStep::new("GET", "/there"),
        HttpStep::new("POST", "/fails"),
        HttpStep::new("GET", "/never"),
    ];
    let talk = once(&steps, |request| match request.split(' ').nth(1) {
        Some("/moved") => answer(302, "Location: /there\r\n", b""),
        Some("/fails") => answer(503, "", b"closed"),
        _ => answer(200, "", b"here"),
    });
    let ms = |it| Some(Nanos::from_millis(it));
    // Each answer arrives in one piece a millisecond after its request; the connection opens at once.
    let expected = [(0, [ms(0), None, ms(2), ms(0)]), (1, [None, None, ms(1), ms(0)])];
    let phases: Vec<_> = talk.all.samples.iter().map(|(command, it)| (*command, it.phases)).collect();
    assert_eq!(phases, expected);
    for (_, sample) in &talk.all.samples {
        let sum = sample.phases.iter().flatten().fold(Nanos::ZERO, |sum, it| sum + *it);
        assert_eq!(sum, sample.elapsed, "the phases add up to the time");
    }
    let sent = |range: std::ops::Range<usize>| talk.sent[range].iter().map(|it| it.len() as u64).sum::<u64>();
    let received = |status, headers: &str, body: &[u8]| answer(status, headers, body).text.len() as u64;
    let bytes: Vec<_> = talk.all.samples.iter().map(|it| (it.1.sent, it.1.received)).collect();
    let hops = received(302, "Location: /there\r\n", b"") + received(200, "", b"here");
    assert_eq!(bytes, [(sent(0..2), hops), (sent(2..3), received(200, "", b"here"))]);
    let [(command, outcome, failed)] = talk.all.failed[..] else { panic!("{:?}", talk.all.failed) };
    assert_eq!((command, outcome), (2, Outcome::Failed(model::Code::Http(503))));
    assert_eq!((failed.sent, failed.received), (sent(3..4), received(503, "", b"closed")));
}
