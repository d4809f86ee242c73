//! HTTP services and the compiled requests for them

use crate::script::call::BODY_MAX;
use crate::script::{CallCapture, CallPart, HttpCall, ResponsePart, Slot, Variables};
use model::Nanos;
use wire::http::{self, BodySearch, Method, Origin, Retain, compile};
use wire::tls::HttpsClient;
use wire::{Template, TemplateBuilder};

/// HTTP service under test.
#[derive(Clone, Debug)]
pub struct Service {
    /// Value of the `Host` header.
    pub host: String,
    /// TLS client; `None` means plain TCP.
    pub tls: Option<HttpsClient>,
    /// Timeout for opening a connection, including the TLS handshake.
    pub connect_timeout: Nanos,
    /// Maximum time from the intended start of a request to the first byte of its response; `None` means unlimited.
    pub first_byte_timeout: Option<Nanos>,
    /// Timeout for the whole response, including preceding redirects; `None` means unlimited.
    pub response_timeout: Option<Nanos>,
    /// True if each client stores and sends cookies. Requests from ammunition ignore this flag.
    pub cookies: bool,
}

impl Service {
    /// Service without TLS, with a connect timeout of 30 s and no other timeout.
    pub fn without_tls(host: &str) -> Service {
        Service {
            host: host.to_owned(),
            tls: None,
            connect_timeout: Nanos::from_secs(30),
            first_byte_timeout: None,
            response_timeout: None,
            cookies: false,
        }
    }

    /// Origin of the requests to this service.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { host: &self.host, tls: self.tls.is_some() }
    }

    /// Shortest timeout that applies while a request is in flight.
    pub(crate) fn shortest_timeout(&self) -> Nanos {
        [self.first_byte_timeout, self.response_timeout].into_iter().flatten().min().unwrap_or(Nanos::MAX)
    }
}

/// Compiled HTTP call.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub call: HttpCall,
    template: Template,
    /// Template for an ammunition request without a body.
    without_body: Template,
    /// Template for a redirected request with the original body.
    redirected: Template,
    redirected_as_get: Template,
    /// Variables in the order of the templates' arguments, without [`TARGET`], [`COOKIES`] and [`HEADERS`].
    pub args: Box<[Slot]>,
    pub keep: Retain,
    /// Search for [`HttpCall::texts`]; `None` if there is no text, or if texts contain variables.
    pub search: Option<BodySearch>,
    /// True if texts contain variables, so that each request has its own search.
    pub has_variable_texts: bool,
    /// Index of the call's first regular expression among all regular expressions of the workload. The call's other
    /// expressions follow.
    pub finder: usize,
}

/// Maximum number of body bytes that are reported with a failure.
pub(crate) const EXCERPT_BYTES: u32 = 256;

/// Reserved argument number: the target of a redirect.
pub(crate) const TARGET: u16 = u16::MAX;
/// Argument number of the `Cookie` header line.
pub(crate) const COOKIES: u16 = u16::MAX - 1;
/// Argument number of the headers that are added to all requests of ammunition.
pub(crate) const HEADERS: u16 = u16::MAX - 2;

/// Kind of the call's request that is in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RedirectStep {
    /// First request of the call.
    #[default]
    Original,
    /// Redirected request with the same method and body.
    SameMethod,
    /// Redirected request without a body: GET or HEAD.
    AsGet,
}

impl RedirectStep {
    /// Next request after a response with `status` to a request with `method`; `None` if the response is not a
    /// redirect.
    ///
    /// The rules are those of browsers: RFC 9110, section 15.4, and the Fetch standard, section 4.4.
    pub fn next(self, status: u16, method: Method) -> Option<RedirectStep> {
        match status {
            301 | 302 | 303 | 307 | 308 if self == RedirectStep::AsGet => Some(RedirectStep::AsGet),
            303 => Some(RedirectStep::AsGet),
            301 | 302 if method == Method::Post => Some(RedirectStep::AsGet),
            301 | 302 | 307 | 308 => Some(RedirectStep::SameMethod),
            _ => None,
        }
    }
}

