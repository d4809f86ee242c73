//! Start, observation and stop of the stack's processes

mod apart;
mod clock;
mod control_groups;
mod disk;
mod error;
mod in_use;
pub mod keeper;
mod launch;
mod network;
mod processes;
mod protocol;
mod run_directory;

pub use error::MachineError;
pub use launch::{Launch, Sig, StopStep, SystemUser};
pub use processes::host_process;
pub use protocol::{End, NodeId};

use crate::host::Cgroups;
use crate::interrupt;
use crate::limits::{Group, HostLimits, UnappliedLimit};
use crate::log_parser::disk_full;
use error::OrderError;
use model::StaleRunDirectory;
use model::message;
use model::message::Message;
use model::plan::Limits;
use processes::descendants;
use protocol::{Order, Reply};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Starts processes through a [`keeper`], and records their ends. Dropping it stops them all, in reverse order.
#[derive(Debug)]
pub struct Supervisor {
    keeper: Child,
    socket: UnixStream,
    /// Received bytes of an incomplete reply.
    pending: Vec<u8>,
    directory: PathBuf,
    stale_directories: Vec<StaleRunDirectory>,
    user: Option<SystemUser>,
    names: Vec<String>,
    started: HashMap<NodeId, StartedProcess>,
    ended: HashMap<NodeId, End>,
    /// Current process id by node name, see [`Supervisor::pid_handle`].
    present: HashMap<String, Arc<AtomicU32>>,
    /// Number of the nodes' network; `None` until a node needs it.
    network: Option<u8>,
    /// Host of each node that is on one, by the node's name.
    hosts: BTreeMap<String, HostLimits>,
}

/// Report of the keeper about a started process.
#[derive(Debug)]
struct StartedProcess {
    pid: u32,
    program: Option<u32>,
    group: Option<Group>,
    not_applied: Vec<UnappliedLimit>,
}

/// Command that runs the keeper: the program and its first arguments.
#[derive(Clone, Debug)]
pub struct KeeperProgram {
    pub program: PathBuf,
    pub arguments: Vec<&'static str>,
}

impl KeeperProgram {
    /// Returns `pgdyno keeper`, if this process is pgdyno.
    pub fn ourselves() -> KeeperProgram {
        // A path would be unsafe: a new build may have replaced the file.
        let exe = PathBuf::from("/proc/self/exe");
        let program = if exe.exists() { exe } else { std::env::current_exe().unwrap_or(exe) };
        KeeperProgram { program, arguments: vec!["keeper"] }
    }
}

/// Failure of the environment: the node, the attempt, the reason, and the last lines of the node's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    pub node: String,
    /// Verb phrase, such as `start`.
    pub attempt: Box<Message>,
    pub reason: Message,
    pub log: Vec<String>,
}

/// Result of one readiness check.
#[derive(Debug)]
pub enum Readiness<T> {
    Ready(T),
    /// The node is not ready; contains the last error or response.
    NotYet(Message),
    /// The node will not become ready; contains the reason.
    Never(Message),
}

/// Number of lines of a log that a [`NodeError`] shows.
const LOG_LINES: usize = 12;
/// Number of lines at the end of a log that are searched for the reason why a node ended. A server may write a line per
/// session.
const END_LINES: usize = 300;

impl Supervisor {
    /// Starts a keeper with a new run directory, on a disk that the user of the stack can access.
    pub fn start(keeper: &KeeperProgram) -> Result<Supervisor, NodeError> {
        Supervisor::start_in(keeper, Cgroups::detect())
    }

