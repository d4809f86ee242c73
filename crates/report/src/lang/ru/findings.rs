//! Russian: findings.
//!
//! Findings that share their [`group`] are one paragraph: what they have in common, then cell by cell what they do not.
//! Figures of one cell stand in brackets and between semicolons, because numbers have commas of their own.

mod bound;
pub(super) mod circumstance;

use super::NUMBERS as RU;
use super::matrix::{entrance, mode};
use super::{counted, oblique};
use crate::lang::told::{
    self, ApparentGain, CellSelection, ExcludedCount, RemainingGroup, ShareRange, list, name,
};
use circumstance::read_back;
use model::finding::{
    CellResponse, ConnectionLimit, Finding, IncomparableReason, SizeChange, ThroughputComparison,
};
use model::plan::{PoolMode, Transport};

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Finding) -> String {
    match it {
        Finding::SlotsExhausted { limit: ConnectionLimit::Role, .. } => {
            "PostgreSQL отказывал в подключении: исчерпан предел подключений роли".to_owned()
        }
        Finding::SlotsExhausted { limit: ConnectionLimit::Database, .. } => {
            "PostgreSQL отказывал в подключении: исчерпан предел подключений базы данных".to_owned()
        }
        Finding::SlotsExhausted { max_connections, .. } => {
            let slots = max_connections.map_or(String::new(), |it| format!(" (max_connections {it})"));
            format!("в PostgreSQL кончились слоты подключений{slots}")
        }
        Finding::ClientsStarved { pool: None, .. } => {
            "среднее скрывает, что обслужена только часть клиентов (индекс Джейна 1 — всем поровну)"
                .to_owned()
        }
        Finding::ClientsStarved { pool: Some((it, size)), .. } => format!(
            "среднее скрывает, что за пулом из {size} {} в режиме {} обслужена только часть клиентов",
            oblique((*size).into(), "соединения", "соединений"),
            of_mode(*it)
        ),
        Finding::NotCompared { .. } => {
            "не участвуют в сравнениях, потому что не все клиенты сделали свою работу".to_owned()
        }
        Finding::HostBound { processors, .. } => format!(
            "все процессоры этой машины ({processors:.0}) были заняты, поэтому ячейки различаются и тем, кому они \
             достались"
        ),
        Finding::GeneratorShare { processors, .. } => {
            format!("генератор занял заметную часть процессоров этой машины (всего {processors:.0})")
        }
        Finding::LikeForLikeCost { .. } => {
            "пропускная способность против прямой ячейки, с одним и тем же транспортом на всех участках"
                .to_owned()
        }
        Finding::UnlikeComparison { transports, with_transport, .. } => {
            let ways: Vec<&str> = told::kinds(transports).into_iter().map(entrance).collect();
            format!(
                "при разном транспорте, {} против {}, вышло бы (в скобках — при одинаковом)",
                ways.join(" и "),
                of_entrance(*with_transport)
            )
        }
        Finding::NoDifference { .. } => {
            "не доказано, что режим пула меняет пропускную способность".to_owned()
        }
        Finding::QueueInPooler { node, waiting: Some(_), .. } => format!(
            "очередь стоит в {node}; ждущие клиенты по данным его консоли, самое долгое ожидание, занятые сеансы \
             PostgreSQL"
        ),
        Finding::QueueInPooler { node, waiting: None, .. } => format!(
            "очередь стоит в {node} (его консоль не отличает ждущих клиентов от простаивающих); транзакции в работе, \
             занятые сеансы PostgreSQL"
        ),
        Finding::QueueInBalancer { node, maxconn, .. } => {
            let maxconn = maxconn.map_or(String::new(), |it| format!(" (maxconn {it})"));
            format!("очередь стоит в {node}{maxconn}; ждущие соединения и их среднее ожидание")
        }
        Finding::PoolerBound { node, .. } => format!(
            "{node} упирается в процессор, а не в пул, что бы ни показывала его консоль — из выданных им серверных \
             соединений запрос выполняют лишь немногие"
        ),
        Finding::PoolBound { node, .. } => format!("{node} упирается в размер пула, а не в процессор"),
        Finding::ServerBound { node, .. } => format!("{node} упирается в процессор"),
        Finding::SessionsWait { event, .. } => {
            format!("большинство активных сеансов PostgreSQL ждало {event}")
        }
        Finding::Failures { code, name, .. } => {
            format!(
                "транзакции завершились ошибкой {code}{}",
                name.map_or(String::new(), |it| format!(" {it}"))
            )
        }
        Finding::Deadlocks { .. } => "взаимных блокировок на тысячу транзакций".to_owned(),
        // Whose these are its paragraph says.
        Finding::NotConcurrent { with_busy, .. } => {
            format!("где в PostgreSQL было в работе {} транзакции", RU.fixed(*with_busy, 1))
        }
        Finding::NotOpenLoop { in_flight_max, .. } => {
            format!(
                "открытый тест превратился в закрытый, потому что все клиенты ({in_flight_max}) были заняты"
            )
        }
        Finding::AnswerSizes { operation, step, .. } => format!(
            "ответы на {} различаются размером, хотя их статус ожидаемый; проверьте, не страницы ли ошибки или входа \
             маленькие из них, и укажите текст, который ответ должен содержать",
            told::request(operation, step.as_deref())
        ),
        Finding::ClientsLeftAfterTest { node, .. } => {
            format!("{node} держал клиентов и после окончания нагрузки")
        }
        Finding::Bound { bound: by, .. } => bound::group(by),
        Finding::Circumstance { circumstance: it, .. } => circumstance::group(it),
        Finding::OpenAndClosed { .. } => {
            "закрытый тест не знает, сколько ждут те, чьи заявки приходят и без ответов на прежние".to_owned()
        }
        Finding::FeedsDiffer { feed, .. } => format!("от ленты {feed} зависит, что измерено"),
    }
}

