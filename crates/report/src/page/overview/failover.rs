//! First screen of a run that injects faults

use super::{Answer, validity};
use crate::page::context::PageContext;
use crate::say;
use crate::view::{LargeFigure, Picture, Plot, PlotAxis, PlotPoint, PointSeries, ReferenceLine, Tone};
use model::Nanos;
use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::durability::{AccessKind, ClientKind, Conclusion};
use model::fault_injection::{FailoverResult, OutageSummary};
use model::run_result::TrialResult;
use std::cmp::Reverse;

/// Maximum number of trials in the picture.
const TRIALS_DRAWN_MAX: usize = 8;
/// Number of seconds before the fault that the picture shows.
const SECONDS_BEFORE: f64 = 5.0;
const SECONDS_AFTER_MIN: f64 = 10.0;

/// First screen about the cell with the worst conclusion. If several cells have this conclusion, the cell with the most
/// lost writes.
pub(super) fn answer(case: &PageContext<'_>) -> Option<Answer> {
    let rank = |result: &&FailoverResult| {
        let conclusion = match result.conclusion {
            Some(Conclusion::Broken) => 0,
            Some(Conclusion::Unknown) | None => 1,
            Some(Conclusion::Kept) => 2,
        };
        (conclusion, Reverse(result.lost))
    };
    let worst = case.account.failovers.iter().min_by_key(rank)?;
    let lang = case.lang;
    let count = |count: u64| lang.numbers().count(count);
    let has_ledger = worst.conclusion.is_some();
    let several = crate::page::failover::has_several_cells(case);
    let name = several.then(|| case.name(worst.cell).to_owned());
    let (failovers, outage) = (worst.failovers, worst.write_outage());
    let shown =
        |outage: &OutageSummary| lang.lower_bound(lang.time(outage.duration.median), outage.ongoing > 0);
    let time = outage.filter(|it| it.duration.median > Nanos::ZERO).map(shown);
    let summary = match (worst.conclusion, worst.lost) {
        (None, _) => say!(lang, "overview-outage-only", name, failovers, time),
        (Some(Conclusion::Unknown), _) => {
            say!(lang, "overview-loss-unknown", name, failovers, is_read = worst.known_loss() == Some(0))
        }
        (Some(_), 0) => say!(lang, "overview-no-loss", name, failovers, time),
        (Some(conclusion), lost) => {
            let written = count(worst.counts.acknowledged);
            let promised = conclusion == Conclusion::Broken;
            say!(lang, "overview-loss", name, lost = count(lost), written, failovers, promised)
        }
    };
    let loss = has_ledger.then(|| LargeFigure {
        label: say!(lang, "overview-lost-writes"),
        value: worst.known_loss().map_or_else(|| say!(lang, "failover-not-read"), count),
        detail: say!(lang, "overview-of-acknowledged", written = count(worst.counts.acknowledged)),
        tone: match (worst.conclusion, worst.lost) {
            (Some(Conclusion::Broken), _) => Tone::Bad,
            (Some(Conclusion::Kept), 0) => Tone::Good,
            (Some(Conclusion::Kept), _) => Tone::Plain,
            _ => Tone::Doubt,
        },
    });
    let outage = outage.map(|outage| LargeFigure {
        label: say!(
            lang,
            "overview-outage",
            is_new = worst.find_outage(ClientKind::New, AccessKind::Write).is_some()
        ),
        value: shown(outage),
        detail: match outage.ongoing {
            0 => say!(lang, "overview-at-most", time = lang.time(outage.duration.max)),
            trials => say!(lang, "failover-outage-ongoing", trials),
        },
        tone: if outage.ongoing > 0 { Tone::Doubt } else { Tone::Plain },
    });
    let trials = LargeFigure {
        label: say!(lang, "overview-failovers"),
        value: count(u64::from(worst.failovers)),
        detail: match worst.conclusion {
            Some(Conclusion::Kept) if worst.failovers > 0 && worst.lost == 0 => {
                say!(lang, "overview-loss-bound", share = lang.numbers().percent(worst.bound, 0))
            }
            _ => say!(lang, "overview-trials", count = worst.trials),
        },
        tone: Tone::Plain,
    };
    let mut verdict = validity(case);
    if let Some(control) = worst.control {
        verdict.detail += &format!("; {}", say!(lang, "overview-control", lost = control.lost));
        if control.lossy_trials == 0 && verdict.tone == Tone::Good {
            verdict.tone = Tone::Doubt;
        }
    }
    let figures = [loss, outage, Some(trials), Some(verdict)].into_iter().flatten().collect();
    Some(Answer { summary, figures, picture: around_faults(case, worst), doubts: Vec::new() })
}

/// Successful transactions per second around the first fault of each trial, as one line per trial.
fn around_faults(case: &PageContext<'_>, result: &FailoverResult) -> Option<Picture> {
    let lang = case.lang;
    let longest = result.outages.iter().map(|it| it.duration.max).max();
    let longest = longest.unwrap_or_default().as_secs_f64();
    let after = (3.0 * longest).max(SECONDS_AFTER_MIN);
    let trials = case.account.trials.iter().filter(|trial| trial.cell == result.cell);
    let series = |trial: &TrialResult| {
        let fault = trial.fault_injection.as_ref()?.injected.first()?.at.as_secs_f64();
        let rates = trial.charts.charts.iter().find(|chart| chart.kind == ChartKind::Rate)?;
        let delivered =
            rates.series.iter().find(|it| it.kind == ChartSeriesKind::Delivered && it.label.is_none())?;
        let seconds = trial.charts.times.iter().map(|time| time - fault);
        let points: Vec<PlotPoint> = seconds
            .zip(&delivered.values)
            .filter(|(second, _)| (-SECONDS_BEFORE..=after).contains(second))
            .map(|(x, value)| PlotPoint { x, y: *value, tone: Tone::Plain })
            .collect();
        let label = lang.trial("", trial.repetition + 1);
        let is_measured = points.iter().any(|point| point.y.is_some());
        is_measured.then_some(PointSeries { label, connected: true, points })
    };
    let series: Vec<PointSeries> = trials.filter_map(series).take(TRIALS_DRAWN_MAX).collect();
    if series.is_empty() {
        return None;
    }
    let fault = ReferenceLine { value: 0.0, text: say!(lang, "overview-fault"), tone: Tone::Bad };
    let x = PlotAxis {
        title: say!(lang, "overview-seconds-after-fault"),
        unit: ChartUnit::Seconds,
        logarithmic: false,
        references: vec![fault],
    };
    let y = PlotAxis {
        title: say!(lang, "overview-throughput"),
        unit: ChartUnit::PerSecond,
        logarithmic: false,
        references: Vec::new(),
    };
    let caption = say!(lang, "overview-caption-faults", count = series.len());
    Some(Picture { caption, plot: Plot::Points { x, y, series } })
}
