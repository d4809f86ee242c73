//! Elements of a document from the blocks of a page and from the user's texts

use super::{Element, Figure};
use crate::lang::Lang;
use crate::svg::{self, Graph, GraphLine};
use crate::view::{Block, Column, Drawing, FindingView, HeatMap, Line, Picture, Plot, Row, Table, Tone};
use model::plan::{TextBlock, TextSpan};

/// Maximum number of columns of a table on an upright page. A wider table is continued in another table.
const COLUMNS_MAX: usize = 9;
/// Maximum number of rows of the first column's values that a continued table repeats.
const KEY_COLUMNS_MAX: usize = 3;

pub fn paragraph(line: &Line) -> Element {
    Element::Paragraph { spans: vec![TextSpan::plain(&line.text)], tone: line.tone }
}

pub fn plain(text: impl Into<String>) -> Element {
    Element::Paragraph { spans: vec![TextSpan::plain(text)], tone: Tone::Plain }
}

/// Elements of a user's text.
pub fn from_text(blocks: &[TextBlock]) -> Vec<Element> {
    let element = |block: &TextBlock| match block {
        TextBlock::Paragraph(spans) => Element::Paragraph { spans: spans.clone(), tone: Tone::Plain },
        TextBlock::List { start, items } => {
            Element::List { start: *start, items: items.iter().map(|it| from_text(it)).collect() }
        }
        TextBlock::Code(text) => Element::Code { name: String::new(), text: text.clone() },
    };
    blocks.iter().map(element).collect()
}

/// Elements of a page's blocks. Charts are left out, because their data are not part of the page.
pub fn from_blocks(blocks: &[Block], lang: &Lang) -> Vec<Element> {
    blocks.iter().flat_map(|block| from_block(block, lang)).collect()
}

fn from_block(block: &Block, lang: &Lang) -> Vec<Element> {
    match block {
        Block::Text(line) => vec![paragraph(line)],
        Block::List { items } => vec![list(items)],
        Block::Facts { facts } => vec![facts_table(facts)],
        Block::Table(table) => split_columns(table.clone()).into_iter().map(Element::Table).collect(),
        Block::HeatMap(map) => {
            heat_tables(map).into_iter().flat_map(split_columns).map(Element::Table).collect()
        }
        Block::Drawing(drawing) => described_drawing(drawing),
        Block::Picture(picture) => figure(picture, lang).into_iter().collect(),
        Block::Charts(_) => Vec::new(),
        Block::Findings { findings } => findings.iter().flat_map(finding).collect(),
        Block::Details { name, blocks } => {
            let mut elements = vec![plain(name.as_str())];
            elements.extend(from_blocks(blocks, lang));
            elements
        }
        Block::Code { name, text, .. } => vec![Element::Code { name: name.clone(), text: text.clone() }],
    }
}

pub fn list(items: &[Line]) -> Element {
    Element::List { start: None, items: items.iter().map(|it| vec![paragraph(it)]).collect() }
}

/// Table of names and values, without headings.
pub fn facts_table(facts: &[(String, String)]) -> Element {
    let row =
        |(name, value): &(String, String)| Row { cells: vec![name.clone(), value.clone()], ..Row::default() };
    let columns = vec![Column::default(); 2];
    Element::Table(Table { columns, rows: facts.iter().map(row).collect(), ..Table::default() })
}

fn finding(finding: &FindingView) -> Vec<Element> {
    let line = list(std::slice::from_ref(&finding.line));
    std::iter::once(line)
        .chain(finding.table.clone().into_iter().flat_map(split_columns).map(Element::Table))
        .collect()
}

fn described_drawing(drawing: &Drawing) -> Vec<Element> {
    let replicas = drawing.replicas.iter().flat_map(|it| it.nodes.iter().chain([&it.manager]));
    let nodes = drawing.nodes.iter().chain(replicas).filter(|it| !it.lines.is_empty());
    let facts: Vec<(String, String)> = nodes
        .map(|node| {
            let lines: Vec<&str> = node.lines.iter().map(|it| it.text.as_str()).collect();
            (node.heading.clone(), lines.join("; "))
        })
        .collect();
    let mut elements = vec![plain(drawing.alternative.as_str())];
    if !facts.is_empty() {
        elements.push(facts_table(&facts));
    }
    elements
}

