//! Stop rules and exit statuses of trials that end early

use super::workspace::{BARE, PGDYNO, RunOutput, Workspace, row, trials};
use model::fact::Fact;
use std::process::Command;
use std::time::Duration;
use store::RunStatus;

#[test]
fn a_stop_rule_ends_a_trial_with_its_reason() {
    let yaml = "
stack: { postgres: {} }
operations: { zero: { preflight: false, sql: SELECT 1 / 0 } }
load: { model: closed, clients: 2, duration: 10m }
matrix:
  way: { sql: { stop: [\"sql(22xxx,1,1)\"] }, limit: { stop: [\"limit(1s)\"] } }
";
    let workspace = Workspace::new("rules", yaml);
    let ended = workspace.run(&["--json"]);
    // A rule ended the trials, but nothing succeeded, which remains an error.
    let document = ended.expect(2).document();
    for (trial, status, reason) in trials(&workspace.stored()) {
        let (way, rule) = match trial.label[0].1.as_str() {
            "sql" => ("sql", "sql(22xxx,1,1)"),
            _ => ("limit", "limit(1s)"),
        };
        assert_eq!(status, RunStatus::Stopped, "{reason}");
        assert!(reason.starts_with(&format!("{rule} at second ")), "{reason}");
        let trial_status = &row(&document, way)["trials"][0]["status"];
        assert_eq!(
            (&trial_status["kind"], &trial_status["event"]["rule"]),
            (&"stopped".into(), &rule.into())
        );
    }
    // The same engine evaluates rules on the stored run, even if another rule ended the trial.
    let mut replay = Command::new(PGDYNO);
    replay.args(["runs", "stop", "last", "sql(22xxx,1,1)", "net(xx,1,1)"]).current_dir(&workspace.folder);
    let replayed =
        String::from_utf8(replay.output().expect("the program can be started").stdout).expect("words");
    for way in ["sql", "limit"] {
        for text in ["sql(22xxx,1,1) stopped the load after second 0", "net(xx,1,1) would not have fired"] {
            let line = format!("{way}, repeat 1: {text}");
            assert!(replayed.contains(&line), "{line} in\n{replayed}");
        }
    }
}

/// The reason of a failed trial is stored as a message, not in the language of the run.
#[test]
fn a_failed_trial_has_its_reason_in_the_language_of_the_report() {
    let yaml = "
stack: { postgres: {} }
operations: { zero: { preflight: false, sql: SELECT 1 / 0 } }
load: { model: closed, clients: 2, duration: 1s }
";
    let workspace = Workspace::new("language", yaml);
    let ended = workspace.run(&["--lang", "en"]);
    ended.expect(2);
    assert!(ended.err.contains("no transaction succeeded"), "{}", ended.err);
    for arguments in [&["runs", "show", "last", "--trials"][..], &["report", "last", "--format", "md"]] {
        let mut command = Command::new(PGDYNO);
        command.args(arguments).args(["--lang", "ru"]).current_dir(&workspace.folder);
        let shown = RunOutput::run(&mut command);
        assert!(shown.out.contains("ни одна транзакция не выполнена успешно"), "{}", shown.out);
        assert!(!shown.out.contains("no transaction succeeded"), "{}", shown.out);
    }
}

#[test]
fn broken_objectives_set_the_exit_status() {
    let workspace = Workspace::new("objectives", BARE);
    let slow = "operations.one.sql=SELECT pg_sleep(0.01)";
    for (objectives, status) in [
        ("[tps > 1, errors < 50%]", 0),
        ("[tps > 1, p99 < 1us]", 99),
        // Two clients complete at most 200 transactions, too few for the quantile.
        ("[tps > 1, p99.9 < 10s]", 4),
    ] {
        let set = format!("objectives={objectives}");
        workspace.run(&["--set", &set, "--set", slow]).expect(status);
    }
}

/// A stopped generator makes its own trial invalid.
#[test]
fn an_invalid_trial_is_an_error_with_strict() {
    let workspace = Workspace::new("invalid", &BARE.replace("duration: 1s", "duration: 3s"));
    for (arguments, status) in [(&["--json", "--strict"][..], 3), (&["--json"], 0)] {
        let mut running = workspace.spawn(arguments);
        running.await_trial(1);
        running.stop_for(Duration::from_millis(300));
        let ended = running.wait();
        let document = ended.expect(status).document();
        let trial = &document["matrix"]["rows"][0]["trials"][0];
        assert_eq!((&trial["status"]["kind"], &trial["valid"]), (&"done".into(), &false.into()), "{trial:#}");
        assert_ne!(trial["reasons"], serde_json::json!([]));
        let _ = std::fs::remove_dir_all(workspace.folder.join("runs"));
    }
}

#[test]
fn starts_nothing_if_the_file_is_invalid() {
    let workspace = Workspace::new("mistake", BARE);
    let ended = workspace.run(&["--set", "load.clinets=3"]);
    assert!(ended.err.contains("clients"), "{}", ended.err);
    ended.expect(2);
    assert!(!workspace.folder.join("runs").exists());
}

/// A rule on a series that the run never has is reported at the end.
#[test]
fn reports_a_rule_that_never_had_a_value() {
    let rules = "stop: [\"metric_higher(pooler, pg_backends, 1, 2)\", \"metric_higher(*, pg_backends, 100000, 2)\"]\n";
    let workspace = Workspace::new("blind", &(BARE.replace("1s", "2s") + rules));
    let ended = workspace.run(&[]);
    let warnings: Vec<&str> =
        ended.expect(0).err.lines().filter(|it| it.contains("was never evaluated")).collect();
    assert_eq!(warnings.len(), 1, "{}", ended.err);
    assert!(warnings[0].contains("metric_higher(pooler, pg_backends, 1, 2)"), "{}", ended.err);
    let facts = workspace.stored().facts().unwrap_or_else(|error| panic!("{error:?}"));
    let is_blind = |fact: &Fact| matches!(fact, Fact::Note(note) if note.message.id == "failure-blind-rule");
    assert_eq!(facts.iter().filter(|record| is_blind(&record.fact)).count(), 1, "{facts:?}");
}
