//! Files of `pgdyno export`, as read by other programs, and output of `pgdyno runs`

use crate::folder::Folder;
use crate::schema;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::summary::Script;
use model::{Code, EventKind, Interval, LogEvent, LogSession, Nanos, Sample, Tick};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use store::{RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader};

/// Run with two seconds of two operations. Each has 3 transactions of 1, 2 and 3 ms, and a deadlock.
fn run(name: &str) -> Folder {
    let folder = Folder::new(&format!("export-{name}"));
    let header = RunHeader {
        name: "book".to_owned(),
        text: String::new(),
        experiment: json!({"cells": [{}]}),
        machine: Value::Null,
        versions: Vec::new(),
        seed: 7,
        pgdyno_version: "0.1.0".to_owned(),
        begun_ms: 1_795_262_011_000,
    };
    let mut writer = store::create(&folder.0, &header).expect("there is room");
    let script = |name: &str| Script { name: name.to_owned(), weight: 1, commands: Vec::new() };
    let outcome = || RunOutcome { status: RunStatus::Complete, reason: None, ended_ms: 1_795_262_013_000 };
    let id = writer.begin_trial(TrialHeader {
        cell: 0,
        label: vec![("size".to_owned(), "=1".to_owned())],
        repetition: 0,
        position: 0,
        begun_ms: 1_795_262_011_000,
        operations: vec![script("read"), script("=write, all")],
        nodes: Vec::new(),
    });
    for second in 0..2 {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(100 + second), Nanos::from_secs(101 + second));
        for cell in &mut interval.scripts {
            cell.ok = 3;
            (1..=3).for_each(|ms| cell.response.record(Nanos::from_millis(ms)));
            cell.failed.count(Code::SqlState(*b"40P01"));
        }
        let sample = Sample {
            at: Nanos(5),
            node: "postgres".into(),
            series: "pg_active".into(),
            label: "-x".into(),
            value: -1.5,
        };
        writer.tick(id, Box::new(Tick { second, interval, in_flight: 0, samples: vec![sample] }));
    }
    let event = LogEvent {
        at: Nanos(9),
        node: "postgres".to_owned(),
        kind: EventKind::Deadlock,
        code: Some("40P01".to_owned()),
        text: "@deadlock \"x\"".to_owned(),
        session: Some(LogSession { application: "=app".to_owned(), client: "[local]".to_owned() }),
    };
    writer.events(id, vec![event]);
    writer
        .end_trial(id, TrialEnd { outcome: outcome(), summary: None, valid: Some(true), measurement: None });
    writer.finish(outcome()).expect("there is room");
    folder
}

/// Standard output of a command; for a failure, standard error and the exit status.
fn pgdyno(args: &[&str], dir: &Path) -> Result<String, (String, i32)> {
    let program = env!("CARGO_BIN_EXE_pgdyno");
    let done =
        Command::new(program).args(args).arg("--dir").arg(dir).output().expect("the program can be started");
    let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
    if done.status.success() {
        return Ok(text(done.stdout));
    }
    Err((text(done.stderr), done.status.code().expect("the program exited")))
}

fn export(folder: &Folder, format: &str) -> String {
    let out = folder.0.join("out");
    let args = ["export", "last", "--format", format, "--out", out.to_str().expect("the path is ASCII")];
    pgdyno(&args, &folder.0).expect("the run can be exported")
}

fn read(folder: &Folder, end: &str) -> String {
    let path = folder.0.join("out").join(format!("book-20261121T115331Z.{end}"));
    fs::read_to_string(path).expect(end)
}

#[test]
fn histogram_logs_can_be_read_by_hdrhistogram() {
    let folder = run("hlog");
    assert_eq!(export(&folder, "hlog").lines().count(), 1);
    let log = read(&folder, "trial-1.hlog");
    let mut found = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.expect("every line is understood") else { continue };
        let bytes = {
            use base64::Engine;
            base64::engine::general_purpose::STANDARD
                .decode(interval.encoded_histogram())
                .expect("the histogram is Base64")
        };
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).expect("the bytes are a histogram");
        let tag = interval.tag().expect("the interval has a tag").as_str().to_owned();
        found.push((
            tag,
            interval.start_timestamp().as_secs(),
            interval.duration().as_secs(),
            interval.max(),
            histogram.len(),
        ));
        assert!((2_998_000..3_002_000).contains(&histogram.max()), "{}", histogram.max());
    }
    let row = |tag: &str, second| (tag.to_owned(), second, 1, 3.0, 3);
    let tags = ["read", "=write__all"];
    let expected: Vec<_> = (0..2).flat_map(|second| tags.map(|tag| row(tag, second))).collect();
    assert_eq!(found, expected);
}

#[test]
fn csv_contains_no_formulas() {
    let folder = run("csv");
    assert_eq!(export(&folder, "csv").lines().count(), 5);
    let trial = "1,0,0,0,1795262011000,complete,true,size==1,valid";
    assert_eq!(read(&folder, "trials.csv").lines().nth(1), Some(trial));
    let ticks = read(&folder, "ticks.csv");
    let second =
        "1,0,100000000000,101000000000,\"'=write, all\",3,0,1,0,0,0,0,0,2000000,3000000,,,,,,,,,,,,,0";
    assert_eq!(ticks.lines().nth(2), Some(second), "three samples have no quantiles");
    assert!(ticks.lines().all(|it| it.replace(", all", "").split(',').count() == 28), "{ticks}");
    assert_eq!(read(&folder, "failures.csv").lines().nth(1), Some("1,0,read,failed,40P01,1"));
    assert_eq!(read(&folder, "samples.csv").lines().nth(1), Some("1,5,postgres,pg_active,'-x,-1.5"));
    let event = "1,9,postgres,deadlock,40P01,\"'@deadlock \"\"x\"\"\",'=app,[local]";
    assert_eq!(read(&folder, "events.csv").lines().nth(1), Some(event));
}

