//! First screen of a search for the maximum, and of a soak

use super::{Answer, interval, objectives, time_axis, validity};
use crate::page::context::PageContext;
use crate::say;
use crate::view::{LargeFigure, Picture, Plot, PlotAxis, PlotPoint, PointSeries, ReferenceLine, Tone};
use model::chart::{ChartKind, ChartSeries, ChartSeriesKind, ChartUnit};
use model::plan::LoadScale;
use model::run_result::TrialResult;
use model::search::{
    Cause, LevelOutcome, LevelTrials, Limit, Maximum, SearchResult, SoakResult, StepPurpose, StepResult,
    TrendVerdict,
};

/// Maximum number of points of a line, about as many as the picture has columns of pixels.
const COLUMNS_DRAWN_MAX: usize = 400;

/// First screen about the cell with the highest maximum, or about the soak if the run did not search.
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
            let proven = matches!(maximum.cause, Cause::Proven { .. });
            say!(lang, "overview-maximum", name, level, at_least, limit = cause.clone(), proven)
        }
        None if super::is_running(case) => {
            say!(lang, "overview-searching", name, known = known_levels(case, result))
        }
        None => say!(lang, "overview-no-maximum", name, known = known_levels(case, result)),
    };
    let (sustained, failed) = levels(case, result);
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
    let figures = [Some(sustained), failed.or(p99), limiter.or(objective), Some(validity(case))];
    Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: steps(case, maximum, Vec::new()),
    }
}

/// Figure with the maximum, or without a maximum figures with the highest sustained level and the lowest level that was
/// not sustained.
fn levels(case: &PageContext<'_>, result: &SearchResult) -> (LargeFigure, Option<LargeFigure>) {
    let lang = case.lang;
    let bracket = |label: String, level: &LevelTrials| LargeFigure {
        label,
        value: short_level(case, result.scale, level.level),
        detail: say!(lang, "overview-bracket-trials", sustained = level.sustained, total = level.trials),
        tone: Tone::Doubt,
    };
    match (result.level, &result.sustained) {
        (None, Some(sustained)) => {
            let failed = result.failed.as_ref();
            let failed = failed.map(|level| bracket(say!(lang, "overview-failed-bracket"), level));
            (bracket(say!(lang, "overview-sustained-bracket"), sustained), failed)
        }
        (level, _) => {
            let figure = LargeFigure {
                label: say!(lang, "overview-sustained"),
                value: level.map_or_else(|| "–".to_owned(), |level| short_level(case, result.scale, level)),
                detail: interval(case, result.interval),
                tone: if level.is_some() { Tone::Plain } else { Tone::Bad },
            };
            (figure, None)
        }
    }
}

