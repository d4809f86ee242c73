//! Recording of HTTP traffic, as a HAR file without secrets

use super::exchange::header;
use super::form;
use super::redact::Redactor;
use super::url::Url;
use crate::proxy::http::{BodyContent, HttpBody, HttpEvent, HttpExchange};
use model::{Nanos, utc};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Total length of the recorded bodies and headers, in bytes. Further exchanges are left out, so that the memory is not
/// exhausted.
const SIZE_MAX: usize = 256 << 20;

/// Exchanges that a proxy has observed. They stay in memory until the end: a later request may show that a value of an
/// earlier response is secret, and no secret is ever written.
#[derive(Debug, Default)]
pub struct HttpRecording {
    exchanges: Vec<HttpExchange>,
    size: usize,
    summary: HttpSummary,
}

/// Contents of a recording, and what it does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpSummary {
    pub requests: u64,
    /// Different secrets that placeholders replace.
    pub secrets: u64,
    /// Bodies of which only the beginning is recorded, and those that are not text or whose compression is not supported.
    pub cut: u64,
    pub binary: u64,
    /// Redirects to the service's own address, which lead clients past the proxy.
    pub past: u64,
    /// Connections that changed to another protocol, and those whose bytes are not HTTP/1.
    pub upgraded: u64,
    pub unreadable: u64,
    /// Requests whose connection ended before the response.
    pub unfinished: u64,
    /// Requests beyond the maximum size of a recording.
    pub overflow: u64,
}

impl HttpRecording {
    /// Adds what a connection returned.
    pub fn add(&mut self, event: HttpEvent) {
        match event {
            HttpEvent::Upgraded => self.summary.upgraded += 1,
            HttpEvent::Unreadable => self.summary.unreadable += 1,
            HttpEvent::Unfinished => self.summary.unfinished += 1,
            HttpEvent::Exchange(exchange) => {
                let size = size(&exchange);
                if self.size + size > SIZE_MAX {
                    self.summary.overflow += 1;
                    return;
                }
                self.size += size;
                self.exchanges.push(*exchange);
            }
        }
    }

    /// Writes the HAR file. `service` is the origin of the service, as in `http://127.0.0.1:8080`: it replaces the address
    /// of the proxy. `key` is random.
    pub fn write(
        mut self,
        service: &str,
        key: [u8; 32],
        version: &str,
        out: &mut impl Write,
    ) -> io::Result<HttpSummary> {
        self.exchanges.sort_by_key(|exchange| exchange.start);
        for exchange in &mut self.exchanges {
            self.summary.past += u64::from(leads_past(exchange, service));
            name_service(exchange, service);
        }
        let mut redactor = Redactor::new(key, &mut self.exchanges);
        let creator = json!({ "name": "pgdyno", "version": version });
        write!(out, "{{\"log\": {{\"version\": \"1.2\", \"creator\": {creator}, \"entries\": [")?;
        for (number, exchange) in self.exchanges.iter_mut().enumerate() {
            redactor.redact(exchange);
            out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &entry(exchange, service))?;
            for body in [&exchange.request_body, &exchange.response_body] {
                self.summary.cut += u64::from(matches!(body.content, BodyContent::Cut(_)));
                self.summary.binary += u64::from(body.content == BodyContent::Binary);
            }
        }
        out.write_all(b"\n]}}\n")?;
        out.flush()?;
        let (requests, secrets) = (self.exchanges.len() as u64, redactor.secrets() as u64);
        Ok(HttpSummary { requests, secrets, ..self.summary })
    }
}

/// Approximate number of bytes in memory.
fn size(exchange: &HttpExchange) -> usize {
    let headers = exchange.request.headers.iter().chain(&exchange.response_headers);
    let headers: usize = headers.map(|(name, value)| name.len() + value.len() + 48).sum();
    let body = |body: &HttpBody| match &body.content {
        BodyContent::Text(text) | BodyContent::Cut(text) => text.len(),
        BodyContent::Empty | BodyContent::Binary => 0,
    };
    let bodies = body(&exchange.request_body) + body(&exchange.response_body);
    size_of::<HttpExchange>() + exchange.request.target.len() + headers + bodies
}

/// Origins at which clients reach the proxy, according to the request's `Host`.
fn proxy_origins(exchange: &HttpExchange) -> Vec<String> {
    let host = header(&exchange.request.headers, "host").unwrap_or_default();
    if host.is_empty() {
        return Vec::new();
    }
    ["http", "https"].map(|scheme| format!("{scheme}://{}", host.to_ascii_lowercase())).to_vec()
}

