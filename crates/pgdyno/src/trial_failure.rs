//! Reasons why a trial failed

use model::Summary;
use model::plan::{Operation, Setup};
use model::summary::ScriptSummary;

/// Reason why a trial failed in which no transaction succeeded; `None` if one did.
pub fn nothing_succeeded(it: &Summary) -> Option<String> {
    let why = it.top_failure().map_or(String::new(), |it| format!(": {}", it.describe()));
    (it.total.counts.ok == 0).then(|| format!("no transaction succeeded{why}"))
}

/// Reason why a trial failed whose clients aborted; `None` if none did. `first` is the first client's reason.
pub fn clients_aborted(it: &Summary, first: Option<&str>) -> Option<String> {
    let (gone, clients) = (it.generator.aborted_clients, it.plan.clients);
    let why = first.map_or(String::new(), |it| format!(": {it}"));
    (gone > 0)
        .then(|| format!("{gone} of {clients} clients aborted, because their script could not continue{why}"))
}

/// Operations that never succeeded although others did: their names and reasons.
pub fn never_succeeded(setup: &Setup, it: &Summary) -> Vec<(String, String)> {
    let named = setup.operations.iter().zip(&it.scripts);
    let failed = named.filter(|(_, script)| {
        it.total.counts.ok > 0 && script.group.counts.ok == 0 && script.group.counts.arrivals() > 0
    });
    let told = |(operation, script): (&Operation, &ScriptSummary)| {
        let why = script.failures.first().map_or(String::new(), |it| format!(": {}", it.describe()));
        let arrivals = script.group.counts.arrivals();
        (operation.name.clone(), format!("none of {arrivals} transactions succeeded{why}"))
    };
    failed.map(told).collect()
}
