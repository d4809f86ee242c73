//! Memory use of a shard; a program of its own, because its global allocator counts
//!
//! No transaction allocates once the window has begun, and connections are small.

mod tls_server;

use load::feed::{DrawOrder, Feed};
use load::ledger::{KeyedScript, LedgerConsumer, LedgerProducer, ledger_channel};
use load::script::call::{Method, RequestSource, SecretLookup};
use load::script::{Mode, Program, ProgramBuilder, ScriptHeader, ScriptSource, parse};
use load::{Action, ConnId, IntervalRecorder, LoadPlan, Recorder, Service, Shard, Target, Workload, sim};
use model::durability::{LedgerEntry, WriteAttempt};
use model::plan::{AmmoDetails, CaptureSource, Expectation, HttpStep, RequestBody, ThinkTime, UserStage};
use model::row_table::{RowFormat, RowLayout, Rows};
use model::{
    Answer, ClientId, Curve, Interval, Nanos, PerSecond, Record, RequestSample, Schedule, ScriptId, Spacing,
    StatementKind, Stream, UserRamp,
};
use rustls::ClientConnection;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tls_server::{SSL_REQUEST, TlsServer, client_config};
use wire::pg::{Login, Secret, SslMode, Transport};
use wire::tls::{HttpsClient, TlsIdentity};

struct CountingAllocator;

thread_local! {
    // Counters of each thread, because the test harness has its own thread, which may allocate at any time.
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS.get() {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        }
        BYTES.set(BYTES.get() + layout.size() as isize);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs work of the test that is not part of the shard. Its allocations are not counted.
fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let counts = COUNTS.replace(false);
    let result = work();
    COUNTS.set(counts);
    result
}

/// Recorder that also counts its records. It empties the optional ledger itself.
struct CountingRecorder {
    records: u64,
    tally: IntervalRecorder,
    ledger: Option<(LedgerProducer, LedgerConsumer, Vec<LedgerEntry>)>,
    /// Receiver of full intervals, which the recorder empties and reuses.
    full: Receiver<Box<Interval>>,
    empty: SyncSender<Box<Interval>>,
}

impl CountingRecorder {
    /// Creates the shard of this workload. Its second interval is already queued.
    fn shard(
        work: Workload,
        ledger: Option<(LedgerProducer, LedgerConsumer, Vec<LedgerEntry>)>,
    ) -> Shard<CountingRecorder> {
        let ((filled, full), (empty, emptied)) = (sync_channel(1), sync_channel(1));
        let tally = IntervalRecorder::new(
            (0, work.plan().clients),
            work.interval(),
            Nanos::MAX,
            filled,
            emptied,
            None,
        );
        empty.send(Box::new(work.interval())).expect("the buffer has room");
        Shard::new(Arc::new(work), 0, CountingRecorder { records: 0, tally, ledger, full, empty })
    }
}

impl Recorder for CountingRecorder {
    fn transaction_started(&mut self) {
        self.tally.transaction_started();
    }

    fn record(&mut self, record: &Record) {
        assert!(
            !matches!(record.outcome, model::Outcome::Failed(_) | model::Outcome::Unknown(_)),
            "{record:?}"
        );
        self.records += 1;
        self.tally.record(record);
    }

    fn statement_finished(&mut self, script: ScriptId, command: u16, sample: &RequestSample) {
        self.tally.statement_finished(script, command, sample);
    }

    fn response_received(&mut self, script: ScriptId, command: u16, bytes: u64) {
        self.tally.response_received(script, command, bytes);
    }

    fn rows_counted(&mut self, script: ScriptId, command: u16, kind: StatementKind, rows: u64) {
        self.tally.rows_counted(script, command, kind, rows);
    }

    fn replayed(&mut self, script: ScriptId, recorded: Answer, measured: Answer) {
        self.tally.replayed(script, recorded, measured);
    }

    fn send_lag(&mut self, lag: Nanos) {
        self.tally.send_lag(lag);
    }

    fn backlog_wait(&mut self, wait: Nanos) {
        self.tally.backlog_wait(wait);
    }

