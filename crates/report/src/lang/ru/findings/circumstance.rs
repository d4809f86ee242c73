//! Russian: under which circumstances a cell was measured.

use super::super::oblique;
use super::RU;
use crate::lang::told::lacking;
use model::finding::{Circumstance, FindingRule, MissingInput, ReadVolume};

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Circumstance) -> String {
    match it {
        Circumstance::FeedFitsCache { feed, distinct, touched, bytes, memory, .. } => {
            let [touched, bytes, memory] = [touched, bytes, memory].map(|it| RU.bytes(*it as f64));
            format!(
                "лента {feed} измеряет кэш: её разные значения ({}) ведут к {touched} из {bytes}, а столько помещается в \
                 память сервера ({memory})",
                RU.count(*distinct)
            )
        }
        Circumstance::ChainedPools { service, connections, pooler, pool, .. } => {
            format!("два пула подряд: у {service} соединений {connections:.0}, а у {pooler} за ним — {pool}")
        }
        Circumstance::ConnectionStorm { .. } => {
            "соединения всё время открываются заново или запросы отменяются".to_owned()
        }
        Circumstance::GeneratorLate { .. } => {
            "измерения, которые не в счёт, потому что всё упиралось в генератор или его машину".to_owned()
        }
        Circumstance::NoisyHost { .. } => "эта машина обслуживала других или поздно будила спящих".to_owned(),
        Circumstance::Bloat { .. } => "неубранные версии строк".to_owned(),
        Circumstance::IdleTransactions { .. } => {
            "транзакции остаются открытыми: сеансы PostgreSQL простаивают в них дольше секунды, удерживая блокировки и \
             серверные соединения пула. Забыл ли о них клиент или медлит, не видно, как и то, что короче"
                .to_owned()
        }
        Circumstance::LittlesLawViolation { node, .. } => format!(
            "в {node} находится не столько, сколько через него проходит, умноженное на время в нём (закон Литтла): там есть \
             то, что не закончилось или учтено в другом месте"
        ),
        Circumstance::NotUsed { node, .. } => format!(
            "нагрузка не прошла через {node}: он насчитал намного меньше транзакций, чем завершили клиенты, или ни одной. Либо \
             они прошли другим путём, чем показано, либо это счётчики другого узла; ограничений для {node} не указано"
        ),
        Circumstance::RulesSkipped { rules } => {
            let each = lacking(rules).into_iter().map(|(why, rules)| {
                format!("{} ({})", rules.into_iter().map(rule).collect::<Vec<_>>().join(", "), missing(why))
            });
            format!("без вывода: {}", each.collect::<Vec<_>>().join("; "))
        }
    }
}

