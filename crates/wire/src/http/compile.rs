//! From a request to the template of its bytes.

use crate::{Placeholder, TemplateBuilder};

/// What is to be done with the resource. Source: RFC 9110, section 9.
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

    /// The method of this name; `None` for one that is not known.
    pub fn from_name(name: &[u8]) -> Option<Method> {
        Method::ALL.into_iter().find(|it| it.name().as_bytes() == name)
    }

    /// What is meant to have a body says so when it has none: RFC 9110, section 8.6.
    pub fn expects_body(self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }

    /// Asked twice, it does what it does once: RFC 9110, section 9.2.2.
    pub fn is_idempotent(self) -> bool {
        !matches!(self, Method::Post | Method::Patch)
    }
}

/// A piece of a text with variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePart<'a> {
    Text(&'a str),
    Arg(u16, Placeholder),
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: Method,
    /// Path and query as they travel; an empty text is `/`.
    pub target: &'a [TemplatePart<'a>],
    /// Value of `Host`.
    pub host: &'a str,
    /// Beside `Host` and `Content-Length`, which are not to be among them.
    pub headers: &'a [(&'a str, &'a [TemplatePart<'a>])],
    pub body: Option<&'a [TemplatePart<'a>]>,
}

/// Appends the request, its Content-Length counted when its holes are filled.
pub fn request(to: &mut TemplateBuilder, it: &Request<'_>) {
    request_with_header_lines(to, it, None);
}

/// The same with an argument that is further headers, each with its line's end, or nothing.
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
    let fixed = body.iter().map(|it| match it {
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

/// Appends a request all of which is arguments: 0 is the method, 1 the target, 2 the headers, each with its line's end. With
/// `body`, 3 is the body, and its length is told.
pub fn raw_request(to: &mut TemplateBuilder, host: &str, body: bool) {
    to.placeholder(0, Placeholder::Raw).bytes(b" ").placeholder(1, Placeholder::Raw);
    to.bytes(b" HTTP/1.1\r\nHost: ").bytes(host.as_bytes()).bytes(b"\r\n").placeholder(2, Placeholder::Raw);
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

/// May a header be called so? RFC 9110, section 5.6.2.
pub fn is_header_name(name: &str) -> bool {
    let token = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !name.is_empty() && name.bytes().all(token)
}

/// May this be within a header's value, or within a request's target? Whoever can write line ends there writes headers.
pub fn is_one_line(text: &str) -> bool {
    text.bytes().all(|it| it == b'\t' || (it >= b' ' && it != 0x7f))
}
