//! Regular expressions for responses

use regex_automata::meta::{Cache, Regex};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, MatchKind};
use std::str::FromStr;

/// Regular expression in the syntax of Rust's `regex`, whose search time is linear in the text for any pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

/// Error: the text is not a valid regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// Error message from the parser of regular expressions.
    pub reason: String,
}

impl PatternError {
    /// Example of a regular expression, for error messages.
    pub const EXAMPLE: &str = r#"name="token" value="([^"]+)""#;
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let config = Regex::config().match_kind(MatchKind::LeftmostFirst).nfa_size_limit(Some(1 << 20));
        let built = Regex::builder().configure(config).build(text);
        let regex = built.map_err(|error| {
            let message = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            PatternError { reason }
        })?;
        Ok(Pattern { text: text.to_owned(), regex })
    }
}

/// Search state of one thread for a pattern; repeated searches do not allocate.
#[derive(Debug)]
pub struct PatternMatcher {
    cache: Cache,
}

impl PatternMatcher {
    pub fn new(pattern: &Pattern) -> PatternMatcher {
        PatternMatcher { cache: pattern.regex.create_cache() }
    }

    /// Returns the first group of the first match, or the whole match if the pattern has no group. `pattern` must be
    /// the pattern that was passed to `new`.
    pub fn find<'a>(&mut self, pattern: &Pattern, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut slots = [None; 4];
        let slots = &mut slots[..if pattern.regex.captures_len() > 1 { 4 } else { 2 }];
        pattern.regex.search_slots_with(&mut self.cache, &Input::new(text), slots)?;
        let [.., from, to] = slots else { return None };
        let at = |it: &Option<NonMaxUsize>| it.map(NonMaxUsize::get);
        text.get(at(from)?..at(to)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_first_group_or_whole_match() {
        for (pattern, text, expected) in [
            ("value=\"([^\"]+)\"", "<input value=\"x y\"><input value=\"z\">", Some("x y")),
            ("[0-9]+", "a12b34", Some("12")),
            ("(?i)TOKEN: (\\w+)", "token: жук;", Some("жук")),
            ("(a)|b", "b", None),
            ("c+", "ab", None),
            ("x*", "ab", Some("")),
        ] {
            let pattern: Pattern = pattern.parse().expect("an expression");
            let mut finder = PatternMatcher::new(&pattern);
            for _ in 0..2 {
                let found = finder.find(&pattern, text.as_bytes());
                assert_eq!(found, expected.map(str::as_bytes), "{pattern:?} in {text}");
            }
        }
        // Invalid UTF-8 is accepted.
        let pattern: Pattern = "k=(.)".parse().expect("an expression");
        assert_eq!(PatternMatcher::new(&pattern).find(&pattern, b"\xff\xfek=v\xff"), Some(&b"v"[..]));
    }

    #[test]
    fn rejects_invalid_patterns() {
        let error = "(a".parse::<Pattern>().expect_err("the group is not closed");
        assert_eq!(error.reason, "unclosed group");
    }
}
