//! Contents of the list of runs

use super::client::{Response, Server, WAIT_TIMEOUT, measured};
use super::growing_run::GrowingRun;
use serde_json::Value;
use std::fs;
use std::time::Instant;

/// The list after all summaries were read.
fn list(server: &Server, language: &str) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let Response { status, body, .. } =
            server.ask("GET /runs.json", &[&format!("Accept-Language: {language}")]);
        assert_eq!(status, 200, "{body}");
        let mut response: Value = serde_json::from_str(&body).expect("the text is JSON");
        if response["partial"] == false {
            return response["runs"].as_array_mut().map(std::mem::take).expect("runs");
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{body}");
    }
}

/// Sentence at the top of the run's page.
fn answer(server: &Server, language: &str) -> (String, String) {
    let document = server.ask("GET /runs/shop/document", &[&format!("Accept-Language: {language}")]);
    let document: Value = serde_json::from_str(&document.body).expect("the text is JSON");
    let page = document["pages"].as_array().and_then(|pages| pages.iter().find(|it| it["lang"] == language));
    let text = |it: &Value| it.as_str().expect("the value is a string").to_owned();
    let summary = page.map(|it| &it["overview"]["summary"]).expect("the page has this language");
    (text(&summary["text"]), text(&summary["tone"]))
}

#[test]
fn list_shows_the_answer_of_each_run() {
    let server = Server::new();
    for language in ["en", "ru"] {
        let (text, tone) = answer(&server, language);
        assert!(!text.is_empty());
        for _ in 0..2 {
            let runs = list(&server, language);
            assert_eq!(runs.len(), 1, "{runs:?}");
            assert_eq!(
                (&runs[0]["headline"], &runs[0]["tone"]),
                (&text.clone().into(), &tone.clone().into())
            );
        }
    }
}

#[test]
fn list_shows_the_progress_of_a_run() {
    let server = Server::new();
    let mut written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    written.trial(2);
    let begun = Instant::now();
    loop {
        let runs = list(&server, "en");
        let run = runs.iter().find(|run| run["name"] == written.name.as_str()).expect("the run is listed");
        let headline = run["headline"].as_str().expect("the progress is text");
        assert!(headline.starts_with("Trial 1 of 6 ") && headline.ends_with(" left"), "{headline}");
        if headline.contains("has been measured for 2 s") {
            break;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{headline}");
    }
}

/// The language that the reader chose takes precedence over the browser's.
#[test]
fn a_cookie_selects_the_language() {
    let server = Server::new();
    for (cookie, expected) in [
        ("pgdyno-lang=ru", "ru"),
        ("other=1; pgdyno-lang=ru; more=2", "ru"),
        ("pgdyno-lang=xx", "en"),
        ("pgdyno-lang", "en"),
        ("not-pgdyno-lang=ru", "en"),
    ] {
        let headers = ["Accept-Language: en".to_owned(), format!("Cookie: {cookie}")];
        let list = server.ask("GET /runs.json", &headers.each_ref().map(String::as_str));
        let list: Value = serde_json::from_str(&list.body).expect("the text is JSON");
        assert_eq!(list["lang"], expected, "{cookie}");
        assert_eq!(list["languages"], serde_json::json!([["en", "English"], ["ru", "Русский"]]));
    }
}

#[test]
fn addresses_accept_other_names_of_runs() {
    let server = Server::new();
    for (path, location) in [
        ("/runs/last", Some("/runs/shop")),
        ("/runs/sho", Some("/runs/shop")),
        ("/runs/last~1", None),
        ("/runs/last/document", None),
    ] {
        let answer = server.ask(&format!("GET {path}"), &[]);
        assert_eq!(answer.status, if location.is_some() { 303 } else { 404 }, "{path}: {answer:?}");
        assert_eq!(answer.header("location"), location, "{path}");
    }
    for (query, status) in [("base=last&run=sho", 200), ("base=last~1&run=shop", 404)] {
        let answer = server.ask(&format!("GET /compare?{query}"), &[]);
        assert_eq!(answer.status, status, "{query}: {answer:?}");
    }
}

#[test]
fn rereads_a_changed_file() {
    let server = Server::new();
    let (text, _) = answer(&server, "en");
    assert_eq!(list(&server, "en")[0]["headline"], text);
    fs::write(server.folder.join("runs/shop.dyno"), "no run").expect("the file can be written");
    let runs = list(&server, "en");
    assert_eq!((&runs[0]["state"], &runs[0]["tone"]), (&"unreadable".into(), &"bad".into()), "{runs:?}");
    assert_ne!(runs[0]["headline"], text);
}

/// A file whose query never ends is listed with the reason, and does not affect others.
#[test]
fn a_hostile_file_does_not_block_others() {
    let server = Server::new();
    let path = server.folder.join("runs/hostile.dyno");
    fs::copy(server.folder.join("runs/shop.dyno"), &path).expect("the file can be copied");
    let sql = "ALTER TABLE run RENAME TO former; CREATE VIEW run AS WITH RECURSIVE n(i) AS
        (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT former.* FROM former, n WHERE i > 1e18";
    rusqlite::Connection::open(&path).and_then(|it| it.execute_batch(sql)).expect("the file is a database");
    for _ in 0..2 {
        let runs = list(&server, "en");
        let one = |name: &str| runs.iter().find(|it| it["name"] == name).expect(name);
        assert_eq!(one("shop")["state"], "complete", "{runs:?}");
        assert_eq!(one("hostile")["state"], "unreadable", "{runs:?}");
        let headline = one("hostile")["headline"].as_str().unwrap_or_default();
        assert!(headline.contains("the view \"run\" in it is not as pgdyno makes it"), "{headline}");
    }
    server.assert_healthy();
    for path in ["document", "events", "report.html"] {
        let answer = server.ask(&format!("GET /runs/hostile/{path}"), &[]);
        assert!(answer.body.contains("is not as pgdyno makes it"), "{path}: {answer:?}");
    }
}
