//! Reasons why a trial failed

use model::Summary;
use model::plan::{Operation, Setup};
use model::summary::ScriptSummary;

/// Reason why a trial failed in which no transaction succeeded; `None` if one did.
pub fn nothing_succeeded(summary: &Summary) -> Option<String> {
    let reason = summary.top_failure().map_or(String::new(), |it| format!(": {}", it.describe()));
    (summary.total.counts.ok == 0).then(|| format!("no transaction succeeded{reason}"))
}

/// Reason why a trial failed whose clients aborted; `None` if none did. `first` is the first client's reason.
pub fn clients_aborted(summary: &Summary, first: Option<&str>) -> Option<String> {
    let (aborted, clients) = (summary.generator.aborted_clients, summary.plan.clients);
    let reason = first.map_or(String::new(), |it| format!(": {it}"));
    (aborted > 0).then(|| {
        format!("{aborted} of {clients} clients aborted, because their script could not continue{reason}")
    })
}

/// Operations that never succeeded although others did: their names and reasons.
pub fn never_succeeded(setup: &Setup, summary: &Summary) -> Vec<(String, String)> {
    let named = setup.operations.iter().zip(&summary.scripts);
    let failed = named.filter(|(_, script)| {
        summary.total.counts.ok > 0 && script.group.counts.ok == 0 && script.group.counts.arrivals() > 0
    });
    let describe = |(operation, script): (&Operation, &ScriptSummary)| {
        let reason = script.failures.first().map_or(String::new(), |it| format!(": {}", it.describe()));
        let arrivals = script.group.counts.arrivals();
        (operation.name.clone(), format!("none of {arrivals} transactions succeeded{reason}"))
    };
    failed.map(describe).collect()
}
