//! Parts of an exchange that may contain secrets

use super::exchange::{header, media_type};
use super::json::Json;
use super::secrets::{is_secret_header, is_secret_name, is_secret_number, scheme};
use super::{form, url};
use crate::proxy::http::{BodyContent, HttpExchange};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// ExchangePart of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangePart<'a> {
    /// The whole value of a secret field.
    Secret(&'a str),
    /// The whole value of a cookie.
    Cookie(&'a str),
    /// Text without fields.
    Text(&'a str),
    /// Text that may contain fields, such as a URL or a part of a multipart body.
    Fields(&'a str),
    /// HTML or a script.
    Document { text: &'a str, is_script: bool },
}

/// Passes all parts of an exchange to `replace`, and replaces those for which it returns a text.
pub(super) fn edit(exchange: &mut HttpExchange, replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>) {
    target(&mut exchange.request.target, replace);
    let request_type = content_type(&exchange.request.headers);
    let response_type = content_type(&exchange.response_headers);
    let headers = exchange.request.headers.iter_mut().chain(&mut exchange.response_headers);
    headers.for_each(|(name, value)| header_value(name, value, replace));
    for (body, content_type) in
        [(&mut exchange.request_body, request_type), (&mut exchange.response_body, response_type)]
    {
        match &mut body.content {
            BodyContent::Text(text) | BodyContent::Cut(text) => body_text(text, &content_type, replace),
            BodyContent::Empty | BodyContent::Binary => {}
        }
    }
}

fn content_type(headers: &[(String, String)]) -> String {
    media_type(header(headers, "content-type").unwrap_or_default())
}

/// Replaces a text by that of a part, if there is one.
fn set(text: &mut String, new: Option<String>) {
    if let Some(new) = new {
        *text = new;
    }
}

/// Path, and the fields of the query.
fn target(target: &mut String, replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>) {
    let (path, query) = target.split_once('?').map_or((&**target, None), |(path, query)| (path, Some(query)));
    let mut new = replace(ExchangePart::Text(path)).unwrap_or_else(|| path.to_owned());
    for (number, field) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        new.push(if number == 0 { '?' } else { '&' });
        let (name, value) = match field.split_once('=') {
            Some((name, value)) => (Some(name), value),
            None => (None, field),
        };
        let is_secret = name.is_some_and(|name| is_secret_name(&url::decoded(name)));
        new.extend(name.map(|name| format!("{name}=")));
        let plain = value.replace('+', " ");
        let part = if is_secret { ExchangePart::Secret(&plain) } else { ExchangePart::Text(value) };
        new += &replace(part).unwrap_or_else(|| value.to_owned());
    }
    *target = new;
}

fn header_value(name: &str, value: &mut String, replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>) {
    match name.to_ascii_lowercase().as_str() {
        "authorization" | "proxy-authorization" => {
            let (scheme, credentials) = scheme(value);
            if scheme.trim().eq_ignore_ascii_case("basic") {
                let pair = STANDARD.decode(credentials).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                if let Some((_, password)) = pair.as_deref().and_then(|pair| pair.split_once(':')) {
                    replace(ExchangePart::Secret(password));
                }
            }
            let new = replace(ExchangePart::Secret(credentials))
                .map(|credentials| format!("{scheme}{credentials}"));
            set(value, new);
        }
        "cookie" => {
            let cookies = value.split(';').map(|cookie| self::cookie(cookie, replace));
            *value = cookies.collect::<Vec<_>>().join(";");
        }
        "set-cookie" => {
            let (first, attributes) = value.split_at(value.find(';').unwrap_or(value.len()));
            *value = format!("{}{attributes}", cookie(first, replace));
        }
        _ if is_secret_header(name) => set(value, replace(ExchangePart::Secret(value))),
        _ => set(value, replace(ExchangePart::Fields(value))),
    }
}

fn cookie(cookie: &str, replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>) -> String {
    let (name, value) = cookie.split_once('=').map_or(("", cookie), |(name, value)| (name, value));
    match replace(ExchangePart::Cookie(value)) {
        Some(new) if cookie.contains('=') => format!("{name}={new}"),
        Some(new) => new,
        None => cookie.to_owned(),
    }
}

fn body_text(
    text: &mut String,
    content_type: &str,
    replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>,
) {
    if content_type == "application/x-www-form-urlencoded"
        && let Some(mut fields) = form::decode(text)
    {
        for (name, value) in &mut fields {
            let part =
                if is_secret_name(name) { ExchangePart::Secret(value) } else { ExchangePart::Text(value) };
            set(value, replace(part));
        }
        *text = form::encode(&fields);
        return;
    }
    let is_document = content_type.ends_with("html") || content_type.ends_with("javascript");
    if is_document {
        let is_script = content_type.ends_with("javascript");
        return set(text, replace(ExchangePart::Document { text, is_script }));
    }
    let is_json = content_type.ends_with("json") || text.trim_start().starts_with(['{', '[']);
    match Json::parse(text).ok().filter(|json| is_json && !json.is_rounded()) {
        Some(mut json) => {
            edit_json(&mut json, false, replace);
            *text = serde_json::to_string(&json).expect("texts and numbers can be written");
        }
        None => set(text, replace(ExchangePart::Fields(text))),
    }
}

/// Edits a JSON value; `is_secret` is true within a secret field.
fn edit_json(json: &mut Json, is_secret: bool, replace: &mut dyn FnMut(ExchangePart<'_>) -> Option<String>) {
    match json {
        Json::Null | Json::Bool(_) => {}
        Json::Text(text) if is_secret => set(text, replace(ExchangePart::Secret(text))),
        Json::Text(text) if text.contains(['{', '<', '?', '&']) => {
            set(text, replace(ExchangePart::Fields(text)));
        }
        Json::Text(text) => set(text, replace(ExchangePart::Text(text))),
        Json::Number(number) => {
            let part = if is_secret { ExchangePart::Secret(number) } else { ExchangePart::Text(number) };
            match replace(part) {
                Some(new) if new.parse::<f64>().is_ok() => *number = new,
                Some(new) => *json = Json::Text(new),
                None => {}
            }
        }
        Json::List(items) => items.iter_mut().for_each(|item| edit_json(item, is_secret, replace)),
        Json::Object(members) => {
            for (name, value) in members {
                let is_number = matches!(value, Json::Number(_));
                let is_named = if is_number { is_secret_number(name) } else { is_secret_name(name) };
                edit_json(value, is_named || is_secret, replace);
            }
        }
    }
}