/// True if a redirect contains the service's own address, which is not the one that the client used.
fn leads_past(exchange: &HttpExchange, service: &str) -> bool {
    let location = header(&exchange.response_headers, "location").and_then(Url::parse);
    let origins = proxy_origins(exchange);
    location.is_some_and(|url| url.origin == service && !origins.contains(&url.origin))
}

/// Writes the service's address where the client and the service used that of the proxy.
fn name_service(exchange: &mut HttpExchange, service: &str) {
    let origins = proxy_origins(exchange);
    let headers = exchange.request.headers.iter_mut().chain(&mut exchange.response_headers);
    for (name, value) in headers {
        if !["origin", "referer", "location"].iter().any(|it| name.eq_ignore_ascii_case(it)) {
            continue;
        }
        let rest = origins.iter().find_map(|origin| value.strip_prefix(origin.as_str()));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?'])) {
            *value = format!("{service}{rest}");
        }
    }
    if let Some(host) = exchange.request.headers.iter_mut().find(|it| it.0.eq_ignore_ascii_case("host")) {
        host.1 = service.split_once("://").map_or(service, |(_, host)| host).to_owned();
    }
}

/// Entry of a HAR file. Source: <http://www.softwareishard.com/blog/har-12-spec/>.
fn entry(exchange: &HttpExchange, service: &str) -> Value {
    let HttpExchange { request, request_body, response_body, response_headers, .. } = exchange;
    let pairs = |all: &[(String, String)]| -> Vec<Value> {
        all.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    let is_path = request.target.starts_with('/');
    let url = if is_path { format!("{service}{}", request.target) } else { request.target.clone() };
    let query = request.target.split_once('?').and_then(|(_, query)| form::decode(query));
    let elapsed = (exchange.end.0.saturating_sub(exchange.start.0)) as f64 / 1e6;
    let mime_type = |headers: &[(String, String)]| header(headers, "content-type").unwrap_or("").to_owned();
    let mut sent = json!({
        "method": request.method, "url": url, "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": pairs(&request.headers), "queryString": pairs(&query.unwrap_or_default()),
        "headersSize": -1, "bodySize": request_body.length,
    });
    let sent_type = mime_type(&request.headers);
    match &request_body.content {
        BodyContent::Empty => {}
        BodyContent::Text(text) => sent["postData"] = json!({ "mimeType": sent_type, "text": text }),
        // Without its end, the body must not be sent again.
        BodyContent::Cut(_) => sent["postData"] = json!({ "mimeType": sent_type, "comment": "too long" }),
        BodyContent::Binary => sent["postData"] = json!({ "mimeType": sent_type, "comment": "no text" }),
    }
    let received_type = mime_type(response_headers);
    let mut content = json!({ "size": response_body.length, "mimeType": received_type });
    match &response_body.content {
        BodyContent::Empty => {}
        BodyContent::Text(text) => content["text"] = text.as_str().into(),
        BodyContent::Cut(text) => {
            content["text"] = text.as_str().into();
            content["comment"] = "cut off".into();
        }
        BodyContent::Binary => content["comment"] = "no text".into(),
    }
    json!({
        "startedDateTime": date_time(exchange.start), "time": elapsed, "request": sent,
        "response": {
            "status": exchange.status, "statusText": exchange.reason, "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": pairs(response_headers), "content": content,
            "redirectURL": header(response_headers, "location").unwrap_or_default(),
            "headersSize": -1, "bodySize": response_body.length,
        },
        "cache": {}, "timings": { "send": 0, "wait": elapsed, "receive": 0 },
        "_resourceType": resource_type(exchange),
    })
}

/// Purpose of a request, as a browser's developer tools name it.
fn resource_type(exchange: &HttpExchange) -> Option<&str> {
    match header(&exchange.request.headers, "sec-fetch-dest")? {
        "empty" => Some("xhr"),
        "style" => Some("stylesheet"),
        other @ ("document" | "image" | "script" | "font" | "manifest") => Some(other),
        "audio" | "video" | "track" => Some("media"),
        _ => None,
    }
}

/// Time such as `2026-11-26T10:00:00.123Z`.
fn date_time(time: Nanos) -> String {
    let date = utc((time.0 / 1_000_000_000) as i64);
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let (hour, minute, second) = (date.hour(), date.minute(), date.second());
    let micros = time.0 / 1_000 % 1_000_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests;
