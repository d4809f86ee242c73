//! Section on the maximum of each cell, its search and its limiter

use super::TRIALS_SHOWN_MAX;
use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::lang::Lang;
use crate::lang::number::{exact, millis};
use crate::lang::search::{CauseAnswer, MaximumAnswer};
use crate::say;
use crate::view::{Block, Column, Line, Row, Table, Tone};
use model::run_result::RunState;
use model::search::{
    Cause, FittedValue, LevelOutcome, Limit, Maximum, Proof, ProofVerdict, SearchResult, StepResult,
};

/// Builds the maximum, the proof of the limiter, and the steps for each searched cell.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for maximum in &case.account.maxima {
        let lang = case.lang;
        blocks.push(Block::Text(line(case, maximum)));
        let remedy = maximum.answer.stop_reason.as_ref().and_then(|it| lang.search_remedy(it));
        blocks.extend(remedy.map(|text| Block::Text(Line { text, tone: Tone::Plain })));
        blocks.extend(cause_remedy(maximum, lang).map(|text| Block::Text(Line { text, tone: Tone::Plain })));
        if maximum.rounds.len() > 1 {
            blocks.push(Block::Text(Line { text: lang.search_rounds(&maximum.rounds), tone: Tone::Plain }));
        }
        if maximum.answer.trials > 0 {
            let text = lang.search_effort(maximum.answer.trials, maximum.answer.measured);
            blocks.push(Block::Text(Line { text, tone: Tone::Faint }));
        }
        blocks.extend(proofs(maximum, lang).map(Block::Table));
        blocks.extend(steps(maximum, lang).map(|table| match maximum.steps.len() {
            many if many > TRIALS_SHOWN_MAX => {
                Block::Details { name: lang.all_steps(many), blocks: vec![Block::Table(table)] }
            }
            _ => Block::Table(table),
        }));
    }
    blocks
}

/// Builds the run's answer about maxima. It covers the best cell, and the baseline if it is another cell.
pub fn answer(case: &PageContext<'_>) -> Option<Line> {
    let maxima = &case.account.maxima;
    let level = |it: &&Maximum| it.answer.level;
    // Rates and numbers of clients are not comparable, so use only the cells with the scale of the first cell.
    let scale = maxima.first()?.answer.scale;
    let measured = || maxima.iter().filter(|it| it.answer.scale == scale && it.answer.level.is_some());
    // Among equal cells, choose the first cell.
    let best = measured().reduce(|best, it| if level(&it) > level(&best) { it } else { best });
    let Some(best) = best else {
        let first = line(case, &maxima[0]);
        return Some(Line { text: first.text, tone: Tone::Bad });
    };
    let mut lines = vec![line(case, best)];
    let baseline = case.account.matrix.rows[best.cell].baseline;
    lines.extend(baseline.and_then(|cell| maxima.iter().find(|it| it.cell == cell)).map(|it| line(case, it)));
    let answered = maxima.iter().filter(|it| it.answer.level.is_some()).count();
    let mut text: Vec<String> = lines.iter().map(|it| it.text.clone()).collect();
    if maxima.len() > 1 {
        text.push(capitalise(&case.lang.answered_cells(answered, maxima.len())) + ".");
    }
    let complete = case.account.info.state == RunState::Complete && answered == maxima.len();
    let doubtful = !complete || lines.iter().any(|it| it.tone != Tone::Good);
    let tone = if doubtful { Tone::Doubt } else { Tone::Good };
    Some(Line { text: text.join(" "), tone })
}

fn line(case: &PageContext<'_>, found: &Maximum) -> Line {
    let cause = cause_view(found);
    let rounds = found.rounds.iter().filter(|it| it.level.is_some()).count();
    let name = if case.account.experiment.cells.len() > 1 { case.name(found.cell) } else { "" };
    let maximum = MaximumAnswer { name, answer: &found.answer, rounds, cause };
    let text = case.lang.maximum_answer(&maximum);
    let tone = match (found.answer.level, &found.answer.stop_reason) {
        // A maximum is good only if every confirming trial sustained it.
        (Some(_), None) if found.answer.confirmations.0 == found.answer.confirmations.1 => Tone::Good,
        (Some(_), _) => Tone::Doubt,
        (None, _) => Tone::Bad,
    };
    Line { text: if name.is_empty() { capitalise(&text) } else { text }, tone }
}

fn cause_view(maximum: &Maximum) -> CauseAnswer<'_> {
    match &maximum.cause {
        Cause::Proven { proof, root_cause } => {
            maximum.proofs.get(*proof).map_or(CauseAnswer::NotKnown, |proof| CauseAnswer::Proven {
                limit: &proof.limit,
                consumer: root_cause.as_ref(),
                elasticity: proof.elasticity.map(to_fitted),
                ratio: proof.ratio.map(to_fitted),
            })
        }
        Cause::Suspected { suspect } => {
            let proof = maximum.proofs.iter().find(|it| it.limit == suspect.limit);
            let tested = proof.map(|it| (&it.perturbation, it.ratio.map(to_fitted)));
            CauseAnswer::Suspected { limit: &suspect.limit, saturation: suspect.saturation, tested }
        }
        Cause::NotKnown => CauseAnswer::NotKnown,
    }
}

