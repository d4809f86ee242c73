//! Keeper: the process that stops and removes everything when pgdyno ends
//!
//! The keeper is pgdyno's own program, executed again in a new session. It is the parent of every process of the
//! stack and, as a *subreaper*, adopts their orphans. It reads orders from a socket whose other end only the
//! supervisor holds. The kernel closes that end when the supervisor dies, even by `kill -9`. The keeper then stops
//! everything in reverse order and removes the run directory.
//!
//! If the keeper itself is killed, the kernel signals its children (`PR_SET_PDEATHSIG`), and the next keeper removes
//! the directory.

use super::apart::{self, NamespaceGuard, PidNamespace};
use super::disk::NodeDisks;
use super::error::KeeperError;
use super::launch::{Launch, Sig};
use super::network::{self, BridgePort, NetworkBridge, NetworkFaults};
use super::protocol::{End, NodeId, Order, Reply};
use super::run_directory::RunDirectory;
use crate::limits::groups::Groups;
use crate::limits::{Group, Limit, UnappliedLimit, UnappliedReason, cpu_set};
use model::message;
use model::plan::Limits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{
    Pid, PidfdFlags, WaitOptions, kill_process, kill_process_group, pidfd_open, pidfd_send_signal, wait,
    waitpgid,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Main function of `pgdyno keeper`. Standard input is the socket to the supervisor. Not for interactive use.
pub fn main() -> std::process::ExitCode {
    let socket = match rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) {
        Ok(it) => UnixStream::from(it),
        Err(_) => return std::process::ExitCode::from(2),
    };
    // A new session ensures that Ctrl-C at the terminal reaches only the supervisor.
    let _ = rustix::process::setsid();
    if rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_err() {
        return std::process::ExitCode::FAILURE;
    }
    let mut keeper = Keeper {
        socket,
        nodes: Vec::new(),
        run: None,
        groups: None,
        generator: None,
        bridge: None,
        network_faults: NetworkFaults::default(),
        disks: NodeDisks::default(),
    };
    keeper.run_orders();
    keeper.clear_away();
    std::process::ExitCode::SUCCESS
}

struct Keeper {
    socket: UnixStream,
    /// Running nodes, in the order of their launch.
    nodes: Vec<KeptNode>,
    run: Option<RunDirectory>,
    groups: Option<Groups>,
    generator: Option<Generator>,
    /// Network bridge between nodes with separate networks.
    bridge: Option<NetworkBridge>,
    network_faults: NetworkFaults,
    /// Separate disks of nodes.
    disks: NodeDisks,
}

/// Process of the supervisor, which the keeper limits.
struct Generator {
    pid: Pid,
    /// CPU affinity before the process was limited.
    affinity: Option<CpuSet>,
}

struct KeptNode {
    id: NodeId,
    pid: Pid,
    /// Process handle, readable when the process has ended.
    pidfd: OwnedFd,
    launch: Launch,
    /// Processes of an isolated node; `None` for other nodes.
    isolated_processes: Option<IsolatedProcesses>,
    /// Bridge port of the node; `None` unless the node has its own network.
    port: Option<BridgePort>,
    /// True once SIGKILL was sent: no process of the node may continue to run.
    killed: bool,
}

/// Processes of an isolated node; [`KeptNode::pid`] is the first process of the namespace.
struct IsolatedProcesses {
    space: PidNamespace,
    /// Handle and process id of the program.
    program: (OwnedFd, Pid),
}

impl Keeper {
    /// Executes orders until the supervisor ends.
    fn run_orders(&mut self) {
        let (mut pending, mut chunk) = (Vec::new(), [0; 16 * 1024]);
        loop {
            self.wait_for_event(None);
            if !self.reap() {
                return;
            }
            match available(&self.socket, &mut chunk) {
                Ok(Some(0)) | Err(_) => return,
                Ok(Some(n)) => pending.extend_from_slice(&chunk[..n]),
                Ok(None) => continue,
            }
            while let Some(end) = pending.iter().position(|&it| it == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                let order = serde_json::from_slice(&line).map_err(KeeperError::InvalidOrder);
                let answer = order.and_then(|it| self.execute(it));
                let answer = answer.unwrap_or_else(|error| Reply::Refused((&error).into()));
                if !self.send_reply(&answer) {
                    return;
                }
            }
        }
    }

