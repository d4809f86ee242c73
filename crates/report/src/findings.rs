//! Findings as paragraphs and tables
//!
//! Findings that affect the interpretation of other findings come first. Findings of one kind share a paragraph or a
//! table. In JSON, each finding is separate.

use crate::cells::cell_names;
use crate::lang::Lang;
use crate::lang::number::interval_text;
use crate::say;
use crate::style::TerminalStyle;
use crate::text::to_characters;
use crate::view::{Column, EvidenceLink, FindingView, Line, Row, Table, Tone};
use model::finding::{Circumstance, Finding};
use model::matrix::{ChangeVerdict, Matrix};

/// Creates one view per kind of finding. `evidence` receives the findings of one kind, at least one, and returns links
/// to their evidence.
pub fn views(
    findings: &[Finding],
    matrix: &Matrix,
    lang: &Lang,
    evidence: &dyn Fn(&[&Finding]) -> Vec<EvidenceLink>,
) -> Vec<FindingView> {
    let names = cell_names(matrix);
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|it| rank(it));
    let mut groups: Vec<((u8, String), Vec<&Finding>)> = Vec::new();
    for finding in sorted {
        let key = (rank(finding), lang.group(finding));
        match groups.iter_mut().find(|it| it.0 == key) {
            Some(group) => group.1.push(finding),
            None => groups.push((key, vec![finding])),
        }
    }
    let to_view = |(_, group): &(_, Vec<&Finding>)| FindingView {
        line: Line { text: lang.findings(group, &names), tone: tone(group[0]) },
        table: matches!(group[0], Finding::LikeForLikeCost { .. }).then(|| costs(group, &names, lang)),
        evidence: evidence(group),
    };
    groups.iter().map(to_view).collect()
}

/// Lists the nodes that received no load in a selected cell, each node once.
pub(crate) fn unused_nodes(findings: &[Finding], is_selected: impl Fn(usize) -> bool) -> Vec<&str> {
    let mut nodes: Vec<&str> = Vec::new();
    for finding in findings {
        if let Finding::Circumstance { cell, circumstance: Circumstance::NotUsed { node, .. } } = finding
            && is_selected(*cell)
            && !nodes.contains(&node.as_str())
        {
            nodes.push(node);
        }
    }
    nodes
}

/// Renders paragraphs and tables for a terminal; empty without findings.
pub(crate) fn render(all: &[FindingView], style: TerminalStyle) -> String {
    let to_text = |finding: &FindingView| {
        let text = paragraph("- ", &to_characters(&finding.line.text, style.characters), style.width);
        text + &finding.table.as_ref().map_or(String::new(), |table| table_lines(table, style))
    };
    all.iter().map(to_text).collect()
}

/// Tone of a finding: bad if it affects clients, doubtful if it affects the figures.
fn tone(finding: &Finding) -> Tone {
    match finding {
        Finding::SlotsExhausted { .. } | Finding::ClientsStarved { .. } | Finding::Failures { .. } => {
            Tone::Bad
        }
        Finding::NotOpenLoop { .. }
        | Finding::HostBound { .. }
        | Finding::GeneratorShare { .. }
        | Finding::NotConcurrent { .. }
        | Finding::NotCompared { .. }
        | Finding::UnlikeComparison { .. }
        | Finding::AnswerSizes { .. }
        | Finding::RecordedStatus { .. }
        | Finding::ReplayDiverged { .. }
        | Finding::RequestsMissing { .. }
        | Finding::OpenAndClosed { .. }
        | Finding::FeedsDiffer { .. } => Tone::Doubt,
        Finding::NoRows { statement, .. } if statement.needs_rows() => Tone::Doubt,
        Finding::Circumstance { circumstance, .. } => match circumstance {
            Circumstance::ChainedPools { .. }
            | Circumstance::ErrorOrigins { .. }
            | Circumstance::RulesSkipped { .. } => Tone::Plain,
            _ => Tone::Doubt,
        },
        _ => Tone::Plain,
    }
}

/// True if too few trials were compared for any conclusion.
pub(crate) fn has_too_few_runs(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| match finding {
        Finding::LikeForLikeCost { comparison, .. } | Finding::UnlikeComparison { comparison, .. } => {
            comparison.verdict == ChangeVerdict::TooFewRuns
        }
        _ => false,
    })
}

