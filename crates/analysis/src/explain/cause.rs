//! Suspects for the limiter of the maximum, and the cause proven by perturbations
//!
//! Findings of trials near the maximum are symptoms. Each suspect names the knob to perturb. A queue in front of a
//! saturated resource is a symptom, not a cause, so the resources nearest to the data come first. CPUs come before
//! pools, because a throttled pooler or server holds its connections longer.

mod conflicts;
mod saturation;

use crate::strategy::step_setup;
use model::advice::{Advice, IndexAdvice, Remedy, StatementAdvice};
use model::avoidable_work::{AvoidableWork, WorkEvidence};
use model::explain::{IndexCandidate, PlanNode, quote_identifier};
use model::finding::{Bound, Circumstance, ConnectionLimit, Finding};
use model::plan::{Load, Node, NodeKind, Pooler, Setup};
use model::search::{Cause, Knob, Limit, Perturbation, Proof, ProofVerdict, StepResult, Suspect};
use model::summary::QueryMode;
use saturation::LoadResponse;

/// Factor by which a perturbation raises a quota. If the machine has too few spare CPUs, the quota is lowered by
/// `QUOTA_DECREASE` instead.
const QUOTA_INCREASE: f64 = 1.5;
const QUOTA_DECREASE: f64 = 0.75;
/// Connection slots of PostgreSQL that an enlarged pool leaves free for monitoring, maintenance and reserved
/// connections.
const SPARE_SLOTS: u32 = 5;

/// Share of a pool's server connections, and number of blocked sessions, from which sessions that are idle in transaction
/// are suspected.
const IDLE_POOL_SHARE: f64 = 0.5;
const IDLE_BLOCKED_MIN: f64 = 2.0;
/// `work_mem` of the perturbation: a power of two of at least this multiple of a temporary file's size, between these bounds
/// in MB. A sort in memory needs two to three times the space of a sorted file.
const WORK_MEM_FACTOR: f64 = 4.0;
const WORK_MEM_MEGABYTES: (u64, u64) = (16, 1024);

/// Rank of a suspect, by the distance between its resource and the data. The nearest resource comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CauseRank {
    /// Connections are refused, or the measurement does not show the intended load.
    ConnectionRefused,
    OtherData,
    /// Concurrent transactions make each other fail, and the objective on errors is violated.
    Conflicts,
    /// PostgreSQL does work that a setting, maintenance or other connections avoid.
    AvoidableWork,
    /// Statements do more work than necessary, such as full scans.
    Work,
    Processor,
    /// Exhausted disk quota.
    Disk,
    Memory,
    /// Sessions that are idle in transaction hold locks or server connections.
    IdleTransactions,
    /// Transactions wait, but no quota is exhausted.
    Waits,
    Machine,
    Pooler,
    ServicePool,
    ServiceThreads,
    Clients,
    /// Inside of a service, whose resources are not visible.
    Service,
    /// Other programs use the machine.
    OtherPrograms,
    Generator,
}

/// Suspects for the limiter of the cell, most likely first, each limit and each knob once. `findings` come from trials at or above
/// the maximum. `processors` is the number of CPUs of the machine.
///
/// Any slow resource eventually fills the in-flight cap. The cap is therefore a suspect only if no other resource is a
/// suspect, no transactions wait for one, and transactions do not take longer at the cap than without load. `steps` are
/// the steps of the unchanged cell. If they show that the throughput does not rise with the load, and nothing else is
/// suspected, the limiter is inside the service.
pub fn suspects(
    setup: &Setup,
    cell: usize,
    findings: &[Finding],
    steps: &[StepResult],
    processors: f64,
) -> Vec<Suspect> {
    let context = CauseContext { setup, processors };
    let mut known: Vec<(CauseRank, f64, Suspect)> =
        findings.iter().filter_map(|it| context.suspect(cell, it)).collect();
    known.extend(
        conflicts::conflict(cell, findings, steps).map(|(code, share)| {
            (CauseRank::Conflicts, share, Suspect::new(Limit::Conflicts { code }, None))
        }),
    );
    let behind =
        known.iter().any(|it| it.0 < CauseRank::Clients) || findings.iter().any(|it| is_behind(cell, it));
    let cap = findings.iter().find_map(|finding| match finding {
        Finding::NotOpenLoop { cell: of_cell, in_flight_cap, .. } if *of_cell == cell => Some(*in_flight_cap),
        _ => None,
    });
    let response = LoadResponse::of_steps(steps, cap);
    known.retain(|it| it.2.limit != Limit::ClientCap || !behind && !response.takes_longer_at_cap);
    if !behind && !known.iter().any(|it| it.2.limit == Limit::ClientCap) {
        known.extend(context.inside_service(&response));
    }
    // Among suspects of equal rank, the suspect with the higher utilisation comes first.
    known.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut all: Vec<Suspect> = Vec::new();
    for (_, _, suspect) in known {
        // The copies of a service have one knob.
        let knob = |suspect: &Suspect| suspect.perturbation.as_ref().map(|it| it.knob.clone());
        let same = |known: &Suspect| {
            known.limit == suspect.limit || knob(&suspect).is_some_and(|it| knob(known) == Some(it))
        };
        if !all.iter().any(same) {
            all.push(suspect);
        }
    }
    all
}

