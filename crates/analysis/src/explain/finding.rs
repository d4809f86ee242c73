//! Rules that find relevant facts about a run, with their evidence
//!
//! A rule reports a finding only if all its inputs were measured. Otherwise it reports the missing input. Counts of
//! events cover all trials. Figures are medians over the valid trials. Exhausted connection slots are reported even for
//! invalid trials.

mod alternatives;
mod answers;
mod avoidable_work;
mod bound;
mod cell_comparison;
mod circumstance;
mod client_count;
mod clients;
mod collapse;
mod copies;
mod data;
mod deadlock_statements;
mod disk;
mod error_origins;
mod host;
mod idle;
mod number;
mod queue;
mod recorded_log;
mod server_counters;
mod service;
mod tables;
mod trial_trend;
mod unused;
mod waits;

use crate::facts::SampleView;
use crate::facts::trial::{LoadSecond, TrialFacts};
use crate::stats::quantile::median;
use crate::verdict::validity::has_outage;
pub use model::finding::Finding;
use model::finding::{Circumstance, FindingRule, MissingInput};
use model::plan::{Experiment, LoadModel, Node, Setup};
use model::{Nanos, series};
use std::ops::Range;
pub use unused::unused_nodes;

/// Smallest number of seconds, and part of the window, in which a queue shows which resource is saturated.
const QUEUE_SECONDS_MIN: usize = 3;
const QUEUE_PART_MIN: usize = 5;
/// Smallest ratio between the largest and the smallest number of transactions in flight that shows a queue. The numbers of
/// random arrivals vary by less.
const QUEUE_RATIO_MIN: f64 = 4.0;

/// One cell and its trials; there is at least one trial.
struct CellTrials<'a> {
    number: usize,
    setup: &'a Setup,
    trials: Vec<&'a TrialFacts<'a>>,
}

impl<'a> CellTrials<'a> {
    /// Median of `figure` over the valid trials in which it was measured.
    fn median(&self, figure: impl Fn(&'a TrialFacts<'a>) -> Option<f64>) -> Option<f64> {
        median(self.trials.iter().filter(|it| it.valid().is_some()).filter_map(|it| figure(it)))
    }

    fn without_outages(&self) -> CellTrials<'a> {
        let trials = self.trials.iter().copied().filter(|it| !it.summary.is_some_and(has_outage));
        CellTrials { trials: trials.collect(), ..*self }
    }

    fn server(&self) -> Option<&'a Node> {
        self.setup.stack.nodes.last()
    }

    /// The pooler nearest to PostgreSQL; `None` if there is none.
    fn pooler(&self) -> Option<&'a Node> {
        let (_, before) = self.setup.stack.nodes.split_last()?;
        before.iter().rev().find(|it| it.kind.pooler().is_some())
    }
}

