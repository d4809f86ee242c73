//! Findings on work of PostgreSQL that could be avoided
//!
//! This work saturates the CPU or the disk like any other work. The findings name its source.

use super::bound::CpuUsage;
use super::tables::{PAGE_BYTES, executed_rate, rows_per_cpu_second};
use super::waits::{self, BOUND_SHARE_MIN, WaitClass};
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::SampleView;
use crate::facts::samples::{self, growth, growth_by_label, maximum, sums};
use model::Nanos;
use model::avoidable_work::WorkEvidence;
use model::finding::{Bound, MissingInput};
use model::plan::{Node, Transport};
use std::collections::{BTreeMap, BTreeSet};

/// Temporary files per transaction, and bytes per transaction, above which `work_mem` matters. Writing and reading 256 KiB
/// takes about a tenth of a millisecond in the page cache.
const FILES_MIN: f64 = 0.1;
const FILE_BYTES_MIN: f64 = 256.0 * 1024.0;
/// Smallest reported share of PostgreSQL's CPU time for compilation, planning or autovacuum. Without it, throughput would be at least a
/// quarter higher.
const CPU_SHARE_MIN: f64 = 0.2;
/// Logins per transaction, and per second, from which their cost is reported.
const LOGINS_MIN: f64 = 0.1;
const LOGINS_PER_SECOND_MIN: f64 = 1.0;
/// Minimum number of dead row versions of a table, and their minimum ratio to its live rows.
const DEAD_ROWS_MIN: f64 = 1000.0;
const DEAD_RATIO_MIN: f64 = 2.0;
/// Ratio of the size of a scanned table to the bytes that its rows need, from which its pages count as almost empty. Alignment
/// and a usual `fillfactor` explain less than two.
const EMPTY_RATIO_MIN: f64 = 4.0;
/// Share of the scanned pages in all blocks that transactions read, between which the scans explain these blocks.
const SCANNED_SHARE: std::ops::RangeInclusive<f64> = 0.5..=2.0;
/// Transaction ids per transaction, and per second of PostgreSQL's CPU time, from which subtransactions are reported. In
/// `proof/planted/subtransactions.yaml`, a subtransaction with one failing insertion took 10 µs.
const TRANSACTION_IDS_MIN: f64 = 5.0;
const TRANSACTION_IDS_PER_CPU_SECOND_MIN: f64 = 1e4;
/// Minimum number of rows of a table with old statistics, and minimum share of changed rows.
const CHANGED_ROWS_MIN: f64 = 1000.0;
const CHANGED_SHARE_MIN: f64 = 0.5;
/// Blocks per transaction below which neither dead rows nor bad plans matter.
const BLOCKS_MIN: f64 = 50.0;
/// Growth of a table since its last VACUUM or ANALYZE, from which its statistics are old.
const TABLE_GROWTH_MIN: f64 = 1.5;
/// Rows that index scans read per transaction, and per returned row, from which they are reported. Reading 5,000 rows in
/// the cache takes about a millisecond.
const INDEX_ROWS_MIN: f64 = 5000.0;
/// Rows that index scans read per second of PostgreSQL's CPU time, from which fewer rows per transaction are reported too.
/// A CPU that does nothing else read five million.
const INDEX_ROWS_PER_CPU_SECOND_MIN: f64 = 2e6;
const READ_PER_RETURNED_MIN: f64 = 100.0;
/// TOAST blocks per transaction, and their share of all blocks, from which they are reported.
const TOAST_BLOCKS_MIN: f64 = 10.0;
const TOAST_SHARE_MIN: f64 = 0.5;
/// Unused indexes of a table, and rows written to it per transaction, from which they are reported.
const UNUSED_INDEXES_MIN: f64 = 4.0;
const WRITES_MIN: f64 = 0.9;
/// Sequential scans of a table per row that is deleted from the table that its foreign key references.
const SCANS_PER_DELETE_MIN: f64 = 0.5;
/// Smallest share of the longest statement in the time of all statements from which it is reported.
const LONGEST_SHARE_MIN: f64 = 0.5;
/// Executions of one statement per transaction from which it is reported, and blocks that one execution reads at most.
const CALLS_MIN: f64 = 5.0;
const REPEATED_BLOCKS_MAX: f64 = 10.0;
/// Rows that one execution returns, from which its result is reported as large. A CPU returns about a million short rows per
/// second.
const RESULT_ROWS_MIN: f64 = 1000.0;
/// Smallest reported share of a function in PostgreSQL's CPU time.
const FUNCTION_SHARE_MIN: f64 = 0.5;
/// Minimum age of a snapshot, and minimum growth of the number of dead row versions, that are reported.
const SNAPSHOT_AGE_MIN: f64 = 5.0;
const DEAD_GROWTH_MIN: f64 = 1000.0;
/// Time for which Linux delays an acknowledgement, and the longest time that includes little else, in seconds. Source:
/// `TCP_DELACK_MIN` in Linux' `include/net/tcp.h`.
const DELAYED_ACK: (f64, f64) = (0.039, 0.048);
/// Largest share of the response time that PostgreSQL's statements take if acknowledgements are delayed.
const SERVER_SHARE_MAX: f64 = 0.25;

