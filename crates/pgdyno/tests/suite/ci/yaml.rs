//! YAML documents as JSON values

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Converts a scalar.
type ScalarReader = fn(String, ScalarStyle) -> Value;

/// Parses a document without aliases; all scalars are strings. Panics if the text is not valid.
pub fn parse(text: &str) -> Value {
    documents(text, |text, _| Value::String(text)).swap_remove(0)
}

/// Parses documents without aliases; plain scalars may be whole numbers or booleans. Panics if the text is not valid.
pub fn parse_typed(text: &str) -> Vec<Value> {
    documents(text, |text, style| match text.as_str() {
        "true" | "false" if style == ScalarStyle::Plain => Value::Bool(text == "true"),
        number if style == ScalarStyle::Plain && number.parse::<i64>().is_ok() => {
            Value::from(number.parse::<i64>().expect("it was parsed"))
        }
        _ => Value::String(text),
    })
}

fn documents(text: &str, scalar: ScalarReader) -> Vec<Value> {
    let mut events = Parser::new_from_str(text).map(|event| event.expect("the text is YAML").0);
    let mut all = Vec::new();
    loop {
        match events.next().expect("the text ends") {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::StreamEnd => return all,
            first => all.push(value(first, &mut events, scalar)),
        }
    }
}

fn value<'a>(first: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>, scalar: ScalarReader) -> Value {
    match first {
        Event::Scalar(text, style, ..) => scalar(text.into_owned(), style),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().expect("the list or mapping ends") {
                    Event::SequenceEnd => return Value::Array(items),
                    item => items.push(value(item, events, scalar)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut entries = Map::new();
            loop {
                match events.next().expect("the list or mapping ends") {
                    Event::MappingEnd => return Value::Object(entries),
                    Event::Scalar(key, ..) => {
                        let item = events.next().expect("a key has a value");
                        entries.insert(key.into_owned(), value(item, events, scalar));
                    }
                    other => panic!("a key is a {other:?}"),
                }
            }
        }
        other => panic!("unexpected {other:?}"),
    }
}
