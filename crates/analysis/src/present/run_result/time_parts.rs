//! Parts of the mean response time, whose sum is the mean response time

use super::hops::{TrialPassage, tail_samples, valid};
use crate::facts::samples::{self, sums};
use crate::stats::quantile::median;
use model::Nanos;
use model::plan::Setup;
use model::product::Role;
use model::run_result::{HopMetrics, SessionActivity, TimePart};
use std::collections::BTreeMap;

/// Smallest share of PostgreSQL's time for which a wait event is a part of its own.
const EVENT_SHARE_MIN: f64 = 0.05;

/// Parts of the mean response time in the last third of the window. `hops` are the metrics of the cell's nodes. The rest that
/// they do not explain is the last part; it may be the largest one.
pub fn time_parts(setup: &Setup, trials: &[TrialPassage<'_>], hops: &[HopMetrics]) -> Vec<TimePart> {
    let Some(response) = median(valid(trials).filter_map(|it| it.late.mean_response())) else {
        return Vec::new();
    };
    let known: f64 = hops.iter().filter_map(|it| it.time).map(Nanos::as_secs_f64).sum();
    // Parts that were measured in different ways may exceed the whole slightly.
    let scale = if known > response { response / known } else { 1.0 };
    let mut parts = Vec::new();
    for hop in hops {
        let Some(time) = hop.time.map(|it| it.as_secs_f64() * scale) else { continue };
        let node = Some(hop.node.clone());
        let is_server = |it: &&model::plan::Node| it.name == hop.node && it.kind.role() == Role::Server;
        let shares = setup.stack.nodes.iter().find(is_server).map(|it| activities(trials, &it.name));
        match shares.filter(|it| !it.is_empty()) {
            Some(shares) => parts.extend(shares.into_iter().map(|(activity, share)| TimePart {
                node: node.clone(),
                activity: Some(activity),
                time: Nanos::from_secs_f64(time * share),
            })),
            None => parts.push(TimePart { node, activity: None, time: Nanos::from_secs_f64(time) }),
        }
    }
    let rest = (response - known * scale).max(0.0);
    parts.push(TimePart { node: None, activity: None, time: Nanos::from_secs_f64(rest) });
    parts
}

/// Activities of the sessions in a transaction, with their shares of all samples of such sessions, 0..=1.
fn activities(trials: &[TrialPassage<'_>], node: &str) -> BTreeMap<SessionActivity, f64> {
    let mut events: BTreeMap<String, f64> = BTreeMap::new();
    let mut idle = 0.0;
    for trial in valid(trials) {
        let late = tail_samples(trial);
        for sample in late.of(node, samples::PG_WAITS).iter() {
            *events.entry(sample.label.to_string()).or_default() += sample.value;
        }
        let is_idle = |state: &str| state.starts_with("idle in transaction");
        idle += sums(late, node, samples::PG_SESSIONS, is_idle).iter().map(|it| it.1).sum::<f64>();
    }
    let all = events.values().sum::<f64>() + idle;
    let mut shares: BTreeMap<SessionActivity, f64> = BTreeMap::new();
    let mut add = |activity, count: f64| {
        if count > 0.0 {
            *shares.entry(activity).or_default() += count / all;
        }
    };
    for (event, count) in events {
        let activity = match event.as_str() {
            "running" => SessionActivity::Running,
            _ if count < EVENT_SHARE_MIN * all => SessionActivity::OtherWaits,
            _ => SessionActivity::Waiting { event },
        };
        add(activity, count);
    }
    add(SessionActivity::IdleInTransaction, idle);
    shares
}
