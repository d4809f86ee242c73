//! Service times of a trial, merged by minute
//!
//! A report needs the service times of whole trials, but only the response times of each second. Decoding a minute takes as
//! long as decoding a second, so the writer stores the sum of every sixty ticks too.

use crate::error::{Error, Result};
use crate::read::Run;
use crate::record::TrialId;
use crate::rows::{self, HistogramKind, Sum, to_sql_bits};
use crate::seconds::get_mut;
use model::{
    HistogramDecoder, HistogramEncoder, HistogramSum, LatencyHistogram, ScriptCounts, SparseHistogram,
};
use rusqlite::{Connection, params};
use std::ops::Range;

/// Number of ticks in a row of the table.
const TICKS: u32 = 60;

/// Sum of the service times of the last ticks, until they are a minute.
#[derive(Debug, Default)]
pub(crate) struct ServiceMinute {
    ticks: u32,
    trial: u32,
    first_tick: i64,
    /// Sums by operation.
    sums: Vec<LatencyHistogram>,
}

impl ServiceMinute {
    /// Adds a tick with the counts of its operations. Writes a row for each operation when the minute is complete.
    pub fn add(
        &mut self,
        (trial, tick): (u32, i64),
        operations: &[ScriptCounts],
        (connection, encoder): (&Connection, &mut HistogramEncoder),
    ) -> rusqlite::Result<()> {
        if self.ticks == 0 || self.trial != trial || self.sums.len() != operations.len() {
            self.clear();
            (self.trial, self.first_tick) = (trial, tick);
            self.sums.resize_with(operations.len(), LatencyHistogram::new);
        }
        self.ticks += 1;
        for (sum, counts) in self.sums.iter_mut().zip(operations).filter(|it| it.1.service.count() > 0) {
            sum.merge(&counts.service);
        }
        if self.ticks < TICKS {
            return Ok(());
        }
        let mut statement =
            connection.prepare_cached("INSERT INTO service_minute VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        for (number, sum) in self.sums.iter().enumerate() {
            let encoded = encoder.encode(sum);
            statement.execute(params![
                trial,
                self.first_tick,
                tick,
                number as i64,
                to_sql_bits(encoded.count),
                Sum(encoded.sum),
                encoded.sum_of_squares,
                to_sql_bits(encoded.min),
                to_sql_bits(encoded.max),
                encoded.v2
            ])?;
        }
        self.clear();
        Ok(())
    }

    /// Forgets the ticks, as after a transaction that was rolled back. The next minute begins with the next tick.
    pub fn clear(&mut self) {
        self.ticks = 0;
        self.sums.iter_mut().filter(|it| it.count() > 0).for_each(LatencyHistogram::clear);
    }
}

impl Run {
    /// Sum of the service times of the ticks at these positions, by operation. Positions beyond the last tick are ignored.
    pub fn service_times(&self, trial: TrialId, positions: Range<usize>) -> Result<Vec<SparseHistogram>> {
        let operations = self.operations(trial)?.len();
        let ids = self.tick_ids(trial)?;
        let end = positions.end.min(ids.len());
        let ids = &ids[positions.start.min(end)..end];
        let mut sums: Vec<HistogramSum> =
            std::iter::repeat_with(HistogramSum::new).take(operations).collect();
        let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else {
            return Ok(sums.iter().map(SparseHistogram::from).collect());
        };
        let mut decoder = HistogramDecoder::new();
        let mut is_damaged = false;
        let mut add = |operation: i64, encoded: &model::EncodedHistogram| match get_mut(&mut sums, operation)
            .zip(decoder.decode(encoded).ok())
        {
            Some((sum, histogram)) => sum.add(&histogram),
            None => is_damaged = true,
        };
        let mut next = first;
        if self.has_table("service_minute")? {
            let sql =
                "SELECT first_tick, last_tick, operation, count, sum_ns, sum_of_squares, min_ns, max_ns, v2
                       FROM service_minute WHERE trial = ? AND first_tick >= ? AND last_tick <= ?
                       ORDER BY first_tick, operation";
            let minutes = self.query_all(sql, (trial.0, first, last), |row| {
                let (from, to): (i64, i64) = (row.get(0)?, row.get(1)?);
                Ok((from, to, row.get::<_, i64>(2)?, rows::encoded_histogram(row, 3)?))
            })?;
            for minute in minutes.chunk_by(|a, b| a.0 == b.0) {
                let (from, to, ..) = minute[0];
                // Rows that overlap are damaged, and would be counted twice.
                if from < next || to < from || minute.len() != operations {
                    return Err(Error::impossible(&self.path, "service_minute", Some(trial.0)));
                }
                self.add_seconds(ids, next..from, &mut add)?;
                minute.iter().for_each(|(_, _, operation, encoded)| add(*operation, encoded));
                next = to.saturating_add(1);
            }
        }
        self.add_seconds(ids, next..last.saturating_add(1), &mut add)?;
        if is_damaged {
            return Err(Error::impossible(&self.path, "histogram", Some(trial.0)));
        }
        Ok(sums.iter().map(SparseHistogram::from).collect())
    }

    /// Calls `add` with the stored service times of each tick in the range that belongs to the trial.
    fn add_seconds(
        &self,
        ids: &[i64],
        range: Range<i64>,
        add: &mut impl FnMut(i64, &model::EncodedHistogram),
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let sql = "SELECT tick, operation, count, sum_ns, sum_of_squares, min_ns, max_ns, v2
                   FROM histogram WHERE tick BETWEEN ? AND ? AND kind = ? ORDER BY tick";
        self.for_each(sql, (range.start, range.end - 1, HistogramKind::Service as i64), |row| {
            if ids.binary_search(&row.get(0)?).is_ok() {
                add(row.get(1)?, &rows::encoded_histogram(row, 2)?);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use model::Nanos;

    /// A transaction that is rolled back and repeated adds its ticks once.
    #[test]
    fn a_cleared_minute_begins_again() {
        let connection = Connection::open_in_memory().expect("memory is enough");
        let (_, sql) =
            schema::ADDITIONS.iter().find(|it| it.0 == "service_minute").expect("the table is known");
        connection.execute_batch(sql).expect("the statement is valid");
        let (mut minute, mut encoder) = (ServiceMinute::default(), HistogramEncoder::new());
        let mut operation: ScriptCounts = ScriptCounts::default();
        operation.service.record(Nanos(1000));
        let mut add = |minute: &mut ServiceMinute, trial, tick| {
            minute
                .add((trial, tick), std::slice::from_ref(&operation), (&connection, &mut encoder))
                .expect("it is added");
        };
        (1..60).for_each(|tick| add(&mut minute, 1, tick));
        minute.clear();
        (31..91).for_each(|tick| add(&mut minute, 1, tick));
        // The next trial begins before the next minute is complete.
        (91..100).for_each(|tick| add(&mut minute, 1, tick));
        (100..160).for_each(|tick| add(&mut minute, 2, tick));
        let mut statement = connection
            .prepare("SELECT trial, first_tick, last_tick, count FROM service_minute ORDER BY trial")
            .expect("the statement is valid");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let rows: Vec<(i64, i64, i64, i64)> =
            rows.and_then(Iterator::collect).expect("the table can be read");
        assert_eq!(rows, [(1, 31, 90, 60), (2, 100, 159, 60)]);
    }
}
