//! Checks a tree against the schema.
//!
//! The schema also determines the type of a plain scalar: if the schema requires a string, `on` and `1.10` stay as they
//! are written.

use crate::datum::Datum;
use crate::diagnostic::{Diagnostic, MAX_COLLECTED, Span, any_of, nearest, quote};
use crate::json;
use crate::renamed::new_name;
use crate::suggestion;
use crate::tree::{Key, Node, Style, Value};
use crate::unit;
use model::message;
use model::message::{Argument, Message};
use serde_json::Value as Json;

/// JSON Schema that schemars generates from the file's types.
#[derive(Debug)]
pub struct SchemaIndex {
    root: Json,
}

impl SchemaIndex {
    pub fn new(root: Json) -> SchemaIndex {
        SchemaIndex { root }
    }

    pub fn root(&self) -> &Json {
        &self.root
    }

    /// Allowed alternatives at a place, with references resolved and `null` left out.
    pub fn alternatives<'a>(&'a self, schema: &'a Json) -> Vec<&'a Json> {
        if let Some(name) = schema.get("$ref").and_then(Json::as_str) {
            let name = name.rsplit('/').next().unwrap_or_default();
            return self.alternatives(&self.root["$defs"][name]);
        }
        match schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::as_array) {
            Some(all) => all.iter().flat_map(|it| self.alternatives(it)).collect(),
            None if has_type(schema, "null") && types(schema).len() == 1 => Vec::new(),
            None => vec![schema],
        }
    }

    /// Schema of `key` within a place, if a mapping with this key is allowed there.
    pub fn child<'a>(&'a self, schema: &'a Json, key: &str) -> Option<&'a Json> {
        self.alternatives(schema).into_iter().find_map(|alternative| {
            alternative
                .get("properties")
                .and_then(|all| all.get(key))
                .or_else(|| extra(alternative).filter(|it| it.is_object()))
        })
    }

    /// Keys that `schema` allows in a mapping, except those that the user chooses.
    pub fn keys<'a>(&'a self, schema: &'a Json) -> Vec<&'a str> {
        let all = self.alternatives(schema).into_iter();
        all.filter_map(|it| it.get("properties")?.as_object())
            .flat_map(|it| it.keys().map(String::as_str))
            .collect()
    }

    /// True if the user chooses the keys of mappings at a place.
    pub fn is_open(&self, schema: &Json) -> bool {
        self.alternatives(schema).into_iter().any(|it| extra(it).is_some_and(Json::is_object))
    }

    /// Description of the allowed values at a place.
    fn describe(&self, schema: &Json) -> Vec<Message> {
        let all = self.alternatives(schema);
        let mut words = any_of(words(&all));
        let mut kinds: Vec<Message> = all.iter().filter_map(|it| kind(it)).collect();
        kinds.dedup();
        words.append(&mut kinds);
        words
    }
}

/// Schema of the keys that the user chooses.
/// True if the operations of the file's load are those of its recording.
fn has_recording(file: &Node) -> bool {
    let load = file.get("load").map(|load| &load.1);
    let model = load.and_then(|load| load.get("model"));
    let is_replay =
        model.is_some_and(|model| matches!(&model.1.value, Value::Scalar(text, _) if text == "replay"));
    is_replay || load.is_some_and(|load| load.get("traffic").is_some())
}

fn extra(schema: &Json) -> Option<&Json> {
    schema.get("additionalProperties").filter(|it| **it != Json::Bool(false))
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn has_type(schema: &Json, name: &str) -> bool {
    types(schema).contains(&name)
}

fn is_object(schema: &Json) -> bool {
    has_type(schema, "object")
}

/// Words of `enum` and `const`.
fn words<'a>(all: &[&'a Json]) -> Vec<&'a str> {
    let lists = all.iter().filter_map(|it| it.get("enum")?.as_array()).flatten();
    let singles = all.iter().filter_map(|it| it.get("const"));
    lists.chain(singles).filter_map(Json::as_str).collect()
}

fn is_word(schema: &Json) -> bool {
    schema.get("enum").is_some() || schema.get("const").is_some()
}

