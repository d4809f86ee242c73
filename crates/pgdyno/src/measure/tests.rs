use super::*;
use load::ledger::KeyedScript;
use load::random::SeedSequence;
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::{LoadPlan, RngSeeds, Service};
use model::Schedule;
use model::durability::{LedgerEntry, Token, WriteKey, WriteOutcome};
use model::plan::HttpStep;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const SECRET: u64 = 7;
const CLIENTS: u32 = 8;
const WRITES_PER_CLIENT: u64 = 50;

/// Workload that sends a PUT with a token.
fn work() -> Workload {
    let step = HttpStep::new("PUT", "/${token}");
    let mut maker = ProgramBuilder::new(Mode::Prepared, &KeyedScript::VARIABLE_NAMES);
    maker.add_http(&ScriptHeader { name: "put", weight: 1, draws: None }, 0, &[], &[step]);
    let program = maker.finish().expect("right");
    let keyed = vec![KeyedScript::from_program(&program)];
    let mut seeds = SeedSequence::new(1);
    let plan = LoadPlan {
        program,
        mode: Mode::Prepared,
        schedule: Schedule::Closed { think: Nanos::ZERO },
        duration: None,
        transactions: Some(WRITES_PER_CLIENT),
        clients: CLIENTS,
        threads: 2,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 0,
        drain: Nanos::from_secs(10),
        reconnect: false,
        connecting_max: CLIENTS,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        abandon_max: None,
        verbose: false,
        reports_steps: false,
        measured: load::MeasuredCommands::None,
        seeds: RngSeeds {
            clients: (0..CLIENTS).map(|_| seeds.client_rng()).collect(),
            script_rngs: (0..2).map(|_| seeds.thread_rngs().choose).collect(),
            arrivals: 1,
            other: 1,
            variables: Vec::new(),
        },
    };
    Workload::with_services(plan, None, vec![Service::without_tls("localhost")]).with_ledger(SECRET, keyed)
}

/// Responds to the requests on one connection until the connection closes. Returns the received tokens.
fn serve(mut stream: TcpStream) -> Vec<Token> {
    let (mut tokens, mut unread, mut buffer) = (Vec::new(), Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut buffer).expect("the connection is open");
        if n == 0 {
            return tokens;
        }
        unread.extend_from_slice(&buffer[..n]);
        while let Some(end) = unread.windows(4).position(|it| it == b"\r\n\r\n") {
            tokens.extend(Token::find(&unread[..end]));
            unread.drain(..end + 4);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                .expect("the connection is open");
        }
    }
}

/// The ledger records every write of all threads exactly once, and the server receives every write.
#[test]
fn ledger_records_every_write_once() {
    for driver in Driver::ALL.into_iter().filter(|driver| driver.is_available()) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("the listener has an address");
        let services = thread::spawn(move || {
            let streams = (0..CLIENTS).map(|_| listener.accept().expect("somebody comes").0);
            let serving: Vec<_> = streams.map(|it| thread::spawn(move || serve(it))).collect();
            serving
                .into_iter()
                .flat_map(|it| it.join().expect("the thread does not panic"))
                .collect::<Vec<_>>()
        });
        let ready = LoadConfig {
            work: Arc::new(work()),
            threads: 0..2,
            postgres: Vec::new(),
            services: vec![Address::Tcp(address)],
            driver,
            spin: Nanos::ZERO,
            slack: Nanos::ZERO,
            log: false,
            abandon: Arc::default(),
        };
        let (taps, mut drain) = taps(&[&ready], 42);
        let (done, receiver) = channel::<()>();
        let measuring = thread::spawn(move || {
            let mut entries = Vec::new();
            loop {
                let is_over = receiver.recv_timeout(Duration::from_millis(1)).is_ok();
                drain.take(&mut entries);
                drain.mark_written();
                if is_over {
                    return entries;
                }
            }
        });
        let stop = AtomicBool::new(false);
        let measured = run_with_ledger(&ready, taps, Clock::start(), &mut IgnoreEvents, &stop)
            .expect("the measurement runs");
        done.send(()).expect("the receiver exists");
        let (entries, tokens) = (
            measuring.join().expect("the thread does not panic"),
            services.join().expect("the thread does not panic"),
        );

        let mut reserved = BTreeMap::new();
        let mut keys = Vec::new();
        for entry in entries {
            match entry {
                LedgerEntry::Reserved { session, until } => drop(reserved.insert(session, until)),
                LedgerEntry::Completed(write) => {
                    assert!(write.key.sequence < reserved[&write.key.session], "reserved before it is used");
                    assert_eq!(write.outcome, WriteOutcome::Acknowledged);
                    assert!(measured.interval.from <= write.invoked && write.invoked < write.ended);
                    keys.push(write.key);
                }
                other => panic!("{other:?}"),
            }
        }
        keys.sort();
        let all = (0..CLIENTS)
            .flat_map(|session| (0..WRITES_PER_CLIENT).map(move |sequence| WriteKey { session, sequence }));
        let all: Vec<WriteKey> = all.collect();
        assert_eq!(keys, all, "{driver:?}");
        assert!(tokens.iter().all(|it| it.is_authentic(SECRET)));
        let mut stored: Vec<WriteKey> = tokens.iter().map(|it| it.key).collect();
        stored.sort();
        assert_eq!(stored, all, "{driver:?}");
    }
}

#[test]
fn agents_share_threads_and_clients_exactly() {
    for (threads, clients) in
        (1_u16..20).flat_map(|it| [1, 7, 100].map(|clients| (it, u32::from(it) + clients)))
    {
        for agents in 1..=threads {
            let parts: Vec<_> = (0..agents).map(|agent| LoadPart::Agent { agent, agents }).collect();
            let shares: Vec<_> = parts.iter().map(|it| it.threads(threads)).collect();
            assert_eq!(
                shares.iter().cloned().flatten().collect::<Vec<u16>>(),
                (0..threads).collect::<Vec<_>>()
            );
            let lengths = shares.iter().map(ExactSizeIterator::len);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
            let clients_of: Vec<u32> = parts.iter().map(|it| it.client_count(clients, threads)).collect();
            assert_eq!(clients_of.iter().sum::<u32>(), clients, "{threads} threads, {agents} agents");
        }
        assert_eq!(LoadPart::All.client_count(clients, threads), clients);
        assert_eq!(LoadPart::Coordinator { agents: 3 }.client_count(clients, threads), 0);
    }
}
