//! Which HTTP services are asked, and which bytes ask them?

use crate::script::call::BODY_MAX;
use crate::script::{Call, Capture, From, Part, Slot, Variables};
use model::Nanos;
use wire::http::{self, Keep, Method, Needle, Origin, compile};
use wire::tls::Web;
use wire::{Template, TemplateBuilder};

/// An HTTP service.
#[derive(Clone, Debug)]
pub struct Service {
    /// Value of the header `Host`.
    pub host: String,
    /// Spoken through TLS.
    pub tls: Option<Web>,
    /// A connection that takes longer to open, its handshake included, is given up.
    pub connect_within: Nanos,
    /// An answer that has not begun so long after the request was to leave is given up; `None`: never.
    pub begin_within: Option<Nanos>,
    /// The same for an answer that has not ended, redirects before it included.
    pub end_within: Option<Nanos>,
    /// Each client keeps the cookies that answers set, and sends them back; with ammunition it does neither.
    pub cookies: bool,
}

impl Service {
    /// One without TLS, given up only when it cannot be connected to within 30 s.
    pub fn plain(host: &str) -> Service {
        Service {
            host: host.to_owned(),
            tls: None,
            connect_within: Nanos::from_secs(30),
            begin_within: None,
            end_within: None,
            cookies: false,
        }
    }

    /// Whom its requests are for.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { host: &self.host, tls: self.tls.is_some() }
    }

    /// The shortest of its patience while a request is under way.
    pub(crate) fn answers_within(&self) -> Nanos {
        [self.begin_within, self.end_within].into_iter().flatten().min().unwrap_or(Nanos::MAX)
    }
}

/// One call, compiled.
#[derive(Debug)]
pub(crate) struct Request {
    pub call: Call,
    template: Template,
    /// For ammunition without a body.
    bare: Template,
    /// For the target of a redirect, with the body and without it.
    moved: Template,
    fetched: Template,
    /// In the order of the templates' arguments, but for [`TARGET`] and [`COOKIES`].
    pub args: Box<[Slot]>,
    pub keep: Keep,
    /// What the body must hold.
    pub needle: Option<Needle>,
    /// The number of its first regular expression among all of the workload; the others follow.
    pub finder: usize,
}

/// The argument that is a redirect's target.
pub(crate) const TARGET: u16 = u16::MAX;
/// The argument that is the line of cookies.
pub(crate) const COOKIES: u16 = u16::MAX - 1;

/// Which of a call's requests is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hop {
    /// The one that it asks.
    #[default]
    First,
    /// The same, of a redirect's target.
    Moved,
    /// What a redirect's target is: without a body.
    Fetched,
}

impl Hop {
    /// What an answer of this status to a request of this method leads to; `None` if it is no redirect. As browsers do:
    /// RFC 9110, section 15.4, and the Fetch standard, section 4.4.
    pub fn after(self, status: u16, method: Method) -> Option<Hop> {
        match status {
            301 | 302 | 303 | 307 | 308 if self == Hop::Fetched => Some(Hop::Fetched),
            303 => Some(Hop::Fetched),
            301 | 302 if method == Method::Post => Some(Hop::Fetched),
            301 | 302 | 307 | 308 => Some(Hop::Moved),
            _ => None,
        }
    }
}

impl Request {
    /// `finder`: regular expressions of the calls before it.
    pub fn new(call: &Call, service: &Service, finder: usize) -> Request {
        let (args, [template, bare, moved, fetched]) = match &call.ammo {
            Some(ammo) => {
                let whole = |body| built(|it| compile::whole(it, &service.host, body));
                (ammo.slots().into(), [whole(true), whole(false), Template::default(), Template::default()])
            }
            None => written(call, service),
        };
        let head = call.ammo.is_none() && (service.cookies || call.redirects > 0);
        let mut keep = Keep { head, body: 0, unpack: call.unpack };
        for Capture { from, .. } in &call.captures {
            match from {
                From::Status => {}
                From::Header(_) => keep.head = true,
                From::Body(bytes) => keep.body = keep.body.max(*bytes),
                From::Json(_) | From::Regex(_) => keep.body = keep.body.max(BODY_MAX),
            }
        }
        let needle = call.contains.as_ref().map(|it| Needle::new(it.as_bytes()));
        Request { call: call.clone(), template, bare, moved, fetched, args, keep, needle, finder }
    }

