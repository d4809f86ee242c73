//! First screen of a search for the maximum, and of a soak

use super::{Answer, interval, objectives, time_axis, validity};
use crate::page::context::PageContext;
use crate::say;
use crate::view::{LargeFigure, Picture, Plot, PlotAxis, PlotPoint, PointSeries, ReferenceLine, Tone};
use model::chart::ChartUnit;
use model::plan::LoadScale;
use model::search::{Cause, LevelOutcome, Limit, Maximum, SoakResult, StepPurpose, StepResult, TrendVerdict};

/// Answer on the cell with the highest maximum, or on the soak if the run did not search.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let maxima = &case.account.maxima;
    let level = |maximum: &&Maximum| maximum.answer.level.unwrap_or(f64::NEG_INFINITY);
    let best = maxima.iter().reduce(|best, other| if level(&other) > level(&best) { other } else { best });
    match (best, case.account.soaks.first()) {
        (Some(best), None) => Some(maximum(case, best)),
        (maximum, Some(held)) => Some(soak(case, held, maximum)),
        (None, None) => None,
    }
}

fn maximum(case: &PageContext<'_>, maximum: &Maximum) -> Answer {
    let lang = case.lang;
    let result = &maximum.answer;
    let cause = limit(maximum).map(|limit| lang.limit(limit));
    let (held, total) = result.confirmations;
    let several = case.account.experiment.cells.len() > 1;
    let name = several.then(|| case.name(maximum.cell).to_owned());
    let summary = match result.level {
        Some(level) => {
            let level = lang.level(result.scale, level);
            let at_least = result.stop_reason.is_some();
            say!(lang, "overview-maximum", name, level, at_least, limit = cause.clone())
        }
        None => say!(lang, "overview-no-maximum", name),
    };
    let sustained = LargeFigure {
        label: say!(lang, "overview-sustained"),
        value: result.level.map_or_else(|| "–".to_owned(), |level| short_level(case, result.scale, level)),
        detail: interval(case, result.interval),
        tone: if result.level.is_some() { Tone::Plain } else { Tone::Bad },
    };
    let holds = holds(maximum);
    let slowest = holds.iter().filter_map(|step| step.p99).max();
    let p99 = slowest.map(|p99| LargeFigure {
        label: say!(lang, "overview-p99-holds"),
        value: lang.time(p99),
        detail: say!(lang, "overview-holds", held, total),
        tone: if held < total { Tone::Doubt } else { Tone::Plain },
    });
    let limiter = cause.map(|cause| LargeFigure {
        label: match maximum.cause {
            Cause::Proven { .. } => say!(lang, "overview-limit-proven"),
            Cause::Suspected { .. } | Cause::NotKnown => say!(lang, "overview-limit-suspected"),
        },
        value: cause,
        ..LargeFigure::default()
    });
    let objective = objective_of(case).map(|objective| LargeFigure {
        label: say!(lang, "overview-objective", count = 1_u64),
        value: objective,
        ..LargeFigure::default()
    });
    let figures = [Some(sustained), p99, limiter.or(objective), Some(validity(case))];
    Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: steps(case, maximum, Vec::new()),
    }
}

/// A level with a short unit.
fn short_level(case: &PageContext<'_>, scale: LoadScale, level: f64) -> String {
    match scale {
        LoadScale::Rate => super::rate(case, level),
        LoadScale::Clients => case.lang.level(scale, level),
    }
}

/// Limiter that was proven or is suspected.
fn limit(maximum: &Maximum) -> Option<&Limit> {
    match &maximum.cause {
        Cause::Proven { proof, .. } => maximum.proofs.get(*proof).map(|proof| &proof.limit),
        Cause::Suspected { suspect } => Some(&suspect.limit),
        Cause::NotKnown => None,
    }
}

/// Confirming steps at the level of the answer.
fn holds(maximum: &Maximum) -> Vec<&StepResult> {
    let at_answer = |step: &&StepResult| {
        step.step.purpose == StepPurpose::Hold && Some(step.step.level) == maximum.answer.level
    };
    maximum.steps.iter().filter(at_answer).collect()
}

/// First objective of the searched cells, as the user wrote it.
fn objective_of(case: &PageContext<'_>) -> Option<String> {
    let mut results = case.account.trials.iter().flat_map(|trial| &trial.objectives);
    results.next().map(|result| result.objective.clone())
}