/// Findings of all kinds. `window` has the samples of the whole window, because most counters are read once per second.
pub fn findings(window: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let server = window.server().ok_or(MissingInput::Server)?;
    if window.trials.iter().all(|it| it.samples.of(&server.name, samples::PG_COMMITS).is_empty()) {
        return Err(MissingInput::Server);
    }
    let node = server.name.as_str();
    let mut found = vec![logins(window, server)];
    if waits::share(window, is_work).is_none_or(|it| it >= BOUND_SHARE_MIN) {
        found.extend([
            temporary_files(window, node),
            jit(window, node),
            planning(window, node),
            dead_rows(window, node),
            old_statistics(window, node),
            old_snapshot(window, node),
            unindexed_foreign_key(window, node),
        ]);
        if !has_idle_cpus(window, server) {
            found.extend([
                autovacuum(window, node),
                index_rows(window, server),
                large_values(window, node),
                unused_indexes(window, node),
                function(window, node),
                empty_pages(window, node),
                subtransactions(window, node),
                repeated_statement(window, node),
                large_result(window, node),
            ]);
        }
    }
    let finding = |evidence| Finding::Bound { cell: window.number, bound: Bound::AvoidableWork { evidence } };
    Ok(found.into_iter().flatten().map(finding).collect())
}

/// True if a session with this wait event works, waits for its workers or for a lightweight lock, which sessions hold only while
/// they work, or reads or writes data for its work. Less work would not shorten other waits.
fn is_work(event: &str) -> bool {
    match WaitClass::from_event(event) {
        Some(class) => matches!(class, WaitClass::Read | WaitClass::Write),
        None if waits::is_write(event) => false,
        None => {
            event == "running" || ["IO/BufFile", "IPC/", "LWLock/"].iter().any(|it| event.starts_with(it))
        }
    }
}

fn per_transaction(cell: &CellTrials<'_>, node: &str, series: &str) -> Option<f64> {
    cell.median(|trial| Some(growth(trial.samples, node, series, |_| true)? / executed_rate(trial)?))
}

fn temporary_files(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let files = per_transaction(cell, node, samples::PG_TEMP_FILES)?;
    let bytes = per_transaction(cell, node, samples::PG_TEMP_BYTES)?;
    (files >= FILES_MIN && bytes >= FILE_BYTES_MIN).then(|| WorkEvidence::TemporaryFiles {
        files_per_transaction: files,
        bytes_per_transaction: bytes,
        bytes_per_file: bytes / files,
        statement: most_costly(cell, node, samples::PG_STATEMENT_TEMPORARY),
    })
}

fn jit(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let share = cell.median(|it| share_of_server(it, node, samples::PG_STATEMENT_JIT, |_| true))?;
    let statement = || most_costly(cell, node, samples::PG_STATEMENT_JIT);
    (share >= CPU_SHARE_MIN).then(|| WorkEvidence::Jit { share, statement: statement() })
}

fn planning(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let share = cell.median(|it| share_of_server(it, node, samples::PG_STATEMENT_PLANNING, |_| true))?;
    let mean = cell.median(|trial| {
        let samples = second_half(trial)?;
        let total = |series| growth_by_label(samples, node, series).values().sum::<f64>();
        let plans = total(samples::PG_STATEMENT_PLANS);
        (plans > 0.0).then(|| total(samples::PG_STATEMENT_PLANNING) / plans)
    })?;
    let statement = || most_costly(cell, node, samples::PG_STATEMENT_PLANNING);
    (share >= CPU_SHARE_MIN).then(|| WorkEvidence::Planning { share, mean, statement: statement() })
}