/// Adds the advised indexes to suspects that are full scans of the same table. If a condition of a statement prevents the use
/// of an index, this condition becomes the limit. If the statements use an index of the table when they are planned with
/// values, but are prepared, generic plans become the limit.
pub fn with_indexes(mut suspects: Vec<Suspect>, cell: usize, advice: &[Advice], load: &Load) -> Vec<Suspect> {
    let of_cell = advice.iter().filter(|it| it.cells.contains(&cell));
    let advised = of_cell.clone().flat_map(|it| &it.indexes);
    for suspect in &mut suspects {
        let Limit::Scan { table, ddl } = &mut suspect.limit else { continue };
        // Table names from statistics include the schema, as in `book.bookv2`, unless the schema is `public`.
        let is_on_table = |index: &&IndexAdvice| {
            let IndexCandidate { schema, table: name, .. } = &index.candidate;
            name == table || format!("{schema}.{name}") == *table
        };
        let all: Vec<&str> = advised.clone().filter(is_on_table).map(|it| it.ddl.as_str()).collect();
        if !all.is_empty() {
            let statements = all.join("; ");
            *ddl = Some(statements.clone());
            suspect.perturbation = Some(Perturbation::new(Knob::Index { ddl: statements }, None));
            continue;
        }
        let mut scans = of_cell.clone().flat_map(|it| &it.statements).filter_map(|statement| {
            let scan = statement.scan.as_ref().map(|it| it.table.as_str());
            match &statement.remedy {
                Remedy::Rewrite { obstacle } => Some((scan?, obstacle)),
                _ => None,
            }
        });
        let is_same = |scanned: &str| scanned == table || scanned.strip_prefix("public.") == Some(table);
        if let Some((_, obstacle)) = scans.find(|it| is_same(it.0)) {
            let (table, obstacle) = (table.clone(), obstacle.clone());
            suspect.limit = Limit::Work { work: AvoidableWork::Condition { table, obstacle } };
            continue;
        }
        // The plans are those of statements with values. Prepared statements may have generic plans instead.
        let mut statements = of_cell.clone().flat_map(|it| &it.statements);
        let uses_index = |statement: &StatementAdvice| {
            let nodes = statement.plan.iter().flat_map(PlanNode::flatten);
            let of_table = nodes.filter(|it| node_table(it).is_some_and(|name| is_same(&name)));
            let mut kinds = of_table.map(|it| it.kind.as_str()).peekable();
            kinds.peek().is_some() && kinds.all(|it| it.starts_with("Index") || it.starts_with("Bitmap"))
        };
        if load.query_mode == QueryMode::Prepared && statements.any(uses_index) {
            let work = AvoidableWork::GenericPlans { table: table.clone() };
            let (name, value) = ("plan_cache_mode".to_owned(), "force_custom_plan".to_owned());
            let perturbation = Perturbation::new(Knob::Setting { name, value }, None);
            (suspect.limit, suspect.perturbation) = (Limit::Work { work }, Some(perturbation));
        }
    }
    suspects
}

/// `schema.table` of a node that reads a table.
fn node_table(node: &PlanNode) -> Option<String> {
    Some(format!("{}.{}", node.schema.as_ref()?, node.table.as_ref()?))
}

