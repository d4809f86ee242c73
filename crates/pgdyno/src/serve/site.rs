//! What does each request get?

use super::answer::{self, Answer, Held};
use super::guard::{Asking, Guard, Refusal};
use super::path::{self, Place};
use super::shelf::{Desk, Lack, Shelf};
use crate::runs;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method, Request, StatusCode};
use model::account::RunState;
use report::html::{self, Shell};
use report::lang::page::Word;
use report::lang::serve::Shown;
use report::lang::{self, Lang};
use report::notice;
use report::page::{Line, Tone};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use store::{Listed, State, Status};
use tokio::time::timeout;

/// Everything that can be asked of this server.
#[derive(Debug)]
pub struct Site {
    guard: Guard,
    desk: Desk,
    /// What pages may load and do: those that grow, those that hold all they show, and those without our script.
    live: String,
    still: String,
    plain: String,
    /// Held by every connection that carries events.
    streams: Arc<()>,
}

/// Runs at a time: all of each is in memory meanwhile.
const COMPARED: usize = 8;
/// Of a form, in bytes.
const FORM: usize = 4 << 10;
/// Until all of it is there.
const PATIENCE: Duration = Duration::from_secs(10);
/// With it a script of ours shows that it is. A page of somebody else's could not even ask for being allowed to send it.
const OURS: HeaderName = HeaderName::from_static("x-pgdyno-form");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

impl Site {
    pub fn new(guard: Guard, desk: Desk) -> Site {
        let style = STANDARD.encode(Sha256::digest(notice::STYLE));
        let plain = format!(
            "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'self'; \
             frame-ancestors 'none'"
        );
        Site {
            guard,
            desk,
            live: format!("{}; frame-ancestors 'none'", html::policy(true)),
            still: format!("{}; frame-ancestors 'none'", html::policy(false)),
            plain,
            streams: Arc::new(()),
        }
    }

