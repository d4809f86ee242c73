use super::*;

/// Reads a log. Returns its requests and the numbers of skipped lines, or the error.
fn read_log(format: Option<&str>, text: &[u8]) -> String {
    let format = format.map(|it| LogFormat::parse(it).expect("the format is valid"));
    let mut all = Vec::new();
    let result = read(format.as_ref(), &mut &text[..], &mut |request| {
        let fields: Vec<String> =
            request.fields().map(|it| String::from_utf8_lossy(it).replace("\r\n", "\\r\\n")).collect();
        all.push(fields.join("|"));
        Ok(())
    });
    match result {
        Err(error) => error.describe(),
        Ok(skipped) => {
            let first = skipped.first_misfit.as_ref().map(|it| format!(" ({})", it.describe()));
            let counts = [skipped.with_body, skipped.without_request, skipped.misfits];
            let skipped =
                (skipped.total() > 0).then(|| format!(" / skipped {counts:?}{}", first.unwrap_or_default()));
            all.join(" / ") + &skipped.unwrap_or_default()
        }
    }
}

fn check(format: Option<&str>, text: &str, expected: &str) {
    assert_eq!(read_log(format, text.as_bytes()), expected, "{text}");
}

const NANOS: &str = "1791629736000000000";

#[test]
fn detects_common_and_combined_logs() {
    let line = |request: &str| {
        format!("127.0.0.1 - ann [10/Oct/2026:13:55:36 +0300] \"{request}\" 200 2326 \"-\" \"x\"\n")
    };
    let text =
        [line("GET /a?b=1 HTTP/1.1"), line("POST /c HTTP/1.1"), line("-"), line("HEAD / HTTP/1.0")].concat();
    let first = format!("GET|/a?b=1|||GET /a|200|2326|{NANOS}|");
    check(None, &text, &format!("{first} / HEAD|/|||HEAD /|200|2326|{NANOS}| / skipped [1, 1, 0]"));
    for (answer, expected) in [
        ("200 2326", "200|2326"),
        ("304 -", "304|0"),
        ("200 2326 \"-\" \"x\" 1 2", "200|2326"),
        ("200", "|"),
        ("", "|"),
        ("200 many", "|"),
        ("2000 1", "|"),
        ("200 99999999999999999999", "|"),
    ] {
        let text = format!("127.0.0.1 - - [x] \"GET / HTTP/1.1\" {answer}\n");
        check(None, &text, &format!("GET|/|||GET /|{expected}||"));
    }
    check(None, &line("-"), "0: feed-no-requests");
    check(None, "no quotes\n", "1: feed-log-misfits(feed-log-no-request(no quotes), 1, 1)");
}

#[test]
fn reads_logs_of_nginx() {
    let main = "log_format main '$remote_addr - $remote_user [$time_local] \"$request\" '\n \
                '$status $body_bytes_sent \"$http_referer\" '\n '\"$http_user_agent\" $request_time';";
    let text = "10.0.0.1 - a b [10/Oct/2026:13:55:36 +0300] \"GET /x?q=1 HTTP/1.1\" 200 42 \"-\" \"A\\x22B\" 0.042\n";
    check(Some(main), text, &format!("GET|/x?q=1|User-Agent: A\"B\\r\\n||GET /x|200|42|{NANOS}|42000000"));
    let json = r#"escape=json '{"t":"$time_iso8601","uri":"$request_uri","m":"$request_method",' '"s":$status,"b":$bytes_sent,"ua":"$http_user_agent","d":$request_time}'"#;
    let text =
        r#"{"t":"2026-10-10T13:55:36+03:00","uri":"/\"a\u0416","m":"GET","s":200,"b":7,"ua":"","d":1.5}"#;
    check(Some(json), text, &format!("GET|/\"aЖ|||GET /{{text}}|200|7|{NANOS}|1500000000"));
    let parts = "$msec $request_method $scheme://$host$uri$is_args$args\" $status $upstream_addr $upstream_response_time $request_time";
    let text = "1791629736.250 GET http://a.b/c d?e=1\" 200 1.2.3.4:80, 1.2.3.5:80 : 1.2.3.6:80 0.1, 0.2 : 0.3 0.6\n\
                1791629736.250 GET http://a.b/\" 404 - - 0.000\n";
    let expected = "GET|/c%20d?e=1|||GET /{text}|200||1791629736250000000|600000000 / \
                    GET|/|||GET /|404||1791629736250000000|0";
    check(Some(parts), text, expected);
}

#[test]
fn reads_logs_of_apache() {
    let format = r#"LogFormat "%h %l %u %t \"%r\" %>s %b %D \"%{User-agent}i\"" combined_io"#;
    let text = "::1 - - [10/Oct/2026:13:55:36 +0300] \"GET /a\\\"b HTTP/1.1\" 200 - 1500 \"x\"\n";
    check(Some(format), text, &format!("GET|/a\"b|User-agent: x\\r\\n||GET /a\"b|200|0|{NANOS}|1500000"));
    let parts = "%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t %m \"%U%q\" %<s %s %O %{ms}T";
    let text = "10/Oct/2026:13:55:36.007 +0300 GET \"/a b?c=d\" 404 200 300 12\n";
    let expected = "GET|/a%20b?c=d|||GET /{text}|200|300|1791629736007000000|12000000";
    check(Some(parts), text, expected);
    check(
        Some("%{usec}t %r %D"),
        "1791629736000042 GET / HTTP/1.0 5",
        "GET|/|||GET /|||1791629736000042000|5000",
    );
}