/// All findings from the trials, in the order of the cells; comparisons between cells come last. The caller selects the
/// most important findings.
pub fn findings(experiment: &Experiment, trials: &[TrialFacts<'_>]) -> Vec<Finding> {
    let trials_of = |number: usize| trials.iter().filter(|it| it.cell == number).collect::<Vec<_>>();
    let cells: Vec<CellTrials<'_>> = experiment
        .cells
        .iter()
        .enumerate()
        .map(|(number, it)| CellTrials { number, setup: &it.setup, trials: trials_of(number) })
        .filter(|it| !it.trials.is_empty())
        .collect();
    let facts: Vec<TrialFacts<'_>> =
        trials.iter().map(|it| TrialFacts { samples: full_load_samples(it), ..it.clone() }).collect();
    let mut found = Vec::new();
    for cell in &cells {
        let before = found.len();
        found.extend(clients::slots_exhausted(cell));
        found.extend(clients::starved(cell));
        found.extend(clients::failures(cell));
        found.extend(answers::size_changes(cell));
        found.extend(answers::empty_statements(cell));
        found.extend(answers::recorded_answers(cell));
        found.extend(recorded_log::findings(cell));
        let trials = facts.iter().filter(|it| it.cell == cell.number).collect();
        let full = &CellTrials { number: cell.number, setup: cell.setup, trials };
        found.extend(host::host(full));
        found.extend(queue::in_balancer(full));
        // If a node does not count waiting clients, in-flight transactions are known only as an average over the trial.
        // The other figures are then averages over the trial too.
        let reports = |it: &Node| it.kind.product().reports(series::POOL_CLIENTS_WAITING);
        found.extend(queue::in_pooler(if cell.pooler().is_none_or(reports) { full } else { cell }));
        found.extend(rule_findings(cell, full));
        found.extend(cell_comparison::deadlocks(cell));
        found.extend(deadlock_statements::deadlock_statements(cell));
        found.extend(server_counters::hidden_deadlocks(cell));
        found.extend(server_counters::sessions_lost(cell));
        found.extend(collapse::active_collapse(cell));
        if !found[before..].iter().any(|it| matches!(it, Finding::SlotsExhausted { .. })) {
            found.extend(server_counters::no_free_slots(cell));
        }
        found.extend(error_origins::error_origins(cell));
        found.extend(clients::in_flight_cap_reached(cell));
        found.extend(clients::remaining_clients(cell));
        found.extend(circumstance::feeds_that_fit_in_memory(cell));
        found.extend(data::changed(cell));
        found.extend(trial_trend::of_kept_data(cell));
        found.extend(copies::uneven(cell));
        let unused = unused::nodes(cell);
        let cell_findings = found.split_off(before);
        found.extend(
            cell_findings.into_iter().filter(|it| !unused::is_attributed_to_unused(it, cell, &unused)),
        );
        found.extend(unused);
    }
    found.extend(cell_comparison::throughput(&cells, experiment.seed));
    found.extend(cell_comparison::concurrency_differs(&cells, experiment));
    found.extend(server_counters::logins_differ(&cells));
    found.extend(answers::sizes_compared_with_other_cells(&cells));
    found.extend(alternatives::open_and_closed(&cells));
    found.extend(alternatives::feeds_differ(&cells));
    found
}

/// Findings of all rules. Averages that include an outage cannot show a limit of the throughput, so only the other trials
/// show limits.
fn rule_findings(cell: &CellTrials<'_>, full: &CellTrials<'_>) -> Vec<Finding> {
    let mut found = apply_rules(cell, full);
    if cell.trials.iter().any(|it| it.summary.is_some_and(has_outage)) {
        found.retain(|it| !is_limiter(it));
        let [quiet, quiet_full] = [cell, full].map(CellTrials::without_outages);
        if !quiet.trials.is_empty() {
            found.extend(apply_rules(&quiet, &quiet_full).into_iter().filter(is_limiter));
        }
    }
    found
}

/// True if the finding names a limit of the throughput.
fn is_limiter(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::PoolerBound { .. }
            | Finding::PoolBound { .. }
            | Finding::ServerBound { .. }
            | Finding::SessionsWait { .. }
            | Finding::Bound { .. }
    )
}

/// Rule on samples. `full` has the samples under full load, and `window` has the samples of the whole windows. Series
/// that are sampled every ten seconds or vary from second to second require whole windows.
type RuleFn = fn(full: &CellTrials<'_>, window: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput>;

const RULES: [(FindingRule, RuleFn); 23] = [
    (FindingRule::PoolerCpu, |full, _| bound::pooler(full)),
    (FindingRule::BalancerCpu, |full, _| bound::balancers(full)),
    (FindingRule::Pool, |full, _| bound::pool(full)),
    (FindingRule::ServerCpu, |full, _| bound::server(full)),
    (FindingRule::ServiceCpu, |full, _| service::cpu(full)),
    (FindingRule::RemoteHost, |full, _| host::remote_hosts(full)),
    (FindingRule::SharedHost, |full, _| host::shared_hosts(full)),
    (FindingRule::ServicePool, |full, _| service::pools(full)),
    (FindingRule::ServiceThreads, |full, _| service::threads(full)),
    (FindingRule::ServicePool, |_, window| service::pools_in_row(window)),
    (FindingRule::Waits, waits::bounds),
    (FindingRule::Reads, |full, _| disk::reads(full)),
    (FindingRule::Writes, |full, _| disk::writes(full)),
    (FindingRule::Memory, |full, _| disk::memory(full)),
    (FindingRule::Scans, |_, window| tables::scans(window)),
    (FindingRule::AvoidableWork, |_, window| avoidable_work::findings(window)),
    (FindingRule::ResultReading, |full, _| avoidable_work::reading(full)),
    (FindingRule::Checkpoints, |_, window| tables::checkpoints(window)),
    (FindingRule::Storm, |_, window| circumstance::reconnects(window)),
    (FindingRule::Bloat, |_, window| tables::bloat(window)),
    (FindingRule::IdleTransactions, |_, window| idle::idle_transactions(window)),
    (FindingRule::Host, |full, _| circumstance::noisy_host(full)),
    (FindingRule::Feed, |_, window| circumstance::unknown_feeds(window)),
];

/// Findings of all rules. If inputs are missing, the last finding lists the skipped rules.
fn apply_rules(window: &CellTrials<'_>, full: &CellTrials<'_>) -> Vec<Finding> {
    let (mut found, mut lacking) = (Vec::new(), Vec::new());
    let mut take = |rule, judged: Result<Vec<Finding>, MissingInput>, found: &mut Vec<Finding>| match judged {
        Ok(them) => found.extend(them),
        Err(missing) => lacking.push((rule, true_reason(missing, window))),
    };
    for (rule, judge) in RULES {
        take(rule, judge(full, window), &mut found);
    }
    // A wait event that a bound explains is reported only with that bound.
    let has_bound = |event: &str| {
        found.iter().any(|it| matches!(it, Finding::Bound { bound, .. } if waits::explains(bound, event)))
    };
    let other = waits::sessions_wait(full).filter(|finding| match finding {
        Finding::SessionsWait { event, .. } => !has_bound(event),
        _ => true,
    });
    found.extend(other);
    take(FindingRule::Pool, number::little_s_law(window), &mut found);
    let late = circumstance::late_generator(window);
    found.extend(late);
    let few = client_count::clients(full, &found);
    take(FindingRule::ServerCpu, few, &mut found);
    lacking.sort();
    lacking.dedup_by_key(|it| it.0);
    // Without a valid trial, no rule applies, and the report shows why the trials are invalid instead.
    if !lacking.is_empty() && window.trials.iter().any(|it| it.valid().is_some()) {
        let circumstance = Circumstance::RulesSkipped { rules: lacking };
        found.push(Finding::Circumstance { cell: window.number, circumstance });
    }
    found
}

/// Reason why an input is missing. If the pooler's console was sampled, the samples under full load were too few.
fn true_reason(missing: MissingInput, window: &CellTrials<'_>) -> MissingInput {
    let sampled = |trial: &&TrialFacts<'_>, node: &Node| {
        trial.valid().is_some() && !trial.samples.of(&node.name, series::POOL_SERVERS_ACTIVE).is_empty()
    };
    match (missing, window.pooler()) {
        (MissingInput::Console, Some(node)) if window.trials.iter().any(|it| sampled(it, node)) => {
            MissingInput::Samples
        }
        (missing, _) => missing,
    }
}

