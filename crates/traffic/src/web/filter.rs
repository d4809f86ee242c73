//! Requests that belong to an experiment

use super::exchange::{Exchange, RequestBody, header};
use super::omitted::{self, OmissionReason, OmittedRequests};
use super::url::Url;
use std::collections::HashMap;

/// Methods of operations.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// Resource types of static files.
const STATIC_TYPES: [&str; 8] =
    ["image", "stylesheet", "script", "font", "media", "texttrack", "manifest", "imageset"];
/// Media types of static files, or their beginnings.
const STATIC_MEDIA: [&str; 11] = [
    "image/",
    "font/",
    "audio/",
    "video/",
    "text/css",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
    "application/font",
    "application/wasm",
    "application/vnd.ms-fontobject",
];
/// Endings of the names of static files.
const STATIC_ENDINGS: [&str; 25] = [
    "css",
    "js",
    "mjs",
    "map",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "avif",
    "ico",
    "bmp",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "mp3",
    "mp4",
    "webm",
    "ogg",
    "wav",
    "wasm",
    "webmanifest",
];
/// Maximum length of a body, in bytes.
const BODY_MAX: usize = 16 * 1024;
/// Maximum length of all requests together, in bytes. An experiment file has at most 256 KiB.
const TOTAL_MAX: usize = 100 * 1024;

/// Origin of the first page, or the most frequent origin; `None` if no request has one.
pub(super) fn origin(exchanges: &[Exchange]) -> Option<String> {
    let pages = exchanges.iter().filter(|exchange| exchange.is_document());
    let first_page = pages.filter_map(|exchange| exchange.url.as_ref()).next();
    if let Some(url) = first_page {
        return Some(url.origin.clone());
    }
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    let urls = exchanges.iter().filter_map(|exchange| exchange.url.as_ref());
    for (number, url) in urls.enumerate() {
        counts.entry(&url.origin).or_insert((0, usize::MAX - number)).0 += 1;
    }
    counts.into_iter().max_by_key(|it| it.1).map(|it| it.0.to_owned())
}

/// Requests to a service that an experiment can contain. Counts the others.
pub(super) fn select<'a>(
    exchanges: &'a [Exchange],
    origin: &str,
    with_assets: bool,
    all: &mut Vec<OmittedRequests>,
) -> Vec<(&'a Exchange, &'a Url)> {
    let mut selected = Vec::new();
    let mut length = 0;
    for exchange in exchanges {
        match check(exchange, origin, with_assets) {
            Ok(url) => {
                length += self::length(exchange, url);
                match length <= TOTAL_MAX {
                    true => selected.push((exchange, url)),
                    false => omitted::add(all, OmissionReason::TooMany),
                }
            }
            Err(reason) => omitted::add(all, reason),
        }
    }
    selected
}

