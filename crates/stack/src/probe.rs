//! Probes of the parts of a stack
//!
//! A probe is data: a target, a request, and a pure function that reads the response by the names of its columns.
//! The [`crate::sampler`] sends the requests. A new probe is one file, one line in [`ALL`], and one captured
//! response per server version below `fixtures/probe`. The probes of poolers and balancers are in their components.

pub(crate) mod cells;
pub(crate) mod console;
pub(crate) mod exporter;
mod host_cpu;
mod host_disk;
mod host_load;
mod host_memory;
mod host_network;
mod host_pressure;
pub(crate) mod normalised;
mod pg_activity;
mod pg_checkpoints;
pub(crate) mod pg_database;
mod pg_foreign_keys;
mod pg_functions;
mod pg_idle_transactions;
mod pg_io;
mod pg_lock_waiters;
mod pg_locks;
mod pg_replication;
mod pg_role;
mod pg_scans;
mod pg_session_groups;
mod pg_size;
mod pg_statement_work;
mod pg_statements;
mod pg_table_rows;
mod pg_table_work;
mod pg_tables;
mod pg_transaction_ids;
mod pg_wal;
mod php_fpm;
mod process;
pub(crate) mod prometheus;
mod service;
mod stub_status;

use crate::client;
use crate::exposition::Exposition;
use crate::limits::CounterFile;
use model::message;
use model::message::Message;
use model::plan::StatsForm;
use model::product::Product;
use model::{Series, SeriesKind, Unit};
use std::time::Duration;

/// Request to one part of the stack, and the interpretation of its response.
#[derive(Debug)]
pub struct Probe {
    /// Unique name, such as `pg_activity`. It is also the name of the probe's fixtures.
    pub name: &'static str,
    pub target: ProbeTarget,
    /// Interval between two requests.
    pub period: Duration,
    /// Series of all readings.
    pub series: &'static [Series],
    /// Request for a server of this version (`server_version_num`, 0 if there is none); `None` if the version does
    /// not support it.
    pub request: fn(version: u32) -> Option<ProbeRequest>,
    /// Appends the readings of a response. NULL and missing columns give no reading, because they are not zero.
    pub read: fn(&ProbeResponse, &mut Vec<Reading>) -> Result<(), ReadError>,
}

/// Part of the stack to which a probe sends its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// This machine.
    Host,
    /// Each process of a node or of the generator; readings are summed over the processes.
    Process,
    /// Each thread of these processes; readings are summed over all threads, including ended threads.
    Thread,
    /// Control group of a node.
    Group,
    /// Main processes of an attached node on this machine.
    Attached,
    Postgres,
    /// Page of a service, in this form.
    Page(StatsForm),
    /// Page of node_exporter on another host.
    Exporter,
    /// Console or statistics socket of this product.
    Product(&'static Product),
}

/// Request that a probe sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeRequest {
    /// PostgreSQL: one statement without parameters. It is prepared once per session.
    Sql(&'static str),
    /// Console of a pooler, by the simple protocol.
    Console(&'static str),
    /// Statistics socket of a balancer.
    Stats(&'static str),
    /// HTTP page; the node defines its address.
    Page,
    /// Paths of files: absolute for the machine; for a process or thread, relative to its directory in `/proc`.
    Files(&'static [&'static str]),
    /// Number of entries in a directory of a process. The path is relative to the process's directory in `/proc`.
    ///
    /// The response is a text with the number. The text is empty if pgdyno is not permitted to list the directory.
    Entries(&'static str),
    /// Files of the node's control group.
    Group,
    /// Files that limit the CPUs of a process; see [`crate::limits::cpu_limit_texts`].
    CpuLimits,
}

/// Response to a request.
#[derive(Clone, Debug)]
pub enum ProbeResponse {
    Rows(client::QueryResult),
    /// Files in the request's order, or one text from a statistics socket or a service. A missing file is empty text.
    Texts(Vec<String>),
    Group(Vec<(CounterFile, String)>),
    /// Page in Prometheus' format, with the names of the metrics that the user asked for.
    Metrics {
        page: Exposition,
        named: Vec<String>,
    },
}

/// Value from a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub series: &'static Series,
    /// Label that distinguishes several values of one series; empty if there is only one.
    pub label: String,
    pub value: f64,
}

/// The response does not have the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line, counted from 1; 0 means the response as a whole.
    pub line: u32,
    pub expected: &'static str,
}

