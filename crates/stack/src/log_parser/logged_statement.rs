//! Statements in PostgreSQL's log, with their values
//!
//! Unlike the other parsers, this parser does not mask values. The statements are used for planning only; they are
//! neither shown nor stored.

use super::postgres::split_prefix;

/// Statement as a client executed it.
#[derive(Clone, PartialEq)]
pub struct LoggedStatement {
    /// Text of the statement; it contains `$1` if the values were sent separately.
    pub text: String,
    /// Parameter values in text form; `None` is NULL.
    pub values: Vec<Option<String>>,
    pub millis: f64,
    /// Process id of the server process.
    pub pid: u32,
}

/// Masks values, because only the server may see them.
impl std::fmt::Debug for LoggedStatement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} values, {} ms)", super::mask_values(&self.text), self.values.len(), self.millis)
    }
}

/// Parses the output of `log_min_duration_statement = 0`, in English.
pub fn parse_logged_statements(log: &str) -> Vec<LoggedStatement> {
    let mut all: Vec<LoggedStatement> = Vec::new();
    // True if continuation and detail lines belong to the last statement.
    let mut open = false;
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix('\t') {
            if let Some(statement) = all.last_mut().filter(|_| open) {
                statement.text.push('\n');
                statement.text.push_str(rest);
            }
            continue;
        }
        let Some((head, text)) = split_prefix(line) else {
            open = false;
            continue;
        };
        let detail = text.strip_prefix("parameters: ").or(text.strip_prefix("Parameters: "));
        if let (Some(values), "DETAIL", true) = (detail, head.severity.as_str(), open) {
            if let Some(statement) = all.last_mut().filter(|it| it.pid == head.pid) {
                statement.values = parse_parameters(values);
            }
            open = false;
            continue;
        }
        let executed = parse_duration_line(text, head.pid).filter(|_| head.severity == "LOG");
        open = executed.is_some();
        all.extend(executed);
    }
    // The text of a statement may begin on a continuation line. A statement without text is removed.
    all.retain(|it| !it.text.is_empty());
    all
}

/// Parses `duration: 5.520 ms  execute P_0: select 1`.
fn parse_duration_line(text: &str, pid: u32) -> Option<LoggedStatement> {
    let (millis, rest) = text.strip_prefix("duration: ")?.split_once(" ms  ")?;
    let text = match rest.strip_prefix("statement: ") {
        Some(it) => it,
        // The text after the name is the prepared statement. Names with a colon are not supported.
        None => rest.strip_prefix("execute ")?.split_once(": ")?.1,
    };
    let millis = millis.parse().ok().filter(|it: &f64| it.is_finite())?;
    Some(LoggedStatement { text: text.to_owned(), values: Vec::new(), millis, pid })
}

/// Parses `$1 = 'it''s', $2 = NULL`.
fn parse_parameters(text: &str) -> Vec<Option<String>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((_, value)) = rest.split_once(" = ") {
        let Some(quoted) = value.strip_prefix('\'') else {
            all.push(None);
            rest = value.split_once(", ").map_or("", |it| it.1);
            continue;
        };
        let mut out = String::new();
        let mut letters = quoted.char_indices().peekable();
        rest = "";
        while let Some((at, letter)) = letters.next() {
            if letter != '\'' {
                out.push(letter);
            } else if letters.next_if(|it| it.1 == '\'').is_some() {
                out.push('\'');
            } else {
                rest = &quoted[at + 1..];
                break;
            }
        }
        all.push(Some(out));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, expected: &str) {
        let value = |it: &Option<String>| it.clone().unwrap_or_else(|| "NULL".to_owned());
        let shown: Vec<String> = parse_logged_statements(log)
            .iter()
            .map(|statement| {
                let values: Vec<String> = statement.values.iter().map(value).collect();
                format!(
                    "{} | {} | {}\n",
                    statement.millis,
                    statement.text.replace('\n', "\\n"),
                    values.join(" | ")
                )
            })
            .collect();
        assert_eq!(shown.concat(), expected);
    }

    /// The log contains output of PostgreSQL 15, and one line with `Parameters` capitalized as in PostgreSQL 16.
    #[test]
    fn parses_statements_with_parameters() {
        check(
            "2026-11-21 18:01:29.157 UTC [31] 00000 LOG:  duration: 0.333 ms  bind P_0: select * from t where a = $1\n\
             2026-11-21 18:01:29.157 UTC [31] 00000 DETAIL:  parameters: $1 = '5'\n\
             2026-11-21 18:01:29.163 UTC [31] 00000 LOG:  duration: 5.520 ms  execute P_0: select * from t where a = $1\n\
             2026-11-21 18:01:29.163 UTC [31] 00000 DETAIL:  parameters: $1 = '''o''''k''', $2 = NULL, $3 = 'a, $4 = b'\n\
             2026-11-21 18:01:29.200 UTC [32] 00000 LOG:  duration: 1.5 ms  execute <unnamed>: update t\n\
             \tset a = $1\n\
             2026-11-21 18:01:29.200 UTC [32] 00000 DETAIL:  Parameters: $1 = 'ё'\n\
             2026-11-21 18:01:29.201 UTC [32] 00000 LOG:  duration: 2 ms  statement: select 'x: y'\n\
             2026-11-21 18:01:29.202 UTC [33] 22012 ERROR:  division by zero\n\
             \tselect 1 / 0\n\
             2026-11-21 18:01:29.203 UTC [33] 00000 LOG:  duration: 0.5 ms\n",
            "5.52 | select * from t where a = $1 | 'o''k' | NULL | a, $4 = b\n\
             1.5 | update t\\nset a = $1 | ё\n\
             2 | select 'x: y' | \n",
        );
    }

    #[test]
    fn ignores_statements_without_text_and_endless_durations() {
        let log = |millis: &str, text: &str| {
            format!("2026-11-21 18:01:29.157 UTC [31] 00000 LOG:  duration: {millis} ms  statement: {text}\n")
        };
        check(&log("1", ""), "");
        check(&log("inf", "select 1"), "");
        check(&log("NaN", "select 1"), "");
        check(&(log("1", "") + "\tselect 1\n"), "1 | \\nselect 1 | \n");
    }

    #[test]
    fn debug_output_masks_values() {
        let statement = LoggedStatement {
            text: "select 'secret'".into(),
            values: vec![Some("secret".into())],
            millis: 1.0,
            pid: 1,
        };
        assert_eq!(format!("{statement:?}"), "select ? (1 values, 1 ms)");
    }
}
