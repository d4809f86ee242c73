//! Benchmark, described like an experiment: system, operations, load, and the command that repeats it

use super::connect::ConnectedServer;
use super::options::{ArrivalModel, BenchOptions, HttpOptions, RunEnd, Source, WeightedScript};
use super::scripts::CompiledScripts;
use super::secret::{hide, hide_query};
use crate::connect_commands::{address, shell_quote};
use model::Nanos;
use model::plan::{
    AttachedNode, Expectation, Hooks, HttpStep, Limits, Load, LoadModel, Node, NodeKind, Operation,
    OperationKind, RequestBody, Service, Setup, Stack, Transport,
};
use model::product;
use model::summary::{Server, ServerTransport};
use stack::sampler::{SamplingTarget, SamplingTargetKind};
use std::path::PathBuf;
use store::NodeRecord;

/// System and load of a benchmark, as a run file records them. Contains no password.
#[derive(Clone, Debug)]
pub struct RecordedSystem {
    pub setup: Setup,
    pub nodes: Vec<NodeRecord>,
    /// Server to sample; `None` if it cannot be queried.
    pub sampled: Option<SamplingTarget>,
    /// Shell command that repeats the benchmark.
    pub command: String,
    /// Texts of the scripts or of the request.
    pub text: String,
}

/// Benchmark of PostgreSQL.
pub fn postgres(
    options: &BenchOptions,
    scripts: &CompiledScripts,
    connected: &ConnectedServer,
) -> RecordedSystem {
    let operation = |(script, text): (&WeightedScript, &String)| {
        let origin = match &script.source {
            Source::File(name) if name != "-" => Some(PathBuf::from(name)),
            Source::File(_) | Source::Builtin(_) => None,
        };
        let kind = OperationKind::Script { text: text.clone(), origin };
        let name = script_name(script);
        Operation { kind, sets: defines(options), ..Operation::script(name, script.weight, "") }
    };
    let operations: Vec<Operation> = options.scripts.iter().zip(&scripts.texts).map(operation).collect();
    let dsn = address(&connected.target);
    let kind = NodeKind::Attached(AttachedNode {
        dsn: dsn.clone(),
        admin: None,
        product: &product::POSTGRESQL,
        allow: None,
        other_sessions: 0,
        metrics: Vec::new(),
        servers: Vec::new(),
    });
    let sampled = connected.monitoring_target().map(|target| SamplingTarget {
        target: Some(target),
        ..SamplingTarget::new(product::POSTGRESQL.key, SamplingTargetKind::POSTGRES)
    });
    RecordedSystem { sampled, ..record(options, operations, kind, &connected.server, Some(dsn)) }
}

/// Name of a script's operation: the name of the built-in script or of the file.
pub fn script_name(script: &WeightedScript) -> &str {
    match &script.source {
        Source::Builtin(builtin) => builtin.name,
        Source::File(name) => name,
    }
}

/// Name of a request's operation, such as `GET /books`.
pub fn request_name(http_options: &HttpOptions) -> String {
    let path = http_options.url.target.split('?').next().unwrap_or_default();
    format!("{} {path}", http_options.method.name())
}

/// Benchmark of an HTTP service.
pub fn service(options: &BenchOptions, http_options: &HttpOptions, server: &Server) -> RecordedSystem {
    let HttpOptions { url, method, headers, body, expect, .. } = http_options;
    let header = |text: &String| {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        (name.trim().to_owned(), hide(name, value.trim()))
    };
    let step = HttpStep {
        headers: headers.iter().map(header).collect(),
        body: body.as_ref().map(|text| RequestBody::Text(hide(text, text))),
        expect: Expectation {
            status: expect.iter().map(|it| (*it.start(), *it.end())).collect(),
            ..Expectation::default()
        },
        ..HttpStep::new(method.name(), &hide_query(&url.target))
    };
    let name = request_name(http_options);
    let kind = OperationKind::Http(vec![step]);
    let operation = Operation { kind, sets: defines(options), ..Operation::script(&name, 1, "") };
    let scheme = if url.tls { "https" } else { "http" };
    let node = NodeKind::Service(Service {
        url: Some(format!("{scheme}://{}", url.host_header())),
        ready_path: "/".to_owned(),
        ..Service::default()
    });
    record(options, vec![operation], node, server, None)
}