impl HttpRequest {
    /// Compiles a call. `finder` is the number of regular expressions in the preceding calls.
    pub fn new(call: &HttpCall, service: &Service, finder: usize) -> HttpRequest {
        let (args, [template, bare, moved, fetched]) = match &call.ammo {
            Some(ammo) => {
                let more_headers = (!call.headers.is_empty()).then_some(HEADERS);
                let raw =
                    |body| build_template(|it| compile::raw_request(it, &service.host, more_headers, body));
                (ammo.slots().into(), [raw(true), raw(false), Template::default(), Template::default()])
            }
            None => compile_call(call, service),
        };
        let head = call.ammo.is_none() && (service.cookies || call.redirects > 0);
        // Keep the beginning of the body, because it shows why the call failed.
        let body = if call.texts().next().is_some() { EXCERPT_BYTES } else { 0 };
        let mut keep = Retain { head, body, error_body: EXCERPT_BYTES, decompress: call.decompress };
        for CallCapture { source: from, .. } in &call.captures {
            match from {
                ResponsePart::Status => {}
                ResponsePart::Header(_) => keep.head = true,
                ResponsePart::Body(bytes) => keep.body = keep.body.max(*bytes),
                ResponsePart::Json(_) | ResponsePart::Regex(_) => keep.body = keep.body.max(BODY_MAX),
            }
        }
        let is_variable = |text: &[CallPart]| text.iter().any(|it| matches!(it, CallPart::Var { .. }));
        let has_variable_texts = call.texts().any(is_variable);
        let search = (!has_variable_texts && call.texts().next().is_some()).then(|| {
            let mut search = BodySearch::default();
            for (number, text) in call.texts().enumerate() {
                search.set(number, |out| write_text(text, &Variables::new(0), out));
            }
            search
        });
        HttpRequest {
            call: call.clone(),
            template,
            without_body: bare,
            redirected: moved,
            redirected_as_get: fetched,
            args,
            keep,
            search,
            has_variable_texts,
            finder,
        }
    }

    /// Search for the call's texts; `own` is the search of the request. `None` without texts.
    #[inline]
    pub fn search<'a>(&'a self, own: &'a BodySearch) -> Option<&'a BodySearch> {
        if self.has_variable_texts { Some(own) } else { self.search.as_ref() }
    }

    /// Method of the request. An unknown method in ammunition counts as POST, because its requests may not be
    /// idempotent.
    #[inline]
    pub fn method(&self, hop: RedirectStep, variables: &Variables) -> Method {
        match (&self.call.ammo, hop) {
            (None, RedirectStep::Original | RedirectStep::SameMethod) => self.call.method,
            (None, RedirectStep::AsGet) => redirect_method(self.call.method),
            (Some(ammo), _) => Method::from_name(variables.text(ammo.method)).unwrap_or(Method::Post),
        }
    }

    /// Template of the request.
    #[inline]
    pub fn template(&self, hop: RedirectStep, method: Method, variables: &Variables) -> &Template {
        match (&self.call.ammo, hop) {
            (Some(ammo), _) if variables.text(ammo.body).is_empty() && !method.expects_body() => {
                &self.without_body
            }
            (_, RedirectStep::Original) => &self.template,
            (_, RedirectStep::SameMethod) => &self.redirected,
            (_, RedirectStep::AsGet) => &self.redirected_as_get,
        }
    }
}

