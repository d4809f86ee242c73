//! First screen of a run that measures one cell, or compares cells

use super::{Answer, interval, objectives, rate, time_axis, validity};
use crate::page::context::{PageContext, is_open};
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Picture, Plot, PlotAxis, Tone};
use model::Nanos;
use model::chart::ChartUnit;
use model::matrix::{BaselineComparison, ChangeVerdict, Estimate, Figure};
use model::run_result::{OperationResult, TrialResult};
use model::validity::Doubt;

/// Lowest share of errors that is shown as a number, 0..=1.
const ERRORS_SHOWN_MIN: f64 = 0.0001;

pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    match case.account.experiment.cells.len() {
        1 => one_cell(case),
        _ => several_cells(case),
    }
}

fn one_cell(case: &PageContext<'_>) -> Option<Answer> {
    let lang = case.lang;
    let tps = estimate(case, 0, Figure::Tps)?;
    let total = case.account.cells.first()?.total.as_ref()?;
    let offered = is_open(case.account, 0).then(|| rate(case, total.offered.0));
    let mut throughput = throughput(case, 0, say!(lang, "overview-throughput"))?;
    if let Some(offered) = &offered {
        throughput.detail = say!(lang, "overview-offered", offered = offered.clone());
    }
    let figures = [Some(throughput), p99(case, 0), errors(case, 0, total), Some(validity(case))];
    let p99 = p99_text(case, 0);
    let summary = say!(lang, "overview-one", rate = rate(case, tps.median), offered, p99);
    Some(Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: quantiles(case, total),
    })
}

fn several_cells(case: &PageContext<'_>) -> Option<Answer> {
    let matrix = &case.account.matrix;
    let picture = dots(case)?;
    let best = case.best.or(case.open.highest).or(case.open.strained);
    let baseline = best.and_then(|cell| matrix.rows[cell].baseline).or(matrix.baseline);
    let cells = [best, baseline.filter(|cell| Some(*cell) != best)];
    let mut figures: Vec<LargeFigure> = cells
        .into_iter()
        .flatten()
        .filter_map(|cell| throughput(case, cell, case.name(cell).to_owned()))
        .collect();
    figures.extend(best.and_then(|cell| p99(case, cell)).filter(|_| matrix.objectives.is_empty()));
    figures.extend(objectives(case));
    figures.push(validity(case));
    Some(Answer { summary: comparison(case, best, baseline), figures, picture: Some(picture) })
}

/// Sentence about the cell with the highest throughput, compared with its baseline.
fn comparison(case: &PageContext<'_>, best: Option<usize>, baseline: Option<usize>) -> String {
    let lang = case.lang;
    let Some((cell, tps)) = best.and_then(|cell| Some((cell, estimate(case, cell, Figure::Tps)?))) else {
        return say!(lang, "overview-nothing-comparable");
    };
    let (name, best_rate) = (case.name(cell), rate(case, tps.median));
    let with = baseline.and_then(|it| Some((case.name(it), estimate(case, it, Figure::Tps)?)));
    match (change(case, cell), with) {
        (None, Some((baseline, base))) => {
            let base = rate(case, base.median);
            say!(lang, "overview-not-compared", name, rate = best_rate, baseline, base)
        }
        (None, None) => say!(lang, "overview-best", name, rate = best_rate),
        (Some((_, ChangeVerdict::TooFewRuns)), Some((baseline, _))) => {
            say!(lang, "overview-too-few-trials", name, baseline)
        }
        (Some((_, ChangeVerdict::NoEvidence)), Some((baseline, _))) => {
            say!(lang, "overview-no-difference", name, baseline)
        }
        (Some((ratio, _)), with) => {
            let base = with.map(|(_, base)| rate(case, base.median));
            let (ratio, baseline) = (lang.numbers().fixed(ratio, 2), with.map(|(baseline, _)| baseline));
            say!(lang, "overview-difference", name, rate = best_rate, ratio, baseline, base)
        }
    }
}

