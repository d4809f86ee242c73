//! A webhook receives the answer at the end of a run

use super::workspace::{BARE, RunOutput, Workspace};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// Body of one POST request to `/hooks/SECRET`, which the server answers with `status`.
fn receive(listener: &TcpListener, status: &str) -> String {
    let (mut stream, _) = listener.accept().expect("a client connects");
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: ")).expect("a length");
            if body.len() == length.parse::<usize>().expect("a number") {
                assert!(head.starts_with("post /hooks/secret http/1.1\r\n"), "{head}");
                assert!(head.contains("content-type: application/json"), "{head}");
                write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").expect("the client reads");
                return body.to_owned();
            }
        }
        let count = stream.read(&mut buffer).expect("the client sends");
        assert!(count > 0, "the request ends early: {}", String::from_utf8_lossy(&request));
        request.extend(&buffer[..count]);
    }
}

fn run_with(workspace: &Workspace, arguments: &[&str], variable: Option<&str>) -> RunOutput {
    let mut command = workspace.command(arguments);
    command.envs(variable.map(|it| ("PGDYNO_WEBHOOK", it)));
    RunOutput::run(&mut command)
}

#[test]
fn a_webhook_receives_the_answer_and_a_picture() {
    let workspace = Workspace::new("notified", BARE);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/hooks/SECRET", listener.local_addr().expect("an address"));
    let file = workspace.folder.join("webhook");
    fs::write(&file, format!("{url}\n")).expect("the file can be written");
    let server = thread::spawn(move || {
        let body = receive(&listener, "204 No Content");
        // The second request fails.
        receive(&listener, "403 Forbidden");
        body
    });
    let path = file.to_str().expect("a path");
    let sent = run_with(&workspace, &["--webhook-file", path], None);
    assert!(sent.expect(0).err.contains("The answer was sent to the webhook at 127.0.0.1."), "{}", sent.err);
    // A failure does not change the exit status, and the URL remains secret.
    let failed = run_with(&workspace, &[], Some(&url));
    let warning = "warning: the webhook at 127.0.0.1 was not notified: http status: 403";
    assert!(failed.expect(0).err.contains(warning), "{}", failed.err);
    for output in [&sent, &failed] {
        assert!(
            !output.err.contains("SECRET") && !output.out.contains("SECRET"),
            "{}{}",
            output.out,
            output.err
        );
    }
    let body: Value = serde_json::from_str(&server.join().expect("the server ends")).expect("JSON");
    let text = body["text"].as_str().expect("a text");
    assert!(text.starts_with("notified-") && text.lines().count() > 1, "{text}");
    assert_eq!((body["experiment"].as_str(), body["exit_status"].as_u64()), (Some("notified"), Some(0)));
    assert_eq!(body["state"], "complete");
    let answer = body["answer"][0].as_str().expect("an answer");
    assert!(sent.out.replace('\n', " ").contains(answer), "{answer}");
    let picture = &body["pictures"][0];
    // The base64 text of a PNG begins like this.
    assert!(picture["base64"].as_str().is_some_and(|it| it.starts_with("iVBORw0KGgo")), "{picture}");
}

#[test]
fn an_unusable_webhook_is_reported_before_the_run() {
    let workspace = Workspace::new("unnotified", BARE);
    for url in
        ["chat.example.org/hooks/SECRET", "https://user:SECRET@chat.example.org/", "unix:/tmp/SECRET:/"]
    {
        let refused = run_with(&workspace, &[], Some(url));
        let message = "PGDYNO_WEBHOOK does not contain the URL of a webhook";
        assert!(
            refused.expect(1).err.contains(message) && !refused.err.contains("SECRET"),
            "{}",
            refused.err
        );
    }
    let missing = run_with(&workspace, &["--webhook-file", "missing"], None);
    assert!(missing.expect(1).err.contains("missing"), "{}", missing.err);
    assert!(!workspace.folder.join("runs").exists());
}
