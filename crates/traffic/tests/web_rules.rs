//! Rules by which recorded requests become requests of an experiment

use traffic::web::{WebExperiment, WebOptions, experiment, read};

/// Recorded request with its response.
#[derive(Clone, Copy, Default)]
struct Recorded<'a> {
    /// Method and target.
    line: &'a str,
    /// Headers in lines.
    headers: &'a str,
    body: &'a str,
    response_headers: &'a str,
    response: &'a str,
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("every text can be JSON")
}

fn headers(lines: &str) -> String {
    let headers = lines.lines().map(|line| {
        let (name, value) = line.split_once(": ").expect("a colon");
        format!(r#"{{"name": {}, "value": {}}}"#, json(name), json(value))
    });
    headers.collect::<Vec<_>>().join(", ")
}

fn har(all: &[Recorded<'_>]) -> String {
    let entry = |recorded: &Recorded<'_>| {
        let (method, target) = recorded.line.split_once(' ').expect("a method and a target");
        let body = match recorded.body {
            "" => String::new(),
            body => format!(r#", "postData": {{"text": {}}}"#, json(body)),
        };
        format!(
            r#"{{"request": {{"method": "{method}", "url": {}, "headers": [{}]{body}}},
                "response": {{"status": 200, "headers": [{}], "content": {{"mimeType": "text/html", "text": {}}}}}}}"#,
            json(&format!("http://127.0.0.1{target}")),
            headers(recorded.headers),
            headers(recorded.response_headers),
            json(recorded.response)
        )
    };
    format!(r#"{{"log": {{"entries": [{}]}}}}"#, all.iter().map(entry).collect::<Vec<_>>().join(","))
}

fn import(all: &[Recorded<'_>], by_request: bool) -> WebExperiment {
    let options = WebOptions { name: "shop".to_owned(), by_request, ..WebOptions::default() };
    experiment(&read(har(all).as_bytes()).expect("the HAR file is valid"), &options)
}

/// Asserts that the keys of the last request, without its name, are these lines.
fn check(all: &[Recorded<'_>], expected: &str) {
    let file = import(all, false).file(&[]);
    let operations = file.split("\nload:").next().unwrap_or_default();
    let last = match operations.rsplit_once("- name: ") {
        Some((_, step)) => step.split_once('\n').map_or("", |(_, keys)| keys),
        None => operations.split_once("session:\n").map_or("", |(_, keys)| keys),
    };
    let indent = last.len() - last.trim_start_matches(' ').len();
    let lines: Vec<&str> = last.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
    assert_eq!(lines.join("\n").trim_end(), expected, "{file}");
}

/// Experiment file of a text in any format.
fn file(text: &str) -> String {
    let options = WebOptions { name: "shop".to_owned(), ..WebOptions::default() };
    experiment(&read(text.as_bytes()).expect("the text is valid"), &options).file(&["a\rb\nc".to_owned()])
}

/// A request to which the response is JSON with some values.
const JSON: Recorded<'_> = Recorded {
    line: "GET /first",
    headers: "",
    body: "",
    response_headers: "X-Session: header-99887766\nSet-Cookie: xsrf=cookie-55443322; Path=/",
    response: r#"{"id": 4455667788, "token": "abcdefghij", "code": "tea-2041-x", "word": "electronics", "short": "a1b2"}"#,
};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const APPLICATION_JSON: &str = "Content-Type: application/json";

#[test]
fn writes_targets() {
    for (line, expected) in [
        ("GET /a?b=c+d&e=%2F&f", "get: /a?b=c+d&e=%2F&f"),
        ("GET /:id/b?c=:d", "get: /%3Aid/b?c=%3Ad"),
        ("GET /a$b", "get: \"/a$$b\""),
        ("GET /a b/ж", "get: /a%20b/%D0%B6"),
        ("GET /a?my_token=x%20y", "get: \"/a?my_token=${env:MY_TOKEN}\""),
        ("GET /a?token=", "get: /a?token="),
        ("GET /x/eyJhbGciOi.eyJzdWIi.c2lnbmF0/y", "get: \"/x/${env:JWT}/y\""),
        ("GET /a?next=%2Fb%3Ftoken%3Dabc%26c%3Dd", "get: \"/a?next=%2Fb%3Ftoken%3D${env:TOKEN}%26c%3Dd\""),
    ] {
        check(&[Recorded { line, ..Recorded::default() }], expected);
    }
}

#[test]
fn writes_bodies() {
    for (headers, body, expected) in [
        (FORM, "a=b+c&d=$", "form: { a: \"b c\", d: \"$$\" }"),
        (FORM, "a=1&a=2", "headers: { Content-Type: application/x-www-form-urlencoded }\nbody: \"a=1&a=2\""),
        (FORM, "user[password]=x&b=", "form: { \"user[password]\": \"${env:USER_PASSWORD}\", b: \"\" }"),
        (APPLICATION_JSON, "{\"b\": 1, \"a\": \"$\"}", "json: { b: 1, a: \"$$\" }"),
        ("Content-Type: application/json; charset=UTF-8", "[1]", "json: [1]"),
        ("Content-Type: text/plain", "{\"a\": 1}", "headers: { Content-Type: text/plain }\njson: { a: 1 }"),
        (
            "Content-Type: application/vnd.api+json",
            "1",
            "headers: { Content-Type: application/vnd.api+json }\njson: \"1\"",
        ),
        (APPLICATION_JSON, "{", "headers: { Content-Type: application/json }\nbody: \"{\""),
        (
            APPLICATION_JSON,
            "[123456789012345678901]",
            "headers: { Content-Type: application/json }\nbody: \"[123456789012345678901]\"",
        ),
        (APPLICATION_JSON, "{\"otp\": 123456}", "json: \"{\\\"otp\\\":${env:OTP}}\""),
        (APPLICATION_JSON, "{\"max_tokens\": 100}", "json: { max_tokens: 100 }"),
        (APPLICATION_JSON, "{\"secrets\": [\"x\", {\"a\": \"y\"}]}", {
            "json: { secrets: [\"${env:SECRETS}\", { a: \"${env:SECRETS_2}\" }] }"
        }),
        (APPLICATION_JSON, "{\"pwd\": true, \"otp\": null}", "json: { pwd: true, otp: null }"),
        ("Content-Type: text/xml", "<password>x</password>", {
            "headers: { Content-Type: text/xml }\nbody: \"<password>${env:PASSWORD}</password>\""
        }),
        // The same secret in another field, and within a text.
        (FORM, "password=hunter22x&again=hunter22x&text=my+hunter22x!", {
            "form: { password: \"${env:PASSWORD}\", again: \"${env:PASSWORD}\", text: \"my ${env:PASSWORD}!\" }"
        }),
        // A secret before the field that makes it known.
        (FORM, "again=hunter22x&password=hunter22x", {
            "form: { again: \"${env:PASSWORD}\", password: \"${env:PASSWORD}\" }"
        }),
    ] {
        let recorded = Recorded { line: "POST /a", headers, body, ..Recorded::default() };
        check(&[recorded], &format!("post: /a\n{expected}"));
    }
}

#[test]
fn writes_headers() {
    for (headers, expected) in [
        ("Host: a\nUser-Agent: b\nsec-ch-ua: c\nAccept: */*", ""),
        ("Authorization: Bearer abc", "Authorization: \"Bearer ${env:BEARER_TOKEN}\""),
        ("Authorization: Basic bWU6cHc=", "Authorization: \"Basic ${env:BASIC_CREDENTIALS}\""),
        ("Authorization: abc", "Authorization: \"${env:AUTHORIZATION}\""),
        ("Proxy-Authorization: Digest abc", "Proxy-Authorization: \"Digest ${env:PROXY_AUTHORIZATION}\""),
        ("X-Auth-User: abc", "X-Auth-User: \"${env:X_AUTH_USER}\""),
        ("X-A: $1", "X-A: \"$$1\""),
    ] {
        let expected = match expected {
            "" => "get: /a".to_owned(),
            expected => format!("get: /a\nheaders: {{ {expected} }}"),
        };
        check(&[Recorded { line: "GET /a", headers, ..Recorded::default() }], &expected);
    }
}

#[test]
fn captures_values_of_responses() {
    let get = |line: &'static str| Recorded { line, ..Recorded::default() };
    let with_headers = |headers: &'static str| Recorded { line: "GET /a", headers, ..Recorded::default() };
    let with_json = |body: &'static str| Recorded {
        line: "POST /a",
        headers: APPLICATION_JSON,
        body,
        ..Recorded::default()
    };
    for (recorded, expected) in [
        (get("GET /a/4455667788?b=tea-2041-x"), "get: \"/a/${id}?b=${code}\""),
        (get("GET /a/x4455667788"), "get: /a/x4455667788"),
        (get("GET /a/pre-tea-2041-x.html"), "get: \"/a/pre-${code}.html\""),
        (get("GET /electronics/a1b2"), "get: /electronics/a1b2"),
        // A word counts only as the value of a secret field.
        (get("GET /abcdefghij?token=abcdefghij"), "get: \"/${env:TOKEN}?token=${token}\""),
        (with_headers("Authorization: Bearer abcdefghij"), {
            "get: /a\nheaders: { Authorization: \"Bearer ${token}\" }"
        }),
        (with_headers("X-B: header-99887766"), "get: /a\nheaders: { X-B: \"${x_session}\" }"),
        (with_headers("X-XSRF: cookie-55443322"), "get: /a\nheaders: { X-XSRF: \"${env:XSRF}\" }"),
        (with_headers("X-B: cookie-55443322"), "get: /a\nheaders: { X-B: \"${env:XSRF}\" }"),
        (with_json("{\"num\": 4455667788, \"t\": \"4455667788\"}"), {
            "post: /a\njson:\n  num: ${id}\n  t: \"${id}\""
        }),
    ] {
        check(&[JSON, recorded], expected);
    }
}

#[test]
fn captures_where_the_value_is() {
    let check_first = |first: Recorded<'_>, expected: &[&str]| {
        let user = "GET /a/4455667788/header-99887766";
        let file = import(&[first, Recorded { line: user, ..Recorded::default() }], false).file(&[]);
        for line in expected {
            assert!(file.contains(line), "{line} in\n{file}");
        }
        assert!(
            file.contains("decompress") == expected.iter().any(|line| line.contains("decompress")),
            "{file}"
        );
    };
    check_first(JSON, &["id: { json: /id }", "x_session: { header: X-Session }"]);
    // Only bodies that are searched are decompressed.
    check_first(
        Recorded { response_headers: "Content-Encoding: gzip", ..JSON },
        &["id: { json: /id }", "decompress: true"],
    );
    let header = "Content-Encoding: gzip\nX-Session: header-99887766";
    check_first(Recorded { response_headers: header, response: "", ..JSON }, &["{ header: X-Session }"]);
    check_first(Recorded { response_headers: "Content-Encoding: identity", ..JSON }, &["id: { json: /id }"]);
    check_first(Recorded { response: "<a href=\"/a/4455667788\">", ..JSON }, &["a: { regex: 'href=\"/a/("]);
    // A value that the client sent first is constant.
    let sent = Recorded { line: "GET /first/4455667788", ..JSON };
    let file =
        import(&[sent, Recorded { line: "GET /a/4455667788", ..Recorded::default() }], false).file(&[]);
    assert!(!file.contains("capture"), "{file}");
}

