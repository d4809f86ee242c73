//! Summary of a plan: stack, load, faults, goal and number of trials

use super::run_length::RunLength;
use super::{describe, load_text, warnings};
use experiment::Plan;
use model::plan::{
    Cell, FailoverManager, Limits, Node, NodeKind, ProgramScope, Replication, ServiceProgram, Setup,
    SharedHost, SyncMode, Transport,
};
use report::lang::Lang;
use report::say;
use std::fmt::Write as _;

/// Summary of a plan, as lines of text.
pub fn overview(plan: &Plan, lang: &Lang) -> String {
    let experiment = &plan.experiment;
    let cells = &experiment.cells;
    let ordinary: Vec<&Cell> = cells.iter().filter(|cell| cell.control_of.is_none()).collect();
    let mut out = format!("{}\n\n", experiment.name);
    section(&mut out, &say!(lang, "check-stack"), stacks(cells, lang).into_iter());
    let hosts = cells.iter().flat_map(|cell| &cell.setup.stack.hosts).map(|host| describe_host(host, lang));
    section(&mut out, &say!(lang, "check-shared-hosts"), hosts);
    let mix = cells.iter().flat_map(|cell| describe::describe_mix(&cell.setup, lang));
    let starts = cells.iter().filter_map(|cell| describe::describe_start(&cell.setup, lang));
    section(&mut out, &say!(lang, "check-start"), starts);
    section(&mut out, &say!(lang, "check-mix"), mix);
    let feeds =
        cells.iter().flat_map(|cell| &cell.setup.feeds).map(|feed| describe::describe_feed(feed, lang));
    section(&mut out, &say!(lang, "check-feeds"), feeds);
    let data = cells.iter().flat_map(|cell| describe::describe_data(&cell.setup, lang));
    section(&mut out, &say!(lang, "check-data"), data);
    let loads = cells.iter().map(|cell| load_text::describe_load(&cell.setup, lang));
    section(&mut out, &say!(lang, "check-load"), loads);
    let ledgers = cells.iter().flat_map(|cell| describe::describe_ledgers(&cell.setup));
    section(&mut out, &say!(lang, "check-ledger"), ledgers);
    let invariants = cells.iter().flat_map(|cell| &cell.setup.invariants);
    section(&mut out, &say!(lang, "check-invariants"), invariants.map(|it| it.trim().to_owned()));
    let hooks = cells.iter().flat_map(|cell| describe::describe_hooks(&cell.setup));
    section(&mut out, &say!(lang, "check-hooks"), hooks);
    let faults = ordinary.iter().flat_map(|cell| &cell.setup.faults);
    let faults = faults.map(|fault| describe::describe_fault(fault, lang));
    section(&mut out, &say!(lang, "check-faults"), faults);
    section(&mut out, &say!(lang, "check-goal"), describe::describe_goal(&experiment.goal, lang).into_iter());

    let is_search = experiment.goal.max_search().is_some();
    let RunLength { repeat, load, .. } = RunLength::new(plan);
    let trials = cells.len() * repeat as usize;
    let (cells_count, controls) = (cells.len(), cells.len() - ordinary.len());
    let matrix = match is_search {
        false => say!(lang, "check-trials", cells = cells_count, controls, repeat, trials),
        true => say!(lang, "check-searches", cells = cells_count, controls, repeat, searches = trials),
    };
    section(&mut out, &say!(lang, "check-matrix"), [matrix].into_iter());
    for cell in cells.iter().filter(|cell| cell.control_of.is_some()) {
        let faults: Vec<String> =
            cell.setup.faults.iter().map(|fault| describe::describe_fault(fault, lang)).collect();
        let control = say!(lang, "check-no-guarantee", faults = faults.join(", "));
        section(&mut out, &say!(lang, "check-control"), [control].into_iter());
    }
    let name = |cell: usize| {
        let label: Vec<String> =
            cells[cell].label.iter().map(|(axis, value)| format!("{axis}: {value}")).collect();
        label.join(", ")
    };
    let mut baselines: Vec<usize> =
        (0..cells.len()).filter_map(|cell| experiment.baseline_of(cell)).collect();
    baselines.sort_unstable();
    baselines.dedup();
    section(&mut out, &say!(lang, "check-baseline"), baselines.into_iter().map(name));
    let time = if is_search {
        say!(lang, "check-time-of-search")
    } else {
        say!(lang, "check-time-under-load", duration = lang.numbers().duration(load))
    };
    section(&mut out, &say!(lang, "check-time"), [time].into_iter());
    section(&mut out, &say!(lang, "check-seed"), [experiment.seed.to_string()].into_iter());
    for warning in warnings(plan, lang) {
        section(&mut out, &say!(lang, "check-note"), [warning].into_iter());
    }
    out
}

