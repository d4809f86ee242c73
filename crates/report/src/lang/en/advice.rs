//! English: indexes.

use super::{En, NUMBERS};
use crate::lang::advice::{AdviceWord, AdviceWords};
use crate::page::number::three_digits;
use model::Nanos;
use model::advice::{IndexAdvice, IndexBuild, Remedy, Scan, StatementChange};
use model::explain::{IndexKey, KeyRole};

impl AdviceWords for En {
    fn advice_word(&self, it: AdviceWord) -> &'static str {
        match it {
            AdviceWord::Reads => "rows read",
            AdviceWord::Helps => "what helps",
            AdviceWord::NoIndex => "No further index is worth being built.",
            AdviceWord::NoPlans => {
                "This run has no plans: they are made where pgdyno starts the PostgreSQL itself, and a trial was complete."
            }
            AdviceWord::Applied => "What the indexes brought and cost, beside the same data without them:",
            AdviceWord::Beware => {
                "In production write CREATE INDEX CONCURRENTLY, which does not keep anybody from writing meanwhile."
            }
        }
    }

    fn saved_together(&self, indexes: usize, share: f64) -> String {
        let these = if indexes == 1 { "this index".to_owned() } else { format!("these {indexes} indexes") };
        let times = match share {
            ..0.995 => format!(
                "; where PostgreSQL is the limit, throughput is {} times what it was at most",
                NUMBERS.three(1.0 / (1.0 - share))
            ),
            _ => String::new(),
        };
        format!(
            "By the planner's cost {these} would save {} of the time of all statements{times}.",
            NUMBERS.percent(share, 1)
        )
    }

    fn why_index(&self, it: &IndexAdvice) -> String {
        let of = |role| it.candidate.keys.iter().filter(move |key| key.role == role);
        let mut parts = Vec::new();
        let equal: Vec<String> = of(KeyRole::Equal).map(distinct).collect();
        if !equal.is_empty() {
            let is = if equal.len() == 1 { "is" } else { "are" };
            parts.push(format!("{} {is} asked for by value", equal.join(" and ")));
        }
        parts.extend(of(KeyRole::Range).map(|it| format!("{} within bounds", distinct(it))));
        let sorted: Vec<String> = it
            .candidate
            .keys
            .iter()
            .filter_map(|key| match key.role {
                KeyRole::Ascending => Some(key.column.clone()),
                KeyRole::Descending => Some(format!("{}, the greatest first", key.column)),
                KeyRole::Equal | KeyRole::Range => None,
            })
            .collect();
        if !sorted.is_empty() {
            parts.push(format!("the first rows are wanted by {}", sorted.join(", then ")));
        }
        format!("{}, among {} rows.", capital(&parts.join(", ")), NUMBERS.count(it.rows.round() as u64))
    }

    fn index_saves(&self, it: &IndexAdvice) -> String {
        let many = it.improved.len();
        let helped = if many == 1 { "1 statement".to_owned() } else { format!("{many} statements") };
        match it.saved {
            Some(share) => format!(
                "It helps {helped}; alone it would save {} of the time of all statements.",
                NUMBERS.percent(share, 1)
            ),
            None => format!("It helps {helped}."),
        }
    }

    fn index_costs(&self, it: &IndexAdvice) -> String {
        let size =
            it.bytes.map_or(String::new(), |it| format!("It takes about {}. ", NUMBERS.bytes(it as f64)));
        let hot = match it.not_hot.len() {
            0 => String::new(),
            1 => " 1 of them changes a column of it, and cannot be heap-only (HOT) any more.".to_owned(),
            many => format!(" {many} of them change a column of it, and cannot be heap-only (HOT) any more."),
        };
        match it.maintained_by.len() {
            0 => format!("{size}No statement of this run has to keep it up to date."),
            1 => format!("{size}1 statement has to keep it up to date.{hot}"),
            many => format!("{size}{many} statements have to keep it up to date.{hot}"),
        }
    }

    fn remedy(&self, it: &Remedy, index: Option<(usize, f64, f64)>) -> String {
        match (it, index) {
            (Remedy::NotNeeded, _) => "it reads no large table from end to end".to_owned(),
            (Remedy::Index { .. }, Some((number, before, after))) => {
                format!("index {number}: cost {} → {}", NUMBERS.three(before), NUMBERS.three(after))
            }
            (Remedy::Index { .. }, None) => "an index".to_owned(),
            (Remedy::EveryRow, _) => "no index: it asks for every row of the table".to_owned(),
            (Remedy::MostRows { share }, _) => {
                format!("no index: it asks for {} of the rows", NUMBERS.percent(*share, 0))
            }
            (Remedy::Condition { condition }, _) => {
                format!("no b-tree over columns answers {condition}")
            }
            (Remedy::NotTaken, _) => "no index that the planner would take and gain much by".to_owned(),
            (Remedy::NoPlan { reason: why }, _) => format!("it has no plan: {why}"),
        }
    }

    fn scanned(&self, it: &Scan) -> String {
        let about = if it.counted { "" } else { "about " };
        format!(
            "all {} of {}, for {about}{}",
            NUMBERS.count(it.rows.round() as u64),
            it.table,
            NUMBERS.count(it.passed.round() as u64)
        )
    }

    fn untried(&self, why: &str) -> String {
        format!(
            "Estimated without the planner, which could not be asked about indexes that are not there: {why}."
        )
    }

    fn applying(&self, indexes: usize, repeat: u32) -> String {
        let these = if indexes == 1 { "1 index is".to_owned() } else { format!("{indexes} indexes are") };
        let times = if repeat == 1 { "once".to_owned() } else { format!("{repeat} times") };
        format!("{these} built in a copy of the data and measured beside the data without, {times} each")
    }

    fn index_built(&self, it: &IndexBuild) -> String {
        format!("{}: built in {}, {}", it.ddl, NUMBERS.time(it.elapsed), NUMBERS.bytes(it.bytes as f64))
    }

    fn statement_changed(&self, it: &StatementChange) -> String {
        let times = |it| NUMBERS.time(Nanos::from_secs_f64(it));
        let ratio = match it.after / it.before {
            ratio if ratio > 0.0 && ratio < 1.0 => format!("÷ {}", three_digits(1.0 / ratio)),
            ratio => format!("× {}", three_digits(ratio)),
        };
        let writes = if it.writes { ", it writes" } else { "" };
        format!("{} → {} on average ({ratio}{writes})", times(it.before), times(it.after))
    }

    fn heap_only(&self, before: f64, after: f64) -> String {
        let share = |it| NUMBERS.percent(it, 1);
        format!("heap-only (HOT) updates: {} → {} of updated rows", share(before), share(after))
    }
}

/// A column, and how many different values it has.
fn distinct(it: &IndexKey) -> String {
    match it.distinct {
        Some(many) => format!("{} ({} different values)", it.column, NUMBERS.count(many.round() as u64)),
        None => it.column.clone(),
    }
}

fn capital(text: &str) -> String {
    // Names stay as they are; sentences that begin with one do too.
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text.to_owned(),
    }
}
