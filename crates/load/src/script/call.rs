//! HTTP requests of a script, and the expected responses

use super::names::NameTable;
use super::pattern::Pattern;
use super::{Command, CommandKind, Program, Script, Slot, Variables, is_valid_name};
use model::message::Message;
use model::{Answer, message};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
pub use wire::http::Method;
use wire::http::compile::{is_header_name, is_one_line};
use wire::json::Pointer;
use wire::pg::Secret;
use wire::{Placeholder, TemplateBuilder};

/// Request to an HTTP service; measured as one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// Index among the workload's HTTP services.
    pub service: u16,
    pub method: Method,
    /// Path and query.
    pub target: Vec<CallPart>,
    /// Headers other than `Host` and `Content-Length`.
    pub headers: Vec<(String, Vec<CallPart>)>,
    pub body: Option<Vec<CallPart>>,
    /// Variables that hold a whole request from a feed. If `Some`, method, target, headers and body are ignored.
    pub ammo: Option<Ammo>,
    /// Expected statuses; any other status is a failure. If empty, 200..=399 are expected.
    pub expect: Vec<RangeInclusive<u16>>,
    /// Texts that the body must contain; otherwise the request fails. Together with `not_contains` at most
    /// [`TEXTS_MAX`](wire::http::TEXTS_MAX).
    pub contains: Vec<Vec<CallPart>>,
    /// Texts with which the request fails. The empty text has no effect.
    pub not_contains: Vec<Vec<CallPart>>,
    /// Parts of the response that later commands need.
    pub captures: Vec<CallCapture>,
    /// Maximum number of redirects to follow, only within the service. 0 means that a 3xx response is final.
    pub redirects: u8,
    /// True if a compressed body is requested, and decompressed for checks and captures.
    pub decompress: bool,
}

/// Part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPart {
    Text(String),
    /// Value of a variable, escaped for its context; empty while the variable is unset.
    Var {
        slot: Slot,
        hole: Placeholder,
    },
    /// Value of an environment variable, escaped for its context. It is never stored in a variable or reported.
    Secret {
        name: String,
        escaped: Secret,
    },
}

/// Function that looks up an environment variable; `None` if the variable does not exist.
#[derive(Clone, Copy)]
pub struct SecretLookup<'a>(pub &'a dyn Fn(&str) -> Option<Secret>);

impl SecretLookup<'_> {
    /// Look-up that finds nothing.
    pub const NONE: SecretLookup<'static> = SecretLookup(&|_| None);
}

impl fmt::Debug for SecretLookup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretLookup")
    }
}

/// Prefix of a variable that refers to the environment: `${env:NAME}`.
const ENVIRONMENT: &str = "env:";

/// Part of a response that becomes a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCapture {
    pub slot: Slot,
    pub source: ResponsePart,
}

/// Part of a response that a script captures.
///
/// If the response lacks this part, the transaction fails with [`Code::CaptureNotFound`](model::Code::CaptureNotFound).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponsePart {
    /// Status code, as a number.
    Status,
    /// First header of this name.
    Header(String),
    /// First bytes of the body; the number is the maximum length.
    Body(u32),
    /// JSON value at this pointer, within the body's first [`BODY_MAX`] bytes.
    Json(Pointer),
    /// First group of the first match in the body, or the whole match if the expression has no group.
    Regex(Pattern),
}

/// Maximum number of body bytes that are kept for checks and captures.
pub const BODY_MAX: u32 = 1 << 20;

/// Variables that hold a whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ammo {
    pub method: Slot,
    pub target: Slot,
    /// Headers, each with its line end; without `Host` and `Content-Length`.
    pub headers: Slot,
    pub body: Slot,
    /// Status code of the recorded response; empty or unset if it is unknown.
    pub status: Slot,
    pub bytes: Slot,
}

impl Ammo {
    /// Feed columns that contain ammunition; other columns are not sent.
    pub const COLUMNS: [&str; 4] = ["method", "target", "headers", "body"];
    /// Optional columns with the recorded response.
    pub const RECORDED_COLUMNS: [&str; 2] = ["status", "bytes"];

