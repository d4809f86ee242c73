//! HTTP operations: requests and their variables.

use super::SetupBuilder;
use crate::datum::Ordered;
use crate::diagnostic::{any_of, nearest, quote};
use crate::file::{self, Capture, OneOrMany};
use crate::name::name_error;
use crate::template::{self, TemplatePiece, is_name};
use crate::tree::{Node, Value};
use crate::unit::Word;
use crate::{GrammarDiagnostic, json, path};
use model::plan::{CaptureSource, Expectation, HttpStep, Load, Operation, OperationKind, RequestBody};

/// Longer operations are unreadable.
const MAX_STEPS: usize = 100;
/// Variables that are always defined.
pub(super) const PREDEFINED: [&str; 3] = ["client_id", "default_seed", "random_seed"];

/// Headers that pgdyno generates itself.
const OURS: [&str; 4] = ["Host", "Content-Length", "Transfer-Encoding", "Connection"];

/// Variables of an operation.
#[derive(Debug, Default)]
pub struct Variables {
    /// Known names.
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
            ("unpack", self.unpack.is_some()),
        ];
        all.iter().filter(|it| it.1).map(|it| it.0).collect()
    }
}

impl SetupBuilder<'_> {
    /// Checks that the load's service settings fit the operations.
    pub(super) fn check_service_load(&mut self, load: &Load, operations: &[Operation]) {
        let asks =
            operations.iter().any(|it| matches!(it.kind, OperationKind::Http(_) | OperationKind::Ammo));
        for (key, given) in
            [("cookies", load.cookies), ("first_byte_timeout", load.first_byte_timeout.is_some())]
        {
            if given && !asks {
                let found = format!("`{key}` of a load that asks no service");
                self.report(&format!("load.{key}"), found, "leave it out: it is for HTTP operations");
            }
        }
        for it in operations.iter().filter(|_| load.cookies) {
            let OperationKind::Http(steps) = &it.kind else { continue };
            let path = format!("operations.{}", it.name);
            let several = path::node(self.tree, &format!("{path}.steps")).is_some();
            for (i, step) in steps.iter().enumerate() {
                let at = if several { format!("{path}.steps[{i}]") } else { path.clone() };
                for (name, _) in step.headers.iter().filter(|it| it.0.eq_ignore_ascii_case("cookie")) {
                    let found = "the header Cookie beside `load.cookies`, which writes it";
                    self.report(&format!("{at}.headers.{name}"), found, "leave one of them out");
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
            let found = if all.is_empty() { "no steps".to_owned() } else { format!("{} steps", all.len()) };
            self.report(path, found, format!("write 1 to {MAX_STEPS}, each with a method: `get: /path`"));
        }
        let mut names: Vec<String> = Vec::new();
        let mut steps = Vec::new();
        for (i, it) in all.into_iter().enumerate() {
            let at = format!("{path}[{i}]");
            if let Some(name) = &it.name {
                if let Some((found, instead)) = name_error(name, "step") {
                    self.report(&format!("{at}.name"), found, instead);
                } else if names.contains(name) {
                    let found = format!("a second step {}", quote(name));
                    self.report(
                        &format!("{at}.name"),
                        found,
                        "name each otherwise: reports tell of them by name",
                    );
                }
                names.push(name.clone());
            }
            steps.push(self.step(&at, it.name, it.request, variables));
        }
        steps
    }

    /// Checks one request; its captures are defined for later requests.
    pub(super) fn step(
        &mut self,
        path: &str,
        name: Option<String>,
        it: file::Request,
        variables: &mut Variables,
    ) -> HttpStep {
        let at = |key: &str| format!("{path}.{key}");
        let (method, target) = match it.methods().as_slice() {
            [] => {
                self.report(path, "a request without a method", "add one with its path, as in `get: /books`");
                ("get", String::new())
            }
            [(method, target)] => (*method, (*target).to_owned()),
            [(first, _), (second, target), ..] => {
                let found = format!("a request has `{first}` and `{second}`");
                self.report(&at(second), found, "leave one of them out, or write two `steps`");
                (*first, (*target).to_owned())
            }
        };
        let before = self.mistakes.len();
        for key in [method, "query", "headers", "json", "form", "body"] {
            self.check_variables(&at(key), path, variables);
        }
        let target = self.target(&at(method), target, &it.query, self.mistakes.len() == before);
        let headers = it.headers.0.into_iter().map(|(name, it)| self.header(path, name, &it.0)).collect();
        let bodies: Vec<&str> =
            [("json", it.json.is_some()), ("form", it.form.is_some()), ("body", it.body.is_some())]
                .iter()
                .filter(|it| it.1)
                .map(|it| it.0)
                .collect();
        if let [first, second, ..] = bodies.as_slice() {
            let found = format!("a request has `{first}` and `{second}`");
            self.report(&at(second), found, "leave one of them out: it has one body");
        }
        if let (Some(body), "get" | "head") = (bodies.first(), method) {
            let found = format!("a {} with a body", method.to_uppercase());
            self.report(&at(body), found, "write `post` or `put`, or put its fields into `query`");
        }
        let body = match (it.json, it.form, it.body) {
            (Some(it), ..) => Some(RequestBody::Json(self.json(&at("json"), it.0))),
            (None, Some(fields), _) => {
                Some(RequestBody::Form(fields.0.into_iter().map(|(name, it)| (name, it.0)).collect()))
            }
            (None, None, it) => it.map(RequestBody::Text),
        };
        let captures =
            it.capture.0.into_iter().map(|it| self.capture(&at("capture"), it, variables)).collect();
        let expect = it.expect.unwrap_or_default();
        let status = match expect.status {
            None => Vec::new(),
            Some(OneOrMany::One(it)) => vec![it.0],
            Some(OneOrMany::Many(all)) => all.into_iter().map(|it| it.0).collect(),
        };
        if expect.contains.as_deref() == Some("") {
            self.report(
                &at("expect.contains"),
                "an empty text, which every answer contains",
                "write what is to be there",
            );
        }
        let expect = Expectation { status, contains: expect.contains };
        HttpStep {
            name,
            method: method.to_uppercase(),
            target,
            headers,
            body,
            captures,
            expect,
            redirects: it.redirects.unwrap_or(0),
            decompress: it.unpack.unwrap_or(false),
        }
    }

    /// Path and query in encoded form. `sound` is true if their variables are valid.
    fn target(&mut self, path: &str, written: String, query: &Ordered<Word>, sound: bool) -> String {
        let instead = match written.split_once("://") {
            _ if written.is_empty() || written.starts_with('/') => None,
            Some((_, rest)) => Some(rest.find('/').map_or("/", |i| &rest[i..])),
            None => Some(written.as_str()),
        };
        if let Some(it) = instead {
            let instead = format!("write `/{}`: `stack.service` says where", it.trim_start_matches('/'));
            self.report(path, format!("{} is no path", quote(&written)), instead);
        } else if written.is_empty() {
            // A missing path is reported elsewhere.
            if path::node(self.tree, path).is_some() {
                self.report(path, "an empty path", "write one, as in `/books`");
            }
        } else if sound
            && let Some((i, sign)) = outside(&written).find(|(_, it)| !it.is_ascii_graphic() || *it == '#')
        {
            let length = sign.len_utf8();
            let mut bytes = String::new();
            encode(&sign.to_string(), &mut bytes);
            let complaint = GrammarDiagnostic {
                span: i..i + length,
                found: format!("{} in a path", quote(&sign.to_string())),
                suggestion: format!("write `{bytes}`, or put the value into `query`, where it is escaped"),
            };
            let at = self.span_of(path);
            self.report_in_text(&at, &written, vec![complaint]);
        }
        let mut target = written;
        for (name, value) in &query.0 {
            target.push(if target.contains('?') { '&' } else { '?' });
            encode(name, &mut target);
            target.push('=');
            for it in template::pieces(&value.0).unwrap_or_default() {
                match it {
                    TemplatePiece::Plain(text) => encode(&text, &mut target),
                    TemplatePiece::Variable(it) => target += &format!("${{{}}}", it.name),
                }
            }
        }
        target
    }

    fn header(&mut self, path: &str, name: String, value: &str) -> (String, String) {
        let at = format!("{path}.headers.{name}");
        let token = |it: char| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it);
        if name.is_empty() || !name.chars().all(token) {
            let found = format!("{} is no name of a header", quote(&name));
            self.report(&at, found, "write letters, digits and hyphens, as in `Accept`");
        } else if let Some(ours) = OURS.iter().find(|it| it.eq_ignore_ascii_case(&name)) {
            self.report(&at, format!("the header {ours} is pgdyno's to write"), "leave it out");
        }
        if value.contains(|it: char| it.is_control() && it != '\t') {
            let found = format!("the header {} has several lines or a control character", quote(&name));
            self.report(&at, found, "write its value on one line");
        }
        (name, value.trim().to_owned())
    }

    /// A scalar in place of a value must already be JSON.
    fn json(&mut self, path: &str, text: String) -> String {
        if let Some(Value::Scalar(..)) = path::node(self.tree, path).map(|it| &it.value)
            && let Some((at, why)) = json::find_json_error(&text)
        {
            let span = self.span_of(path);
            let end = text[at..].chars().next().map_or(at, |it| at + it.len_utf8());
            let complaint = GrammarDiagnostic {
                span: at..end,
                found: format!("this text is no JSON: {why}"),
                suggestion: "write JSON, or a YAML value as in { id: \"${id}\" }".to_owned(),
            };
            self.report_in_text(&span, &text, vec![complaint]);
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
            let found = format!("{} can be no variable", quote(&name));
            self.report(&at, found, "write a name of letters, digits and _");
        }
        variables.add(&name);
        let from = match from {
            Capture::Json(pointer) => {
                if let Some(instead) = suggest_json_pointer(&pointer) {
                    let found = format!("{} is no JSON pointer", quote(&pointer));
                    self.report(&format!("{at}.json"), found, instead);
                }
                CaptureSource::Json(pointer)
            }
            Capture::Header(header) => {
                if header.is_empty() || header.contains(|it: char| !it.is_ascii_graphic() || it == ':') {
                    let found = format!("{} is no name of a header", quote(&header));
                    self.report(&format!("{at}.header"), found, "write one such as `Location`");
                }
                CaptureSource::Header(header)
            }
            Capture::Regex(regex) => {
                if let Err(complaints) = (self.request.grammars.regex)(&regex) {
                    let span = self.span_of(&format!("{at}.regex"));
                    self.report_in_text(&span, &regex, complaints);
                }
                CaptureSource::Regex(regex)
            }
        };
        (name, from)
    }

    /// Checks that operation `whose` knows the variables in all texts at a path.
    fn check_variables(&mut self, path: &str, whose: &str, variables: &mut Variables) {
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
            if let Err(complaints) = template::pieces(text) {
                self.report_in_text(&node.span, text, complaints);
            }
            for it in template::variables(text) {
                if let Some(name) = template::secret(&it.name) {
                    if let Err(complaints) = (self.request.grammars.secret)(name) {
                        let there =
                            |told: GrammarDiagnostic| GrammarDiagnostic { span: it.at.clone(), ..told };
                        self.report_in_text(&node.span, text, complaints.into_iter().map(there).collect());
                    }
                    continue;
                }
                let found = self.unknown_variable(&it.name, whose, variables, |name| format!("${{{name}}}"));
                if let Some((found, instead)) = found {
                    self.report_in_text(
                        &node.span,
                        text,
                        vec![GrammarDiagnostic { span: it.at, found, suggestion: instead }],
                    );
                }
                variables.used.push(it.name);
            }
        }
    }

    /// Error about an unknown variable; `None` if it is known.
    pub(super) fn unknown_variable(
        &self,
        name: &str,
        whose: &str,
        variables: &Variables,
        written: impl Fn(&str) -> String,
    ) -> Option<(String, String)> {
        let known = || variables.names.iter().map(String::as_str).chain(PREDEFINED);
        if variables.open || known().any(|it| it == name) {
            return None;
        }
        let found = format!("{} knows no variable {}", quote(whose), quote(name));
        let instead = match nearest(name, known()) {
            Some(name) => format!("write `{}`", written(name)),
            None if variables.names.is_empty() => {
                "name a `feed` that has it, `set` it, or `capture` it in an earlier step".to_owned()
            }
            None => {
                let names: Vec<String> =
                    variables.names.iter().take(12).map(|it| format!("`{}`", written(it))).collect();
                format!("write {}, `set` it, or `capture` it in an earlier step", any_of(&names))
            }
        };
        Some((found, instead))
    }
}