/// All probes except those of poolers and balancers, see [`crate::component::probes`].
pub(crate) static ALL: &[&Probe] = &[
    &host_cpu::PROBE,
    &host_load::PROBE,
    &host_memory::PROBE,
    &host_disk::PROBE,
    &host_network::PROBE,
    &host_pressure::PROBE,
    &process::PROCESS,
    &process::FILES,
    &process::THREAD,
    &process::GROUP,
    &process::CPU_LIMIT,
    &pg_activity::PROBE,
    &pg_session_groups::PROBE,
    &pg_database::PROBE,
    &pg_idle_transactions::PROBE,
    &pg_locks::PROBE,
    &pg_lock_waiters::PROBE,
    &pg_statements::STATEMENTS,
    &pg_statements::TEXTS,
    &pg_statement_work::PROBE,
    &pg_functions::PROBE,
    &pg_table_rows::PROBE,
    &pg_table_work::PROBE,
    &pg_io::PROBE,
    &pg_checkpoints::PROBE,
    &pg_wal::PROBE,
    &pg_replication::PROBE,
    &pg_role::PROBE,
    &pg_tables::PROBE,
    &pg_transaction_ids::PROBE,
    &pg_scans::PROBE,
    &pg_foreign_keys::PROBE,
    &pg_size::PROBE,
    &service::PROBE,
    &php_fpm::PROBE,
    &stub_status::PROBE,
    &prometheus::KNOWN,
    &prometheus::NAMED,
    &exporter::CPU,
    &exporter::LOAD,
    &exporter::MEMORY,
    &exporter::DISK,
    &exporter::NETWORK,
];

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Series {
    Series { name, unit, kind: SeriesKind::Gauge, help }
}

pub(crate) const fn counter(name: &'static str, unit: Unit, help: &'static str) -> Series {
    Series { name, unit, kind: SeriesKind::Counter, help }
}

impl ProbeResponse {
    pub(crate) fn rows(&self) -> Result<&client::QueryResult, ReadError> {
        match self {
            ProbeResponse::Rows(it) => Ok(it),
            _ => Err(ReadError { line: 0, expected: "rows" }),
        }
    }

    /// Returns the text of the request's file number `index`.
    pub(crate) fn text(&self, index: usize) -> Result<&str, ReadError> {
        match self {
            ProbeResponse::Texts(them) => Ok(them.get(index).map_or("", String::as_str)),
            _ => Err(ReadError { line: 0, expected: "texts" }),
        }
    }

    /// Parses a page in Prometheus' format. `named` has the names of the metrics that the user asked for.
    pub fn parse_metrics(text: &str, named: &[String]) -> Result<ProbeResponse, ReadError> {
        let is_kept = |name: &str| {
            exporter::is_read(name) || prometheus::is_known(name) || named.iter().any(|it| it == name)
        };
        let page = Exposition::parse(text, &is_kept)
            .map_err(|error| ReadError { line: error.line, expected: error.expected })?;
        Ok(ProbeResponse::Metrics { page, named: named.to_vec() })
    }

    pub(crate) fn metrics(&self) -> Result<&Exposition, ReadError> {
        match self {
            ProbeResponse::Metrics { page, .. } => Ok(page),
            _ => Err(ReadError { line: 0, expected: "metrics" }),
        }
    }

    /// Names of the metrics that the user asked for.
    fn named_metrics(&self) -> &[String] {
        match self {
            ProbeResponse::Metrics { named, .. } => named,
            _ => &[],
        }
    }
}

impl From<&ReadError> for Message {
    fn from(&ReadError { line, expected }: &ReadError) -> Message {
        message!("probe-unreadable", line = (line > 0).then(|| line.to_string()), expected)
    }
}