#[test]
fn reads_logs_of_haproxy() {
    let request = "10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} \"GET /index.html HTTP/1.1\"\n";
    let expected = "GET|/index.html|||GET /index.html|200|2750|1233922454655000000|109000000";
    check(Some("httplog"), request, expected);
    check(Some("httplog"), &format!("Feb  6 12:14:14 localhost haproxy[14389]: {request}"), expected);
    let aborted = request.replace("69/109 200", "-1/-1 -1").replace("GET /index.html HTTP/1.1", "<BADREQ>");
    check(Some("httplog"), &format!("{request}{aborted}"), &format!("{expected} / skipped [0, 1, 0]"));
}

#[test]
fn counts_lines_that_do_not_fit() {
    let format = Some("$msec $status $request_time \"$request\"");
    let good = "1.5 200 0.1 \"GET / HTTP/1.1\"\n";
    let row = "GET|/|||GET /|200||1500000000|100000000";
    for (line, deviation) in [
        ("x 200 0.1 \"GET / HTTP/1.1\"", "feed-log-value($msec, 1, x 200 0.1 \"GET / HTTP/1.1\")"),
        ("1.5 2000 0.1 \"GET / HTTP/1.1\"", "feed-log-value($status, 5, 2000 0.1 \"GET / HTTP/1.1\")"),
        ("1.5 200 fast \"GET /\"", "feed-log-value($request_time, 9, fast \"GET /\")"),
        ("1.5 200 0.1 \"GET /", "feed-log-separator($request, 14, \", GET /)"),
        ("1.5 200 0.1 \"GET /\" x", "feed-log-rest(20,  x)"),
        ("1.5 200 0.1 /?password=x", "feed-log-separator($request_time, 9,  \", 0.1 /?…)"),
    ] {
        let expected = format!("{row} / skipped [0, 0, 1] (2: {deviation})");
        check(format, &format!("{good}{line}\n"), &expected);
        let expected = format!("2: feed-log-misfits({deviation}, 2, 3)");
        check(format, &format!("{good}{line}\n{line}\n"), &expected);
    }
    check(
        Some("a $request"),
        "b\na GET /",
        "GET|/|||GET /|||| / skipped [0, 0, 1] (1: feed-log-prefix(a , b))",
    );
}

/// A client that sent control characters cannot inject headers or another request.
#[test]
fn rejects_injected_headers() {
    let format = Some("\"$request\" \"$http_user_agent\"");
    check(format, "\"GET / HTTP/1.1\" \"a\\x0D\\x0AX: y\"", "GET|/|||GET /||||");
    check(
        format,
        "\"GET /\\x0D\\x0AX:y HTTP/1.1\" \"a\"\n\"GET / HTTP/1.1\" \"-\"",
        "GET|/|||GET /|||| / skipped [0, 1, 0]",
    );
}

#[test]
fn arbitrary_bytes_do_not_panic() {
    const FORMATS: [&str; 5] = [
        "combined",
        "common",
        "httplog",
        "$uri$is_args$args $upstream_addr $msec \"$request_method\" $request_time",
        "%{%d/%b/%Y:%T}t.%{msec_frac}t %m %U%q \"%{a}i\" %D",
    ];
    proptest::proptest!(|(bytes: Vec<u8>, text: String, cut in 0usize..120, flip in 0usize..120)| {
        for name in FORMATS {
            let format = LogFormat::parse(name).expect("the format is valid");
            let _ = read(Some(&format), &mut &bytes[..], &mut |_| Ok(()));
        }
        let _ = read(None, &mut &bytes[..], &mut |_| Ok(()));
        let format = LogFormat::parse("combined").expect("the format is valid");
        let mut line = b"1.1.1.1 - - [10/Oct/2026:13:55:36 +0300] \"GET /\\x22 HTTP/1.1\" 200 1 \"a\" \"\\x1\"".to_vec();
        let at = flip.min(line.len() - 1);
        line[at] = bytes.first().copied().unwrap_or(b'\\');
        line.truncate(cut);
        let _ = read(Some(&format), &mut &line[..], &mut |_| Ok(()));
        if let Ok(format) = LogFormat::parse(&text) {
            let _ = read(Some(&format), &mut &bytes[..], &mut |_| Ok(()));
        }
    });
}

