//! The published schemas equal the generated ones, and the printed documents conform to them

use crate::schema;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Names of all schemas, as `pgdyno schema --help` lists them.
fn names() -> Vec<String> {
    let help = text(&["schema", "--help"]);
    let words: Vec<&str> = help.split_whitespace().collect();
    let words = words.join(" ");
    let (_, names) = words.split_once("[possible values: ").expect("the names");
    let (names, _) = names.split_once(']').expect("an end");
    names.split(", ").map(str::to_owned).collect()
}

fn text(args: &[&str]) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let output = Command::new(PGDYNO)
        .args(args)
        .current_dir(fixtures)
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn published_schemas_are_the_generated_ones() {
    let names = names();
    for name in &names {
        let generated = text(&["schema", name]);
        let path = schema::path(name);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &generated).expect("the directory exists");
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(published == generated, "docs/schema/{name}.json differs; UPDATE_EXPECT=1 rewrites it");
    }
    let page = fs::read_to_string(schema::path("../json").with_extension("md")).expect("docs/json.md");
    for name in &names {
        assert!(page.contains(&format!("(schema/{name}.json)")), "docs/json.md does not list {name}");
    }
    let published =
        fs::read_dir(schema::path("x").parent().expect("docs/schema")).expect("docs/schema exists");
    assert_eq!(published.count(), names.len(), "docs/schema has other files");
}

#[test]
fn documents_conform_to_their_schemas() {
    for (name, args) in [
        ("run", &["runs", "show", "runs/shop.dyno", "--json"][..]),
        ("run", &["runs", "show", "advice/books.dyno", "--json"]),
        ("report", &["report", "runs/shop.dyno", "--format", "json", "--out", "-"]),
        ("judge", &["judge", "../crates/analysis/src/durability/histories/sets.txt", "--json"]),
        ("report", &["report", "advice/books.dyno", "--format", "json", "--lang", "ru", "--out", "-"]),
        (
            "comparison",
            &["compare", "runs/shop.dyno", "runs/shop.dyno", "--format", "json", "--fail-if", "p99 > +30%"],
        ),
        ("history", &["history", "--dir", "runs", "--format", "json"]),
        ("advice", &["advise", "advice/books.dyno", "--json"]),
        ("schedule", &["schedule", "line(1, 20, 5s)", "--json"]),
        ("schedule", &["schedule", "line(1, 20, 5s)", "--json", "--times", "--arrivals", "poisson"]),
        ("doctor", &["doctor", "--json"]),
        ("version", &["--version", "--json"]),
        ("stack", &["stack", "status", "--json"]),
    ] {
        let document: Value =
            serde_json::from_str(&text(args)).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        assert_eq!(document["format"], format!("pgdyno.{name}"));
        schema::check(&document);
    }
}

#[test]
fn check_detects_differences() {
    let root = json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "required": ["a"],
        "$defs": { "A": { "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "x" }, "n": { "type": "integer", "minimum": 0 } },
              "required": ["kind", "n"] },
            { "type": "object", "properties": { "kind": { "const": "y" } }, "required": ["kind"] }
        ] } }
    });
    for (value, conforms) in [
        (json!({ "a": { "kind": "x", "n": 1 } }), true),
        (json!({ "a": { "kind": "y" } }), true),
        (json!({ "a": { "kind": "y", "n": 1 } }), false),
        (json!({ "a": { "kind": "x", "n": -1 } }), false),
        (json!({ "a": { "kind": "x", "n": 0.5 } }), false),
        (json!({ "a": { "kind": "x" } }), false),
        (json!({ "a": { "kind": "z" } }), false),
        (json!({ "a": { "kind": "y" }, "b": 1 }), false),
        (json!({}), false),
        (json!([]), false),
    ] {
        assert_eq!(schema::violations(&root, &root, &value, "$").is_empty(), conforms, "{value}");
    }
}
