//! Checks of the manual's anchors: commands, keys, findings, figures and charts can be linked to.

use super::{Violation, tree::Tree};
use crate::keys;
use crate::markdown::anchors;
use serde_json::Value;
use std::collections::BTreeSet;

const COMMANDS: &str = "crates/pgdyno/src/command_list.rs";
const REPORT_SCHEMA: &str = "docs/schema/report.json";

/// Reports commands without an anchor `command-NAME` on the page that their help names.
pub fn commands(tree: &Tree) -> Vec<Violation> {
    let Some(list) = tree.get(COMMANDS) else {
        return vec![Violation::new(COMMANDS, 1, "the list of commands is missing", "change its path here")];
    };
    let value = |line: &str, key: &str| {
        let rest = line.trim().strip_prefix(key)?.strip_prefix(": \"")?;
        Some(rest.split('"').next().unwrap_or("").to_owned())
    };
    let mut all = Vec::new();
    let mut name = String::new();
    for line in list.text.lines() {
        if let Some(value) = value(line, "name") {
            name = value;
        }
        if let Some(page) = value(line, "page") {
            require(tree, &page, &format!("command-{name}"), &format!("command `{name}`"), &mut all);
        }
    }
    all
}

/// Reports findings, figures and charts without an anchor, and anchors that name none of them.
pub fn facts(tree: &Tree) -> Vec<Violation> {
    let schema = tree.get(REPORT_SCHEMA).and_then(|file| serde_json::from_str::<Value>(&file.text).ok());
    let Some(schema) = schema else {
        return vec![Violation::new(REPORT_SCHEMA, 1, "the schema is missing", "change its path here")];
    };
    let kinds = |definition: &str| {
        let alternatives = schema["$defs"][definition]["oneOf"].as_array().into_iter().flatten();
        let kinds = alternatives.flat_map(|alternative| {
            let kind = &alternative["properties"]["kind"]["const"];
            let constants = alternative["enum"].as_array().into_iter().flatten();
            constants.chain([kind, &alternative["const"]]).filter_map(Value::as_str).map(str::to_owned)
        });
        kinds.collect::<BTreeSet<String>>()
    };
    let mut findings: BTreeSet<String> =
        ["Finding", "Bound", "Circumstance"].into_iter().flat_map(kinds).collect();
    // Remove the two findings that contain a `Bound` or `Circumstance`, because these have kinds of their own.
    findings.remove("bound");
    findings.remove("circumstance");
    let mut all = Vec::new();
    for (kind, names, page) in [
        ("finding", findings, "docs/findings.md"),
        ("figure", kinds("Figure"), "docs/run.md"),
        ("chart", kinds("ChartKind"), "docs/report.md"),
    ] {
        for name in &names {
            require(tree, page, &format!("{kind}-{name}"), &format!("{kind} `{name}`"), &mut all);
        }
        let Some(file) = tree.get(page) else { continue };
        for (i, line) in file.text.lines().enumerate() {
            for rest in line.split(&format!("<a id=\"{kind}-")).skip(1) {
                let name = rest.split('"').next().unwrap_or("");
                if !names.contains(name) {
                    let message = format!("there is no {kind} `{name}`");
                    all.push(Violation::new(
                        page,
                        i + 1,
                        message,
                        "delete its anchor, and what describes it",
                    ));
                }
            }
        }
    }
    all
}

fn require(tree: &Tree, page: &str, anchor: &str, subject: &str, all: &mut Vec<Violation>) {
    if !tree.get(page).is_some_and(|file| anchors(&file.text).any(|it| it == anchor)) {
        let fix = format!("describe it, with `<a id=\"{anchor}\"></a>`");
        all.push(Violation::new(page, 1, format!("the {subject} has no anchor"), fix));
    }
}

/// Reports that docs/keys.md differs from the schema of the experiment file.
pub fn keys(tree: &Tree) -> Vec<Violation> {
    let expected = tree.get(keys::SCHEMA).and_then(|schema| keys::page(&schema.text));
    let current = tree.get(keys::PAGE).map(|page| page.text.as_str());
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (expected, current) = (lines(&expected.unwrap_or_default()), lines(current.unwrap_or_default()));
    let same = expected.iter().zip(&current).take_while(|(a, b)| a == b).count();
    if same == expected.len() && same == current.len() && same > 0 {
        return Vec::new();
    }
    let message = format!("the page differs from {}", keys::SCHEMA);
    vec![Violation::new(keys::PAGE, same + 1, message, "type  cargo xtask keys")]
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_commands_without_an_anchor() {
        let list = "    name: \"run\",\n    page: \"docs/a.md\",\n    name: \"try\",\n    page: \"docs/a.md\",\n\
                    name: \"serve\",\n    page: \"docs/none.md\",\n";
        let files = [(COMMANDS, list), ("docs/a.md", "# A\n<a id=\"command-run\"></a>\n")];
        assert_eq!(
            violations(commands, &files),
            [
                "docs/a.md:1: the command `try` has no anchor",
                "docs/none.md:1: the command `serve` has no anchor"
            ]
        );
        assert_eq!(violations(commands, &[]), [format!("{COMMANDS}:1: the list of commands is missing")]);
    }

    #[test]
    fn finds_facts_without_an_anchor() {
        let schema = r#"{ "$defs": {
            "Finding": { "oneOf": [
                { "properties": { "kind": { "const": "failures" } } }, { "properties": { "kind": { "const": "bound" } } } ] },
            "Bound": { "oneOf": [ { "properties": { "kind": { "const": "reads" } } } ] },
            "ChartKind": { "oneOf": [ { "const": "disk" } ] },
            "Figure": { "oneOf": [ { "enum": ["p99"] }, { "const": "tps" } ] } } }"#;
        let files = [
            (REPORT_SCHEMA, schema),
            ("docs/findings.md", "# F\n\n<a id=\"finding-reads\"></a> <a id=\"finding-old\"></a>\n"),
            ("docs/run.md", "<a id=\"figure-tps\"></a>\n"),
        ];
        assert_eq!(
            violations(facts, &files),
            [
                "docs/findings.md:1: the finding `failures` has no anchor",
                "docs/findings.md:3: there is no finding `old`",
                "docs/report.md:1: the chart `disk` has no anchor",
                "docs/run.md:1: the figure `p99` has no anchor",
            ]
        );
        assert_eq!(violations(facts, &[]), [format!("{REPORT_SCHEMA}:1: the schema is missing")]);
    }

    #[test]
    fn finds_a_stale_page_of_keys() {
        let schema = r#"{ "properties": { "seed": { "type": "integer" } } }"#;
        let page = keys::page(schema).expect("the schema has a key");
        let check = |page: &str| violations(keys, &[(keys::SCHEMA, schema), (keys::PAGE, page)]);
        assert_eq!(check(&page), [""; 0]);
        let last = page.lines().count();
        let stale = |line: usize| format!("docs/keys.md:{line}: the page differs from {}", keys::SCHEMA);
        assert_eq!(check(&page.replace("`seed`", "`sed`")), [stale(last)]);
        assert_eq!(check(&format!("{page}more\n")), [stale(last + 1)]);
        assert_eq!(violations(keys, &[]), [stale(1)]);
    }
}
