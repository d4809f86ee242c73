//! Which processes of the stack run, and how do they begin and end?

mod apart;
mod disk;
mod in_use;
pub mod keeper;
mod launch;
mod network;
mod protocol;
mod run_directory;

pub use launch::{Launch, Sig, StopStep, User};
pub use protocol::{End, NodeId};

use crate::host::Cgroups;
use crate::limits::{Group, UnappliedLimit};
use crate::log_parser::disk_full;
use model::StaleRunDirectory;
use model::plan::Limits;
use protocol::{Order, Reply};
use std::collections::HashMap;
use std::fmt;
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

/// Starts processes through a [`keeper`], and knows of their ends. Dropping it stops them all, in reverse order.
#[derive(Debug)]
pub struct Supervisor {
    keeper: Child,
    socket: UnixStream,
    /// Bytes of words not yet complete.
    pending: Vec<u8>,
    directory: PathBuf,
    stale_directories: Vec<StaleRunDirectory>,
    user: Option<User>,
    names: Vec<String>,
    started: HashMap<NodeId, StartedProcess>,
    ended: HashMap<NodeId, End>,
    /// By name, see [`Supervisor::present`].
    present: HashMap<String, Arc<AtomicU32>>,
    /// The number of the nodes' network, once they have one.
    network: Option<u8>,
}

/// What the keeper told of a process that it started.
#[derive(Debug)]
struct StartedProcess {
    pid: u32,
    program: Option<u32>,
    group: Option<Group>,
    not_applied: Vec<UnappliedLimit>,
}

/// How the keeper is executed: the program and its first arguments.
#[derive(Clone, Debug)]
pub struct KeeperProgram {
    pub program: PathBuf,
    pub arguments: Vec<&'static str>,
}

impl KeeperProgram {
    /// `pgdyno keeper`, where we are pgdyno.
    pub fn ourselves() -> KeeperProgram {
        // Not the path: the file may have been replaced by a new build since.
        let exe = PathBuf::from("/proc/self/exe");
        let program = if exe.exists() { exe } else { std::env::current_exe().unwrap_or(exe) };
        KeeperProgram { program, arguments: vec!["keeper"] }
    }
}

/// Our surroundings failed us: which node, what was attempted, why, and the last lines of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    pub node: String,
    pub attempt: String,
    pub reason: String,
    pub log: Vec<String>,
}

/// Whether a node is ready to serve.
#[derive(Debug)]
pub enum Readiness<T> {
    Ready(T),
    /// And what it says instead.
    NotYet(String),
    /// Waiting longer does not help.
    Never(String),
}

/// How many lines of a log a [`Failure`] shows.
const LOG_LINES: usize = 12;
/// How many of the last lines of a log may tell why a node ended. A server of many sessions says a line for each.
const END_LINES: usize = 300;

impl Supervisor {
    /// Starts a keeper with a run directory of its own, on a disk that the user of the stack can reach.
    pub fn start(keeper: &KeeperProgram) -> Result<Supervisor, NodeError> {
        Supervisor::start_in(keeper, Cgroups::detect())
    }

    /// The same, with limits applied through these control groups; none of them, and no limit but affinity holds.
    pub fn start_in(keeper: &KeeperProgram, cgroups: Cgroups) -> Result<Supervisor, NodeError> {
        let failure = |why: String| NodeError::new("keeper", "start", why);
        let user = User::unprivileged().map_err(failure)?;
        let base = scratch_base(user.as_ref()).map_err(failure)?;
        let (ours, theirs) = UnixStream::pair().map_err(|it| failure(it.to_string()))?;
        let child = Command::new(&keeper.program)
            .arg0("pgdyno")
            .args(&keeper.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|it| failure(format!("{}: {it}", keeper.program.display())))?;
        let mut supervisor = Supervisor {
            keeper: child,
            socket: ours,
            pending: Vec::new(),
            directory: PathBuf::new(),
            stale_directories: Vec::new(),
            user: user.clone(),
            names: Vec::new(),
            started: HashMap::new(),
            ended: HashMap::new(),
            present: HashMap::new(),
            network: None,
        };
        match supervisor.send_order(&Order::Open { base, owner: user, cgroups }) {
            Ok(Reply::Opened { directory, leftovers }) => {
                (supervisor.directory, supervisor.stale_directories) = (directory, leftovers);
            }
            Ok(word) => return Err(failure(format!("it answered {word:?}"))),
            Err(why) => return Err(failure(why)),
        }
        Ok(supervisor)
    }

    /// Whom nodes should run as; ourselves when `None`.
    pub fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    /// A private directory on disk, writable by [`Supervisor::user`], that ends with us: data, sockets, configuration.
    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// The run directory itself, in which only we write.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Run directories of killed keepers that were found at our start; they are told once.
    pub fn take_stale_directories(&mut self) -> Vec<StaleRunDirectory> {
        std::mem::take(&mut self.stale_directories)
    }

