//! Bound document as DOCX (Office Open XML), for word processors

mod styles;

use super::{BoundDocument, Chapter, Element, Figure, raster};
use crate::html::escape;
use crate::text::{visible, visible_lines};
use crate::view::{Row, Table, Tone};
use docx_rs::{
    BreakType, Docx, FieldCharType, Footer, Hyperlink, HyperlinkType, IndentLevel, InstrPAGEREF, InstrText,
    InstrToC, NumPages, NumberingId, PageNum, Paragraph, Pic, Run, Shading, TableCell, TableLayoutType,
    TableRow, WidthType,
};
use model::plan::{SpanStyle, TextSpan};
use std::io::Cursor;
use styles::{BULLETS, CODE_FONT, PAGE_WIDTH};

/// Width of a picture in English metric units: the width of the text.
const PICTURE_WIDTH: u32 = PAGE_WIDTH as u32 * 635;
/// Approximate width of a character of a table, in twentieths of a point.
const CHARACTER: usize = 95;
/// Space in a cell, in twentieths of a point.
const CELL_SPACE: usize = 170;
/// Maximum number of characters of a cell that count for the width of its column.
const CELL_CHARS_MAX: usize = 60;
/// Maximum number of characters of a word that count for the least width of its column.
const WORD_CHARS_MAX: usize = 24;

/// Bytes of the file.
///
/// # Panics
/// Panics if the archive cannot be written to memory.
pub fn to_docx(document: &BoundDocument) -> Vec<u8> {
    let mut writer = Writer { docx: styles::document(), numberings: BULLETS + 1, captions: Vec::new() };
    let footer = Paragraph::new()
        .style("PageNumber")
        .add_page_num(PageNum::new())
        .add_run(Run::new().add_text(" / "))
        .add_num_pages(NumPages::new());
    writer.docx = writer.docx.footer(Footer::new().add_paragraph(footer));
    writer.add(Paragraph::new().style("Title").add_run(run(&document.title)));
    for line in &document.subtitle {
        writer.add(Paragraph::new().style("Subtitle").add_run(run(line)));
    }
    writer.contents(document);
    for (number, chapter) in document.chapters.iter().enumerate() {
        let heading = Paragraph::new()
            .style(&format!("Heading{}", chapter.level))
            .keep_next(true)
            .page_break_before(number == 0)
            .add_bookmark_start(number + 1, bookmark(chapter))
            .add_run(run(&heading(chapter)))
            .add_bookmark_end(number + 1);
        writer.add(heading);
        chapter.elements.iter().for_each(|it| writer.element(it, None));
    }
    let mut parts = writer.docx.build();
    let xml = String::from_utf8(parts.document).expect("the library writes UTF-8");
    parts.document = complete(&xml, &writer.captions).into_bytes();
    let mut bytes = Cursor::new(Vec::new());
    parts.pack(&mut bytes).expect("an archive can be written to memory");
    bytes.into_inner()
}

/// Adds what the library cannot write: rows of headings that are repeated on each page, and the number and the text
/// alternative of each picture.
fn complete(xml: &str, captions: &[String]) -> String {
    let repeated = xml.replace(HEADING_ROW, REPEATED_HEADING_ROW);
    let mut pieces = repeated.split(PICTURE);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (number, piece) in pieces.enumerate() {
        let caption = captions.get(number).map_or("", String::as_str);
        out += &format!("<wp:docPr id=\"{}\" name=\"{}\"", number + 1, escape(caption));
        out += &format!(" descr=\"{}\"", escape(caption));
        out += piece;
    }
    out
}

/// Beginning of a table's first row as the library writes it. Only heading rows have a height.
const HEADING_ROW: &str = "<w:trPr><w:cantSplit /><w:trHeight w:val=\"240\" w:hRule=\"atLeast\" /></w:trPr>";
const REPEATED_HEADING_ROW: &str =
    "<w:trPr><w:cantSplit /><w:trHeight w:val=\"240\" w:hRule=\"atLeast\" /><w:tblHeader /></w:trPr>";
/// Properties of a picture as the library writes them.
const PICTURE: &str = "<wp:docPr id=\"1\" name=\"Figure\"";

fn heading(chapter: &Chapter) -> String {
    format!("{}. {}", chapter.number, chapter.heading)
}

fn bookmark(chapter: &Chapter) -> String {
    format!("_Toc_{}", chapter.id.replace('-', "_"))
}

