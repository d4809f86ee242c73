//! Percent-decoding; RFC 3986, section 2.1.

/// Decodes `%` and two hexadecimal digits to one byte; other characters are unchanged. `None` if digits are missing.
pub fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' { (digit()? * 16 + digit()?) as u8 } else { byte });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_escapes() {
        for (text, expected) in [
            ("", Some("")),
            ("aZ09-._~+/", Some("aZ09-._~+/")),
            ("a%20b%26%D0%b6%24-", Some("a b&ж$-")),
            ("%252e%00", Some("%2e\0")),
            ("%", None),
            ("%1", None),
            ("a%zz", None),
            ("%%41", None),
            ("%+1", None),
            ("%1ж", None),
        ] {
            assert_eq!(percent_decode(text).as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }
}
