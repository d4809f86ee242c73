//! A cell compared with its baseline, in words

use crate::lang::answer::{PairAnswer, PairFigure};
use crate::page::answer::pairs;
use crate::page::context::PageContext;
use crate::say;
use model::finding::IncomparableReason;
use model::matrix::ChangeVerdict;

/// Pair of this cell and its baseline; `None` if they cannot be compared.
pub(super) fn pair_of<'a>(case: &'a PageContext<'_>, cell: usize) -> Option<PairAnswer<'a>> {
    pairs(case).0.into_iter().find(|pair| pair.level.cell == cell)
}

/// Reason why a cell cannot be compared with its baseline.
pub(super) fn obstacle(case: &PageContext<'_>, cell: usize, baseline: usize) -> String {
    let lang = case.lang;
    let excluded = [cell, baseline].into_iter().find_map(|it| Some((it, case.exclusion(it)?)));
    let (excluded, kind, share) = match excluded {
        Some((cell, IncomparableReason::SlotsExhausted)) => (Some(cell), "slots", None),
        Some((cell, IncomparableReason::ClientsStarved)) => (Some(cell), "starved", None),
        Some((cell, IncomparableReason::Errors { per_thousand })) => {
            (Some(cell), "errors", Some(lang.numbers().percent(per_thousand / 1000.0, 1)))
        }
        None if !case.alike(cell, baseline) => (None, "loads", None),
        None => (None, "unknown", None),
    };
    say!(lang, "overview-obstacle", kind, cell = excluded.map(|it| case.name(it)), share)
}

/// Verdict, as the argument by which messages select their text.
pub(super) fn kind(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Lower => "lower",
        ChangeVerdict::Higher => "higher",
        ChangeVerdict::NoEvidence => "unknown",
        ChangeVerdict::TooFewRuns => "few",
    }
}

/// Verdict on the p99 of a pair that is compared by its throughput, as the argument by which messages select their
/// text.
pub(super) fn p99_kind(pair: &PairAnswer<'_>) -> &'static str {
    let change = pair.p99_change().filter(|_| pair.figure() == PairFigure::Throughput);
    change.map_or("none", |change| kind(change.verdict))
}

/// The p99 of both cells, such as `p99 12.3 ms vs 10.2 ms, higher`; `None` if the p99 of the cell is unknown.
pub(super) fn p99s(case: &PageContext<'_>, pair: &PairAnswer<'_>) -> Option<String> {
    let [p99, base] = [&pair.level, &pair.baseline].map(|level| case.lang.p99(level));
    p99.map(|p99| say!(case.lang, "overview-pair-p99", p99, base, verdict = p99_kind(pair)))
}