    /// Tells those who watch what there is, for the last time, and waits until they have it; not longer than that.
    pub fn finish(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let streaming = || Arc::strong_count(&self.streams) > 1;
        if streaming() && self.desk.look(patience) {
            while streaming() && Instant::now() < end {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    pub async fn answer(&self, request: Request<Incoming>) -> Answer {
        let lang = language(request.headers());
        match self.place(request, lang).await {
            Ok(it) => it,
            Err(why) => self.refuse(&why, lang),
        }
    }

    async fn place(&self, request: Request<Incoming>, lang: &'static dyn Lang) -> Result<Answer, No> {
        let changes = match *request.method() {
            Method::GET | Method::HEAD => false,
            Method::POST => true,
            _ => return Ok(answer::not_so("GET, HEAD, POST")),
        };
        let asking = asking(&request, changes);
        self.guard.passes(asking).map_err(No::Refused)?;
        let known = self.guard.knows(asking);
        let place = Place::of(request.uri().path(), request.uri().query());
        if let (Some(Place::Login), true) = (&place, changes) {
            return self.login(request, lang).await;
        }
        known.map_err(No::Refused)?;
        let place = place.ok_or(No::Lacking(Lack::Unknown))?;
        match (place, changes) {
            (Place::Stop(name), true) => self.stop(&request, name).await,
            (Place::Stop(_), false) => Ok(answer::not_so("POST")),
            (_, true) => Ok(answer::not_so("GET, HEAD")),
            (Place::Index, _) => Ok(self.shell(lang.shown(Shown::Runs), &[("runs", "/runs.json")], lang)),
            (Place::List, _) => self.list(lang).await,
            (Place::Login, _) => Ok(answer::see("/", None)),
            (Place::Page(name), _) => self.run(name, lang).await,
            (Place::Document(name), _) => {
                let lang = index(lang);
                self.ask(move |shelf| shelf.document(&name, lang)).await.map(answer::json)
            }
            (Place::Events(name), _) => {
                let (last, lang) = (header(&request, LAST_EVENT).map(str::to_owned), index(lang));
                let pieces = self.ask(move |shelf| shelf.watch(&name, last.as_deref(), lang)).await?;
                let held = Held(Arc::clone(&self.streams));
                Ok(pieces.map_or_else(answer::nothing, |it| answer::events(it, held)))
            }
            (Place::Report(name), _) => {
                let title = name.clone();
                let text = self.ask(move |shelf| shelf.report(&name, lang)).await?;
                Ok(answer::file(Bytes::from(text), &title))
            }
            (Place::Compare { base, runs }, _) => {
                let names = [vec![base], runs].concat();
                if names.len() > COMPARED {
                    return Ok(answer::text(StatusCode::BAD_REQUEST, "too many runs to be compared at once"));
                }
                let page = self.ask(move |shelf| shelf.compare(&names, lang)).await?;
                Ok(answer::html(StatusCode::OK, Bytes::from(page), &self.still))
            }
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Shelf) -> Result<T, Lack> + Send + 'static,
    ) -> Result<T, No> {
        self.desk.ask(question).await.map_err(No::Lacking)
    }

    /// A page around what its script asks for.
    fn shell(&self, title: &str, data: &[(&str, &str)], lang: &dyn Lang) -> Answer {
        let shell = Shell { lang: lang.code(), title, no_script: lang.word(Word::NoScript), live: true };
        answer::html(StatusCode::OK, Bytes::from(html::served(shell, data, None)), &self.live)
    }

    async fn run(&self, name: String, lang: &dyn Lang) -> Result<Answer, No> {
        let title = name.clone();
        self.ask(move |shelf| shelf.find(&name)).await?;
        let document = format!("/runs/{}/document", path::encode(&title));
        let file = format!("/runs/{}/report.html", path::encode(&title));
        let data =
            [("document", document.as_str()), ("token", self.guard.form()), ("home", "/"), ("file", &file)];
        Ok(self.shell(&title, &data, lang))
    }

    async fn list(&self, lang: &dyn Lang) -> Result<Answer, No> {
        let number = index(lang);
        let all = self.ask(move |shelf| shelf.list(number)).await?;
        let runs: Vec<Value> = all.runs.iter().map(|(it, answer)| row(it, answer.as_ref(), lang)).collect();
        let page = report::page::words(lang).into_iter();
        let own = Shown::KEYS.iter().map(|(key, it)| (*key, lang.shown(*it).to_owned()));
        let words: serde_json::Map<String, Value> =
            page.chain(own).map(|(key, word)| (key.to_owned(), Value::from(word))).collect();
        Ok(answer::json(Bytes::from(json!({ "words": words, "runs": runs, "more": all.more }).to_string())))
    }

    async fn login(&self, request: Request<Incoming>, lang: &dyn Lang) -> Result<Answer, No> {
        let form = form(request).await?;
        let token = path::fields(&form).find(|(key, _)| key == "token").map(|(_, value)| value);
        if token.is_some_and(|it| self.guard.is_token(&it)) {
            return Ok(answer::see("/", Some(&self.guard.cookie())));
        }
        Ok(self.page(StatusCode::FORBIDDEN, notice::login(true, lang)))
    }

    async fn stop(&self, request: &Request<Incoming>, name: String) -> Result<Answer, No> {
        if !header(request, OURS).is_some_and(|it| self.guard.is_ours(it)) {
            return Err(No::Refused(Refusal::Form));
        }
        self.ask(move |shelf| shelf.stop(&name)).await?;
        Ok(answer::nothing())
    }

    fn refuse(&self, why: &No, lang: &dyn Lang) -> Answer {
        let (status, sentence) = match why {
            No::Refused(Refusal::Host) => {
                // To whom it was sent, not who we are.
                return answer::text(StatusCode::MISDIRECTED_REQUEST, "this server has another name");
            }
            No::Refused(Refusal::Stranger) => {
                return self.page(StatusCode::UNAUTHORIZED, notice::login(false, lang));
            }
            No::Refused(Refusal::Origin | Refusal::Form) => {
                (StatusCode::FORBIDDEN, lang.shown(Shown::Foreign).to_owned())
            }
            No::TooMuch => return answer::text(StatusCode::PAYLOAD_TOO_LARGE, "this is no form of ours"),
            No::TooLate => return answer::text(StatusCode::REQUEST_TIMEOUT, "the rest did not arrive"),
            No::Lacking(Lack::Unknown) => (StatusCode::NOT_FOUND, lang.shown(Shown::Unknown).to_owned()),
            No::Lacking(Lack::Busy) => (StatusCode::SERVICE_UNAVAILABLE, lang.shown(Shown::Busy).to_owned()),
            No::Lacking(Lack::Ended) => (StatusCode::CONFLICT, lang.shown(Shown::Ended).to_owned()),
            No::Lacking(Lack::Broken(why)) => (StatusCode::INTERNAL_SERVER_ERROR, lang.unreadable(why)),
        };
        self.page(status, notice::notice(&sentence, lang))
    }

    fn page(&self, status: StatusCode, page: String) -> Answer {
        answer::html(status, Bytes::from(page), &self.plain)
    }
}

/// Why a request does not get what it asks for.
#[derive(Debug)]
enum No {
    Refused(Refusal),
    Lacking(Lack),
    TooMuch,
    TooLate,
}

fn asking<'a>(request: &'a Request<Incoming>, changes: bool) -> Asking<'a> {
    let header = |name| header(request, name);
    let host = header(HOST);
    // `GET http://name/ HTTP/1.1` says it twice.
    let agrees = request.uri().authority().is_none_or(|it| host == Some(it.as_str()));
    let origin = match request.headers().contains_key(ORIGIN) {
        true => Some(header(ORIGIN).unwrap_or_default()),
        false => None,
    };
    Asking {
        changes,
        host: host.filter(|_| agrees),
        origin,
        cookie: header(COOKIE),
        authorization: header(AUTHORIZATION),
    }
}

/// One that is there twice says nothing: two readers would believe different ones.
fn header(request: &Request<Incoming>, name: HeaderName) -> Option<&str> {
    let mut all = request.headers().get_all(name).iter();
    all.next().filter(|_| all.next().is_none()).and_then(|it| it.to_str().ok())
}

/// What a form of ours sends.
async fn form(request: Request<Incoming>) -> Result<String, No> {
    let mut body = request.into_body();
    let all = async {
        let mut bytes = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let data = frame.ok().and_then(|it| it.into_data().ok()).ok_or(No::TooLate)?;
            if bytes.len() + data.len() > FORM {
                return Err(No::TooMuch);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    timeout(PATIENCE, all).await.unwrap_or(Err(No::TooLate))
}

/// The first of ours that the browser's user reads.
fn language(headers: &HeaderMap) -> &'static dyn Lang {
    let wanted = headers.get(ACCEPT_LANGUAGE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    // They stand in the order of preference, whatever weights are written behind them.
    let mut codes = wanted.split(',').map(|it| it.trim().split(['-', ';']).next().unwrap_or_default());
    codes.find_map(|it| lang::of(&it.to_ascii_lowercase())).unwrap_or(lang::ALL[0])
}

/// Its place in [`lang::ALL`].
fn index(it: &dyn Lang) -> usize {
    lang::ALL.iter().position(|one| one.code() == it.code()).expect("all are there")
}

/// A run as the list shows it.
fn row(it: &Listed, answer: Option<&Line>, lang: &dyn Lang) -> Value {
    let size = lang.bytes(it.bytes as f64);
    match &it.content {
        Ok(content) => {
            let state = stands(&content.state);
            json!({
                "name": it.name, "experiment": content.header.name, "begun_ms": content.header.begun_ms,
                "begun": runs::when(content.header.begun_ms), "state": state, "state_text": lang.run_state(state),
                "cells": content.cells, "trials": content.trials, "bytes": it.bytes, "size_text": size,
                "headline": answer.map_or("", |it| it.text.as_str()),
                "tone": answer.map_or(Tone::Plain, |it| it.tone),
            })
        }
        Err(why) => json!({
            "name": it.name, "experiment": "", "begun_ms": 0, "begun": "", "state": "unreadable",
            "state_text": "–", "bytes": it.bytes, "size_text": size, "headline": lang.unreadable(&why.to_string()),
            "tone": Tone::Bad,
        }),
    }
}

fn stands(it: &State) -> RunState {
    match it {
        State::Running => RunState::Running,
        State::Lost => RunState::Lost,
        State::Ended(it) => match it.status {
            Status::Complete => RunState::Complete,
            Status::Interrupted => RunState::Interrupted,
            Status::Stopped => RunState::Stopped,
            Status::Failed => RunState::Failed,
            Status::Skipped => RunState::Skipped,
        },
    }
}