/// Text of one line. Control characters, which XML forbids, are written as escapes.
fn run(text: &str) -> Run {
    Run::new().add_text(visible(text))
}

struct Writer {
    docx: Docx,
    /// Identifier of the next numbering: each numbered list has its own, so that it begins with its own number.
    numberings: usize,
    /// Captions of the pictures in their order.
    captions: Vec<String>,
}

impl Writer {
    fn add(&mut self, paragraph: Paragraph) {
        self.docx = std::mem::take(&mut self.docx).add_paragraph(paragraph);
    }

    /// Adds the contents as a field: a word processor fills in the numbers of the pages.
    fn contents(&mut self, document: &BoundDocument) {
        let title = Paragraph::new()
            .style("ContentsHeading")
            .page_break_before(true)
            .add_run(run(&document.contents));
        self.add(title);
        let last = document.chapters.len().saturating_sub(1);
        for (number, chapter) in document.chapters.iter().enumerate() {
            let page = Run::new()
                .add_field_char(FieldCharType::Begin, false)
                .add_instr_text(InstrText::PAGEREF(InstrPAGEREF::new(bookmark(chapter)).hyperlink()))
                .add_field_char(FieldCharType::Separate, false)
                .add_text("–")
                .add_field_char(FieldCharType::End, false);
            let link = Hyperlink::new(bookmark(chapter), HyperlinkType::Anchor)
                .add_run(run(&heading(chapter)))
                .add_run(Run::new().add_tab())
                .add_run(page);
            let mut entry = Paragraph::new().style(&format!("ToC{}", chapter.level));
            if number == 0 {
                let instruction = InstrToC::new().heading_styles_range(1, 2).hyperlink();
                entry = entry.add_run(
                    Run::new()
                        .add_field_char(FieldCharType::Begin, true)
                        .add_instr_text(InstrText::TOC(instruction))
                        .add_field_char(FieldCharType::Separate, false),
                );
            }
            entry = entry.add_hyperlink(link);
            if number == last {
                entry = entry.add_run(Run::new().add_field_char(FieldCharType::End, false));
            }
            self.add(entry);
        }
    }

    /// Adds an element. `list` is the numbering and the depth of the surrounding list.
    fn element(&mut self, element: &Element, list: Option<(usize, usize)>) {
        match element {
            Element::Paragraph { spans, tone } => self.add(paragraph(spans, *tone, list)),
            Element::List { start, items } => self.list(*start, items, list),
            Element::Table(table) => self.table(table),
            Element::Figure(figure) => self.figure(figure),
            Element::Code { name, text } => {
                if !name.is_empty() {
                    self.add(Paragraph::new().style("CodeName").keep_next(true).add_run(run(name)));
                }
                self.add(code(text));
            }
        }
    }

    fn list(&mut self, start: Option<u64>, items: &[Vec<Element>], outer: Option<(usize, usize)>) {
        let depth = outer.map_or(0, |it| it.1 + 1);
        let numbering = match start {
            None => BULLETS,
            Some(start) => {
                let number = self.numberings;
                self.numberings += 1;
                self.docx = styles::add_numbered_list(std::mem::take(&mut self.docx), number, start);
                number
            }
        };
        for item in items {
            for (number, element) in item.iter().enumerate() {
                // Only the first paragraph of an item has its mark.
                match element {
                    Element::Paragraph { spans, tone } if number > 0 => {
                        let indent = 360 * (depth as i32 + 1);
                        self.add(paragraph(spans, *tone, None).indent(Some(indent), None, None, None));
                    }
                    _ => self.element(element, Some((numbering, depth))),
                }
            }
        }
    }

