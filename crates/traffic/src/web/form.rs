//! Fields of forms and queries (`application/x-www-form-urlencoded`)

use model::percent_encode;
use wire::percent_decode;

/// Decodes the fields of a form; `None` if the text is no form.
pub(super) fn decode(text: &str) -> Option<Vec<(String, String)>> {
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() || text.contains(|character: char| character.is_whitespace()) {
        return None;
    }
    let decoded = |text: &str| String::from_utf8(percent_decode(&text.replace('+', " "))?).ok();
    let field = |field: &str| {
        let (name, value) = field.split_once('=')?;
        Some((decoded(name)?, decoded(value)?)).filter(|field| !field.0.is_empty())
    };
    text.split('&').map(field).collect()
}

/// Encodes fields.
pub(super) fn encode(fields: &[(String, String)]) -> String {
    let field =
        |(name, value): &(String, String)| format!("{}={}", percent_encode(name), percent_encode(value));
    fields.iter().map(field).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_forms() {
        for (text, expected) in [
            ("a=b+c&d=%D0%B6", Some("a=b%20c&d=%D0%B6")),
            ("a=", Some("a=")),
            ("a=1\r\n", Some("a=1")),
            ("a", None),
            ("=a", None),
            ("a=%zz", None),
            ("a=%ff", None),
            ("a=b c", None),
            ("", None),
        ] {
            assert_eq!(decode(text).map(|fields| encode(&fields)).as_deref(), expected, "{text}");
        }
    }
}
