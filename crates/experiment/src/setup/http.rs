//! HTTP operations: requests and their variables.

use super::{SetupBuilder, too_many};
use crate::datum::OrderedMap;
use crate::diagnostic::{nearest, quote};
use crate::file::{self, Capture, OneOrMany};
use crate::name::name_error;
use crate::template::{self, TemplatePiece, is_name};
use crate::tree::{Node, Value};
use crate::unit::Word;
use crate::{GrammarDiagnostic, json, path};
use model::message;
use model::message::Message;
use model::percent_encode;
use model::plan::{
    AmmoDetails, CaptureSource, Expectation, HttpStep, Load, Operation, OperationKind, RequestBody, ThinkTime,
};

/// Maximum number of steps of an operation. Longer operations are unreadable.
const MAX_STEPS: usize = 100;
/// Maximum number of texts in `contains` and `not_contains` of a request.
const MAX_TEXTS: usize = 16;
/// Variables that are always defined.
pub(super) const PREDEFINED: [&str; 3] = ["client_id", "default_seed", "random_seed"];

/// Headers that pgdyno generates itself.
const GENERATED_HEADERS: [&str; 4] = ["Host", "Content-Length", "Transfer-Encoding", "Connection"];

/// Variables of an operation.
#[derive(Debug, Default)]
pub struct Variables {
    /// Names of the defined variables.
    pub names: Vec<String>,
    /// True if a query's result defines further names.
    pub open: bool,
    pub used: Vec<String>,
}

impl Variables {
    pub fn add(&mut self, name: &str) {
        if !self.names.iter().any(|it| it == name) {
            self.names.push(name.to_owned());
        }
    }
}

impl file::Request {
    /// Method keys that are set, with their paths.
    pub fn methods(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("get", &self.get),
            ("head", &self.head),
            ("post", &self.post),
            ("put", &self.put),
            ("patch", &self.patch),
            ("delete", &self.delete),
        ];
        all.into_iter().filter_map(|(key, it)| Some((key, it.as_deref()?))).collect()
    }

    /// Keys of the request that are set, other than its method.
    pub fn details(&self) -> Vec<&'static str> {
        let all = [
            ("query", !self.query.0.is_empty()),
            ("headers", !self.headers.0.is_empty()),
            ("json", self.json.is_some()),
            ("form", self.form.is_some()),
            ("body", self.body.is_some()),
            ("capture", !self.capture.0.is_empty()),
            ("expect", self.expect.is_some()),
            ("redirects", self.redirects.is_some()),
            ("decompress", self.decompress.is_some()),
        ];
        all.iter().filter(|it| it.1).map(|it| it.0).collect()
    }
}

