//! English: findings.
//!
//! Findings that share their [`group`] are one paragraph: what they have in common, then cell by cell what they do not.

use super::matrix::{entrance, mode};
use super::time;
use model::Nanos;
use model::finding::{Compared, Finding, OtherWork};
use model::plan::Entrance;

/// More cells than this are told by their ranges, where each cell's figures stand in the matrix.
const MANY: usize = 4;

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Finding) -> String {
    match it {
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
            ways(transports),
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
        Finding::RunIsClosed { in_flight_max, .. } => format!(
            "the open test became a closed one, because all {in_flight_max} clients were busy; arrivals that waited for \
             one, that were dropped, and all"
        ),
        Finding::ClientsLeftAfterTest { node, .. } => {
            format!("{node} still held clients after the load had ended")
        }
    }
}

/// All of one group, at least one.
pub fn paragraph(all: &[&Finding], names: &[String]) -> String {
    let lead = group(all[0]);
    match all[0] {
        // What follows is a table.
        Finding::LikeForLikeCost { .. } => format!("{lead}:"),
        Finding::NotCompared { .. } => format!("{lead}: {}", left_out(all, names)),
        Finding::NotConcurrent { with, .. } => {
            let each: Vec<String> = all.iter().map(|it| item(it, names)).collect();
            let with = name(names, *with);
            format!("deadlocks are no comparison with those of {with}, {lead}: {}", each.join("; "))
        }
        Finding::UnlikeComparison { .. } if all.len() > MANY => format!("{lead}: {}", seeming(all, names)),
        Finding::HostBound { .. } if all.len() > MANY => format!("{lead}; {}", shares(all, names)),
        _ => {
            let each: Vec<String> = all.iter().map(|it| item(it, names)).collect();
            format!("{lead}: {}", each.join("; "))
        }
    }
}

/// What one finding adds to its group.
fn item(it: &Finding, names: &[String]) -> String {
    let name = |cell: &usize| name(names, *cell);
    match it {
        Finding::SlotsExhausted { cell, refused, logged, first_second, trials, of, .. } => {
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
            format!("{} {} ({})", name(cell), percent(compared.ratio), percent(*like))
        }
        Finding::NoDifference { cell, with, mode: of, with_mode, compared } => {
            let (mine, other) = (name(cell), name(with));
            // Where the label is not the mode itself.
            let modes = match mine.contains(mode(*of)) && other.contains(mode(*with_mode)) {
                true => String::new(),
                false => format!(" ({} beside {})", mode(*of), mode(*with_mode)),
            };
            format!("{mine} beside {other}{modes} {}", figures(compared))
        }
        Finding::QueueInPooler { cell, waiting, longest, under_way, busy, .. } => {
            let [longest, busy] =
                [longest.map(seconds), busy.map(|it| format!("{it:.1}"))].map(Option::unwrap_or_default);
            let figures = [format!("{:.1}", waiting.unwrap_or(*under_way)), longest, busy];
            let known: Vec<String> = figures.into_iter().filter(|it| !it.is_empty()).collect();
            format!("{} {}", name(cell), known.join(", "))
        }
        Finding::QueueInBalancer { cell, waiting, wait, .. } => {
            let wait = wait.map_or(String::new(), |it| format!(", {}", seconds(it)));
            format!("{} {waiting:.1}{wait}", name(cell))
        }
        Finding::PoolerBound { cell, cpu, of_cpu, throttled, pool, lent, active, .. } => {
            let lent = lent.map_or(String::new(), |it| format!(", {it:.1} of {pool} lent"));
            format!(
                "{} ({cpu:.2} of {of_cpu} CPU{}{lent}, {active:.1} running)",
                name(cell),
                held_back(*throttled)
            )
        }
        Finding::PoolBound { cell, pool, lent, busy, cpu, of_cpu, .. } => format!(
            "{} ({lent:.1} of {pool} lent, {busy:.1} busy in PostgreSQL, {cpu:.2} of {of_cpu} CPU)",
            name(cell)
        ),
        Finding::ServerBound { cell, cpu, of_cpu, throttled, .. } => {
            format!("{} ({cpu:.2} of {of_cpu} CPU{})", name(cell), held_back(*throttled))
        }
        Finding::SessionsWait { cell, share, active, .. } => {
            format!("{} {:.0} % of {active:.1}", name(cell), 100.0 * share)
        }
        Finding::Failures { cell, count, of, .. } => format!("{} {count} of {of}", name(cell)),
        Finding::Deadlocks { cell, of_thousand, interval, runs } => {
            let interval =
                interval.map_or(String::new(), |(low, high)| format!(" (95 %: {low:.2} to {high:.2})"));
            format!("{} {of_thousand:.2}{interval}, {}", name(cell), count(*runs, "run"))
        }
        Finding::NotConcurrent { cell, busy, .. } => format!("{} {busy:.1}", name(cell)),
        Finding::RunIsClosed { cell, arrivals, waited, dropped, trials, of, .. } => {
            format!("{} {waited}, {dropped} of {arrivals}{}", name(cell), some_of(*trials, *of))
        }
        Finding::ClientsLeftAfterTest { cell, clients, trials, of, .. } => {
            format!("{} {clients}{}", name(cell), some_of(*trials, *of))
        }
    }
}