    /// True for a column of the request or of its recorded response.
    pub fn has_column(name: &str) -> bool {
        Ammo::COLUMNS.contains(&name) || Ammo::RECORDED_COLUMNS.contains(&name)
    }

    /// Creates the variables from their slots, in the order of the columns.
    pub fn from_slots([method, target, headers, body]: [Slot; 4], [status, bytes]: [Slot; 2]) -> Ammo {
        Ammo { method, target, headers, body, status, bytes }
    }

    /// Recorded response to the request; `None` if it is unknown.
    #[inline]
    pub fn recorded(&self, variables: &Variables) -> Option<Answer> {
        let number = |slot| std::str::from_utf8(variables.text(slot)).ok();
        Some(Answer { status: number(self.status)?.parse().ok()?, bytes: number(self.bytes)?.parse().ok()? })
    }

    /// True if the server that wrote the log also answered this request with this client error (4xx), so that it is the
    /// expected response.
    #[inline]
    pub fn expects_client_error(&self, status: u16, variables: &Variables) -> bool {
        let recorded = std::str::from_utf8(variables.text(self.status)).ok();
        (400..500).contains(&status) && recorded.and_then(|it| it.parse().ok()) == Some(status)
    }

    /// Slots in the order of the arguments of [`wire::http::compile::raw_request`].
    pub fn slots(&self) -> [Slot; 4] {
        [self.method, self.target, self.headers, self.body]
    }
}

impl HttpCall {
    /// Creates a call with a method and a target only.
    pub fn new(service: u16, method: Method, target: Vec<CallPart>) -> HttpCall {
        HttpCall {
            service,
            method,
            target,
            headers: Vec::new(),
            body: None,
            ammo: None,
            expect: Vec::new(),
            contains: Vec::new(),
            not_contains: Vec::new(),
            captures: Vec::new(),
            redirects: 0,
            decompress: false,
        }
    }

    /// True if a response with this status is expected.
    pub fn expects(&self, status: u16) -> bool {
        match &self.expect[..] {
            [] => (200..=399).contains(&status),
            ranges => ranges.iter().any(|it| it.contains(&status)),
        }
    }

    /// All texts that are searched for in the body, those of `contains` first.
    pub fn texts(&self) -> impl Iterator<Item = &[CallPart]> {
        self.contains.iter().chain(&self.not_contains).map(Vec::as_slice)
    }

    /// Text number `i` of [`HttpCall::texts`] as it is written in the experiment file.
    pub fn template_of_text(&self, i: usize, names: &[Box<str>]) -> String {
        template_text(self.texts().nth(i).unwrap_or_default(), names)
    }

    /// Name of the request in reports, such as `GET /books?author=${author}`; at most 127 bytes.
    pub fn first_line(&self, names: &[Box<str>]) -> String {
        let mut line = format!("{} {}", self.method.name(), template_text(&self.target, names));
        while line.len() > 127 {
            line.pop();
        }
        line
    }
}

/// Text with its variables in the form `${name}`.
fn template_text(parts: &[CallPart], names: &[Box<str>]) -> String {
    let text = |part: &CallPart| match part {
        CallPart::Text(text) => text.clone(),
        CallPart::Var { slot, .. } => format!("${{{}}}", names[usize::from(*slot)]),
        CallPart::Secret { name, .. } => format!("${{{ENVIRONMENT}{name}}}"),
    };
    parts.iter().map(text).collect()
}

