//! Fault injection on nodes
//!
//! Faults are injected only through the supervisor's own handles, so they cannot affect other processes.

use super::{Chain, Promotion, node_error};
use crate::component;
use crate::supervisor::{NodeError, NodeId, Sig, Supervisor};
use model::message;
use model::plan::{FaultAction, FaultScope, FaultTarget, IsolationPeers};
use std::path::Path;

/// Result of an injected fault.
#[derive(Debug, Default)]
pub struct InjectedFault {
    /// Names of the affected nodes.
    pub nodes: Vec<String>,
    /// The fault to revert later; `None` for an instantaneous fault.
    pub active_fault: Option<ActiveFault>,
    /// Completed promotion of a switchover.
    pub promotion: Option<Promotion>,
}

/// Fault that stays active until it is reverted. A fault that affects processes is over when the processes end.
#[derive(Debug, PartialEq, Eq)]
pub enum ActiveFault {
    /// All processes of these nodes are paused.
    Paused(Vec<NodeId>),
    /// These processes of one node are paused.
    ProcessesPaused(NodeId, Vec<u32>),
    /// The networks of these nodes are disconnected.
    CutOff(Vec<String>),
    /// Each of the first nodes is disconnected from each of the second nodes.
    Separated(Vec<String>, Vec<String>),
    /// The disks of these nodes are full.
    DiskFull(Vec<String>),
    /// The disks of these nodes are frozen.
    DiskFrozen(Vec<String>),
    /// The clocks of these nodes are shifted.
    ClockShifted(Vec<String>),
}

impl ActiveFault {
    /// True if the end of this fault also ends `other`: all processes of its node are paused.
    pub fn includes(&self, other: &ActiveFault) -> bool {
        matches!((self, other), (ActiveFault::Paused(nodes), ActiveFault::ProcessesPaused(node, _)) if nodes.contains(node))
    }
}

impl Chain {
    /// Injects a fault and returns when the fault is complete or active.
    pub fn inject(
        &mut self,
        supervisor: &mut Supervisor,
        action: &FaultAction,
    ) -> Result<InjectedFault, NodeError> {
        let target = match action {
            FaultAction::Kill { target, .. }
            | FaultAction::Pause { target, .. }
            | FaultAction::Restart { target }
            | FaultAction::Isolate { target, .. }
            | FaultAction::FillDisk { target, .. }
            | FaultAction::FreezeDisk { target, .. }
            | FaultAction::ShiftClock { target, .. } => Some(target),
            FaultAction::BlockReplication { .. } => Some(&FaultTarget::Primary),
            FaultAction::Switchover { .. } | FaultAction::Run { .. } | FaultAction::External { .. } => None,
        };
        let met = target.map_or(Ok(Vec::new()), |it| self.resolve_fault_target(it))?;
        for (name, _) in &met {
            self.mark_changed(name);
        }
        let nodes: Vec<String> = met.iter().map(|it| it.0.clone()).collect();
        let ids: Vec<NodeId> = met.iter().map(|it| it.1).collect();
        let mut done = InjectedFault { nodes, ..InjectedFault::default() };
        match action {
            FaultAction::Kill { scope: FaultScope::Node, .. } => {
                for (name, id) in met {
                    kill_all(supervisor, &name, id)?;
                }
            }
            FaultAction::Kill { scope: part, .. } => {
                for (name, id) in met {
                    let process = find_part(supervisor, id, *part);
                    let process = process.ok_or_else(|| {
                        node_error(&name, message!("attempt-kill"), message!("node-no-process"))
                    })?;
                    supervisor.signal_one(id, process, Sig::Kill)?;
                }
            }
            FaultAction::Pause { .. } => {
                for id in &ids {
                    signal_all(supervisor, *id, Sig::Stop)?;
                }
                done.active_fault = Some(ActiveFault::Paused(ids));
            }
            FaultAction::Restart { .. } => {
                for (name, _) in &met {
                    self.restart(supervisor, name)?;
                }
            }
            FaultAction::Switchover { target: to } => {
                let to = match to {
                    Some(it) => self.resolve_fault_target(it)?.into_iter().next().map(|it| it.0),
                    None => None,
                };
                let promotion = self.switch_over(supervisor, to.as_deref())?;
                done.nodes = vec![promotion.from.clone(), promotion.to.clone()];
                done.promotion = Some(promotion);
            }
            FaultAction::Isolate { from: IsolationPeers::All, .. } => {
                for (name, _) in &met {
                    supervisor.connect(name, false)?;
                }
                done.active_fault = Some(ActiveFault::CutOff(done.nodes.clone()));
            }
            FaultAction::Isolate { from, .. } => {
                let peers = self.isolation_peers(from)?;
                for (name, _) in &met {
                    for peer in peers.iter().filter(|it| *it != name) {
                        supervisor.separate(name, peer, true)?;
                    }
                }
                done.active_fault = Some(ActiveFault::Separated(done.nodes.clone(), peers));
            }
            FaultAction::FreezeDisk { .. } => {
                for (name, _) in &met {
                    supervisor.freeze(name, true)?;
                }
                done.active_fault = Some(ActiveFault::DiskFrozen(done.nodes.clone()));
            }
            FaultAction::ShiftClock { by_ns, .. } => {
                for (name, _) in &met {
                    supervisor.shift_clock(name, *by_ns)?;
                }
                done.active_fault = Some(ActiveFault::ClockShifted(done.nodes.clone()));
            }
            FaultAction::FillDisk { .. } => {
                for (name, _) in &met {
                    supervisor.fill(name, true)?;
                }
                done.active_fault = Some(ActiveFault::DiskFull(done.nodes.clone()));
            }
            FaultAction::Run { .. } | FaultAction::External { .. } => {
                unreachable!("the caller runs commands of the user")
            }
            FaultAction::BlockReplication { .. } => {
                let id = ids[0];
                let senders = processes_by_title(supervisor, id, |title| title.contains("walsender"));
                for sender in &senders {
                    supervisor.signal_one(id, *sender, Sig::Stop)?;
                }
                done.active_fault = Some(ActiveFault::ProcessesPaused(id, senders));
            }
        }
        Ok(done)
    }