/// Suggestion for a text that is no JSON pointer (RFC 6901).
fn suggest_json_pointer(text: &str) -> Option<String> {
    let escaped = |text: &str| text.split('~').skip(1).all(|it| it.starts_with(['0', '1']));
    if text.is_empty() || text.starts_with('/') && escaped(text) {
        return None;
    }
    let plain = text.trim_start_matches(['$', '.', '#', '/']).replace('~', "~0").replace(['.', '['], "/");
    let plain = plain.replace([']', '"', '\''], "");
    Some(match plain.is_empty() {
        true => "write it as `/token` or `/items/0/id`".to_owned(),
        false => format!("write `/{plain}`"),
    })
}

/// Characters outside of variables, with their positions.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let variables = template::variables(text);
    text.char_indices().filter(move |(i, _)| !variables.iter().any(|it| it.at.contains(i)))
}

/// Appends a text, percent-encoded for a query. Source: RFC 3986, section 2.3.
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(char::from(byte)),
            false => *out += &format!("%{byte:02X}"),
        }
    }
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
            ("token", Some("write `/token`")),
            ("$.items[0].id", Some("write `/items/0/id`")),
            ("/a~b", Some("write `/a~0b`")),
            ("$", Some("write it as `/token` or `/items/0/id`")),
        ] {
            assert_eq!(suggest_json_pointer(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn escapes_queries() {
        let mut out = String::new();
        encode("a b&ж$-", &mut out);
        assert_eq!(out, "a%20b%26%D0%B6%24-");
    }
}