/// Maximum number of suspects that are perturbed if none is proven.
const PERTURBED_MAX: usize = 3;
/// Elasticity below which a proven limiter leaves room for another one. Two limiters in series, each with half of the time,
/// have 0.5.
const PARTIAL_ELASTICITY_MAX: f64 = 0.75;

/// Perturbations of the suspects in their order, each with the limit that it tests: the most likely suspects, one after the
/// other, and at last the first two of them together.
///
/// Two resources that are exhausted at the same load limit the maximum only together: raising one of them alone does not
/// move it. A lowered quota cannot show this.
pub fn perturbations(suspects: &[Suspect]) -> Vec<(Limit, Perturbation)> {
    let single = suspects.iter().filter_map(|it| Some((it.limit.clone(), it.perturbation.clone()?)));
    let mut all: Vec<(Limit, Perturbation)> = single.take(PERTURBED_MAX).collect();
    let mut raised =
        all.iter().filter(|it| !it.1.is_decrease() && !matches!(it.1.knob, Knob::FeedRows { .. }));
    if let (Some((limit, perturbation)), Some((other_limit, other))) = (raised.next(), raised.next()) {
        let limits = vec![limit.clone(), other_limit.clone()];
        let together = Perturbation { together_with: vec![other.clone()], ..perturbation.clone() };
        all.push((Limit::Together { limits }, together));
    }
    all
}

/// True if no other limiter is expected after this proof.
pub fn ends_search_for_cause(proof: &Proof) -> bool {
    // A lowered quota proves nothing until the other suspects are excluded.
    let is_proven = proof.verdict == ProofVerdict::Limits && !proof.perturbation.is_decrease();
    is_proven && proof.elasticity.is_none_or(|it| it.0 >= PARTIAL_ELASTICITY_MAX)
}

/// True if the perturbation of this limit is needed after these proofs. Two limits are tested together only if both were
/// excluded alone: otherwise one of them might be the only limiter.
pub fn is_needed(limit: &Limit, proofs: &[Proof]) -> bool {
    let Limit::Together { limits } = limit else { return true };
    let is_excluded = |limit: &Limit| {
        proofs.iter().any(|it| it.limit == *limit && it.verdict == ProofVerdict::DoesNotLimit)
    };
    limits.iter().all(is_excluded) && proofs.iter().all(|it| it.verdict != ProofVerdict::Limits)
}

/// Makes proofs by a lowered quota undecided, unless every other suspect that can be perturbed was excluded.
///
/// A lower maximum shows that the lowered resource limits the system now, not that it did before: a bystander that is
/// almost saturated becomes the limiter too.
pub fn settle_decreases(suspects: &[Suspect], proofs: &mut [Proof]) {
    let excluded = |suspect: &Suspect| {
        proofs.iter().any(|it| it.limit == suspect.limit && it.verdict == ProofVerdict::DoesNotLimit)
    };
    let open: Vec<&Limit> =
        suspects.iter().filter(|it| it.perturbation.is_some() && !excluded(it)).map(|it| &it.limit).collect();
    let is_alone = |limit: &Limit| open.iter().all(|it| *it == limit);
    let settled: Vec<bool> =
        proofs.iter().map(|it| !it.perturbation.is_decrease() || is_alone(&it.limit)).collect();
    for (proof, settled) in proofs.iter_mut().zip(settled) {
        if proof.verdict == ProofVerdict::Limits && !settled {
            proof.verdict = ProofVerdict::Undecided;
        }
    }
}

/// Proven limit with the largest effect on the maximum. If no limit is proven, the first suspect that no perturbation
/// excluded.
pub fn cause(setup: &Setup, suspects: &[Suspect], proofs: &[Proof]) -> Cause {
    let limits = proofs.iter().enumerate().filter(|(_, it)| it.verdict == ProofVerdict::Limits);
    if let Some((proof, strongest)) = limits.max_by(|a, b| effect(a.1).total_cmp(&effect(b.1))) {
        return Cause::Proven { proof, root_cause: work_behind_cpu(setup, suspects, &strongest.limit) };
    }
    let cleared =
        |suspect: &Suspect| proofs.iter().any(|proof| proof.limit == suspect.limit && excludes(proof));
    let suspect = suspects.iter().find(|it| !cleared(it)).cloned();
    suspect.map_or(Cause::NotKnown, |suspect| Cause::Suspected { suspect })
}

