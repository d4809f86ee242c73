//! English: what stands in a matrix and below it.

pub(super) use crate::lang::told::option as mode;
use crate::lang::told::{self, CountSize, PathCount};
use model::matrix::{ChangeVerdict, Figure, Hop, Placement, TrialStatus, UnappliedLimit};
use model::plan::Transport;

pub fn figure(it: Figure) -> &'static str {
    match it {
        Figure::Tps => "tps",
        Figure::P50 => "p50, ms",
        Figure::P99 => "p99, ms",
        Figure::Errors => "errors/1000",
        Figure::Dropped => "dropped/1000",
        Figure::Refused => "refused",
        Figure::Deadlocks => "deadl./1000",
        Figure::Served => "served",
        Figure::Starved => "starved",
        Figure::PoolerCpu => "CPU before",
        Figure::ServerCpu => "CPU PG",
        Figure::TimeToSteady => "to 90 %, s",
    }
}

pub fn verdict(it: ChangeVerdict) -> &'static str {
    match it {
        ChangeVerdict::NoEvidence => "no evidence",
        ChangeVerdict::Lower => "lower",
        ChangeVerdict::Higher => "higher",
        ChangeVerdict::TooFewRuns => "too few runs",
    }
}

pub fn entrance(it: Transport) -> &'static str {
    match it {
        Transport::Unix => "Unix socket",
        Transport::Tcp => "TCP",
        Transport::Tls => "TLS",
    }
}

pub fn path(hops: &[Hop], generator: &Placement, arrow: &str) -> String {
    let words = PathCount {
        generator: "generator",
        way: |it| it.map_or("as its address tells", entrance),
        mode,
        size: |it| match it {
            CountSize::Pool(size) => format!("pool {size}"),
            CountSize::Slots(size) => format!("{size} slots"),
            CountSize::MaxConn(size) => format!("maxconn {size}"),
        },
        placement,
    };
    told::path(&words, hops, generator, arrow)
}

fn placement(it: &Placement) -> String {
    let cpus = it.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match (it.cpu, cpus.as_str()) {
        (None, "") => "any CPU".to_owned(),
        (None, cpus) => format!("on CPU {cpus}"),
        (Some(cpu), "") => format!("{cpu} CPU"),
        (Some(cpu), cpus) => format!("{cpu} CPU, on {cpus}"),
    }
}

pub fn status(it: &TrialStatus) -> String {
    match it {
        TrialStatus::Done | TrialStatus::Stopped { .. } => "nothing was measured".to_owned(),
        TrialStatus::Interrupted => "interrupted".to_owned(),
        TrialStatus::Skipped { reason: why } => format!("skipped: {why}"),
        TrialStatus::Failed { reason: why } => format!("failed: {why}"),
    }
}

/// Of one reason.
pub fn not_applied(limits: &[&UnappliedLimit]) -> String {
    let (each, why) = told::limits(limits);
    format!("figures are without limits that could not be applied: {each}: {why}")
}

pub fn legend(baseline: Option<&str>, seed: u64, too_few: bool) -> String {
    let beside = match baseline {
        Some(baseline) => format!(
            "; ratio: to {baseline}, by a permutation test of the trials at a false discovery rate of 5 %, intervals \
             resampled with seed {seed}"
        ),
        None => String::new(),
    };
    let too_few = match too_few {
        true => "; fewer than four trials of each cell are too few to show any difference",
        false => "",
    };
    format!("medians of the valid trials and their 95 % intervals{beside}{too_few}")
}
