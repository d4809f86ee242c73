//! Russian: the answer of a run, in one sentence.

use super::{NUMBERS as RU, counted, oblique, plural};
use crate::lang::page::{ObjectiveCounts, ObjectiveLevel, OpenModelAnswer, PageAnswer, TrialCounts};
use crate::page::number::three_digits;
use model::matrix::{BaselineComparison, ChangeVerdict};

pub fn answer(it: &PageAnswer<'_>) -> String {
    match it {
        PageAnswer::NotYet => "Ответа пока нет: ни одно измерение не закончено.".to_owned(),
        PageAnswer::Nothing { why, of: 1 } => {
            format!("Ответа нет: единственное измерение не учитывается: {why}.")
        }
        PageAnswer::Nothing { why, of } => {
            format!("Ответа нет: ни одно измерение из {of} не учитывается: {why}.")
        }
        PageAnswer::One { held, trials, goals } => {
            let verb =
                if held.offered.is_some() { "Выполняется" } else { "Выдерживает" };
            format!("{verb} {}{}; {}.", rate(held), self::goals(goals), valid(*trials))
        }
        PageAnswer::Many { baseline, best, worst, open, trials, goals } => {
            let mut parts = Vec::new();
            parts.extend(baseline.map(|it| {
                let idle = if it.idle {
                    ", но свою работу сделали не все клиенты"
                } else {
                    ""
                };
                format!("{} (база сравнения): {}{idle}", it.name, rate(it))
            }));
            // The only other one is neither best nor worst.
            let how = match (worst, baseline) {
                (None, _) => "",
                (Some(_), Some(_)) => "лучшая из остальных — ",
                (Some(_), None) => "лучшая — ",
            };
            parts.extend(best.map(|it| format!("{how}{}: {}", it.name, beside(it))));
            parts.extend(worst.map(|it| format!("худшая — {}: {}", it.name, beside(it))));
            parts.extend(open.map(opened));
            format!("{}{}; {}.", parts.join("; "), self::goals(goals), valid(*trials))
        }
    }
}

/// `21 570 транзакций в секунду (95 %: от 21 400 до 21 700, 5 измерений), p99 12,3 мс`.
fn rate(it: &ObjectiveLevel<'_>) -> String {
    let number = three_digits(it.tps);
    // A broken number takes the genitive singular: 1,5 транзакции.
    let what = match number.parse::<u64>() {
        Ok(whole) => plural(whole, "транзакция", "транзакции", "транзакций"),
        Err(_) => "транзакции",
    };
    let offered = it.offered.map_or(String::new(), |it| format!(" при предложенных {}", RU.three(it)));
    format!("{} {what} в секунду{offered}{}{}", RU.write(&number), sure(it), tail(it))
}

/// The same beside the baseline, without the unit.
fn beside(it: &ObjectiveLevel<'_>) -> String {
    let against = it.against.map_or(String::new(), |it| against(&it));
    format!("{}{}{}{against}", RU.three(it.tps), sure(it), tail(it))
}

/// What open cells hold of what is offered.
fn opened(it: &OpenModelAnswer<'_>) -> String {
    let each = |it: &ObjectiveLevel<'_>| {
        let offered = it.offered.map_or(String::new(), |it| format!(" из {}", RU.three(it)));
        format!("{} — {}{offered}{}{}", it.name, RU.three(it.tps), sure(it), tail(it))
    };
    match (it.of, &it.highest, &it.strained) {
        (1, Some(it), _) => format!("предложенное выполняет {}", each(it)),
        (1, None, Some(it)) => format!("предложенного не выдерживает {}", each(it)),
        (of, highest, strained) => {
            let highest = highest.as_ref().map_or(String::new(), |it| format!("; больше всего {}", each(it)));
            let strained =
                strained.as_ref().map_or(String::new(), |it| format!("; сильнее всех отстаёт {}", each(it)));
            format!("предложенное выполняют {} из {of} открытых ячеек{highest}{strained}", it.kept_up)
        }
    }
}

