//! Responses to requests, by route

use super::route::{self, Route};
use super::run_index::{QueryError, RunIndex, RunIndexHandle};
use super::run_list::{RunListDocument, RunListEntry};
use crate::http_server::guard::{AccessError, Guard, RequestIdentity};
use crate::http_server::response::{self, ConnectionGuard, HttpResponse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method, Request, StatusCode};
use model::percent_encode;
use report::html::{self, HtmlShell};
use report::json_document::to_json_line;
use report::lang::{self, Lang};
use report::notice;
use report::say;
use sha2::{Digest, Sha256};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// State that all request handlers share.
#[derive(Debug)]
pub struct Site {
    guard: Guard,
    run_index: RunIndexHandle,
    /// Content security policy for pages with live data.
    live_policy: String,
    static_policy: String,
    plain_policy: String,
    /// Counter of connections that receive events. Each connection holds one reference.
    streams: Arc<()>,
}

/// Maximum number of runs in one comparison, because all of them are in memory at the same time.
const COMPARED_MAX: usize = 8;
/// Largest form in bytes.
const FORM_BYTES_MAX: usize = 4 << 10;
/// Timeout for receiving a form.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);
/// Header with which the page's script identifies itself. Browsers do not permit pages of other sites to send it.
const FORM_HEADER: HeaderName = HeaderName::from_static("x-pgdyno-form");
/// Cookie in which our script stores the reader's language.
const LANGUAGE_COOKIE: &str = "pgdyno-lang";
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

impl Site {
    pub fn new(guard: Guard, run_index: RunIndexHandle) -> Site {
        let style = STANDARD.encode(Sha256::digest(notice::STYLE));
        let plain = format!(
            "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'self'; \
             frame-ancestors 'none'"
        );
        Site {
            guard,
            run_index,
            live_policy: format!("{}; frame-ancestors 'none'", html::content_security_policy(true)),
            static_policy: format!("{}; frame-ancestors 'none'", html::content_security_policy(false)),
            plain_policy: plain,
            streams: Arc::new(()),
        }
    }

