//! Reader of HAR files
//!
//! HAR 1.2 as Chrome, Firefox and mitmproxy write it. Unknown keys are ignored. Only the method and the URL of a request
//! are required. Source: <http://www.softwareishard.com/blog/har-12-spec/>.

use super::error::WebError;
use super::exchange::{Exchange, RequestBody, Response, header, media_type};
use super::form;
use super::json::Json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{Nanos, parse_utc};

/// Exchanges of a HAR file in the order in which they began.
pub(super) fn read(har: &Json) -> Result<Vec<Exchange>, WebError> {
    let entries = match har.get("log").and_then(|log| log.get("entries")) {
        Some(Json::List(entries)) => entries,
        _ => return Err(WebError::Value { place: "log.entries".to_owned(), expected: "list" }),
    };
    let mut all = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        all.push(exchange(entry, &format!("log.entries[{number}]"))?);
    }
    // Entries without a time stay behind the entry before them.
    let mut last = Nanos::ZERO;
    let mut timed: Vec<(Nanos, Exchange)> = Vec::with_capacity(all.len());
    for exchange in all {
        last = exchange.start.unwrap_or(last);
        timed.push((last, exchange));
    }
    timed.sort_by_key(|exchange| exchange.0);
    Ok(timed.into_iter().map(|exchange| exchange.1).collect())
}

fn exchange(entry: &Json, place: &str) -> Result<Exchange, WebError> {
    let Some(request @ Json::Object(_)) = entry.get("request") else {
        return Err(WebError::Value { place: format!("{place}.request"), expected: "object" });
    };
    let text = |key: &str| {
        let place = || format!("{place}.request.{key}");
        request.text_of(key).ok_or_else(|| WebError::Value { place: place(), expected: "text" })
    };
    let headers = headers(request);
    let content_type = header(&headers, "content-type").unwrap_or_default().to_owned();
    let mut exchange = Exchange {
        headers,
        body: request.get("postData").map_or(RequestBody::Empty, |data| body(data, &content_type)),
        response: entry.get("response").map(response),
        start: entry.text_of("startedDateTime").and_then(time),
        elapsed: entry.get("time").and_then(Json::number).map_or(Nanos::ZERO, milliseconds),
        resource_type: entry.text_of("_resourceType").map(str::to_ascii_lowercase),
        cached: entry.get("_fromCache").is_some(),
        ..Exchange::of_request(text("method")?, text("url")?)
    };
    if let Some(url) = exchange.url.as_mut().filter(|url| !url.target.contains('?')) {
        let pairs = pairs(request.get("queryString"));
        if !pairs.is_empty() {
            url.target = format!("{}?{}", url.target, form::encode(&pairs));
        }
    }
    Ok(exchange)
}

/// Texts of the members `name` and `value` of a list.
fn pairs(list: Option<&Json>) -> Vec<(String, String)> {
    let pair = |item: &Json| {
        Some((item.text_of("name")?.to_owned(), item.text_of("value").unwrap_or_default().to_owned()))
    };
    list.map(Json::items).unwrap_or_default().iter().filter_map(pair).collect()
}

fn headers(message: &Json) -> Vec<(String, String)> {
    pairs(message.get("headers"))
}

/// Body of a request: its text, or the fields of a form if there is no text.
fn body(data: &Json, content_type: &str) -> RequestBody {
    let parameters = data.get("params").map(Json::items).unwrap_or_default();
    match data.text_of("text").filter(|text| !text.is_empty()) {
        Some(text) if data.text_of("encoding") == Some("base64") => match decode(text) {
            Some(text) => RequestBody::Text(text),
            None => RequestBody::Binary,
        },
        Some(text) => RequestBody::Text(text.to_owned()),
        None if parameters.is_empty() => RequestBody::Empty,
        None => {
            let media_type = media_type(data.text_of("mimeType").unwrap_or(content_type));
            let has_file = parameters.iter().any(|parameter| parameter.get("fileName").is_some());
            if has_file || media_type == "multipart/form-data" {
                return RequestBody::Binary;
            }
            RequestBody::Form(pairs(data.get("params")))
        }
    }
}

fn response(response: &Json) -> Response {
    let headers = headers(response);
    let content = response.get("content");
    let member = |key: &str| content.and_then(|content| content.text_of(key));
    let text = match member("encoding") {
        Some("base64") => member("text").and_then(decode),
        _ => member("text").map(str::to_owned),
    };
    let location = [response.text_of("redirectURL"), header(&headers, "location")];
    let location = location.into_iter().flatten().find(|location| !location.is_empty()).map(str::to_owned);
    Response {
        status: response.get("status").and_then(Json::number).map_or(0, |status| status as u16),
        media_type: media_type(member("mimeType").or(header(&headers, "content-type")).unwrap_or_default()),
        location,
        text,
        headers,
    }
}

/// Decodes Base64; `None` if the content is not text.
fn decode(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()
}

/// Duration of a number of milliseconds. Negative numbers stand for an unknown duration.
fn milliseconds(milliseconds: f64) -> Nanos {
    Nanos((milliseconds.max(0.0) * 1e6) as u64)
}

