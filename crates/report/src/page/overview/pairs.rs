//! First screen of a run whose cells are compared with baselines

use super::measured::{dots, errors, measured_trials};
use super::pair::{kind, obstacle, p99_kind, p99s};
use super::{Answer, validity, words};
use crate::lang::answer::{PAIRS_SHOWN, PairAnswer, PairFigure};
use crate::page::answer::pairs;
use crate::page::context::PageContext;
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Line, Picture, Plot, PlotAxis, ReferenceLine, Tone};
use model::chart::ChartUnit;
use model::matrix::ChangeVerdict;

/// Minimum number of pairs for this first screen. For a single pair of closed-model cells, the first screen of a
/// measured run is used.
const PAIRS_MIN: usize = 2;
/// Maximum number of figures about pairs.
const FIGURES_MAX: usize = 3;
/// Maximum number of words about pairs. Violated objectives may follow in the same sentence.
const WORDS_MAX: usize = 14;

/// First screen about all pairs; `None` with too few pairs.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let lang = case.lang;
    let (pairs, uncompared) = enough_pairs(case)?;
    let errors = errors(case, &measured_trials(case, |_| true));
    // Show the errors if there is room for the figure, or if any error occurred.
    let errors = errors.filter(|it| pairs.len() < FIGURES_MAX || it.tone != Tone::Good);
    let shown = FIGURES_MAX - usize::from(errors.is_some());
    let figures = shown_pairs(&pairs, shown).into_iter().map(|pair| figure(case, pair));
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

/// Last lines of a command: one sentence per pair, best first; `None` with too few pairs.
pub(super) fn lines(case: &PageContext<'_>) -> Option<Vec<String>> {
    let (pairs, _) = enough_pairs(case)?;
    let shown = shown_pairs(&pairs, PAIRS_SHOWN);
    let mut lines: Vec<String> = shown.into_iter().map(|pair| line(case, pair)).collect();
    let hidden = pairs.len().saturating_sub(PAIRS_SHOWN);
    lines.extend((hidden > 0).then(|| say!(case.lang, "answer-more-pairs", count = hidden) + "."));
    Some(lines)
}

/// All pairs with the number of cells that cannot be compared; `None` if there are too few pairs for this screen.
fn enough_pairs<'a>(case: &'a PageContext<'_>) -> Option<(Vec<PairAnswer<'a>>, usize)> {
    let (pairs, uncompared) = pairs(case);
    let is_enough = pairs.len() >= PAIRS_MIN || pairs.iter().any(|pair| pair.figure() == PairFigure::P99);
    is_enough.then_some((pairs, uncompared))
}

/// The first `count` pairs, best first. If none of them is worse than its baseline but others are, the worst of all
/// pairs is the last one, so that it is not hidden.
fn shown_pairs<'a, 'b>(pairs: &'b [PairAnswer<'a>], count: usize) -> Vec<&'b PairAnswer<'a>> {
    let is_worse = |pair: &&PairAnswer<'_>| pair.is_better() == Some(false);
    let mut shown: Vec<&PairAnswer<'_>> = pairs.iter().take(count).collect();
    if count > 1 && !shown.iter().any(is_worse) {
        let worst = pairs.iter().rfind(is_worse);
        worst.into_iter().zip(shown.last_mut()).for_each(|(worst, last)| *last = worst);
    }
    shown
}

/// Change between the two cells of a pair: ratio, confidence interval and verdict.
type Change = (f64, Option<(f64, f64)>, ChangeVerdict);

/// Change of a pair; `None` if the cells are not comparable.
fn change(pair: &PairAnswer<'_>) -> Option<Change> {
    pair.change().and_then(|it| Some((it.ratio?, it.interval, it.verdict)))
}

