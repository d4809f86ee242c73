//! URLs of HTTP services

use std::net::Ipv6Addr;
use wire::percent_decode;

/// URL of a request, without user and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// Scheme, host and port, as in `https://shop.test`. A default port is omitted.
    pub origin: String,
    /// Encoded path and query; begins with a slash.
    pub target: String,
    /// User and password, decoded.
    pub user: Option<String>,
}

impl Url {
    /// Splits an absolute URL; `None` if its scheme is not `http` or `https`, or if its host is not valid.
    pub fn parse(text: &str) -> Option<Url> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(decoded(user)), host),
            None => (None, authority),
        };
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix(default_port).unwrap_or(&host);
        if !is_host(host) {
            return None;
        }
        Some(Url { origin: format!("{scheme}://{host}"), target: plain_target(target), user })
    }

    /// Resolves a reference such as `../orders?page=2`, as RFC 3986, section 5.2, describes.
    pub fn join(&self, reference: &str) -> Option<Url> {
        let reference = reference.trim();
        let end = reference.find(['/', '?', '#', ':']).unwrap_or(reference.len());
        if reference[end..].starts_with(':') {
            return Url::parse(reference);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            let (scheme, _) = self.origin.split_once("://")?;
            return Url::parse(&format!("{scheme}://{rest}"));
        }
        let path = self.target.split('?').next().unwrap_or_default();
        let target = match reference.chars().next() {
            None | Some('#') => self.target.clone(),
            Some('/') => plain_target(reference),
            Some('?') => plain_target(&format!("{path}{reference}")),
            Some(_) => {
                let folder = &path[..=path.rfind('/').unwrap_or(0).min(path.len().saturating_sub(1))];
                without_dots(&plain_target(&format!("{folder}{reference}")))
            }
        };
        Some(Url { origin: self.origin.clone(), target, user: None })
    }

    /// Path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Host and port; the port is also given if it is the default one.
    pub fn address(origin: &str) -> String {
        let (scheme, host) = origin.split_once("://").unwrap_or(("http", origin));
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
        let default = if scheme == "https" { 443 } else { 80 };
        if has_port { host.to_owned() } else { format!("{host}:{default}") }
    }

    /// True if the host is a loopback address.
    pub fn is_local(origin: &str) -> bool {
        let address = Url::address(origin);
        let host = address.rsplit_once(':').map_or("", |(host, _)| host);
        host == "localhost" || host == "[::1]" || host.starts_with("127.")
    }
}

/// True if a text is a name or an address, with or without a port.
fn is_host(text: &str) -> bool {
    let is_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    };
    if let Some(rest) = text.strip_prefix('[') {
        return rest
            .split_once(']')
            .is_some_and(|(address, port)| address.parse::<Ipv6Addr>().is_ok() && is_port(port));
    }
    let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(is_valid)
        && is_port(port)
}

/// Decodes percent-encoded bytes; a text that is not valid remains unchanged.
pub(super) fn decoded(text: &str) -> String {
    percent_decode(text).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.to_owned())
}

/// Path and query that begin with a slash, without a fragment, and with other characters than visible ASCII encoded.
fn plain_target(text: &str) -> String {
    let text = text.split('#').next().unwrap_or_default();
    let mut out = String::with_capacity(text.len() + 1);
    if !text.starts_with('/') {
        out.push('/');
    }
    for character in text.chars() {
        match character {
            character if character.is_ascii_graphic() => out.push(character),
            character => out += &model::percent_encode(character.encode_utf8(&mut [0; 4])),
        }
    }
    out
}

/// Path and query without the segments `.` and `..`.
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    let ends_with_dots = path.ends_with("/.") || path.ends_with("/..");
    let slash = if ends_with_dots && !segments.is_empty() { "/" } else { "" };
    let path = format!("/{}{slash}", segments.join("/"));
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_urls() {
        for (text, expected) in [
            ("https://Shop.test:443/a?b=c#d", Some(("https://shop.test", "/a?b=c"))),
            ("http://127.0.0.1:8080", Some(("http://127.0.0.1:8080", "/"))),
            ("http://[::1]:80?x", Some(("http://[::1]", "/?x"))),
            ("http://me:secret@shop.test/a b/ж", Some(("http://shop.test", "/a%20b/%D0%B6"))),
            ("ws://shop.test/", None),
            ("data:text/plain,x", None),
            ("http:///a", None),
            ("http://a\"b/", None),
            ("http://[a]/", None),
            ("http://[::1/", None),
            ("http://a:b/", None),
            ("http://a:99999/", None),
            ("http://-a/", None),
            ("/a", None),
        ] {
            let url = Url::parse(text);
            let found = url.as_ref().map(|url| (url.origin.as_str(), url.target.as_str()));
            assert_eq!(found, expected, "{text}");
        }
        let user = Url::parse("http://me:a%40b@shop.test/").and_then(|url| url.user);
        assert_eq!(user.as_deref(), Some("me:a@b"));
    }

    #[test]
    fn resolves_references() {
        let base = Url::parse("https://shop.test/a/b?c=d").expect("valid");
        for (reference, expected) in [
            ("/x", "https://shop.test/x"),
            ("x", "https://shop.test/a/x"),
            ("../x?y", "https://shop.test/x?y"),
            ("?y", "https://shop.test/a/b?y"),
            ("#top", "https://shop.test/a/b?c=d"),
            ("//other.test/x", "https://other.test/x"),
            ("http://other.test", "http://other.test/"),
            ("./", "https://shop.test/a/"),
            ("..", "https://shop.test/"),
        ] {
            let url = base.join(reference).expect("valid");
            assert_eq!(format!("{}{}", url.origin, url.target), expected, "{reference}");
        }
        assert_eq!(base.join("mailto:me@shop.test"), None);
    }

    #[test]
    fn knows_addresses() {
        for (origin, address, is_local) in [
            ("https://shop.test", "shop.test:443", false),
            ("http://shop.test:81", "shop.test:81", false),
            ("http://[::1]", "[::1]:80", true),
            ("http://[::1]:8080", "[::1]:8080", true),
            ("http://localhost", "localhost:80", true),
            ("http://127.0.0.1:1", "127.0.0.1:1", true),
        ] {
            assert_eq!((Url::address(origin).as_str(), Url::is_local(origin)), (address, is_local));
        }
    }
}
