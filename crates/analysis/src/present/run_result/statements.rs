//! Statements ordered by their total time in PostgreSQL within the window

use crate::stats::quantile::median;
use model::run_result::StatementStats;
use model::{Nanos, Sample, series};
use std::collections::BTreeMap;

const CALLS: &str = series::PG_STATEMENT_CALLS;
const TIME: &str = series::PG_STATEMENT_TIME;
const ROWS: &str = series::PG_STATEMENT_ROWS;
const HIT: &str = series::PG_STATEMENT_HIT;
const READ: &str = series::PG_STATEMENT_READ;
const TEXT: &str = series::PG_STATEMENT_TEXT;

/// Series from which statements are read.
pub const STATEMENTS: [&str; 6] = [CALLS, TIME, ROWS, HIT, READ, TEXT];

/// Counter series, in the order in which they are stored.
const COUNTED: [&str; 5] = [CALLS, TIME, ROWS, HIT, READ];

/// Maximum number of reported statements.
const STATEMENTS_MAX: usize = 10;

/// Statement counters of one trial, filled sample by sample. A statement that first appears in a later sample counts
/// from that sample on, because it may also have run before the window.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Values of the [`COUNTED`] series at the first and the last sample time, by queryid. An empty queryid represents
    /// all statements.
    counts: BTreeMap<String, [Option<(f64, f64)>; COUNTED.len()]>,
    texts: BTreeMap<String, String>,
}

impl Statements {
    /// Adds a sample. Samples must arrive in order of time.
    pub fn push(&mut self, sample: &Sample) {
        if sample.series == TEXT {
            if let Some((id, text)) = sample.label.split_once(' ') {
                self.texts.entry(id.to_owned()).or_insert_with(|| text.to_owned());
            }
            return;
        }
        let Some(place) = COUNTED.iter().position(|name| sample.series == *name) else { return };
        if !self.counts.contains_key(&*sample.label) {
            self.counts.insert(sample.label.to_string(), [None; COUNTED.len()]);
        }
        let counts = self.counts.get_mut(&*sample.label).expect("the counts were inserted");
        match &mut counts[place] {
            // The last sample before the window is the start value.
            Some((first, last)) if sample.at == Nanos::ZERO => (*first, *last) = (sample.value, sample.value),
            Some((_, last)) => *last = sample.value,
            none => *none = Some((sample.value, sample.value)),
        }
    }

    /// Increases of the counters within the window, by statement text. Statements without calls in the window are left
    /// out.
    fn deltas(&self) -> BTreeMap<&str, StatementStats> {
        let growth = |it: Option<(f64, f64)>| it.map(|(first, last)| (last - first).max(0.0));
        let grown = |it| growth(it).unwrap_or(0.0);
        let all = self.counts.get("").map_or(0.0, |it| grown(it[1]));
        let mut by_text: BTreeMap<&str, StatementStats> = BTreeMap::new();
        for (id, counts) in self.counts.iter().filter(|it| !it.0.is_empty()) {
            let Some(text) = self.texts.get(id) else { continue };
            let [calls, total, rows] = [counts[0], counts[1], counts[2]].map(grown);
            let [hit, read] = [counts[3], counts[4]].map(growth);
            if calls <= 0.0 {
                continue;
            }
            let statement = by_text.entry(text).or_insert_with(|| StatementStats {
                text: text.clone(),
                query_ids: Vec::new(),
                calls: 0.0,
                total: 0.0,
                mean: 0.0,
                share: 0.0,
                rows: 0.0,
                hit: None,
                read: None,
            });
            statement.query_ids.extend(id.parse::<i64>().ok());
            (statement.calls, statement.total, statement.rows) =
                (statement.calls + calls, statement.total + total, statement.rows + rows);
            // Runs stored by old versions have no counts of blocks, so the sum is unknown.
            statement.hit = hit.map(|more| statement.hit.unwrap_or(0.0) + more);
            statement.read = read.map(|more| statement.read.unwrap_or(0.0) + more);
            statement.mean = statement.total / statement.calls;
            statement.share = if all > 0.0 { (statement.total / all).min(1.0) } else { 0.0 };
        }
        by_text
    }
}

/// Medians over the trials in which a statement was called, most expensive statements first.
pub fn statements(trials: &[&Statements]) -> Vec<StatementStats> {
    let each: Vec<BTreeMap<&str, StatementStats>> = trials.iter().map(|it| it.deltas()).collect();
    let mut texts: Vec<&str> = each.iter().flat_map(|it| it.keys().copied()).collect();
    texts.sort_unstable();
    texts.dedup();
    let merged = |text: &str| {
        let its: Vec<&StatementStats> = each.iter().filter_map(|it| it.get(text)).collect();
        let middle =
            |field: fn(&StatementStats) -> f64| median(its.iter().map(|it| field(it))).unwrap_or_default();
        let known = |field: fn(&StatementStats) -> Option<f64>| median(its.iter().filter_map(|it| field(it)));
        let mut query_ids: Vec<i64> = its.iter().flat_map(|it| it.query_ids.iter().copied()).collect();
        query_ids.sort_unstable();
        query_ids.dedup();
        StatementStats {
            text: text.to_owned(),
            query_ids,
            calls: middle(|it| it.calls),
            total: middle(|it| it.total),
            mean: middle(|it| it.mean),
            share: middle(|it| it.share),
            rows: middle(|it| it.rows),
            hit: known(|it| it.hit),
            read: known(|it| it.read),
        }
    };
    let mut all: Vec<StatementStats> = texts.into_iter().map(merged).collect();
    // Medians of shares may have a sum above 1, because each is the median of other trials.
    let sum = all.iter().map(|it| it.share).sum::<f64>().max(1.0);
    all.iter_mut().for_each(|it| it.share /= sum);
    all.sort_by(|a, b| b.total.total_cmp(&a.total));
    all.truncate(STATEMENTS_MAX);
    all
}