impl SetupBuilder<'_> {
    /// Checks that the load's service settings fit the operations.
    pub(super) fn check_service_load(&mut self, load: &Load, operations: &[Operation]) {
        let asks = operations.iter().any(|it| matches!(it.kind, OperationKind::Http(_)) || it.kind.is_ammo());
        for (key, given) in
            [("cookies", load.cookies), ("first_byte_timeout", load.first_byte_timeout.is_some())]
        {
            if given && !asks {
                self.report(&format!("load.{key}"), message!("experiment-load-http-key", key));
            }
        }
        for operation in operations.iter().filter(|_| load.cookies) {
            let OperationKind::Http(steps) = &operation.kind else { continue };
            let path = format!("operations.{}", operation.name);
            let several = path::node(self.tree, &format!("{path}.steps")).is_some();
            for (i, step) in steps.iter().enumerate() {
                let at = if several { format!("{path}.steps[{i}]") } else { path.clone() };
                for (name, _) in step.headers.iter().filter(|it| it.0.eq_ignore_ascii_case("cookie")) {
                    let (first, second) = ("load.cookies", "headers.Cookie");
                    let message = message!("experiment-conflicting-keys", first, second);
                    self.report(&format!("{at}.headers.{name}"), message);
                }
            }
        }
    }

    pub(super) fn steps(
        &mut self,
        path: &str,
        all: Vec<file::Step>,
        variables: &mut Variables,
    ) -> Vec<HttpStep> {
        if all.is_empty() || all.len() > MAX_STEPS {
            let message = match all.len() {
                0 => message!("experiment-steps-empty"),
                count => too_many("steps", count, MAX_STEPS),
            };
            self.report(path, message);
        }
        let mut names: Vec<String> = Vec::new();
        let mut steps = Vec::new();
        for (i, step) in all.into_iter().enumerate() {
            let at = format!("{path}[{i}]");
            if let Some(name) = &step.name {
                if let Some(message) = name_error(name) {
                    self.report(&format!("{at}.name"), message);
                } else if names.contains(name) {
                    let message = message!("experiment-duplicate-step", name = quote(name));
                    self.report(&format!("{at}.name"), message);
                }
                names.push(name.clone());
            }
            if let (0, Some(_)) = (i, &step.pause) {
                self.report(&format!("{at}.pause"), message!("experiment-pause-first"));
            }
            let pause = step.pause.map_or(ThinkTime::NONE, |it| it.0);
            steps.push(HttpStep { pause, ..self.step(&at, step.name, step.request, variables) });
        }
        steps
    }

    /// Headers and expected response of all requests of ammunition.
    pub(super) fn ammo_details(
        &mut self,
        path: &str,
        mut request: file::Request,
        variables: &mut Variables,
    ) -> AmmoDetails {
        let mut headers = self.complete(&mut request, path, variables);
        for key in ["headers", "expect.contains", "expect.not_contains"] {
            self.check_variables(&format!("{path}.{key}"), path, variables);
        }
        headers.extend(self.own_headers(path, request.headers));
        AmmoDetails { headers, expect: self.expectation(path, request.expect) }
    }

    fn own_headers(&mut self, path: &str, headers: OrderedMap<Word>) -> Vec<(String, String)> {
        let header = |(name, value): (String, Word)| {
            let value = self.header(path, &name, &value.0);
            (name, value)
        };
        headers.0.into_iter().map(header).collect()
    }

    fn expectation(&mut self, path: &str, source: Option<file::Expect>) -> Expectation {
        let at = |key: &str| format!("{path}.{key}");
        let expect = source.unwrap_or_default();
        let status = match expect.status {
            None => Vec::new(),
            Some(OneOrMany::One(it)) => vec![it.0],
            Some(OneOrMany::Many(all)) => all.into_iter().map(|it| it.0).collect(),
        };
        let contains = self.texts(&at("expect.contains"), expect.contains);
        let not_contains = self.texts(&at("expect.not_contains"), expect.not_contains);
        let count = contains.len() + not_contains.len();
        if count > MAX_TEXTS {
            self.report(&at("expect"), too_many("contains", count, MAX_TEXTS));
        }
        Expectation { status, contains, not_contains }
    }

    /// Checks one request; its captures are defined for later requests.
    pub(super) fn step(
        &mut self,
        path: &str,
        name: Option<String>,
        mut request: file::Request,
        variables: &mut Variables,
    ) -> HttpStep {
        let at = |key: &str| format!("{path}.{key}");
        let (method, target) = match request.methods().as_slice() {
            [] => {
                self.report(path, message!("experiment-request-method"));
                ("get", String::new())
            }
            [(method, target)] => (*method, (*target).to_owned()),
            [(first, _), (second, target), ..] => {
                let message = message!("experiment-request-methods", first = *first, second = *second);
                self.report(&at(second), message);
                (*first, (*target).to_owned())
            }
        };
        let mut headers = self.complete(&mut request, path, variables);
        let before = self.diagnostics.len();
        let with_variables =
            ["query", "headers", "json", "form", "body", "expect.contains", "expect.not_contains"];
        for key in [method].into_iter().chain(with_variables) {
            self.check_variables(&at(key), path, variables);
        }
        let target = self.target(&at(method), target, &request.query, self.diagnostics.len() == before);
        headers.extend(self.own_headers(path, request.headers));
        let bodies: Vec<&str> = [
            ("json", request.json.is_some()),
            ("form", request.form.is_some()),
            ("body", request.body.is_some()),
        ]
        .iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect();
        if let [first, second, ..] = bodies.as_slice() {
            let message = message!("experiment-conflicting-keys", first = *first, second = *second);
            self.report(&at(second), message);
        }
        if let (Some(body), "get" | "head") = (bodies.first(), method) {
            let message = message!("experiment-request-body", method = method.to_uppercase());
            self.report(&at(body), message);
        }
        let body = match (request.json, request.form, request.body) {
            (Some(it), ..) => Some(RequestBody::Json(self.json(&at("json"), it.0))),
            (None, Some(fields), _) => {
                Some(RequestBody::Form(fields.0.into_iter().map(|(name, it)| (name, it.0)).collect()))
            }
            (None, None, it) => it.map(RequestBody::Text),
        };
        let captures =
            request.capture.0.into_iter().map(|it| self.capture(&at("capture"), it, variables)).collect();
        let expect = self.expectation(path, request.expect);
        HttpStep {
            name,
            pause: ThinkTime::NONE,
            method: method.to_uppercase(),
            target,
            headers,
            body,
            captures,
            expect,
            redirects: request.redirects.unwrap_or(0),
            decompress: request.decompress.unwrap_or(false),
        }
    }

    /// Texts to search for in a body. Empty texts are reported.
    pub(super) fn texts(&mut self, path: &str, source: Option<OneOrMany<String>>) -> Vec<String> {
        let (texts, is_list) = match source {
            None => return Vec::new(),
            Some(OneOrMany::One(text)) => (vec![text], false),
            Some(OneOrMany::Many(texts)) => (texts, true),
        };
        for (i, _) in texts.iter().enumerate().filter(|it| it.1.is_empty()) {
            let at = if is_list { format!("{path}[{i}]") } else { path.to_owned() };
            self.report(&at, message!("experiment-contains-empty"));
        }
        texts
    }

    /// Path and query in encoded form. `sound` is true if their variables are valid.
    fn target(&mut self, path: &str, written: String, query: &OrderedMap<Word>, sound: bool) -> String {
        let instead = match written.split_once("://") {
            _ if written.is_empty() || written.starts_with('/') => None,
            Some((_, rest)) => Some(rest.find('/').map_or("/", |i| &rest[i..])),
            None => Some(written.as_str()),
        };
        if let Some(suggestion) = instead {
            let example = format!("/{}", suggestion.trim_start_matches('/'));
            let message = message!("experiment-request-path", path = quote(&written), example);
            self.report(path, message);
        } else if written.is_empty() {
            // A missing path is reported elsewhere.
            if path::node(self.tree, path).is_some() {
                self.report(path, message!("experiment-request-path-empty"));
            }
        } else if sound
            && let Some((i, sign)) = outside(&written).find(|(_, it)| !it.is_ascii_graphic() || *it == '#')
        {
            let length = sign.len_utf8();
            let bytes = percent_encode(&sign.to_string());
            let diagnostic = GrammarDiagnostic {
                span: i..i + length,
                message: message!(
                    "experiment-path-character",
                    character = quote(&sign.to_string()),
                    encoded = bytes
                ),
            };
            let at = self.span_of(path);
            self.report_in_text(&at, &written, vec![diagnostic]);
        }
        let mut target = written;
        for (name, value) in &query.0 {
            target.push(if target.contains('?') { '&' } else { '?' });
            target += &percent_encode(name);
            target.push('=');
            for piece in template::pieces(&value.0).unwrap_or_default() {
                match piece {
                    TemplatePiece::Plain(text) => target += &percent_encode(&text),
                    TemplatePiece::Variable(it) => target += &format!("${{{}}}", it.name),
                }
            }
        }
        target
    }

    /// Checks a header, and returns its value without blanks around it.
    pub(super) fn header(&mut self, path: &str, name: &str, value: &str) -> String {
        let at = format!("{path}.headers.{name}");
        let token = |it: char| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it);
        if name.is_empty() || !name.chars().all(token) {
            self.report(&at, message!("experiment-header-name", name = quote(name)));
        } else if let Some(reserved) = GENERATED_HEADERS.iter().find(|it| it.eq_ignore_ascii_case(name)) {
            self.report(&at, message!("experiment-header-reserved", header = *reserved));
        }
        if value.contains(|it: char| it.is_control() && it != '\t') {
            self.report(&at, message!("experiment-header-value", header = quote(name)));
        }
        value.trim().to_owned()
    }

    /// Checks a JSON body. A body that is a scalar must already be JSON text.
    fn json(&mut self, path: &str, text: String) -> String {
        if let Some(Value::Scalar(..)) = path::node(self.tree, path).map(|it| &it.value)
            && let Some((at, reason)) = json::find_json_error(&text)
        {
            let span = self.span_of(path);
            let end = text[at..].chars().next().map_or(at, |it| at + it.len_utf8());
            let diagnostic =
                GrammarDiagnostic { span: at..end, message: message!("experiment-json", reason) };
            self.report_in_text(&span, &text, vec![diagnostic]);
        }
        text
    }

    fn capture(
        &mut self,
        path: &str,
        (name, from): (String, Capture),
        variables: &mut Variables,
    ) -> (String, CaptureSource) {
        let at = format!("{path}.{name}");
        if !is_name(&name) {
            self.report(&at, message!("experiment-variable-name", name = quote(&name)));
        }
        variables.add(&name);
        let from = match from {
            Capture::Json(pointer) => {
                if let Some(example) = suggest_json_pointer(&pointer) {
                    let message = message!("experiment-json-pointer", text = quote(&pointer), example);
                    self.report(&format!("{at}.json"), message);
                }
                CaptureSource::Json(pointer)
            }
            Capture::Header(header) => {
                if header.is_empty() || header.contains(|it: char| !it.is_ascii_graphic() || it == ':') {
                    let message = message!("experiment-header-name", name = quote(&header));
                    self.report(&format!("{at}.header"), message);
                }
                CaptureSource::Header(header)
            }
            Capture::Regex(regex) => {
                if let Err(diagnostics) = (self.request.grammars.regex)(&regex) {
                    let span = self.span_of(&format!("{at}.regex"));
                    self.report_in_text(&span, &regex, diagnostics);
                }
                CaptureSource::Regex(regex)
            }
        };
        (name, from)
    }

    /// Checks that `operation` defines all variables in the texts at a path.
    pub(super) fn check_variables(&mut self, path: &str, operation: &str, variables: &mut Variables) {
        fn leaves<'a>(node: &'a Node, all: &mut Vec<&'a Node>) {
            match &node.value {
                Value::Scalar(..) => all.push(node),
                Value::List(items) => items.iter().for_each(|it| leaves(it, all)),
                Value::Map(entries) => entries.iter().for_each(|it| leaves(&it.1, all)),
            }
        }
        let Some(node) = path::node(self.tree, path) else { return };
        let mut all = Vec::new();
        leaves(node, &mut all);
        for node in all {
            let Value::Scalar(text, _) = &node.value else { continue };
            if let Err(diagnostics) = template::pieces(text) {
                self.report_in_text(&node.span, text, diagnostics);
            }
            let with_colons = variables_with_colons(text, &variables.names);
            self.report_in_text(&node.span, text, with_colons);
            for variable in template::variables(text) {
                if let Some(name) = template::secret(&variable.name) {
                    if let Err(diagnostics) = (self.request.grammars.secret)(name) {
                        let shifted = |diagnostic: GrammarDiagnostic| GrammarDiagnostic {
                            span: variable.at.clone(),
                            ..diagnostic
                        };
                        self.report_in_text(&node.span, text, diagnostics.into_iter().map(shifted).collect());
                    }
                    continue;
                }
                let written = |name: &str| format!("${{{name}}}");
                let environment =
                    self.is_environment(&variable.name).then(|| written(&format!("env:{}", variable.name)));
                if let Some(message) =
                    self.unknown_variable(&variable.name, operation, variables, written, environment)
                {
                    self.report_in_text(
                        &node.span,
                        text,
                        vec![GrammarDiagnostic { span: variable.at, message }],
                    );
                }
                variables.used.push(variable.name);
            }
        }
    }

    /// True if a name is most likely that of an environment variable: it is set, or has capital letters only.
    fn is_environment(&self, name: &str) -> bool {
        let is_capital = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
        name.chars().all(is_capital) || (self.request.grammars.secret)(name).is_ok()
    }

    /// Error for an unknown variable; `None` if the variable is known. Without a similar variable, the correction is
    /// `otherwise`.
    pub(super) fn unknown_variable(
        &self,
        name: &str,
        operation: &str,
        variables: &Variables,
        written: impl Fn(&str) -> String,
        otherwise: Option<String>,
    ) -> Option<Message> {
        let known = || variables.names.iter().map(String::as_str).chain(PREDEFINED);
        if variables.open || known().any(|it| it == name) {
            return None;
        }
        let nearest = nearest(name, known()).map(&written).or(otherwise);
        let names: Vec<String> =
            variables.names.iter().take(12).map(|it| format!("`{}`", written(it))).collect();
        let names = (!names.is_empty()).then(|| names.join(", "));
        Some(message!(
            "experiment-unknown-variable",
            operation = quote(operation),
            name = quote(name),
            nearest,
            names
        ))
    }
}

