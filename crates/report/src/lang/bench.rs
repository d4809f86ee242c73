//! Summary of a benchmark, and validity of its measurement

use super::Lang;
use super::number::quantile;
use crate::say;
use model::summary::{
    BenchPlan, CpuCost, FailureClass, Fairness, LoadModelSummary, Server, ServerTransport, ThreadSummary,
};
use model::validity::{Doubt, InvalidReason};
use model::{Nanos, PerSecond, Spacing};

/// Arrivals and rates that a schedule produces.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulePreview {
    /// The schedule as the user wrote it.
    pub schedule: String,
    pub spacing: Spacing,
    /// Seed of Poisson arrivals.
    pub seed: u64,
    /// Number of arrivals; `None` if counting Poisson arrivals one by one takes too long.
    pub arrivals: Option<u64>,
    /// Expected number of arrivals: the integral of the rate.
    pub expected: f64,
    pub duration: Nanos,
    pub lowest: PerSecond,
    pub highest: PerSecond,
    /// Mean rate in each of several equal intervals of the schedule.
    pub rates: Vec<PerSecond>,
}

impl Lang {
    /// Describes the effect of failed transactions of this class.
    pub fn effect(&self, class: FailureClass) -> String {
        match class {
            FailureClass::Failed => say!(self, "bench-effect-none"),
            FailureClass::Unknown => say!(self, "bench-effect-unknown"),
            FailureClass::Refused => say!(self, "bench-effect-refused"),
        }
    }

    /// Reports that `dropped` of `arrivals` arrivals were never sent.
    pub fn dropped(&self, dropped: u64, arrivals: u64) -> String {
        let share = self.numbers().percent(dropped as f64 / arrivals as f64, 3);
        say!(self, "bench-never-sent", dropped, arrivals, share)
    }

    pub fn fairness(&self, fairness: &Fairness) -> String {
        let Fairness { min_transactions, median, max_transactions, jain } = *fairness;
        say!(
            self,
            "bench-fairness",
            min_transactions,
            median,
            max_transactions,
            jain = self.numbers().fixed(jain, 3)
        )
    }

    /// Reports the generator's CPU cost. `busiest` is the busy share (0..=1) of the busiest thread during the window.
    pub fn generator(&self, cost: &CpuCost, busiest: f64) -> String {
        let numbers = self.numbers();
        let [user, system, spun] =
            [cost.user, cost.system, cost.spun].map(|time| numbers.fixed(time.as_micros_f64(), 2));
        say!(self, "bench-cpu-cost", user, system, spun, busiest = numbers.percent(busiest, 0))
    }

    /// Reports the counters of one generator thread.
    pub fn thread(&self, thread: &ThreadSummary) -> String {
        let numbers = self.numbers();
        let busy = numbers.percent(thread.busy, 1);
        let stall = self.time(thread.longest_stall);
        let kernel = thread.kernel.map(|counters| {
            say!(
                self,
                "bench-thread-kernel",
                voluntary = numbers.count(counters.voluntary_switches),
                involuntary = numbers.count(counters.involuntary_switches),
                minor = numbers.count(counters.minor_faults),
                major = numbers.count(counters.major_faults)
            )
        });
        let of_thread =
            say!(self, "bench-thread-counters", busy, wakeups = numbers.count(thread.wakeups), stall);
        [Some(of_thread), kernel].into_iter().flatten().collect::<Vec<_>>().join(numbers.among())
    }