    fn connected(&mut self, took: Nanos) {
        self.tally.connected(took);
    }

    fn window(&mut self, start: Nanos, ends: Nanos) {
        self.tally.window(start, ends);
    }

    fn tick(&mut self, now: Nanos) {
        self.tally.tick(now);
        // These allocations are not counted, because in a real run another thread makes them.
        let counts = COUNTS.replace(false);
        while let Ok(mut interval) = self.full.try_recv() {
            interval.clear();
            let _ = self.empty.try_send(interval);
        }
        COUNTS.set(counts);
    }

    fn reserve(&mut self, client: ClientId, sequence: u64) {
        if let Some((tap, drain, entries)) = &mut self.ledger {
            if self.records.is_multiple_of(64) {
                // These allocations are not counted, because in a real run another thread makes them.
                let counts = COUNTS.replace(false);
                drain.take(entries);
                entries.clear();
                drain.mark_written();
                COUNTS.set(counts);
            }
            tap.reserve(client, sequence);
        }
    }

    fn write_completed(&mut self, attempt: &WriteAttempt, server: &[u8]) {
        if let Some((tap, ..)) = &mut self.ledger {
            tap.push_attempt(attempt, server);
        }
    }
}

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
const PARSED: &[u8] = b"1\0\0\0\x04";
const ANSWER: &[u8] = b"2\0\0\0\x04D\0\0\0\x0c\0\x01\0\0\0\x0242C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nServer: x\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
    Transfer-Encoding: chunked\r\n\r\n5\r\n{\"tok\r\ne\r\nen\": \"t\\u00e9\"\r\n1\r\n}\r\n0\r\n\r\n";

/// Responses of the service: a redirect that sets cookies, and a compressed page that expires one of them. The page is
/// `{"token": "t7"}`.
const MOVED: &[u8] = b"HTTP/1.1 302 Found\r\nLocation: ../b?c=d e\r\nSet-Cookie: id=7; Path=/; Max-Age=100\r\n\
    Set-Cookie: seen=1; Path=/; Expires=Fri, 02 Jan 1970 00:00:00 GMT\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
    Content-Length: 0\r\n\r\n";
const PACKED_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nSet-Cookie: seen=; Path=/; Max-Age=0\r\nContent-Encoding: gzip\r\n\
    Content-Length: 35\r\n\r\n";
const PACKED_BODY: &[u8] = include_bytes!("packed.gz");

/// Server that answers at once. It does not allocate while allocations are counted.
struct Server {
    /// Unanswered messages: the connection, and the number of the message within it.
    unanswered: Vec<(u32, u32)>,
    sessions: Vec<u32>,
    now: u64,
    /// Responses of a service, which it sends in turn.
    pages: [Vec<u8>; 2],
    tls: Option<TlsServer>,
}

impl Server {
    fn step(&mut self, shard: &mut Shard<CountingRecorder>) -> bool {
        self.now += 10_000;
        shard.advance(Nanos(self.now));
        loop {
            match shard.poll() {
                Action::Connect(conn) => {
                    self.sessions[conn.0 as usize] = 0;
                    shard.connected(Nanos(self.now), conn);
                }
                Action::Transmit(conn, bytes) => {
                    let n = bytes.len();
                    let is_ssl_request = bytes == SSL_REQUEST;
                    let is_request =
                        self.tls.as_mut().is_none_or(|tls| uncounted(|| tls.receive(conn, bytes)));
                    shard.sent(conn, n);
                    if is_ssl_request {
                        shard.receive(Nanos(self.now), conn, b"S");
                    }
                    if is_request {
                        self.unanswered.push((conn.0, self.sessions[conn.0 as usize]));
                        self.sessions[conn.0 as usize] += 1;
                    }
                }
                Action::Wait(_) => break,
                Action::Done => return false,
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) => {}
                Action::Shell { .. } | Action::Report(_) => {}
            }
        }
        for at in 0..self.unanswered.len() {
            let (conn, request) = self.unanswered[at];
            let conn = ConnId(conn);
            match request {
                // Responses sometimes arrive in pieces, so each is sent in two.
                request if matches!(shard.target(conn), Target::Service(_)) => {
                    let page = std::mem::take(&mut self.pages[request as usize % 2]);
                    let (a, b) = page.split_at(if request % 3 == 0 { 40 } else { page.len() - 30 });
                    self.send(shard, conn, a);
                    self.send(shard, conn, b);
                    self.pages[request as usize % 2] = page;
                }
                0 => self.send(shard, conn, WELCOME),
                1 => {
                    self.send(shard, conn, PARSED);
                    self.send(shard, conn, ANSWER);
                }
                _ => self.send(shard, conn, ANSWER),
            }
        }
        self.unanswered.clear();
        // TLS handshakes that are in progress continue.
        for conn in 0..self.tls.as_ref().map_or(0, |tls| tls.connections.len() as u32) {
            self.send(shard, ConnId(conn), b"");
        }
        true
    }

    fn send(&mut self, shard: &mut Shard<CountingRecorder>, conn: ConnId, bytes: &[u8]) {
        let bytes = match &mut self.tls {
            Some(tls) => uncounted(|| tls.encrypt(conn, bytes)),
            None => bytes,
        };
        if !bytes.is_empty() {
            shard.receive(Nanos(self.now), conn, bytes);
        }
    }
}