    /// Reverts an active fault. A node that has ended meanwhile needs no action.
    pub fn revert(&mut self, supervisor: &mut Supervisor, fault: ActiveFault) -> Result<(), NodeError> {
        match fault {
            ActiveFault::Paused(nodes) => {
                for id in nodes {
                    if supervisor.end_of(id).is_none() {
                        signal_all(supervisor, id, Sig::Cont)?;
                    }
                }
            }
            ActiveFault::ProcessesPaused(id, processes) => {
                for process in processes {
                    // Ignore errors: the process, or its whole node, may have ended.
                    let _ = supervisor.signal_one(id, process, Sig::Cont);
                }
            }
            // A network or a disk has the fault whether its node runs or not.
            ActiveFault::CutOff(nodes) => nodes.iter().try_for_each(|it| supervisor.connect(it, true))?,
            ActiveFault::Separated(nodes, peers) => {
                for node in &nodes {
                    for peer in peers.iter().filter(|it| *it != node) {
                        supervisor.separate(node, peer, false)?;
                    }
                }
            }
            ActiveFault::DiskFull(nodes) => nodes.iter().try_for_each(|it| supervisor.fill(it, false))?,
            ActiveFault::ClockShifted(nodes) => {
                nodes.iter().try_for_each(|it| supervisor.shift_clock(it, 0))?;
            }
            ActiveFault::DiskFrozen(nodes) => {
                nodes.iter().try_for_each(|it| supervisor.freeze(it, false))?;
            }
        }
        Ok(())
    }

