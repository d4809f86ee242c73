//! Russian: reads on replicas.

use super::{NUMBERS as RU, Ru, counted, oblique};
use crate::lang::freshness::{FreshnessTerm, FreshnessWords, ReplicaGroup, decimals};
use model::Nanos;
use model::freshness::{FreshnessResult, StaleReads};

impl FreshnessWords for Ru {
    fn freshness(&self, it: FreshnessTerm) -> &'static str {
        match it {
            FreshnessTerm::Reads => "Чтение с реплик",
            FreshnessTerm::Cell => "ячейка",
            FreshnessTerm::Replica => "реплика",
            FreshnessTerm::Asked => "чтения",
            FreshnessTerm::Stale => "устарело",
            FreshnessTerm::Unanswered => "без ответа",
        }
    }

    fn visible(&self, quantile: &str) -> String {
        format!("видно через, {quantile}")
    }

    fn unseen(&self, bound: Nanos) -> String {
        format!("не видно за {}", RU.chosen(bound))
    }

    fn own_writes(&self, it: &FreshnessResult, name: &str) -> String {
        let told = match ReplicaGroup::of(it) {
            ReplicaGroup::NoAnswer => {
                "ни одна реплика не ответила, видно ли на ней только что записанное".to_owned()
            }
            ReplicaGroup::AllThere { reads, replicas, highest } => format!(
                "сразу после подтверждения каждая запись была видна: {} с {} {} (95\u{a0}%: устаревших менее {})",
                counted(reads, "чтение", "чтения", "чтений"),
                RU.count(replicas),
                oblique(replicas, "реплики", "реплик"),
                RU.percent(highest, decimals(highest)),
            ),
            ReplicaGroup::Stale(replica, stale) => format!(
                "сразу после подтверждения записи не было видно в {} с {}",
                of_reads(&stale),
                replica.node,
            ),
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{name}{told}.")
    }

    fn in_turn(&self, it: &StaleReads) -> String {
        let who = "Сеанс, читавший с реплик по очереди,";
        match it.stale {
            0 => format!(
                "{who} ни разу не увидел данных старее уже виденных: {} (95\u{a0}%: таких менее {}).",
                counted(it.total, "чтение", "чтения", "чтений"),
                RU.percent(it.interval.1, decimals(it.interval.1)),
            ),
            _ => format!("{who} увидел данные старее уже виденных в {}.", of_reads(it)),
        }
    }

    fn applied(&self, kept: bool) -> String {
        let promised =
            "Фиксация ждёт, пока её применит каждая реплика (remote_apply): устаревших чтений быть не должно";
        format!("{promised}, {}.", if kept { "и их не было" } else { "но они были" })
    }
}

/// `12,3 % (95 %: от 10,1 до 14,9 %) из 600 чтений`.
fn of_reads(it: &StaleReads) -> String {
    let decimals = decimals(it.share());
    let (low, high) = it.interval;
    format!(
        "{} (95\u{a0}%: от {} до {}) из {} {}",
        RU.percent(it.share(), decimals),
        RU.fixed(100.0 * low, decimals),
        RU.percent(high, decimals),
        RU.count(it.total),
        oblique(it.total, "чтения", "чтений"),
    )
}
