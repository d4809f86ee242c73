//! Token: text in a row that proves which write created the row.
//!
//! A token such as `0000002a.00000000000003e7.5c2f90d1b6a84e37` is session, sequence and seal in hexadecimal. Its
//! length is fixed, so it can be found within any text. Its characters have no special meaning in SQL, JSON or a URL.

use super::WriteKey;
use crate::SplitMix64;

/// Key of a write, with a seal that depends on the key.
///
/// The seal distinguishes rows of this run from similar rows and from rows with a wrong key. It does not protect
/// against deliberate forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub key: WriteKey,
    seal: u64,
}

impl Token {
    /// Length of the text in bytes.
    pub const LENGTH: usize = SESSION + 1 + WORD + 1 + WORD;

    /// Creates a token; `secret` is the secret of the ledger that contains the write.
    #[inline]
    pub fn new(key: WriteKey, secret: u64) -> Token {
        Token { key, seal: seal(key, secret) }
    }

    /// True if the seal matches the key.
    pub fn is_authentic(self, secret: u64) -> bool {
        self.seal == seal(self.key, secret)
    }

    #[inline]
    pub fn to_text(self) -> [u8; Token::LENGTH] {
        self.join(b'.')
    }

    /// Unique text of the same length that is not a token, for writes that are not in a ledger.
    #[inline]
    pub fn decoy(self) -> [u8; Token::LENGTH] {
        self.join(b'-')
    }

    /// First token within a text; `None` if there is none.
    pub fn find(text: &[u8]) -> Option<Token> {
        Token::find_all(text).next()
    }

    /// All tokens within a text, in order. They do not overlap.
    pub fn find_all(text: &[u8]) -> impl Iterator<Item = Token> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (at, token) =
                rest.windows(Token::LENGTH).enumerate().find_map(|(at, it)| Some((at, parse(it)?)))?;
            rest = &rest[at + Token::LENGTH..];
            Some(token)
        })
    }

    #[inline]
    fn join(self, separator: u8) -> [u8; Token::LENGTH] {
        let mut text = [separator; Token::LENGTH];
        write_hex(self.key.session.into(), &mut text[..SESSION]);
        write_hex(self.key.sequence, &mut text[SEQUENCE..SEQUENCE + WORD]);
        write_hex(self.seal, &mut text[SEAL..]);
        text
    }
}

/// Number of hexadecimal digits of the session; `WORD` is the number for sequence and seal.
const SESSION: usize = 8;
const WORD: usize = 16;
/// Offsets of the sequence and the seal within the text.
const SEQUENCE: usize = SESSION + 1;
const SEAL: usize = SEQUENCE + WORD + 1;

/// Parses a text of exactly [`Token::LENGTH`] bytes.
#[inline]
fn parse(text: &[u8]) -> Option<Token> {
    if text[SEQUENCE - 1] != b'.' || text[SEAL - 1] != b'.' {
        return None;
    }
    let session = parse_hex(&text[..SESSION])? as u32;
    let (sequence, seal) = (parse_hex(&text[SEQUENCE..SEAL - 1])?, parse_hex(&text[SEAL..])?);
    Some(Token { key: WriteKey { session, sequence }, seal })
}

/// Fills the slice with hexadecimal digits, the lowest digit last.
#[inline]
fn write_hex(mut number: u64, to: &mut [u8]) {
    for digit in to.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 15) as usize];
        number >>= 4;
    }
}

/// Parses at most sixteen digits; `None` for any other character.
fn parse_hex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, character| {
        let digit = match character {
            b'0'..=b'9' => character - b'0',
            b'a'..=b'f' => character - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(digit))
    })
}

/// Computes the seal of a key. For a fixed session, different sequences have different seals; for a fixed sequence,
/// different sessions have different seals.
#[inline]
fn seal(key: WriteKey, secret: u64) -> u64 {
    mix(mix(mix(secret) ^ u64::from(key.session)) ^ key.sequence)
}

