//! Drawing of the stack with response times and queues

use super::context::PageContext;
use super::time_parts;
use crate::lang::page::{BottleneckRole, ConcurrencyLimit, ServerRole};
use crate::say;
use crate::view::{Block, Drawing, DrawnLoad, DrawnNode, DrawnReplicas, Line, Tone};
use model::Nanos;
use model::finding::Finding;
use model::matrix::{Hop, UnappliedLimit};
use model::plan::{GENERATOR, Limits, Setup, Stack, Transport};
use model::run_result::HopMetrics;

/// Builds one drawing for each distinct path of the chosen cells.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let several = case.account.experiment.cells.len() > 1;
    for &cell in &case.chosen {
        let Some(drawing) = drawing(case, cell) else { continue };
        if several {
            blocks.push(Block::Text(Line { text: case.name(cell).to_owned(), tone: Tone::Plain }));
        }
        blocks.push(Block::Drawing(drawing));
        blocks.extend(time_parts::table(case, cell).map(Block::Table));
    }
    blocks
}

fn drawing(case: &PageContext<'_>, cell: usize) -> Option<Drawing> {
    let row = case.account.matrix.rows.get(cell)?;
    let setup = &case.account.experiment.cells.get(cell)?.setup;
    let stack = &setup.stack;
    let metrics = |node: &str| -> HopMetrics {
        let result = case.account.cells.get(cell);
        let mut all = result.into_iter().flat_map(|it| it.hops.iter().chain(&it.replicas));
        all.find(|it| it.node == node).cloned().unwrap_or_default()
    };
    let generator = metrics(GENERATOR);
    let heading = say!(case.lang, "page-generator");
    let missing = |node: &str| row.unapplied_limits.iter().filter(|it| it.node == node).collect::<Vec<_>>();
    let limits = &stack.generator;
    let none = missing(GENERATOR);
    let mut nodes = vec![node(case, cell, heading, Vec::new(), limits, &none, &generator, GENERATOR)];
    for (at, hop) in row.hops.iter().enumerate() {
        let last = at + 1 == row.hops.len();
        let is_primary = last && !stack.replica_names().is_empty();
        let seat = is_primary.then(|| role_text(case, setup, &hop.node, ServerRole::Primary));
        let room = concurrency_limit(hop, last).map(|it| case.lang.concurrency_limit(&it));
        let lines = seat.into_iter().chain(room).collect();
        let limits = limits_of(stack, &hop.node);
        let missing = missing(&hop.node);
        let heading = hop.product.to_owned();
        let metrics = metrics(&hop.node);
        let drawn = node(case, cell, heading, lines, &limits, &missing, &metrics, &hop.node);
        let pool = hop.mode.and(hop.size).zip(metrics.busy).map(|(size, busy)| pool_load(case, busy, size));
        let loads = drawn.load.clone().into_iter().chain(pool);
        let load = loads.max_by(|one, other| one.share.total_cmp(&other.share));
        nodes.push(DrawnNode { load, ..drawn });
    }
    let hops: Vec<String> =
        row.hops.iter().map(|it| transport_text(case, it.transport, metrics(&it.node).tls)).collect();
    let mut way = nodes[0].heading.clone();
    for (hop, node) in hops.iter().zip(&nodes[1..]) {
        way += &format!(" → {hop} → {}", node.heading);
    }
    let longest = time_parts::largest(case, cell).map(|(part, time)| {
        let of_node = |name: &str| row.hops.iter().position(|it| it.node == name).map(|at| at + 1);
        let heading = |name: &str| nodes[of_node(name).unwrap_or(0)].heading.as_str();
        (part.map(heading), time)
    });
    let replicas = row.hops.last().and_then(|it| replicas(case, cell, setup, it.product, &missing, &metrics));
    if let Some(replicas) = &replicas {
        way +=
            &case.lang.with_replicas(replicas.nodes.len(), &replicas.replication, &replicas.manager.heading);
    }
    let alternative = case.lang.drawing_alternative(&way, longest);
    Some(Drawing { alternative, nodes, hops, replicas })
}

/// Role of a server among several servers. Injected faults may change the role.
fn role_text(case: &PageContext<'_>, setup: &Setup, name: &str, role: ServerRole) -> String {
    case.lang.server_role(name, role, !setup.faults.is_empty())
}

/// Replicas of the last node, and their failover manager. `product` names the product of the node and of its replicas.
fn replicas<'a>(
    case: &PageContext<'_>,
    cell: usize,
    setup: &Setup,
    product: &str,
    missing: &dyn Fn(&str) -> Vec<&'a UnappliedLimit>,
    metrics: &dyn Fn(&str) -> HopMetrics,
) -> Option<DrawnReplicas> {
    let plan = setup.stack.replication.as_ref().filter(|it| it.replicas > 0)?;
    let one = |name: &String| {
        let first = vec![role_text(case, setup, name, ServerRole::Replica)];
        node(case, cell, product.to_owned(), first, &plan.limits, &missing(name), &metrics(name), name)
    };
    let line = |text| Line { text, tone: Tone::Plain };
    let manager = DrawnNode {
        heading: plan.manager.product().to_owned(),
        lines: case.lang.manager_settings(&plan.manager).into_iter().map(line).collect(),
        load: None,
        tone: Tone::Faint,
    };
    let nodes = setup.stack.replica_names().iter().map(one).collect();
    Some(DrawnReplicas { replication: case.lang.replication_mode(plan.sync), nodes, manager })
}

