//! JSON pointer evaluation.
//!
//! The text is scanned in place and only up to the end of the value. Skipped values are validated only as far as
//! brackets and quotes require. Sources: RFC 6901 (pointers), RFC 8259 (texts).

use std::str::FromStr;

/// JSON pointer, such as `/items/0/id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    tokens: Box<[Token]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    name: Box<[u8]>,
    /// Array index that the token denotes; `None` if the token is not an index.
    index: Option<u64>,
}

/// Error for a text that is not a JSON pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerError {
    /// The text does not begin with `/`.
    Relative,
    /// The text contains a `~` that is not followed by 0 or 1.
    Tilde,
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Pointer, PointerError> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerError::Relative);
        }
        let token = |part: &str| {
            let name = part.replace("~1", "/").replace("~0", "~");
            if part.replace("~1", "").replace("~0", "").contains('~') {
                return Err(PointerError::Tilde);
            }
            let index = (part == "0" || !part.starts_with(['0', '+'])).then(|| part.parse().ok()).flatten();
            Ok(Token { name: name.into_bytes().into(), index })
        };
        let tokens = text.split('/').skip(1).map(token).collect::<Result<Vec<Token>, PointerError>>()?;
        Ok(Pointer { tokens: tokens.into() })
    }
}

impl Pointer {
    /// Appends the value to which the pointer refers in `json`. A string is unescaped; any other value is unchanged.
    ///
    /// Returns false and appends nothing if there is no value, if the value is `null`, or if the text up to the value's
    /// end is not JSON.
    pub fn extract(&self, json: &[u8], out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let copied = self.find(json, out);
        if !copied {
            out.truncate(before);
        }
        copied
    }

    fn find(&self, json: &[u8], out: &mut Vec<u8>) -> bool {
        let mut scan = Cursor { json, at: 0 };
        for token in &self.tokens {
            let found = match scan.next() {
                Some(b'{') => scan.member(&token.name, out),
                Some(b'[') => token.index.and_then(|it| scan.element(it)),
                _ => None,
            };
            if found.is_none() {
                return false;
            }
        }
        let Some(value) = scan.value() else { return false };
        // A number at the end of the text may be truncated, unless the number is the whole text.
        let ended = scan.at < json.len() || self.tokens.is_empty();
        match value {
            [b'"', text @ .., b'"'] => unescape(text, out),
            [b'{' | b'[', ..] => out.extend_from_slice(value),
            b"null" => return false,
            _ if !ended => return false,
            _ => out.extend_from_slice(value),
        }
        true
    }
}

/// Position within a text.
struct Cursor<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Skips blanks and returns the byte after them without skipping it.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.json.get(self.at..)?;
        self.at += rest.iter().take_while(|it| matches!(it, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.json.get(self.at).copied()
    }

    /// Skips blanks and the byte after them.
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Moves from the opening brace of an object to the value of its first member `name`. Leaves `scratch` unchanged.
    fn member(&mut self, name: &[u8], scratch: &mut Vec<u8>) -> Option<()> {
        loop {
            let [b'"', key @ .., b'"'] = self.value()? else { return None };
            let is_equal = if key.contains(&b'\\') {
                let mark = scratch.len();
                unescape(key, scratch);
                let is_equal = scratch[mark..] == *name;
                scratch.truncate(mark);
                is_equal
            } else {
                key == name
            };
            if self.next()? != b':' {
                return None;
            }
            if is_equal {
                return Some(());
            }
            self.value()?;
            if self.next()? != b',' {
                return None;
            }
        }
    }

    /// Moves from the opening bracket of an array to the element with this index.
    fn element(&mut self, index: u64) -> Option<()> {
        for _ in 0..index {
            self.value()?;
            if self.next()? != b',' {
                return None;
            }
        }
        Some(())
    }

    /// Skips a non-empty value and returns it. A string is returned with its quotes.
    fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        let mut depth = 0_usize;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => loop {
                match self.json.get(self.at)? {
                    b'"' => {
                        self.string()?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                self.at += 1;
                if depth == 0 {
                    break;
                }
            },
            _ => {
                let rest = &self.json[start..];
                let belongs = |it: &&u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.');
                self.at += rest.iter().take_while(belongs).count();
            }
        }
        Some(&self.json[start..self.at]).filter(|it| !it.is_empty())
    }

    /// Skips the string that begins at the position.
    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.json.get(self.at..)?;
            let special = rest.iter().position(|it| matches!(it, b'"' | b'\\'))?;
            if rest[special] == b'"' {
                self.at += special + 1;
                return Some(());
            }
            self.at += special + 2;
        }
    }
}

