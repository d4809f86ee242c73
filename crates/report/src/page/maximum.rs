//! How much does each cell hold, how was that found, and what stops it there?

use super::case::Case;
use super::number::{exact, millis, said};
use super::results::{Figure, filled};
use super::{Block, Column, Line, MANY, Row, Table, Tone};
use crate::lang::Lang;
use crate::lang::search::{Caused, Reached, Sought};
use model::account::RunState;
use model::search::{Answer, Cause, Fitted, Held, Maximum, Proof, Proven, Seen};

/// For each cell that was searched: its answer, what proves its cause, and the steps that led to it.
pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for it in &case.account.maxima {
        let lang = case.lang;
        blocks.push(Block::Text(line(case, it)));
        if it.rounds.len() > 1 {
            blocks.push(Block::Text(Line { text: lang.rounds(&it.rounds), tone: Tone::Plain }));
        }
        if it.answer.trials > 0 {
            let text = lang.measured_for(it.answer.trials, it.answer.measured);
            blocks.push(Block::Text(Line { text, tone: Tone::Faint }));
        }
        blocks.extend(proofs(it, lang).map(Block::Table));
        blocks.extend(steps(it, lang).map(|table| match it.steps.len() {
            many if many > MANY => {
                Block::Folded { name: lang.all_steps(many), blocks: vec![Block::Table(table)] }
            }
            _ => Block::Table(table),
        }));
    }
    blocks
}

/// The run's answer, where a maximum was looked for: of the best cell, and of the baseline where that is another one.
pub fn answer(case: &Case<'_>) -> Option<Line> {
    let maxima = &case.account.maxima;
    let level = |it: &&Maximum| it.answer.level;
    // Rates and clients are not compared: cells of the first one's scale are.
    let scale = maxima.first()?.answer.scale;
    let answered = || maxima.iter().filter(|it| it.answer.scale == scale && it.answer.level.is_some());
    // Of equal ones the first.
    let best = answered().reduce(|best, it| if level(&it) > level(&best) { it } else { best });
    let Some(best) = best else {
        let first = line(case, &maxima[0]);
        return Some(Line { text: first.text, tone: Tone::Bad });
    };
    let mut lines = vec![line(case, best)];
    let baseline = case.account.matrix.baseline.filter(|it| *it != best.cell);
    lines.extend(baseline.and_then(|cell| maxima.iter().find(|it| it.cell == cell)).map(|it| line(case, it)));
    let with = maxima.iter().filter(|it| it.answer.level.is_some()).count();
    let mut text: Vec<String> = lines.iter().map(|it| it.text.clone()).collect();
    if maxima.len() > 1 {
        text.push(upper(&case.lang.answered(with, maxima.len())) + ".");
    }
    let complete = case.account.about.state == RunState::Complete && with == maxima.len();
    let doubtful = !complete || lines.iter().any(|it| it.tone != Tone::Good);
    let tone = if doubtful { Tone::Doubt } else { Tone::Good };
    Some(Line { text: text.join(" "), tone })
}

fn line(case: &Case<'_>, it: &Maximum) -> Line {
    let cause = cause(it);
    let rounds = it.rounds.iter().filter(|it| it.level.is_some()).count();
    let name = if case.account.experiment.cells.len() > 1 { case.name(it.cell) } else { "" };
    let reached = Reached { name, answer: &it.answer, rounds, cause };
    let text = case.lang.reached(&reached);
    let tone = match (it.answer.level, &it.answer.hindered) {
        (Some(_), None) => Tone::Good,
        (Some(_), Some(_)) => Tone::Doubt,
        (None, _) => Tone::Bad,
    };
    Line { text: if name.is_empty() { upper(&text) } else { text }, tone }
}