fn shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let text = "\\set r random(1, 1000000)\nSELECT seat FROM tickets WHERE id = :r AND price < :r * 2.5;\n";
    let program =
        parse(&[ScriptSource::new("test", text)], Mode::Prepared, false, &[]).expect("the program is valid");
    let work =
        Workload::new(plan(program, clients, schedule), Arc::new(Login::new("me", "db")), Transport::Unix);
    CountingRecorder::shard(work, None)
}

/// Creates a shard whose sessions are encrypted.
fn tls_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let text = "\\set r random(1, 1000000)\nSELECT seat FROM tickets WHERE id = :r AND price < :r * 2.5;\n";
    let program =
        parse(&[ScriptSource::new("test", text)], Mode::Prepared, false, &[]).expect("the program is valid");
    let mut login = Login::new("me", "db");
    (login.ssl, login.tls) = (SslMode::Require, Some(client_config()));
    let work = Workload::new(plan(program, clients, schedule), Arc::new(login), Transport::Tcp);
    CountingRecorder::shard(work, None)
}

/// Creates a shard whose transactions are ledger writes.
fn ledger_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let text = "\\set r random(1, 1000000)\nINSERT INTO posts VALUES (:r, 'post ' || :token);\n";
    let sources = [ScriptSource::new("test", text)];
    let program =
        parse(&sources, Mode::Prepared, false, &KeyedScript::VARIABLE_NAMES).expect("the program is valid");
    let keyed = vec![KeyedScript::from_program(&program)];
    let work =
        Workload::new(plan(program, clients, schedule), Arc::new(Login::new("me", "db")), Transport::Unix);
    let (mut taps, mut drain) = ledger_channel(&[(0, clients)], 1);
    let (mut tap, mut entries) = (taps.remove(0), Vec::with_capacity(2 * clients as usize + 1024));
    tap.prepare();
    drain.take(&mut entries);
    drain.mark_written();
    CountingRecorder::shard(work.with_ledger(1, keyed), Some((tap, drain, entries)))
}

/// Creates a shard whose clients post a body with a variable.
fn web_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    web_shard_with(Service::without_tls("localhost"), clients, schedule)
}

fn https_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let tls =
        Some(HttpsClient::new("localhost", &TlsIdentity::default()).expect("the TLS configuration is valid"));
    web_shard_with(Service { tls, ..Service::without_tls("localhost") }, clients, schedule)
}

