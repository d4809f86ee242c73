//! Session events, independent of packet boundaries.

use crate::server::{columns, feed, message, notice, opened, select_one};
use wire::pg::{Channel, Login};

/// Sends `syncs` requests; each is a single Sync.
fn ask(channel: &mut Channel, syncs: usize) {
    channel.request(|out| out.extend(b"S\0\0\0\x04".repeat(syncs)));
    channel.sent(channel.outgoing().len());
}

/// Checks that `bytes` produce `expected`: whole, in pieces of every size, and cut in two at every byte.
fn check(watch: bool, bytes: &[u8], expected: &str) {
    let start = || {
        let mut channel = opened(Login::new("bench", ""));
        channel.set_watched(watch);
        ask(&mut channel, expected.matches("Ready").count().max(1));
        channel
    };
    for step in 1..=bytes.len() {
        assert_eq!(feed(&mut start(), bytes, step).join(" "), expected, "in pieces of {step}");
    }
    for cut in 0..=bytes.len() {
        let mut channel = start();
        let mut actual = feed(&mut channel, &bytes[..cut], usize::MAX);
        if actual.last().is_none_or(|it| !it.starts_with('!')) {
            actual.extend(feed(&mut channel, &bytes[cut..], usize::MAX));
        }
        assert_eq!(actual.join(" "), expected, "cut at {cut}");
    }
}

