//! Comparison of responses to replayed requests with the responses that were recorded.

use crate::{Code, SizeHistogram};
use serde::{Deserialize, Serialize};

/// Status and size of an HTTP response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Bytes of the body. A log may also count the headers.
    pub bytes: u64,
}

/// Result of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementAnswer {
    pub error: Option<Code>,
    /// Rows that it returned or changed; `None` if the number is unknown.
    pub rows: Option<u64>,
}

impl StatementAnswer {
    /// SQLSTATE of a recorded error whose SQLSTATE is unknown.
    pub const UNKNOWN_ERROR: Code = Code::SqlState(*b"?????");

    /// True if a replayed statement had the error of this recorded one, or both succeeded.
    pub fn has_same_error(&self, measured: Option<Code>) -> bool {
        self.error == measured || (self.error == Some(StatementAnswer::UNKNOWN_ERROR) && measured.is_some())
    }
}

/// Counts from the comparison of one operation's responses with the recorded responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCounts {
    /// Index of the operation.
    pub operation: u16,
    /// Number of responses whose status is compared; `other_status` is the number of responses whose status differs
    /// from the recorded status. The status of a statement is its error or success.
    pub answers: u64,
    pub other_status: u64,
    /// Number of statements that failed although they succeeded in the recording, and vice versa. Both are part of
    /// `other_status`.
    pub failed: u64,
    pub succeeded: u64,
    /// Number of successful responses that are much smaller than recorded; `larger` is the number of responses that are
    /// much larger. For statements, any difference counts.
    pub smaller: u64,
    pub larger: u64,
    /// Sizes of the successful responses in bytes, or in rows for statements; `recorded` has the recorded sizes for the
    /// same requests.
    pub measured: SizeHistogram,
    pub recorded: SizeHistogram,
}

/// Figures derived from [`ReplayCounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFigures {
    pub operation: u16,
    pub answers: u64,
    pub other_status: u64,
    #[serde(default)]
    pub failed: u64,
    #[serde(default)]
    pub succeeded: u64,
    /// Number of successful responses whose sizes are compared.
    pub sized: u64,
    pub smaller: u64,
    pub larger: u64,
    /// Median size of the responses in bytes, or in rows for statements; `recorded` is the median of the recorded sizes.
    pub measured: u64,
    pub recorded: u64,
}

/// Maximum size of the response headers, in bytes. Smaller differences between sizes are ignored, because a log may
/// count the headers.
const HEADERS: u64 = 1024;
/// Statuses that a replay does not reproduce, because the log does not contain the request headers for a range or a
/// cached copy.
const UNREPEATABLE: [u16; 2] = [206, 304];

impl ReplayFigures {
    /// Number of results that differ from the recorded ones.
    pub fn differing(&self) -> u64 {
        self.other_status + self.smaller + self.larger
    }
}

impl ReplayCounts {
    pub fn new(operation: u16) -> ReplayCounts {
        ReplayCounts {
            operation,
            answers: 0,
            other_status: 0,
            failed: 0,
            succeeded: 0,
            smaller: 0,
            larger: 0,
            measured: SizeHistogram::new(),
            recorded: SizeHistogram::new(),
        }
    }

    /// Counts one response without allocation.
    pub fn record(&mut self, recorded: Answer, measured: Answer) {
        if UNREPEATABLE.contains(&recorded.status) {
            return;
        }
        self.answers += 1;
        self.other_status += u64::from(recorded.status != measured.status);
        if recorded.status == measured.status && (200..300).contains(&measured.status) {
            let much_larger = |one: u64, other: u64| one > other.saturating_mul(2).saturating_add(HEADERS);
            self.smaller += u64::from(much_larger(recorded.bytes, measured.bytes));
            self.larger += u64::from(much_larger(measured.bytes, recorded.bytes));
            self.measured.record(measured.bytes);
            self.recorded.record(recorded.bytes);
        }
    }

    /// Counts the result of one statement without allocation.
    pub fn record_statement(&mut self, recorded: StatementAnswer, measured: StatementAnswer) {
        self.answers += 1;
        self.other_status += u64::from(!recorded.has_same_error(measured.error));
        self.failed += u64::from(recorded.error.is_none() && measured.error.is_some());
        self.succeeded += u64::from(recorded.error.is_some() && measured.error.is_none());
        if let (None, None, Some(before), Some(now)) =
            (recorded.error, measured.error, recorded.rows, measured.rows)
        {
            self.smaller += u64::from(now < before);
            self.larger += u64::from(now > before);
            self.measured.record(now);
            self.recorded.record(before);
        }
    }