fn record(
    options: &BenchOptions,
    operations: Vec<Operation>,
    kind: NodeKind,
    server: &Server,
    database: Option<String>,
) -> RecordedSystem {
    let (transport, transport_name) = match server.transport {
        ServerTransport::UnixSocket => (Transport::Unix, "unix"),
        ServerTransport::Tcp => (Transport::Tcp, "tcp"),
        ServerTransport::TcpTls { .. } => (Transport::Tls, "tls"),
    };
    let name = kind.product().key.to_owned();
    let node = NodeRecord {
        name: name.clone(),
        kind: kind.key().to_owned(),
        version: server.version.clone(),
        program: None,
        transport: transport_name.to_owned(),
        limits: Limits::default(),
        unapplied_limits: Vec::new(),
        configuration: Vec::new(),
    };
    let texts: Vec<String> = operations.iter().map(|it| format!("-- {}\n{}", it.name, it.text())).collect();
    let stack = Stack {
        nodes: vec![Node { name, kind, transport, limits: Limits::default() }],
        generator: Limits::default(),
        replication: None,
        hosts: Vec::new(),
    };
    let setup = Setup {
        stack,
        dataset: None,
        feeds: Vec::new(),
        on_start: None,
        operations,
        load: load(options),
        objectives: options.objectives.clone(),
        stop_rules: Vec::new(),
        faults: Vec::new(),
        invariants: Vec::new(),
        hooks: Hooks::default(),
    };
    let words =
        ["pgdyno".to_owned(), "bench".to_owned()].into_iter().chain(options.arguments.iter().cloned());
    let command = words.chain(database.map(|it| shell_quote(&it))).collect::<Vec<_>>().join(" ");
    RecordedSystem { setup, nodes: vec![node], sampled: None, command, text: texts.join("\n") }
}

fn load(options: &BenchOptions) -> Load {
    let clients = options.clients;
    let (duration, transactions) = match options.end {
        RunEnd::Seconds(seconds) => (Some(Nanos::from_secs(seconds.into())), None),
        RunEnd::Transactions(each) => (None, Some(each)),
        RunEnd::ScheduleEnds => (None, None),
    };
    let model = match &options.pace {
        ArrivalModel::Closed { think } => LoadModel::Closed { clients, think: *think },
        ArrivalModel::Rate { rate, spacing } => {
            // A load that ends after a number of transactions has no duration, so estimate it from the rate.
            let needed = || f64::from(transactions.unwrap_or(0)) * f64::from(clients) / rate.0;
            let seconds = duration.map_or_else(|| needed().ceil().max(1.0), Nanos::as_secs_f64);
            let schedule = format!("const({},{seconds}s)", rate.0);
            LoadModel::Open { schedule, arrivals: *spacing, max_in_flight: clients }
        }
        ArrivalModel::Schedule { text, spacing, .. } => {
            LoadModel::Open { schedule: text.clone(), arrivals: *spacing, max_in_flight: clients }
        }
    };
    let http = options.http.as_ref();
    Load {
        model,
        duration,
        transactions,
        traffic: None,
        warmup: Nanos::ZERO,
        threads: u16::try_from(options.threads).unwrap_or(u16::MAX),
        query_mode: options.mode,
        reconnect: options.reconnect,
        connect_timeout: None,
        first_byte_timeout: http.and_then(|it| it.first_byte_timeout),
        cookies: false,
        timeout: http.and_then(|it| it.response_timeout),
        max_tries: u16::try_from(options.max_tries).unwrap_or(u16::MAX),
        new_clients: 0,
        slack: options.slack,
    }
}

/// Variables of `-D`, without values that may be passwords.
fn defines(options: &BenchOptions) -> Vec<(String, String)> {
    options.defines.iter().map(|(name, value)| (name.clone(), hide(name, value))).collect()
}
