//! Background process that holds a running stack
//!
//! The process executes this program again, in its own session. It owns the test bed and answers queries on a socket.
//! When it exits, however it exits, the keeper stops the stack.

use super::directory::StackDirectory;
use super::status::{NodeState, NodeStatus, StackState, StackStatus};
use crate::check;
use crate::cli::CommandError;
use crate::connect_commands;
use crate::exit_status::ExitStatus;
use crate::run::known_nodes::KnownNodes;
use crate::run::test_bed::{SetupError, TestBed};
use crate::run::trial::{transport_name, unapplied_limit};
use crate::run::update;
use model::message;
use model::message::Message;
use model::plan::{Limits, Setup};
use report::lang::{self, Lang, english};
use report::live::Activity;
use report::say;
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Request to hold a stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StackRequest {
    pub name: String,
    /// Path of the [`StackDirectory`].
    pub place: PathBuf,
    pub file: PathBuf,
    pub cell: Vec<(String, String)>,
    pub setup: Setup,
    /// Lifetime in seconds; unlimited if `None`.
    pub lifetime: Option<u64>,
    /// Code of the language of the holder's messages.
    pub lang: String,
}

/// Messages to the requesting process until the stack runs or its start has failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StartMessage {
    /// Transient progress message.
    Doing(String),
    /// Permanent progress message.
    Done(String),
    Up(StackStatus),
    /// Error and hint. All processes and files of the stack have been removed.
    Failed(Message, Option<String>),
}

/// Queries on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StackQuery {
    /// Query that is answered with [`StackStatus`].
    Status,
    /// Request to stop the stack, answered with the last [`StackStatus`]. The connection closes when all processes and
    /// files are removed.
    Down,
}

/// Timeout for receiving the query on a connection.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the holder. Standard input is a socket to the requesting process. Not intended for users.
pub fn main() -> ExitStatus {
    let caller = match rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) {
        Ok(it) => UnixStream::from(it),
        Err(_) => return ExitStatus::Incomplete,
    };
    // Start a new session, so that the holder survives the end of the terminal.
    let _ = rustix::process::setsid();
    let Ok(order) = receive_line::<StackRequest>(&caller) else { return ExitStatus::Incomplete };
    let left =
        PlaceCleanup { place: StackDirectory::from_checked(order.place.clone()), name: order.name.clone() };
    let ended = run(&order, &left.place, &caller);
    // Remove the files before the failure is reported.
    drop(left);
    match ended {
        Ok(()) => ExitStatus::Success,
        Err(CommandError { message, hint, .. }) => {
            send_line(&caller, &StartMessage::Failed(message, hint));
            ExitStatus::Failed
        }
    }
}

/// Removes the holder's files on drop.
struct PlaceCleanup {
    place: StackDirectory,
    name: String,
}

impl Drop for PlaceCleanup {
    fn drop(&mut self) {
        self.place.clear(&self.name);
    }
}

/// Messages from the listener thread to the main thread.
enum HolderEvent {
    Query(StackQuery, UnixStream),
    End,
}

/// State shared by both threads.
struct HolderState {
    request: StackRequest,
    lang: &'static Lang,
    begun: Instant,
    stop: Arc<AtomicBool>,
    up: AtomicBool,
    activity: Mutex<String>,
}

/// Runs the stack until its end is requested. When the function returns, all processes and files of the stack are
/// removed.
fn run(order: &StackRequest, place: &StackDirectory, caller: &UnixStream) -> Result<(), CommandError> {
    let lang = lang::find(&order.lang).unwrap_or_else(english);
    let failed = |error: Message| CommandError::new(message!("stack-holder-failed", error));
    let shared = Arc::new(HolderState {
        request: order.clone(),
        lang,
        begun: Instant::now(),
        stop: Arc::default(),
        up: AtomicBool::new(false),
        activity: Mutex::new(lang.activity(&Activity::SettingUp)),
    });
    let signals = signals(&shared.stop).map_err(|it| failed((&it).into()))?;
    let socket = place.socket(&order.name);
    let listener = UnixListener::bind(&socket).map_err(|it| failed(Message::of_file(&socket, &it)))?;
    let ears = EventSource {
        listener,
        signals,
        caller: Some(caller.try_clone().map_err(|it| failed((&it).into()))?),
    };
    let (sender, receiver) = channel();
    let heard = Arc::clone(&shared);
    std::thread::spawn(move || ears.poll(&heard, &sender));

    let mut test_bed = TestBed::start(Arc::clone(&shared.stop), Arc::default())?;
    let mut last = Instant::now();
    test_bed
        .set_up(&order.setup, &KnownNodes::default(), &mut |it| {
            let Some(change) = update::display_update(&it) else { return };
            let often = matches!(change, update::DisplayUpdate::Transient(Activity::Loading { .. }));
            if often && last.elapsed() < update::LOADING_INTERVAL {
                return;
            }
            last = Instant::now();
            let message = start_message(&change, lang);
            if let StartMessage::Doing(activity) = &message {
                shared.activity.lock().unwrap_or_else(PoisonError::into_inner).clone_from(activity);
            }
            send_line(caller, &message);
        })
        .map_err(|error| CommandError::new(error.message()))?;
    if shared.stop.load(Ordering::Relaxed) {
        return Err(CommandError::new(SetupError::Stopped.message()));
    }
    let mut held = RunningStack::new(test_bed, &shared).map_err(|error| {
        CommandError::new(message!("stack-passwords-failed", error = Message::from(&error)))
    })?;
    shared.up.store(true, Ordering::Relaxed);
    send_line(caller, &StartMessage::Up(held.status(&shared)));
    held.serve(&shared, &receiver);
    Ok(())
}

