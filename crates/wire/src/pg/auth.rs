//! Authentication: responses to the server's requests.

use super::frontend::append;
use super::scram::{GsChannelBinding, ScramExchange};
use super::{ChannelBinding, Login, ProtocolError};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::message::frontend;

/// Authentication state of one login.
#[derive(Debug)]
pub(super) struct Authenticator {
    nonce: [u8; 18],
    /// True if a password or its proof was sent.
    started: bool,
    scram: Option<ScramExchange>,
    /// True if the server has proved that it knows the password.
    server_proved: bool,
    /// Protection of the connection over which the client authenticates.
    pub protection: ChannelProtection,
}

pub(super) enum AuthResponse {
    /// The server accepted the login, and the login's settings permit that at this point.
    Authenticated,
    /// The request needs no response.
    Nothing,
    Send(Vec<u8>),
}

/// TLS properties that matter for authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChannelProtection {
    Plain,
    /// Connection with TLS. The value is the `tls-server-end-point` hash of the server's certificate; `None` if the
    /// certificate has no such hash.
    Tls(Option<Vec<u8>>),
}

impl Authenticator {
    pub fn new(nonce: [u8; 18]) -> Authenticator {
        Authenticator {
            nonce,
            started: false,
            scram: None,
            server_proved: false,
            protection: ChannelProtection::Plain,
        }
    }

    /// Returns the response to an authentication request of the server.
    pub fn answer(&mut self, login: &Login, request: &[u8]) -> Result<AuthResponse, ProtocolError> {
        let malformed = ProtocolError::Malformed { tag: b'R' };
        let (&method, more) = request.split_first_chunk().ok_or(malformed)?;
        let method = u32::from_be_bytes(method);
        let refused = ProtocolError::Authentication { method };
        let password = || login.password.as_ref().ok_or(ProtocolError::NoPassword);
        match method {
            OK => {
                self.check_accepted(login)?;
                Ok(AuthResponse::Authenticated)
            }
            CLEAR_TEXT if !login.methods.clear_text => Err(refused),
            MD5 if !login.methods.md5 => Err(refused),
            SASL if !login.methods.scram => Err(refused),
            CLEAR_TEXT | MD5 if login.channel_binding == ChannelBinding::Require => Err(UNBOUND),
            CLEAR_TEXT | MD5 | SASL if std::mem::replace(&mut self.started, true) => {
                Err(ProtocolError::Unexpected { tag: b'R' })
            }
            CLEAR_TEXT => Ok(send_password(password()?.reveal())),
            MD5 => {
                let salt = more.try_into().map_err(|_| malformed)?;
                Ok(send_password(&md5_hash(login.user.as_bytes(), password()?.reveal().as_bytes(), salt)))
            }
            SASL => {
                password()?;
                let (mechanism, binding) = choose(login.channel_binding, more, &self.protection)?;
                let exchange = self.scram.insert(ScramExchange::new("", &self.nonce, binding));
                let mut out = Vec::new();
                append(&mut out, |out| {
                    let first = exchange.first();
                    frontend::sasl_initial_response(mechanism, first.as_bytes(), out)
                        .expect("a short message");
                });
                Ok(AuthResponse::Send(out))
            }
            SASL_CONTINUE => {
                let exchange = self.scram.as_mut().ok_or(ProtocolError::Unexpected { tag: b'R' })?;
                let password = password()?.reveal();
                let proof = exchange.proof(more, |salt, rounds| login.salted.get(password, salt, rounds))?;
                let mut out = Vec::new();
                append(&mut out, |out| {
                    frontend::sasl_response(proof.as_bytes(), out).expect("a short message");
                });
                Ok(AuthResponse::Send(out))
            }
            SASL_FINAL => {
                self.scram.as_ref().ok_or(ProtocolError::Unexpected { tag: b'R' })?.verify(more)?;
                self.server_proved = true;
                Ok(AuthResponse::Nothing)
            }
            _ => Err(refused),
        }
    }