/// Time of a series by statement as a share of PostgreSQL's CPU time. Sessions that compete for CPUs take longer than their CPU
/// time, so the share is of the time of all statements if that is longer, or if the CPU time is unknown.
///
/// The second half of the window counts: the first statements of each session fill its caches, and plan for longer.
fn share_of_server(
    trial: &TrialFacts<'_>,
    node: &str,
    series: &'static str,
    label: impl Fn(&str) -> bool,
) -> Option<f64> {
    let samples = second_half(trial)?;
    let moments = sums(samples, node, series, &label);
    let duration = (moments.last()?.0 - moments.first()?.0).as_secs_f64();
    let total = |series, label: &dyn Fn(&str) -> bool| {
        let growth = growth_by_label(samples, node, series).into_iter();
        growth.filter(|it| label(&it.0)).map(|it| it.1).sum::<f64>()
    };
    let executed = total(samples::PG_STATEMENT_TIME, &|it| !it.is_empty());
    let statements = executed + total(samples::PG_STATEMENT_PLANNING, &|_| true);
    let cpu = samples::processors(samples, node).map_or(0.0, |it| it * duration);
    let all = cpu.max(statements);
    (duration > 0.0 && all > 0.0).then(|| (total(series, &label) / all).min(1.0))
}

fn second_half<'a>(trial: &TrialFacts<'a>) -> Option<SampleView<'a>> {
    Some(trial.samples.after(Nanos(trial.valid()?.window.0 / 2)))
}

/// Text of the statement with the greatest increase of a series, over all trials.
fn most_costly(cell: &CellTrials<'_>, node: &str, series: &str) -> Option<String> {
    let mut costs: BTreeMap<String, f64> = BTreeMap::new();
    for trial in &cell.trials {
        for (id, cost) in growth_by_label(trial.samples, node, series) {
            *costs.entry(id).or_default() += cost;
        }
    }
    // The empty label is the sum of all statements.
    let (id, _) =
        costs.into_iter().filter(|it| it.1 > 0.0 && !it.0.is_empty()).max_by(|a, b| a.1.total_cmp(&b.1))?;
    waits::statement_text(cell, node, &id)
}

/// True if PostgreSQL's CPUs are known to be idle at times: work of the CPU then does not limit the throughput.
fn has_idle_cpus(cell: &CellTrials<'_>, server: &Node) -> bool {
    let cpu = CpuUsage::measure(cell, server).ok().flatten();
    cpu.is_some_and(|it| !it.is_busy())
}

/// Logins by PostgreSQL's count of sessions, also if the load opens a connection for each transaction.
///
/// `None` if PostgreSQL's CPUs are idle at times: logins then do not limit the throughput.
fn logins(cell: &CellTrials<'_>, server: &Node) -> Option<WorkEvidence> {
    if has_idle_cpus(cell, server) {
        return None;
    }
    let node = server.name.as_str();
    let per_second = cell.median(|it| growth(it.samples, node, samples::PG_SESSIONS_BEGUN, |_| true))?;
    let per_transaction = per_transaction(cell, node, samples::PG_SESSIONS_BEGUN)?;
    let by_load = cell.setup.load.reconnect && cell.setup.stack.nodes.len() == 1;
    let mean = cell.median(|it| Some(it.valid()?.connects.durations.mean?.as_secs_f64())).filter(|_| by_load);
    (per_second >= LOGINS_PER_SECOND_MIN && per_transaction >= LOGINS_MIN).then_some(WorkEvidence::Logins {
        per_second,
        per_transaction,
        mean,
    })
}

/// Last value of a gauge by table, also from before the window.
fn by_table(trial: &TrialFacts<'_>, node: &str, series: &str) -> BTreeMap<String, f64> {
    trial.samples.of(node, series).iter().map(|it| (it.label.to_string(), it.value)).collect()
}

fn blocks(cell: &CellTrials<'_>, node: &str) -> Option<f64> {
    let hit = per_transaction(cell, node, samples::PG_BLOCKS_HIT)?;
    Some(hit + per_transaction(cell, node, samples::PG_BLOCKS_READ)?)
}

