//! English: findings.
//!
//! Findings that share their [`group`] are one paragraph: what they have in common, then cell by cell what they do not.

mod bound;
pub(super) mod circumstance;

use super::NUMBERS;
use super::matrix::{entrance, mode};
use crate::lang::told::{
    self, ApparentGain, CellSelection, ExcludedCount, RemainingGroup, ShareRange, list, name,
};
use circumstance::read_back;
use model::finding::{
    CellResponse, ConnectionLimit, Finding, IncomparableReason, SizeChange, ThroughputComparison,
};

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Finding) -> String {
    match it {
        Finding::SlotsExhausted { limit: ConnectionLimit::Role, .. } => {
            "PostgreSQL refused connections: the role's CONNECTION LIMIT was reached".to_owned()
        }
        Finding::SlotsExhausted { limit: ConnectionLimit::Database, .. } => {
            "PostgreSQL refused connections: the database's CONNECTION LIMIT was reached".to_owned()
        }
        Finding::SlotsExhausted { max_connections, .. } => {
            let slots = max_connections.map_or(String::new(), |it| format!(" (max_connections {it})"));
            format!("PostgreSQL's slots ran out{slots}")
        }
        Finding::ClientsStarved { pool: None, .. } => {
            "the average hides that only some clients were served (Jain's index: 1 is fair)".to_owned()
        }
        Finding::ClientsStarved { pool: Some((it, size)), .. } => format!(
            "the average hides that only some clients were served, behind a pool of {size} in {} mode",
            mode(*it)
        ),
        Finding::NotCompared { .. } => {
            "left out of comparisons, because not all clients did their work".to_owned()
        }
        Finding::HostBound { processors, .. } => format!(
            "all {processors:.0} processors of this machine were busy, so that cells differ also in who got them"
        ),
        Finding::GeneratorShare { processors, .. } => {
            format!("the generator took a good part of this machine's {processors:.0} processors")
        }
        Finding::LikeForLikeCost { .. } => {
            "throughput beside the direct cell, the same transport on every hop".to_owned()
        }
        Finding::UnlikeComparison { transports, with_transport, .. } => format!(
            "unlike transports, {} beside {}, would say (and like for like)",
            told::kinds(transports).into_iter().map(entrance).collect::<Vec<_>>().join(" and "),
            entrance(*with_transport)
        ),
        Finding::NoDifference { .. } => "no evidence that the pool's mode changes throughput".to_owned(),
        Finding::QueueInPooler { node, waiting: Some(_), .. } => format!(
            "the queue stands in {node}: clients waiting by its console, the longest wait, busy sessions of PostgreSQL"
        ),
        Finding::QueueInPooler { node, waiting: None, .. } => format!(
            "the queue stands in {node} (its console does not tell waiting clients from idle ones): transactions under \
             way, busy sessions of PostgreSQL"
        ),
        Finding::QueueInBalancer { node, maxconn, .. } => {
            let maxconn = maxconn.map_or(String::new(), |it| format!(" (maxconn {it})"));
            format!("the queue stands in {node}{maxconn}: connections waiting, and for how long on average")
        }
        Finding::PoolerBound { node, .. } => format!(
            "{node}'s processor is the limit, not its pool, whatever its console says: few of the servers it has lent \
             run a statement"
        ),
        Finding::PoolBound { node, .. } => format!("the pool of {node} is the limit, not its processor"),
        Finding::ServerBound { node, .. } => format!("{node}'s processor is the limit"),
        Finding::SessionsWait { event, .. } => {
            format!("most active sessions of PostgreSQL waited for {event}")
        }
        Finding::Failures { code, name, .. } => {
            format!("transactions failed with {code}{}", name.map_or(String::new(), |it| format!(" {it}")))
        }
        Finding::Deadlocks { .. } => "deadlocks per thousand transactions".to_owned(),
        // Whose these are its paragraph says.
        Finding::NotConcurrent { with_busy, .. } => {
            format!("where {with_busy:.1} transactions were under way in PostgreSQL")
        }
        Finding::NotOpenLoop { in_flight_max, .. } => format!(
            "the open test became a closed one, because all {in_flight_max} clients were busy; arrivals that waited for \
             one, that were dropped, and all"
        ),
        Finding::AnswerSizes { operation, step, .. } => format!(
            "answers to {} differ in size although their status is as expected; look whether the small ones are error or \
             log-in pages, and name what an answer must contain (expect.contains)",
            told::request(operation, step.as_deref())
        ),
        Finding::ClientsLeftAfterTest { node, .. } => {
            format!("{node} still held clients after the load had ended")
        }
        Finding::Bound { bound: by, .. } => bound::group(by),
        Finding::Circumstance { circumstance: it, .. } => circumstance::group(it),
        Finding::OpenAndClosed { .. } => {
            "the closed test does not know how long those wait who keep coming".to_owned()
        }
        Finding::FeedsDiffer { feed, .. } => format!("the feed {feed} decides what is measured"),
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
            format!("deadlocks are no comparison with those of {}, {lead}: {}", name(names, with), each())
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
            let first = late.map_or(String::new(), |it| format!(", first in second {it}"));
            format!("{} (refused {refused}, by its log {logged}{first}{})", name(cell), some_of(*trials, *of))
        }
        Finding::ClientsStarved { cell, served, without, clients, jain, .. } => {
            let hardly = clients - served - without;
            let hardly = if hardly > 0 { format!("{hardly} hardly anything, ") } else { String::new() };
            format!("{} {served} of {clients} ({hardly}Jain {jain:.2})", name(cell))
        }
        Finding::NotCompared { cell, .. } | Finding::LikeForLikeCost { cell, .. } => name(cell).to_owned(),
        Finding::HostBound { cell, generator, before, server, others, .. } => {
            let told = [
                ("generator", generator),
                ("before PostgreSQL", before),
                ("PostgreSQL", server),
                ("others", others),
            ];
            let each = told.iter().filter_map(|(who, it)| Some(format!("{who} {:.2}", (**it)?)));
            format!("{} ({})", name(cell), each.collect::<Vec<_>>().join(", "))
        }
        Finding::GeneratorShare { cell, used, .. } => format!("{} {used:.2}", name(cell)),
        Finding::UnlikeComparison { cell, compared, like, .. } => {
            format!("{} {} ({})", name(cell), NUMBERS.change(compared.ratio), NUMBERS.change(*like))
        }
        Finding::NoDifference { cell, with, mode: of, with_mode, compared } => {
            let (mine, other) = (name(cell), name(with));
            let modes = match told::named_by_mode(names, [(*cell, *of), (*with, *with_mode)]) {
                true => String::new(),
                false => format!(" ({} beside {})", mode(*of), mode(*with_mode)),
            };
            format!("{mine} beside {other}{modes} {}", figures(compared))
        }
        Finding::QueueInPooler { cell, waiting, longest, under_way, busy, .. } => {
            let [longest, busy] = [longest.map(|it| NUMBERS.seconds(it)), busy.map(|it| format!("{it:.1}"))]
                .map(Option::unwrap_or_default);
            let figures = [format!("{:.1}", waiting.unwrap_or(*under_way)), longest, busy];
            let known: Vec<String> = figures.into_iter().filter(|it| !it.is_empty()).collect();
            format!("{} {}", name(cell), known.join(", "))
        }
        Finding::QueueInBalancer { cell, waiting, wait, .. } => {
            let wait = wait.map_or(String::new(), |it| format!(", {}", NUMBERS.seconds(it)));
            format!("{} {waiting:.1}{wait}", name(cell))
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
            let lent = lent.map_or(String::new(), |it| format!(", {it:.1} of {pool} lent"));
            format!(
                "{} ({cpu:.2} of {of_cpu} CPU{}{lent}, {active:.1} running)",
                name(cell),
                held_back(*throttled, *stood_still)
            )
        }
        Finding::PoolBound { cell, pool, lent, busy, cpu, of_cpu, .. } => format!(
            "{} ({lent:.1} of {pool} lent, {busy:.1} busy in PostgreSQL, {cpu:.2} of {of_cpu} CPU)",
            name(cell)
        ),
        Finding::ServerBound {
            cell, cpu, cpu_limit: of_cpu, throttled, throttled_cpu: stood_still, ..
        } => {
            format!("{} ({cpu:.2} of {of_cpu} CPU{})", name(cell), held_back(*throttled, *stood_still))
        }
        Finding::SessionsWait { cell, share, active, .. } => {
            format!("{} {:.0} % of {active:.1}", name(cell), 100.0 * share)
        }
        Finding::Failures { cell, count, of, .. } => format!("{} {count} of {of}", name(cell)),
        Finding::Deadlocks { cell, of_thousand, interval, runs } => {
            let interval = interval.map_or(String::new(), |it| format!(" (95 %: {})", NUMBERS.range(it, 2)));
            format!("{} {of_thousand:.2}{interval}, {}", name(cell), count(*runs, "run"))
        }
        Finding::NotConcurrent { cell, busy, .. } => format!("{} {busy:.1}", name(cell)),
        Finding::NotOpenLoop { cell, arrivals, waited, dropped, trials, total_trials: of, .. } => {
            format!("{} {waited}, {dropped} of {arrivals}{}", name(cell), some_of(*trials, *of))
        }
        Finding::AnswerSizes { cell, change, share, .. } => {
            let bytes = |it: &u64| NUMBERS.bytes(*it as f64);
            let share = NUMBERS.percent(*share, 0);
            let cell = name(cell);
            match change {
                SizeChange::Fell { before, after, second } => format!(
                    "{cell} median {}, from second {second} on {} ({share} of all)",
                    bytes(before),
                    bytes(after)
                ),
                SizeChange::TwoPopulations { small, large } => {
                    format!("{cell} {share} about {}, the others {}", bytes(small), bytes(large))
                }
                SizeChange::SmallerThan { with, here, there } => {
                    format!("{cell} median {}, {} {}", bytes(here), name(with), bytes(there))
                }
            }
        }
        Finding::ClientsLeftAfterTest { cell, clients, trials, of, .. } => {
            format!("{} {clients}{}", name(cell), some_of(*trials, *of))
        }
        Finding::Bound { cell, bound: by } => format!("{} {}", name(cell), bound::item(by)),
        Finding::Circumstance { cell, circumstance: it } => {
            format!("{} {}", name(cell), circumstance::item(it)).trim_end().to_owned()
        }
        Finding::OpenAndClosed { cell, with, offered, open, closed } => format!(
            "{} says {}; {}, where {}/s are offered, says {}",
            name(with),
            answered(closed),
            name(cell),
            NUMBERS.three(*offered),
            answered(open)
        ),
        Finding::FeedsDiffer { cell, with, mine, other, read, with_read, .. } => {
            let each = |cell, it, read| {
                let read = read_back(read).map_or(String::new(), |it| format!(" ({it})"));
                format!("{} {}{read}", name(cell), answered(it))
            };
            format!("{} beside {}", each(cell, mine, *read), each(with, other, *with_read))
        }
    }
}