    /// Checks that the server may send `AuthenticationOk` at this point.
    fn check_accepted(&self, login: &Login) -> Result<(), ProtocolError> {
        match &self.scram {
            Some(_) if !self.server_proved => {
                Err(ProtocolError::Scram("the server did not prove that it knows the password"))
            }
            exchange if login.channel_binding == ChannelBinding::Require => {
                if exchange.as_ref().is_some_and(ScramExchange::has_channel_binding) {
                    Ok(())
                } else {
                    Err(UNBOUND)
                }
            }
            _ if !self.started && !login.methods.none => Err(ProtocolError::Authentication { method: OK }),
            _ => Ok(()),
        }
    }
}

// Source: PostgreSQL's `libpq/pqcomm.h`, AUTH_REQ_…
const OK: u32 = 0;
const CLEAR_TEXT: u32 = 3;
const MD5: u32 = 5;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;

const UNBOUND: ProtocolError =
    ProtocolError::Scram("channel_binding=require, but the server does not support channel binding");

/// Chooses the SASL mechanism among those that the server offers.
fn choose(
    required: ChannelBinding,
    offered: &[u8],
    cover: &ChannelProtection,
) -> Result<(&'static str, GsChannelBinding), ProtocolError> {
    const PLAIN: &str = "SCRAM-SHA-256";
    const PLUS: &str = "SCRAM-SHA-256-PLUS";
    let offers = |name: &str| offered.split(|it| *it == 0).any(|it| it == name.as_bytes());
    let binding = match (required, cover) {
        (_, ChannelProtection::Plain) if offers(PLUS) => {
            return Err(ProtocolError::Scram("the server offers channel binding without TLS"));
        }
        (ChannelBinding::Disable, _) | (_, ChannelProtection::Plain | ChannelProtection::Tls(None)) => {
            GsChannelBinding::Unsupported
        }
        (_, ChannelProtection::Tls(Some(hash))) if offers(PLUS) => {
            return Ok((PLUS, GsChannelBinding::EndPoint(hash.clone())));
        }
        (_, ChannelProtection::Tls(Some(_))) => GsChannelBinding::NotOffered,
    };
    if required == ChannelBinding::Require {
        Err(UNBOUND)
    } else if offers(PLAIN) {
        Ok((PLAIN, binding))
    } else {
        Err(ProtocolError::Authentication { method: SASL })
    }
}

fn send_password(text: &str) -> AuthResponse {
    let mut out = Vec::new();
    append(&mut out, |out| frontend::password_message(text.as_bytes(), out).expect("no NUL in a password"));
    AuthResponse::Send(out)
}

#[cfg(test)]
mod tests {
    use super::super::{AuthMethods, Secret};
    use super::*;

    fn login(change: impl FnOnce(&mut Login)) -> Login {
        let mut login = Login::new("postgres", "");
        login.password = Some(Secret::new("secret"));
        change(&mut login);
        login
    }

    /// Answers the requests in turn. The last response, or the first error, must be `expected`.
    fn check(login: &Login, cover: &ChannelProtection, requests: &[&[u8]], expected: &str) {
        let mut proof = Authenticator::new([0; 18]);
        proof.protection = cover.clone();
        let mut shown = String::new();
        for request in requests {
            shown = match proof.answer(login, request) {
                Ok(AuthResponse::Authenticated) => "in".into(),
                Ok(AuthResponse::Nothing) => "-".into(),
                Ok(AuthResponse::Send(bytes)) => bytes[5..].escape_ascii().to_string(),
                Err(error) => error.to_string(),
            };
        }
        assert_eq!(shown, expected, "{requests:?}");
    }

    const ASK_MD5: &[u8] = b"\0\0\0\x05\x93\xc4\x2d\x56";
    const ASK_CLEAR: &[u8] = b"\0\0\0\x03";
    const LET_IN: &[u8] = b"\0\0\0\0";
    const ASK_SCRAM: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
    const ASK_PLUS: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    const CONTINUE: &[u8] = b"\0\0\0\x0br=AAAAAAAAAAAAAAAAAAAAAAAAx,s=W22Z,i=1";

