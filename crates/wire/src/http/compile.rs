//! Compiler from requests to templates.

use crate::{Placeholder, TemplateBuilder};

/// Request method. Source: RFC 9110, section 9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    pub const ALL: [Method; 7] = [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Patch,
        Method::Delete,
        Method::Options,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
        }
    }

    /// Method with this name; `None` if the name is unknown.
    pub fn from_name(name: &[u8]) -> Option<Method> {
        Method::ALL.into_iter().find(|it| it.name().as_bytes() == name)
    }

    /// True if a request without a body must declare the length 0: RFC 9110, section 8.6.
    pub fn expects_body(self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }

    /// True if repeating the request has the same effect as sending it once: RFC 9110, section 9.2.2.
    pub fn is_idempotent(self) -> bool {
        !matches!(self, Method::Post | Method::Patch)
    }
}

/// Part of a text with variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePart<'a> {
    Text(&'a str),
    Arg(u16, Placeholder),
}

/// HTTP request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: Method,
    /// Path and query in their encoded form; an empty target means `/`.
    pub target: &'a [TemplatePart<'a>],
    /// Value of `Host`.
    pub host: &'a str,
    /// Headers except `Host` and `Content-Length`, which the compiler adds.
    pub headers: &'a [(&'a str, &'a [TemplatePart<'a>])],
    pub body: Option<&'a [TemplatePart<'a>]>,
}

/// Appends the request to a template. Content-Length is computed when the template is rendered.
pub fn request(to: &mut TemplateBuilder, request: &Request<'_>) {
    request_with_header_lines(to, request, None);
}

/// Appends the request with an argument for further header lines, each with its line ending. The argument may be empty.
pub fn request_with_header_lines(to: &mut TemplateBuilder, request: &Request<'_>, lines: Option<u16>) {
    to.bytes(request.method.name().as_bytes()).bytes(b" ");
    if request.target.is_empty() {
        to.bytes(b"/");
    }
    append_parts(to, request.target);
    to.bytes(b" HTTP/1.1\r\nHost: ").bytes(request.host.as_bytes()).bytes(b"\r\n");
    for (name, value) in request.headers {
        to.bytes(name.as_bytes()).bytes(b": ");
        append_parts(to, value);
        to.bytes(b"\r\n");
    }
    if let Some(lines) = lines {
        to.placeholder(lines, Placeholder::Raw);
    }
    let Some(body) = request.body else {
        to.bytes(if request.method.expects_body() { b"Content-Length: 0\r\n\r\n" } else { b"\r\n" });
        return;
    };
    to.bytes(b"Content-Length: ");
    let fixed = body.iter().map(|part| match part {
        TemplatePart::Text(text) => Some(text.len()),
        TemplatePart::Arg(..) => None,
    });
    match fixed.sum::<Option<usize>>() {
        Some(length) => {
            to.bytes(length.to_string().as_bytes()).bytes(b"\r\n\r\n");
            append_parts(to, body);
        }
        None => {
            to.decimal_length().bytes(b"\r\n\r\n").counted(|to| append_parts(to, body));
        }
    }
}

/// Appends a request whose parts are all arguments.
///
/// Argument 0 is the method, 1 the target, 2 the header lines with their line endings. With `body`, argument 3 is the
/// body, and the template adds Content-Length. `more_headers` is an argument with further header lines.
pub fn raw_request(to: &mut TemplateBuilder, host: &str, more_headers: Option<u16>, body: bool) {
    to.placeholder(0, Placeholder::Raw).bytes(b" ").placeholder(1, Placeholder::Raw);
    to.bytes(b" HTTP/1.1\r\nHost: ").bytes(host.as_bytes()).bytes(b"\r\n").placeholder(2, Placeholder::Raw);
    if let Some(arg) = more_headers {
        to.placeholder(arg, Placeholder::Raw);
    }
    if body {
        to.bytes(b"Content-Length: ").decimal_length().bytes(b"\r\n\r\n").counted(|to| {
            to.placeholder(3, Placeholder::Raw);
        });
    } else {
        to.bytes(b"\r\n");
    }
}

fn append_parts(to: &mut TemplateBuilder, parts: &[TemplatePart<'_>]) {
    for part in parts {
        match part {
            TemplatePart::Text(text) => to.bytes(text.as_bytes()),
            TemplatePart::Arg(arg, hole) => to.placeholder(*arg, *hole),
        };
    }
}

/// True for a valid header name: RFC 9110, section 5.6.2.
pub fn is_header_name(name: &str) -> bool {
    let token = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !name.is_empty() && name.bytes().all(token)
}

/// True if the text is valid within a header's value or a request's target. A line ending in it would inject headers.
pub fn is_one_line(text: &str) -> bool {
    text.bytes().all(|it| it == b'\t' || (it >= b' ' && it != 0x7f))
}