/// Figure by which the pairs are compared, as the argument by which messages select their text.
fn figure_kind(pairs: &[PairAnswer<'_>]) -> &'static str {
    let count = pairs.iter().filter(|pair| pair.figure() == PairFigure::P99).count();
    match count {
        0 => "throughput",
        count if count == pairs.len() => "p99",
        _ => "both",
    }
}

fn summary(case: &PageContext<'_>, pairs: &[PairAnswer<'_>]) -> String {
    let lang = case.lang;
    let figure = figure_kind(pairs);
    let is_dull = |pair: &PairAnswer<'_>| {
        change(pair).is_some_and(|(_, _, verdict)| verdict == ChangeVerdict::NoEvidence)
            && !matches!(p99_kind(pair), "lower" | "higher")
    };
    if pairs.iter().all(is_dull) {
        let pairs = say!(lang, "overview-pairs-dull", count = pairs.len());
        return say!(lang, "overview-pairs", pairs, figure);
    }
    let phrases = |count: usize| -> Vec<String> {
        shown_pairs(pairs, count).into_iter().map(|pair| phrase(case, pair)).collect()
    };
    let fits = |parts: &[String]| parts.iter().map(|part| words(part)).sum::<usize>() <= WORDS_MAX;
    let count = (2..=pairs.len()).take_while(|count| fits(&phrases(*count))).last();
    let mut parts = phrases(count.unwrap_or(1));
    let hidden = pairs.len() - parts.len();
    parts.extend((hidden > 0).then(|| say!(lang, "answer-more-pairs", count = hidden)));
    say!(lang, "overview-pairs", pairs = parts.join("; "), figure)
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
        verdict,
        p99 = p99_kind(pair)
    )
}

/// Sentence about a pair, such as `pooled/20: 0.84× direct/20 (95 % CI 0.83 to 0.85), lower; p99 12.3 ms vs 10.2 ms.`
fn line(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> String {
    let (lang, name, baseline) = (case.lang, pair.level.name, pair.baseline.name);
    let Some((ratio, interval, verdict)) = change(pair) else {
        let [rate, base] = [&pair.level, &pair.baseline].map(|level| super::rate(case, level.tps));
        let reason = obstacle(case, pair.level.cell, pair.baseline.cell);
        return say!(lang, "overview-not-compared", name, rate, baseline, base, reason);
    };
    let ratio = lang.numbers().fixed(ratio, 2);
    let [low, high] = ends(case, interval);
    let (figure, verdict, p99) = (figure_kind(&[*pair]), kind(verdict), p99s(case, pair));
    say!(lang, "overview-pair-line", name, figure, baseline, ratio, low, high, verdict, p99)
}

fn ends(case: &PageContext<'_>, interval: Option<(f64, f64)>) -> [Option<String>; 2] {
    match interval {
        Some((low, high)) => [low, high].map(|end| Some(case.lang.numbers().fixed(end, 2))),
        None => [None, None],
    }
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
                _ => change_tone(pair),
            };
            let figure = figure_kind(&[*pair]);
            (
                say!(lang, "overview-pair-ratio", figure, ratio = lang.numbers().fixed(ratio, 2)),
                comparison,
                tone,
            )
        }
        None => {
            let value = super::rate(case, pair.level.tps);
            let reason = obstacle(case, pair.level.cell, pair.baseline.cell);
            (value, say!(lang, "overview-pair-not-compared", reason), Tone::Doubt)
        }
    };
    let parts = [Some(comparison), p99s(case, pair)];
    let detail = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ");
    LargeFigure { label, value, detail, tone }
}

fn change_tone(pair: &PairAnswer<'_>) -> Tone {
    match pair.is_better() {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Plain,
    }
}

/// Picture of the ratio of each pair, with a reference line at 1; `None` if no pair has a ratio.
fn ratios(case: &PageContext<'_>, pairs: &[PairAnswer<'_>]) -> Option<Picture> {
    let lang = case.lang;
    let row = |pair: &PairAnswer<'_>| {
        let (ratio, interval, _) = change(pair)?;
        let figure = figure_kind(&[*pair]);
        Some(IntervalRow {
            label: say!(lang, "overview-pair", name = pair.level.name, baseline = pair.baseline.name),
            value: ratio,
            interval,
            text: say!(lang, "overview-pair-ratio", figure, ratio = lang.numbers().fixed(ratio, 2)),
            tone: change_tone(pair),
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = pairs.iter().filter_map(row).collect();
    let figure = figure_kind(pairs);
    let caption = match rows.iter().any(|row| row.interval.is_some()) {
        true => say!(lang, "overview-caption-pairs", figure),
        false => say!(lang, "overview-caption-pair-medians", figure),
    };
    let equal = ReferenceLine { value: 1.0, text: say!(lang, "overview-pair-equal"), tone: Tone::Plain };
    let axis = PlotAxis {
        title: say!(lang, "overview-pair-axis", figure),
        unit: ChartUnit::Count,
        logarithmic: false,
        references: vec![equal],
    };
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}
