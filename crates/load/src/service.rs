//! Which HTTP services are asked, and which bytes ask them?

use crate::script::call::BODY_MAX;
use crate::script::{Call, Capture, From, Part, Slot, Variables};
use model::Nanos;
use wire::http::{self, Keep, Method, Needle, compile};
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
    /// The same for an answer that has not ended.
    pub end_within: Option<Nanos>,
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
        }
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
    /// In the order of the templates' arguments.
    pub args: Box<[Slot]>,
    pub keep: Keep,
    /// What the body must hold.
    pub needle: Option<Needle>,
    /// The number of its first regular expression among all of the workload; the others follow.
    pub finder: usize,
}

impl Request {
    /// `finder`: regular expressions of the calls before it.
    pub fn new(call: &Call, service: &Service, finder: usize) -> Request {
        let (args, templates) = match &call.ammo {
            Some(ammo) => {
                let whole = |body| built(|it| compile::whole(it, &service.host, body));
                (ammo.slots().into(), [whole(true), whole(false)])
            }
            None => {
                let (args, template) = written(call, service);
                (args, [template, Template::default()])
            }
        };
        let [template, bare] = templates;
        let mut keep = Keep::default();
        for Capture { from, .. } in &call.captures {
            match from {
                From::Status => {}
                From::Header(_) => keep.head = true,
                From::Body(bytes) => keep.body = keep.body.max(*bytes),
                From::Json(_) | From::Regex(_) => keep.body = keep.body.max(BODY_MAX),
            }
        }
        let needle = call.contains.as_ref().map(|it| Needle::new(it.as_bytes()));
        Request { call: call.clone(), template, bare, args, keep, needle, finder }
    }

    /// What is asked with these variables. A method that is not known may be none that can be asked twice, as POST.
    #[inline]
    pub fn method(&self, variables: &Variables) -> Method {
        match &self.call.ammo {
            None => self.call.method,
            Some(ammo) => Method::of(variables.text(ammo.method)).unwrap_or(Method::Post),
        }
    }

    /// Which bytes ask it.
    #[inline]
    pub fn template(&self, method: Method, variables: &Variables) -> &Template {
        match &self.call.ammo {
            Some(ammo) if variables.text(ammo.body).is_empty() && !method.expects_body() => &self.bare,
            _ => &self.template,
        }
    }
}

/// A request whose pieces the script says: its arguments, and its template.
fn written(call: &Call, service: &Service) -> (Box<[Slot]>, Template) {
    let mut args = Vec::new();
    let target = holes(&call.target, &mut args);
    let headers: Vec<_> = call.headers.iter().map(|it| (it.0.as_str(), holes(&it.1, &mut args))).collect();
    let body = call.body.as_ref().map(|it| holes(it, &mut args));
    let agent = [http::Part::Text(concat!("pgdyno/", env!("CARGO_PKG_VERSION")))];
    let named = call.headers.iter().any(|it| it.0.eq_ignore_ascii_case("user-agent"));
    let ours = (!named).then_some(("User-Agent", &agent[..]));
    let headers: Vec<_> = ours.into_iter().chain(headers.iter().map(|it| (it.0, &it.1[..]))).collect();
    let request = http::Request {
        method: call.method,
        target: &target,
        host: &service.host,
        headers: &headers,
        body: body.as_deref(),
    };
    (args.into(), built(|it| compile::request(it, &request)))
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
    };
    parts.iter().map(part).collect()
}
