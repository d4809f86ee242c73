//! Values of responses, which later requests may contain

use super::distinctive::{VALUE_MIN, is_distinctive};
use super::exchange::Response;
use super::json::Json;
use super::markup;
use regex_automata::meta::Regex;
use std::collections::{HashMap, HashSet};

/// Location of a value in a response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Location {
    /// JSON pointer.
    Json(String),
    Header(String),
    /// Regular expression.
    Regex(String),
}

/// Longest value that is captured.
const VALUE_MAX: usize = 4096;
/// Part of a body in which pgdyno searches values.
const SEARCHED: usize = 1024 * 1024;
/// Words that pgdyno defines.
const PREDEFINED: [&str; 5] = ["client_id", "default_seed", "random_seed", "rows", "token"];
/// Headers whose values no request repeats.
const IGNORED_HEADERS: [&str; 10] = [
    "date",
    "expires",
    "last-modified",
    "set-cookie",
    "server",
    "via",
    "vary",
    "cache-control",
    "age",
    "link",
];

#[derive(Clone, Debug)]
struct ResponseValue {
    text: String,
    /// Number of the step whose response contains the value.
    step: usize,
    location: Location,
    name: String,
    /// Name of the variable, as soon as a request contains the value.
    variable: Option<String>,
}

/// Values of the responses to the requests so far.
#[derive(Debug, Default)]
pub(super) struct ResponseValues<'a> {
    values: Vec<ResponseValue>,
    by_text: HashMap<String, usize>,
    /// Values that are no words, by their first bytes.
    by_beginning: HashMap<[u8; VALUE_MIN], Vec<usize>>,
    /// Bodies of the responses, by steps.
    bodies: HashMap<usize, &'a str>,
    /// Values that a request contained before any response did.
    sent: HashSet<String>,
}

impl<'a> ResponseValues<'a> {
    /// Remembers a value that a request contains.
    pub fn add_sent(&mut self, text: &str) {
        if text.len() >= VALUE_MIN && !self.by_text.contains_key(text) {
            self.sent.insert(text.to_owned());
        }
    }

    /// Adds the values of a response to step `step`.
    pub fn add(&mut self, step: usize, response: &'a Response) {
        for (name, value) in &response.headers {
            let lowercase = name.to_ascii_lowercase();
            let prefixes = ["content-", "access-control-", "sec-", ":"];
            let is_ignored = IGNORED_HEADERS.contains(&lowercase.as_str());
            if !is_ignored && !prefixes.iter().any(|prefix| lowercase.starts_with(prefix)) {
                self.add_value(value, step, Location::Header(name.clone()), name);
            }
        }
        let Some(body) = response.text.as_deref() else { return };
        let mut end = body.len().min(SEARCHED);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        let searched = &body[..end];
        self.bodies.insert(step, searched);
        if let Some(json) = (searched.len() == body.len()).then(|| Json::parse(body).ok()).flatten() {
            self.add_json(&json, step, &mut Vec::new());
            return;
        }
        let found = match response.media_type.contains("javascript") {
            true => markup::script_values(searched),
            false => markup::values(searched),
        };
        for value in found {
            self.add_value(&value.value, step, Location::Regex(value.pattern), &value.name);
        }
    }

    fn add_json(&mut self, json: &Json, step: usize, path: &mut Vec<String>) {
        match json {
            Json::Text(text) | Json::Number(text) => {
                let pointer: String = path
                    .iter()
                    .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
                    .collect();
                let name = json_name(path);
                self.add_value(text, step, Location::Json(pointer), &name);
            }
            Json::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    path.push(number.to_string());
                    self.add_json(item, step, path);
                    path.pop();
                }
            }
            Json::Object(members) => {
                for (name, value) in members {
                    path.push(name.clone());
                    self.add_json(value, step, path);
                    path.pop();
                }
            }
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn add_value(&mut self, text: &str, step: usize, location: Location, name: &str) {
        let is_usual = (VALUE_MIN..=VALUE_MAX).contains(&text.len());
        if !is_usual || self.sent.contains(text) || self.by_text.contains_key(text) {
            return;
        }
        let number = self.values.len();
        self.by_text.insert(text.to_owned(), number);
        if is_distinctive(text) {
            let beginning = text.as_bytes().first_chunk().expect("the value is long enough");
            self.by_beginning.entry(*beginning).or_default().push(number);
        }
        self.values.push(ResponseValue {
            text: text.to_owned(),
            step,
            location,
            name: name.to_owned(),
            variable: None,
        });
    }

    /// Value that equals a text. A word counts only if `is_secret`.
    pub fn exact(&self, text: &str, is_secret: bool) -> Option<usize> {
        self.by_text.get(text).copied().filter(|_| is_secret || is_distinctive(text))
    }

    /// Longest value that `text[at..]` begins with and that is not a part of a longer word, with its length.
    pub fn prefix(&self, text: &str, at: usize) -> Option<(usize, usize)> {
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        if is_word(text[..at].chars().next_back()) {
            return None;
        }
        let rest = &text[at..];
        let candidates = self.by_beginning.get(rest.as_bytes().first_chunk::<VALUE_MIN>()?)?;
        let matches = |number: &&usize| {
            let value = &self.values[**number].text;
            rest.starts_with(value.as_str()) && !is_word(rest[value.len()..].chars().next())
        };
        let all = candidates.iter().filter(matches).map(|number| (*number, self.values[*number].text.len()));
        all.max_by_key(|found| found.1)
    }