/// Ratio of a cell's throughput to its baseline's, with the verdict; `None` if they are not comparable.
fn change(case: &PageContext<'_>, cell: usize) -> Option<(f64, ChangeVerdict)> {
    let BaselineComparison { ratio, verdict, .. } = comparable(case, cell)?;
    Some((ratio?, verdict))
}

fn comparable(case: &PageContext<'_>, cell: usize) -> Option<BaselineComparison> {
    let row = case.account.matrix.rows.get(cell)?;
    let baseline = row.baseline?;
    let fair = case.alike(cell, baseline) && !is_open(case.account, cell);
    let compared = [cell, baseline].into_iter().all(|cell| !case.left_out(cell));
    row.estimate(Figure::Tps)?.vs_baseline.filter(|_| fair && compared)
}

fn estimate<'a>(case: &PageContext<'a>, cell: usize, figure: Figure) -> Option<&'a Estimate> {
    case.account.matrix.rows.get(cell)?.estimate(figure)
}

/// Throughput of a cell, with its ratio to the baseline, or without a baseline with its interval.
fn throughput(case: &PageContext<'_>, cell: usize, label: String) -> Option<LargeFigure> {
    let lang = case.lang;
    let tps = estimate(case, cell, Figure::Tps)?;
    let comparison = comparable(case, cell).and_then(|it| Some((it.ratio?, it.interval, it.verdict)));
    let (detail, tone) = match comparison {
        Some((_, _, ChangeVerdict::TooFewRuns)) => {
            (say!(lang, "overview-few-trials", count = tps.runs), Tone::Doubt)
        }
        Some((ratio, range, verdict)) => {
            let [low, high] = match range {
                Some((low, high)) => [low, high].map(|end| Some(lang.numbers().fixed(end, 2))),
                None => [None, None],
            };
            let tone = match verdict {
                ChangeVerdict::Higher => Tone::Good,
                ChangeVerdict::Lower => Tone::Bad,
                ChangeVerdict::NoEvidence | ChangeVerdict::TooFewRuns => Tone::Plain,
            };
            (say!(lang, "overview-ratio", ratio = lang.numbers().fixed(ratio, 2), low, high), tone)
        }
        None if tps.interval.is_none() => (say!(lang, "answer-trials", count = tps.runs), Tone::Plain),
        None => (interval(case, tps.interval), Tone::Plain),
    };
    let is_baseline = case.account.experiment.cells.len() > 1 && case.account.matrix.is_baseline(cell);
    let label = if is_baseline { say!(lang, "overview-baseline", name = label) } else { label };
    Some(LargeFigure { label, value: rate(case, tps.median), detail, tone })
}

fn p99_text(case: &PageContext<'_>, cell: usize) -> Option<String> {
    let p99 = estimate(case, cell, Figure::P99)?;
    Some(time(case, Nanos::from_secs_f64(p99.median), p99.is_lower_bound))
}

/// Formats a time, which may be only a lower bound.
fn time(case: &PageContext<'_>, time: Nanos, is_lower_bound: bool) -> String {
    let text = case.lang.time(time);
    if is_lower_bound { format!(">{}{text}", case.lang.numbers().gap) } else { text }
}

/// 99th percentile of the response time, with the objective for it.
fn p99(case: &PageContext<'_>, cell: usize) -> Option<LargeFigure> {
    let objectives = &case.account.matrix.objectives;
    let objective = objectives.iter().find(|summary| summary.objective.starts_with("p99 "));
    let tone = match objective {
        Some(summary) if summary.violated > 0 => Tone::Bad,
        Some(summary) if summary.unknown == 0 => Tone::Good,
        _ => Tone::Plain,
    };
    let detail = match objective {
        Some(summary) => say!(case.lang, "overview-bound", objective = summary.objective.as_str()),
        None if case.account.experiment.cells.len() > 1 => case.name(cell).to_owned(),
        None => String::new(),
    };
    Some(LargeFigure { label: say!(case.lang, "overview-p99"), value: p99_text(case, cell)?, detail, tone })
}

