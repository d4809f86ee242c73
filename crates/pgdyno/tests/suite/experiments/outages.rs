//! Servers that do not answer and statements that always fail are reported

use super::workspace::{PGDYNO, Workspace, counts, retry_until, trials};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use store::RunStatus;

#[test]
fn fails_a_trial_in_which_no_statement_succeeds() {
    for (statement, code, words) in [
        ("SELEC 1", "42601", "syntax error at or near \"SELEC\""),
        ("SELECT * FROM no_such_table", "42P01", "relation \"no_such_table\" does not exist"),
        ("SELECT 1 / 0", "22012", "division by zero"),
    ] {
        let yaml = format!(
            "
stack: {{ postgres: {{}} }}
operations: {{ wrong: {{ preflight: false, sql: '{statement}' }} }}
load: {{ model: closed, clients: 2, duration: 1s }}
"
        );
        let workspace = Workspace::new("wrong", &yaml);
        let ended = workspace.run(&[]);
        ended.expect(2);
        let (_, status, reason) = trials(&workspace.stored()).remove(0);
        let expected = format!("no transaction succeeded: {code} {words}");
        assert_eq!((status, reason.as_str()), (RunStatus::Failed, expected.as_str()), "{}", ended.err);
        let page = page(&workspace);
        assert!(page.contains("No answer: its one trial does not count") && page.contains(code), "{page}");
        assert!(!page.contains("valid"), "{page}");
    }
}

#[test]
fn an_operation_that_never_succeeds_fails_the_trial() {
    let yaml = "
stack: { postgres: {} }
operations: { right: { sql: SELECT 1 }, wrong: { preflight: false, sql: SELECT 1 / 0 } }
load: { model: closed, clients: 2, duration: 1s }
";
    let workspace = Workspace::new("mixed", yaml);
    let ended = workspace.run(&["--json"]);
    let reason =
        |text: &str| text.contains("operation wrong: none of ") && text.contains("22012 division by zero");
    let document = ended.expect(2).document();
    let status = &document["matrix"]["rows"][0]["trials"][0]["status"];
    assert_eq!((&status["kind"], &status["reason"]["id"]), (&"failed".into(), &"failure-operation".into()));
    assert!(status.to_string().contains("22012 division by zero"), "{document:#}");
    let (_, status, stored) = trials(&workspace.stored()).remove(0);
    assert!(status == RunStatus::Failed && reason(&stored), "{status:?} {stored}");
    assert!(reason(&page(&workspace)), "{}", ended.err);
    let mut report = Command::new(PGDYNO);
    report.args(["report", "last", "--format", "junit"]).current_dir(&workspace.folder);
    let junit = report.output().expect("the program can be started");
    assert!(reason(&String::from_utf8_lossy(&junit.stdout)), "{junit:?}");
}

