//! Percent-encoding; RFC 3986, section 2.3

/// Percent-encodes every byte of a text except unreserved characters, as in `a%20b`.
pub fn percent_encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_reserved_characters() {
        for (text, encoded) in [
            ("", ""),
            ("aZ09-._~", "aZ09-._~"),
            ("a b&ж$-", "a%20b%26%D0%B6%24-"),
            ("%2e/?#+\0", "%252e%2F%3F%23%2B%00"),
        ] {
            assert_eq!(percent_encode(text), encoded);
        }
    }
}