/// Time since the Unix epoch of `2026-11-26T10:00:00.123+01:00`.
fn time(text: &str) -> Option<Nanos> {
    let date_and_time = text.get(..19)?.replace('T', " ");
    let seconds = parse_utc(&date_and_time)?;
    let rest = &text[19..];
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(zone_at);
    let nanos = match fraction.strip_prefix('.') {
        Some(digits) => (format!("0.{digits}").parse::<f64>().ok()? * 1e9) as u64,
        None => 0,
    };
    let offset = match zone.strip_prefix(['+', '-']) {
        Some(offset) => {
            let (hours, minutes) = offset.split_once(':').or_else(|| offset.split_at_checked(2))?;
            let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
            let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
            if zone.starts_with('-') { -seconds } else { seconds }
        }
        None => 0,
    };
    let seconds = u64::try_from(seconds - offset).ok()?;
    Some(Nanos(seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchanges(entries: &str) -> Result<Vec<Exchange>, WebError> {
        let har = format!(r#"{{"log": {{"entries": [{entries}]}}}}"#);
        read(&Json::parse(&har).expect("the test's JSON is valid"))
    }

    #[test]
    fn requires_method_and_url_only() {
        let all = exchanges(r#"{"request": {"method": "get", "url": "http://a.test"}, "time": -1}"#);
        let exchange = all.expect("complete").remove(0);
        assert_eq!((exchange.method.as_str(), exchange.elapsed, exchange.start), ("GET", Nanos::ZERO, None));
        assert!(exchange.response.is_none());
        for (entry, place) in [
            ("{}", "log.entries[0].request"),
            (r#"{"request": {"url": "http://a.test"}}"#, "log.entries[0].request.method"),
            (r#"{"request": {"method": "GET", "url": 1}}"#, "log.entries[0].request.url"),
        ] {
            let error = exchanges(entry).expect_err("incomplete");
            assert!(matches!(&error, WebError::Value { place: found, .. } if found == place), "{error}");
        }
        let error = read(&Json::Object(Vec::new())).expect_err("no log");
        assert_eq!(error.to_string(), "traffic-web-value(log.entries, list)");
    }

    #[test]
    fn orders_requests_by_time() {
        let entry = |path: &str, time: &str| {
            format!(
                r#"{{"startedDateTime": "{time}", "request": {{"method": "GET", "url": "http://a.test{path}"}}}}"#
            )
        };
        let entries = [
            entry("/2", "2026-11-26T10:00:01.000Z"),
            entry("/2b", ""),
            entry("/1", "2026-11-26T11:00:00.5+01:00"),
        ];
        let all = exchanges(&entries.join(",")).expect("complete");
        let paths: Vec<&str> = all.iter().map(|exchange| exchange.address.as_str()).collect();
        assert_eq!(paths, ["http://a.test/1", "http://a.test/2", "http://a.test/2b"]);
    }

    #[test]
    fn reads_bodies() {
        let body = |data: &str| {
            let request = format!(r#"{{"request": {{"method": "POST", "url": "/", "postData": {data}}}}}"#);
            exchanges(&request).expect("complete").remove(0).body
        };
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (data, expected) in [
            (r#"{"text": "a", "params": [{"name": "b"}]}"#, RequestBody::Text("a".to_owned())),
            (r#"{"text": "YWI=", "encoding": "base64"}"#, RequestBody::Text("ab".to_owned())),
            (r#"{"text": "/w==", "encoding": "base64"}"#, RequestBody::Binary),
            (r#"{"text": "", "params": [{"name": "b", "value": "c d"}]}"#, {
                RequestBody::Form(vec![field("b", "c d")])
            }),
            (r#"{"params": [{"name": "b", "fileName": "c"}]}"#, RequestBody::Binary),
            (r#"{"mimeType": "multipart/form-data; x", "params": [{"name": "b"}]}"#, RequestBody::Binary),
            ("{}", RequestBody::Empty),
        ] {
            assert_eq!(body(data), expected, "{data}");
        }
    }

    #[test]
    fn reads_responses() {
        let all = exchanges(
            r#"{"request": {"method": "GET", "url": "http://a.test/", "queryString": [{"name": "b", "value": "c d"}]},
                "response": {"status": 302, "redirectURL": "", "headers": [{"name": "location", "value": "/x"}],
                             "content": {"mimeType": "Text/HTML; charset=utf-8", "text": "YWI=", "encoding": "base64"}},
                "_fromCache": "disk", "_resourceType": "Document"}"#,
        );
        let exchange = all.expect("complete").remove(0);
        assert!(exchange.cached && exchange.is_document());
        assert_eq!(exchange.url.expect("valid").target, "/?b=c%20d");
        let response = exchange.response.expect("present");
        assert_eq!((response.status, response.media_type.as_str()), (302, "text/html"));
        assert_eq!((response.text.as_deref(), response.location.as_deref()), (Some("ab"), Some("/x")));
    }

    #[test]
    fn reads_times() {
        for (text, expected) in [
            ("1970-01-01T00:00:01.25Z", Some(1_250_000_000)),
            ("1970-01-01T01:00:00.000+01:00", Some(0)),
            ("1970-01-01T00:00:00-0030", Some(1_800_000_000_000)),
            ("1970-01-01T00:00:02", Some(2_000_000_000)),
            ("1970-01-01T00:00:02+é", None),
            ("yesterday", None),
        ] {
            assert_eq!(time(text), expected.map(Nanos), "{text}");
        }
    }
}
