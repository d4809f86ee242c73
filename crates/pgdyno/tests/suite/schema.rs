//! Check of JSON documents against the published schemas in docs/schema

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Published schema of this name.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"))
}

/// Panics unless the document has the form that the schema of its `format` describes, and no other keys.
#[track_caller]
pub fn check(document: &Value) {
    let name = document["format"].as_str().and_then(|it| it.strip_prefix("pgdyno."));
    let name = name.unwrap_or_else(|| panic!("a document without a format: {document:.300}"));
    let text = fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root: Value = serde_json::from_str(&text).expect("a schema is JSON");
    let found = violations(&root, &root, document, name);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Differences between the value and the schema, a part of `root`. Keys that the schema does not know are differences.
pub fn violations(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = keyword_violations(root, schema, value, path);
    let mut known = BTreeSet::new();
    if let (true, Some(object)) = (known_keys(root, schema, &mut known), value.as_object()) {
        let unknown = object.keys().filter(|key| !known.contains(key.as_str()));
        found.extend(unknown.map(|key| format!("{path}: unknown key {key}")));
    }
    found
}

fn keyword_violations(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let Value::Object(keywords) = schema else {
        assert_eq!(schema, &Value::Bool(true), "{path}: not a schema");
        return Vec::new();
    };
    let mut found = Vec::new();
    for (keyword, content) in keywords {
        let elements = || content.as_array().expect("a list of schemas").iter();
        let matching = || elements().filter(|it| violations(root, it, value, path).is_empty()).count();
        let conforms = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
            "$ref" => {
                found.extend(keyword_violations(root, referenced(root, content), value, path));
                true
            }
            "type" => match content {
                Value::Array(types) => types.iter().any(|it| has_type(value, it)),
                one => has_type(value, one),
            },
            "const" => value == content,
            "enum" => elements().any(|it| it == value),
            "minimum" => value.as_f64().is_none_or(|it| Some(it) >= content.as_f64()),
            "maximum" => value.as_f64().is_none_or(|it| Some(it) <= content.as_f64()),
            "oneOf" => matching() == 1,
            "anyOf" => {
                let below = elements().map(|it| violations(root, it, value, path));
                found.extend(below.min_by_key(Vec::len).into_iter().flatten());
                true
            }
            "required" => elements().all(|it| value.get(it.as_str().expect("a key")).is_some()),
            "properties" => {
                for (key, of_key) in content.as_object().expect("schemas by key") {
                    let member =
                        value.get(key).map(|it| violations(root, of_key, it, &format!("{path}.{key}")));
                    found.extend(member.into_iter().flatten());
                }
                true
            }
            "additionalProperties" if content == &Value::Bool(false) => true,
            "additionalProperties" => {
                let named = |key: &str| keywords.get("properties").is_some_and(|it| it.get(key).is_some());
                let unnamed = value.as_object().into_iter().flatten().filter(|it| !named(it.0));
                found.extend(
                    unnamed.flat_map(|(key, it)| violations(root, content, it, &format!("{path}.{key}"))),
                );
                true
            }
            "items" => {
                let all = value.as_array().into_iter().flatten().enumerate();
                found
                    .extend(all.flat_map(|(at, it)| violations(root, content, it, &format!("{path}[{at}]"))));
                true
            }
            "prefixItems" => {
                let all = elements().zip(value.as_array().into_iter().flatten());
                found.extend(all.flat_map(|(item_schema, it)| violations(root, item_schema, it, path)));
                true
            }
            "minItems" => value
                .as_array()
                .is_none_or(|it| it.len() as u64 >= content.as_u64().expect("the value is a count")),
            "maxItems" => value
                .as_array()
                .is_none_or(|it| it.len() as u64 <= content.as_u64().expect("the value is a count")),
            _ => panic!("{path}: this check does not know the keyword {keyword}"),
        };
        if !conforms {
            found.push(format!("{path}: {value:.200} does not satisfy {keyword} {content:.500}"));
        }
    }
    found
}

/// Collects the keys of an object. False if the schema does not list them all.
fn known_keys<'a>(root: &'a Value, schema: &'a Value, known: &mut BTreeSet<&'a str>) -> bool {
    let lists_all = ["oneOf", "anyOf"].iter().all(|it| schema.get(it).is_none())
        && schema.get("additionalProperties").is_none_or(Value::is_boolean);
    if !lists_all {
        return false;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    known.extend(properties.into_iter().flat_map(|it| it.keys()).map(String::as_str));
    let below = schema.get("$ref").is_some_and(|it| known_keys(root, referenced(root, it), known));
    properties.is_some() || below
}

fn referenced<'a>(root: &'a Value, reference: &Value) -> &'a Value {
    let pointer = reference.as_str().and_then(|it| it.strip_prefix('#')).expect("a local reference");
    root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"))
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}