/// Sort key, lowest first: effects on clients, CPU shortage, the limiter, waits, comparisons between cells.
fn rank(finding: &Finding) -> u8 {
    match finding {
        Finding::SlotsExhausted { .. } => 0,
        Finding::ClientsStarved { .. } => 1,
        Finding::Failures { .. } => 2,
        Finding::AnswerSizes { .. }
        | Finding::RecordedStatus { .. }
        | Finding::ReplayDiverged { .. }
        | Finding::RequestsMissing { .. } => 2,
        Finding::NoRows { statement, .. } if statement.needs_rows() => 2,
        Finding::NoRows { .. } => 12,
        Finding::NotOpenLoop { .. } => 3,
        Finding::HostBound { .. } => 4,
        Finding::GeneratorShare { .. } => 5,
        Finding::PoolerBound { .. } => 6,
        Finding::PoolBound { .. } => 7,
        Finding::ServerBound { .. } => 8,
        Finding::QueueInBalancer { .. } => 9,
        Finding::QueueInPooler { .. } => 10,
        Finding::SessionsWait { .. } => 11,
        Finding::Deadlocks { .. } => 12,
        Finding::NotConcurrent { .. } => 13,
        Finding::ClientsLeftAfterTest { .. } => 14,
        Finding::NotCompared { .. } => 15,
        Finding::LikeForLikeCost { .. } => 16,
        Finding::UnlikeComparison { .. } => 17,
        Finding::NoDifference { .. }
        | Finding::ReplayAsRecorded { .. }
        | Finding::RecordedResponseTimes { .. } => 18,
        Finding::Bound { .. } => 8,
        Finding::OpenAndClosed { .. } => 3,
        Finding::FeedsDiffer { .. } | Finding::LoginsDiffer { .. } => 5,
        Finding::Circumstance { circumstance, .. } => match circumstance {
            Circumstance::GeneratorLate { .. } => 2,
            Circumstance::NotUsed { .. } | Circumstance::DataChanged { .. } => 2,
            Circumstance::FeedFitsCache { .. } => 3,
            Circumstance::NoisyHost { .. } => 5,
            Circumstance::NoFreeSlots { .. } => 1,
            Circumstance::SessionsLost { .. } | Circumstance::ActiveCollapse { .. } => 3,
            Circumstance::ConnectionStorm { .. } | Circumstance::UnevenCopies { .. } => 5,
            Circumstance::DeadlockStatements { .. } | Circumstance::HiddenDeadlocks { .. } => 12,
            Circumstance::IdleTransactions { .. } => 9,
            Circumstance::ChainedPools { .. } | Circumstance::LittlesLawViolation { .. } => 10,
            Circumstance::ErrorOrigins { .. } => 12,
            Circumstance::TrialTrends { .. } => 12,
            Circumstance::Bloat { .. } => 13,
            Circumstance::RulesSkipped { .. } => 19,
        },
    }
}

/// Builds a table with one row per finding.
fn costs(all: &[&Finding], names: &[String], lang: &Lang) -> Table {
    // Headings with the drop order of their columns on narrow pages.
    let headings = [
        (say!(lang, "table-cell"), 0),
        (say!(lang, "table-compared-with"), 1),
        (say!(lang, "table-transport"), 3),
        (say!(lang, "table-ratio"), 0),
        (say!(lang, "table-interval"), 2),
        (say!(lang, "table-trials"), 4),
        (String::new(), 0),
    ];
    let name = |cell: usize| names.get(cell).cloned().unwrap_or_default();
    let mut rows = Vec::new();
    for finding in all {
        let Finding::LikeForLikeCost { cell, other_cell, transport, comparison } = finding else { continue };
        let cells = vec![
            name(*cell),
            name(*other_cell),
            lang.transport(*transport).to_owned(),
            lang.number(&format!("{:.3}", comparison.ratio)),
            comparison.interval.map_or(String::new(), |it| interval_text(it, lang)),
            format!("{}, {}", comparison.runs.0, comparison.runs.1),
            // Leave this text out, because one note below the table reports that there are too few trials.
            match comparison.verdict {
                ChangeVerdict::TooFewRuns => String::new(),
                verdict => lang.verdict(verdict),
            },
        ];
        let tone = match comparison.verdict {
            ChangeVerdict::Lower => Tone::Bad,
            ChangeVerdict::Higher => Tone::Good,
            ChangeVerdict::NoEvidence | ChangeVerdict::TooFewRuns => Tone::Plain,
        };
        rows.push(Row { cells, tone, baseline: false });
    }
    // Omit columns that are empty in every row.
    let used: Vec<bool> =
        (0..headings.len()).map(|at| rows.iter().any(|it| !it.cells[at].is_empty())).collect();
    let is_used = |at: &usize| used[*at];
    let column = |at: usize| {
        let (heading, drop_order) = headings[at].clone();
        Column { heading, drop_order, ..Column::default() }
    };
    let columns = (0..headings.len()).filter(is_used).map(column).collect();
    for row in &mut rows {
        let mut at = 0..;
        row.cells.retain(|_| at.next().is_some_and(|it| used[it]));
    }
    Table { columns, rows, ..Table::default() }
}

/// Formats the rows of a table and their headings, one line each.
pub(crate) fn table_lines(table: &Table, style: TerminalStyle) -> String {
    let headings = table.columns.iter().map(|it| to_characters(&it.heading, style.characters)).collect();
    let rows = table
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| to_characters(cell, style.characters)).collect());
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let wide = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(at, it)| format!("{it:<width$}", width = wide(at)));
        out += "    ";
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// Splits a text at blanks, except before a percent sign.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let remaining = rest?;
        let ends =
            remaining.match_indices(' ').map(|it| it.0).find(|at| !remaining[at + 1..].starts_with('%'));
        rest = ends.map(|at| &remaining[at + 1..]);
        Some(ends.map_or(remaining, |at| &remaining[..at]))
    })
}

/// Wraps a text into lines of at most `width` columns. The first line begins with `begin`; further lines are indented.
/// A word longer than `width` has a line of its own.
pub fn paragraph(begin: &str, text: &str, width: usize) -> String {
    let margin = begin.chars().count();
    let mut out = begin.to_owned();
    let mut column = margin;
    for (number, word) in split_words(text).enumerate() {
        let length = word.chars().count();
        if number > 0 && column + 1 + length > width {
            out += &format!("\n{:margin$}", "");
            column = margin;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out + "\n"
}