/// Appends the unescaped string to `out`. An unpaired surrogate or an invalid escape becomes U+FFFD.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|it| *it == b'\\') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((&kind, after)) = rest.split_first() else { return };
        rest = after;
        let meant = match kind {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(kind),
            b'u' => {
                let (first, after) = unit(rest);
                rest = after;
                let pair = match (first, rest) {
                    (Some(high @ 0xd800..=0xdbff), [b'\\', b'u', behind @ ..]) => match unit(behind) {
                        (Some(low @ 0xdc00..=0xdfff), after) => {
                            rest = after;
                            Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                        }
                        _ => None,
                    },
                    (first, _) => first,
                };
                pair.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => char::REPLACEMENT_CHARACTER,
        };
        out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.extend_from_slice(rest);
}

/// Value of four hexadecimal digits, and the text after them.
fn unit(text: &[u8]) -> (Option<u32>, &[u8]) {
    let digits = text.iter().take(4).take_while(|it| it.is_ascii_hexdigit()).count();
    let (digits, rest) = text.split_at(digits);
    let digit =
        |sum: u32, it: &u8| sum << 4 | char::from(*it).to_digit(16).expect("the digits were checked above");
    ((digits.len() == 4).then(|| digits.iter().fold(0, digit)), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pointer: &str, json: &str, expected: Option<&str>) {
        let mut out = b">".to_vec();
        let found = pointer.parse::<Pointer>().expect("a pointer").extract(json.as_bytes(), &mut out);
        let text = found.then(|| String::from_utf8_lossy(&out[1..]).into_owned());
        assert_eq!(text.as_deref(), expected, "{pointer} in {json}");
        assert!(found || out == b">", "nothing is appended if nothing is found");
    }

    /// Examples of RFC 6901, section 5.
    #[test]
    fn resolves_rfc_6901_examples() {
        let json = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
            " ": 7, "m~n": 8}"#;
        for (pointer, expected) in [
            ("", json),
            ("/foo", r#"["bar", "baz"]"#),
            ("/foo/0", "bar"),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            check(pointer, json, Some(expected));
        }
    }

    #[test]
    fn extracts_values() {
        check("/a/1/b", r#"{"x":{"a":[9]},"a":[{"b":1},{"c":[],"b":-2.5e+3}]}"#, Some("-2.5e+3"));
        check("/t", r#" { "t" : true , "u" : 1 } "#, Some("true"));
        check("/s", r#"{"s":"\u044f\ud83d\ude00\n\"\\\/\ud83dx"}"#, Some("я😀\n\"\\/\u{fffd}x"));
        check("/\u{44f}", r#"{"\u044f":"ja"}"#, Some("ja"));
        check("/s", r#"{"r":"}]\"","s":""}"#, Some(""));
        check("", "42", Some("42"));
        check("/a", r#"{"a":1,"a":2}"#, Some("1"));
    }

    #[test]
    fn missing_value_is_not_found() {
        for (pointer, json) in [
            ("/a", ""),
            ("/a", "{}"),
            ("/a", r#"{"a":null}"#),
            ("/a", r#"{"b":1}"#),
            ("/a/b", r#"{"a":1}"#),
            ("/2", "[1,2]"),
            ("/01", "[1,2]"),
            ("/-", "[1,2]"),
            ("/a", "<html>"),
            // Truncated texts.
            ("/a", r#"{"a":12"#),
            ("/a", r#"{"a":"xy"#),
            ("/a", r#"{"a":[1,2"#),
            ("/a", r#"{"a""#),
            ("/a", r#"{"a\"#),
            ("/a", r#"{"b" 1,"a":1}"#),
        ] {
            check(pointer, json, None);
        }
    }

    #[test]
    fn rejects_malformed_pointers() {
        for (text, expected) in [("token", PointerError::Relative), ("/a~2", PointerError::Tilde)] {
            assert_eq!(text.parse::<Pointer>().unwrap_err(), expected);
        }
    }

    #[test]
    fn arbitrary_text_does_not_panic() {
        let pointer: Pointer = "/a/0/b".parse().expect("a pointer");
        proptest::proptest!(|(text in r#"[{}\[\]",:\\ua0b1n ]{0,60}"#)| {
            let mut out = Vec::new();
            pointer.extract(text.as_bytes(), &mut out);
        });
    }
}
