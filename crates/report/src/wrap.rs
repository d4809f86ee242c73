//! Word wrapping for terminals

use crate::live::width;

/// Breaks lines that are wider than `columns` between words. The rest of a broken line is indented.
///
/// Words are never broken, so that a path, an address or a name can be copied. A line with a longer word is wider.
pub fn wrap(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if width(line) <= columns {
            out += line;
        } else {
            wrap_line(&mut out, line, columns);
        }
        out += end;
    }
    out
}

fn wrap_line(out: &mut String, line: &str, columns: usize) {
    // Begin the rest of an SQL comment with `--` too, so that users can copy the text as SQL.
    let comment = if line.starts_with("-- ") { "--" } else { "" };
    let indent = hanging_indent(line, columns);
    let (mut column, mut is_begun) = (0, false);
    let mut rest = line.trim_end_matches(' ');
    while !rest.is_empty() {
        let blanks = leading_blanks(rest);
        let end = rest[blanks..].find(' ').map_or(rest.len(), |length| blanks + length);
        let word = &rest[blanks..end];
        let word_width = width(word);
        if is_begun && column + blanks + word_width > columns {
            // Reduce the indentation for a long word.
            column = indent.min(columns.saturating_sub(word_width));
            out.push('\n');
            *out += comment;
            *out += &" ".repeat(column.saturating_sub(comment.len()));
        } else {
            *out += &rest[..blanks];
            column += blanks;
        }
        *out += word;
        column += word_width;
        is_begun = true;
        rest = &rest[end..];
    }
}

/// Indentation for the rest of a broken line: the column at which the text begins after a label or a comment sign. For
/// other lines, two more columns than the line's own indentation.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let begin = match line.strip_prefix("--") {
        Some(comment) => return 2 + leading_blanks(comment),
        None => leading_blanks(line),
    };
    let text = &line[begin..];
    let behind_label = text.find("  ").map(|gap| begin + width(&text[..gap]) + leading_blanks(&text[gap..]));
    behind_label.filter(|column| *column <= columns / 2).unwrap_or(begin + 2)
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_long_lines_between_words() {
        for (text, expected) in [
            ("one two three\n", "one two three\n"),
            ("one two three four five\n", "one two three four\n  five\n"),
            // Text behind a label is continued in its column.
            ("load  one two three four\n\n", "load  one two three\n      four\n\n"),
            ("  -a  one two three four", "  -a  one two three\n      four"),
            ("    one two three four five", "    one two three\n      four five"),
            // A gap in the right half does not begin a column.
            ("one two three  four five", "one two three  four\n  five"),
            // Words are not broken, and long words begin further left.
            ("at /a/long/path/of/a/run/file end", "at\n/a/long/path/of/a/run/file\n  end"),
            ("name  one /sixteen/letters", "name  one\n    /sixteen/letters"),
            ("-- one two three four five", "-- one two three\n-- four five"),
            ("--   one two three four", "--   one two three\n--   four"),
            // Styles have no width.
            ("\u{1b}[1mone\u{1b}[0m two three four", "\u{1b}[1mone\u{1b}[0m two three four"),
            ("раз два три четыре пять", "раз два три четыре\n  пять"),
            ("one two three four        ", "one two three four"),
        ] {
            assert_eq!(wrap(text, 20), expected, "{text:?}");
        }
    }
}
