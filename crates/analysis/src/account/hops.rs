//! Where are the time and the queue?
//!
//! By Little's law what is under way is throughput times mean time. What enters a node and has not left the one behind it is
//! in between: its number by the throughput is the time that a transaction spends there.

use super::median;
use crate::finding::samples::{self, mean, sums};
use crate::finding::{TrialFacts, busy};
use model::account::HopAccount;
use model::plan::{AttachedRole, Kind, Limits, Node, Setup};
use model::summary::Hop as Transport;
use model::{Nanos, Sample, Second};

/// The generator's name as a node.
const GENERATOR: &str = "generator";

/// What the load was in the last third of a window, towards which schedules grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Late {
    seconds: f64,
    /// Well; and otherwise, whose times nobody knows.
    ended: u64,
    failed: u64,
    /// Sums, seconds: from the intended start, from the send, and of those that waited for a client.
    response: f64,
    service: f64,
    waited: f64,
    /// Of how many the first two are.
    count: u64,
}

impl Late {
    pub fn add(&mut self, it: &Second) {
        let seconds = |nanos: u128| nanos as f64 / 1e9;
        self.seconds += (it.to - it.from).as_secs_f64();
        self.waited += seconds(it.backlog_wait.sum());
        for it in &it.operations {
            self.ended += it.ok - it.late;
            self.failed += it.failed.total() + it.unknown.total();
            self.count += it.response.count();
            self.response += seconds(it.response.sum());
            self.service += seconds(it.service.sum());
        }
    }

    /// With the service times of the same stretch, read apart.
    pub fn with_service_of(self, other: Late) -> Late {
        Late { service: other.service, ..self }
    }

    /// Transactions per second; `None` when none ended well, or fewer than failed: what is under way is theirs then.
    fn rate(&self) -> Option<f64> {
        (self.ended > self.failed && self.seconds > 0.0).then(|| self.ended as f64 / self.seconds)
    }

    /// From the send to the end, all that are under way.
    fn under_way(&self) -> Option<f64> {
        (self.count > 0).then(|| Some(self.rate()? * self.service / self.count as f64))?
    }
}

/// One trial, and its load in the last third.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    pub facts: &'a TrialFacts<'a>,
    pub late: Late,
}

