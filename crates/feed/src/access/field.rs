//! Meanings of the variables in a log format

use super::time_pattern::TimePattern;

/// Meaning of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Field that a replay does not use.
    Unused,
    /// Unused field with elements that are separated by `, ` and ` : `, as nginx writes for several upstream servers.
    UnusedList,
    /// Captured headers in braces. If there are none, HAProxy also omits the blank after them.
    Captured,
    /// Method, target and protocol.
    RequestLine,
    Method,
    /// Path with the query.
    Target,
    /// Path without the query, with percent-encoded characters decoded.
    DecodedPath,
    /// `?` if there is a query, otherwise nothing.
    QueryMark,
    /// Query without `?`.
    Query,
    /// Query with `?`, or nothing.
    MarkedQuery,
    Status,
    /// Size of the body.
    BodyBytes,
    /// Size of the response with its headers.
    AllBytes,
    /// Time, or a part of it.
    Time(TimePattern),
    /// Duration of the request in units of this many nanoseconds.
    Duration(u64),
    /// Request header of this name.
    Header(String),
}

/// Time at which a server logs the time of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoggedMoment {
    /// The server received the request.
    #[default]
    Start,
    /// The server sent the end of the response.
    End,
}

/// Units of durations, in nanoseconds.
const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

const COMMON_TIME: &str = "%d/%b/%Y:%H:%M:%S %z";

fn fixed_pattern(pattern: &str) -> Field {
    Field::Time(TimePattern::new(pattern).expect("the pattern is valid"))
}

/// Meaning of nginx's variable `$name`. Source: the modules' lists of embedded variables.
pub(super) fn nginx(name: &str) -> Field {
    match name {
        "request" => Field::RequestLine,
        "request_method" => Field::Method,
        "request_uri" => Field::Target,
        "uri" | "document_uri" => Field::DecodedPath,
        "is_args" => Field::QueryMark,
        "args" | "query_string" => Field::Query,
        "status" => Field::Status,
        "body_bytes_sent" => Field::BodyBytes,
        "bytes_sent" => Field::AllBytes,
        "time_local" => fixed_pattern(COMMON_TIME),
        "time_iso8601" => fixed_pattern("%Y-%m-%dT%H:%M:%S%z"),
        "msec" => fixed_pattern("%s"),
        "request_time" => Field::Duration(SECOND),
        _ if name.starts_with("upstream_") => Field::UnusedList,
        _ => match name.strip_prefix("http_") {
            Some(header) => Field::Header(header_name(header)),
            None => Field::Unused,
        },
    }
}

/// Name of a header in nginx's spelling, such as `User-Agent` for `user_agent`.
fn header_name(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    name.split('_').map(word).collect::<Vec<_>>().join("-")
}

/// Meaning of Apache's specification `%{argument}letter`, and the moment if it is a time. The error is an unknown
/// specification of strftime. Source: mod_log_config, "Custom Log Formats".
pub(super) fn apache(
    argument: Option<&str>,
    letter: char,
    is_original: bool,
) -> Result<(Field, Option<LoggedMoment>), String> {
    Ok(match (letter, argument) {
        ('t', argument) => {
            let argument = argument.unwrap_or("");
            let (moment, pattern) = match (argument.strip_prefix("begin"), argument.strip_prefix("end")) {
                (_, Some(rest)) => (LoggedMoment::End, rest.strip_prefix(':').unwrap_or(rest)),
                (Some(rest), _) => (LoggedMoment::Start, rest.strip_prefix(':').unwrap_or(rest)),
                _ => (LoggedMoment::Start, argument),
            };
            let pattern = match pattern {
                "" => TimePattern::new(&format!("[{COMMON_TIME}]"))?,
                "sec" => TimePattern::unix_units(SECOND),
                "msec" => TimePattern::unix_units(MILLISECOND),
                "usec" => TimePattern::unix_units(MICROSECOND),
                "msec_frac" | "usec_frac" => TimePattern::fraction(),
                pattern => TimePattern::new(pattern)?,
            };
            (Field::Time(pattern), Some(moment))
        }
        ('r', _) => (Field::RequestLine, None),
        ('m', _) => (Field::Method, None),
        ('U', _) => (Field::DecodedPath, None),
        ('q', _) => (Field::MarkedQuery, None),
        // The original status of a redirected request is not the one that the client received.
        ('s', _) if is_original => (Field::Unused, None),
        ('s', _) => (Field::Status, None),
        ('b' | 'B', _) => (Field::BodyBytes, None),
        ('O', _) => (Field::AllBytes, None),
        ('D', _) => (Field::Duration(MICROSECOND), None),
        ('T', unit) => {
            let unit = match unit {
                Some("ms") => MILLISECOND,
                Some("us") => MICROSECOND,
                _ => SECOND,
            };
            (Field::Duration(unit), None)
        }
        ('i', Some(name)) => (Field::Header(name.to_owned()), None),
        _ => (Field::Unused, None),
    })
}

/// Meaning of HAProxy's variable `%name`. Source: HAProxy's configuration manual, section 8.2.6.
pub(super) fn haproxy(name: &str) -> Field {
    match name {
        "r" => Field::RequestLine,
        "HM" => Field::Method,
        "HU" | "HPO" | "HP" => Field::Target,
        "HQ" => Field::MarkedQuery,
        "ST" => Field::Status,
        "B" => Field::AllBytes,
        "t" | "tr" => fixed_pattern("%d/%b/%Y:%H:%M:%S.%N"),
        "T" | "trg" | "trl" | "Tl" => fixed_pattern(COMMON_TIME),
        "Ts" => fixed_pattern("%s"),
        "ms" => Field::Time(TimePattern::fraction()),
        "hr" | "hs" => Field::Captured,
        "Ta" | "Tt" => Field::Duration(MILLISECOND),
        _ => Field::Unused,
    }
}
