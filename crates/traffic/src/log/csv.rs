//! Reader of the format `csvlog`

use super::entry::{Entry, Severity, known, sqlstate, transaction};
use super::lines::Lines;
use super::timestamp::timestamp;
use super::{Sink, SkipKind};
use std::io::{self, BufRead};

/// Number of columns in the oldest versions whose columns have the same places: PostgreSQL 9.0 has 23. Later versions
/// append `backend_type` (13), `leader_pid` and `query_id` (14).
const COLUMNS_MIN: usize = 23;

pub(super) fn read(lines: &mut Lines<impl BufRead>, sink: Sink<'_>) -> io::Result<()> {
    let mut record = Vec::new();
    let (mut first_line, mut quotes) = (0, 0);
    loop {
        let line = lines.next()?.map(|(_, line)| line.to_vec());
        // Quotes within a quoted field are doubled, so no text in a field can look like the head of a record.
        let is_cut_off = line.as_deref().is_some_and(begins_record);
        if !record.is_empty() && (line.is_none() || is_cut_off) {
            sink(first_line, Err(SkipKind::Malformed))?;
            record.clear();
        }
        let Some(line) = line else { return Ok(()) };
        if record.is_empty() {
            (first_line, quotes) = (lines.number(), 0);
        } else {
            record.push(b'\n');
        }
        record.extend_from_slice(&line);
        quotes += line.iter().filter(|byte| **byte == b'"').count();
        if quotes.is_multiple_of(2) {
            if !record.is_empty() {
                sink(first_line, parse(&record))?;
            }
            record.clear();
        }
    }
}

/// True if a line begins with a timestamp and the start of the column `user_name`.
pub(super) fn begins_record(line: &[u8]) -> bool {
    let Some(comma) = line.iter().take(48).position(|byte| *byte == b',') else { return false };
    let is_time = std::str::from_utf8(&line[..comma]).is_ok_and(|text| timestamp(text).is_some());
    is_time
        && match &line[comma + 1..] {
            [b',', ..] => true,
            [b'"', next, ..] => *next != b'"',
            _ => false,
        }
}

/// Reads a complete record.
fn parse(record: &[u8]) -> Result<Entry, SkipKind> {
    let record = std::str::from_utf8(record).map_err(|_| SkipKind::NotUtf8)?;
    let fields = fields(record).filter(|fields| fields.len() >= COLUMNS_MIN).ok_or(SkipKind::Malformed)?;
    let text = |index: usize| Some(fields[index].clone()).filter(|text| !text.is_empty());
    Ok(Entry {
        time: timestamp(&fields[0]).ok_or(SkipKind::Malformed)?,
        user: known(&fields[1]),
        database: known(&fields[2]),
        session: text(5).or_else(|| text(3)).ok_or(SkipKind::Malformed)?,
        transaction: transaction(&fields[9]),
        severity: Severity::from(&*fields[11]),
        sqlstate: sqlstate(&fields[12]),
        message: fields[13].clone(),
        detail: text(14),
        context: text(18),
        statement: text(19),
        application: known(&fields[22]),
    })
}

/// Splits a record; `None` if a quoted field is followed by other text.
fn fields(record: &str) -> Option<Vec<String>> {
    let mut fields = Vec::with_capacity(26);
    let mut rest = record;
    loop {
        let mut field = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let (part, after) = quoted.split_once('"')?;
                field.push_str(part);
                match after.strip_prefix('"') {
                    Some(next) => {
                        field.push('"');
                        quoted = next;
                    }
                    None => {
                        rest = after;
                        break;
                    }
                }
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            field.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return rest.is_empty().then_some(fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_records() {
        for (record, expected) in [
            ("a,,\"b\"", Some(&["a", "", "b"][..])),
            ("\"it said \"\"no\"\",\nand left\",", Some(&["it said \"no\",\nand left", ""])),
            ("\"\"", Some(&[""])),
            ("\"a\"b,c", None),
            ("\"a", None),
        ] {
            let expected = expected.map(|fields| fields.iter().map(|&field| field.to_owned()).collect());
            assert_eq!(fields(record), expected, "{record}");
        }
    }

    /// Number of entries, and the lines that are malformed.
    fn check(text: &str) -> (usize, Vec<u64>) {
        let (mut entries, mut malformed) = (0, Vec::new());
        let result = read(&mut Lines::new(text.as_bytes()), &mut |line, entry| {
            match entry {
                Ok(_) => entries += 1,
                Err(_) => malformed.push(line),
            }
            Ok(())
        });
        result.expect("memory can be read");
        (entries, malformed)
    }

    #[test]
    fn continues_after_a_record_that_is_cut_off() {
        let record = |message: &str| {
            format!(
                "2024-01-01 00:00:00.000 UTC,\"u\",\"d\",1,,6.1,1,,,,0,LOG,00000,{message},,,,,,,,,\"psql\",\"client backend\",,0\n"
            )
        };
        let whole = record("\"statement: SELECT\n1\"");
        assert_eq!(check(&(whole.clone() + &whole)), (2, vec![]));
        let cut = "2024-01-01 00:00:00.000 UTC,\"u\",\"d\",1,,6.1,1,,,,0,LOG,00000,\"statement: SEL\n";
        assert_eq!(check(&(cut.to_owned() + &whole)), (1, vec![1]));
        assert_eq!(check(&(whole.clone() + cut)), (1, vec![3]));
        assert_eq!(check(&(whole + "a,b\n")), (1, vec![3]));
    }
}
