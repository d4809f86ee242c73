//! Times and queues of each hop of a cell's stack
//!
//! By Little's law, the number of in-flight transactions is throughput times mean time. Transactions that have entered
//! a node, but not the node behind it, are in the hop between them. Their number divided by the throughput is the time
//! that a transaction spends in the hop.

use crate::facts::SampleView;
use crate::facts::samples::{self, mean, sums};
use crate::facts::trial::TrialFacts;
use crate::facts::usage::{busy_sessions, generator_processors};
use crate::stats::quantile::median;
use model::plan::{GENERATOR, Limits, Node, NodePart, Setup};
use model::product::Role;
use model::run_result::HopMetrics;
use model::summary::ServerTransport as Transport;
use model::{CompactInterval, Nanos, SparseHistogram};

/// Largest ratio of the time in one node to the whole response time that inaccurate samples explain.
const TIME_TOLERANCE: f64 = 1.1;

/// Load in the last third of a window, in which a rising schedule has its highest rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TailLoad {
    seconds: f64,
    /// Number of transactions that succeeded within the window.
    ended: u64,
    failed: u64,
    /// Sum of the response times, in seconds.
    response: f64,
    service: f64,
    backlog_wait: f64,
    /// Number of response and service times.
    count: u64,
}

impl TailLoad {
    pub fn add(&mut self, interval: &CompactInterval) {
        let seconds = |nanos: u128| nanos as f64 / 1e9;
        self.seconds += (interval.to - interval.from).as_secs_f64();
        self.backlog_wait += seconds(interval.backlog_wait.sum());
        for script in &interval.scripts {
            self.ended += script.ok - script.late;
            self.failed += script.failed.total() + script.unknown.total();
            self.count += script.response.count();
            self.response += seconds(script.response.sum());
            self.service += seconds(script.service.sum());
        }
    }

    /// Load with these service times by operation, which were read separately.
    pub fn with_service_times(self, service_times: &[SparseHistogram]) -> TailLoad {
        let service = service_times.iter().map(|it| it.sum() as f64 / 1e9).sum();
        TailLoad { service, ..self }
    }

    /// Successful transactions per second. `None` unless more transactions succeeded than failed, because otherwise
    /// most in-flight transactions may be failing transactions.
    fn rate(&self) -> Option<f64> {
        (self.ended > self.failed && self.seconds > 0.0).then(|| self.ended as f64 / self.seconds)
    }

    /// Mean response time in seconds.
    pub(super) fn mean_response(&self) -> Option<f64> {
        (self.count > 0).then(|| self.response / self.count as f64)
    }

    /// Mean number of in-flight transactions, from sending to the end.
    fn transactions_in_flight(&self) -> Option<f64> {
        (self.count > 0).then(|| Some(self.rate()? * self.service / self.count as f64))?
    }
}

/// One trial, and its load in the last third.
#[derive(Clone, Copy, Debug)]
pub struct TrialPassage<'a> {
    pub facts: &'a TrialFacts<'a>,
    pub late: TailLoad,
}

/// Hops of a cell's transactions, generator first, as medians over its valid trials. `processors` is the number of CPUs
/// of the machine.
pub fn hops(setup: &Setup, processors: Option<f64>, trials: &[TrialPassage<'_>]) -> Vec<HopMetrics> {
    let each: Vec<Vec<HopMetrics>> = valid(trials).map(|it| trial_hops(setup, processors, it)).collect();
    let names = [GENERATOR].into_iter().chain(setup.stack.nodes.iter().map(|it| it.name.as_str()));
    let node_hops = |place: usize| each.iter().map(|it| &it[place]).collect::<Vec<_>>();
    names.enumerate().map(|(place, name)| median_of_trials(name, &node_hops(place))).collect()
}

/// Resources used by the nodes that start as a cell's replicas, even if one of them is promoted, as medians over its
/// valid trials.
pub fn replicas(setup: &Setup, processors: Option<f64>, trials: &[TrialPassage<'_>]) -> Vec<HopMetrics> {
    let Some(plan) = &setup.stack.replication else { return Vec::new() };
    let lates: Vec<SampleView<'_>> = valid(trials).map(tail_samples).collect();
    let one = |name: String| {
        let each: Vec<_> = lates.iter().map(|it| hop_metrics(&name, &plan.limits, processors, *it)).collect();
        median_of_trials(&name, &each.iter().collect::<Vec<_>>())
    };
    setup.stack.replica_names().into_iter().map(one).collect()
}

pub(super) fn valid<'a, 'b>(trials: &'a [TrialPassage<'b>]) -> impl Iterator<Item = &'a TrialPassage<'b>> {
    trials.iter().filter(|it| it.facts.valid().is_some())
}

/// Medians over the trials for one node.
fn median_of_trials(name: &str, each: &[&HopMetrics]) -> HopMetrics {
    let middle = |field: fn(&HopMetrics) -> Option<f64>| median(each.iter().filter_map(|it| field(it)));
    HopMetrics {
        node: name.to_owned(),
        tls: each.iter().find_map(|it| it.tls.clone()),
        cpu: middle(|it| it.cpu),
        cpu_limit: middle(|it| it.cpu_limit),
        throttled: middle(|it| it.throttled),
        busy: middle(|it| it.busy),
        queue: middle(|it| it.queue),
        time: middle(|it| it.time.map(Nanos::as_secs_f64)).map(Nanos::from_secs_f64),
    }
}

/// Samples from the last third of a window.
pub(super) fn tail_samples<'a>(passage: &TrialPassage<'a>) -> SampleView<'a> {
    let window = passage.facts.summary.map_or(Nanos::ZERO, |it| it.window);
    passage.facts.samples.after(Nanos(window.0 / 3 * 2))
}

