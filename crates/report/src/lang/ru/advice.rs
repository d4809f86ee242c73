//! Russian: indexes.

use super::{NUMBERS, Ru, counted, plural};
use crate::lang::advice::{AdviceWord, AdviceWords};
use crate::page::number::three_digits;
use model::Nanos;
use model::advice::{IndexAdvice, IndexBuild, Remedy, Scan, StatementChange};
use model::explain::{IndexKey, KeyRole};

impl AdviceWords for Ru {
    fn advice_word(&self, it: AdviceWord) -> &'static str {
        match it {
            AdviceWord::Reads => "прочитано строк",
            AdviceWord::Helps => "что поможет",
            AdviceWord::NoIndex => "Строить ещё какой-либо индекс смысла нет.",
            AdviceWord::NoPlans => {
                "В этом прогоне нет планов запросов: они снимаются, когда pgdyno сам запускает PostgreSQL и измерение \
                 доведено до конца."
            }
            AdviceWord::Applied => "Что индексы дали и чего стоили, рядом с теми же данными без них:",
            AdviceWord::Beware => {
                "На рабочей базе пишите CREATE INDEX CONCURRENTLY: тогда построение никому не мешает писать."
            }
        }
    }

    fn saved_together(&self, indexes: usize, share: f64) -> String {
        let these = match indexes {
            1 => "этот индекс сэкономил бы".to_owned(),
            many => format!(
                "{} {} сэкономили бы",
                plural(many as u64, "этот", "эти", "эти"),
                counted(many as u64, "индекс", "индекса", "индексов")
            ),
        };
        let times = match share {
            ..0.995 => format!(
                "; если предел ставит PostgreSQL, пропускная способность вырастет не более чем в {} раза",
                NUMBERS.three(1.0 / (1.0 - share))
            ),
            _ => String::new(),
        };
        format!("По оценке планировщика {these} {} времени всех запросов{times}.", NUMBERS.percent(share, 1))
    }

    fn why_index(&self, it: &IndexAdvice) -> String {
        let of = |role| it.candidate.keys.iter().filter(move |key| key.role == role);
        let mut parts = Vec::new();
        let equal: Vec<String> = of(KeyRole::Equal).map(distinct).collect();
        if !equal.is_empty() {
            parts.push(format!("по значению: {}", equal.join(" и ")));
        }
        let range: Vec<String> = of(KeyRole::Range).map(distinct).collect();
        if !range.is_empty() {
            parts.push(format!("по границам: {}", range.join(" и ")));
        }
        let sorted: Vec<String> = it
            .candidate
            .keys
            .iter()
            .filter_map(|key| match key.role {
                KeyRole::Ascending => Some(key.column.clone()),
                KeyRole::Descending => Some(format!("{} по убыванию", key.column)),
                KeyRole::Equal | KeyRole::Range => None,
            })
            .collect();
        if !sorted.is_empty() {
            parts.push(format!("первые по порядку: {}", sorted.join(", ")));
        }
        let rows = it.rows.round() as u64;
        let among = format!("{} {}", NUMBERS.count(rows), plural(rows, "строки", "строк", "строк"));
        format!("Ищут среди {among} {}.", parts.join(", "))
    }

    fn index_saves(&self, it: &IndexAdvice) -> String {
        let many = it.improved.len() as u64;
        let helped = counted(many, "запросу", "запросам", "запросам");
        match it.saved {
            Some(share) => format!(
                "Поможет {helped}; сам по себе сэкономил бы {} времени всех запросов.",
                NUMBERS.percent(share, 1)
            ),
            None => format!("Поможет {helped}."),
        }
    }

    fn index_costs(&self, it: &IndexAdvice) -> String {
        let size =
            it.bytes.map_or(String::new(), |it| format!("Займёт около {}. ", NUMBERS.bytes(it as f64)));
        let hot = match it.not_hot.len() as u64 {
            0 => String::new(),
            many => format!(
                " Из них {} {} его столбец и уже не {} обойтись без записи в индексы (HOT).",
                NUMBERS.count(many),
                plural(many, "меняет", "меняют", "меняют"),
                plural(many, "сможет", "смогут", "смогут")
            ),
        };
        match it.maintained_by.len() as u64 {
            0 => format!("{size}Ни одному запросу этого прогона не придётся его обновлять."),
            many => {
                let keepers = counted(many, "запросу", "запросам", "запросам");
                format!("{size}Обновлять его придётся {keepers}.{hot}")
            }
        }
    }

    fn remedy(&self, it: &Remedy, index: Option<(usize, f64, f64)>) -> String {
        match (it, index) {
            (Remedy::NotNeeded, _) => "ни одной большой таблицы целиком не читает".to_owned(),
            (Remedy::Index { .. }, Some((number, before, after))) => {
                format!("индекс {number}: стоимость {} → {}", NUMBERS.three(before), NUMBERS.three(after))
            }
            (Remedy::Index { .. }, None) => "индекс".to_owned(),
            (Remedy::EveryRow, _) => "никакой индекс: нужна каждая строка таблицы".to_owned(),
            (Remedy::MostRows { share }, _) => {
                format!("никакой индекс: нужно {} строк", NUMBERS.percent(*share, 0))
            }
            (Remedy::Condition { condition }, _) => {
                format!("условию {condition} не отвечает никакое B-дерево по столбцам")
            }
            (Remedy::NotTaken, _) => "нет индекса, который планировщик взял бы с заметной выгодой".to_owned(),
            (Remedy::NoPlan { reason: why }, _) => format!("плана нет: {why}"),
        }
    }

    fn scanned(&self, it: &Scan) -> String {
        let about = if it.counted { "" } else { "около " };
        format!(
            "все {} в {}, нужно {about}{}",
            NUMBERS.count(it.rows.round() as u64),
            it.table,
            NUMBERS.count(it.passed.round() as u64)
        )
    }

    fn untried(&self, why: &str) -> String {
        format!("Оценено без планировщика: спросить его о несуществующих индексах не удалось ({why}).")
    }

    fn applying(&self, indexes: usize, repeat: u32) -> String {
        let these = counted(indexes as u64, "индекс", "индекса", "индексов");
        let is = plural(indexes as u64, "строится", "строятся", "строятся");
        let times = counted(repeat.into(), "разу", "раза", "раз");
        format!("{these} {is} в копии данных; измеряется рядом с данными без них, по {times}")
    }

    fn index_built(&self, it: &IndexBuild) -> String {
        format!("{}: построен за {}, {}", it.ddl, NUMBERS.time(it.elapsed), NUMBERS.bytes(it.bytes as f64))
    }

    fn statement_changed(&self, it: &StatementChange) -> String {
        let times = |it| NUMBERS.time(Nanos::from_secs_f64(it));
        let ratio = match it.after / it.before {
            ratio if ratio > 0.0 && ratio < 1.0 => format!("÷ {}", NUMBERS.write(&three_digits(1.0 / ratio))),
            ratio => format!("× {}", NUMBERS.write(&three_digits(ratio))),
        };
        let writes = if it.writes { "; пишущий" } else { "" };
        format!("в среднем {} → {} ({ratio}{writes})", times(it.before), times(it.after))
    }

    fn heap_only(&self, before: f64, after: f64) -> String {
        let share = |it| NUMBERS.percent(it, 1);
        format!(
            "обновления без записи в индексы (HOT): {} → {} обновлённых строк",
            share(before),
            share(after)
        )
    }
}

/// A column, and how many different values it has.
fn distinct(it: &IndexKey) -> String {
    let Some(many) = it.distinct else { return it.column.clone() };
    let many = many.round() as u64;
    format!("{} ({})", it.column, counted(many, "разное значение", "разных значения", "разных значений"))
}
