//! Reader of the ticks of a recorded trial

use crate::error::{Error, Result};
use crate::read::Run;
use crate::record::TrialId;
use crate::rows::{self, FailureClass, HistogramKind, NO_OPERATION, count, nanos};
use crate::seconds::get_mut;
use model::{AnswerSizes, FailureCounts, Interval, LatencyHistogram, Tick};
use rusqlite::Row;
use std::ops::Range;

/// Iterator over the ticks of a trial. It reads ticks one by one, because a tick takes megabytes.
#[derive(Debug)]
pub struct Ticks<'a> {
    run: &'a Run,
    trial: TrialId,
    /// Number of individually measured commands, by operation.
    commands: Vec<usize>,
    ids: std::vec::IntoIter<i64>,
    /// Number of ticks already read; `next` is the smallest allowed number of the next second.
    position: u64,
    next: u64,
}

impl Run {
    /// Ticks in the order in which they were written.
    pub fn ticks(&self, trial: TrialId) -> Result<Ticks<'_>> {
        self.ticks_after(trial, 0)
    }

    /// Ticks as in [`Run::ticks`], without the first `known` ticks.
    pub fn ticks_after(&self, trial: TrialId, known: usize) -> Result<Ticks<'_>> {
        let shape = self.operations(trial)?.iter().map(|it| it.commands.len()).collect();
        let sql = "SELECT id FROM tick WHERE trial = ? ORDER BY id LIMIT -1 OFFSET ?";
        let ids = self.query_all(sql, (trial.0, known as i64), |row| row.get(0))?;
        Ok(Ticks {
            run: self,
            trial,
            commands: shape,
            ids: ids.into_iter(),
            position: known as u64,
            next: known as u64,
        })
    }
}

