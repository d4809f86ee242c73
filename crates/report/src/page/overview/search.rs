//! First screen of a search for the maximum, and of a soak

use super::measured::errors;
use super::{Answer, WORDS_MAX, interval, metric_of, objectives, time_axis, validity, words};
use crate::page::context::PageContext;
use crate::page::maximum::capitalise;
use crate::say;
use crate::view::{LargeFigure, Line, Picture, Plot, PlotAxis, PlotPoint, PointSeries, ReferenceLine, Tone};
use model::Nanos;
use model::chart::{ChartKind, ChartSeries, ChartSeriesKind, ChartUnit};
use model::objective::{ObjectiveResult, ObjectiveVerdict};
use model::plan::LoadScale;
use model::run_result::TrialResult;
use model::search::{
    Cause, LevelOutcome, LevelTrials, Limit, Maximum, OverloadReason, SearchResult, SearchStep, SoakResult,
    StepPurpose, StepResult, TrendVerdict,
};

/// Maximum number of points of a line, about as many as the picture has columns of pixels.
const COLUMNS_DRAWN_MAX: usize = 400;

/// First screen about the cell with the highest maximum, or about the soak if the run did not search.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let maxima = &case.account.maxima;
    let level = |maximum: &&Maximum| maximum.answer.level.unwrap_or(f64::NEG_INFINITY);
    // Rates and numbers of clients are not comparable, so use only the cells with the scale of the first cell.
    let comparable = maxima.iter().filter(|it| it.answer.scale == maxima[0].answer.scale);
    let best = comparable.reduce(|best, other| if level(&other) > level(&best) { other } else { best });
    match (best, case.account.soaks.first()) {
        (Some(best), None) => Some(maximum(case, best)),
        (maximum, Some(held)) => Some(soak(case, held, maximum)),
        (None, None) => None,
    }
}

fn maximum(case: &PageContext<'_>, maximum: &Maximum) -> Answer {
    let lang = case.lang;
    let result = &maximum.answer;
    let several = case.account.experiment.cells.len() > 1;
    let name = several.then(|| case.name(maximum.cell).to_owned());
    let cause = limit(maximum).map(|limit| lang.limit(limit));
    let summary = match result.level {
        Some(level) => {
            let whole = answer_sentence(case, maximum, level, cause);
            // Omit the limit if its name is long, because the sentence would be hard to read.
            if words(&whole) > WORDS_MAX { answer_sentence(case, maximum, level, None) } else { whole }
        }
        None if super::is_running(case) => {
            say!(lang, "overview-searching", name, known = known_levels(case, result))
        }
        None => say!(lang, "overview-no-maximum", name, known = known_levels(case, result)),
    };
    let (mut sustained, failed) = levels(case, result);
    if result.level.is_some() && result.confirmations.0 < result.confirmations.1 {
        sustained.tone = Tone::Doubt;
    }
    let holds = holds(maximum);
    let slowest = slowest(case, maximum, &holds);
    let is_hold = |trial: &&TrialResult| {
        let step = trial.step.as_ref().filter(|step| step.perturbation.is_none());
        trial.valid
            && trial.cell == maximum.cell
            && step.is_some_and(|it| it.purpose == StepPurpose::Hold && is_at_answer(maximum, it))
    };
    let held: Vec<&TrialResult> = case.account.trials.iter().filter(is_hold).collect();
    let errors = errors(case, &held);
    let objective = objective_of(case).filter(|_| result.level.is_none()).map(|objective| LargeFigure {
        label: say!(lang, "overview-objective", count = 1_u64),
        value: objective,
        ..LargeFigure::default()
    });
    let figures = [Some(sustained), failed.or(slowest), errors.or(objective), Some(validity(case))];
    Answer {
        summary,
        figures: figures.into_iter().flatten().collect(),
        picture: steps(case, maximum, Vec::new()),
        doubts: doubts(case, result),
    }
}

/// Sentence about the maximum. If a trial at the maximum failed, the sentence also states the highest lower level that
/// was sustained in every trial.
fn answer_sentence(case: &PageContext<'_>, maximum: &Maximum, level: f64, limit: Option<String>) -> String {
    let lang = case.lang;
    let result = &maximum.answer;
    let several = case.account.experiment.cells.len() > 1;
    let name = several.then(|| case.name(maximum.cell).to_owned());
    let proven = matches!(maximum.cause, Cause::Proven { .. });
    let at_least = result.stop_reason.is_some();
    let (confirmed, confirmations) = result.confirmations;
    let (held, total) = match &result.sustained {
        Some(trials) if trials.level == level => (trials.sustained, trials.trials),
        _ => (confirmed, confirmations),
    };
    if confirmed == confirmations || at_least {
        let level = lang.level(result.scale, level);
        return say!(lang, "overview-maximum", name, level, at_least, limit, proven);
    }
    let lower = result.fully_sustained.map(|lower| {
        let text = short_level(case, result.scale, lower.level);
        say!(lang, "overview-mixed-lower", level = text, total = lower.trials)
    });
    let objective = violated_objective(maximum);
    let level = short_level(case, result.scale, level);
    say!(lang, "overview-mixed", name, objective, lower, level, held, total, limit, proven)
}