fn cause(it: &Maximum) -> Caused<'_> {
    match &it.cause {
        Cause::Proven { proof, by } => it.proofs.get(*proof).map_or(Caused::NotKnown, |it| Caused::Proven {
            limit: &it.limit,
            by: by.as_ref(),
            elasticity: it.elasticity.map(fitted),
            ratio: it.ratio.map(fitted),
        }),
        Cause::Suspected { suspect } => Caused::Suspected { limit: &suspect.limit },
        Cause::NotKnown => Caused::NotKnown,
    }
}

fn fitted((value, interval): (f64, Option<(f64, f64)>)) -> Fitted {
    Fitted { value, interval }
}

/// A sentence begins with a capital letter.
pub(super) fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// In the order in which they were measured.
fn steps(it: &Maximum, lang: &dyn Lang) -> Option<Table> {
    let scale = it.steps.first()?.step.scale;
    let sought = |it| lang.sought(it).to_owned();
    let rows: Vec<&Seen> = it.steps.iter().collect();
    let several = rows.iter().any(|it| it.step.round > 0);
    let first = Column { heading: sought(Sought::Stage), ..Column::default() };
    let mut figures: Vec<Figure<'_, Seen>> = vec![
        (lang.scale(scale).to_owned(), 0, Box::new(|it| exact(it.step.level, lang))),
        (sought(Sought::Delivered), 2, Box::new(|it| said(it.delivered.0, lang))),
        (sought(Sought::P99), 1, Box::new(|it| millis(it.p99, lang))),
        (sought(Sought::Mean), 3, Box::new(|it| millis(it.mean, lang))),
    ];
    if several {
        figures.insert(
            0,
            (sought(Sought::Round), 0, Box::new(|it| lang.number(&(it.step.round + 1).to_string()))),
        );
    }
    let mut table = filled((first, |it: &Seen| lang.stage(it.step.stage).to_owned()), figures, &rows);
    table.columns.push(Column { heading: sought(Sought::Outcome), ..Column::default() });
    for (row, it) in table.rows.iter_mut().zip(&rows) {
        row.cells.push(lang.outcome(&it.outcome, scale));
        row.tone = match it.outcome {
            Held::Yes => Tone::Plain,
            Held::No { .. } => Tone::Bad,
            Held::Invalid { .. } => Tone::Faint,
        };
    }
    table.caption = sought(Sought::Steps);
    Some(table)
}

fn proofs(it: &Maximum, lang: &dyn Lang) -> Option<Table> {
    it.proofs.first()?;
    let sought = |it| lang.sought(it).to_owned();
    let text = |it| Column { heading: sought(it), ..Column::default() };
    let number = |it, dispensable| Column { heading: sought(it), numeric: true, dispensable };
    let within =
        |it: Option<(f64, Option<(f64, f64)>)>| it.map_or(String::new(), |it| lang.within(&fitted(it)));
    let maximum = |it: &Answer| match it.level {
        Some(value) => lang.within(&Fitted { value, interval: it.interval }),
        None => sought(Sought::NoAnswer),
    };
    let row = |it: &Proof| Row {
        cells: vec![
            lang.nudge(&it.nudge),
            maximum(&it.base),
            maximum(&it.changed),
            within(it.ratio),
            it.elasticity.map_or(String::new(), |it| lang.elasticity(&fitted(it))),
            lang.proven(it.verdict).to_owned(),
        ],
        tone: match it.verdict {
            Proven::Limits => Tone::Bad,
            Proven::DoesNot => Tone::Plain,
            Proven::Undecided => Tone::Doubt,
        },
        baseline: false,
    };
    Some(Table {
        caption: sought(Sought::Proofs),
        columns: vec![
            text(Sought::Changed),
            number(Sought::BaseMaximum, 2),
            number(Sought::NewMaximum, 2),
            number(Sought::Ratio, 1),
            number(Sought::Elasticity, 0),
            text(Sought::Verdict),
        ],
        rows: it.proofs.iter().map(row).collect(),
        notes: Vec::new(),
    })
}
