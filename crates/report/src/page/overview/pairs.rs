//! First screen of a run whose cells are compared with baselines of their own

use super::measured::{dots, errors, measured_trials};
use super::{Answer, validity, words};
use crate::lang::answer::{PAIRS_SHOWN, PairAnswer};
use crate::page::answer::pairs;
use crate::page::context::PageContext;
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Line, Picture, Plot, PlotAxis, ReferenceLine, Tone};
use model::chart::ChartUnit;
use model::matrix::ChangeVerdict;

/// Minimum number of pairs for this first screen. A single pair has the first screen of its two cells.
const PAIRS_MIN: usize = 2;
/// Maximum number of figures about pairs.
const FIGURES_MAX: usize = 3;
/// Maximum number of words about pairs in the sentence, which may go on with violated objectives.
const WORDS_MAX: usize = 14;

/// First screen about all pairs; `None` with fewer than two pairs.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let lang = case.lang;
    let (pairs, uncompared) = pairs(case);
    if pairs.len() < PAIRS_MIN {
        return None;
    }
    let errors = errors(case, &measured_trials(case, |_| true));
    // Errors are shown if there is room for them, or if there are any.
    let errors = errors.filter(|it| pairs.len() < FIGURES_MAX || it.tone != Tone::Good);
    let shown = FIGURES_MAX - usize::from(errors.is_some());
    let figures = pairs.iter().take(shown).map(|pair| figure(case, pair));
    let figures = figures.chain(errors).chain([validity(case)]).collect();
    let unmeasured = (uncompared > 0)
        .then(|| Line { text: say!(lang, "answer-uncompared", count = uncompared), tone: Tone::Doubt });
    Some(Answer {
        summary: summary(case, &pairs),
        figures,
        picture: ratios(case, &pairs).or_else(|| dots(case)),
        doubts: unmeasured.into_iter().collect(),
    })
}

/// Last lines of a command: one sentence per pair, best first; `None` with fewer than two pairs.
pub(super) fn lines(case: &PageContext<'_>) -> Option<Vec<String>> {
    let (pairs, _) = pairs(case);
    if pairs.len() < PAIRS_MIN {
        return None;
    }
    let mut lines: Vec<String> = pairs.iter().take(PAIRS_SHOWN).map(|pair| line(case, pair)).collect();
    let hidden = pairs.len().saturating_sub(PAIRS_SHOWN);
    lines.extend((hidden > 0).then(|| say!(case.lang, "answer-more-pairs", count = hidden) + "."));
    Some(lines)
}

/// Ratio of throughputs, its interval and its verdict.
type Change = (f64, Option<(f64, f64)>, ChangeVerdict);

/// Change of a pair; `None` if the cells are not comparable.
fn change(pair: &PairAnswer<'_>) -> Option<Change> {
    pair.change().and_then(|it| Some((it.ratio?, it.interval, it.verdict)))
}

/// The verdict as messages select it.
fn kind(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Lower => "lower",
        ChangeVerdict::Higher => "higher",
        ChangeVerdict::NoEvidence => "unknown",
        ChangeVerdict::TooFewRuns => "few",
    }
}

fn summary(case: &PageContext<'_>, pairs: &[PairAnswer<'_>]) -> String {
    let lang = case.lang;
    let is_dull = |pair: &PairAnswer<'_>| {
        change(pair).is_some_and(|(_, _, verdict)| verdict == ChangeVerdict::NoEvidence)
    };
    if pairs.iter().all(is_dull) {
        let pairs = say!(lang, "overview-pairs-dull", count = pairs.len());
        return say!(lang, "overview-pairs", pairs);
    }
    let mut parts: Vec<String> = Vec::new();
    let mut length = 0;
    for pair in pairs {
        let part = phrase(case, pair);
        length += words(&part);
        if length > WORDS_MAX && !parts.is_empty() {
            break;
        }
        parts.push(part);
    }
    let hidden = pairs.len() - parts.len();
    parts.extend((hidden > 0).then(|| say!(lang, "answer-more-pairs", count = hidden)));
    say!(lang, "overview-pairs", pairs = parts.join("; "))
}