    /// Like [`Supervisor::start`], with limits applied through these control groups. Without groups, only CPU affinity
    /// applies.
    pub fn start_in(keeper: &KeeperProgram, cgroups: Cgroups) -> Result<Supervisor, NodeError> {
        let failure = |reason: Message| NodeError::new("keeper", message!("attempt-start"), reason);
        let user = SystemUser::unprivileged().map_err(|it| failure((&it).into()))?;
        let base = scratch_base(user.as_ref()).map_err(|it| failure((&it).into()))?;
        let (own_end, keeper_end) = UnixStream::pair().map_err(|it| failure((&it).into()))?;
        let child = Command::new(&keeper.program)
            .arg0("pgdyno")
            .args(&keeper.arguments)
            .stdin(Stdio::from(OwnedFd::from(keeper_end)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|it| failure(Message::of_file(&keeper.program, &it)))?;
        let mut supervisor = Supervisor {
            keeper: child,
            socket: own_end,
            pending: Vec::new(),
            directory: PathBuf::new(),
            stale_directories: Vec::new(),
            user: user.clone(),
            names: Vec::new(),
            started: HashMap::new(),
            ended: HashMap::new(),
            present: HashMap::new(),
            network: None,
            hosts: BTreeMap::new(),
        };
        match supervisor.send_order(&Order::Open { base, owner: user, cgroups }) {
            Ok(Reply::Opened { directory, leftovers }) => {
                (supervisor.directory, supervisor.stale_directories) = (directory, leftovers);
            }
            Ok(reply) => return Err(failure(unexpected(&reply))),
            Err(error) => return Err(failure((&error).into())),
        }
        Ok(supervisor)
    }

    /// User that runs the nodes; `None` for the current user.
    pub fn user(&self) -> Option<&SystemUser> {
        self.user.as_ref()
    }

    /// Private directory on disk for data, sockets and configuration. [`Supervisor::user`] may write to it. It is
    /// removed with the supervisor.
    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// Run directory, to which only pgdyno writes.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns run directories of killed keepers that were found at the start; empty at the second call.
    pub fn take_stale_directories(&mut self) -> Vec<StaleRunDirectory> {
        std::mem::take(&mut self.stale_directories)
    }

    /// Process id of the keeper.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper.id()
    }

    /// Writes a file that only [`Supervisor::user`] and root can read. A relative path is relative to the run directory,
    /// and an absolute path must lead into it. The file is removed with the supervisor.
    pub fn private_file(&self, name: impl AsRef<Path>, contents: &[u8]) -> io::Result<PathBuf> {
        let path = self.directory.join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        if let Some(user) = &self.user {
            fchown(&file, Some(user.uid), Some(user.gid))?;
        }
        file.write_all(contents)?;
        Ok(path)
    }

    /// Starts a process; [`Supervisor::await_ready`] checks whether it is ready.
    pub fn launch(&mut self, mut launch: Launch) -> Result<NodeId, NodeError> {
        // Each node on a host has the host's CPUs, so that the group of the host needs only the quota and the memory.
        launch.host = self.hosts.get(&launch.name).cloned();
        if let Some(host) = &mut launch.host {
            let cpus = std::mem::take(&mut host.limits.cpus);
            if launch.limits.cpus.is_empty() {
                launch.limits.cpus = cpus;
            }
        }
        let id = NodeId(self.names.len() as u32);
        let name = launch.name.clone();
        self.names.push(name.clone());
        match self.send_order(&Order::Launch(id, Box::new(launch))) {
            Ok(Reply::Launched { pid, program, group, not_applied }) => {
                self.present.entry(name).or_default().store(pid, Ordering::Relaxed);
                self.started.insert(id, StartedProcess { pid, program, group, not_applied });
                Ok(id)
            }
            Ok(word) => Err(self.failure(id, message!("attempt-start"), unexpected(&word))),
            Err(error) => Err(self.failure(id, message!("attempt-start"), (&error).into())),
        }
    }

