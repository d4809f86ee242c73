//! Ledger outcomes of SQL writes, for any reply and any split of its bytes

use load::ledger::KeyedScript;
use load::script::{Mode, ScriptSource, parse};
use load::{Action, ConnId, LoadPlan, Recorder, Shard, Workload, sim};
use model::durability::{Token, WriteAttempt, WriteKey, WriteOutcome};
use model::{Code, Nanos, Record};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

#[derive(Default)]
struct EventLog {
    wrote: Vec<(WriteAttempt, String)>,
    reserved: Vec<u64>,
    records: u32,
}

impl Recorder for EventLog {
    fn record(&mut self, _: &Record) {
        self.records += 1;
    }

    fn reserve(&mut self, _: model::ClientId, sequence: u64) {
        self.reserved.push(sequence);
    }

    fn write_completed(&mut self, attempt: &WriteAttempt, server: &[u8]) {
        assert_eq!(self.records as usize, self.wrote.len(), "a write is reported before its record");
        self.wrote.push((*attempt, String::from_utf8_lossy(server).into_owned()));
    }
}

const SECRET: u64 = 0x5eed;

fn shard(script: &str, mode: Mode, timeout: Option<Nanos>) -> Shard<EventLog> {
    let work = workload(script, mode, timeout);
    let keyed = KeyedScript::from_program(&work.plan().program);
    Shard::new(Arc::new(work.with_ledger(SECRET, vec![keyed])), 0, EventLog::default())
}

fn workload(script: &str, mode: Mode, timeout: Option<Nanos>) -> Workload {
    let sources = [ScriptSource::new("test", script)];
    let program = parse(&sources, mode, false, &KeyedScript::VARIABLE_NAMES).expect("the program is valid");
    let plan = LoadPlan {
        transactions: Some(2),
        max_tries: 2,
        backlog_max: 0,
        drain: Nanos::from_secs(1),
        connecting_max: 1,
        connect_timeout: Nanos::from_secs(1),
        timeout,
        ..sim::plan(program, mode, 1, 1, sim::CLOSED)
    };
    let mut login = Login::new("me", "db");
    login.send_cancel = true;
    Workload::new(plan, Arc::new(login), Transport::Unix)
}

/// Performs all actions of the shard, and returns the bytes that it sent.
fn perform(shard: &mut Shard<EventLog>, now: Nanos) -> Vec<u8> {
    let mut sent = Vec::new();
    shard.advance(now);
    loop {
        match shard.poll() {
            Action::Connect(conn) => shard.connected(now, conn),
            Action::Transmit(conn, bytes) => {
                sent.extend_from_slice(bytes);
                let n = bytes.len();
                shard.sent(conn, n);
            }
            Action::Close(_) | Action::Finish(_) | Action::Probe(_) => {}
            Action::Report(_) | Action::Shell { .. } => {}
            Action::Wait(Nanos::ZERO) => shard.advance(now),
            Action::Wait(_) | Action::Done => return sent,
        }
    }
}

/// Runs the first write and returns its ledger record. Each request is answered with the next of `answers`, in two
/// pieces that are split at `cut`.
///
/// If `breaks` is true, the connection breaks after the last answer.
fn ledger_record(script: &str, answers: &[Vec<u8>], cut: usize, breaks: bool) -> (WriteAttempt, String) {
    let conn = ConnId(0);
    let mut shard = shard(script, Mode::Simple, None);
    let mut now = Nanos(0);
    perform(&mut shard, now);
    shard.receive(now, conn, WELCOME);
    perform(&mut shard, now);
    shard.begin(Nanos(5));
    now = Nanos(5);
    let mut sent = perform(&mut shard, now);
    for answer in answers {
        assert!(!sent.is_empty(), "a request precedes its answer");
        now += Nanos(10);
        let (a, b) = answer.split_at(cut.min(answer.len()));
        shard.receive(now, conn, a);
        let early = perform(&mut shard, now);
        shard.receive(now, conn, b);
        sent = [early, perform(&mut shard, now)].concat();
    }
    if breaks {
        assert!(shard.recorder.wrote.is_empty(), "no write is reported before the connection breaks");
        shard.closed(now, conn);
    }
    assert_eq!(shard.recorder.reserved[0], 0);
    assert_eq!(shard.recorder.wrote.len(), 1, "one transaction, one outcome");
    shard.recorder.wrote.remove(0)
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![tag];
    message.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    message.extend_from_slice(body);
    message
}

