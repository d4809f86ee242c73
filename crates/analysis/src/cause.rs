//! Why does it stop there?
//!
//! Findings of trials at the edge are symptoms; a suspect is what would have to be turned. A full queue before something full
//! is no cause: what is nearest to the data comes first, and processors before pools, because a pooler or server that stands
//! still holds its connections meanwhile.

use crate::setting;
use model::advice::{Advice, Advised};
use model::explain::Candidate;
use model::finding::{Bound, Circumstance, Finding};
use model::plan::{Kind, Node, Setup};
use model::search::{Cause, Limit, Nudge, Proof, Proven, Suspect, Turn};

/// A quota grows by this, or shrinks by the other where the machine has no more to give.
const MORE: f64 = 1.5;
const LESS: f64 = 0.75;
/// Slots that a larger pool leaves to others: monitoring, maintenance, reserved ones.
const SPARE: u32 = 5;

/// How near to the cause a symptom is, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// Nobody is let in, or what is measured is not what is meant.
    Refused,
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
    let scene = Scene { setup, processors };
    let mut known: Vec<(Nearness, f64, Suspect)> =
        findings.iter().filter_map(|it| scene.suspect(cell, it)).collect();
    let behind =
        known.iter().any(|it| it.0 < Nearness::Clients) || findings.iter().any(|it| waits_behind(cell, it));
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
        let of_table = |it: &&Advised| {
            let Candidate { schema, table: name, .. } = &it.candidate;
            name == table || format!("{schema}.{name}") == *table
        };
        let all: Vec<&str> = advised.clone().filter(of_table).map(|it| it.ddl.as_str()).collect();
        if !all.is_empty() {
            let together = all.join("; ");
            *ddl = Some(together.clone());
            it.nudge = Some(Nudge { turn: Turn::Index { ddl: together }, amount: None });
        }
    }
    suspects
}

/// What turning brought to light. Of several that limit, the one that moved the maximum most; of none, the first suspect that
/// turning did not clear.
pub fn cause(setup: &Setup, suspects: &[Suspect], proofs: &[Proof]) -> Cause {
    let limits = proofs.iter().enumerate().filter(|(_, it)| it.verdict == Proven::Limits);
    if let Some((proof, it)) = limits.max_by(|a, b| moved(a.1).total_cmp(&moved(b.1))) {
        return Cause::Proven { proof, by: taken_by(setup, suspects, &it.limit) };
    }
    let cleared =
        |it: &Suspect| proofs.iter().any(|proof| proof.limit == it.limit && proof.verdict == Proven::DoesNot);
    let suspect = suspects.iter().find(|it| !cleared(it)).cloned();
    suspect.map_or(Cause::NotKnown, |suspect| Cause::Suspected { suspect })
}

/// What takes PostgreSQL's processor, where that is the limit: a table that is read as a whole, which no index would spare.
fn taken_by(setup: &Setup, suspects: &[Suspect], limit: &Limit) -> Option<Limit> {
    let Limit::Cpu { node } = limit else { return None };
    let server =
        setup.stack.nodes.last().filter(|it| it.name == *node && matches!(it.kind, Kind::Postgres(_)));
    let scan = |it: &&Suspect| it.nudge.is_none() && matches!(it.limit, Limit::Scan { .. });
    suspects.iter().find(scan).filter(|_| server.is_some()).map(|it| it.limit.clone())
}

/// Its elasticity; of a switch, the share that the maximum grew by, a doubling being as much as any amount can do. A feed that
/// flatters has it fall by as much.
fn moved(it: &Proof) -> f64 {
    let of = |ratio: f64| if matches!(it.limit, Limit::Feed { .. }) { 1.0 / ratio } else { ratio };
    let of_switch = || it.ratio.map(|it| (of(it.0) - 1.0).clamp(0.0, 1.0));
    it.elasticity.map(|it| it.0).or_else(of_switch).unwrap_or(0.0)
}

/// Whether transactions of the cell wait for something that they have reached.
fn waits_behind(of: usize, it: &Finding) -> bool {
    match it {
        Finding::QueueInPooler { cell, .. }
        | Finding::QueueInBalancer { cell, .. }
        | Finding::SessionsWait { cell, .. } => *cell == of,
        _ => false,
    }
}

struct Scene<'a> {
    setup: &'a Setup,
    /// Of the machine.
    processors: f64,
}

