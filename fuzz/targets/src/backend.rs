//! Target for PostgreSQL sessions: no server message crashes a session, and the splitting of messages does not change
//! their meaning.

use std::sync::{Arc, LazyLock};
use wire::pg::{Channel, Event, Login, Secret, SslMode, Transport};

static PLAIN: LazyLock<Arc<Login>> = LazyLock::new(|| Arc::new(login(SslMode::Disable)));
static TLS: LazyLock<Arc<Login>> = LazyLock::new(|| Arc::new(login(SslMode::Prefer)));

fn login(ssl: SslMode) -> Login {
    let mut login = Login::new("bench", "book");
    login.password = Some(Secret::new("secret"));
    login.keep_parameters = true;
    login.methods.clear_text = true;
    login.ssl = ssl;
    login.tls = wire::tls::config(ssl, &Default::default(), Default::default()).ok();
    login
}

/// Stages of the login at which the fuzzed bytes begin.
const BEFORE: [&[u8]; 6] = [
    b"",
    b"R\0\0\0\x2a\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0",
    b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0",
    b"R\0\0\0\x0c\0\0\0\x05salt",
    b"R\0\0\0\x08\0\0\0\0",
    b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I",
];

/// Length of a ReadyForQuery, in bytes.
const READY: usize = 6;

/// Runs one input. The first byte selects the state. The second byte selects how the rest is split.
pub fn run(data: &[u8]) {
    let [state, cut, bytes @ ..] = data else { return };
    let watch = state & 0x80 != 0;
    let secured = state & 0x40 != 0;
    // If the state ends with an expected response, the split determines whether later bytes arrive together with the
    // response.
    let last = state & 0x20 != 0;
    let requests = if last { 1 } else { bytes.len() / READY + 2 };
    let before = BEFORE[usize::from(state & 0x1f) % BEFORE.len()];
    let start = || {
        let login = if secured { TLS.clone() } else { PLAIN.clone() };
        let mut channel = Channel::new(login, Transport::Tcp, [7; 18]);
        channel.open();
        if !secured {
            feed(&mut channel, before, before.len());
        }
        channel.set_watched(watch);
        if channel.is_open() {
            channel.request(|out| out.extend(b"S\0\0\0\x04".repeat(requests)));
        }
        channel
    };
    let (mut whole, mut cuts) = (start(), start());
    let seen = feed(&mut whole, bytes, bytes.len());
    // TLS rejects plain bytes after the response to SSLRequest only if both arrive together.
    if !secured && !last {
        assert_eq!(seen, feed(&mut cuts, bytes, usize::from(*cut)));
    } else {
        feed(&mut cuts, bytes, usize::from(*cut));
    }
}

/// Feeds `bytes` in pieces of `step`, or of 1, 2, 3, … if `step` is 0. Returns the events.
fn feed(channel: &mut Channel, bytes: &[u8], step: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let (mut rest, mut next) = (bytes, step.max(1));
    while !rest.is_empty() {
        let (mut piece, after) = rest.split_at(next.min(rest.len()));
        rest = after;
        next += usize::from(step == 0);
        loop {
            let left = piece.len();
            match channel.receive(&mut piece) {
                Ok(Event::More) => {
                    assert!(piece.is_empty());
                    break;
                }
                Ok(event) => {
                    assert!(piece.len() < left || left == 0);
                    look(&event);
                    seen.push(format!("{event:?}"));
                }
                Err(error) => {
                    seen.push(format!("{error:?} {:?}", channel.second_attempt()));
                    return seen;
                }
            }
        }
        assert!(channel.memory() <= 8 * bytes.len() + 16384, "memory use follows the received bytes");
        let n = channel.outgoing().len();
        channel.sent(n);
    }
    seen
}

/// Calls every accessor of an event, none of which may panic.
fn look(event: &Event<'_>) {
    match event {
        Event::Columns(it) => assert_eq!(it.iter().count(), it.count()),
        Event::Row(it) => assert_eq!(it.iter().count(), it.count()),
        Event::Error(response) | Event::Notice(response) => {
            let _ = (
                response.code(),
                response.severity(),
                response.is_fatal(),
                response.message(),
                response.detail(),
                response.hint(),
                response.position(),
            );
            let _ = format!("{response}");
        }
        _ => {}
    }
}