/// Objective whose violation is the only reason why trials at the maximum failed.
fn violated_objective(maximum: &Maximum) -> Option<&str> {
    let failed = maximum.steps.iter().filter(|step| is_at_answer(maximum, &step.step));
    let mut reasons = failed.filter_map(|step| match &step.outcome {
        LevelOutcome::NotSustained { reason } => Some(reason),
        LevelOutcome::Sustained | LevelOutcome::Invalid { .. } => None,
    });
    let first = reasons.next()?;
    let OverloadReason::Objective { text } = first else { return None };
    reasons.all(|reason| reason == first).then_some(text.as_str())
}

/// Figure for the longest response time of the confirming steps. The quantile is that of the objective; without an
/// objective, p99.
fn slowest(case: &PageContext<'_>, maximum: &Maximum, holds: &[&StepResult]) -> Option<LargeFigure> {
    let lang = case.lang;
    let (held, total) = maximum.answer.confirmations;
    let tone = |met, count| if met < count { Tone::Doubt } else { Tone::Good };
    if let Some(objective) = drawn_objective(holds) {
        let judged: Vec<&ObjectiveResult> =
            holds.iter().filter_map(|step| result_of(step, objective)).collect();
        let met = judged.iter().filter(|it| it.verdict == ObjectiveVerdict::Met).count();
        let measured = judged.iter().filter_map(|it| Some((it.measured?, it.is_lower_bound)));
        let (time, is_lower_bound) = measured.reduce(|most, it| if it.0 > most.0 { it } else { most })?;
        let total = holds.len();
        return Some(LargeFigure {
            label: say!(lang, "overview-time-holds", metric = metric_of(objective)),
            value: super::time(case, Nanos::from_secs_f64(time), is_lower_bound),
            detail: say!(lang, "overview-objective-holds", objective, met, total),
            tone: tone(met, total),
        });
    }
    let p99 = holds.iter().filter_map(|step| step.p99).max()?;
    Some(LargeFigure {
        label: say!(lang, "overview-time-holds", metric = "p99"),
        value: lang.time(p99),
        detail: say!(lang, "overview-holds", held, total),
        tone: if held < total { Tone::Doubt } else { Tone::Plain },
    })
}

/// Lines about an incomplete search: the reason, what the user can do, and the number of cells with a result.
fn doubts(case: &PageContext<'_>, result: &SearchResult) -> Vec<Line> {
    let lang = case.lang;
    let doubt = |text| Line { text, tone: Tone::Doubt };
    let reason = result.stop_reason.as_ref().map(|reason| {
        let remedy = lang.search_remedy(reason).map_or(String::new(), |remedy| format!(" {remedy}"));
        doubt(capitalise(&lang.search_stop_reason(reason, result.scale)) + "." + &remedy)
    });
    let maxima = &case.account.maxima;
    let answered = maxima.iter().filter(|it| it.answer.level.is_some()).count();
    let cells = (maxima.len() > 1 && answered < maxima.len())
        .then(|| doubt(capitalise(&lang.answered_cells(answered, maxima.len())) + "."));
    reason.into_iter().chain(cells).collect()
}

/// Figure for the maximum. Without a maximum, figures for the highest sustained level and for the lowest level that was
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

/// Confirming steps at the maximum. With several rounds, the confirming steps of each round at its own maximum.
fn holds(maximum: &Maximum) -> Vec<&StepResult> {
    let confirming =
        |it: &&StepResult| it.step.purpose == StepPurpose::Hold && is_at_answer(maximum, &it.step);
    maximum.steps.iter().filter(confirming).collect()
}

/// True if the step's level is the maximum that a round found.
fn is_at_answer(maximum: &Maximum, step: &SearchStep) -> bool {
    step.purpose != StepPurpose::Rest && maximum.rounds.iter().any(|it| it.level == Some(step.level))
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
    let trials: Vec<&TrialResult> = soak_trials(case, soak).filter(|trial| trial.valid).collect();
    let errors = errors(case, &trials);
    // Four figures fit on the first screen.
    let trends_or_errors = trends.or(errors);
    let figures = [Some(held), trends_or_errors, objectives, Some(validity(case))];
    let reference = ReferenceLine {
        value: soak.level,
        text: say!(lang, "overview-level"),
        tone: if tone == Tone::Doubt { Tone::Plain } else { tone },
    };
    let picture = match searched {
        Some(maximum) => steps(case, maximum, vec![reference]),
        None => over_time(case, soak, short_level(case, scale, soak.level)),
    };
    Answer { summary, figures: figures.into_iter().flatten().collect(), picture, doubts: Vec::new() }
}

/// Trials that held the level of a soak.
fn soak_trials<'a>(case: &PageContext<'a>, soak: &SoakResult) -> impl Iterator<Item = &'a TrialResult> {
    let (cell, purpose) = (soak.cell, soak.purpose);
    let is_soak = move |trial: &&TrialResult| {
        trial.cell == cell && trial.step.as_ref().is_none_or(|step| step.purpose == purpose)
    };
    case.account.trials.iter().filter(is_soak)
}

