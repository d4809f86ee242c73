//! Parameters that the detail of an entry lists

/// Values of `parameters: $1 = '1', $2 = NULL`, which PostgreSQL 16 and later begins with a capital letter. `None` if
/// the text has another form.
pub(super) fn parameters(detail: &str) -> Option<Vec<Option<String>>> {
    let (head, list) = detail.split_once(": ")?;
    if !head.eq_ignore_ascii_case("parameters") {
        return None;
    }
    values(list)
}

/// Values that the context of an error lists: `unnamed portal with parameters: $1 = '1'`. The context may have further
/// lines.
pub(super) fn context_parameters(context: &str) -> Option<Vec<Option<String>>> {
    let (_, list) = context.split_once("portal").filter(|_| context.contains(" with parameters: "))?;
    let (_, list) = list.split_once(" with parameters: ")?;
    let (values, rest) = value_list(list)?;
    (rest.is_empty() || rest.starts_with('\n')).then_some(values)
}

fn values(list: &str) -> Option<Vec<Option<String>>> {
    value_list(list).filter(|(_, rest)| rest.is_empty()).map(|(values, _)| values)
}

/// Values of a list, and the text after it.
fn value_list(mut list: &str) -> Option<(Vec<Option<String>>, &str)> {
    let mut values = Vec::new();
    loop {
        let head = format!("${} = ", values.len() + 1);
        let value = list.strip_prefix(&head)?;
        let rest;
        if let Some(after) = value.strip_prefix("NULL") {
            values.push(None);
            rest = after;
        } else {
            let (text, after) = quoted(value)?;
            // `log_parameter_max_length` cuts values off in this way.
            if text.ends_with("...") {
                return None;
            }
            values.push(Some(text));
            rest = after;
        }
        match rest.strip_prefix(", ") {
            Some(next) => list = next,
            None => return Some((values, rest)),
        }
    }
}

/// Text of `'it''s'`, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        value.push_str(part);
        match after.strip_prefix('\'') {
            Some(next) => {
                value.push('\'');
                rest = next;
            }
            None => return Some((value, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[Option<&str>]) -> Option<Vec<Option<String>>> {
        Some(values.iter().map(|value| value.map(str::to_owned)).collect())
    }

    #[test]
    fn reads_parameters() {
        for (detail, values) in [
            ("parameters: $1 = '1'", list(&[Some("1")])),
            ("Parameters: $1 = '', $2 = NULL, $3 = 'a''b'", list(&[Some(""), None, Some("a'b")])),
            ("Parameters: $1 = ', $2 = '", list(&[Some(", $2 = ")])),
            ("parameters: $1 = ''', $2 = ''x'''", list(&[Some("', $2 = 'x'")])),
            ("parameters: $1 = 'a\nb'", list(&[Some("a\nb")])),
            // Cut off by `log_parameter_max_length`.
            ("parameters: $1 = 'abc...'", None),
            ("parameters: $1 = 'a", None),
            ("parameters: $2 = 'a'", None),
            ("parameters: $1 = 'a' x", None),
            ("parameters: $1 = NULLx", None),
            ("prepare: PREPARE a AS SELECT 1", None),
            ("Key (id)=(1) already exists.", None),
            ("", None),
        ] {
            assert_eq!(parameters(detail), values, "{detail}");
        }
    }

    #[test]
    fn reads_parameters_of_errors() {
        for (context, values) in [
            ("unnamed portal with parameters: $1 = '10'", list(&[Some("10")])),
            ("portal \"c\" with parameters: $1 = NULL\nSQL function \"f\"", list(&[None])),
            ("unnamed portal with parameters: $1 = '10' x", None),
            ("SQL function \"f\" statement 1", None),
        ] {
            assert_eq!(context_parameters(context), values, "{context}");
        }
    }
}
