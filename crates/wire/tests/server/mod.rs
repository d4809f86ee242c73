//! Backend messages and a small in-memory server for the tests.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod scripted;

use std::sync::Arc;
use wire::pg::{Channel, Event, Login, Transport};

/// Backend message.
pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(body);
    out
}

/// Response to a prepared SELECT of one row: BindComplete, DataRow, CommandComplete, ReadyForQuery.
pub fn select_one(value: &[u8]) -> Vec<u8> {
    let mut row = vec![0, 1];
    row.extend_from_slice(&(value.len() as u32).to_be_bytes());
    row.extend_from_slice(value);
    [message(b'2', b""), message(b'D', &row), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat()
}

/// RowDescription of one bigint column `id`.
pub fn columns() -> Vec<u8> {
    message(b'T', b"\0\x01id\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0")
}

/// ErrorResponse or NoticeResponse.
pub fn notice(tag: u8, fields: &[&str]) -> Vec<u8> {
    let mut body = Vec::new();
    for field in fields {
        body.extend_from_slice(field.as_bytes());
        body.push(0);
    }
    body.push(0);
    message(tag, &body)
}

/// Messages after a successful authentication.
pub fn welcome() -> Vec<u8> {
    [
        message(b'R', b"\0\0\0\0"),
        message(b'S', b"server_version\x0015.18\0"),
        message(b'S', b"TimeZone\0UTC\0"),
        message(b'K', b"\0\0\0\x07\xff\xff\xff\xfe"),
        message(b'Z', b"I"),
    ]
    .concat()
}

/// Channel on a Unix socket with completed login.
pub fn opened(login: Login) -> Channel {
    let mut channel = Channel::new(Arc::new(login), Transport::Unix, [7; 18]);
    channel.open();
    sent(&mut channel);
    assert_eq!(feed(&mut channel, &welcome(), usize::MAX), ["Opened"]);
    channel
}

/// Feeds `bytes` in pieces of `step`; returns the events as text. An error, always the last one, begins with `!`.
pub fn feed(channel: &mut Channel, bytes: &[u8], step: usize) -> Vec<String> {
    let mut events = Vec::new();
    for mut piece in bytes.chunks(step.min(bytes.len().max(1))) {
        loop {
            match channel.receive(&mut piece) {
                Ok(Event::More) => {
                    assert!(piece.is_empty(), "`More` means that all is consumed");
                    break;
                }
                Ok(event) => events.push(show(&event)),
                Err(error) => {
                    events.push(format!("!{error:?}"));
                    return events;
                }
            }
        }
    }
    events
}

pub fn show(event: &Event<'_>) -> String {
    match event {
        Event::CopyData(it) => format!("CopyData({})", it.escape_ascii()),
        Event::CommandComplete(tag) => format!("Done({})", tag.escape_ascii()),
        Event::Error(it) => format!("Error({it})"),
        Event::Notice(it) => format!("Notice({it})"),
        Event::Ready(ready) => {
            let mut text = format!("Ready({:?}", ready.status);
            let mut add = |name: &str, value: u64| {
                if value != 0 {
                    text.push_str(&format!(" {name} {value}"));
                }
            };
            add("rows", ready.rows.into());
            add("parsed", ready.parsed.into());
            add("statements", ready.statements.into());
            add("rolled_back", ready.rolled_back.into());
            add("local_only", ready.local_only.into());
            text + &ready.error.map_or(String::new(), |it| format!(" error {it}")) + ")"
        }
        other => format!("{other:?}"),
    }
}

/// Takes all queued bytes.
pub fn sent(channel: &mut Channel) -> Vec<u8> {
    let out = channel.outgoing().to_vec();
    channel.sent(out.len());
    out
}
