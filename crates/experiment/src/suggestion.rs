//! Corrections for values of the wrong kind, and for keys that other tools use

use crate::tree::{Key, Node, Value};

/// Mappings, each with its main key. A scalar in place of the mapping is most likely the value of this key. `*` stands
/// for any name.
const MAIN_KEYS: [(&str, &str); 8] = [
    ("dataset", "name"),
    ("feeds.*", "file"),
    ("operations.*", "sql"),
    ("operations.*.expect", "status"),
    ("stack.balancer", "kind"),
    ("stack.pooler", "kind"),
    ("stack.replicas", "count"),
    ("stack.service", "url"),
];

/// Mappings whose main content is a list, each with the key of that list. A list in place of the mapping is most likely
/// the value of this key.
const LIST_KEYS: [(&str, &str); 2] = [("on_start", "steps"), ("operations.*", "steps")];

/// Keys that users of other tools expect in a mapping, and what to write instead.
const OTHER_KEYS: [(&str, &[&str], &str); 19] = [
    ("load", &["rate", "rps", "qps", "tps"], "schedule: const(100, 60s)"),
    ("load", &["time"], "duration: 10s"),
    ("load", &["connections", "concurrency", "vus"], "clients: 8"),
    ("load", &["rampup", "ramp_up", "ramp"], "schedule: line(1, 200, 60s)"),
    ("operations.*", &["url", "path", "method"], "get: /path"),
    ("operations.*.steps", &["url", "path", "method"], "get: /path"),
    ("operations.*", &["status"], "expect: { status: 200 }"),
    ("operations.*.steps", &["status"], "expect: { status: 200 }"),
    ("operations.*", &["statement", "text"], "sql: SELECT 1"),
    ("operations.*", &["file"], "script: read.sql"),
    ("find.max", &["start"], "from: 100"),
    ("find.confirm", &["rate"], "level: 100"),
    ("find.soak", &["rate"], "level: 100"),
    ("stack", &["attach", "url", "host"], "postgres: { attach: postgres://me@127.0.0.1/shop }"),
    ("stack.generator", &["threads"], "load: { threads: 2 }"),
    ("faults", &["crash", "stop"], "kill: primary"),
    ("dataset", &["sample"], "from: { source: \"postgres://…\", sample: 10% }"),
    ("dataset", &["schema_only"], "from: { source: \"postgres://…\", schema_only: true }"),
    ("dataset.from", &["seed"], "dataset: { seed: 1, from: … }"),
];

/// Correction of an unknown key.
pub fn instead_of_key(path: &str, key: &str) -> Option<&'static str> {
    let row = OTHER_KEYS.iter().find(|row| matches(row.0, path) && row.1.contains(&key))?;
    Some(row.2)
}

/// Mapping to write instead of a scalar. `keys` are the keys of that mapping.
pub fn mapping_of_scalar(path: &str, text: &str, keys: &[&str]) -> Option<String> {
    let name = path.rsplit('.').next().filter(|it| !it.is_empty())?;
    if path == "baseline" {
        return Some("baseline: { way: direct }".to_owned());
    }
    if path.ends_with(".query") && text.contains(' ') {
        return Some(format!("sql: {}", quoted(text)));
    }
    if keys.contains(&name) {
        // A name is missing, or the key is indented too little.
        return Some(format!("name: {{ {name}: {} }}", quoted(text)));
    }
    let is_word = ["true", "false", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str());
    let key = MAIN_KEYS.iter().find(|row| matches(row.0, path)).filter(|_| !is_word)?.1;
    let key = if key == "sql" && text.starts_with('/') { "get" } else { key };
    Some(format!("{name}: {{ {key}: {} }}", quoted(text)))
}

