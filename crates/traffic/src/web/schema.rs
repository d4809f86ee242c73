//! Values that a JSON Schema of an OpenAPI description allows

use super::json::Json;

/// Depth up to which objects and lists are filled in.
const DEPTH_MAX: usize = 8;
/// Maximum number of references that lead to one value.
const REFERENCES_MAX: usize = 16;
/// Maximum number of values of a body.
const VALUES_MAX: usize = 400;
/// Maximum number of values of an enumeration.
const ENUM_MAX: usize = 20;

/// Value of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub value: Json,
    /// True if it is no example of the description, but was derived from types.
    pub is_invented: bool,
}

/// Value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParameterValue {
    /// Integer; `None` if the description contains no value.
    Integer(Option<i64>),
    /// Texts from an example, a default or an enumeration.
    Texts(Vec<String>),
    Unknown,
}

/// Follows `$ref` within the description. A reference that cannot be followed remains.
pub(super) fn resolve<'a>(description: &'a Json, mut value: &'a Json) -> &'a Json {
    for _ in 0..REFERENCES_MAX {
        let Some(pointer) = value.text_of("$ref").and_then(|reference| reference.strip_prefix("#/")) else {
            break;
        };
        let mut target = Some(description);
        for name in pointer.split('/') {
            let name = super::url::decoded(name).replace("~1", "/").replace("~0", "~");
            target = target.and_then(|target| match target {
                Json::List(items) => items.get(name.parse::<usize>().ok()?),
                target => target.get(&name),
            });
        }
        let Some(target) = target else { break };
        value = target;
    }
    value
}

/// First example of a parameter, a media type or a schema.
fn example<'a>(description: &'a Json, holder: &'a Json) -> Option<&'a Json> {
    let named = holder.get("examples").map(Json::members).unwrap_or_default().first();
    let named = named.and_then(|(_, example)| resolve(description, example).get("value"));
    // In a schema of OpenAPI 3.1, examples are a list.
    let listed = holder.get("examples").map(Json::items).unwrap_or_default().first();
    holder.get("example").or(named).or(listed)
}

/// Value of a body with a media type.
pub(super) fn sample(description: &Json, media_type: &Json) -> Sample {
    if let Some(value) = example(description, media_type) {
        return Sample { value: value.clone(), is_invented: false };
    }
    let mut sampler = Sampler { description, is_invented: false, values: 0, open: Vec::new() };
    let value = media_type.get("schema").map_or(Json::Object(Vec::new()), |schema| sampler.value(schema));
    Sample { value, is_invented: sampler.is_invented }
}