    /// Sends the last events to all subscribers. Waits for their delivery until the timeout.
    pub fn finish(&self, timeout: Duration) {
        let end = Instant::now() + timeout;
        let streaming = || Arc::strong_count(&self.streams) > 1;
        if streaming() && self.run_index.poll(timeout) {
            while streaming() && Instant::now() < end {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    pub async fn answer(&self, request: Request<Incoming>) -> HttpResponse {
        let lang = language(request.headers());
        match self.route(request, lang).await {
            Ok(it) => it,
            Err(error) => self.error_response(&error, lang),
        }
    }

    async fn route(
        &self,
        request: Request<Incoming>,
        lang: &'static Lang,
    ) -> Result<HttpResponse, SiteError> {
        let changes = match *request.method() {
            Method::GET | Method::HEAD => false,
            Method::POST => true,
            _ => return Ok(response::method_not_allowed("GET, HEAD, POST")),
        };
        let asking = request_identity(&request, changes);
        self.guard.check_origin(asking).map_err(SiteError::Access)?;
        let known = self.guard.check_token(asking);
        let place = Route::parse(request.uri().path(), request.uri().query());
        if let (Some(Route::Login), true) = (&place, changes) {
            return self.login(request, lang).await;
        }
        known.map_err(SiteError::Access)?;
        let place = place.ok_or(SiteError::Query(QueryError::Unknown))?;
        match (place, changes) {
            (Route::Stop(name), true) => self.stop(&request, name).await,
            (Route::Stop(_), false) => Ok(response::method_not_allowed("POST")),
            (_, true) => Ok(response::method_not_allowed("GET, HEAD")),
            (Route::Index, _) => Ok(self.shell(&say!(lang, "list-title"), &[("runs", "/runs.json")], lang)),
            (Route::List, _) => self.list(lang).await,
            (Route::Login, _) => Ok(response::see_other("/", None)),
            (Route::Page(name), _) => self.run(name, lang).await,
            (Route::Document(name), _) => {
                let lang = language_index(lang);
                self.query(move |index| index.document(&name, lang)).await.map(response::json)
            }
            (Route::Events(name), _) => {
                let (last, lang) = (header(&request, LAST_EVENT).map(str::to_owned), language_index(lang));
                let pieces = self.query(move |index| index.subscribe(&name, last.as_deref(), lang)).await?;
                let held = ConnectionGuard(Arc::clone(&self.streams));
                Ok(pieces.map_or_else(response::no_content, |it| response::events(it, held)))
            }
            (Route::Report(name), _) => {
                let title = name.clone();
                let text = self.query(move |index| index.report(&name, lang)).await?;
                Ok(response::attachment(Bytes::from(text), &percent_encode(&title)))
            }
            (Route::Compare { base, runs }, _) => {
                let names = [vec![base], runs].concat();
                if names.len() > COMPARED_MAX {
                    return Ok(response::text(StatusCode::BAD_REQUEST, "too many runs to compare"));
                }
                let page = self.query(move |index| index.compare(&names, lang)).await?;
                Ok(response::html(StatusCode::OK, Bytes::from(page), &self.static_policy))
            }
        }
    }

    async fn query<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut RunIndex) -> Result<T, QueryError> + Send + 'static,
    ) -> Result<T, SiteError> {
        self.run_index.query(question).await.map_err(SiteError::Query)
    }

    /// Page shell whose script fetches the data.
    fn shell(&self, title: &str, data: &[(&str, &str)], lang: &Lang) -> HttpResponse {
        let no_script = &say!(lang, "web-no_script");
        let shell = HtmlShell { lang: lang.code(), title, no_script, live: true };
        response::html(StatusCode::OK, Bytes::from(html::served(shell, data, None)), &self.live_policy)
    }

    async fn run(&self, name: String, lang: &Lang) -> Result<HttpResponse, SiteError> {
        let text = name.clone();
        let title = self.query(move |index| index.resolve(&text)).await?;
        if title != name {
            return Ok(response::see_other(&format!("/runs/{}", percent_encode(&title)), None));
        }
        let document = format!("/runs/{}/document", percent_encode(&title));
        let file = format!("/runs/{}/report.html", percent_encode(&title));
        let data =
            [("document", document.as_str()), ("token", self.guard.form()), ("home", "/"), ("file", &file)];
        Ok(self.shell(&title, &data, lang))
    }

    async fn list(&self, lang: &Lang) -> Result<HttpResponse, SiteError> {
        let number = language_index(lang);
        let all = self.query(move |index| index.list(number)).await?;
        let runs = all.runs.iter().map(|(it, answer)| RunListEntry::new(it, answer.as_ref(), lang)).collect();
        let page = report::page::script_words(lang).into_iter();
        let list_words = lang.catalogue().with_prefix("list-");
        let languages = lang::all().iter().map(|lang| (lang.code().to_owned(), lang.name()));
        let document = RunListDocument {
            lang: lang.code().to_owned(),
            languages: languages.collect(),
            words: page.chain(list_words).collect(),
            runs,
            partial: all.is_partial,
        };
        Ok(response::json(Bytes::from(to_json_line(&document))))
    }

    async fn login(&self, request: Request<Incoming>, lang: &Lang) -> Result<HttpResponse, SiteError> {
        let form = form(request).await?;
        let token = route::fields(&form).find(|(key, _)| key == "token").map(|(_, value)| value);
        if token.is_some_and(|it| self.guard.is_token(&it)) {
            return Ok(response::see_other("/", Some(&self.guard.cookie())));
        }
        Ok(self.page(StatusCode::FORBIDDEN, notice::login(true, lang)))
    }

    async fn stop(&self, request: &Request<Incoming>, name: String) -> Result<HttpResponse, SiteError> {
        if !header(request, FORM_HEADER).is_some_and(|it| self.guard.is_ours(it)) {
            return Err(SiteError::Access(AccessError::Form));
        }
        self.query(move |index| index.stop(&name)).await?;
        Ok(response::no_content())
    }

    fn error_response(&self, error: &SiteError, lang: &Lang) -> HttpResponse {
        let (status, sentence) = match error {
            SiteError::Access(AccessError::Host) => {
                // Return a status that only describes the Host header. It reveals nothing about this server.
                return response::text(
                    StatusCode::MISDIRECTED_REQUEST,
                    "the Host header does not name this server",
                );
            }
            SiteError::Access(AccessError::Unauthenticated) => {
                return self.page(StatusCode::UNAUTHORIZED, notice::login(false, lang));
            }
            SiteError::Access(AccessError::Origin | AccessError::Form) => {
                (StatusCode::FORBIDDEN, say!(lang, "serve-foreign-request"))
            }
            SiteError::BodyTooLarge => {
                return response::text(StatusCode::PAYLOAD_TOO_LARGE, "the request body is too large");
            }
            SiteError::BodyTimeout => {
                return response::text(
                    StatusCode::REQUEST_TIMEOUT,
                    "the request body did not arrive in time",
                );
            }
            SiteError::Query(QueryError::Unknown) => (StatusCode::NOT_FOUND, say!(lang, "serve-unknown-run")),
            SiteError::Query(QueryError::Busy) => (StatusCode::SERVICE_UNAVAILABLE, say!(lang, "serve-busy")),
            SiteError::Query(QueryError::Ended) => (StatusCode::CONFLICT, say!(lang, "serve-ended")),
            SiteError::Query(QueryError::Broken(error)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, lang.unreadable(&lang.message(error)))
            }
        };
        self.page(status, notice::notice(&sentence, lang))
    }