/// Distinct chains of nodes, with the number of cells of each if there are several chains.
fn stacks(cells: &[Cell], lang: &Lang) -> Vec<String> {
    let mut chains: Vec<(String, usize)> = Vec::new();
    for cell in cells {
        let chain = chain(&cell.setup, lang);
        match chains.iter_mut().find(|known| known.0 == chain) {
            Some((_, count)) => *count += 1,
            None => chains.push((chain, 1)),
        }
    }
    let is_only = chains.len() == 1;
    let line = |(chain, count): (String, usize)| match is_only {
        true => chain,
        false => format!("{chain}  ({})", say!(lang, "check-cells", count)),
    };
    chains.into_iter().map(line).collect()
}

/// Width of a label in columns, including the blank after it.
const LABEL: usize = 10;

/// Writes lines in a column after a label. Equal lines are written once.
fn section(out: &mut String, label: &str, lines: impl Iterator<Item = String>) {
    let mut all: Vec<String> = Vec::new();
    for line in lines {
        if !all.contains(&line) {
            let _ = writeln!(out, "{:<LABEL$}{line}", if all.is_empty() { label } else { "" });
            all.push(line);
        }
    }
}

/// Host whose nodes share limits, such as `web: service.fpm, service.web (1 CPU, per: copy)`.
fn describe_host(host: &SharedHost, lang: &Lang) -> String {
    let scope = (host.scope == ProgramScope::Copy).then(|| format!("per: {}", host.scope.key()));
    let facts: Vec<String> = limits(&host.limits, lang).into_iter().chain(scope).collect();
    with_facts(format!("{}: {}", host.name, host.nodes.join(", ")), &facts)
}

/// Chain of nodes, such as `clients -tcp→ PRODUCT (transaction, pool size 20) -unix→ PostgreSQL 15`.
fn chain(setup: &Setup, lang: &Lang) -> String {
    let mut out = say!(lang, "check-clients");
    for node in &setup.stack.nodes {
        let hop = match node.transport {
            Transport::Unix => "unix",
            Transport::Tcp => "tcp",
            Transport::Tls => "tls",
        };
        let _ = write!(out, " -{hop}→ {}", describe_node(node, lang));
    }
    if let Some(replication) = setup.stack.replication.as_ref().filter(|it| it.replicas > 0) {
        let _ = write!(out, " ⇉ {}", describe_replicas(replication, lang));
    }
    out
}

/// Replication in one line, such as `2 replicas (any 1)`.
fn describe_replicas(replication: &Replication, lang: &Lang) -> String {
    let sync = match replication.sync {
        SyncMode::Async => "async".to_owned(),
        SyncMode::First(k) => format!("first {k}"),
        SyncMode::Any(k) => format!("any {k}"),
    };
    let is_builtin = matches!(replication.manager, FailoverManager::Builtin(_));
    let manager = (!is_builtin).then(|| replication.manager.product().to_owned());
    let facts: Vec<String> =
        [Some(sync), manager].into_iter().flatten().chain(limits(&replication.limits, lang)).collect();
    with_facts(say!(lang, "check-replicas", count = replication.replicas), &facts)
}

