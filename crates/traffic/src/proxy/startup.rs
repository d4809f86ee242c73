//! First packets of a client, before its messages have types
//!
//! Source: PostgreSQL manual, "Message Formats": StartupMessage, SSLRequest, GSSENCRequest, CancelRequest.

use crate::recording::Identity;

/// Collects the first packets of a client.
#[derive(Debug, Default)]
pub struct StartupReader {
    buffer: Vec<u8>,
    /// True if clients send requests at once, as in HTTP.
    is_http: bool,
}

/// First packet of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Startup {
    /// The packet is not complete.
    Incomplete,
    /// The client asks for TLS. The answer is `S` or `N`; then the handshake or another packet follows.
    TlsRequest,
    /// The client asks for encryption by GSSAPI. The answer `N` refuses it; then another packet follows.
    GssRequest,
    /// The client begins the handshake of TLS without a request for it. The bytes stay in the reader.
    DirectTls,
    /// The client cancels the request of another connection, and sends nothing else.
    Cancel,
    /// The client begins a session.
    Session {
        identity: Identity,
        /// True if the session streams changes, so that it sends no requests that can be sent again.
        replication: bool,
    },
    /// The client sends requests without a packet before them.
    Requests,
    /// The bytes are no packet of protocol 3.
    Invalid,
}

/// Maximum length of a packet in bytes, as in the server (`MAX_STARTUP_PACKET_LENGTH`).
const LENGTH_MAX: usize = 10_000;

const CANCEL: u32 = 1234 << 16 | 5678;
const SSL: u32 = 1234 << 16 | 5679;
const GSSENC: u32 = 1234 << 16 | 5680;
/// Type of the first record of TLS. The first byte of a packet is 0, because packets are short.
const TLS_HANDSHAKE: u8 = 0x16;

impl StartupReader {
    /// Reader for a protocol in which clients send requests at once.
    pub fn http() -> StartupReader {
        StartupReader { is_http: true, ..StartupReader::default() }
    }

    /// Adds bytes of the client, and returns the first packet.
    pub fn read(&mut self, bytes: &[u8]) -> Startup {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.first() == Some(&TLS_HANDSHAKE) {
            return Startup::DirectTls;
        }
        if self.is_http {
            return Startup::Requests;
        }
        let Some((length, rest)) = self.buffer.split_first_chunk() else { return Startup::Incomplete };
        let length = u32::from_be_bytes(*length) as usize;
        if !(8..=LENGTH_MAX).contains(&length) {
            return Startup::Invalid;
        }
        let Some(packet) = rest.get(..length - 4) else { return Startup::Incomplete };
        let (code, body) = packet.split_first_chunk().expect("the length was checked");
        match u32::from_be_bytes(*code) {
            // A client waits for the answer. Bytes that follow at once were not sent by this client.
            code @ (SSL | GSSENC) if self.buffer.len() == 8 => {
                self.buffer.clear();
                if code == SSL { Startup::TlsRequest } else { Startup::GssRequest }
            }
            CANCEL => Startup::Cancel,
            code if code >> 16 == 3 => session(body).unwrap_or(Startup::Invalid),
            _ => Startup::Invalid,
        }
    }

    /// The first packet and the bytes after it, which are to be forwarded.
    pub fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }

    /// Length of the first packet, which is complete.
    pub fn packet_length(&self) -> usize {
        if self.is_http {
            return 0;
        }
        self.buffer.first_chunk().map_or(0, |it| u32::from_be_bytes(*it) as usize)
    }
}

/// Reads the parameters of a StartupMessage; `None` if they are cut off.
fn session(mut body: &[u8]) -> Option<Startup> {
    let mut identity = Identity::default();
    let mut replication = false;
    loop {
        let name = text(&mut body)?;
        if name.is_empty() {
            break;
        }
        let value = text(&mut body)?;
        match &*name {
            "user" => identity.user = Some(value),
            "database" => identity.database = Some(value),
            "application_name" => identity.application = Some(value),
            "replication" => {
                replication = !["false", "off", "no", "0"].iter().any(|it| it.eq_ignore_ascii_case(&value));
            }
            _ => {}
        }
    }
    // The server's default.
    identity.database = identity.database.filter(|it| !it.is_empty()).or_else(|| identity.user.clone());
    Some(Startup::Session { identity, replication })
}

/// Removes a text that ends with NUL.
fn text(bytes: &mut &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    *bytes = &bytes[end + 1..];
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(code: u32, body: &[u8]) -> Vec<u8> {
        let length = 8 + body.len() as u32;
        [&length.to_be_bytes(), &code.to_be_bytes(), body].concat()
    }

    fn session(
        user: Option<&str>,
        database: Option<&str>,
        application: Option<&str>,
        replication: bool,
    ) -> Startup {
        let [user, database, application] = [user, database, application].map(|it| it.map(str::to_owned));
        Startup::Session { identity: Identity { user, database, application }, replication }
    }

    #[test]
    fn reads_first_packets() {
        let version = 3 << 16;
        for (bytes, expected) in [
            (packet(SSL, b""), Startup::TlsRequest),
            (packet(GSSENC, b""), Startup::GssRequest),
            ([packet(SSL, b""), vec![0]].concat(), Startup::Invalid),
            (packet(CANCEL, b"\0\0\0\x01\0\0\0\x02"), Startup::Cancel),
            (
                packet(version, b"user\0ann\0database\0shop\0application_name\0web\0\0"),
                session(Some("ann"), Some("shop"), Some("web"), false),
            ),
            (packet(version + 2, b"user\0ann\0\0"), session(Some("ann"), Some("ann"), None, false)),
            (
                packet(version, b"user\0a\0replication\0database\0\0"),
                session(Some("a"), Some("a"), None, true),
            ),
            (packet(version, b"user\0a\0replication\0OFF\0\0"), session(Some("a"), Some("a"), None, false)),
            (packet(version, b"user\0a"), Startup::Invalid),
            (packet(2 << 16, b"user"), Startup::Invalid),
            (b"\x16\x03\x01\x02\0".to_vec(), Startup::DirectTls),
            (b"GET / HTTP/1.1\r\n".to_vec(), Startup::Invalid),
        ] {
            assert_eq!(StartupReader::default().read(&bytes), expected, "{}", bytes.escape_ascii());
            let mut reader = StartupReader::default();
            let mut pieces = bytes.iter().map(|byte| reader.read(&[*byte]));
            let found = pieces.find(|it| *it != Startup::Incomplete);
            let is_followed = bytes.len() == 9;
            assert_eq!(found, Some(if is_followed { Startup::TlsRequest } else { expected }));
        }
    }

    #[test]
    fn keeps_the_bytes_after_a_refused_request() {
        let mut reader = StartupReader::default();
        assert_eq!(reader.read(&packet(SSL, b"")), Startup::TlsRequest);
        let startup = packet(3 << 16, b"user\0ann\0\0");
        let all = [startup.clone(), b"Q\0\0\0\x04".to_vec()].concat();
        assert_eq!(reader.read(&all), session(Some("ann"), Some("ann"), None, false));
        assert_eq!(reader.packet_length(), startup.len());
        assert_eq!(reader.into_bytes(), all);
    }
}
