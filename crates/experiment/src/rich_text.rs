//! Subset of Markdown: paragraphs, lists, code blocks, emphasis, strong, code and links.

use model::plan::{SpanStyle, TextBlock, TextSpan};
use model::{GrammarDiagnostic, message, quote};
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Maximum number of lists within each other.
const LISTS_MAX: usize = 3;

/// Parses a text. Returns its blocks, and an error for each place that the subset does not have.
pub fn parse(text: &str) -> (Vec<TextBlock>, Vec<GrammarDiagnostic>) {
    let mut reader = Reader { text, ..Reader::default() };
    // Tables and strikethrough are enabled to be reported; otherwise their marks would be part of the text.
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
        reader.event(event, span);
    }
    reader.end_paragraph();
    (reader.blocks, reader.diagnostics)
}

/// List that is being read.
#[derive(Debug)]
struct OpenList {
    start: Option<u64>,
    items: Vec<Vec<TextBlock>>,
    /// Blocks that surround the list.
    outer: Vec<TextBlock>,
}

#[derive(Debug, Default)]
struct Reader<'a> {
    text: &'a str,
    /// Blocks of the innermost list item, or of the text.
    blocks: Vec<TextBlock>,
    spans: Vec<TextSpan>,
    lists: Vec<OpenList>,
    styles: Vec<SpanStyle>,
    /// Addresses of the open links; `None` if the text of a link is its address.
    links: Vec<Option<String>>,
    code: Option<String>,
    /// Number of open elements that are left out.
    skipped: usize,
    diagnostics: Vec<GrammarDiagnostic>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, span: Range<usize>) {
        if self.skipped > 0 {
            match event {
                Event::Start(_) => self.skipped += 1,
                Event::End(_) => self.skipped -= 1,
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.add(&text),
            Event::Code(text) => {
                self.spans.push(TextSpan { text: text.into_string(), style: SpanStyle::Code });
            }
            Event::SoftBreak | Event::HardBreak => self.add(" "),
            Event::Html(_) | Event::InlineHtml(_) => self.report("html", span),
            Event::Rule => self.report("rule", span),
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {
                self.report("other", span);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, span: Range<usize>) {
        match tag {
            Tag::Paragraph => {}
            Tag::List(_) if self.lists.len() == LISTS_MAX => self.skip("deep-list", span),
            Tag::List(start) => {
                self.end_paragraph();
                let outer = std::mem::take(&mut self.blocks);
                self.lists.push(OpenList { start, items: Vec::new(), outer });
            }
            Tag::Item => self.end_paragraph(),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.end_paragraph();
                self.code = Some(String::new());
            }
            Tag::Emphasis => self.styles.push(SpanStyle::Emphasis),
            Tag::Strong => self.styles.push(SpanStyle::Strong),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => self.links.push(None),
            Tag::Link { dest_url, .. } => self.links.push(Some(dest_url.into_string())),
            Tag::Heading { .. } => self.skip("heading", span),
            Tag::BlockQuote(_) => self.skip("quote", span),
            Tag::HtmlBlock => self.skip("html", span),
            Tag::Image { .. } => self.skip("image", span),
            Tag::Table(_) => self.skip("table", span),
            Tag::Strikethrough => self.skip("strikethrough", span),
            _ => self.skip("other", span),
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph => self.end_paragraph(),
            TagEnd::Item => {
                self.end_paragraph();
                let blocks = std::mem::take(&mut self.blocks);
                self.lists.last_mut().expect("an item is in a list").items.push(blocks);
            }
            TagEnd::List(_) => {
                let OpenList { start, items, outer } = self.lists.pop().expect("the list has begun");
                self.blocks = outer;
                self.blocks.push(TextBlock::List { start, items });
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.blocks.push(TextBlock::Code(code.trim_end().to_owned()));
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.styles.pop();
            }
            TagEnd::Link => {
                // A printed page has no links, so the address is part of the text.
                if let Some(address) = self.links.pop().expect("the link has begun") {
                    self.add(&format!(" ({address})"));
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        let style = self.styles.last().copied().unwrap_or_default();
        match self.spans.last_mut().filter(|last| last.style == style) {
            Some(last) => last.text.push_str(text),
            None => self.spans.push(TextSpan { text: text.to_owned(), style }),
        }
    }

    fn end_paragraph(&mut self) {
        if !self.spans.is_empty() {
            self.blocks.push(TextBlock::Paragraph(std::mem::take(&mut self.spans)));
        }
    }

    /// Reports an element, and leaves its content out.
    fn skip(&mut self, kind: &'static str, span: Range<usize>) {
        self.skipped = 1;
        self.report(kind, span);
    }

    fn report(&mut self, kind: &'static str, span: Range<usize>) {
        let text = &self.text[span.clone()];
        let line = text.lines().next().unwrap_or_default();
        let span = span.start..span.start + line.len();
        let message = message!("experiment-document-markup", kind, text = quote(line));
        self.diagnostics.push(GrammarDiagnostic { span, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes blocks in one line: `P(…)`, `U[…]`, `O3[…]`, `C(…)`; styles as in Markdown.
    fn describe(blocks: &[TextBlock]) -> String {
        let span = |span: &TextSpan| match span.style {
            SpanStyle::Plain => span.text.clone(),
            SpanStyle::Emphasis => format!("*{}*", span.text),
            SpanStyle::Strong => format!("**{}**", span.text),
            SpanStyle::Code => format!("`{}`", span.text),
        };
        let block = |block: &TextBlock| match block {
            TextBlock::Paragraph(spans) => format!("P({})", spans.iter().map(span).collect::<String>()),
            TextBlock::List { start, items } => {
                let items: Vec<String> = items.iter().map(|it| describe(it)).collect();
                let kind = start.map_or("U".to_owned(), |start| format!("O{start}"));
                format!("{kind}[{}]", items.join("|"))
            }
            TextBlock::Code(text) => format!("C({text})"),
        };
        blocks.iter().map(block).collect()
    }

    #[test]
    fn reads_the_subset() {
        for (text, expected) in [
            ("", ""),
            ("one\ntwo\n\nthree\n", "P(one two)P(three)"),
            ("- a\n- b\n", "U[P(a)|P(b)]"),
            ("3. a\n4. b\n   - c\n", "O3[P(a)|P(b)U[P(c)]]"),
            ("- a\n\n  b\n- c\n", "U[P(a)P(b)|P(c)]"),
            ("*a* **b** `c < d` \\*", "P(*a* **b** `c < d` *)"),
            ("**a *b* c**", "P(**a ***b*** c**)"),
            ("```\nSELECT 1;\n\n  x\n```\n", "C(SELECT 1;\n\n  x)"),
            ("[the file](a.yaml) and <http://x.example>", "P(the file (a.yaml) and http://x.example)"),
            ("p99 < 200ms & errors > 1 %", "P(p99 < 200ms & errors > 1 %)"),
            ("Цели\n- раз\n- два", "P(Цели)U[P(раз)|P(два)]"),
        ] {
            let (blocks, diagnostics) = parse(text);
            assert!(diagnostics.is_empty(), "{text:?}: {diagnostics:?}");
            assert_eq!(describe(&blocks), expected, "{text:?}");
        }
    }

    #[test]
    fn reports_other_markup_with_its_place() {
        for (text, kind, place) in [
            ("a\n\n# Title\n\nb", "heading", "# Title"),
            ("a <b>c</b>", "html", "<b>"),
            ("<script>\nalert(1)\n</script>\n", "html", "<script>"),
            ("> a", "quote", "> a"),
            ("![a](b.png)", "image", "![a](b.png)"),
            ("| a |\n|---|\n| b |\n", "table", "| a |"),
            ("a\n\n---\n", "rule", "---"),
            ("~~a~~", "strikethrough", "~~a~~"),
            ("- a\n  - b\n    - c\n      - d\n", "deep-list", "- d"),
        ] {
            let (blocks, diagnostics) = parse(text);
            let first = diagnostics.first().unwrap_or_else(|| panic!("{text:?} is accepted as {blocks:?}"));
            assert_eq!(&text[first.span.clone()], place, "{text:?}");
            assert_eq!(first.message, message!("experiment-document-markup", kind, text = quote(place)));
            assert!(!describe(&blocks).contains("alert"), "{text:?}");
        }
    }
}
