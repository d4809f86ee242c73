//! Sections on the environment and on how to repeat the run

use super::context::PageContext;
use crate::lang::Lang;
use crate::say;
use crate::view::{Block, Column, Row, Table, Tone};
use model::plan::Transport;
use model::run_result::NodeInfo;
use serde_json::Value;

/// The machine, the nodes with their effective properties, and their configurations.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let (environment, lang) = (&case.account.environment, case.lang);
    let mut blocks = Vec::new();
    let mut machine = environment.machine.clone();
    if !machine.is_empty() {
        // What the run file does not contain was not readable, or not stored by an earlier version.
        for key in EXPECTED.into_iter().filter(|key| environment.machine.iter().all(|it| it.0 != *key)) {
            machine.push((key.to_owned(), say!(lang, "page-machine-unknown")));
        }
    }
    let facts: Vec<(String, String)> =
        sorted_facts(&machine).into_iter().map(|(key, value)| fact(case, key, value)).collect();
    if !facts.is_empty() {
        blocks.push(Block::Facts { facts });
    }
    let headings = [
        say!(lang, "page-node"),
        say!(lang, "page-version"),
        say!(lang, "page-transport"),
        say!(lang, "page-node-limits"),
        say!(lang, "page-program"),
        say!(lang, "page-node-cells"),
    ];
    let row = |node: &NodeInfo| {
        let none: Vec<String> =
            node.unapplied_limits.iter().map(|limit| format!("⚠ {}", lang.unapplied_limit(limit))).collect();
        let limits: Vec<String> = std::iter::once(lang.limits(&node.limits))
            .chain(none)
            .filter(|limit| !limit.is_empty())
            .collect();
        let cells = vec![
            format!("{} ({})", node.name, node.kind),
            node.version.clone(),
            transport_name(case, &node.transport),
            limits.join("; "),
            node.program.clone().unwrap_or_default(),
            cells(case, node),
        ];
        let tone = if node.unapplied_limits.is_empty() { Tone::Plain } else { Tone::Doubt };
        Row { cells, tone, baseline: false }
    };
    let rows: Vec<Row> = merge_equal_nodes(&environment.nodes).iter().map(row).collect();
    if !rows.is_empty() {
        let columns = headings.map(|heading| Column { heading, ..Column::default() }).to_vec();
        blocks.push(Block::Table(Table { columns, rows, ..Table::default() }));
    }
    for node in &environment.nodes {
        for (name, text) in &node.configuration {
            let name = format!("{}: {name} ({})", node.name, cells(case, node));
            blocks.push(Block::Code { name, text: text.trim_end().to_owned(), folded: true });
        }
    }
    blocks
}

/// Sorts facts by importance. Unknown facts come last, in their original order.
fn sorted_facts(machine: &[(String, String)]) -> Vec<&(String, String)> {
    const ORDER: [&str; 15] = [
        "system",
        "kernel",
        "processor",
        "cpu_model",
        "processors",
        "cpus",
        "mainboard",
        "memory",
        "memory_modules",
        "disks",
        "governor",
        "clock_source",
        "cgroups",
        "files",
        "ports",
    ];
    let mut all: Vec<&(String, String)> = machine.iter().collect();
    all.sort_by_key(|it| ORDER.iter().position(|key| *key == it.0).unwrap_or(ORDER.len()));
    all
}

/// Merges nodes that differ only in their configurations, because the configuration files are shown separately.
fn merge_equal_nodes(all: &[NodeInfo]) -> Vec<NodeInfo> {
    let mut kinds: Vec<NodeInfo> = Vec::new();
    for node in all {
        let mut bare_node = NodeInfo { configuration: Vec::new(), ..node.clone() };
        let mut cells = std::mem::take(&mut bare_node.cells);
        let known =
            kinds.iter_mut().find(|other| NodeInfo { cells: Vec::new(), ..(*other).clone() } == bare_node);
        match known {
            Some(known) => known.cells.append(&mut cells),
            None => kinds.push(NodeInfo { cells, ..bare_node }),
        }
    }
    for node in &mut kinds {
        node.cells.sort_unstable();
        node.cells.dedup();
    }
    kinds
}

