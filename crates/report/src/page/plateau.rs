//! Section on the plateau of a sweep

use super::context::PageContext;
use crate::lang::search::PlateauAnswer;
use crate::say;
use crate::view::{Block, Column, Line, Row, Table, Tone};
use model::run_result::RunState;
use model::search::{FittedValue, Plateau};

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let several = case.account.experiment.cells.len() > 1;
    let Some(plateau) = case.account.plateau.as_ref().filter(|_| several) else { return Vec::new() };
    let mut blocks: Vec<Block> = line(case, plateau).map(Block::Text).into_iter().collect();
    let need = plateau
        .required_connections
        .map(|it| Line { text: case.lang.required_connections(&it), tone: Tone::Plain });
    blocks.extend(need.map(Block::Text));
    blocks.push(Block::Table(table(case, plateau)));
    blocks
}

/// The run's answer about a sweep.
pub fn answer(case: &PageContext<'_>) -> Option<Line> {
    let plateau = case.account.plateau.as_ref()?;
    let line = line(case, plateau)?;
    let needs = plateau
        .required_connections
        .map_or(String::new(), |it| format!(" {}", case.lang.required_connections(&it)));
    let complete =
        case.account.info.state == RunState::Complete && plateau.points.iter().all(Option::is_some);
    let tone = if complete { line.tone } else { Tone::Doubt };
    Some(Line { text: line.text + &needs, tone })
}

fn line(case: &PageContext<'_>, plateau: &Plateau) -> Option<Line> {
    let best = case.name(*plateau.plateau.first()?);
    let cells = plateau.points.iter().flatten().count();
    let recommended = plateau.recommended.map(|it| case.name(it));
    let answer =
        PlateauAnswer { maxima: plateau.maxima, recommended, best, plateau: plateau.plateau.len(), cells };
    Some(Line { text: case.lang.plateau_answer(&answer), tone: Tone::Good })
}

/// Builds a table with every cell, in the order of the file.
fn table(case: &PageContext<'_>, plateau: &Plateau) -> Table {
    let lang = case.lang;
    let figure = if plateau.maxima {
        say!(lang, "search-column-cell-maximum")
    } else {
        say!(lang, "search-column-cell-p99")
    };
    // Response times are shown in milliseconds.
    let unit = if plateau.maxima { 1.0 } else { 1e3 };
    let in_unit = |value: &FittedValue| FittedValue {
        value: unit * value.value,
        interval: value.interval.map(|(low, high)| (unit * low, unit * high)),
    };
    let row = |(cell, point): (usize, &Option<FittedValue>)| {
        let value = point.as_ref().map_or(say!(lang, "search-no-answer"), |it| lang.fitted(&in_unit(it)));
        let (status, tone) =
            match (plateau.recommended == Some(cell), plateau.plateau.iter().position(|it| *it == cell)) {
                (true, _) => (say!(lang, "search-plateau-recommended"), Tone::Good),
                (false, Some(0)) => (say!(lang, "search-plateau-best"), Tone::Plain),
                (false, Some(_)) => (say!(lang, "search-plateau-yes"), Tone::Plain),
                (false, None) => (String::new(), Tone::Faint),
            };
        Row { cells: vec![case.name(cell).to_owned(), value, status], tone, baseline: false }
    };
    Table {
        columns: vec![
            Column { heading: say!(lang, "search-column-cell"), ..Column::default() },
            Column { heading: figure, numeric: true, drop_order: 0 },
            Column { heading: say!(lang, "search-column-plateau"), ..Column::default() },
        ],
        rows: plateau.points.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}
