//! What was held for long, and what changed meanwhile?

use super::case::Case;
use super::maximum::upper;
use super::{Block, Column, Line, Row, Table, Tone};
use crate::lang::search::Sought;
use model::account::RunState;
use model::plan::Scale;
use model::search::{Course, Endurance, Fitted, Held, Trend, Trended};

/// At less of the maximum a soak proves little.
const ENOUGH: f64 = 0.5;

pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for it in &case.account.endured {
        blocks.push(Block::Text(line(case, it)));
        blocks.extend(little(case, it).map(Block::Text));
        blocks.extend(trends(case, &it.trends).map(Block::Table));
    }
    blocks
}

/// The run's answer, where something was held for long: of every cell.
pub fn answer(case: &Case<'_>) -> Option<Line> {
    let endured = &case.account.endured;
    endured.first()?;
    let lines: Vec<Line> = endured
        .iter()
        .flat_map(|it| [Some(line(case, it)), little(case, it)].into_iter().flatten())
        .collect();
    let complete = case.account.about.state == RunState::Complete;
    let is = |tone| lines.iter().any(|it| it.tone == tone);
    let tone = match (is(Tone::Bad), is(Tone::Doubt) || !complete) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Doubt,
        (false, false) => Tone::Good,
    };
    Some(Line { text: lines.into_iter().map(|it| it.text).collect::<Vec<_>>().join(" "), tone })
}

fn line(case: &Case<'_>, it: &Endurance) -> Line {
    let several = case.account.experiment.cells.len() > 1;
    let name = if several { case.name(it.cell) } else { "" };
    let has = |course| it.trends.iter().any(|it| it.course == course);
    let tone = match &it.outcome {
        Held::Yes if has(Course::Leak) => Tone::Bad,
        Held::Yes if has(Course::Drift) || has(Course::Unknown) => Tone::Doubt,
        Held::Yes => Tone::Good,
        Held::No { .. } | Held::Invalid { .. } => Tone::Bad,
    };
    let text = case.lang.endured(it, scale(case, it), name);
    Line { text: if several { text } else { upper(&text) }, tone }
}

/// The scale of its level: that of its maximum where one was searched, else what its load counts in.
fn scale(case: &Case<'_>, it: &Endurance) -> Scale {
    let searched = case.account.maxima.iter().find(|maximum| maximum.cell == it.cell);
    let of_load = if super::case::is_open(case.account, it.cell) { Scale::Rate } else { Scale::Clients };
    searched.map_or(of_load, |it| it.answer.scale)
}

fn little(case: &Case<'_>, it: &Endurance) -> Option<Line> {
    let share = it.of_maximum.filter(|it| *it < ENOUGH)?;
    Some(Line { text: case.lang.little_proof(share), tone: Tone::Doubt })
}

fn trends(case: &Case<'_>, all: &[Trend]) -> Option<Table> {
    all.first()?;
    let lang = case.lang;
    let text = |it| Column { heading: lang.sought(it).to_owned(), ..Column::default() };
    let number = |it, dispensable| Column { numeric: true, dispensable, ..text(it) };
    let row = |it: &Trend| Row {
        cells: vec![
            lang.trended(&it.what),
            lang.amount(&it.what, it.from),
            lang.amount(&it.what, it.to),
            per_hour(case, &it.what, &it.per_hour),
            lang.course(it.course).to_owned(),
        ],
        tone: match it.course {
            Course::Leak => Tone::Bad,
            Course::Drift => Tone::Doubt,
            Course::Steady => Tone::Plain,
            Course::Unknown => Tone::Faint,
        },
        baseline: false,
    };
    Some(Table {
        columns: vec![
            text(Sought::What),
            number(Sought::From, 2),
            number(Sought::To, 2),
            number(Sought::PerHour, 1),
            text(Sought::Course),
        ],
        rows: all.iter().map(row).collect(),
        ..Table::default()
    })
}

/// A slope with its interval, in the unit of what moves.
fn per_hour(case: &Case<'_>, what: &Trended, it: &Fitted) -> String {
    let amount = |it| case.lang.amount(what, it);
    let among = case.lang.numbers().among();
    let range =
        it.interval.map_or(String::new(), |(low, high)| format!(" [{}{among}{}]", amount(low), amount(high)));
    format!("{}{range}", amount(it.value))
}