fn describe_node(node: &Node, lang: &Lang) -> String {
    let (name, facts) = match &node.kind {
        NodeKind::Postgres(postgres) => {
            let name =
                postgres.version.map_or("PostgreSQL".to_owned(), |version| format!("PostgreSQL {version}"));
            (name, vec![say!(lang, "check-connections", count = postgres.max_connections)])
        }
        NodeKind::Pooler(pooler) => {
            let size = say!(lang, "check-pool-size", size = pooler.size.to_string());
            (pooler.product.name.to_owned(), vec![pooler.mode.key().to_owned(), size])
        }
        NodeKind::Balancer(balancer) => {
            let maxconn = balancer.maxconn.map(|size| format!("maxconn {size}"));
            (balancer.product.name.to_owned(), maxconn.into_iter().collect())
        }
        NodeKind::Service(service) => {
            let programs: Vec<String> =
                service.programs.iter().map(|it| describe_program(it, lang)).collect();
            describe::describe_service(service, &node.name, &programs, lang)
        }
        NodeKind::Attached(attached) => {
            let metrics = describe::describe_metrics(&attached.metrics, lang);
            (say!(lang, "check-attached", name = &node.name), metrics.into_iter().collect())
        }
    };
    let facts: Vec<String> = facts.into_iter().chain(limits(&node.limits, lang)).collect();
    with_facts(name, &facts)
}

/// Program of a service, such as `fpm (0.5 CPU)`.
fn describe_program(program: &ServiceProgram, lang: &Lang) -> String {
    let scope = (program.scope == ProgramScope::Stack).then(|| format!("per: {}", program.scope.key()));
    let facts: Vec<String> = scope.into_iter().chain(limits(&program.limits, lang)).collect();
    with_facts(program.name.clone(), &facts)
}

fn with_facts(name: String, facts: &[String]) -> String {
    if facts.is_empty() { name } else { format!("{name} ({})", facts.join(", ")) }
}

/// Descriptions of a node's limits, such as `2 CPU`.
pub fn limits(limits: &Limits, lang: &Lang) -> Vec<String> {
    let numbers = lang.numbers();
    let bytes = |bytes: u64| numbers.bytes(bytes as f64);
    let mut all = Vec::new();
    all.extend(limits.cpu.map(|cpu| say!(lang, "check-limit-cpu", count = numbers.plain(cpu))));
    all.extend(limits.memory.map(|memory| say!(lang, "check-limit-memory", bytes = bytes(memory))));
    all.extend(limits.read_iops.map(|rate| say!(lang, "check-limit-reads", rate = numbers.count(rate))));
    all.extend(limits.write_iops.map(|rate| say!(lang, "check-limit-writes", rate = numbers.count(rate))));
    all.extend(limits.read_bps.map(|rate| say!(lang, "check-limit-read-bytes", bytes = bytes(rate))));
    all.extend(limits.write_bps.map(|rate| say!(lang, "check-limit-write-bytes", bytes = bytes(rate))));
    if !limits.cpus.is_empty() {
        let list: Vec<String> = limits.cpus.iter().map(u32::to_string).collect();
        all.push(say!(lang, "check-limit-cpu-list", list = list.join(", ")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_fit_their_column_in_every_language() {
        for lang in report::lang::all() {
            for label in [
                say!(lang, "check-stack"),
                say!(lang, "check-shared-hosts"),
                say!(lang, "check-mix"),
                say!(lang, "check-feeds"),
                say!(lang, "check-load"),
                say!(lang, "check-ledger"),
                say!(lang, "check-faults"),
                say!(lang, "check-goal"),
                say!(lang, "check-matrix"),
                say!(lang, "check-control"),
                say!(lang, "check-baseline"),
                say!(lang, "check-time"),
                say!(lang, "check-seed"),
                say!(lang, "check-note"),
            ] {
                assert!(label.chars().count() < LABEL, "{}: {label}", lang.code());
            }
        }
    }
}
