//! Resolves and sets paths such as `pooler.size`.

use crate::diagnostic::{Span, nearest, quote};
use crate::renamed::new_name;
use crate::schema_index::SchemaIndex;
use crate::suggestion;
use crate::tree::{Key, Node, Value};
use model::message;
use model::message::Message;
use serde_json::Value as Json;

/// Keys that describe other settings and are not settings themselves.
pub const META: [&str; 4] = ["matrix", "skip", "baseline", "quick"];

/// Keys from the root of the file.
pub type Path = Vec<String>;

/// Resolves a path, relative to the root or to `stack`.
pub fn resolve(shape: &SchemaIndex, written: &str) -> Result<Path, Message> {
    let segments: Vec<&str> = written.split('.').collect();
    let root = shape.root();
    if META.contains(&segments[0]) {
        return Err(message!("experiment-meta-path", key = quote(segments[0])));
    }
    let full = walk(shape, root, &segments);
    let short = || walk(shape, shape.child(root, "stack")?, &segments);
    let (section, path) =
        full.map(|it| (None, it)).or_else(|| Some((Some("stack"), short()?))).ok_or_else(|| {
            let (known, path) = (known(shape), quote(written));
            let written = written.trim_start_matches("stack.");
            let with_same_end =
                || known.iter().map(String::as_str).find(|it| it.rsplit('.').next() == Some(written));
            let (section, key) = written.rsplit_once('.').unwrap_or(("", written));
            let siblings: Vec<&str> = known
                .iter()
                .filter_map(|path| path.rsplit_once('.'))
                .filter(|parts| parts.0 == section)
                .map(|parts| parts.1)
                .collect();
            // If the section exists, compare only the last key, because the section is correct.
            let nearest = match siblings.is_empty() {
                true => nearest(written, known.iter().map(String::as_str)).or_else(with_same_end),
                false => nearest(key, siblings.iter().copied())
                    .and_then(|key| known.iter().find(|it| **it == format!("{section}.{key}")))
                    .map(String::as_str)
                    .or_else(with_same_end),
            };
            let instead = suggestion::instead_of_key(section, key);
            let keys = siblings.iter().map(|it| format!("`{section}.{it}`")).collect::<Vec<_>>().join(", ");
            let keys = (!siblings.is_empty()).then_some(keys);
            message!("experiment-unknown-path", path, nearest, instead, keys)
        })?;
    let new = path.join(".");
    if new != written {
        return Err(message!("experiment-renamed", old = quote(written), new = quote(&new)));
    }
    Ok(section.map(str::to_owned).into_iter().chain(path).collect())
}

/// Path that the segments denote, with the new names of renamed keys.
fn walk(shape: &SchemaIndex, schema: &Json, segments: &[&str]) -> Option<Path> {
    let Some((first, rest)) = segments.split_first() else { return Some(Vec::new()) };
    let step = |key: &str, rest: &[&str]| {
        let path = walk(shape, shape.child(schema, key)?, rest)?;
        Some(std::iter::once(key.to_owned()).chain(path).collect())
    };
    let keys = shape.keys(schema);
    if keys.contains(first) {
        return step(first, rest);
    }
    if let Some(new) = new_name(first, &keys) {
        return step(new, rest);
    }
    // Keys that the user chooses may contain dots.
    let open = shape.is_open(schema) && segments.iter().all(|it| !it.is_empty());
    let joined = || (1..=segments.len()).map(|n| (segments[..n].join("."), &segments[n..]));
    open.then(|| joined().find_map(|(key, rest)| step(&key, rest))).flatten()
}

/// All paths whose keys the schema names. Paths in `stack` are listed without the prefix `stack.`.
pub fn known(shape: &SchemaIndex) -> Vec<String> {
    fn below(shape: &SchemaIndex, schema: &Json, path: &str, depth: usize, all: &mut Vec<String>) {
        for key in shape.keys(schema).into_iter().filter(|key| depth > 0 || !META.contains(key)) {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            if let Some(schema) = shape.child(schema, key).filter(|_| depth < 3) {
                below(shape, schema, &path, depth + 1, all);
            }
            all.push(path.trim_start_matches("stack.").to_owned());
        }
    }
    let mut all = Vec::new();
    below(shape, shape.root(), "", 0, &mut all);
    all
}

/// Sets the value at a path; creates missing mappings on the way. The error contains the part of the path that is not a
/// mapping.
pub fn set(root: &mut Node, path: &[String], at: &Span, value: Node) -> Result<(), Message> {
    let mut node = root;
    for (i, name) in path.iter().enumerate() {
        if node.is_null() {
            node.value = Value::Map(Vec::new());
        }
        let entries = match &mut node.value {
            Value::Map(entries) => entries,
            Value::Scalar(text, _) => {
                return Err(message!(
                    "experiment-obstacle-value",
                    path = path[..i].join("."),
                    value = quote(text)
                ));
            }
            Value::List(_) => return Err(message!("experiment-obstacle-list", path = path[..i].join("."))),
        };
        let key = Key { text: name.clone(), span: at.clone() };
        let index = entries.iter().position(|it| it.0.text == *name).unwrap_or_else(|| {
            entries.push((key.clone(), Node::empty_map(at)));
            entries.len() - 1
        });
        if i + 1 == path.len() {
            entries[index] = (key, value);
            return Ok(());
        }
        node = &mut entries[index].1;
    }
    Ok(())
}

/// Best position for an error about a path: its value, or the last existing key on the way.
///
/// List items are counted from 0, as in `operations.session.steps[1].get`.
pub fn span_of(root: &Node, path: &str) -> Span {
    follow(root, path).0
}

/// Value at a path, if it exists.
pub fn node<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    follow(root, path).1
}

fn follow<'a>(root: &'a Node, path: &str) -> (Span, Option<&'a Node>) {
    let mut at = root.span.clone();
    let mut node = root;
    let mut rest = path;
    let value_span = |value: &Node, otherwise: &Span| match value.value {
        Value::Scalar(..) if !value.span.bytes.is_empty() => value.span.clone(),
        _ => otherwise.clone(),
    };
    while !rest.is_empty() {
        if let Value::List(items) = &node.value {
            let index = rest.strip_prefix('[').and_then(|it| it.split_once(']'));
            let item = index.and_then(|(n, after)| Some((items.get(n.parse::<usize>().ok()?)?, after)));
            let Some((item, after)) = item else { return (at, None) };
            at = value_span(item, &item.span);
            (node, rest) = (item, after.trim_start_matches('.'));
            continue;
        }
        let fits =
            |key: &str| rest.strip_prefix(key).is_some_and(|it| it.is_empty() || it.starts_with(['.', '[']));
        // Use the longest matching key, because keys may contain `.` and `[`.
        let found = node.entries().iter().filter(|it| fits(&it.0.text)).max_by_key(|it| it.0.text.len());
        let Some((key, value)) = found else { return (at, None) };
        rest = rest[key.text.len()..].trim_start_matches('.');
        at = value_span(value, &key.span);
        node = value;
    }
    (at, Some(node))
}
