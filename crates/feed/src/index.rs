//! Index of the rows in a plain file of lines

use crate::bounds::{check_columns, check_count, check_nul};
use crate::diagnostic::{Diagnostic, excerpt};
use model::message;
use model::message::Message;
use model::row_table::{RowFormat, RowLayout};

/// Finds the rows in `bytes`; `delimiter` separates the fields of a row.
///
/// The first line names the columns unless `columns` is given. Returns `None` if a field is quoted or a line contains a
/// carriage return; such a file must be packed. Empty lines are not rows; they are allowed only at the end.
pub fn index_rows(
    bytes: &[u8],
    delimiter: u8,
    columns: Option<&[String]>,
) -> Result<Option<RowLayout>, Diagnostic> {
    let marked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut at = bytes.len() - marked.len();
    let mut line = 0;
    let mut next = || {
        let rest = bytes.get(at..).filter(|it| !it.is_empty())?;
        let end = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        let begin = at;
        at += end + 1;
        line += 1;
        Some((line, begin, rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end])))
    };
    let columns = match columns {
        Some(columns) => columns.to_vec(),
        None => {
            let Some((_, _, names)) = next() else { return Ok(Some(empty_layout(delimiter))) };
            if names.contains(&b'"') || names.contains(&b'\r') {
                return Ok(None);
            }
            check_count(names.iter().filter(|it| **it == delimiter).count() + 1)?;
            let name = |it: &[u8]| String::from_utf8_lossy(it).trim().to_owned();
            names.split(|it| *it == delimiter).map(name).collect()
        }
    };
    check_columns(&columns)?;
    let mut layout = RowLayout::new(RowFormat::Lines { delimiter }, columns);
    let expected = layout.columns.len();
    let mut blank = None;
    while let Some((line, begin, text)) = next() {
        // In tab-separated files, quotes have no special meaning. The reader that packs rows treats a carriage return
        // within a line as the line's end.
        if (delimiter != b'\t' && text.contains(&b'"')) || text.contains(&b'\r') {
            return Ok(None);
        }
        if text.is_empty() && expected > 1 {
            blank.get_or_insert(line);
            continue;
        }
        if let Some(line) = blank {
            return Err(Diagnostic::new(line, message!("feed-empty-line")));
        }
        let fields = text.iter().filter(|it| **it == delimiter).count() + 1;
        if fields != expected {
            return Err(Diagnostic::new(line, describe_field_count(text, fields, expected)));
        }
        check_nul(line, text.split(|it| *it == delimiter), &layout.columns)?;
        layout.push(begin as u64);
    }
    Ok(Some(layout))
}

fn empty_layout(delimiter: u8) -> RowLayout {
    RowLayout::new(RowFormat::Lines { delimiter }, Vec::new())
}

pub(crate) fn describe_field_count(text: &[u8], fields: usize, expected: usize) -> Message {
    message!("feed-field-count", found = excerpt(text), fields, columns = expected.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::row_table::Rows;
    use std::sync::Arc;

    fn check(text: &str, delimiter: u8, columns: Option<&[&str]>, expected: &str) {
        let columns: Option<Vec<String>> =
            columns.map(|names| names.iter().map(|it| (*it).to_owned()).collect());
        let result = match index_rows(text.as_bytes(), delimiter, columns.as_deref()) {
            Ok(None) => "quoted".to_owned(),
            Err(error) => error.describe(),
            Ok(Some(layout)) => {
                let names = layout.columns.join("+");
                let rows = Rows::new(Arc::new(text.as_bytes().to_vec()), layout);
                let row =
                    |n| rows.row(n).map(|it| String::from_utf8_lossy(it).into_owned()).collect::<Vec<_>>();
                let all: Vec<String> = (0..rows.len()).map(|n| row(n).join("|")).collect();
                format!("{names}: {}", all.join(" "))
            }
        };
        assert_eq!(result, expected, "{text:?}");
    }

    #[test]
    fn indexes_lines_as_rows() {
        check("id,name\n1,a\n2,b\n", b',', None, "id+name: 1|a 2|b");
        check("1,a\r\n2,b", b',', Some(&["id", "name"]), "id+name: 1|a 2|b");
        check("id\tname\n1\t\"a\n", b'\t', None, "id+name: 1|\"a");
        check("\u{feff}id,name\n1,a\n\n\n", b',', None, "id+name: 1|a");
        check("", b',', None, ": ");
        check("id\n\n7\n", b',', None, "id:  7");
        check("id,name\n1,\"a\"\n", b',', None, "quoted");
        check("\"id\",name\n", b',', None, "quoted");
        for delimiter in [b',', b'\t'] {
            check("id\n1\r2\n", delimiter, None, "quoted");
            check("i\rd\n1\n", delimiter, None, "quoted");
        }
    }

    #[test]
    fn diagnostics_name_their_line() {
        check("id,name\n1,a\n2\n", b',', None, "3: feed-field-count(2, 1, 2)");
        check("1,a,x\n", b',', Some(&["id", "name"]), "1: feed-field-count(1,a,x, 3, 2)");
        check("id,name\n1,a\n\n2,b\n", b',', None, "3: feed-empty-line");
        let nul = "2: feed-nul(name)";
        check("id,name\n1,a\0b\n", b',', None, nul);
        check("id\tname\n1\t\0\n", b'\t', None, nul);
    }
}
