//! Files in deploy/: the Kubernetes manifest follows the published schemas, and systemd accepts the unit
//!
//! `./x test` unpacks the schemas and sets PGDYNO_KUBERNETES_SCHEMAS. Without them, their test is skipped.

use super::ci::yaml;
use super::schema::violations;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");
const UNIT: &str = include_str!("../../../../deploy/systemd/pgdyno-agent.service");

/// Schemas of the newest version, which know all keys.
fn newest_schemas() -> Option<PathBuf> {
    let directory = env::var_os("PGDYNO_KUBERNETES_SCHEMAS")?;
    let found = fs::read_dir(directory).ok()?.flatten().map(|it| it.path());
    found.filter(|it| it.to_string_lossy().ends_with("-local-strict")).max()
}

/// Schema in this file, with all definitions. Keys for Kubernetes' own tools are removed.
fn schema(directory: &Path, file: &str) -> (Value, Value) {
    let read = |file: &str| -> Value {
        let text = fs::read_to_string(directory.join(file)).expect("the schema exists");
        let local = text.replace("/api/_definitions.json#", "#");
        let mut schema = serde_json::from_str(&local).expect("a schema is JSON");
        remove_extensions(&mut schema);
        schema
    };
    (read("_definitions.json"), read(file))
}

fn remove_extensions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|key, _| !key.starts_with("x-kubernetes-") && key != "$id");
            members.values_mut().for_each(remove_extensions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_extensions),
        _ => {}
    }
}

fn manifest() -> Vec<Value> {
    let arguments = ["agents", "manifest", "--agents", "20", "--allow", "10.0.0.0/8"];
    let output = Command::new(PGDYNO).args(arguments).output().expect("pgdyno can be run");
    assert!(output.status.success());
    yaml::parse_typed(&String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn the_manifest_follows_the_schemas_of_kubernetes() {
    let Some(directory) = newest_schemas() else {
        eprintln!("SKIPPED: there are no schemas of Kubernetes; ./x setup unpacks them");
        return;
    };
    let files = ["job-batch-v1.json", "networkpolicy-networking-v1.json"];
    let mut resources = manifest();
    assert_eq!(resources.len(), files.len());
    let check = |resource: &Value, file: &str| {
        let (root, schema) = schema(&directory, file);
        violations(&root, &schema, resource, file)
    };
    for (resource, file) in resources.iter().zip(files) {
        assert_eq!(check(resource, file), Vec::<String>::new());
    }
    // The check finds a wrong key and a wrong type.
    resources[0]["spec"]["template"]["spec"]["containers"][0]["argument"] = Value::from("x");
    resources[0]["spec"]["completions"] = Value::from("20");
    let found = check(&resources[0], files[0]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|it| it.ends_with("unknown key argument")), "{found:?}");
}

/// Keys of a unit by section. Panics if a line is neither a comment, a section nor a key with a value.
fn parse_unit(text: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let mut sections: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut section = None;
    for line in text.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = Some(name.to_owned());
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("no key: {line}"));
        let section = section.clone().unwrap_or_else(|| panic!("no section: {line}"));
        sections.entry(section).or_default().push((key.to_owned(), value.to_owned()));
    }
    sections
}

#[test]
fn systemd_accepts_the_unit() {
    let sections = parse_unit(UNIT);
    assert_eq!(sections.keys().map(String::as_str).collect::<Vec<_>>(), ["Install", "Service", "Unit"]);
    let started = sections["Service"].iter().find(|it| it.0 == "ExecStart").map(|it| it.1.as_str());
    let arguments: Vec<&str> = started.unwrap_or_default().split(' ').collect();
    assert_eq!(arguments[..2], ["/usr/local/bin/pgdyno", "agent"]);
    // The options exist.
    let help = Command::new(PGDYNO).args(["agent", "--help"]).output().expect("pgdyno can be run");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(arguments.iter().filter(|it| it.starts_with("--")).all(|it| help.contains(it)), "{help}");
    let verify = |unit: &str| {
        let directory = env::temp_dir().join(format!("pgdyno-unit-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room for temporary files");
        let path = directory.join("pgdyno-agent.service");
        fs::write(&path, unit).expect("the file can be written");
        let output = Command::new("systemd-analyze").arg("verify").arg(&path).output();
        let _ = fs::remove_dir_all(&directory);
        output.ok().map(|it| (it.status.success(), String::from_utf8_lossy(&it.stderr).into_owned()))
    };
    let installed = UNIT.replace("/usr/local/bin/pgdyno", PGDYNO);
    match verify(&installed) {
        None => eprintln!("SKIPPED: systemd-analyze is not installed; the unit was only parsed"),
        Some((accepted, messages)) => {
            let about_unit: Vec<&str> = messages.lines().filter(|it| it.contains("pgdyno-agent")).collect();
            assert!(accepted && about_unit.is_empty(), "{messages}");
            let (_, messages) =
                verify(&installed.replace("Restart=always", "Restart=often")).expect("it ran");
            assert!(messages.contains("restart specifier"), "a wrong value is found: {messages}");
        }
    }
}
