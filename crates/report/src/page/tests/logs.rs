//! Tables of logs in both languages

use super::*;
use model::server_log::{
    CellDeadlocks, CellLog, DeadlockGroup, LogMessage, LogTime, SlowStatement, SlowStatements,
};
use model::{EventKind, Nanos};

fn deadlocks(statements: &[&str], relations: &[&str], count: u64) -> CellDeadlocks {
    let group = DeadlockGroup {
        node: "postgres".to_owned(),
        statements: statements.iter().map(|&it| it.to_owned()).collect(),
        locks: vec![
            "ExclusiveLock on tuple of relation 16385".to_owned(),
            "ShareLock on transaction".to_owned(),
        ],
        relations: relations.iter().map(|&it| it.to_owned()).collect(),
        tuple: (!relations.is_empty()).then(|| "(0,12)".to_owned()),
        count,
        first: Nanos::from_millis(12_300),
    };
    CellDeadlocks { group, first_repetition: 1 }
}

fn message(kind: EventKind, text: Option<&str>, code: Option<&str>) -> LogMessage {
    let time = |repetition, second| LogTime { repetition, at: Nanos::from_secs(second) };
    LogMessage {
        node: "service-1.web".to_owned(),
        kind,
        code: code.map(str::to_owned),
        text: text.map(str::to_owned),
        count: 1234,
        first: time(0, 1),
        last: time(1, 59),
    }
}

fn logs() -> Vec<CellLog> {
    let update = "UPDATE profiles SET value_id = ? WHERE profileid = ?";
    let statement = |text: &str, count| SlowStatement {
        text: text.to_owned(),
        count,
        mean: Nanos::from_millis(250),
        max: Nanos::from_millis(1523),
    };
    let slow = |count, unknown, statements: Vec<SlowStatement>| SlowStatements {
        threshold: "200ms".to_owned(),
        count,
        per_thousand: Some(count as f64 / 500.0),
        max: statements.iter().map(|it| it.max).max(),
        unknown,
        statements,
    };
    vec![
        CellLog {
            cell: 0,
            deadlocks: vec![deadlocks(&[update, update], &["profiles"], 41), deadlocks(&[], &[], 1)],
            slow: Some(slow(0, 0, vec![])),
            messages: vec![],
        },
        CellLog {
            cell: 1,
            deadlocks: vec![],
            slow: Some(slow(67, 5, vec![statement(update, 60), statement("COMMIT", 2)])),
            messages: vec![
                message(EventKind::Error, Some("upstream timed out"), None),
                message(EventKind::Error, Some("relation \"t\" does not exist"), Some("42P01")),
                message(EventKind::Other, None, None),
            ],
        },
    ]
}

/// Markdown of one section.
pub fn section(result: &RunResult, id: &str, lang: &Lang) -> String {
    let mut page = page(result, lang);
    page.sections.retain(|it| it.id == id);
    let text = to_markdown(&page);
    text[text.find("\n## ").expect("the section has a heading") + 1..].to_owned()
}

#[test]
fn shows_deadlocks_slow_statements_and_messages() {
    let result = RunResult { logs: logs(), ..account() };
    for lang in lang::all() {
        golden(&format!("logs.{}.md", lang.code()), &section(&result, "logs", lang));
    }
    let limited =
        vec![CellLog { messages: vec![message(EventKind::Error, Some("x"), None); 23], ..logs()[1].clone() }];
    let result = RunResult { logs: limited, ..account() };
    assert!(section(&result, "logs", english()).contains("3 more rows"));
}

#[test]
fn escapes_hostile_logs() {
    let mut logs = logs();
    logs[0].deadlocks[0].group.statements = vec![HOSTILE.to_owned()];
    logs[0].deadlocks[0].group.relations = vec![HOSTILE.to_owned()];
    logs[1].slow.as_mut().expect("it is set").statements[0].text = HOSTILE.to_owned();
    logs[1].messages[0].text = Some(HOSTILE.to_owned());
    let result = RunResult { logs, ..account() };
    for lang in lang::all() {
        let text = to_markdown(&page(&result, lang));
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
}
