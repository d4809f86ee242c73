//! Experiments from HTTP traffic

use model::message::Message;
use std::path::Path;
use traffic::web::{WebExperiment, WebOptions, experiment, read};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/web/{name}"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn options() -> WebOptions {
    WebOptions { name: "shop".to_owned(), ..WebOptions::default() }
}

fn imported(name: &str, options: &WebOptions) -> WebExperiment {
    experiment(&read(&bytes(name)).expect("the fixture can be read"), options)
}

/// The experiment file with notes about what was left out.
fn file(experiment: &WebExperiment) -> String {
    let mut notes = vec![format!("{} requests, {} redirects", experiment.requests, experiment.redirects)];
    notes.extend(experiment.left_out.iter().map(|it| Message::from(it).describe()));
    notes.extend(experiment.skipped.iter().map(|it| Message::from(it).describe()));
    notes.extend(experiment.secrets.iter().map(|it| Message::from(it).describe()));
    experiment.file(&notes)
}

#[test]
fn a_session_of_chrome_can_be_replayed() {
    let experiment = imported("chrome.har", &options());
    expect_test::expect_file!["../fixtures/web/chrome.yaml"].assert_eq(&file(&experiment));
}

/// The first step has no pause, even if requests that are left out came before it.
#[test]
fn steps_after_the_first_have_pauses() {
    let entry = |second: u32, path: &str, kind: &str| {
        format!(
            r#"{{"startedDateTime": "2026-11-26T10:00:{second:02}.000Z", "time": 100, "_resourceType": "{kind}",
                "request": {{"method": "GET", "url": "http://a.test{path}"}},
                "response": {{"status": 200, "headers": [], "content": {{}}}}}}"#
        )
    };
    let entries =
        [entry(0, "/logo.png", "image"), entry(5, "/first", "document"), entry(8, "/second", "document")];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    let written = file(&experiment(&read(har.as_bytes()).expect("a HAR file"), &options()));
    let steps: Vec<&str> = written.lines().map(str::trim).filter(|it| it.starts_with(['g', 'p'])).collect();
    assert_eq!(steps, ["get: /first", "pause: 2900ms", "get: /second"], "{written}");
}

#[test]
fn requests_of_firefox_are_weighted() {
    let experiment = imported("firefox.har", &WebOptions { by_request: true, ..options() });
    expect_test::expect_file!["../fixtures/web/firefox.yaml"].assert_eq(&file(&experiment));
}

#[test]
fn each_curl_command_is_an_operation() {
    let experiment = imported("commands.curl", &options());
    expect_test::expect_file!["../fixtures/web/commands.yaml"].assert_eq(&file(&experiment));
}

#[test]
fn descriptions_in_json_and_yaml_are_skeletons() {
    for (name, expected) in [
        ("pets.json", expect_test::expect_file!["../fixtures/web/pets-json.yaml"]),
        ("pets.yaml", expect_test::expect_file!["../fixtures/web/pets-yaml.yaml"]),
    ] {
        expected.assert_eq(&file(&imported(name, &options())));
    }
}