#[test]
fn counts_prepared_select() {
    let select = select_one(b"42");
    check(false, &select, "Ready(Idle rows 1 statements 1)");
    check(true, &select, r#"Row([Some("42")]) Done(SELECT 1) Ready(Idle rows 1 statements 1)"#);
    let thrice = [select.clone(), select.clone(), select].concat();
    let one = "Ready(Idle rows 1 statements 1)";
    check(false, &thrice, &[one, one, one].join(" "));
    check(
        true,
        &thrice,
        &[r#"Row([Some("42")]) Done(SELECT 1) Ready(Idle rows 1 statements 1)"#, one, one].join(" "),
    );
}

#[test]
fn watched_simple_queries_report_columns() {
    let bytes = [
        columns(),
        message(b'D', b"\0\x01\xff\xff\xff\xff"),
        message(b'C', b"SELECT 1\0"),
        message(b'I', b""),
        message(b'Z', b"T"),
    ]
    .concat();
    check(false, &bytes, "Ready(InTransaction rows 1 statements 2)");
    check(
        true,
        &bytes,
        r#"Columns(["id"]) Row([None]) Done(SELECT 1) Ready(InTransaction rows 1 statements 2)"#,
    );
}

#[test]
fn counts_or_skips_other_messages() {
    let bytes = [
        message(b'1', b""),
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x17"),
        message(b'n', b""),
        message(b'3', b""),
        message(b'A', b"\0\0\0\x01channel\0payload\0"),
        message(b'S', b"TimeZone\0UTC\0"),
        message(b's', b""),
        message(b'H', b"\0\0\0"),
        message(b'd', &[b'x'; 300]),
        message(b'c', b""),
        message(b'Z', b"E"),
    ]
    .concat();
    check(false, &bytes, "Ready(Failed parsed 2 statements 1)");
}

#[test]
fn detects_rolled_back_and_local_commits() {
    let bytes = [message(b'C', b"ROLLBACK\0"), message(b'Z', b"I")].concat();
    check(false, &bytes, "Ready(Idle statements 1 rolled_back 1)");
    check(true, &bytes, "Done(ROLLBACK) Ready(Idle statements 1 rolled_back 1)");
    check(false, &[message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat(), "Ready(Idle statements 1)");
    check(false, &[message(b'C', b"INSERT 0\0"), message(b'Z', b"I")].concat(), "Ready(Idle statements 1)");
    let fields = [
        "SWARNING",
        "VWARNING",
        "C01000",
        "Mcanceling wait for synchronous replication",
        "RSyncRepWaitForLSN",
    ];
    let bytes = [notice(b'N', &fields), message(b'C', b"COMMIT\0"), message(b'Z', b"I")].concat();
    check(
        false,
        &bytes,
        "Notice(WARNING:  01000: canceling wait for synchronous replication) Ready(Idle statements 1 local_only 1)",
    );
}

#[test]
fn reply_carries_first_error() {
    let error = |code: &str| notice(b'E', &["SERROR", "VERROR", code, "Mno"]);
    let bytes = [
        error("C40001"),
        message(b'Z', b"E"),
        error("C40P01"),
        error("C25P02"),
        message(b'Z', b"E"),
        message(b'Z', b"I"),
    ]
    .concat();
    check(
        false,
        &bytes,
        "Error(ERROR:  40001: no) Ready(Failed error 40001) Error(ERROR:  40P01: no) Error(ERROR:  25P02: no) \
         Ready(Failed error 40P01) Ready(Idle)",
    );
}

#[test]
fn handles_copy_in() {
    let bytes = [message(b'G', b"\0\0\x01\0\0"), message(b'C', b"COPY 2\0"), message(b'Z', b"I")].concat();
    check(false, &bytes, "CopyIn Ready(Idle statements 1)");
    check(true, &bytes, "CopyIn Done(COPY 2) Ready(Idle statements 1)");
}

#[test]
fn handles_copy_out() {
    let bytes = [
        message(b'H', b"\0\0\x01\0\0"),
        message(b'd', b"a\\tb\n"),
        message(b'd', b""),
        message(b'd', b"\\N\n"),
        message(b'c', b""),
        message(b'C', b"COPY 3\0"),
        message(b'Z', b"T"),
    ]
    .concat();
    check(false, &bytes, "Ready(InTransaction statements 1)");
    check(
        true,
        &bytes,
        "CopyData(a\\\\tb\\n) CopyData() CopyData(\\\\N\\n) Done(COPY 3) Ready(InTransaction statements 1)",
    );
}

#[test]
fn rejects_messages_no_server_sends() {
    check(false, b"Z\0\0\0\x03I", "!BadLength { tag: 90, length: 3 }");
    check(false, b"Z\0\0\0\0", "!BadLength { tag: 90, length: 0 }");
    check(false, b"Z\0\0\0\x06II", "!BadLength { tag: 90, length: 6 }");
    check(false, b"2\0\0\0\x05I", "!BadLength { tag: 50, length: 5 }");
    check(false, b"D\xff\xff\xff\xff", "!BadLength { tag: 68, length: 4294967295 }");
    check(false, b"E\x01\0\0\x01", "!BadLength { tag: 69, length: 16777217 }");
    check(true, b"D\x01\0\0\x01", "!BadLength { tag: 68, length: 16777217 }");
    check(false, &message(b'Z', b"X"), "!Malformed { tag: 90 }");
    check(false, &message(b'E', b"SERROR"), "!Malformed { tag: 69 }");
    check(false, &message(b'N', b""), "!Malformed { tag: 78 }");
    check(true, &message(b'D', b"\0\x01\0\0\0\x05a"), "!Malformed { tag: 68 }");
    check(true, &message(b'T', b"\0\x01a"), "!Malformed { tag: 84 }");
    check(true, &message(b'C', b"SELECT 1"), "!Malformed { tag: 67 }");
    check(false, &message(b'R', b"\0\0\0\0"), "!Unexpected { tag: 82 }");
    check(false, &message(b'K', b"\0\0\0\0\0\0\0\0"), "!Unexpected { tag: 75 }");
    check(false, b"HTTP/1.1 400", "!BadLength { tag: 72, length: 1414811695 }");
    check(false, b"<html>", "!Unexpected { tag: 60 }");
}

#[test]
fn skips_gigabyte_row_without_buffering() {
    let mut channel = opened(Login::new("bench", ""));
    ask(&mut channel, 1);
    let idle = channel.memory();
    assert_eq!(feed(&mut channel, b"D\x40\0\0\x04", 1), [""; 0]);
    let piece = vec![0; 1 << 20];
    for _ in 0..1024 {
        assert_eq!(feed(&mut channel, &piece, usize::MAX), [""; 0]);
    }
    assert_eq!(feed(&mut channel, &message(b'Z', b"I"), usize::MAX), ["Ready(Idle rows 1)"]);
    assert_eq!(channel.memory(), idle);
}

#[test]
fn memory_follows_received_bytes_not_declared_length() {
    let mut channel = opened(Login::new("bench", ""));
    assert_eq!(feed(&mut channel, b"E\x01\0\0\0SERROR", 1), [""; 0]);
    assert!(channel.memory() < 256, "{}", channel.memory());
}

#[test]
fn frees_buffer_of_long_message() {
    let mut channel = opened(Login::new("bench", ""));
    ask(&mut channel, 1);
    let idle = channel.memory();
    let long = format!("M{}", "x".repeat(1 << 20));
    assert_eq!(feed(&mut channel, &notice(b'N', &[&long]), 1000).len(), 1);
    assert_eq!(feed(&mut channel, &message(b'Z', b"I"), 1), ["Ready(Idle)"]);
    assert!(channel.memory() <= idle + (4 << 10), "{}", channel.memory());
}

#[test]
fn keeps_parameters_when_requested() {
    let mut login = Login::new("bench", "");
    login.keep_parameters = true;
    let mut channel = opened(login);
    assert_eq!(channel.parameter("TimeZone"), Some("UTC"));
    for number in 0..200 {
        feed(&mut channel, &message(b'S', format!("a.b{number}\0x\0").as_bytes()), 3);
    }
    feed(&mut channel, &message(b'S', b"TimeZone\0Europe/Berlin\0"), 3);
    assert_eq!(channel.parameter("TimeZone"), Some("Europe/Berlin"));
    assert_eq!((channel.parameter("a.b0"), channel.parameter("a.b199")), (Some("x"), None));
    assert_eq!(opened(Login::new("bench", "")).parameter("TimeZone"), None);
}

/// Surplus bytes mean that responses and requests do not match. Asynchronous messages are the only exception.
#[test]
fn rejects_surplus_bytes() {
    const QUERY: &[u8] = b"Q\0\0\0\x0dSELECT 1\0";
    let done = || [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    let check = |syncs: usize, bytes: &[u8], expected: &str| {
        let mut channel = opened(Login::new("bench", ""));
        channel.request(|out| out.extend(QUERY.repeat(syncs)));
        assert_eq!(feed(&mut channel, bytes, usize::MAX).join(" "), expected, "{syncs}");
    };
    let ready = || message(b'Z', b"I");
    check(0, &ready(), "!Unexpected { tag: 90 }");
    check(1, &done(), "Ready(Idle statements 1)");
    check(1, &[done(), ready()].concat(), "!Unexpected { tag: 90 }");
    check(1, &[done(), b"Z".to_vec()].concat(), "!Unexpected { tag: 90 }");
    check(1, &[done(), done()].concat(), "!Unexpected { tag: 67 }");
    check(1, &[done(), message(b'D', b"\0\0")].concat(), "!Unexpected { tag: 68 }");
    check(1, &[done(), message(b'1', b"")].concat(), "!Unexpected { tag: 49 }");
    check(2, &[done(), done()].concat(), "Ready(Idle statements 1) Ready(Idle statements 1)");
    check(2, &[done(), done(), ready()].concat(), "Ready(Idle statements 1) !Unexpected { tag: 90 }");
    // ReadyForQuery without a response counts as one.
    check(1, &ready(), "!MissingResponse");
    check(2, &[done(), ready()].concat(), "Ready(Idle statements 1) !MissingResponse");
    check(2, &[ready(), done()].concat(), "Ready(Idle) !MissingResponse");
    let error = notice(b'E', &["SERROR", "VERROR", "C40001", "Mno"]);
    check(1, &[error, ready()].concat(), "Error(ERROR:  40001: no) Ready(Idle error 40001)");
    // Asynchronous messages are not surplus: the reply follows them.
    let warning = notice(b'N', &["SWARNING", "VWARNING", "C01000", "Mno"]);
    let end = notice(b'E', &["SFATAL", "VFATAL", "C57P01", "Mno"]);
    let check_asynchronous = |message: Vec<u8>, expected: &str| {
        let reply = "Ready(Idle statements 1)";
        check(
            1,
            &[done(), message].concat(),
            &format!("{expected}{}{reply}", if expected.is_empty() { "" } else { " " }),
        );
    };
    check_asynchronous(warning, "Notice(WARNING:  01000: no)");
    check_asynchronous(end, "Error(FATAL:  57P01: no)");
    check_asynchronous(message(b'S', b"TimeZone\0UTC\0"), "");
    check_asynchronous(message(b'A', b"\0\0\0\x01channel\0payload\0"), "");
}