fn web_shard_with(service: Service, clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let written = RequestSource {
        method: Method::Post,
        target: "/a?b=${client_id}",
        headers: &["X: ${client_id}".to_owned()],
        body: Some("{\"a\": \"${client_id}\"}"),
        expect: &[],
        secrets: SecretLookup::NONE,
    };
    let program = Program::from_request(&written, &["client_id"]).expect("the program is valid");
    let service = Service { response_timeout: Some(Nanos::from_secs(1)), ..service };
    let work = Workload::with_services(plan(program, clients, schedule), None, vec![service]);
    CountingRecorder::shard(work, None)
}

/// Creates a shard whose clients draw rows from feeds, capture values from every response, and use these values.
fn mix_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let columns: Vec<String> = ["method", "target", "headers", "body", "who", "status", "bytes"]
        .iter()
        .map(|it| (*it).to_owned())
        .collect();
    let (mut bytes, mut layout) = (Vec::new(), RowLayout::new(RowFormat::Packed, columns.clone()));
    for n in 0..1000_usize {
        layout.push(bytes.len() as u64);
        let body = "x".repeat(n % 5 * 60);
        for field in ["POST", "/a", "X: y\r\n", &body, &"abcdefg"[..n % 7], "200", &n.to_string()] {
            bytes.extend((field.len() as u32).to_le_bytes());
            bytes.extend(field.as_bytes());
        }
    }
    let rows = Rows::new(Arc::new(bytes), layout);
    let step = |target: &str, captures: Vec<(String, CaptureSource)>, contains: Option<&str>| HttpStep {
        headers: vec![("X".to_owned(), "${token}".to_owned())],
        captures,
        expect: Expectation {
            contains: contains.map(str::to_owned).into_iter().collect(),
            ..Expectation::default()
        },
        ..HttpStep::new("GET", target)
    };
    let captures = vec![
        ("token".to_owned(), CaptureSource::Json("/token".to_owned())),
        ("date".to_owned(), CaptureSource::Header("date".to_owned())),
        ("found".to_owned(), CaptureSource::Regex("tok(e[a-z])".to_owned())),
    ];
    let mut second = step("/${found}?${date}&${n}", Vec::new(), None);
    second.expect.not_contains = vec!["no ${token}".to_owned(), "no ${n}".to_owned()];
    let steps = [step("/${who}", captures, Some("token")), second];
    let sets = [("n", "random(1, 1000)"), ("token", "7")].map(|(name, it)| (name.to_owned(), it.to_owned()));
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    maker.add_http(&ScriptHeader { name: "steps", weight: 1, draws: Some((0, &columns)) }, 0, &sets, &steps);
    maker.add_ammo(
        &ScriptHeader { name: "ammo", weight: 1, draws: Some((1, &columns)) },
        0,
        &AmmoDetails::default(),
    );
    let program = maker.finish().expect("the program is valid");
    let feeds = vec![
        Feed::new(rows.clone(), DrawOrder::Zipfian { s: 1.1 }),
        Feed::new(rows, DrawOrder::Shuffled { seed: 1 }),
    ];
    let work = Workload::with_services(
        plan(program, clients, schedule),
        None,
        vec![Service::without_tls("localhost")],
    );
    CountingRecorder::shard(work.with_feeds(feeds), None)
}

/// Creates a shard whose clients store cookies, follow redirects and decompress responses.
fn hop_shard(clients: u32, schedule: Schedule) -> Shard<CountingRecorder> {
    let step = HttpStep {
        headers: vec![("X".to_owned(), "${env:TOKEN}".to_owned())],
        body: Some(RequestBody::Json("{\"a\": \"${client_id}\"}".to_owned())),
        captures: vec![("token".to_owned(), CaptureSource::Json("/token".to_owned()))],
        expect: Expectation {
            status: vec![(200, 200)],
            contains: vec!["t7".to_owned()],
            ..Expectation::default()
        },
        redirects: 3,
        decompress: true,
        ..HttpStep::new("POST", "/a/${client_id}")
    };
    let secret = |_: &str| Some(Secret::new("secret"));
    let mut maker = ProgramBuilder::new(Mode::Simple, &["client_id"]).with_secrets(SecretLookup(&secret));
    maker.add_http(&ScriptHeader { name: "hop", weight: 1, draws: None }, 0, &[], &[step]);
    let program = maker.finish().expect("the program is valid");
    let service = Service { cookies: true, ..Service::without_tls("localhost") };
    CountingRecorder::shard(
        Workload::with_services(plan(program, clients, schedule), None, vec![service]),
        None,
    )
}

