//! `pgdyno agent`: generates load for a coordinator on another machine

mod assigned_load;
mod fetch;
mod listener;
mod reporter;
#[cfg(test)]
mod simulated;
mod state;

use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::fleet::assignment::Assignment;
use crate::fleet::event::SentEvent;
use crate::fleet::options::{NatsArgs, parse_pair};
use crate::fleet::{discover, machine_id, version};
use crate::measure::{self, MeasureError};
use crate::signals::Signals;
use agent::interval::encode_histogram;
use agent::nats::{Nats, without_password};
use agent::protocol::{
    AgentMeasurement, Announcement, Assign, DISCOVER, Heartbeat, ReportBody, agent_subject, from_bytes,
    heartbeat_subject, to_bytes,
};
use assigned_load::AllowList;
use clap::Parser;
use listener::ReportingListener;
use load::driver::{Clock, Driver};
use model::message;
use model::message::Message;
use model::{HistogramEncoder, Measurement};
use reporter::ReportQueue;
use rustix::process::{Resource, getrlimit};
use stack::host::HostMonitor;
use state::{AgentState, Trial};
use std::fs;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Generate load for a coordinator: join its NATS server and wait for assignments
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno agent")]
pub struct Args {
    #[command(flatten)]
    nats: NatsArgs,
    /// Name of this agent, one word [default: the host name and the process id]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// Label by which coordinators select agents, such as zone=a; repeatable
    #[arg(long = "labels", value_name = "LABEL=VALUE", value_delimiter = ',', value_parser = parse_pair)]
    labels: Vec<(String, String)>,
    /// Host, address or network that this agent may load, such as db.internal or 10.0.0.0/8; repeatable; `any` allows
    /// all [default: this machine only]
    #[arg(long = "allow", value_name = "HOST", value_delimiter = ',')]
    allow: Vec<String>,
    /// Lease of one coordinator, after which the agent exits
    #[arg(long)]
    once: bool,
}

/// Time for which timer jitter is measured before the announcement.
const JITTER_TIME: Duration = Duration::from_millis(500);
/// Interval between two looks at the lease and at signals while the agent is idle.
const IDLE_INTERVAL: Duration = Duration::from_millis(100);

fn parse_name(text: &str) -> Result<String, String> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    match !text.is_empty() && text.chars().all(is_word) {
        true => Ok(text.to_owned()),
        false => Err("write letters, digits, - and _".to_owned()),
    }
}

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno agent", args, run)
}

/// Locks the agent's state.
fn lock(state: &Mutex<AgentState>) -> MutexGuard<'_, AgentState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let allow = AllowList::new(&args.allow)?;
    let env = |name: &str| std::env::var(name).ok();
    let settings = args.nats.resolve("pgdyno agent", &env)?;
    let server = without_password(&settings.url);
    let signals = Signals::default().listen()?;
    let nats = Arc::new(Nats::connect(&settings).map_err(|it| CommandError::usage(&it))?);
    let announcement = announce(args, &allow);
    let name = announcement.agent.clone();
    if discover(&nats, usize::MAX).iter().any(|it| it.agent == name) {
        return Err(CommandError::usage(message!("agents-name-taken", name, server)));
    }
    let clock = Clock::start();
    let (assigned, assignments) = channel();
    let state = Arc::new(Mutex::new(AgentState::new(version(), assigned)));
    let answered = Arc::clone(&state);
    let answer = move |request: &[u8]| {
        let answer = lock(&answered).answer(from_bytes(request)?, clock.now());
        Some(to_bytes(&answer))
    };
    let beating = Arc::clone(&state);
    let pulse = move |heartbeat: &[u8]| {
        let Heartbeat { lease } = from_bytes(heartbeat)?;
        // Read the clock last, because the reading is compared with the coordinator's clock.
        let mut state = lock(&beating);
        let leased = state.hear(&lease, clock.now());
        Some(to_bytes(&agent::protocol::Pulse { now: clock.now(), leased }))
    };
    let discovered = Arc::clone(&state);
    let describe = move |_: &[u8]| {
        let leased_by = lock(&discovered).coordinator().map(str::to_owned);
        Some(to_bytes(&Announcement { leased_by, ..announcement.clone() }))
    };
    let failed = |error: agent::nats::NatsError| CommandError::new(&error);
    let _requests = nats.serve(&agent_subject(&name), answer).map_err(failed)?;
    let _heartbeats = nats.serve(&heartbeat_subject(&name), pulse).map_err(failed)?;
    let _discovery = nats.serve(DISCOVER, describe).map_err(failed)?;
    terminal.info(&format!("agent {name} waits for assignments at {server}; it may load {allow}"));
    // The reporter of the current lease, with the number of the lease.
    let mut reporter: Option<(u64, ReportQueue)> = None;
    let mut served = false;
    loop {
        match assignments.recv_timeout(IDLE_INTERVAL) {
            Ok(assign) => {
                served = true;
                // Without a trial, the lease ended before the assignment was read.
                let Some(trial) = lock(&state).trial().cloned() else { continue };
                if reporter.as_ref().is_none_or(|it| it.0 != trial.lease) {
                    let new = ReportQueue::start(Arc::clone(&nats), Arc::clone(&state), &assign, clock)?;
                    reporter = Some((trial.lease, new));
                }
                let (_, reporter) = reporter.as_ref().expect("created above");
                let load = AgentTrial {
                    nats: &nats,
                    state: &state,
                    clock,
                    assign: &assign,
                    trial: &trial,
                    allow: &allow,
                };
                let ended = load.run(reporter);
                reporter.report(assign.trial, ended);
                reporter.flush();
                lock(&state).end_trial(&trial);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the state has the sender"),
        }
        let leased = lock(&state).check_silence(clock.now());
        if signals.interrupted.load(Ordering::Relaxed) || (args.once && served && !leased) {
            return Ok(ExitStatus::Success);
        }
    }
}