    /// Describes the server and the parameters of the benchmark.
    pub fn measured(&self, server: &Server, plan: &BenchPlan) -> String {
        let transport = match &server.transport {
            ServerTransport::UnixSocket => say!(self, "bench-unix-socket"),
            ServerTransport::Tcp => "TCP".to_owned(),
            ServerTransport::TcpTls { version } => say!(self, "bench-tls", version),
        };
        let mut model = match &plan.model {
            LoadModelSummary::Closed { think: Nanos::ZERO } => say!(self, "bench-closed-model"),
            LoadModelSummary::Closed { think } => {
                say!(self, "bench-closed-model-thinking", time = self.numbers().chosen(*think))
            }
            LoadModelSummary::Open { schedule, arrivals: Spacing::Even, .. } => {
                say!(self, "bench-open-model-even", schedule)
            }
            LoadModelSummary::Open { schedule, arrivals: Spacing::Poisson, .. } => {
                say!(self, "bench-open-model-poisson", schedule)
            }
            LoadModelSummary::Replay { recording, speed } => {
                say!(self, "bench-replay", recording, speed = self.numbers().plain(*speed))
            }
        };
        if let LoadModelSummary::Open { slack, .. } = plan.model
            && slack > Nanos::ZERO
        {
            model = say!(self, "bench-slack", model, time = self.numbers().chosen(slack));
        }
        let Server { version, address, database, .. } = server;
        let origin = server.origin.as_ref();
        let server = match server.is_postgres() {
            true => say!(self, "bench-measured-postgres", version, origin, transport, address, database),
            false => say!(self, "bench-measured-http", version, transport, address),
        };
        say!(self, "bench-measured-how", server, model, driver = &plan.driver, seed = plan.seed.to_string())
    }

    /// Describes the arrivals and rates that a schedule produces.
    pub fn preview(&self, preview: &SchedulePreview) -> String {
        let numbers = self.numbers();
        let expected = preview.expected.round() as u64;
        let spacing = match preview.spacing {
            Spacing::Even => say!(self, "bench-spacing-even"),
            Spacing::Poisson => {
                say!(self, "bench-spacing-poisson", seed = preview.seed.to_string(), expected)
            }
        };
        let [lowest, highest] = [preview.lowest, preview.highest].map(|rate| numbers.rate(rate));
        let rates = if lowest == highest { lowest } else { say!(self, "bench-rates", lowest, highest) };
        let (arrivals, duration) = (preview.arrivals, numbers.duration(preview.duration));
        say!(self, "bench-preview", arrivals, expected, duration, spacing, rates)
    }

    /// Reports that no transaction succeeded. `failure` is the code and message of the most frequent failure.
    pub fn nothing_succeeded(&self, failure: Option<&str>) -> String {
        say!(self, "bench-no-success", failure)
    }

    /// Verdict on a valid measurement with a doubt.
    pub fn valid_but(&self, doubt: &str) -> String {
        say!(self, "bench-valid-with-doubts", doubt)
    }

    pub fn reason(&self, reason: &InvalidReason) -> String {
        let share = |share| self.numbers().percent(share, 0);
        match *reason {
            InvalidReason::Late { quantile: at, lag, jitter } => {
                let [lag, jitter] = [Some(lag), jitter].map(|time| time.map(|time| self.time(time)));
                say!(self, "bench-late", quantile = quantile(at), lag, jitter)
            }
            InvalidReason::Saturated { thread, busy } => {
                say!(self, "bench-saturated", thread = thread + 1, busy = share(busy))
            }
            InvalidReason::ResourcesExhausted { connections } => say!(self, "bench-exhausted", connections),
            InvalidReason::Suspended { duration } => {
                say!(self, "bench-suspended", duration = self.time(duration))
            }
            InvalidReason::Throttled { share: throttled } => {
                say!(self, "bench-throttled", share = share(throttled))
            }
            InvalidReason::Stalled { thread, duration } => {
                say!(self, "bench-stalled", thread = thread + 1, duration = self.time(duration))
            }
            InvalidReason::Aborted { clients, total_clients: total } => {
                say!(self, "bench-aborted", clients, total)
            }
            InvalidReason::AgentLost { agent } => say!(self, "bench-agent-lost", agent = agent + 1),
            InvalidReason::AgentLate { agent, late } => {
                say!(self, "bench-agent-late", agent = agent + 1, late = self.time(late))
            }
            InvalidReason::ClockUncertain { agent, uncertainty } => {
                let uncertainty = uncertainty.map(|it| self.time(it));
                say!(self, "bench-clock-uncertain", agent = agent + 1, uncertainty)
            }
            InvalidReason::AgentsLimit { agents, more, busy } => {
                let busy = busy.map(share);
                say!(self, "bench-agents-limit", agents = agents as u64, more = more as u64, busy)
            }
            InvalidReason::NoSuccess => self.nothing_succeeded(None),
        }
    }