fn check<'a>(exchange: &'a Exchange, origin: &str, with_assets: bool) -> Result<&'a Url, OmissionReason> {
    let is_type = |name: &str| exchange.resource_type.as_deref() == Some(name);
    let scheme = exchange.address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let status = exchange.response.as_ref().map(|response| response.status);
    if is_type("websocket") || scheme == "ws" || scheme == "wss" || status == Some(101) {
        return Err(OmissionReason::WebSocket);
    }
    let Some(url) = &exchange.url else { return Err(OmissionReason::Scheme) };
    if url.origin != origin {
        return Err(OmissionReason::OtherOrigin { origin: url.origin.clone() });
    }
    if exchange.cached {
        return Err(OmissionReason::Cached);
    }
    if exchange.method == "OPTIONS" {
        return Err(OmissionReason::Preflight);
    }
    if !METHODS.contains(&exchange.method.as_str()) {
        let is_name =
            exchange.method.len() <= 16 && exchange.method.bytes().all(|byte| byte.is_ascii_alphabetic());
        let method = if is_name { exchange.method.clone() } else { "?".to_owned() };
        return Err(OmissionReason::Method { method });
    }
    if status.is_some_and(|status| !(200..=599).contains(&status)) {
        return Err(OmissionReason::NoResponse);
    }
    let media_type = exchange.response.as_ref().map(|response| response.media_type.as_str());
    if is_type("eventsource") || media_type == Some("text/event-stream") {
        return Err(OmissionReason::EventStream);
    }
    if !with_assets && is_static(exchange, url) {
        return Err(OmissionReason::StaticFile);
    }
    let has_no_body = matches!(exchange.method.as_str(), "GET" | "HEAD");
    match &exchange.body {
        RequestBody::Empty => {}
        _ if has_no_body => return Err(OmissionReason::UnexpectedBody),
        RequestBody::Binary => return Err(OmissionReason::BinaryBody),
        RequestBody::Text(text) if !is_text(text) => return Err(OmissionReason::BinaryBody),
        RequestBody::Text(text) if text.len() > BODY_MAX => return Err(OmissionReason::LongBody),
        RequestBody::Form(fields) if form_length(fields) > BODY_MAX => return Err(OmissionReason::LongBody),
        RequestBody::Text(_) | RequestBody::Form(_) => {}
    }
    // The body of an upload may be missing in the file.
    let is_uploading = exchange.content_type() == "multipart/form-data";
    let has_length = header(&exchange.headers, "content-length").is_some_and(|length| length.trim() != "0");
    if exchange.body == RequestBody::Empty && (is_uploading || has_length) && !has_no_body {
        return Err(OmissionReason::BinaryBody);
    }
    Ok(url)
}

fn is_static(exchange: &Exchange, url: &Url) -> bool {
    if !matches!(exchange.method.as_str(), "GET" | "HEAD")
        || exchange.resource_type.as_deref() == Some("document")
    {
        return false;
    }
    let is_static_type = exchange.resource_type.as_deref().is_some_and(|it| STATIC_TYPES.contains(&it));
    let media_type = exchange.response.as_ref().map_or("", |response| response.media_type.as_str());
    let is_static_media = STATIC_MEDIA.iter().any(|beginning| media_type.starts_with(beginning));
    let file = url.path().rsplit('/').next().unwrap_or_default();
    let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_static_ending = ending.is_some_and(|ending| STATIC_ENDINGS.contains(&ending.as_str()));
    is_static_type || is_static_media || is_static_ending
}

/// True if a body has no characters of binary files.
fn is_text(text: &str) -> bool {
    let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t');
    !text.contains(|letter: char| letter == '\u{fffd}' || is_control(letter))
}

