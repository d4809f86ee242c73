//! Target for feed values within requests: they are encoded unchanged, and a value cannot alter the syntax around it.

use serde_json::Value;
use wire::{Placeholder, TemplateBuilder};

pub fn run(value: &[u8]) {
    let render = |before: &str, hole: Placeholder, behind: &str| {
        let mut builder = TemplateBuilder::default();
        builder.bytes(before.as_bytes()).placeholder(0, hole).bytes(behind.as_bytes());
        let mut out = Vec::new();
        builder.build().render(&mut out, |_, out| {
            out.extend_from_slice(value);
            true
        });
        out
    };
    let url = render("/", Placeholder::Url, "?");
    assert_eq!(url.iter().filter(|it| b"/?#& \r\n".contains(it)).count(), 2, "a value cannot end the path");
    assert_eq!(decoded(&url[1..url.len() - 1]), value);
    let line = render("a: ", Placeholder::HeaderValue, "\r\n");
    assert_eq!(line.iter().filter(|it| it.is_ascii_control()).count(), 2, "a value cannot end the line");
    assert_eq!(line.len(), value.len() + 5);
    let json = render("[\"", Placeholder::Json, "\"]");
    if let Ok(text) = std::str::from_utf8(value) {
        let read: Value = serde_json::from_slice(&json).expect("a value cannot end the string");
        assert_eq!(read, Value::Array(vec![Value::String(text.to_owned())]));
    }
    let counted = render("", Placeholder::LengthPrefixed, "");
    assert_eq!(counted, [&(value.len() as u32).to_be_bytes()[..], value].concat());
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |it: u8| char::from(it).to_digit(16).expect("a hexadecimal digit") as u8;
    let mut out = Vec::new();
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        rest = match (first, behind) {
            (b'%', [high, low, behind @ ..]) => {
                out.push(digit(*high) << 4 | digit(*low));
                behind
            }
            _ => {
                out.push(*first);
                behind
            }
        };
    }
    out
}
