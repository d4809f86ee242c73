//! Single execution of an operation by one client, with its requests and responses

use super::OperationError;
use super::statements::place;
use crate::cli::{CommandError, language, os_error_text};
use crate::measure::LoadPart;
use crate::messages;
use crate::run::test_bed::TestBed;
use crate::run::workload::{self, LoadInputs, PreparedLoad};
use crate::secrets::{self, ENVIRONMENT};
use load::driver::{Clock, Driver, DriverContext, StartGate};
use load::script::{Command, CommandKind, Piece, Slot, VariableNames, Variables};
use load::{LoadEvent, Recorder, Shard, TraceEvent};
use model::message;
use model::plan::{LoadModel, ON_START, Operation, OperationKind, Setup, ThinkTime};
use model::{Nanos, Outcome, Record};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum duration of an execution. An operation that takes longer is cancelled.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Interval between two checks whether the execution has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of stored rows per statement.
const ROWS_MAX: usize = 10;
/// Maximum number of characters of a response's body in an error.
const BODY_CHARS_MAX: usize = 200;
/// Headers whose values are secrets.
const SECRET_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token"];

/// Requests and responses of one execution.
#[derive(Debug)]
pub struct Execution {
    pub entries: Vec<TraceEntry>,
    /// Outcome; `None` if the execution was cancelled or could not begin.
    pub outcome: Option<Outcome>,
    pub elapsed: Nanos,
    /// Reason why the client could not connect or continue.
    pub reason: Option<String>,
}

/// Part of an execution. Secrets in texts are masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEntry {
    /// Statement at `line` of the script, with the values of its variables.
    Statement {
        line: u32,
        text: String,
        variables: Vec<(String, String)>,
    },
    Columns(Vec<String>),
    /// Row; `None` is NULL.
    Row(Vec<Option<String>>),
    /// Number of further rows.
    MoreRows(usize),
    Tag(String),
    /// Error or notice.
    Message(String),
    Request(String),
    /// Response; `length` is the size of its whole body.
    Response {
        head: String,
        body: String,
        length: u64,
    },
    /// The command succeeded within this time, and captured these variables.
    Finished {
        elapsed: Nanos,
        captures: Vec<(String, String)>,
    },
}

/// Recorder that stores every request and response.
#[derive(Debug)]
struct Tracer {
    names: Arc<VariableNames>,
    commands: Vec<Command>,
    /// Values of environment variables that appear in requests.
    secrets: Vec<String>,
    entries: Vec<TraceEntry>,
    record: Option<Record>,
    /// True while the client sends the requests of its start, which are not traced.
    is_starting: bool,
    /// Rows of the current statement.
    rows: usize,
}

/// Executes an operation of `setup` once, with one client, on the running stack.
pub fn execute(
    setup: &Setup,
    operation: &Operation,
    test_bed: &mut TestBed,
    seed: u64,
) -> Result<Execution, CommandError> {
    let feeds = test_bed.feeds(setup)?;
    let web = test_bed.http_target();
    let chain = test_bed.chain();
    let (abandoned, interrupted) = (Arc::<AtomicBool>::default(), Arc::clone(test_bed.interrupted()));
    let inputs = LoadInputs {
        postgres: &chain.primary_endpoints(),
        replicas: &chain.replica_endpoints(),
        secret: None,
        web: web.as_ref(),
        feeds: &feeds,
        variables: &workload::variables(setup),
        transactions: Some(1),
        additional: None,
        abandoned: &abandoned,
        part: LoadPart::All,
        driver: None,
        secrets: ENVIRONMENT,
    };
    let PreparedLoad { config, .. } = workload::prepare(&single_setup(setup, operation), &inputs, seed)?;
    let program = &config.work.plan().program;
    let tracer = Tracer {
        names: Arc::clone(&program.names),
        commands: program.scripts[0].commands.clone(),
        secrets: secrets(operation),
        entries: Vec::new(),
        record: None,
        is_starting: program.has_on_start,
        rows: 0,
    };
    let shard = Shard::new(Arc::clone(&config.work), 0, tracer);
    let (gate, stop, (events, received)) = (StartGate::new(1), AtomicBool::new(false), channel());
    let clock = Clock::start();
    let context = DriverContext {
        postgres: &config.postgres,
        services: &config.services,
        clock,
        gate: &gate,
        stop: &stop,
        abandon: &abandoned,
        spin: Nanos::ZERO,
        slack: Nanos::ZERO,
        events,
    };
    let driven = thread::scope(|scope| {
        let handle = scope.spawn(|| Driver::Epoll.drive(shard, &context));
        let begun = Instant::now();
        while !handle.is_finished() {
            if gate.is_settled() && gate.window_start().is_none() {
                gate.open(clock.now());
            }
            if begun.elapsed() > TIME_LIMIT || interrupted.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
                abandoned.store(true, Ordering::Relaxed);
            }
            thread::sleep(POLL_INTERVAL);
        }
        handle.join().expect("a driver does not panic")
    });
    drop(context);
    let cancelled = abandoned.load(Ordering::Relaxed);
    let driven = driven.map_err(|it| CommandError::new(os_error_text(&it)))?;
    let Tracer { entries, record, .. } = driven.shard.recorder;
    let reasons = received.try_iter().filter_map(|event| match event {
        LoadEvent::Aborted { reason, .. } => {
            Some(language::selected().message(&messages::abort_message(&reason).1))
        }
        LoadEvent::Refused { message, .. } => Some(message),
        _ => None,
    });
    Ok(Execution {
        entries,
        outcome: record.map(|it| it.outcome).filter(|_| !cancelled),
        elapsed: record.map_or(Nanos::ZERO, |it| it.finished - it.started),
        reason: reasons.last(),
    })
}

