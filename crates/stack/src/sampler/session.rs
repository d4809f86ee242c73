//! Runs the probes of one server periodically

use super::{Collector, DueProbe, StopSignal};
use crate::client::{Connection, Error, Target};
use crate::location::{self, Location};
use crate::probe::{ProbeRequest, ProbeResponse, ProbeTarget, pg_database};
use crate::supervisor;
use model::Nanos;
use model::message;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wire::Code;

/// Timeout for a request to a server that does not respond. It exceeds the server's own statement timeout, which is one
/// second.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_millis(1500);
/// First and maximum delay between attempts to log in.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// Delay before a query that took too long is repeated.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Statements that make the session read-only, without waits for locks and without JIT for short queries.
const SETUP_SQL: &str = "set application_name = 'pgdyno monitor'; set default_transaction_read_only = on; \
    set statement_timeout = '1s'; set lock_timeout = '100ms'; set jit = off; set max_parallel_workers_per_gather = 0; \
    set client_min_messages = 'error'; set search_path = pg_catalog, public";

/// Queries a PostgreSQL server or the console of a pooler. Returns the CPU time of the sessions' server processes. `main` is
/// the server's main process, if pgdyno started it.
pub(super) fn run(
    target: &Target,
    probe_target: ProbeTarget,
    main: Option<&AtomicU32>,
    mut collector: Collector,
    stop: &StopSignal,
) -> Nanos {
    let mut servers = Nanos::ZERO;
    let mut pause = BACKOFF.0;
    let mut session: Option<Session> = None;
    loop {
        let last = stop.is_set();
        if session.is_none() {
            match Session::open(target, probe_target, main.map(|it| it.load(Ordering::Relaxed))) {
                Ok(it) => session = Some(it),
                Err(error) => collector.missing("connection", || (&error).into()),
            }
        }
        let Some(open) = &mut session else {
            if last {
                return servers;
            }
            stop.wait(Instant::now() + pause);
            pause = (pause * 2).min(BACKOFF.1);
            continue;
        };
        let broken = open.round(&mut collector, last, stop).err();
        if let Some(error) = &broken {
            collector.missing("connection", || error.into());
            stop.wait(Instant::now() + pause);
            pause = (pause * 2).min(BACKOFF.1);
        } else {
            pause = BACKOFF.0;
        }
        if last || broken.is_some() {
            servers += open.backend.map_or(Nanos::ZERO, |it| it.spent);
            session = None;
        }
        if last {
            return servers;
        }
        if let Some(open) = &session {
            stop.wait(open.next());
        }
    }
}

/// Session of one login, with its probes and their due times.
struct Session {
    connection: Connection,
    dues: Vec<DueProbe>,
    prepared: Vec<&'static str>,
    /// Number of statements sent to PostgreSQL; each is a transaction.
    transactions: u64,
    backend: Option<Backend>,
}

/// Server process of this session, if it runs on this machine.
#[derive(Clone, Copy)]
struct Backend {
    pid: u32,
    /// CPU time of the process at the last check.
    spent: Nanos,
    looked: Instant,
}

impl Session {
    fn open(target: &Target, probe_target: ProbeTarget, main: Option<u32>) -> Result<Session, Error> {
        let mut connection = target.open(REQUEST_TIMEOUT)?;
        let (mut version, mut backend) = (0, None);
        if probe_target == ProbeTarget::Postgres {
            connection.query(SETUP_SQL)?;
            // Exclude the sampler's statements from `pg_stat_statements`. This fails if the user may not set the
            // parameter.
            let _ = connection.query("set pg_stat_statements.track = 'none'");
            version = connection.server_version();
            let pid = connection.value("select pg_backend_pid()")?.and_then(|it| it.parse().ok());
            let is_local = location::locate_server(&target.address, &mut connection) == Location::ThisMachine;
            let pid = pid
                .filter(|_| is_local)
                .and_then(|it| main.map_or(Some(it), |main| supervisor::host_process(main, it)));
            backend = pid.map(|pid| Backend { pid, spent: Nanos::ZERO, looked: Instant::now() });
        }
        let (dues, prepared) = (DueProbe::all(probe_target, version), Vec::new());
        Ok(Session { connection, dues, prepared, transactions: 0, backend })
    }

