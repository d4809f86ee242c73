//! Kinds of requests: a method with a path in which identifiers are placeholders

/// Number of segments that a kind contains. The rest of a longer path becomes `…`.
const SEGMENTS_MAX: usize = 6;
/// Longest segment that may be a word, in bytes.
const WORD_MAX: usize = 32;
/// Shortest text of hexadecimal digits that is a hash.
const HASH_MIN: usize = 12;

/// Appends the kind of a request, such as `GET /user/{number}/orders`.
pub(super) fn write_kind(method: &[u8], target: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(method);
    out.push(b' ');
    let end = target.iter().position(|it| b"?#;".contains(it)).unwrap_or(target.len());
    let path = target[..end].strip_prefix(b"/").unwrap_or(&target[..end]);
    for (number, segment) in path.split(|it| *it == b'/').enumerate() {
        out.push(b'/');
        if number == SEGMENTS_MAX {
            out.extend_from_slice("…".as_bytes());
            return;
        }
        out.extend_from_slice(placeholder(segment).unwrap_or(segment));
    }
}

/// Placeholder for a segment that identifies an object; `None` for a word.
fn placeholder(segment: &[u8]) -> Option<&'static [u8]> {
    // The ending of a file name belongs to the kind of neither a number nor a hash.
    let digits = segment.iter().filter(|it| it.is_ascii_digit()).count();
    let is_hex = segment.iter().all(u8::is_ascii_hexdigit);
    match segment {
        [] => None,
        _ if digits == segment.len() => Some(b"{number}"),
        _ if is_uuid(segment) => Some(b"{uuid}"),
        _ if is_hex && digits > 0 && segment.len() >= HASH_MIN => Some(b"{hash}"),
        // Words of other scripts are percent-encoded, and so are the values of users.
        _ if segment.contains(&b'%') || !segment.iter().all(u8::is_ascii_graphic) => Some(b"{text}"),
        _ if segment.len() > WORD_MAX => Some(b"{text}"),
        // Identifiers such as `order-20481` and `a8Fk20xQ`.
        _ if digits > 3 => Some(b"{id}"),
        _ => None,
    }
}

fn is_uuid(segment: &[u8]) -> bool {
    segment.len() == 36
        && segment.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_identifiers() {
        for (target, expected) in [
            ("/", "GET /"),
            ("/user/17?x=1", "GET /user/{number}"),
            ("/user/17/", "GET /user/{number}/"),
            ("/user/ann/orders/20481/items", "GET /user/ann/orders/{number}/items"),
            ("/o/6fa459ea-ee8a-3ca4-894e-db77e160355e", "GET /o/{uuid}"),
            ("/o/6fa459eaee8a3ca4894edb77e160355e", "GET /o/{hash}"),
            ("/static/app.6fa459ea.js", "GET /static/{id}"),
            ("/v2/books", "GET /v2/books"),
            ("/facade", "GET /facade"),
            ("/books/%D0%92%D0%B8%D0%B9", "GET /books/{text}"),
            ("/order-20481", "GET /{id}"),
            ("/a/b/c/d/e/f/g/h", "GET /a/b/c/d/e/f/…"),
            ("/p;jsessionid=8734", "GET /p"),
            ("//x", "GET //x"),
        ] {
            let mut out = Vec::new();
            write_kind(b"GET", target.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{target}");
        }
    }
}
