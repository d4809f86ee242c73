use super::*;

#[test]
fn parses_decimal_durations() {
    for (text, unit, expected) in [
        ("0.042", 1_000_000_000, Some(42_000_000)),
        ("12", 1_000, Some(12_000)),
        ("1.5", 1_000_000, Some(1_500_000)),
        ("", 1, None),
        (".5", 1_000, None),
        ("1.", 1_000, None),
        ("-1", 1_000, None),
        ("1e3", 1_000, None),
        ("999999999999999999", 1_000_000_000, None),
    ] {
        assert_eq!(decimal(text.as_bytes(), unit), expected, "{text}");
    }
}

#[test]
fn removes_escapes() {
    for (text, expected) in [
        ("plain", "plain"),
        (r"a\x22b\x5c", "a\"b\\"),
        (r#"a\"b\\"#, "a\"b\\"),
        (r"\u0416\/\n\t", "Ж/\n\t"),
        (r"\", "\\"),
        (r"\x", "\\x"),
        (r"\x2", "\\x2"),
        (r"\xzz\u12", "\\xzz\\u12"),
        (r"\ud800", "\\ud800"),
    ] {
        let mut out = Vec::new();
        unescape(text.as_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected, "{text}");
    }
}
