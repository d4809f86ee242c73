//! Locates part of a scalar's text in the file.

use std::ops::Range;

/// Byte range in `source` of the bytes `at` of `text`. `text` is the value of the scalar at `span`.
///
/// Handles plain, quoted and indented block scalars. Returns the whole span if the range is unknown, for example
/// because of escapes or folded lines.
pub fn locate_excerpt(source: &str, span: Range<usize>, text: &str, at: Range<usize>) -> Range<usize> {
    let begin = at.start.min(text.len());
    if at.is_empty() && begin == 0 || !text.is_char_boundary(begin) {
        return span;
    }
    let (line, column) = {
        let before = &text[..begin];
        let from = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count(), begin - from)
    };
    let text_line = text[begin - column..].split('\n').next().unwrap_or_default();
    let Some(written) = source.get(span.clone()) else { return span };
    // Beginning of the line in the source.
    let mut from = span.start;
    for _ in 0..line {
        match source[from..].find('\n') {
            Some(i) => from += i + 1,
            None => return span,
        }
    }
    let rest = source[from..].split('\n').next().unwrap_or_default();
    let indent = match line {
        0 if written.starts_with(['"', '\'']) && !written.starts_with(text_line) => 1,
        0 => 0,
        _ => {
            let margin = source[..span.start].rfind('\n').map_or(0, |i| i + 1);
            (span.start - margin).min(rest.len() - rest.trim_start_matches(' ').len())
        }
    };
    if !rest.get(indent..).is_some_and(|it| it.starts_with(text_line)) {
        return span;
    }
    let start = from + indent + column;
    let length = at.len().max(1).min(text_line.len() - column);
    let mut end = start + length;
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `expected` is the located range. `«` and `»` mark the scalar in the source.
    fn check(marked: &str, text: &str, part: &str, expected: &str) {
        let start = marked.find('«').expect("marked");
        let source = marked.replace('«', "");
        let end = source.find('»').expect("marked");
        let source = source.replace('»', "");
        let at = text.find(part).expect("a part of the text");
        let found = locate_excerpt(&source, start..end, text, at..at + part.len());
        assert_eq!(&source[found.clone()], expected, "{marked}");
        if expected == part {
            // The range must not be an earlier occurrence of a similar text.
            assert!(
                source[found.start..]
                    .starts_with(&text[at..].split('\n').next().unwrap_or_default()[..part.len()])
            );
        }
    }

    #[test]
    fn locates_parts_in_scalars() {
        check("a: «lane(1, 2)»\n", "lane(1, 2)", "2", "2");
        check("a: «\"lane(1, 2)\"»\n", "lane(1, 2)", "lane", "lane");
        check("a: «'lane(1, 2)'»\n", "lane(1, 2)", "(1", "(1");
        check(
            "a: |\n  «\\set x 1\n  selekt :x;\n    deep»\n",
            "\\set x 1\nselekt :x;\n  deep\n",
            "selekt",
            "selekt",
        );
        check("a: |\n  «\\set x 1\n\n    deep»\n", "\\set x 1\n\n  deep\n", "deep", "deep");
        check("a: «\"l\\u0061ne(1)\"»\n", "lane(1)", "1", "\"l\\u0061ne(1)\"");
        check("a: «'it''s x'»\n", "it's x", "x", "'it''s x'");
        check("a: >\n  «fold\n  ed»\n", "fold ed\n", "ed", "fold\n  ed");
    }
}
