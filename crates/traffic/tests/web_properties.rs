//! Properties of experiments from invented HTTP traffic

use model::message::Message;
use proptest::prelude::*;
use std::path::Path;
use traffic::web::{WebOptions, experiment, read};

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/web/{name}"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a file and writes its experiments, as far as it can be read.
fn import(bytes: &[u8]) -> Vec<String> {
    let traffic = match read(bytes) {
        Ok(traffic) => traffic,
        Err(error) => return vec![error.to_string()],
    };
    let mut files = Vec::new();
    for by_request in [false, true] {
        let name = "shop".to_owned();
        let options = WebOptions { name, by_request, with_assets: by_request, ..WebOptions::default() };
        let experiment = experiment(&traffic, &options);
        let mut notes: Vec<String> = Vec::new();
        notes.extend(experiment.left_out.iter().map(|it| Message::from(it).describe()));
        notes.extend(experiment.skipped.iter().map(|it| Message::from(it).describe()));
        notes.extend(experiment.secrets.iter().map(|it| Message::from(it).describe()));
        files.push(experiment.file(&notes));
    }
    files
}

/// Secrets with letters and digits, or with letters only.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof!["[A-Za-z0-9]{10,24}", "[a-z]{12,20}", "[A-Za-z0-9][A-Za-z0-9+/]{20,40}={0,2}"]
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("every text can be JSON")
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            match place <= chunk.len() {
                true => out.push(char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize])),
                false => out.push('='),
            }
        }
    }
    out
}

fn encoded(text: &str) -> String {
    model::percent_encode(text)
}

