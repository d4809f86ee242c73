//! Output of `pgdyno report` for a stored run, in every format and language
//!
//! The run is in `fixtures/runs`; `UPDATE_EXPECT=1` rewrites the expected output.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno").join("fixtures/runs")
}

fn pgdyno(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    command.arg("report").arg(fixtures().join("shop.dyno")).args(args).env_remove("PGDYNO_LANG");
    command.output().expect("pgdyno runs")
}

#[track_caller]
fn printed(args: &[&str]) -> String {
    let output = pgdyno(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn golden(name: &str, got: &str) {
    expect_file![fixtures().join("expected").join(name)].assert_eq(got);
}

#[test]
fn reports_a_run_in_both_languages() {
    for lang in ["en", "ru"] {
        golden(&format!("shop.{lang}.md"), &printed(&["--format", "md", "--lang", lang]));
        let text = printed(&["--format", "json", "--lang", lang]);
        let data: serde_json::Value = serde_json::from_str(&text).expect("the text is JSON");
        assert_eq!(data["page"]["lang"], lang);
        assert_eq!(data["matrix"]["rows"].as_array().map(Vec::len), Some(3));
        assert!(data["findings"].as_array().is_some_and(|it| !it.is_empty()));
        let page = serde_json::to_string_pretty(&data["page"]).expect("the page is JSON") + "\n";
        golden(&format!("shop.{lang}.json"), &page);
    }
    golden("shop.xml", &printed(&["--format", "junit"]));
}

#[test]
fn writes_one_html_file() {
    let folder = env::temp_dir().join(format!("pgdyno-report-{}", std::process::id()));
    fs::create_dir(&folder).expect("the directory can be created");
    let file = folder.join("a page.html");
    let output = printed(&["--lang", "ru", "--out", &file.to_string_lossy()]);
    let page = fs::read_to_string(&file);
    // Without --out, the file has the name of the run.
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    command.args(["report", "--lang", "ru"]).arg(fixtures().join("shop.dyno")).current_dir(&folder);
    let default_output = command.output().expect("pgdyno runs");
    let same = fs::read_to_string(folder.join("shop.html"));
    fs::remove_dir_all(&folder).expect("the test made the directory");
    let page = page.expect("the page was written");
    assert_eq!(output, format!("{}\n", file.display()));
    assert_eq!(String::from_utf8_lossy(&default_output.stdout), "shop.html\n");
    assert_eq!(same.expect("the page was written"), page);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"ru\">"));
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;;"));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert_eq!(printed(&["--lang", "ru", "--out", "-"]), page);
}

#[test]
fn does_not_overwrite_the_run_file() {
    let place = env::temp_dir().join(format!("pgdyno-report-over-{}", std::process::id()));
    fs::create_dir_all(place.join("more")).expect("the directory can be created");
    let run = place.join("shop.dyno");
    let before = fs::read(fixtures().join("shop.dyno")).expect("the file can be read");
    fs::write(&run, &before).expect("the file can be written");
    std::os::unix::fs::symlink(&run, place.join("link")).expect("the link can be created");
    fs::hard_link(&run, place.join("hard")).expect("there is room");
    for out in ["shop.dyno", "more/../shop.dyno", "link", "hard"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
        let output = command
            .arg("report")
            .arg(&run)
            .arg("--out")
            .arg(place.join(out))
            .output()
            .expect("the program can be started");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{out}: {message}");
        assert!(message.contains("is the run itself"), "{message}");
        assert_eq!(fs::read(&run).expect("the file can be read"), before);
    }
    // A link that has the default name of a report is not followed.
    fs::write(place.join("precious"), "precious").expect("the file can be written");
    std::os::unix::fs::symlink(place.join("precious"), place.join("shop.html"))
        .expect("the link can be created");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    let output =
        command.current_dir(&place).arg("report").arg(&run).output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(place.join("precious")).expect("the file can be read"), "precious");
    fs::remove_dir_all(&place).expect("the test made the directory");
}

#[test]
fn reports_errors_with_status() {
    for (args, status, words) in [
        (&["--lang", "tlh"][..], 2, "unknown language \"tlh\""),
        (&["--format", "pdf"], 2, "possible values: html, md, json, junit"),
        (
            &["--out", "/nowhere/at/all.html"],
            1,
            "cannot write /nowhere/at/all.html: No such file or directory",
        ),
    ] {
        let output = pgdyno(args);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(message.contains(words), "{message}");
    }
}

/// A report that could be written only in part is named.
#[test]
fn incomplete_reports_are_named() {
    let folder = env::temp_dir().join(format!("pgdyno-report-full-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the directory can be created");
    // With SIGXFSZ ignored, a write beyond the limit fails with an error, as on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" report \"$@\"";
    for format in ["html", "md", "json", "junit"] {
        let mut command = Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_pgdyno")]).arg(fixtures().join("shop.dyno"));
        let output = command.args(["--format", format, "--out", "page"]).current_dir(&folder).output();
        let output = output.expect("sh can be run");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{format}: {message}");
        assert!(message.contains("page is incomplete: File too large"), "{format}: {message}");
    }
    fs::remove_dir_all(&folder).expect("the test made the directory");
}