fn kind(schema: &Json) -> Option<Message> {
    if is_word(schema) {
        return None;
    }
    if let Some(unit) = schema.get(unit::KEY).and_then(Json::as_str) {
        return Some(unit::describe(unit));
    }
    if schema.get(json::KEY).is_some() {
        return Some(message!("experiment-kind-json"));
    }
    Some(match types(schema).into_iter().find(|it| *it != "null")? {
        "object" => message!("experiment-kind-mapping"),
        "array" => message!("experiment-kind-list"),
        "integer" => message!("experiment-kind-integer"),
        "number" => message!("experiment-kind-number"),
        "boolean" => message!("experiment-kind-boolean"),
        _ => message!("experiment-kind-text"),
    })
}

/// Reads trees and collects diagnostics.
pub struct SchemaReader<'a> {
    pub shape: &'a SchemaIndex,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    /// True if a missing required key is an error.
    pub complete: bool,
}

impl SchemaReader<'_> {
    /// Reads a value as far as possible. Use the result only if there are no errors.
    ///
    /// `at` is the position for errors about missing keys, `path` the name of the value in messages.
    pub fn read(&mut self, schema: &Json, node: &Node, path: &str, at: &Span) -> Datum {
        if *schema == Json::Bool(true) || self.diagnostics.len() > MAX_COLLECTED {
            return untyped(node);
        }
        let all = self.shape.alternatives(schema);
        if node.is_null() {
            return self.null(schema, node, path, at);
        }
        if all.iter().any(|it| it.get(json::KEY).is_some()) {
            return Datum::Text(json::text(node));
        }
        match &node.value {
            Value::Scalar(text, style) => self.scalar(schema, &all, text, *style, &node.span, path),
            Value::List(items) => match all.iter().find(|it| has_type(it, "array")) {
                None => {
                    let is_object = all.iter().any(|it| is_object(it));
                    let example = match is_object {
                        true => suggestion::mapping_of_list(path, items),
                        false => suggestion::axis_of_list(path, items),
                    };
                    self.invalid(schema, message!("experiment-kind-list"), example, &node.span, path)
                }
                Some(list_schema) => {
                    let long =
                        |key| list_schema.get(key).and_then(Json::as_u64).unwrap_or(items.len() as u64);
                    if long("minItems") > items.len() as u64 || long("maxItems") < items.len() as u64 {
                        let (count, length) = (items.len(), long("minItems").to_string());
                        let message = message!("experiment-list-length", path = quote(path), count, length);
                        self.report(&node.span, message);
                    }
                    let schema = list_schema.get("items").unwrap_or(&Json::Bool(true));
                    let read = |(i, item): (usize, &Node)| {
                        self.read(schema, item, &format!("{path}[{i}]"), &item.span)
                    };
                    Datum::List(items.iter().enumerate().map(read).collect())
                }
            },
            Value::Map(entries) => {
                let objects: Vec<&Json> = all.iter().copied().filter(|it| is_object(it)).collect();
                // Rank an alternative by whether a required key is present, then by the number of known keys.
                let matches = |object: &&Json| {
                    let required = object.get("required").and_then(Json::as_array);
                    let has = |key: &&Json| key.as_str().is_some_and(|key| node.get(key).is_some());
                    let known =
                        entries.iter().filter(|(key, _)| object["properties"].get(&key.text).is_some());
                    (required.is_some_and(|all| all.iter().any(|key| has(&key))), known.count())
                };
                if path == "objectives" || path.starts_with("objectives[") {
                    return self.objectives(entries, &node.span);
                }
                if objects.is_empty() {
                    let kind = message!("experiment-kind-mapping");
                    return self.invalid(schema, kind, None, &node.span, path);
                }
                let best = objects.iter().copied().rev().max_by_key(matches).unwrap_or(objects[0]);
                if objects.len() > 1 && matches(&best) == (false, 0) && extra(best).is_none() {
                    return self.none_of(&objects, entries, path, at);
                }
                self.object(best, node, path, at)
            }
        }
    }

    /// Reports objectives that are written as a mapping: `p99: 5ms`.
    fn objectives(&mut self, entries: &[(Key, Node)], at: &Span) -> Datum {
        let item = |(key, value): &(Key, Node)| {
            let Value::Scalar(bound, _) = &value.value else { return None };
            let relation = if bound.trim_start().starts_with(['<', '>']) { "" } else { "< " };
            Some(format!("\"{} {relation}{}\"", key.text, bound.trim()))
        };
        let list = entries.iter().filter_map(item).collect::<Vec<_>>().join(", ");
        self.report(at, message!("experiment-objectives-mapping", list));
        Datum::Null
    }

    fn object(&mut self, schema: &Json, node: &Node, path: &str, at: &Span) -> Datum {
        let within = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let mut fields = Vec::new();
        let mut cut = 0;
        for (number, (key, value)) in node.entries().iter().enumerate() {
            if cut > 0 {
                cut -= 1;
                continue;
            }
            let is_known = |key: &str| schema["properties"].get(key).is_some() || extra(schema).is_some();
            if let Some((keys, example)) = suggestion::cut_at_comma(&node.entries()[number..], is_known) {
                cut = keys;
                self.report(
                    &value.span,
                    message!("experiment-cut-at-comma", key = quote(&key.text), example),
                );
                continue;
            }
            let known = schema.get("properties").and_then(|all| all.get(&key.text));
            let read = match known.or_else(|| extra(schema)) {
                Some(schema) => self.read(schema, value, &within(&key.text), &key.span),
                None => {
                    self.unknown(&self.shape.keys(schema), key, node.entries(), path);
                    continue;
                }
            };
            fields.push((key.text.clone(), read));
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut required: Vec<&str> = required.filter_map(Json::as_str).collect();
        if path.is_empty() && !has_recording(node) {
            required.push("operations");
            required.sort_unstable();
        }
        let complete = self.complete;
        let has = |key: &str| {
            let names = |name: &str| name == key || new_name(name, &[key]).is_some();
            node.entries().iter().any(|(name, _)| names(&name.text))
        };
        for key in required.into_iter().filter(|key| complete && !has(key)) {
            let kinds = self.shape.describe(&schema["properties"][key]);
            self.report(at, message!("experiment-missing-key", path = quoted(path), key, kinds));
        }
        Datum::Map(fields)
    }

    /// Reports a key that its mapping must not have. `entries` are the entries of the mapping.
    fn unknown(&mut self, keys: &[&str], key: &Key, entries: &[(Key, Node)], path: &str) {
        let (key, at) = (key.text.as_str(), &key.span);
        if let Some(new) = new_name(key, keys) {
            self.report(at, message!("experiment-renamed", old = quote(key), new = quote(new)));
            return;
        }
        let instead = suggestion::instead_of_key(path, key);
        if instead.is_none() && !path.is_empty() && self.shape.keys(self.shape.root()).contains(&key) {
            let operation = path.strip_prefix("operations.").filter(|_| key == "objectives");
            let operation = operation.map(|path| objective_target(path, entries));
            let path = quote(path);
            self.report(
                at,
                message!("experiment-key-of-file", key = quote(key), path, name = key, operation),
            );
            return;
        }
        let nearest = instead.or_else(|| nearest(key, keys.iter().copied()));
        let (has_settings, keys) = (keys.contains(&"settings"), list(keys));
        let message = message!(
            "experiment-unknown-key",
            path = quoted(path),
            key = quote(key),
            nearest,
            has_settings,
            keys
        );
        self.report(at, message);
    }

    /// Reports a mapping that matches none of several alternatives.
    fn none_of(&mut self, forms: &[&Json], entries: &[(Key, Node)], path: &str, at: &Span) -> Datum {
        let keys: Vec<&str> = forms.iter().flat_map(|it| self.shape.keys(it)).collect();
        match entries {
            [] => {
                self.report(at, message!("experiment-empty-mapping", path = quote(path), keys = list(&keys)));
            }
            all => all.iter().for_each(|(key, _)| self.unknown(&keys, key, all, path)),
        }
        Datum::Null
    }

    /// Reads an empty value as null, an empty mapping or an empty list. Reports an error if the schema allows none of
    /// them.
    fn null(&mut self, schema: &Json, node: &Node, path: &str, at: &Span) -> Datum {
        let allowed = |schema: &Json| has_type(schema, "null");
        let nullable = allowed(schema)
            || ["anyOf", "oneOf"].iter().filter_map(|it| schema.get(*it)?.as_array()).flatten().any(allowed);
        let all = self.shape.alternatives(schema);
        if nullable {
            return Datum::Null;
        }
        // An empty mapping or list has the same meaning as a missing one.
        if let Some(object) = all.iter().find(|it| is_object(it)) {
            return self.object(object, &Node::empty_map(&node.span), path, at);
        }
        if all.iter().any(|it| has_type(it, "array")) {
            return Datum::List(Vec::new());
        }
        let kinds = self.shape.describe(schema);
        self.report(at, message!("experiment-no-value", path = quote(path), kinds));
        Datum::Null
    }

    fn scalar(
        &mut self,
        schema: &Json,
        all: &[&Json],
        text: &str,
        style: Style,
        at: &Span,
        path: &str,
    ) -> Datum {
        let words = words(all);
        if words.contains(&text) {
            return Datum::Text(text.to_owned());
        }
        let plain = style == Style::Plain;
        let mut first_error = None;
        for alternative in all.iter().filter(|it| !is_word(it)) {
            let read = if let Some(unit) = alternative.get(unit::KEY).and_then(Json::as_str) {
                unit::check(unit, text).map(|()| Datum::Text(text.to_owned()))
            } else if has_type(alternative, "string") {
                Ok(Datum::Text(text.to_owned()))
            } else if has_type(alternative, "integer") {
                integer(alternative, text, path)
            } else if has_type(alternative, "number") {
                number(text, path)
            } else if has_type(alternative, "boolean") {
                boolean(text, plain, path)
            } else {
                continue;
            };
            match read {
                Ok(datum) => return datum,
                Err(message) => first_error = first_error.or(Some(message)),
            }
        }
        if let Some(new) = new_name(text, &words) {
            self.report(at, message!("experiment-renamed", old = quote(text), new = quote(new)));
            return Datum::Null;
        }
        match first_error {
            Some(message) if words.is_empty() => {
                self.report(at, message);
                Datum::Null
            }
            _ => match nearest(text, words.iter().copied()) {
                Some(nearest) => {
                    let (path, value) = (quote(path), quote(text));
                    self.report(at, message!("experiment-unknown-word", path, value, nearest));
                    Datum::Null
                }
                None => {
                    let items = all.iter().find(|it| has_type(it, "array")).map(|it| it.get("items"));
                    let keys = self.shape.keys(schema);
                    let example = match items {
                        None => suggestion::mapping_of_scalar(path, text, &keys),
                        // A scalar is not a valid item either.
                        Some(Some(item)) if !self.shape.keys(item).is_empty() => None,
                        Some(_) => Some(suggestion::list_of_scalar(path, text)),
                    };
                    self.invalid(schema, quote(text), example, at, path)
                }
            },
        }
    }

    /// Reports a value that the schema does not allow. `value` is its text or its kind, `example` the correction.
    fn invalid(
        &mut self,
        schema: &Json,
        value: impl Into<Argument<'static>>,
        example: Option<String>,
        at: &Span,
        path: &str,
    ) -> Datum {
        let kinds = self.shape.describe(schema);
        let message =
            message!("experiment-invalid-value", path = quoted(path), value = value.into(), example, kinds);
        self.report(at, message);
        Datum::Null
    }

    fn report(&mut self, at: &Span, message: Message) {
        self.diagnostics.push(Diagnostic::new(at, message));
    }
}