    pub fn merge(&mut self, other: &ReplayCounts) {
        self.answers += other.answers;
        self.other_status += other.other_status;
        self.failed += other.failed;
        self.succeeded += other.succeeded;
        self.smaller += other.smaller;
        self.larger += other.larger;
        self.measured.merge(&other.measured);
        self.recorded.merge(&other.recorded);
    }

    pub fn clear(&mut self) {
        (self.answers, self.other_status, self.smaller, self.larger) = (0, 0, 0, 0);
        (self.failed, self.succeeded) = (0, 0);
        self.measured.clear();
        self.recorded.clear();
    }

    /// Figures derived from the counts; `None` without responses.
    pub fn figures(&self) -> Option<ReplayFigures> {
        let median = |it: &SizeHistogram| it.quantile(0.5).unwrap_or_default();
        (self.answers > 0).then(|| ReplayFigures {
            operation: self.operation,
            answers: self.answers,
            other_status: self.other_status,
            failed: self.failed,
            succeeded: self.succeeded,
            sized: self.measured.count(),
            smaller: self.smaller,
            larger: self.larger,
            measured: median(&self.measured),
            recorded: median(&self.recorded),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_results_of_statements_with_recorded_ones() {
        let error = |state: &[u8; 5]| StatementAnswer { error: Some(Code::SqlState(*state)), rows: None };
        let rows = |rows| StatementAnswer { error: None, rows: Some(rows) };
        let unknown = StatementAnswer::default();
        for (recorded, measured, expected) in [
            (rows(3), rows(3), [1, 0, 1, 0, 0]),
            (rows(3), rows(2), [1, 0, 1, 1, 0]),
            (rows(0), rows(1), [1, 0, 1, 0, 1]),
            (unknown, rows(1), [1, 0, 0, 0, 0]),
            (rows(1), unknown, [1, 0, 0, 0, 0]),
            (error(b"23505"), error(b"23505"), [1, 0, 0, 0, 0]),
            (error(b"?????"), error(b"23505"), [1, 0, 0, 0, 0]),
            (error(b"23505"), error(b"40001"), [1, 1, 0, 0, 0]),
            (error(b"23505"), rows(1), [1, 1, 0, 0, 0]),
            (error(b"?????"), rows(1), [1, 1, 0, 0, 0]),
            (rows(1), error(b"23505"), [1, 1, 0, 0, 0]),
        ] {
            let mut counts = ReplayCounts::new(0);
            counts.record_statement(recorded, measured);
            let found = counts
                .figures()
                .map_or([0; 5], |it| [it.answers, it.other_status, it.sized, it.smaller, it.larger]);
            assert_eq!(found, expected, "{recorded:?} {measured:?}");
        }
    }

    #[test]
    fn compares_answers_with_recorded_ones() {
        let check = |recorded: (u16, u64), measured: (u16, u64), expected: [u64; 5]| {
            let answer = |(status, bytes)| Answer { status, bytes };
            let mut counts = ReplayCounts::new(0);
            counts.record(answer(recorded), answer(measured));
            let found = counts
                .figures()
                .map_or([0; 5], |it| [it.answers, it.other_status, it.sized, it.smaller, it.larger]);
            assert_eq!(found, expected, "{recorded:?} {measured:?}");
            let mut twice = counts.clone();
            twice.merge(&counts);
            assert_eq!((twice.answers, twice.smaller), (2 * counts.answers, 2 * counts.smaller));
            twice.clear();
            assert_eq!(twice.figures(), None);
        };
        check((200, 34_000), (200, 34_000), [1, 0, 1, 0, 0]);
        check((200, 34_000), (200, 2_000), [1, 0, 1, 1, 0]);
        check((200, 10_000), (200, 40_000), [1, 0, 1, 0, 1]);
        // Sizes of a log that counts headers.
        check((200, 500), (200, 150), [1, 0, 1, 0, 0]);
        check((200, 900), (200, 0), [1, 0, 1, 0, 0]);
        check((302, 500), (200, 34_000), [1, 1, 0, 0, 0]);
        check((404, 34_000), (404, 0), [1, 0, 0, 0, 0]);
        // Requests of browsers for parts of files, or for files of which the browser has a cached copy.
        check((304, 0), (200, 34_000), [0; 5]);
        check((206, 100), (200, 34_000), [0; 5]);
        check((200, u64::MAX), (200, u64::MAX), [1, 0, 1, 0, 0]);
    }
}