/// The table with the most dead row versions, if they outnumber its live rows, transactions read many blocks, and statements read
/// the table. Insertions do not read the dead rows of their table.
fn dead_rows(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    blocks(cell, node).filter(|it| *it >= BLOCKS_MIN)?;
    let trial = cell.trials.iter().rev().find(|it| it.valid().is_some())?;
    let of = |series| by_table(trial, node, series);
    let (live, bytes) = (of(samples::PG_TABLE_LIVE_ROWS), of(samples::PG_TABLE_BYTES));
    let worst = of(samples::PG_TABLE_DEAD_ROWS).into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (table, dead_rows) = worst?;
    let live_rows = *live.get(&table)?;
    let bytes = bytes.get(&table).copied();
    let grows = |series| growth_of(cell, node, series, &table).is_some_and(|it| it > 0.0);
    if !grows(samples::PG_SCANS) && !grows(samples::PG_TABLE_INDEX_ROWS) {
        return None;
    }
    (dead_rows >= DEAD_ROWS_MIN && dead_rows >= DEAD_RATIO_MIN * live_rows)
        .then_some(WorkEvidence::DeadRows { table, live_rows, dead_rows, bytes })
}

/// The table whose sequential scans read the most blocks, if its rows need much less space.
fn empty_pages(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let blocks = blocks(cell, node).filter(|it| *it >= BLOCKS_MIN)?;
    let labels = cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_SCANNED_BYTES).iter());
    let tables: BTreeSet<&str> = labels.map(|it| &*it.label).collect();
    let scanned = |table: &str| {
        let bytes = last_value(cell, node, samples::PG_SCANNED_BYTES, table)?;
        Some((table.to_owned(), bytes, growth_of(cell, node, samples::PG_SCANS, table)?))
    };
    let all = tables.into_iter().filter_map(scanned);
    let (table, bytes, scans_per_transaction) = all.max_by(|a, b| (a.1 * a.2).total_cmp(&(b.1 * b.2)))?;
    let row_bytes = last_value(cell, node, samples::PG_ROW_BYTES, &table)?;
    let share = scans_per_transaction * bytes / PAGE_BYTES / blocks;
    (bytes >= EMPTY_RATIO_MIN * row_bytes && SCANNED_SHARE.contains(&share))
        .then_some(WorkEvidence::EmptyPages { table, bytes, row_bytes, scans_per_transaction })
}

/// Subtransactions that write: they alone let a transaction use more than one transaction id.
fn subtransactions(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let figures = |trial: &TrialFacts<'_>| {
        trial.valid()?;
        let rate = |series| growth(trial.samples, node, series, |_| true);
        let ids = rate(samples::PG_TRANSACTION_IDS)?;
        let transactions = rate(samples::PG_COMMITS)? + rate(samples::PG_ROLLBACKS).unwrap_or(0.0);
        let cpu = samples::processors(trial.samples, node)?;
        (transactions > 0.0 && cpu > 0.0).then(|| (ids / transactions, ids / cpu))
    };
    let ids_per_transaction = cell.median(|it| Some(figures(it)?.0))?;
    let per_cpu_second = cell.median(|it| Some(figures(it)?.1))?;
    let found =
        ids_per_transaction >= TRANSACTION_IDS_MIN && per_cpu_second >= TRANSACTION_IDS_PER_CPU_SECOND_MIN;
    found.then(|| WorkEvidence::Subtransactions {
        ids_per_transaction,
        statement: most_costly(cell, node, samples::PG_STATEMENT_TIME),
    })
}

/// The table of which most rows had changed since the last ANALYZE before the window. A table without an earlier sample
/// changed only during the window.
fn old_statistics(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    blocks(cell, node).filter(|it| *it >= BLOCKS_MIN)?;
    let trial = cell.trials.iter().find(|it| it.valid().is_some())?;
    let before = |series: &str| -> BTreeMap<&str, f64> {
        let samples = trial.samples.of(node, series).between(Nanos::ZERO, Nanos::ZERO);
        samples.iter().map(|it| (&*it.label, it.value)).collect()
    };
    let changed = before(samples::PG_TABLE_CHANGED_ROWS).into_iter();
    let (table, changed_rows) = changed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let live_rows = *before(samples::PG_TABLE_LIVE_ROWS).get(table)?;
    let table = table.to_owned();
    (live_rows >= CHANGED_ROWS_MIN && changed_rows >= CHANGED_SHARE_MIN * live_rows)
        .then_some(WorkEvidence::OldStatistics { table, live_rows, changed_rows })
}