/// First random number for this seed; it is not 0 for the seed 0.
#[inline]
fn mix(seed: u64) -> u64 {
    SplitMix64(seed).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: u64 = 0x5eed;

    fn key(session: u32, sequence: u64) -> WriteKey {
        WriteKey { session, sequence }
    }

    /// Ten thousand keys, small and large.
    fn keys() -> impl Iterator<Item = WriteKey> {
        (0..10_000_u64).map(|n| {
            let (a, b) = (mix(n), mix(!n));
            key((a as u32) >> (a >> 58 & 31), b >> (b & 63))
        })
    }

    fn check(text: &str, expected: Option<WriteKey>) {
        assert_eq!(Token::find(text.as_bytes()).map(|it| it.key), expected, "{text:?}");
    }

    #[test]
    fn round_trips_through_text() {
        let ends = [key(0, 0), key(u32::MAX, u64::MAX), key(0, 1 << 63), key(1, 9)];
        for key in ends.into_iter().chain(keys()) {
            let token = Token::new(key, SECRET);
            assert_eq!(Token::find(&token.to_text()), Some(token));
            assert!(token.is_authentic(SECRET));
            assert!(!token.is_authentic(SECRET + 1), "a token of another ledger");
            assert!(token.to_text().iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f' | b'.')));
            assert_eq!(Token::find(&token.decoy()), None);
        }
    }

    /// Rows with this text may be read back a year later, so the format must not change.
    #[test]
    fn text_format_is_stable() {
        let text = Token::new(key(42, 999), SECRET).to_text();
        assert_eq!(std::str::from_utf8(&text), Ok("0000002a.00000000000003e7.ea44280b95643543"));
    }

    /// A combination of parts of two tokens is not an authentic token.
    #[test]
    fn rejects_parts_of_another_token() {
        for original in keys() {
            let other = key(original.session ^ 1, original.sequence);
            let next = key(original.session, original.sequence.wrapping_add(1));
            for (first, second) in [(original, other), (original, next), (other, next)] {
                let (first, second) =
                    (Token::new(first, SECRET).to_text(), Token::new(second, SECRET).to_text());
                for at in [SEQUENCE, SEAL] {
                    let swapped = [&first[..at], &second[at..]].concat();
                    let found = Token::find(&swapped).expect("the text has the form of a token");
                    let same = swapped == first || swapped == second;
                    assert_eq!(found.is_authentic(SECRET), same, "{first:?} and {second:?} at {at}");
                }
            }
            // One digit differs.
            let mut text = Token::new(original, SECRET).to_text();
            let at = (original.sequence % SESSION as u64) as usize;
            text[at] = if text[at] == b'0' { b'1' } else { b'0' };
            assert!(!Token::find(&text).expect("the text has the form of a token").is_authentic(SECRET));
        }
    }

    #[test]
    fn finds_token_within_other_text() {
        let (first, second) = (Token::new(key(7, 8), SECRET), Token::new(key(9, 10), SECRET));
        let (text, other) = (first.to_text(), second.to_text());
        let text = std::str::from_utf8(&text).expect("ASCII");
        let other = std::str::from_utf8(&other).expect("ASCII");
        let expected = Some(key(7, 8));
        check(text, expected);
        check(&format!("Привет, {text}, и пока"), expected);
        check(&format!("\"text\":\"{text}\"}}"), expected);
        // Neighbouring characters are also digits and dots.
        check(&format!("deadbeef{text}deadbeef"), expected);
        check(&format!("1.2.3.{text}.4.5"), expected);
        check(&format!("00000000.0000000000000000.{text}"), expected);
        check(&format!("{text}.{other}"), expected);
        check(&format!("{other}{text}"), Some(key(9, 10)));
    }

    #[test]
    fn finds_all_tokens_of_a_list() {
        let keys = [key(7, 8), key(9, 10), key(7, 9)];
        let texts = keys.map(|key| Token::new(key, SECRET).to_text());
        for separator in ["", ",", "\",\"", " 1.2.3 "] {
            let list = texts.join(separator.as_bytes());
            let found: Vec<WriteKey> = Token::find_all(&list).map(|it| it.key).collect();
            assert_eq!(found, keys, "{separator:?}");
            assert_eq!(Token::find_all(&list[1..]).count(), 2, "a damaged token does not hide the others");
        }
    }

    #[test]
    fn finds_nothing_in_damaged_text() {
        let text = Token::new(key(7, 8), SECRET).to_text();
        let text = std::str::from_utf8(&text).expect("ASCII");
        for n in 0..Token::LENGTH {
            check(&text[..n], None);
            check(&text[n + 1..], None);
            check(&format!("{}{}", &text[..n], &text[n + 1..]), None);
            for other in ["-", "g", "F", " ", "\u{0}", "é"] {
                check(&format!("{}{other}{}", &text[..n], &text[n + 1..]), None);
            }
        }
        check("", None);
        check(&".".repeat(200), None);
        check(&"0".repeat(200), None);
        assert_eq!(Token::find(&[0xff; 200]), None);
        // Random bytes from the token's alphabet: no panic, and any token found is really in the text.
        let alphabet = b"0123456789abcdef....\xff";
        for seed in 0..2_000 {
            let bytes: Vec<u8> = (0..100).map(|n| alphabet[(mix(seed << 8 | n) % 21) as usize]).collect();
            if let Some(token) = Token::find(&bytes) {
                assert!(bytes.windows(Token::LENGTH).any(|window| window == token.to_text()));
            }
        }
    }
}