#[test]
fn operations_of_distinct_requests_capture_nothing() {
    let get = |line| Recorded { line, ..Recorded::default() };
    let all = [JSON, get("GET /a/4455667788"), get("GET /b"), get("GET /b")];
    let experiment = import(&all, true);
    let operations: Vec<(&str, Option<u64>)> =
        experiment.operations.iter().map(|it| (it.name.as_str(), it.weight)).collect();
    assert_eq!(operations, [("get-b", Some(2)), ("get-first", Some(1)), ("get-a", Some(1))]);
    assert!(experiment.file(&[]).contains("get: /a/4455667788"));
}

#[test]
fn limits_the_number_of_requests() {
    let lines: Vec<String> = (0..110).map(|number| format!("GET /a?b={number}")).collect();
    let all: Vec<Recorded<'_>> = lines.iter().map(|line| Recorded { line, ..Recorded::default() }).collect();
    for by_request in [false, true] {
        let experiment = import(&all, by_request);
        let steps: usize = experiment.operations.iter().map(|it| it.steps).sum();
        assert_eq!((steps, experiment.left_out[0].requests), (100, 10));
    }
    assert!(import(&[], false).operations.is_empty());
}

#[test]
fn cookies_of_users_are_kept_by_the_load() {
    let without = import(&[Recorded { line: "GET /a", ..Recorded::default() }], false).file(&[]);
    let with = import(&[Recorded { line: "GET /a", headers: "Cookie: a=b", ..Recorded::default() }], false);
    assert!(!without.contains("cookies: true") && with.file(&[]).contains("cookies: true"));
    assert!(import(&[JSON], false).file(&[]).contains("cookies: true"));
}