/// All of one group, at least one.
pub fn paragraph(all: &[&Finding], names: &[String]) -> String {
    let lead = group(all[0]);
    // Where there is only one cell it has no name.
    let items = || all.iter().map(|it| item(it, names).trim().to_owned()).filter(|it| !it.is_empty());
    let each = || items().collect::<Vec<_>>().join("; ");
    match told::rest(all, names.len()) {
        RemainingGroup::Table => format!("{lead}:"),
        RemainingGroup::Each if items().next().is_none() => lead,
        RemainingGroup::Each => format!("{lead}: {}", each()),
        RemainingGroup::EachBeside(with) => {
            format!("число взаимных блокировок нельзя сравнивать с {}, {lead}: {}", name(names, with), each())
        }
        RemainingGroup::LeftOut(reasons) => format!("{lead}: {}", left_out(&reasons, names)),
        RemainingGroup::Seeming(it) => format!("{lead}: {}", seeming(&it, names)),
        RemainingGroup::Shares(it) => format!("{lead}; {}", shares(&it, names)),
    }
}

/// What one finding adds to its group.
fn item(it: &Finding, names: &[String]) -> String {
    let name = |cell: &usize| name(names, *cell);
    match it {
        Finding::SlotsExhausted { cell, refused, logged, first_second, trials, total_trials: of, .. } => {
            let late = first_second.filter(|it| *it > 0);
            let first = late.map_or(String::new(), |it| format!(", впервые на секунде {it}"));
            let (refused, logged) = (RU.count(*refused), RU.count(*logged));
            format!("{} (отказов {refused}, по журналу {logged}{first}{})", name(cell), some_of(*trials, *of))
        }
        Finding::ClientsStarved { cell, served, without, clients, jain, .. } => {
            let hardly = clients - served - without;
            let hardly = if hardly > 0 {
                format!("ещё {hardly} — почти никак, ")
            } else {
                String::new()
            };
            format!("{} {served} из {clients} ({hardly}индекс Джейна {})", name(cell), RU.fixed(*jain, 2))
        }
        Finding::NotCompared { cell, .. } | Finding::LikeForLikeCost { cell, .. } => name(cell).to_owned(),
        Finding::HostBound { cell, generator, before, server, others, .. } => {
            let told = [
                ("генератор", generator),
                ("перед PostgreSQL", before),
                ("PostgreSQL", server),
                ("остальные", others),
            ];
            let each = told.iter().filter_map(|(who, it)| Some(format!("{who} {}", RU.fixed((**it)?, 2))));
            format!("{} ({})", name(cell), each.collect::<Vec<_>>().join("; "))
        }
        Finding::GeneratorShare { cell, used, .. } => format!("{} {}", name(cell), RU.fixed(*used, 2)),
        Finding::UnlikeComparison { cell, compared, like, .. } => {
            format!("{} {} ({})", name(cell), RU.change(compared.ratio), RU.change(*like))
        }
        Finding::NoDifference { cell, with, mode: of, with_mode, compared } => {
            let modes = match told::named_by_mode(names, [(*cell, *of), (*with, *with_mode)]) {
                true => String::new(),
                false => format!(" ({} против режима {})", mode(*of), of_mode(*with_mode)),
            };
            format!("{} против {}{modes} {}", name(cell), name(with), figures(compared))
        }
        Finding::QueueInPooler { cell, waiting, longest, under_way, busy, .. } => {
            let first = RU.fixed(waiting.unwrap_or(*under_way), 1);
            let longest = longest.map(|it| RU.seconds(it));
            let busy = busy.map(|it| RU.fixed(it, 1));
            let known: Vec<String> = [Some(first), longest, busy].into_iter().flatten().collect();
            format!("{} ({})", name(cell), known.join("; "))
        }
        Finding::QueueInBalancer { cell, waiting, wait, .. } => {
            let wait = wait.map_or(String::new(), |it| format!("; {}", RU.seconds(it)));
            format!("{} ({}{wait})", name(cell), RU.fixed(*waiting, 1))
        }
        Finding::PoolerBound {
            cell,
            cpu,
            cpu_limit: of_cpu,
            throttled,
            throttled_cpu: stood_still,
            pool,
            lent,
            active,
            ..
        } => {
            let lent = lent.map_or(String::new(), |it| format!("; выдано {} из {pool}", RU.fixed(it, 1)));
            format!(
                "{} ({}{}{lent}; выполняют {})",
                name(cell),
                cpus(*cpu, *of_cpu),
                held_back(*throttled, *stood_still),
                RU.fixed(*active, 1)
            )
        }
        Finding::PoolBound { cell, pool, lent, busy, cpu, of_cpu, .. } => format!(
            "{} (выдано {} из {pool}; заняты в PostgreSQL {}; {})",
            name(cell),
            RU.fixed(*lent, 1),
            RU.fixed(*busy, 1),
            cpus(*cpu, *of_cpu)
        ),
        Finding::ServerBound {
            cell, cpu, cpu_limit: of_cpu, throttled, throttled_cpu: stood_still, ..
        } => {
            format!("{} ({}{})", name(cell), cpus(*cpu, *of_cpu), held_back(*throttled, *stood_still))
        }
        Finding::SessionsWait { cell, share, active, .. } => {
            format!("{} {} из {}", name(cell), RU.percent(*share, 0), RU.fixed(*active, 1))
        }
        Finding::Failures { cell, count, of, .. } => {
            format!("{} {} из {}", name(cell), RU.count(*count), RU.count(*of))
        }
        Finding::Deadlocks { cell, of_thousand, interval, runs } => {
            let interval = interval.map_or(String::new(), |it| format!("95\u{a0}%: {}; ", RU.range(it, 2)));
            let runs = counted((*runs).into(), "измерение", "измерения", "измерений");
            format!("{} {} ({interval}{runs})", name(cell), RU.fixed(*of_thousand, 2))
        }
        Finding::NotConcurrent { cell, busy, .. } => format!("{} {}", name(cell), RU.fixed(*busy, 1)),
        Finding::NotOpenLoop { cell, arrivals, waited, dropped, trials, total_trials: of, .. } => format!(
            "{} (ждали клиента {}, отброшено {} из {} {}{})",
            name(cell),
            RU.count(*waited),
            RU.count(*dropped),
            RU.count(*arrivals),
            oblique(*arrivals, "заявки", "заявок"),
            some_of(*trials, *of)
        ),
        Finding::AnswerSizes { cell, change, share, .. } => {
            let bytes = |it: &u64| RU.bytes(*it as f64);
            let share = RU.percent(*share, 0);
            let cell = name(cell);
            match change {
                SizeChange::Fell { before, after, second } => format!(
                    "{cell} — медиана {}, с {second}-й секунды {} ({share} всех)",
                    bytes(before),
                    bytes(after)
                ),
                SizeChange::TwoPopulations { small, large } => {
                    format!("{cell} — {share} около {}, остальные {}", bytes(small), bytes(large))
                }
                SizeChange::SmallerThan { with, here, there } => {
                    format!("{cell} — медиана {}, {} — {}", bytes(here), name(with), bytes(there))
                }
            }
        }
        Finding::ClientsLeftAfterTest { cell, clients, trials, of, .. } => {
            format!("{} {}{}", name(cell), RU.count(*clients), some_of(*trials, *of))
        }
        Finding::Bound { cell, bound: by } => format!("{} {}", name(cell), bound::item(by)),
        Finding::Circumstance { cell, circumstance: it } => {
            format!("{} {}", name(cell), circumstance::item(it)).trim_end().to_owned()
        }
        Finding::OpenAndClosed { cell, with, offered, open, closed } => format!(
            "{} — {}; {}, где предложено {}/с, — {}",
            name(with),
            answered(closed),
            name(cell),
            RU.three(*offered),
            answered(open)
        ),
        Finding::FeedsDiffer { cell, with, mine, other, read, with_read, .. } => {
            let each = |cell, it, read| {
                let read = read_back(read).map_or(String::new(), |it| format!(" ({it})"));
                format!("{} — {}{read}", name(cell), answered(it))
            };
            format!("{}; {}", each(cell, mine, *read), each(with, other, *with_read))
        }
    }
}