fn name(names: &[String], cell: usize) -> &str {
    names.get(cell).map_or("?", String::as_str)
}

/// Cells by what they are left out for.
fn left_out(all: &[&Finding], names: &[String]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in all {
        let Finding::NotCompared { cell, why } = finding else { continue };
        let name = name(names, *cell);
        let (why, cell) = match why {
            OtherWork::SlotsExhausted => ("slots ran out in", name.to_owned()),
            OtherWork::ClientsStarved => ("clients starved in", name.to_owned()),
            OtherWork::Errors { of_thousand } => {
                ("more than 1 % failed in", format!("{name} ({:.1} %)", of_thousand / 10.0))
            }
        };
        match reasons.iter_mut().find(|it| it.0 == why) {
            Some(known) => known.1.push(cell),
            None => reasons.push((why, vec![cell])),
        }
    }
    let each = reasons.iter().map(|(why, cells)| format!("{why} {}", cells.join(", ")));
    each.collect::<Vec<_>>().join("; ")
}

/// What unlike comparisons range over.
fn seeming(all: &[&Finding], names: &[String]) -> String {
    let (mut unlike, mut fair, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for finding in all {
        let Finding::UnlikeComparison { cell, compared, like, .. } = finding else { continue };
        unlike.push(compared.ratio);
        fair.push(*like);
        cells.push(name(names, *cell));
    }
    let [unlike, fair] = [unlike, fair].map(|ratios| {
        let (low, high) = range(&ratios).unwrap_or((1.0, 1.0));
        format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high))
    });
    format!("{unlike} ({fair}) in {}", cells.join(", "))
}

/// The least and the most; `None` without any.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some((least, values.iter().copied().max_by(f64::total_cmp)?))
}

/// Which cells of a full machine, and who used how much of it.
fn shares(all: &[&Finding], names: &[String]) -> String {
    let mut full = vec![false; names.len()];
    let mut used: [Vec<f64>; 4] = Default::default();
    for finding in all {
        let Finding::HostBound { cell, generator, before, server, others, .. } = finding else { continue };
        full.get_mut(*cell).into_iter().for_each(|it| *it = true);
        [generator, before, server, others]
            .iter()
            .zip(&mut used)
            .for_each(|(it, used)| used.extend(it.iter()));
    }
    let those =
        |which: bool| (0..full.len()).filter(|it| full[*it] == which).map(|it| names[it].as_str()).collect();
    let (with, without): (Vec<&str>, Vec<&str>) = (those(true), those(false));
    let cells = match without.len() {
        0 => "in all cells".to_owned(),
        n if n < with.len() => format!("in all cells but {}", without.join(", ")),
        _ => format!("in {}", with.join(", ")),
    };
    let told = |(who, used): (&str, &Vec<f64>)| {
        let (least, most) = range(used)?;
        Some(format!("{who} used {least:.2} to {most:.2}"))
    };
    let who = ["the generator", "what stands before PostgreSQL", "PostgreSQL", "others on this machine"];
    let ranges: Vec<String> = who.into_iter().zip(&used).filter_map(told).collect();
    format!("{cells}: {}", ranges.join(", "))
}

/// `-15.6 % (95 %: -16.1 to -15.3 %)`.
fn figures(it: &Compared) -> String {
    let interval = it.interval.map_or(String::new(), |(low, high)| {
        format!(" (95 %: {} to {})", percent(low).trim_end_matches(" %"), percent(high))
    });
    format!("{}{interval}", percent(it.ratio))
}

/// A ratio as a change, `-15.6 %`.
fn percent(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    let sign = if change < 0.0 { "-" } else { "+" };
    format!("{sign}{:.1} %", change.abs())
}

/// Each kind once.
fn ways(all: &[Entrance]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    all.iter().map(|it| entrance(*it)).for_each(|it| {
        if !kinds.contains(&it) {
            kinds.push(it);
        }
    });
    kinds.join(" and ")
}

/// Nothing where it was in all trials.
fn some_of(trials: u32, of: u32) -> String {
    if trials == of { String::new() } else { format!(", in {trials} of {of} trials") }
}

fn held_back(throttled: Option<f64>) -> String {
    throttled.map_or(String::new(), |it| format!(", held back in {:.0} % of periods", 100.0 * it))
}

fn seconds(it: f64) -> String {
    time(Nanos::from_secs_f64(it))
}

fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
