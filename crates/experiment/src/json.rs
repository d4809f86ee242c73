//! Converts YAML values to JSON.

use crate::tree::{Node, Style, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// Schema key that marks values to be converted to JSON.
pub const KEY: &str = "x-json";

/// JSON text with variables.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct JsonText(pub String);

impl JsonSchema for JsonText {
    fn schema_name() -> Cow<'static, str> {
        "JsonText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-json": true })
    }
}

/// JSON text of a value; a scalar at the top level is already JSON.
pub fn text(node: &Node) -> String {
    match &node.value {
        Value::Scalar(text, _) => text.clone(),
        _ => {
            let mut out = String::new();
            write(node, &mut out);
            out
        }
    }
}

fn write(node: &Node, out: &mut String) {
    match &node.value {
        _ if node.is_null() => *out += "null",
        Value::Scalar(text, style) => *out += &scalar(text, *style),
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                *out += if i == 0 { "[" } else { "," };
                write(item, out);
            }
            *out += if items.is_empty() { "[]" } else { "]" };
        }
        Value::Map(entries) => {
            for (i, (key, value)) in entries.iter().enumerate() {
                *out += if i == 0 { "{" } else { "," };
                // Names contain no variables, so a `$` in a name is literal.
                *out += &quoted(&key.text.replace('$', "$$"));
                *out += ":";
                write(value, out);
            }
            *out += if entries.is_empty() { "{}" } else { "}" };
        }
    }
}

/// JSON text of a scalar. Unquoted numbers, booleans and variables are unchanged, except that `1_000` becomes 1000.
fn scalar(text: &str, style: Style) -> String {
    if style == Style::Plain {
        let digits = text.replace('_', "");
        let variable = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
        match text {
            "true" | "True" | "TRUE" => return "true".to_owned(),
            "false" | "False" | "FALSE" => return "false".to_owned(),
            _ if serde_json::from_str::<serde_json::Number>(&digits).is_ok() => return digits,
            _ if variable.is_some_and(crate::template::is_name) => return text.to_owned(),
            _ => {}
        }
    }
    quoted(text)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string can be serialized as JSON")
}

/// Byte position and message of the first error in a JSON text with variables.
pub fn find_json_error(text: &str) -> Option<(usize, String)> {
    // Each variable is replaced by a digit and padding of the same length, which is valid within a string and as a
    // number.
    let mut plain = text.replace("$$", "$ ");
    while let Some(begin) = plain.find("${") {
        let end = plain[begin..].find('}').map_or(plain.len(), |it| begin + it + 1);
        plain.replace_range(begin..end, &format!("0{}", " ".repeat(end - begin - 1)));
    }
    let error = serde_json::from_str::<serde::de::IgnoredAny>(&plain).err()?;
    let line: usize = plain.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line + error.column().saturating_sub(1)).min(text.len());
    let at = (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let message = error.to_string();
    Some((at, message.split(" at line ").next().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_values_to_json() {
        for (yaml, expected) in [
            (
                "{ a: 1, b: \"1\", c: [x, true, ~, 1_000, -1.5e3, 01, no] }",
                r#"{"a":1,"b":"1","c":["x",true,null,1000,-1.5e3,"01","no"]}"#,
            ),
            (
                "name: ${name}\nprice: \"${price}\"\ntext: a ${x}",
                r#"{"name":${name},"price":"${price}","text":"a ${x}"}"#,
            ),
            ("\"a\\\"b\": \"\\n$$\"\n$k: ''", r#"{"a\"b":"\n$$","$$k":""}"#),
            ("[{}, []]", "[{},[]]"),
            ("'{\"n\": ${n}}'", r#"{"n": ${n}}"#),
        ] {
            let mut diagnostics = Vec::new();
            let node = crate::tree::parse(yaml, 0, &mut diagnostics).expect("YAML");
            assert_eq!((text(&node), diagnostics), (expected.to_owned(), Vec::new()), "{yaml}");
        }
    }

    #[test]
    fn json_errors_have_a_position() {
        for (text, expected) in [
            ("{\"n\": ${n}, \"t\": \"${t}$$\"}", None),
            ("1", None),
            ("{\"n\": ${n}", Some(9)),
            ("{\n\"é\": ,}", Some(8)),
            ("", Some(0)),
            ("${a", None),
            ("{a: 1}", Some(1)),
        ] {
            assert_eq!(find_json_error(text).map(|it| it.0), expected, "{text}");
        }
    }
}
