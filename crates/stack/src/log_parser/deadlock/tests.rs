use crate::log_parser::{LogFormat, LogReader};
use model::Nanos;
use model::server_log::DeadlockGroup;

/// Reads a log and returns its deadlocks as text, one a line: statements, locks, relations and tuple.
fn read(log: &str) -> String {
    let mut reader = LogReader::new(LogFormat::Postgres);
    log.lines().for_each(|it| drop(reader.line(it)));
    reader.finish();
    let shown = |group: DeadlockGroup| {
        let DeadlockGroup { statements, locks, relations, tuple, .. } = group;
        let tuple = tuple.unwrap_or_default();
        format!("{} | {} | {} {tuple}", statements.join("; "), locks.join("; "), relations.join("; "))
    };
    let groups = reader.take_deadlocks().iter().map(|it| shown(it.group("db", Nanos(1)))).collect::<Vec<_>>();
    groups.join("\n")
}

#[track_caller]
fn check(detail: &[&str], after: &[&str], expected: &str) {
    let line = |severity: &str, text: &str| {
        format!("2026-11-21 11:00:00.001 UTC [7] 40P01 [local] (pgdyno load) {severity}:  {text}\n")
    };
    let mut log = line("ERROR", "deadlock detected");
    if !detail.is_empty() {
        log += &line("DETAIL", &detail.join("\n\t"));
    }
    log += &line("HINT", "See server log for query details.");
    for text in after {
        let (severity, text) = text.split_once(": ").expect("a severity");
        log += &line(severity, text);
    }
    assert_eq!(read(&log), expected, "{log}");
}

const ROWS: [&str; 2] = [
    "Process 7 waits for ShareLock on transaction 745; blocked by process 8.",
    "Process 8 waits for ShareLock on transaction 744; blocked by process 7.",
];

#[test]
fn parses_statements_locks_and_relation() {
    check(
        &[
            &ROWS[..],
            &[
                "Process 7: update t set a = 'secret' where id = 2",
                "Process 8: update t set a = 5 where id = 1",
            ],
        ]
        .concat(),
        &[
            "CONTEXT: while updating tuple (0,12) in relation \"t\"",
            "STATEMENT: update t set a = 'secret' where id = 2",
        ],
        "update t set a = ? where id = ?; update t set a = ? where id = ? | ShareLock on transaction | t (0,12)",
    );
    // Three processes, statements of several lines, a list of values, and functions in the context.
    check(
        &[
            "Process 7 waits for ExclusiveLock on tuple (3,4) of relation 16385 of database 5; blocked by process 8.",
            "Process 8 waits for ShareLock on transaction 744; blocked by process 9.",
            "Process 9 waits for AccessExclusiveLock on relation 16390 of database 5; blocked by process 7.",
            "Process 7: update t",
            "\tset a = 'two",
            "lines' where id in (1, 2, 3)",
            "Process 8: delete from t where id in ('x','y')",
            "Process 9: lock table u",
        ],
        &[
            "CONTEXT: while locking tuple (0,1) in relation \"parent\"\n\tSQL statement \"SELECT 1 FROM x\"\n\tPL/pgSQL function",
        ],
        "delete from t where id in (?, …); lock table u; update t set a = ? where id in (?, …) | \
         AccessExclusiveLock on relation 16390; ExclusiveLock on tuple of relation 16385; ShareLock on transaction | \
         parent (0,1)",
    );
    // Advisory locks contain users' numbers. Without a tuple, there is no context.
    check(
        &[
            "Process 7 waits for ExclusiveLock on advisory lock [5,0,4711,1]; blocked by process 8.",
            "Process 8 waits for ExclusiveLock on advisory lock [5,0,4712,1]; blocked by process 7.",
            "Process 7: select pg_advisory_lock(4711)",
            "Process 8: select pg_advisory_lock(4712)",
        ],
        &[],
        "select pg_advisory_lock(?); select pg_advisory_lock(?) | ExclusiveLock on advisory lock |  ",
    );
    // The tuple is known from the lock alone.
    check(
        &[
            "Process 7 waits for ExclusiveLock on tuple (3,4) of relation 16385 of database 5; blocked by process 8.",
            ROWS[1],
            "Process 7: <insufficient privilege>",
            "Process 8: ",
        ],
        &[],
        "; <insufficient privilege> | ExclusiveLock on tuple of relation 16385; ShareLock on transaction |  (3,4)",
    );
}

#[test]
fn never_shows_values_when_borders_of_statements_are_ambiguous() {
    for statements in [
        &["Process 7: update t set a = 'x", "Process 8: secret'", "Process 8: select 1"][..],
        &["Process 7: update t set a = 'x", "Process 7: secret'", "Process 8: select 1"],
        &["Process 8: select 1", "Process 7: select 'x"],
        &["secret", "Process 7: select 1", "Process 8: select 2"],
        &["Process 7: select 'secret'"],
        &["Process 7: select 1", "Process 9: secret"],
        &[],
    ] {
        let detail = [&ROWS[..], statements].concat();
        check(&detail, &[], " | ShareLock on transaction |  ");
    }
    // A statement that PostgreSQL cut off in a value, which looks like another process.
    let detail = [&ROWS[..], &["Process 7: select 'x", "Process 9: secret", "Process 8: select 2"]].concat();
    check(&detail, &[], "select ?; select ? | ShareLock on transaction |  ");
    check(&[], &[], " |  |  ");
    check(
        &["Prozess 7 wartet auf 'secret'."],
        &["CONTEXT: while updating 'secret' in relation \"t\""],
        " |  |  ",
    );
    check(&ROWS, &["CONTEXT: while x tuple (secret) in relation \"t\""], " | ShareLock on transaction |  ");
}

#[test]
fn separates_messages() {
    let log = "2026-11-21 11:00:00.001 UTC [7] 40P01 ERROR:  deadlock detected\n\
         2026-11-21 11:00:00.001 UTC [7] 40P01 DETAIL:  Process 7 waits for ShareLock on transaction 1; blocked by process 8.\n\
         \tProcess 7: select 1\n\
         2026-11-21 11:00:00.001 UTC [7] 40P01 STATEMENT:  select 1\n\
         \tProcess 7: of the statement\n\
         2026-11-21 11:00:00.002 UTC [8] 40P01 ERROR:  deadlock detected\n\
         2026-11-21 11:00:00.002 UTC [9] 40P01 DETAIL:  Process 9 waits for ShareLock on transaction 1; blocked by process 8.\n\
         2026-11-21 11:00:00.003 UTC [8] 40P01 ERROR:  deadlock detected\n";
    assert_eq!(read(log), "select ? | ShareLock on transaction |  \n |  |  \n |  |  ");
}