    fn execute(&mut self, order: Order) -> Result<Reply, KeeperError> {
        match order {
            Order::Open { base, owner, cgroups } => {
                let made = RunDirectory::create(&base, owner.as_ref());
                let (run, leftovers) = made.map_err(KeeperError::io(base.display()))?;
                let directory = run.path.clone();
                self.groups = Some(Groups::new(cgroups, &directory, Some(run.groups())));
                self.run = Some(run);
                Ok(Reply::Opened { directory, leftovers })
            }
            Order::Launch(id, launch) => {
                let run = self.run.as_ref().ok_or(KeeperError::NoRunDirectory)?;
                let groups = self.groups.as_mut().expect("the groups exist once the run directory does");
                let (node, group, not_applied) =
                    KeptNode::start(id, *launch, &run.path, groups, &mut self.bridge)?;
                let pid = number(node.pid);
                let program = node.isolated_processes.as_ref().map(|it| number(it.program.1));
                let name = node.launch.name.clone();
                self.nodes.push(node);
                self.apply_network_faults(&name)?;
                Ok(Reply::Launched { pid, program, group, not_applied })
            }
            Order::Generator(limits) => {
                self.release_generator();
                let (group, not_applied) = self.limit_generator(&limits)?;
                Ok(Reply::Limited { group, not_applied })
            }
            Order::Signal(id, signal) => {
                let node = self.nodes.iter_mut().find(|it| it.id == id).ok_or(KeeperError::NodeEnded)?;
                node.signal(signal).map_err(KeeperError::io("kill"))?;
                if signal == Sig::Kill {
                    // A process that waits for its disk ends only when the disk continues.
                    let name = node.launch.name.clone();
                    self.disks.thaw(&name);
                }
                Ok(Reply::Done)
            }
            Order::SignalOne(id, process, signal) => {
                let node = self.nodes.iter().find(|it| it.id == id).ok_or(KeeperError::NodeEnded)?;
                node.signal_one(process, signal).map_err(KeeperError::io("kill"))?;
                Ok(Reply::Done)
            }
            Order::Connect(name, is_connected) => {
                self.check_network(&name)?;
                self.network_faults.set_disconnected(name.clone(), !is_connected);
                let node = self.nodes.iter().find(|it| it.launch.name == name);
                if let (Some(port), Some(bridge)) = (node.and_then(|it| it.port.as_ref()), &self.bridge) {
                    bridge.link(port, !self.network_faults.is_disconnected(&name))?;
                }
                Ok(Reply::Done)
            }
            Order::Separate([name, peer], is_separate) => {
                self.check_network(&name)?;
                self.check_network(&peer)?;
                self.network_faults.set_separated([name.clone(), peer.clone()], is_separate);
                self.update_separation(&name, &peer)?;
                Ok(Reply::Done)
            }
            Order::Disk(node) => {
                let run = self.run.as_ref().ok_or(KeeperError::NoRunDirectory)?;
                self.disks.mount_point(&run.path, &node, run.owner.as_ref()).map(Reply::Disk)
            }
            Order::Fill(node, full) => self.disks.fill(&node, full).map(|()| Reply::Done),
            Order::Freeze(node, true) => self.disks.freeze(&node).map(|()| Reply::Done),
            Order::Freeze(node, false) => {
                self.disks.thaw(&node);
                Ok(Reply::Done)
            }
            Order::Stop(id) => {
                self.stop(id);
                Ok(Reply::Done)
            }
        }
    }

    /// Fails if this node runs without a network of its own.
    fn check_network(&self, name: &str) -> Result<(), KeeperError> {
        let node = self.nodes.iter().find(|it| it.launch.name == name);
        match node.is_some_and(|it| it.port.is_none()) {
            true => Err(KeeperError::NoNetwork),
            false => Ok(()),
        }
    }

    /// Disconnects a node that has just started, as the faults in effect demand.
    fn apply_network_faults(&self, name: &str) -> Result<(), KeeperError> {
        let Some(node) = self.nodes.iter().find(|it| it.launch.name == name) else { return Ok(()) };
        if let (Some(port), Some(bridge)) = (&node.port, &self.bridge)
            && self.network_faults.is_disconnected(name)
        {
            bridge.link(port, false)?;
        }
        for peer in &self.nodes {
            if self.network_faults.are_separated(name, &peer.launch.name) {
                self.update_separation(name, &peer.launch.name)?;
            }
        }
        Ok(())
    }

    /// Makes two nodes drop the packets to each other, or send them again. Does nothing unless both run.
    fn update_separation(&self, name: &str, peer: &str) -> Result<(), KeeperError> {
        let find = |name: &str| self.nodes.iter().find(|it| it.launch.name == name);
        let (Some(node), Some(other)) = (find(name), find(peer)) else { return Ok(()) };
        let is_separated = self.network_faults.are_separated(name, peer);
        for (from, to) in [(node, other), (other, node)] {
            let address = to.launch.address.ok_or(KeeperError::NoNetwork)?;
            network::drop_packets(from.pid, address, is_separated)?;
        }
        Ok(())
    }