/// Name of an operation in the notation of objectives. For a step, the name is `buy/login`, or `buy/1` if the step has
/// no name. `path` begins with the operation; `entries` are the entries of the mapping at `path`.
fn objective_target(path: &str, entries: &[(Key, Node)]) -> String {
    let (operation, place) = path.split_once(".steps[").unwrap_or((path, ""));
    let Some(index) = place.strip_suffix(']').and_then(|index| index.parse::<usize>().ok()) else {
        return operation.split('.').next().unwrap_or_default().to_owned();
    };
    let name = entries.iter().find_map(|(key, value)| match &value.value {
        Value::Scalar(name, _) if key.text == "name" => Some(name.clone()),
        _ => None,
    });
    format!("{operation}/{}", name.unwrap_or_else(|| (index + 1).to_string()))
}

/// Path in backquotes; `None` for the whole file.
fn quoted(path: &str) -> Option<String> {
    (!path.is_empty()).then(|| quote(path))
}

/// Keys in backquotes, separated by commas.
fn list(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

type ScalarResult = Result<Datum, Message>;
/// Parses an integer within the schema's bounds. Underscores may separate digits, as in `1_000_000`.
fn integer(schema: &Json, text: &str, path: &str) -> ScalarResult {
    let digits = text.replace('_', "");
    let most = match schema.get("format").and_then(Json::as_str) {
        Some("uint16") => i128::from(u16::MAX),
        Some("uint32") => i128::from(u32::MAX),
        Some("uint64") => i128::from(u64::MAX),
        _ => i128::from(i64::MAX),
    };
    let bound = |key: &str| schema.get(key).and_then(Json::as_i64).map(i128::from);
    let least = bound("minimum").unwrap_or(i128::from(i64::MIN));
    let most = bound("maximum").unwrap_or(most);
    match digits.parse::<i128>() {
        Ok(number) if number < least => Err(message!(
            "experiment-too-small",
            value = quote(text),
            path = quote(path),
            min = least.to_string()
        )),
        Ok(number) if number > most => Err(message!(
            "experiment-too-large",
            value = quote(text),
            path = quote(path),
            max = most.to_string()
        )),
        Ok(it) => Ok(u64::try_from(it).map_or_else(|_| Datum::Signed(it as i64), Datum::Unsigned)),
        Err(_) => {
            let major = || text.split_once('.').filter(|_| path.ends_with(".version"))?.0.parse().ok();
            let nearest = whole(text).or_else(major).map(|it: u64| it.to_string());
            Err(message!("experiment-integer", value = quote(text), path = quote(path), nearest))
        }
    }
}

/// Integer that a text such as `10k`, `1e6` or `8.0` most likely means.
fn whole(text: &str) -> Option<u64> {
    let (digits, times) = match text.char_indices().last()? {
        (i, 'k' | 'K') => (&text[..i], 1e3),
        (i, 'm' | 'M') => (&text[..i], 1e6),
        (i, '%') => (&text[..i], 1.0),
        _ => (text, 1.0),
    };
    let number = digits.parse::<f64>().ok()? * times;
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

fn number(text: &str, path: &str) -> ScalarResult {
    match text.replace('_', "").parse::<f64>() {
        Ok(it) if it.is_finite() => Ok(Datum::Float(it)),
        _ => {
            let part =
                |(unit, parts): (&str, f64)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? / parts);
            let nearest = [("%", 100.0), ("m", 1000.0)].into_iter().find_map(part).map(|it| it.to_string());
            Err(message!("experiment-number", value = quote(text), path = quote(path), nearest))
        }
    }
}

fn boolean(text: &str, plain: bool, path: &str) -> ScalarResult {
    let nearest = match text.to_ascii_lowercase().as_str() {
        "true" if plain => return Ok(Datum::Bool(true)),
        "false" if plain => return Ok(Datum::Bool(false)),
        "true" | "on" | "yes" | "1" => Some("true"),
        "false" | "off" | "no" | "0" => Some("false"),
        _ => None,
    };
    Err(message!("experiment-boolean", value = quote(text), path = quote(path), nearest))
}

/// Converts a value that has no schema.
fn untyped(node: &Node) -> Datum {
    match &node.value {
        _ if node.is_null() => Datum::Null,
        Value::Scalar(text, _) => Datum::Text(text.clone()),
        Value::List(items) => Datum::List(items.iter().map(untyped).collect()),
        Value::Map(entries) => {
            Datum::Map(entries.iter().map(|(key, node)| (key.text.clone(), untyped(node))).collect())
        }
    }
}
