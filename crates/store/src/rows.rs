//! Conversion between types of the crate `model` and rows of a run file

use model::{AnswerSizes, Code, EncodedHistogram, EventKind, Nanos, SizeHistogram, SizeUnit, StatementKind};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};

/// Quantity that a stored histogram measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramKind {
    Response = 0,
    Service = 1,
    Statement = 2,
    SendLag = 3,
    BacklogWait = 4,
    Connects = 5,
}

impl HistogramKind {
    pub fn from_number(number: i64) -> Option<HistogramKind> {
        use HistogramKind::*;
        [Response, Service, Statement, SendLag, BacklogWait, Connects]
            .into_iter()
            .find(|it| *it as i64 == number)
    }
}

/// Class of the failures that a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    Failed = 0,
    Unknown = 1,
    Refused = 2,
}

/// Value of the column `operation` in rows that belong to no operation.
pub const NO_OPERATION: i64 = -1;

/// Converts an unsigned number to the signed integer with the same 64 bits, because SQLite has no unsigned integers.
pub fn to_sql_bits(value: u64) -> i64 {
    value as i64
}

pub fn from_sql_bits(bits: i64) -> u64 {
    bits as u64
}

/// Upper bounds of counts and durations, so that sums over all seconds of a trial fit into 64 bits.
///
/// The bounds are about 10¹² transactions per second, and a duration of more than a year in nanoseconds.
const MAX_COUNT: i64 = 1 << 40;
const MAX_NANOS: i64 = 1 << 55;
pub const NANOS_MAX: Nanos = Nanos(MAX_NANOS as u64);
/// Last millisecond of the year 9999.
const MAX_UNIX_MS: i64 = 253_402_300_799_999;
/// Upper bound of the sum of one distribution, in nanoseconds.
const MAX_SUM: u128 = 1 << 100;

/// Count in column `at`.
pub fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    check_range(at, row.get(at)?, MAX_COUNT)
}

/// Time or duration in column `at`, nanoseconds.
pub fn nanos(row: &Row<'_>, at: usize) -> rusqlite::Result<Nanos> {
    check_range(at, row.get(at)?, MAX_NANOS).map(Nanos)
}

/// Unix time in column `at`, milliseconds.
pub fn unix_ms(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    check_range(at, row.get(at)?, MAX_UNIX_MS)
}

/// Value as in [`nanos`], for a column that may be null.
pub fn optional_nanos(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Nanos>> {
    let value: Option<i64> = row.get(at)?;
    value.map(|it| check_range(at, it, MAX_NANOS).map(Nanos)).transpose()
}

/// Value as in [`unix_ms`], for a column that may be null.
pub fn optional_unix_ms(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(at)?;
    value.map(|it| check_range(at, it, MAX_UNIX_MS)).transpose()
}

fn check_range(at: usize, value: i64, greatest: i64) -> rusqlite::Result<u64> {
    let wrong = || rusqlite::Error::IntegralValueOutOfRange(at, value);
    u64::try_from(value).ok().filter(|_| value <= greatest).ok_or_else(wrong)
}

/// Maximum number of seconds that may be missing from a trial because of a slow disk.
const MAX_GAP_SECONDS: u64 = 3600;

/// True if `number` is valid for the stored second at position `place`; `next` is the smallest allowed number.
pub fn is_second(number: u64, place: u64, next: u64) -> bool {
    (next..=place + MAX_GAP_SECONDS).contains(&number)
}

/// Sum in nanoseconds. It is stored as an integer if it fits into 64 bits, otherwise as decimal digits. SQL can add
/// both forms.
pub struct Sum(pub u128);

impl ToSql for Sum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(match i64::try_from(self.0) {
            Ok(it) => Value::Integer(it),
            Err(_) => Value::Text(self.0.to_string()),
        }))
    }
}

impl FromSql for Sum {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Sum> {
        match value {
            ValueRef::Integer(it) => u128::try_from(it).map(Sum).map_err(|_| FromSqlError::OutOfRange(it)),
            _ => value.as_str()?.parse().map(Sum).map_err(|_| FromSqlError::InvalidType),
        }
    }
}

/// Histogram in six columns from column `at`: count, sum, sum of squares, min, max, v2.
pub fn encoded_histogram(row: &Row<'_>, at: usize) -> rusqlite::Result<EncodedHistogram> {
    let sum = row.get::<_, Sum>(at + 1)?.0;
    let sum_of_squares: f64 = row.get(at + 2)?;
    if sum > MAX_SUM || !sum_of_squares.is_finite() {
        return Err(rusqlite::Error::IntegralValueOutOfRange(at + 1, i64::MAX));
    }
    Ok(EncodedHistogram {
        count: count(row, at)?,
        sum,
        sum_of_squares,
        min: from_sql_bits(row.get(at + 3)?),
        max: from_sql_bits(row.get(at + 4)?),
        v2: row.get(at + 5)?,
    })
}

