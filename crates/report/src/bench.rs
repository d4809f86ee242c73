//! How is one benchmark shown in a terminal?
//!
//! pgbench's own lines first, in pgbench 15's formats, so that what reads them goes on working; then what pgbench lacks.

mod extended;
mod pgbench;

use crate::lang::Lang;
use model::Summary;

/// What the user asked to see beside the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchStyle {
    /// Serialization failures and deadlocks apart.
    pub failures_detailed: bool,
    /// Progress was reported: pgbench then shows the standard deviation too.
    pub progress: bool,
}

/// The whole report, with a newline at its end.
pub fn render(summary: &Summary, style: BenchStyle, lang: &dyn Lang) -> String {
    let mut out = String::new();
    pgbench::write_lines(&mut out, summary, style);
    out.push('\n');
    extended::write_lines(&mut out, summary, lang);
    out
}

/// The first line of standard output, before anything is measured.
pub fn banner(server_version: &str) -> String {
    format!("pgbench (pgdyno {}, server {server_version})", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests;
