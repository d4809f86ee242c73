//! States of sessions, pools and servers over the trials of a cell

use crate::facts::TrialFacts;
use crate::facts::samples::{self, growth_by_label};
use model::states::{CellStates, Gauge, PoolStates, ServerStates, SessionGroup};
use model::{Nanos, series};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// States of each cell over all its trials; cells without samples are left out.
pub fn states(trials: &[TrialFacts<'_>]) -> Vec<CellStates> {
    let cells = trials.iter().map(|it| it.cell + 1).max().unwrap_or(0);
    let states = |cell: usize| {
        let trials: Vec<&TrialFacts<'_>> = trials.iter().filter(|it| it.cell == cell).collect();
        CellStates {
            cell,
            sessions: session_groups(&trials),
            pools: pools(&trials),
            servers: servers(&trials),
        }
    };
    (0..cells).map(states).filter(|it| *it != CellStates { cell: it.cell, ..CellStates::default() }).collect()
}

/// Sum and maximum of a series with one label.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    max: f64,
}

/// Samples of one series of a node over all trials.
#[derive(Default)]
struct SeriesSums<'a> {
    /// Number of sample times. A label without a sample at one of them counts as zero.
    moments: u64,
    labels: BTreeMap<&'a str, Sum>,
}

impl<'a> SeriesSums<'a> {
    fn new(trials: &[&'a TrialFacts<'a>], node: &str, series: &str) -> SeriesSums<'a> {
        let mut sums = SeriesSums::default();
        for trial in trials {
            let mut moments: BTreeSet<Nanos> = BTreeSet::new();
            for sample in trial.samples.of(node, series).after(Nanos::ZERO).iter() {
                moments.insert(sample.at);
                let sum = sums.labels.entry(&sample.label).or_default();
                sum.sum += sample.value;
                sum.max = sum.max.max(sample.value);
            }
            sums.moments += moments.len() as u64;
        }
        sums
    }

    fn gauge(&self, label: &str) -> Option<Gauge> {
        let sum = self.labels.get(label)?;
        Some(Gauge { mean: sum.sum / self.moments as f64, max: sum.max })
    }
}

/// Nodes with samples of this series, in order of their names.
fn nodes<'a>(trials: &[&TrialFacts<'a>], series: &str) -> BTreeSet<&'a str> {
    let samples = trials.iter().flat_map(|it| it.samples.of_series(series).after(Nanos::ZERO).iter());
    samples.map(|it| &*it.node).collect()
}

fn session_groups(trials: &[&TrialFacts<'_>]) -> Vec<SessionGroup> {
    let mut all = Vec::new();
    for node in nodes(trials, series::PG_SESSION_GROUPS) {
        let sums = SeriesSums::new(trials, node, series::PG_SESSION_GROUPS);
        let group = |label: &&str| {
            let mut parts = label.splitn(4, '/').map(str::to_owned);
            let mut part = || parts.next();
            let (state, client, user, application) = (part()?, part()?, part()?, part()?);
            let (node, sessions) = (node.to_owned(), sums.gauge(label)?);
            Some(SessionGroup { node, state, client, user, application, sessions })
        };
        let mut groups: Vec<SessionGroup> = sums.labels.keys().filter_map(group).collect();
        groups.sort_by(|a, b| b.sessions.mean.total_cmp(&a.sessions.mean));
        all.extend(groups);
    }
    all
}

fn pools(trials: &[&TrialFacts<'_>]) -> Vec<PoolStates> {
    let mut all = Vec::new();
    for node in nodes(trials, series::POOL_SERVERS_ACTIVE) {
        let sums = |series| SeriesSums::new(trials, node, series);
        let [active, waiting] = [series::POOL_CLIENTS_ACTIVE, series::POOL_CLIENTS_WAITING].map(sums);
        let [busy, idle] = [series::POOL_SERVERS_ACTIVE, series::POOL_SERVERS_IDLE].map(sums);
        let [wait, size] = [series::POOL_LONGEST_WAIT, series::POOL_SIZE].map(sums);
        let [reserve, connections, paused] =
            [series::POOL_RESERVE, series::POOL_CONNECTIONS, series::POOL_PAUSED].map(sums);
        for pool in busy.labels.keys() {
            // The console lists the settings by database, and the pools by database and user.
            let database = pool.split('/').next().unwrap_or(pool);
            let max = |sums: &SeriesSums<'_>, label: &str| sums.gauge(label).map(|it| it.max);
            all.push(PoolStates {
                node: node.to_owned(),
                pool: (*pool).to_owned(),
                clients_active: active.gauge(pool),
                clients_waiting: waiting.gauge(pool),
                servers_active: busy.gauge(pool),
                servers_idle: idle.gauge(pool),
                longest_wait: max(&wait, pool),
                size: max(&size, database),
                reserve: max(&reserve, database),
                connections: connections.gauge(database),
                paused: paused.gauge(database).map(|it| it.mean),
            });
        }
    }
    all.sort_by_key(|pool| Reverse(pool.clients_active.map_or(0, |it| it.max as u64)));
    all
}

fn servers(trials: &[&TrialFacts<'_>]) -> Vec<ServerStates> {
    let mut all = Vec::new();
    for node in nodes(trials, series::BALANCER_SESSIONS) {
        let sums = |series| SeriesSums::new(trials, node, series);
        let [sessions, queue, up] =
            [series::BALANCER_SESSIONS, series::BALANCER_QUEUE, series::BALANCER_UP].map(sums);
        let grown = |series| {
            let mut total: BTreeMap<String, f64> = BTreeMap::new();
            for (label, growth) in trials.iter().flat_map(|it| growth_by_label(it.samples, node, series)) {
                *total.entry(label).or_default() += growth;
            }
            total
        };
        let begun = grown(samples::BALANCER_SESSIONS_BEGUN);
        let [failed, invalid, retries] =
            [series::BALANCER_CONNECTION_ERRORS, series::BALANCER_RESPONSE_ERRORS, series::BALANCER_RETRIES]
                .map(grown);
        for server in sessions.labels.keys() {
            all.push(ServerStates {
                node: node.to_owned(),
                server: (*server).to_owned(),
                up: up.gauge(server).map(|it| it.mean),
                sessions: sessions.gauge(server),
                queue: queue.gauge(server),
                begun: begun.get(*server).copied(),
                connection_errors: failed.get(*server).copied(),
                response_errors: invalid.get(*server).copied(),
                retries: retries.get(*server).copied(),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests;
