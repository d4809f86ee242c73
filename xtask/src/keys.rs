//! docs/keys.md: every key of the experiment file, from its JSON Schema.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

pub const SCHEMA: &str = "docs/schema/experiment.json";
pub const PAGE: &str = "docs/keys.md";

const INTRODUCTION: &str = "# Keys of the experiment file

Every key of an [experiment file](experiment.md), with its values and its meaning. `pgdyno schema` prints the same as a JSON Schema
for editors. `NAME` stands for a name that you choose, such as that of an operation. Keys that occur in several places are listed
once. A *duration* is written as `1m30s`, a *size* as `256MB`, a *share* as `10%`, and a *pause* as a duration or a [random
variable](operations.md#users).
";

/// Writes the page.
pub fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project's root");
    let written = fs::read_to_string(root.join(SCHEMA)).and_then(|schema| {
        let page = page(&schema).ok_or_else(|| io::Error::other("the schema is not a JSON Schema"))?;
        fs::write(root.join(PAGE), page)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("keys: {error}");
            ExitCode::from(1)
        }
    }
}

/// Mapping in the experiment file, with all paths at which it occurs.
struct Section<'a> {
    /// Name of the schema's definition, which may occur at several paths. For a mapping without a definition, its only
    /// path. Alternatives of a definition are merged.
    id: String,
    paths: Vec<String>,
    keys: BTreeMap<&'a str, Key<'a>>,
}

struct Key<'a> {
    schema: &'a Value,
    /// Description of the mapping, if this key is the mapping's only key.
    fallback: Option<&'a str>,
}

/// The page for this schema; `None` if the text is not a JSON Schema with keys.
pub fn page(schema: &str) -> Option<String> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let mut sections = Vec::new();
    visit(&root, &root, "", "", &mut Vec::new(), &mut sections);
    let mut page = INTRODUCTION.to_owned();
    for section in &mut sections {
        // The shortest path names the section.
        section.paths.sort_by_key(|path| path.matches('.').count());
        let first = section.paths.first()?;
        page += &match first.as_str() {
            "" => "\n## The file\n\n".to_owned(),
            path => format!("\n## {path}\n\n"),
        };
        if let [_, others @ ..] = &section.paths[..]
            && !others.is_empty()
        {
            let others: Vec<String> = others.iter().map(|path| format!("`{path}`")).collect();
            page += &format!("The same keys: {}.\n\n", others.join(", "));
        }
        page += "| key | value | meaning |\n|---|---|---|\n";
        for (name, key) in &section.keys {
            let anchors = section.paths.iter().map(|path| format!("<a id=\"key-{}\"></a>", join(path, name)));
            let values = values(&root, key.schema).into_iter().collect::<Vec<_>>().join(", ");
            let meaning = description(&root, key);
            page += &format!("| {}`{name}` | {values} | {meaning} |\n", anchors.collect::<String>());
        }
    }
    (!sections.is_empty()).then_some(page)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Adds the mappings of a schema. `within` lists the enclosing definitions. A definition that contains itself is
/// visited only once.
fn visit<'a>(
    root: &'a Value,
    schema: &'a Value,
    id: &str,
    path: &str,
    within: &mut Vec<&'a str>,
    sections: &mut Vec<Section<'a>>,
) {
    if let Some(name) = definition(schema) {
        if !within.contains(&name) {
            within.push(name);
            visit(root, &root["$defs"][name], name, path, within, sections);
            within.pop();
        }
        return;
    }
    for list in ["oneOf", "anyOf", "allOf"] {
        for alternative in schema[list].as_array().into_iter().flatten() {
            visit(root, alternative, id, path, within, sections);
        }
    }
    if let Some(properties) = schema["properties"].as_object() {
        let known = sections.iter().position(|section| section.id == id);
        let index = known.unwrap_or_else(|| {
            sections.push(Section { id: id.to_owned(), paths: Vec::new(), keys: BTreeMap::new() });
            sections.len() - 1
        });
        if !sections[index].paths.iter().any(|known| known == path) {
            sections[index].paths.push(path.to_owned());
        }
        let properties: BTreeMap<&String, &Value> = properties.iter().collect();
        let fallback = schema["description"].as_str().filter(|_| properties.len() == 1);
        for (&name, &schema) in &properties {
            sections[index].keys.insert(name, Key { schema, fallback });
        }
        for (name, schema) in properties {
            let path = join(path, name);
            visit(root, schema, &path, &path, within, sections);
        }
    }
    if schema["additionalProperties"].is_object() {
        visit(root, &schema["additionalProperties"], id, &join(path, "NAME"), within, sections);
    }
    if schema["items"].is_object() {
        visit(root, &schema["items"], id, path, within, sections);
    }
}