/// Value for a parameter.
pub(super) fn parameter(description: &Json, parameter: &Json) -> ParameterValue {
    let schema = parameter.get("schema").map_or(&Json::Null, |schema| resolve(description, schema));
    // A list in a path or query is sent as its first element.
    let schema = match (type_of(schema), schema.get("items")) {
        (Some("array"), Some(items)) => resolve(description, items),
        _ => schema,
    };
    let given = example(description, parameter).or_else(|| example(description, schema));
    let given = given.or_else(|| schema.get("default")).or_else(|| schema.get("const"));
    let given = given.map(|given| given.items().first().unwrap_or(given));
    if type_of(schema) == Some("integer") && schema.get("enum").is_none() {
        return match given {
            Some(Json::Number(number) | Json::Text(number)) => ParameterValue::Integer(number.parse().ok()),
            _ => ParameterValue::Integer(None),
        };
    }
    let text = |value: &Json| match value {
        Json::Text(text) | Json::Number(text) if is_usable(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    let allowed = schema.get("enum").map(Json::items).unwrap_or_default();
    let allowed: Vec<String> = allowed.iter().take(ENUM_MAX).filter_map(text).collect();
    if !allowed.is_empty() {
        return ParameterValue::Texts(allowed);
    }
    match given.and_then(text) {
        Some(text) => ParameterValue::Texts(vec![text]),
        None if type_of(schema) == Some("boolean") => {
            ParameterValue::Texts(vec!["true".to_owned(), "false".to_owned()])
        }
        None => ParameterValue::Unknown,
    }
}

/// True if a row of a feed can contain the text.
fn is_usable(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

/// Smallest and largest integer that a parameter allows.
pub(super) fn bounds(description: &Json, parameter: &Json) -> (Option<i64>, Option<i64>) {
    let schema = parameter.get("schema").map_or(&Json::Null, |schema| resolve(description, schema));
    let bound = |inclusive: &str, exclusive: &str, step: i64| {
        let exact = |key: &str| {
            let number = schema.get(key)?.number()?;
            (number.abs() < 1e15).then_some(number as i64)
        };
        match schema.get(exclusive) {
            Some(Json::Bool(true)) => exact(inclusive).map(|bound| bound + step),
            Some(Json::Number(_)) => exact(exclusive).map(|bound| bound + step),
            _ => exact(inclusive),
        }
    };
    (bound("minimum", "exclusiveMinimum", 1), bound("maximum", "exclusiveMaximum", -1))
}

/// Type of a schema. In OpenAPI 3.1 it may be a list with `null`.
fn type_of(schema: &Json) -> Option<&str> {
    match schema.get("type") {
        Some(Json::Text(name)) => Some(name),
        Some(Json::List(names)) => names.iter().filter_map(Json::text).find(|name| *name != "null"),
        _ => None,
    }
}

struct Sampler<'a> {
    description: &'a Json,
    is_invented: bool,
    values: usize,
    /// Schemas that contain the current one, by address: recursive types end at the first repetition.
    open: Vec<*const Json>,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, schema: &'a Json) -> Json {
        let schema = resolve(self.description, schema);
        self.values += 1;
        if let Some(value) = example(self.description, schema).or_else(|| schema.get("default")) {
            return value.clone();
        }
        if let Some(value) =
            schema.get("const").or_else(|| schema.get("enum").and_then(|all| all.items().first()))
        {
            return value.clone();
        }
        let address: *const Json = schema;
        if self.open.len() >= DEPTH_MAX || self.values > VALUES_MAX || self.open.contains(&address) {
            return Json::Null;
        }
        self.open.push(address);
        let value = self.of_type(schema);
        self.open.pop();
        value
    }

    fn of_type(&mut self, schema: &'a Json) -> Json {
        if let Some(parts) = schema.get("allOf").map(Json::items).filter(|parts| !parts.is_empty()) {
            let mut members = self.properties(schema);
            for part in parts {
                for (name, value) in self.value(part).members() {
                    if members.iter().all(|member| member.0 != *name) {
                        members.push((name.clone(), value.clone()));
                    }
                }
            }
            return Json::Object(members);
        }
        for key in ["oneOf", "anyOf"] {
            let alternatives = schema.get(key).map(Json::items).unwrap_or_default();
            let is_null = |alternative: &&Json| type_of(alternative) == Some("null");
            if let Some(alternative) = alternatives.iter().find(|it| !is_null(it)) {
                return self.value(alternative);
            }
        }
        let implied = if schema.get("properties").is_some() { "object" } else { "" };
        match type_of(schema).unwrap_or(implied) {
            "object" => Json::Object(self.properties(schema)),
            "array" => Json::List(schema.get("items").map(|items| self.value(items)).into_iter().collect()),
            "integer" | "number" => {
                self.is_invented = true;
                let minimum = schema.get("minimum").and_then(Json::number).filter(|it| it.abs() < 1e15);
                Json::Number(format!("{}", minimum.map_or(1, |minimum| minimum.ceil() as i64)))
            }
            "boolean" => {
                self.is_invented = true;
                Json::Bool(true)
            }
            "string" => {
                self.is_invented = true;
                Json::Text(text(schema).to_owned())
            }
            _ => Json::Null,
        }
    }

    /// Members of an object, without those that the server sets.
    fn properties(&mut self, schema: &'a Json) -> Vec<(String, Json)> {
        let mut members = Vec::new();
        for (name, property) in schema.get("properties").map(Json::members).unwrap_or_default() {
            if resolve(self.description, property).get("readOnly") == Some(&Json::Bool(true)) {
                continue;
            }
            let is_required = || {
                let required = schema.get("required").map(Json::items).unwrap_or_default();
                required.iter().any(|it| it.text() == Some(name))
            };
            match self.value(property) {
                // A recursive member, which must be absent.
                Json::Null if !is_required() => {}
                value => members.push((name.clone(), value)),
            }
        }
        members
    }
}

/// Text of a format.
fn text(schema: &Json) -> &'static str {
    match schema.text_of("format") {
        Some("date") => "2024-01-31",
        Some("date-time") => "2024-01-31T12:00:00Z",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("email") => "user@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("ipv4") => "192.0.2.1",
        Some("byte") => "AA==",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).expect("the test's JSON is valid")
    }

    #[test]
    fn samples_bodies() {
        let description = json(
            r##"{"components": {
                "schemas": {
                    "Node": {"properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}}},
                    "Pet": {"type": "object", "required": ["gone"], "properties": {
                        "id": {"type": "integer", "readOnly": true}, "age": {"type": "integer", "minimum": 2.5},
                        "kind": {"enum": ["cat", "dog"]}, "born": {"type": "string", "format": "date"},
                        "gone": {"type": "null"}, "tags": {"type": "array", "items": {"type": ["null", "string"]}}}}},
                "examples": {"one": {"value": {"a": 1}}}}}"##,
        );
        for (media_type, expected, is_invented) in [
            (r#"{"example": {"b": 2}}"#, r#"{"b": 2}"#, false),
            (r##"{"examples": {"x": {"$ref": "#/components/examples/one"}}}"##, r#"{"a": 1}"#, false),
            (r##"{"schema": {"$ref": "#/components/schemas/Node"}}"##, r#"{"name": "text"}"#, true),
            (
                r##"{"schema": {"$ref": "#/components/schemas/Pet"}}"##,
                r#"{"age": 3, "kind": "cat", "born": "2024-01-31", "gone": null, "tags": ["text"]}"#,
                true,
            ),
            (
                r#"{"schema": {"allOf": [{"properties": {"a": {"default": 1}}}, {"properties": {"b": {"const": 2}}}],
                    "properties": {"c": {"examples": [3]}}}}"#,
                r#"{"c": 3, "a": 1, "b": 2}"#,
                false,
            ),
            (r#"{"schema": {"oneOf": [{"type": "null"}, {"type": "boolean"}]}}"#, "true", true),
            (r##"{"schema": {"$ref": "#/nowhere"}}"##, "null", false),
            ("{}", "{}", false),
        ] {
            let sample = sample(&description, &json(media_type));
            assert_eq!(sample, Sample { value: json(expected), is_invented }, "{media_type}");
        }
    }

    #[test]
    fn ends_at_cycles() {
        let description = json(r##"{"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}"##);
        assert!(resolve(&description, &json(r##"{"$ref": "#/a"}"##)).get("$ref").is_some());
        // Each level has two members of the next one: without a limit, there would be 2^30 values.
        let levels: Vec<String> = (0..30)
            .map(|level| {
                let next = format!(r##"{{"$ref": "#/l{}"}}"##, level + 1);
                format!(r#""l{level}": {{"properties": {{"a": {next}, "b": {next}}}}}"#)
            })
            .collect();
        let description = json(&format!("{{{}}}", levels.join(",")));
        let _ = sample(&description, &json(r##"{"schema": {"$ref": "#/l0"}}"##));
    }

    #[test]
    fn finds_values_of_parameters() {
        let texts = |all: &[&str]| ParameterValue::Texts(all.iter().map(|&text| text.to_owned()).collect());
        for (text, expected) in [
            (r#"{"schema": {"type": "integer"}}"#, ParameterValue::Integer(None)),
            (r#"{"schema": {"type": "integer", "default": 7}}"#, ParameterValue::Integer(Some(7))),
            (
                r#"{"example": 8, "schema": {"type": "integer", "default": 7}}"#,
                ParameterValue::Integer(Some(8)),
            ),
            (r#"{"schema": {"type": "integer", "enum": [1, 2]}}"#, texts(&["1", "2"])),
            (r#"{"schema": {"type": "array", "items": {"enum": ["a", "b"]}}}"#, texts(&["a", "b"])),
            (r#"{"examples": {"x": {"value": "c"}}}"#, texts(&["c"])),
            (r#"{"schema": {"type": "boolean"}}"#, texts(&["true", "false"])),
            (r#"{"schema": {"type": "string"}}"#, ParameterValue::Unknown),
            ("null", ParameterValue::Unknown),
        ] {
            assert_eq!(parameter(&Json::Null, &json(text)), expected, "{text}");
        }
        for (schema, expected) in [
            (r#"{"minimum": 1, "maximum": 5}"#, (Some(1), Some(5))),
            (r#"{"minimum": 1, "exclusiveMinimum": true}"#, (Some(2), None)),
            (r#"{"exclusiveMaximum": 5}"#, (None, Some(4))),
        ] {
            let parameter = json(&format!(r#"{{"schema": {schema}}}"#));
            assert_eq!(bounds(&Json::Null, &parameter), expected, "{schema}");
        }
    }
}
