//! Values in HTML and scripts, with regular expressions that find them

use super::distinctive::{VALUE_MIN, is_distinctive};

/// Value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkupValue {
    /// Name for a variable, such as the `name` of a hidden input.
    pub name: String,
    pub value: String,
    /// Regular expression whose first group matches the value, if its first match in the document is this one.
    pub pattern: String,
}

/// Attributes that identify an element.
const IDENTIFYING: [&str; 5] = ["name", "id", "property", "http-equiv", "itemprop"];
/// Attributes that contain URLs.
const URLS: [&str; 4] = ["href", "action", "src", "formaction"];
/// Maximum number of values of one document.
const VALUES_MAX: usize = 20_000;

/// Attribute with its value and the quote around it.
struct Attribute<'a> {
    name: &'a str,
    value: &'a str,
    quote: char,
}

/// Values of the attributes and scripts of a document.
pub(super) fn values(text: &str) -> Vec<MarkupValue> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<').filter(|_| all.len() < VALUES_MAX) {
        rest = &rest[at + 1..];
        let name_end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (tag, after) = rest.split_at(name_end);
        if tag.is_empty() {
            continue;
        }
        let (attributes, content) = attributes(after);
        add_attributes(tag, &attributes, &mut all);
        rest = content;
        if tag.eq_ignore_ascii_case("script") {
            let end = rest.find("</script").unwrap_or(rest.len());
            all.extend(script_values(&rest[..end]));
            rest = &rest[end..];
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            add_content(tag, &attributes, rest[..end].trim(), &mut all);
        }
    }
    all
}

/// Attributes of an element, and the text behind its tag.
fn attributes(text: &str) -> (Vec<Attribute<'_>>, &str) {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if rest.is_empty() || rest.starts_with('<') {
            return (all, rest);
        }
        if let Some(content) = rest.strip_prefix('>') {
            return (all, content);
        }
        let end =
            rest.find(|letter: char| letter.is_whitespace() || "=>/<".contains(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        if let Some(after) = after.trim_start().strip_prefix('=') {
            let after = after.trim_start();
            match after.chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    let Some(end) = after[1..].find(quote) else { return (all, "") };
                    all.push(Attribute { name, value: &after[1..=end], quote });
                    rest = &after[end + 2..];
                }
                // Values without quotes are rare, and patterns for them would be imprecise.
                _ => {
                    let end = after.find(|letter: char| letter.is_whitespace() || letter == '>');
                    rest = &after[end.unwrap_or(after.len())..];
                }
            }
        } else if name.is_empty() {
            // A `=` without a name.
            let skip = rest.chars().next().map_or(0, char::len_utf8);
            rest = &rest[skip..];
        }
    }
}

fn add_attributes(tag: &str, attributes: &[Attribute<'_>], all: &mut Vec<MarkupValue>) {
    let identity = identity(attributes);
    for (at, Attribute { name, value, quote }) in attributes.iter().enumerate() {
        let lowercase = name.to_ascii_lowercase();
        if URLS.contains(&lowercase.as_str()) {
            add_url(name, value, *quote, all);
        }
        let is_value = matches!(lowercase.as_str(), "value" | "content") || lowercase.starts_with("data-");
        if !is_value || value.len() < VALUE_MIN {
            continue;
        }
        let group = format!("{}={quote}([^{quote}]+){quote}", escape(name));
        let (hint, pattern) = match identity {
            Some((place, identity)) => {
                let known = pattern_of(identity);
                let pattern = match place < at {
                    true => format!("{known}[^>]*\\s{group}"),
                    false => format!("{group}[^>]*\\s{known}"),
                };
                (identity.value, pattern)
            }
            None => (*name, format!("<{tag}[^>]*\\s{group}")),
        };
        all.push(MarkupValue { name: hint.to_owned(), value: (*value).to_owned(), pattern });
    }
}

/// Attribute that identifies the element, with its position among the attributes.
fn identity<'a, 'b>(attributes: &'a [Attribute<'b>]) -> Option<(usize, &'a Attribute<'b>)> {
    let position = |name: &&str| {
        attributes
            .iter()
            .position(|attribute| attribute.name.eq_ignore_ascii_case(name) && !attribute.value.is_empty())
    };
    let place = IDENTIFYING.iter().find_map(position)?;
    Some((place, &attributes[place]))
}

fn pattern_of(Attribute { name, value, quote }: &Attribute<'_>) -> String {
    format!("{}={quote}{}{quote}", escape(name), escape(value))
}

