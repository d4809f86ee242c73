//! Simulated systems with known capacity
//!
//! Each trial simulates Poisson arrivals at a queue with c servers, first come first served. `judge` judges a simulated
//! trial like a real trial.

use super::{SecondSummary, judge};
use crate::fixture::{open_plan, quiet_measurement};
use crate::verdict::objective;
use crate::verdict::summary::summarise;
use model::SplitMix64;
use model::search::{SearchStep, StepPurpose, StepResult};
use model::summary::{Distribution, Server, Summary};
use model::validity::{Doubt, InvalidReason};
use model::{CompactInterval, Nanos, OperationSecond, PerSecond, Second};
use std::sync::OnceLock;

/// Irregular behaviour of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behaviour {
    None,
    /// Speed of 1 + `amplitude` sin(2πt / `period`), where t is the time spent measuring, in seconds.
    Drift {
        amplitude: f64,
        period: f64,
    },
    /// Every trial is randomly in one of two states, one of which is slower by this share.
    TwoStates {
        share: f64,
    },
    /// After an overload, the system is slower by this share until a trial is below 60 % of its capacity or starts from
    /// a fresh state.
    Metastable {
        share: f64,
    },
    /// In this share of trials, another program on the host takes a third of the capacity.
    Neighbour {
        share: f64,
    },
}

#[derive(Clone, Debug)]
pub struct SimulatedSystem {
    pub servers: usize,
    /// Mean service time, in seconds.
    pub service: f64,
    /// Standard deviation of the logarithm of the service time; `None` for exponential times.
    pub sigma: Option<f64>,
    pub behaviour: Behaviour,
    /// Bound of the objective on p99, in seconds.
    pub p99: Option<f64>,
    /// Minimum rate at which the generator is late, per second.
    pub generator: f64,
    /// In-flight cap.
    pub clients: Option<usize>,
    pub rng: SplitMix64,
    /// Time spent measuring, in seconds.
    pub measured: f64,
    overloaded: bool,
}

impl SimulatedSystem {
    pub fn new(servers: usize, service: f64, seed: u64) -> SimulatedSystem {
        SimulatedSystem {
            servers,
            service,
            sigma: None,
            behaviour: Behaviour::None,
            p99: None,
            generator: f64::INFINITY,
            clients: None,
            rng: SplitMix64(seed),
            measured: 0.0,
            overloaded: false,
        }
    }

    /// Capacity: arrivals per second above which the queue grows without bound.
    pub fn capacity(&self) -> f64 {
        self.servers as f64 / self.service
    }

    /// Simulates a trial.
    pub fn trial(&mut self, step: SearchStep) -> StepResult {
        let (summary, seconds) = self.simulate(&step);
        let seconds: Vec<SecondSummary> = seconds.iter().map(SecondSummary::from).collect();
        let names = vec!["a.sql".to_owned(), "b.sql".to_owned()];
        let objectives: Vec<_> = self
            .p99
            .map(|bound| {
                objective::parse(&format!("p99 < {}us", bound * 1e6), &names).expect("the objective is valid")
            })
            .into_iter()
            .collect();
        judge(step, &summary, &seconds, &objective::judge(&objectives, &summary), None)
    }

    fn simulate(&mut self, step: &SearchStep) -> (Summary, Vec<Second>) {
        let window = step.window.as_secs_f64();
        if step.purpose == StepPurpose::Hold {
            self.overloaded = false;
        }
        let speed = self.speed();
        let mut servers = vec![0.0f64; self.servers];
        let mut clients = vec![0.0f64; self.clients.unwrap_or(0)];
        let whole_seconds = window.ceil() as usize;
        let (mut came, mut went) = (vec![0u64; whole_seconds + 1], vec![0u64; whole_seconds + 1]);
        let mut sums = vec![0.0f64; whole_seconds + 1];
        let (mut response, mut service) = (Vec::new(), Vec::new());
        let (mut at, mut waited) = (0.0, 0);
        loop {
            at += exponential(&mut self.rng) / step.level;
            if at >= window {
                break;
            }
            let sent = match next_free_server(&mut clients) {
                Some(free) if *free > at => {
                    waited += 1;
                    *free
                }
                _ => at,
            };
            let takes = self.draw_service_time() / speed(self.measured + at);
            let server = next_free_server(&mut servers).expect("there is a server");
            let finished = sent.max(*server) + takes;
            *server = finished;
            if let Some(free) = next_free_server(&mut clients) {
                *free = finished;
            }
            response.push(((finished - at) * 1e9) as u64);
            service.push(((finished - sent) * 1e9) as u64);
            came[at as usize] += 1;
            if finished < window {
                went[finished as usize] += 1;
                sums[finished as usize] += finished - at;
            }
        }
        self.measured += window;
        self.overloaded = match self.behaviour {
            Behaviour::Metastable { .. } => {
                let capacity = self.capacity();
                step.level > capacity || self.overloaded && step.level > 0.6 * capacity
            }
            _ => false,
        };
        let arrivals = response.len() as u64;
        let done: u64 = went.iter().sum();
        let mut summary = base().clone();
        summary.total.counts.ok = arrivals;
        summary.window = step.window;
        summary.total.tps = PerSecond(done as f64 / window);
        summary.total.response = distribution(&mut response);
        summary.total.service = distribution(&mut service);
        summary.plan.clients = self.clients.unwrap_or(10_000) as u32;
        if waited > 0 {
            summary.validity.doubts.push(Doubt::InFlightCapReached { arrivals, waited, dropped: 0 });
        }
        if step.level > self.generator {
            let late = InvalidReason::Late { quantile: 0.99, lag: Nanos::from_millis(5), jitter: None };
            summary.validity.reasons.push(late);
            summary.validity.valid = false;
        }
        let mut in_flight = 0;
        let second = |n: usize| {
            in_flight = in_flight + came[n] - went[n];
            let mut times = model::LatencyHistogram::new();
            if self.clients.is_some() && went[n] > 0 {
                let mean = Nanos::from_secs_f64(sums[n] / went[n] as f64);
                (0..went[n]).for_each(|_| times.record(mean));
            }
            let response =
                if self.clients.is_some() { (&times).into() } else { model::SparseHistogram::default() };
            Second {
                second: n as u64,
                in_flight: self.clients.map_or(in_flight, |it| in_flight.min(it as u64)),
                interval: CompactInterval {
                    from: Nanos::from_secs(n as u64),
                    to: Nanos::from_secs(n as u64 + 1),
                    scripts: vec![OperationSecond { ok: went[n], response, ..OperationSecond::default() }],
                    ..CompactInterval::default()
                },
            }
        };
        (summary, (0..whole_seconds).map(second).collect())
    }

