//! Who keeps a stack up while nobody waits for it?
//!
//! Our own program, executed again in a session of its own. It owns the lab; whoever asks for the stack does so at its
//! socket. When it ends, in whatever way, the keeper ends the stack.

use super::connect_commands;
use super::directory::StackDirectory;
use super::status::{NodeState, NodeStatus, StackState, StackStatus};
use crate::check;
use crate::run::test_bed::{SetupError, TestBed};
use crate::run::trial::transport_name;
use crate::run::update;
use model::plan::{AttachedRole, Limits, NodeKind, Setup};
use report::lang::En;
use report::lang::live::LiveWords as _;
use report::live::Activity;
use rustix::event::{PollFd, PollFlags, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use stack::chain::RunningNode;
use stack::limits::{Limit, UnappliedLimit};
use stack::supervisor::NodeId;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is to be kept up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StackRequest {
    pub name: String,
    /// The directory of the [`Place`].
    pub place: PathBuf,
    pub file: PathBuf,
    pub cell: Vec<(String, String)>,
    pub setup: Setup,
    /// In seconds; for ever when `None`.
    pub lifetime: Option<u64>,
}

/// What whoever asked for it hears, until it is up or cannot be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StartMessage {
    /// What takes a while.
    Doing(String),
    /// What is worth keeping on the screen.
    Done(String),
    Up(StackStatus),
    /// And a hint. Everything is gone.
    Failed(String, Option<String>),
}

/// What can be asked at the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StackQuery {
    /// Answered with [`Told`].
    Status,
    /// Answered with [`Told`] as it was, and then by the end of the connection, when everything is gone.
    Down,
}

/// Whoever connects to the socket and does not ask within this time is not heard.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the holder: standard input is a socket to whoever wants the stack. Never of use to a person.
pub fn main() -> ExitCode {
    let caller = match rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) {
        Ok(it) => UnixStream::from(it),
        Err(_) => return ExitCode::from(2),
    };
    // A session of our own: the end of the terminal is not ours.
    let _ = rustix::process::setsid();
    let Ok(order) = receive_line::<StackRequest>(&caller) else { return ExitCode::from(2) };
    let left =
        PlaceCleanup { place: StackDirectory::from_checked(order.place.clone()), name: order.name.clone() };
    let ended = run(&order, &left.place, &caller);
    // Whoever hears that it failed finds nothing any more.
    drop(left);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err((why, hint)) => {
            send_line(&caller, &StartMessage::Failed(why, hint));
            ExitCode::FAILURE
        }
    }
}

/// What we leave in the place, removed at our end.
struct PlaceCleanup {
    place: StackDirectory,
    name: String,
}

impl Drop for PlaceCleanup {
    fn drop(&mut self) {
        self.place.clear(&self.name);
    }
}

/// What the one who listens tells the one who works.
enum Message {
    Query(StackQuery, UnixStream),
    End,
}

/// Known to both.
struct HolderState {
    request: StackRequest,
    begun: Instant,
    stop: Arc<AtomicBool>,
    up: AtomicBool,
    activity: Mutex<String>,
}

/// Until somebody wants the end. Everything that was started is gone when it returns.
fn run(
    order: &StackRequest,
    place: &StackDirectory,
    caller: &UnixStream,
) -> Result<(), (String, Option<String>)> {
    let failed =
        |error: &dyn std::fmt::Display| (format!("who holds the stack could not begin: {error}"), None);
    let shared = Arc::new(HolderState {
        request: order.clone(),
        begun: Instant::now(),
        stop: Arc::default(),
        up: AtomicBool::new(false),
        activity: Mutex::new("it has just begun".to_owned()),
    });
    let signals = signals(&shared.stop).map_err(|it| failed(&it))?;
    let socket = place.socket(&order.name);
    let listener =
        UnixListener::bind(&socket).map_err(|it| failed(&format!("{}: {it}", socket.display())))?;
    let ears = EventSource { listener, signals, caller: Some(caller.try_clone().map_err(|it| failed(&it))?) };
    let (tell, told) = channel();
    let heard = Arc::clone(&shared);
    std::thread::spawn(move || ears.poll(&heard, &tell));

    let mut lab =
        TestBed::start(Arc::clone(&shared.stop), Arc::default()).map_err(|it| (it.message, it.hint))?;
    let mut last = Instant::now();
    lab.set_up(&order.setup, &mut |it| {
        let Some(told) = update::display_update(&it) else { return };
        let often = matches!(told, update::DisplayUpdate::Transient(Activity::Loading { .. }));
        if often && last.elapsed() < update::LOADING_INTERVAL {
            return;
        }
        last = Instant::now();
        let word = start_message(&told);
        if let StartMessage::Doing(it) = &word {
            shared.activity.lock().unwrap_or_else(PoisonError::into_inner).clone_from(it);
        }
        send_line(caller, &word);
    })
    .map_err(|it| (it.to_string(), None))?;
    if shared.stop.load(Ordering::Relaxed) {
        return Err((SetupError::Stopped.to_string(), None));
    }
    let mut held = RunningStack::new(lab, &shared)
        .map_err(|it| (format!("could not write the passwords: {it}"), None))?;
    shared.up.store(true, Ordering::Relaxed);
    send_line(caller, &StartMessage::Up(held.status(&shared)));
    held.serve(&shared, &told);
    Ok(())
}