    /// Returns the running nodes that the target selects now; attached nodes are excluded.
    fn resolve_fault_target(&mut self, target: &FaultTarget) -> Result<Vec<(String, NodeId)>, NodeError> {
        if matches!(target, FaultTarget::Primary | FaultTarget::Replica) && self.replication().is_some() {
            self.update_primary();
        }
        let primary = self.primary_index();
        let server = |at: usize| self.servers().get(at).map(|it| it.plan.name.clone());
        let name = match target {
            FaultTarget::Primary => server(primary),
            FaultTarget::Replica => server(usize::from(primary == 0)),
            FaultTarget::Node(it) => Some(it.clone()),
            FaultTarget::Store(product) => {
                let nodes = self.replicas.as_ref().map(|it| it.store.nodes.clone());
                let missing = || node_error(product.key, message!("attempt-find"), message!("node-missing"));
                return nodes.filter(|it| !it.is_empty()).ok_or_else(missing);
            }
        };
        let name = name.ok_or_else(|| {
            node_error("postgres", message!("attempt-find"), message!("node-missing-server"))
        })?;
        let id = self.own_node_id(&name)?;
        Ok(vec![(name, id)])
    }

    /// Names of the nodes from which a fault isolates a node, which may be among them.
    fn isolation_peers(&mut self, from: &IsolationPeers) -> Result<Vec<String>, NodeError> {
        let targets = match from {
            IsolationPeers::All | IsolationPeers::Servers => {
                let servers = self.servers().into_iter().map(|it| it.plan.name.clone());
                let store = self.replicas.iter().flat_map(|it| &it.store.nodes).map(|it| it.0.clone());
                return Ok(servers.chain(store).collect());
            }
            IsolationPeers::Nodes(targets) => targets,
        };
        let mut names = Vec::new();
        for target in targets {
            names.extend(self.resolve_fault_target(target)?.into_iter().map(|it| it.0));
        }
        Ok(names)
    }

    /// Updates the last known primary of a stack in which a cluster manager promotes.
    pub(super) fn update_primary(&mut self) {
        let statuses = self.server_statuses();
        let states = statuses.iter().enumerate().filter_map(|(at, it)| Some((at, it.state?)));
        let writes = states.filter(|it| !it.1.in_recovery).max_by_key(|it| it.1.timeline);
        if let (Some((at, _)), Some(replicas)) = (writes, &mut self.replicas) {
            replicas.primary = at;
        }
    }
}

/// Kills all processes of a node and returns when they have ended.
fn kill_all(supervisor: &mut Supervisor, name: &str, id: NodeId) -> Result<(), NodeError> {
    if supervisor.end_of(id).is_some() {
        return Err(node_error(name, message!("attempt-kill"), message!("node-not-running")));
    }
    signal_all(supervisor, id, Sig::Kill)?;
    supervisor.stop(id).map(drop)
}

/// Sends a signal to all processes of a node. If the node is isolated, all processes receive the signal at once;
/// otherwise one by one, the main process first.
fn signal_all(supervisor: &mut Supervisor, id: NodeId, signal: Sig) -> Result<(), NodeError> {
    let processes = if supervisor.is_isolated(id) { Vec::new() } else { supervisor.processes(id) };
    let main_process = supervisor.pid(id);
    supervisor.signal(id, signal)?;
    for process in processes.into_iter().filter(|it| Some(*it) != main_process) {
        // Ignore errors: the process may have ended after the first signal.
        let _ = supervisor.signal_one(id, process, signal);
    }
    Ok(())
}

/// Finds a node's postmaster or its cluster manager; returns the process id.
fn find_part(supervisor: &Supervisor, id: NodeId, part: FaultScope) -> Option<u32> {
    let word = match part {
        FaultScope::Node => return supervisor.pid(id),
        FaultScope::Postmaster => "postgres",
        FaultScope::Manager(product) => component::manager(product)?.names().program,
    };
    let named = |it: u32| read_proc_file(it, "comm").trim() == word;
    // Exclude child processes, which have the same name as their parent.
    let first = |it: &u32| named(*it) && !parent_pid(*it).is_some_and(named);
    supervisor.processes(id).into_iter().find(first)
}

/// Lists processes of a node whose title satisfies `matches`.
fn processes_by_title(supervisor: &Supervisor, id: NodeId, matches: impl Fn(&str) -> bool) -> Vec<u32> {
    supervisor.processes(id).into_iter().filter(|it| matches(&read_proc_file(*it, "cmdline"))).collect()
}

fn parent_pid(process: u32) -> Option<u32> {
    let stat = read_proc_file(process, "stat");
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn read_proc_file(process: u32, file: &str) -> String {
    let path = Path::new("/proc").join(process.to_string()).join(file);
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
