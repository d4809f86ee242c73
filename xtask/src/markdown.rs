//! Structure of Markdown documents: prose, links, anchors, paths.

use std::ops::Range;

/// Lines outside code blocks, with their numbers.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((i + 1, line))
    })
}

/// Targets of links, `[…](target)`, without titles and angle brackets.
pub fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(move |(i, _)| {
        let inner = &line[i + 2..];
        let inner = &inner[..inner.find(')')?];
        Some(inner.split_whitespace().next().unwrap_or("").trim_matches(['<', '>']))
    })
}

/// Link in a document, as byte ranges: the whole link, its text, and its target without title and angle brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub whole: Range<usize>,
    pub text: Range<usize>,
    pub target: Range<usize>,
}

/// Links and images, `[…](target)`, outside code blocks.
pub fn links(text: &str) -> Vec<Link> {
    let mut all = Vec::new();
    for (_, line) in prose(text) {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        for target in targets(line).filter(|target| !target.is_empty()) {
            let begin = target.as_ptr() as usize - line.as_ptr() as usize;
            let middle = line[..begin].rfind("](").expect("targets follow a bracket");
            let end = begin + line[begin..].find(')').expect("targets precede a parenthesis") + 1;
            // A link's text may begin on an earlier line.
            let opening = opening_bracket(&text[..start + middle]);
            all.push(Link {
                whole: opening..start + end,
                text: opening + 1..start + middle,
                target: start + begin..start + begin + target.len(),
            });
        }
    }
    all
}

/// Position of the bracket that opens a link's text. `before` ends before the closing bracket. The text itself may
/// contain pairs of brackets.
fn opening_bracket(before: &str) -> usize {
    let mut depth = 0;
    for (i, c) in before.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => return i,
            '[' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// Headings, with their `#` signs and line numbers.
pub fn headings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).filter(|(_, line)| line.starts_with('#'))
}

/// Anchors of a document: each `<a id="…">`, and each heading in lower case, without punctuation, with hyphens instead
/// of blanks.
pub fn anchors(text: &str) -> impl Iterator<Item = String> {
    let slug = |(_, line): (usize, &str)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let explicit = |(_, line): (usize, &str)| {
        let ids = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
        ids.map(|(id, _)| id.to_owned()).collect::<Vec<_>>()
    };
    headings(text).map(slug).chain(prose(text).flat_map(explicit))
}

/// Section of an index page: a heading, and the pages that the section's table lists.
#[derive(Debug, PartialEq, Eq)]
pub struct Section<'a> {
    pub title: &'a str,
    pub pages: Vec<ListedPage<'a>>,
}

/// Row of an index page's table whose first cell is a link.
#[derive(Debug, PartialEq, Eq)]
pub struct ListedPage<'a> {
    pub line: usize,
    pub title: &'a str,
    /// Target of the link, relative to the index page.
    pub target: &'a str,
}

/// Sections of an index page that list pages, in order.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for (line, row) in prose(text) {
        if row.starts_with('#') {
            all.push(Section { title: row.trim_start_matches('#').trim(), pages: Vec::new() });
        }
        let link = row.strip_prefix("| [").and_then(|rest| rest.split_once("]("));
        if let (Some((title, rest)), Some(section)) = (link, all.last_mut()) {
            let target = rest.split(')').next().unwrap_or("");
            section.pages.push(ListedPage { line, title, target });
        }
    }
    all.retain(|section| !section.pages.is_empty());
    all
}

/// The path without `.` and `..`.
pub fn normalise(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Path of a relative link's target, from the project's root and without the anchor. `page` is the page that contains
/// the link.
pub fn resolve(page: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or("");
    match (target, page.rsplit_once('/')) {
        ("", _) => page.to_owned(),
        (_, Some((folder, _))) => normalise(&format!("{folder}/{target}")),
        (_, None) => normalise(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_anchors() {
        let text = "# The *house*\n```\n# no\n```\n| <a id=\"key-a\"></a>`a` | <a id=\"key-b\"></a> |\n";
        assert_eq!(anchors(text).collect::<Vec<_>>(), ["the-house", "key-a", "key-b"]);
    }

    #[test]
    fn finds_ranges_of_links() {
        let text = "a [b [c]](d.md#e \"f\") é ![g](<h.png>)\n```\n[i](j)\n```\n[k\nm](l)";
        let parts = |link: Link| [link.whole, link.text, link.target].map(|range| &text[range]);
        let found: Vec<_> = links(text).into_iter().map(parts).collect();
        assert_eq!(
            found,
            [
                ["[b [c]](d.md#e \"f\")", "b [c]", "d.md#e"],
                ["[g](<h.png>)", "g", "h.png"],
                ["[k\nm](l)", "k\nm", "l"]
            ]
        );
    }

    #[test]
    fn reads_sections_of_an_index() {
        let text = "# Title\n\n[no row](x.md)\n\n## Tasks\n\n| page | content |\n|---|---|\n\
                    | [Run](run.md) | [more](y.md) |\n## Empty\n";
        let pages = vec![ListedPage { line: 9, title: "Run", target: "run.md" }];
        assert_eq!(sections(text), [Section { title: "Tasks", pages }]);
    }

    #[test]
    fn resolves_links() {
        for (page, target, path) in [
            ("docs/a.md", "b.md#c", "docs/b.md"),
            ("docs/a.md", "../README.md", "README.md"),
            ("docs/a.md", "#c", "docs/a.md"),
            ("README.md", "docs/", "docs"),
        ] {
            assert_eq!(resolve(page, target), path, "{target} in {page}");
        }
    }
}