/// Errors for variables in the notation of SQL, `/books/:id`, in a path with its query.
fn variables_with_colons(text: &str, names: &[String]) -> Vec<GrammarDiagnostic> {
    let one = |(at, _): (usize, &str)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let is_value = text[..at].ends_with(['/', '=']) && names.iter().any(|it| it == name);
        let message = message!("experiment-colon-variable", name = name.to_owned());
        is_value.then(|| GrammarDiagnostic { span: at..at + 1 + end, message })
    };
    let colons = text.match_indices(':').filter(|_| text.starts_with('/'));
    colons.filter_map(one).collect()
}

/// Suggestion for a text that is no JSON pointer (RFC 6901).
fn suggest_json_pointer(text: &str) -> Option<String> {
    let escaped = |text: &str| text.split('~').skip(1).all(|it| it.starts_with(['0', '1']));
    if text.is_empty() || text.starts_with('/') && escaped(text) {
        return None;
    }
    let plain = text.trim_start_matches(['$', '.', '#', '/']).replace('~', "~0").replace(['.', '['], "/");
    let plain = plain.replace([']', '"', '\''], "");
    Some(if plain.is_empty() { "/items/0/id".to_owned() } else { format!("/{plain}") })
}

/// Characters of a text outside its variables, with their positions.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let variables = template::variables(text);
    text.char_indices().filter(move |(i, _)| !variables.iter().any(|it| it.at.contains(i)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validates_json_pointers() {
        for (text, expected) in [
            ("", None),
            ("/token", None),
            ("/a~1b/0/~0", None),
            ("/", None),
            ("token", Some("/token")),
            ("$.items[0].id", Some("/items/0/id")),
            ("/a~b", Some("/a~0b")),
            ("$", Some("/items/0/id")),
        ] {
            assert_eq!(suggest_json_pointer(text).as_deref(), expected, "{text}");
        }
    }
}