/// Mapping to write instead of a list: each item becomes an entry, `name: value` or `name: …`.
pub fn mapping_of_list(path: &str, items: &[Node]) -> Option<String> {
    let entry = |item: &Node| match &item.value {
        Value::Map(entries) => entries.first().map(|(key, _)| format!("{}: …", key.text)),
        Value::Scalar(text, _) if text.contains(": ") => Some(text.clone()),
        Value::Scalar(text, _) => Some(format!("{text}: …")),
        Value::List(_) => None,
    };
    let entries: Vec<String> = items.iter().map(entry).collect::<Option<_>>()?;
    let name = path.rsplit('.').next().filter(|it| !it.is_empty())?;
    if let Some((_, key)) = LIST_KEYS.iter().find(|row| matches(row.0, path)) {
        let items: Vec<String> = entries.iter().map(|it| format!("{{ {it} }}")).collect();
        return Some(format!("{name}: {{ {key}: [{}] }}", items.join(", ")));
    }
    (!entries.is_empty()).then(|| format!("{name}: {{ {} }}", entries.join(", ")))
}

/// List to write instead of a scalar.
pub fn list_of_scalar(path: &str, text: &str) -> String {
    let name = path.strip_prefix("matrix.").or_else(|| path.rsplit('.').next()).unwrap_or(path);
    let words: Vec<String> = match name {
        "command" => text.split_whitespace().map(quoted).collect(),
        _ => vec![quoted(text)],
    };
    format!("{name}: [{}]", words.join(", "))
}

/// Axis of the matrix to write instead of a list of scalars.
pub fn axis_of_list(path: &str, items: &[Node]) -> Option<String> {
    let text = |item: &Node| match &item.value {
        Value::Scalar(text, _) => Some(quoted(text)),
        _ => None,
    };
    let items: Vec<String> = items.iter().map(text).collect::<Option<_>>()?;
    let can_vary = path.starts_with("load.") || path.starts_with("stack.") || path.starts_with("dataset.");
    let path = path.strip_prefix("stack.").unwrap_or(path);
    (can_vary && !items.is_empty()).then(|| format!("matrix: {{ {path}: [{}] }}", items.join(", ")))
}

/// Entry whose text was cut at a comma: `{ schedule: line(1, 10, 10s) }` has the keys `10` and `10s)` without values.
/// Returns the number of such keys after the entry, and the correction.
pub fn cut_at_comma(entries: &[(Key, Node)], is_known: impl Fn(&str) -> bool) -> Option<(usize, String)> {
    let ((key, value), rest) = entries.split_first()?;
    let Value::Scalar(text, _) = &value.value else { return None };
    let is_rest = |(key, value): &&(Key, Node)| {
        let is_missing = matches!(&value.value, Value::Scalar(text, _) if text.is_empty());
        is_missing && !is_known(&key.text) && !key.text.contains(' ')
    };
    let cut: Vec<&str> = rest.iter().take_while(is_rest).map(|it| it.0.text.as_str()).collect();
    let whole = std::iter::once(text.as_str()).chain(cut.iter().copied()).collect::<Vec<_>>().join(", ");
    (!cut.is_empty() && !text.is_empty()).then(|| (cut.len(), format!("{}: \"{whole}\"", key.text)))
}

/// Scalar as it must be written within `{ }`.
fn quoted(text: &str) -> String {
    let is_special = |c: char| matches!(c, ',' | '[' | ']' | '{' | '}' | '#' | '"' | '\\' | '<' | '>' | '%');
    let is_plain =
        !text.contains(is_special) && !text.contains(": ") && !text.starts_with(['-', '*', '&', '@']);
    if is_plain && !text.is_empty() { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// True if a path fits a pattern. Indices of lists are ignored.
fn matches(pattern: &str, path: &str) -> bool {
    let segments = |text: &'_ str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let name = |segment: &str| segment.split('[').next().unwrap_or_default().to_owned();
    let (pattern, path) = (segments(pattern), segments(path));
    pattern.len() == path.len() && pattern.iter().zip(&path).all(|(a, b)| a == "*" || *a == name(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_paths() {
        for (pattern, path, expected) in [
            ("load", "load", true),
            ("load", "load.rate", false),
            ("operations.*", "operations.read", true),
            ("operations.*.steps", "operations.buy.steps[0]", true),
            ("faults", "faults[2]", true),
            ("operations.*", "operations.read.expect", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn quotes_scalars_with_special_characters() {
        for (text, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("p99 < 5ms", "\"p99 < 5ms\""),
            ("SELECT 1, 2", "\"SELECT 1, 2\""),
            ("", "\"\""),
            ("http://a:1/b", "http://a:1/b"),
            ("a: b", "\"a: b\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
