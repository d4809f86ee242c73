//! Promotion of a replica, and return of the old primary

use super::replicas::ServerStatus;
use super::{Chain, READY_TIMEOUT, RunningNode, node_error};
use crate::client::Target;
use crate::component::postgres::Postgres;
use crate::replication::{PromotionChoice, ReplicationState, choose_replica};
use crate::supervisor::{NodeError, Readiness, Sig, Supervisor};
use model::message;
use model::plan::{FailoverManager, Promoter, PromotionPolicy, SyncMode};
use std::time::{Duration, Instant};

/// A completed promotion.
#[derive(Clone, Debug, PartialEq)]
pub struct Promotion {
    /// Node names of the old and the new primary.
    pub from: String,
    pub to: String,
    /// State of every server before a replica was chosen.
    pub statuses: Vec<ServerStatus>,
    /// True if no acknowledged write can be missing: see [`PromotionChoice::safe`]. False if a cluster manager
    /// promoted, because it does not report this.
    pub safe: bool,
    /// Replicas that received more WAL than the new primary. They cannot follow the new primary before they rejoin.
    pub diverged: Vec<String>,
    /// Time from the start of the promotion until the new primary accepted writes.
    pub took: Duration,
    /// Timeline of the new primary.
    pub timeline: u32,
}

/// Result of a rejoin, after which a former primary follows the new primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejoinResult {
    pub node: String,
    /// True if `pg_rewind` succeeded: it drops only changes that the new primary lacks. False if all data was copied
    /// again.
    pub rewound: bool,
    pub took: Duration,
}

/// Timeout for replicas to receive the WAL that a primary had sent before it ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Like [`DRAIN_TIMEOUT`], for an old primary that may still run.
const UNFENCED_DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

impl Chain {
    /// Promotes a replica in place of a failed primary, according to the plan's policy. The other servers then follow
    /// the new primary.
    ///
    /// An old primary that still runs is killed first, unless the plan disables fencing.
    pub fn fail_over(&mut self, supervisor: &mut Supervisor) -> Result<Promotion, NodeError> {
        let (promoter, sync) = self.promoter()?;
        let start = Instant::now();
        let from = self.primary_index();
        let (name, id) = {
            let server = self.server_mut(from);
            (server.plan.name.clone(), server.node.expect("a server that pgdyno started is a node"))
        };
        self.replicas.as_mut().expect("a stack with a promoter has replicas").changed = true;
        if promoter.fence && supervisor.end_of(id).is_none() {
            supervisor.signal(id, Sig::Kill)?;
            supervisor.stop(id)?;
        }
        let statuses =
            self.await_drained(from, if promoter.fence { DRAIN_TIMEOUT } else { UNFENCED_DRAIN_TIMEOUT });
        let replicas: Vec<usize> = (0..statuses.len()).filter(|it| *it != from).collect();
        let states: Vec<Option<ReplicationState>> = replicas.iter().map(|it| statuses[*it].state).collect();
        let chosen = choose_replica(&states, sync, promoter.policy)
            .map_err(|error| node_error(&name, message!("attempt-replace-primary"), &error))?;
        self.promote(supervisor, replicas[chosen.replica], chosen, statuses, start)
    }

