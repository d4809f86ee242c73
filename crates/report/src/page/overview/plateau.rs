//! First screen of a sweep over a grid of settings

use super::{Answer, interval, time_axis, validity};
use crate::page::context::PageContext;
use crate::page::maximum::capitalise;
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Line, Picture, Plot, PlotAxis, Tone};
use model::Nanos;
use model::chart::ChartUnit;
use model::plan::LoadScale;
use model::search::{FittedValue, Plateau};

/// First screen about the recommended cell. Without a recommendation, about the best cell.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let lang = case.lang;
    let plateau = case.account.plateau.as_ref()?;
    let best = *plateau.plateau.first()?;
    let chosen = plateau.recommended.unwrap_or(best);
    let total = plateau.points.len();
    let measured = plateau.points.iter().flatten().count();
    let figure = if plateau.maxima { "maximum" } else { "p99" };
    let equal = plateau.plateau.len() - 1;
    let recommended = plateau.recommended.filter(|cell| *cell != best).map(|cell| case.name(cell));
    let summary = say!(
        lang,
        "overview-plateau",
        best = case.name(best),
        figure,
        recommended,
        equal,
        others = measured - 1,
        fewest = plateau.recommended == Some(best)
    );
    let name = LargeFigure {
        label: match plateau.recommended {
            Some(_) => say!(lang, "overview-plateau-recommended"),
            None => say!(lang, "overview-plateau-best"),
        },
        value: case.name(chosen).to_owned(),
        detail: if recommended.is_some() { say!(lang, "overview-plateau-fewest") } else { String::new() },
        tone: Tone::Plain,
    };
    let value = value_figure(case, plateau, chosen, false);
    let compared = match recommended {
        Some(_) => value_figure(case, plateau, best, true),
        None => Some(LargeFigure {
            label: say!(lang, "overview-plateau-size"),
            value: lang.numbers().count(equal as u64),
            detail: say!(lang, "overview-plateau-others", total = measured - 1),
            tone: Tone::Plain,
        }),
    };
    let figures = [Some(name), value, compared, Some(validity(case))];
    let incomplete = (measured < total)
        .then(|| Line { text: capitalise(&lang.answered_cells(measured, total)) + ".", tone: Tone::Doubt });
    Some(Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: points(case, plateau),
        doubts: incomplete.into_iter().collect(),
    })
}

/// Value of a cell with its interval; `None` if the cell has no value.
fn value_figure(
    case: &PageContext<'_>,
    plateau: &Plateau,
    cell: usize,
    is_best: bool,
) -> Option<LargeFigure> {
    let lang = case.lang;
    let point = plateau.points.get(cell)?.as_ref()?;
    let ends = match (plateau.maxima, point.interval) {
        (true, range) => interval(case, range),
        (false, Some((low, high))) => {
            let [low, high] = [low, high].map(|end| lang.time(Nanos::from_secs_f64(end)));
            say!(lang, "overview-interval", low, high)
        }
        (false, None) => String::new(),
    };
    let name = case.name(cell);
    Some(LargeFigure {
        label: match is_best {
            true => say!(lang, "overview-plateau-value-best", figure = axis_title(case, plateau), name),
            false => axis_title(case, plateau),
        },
        value: text(case, plateau, cell, point),
        detail: ends,
        tone: Tone::Plain,
    })
}

/// Scale of the maxima; `None` if the values are throughputs or response times.
fn scale(case: &PageContext<'_>, cell: usize) -> Option<LoadScale> {
    case.account.maxima.iter().find(|it| it.cell == cell).map(|it| it.answer.scale)
}

fn text(case: &PageContext<'_>, plateau: &Plateau, cell: usize, point: &FittedValue) -> String {
    match (plateau.maxima, scale(case, cell)) {
        (false, _) => case.lang.time(Nanos::from_secs_f64(point.value)),
        (true, Some(LoadScale::Clients)) => case.lang.level(LoadScale::Clients, point.value),
        (true, Some(LoadScale::Rate) | None) => super::rate(case, point.value),
    }
}

fn axis_title(case: &PageContext<'_>, plateau: &Plateau) -> String {
    let lang = case.lang;
    match (plateau.maxima, case.account.maxima.is_empty()) {
        (false, _) => say!(lang, "overview-p99"),
        (true, true) => say!(lang, "overview-throughput"),
        (true, false) => say!(lang, "overview-sustained"),
    }
}

/// Picture of the value of every measured cell, with its interval.
fn points(case: &PageContext<'_>, plateau: &Plateau) -> Option<Picture> {
    let lang = case.lang;
    let row = |(cell, point): (usize, &Option<FittedValue>)| {
        let point = point.as_ref()?;
        let tone = match plateau.recommended == Some(cell) {
            true => Tone::Good,
            false if plateau.plateau.contains(&cell) => Tone::Plain,
            false => Tone::Faint,
        };
        Some(IntervalRow {
            label: case.name(cell).to_owned(),
            value: point.value,
            interval: point.interval,
            text: text(case, plateau, cell, point),
            tone,
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = plateau.points.iter().enumerate().filter_map(row).collect();
    let title = axis_title(case, plateau);
    let clients = case.account.maxima.first().is_some_and(|it| it.answer.scale == LoadScale::Clients);
    let axis = match plateau.maxima {
        false => time_axis(case, title, |result| result.objective.starts_with("p99 ")),
        true => PlotAxis {
            title,
            unit: if clients { ChartUnit::Count } else { ChartUnit::PerSecond },
            logarithmic: false,
            references: Vec::new(),
        },
    };
    let caption = say!(lang, "overview-caption-plateau", figure = axis.title.clone());
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}