/// Picture of a response-time quantile during a soak at this level. It is the highest quantile that is known in most
/// seconds; quantiles with an objective are preferred.
fn over_time(case: &PageContext<'_>, soak: &SoakResult, level: String) -> Option<Picture> {
    let lang = case.lang;
    let charts = &soak_trials(case, soak).last()?.charts;
    let chart = charts.charts.iter().find(|chart| chart.kind == ChartKind::Response)?;
    let known = |series: &ChartSeries| {
        let measured = series.values.iter().flatten().count();
        matches!(series.kind, ChartSeriesKind::Quantile(_)) && 2 * measured > series.values.len()
    };
    let objectives = || case.account.trials.iter().flat_map(|trial| &trial.objectives);
    let is_judged = |series: &&ChartSeries| {
        let quantile = lang.track(series.kind);
        known(series) && objectives().any(|it| metric_of(&it.objective) == quantile)
    };
    let judged = chart.series.iter().rfind(is_judged);
    let series = judged.or_else(|| chart.series.iter().rfind(|series| known(series)))?;
    let quantile = lang.track(series.kind);
    let (unit, seconds) = match soak.duration.as_secs_f64() {
        7200.0.. => ("h", 3600.0),
        120.0.. => ("min", 60.0),
        _ => ("s", 1.0),
    };
    // Of the values in one column of pixels, draw the highest.
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
    let y = time_axis(case, say!(lang, "overview-response"), |it| metric_of(&it.objective) == quantile);
    let caption = say!(lang, "overview-caption-soak", quantile, duration = lang.span(soak.duration), level);
    let series = vec![PointSeries { label: String::new(), connected: true, points }];
    Some(Picture { caption, plot: Plot::Points { x, y, series } })
}

/// Objective on a response time that is known in all steps. Of several such objectives, the one that most steps
/// violated.
fn drawn_objective<'a>(steps: &[&'a StepResult]) -> Option<&'a str> {
    let first = steps.first()?;
    let known = |text: &&str| {
        let measured = |step: &&StepResult| result_of(step, text).and_then(|result| result.measured);
        steps.iter().all(|step| measured(step).is_some_and(|value| value > 0.0))
    };
    let violated = |text: &str| {
        let results = steps.iter().filter_map(|step| result_of(step, text));
        results.filter(|it| it.verdict == ObjectiveVerdict::Violated).count()
    };
    let texts = first.time_objectives.iter().map(|it| it.objective.as_str()).filter(known);
    // Among equal objectives, choose the first.
    texts.reduce(|most, it| if violated(it) > violated(most) { it } else { most })
}

/// Result of the objective with this text.
fn result_of<'a>(step: &'a StepResult, text: &str) -> Option<&'a ObjectiveResult> {
    step.time_objectives.iter().find(|it| it.objective == text)
}

/// Picture of every step of a search: its level and its response time. The response time is that of an objective; if it
/// is not known in every step, the p99 or the mean. A reference line shows the maximum.
fn steps(case: &PageContext<'_>, maximum: &Maximum, more: Vec<ReferenceLine>) -> Option<Picture> {
    let lang = case.lang;
    let scale = maximum.answer.scale;
    let measured: Vec<&StepResult> =
        maximum.steps.iter().filter(|step| step.step.scale == scale && step.mean.is_some()).collect();
    let objective = drawn_objective(&measured);
    let with_p99 = measured.iter().all(|step| step.p99.is_some());
    let point = |step: &&StepResult| {
        let tone = match step.outcome {
            LevelOutcome::Sustained => Tone::Good,
            LevelOutcome::NotSustained { .. } => Tone::Bad,
            LevelOutcome::Invalid { .. } => Tone::Faint,
        };
        let time = match objective {
            Some(objective) => result_of(step, objective)?.measured,
            None if with_p99 => step.p99.map(Nanos::as_secs_f64),
            None => step.mean.map(Nanos::as_secs_f64),
        };
        Some(PlotPoint { x: step.step.level, y: Some(time.filter(|time| *time > 0.0)?), tone })
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
    let count = points.len();
    let (caption, y_title) = match objective.map(metric_of).or(with_p99.then_some("p99")) {
        Some("mean") | None => (say!(lang, "overview-caption-means", count), say!(lang, "overview-mean")),
        Some(metric) => {
            (say!(lang, "overview-caption-steps", metric, count), say!(lang, "overview-metric", metric))
        }
    };
    let results = measured.iter().filter_map(|step| result_of(step, objective?));
    let is_violated = results.clone().any(|it| it.verdict == ObjectiveVerdict::Violated);
    let bound = results.map(|it| it.bound).next().zip(objective).map(|(value, objective)| ReferenceLine {
        value,
        text: objective.to_owned(),
        tone: if is_violated { Tone::Bad } else { Tone::Good },
    });
    let y = PlotAxis {
        title: y_title,
        unit: ChartUnit::Seconds,
        logarithmic: true,
        references: bound.into_iter().collect(),
    };
    let series = vec![PointSeries { label: String::new(), connected: false, points }];
    Some(Picture { caption, plot: Plot::Points { x, y, series } })
}
