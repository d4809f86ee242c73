//! Leases agents for a run, and watches over them

use super::discovery::{discover, random_id};
use super::local::LocalAgents;
use super::options::{FleetOptions, LabelSelector};
use crate::cli::CommandError;
use crate::measure::MeasureError;
use agent::clock_offset::OffsetTracker;
use agent::frame::Assembler;
use agent::nats::{Nats, TaskGuard, without_password};
use agent::protocol::{
    AgentAnswer, AgentRequest, Announcement, CHUNK, ChunkRequest, Heartbeat, Pulse, SILENCE_MAX,
    agent_subject, chunk_subject, from_bytes, heartbeat_period, heartbeat_subject, report_subject, to_bytes,
};
use agent::seal::{KeyHalf, LeaseKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use load::driver::Clock;
use model::Nanos;
use model::message;
use model::message::Message;
use stack::client::Address;
use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time in which an agent answers to a request.
pub(super) const ANSWER: Duration = Duration::from_secs(2);

/// Agents that this process has leased. Dropping it releases them.
#[derive(Debug)]
pub struct Fleet {
    pub(super) nats: Arc<Nats>,
    /// Identifier of the lease, which all its agents share.
    pub(super) lease: String,
    pub(super) agents: Vec<LeasedAgent>,
    select: Vec<LabelSelector>,
    grows: bool,
    heartbeat_period: Nanos,
    pub(super) clock: Clock,
    /// Number of the last trial.
    pub(super) trial: u32,
    /// Number of the next document. A number is never used for other bytes.
    pub(super) next_document: u32,
    shared: Arc<Mutex<Shared>>,
    /// Reports of the agents, by the number of the agent.
    pub(super) reports: Receiver<(u16, Vec<u8>)>,
    sender: Sender<(u16, Vec<u8>)>,
    _chunks: TaskGuard,
    /// Agents on this machine, which end last.
    _local: Option<LocalAgents>,
}

/// A leased agent.
#[derive(Debug)]
pub struct LeasedAgent {
    pub announcement: Announcement,
    pub(super) watch: Arc<Mutex<AgentWatch>>,
    _heartbeats: TaskGuard,
    _reports: TaskGuard,
}

/// Signs of life of an agent.
#[derive(Debug)]
pub(super) struct AgentWatch {
    /// Time of the last answer, by the fleet's clock.
    pub heard: Nanos,
    /// False if the agent answered that it is not leased.
    pub leased: bool,
    pub offset: OffsetTracker,
}

/// Data that the client's thread uses to answer agents.
#[derive(Debug, Default)]
struct Shared {
    keys: Vec<Arc<LeaseKey>>,
    /// Number of the first document, and the documents of the current trial.
    first: u32,
    documents: Vec<Vec<u8>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fleet {
    /// Leases as many agents as the options request. Fails, and releases all, if there are not enough.
    pub fn lease(options: &FleetOptions) -> Result<Fleet, CommandError> {
        let env = |name: &str| std::env::var(name).ok();
        let (local, settings) = match options.local {
            true => LocalAgents::start(options.agents).map(|(local, settings)| (Some(local), settings))?,
            false => (None, options.nats.resolve("pgdyno coordinator", &env)?),
        };
        let server = without_password(&settings.url);
        let nats = Arc::new(Nats::connect(&settings).map_err(|it| CommandError::usage(&it))?);
        let lease = random_id()?;
        let shared = Arc::new(Mutex::new(Shared::default()));
        let served = Arc::clone(&shared);
        let chunks = nats
            .serve(&chunk_subject(&lease), move |request| lock(&served).chunk(from_bytes(request)?))
            .map_err(|it| CommandError::new(&it))?;
        let (sender, reports) = channel();
        let mut fleet = Fleet {
            nats,
            lease,
            agents: Vec::new(),
            select: options.select.clone(),
            grows: options.grows,
            heartbeat_period: heartbeat_period(options.agents),
            clock: Clock::start(),
            trial: 0,
            next_document: 0,
            shared,
            reports,
            sender,
            _chunks: chunks,
            _local: local,
        };
        let found = discover(&fleet.nats, usize::MAX);
        let mut refused = Vec::new();
        for announcement in &found {
            if fleet.agents.len() == usize::from(options.agents) {
                break;
            }
            match fleet.lease_agent(fleet.agents.len(), announcement) {
                Ok(leased) => fleet.agents.push(leased),
                Err(reason) => refused.push(message!("agents-refused", agent = &announcement.agent, reason)),
            }
        }
        if fleet.agents.len() < usize::from(options.agents) {
            let (needed, leased) = (options.agents.to_string(), fleet.agents.len().to_string());
            let error = match found.len() {
                0 => message!("agents-none", server),
                _ => message!("agents-missing", needed, leased, server, refused = Message::join(refused)),
            };
            return Err(CommandError::usage(error));
        }
        Ok(fleet)
    }

    /// Leases one agent as number `number`, or returns the reason why it cannot be leased.
    fn lease_agent(&self, number: usize, announcement: &Announcement) -> Result<LeasedAgent, Message> {
        if announcement.duplicate {
            return Err(message!("agents-refused-duplicate"));
        }
        if let Some(selector) = self.select.iter().find(|it| !it.matches(&announcement.labels)) {
            return Err(message!("agents-refused-label", label = &selector.label));
        }
        let no_key = |_| message!("agents-refused-key");
        let half = KeyHalf::new().map_err(no_key)?;
        let request = AgentRequest::Lease {
            lease: self.lease.clone(),
            coordinator: coordinator_name(),
            version: version(),
            key: STANDARD.encode(half.public()),
        };
        let answer = self.nats.request(&agent_subject(&announcement.agent), to_bytes(&request), ANSWER);
        let key = match answer.ok().and_then(|it| from_bytes(&it)) {
            Some(AgentAnswer::Leased { key }) => key,
            Some(AgentAnswer::Busy { coordinator }) => {
                return Err(message!("agents-refused-busy", coordinator));
            }
            Some(AgentAnswer::OtherVersion { version: theirs }) => {
                return Err(message!("agents-refused-version", ours = version(), theirs));
            }
            _ => return Err(message!("agents-refused-silent")),
        };
        let public = STANDARD.decode(key).map_err(|_| message!("agents-refused-key"))?;
        let key = Arc::new(half.agree(&public, self.lease.as_bytes()).map_err(no_key)?);
        let mut shared = lock(&self.shared);
        match shared.keys.get_mut(number) {
            Some(replaced) => *replaced = key,
            None => shared.keys.push(key),
        }
        drop(shared);
        let (heartbeats, watch) = self.send_heartbeats(&announcement.agent);
        let (sender, mut assembler) = (self.sender.clone(), Assembler::default());
        let sent_number = number as u16;
        let reports = self
            .nats
            .serve(&report_subject(&self.lease, sent_number), move |frame| {
                if let Some(report) = assembler.add(frame).ok()? {
                    sender.send((sent_number, report)).ok()?;
                }
                Some(b"+".to_vec())
            })
            .map_err(|it| Message::from(&it))?;
        let announcement = announcement.clone();
        Ok(LeasedAgent { announcement, watch, _heartbeats: heartbeats, _reports: reports })
    }

    /// Leases up to `count` more idle agents. Returns the number of the agents that were added.
    pub fn grow(&mut self, count: usize) -> usize {
        let before = self.agents.len();
        for announcement in discover(&self.nats, usize::MAX) {
            if self.agents.len() == before + count {
                break;
            }
            let is_used = self.announcements().any(|it| it.agent == announcement.agent);
            if !is_used && let Ok(leased) = self.lease_agent(self.agents.len(), &announcement) {
                self.agents.push(leased);
            }
        }
        self.agents.len() - before
    }

    /// True if idle agents are to be added while the agents limit the load.
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Replaces agents that were lost in an earlier trial, possibly by themselves. Fails if there are not enough.
    pub fn replace_lost(&mut self) -> Result<(), MeasureError> {
        for number in 0..self.agents.len() {
            let Some(loss) = self.loss(number) else { continue };
            let lost = self.agents[number].announcement.agent.clone();
            let mut replacement = None;
            for announcement in discover(&self.nats, usize::MAX) {
                let is_used =
                    self.announcements().any(|it| it.agent == announcement.agent && it.agent != lost);
                if !is_used && let Ok(leased) = self.lease_agent(number, &announcement) {
                    replacement = Some(leased);
                    break;
                }
            }
            match replacement {
                Some(leased) => self.agents[number] = leased,
                None => {
                    let error = message!("agents-failed", agent = lost, reason = loss);
                    return Err(MeasureError::Agents(error));
                }
            }
        }
        Ok(())
    }

    /// Sends heartbeats to an agent, whose answers measure the offset of its clock.
    fn send_heartbeats(&self, agent: &str) -> (TaskGuard, Arc<Mutex<AgentWatch>>) {
        let clock = self.clock;
        let watch = AgentWatch { heard: clock.now(), leased: true, offset: OffsetTracker::default() };
        let watch = Arc::new(Mutex::new(watch));
        let (updated, lost) = (Arc::clone(&watch), Arc::clone(&watch));
        let reading = move |pulse: &[u8]| {
            let pulse: Pulse = from_bytes(pulse)?;
            lock(&lost).leased &= pulse.leased;
            Some(pulse.now)
        };
        let task = self.nats.measure_round_trips(
            &heartbeat_subject(agent),
            to_bytes(&Heartbeat { lease: self.lease.clone() }),
            Duration::from_nanos(self.heartbeat_period.0),
            move || clock.now(),
            reading,
            move |trip| {
                if let Some(trip) = trip {
                    let mut watch = lock(&updated);
                    watch.heard = trip.received;
                    watch.offset.add(trip);
                }
            },
        );
        (task, watch)
    }

    /// Sends a request to each of these agents at once, and returns the answers that arrived in time.
    pub(super) fn ask_all(
        &self,
        requests: &[(usize, AgentRequest)],
        timeout: Duration,
    ) -> Vec<(usize, Option<AgentAnswer>)> {
        let agents: Vec<usize> = requests.iter().map(|it| it.0).collect();
        let subject = |agent: usize| agent_subject(&self.agents[agent].announcement.agent);
        let requests = requests.iter().map(|(agent, it)| (subject(*agent), to_bytes(it))).collect();
        let answers = self.nats.request_all(requests, timeout);
        agents.into_iter().zip(answers.into_iter().map(|it| from_bytes(&it.ok()?))).collect()
    }

    /// Makes documents available to the agents, instead of the previous ones. Returns the number of the first one.
    pub(super) fn publish(&mut self, documents: Vec<Vec<u8>>) -> u32 {
        let first = self.next_document;
        self.next_document += documents.len() as u32;
        let mut shared = lock(&self.shared);
        (shared.first, shared.documents) = (first, documents);
        first
    }

    /// Error if the target is an address of this machine that means another machine to an agent.
    pub fn check_target(&self, address: &Address) -> Result<(), CommandError> {
        let (is_local, target) = match address {
            Address::Tcp(tcp) => (tcp.ip().is_loopback(), tcp.to_string()),
            Address::Unix(path) => (true, path.display().to_string()),
        };
        let machine = machine_id();
        match self.announcements().find(|it| is_local && it.machine != machine) {
            Some(remote) => {
                Err(CommandError::usage(message!("agents-loopback", target, agent = &remote.agent)))
            }
            None => Ok(()),
        }
    }

    /// Number of agents.
    pub fn len(&self) -> u16 {
        self.agents.len() as u16
    }

    pub fn announcements(&self) -> impl Iterator<Item = &Announcement> {
        self.agents.iter().map(|it| &it.announcement)
    }

    /// Reason why an agent cannot take part any more; `None` while it can.
    pub(super) fn loss(&self, agent: usize) -> Option<Message> {
        let now = self.clock.now();
        let watch = lock(&self.agents[agent].watch);
        if !watch.leased {
            return Some(message!("agents-lost-lease"));
        }
        let silence = now - watch.heard;
        (silence > SILENCE_MAX).then(|| {
            let seconds = format!("{:.1}", silence.as_secs_f64());
            match self.nats.is_connected() {
                true => message!("agents-lost-silent", seconds),
                false => message!("agents-lost-nats", seconds),
            }
        })
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let release = |agent| (agent, AgentRequest::Release { lease: self.lease.clone() });
        // Do not wait long for an agent that is gone; it notices the silence.
        self.ask_all(&(0..self.agents.len()).map(release).collect::<Vec<_>>(), Duration::from_millis(500));
    }
}

impl Shared {
    /// Encrypted chunk of a document, for the agent that asks for it.
    fn chunk(&self, request: ChunkRequest) -> Option<Vec<u8>> {
        let ChunkRequest { agent, document, chunk } = request;
        let bytes = self.documents.get(document.checked_sub(self.first)? as usize)?;
        let from = usize::try_from(chunk).ok()?.checked_mul(CHUNK)?;
        let bytes = bytes.get(from..bytes.len().min(from + CHUNK))?;
        self.keys.get(usize::from(agent))?.seal(document, chunk, bytes.to_vec()).ok()
    }
}

/// Version and build of this program. Agents and coordinator must have the same.
pub fn version() -> String {
    let commit = option_env!("PGDYNO_COMMIT").unwrap_or("unreleased");
    format!("{} ({commit})", env!("CARGO_PKG_VERSION"))
}

/// Identifier of the running system: it differs between machines, and after a reboot.
pub fn machine_id() -> String {
    let read = |path: &str| fs::read_to_string(path).map(|it| it.trim().to_owned()).unwrap_or_default();
    // Containers of one machine share the boot, but not the network namespace, in which loopback addresses count.
    let network = fs::read_link("/proc/self/ns/net").map(|it| it.display().to_string()).unwrap_or_default();
    format!("{} {network}", read("/proc/sys/kernel/random/boot_id"))
}

fn coordinator_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}, process {}", std::process::id())
}