/// The stack, up.
struct RunningStack {
    test_bed: TestBed,
    /// What does not change of each node.
    nodes: Vec<(Option<NodeId>, NodeStatus)>,
    deadline: Option<Instant>,
}

impl RunningStack {
    fn new(lab: TestBed, shared: &HolderState) -> io::Result<RunningStack> {
        // The keeper removes its directory, and with it the passwords.
        let directory = lab.supervisor.directory();
        let passwords = directory.join("pgpass");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&passwords)?;
        file.write_all(connect_commands::pgpass_file(lab.chain().nodes()).as_bytes())?;
        let root = directory.join("tls-root.pem");
        let node = |it: &RunningNode| {
            let not_applied = it.node.map_or(&[][..], |id| lab.supervisor.not_applied(id));
            let node = NodeStatus {
                name: it.plan.name.clone(),
                description: describe_node(it),
                condition: NodeState::Attached,
                pid: None,
                program: it.program.clone(),
                address: it.endpoint.address.to_string(),
                transport: transport_name(&it.hop).to_owned(),
                connect_commands: connect_commands::for_node(it, &passwords, &root),
                limits: check::limits(&applied_limits(&it.plan.limits, not_applied)),
                not_applied: not_applied.iter().map(ToString::to_string).collect(),
                log: it.log.clone(),
            };
            (it.node, node)
        };
        let nodes = lab.chain().nodes().iter().map(node).collect();
        let until = shared.request.lifetime.map(|it| Instant::now() + Duration::from_secs(it));
        Ok(RunningStack { test_bed: lab, nodes, deadline: until })
    }

    /// Answers until somebody wants the end.
    fn serve(&mut self, shared: &HolderState, told: &Receiver<Message>) {
        loop {
            let message = match self.deadline {
                Some(it) => told.recv_timeout(it.saturating_duration_since(Instant::now())),
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Query(StackQuery::Status, stream)) => send_line(&stream, &self.status(shared)),
                Ok(Message::Query(StackQuery::Down, stream)) => {
                    send_line(&stream, &self.status(shared));
                    // It stays open until we are gone.
                    std::mem::forget(stream);
                    return;
                }
                Ok(Message::End) | Err(_) => return,
            }
        }
    }

    fn status(&mut self, shared: &HolderState) -> StackStatus {
        let supervisor = &mut self.test_bed.supervisor;
        let mut now = |(id, node): &(Option<NodeId>, NodeStatus)| {
            let Some(id) = *id else { return node.clone() };
            let ended = supervisor.end_of(id).map(|it| format!("it {it}{}", supervisor.end_reason(id)));
            let pid = supervisor.pid(id);
            // Had the keeper been killed we would hear of no end.
            let gone = || pid.is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists());
            let ended = ended.or_else(|| gone().then(|| "its process is gone".to_owned()));
            NodeStatus { condition: ended.map_or(NodeState::Running, NodeState::Ended), pid, ..node.clone() }
        };
        let nodes = self.nodes.iter().map(&mut now).collect();
        let left = self.deadline.map(|it| it.saturating_duration_since(Instant::now()).as_secs());
        StackStatus { seconds_left: left, ..shared.status(StackState::Up(nodes)) }
    }
}

impl HolderState {
    fn status(&self, state: StackState) -> StackStatus {
        StackStatus {
            name: self.request.name.clone(),
            file: self.request.file.clone(),
            cell: self.request.cell.clone(),
            pid: std::process::id(),
            seconds: self.begun.elapsed().as_secs(),
            seconds_left: None,
            state,
        }
    }
}

