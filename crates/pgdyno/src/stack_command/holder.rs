//! Background process that holds a running stack
//!
//! It is this program, executed again in its own session. It owns the test bed and answers queries on a socket. When it
//! exits, however it exits, the keeper stops the stack.

use super::directory::StackDirectory;
use super::status::{NodeState, NodeStatus, StackState, StackStatus};
use crate::check;
use crate::connect_commands;
use crate::exit_status::ExitStatus;
use crate::run::known_nodes::KnownNodes;
use crate::run::test_bed::{SetupError, TestBed};
use crate::run::trial::transport_name;
use crate::run::update;
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

/// Messages to the requesting process, until the stack is up or has failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StartMessage {
    /// Transient progress message.
    Doing(String),
    /// Permanent progress message.
    Done(String),
    Up(StackStatus),
    /// Error and hint. Everything has been removed.
    Failed(String, Option<String>),
}

/// Queries on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StackQuery {
    /// Answered with [`StackStatus`].
    Status,
    /// Answered with the last [`StackStatus`]. The connection closes when everything is gone.
    Down,
}

/// Timeout for receiving the query of a connection.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the holder. Standard input is a socket to the requesting process. Not intended for users.
pub fn main() -> ExitStatus {
    let caller = match rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) {
        Ok(it) => UnixStream::from(it),
        Err(_) => return ExitStatus::Incomplete,
    };
    // In its own session, the holder survives the end of the terminal.
    let _ = rustix::process::setsid();
    let Ok(order) = receive_line::<StackRequest>(&caller) else { return ExitStatus::Incomplete };
    let left =
        PlaceCleanup { place: StackDirectory::from_checked(order.place.clone()), name: order.name.clone() };
    let ended = run(&order, &left.place, &caller);
    // The files are removed before the failure is reported.
    drop(left);
    match ended {
        Ok(()) => ExitStatus::Success,
        Err((error, hint)) => {
            send_line(&caller, &StartMessage::Failed(error, hint));
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
enum Message {
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

/// Holds the stack until its end is requested. On return, everything that was started is gone.
fn run(
    order: &StackRequest,
    place: &StackDirectory,
    caller: &UnixStream,
) -> Result<(), (String, Option<String>)> {
    let lang = lang::find(&order.lang).unwrap_or_else(english);
    let failed =
        |error: &dyn std::fmt::Display| (say!(lang, "stack-holder-failed", error = error.to_string()), None);
    let shared = Arc::new(HolderState {
        request: order.clone(),
        lang,
        begun: Instant::now(),
        stop: Arc::default(),
        up: AtomicBool::new(false),
        activity: Mutex::new(lang.activity(&Activity::SettingUp)),
    });
    let signals = signals(&shared.stop).map_err(|it| failed(&it))?;
    let socket = place.socket(&order.name);
    let listener =
        UnixListener::bind(&socket).map_err(|it| failed(&format!("{}: {it}", socket.display())))?;
    let ears = EventSource { listener, signals, caller: Some(caller.try_clone().map_err(|it| failed(&it))?) };
    let (sender, receiver) = channel();
    let heard = Arc::clone(&shared);
    std::thread::spawn(move || ears.poll(&heard, &sender));

    let mut test_bed =
        TestBed::start(Arc::clone(&shared.stop), Arc::default()).map_err(|it| (it.message, it.hint))?;
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
        .map_err(|error| (error.text(lang), None))?;
    if shared.stop.load(Ordering::Relaxed) {
        return Err((SetupError::Stopped.text(lang), None));
    }
    let mut held = RunningStack::new(test_bed, &shared)
        .map_err(|error| (say!(lang, "stack-passwords-failed", error = error.to_string()), None))?;
    shared.up.store(true, Ordering::Relaxed);
    send_line(caller, &StartMessage::Up(held.status(&shared)));
    held.serve(&shared, &receiver);
    Ok(())
}

/// The running stack.
struct RunningStack {
    test_bed: TestBed,
    /// Constant part of each node's status.
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
                not_applied: not_applied.iter().map(ToString::to_string).collect(),
                log: running.log.clone(),
            };
            (running.node, node)
        };
        let nodes = test_bed.chain().nodes().iter().map(node).collect();
        let until = shared.request.lifetime.map(|it| Instant::now() + Duration::from_secs(it));
        Ok(RunningStack { test_bed, nodes, deadline: until })
    }

    /// Answers queries until the end is requested.
    fn serve(&mut self, shared: &HolderState, receiver: &Receiver<Message>) {
        loop {
            let message = match self.deadline {
                Some(it) => receiver.recv_timeout(it.saturating_duration_since(Instant::now())),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Query(StackQuery::Status, stream)) => send_line(&stream, &self.status(shared)),
                Ok(Message::Query(StackQuery::Down, stream)) => {
                    send_line(&stream, &self.status(shared));
                    // Leaked, so that the connection stays open until the process exits.
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
    /// Requesting process. Any data or end of file from it, before the stack is up, cancels the request.
    caller: Option<UnixStream>,
}

impl EventSource {
    fn poll(mut self, shared: &HolderState, sender: &Sender<Message>) {
        let end = || {
            shared.stop.store(true, Ordering::Relaxed);
            let _ = sender.send(Message::End);
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
                let _ = sender.send(Message::Query(question, stream));
            }
        }
    }
}

/// Socket that reports signals. The first signal ends the stack; the second one ends the process at once.
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
    // The version of a pooler already contains its name.
    let named = node.version.to_lowercase().starts_with(&name.to_lowercase());
    if named { node.version.clone() } else { format!("{name} {}", node.version) }
}

/// Limits that were applied.
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

/// Writes one line of JSON. Errors are ignored, because the receiver may be gone.
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
