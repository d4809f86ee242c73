//! Names of operations and steps

use super::template::RequestTemplate;
use std::collections::HashSet;

/// Maximum length of a name in bytes, without a number. Experiment files allow 64.
const LENGTH_MAX: usize = 48;
/// Number of segments of a path that a name contains.
const SEGMENTS: usize = 3;
/// Longest segment that is no identifier.
const SEGMENT_MAX: usize = 24;

/// Name for a request: its method and the words of its path, such as `get-api-orders`.
pub(super) fn request_name(method: &str, target: &RequestTemplate) -> String {
    let text = target.text();
    let path = text.split('?').next().unwrap_or_default();
    let words: Vec<String> = path.split('/').filter_map(word).collect();
    let last = &words[words.len().saturating_sub(SEGMENTS)..];
    let mut name = method.to_ascii_lowercase();
    for word in last {
        name.push('-');
        name.push_str(word);
    }
    if words.is_empty() {
        name.push_str(if path.len() > 1 { "-item" } else { "-root" });
    }
    name.truncate(LENGTH_MAX);
    name.trim_end_matches('-').to_owned()
}

/// Segment of a path as a part of a name; `None` for identifiers and variables.
fn word(segment: &str) -> Option<String> {
    let segment = [".html", ".htm", ".php", ".json", ".aspx", ".jsp", ".do"]
        .iter()
        .find_map(|ending| segment.strip_suffix(ending))
        .unwrap_or(segment);
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    if segment.contains(['$', '%', '@', ':', ';', '=']) || digits > 2 || segment.len() > SEGMENT_MAX {
        return None;
    }
    let name = plain(segment);
    (!name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

/// Name with only `a-z`, `0-9` and single hyphens.
pub(super) fn plain(text: &str) -> String {
    let mut name = String::new();
    let mut after_small = false;
    for character in text.chars() {
        let is_word = character.is_ascii_alphanumeric();
        if (!is_word || character.is_ascii_uppercase() && after_small)
            && !name.is_empty()
            && !name.ends_with('-')
        {
            name.push('-');
        }
        if is_word {
            name.push(character.to_ascii_lowercase());
        }
        after_small = character.is_ascii_lowercase();
    }
    name.truncate(LENGTH_MAX);
    name.trim_matches('-').to_owned()
}

/// The name, or the name with a number if it is taken.
pub(super) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}-{number}");
        number += 1;
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_requests() {
        for (method, target, expected) in [
            ("GET", "/", "get-root"),
            ("POST", "/api/v1/Orders?x=1", "post-api-v1-orders"),
            ("GET", "/a/b/c/orderItems.html", "get-b-c-order-items"),
            ("GET", "/orders/12345678", "get-orders"),
            ("GET", "/12345678", "get-item"),
            ("GET", "/user%40a/x@y/$5", "get-item"),
            ("GET", "/very-long-segment-of-a-path-that-is-no-word/x", "get-x"),
            ("GET", "/7/a_b", "get-a-b"),
        ] {
            assert_eq!(request_name(method, &RequestTemplate::plain(target)), expected, "{target}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut taken = HashSet::new();
        let names = ["a", "a", "b", "a"].map(|name| unique(name, &mut taken));
        assert_eq!(names, ["a", "a-2", "b", "a-3"]);
    }
}