#[test]
fn selects_a_service() {
    let traffic = read(har(&[JSON]).as_bytes()).expect("valid");
    let options = WebOptions { origin: Some("https://Other.test/path".to_owned()), ..WebOptions::default() };
    let other = experiment(&traffic, &options);
    assert_eq!((other.origin.as_str(), other.operations.len()), ("https://other.test", 0));
}

#[test]
fn rejects_other_files() {
    for (text, expected) in [
        ("", "traffic-web-unknown-format"),
        ("\u{feff}{\"a\": 1}", "traffic-web-unknown-format"),
        ("{\"swagger\": \"2.0\"}", "traffic-web-openapi-version(2.0)"),
        ("swagger: 2.0", "traffic-web-openapi-version(2.0)"),
        ("openapi: 3.0.1", "traffic-web-value(paths, object)"),
        ("openapi: [", "traffic-web-syntax(2, 1, while parsing a node, did not find expected node content)"),
        ("{\"log\":\n x", "traffic-web-syntax(2, 2, expected value)"),
    ] {
        let error = read(text.as_bytes()).expect_err("no traffic");
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = read(b"curl \xff").expect_err("no text");
    assert_eq!(error.to_string(), "traffic-web-encoding(5)");
}

#[test]
fn secrets_of_queries_may_contain_blanks() {
    let login =
        Recorded { line: "POST /a", headers: FORM, body: "password=two+words9", ..Recorded::default() };
    let again = Recorded { line: "GET /a?again=two+words9", ..Recorded::default() };
    check(&[login, again], "get: \"/a?again=${env:PASSWORD}\"");
}

#[test]
fn lists_only_secrets_that_the_file_needs() {
    let lines: Vec<String> = (0..200).map(|number| format!("GET /a?b={}", number / 2)).collect();
    let mut all: Vec<Recorded<'_>> =
        lines.iter().map(|line| Recorded { line, ..Recorded::default() }).collect();
    let with_key = Recorded { line: "GET /b", headers: "X-Api-Key: abc", ..Recorded::default() };
    all.insert(0, with_key);
    assert!(import(&all, true).secrets.is_empty());
    assert_eq!(import(&all[..1], true).secrets.len(), 1);
}

#[test]
fn notes_are_comments() {
    assert!(file("curl http://127.0.0.1/").starts_with("# a b\n# c\nname: shop\n"));
}

#[test]
fn curl_commands_may_request_static_files() {
    assert!(file("curl http://127.0.0.1/a.css").contains("get: /a.css"));
}

#[test]
fn services_on_other_machines_are_allowed() {
    let remote = file("curl https://shop.test");
    assert!(remote.contains("    url: \"https://shop.test\"\n    allow: \"shop.test:443\""), "{remote}");
    assert!(!file("curl http://localhost:81").contains("allow"));
}

#[test]
fn parameters_of_operations_precede_those_of_paths() {
    let description = r#"{
        "openapi": "3.0.0",
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        "paths": {"/a/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer", "example": 5}}],
            "get": {
                "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "integer", "example": 7}},
                    {"name": "X-Key", "in": "header", "required": true, "example": "v"}],
                "security": [{"key": []}],
                "responses": {"404": {}, "202": {}, "201": {}}}}}}"#;
    let expected = r#"operations:
  get-a:
    set:
      id: "7"
    get: "/a/${id}"
    headers: { X-Key: "${env:X_KEY}" }
    expect: { status: 201 }
"#;
    let file = file(description);
    assert!(file.contains(expected), "{file}");
}

#[test]
fn pages_without_variables_show_that_the_service_is_ready() {
    for (lines, expected) in [
        (&["GET /a"][..], "ready: /a"),
        (&["POST /a", "GET /b?c=d"], "ready: /b?c=d"),
        (&["GET /a?token=x", "GET /b$", "GET /c"], "ready: /c"),
        (&["POST /a"], "# ready: /health"),
    ] {
        let all: Vec<Recorded<'_>> =
            lines.iter().map(|&line| Recorded { line, headers: "X-A: b", ..Recorded::default() }).collect();
        let file = import(&all, false).file(&[]);
        assert!(file.contains(&format!("    {expected}  # must")), "{file}");
    }
    let secret = Recorded { line: "GET /a", headers: "X-Api-Key: b", ..Recorded::default() };
    assert!(import(&[secret], false).file(&[]).contains("# ready"));
    let har = har(&[Recorded { line: "GET /a", ..Recorded::default() }]);
    assert!(file(&har.replace("\"status\": 200", "\"status\": 204")).contains("# ready"));
}