/// Clients whose script cannot continue change the load, so the trial fails with the reason.
#[test]
fn a_load_that_clients_give_up_fails_its_trial() {
    let mixed =
        "{ good: { weight: 9, sql: SELECT 1 }, bad: { weight: 1, preflight: false, sql: SELECT nocolumn } }";
    let rare =
        r#"{ rare: { sql: "\\set r random(1, 50)\n\\if :r = 1\n\\set r 1 / 0\n\\endif\nSELECT :r;" } }"#;
    let closed = "{ model: closed, clients: 4, duration: 2s }";
    let open = "{ model: open, schedule: \"const(200, 2s)\", max_in_flight: 4 }";
    let division = "38000 division by zero";
    for (operations, load, expected) in [
        (mixed, closed, "42703 column \"nocolumn\" does not exist"),
        (mixed, open, "42703 column \"nocolumn\" does not exist"),
        (rare, closed, division),
        (rare, open, division),
    ] {
        let yaml = format!(
            "
stack: {{ postgres: {{}} }}
operations: {operations}
load: {load}
objectives: [ \"errors < 1%\" ]
"
        );
        let workspace = Workspace::new("given-up", &yaml);
        let ended = workspace.run(&[]);
        ended.expect(2);
        let (_, status, reason) = trials(&workspace.stored()).remove(0);
        assert_eq!(status, RunStatus::Failed, "{reason}");
        assert!(reason.contains(" of 4 clients aborted") && reason.contains(expected), "{reason}");
        let page = page(&workspace);
        assert!(
            page.contains("No answer: its one trial does not count") && page.contains("aborted"),
            "{page}"
        );
        if load == open {
            let outcome = counts(&workspace.stored(), 1);
            assert_eq!(
                outcome.ok + outcome.failed + outcome.unknown + outcome.dropped,
                400,
                "an arrival without a client is dropped: {outcome:?}"
            );
        }
    }
}

/// An open transaction holds its locks and is rolled back in the end, so it is no success.
#[test]
fn a_transaction_that_stays_open_is_no_success() {
    let yaml = "
stack: { postgres: {} }
operations: { open: { preflight: false, sql: \"BEGIN; SELECT 1;\" } }
load: { model: closed, clients: 2, duration: 1s }
";
    let workspace = Workspace::new("open", yaml);
    workspace.run(&[]).expect(2);
    let (_, status, reason) = trials(&workspace.stored()).remove(0);
    let expected =
        "no transaction succeeded: 38000 end of script reached without completing the last transaction";
    assert_eq!((status, reason.as_str()), (RunStatus::Failed, expected));
}

/// Many short freezes are as bad as a long one. The terminal reports them even without an objective.
#[test]
fn short_freezes_are_reported_and_violate_objectives() {
    let yaml = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 4, duration: 8s }
";
    for (objectives, status) in [("[]", 0), ("[p99 < 100ms]", 99)] {
        let workspace = Workspace::new("freezes", yaml);
        let mut running = workspace.spawn(&["--set", &format!("objectives={objectives}")]);
        running.await_trial(1);
        let server = workspace.process("postgres");
        let stopped = children(server);
        for second in 2..6 {
            stopped.iter().for_each(|it| _ = kill_process(*it, Signal::STOP));
            std::thread::sleep(std::time::Duration::from_millis(850));
            stopped.iter().for_each(|it| _ = kill_process(*it, Signal::CONT));
            retry_until("the next second", || match counts(&workspace.stored(), 1).seconds {
                seconds if seconds >= second => Ok(()),
                seconds => Err(format!("{seconds} seconds")),
            });
        }
        let ended = running.wait();
        ended.expect(status);
        assert!(ended.err.contains("no transaction succeeded for "), "{}", ended.err);
        assert!(ended.out.contains("! no transaction succeeded for "), "{}", ended.out);
        assert!(!ended.out.contains("nothing is full"), "{}", ended.out);
    }
}

/// The server's processes are stopped from the first to the last second of the trial. In both models, the objectives
/// are violated, and the answer reports it.
#[test]
fn a_stopped_server_breaks_objectives_in_both_models() {
    let closed = "{ model: closed, clients: 4, duration: 6s }";
    let open = "{ model: open, schedule: \"const(500, 6s)\", max_in_flight: 4 }";
    for load in [closed, open] {
        let yaml = format!(
            "
stack: {{ postgres: {{}} }}
operations: {{ one: {{ sql: SELECT 1 }} }}
load: {load}
objectives: [ \"p99 < 500ms\", \"errors < 100%\" ]
"
        );
        let measure = || {
            let workspace = Workspace::new("frozen", &yaml);
            let mut running = workspace.spawn(&[]);
            running.await_trial(1);
            let server = workspace.process("postgres");
            let stopped = children(server);
            let all = |signal| stopped.iter().for_each(|it| _ = kill_process(*it, signal));
            all(Signal::STOP);
            retry_until("the window is over", || match counts(&workspace.stored(), 1).seconds {
                5.. => Ok(()),
                seconds => Err(format!("{seconds} seconds")),
            });
            all(Signal::CONT);
            let ended = running.wait();
            ended.expect(99);
            page(&workspace)
        };
        // On a busy host, the generator may be late, and the trial does not count. At most three attempts.
        let mut page = measure();
        for _ in 0..2 {
            if page.contains("the generator was late") {
                page = measure();
            }
        }
        assert!(page.contains("p99 &lt; 500ms: VIOLATED in 1 trial"), "{page}");
        assert!(page.contains("no transaction succeeded for "), "{page}");
    }
}

/// Child processes.
fn children(parent: Pid) -> Vec<Pid> {
    let number = parent.as_raw_nonzero();
    let list = std::fs::read_to_string(format!("/proc/{number}/task/{number}/children"))
        .expect("the file can be read");
    list.split_whitespace().filter_map(|it| Pid::from_raw(it.parse().ok()?)).collect()
}

fn page(workspace: &Workspace) -> String {
    let mut shown = Command::new(PGDYNO);
    shown.args(["report", "last", "--format", "md"]).current_dir(&workspace.folder);
    String::from_utf8(shown.output().expect("the program can be started").stdout)
        .expect("the output is UTF-8")
}
