//! YAML documents as JSON values; all scalars are strings

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

/// Parses a document without aliases. Panics if the text is not valid.
pub fn parse(text: &str) -> Value {
    let mut events = Parser::new_from_str(text).map(|it| it.expect("the text is YAML").0);
    loop {
        match events.next().expect("the text contains a document") {
            Event::StreamStart | Event::DocumentStart(_) => {}
            first => return value(first, &mut events),
        }
    }
}

fn value<'a>(first: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match first {
        Event::Scalar(text, ..) => Value::String(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().expect("the list or mapping ends") {
                    Event::SequenceEnd => return Value::Array(items),
                    item => items.push(value(item, events)),
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
                        entries.insert(key.into_owned(), value(item, events));
                    }
                    other => panic!("a key is a {other:?}"),
                }
            }
        }
        other => panic!("unexpected {other:?}"),
    }
}
