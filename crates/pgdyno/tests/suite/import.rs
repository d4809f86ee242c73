//! `pgdyno import`: experiment files from HTTP traffic

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");
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

/// Directory that is removed with its contents on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pgdyno-import-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is room for temporary files");
        Folder(path)
    }

    fn pgdyno(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PGDYNO);
        command.args(arguments).current_dir(&self.0).env_remove("PGDYNO_LANG").stdin(Stdio::null());
        command.envs(SECRETS.map(|name| (name, "x")));
        command.output().expect("the program can be started")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    root.join("crates/traffic/fixtures/web").join(name).display().to_string()
}

fn text(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

#[test]
fn writes_valid_experiments() {
    let folder = Folder::new("valid");
    for (number, name) in
        ["chrome.har", "firefox.har", "commands.curl", "pets.json", "pets.yaml"].iter().enumerate()
    {
        let source = fixture(name);
        for options in [&[][..], &["--by-request", "--with-assets"][..]] {
            let file = format!("shop-{number}-{}.yaml", options.len());
            let arguments = [&["import", &source, "-o", &file][..], options].concat();
            let written = text(&folder.pgdyno(&arguments), 0);
            assert!(written.contains(&format!("Wrote {file}")), "{written}");
            text(&folder.pgdyno(&["check", &file]), 0);
            let again = text(&folder.pgdyno(&arguments), 2);
            assert!(again.contains("exists already; nothing was written"), "{again}");
        }
    }
}

#[test]
fn lists_secrets_and_what_is_left_out() {
    let folder = Folder::new("summary");
    let printed = text(&folder.pgdyno(&["import", &fixture("chrome.har"), "-o", "shop.yaml"]), 0);
    let file = fs::read_to_string(folder.0.join("shop.yaml")).expect("it was written");
    for text in [&printed, &file] {
        assert!(text.contains("PASSWORD: value of \"password\""), "{text}");
        assert!(text.contains("left out: to https://analytics.test"), "{text}");
        assert!(!text.contains("Pa$$w0rd-42") && !text.contains("s3ss10n-0123456789"), "{text}");
    }
    let other = ["import", &fixture("chrome.har"), "-o", "other.yaml", "--origin", "https://none.test"];
    let nothing = text(&folder.pgdyno(&other), 1);
    assert!(nothing.contains("no request can be part of an experiment"), "{nothing}");
}

#[test]
fn explains_what_cannot_be_read() {
    let folder = Folder::new("wrong");
    for (content, expected) in [
        ("no traffic", "neither a HAR file"),
        ("{\"log\": {\"entries\": [{}]}}", "`log.entries[0].request` is missing"),
        ("{\"log\":\n x", "line 2, column 2"),
        ("{\"swagger\": \"2.0\", \"paths\": {}}", "the version 2.0 of OpenAPI"),
        ("{\"log\": {\"entries\": []}}", "contains no request"),
    ] {
        fs::write(folder.0.join("wrong.har"), content).expect("there is room");
        let printed = text(&folder.pgdyno(&["import", "wrong.har", "-o", "new.yaml"]), 1);
        assert!(printed.contains(expected), "{printed}");
    }
}
