//! `pgdyno import`: experiment files from HTTP traffic

use crate::folder::{Folder, repository_file, text};
use std::fs;

/// Environment variables that the experiments of the fixtures need.
const SECRETS: [&str; 10] = [
    "ACCESS_TOKEN",
    "API_KEY",
    "BASIC_CREDENTIALS",
    "BEARER_TOKEN",
    "CSRF",
    "OTP",
    "PASSWORD",
    "X_API_KEY",
    "X_AUTH_TOKEN",
    "X_CSRF_TOKEN",
];

fn fixture(name: &str) -> String {
    let directory = repository_file("crates/traffic/fixtures/web");
    directory.join(name).display().to_string()
}

#[test]
fn writes_valid_experiments() {
    let folder = Folder::new("import-valid");
    for (number, name) in
        ["chrome.har", "firefox.har", "commands.curl", "pets.json", "pets.yaml"].iter().enumerate()
    {
        let source = fixture(name);
        for options in [&[][..], &["--by-request", "--with-assets"][..]] {
            let file = format!("shop-{number}-{}.yaml", options.len());
            let arguments = [&["import", &source, "-o", &file][..], options].concat();
            let written = text(&mut folder.command(&arguments), 0);
            assert!(written.contains(&format!("Wrote {file}")), "{written}");
            text(folder.command(&["check", &file]).envs(SECRETS.map(|name| (name, "x"))), 0);
            let again = text(&mut folder.command(&arguments), 2);
            assert!(again.contains("exists already; nothing was written"), "{again}");
        }
    }
}

#[test]
fn lists_secrets_and_what_is_left_out() {
    let folder = Folder::new("import-summary");
    let printed = text(&mut folder.command(&["import", &fixture("chrome.har"), "-o", "shop.yaml"]), 0);
    let file = fs::read_to_string(folder.0.join("shop.yaml")).expect("it was written");
    for text in [&printed, &file] {
        assert!(text.contains("PASSWORD: value of \"password\""), "{text}");
        assert!(text.contains("left out: to https://analytics.test"), "{text}");
        assert!(!text.contains("Pa$$w0rd-42") && !text.contains("s3ss10n-0123456789"), "{text}");
    }
    let other = ["import", &fixture("chrome.har"), "-o", "other.yaml", "--origin", "https://none.test"];
    let nothing = text(&mut folder.command(&other), 1);
    assert!(nothing.contains("no request can be part of an experiment"), "{nothing}");
}

/// Cookies are reported unless a response in the file sets them.
#[test]
fn reports_cookies_without_a_log_in() {
    let folder = Folder::new("import-cookies");
    let commands = "curl -b 'session=s3ss10n-77' http://127.0.0.1:8080/me\ncurl http://127.0.0.1:8080/\n";
    fs::write(folder.0.join("commands.txt"), commands).expect("there is room");
    let printed = text(&mut folder.command(&["import", "commands.txt", "-o", "cookies.yaml"]), 0);
    let file = fs::read_to_string(folder.0.join("cookies.yaml")).expect("it was written");
    for text in [&printed, &file] {
        assert!(text.contains("1 request has cookies that no response in the file sets"), "{text}");
        assert!(text.contains("\"session=${env:SESSION}\"") && !text.contains("s3ss10n-77"), "{text}");
    }
    let recorded = text(&mut folder.command(&["import", &fixture("chrome.har"), "-o", "shop.yaml"]), 0);
    assert!(!recorded.contains("cookies that no response"), "{recorded}");
}

#[test]
fn explains_what_cannot_be_read() {
    let folder = Folder::new("import-wrong");
    for (content, expected) in [
        ("no traffic", "neither a HAR file"),
        ("{\"log\": {\"entries\": [{}]}}", "`log.entries[0].request` is missing"),
        ("{\"log\":\n x", "line 2, column 2"),
        ("{\"swagger\": \"2.0\", \"paths\": {}}", "the version 2.0 of OpenAPI"),
        ("{\"log\": {\"entries\": []}}", "contains no request"),
    ] {
        fs::write(folder.0.join("wrong.har"), content).expect("there is room");
        let printed = text(&mut folder.command(&["import", "wrong.har", "-o", "new.yaml"]), 1);
        assert!(printed.contains(expected), "{printed}");
    }
}
