//! English: under which circumstances a cell was measured.

use super::NUMBERS;
use crate::lang::told::lacking;
use model::finding::{Circumstance, FindingRule, MissingInput, ReadVolume};

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Circumstance) -> String {
    match it {
        Circumstance::FeedFitsCache { feed, distinct, touched, bytes, memory, .. } => {
            let [touched, bytes, memory] = [touched, bytes, memory].map(|it| NUMBERS.bytes(*it as f64));
            format!(
                "the feed {feed} measures a cache: what its {} different values lead to, {touched} of {bytes}, fits into \
                 the server's {memory}",
                NUMBERS.count(*distinct)
            )
        }
        Circumstance::ChainedPools { service, connections, pooler, pool, .. } => format!(
            "two pools in a row: {service} has {connections:.0} connections, {pooler} behind it has {pool}"
        ),
        Circumstance::ConnectionStorm { .. } => {
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
        Circumstance::LittlesLawViolation { node, .. } => format!(
            "what is in {node} is not what passes through it times how long it stays (Little's law): something is in it \
             that has not ended, or is counted elsewhere"
        ),
        Circumstance::NotUsed { node, .. } => format!(
            "the load did not pass through {node}: it counted none of the transactions that clients completed, or far fewer. \
             Either they took another path than the one shown, or the figures are another node's; no limit is attributed to \
             {node}"
        ),
        Circumstance::RulesSkipped { rules } => {
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
        Circumstance::FeedFitsCache { read, .. } => vec![read_back(*read)],
        Circumstance::ChainedPools { lent, sets, waiting, .. } => vec![
            lent.map(|it| format!("a server lent {} times by a transaction", NUMBERS.three(it))),
            sets.map(|it| format!("{} SET by a transaction", NUMBERS.three(it))),
            waiting.map(|it| format!("{it:.1} waiting")),
        ],
        Circumstance::ConnectionStorm { logins, cancelled } => vec![
            logins.map(|it| {
                format!(
                    "{} log-ins/s, {} by a transaction",
                    NUMBERS.three(it.per_second),
                    NUMBERS.three(it.per_transaction)
                )
            }),
            (*cancelled > 0.0).then(|| format!("{} of 1000 cancelled", NUMBERS.three(*cancelled))),
        ],
        Circumstance::GeneratorLate { trials, total_trials: of, .. } => return format!("{trials} of {of}"),
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
        Circumstance::LittlesLawViolation { number, expected, rate, time, .. } => vec![
            Some(format!("{number:.1} in it, not {expected:.1}")),
            Some(format!("{}/s", NUMBERS.three(*rate))),
            Some(format!("{} each", NUMBERS.seconds(*time))),
        ],
        Circumstance::NotUsed { transactions, counted, trials, total_trials: of, .. } => vec![Some(format!(
            "it counted {} of {} transactions in {trials} of {of} trials",
            NUMBERS.count(*counted),
            NUMBERS.count(*transactions)
        ))],
        Circumstance::RulesSkipped { .. } => Vec::new(),
    };
    let known: Vec<String> = figures.into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!("({})", known.join(", ")) }
}

/// `None` where it was not measured.
pub fn read_back(it: ReadVolume) -> Option<String> {
    let blocks = it.blocks.map(|it| format!("{} blocks past shared buffers", NUMBERS.three(it)));
    let disk = it.disk.map(|it| format!("{} from disk", NUMBERS.bytes(it)));
    let known: Vec<String> = blocks.into_iter().chain(disk).collect();
    (!known.is_empty()).then(|| format!("{} by a transaction", known.join(" and ")))
}

pub fn rule(it: FindingRule) -> &'static str {
    match it {
        FindingRule::ServerCpu => "PostgreSQL's CPU",
        FindingRule::PoolerCpu => "the pooler's CPU",
        FindingRule::ServiceCpu => "the service's CPU",
        FindingRule::Pool => "the pool",
        FindingRule::ServicePool => "the service's connections",
        FindingRule::ServiceThreads => "the service's threads",
        FindingRule::Waits => "waits for locks, log and replicas",
        FindingRule::Reads => "reads from disk",
        FindingRule::Writes => "writes to disk",
        FindingRule::Memory => "memory",
        FindingRule::Scans => "scans of whole tables",
        FindingRule::Checkpoints => "checkpoints",
        FindingRule::Storm => "log-ins",
        FindingRule::Bloat => "row versions to be cleaned up",
        FindingRule::IdleTransactions => "transactions left open",
        FindingRule::Host => "the machine",
        FindingRule::Feed => "whether the feed fits into memory",
    }
}

pub fn missing(it: MissingInput) -> &'static str {
    match it {
        MissingInput::Group => "what it uses of the machine was not seen",
        MissingInput::Quota => "no quota to compare with",
        MissingInput::Server => "PostgreSQL's statistics were not seen",
        MissingInput::Console => "the pooler's console was not seen",
        MissingInput::Stats => "the service tells no statistics",
        MissingInput::Machine => "the machine's statistics were not seen",
        MissingInput::Column => "no feed names its column",
    }
}