/// Samples under full load. In the closed model, these are all samples. If the load rises, these are the samples of the
/// last third, because an average over the ramp would hide the limit. At a constant rate, these are the samples of the
/// seconds in which arrivals queue, because averages over the time before would hide the limit too. If there are no such
/// seconds, these are all samples except those of the first quarter.
fn full_load_samples<'a>(trial: &TrialFacts<'a>) -> SampleView<'a> {
    let window = trial.summary.map_or(Nanos::ZERO, |it| it.window);
    let last_third = Nanos(window.0 / 3 * 2);
    let from = match &trial.setup.load.model {
        LoadModel::Open { schedule, .. } if is_one_rate(schedule) => {
            // In an outage, arrivals queue for another reason.
            let interrupted = trial.summary.is_some_and(has_outage);
            if let Some(queue) = queue_seconds(trial.load).filter(|_| !interrupted) {
                let [from, to] = [queue.start, queue.end].map(|it| Nanos::from_secs(it as u64));
                // The sample at the start of a second is the base of the increases of counters.
                return trial.samples.between(from, to);
            }
            Nanos(window.0 / 4)
        }
        LoadModel::Open { .. } => last_third,
        LoadModel::Log { .. } | LoadModel::Replay { .. } => Nanos::ZERO,
        LoadModel::Users { stages, .. } if stages.len() > 1 || stages[0].spawn_rate.is_some() => last_third,
        LoadModel::Closed { .. } | LoadModel::Users { .. } => Nanos::ZERO,
    };
    trial.samples.after(from)
}

/// Longest sequence of seconds in which at least half of the largest number of transactions is in flight; `None` if this
/// sequence is short, or if the number of transactions in flight does not vary much.
fn queue_seconds(load: &[LoadSecond]) -> Option<Range<usize>> {
    let in_flight = |it: &LoadSecond| it.in_flight as f64;
    let highest = load.iter().map(in_flight).reduce(f64::max)?;
    let lowest = load.iter().map(in_flight).reduce(f64::min)?;
    let queues: Vec<bool> = load.iter().map(|it| in_flight(it) >= highest / 2.0).collect();
    let mut start = 0;
    let sequences = queues.chunk_by(bool::eq).map(|sequence| {
        let range = start..start + sequence.len();
        start = range.end;
        range
    });
    let longest = sequences.filter(|it| queues[it.start]).max_by_key(ExactSizeIterator::len)?;
    let is_long = longest.len() >= QUEUE_SECONDS_MIN.max(load.len().div_ceil(QUEUE_PART_MIN));
    (is_long && highest >= QUEUE_RATIO_MIN * lowest.max(1.0)).then_some(longest)
}

/// True if the schedule consists of a single constant rate.
fn is_one_rate(schedule: &str) -> bool {
    schedule.trim_start().starts_with("const(") && schedule.matches('(').count() == 1
}

#[cfg(test)]
mod tests;