    /// What is asked with these variables. A method that is not known may be none that can be asked twice, as POST.
    #[inline]
    pub fn method(&self, hop: Hop, variables: &Variables) -> Method {
        match (&self.call.ammo, hop) {
            (None, Hop::First | Hop::Moved) => self.call.method,
            (None, Hop::Fetched) => fetching(self.call.method),
            (Some(ammo), _) => Method::of(variables.text(ammo.method)).unwrap_or(Method::Post),
        }
    }

    /// Which bytes ask it.
    #[inline]
    pub fn template(&self, hop: Hop, method: Method, variables: &Variables) -> &Template {
        match (&self.call.ammo, hop) {
            (Some(ammo), _) if variables.text(ammo.body).is_empty() && !method.expects_body() => &self.bare,
            (_, Hop::First) => &self.template,
            (_, Hop::Moved) => &self.moved,
            (_, Hop::Fetched) => &self.fetched,
        }
    }
}

/// The method that asks for what a redirect's target is.
fn fetching(method: Method) -> Method {
    if method == Method::Head { Method::Head } else { Method::Get }
}

/// A request whose pieces the script says: its arguments, and its templates.
fn written(call: &Call, service: &Service) -> (Box<[Slot]>, [Template; 4]) {
    let mut args = Vec::new();
    let target = holes(&call.target, &mut args);
    let headers: Vec<_> = call.headers.iter().map(|it| (it.0.as_str(), holes(&it.1, &mut args))).collect();
    let body = call.body.as_ref().map(|it| holes(it, &mut args));
    let is_named = |name: &str| call.headers.iter().any(|it| it.0.eq_ignore_ascii_case(name));
    let agent = [http::Part::Text(concat!("pgdyno/", env!("CARGO_PKG_VERSION")))];
    let codings = [http::Part::Text(http::CODINGS)];
    let agent = (!is_named("user-agent")).then_some(("User-Agent", &agent[..]));
    let codings = (call.unpack && !is_named("accept-encoding")).then_some(("Accept-Encoding", &codings[..]));
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
    let template = |request: &http::Request<'_>| built(|it| compile::request_with(it, request, cookies));
    let none = Template::default;
    if call.redirects == 0 {
        return (args.into(), [template(&first), none(), none(), none()]);
    }
    let target = [http::Part::Arg(TARGET, wire::Hole::Raw)];
    let moved = http::Request { target: &target, ..first };
    // What is said of a body goes with it.
    let of_body = |name: &str| name.get(..8).is_some_and(|it| it.eq_ignore_ascii_case("content-"));
    let without: Vec<_> = headers.iter().copied().filter(|it| !of_body(it.0)).collect();
    let fetched = http::Request { method: fetching(call.method), headers: &without, body: None, ..moved };
    (args.into(), [template(&first), none(), template(&moved), template(&fetched)])
}

fn built(build: impl FnOnce(&mut TemplateBuilder)) -> Template {
    let mut builder = TemplateBuilder::default();
    build(&mut builder);
    builder.build()
}

/// The same pieces with their arguments numbered.
fn holes<'a>(parts: &'a [Part], args: &mut Vec<Slot>) -> Vec<http::Part<'a>> {
    let part = |it: &'a Part| match it {
        Part::Text(text) => http::Part::Text(text),
        Part::Var { slot, hole } => {
            args.push(*slot);
            http::Part::Arg(args.len() as u16 - 1, *hole)
        }
        Part::Secret { escaped, .. } => http::Part::Text(escaped.reveal()),
    };
    parts.iter().map(part).collect()
}
