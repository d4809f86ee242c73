//! Why does it stop there?
//!
//! Findings of trials at the edge are symptoms; a suspect is what would have to be turned. A full queue before something full
//! is no cause: what is nearest to the data comes first, and processors before pools, because a pooler or server that stands
//! still holds its connections meanwhile.

use crate::step_setup;
use model::advice::{Advice, IndexAdvice};
use model::explain::IndexCandidate;
use model::finding::{Bound, Circumstance, Finding};
use model::plan::{Node, NodeKind, Setup};
use model::search::{Cause, Knob, Limit, Perturbation, Proof, ProofVerdict, Suspect};

/// A quota grows by this, or shrinks by the other where the machine has no more to give.
const QUOTA_INCREASE: f64 = 1.5;
const QUOTA_DECREASE: f64 = 0.75;
/// Slots that a larger pool leaves to others: monitoring, maintenance, reserved ones.
const SPARE_SLOTS: u32 = 5;

/// How near to the cause a symptom is, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CauseRank {
    /// Nobody is let in, or what is measured is not what is meant.
    ConnectionRefused,
    OtherData,
    /// More work than the question needs.
    Work,
    Processor,
    /// A quota of the disk that is used up.
    Disk,
    Memory,
    /// Transactions stand still, and no quota is used up.
    Waits,
    Machine,
    Pooler,
    ServicePool,
    ServiceThreads,
    Clients,
    /// Others have taken the machine.
    Foreign,
    Generator,
}

/// What may hold the cell up, the likeliest first, each limit once. `findings`: of trials at or above the edge;
/// `processors`: of the machine.
///
/// Whatever is slow fills a cap in the end. So that is suspected only where nothing behind it is, and nobody waits there.
pub fn suspects(setup: &Setup, cell: usize, findings: &[Finding], processors: f64) -> Vec<Suspect> {
    let scene = CauseContext { setup, processors };
    let mut known: Vec<(CauseRank, f64, Suspect)> =
        findings.iter().filter_map(|it| scene.suspect(cell, it)).collect();
    let behind =
        known.iter().any(|it| it.0 < CauseRank::Clients) || findings.iter().any(|it| is_behind(cell, it));
    known.retain(|it| !behind || it.2.limit != Limit::ClientCap);
    // Equally near: the fuller one.
    known.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut all: Vec<Suspect> = Vec::new();
    for (_, _, it) in known {
        if !all.iter().any(|known| known.limit == it.limit) {
            all.push(it);
        }
    }
    all
}

/// The same with what there is to build: a table that is read from end to end has indexes that were advised for it.
pub fn with_indexes(mut suspects: Vec<Suspect>, cell: usize, advice: &[Advice]) -> Vec<Suspect> {
    let advised = advice.iter().filter(|it| it.cells.contains(&cell)).flat_map(|it| &it.indexes);
    for it in &mut suspects {
        let Limit::Scan { table, ddl } = &mut it.limit else { continue };
        // Statistics name the schema, `book.bookv2`, where it is not `public`.
        let of_table = |it: &&IndexAdvice| {
            let IndexCandidate { schema, table: name, .. } = &it.candidate;
            name == table || format!("{schema}.{name}") == *table
        };
        let all: Vec<&str> = advised.clone().filter(of_table).map(|it| it.ddl.as_str()).collect();
        if !all.is_empty() {
            let together = all.join("; ");
            *ddl = Some(together.clone());
            it.perturbation = Some(Perturbation { knob: Knob::Index { ddl: together }, amount: None });
        }
    }
    suspects
}

/// What turning brought to light. Of several that limit, the one that moved the maximum most; of none, the first suspect that
/// turning did not clear.
pub fn cause(setup: &Setup, suspects: &[Suspect], proofs: &[Proof]) -> Cause {
    let limits = proofs.iter().enumerate().filter(|(_, it)| it.verdict == ProofVerdict::Limits);
    if let Some((proof, it)) = limits.max_by(|a, b| effect(a.1).total_cmp(&effect(b.1))) {
        return Cause::Proven { proof, by: work_behind_cpu(setup, suspects, &it.limit) };
    }
    let cleared = |it: &Suspect| {
        proofs.iter().any(|proof| proof.limit == it.limit && proof.verdict == ProofVerdict::DoesNotLimit)
    };
    let suspect = suspects.iter().find(|it| !cleared(it)).cloned();
    suspect.map_or(Cause::NotKnown, |suspect| Cause::Suspected { suspect })
}