/// The way of a cell's transactions, the generator first; medians over its valid trials. `processors`: of the machine.
pub fn hops(setup: &Setup, processors: Option<f64>, trials: &[Passage<'_>]) -> Vec<HopAccount> {
    let each: Vec<Vec<HopAccount>> = valid(trials).map(|it| of_trial(setup, processors, it)).collect();
    let names = [GENERATOR].into_iter().chain(setup.stack.nodes.iter().map(|it| it.name.as_str()));
    let of = |place: usize| each.iter().map(|it| &it[place]).collect::<Vec<_>>();
    names.enumerate().map(|(place, name)| merged(name, &of(place))).collect()
}

/// What the replicas of a cell use, whichever of the servers is the primary; medians over its valid trials.
pub fn replicas(setup: &Setup, processors: Option<f64>, trials: &[Passage<'_>]) -> Vec<HopAccount> {
    let Some(plan) = &setup.stack.replication else { return Vec::new() };
    let lates: Vec<Vec<Sample>> = valid(trials).map(late_samples).collect();
    let one = |name: String| {
        let each: Vec<_> = lates.iter().map(|it| hop(&name, &plan.limits, processors, it)).collect();
        merged(&name, &each.iter().collect::<Vec<_>>())
    };
    setup.stack.replicas().into_iter().map(one).collect()
}

fn valid<'a, 'b>(trials: &'a [Passage<'b>]) -> impl Iterator<Item = &'a Passage<'b>> {
    trials.iter().filter(|it| it.facts.valid().is_some())
}

/// Medians of one node.
fn merged(name: &str, each: &[&HopAccount]) -> HopAccount {
    let middle =
        |of: fn(&HopAccount) -> Option<f64>| median(&each.iter().filter_map(|it| of(it)).collect::<Vec<_>>());
    HopAccount {
        node: name.to_owned(),
        tls: each.iter().find_map(|it| it.tls.clone()),
        cpu: middle(|it| it.cpu),
        of_cpu: middle(|it| it.of_cpu),
        throttled: middle(|it| it.throttled),
        busy: middle(|it| it.busy),
        queue: middle(|it| it.queue),
        time: middle(|it| it.time.map(Nanos::as_secs_f64)).map(Nanos::from_secs_f64),
    }
}

/// Those of a window's last third.
fn late_samples(it: &Passage<'_>) -> Vec<Sample> {
    let window = it.facts.summary.map_or(Nanos::ZERO, |it| it.window);
    let from = Nanos(window.0 / 3 * 2);
    it.facts.samples.iter().filter(|it| it.at > from).cloned().collect()
}

fn of_trial(setup: &Setup, processors: Option<f64>, it: &Passage<'_>) -> Vec<HopAccount> {
    let late = late_samples(it);
    let facts = TrialFacts { samples: &late, ..it.facts.clone() };
    let rate = it.late.rate();
    let time = |number: Option<f64>| Some(Nanos::from_secs_f64(number?.max(0.0) / rate?));
    let generator = HopAccount {
        cpu: crate::finding::host::generator(&facts),
        queue: (it.late.seconds > 0.0).then(|| it.late.waited / it.late.seconds),
        time: (it.late.count > 0)
            .then(|| Nanos::from_secs_f64((it.late.response - it.late.service) / it.late.count as f64)),
        ..hop(GENERATOR, &setup.stack.generator, processors, &late)
    };
    let nodes = &setup.stack.nodes;
    // In the node and all behind it, where that is known; the first has all that is under way.
    let mut inside: Vec<Option<f64>> = Vec::new();
    let mut all = vec![generator];
    for (place, node) in nodes.iter().enumerate() {
        let gauge = |series| mean(&sums(&late, &node.name, series, |_| true));
        let (at_work, queue) = match role(node) {
            Role::Postgres => (busy(&facts), None),
            Role::PgBouncer => (gauge(samples::PGBOUNCER_SV_ACTIVE), gauge(samples::PGBOUNCER_CL_WAITING)),
            Role::Odyssey => (gauge(samples::ODYSSEY_SV_ACTIVE), None),
            Role::Balancer => (None, gauge(samples::HAPROXY_QCUR)),
            Role::Service => (None, None),
        };
        inside.push(match (place, role(node)) {
            (_, Role::Postgres) if at_work.is_some() => at_work,
            (0, _) => it.late.under_way(),
            (_, Role::PgBouncer) => at_work.zip(queue).map(|(busy, queue)| busy + queue),
            _ => None,
        });
        all.push(HopAccount { busy: at_work, queue, ..hop(&node.name, &node.limits, processors, &late) });
    }
    // How the load's own connections were protected is known for sure.
    let entrance = it.facts.summary.map(|it| &it.server.transport);
    if let (Some(Transport::TcpTls { version }), Some(first)) = (entrance, all.get_mut(1)) {
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

fn hop(name: &str, limits: &Limits, processors: Option<f64>, late: &[Sample]) -> HopAccount {
    let pinned = (!limits.cpus.is_empty()).then_some(limits.cpus.len() as f64);
    HopAccount {
        node: name.to_owned(),
        cpu: samples::processors(late, name),
        of_cpu: limits.cpu.or(pinned).or(processors),
        throttled: samples::throttled(late, name),
        ..HopAccount::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Postgres,
    PgBouncer,
    Odyssey,
    Balancer,
    Service,
}

fn role(node: &Node) -> Role {
    match &node.kind {
        Kind::Postgres(_) => Role::Postgres,
        Kind::PgBouncer(_) => Role::PgBouncer,
        Kind::Odyssey(_) => Role::Odyssey,
        Kind::HaProxy(_) => Role::Balancer,
        Kind::Service(_) => Role::Service,
        Kind::Attached(it) => match it.role {
            AttachedRole::Postgres => Role::Postgres,
            AttachedRole::PgBouncer => Role::PgBouncer,
            AttachedRole::Odyssey => Role::Odyssey,
            AttachedRole::Balancer => Role::Balancer,
        },
    }
}
