//! Values that identify something

/// Length of the shortest distinctive value, in bytes; shorter ones are in many places by chance.
pub(super) const VALUE_MIN: usize = 8;

/// True if a text is hardly the same in two places by chance: neither a word, nor a date, a version or an amount.
pub(super) fn is_distinctive(text: &str) -> bool {
    let has = |is: fn(&char) -> bool| text.chars().any(|character| is(&character));
    if text.len() < VALUE_MIN || has(|character| character.is_whitespace()) {
        return false;
    }
    if text.starts_with('/') || text.contains("://") {
        return false;
    }
    let has_digit = has(char::is_ascii_digit);
    let has_letter = has(|character| character.is_alphabetic());
    if !has_letter {
        // Numbers of at least eight digits, without a fraction or a colon.
        return has_digit && !text.contains(['.', ':', ',']) && !is_date(text);
    }
    // Uppercase letters within a word.
    let letters: Vec<char> = text.chars().collect();
    let is_mixed =
        letters.windows(2).filter(|pair| pair[0].is_lowercase() && pair[1].is_uppercase()).count() > 1;
    (has_digit || is_mixed) && !is_date(text)
}

/// True if a text begins with a date such as `2026-11-26`.
fn is_date(text: &str) -> bool {
    let date = text.as_bytes().get(..10).unwrap_or_default();
    date.len() == 10
        && date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_words() {
        for (text, expected) in [
            ("a1b2c3d4", true),
            ("12345678", true),
            ("2026-000123", true),
            ("aBcDeFgHi", true),
            ("f47ac10b-58cc-4372-a567-0e02b2c3d479", true),
            ("1234567", false),
            ("electronics", false),
            ("Electronics", false),
            ("application/json", false),
            ("2026-11-26", false),
            ("2026-11-26T10:00:00Z", false),
            ("12345.678", false),
            ("/orders/12345678", false),
            ("https://shop.test/12345678", false),
            ("two words 1", false),
            ("--------", false),
        ] {
            assert_eq!(is_distinctive(text), expected, "{text}");
        }
    }
}
