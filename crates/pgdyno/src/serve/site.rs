//! What does each request get?

use super::answer::{self, Answer};
use super::guard::{Asking, Guard, Refusal};
use super::path::{self, Place};
use super::shelf::{Desk, Lack};
use crate::runs;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method, Request, StatusCode};
use report::lang::serve::Shown;
use report::lang::{En, Lang};
use report::listing::{self, Listing};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// Everything that can be asked of this server.
#[derive(Debug)]
pub struct Site {
    guard: Guard,
    desk: Desk,
    /// What our own pages may load.
    policy: String,
}

/// Of a form, in bytes.
const FORM: usize = 4 << 10;
/// Until all of it is there.
const PATIENCE: Duration = Duration::from_secs(10);
/// In place of the form's field, for scripts.
const FORM_HEADER: HeaderName = HeaderName::from_static("x-pgdyno-form");

impl Site {
    pub fn new(guard: Guard, desk: Desk) -> Site {
        let style = STANDARD.encode(Sha256::digest(listing::STYLE));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        );
        Site { guard, desk, policy }
    }

    pub async fn answer(&self, request: Request<Incoming>) -> Answer {
        let lang = language(request.headers());
        match self.place(request, lang).await {
            Ok(it) => it,
            Err(why) => self.refuse(&why, lang),
        }
    }

    async fn place(&self, request: Request<Incoming>, lang: &dyn Lang) -> Result<Answer, No> {
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
            (Place::Stop(name), true) => self.stop(request, name).await,
            (Place::Stop(_), false) => Ok(answer::not_so("POST")),
            (_, true) => Ok(answer::not_so("GET, HEAD")),
            (Place::Index { filter }, _) => self.index(&filter, lang).await,
            (Place::List, _) => self.list().await,
            (Place::Login, _) => Ok(answer::see("/", None)),
            (Place::Page(_) | Place::Document(_) | Place::Events { .. }, _) => {
                Err(No::Lacking(Lack::Unknown))
            }
            (Place::Report(_) | Place::Compare { .. }, _) => Err(No::Lacking(Lack::Unknown)),
        }
    }

    async fn index(&self, filter: &str, lang: &dyn Lang) -> Result<Answer, No> {
        let all = self.desk.ask(|shelf| shelf.list()).await.map_err(No::Lacking)?;
        let lines: Vec<listing::Line> = all.iter().map(line).collect();
        let page = listing::html(&Listing { lines: &lines, filter, form: self.guard.form() }, lang);
        Ok(self.page(StatusCode::OK, page))
    }

    async fn list(&self) -> Result<Answer, No> {
        let all = self.desk.ask(|shelf| shelf.list()).await.map_err(No::Lacking)?;
        let all: Vec<serde_json::Value> = all
            .iter()
            .map(|it| match &it.content {
                Ok(content) => json!({
                    "name": it.name, "experiment": content.header.name, "begun_ms": content.header.begun_ms,
                    "state": runs::state(&content.state), "cells": content.cells, "trials": content.trials,
                    "bytes": it.bytes,
                }),
                Err(why) => json!({ "name": it.name, "bytes": it.bytes, "error": why.to_string() }),
            })
            .collect();
        Ok(answer::json(Bytes::from(serde_json::Value::from(all).to_string())))
    }

    async fn login(&self, request: Request<Incoming>, lang: &dyn Lang) -> Result<Answer, No> {
        let form = form(request).await?;
        let token = path::fields(&form).find(|(key, _)| key == "token").map(|(_, value)| value);
        if token.is_some_and(|it| self.guard.is_token(&it)) {
            return Ok(answer::see("/", Some(&self.guard.cookie())));
        }
        Ok(self.page(StatusCode::FORBIDDEN, listing::login(true, lang)))
    }

    async fn stop(&self, request: Request<Incoming>, name: String) -> Result<Answer, No> {
        let by_script = request.headers().get(FORM_HEADER).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let scripted = by_script.is_some();
        let told = match by_script {
            Some(it) => it,
            None => {
                let form = form(request).await?;
                let field = path::fields(&form).find(|(key, _)| key == "form");
                field.map(|(_, value)| value.into_owned()).unwrap_or_default()
            }
        };
        if !self.guard.is_ours(&told) {
            return Err(No::Refused(Refusal::Form));
        }
        let page = format!("/runs/{}", path::encode(&name));
        self.desk.ask(move |shelf| shelf.stop(&name)).await.map_err(No::Lacking)?;
        Ok(if scripted { answer::nothing() } else { answer::see(&page, None) })
    }

    fn refuse(&self, why: &No, lang: &dyn Lang) -> Answer {
        let (status, sentence) = match why {
            No::Refused(Refusal::Host) => {
                // To whom it was sent, not who we are.
                return answer::text(StatusCode::MISDIRECTED_REQUEST, "this server has another name");
            }
            No::Refused(Refusal::Stranger) => {
                return self.page(StatusCode::UNAUTHORIZED, listing::login(false, lang));
            }
            No::Refused(Refusal::Origin | Refusal::Form) => {
                (StatusCode::FORBIDDEN, lang.serve(Shown::Foreign).to_owned())
            }
            No::TooMuch => return answer::text(StatusCode::PAYLOAD_TOO_LARGE, "this is no form of ours"),
            No::TooLate => return answer::text(StatusCode::REQUEST_TIMEOUT, "the rest did not arrive"),
            No::Lacking(Lack::Unknown) => (StatusCode::NOT_FOUND, lang.serve(Shown::Unknown).to_owned()),
            No::Lacking(Lack::Busy) => (StatusCode::SERVICE_UNAVAILABLE, lang.serve(Shown::Busy).to_owned()),
            No::Lacking(Lack::Ended) => (StatusCode::CONFLICT, lang.serve(Shown::Ended).to_owned()),
            No::Lacking(Lack::Broken(why)) => (StatusCode::INTERNAL_SERVER_ERROR, lang.unreadable(why)),
        };
        self.page(status, listing::notice(&sentence, lang))
    }

    fn page(&self, status: StatusCode, page: String) -> Answer {
        answer::html(status, Bytes::from(page), &self.policy)
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
    // One that is there twice says nothing: two readers would believe different ones.
    let header = |name: HeaderName| {
        let mut all = request.headers().get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|it| it.to_str().ok())
    };
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
    codes.find_map(|it| report::lang::of(&it.to_ascii_lowercase())).unwrap_or(&En)
}

fn line(it: &store::Listed) -> listing::Line {
    let content = it.content.as_ref();
    listing::Line {
        name: it.name.clone(),
        encoded: path::encode(&it.name),
        begun: content.map_or_else(|_| String::new(), |it| runs::when(it.header.begun_ms)),
        content: content
            .map(|it| listing::Content { state: run_state(&it.state), trials: it.trials })
            .map_err(ToString::to_string),
        size: runs::size(it.bytes),
    }
}

fn run_state(it: &store::State) -> model::account::RunState {
    use model::account::RunState;
    match it {
        store::State::Running => RunState::Running,
        store::State::Lost => RunState::Lost,
        store::State::Ended(it) => match it.status {
            store::Status::Complete => RunState::Complete,
            store::Status::Interrupted => RunState::Interrupted,
            store::Status::Stopped => RunState::Stopped,
            store::Status::Failed => RunState::Failed,
            store::Status::Skipped => RunState::Skipped,
        },
    }
}