    /// A doubt about a measurement with `clients` clients.
    pub fn doubt(&self, doubt: &Doubt, clients: u32) -> String {
        let numbers = self.numbers();
        match *doubt {
            Doubt::HostLate { quantile: at, lag, jitter } => {
                let [lag, jitter] = [lag, jitter].map(|time| self.time(time));
                say!(self, "bench-host-late", quantile = quantile(at), lag, jitter)
            }
            Doubt::Stolen { processors } => {
                say!(self, "bench-stolen", processors = numbers.fixed(processors, 2))
            }
            Doubt::Starved { thread, share } => {
                say!(self, "bench-starved", thread = thread + 1, share = numbers.percent(share, 0))
            }
            Doubt::InFlightCapReached { arrivals, waited, dropped } => {
                say!(self, "bench-cap-reached", clients, arrivals, waited, dropped)
            }
            Doubt::BehindSchedule { arrivals, waited, dropped, wait } => {
                say!(self, "bench-behind-schedule", arrivals, waited, dropped, wait = self.time(wait))
            }
            Doubt::ResultsDiffer { results, differing } => {
                let share = numbers.percent(differing as f64 / results as f64, 1);
                let [results, differing] = [results, differing].map(|count| numbers.count(count));
                say!(self, "bench-results-differ", results, differing, share)
            }
            Doubt::MixDiffers { ref operation, recorded, measured } => {
                let [recorded, measured] = [recorded, measured].map(|share| numbers.percent(share, 0));
                say!(self, "bench-mix-differs", operation, recorded, measured)
            }
            Doubt::UnevenClients { jain, min_transactions, max_transactions } => {
                say!(self, "bench-uneven", min_transactions, max_transactions, jain = numbers.fixed(jain, 2))
            }
            Doubt::Outage { count, duration, from, to } => {
                let [duration, from, to] = [duration, from, to].map(|time| self.time(time));
                match count {
                    1 => say!(self, "bench-outage", duration, from, to),
                    _ => say!(self, "bench-outages", duration, count, from, to),
                }
            }
            Doubt::FeedExhausted { rows, at, planned } => {
                say!(self, "bench-feed-exhausted", at = self.time(at), planned = self.time(planned), rows)
            }
            Doubt::NodeNotUsed { ref node } => say!(self, "bench-node-not-used", node),
            Doubt::LogIncomplete => say!(self, "bench-log-incomplete"),
            Doubt::NoRows { operation, command, statement, statements, count, share, second } => say!(
                self,
                "bench-no-rows",
                statement = statement.keyword(),
                share = numbers.percent(share, 0),
                count,
                second = second.map(|second| second.to_string()),
                script = u32::from(operation) + 1,
                command = u32::from(command) + 1,
                others = statements.saturating_sub(1)
            ),
            Doubt::FewSamples { count } => say!(self, "bench-few-samples", count),
            Doubt::SmallAnswers { small, large, share } => {
                let [small, large] = [small, large].map(|bytes| self.bytes(bytes as f64));
                say!(self, "bench-small-answers", share = numbers.percent(share, 0), small, large)
            }
            Doubt::ClockStepped { step } => {
                let direction = if step < 0 { "back" } else { "forward" };
                let step = self.span(Nanos(step.unsigned_abs()));
                say!(self, "bench-clock-stepped", direction, step)
            }
        }
    }
}
