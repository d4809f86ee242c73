//! Bound document as one HTML file, for browsers and for the print to PDF
//!
//! The file has no script and requests nothing. Text from other sources is escaped.

use super::raster::FONT;
use super::{BoundDocument, Chapter, Element};
use crate::html::escape;
use crate::text::{visible, visible_lines};
use crate::view::{Table, Tone};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::plan::{SpanStyle, TextSpan};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

const STYLE: &str = include_str!("style.css");

/// Number of columns from which a table has smaller letters.
const MANY_COLUMNS: usize = 7;

/// Numbers of the pages of the contents' entries.
#[derive(Clone, Copy, Debug)]
pub enum PageNumbers<'a> {
    /// No numbers: a file without pages.
    None,
    /// Room for numbers that are not known yet.
    Placeholders,
    /// Page of each chapter, by [`Chapter::id`].
    Known(&'a BTreeMap<String, u32>),
}

pub fn to_html(document: &BoundDocument, pages: PageNumbers<'_>) -> String {
    let style = style();
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; font-src data:; base-uri 'none'; form-action 'none'",
        STANDARD.encode(Sha256::digest(style.as_bytes()))
    );
    let title = line(&document.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
        document.lang,
        escape(&policy),
    );
    for run in &document.subtitle {
        out += &format!("<p>{}</p>\n", line(run));
    }
    out += &format!("</header>\n<nav>\n<h2>{}</h2>\n", line(&document.contents));
    for chapter in &document.chapters {
        out += &entry(chapter, pages);
    }
    out += "</nav>\n<main>\n";
    for Chapter { id, number, level, heading, elements } in &document.chapters {
        let tag = if *level == 1 { "h2" } else { "h3" };
        out += &format!("<{tag} id=\"{id}\">{number}. {}</{tag}>\n", line(heading));
        elements.iter().for_each(|it| element(&mut out, it));
    }
    out += "</main>\n</body>\n</html>\n";
    out
}

/// Style sheet with the font that the pictures have on every machine.
fn style() -> String {
    format!(
        "@font-face{{font-family:\"Document Sans\";src:url(data:font/ttf;base64,{})}}\n{STYLE}",
        STANDARD.encode(FONT)
    )
}

fn entry(chapter: &Chapter, pages: PageNumbers<'_>) -> String {
    let Chapter { id, number, level, heading, .. } = chapter;
    let page = match pages {
        PageNumbers::None => None,
        PageNumbers::Placeholders => Some("00".to_owned()),
        PageNumbers::Known(pages) => pages.get(id).map(u32::to_string),
    };
    let page = page.map_or(String::new(), |it| format!("<i></i><b>{it}</b>"));
    format!("<a class=\"l{level}\" href=\"#{id}\"><span>{number}. {}</span>{page}</a>\n", line(heading))
}

/// Escapes a text for one line.
fn line(text: &str) -> String {
    escape(&visible(text))
}

fn element(out: &mut String, content: &Element) {
    match content {
        Element::Paragraph { spans, tone } => {
            *out += &format!("<p{}>{}</p>\n", class(*tone), spans_html(spans));
        }
        Element::List { start, items } => {
            let (open, tag) = match start {
                Some(start) => (format!("<ol start=\"{start}\">"), "ol"),
                None => ("<ul>".to_owned(), "ul"),
            };
            *out += &format!("{open}\n");
            for item in items {
                *out += "<li>";
                item.iter().for_each(|it| element(out, it));
                *out += "</li>\n";
            }
            *out += &format!("</{tag}>\n");
        }
        Element::Table(table) => table_html(out, table),
        Element::Figure(figure) => {
            *out += &format!(
                "<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                figure.picture.text,
                line(&figure.caption)
            );
        }
        Element::Code { name, text } => {
            if !name.is_empty() {
                *out += &format!("<p class=\"name\">{}</p>\n", line(name));
            }
            *out += &format!("<pre>{}</pre>\n", escape(&visible_lines(text)));
        }
    }
}

fn spans_html(spans: &[TextSpan]) -> String {
    let span = |span: &TextSpan| {
        let text = line(&span.text);
        match span.style {
            SpanStyle::Plain => text,
            SpanStyle::Emphasis => format!("<em>{text}</em>"),
            SpanStyle::Strong => format!("<strong>{text}</strong>"),
            SpanStyle::Code => format!("<code>{text}</code>"),
        }
    };
    spans.iter().map(span).collect()
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => " class=\"good\"",
        Tone::Doubt => " class=\"doubt\"",
        Tone::Bad => " class=\"bad\"",
        Tone::Faint => " class=\"faint\"",
    }
}

fn table_html(out: &mut String, table: &Table) {
    let size = if table.columns.len() >= MANY_COLUMNS { " class=\"wide\"" } else { "" };
    *out += &format!("<table{size}>\n<caption>{}</caption>\n", line(&table.caption));
    let number = |numeric: bool| if numeric { " class=\"n\"" } else { "" };
    if table.columns.iter().any(|it| !it.heading.is_empty()) {
        *out += "<thead><tr>";
        for column in &table.columns {
            *out += &format!("<th{}>{}</th>", number(column.numeric), line(&column.heading));
        }
        *out += "</tr></thead>\n";
    }
    *out += "<tbody>\n";
    for row in &table.rows {
        let tag = if row.baseline { "th" } else { "td" };
        *out += &format!("<tr{}>", class(row.tone));
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            *out += &format!("<{tag}{}>{}</{tag}>", number(column.numeric), line(cell));
        }
        *out += "</tr>\n";
    }
    *out += "</tbody>\n</table>\n";
    for (mark, note) in &table.notes {
        let mark = if mark.is_empty() { String::new() } else { format!("{}: ", line(mark)) };
        *out += &format!("<p class=\"note\">{mark}{}</p>\n", line(&note.text));
    }
}
