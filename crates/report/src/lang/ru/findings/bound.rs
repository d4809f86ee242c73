//! Russian: what else holds the throughput where it is.

use super::{RU, cpus, held_back};
use crate::lang::told::short;
use model::finding::Bound;

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Bound) -> String {
    match it {
        Bound::Service { node, .. } => format!("{node} упирается в процессор"),
        Bound::ServicePool { node, pool, .. } => {
            format!("{node} раздал все свои соединения ({pool}), и запросы ждут свободного")
        }
        Bound::ServiceThreads { node, .. } => format!("все потоки {node} заняты, и запросы ждут свободного"),
        Bound::Reads { node, .. } => format!("{node} ждёт чтения с диска"),
        Bound::Writes { node, .. } => format!("{node} ждёт записи на диск"),
        Bound::Memory { node, .. } => {
            format!("{node} не хватает памяти для того, что у него спрашивают: вытесненное он читает снова")
        }
        Bound::WalFlush { .. } => "фиксация транзакций ждёт записи журнала на диск".to_owned(),
        Bound::SyncReplicas { .. } => "фиксация транзакций ждёт реплик".to_owned(),
        Bound::RowLocks { .. } => "транзакции ждут строк друг друга".to_owned(),
        Bound::Scans { table, .. } => format!("таблица {table} раз за разом читается целиком"),
        Bound::Checkpoints { .. } => "контрольные точки заметны".to_owned(),
        Bound::Clients { clients, .. } => format!(
            "ничто не исчерпано: столько клиентов ({clients}) в замкнутом цикле, где каждый ждёт своего ответа, большего \
             не просят"
        ),
    }
}

/// Figures of one cell.
pub fn item(it: &Bound) -> String {
    let figures: Vec<Option<String>> = match it {
        Bound::Service { cpu, of_cpu, throttled, stood_still, .. } => {
            return format!("({}{})", cpus(*cpu, *of_cpu), held_back(*throttled, *stood_still));
        }
        Bound::ServicePool { size, busy, waiting, waited, .. } => vec![
            Some(format!("выдано {} из {}", RU.fixed(*busy, 1), RU.fixed(*size, 0))),
            waiting.map(|it| format!("ждут {}", RU.fixed(it, 1))),
            waited.map(|it| format!("ждать пришлось {} запросов", RU.percent(it, 0))),
        ],
        Bound::ServiceThreads { size, busy, waiting, .. } => vec![
            Some(format!("занято {} из {}", RU.fixed(*busy, 1), RU.fixed(*size, 0))),
            waiting.map(|it| format!("ждут {}", RU.fixed(it, 1))),
        ],
        Bound::Reads { per_second, quota, waits, in_bytes, .. }
        | Bound::Writes { per_second, quota, waits, in_bytes, .. } => {
            let number = |it| if *in_bytes { RU.bytes(it) } else { RU.three(it) };
            let of = quota.map_or(String::new(), |it| format!(" из {}", number(it)));
            vec![
                per_second.map(|it| format!("в секунду {}{of}", number(it))),
                waits.map(|it| format!("ждут {} активных сеансов", RU.percent(it, 0))),
            ]
        }
        Bound::Memory { used, limit, read, .. } => vec![
            Some(format!("занято {} из {}", RU.bytes(*used), RU.bytes(*limit))),
            Some(format!("{} с диска на транзакцию", RU.bytes(*read))),
        ],
        Bound::WalFlush { share, active } | Bound::SyncReplicas { share, active } => {
            vec![Some(sessions(*share, *active))]
        }
        Bound::RowLocks { share, active, longest, statements } => {
            let most = longest.map(|it| format!("не дольше {}", RU.seconds(it)));
            let in_these: Vec<String> = statements.iter().map(|it| short(it)).collect();
            let in_these = (!in_these.is_empty()).then(|| format!("на чём: {}", in_these.join(" | ")));
            vec![Some(sessions(*share, *active)), most, in_these]
        }
        Bound::Scans { scans, rows, cpu, .. } => vec![
            Some(format!("{} на транзакцию", RU.three(*scans))),
            Some(format!("строк за раз {}", RU.three(rows.round()))),
            cpu.map(|it| format!("ЦП PostgreSQL занят на {}", RU.percent(it, 0))),
        ],
        Bound::Checkpoints { requested, share, slowed } => vec![
            (*requested > 0.0).then(|| format!("из-за роста журнала {}", RU.fixed(*requested, 0))),
            Some(format!("запись идёт {} времени", RU.percent(*share, 0))),
            slowed.map(|it| format!("пропускная способность при этом {}", RU.change(it))),
        ],
        Bound::Clients { mean, throughput_bound: most, delivered, idle, .. } => vec![
            Some(format!("{}/с из возможных {}/с", RU.three(*delivered), RU.three(*most))),
            Some(format!("в среднем {}", RU.seconds(*mean))),
            Some(format!("свободно {} ЦП PostgreSQL", RU.percent(*idle, 0))),
        ],
    };
    format!("({})", figures.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn sessions(share: f64, active: f64) -> String {
    format!("{} из {} активных сеансов", RU.percent(share, 0), RU.fixed(active, 1))
}