/// Adds the parts of a URL, up to the first one that identifies something: a URL with another one differs in a replay.
fn add_url(attribute: &str, url: &str, quote: char, all: &mut Vec<MarkupValue>) {
    let is_separator = |letter: char| "/?&=#;".contains(letter);
    let mut start = 0;
    for part in url.split_inclusive(is_separator) {
        let value = part.trim_end_matches(is_separator);
        if value.len() >= VALUE_MIN && start > 0 {
            let pattern =
                format!("{}={quote}{}([^{quote}/?&=#;]+)", escape(attribute), escape(&url[..start]));
            let names = url[..start].split(is_separator).rev().find(|name| !name.is_empty());
            let name = names.unwrap_or("link").to_owned();
            all.push(MarkupValue { name, value: value.to_owned(), pattern });
        }
        if is_distinctive(value) {
            return;
        }
        start += part.len();
    }
}

/// Adds the text of an element.
fn add_content(tag: &str, attributes: &[Attribute<'_>], text: &str, all: &mut Vec<MarkupValue>) {
    if text.len() < VALUE_MIN || text.contains(char::is_whitespace) {
        return;
    }
    let (name, before) = match identity(attributes) {
        Some((_, attribute)) => (attribute.value, format!("{}[^>]*", pattern_of(attribute))),
        None => (tag, format!("<{tag}[^>]*")),
    };
    let pattern = format!("{before}>\\s*([^<\\s]+)");
    all.push(MarkupValue { name: name.to_owned(), value: text.to_owned(), pattern });
}

/// Texts that a script assigns to names, as in `csrf = "…"` or `{"csrf": "…"}`.
pub(super) fn script_values(text: &str) -> Vec<MarkupValue> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find([':', '=']).filter(|_| all.len() < VALUES_MAX) {
        let sign = at + found;
        at = sign + 1;
        let after = text[at..].trim_start();
        let Some(quote @ ('"' | '\'')) = after.chars().next() else { continue };
        let before = text[..sign].trim_end().trim_end_matches(['"', '\'']);
        let begin = before.char_indices().rev().take_while(|(_, letter)| is_name(*letter)).last();
        let name = begin.map_or("", |(begin, _)| &before[begin..]);
        let Some(end) = after[1..].find(quote) else { continue };
        let value = &after[1..=end];
        if name.is_empty() || value.len() < VALUE_MIN || value.contains('\\') {
            continue;
        }
        let pattern = format!("{}[\"']?\\s*[:=]\\s*{quote}([^{quote}]+){quote}", escape(name));
        all.push(MarkupValue { name: name.to_owned(), value: value.to_owned(), pattern });
    }
    all
}

/// Text as a regular expression that matches only this text.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, &str)]) {
        let found = values(text);
        let found: Vec<(&str, &str, &str)> =
            found.iter().map(|it| (it.name.as_str(), it.value.as_str(), it.pattern.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn finds_attributes() {
        check(
            "<input type=hidden name=\"_csrf\" value=\"abc12345\">",
            &[("_csrf", "abc12345", "name=\"_csrf\"[^>]*\\svalue=\"([^\"]+)\"")],
        );
        check(
            "<meta content='abc12345' name='csrf-token'/>",
            &[("csrf-token", "abc12345", "content='([^']+)'[^>]*\\sname='csrf\\-token'")],
        );
        check(
            "<div data-key=\"abc12345\"> </div>",
            &[("data-key", "abc12345", "<div[^>]*\\sdata\\-key=\"([^\"]+)\"")],
        );
        check("<input value=\"short\"><a title=\"abc12345\">", &[]);
    }

    #[test]
    fn finds_parts_of_urls() {
        check(
            "<a href=\"/orders/abc12345?x=1\">more</a>",
            &[("orders", "abc12345", "href=\"/orders/([^\"/?&=#;]+)")],
        );
        check(
            "<form action=\"/pay?order=abc12345\">",
            &[("order", "abc12345", "action=\"/pay\\?order=([^\"/?&=#;]+)")],
        );
    }

    #[test]
    fn ends_at_the_first_identifier_of_a_url() {
        let found = values("<a href=\"/orders/abc12345/items/def67890\">");
        assert_eq!(found.iter().map(|it| it.value.as_str()).collect::<Vec<_>>(), ["abc12345"]);
    }

    #[test]
    fn finds_contents_and_scripts() {
        check(
            "<b id=\"number\"> A-2026-77 </b><i>two words</i>",
            &[("number", "A-2026-77", "id=\"number\"[^>]*>\\s*([^<\\s]+)")],
        );
        check(
            "<script>if (a<b) { window.csrf = 'abc12345'; x = {\"k\": \"short\"} }</script>",
            &[("csrf", "abc12345", "csrf[\"']?\\s*[:=]\\s*'([^']+)'")],
        );
    }

    #[test]
    fn survives_broken_markup() {
        for text in ["<a href=\"", "<a =", "<a b", "<", "<é", "<script>a = 'é", "<a b=c", "<a b='é' <c>"] {
            let _ = values(text);
        }
    }
}