/// Name of a transport from the store: `unix`, `tcp`, `tls`.
fn transport_name(case: &PageContext<'_>, text: &str) -> String {
    let known = [("unix", Transport::Unix), ("tcp", Transport::Tcp), ("tls", Transport::Tls)];
    match known.iter().find(|(name, _)| *name == text) {
        Some((_, it)) => case.lang.transport(*it).to_owned(),
        None => text.to_owned(),
    }
}

/// Formats a fact about the machine. Stored amounts of memory are in bytes, and stored ports are a range.
fn fact(case: &PageContext<'_>, key: &str, value: &str) -> (String, String) {
    let name = case.lang.machine(key).unwrap_or_else(|| key.replace('_', " "));
    let value = match value.parse::<u64>() {
        Ok(bytes) if key == "memory" => case.lang.bytes(bytes as f64),
        _ => match serde_json::from_str::<Value>(value) {
            Ok(Value::Array(all)) if HARDWARE.contains(&key) => {
                all.iter().map(|it| hardware(it, case.lang)).collect::<Vec<_>>().join("; ")
            }
            Ok(Value::Array(ends)) if key == "ports" => {
                ends.iter().map(plain_value).collect::<Vec<_>>().join("–")
            }
            Ok(Value::Array(all)) if all.iter().all(Value::is_u64) => {
                let each = all.iter().map(|it| case.lang.number(&it.to_string()));
                each.collect::<Vec<_>>().join(case.lang.numbers().among())
            }
            Ok(it @ (Value::Array(_) | Value::Object(_))) => plain_value(&it),
            _ => value.to_owned(),
        },
    };
    (name, value)
}

/// Facts that a reader expects, so that the page states if they are unknown.
const EXPECTED: [&str; 3] = ["mainboard", "memory_modules", "disks"];

/// Facts about disks and memory modules.
const HARDWARE: [&str; 2] = ["memory_modules", "disks"];

/// Formats a disk or a memory module: `sda: Samsung SSD 870, SSD, 1 TB`. A property that is not known is left out, but a
/// disk without a model says so.
fn hardware(part: &Value, lang: &Lang) -> String {
    let text = |key: &str| part[key].as_str().map(str::to_owned);
    let size = part["size"].as_u64().map(|it| lang.bytes(it as f64));
    let name = text("name");
    let is_disk = name.is_some();
    let model = text("model").or_else(|| is_disk.then(|| say!(lang, "page-disk-model-unknown")));
    let kind = match part["kind"].as_str() {
        Some("virtual") => Some(say!(lang, "page-disk-virtual")),
        Some(kind @ ("nvme" | "ssd" | "hdd")) => Some(kind.to_uppercase().replace("NVME", "NVMe")),
        other => other.map(str::to_owned),
    };
    let speed = part["speed"].as_u64().map(|speed| format!("{speed} MT/s"));
    let parts: Vec<String> = match is_disk {
        true => [model, kind, size].into_iter().flatten().collect(),
        false => [size, kind, speed].into_iter().flatten().collect(),
    };
    let prefix = name.map_or(String::new(), |it| format!("{it}: "));
    prefix + &parts.join(", ")
}

/// Formats a fact that has several parts. Of each element of a list, only the name is shown.
fn plain_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(it) => it.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(all) => {
            let parts = all.iter().map(|it| it.get("name").map_or_else(|| plain_value(it), plain_value));
            parts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
        }
        Value::Object(all) => {
            let parts = all.iter().map(|(name, it)| (name, plain_value(it))).filter(|it| !it.1.is_empty());
            parts.map(|(name, it)| format!("{name}: {it}")).collect::<Vec<_>>().join("; ")
        }
    }
}

fn cells(case: &PageContext<'_>, node: &NodeInfo) -> String {
    let total = case.account.experiment.cells.len();
    if total == 1 {
        return say!(case.lang, "page-only-cell");
    }
    let names: Vec<&str> = node.cells.iter().map(|it| case.name(*it)).collect();
    case.lang.cells(&names, total)
}

/// Blocks with the command and the experiment file.
pub fn repeat_blocks(case: &PageContext<'_>) -> Vec<Block> {
    let info = &case.account.info;
    let code = |name, text: &str, folded| Block::Code { name, text: text.trim_end().to_owned(), folded };
    let mut blocks = Vec::new();
    if !info.command.is_empty() {
        blocks.push(code(say!(case.lang, "page-command"), &info.command, false));
    }
    if !info.text.is_empty() {
        blocks.push(code(say!(case.lang, "page-file"), &info.text, true));
    }
    blocks
}