impl Scene<'_> {
    fn suspect(&self, of: usize, it: &Finding) -> Option<(Nearness, f64, Suspect)> {
        let found = |nearness, full: f64, limit, nudge| Some((nearness, full, Suspect { nudge, limit }));
        let full = |used: f64, of: f64, throttled: &Option<f64>| (used / of).max(throttled.unwrap_or(0.0));
        match it {
            Finding::SlotsExhausted { cell, max_connections, .. } if *cell == of => {
                let node = self.setup.stack.nodes.last()?.name.clone();
                let nudge = max_connections.map(|it| amount(Turn::Slots { node: node.clone() }, it, 2 * it));
                found(Nearness::Refused, 1.0, Limit::Slots { node }, nudge)
            }
            Finding::PoolerBound { cell, node, cpu, of_cpu, throttled, .. }
            | Finding::ServerBound { cell, node, cpu, of_cpu, throttled, .. }
            | Finding::Bound { cell, by: Bound::Service { node, cpu, of_cpu, throttled, .. } }
                if *cell == of =>
            {
                let limit = Limit::Cpu { node: node.clone() };
                found(Nearness::Processor, full(*cpu, *of_cpu, throttled), limit, self.cpu(node, *of_cpu))
            }
            Finding::PoolBound { cell, node, pool, lent, .. } if *cell == of => {
                let full = lent / f64::from(*pool);
                found(
                    Nearness::Pooler,
                    full,
                    Limit::Pool { node: node.clone() },
                    Some(self.pool(node, *pool)),
                )
            }
            Finding::QueueInBalancer { cell, node, maxconn, .. } if *cell == of => {
                let nudge = maxconn.map(|it| self.pool(node, it));
                found(Nearness::Pooler, 0.0, Limit::Pool { node: node.clone() }, nudge)
            }
            Finding::ClientsStarved { cell, pool: Some((_, size)), .. } if *cell == of => {
                let pooled = |it: &&Node| matches!(it.kind, Kind::PgBouncer(_) | Kind::Odyssey(_));
                let node = self.setup.stack.nodes.iter().rev().find(pooled)?.name.clone();
                let nudge = Some(self.pool(&node, *size));
                found(Nearness::Pooler, 0.0, Limit::Pool { node }, nudge)
            }
            // Of other locks than rows'.
            Finding::SessionsWait { cell, event, share, .. } if *cell == of && event.starts_with("Lock/") => {
                found(Nearness::Waits, *share, Limit::RowLocks { statement: None }, None)
            }
            Finding::RunIsClosed { cell, in_flight_max, .. } if *cell == of => {
                let nudge = amount(Turn::Clients, *in_flight_max, 2 * in_flight_max);
                found(Nearness::Clients, 0.0, Limit::ClientCap, Some(nudge))
            }
            Finding::HostBound { cell, idle, generator, before, server, others, .. } if *cell == of => {
                // A machine that others keep busy is a circumstance; it limits where the stack itself has filled it.
                let own: f64 = [generator, before, server].into_iter().flatten().sum();
                let foreign = others.is_some_and(|it| it > own);
                let near = if foreign { Nearness::Foreign } else { Nearness::Machine };
                found(near, 1.0 - idle, Limit::Host, None)
            }
            Finding::Circumstance { cell, it } if *cell == of => match it {
                Circumstance::FeedFits { feed, .. } => {
                    let nudge = self.feed(feed);
                    found(Nearness::OtherData, 1.0, Limit::Feed { feed: feed.clone() }, nudge)
                }
                Circumstance::GeneratorLate { .. } => found(Nearness::Generator, 0.0, Limit::Generator, None),
                _ => None,
            },
            Finding::Bound { cell, by } if *cell == of => self.bound(by),
            _ => None,
        }
    }

    fn bound(&self, it: &Bound) -> Option<(Nearness, f64, Suspect)> {
        let switch = |name: &str, value: &str| {
            let turn = Turn::Setting { name: name.to_owned(), value: value.to_owned() };
            Some(Nudge { turn, amount: None })
        };
        let (nearness, full, limit, nudge) = match it {
            // Told with the other processors.
            Bound::Service { .. } => return None,
            Bound::ServicePool { node, size, busy, .. } => {
                let nudge = self.environment(node, &["POOL"], "POOL_SIZE", *size);
                (Nearness::ServicePool, busy / size, Limit::ServicePool { node: node.clone() }, nudge)
            }
            Bound::ServiceThreads { node, size, busy, .. } => {
                let nudge = self.environment(node, &["THREADS", "WORKERS"], "THREADS", *size);
                (Nearness::ServiceThreads, busy / size, Limit::ServiceThreads { node: node.clone() }, nudge)
            }
            Bound::Reads { node, per_second, quota, waits, in_bytes } => {
                let limit = Limit::Reads { node: node.clone() };
                let turn = Turn::ReadIops { node: node.clone() };
                disk(limit, turn, *per_second, *quota, *waits, *in_bytes)
            }
            Bound::Writes { node, per_second, quota, waits, in_bytes } => {
                let limit = Limit::Writes { node: node.clone() };
                let turn = Turn::WriteIops { node: node.clone() };
                disk(limit, turn, *per_second, *quota, *waits, *in_bytes)
            }
            Bound::Memory { node, used, limit, .. } => {
                let turn = Turn::Memory { node: node.clone() };
                let nudge = Nudge { turn, amount: Some((*limit, 2.0 * limit)) };
                (Nearness::Memory, used / limit, Limit::Memory { node: node.clone() }, Some(nudge))
            }
            Bound::WalFlush { share, .. } => {
                (Nearness::Waits, *share, Limit::WalFlush, switch("synchronous_commit", "off"))
            }
            // Its own disk is waited for as before.
            Bound::SyncReplicas { share, .. } => {
                (Nearness::Waits, *share, Limit::SyncReplicas, switch("synchronous_commit", "local"))
            }
            Bound::RowLocks { share, statements, .. } => {
                let statement = statements.first().cloned();
                (Nearness::Waits, *share, Limit::RowLocks { statement }, None)
            }
            Bound::Scans { table, cpu, .. } => {
                let limit = Limit::Scan { table: table.clone(), ddl: None };
                (Nearness::Work, cpu.unwrap_or(0.0), limit, None)
            }
            // Eight times the default, so that none comes in a trial.
            Bound::Checkpoints { share, .. } => {
                (Nearness::Waits, share.min(0.1), Limit::Checkpoints, switch("max_wal_size", "8GB"))
            }
            Bound::Clients { clients, .. } => {
                let nudge = amount(Turn::Clients, *clients, 2 * clients);
                (Nearness::Clients, 1.0, Limit::Clients, Some(nudge))
            }
        };
        Some((nearness, full, Suspect { nudge, limit }))
    }

    /// Half as much again where the machine has that beside what others may use, else a quarter less.
    fn cpu(&self, name: &str, of: f64) -> Option<Nudge> {
        let stack = &self.setup.stack;
        let replicas = stack.replication.as_ref().map(|it| (&it.limits, f64::from(it.replicas)));
        let is_replica = stack.replicas().iter().any(|it| it == name);
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
        let one_thread = self.node(name).is_some_and(|it| matches!(it.kind, Kind::PgBouncer(_)));
        let enough = copies_of * mine * MORE + taken <= whole && !(one_thread && mine * MORE > 1.0);
        let to = if enough { MORE } else { LESS } * mine;
        Some(Nudge { turn: Turn::Cpu { node: name.to_owned() }, amount: Some((mine, to)) })
    }

    /// Rows of the whole table, where it is known which.
    fn feed(&self, name: &str) -> Option<Nudge> {
        let of_name = self.setup.feeds.iter().find(|it| it.name == name)?;
        let turn = Turn::FeedRows { feed: name.to_owned() };
        setting::all_rows(of_name).map(|_| Nudge { turn, amount: None })
    }

    /// Twice as many, or half as many again where PostgreSQL has not so many slots.
    fn pool(&self, node: &str, size: u32) -> Nudge {
        let slots = match self.setup.stack.nodes.last().map(|it| &it.kind) {
            Some(Kind::Postgres(it)) => it.max_connections,
            _ => u32::MAX,
        };
        let twice = size.saturating_mul(2);
        let to = if twice.saturating_add(SPARE) <= slots { twice } else { size + size.div_ceil(2) };
        amount(Turn::PoolSize { node: node.to_owned() }, size, to)
    }

    /// Twice as many, by the variable of its environment whose name has one of these words; else by the usual name.
    fn environment(&self, name: &str, words: &[&str], usual: &str, size: f64) -> Option<Nudge> {
        let Kind::Service(service) = &self.node(name)?.kind else { return None };
        let number = |it: &(String, String)| Some((it.0.clone(), it.1.trim().parse::<f64>().ok()?));
        let of = |word: &&str| {
            let has = |it: &&(String, String)| it.0.to_uppercase().contains(word);
            service.env.iter().filter(has).find_map(number)
        };
        let (variable, now) = words.iter().find_map(of).unwrap_or((usual.to_owned(), size));
        let turn = Turn::ServiceEnv { node: name.to_owned(), variable };
        Some(Nudge { turn, amount: Some((now, 2.0 * now)) })
    }

    fn node(&self, name: &str) -> Option<&Node> {
        self.setup.stack.nodes.iter().find(|it| it.name == name)
    }
}

fn copies(it: &Node) -> f64 {
    match &it.kind {
        Kind::Service(it) => f64::from(it.copies),
        _ => 1.0,
    }
}

fn amount(turn: Turn, from: u32, to: u32) -> Nudge {
    Nudge { turn, amount: Some((from.into(), to.into())) }
}

/// With a quota that is used up, the quota; without one the disk itself, which nobody can turn.
fn disk(
    limit: Limit,
    turn: Turn,
    per_second: Option<f64>,
    quota: Option<f64>,
    waits: Option<f64>,
    in_bytes: bool,
) -> (Nearness, f64, Limit, Option<Nudge>) {
    match quota {
        Some(quota) => {
            let nudge = Nudge { turn, amount: Some((quota, 2.0 * quota)) };
            // Bytes per second have no turn of their own.
            (Nearness::Disk, per_second.unwrap_or(0.0) / quota, limit, Some(nudge).filter(|_| !in_bytes))
        }
        None => (Nearness::Waits, waits.unwrap_or(0.0), limit, None),
    }
}

#[cfg(test)]
mod tests;