fn sure(it: &ObjectiveLevel<'_>) -> String {
    let trials = counted(it.runs.into(), "измерение", "измерения", "измерений");
    match it.interval {
        Some((low, high)) => {
            format!(" (95\u{a0}%: от {} до {}, {trials})", RU.three(low), RU.three(high))
        }
        None => format!(" ({trials})"),
    }
}

fn tail(it: &ObjectiveLevel<'_>) -> String {
    let sign = if it.p99_at_least { ">\u{a0}" } else { "" };
    it.p99.map_or(String::new(), |it| format!(", p99 {sign}{}", RU.time(it)))
}

fn against(it: &BaselineComparison) -> String {
    let Some(ratio) = it.ratio else { return String::new() };
    let ratio = RU.fixed(ratio, 3);
    match it.verdict {
        ChangeVerdict::NoEvidence => format!(", {ratio} от базы: различие не доказано"),
        ChangeVerdict::Lower => format!(", {ratio} от базы: ниже"),
        ChangeVerdict::Higher => format!(", {ratio} от базы: выше"),
        ChangeVerdict::TooFewRuns => format!(", {ratio} от базы: измерений слишком мало для вывода"),
    }
}

fn goals(it: &ObjectiveCounts) -> String {
    let of = it.kept + it.broken + it.unknown;
    match (of, it.broken, it.unknown) {
        (0, ..) => String::new(),
        (1, 0, 0) => "; цель соблюдена".to_owned(),
        (1, 1, _) => "; цель НАРУШЕНА".to_owned(),
        (1, ..) => "; соблюдена ли цель, сказать нельзя".to_owned(),
        (_, 0, 0) => format!("; соблюдены все цели ({of})"),
        (_, 0, unknown) => {
            let unknown = unknown as u64;
            let goals = oblique(unknown, "цели", "целей");
            format!("; о соблюдении {} {goals} из {of} судить нельзя", RU.count(unknown))
        }
        (_, broken, _) => {
            let broken = broken as u64;
            let verb = plural(broken, "НАРУШЕНА", "НАРУШЕНЫ", "НАРУШЕНО");
            format!("; {verb} {} из {of}", counted(broken, "цель", "цели", "целей"))
        }
    }
}

fn valid(it: TrialCounts) -> String {
    match (it.valid, it.of, it.outage) {
        (1, 1, Some((lasting, _))) => {
            format!("измерение достоверно, но с оговоркой: ни одного успеха в течение {}", RU.time(lasting))
        }
        (valid, of, Some((lasting, trials))) => format!(
            "достоверных измерений: {valid} из {of}, с оговоркой {trials}: ни одного успеха до {} подряд",
            RU.time(lasting)
        ),
        (valid, of, None) => plainly_valid(valid, of),
    }
}

fn plainly_valid(valid: usize, of: usize) -> String {
    match (valid, of) {
        (1, 1) => "измерение достоверно".to_owned(),
        (valid, of) if valid == of => "все измерения достоверны".to_owned(),
        (valid, of) => format!("достоверных измерений: {valid} из {of}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_in_their_number() {
        for (kept, broken, unknown, expected) in [
            (1, 0, 0, "; цель соблюдена"),
            (2, 0, 0, "; соблюдены все цели (2)"),
            (2, 1, 0, "; НАРУШЕНА 1 цель из 3"),
            (1, 2, 0, "; НАРУШЕНЫ 2 цели из 3"),
            (0, 5, 1, "; НАРУШЕНО 5 целей из 6"),
            (2, 0, 1, "; о соблюдении 1 цели из 3 судить нельзя"),
            (1, 0, 2, "; о соблюдении 2 целей из 3 судить нельзя"),
        ] {
            assert_eq!(goals(&ObjectiveCounts { kept, broken, unknown }), expected);
        }
    }
}
