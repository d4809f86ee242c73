//! Which questions tell how a part of the stack is doing, and what do their answers mean?
//!
//! A probe is data: where it applies, a question, and a pure reading of the answer by the names of its columns. The
//! [`crate::sampler`] asks. A new probe is one file, one line in [`ALL`], and a captured answer per server version below
//! `fixtures/probe`.

mod cells;
mod console;
mod haproxy;
mod host_cpu;
mod host_disk;
mod host_load;
mod host_memory;
mod host_pressure;
mod pg_activity;
mod pg_checkpoints;
pub(crate) mod pg_database;
mod pg_idle_transactions;
mod pg_io;
mod pg_lock_waiters;
mod pg_locks;
mod pg_replication;
mod pg_role;
mod pg_scans;
mod pg_size;
mod pg_statements;
mod pg_tables;
mod pg_wal;
mod process;
mod service;

pub use haproxy::read_csv;

use crate::client;
use crate::limits::CounterFile;
use model::{Series, SeriesKind, Unit};
use std::fmt;
use std::time::Duration;

/// A question about one part of the stack, and what the answer means.
#[derive(Debug)]
pub struct Probe {
    /// Unique; names its fixtures: `pg_activity`.
    pub name: &'static str,
    pub target: ProbeTarget,
    /// How often it is asked.
    pub period: Duration,
    /// Every series that a reading can be of.
    pub series: &'static [Series],
    /// The question to a server of this version (`server_version_num`, 0 where there is none); `None`: it has no such thing.
    pub request: fn(version: u32) -> Option<ProbeRequest>,
    /// Appends what the answer says. NULL and what the version does not tell give nothing: they are not zero.
    pub read: fn(&ProbeResponse, &mut Vec<Reading>) -> Result<(), ReadError>,
}

/// What a probe asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeTarget {
    /// The machine.
    Host,
    /// Each process of a node, or of the generator; readings are added up over them.
    Process,
    /// Each thread of those, added up likewise, also those that have ended since.
    Thread,
    /// The control group of a node.
    Group,
    Postgres,
    PgBouncer,
    Odyssey,
    HaProxy,
    /// An HTTP service.
    Service,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeRequest {
    /// To PostgreSQL: one statement without parameters. It is prepared once per session.
    Sql(&'static str),
    /// To the console of a pooler, by the simple protocol.
    Console(&'static str),
    /// To HAProxy's stats socket.
    Stats(&'static str),
    /// For the page that the service tells its statistics by; its path is the node's.
    Page,
    /// Files: of the machine by their full path, of a process or thread below its directory in `/proc`.
    Files(&'static [&'static str]),
    /// How many entries a directory of a process has, below its own in `/proc`: a text with their number, an empty one where
    /// they must not be seen.
    Entries(&'static str),
    /// The files of the node's control group.
    Group,
}

/// An answer.
#[derive(Clone, Debug)]
pub enum ProbeResponse {
    Rows(client::QueryResult),
    /// The question's files in its order, or the one text that a stats socket or a service answered. A missing file is empty.
    Texts(Vec<String>),
    Group(Vec<(CounterFile, String)>),
}

/// One figure of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub series: &'static Series,
    /// Which of several; empty where there is one.
    pub label: String,
    pub value: f64,
}

/// The answer is not what the probe knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Counted from 1; 0: the answer as a whole.
    pub line: u32,
    pub expected: &'static str,
}

/// Every probe.
pub static ALL: &[&Probe] = &[
    &host_cpu::PROBE,
    &host_load::PROBE,
    &host_memory::PROBE,
    &host_disk::PROBE,
    &host_pressure::PROBE,
    &process::PROCESS,
    &process::FILES,
    &process::THREAD,
    &process::GROUP,
    &pg_activity::PROBE,
    &pg_database::PROBE,
    &pg_idle_transactions::PROBE,
    &pg_locks::PROBE,
    &pg_lock_waiters::PROBE,
    &pg_statements::STATEMENTS,
    &pg_statements::TEXTS,
    &pg_io::PROBE,
    &pg_checkpoints::PROBE,
    &pg_wal::PROBE,
    &pg_replication::PROBE,
    &pg_role::PROBE,
    &pg_tables::PROBE,
    &pg_scans::PROBE,
    &pg_size::PROBE,
    &console::pools::PGBOUNCER,
    &console::pools::ODYSSEY,
    &console::stats::PGBOUNCER,
    &console::stats::ODYSSEY,
    &console::servers::PGBOUNCER,
    &console::servers::ODYSSEY,
    &console::clients::PGBOUNCER,
    &console::clients::ODYSSEY,
    &console::databases::PGBOUNCER,
    &console::databases::ODYSSEY,
    &haproxy::STAT,
    &haproxy::INFO,
    &service::PROBE,
];

/// The probe of this name.
pub fn find_probe(name: &str) -> Option<&'static Probe> {
    ALL.iter().copied().find(|it| it.name == name)
}

/// The series of this name.
pub fn find_series(name: &str) -> Option<&'static Series> {
    ALL.iter().flat_map(|it| it.series).find(|it| it.name == name)
}

const SECOND: Duration = Duration::from_secs(1);

const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Series {
    Series { name, unit, kind: SeriesKind::Gauge, help }
}

const fn counter(name: &'static str, unit: Unit, help: &'static str) -> Series {
    Series { name, unit, kind: SeriesKind::Counter, help }
}

impl ProbeResponse {
    fn rows(&self) -> Result<&client::QueryResult, ReadError> {
        match self {
            ProbeResponse::Rows(it) => Ok(it),
            _ => Err(ReadError { line: 0, expected: "rows" }),
        }
    }

    /// The text number `index` of the question's files.
    fn text(&self, index: usize) -> Result<&str, ReadError> {
        match self {
            ProbeResponse::Texts(them) => Ok(them.get(index).map_or("", String::as_str)),
            _ => Err(ReadError { line: 0, expected: "texts" }),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "the answer has no {}", self.expected),
            line => write!(f, "line {line} of the answer has no {}", self.expected),
        }
    }
}

impl std::error::Error for ReadError {}
