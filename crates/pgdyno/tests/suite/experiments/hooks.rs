//! Commands before and after trials

use super::workspace::{RunOutput, Workspace, trials};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const EXPERIMENT: &str = r#"
stack: { postgres: {} }
operations: { read: { sql: SELECT 1 } }
load: { model: closed, clients: 1, duration: 1s }
hooks: { after_trial: [ ./switch.sh, back ] }
matrix:
  mode:
    session: { hooks.before_trial: [ ./switch.sh, session ] }
    transaction: { hooks.before_trial: [ ./switch.sh, transaction ] }
"#;

/// Writes a script that appends its argument to `switched`, and fails if the argument is `broken`.
fn workspace(name: &str) -> Workspace {
    let workspace = Workspace::new(name, EXPERIMENT);
    let path = workspace.folder.join("switch.sh");
    fs::write(
        &path,
        "#!/bin/sh\necho $1 >>switched\n[ $1 != broken ] || { echo no such mode >&2; exit 3; }\n",
    )
    .expect("the folder can be written to");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the script was written");
    workspace
}

fn switched(workspace: &Workspace) -> Vec<String> {
    let text = fs::read_to_string(workspace.folder.join("switched")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn commands_run_before_and_after_each_trial() {
    let workspace = workspace("hooks");
    workspace.run(&[]).expect(0);
    let mut modes = switched(&workspace);
    // The check before the first trial sets up the system too.
    modes.dedup();
    assert_eq!(modes.len(), 4, "{modes:?}");
    let trials = trials(&workspace.stored()).into_iter();
    let expected: Vec<String> = trials.flat_map(|it| [it.0.label[0].1.clone(), "back".to_owned()]).collect();
    assert_eq!(modes, expected);

    let before = switched(&workspace).len();
    workspace.other_command("try", &[]).expect(0);
    assert_eq!(switched(&workspace)[before..], ["session", "back"]);
}

#[test]
fn failed_command_fails_its_trial() {
    let workspace = workspace("hooks-failed");
    let broken = EXPERIMENT.replace("./switch.sh, session", "./switch.sh, broken");
    let file = workspace.folder.join("broken.yaml");
    fs::write(&file, broken).expect("the folder can be written to");
    let failed = RunOutput::run(&mut workspace.command_on(&file, &[]));
    failed.expect(2);
    assert!(
        failed.err.contains("hooks.before_trial") && failed.err.contains("no such mode"),
        "{}",
        failed.err
    );
    assert!(switched(&workspace).contains(&"transaction".to_owned()), "the other cell is measured");

    let failed = workspace.run(&["--set", "hooks.after_trial=[./switch.sh, broken]"]);
    failed.expect(0);
    assert!(
        failed.err.contains("hooks.after_trial") && failed.err.contains("no such mode"),
        "{}",
        failed.err
    );

    let missing = workspace.run(&["--set", "hooks.after_trial=[./missing.sh]"]);
    missing.expect(0);
    assert!(missing.err.contains("missing.sh does not exist"), "{}", missing.err);
}