    fn table(&mut self, table: &Table) {
        self.add(Paragraph::new().style("Caption").keep_next(true).add_run(run(&table.caption)));
        let widths = widths(table);
        let many = table.columns.len() > 6;
        let cell = |text: &str, column: usize, bold: bool| {
            let mut content = run(text);
            if bold {
                content = content.bold();
            }
            let style = match (many, table.columns[column].numeric) {
                (false, false) => "TableText",
                (false, true) => "TableNumber",
                (true, false) => "TableSmallText",
                (true, true) => "TableSmallNumber",
            };
            TableCell::new()
                .width(widths[column], WidthType::Dxa)
                .add_paragraph(Paragraph::new().style(style).add_run(content))
        };
        let mut rows = Vec::new();
        if table.columns.iter().any(|it| !it.heading.is_empty()) {
            let shade = || Shading::new().fill("E8EDF3");
            let cells = table.columns.iter().enumerate();
            let cells = cells.map(|(column, it)| cell(&it.heading, column, true).shading(shade())).collect();
            rows.push(TableRow::new(cells).row_height(240.0).cant_split());
        }
        let row = |row: &Row| {
            let cells = row.cells.iter().take(table.columns.len()).enumerate();
            let cells = cells.map(|(column, text)| cell(text, column, row.baseline)).collect();
            TableRow::new(cells).cant_split()
        };
        rows.extend(table.rows.iter().map(row));
        let written = docx_rs::Table::new(rows)
            .layout(TableLayoutType::Fixed)
            .width(widths.iter().sum(), WidthType::Dxa)
            .set_grid(widths.clone());
        self.docx = std::mem::take(&mut self.docx).add_table(written);
        for (mark, note) in &table.notes {
            let mark = if mark.is_empty() { String::new() } else { format!("{mark}: ") };
            self.add(Paragraph::new().style("Note").add_run(run(&(mark + &note.text))));
        }
        // Word joins tables without a paragraph between them.
        self.add(Paragraph::new().style("Note"));
    }

    fn figure(&mut self, figure: &Figure) {
        let picture = &figure.picture;
        let height = u64::from(PICTURE_WIDTH) * u64::from(picture.height) / u64::from(picture.width);
        let image = Pic::new_with_dimensions(raster::png(picture), picture.width, picture.height)
            .size(PICTURE_WIDTH, height as u32);
        self.captions.push(visible(&figure.caption));
        self.add(Paragraph::new().style("Picture").keep_next(true).add_run(Run::new().add_image(image)));
        self.add(Paragraph::new().style("Caption").add_run(run(&figure.caption)));
    }
}

fn paragraph(spans: &[TextSpan], tone: Tone, list: Option<(usize, usize)>) -> Paragraph {
    let colour = match tone {
        Tone::Plain => None,
        Tone::Good => Some("0B5D2A"),
        Tone::Doubt => Some("7A4B00"),
        Tone::Bad => Some("A01212"),
        Tone::Faint => Some("555555"),
    };
    let mut paragraph = Paragraph::new().style(if list.is_some() { "ListText" } else { "Normal" });
    if let Some((numbering, depth)) = list {
        paragraph = paragraph.numbering(NumberingId::new(numbering), IndentLevel::new(depth));
    }
    for span in spans {
        let mut content = run(&span.text);
        content = match span.style {
            SpanStyle::Plain => content,
            SpanStyle::Emphasis => content.italic(),
            SpanStyle::Strong => content.bold(),
            SpanStyle::Code => content.fonts(styles::fonts(CODE_FONT)),
        };
        if let Some(colour) = colour {
            content = content.color(colour);
        }
        paragraph = paragraph.add_run(content);
    }
    paragraph
}

fn code(text: &str) -> Paragraph {
    let text = visible_lines(text).replace('\t', "    ");
    let mut content = Run::new();
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            content = content.add_break(BreakType::TextWrapping);
        }
        content = content.add_text(line);
    }
    Paragraph::new().style("Code").add_run(content)
}

/// Widths of a table's columns in twentieths of a point. Their sum is the width of the text. Each column gets room for its
/// longest word, if possible, and the rest is divided by the lengths of the texts.
fn widths(table: &Table) -> Vec<usize> {
    let texts = |column: usize| {
        let cells = table.rows.iter().filter_map(move |row| row.cells.get(column).map(String::as_str));
        cells.chain([table.columns[column].heading.as_str()])
    };
    let word = |column| texts(column).flat_map(str::split_whitespace).map(|it| it.chars().count()).max();
    let longest = |column| texts(column).map(|it| it.chars().count()).max();
    let count = table.columns.len();
    let least: Vec<usize> = (0..count)
        .map(|column| word(column).unwrap_or(0).clamp(3, WORD_CHARS_MAX) * CHARACTER + CELL_SPACE)
        .collect();
    let sum: usize = least.iter().sum();
    if sum >= PAGE_WIDTH {
        return least.iter().map(|it| it * PAGE_WIDTH / sum).collect();
    }
    let wanted: Vec<usize> =
        (0..count).map(|column| longest(column).unwrap_or(0).clamp(3, CELL_CHARS_MAX)).collect();
    let all: usize = wanted.iter().sum();
    least.iter().zip(&wanted).map(|(least, wanted)| least + (PAGE_WIDTH - sum) * wanted / all).collect()
}
