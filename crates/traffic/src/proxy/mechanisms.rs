//! Mechanisms of authentication that a server offers
//!
//! `SCRAM-SHA-256-PLUS` binds a login to the certificate that the client received from the server. A proxy that ends TLS
//! has another certificate, so the mechanism cannot succeed. Source: PostgreSQL manual, "SASL Authentication".

/// Removes `SCRAM-SHA-256-PLUS` from the offered mechanisms. All other bytes of the server remain as they are.
#[derive(Debug, Default)]
pub(super) struct MechanismFilter {
    /// Beginning of a message that is not complete.
    incomplete: Vec<u8>,
}

/// Progress of a [`MechanismFilter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterProgress {
    /// The server has not requested an authentication yet.
    Waiting,
    /// The offer has passed. Later bytes need no filter.
    Passed {
        /// True if the mechanism was removed.
        removed: bool,
    },
}

const BOUND: &[u8] = b"SCRAM-SHA-256-PLUS";
/// Maximum length of a message before the request for authentication.
const LENGTH_MAX: usize = 64 << 10;
/// Request for authentication that offers mechanisms of SASL.
const SASL: [u8; 4] = [0, 0, 0, 10];

impl MechanismFilter {
    /// Appends the bytes for the client to `out`. Bytes of an incomplete message are kept for the next call.
    pub fn filter(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> FilterProgress {
        self.incomplete.extend_from_slice(bytes);
        loop {
            let Some(&[tag, a, b, c, d]) = self.incomplete.first_chunk() else {
                return FilterProgress::Waiting;
            };
            let length = 1 + u32::from_be_bytes([a, b, c, d]) as usize;
            if !matches!(tag, b'R' | b'N' | b'v') || !(5..=LENGTH_MAX).contains(&length) {
                out.append(&mut self.incomplete);
                return FilterProgress::Passed { removed: false };
            }
            if self.incomplete.len() < length {
                return FilterProgress::Waiting;
            }
            let message: Vec<u8> = self.incomplete.drain(..length).collect();
            if tag != b'R' {
                out.extend(message);
                continue;
            }
            let rest = without_binding(&message);
            out.extend_from_slice(rest.as_deref().unwrap_or(&message));
            out.append(&mut self.incomplete);
            return FilterProgress::Passed { removed: rest.is_some() };
        }
    }
}

/// Offer without the mechanism; `None` if it does not offer this and another mechanism.
fn without_binding(message: &[u8]) -> Option<Vec<u8>> {
    let names = message.get(5..)?.strip_prefix(&SASL)?.strip_suffix(b"\0\0")?;
    let names: Vec<&[u8]> = names.split(|byte| *byte == 0).collect();
    let others: Vec<&[u8]> = names.iter().copied().filter(|name| *name != BOUND).collect();
    if others.is_empty() || others.len() == names.len() {
        return None;
    }
    let body = [&SASL[..], &others.join(&0), b"\0\0"].concat();
    Some([&b"R"[..], &(4 + body.len() as u32).to_be_bytes(), &body].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag][..], &(4 + body.len() as u32).to_be_bytes(), body].concat()
    }

    fn offer(names: &str) -> Vec<u8> {
        message(b'R', &[&SASL[..], names.replace(' ', "\0").as_bytes(), b"\0\0"].concat())
    }

    /// Checks the bytes for the client, however the server's bytes are split.
    fn check(server: &[u8], client: &[u8], removed: bool) {
        for at in 0..=server.len() {
            let (mut filter, mut out) = (MechanismFilter::default(), Vec::new());
            let mut progress = FilterProgress::Waiting;
            for piece in [&server[..at], &server[at..]] {
                match progress {
                    FilterProgress::Waiting => progress = filter.filter(piece, &mut out),
                    FilterProgress::Passed { .. } => out.extend_from_slice(piece),
                }
            }
            assert_eq!(out.escape_ascii().to_string(), client.escape_ascii().to_string(), "split at {at}");
            assert_eq!(progress, FilterProgress::Passed { removed });
        }
    }

    #[test]
    fn removes_only_the_bound_mechanism() {
        let unbound = offer("SCRAM-SHA-256");
        check(&offer("SCRAM-SHA-256-PLUS SCRAM-SHA-256"), &unbound, true);
        check(&offer("SCRAM-SHA-256 SCRAM-SHA-256-PLUS OTHER"), &offer("SCRAM-SHA-256 OTHER"), true);
        let notice = message(b'N', b"SNOTICE\0\0");
        let after = message(b'R', &[&[0, 0, 0, 11][..], b"r=x"].concat());
        let server = [&notice[..], &offer("SCRAM-SHA-256-PLUS SCRAM-SHA-256"), &after].concat();
        check(&server, &[notice, unbound, after].concat(), true);
    }

    #[test]
    fn leaves_everything_else_unchanged() {
        for bytes in [
            offer("SCRAM-SHA-256"),
            offer("SCRAM-SHA-256-PLUS"),
            message(b'R', &[0, 0, 0, 0]),
            message(b'R', &[0, 0, 0, 5, 1, 2, 3, 4]),
            message(b'E', b"SFATAL\0C28000\0\0"),
            // A name of a later message.
            [message(b'R', &[0, 0, 0, 0]), offer("SCRAM-SHA-256-PLUS SCRAM-SHA-256")].concat(),
            b"R\0\0\0\0 no message".to_vec(),
            b"R\x7f\xff\xff\xff long".to_vec(),
            b"HTTP/1.1 400 Bad Request".to_vec(),
        ] {
            check(&bytes, &bytes, false);
        }
    }
}
