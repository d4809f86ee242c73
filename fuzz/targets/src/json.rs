//! Target for JSON pointers: they find the same values that serde_json finds.

use serde_json::Value;
use wire::json::Pointer;

/// Runs one input: a pointer, a newline, and a JSON text.
pub fn run(data: &[u8]) {
    let Some(end) = data.iter().position(|it| *it == b'\n') else { return };
    let (Ok(pointer), json) = (std::str::from_utf8(&data[..end]), &data[end + 1..]) else { return };
    let Ok(parsed) = pointer.parse::<Pointer>() else { return };
    let mut found = b"before".to_vec();
    let copied = parsed.extract(json, &mut found);
    assert!(found.starts_with(b"before") && (copied || found.len() == 6));
    // An invalid escape of two bytes becomes a character of three bytes, so a value may be longer than its text.
    assert!(found.len() - 6 <= json.len() * 3 / 2, "a value is hardly longer than its text");
    // Serialises the value again, so that no object contains a name twice.
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    let text = value.to_string();
    found.clear();
    let copied = parsed.extract(text.as_bytes(), &mut found).then_some(found);
    let expected = match value.pointer(pointer) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone().into_bytes()),
        Some(other) => Some(other.to_string().into_bytes()),
    };
    assert_eq!(copied, expected, "{pointer} in {text}");
}
