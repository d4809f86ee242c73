//! Finding on a pooler whose figures violate Little's law

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::SampleView;
use crate::facts::samples::{self, growth, sums};
use crate::stats::littles_law::{MeanEstimate, Violation, check_law, estimate_mean};
use model::Nanos;
use model::finding::{Circumstance, MissingInput};
use model::plan::PoolMode;
use std::collections::BTreeMap;

/// Series of the number of clients in the pooler that have a server connection, and of clients that wait for a server
/// connection.
const NUMBERS: [&str; 2] = [samples::POOL_SERVERS_ACTIVE, samples::POOL_CLIENTS_WAITING];
/// Counters of the pooler: transactions, time with a server connection, and time waiting for a server connection.
const TOTALS: [&str; 3] =
    [samples::POOL_TRANSACTIONS, samples::POOL_TRANSACTION_TIME, samples::POOL_WAIT_TIME];

/// Finding on a pooler whose figures violate Little's law. The rule compares the number of transactions in the pooler,
/// sampled each second from the console, with the number that the pooler's counters imply. The rule does not apply to
/// session mode, in which a client keeps its server connection between transactions. A violation is reported if most
/// trials show it.
pub fn little_s_law(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let Some(node) = cell.pooler() else { return Ok(Vec::new()) };
    let lends = node.kind.pooler().is_some_and(|it| it.mode != PoolMode::Session);
    if !lends || !NUMBERS.iter().chain(&TOTALS).all(|it| node.kind.product().reports(it)) {
        return Ok(Vec::new());
    }
    let valid: Vec<&TrialFacts<'_>> = cell.trials.iter().copied().filter(|it| it.valid().is_some()).collect();
    let known: Vec<Option<Violation>> =
        valid.iter().filter_map(|it| trial_violation(it.samples, &node.name)).collect();
    if known.is_empty() {
        // If the console was sampled too rarely for this check, do not report that it is missing.
        let sampled =
            |trial: &&TrialFacts<'_>| !sums(trial.samples, &node.name, NUMBERS[0], |_| true).is_empty();
        return if valid.iter().any(sampled) { Ok(Vec::new()) } else { Err(MissingInput::Console) };
    }
    let trials = known.len();
    let mut violations: Vec<Violation> = known.into_iter().flatten().collect();
    if 2 * violations.len() <= trials {
        return Ok(Vec::new());
    }
    violations.sort_by(|a, b| a.number.total_cmp(&b.number));
    let violation = violations.swap_remove(violations.len() / 2);
    let Violation { hop: node, number: concurrency, expected, rate: per_second, time, .. } = violation;
    let circumstance = Circumstance::LittlesLawViolation { node, concurrency, expected, per_second, time };
    Ok(vec![Finding::Circumstance { cell: cell.number, circumstance }])
}

/// Violation in one trial; `None` if there are too few samples.
fn trial_violation(samples: SampleView<'_>, node: &str) -> Option<Option<Violation>> {
    let grown = |series| growth(samples, node, series, |_| true);
    let [transactions, time, waited] = TOTALS;
    let rate = grown(transactions).filter(|it| *it > 0.0)?;
    let time = (grown(time)? + grown(waited)?) / rate;
    let mut inside: BTreeMap<Nanos, f64> = BTreeMap::new();
    for series in NUMBERS {
        for (at, number) in sums(samples, node, series, |_| true) {
            *inside.entry(at).or_default() += number;
        }
    }
    let window = (*inside.last_key_value()?.0 - *inside.first_key_value()?.0).as_secs_f64();
    let number = estimate_mean(&inside.into_values().collect::<Vec<_>>())?;
    let exact = |mean| MeanEstimate { mean, error: 0.0 };
    Some(check_law(node, number, exact(rate), exact(time), window))
}