    /// Runs a process to its end. Returns an error unless the process succeeds within `timeout`.
    pub fn run(&mut self, launch: Launch, timeout: Duration) -> Result<(), NodeError> {
        let id = self.launch(launch)?;
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            match self.ended.get(&id) {
                Some(End::Exit(0)) => return Ok(()),
                Some(end) => {
                    return Err(self.failure(
                        id,
                        message!("attempt-run"),
                        message!("node-ended", end = Message::from(*end), reason = self.end_reason(id)),
                    ));
                }
                None if interrupt::is_interrupted() => {
                    let _ = self.stop(id);
                    return Err(self.failure(id, message!("attempt-run"), message!("node-interrupted")));
                }
                None => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    self.poll_ends(id, interrupt::longest_wait(Some(left)).unwrap_or(left))?;
                }
            }
        }
        let _ = self.stop(id);
        Err(self.failure(id, message!("attempt-run"), message!("node-no-exit", seconds = seconds(timeout))))
    }

    /// Repeats `ask` until the node is ready; fails at once if the node ends.
    pub fn await_ready<T>(
        &mut self,
        id: NodeId,
        timeout: Duration,
        mut ask: impl FnMut() -> Readiness<T>,
    ) -> Result<T, NodeError> {
        let deadline = Instant::now() + timeout;
        let mut pause = Duration::from_millis(5);
        loop {
            let last = match ask() {
                Readiness::Ready(it) => return Ok(it),
                Readiness::NotYet(reason) => reason,
                Readiness::Never(reason) => {
                    return Err(self.failure(id, message!("attempt-become-ready"), reason));
                }
            };
            if interrupt::is_interrupted() {
                return Err(self.failure(id, message!("attempt-become-ready"), message!("node-interrupted")));
            }
            // Wait for events instead of sleeping, so that the end of the node interrupts the wait.
            self.poll_ends(id, pause)?;
            pause = (pause * 2).min(Duration::from_millis(50));
            if let Some(end) = self.ended.get(&id) {
                return Err(self.failure(
                    id,
                    message!("attempt-become-ready"),
                    message!("node-ended", end = Message::from(*end), reason = self.end_reason(id)),
                ));
            }
            if Instant::now() >= deadline {
                let reason = message!("node-not-ready", seconds = seconds(timeout), answer = last);
                return Err(self.failure(id, message!("attempt-become-ready"), reason));
            }
        }
    }

    /// Returns how the node ended; `None` while it runs.
    pub fn end_of(&mut self, id: NodeId) -> Option<End> {
        let _ = self.poll_ends(id, Duration::ZERO);
        self.ended.get(&id).copied()
    }

    /// Reason of a node's end; `None` if the log shows none.
    pub fn end_reason(&self, id: NodeId) -> Option<Message> {
        let lines = self.log(&self.names[id.0 as usize], END_LINES);
        disk_full(&lines).map(|line| message!("node-disk-full", line))
    }

    /// Process id of a node; `None` once it has ended.
    pub fn pid(&self, id: NodeId) -> Option<u32> {
        if self.ended.contains_key(&id) { None } else { self.started.get(&id).map(|it| it.pid) }
    }

    /// Process id of the current node of this name, updated at each restart; 0 while none runs.
    pub fn pid_handle(&self, id: NodeId) -> Option<Arc<AtomicU32>> {
        self.present.get(&self.names[id.0 as usize]).cloned()
    }

    /// Lists all processes of a node: those of its control group, if it has one, else its main process and all
    /// descendants.
    pub fn processes(&self, id: NodeId) -> Vec<u32> {
        match (self.group(id), self.pid(id)) {
            (Some(group), _) => group.processes(),
            (None, Some(pid)) => descendants(pid),
            (None, None) => Vec::new(),
        }
    }

    /// True if a node's processes have separate namespaces, that is, if these were requested and are permitted on this
    /// machine.
    pub fn is_isolated(&self, id: NodeId) -> bool {
        self.started.get(&id).is_some_and(|it| it.program.is_some())
    }

    /// Signals one of a node's processes, never another process that has reused its id.
    pub fn signal_one(&mut self, id: NodeId, process: u32, signal: Sig) -> Result<(), NodeError> {
        let done = self.send_order(&Order::SignalOne(id, process, signal));
        done.map(drop).map_err(|error| {
            let attempt = message!(
                "attempt-signal-process",
                signal = format!("{signal:?}"),
                process = process.to_string()
            );
            self.failure(id, attempt, (&error).into())
        })
    }

    /// Limits of a node that could not be applied. Results that depend on them do not describe the requested setup.
    pub fn not_applied(&self, id: NodeId) -> &[UnappliedLimit] {
        self.started.get(&id).map_or(&[], |it| &it.not_applied)
    }

    /// Limits pgdyno's own process, with all its threads, until other limits are set or the supervisor is dropped.
    /// Returns the process's group and the limits that could not be applied. Memory is counted from this call on.
    ///
    /// Child processes of pgdyno inherit the limits; those of the keeper do not.
    pub fn limit_generator(
        &mut self,
        limits: &Limits,
    ) -> Result<(Option<Group>, Vec<UnappliedLimit>), NodeError> {
        let failure = |reason: Message| NodeError::new("generator", message!("attempt-limit"), reason);
        match self.send_order(&Order::Generator(limits.clone())) {
            Ok(Reply::Limited { group, not_applied }) => Ok((group, not_applied)),
            Ok(reply) => Err(failure(unexpected(&reply))),
            Err(error) => Err(failure((&error).into())),
        }
    }

    /// Disconnects an isolated node's network from all other nodes (`is_connected` = false), or connects it again. If the
    /// node is restarted meanwhile, it stays disconnected.
    pub fn connect(&mut self, node: &str, is_connected: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Connect(node.to_owned(), is_connected));
        let attempt =
            if is_connected { message!("attempt-reconnect") } else { message!("attempt-disconnect") };
        done.map(drop).map_err(|error| NodeError::new(node, attempt, &error))
    }

    /// Disconnects two isolated nodes from each other, or connects them again. This machine still reaches both. If one of
    /// them is restarted meanwhile, they stay disconnected.
    pub fn separate(&mut self, node: &str, peer: &str, is_separate: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Separate([node.to_owned(), peer.to_owned()], is_separate));
        let attempt =
            if is_separate { message!("attempt-disconnect") } else { message!("attempt-reconnect") };
        done.map(drop).map_err(|error| NodeError::new(node, attempt, &error))
    }

    /// Returns the directory of a separate disk for this node, which can be filled. The disk is created on first use.
    ///
    /// Needs root. Only the keeper and its nodes see the files there: see [`Supervisor::host_path`].
    pub fn disk(&mut self, node: &str) -> Result<PathBuf, NodeError> {
        let failure = |reason: Message| NodeError::new(node, message!("attempt-get-disk"), reason);
        match self.send_order(&Order::Disk(node.to_owned())) {
            Ok(Reply::Disk(it)) => Ok(it),
            Ok(reply) => Err(failure(unexpected(&reply))),
            Err(error) => Err(failure((&error).into())),
        }
    }

    /// Fills a node's separate disk, or frees that space again.
    pub fn fill(&mut self, node: &str, full: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Fill(node.to_owned(), full));
        let attempt = if full { message!("attempt-fill-disk") } else { message!("attempt-free-disk") };
        done.map(drop).map_err(|error| NodeError::new(node, attempt, &error))
    }

    /// Freezes a node's separate disk, so that writes wait, or lets them continue. SIGKILL to the node, or its end, also
    /// lets them continue.
    pub fn freeze(&mut self, node: &str, is_frozen: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Freeze(node.to_owned(), is_frozen));
        let attempt = if is_frozen { message!("attempt-freeze-disk") } else { message!("attempt-thaw-disk") };
        done.map(drop).map_err(|error| NodeError::new(node, attempt, &error))
    }

    /// Returns the host path of a file in a node's file system, including a separate disk.
    pub fn host_path(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix("/").unwrap_or(path);
        Path::new("/proc").join(self.keeper_pid().to_string()).join("root").join(below)
    }

    /// Returns free addresses for nodes with separate networks; `None` if all such networks are taken.
    pub fn addresses(&mut self) -> Option<impl Iterator<Item = Ipv4Addr> + use<>> {
        let network = self.network.or_else(|| network::free_network(self.keeper.id() as u8))?;
        self.network = Some(network);
        Some((10..=254).map(move |host| network::address(network, host)))
    }

    /// Signals a node's main process. For an isolated node, SIGKILL, SIGSTOP and SIGCONT reach all its processes.
    pub fn signal(&mut self, id: NodeId, signal: Sig) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Signal(id, signal));
        let attempt = message!("attempt-signal", signal = format!("{signal:?}"));
        done.map(drop).map_err(|error| self.failure(id, attempt, (&error).into()))
    }

    /// Stops one node by its stop steps; returns how the node ended.
    pub fn stop(&mut self, id: NodeId) -> Result<End, NodeError> {
        self.send_order(&Order::Stop(id))
            .map_err(|error| self.failure(id, message!("attempt-stop"), (&error).into()))?;
        self.ended
            .get(&id)
            .copied()
            .ok_or_else(|| self.failure(id, message!("attempt-stop"), message!("node-no-end")))
    }

    /// Returns the last lines of a node's log, which contains its standard output and error.
    pub fn log(&self, name: &str, lines: usize) -> Vec<String> {
        let path = self.directory.join("log").join(format!("{name}.log"));
        let text = std::fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(64 * 1024)..]).into_owned();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|&it| it.to_owned()).collect()
    }

    fn failure(&self, id: NodeId, attempt: Message, reason: Message) -> NodeError {
        let node = self.names[id.0 as usize].clone();
        let log = self.log(&node, LOG_LINES);
        let reason = match self.oom_kills(id) {
            0 => reason,
            count => message!("node-out-of-memory", reason, count = count.to_string()),
        };
        NodeError { node, attempt: Box::new(attempt), reason, log }
    }

    /// Sends an order and returns the keeper's reply.
    fn send_order(&mut self, order: &Order) -> Result<Reply, OrderError> {
        let mut line = serde_json::to_vec(order).expect("an order can be serialised");
        line.push(b'\n');
        self.socket.write_all(&line).map_err(OrderError::KeeperEnded)?;
        loop {
            if let Some(reply) = self.receive_reply(None).map_err(OrderError::KeeperEnded)? {
                return match reply {
                    Reply::Refused(reason) => Err(OrderError::Refused(reason)),
                    reply => Ok(reply),
                };
            }
        }
    }

    /// Waits until at least one node ends or `timeout` has passed, and records the ends. Errors contain the name of the
    /// node `id`.
    fn poll_ends(&mut self, id: NodeId, timeout: Duration) -> Result<(), NodeError> {
        let before = self.ended.len();
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // A socket timeout of zero would mean no timeout.
            let reply = self.receive_reply(Some(left.max(Duration::from_micros(1))));
            reply.map_err(|error| {
                self.failure(id, message!("attempt-watch"), (&OrderError::KeeperEnded(error)).into())
            })?;
            if self.ended.len() > before || left.is_zero() {
                return Ok(());
            }
        }
    }

    fn end(&mut self, id: NodeId, end: End) {
        self.ended.insert(id, end);
        if let (Some(present), Some(process)) =
            (self.present.get(&self.names[id.0 as usize]), self.started.get(&id))
        {
            // Keep the id if the next node of this name already runs.
            let _ = present.compare_exchange(process.pid, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Receives the next reply to an order. Returns `None` if the next message is the end of a node, or after
    /// `timeout`.
    fn receive_reply(&mut self, timeout: Option<Duration>) -> io::Result<Option<Reply>> {
        loop {
            if let Some(end) = self.pending.iter().position(|&it| it == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return match serde_json::from_slice(&line)? {
                    Reply::Ended(id, end) => {
                        self.end(id, end);
                        Ok(None)
                    }
                    word => Ok(Some(word)),
                };
            }
            let mut chunk = [0; 4096];
            self.socket.set_read_timeout(timeout)?;
            match self.socket.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.pending.extend_from_slice(&chunk[..n]),
                Err(it) if it.kind() == ErrorKind::Interrupted => {}
                Err(it) if it.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(it) => return Err(it),
            }
        }
    }
}

impl Drop for Supervisor {
    /// Waits until everything is stopped and removed. The keeper's stop steps limit the time.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.keeper.wait();
    }
}

