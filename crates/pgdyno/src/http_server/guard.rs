//! Access control of HTTP requests
//!
//! Users of this machine have read access. Pages of other sites in the same browser have no access. Even after DNS
//! rebinding, such a page cannot send the server's Host or Origin, and cannot read the token in the server's pages.
//! Requests from other machines also require the user's token.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// Headers that identify a request; `None` if a header is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestIdentity<'a> {
    /// True for all methods except GET and HEAD.
    pub is_write: bool,
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub cookie: Option<&'a str>,
    pub authorization: Option<&'a str>,
}

/// Reasons for denying access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The Host header has the name of another server.
    Host,
    /// The request came from a page of another site.
    Origin,
    /// The request has no valid form token of the server's pages.
    Form,
    /// The request does not have the user's token.
    Unauthenticated,
}

/// Access rules of a server.
#[derive(Debug)]
pub struct Guard {
    port: u16,
    /// Names of this server, in lower case, without port.
    names: Vec<String>,
    /// True if the server listens on all addresses, so that any IP address is accepted as Host.
    is_wildcard: bool,
    token: Option<TokenDigest>,
    form: String,
    session: String,
}

/// Digest of the user's token. It can be compared with another digest, but does not reveal the token.
struct TokenDigest([u8; 32]);

impl std::fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Guard {
    /// Rules for a server that listens at `address` and is requested as `host`. `token` is the user's token, if there
    /// is one.
    pub fn new(address: SocketAddr, host: Option<&str>, token: Option<&str>) -> io::Result<Guard> {
        let ip = address.ip();
        let mut names: Vec<String> = host.map(str::to_ascii_lowercase).into_iter().collect();
        names.push(url_host(ip));
        if ip.is_loopback() || ip.is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        Ok(Guard {
            port: address.port(),
            names,
            is_wildcard: ip.is_unspecified(),
            token: token.map(|it| TokenDigest(digest(it))),
            form: random_token()?,
            session: random_token()?,
        })
    }

    /// Form token in the server's pages, which pages of other sites cannot read.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// True if `form` is the server's form token.
    pub fn is_ours(&self, form: &str) -> bool {
        constant_time_eq(form, &self.form)
    }

    /// True if the text is the user's token.
    pub fn is_token(&self, text: &str) -> bool {
        self.token.as_ref().is_some_and(|token| digests_equal(&token.0, &digest(text)))
    }

    /// Session cookie for authenticated users.
    pub fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.session)
    }

    /// Name of the cookie. It contains the port, because browsers send a cookie to all ports of a host.
    fn cookie_name(&self) -> String {
        format!("pgdyno-{}", self.port)
    }

    /// Checks that the request was sent to this server, and not by a page of another site. Does not authenticate the
    /// user.
    pub fn check_origin(&self, identity: RequestIdentity<'_>) -> Result<(), AccessError> {
        let host = identity.host.filter(|it| self.is_host(it)).ok_or(AccessError::Host)?;
        match identity.origin.map(|it| it.strip_prefix("http://")) {
            Some(Some(origin)) if origin.eq_ignore_ascii_case(host) => Ok(()),
            Some(_) => Err(AccessError::Origin),
            None if identity.is_write => Err(AccessError::Origin),
            None => Ok(()),
        }
    }

    /// Checks that the request has the user's token, if one is set.
    pub fn check_token(&self, identity: RequestIdentity<'_>) -> Result<(), AccessError> {
        if self.token.is_none() {
            return Ok(());
        }
        let name = self.cookie_name();
        let mut cookies =
            identity.cookie.unwrap_or_default().split(';').filter_map(|it| it.trim().split_once('='));
        let by_cookie = cookies.any(|(key, value)| key == name && constant_time_eq(value, &self.session));
        let bearer = identity.authorization.and_then(|it| it.strip_prefix("Bearer "));
        let known = by_cookie || bearer.is_some_and(|it| self.is_token(it.trim()));
        if known { Ok(()) } else { Err(AccessError::Unauthenticated) }
    }

    fn is_host(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.port) {
            return false;
        }
        // Accept only known names, because anyone can register a domain name that resolves to the server's address. Any
        // IP address is safe as Host.
        let is_address =
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|it| url_host(it) == name);
        self.names.iter().any(|it| it.eq_ignore_ascii_case(name)) || self.is_wildcard && is_address()
    }
}

/// IP address as written in a URL.
pub fn url_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(it) => it.to_string(),
        IpAddr::V6(it) => format!("[{it}]"),
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Compares in constant time, so that the duration does not reveal the position of a difference.
fn constant_time_eq(a: &str, b: &str) -> bool {
    digests_equal(&digest(a), &digest(b))
}

fn digests_equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let differing = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(differing) == 0
}