    /// True if the supervisor still receives replies.
    fn send_reply(&mut self, word: &Reply) -> bool {
        let mut line = serde_json::to_vec(word).expect("a reply can be serialised");
        line.push(b'\n');
        self.socket.write_all(&line).is_ok()
    }

    /// Waits until an order arrives, a node ends, or `timeout` has passed.
    fn wait_for_event(&self, timeout: Option<Duration>) {
        let timeout = timeout.map(|it| Timespec::try_from(it).expect("the timeout is short"));
        let mut fds: Vec<PollFd<'_>> =
            self.nodes.iter().map(|it| PollFd::new(&it.pidfd, PollFlags::IN)).collect();
        if timeout.is_none() {
            fds.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Reaps ended processes and reports ended nodes; false if the supervisor has ended.
    fn reap(&mut self) -> bool {
        let mut connected = true;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let Some(at) = self.nodes.iter().position(|it| it.pid == pid) else { continue };
            let node = self.nodes.remove(at);
            end_group(node.pid);
            let end = match (status.exit_status(), status.terminating_signal()) {
                // The first process of the namespace encodes a signal as 128 plus its number.
                (Some(status @ 129..), _) if node.isolated_processes.is_some() => End::Signal(status - 128),
                (Some(status), _) => End::Exit(status),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            };
            connected &= self.send_reply(&Reply::Ended(node.id, end));
        }
        connected
    }

    /// Stops one node, step by step; returns when it has ended.
    fn stop(&mut self, id: NodeId) {
        let Some(node) = self.nodes.iter_mut().find(|it| it.id == id) else { return };
        self.disks.thaw(&node.launch.name);
        let mut steps = Vec::new();
        // A killed node must not run again: SIGCONT would let its paused processes act before they die.
        if !node.killed {
            steps.clone_from(&node.launch.stop);
            // A paused process would not handle SIGTERM.
            let _ = node.signal(Sig::Cont);
        }
        for step in steps {
            let Some(node) = self.nodes.iter_mut().find(|it| it.id == id) else { return };
            let _ = node.signal(step.signal);
            let deadline = Instant::now() + step.timeout;
            while self.nodes.iter().any(|it| it.id == id) && Instant::now() < deadline {
                self.wait_for_event(Some(deadline.saturating_duration_since(Instant::now())));
                self.reap();
            }
            if self.nodes.iter().all(|it| it.id != id) {
                return;
            }
        }
        if let Some(node) = self.nodes.iter_mut().find(|it| it.id == id) {
            let _ = node.signal(Sig::Kill);
        }
        while self.nodes.iter().any(|it| it.id == id) {
            self.wait_for_event(Some(Duration::from_millis(100)));
            self.reap();
        }
    }

    /// Limits the supervisor's process.
    fn limit_generator(
        &mut self,
        limits: &Limits,
    ) -> Result<(Option<Group>, Vec<UnappliedLimit>), KeeperError> {
        let pid = rustix::process::getppid().ok_or(KeeperError::NodeEnded)?;
        let mut generator = Generator { pid, affinity: None };
        let groups = self.groups.as_mut().ok_or(KeeperError::NoRunDirectory)?;
        let number = number(pid);
        let (group, mut not_applied) =
            groups.move_process(number, limits).map_err(KeeperError::io("control group"))?;
        if !limits.cpus.is_empty() {
            let before = sched_getaffinity(Some(pid)).ok();
            match cpu_set(&limits.cpus).and_then(|it| run_on(pid, &it)) {
                Ok(()) => generator.affinity = before,
                Err(reason) => not_applied.push(UnappliedLimit { limit: Limit::Cpus, reason }),
            }
        }
        self.generator = Some(generator);
        Ok((group, not_applied))
    }

    /// Removes the limits of the supervisor, if it still runs.
    fn release_generator(&mut self) {
        let Some(Generator { pid, affinity }) = self.generator.take() else { return };
        // The process id may belong to another process now.
        if rustix::process::getppid() != Some(pid) {
            return;
        }
        if let Some(groups) = &self.groups {
            groups.move_back(number(pid));
        }
        if let Some(affinity) = affinity {
            let _ = run_on(pid, &affinity);
        }
    }

    /// Stops all nodes in reverse order, kills their orphans, and removes the run directory.
    fn clear_away(&mut self) {
        self.release_generator();
        self.disks.thaw_all();
        while let Some(id) = self.nodes.last().map(|it| it.id) {
            self.stop(id);
        }
        let left = Instant::now() + Duration::from_secs(10);
        // The keeper adopts the orphans of its children. Killing an orphan may add that orphan's children.
        while Instant::now() < left {
            for orphan in children() {
                let _ = kill_process(orphan, Sig::Kill.into());
            }
            match wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => break,
                Ok(Some(_)) => {}
                // The processes are killed, but have not ended yet.
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        let removed = self.groups.take().is_none_or(|mut it| it.remove(Duration::from_secs(10)));
        self.disks.remove();
        // The directory lists the remaining control groups for the next keeper.
        if let Some(run) = self.run.take().filter(|_| removed) {
            run.remove();
        }
    }
}

/// Kills the remaining processes in the process group of an ended process. They could still hold its port.
fn end_group(leader: Pid) {
    let deadline = Instant::now() + Duration::from_secs(10);
    // The keeper adopts the orphans. While one of them exists, the group's number is not reused.
    while Instant::now() < deadline {
        match waitpgid(leader, WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return,
            Ok(Some(_)) => {}
            _ => {
                let _ = kill_process_group(leader, Sig::Kill.into());
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Sets the CPU affinity of all threads of a process; new threads inherit it.
fn run_on(pid: Pid, processors: &CpuSet) -> Result<(), UnappliedReason> {
    let tasks = PathBuf::from(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let wrong =
        |it: &dyn std::fmt::Display| UnappliedReason::Refused { path: tasks.clone(), error: it.to_string() };
    for task in std::fs::read_dir(&tasks).map_err(|it| wrong(&it))?.flatten() {
        let task = task.file_name().to_str().and_then(|it| it.parse().ok()).and_then(Pid::from_raw);
        match sched_setaffinity(task, processors) {
            // The thread has ended.
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(wrong(&error)),
        }
    }
    Ok(())
}

/// Lists child processes of the keeper.
fn children() -> Vec<Pid> {
    let keeper = std::process::id();
    let own_children = apart::parents().into_iter().filter(|it| it.1 == keeper);
    own_children.filter_map(|it| Pid::from_raw(it.0.cast_signed())).collect()
}

impl KeptNode {
    fn start(
        id: NodeId,
        launch: Launch,
        run: &Path,
        groups: &mut Groups,
        bridge: &mut Option<NetworkBridge>,
    ) -> Result<(KeptNode, Option<Group>, Vec<UnappliedLimit>), KeeperError> {
        let log = run.join("log").join(format!("{}.log", launch.name));
        let open = || OpenOptions::new().create(true).append(true).mode(0o600).open(&log);
        let (stdout, stderr) = match (open(), open()) {
            (Ok(stdout), Ok(stderr)) => (stdout, stderr),
            (Err(error), _) | (_, Err(error)) => return Err(KeeperError::io(log.display())(error)),
        };
        let (program, arguments) = launch.argv.split_first().ok_or(KeeperError::EmptyCommand)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .envs(launch.secrets.iter().map(|(name, secret)| (name, secret.reveal())))
            .current_dir(&launch.directory)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0);
        let (mut net, mut port) = (None, None);
        if let Some(address) = launch.address {
            if bridge.is_none() {
                *bridge = Some(NetworkBridge::new(address.octets()[2])?);
            }
            let bridge = bridge.as_mut().expect("the bridge exists");
            net = Some(network::leave().map_err(KeeperError::io("new network namespace"))?);
            port = Some(bridge.connect(address)?);
        }
        // Where namespaces are not permitted, the process shares the keeper's.
        let namespaces = if launch.isolated { NamespaceGuard::enter().ok() } else { None };
        let first = namespaces.is_some();
        // The first process of a namespace changes the user itself, because it mounts `/proc`, which needs root.
        let user = launch.user.clone().filter(|_| first);
        if let Some(user) = launch.user.as_ref().filter(|_| !first) {
            // The standard library drops the supplementary groups too.
            command.uid(user.uid).gid(user.gid);
        }
        let entry = groups.prepare_node(&launch.name, &launch.limits, launch.host.as_ref());
        let entry = entry.map_err(KeeperError::io("control group"))?;
        let entry = Arc::new(entry);
        let inside = Arc::clone(&entry);
        // A handle of the keeper becomes readable when the keeper ends, from any namespace.
        let keeper = pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        let keeper = keeper.map_err(KeeperError::io("pidfd_open"))?;
        // SIGKILL to the first process ends the whole namespace; other signals would not reach the other processes.
        let orphaned = if first { Sig::Kill } else { launch.orphaned }.into();
        // SAFETY: between fork and exec, the closure makes only system calls, without allocation or locks.
        unsafe {
            command.pre_exec(move || {
                if first {
                    apart::prepare_first_process(user.as_ref())?;
                }
                // The call follows the change of user, which resets this setting.
                rustix::process::set_parent_process_death_signal(Some(orphaned))?;
                inside.enter();
                // The keeper may have ended before that call.
                let mut ended = [PollFd::new(&keeper, PollFlags::IN)];
                if poll(&mut ended, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? > 0 {
                    return Err(Errno::SRCH.into());
                }
                if first { apart::fork_program() } else { Ok(()) }
            });
        }
        let child = command.spawn().map_err(KeeperError::io(Path::new(program).display()));
        drop((namespaces, net));
        let pid = Pid::from_child(&child?);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| {
            let _ = kill_process(pid, Sig::Kill.into());
            KeeperError::io("pidfd_open")(error)
        })?;
        let isolated_processes = if first { Some(IsolatedProcesses::from_first(pid)?) } else { None };
        // Drop the command, because it holds the other reference.
        drop(command);
        let entry = Arc::into_inner(entry).expect("the command, which had the other reference, is dropped");
        let (group, mut not_applied) = entry.finish();
        not_applied.extend(check_affinity(pid, &launch.limits.cpus, &not_applied));
        Ok((KeptNode { id, pid, pidfd, launch, isolated_processes, port, killed: false }, group, not_applied))
    }

    /// Signals the node's main process; see [`Order::Signal`].
    fn signal(&mut self, signal: Sig) -> io::Result<()> {
        self.killed |= signal == Sig::Kill;
        let handle = match &self.isolated_processes {
            Some(isolated_processes) if matches!(signal, Sig::Stop | Sig::Cont) => {
                isolated_processes.space.signal_all(self.pid, signal);
                return Ok(());
            }
            Some(isolated_processes) if signal != Sig::Kill => &isolated_processes.program.0,
            _ => &self.pidfd,
        };
        Ok(pidfd_send_signal(handle, signal.into())?)
    }

    /// Signals one process of this node. The process must be in the node's namespace or, without a namespace, be its
    /// main process or a descendant.
    fn signal_one(&self, process: u32, signal: Sig) -> io::Result<()> {
        let pid = Pid::from_raw(process.cast_signed()).ok_or(Errno::SRCH)?;
        let handle = match &self.isolated_processes {
            Some(isolated_processes) => isolated_processes.space.handle(pid)?,
            None => {
                let handle = pidfd_open(pid, PidfdFlags::empty())?;
                // Check the id after opening the handle. If the id still belongs to a descendant, the handle's process
                // is a descendant or has ended.
                if !super::descendants(number(self.pid)).contains(&process) {
                    return Err(Errno::SRCH.into());
                }
                handle
            }
        };
        Ok(pidfd_send_signal(&handle, signal.into())?)
    }
}

impl IsolatedProcesses {
    fn from_first(first: Pid) -> Result<IsolatedProcesses, KeeperError> {
        let found = || {
            let space = PidNamespace::from_pid(first)?;
            let program = apart::program_of(first).ok_or(Errno::SRCH)?;
            Ok(IsolatedProcesses { space, program: (space.handle(program)?, program) })
        };
        found().map_err(|error: io::Error| {
            let _ = kill_process(first, Sig::Kill.into());
            KeeperError::EndedAtOnce(error)
        })
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// Checks the CPU affinity, because the kernel silently omits CPUs that a process may not use.
fn check_affinity(pid: Pid, cpus: &[u32], known: &[UnappliedLimit]) -> Option<UnappliedLimit> {
    if cpus.is_empty() || known.iter().any(|it| it.limit == Limit::Cpus) {
        return None;
    }
    let cpus = cpu_set(cpus).ok()?;
    // An ended process has no affinity to check.
    let found = sched_getaffinity(Some(pid)).ok()?;
    let numbers: Vec<String> =
        (0..CpuSet::MAX_CPU).filter(|&it| found.is_set(it)).map(|it| it.to_string()).collect();
    let reason =
        || UnappliedReason::NoSuchProcessors(message!("limits-cpus-only", cpus = numbers.join(", ")));
    (found != cpus).then(|| UnappliedLimit { limit: Limit::Cpus, reason: reason() })
}

/// Reads bytes that are available now; `None` if there are none.
fn available(socket: &UnixStream, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, buffer, RecvFlags::DONTWAIT) {
        Ok((n, _)) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