fn notice(tag: u8, severity: &str, code: &str, routine: &str) -> Vec<u8> {
    message(
        tag,
        format!("S{severity}\0V{severity}\0C{code}\0Minvented\0Fsyncrep.c\0R{routine}\0\0").as_bytes(),
    )
}

fn tag(name: &str) -> Vec<u8> {
    message(b'C', format!("{name}\0").as_bytes())
}

fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

const ALONE: &str = "INSERT INTO t VALUES (:token);\n";
const BLOCK: &str = "BEGIN;\nINSERT INTO t VALUES (:token);\nCOMMIT;\n";

/// Splits each answer at every byte, and checks that the outcome is always `expected`.
#[track_caller]
fn check(script: &str, answers: &[Vec<u8>], breaks: bool, expected: WriteOutcome) {
    let longest = answers.iter().map(Vec::len).max().unwrap_or(0);
    for cut in 0..=longest {
        let (attempt, _) = ledger_record(script, answers, cut, breaks);
        assert_eq!(attempt.outcome, expected, "split at {cut}");
        assert_eq!((attempt.key.session, attempt.key.sequence), (0, 0));
        assert_eq!(attempt.invoked, Nanos(5));
        assert!(attempt.ended >= attempt.invoked);
    }
}

fn state(sqlstate: &[u8; 5]) -> Code {
    Code::SqlState(*sqlstate)
}

#[test]
fn records_outcome_of_one_statement() {
    let error = |severity, code| notice(b'E', severity, code, "invented");
    let waited = |code| notice(b'N', "WARNING", code, "SyncRepWaitForLSN");
    let inserted = || tag("INSERT 0 1");
    let check = |parts: &[Vec<u8>], breaks, expected| check(ALONE, &[parts.concat()], breaks, expected);
    check(&[inserted(), ready(b'I')], false, WriteOutcome::Acknowledged);
    // Neither CommandComplete nor a part of ReadyForQuery is an acknowledgement.
    check(&[inserted()], true, WriteOutcome::Unknown(Code::RESET));
    check(&[inserted(), ready(b'I')[..5].to_vec()], true, WriteOutcome::Unknown(Code::RESET));
    check(&[], true, WriteOutcome::Unknown(Code::RESET));
    // The server stopped waiting for a standby. The SQLSTATE and language of this warning do not matter. Other warnings
    // do not change the outcome.
    check(&[waited("01000"), inserted(), ready(b'I')], false, WriteOutcome::AcknowledgedLocally);
    check(&[waited("57P01"), inserted(), ready(b'I')], false, WriteOutcome::AcknowledgedLocally);
    check(&[waited("57P01")], true, WriteOutcome::Unknown(Code::RESET));
    let other = notice(b'N', "WARNING", "01000", "SyncRepWaitForLSNs");
    check(&[other, inserted(), ready(b'I')], false, WriteOutcome::Acknowledged);
    // An error that the session survives is a certain failure, except for codes that leave the outcome open.
    for code in [b"25006", b"23505", b"57014"] {
        let text = std::str::from_utf8(code).expect("ASCII");
        check(&[error("ERROR", text), ready(b'I')], false, WriteOutcome::Failed(state(code)));
    }
    for code in [b"40003", b"08007"] {
        let text = std::str::from_utf8(code).expect("ASCII");
        check(&[error("ERROR", text), ready(b'I')], false, WriteOutcome::Unknown(state(code)));
    }
    // An error that ends the session leaves the outcome open.
    check(&[error("FATAL", "57P01")], true, WriteOutcome::Unknown(state(b"57P01")));
    check(&[error("PANIC", "58030")], true, WriteOutcome::Unknown(state(b"58030")));
    check(&[error("ERROR", "23505")], true, WriteOutcome::Unknown(Code::RESET));
    check(&[b"!!!!!".to_vec()], false, WriteOutcome::Unknown(Code::PROTOCOL));
}