/// What takes PostgreSQL's processor, where that is the limit: a table that is read as a whole, which no index would spare.
fn work_behind_cpu(setup: &Setup, suspects: &[Suspect], limit: &Limit) -> Option<Limit> {
    let Limit::Cpu { node } = limit else { return None };
    let server =
        setup.stack.nodes.last().filter(|it| it.name == *node && matches!(it.kind, NodeKind::Postgres(_)));
    let scan = |it: &&Suspect| it.perturbation.is_none() && matches!(it.limit, Limit::Scan { .. });
    suspects.iter().find(scan).filter(|_| server.is_some()).map(|it| it.limit.clone())
}

/// Its elasticity; of a switch, the share that the maximum grew by, a doubling being as much as any amount can do. A feed that
/// flatters has it fall by as much.
fn effect(it: &Proof) -> f64 {
    let of = |ratio: f64| if matches!(it.limit, Limit::Feed { .. }) { 1.0 / ratio } else { ratio };
    let of_switch = || it.ratio.map(|it| (of(it.0) - 1.0).clamp(0.0, 1.0));
    it.elasticity.map(|it| it.0).or_else(of_switch).unwrap_or(0.0)
}

/// Whether transactions of the cell wait for something that they have reached.
fn is_behind(of: usize, it: &Finding) -> bool {
    match it {
        Finding::QueueInPooler { cell, .. }
        | Finding::QueueInBalancer { cell, .. }
        | Finding::SessionsWait { cell, .. } => *cell == of,
        _ => false,
    }
}

struct CauseContext<'a> {
    setup: &'a Setup,
    /// Of the machine.
    processors: f64,
}