/// Appends the headers of a call, except those whose names `own` has, which are header lines.
pub(crate) fn write_headers(call: &HttpCall, own: &[u8], variables: &Variables, out: &mut Vec<u8>) {
    let is_own = |name: &str| {
        let names =
            own.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b':').next());
        names.into_iter().any(|it| it.eq_ignore_ascii_case(name.as_bytes()))
    };
    for (name, value) in call.headers.iter().filter(|it| !is_own(&it.0)) {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        write_text(value, variables, out);
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends a text with the values of its variables.
pub(crate) fn write_text(text: &[CallPart], variables: &Variables, out: &mut Vec<u8>) {
    for part in text {
        match part {
            CallPart::Text(text) => out.extend_from_slice(text.as_bytes()),
            CallPart::Var { slot, .. } => drop(variables.write(*slot, out)),
            CallPart::Secret { escaped, .. } => out.extend_from_slice(escaped.reveal().as_bytes()),
        }
    }
}

/// Method of a redirected request without a body.
fn redirect_method(method: Method) -> Method {
    if method == Method::Head { Method::Head } else { Method::Get }
}

/// Arguments and templates of a request that the script defines in parts.
fn compile_call(call: &HttpCall, service: &Service) -> (Box<[Slot]>, [Template; 4]) {
    let mut args = Vec::new();
    let target = number_arguments(&call.target, &mut args);
    let headers: Vec<_> =
        call.headers.iter().map(|it| (it.0.as_str(), number_arguments(&it.1, &mut args))).collect();
    let body = call.body.as_ref().map(|it| number_arguments(it, &mut args));
    let is_named = |name: &str| call.headers.iter().any(|it| it.0.eq_ignore_ascii_case(name));
    let agent = [http::TemplatePart::Text(concat!("pgdyno/", env!("CARGO_PKG_VERSION")))];
    let codings = [http::TemplatePart::Text(http::ACCEPTED_CODINGS)];
    let agent = (!is_named("user-agent")).then_some(("User-Agent", &agent[..]));
    let codings =
        (call.decompress && !is_named("accept-encoding")).then_some(("Accept-Encoding", &codings[..]));
    let headers = headers.iter().map(|it| (it.0, &it.1[..]));
    let headers: Vec<_> = agent.into_iter().chain(codings).chain(headers).collect();
    let first = http::Request {
        method: call.method,
        target: &target,
        host: &service.host,
        headers: &headers,
        body: body.as_deref(),
    };
    let cookies = service.cookies.then_some(COOKIES);
    let template = |request: &http::Request<'_>| {
        build_template(|it| compile::request_with_header_lines(it, request, cookies))
    };
    let none = Template::default;
    if call.redirects == 0 {
        return (args.into(), [template(&first), none(), none(), none()]);
    }
    let target = [http::TemplatePart::Arg(TARGET, wire::Placeholder::Raw)];
    let moved = http::Request { target: &target, ..first };
    // Without the body, also omit the headers that describe it.
    let describes_body = |name: &str| name.get(..8).is_some_and(|it| it.eq_ignore_ascii_case("content-"));
    let without: Vec<_> = headers.iter().copied().filter(|it| !describes_body(it.0)).collect();
    let fetched =
        http::Request { method: redirect_method(call.method), headers: &without, body: None, ..moved };
    (args.into(), [template(&first), none(), template(&moved), template(&fetched)])
}

fn build_template(build: impl FnOnce(&mut TemplateBuilder)) -> Template {
    let mut builder = TemplateBuilder::default();
    build(&mut builder);
    builder.build()
}

/// Converts text with variables to template parts. Appends the variables to `args` and numbers them.
fn number_arguments<'a>(parts: &'a [CallPart], args: &mut Vec<Slot>) -> Vec<http::TemplatePart<'a>> {
    let part = |part: &'a CallPart| match part {
        CallPart::Text(text) => http::TemplatePart::Text(text),
        CallPart::Var { slot, hole } => {
            args.push(*slot);
            http::TemplatePart::Arg(args.len() as u16 - 1, *hole)
        }
        CallPart::Secret { escaped, .. } => http::TemplatePart::Text(escaped.reveal()),
    };
    parts.iter().map(part).collect()
}