/// Splits `text` at its variables.
///
/// `${name}` is a variable, whose slot `slot` returns. `${env:NAME}` is an environment variable, whose value `secrets`
/// returns. `$$` is one dollar.
pub fn parse_parts(
    text: &str,
    hole: Placeholder,
    secrets: SecretLookup<'_>,
    mut slot: impl FnMut(&str) -> Slot,
) -> Result<Vec<CallPart>, Message> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        plain += before;
        if let Some(after) = after.strip_prefix('$') {
            plain.push('$');
            rest = after;
            continue;
        }
        let is_known = |it: &str| is_valid_name(it.strip_prefix(ENVIRONMENT).unwrap_or(it));
        let name = after.strip_prefix('{').and_then(|it| it.split_once('}')).filter(|it| is_known(it.0));
        let Some((name, after)) = name else {
            return Err(message!("script-step-variable", text));
        };
        if !plain.is_empty() {
            parts.push(CallPart::Text(std::mem::take(&mut plain)));
        }
        parts.push(match name.strip_prefix(ENVIRONMENT) {
            None => CallPart::Var { slot: slot(name), hole },
            Some(name) => {
                let missing = || message!("script-step-secret", name);
                let secret = (secrets.0)(name).ok_or_else(missing)?;
                let escaped = Secret::new(escape(secret.reveal(), hole));
                CallPart::Secret { name: name.to_owned(), escaped }
            }
        });
        rest = after;
    }
    plain += rest;
    if !plain.is_empty() {
        parts.push(CallPart::Text(plain));
    }
    Ok(parts)
}

/// Parses a header as on a command line, `Name: value`, with variables in its value.
pub fn parse_header(
    text: &str,
    secrets: SecretLookup<'_>,
    slot: impl FnMut(&str) -> Slot,
) -> Result<(String, Vec<CallPart>), Message> {
    let Some((name, value)) = text.split_once(':').filter(|it| is_header_name(it.0)) else {
        return Err(message!("script-step-header", text));
    };
    if !is_one_line(value) {
        return Err(message!("script-step-control", name));
    }
    for reserved in ["Host", "Content-Length", "Transfer-Encoding", "Connection"] {
        if name.eq_ignore_ascii_case(reserved) {
            return Err(message!("script-step-reserved", name = reserved));
        }
    }
    Ok((name.to_owned(), parse_parts(value.trim(), Placeholder::HeaderValue, secrets, slot)?))
}

/// Escaping of variables in a body of this Content-Type. Only JSON and forms require escaping.
pub(super) fn placeholder_for_content_type(kind: Option<&str>) -> Placeholder {
    match kind {
        Some(it) if it.contains("json") => Placeholder::Json,
        Some(it) if it.contains("form-urlencoded") => Placeholder::Url,
        _ => Placeholder::Raw,
    }
}

/// True if the text is a valid request target: apart from variables, it has no blanks and no control characters.
pub(super) fn is_target(text: &str) -> bool {
    is_one_line(text) && !text.contains([' ', '\t', '#'])
}

/// Escapes a value for the context of its variable.
fn escape(text: &str, hole: Placeholder) -> String {
    let mut template = TemplateBuilder::default();
    template.placeholder(0, hole);
    let mut out = Vec::new();
    template.build().render(&mut out, |_, out| {
        out.extend_from_slice(text.as_bytes());
        true
    });
    String::from_utf8(out).expect("escapes are ASCII, and take the place of ASCII or of whole characters")
}

/// HTTP request as given on a command line. Its texts may contain variables `${name}`.
#[derive(Clone, Copy, Debug)]
pub struct RequestSource<'a> {
    pub method: Method,
    /// Path and query, percent-encoded except for the variables.
    pub target: &'a str,
    /// Headers in the format of [`parse_header`].
    pub headers: &'a [String],
    /// Body; JSON unless a Content-Type header is given. Variables are escaped for the content type.
    pub body: Option<&'a str>,
    pub expect: &'a [RangeInclusive<u16>],
    /// Function that looks up `${env:NAME}`.
    pub secrets: SecretLookup<'a>,
}