    /// Variable that captures a value; `None` if no expression finds it. `is_allowed` decides whether the experiment may
    /// contain an expression. The name of the variable is a part of the expression.
    pub fn variable(&mut self, number: usize, is_allowed: impl Fn(&str) -> bool) -> Option<String> {
        let value = &self.values[number];
        if let Some(variable) = &value.variable {
            return Some(variable.clone());
        }
        let body = self.bodies.get(&value.step).copied().unwrap_or_default();
        let expression = match &value.location {
            Location::Json(pointer) => pointer,
            Location::Header(name) => name,
            Location::Regex(pattern) if first_group(pattern, body) == Some(&value.text) => pattern,
            Location::Regex(_) => return None,
        };
        if !is_allowed(expression) {
            return None;
        }
        let base = variable_name(&value.name);
        let is_taken = |name: &str| {
            PREDEFINED[..4].contains(&name)
                || self.values.iter().any(|it| it.variable.as_deref() == Some(name))
        };
        let mut numbered = (2..).map(|number| format!("{base}_{number}"));
        let name = match is_taken(&base) {
            true => numbered.find(|name| !is_taken(name)).expect("the numbers are endless"),
            false => base,
        };
        self.values[number].variable = Some(name.clone());
        Some(name)
    }

    /// Captures of a step: variables with their locations.
    pub fn captures(&self, step: usize) -> Vec<(String, Location)> {
        let all = self.values.iter().filter(|value| value.step == step);
        all.filter_map(|value| Some((value.variable.clone()?, value.location.clone()))).collect()
    }
}

/// First group of the first match.
fn first_group<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let regex = Regex::new(pattern).ok()?;
    let mut captures = regex.create_captures();
    regex.captures(text, &mut captures);
    captures.get_group(1).map(|group| &text[group.range()])
}

/// Name for the value at a path in a JSON text: its last name, with the name before it if the last one says little.
fn json_name(path: &[String]) -> String {
    let is_number = |name: &&String| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut names = path.iter().filter(|name| !is_number(name)).rev();
    let last = names.next().map_or("value", String::as_str);
    match names.next() {
        Some(parent)
            if matches!(last.to_ascii_lowercase().as_str(), "id" | "uuid" | "key" | "value" | "code") =>
        {
            format!("{}_{last}", parent.strip_suffix('s').unwrap_or(parent))
        }
        _ => last.to_owned(),
    }
}

/// Name that a variable may have.
fn variable_name(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        if character.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase()) {
            name.push('_');
        }
        match character {
            character if character.is_ascii_alphanumeric() => name.push(character.to_ascii_lowercase()),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    name.truncate(32);
    let name = name.trim_matches('_');
    match name.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("value_{name}"),
        Some(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_values() {
        let path = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (text, expected) in [
            ("auth/0/token", "token"),
            ("orders/3/id", "order_id"),
            ("accessToken", "access_token"),
            ("0", "value"),
            ("a/_csrf-Token", "csrf_token"),
            ("2fa", "value_2fa"),
        ] {
            assert_eq!(variable_name(&json_name(&path(text))), expected, "{text}");
        }
    }

    fn response(media_type: &str, text: &str, headers: &[(&str, &str)]) -> Response {
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (media_type, text) = (media_type.to_owned(), Some(text.to_owned()));
        Response { status: 200, headers, media_type, text, location: None }
    }

    #[test]
    fn finds_values() {
        let json = response("application/json", r#"{"a/b": [{"id": 12345678, "word": "electronics"}]}"#, &[]);
        let html = response(
            "text/html",
            "<input name=\"x\" value=\"abcd1234\"><input name=\"x\" value=\"abcd1234xyz\">",
            &[("X-Auth", "header-1234"), ("Date", "date-1234")],
        );
        let mut values = ResponseValues::default();
        values.add_sent("sent-1234");
        values.add(0, &json);
        values.add(1, &html);
        let variable = |values: &mut ResponseValues<'_>, text: &str| {
            let number = values.exact(text, false)?;
            values.variable(number, |_| true)
        };
        assert_eq!(variable(&mut values, "12345678").as_deref(), Some("a_b_id"));
        assert_eq!(values.captures(0), [("a_b_id".to_owned(), Location::Json("/a~1b/0/id".to_owned()))]);
        assert_eq!(variable(&mut values, "abcd1234").as_deref(), Some("x"));
        // The expression would find the first input.
        assert_eq!(variable(&mut values, "abcd1234xyz"), None);
        assert_eq!(variable(&mut values, "header-1234").as_deref(), Some("x_auth"));
        assert_eq!((variable(&mut values, "date-1234"), variable(&mut values, "sent-1234")), (None, None));
        assert!(values.exact("electronics", false).is_none() && values.exact("electronics", true).is_some());
        // The longest value that is not a part of a word.
        assert_eq!(values.prefix("(abcd1234xyz)", 1).map(|found| found.1), Some(11));
        assert_eq!(values.prefix("abcd1234", 0).map(|found| found.1), Some(8));
        assert_eq!((values.prefix("abcd12345", 0), values.prefix("xabcd1234", 1)), (None, None));
        let number = values.exact("electronics", true).expect("known");
        assert_eq!(values.variable(number, |_| false), None);
    }

    #[test]
    fn skips_values_sent_before() {
        let mut values = ResponseValues::default();
        values.add_sent("anna1234");
        let response = response("application/json", r#"{"user": "anna1234", "later": "bert1234"}"#, &[]);
        values.add(0, &response);
        values.add_sent("bert1234");
        assert!(values.exact("anna1234", true).is_none() && values.exact("bert1234", true).is_some());
    }
}
