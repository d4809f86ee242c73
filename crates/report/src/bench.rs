//! Result of one benchmark for a terminal
//!
//! The lines of pgbench's report come first, in pgbench 15's formats, so that parsers of pgbench's output also work
//! with pgdyno's. Further lines follow.

mod extended;
mod pgbench;

use crate::lang::Lang;
use model::Summary;
use model::objective::ObjectiveResult;

/// Selection of optional lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchStyle {
    /// True if serialization failures and deadlocks are counted separately.
    pub failures_detailed: bool,
    /// True if progress was reported during the run. As in pgbench, the final report then contains the standard
    /// deviation.
    pub progress: bool,
    /// True if the counters of each generator thread are shown.
    pub threads: bool,
}

/// Renders the whole report, with a newline at its end.
pub fn render(summary: &Summary, objectives: &[ObjectiveResult], style: BenchStyle, lang: &Lang) -> String {
    let mut out = String::new();
    pgbench::write_lines(&mut out, summary, style);
    out.push('\n');
    extended::write_lines(&mut out, summary, style, lang);
    extended::write_objectives(&mut out, objectives, lang);
    out
}

/// First line of standard output, before the measurement.
pub fn banner(server_version: &str) -> String {
    format!("pgbench (pgdyno {}, server {server_version})", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests;