/// Remedy for the limiter, the gain when it was tried, and the excluded suspects; `None` if nothing is known.
fn cause_remedy(maximum: &Maximum, lang: &Lang) -> Option<String> {
    let (remedy, gain) = match &maximum.cause {
        Cause::Proven { proof, root_cause } => {
            let proof = maximum.proofs.get(*proof)?;
            let remedy = lang.cause_remedy(root_cause.as_ref().unwrap_or(&proof.limit));
            (Some(remedy), proof.ratio.map(|it| lang.proven_gain(&proof.perturbation, to_fitted(it))))
        }
        Cause::Suspected { suspect } => (Some(lang.cause_remedy(&suspect.limit)), None),
        Cause::NotKnown => (None, None),
    };
    let with_verdict = |verdict| {
        let proofs = maximum.proofs.iter().enumerate().filter(move |it| it.1.verdict == verdict);
        proofs.map(|(number, proof)| (number, &proof.limit))
    };
    let others = with_verdict(ProofVerdict::Limits)
        .filter(|(number, _)| matches!(&maximum.cause, Cause::Proven { proof, .. } if proof != number));
    let others: Vec<&Limit> = others.map(|it| it.1).collect();
    let others = (!others.is_empty()).then(|| lang.other_limits(&others));
    // Limits that are proven together were excluded alone.
    let is_together = |limit: &Limit| match &maximum.cause {
        Cause::Proven { proof, .. } => match maximum.proofs.get(*proof).map(|it| &it.limit) {
            Some(Limit::Together { limits }) => limits.contains(limit),
            _ => false,
        },
        _ => false,
    };
    let excluded = with_verdict(ProofVerdict::DoesNotLimit).map(|it| it.1).filter(|it| !is_together(it));
    let excluded: Vec<&Limit> = excluded.collect();
    let excluded = (!excluded.is_empty()).then(|| lang.excluded_suspects(&excluded));
    let all: Vec<String> = [remedy, gain, others, excluded].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn to_fitted((value, interval): (f64, Option<(f64, f64)>)) -> FittedValue {
    FittedValue { value, interval }
}

/// Text with a capital first letter.
pub(super) fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// Table of steps in the order of their measurement.
fn steps(maximum: &Maximum, lang: &Lang) -> Option<Table> {
    let scale = maximum.steps.first()?.step.scale;
    let rows: Vec<&StepResult> = maximum.steps.iter().collect();
    let several = rows.iter().any(|it| it.step.round > 0);
    let first = Column { heading: say!(lang, "search-column-stage"), ..Column::default() };
    let mut figures: Vec<FigureColumn<'_, StepResult>> = vec![
        (lang.load_scale(scale), 0, Box::new(|it| exact(it.step.level, lang))),
        (say!(lang, "search-column-delivered"), 2, Box::new(|it| lang.numbers().three(it.delivered.0))),
        (say!(lang, "search-column-p99"), 1, Box::new(|it| millis(it.p99, lang))),
        (say!(lang, "search-column-mean"), 3, Box::new(|it| millis(it.mean, lang))),
    ];
    if rows.iter().any(|it| it.step.window != rows[0].step.window) {
        figures.push((say!(lang, "search-column-window"), 4, Box::new(|it| lang.span(it.step.window))));
    }
    if several {
        figures.insert(
            0,
            (
                say!(lang, "search-column-round"),
                0,
                Box::new(|it| lang.number(&(it.step.round + 1).to_string())),
            ),
        );
    }
    let mut table =
        non_empty_columns((first, |it: &StepResult| lang.step_purpose(it.step.purpose)), figures, &rows);
    table.columns.push(Column { heading: say!(lang, "search-column-outcome"), ..Column::default() });
    for (row, step) in table.rows.iter_mut().zip(&rows) {
        row.cells.push(lang.level_outcome(&step.outcome, scale));
        row.tone = match step.outcome {
            LevelOutcome::Sustained => Tone::Plain,
            LevelOutcome::NotSustained { .. } => Tone::Bad,
            LevelOutcome::Invalid { .. } => Tone::Faint,
        };
    }
    table.caption = say!(lang, "search-caption-steps");
    Some(table)
}

fn proofs(found: &Maximum, lang: &Lang) -> Option<Table> {
    found.proofs.first()?;
    let text = |heading| Column { heading, ..Column::default() };
    let number = |heading, drop_order| Column { heading, numeric: true, drop_order };
    let within = |ratio: Option<(f64, Option<(f64, f64)>)>| {
        ratio.map_or(String::new(), |ratio| lang.fitted(&to_fitted(ratio)))
    };
    let maximum = |result: &SearchResult| match result.level {
        Some(value) => lang.fitted(&FittedValue { value, interval: result.interval }),
        None => say!(lang, "search-no-answer"),
    };
    let row = |proof: &Proof| Row {
        cells: vec![
            lang.perturbation(&proof.perturbation),
            maximum(&proof.base),
            maximum(&proof.perturbed),
            within(proof.ratio),
            proof.elasticity.map_or(String::new(), |elasticity| lang.elasticity(&to_fitted(elasticity))),
            lang.proof_verdict(proof.verdict),
        ],
        tone: match proof.verdict {
            ProofVerdict::Limits => Tone::Bad,
            ProofVerdict::DoesNotLimit => Tone::Plain,
            ProofVerdict::Undecided => Tone::Doubt,
        },
        baseline: false,
    };
    Some(Table {
        caption: say!(lang, "search-caption-perturbations"),
        columns: vec![
            text(say!(lang, "search-column-changed")),
            number(say!(lang, "search-column-base-maximum"), 2),
            number(say!(lang, "search-column-new-maximum"), 2),
            number(say!(lang, "search-column-ratio"), 1),
            number(say!(lang, "search-column-elasticity"), 0),
            text(say!(lang, "search-column-verdict")),
        ],
        rows: found.proofs.iter().map(row).collect(),
        notes: Vec::new(),
    })
}
