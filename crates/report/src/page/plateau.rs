//! Section on the plateau of a sweep.

use super::context::PageContext;
use super::{Block, Column, Line, Row, Table, Tone};
use crate::lang::search::{PlateauAnswer, SearchTerm};
use model::run_result::RunState;
use model::search::{FittedValue, Plateau};

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let several = case.account.experiment.cells.len() > 1;
    let Some(it) = case.account.plateau.as_ref().filter(|_| several) else { return Vec::new() };
    let mut blocks: Vec<Block> = line(case, it).map(Block::Text).into_iter().collect();
    let need = it.needs.map(|it| Line { text: case.lang.need(&it), tone: Tone::Plain });
    blocks.extend(need.map(Block::Text));
    blocks.push(Block::Table(table(case, it)));
    blocks
}

/// The run's answer about a sweep.
pub fn answer(case: &PageContext<'_>) -> Option<Line> {
    let it = case.account.plateau.as_ref()?;
    let line = line(case, it)?;
    let needs = it.needs.map_or(String::new(), |it| format!(" {}", case.lang.need(&it)));
    let complete = case.account.info.state == RunState::Complete && it.points.iter().all(Option::is_some);
    let tone = if complete { line.tone } else { Tone::Doubt };
    Some(Line { text: line.text + &needs, tone })
}

fn line(case: &PageContext<'_>, it: &Plateau) -> Option<Line> {
    let best = case.name(*it.plateau.first()?);
    let of = it.points.iter().flatten().count();
    let recommended = it.recommended.map(|it| case.name(it));
    let enough = PlateauAnswer { maxima: it.maxima, recommended, best, plateau: it.plateau.len(), of };
    Some(Line { text: case.lang.enough(&enough), tone: Tone::Good })
}

/// Every cell, in the order of the file.
fn table(case: &PageContext<'_>, it: &Plateau) -> Table {
    let lang = case.lang;
    let sought = |it| lang.sought(it).to_owned();
    let figure = if it.maxima { SearchTerm::MaximumOfCell } else { SearchTerm::P99OfCell };
    // Response times are shown in milliseconds.
    let unit = if it.maxima { 1.0 } else { 1e3 };
    let in_unit = |it: &FittedValue| FittedValue {
        value: unit * it.value,
        interval: it.interval.map(|(low, high)| (unit * low, unit * high)),
    };
    let row = |(cell, point): (usize, &Option<FittedValue>)| {
        let value = point.as_ref().map_or(sought(SearchTerm::NoAnswer), |it| lang.within(&in_unit(it)));
        let (on, tone) = match (it.recommended == Some(cell), it.plateau.iter().position(|it| *it == cell)) {
            (true, _) => (sought(SearchTerm::Recommended), Tone::Good),
            (false, Some(0)) => (sought(SearchTerm::Best), Tone::Plain),
            (false, Some(_)) => (sought(SearchTerm::Yes), Tone::Plain),
            (false, None) => (String::new(), Tone::Faint),
        };
        Row { cells: vec![case.name(cell).to_owned(), value, on], tone, baseline: false }
    };
    Table {
        columns: vec![
            Column { heading: sought(SearchTerm::Cell), ..Column::default() },
            Column { heading: sought(figure), numeric: true, drop_order: 0 },
            Column { heading: sought(SearchTerm::OnPlateau), ..Column::default() },
        ],
        rows: it.points.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}