/// Share of arrivals that did not succeed, in the worst valid trial; `None` without an arrival. If there was an outage
/// in a closed-model run, the figure shows the outage, because then hardly any arrival fails.
fn errors(case: &PageContext<'_>, cell: usize, total: &OperationResult) -> Option<LargeFigure> {
    let (lang, numbers) = (case.lang, case.lang.numbers());
    let valid: Vec<&TrialResult> =
        case.account.trials.iter().filter(|trial| trial.cell == cell && trial.valid).collect();
    let share = valid.iter().filter_map(|trial| trial.errors).max_by(f64::total_cmp)?;
    let outage = |doubt: &Doubt| match doubt {
        Doubt::Outage { duration, .. } => Some(*duration),
        _ => None,
    };
    let outage = valid.iter().flat_map(|trial| &trial.doubts).filter_map(outage).max();
    let value = match share {
        0.0 => numbers.percent(0.0, 0),
        share if share < ERRORS_SHOWN_MIN => {
            format!("<{}{}", numbers.gap, numbers.percent(ERRORS_SHOWN_MIN, 2))
        }
        share => numbers.percent(share, if share < 0.1 { 2 } else { 0 }),
    };
    let detail = match (total.failures.first(), outage) {
        (Some(first), _) => first.describe(),
        (None, Some(duration)) => say!(lang, "overview-outage-seen", time = lang.time(duration)),
        (None, None) => say!(lang, "overview-errors-count", count = total.dropped),
    };
    let tone = if share == 0.0 && outage.is_none() { Tone::Good } else { Tone::Doubt };
    Some(LargeFigure { label: say!(lang, "overview-errors", count = valid.len()), value, detail, tone })
}

/// Picture of the response-time quantiles, with the objectives for them.
fn quantiles(case: &PageContext<'_>, total: &OperationResult) -> Option<Picture> {
    let lang = case.lang;
    let response = &total.response;
    let quantiles = [
        ("p50".to_owned(), 0.5, response.p50),
        ("p90".to_owned(), 0.9, response.p90),
        ("p95".to_owned(), 0.95, response.p95),
        ("p99".to_owned(), 0.99, response.p99),
        ("p99.9".to_owned(), 0.999, response.p999),
        (say!(lang, "bench-max"), 1.0, response.max),
    ];
    let row = |(label, quantile, measured): (String, f64, Option<Nanos>)| {
        let bound = response.unanswered.and_then(|it| it.longer_than(quantile, total.count));
        let value = bound.or(measured).filter(|value| value.0 > 0)?;
        Some(IntervalRow {
            label,
            value: value.as_secs_f64(),
            is_lower_bound: bound.is_some(),
            text: time(case, value, bound.is_some()),
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = quantiles.into_iter().filter_map(row).collect();
    let axis = time_axis(case, say!(lang, "overview-response"), |result| result.objective.starts_with('p'));
    let unanswered = response.unanswered.map_or(0, |it| it.count);
    let caption = say!(lang, "overview-caption-quantiles", count = total.count + unanswered, unanswered);
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}

/// Picture of the throughput of every cell, with its interval.
fn dots(case: &PageContext<'_>) -> Option<Picture> {
    let lang = case.lang;
    let matrix = &case.account.matrix;
    let row = |cell: usize| {
        let tps = estimate(case, cell, Figure::Tps)?;
        let tone = match change(case, cell) {
            Some((_, ChangeVerdict::Higher)) => Tone::Good,
            Some((_, ChangeVerdict::Lower)) => Tone::Bad,
            _ if case.left_out(cell) => Tone::Faint,
            _ => Tone::Plain,
        };
        Some(IntervalRow {
            label: case.name(cell).to_owned(),
            value: tps.median,
            interval: tps.interval,
            text: rate(case, tps.median),
            tone,
            baseline: matrix.is_baseline(cell),
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = (0..matrix.rows.len()).filter_map(row).collect();
    let axis = PlotAxis {
        title: say!(lang, "overview-throughput"),
        unit: ChartUnit::PerSecond,
        logarithmic: false,
        references: Vec::new(),
    };
    let with_intervals = rows.iter().any(|row| row.interval.is_some());
    let caption = match with_intervals {
        true => say!(lang, "overview-caption-cells"),
        false => say!(lang, "overview-caption-medians"),
    };
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}
