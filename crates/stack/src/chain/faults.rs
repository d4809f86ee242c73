//! What can be done to the nodes on purpose, and how is it undone?
//!
//! Everything goes through the supervisor's own handles, so that nothing but what it started can be hit.

use super::{Chain, Promotion, failed};
use crate::supervisor::{Failure, NodeId, Sig, Supervisor};
use model::plan::{Deed, Part, Whom};
use std::path::Path;

/// What was done.
#[derive(Debug, Default)]
pub struct Inflicted {
    /// To which nodes.
    pub nodes: Vec<String>,
    /// What is to be healed when its time has come; `None` for what takes no time.
    pub wound: Option<Wound>,
    /// Of a switchover, which is over.
    pub promotion: Option<Promotion>,
}

/// What lasts, until it is healed. What ends with a node is healed by its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Wound {
    /// All processes of these nodes stand still.
    Paused(Vec<NodeId>),
    /// These processes of one node do.
    Held(NodeId, Vec<u32>),
    /// Nothing goes over the networks of these.
    CutOff(Vec<NodeId>),
    /// Nothing is free on the disks of these.
    Full(Vec<String>),
}

impl Chain {
    /// Carries out a deed and returns when it is done, or has begun to last.
    pub fn inflict(&mut self, supervisor: &mut Supervisor, deed: &Deed) -> Result<Inflicted, Failure> {
        let whom = match deed {
            Deed::Kill { whom, .. }
            | Deed::Pause { whom, .. }
            | Deed::Restart { whom }
            | Deed::CutOff { whom, .. }
            | Deed::FillDisk { whom, .. } => Some(whom),
            Deed::Withhold { .. } => Some(&Whom::Primary),
            Deed::Switchover { .. } => None,
        };
        let met = whom.map_or(Ok(Vec::new()), |it| self.who(it))?;
        for (name, _) in &met {
            self.disturb(name);
        }
        let nodes: Vec<String> = met.iter().map(|it| it.0.clone()).collect();
        let ids: Vec<NodeId> = met.iter().map(|it| it.1).collect();
        let mut done = Inflicted { nodes, ..Inflicted::default() };
        match deed {
            Deed::Kill { part: Part::Node, .. } => {
                for (name, id) in met {
                    kill_all(supervisor, &name, id)?;
                }
            }
            Deed::Kill { part, .. } => {
                for (name, id) in met {
                    let process = part_of(supervisor, id, *part);
                    let process =
                        process.ok_or_else(|| failed(&name, "be killed", &"it has no such process"))?;
                    supervisor.signal_one(id, process, Sig::Kill)?;
                }
            }
            Deed::Pause { .. } => {
                for id in &ids {
                    tell_all(supervisor, *id, Sig::Stop)?;
                }
                done.wound = Some(Wound::Paused(ids));
            }
            Deed::Restart { .. } => {
                for (name, _) in &met {
                    self.restart(supervisor, name)?;
                }
            }
            Deed::Switchover { to } => {
                let to = match to {
                    Some(it) => self.who(it)?.into_iter().next().map(|it| it.0),
                    None => None,
                };
                let promotion = self.switch_over(supervisor, to.as_deref())?;
                done.nodes = vec![promotion.from.clone(), promotion.to.clone()];
                done.promotion = Some(promotion);
            }
            Deed::CutOff { .. } => {
                for id in &ids {
                    supervisor.link(*id, false)?;
                }
                done.wound = Some(Wound::CutOff(ids));
            }
            Deed::FillDisk { .. } => {
                for (name, _) in &met {
                    supervisor.fill(name, true)?;
                }
                done.wound = Some(Wound::Full(done.nodes.clone()));
            }
            Deed::Withhold { .. } => {
                let id = ids[0];
                let senders = titled(supervisor, id, |title| title.contains("walsender"));
                for it in &senders {
                    supervisor.signal_one(id, *it, Sig::Stop)?;
                }
                done.wound = Some(Wound::Held(id, senders));
            }
        }
        Ok(done)
    }

