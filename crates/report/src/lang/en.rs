//! English.

mod live;

use super::number::{Numbers, quantile};
use super::{Label, Words};
use crate::preview::SchedulePreview;
use model::summary::{
    BenchPlan, CpuCost, Doubt, FailureClass, Fairness, InvalidReason, LoadModelSummary, Server,
    ServerTransport,
};
use model::{Nanos, Spacing};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug)]
pub struct En;

static NUMBERS: LazyLock<&Numbers> = LazyLock::new(|| super::english().numbers());

impl std::ops::Deref for En {
    type Target = super::Lang;

    fn deref(&self) -> &super::Lang {
        super::english()
    }
}

impl Words for En {
    fn label(&self, it: Label) -> &'static str {
        match it {
            Label::Count => "count",
            Label::Mean => "mean",
            Label::Max => "max",
            Label::Response => "response time, ms",
            Label::Service => "service time, ms",
            Label::ResponseOfScript => "response, ms, script",
            Label::ServiceOfScript => "service, ms, script",
            Label::Connecting => "log-in, ms",
            Label::BacklogWait => "wait for a client, ms",
            Label::SendLag => "send lag, us",
            Label::Jitter => "timer jitter here, us",
            Label::ArrivalsPerSecond => "arrivals/s",
            Label::Statements => "commands, ms, script",
            Label::Failures => "failures",
            Label::Effect => "effect",
            Label::Dropped => "dropped",
            Label::Clients => "per client",
            Label::Generator => "generator",
            Label::Measured => "measured",
            Label::Verdict => "verdict",
            Label::Note => "note",
            Label::Valid => "valid",
            Label::Invalid => "INVALID",
            Label::Interval => "95 %",
            Label::VsBaseline => "ratio",
            Label::Path => "path",
            Label::Cell => "cell",
            Label::Beside => "beside",
            Label::Transport => "transport",
            Label::Runs => "runs",
        }
    }

    fn effect(&self, class: FailureClass) -> &'static str {
        match class {
            FailureClass::Failed => "none",
            FailureClass::Unknown => "unknown: connection broke",
            FailureClass::Refused => "not connected",
        }
    }

    fn dropped(&self, dropped: u64, arrivals: u64) -> String {
        let share = 100.0 * dropped as f64 / arrivals as f64;
        format!("{dropped} of {arrivals} arrivals were never sent ({share:.3} %)")
    }

    fn fairness(&self, it: &Fairness) -> String {
        format!(
            "fewest {}, median {}, most {} transactions; Jain's index {:.3}",
            it.fewest, it.median, it.most, it.jain
        )
    }

    fn generator(&self, it: &CpuCost, busiest: f64) -> String {
        let [user, system, spun] = [it.user, it.system, it.spun].map(Nanos::as_micros_f64);
        format!(
            "{user:.2} us user + {system:.2} us system per transaction, {spun:.2} us of it spinning; busiest \
             thread {:.0} % busy",
            100.0 * busiest
        )
    }

    fn measured(&self, server: &Server, plan: &BenchPlan) -> String {
        let transport = match &server.transport {
            ServerTransport::UnixSocket => "Unix socket".to_owned(),
            ServerTransport::Tcp => "TCP".to_owned(),
            ServerTransport::TcpTls { version } => format!("TCP with TLS {version}"),
        };
        let origin = server.origin.as_ref().map(|it| format!(" from {it}")).unwrap_or_default();
        let model = match &plan.model {
            LoadModelSummary::Closed { think } if *think == Nanos::ZERO => "closed model".to_owned(),
            LoadModelSummary::Closed { think } => {
                format!("closed model, thinking {}", NUMBERS.chosen(*think))
            }
            LoadModelSummary::Open { schedule, arrivals: Spacing::Even } => {
                format!("open model, {schedule}, even arrivals")
            }
            LoadModelSummary::Open { schedule, arrivals: Spacing::Poisson } => {
                format!("open model, {schedule}, Poisson arrivals")
            }
        };
        let (version, address) = (&server.version, &server.address);
        let asked = match server.is_postgres() {
            true => {
                format!("PostgreSQL {version}{origin}, {transport} {address}, database {}", server.database)
            }
            false => format!("{version}, HTTP/1.1 over {transport} {address}"),
        };
        format!("{asked}; {model}; driver {}; seed {}", plan.driver, plan.seed)
    }

    fn preview(&self, it: &SchedulePreview) -> String {
        let arrivals = it.arrivals.map_or(format!("about {:.0}", it.expected), |n| n.to_string());
        let plural = if it.arrivals == Some(1) { "" } else { "s" };
        let spacing = match it.spacing {
            Spacing::Even => "evenly spaced".to_owned(),
            Spacing::Poisson => format!("Poisson with seed {} ({:.0} expected)", it.seed, it.expected),
        };
        let rates = match it.lowest == it.highest {
            true => it.lowest.to_string(),
            false => format!("{} to {}", it.lowest, it.highest),
        };
        format!("{arrivals} arrival{plural} in {}, {spacing}, at {rates}", NUMBERS.duration(it.duration))
    }

    fn reason(&self, it: &InvalidReason) -> String {
        match *it {
            InvalidReason::Late { quantile: at, lag, jitter } => {
                let host = match jitter {
                    Some(jitter) => format!("this host's timer jitter was {}", NUMBERS.time(jitter)),
                    None => "this host's timer jitter is not known".to_owned(),
                };
                format!(
                    "the generator was late: send lag was {} at {}; {host}",
                    NUMBERS.time(lag),
                    quantile(at)
                )
            }
            InvalidReason::Saturated { thread, busy } => format!(
                "the generator was saturated: thread {} worked {:.0} % of the time; use more threads (-j) or less \
                 load",
                thread + 1,
                100.0 * busy
            ),
            InvalidReason::ResourcesExhausted { connections } => format!(
                "{connections} connections could not be opened: file descriptors or local ports ran out; raise \
                 ulimit -n or net.ipv4.ip_local_port_range"
            ),
            InvalidReason::Suspended { duration: lasting } => {
                format!("the machine was suspended for {}", NUMBERS.time(lasting))
            }
            InvalidReason::Throttled { share } => format!(
                "the generator was held back by its own limit in {:.0} % of the quota's periods",
                100.0 * share
            ),
            InvalidReason::Stalled { thread, duration: lasting } => {
                format!("thread {} of the generator froze for {}", thread + 1, NUMBERS.time(lasting))
            }
            InvalidReason::Aborted { clients, of } => format!(
                "{clients} of {of} clients gave up, because their script could not go on; the load was smaller than \
                 planned"
            ),
        }
    }

    fn nothing_succeeded(&self, first: Option<&str>) -> String {
        let why = first.map_or(String::new(), |it| format!(": {it}"));
        format!("FAILED: no transaction succeeded{why}")
    }

    fn valid_but(&self, why: &str) -> String {
        format!("valid with doubts: {why}")
    }

    fn doubt(&self, it: &Doubt, clients: u32) -> String {
        match *it {
            Doubt::HostLate { quantile: at, lag, jitter } => format!(
                "this host is late: send lag was {} at {}, its timer jitter {}; response times contain it",
                NUMBERS.time(lag),
                quantile(at),
                NUMBERS.time(jitter)
            ),
            Doubt::Stolen { processors } => {
                format!("the hypervisor gave {processors:.2} processors' time of this machine to others")
            }
            Doubt::Starved { thread, share } => format!(
                "thread {} of the generator waited for a processor in {:.0} % of the time; response times contain it",
                thread + 1,
                100.0 * share
            ),
            Doubt::InFlightCapReached { arrivals, waited, dropped } => format!(
                "all {clients} clients were busy: of {arrivals} arrivals {waited} waited for one, {dropped} were dropped; \
                 then this is no open test any more"
            ),
            Doubt::UnevenClients { jain, fewest, most } => format!(
                "clients were served unevenly: from {fewest} to {most} transactions (Jain's index {jain:.2}); an \
                 average hides who waited"
            ),
            Doubt::Outage { count: 1, duration: lasting, from, to } => format!(
                "nothing succeeded for {} (from {} to {})",
                NUMBERS.time(lasting),
                NUMBERS.time(from),
                NUMBERS.time(to)
            ),
            Doubt::Outage { count, duration: lasting, from, to } => format!(
                "nothing succeeded for {} altogether, {count} times, the longest from {} to {}",
                NUMBERS.time(lasting),
                NUMBERS.time(from),
                NUMBERS.time(to)
            ),
            Doubt::NoSuccess => "no transaction ended well".to_owned(),
            Doubt::FewSamples { count } => {
                format!("{count} transactions are too few for p99, which takes 1000; run longer")
            }
            Doubt::SmallAnswers { small, large, share } => format!(
                "{} of the HTTP answers have about {} where others to the same request have {}: look whether they are \
                 error or log-in pages",
                NUMBERS.percent(share, 0),
                NUMBERS.bytes(small as f64),
                NUMBERS.bytes(large as f64)
            ),
            Doubt::ClockStepped { step } => format!(
                "this machine's clock was set {} by {}; no duration and no moment in this report depends on it, those in \
                 other programs' logs do",
                if step < 0 { "back" } else { "forward" },
                NUMBERS.span(Nanos(step.unsigned_abs()))
            ),
        }
    }
}