fn soak(case: &PageContext<'_>, soak: &SoakResult, searched: Option<&Maximum>) -> Answer {
    let lang = case.lang;
    let open = crate::page::context::is_open(case.account, soak.cell);
    let of_load = if open { LoadScale::Rate } else { LoadScale::Clients };
    let scale = searched.map_or(of_load, |maximum| maximum.answer.scale);
    let level = lang.level(scale, soak.level);
    let duration = lang.span(soak.duration);
    let held = soak.outcome == LevelOutcome::Sustained;
    let count = |verdict| soak.trends.iter().filter(|trend| trend.verdict == verdict).count();
    let moving = count(TrendVerdict::Leak) + count(TrendVerdict::Drift);
    let summary = match held {
        true => say!(lang, "overview-soak-held", level = level.clone(), duration = duration.clone(), moving),
        false => say!(lang, "overview-soak-failed", level = level.clone(), duration = duration.clone()),
    };
    let share = soak.share_of_maximum.map(|share| lang.numbers().percent(share, 0));
    let tone = |good: bool| if good { Tone::Good } else { Tone::Bad };
    let figures = [
        Some(LargeFigure {
            label: say!(lang, "overview-level"),
            value: short_level(case, scale, soak.level),
            detail: share.map_or(String::new(), |share| say!(lang, "overview-of-maximum", share)),
            tone: tone(held),
        }),
        Some(LargeFigure {
            label: say!(lang, "overview-duration"),
            value: duration,
            detail: if held { say!(lang, "overview-held") } else { say!(lang, "overview-not-held") },
            tone: tone(held),
        }),
        (!soak.trends.is_empty()).then(|| LargeFigure {
            label: say!(lang, "overview-trends"),
            value: lang.numbers().count(moving as u64),
            detail: say!(lang, "overview-trends-of", total = soak.trends.len()),
            tone: if moving == 0 { Tone::Good } else { Tone::Bad },
        }),
        objectives(case),
        Some(validity(case)),
    ];
    let reference = ReferenceLine {
        value: soak.level,
        text: say!(lang, "overview-level"),
        tone: if held { Tone::Good } else { Tone::Bad },
    };
    let picture = searched.and_then(|maximum| steps(case, maximum, vec![reference]));
    let mut figures: Vec<LargeFigure> = figures.into_iter().flatten().collect();
    figures.truncate(4);
    Answer { summary, figures, picture }
}

/// Every step of a search: its level and the p99 of its response time, or the mean if not every step has a p99. The
/// answer is a reference line.
fn steps(case: &PageContext<'_>, maximum: &Maximum, more: Vec<ReferenceLine>) -> Option<Picture> {
    let lang = case.lang;
    let scale = maximum.answer.scale;
    let measured: Vec<&StepResult> =
        maximum.steps.iter().filter(|step| step.step.scale == scale && step.mean.is_some()).collect();
    let with_p99 = measured.iter().all(|step| step.p99.is_some());
    let point = |step: &&StepResult| {
        let tone = match step.outcome {
            LevelOutcome::Sustained => Tone::Good,
            LevelOutcome::NotSustained { .. } => Tone::Bad,
            LevelOutcome::Invalid { .. } => Tone::Faint,
        };
        let time = if with_p99 { step.p99 } else { step.mean }.filter(|time| time.0 > 0)?;
        Some(PlotPoint { x: step.step.level, y: time.as_secs_f64(), tone })
    };
    let points: Vec<PlotPoint> = measured.iter().filter_map(point).collect();
    if points.is_empty() {
        return None;
    }
    let answer = maximum.answer.level.map(|value| ReferenceLine {
        value,
        text: short_level(case, scale, value),
        tone: Tone::Good,
    });
    let (title, unit) = match scale {
        LoadScale::Rate => (say!(lang, "overview-offered-rate"), ChartUnit::PerSecond),
        LoadScale::Clients => (say!(lang, "search-scale-clients"), ChartUnit::Count),
    };
    let references = answer.into_iter().chain(more).collect();
    let x = PlotAxis { title, unit, logarithmic: false, references };
    let (count, p99_objective) = (points.len(), |text: &str| text.starts_with("p99 "));
    let (caption, y_title) = match with_p99 {
        true => (say!(lang, "overview-caption-steps", count), say!(lang, "overview-p99")),
        false => (say!(lang, "overview-caption-means", count), say!(lang, "overview-mean")),
    };
    let y = time_axis(case, y_title, |result| with_p99 && p99_objective(&result.objective));
    let series = vec![PointSeries { label: String::new(), connected: false, points }];
    Some(Picture { caption, plot: Plot::Points { x, y, series } })
}
