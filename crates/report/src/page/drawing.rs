//! What does the stack consist of, and where in it are the time and the queue?

use super::case::Case;
use super::{Block, Drawing, DrawnNode, Line, Tone};
use crate::lang::page::{Room, Term};
use model::account::HopAccount;
use model::finding::Finding;
use model::matrix::{Hop, NotApplied};
use model::plan::{Limits, Stack};

/// One drawing for each way that the chosen cells have.
pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let several = case.account.experiment.cells.len() > 1;
    for &cell in &case.chosen {
        let Some(drawing) = drawing(case, cell) else { continue };
        if several {
            blocks.push(Block::Text(Line { text: case.name(cell).to_owned(), tone: Tone::Plain }));
        }
        blocks.push(Block::Drawing(drawing));
    }
    blocks
}

fn drawing(case: &Case<'_>, cell: usize) -> Option<Drawing> {
    let row = case.account.matrix.rows.get(cell)?;
    let stack = &case.account.experiment.cells.get(cell)?.setup.stack;
    let seen = |node: &str| -> HopAccount {
        let hops = case.account.cells.get(cell).map(|it| it.hops.as_slice()).unwrap_or_default();
        hops.iter().find(|it| it.node == node).cloned().unwrap_or_default()
    };
    let generator = seen(GENERATOR);
    let heading = case.lang.term(Term::Generator).to_owned();
    let missing = |node: &str| row.not_applied.iter().filter(|it| it.node == node).collect::<Vec<_>>();
    let limits = &stack.generator;
    let none = missing(GENERATOR);
    let mut nodes = vec![node(case, cell, heading, Vec::new(), limits, &none, &generator, GENERATOR)];
    for (at, hop) in row.hops.iter().enumerate() {
        let room = room(hop, at + 1 == row.hops.len());
        let lines = room.map(|it| case.lang.room(&it)).into_iter().collect();
        let limits = limits_of(stack, &hop.node);
        let missing = missing(&hop.node);
        let heading = hop.product.to_owned();
        nodes.push(node(case, cell, heading, lines, &limits, &missing, &seen(&hop.node), &hop.node));
    }
    let hops: Vec<String> = row.hops.iter().map(|it| case.lang.way(it.entrance).to_owned()).collect();
    let mut way = nodes[0].heading.clone();
    for (hop, node) in hops.iter().zip(&nodes[1..]) {
        way += &format!(" → {hop} → {}", node.heading);
    }
    let names = std::iter::once(GENERATOR).chain(row.hops.iter().map(|it| it.node.as_str()));
    let timed = names.zip(&nodes).filter_map(|(name, node)| Some((node.heading.as_str(), seen(name).time?)));
    let longest = timed.max_by_key(|it| it.1);
    let alternative = case.lang.drawn(&way, longest);
    Some(Drawing { alternative, nodes, hops })
}

/// What the first hop of an account is called.
const GENERATOR: &str = "generator";

fn room(hop: &Hop, last: bool) -> Option<Room> {
    let size = hop.size?;
    Some(match (hop.mode, last) {
        (Some(mode), _) => Room::Pool(mode, size),
        (None, true) => Room::Slots(size),
        (None, false) => Room::MaxConn(size),
    })
}

fn limits_of(stack: &Stack, node: &str) -> Limits {
    stack.nodes.iter().find(|it| it.name == node).map(|it| it.limits.clone()).unwrap_or_default()
}

fn node(
    case: &Case<'_>,
    cell: usize,
    heading: String,
    first: Vec<String>,
    limits: &Limits,
    missing: &[&NotApplied],
    seen: &HopAccount,
    name: &str,
) -> DrawnNode {
    let lang = case.lang;
    let plain = |text| Line { text, tone: Tone::Plain };
    let mut lines: Vec<Line> = first.into_iter().map(plain).collect();
    let limits = lang.limits(limits);
    if !limits.is_empty() {
        lines.push(plain(limits));
    }
    for it in missing {
        lines.push(Line { text: lang.no_limit(&it.limit, ""), tone: Tone::Doubt });
    }
    let tone = standing(case, cell, name);
    lines.extend(seen.cpu.map(|it| plain(lang.processors(it, seen.of_cpu))));
    let held = seen.throttled.filter(|it| *it > 0.0);
    lines.extend(held.map(|it| Line { text: lang.held_back(it), tone: Tone::Doubt }));
    lines.extend(lang.occupied(seen.busy, seen.queue).map(plain));
    lines.extend(seen.time.map(|it| plain(lang.spent(it))));
    let load = match (seen.cpu, seen.of_cpu) {
        (Some(used), Some(of)) if of > 0.0 => Some((used / of).clamp(0.0, 1.0)),
        _ => None,
    };
    DrawnNode { heading, lines, load, tone }
}

/// What findings say of the node in this cell: that it is the limit, or that the queue stands there.
fn standing(case: &Case<'_>, cell: usize, name: &str) -> Tone {
    let mut tone = Tone::Plain;
    for it in &case.account.findings {
        match it {
            Finding::PoolerBound { cell: of, node, .. }
            | Finding::PoolBound { cell: of, node, .. }
            | Finding::ServerBound { cell: of, node, .. }
                if *of == cell && node == name =>
            {
                return Tone::Bad;
            }
            Finding::QueueInPooler { cell: of, node, .. }
            | Finding::QueueInBalancer { cell: of, node, .. }
                if *of == cell && node == name =>
            {
                tone = Tone::Doubt;
            }
            _ => {}
        }
    }
    tone
}