/// Figures of one cell; nothing where its paragraph says all.
pub fn item(it: &Circumstance) -> String {
    let figures: Vec<Option<String>> = match it {
        Circumstance::FeedFitsCache { read, .. } => vec![read_back(*read)],
        Circumstance::ChainedPools { lent, sets, waiting, .. } => vec![
            lent.map(|it| format!("серверное соединение выдано {} раза на транзакцию", RU.fixed(it, 2))),
            sets.map(|it| format!("команд настройки сеанса на транзакцию {}", RU.three(it))),
            waiting.map(|it| format!("ждут {}", RU.fixed(it, 1))),
        ],
        Circumstance::ConnectionStorm { logins, cancelled } => vec![
            logins.map(|it| {
                let [each, by] = [it.per_second, it.per_transaction].map(|it| RU.three(it));
                format!("подключений в секунду {each}, на транзакцию {by}")
            }),
            (*cancelled > 0.0).then(|| format!("отменено {} из 1000", RU.three(*cancelled))),
        ],
        Circumstance::GeneratorLate { trials, total_trials: of, .. } => return format!("{trials} из {of}"),
        Circumstance::NoisyHost { stolen, jitter } => vec![
            stolen.map(|it| format!("отнято ЦП {}", RU.fixed(it, 2))),
            jitter.map(|it| format!("опоздание {} по p99", RU.seconds(it))),
        ],
        Circumstance::Bloat { from, to, live, vacuums, trials } => vec![
            Some(format!(
                "в первом из {trials} {} {}, в последнем {}, живых строк {}",
                oblique((*trials).into(), "измерения", "измерений"),
                RU.three(from.round()),
                RU.three(to.round()),
                RU.three(live.round())
            )),
            (*vacuums > 0.0).then(|| format!("убрано таблиц за измерение: {}", RU.fixed(*vacuums, 0))),
        ],
        Circumstance::IdleTransactions { sessions, longest, horizon, blocked, pool } => vec![
            Some(format!("одновременно {}", RU.fixed(*sessions, 1))),
            Some(format!("самый долгий простой {}", RU.seconds(*longest))),
            (*horizon > 0.0).then(|| format!("мешают убирать версии строк {}", RU.fixed(*horizon, 1))),
            (*blocked > 0.0).then(|| format!("сеансов, ждущих их блокировок, {}", RU.fixed(*blocked, 1))),
            pool.map(|(size, waiting)| format!("клиентов, ждущих пула из {size}, {}", RU.fixed(waiting, 1))),
        ],
        Circumstance::LittlesLawViolation { number, expected, rate, time, .. } => vec![
            Some(format!("в нём {} вместо {}", RU.fixed(*number, 1), RU.fixed(*expected, 1))),
            Some(format!("{}/с", RU.three(*rate))),
            Some(format!("по {}", RU.seconds(*time))),
        ],
        Circumstance::NotUsed { transactions, counted, trials, total_trials: of, .. } => vec![Some(format!(
            "он насчитал {} из {} транзакций, измерений {trials} из {of}",
            RU.count(*counted),
            RU.count(*transactions)
        ))],
        Circumstance::RulesSkipped { .. } => Vec::new(),
    };
    let known: Vec<String> = figures.into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!("({})", known.join("; ")) }
}

/// `None` where it was not measured.
pub fn read_back(it: ReadVolume) -> Option<String> {
    let blocks = it.blocks.map(|it| format!("блоков мимо буферов PostgreSQL {}", RU.three(it)));
    let disk = it.disk.map(|it| format!("{} с диска", RU.bytes(it)));
    let known: Vec<String> = blocks.into_iter().chain(disk).collect();
    (!known.is_empty()).then(|| format!("на транзакцию {}", known.join(" и ")))
}

pub fn rule(it: FindingRule) -> &'static str {
    match it {
        FindingRule::ServerCpu => "процессор PostgreSQL",
        FindingRule::PoolerCpu => "процессор пулера",
        FindingRule::ServiceCpu => "процессор сервиса",
        FindingRule::Pool => "пул",
        FindingRule::ServicePool => "соединения сервиса",
        FindingRule::ServiceThreads => "потоки сервиса",
        FindingRule::Waits => "ожидания блокировок, журнала и реплик",
        FindingRule::Reads => "чтение с диска",
        FindingRule::Writes => "запись на диск",
        FindingRule::Memory => "память",
        FindingRule::Scans => "чтение таблиц целиком",
        FindingRule::Checkpoints => "контрольные точки",
        FindingRule::Storm => "подключения",
        FindingRule::Bloat => "неубранные версии строк",
        FindingRule::IdleTransactions => "незавершённые транзакции",
        FindingRule::Host => "машина",
        FindingRule::Feed => "помещается ли лента в память",
    }
}

pub fn missing(it: MissingInput) -> &'static str {
    match it {
        MissingInput::Group => "не видно, сколько он занимает на машине",
        MissingInput::Quota => "нет квоты для сравнения",
        MissingInput::Server => "не видно статистики PostgreSQL",
        MissingInput::Console => "не видно консоли пулера",
        MissingInput::Stats => "сервис не сообщает статистики",
        MissingInput::Machine => "не видно статистики машины",
        MissingInput::Column => "ни у одной ленты не указан столбец",
    }
}
