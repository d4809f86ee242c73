//! Which HTTP services are asked, and which bytes ask them?

use crate::script::{Call, Capture, From, Part, Slot};
use model::Nanos;
use wire::http::{self, Keep, Method, compile};
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
    pub template: Template,
    /// In the order of the template's arguments.
    pub args: Box<[Slot]>,
    pub keep: Keep,
}

impl Request {
    pub fn new(call: &Call, service: &Service) -> Request {
        let mut args = Vec::new();
        let target = holes(&call.target, &mut args);
        let headers: Vec<_> =
            call.headers.iter().map(|it| (it.0.as_str(), holes(&it.1, &mut args))).collect();
        let body = call.body.as_ref().map(|it| holes(it, &mut args));
        let agent = [http::Part::Text(concat!("pgdyno/", env!("CARGO_PKG_VERSION")))];
        let named = call.headers.iter().any(|it| it.0.eq_ignore_ascii_case("user-agent"));
        let ours = (!named).then_some(("User-Agent", &agent[..]));
        let headers: Vec<_> = ours.into_iter().chain(headers.iter().map(|it| (it.0, &it.1[..]))).collect();
        let mut template = TemplateBuilder::default();
        compile::request(
            &mut template,
            &http::Request {
                method: call.method,
                target: &target,
                host: &service.host,
                headers: &headers,
                body: body.as_deref(),
            },
        );
        let mut keep = Keep::default();
        for Capture { from, .. } in &call.captures {
            match from {
                From::Status => {}
                From::Header(_) => keep.head = true,
                From::Body(bytes) => keep.body = keep.body.max(*bytes),
            }
        }
        Request { call: call.clone(), template: template.build(), args: args.into(), keep }
    }

    pub fn method(&self) -> Method {
        self.call.method
    }
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