    /// The process number of the keeper.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper.id()
    }

    /// Writes a file that only [`Supervisor::user`] and we can read; it ends with us.
    pub fn private_file(&self, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
        let path = self.directory.join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        if let Some(user) = &self.user {
            fchown(&file, Some(user.uid), Some(user.gid))?;
        }
        file.write_all(contents)?;
        Ok(path)
    }

    /// Starts a process; whether it is ready is to be asked with [`Supervisor::await_ready`].
    pub fn launch(&mut self, launch: Launch) -> Result<NodeId, NodeError> {
        let id = NodeId(self.names.len() as u32);
        let name = launch.name.clone();
        self.names.push(name.clone());
        match self.send_order(&Order::Launch(id, launch)) {
            Ok(Reply::Launched { pid, program, group, not_applied }) => {
                self.present.entry(name).or_default().store(pid, Ordering::Relaxed);
                self.started.insert(id, StartedProcess { pid, program, group, not_applied });
                Ok(id)
            }
            Ok(word) => Err(self.failure(id, "start", format!("the keeper answered {word:?}"))),
            Err(why) => Err(self.failure(id, "start", why)),
        }
    }

    /// Runs a process to its end, which must be a success and come within `patience`.
    pub fn run(&mut self, launch: Launch, patience: Duration) -> Result<(), NodeError> {
        let id = self.launch(launch)?;
        let until = Instant::now() + patience;
        while Instant::now() < until {
            match self.ended.get(&id) {
                Some(End::Exit(0)) => return Ok(()),
                Some(end) => return Err(self.failure(id, "run", format!("it {end}{}", self.end_reason(id)))),
                None => self.poll_ends(id, until.saturating_duration_since(Instant::now()))?,
            }
        }
        let _ = self.stop(id);
        Err(self.failure(id, "run", format!("it did not end within {patience:?}")))
    }

    /// Asks until the node is ready; fails at once if it ends.
    pub fn await_ready<T>(
        &mut self,
        id: NodeId,
        patience: Duration,
        mut ask: impl FnMut() -> Readiness<T>,
    ) -> Result<T, NodeError> {
        let until = Instant::now() + patience;
        let mut pause = Duration::from_millis(5);
        loop {
            let last = match ask() {
                Readiness::Ready(it) => return Ok(it),
                Readiness::NotYet(why) => why,
                Readiness::Never(why) => return Err(self.failure(id, "become ready", why)),
            };
            // Not a blind sleep: the end of the node wakes us.
            self.poll_ends(id, pause)?;
            pause = (pause * 2).min(Duration::from_millis(50));
            if let Some(end) = self.ended.get(&id) {
                return Err(self.failure(id, "become ready", format!("it {end}{}", self.end_reason(id))));
            }
            if Instant::now() >= until {
                let why = format!("not within {patience:?}; last answer: {last}");
                return Err(self.failure(id, "become ready", why));
            }
        }
    }

    /// How the node ended, if it has.
    pub fn end_of(&mut self, id: NodeId) -> Option<End> {
        let _ = self.poll_ends(id, Duration::ZERO);
        self.ended.get(&id).copied()
    }

    /// Why a node ended, to be put behind how it did: `: its disk is full (…)`, or nothing if its log does not tell.
    pub fn end_reason(&self, id: NodeId) -> String {
        let lines = self.log(&self.names[id.0 as usize], END_LINES);
        disk_full(&lines).map_or(String::new(), |it| format!(": its disk is full ({it})"))
    }

    /// The process number of a node; `None` once its end was heard of.
    pub fn pid(&self, id: NodeId) -> Option<u32> {
        if self.ended.contains_key(&id) { None } else { self.started.get(&id).map(|it| it.pid) }
    }

    /// The process number of whichever node has this one's name: again after each restart, and 0 while there is none.
    pub fn pid_handle(&self, id: NodeId) -> Option<Arc<AtomicU32>> {
        self.present.get(&self.names[id.0 as usize]).cloned()
    }

    /// All processes of a node: those of its group, if it has one, else the node's own and its descendants.
    pub fn processes(&self, id: NodeId) -> Vec<u32> {
        match (self.group(id), self.pid(id)) {
            (Some(group), _) => group.processes(),
            (None, Some(pid)) => descendants(pid),
            (None, None) => Vec::new(),
        }
    }

    /// Whether a node's processes are a world of their own: they were asked to be, and we may.
    pub fn is_isolated(&self, id: NodeId) -> bool {
        self.started.get(&id).is_some_and(|it| it.program.is_some())
    }

    /// Sends a signal to one of a node's processes, and to no other whatever its number has become.
    pub fn signal_one(&mut self, id: NodeId, process: u32, signal: Sig) -> Result<(), NodeError> {
        let done = self.send_order(&Order::SignalOne(id, process, signal));
        done.map(drop).map_err(|why| self.failure(id, &format!("give {signal:?} to process {process}"), why))
    }

    /// The control group that a node runs in. Only limits make one; a restarted node uses the same.
    pub fn group(&self, id: NodeId) -> Option<&Group> {
        self.started.get(&id).and_then(|it| it.group.as_ref())
    }

    /// How many of a node's processes the kernel has ended because they had used up its memory limit, until now. Clients are
    /// told no more than that their connection is closed.
    pub fn oom_kills(&self, id: NodeId) -> u64 {
        self.group(id).and_then(|it| it.usage().oom_kills).unwrap_or(0)
    }

    /// Which limits of a node could not be applied, and why. Figures that depend on them are not what was asked for.
    pub fn not_applied(&self, id: NodeId) -> &[UnappliedLimit] {
        self.started.get(&id).map_or(&[], |it| &it.not_applied)
    }

    /// Limits our own process, all its threads, until we are dropped or are told other limits; what could not be applied,
    /// and the group that we are in. Memory counts from now on.
    ///
    /// Processes that we start ourselves inherit it; those of the keeper do not.
    pub fn limit_generator(
        &mut self,
        limits: &Limits,
    ) -> Result<(Option<Group>, Vec<UnappliedLimit>), NodeError> {
        let failure = |why: String| NodeError::new("generator", "be limited", why);
        match self.send_order(&Order::Generator(limits.clone())) {
            Ok(Reply::Limited { group, not_applied }) => Ok((group, not_applied)),
            Ok(word) => Err(failure(format!("the keeper answered {word:?}"))),
            Err(why) => Err(failure(why)),
        }
    }

    /// Cuts a node with a network of its own off from everything, or mends that.
    pub fn link(&mut self, id: NodeId, up: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Link(id, up));
        let attempt = if up { "be connected again" } else { "be cut off" };
        done.map(drop).map_err(|why| self.failure(id, attempt, why))
    }

    /// The directory of a disk that is this node's alone, and so can be full; made when it is asked for the first time. Only root
    /// may, and only the keeper and its nodes see what is there: see [`Supervisor::seen`].
    pub fn disk(&mut self, node: &str) -> Result<PathBuf, NodeError> {
        let failure = |why: String| NodeError::new(node, "have a disk of its own", why);
        match self.send_order(&Order::Disk(node.to_owned())) {
            Ok(Reply::Disk(it)) => Ok(it),
            Ok(word) => Err(failure(format!("the keeper answered {word:?}"))),
            Err(why) => Err(failure(why)),
        }
    }

    /// Takes all that is free on a node's own disk, or gives it back.
    pub fn fill(&mut self, node: &str, full: bool) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Fill(node.to_owned(), full));
        let attempt = if full { "have its disk filled" } else { "get its disk back" };
        done.map(drop).map_err(|why| NodeError::new(node, attempt, why))
    }

    /// How we reach what nodes see at a path, though it lies on a disk of their own.
    pub fn host_path(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix("/").unwrap_or(path);
        Path::new("/proc").join(self.keeper_pid().to_string()).join("root").join(below)
    }

    /// Addresses for nodes with networks of their own; none where all such networks are taken.
    pub fn addresses(&mut self) -> Option<impl Iterator<Item = Ipv4Addr> + use<>> {
        let network = self.network.or_else(|| network::free_network(self.keeper.id() as u8))?;
        self.network = Some(network);
        Some((10..=254).map(move |host| network::address(network, host)))
    }

    /// To the node's own process. SIGKILL, SIGSTOP and SIGCONT reach all processes of a node that is apart.
    pub fn signal(&mut self, id: NodeId, signal: Sig) -> Result<(), NodeError> {
        let done = self.send_order(&Order::Signal(id, signal));
        done.map(drop).map_err(|why| self.failure(id, &format!("get {signal:?}"), why))
    }

    /// Stops one node in its own way; returns how it ended.
    pub fn stop(&mut self, id: NodeId) -> Result<End, NodeError> {
        self.send_order(&Order::Stop(id)).map_err(|why| self.failure(id, "stop", why))?;
        self.ended
            .get(&id)
            .copied()
            .ok_or_else(|| self.failure(id, "stop", "its end was not seen".to_owned()))
    }

    /// The last lines that a node wrote to its standard output and error.
    pub fn log(&self, name: &str, lines: usize) -> Vec<String> {
        let path = self.directory.join("log").join(format!("{name}.log"));
        let text = std::fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(64 * 1024)..]).into_owned();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|&it| it.to_owned()).collect()
    }

    fn failure(&self, id: NodeId, attempt: &str, why: String) -> NodeError {
        let node = self.names[id.0 as usize].clone();
        let log = self.log(&node, LOG_LINES);
        let why = match self.oom_kills(id) {
            0 => why,
            some => {
                format!("{why}; its memory limit was used up, and the kernel ended {some} of its processes")
            }
        };
        NodeError { node, attempt: attempt.to_owned(), reason: why, log }
    }

    /// Gives an order and returns the keeper's answer to it.
    fn send_order(&mut self, order: &Order) -> Result<Reply, String> {
        let gone = |error: io::Error| format!("the keeper is gone: {error}");
        let mut line = serde_json::to_vec(order).expect("orders are plain data");
        line.push(b'\n');
        self.socket.write_all(&line).map_err(gone)?;
        loop {
            if let Some(word) = self.receive_reply(None).map_err(gone)? {
                return match word {
                    Reply::Refused(why) => Err(why),
                    word => Ok(word),
                };
            }
        }
    }

    /// Takes note of ends until `patience` has passed or one came; `id` is the node for whose sake.
    fn poll_ends(&mut self, id: NodeId, patience: Duration) -> Result<(), NodeError> {
        let before = self.ended.len();
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // A timeout of zero would mean for ever.
            let heard = self.receive_reply(Some(left.max(Duration::from_micros(1))));
            heard.map_err(|it| self.failure(id, "be watched", format!("the keeper is gone: {it}")))?;
            if self.ended.len() > before || left.is_zero() {
                return Ok(());
            }
        }
    }

    fn end(&mut self, id: NodeId, end: End) {
        self.ended.insert(id, end);
        if let (Some(present), Some(it)) =
            (self.present.get(&self.names[id.0 as usize]), self.started.get(&id))
        {
            // The next of its name may have begun.
            let _ = present.compare_exchange(it.pid, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// The next word that is not the end of a node; `None` after an end, or when `patience` has passed.
    fn receive_reply(&mut self, patience: Option<Duration>) -> io::Result<Option<Reply>> {
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
            self.socket.set_read_timeout(patience)?;
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
    /// Waits until everything is stopped and removed. The keeper bounds the time by its steps.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.keeper.wait();
    }
}

impl NodeError {
    pub(crate) fn new(node: &str, attempt: &str, why: String) -> NodeError {
        NodeError { node: node.to_owned(), attempt: attempt.to_owned(), reason: why, log: Vec::new() }
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not {}: {}", self.node, self.attempt, self.reason)?;
        if !self.log.is_empty() {
            write!(f, "\nthe last lines of its log:")?;
            self.log.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        }
        Ok(())
    }
}

impl std::error::Error for NodeError {}

/// A process and its descendants, by the parents that `proc(5)` tells.
fn descendants(pid: u32) -> Vec<u32> {
    let parents = keeper::parents();
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(parents.iter().filter(|it| it.1 == parent).map(|it| it.0));
        at += 1;
    }
    found
}

/// A TCP port of the loopback interface that was free a moment ago.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The directory in which run directories are made.
pub fn scratch() -> Result<PathBuf, String> {
    scratch_base(User::unprivileged()?.as_ref())
}

/// Where the run directory goes: `TMPDIR`, `/var/tmp` or `/tmp`, the first that lies on a disk and that the user of the
/// stack can reach; the first reachable one if all lie in memory.
///
/// On a disk, because data lies there and a server on a memory file system has no real fsync. Not `XDG_RUNTIME_DIR`:
/// that is in memory and closed to other users.
fn scratch_base(user: Option<&User>) -> Result<PathBuf, String> {
    let tried = std::env::var_os("TMPDIR").map(PathBuf::from);
    let tried: Vec<PathBuf> = tried.into_iter().chain(["/var/tmp".into(), "/tmp".into()]).collect();
    let reachable = |it: &&PathBuf| it.is_dir() && (user.is_none() || open_to_all(it)) && writable(it);
    let usable: Vec<&PathBuf> = tried.iter().filter(reachable).collect();
    let on_disk = usable.iter().find(|it| !in_memory(it));
    let names = || tried.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ");
    let found = on_disk
        .or(usable.first())
        .ok_or_else(|| format!("none of {} can be used for scratch files", names()))?;
    Ok(found.canonicalize().unwrap_or_else(|_| found.to_path_buf()))
}

fn writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// True if every user may pass through it and the directories above it.
pub(crate) fn open_to_all(path: &Path) -> bool {
    path.ancestors()
        .all(|it| it.metadata().is_ok_and(|it| it.permissions().mode() & 0o001 != 0 || it.uid() != 0))
}

/// True on tmpfs and ramfs; magic numbers by `statfs(2)`.
fn in_memory(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|it| matches!(it.f_type as u32, 0x0102_1994 | 0x8584_58f6))
}