/// Autovacuum workers that run or wait for a CPU, as sessions that run or wait for one do.
fn autovacuum(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let workers = cell.median(|it| samples::runnable_autovacuum_workers(it.samples, node))?;
    let sessions = cell.median(|it| samples::runnable_sessions(it.samples, node))?;
    let share = if workers > 0.0 { workers / (workers + sessions) } else { 0.0 };
    (share >= CPU_SHARE_MIN).then_some(WorkEvidence::Autovacuum { share, workers })
}

/// The label of a counter with the greatest growth per transaction, and this growth.
fn greatest_by_label(cell: &CellTrials<'_>, node: &str, series: &'static str) -> Option<(String, f64)> {
    let labels = cell.trials.iter().flat_map(|it| it.samples.of(node, series).iter());
    let labels: BTreeSet<&str> = labels.map(|it| &*it.label).collect();
    let each = |label: &str| growth_of(cell, node, series, label);
    let growths = labels.into_iter().filter_map(|label| Some((label.to_owned(), each(label)?)));
    growths.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Growth of a counter with this label per transaction.
fn growth_of(cell: &CellTrials<'_>, node: &str, series: &str, label: &str) -> Option<f64> {
    cell.median(|trial| Some(growth(trial.samples, node, series, |it| it == label)? / executed_rate(trial)?))
}

/// Last value of a gauge with this label in the last valid trial.
fn last_value(cell: &CellTrials<'_>, node: &str, series: &str, label: &str) -> Option<f64> {
    let trial = cell.trials.iter().rev().find(|it| it.valid().is_some())?;
    trial.samples.of(node, series).iter().filter(|it| it.label == label).last().map(|it| it.value)
}

/// The table of which index scans read the most rows, if statements return few of them. If the table has grown since its
/// last ANALYZE, a wrong estimate is the likely reason. A restored database does not count its changed rows.
fn index_rows(cell: &CellTrials<'_>, server: &Node) -> Option<WorkEvidence> {
    let node = server.name.as_str();
    let (table, read) = greatest_by_label(cell, node, samples::PG_TABLE_INDEX_ROWS)?;
    let returned = growth_of(cell, node, samples::PG_STATEMENT_ROWS, "")?;
    let per_cpu_second = rows_per_cpu_second(cell, server, samples::PG_TABLE_INDEX_ROWS, &table);
    let is_much =
        read >= INDEX_ROWS_MIN || per_cpu_second.is_some_and(|it| it >= INDEX_ROWS_PER_CPU_SECOND_MIN);
    if !is_much || read < READ_PER_RETURNED_MIN * returned {
        return None;
    }
    let growth =
        last_value(cell, node, samples::PG_TABLE_GROWTH, &table).filter(|it| *it >= TABLE_GROWTH_MIN);
    let (read_per_transaction, returned_per_transaction) = (read, returned);
    Some(match growth {
        Some(growth) => {
            WorkEvidence::GrownTable { table, growth, read_per_transaction, returned_per_transaction }
        }
        None => match most_costly(cell, node, samples::PG_STATEMENT_TIME).filter(|it| has_offset(it)) {
            Some(statement) => {
                WorkEvidence::SkippedRows { table, read_per_transaction, returned_per_transaction, statement }
            }
            None => WorkEvidence::DiscardedRows { table, read_per_transaction, returned_per_transaction },
        },
    })
}

fn has_offset(statement: &str) -> bool {
    statement.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it.eq_ignore_ascii_case("offset"))
}

/// The foreign key without an index for which deletions in the referenced table scan the most rows.
fn unindexed_foreign_key(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let labels =
        cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_FOREIGN_KEY_DELETES).iter());
    let keys: BTreeSet<&str> = labels.map(|it| &*it.label).collect();
    let of_key = |key: &str| {
        let (table, columns) = key.strip_suffix(')')?.split_once(" (")?;
        let deletes_per_transaction = growth_of(cell, node, samples::PG_FOREIGN_KEY_DELETES, key)?;
        let scans = growth_of(cell, node, samples::PG_SCANS, table)?;
        let read_per_transaction = growth_of(cell, node, samples::PG_SCANNED_ROWS, table)?;
        let found = deletes_per_transaction > 0.0
            && scans >= SCANS_PER_DELETE_MIN * deletes_per_transaction
            && read_per_transaction >= INDEX_ROWS_MIN;
        found.then(|| WorkEvidence::UnindexedForeignKey {
            table: table.to_owned(),
            columns: columns.to_owned(),
            deletes_per_transaction,
            read_per_transaction,
        })
    };
    let read = |evidence: &WorkEvidence| match evidence {
        WorkEvidence::UnindexedForeignKey { read_per_transaction, .. } => *read_per_transaction,
        _ => 0.0,
    };
    keys.into_iter().filter_map(of_key).max_by(|a, b| read(a).total_cmp(&read(b)))
}

