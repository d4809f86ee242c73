//! First screen of a page: figures, picture and doubts

mod failover;
mod measured;
mod pair;
mod pairs;
mod plateau;
mod search;

use super::caveats;
use super::context::PageContext;
use crate::say;
use crate::view::{LargeFigure, Line, Overview, Picture, PlotAxis, ReferenceLine, Tone};
use model::Nanos;
use model::chart::ChartUnit;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict};
use model::plan::Goal;
use model::run_result::RunState;
use model::search::{LevelOutcome, SoakResult};
use model::validity::Verdict;

/// Maximum number of doubts on the first screen.
const DOUBTS_MAX: usize = 3;
/// Maximum number of words in the sentence of the first screen.
const WORDS_MAX: usize = 25;

/// Parts of a first screen that depend on the kind of the run.
struct Answer {
    summary: String,
    figures: Vec<LargeFigure>,
    picture: Option<Picture>,
    /// Doubts that come before those of the trials.
    doubts: Vec<Line>,
}

/// Builds the first screen; `None` as long as no result is known. It has the tone of the whole answer.
pub fn overview(case: &PageContext<'_>) -> Option<Overview> {
    let answer = match case.account.experiment.goal {
        Goal::Failover => failover::answer(case),
        Goal::Max(_) | Goal::Confirm(_) | Goal::Soak(_) => search::answer(case),
        Goal::Sweep(_) => plateau::answer(case).or_else(|| measured::answer(case)),
        Goal::Once => pairs::answer(case).or_else(|| measured::answer(case)),
    }?;
    let Line { text: details, tone } = super::answer::answer(case, &[]);
    // The answer of a run in progress is not final, and neither good nor bad.
    let tone = match tone {
        _ if is_running(case) => Tone::Plain,
        Tone::Good if validity(case).tone != Tone::Good => Tone::Doubt,
        tone => tone,
    };
    let Answer { summary, figures, picture, mut doubts } = answer;
    doubts.extend(caveats::lines(case));
    doubts.retain(|line| matches!(line.tone, Tone::Bad | Tone::Doubt));
    let hidden = doubts.len().saturating_sub(DOUBTS_MAX);
    doubts.truncate(DOUBTS_MAX);
    let more_doubts = match hidden {
        0 => String::new(),
        count => say!(case.lang, "overview-more-doubts", count),
    };
    let objectives = objective_sentence(case).map_or(String::new(), |sentence| format!(" {sentence}"));
    let summary = Line { text: summary + &objectives, tone };
    let doubts_section = "doubts";
    Some(Overview { summary, figures, picture, doubts, more_doubts, doubts_section, details })
}

/// Answer of a run in the last lines of a command: one line per pair of cells, or the sentence of the first screen.
pub fn lines(case: &PageContext<'_>, overview: &Overview) -> Vec<String> {
    let pairs = if case.account.experiment.goal == Goal::Once { pairs::lines(case) } else { None };
    match pairs {
        Some(lines) => lines.into_iter().chain(objective_sentence(case)).collect(),
        None => vec![overview.summary.text.clone()],
    }
}

/// Number of words, without punctuation marks and operators.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|it| it.contains(char::is_alphanumeric)).count()
}

/// True if the run is in progress.
fn is_running(case: &PageContext<'_>) -> bool {
    case.account.info.state == RunState::Running
}

/// Sentence about violated objectives. `None` if no objective is violated, or if a soak's measurement is invalid. Also
/// `None` in a search, because search steps violate objectives by design.
fn objective_sentence(case: &PageContext<'_>) -> Option<String> {
    let all = &case.account.matrix.objectives;
    let count = all.iter().filter(|summary| summary.violated > 0).count();
    let searched = case.account.experiment.goal.max_search().is_some();
    let is_invalid = |soak: &SoakResult| matches!(soak.outcome, LevelOutcome::Invalid { .. });
    (count > 0 && !searched && !case.account.soaks.iter().any(is_invalid))
        .then(|| say!(case.lang, "overview-objectives-violated", count, total = all.len()))
}

