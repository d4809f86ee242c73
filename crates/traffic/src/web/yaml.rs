//! Parser for descriptions in YAML
//!
//! Yields the values that the same description has in JSON (YAML 1.2, core schema).

use super::error::WebError;
use super::json::Json;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashMap;

/// Maximum nesting depth.
const DEPTH_MAX: usize = 100;
/// Maximum number of values, including those that aliases expand to.
const VALUES_MAX: usize = 1_000_000;

/// List or mapping whose end is not parsed yet.
enum Open {
    List(Vec<Json>),
    Object(Vec<(String, Json)>, Option<String>),
}

/// Parses the first document of a text.
pub(super) fn parse(text: &str) -> Result<Json, WebError> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(usize, Open)> = Vec::new();
    let mut anchors: HashMap<usize, (Json, usize)> = HashMap::new();
    let mut values = 0;
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| {
            let marker = error.marker();
            syntax(marker.line(), marker.col(), error.info().to_owned())
        })?;
        let wrong = |reason: &str| syntax(span.start.line(), span.start.col(), reason.to_owned());
        let (anchor, value) = match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some((value, count)) => {
                    values += count;
                    (0, value.clone())
                }
                None => return Err(wrong("unknown alias")),
            },
            Event::Scalar(text, style, anchor, _) => (anchor, scalar(&text, style)),
            Event::SequenceStart(anchor, _) => {
                open.push((anchor, Open::List(Vec::new())));
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push((anchor, Open::Object(Vec::new(), None)));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((anchor, Open::List(items))) => (anchor, Json::List(items)),
                Some((anchor, Open::Object(members, _))) => (anchor, Json::Object(members)),
                None => continue,
            },
        };
        values += 1;
        if values > VALUES_MAX || open.len() > DEPTH_MAX {
            return Err(wrong("too many values"));
        }
        if anchor > 0 {
            anchors.insert(anchor, (value.clone(), count(&value)));
        }
        match open.last_mut() {
            None => return Ok(value),
            Some((_, Open::List(items))) => items.push(value),
            Some((_, Open::Object(members, name))) => match (name.take(), value) {
                (Some(name), value) => members.push((name, value)),
                (None, Json::Text(text) | Json::Number(text)) => *name = Some(text),
                (None, Json::Bool(value)) => *name = Some(value.to_string()),
                (None, Json::Null) => *name = Some("null".to_owned()),
                (None, _) => return Err(wrong("a key is a list or a mapping")),
            },
        }
    }
    Ok(Json::Null)
}

fn syntax(line: usize, column: usize, reason: String) -> WebError {
    WebError::Syntax { line, column: column + 1, reason }
}

fn count(json: &Json) -> usize {
    1 + match json {
        Json::List(items) => items.iter().map(count).sum(),
        Json::Object(members) => members.iter().map(|member| count(&member.1)).sum::<usize>(),
        _ => 0,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Json {
    if style != ScalarStyle::Plain {
        return Json::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        text => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(number) => Json::Number(number.to_string()),
            Err(_) => Json::Text(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_values() {
        let yaml = "a: &x [1, '2', ~, true, 1.5, text]\nb: *x\n200: {}\n'c': |\n  d\n";
        let json = r#"{"a": [1, "2", null, true, 1.5, "text"], "b": [1, "2", null, true, 1.5, "text"], "200": {}, "c": "d\n"}"#;
        assert_eq!(parse(yaml), Ok(Json::parse(json).expect("valid")));
        assert_eq!(parse(""), Ok(Json::Null));
    }

    #[test]
    fn reports_places() {
        let error = parse("a: 1\nb: [").expect_err("not closed");
        assert!(matches!(error, WebError::Syntax { line: 2 | 3, .. }), "{error}");
        let error = parse("a:\n  [b]: c").expect_err("a list as a key");
        assert!(matches!(error, WebError::Syntax { line: 2, .. }), "{error}");
    }

    #[test]
    fn limits_aliases_and_depth() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..8 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        assert!(parse(&bomb).is_err());
        assert!(parse(&"[".repeat(200)).is_err());
    }
}