/// Ratio of maxima below which a doubled in-flight cap did not raise what is delivered.
const CAP_RATIO_MIN: f64 = 1.1;

/// True if the perturbation shows that its limit is not the limiter. Any slow resource fills the in-flight cap, so the cap
/// is excluded unless raising it raised the maximum.
fn excludes(proof: &Proof) -> bool {
    match proof.limit {
        Limit::ClientCap => proof.ratio.is_none_or(|it| it.0 < CAP_RATIO_MIN),
        _ => proof.verdict == ProofVerdict::DoesNotLimit,
    }
}

/// Work that saturates PostgreSQL's CPU, if `limit` is this CPU and no perturbation could avoid the work: full scans that no
/// index would avoid, planning, or logins of a service.
fn work_behind_cpu(setup: &Setup, suspects: &[Suspect], limit: &Limit) -> Option<Limit> {
    let Limit::Cpu { node } = limit else { return None };
    let server =
        setup.stack.nodes.last().filter(|it| it.name == *node && matches!(it.kind, NodeKind::Postgres(_)));
    let is_work = |limit: &Limit| matches!(limit, Limit::Scan { .. } | Limit::Work { .. });
    let mut unavoidable = suspects.iter().filter(|it| it.perturbation.is_none());
    unavoidable.find(|it| is_work(&it.limit)).filter(|_| server.is_some()).map(|it| it.limit.clone())
}

/// Effect of a perturbation on the maximum, 0..=1. For a numeric knob, the effect is the elasticity. For a switch, the
/// effect is the relative increase of the maximum; a doubled maximum counts as 1. For a feed that overstates the
/// maximum, the roles of the two maxima are exchanged.
fn effect(proof: &Proof) -> f64 {
    let effect_ratio =
        |ratio: f64| if matches!(proof.limit, Limit::Feed { .. }) { 1.0 / ratio } else { ratio };
    let growth = || proof.ratio.map(|it| (effect_ratio(it.0) - 1.0).clamp(0.0, 1.0));
    proof.elasticity.map(|it| it.0).or_else(growth).unwrap_or(0.0)
}

/// True if transactions of the cell wait for a resource other than the in-flight cap.
fn is_behind(number: usize, finding: &Finding) -> bool {
    match finding {
        Finding::QueueInPooler { cell, .. }
        | Finding::QueueInBalancer { cell, .. }
        | Finding::SessionsWait { cell, .. } => *cell == number,
        _ => false,
    }
}

struct CauseContext<'a> {
    setup: &'a Setup,
    /// Number of CPUs of the machine.
    processors: f64,
}

