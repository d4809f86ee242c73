//! CPUs and sessions used by a trial

use super::sample_set::SampleView;
use super::samples::{self, HOST_CPU, growth, node_processors, processors};
use super::trial::TrialFacts;
use model::plan::Node;

/// Node name of the machine itself.
const HOST: &str = "host";
/// CPU states that count as idle.
const FREE: [&str; 2] = ["idle", "iowait"];

/// CPUs used by the generator, excluding the monitoring and child processes.
pub fn generator_processors(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    let counts = &summary.total.counts;
    let executed = (counts.ok + counts.failed + counts.unknown) as f64;
    let each = summary.generator.per_transaction?;
    Some(executed * (each.user + each.system).as_secs_f64() / summary.window.as_secs_f64())
}

/// CPUs used by the nodes in front of PostgreSQL, with the balancer of a service's copies; `None` if there are none.
pub fn upstream_processors(trial: &TrialFacts<'_>) -> Option<f64> {
    let used = |node: &Node| {
        let balancer = match node.copies_balancer() {
            Some(name) => processors(trial.samples, &name)?,
            None => 0.0,
        };
        Some(node_processors(trial.samples, node)? + balancer)
    };
    let each = trial.upstream_nodes().iter().map(used);
    each.collect::<Option<Vec<f64>>>().filter(|it| !it.is_empty()).map(|it| it.iter().sum())
}

pub fn server_processors(trial: &TrialFacts<'_>) -> Option<f64> {
    processors(trial.samples, &trial.server()?.name)
}

/// CPUs used by programs other than the generator, the monitoring and the nodes.
pub fn other_processors(trial: &TrialFacts<'_>) -> Option<f64> {
    let busy = total_processors(trial.samples)? * (1.0 - idle_share(trial.samples)?);
    let before = if trial.upstream_nodes().is_empty() { 0.0 } else { upstream_processors(trial)? };
    Some((busy - generator_processors(trial)? - before - server_processors(trial)?).max(0.0))
}

/// Number of CPUs of the machine: the sum over all CPU states.
pub fn total_processors(samples: SampleView<'_>) -> Option<f64> {
    host_processors(samples, HOST)
}

/// Number of CPUs of a host: the sum over all CPU states.
fn host_processors(samples: SampleView<'_>, host: &str) -> Option<f64> {
    growth(samples, host, HOST_CPU, |_| true).filter(|it| *it > 0.0)
}

/// CPUs in use on another host, and the number of CPUs that its hypervisor gives it.
pub fn host_usage(samples: SampleView<'_>, host: &str) -> Option<(f64, f64)> {
    let growth_of = |labels: &[&str]| growth(samples, host, HOST_CPU, |it| labels.contains(&it));
    let available = host_processors(samples, host)? - growth_of(&["steal"]).unwrap_or(0.0);
    Some((available - growth_of(&FREE)?, available)).filter(|it| it.1 > 0.0)
}

/// Idle share of the CPU time, 0..=1.
pub fn idle_share(samples: SampleView<'_>) -> Option<f64> {
    Some(growth(samples, HOST, HOST_CPU, |it| FREE.contains(&it))? / total_processors(samples)?)
}

/// CPU steal: CPUs that the hypervisor gave to other guests.
pub fn stolen_processors(samples: SampleView<'_>) -> Option<f64> {
    growth(samples, HOST, HOST_CPU, |it| it == "steal")
}

/// Mean number of PostgreSQL sessions that execute a statement or are in a transaction.
pub fn busy_sessions(trial: &TrialFacts<'_>) -> Option<f64> {
    let server = &trial.server()?.name;
    let sessions_in = |state| samples::sessions(trial.samples, server, state);
    Some(
        sessions_in("active")?
            + sessions_in("idle in transaction")?
            + sessions_in("idle in transaction (aborted)")?,
    )
}