    /// Undoes what lasts. A node that has ended meanwhile has nothing to be healed of.
    pub fn heal(&mut self, supervisor: &mut Supervisor, wound: Wound) -> Result<(), Failure> {
        match wound {
            Wound::Paused(nodes) => {
                for id in nodes {
                    if supervisor.ended(id).is_none() {
                        tell_all(supervisor, id, Sig::Cont)?;
                    }
                }
            }
            Wound::Held(id, processes) => {
                for it in processes {
                    // It may have ended, as all of its node may.
                    let _ = supervisor.signal_one(id, it, Sig::Cont);
                }
            }
            Wound::CutOff(nodes) => {
                for id in nodes {
                    if supervisor.ended(id).is_none() {
                        supervisor.link(id, true)?;
                    }
                }
            }
            // A disk stays, whether its node runs or not.
            Wound::Full(nodes) => nodes.iter().try_for_each(|it| supervisor.fill(it, false))?,
        }
        Ok(())
    }

    /// The nodes that are meant now, and run under us.
    fn who(&mut self, whom: &Whom) -> Result<Vec<(String, NodeId)>, Failure> {
        if matches!(whom, Whom::Primary | Whom::Replica) && self.replication().is_some() {
            self.notice();
        }
        let primary = self.primary_index();
        let server = |at: usize| self.servers().get(at).map(|it| it.plan.name.clone());
        let name = match whom {
            Whom::Primary => server(primary),
            Whom::Replica => server(usize::from(primary == 0)),
            Whom::Node(it) => Some(it.clone()),
            Whom::Etcd => {
                let keys = self.replicas.as_ref().map(|it| it.keys.nodes.clone());
                return keys
                    .filter(|it| !it.is_empty())
                    .ok_or_else(|| failed("etcd", "be found", &"there is none"));
            }
        };
        let name = name.ok_or_else(|| failed("postgres", "be found", &"there is no such server"))?;
        let id = self.ours(&name)?;
        Ok(vec![(name, id)])
    }

    /// Learns who takes writes now, where somebody else decides it.
    pub(super) fn notice(&mut self) {
        let seen = self.look();
        let states = seen.iter().enumerate().filter_map(|(at, it)| Some((at, it.state?)));
        let writes = states.filter(|it| !it.1.recovers).max_by_key(|it| it.1.timeline);
        if let (Some((at, _)), Some(replicas)) = (writes, &mut self.replicas) {
            replicas.primary = at;
        }
    }
}

/// Ends all processes of a node, and returns when they have.
fn kill_all(supervisor: &mut Supervisor, name: &str, id: NodeId) -> Result<(), Failure> {
    if supervisor.ended(id).is_some() {
        return Err(failed(name, "be killed", &"it does not run"));
    }
    tell_all(supervisor, id, Sig::Kill)?;
    supervisor.stop(id).map(drop)
}

/// One that is a world of its own is told at once, another process by process: its own first.
fn tell_all(supervisor: &mut Supervisor, id: NodeId, signal: Sig) -> Result<(), Failure> {
    let others = if supervisor.is_apart(id) { Vec::new() } else { supervisor.processes(id) };
    let own = supervisor.pid(id);
    supervisor.signal(id, signal)?;
    for it in others.into_iter().filter(|it| Some(*it) != own) {
        // It may have ended with the first.
        let _ = supervisor.signal_one(id, it, signal);
    }
    Ok(())
}

/// The process of a node that is its postmaster, or its Patroni.
fn part_of(supervisor: &Supervisor, id: NodeId, part: Part) -> Option<u32> {
    let word = match part {
        Part::Node => return supervisor.pid(id),
        Part::Postmaster => "postgres",
        Part::Patroni => "patroni",
    };
    let named = |it: u32| read(it, "comm").trim() == word;
    // Those that it began are named alike.
    let first = |it: &u32| named(*it) && !parent(*it).is_some_and(named);
    supervisor.processes(id).into_iter().find(first)
}

/// Processes of a node whose title says so.
fn titled(supervisor: &Supervisor, id: NodeId, says: impl Fn(&str) -> bool) -> Vec<u32> {
    supervisor.processes(id).into_iter().filter(|it| says(&read(*it, "cmdline"))).collect()
}

fn parent(of: u32) -> Option<u32> {
    let stat = read(of, "stat");
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn read(process: u32, file: &str) -> String {
    let path = Path::new("/proc").join(process.to_string()).join(file);
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