/// Setup in which one client executes only this operation, without pauses and after the requests of its start.
fn single_setup(setup: &Setup, operation: &Operation) -> Setup {
    let mut single = setup.clone();
    single.on_start = single.on_start.filter(|it| it.name != operation.name);
    single.operations = vec![Operation { weight: 1, rate: None, schedule: None, ..operation.clone() }];
    for operation in single.operations.iter_mut().chain(single.on_start.as_deref_mut()) {
        if let OperationKind::Http(steps) = &mut operation.kind {
            steps.iter_mut().for_each(|it| it.pause = ThinkTime::NONE);
        }
    }
    let load = &mut single.load;
    load.model = LoadModel::Closed { clients: 1, think: Nanos::ZERO };
    (load.duration, load.warmup) = (None, Nanos::ZERO);
    single
}

/// Values of the environment variables in an operation's requests, both unchanged and escaped for a URL.
fn secrets(operation: &Operation) -> Vec<String> {
    let text = operation.text();
    let values = secrets::names(&text).filter_map(secrets::secret);
    let both = values.flat_map(|it| [it.reveal().to_owned(), model::percent_encode(it.reveal())]);
    both.filter(|it| !it.is_empty()).collect()
}

impl Execution {
    /// True if the client could not connect or continue, or the server did not respond within [`TIME_LIMIT`].
    pub fn is_unanswered(&self) -> bool {
        match self.outcome {
            Some(Outcome::Ok) => false,
            Some(Outcome::Failed(code)) => !code.is_answer(),
            Some(Outcome::Unknown(_) | Outcome::Dropped) | None => true,
        }
    }

    /// Error of a failed execution, as reported by the server or the script; `None` if the execution succeeded or
    /// received no response.
    pub fn error(&self, operation: &Operation) -> Option<OperationError> {
        let Some(Outcome::Failed(code)) = self.outcome else { return None };
        if !code.is_answer() {
            return None;
        }
        let statement = self.entries.iter().rev().find_map(|entry| match entry {
            TraceEntry::Statement { line, .. } => Some(*line as usize),
            _ => None,
        });
        let message = self.entries.iter().rev().find_map(|entry| match entry {
            TraceEntry::Message(text) => Some(text.clone()),
            _ => None,
        });
        let message = self.reason.clone().or(message).unwrap_or_default();
        let mut lines = message.lines().map(str::to_owned);
        let message = format!("{code} {}", lines.next().unwrap_or_default());
        let place = match (&operation.kind, statement) {
            (OperationKind::Script { .. }, Some(line)) => place(operation, line),
            _ if operation.name == ON_START => operation.name.clone(),
            _ => format!("operations.{}", operation.name),
        };
        let exchange = self.entries.iter().rev().filter_map(TraceEntry::summary).take(2);
        let mut exchange: Vec<String> = exchange.collect();
        exchange.reverse();
        let details = lines.chain(exchange).collect();
        let correction = message!("preflight-correct-operation");
        let operation = operation.name.clone();
        Some(OperationError { operation, place, message, excerpt: None, details, correction })
    }
}

