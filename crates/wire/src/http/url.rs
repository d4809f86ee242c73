//! URL parser.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Parts of a URL: `http://host:port/path?query`, `https://…`, or `unix:/path/of/socket:/path?query`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub host: Host,
    /// True for TLS.
    pub tls: bool,
    /// Path and query, beginning with `/`. The fragment is not included, because it is never sent.
    pub target: String,
}

/// Address of the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Name or address (IPv6 without brackets) and port.
    Tcp(String, u16),
    /// Path of a Unix socket.
    Unix(String),
}

/// Error for a text that is not a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    pub problem: UrlProblem,
    /// Rejected text; empty if it may contain a password.
    url: String,
}

/// Reason why a text is not a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlProblem {
    /// The text contains a space or a control character.
    Blank,
    NoSocket,
    /// The target after the path of a socket does not begin with `/`.
    RelativeTarget,
    NoScheme,
    UnknownScheme(String),
    /// The URL contains a user name or a password.
    Credentials,
    /// There is text between the closing bracket of an IPv6 address and the port.
    AfterBracket,
    NoIpv6Address,
    NoHost,
    Port,
}

impl Url {
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        parse(text).map_err(|problem| {
            let url = if problem == UrlProblem::Credentials { "" } else { text };
            UrlError { problem, url: url.to_owned() }
        })
    }

    /// Value of the `Host` header; it contains the port unless the port is the scheme's default.
    pub fn host_header(&self) -> String {
        let Host::Tcp(name, port) = &self.host else { return "localhost".to_owned() };
        let name = match name.parse() {
            Ok(IpAddr::V6(it)) => format!("[{it}]"),
            _ => name.clone(),
        };
        if *port == if self.tls { 443 } else { 80 } { name } else { format!("{name}:{port}") }
    }
}

fn parse(text: &str) -> Result<Url, UrlProblem> {
    if text.bytes().any(|it| it <= b' ' || it == 0x7f) {
        return Err(UrlProblem::Blank);
    }
    let text = text.split('#').next().unwrap_or_default();
    if let Some(rest) = text.strip_prefix("unix:") {
        let (path, target) = rest.split_once(':').unwrap_or((rest, "/"));
        return match (path, target) {
            ("", _) => Err(UrlProblem::NoSocket),
            (path, target) if target.starts_with('/') => {
                Ok(Url { host: Host::Unix(path.to_owned()), tls: false, target: target.to_owned() })
            }
            _ => Err(UrlProblem::RelativeTarget),
        };
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(UrlProblem::NoScheme);
    };
    let tls = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" => true,
        _ => return Err(UrlProblem::UnknownScheme(scheme.to_owned())),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    if authority.contains('@') {
        return Err(UrlProblem::Credentials);
    }
    let (name, port) = match authority.strip_prefix('[').map(|it| it.split_once(']')) {
        Some(Some((address, port))) if address.parse::<Ipv6Addr>().is_ok() => match port.strip_prefix(':') {
            None if !port.is_empty() => return Err(UrlProblem::AfterBracket),
            port => (address, port),
        },
        Some(_) => return Err(UrlProblem::NoIpv6Address),
        None => match authority.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (authority, None),
        },
    };
    if name.is_empty() {
        return Err(UrlProblem::NoHost);
    }
    let port = match port {
        None | Some("") => {
            if tls {
                443
            } else {
                80
            }
        }
        Some(port) => match port.parse() {
            Ok(port @ 1..) => port,
            _ => return Err(UrlProblem::Port),
        },
    };
    let slash = if target.starts_with('/') { "" } else { "/" };
    Ok(Url { host: Host::Tcp(name.to_owned(), port), tls, target: format!("{slash}{target}") })
}

impl fmt::Display for UrlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlProblem::Blank => "contains a space or a control character",
            UrlProblem::NoSocket => "has no socket path",
            UrlProblem::RelativeTarget => "has a path behind the socket that does not begin with \"/\"",
            UrlProblem::NoScheme => "does not begin with http://, https:// or unix:",
            UrlProblem::UnknownScheme(scheme) => return write!(f, "has the unknown scheme \"{scheme}\""),
            UrlProblem::Credentials => "contains a user name or a password",
            UrlProblem::AfterBracket => "has text after \"]\" that is no port",
            UrlProblem::NoIpv6Address => "has no IPv6 address between \"[\" and \"]\"",
            UrlProblem::NoHost => "has no host",
            UrlProblem::Port => "has a port outside the range 1 to 65535",
        })
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            UrlProblem::Credentials => write!(f, "the URL {}; send them in a header", self.problem),
            _ => write!(f, "the URL \"{}\" {}", self.url, self.problem),
        }
    }
}

impl std::error::Error for UrlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls() {
        let check = |text: &str, expected: &str| {
            let read = match Url::parse(text) {
                Ok(it) => format!("{:?} {} {} {}", it.host, it.tls, it.target, it.host_header()),
                Err(error) => error.to_string(),
            };
            assert_eq!(read, expected, "{text}");
        };
        check("http://127.0.0.1:8080/a?b=c", r#"Tcp("127.0.0.1", 8080) false /a?b=c 127.0.0.1:8080"#);
        check("HTTPS://example.org", r#"Tcp("example.org", 443) true / example.org"#);
        check("https://example.org:80?q#f", r#"Tcp("example.org", 80) true /?q example.org:80"#);
        check("http://[::1]:81/", r#"Tcp("::1", 81) false / [::1]:81"#);
        check("http://[::1]", r#"Tcp("::1", 80) false / [::1]"#);
        check("unix:/run/app.sock:/a:b", r#"Unix("/run/app.sock") false /a:b localhost"#);
        check("unix:/run/app.sock", r#"Unix("/run/app.sock") false / localhost"#);
        check("unix::/a", r#"the URL "unix::/a" has no socket path"#);
        check("http://", r#"the URL "http://" has no host"#);
        check("http://h:0/", r#"the URL "http://h:0/" has a port outside the range 1 to 65535"#);
        check("http://h:http/", r#"the URL "http://h:http/" has a port outside the range 1 to 65535"#);
        check("http://[::z]/", r#"the URL "http://[::z]/" has no IPv6 address between "[" and "]""#);
        check("http://[::1]x/", r#"the URL "http://[::1]x/" has text after "]" that is no port"#);
        check("ftp://h/", r#"the URL "ftp://h/" has the unknown scheme "ftp""#);
        check("localhost:80/", r#"the URL "localhost:80/" does not begin with http://, https:// or unix:"#);
        check("http://h/a b", r#"the URL "http://h/a b" contains a space or a control character"#);
        // The URL is not repeated, because it may contain a password.
        check("http://me:secret@h/", "the URL contains a user name or a password; send them in a header");
    }
}
