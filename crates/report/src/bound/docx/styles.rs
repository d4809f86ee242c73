//! Styles of a DOCX file: page, headings, tables, code and lists

use docx_rs::{
    AbstractNumbering, AlignmentType, Docx, Level, LevelJc, LevelText, LineSpacing, NumberFormat, Numbering,
    PageMargin, ParagraphProperty, RunFonts, SpecialIndentType, Start, Style, StyleType, Tab, TabLeaderType,
    TabValueType,
};

/// Width of the text in twentieths of a point: 174 mm.
pub const PAGE_WIDTH: usize = 9864;
/// Identifier of the numbering of bulleted lists.
pub const BULLETS: usize = 2;
/// Font of code, which word processors have or replace with one of equal widths.
pub const CODE_FONT: &str = "Courier New";
const TEXT_FONT: &str = "Arial";
/// Number of levels of a list.
const LEVELS: usize = 4;

pub fn fonts(name: &str) -> RunFonts {
    RunFonts::new().ascii(name).hi_ansi(name).cs(name).east_asia(name)
}

/// Empty document on A4 with all styles.
pub fn document() -> Docx {
    let paragraph = |id: &str, name: &str| Style::new(id, StyleType::Paragraph).name(name).based_on("Normal");
    let space = |before: u32, after: u32| LineSpacing::new().before(before).after(after);
    let table = |id: &str, size, align| paragraph(id, id).size(size).align(align).line_spacing(space(20, 20));
    let heading = |level: usize, size, before| {
        paragraph(&format!("Heading{level}"), &format!("heading {level}"))
            .next("Normal")
            .size(size)
            .bold()
            .outline_lvl(level - 1)
            .line_spacing(space(before, 100))
            .q_format(true)
    };
    let styles = [
        Style::new("Normal", StyleType::Paragraph).name("Normal").size(20).line_spacing(space(0, 100)),
        paragraph("Title", "Title").size(44).bold().line_spacing(space(1200, 240)),
        paragraph("Subtitle", "Subtitle").color("555555"),
        paragraph("ContentsHeading", "TOC Heading").size(30).bold().line_spacing(space(0, 160)),
        heading(1, 30, 360),
        heading(2, 24, 280),
        contents(1).bold(),
        contents(2),
        paragraph("Caption", "caption").size(18).italic().line_spacing(space(100, 60)),
        paragraph("Picture", "Picture").line_spacing(space(120, 40)),
        paragraph("ListText", "List Paragraph").line_spacing(space(0, 40)),
        paragraph("Note", "Note").size(16).color("555555").line_spacing(space(20, 20)),
        paragraph("PageNumber", "Page Number Line").size(16).align(AlignmentType::Center),
        paragraph("CodeName", "Code Name").size(18).bold().line_spacing(space(120, 40)),
        paragraph("Code", "Code").size(15).fonts(fonts(CODE_FONT)).line_spacing(space(0, 120)),
        table("TableText", 17, AlignmentType::Left),
        table("TableNumber", 17, AlignmentType::Right),
        table("TableSmallText", 14, AlignmentType::Left),
        table("TableSmallNumber", 14, AlignmentType::Right),
    ];
    let margin = PageMargin::new().top(1020).bottom(1134).left(1021).right(1021).header(560).footer(560);
    let docx = Docx::new()
        .page_size(11_906, 16_838)
        .page_margin(margin)
        .default_fonts(fonts(TEXT_FONT))
        .default_size(20)
        .add_abstract_numbering(list(BULLETS, None))
        .add_numbering(Numbering::new(BULLETS, BULLETS));
    styles.into_iter().fold(docx, Docx::add_style)
}

/// Style of the contents' entries: the number of the page is at the right margin, after dots.
fn contents(level: usize) -> Style {
    let tab = Tab::new().val(TabValueType::Right).leader(TabLeaderType::Dot).pos(PAGE_WIDTH);
    let mut style = Style::new(format!("ToC{level}"), StyleType::Paragraph).name(format!("toc {level}"));
    style.paragraph_property = ParagraphProperty::new()
        .add_tab(tab)
        .indent(Some(300 * (level as i32 - 1)), None, None, None)
        .line_spacing(LineSpacing::new().before(if level == 1 { 60 } else { 0 }).after(20));
    style.based_on("Normal")
}

/// Adds a numbered list that begins with `start`.
pub fn add_numbered_list(docx: Docx, id: usize, start: u64) -> Docx {
    docx.add_abstract_numbering(list(id, Some(start))).add_numbering(Numbering::new(id, id))
}

/// Levels of a list; `start` is `None` for bullets.
fn list(id: usize, start: Option<u64>) -> AbstractNumbering {
    let level = |depth: usize| {
        let (format, text) = match start {
            Some(_) => ("decimal", format!("%{}.", depth + 1)),
            None => ("bullet", ["•", "–"][depth % 2].to_owned()),
        };
        let first = start.filter(|_| depth == 0).unwrap_or(1);
        Level::new(
            depth,
            Start::new(usize::try_from(first).unwrap_or(1)),
            NumberFormat::new(format),
            LevelText::new(text),
            LevelJc::new("left"),
        )
        .indent(Some(360 * (depth as i32 + 1)), Some(SpecialIndentType::Hanging(300)), None, None)
    };
    (0..LEVELS).fold(AbstractNumbering::new(id), |list, depth| list.add_level(level(depth)))
}