fn phrase(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> String {
    let (ratio, verdict) = match change(pair) {
        Some((ratio, _, verdict)) => (Some(case.lang.numbers().fixed(ratio, 2)), kind(verdict)),
        None => (None, "none"),
    };
    say!(
        case.lang,
        "overview-pair-phrase",
        name = pair.level.name,
        baseline = pair.baseline.name,
        ratio,
        verdict
    )
}

/// `pooled/20: 0.84× direct/20 (95 % CI 0.83 to 0.85), lower; p99 12.3 ms vs 10.2 ms.`
fn line(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> String {
    let (lang, name, baseline) = (case.lang, pair.level.name, pair.baseline.name);
    let Some((ratio, interval, verdict)) = change(pair) else {
        let [rate, base] = [&pair.level, &pair.baseline].map(|level| super::rate(case, level.tps));
        return say!(lang, "overview-not-compared", name, rate, baseline, base);
    };
    let ratio = lang.numbers().fixed(ratio, 2);
    let [low, high] = ends(case, interval);
    let p99 = p99s(case, pair);
    say!(lang, "overview-pair-line", name, baseline, ratio, low, high, verdict = kind(verdict), p99)
}

fn ends(case: &PageContext<'_>, interval: Option<(f64, f64)>) -> [Option<String>; 2] {
    match interval {
        Some((low, high)) => [low, high].map(|end| Some(case.lang.numbers().fixed(end, 2))),
        None => [None, None],
    }
}

/// `p99 12.3 ms vs 10.2 ms`; `None` if the p99 of the cell is unknown.
fn p99s(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> Option<String> {
    let [p99, base] = [&pair.level, &pair.baseline].map(|level| case.lang.p99(level));
    p99.map(|p99| say!(case.lang, "overview-pair-p99", p99, base))
}

fn figure(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> LargeFigure {
    let lang = case.lang;
    let label = say!(lang, "overview-pair", name = pair.level.name, baseline = pair.baseline.name);
    let (value, comparison, tone) = match change(pair) {
        Some((ratio, interval, verdict)) => {
            let [low, high] = ends(case, interval);
            let runs = pair.level.runs.min(pair.baseline.runs);
            let comparison =
                say!(lang, "overview-pair-detail", verdict = kind(verdict), low, high, count = runs);
            let tone = match verdict {
                ChangeVerdict::TooFewRuns => Tone::Doubt,
                verdict => change_tone(verdict),
            };
            (say!(lang, "overview-pair-ratio", ratio = lang.numbers().fixed(ratio, 2)), comparison, tone)
        }
        None => {
            let value = super::rate(case, pair.level.tps);
            (value, say!(lang, "overview-pair-not-compared"), Tone::Doubt)
        }
    };
    let parts = [Some(comparison), p99s(case, pair)];
    let detail = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ");
    LargeFigure { label, value, detail, tone }
}

fn change_tone(verdict: ChangeVerdict) -> Tone {
    match verdict {
        ChangeVerdict::Higher => Tone::Good,
        ChangeVerdict::Lower => Tone::Bad,
        ChangeVerdict::NoEvidence | ChangeVerdict::TooFewRuns => Tone::Plain,
    }
}

/// Picture of the ratio of each pair, with a reference line at 1; `None` if no pair has a ratio.
fn ratios(case: &PageContext<'_>, pairs: &[PairAnswer<'_>]) -> Option<Picture> {
    let lang = case.lang;
    let row = |pair: &PairAnswer<'_>| {
        let (ratio, interval, verdict) = change(pair)?;
        Some(IntervalRow {
            label: say!(lang, "overview-pair", name = pair.level.name, baseline = pair.baseline.name),
            value: ratio,
            interval,
            text: say!(lang, "overview-pair-ratio", ratio = lang.numbers().fixed(ratio, 2)),
            tone: change_tone(verdict),
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = pairs.iter().filter_map(row).collect();
    let caption = match rows.iter().any(|row| row.interval.is_some()) {
        true => say!(lang, "overview-caption-pairs"),
        false => say!(lang, "overview-caption-pair-medians"),
    };
    let equal = ReferenceLine { value: 1.0, text: say!(lang, "overview-pair-equal"), tone: Tone::Plain };
    let axis = PlotAxis {
        title: say!(lang, "overview-pair-axis"),
        unit: ChartUnit::Count,
        logarithmic: false,
        references: vec![equal],
    };
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}
