//! Access control: origins, tokens and paths

use super::client::Server;

#[test]
fn rejects_foreign_host_names() {
    let server = Server::new();
    let port = server.address.port();
    for (host, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("evil.example:{port}"), 421),
        (format!("127.0.0.1.evil.example:{port}"), 421),
        (format!("localhost:{}", port ^ 1), 421),
        ("localhost".to_owned(), 421),
        (String::new(), 421),
    ] {
        for place in ["/", "/runs.json", "/runs/shop", "/runs/shop/document", "/nothing"] {
            let answer = server.ask_as(&format!("GET {place}"), &[&format!("Host: {host}")], "");
            let expected = if (status, place) == (200, "/nothing") { 404 } else { status };
            assert_eq!(answer.status, expected, "{host} {place}");
            assert!(status == 200 || !answer.body.contains("shop"), "{answer:?}");
        }
    }
    let own_host = format!("Host: 127.0.0.1:{port}");
    for (request, headers) in [
        ("GET /".to_owned(), vec![]),
        ("GET /".to_owned(), vec![own_host.as_str(), "Host: evil.example"]),
        ("GET /".to_owned(), vec!["Host: evil.example", own_host.as_str()]),
        (format!("GET http://evil.example:{port}/"), vec![own_host.as_str()]),
    ] {
        let answer = server.ask_as(&request, &headers, "");
        assert!([400, 421].contains(&answer.status), "{request} {headers:?}: {answer:?}");
    }
}

#[test]
fn only_own_pages_can_stop_a_run() {
    let server = Server::new();
    let address = server.address;
    let (token, own_origin) = (server.form(), format!("Origin: http://{address}"));
    let form = format!("x-pgdyno-form: {token}");
    for (origin, form, status) in [
        // The run has ended already; only permitted callers learn that.
        (Some(own_origin.as_str()), Some(form.as_str()), 409),
        (Some("Origin: http://evil.example"), Some(form.as_str()), 403),
        (Some("Origin: null"), Some(form.as_str()), 403),
        (Some("Origin: http://localhost"), Some(form.as_str()), 403),
        (None, Some(form.as_str()), 403),
        (Some(own_origin.as_str()), None, 403),
        (Some(own_origin.as_str()), Some("x-pgdyno-form: "), 403),
        (Some(own_origin.as_str()), Some("x-pgdyno-form: 0123456789abcdef"), 403),
    ] {
        let headers: Vec<&str> = [origin, form].into_iter().flatten().collect();
        let answer = server.ask("POST /runs/shop/stop", &headers);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    for (request, status) in [
        ("GET /runs/shop/stop", 405),
        ("PUT /runs/shop/stop", 405),
        ("DELETE /runs/shop", 405),
        ("OPTIONS /runs/shop/stop", 405),
        ("POST /runs/shop", 405),
        ("POST /", 405),
    ] {
        let answer = server.ask(request, &[&own_origin, &form]);
        assert_eq!(answer.status, status, "{request}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{answer:?}");
    }
    // A foreign page cannot read data either.
    assert_eq!(server.ask("GET /runs.json", &["Origin: http://evil.example"]).status, 403);
}

#[test]
fn rejects_paths_outside_the_directory() {
    let server = Server::new();
    let folder = server.folder.to_str().expect("the path is UTF-8").replace('/', "%2f");
    let absolute = format!("/runs/{folder}%2fsecret.dyno");
    let mut paths = vec![absolute.clone(), absolute.replace("%2f", "%2F"), format!("{absolute}/report.html")];
    let names = [
        "../secret",
        "../secret.dyno",
        "..%2fsecret",
        "..%2Fsecret.dyno",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "%2e%2e%5csecret",
        "..%5csecret",
        "..\\secret",
        "....//secret",
        "..%252fsecret",
        "..%c0%afsecret",
        "..%ef%bc%8fsecret",
        "..%u2215secret",
        "./../secret",
        "shop/../../secret",
        "shop%2f..%2f..%2fsecret",
        "shop%00",
        "shop.dyno",
        "secret.txt",
        "secret",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "SHOP",
        ".",
        "..",
        "%2e",
        "",
    ];
    for name in names {
        for suffix in ["", "/document", "/events", "/report.html"] {
            paths.push(format!("/runs/{name}{suffix}"));
        }
    }
    for path in paths {
        let answer = server.ask(&format!("GET {path}"), &[]);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        for secret in ["root:", "secret\n"] {
            assert!(!answer.body.contains(secret), "{path}: {answer:?}");
        }
    }
    server.assert_healthy();
}

#[test]
fn every_response_has_security_headers() {
    let server = Server::new();
    for (request, status, policy) in [
        ("GET /", 200, "script-src 'sha256-"),
        ("GET /runs/shop", 200, "script-src 'sha256-"),
        ("GET /runs.json", 200, "sandbox"),
        ("GET /runs/shop/document", 200, "sandbox"),
        ("GET /runs/shop/events", 204, "sandbox"),
        ("GET /runs/shop/report.html", 200, "sandbox"),
        ("GET /compare?base=shop&run=shop", 200, "script-src 'sha256-"),
        ("GET /compare?base=shop&run=../secret", 404, "style-src 'sha256-"),
        ("GET /compare?run=shop", 404, "style-src 'sha256-"),
        ("GET /nothing", 404, "style-src 'sha256-"),
        ("POST /runs/shop/stop", 403, "style-src 'sha256-"),
        ("PUT /", 405, "sandbox"),
    ] {
        let answer = server.ask(request, &[]);
        assert_eq!(answer.status, status, "{request}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-frame-options", "deny"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{request}");
        }
        let header = answer.header("content-security-policy").unwrap_or_default();
        assert!(
            header.starts_with("default-src 'none'") && header.contains("frame-ancestors 'none'"),
            "{header}"
        );
        assert!(header.contains(policy) && !header.contains("unsafe"), "{request}: {header}");
    }
    let head = server.ask("HEAD /runs/shop", &[]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn survives_malformed_requests() {
    let server = Server::new();
    let host = format!("Host: {}\r\n", server.address);
    let long = "a".repeat(1 << 20);
    let headers: String = (0..5000).map(|it| format!("x-{it}: y\r\n")).collect();
    let cases: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\0\0\0\0\0\0\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{host}Cookie: {long}\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{host}{headers}\r\n").into_bytes(),
        format!("GET * HTTP/1.1\r\n{host}Connection: close\r\n\r\n").into_bytes(),
        format!("OPTIONS * HTTP/1.1\r\n{host}Connection: close\r\n\r\n").into_bytes(),
        format!("CONNECT a:1 HTTP/1.1\r\n{host}Connection: close\r\n\r\n").into_bytes(),
        format!("POST /login HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n").into_bytes(),
        format!("POST /login HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nzz\r\n").into_bytes(),
        format!("GET /runs/%ff%fe%00 HTTP/1.1\r\n{host}Connection: close\r\n\r\n").into_bytes(),
        format!("GET /?{} HTTP/1.1\r\n{host}Connection: close\r\n\r\n", "%&=".repeat(1000)).into_bytes(),
    ];
    for bytes in &cases {
        let mut stream = server.connect();
        use std::io::{Read, Write};
        // The server may reject the request before it has read all of it.
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer);
        assert!(
            !text.contains(" 500 "),
            "{:?}: {text}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
        );
    }
    // A form above the size limit.
    let origin = format!("Origin: http://{}", server.address);
    let answer = server.ask_as("POST /login", &[host.trim_end(), &origin], &long);
    assert!([0, 413].contains(&answer.status), "{answer:?}");
    server.assert_healthy();
}
