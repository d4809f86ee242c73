//! Masks the values in SQL statements

use super::normalize_message;

/// Replaces strings and numbers in a statement by `?`. Removes comments, puts the text on one line and truncates it.
///
/// Strings are recognized by PostgreSQL's rules: doubled quotes, `E'\''`, `$tag$…$tag$`. An unterminated string
/// masks the rest.
pub fn mask_values(sql: &str) -> String {
    normalize_message(&replace_values(sql, "?"))
}

/// Like [`mask_values`]. In addition, lists of values become `?, …`, so that statements whose lists have different
/// lengths are equal.
pub fn normalize_statement(sql: &str) -> String {
    normalize_message(&collapse_lists(&replace_values(sql, "?")))
}

/// Replaces `?, ?, ?` by `?, …`, and then `(?, …), (?, …)` by `(?, …), …`.
fn collapse_lists(masked: &str) -> String {
    let mut text = masked.to_owned();
    for (item, list) in [("?", "?, …"), ("(?)", "(?), …"), ("(?, …)", "(?, …), …")] {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(item) {
            out.push_str(&rest[..at]);
            rest = &rest[at + item.len()..];
            let next = |rest: &str| {
                let more = rest.trim_start().strip_prefix(',')?.trim_start();
                let more = more.strip_prefix('-').unwrap_or(more).strip_prefix(item)?;
                Some(rest.len() - more.len())
            };
            let mut count = 0;
            while let Some(length) = next(rest) {
                rest = &rest[length..];
                count += 1;
            }
            out.push_str(if count > 0 { list } else { item });
        }
        out.push_str(rest);
        text = out;
    }
    text
}

/// Like [`mask_values`], with another mark and without truncation.
pub(crate) fn replace_values(sql: &str, mark: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        // True if the next characters continue a name, such as the 1 of `t1`.
        let inside = out.chars().next_back().is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '$');
        let length = match letter {
            '\'' => {
                let escapes = out.ends_with(['e', 'E'])
                    && !out[..out.len() - 1].ends_with(|it: char| it.is_alphanumeric() || it == '_');
                if escapes {
                    out.pop();
                }
                out.push_str(mark);
                quoted_string_length(rest, escapes)
            }
            '"' => {
                let length = quoted_length(rest, '"', false);
                out.push_str(&rest[..length]);
                length
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment_length(rest),
            '$' if !inside => match dollar_quoted_length(rest) {
                Some(length) => {
                    out.push_str(mark);
                    length
                }
                None => {
                    // `$1` is the number of a parameter, not a value.
                    let length = 1 + rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                    out.push_str(&rest[..length]);
                    length
                }
            },
            '0'..='9' if !inside => {
                let length = number_length(rest);
                out.push_str(mark);
                length
            }
            '.' if !inside && rest[1..].starts_with(|it: char| it.is_ascii_digit()) => {
                out.push_str(mark);
                1 + number_length(&rest[1..])
            }
            letter => {
                out.push(letter);
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

fn quoted_string_length(text: &str, escapes: bool) -> usize {
    quoted_length(text, '\'', escapes)
}

/// Length of a quoted text, bytes. Quotes in the text may be doubled. An unterminated text extends to the end.
fn quoted_length(text: &str, quote: char, escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if escapes && letter == '\\' {
            letters.next();
        } else if letter == quote {
            if letters.peek().is_some_and(|it| it.1 == quote) {
                letters.next();
            } else {
                return at + letter.len_utf8();
            }
        }
    }
    text.len()
}

/// Length of a comment, bytes; comments can be nested.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of `$tag$…$tag$`, bytes; `None` if the text does not begin with such a string.
fn dollar_quoted_length(text: &str) -> Option<usize> {
    let tag = 2 + text[1..].find('$')?;
    let name = &text[1..tag - 1];
    if name.starts_with(|it: char| it.is_ascii_digit())
        || !name.chars().all(|it| it.is_alphanumeric() || it == '_')
    {
        return None;
    }
    Some(text[tag..].find(&text[..tag]).map_or(text.len(), |it| tag + it + tag))
}

/// Length of a number with its suffix, bytes: `1.5e-3`, `0xff`, `1_000`.
fn number_length(text: &str) -> usize {
    let part = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '_';
    let length = text.find(|it: char| !part(it)).unwrap_or(text.len());
    let exponent = text[..length].ends_with(['e', 'E']) && text[length..].starts_with(['-', '+']);
    if exponent && !text.starts_with("0x") {
        return length + 1 + text[length + 1..].find(|it: char| !part(it)).unwrap_or(text.len() - length - 1);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_values_in_statements() {
        let check = |sql: &str, expected: &str| assert_eq!(mask_values(sql), expected, "{sql}");
        check("select 1", "select ?");
        check("UPDATE t1 SET a='30', b = -1.5e-3 WHERE c2=.5", "UPDATE t1 SET a=?, b = -? WHERE c2=?");
        check("select 'it''s', E'it\\'s', type 'x'", "select ?, ?, type ?");
        check("select $1, $2::int, $tag$a $ 'b$tag$, $$c$$", "select $1, $2::int, ?, ?");
        check("select \"a'1\", 'b'", "select \"a'1\", ?");
        check("select 1 -- Smith\n , 2 /* a /* b */ 'c */ from t", "select ? , ? from t");
        check("select 'never ends", "select ?");
        check("select $tag$never ends", "select ?");
        check("select /* never ends", "select");
        check("\u{1b}select\r\n  'ё', таблица1", "select ?, таблица1");
        check(&"a ".repeat(200), &format!("{}…", "a ".repeat(150)));
    }

    #[test]
    fn collapses_lists_of_values() {
        let check = |sql: &str, expected: &str| assert_eq!(normalize_statement(sql), expected, "{sql}");
        check(
            "select a from t where b in (1, 'two',-3 , 4) and c = 5",
            "select a from t where b in (?, …) and c = ?",
        );
        check("insert into t values (1, 'a'), (2, 'b'),(3,'c')", "insert into t values (?, …), …");
        check("insert into t values (1),(2)", "insert into t values (?), …");
        check("insert into t values (1, now()), (2, now())", "insert into t values (?, now()), (?, now())");
        check("select f(1), $1, $2, a ? b", "select f(?), $1, $2, a ? b");
        check("select 1,", "select ?,");
        check("select -1, - 2", "select -?, - ?");
        check("", "");
    }
}
