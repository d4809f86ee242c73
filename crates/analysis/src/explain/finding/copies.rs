//! Finding on balancers that distribute requests unevenly among the copies of a service

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, sums};
use crate::stats::quantile::median;
use model::finding::{Circumstance, CopyShare};
use model::plan::Node;

/// Minimum number of requests for a distribution to be judged.
const REQUESTS_MIN: f64 = 200.0;
/// Difference between a copy's share and the even share, as a share of the even share, above which the distribution is
/// uneven. Requests go to the copies in turn, so chance does not cause a difference.
const DIFFERENCE_MIN: f64 = 0.25;

/// Findings on the services whose copies did not get equal shares of the requests, by the balancer's counters.
pub fn uneven(cell: &CellTrials<'_>) -> Vec<Finding> {
    let uneven_service = |node: &Node| {
        let balancer = node.copies_balancer()?;
        let copies = node.serving_instances();
        let valid = cell.trials.iter().filter(|it| it.valid().is_some());
        let counts: Vec<Vec<f64>> = valid.filter_map(|it| requests(it, &balancer, &copies)).collect();
        let even = 1.0 / copies.len() as f64;
        let share = |place: usize| {
            let each = counts.iter().map(|it| it[place] / it.iter().sum::<f64>());
            Some(CopyShare { node: copies[place].clone(), share: median(each)? })
        };
        let shares = (0..copies.len()).map(share).collect::<Option<Vec<CopyShare>>>()?;
        let requests = counts.iter().flatten().sum::<f64>().round() as u64;
        let is_uneven = shares.iter().any(|it| (it.share - even).abs() >= DIFFERENCE_MIN * even);
        let circumstance =
            Circumstance::UnevenCopies { service: node.name.clone(), balancer, requests, shares };
        is_uneven.then_some(Finding::Circumstance { cell: cell.number, circumstance })
    };
    cell.setup.stack.nodes.iter().filter_map(uneven_service).collect()
}

/// Number of requests that each copy got in a trial; `None` if it is unknown or too small for a judgement.
fn requests(trial: &TrialFacts<'_>, balancer: &str, copies: &[String]) -> Option<Vec<f64>> {
    let counted = |copy: &String| {
        // Labels are the names of a proxy and a server.
        let is_copy = |label: &str| label.rsplit('/').next() == Some(copy.as_str());
        let all = sums(trial.samples, balancer, samples::BALANCER_SESSIONS_BEGUN, is_copy);
        (all.len() > 1).then(|| samples::sum_of_increases(&all))
    };
    let counts = copies.iter().map(counted).collect::<Option<Vec<f64>>>()?;
    (counts.iter().sum::<f64>() >= REQUESTS_MIN).then_some(counts)
}