impl CauseContext<'_> {
    /// The service nearest to the generator, if the throughput is saturated.
    fn inside_service(&self, response: &LoadResponse) -> Option<(CauseRank, f64, Suspect)> {
        let saturation = response.saturation?;
        let is_service = |it: &&Node| matches!(it.kind, NodeKind::Service(_));
        let node = self.setup.stack.nodes.iter().find(is_service)?.name.clone();
        let suspect = Suspect { saturation: Some(saturation), ..Suspect::new(Limit::Service { node }, None) };
        Some((CauseRank::Service, 0.0, suspect))
    }

    fn suspect(&self, number: usize, finding: &Finding) -> Option<(CauseRank, f64, Suspect)> {
        let found = |nearness, full: f64, limit, perturbation| {
            Some((nearness, full, Suspect::new(limit, perturbation)))
        };
        let full = |used: f64, available: f64, throttled: &Option<f64>| {
            (used / available).max(throttled.unwrap_or(0.0))
        };
        match finding {
            Finding::SlotsExhausted { cell, limit, max_connections, .. } if *cell == number => {
                let node = self.setup.stack.nodes.last()?.name.clone();
                let perturbation = max_connections
                    .filter(|_| *limit == ConnectionLimit::Server)
                    .map(|it| numeric_perturbation(Knob::Slots { node: node.clone() }, it, 2 * it));
                found(CauseRank::ConnectionRefused, 1.0, Limit::Slots { node, limit: *limit }, perturbation)
            }
            Finding::PoolerBound { cell, node, cpu, cpu_limit, throttled, .. }
            | Finding::ServerBound { cell, node, cpu, cpu_limit, throttled, .. }
            | Finding::Bound { cell, bound: Bound::Service { node, cpu, cpu_limit, throttled, .. } }
                if *cell == number =>
            {
                let limit = Limit::Cpu { node: node.clone() };
                found(
                    CauseRank::Processor,
                    full(*cpu, *cpu_limit, throttled),
                    limit,
                    self.perturb_cpu(node, *cpu_limit),
                )
            }
            Finding::PoolBound { cell, node, pool, setting, in_use, .. } if *cell == number => {
                let full = in_use / f64::from(*pool);
                let (limit, perturbation) = match setting.clone() {
                    Some(setting) => {
                        let knob = Knob::PoolSetting { node: node.clone(), setting: setting.clone() };
                        let limit = Limit::PoolSetting { node: node.clone(), setting };
                        (limit, numeric_perturbation(knob, *pool, self.larger_pool(*pool)))
                    }
                    None => (Limit::Pool { node: node.clone() }, self.perturb_pool(node, *pool)),
                };
                found(CauseRank::Pooler, full, limit, Some(perturbation))
            }
            Finding::QueueInBalancer { cell, node, maxconn, .. } if *cell == number => {
                let perturbation = maxconn.map(|it| self.perturb_pool(node, it));
                found(CauseRank::Pooler, 0.0, Limit::Pool { node: node.clone() }, perturbation)
            }
            Finding::ClientsStarved { cell, pool: Some((_, size)), .. } if *cell == number => {
                let pooled = |it: &&Node| it.kind.pooler().is_some();
                let node = self.setup.stack.nodes.iter().rev().find(pooled)?.name.clone();
                let perturbation = Some(self.perturb_pool(&node, *size));
                found(CauseRank::Pooler, 0.0, Limit::Pool { node }, perturbation)
            }
            Finding::NotOpenLoop { cell, in_flight_cap, .. } if *cell == number => {
                let perturbation = numeric_perturbation(Knob::Clients, *in_flight_cap, 2 * in_flight_cap);
                found(CauseRank::Clients, 0.0, Limit::ClientCap, Some(perturbation))
            }
            Finding::HostBound { cell, idle, generator_cpu, pooler_cpu, server_cpu, other_cpu, .. }
                if *cell == number =>
            {
                // A busy machine is a circumstance. It is a limit only if the stack under test saturates it.
                let system_cpu: f64 = [generator_cpu, pooler_cpu, server_cpu].into_iter().flatten().sum();
                let foreign = other_cpu.is_some_and(|it| it > system_cpu);
                let near = if foreign { CauseRank::OtherPrograms } else { CauseRank::Machine };
                found(near, 1.0 - idle, Limit::Host, None)
            }
            Finding::Circumstance { cell, circumstance } if *cell == number => match circumstance {
                Circumstance::FeedFitsCache { feed, .. } => {
                    let perturbation = self.perturb_feed(feed);
                    found(CauseRank::OtherData, 1.0, Limit::Feed { feed: feed.clone() }, perturbation)
                }
                Circumstance::IdleTransactions { sessions, blocked_sessions, pool, .. } => {
                    let holds_pool = pool.is_some_and(|(size, waiting)| {
                        waiting >= 1.0 && *sessions >= IDLE_POOL_SHARE * f64::from(size)
                    });
                    if !holds_pool && *blocked_sessions < IDLE_BLOCKED_MIN {
                        return None;
                    }
                    found(CauseRank::IdleTransactions, *sessions, Limit::IdleTransactions, None)
                }
                Circumstance::GeneratorLate { .. } => {
                    found(CauseRank::Generator, 0.0, Limit::Generator, None)
                }
                _ => None,
            },
            Finding::Bound { cell, bound } if *cell == number => self.suspect_of_bound(bound),
            _ => None,
        }
    }

    fn suspect_of_bound(&self, bound: &Bound) -> Option<(CauseRank, f64, Suspect)> {
        let switch = |name: &str, value: &str| {
            let knob = Knob::Setting { name: name.to_owned(), value: value.to_owned() };
            Some(Perturbation::new(knob, None))
        };
        let (nearness, full, limit, perturbation) = match bound {
            // `suspect` handles this bound together with the CPU findings.
            Bound::Service { .. } => return None,
            // pgdyno limits only the hosts of its own stack, not other machines.
            Bound::HostCpu { node, cpu, cpu_limit, .. } => {
                let limit = Limit::Cpu { node: node.clone() };
                (CauseRank::Processor, cpu / cpu_limit, limit, self.perturb_cpu(node, *cpu_limit))
            }
            Bound::ServicePool { node, size, busy, .. } => {
                let perturbation = self.perturb_variable(node, &["POOL"], "POOL_SIZE", *size);
                (CauseRank::ServicePool, busy / size, Limit::ServicePool { node: node.clone() }, perturbation)
            }
            Bound::ServiceThreads { node, size, busy, .. } => {
                let perturbation = self.perturb_variable(node, &["THREADS", "WORKERS"], "THREADS", *size);
                (
                    CauseRank::ServiceThreads,
                    busy / size,
                    Limit::ServiceThreads { node: node.clone() },
                    perturbation,
                )
            }
            Bound::Reads { node, per_second, quota, wait_share, in_bytes } => {
                let limit = Limit::Reads { node: node.clone() };
                let knob = Knob::ReadIops { node: node.clone() };
                disk_suspect(limit, knob, *per_second, *quota, *wait_share, *in_bytes)
            }
            Bound::Writes { node, per_second, quota, wait_share, in_bytes } => {
                let limit = Limit::Writes { node: node.clone() };
                let knob = Knob::WriteIops { node: node.clone() };
                disk_suspect(limit, knob, *per_second, *quota, *wait_share, *in_bytes)
            }
            Bound::Memory { node, used_bytes, limit_bytes, .. } => {
                let knob = Knob::Memory { node: node.clone() };
                let perturbation = Perturbation::new(knob, Some((*limit_bytes, 2.0 * limit_bytes)));
                (
                    CauseRank::Memory,
                    used_bytes / limit_bytes,
                    Limit::Memory { node: node.clone() },
                    Some(perturbation),
                )
            }
            Bound::WalFlush { share, .. } => {
                (CauseRank::Waits, *share, Limit::WalFlush, switch("synchronous_commit", "off"))
            }
            // With `local`, commits still wait for the primary's disk.
            Bound::SyncReplicas { share, .. } => {
                (CauseRank::Waits, *share, Limit::SyncReplicas, switch("synchronous_commit", "local"))
            }
            Bound::RowLocks { share, statements, .. } => {
                let statement = statements.first().cloned();
                (CauseRank::Waits, *share, Limit::RowLocks { statement }, None)
            }
            Bound::Locks { lock, share, statements, .. } => {
                let (lock, statement) = (lock.clone(), statements.first().cloned());
                (CauseRank::Waits, *share, Limit::Locks { lock, statement }, None)
            }
            Bound::AvoidableWork { evidence } => {
                let (full, perturbation) = self.perturb_work(evidence);
                (CauseRank::AvoidableWork, full, Limit::Work { work: evidence.work() }, perturbation)
            }
            Bound::ResultReading { share, .. } => (CauseRank::Waits, *share, Limit::ResultReading, None),
            Bound::DelayedAcknowledgements { .. } => {
                (CauseRank::Waits, 0.0, Limit::DelayedAcknowledgements, None)
            }
            Bound::Scans { table, cpu_share, .. } => {
                let limit = Limit::Scan { table: table.clone(), ddl: None };
                (CauseRank::Work, cpu_share.unwrap_or(0.0), limit, None)
            }
            // Eight times the default, so that no checkpoint starts during a trial.
            Bound::Checkpoints { share, .. } => {
                (CauseRank::Waits, share.min(0.1), Limit::Checkpoints, switch("max_wal_size", "8GB"))
            }
            Bound::Clients { clients, .. } => {
                let perturbation = numeric_perturbation(Knob::Clients, *clients, 2 * clients);
                (CauseRank::Clients, 1.0, Limit::Clients, Some(perturbation))
            }
        };
        Some((nearness, full, Suspect::new(limit, perturbation)))
    }

    /// Raises the quota by half if the machine has enough spare CPUs, otherwise lowers it by a quarter.
    fn perturb_cpu(&self, name: &str, total_quota: f64) -> Option<Perturbation> {
        let stack = &self.setup.stack;
        let replicas = stack.replication.as_ref().map(|it| (&it.limits, f64::from(it.replicas)));
        let is_replica = stack.replica_names().iter().any(|it| it == name);
        let (knob, limits, copies_of, quota) = match replicas.filter(|_| is_replica) {
            Some((limits, count)) => (name.to_owned(), limits, count, total_quota),
            None => {
                let part = stack.part(name)?;
                let copies = part.instances.len() as f64;
                let quota = if part.name == name { total_quota / copies } else { total_quota };
                (part.name, part.limits, copies, quota)
            }
        };
        let shares_cpus = |cpus: &[u32]| {
            limits.cpus.is_empty() || cpus.is_empty() || cpus.iter().any(|it| limits.cpus.contains(it))
        };
        let available = match limits.cpus.len() {
            0 => self.processors,
            pinned => (pinned as f64).min(self.processors),
        };
        let parts = stack.nodes.iter().flat_map(Node::parts).chain(stack.host_parts());
        let parts = parts.filter(|it| it.name != knob);
        let neighbours = parts.map(|it| (it.limits, it.instances.len() as f64));
        let neighbours = neighbours.chain(replicas.filter(|_| !is_replica)).chain([(&stack.generator, 1.0)]);
        // A node without a quota may use all CPUs. Another finding reports a machine without idle CPUs.
        let taken: f64 = neighbours
            .filter(|it| shares_cpus(&it.0.cpus))
            .map(|(it, copies)| copies * it.cpu.unwrap_or(0.0))
            .sum();
        let pooler = stack.node_of_part(name).and_then(|it| it.kind.pooler());
        let usable = pooler.and_then(Pooler::usable_cpus).unwrap_or(f64::INFINITY);
        let enough =
            copies_of * quota * QUOTA_INCREASE + taken <= available && quota * QUOTA_INCREASE <= usable;
        let to = if enough { QUOTA_INCREASE } else { QUOTA_DECREASE } * quota;
        Some(Perturbation::new(Knob::Cpu { node: knob }, Some((quota, to))))
    }

    /// Weight of avoidable work among other such work, and the perturbation that avoids it.
    fn perturb_work(&self, evidence: &WorkEvidence) -> (f64, Option<Perturbation>) {
        let switch = |knob| Some(Perturbation::new(knob, None));
        let setting = |name: &str, value: String| switch(Knob::Setting { name: name.to_owned(), value });
        let maintain = |statement: String| switch(Knob::Maintenance { statement });
        match evidence {
            WorkEvidence::TemporaryFiles { bytes_per_file, .. } => {
                let megabytes = (WORK_MEM_FACTOR * bytes_per_file / 1e6).ceil() as u64;
                let megabytes =
                    megabytes.next_power_of_two().clamp(WORK_MEM_MEGABYTES.0, WORK_MEM_MEGABYTES.1);
                (0.5, setting("work_mem", format!("{megabytes}MB")))
            }
            WorkEvidence::Jit { share, .. } => (*share, setting("jit", "off".to_owned())),
            WorkEvidence::Planning { share, .. } => (*share, None),
            // A service or a pooler opens connections for reasons of its own.
            WorkEvidence::Logins { per_transaction, .. } => {
                let knob = self.setup.load.reconnect.then_some(Knob::KeepConnections);
                (per_transaction.min(1.0), knob.and_then(switch))
            }
            WorkEvidence::DeadRows { table, .. } => (0.6, maintain(format!("VACUUM FULL {table}"))),
            WorkEvidence::EmptyPages { table, .. } => (0.55, maintain(format!("VACUUM FULL {table}"))),
            WorkEvidence::OldStatistics { table, .. } | WorkEvidence::GrownTable { table, .. } => {
                (0.4, maintain(format!("ANALYZE {table}")))
            }
            WorkEvidence::OldSnapshot { .. } => (0.7, None),
            WorkEvidence::Subtransactions { .. } => (0.5, None),
            WorkEvidence::Autovacuum { share, .. } => (*share, setting("autovacuum", "off".to_owned())),
            // These may be symptoms of the work above.
            WorkEvidence::DiscardedRows { .. } => (0.19, None),
            WorkEvidence::LargeValues { .. } => (0.18, None),
            WorkEvidence::UnusedIndexes { .. } => (0.17, None),
            WorkEvidence::Function { .. } => (0.16, None),
            WorkEvidence::UnindexedForeignKey { table, columns, .. } => {
                (0.45, switch(Knob::Index { ddl: foreign_key_index(table, columns) }))
            }
            WorkEvidence::SkippedRows { .. } => (0.19, None),
            WorkEvidence::RepeatedStatement { .. } => (0.15, None),
            WorkEvidence::LargeResult { .. } => (0.14, None),
        }
    }

    /// Replaces a feed with rows of the whole table; `None` if the table is unknown.
    fn perturb_feed(&self, name: &str) -> Option<Perturbation> {
        let feed = self.setup.feeds.iter().find(|it| it.name == name)?;
        let knob = Knob::FeedRows { feed: name.to_owned() };
        step_setup::all_rows(feed).map(|_| Perturbation::new(knob, None))
    }

    fn perturb_pool(&self, node: &str, size: u32) -> Perturbation {
        numeric_perturbation(Knob::PoolSize { node: node.to_owned() }, size, self.larger_pool(size))
    }

    /// Twice the number of server connections, or half as many again if PostgreSQL has too few slots.
    fn larger_pool(&self, size: u32) -> u32 {
        let slots = match self.setup.stack.nodes.last().map(|it| &it.kind) {
            Some(NodeKind::Postgres(it)) => it.max_connections,
            _ => u32::MAX,
        };
        let twice = size.saturating_mul(2);
        if twice.saturating_add(SPARE_SLOTS) <= slots { twice } else { size + size.div_ceil(2) }
    }

    /// Doubles the value of the environment variable whose name contains one of `words`, or of the variable `usual` if
    /// no name does. `None` without such a variable if the service may read the number from a file.
    fn perturb_variable(&self, name: &str, words: &[&str], usual: &str, size: f64) -> Option<Perturbation> {
        let part = self.setup.stack.part(name)?;
        let NodeKind::Service(service) = &self.setup.stack.node_of_part(name)?.kind else { return None };
        // All copies of a service have the same environment.
        let size = if part.name == name { size / part.instances.len() as f64 } else { size };
        let number = |it: &(String, String)| Some((it.0.clone(), it.1.trim().parse::<f64>().ok()?));
        let variable_with = |word: &&str| {
            let has = |it: &&(String, String)| it.0.to_uppercase().contains(word);
            service.env.iter().filter(has).find_map(number)
        };
        let found = words.iter().find_map(variable_with);
        let reads_files = !service.programs.is_empty() || !service.files.is_empty();
        let (variable, now) = found.or((!reads_files).then(|| (usual.to_owned(), size)))?;
        let knob = Knob::ServiceEnv { node: part.name, variable };
        Some(Perturbation::new(knob, Some((now, 2.0 * now))))
    }
}

