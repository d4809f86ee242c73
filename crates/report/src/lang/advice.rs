//! Sentences about index advice

use super::Lang;
use crate::say;
use model::Nanos;
use model::advice::{IndexAdvice, IndexBuild, IndexObstacle, Remedy, Scan, StatementChange};
use model::explain::{IndexKey, KeyRole};
use model::message::Message;

impl Lang {
    /// Reports the time that `indexes` indexes save in total. `share` (0..=1) is the saved share of the time of all
    /// statements.
    pub fn saved_together(&self, indexes: usize, share: f64) -> String {
        let speedup = (share < 0.995).then(|| self.numbers().three(1.0 / (1.0 - share)));
        say!(self, "advice-saved-together", indexes, share = self.numbers().percent(share, 1), speedup)
    }

    /// Purpose of the index's columns.
    pub fn why_index(&self, advice: &IndexAdvice) -> String {
        let keys = &advice.candidate.keys;
        let columns = |role: KeyRole| -> Vec<String> {
            keys.iter().filter(|key| key.role == role).map(|key| self.column_with_distinct(key)).collect()
        };
        let and = say!(self, "advice-column-and");
        let mut parts = Vec::new();
        let equal = columns(KeyRole::Equal);
        if !equal.is_empty() {
            parts.push(say!(self, "advice-by-value", columns = equal.join(&and)));
        }
        let range = columns(KeyRole::Range);
        if !range.is_empty() {
            parts.push(say!(self, "advice-by-range", columns = range.join(&and)));
        }
        let sorted: Vec<String> = keys
            .iter()
            .filter_map(|key| match key.role {
                KeyRole::Ascending => Some(key.column.clone()),
                KeyRole::Descending => Some(say!(self, "advice-descending", column = &key.column)),
                KeyRole::Equal | KeyRole::Range => None,
            })
            .collect();
        if !sorted.is_empty() {
            parts.push(say!(self, "advice-by-order", columns = sorted.join(", ")));
        }
        say!(self, "advice-why-index", purpose = parts.join(", "), rows = advice.rows.round() as u64)
    }

    /// Number of statements that the index speeds up, and the time that it saves, as a share of the time of all
    /// statements. The time is omitted if it was not measured.
    pub fn index_saves(&self, advice: &IndexAdvice) -> String {
        let share = advice.saved_share.map(|share| self.numbers().percent(share, 1));
        say!(self, "advice-index-saves", statements = advice.cost_changes.len(), share)
    }

    /// Size of the index, and the statements that it slows down.
    pub fn index_costs(&self, advice: &IndexAdvice) -> String {
        let size = advice.bytes.map(|bytes| self.bytes(bytes as f64));
        let (statements, not_hot) = (advice.maintaining_statements.len(), advice.non_hot_updates.len());
        say!(self, "advice-index-costs", size, statements, not_hot)
    }

    /// Remedy for a statement. `index` contains the number of the index, from 1, and the planner's costs without and
    /// with the index.
    pub fn remedy(&self, remedy: &Remedy, index: Option<(usize, f64, f64)>) -> String {
        match (remedy, index) {
            (Remedy::NotNeeded, _) => say!(self, "advice-not-needed"),
            (Remedy::Index { .. }, Some((number, before, after))) => {
                let [before, after] = [before, after].map(|cost| self.numbers().three(cost));
                say!(self, "advice-index-number", number, before, after)
            }
            (Remedy::Index { .. }, None) => say!(self, "advice-index"),
            (Remedy::Vacuum { table, live_rows, dead_rows, bytes }, _) => {
                let [live, dead] = [live_rows, dead_rows].map(|it| it.round() as u64);
                say!(self, "advice-vacuum", table, live, dead, size = self.bytes(*bytes as f64))
            }
            (Remedy::Analyze { table, estimated_rows, actual_rows }, _) => {
                let [estimated, actual] = [estimated_rows, actual_rows].map(|it| it.round() as u64);
                say!(self, "advice-analyze", table, estimated, actual)
            }
            (Remedy::EveryRow, _) => say!(self, "advice-every-row"),
            (Remedy::MostRows { share }, _) => {
                say!(self, "advice-most-rows", share = self.numbers().percent(*share, 0))
            }
            (Remedy::Rewrite { obstacle }, _) => say!(
                self,
                "advice-rewrite",
                obstacle = self.index_obstacle(obstacle),
                remedy = self.obstacle_remedy(obstacle)
            ),
            (Remedy::Condition { condition }, _) => say!(self, "advice-condition", condition),
            (Remedy::NotTaken, _) => say!(self, "advice-not-taken"),
            (Remedy::NoPlan { reason }, _) => say!(self, "advice-no-plan", reason = reason.as_ref()),
        }
    }