/// The query that takes most of the time and returns many rows.
fn large_result(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let (id, share) = longest_statement(cell, node)?;
    let executions = growth_of(cell, node, samples::PG_STATEMENT_CALLS, id)?;
    let rows = growth_of(cell, node, samples::PG_STATEMENT_ROWS, id)?;
    let statement = waits::statement_text(cell, node, id)?;
    let rows_per_execution = if executions > 0.0 { rows / executions } else { 0.0 };
    (is_query(&statement) && share >= LONGEST_SHARE_MIN && rows_per_execution >= RESULT_ROWS_MIN)
        .then_some(WorkEvidence::LargeResult { rows_per_execution, share, statement })
}

fn is_query(statement: &str) -> bool {
    let word = statement.split_whitespace().next().unwrap_or_default();
    ["select", "with", "table"].iter().any(|it| word.eq_ignore_ascii_case(it))
}

/// The statement with the longest total time, and its share of the time of all statements, 0..=1.
fn longest_statement<'a>(cell: &CellTrials<'a>, node: &str) -> Option<(&'a str, f64)> {
    statement_shares(cell, node)?.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The share of each statement in the time of all statements, 0..=1.
fn statement_shares<'a>(cell: &CellTrials<'a>, node: &str) -> Option<Vec<(&'a str, f64)>> {
    let total = growth_of(cell, node, samples::PG_STATEMENT_TIME, "").filter(|it| *it > 0.0)?;
    let labels = cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_STATEMENT_TIME).iter());
    let ids: BTreeSet<&str> = labels.map(|it| &*it.label).filter(|it| !it.is_empty()).collect();
    let share =
        |id: &'a str| Some((id, (growth_of(cell, node, samples::PG_STATEMENT_TIME, id)? / total).min(1.0)));
    Some(ids.into_iter().filter_map(share).collect())
}

/// The cheap statements that together take most of the time because each transaction executes them many times.
fn repeated_statement(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let calls = |id: &str| growth_of(cell, node, samples::PG_STATEMENT_CALLS, id);
    let is_repeated = |id: &str| {
        let of_statement = |series| growth_of(cell, node, series, id);
        let blocks = of_statement(samples::PG_STATEMENT_HIT)? + of_statement(samples::PG_STATEMENT_READ)?;
        let calls = calls(id)?;
        Some(calls >= CALLS_MIN && blocks <= REPEATED_BLOCKS_MAX * calls)
    };
    let mut repeated = statement_shares(cell, node)?;
    repeated.retain(|it| is_repeated(it.0) == Some(true));
    let share = repeated.iter().map(|it| it.1).sum::<f64>().min(1.0);
    let calls_per_transaction = repeated.iter().filter_map(|it| calls(it.0)).sum();
    let (longest, _) = repeated.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (statement, statements) = (waits::statement_text(cell, node, longest)?, repeated.len());
    (share >= LONGEST_SHARE_MIN).then_some(WorkEvidence::RepeatedStatement {
        calls_per_transaction,
        share,
        statements,
        statement,
    })
}

/// The table with the most TOAST blocks, if they are most of the blocks that a transaction reads.
fn large_values(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let (table, toast) = greatest_by_label(cell, node, samples::PG_TABLE_TOAST_BLOCKS)?;
    let blocks = blocks(cell, node)?;
    (toast >= TOAST_BLOCKS_MIN && toast >= TOAST_SHARE_MIN * blocks).then_some(WorkEvidence::LargeValues {
        table,
        toast_blocks_per_transaction: toast,
        blocks_per_transaction: blocks,
    })
}

