//! English: under which circumstances a cell was measured.

use super::NUMBERS;
use crate::lang::told::lacking;
use model::finding::{Circumstance, Missing, ReadBack, Rule};

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Circumstance) -> String {
    match it {
        Circumstance::FeedFits { feed, distinct, touched, bytes, memory, .. } => {
            let [touched, bytes, memory] = [touched, bytes, memory].map(|it| NUMBERS.bytes(*it as f64));
            format!(
                "the feed {feed} measures a cache: what its {} different values lead to, {touched} of {bytes}, fits into \
                 the server's {memory}",
                NUMBERS.count(*distinct)
            )
        }
        Circumstance::PoolsInRow { service, connections, pooler, pool, .. } => format!(
            "two pools in a row: {service} has {connections:.0} connections, {pooler} behind it has {pool}"
        ),
        Circumstance::Storm { .. } => {
            "connections are made anew, or statements cancelled, all the time".to_owned()
        }
        Circumstance::GeneratorLate { .. } => {
            "trials that do not count, because the generator or its host was the limit".to_owned()
        }
        Circumstance::NoisyHost { .. } => "this machine served others, or woke its sleepers late".to_owned(),
        Circumstance::Bloat { .. } => "row versions to be cleaned up".to_owned(),
        Circumstance::IdleTransactions { .. } => {
            "transactions are left open: sessions of PostgreSQL stand idle in them for longer than a second and keep their \
             locks and their server of a pool. Whether the client forgot or is slow is not seen, nor is what was shorter"
                .to_owned()
        }
        Circumstance::Little { node, .. } => format!(
            "what is in {node} is not what passes through it times how long it stays (Little's law): something is in it \
             that has not ended, or is counted elsewhere"
        ),
        Circumstance::NotUsed { node, .. } => format!(
            "the load did not pass through {node}: it counted none of the transactions that clients completed, or far fewer. \
             Either they took another path than the one shown, or the figures are another node's; no limit is attributed to \
             {node}"
        ),
        Circumstance::NotJudged { rules } => {
            let each = lacking(rules).into_iter().map(|(why, rules)| {
                format!("{} ({})", rules.into_iter().map(rule).collect::<Vec<_>>().join(", "), missing(why))
            });
            format!("not judged: {}", each.collect::<Vec<_>>().join("; "))
        }
    }
}

/// Figures of one cell; nothing where its paragraph says all.
pub fn item(it: &Circumstance) -> String {
    let figures: Vec<Option<String>> = match it {
        Circumstance::FeedFits { read, .. } => vec![read_back(*read)],
        Circumstance::PoolsInRow { lent, sets, waiting, .. } => vec![
            lent.map(|it| format!("a server lent {} times by a transaction", NUMBERS.three(it))),
            sets.map(|it| format!("{} SET by a transaction", NUMBERS.three(it))),
            waiting.map(|it| format!("{it:.1} waiting")),
        ],
        Circumstance::Storm { logins, cancelled } => vec![
            logins.map(|it| {
                format!(
                    "{} log-ins/s, {} by a transaction",
                    NUMBERS.three(it.per_second),
                    NUMBERS.three(it.per_transaction)
                )
            }),
            (*cancelled > 0.0).then(|| format!("{} of 1000 cancelled", NUMBERS.three(*cancelled))),
        ],
        Circumstance::GeneratorLate { trials, of, .. } => return format!("{trials} of {of}"),
        Circumstance::NoisyHost { stolen, jitter } => vec![
            stolen.map(|it| format!("{it:.2} CPU stolen")),
            jitter.map(|it| format!("late by {} at p99", NUMBERS.seconds(it))),
        ],
        Circumstance::Bloat { from, to, live, vacuums, trials } => vec![
            Some(format!(
                "{} in the first of {trials} trials, {} in the last, {} rows alive",
                NUMBERS.three(from.round()),
                NUMBERS.three(to.round()),
                NUMBERS.three(live.round())
            )),
            (*vacuums > 0.0).then(|| format!("tables cleaned up in a trial: {vacuums:.0}")),
        ],
        Circumstance::IdleTransactions { sessions, longest, horizon, blocked, pool } => vec![
            Some(format!("{sessions:.1} at once")),
            Some(format!("idle for {} at the longest", NUMBERS.seconds(*longest))),
            (*horizon > 0.0).then(|| format!("{horizon:.1} of them keep vacuum from cleaning up")),
            (*blocked > 0.0).then(|| format!("{blocked:.1} sessions wait for their locks")),
            pool.map(|(size, waiting)| format!("{waiting:.1} clients wait for a pool of {size}")),
        ],
        Circumstance::Little { number, expected, rate, time, .. } => vec![
            Some(format!("{number:.1} in it, not {expected:.1}")),
            Some(format!("{}/s", NUMBERS.three(*rate))),
            Some(format!("{} each", NUMBERS.seconds(*time))),
        ],
        Circumstance::NotUsed { transactions, counted, trials, of, .. } => vec![Some(format!(
            "it counted {} of {} transactions in {trials} of {of} trials",
            NUMBERS.count(*counted),
            NUMBERS.count(*transactions)
        ))],
        Circumstance::NotJudged { .. } => Vec::new(),
    };
    let known: Vec<String> = figures.into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!("({})", known.join(", ")) }
}

/// `None` where it was not measured.
pub fn read_back(it: ReadBack) -> Option<String> {
    let blocks = it.blocks.map(|it| format!("{} blocks past shared buffers", NUMBERS.three(it)));
    let disk = it.disk.map(|it| format!("{} from disk", NUMBERS.bytes(it)));
    let known: Vec<String> = blocks.into_iter().chain(disk).collect();
    (!known.is_empty()).then(|| format!("{} by a transaction", known.join(" and ")))
}

pub fn rule(it: Rule) -> &'static str {
    match it {
        Rule::ServerCpu => "PostgreSQL's CPU",
        Rule::PoolerCpu => "the pooler's CPU",
        Rule::ServiceCpu => "the service's CPU",
        Rule::Pool => "the pool",
        Rule::ServicePool => "the service's connections",
        Rule::ServiceThreads => "the service's threads",
        Rule::Waits => "waits for locks, log and replicas",
        Rule::Reads => "reads from disk",
        Rule::Writes => "writes to disk",
        Rule::Memory => "memory",
        Rule::Scans => "scans of whole tables",
        Rule::Checkpoints => "checkpoints",
        Rule::Storm => "log-ins",
        Rule::Bloat => "row versions to be cleaned up",
        Rule::IdleTransactions => "transactions left open",
        Rule::Host => "the machine",
        Rule::Feed => "whether the feed fits into memory",
    }
}

pub fn missing(it: Missing) -> &'static str {
    match it {
        Missing::Group => "what it uses of the machine was not seen",
        Missing::Quota => "no quota to compare with",
        Missing::Server => "PostgreSQL's statistics were not seen",
        Missing::Console => "the pooler's console was not seen",
        Missing::Stats => "the service tells no statistics",
        Missing::Machine => "the machine's statistics were not seen",
        Missing::Column => "no feed names its column",
    }
}