fn trial_hops(setup: &Setup, processors: Option<f64>, passage: &TrialPassage<'_>) -> Vec<HopMetrics> {
    let late = tail_samples(passage);
    let facts = TrialFacts { samples: late, ..passage.facts.clone() };
    let rate = passage.late.rate();
    // A node in which sessions of others work, or unfinished transactions accumulate, would seem to take longer than the
    // whole transaction. Its time is unknown.
    let longest = passage.late.mean_response().map_or(f64::INFINITY, |it| it * TIME_TOLERANCE);
    let time = |number: Option<f64>| {
        Some(number?.max(0.0) / rate?).filter(|it| *it <= longest).map(Nanos::from_secs_f64)
    };
    let generator = HopMetrics {
        cpu: generator_processors(&facts),
        queue: (passage.late.seconds > 0.0).then(|| passage.late.backlog_wait / passage.late.seconds),
        time: (passage.late.count > 0).then(|| {
            Nanos::from_secs_f64((passage.late.response - passage.late.service) / passage.late.count as f64)
        }),
        ..hop_metrics(GENERATOR, &setup.stack.generator, processors, late)
    };
    let nodes = &setup.stack.nodes;
    // Number of transactions in each node and all nodes behind it, if known. For the first node, it is the number of
    // all in-flight transactions.
    let mut inside: Vec<Option<f64>> = Vec::new();
    let mut all = vec![generator];
    for (place, node) in nodes.iter().enumerate() {
        let gauge = |series| mean(&sums(late, &node.name, series, |_| true));
        let (at_work, queue) = match node.kind.role() {
            Role::Server => (busy_sessions(&facts), None),
            Role::Pooler => (gauge(samples::POOL_SERVERS_ACTIVE), gauge(samples::POOL_CLIENTS_WAITING)),
            Role::Balancer => (None, gauge(samples::BALANCER_QUEUE)),
            Role::Service | Role::Manager | Role::Store => (None, None),
        };
        inside.push(match (place, node.kind.role()) {
            (_, Role::Server) if at_work.is_some() => at_work,
            (0, _) => passage.late.transactions_in_flight(),
            (_, Role::Pooler) => at_work.zip(queue).map(|(busy, queue)| busy + queue),
            _ => None,
        });
        all.push(HopMetrics { busy: at_work, queue, ..node_metrics(node, processors, late) });
    }
    // Only the transport of the load's connections is known.
    let transport = passage.facts.summary.map(|it| &it.server.transport);
    if let (Some(Transport::TcpTls { version }), Some(first)) = (transport, all.get_mut(1)) {
        first.tls = Some(version.clone());
    }
    for place in 0..nodes.len() {
        let number = match inside.get(place + 1) {
            None => inside[place],
            Some(behind) => inside[place].zip(*behind).map(|(all, behind)| all - behind),
        };
        all[place + 1].time = time(number);
    }
    all
}

/// Metrics of a node: the sums over its copies and programs. Only a node without programs has a limit of its own.
fn node_metrics(node: &Node, processors: Option<f64>, late: SampleView<'_>) -> HopMetrics {
    let parts = node.parts();
    let one = |part: &NodePart<'_>| -> Vec<HopMetrics> {
        part.instances.iter().map(|name| hop_metrics(name, part.limits, processors, late)).collect()
    };
    let all: Vec<HopMetrics> = parts.iter().flat_map(one).collect();
    let copies = all.len() as f64;
    let has_quota = node.limits.cpu.is_some();
    let limit = all.first().and_then(|it| it.cpu_limit).map(|it| if has_quota { it * copies } else { it });
    HopMetrics {
        node: node.name.clone(),
        cpu: all.iter().map(|it| it.cpu).sum(),
        cpu_limit: if parts.len() == 1 { limit } else { processors },
        throttled: all.iter().map(|it| it.throttled).sum::<Option<f64>>().map(|it| it / copies),
        ..HopMetrics::default()
    }
}

fn hop_metrics(name: &str, limits: &Limits, processors: Option<f64>, late: SampleView<'_>) -> HopMetrics {
    let pinned = (!limits.cpus.is_empty()).then_some(limits.cpus.len() as f64);
    HopMetrics {
        node: name.to_owned(),
        cpu: samples::processors(late, name).or_else(|| samples::page_processors(late, name)),
        cpu_limit: limits.cpu.or(pinned).or(processors),
        throttled: samples::throttled_share(late, name),
        ..HopMetrics::default()
    }
}