/// One table for each figure of a heat map. A map of one row has none, because the table of all cells has its figures.
fn heat_tables(map: &HeatMap) -> Vec<Table> {
    if map.down.1.len() < 2 {
        return Vec::new();
    }
    let heading = |heading: &String| Column { heading: heading.clone(), numeric: true, drop_order: 0 };
    let (across, down) = (&map.across, &map.down);
    let corner = if down.0.is_empty() { across.0.clone() } else { format!("{} \\ {}", down.0, across.0) };
    let table = |layer: &crate::view::HeatLayer| {
        let rows = layer.cells.chunks(across.1.len().max(1)).zip(&down.1);
        let rows = rows.map(|(cells, name)| Row {
            cells: std::iter::once(name.clone()).chain(cells.iter().map(|it| it.text.clone())).collect(),
            baseline: cells.len() == 1 && cells[0].baseline,
            ..Row::default()
        });
        let mut columns = vec![Column { heading: corner.clone(), ..Column::default() }];
        columns.extend(across.1.iter().map(heading));
        Table { caption: layer.caption.clone(), columns, rows: rows.collect(), notes: Vec::new() }
    };
    map.layers.iter().map(table).collect()
}

/// Draws a picture; `None` if it shows no value.
pub fn figure(picture: &Picture, lang: &Lang) -> Option<Element> {
    let drawn = match &picture.plot {
        Plot::Intervals { axis, rows } => svg::draw_intervals(axis, rows, lang),
        Plot::Points { x, y, series } => {
            let lines = series.iter().map(|it| GraphLine { series: it.clone(), dashed: false }).collect();
            svg::draw(&[Graph { x: x.clone(), y: y.clone(), lines }], lang)
        }
    };
    drawn.map(|drawn| Element::Figure(Figure { caption: picture.caption.clone(), picture: drawn }))
}

/// Splits a table that is too wide for a page. Each part repeats the first columns of text, which name the row. Notes are
/// below the last part.
pub fn split_columns(table: Table) -> Vec<Table> {
    if table.columns.len() <= COLUMNS_MAX {
        return vec![table];
    }
    let keys = table.columns.iter().take_while(|it| !it.numeric).count().clamp(1, KEY_COLUMNS_MAX);
    let rest: Vec<usize> = (keys..table.columns.len()).collect();
    let parts = rest.len().div_ceil(COLUMNS_MAX - keys);
    let mut all: Vec<Table> = rest
        .chunks(rest.len().div_ceil(parts))
        .map(|chunk| {
            let kept: Vec<usize> = (0..keys).chain(chunk.iter().copied()).collect();
            let cells = |row: &Row| kept.iter().filter_map(|it| row.cells.get(*it).cloned()).collect();
            Table {
                caption: table.caption.clone(),
                columns: kept.iter().map(|it| table.columns[*it].clone()).collect(),
                rows: table.rows.iter().map(|row| Row { cells: cells(row), ..row.clone() }).collect(),
                notes: Vec::new(),
            }
        })
        .collect();
    all.last_mut().expect("a wide table has columns").notes = table.notes;
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_keep_every_figure() {
        let column = |number: usize| Column {
            heading: format!("c{number}"),
            numeric: number > 0,
            ..Column::default()
        };
        let wide = Table {
            columns: (0..20).map(column).collect(),
            rows: vec![Row { cells: (0..20).map(|it| it.to_string()).collect(), ..Row::default() }],
            notes: vec![("a".into(), Line::default())],
            ..Table::default()
        };
        let parts = split_columns(wide.clone());
        let headings: Vec<Vec<&str>> =
            parts.iter().map(|part| part.columns.iter().map(|it| it.heading.as_str()).collect()).collect();
        assert!(headings.iter().all(|it| it.len() <= COLUMNS_MAX && it[0] == "c0"), "{headings:?}");
        let rest: Vec<&str> = headings.iter().flat_map(|it| it[1..].to_vec()).collect();
        let expected: Vec<String> = (1..20).map(|it| format!("c{it}")).collect();
        assert_eq!(rest, expected);
        let notes: Vec<usize> = parts.iter().map(|it| it.notes.len()).collect();
        assert_eq!(notes, [0, 0, 1]);
        let cells: Vec<&String> = parts.iter().flat_map(|it| &it.rows[0].cells[1..]).collect();
        assert_eq!(cells, wide.rows[0].cells[1..].iter().collect::<Vec<_>>());
    }
}
