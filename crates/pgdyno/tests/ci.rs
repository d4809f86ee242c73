//! Check of the pipelines in docs/ci.md against the program's commands and options

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

#[test]
fn pipelines_use_existing_options() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ci.md");
    let text = fs::read_to_string(path).expect("the file can be read");
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut commands = 0;
    for line in text.lines() {
        // The rest of the line is a comment.
        let code = line.split_once(" #").map_or(line, |it| it.0).trim_end();
        let Some((_, command)) = code.split_once("pgdyno ").filter(|_| line.starts_with(' ')) else {
            continue;
        };
        let words: Vec<&str> = command.split_whitespace().take_while(|it| *it != ">>").collect();
        let verb = words[0];
        let help = help.entry(verb.to_owned()).or_insert_with(|| help_of(verb));
        commands += 1;
        if help.is_empty() {
            wrong.push(format!("no command: {line}"));
        }
        let known = |it: &str| help.split_whitespace().any(|word| word.trim_end_matches(',') == it);
        let options = words.iter().filter(|it| it.starts_with("--"));
        wrong.extend(options.filter(|it| !known(it)).map(|it| format!("no {it}: {line}")));
        let format = words.iter().position(|it| *it == "--format").map(|at| words[at + 1]);
        let possible = |value: &str| {
            help.split("[possible values: ").skip(1).any(|all| {
                all.split(']').next().is_some_and(|all| all.split(',').any(|one| one.trim() == value))
            })
        };
        wrong.extend(format.filter(|it| !possible(it)).map(|it| format!("no format {it}: {line}")));
    }
    assert!(commands >= 8, "only {commands} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Help of a command; empty if there is no such command.
fn help_of(verb: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_pgdyno")).args([verb, "--help"]).env("COLUMNS", "100").output();
    let output = output.expect("it can be run");
    if output.status.success() { String::from_utf8_lossy(&output.stdout).into_owned() } else { String::new() }
}
