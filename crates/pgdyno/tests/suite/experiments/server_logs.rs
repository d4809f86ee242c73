//! Logs of real servers in the result of a run

use super::workspace::Workspace;
use serde_json::Value;

/// Two operations that lock the same two rows in opposite order. The values in their statements are secret.
const DEADLOCKS: &str = r"
stack: { postgres: { settings: { deadlock_timeout: 10ms } } }
dataset:
  name: tickets
  rows: 1000
  after:
    - CREATE TABLE account (id int PRIMARY KEY, owner text)
    - INSERT INTO account VALUES (71001, 'x'), (71002, 'x')
operations:
  there:
    sql: |
      BEGIN;
      UPDATE account SET owner = 'Smithers' WHERE id = 71001;
      \sleep 20 ms
      UPDATE account SET owner = 'Smithers' WHERE id = 71002;
      COMMIT;
  back:
    sql: |
      BEGIN;
      DELETE FROM account WHERE id = 71002 AND owner = 'Smithers';
      \sleep 20 ms
      UPDATE account SET owner = 'Smithers' WHERE id = 71001;
      ROLLBACK;
load: { model: closed, clients: 4, duration: 4s }
";

#[test]
fn shows_statements_and_relation_of_deadlocks_without_values() {
    let workspace = Workspace::new("deadlocks", DEADLOCKS);
    let document = workspace.run(&["--json"]).expect(0).document();
    let deadlocks = &document["logs"][0]["deadlocks"];
    let groups = deadlocks.as_array().expect("there were deadlocks");
    let has = |group: &Value, text: &str| group["statements"].to_string().contains(text);
    let both = groups.iter().find(|it| has(it, "WHERE id = ?")).unwrap_or_else(|| panic!("{deadlocks}"));
    assert!(has(both, "UPDATE account SET owner = ? WHERE id = ?"), "{both}");
    assert_eq!(both["relations"], Value::from(vec!["account"]), "{both}");
    assert!(both["locks"].to_string().contains("ShareLock on transaction"), "{both}");
    assert!(both["tuple"].as_str().is_some_and(|it| it.starts_with("(0,")), "{both}");
    // The log and the server's counter agree, apart from deadlocks at the end of the window.
    let logged: u64 = groups.iter().filter_map(|it| it["count"].as_u64()).sum();
    let events = workspace.stored().events(store::TrialId(1)).expect("the run can be read");
    let of_window = events.iter().filter(|it| it.kind == model::EventKind::Deadlock && it.at.0 > 0);
    assert_eq!(logged, of_window.map(model::LogEvent::line_count).sum::<u64>());
    let found = document["findings"].to_string();
    assert!(found.contains("deadlock_statements"), "{found}");

    let page = workspace.other("report", &["last", "--format", "md"]).expect(0).out.replace('\\', "");
    for text in ["Logs of servers and services", "account (0,", "UPDATE account SET owner = ? WHERE id = ?"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // The experiment file itself contains the values, the measurements never do.
    for text in [deadlocks.to_string(), found] {
        assert!(!text.contains("Smithers") && !text.contains("7100"), "{text}");
    }
    let facts = format!("{:?}", workspace.stored().facts().expect("the run can be read"));
    assert!(facts.contains("UPDATE account") && !facts.contains("Smithers"), "{facts}");
}

const SLOW: &str = "
stack: { postgres: {} }
operations:
  slow: { sql: \"SELECT pg_sleep(0.03), 'Smithers' WHERE 71001 IN (71001, 71002)\" }
  fast: { sql: SELECT 1 }
load: { model: closed, clients: 2, duration: 2s }
matrix:
  log:
    off: {}
    20 ms: { postgres: { settings: { log_min_duration_statement: 20ms } } }
";

#[test]
fn counts_slow_statements_where_the_server_logs_them() {
    let workspace = Workspace::new("slow", SLOW);
    let document = workspace.run(&["--json"]).expect(0).document();
    let logs = document["logs"].as_array().expect("one cell has a log");
    assert_eq!(logs.len(), 1, "{logs:?}");
    let (cell, slow) = (&logs[0]["cell"], &logs[0]["slow"]);
    assert_eq!((cell, &slow["threshold"]), (&1.into(), &"20ms".into()));
    let text = "SELECT pg_sleep(?), ? WHERE ? IN (?, …)";
    let statements = slow["statements"].as_array().expect("there are statements");
    let found = statements.iter().find(|it| it["text"] == text).unwrap_or_else(|| panic!("{slow}"));
    assert!(found["count"].as_u64() >= Some(1) && found["max_ns"].as_u64() >= Some(30_000_000), "{found}");
    assert!(slow["count"].as_u64() >= found["count"].as_u64(), "{slow}");
    let page = workspace.other("report", &["last", "--format", "md"]).expect(0).out.replace('\\', "");
    for text in ["log_min_duration_statement", "20ms", text] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let events = format!("{:?}", workspace.stored().events(store::TrialId(1)));
    assert!(!events.contains("Smithers"), "{events}");
}
