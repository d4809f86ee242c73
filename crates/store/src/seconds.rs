//! Reader of a trial's seconds with compact distributions
//!
//! [`crate::Ticks`] returns each second with full histograms. This reader returns compact histograms, which takes a
//! hundredth of the time.

use crate::error::{Error, Result};
use crate::read::{MOMENTS_PER_READ, Run};
use crate::record::TrialId;
use crate::rows::{self, FailureClass, HistogramKind, NO_OPERATION, count, nanos};
use crate::steps::{STEP_QUERIES, StepRows};
use model::product::current_series_name;
use model::{
    CompactInterval, FailureCounts, HistogramDecoder, Interval, LatencyHistogram, Sample, Second, SecondSum,
    SparseHistogram,
};
use rusqlite::Row;
use std::borrow::Cow;

/// Number of seconds per read.
const SECONDS_PER_READ: usize = 64;

/// Distributions to read. Decoding takes most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramSelection {
    All,
    /// All distributions except the service times of operations, of which [`Run::service_times`] reads sums.
    Response,
}

/// Iterator over the seconds of a trial.
#[derive(Debug)]
pub struct Seconds<'a> {
    run: &'a Run,
    trial: TrialId,
    /// Number of individually measured commands, by operation.
    commands: Vec<usize>,
    /// Ids of the ticks that are not yet read.
    ids: std::vec::IntoIter<i64>,
    read: std::vec::IntoIter<Second>,
    /// Number of seconds already read; `next` is the smallest allowed number of the next second.
    position: u64,
    next: u64,
    selection: HistogramSelection,
    /// Queries for response sizes and row counts. They are read together with the response times.
    answer_queries: Vec<&'static str>,
    /// Queries for steps, for the tables that the file has. They are read together with the response times.
    step_queries: Vec<(&'static str, StepRows, &'static str)>,
    unpacker: HistogramDecoder,
}

impl Run {
    /// Seconds in the order in which they were written.
    pub fn seconds(&self, trial: TrialId, selection: HistogramSelection) -> Result<Seconds<'_>> {
        Ok(Seconds {
            run: self,
            trial,
            commands: self.command_counts(trial)?,
            ids: self.tick_ids(trial)?.into_iter(),
            read: Vec::new().into_iter(),
            position: 0,
            next: 0,
            selection,
            answer_queries: self.answer_queries()?,
            step_queries: self.step_queries()?,
            unpacker: HistogramDecoder::new(),
        })
    }

    /// Ids of the ticks of a trial, in the order in which they were written.
    pub(crate) fn tick_ids(&self, trial: TrialId) -> Result<Vec<i64>> {
        self.query_all("SELECT id FROM tick WHERE trial = ? ORDER BY id", [trial.0], |row| row.get(0))
    }

    /// True if the file has this table. Older files do not have all tables.
    pub(crate) fn has_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?";
        Ok(self.query_one(sql, [name], |row| row.get::<_, i64>(0))? > 0)
    }

    /// Queries for response sizes and row counts, for the tables that the file has.
    pub(crate) fn answer_queries(&self) -> Result<Vec<&'static str>> {
        let mut queries = Vec::new();
        for (table, sql) in rows::ANSWER_QUERIES {
            if self.has_table(table)? {
                queries.push(sql);
            }
        }
        Ok(queries)
    }

    /// Queries for steps, for the tables that the file has. Older files lack some tables.
    pub(crate) fn step_queries(&self) -> Result<Vec<(&'static str, StepRows, &'static str)>> {
        let mut queries = STEP_QUERIES.to_vec();
        for (table, ..) in STEP_QUERIES {
            if !self.has_table(table)? {
                queries.retain(|it| it.0 != table);
            }
        }
        Ok(queries)
    }

    /// Number of individually measured commands, by operation.
    pub fn command_counts(&self, trial: TrialId) -> Result<Vec<usize>> {
        Ok(self.operations(trial)?.iter().map(|it| it.commands.len()).collect())
    }

    /// Sum of all seconds of a trial as one interval; empty if the trial has no seconds.
    pub(crate) fn total_interval(&self, trial: TrialId) -> Result<Interval> {
        let mut all = SecondSum::new(&self.command_counts(trial)?);
        for second in self.seconds(trial, HistogramSelection::All)? {
            all.add(&second?);
        }
        Ok(all.to_interval().convert(LatencyHistogram::from))
    }

    /// Calls `each` for every sample of the selected series, in the order in which the samples were written.
    pub fn for_each_sample(
        &self,
        trial: TrialId,
        series: &[&'static str],
        mut each: impl FnMut(Sample),
    ) -> Result<()> {
        struct SeriesKey {
            node: String,
            series: &'static str,
            label: String,
        }
        let sql = "SELECT id, node, series, label FROM series ORDER BY id";
        let rows = self.query_all(sql, [], |row| {
            let name: String = row.get(2)?;
            let name = current_series_name(&name);
            let series = series.iter().find(|it| **it == name).copied();
            Ok((row.get::<_, i64>(0)?, series, row.get(1)?, row.get(3)?))
        })?;
        let mut known: Vec<Option<SeriesKey>> = Vec::new();
        for (id, series, node, label) in rows {
            let id = usize::try_from(id).ok().filter(|it| *it < 1 << 20);
            let id = id.ok_or_else(|| Error::impossible(&self.path, "series.id", None))?;
            known.resize_with(known.len().max(id + 1), || None);
            known[id] = series.map(|series| SeriesKey { node, series, label });
        }
        let sql = "SELECT id FROM moment WHERE trial = ? ORDER BY id";
        let moments: Vec<i64> = self.query_all(sql, [trial.0], |row| row.get(0))?;
        // The statement reads rows in storage order, so that SQLite need not sort them.
        let sql = "SELECT m.at_ns, v.series, v.value FROM moment m NOT INDEXED CROSS JOIN sample v ON v.moment = m.id
                   WHERE m.id BETWEEN ? AND ? AND m.trial = ? ORDER BY m.id, v.number";
        let text = |it: &String| Cow::Owned(it.clone());
        let mut sample = |row: &Row<'_>| {
            let id: i64 = row.get(1)?;
            let key = usize::try_from(id).ok().and_then(|it| known.get(it)).and_then(Option::as_ref);
            if let Some(key) = key {
                each(Sample {
                    at: nanos(row, 0)?,
                    node: text(&key.node),
                    series: Cow::Borrowed(key.series),
                    label: text(&key.label),
                    // SQLite stores NaN as NULL.
                    value: row.get::<_, Option<f64>>(2)?.unwrap_or(f64::NAN),
                });
            }
            Ok(())
        };
        for chunk in moments.chunks(MOMENTS_PER_READ) {
            self.for_each(sql, (chunk[0], chunk[chunk.len() - 1], trial.0), &mut sample)?;
        }
        Ok(())
    }
}

