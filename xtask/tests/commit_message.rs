//! Tests of `tools/commit-message`, the check of one commit message.

use std::io::Write;
use std::process::{Command, Stdio};

/// Output of the check; empty for a message that passes.
fn check(message: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/commit-message");
    let mut child = Command::new(script)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell is available");
    child
        .stdin
        .take()
        .expect("stdin is piped")
        .write_all(message.as_bytes())
        .expect("the script reads its input");
    let output = child.wait_with_output().expect("the script ends");
    assert_eq!(output.status.success(), output.stderr.is_empty());
    String::from_utf8(output.stderr).expect("the output is UTF-8")
}

#[test]
fn accepts_plain_subjects() {
    for message in [
        "load: cancel statements on PostgreSQL only",
        "stack/ask, load: bound rows\n\nWhy, in a body of any length, with a full stop.\n",
        "002: repeat the failovers",
        "docs: embed a chart",
        "Merge branch 'main'",
        "Revert \"load: cancel statements\"",
        "load: skip comments\n# Please enter the commit message\n# for your changes",
    ] {
        assert_eq!(check(message), "", "{message}");
    }
}

#[test]
fn rejects_subjects_that_are_not_area_and_imperative() {
    let long = format!("load: {}", "x".repeat(67));
    for (message, reason) in [
        ("cancel statements", "the subject has no area before a colon"),
        ("", "the subject has no area before a colon"),
        ("Load: cancel statements", "the area is not in lower case"),
        ("load: Cancel statements", "the subject does not begin with a verb in lower case"),
        ("load: cancelled statements", "\"cancelled\" is not an imperative"),
        ("load: cancelling statements", "\"cancelling\" is not an imperative"),
        ("load: cancel statements.", "the subject ends with a full stop"),
        ("load: cancel\nstatements", "the second line is not empty"),
        (&long, "the subject has 73 characters; 72 are allowed"),
    ] {
        let printed = check(message);
        assert!(printed.starts_with(&format!("commit message: {reason}\n")), "{message}: {printed}");
    }
}