impl CauseContext<'_> {
    fn suspect(&self, of: usize, it: &Finding) -> Option<(CauseRank, f64, Suspect)> {
        let found = |nearness, full: f64, limit, nudge| {
            Some((nearness, full, Suspect { perturbation: nudge, limit }))
        };
        let full = |used: f64, of: f64, throttled: &Option<f64>| (used / of).max(throttled.unwrap_or(0.0));
        match it {
            Finding::SlotsExhausted { cell, max_connections, .. } if *cell == of => {
                let node = self.setup.stack.nodes.last()?.name.clone();
                let nudge = max_connections
                    .map(|it| numeric_perturbation(Knob::Slots { node: node.clone() }, it, 2 * it));
                found(CauseRank::ConnectionRefused, 1.0, Limit::Slots { node }, nudge)
            }
            Finding::PoolerBound { cell, node, cpu, cpu_limit: of_cpu, throttled, .. }
            | Finding::ServerBound { cell, node, cpu, cpu_limit: of_cpu, throttled, .. }
            | Finding::Bound { cell, bound: Bound::Service { node, cpu, of_cpu, throttled, .. } }
                if *cell == of =>
            {
                let limit = Limit::Cpu { node: node.clone() };
                found(
                    CauseRank::Processor,
                    full(*cpu, *of_cpu, throttled),
                    limit,
                    self.perturb_cpu(node, *of_cpu),
                )
            }
            Finding::PoolBound { cell, node, pool, lent, .. } if *cell == of => {
                let full = lent / f64::from(*pool);
                found(
                    CauseRank::Pooler,
                    full,
                    Limit::Pool { node: node.clone() },
                    Some(self.perturb_pool(node, *pool)),
                )
            }
            Finding::QueueInBalancer { cell, node, maxconn, .. } if *cell == of => {
                let nudge = maxconn.map(|it| self.perturb_pool(node, it));
                found(CauseRank::Pooler, 0.0, Limit::Pool { node: node.clone() }, nudge)
            }
            Finding::ClientsStarved { cell, pool: Some((_, size)), .. } if *cell == of => {
                let pooled = |it: &&Node| matches!(it.kind, NodeKind::PgBouncer(_) | NodeKind::Odyssey(_));
                let node = self.setup.stack.nodes.iter().rev().find(pooled)?.name.clone();
                let nudge = Some(self.perturb_pool(&node, *size));
                found(CauseRank::Pooler, 0.0, Limit::Pool { node }, nudge)
            }
            // Of other locks than rows'.
            Finding::SessionsWait { cell, event, share, .. } if *cell == of && event.starts_with("Lock/") => {
                found(CauseRank::Waits, *share, Limit::RowLocks { statement: None }, None)
            }
            Finding::NotOpenLoop { cell, in_flight_max, .. } if *cell == of => {
                let nudge = numeric_perturbation(Knob::Clients, *in_flight_max, 2 * in_flight_max);
                found(CauseRank::Clients, 0.0, Limit::ClientCap, Some(nudge))
            }
            Finding::HostBound { cell, idle, generator, before, server, others, .. } if *cell == of => {
                // A machine that others keep busy is a circumstance; it limits where the stack itself has filled it.
                let own: f64 = [generator, before, server].into_iter().flatten().sum();
                let foreign = others.is_some_and(|it| it > own);
                let near = if foreign { CauseRank::Foreign } else { CauseRank::Machine };
                found(near, 1.0 - idle, Limit::Host, None)
            }
            Finding::Circumstance { cell, circumstance: it } if *cell == of => match it {
                Circumstance::FeedFitsCache { feed, .. } => {
                    let nudge = self.perturb_feed(feed);
                    found(CauseRank::OtherData, 1.0, Limit::Feed { feed: feed.clone() }, nudge)
                }
                Circumstance::GeneratorLate { .. } => {
                    found(CauseRank::Generator, 0.0, Limit::Generator, None)
                }
                _ => None,
            },
            Finding::Bound { cell, bound: by } if *cell == of => self.suspect_of_bound(by),
            _ => None,
        }
    }

    fn suspect_of_bound(&self, it: &Bound) -> Option<(CauseRank, f64, Suspect)> {
        let switch = |name: &str, value: &str| {
            let turn = Knob::Setting { name: name.to_owned(), value: value.to_owned() };
            Some(Perturbation { knob: turn, amount: None })
        };
        let (nearness, full, limit, nudge) = match it {
            // Told with the other processors.
            Bound::Service { .. } => return None,
            Bound::ServicePool { node, size, busy, .. } => {
                let nudge = self.perturb_variable(node, &["POOL"], "POOL_SIZE", *size);
                (CauseRank::ServicePool, busy / size, Limit::ServicePool { node: node.clone() }, nudge)
            }
            Bound::ServiceThreads { node, size, busy, .. } => {
                let nudge = self.perturb_variable(node, &["THREADS", "WORKERS"], "THREADS", *size);
                (CauseRank::ServiceThreads, busy / size, Limit::ServiceThreads { node: node.clone() }, nudge)
            }
            Bound::Reads { node, per_second, quota, waits, in_bytes } => {
                let limit = Limit::Reads { node: node.clone() };
                let turn = Knob::ReadIops { node: node.clone() };
                disk_suspect(limit, turn, *per_second, *quota, *waits, *in_bytes)
            }
            Bound::Writes { node, per_second, quota, waits, in_bytes } => {
                let limit = Limit::Writes { node: node.clone() };
                let turn = Knob::WriteIops { node: node.clone() };
                disk_suspect(limit, turn, *per_second, *quota, *waits, *in_bytes)
            }
            Bound::Memory { node, used, limit, .. } => {
                let turn = Knob::Memory { node: node.clone() };
                let nudge = Perturbation { knob: turn, amount: Some((*limit, 2.0 * limit)) };
                (CauseRank::Memory, used / limit, Limit::Memory { node: node.clone() }, Some(nudge))
            }
            Bound::WalFlush { share, .. } => {
                (CauseRank::Waits, *share, Limit::WalFlush, switch("synchronous_commit", "off"))
            }
            // Its own disk is waited for as before.
            Bound::SyncReplicas { share, .. } => {
                (CauseRank::Waits, *share, Limit::SyncReplicas, switch("synchronous_commit", "local"))
            }
            Bound::RowLocks { share, statements, .. } => {
                let statement = statements.first().cloned();
                (CauseRank::Waits, *share, Limit::RowLocks { statement }, None)
            }
            Bound::Scans { table, cpu, .. } => {
                let limit = Limit::Scan { table: table.clone(), ddl: None };
                (CauseRank::Work, cpu.unwrap_or(0.0), limit, None)
            }
            // Eight times the default, so that none comes in a trial.
            Bound::Checkpoints { share, .. } => {
                (CauseRank::Waits, share.min(0.1), Limit::Checkpoints, switch("max_wal_size", "8GB"))
            }
            Bound::Clients { clients, .. } => {
                let nudge = numeric_perturbation(Knob::Clients, *clients, 2 * clients);
                (CauseRank::Clients, 1.0, Limit::Clients, Some(nudge))
            }
        };
        Some((nearness, full, Suspect { perturbation: nudge, limit }))
    }

    /// Half as much again where the machine has that beside what others may use, else a quarter less.
    fn perturb_cpu(&self, name: &str, of: f64) -> Option<Perturbation> {
        let stack = &self.setup.stack;
        let replicas = stack.replication.as_ref().map(|it| (&it.limits, f64::from(it.replicas)));
        let is_replica = stack.replica_names().iter().any(|it| it == name);
        let (limits, copies_of, mine) = match replicas.filter(|_| is_replica) {
            Some((limits, count)) => (limits, count, of),
            None => self.node(name).map(|it| (&it.limits, copies(it), of / copies(it)))?,
        };
        let here = |it: &[u32]| {
            limits.cpus.is_empty() || it.is_empty() || it.iter().any(|it| limits.cpus.contains(it))
        };
        let whole = match limits.cpus.len() {
            0 => self.processors,
            pinned => (pinned as f64).min(self.processors),
        };
        let others = stack.nodes.iter().filter(|it| it.name != name).map(|it| (&it.limits, copies(it)));
        let others = others.chain(replicas.filter(|_| !is_replica)).chain([(&stack.generator, 1.0)]);
        // Who has no quota may use what is there; that it does so is another finding.
        let taken: f64 =
            others.filter(|it| here(&it.0.cpus)).map(|(it, copies)| copies * it.cpu.unwrap_or(0.0)).sum();
        let one_thread = self.node(name).is_some_and(|it| matches!(it.kind, NodeKind::PgBouncer(_)));
        let enough = copies_of * mine * QUOTA_INCREASE + taken <= whole
            && !(one_thread && mine * QUOTA_INCREASE > 1.0);
        let to = if enough { QUOTA_INCREASE } else { QUOTA_DECREASE } * mine;
        Some(Perturbation { knob: Knob::Cpu { node: name.to_owned() }, amount: Some((mine, to)) })
    }

    /// Rows of the whole table, where it is known which.
    fn perturb_feed(&self, name: &str) -> Option<Perturbation> {
        let of_name = self.setup.feeds.iter().find(|it| it.name == name)?;
        let turn = Knob::FeedRows { feed: name.to_owned() };
        step_setup::all_rows(of_name).map(|_| Perturbation { knob: turn, amount: None })
    }

    /// Twice as many, or half as many again where PostgreSQL has not so many slots.
    fn perturb_pool(&self, node: &str, size: u32) -> Perturbation {
        let slots = match self.setup.stack.nodes.last().map(|it| &it.kind) {
            Some(NodeKind::Postgres(it)) => it.max_connections,
            _ => u32::MAX,
        };
        let twice = size.saturating_mul(2);
        let to = if twice.saturating_add(SPARE_SLOTS) <= slots { twice } else { size + size.div_ceil(2) };
        numeric_perturbation(Knob::PoolSize { node: node.to_owned() }, size, to)
    }

    /// Twice as many, by the variable of its environment whose name has one of these words; else by the usual name.
    fn perturb_variable(&self, name: &str, words: &[&str], usual: &str, size: f64) -> Option<Perturbation> {
        let NodeKind::Service(service) = &self.node(name)?.kind else { return None };
        let number = |it: &(String, String)| Some((it.0.clone(), it.1.trim().parse::<f64>().ok()?));
        let of = |word: &&str| {
            let has = |it: &&(String, String)| it.0.to_uppercase().contains(word);
            service.env.iter().filter(has).find_map(number)
        };
        let (variable, now) = words.iter().find_map(of).unwrap_or((usual.to_owned(), size));
        let turn = Knob::ServiceEnv { node: name.to_owned(), variable };
        Some(Perturbation { knob: turn, amount: Some((now, 2.0 * now)) })
    }

    fn node(&self, name: &str) -> Option<&Node> {
        self.setup.stack.nodes.iter().find(|it| it.name == name)
    }
}

fn copies(it: &Node) -> f64 {
    match &it.kind {
        NodeKind::Service(it) => f64::from(it.copies),
        _ => 1.0,
    }
}

fn numeric_perturbation(turn: Knob, from: u32, to: u32) -> Perturbation {
    Perturbation { knob: turn, amount: Some((from.into(), to.into())) }
}

/// With a quota that is used up, the quota; without one the disk itself, which nobody can turn.
fn disk_suspect(
    limit: Limit,
    turn: Knob,
    per_second: Option<f64>,
    quota: Option<f64>,
    waits: Option<f64>,
    in_bytes: bool,
) -> (CauseRank, f64, Limit, Option<Perturbation>) {
    match quota {
        Some(quota) => {
            let nudge = Perturbation { knob: turn, amount: Some((quota, 2.0 * quota)) };
            // Bytes per second have no turn of their own.
            (CauseRank::Disk, per_second.unwrap_or(0.0) / quota, limit, Some(nudge).filter(|_| !in_bytes))
        }
        None => (CauseRank::Waits, waits.unwrap_or(0.0), limit, None),
    }
}

#[cfg(test)]
mod tests;