/// One trial of this agent.
struct AgentTrial<'a> {
    nats: &'a Nats,
    state: &'a Arc<Mutex<AgentState>>,
    clock: Clock,
    assign: &'a Assign,
    trial: &'a Trial,
    allow: &'a AllowList,
}

impl AgentTrial<'_> {
    /// Fetches the assignment and runs its load. Returns the last report.
    fn run(&self, reporter: &ReportQueue) -> ReportBody<SentEvent> {
        let AgentTrial { nats, state, clock, assign, trial, allow } = *self;
        let documents = match fetch::documents(nats, state, assign) {
            Ok(documents) => documents,
            Err(error) => return ReportBody::Failed(error),
        };
        let Some((assignment, feeds)) = documents.split_first() else {
            return ReportBody::Failed(message!("agents-lost-damaged"));
        };
        let Some(assignment) = from_bytes::<Assignment>(assignment) else {
            return ReportBody::Failed(message!("agents-lost-damaged"));
        };
        let part = (assign.agent, assign.agents);
        let config = match assigned_load::prepare(&assignment, feeds, part, &trial.abandon, allow) {
            Ok(config) => config,
            Err(error) => return ReportBody::Failed(error.message),
        };
        drop(assignment);
        let mut listener = ReportingListener::new(state, reporter, assign.trial, clock);
        match measure::run(&config, clock, &mut listener, &trial.stop) {
            Ok(measurement) => ReportBody::Done(Box::new(to_report(&measurement))),
            Err(MeasureError::Stopped) => ReportBody::Stopped,
            Err(MeasureError::System(error)) => {
                ReportBody::Failed(message!("failure-load-start", error = Message::from(&error)))
            }
            // The coordinator counts the clients of all agents.
            Err(MeasureError::NoClientConnected) => {
                reporter.report(assign.trial, ReportBody::Settled { connected: 0 });
                ReportBody::Stopped
            }
            Err(MeasureError::Agents(error)) => ReportBody::Failed(error),
        }
    }
}

fn to_report(measurement: &Measurement) -> AgentMeasurement {
    AgentMeasurement {
        window: measurement.window,
        clients: measurement.clients.clone(),
        thread_usage: measurement.thread_usage.clone(),
        connect_time: measurement.connect_time,
        aborted_clients: measurement.aborted_clients,
        jitter: encode_histogram(&measurement.jitter, &mut HistogramEncoder::new()),
        suspended: measurement.suspended,
        steal_time: measurement.steal_time,
        exhausted_connects: measurement.exhausted_connects,
    }
}

/// Describes this agent and its machine.
fn announce(args: &Args, allow: &AllowList) -> Announcement {
    let monitor = HostMonitor::start();
    thread::sleep(JITTER_TIME);
    let jitter = monitor.stop().jitter.quantile(0.9);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let word: String = host.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    let pid = std::process::id();
    let available = |driver: &Driver| driver.is_available();
    Announcement {
        agent: args.name.clone().unwrap_or_else(|| format!("{word}-{pid}")),
        version: version(),
        host,
        machine: machine_id(),
        pid,
        cpus: thread::available_parallelism().map_or(1, |it| it.get() as u32),
        files: getrlimit(Resource::Nofile).maximum,
        ports: local_ports(),
        jitter,
        drivers: Driver::ALL.into_iter().filter(available).map(|it| it.name().to_owned()).collect(),
        labels: args.labels.iter().cloned().collect(),
        allow: allow.names(),
        leased_by: None,
        duplicate: false,
    }
}

/// Number of local ports for connections to one address; `ip(7)`, `ip_local_port_range`.
fn local_ports() -> u32 {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let numbers: Vec<u32> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    match numbers[..] {
        [first, last] if last >= first => last - first + 1,
        // The kernel's default range.
        _ => 60999 - 32768 + 1,
    }
}