impl Program {
    /// Compiles a request into a program, or returns all errors. `variables` are the names that the request may use.
    pub fn from_request(request: &RequestSource<'_>, variables: &[&str]) -> Result<Program, Vec<Message>> {
        let mut names = NameTable::default();
        let mut errors = Vec::new();
        let mut unknown = Vec::new();
        let mut slot = |name: &str| {
            if !variables.contains(&name) && !unknown.iter().any(|it| it == name) {
                unknown.push(name.to_owned());
            }
            names.slot(name)
        };
        let target = parse_parts(request.target, Placeholder::Url, request.secrets, &mut slot)
            .unwrap_or_else(|error| {
                errors.push(error);
                Vec::new()
            });
        let mut headers = Vec::new();
        for text in request.headers {
            match parse_header(text, request.secrets, &mut slot) {
                Ok(it) => headers.push(it),
                Err(error) => errors.push(error),
            }
        }
        let kind = headers.iter().find(|it| it.0.eq_ignore_ascii_case("content-type"));
        let hole = match kind.map(|it| &it.1[..]) {
            None => Placeholder::Json,
            Some([CallPart::Text(it)]) => placeholder_for_content_type(Some(it)),
            Some(_) => Placeholder::Raw,
        };
        if kind.is_none() && request.body.is_some() {
            headers.push(("Content-Type".to_owned(), vec![CallPart::Text("application/json".to_owned())]));
        }
        let body = request.body.and_then(|body| match parse_parts(body, hole, request.secrets, &mut slot) {
            Ok(parts) => Some(parts),
            Err(error) => {
                errors.push(error);
                None
            }
        });
        errors.extend(unknown.into_iter().map(|name| message!("script-request-undefined", name)));
        if !errors.is_empty() {
            return Err(errors);
        }
        let expect = request.expect.to_vec();
        let call = HttpCall { headers, body, expect, ..HttpCall::new(0, request.method, target) };
        let names = names.finish();
        let first_line = call.first_line(&names);
        let command =
            Command { line: 1, first_line: first_line.clone(), kind: CommandKind::Http(Box::new(call)) };
        let script = Script { name: first_line, weight: 1, draw: None, commands: vec![command] };
        let names = Arc::new(names);
        Ok(Program { scripts: vec![script], names, undefined: Vec::new(), has_on_start: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slot that these tests give to a name: the length of the name.
    fn slot(name: &str) -> Slot {
        name.len() as Slot
    }

    fn environment(name: &str) -> Option<Secret> {
        (name == "TOKEN").then(|| Secret::new("t&ж"))
    }

    #[test]
    fn parses_variables_in_text() {
        let check = |text: &str, expected: &str| {
            let parsed = match parse_parts(text, Placeholder::Url, SecretLookup(&environment), slot) {
                Ok(parts) => parts
                    .iter()
                    .map(|part| match part {
                        CallPart::Text(it) => format!("[{it}]"),
                        CallPart::Var { slot, .. } => format!("<{slot}>"),
                        CallPart::Secret { name, escaped } => format!("<{name}: {}>", escaped.reveal()),
                    })
                    .collect(),
                Err(error) => error.id.into_owned(),
            };
            assert_eq!(parsed, expected, "{text}");
        };
        check("/books?author=${author}&n=1", "[/books?author=]<6>[&n=1]");
        check("${a}${bc}", "<1><2>");
        check("cost: $$5", "[cost: $5]");
        check("", "");
        check("/a?t=${env:TOKEN}", "[/a?t=]<TOKEN: t%26%D0%B6>");
        check("${env:NONE}", "script-step-secret");
        for text in
            ["$", "a$b", "${", "${}", "${1}", "${a b}", "${env:}", "${env:1}", "${ENV:A}", "${env:a:b}"]
        {
            check(text, "script-step-variable");
        }
    }

    #[test]
    fn parses_headers() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let parsed = parse_header(text, SecretLookup(&environment), slot)
                .map(|(name, value)| format!("{name}={value:?}"));
            assert_eq!(parsed.as_deref().map_err(|error| error.id.as_ref()), expected, "{text}");
        };
        check("Accept:  */* ", Ok(r#"Accept=[Text("*/*")]"#));
        check("X: ${a}", Ok("X=[Var { slot: 1, hole: HeaderValue }]"));
        // Secrets are not printed, not even by `Debug`.
        check("X: a ${env:TOKEN}", Ok("X=[Text(\"a \"), Secret { name: \"TOKEN\", escaped: *** }]"));
        check("no", Err("script-step-header"));
        check("a b: c", Err("script-step-header"));
        check("A: b\r\nC: d", Err("script-step-control"));
        check("host: x", Err("script-step-reserved"));
    }
}
