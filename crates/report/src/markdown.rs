//! Page as Markdown for summaries in continuous integration
//!
//! The text is meant for GitHub and GitLab. It contains neither pictures nor folded parts, and is truncated at the size
//! limit of these services. Text from other sources is escaped.

use crate::terms;
use crate::text::{visible, visible_lines};
use crate::view::{Block, Drawing, FindingView, Line, Page, Table};

/// Maximum size of a summary, in bytes.
pub const BYTES_MAX: usize = 60_000;

/// Maximum size of a part that the page collapses, so that it leaves room for the following sections.
const COLLAPSED_BYTES_MAX: usize = BYTES_MAX / 4;

pub fn to_markdown(page: &Page) -> String {
    let mut out = format!("# {}\n\n", escape_inline(&page.title));
    out += &format!("{}\n\n**{}**\n\n", escape_inline(&page.question), escape_inline(&page.answer.text));
    let facts: Vec<String> = page.facts.iter().map(|it| escape_inline(it)).collect();
    out += &format!("{}\n", facts.join(" · "));
    let left_out = page.words.iter().find(|it| it.0 == "left_out").map_or("", |it| it.1.as_str());
    let room = BYTES_MAX - left_out.len() - 4;
    for section in page.sections.iter().filter(|section| section.id != terms::SECTION) {
        let text = |content: &Block| match content {
            Block::Details { blocks, .. } => collapsed(blocks, left_out),
            other => block(other),
        };
        let blocks: Vec<String> = section.blocks.iter().map(text).filter(|it| !it.is_empty()).collect();
        if blocks.is_empty() {
            continue;
        }
        let heading = format!("\n## {}\n\n", escape_inline(&section.heading));
        for (number, text) in blocks.iter().enumerate() {
            let before = if number == 0 { heading.as_str() } else { "\n" };
            if out.len() + before.len() + text.len() > room {
                out += &format!("\n{left_out}\n");
                return out;
            }
            out += before;
            out += text;
        }
    }
    out
}

/// Renders a block as whole lines; empty for drawings and charts.
fn block(content: &Block) -> String {
    match content {
        Block::Text(it) => format!("{}\n", escape_inline(&it.text)),
        Block::List { items } => list(items),
        Block::Facts { facts } => facts
            .iter()
            .map(|(name, value)| format!("- {}: {}\n", escape_inline(name), escape_inline(value)))
            .collect(),
        Block::Table(it) => table(it),
        Block::HeatMap(_) | Block::Picture(_) | Block::Charts(_) | Block::Code { folded: true, .. } => {
            String::new()
        }
        Block::Drawing(it) => drawing(it),
        // Write the content of folded parts, because Markdown has no folded parts.
        Block::Details { blocks, .. } => blocks.iter().map(block).collect(),
        Block::Findings { findings } => findings.iter().map(finding).collect(),
        Block::Code { name, text, folded: false } => {
            format!("{}:\n\n{}", escape_inline(name), code_block(text))
        }
    }
}

/// Renders the blocks of a collapsed part, up to its maximum size.
fn collapsed(blocks: &[Block], left_out: &str) -> String {
    let mut out = String::new();
    for text in blocks.iter().map(block).filter(|it| !it.is_empty()) {
        let before = if out.is_empty() { "" } else { "\n" };
        if out.len() + text.len() > COLLAPSED_BYTES_MAX {
            return out + &format!("{before}{left_out}\n");
        }
        out += before;
        out += &text;
    }
    out
}

fn list(items: &[Line]) -> String {
    items.iter().map(|it| format!("- {}\n", escape_inline(&it.text))).collect()
}