#[test]
fn json_contains_everything() {
    let folder = run("json");
    export(&folder, "json");
    let document: Value = serde_json::from_str(&read(&folder, "json")).expect("the text is JSON");
    schema::check(&document);
    let run = &document["run"];
    assert_eq!((&run["name"], &run["seed"], &run["status"]), (&json!("book"), &json!(7), &json!("complete")));
    let tick = &document["trials"][0]["ticks"][1];
    assert_eq!((&tick["second"], &tick["operations"][0]["ok"]), (&json!(1), &json!(3)));
    assert_eq!(tick["operations"][0]["failed"], json!({"40P01": 1}));
    assert_eq!(document["trials"][0]["verdict"], json!("valid"));
    assert_eq!(document["trials"][0]["samples"][1]["value"], json!(-1.5));
}

#[test]
fn json_of_stored_runs_conforms_to_schema() {
    let folder = run("fixtures");
    for (run, nodes) in [("runs/shop.dyno", 2), ("advice/books.dyno", 1)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(run);
        let out = folder.0.join("out");
        let [path, target] = [&path, &out].map(|path| path.to_str().expect("the path is UTF-8"));
        let written = pgdyno(&["export", path, "--format", "json", "--out", target], &folder.0);
        let written = written.expect("the run can be exported");
        let text = fs::read_to_string(written.trim_end()).expect("the file was written");
        let document: Value = serde_json::from_str(&text).expect("the text is JSON");
        schema::check(&document);
        assert_eq!(document["trials"][0]["nodes"].as_array().map(Vec::len), Some(nodes), "{run}");
    }
}

#[test]
fn lists_shows_and_removes_runs() {
    let folder = run("list");
    let name = "book-20261121T115331Z";
    let size =
        fs::metadata(folder.0.join(format!("{name}.dyno"))).expect("the file exists").len() as f64 / 1024.0;
    let list = format!(
        "NAME                   WHEN (UTC)        CELLS  TRIALS  STATUS         SIZE\n\
         {name}  2026-11-21 11:53      1       1  complete  {size:.1} KiB\n"
    );
    assert_eq!(pgdyno(&["runs"], &folder.0), Ok(list.clone()));
    let shown = pgdyno(&["runs", "show", "book"], &folder.0).expect("the run exists");
    assert!(!shown.contains("\nTRIAL "), "{shown}");
    // The result cannot be computed from an experiment without labels.
    let (message, status) = pgdyno(&["runs", "show", "book", "--json"], &folder.0).expect_err("no result");
    assert_eq!(status, 1, "{message}");
    assert!(message.contains("was written by another version of pgdyno: missing field `label`"), "{message}");
    let shown = pgdyno(&["runs", "show", "book", "--trials"], &folder.0).expect("the run exists");
    assert!(
        shown.contains("\nTRIAL  CELL  REPEAT  STATUS    VERDICT  SECONDS  TPS  P99  ERRORS  SETTING\n"),
        "{shown}"
    );
    assert!(
        shown.contains("    1     1       1  complete  valid          2                    size==1\n"),
        "{shown}"
    );
    let unknown = format!(
        "pgdyno runs: error: there is no run \"shop\" in {}\npgdyno runs: hint: the runs, the newest first: {name}\n",
        folder.0.display()
    );
    for (args, message) in [
        (["runs", "remove", "book"], "pgdyno runs: error: there is no run \"book\"\n"),
        (["runs", "show", "shop"], &unknown),
    ] {
        assert_eq!(pgdyno(&args, &folder.0), Err((message.to_owned(), 1)));
    }
    assert_eq!(pgdyno(&["runs", "list"], &folder.0), Ok(list), "nothing was removed");
    pgdyno(&["runs", "remove", name], &folder.0).expect("the run exists");
    let empty = format!("no runs in {}\n", folder.0.display());
    assert_eq!(pgdyno(&["runs"], &folder.0), Ok(empty));
}

/// A file that could be written only in part is named, and so is its incompleteness.
#[test]
fn incomplete_files_are_reported() {
    let folder = run("full");
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let dir = folder.0.to_str().expect("the path is ASCII");
    for arguments in [
        &["export", "last", "--format", "csv", "--out", dir][..],
        &["export", "last", "--format", "json", "--out", dir],
        &["export", "last", "--format", "hlog", "--out", dir],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_pgdyno")]).args(arguments).args(["--dir", dir]);
        let done = command.current_dir(&folder.0).output().expect("sh can be run");
        let message = String::from_utf8(done.stderr).expect("the output is UTF-8");
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains(" is incomplete: File too large"), "{arguments:?}: {message}");
        assert!(message.contains("/book-20261121T115331Z."), "{arguments:?}: {message}");
    }
}
