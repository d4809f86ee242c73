//! Russian: what comparisons say.

use super::{NUMBERS as RU, Ru, counted, oblique, plural};
use crate::lang::compare::{CompareTerm, CompareWords, FigureCount};
use crate::page::number::three_digits;
use model::comparison::{
    Change, ConditionOutcome, ConditionResult, ConditionUnit, Difference, Metric, MetricKind, RunComparison,
    TestMethod,
};
use model::matrix::ChangeVerdict;

impl CompareWords for Ru {
    fn comparing(&self, it: CompareTerm) -> &'static str {
        match it {
            CompareTerm::Title => "Сравнение",
            CompareTerm::Unlike => "Сравнивается разное",
            CompareTerm::Conditions => "Условия",
            CompareTerm::Figures => "Показатели",
            CompareTerm::Differences => "Чем прогоны различаются",
            CompareTerm::LeftOut => "Что не учтено",
            CompareTerm::Operation => "операция",
            CompareTerm::Figure => "показатель",
            CompareTerm::Base => "база",
            CompareTerm::Run => "прогон",
            CompareTerm::Change => "изменение",
            CompareTerm::Interval => "95\u{a0}%",
            CompareTerm::Verdict => "вывод",
            CompareTerm::Method => "метод",
            CompareTerm::All => "все",
            CompareTerm::NoDifference => "планы, версии и машины одинаковы",
            CompareTerm::History => "История",
            CompareTerm::Series => "Прогоны",
            CompareTerm::ChangePoints => "Изменения",
            CompareTerm::When => "когда",
            CompareTerm::Program => "pgdyno",
            CompareTerm::Server => "PostgreSQL",
            CompareTerm::Trials => "измерений",
            CompareTerm::NothingElse => "ни план, ни версии, ни машина при этом не менялись",
        }
    }

    fn metric(&self, it: Metric) -> &'static str {
        match it {
            Metric::Tps => "выполнено, транз/с",
            Metric::P50 => "время ответа, p50",
            Metric::P90 => "время ответа, p90",
            Metric::P99 => "время ответа, p99",
            Metric::P999 => "время ответа, p99.9",
            Metric::ServiceP99 => "время обслуживания, p99",
            Metric::Errors => "ошибки",
            Metric::GeneratorCpu => "ЦП генератора",
            Metric::PoolerCpu => "ЦП перед PostgreSQL",
            Metric::ServerCpu => "ЦП PostgreSQL",
        }
    }

    fn differs(&self, metric: Metric, verdict: ChangeVerdict) -> &'static str {
        let timely = matches!(metric.kind(), MetricKind::Rate | MetricKind::Seconds);
        let faster = (verdict == ChangeVerdict::Higher) == (metric.kind() == MetricKind::Rate);
        match verdict {
            ChangeVerdict::NoEvidence => "не доказано",
            ChangeVerdict::TooFewRuns => "мало измерений",
            ChangeVerdict::Higher | ChangeVerdict::Lower if timely => {
                if faster {
                    "быстрее"
                } else {
                    "медленнее"
                }
            }
            ChangeVerdict::Higher => "выше",
            ChangeVerdict::Lower => "ниже",
        }
    }

    fn measure(&self, metric: Metric, value: f64) -> String {
        match metric.kind() {
            MetricKind::Seconds => RU.seconds(value),
            MetricKind::Share => RU.percent(value, 3),
            MetricKind::Rate | MetricKind::Processors => self.number(&three_digits(value)),
        }
    }

    fn changed(&self, it: &Change) -> String {
        match it {
            Change::Ratio { value, .. } => value.map_or(String::new(), |it| RU.change(it)),
            Change::Difference { value, .. } => format!("{}\u{a0}п.\u{a0}п.", points(*value)),
        }
    }

    fn changed_interval(&self, it: &Change) -> String {
        match (it, it.interval()) {
            (_, None) => String::new(),
            (Change::Ratio { .. }, Some(it)) => RU.changes(it),
            (Change::Difference { .. }, Some((low, high))) => {
                format!("от {} до {}\u{a0}п.\u{a0}п.", points(low), points(high))
            }
        }
    }

    fn comparison_question(&self, base: &str, runs: &[&str]) -> String {
        match runs {
            [] => format!("Чем ячейки прогона {base} отличаются от его базы сравнения?"),
            runs => format!("Что изменилось по сравнению с прогоном {base}: {}?", runs.join(", ")),
        }
    }

    fn comparison_answer(&self, it: &RunComparison) -> String {
        let FigureCount { figures, better, worse, other, too_few, unlike } = FigureCount::of(it);
        let found = better + worse + other;
        let all =
            |n: usize| format!("{} {}", RU.count(n as u64), oblique(n as u64, "показателя", "показателей"));
        let what = if figures == 0 {
            "сравнивать нечего".to_owned()
        } else if too_few == figures {
            "измерений слишком мало, чтобы доказать хоть какое-то различие".to_owned()
        } else if found == 0 {
            format!("ни для одного из {} различие не доказано", all(figures))
        } else {
            let parts = [(better, "лучше"), (worse, "хуже"), (other, "просто другие")];
            let told =
                parts.iter().filter(|it| it.0 > 0).map(|it| format!("{} — {}", it.1, RU.count(it.0 as u64)));
            format!("из {}: {}", all(figures), told.collect::<Vec<_>>().join(", "))
        };
        let but = match unlike {
            0 => String::new(),
            n => {
                let n = n as u64;
                let differ = plural(
                    n,
                    "отличие, которое само меняет",
                    "отличия, которые сами меняют",
                    "отличий, которые сами меняют",
                );
                format!("; но у прогонов есть {} {differ} показатели", RU.count(n))
            }
        };
        format!("{}: {what}{but}.", it.run.name)
    }

    fn unlike(&self, count: usize) -> String {
        let n = count as u64;
        let differ = plural(n, "отличие само меняет", "отличия сами меняют", "отличий сами меняют");
        format!("{} {differ} показатели, что бы ни сравнивалось:", RU.count(n))
    }

    fn differing(&self, it: &Difference, cells: &[&str]) -> String {
        let told = |it: &Option<String>| it.clone().unwrap_or_else(|| "нет".to_owned());
        let of = if cells.is_empty() { String::new() } else { format!(" ({})", cells.join(", ")) };
        let expected = if it.expected { ", намеренно" } else { "" };
        format!("{}: {} → {}{of}{expected}", it.path, told(&it.base), told(&it.run))
    }

    fn method(&self, it: &TestMethod) -> String {
        let trials = |n: u32| counted(n.into(), "измерение", "измерения", "измерений");
        let of_trials =
            |n: u32| format!("{} {}", RU.count(n.into()), oblique(n.into(), "измерения", "измерений"));
        match it {
            TestMethod::Trials { base, run } => {
                format!("по рангам {base} и {}: точно при любом их распределении", of_trials(*run))
            }
            TestMethod::Pairs { pairs } => format!(
                "по рангам разностей {} {} измерений, сделанных рядом по времени",
                RU.count((*pairs).into()),
                oblique((*pairs).into(), "пары", "пар")
            ),
            TestMethod::FewTrials { base, run } => format!(
                "по распределению Стьюдента для {base} и {}, если их логарифмы распределены нормально; для четырёх с \
                 каждой стороны этого не требуется",
                of_trials(*run)
            ),
            TestMethod::Blocks { base, run } => format!(
                "по {} и {} блокам длиной {} и {}\u{a0}с, выбранным повторно (корреляция соседних секунд {} и {}): только об \
                 этих отрезках времени; что покажет ещё одно измерение, неизвестно",
                base.count,
                run.count,
                RU.fixed(base.seconds, 0),
                RU.fixed(run.seconds, 0),
                RU.fixed(base.correlation, 2),
                RU.fixed(run.correlation, 2)
            ),
            TestMethod::None { base, run } => {
                format!("для интервала мало: в базе {}, в прогоне {run}", trials(*base))
            }
        }
    }

    fn excluded(&self, of_base: bool, cell: &str, repetition: u32, why: &str) -> String {
        let of = if of_base { "база" } else { "прогон" };
        let cell = if cell.is_empty() { String::new() } else { format!(" {cell},") };
        format!("{of},{cell} измерение {}: {why}", repetition + 1)
    }

    fn unmatched(&self, of_base: bool, cells: &[&str]) -> String {
        let of = if of_base { "базе" } else { "прогоне" };
        format!("есть только в {of}: {}", cells.join(", "))
    }

    fn condition(&self, it: &ConditionResult, cell: &str) -> String {
        let number = |value: f64| match it.unit {
            ConditionUnit::Relative => RU.change(1.0 + value),
            ConditionUnit::Points => format!("{}\u{a0}п.\u{a0}п.", points(value)),
            ConditionUnit::Seconds => RU.seconds(value),
            ConditionUnit::Share => RU.percent(value, 3),
            ConditionUnit::PerSecond | ConditionUnit::Processors => self.number(&three_digits(value)),
        };
        let of = if cell.is_empty() { String::new() } else { format!(" ({cell})") };
        let value = it.value.map_or(String::new(), |it| format!(": {}", number(it)));
        let within = it
            .interval
            .map_or(String::new(), |(low, high)| format!(", от {} до {}", number(low), number(high)));
        let outcome = match it.outcome {
            ConditionOutcome::Yes => "выполняется",
            ConditionOutcome::No => "не выполняется",
            ConditionOutcome::Unknown => "сказать нельзя",
            ConditionOutcome::Absent => "сказать нельзя: такого показателя у прогонов нет",
        };
        format!("{}{of}: {outcome}{value}{within}", it.text)
    }

    fn comparison_legend(&self, seed: u64, figures: usize) -> String {
        let n = figures as u64;
        format!(
            "медианы достоверных измерений; изменения — с доверительными интервалами 95\u{a0}%; доля ложных открытий среди {} {} — не \
             более 5\u{a0}%; начальное число {seed}",
            RU.count(n),
            oblique(n, "показателя", "показателей")
        )
    }

    fn history_question(&self, experiment: &str) -> String {
        format!("Когда изменились показатели эксперимента {experiment}?")
    }

    fn history_answer(&self, runs: usize, changes: usize, too_few: bool) -> String {
        let runs = runs as u64;
        let all = counted(runs, "прогон", "прогона", "прогонов");
        let among = format!("{} {}", RU.count(runs), oblique(runs, "прогона", "прогонов"));
        match (changes, too_few) {
            (0, true) => {
                format!("{all} — слишком мало, чтобы найти изменение: нужно пять до него и пять после.")
            }
            (0, false) => format!("Среди {among} изменение не доказано."),
            (n, _) => format!("{} на {all}.", counted(n as u64, "изменение", "изменения", "изменений")),
        }
    }

    fn change_point(&self, metric: Metric, run: &str, before: f64, after: f64, p: f64) -> String {
        let [from, to] = [before, after].map(|it| self.measure(metric, it));
        format!(
            "{}, начиная с {run}: {from} → {to} ({}, p {})",
            self.metric(metric),
            RU.change(after / before),
            RU.fixed(p, 4)
        )
    }
}

/// In percentage points, with its sign.
fn points(share: f64) -> String {
    Ru.number(&format!("{:+.3}", 100.0 * share))
}
