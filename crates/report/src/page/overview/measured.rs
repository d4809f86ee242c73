//! First screen of a run that measures one cell, or compares cells

use super::pair::{obstacle, p99s, pair_of};
use super::{Answer, interval, metric_of, objective_text, objectives, rate, time, time_axis, validity};
use crate::page::context::{PageContext, is_open};
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Picture, Plot, PlotAxis, Tone};
use model::Nanos;
use model::chart::ChartUnit;
use model::matrix::{BaselineComparison, ChangeVerdict, Estimate, Figure};
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveVerdict};
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
    let errors = errors(case, &measured_trials(case, |cell| cell == 0));
    let figures = [Some(throughput), p99(case, 0, None), errors, Some(validity(case))];
    let p99 = p99_text(case, 0);
    let summary = say!(lang, "overview-one", rate = rate(case, tps.median), offered, p99);
    Some(Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: quantiles(case, total),
        doubts: Vec::new(),
    })
}

fn several_cells(case: &PageContext<'_>) -> Option<Answer> {
    let matrix = &case.account.matrix;
    let picture = dots(case)?;
    let best = case.best.or(case.open.highest).or(case.open.strained);
    let baseline = best.and_then(|cell| matrix.rows[cell].baseline).or(matrix.baseline);
    let base = baseline.filter(|cell| Some(*cell) != best);
    let shown = best.or(base);
    // The picture and the sentence show the baseline's throughput.
    let figures = [
        shown.and_then(|cell| throughput(case, cell, case.name(cell).to_owned())),
        shown.and_then(|cell| p99(case, cell, base.filter(|_| best.is_some()))).or_else(|| objectives(case)),
        errors(case, &measured_trials(case, |_| true)),
        Some(validity(case)),
    ];
    Some(Answer {
        summary: comparison(case, best, baseline),
        figures: figures.into_iter().flatten().collect(),
        picture: Some(picture),
        doubts: Vec::new(),
    })
}