/// Response sizes or row counts in seven columns from column `at`: operation, command, statement, sum, min, max,
/// buckets. The statement is null for HTTP responses.
///
/// Returns `None` for impossible values.
pub fn answer_sizes(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<AnswerSizes>> {
    let (operation, command) = (row.get(at)?, row.get(at + 1)?);
    let unit = match row.get::<_, Option<String>>(at + 2)?.as_deref() {
        None => Some(SizeUnit::Bytes),
        Some(name) => statement_kind(name).map(SizeUnit::Rows),
    };
    let sum = row.get::<_, Sum>(at + 3)?.0;
    let (min, max) = (from_sql_bits(row.get(at + 4)?), from_sql_bits(row.get(at + 5)?));
    let Some(packed) = unpack_counts(&row.get::<_, Vec<u8>>(at + 6)?) else { return Ok(None) };
    let (pairs, rest) = packed.as_chunks::<2>();
    let buckets = pairs.iter().map(|[at, count]| (usize::try_from(*at).unwrap_or(usize::MAX), *count));
    let sizes = SizeHistogram::from_parts(buckets, sum, min, max).filter(|_| rest.is_empty());
    Ok(unit.zip(sizes).map(|(unit, sizes)| AnswerSizes { operation, command, unit, sizes }))
}

/// Queries for response sizes and row counts, each with the table that it requires. The columns are the tick, followed
/// by the columns of [`answer_sizes`].
pub const ANSWER_QUERIES: [(&str, &str); 2] = [
    (
        "answer",
        "SELECT tick, operation, command, NULL, sum_bytes, min_bytes, max_bytes, buckets FROM answer
         WHERE tick BETWEEN ? AND ? ORDER BY tick, operation, command",
    ),
    (
        "row_count",
        "SELECT tick, operation, command, statement, sum_rows, min_rows, max_rows, buckets FROM row_count
         WHERE tick BETWEEN ? AND ? ORDER BY tick, operation, command",
    ),
];

/// Name of a statement kind in the file.
pub fn statement_name(kind: StatementKind) -> &'static str {
    match kind {
        StatementKind::Select => "select",
        StatementKind::Insert => "insert",
        StatementKind::Update => "update",
        StatementKind::Delete => "delete",
        StatementKind::Merge => "merge",
        StatementKind::Copy => "copy",
        StatementKind::Cursor => "cursor",
        StatementKind::Queue => "queue",
        StatementKind::Mixed => "mixed",
    }
}

fn statement_kind(name: &str) -> Option<StatementKind> {
    StatementKind::ALL.into_iter().find(|it| statement_name(*it) == name)
}

/// Parses a code in the text form of `Code`.
pub fn code(text: &str) -> Option<Code> {
    if let Some(errno) = text.strip_prefix("net ") {
        return errno.parse().ok().map(Code::Net);
    }
    if let Some(status) = text.strip_prefix("HTTP ") {
        return status.parse().ok().map(Code::Http);
    }
    if let Some(check) = [Code::TextNotFound, Code::TextFound, Code::CaptureNotFound]
        .into_iter()
        .find(|it| it.to_string() == text)
    {
        return Some(check);
    }
    text.as_bytes().try_into().ok().map(Code::SqlState)
}

const EVENTS: [(EventKind, &str); 11] = [
    (EventKind::Deadlock, "deadlock"),
    (EventKind::TooManyConnections, "too_many_connections"),
    (EventKind::SlowStatement, "slow_statement"),
    (EventKind::Fatal, "fatal"),
    (EventKind::Error, "error"),
    (EventKind::Lifecycle, "lifecycle"),
    (EventKind::Fault, "fault"),
    (EventKind::Reverted, "healed"),
    (EventKind::Promoted, "promoted"),
    (EventKind::Rejoined, "rejoined"),
    (EventKind::Other, "other"),
];

pub fn event_name(kind: EventKind) -> &'static str {
    EVENTS.iter().find(|(it, _)| *it == kind).expect("every kind of event has a row").1
}

pub fn event_kind(name: &str) -> Option<EventKind> {
    EVENTS.iter().find(|(_, it)| *it == name).map(|(kind, _)| *kind)
}

/// Encodes numbers in LEB128: seven bits per byte, the lowest bits first.
pub fn pack_counts(all: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(all.len() * 2);
    for &number in all {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

/// Decodes the result of [`pack_counts`]; `None` for invalid bytes.
pub fn unpack_counts(bytes: &[u8]) -> Option<Vec<u64>> {
    let (mut all, mut number, mut shift) = (Vec::new(), 0u64, 0);
    for &byte in bytes {
        if shift > 63 || (shift == 63 && byte > 1) {
            return None;
        }
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            if number > MAX_COUNT as u64 {
                return None;
            }
            all.push(number);
            (number, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        let network = [Code::Net(104), Code::Net(65_535), Code::Http(503)];
        for failure in
            [Code::SqlState(*b"40P01"), Code::TEXT_NOT_FOUND, Code::TextFound, Code::CAPTURE_NOT_FOUND]
                .into_iter()
                .chain(network)
        {
            assert_eq!(code(&failure.to_string()), Some(failure));
        }
        for text in ["", "net", "net x", "HTTP 70000", "4000", "400011"] {
            assert_eq!(code(text), None, "{text:?}");
        }
    }

    #[test]
    fn counts_round_trip() {
        for all in [vec![], vec![0], vec![127, 128, 300, 0, 1 << 40], vec![1; 1000]] {
            assert_eq!(unpack_counts(&pack_counts(&all)), Some(all));
        }
        for bytes in
            [vec![0x80], vec![0xff; 10], vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert_eq!(unpack_counts(&bytes), None, "{bytes:?}");
        }
    }
}
