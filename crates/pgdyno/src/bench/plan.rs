//! What was asked for, in a report's words?

use super::options::{Options, Pace, Until};
use super::prepare::Tables;
use crate::measure::Ready;
use model::Nanos;
use model::summary::{self, LoadModel, Plan, Script};

/// `tables` are known when a built-in script runs.
pub fn plan(options: &Options, ready: &Ready, tables: Option<Tables>, seed: u64) -> Plan {
    let script = |it: &load::script::Script| Script {
        name: it.name.clone(),
        weight: it.weight,
        commands: match options.per_command {
            true => it.commands.iter().map(|it| it.first_line.clone()).collect(),
            false => Vec::new(),
        },
    };
    Plan {
        scripts: ready.work.plan().program.scripts.iter().map(script).collect(),
        scale: scale(options, tables),
        partitions: tables.and_then(|it| it.partitions),
        query_mode: options.mode,
        clients: options.clients,
        threads: options.threads,
        max_tries: options.max_tries,
        until: match options.until {
            Until::Transactions(each) => summary::Until::Transactions(each),
            Until::Seconds(seconds) => summary::Until::Time(Nanos::from_secs(seconds.into())),
            Until::ScheduleEnds => summary::Until::ScheduleEnds,
        },
        model: match &options.pace {
            Pace::Closed { think } => LoadModel::Closed { think: *think },
            Pace::Rate { rate, spacing } => {
                LoadModel::Open { schedule: rate.to_string(), arrivals: *spacing }
            }
            Pace::Schedule { text, spacing, .. } => {
                LoadModel::Open { schedule: text.clone(), arrivals: *spacing }
            }
        },
        connect_each: options.connect_each,
        latency_limit: options.latency_limit,
        seed,
        driver: ready.driver.name().to_owned(),
    }
}

/// The value of `:scale`: what the tables have, else what the user says.
pub fn scale(options: &Options, tables: Option<Tables>) -> u32 {
    tables.map(|it| it.scale).or(options.scale).unwrap_or(1)
}