/// Sentence about the cell with the highest throughput, compared with its baseline.
fn comparison(case: &PageContext<'_>, best: Option<usize>, baseline: Option<usize>) -> String {
    let lang = case.lang;
    let Some((cell, tps)) = best.and_then(|cell| Some((cell, estimate(case, cell, Figure::Tps)?))) else {
        return say!(lang, "overview-nothing-comparable");
    };
    let (name, best_rate) = (case.name(cell), rate(case, tps.median));
    let measured = baseline.and_then(|base| Some((base, estimate(case, base, Figure::Tps)?)));
    let Some((base_cell, base_tps)) = measured else {
        return say!(lang, "overview-best", name, rate = best_rate);
    };
    let (baseline, base) = (case.name(base_cell), rate(case, base_tps.median));
    let pair = pair_of(case, cell);
    let p99 = || pair.as_ref().and_then(|pair| p99s(case, pair));
    match change(case, cell) {
        None => {
            let reason = obstacle(case, cell, base_cell);
            say!(lang, "overview-not-compared", name, rate = best_rate, baseline, base, reason)
        }
        Some((_, ChangeVerdict::TooFewRuns)) => say!(lang, "overview-too-few-trials", name, baseline),
        Some((_, ChangeVerdict::NoEvidence)) => {
            say!(lang, "overview-no-difference", name, baseline, p99 = p99())
        }
        Some((ratio, _)) => {
            let ratio = lang.numbers().fixed(ratio, 2);
            say!(lang, "overview-difference", name, rate = best_rate, ratio, baseline, base, p99 = p99())
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

/// Throughput of a cell, with its ratio to the baseline. Without a baseline, with its confidence interval.
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

/// p99 of a cell's response time, with the p99 of its baseline and with an objective.
fn p99(case: &PageContext<'_>, cell: usize, baseline: Option<usize>) -> Option<LargeFigure> {
    let lang = case.lang;
    let all = &case.account.matrix.objectives;
    // Show the first objective on the p99. If there is none, prefer a violated objective.
    let objective = all
        .iter()
        .find(|summary| summary.objective.starts_with("p99 "))
        .or_else(|| all.iter().find(|summary| summary.violated > 0))
        .or_else(|| all.first());
    let verdict = objective.map(summary_verdict);
    let several = case.account.experiment.cells.len() > 1;
    let base = baseline.and_then(|cell| Some((case.name(cell), p99_text(case, cell)?)));
    let base = base.map(|(name, p99)| say!(lang, "overview-p99-baseline", name, p99));
    let text = objective.zip(verdict).map(|(it, verdict)| objective_text(case, &it.objective, verdict));
    let parts = [several.then(|| case.name(cell).to_owned()), base, text];
    let tone = match verdict {
        Some(ObjectiveVerdict::Violated) => Tone::Bad,
        Some(ObjectiveVerdict::Met) => Tone::Good,
        Some(ObjectiveVerdict::Unknown) => Tone::Doubt,
        None => Tone::Plain,
    };
    Some(LargeFigure {
        label: say!(lang, "overview-p99"),
        value: p99_text(case, cell)?,
        detail: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        tone,
    })
}

/// Verdict on an objective over all trials.
fn summary_verdict(summary: &ObjectiveSummary) -> ObjectiveVerdict {
    match (summary.violated, summary.unknown, summary.met) {
        (1.., ..) => ObjectiveVerdict::Violated,
        (0, 0, 1..) => ObjectiveVerdict::Met,
        _ => ObjectiveVerdict::Unknown,
    }
}

/// Valid trials of the cells that `chosen` accepts.
pub(super) fn measured_trials<'a>(
    case: &PageContext<'a>,
    chosen: impl Fn(usize) -> bool,
) -> Vec<&'a TrialResult> {
    case.account.trials.iter().filter(|trial| trial.valid && chosen(trial.cell)).collect()
}

/// Share of arrivals that did not succeed, in the worst of these trials; `None` without an arrival. If there was an
/// outage in a closed-model run, the figure shows the outage, because then hardly any arrival fails.
pub(super) fn errors(case: &PageContext<'_>, trials: &[&TrialResult]) -> Option<LargeFigure> {
    let (lang, numbers) = (case.lang, case.lang.numbers());
    let measured = trials.iter().filter_map(|trial| Some((trial.cell, trial.errors?)));
    // If several trials have the same share, choose the first.
    let (mut cell, mut share) = measured.reduce(|worst, it| if it.1 > worst.1 { it } else { worst })?;
    // If the value of an objective is higher, use it, because it also counts clients without any success.
    let judged = |trial: &&TrialResult| {
        let results = trial.objectives.iter().filter(|it| is_on_errors(it));
        let measured = results.filter_map(|it| Some((it.measured?, it.is_lower_bound)));
        Some((trial.cell, measured.reduce(|worst, it| if it.0 > worst.0 { it } else { worst })?))
    };
    let judged =
        trials.iter().filter_map(judged).reduce(|worst, it| if it.1.0 > worst.1.0 { it } else { worst });
    let unserved = judged.filter(|(_, (judged, is_lower_bound))| *is_lower_bound && *judged > share);
    if let Some((judged_cell, (judged, _))) = unserved {
        (cell, share) = (judged_cell, judged);
    }
    let total = case.account.cells.get(cell).and_then(|it| it.total.as_ref());
    let outage = |doubt: &Doubt| match doubt {
        Doubt::Outage { duration, .. } => Some(*duration),
        _ => None,
    };
    let outage = trials.iter().flat_map(|trial| &trial.doubts).filter_map(outage).max();
    let value = match share {
        0.0 => numbers.percent(0.0, 0),
        share if share < ERRORS_SHOWN_MIN => {
            format!("<{}{}", numbers.gap, numbers.percent(ERRORS_SHOWN_MIN, 2))
        }
        share => {
            let bound = if unserved.is_some() { format!(">{}", numbers.gap) } else { String::new() };
            bound + &numbers.percent(share, if share < 0.1 { 2 } else { 0 })
        }
    };
    let failure = total.and_then(|it| it.failures.first()).filter(|_| share > 0.0);
    let cause = match (failure, outage) {
        (_, None) if unserved.is_some() => say!(lang, "overview-clients-unserved"),
        (Some(first), _) if unserved.is_none() => first.describe(),
        (_, Some(duration)) => say!(lang, "overview-outage-seen", time = lang.time(duration)),
        (_, None) => {
            let dropped = total.filter(|_| share > 0.0).map_or(0, |it| it.dropped);
            match (share, dropped) {
                (0.0, _) | (_, 1..) => say!(lang, "overview-errors-count", count = dropped),
                _ => String::new(),
            }
        }
    };
    let several = trials.iter().any(|trial| trial.cell != cell);
    let name = Some(case.name(cell).to_owned()).filter(|_| several && share > 0.0);
    let bounds = || trials.iter().flat_map(|trial| &trial.objectives).filter(|it| is_on_errors(it));
    let verdict = bounds().map(|it| it.verdict).reduce(worse);
    let objective =
        bounds().next().zip(verdict).map(|(it, verdict)| objective_text(case, &it.objective, verdict));
    let tone = match verdict {
        Some(ObjectiveVerdict::Violated) => Tone::Bad,
        _ if share == 0.0 && outage.is_none() => Tone::Good,
        Some(ObjectiveVerdict::Met) if outage.is_none() => Tone::Plain,
        _ => Tone::Doubt,
    };
    let parts = [name, Some(cause).filter(|text| !text.is_empty()), objective];
    Some(LargeFigure {
        label: say!(lang, "overview-errors", count = trials.len()),
        value,
        detail: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        tone,
    })
}

/// True for an objective on the errors of all operations together.
fn is_on_errors(result: &ObjectiveResult) -> bool {
    metric_of(&result.objective) == "errors"
}

fn worse(one: ObjectiveVerdict, other: ObjectiveVerdict) -> ObjectiveVerdict {
    let rank = |verdict: ObjectiveVerdict| match verdict {
        ObjectiveVerdict::Met => 0,
        ObjectiveVerdict::Unknown => 1,
        ObjectiveVerdict::Violated => 2,
    };
    if rank(other) > rank(one) { other } else { one }
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
pub(super) fn dots(case: &PageContext<'_>) -> Option<Picture> {
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