    #[test]
    fn answers_password_requests() {
        let usual = login(|_| {});
        let plain = &ChannelProtection::Plain;
        // "md5" md5(md5("secret" "postgres") salt), computed by Python's hashlib.
        check(&usual, plain, &[ASK_MD5], "md5736d15b5a70d36a1be8aeed2487d15a0\\x00");
        check(&usual, plain, &[ASK_MD5, LET_IN], "in");
        check(&usual, plain, &[ASK_MD5, ASK_MD5], "unexpected message 'R'");
        check(&usual, plain, &[b"\0\0\0\x05abc"], "malformed message 'R'");
        check(&usual, plain, &[b"\0\0\0"], "malformed message 'R'");
        let refused = "the server requests a clear-text password; to allow it, set require_auth=password";
        check(&usual, plain, &[ASK_CLEAR], refused);
        let clear = login(|it| it.methods.clear_text = true);
        check(&clear, plain, &[ASK_CLEAR], "secret\\x00");
        let refused = "the server requests GSSAPI (code 7), which is not allowed";
        check(&usual, plain, &[b"\0\0\0\x07"], refused);
        let without = login(|it| it.password = None);
        for method in [ASK_MD5, ASK_SCRAM] {
            check(&without, plain, &[method], "the server requests a password, but none was given");
        }
    }

    #[test]
    fn rejects_weaker_authentication() {
        let strict =
            login(|it| it.methods = AuthMethods { none: false, clear_text: false, md5: false, scram: true });
        let plain = &ChannelProtection::Plain;
        check(&login(|_| {}), plain, &[LET_IN], "in");
        let refused = "the server requests no authentication (code 0), which is not allowed";
        check(&strict, plain, &[LET_IN], refused);
        let refused = "the server requests an MD5 password (code 5), which is not allowed";
        check(&strict, plain, &[ASK_MD5], refused);
        let unproved = "SCRAM: the server did not prove that it knows the password";
        check(&strict, plain, &[ASK_SCRAM, LET_IN], unproved);
        check(&strict, plain, &[ASK_SCRAM, CONTINUE, LET_IN], unproved);
        check(&strict, plain, &[CONTINUE], "unexpected message 'R'");
        check(&strict, plain, &[b"\0\0\0\x0cv="], "unexpected message 'R'");
        check(
            &strict,
            plain,
            &[ASK_SCRAM, CONTINUE, CONTINUE],
            "SCRAM: the server requested the proof twice",
        );
        let refused = "the server requests SASL (code 10), which is not allowed";
        check(&strict, plain, &[b"\0\0\0\x0aOAUTHBEARER\0\0"], refused);
    }

    #[test]
    fn chooses_channel_binding() {
        let login_with = |required| login(|it| it.channel_binding = required);
        let (disable, prefer, require) = (
            login_with(ChannelBinding::Disable),
            login_with(ChannelBinding::Prefer),
            login_with(ChannelBinding::Require),
        );
        let tls = &ChannelProtection::Tls(Some(b"hash".to_vec()));
        let first = |mechanism: &str, header: &str| {
            let first = format!("{header}n=,r=AAAAAAAAAAAAAAAAAAAAAAAA");
            let length = (first.len() as u32).to_be_bytes().escape_ascii().to_string();
            format!("{mechanism}\\x00{length}{first}")
        };
        check(&prefer, tls, &[ASK_PLUS], &first("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,"));
        check(&require, tls, &[ASK_PLUS], &first("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,"));
        check(&disable, tls, &[ASK_PLUS], &first("SCRAM-SHA-256", "n,,"));
        check(&prefer, tls, &[ASK_SCRAM], &first("SCRAM-SHA-256", "y,,"));
        check(&prefer, &ChannelProtection::Tls(None), &[ASK_PLUS], &first("SCRAM-SHA-256", "n,,"));
        check(&prefer, &ChannelProtection::Plain, &[ASK_SCRAM], &first("SCRAM-SHA-256", "n,,"));
        let lie = "SCRAM: the server offers channel binding without TLS";
        check(&prefer, &ChannelProtection::Plain, &[ASK_PLUS], lie);
        let unbound = "SCRAM: channel_binding=require, but the server does not support channel binding";
        for (cover, method) in
            [(tls, ASK_SCRAM), (&ChannelProtection::Plain, ASK_SCRAM), (tls, ASK_MD5), (tls, LET_IN)]
        {
            check(&require, cover, &[method], unbound);
        }
    }
}