    /// Performs a planned switchover: stops the primary, which first sends all WAL to the replicas, and promotes the
    /// best or the named replica. The old primary then follows the new primary.
    pub fn switch_over(
        &mut self,
        supervisor: &mut Supervisor,
        to: Option<&str>,
    ) -> Result<Promotion, NodeError> {
        if self.is_managed() {
            return self.switch_over_by_manager(supervisor, to);
        }
        let (_, sync) = self.promoter()?;
        let start = Instant::now();
        let from = self.primary_index();
        let name = self.server_mut(from).plan.name.clone();
        let successor = to.map(|to| {
            let at = self.servers().iter().position(|it| it.plan.name == to).filter(|it| *it != from);
            at.ok_or_else(|| node_error(to, message!("attempt-become-primary"), message!("node-no-replica")))
        });
        let successor = successor.transpose()?;
        self.replicas.as_mut().expect("a stack with a promoter has replicas").changed = true;
        // A fast shutdown first sends all WAL to the connected replicas.
        self.postgres_at(from).stop(supervisor)?;
        let statuses = self.await_drained(from, DRAIN_TIMEOUT);
        let replicas: Vec<usize> = (0..statuses.len()).filter(|it| *it != from).collect();
        let states: Vec<Option<ReplicationState>> = replicas.iter().map(|it| statuses[*it].state).collect();
        let mut chosen = choose_replica(&states, sync, PromotionPolicy::Advanced)
            .map_err(|error| node_error(&name, message!("attempt-hand-over"), &error))?;
        if let Some(at) = successor {
            chosen.replica =
                replicas.iter().position(|it| *it == at).expect("the promoted server is a replica");
        }
        let promotion = self.promote(supervisor, replicas[chosen.replica], chosen, statuses, start)?;
        // The old primary has no changes that the new primary lacks, so it needs no rewind.
        self.follow(supervisor, from)?;
        Ok(promotion)
    }

    /// Restarts a former primary or diverged replica as a replica of the new primary. Changes that the new primary
    /// lacks are lost.
    pub fn rejoin(&mut self, supervisor: &mut Supervisor, name: &str) -> Result<RejoinResult, NodeError> {
        let start = Instant::now();
        let primary = self.primary_index();
        let at = self.servers().iter().position(|it| it.plan.name == name).filter(|it| *it != primary);
        let at =
            at.ok_or_else(|| node_error(name, message!("attempt-rejoin"), message!("node-no-other-server")))?;
        self.postgres_at(at).stop(supervisor)?;
        if self.is_managed() {
            return self.rejoin_by_manager(supervisor, at, start);
        }
        self.set_upstream(supervisor, at)?;
        // pg_rewind reads the timeline from the source's last checkpoint, so a checkpoint on the new timeline is
        // needed.
        let target = self.target_at(primary);
        let checkpoint = target.open(READY_TIMEOUT).and_then(|mut it| it.query("checkpoint"));
        checkpoint.map_err(|it| node_error(name, message!("attempt-rejoin"), &it))?;
        let source = self.postgres_at(primary).port;
        let server = self.postgres_at(at);
        // Before version 15, pg_rewind has no option for the configuration file.
        let rewound = server.installation.version.major >= 15 && server.rewind(supervisor, source).is_ok();
        if !rewound {
            server.base_backup_from(supervisor, source)?;
        }
        self.follow(supervisor, at)?;
        Ok(RejoinResult { node: name.to_owned(), rewound, took: start.elapsed() })
    }

