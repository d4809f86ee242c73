//! Tests the section `generators`.

use super::common::{printed, read_with_url};
use model::plan::{AgentCount, Generators};
use std::collections::BTreeMap;

fn read(generators: &str, rest: &str) -> Result<Option<Generators>, String> {
    let text = format!(
        "stack: {{ postgres: {{}} }}\noperations: {{ a: {{ sql: SELECT 1 }} }}\n\
         load: {{ model: closed, clients: 8, duration: 5s }}\ngenerators: {generators}\n{rest}\n"
    );
    let plan = read_with_url(&text, &|_| Err(Vec::new()));
    plan.map(|it| it.experiment.generators).map_err(|it| printed(&it))
}

/// Label `zone` with these values.
fn select(values: &[&str]) -> BTreeMap<String, Vec<String>> {
    BTreeMap::from([("zone".to_owned(), values.iter().map(|it| (*it).to_owned()).collect())])
}

#[test]
fn reads_agents_and_labels() {
    let nats = Some("nats://10.0.0.5:4222".to_owned());
    for (text, expected) in [
        ("{ agents: 3 }", Generators { agents: AgentCount::Fixed(3), ..Generators::default() }),
        (
            "{ agents: 2, nats: \"nats://10.0.0.5:4222\", select: { zone: [a, b] } }",
            Generators { agents: AgentCount::Fixed(2), nats, select: select(&["a", "b"]), local: false },
        ),
        (
            "{ agents: 2, select: { zone: a } }",
            Generators { agents: AgentCount::Fixed(2), select: select(&["a"]), ..Generators::default() },
        ),
        ("{ agents: auto, lost: invalid }", Generators { agents: AgentCount::AUTO, ..Generators::default() }),
    ] {
        assert_eq!(read(text, ""), Ok(Some(expected)), "{text}");
    }
}

#[test]
fn refuses_what_agents_cannot_do() {
    for (text, rest, expected) in [
        ("{}", "", "agents"),
        ("{ agents: 0 }", "", "agents"),
        ("{ agents: many }", "", "auto"),
        ("{ agents: 2, lost: continue }", "", "the load is smaller than planned"),
        ("{ agents: 2, lost: ignore }", "", "unknown outcome ignore"),
        ("{ agents: 2, nats: \"nats://u:secret@h\" }", "", "contains a user or a password"),
        ("{ agents: 2 }", "matrix: { generators.agents: [1, 2] }", "generators"),
        ("{ agents: 2 }", "find: failover", "its ledger records every write on this machine"),
    ] {
        let printed = read(text, rest).expect_err(text);
        assert!(printed.contains(expected), "{text} {rest}: {printed}");
    }
}
