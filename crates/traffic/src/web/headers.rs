//! Headers that an experiment contains

use super::exchange::{Exchange, RequestBody};

/// Headers that pgdyno, a browser or an intermediary generates, or that control a cache. Names that end with `-` are
/// beginnings of names.
const GENERATED: [&str; 44] = [
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "http2-settings",
    "user-agent",
    "accept-encoding",
    "accept-language",
    "accept-charset",
    "cookie",
    "cookie2",
    "referer",
    "if-none-match",
    "if-modified-since",
    "if-range",
    "cache-control",
    "pragma",
    "priority",
    "dnt",
    "save-data",
    "purpose",
    "upgrade-insecure-requests",
    "device-memory",
    "downlink",
    "ect",
    "rtt",
    "viewport-width",
    "x-client-data",
    "traceparent",
    "tracestate",
    "sentry-trace",
    "baggage",
    "newrelic",
    "x-request-id",
    "via",
    "sec-",
    "x-b3-",
    "x-datadog-",
];

/// Headers of a request without those that are generated. Headers with the same name are joined.
pub(super) fn kept(exchange: &Exchange) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = Vec::new();
    for (name, value) in &exchange.headers {
        let value = value.trim();
        if !is_kept(exchange, &name.to_ascii_lowercase(), value) {
            continue;
        }
        match kept.iter_mut().find(|header| header.0.eq_ignore_ascii_case(name)) {
            Some(known) if known.1 == value => {}
            Some(known) => known.1 = format!("{}, {value}", known.1),
            None => kept.push((name.clone(), value.to_owned())),
        }
    }
    kept
}

/// True if the experiment contains the header. `name` is in lowercase.
fn is_kept(exchange: &Exchange, name: &str, value: &str) -> bool {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    let is_generated = |generated: &str| match generated.ends_with('-') {
        true => name.starts_with(generated),
        false => name == generated,
    };
    if name.is_empty() || !name.chars().all(is_token) || GENERATED.iter().any(|it| is_generated(it)) {
        return false;
    }
    if value.contains(|letter: char| letter.is_control() && letter != '\t') {
        return false;
    }
    match name {
        // What browsers send for pages, images and scripts. A service that chooses a format gets another value.
        "accept" => value != "*/*" && !value.starts_with("text/html") && !value.starts_with("image/"),
        // Services compare the origin of requests that change something.
        "origin" => !matches!(exchange.method.as_str(), "GET" | "HEAD") && value != "null",
        "content-type" => exchange.body != RequestBody::Empty,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_generated_headers() {
        for (method, header, expected) in [
            ("GET", "Host: a.test", false),
            ("GET", ":authority: a.test", false),
            ("GET", "Sec-Fetch-Mode: cors", false),
            ("GET", "X-B3-TraceId: 1", false),
            ("GET", "Cookie: a=b", false),
            ("GET", "If-None-Match: \"a\"", false),
            ("GET", "If-Match: \"a\"", true),
            ("GET", "Accept: */*", false),
            ("GET", "Accept: text/html,*/*", false),
            ("GET", "Accept: application/json", true),
            ("GET", "Origin: http://a.test", false),
            ("POST", "Origin: http://a.test", true),
            ("POST", "Origin: null", false),
            ("GET", "Content-Type: text/plain", false),
            ("GET", "X-Requested-With: XMLHttpRequest", true),
            ("GET", "X-A: a\u{1}b", false),
            ("GET", "X A: b", false),
        ] {
            let at = header[1..].find(": ").expect("a colon") + 1;
            let headers = vec![(header[..at].to_owned(), header[at + 2..].to_owned())];
            let exchange = Exchange { headers, ..Exchange::of_request(method, "http://a.test") };
            assert_eq!(!kept(&exchange).is_empty(), expected, "{method} {header}");
        }
    }

    #[test]
    fn joins_equal_names() {
        let headers = [("X-A", "1"), ("x-a", "2"), ("X-A", "1, 2")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let exchange = Exchange { headers, ..Exchange::of_request("GET", "http://a.test") };
        assert_eq!(kept(&exchange), [("X-A".to_owned(), "1, 2".to_owned())]);
    }
}
