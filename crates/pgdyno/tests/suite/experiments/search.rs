//! Search for the maximum of a known system: two server connections that each sleep for 10 ms

use super::workspace::{Workspace, trials};
use model::fact::Fact;
use model::plan::LoadScale;
use model::search::{SearchStep, StepPurpose};
use rustix::process::Signal;
use serde_json::Value;
use store::{Run, RunStatus};

/// Upper bound in transactions per second on any machine; a busy one delivers less.
const CAPACITY: f64 = 200.0;

const POOL: &str = "
stack: { pooler: { kind: pgbouncer, mode: transaction, size: 2 }, postgres: {} }
operations: { sleep: { sql: SELECT pg_sleep(0.01) } }
load: { model: open, max_in_flight: 60, arrivals: even }
objectives: [ \"p90 < 400ms\" ]
find: { max: { from: 30, limit: 1000, window: 3s, hold: 3s, precision: 25% } }
";

fn steps(run: &Run) -> Vec<SearchStep> {
    let facts = run.facts().expect("they can be read").into_iter();
    let steps = facts.filter_map(|record| match record.fact {
        Fact::SearchStep(step) => Some(step),
        _ => None,
    });
    steps.collect()
}

fn level(step: &Value) -> Option<f64> {
    step["step"]["level"].as_f64()
}

/// The search is interrupted in its third step, and finds the capacity after it is resumed.
#[test]
fn finds_the_capacity_although_it_is_interrupted() {
    let workspace = Workspace::new("resumed", POOL);
    let mut running = workspace.spawn(&[]);
    running.await_trial(3);
    running.signal(Signal::INT);
    running.wait().expect(2);
    let before = steps(&workspace.stored());
    assert_eq!(before.len(), 3);
    let first = &before[0];
    assert_eq!((first.level, first.purpose, first.scale), (30.0, StepPurpose::Ramp, LoadScale::Rate));
    let file = workspace.stored().path().display().to_string();
    let mut resume = std::process::Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    resume.args(["run", "--resume", &file, "--json"]).env("TMPDIR", workspace.folder.join("tmp"));
    let ended = super::workspace::RunOutput::run(&mut resume);
    let answer = &ended.document()["maxima"][0]["answer"];
    ended.expect(if answer["level"].is_null() { 4 } else { 0 });
    // A busy machine may yield a reason instead of an answer, but never too high an answer.
    match answer["level"].as_f64() {
        Some(level) => assert!((30.0..CAPACITY * 1.15).contains(&level), "{answer:#}"),
        None => assert!(!answer["stop_reason"].is_null(), "{answer:#}"),
    }
    let run = workspace.stored();
    assert_eq!(run.path().display().to_string(), file, "the resumed run is in the same file");
    assert_eq!(run.state().expect("the run can be read").status(), Some(RunStatus::Complete));
    let after = steps(&run);
    assert_eq!(after[..3], before[..], "completed trials are kept");
    assert_eq!(after[3], before[2], "the step that was cut short is taken again");
    let ended: Vec<RunStatus> = trials(&run).into_iter().map(|it| it.1).collect();
    assert_eq!(
        ended[..4],
        [RunStatus::Complete, RunStatus::Complete, RunStatus::Interrupted, RunStatus::Complete]
    );
    let document: Value =
        serde_json::from_str(&runs_show_output(&workspace, &file)).expect("the text is JSON");
    let maximum = &document["maxima"][0];
    assert_ne!(maximum["cause"]["kind"], "proven", "no setting was changed");
    let reported = maximum["steps"].as_array().expect("the value is an array");
    assert_eq!(reported.len(), after.len() - 1, "the interrupted step has no result");
    let failed = reported.iter().filter(|it| it["outcome"]["kind"] == "not_sustained").filter_map(level);
    let held = reported.iter().filter(|it| it["outcome"]["kind"] == "sustained").filter_map(level);
    if let (Some(most), Some(least)) = (held.reduce(f64::max), failed.reduce(f64::min)) {
        assert!(most >= 30.0 && least < 4.0 * CAPACITY, "{most} held, {least} did not");
    }
    workspace.await_cleanup();
}

/// Output of `runs show`.
fn runs_show_output(workspace: &Workspace, file: &str) -> String {
    let mut show = std::process::Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    let out = show.args(["runs", "show", file, "--json"]).current_dir(&workspace.folder).output();
    String::from_utf8(out.expect("the program can be started").stdout).expect("UTF-8")
}