/// Name of the definition that a schema refers to.
fn definition(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Types of the values that a schema accepts, or a list of the accepted values.
fn values(root: &Value, schema: &Value) -> BTreeSet<String> {
    if let Some(name) = definition(schema) {
        return values(root, &root["$defs"][name]);
    }
    let lists = ["oneOf", "anyOf", "allOf"].iter().filter_map(|list| schema[*list].as_array());
    let alternatives: Vec<&Value> = lists.flatten().collect();
    if !alternatives.is_empty() {
        return alternatives.into_iter().flat_map(|alternative| values(root, alternative)).collect();
    }
    if let Some(unit) = schema["x-unit"].as_str() {
        return [unit.replace("bytes", "size")].into();
    }
    let constants = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    let constants: BTreeSet<String> =
        constants.filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
    if !constants.is_empty() {
        return constants;
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let word = |kind: &str| match kind {
        "object" => "mapping",
        "array" => "list",
        "string" => "text",
        "boolean" => "`true`, `false`",
        "integer" => "whole number",
        "number" => "number",
        _ => "",
    };
    types.into_iter().map(word).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Description of a key, on one line of a table.
fn description(root: &Value, key: &Key<'_>) -> String {
    let inherited = || root["$defs"][definition(key.schema)?]["description"].as_str();
    let text = key.schema["description"].as_str().or(key.fallback).or_else(inherited).unwrap_or("");
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::anchors;

    #[test]
    fn lists_keys_of_every_place() {
        let schema = r##"{
            "properties": {
                "repeat": { "type": ["integer", "null"], "description": "Number of\ntrials." },
                "stack": { "$ref": "#/$defs/Stack", "description": "System." },
                "operations": { "additionalProperties": { "$ref": "#/$defs/Operation" }, "type": "object" }
            },
            "$defs": {
                "Stack": { "properties": { "a": { "$ref": "#/$defs/Node" }, "b": { "anyOf": [
                    { "$ref": "#/$defs/Node" }, { "enum": ["none"], "type": "string" }, { "type": "null" } ] } } },
                "Node": { "type": "object", "properties": { "cpu": { "type": "number" } } },
                "Operation": { "oneOf": [
                    { "properties": { "sql": { "type": "string" } }, "description": "a | b" },
                    { "properties": { "steps": { "type": "array", "items": { "$ref": "#/$defs/Operation" } } } } ] }
            }
        }"##;
        let page = page(schema).expect("the schema has keys");
        let found: Vec<String> = anchors(&page).filter(|anchor| anchor.starts_with("key-")).collect();
        let expected = [
            "operations",
            "repeat",
            "stack",
            "operations.NAME.sql",
            "operations.NAME.steps",
            "stack.a",
            "stack.b",
        ];
        let mut expected: Vec<String> = expected.iter().map(|key| format!("key-{key}")).collect();
        expected.extend(["key-stack.a.cpu".to_owned(), "key-stack.b.cpu".to_owned()]);
        assert_eq!(found, expected);
        for line in [
            "| <a id=\"key-repeat\"></a>`repeat` | whole number | Number of trials. |",
            "| <a id=\"key-operations.NAME.sql\"></a>`sql` | text | a \\| b |",
            "| <a id=\"key-stack.b\"></a>`b` | `none`, mapping |  |",
            "The same keys: `stack.b`.",
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is missing in\n{page}");
        }
        assert_eq!(super::page("{}"), None);
        assert_eq!(super::page("none"), None);
    }
}
