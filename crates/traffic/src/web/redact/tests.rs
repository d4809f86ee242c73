use super::*;
use crate::proxy::http::{BodyContent, HttpBody};
use wire::http::RequestHead;

fn headers(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// Exchange from the target, headers and body of both messages.
fn exchange(target: &str, sent: (&str, &str), received: (&str, &str)) -> HttpExchange {
    let body =
        |text: &str| HttpBody { length: text.len() as u64, content: BodyContent::Text(text.to_owned()) };
    HttpExchange {
        request: RequestHead { method: "POST".into(), target: target.into(), headers: headers(sent.0) },
        request_body: body(sent.1),
        response_headers: headers(received.0),
        response_body: body(received.1),
        ..HttpExchange::default()
    }
}

/// Recording after the replacement. Placeholders become `{1}`, `{2}`, … in the order of their first occurrence.
fn redacted(mut exchanges: Vec<HttpExchange>) -> String {
    let mut redactor = Redactor::new([7; 32], &mut exchanges);
    let mut all = String::new();
    for exchange in &mut exchanges {
        redactor.redact(exchange);
        let lines = |headers: &[(String, String)]| {
            headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect::<String>()
        };
        let text = |body: &HttpBody| match &body.content {
            BodyContent::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        all += &format!("{}\n{}", exchange.request.target, lines(&exchange.request.headers));
        all += &format!("{}\n---\n", text(&exchange.request_body));
        all += &format!("{}{}\n", lines(&exchange.response_headers), text(&exchange.response_body));
    }
    for placeholder in redactor.placeholders.values() {
        assert!(!all.contains(&format!("{placeholder}x")));
    }
    let mut found: Vec<(usize, &String)> =
        redactor.placeholders.values().filter_map(|it| Some((all.find(it.as_str())?, it))).collect();
    found.sort();
    found.dedup();
    let mut shown = all.clone();
    for (number, (_, placeholder)) in found.iter().enumerate() {
        shown = shown.replace(placeholder.as_str(), &format!("{{{}}}", number + 1));
    }
    shown
}

#[test]
fn equal_secrets_have_equal_placeholders() {
    let json = "Content-Type: application/json";
    let form = "Content-Type: application/x-www-form-urlencoded";
    let shown = redacted(vec![
        // The page comes before the request that shows that its value is secret.
        exchange(
            "/login",
            ("Cookie: theme=dark; id=abc-12345678", ""),
            (
                "Content-Type: text/html\nSet-Cookie: xsrf=q%2Bw1e2r3t4; Path=/",
                "<input name=x value=\"tok&#x2B;en/1234=\"><p>dark sunflower sun</p>",
            ),
        ),
        exchange(
            "/login?next=/&csrf_token=tok%2Ben%2F1234%3D",
            (form, "user=anna&password=sunflower&pin=1"),
            (json, "{\"accessToken\":\"0123456789abcdef\",\"id\":7,\"otp\":123456,\"max_tokens\":5}"),
        ),
        exchange(
            "/items/0123456789abcdef",
            (
                "Authorization: Bearer 0123456789abcdef\nX-XSRF-TOKEN: q+w1e2r3t4\nReferer: http://a/?token=zyx987",
                "{\"note\":\"sunflowers, abc-12345678!\"}",
            ),
            (json, "{\"list\":[{\"password\":[\"a\",\"sunflower\"]}]}"),
        ),
    ]);
    let expected = "/login
Cookie: theme={1}; id={2}

---
Content-Type: text/html
Set-Cookie: xsrf={3}; Path=/
<input name=x value=\"{4}\"><p>dark {5} sun</p>
/login?next=/&csrf_token={4}
Content-Type: application/x-www-form-urlencoded
user=anna&password={5}&pin=1
---
Content-Type: application/json
{\"accessToken\":\"{6}\",\"id\":7,\"otp\":{7},\"max_tokens\":5}
/items/{6}
Authorization: Bearer {6}
X-XSRF-TOKEN: {3}
Referer: http://a/?token={8}
{\"note\":\"sunflowers, {2}!\"}
---
Content-Type: application/json
{\"list\":[{\"password\":[\"{9}\",\"{5}\"]}]}
";
    assert_eq!(shown, expected);
}

#[test]
fn replaces_credentials_and_tokens() {
    let token = "eyJhbGciOiJub25l.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    let shown = redacted(vec![exchange(
        "/a",
        (
            "Authorization: Basic YW5uYTpodW50ZXIyMg==\nX-Api-Key: k\nX-Plain: hunter22",
            &format!("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npa ss\r\n--b {token}"),
        ),
        ("Content-Type: text/javascript", &format!("const jwt = \"{token}\"; hunter22x")),
    )]);
    let expected = "/a
Authorization: Basic {1}
X-Api-Key: {2}
X-Plain: {3}
--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n{4}\r\n--b {5}
---
Content-Type: text/javascript
const jwt = \"{5}\"; hunter22x
";
    assert_eq!(shown, expected);
}

#[test]
fn placeholders_depend_on_the_key() {
    let redactor = |key| Redactor::new([key; 32], &mut []);
    let [first, again, other] = [1, 1, 2].map(|key| redactor(key).placeholder("secret"));
    assert!(first == again && first != other && is_distinctive(&first), "{first} {other}");
    let number = redactor(1).placeholder("123456");
    assert!(number.len() == 12 && number.parse::<u64>().is_ok() && is_distinctive(&number), "{number}");
}

#[test]
fn writes_secrets_in_every_form() {
    for (secret, form) in [
        ("a b&c/d+e=", "a%20b%26c%2Fd%2Be%3D"),
        ("a b&c/d+e=", "a+b%26c%2Fd%2Be%3D"),
        ("a b&c/d+e=", "a%20b%26c%2fd%2be%3d"),
        ("a b&c/d+e=", "a b&amp;c/d+e="),
        ("a b&c/d+e=", "a b&amp;c/d&#43;e="),
        ("a b&c/d+e=", "a b&c\\/d+e="),
        ("a\"b\\c<d", "a\\\"b\\\\c<d"),
        ("a\"b\\c<d", "a&quot;b\\c&lt;d"),
    ] {
        let forms = written_forms(secret);
        assert!(forms.iter().any(|it| it == form), "{form} is missing in {forms:?}");
    }
}

/// A secret may be the beginning of another one. Nothing of the longer one remains.
#[test]
fn replaces_the_longest_secret() {
    let short = "k3y-0123456789abcdef";
    let long = format!("{short}TAIL");
    for (first, second) in [(short, long.as_str()), (long.as_str(), short)] {
        let sent = |value: &str| exchange("/", (&format!("X-Api-Key: {value}"), ""), ("", ""));
        let shown = redacted(vec![sent(first), sent(second), exchange("/", ("", ""), ("", &long))]);
        assert!(!shown.contains("TAIL") && !shown.contains(short), "{shown}");
    }
}