/// Statement that creates the index of a foreign key. `table` is `schema.table`, and `columns` are as in SQL.
fn foreign_key_index(table: &str, columns: &str) -> String {
    let name = match table.split_once('.') {
        Some((schema, table)) => format!("{}.{}", quote_identifier(schema), quote_identifier(table)),
        None => quote_identifier(table),
    };
    format!("CREATE INDEX ON {name} ({columns})")
}

fn numeric_perturbation(knob: Knob, from: u32, to: u32) -> Perturbation {
    Perturbation::new(knob, Some((from.into(), to.into())))
}

/// Suspect for a disk: the quota if it is exhausted, otherwise the disk itself, which cannot be perturbed.
fn disk_suspect(
    limit: Limit,
    knob: Knob,
    per_second: Option<f64>,
    quota: Option<f64>,
    waits: Option<f64>,
    in_bytes: bool,
) -> (CauseRank, f64, Limit, Option<Perturbation>) {
    match quota {
        Some(quota) => {
            let perturbation = Perturbation::new(knob, Some((quota, 2.0 * quota)));
            // No knob changes a quota in bytes per second.
            (
                CauseRank::Disk,
                per_second.unwrap_or(0.0) / quota,
                limit,
                Some(perturbation).filter(|_| !in_bytes),
            )
        }
        None => (CauseRank::Waits, waits.unwrap_or(0.0), limit, None),
    }
}

#[cfg(test)]
mod tests;
