//! Findings on tables: full scans, checkpoints and dead row versions

use super::bound::CpuUsage;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, growth, mean, sums};
use model::Nanos;
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::Node;
use std::collections::BTreeSet;

/// Rows read by full scans per transaction above which the scans matter. A CPU reads about ten million rows per second,
/// so ten thousand rows take a millisecond.
const SCANNED_ROWS_MIN: f64 = 10_000.0;
/// Rows read by full scans per second of PostgreSQL's CPU time above which shorter scans matter too, if its CPUs are busy. A
/// CPU that does nothing else read eight to ten million rows of a short table.
const SCANNED_PER_CPU_SECOND_MIN: f64 = 4e6;
/// Number of table rows below which a full scan is a good plan.
const TABLE_ROWS_MIN: f64 = 1000.0;
/// Rows read per returned row below which an index would not help.
const READ_PER_RETURNED_MIN: f64 = 100.0;
/// Ratio of throughput during checkpoints to throughput in other seconds, below which checkpoints are reported. With
/// `SECONDS` seconds of each kind, a difference of a tenth exceeds random variation.
const SLOWDOWN_RATIO_MAX: f64 = 0.9;
const SECONDS: usize = 3;
/// Size of a page.
pub(super) const PAGE_BYTES: f64 = 8192.0;
/// Smallest reported ratio of the last trial's dead row versions to the first trial's. Their share of all rows must
/// also be large. Autovacuum starts at a fifth of all rows.
const GROWTH_RATIO_MIN: f64 = 2.0;
const DEAD: f64 = 0.02;
/// Minimum number of trials for a trend.
const TRIALS_MIN: usize = 3;

/// Finding on the table from which full scans read the most rows.
pub fn scans(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let by_transaction = |series: &str, table: &str| {
        cell.median(|trial| {
            let rate = executed_rate(trial)?;
            Some(growth(trial.samples, &node.name, series, |it| it == table)? / rate)
        })
    };
    let samples =
        cell.trials.iter().flat_map(|it| it.samples.of(&node.name, samples::PG_SCANNED_ROWS).iter());
    let tables: BTreeSet<&str> = samples.map(|it| &*it.label).collect();
    if tables.is_empty() {
        // Without full scans, there is no finding. Without samples of the server, the input is missing.
        let is_sampled = cell.trials.iter().any(|it| !it.samples.of_series(samples::PG_DEAD_ROWS).is_empty());
        return if is_sampled { Ok(Vec::new()) } else { Err(MissingInput::Server) };
    }
    let rows = |table: &str| by_transaction(samples::PG_SCANNED_ROWS, table);
    let most = tables.into_iter().filter_map(|it| Some((it, rows(it)?))).max_by(|a, b| a.1.total_cmp(&b.1));
    // The growth of a counter requires two samples.
    let (table, read) = most.ok_or(MissingInput::Server)?;
    let scans_per_transaction = by_transaction(samples::PG_SCANS, table).unwrap_or(0.0);
    let returned = by_transaction(samples::PG_STATEMENT_ROWS, "").unwrap_or(0.0);
    let usage = CpuUsage::measure(cell, node).ok().flatten();
    let busy = usage.as_ref().is_some_and(CpuUsage::is_busy);
    let per_cpu_second = rows_per_cpu_second(cell, node, samples::PG_SCANNED_ROWS, table).filter(|_| busy);
    let each = if scans_per_transaction > 0.0 { read / scans_per_transaction } else { 0.0 };
    let found = (read >= SCANNED_ROWS_MIN
        || per_cpu_second.is_some_and(|it| it >= SCANNED_PER_CPU_SECOND_MIN))
        && each >= TABLE_ROWS_MIN
        && read >= READ_PER_RETURNED_MIN * returned;
    let cpu_share = usage.map(|it| it.used / it.available);
    let bound =
        Bound::Scans { table: table.to_owned(), scans_per_transaction, rows_per_scan: each, cpu_share };
    Ok(found.then_some(Finding::Bound { cell: cell.number, bound }).into_iter().collect())
}

/// Rows of a table that a counter counts, per second of PostgreSQL's CPU time.
pub(super) fn rows_per_cpu_second(
    cell: &CellTrials<'_>,
    node: &Node,
    series: &str,
    table: &str,
) -> Option<f64> {
    cell.median(|trial| {
        let cpu = samples::processors(trial.samples, &node.name).filter(|it| *it > 0.0)?;
        Some(growth(trial.samples, &node.name, series, |it| it == table)? / cpu)
    })
}

/// Executed transactions per second, with any outcome.
pub(super) fn executed_rate(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    let rate = summary.total.counts.executed() as f64 / summary.window.as_secs_f64();
    Some(rate).filter(|it| *it > 0.0)
}