impl NodeError {
    pub(crate) fn new(node: &str, attempt: Message, reason: impl Into<Message>) -> NodeError {
        NodeError {
            node: node.to_owned(),
            attempt: Box::new(attempt),
            reason: reason.into(),
            log: Vec::new(),
        }
    }
}

impl From<&NodeError> for Message {
    fn from(NodeError { node, attempt, reason, log }: &NodeError) -> Message {
        let log: Vec<String> = log.iter().map(|line| format!("  {line}")).collect();
        message!(
            "node-error",
            node,
            attempt = &**attempt,
            reason,
            log = (!log.is_empty()).then(|| log.join("\n"))
        )
    }
}

impl From<End> for Message {
    fn from(end: End) -> Message {
        match end {
            End::Exit(status) => message!("node-exited", status = status.to_string()),
            End::Signal(signal) => message!("node-signalled", signal = signal.to_string()),
        }
    }
}

fn unexpected(reply: &Reply) -> Message {
    message!("node-keeper-answered", answer = format!("{reply:?}"))
}

/// Seconds as text, with milliseconds if there are any.
fn seconds(timeout: Duration) -> String {
    timeout.as_secs_f64().to_string()
}

/// Returns a TCP port of the loopback interface that was free at the time of the call.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Returns the user that runs the servers; `None` for the current user.
pub fn server_user() -> Result<Option<String>, MachineError> {
    Ok(SystemUser::unprivileged()?.map(|it| it.name))
}