/// The table to which most rows are written, if many of its indexes are unused and the statement with the longest time writes.
fn unused_indexes(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let (table, rows_per_transaction) = greatest_by_label(cell, node, samples::PG_TABLE_INDEXED_WRITES)?;
    let indexes = last_value(cell, node, samples::PG_TABLE_UNUSED_INDEXES, &table)?;
    let statement = most_costly(cell, node, samples::PG_STATEMENT_TIME)?;
    let word = statement.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let writes = ["insert", "update", "merge", "copy"].contains(&&*word);
    (writes && indexes >= UNUSED_INDEXES_MIN && rows_per_transaction >= WRITES_MIN)
        .then_some(WorkEvidence::UnusedIndexes { table, indexes, rows_per_transaction, statement })
}

/// The function with the longest time of its own, which includes its statements.
fn function(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let (function, time) = greatest_by_label(cell, node, samples::PG_FUNCTION_TIME)?;
    let calls_per_transaction = growth_of(cell, node, samples::PG_FUNCTION_CALLS, &function)?;
    let share =
        cell.median(|it| share_of_server(it, node, samples::PG_FUNCTION_TIME, |name| name == function))?;
    let mean = if calls_per_transaction > 0.0 { time / calls_per_transaction } else { return None };
    (share >= FUNCTION_SHARE_MIN).then_some(WorkEvidence::Function {
        function,
        share,
        calls_per_transaction,
        mean,
    })
}

/// A transaction whose snapshot is as old as half of the window, while dead row versions accumulate.
fn old_snapshot(cell: &CellTrials<'_>, node: &str) -> Option<WorkEvidence> {
    let age = cell.median(|trial| {
        let window = trial.valid()?.window.as_secs_f64();
        let age = maximum(&sums(trial.samples, node, samples::PG_OLDEST_SNAPSHOT, |_| true))?;
        Some(if age >= window / 2.0 { age } else { 0.0 })
    });
    let age = age.filter(|it| *it >= SNAPSHOT_AGE_MIN)?;
    let dead = |of_last: bool| {
        cell.median(|trial| {
            let all = sums(trial.samples, node, samples::PG_DEAD_ROWS, |_| true);
            (if of_last { all.last() } else { all.first() }).map(|it| it.1)
        })
    };
    let (first_dead_rows, last_dead_rows) = (dead(false)?, dead(true)?);
    (last_dead_rows >= first_dead_rows + DEAD_GROWTH_MIN).then_some(WorkEvidence::OldSnapshot {
        age,
        first_dead_rows,
        last_dead_rows,
    })
}

/// Findings on clients that read results slowly, and on delayed acknowledgements of TCP.
pub fn reading(full: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = &full.server().ok_or(MissingInput::Server)?.name;
    let active = full.median(|it| samples::sessions(it.samples, node, "active"));
    let active = active.ok_or(MissingInput::Server)?;
    let share = waits::share(full, |it| it.eq_ignore_ascii_case("Client/ClientWrite"));
    let reads = share.filter(|it| *it >= BOUND_SHARE_MIN && active >= waits::WORKING_SESSIONS_MIN);
    let bounds = reads.map(|share| Bound::ResultReading { share, active });
    let bounds = bounds.into_iter().chain(delayed_acknowledgements(full, node));
    Ok(bounds.map(|bound| Finding::Bound { cell: full.number, bound }).collect())
}

fn delayed_acknowledgements(cell: &CellTrials<'_>, node: &str) -> Option<Bound> {
    let remote = cell.setup.stack.nodes.iter().any(|it| it.transport != Transport::Unix);
    let quantile = |read: fn(&model::summary::Distribution) -> Option<Nanos>| {
        cell.median(|it| Some(read(&it.valid()?.total.response)?.as_secs_f64()))
    };
    let (p50, p90) = (quantile(|it| it.p50)?, quantile(|it| it.p90)?);
    // Times of statements are read rarely. By Little's law, the number of active sessions shows the same time.
    let server = cell.median(|trial| {
        let executing = growth(trial.samples, node, samples::PG_STATEMENT_TIME, str::is_empty);
        let executing = executing.or_else(|| samples::sessions(trial.samples, node, "active"));
        Some(executing? / executed_rate(trial)?)
    })?;
    let is_delay = |time: f64| DELAYED_ACK.0 <= time && time <= DELAYED_ACK.1;
    let found = remote && is_delay(p50) && is_delay(p90) && server <= SERVER_SHARE_MAX * p50;
    found.then_some(Bound::DelayedAcknowledgements { p50, p90, server })
}
