//! Operations of the experiment

use super::json::Json;
use super::responses::Location;
use super::template::{RequestTemplate, TemplatePart};
use model::Nanos;

/// ImportedOperation with its requests.
#[derive(Clone, Debug)]
pub(super) struct ImportedOperation {
    pub name: String,
    /// Relative frequency; `None` if all operations are equally frequent.
    pub weight: Option<u64>,
    /// Variables with their expressions.
    pub set: Vec<(String, String)>,
    /// Columns and rows of values.
    pub feed: Option<InlineFeed>,
    pub steps: Vec<RequestStep>,
}

/// Values of variables that are texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InlineFeed {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// True if the user must replace the values.
    pub fill_in: bool,
}

/// Request of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RequestStep {
    pub name: String,
    /// Pause of the user before the request.
    pub pause: Option<Nanos>,
    /// Method in uppercase.
    pub method: String,
    /// Encoded path and query.
    pub target: RequestTemplate,
    pub headers: Vec<(String, RequestTemplate)>,
    pub body: Body,
    pub captures: Vec<(String, Location)>,
    /// Expected status, if it is none of the statuses that pgdyno expects by default.
    pub status: Option<u16>,
    pub redirects: u8,
    pub decompress: bool,
    /// True if the user must replace values of the body.
    pub fill_in: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Body {
    #[default]
    Empty,
    Json(JsonBody),
    /// JSON text.
    JsonText(RequestTemplate),
    Form(Vec<(String, RequestTemplate)>),
    Text(RequestTemplate),
}

/// JSON value with variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum JsonBody {
    Null,
    Bool(bool),
    Number(String),
    /// Variable in place of a number.
    Variable(TemplatePart),
    Text(RequestTemplate),
    List(Vec<JsonBody>),
    Object(Vec<(String, JsonBody)>),
}

/// Longest JSON body that is written as YAML, in values; longer ones remain JSON texts.
const VALUES_MAX: usize = 150;
const DEPTH_MAX: usize = 12;

impl JsonBody {
    /// Value without variables.
    pub fn of(json: &Json) -> JsonBody {
        match json {
            Json::Null => JsonBody::Null,
            Json::Bool(value) => JsonBody::Bool(*value),
            Json::Number(number) => JsonBody::Number(number.clone()),
            Json::Text(text) => JsonBody::Text(RequestTemplate::plain(text)),
            Json::List(items) => JsonBody::List(items.iter().map(JsonBody::of).collect()),
            Json::Object(members) => JsonBody::Object(
                members.iter().map(|(name, value)| (name.clone(), JsonBody::of(value))).collect(),
            ),
        }
    }

    /// The value as YAML if it can be written and read like this, otherwise as a JSON text.
    pub fn into_body(self) -> Body {
        let is_collection = matches!(self, JsonBody::List(_) | JsonBody::Object(_));
        if is_collection && self.count() <= VALUES_MAX && self.fits_yaml(DEPTH_MAX) {
            return Body::Json(self);
        }
        let mut text = RequestTemplate::default();
        self.write(&mut text);
        Body::JsonText(text)
    }

    fn count(&self) -> usize {
        1 + match self {
            JsonBody::List(items) => items.iter().map(JsonBody::count).sum(),
            JsonBody::Object(members) => members.iter().map(|member| member.1.count()).sum::<usize>(),
            _ => 0,
        }
    }

    /// True if the names are unique and no merge keys, and if no environment variable is in place of a number, because
    /// YAML values cannot express that.
    fn fits_yaml(&self, depth: usize) -> bool {
        match self {
            _ if depth == 0 => false,
            JsonBody::Variable(TemplatePart::Secret(_)) => false,
            JsonBody::List(items) => items.iter().all(|item| item.fits_yaml(depth - 1)),
            JsonBody::Object(members) => members.iter().enumerate().all(|(at, (name, value))| {
                name != "<<"
                    && members[..at].iter().all(|other| other.0 != *name)
                    && value.fits_yaml(depth - 1)
            }),
            _ => true,
        }
    }

    /// Appends the value as JSON.
    fn write(&self, out: &mut RequestTemplate) {
        let quoted = |text: &str| serde_json::to_string(text).expect("every text can be JSON");
        let mut plain = |text: &str| out.push(TemplatePart::Plain(text.to_owned()));
        match self {
            JsonBody::Null => plain("null"),
            JsonBody::Bool(value) => plain(if *value { "true" } else { "false" }),
            JsonBody::Number(number) => plain(number),
            JsonBody::Variable(piece) => out.push(piece.clone()),
            JsonBody::Text(text) => {
                plain("\"");
                out.append(text.clone().map(|text| {
                    let quoted = quoted(text);
                    quoted[1..quoted.len() - 1].to_owned()
                }));
                out.push(TemplatePart::Plain("\"".to_owned()));
            }
            JsonBody::List(items) => {
                plain("[");
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        out.push(TemplatePart::Plain(",".to_owned()));
                    }
                    item.write(out);
                }
                out.push(TemplatePart::Plain("]".to_owned()));
            }
            JsonBody::Object(members) => {
                plain("{");
                for (number, (name, value)) in members.iter().enumerate() {
                    let comma = if number > 0 { "," } else { "" };
                    out.push(TemplatePart::Plain(format!("{comma}{}:", quoted(name))));
                    value.write(out);
                }
                out.push(TemplatePart::Plain("}".to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_json_that_yaml_cannot_express() {
        let body = |text: &str| JsonBody::of(&Json::parse(text).expect("valid")).into_body();
        for text in [r#"{"a":1,"a":2}"#, r#"{"<<":{"a":"\"\\ж"}}"#, "\"a\"", "1", "[[[[[[[[[[[[1]]]]]]]]]]]]"]
        {
            assert_eq!(body(text), Body::JsonText(RequestTemplate::plain(text)), "{text}");
        }
        let long = format!("[{}1]", "1,".repeat(VALUES_MAX));
        assert_eq!(body(&long), Body::JsonText(RequestTemplate::plain(long.as_str())));
        assert!(matches!(body(r#"{"a": [null, true, 1.5]}"#), Body::Json(_)));
        let code = JsonBody::Object(vec![(
            "a".to_owned(),
            JsonBody::Variable(TemplatePart::Secret("A".to_owned())),
        )]);
        let Body::JsonText(text) = code.into_body() else { panic!("a secret number") };
        assert_eq!(text.text(), r#"{"a":${env:A}}"#);
    }
}
