//! Ledger outcomes of writes through an HTTP service

use load::ledger::KeyedScript;
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::{Action, LoadPlan, Recorder, Service, Shard, Workload, sim};
use model::durability::{Token, WriteAttempt, WriteKey, WriteOutcome};
use model::plan::{Expectation, HttpStep, RequestBody};
use model::{Code, Nanos, Record, Schedule};
use std::collections::VecDeque;
use std::sync::Arc;

const SECRET: u64 = 0x5eed;

#[derive(Default)]
struct EventLog {
    wrote: Vec<WriteAttempt>,
}

impl Recorder for EventLog {
    fn record(&mut self, _: &Record) {}

    fn write_completed(&mut self, attempt: &WriteAttempt, _: &[u8]) {
        self.wrote.push(*attempt);
    }
}

/// Behaviour of the next connection or request.
#[derive(Clone, Copy, Debug)]
enum ResponseScript {
    /// The connection is refused.
    Refused,
    /// The connection breaks. With `Unsent`, no byte of the request was sent; with `Broken`, all of them were.
    Unsent,
    Broken,
    /// The service does not respond.
    Silent,
    Response(&'static str),
}

const OK: ResponseScript = ResponseScript::Response("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
const MOVED: ResponseScript =
    ResponseScript::Response("HTTP/1.1 303 See Other\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n");
const NOT_THERE: ResponseScript =
    ResponseScript::Response("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
const DOWN: ResponseScript = ResponseScript::Response("HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n");
const ELSE: ResponseScript = ResponseScript::Response("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nelse");

fn step(method: &str) -> HttpStep {
    HttpStep {
        body: (method == "POST").then(|| RequestBody::Json("{\"text\": \"a post ${token}\"}".to_owned())),
        expect: Expectation {
            status: vec![(200, 200)],
            contains: vec!["here".to_owned()],
            ..Expectation::default()
        },
        redirects: 1,
        ..HttpStep::new(method, "/posts/${token}")
    }
}

/// Performs `writes` writes in sequence. Returns their ledger outcomes and the requests sent.
fn ledger_outcomes(
    methods: &[&str],
    writes: u64,
    responses: &[ResponseScript],
) -> (Vec<WriteOutcome>, Vec<String>) {
    let steps: Vec<HttpStep> = methods.iter().map(|it| step(it)).collect();
    let mut maker = ProgramBuilder::new(Mode::Prepared, &KeyedScript::VARIABLE_NAMES);
    maker.add_http(&ScriptHeader { name: "post", weight: 1, draws: None }, 0, &[], &steps);
    let program = maker.finish().expect("the program is valid");
    let keyed = vec![KeyedScript::from_program(&program)];
    let plan = LoadPlan {
        transactions: Some(writes),
        backlog_max: 0,
        drain: Nanos::from_secs(1),
        connecting_max: 1,
        connect_timeout: Nanos::from_secs(1),
        ..sim::plan(program, Mode::Prepared, 1, 1, Schedule::Closed { think: Nanos::from_millis(1) })
    };
    let service = Service { response_timeout: Some(Nanos::from_millis(50)), ..Service::without_tls("sim") };
    let work = Workload::with_services(plan, None, vec![service]).with_ledger(SECRET, keyed);
    let mut shard = Shard::new(Arc::new(work), 0, EventLog::default());
    let mut responses: VecDeque<ResponseScript> = responses.iter().copied().collect();
    let mut requests = Vec::new();
    let mut now = Nanos::ZERO;
    shard.begin(now);
    loop {
        shard.advance(now);
        loop {
            match shard.poll() {
                Action::Connect(conn) => match responses.front() {
                    Some(ResponseScript::Refused) => {
                        responses.pop_front();
                        shard.broken(now, conn, Code::REFUSED, "refused");
                    }
                    _ => shard.connected(now, conn),
                },
                Action::Transmit(conn, bytes) => {
                    let text = String::from_utf8(bytes.to_vec()).expect("requests are texts");
                    let response =
                        responses.pop_front().expect("there is a scripted response for every request");
                    if matches!(response, ResponseScript::Unsent) {
                        shard.broken(now, conn, Code::RESET, "reset");
                        continue;
                    }
                    shard.sent(conn, text.len());
                    requests.push(text);
                    match response {
                        ResponseScript::Broken => shard.broken(now, conn, Code::RESET, "reset"),
                        ResponseScript::Response(text) => shard.receive(now, conn, text.as_bytes()),
                        _ => {}
                    }
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) => {}
                Action::Report(_) | Action::Shell { .. } => {}
                Action::Wait(_) => break,
                Action::Done => {
                    assert!(responses.is_empty(), "every scripted response is used: {responses:?}");
                    let wrote = shard.recorder.wrote;
                    let sequences = wrote.iter().map(|it| it.key.sequence);
                    assert!(sequences.eq(0..writes), "each write is recorded once");
                    return (wrote.iter().map(|it| it.outcome).collect(), requests);
                }
            }
        }
        now += Nanos::from_millis(1);
        assert!(now < Nanos::from_secs(10), "the load ends");
    }
}

#[track_caller]
fn check(methods: &[&str], responses: &[ResponseScript], expected: WriteOutcome) {
    assert_eq!(ledger_outcomes(methods, 1, responses).0, [expected], "{methods:?} {responses:?}");
}

#[test]
fn expected_response_acknowledges_write() {
    let http = |status| WriteOutcome::Unknown(Code::Http(status));
    let unknown = WriteOutcome::Unknown;
    for method in ["POST", "PUT", "GET"] {
        let check = |responses: &[ResponseScript], expected| check(&[method], responses, expected);
        check(&[OK], WriteOutcome::Acknowledged);
        // An error response is no proof: the service may have written before it failed.
        check(&[NOT_THERE], http(404));
        check(&[DOWN], http(503));
        check(&[ELSE], unknown(Code::TEXT_NOT_FOUND));
        check(&[ResponseScript::Broken], unknown(Code::RESET));
        check(&[ResponseScript::Silent], unknown(Code::TIMED_OUT));
        check(&[ResponseScript::Response("HTTP/1.1 200 OK\r\nContent-Le")], unknown(Code::BODY_TIMEOUT));
        check(&[ResponseScript::Response("220 mail.example.org\r\n")], unknown(Code::PROTOCOL));
        // No byte was sent.
        check(&[ResponseScript::Refused], WriteOutcome::Failed(Code::REFUSED));
        // After a redirect, the final response decides the outcome.
        check(&[MOVED, OK], WriteOutcome::Acknowledged);
        check(&[MOVED, DOWN], http(503));
        check(&[MOVED, ResponseScript::Broken], unknown(Code::RESET));
    }
}

#[test]
fn last_step_acknowledges_write() {
    let both = ["POST", "POST"];
    check(&both, &[OK, OK], WriteOutcome::Acknowledged);
    check(&both, &[OK, DOWN], WriteOutcome::Unknown(Code::Http(503)));
    check(&both, &[OK, ResponseScript::Broken], WriteOutcome::Unknown(Code::RESET));
    check(&both, &[DOWN], WriteOutcome::Unknown(Code::Http(503)));
}

/// An idle connection may be closed at any time. A request that was sent is not repeated: the ledger counts one
/// attempt.
#[test]
fn request_is_never_resent_with_the_same_key() {
    for method in ["POST", "PUT", "GET"] {
        let (outcomes, requests) = ledger_outcomes(&[method], 2, &[OK, ResponseScript::Broken]);
        assert_eq!(outcomes, [WriteOutcome::Acknowledged, WriteOutcome::Unknown(Code::RESET)], "{method}");
        assert_eq!(requests.len(), 2);
        let (outcomes, requests) = ledger_outcomes(&[method], 2, &[OK, ResponseScript::Unsent, OK]);
        assert_eq!(outcomes, [WriteOutcome::Acknowledged; 2], "{method}");
        assert_eq!(requests.len(), 2);
    }
}

/// Every request of a write contains its token, and no two writes have the same.
#[test]
fn request_contains_the_token() {
    let (_, requests) = ledger_outcomes(&["PUT", "POST"], 3, &[OK; 6]);
    let key = |n: usize| WriteKey { session: 0, sequence: n as u64 / 2 };
    for (n, text) in requests.iter().enumerate() {
        let token = Token::new(key(n), SECRET);
        assert_eq!(Token::find(text.as_bytes()), Some(token), "{text}");
        let within = String::from_utf8(token.to_text().to_vec()).expect("ASCII");
        assert!(text.contains(&format!(" /posts/{within} ")), "{text}");
        assert!(n % 2 == 0 || text.ends_with(&format!("a post {within}\"}}")), "{text}");
    }
}