#[test]
fn records_outcome_of_transaction_block() {
    let begun = || [tag("BEGIN"), ready(b'T')].concat();
    let inserted = || [tag("INSERT 0 1"), ready(b'T')].concat();
    let error = |code, status| [notice(b'E', "ERROR", code, "invented"), ready(status)].concat();
    let rolled_back = || [tag("ROLLBACK"), ready(b'I')].concat();
    let committed = || [tag("COMMIT"), ready(b'I')].concat();
    check(BLOCK, &[begun(), inserted(), committed()], false, WriteOutcome::Acknowledged);
    check(BLOCK, &[begun(), inserted(), rolled_back()], false, WriteOutcome::Failed(state(b"40000")));
    check(BLOCK, &[begun(), inserted(), tag("COMMIT")], true, WriteOutcome::Unknown(Code::RESET));
    check(BLOCK, &[begun(), inserted()], true, WriteOutcome::Unknown(Code::RESET));
    check(
        BLOCK,
        &[begun(), error("23505", b'E'), rolled_back()],
        false,
        WriteOutcome::Failed(state(b"23505")),
    );
    // The ROLLBACK of a failed transaction does not change the outcome.
    check(BLOCK, &[begun(), error("23505", b'E')], true, WriteOutcome::Failed(state(b"23505")));
    let local = [notice(b'N', "WARNING", "01000", "SyncRepWaitForLSN"), committed()].concat();
    check(BLOCK, &[begun(), inserted(), local], false, WriteOutcome::AcknowledgedLocally);
    // A serialization failure is retried with the same key.
    let tried = [begun(), error("40001", b'E'), rolled_back(), begun(), inserted(), committed()];
    check(BLOCK, &tried, false, WriteOutcome::Acknowledged);
    assert_eq!(ledger_record(BLOCK, &tried, 0, false).0.number, 2);
}

/// A timed-out write blocks its client until the server has ended it.
///
/// A cancelled wait for a standby would return success.
#[test]
fn timed_out_writes_are_not_cancelled() {
    let mut shard = shard(ALONE, Mode::Simple, Some(Nanos::from_millis(50)));
    let mut now = Nanos(0);
    perform(&mut shard, now);
    shard.receive(now, ConnId(0), WELCOME);
    perform(&mut shard, now);
    shard.begin(now);
    let request = perform(&mut shard, now);
    assert!(Token::find(&request).is_some());
    while now < Nanos::from_secs(20) {
        now += Nanos::from_millis(10);
        shard.advance(now);
        loop {
            match shard.poll() {
                Action::Close(_) | Action::Connect(_) => panic!("the server has not ended the session"),
                Action::Transmit(_, bytes) => panic!("unexpected bytes: {bytes:?}"),
                Action::Wait(_) | Action::Done => break,
                _ => {}
            }
        }
    }
    shard.closed(now, ConnId(0));
    let (attempt, _) = shard.recorder.wrote[0];
    assert_eq!(attempt.outcome, WriteOutcome::Unknown(Code::TIMED_OUT));
    // The client returns only by a new login on another connection.
    now += Nanos::from_millis(20);
    let sent = perform(&mut shard, now);
    assert_eq!(&sent[4..8], b"\0\x03\0\0", "a StartupMessage");
}