/// Returns the directory in which run directories are created.
pub fn scratch() -> Result<PathBuf, MachineError> {
    scratch_base(SystemUser::unprivileged()?.as_ref())
}

/// Chooses the directory for run directories: the first of `TMPDIR`, `/var/tmp` and `/tmp` that is on a disk and that
/// the stack's user can access. If all of them are in memory, chooses the first accessible directory.
///
/// The directory must be on a disk because it contains data, and a memory file system has no real fsync.
/// `XDG_RUNTIME_DIR` is unsuitable: it is in memory and closed to other users.
fn scratch_base(user: Option<&SystemUser>) -> Result<PathBuf, MachineError> {
    let tried = std::env::var_os("TMPDIR").map(PathBuf::from);
    let tried: Vec<PathBuf> = tried.into_iter().chain(["/var/tmp".into(), "/tmp".into()]).collect();
    let reachable = |it: &&PathBuf| it.is_dir() && (user.is_none() || open_to_all(it)) && writable(it);
    let usable: Vec<&PathBuf> = tried.iter().filter(reachable).collect();
    let on_disk = usable.iter().find(|it| !in_memory(it));
    let found = on_disk.or(usable.first()).ok_or_else(|| MachineError::NoScratchDirectory(tried.clone()))?;
    Ok(found.canonicalize().unwrap_or_else(|_| found.to_path_buf()))
}

fn writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// True if every user may traverse the directory and its parents.
pub(crate) fn open_to_all(path: &Path) -> bool {
    path.ancestors().all(|ancestor| {
        ancestor.metadata().is_ok_and(|it| it.permissions().mode() & 0o001 != 0 || it.uid() != 0)
    })
}

/// True if a path is on tmpfs or ramfs; magic numbers from `statfs(2)`.
fn in_memory(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|it| matches!(it.f_type as u32, 0x0102_1994 | 0x8584_58f6))
}