impl Ticks<'_> {
    /// Number of ticks that are not yet read.
    pub fn remaining(&self) -> usize {
        self.ids.len()
    }

    /// Reads a tick, except its samples.
    fn counts(&self, id: i64) -> Result<Tick> {
        let mut interval = Interval::new(&self.commands);
        let sql = "SELECT second, from_ns, to_ns, begun, in_flight FROM tick WHERE id = ?";
        let row = |row: &Row<'_>| {
            Ok((count(row, 0)?, nanos(row, 1)?, nanos(row, 2)?, count(row, 3)?, count(row, 4)?))
        };
        let (second, from, to, begun, in_flight) = self.run.query_one(sql, [id], row)?;
        (interval.from, interval.to, interval.started) = (from, to, begun);
        self.outcomes(id, &mut interval)?;
        self.failures(id, &mut interval)?;
        self.steps(id, &mut interval)?;
        self.histograms(id, &mut interval)?;
        self.answers(id, &mut interval)?;
        Ok(Tick { second, interval, in_flight, samples: Vec::new() })
    }

    fn outcomes(&self, id: i64, interval: &mut Interval) -> Result<()> {
        let sql =
            "SELECT operation, ok, late, dropped, retried, retries, above_limit FROM outcome WHERE tick = ?";
        let rows = self.run.query_all(sql, [id], |row| {
            let count = |at| count(row, at);
            Ok((row.get(0)?, [count(1)?, count(2)?, count(3)?, count(4)?, count(5)?, count(6)?]))
        })?;
        for (operation, counts) in rows {
            if counts[1] > counts[0] {
                return Err(self.damaged("outcome"));
            }
            let cell = &mut interval.scripts[self.index(operation, 0..self.commands.len())?];
            [cell.ok, cell.late, cell.dropped, cell.retried, cell.retries, cell.above_limit] = counts;
        }
        Ok(())
    }

    fn failures(&self, id: i64, interval: &mut Interval) -> Result<()> {
        let sql = "SELECT class, operation, code, count FROM failure WHERE tick = ? ORDER BY class, operation, number";
        let rows = self.run.query_all(sql, [id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, Option<String>>(2)?, count(row, 3)?))
        })?;
        for (class, operation, code, count) in rows {
            let failures: &mut FailureCounts =
                if class == FailureClass::Refused as i64 && operation == NO_OPERATION {
                    &mut interval.refused
                } else {
                    let cell = &mut interval.scripts[self.index(operation, 0..self.commands.len())?];
                    if class == FailureClass::Failed as i64 { &mut cell.failed } else { &mut cell.unknown }
                };
            match code {
                Some(text) => {
                    failures.add(rows::code(&text).ok_or_else(|| self.damaged("failure.code"))?, count);
                }
                None => failures.add_other(count),
            }
        }
        Ok(())
    }

    fn steps(&self, id: i64, interval: &mut Interval) -> Result<()> {
        for (table, rows, sql) in self.run.step_queries()? {
            let mut is_known = true;
            self.run.for_each(sql, [id, id], |row| {
                let counts = get_mut(&mut interval.scripts, row.get(1)?)
                    .and_then(|it| get_mut(&mut it.statements, row.get(2).ok()?));
                is_known &= counts.map(|it| rows.read(row, it)).transpose()? == Some(true);
                Ok(())
            })?;
            if !is_known {
                return Err(self.damaged(table));
            }
        }
        Ok(())
    }

    fn histograms(&self, id: i64, interval: &mut Interval) -> Result<()> {
        let sql = "SELECT kind, operation, command, count, sum_ns, sum_of_squares, min_ns, max_ns, v2
                   FROM histogram WHERE tick = ?";
        let rows = self.run.query_all(sql, [id], |row| {
            let number = |at| row.get::<_, Option<i64>>(at).map(Option::unwrap_or_default);
            Ok((row.get(0)?, number(1)?, number(2)?, rows::encoded_histogram(row, 3)?))
        })?;
        for (kind, operation, command, packed) in rows {
            let histogram = LatencyHistogram::decode(&packed).map_err(|_| self.damaged("histogram.v2"))?;
            let kind = HistogramKind::from_number(kind).ok_or_else(|| self.damaged("histogram.kind"))?;
            *self.slot(interval, kind, operation, command)? = histogram;
        }
        Ok(())
    }

    fn answers(&self, id: i64, interval: &mut Interval) -> Result<()> {
        for sql in self.run.answer_queries()? {
            for row in self.run.query_all(sql, [id, id], |row| rows::answer_sizes(row, 1))? {
                let sizes = row.filter(|it| usize::from(it.operation) < self.commands.len());
                interval.answers.push(sizes.ok_or_else(|| self.damaged("answer"))?);
            }
        }
        interval.answers.sort_by_key(AnswerSizes::key);
        Ok(())
    }

    fn slot<'i>(
        &self,
        interval: &'i mut Interval,
        kind: HistogramKind,
        operation: i64,
        command: i64,
    ) -> Result<&'i mut LatencyHistogram> {
        match kind {
            HistogramKind::SendLag => return Ok(&mut interval.send_lag),
            HistogramKind::BacklogWait => return Ok(&mut interval.backlog_wait),
            HistogramKind::Connects => return Ok(&mut interval.connects),
            HistogramKind::Response | HistogramKind::Service | HistogramKind::Statement => {}
        }
        let operation = self.index(operation, 0..self.commands.len())?;
        let cell = &mut interval.scripts[operation];
        match kind {
            HistogramKind::Response => Ok(&mut cell.response),
            HistogramKind::Service => Ok(&mut cell.service),
            _ => Ok(&mut cell.statements[self.index(command, 0..self.commands[operation])?].service),
        }
    }

    fn index(&self, number: i64, range: Range<usize>) -> Result<usize> {
        let index = usize::try_from(number).ok().filter(|it| range.contains(it));
        index.ok_or_else(|| self.damaged("operation"))
    }

    fn damaged(&self, place: &str) -> Error {
        Error::impossible(&self.run.path, place, Some(self.trial.0))
    }
}

impl Iterator for Ticks<'_> {
    type Item = Result<Tick>;

    fn next(&mut self) -> Option<Result<Tick>> {
        let id = self.ids.next()?;
        let mut tick = || {
            let condition = "m.trial = ? AND m.tick = ? ORDER BY m.id, v.number";
            let samples = self.run.samples_where(condition, (self.trial.0, id))?;
            let counts = self.counts(id)?;
            if !rows::is_second(counts.second, self.position, self.next) {
                return Err(self.damaged("tick.second"));
            }
            (self.position, self.next) = (self.position + 1, counts.second + 1);
            Ok(Tick { samples, ..counts })
        };
        Some(tick())
    }
}