/// The running stack.
struct RunningStack {
    test_bed: TestBed,
    /// Node ids, and the constant part of each node's status.
    nodes: Vec<(Option<NodeId>, NodeStatus)>,
    deadline: Option<Instant>,
}

impl RunningStack {
    fn new(test_bed: TestBed, shared: &HolderState) -> io::Result<RunningStack> {
        // The keeper removes this directory, and the passwords with it.
        let directory = test_bed.supervisor.directory();
        let passwords = directory.join("pgpass");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&passwords)?;
        file.write_all(connect_commands::pgpass_file(test_bed.chain().nodes()).as_bytes())?;
        let root = directory.join("tls-root.pem");
        let node = |running: &RunningNode| {
            let not_applied = running.node.map_or(&[][..], |id| test_bed.supervisor.not_applied(id));
            let node = NodeStatus {
                name: running.plan.name.clone(),
                description: describe_node(running),
                condition: NodeState::Attached,
                pid: None,
                program: running.program.clone(),
                address: running.endpoint.address.to_string(),
                transport: transport_name(&running.hop).to_owned(),
                connect_commands: connect_commands::for_node(running, &passwords, &root),
                limits: check::limits(&applied_limits(&running.plan.limits, not_applied), shared.lang),
                not_applied: not_applied
                    .iter()
                    .map(|it| shared.lang.unapplied_limit(&unapplied_limit(&running.plan.name, it)))
                    .collect(),
                log: running.log.clone(),
            };
            (running.node, node)
        };
        let nodes = test_bed.chain().nodes().iter().map(node).collect();
        let deadline = shared.request.lifetime.map(|it| Instant::now() + Duration::from_secs(it));
        Ok(RunningStack { test_bed, nodes, deadline })
    }

    /// Answers queries until the end is requested.
    fn serve(&mut self, shared: &HolderState, receiver: &Receiver<HolderEvent>) {
        loop {
            let message = match self.deadline {
                Some(it) => receiver.recv_timeout(it.saturating_duration_since(Instant::now())),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(HolderEvent::Query(StackQuery::Status, stream)) => {
                    send_line(&stream, &self.status(shared));
                }
                Ok(HolderEvent::Query(StackQuery::Down, stream)) => {
                    send_line(&stream, &self.status(shared));
                    // Leak the stream, so that the connection remains open until the process exits.
                    std::mem::forget(stream);
                    return;
                }
                Ok(HolderEvent::End) | Err(_) => return,
            }
        }
    }

    fn status(&mut self, shared: &HolderState) -> StackStatus {
        let supervisor = &mut self.test_bed.supervisor;
        let mut now = |(id, node): &(Option<NodeId>, NodeStatus)| {
            let Some(id) = *id else { return node.clone() };
            let ended = supervisor.end_of(id).map(|end| {
                let reason = supervisor.end_reason(id);
                say!(shared.lang, "node-ended", end = Message::from(end), reason)
            });
            let pid = supervisor.pid(id);
            // If the keeper was killed, it cannot report that a node ended.
            let is_gone = || pid.is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists());
            let ended = ended.or_else(|| is_gone().then(|| say!(shared.lang, "stack-process-gone")));
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

/// Sources of events for the holder.
struct EventSource {
    listener: UnixListener,
    /// Readable after a signal.
    signals: UnixStream,
    /// Socket to the requesting process. Data or end of file on this socket cancels the request, until the stack runs.
    caller: Option<UnixStream>,
}

impl EventSource {
    fn poll(mut self, shared: &HolderState, sender: &Sender<HolderEvent>) {
        let end = || {
            shared.stop.store(true, Ordering::Relaxed);
            let _ = sender.send(HolderEvent::End);
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
                let _ = sender.send(HolderEvent::Query(question, stream));
            }
        }
    }
}

/// Socket that reports signals. The first signal ends the stack; the second signal ends the process at once.
fn signals(stop: &Arc<AtomicBool>) -> io::Result<UnixStream> {
    let (read_end, write_end) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
        signal_hook::low_level::pipe::register(signal, write_end.try_clone()?)?;
    }
    Ok(read_end)
}

fn start_message(update: &update::DisplayUpdate, lang: &Lang) -> StartMessage {
    match update {
        update::DisplayUpdate::Transient(activity) => StartMessage::Doing(lang.activity(activity)),
        update::DisplayUpdate::Permanent(milestone) => StartMessage::Done(lang.milestone(milestone)),
    }
}

/// Product and version of a node, such as `PostgreSQL 15.18`.
fn describe_node(node: &RunningNode) -> String {
    let name = node.plan.kind.product().name;
    // The version text of a pooler already contains the product's name.
    let named = node.version.to_lowercase().starts_with(&name.to_lowercase());
    if named { node.version.clone() } else { format!("{name} {}", node.version) }
}

/// Requested limits, except those that could not be applied.
fn applied_limits(limits: &Limits, not: &[UnappliedLimit]) -> Limits {
    let mut hold = limits.clone();
    for unapplied in not {
        match unapplied.limit {
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

/// Writes one line of JSON. Ignores errors, because the receiver may be gone.
pub fn send_line(mut to: &UnixStream, message: &impl Serialize) {
    let mut line = serde_json::to_vec(message).expect("plain data can be serialised");
    line.push(b'\n');
    let _ = to.write_all(&line);
}

/// Reads exactly one line of JSON.
pub fn receive_line<T: DeserializeOwned>(from: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    let mut reader = BufReader::new(from);
    reader.read_line(&mut line)?;
    if !reader.buffer().is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    serde_json::from_str(&line).map_err(Into::into)
}