/// Behind "режим": of sessions, …
fn of_mode(it: PoolMode) -> &'static str {
    mode(it).trim_start_matches("режим ")
}

/// Behind "против".
fn of_entrance(it: Transport) -> &'static str {
    match it {
        Transport::Unix => "Unix-сокета",
        Transport::Tcp | Transport::Tls => entrance(it),
    }
}

fn left_out(reasons: &[(IncomparableReason, Vec<ExcludedCount>)], names: &[String]) -> String {
    let cell = |it: &ExcludedCount| {
        let failed = it.failed.map_or(String::new(), |it| format!(" ({})", RU.percent(it, 1)));
        name(names, it.cell).to_owned() + &failed
    };
    let each = reasons.iter().map(|(why, cells)| {
        let why = match why {
            IncomparableReason::SlotsExhausted => "в подключении отказано в",
            IncomparableReason::ClientsStarved => "клиенты обделены в",
            IncomparableReason::Errors { .. } => "больше 1\u{a0}% ошибок в",
        };
        format!("{why} {}", cells.iter().map(cell).collect::<Vec<_>>().join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}

fn seeming(it: &ApparentGain, names: &[String]) -> String {
    let [unlike, like] = [it.unlike, it.like].map(|it| RU.changes(it));
    format!("{unlike} ({like}) в {}", list(names, &it.cells))
}

fn shares(it: &ShareRange, names: &[String]) -> String {
    let cells = match &it.cells {
        CellSelection::All => "во всех ячейках".to_owned(),
        CellSelection::AllBut(without) => format!("во всех ячейках, кроме {}", list(names, without)),
        CellSelection::These(with) => format!("в {}", list(names, with)),
    };
    let used = [
        ("генератор", it.generator),
        ("то, что стоит перед PostgreSQL,", it.before),
        ("PostgreSQL", it.server),
        ("остальные на этой машине", it.others),
    ];
    let ranges = used.into_iter().filter_map(|(who, it)| Some(format!("{who} {}", RU.range(it?, 2))));
    format!("{cells} заняли: {}", ranges.collect::<Vec<_>>().join("; "))
}

/// `-15,6 % (95 %: от -16,1 до -15,3 %)`.
fn figures(it: &ThroughputComparison) -> String {
    let interval = it.interval.map_or(String::new(), |it| format!(" (95\u{a0}%: {})", RU.changes(it)));
    RU.change(it.ratio) + &interval
}

fn cpus(used: f64, of: f64) -> String {
    format!("ЦП {} из {}", RU.fixed(used, 2), RU.plain(of))
}

/// Nothing where it was in all trials.
fn some_of(trials: u32, of: u32) -> String {
    match trials == of {
        true => String::new(),
        false => format!(", в {trials} {} из {of}", oblique(trials.into(), "измерении", "измерениях")),
    }
}

/// `p99 171 мс при 47,7/с`.
fn answered(it: &CellResponse) -> String {
    let rate = format!("{}/с", RU.three(it.delivered));
    it.p99.map_or(rate.clone(), |it| format!("p99 {} при {rate}", RU.seconds(it)))
}

fn held_back(throttled: Option<f64>, stood_still: Option<f64>) -> String {
    let periods = throttled.map(|it| format!("; придержан в {} периодов", RU.percent(it, 0)));
    // A hundredth of a processor is not worth a word.
    let still =
        stood_still.filter(|it| *it >= 0.01).map(|it| format!("; простаивало ЦП {}", RU.fixed(it, 2)));
    periods.into_iter().chain(still).collect()
}