/// Levels between which the maximum lies, with the numbers of their trials; `None` if no level has a result.
fn known_levels(case: &PageContext<'_>, result: &SearchResult) -> Option<String> {
    let text = |level: &LevelTrials| {
        let LevelTrials { level, sustained: held, trials: total } = *level;
        say!(case.lang, "search-level-trials", level = short_level(case, result.scale, level), held, total)
    };
    let levels: Vec<String> = [&result.sustained, &result.failed].into_iter().flatten().map(text).collect();
    (!levels.is_empty()).then(|| levels.join(", "))
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
    let count = |verdict| soak.trends.iter().filter(|trend| trend.verdict == verdict).count();
    let moving = count(TrendVerdict::Leak) + count(TrendVerdict::Drift);
    let (unknown, total) = (count(TrendVerdict::Unknown), soak.trends.len());
    let (summary, outcome, tone) = match soak.outcome {
        LevelOutcome::Sustained => {
            let duration = duration.clone();
            let summary = say!(lang, "overview-soak-held", level, duration, moving, unknown, total);
            (summary, "sustained", Tone::Good)
        }
        LevelOutcome::NotSustained { .. } => {
            let summary = say!(lang, "overview-soak-failed", level, duration = duration.clone());
            (summary, "failed", Tone::Bad)
        }
        LevelOutcome::Invalid { .. } => (say!(lang, "overview-soak-invalid", level), "invalid", Tone::Doubt),
    };
    let share = soak.share_of_maximum.map(|share| lang.numbers().percent(share, 0));
    let held = LargeFigure {
        label: say!(lang, "overview-level"),
        value: short_level(case, scale, soak.level),
        detail: say!(lang, "overview-level-outcome", outcome, duration, share),
        tone,
    };
    let trends = (total > 0).then(|| LargeFigure {
        label: say!(lang, "overview-trends"),
        value: lang.numbers().count(moving as u64),
        detail: say!(lang, "overview-trends-of", total, unknown),
        tone: match (moving, unknown) {
            (0, 0) => Tone::Good,
            (0, _) => Tone::Doubt,
            _ => Tone::Bad,
        },
    });
    let objectives = objectives(case).filter(|_| outcome != "invalid");
    let figures = [Some(held), trends, objectives, Some(validity(case))];
    let reference = ReferenceLine {
        value: soak.level,
        text: say!(lang, "overview-level"),
        tone: if tone == Tone::Doubt { Tone::Plain } else { tone },
    };
    let picture = match searched {
        Some(maximum) => steps(case, maximum, vec![reference]),
        None => over_time(case, soak, short_level(case, scale, soak.level)),
    };
    Answer { summary, figures: figures.into_iter().flatten().collect(), picture }
}

/// Picture of a response-time quantile during a soak at this level: the highest quantile that is known in most seconds.
fn over_time(case: &PageContext<'_>, soak: &SoakResult, level: String) -> Option<Picture> {
    let lang = case.lang;
    let is_soak = |trial: &&TrialResult| {
        trial.cell == soak.cell && trial.step.as_ref().is_none_or(|step| step.purpose == soak.purpose)
    };
    let charts = &case.account.trials.iter().rfind(is_soak)?.charts;
    let chart = charts.charts.iter().find(|chart| chart.kind == ChartKind::Response)?;
    let known = |series: &ChartSeries| {
        let measured = series.values.iter().flatten().count();
        matches!(series.kind, ChartSeriesKind::Quantile(_)) && 2 * measured > series.values.len()
    };
    let series = chart.series.iter().rfind(|series| known(series))?;
    let quantile = lang.track(series.kind);
    let (unit, seconds) = match soak.duration.as_secs_f64() {
        7200.0.. => ("h", 3600.0),
        120.0.. => ("min", 60.0),
        _ => ("s", 1.0),
    };
    // Draw the highest of the values that fall into the same column of pixels.
    let size = charts.times.len().div_ceil(COLUMNS_DRAWN_MAX).max(1);
    let points = charts.times.chunks(size).zip(series.values.chunks(size)).map(|(times, values)| PlotPoint {
        x: times[0] / seconds,
        y: values.iter().flatten().copied().reduce(f64::max),
        tone: Tone::Plain,
    });
    let points = points.collect();
    let x = PlotAxis {
        title: say!(lang, "overview-elapsed", unit),
        unit: ChartUnit::Count,
        logarithmic: false,
        references: Vec::new(),
    };
    let prefix = format!("{quantile} ");
    let y = time_axis(case, say!(lang, "overview-response"), |result| result.objective.starts_with(&prefix));
    let caption = say!(lang, "overview-caption-soak", quantile, duration = lang.span(soak.duration), level);
    let series = vec![PointSeries { label: String::new(), connected: true, points }];
    Some(Picture { caption, plot: Plot::Points { x, y, series } })
}

/// Picture of every step of a search: the level and the p99 of the response time, or the mean if not every step has a
/// p99. A reference line shows the answer.
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
        Some(PlotPoint { x: step.step.level, y: Some(time.as_secs_f64()), tone })
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
