//! On what was it measured, and how is it repeated?

use super::case::Case;
use super::{Block, Column, Row, Table, Tone};
use crate::lang::page::Term;
use model::account::NodeAccount;

/// The machine, the nodes as they really were, and their configurations.
pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let (stand, lang) = (&case.account.stand, case.lang);
    let mut blocks = Vec::new();
    let facts: Vec<(String, String)> =
        stand.machine.iter().map(|(key, value)| fact(case, key, value)).collect();
    if !facts.is_empty() {
        blocks.push(Block::Facts { facts });
    }
    let column = |term| Column { heading: lang.term(term).to_owned(), ..Column::default() };
    let terms =
        [Term::Node, Term::Version, Term::Entrance, Term::LimitsOfNode, Term::Program, Term::CellsOfNode];
    let row = |it: &NodeAccount| {
        let none: Vec<String> = it.not_applied.iter().map(|it| format!("⚠ {it}")).collect();
        let limits: Vec<String> =
            std::iter::once(lang.limits(&it.limits)).chain(none).filter(|it| !it.is_empty()).collect();
        let cells = vec![
            format!("{} ({})", it.name, it.kind),
            it.version.clone(),
            it.entrance.clone(),
            limits.join("; "),
            it.program.clone().unwrap_or_default(),
            cells(case, it),
        ];
        let tone = if it.not_applied.is_empty() { Tone::Plain } else { Tone::Doubt };
        Row { cells, tone, baseline: false }
    };
    let rows: Vec<Row> = stand.nodes.iter().map(row).collect();
    if !rows.is_empty() {
        let columns = terms.map(column).to_vec();
        blocks.push(Block::Table(Table { columns, rows, ..Table::default() }));
    }
    for node in &stand.nodes {
        for (name, text) in &node.configuration {
            let name = format!("{}: {name} ({})", node.name, cells(case, node));
            blocks.push(Block::Code { name, text: text.trim_end().to_owned(), folded: true });
        }
    }
    blocks
}

/// A figure of the machine; amounts of memory are bytes.
fn fact(case: &Case<'_>, key: &str, value: &str) -> (String, String) {
    let name = case.lang.machine(key).map_or_else(|| key.replace('_', " "), str::to_owned);
    let value = match value.parse::<u64>() {
        Ok(bytes) if key == "memory" => case.lang.bytes(bytes as f64),
        _ => value.to_owned(),
    };
    (name, value)
}

fn cells(case: &Case<'_>, it: &NodeAccount) -> String {
    let of = case.account.experiment.cells.len();
    if of == 1 {
        return case.lang.term(Term::OnlyCell).to_owned();
    }
    let names: Vec<&str> = it.cells.iter().map(|it| case.name(*it)).collect();
    case.lang.cells(&names, of)
}

/// The command and the file.
pub fn repeat(case: &Case<'_>) -> Vec<Block> {
    let about = &case.account.about;
    let code = |term, text: &str, folded| Block::Code {
        name: case.lang.term(term).to_owned(),
        text: text.trim_end().to_owned(),
        folded,
    };
    let mut blocks = Vec::new();
    if !about.command.is_empty() {
        blocks.push(code(Term::Command, &about.command, false));
    }
    if !about.text.is_empty() {
        blocks.push(code(Term::File, &about.text, true));
    }
    blocks
}