fn form_length(fields: &[(String, String)]) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Approximate length of a request in the experiment file.
fn length(exchange: &Exchange, url: &Url) -> usize {
    let body = match &exchange.body {
        RequestBody::Text(text) => text.len(),
        RequestBody::Form(fields) => form_length(fields),
        RequestBody::Empty | RequestBody::Binary => 0,
    };
    let headers: usize = exchange.headers.iter().map(|(name, value)| name.len() + value.len().min(200)).sum();
    url.target.len() + body + headers / 4
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Response;
    use super::*;

    fn exchange(method: &str, address: &str) -> Exchange {
        let response = Some(Response { status: 200, ..Response::default() });
        Exchange { response, ..Exchange::of_request(method, address) }
    }

    fn with_response(address: &str, status: u16, media_type: &str) -> Exchange {
        let media_type = media_type.to_owned();
        let response = Some(Response { status, media_type, ..Response::default() });
        Exchange { response, ..Exchange::of_request("GET", address) }
    }

    fn with_body(method: &str, body: RequestBody) -> Exchange {
        Exchange { body, ..exchange(method, "http://a.test/") }
    }

    fn with_type(resource_type: &str, address: &str) -> Exchange {
        Exchange { resource_type: Some(resource_type.to_owned()), ..exchange("GET", address) }
    }

    #[test]
    fn leaves_requests_out() {
        let long = "x".repeat(BODY_MAX + 1);
        let binary = OmissionReason::BinaryBody;
        let upload = |name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.to_owned())];
            Exchange { headers, ..exchange("POST", "http://a.test/") }
        };
        let origin = "http://b.test".to_owned();
        for (exchange, expected) in [
            (exchange("GET", "http://a.test/"), None),
            (exchange("DELETE", "http://a.test/x.css"), None),
            (exchange("GET", "http://b.test/"), Some(OmissionReason::OtherOrigin { origin })),
            (exchange("GET", "wss://a.test/"), Some(OmissionReason::WebSocket)),
            (with_type("websocket", "http://a.test/"), Some(OmissionReason::WebSocket)),
            (with_response("http://a.test/", 101, ""), Some(OmissionReason::WebSocket)),
            (exchange("GET", "data:x"), Some(OmissionReason::Scheme)),
            (exchange("OPTIONS", "http://a.test/"), Some(OmissionReason::Preflight)),
            (
                exchange("PURGE", "http://a.test/"),
                Some(OmissionReason::Method { method: "PURGE".to_owned() }),
            ),
            (exchange("A B", "http://a.test/"), Some(OmissionReason::Method { method: "?".to_owned() })),
            (with_response("http://a.test/", 0, ""), Some(OmissionReason::NoResponse)),
            (with_response("http://a.test/", 200, "text/event-stream"), Some(OmissionReason::EventStream)),
            (with_type("eventsource", "http://a.test/"), Some(OmissionReason::EventStream)),
            (with_response("http://a.test/a", 200, "image/png"), Some(OmissionReason::StaticFile)),
            (with_response("http://a.test/A.CSS", 200, ""), Some(OmissionReason::StaticFile)),
            (with_type("font", "http://a.test/a"), Some(OmissionReason::StaticFile)),
            (with_type("document", "http://a.test/a.js"), None),
            (Exchange { cached: true, ..exchange("GET", "http://a.test/") }, Some(OmissionReason::Cached)),
            (with_body("POST", RequestBody::Binary), Some(binary.clone())),
            (with_body("POST", RequestBody::Text("\0".to_owned())), Some(binary.clone())),
            (with_body("POST", RequestBody::Text("\u{fffd}".to_owned())), Some(binary.clone())),
            (with_body("POST", RequestBody::Text(long.clone())), Some(OmissionReason::LongBody)),
            (
                with_body("POST", RequestBody::Form(vec![(long, String::new())])),
                Some(OmissionReason::LongBody),
            ),
            (with_body("GET", RequestBody::Text("x".to_owned())), Some(OmissionReason::UnexpectedBody)),
            (upload("Content-Type", "multipart/form-data; boundary=x"), Some(binary.clone())),
            (upload("Content-Length", "12"), Some(binary)),
            (upload("Content-Length", "0"), None),
        ] {
            let mut left_out = Vec::new();
            let exchanges = [exchange];
            let selected = select(&exchanges, "http://a.test", false, &mut left_out);
            let found = left_out.first().map(|it| it.reason.clone());
            assert_eq!((found, selected.len()), (expected.clone(), usize::from(expected.is_none())));
        }
        let image = [with_type("image", "http://a.test/a")];
        assert_eq!(select(&image, "http://a.test", true, &mut Vec::new()).len(), 1);
    }

    #[test]
    fn limits_the_length_of_the_file() {
        let body = RequestBody::Text("x".repeat(BODY_MAX));
        let exchanges: Vec<Exchange> = (0..10).map(|_| with_body("POST", body.clone())).collect();
        let mut left_out = Vec::new();
        let selected = select(&exchanges, "http://a.test", false, &mut left_out);
        assert_eq!(selected.len(), 6);
        assert_eq!(left_out, [OmittedRequests { reason: OmissionReason::TooMany, requests: 4 }]);
    }

    #[test]
    fn finds_the_origin() {
        let script = exchange("GET", "http://cdn.test/a.js");
        let page = with_response("http://a.test/", 200, "text/html");
        let api = exchange("GET", "http://b.test/");
        let all = [script.clone(), script.clone(), api.clone(), page];
        assert_eq!(origin(&all).as_deref(), Some("http://a.test"));
        assert_eq!(origin(&all[..3]).as_deref(), Some("http://cdn.test"));
        assert_eq!(origin(&all[1..3]).as_deref(), Some("http://cdn.test"));
        assert_eq!(origin(&[]), None);
    }
}
