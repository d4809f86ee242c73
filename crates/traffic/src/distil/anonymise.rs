//! Consistent replacement of values

use crate::sql::template::{Element, Value};
use hmac::{Hmac, KeyInit, Mac};
use model::SplitMix64;
use serde_json::Value as Json;
use sha2::Sha256;

/// Replaces values of statements, so that equal values remain equal.
///
/// Each letter of a text becomes another letter, and each digit another digit: the length and the form remain. UUIDs
/// remain UUIDs, and the keys, numbers and structure of JSON objects remain. Values that are not texts are kept: dates,
/// times, booleans, and numbers unless `numbers` is true. Values of enumerated types are replaced like texts.
#[derive(Clone)]
pub struct Anonymisation {
    /// Secret key. The same key gives the same replacements; without it, they cannot be tested against guesses.
    pub key: Vec<u8>,
    /// Replaces the digits of numbers, too.
    pub numbers: bool,
}

impl std::fmt::Debug for Anonymisation {
    /// Leaves out the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Anonymisation").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

impl Anonymisation {
    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::Number(number) => Value::Number(self.number(number)),
            Value::Text(text) => Value::Text(self.text(text)),
            Value::List(elements) => {
                let replace = |element| match element {
                    Element::Number(number) => Element::Number(self.number(number)),
                    Element::Text(text) => Element::Text(self.text(text)),
                    Element::Null => Element::Null,
                };
                Value::List(elements.into_iter().map(replace).collect())
            }
        }
    }

    fn number(&self, number: String) -> String {
        if self.numbers { self.replace_digits(&number) } else { number }
    }

    fn text(&self, text: String) -> String {
        if is_number(&text) {
            return self.number(text);
        }
        if is_moment(&text) || is_boolean(&text) {
            return text;
        }
        match serde_json::from_str(&text) {
            Ok(json @ (Json::Object(_) | Json::Array(_))) => self.json(json).to_string(),
            _ => self.replace(&text),
        }
    }

    fn json(&self, json: Json) -> Json {
        match json {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(all) => Json::Array(all.into_iter().map(|json| self.json(json)).collect()),
            Json::Object(all) => {
                Json::Object(all.into_iter().map(|(key, json)| (key, self.json(json))).collect())
            }
            Json::Number(number) if self.numbers => {
                serde_json::from_str(&self.replace_digits(&number.to_string()))
                    .unwrap_or(Json::Number(number))
            }
            other => other,
        }
    }

    /// Random numbers that the key and the value determine.
    fn rng(&self, text: &str) -> SplitMix64 {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC accepts keys of every length");
        mac.update(text.as_bytes());
        let hash = mac.finalize().into_bytes();
        let seed = hash[..8].try_into().expect("the hash has 32 bytes");
        SplitMix64(u64::from_be_bytes(seed))
    }

    fn replace(&self, text: &str) -> String {
        let mut rng = self.rng(text);
        let is_hex = is_uuid(text);
        text.chars().map(|character| replacement(character, is_hex, &mut rng)).collect()
    }

    /// Replaces the digits after the first significant one, so that the number keeps its size, and the exponent.
    fn replace_digits(&self, number: &str) -> String {
        let mut rng = self.rng(number);
        let exponent = number.find(['e', 'E']).unwrap_or(number.len());
        let first = number.find(|digit| ('1'..='9').contains(&digit)).unwrap_or(number.len());
        let replace = |(index, digit): (usize, char)| match digit {
            '0'..='9' if index > first && index < exponent => pick(&mut rng, '0', 10),
            '1'..='9' if index == first => pick(&mut rng, '1', 9),
            _ => digit,
        };
        number.char_indices().map(replace).collect()
    }
}

fn pick(rng: &mut SplitMix64, first: char, count: u32) -> char {
    let offset = rng.below(u64::from(count)) as u32;
    char::from_u32(u32::from(first) + offset).expect("the range contains characters")
}

