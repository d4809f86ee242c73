//! Detection of a log's format

use super::csv::begins_record;
use super::prefix::{DEFAULT_PREFIX, Prefix, RDS_PREFIX};
use super::{LogFormat, timestamp::timestamp};

/// Prefixes that are tried. The second one is Debian's default.
const PREFIXES: [&str; 3] = ["%m [%p] %q%u@%d ", DEFAULT_PREFIX, RDS_PREFIX];

/// Format of the log that begins with `head`; `None` if it is not known. `head` should contain several lines.
///
/// A log in the format `stderr` is detected only if it has a common prefix: PostgreSQL's default, Debian's default, or
/// that of Amazon RDS.
pub fn detect(head: &[u8]) -> Option<LogFormat> {
    let mut lines = head.split(|byte| *byte == b'\n').take(64);
    lines.find_map(line_format)
}

fn line_format(line: &[u8]) -> Option<LogFormat> {
    if line.starts_with(b"{\"timestamp\":") {
        return Some(LogFormat::Json);
    }
    if begins_record(line) {
        return Some(LogFormat::Csv);
    }
    let line = std::str::from_utf8(line).ok()?;
    timestamp(line.get(..19)?)?;
    let prefixes = PREFIXES.into_iter().map(|text| Prefix::new(text).expect("the prefix is valid"));
    let matching = |prefix: &Prefix| prefix.read(line, &mut prefix.captures()).is_some();
    prefixes.into_iter().find(matching).map(LogFormat::Stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_formats() {
        for (head, expected) in [
            ("{\"timestamp\":\"2026-11-26 03:13:00.761 UTC\",\"pid\":1}", Some("Json")),
            ("2026-11-26 03:13:00.869 UTC,\"u\",\"d\",1", Some("Csv")),
            ("2026-11-26 03:13:00.761 UTC,,,24448,,6b07a3bc.5f80,1,", Some("Csv")),
            ("noise\n2026-11-26 03:13:00.761 UTC [1] LOG:  a", Some("Stderr(Prefix(\"%m [%p] %q%u@%d \"))")),
            ("2026-11-26 03:13:00.761 UTC [1] u@d LOG:  a", Some("Stderr(Prefix(\"%m [%p] %q%u@%d \"))")),
            ("2026-11-26 03:13:00 UTC::@:[1]:LOG:  a", Some("Stderr(Prefix(\"%t:%r:%u@%d:[%p]:\"))")),
            ("2026-11-26 03:13:00.761 UTC <1> LOG:  a", None),
            ("", None),
        ] {
            let found = detect(head.as_bytes()).map(|format| format!("{format:?}"));
            assert_eq!(found.as_deref(), expected, "{head}");
        }
    }
}