fn plan(program: Program, clients: u32, schedule: Schedule) -> LoadPlan {
    LoadPlan {
        duration: Some(Nanos::from_secs(1_000)),
        backlog_max: 1_000,
        drain: Nanos::from_secs(1),
        connecting_max: 16,
        measured: load::MeasuredCommands::All,
        ..sim::plan(program, Mode::Prepared, clients, 1, schedule)
    }
}

type ShardFactory = fn(u32, Schedule) -> Shard<CountingRecorder>;

/// Tests both properties in one function, because the allocator counts for the whole process.
#[test]
fn does_not_allocate_after_start_and_connections_are_small() {
    let curve = Curve::Ramp {
        from: PerSecond(50_000.0),
        to: PerSecond(100_000.0),
        duration: Nanos::from_secs(1_000),
    };
    let steps =
        |rate| Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: Nanos::from_secs(1_000) };
    let stage = UserStage { users: 64, spawn_rate: None, duration: Nanos::from_secs(1_000) };
    let stream = |rate, script| Stream { curve: steps(rate), spacing: Spacing::Even, script };
    let schedules = [
        sim::CLOSED,
        Schedule::Closed { think: Nanos::from_millis(1) },
        Schedule::Users(UserRamp {
            stages: vec![stage],
            think: ThinkTime::LogNormal { median: Nanos::from_micros(300), sigma: 0.5 },
            pacing: Some(Nanos::from_micros(400)),
            rate_max: Some(PerSecond(50_000.0)),
        }),
        Schedule::Streams(vec![stream(30_000.0, None), stream(9_000.0, Some(ScriptId(0)))]),
        Schedule::Open { curve: curve.clone(), spacing: Spacing::Even },
        Schedule::Open { curve, spacing: Spacing::Poisson },
    ];
    let both: [(&str, ShardFactory); 4] =
        [("SQL", shard), ("HTTP", web_shard), ("mix", mix_shard), ("hops", hop_shard)];
    let ledger: (&str, ShardFactory) = ("ledger", ledger_shard);
    let encrypted: [(&str, ShardFactory); 2] = [("SQL, TLS", tls_shard), ("HTTP, TLS", https_shard)];
    let rustls = rustls_allocations();
    println!("rustls allocates {} times for a sent record, {} for a received one", rustls.0, rustls.1);
    let cases = both
        .iter()
        .chain([&ledger])
        .chain(&encrypted)
        .flat_map(|it| schedules.iter().map(move |schedule| (it, schedule)));
    for ((protocol, make), schedule) in cases {
        let is_encrypted = protocol.ends_with("TLS");
        // Regular expressions are slow in unoptimised builds.
        let count =
            if is_encrypted || matches!(*protocol, "mix" | "hops" | "ledger") { 8_000 } else { 40_000 };
        let case = format!("{protocol}, {schedule:?}");
        let mut shard = make(64, schedule.clone());
        let mut server = Server {
            unanswered: Vec::with_capacity(256),
            sessions: vec![0; 128],
            now: 0,
            pages: if *protocol == "hops" { hops() } else { pages() },
            tls: is_encrypted.then(|| TlsServer::new(128)),
        };
        while !shard.is_settled() {
            server.step(&mut shard);
        }
        shard.begin(Nanos(server.now + 1));
        // In its first transaction, each client prepares its statement and grows its buffers to their final size.
        while shard.recorder.records < 10_000 {
            server.step(&mut shard);
        }
        server.tls.iter_mut().for_each(|tls| tls.records = (0, 0));
        COUNTS.set(true);
        while shard.recorder.records < 10_000 + count {
            server.step(&mut shard);
        }
        COUNTS.set(false);
        let allocations = ALLOCATIONS.replace(0);
        let (sent, received) = server.tls.as_ref().map_or((0, 0), |tls| tls.records);
        let expected = sent * rustls.0 + received * rustls.1;
        assert_eq!(allocations, expected, "allocations in {count} transactions of {case}");
        let (interval, _) = shard.recorder.tally.finish(Nanos(server.now));
        let has = |rows: bool| {
            interval.answers.iter().any(|it| it.sizes.count() > 0 && it.statement().is_some() == rows)
        };
        assert_eq!(has(false), matches!(*protocol, "HTTP" | "HTTP, TLS" | "mix" | "hops"), "sizes of {case}");
        assert_eq!(has(true), matches!(*protocol, "SQL" | "SQL, TLS" | "ledger"), "rows of {case}");
        let replayed = interval.replays.iter().any(|it| it.answers > 0);
        assert_eq!(replayed, *protocol == "mix", "recorded answers of {case}");
    }

    // Cookies and decompression need memory, see docs/http.md.
    for (protocol, make) in both {
        check_connection_size(protocol, make, if protocol == "hops" { 72 } else { 4 });
    }
}