fn concurrency_limit(hop: &Hop, last: bool) -> Option<ConcurrencyLimit> {
    let size = hop.size?;
    Some(match (hop.mode, last) {
        (Some(mode), _) => ConcurrencyLimit::Pool(mode, size),
        (None, true) => ConcurrencyLimit::Slots(size),
        (None, false) => ConcurrencyLimit::MaxConn(size),
    })
}

fn limits_of(stack: &Stack, node: &str) -> Limits {
    stack.nodes.iter().find(|it| it.name == node).map(|it| it.limits.clone()).unwrap_or_default()
}

fn node(
    case: &PageContext<'_>,
    cell: usize,
    heading: String,
    first: Vec<String>,
    limits: &Limits,
    missing: &[&UnappliedLimit],
    metrics: &HopMetrics,
    name: &str,
) -> DrawnNode {
    let lang = case.lang;
    let plain = |text| Line { text, tone: Tone::Plain };
    let standing = bottleneck_text(case, cell, name);
    let mut lines: Vec<Line> =
        standing.map(|(it, tone)| Line { text: lang.bottleneck_role(it), tone }).into_iter().collect();
    lines.extend(first.into_iter().map(plain));
    // Omit the CPU quota if the CPU usage is displayed, because that text contains the quota.
    let is_shown = metrics.cpu.is_some() && limits.cpu == metrics.cpu_limit;
    let limits = lang.limits(&Limits { cpu: limits.cpu.filter(|_| !is_shown), ..limits.clone() });
    if !limits.is_empty() {
        lines.push(plain(limits));
    }
    for limit in missing {
        lines.push(Line { text: lang.no_limit(&limit.limit), tone: Tone::Doubt });
    }
    lines.extend(metrics.cpu.map(|it| plain(lang.processors(it, metrics.cpu_limit))));
    let held = metrics.throttled.filter(|it| *it > 0.0);
    lines.extend(held.map(|it| Line { text: lang.throttled_share(it), tone: Tone::Doubt }));
    let significant = |count: Option<f64>| count.filter(|count| *count >= IN_FLIGHT_MIN);
    lines.extend(lang.occupancy(significant(metrics.busy), significant(metrics.queue)).map(plain));
    lines.extend(node_time(metrics).map(|it| plain(lang.node_time(it))));
    let load = match (metrics.cpu, metrics.cpu_limit) {
        (Some(used), Some(limit)) if limit > 0.0 => {
            let share = (used / limit).clamp(0.0, 1.0);
            let text = say!(lang, "page-load-cpu", share = lang.numbers().percent(share, 0));
            Some(DrawnLoad { share, text })
        }
        _ => None,
    };
    DrawnNode { heading, lines, load, tone: standing.map_or(Tone::Plain, |it| it.1) }
}

/// Usage of a pool of `size` server connections.
fn pool_load(case: &PageContext<'_>, busy: f64, size: u32) -> DrawnLoad {
    let used = busy.round() as u64;
    let text = say!(case.lang, "page-load-pool", used = case.lang.numbers().count(used), size);
    DrawnLoad { share: (busy / f64::from(size.max(1))).clamp(0.0, 1.0), text }
}

/// Mean number of transactions in flight below which a node counts as idle.
const IN_FLIGHT_MIN: f64 = 0.01;

/// Mean time of a transaction in the node; `None` if the node is idle.
fn node_time(metrics: &HopMetrics) -> Option<Nanos> {
    metrics.time.filter(|it| *it >= Nanos::from_micros(1))
}

/// Transport with the TLS version, if known.
fn transport_text(case: &PageContext<'_>, transport: Option<Transport>, tls: Option<String>) -> String {
    match (transport, tls) {
        (None | Some(Transport::Tls), Some(version)) => {
            format!("{} {version}", case.lang.transport_text(Some(Transport::Tls)))
        }
        (transport, _) => case.lang.transport_text(transport),
    }
}

/// Role of the node in this cell's bottleneck: the limiter, or a node with a queue.
fn bottleneck_text(case: &PageContext<'_>, cell: usize, name: &str) -> Option<(BottleneckRole, Tone)> {
    let mut found = None;
    for finding in &case.account.findings {
        let (finding_cell, node, standing, tone) = match finding {
            Finding::PoolerBound { cell, node, .. } | Finding::ServerBound { cell, node, .. } => {
                (cell, node, BottleneckRole::Processor, Tone::Bad)
            }
            Finding::PoolBound { cell, node, .. } => (cell, node, BottleneckRole::Pool, Tone::Bad),
            Finding::QueueInPooler { cell, node, .. } | Finding::QueueInBalancer { cell, node, .. } => {
                (cell, node, BottleneckRole::Queue, Tone::Doubt)
            }
            _ => continue,
        };
        // Prefer the limiter, because it is more important than a queue at the node.
        if *finding_cell == cell && node == name && (tone == Tone::Bad || found.is_none()) {
            found = Some((standing, tone));
        }
    }
    found
}