/// Logs that nginx 1.22, Apache 2.4 and HAProxy 2.6 wrote with these formats (2026-11-26).
#[test]
fn reads_logs_of_real_servers() {
    let check = |format: &str, text: &str, expected: &[&str]| {
        let found = read_log(Some(format), text.as_bytes());
        assert_eq!(found.split(" / ").collect::<Vec<_>>(), expected, "{format}");
    };
    let timed = "log_format timed '$remote_addr - $remote_user [$time_local] \"$request\" '\n    '$status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_time';";
    let agent = "User-Agent: curl/7.88.1\\r\\n";
    let row = |target: &str, kind: &str, status: &str, second: u64| {
        format!("GET|{target}|{agent}||GET {kind}|{status}|{second}000000000|0")
    };
    let (hash, placeholder) = ("/private/6fa459eaee8a3ca4894edb77e160355e", "/private/{hash}");
    let (ten, eleven) = (1_795_703_170, 1_795_703_171);
    check(
        timed,
        include_str!("../../fixtures/nginx-timed.log"),
        &[
            &format!(
                "GET|/user/17?x=1|User-Agent: A \"quoted\" \\agent\\r\\n||GET /user/{{number}}|200|6|{ten}000000000|0"
            ),
            &format!(
                "GET|/user/18|Referer: http://shop.test/\\r\\n{agent}||GET /user/{{number}}|200|6|{ten}000000000|0"
            ),
            &row("/a%20b/%D0%B6", "/{text}/{text}", "200|6", ten),
            &row("/gone/1", "/gone/{number}", "404|153", ten),
            &row("/up/1", "/up/{number}", "502|157", ten),
            &row("/x\"y", "/x\"y", "200|6", eleven),
            &row("/", "/", "200|0", eleven).replace("GET", "HEAD"),
            &row(hash, placeholder, "200|6", eleven),
            "skipped [1, 0, 0]",
        ],
    );
    let json = "log_format json escape=json '{\"time\":\"$time_iso8601\",\"msec\":$msec,\"request\":\"$request\",'\n     '\"status\":$status,\"bytes\":$bytes_sent,\"agent\":\"$http_user_agent\",\"duration\":$request_time,\"upstream\":\"$upstream_addr\"}';";
    let found = read_log(Some(json), include_bytes!("../../fixtures/nginx-json.log"));
    assert!(
        found.contains(
            "GET|/up/1|User-Agent: curl/7.88.1\\r\\n||GET /up/{number}|502|314|1795703170995000000|0"
        ),
        "{found}"
    );
    assert!(found.ends_with("skipped [1, 0, 0]"), "{found}");
    let parts = "$msec $request_method \"$uri$is_args$args\" $status $upstream_addr $upstream_response_time $request_time";
    let found = read_log(Some(parts), include_bytes!("../../fixtures/nginx-parts.log"));
    for row in [
        "GET|/user/17?x=1|||GET /user/{number}|200||1795703170877000000|0",
        "GET|/user/18|||GET /user/{number}|200||1795703170898000000|0",
        "GET|/a%20b/%D0%B6|||GET /{text}/{text}|200||1795703170925000000|0",
        "GET|/up/1|||GET /up/{number}|502||1795703170995000000|0",
    ] {
        assert!(found.contains(row), "{found}");
    }
    let apache =
        "LogFormat \"%h %l %u %t \\\"%r\\\" %>s %b %D \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\"\" timed";
    check(
        apache,
        include_str!("../../fixtures/apache-timed.log"),
        &[
            "GET|/user/17?x=1|User-Agent: A \"quoted\" \\agent\\r\\n||GET /user/{number}|200|3|1795703204000000000|317000",
            &format!(
                "GET|/gone/6fa459eaee8a3ca4894edb77e160355e|Referer: http://shop.test/\\r\\n{agent}||GET /gone/{{hash}}|404|236|1795703204000000000|158000"
            ),
            &format!("GET|/a%20b|{agent}||GET /{{text}}|404|236|1795703204000000000|161000"),
            "skipped [1, 1, 0]",
        ],
    );
    let apache = "%{%d/%b/%Y:%T}t.%{usec_frac}t %{%z}t %m \"%U%q\" %>s %O %{ms}T";
    let found = read_log(Some(apache), include_bytes!("../../fixtures/apache-parts.log"));
    assert!(found.contains("GET|/a%20b|||GET /{text}|404|397|1795703204865016000|0"), "{found}");
    let apache = "%{end:usec}t %{us}T \"%r\" %>s %B";
    let found = read_log(Some(apache), include_bytes!("../../fixtures/apache-ends.log"));
    assert!(
        found.starts_with("GET|/user/17?x=1|||GET /user/{number}|200|3|1795703204727089000|317000"),
        "{found}"
    );
    check(
        "httplog",
        include_str!("../../fixtures/haproxy.log"),
        &[
            "GET|/user/17?x=1|||GET /user/{number}|200|194|1795703205299000000|2000000",
            "GET|/gone/6fa459eaee8a3ca4894edb77e160355e|||GET /gone/{hash}|404|396|1795703205336000000|8000000",
            "GET|/a%20b|||GET /{text}|404|396|1795703205368000000|4000000",
            "skipped [1, 1, 0]",
        ],
    );
}