impl Seconds<'_> {
    /// Number of seconds that are not yet read.
    pub fn remaining(&self) -> usize {
        self.read.len() + self.ids.len()
    }

    fn block(&mut self, ids: &[i64]) -> Result<Vec<Second>> {
        let run = self.run;
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(Vec::new()) };
        let range = (*first, *last);
        let empty = Second { interval: CompactInterval::with_commands(&self.commands), ..Second::default() };
        let mut all = vec![empty; ids.len()];
        // Rows are in the order of ticks; rows of another trial are skipped.
        let place = |row: &Row<'_>| Ok::<_, rusqlite::Error>(ids.binary_search(&row.get(0)?).ok());
        let sql = "SELECT id, second, from_ns, to_ns, begun, in_flight FROM tick WHERE id BETWEEN ? AND ? ORDER BY id";
        run.for_each(sql, range, |row| {
            if let Some(second) = place(row)?.map(|it| &mut all[it]) {
                (second.second, second.in_flight) = (count(row, 1)?, count(row, 5)?);
                let interval = &mut second.interval;
                (interval.from, interval.to) = (nanos(row, 2)?, nanos(row, 3)?);
                interval.started = count(row, 4)?;
            }
            Ok(())
        })?;
        let mut wrong = None;
        for second in &all {
            if !rows::is_second(second.second, self.position, self.next) {
                wrong = Some("tick.second");
            }
            (self.position, self.next) = (self.position + 1, second.second + 1);
        }
        let sql = "SELECT tick, operation, ok, late, dropped, retried, retries, above_limit
                   FROM outcome WHERE tick BETWEEN ? AND ?";
        run.for_each(sql, range, |row| {
            let Some(interval) = place(row)?.map(|it| &mut all[it].interval) else { return Ok(()) };
            let Some(operation) = get_mut(&mut interval.scripts, row.get(1)?) else {
                wrong = Some("outcome.operation");
                return Ok(());
            };
            (operation.ok, operation.late, operation.dropped) =
                (count(row, 2)?, count(row, 3)?, count(row, 4)?);
            (operation.retried, operation.retries, operation.above_limit) =
                (count(row, 5)?, count(row, 6)?, count(row, 7)?);
            if operation.late > operation.ok {
                wrong = Some("outcome");
            }
            Ok(())
        })?;
        let sql = "SELECT tick, class, operation, code, count FROM failure
                   WHERE tick BETWEEN ? AND ? ORDER BY tick, class, operation, number";
        run.for_each(sql, range, |row| {
            let Some(interval) = place(row)?.map(|it| &mut all[it].interval) else { return Ok(()) };
            let (class, operation, code): (i64, i64, Option<String>) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            let failures: Option<&mut FailureCounts> =
                if class == FailureClass::Refused as i64 && operation == NO_OPERATION {
                    Some(&mut interval.refused)
                } else {
                    let counts_of_operation = get_mut(&mut interval.scripts, operation);
                    counts_of_operation.map(|counts| {
                        if class == FailureClass::Failed as i64 {
                            &mut counts.failed
                        } else {
                            &mut counts.unknown
                        }
                    })
                };
            match (failures, code.map(|it| rows::code(&it))) {
                (Some(it), None) => it.add_other(count(row, 4)?),
                (Some(it), Some(Some(code))) => it.add(code, count(row, 4)?),
                _ => wrong = Some("failure"),
            }
            Ok(())
        })?;
        for (table, rows, sql) in &self.step_queries {
            run.for_each(sql, range, |row| {
                let Some(interval) = place(row)?.map(|it| &mut all[it].interval) else { return Ok(()) };
                let counts = get_mut(&mut interval.scripts, row.get(1)?)
                    .and_then(|it| get_mut(&mut it.statements, row.get(2).ok()?));
                match counts.map(|it| rows.read(row, it)).transpose()? {
                    Some(true) => {}
                    _ => wrong = Some(table),
                }
                Ok(())
            })?;
        }
        for sql in &self.answer_queries {
            run.for_each(sql, range, |row| {
                let Some(interval) = place(row)?.map(|it| &mut all[it].interval) else { return Ok(()) };
                match rows::answer_sizes(row, 1)?
                    .filter(|it| usize::from(it.operation) < interval.scripts.len())
                {
                    Some(it) => interval.answers.push(it),
                    None => wrong = Some("answer"),
                }
                Ok(())
            })?;
        }
        let unpacker = &mut self.unpacker;
        let skipped = match self.selection {
            HistogramSelection::All => -1,
            HistogramSelection::Response => HistogramKind::Service as i64,
        };
        let sql = "SELECT tick, kind, operation, command, count, sum_ns, sum_of_squares, min_ns, max_ns, v2
                   FROM histogram WHERE tick BETWEEN ? AND ? AND kind <> ? ORDER BY tick";
        run.for_each(sql, (range.0, range.1, skipped), |row| {
            let Some(interval) = place(row)?.map(|it| &mut all[it].interval) else { return Ok(()) };
            let number = |at| row.get::<_, Option<i64>>(at).map(Option::unwrap_or_default);
            let (operation, command) = (number(2)?, number(3)?);
            let slot = slot(interval, row.get(1)?, operation, command);
            match slot.zip(unpacker.decode(&rows::encoded_histogram(row, 4)?).ok()) {
                Some((slot, it)) => *slot = it,
                None => wrong = Some("histogram"),
            }
            Ok(())
        })?;
        match wrong {
            Some(place) => Err(Error::impossible(&run.path, place, Some(self.trial.0))),
            None => Ok(all),
        }
    }
}

