//! Start times of the requests in an access log

use crate::{AMMO_COLUMNS, LoggedMoment};
use model::row_table::Rows;

/// Request with the time at which its client sent it. Long logs have millions of requests, so the fields are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedRow {
    /// Nanoseconds since the Unix epoch.
    pub start: u64,
    pub row: u32,
    /// Recorded duration in microseconds, at most 71 minutes; [`TimedRow::NO_DURATION`] if it is unknown.
    pub duration_us: u32,
}

impl TimedRow {
    pub const NO_DURATION: u32 = u32::MAX;

    /// Recorded duration in nanoseconds; `None` if it is unknown.
    pub fn duration_ns(&self) -> Option<u64> {
        (self.duration_us != TimedRow::NO_DURATION).then_some(u64::from(self.duration_us) * 1000)
    }
}

const SECOND: u64 = 1_000_000_000;

/// Start times of the rows that have a time, in order of time.
///
/// If all times are whole seconds, the requests of a second are distributed over it, in the order of their lines. A
/// server that logs the end of a request started it earlier by the duration.
pub fn start_times(rows: &Rows, moment: LoggedMoment) -> Vec<TimedRow> {
    let column = |name: &str| AMMO_COLUMNS.iter().position(|it| *it == name).expect("a column");
    let (time_column, duration_column) = (column("time_ns"), column("duration_ns"));
    let mut all = Vec::new();
    for (row, fields) in (0..).zip(rows.iter()) {
        let mut fields = fields.skip(time_column);
        let Some(start) = fields.next().and_then(parse) else { continue };
        let duration = fields.nth(duration_column - time_column - 1).and_then(parse);
        let duration_us = duration.map_or(TimedRow::NO_DURATION, |nanos| {
            u32::try_from(nanos / 1000).unwrap_or(u32::MAX).min(TimedRow::NO_DURATION - 1)
        });
        all.push(TimedRow { start, row, duration_us });
    }
    let key = |it: &TimedRow| (it.start, it.row);
    if all.iter().all(|it| it.start.is_multiple_of(SECOND)) {
        all.sort_unstable_by_key(key);
        for second in all.chunk_by_mut(|a, b| a.start == b.start) {
            let count = second.len() as u64;
            for (n, request) in (0..).zip(second) {
                request.start += SECOND * n / count;
            }
        }
    }
    if moment == LoggedMoment::End {
        for request in &mut all {
            request.start = request.start.saturating_sub(request.duration_ns().unwrap_or(0));
        }
    }
    all.sort_unstable_by_key(key);
    all
}

fn parse(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogFormat, pack};
    use model::plan::FeedFormat;
    use std::sync::Arc;

    /// Start of each request in milliseconds after the second 1000, with the number of its row.
    fn check(format: &str, text: &str, expected: &[(i64, u32)]) {
        let format = LogFormat::parse(format).expect("the format is valid");
        let packing = pack(FeedFormat::Access, None, Some(&format), &mut text.as_bytes(), Vec::new());
        let (bytes, layout) = packing.expect("the log is valid").finish().expect("there is memory");
        let rows = Rows::new(Arc::new(bytes), layout);
        let times = start_times(&rows, format.moment);
        let found: Vec<(i64, u32)> =
            times.iter().map(|it| (it.start as i64 / 1_000_000 - 1_000_000, it.row)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn distributes_requests_over_their_second() {
        let text = "1000 GET /\n1002 GET /\n1000 GET /\n1000 GET /\n1000 GET /\n1002 GET /\n";
        let expected = [(0, 0), (250, 2), (500, 3), (750, 4), (2000, 1), (2500, 5)];
        check("%{sec}t %r", text, &expected);
        check("$msec $request", text, &expected);
        check("%{sec}t %r", "1000 GET /\n", &[(0, 0)]);
        // Times with a higher resolution are not changed.
        check(
            "$msec $request",
            "1000.000 GET /\n1000.000 GET /\n1000.001 GET /\n",
            &[(0, 0), (0, 1), (1, 2)],
        );
    }

    #[test]
    fn subtracts_durations_from_times_of_ends() {
        let text = "1000.500 0.100 GET /\n1000.600 0.600 GET /\n1000.700 - GET /\n";
        check("$msec $request_time $request", text, &[(0, 1), (400, 0), (700, 2)]);
        let text = "1000 0.100 GET /\n1000 0.800 GET /\n";
        check("$msec $request_time $request", text, &[(-300, 1), (-100, 0)]);
        // Apache logs the start, although it writes the line at the end.
        check("%{msec}t %{ms}T %r", "1000500 100 GET /\n1000000 600 GET /\n", &[(0, 1), (500, 0)]);
        check("%{end:msec}t %{ms}T %r", "1000500 100 GET /\n", &[(400, 0)]);
    }
}