    fn draw_service_time(&mut self) -> f64 {
        match self.sigma {
            None => self.service * exponential(&mut self.rng),
            Some(sigma) => self.service * (sigma * self.rng.normal() - sigma * sigma / 2.0).exp(),
        }
    }

    /// Relative speed as a function of the time within the next trial, which starts at `measured`.
    fn speed(&mut self) -> impl Fn(f64) -> f64 + use<> {
        let draw = self.rng.uniform();
        let (steady, amplitude, period) = match self.behaviour {
            Behaviour::None => (1.0, 0.0, 1.0),
            Behaviour::Drift { amplitude, period } => (1.0, amplitude, period),
            Behaviour::TwoStates { share } => (if draw < 0.5 { 1.0 - share } else { 1.0 }, 0.0, 1.0),
            Behaviour::Metastable { share } => (if self.overloaded { 1.0 - share } else { 1.0 }, 0.0, 1.0),
            Behaviour::Neighbour { share } => (if draw < share { 2.0 / 3.0 } else { 1.0 }, 0.0, 1.0),
        };
        move |at| steady + amplitude * (std::f64::consts::TAU * at / period).sin()
    }
}

/// Highest rate, per second, at which the p99 response time is `bound` seconds with exponential service times. Exact,
/// by Erlang's formula.
pub fn erlang(servers: usize, service: f64, bound: f64) -> f64 {
    let mu = 1.0 / service;
    let beyond = |rate: f64| {
        let load = rate * service;
        let blocked = (1..=servers).fold(1.0, |b, n| load * b / (n as f64 + load * b));
        let waits = blocked / (1.0 - load / servers as f64 * (1.0 - blocked));
        let drains = servers as f64 * mu - rate;
        // If both rates are equal, the quotient is undefined. A slightly different rate is accurate enough.
        let drains = if (drains / mu - 1.0).abs() < 1e-6 { drains * (1.0 + 1e-5) } else { drains };
        let served = (-mu * bound).exp();
        let both = (mu * (-drains * bound).exp() - drains * served) / (mu - drains);
        (1.0 - waits) * served + waits * both
    };
    bisect(servers as f64 / service, |rate| beyond(rate) > 0.01)
}

/// Highest rate, per second, at which the p99 response time is `bound` seconds, for any service times. The function
/// simulates `arrivals` arrivals at each rate and ignores the system's irregular behaviour.
pub fn simulate_capacity(system: &SimulatedSystem, bound: f64, arrivals: f64) -> f64 {
    bisect(system.capacity(), |rate| {
        let mut system =
            SimulatedSystem { behaviour: Behaviour::None, rng: SplitMix64(77), ..system.clone() };
        let window = Nanos::from_secs_f64((arrivals / rate).ceil());
        let step = SearchStep {
            scale: model::plan::LoadScale::Rate,
            level: rate,
            purpose: StepPurpose::Ramp,
            window,
            perturbation: None,
            round: 0,
        };
        let p99 = system.simulate(&step).0.total.response.p99;
        p99.expect("there are many samples").as_secs_f64() > bound
    })
}

fn bisect(most: f64, too_much: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..14 {
        let middle = f64::midpoint(low, high);
        if too_much(middle) { high = middle } else { low = middle }
    }
    f64::midpoint(low, high)
}

/// Time at which the first server becomes free.
fn next_free_server(free_at: &mut [f64]) -> Option<&mut f64> {
    free_at.iter_mut().min_by(|a, b| a.total_cmp(b))
}

fn base() -> &'static Summary {
    static BASE: OnceLock<Summary> = OnceLock::new();
    BASE.get_or_init(|| summarise(&quiet_measurement(), Server::default(), open_plan()))
}

fn distribution(times: &mut [u64]) -> Distribution {
    times.sort_unstable();
    let at = |q: f64| {
        let rank = ((times.len() as f64 * q).ceil() as usize).max(1);
        (times.len() >= rank + 10).then(|| Nanos(times[rank - 1]))
    };
    let sum: u128 = times.iter().map(|it| u128::from(*it)).sum();
    Distribution {
        count: times.len() as u64,
        unanswered: None,
        mean: (!times.is_empty()).then(|| Nanos((sum / times.len() as u128) as u64)),
        deviation: None,
        min: times.first().copied().map(Nanos),
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: times.last().copied().map(Nanos),
    }
}

pub fn exponential(rng: &mut SplitMix64) -> f64 {
    -(1.0 - rng.uniform()).ln()
}