    fn page(&self, status: StatusCode, page: String) -> HttpResponse {
        response::html(status, Bytes::from(page), &self.plain_policy)
    }
}

/// Reasons why a request fails.
#[derive(Debug)]
enum SiteError {
    Access(AccessError),
    Query(QueryError),
    BodyTooLarge,
    BodyTimeout,
}

fn request_identity<'a>(request: &'a Request<Incoming>, changes: bool) -> RequestIdentity<'a> {
    let header = |name| header(request, name);
    let host = header(HOST);
    // A request such as `GET http://name/ HTTP/1.1` contains the host twice.
    let agrees = request.uri().authority().is_none_or(|it| host == Some(it.as_str()));
    let origin = match request.headers().contains_key(ORIGIN) {
        true => Some(header(ORIGIN).unwrap_or_default()),
        false => None,
    };
    RequestIdentity {
        is_write: changes,
        host: host.filter(|_| agrees),
        origin,
        cookie: header(COOKIE),
        authorization: header(AUTHORIZATION),
    }
}

/// Value of a header; `None` if it is repeated, because two readers could use different values.
fn header(request: &Request<Incoming>, name: HeaderName) -> Option<&str> {
    let mut all = request.headers().get_all(name).iter();
    all.next().filter(|_| all.next().is_none()).and_then(|it| it.to_str().ok())
}

/// Receives the body of a form.
async fn form(request: Request<Incoming>) -> Result<String, SiteError> {
    let mut body = request.into_body();
    let all = async {
        let mut bytes = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let data = frame.ok().and_then(|it| it.into_data().ok()).ok_or(SiteError::BodyTimeout)?;
            if bytes.len() + data.len() > FORM_BYTES_MAX {
                return Err(SiteError::BodyTooLarge);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    timeout(FORM_TIMEOUT, all).await.unwrap_or(Err(SiteError::BodyTimeout))
}

/// Language that the reader chose on a page, or else the first supported one in the browser's list.
fn language(headers: &HeaderMap) -> &'static Lang {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let chosen = pairs.find(|(name, _)| *name == LANGUAGE_COOKIE).and_then(|(_, code)| lang::find(code));
    if let Some(lang) = chosen {
        return lang;
    }
    let languages = headers.get(ACCEPT_LANGUAGE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    // Browsers list languages in the order of preference, so weights are ignored.
    let mut codes = languages.split(',').map(|it| it.trim().split(['-', ';']).next().unwrap_or_default());
    codes.find_map(|it| lang::find(&it.to_ascii_lowercase())).unwrap_or(lang::english())
}

/// Index of a language in [`lang::ALL`].
fn language_index(lang: &Lang) -> usize {
    lang::all().iter().position(|one| one.code() == lang.code()).expect("all are there")
}
