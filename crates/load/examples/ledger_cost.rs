//! Measures the cost of a ledger for the generator's thread, in nanoseconds per transaction: without a ledger, with
//! one, and for the ring alone
//!
//! Usage: `cargo run --release -p load --example ledger_cost [TRANSACTIONS]`. The simulated server responds at once, so
//! the result is the generator's work. A real server adds a few microseconds of kernel time per transaction.

use load::ledger::{KeyedScript, LedgerConsumer, LedgerProducer, ledger_channel};
use load::random::SeedSequence;
use load::script::{Mode, ScriptSource, parse};
use load::{Action, ConnId, LoadPlan, Recorder, RngSeeds, Shard, Workload};
use model::durability::{WriteAttempt, WriteKey, WriteOutcome};
use model::{ClientId, Nanos, Record, Schedule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::pg::{Login, Transport};

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
const PARSED: &[u8] = b"1\0\0\0\x04";
const ANSWER: &[u8] = b"2\0\0\0\x04C\0\0\0\x0fINSERT 0 1\0Z\0\0\0\x05I";

/// Recorder that counts transactions and writes them to a ledger if there is one.
struct CountingRecorder(u64, Option<LedgerProducer>);

impl Recorder for CountingRecorder {
    fn record(&mut self, _: &Record) {
        self.0 += 1;
    }

    fn window(&mut self, _: Nanos, _: Nanos) {
        if let Some(tap) = &mut self.1 {
            tap.prepare();
        }
    }

    #[inline]
    fn reserve(&mut self, client: ClientId, sequence: u64) {
        if let Some(tap) = &mut self.1 {
            tap.reserve(client, sequence);
        }
    }

    #[inline]
    fn write_completed(&mut self, attempt: &WriteAttempt, server: &[u8]) {
        if let Some(tap) = &mut self.1 {
            tap.push_attempt(attempt, server);
        }
    }
}

fn main() {
    let transactions = std::env::args().nth(1).map_or(5_000_000, |it| it.parse().expect("a number"));
    for round in 0..3 {
        let plain = load(transactions, None);
        let with_ledger = with_drain(|tap| load(transactions, Some(tap)));
        let ring = with_drain(|tap| ring(transactions, tap));
        println!(
            "round {round}: {plain:.0} ns per transaction, {with_ledger:.0} ns with a ledger: {:+.0} ns; the ring alone {ring:.0} ns",
            with_ledger - plain
        );
    }
}

/// Runs `run` while another thread empties the ring every five milliseconds, as the ledger's writer does.
fn with_drain(run: impl FnOnce(LedgerProducer) -> f64) -> f64 {
    let (mut taps, mut drain): (Vec<LedgerProducer>, LedgerConsumer) = ledger_channel(&[(0, 64)], 1);
    let ends = Arc::new(AtomicBool::new(false));
    let stops = ends.clone();
    let thread = std::thread::spawn(move || {
        let mut entries = Vec::new();
        while !stops.load(Ordering::Relaxed) {
            drain.take(&mut entries);
            entries.clear();
            drain.mark_written();
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let nanos = run(taps.remove(0));
    ends.store(true, Ordering::Relaxed);
    thread.join().expect("the thread does not panic");
    nanos
}

fn ring(count: u64, mut tap: LedgerProducer) -> f64 {
    tap.prepare();
    let begun = Instant::now();
    for number in 0..count {
        let (session, sequence) = ((number % 64) as u32, number / 64);
        tap.reserve(ClientId(session), sequence);
        let key = WriteKey { session, sequence };
        let (outcome, invoked, ended) = (WriteOutcome::Acknowledged, Nanos(number), Nanos(number + 1));
        tap.push_attempt(
            &WriteAttempt { key, number: 1, outcome, invoked, ended, server: None },
            b"17|3|local:5432",
        );
    }
    begun.elapsed().as_nanos() as f64 / count as f64
}

/// Runs 64 clients against a simulated server that responds at once; returns nanoseconds per transaction.
fn load(count: u64, tap: Option<LedgerProducer>) -> f64 {
    let text = "INSERT INTO t VALUES (:client_id, :token);\n";
    let sources = [ScriptSource::new("test", text)];
    let program =
        parse(&sources, Mode::Prepared, false, &["client_id", "token"]).expect("the program is valid");
    let keyed = KeyedScript::from_program(&program).filter(|_| tap.is_some());
    let mut seeds = SeedSequence::new(1);
    let clients = (0..64).map(|_| seeds.client_rng()).collect();
    let thread = seeds.thread_rngs();
    let plan = LoadPlan {
        program,
        mode: Mode::Prepared,
        schedule: Schedule::Closed { think: Nanos::ZERO },
        duration: None,
        transactions: Some(count / 64),
        clients: 64,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 0,
        drain: Nanos::from_secs(1),
        reconnect: false,
        connecting_max: 64,
        connect_timeout: Nanos::from_secs(1),
        timeout: None,
        abandon_max: None,
        verbose: false,
        reports_steps: false,
        measured: load::MeasuredCommands::None,
        seeds: RngSeeds {
            clients,
            script_rngs: vec![thread.choose],
            arrivals: 1,
            other: 1,
            variables: Vec::new(),
        },
    };
    let work = Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix);
    let work = work.with_ledger(1, vec![keyed]);
    let mut shard = Shard::new(Arc::new(work), 0, CountingRecorder(0, tap));
    let mut turns = [0_u8; 64];
    let mut awaiting: Vec<ConnId> = Vec::new();
    let mut now = 0;
    let mut begun = None;
    loop {
        now += 1000;
        shard.advance(Nanos(now));
        let done = loop {
            match shard.poll() {
                Action::Connect(conn) => shard.connected(Nanos(now), conn),
                Action::Transmit(conn, bytes) => {
                    let n = bytes.len();
                    shard.sent(conn, n);
                    awaiting.push(conn);
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) => {}
                Action::Report(_) | Action::Shell { .. } => {}
                Action::Wait(_) => break false,
                Action::Done => break true,
            }
        };
        if done {
            let (begun, count): (Instant, u64) = (begun.expect("the window began"), shard.recorder.0);
            return begun.elapsed().as_nanos() as f64 / count as f64;
        }
        for conn in awaiting.drain(..) {
            let turn = &mut turns[conn.0 as usize];
            match *turn {
                0 => shard.receive(Nanos(now), conn, WELCOME),
                1 => {
                    shard.receive(Nanos(now), conn, PARSED);
                    shard.receive(Nanos(now), conn, ANSWER);
                }
                _ => shard.receive(Nanos(now), conn, ANSWER),
            }
            *turn = turn.saturating_add(1).min(2);
        }
        if begun.is_none() && shard.is_settled() {
            shard.begin(Nanos(now));
            shard.recorder.window(Nanos(now), Nanos::MAX);
            begun = Some(Instant::now());
        }
    }
}
