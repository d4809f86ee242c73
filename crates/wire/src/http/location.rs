//! Resolution of redirect targets.

use std::fmt;

/// Origin (scheme, host and port) that requests are sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Value of the `Host` header; it contains the port unless the port is the scheme's default.
    pub host: &'a str,
    /// True for TLS.
    pub tls: bool,
}

/// Reason why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectError {
    /// Redirect to another origin. The text is its scheme and name, as far as they may be displayed.
    CrossOrigin(String),
    /// Location header that is not a valid reference.
    Malformed,
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedirectError::CrossOrigin(origin) => {
                write!(f, "redirect to another origin, {origin}, is not followed")
            }
            RedirectError::Malformed => f.write_str("redirect with an invalid Location header"),
        }
    }
}

impl std::error::Error for RedirectError {}

/// Maximum length of the path and query of a redirect target, in bytes. By default, common servers reject longer
/// targets.
const TARGET_MAX: usize = 8 << 10;
/// Maximum number of bytes of another origin's name that are displayed.
const SHOWN_MAX: usize = 100;

impl Origin<'_> {
    /// Host name or address without the port.
    pub fn name(&self) -> &str {
        self.split(self.host).map_or(self.host, |it| it.0)
    }

    /// Resolves `location` relative to `target` and writes its path and query to `to`. Source: RFC 3986, section 5.2.
    ///
    /// Characters that are invalid in a request line are percent-encoded; the fragment is dropped.
    pub fn resolve(&self, target: &[u8], location: &[u8], to: &mut Vec<u8>) -> Result<(), RedirectError> {
        let reference = location.split(|it| *it == b'#').next().unwrap_or_default().trim_ascii();
        let mut rest = reference;
        if let Some((scheme, after)) = scheme(reference) {
            let own_scheme: &[u8] = if self.tls { b"https" } else { b"http" };
            if !scheme.eq_ignore_ascii_case(own_scheme) {
                return Err(cross_origin(reference));
            }
            if !after.starts_with(b"//") {
                return Err(RedirectError::Malformed);
            }
            rest = after;
        }
        // A reference without a path is relative to this base.
        let mut from = target;
        if let Some(after) = rest.strip_prefix(b"//") {
            let end = after.iter().position(|it| matches!(it, b'/' | b'?')).unwrap_or(after.len());
            let (authority, after) = after.split_at(end);
            let authority = std::str::from_utf8(authority).map_err(|_| RedirectError::Malformed)?;
            let target_origin = self.split(authority).ok_or(RedirectError::Malformed)?;
            let own_origin = self.split(self.host).ok_or(RedirectError::Malformed)?;
            if !target_origin.0.eq_ignore_ascii_case(own_origin.0) || target_origin.1 != own_origin.1 {
                return Err(cross_origin(reference));
            }
            (rest, from) = (after, b"/");
        }
        to.clear();
        let path = split_query(from).0;
        match rest.first() {
            None => append(to, from),
            Some(b'/') => append(to, rest),
            Some(b'?') => {
                append(to, path);
                append(to, rest);
            }
            Some(_) => {
                let folder = path.iter().rposition(|it| *it == b'/').map_or(0, |it| it + 1);
                append(to, &path[..folder]);
                append(to, rest);
            }
        }
        if !to.starts_with(b"/") {
            to.insert(0, b'/');
        }
        remove_dot_segments(to);
        if to.len() > TARGET_MAX { Err(RedirectError::Malformed) } else { Ok(()) }
    }

    /// Name and port of an authority; `None` if it is invalid or contains a user.
    fn split<'a>(&self, authority: &'a str) -> Option<(&'a str, u16)> {
        let default_port = if self.tls { 443 } else { 80 };
        let colon = authority.rfind(':').filter(|it| !authority[*it..].contains(']'));
        let (name, port) = match colon {
            Some(at) => (&authority[..at], &authority[at + 1..]),
            None => (authority, ""),
        };
        let port = if port.is_empty() { default_port } else { port.parse().ok()? };
        (!name.is_empty() && !name.contains('@')).then_some((name, port))
    }
}

/// Scheme of a reference and the text after its colon. Source: RFC 3986, section 3.1.
fn scheme(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|it| !it.is_ascii_alphanumeric() && !b"+-.".contains(it))?;
    let is_one = text[end] == b':' && text[0].is_ascii_alphabetic();
    is_one.then(|| (&text[..end], &text[end + 1..]))
}

/// Error for a redirect to another origin. The error contains only scheme and name; query and user may be confidential.
fn cross_origin(location: &[u8]) -> RedirectError {
    let begin = location.windows(2).position(|it| it == b"//").map_or(0, |it| it + 2);
    let end = location[begin..].iter().position(|it| matches!(it, b'/' | b'?'));
    let end = end.map_or(location.len(), |it| begin + it);
    let begin_of_name =
        location[begin..end].iter().rposition(|it| *it == b'@').map_or(begin, |it| begin + it + 1);
    let shown = [&location[..begin], &location[begin_of_name..end]].concat();
    let shown = String::from_utf8_lossy(&shown[..shown.len().min(SHOWN_MAX)]);
    RedirectError::CrossOrigin(shown.chars().map(|it| if it.is_control() { ' ' } else { it }).collect())
}