/// 256 random bits as hexadecimal digits.
fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut all, byte| {
        let _ = write!(all, "{byte:02x}");
        all
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, host: Option<&str>, token: Option<&str>) -> Guard {
        let address = address.parse().expect("an address and a port");
        Guard::new(address, host, token).expect("chance is at hand")
    }

    #[test]
    fn rejects_foreign_hosts() {
        let loopback = guard("127.0.0.1:7400", None, None);
        let six = guard("[::1]:7400", None, None);
        let named = guard("10.0.0.7:7400", Some("Bench.example"), None);
        let everywhere = guard("0.0.0.0:7400", Some("0.0.0.0"), None);
        let eighty = guard("127.0.0.1:80", None, None);
        for (guard, host, expected) in [
            (&loopback, "127.0.0.1:7400", true),
            (&loopback, "localhost:7400", true),
            (&loopback, "LOCALHOST:7400", true),
            (&loopback, "[::1]:7400", true),
            (&loopback, "localhost", false),
            (&loopback, "localhost:80", false),
            (&loopback, "localhost:7401", false),
            (&loopback, "localhost:07400", true),
            (&loopback, "localhost:", false),
            (&loopback, "localhost.:7400", false),
            (&loopback, "evil.example:7400", false),
            (&loopback, "127.0.0.1.evil.example:7400", false),
            (&loopback, "localhost:7400.evil.example", false),
            (&loopback, "evil.example@localhost:7400", false),
            (&loopback, "127.0.0.2:7400", false),
            (&loopback, "", false),
            (&loopback, ":7400", false),
            (&six, "[::1]:7400", true),
            (&named, "bench.example:7400", true),
            (&named, "10.0.0.7:7400", true),
            (&named, "localhost:7400", false),
            (&everywhere, "10.0.0.7:7400", true),
            (&everywhere, "[fe80::1]:7400", true),
            (&everywhere, "localhost:7400", true),
            (&everywhere, "evil.example:7400", false),
            (&eighty, "localhost", true),
            (&eighty, "localhost:80", true),
        ] {
            let asking = RequestIdentity { host: Some(host), ..RequestIdentity::default() };
            let refusal = if expected { Ok(()) } else { Err(AccessError::Host) };
            assert_eq!(guard.check_origin(asking), refusal, "{host} at {:?}", guard.names);
        }
        assert_eq!(loopback.check_origin(RequestIdentity::default()), Err(AccessError::Host));
    }

    #[test]
    fn rejects_foreign_origins() {
        let guard = guard("127.0.0.1:7400", None, None);
        for (changes, origin, expected) in [
            (false, None, true),
            (true, None, false),
            (true, Some("http://localhost:7400"), true),
            (false, Some("http://localhost:7400"), true),
            // Another name of this server is a different origin.
            (true, Some("http://127.0.0.1:7400"), false),
            (true, Some("https://localhost:7400"), false),
            (true, Some("http://localhost:7401"), false),
            (true, Some("http://evil.example"), false),
            (false, Some("http://evil.example"), false),
            (true, Some("null"), false),
            (true, Some(""), false),
        ] {
            let asking = RequestIdentity {
                is_write: changes,
                host: Some("localhost:7400"),
                origin,
                ..RequestIdentity::default()
            };
            let refusal = if expected { Ok(()) } else { Err(AccessError::Origin) };
            assert_eq!(guard.check_origin(asking), refusal, "{changes} {origin:?}");
        }
    }

    #[test]
    fn rejects_requests_without_the_token() {
        let open = guard("127.0.0.1:7400", None, None);
        assert_eq!(open.check_token(RequestIdentity::default()), Ok(()));
        let closed = guard("127.0.0.1:7400", None, Some("tell nobody"));
        let session = closed.cookie().split(';').next().expect("a cookie").to_owned();
        let other = guard("127.0.0.1:7400", None, Some("tell nobody")).cookie();
        let cookies = format!("a=b; {session}; c");
        for (cookie, authorization, expected) in [
            (None, None, false),
            (Some(session.as_str()), None, true),
            (Some(cookies.as_str()), None, true),
            (Some(other.as_str()), None, false),
            (Some("pgdyno-7400="), None, false),
            (Some("pgdyno-7400=tell nobody"), None, false),
            (None, Some("Bearer tell nobody"), true),
            (None, Some("Bearer tell nobod"), false),
            (None, Some("Bearer "), false),
            (None, Some("Basic tell nobody"), false),
        ] {
            let asking = RequestIdentity { cookie, authorization, ..RequestIdentity::default() };
            assert_eq!(closed.check_token(asking).is_ok(), expected, "{cookie:?} {authorization:?}");
        }
        assert!(!format!("{closed:?}").contains("nobody"));
        assert!(closed.is_token("tell nobody") && !closed.is_token("") && !open.is_token(""));
        assert!(closed.is_ours(closed.form()) && !closed.is_ours("") && !closed.is_ours(open.form()));
    }
}