/// Entry of a HAR file with one header.
fn entry(
    method: &str,
    path: &str,
    header: (&str, &str),
    media_type: &str,
    body: &str,
    response: &str,
) -> String {
    format!(
        r#"{{"startedDateTime": "2026-11-26T10:00:00.000Z", "time": 5,
            "request": {{"method": "{method}", "url": {}, "headers": [
                {{"name": "{}", "value": {}}}, {{"name": "Content-Type", "value": {}}}], "postData": {{"text": {}}}}},
            "response": {{"status": 200, "headers": [], "content": {{"mimeType": "text/html", "text": {}}}}}}}"#,
        json(&format!("http://a.test{path}")),
        header.0,
        json(header.1),
        json(media_type),
        json(body),
        json(response)
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn secrets_do_not_occur(secrets in prop::collection::vec(secret(), 13), shown in any::<bool>()) {
        let [form, nested, query, bearer, key, cookie, graphql, multipart, xml, basic, custom, number, list] =
            <[String; 13]>::try_from(secrets).expect("the number is fixed");
        let number = number.bytes().fold(81u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))) % 1_000_000_000 + 1_000_000_000;
        let pair = base64(&format!("me:{basic}"));
        // A page that contains some of the secrets, so that they are captured.
        let page = match shown {
            true => format!("<meta name=\"bearer\" content=\"{bearer}\"><a href=\"/reset/{form}/abcd1234\">"),
            false => String::new(),
        };
        let form_type = "application/x-www-form-urlencoded";
        let entries = [
            entry("GET", "/", ("Cookie", &format!("sid={cookie}")), "", "", &page),
            entry("POST", "/x", ("A", "b"), "text/plain", &format!("again {form}, {xml}"), ""),
            entry("POST", "/login", ("A", "b"), form_type, &format!("user=me&pass%77ord={}", encoded(&form)), ""),
            entry("POST", "/json", ("A", "b"), "application/json", &format!(
                "{{\"a\": [{{\"clientSecret\": {}}}], \"otp\": {number}, \"tokens\": [{}], \"b\": {}}}",
                json(&nested), json(&list), json(&format!("see {nested} and {cookie}"))), ""),
            entry("GET", &format!("/q/{}?x=1&access_token={}", encoded(&form), encoded(&query)), ("A", "b"), "", "", ""),
            entry("GET", "/bearer", ("Authorization", &format!("Bearer {bearer}")), "", "", ""),
            entry("GET", "/basic", ("authorization", &format!("Basic {pair}")), "", "", ""),
            entry("GET", "/custom", ("Authorization", &custom), "", "", ""),
            entry("GET", "/key", ("X-Api-Key", &key), "", "", ""),
            entry("POST", "/graphql", ("A", "b"), "application/json", &format!(
                "{{\"query\": {}}}", json(&format!("mutation {{ login(password: \"{graphql}\") {{ id }} }}"))), ""),
            entry("POST", "/multipart", ("A", "b"), "multipart/form-data; boundary=b", &format!(
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n{multipart}\r\n--b--\r\n"), ""),
            entry("POST", "/xml", ("A", "b"), "text/xml", &format!("<a><password>{xml}</password></a>"), ""),
            entry("GET", &format!("/attempt/{}/abcd1234/{}", encoded(&form), encoded(&basic)), ("A", "b"), "", "", ""),
        ];
        let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
        let number = number.to_string();
        for file in import(har.as_bytes()) {
            prop_assert!(file.contains("/multipart") && file.contains("/graphql"), "{}", file);
            let all = [
                &form, &nested, &query, &bearer, &key, &cookie, &graphql, &multipart, &xml, &basic, &custom, &number, &list,
                &pair,
            ];
            for secret in all {
                prop_assert!(!file.contains(secret.as_str()) && !file.contains(&encoded(secret)), "{} in\n{}", secret, file);
            }
        }
        let quoted = format!("'{}'", form.replace('\'', ""));
        let curl = format!(
            "curl http://a.test/x -u me:{basic} -H 'X-Api-Key: {key}' -b sid={cookie} -d password={quoted}\n\
             curl 'http://a.test/y?token={}' --json '{{\"secret\": {}}}' -H \"Authorization: Bearer {bearer}\"\n\
             curl http://you:{}@a.test/z",
            encoded(&query), json(&nested), encoded(&custom)
        );
        for file in import(curl.as_bytes()) {
            prop_assert!(file.contains("post: /x") && file.contains("get: /z"), "{}", file);
            for secret in [&basic, &key, &cookie, &form, &query, &nested, &bearer, &custom] {
                prop_assert!(!file.contains(secret.as_str()) && !file.contains(&encoded(secret)), "{} in\n{}", secret, file);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        import(&bytes);
    }

    #[test]
    fn arbitrary_commands_do_not_panic(text in "(curl )?[a-z'\"$\\\\{}@:/#&= \n-]{0,80}") {
        import(text.as_bytes());
        import(format!("curl a.test {text}").as_bytes());
    }

    #[test]
    fn arbitrary_descriptions_do_not_panic(text in "[a-z{}\\[\\]:,&*\"'# \n-]{0,80}") {
        import(format!("openapi: 3.1.0\npaths:\n  /a:\n    get: {text}").as_bytes());
    }

    #[test]
    fn damaged_files_do_not_panic(
        name in prop::sample::select(vec!["chrome.har", "firefox.har", "commands.curl", "pets.json", "pets.yaml"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..40), 1..6),
    ) {
        let mut bytes = fixture(name);
        // Parts of the file replace other parts, so that many files remain valid JSON.
        for (from, to, length) in changes {
            let from = from.index(bytes.len());
            let part = bytes[from..bytes.len().min(from + length)].to_vec();
            let to = to.index(bytes.len());
            let end = bytes.len().min(to + length);
            bytes.splice(to..end, part);
        }
        import(&bytes);
    }

    /// Values of a HAR file may be of any type and contain any text.
    #[test]
    fn arbitrary_values_do_not_panic(
        url in "(https?|wss|data|x)?(://)?[a-zA-Z0-9\\[\\]@:.%$/?#&=é -]{0,40}",
        text in "[a-z<>\"'/=&{}\\[\\]:,$%\\\\ é\n-]{0,60}",
        status in prop_oneof![Just("200"), Just("302"), Just("-1"), Just("1e99"), Just("null"), Just("\"x\"")],
        time in "[0-9]{0,4}-?[0-9T:.Z+é-]{0,24}",
        media_type in prop::sample::select(vec!["text/html", "application/json", "text/javascript", "", "é"]),
    ) {
        let (url, text, time) = (json(&url), json(&text), json(&time));
        let entry = format!(
            r#"{{"startedDateTime": {time}, "time": {status}, "request": {{"method": "POST", "url": {url}, "headers": [
                {{"name": {text}, "value": {text}}}, {{"name": "authorization", "value": {text}}}, {{"name": "cookie", "value": {text}}}],
                "postData": {{"mimeType": "{media_type}", "text": {text}}}}}, "response": {{"status": {status}, "redirectURL": {url},
                "headers": [{{"name": "set-cookie", "value": {text}}}],
                "content": {{"mimeType": "{media_type}", "text": {text}}}}}}}"#
        );
        import(format!(r#"{{"log": {{"entries": [{entry}, {entry}]}}}}"#).as_bytes());
    }
}
