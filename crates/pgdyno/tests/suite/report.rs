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
        (&["--format", "xls"], 2, "possible values: html, md, json, junit, pdf, docx"),
        (&["--format", "pdf"], 2, "pdf is a format of documents"),
        (&["--document", "x.yaml"], 2, "--document needs --bind"),
        (&["--bind"], 2, "--bind needs the name of the document"),
        (&["--bind", "-o", "report"], 2, "the name report does not tell the format"),
        (&["--bind", "-o", "report.html", "--format", "md"], 2, "md is not a format of a document"),
        (&["--bind", "-o", "-", "--format", "docx"], 2, "docx cannot be written to standard output"),
        (&["--bind", "-o", "x.html", "--document", "/nowhere.yaml"], 2, "cannot read /nowhere.yaml"),
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

/// Binds the stored run and the run with index advice, with the given options.
fn bind(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    command.args(["report", "--bind"]).arg(fixtures().join("shop.dyno"));
    command.arg(fixtures().join("../advice/books.dyno")).args(args).env_remove("PGDYNO_LANG");
    command.output().expect("pgdyno runs")
}

#[test]
fn binds_runs_into_one_document() {
    let folder = env::temp_dir().join(format!("pgdyno-report-bind-{}", std::process::id()));
    fs::create_dir(&folder).expect("the directory can be created");
    let texts = folder.join("texts.yaml");
    let operations = "stack: { postgres: {} }\noperations: { a: { sql: SELECT 1 } }\n\
                      load: { model: closed, clients: 1, duration: 1s }\n";
    let document =
        "document: { title: Приёмка, language: ru, goals: '- *раз*\n\n- два', conclusions: принято }\n";
    fs::write(&texts, format!("{operations}{document}")).expect("the file can be written");
    let texts = texts.to_string_lossy().into_owned();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let written = |args: &[&str], out: &str| {
        let output = bind(&[args, &["-o", out]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{out}\n"));
        fs::read(out).expect("the document was written")
    };
    let text = |args: &[&str]| String::from_utf8(written(args, &file("a.html"))).expect("UTF-8");
    let plain = text(&[]);
    assert!(
        plain.contains("<html lang=\"en\">") && plain.contains("<h1>shop, books</h1>"),
        "{}",
        &plain[..2000]
    );
    assert!(plain.contains("1. Results") && !plain.contains("Goals"));
    // The file of the texts decides the language, unless the command line does.
    let russian = text(&["--document", &texts]);
    assert!(russian.contains("<html lang=\"ru\">") && russian.contains("<h1>Приёмка</h1>"));
    assert!(
        russian.contains("1. Цели") && russian.contains("<em>раз</em>") && russian.contains("<p>принято</p>")
    );
    let english = text(&["--document", &texts, "--lang", "en"]);
    assert!(english.contains("1. Goals") && english.contains("<p>принято</p>"));
    assert!(written(&[], &file("a.docx")).starts_with(b"PK\x03\x04"));
    // The format of the option precedes that of the name.
    assert!(written(&["--format", "docx"], &file("b.html")).starts_with(b"PK\x03\x04"));
    fs::remove_dir_all(&folder).expect("the test made the directory");
}

#[test]
fn prints_a_document_where_a_browser_exists() {
    let folder = env::temp_dir().join(format!("pgdyno-report-print-{}", std::process::id()));
    fs::create_dir(&folder).expect("the directory can be created");
    let out = folder.join("a.pdf");
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge"];
    let path = env::var_os("PATH").unwrap_or_default();
    let has_browser = env::split_paths(&path).any(|it| names.iter().any(|name| it.join(name).is_file()));
    let output = bind(&["-o", &out.to_string_lossy()]);
    let message = String::from_utf8_lossy(&output.stderr);
    if has_browser {
        assert!(output.status.success(), "{message}");
        let pdf = fs::read(&out).expect("the document was written");
        assert!(pdf.starts_with(b"%PDF-"));
        let text: String = pdf.iter().map(|byte| char::from(*byte)).collect();
        assert!(text.matches("/Type /Page\n").count() > 3 && text.contains("/Outlines"));
    } else {
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("apt install chromium"), "{message}");
        assert!(!out.exists());
    }
    fs::remove_dir_all(&folder).expect("the test made the directory");
}

#[test]
fn a_missing_browser_is_named_with_its_installation() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    command
        .args(["report", "--bind"])
        .arg(fixtures().join("shop.dyno"))
        .args(["-o", "/tmp/never-written.pdf"]);
    let output = command.env("PGDYNO_CHROMIUM", "/nowhere/chromium").output().expect("pgdyno runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("/nowhere/chromium") && message.contains("apt install chromium"), "{message}");
}

#[test]
fn several_runs_need_bind() {
    let output = pgdyno(&["last"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("several runs need --bind"), "{message}");
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