fn left_out(reasons: &[(IncomparableReason, Vec<ExcludedCount>)], names: &[String]) -> String {
    let cell = |it: &ExcludedCount| {
        let failed = it.failed.map_or(String::new(), |it| format!(" ({})", NUMBERS.percent(it, 1)));
        name(names, it.cell).to_owned() + &failed
    };
    let each = reasons.iter().map(|(why, cells)| {
        let why = match why {
            IncomparableReason::SlotsExhausted => "connections were refused in",
            IncomparableReason::ClientsStarved => "clients starved in",
            IncomparableReason::Errors { .. } => "more than 1 % failed in",
        };
        format!("{why} {}", cells.iter().map(cell).collect::<Vec<_>>().join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}

fn seeming(it: &ApparentGain, names: &[String]) -> String {
    let [unlike, like] = [it.unlike, it.like].map(|it| NUMBERS.changes(it));
    format!("{unlike} ({like}) in {}", list(names, &it.cells))
}

fn shares(it: &ShareRange, names: &[String]) -> String {
    let cells = match &it.cells {
        CellSelection::All => "in all cells".to_owned(),
        CellSelection::AllBut(without) => format!("in all cells but {}", list(names, without)),
        CellSelection::These(with) => format!("in {}", list(names, with)),
    };
    let used = [
        ("the generator", it.generator),
        ("what stands before PostgreSQL", it.before),
        ("PostgreSQL", it.server),
        ("others on this machine", it.others),
    ];
    let ranges =
        used.into_iter().filter_map(|(who, it)| Some(format!("{who} used {}", NUMBERS.range(it?, 2))));
    format!("{cells}: {}", ranges.collect::<Vec<_>>().join(", "))
}

/// `-15.6 % (95 %: -16.1 to -15.3 %)`.
fn figures(it: &ThroughputComparison) -> String {
    let interval = it.interval.map_or(String::new(), |it| format!(" (95 %: {})", NUMBERS.changes(it)));
    NUMBERS.change(it.ratio) + &interval
}

/// Nothing where it was in all trials.
fn some_of(trials: u32, of: u32) -> String {
    if trials == of { String::new() } else { format!(", in {trials} of {of} trials") }
}

/// `p99 171 ms at 47.7/s`.
fn answered(it: &CellResponse) -> String {
    let rate = format!("{}/s", NUMBERS.three(it.delivered));
    it.p99.map_or(rate.clone(), |it| format!("p99 {} at {rate}", NUMBERS.seconds(it)))
}

fn held_back(throttled: Option<f64>, stood_still: Option<f64>) -> String {
    let periods = throttled.map(|it| format!(", held back in {:.0} % of periods", 100.0 * it));
    // A hundredth of a processor is not worth a word.
    let still = stood_still.filter(|it| *it >= 0.01).map(|it| format!(", {it:.2} CPU stood still"));
    periods.into_iter().chain(still).collect()
}

fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