pub fn checkpoints(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = &cell.server().ok_or(MissingInput::Server)?.name;
    let requested = cell.median(|trial| {
        let window = trial.valid()?.window.as_secs_f64();
        Some(growth(trial.samples, node, samples::PG_CHECKPOINTS, |it| it == "requested")? * window)
    });
    let requested = requested.ok_or(MissingInput::Server)?.round();
    let share = cell.median(|trial| {
        let written = checkpoint_seconds(trial, node);
        let busy = written.iter().filter(|it| it.1).count();
        (!written.is_empty()).then(|| busy as f64 / written.len() as f64)
    });
    let throughput_ratio = cell.median(|it| checkpoint_slowdown(it, node));
    let felt = throughput_ratio.is_some_and(|it| it <= SLOWDOWN_RATIO_MAX) || requested >= 1.0;
    let full_page_share = cell.median(|trial| {
        let wal = |series| growth(trial.samples, node, series, |_| true);
        let bytes = wal(samples::PG_WAL_BYTES).filter(|it| *it > 0.0)?;
        // A page has 8 kB, less its free space.
        Some((wal(samples::PG_WAL_FULL_PAGES)? * PAGE_BYTES / bytes).min(1.0))
    });
    let share = share.unwrap_or(0.0);
    let bound = Bound::Checkpoints { requested, share, throughput_ratio, full_page_share };
    Ok(felt.then_some(Finding::Bound { cell: cell.number, bound }).into_iter().collect())
}

/// Each second of the trial, and true if the checkpointer wrote in it.
fn checkpoint_seconds(trial: &TrialFacts<'_>, node: &str) -> Vec<(usize, bool)> {
    let total = sums(trial.samples, node, samples::PG_BUFFERS_WRITTEN, |it| it == "checkpointer");
    let second = |at: Nanos| (at.0.saturating_sub(1) / Nanos::from_secs(1).0) as usize;
    total.windows(2).map(|it| (second(it[1].0), it[1].1 > it[0].1)).collect()
}

/// Throughput in seconds with checkpoint writes ÷ throughput in other seconds.
fn checkpoint_slowdown(trial: &TrialFacts<'_>, node: &str) -> Option<f64> {
    trial.valid()?;
    let (mut with_checkpoint, mut without_checkpoint) = (Vec::new(), Vec::new());
    for (second, writing) in checkpoint_seconds(trial, node) {
        let delivered = trial.delivered.get(second).copied();
        (if writing { &mut with_checkpoint } else { &mut without_checkpoint }).extend(delivered);
    }
    let mean = |it: &[f64]| (it.len() >= SECONDS).then(|| it.iter().sum::<f64>() / it.len() as f64);
    Some(mean(&with_checkpoint)? / mean(&without_checkpoint).filter(|it| *it > 0.0)?)
}

/// Finding on dead row versions that accumulate over all trials, valid or not, in order of repetition. Dead row
/// versions remain in the next trial unless vacuum removes them.
pub fn bloat(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = &cell.server().ok_or(MissingInput::Server)?.name;
    let level = |it: &TrialFacts<'_>, series| mean(&sums(it.samples, node, series, |_| true));
    let mut trials: Vec<&&TrialFacts<'_>> = cell.trials.iter().collect();
    trials.sort_by_key(|it| it.repetition);
    let dead: Vec<f64> = trials.iter().filter_map(|it| level(it, samples::PG_DEAD_ROWS)).collect();
    let live = trials.iter().rev().find_map(|it| level(it, samples::PG_LIVE_ROWS));
    let (Some(from), Some(to), Some(live_rows)) = (dead.first(), dead.last(), live) else {
        return Err(MissingInput::Server);
    };
    let vacuums = cell.median(|trial| {
        Some(
            growth(trial.samples, node, samples::PG_VACUUMS, |_| true)? * trial.valid()?.window.as_secs_f64(),
        )
    });
    let vacuums = vacuums.unwrap_or(0.0).round();
    let rising = dead.len() >= TRIALS_MIN && dead.windows(2).all(|it| it[1] >= it[0]);
    let grown = rising && *to >= 1.0 && *to >= GROWTH_RATIO_MIN * from && *to >= DEAD * live_rows;
    let circumstance = Circumstance::Bloat {
        first_dead_rows: *from,
        last_dead_rows: *to,
        live_rows,
        vacuums,
        trials: dead.len() as u32,
    };
    let found = grown || vacuums >= 1.0;
    Ok(found.then_some(Finding::Circumstance { cell: cell.number, circumstance }).into_iter().collect())
}
