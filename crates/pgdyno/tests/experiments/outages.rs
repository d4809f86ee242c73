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

/// All wrong statements are reported at once, with their lines. No trial begins, and no run is stored.
#[test]
fn rejects_statements_before_the_first_trial() {
    let operations = r#"
  relation:
    sql: |
      \set id random(1, 10)
      SELECT name
        FROM book.ticket
       WHERE id = :id;
  column: { sql: "SELECT id, nmae FROM book.tickets;" }
  syntax: { sql: "SELEC 1" }
  function: { sql: "SELECT no_such_function(1)" }
  literal: { sql: "SELECT 1 WHERE 2 = 'x'" }
  second: { sql: "BEGIN;\nSELECT 1;\nSELECT * FROM nowhere;\nEND;" }
  file: { script: wrong.sql }
  ignored: { preflight: false, sql: "SELECT * FROM elsewhere" }
  right: { sql: "SELECT id FROM book.tickets WHERE id = 1" }
"#;
    let yaml = format!(
        "
stack: {{ postgres: {{}} }}
dataset: {{ name: tickets, rows: 1000 }}
operations:{operations}
load: {{ model: closed, clients: 2, duration: 1s }}
"
    );
    let workspace = Workspace::new("rejected", &yaml);
    std::fs::write(workspace.folder.join("wrong.sql"), "SELECT 1;\n-- a comment\nSELECT * FROM nofile;\n")
        .expect("the folder can be written to");
    for mode in ["simple", "extended", "prepared"] {
        let ended = workspace.run(&["--set", &format!("load.query_mode={mode}")]);
        ended.expect(2);
        for expected in [
            "operations.relation.sql:3: ERROR: relation \"book.ticket\" does not exist\n\
             LINE 2:   FROM book.ticket\n               ^\n",
            "hint: did you mean book.tickets?\n",
            "operations.column.sql:1: ERROR: column \"nmae\" does not exist\n\
             LINE 1: SELECT id, nmae FROM book.tickets;\n                   ^\n",
            "operations.syntax.sql:1: ERROR: syntax error at or near \"SELEC\"\nLINE 1: SELEC 1\n        ^\n",
            "operations.function.sql:1: ERROR: function no_such_function(integer) does not exist\n",
            "operations.literal.sql:1: ERROR: invalid input syntax for type integer: \"x\"\n",
            "operations.second.sql:3: ERROR: relation \"nowhere\" does not exist\n",
            "wrong.sql:3: ERROR: relation \"nofile\" does not exist\n",
            "7 statements are wrong; no trial was started\n",
        ] {
            assert!(ended.err.contains(expected), "{mode}: {expected}\n{}", ended.err);
        }
        assert!(!ended.err.contains("elsewhere"), "{}", ended.err);
        assert!(ended.out.is_empty(), "{}", ended.out);
        let stored = std::fs::read_dir(workspace.folder.join("runs")).expect("the folder exists").count();
        assert_eq!(stored, 0, "no run is stored");
    }
}

/// Statements that the server cannot prepare, although a trial can execute them, are not rejected.
#[test]
fn runs_statements_that_only_an_execution_can_check() {
    for (mode, script) in [
        ("simple", "CREATE TEMP TABLE mine AS SELECT 1 AS a;\nSELECT a FROM mine;\nDROP TABLE mine;"),
        ("extended", "DISCARD PLANS;\nSELECT 1;"),
        ("simple", "SELECT 1 \\; SELECT 2;"),
        (
            "simple",
            "\\set n 1\nCREATE TEMP TABLE part_:n ();\nSELECT count(*) FROM part_:n;\nDROP TABLE part_:n;",
        ),
        ("simple", "\\set word 1\nSELECT :word AS column_:word, ':word', :word + 1;"),
        ("simple", "SET search_path = pg_catalog;\nSELECT count(*) FROM pg_class WHERE oid < 0;"),
    ] {
        let yaml = format!(
            "
stack: {{ postgres: {{}} }}
operations: {{ one: {{ script: script.sql }} }}
load: {{ model: closed, clients: 1, duration: 1s, query_mode: {mode} }}
"
        );
        let workspace = Workspace::new("executed", &yaml);
        std::fs::write(workspace.folder.join("script.sql"), script).expect("the folder can be written to");
        workspace.run(&[]).expect(0);
    }
}

#[test]
fn names_an_operation_that_never_succeeds() {
    let yaml = "
stack: { postgres: {} }
operations: { right: { sql: SELECT 1 }, wrong: { sql: SELECT 1 / 0 } }
load: { model: closed, clients: 2, duration: 1s }
";
    let workspace = Workspace::new("mixed", yaml);
    workspace.run(&[]).expect(0);
    let page = page(&workspace);
    assert!(page.contains("wrong: none of ") && page.contains("22012 division by zero"), "{page}");
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
operations: { open: { sql: \"BEGIN; SELECT 1;\" } }
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
        assert!(ended.err.contains("nothing succeeded for "), "{}", ended.err);
        assert!(ended.out.contains("! nothing succeeded for "), "{}", ended.out);
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
        let page = page(&workspace);
        assert!(page.contains("p99 &lt; 500ms: VIOLATED in 1 trial"), "{page}");
        // On a busy host the generator may be late or stall; then the trial is invalid and there is no answer.
        let is_invalid = page.contains("its one trial does not count");
        assert!(is_invalid || page.contains("valid with doubts: nothing succeeded for "), "{page}");
        assert!(page.contains("nothing succeeded for "), "{page}");
    }
}

/// Child processes.
fn children(of: Pid) -> Vec<Pid> {
    let number = of.as_raw_nonzero();
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