/// Checks the token in every query mode: each transaction has a new one, and its retries keep it.
#[test]
fn each_write_has_its_own_token() {
    let script = "INSERT INTO t VALUES (:token);\n\\set token 5\nSELECT 1;\n";
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        let mut shard = shard(script, mode, None);
        let now = Nanos(0);
        perform(&mut shard, now);
        shard.receive(now, ConnId(0), WELCOME);
        perform(&mut shard, now);
        shard.begin(now);
        let parsed = if mode == Mode::Simple { Vec::new() } else { message(b'1', b"") };
        let well = [parsed, tag("INSERT 0 1"), ready(b'I')].concat();
        let failed = [notice(b'E', "ERROR", "40001", "invented"), ready(b'I')].concat();
        let mut sent = perform(&mut shard, now);
        for (sequence, last) in [(0, &failed), (0, &well), (1, &well)] {
            let token = Token::find(&sent).expect("the request contains a token");
            assert_eq!(token, Token::new(WriteKey { session: 0, sequence }, SECRET), "{mode:?}");
            let quoted = [b"('".as_slice(), &token.to_text(), b"')"].concat();
            let is_quoted = sent.windows(quoted.len()).any(|it| it == quoted);
            assert_eq!(is_quoted, mode == Mode::Simple);
            shard.receive(now, ConnId(0), &well);
            assert_eq!(Token::find(&perform(&mut shard, now)), None, "the other script has no token");
            shard.receive(now, ConnId(0), last);
            sent = perform(&mut shard, now);
        }
    }
}

/// Checks a workload without a ledger: it sends a decoy that has a token's length, but is not a token.
#[test]
fn decoy_holds_no_token() {
    let work = |has_ledger: bool| {
        let work = workload(ALONE, Mode::Simple, None);
        let keyed = vec![KeyedScript::from_program(&work.plan().program)];
        if has_ledger { work.with_ledger(SECRET, keyed) } else { work.with_decoys(SECRET, keyed) }
    };
    let [real, decoy] = [true, false].map(|has_ledger| {
        let mut shard = Shard::new(Arc::new(work(has_ledger)), 0, EventLog::default());
        perform(&mut shard, Nanos(0));
        shard.receive(Nanos(0), ConnId(0), WELCOME);
        perform(&mut shard, Nanos(0));
        shard.begin(Nanos(0));
        perform(&mut shard, Nanos(0))
    });
    assert_eq!(real.len(), decoy.len());
    assert!(Token::find(&real).is_some());
    assert_eq!(Token::find(&decoy), None);
}

/// Checks two statements without a transaction block: what the first has committed stays committed if the second fails.
#[test]
fn records_outcome_of_two_statements() {
    let script = "INSERT INTO t VALUES (:token);\nSELECT 1;\n";
    let inserted = || [tag("INSERT 0 1"), ready(b'I')].concat();
    let error = [notice(b'E', "ERROR", "22012", "invented"), ready(b'I')].concat();
    check(script, &[inserted(), error], false, WriteOutcome::Unknown(state(b"22012")));
}

#[test]
fn records_server_identity() {
    let script = "INSERT INTO t VALUES (:token) RETURNING identity AS server \\gset\n";
    let column = message(b'T', b"\0\x01server\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
    let row = message(b'D', b"\0\x01\0\0\0\x0c17|3|local:1");
    let answer = [column, row, tag("INSERT 0 1"), ready(b'I')].concat();
    for cut in 0..=answer.len() {
        let (attempt, server) = ledger_record(script, std::slice::from_ref(&answer), cut, false);
        assert_eq!((attempt.outcome, server.as_str()), (WriteOutcome::Acknowledged, "17|3|local:1"));
    }
    // The row arrived, but not the acknowledgement.
    let (attempt, server) = ledger_record(script, &[answer[..answer.len() - 6].to_vec()], 0, true);
    assert_eq!((attempt.outcome, server.as_str()), (WriteOutcome::Unknown(Code::RESET), "17|3|local:1"));
    let (attempt, server) = ledger_record(script, &[], 0, true);
    assert_eq!((attempt.outcome, server.as_str()), (WriteOutcome::Unknown(Code::RESET), ""));
}
