//! What does the ledger hear of a write through an HTTP service?

use load::ledger::Keyed;
use load::random::Seeds;
use load::script::{Head, Maker, Mode};
use load::{Action, Plan, Recorder, Seeding, Service, Shard, Workload};
use model::durability::{Attempt, Key, Outcome, Token};
use model::plan::{Body, Expect, Step};
use model::{Code, Nanos, Record, Schedule};
use std::collections::VecDeque;
use std::sync::Arc;

const SECRET: u64 = 0x5eed;

#[derive(Default)]
struct All {
    wrote: Vec<Attempt>,
}

impl Recorder for All {
    fn record(&mut self, _: &Record) {}

    fn wrote(&mut self, attempt: &Attempt, _: &[u8]) {
        self.wrote.push(*attempt);
    }
}

/// What becomes of the next connection or request.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Nobody listens.
    Refused,
    /// The connection breaks before a byte of the request has left, or after all of them have.
    Unsent,
    Broken,
    /// Nothing comes back.
    Silent,
    Answered(&'static str),
}

const OK: Fate = Fate::Answered("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
const MOVED: Fate = Fate::Answered("HTTP/1.1 303 See Other\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n");
const NOT_THERE: Fate = Fate::Answered("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
const DOWN: Fate = Fate::Answered("HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n");
const ELSE: Fate = Fate::Answered("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nelse");

fn step(method: &str) -> Step {
    Step {
        name: None,
        method: method.to_owned(),
        target: "/posts/${token}".to_owned(),
        headers: Vec::new(),
        body: (method == "POST").then(|| Body::Json("{\"text\": \"a post ${token}\"}".to_owned())),
        captures: Vec::new(),
        expect: Expect { status: vec![(200, 200)], contains: Some("here".to_owned()) },
        redirects: 1,
        unpack: false,
    }
}

/// What the ledger hears of so many writes, one after the other, and the requests that were sent.
fn heard(methods: &[&str], writes: u64, fates: &[Fate]) -> (Vec<Outcome>, Vec<String>) {
    let steps: Vec<Step> = methods.iter().map(|it| step(it)).collect();
    let mut maker = Maker::new(Mode::Prepared, &Keyed::VARIABLES);
    maker.http(&Head { name: "post", weight: 1, draws: None }, 0, &[], &steps);
    let program = maker.finish().expect("right");
    let keyed = vec![Keyed::of(&program)];
    let mut seeds = Seeds::new(1);
    let thread = seeds.thread();
    let plan = Plan {
        program,
        mode: Mode::Prepared,
        schedule: Schedule::Closed { think: Nanos::from_millis(1) },
        duration: None,
        transactions: Some(writes),
        clients: 1,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 0,
        drain: Nanos::from_secs(1),
        reconnect: false,
        connecting_max: 1,
        connect_timeout: Nanos::from_secs(1),
        timeout: None,
        verbose: false,
        statements: false,
        seeds: Seeding {
            clients: vec![seeds.client()],
            choices: vec![thread.choose],
            arrivals: 1,
            other: 1,
            variables: Vec::new(),
        },
    };
    let service = Service { end_within: Some(Nanos::from_millis(50)), ..Service::plain("sim") };
    let work = Workload::of(plan, None, vec![service]).with_ledger(SECRET, keyed);
    let mut shard = Shard::new(Arc::new(work), 0, All::default());
    let mut fates: VecDeque<Fate> = fates.iter().copied().collect();
    let mut requests = Vec::new();
    let mut now = Nanos::ZERO;
    shard.begin(now);
    loop {
        shard.advance(now);
        loop {
            match shard.poll() {
                Action::Connect(conn) => match fates.front() {
                    Some(Fate::Refused) => {
                        fates.pop_front();
                        shard.broken(now, conn, Code::REFUSED, "refused");
                    }
                    _ => shard.connected(now, conn),
                },
                Action::Transmit(conn, bytes) => {
                    let text = String::from_utf8(bytes.to_vec()).expect("requests are texts");
                    let fate = fates.pop_front().expect("no more requests than fates");
                    if matches!(fate, Fate::Unsent) {
                        shard.broken(now, conn, Code::RESET, "reset");
                        continue;
                    }
                    shard.sent(conn, text.len());
                    requests.push(text);
                    match fate {
                        Fate::Broken => shard.broken(now, conn, Code::RESET, "reset"),
                        Fate::Answered(text) => shard.receive(now, conn, text.as_bytes()),
                        _ => {}
                    }
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) => {}
                Action::Say(_) | Action::Shell { .. } => {}
                Action::Wait(_) => break,
                Action::Done => {
                    assert!(fates.is_empty(), "every fate was met: {fates:?}");
                    let wrote = shard.recorder.wrote;
                    let sequences = wrote.iter().map(|it| it.key.sequence);
                    assert!(sequences.eq(0..writes), "each write is told once");
                    return (wrote.iter().map(|it| it.outcome).collect(), requests);
                }
            }
        }
        now += Nanos::from_millis(1);
        assert!(now < Nanos::from_secs(10), "it comes to an end");
    }
}

#[track_caller]
fn check(methods: &[&str], fates: &[Fate], expected: Outcome) {
    assert_eq!(heard(methods, 1, fates).0, [expected], "{methods:?} {fates:?}");
}

#[test]
fn the_expected_answer_is_the_acknowledgement() {
    let http = |status| Outcome::Unknown(Code::Http(status));
    let unknown = Outcome::Unknown;
    for method in ["POST", "PUT", "GET"] {
        let check = |fates: &[Fate], expected| check(&[method], fates, expected);
        check(&[OK], Outcome::Acknowledged);
        // A service may have written before it failed.
        check(&[NOT_THERE], http(404));
        check(&[DOWN], http(503));
        check(&[ELSE], unknown(Code::UNEXPECTED));
        check(&[Fate::Broken], unknown(Code::RESET));
        check(&[Fate::Silent], unknown(Code::TIMED_OUT));
        check(&[Fate::Answered("HTTP/1.1 200 OK\r\nContent-Le")], unknown(Code::SLOW));
        check(&[Fate::Answered("220 mail.example.org\r\n")], unknown(Code::PROTOCOL));
        // Not one byte was handed over.
        check(&[Fate::Refused], Outcome::Failed(Code::REFUSED));
        // Where the redirect leads is the answer.
        check(&[MOVED, OK], Outcome::Acknowledged);
        check(&[MOVED, DOWN], http(503));
        check(&[MOVED, Fate::Broken], unknown(Code::RESET));
    }
}

#[test]
fn the_last_step_is_the_acknowledgement() {
    let both = ["POST", "POST"];
    check(&both, &[OK, OK], Outcome::Acknowledged);
    check(&both, &[OK, DOWN], Outcome::Unknown(Code::Http(503)));
    check(&both, &[OK, Fate::Broken], Outcome::Unknown(Code::RESET));
    check(&both, &[DOWN], Outcome::Unknown(Code::Http(503)));
}

/// A connection that was idle may be closed at any time. What has left is not asked again: one attempt is one.
#[test]
fn nothing_is_asked_twice_under_one_key() {
    for method in ["POST", "PUT", "GET"] {
        let (outcomes, requests) = heard(&[method], 2, &[OK, Fate::Broken]);
        assert_eq!(outcomes, [Outcome::Acknowledged, Outcome::Unknown(Code::RESET)], "{method}");
        assert_eq!(requests.len(), 2);
        let (outcomes, requests) = heard(&[method], 2, &[OK, Fate::Unsent, OK]);
        assert_eq!(outcomes, [Outcome::Acknowledged; 2], "{method}");
        assert_eq!(requests.len(), 2);
    }
}

/// Every request of a write holds its token, and no two writes have the same.
#[test]
fn its_token_is_in_the_request() {
    let (_, requests) = heard(&["PUT", "POST"], 3, &[OK; 6]);
    let key = |n: usize| Key { session: 0, sequence: n as u64 / 2 };
    for (n, text) in requests.iter().enumerate() {
        let token = Token::new(key(n), SECRET);
        assert_eq!(Token::find(text.as_bytes()), Some(token), "{text}");
        let within = String::from_utf8(token.text().to_vec()).expect("ASCII");
        assert!(text.contains(&format!(" /posts/{within} ")), "{text}");
        assert!(n % 2 == 0 || text.ends_with(&format!("a post {within}\"}}")), "{text}");
    }
}