/// Everything that may be heard.
struct EventSource {
    listener: UnixListener,
    /// Readable after a signal.
    signals: UnixStream,
    /// Who asked for the stack; whatever comes from there before it is up means that it is wanted no more.
    caller: Option<UnixStream>,
}

impl EventSource {
    fn poll(mut self, shared: &HolderState, tell: &Sender<Message>) {
        let end = || {
            shared.stop.store(true, Ordering::Relaxed);
            let _ = tell.send(Message::End);
        };
        loop {
            let mut fds =
                vec![PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            fds.extend(self.caller.as_ref().map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
            let _ = poll(&mut fds, None);
            let ready: Vec<bool> = fds.iter().map(|it| !it.revents().is_empty()).collect();
            if ready[1] {
                let _ = self.signals.read(&mut [0; 64]);
                end();
            }
            if ready.get(2) == Some(&true) {
                if !shared.up.load(Ordering::Relaxed) {
                    end();
                }
                self.caller = None;
            }
            if ready[0]
                && let Ok((stream, _)) = self.listener.accept()
            {
                let _ = stream.set_read_timeout(Some(QUERY_TIMEOUT));
                let _ = stream.set_write_timeout(Some(QUERY_TIMEOUT));
                let Ok(question) = receive_line::<StackQuery>(&stream) else { continue };
                if !shared.up.load(Ordering::Relaxed) {
                    let doing = shared.activity.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    send_line(&stream, &shared.status(StackState::Starting(doing)));
                    if question == StackQuery::Status {
                        continue;
                    }
                }
                if question == StackQuery::Down {
                    shared.stop.store(true, Ordering::Relaxed);
                }
                let _ = tell.send(Message::Query(question, stream));
            }
        }
    }
}

/// The first signal ends what goes on, and is heard here; the second one ends us at once.
fn signals(stop: &Arc<AtomicBool>) -> io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    Ok(ours)
}

fn start_message(it: &update::DisplayUpdate) -> StartMessage {
    match it {
        update::DisplayUpdate::Transient(it) => StartMessage::Doing(En.doing(it)),
        update::DisplayUpdate::Permanent(it) => StartMessage::Done(En.milestone(it)),
    }
}

/// `PostgreSQL 15.18`.
fn describe_node(it: &RunningNode) -> String {
    let name = match &it.plan.kind {
        NodeKind::Postgres(_) => "PostgreSQL",
        NodeKind::PgBouncer(_) => "PgBouncer",
        NodeKind::Odyssey(_) => "Odyssey",
        NodeKind::HaProxy(_) => "HAProxy",
        NodeKind::Service(_) => "service",
        NodeKind::Attached(it) => match it.role {
            AttachedRole::Postgres => "PostgreSQL",
            AttachedRole::PgBouncer => "PgBouncer",
            AttachedRole::Odyssey => "Odyssey",
            AttachedRole::Balancer => "balancer",
        },
    };
    // Poolers tell their name too.
    let named = it.version.to_lowercase().starts_with(&name.to_lowercase());
    if named { it.version.clone() } else { format!("{name} {}", it.version) }
}

/// Those limits that hold.
fn applied_limits(wanted: &Limits, not: &[UnappliedLimit]) -> Limits {
    let mut hold = wanted.clone();
    for it in not {
        match it.limit {
            Limit::Cpu => hold.cpu = None,
            Limit::Memory => hold.memory = None,
            Limit::ReadIops => hold.read_iops = None,
            Limit::WriteIops => hold.write_iops = None,
            Limit::ReadBps => hold.read_bps = None,
            Limit::WriteBps => hold.write_bps = None,
            Limit::Cpus => hold.cpus.clear(),
        }
    }
    hold
}

/// One line. Who does not listen any more is none of our business.
pub fn send_line(mut to: &UnixStream, it: &impl Serialize) {
    let mut line = serde_json::to_vec(it).expect("plain data");
    line.push(b'\n');
    let _ = to.write_all(&line);
}

/// One line, and nothing behind it.
pub fn receive_line<T: DeserializeOwned>(from: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    let mut reader = BufReader::new(from);
    reader.read_line(&mut line)?;
    if !reader.buffer().is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    serde_json::from_str(&line).map_err(Into::into)
}