fn replacement(character: char, is_hex: bool, rng: &mut SplitMix64) -> char {
    match character {
        '0'..='9' => pick(rng, '0', 10),
        'a'..='f' if is_hex => pick(rng, 'a', 6),
        'A'..='F' if is_hex => pick(rng, 'A', 6),
        'a'..='z' => pick(rng, 'a', 26),
        'A'..='Z' => pick(rng, 'A', 26),
        'а'..='я' => pick(rng, 'а', 32),
        'А'..='Я' => pick(rng, 'А', 32),
        other if other.is_uppercase() => pick(rng, 'À', 23),
        other if other.is_alphabetic() => pick(rng, 'à', 23),
        other if other.is_numeric() => pick(rng, '0', 10),
        other => other,
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
        && text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && text.ends_with(|last: char| last.is_ascii_digit() || last == '.')
}

fn is_boolean(text: &str) -> bool {
    ["t", "f", "true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// True for dates and times such as `2024-01-01`, `2024-01-01T12:00:00.5Z` or `12:00`.
fn is_moment(text: &str) -> bool {
    let shape: String =
        text.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    let time = |shape: &str| {
        shape.starts_with("00:00") && shape.chars().all(|character| "0:.+-Z ".contains(character))
    };
    match shape.strip_prefix("0000-00-00") {
        Some("") => true,
        Some(rest) => rest.strip_prefix([' ', 'T']).is_some_and(time),
        None => time(&shape),
    }
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text.chars().all(|character| character == '-' || character.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class of each character, in which a replacement must not differ.
    fn shape(text: &str) -> String {
        let class = |character: char| match character {
            '0'..='9' => '0',
            character if character.is_uppercase() => 'A',
            character if character.is_alphabetic() => 'a',
            other => other,
        };
        text.chars().map(class).collect()
    }

    fn anonymisation(numbers: bool) -> Anonymisation {
        Anonymisation { key: b"key".to_vec(), numbers }
    }

    #[test]
    fn keeps_length_and_classes() {
        for text in
            ["Anna Müller", "anna@example.com", "+7 912 345-67-89", "Антон Чехов", "x'%_", "O’Neil 3rd"]
        {
            let replaced = anonymisation(false).text(text.to_owned());
            assert_ne!(replaced, text);
            assert_eq!(shape(&replaced), shape(text));
            assert_eq!(replaced, anonymisation(true).text(text.to_owned()));
            let other_key = Anonymisation { key: b"other".to_vec(), numbers: false };
            assert_ne!(replaced, other_key.text(text.to_owned()));
        }
    }

    #[test]
    fn keeps_what_is_not_a_text() {
        for text in [
            "42",
            "-1.5",
            "1e5",
            "t",
            "FALSE",
            "",
            "2024-01-31",
            "2024-01-31 12:00:00.5+03",
            "2024-01-31T12:00:00Z",
            "23:59",
            "{1,2}",
            "%",
        ] {
            let replaced = anonymisation(false).text(text.to_owned());
            // Only the digits of an array are no number.
            assert!(replaced == text || text == "{1,2}", "{text} became {replaced}");
        }
        let uuid = "0b6f7f3a-6c7e-4c1d-9d51-3f0a5c2e9b11";
        let replaced = anonymisation(false).text(uuid.to_owned());
        assert!(is_uuid(&replaced) && replaced != uuid);
    }

    #[test]
    fn replaces_numbers_if_asked() {
        for number in ["12345", "-9.75", "1e5", "0", "0.5"] {
            let replaced = anonymisation(true).text(number.to_owned());
            assert_eq!(shape(&replaced), shape(number));
            assert_eq!(replaced.starts_with('0'), number.starts_with('0'));
            assert_eq!(anonymisation(false).text(number.to_owned()), number);
        }
        assert_ne!(anonymisation(true).text("1234567890".to_owned()), "1234567890");
    }

    #[test]
    fn keeps_the_structure_of_json() {
        let replaced =
            anonymisation(false).text(r#"{"name": "Anna", "tags": ["x1", null, true, 7]}"#.to_owned());
        let json: Json = serde_json::from_str(&replaced).expect("the text is JSON");
        assert_eq!(json["tags"][3], 7);
        assert_eq!(shape(json["name"].as_str().expect("a text")), "Aaaa");
        assert_ne!(json["name"], "Anna");
        assert!(!replaced.contains("x1"));
    }
}
