//! How are findings told in a terminal?
//!
//! What must be known before the rest can be read comes first. Findings of one kind are one paragraph or one table, so that
//! twenty cells are not twenty paragraphs; as data each finding stands for itself.

use crate::lang::{Label, Lang};
use crate::matrix::names;
use model::finding::Finding;
use model::matrix::{Matrix, Verdict};

/// Paragraphs not wider than `width` columns, and tables; empty without findings.
pub fn text(findings: &[Finding], matrix: &Matrix, width: usize, lang: &dyn Lang) -> String {
    let names = names(matrix);
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
    let tell = |(_, group): &(_, Vec<&Finding>)| {
        let text = paragraph("- ", &lang.findings(group, &names), width);
        match group[0] {
            Finding::LikeForLikeCost { .. } => text + &costs(group, &names, lang),
            _ => text,
        }
    };
    groups.iter().map(tell).collect()
}

/// Whether so few runs were compared that nothing can be told.
pub(crate) fn too_few(findings: &[Finding]) -> bool {
    findings.iter().any(|it| match it {
        Finding::LikeForLikeCost { compared, .. } | Finding::UnlikeComparison { compared, .. } => {
            compared.verdict == Verdict::TooFewRuns
        }
        _ => false,
    })
}

/// Lower ones first: what happened to clients, who had no processor, where the limit is, where transactions wait, and what
/// cells say beside each other.
fn rank(it: &Finding) -> u8 {
    match it {
        Finding::SlotsExhausted { .. } => 0,
        Finding::ClientsStarved { .. } => 1,
        Finding::Failures { .. } => 2,
        Finding::RunIsClosed { .. } => 3,
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
        Finding::NoDifference { .. } => 18,
    }
}

/// One line each, below their headings.
fn costs(all: &[&Finding], names: &[String], lang: &dyn Lang) -> String {
    let headings = [Label::Cell, Label::Beside, Label::Transport, Label::BesideBaseline, Label::Interval];
    let mut rows = vec![headings.map(|it| lang.label(it).to_owned()).to_vec()];
    rows[0].extend([lang.label(Label::Runs).to_owned(), String::new()]);
    let name = |cell: usize| names.get(cell).cloned().unwrap_or_default();
    for finding in all {
        let Finding::LikeForLikeCost { cell, with, transport, compared: it } = finding else { continue };
        rows.push(vec![
            name(*cell),
            name(*with),
            lang.entrance(*transport).to_owned(),
            format!("{:.3}", it.ratio),
            it.interval.map_or(String::new(), |(low, high)| format!("[{low:.3}, {high:.3}]")),
            format!("{}, {}", it.runs.0, it.runs.1),
            // That there were too few is said once.
            if it.verdict == Verdict::TooFewRuns { "" } else { lang.verdict(it.verdict) }.to_owned(),
        ]);
    }
    // Nobody has an interval where all have too few runs.
    let used = |column: usize| rows[1..].iter().any(|it| !it[column].is_empty());
    let columns: Vec<usize> = (0..rows[0].len()).filter(|it| used(*it)).collect();
    let wide = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in &rows {
        let cells = columns.iter().map(|it| format!("{:<width$}", row[*it], width = wide(*it)));
        out += "    ";
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// What blanks separate, but for the one before a percent sign.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let it = rest?;
        let ends = it.match_indices(' ').map(|it| it.0).find(|at| !it[at + 1..].starts_with('%'));
        rest = ends.map(|at| &it[at + 1..]);
        Some(ends.map_or(it, |at| &it[..at]))
    })
}

/// Lines of at most `width` columns, the first after `begin`, the others below it. A longer word has a line of its own.
pub(crate) fn paragraph(begin: &str, text: &str, width: usize) -> String {
    let margin = begin.chars().count();
    let mut out = begin.to_owned();
    let mut column = margin;
    for (number, word) in words(text).enumerate() {
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