    /// Returns the state of all servers once no replica receives WAL any more, or after `timeout`.
    fn await_drained(&self, primary: usize, timeout: Duration) -> Vec<ServerStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            let statuses = self.server_statuses();
            let flows = statuses
                .iter()
                .enumerate()
                .any(|(at, status)| at != primary && status.state.is_some_and(|it| it.is_receiving));
            if !flows || Instant::now() > deadline {
                return statuses;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn promote(
        &mut self,
        supervisor: &mut Supervisor,
        to: usize,
        chosen: PromotionChoice,
        statuses: Vec<ServerStatus>,
        start: Instant,
    ) -> Result<Promotion, NodeError> {
        let from = self.primary_index();
        let from_name = self.server_mut(from).plan.name.clone();
        let RunningNode { plan, node, .. } = self.server_mut(to);
        let (name, id) = (plan.name.clone(), node.expect("a server that pgdyno started is a node"));
        let target = self.target_at(to);
        let failure = |it: &crate::client::Error| node_error(&name, message!("attempt-promote"), it);
        let mut session = target.open(READY_TIMEOUT).map_err(|it| failure(&it))?;
        session.query("select pg_promote(false)").map_err(|it| failure(&it))?;
        let timeline =
            supervisor.await_ready(id, READY_TIMEOUT, || {
                match crate::replication::query_state(&mut session) {
                    Ok(it) if !it.in_recovery => Readiness::Ready(it.timeline),
                    Ok(_) => Readiness::NotYet(message!("node-in-recovery")),
                    Err(it) => Readiness::Never((&it).into()),
                }
            })?;
        let took = start.elapsed();
        let replicas = self.replicas.as_mut().expect("the promoted server is a replica");
        replicas.primary = to;
        for at in (0..statuses.len()).filter(|it| *it != from) {
            self.set_upstream(supervisor, at)?;
        }
        let strayed = diverged_replicas(&statuses, to, from);
        Ok(Promotion {
            from: from_name,
            to: name,
            statuses,
            safe: chosen.safe,
            diverged: strayed,
            took,
            timeline,
        })
    }

    /// Starts a stopped server as a replica of the primary and waits until it streams.
    fn follow(&mut self, supervisor: &mut Supervisor, at: usize) -> Result<(), NodeError> {
        self.set_upstream(supervisor, at)?;
        let server = self.postgres_at(at);
        server.create_standby_signal(supervisor)?;
        server.restart(supervisor)?;
        let node = server.node;
        self.server_mut(at).node = Some(node);
        self.await_followers(supervisor, self.primary_index())
    }

    /// Restarts a server under its manager, which rewinds or copies the data.
    fn rejoin_by_manager(
        &mut self,
        supervisor: &mut Supervisor,
        at: usize,
        start: Instant,
    ) -> Result<RejoinResult, NodeError> {
        let server = self.postgres_at(at);
        let made = |postgres: &Postgres| {
            std::fs::metadata(postgres.local_data.join("PG_VERSION")).and_then(|it| it.created()).ok()
        };
        let before = made(server);
        server.spawn(supervisor)?;
        let node = server.node;
        self.server_mut(at).node = Some(node);
        self.await_followers(supervisor, self.primary_index())?;
        let rewound = before.is_some() && made(self.postgres_at(at)) == before;
        let node = self.server_mut(at).plan.name.clone();
        Ok(RejoinResult { node, rewound, took: start.elapsed() })
    }

    fn is_managed(&self) -> bool {
        self.replication().is_some_and(|it| matches!(it.manager, FailoverManager::External(_)))
    }

    fn target_at(&mut self, at: usize) -> Target {
        self.server_mut(at).admin.clone().expect("a server that pgdyno started is a node")
    }

    /// Returns the promotion policy and the synchronous mode; an error if a cluster manager promotes instead of pgdyno,
    /// or if there are no replicas.
    fn promoter(&self) -> Result<(Promoter, SyncMode), NodeError> {
        let plan = self.replication().map(|it| (&it.manager, it.sync));
        match plan {
            Some((FailoverManager::Builtin(it), sync)) => Ok((*it, sync)),
            Some((FailoverManager::External(manager), _)) => {
                let reason = message!("node-manager-decides", manager = manager.product.name);
                Err(node_error("postgres", message!("attempt-replace-primary"), reason))
            }
            None => Err(node_error(
                "postgres",
                message!("attempt-replace-primary"),
                message!("node-without-replicas"),
            )),
        }
    }
}

/// Lists replicas that have more WAL of the old timeline than the new primary had when it was promoted.
fn diverged_replicas(statuses: &[ServerStatus], to: usize, from: usize) -> Vec<String> {
    let end = |status: &ServerStatus| status.state.map(|it| it.flushed.max(it.replayed));
    let fork = end(&statuses[to]);
    let candidates = statuses.iter().enumerate().filter(|(at, _)| ![to, from].contains(at));
    candidates.filter(|(_, it)| fork.is_some() && end(it) > fork).map(|(_, it)| it.name.clone()).collect()
}
