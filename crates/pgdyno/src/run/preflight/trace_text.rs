//! Text about the execution of an operation: its statements or requests, with their responses

use super::execution::{Execution, TraceEntry};
use crate::cli::characters;
use crate::terminal;
use model::Outcome;
use report::lang::Lang;
use report::live::truncate;
use report::say;
use std::io::stdout;

/// Maximum length of a line if the width of the output is unknown, so that a large value does not fill a file.
const COLUMNS_MAX: usize = 1000;
/// Maximum number of printed lines of a statement, request or response.
const LINES_MAX: usize = 30;

/// Name of a cell in a plan of `count` cells, as a line; empty if it is the only cell.
pub fn cell_heading(cell: usize, count: usize, name: &str, lang: &Lang) -> String {
    match count {
        0 | 1 => String::new(),
        _ => say!(lang, "try-cell", number = cell + 1, count, name) + "\n\n",
    }
}

/// Text about the execution of an operation. Lines of the exchange are truncated to the width of standard output.
pub fn describe(operation: &str, execution: &Execution, lang: &Lang) -> String {
    let mut lines = Vec::new();
    for entry in &execution.entries {
        describe_entry(entry, &mut lines, lang);
    }
    let time = lang.numbers().time(execution.elapsed);
    let end = match (&execution.outcome, &execution.reason) {
        (Some(Outcome::Ok), _) => say!(lang, "try-succeeded", time),
        (Some(Outcome::Failed(code) | Outcome::Unknown(code)), Some(reason)) => {
            say!(lang, "try-failed", reason = format!("{code} {reason}"))
        }
        (Some(Outcome::Failed(code) | Outcome::Unknown(code)), None) => {
            say!(lang, "try-failed", reason = code.to_string())
        }
        (Some(Outcome::Dropped), _) | (None, None) => say!(lang, "try-unfinished"),
        (None, Some(reason)) => say!(lang, "try-failed", reason),
    };
    let columns = terminal::columns(&stdout()).unwrap_or(COLUMNS_MAX);
    let lines = lines.iter().map(|it| truncate(&it.replace('\t', " "), columns, characters()));
    // Do not truncate the reason of a failure, because it is wrapped.
    let ends = end.lines().map(|it| format!("  {it}"));
    let all = [say!(lang, "try-operation", name = operation)].into_iter().chain(lines).chain(ends);
    all.map(|it| it + "\n").collect::<String>() + "\n"
}

fn describe_entry(entry: &TraceEntry, lines: &mut Vec<String>, lang: &Lang) {
    let mut block = |prefix: &str, text: &str| {
        let count = text.lines().count();
        lines.extend(text.lines().take(LINES_MAX).map(|it| format!("  {prefix} {it}").trim_end().to_owned()));
        if count > LINES_MAX {
            lines.push(format!("  {prefix} …"));
        }
    };
    let assignments = |all: &[(String, String)]| {
        all.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("\n")
    };
    match entry {
        TraceEntry::Statement { text, variables, .. } => {
            block(">", text);
            block("   ", &assignments(variables));
        }
        TraceEntry::Columns(names) => block("<", &names.join(" | ")),
        TraceEntry::Row(values) => {
            let values: Vec<&str> = values.iter().map(|it| it.as_deref().unwrap_or("NULL")).collect();
            block("<", &values.join(" | ").replace(['\n', '\r'], " "));
        }
        TraceEntry::MoreRows(count) => block("<", &say!(lang, "try-more-rows", count = *count)),
        TraceEntry::Tag(text) | TraceEntry::Message(text) => block("<", text),
        TraceEntry::Request(text) => block(">", text),
        TraceEntry::Response { head, body, length } => {
            block("<", &format!("{head}\n\n{body}"));
            if *length > body.len() as u64 {
                block("<", &say!(lang, "try-body-length", bytes = lang.numbers().bytes(*length as f64)));
            }
        }
        TraceEntry::Finished { elapsed, captures } => {
            block("   ", &assignments(captures));
            block("   ", &lang.numbers().time(*elapsed));
        }
    }
}