impl TraceEntry {
    /// Request line, or status line and beginning of the body; `None` for entries of SQL statements.
    fn summary(&self) -> Option<String> {
        let first_line = |it: &str| it.lines().next().unwrap_or_default().to_owned();
        match self {
            TraceEntry::Request(text) => Some(first_line(text)),
            TraceEntry::Response { head, body, .. } => {
                let body: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
                let body: String = body.chars().take(BODY_CHARS_MAX).collect();
                Some(format!("{} {body}", first_line(head)).trim_end().to_owned())
            }
            _ => None,
        }
    }
}

impl Recorder for Tracer {
    const TRACES: bool = true;

    fn record(&mut self, record: &Record) {
        if !self.is_starting {
            self.record = Some(*record);
        }
    }

    fn transaction_started(&mut self) {
        self.is_starting = false;
    }

    fn trace(&mut self, event: TraceEvent<'_>) {
        if self.is_starting {
            return;
        }
        let entry = match event {
            TraceEvent::Statement { command, variables } => {
                self.rows = 0;
                let Command { line, kind: CommandKind::Sql(sql), .. } = &self.commands[usize::from(command)]
                else {
                    return;
                };
                let mut slots: Vec<Slot> = Vec::new();
                for piece in &sql.pieces {
                    if let Piece::Var { slot } = piece
                        && !slots.contains(slot)
                    {
                        slots.push(*slot);
                    }
                }
                let values = slots.into_iter().map(|it| self.value(it, variables)).collect();
                TraceEntry::Statement { line: *line, text: lossy(&sql.text), variables: values }
            }
            TraceEvent::Columns(names) => TraceEntry::Columns(names.into_iter().map(lossy).collect()),
            TraceEvent::Row(values) => {
                self.rows += 1;
                match self.entries.last_mut() {
                    Some(TraceEntry::MoreRows(count)) => {
                        *count += 1;
                        return;
                    }
                    _ if self.rows > ROWS_MAX => TraceEntry::MoreRows(1),
                    _ => TraceEntry::Row(values.into_iter().map(|it| it.map(lossy)).collect()),
                }
            }
            TraceEvent::Tag(tag) => TraceEntry::Tag(lossy(tag)),
            TraceEvent::Message(text) => TraceEntry::Message(text.to_owned()),
            TraceEvent::Request(bytes) => {
                let text = lossy(bytes);
                let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
                TraceEntry::Request(self.mask(format!("{}\n\n{body}", mask_headers(head)).trim_end()))
            }
            TraceEvent::Response { head, body, length } => {
                let (head, body) = (self.mask(&mask_headers(&lossy(head))), self.mask(&lossy(body)));
                TraceEntry::Response { head, body, length }
            }
            TraceEvent::Finished { command, elapsed, variables } => {
                let captures = match &self.commands[usize::from(command)].kind {
                    CommandKind::Http(call) => {
                        call.captures.iter().map(|it| self.value(it.slot, variables)).collect()
                    }
                    _ => Vec::new(),
                };
                TraceEntry::Finished { elapsed, captures }
            }
        };
        self.entries.push(entry);
    }
}

impl Tracer {
    /// Name and value of a variable.
    fn value(&self, slot: Slot, variables: &Variables) -> (String, String) {
        let mut value = Vec::new();
        variables.write(slot, &mut value);
        (self.names[usize::from(slot)].to_string(), self.mask(&lossy(&value)))
    }

    /// Text in which asterisks replace the secrets.
    fn mask(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

/// Head of a request or response with line feeds, in which asterisks replace the values of secret headers.
fn mask_headers(head: &str) -> String {
    let line = |line: &str| match line.split_once(':') {
        Some((name, _)) if SECRET_HEADERS.iter().any(|it| name.eq_ignore_ascii_case(it)) => {
            format!("{name}: ***")
        }
        _ => line.to_owned(),
    };
    head.lines().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_secret_headers() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nauthorization: Bearer x:y\r\nCookie:z\r\n\r\n";
        assert_eq!(mask_headers(head), "GET / HTTP/1.1\nHost: a\nauthorization: ***\nCookie: ***");
    }
}