/// Figure about the validity of the trials.
pub(super) fn validity(case: &PageContext<'_>) -> LargeFigure {
    let lang = case.lang;
    let ended: Vec<_> = case.account.trials.iter().filter(|trial| trial.status.is_some()).collect();
    let valid = ended.iter().filter(|trial| trial.valid).count();
    let matrix = &case.account.matrix;
    // True if any trial counts. In a search without a result, no trial counts.
    let is_measured = matrix.rows.iter().any(|row| !row.trials.is_empty());
    let verdict = match valid {
        _ if is_measured => matrix.verdict,
        0 => Verdict::Invalid,
        _ => Verdict::ValidWithDoubts,
    };
    let (value, tone) = match verdict {
        Verdict::Invalid => (say!(lang, "overview-invalid"), Tone::Bad),
        Verdict::ValidWithDoubts => (say!(lang, "overview-doubtful"), Tone::Doubt),
        Verdict::Valid => (say!(lang, "overview-valid"), Tone::Good),
    };
    let detail = say!(lang, "overview-valid-trials", valid, total = ended.len());
    LargeFigure { label: say!(lang, "overview-verdict"), value, detail, tone }
}

/// Figure about the objectives; `None` without objectives.
fn objectives(case: &PageContext<'_>) -> Option<LargeFigure> {
    let (lang, all) = (case.lang, &case.account.matrix.objectives);
    let first = all.first()?;
    let violated = all.iter().filter(|summary| summary.violated > 0).count();
    let unknown = all.iter().filter(|summary| summary.violated == 0 && summary.unknown > 0).count();
    let (value, tone) = match (violated, unknown) {
        (0, 0) => (say!(lang, "overview-met"), Tone::Good),
        (0, _) => (say!(lang, "overview-undecided"), Tone::Doubt),
        _ => (say!(lang, "overview-violated"), Tone::Bad),
    };
    let detail = match (all.len(), violated, unknown) {
        (1, ..) => first.objective.clone(),
        (total, 0, 0) => say!(lang, "overview-all-objectives", total),
        (total, 0, count) | (total, count, _) => say!(lang, "overview-objectives", count, total),
    };
    Some(LargeFigure { label: say!(lang, "overview-objective", count = all.len()), value, detail, tone })
}

/// Metric of an objective as the user wrote it, with its operation: `p95` or `buy: p95`.
fn metric_of(objective: &str) -> &str {
    objective.split(['<', '>']).next().unwrap_or_default().trim()
}

/// Text of an objective and its verdict, such as `p99 < 200ms: met`.
fn objective_text(case: &PageContext<'_>, objective: &str, verdict: ObjectiveVerdict) -> String {
    let verdict = match verdict {
        ObjectiveVerdict::Met => "met",
        ObjectiveVerdict::Violated => "violated",
        ObjectiveVerdict::Unknown => "undecided",
    };
    say!(case.lang, "overview-objective-verdict", objective, verdict)
}

/// Rate with its unit.
fn rate(case: &PageContext<'_>, rate: f64) -> String {
    case.lang.numbers().three(rate) + &case.lang.numbers().per_second
}

/// Formats a time. A lower bound is marked.
fn time(case: &PageContext<'_>, time: Nanos, is_lower_bound: bool) -> String {
    let text = case.lang.time(time);
    if is_lower_bound { format!(">{}{text}", case.lang.numbers().gap) } else { text }
}

/// Confidence interval of a rate; empty if unknown.
fn interval(case: &PageContext<'_>, interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| {
        let [low, high] = [low, high].map(|end| case.lang.numbers().three(end));
        say!(case.lang, "overview-interval", low, high)
    })
}

/// Axis of response times, with the bounds of the objectives whose text `shown` accepts.
fn time_axis(case: &PageContext<'_>, title: String, shown: impl Fn(&ObjectiveResult) -> bool) -> PlotAxis {
    let mut references: Vec<ReferenceLine> = Vec::new();
    let results = case.account.trials.iter().flat_map(|trial| &trial.objectives);
    for result in results.filter(|result| result.unit == ObjectiveUnit::Seconds && shown(result)) {
        let violated = result.verdict == ObjectiveVerdict::Violated;
        let tone = if violated { Tone::Bad } else { Tone::Good };
        match references.iter_mut().find(|line| line.text == result.objective) {
            Some(line) if violated => line.tone = Tone::Bad,
            Some(_) => {}
            None => {
                references.push(ReferenceLine { value: result.bound, text: result.objective.clone(), tone });
            }
        }
    }
    PlotAxis { title, unit: ChartUnit::Seconds, logarithmic: true, references }
}
