//! What does one and the same setup say when it is asked otherwise: open or closed, by this feed or by that?

use super::samples::{self, growth};
use super::{Cell, Finding, TrialFacts};
use crate::matrix::read;
use model::finding::{Answered, ReadBack};
use model::matrix::Figure;
use model::plan::{Operation, Setup};

/// Above this ratio two 99th percentiles tell of different systems: repeated runs on a busy machine differ by half.
const OTHER_TAIL: f64 = 2.0;
/// Likewise of throughput, which is steadier.
const OTHER_RATE: f64 = 1.5;

/// For each open cell the closed one of the same setup that delivers most, if its tail is much better than the open one's.
/// An open test below the capacity has the better tail: then nothing is hidden.
pub fn open_and_closed(cells: &[Cell<'_>]) -> Vec<Finding> {
    // A search may ask otherwise than the cell's load says.
    let is_open = |it: &Cell<'_>| it.trials.iter().any(|it| it.setup.load.model.is_open());
    let open = cells.iter().filter(|it| is_open(it));
    let one = |cell: &Cell<'_>| {
        let beside = |it: &&Cell<'_>| !is_open(it) && same_but_model(it.setup, cell.setup);
        let known = cells.iter().filter(beside).filter_map(|it| Some((it.number, answered(it)?)));
        let (with, closed) = known.max_by(|a, b| a.1.delivered.total_cmp(&b.1.delivered))?;
        let open = answered(cell)?;
        let offered = cell.median(offered)?;
        (open.p99? > OTHER_TAIL * closed.p99?).then_some(Finding::OpenAndClosed {
            cell: cell.number,
            with,
            offered,
            open,
            closed,
        })
    };
    open.filter_map(one).collect()
}

/// Pairs that differ in one feed only, and in what they say.
pub fn feeds_differ(cells: &[Cell<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, with) in cells.iter().enumerate() {
        for cell in &cells[at + 1..] {
            found.extend(feed_differs(cell, with));
        }
    }
    found
}

fn feed_differs(cell: &Cell<'_>, with: &Cell<'_>) -> Option<Finding> {
    let (mine, other) = (cell.setup, with.setup);
    let same = *mine == Setup { feeds: mine.feeds.clone(), ..other.clone() };
    if !same || mine.feeds.len() != other.feeds.len() {
        return None;
    }
    let mut differing = mine.feeds.iter().zip(&other.feeds).filter(|(a, b)| a != b);
    let feed = differing.next()?.0.name.clone();
    if differing.next().is_some() {
        return None;
    }
    let (mine, other) = (answered(cell)?, answered(with)?);
    let apart = |a: f64, b: f64, ratio: f64| a > ratio * b || b > ratio * a;
    // Steps of a search have loads of their own, and tails that follow from those.
    let as_asked = |it: &Cell<'_>| it.trials.iter().all(|trial| trial.setup.load == it.setup.load);
    let comparable = as_asked(cell) && as_asked(with);
    let tails = comparable && mine.p99.zip(other.p99).is_some_and(|(a, b)| apart(a, b, OTHER_TAIL));
    (tails || apart(mine.delivered, other.delivered, OTHER_RATE)).then(|| Finding::FeedsDiffer {
        cell: cell.number,
        with: with.number,
        feed,
        mine,
        other,
        read: read_back(cell),
        with_read: read_back(with),
    })
}

/// The same system, data and work. Rates of operations are the load's; what counts is their proportion.
fn same_but_model(a: &Setup, b: &Setup) -> bool {
    let work = |it: &Setup| -> Vec<Operation> {
        it.operations.iter().map(|it| Operation { rate: None, ..it.clone() }).collect()
    };
    a.stack == b.stack
        && a.dataset == b.dataset
        && a.feeds == b.feeds
        && work(a) == work(b)
        && a.load.query_mode == b.load.query_mode
        && a.load.connect_each == b.load.connect_each
}

fn answered(cell: &Cell<'_>) -> Option<Answered> {
    let of = |figure| cell.median(|it| read(it, figure));
    let runs = cell.trials.iter().filter(|it| it.valid().is_some()).count() as u32;
    Some(Answered { delivered: of(Figure::Tps)?, p99: of(Figure::P99), runs })
}

/// Arrivals per second.
fn offered(trial: &TrialFacts<'_>) -> Option<f64> {
    let it = trial.valid()?;
    Some(it.total.counts.arrivals() as f64 / it.window.as_secs_f64())
}

/// What a transaction had read: PostgreSQL's own counts lag by a second or two at either end.
pub fn read_back(cell: &Cell<'_>) -> ReadBack {
    let by_transaction = |growth: fn(&TrialFacts<'_>, &str) -> Option<f64>| {
        cell.median(|it| {
            let executed = it.valid()?.total.counts.executed() as f64 / it.valid()?.window.as_secs_f64();
            let grown = growth(it, &it.server()?.name)?;
            (executed > 0.0).then_some(grown / executed)
        })
    };
    ReadBack {
        blocks: by_transaction(|it, node| growth(it.samples, node, samples::PG_BLOCKS_READ, |_| true)),
        disk: by_transaction(|it, node| samples::disk_bytes(it.samples, node)),
    }
}
