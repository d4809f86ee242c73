//! Plan of a `bench` run, for the report

use super::options::{ArrivalModel, BenchOptions, RunEnd};
use super::prepare::Tables;
use crate::measure::LoadConfig;
use model::Nanos;
use model::summary::{self, BenchPlan, LoadModelSummary, Script};

/// Plan of a run. `tables` is `Some` if a built-in script runs.
pub fn plan(options: &BenchOptions, ready: &LoadConfig, tables: Option<Tables>, seed: u64) -> BenchPlan {
    let script = |script: &load::script::Script| Script {
        name: script.name.clone(),
        weight: script.weight,
        commands: match options.per_command {
            true => script.commands.iter().map(|it| it.first_line.clone()).collect(),
            false => Vec::new(),
        },
    };
    let open = |schedule, arrivals| LoadModelSummary::Open { schedule, arrivals, slack: options.slack };
    BenchPlan {
        scripts: ready.work.plan().program.scripts.iter().map(script).collect(),
        scale: scale(options, tables),
        partitions: tables.and_then(|it| it.partitions),
        query_mode: options.mode,
        clients: options.clients,
        threads: ready.work.plan().threads.into(),
        max_tries: options.max_tries,
        end: match options.end {
            RunEnd::Transactions(each) => summary::EndCondition::Transactions(each),
            RunEnd::Seconds(seconds) => summary::EndCondition::Time(Nanos::from_secs(seconds.into())),
            RunEnd::ScheduleEnds => summary::EndCondition::ScheduleEnds,
        },
        model: match &options.pace {
            ArrivalModel::Closed { think } => LoadModelSummary::Closed { think: *think },
            ArrivalModel::Rate { rate, spacing } => open(rate.to_string(), *spacing),
            ArrivalModel::Schedule { text, spacing, .. } => open(text.clone(), *spacing),
        },
        reconnect: options.reconnect,
        latency_limit: options.latency_limit,
        seed,
        driver: ready.driver.name().to_owned(),
    }
}

/// Value of `:scale`: the scale of the tables. Without tables, the scale from the options.
pub fn scale(options: &BenchOptions, tables: Option<Tables>) -> u32 {
    tables.map(|it| it.scale).or(options.scale).unwrap_or(1)
}