/// Item with this number, if there is one.
pub(crate) fn get_mut<T>(all: &mut [T], number: i64) -> Option<&mut T> {
    usize::try_from(number).ok().and_then(|it| all.get_mut(it))
}

fn slot(
    interval: &mut CompactInterval,
    kind: i64,
    operation: i64,
    command: i64,
) -> Option<&mut SparseHistogram> {
    match HistogramKind::from_number(kind)? {
        HistogramKind::SendLag => Some(&mut interval.send_lag),
        HistogramKind::BacklogWait => Some(&mut interval.backlog_wait),
        HistogramKind::Connects => Some(&mut interval.connects),
        HistogramKind::Response => Some(&mut get_mut(&mut interval.scripts, operation)?.response),
        HistogramKind::Service => Some(&mut get_mut(&mut interval.scripts, operation)?.service),
        HistogramKind::Statement => {
            let operation = get_mut(&mut interval.scripts, operation)?;
            get_mut(&mut operation.statements, command).map(|it| &mut it.service)
        }
    }
}

impl Iterator for Seconds<'_> {
    type Item = Result<Second>;

    fn next(&mut self) -> Option<Result<Second>> {
        if self.read.len() == 0 {
            let ids: Vec<i64> = self.ids.by_ref().take(SECONDS_PER_READ).collect();
            match self.block(&ids) {
                Ok(it) => self.read = it.into_iter(),
                Err(error) => {
                    self.ids = Vec::new().into_iter();
                    return Some(Err(error));
                }
            }
        }
        self.read.next().map(Ok)
    }
}
