//! How does a number look in a language?

/// A number as machines write it, `-21570.5`, with a decimal comma and with narrow no-break spaces between its
/// thousands where there are five digits or more.
pub(crate) fn with_comma(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = whole.chars().filter(char::is_ascii_digit).count();
    let mut out = String::new();
    let mut left = digits;
    for c in whole.chars() {
        if c.is_ascii_digit() {
            if digits > 4 && left < digits && left.is_multiple_of(3) {
                out.push('\u{202f}');
            }
            left -= 1;
        }
        out.push(c);
    }
    out + &rest.replace('.', ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_thousands() {
        for (text, expected) in [
            ("0", "0"),
            ("0.371", "0,371"),
            ("-15.6", "-15,6"),
            ("9999", "9999"),
            ("21570.25", "21\u{202f}570,25"),
            ("-1234567", "-1\u{202f}234\u{202f}567"),
            ("+100000", "+100\u{202f}000"),
        ] {
            assert_eq!(with_comma(text), expected, "{text}");
        }
    }
}
