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

    let page = workspace.other("report", &["last", "--format", "md"]).expect(0).out.clone();
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