    /// Runs the probes that are due, or all probes if `everything`. An error means that the session is broken.
    fn round(&mut self, collector: &mut Collector, everything: bool, stop: &StopSignal) -> Result<(), Error> {
        for due in &mut self.dues {
            if due.disabled || (!everything && due.next > Instant::now()) {
                continue;
            }
            // A query takes up to a second, so a stop skips the remaining probes.
            if !everything && stop.is_set() {
                return Ok(());
            }
            let result = match due.ask {
                ProbeRequest::Sql(sql) => {
                    self.transactions += 1 + u64::from(!self.prepared.contains(&due.probe.name));
                    prepared(&mut self.connection, &mut self.prepared, due.probe.name, sql)
                }
                ProbeRequest::Console(command) => self.connection.query(command),
                ProbeRequest::Stats(_)
                | ProbeRequest::Page
                | ProbeRequest::Files(_)
                | ProbeRequest::Entries(_)
                | ProbeRequest::Group
                | ProbeRequest::CpuLimits => continue,
            };
            let at = collector.now();
            match result {
                Ok(rows) => {
                    due.schedule_next(rows.rows.len());
                    send_readings(collector, due, at, &ProbeResponse::Rows(rows));
                    if std::ptr::eq(due.probe, &raw const pg_database::PROBE) {
                        collector.samples(at, vec![pg_database::own_transactions(self.transactions)]);
                    }
                }
                Err(error) if error.code() == Code::SqlState(*b"57014") => {
                    collector.missing(due.probe.name, || (&error).into());
                    due.postpone(RETRY_INTERVAL);
                }
                Err(Error::Server(refusal)) if refusal.severity == "ERROR" => {
                    collector.missing(due.probe.name, || message!("error-quoted", text = &refusal.message));
                    due.disabled = true;
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(backend) = &mut self.backend
            && (everything || backend.looked.elapsed() >= Duration::from_secs(1))
        {
            backend.looked = Instant::now();
            backend.spent = processor_time(backend.pid).unwrap_or(backend.spent);
        }
        Ok(())
    }

    fn next(&self) -> Instant {
        let far = Instant::now() + RETRY_INTERVAL;
        self.dues.iter().filter(|it| !it.disabled).map(|it| it.next).min().unwrap_or(far)
    }
}

/// Runs a statement as a prepared statement, because planning would cost more than the execution.
fn prepared(
    connection: &mut Connection,
    known: &mut Vec<&'static str>,
    name: &'static str,
    sql: &str,
) -> Result<crate::client::QueryResult, Error> {
    if !known.contains(&name) {
        connection.query(&format!("prepare pgdyno_{name} as {sql}"))?;
        known.push(name);
    }
    connection.query(&format!("execute pgdyno_{name}"))
}

/// Parses the response and sends the readings; disables a probe that cannot parse the response.
fn send_readings(collector: &mut Collector, due: &mut DueProbe, at: Nanos, answer: &ProbeResponse) {
    let mut readings = Vec::new();
    match (due.probe.read)(answer, &mut readings) {
        Ok(()) => collector.samples(at, readings),
        Err(error) => {
            collector.missing(due.probe.name, || (&error).into());
            due.disabled = true;
        }
    }
}

/// Queries a text interface with a connection per request: a balancer's statistics socket.
///
/// `ask` returns `None` for requests that it does not support.
pub(super) fn run_texts(
    ask: &dyn Fn(ProbeRequest) -> Option<io::Result<String>>,
    target: ProbeTarget,
    mut collector: Collector,
    stop: &StopSignal,
) -> Nanos {
    let mut dues = DueProbe::all(target, 0);
    loop {
        let last = stop.is_set();
        for due in dues.iter_mut().filter(|it| !it.disabled && (last || it.next <= Instant::now())) {
            let Some(answer) = ask(due.ask) else { continue };
            match answer {
                Ok(text) => {
                    due.schedule_next(text.lines().count());
                    let at = collector.now();
                    send_readings(&mut collector, due, at, &ProbeResponse::Texts(vec![text]));
                }
                Err(error) => {
                    collector.missing("connection", || (&error).into());
                    due.postpone(RETRY_INTERVAL);
                }
            }
        }
        if last {
            return Nanos::ZERO;
        }
        let far = Instant::now() + RETRY_INTERVAL;
        stop.wait(dues.iter().filter(|it| !it.disabled).map(|it| it.next).min().unwrap_or(far));
    }
}

/// Maximum size of a response, bytes. Only balancers with thousands of servers exceed it.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Returns the response of a statistics socket, which the balancer closes after each response.
pub(super) fn stats(socket: &Path, command: &str) -> io::Result<String> {
    let named = |it: io::Error| io::Error::new(it.kind(), format!("{}: {it}", socket.display()));
    let mut stream = UnixStream::connect(socket).map_err(named)?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    stream.write_all(format!("{command}\n").as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the CPU time of a process: the first number of `schedstat`, in nanoseconds; `proc(5)`.
fn processor_time(pid: u32) -> Option<Nanos> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Nanos)
}