/// Splits a target into the path, and the query with its question mark.
pub(super) fn split_query(target: &[u8]) -> (&[u8], &[u8]) {
    target.split_at(target.iter().position(|it| *it == b'?').unwrap_or(target.len()))
}

fn append(to: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if byte.is_ascii_graphic() {
            to.push(byte);
        } else {
            let digit = |it: u8| b"0123456789ABCDEF"[usize::from(it)];
            to.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

/// Removes the segments `.` and `..` from the path before a query, in place. Source: RFC 3986, section 5.2.4.
fn remove_dot_segments(target: &mut Vec<u8>) {
    let end = split_query(target).0.len();
    let (mut read, mut written) = (0, 0);
    while read < end {
        // `read` is the position of a slash.
        let next = target[read + 1..end].iter().position(|it| *it == b'/').map_or(end, |it| read + 1 + it);
        let is_last = next == end;
        match &target[read + 1..next] {
            b"." | b".." => {
                if next - read == 3 {
                    written = target[..written].iter().rposition(|it| *it == b'/').unwrap_or(0);
                }
                if is_last {
                    target[written] = b'/';
                    written += 1;
                }
            }
            _ => {
                target.copy_within(read..next, written);
                written += next - read;
            }
        }
        read = next;
    }
    target.drain(written..end);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin<'_> = Origin { host: "shop.test:8080", tls: false };

    fn check_from(from: Origin<'_>, target: &str, location: &str, expected: &str) {
        let mut to = b"left over".to_vec();
        let resolved = match from.resolve(target.as_bytes(), location.as_bytes(), &mut to) {
            Ok(()) => String::from_utf8(to).expect("ASCII"),
            Err(RedirectError::CrossOrigin(origin)) => format!("elsewhere: {origin}"),
            Err(RedirectError::Malformed) => "unreadable".to_owned(),
        };
        assert_eq!(resolved, expected, "{location} from {target}");
    }

    #[test]
    fn resolves_references() {
        // Examples of RFC 3986, section 5.4, that stay within the origin.
        let check = |location, expected| check_from(ORIGIN, "/b/c/d;p?q", location, expected);
        check("g", "/b/c/g");
        check("./g", "/b/c/g");
        check("g/", "/b/c/g/");
        check("/g", "/g");
        check("?y", "/b/c/d;p?y");
        check("g?y", "/b/c/g?y");
        check("#s", "/b/c/d;p?q");
        check("g#s", "/b/c/g");
        check("", "/b/c/d;p?q");
        check(".", "/b/c/");
        check("./", "/b/c/");
        check("..", "/b/");
        check("../g", "/b/g");
        check("../..", "/");
        check("../../../g", "/g");
        check("/./g", "/g");
        check("/../g", "/g");
        check("g.", "/b/c/g.");
        check("..g", "/b/c/..g");
        check("./g/.", "/b/c/g/");
        check("g/./h", "/b/c/g/h");
        check("g;x=1/../y", "/b/c/y");
        check("g?y/./x", "/b/c/g?y/./x");
        check("//shop.test:8080", "/");
        check("//SHOP.test:8080?a", "/?a");
        check("http://shop.test:8080/a/../b?c#d", "/b?c");
        check("HTTP://shop.test:8080", "/");
        check(" /a b\t/ж ", "/a%20b%09/%D0%B6");
        check("1:2", "/b/c/1:2");
    }

    #[test]
    fn rejects_cross_origin_references() {
        let check = |location, expected| check_from(ORIGIN, "/", location, expected);
        check("http://shop.test/", "elsewhere: http://shop.test");
        check("https://shop.test:8080/", "elsewhere: https://shop.test:8080");
        check("//other.test:8080/a?token=secret", "elsewhere: //other.test:8080");
        check("http://me:secret@other.test/", "unreadable");
        check("https://me:secret@shop.test:8080/", "elsewhere: https://shop.test:8080");
        check("http://shop.test:8080@other.test/", "unreadable");
        check("http://shop.test:8080.other.test/", "unreadable");
        check("ftp://shop.test:8080/", "elsewhere: ftp://shop.test:8080");
        check("mailto:me@shop.test", "elsewhere: shop.test");
        check("http:/a", "unreadable");
        check("http:///a", "unreadable");
        check("http://:80/", "unreadable");
        let long = format!("/{}", "x".repeat(TARGET_MAX));
        check(&long, "unreadable");
        let from = |host, tls, location, expected| check_from(Origin { host, tls }, "/", location, expected);
        from("a.test", true, "https://a.test:443/x", "/x");
        from("a.test", false, "http://a.test:80/x", "/x");
        from("a.test", true, "http://a.test/x", "elsewhere: http://a.test");
        from("[::1]:81", false, "http://[::1]:81/x", "/x");
        from("[::1]", false, "//[::1]/x", "/x");
        from("localhost", false, "http://localhost/x", "/x");
        assert_eq!(Origin { host: "[::1]:81", tls: false }.name(), "[::1]");
        assert_eq!(ORIGIN.name(), "shop.test");
    }
}