/// Number of allocations that rustls makes for each record that a client sends, and for each that it receives.
fn rustls_allocations() -> (usize, usize) {
    const ROUNDS: usize = 1000;
    let name = "localhost".try_into().expect("a name");
    let mut client = ClientConnection::new(client_config(), name).expect("the configuration is valid");
    let (mut server, conn) = (TlsServer::new(1), ConnId(0));
    let (mut out, mut counted) = (Vec::with_capacity(1 << 16), (0, 0));
    for round in 0..2 * ROUNDS {
        let open = !client.is_handshaking();
        COUNTS.set(round >= ROUNDS);
        if open {
            client.writer().write_all(b"request").expect("the buffer has room");
        }
        while client.wants_write() {
            client.write_tls(&mut out).expect("writing to a vector cannot fail");
        }
        COUNTS.set(false);
        counted.0 += ALLOCATIONS.replace(0);
        server.receive(conn, &out);
        out.clear();
        let mut answer = server.encrypt(conn, if open { b"answer" } else { b"" });
        COUNTS.set(round >= ROUNDS);
        while !answer.is_empty() {
            client.read_tls(&mut answer).expect("reading from memory cannot fail");
            client.process_new_packets().expect("the server speaks TLS");
        }
        if let Ok(chunk) = client.reader().into_first_chunk() {
            let length = chunk.len();
            client.reader().consume(length);
        }
        COUNTS.set(false);
        counted.1 += ALLOCATIONS.replace(0);
    }
    assert!(counted.0 % ROUNDS == 0 && counted.1 % ROUNDS == 0, "each record costs the same: {counted:?}");
    (counted.0 / ROUNDS, counted.1 / ROUNDS)
}

fn pages() -> [Vec<u8>; 2] {
    [PAGE.to_vec(), PAGE.to_vec()]
}

fn hops() -> [Vec<u8>; 2] {
    [MOVED.to_vec(), [PACKED_HEAD, PACKED_BODY].concat()]
}

fn check_connection_size(protocol: &str, make: ShardFactory, kilobytes: usize) {
    let before = BYTES.get();
    let clients = if kilobytes > 4 { 1_000 } else { 10_000 };
    let mut shard = make(clients, sim::CLOSED);
    let sessions = vec![0; 2 * clients as usize];
    let pages = if protocol == "hops" { hops() } else { pages() };
    let mut server =
        Server { unanswered: Vec::with_capacity(clients as usize), sessions, now: 0, pages, tls: None };
    while !shard.is_settled() {
        server.step(&mut shard);
    }
    shard.begin(Nanos(server.now + 1));
    while shard.recorder.records < 3 * u64::from(clients) {
        server.step(&mut shard);
    }
    let each = (BYTES.get() - before) as usize / clients as usize;
    println!("{protocol}: {each} bytes for each of {clients} connections");
    assert!(each < kilobytes * 1024, "{protocol}: {each} bytes for each connection");
}
