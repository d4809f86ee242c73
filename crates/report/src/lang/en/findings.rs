//! English: findings.

use super::matrix::{entrance, mode};
use super::time;
use model::Nanos;
use model::finding::{Compared, Finding};
use model::matrix::Verdict;
use model::plan::Entrance;

pub fn sentence(it: &Finding, names: &[String]) -> String {
    let name = |cell: &usize| names.get(*cell).map_or("?", String::as_str);
    match it {
        Finding::SlotsExhausted { cell, refused, logged, max_connections, first_second, trials, of } => {
            let slots = max_connections.map_or(String::new(), |it| format!(" (max_connections {it})"));
            let first = first_second.map_or(String::new(), |it| format!(", first in second {it}"));
            format!(
                "{}: PostgreSQL's slots ran out{slots}: clients were refused {refused} times with 53300, its log tells \
                 {logged}{first}; in {trials} of {of} trials",
                name(cell)
            )
        }
        Finding::ClientsStarved { cell, served, without, clients, pool, jain, mean } => {
            let pool = pool
                .map_or(String::new(), |(it, size)| format!(" behind a pool of {size} in {} mode", mode(it)));
            format!(
                "{}: {served} of {clients} clients were served{pool}; {without} got nothing. The average of {mean:.1} \
                 transactions per client hides it (Jain's index {jain:.2})",
                name(cell)
            )
        }
        Finding::LikeForLikeCost { cell, with, transport, compared } => format!(
            "{} beside {}, {} on every hop: {}",
            name(cell),
            name(with),
            entrance(*transport),
            cost(compared)
        ),
        Finding::UnlikeComparison { cell, with, transports, with_transport, compared, like } => format!(
            "{} beside {} would say {}, but that is {} beside {}; like for like it is {}",
            name(cell),
            name(with),
            percent(compared.ratio),
            ways(transports),
            entrance(*with_transport),
            percent(*like)
        ),
        Finding::NoDifference { cell, with, mode: of, with_mode, compared } => format!(
            "{} beside {}: no evidence that {} mode differs from {} mode: {}",
            name(cell),
            name(with),
            mode(*of),
            mode(*with_mode),
            figures(compared)
        ),
        Finding::QueueInPooler { cell, node, waiting, longest, under_way, busy } => {
            let busy =
                busy.map_or(String::new(), |it| format!(", while {it:.1} sessions of PostgreSQL were busy"));
            let longest = longest.map_or(String::new(), |it| format!(", at most for {}", seconds(it)));
            match waiting {
                Some(waiting) => format!(
                    "{}: the queue stands in {node}: by its console {waiting:.1} clients waited{longest}{busy}",
                    name(cell)
                ),
                None => format!(
                    "{}: the queue stands in {node}: {under_way:.1} transactions were under way{busy} (its console does \
                     not tell waiting clients from idle ones)",
                    name(cell)
                ),
            }
        }
        Finding::QueueInBalancer { cell, node, waiting, wait, maxconn } => {
            let maxconn = maxconn.map_or(String::new(), |it| format!(" (maxconn {it})"));
            let wait = wait.map_or(String::new(), |it| format!(", for {} on average", seconds(it)));
            format!(
                "{}: the queue stands in {node}{maxconn}: {waiting:.1} connections waited{wait}",
                name(cell)
            )
        }
        Finding::PoolerBound { cell, node, cpu, of_cpu, throttled, pool, lent, active } => {
            let lent = lent.map_or(String::new(), |it| {
                format!("its console says {it:.1} of {pool} servers are lent, but ")
            });
            format!(
                "{}: {node} is the limit, not its pool: it used {cpu:.2} of {of_cpu} CPU{}; {lent}only {active:.1} of \
                 them ran a statement",
                name(cell),
                held_back(*throttled)
            )
        }
        Finding::PoolBound { cell, node, pool, lent, busy, cpu, of_cpu } => format!(
            "{}: the pool of {node} is the limit: {lent:.1} of {pool} servers were lent, {busy:.1} busy in PostgreSQL; \
             {node} used {cpu:.2} of {of_cpu} CPU",
            name(cell)
        ),
        Finding::ServerBound { cell, node, cpu, of_cpu, throttled } => format!(
            "{}: {node}'s processor is the limit: it used {cpu:.2} of {of_cpu} CPU{}",
            name(cell),
            held_back(*throttled)
        ),
        Finding::SessionsWait { cell, event, share, active } => format!(
            "{}: {:.0} % of {active:.1} active sessions waited for {event}",
            name(cell),
            100.0 * share
        ),
        Finding::Deadlocks { cell, of_thousand, interval, runs } => {
            let interval =
                interval.map_or(String::new(), |(low, high)| format!(" (95 %: {low:.2} to {high:.2})"));
            format!(
                "{}: {of_thousand:.2} deadlocks per thousand transactions{interval}, {}",
                name(cell),
                count(*runs, "run")
            )
        }
        Finding::NotConcurrent { cell, with, busy, with_busy } => format!(
            "{} beside {}: their deadlocks are no comparison: {busy:.1} and {with_busy:.1} transactions were under way \
             in PostgreSQL",
            name(cell),
            name(with)
        ),
        Finding::RunIsClosed { cell, arrivals, waited, dropped, in_flight_max, trials, of } => format!(
            "{}: the open test became a closed one in {trials} of {of} trials: all {in_flight_max} clients were busy; of \
             {arrivals} arrivals {waited} waited for one, {dropped} were dropped",
            name(cell)
        ),
        Finding::ClientsLeftAfterTest { cell, node, clients, trials, of } => format!(
            "{}: {node} still held {} after the load had ended, in {trials} of {of} trials",
            name(cell),
            count(*clients as u32, "client")
        ),
    }
}

fn cost(it: &Compared) -> String {
    match it.verdict {
        Verdict::NoEvidence => format!("no evidence of a difference: {}", figures(it)),
        Verdict::TooFewRuns => format!("too few runs to tell; {}", figures(it)),
        Verdict::Lower | Verdict::Higher => figures(it),
    }
}

/// `throughput -15.6 % (95 %: -16.1 to -15.3 %), 5 and 5 runs, p 0.008`.
fn figures(it: &Compared) -> String {
    let interval = it.interval.map_or(String::new(), |(low, high)| {
        format!(" (95 %: {} to {})", percent(low).trim_end_matches(" %"), percent(high))
    });
    format!("throughput {}{interval}, {} and {} runs, p {:.3}", percent(it.ratio), it.runs.0, it.runs.1, it.p)
}

/// A ratio as a change, `-15.6 %`.
fn percent(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    let sign = if change < 0.0 { "-" } else { "+" };
    format!("{sign}{:.1} %", change.abs())
}

fn ways(all: &[Entrance]) -> String {
    all.iter().map(|it| entrance(*it)).collect::<Vec<_>>().join(" and ")
}

fn held_back(throttled: Option<f64>) -> String {
    throttled.map_or(String::new(), |it| format!(" and was held back in {:.0} % of the periods", 100.0 * it))
}

fn seconds(it: f64) -> String {
    time(Nanos::from_secs_f64(it))
}

fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
