//! Findings on pairs of cells with the same setup: open and closed loop, or two feeds

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::figure::read_figure;
use crate::facts::samples::{self, growth};
use model::finding::{CellResponse, ReadVolume};
use model::matrix::Figure;
use model::plan::{Operation, Setup};

/// Ratio of two p99 values above which the cells describe different systems. It exceeds 1.5 because repeated runs on a
/// busy machine differ by half.
const TAIL_RATIO_MIN: f64 = 2.0;
/// Ratio of two throughputs above which the cells describe different systems. Throughput varies less than p99.
const RATE_RATIO_MIN: f64 = 1.5;

/// Findings on open-loop cells whose p99 is much higher than in the closed-loop cell of the same setup with the highest
/// throughput. If the open-loop p99 is lower, the closed loop hides nothing.
pub fn open_and_closed(cells: &[CellTrials<'_>]) -> Vec<Finding> {
    // A step of a search may use a different load model than the cell's load.
    let is_open = |cell: &CellTrials<'_>| cell.trials.iter().any(|it| it.setup.load.model.is_open());
    let open = cells.iter().filter(|it| is_open(it));
    let one = |cell: &CellTrials<'_>| {
        let is_alternative = |it: &&CellTrials<'_>| !is_open(it) && same_but_model(it.setup, cell.setup);
        let known =
            cells.iter().filter(is_alternative).filter_map(|it| Some((it.number, cell_response(it)?)));
        let (other_cell, closed) = known.max_by(|a, b| a.1.delivered.total_cmp(&b.1.delivered))?;
        let open = cell_response(cell)?;
        let offered = cell.median(offered_rate)?;
        (open.p99? > TAIL_RATIO_MIN * closed.p99?).then_some(Finding::OpenAndClosed {
            cell: cell.number,
            other_cell,
            offered,
            open,
            closed,
        })
    };
    open.filter_map(one).collect()
}

/// Findings on pairs of cells whose setups differ only in one feed, but whose results differ much.
pub fn feeds_differ(cells: &[CellTrials<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, other_cell) in cells.iter().enumerate() {
        for cell in &cells[at + 1..] {
            found.extend(feed_differs(cell, other_cell));
        }
    }
    found
}

fn feed_differs(cell: &CellTrials<'_>, other_cell: &CellTrials<'_>) -> Option<Finding> {
    let (setup, other_setup) = (cell.setup, other_cell.setup);
    let same = *setup == Setup { feeds: setup.feeds.clone(), ..other_setup.clone() };
    if !same || setup.feeds.len() != other_setup.feeds.len() {
        return None;
    }
    let mut differing = setup.feeds.iter().zip(&other_setup.feeds).filter(|(a, b)| a != b);
    let feed = differing.next()?.0.name.clone();
    if differing.next().is_some() {
        return None;
    }
    let (response, other_response) = (cell_response(cell)?, cell_response(other_cell)?);
    let differs = |a: f64, b: f64, ratio: f64| a > ratio * b || b > ratio * a;
    // The trials of a search have different loads, and the load determines the tail latency.
    let has_planned_load =
        |it: &CellTrials<'_>| it.trials.iter().all(|trial| trial.setup.load == it.setup.load);
    let comparable = has_planned_load(cell) && has_planned_load(other_cell);
    let tails = comparable
        && response.p99.zip(other_response.p99).is_some_and(|(a, b)| differs(a, b, TAIL_RATIO_MIN));
    (tails || differs(response.delivered, other_response.delivered, RATE_RATIO_MIN)).then(|| {
        Finding::FeedsDiffer {
            cell: cell.number,
            other_cell: other_cell.number,
            feed,
            response,
            other_response,
            read: read_volume(cell),
            other_read: read_volume(other_cell),
        }
    })
}

/// True if both setups have the same system, data and operations. Rates of operations follow from the load, so only
/// their proportions are compared.
fn same_but_model(a: &Setup, b: &Setup) -> bool {
    let work = |setup: &Setup| -> Vec<Operation> {
        setup.operations.iter().map(|it| Operation { rate: None, ..it.clone() }).collect()
    };
    a.stack == b.stack
        && a.dataset == b.dataset
        && a.feeds == b.feeds
        && work(a) == work(b)
        && a.load.query_mode == b.load.query_mode
        && a.load.reconnect == b.load.reconnect
}

fn cell_response(cell: &CellTrials<'_>) -> Option<CellResponse> {
    let median_of = |figure| cell.median(|it| read_figure(it, figure));
    let runs = cell.trials.iter().filter(|it| it.valid().is_some()).count() as u32;
    Some(CellResponse { delivered: median_of(Figure::Tps)?, p99: median_of(Figure::P99), runs })
}

/// Offered rate: arrivals per second.
fn offered_rate(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    Some(summary.total.counts.arrivals() as f64 / summary.window.as_secs_f64())
}

/// Bytes read per transaction. PostgreSQL's counters lag by a second or two at both ends of the window.
pub fn read_volume(cell: &CellTrials<'_>) -> ReadVolume {
    let by_transaction = |growth: fn(&TrialFacts<'_>, &str) -> Option<f64>| {
        cell.median(|trial| {
            let executed =
                trial.valid()?.total.counts.executed() as f64 / trial.valid()?.window.as_secs_f64();
            let grown = growth(trial, &trial.server()?.name)?;
            (executed > 0.0).then_some(grown / executed)
        })
    };
    ReadVolume {
        blocks: by_transaction(|it, node| growth(it.samples, node, samples::PG_BLOCKS_READ, |_| true)),
        disk_bytes: by_transaction(|it, node| samples::disk_bytes(it.samples, node)),
    }
}