    /// Part of a condition that prevents the use of an index.
    pub(super) fn index_obstacle(&self, obstacle: &IndexObstacle) -> String {
        match obstacle {
            IndexObstacle::Cast { column, data_type, .. } => {
                say!(self, "advice-obstacle-cast", column, type = data_type)
            }
            IndexObstacle::Expression { expression } => say!(self, "advice-obstacle-expression", expression),
            IndexObstacle::Pattern { column } => say!(self, "advice-obstacle-pattern", column),
            IndexObstacle::Alternatives { columns } => {
                say!(self, "advice-obstacle-alternatives", columns = columns.join(", "))
            }
        }
    }

    /// Remedy for such a part, without a full stop.
    pub(super) fn obstacle_remedy(&self, obstacle: &IndexObstacle) -> String {
        match obstacle {
            IndexObstacle::Cast { column, index, .. } => {
                say!(self, "advice-rewrite-cast", column, index = index.as_ref())
            }
            IndexObstacle::Expression { .. } => say!(self, "advice-rewrite-expression"),
            IndexObstacle::Pattern { .. } => say!(self, "advice-rewrite-pattern"),
            IndexObstacle::Alternatives { .. } => say!(self, "advice-rewrite-alternatives"),
        }
    }

    /// Number of rows that a scan reads, and share of these rows that it returns.
    pub fn scanned(&self, scan: &Scan) -> String {
        let [rows, passed] = [scan.rows, scan.rows_kept].map(|rows| rows.round() as u64);
        say!(self, "advice-scanned", rows, table = &scan.table, counted = scan.actual, passed)
    }

    /// Reports that the planner could not estimate hypothetical indexes.
    pub fn no_estimates(&self, reason: &Message) -> String {
        say!(self, "advice-without-planner", reason)
    }

    /// Reports that indexes are built in a copy of the data, and that cells with and without them are measured in
    /// `repeat` trials each.
    pub fn index_trial(&self, indexes: usize, repeat: u32) -> String {
        say!(self, "advice-applying", indexes, repeat)
    }

    /// Duration and size of an index build.
    pub fn index_built(&self, build: &IndexBuild) -> String {
        let (elapsed, size) = (self.time(build.elapsed), self.bytes(build.bytes as f64));
        say!(self, "advice-index-built", ddl = &build.ddl, elapsed, size)
    }

    /// Mean time of a statement without the indexes and with them.
    pub fn statement_changed(&self, change: &StatementChange) -> String {
        let [before, after] = [change.before, change.after].map(|mean| self.time(Nanos::from_secs_f64(mean)));
        let ratio = match change.after / change.before {
            ratio if ratio > 0.0 && ratio < 1.0 => format!("÷ {}", self.numbers().three(1.0 / ratio)),
            ratio => format!("× {}", self.numbers().three(ratio)),
        };
        say!(self, "advice-statement-changed", before, after, ratio, writes = change.writes)
    }

    /// Shares (0..=1) of heap-only (HOT) updates, without and with the indexes.
    pub fn heap_only(&self, before: f64, after: f64) -> String {
        let [before, after] = [before, after].map(|share| self.numbers().percent(share, 1));
        say!(self, "advice-heap-only", before, after)
    }

    /// A column, and the number of its distinct values.
    fn column_with_distinct(&self, key: &IndexKey) -> String {
        let distinct = key.distinct.map(|count| count.round() as u64);
        say!(self, "advice-column", column = &key.column, distinct)
    }
}
