//! URL parser.

use std::net::{IpAddr, Ipv6Addr};

/// Parts of a URL: `http://host:port/path?query`, `https://…`, or `unix:/path/of/socket:/path?query`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub host: Host,
    /// True for TLS.
    pub tls: bool,
    /// Path and query, beginning with `/`; without the fragment, which is never sent.
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

impl Url {
    /// Parses a URL; the error is a message for the user.
    pub fn parse(text: &str) -> Result<Url, String> {
        let fault = |what: &str| Err(format!("{what} in the URL \"{text}\""));
        if text.bytes().any(|it| it <= b' ' || it == 0x7f) {
            return fault("there is a blank or a control character");
        }
        let text = text.split('#').next().unwrap_or_default();
        if let Some(rest) = text.strip_prefix("unix:") {
            let (path, target) = rest.split_once(':').unwrap_or((rest, "/"));
            return match (path, target) {
                ("", _) => fault("there is no socket's path"),
                (path, target) if target.starts_with('/') => {
                    Ok(Url { host: Host::Unix(path.to_owned()), tls: false, target: target.to_owned() })
                }
                _ => fault("what follows the socket's path does not begin with \"/\""),
            };
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return fault("there is no http://, https:// or unix:");
        };
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return fault(&format!("there is an unknown scheme, \"{scheme}\"")),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains('@') {
            return Err("there are a user and a password in the URL; give them in a header".to_owned());
        }
        let (name, port) = match authority.strip_prefix('[').map(|it| it.split_once(']')) {
            Some(Some((address, port))) if address.parse::<Ipv6Addr>().is_ok() => {
                match port.strip_prefix(':') {
                    None if !port.is_empty() => return fault("there is something odd after \"]\""),
                    port => (address, port),
                }
            }
            Some(_) => return fault("there is no IPv6 address between \"[\" and \"]\""),
            None => match authority.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (authority, None),
            },
        };
        if name.is_empty() {
            return fault("there is no host");
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
                _ => return fault("there is a port beyond 1…65535"),
            },
        };
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Url { host: Host::Tcp(name.to_owned(), port), tls, target: format!("{slash}{target}") })
    }

    /// Value of the header `Host`: with the port unless it is the scheme's default.
    pub fn host_header(&self) -> String {
        let Host::Tcp(name, port) = &self.host else { return "localhost".to_owned() };
        let name = match name.parse() {
            Ok(IpAddr::V6(it)) => format!("[{it}]"),
            _ => name.clone(),
        };
        if *port == if self.tls { 443 } else { 80 } { name } else { format!("{name}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls() {
        let check = |text: &str, expected: &str| {
            let read = match Url::parse(text) {
                Ok(it) => format!("{:?} {} {} {}", it.host, it.tls, it.target, it.host_header()),
                Err(why) => why,
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
        check("unix::/a", r#"there is no socket's path in the URL "unix::/a""#);
        check("http://", r#"there is no host in the URL "http://""#);
        check("http://h:0/", r#"there is a port beyond 1…65535 in the URL "http://h:0/""#);
        check("http://h:http/", r#"there is a port beyond 1…65535 in the URL "http://h:http/""#);
        check("http://[::z]/", r#"there is no IPv6 address between "[" and "]" in the URL "http://[::z]/""#);
        check("http://[::1]x/", r#"there is something odd after "]" in the URL "http://[::1]x/""#);
        check("ftp://h/", r#"there is an unknown scheme, "ftp" in the URL "ftp://h/""#);
        check("localhost:80/", r#"there is no http://, https:// or unix: in the URL "localhost:80/""#);
        check("http://h/a b", r#"there is a blank or a control character in the URL "http://h/a b""#);
        // Not repeated, because a password may be in it.
        check("http://me:secret@h/", "there are a user and a password in the URL; give them in a header");
    }
}
