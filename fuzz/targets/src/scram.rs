//! Target for SCRAM: a server that does not know the password is rejected.

use std::sync::{Arc, LazyLock};
use wire::pg::{AuthMethods, Channel, Event, Login, Secret, Transport};

static LOGIN: LazyLock<Arc<Login>> = LazyLock::new(|| {
    let mut login = Login::new("bench", "book");
    login.password = Some(Secret::new("pä$$word"));
    login.methods = AuthMethods { none: false, clear_text: false, md5: false, scram: true };
    Arc::new(login)
});

/// Client's nonce, which follows from the fixed random bytes of this target.
const NONCE: &[u8] = b"BwcHBwcHBwcHBwcHBwcHBwcH";

/// Runs one input: three texts, separated by 0xff (mechanisms, first and last message). `@` in the first message stands
/// for the client's nonce.
pub fn run(data: &[u8]) {
    let mut parts = data.splitn(3, |it| *it == 0xff);
    let mut part = || parts.next().unwrap_or_default();
    let (mechanisms, first, last) = (part(), part().replace_nonce(), part());
    if too_many_iterations(&first) {
        return;
    }
    let mut channel = Channel::new(LOGIN.clone(), Transport::Tcp, [7; 18]);
    channel.open();
    let messages = [
        request(10, mechanisms),
        request(11, &first),
        request(12, last),
        request(0, b""),
        b"Z\0\0\0\x05I".to_vec(),
    ];
    for message in messages {
        let mut input = &message[..];
        loop {
            match channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(Event::Opened) => panic!("a server without the password was accepted"),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

fn request(kind: u32, body: &[u8]) -> Vec<u8> {
    [b"R", &(body.len() as u32 + 8).to_be_bytes()[..], &kind.to_be_bytes(), body].concat()
}

/// True for iteration counts that take long and test nothing new.
fn too_many_iterations(first: &[u8]) -> bool {
    first.windows(6).any(|it| it.starts_with(b"i=") && it[2..].iter().all(u8::is_ascii_digit))
}

trait ReplaceNonce {
    fn replace_nonce(&self) -> Vec<u8>;
}

impl ReplaceNonce for [u8] {
    fn replace_nonce(&self) -> Vec<u8> {
        self.split(|it| *it == b'@').collect::<Vec<_>>().join(NONCE)
    }
}