fn table(table: &Table) -> String {
    let mut out = String::new();
    if !table.caption.is_empty() {
        out += &format!("**{}**\n\n", escape_inline(&table.caption));
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out += &row(table.columns.iter().map(|it| escape_inline(&it.heading)).collect());
    out += &row(table.columns.iter().map(|it| if it.numeric { "--:" } else { "---" }.to_owned()).collect());
    for line in &table.rows {
        let cell = |text: &String| match (line.baseline, escape_inline(text)) {
            (true, text) if !text.is_empty() => format!("**{text}**"),
            (_, text) => text,
        };
        out += &row(line.cells.iter().map(cell).collect());
    }
    for (number, (mark, note)) in table.notes.iter().enumerate() {
        let mark = if mark.is_empty() { String::new() } else { format!("{}: ", escape_inline(mark)) };
        let before = if number == 0 { "\n" } else { "" };
        out += &format!("{before}- {mark}{}\n", escape_inline(&note.text));
    }
    out
}

fn drawing(drawing: &Drawing) -> String {
    let mut out = format!("{}\n\n", escape_inline(&drawing.alternative));
    let replicas = drawing.replicas.iter().flat_map(|it| it.nodes.iter().chain([&it.manager]));
    for node in drawing.nodes.iter().chain(replicas).filter(|it| !it.lines.is_empty()) {
        let lines: Vec<String> = node.lines.iter().map(|it| escape_inline(&it.text)).collect();
        out += &format!("- {}: {}\n", escape_inline(&node.heading), lines.join("; "));
    }
    out
}

/// Renders a finding without the links to its evidence, because the text contains no charts.
fn finding(finding: &FindingView) -> String {
    let line = format!("- {}\n", escape_inline(&finding.line.text));
    // Indent the table, so that it is part of the list item.
    let table = finding.table.as_ref().map_or(String::new(), |finding_table| {
        let lines: String = table(finding_table).lines().map(|line| format!("  {line}\n")).collect();
        format!("\n{lines}\n")
    });
    line + &table
}

/// Renders a code block whose fence is longer than any fence within it.
fn code_block(text: &str) -> String {
    let text = visible_lines(text);
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

/// Escapes one line of text, so that it contains no Markdown syntax.
fn escape_inline(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => out.extend(['\\', character]),
            // At the start of a line, these characters would begin a list or a rule.
            '-' | '+' | '=' if at == 0 => out.extend(['\\', character]),
            // Without the escape, an address would become a link.
            ':' if text[at..].starts_with("://") => out.push_str("\\:"),
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Column, Row, Section};

    #[test]
    fn escapes_foreign_text() {
        for (text, expected) in [
            ("p99 < 200ms", "p99 &lt; 200ms"),
            ("a|b", "a\\|b"),
            ("</script><img src=x onerror=alert(1)>", "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"),
            (
                "`x` *b* __i__ [l](javascript:x) # ~~",
                "\\`x\\` \\*b\\* \\_\\_i\\_\\_ \\[l\\](javascript:x) \\# \\~\\~",
            ),
            ("\x1b[31m", "\\\\u{1b}\\[31m"),
            ("a\nb", "a b"),
            ("- 1", "\\- 1"),
            ("=cmd|' /C calc'!A0", "\\=cmd\\|' /C calc'!A0"),
            ("see http://x.example", "see http\\://x.example"),
            ("www.x.example", "www\\.x.example"),
            ("-15.6 %", "\\-15.6 %"),
        ] {
            assert_eq!(escape_inline(text), expected);
        }
        assert_eq!(code_block("a\n```\nb\u{1b}"), "````\na\n```\nb\\u{1b}\n````\n");
    }

    #[test]
    fn collapsed_parts_leave_room_for_later_sections() {
        let text =
            |length: usize| Block::Text(Line { text: "x".repeat(length), tone: crate::view::Tone::Plain });
        assert_eq!(collapsed(&[text(2), text(1)], "rest"), "xx\n\nx\n");
        let long = collapsed(&[text(9), text(COLLAPSED_BYTES_MAX), text(1)], "rest");
        assert_eq!(long, "xxxxxxxxx\n\nrest\n");
        assert_eq!(collapsed(&[text(COLLAPSED_BYTES_MAX)], "rest"), "rest\n");
    }

    #[test]
    fn cuts_long_pages_between_blocks() {
        let row = || Row { cells: vec!["x".repeat(1000)], ..Row::default() };
        let table = Table {
            columns: vec![Column { heading: "c".into(), ..Column::default() }],
            rows: (0..10).map(|_| row()).collect(),
            ..Table::default()
        };
        let blocks = (0..10).map(|_| Block::Table(table.clone())).collect();
        let section = Section { id: "matrix", heading: "m".into(), blocks };
        let words = vec![("left_out".to_owned(), "the rest is elsewhere".to_owned())];
        let page = Page { sections: vec![section], words, ..Page::default() };
        let text = to_markdown(&page);
        assert!(text.len() <= BYTES_MAX, "{}", text.len());
        assert!(text.ends_with("the rest is elsewhere\n"));
        assert_eq!(text.matches("| --- |").count(), 5);
    }
}
