//! English: what else holds the throughput where it is.

use super::{NUMBERS, held_back};
use crate::lang::told::short;
use model::finding::Bound;

/// What findings of one paragraph have in common, as its beginning.
pub fn group(it: &Bound) -> String {
    match it {
        Bound::Service { node, .. } => format!("{node}'s processor is the limit"),
        Bound::ServicePool { node, pool, .. } => {
            format!("{node} has lent all of its connections ({pool}), and requests wait for one")
        }
        Bound::ServiceThreads { node, .. } => {
            format!("all threads of {node} are busy, and requests wait for one")
        }
        Bound::Reads { node, .. } => format!("{node} waits for reading from disk"),
        Bound::Writes { node, .. } => format!("{node} waits for writing to disk"),
        Bound::Memory { node, .. } => {
            format!(
                "{node}'s memory is too small for what is asked for: it reads again what it has thrown out"
            )
        }
        Bound::WalFlush { .. } => "commits wait until the log is on disk".to_owned(),
        Bound::SyncReplicas { .. } => "commits wait for replicas".to_owned(),
        Bound::RowLocks { .. } => "transactions wait for each other's rows".to_owned(),
        Bound::Scans { table, .. } => format!("{table} is read as a whole, again and again"),
        Bound::Checkpoints { .. } => "checkpoints are felt".to_owned(),
        Bound::Clients { clients, .. } => format!(
            "nothing is full: {clients} clients in a closed loop, each waiting for its answer, ask for no more"
        ),
    }
}

/// Figures of one cell.
pub fn item(it: &Bound) -> String {
    let figures: Vec<Option<String>> = match it {
        Bound::Service { cpu, of_cpu, throttled, stood_still, .. } => {
            return format!("({cpu:.2} of {of_cpu} CPU{})", held_back(*throttled, *stood_still));
        }
        Bound::ServicePool { size, busy, waiting, waited, .. } => vec![
            Some(format!("{busy:.1} of {size:.0} lent")),
            waiting.map(|it| format!("{it:.1} waiting")),
            waited.map(|it| format!("{} had to wait", NUMBERS.percent(it, 0))),
        ],
        Bound::ServiceThreads { size, busy, waiting, .. } => {
            vec![Some(format!("{busy:.1} of {size:.0} busy")), waiting.map(|it| format!("{it:.1} waiting"))]
        }
        Bound::Reads { per_second, quota, waits, in_bytes, .. }
        | Bound::Writes { per_second, quota, waits, in_bytes, .. } => {
            let number = |it| if *in_bytes { NUMBERS.bytes(it) } else { NUMBERS.three(it) };
            let of = quota.map_or(String::new(), |it| format!(" of {}", number(it)));
            let sessions = |it: f64| format!("{} of active sessions wait for it", NUMBERS.percent(it, 0));
            vec![per_second.map(|it| format!("{}{of} per second", number(it))), waits.map(sessions)]
        }
        Bound::Memory { used, limit, read, .. } => vec![
            Some(format!("{} of {} used", NUMBERS.bytes(*used), NUMBERS.bytes(*limit))),
            Some(format!("{} from disk by a transaction", NUMBERS.bytes(*read))),
        ],
        Bound::WalFlush { share, active } | Bound::SyncReplicas { share, active } => {
            vec![Some(sessions(*share, *active))]
        }
        Bound::RowLocks { share, active, longest, statements } => {
            let most = longest.map(|it| format!("for {} at most", NUMBERS.seconds(it)));
            let in_these: Vec<String> = statements.iter().map(|it| short(it)).collect();
            let in_these = (!in_these.is_empty()).then(|| format!("in: {}", in_these.join(" | ")));
            vec![Some(sessions(*share, *active)), most, in_these]
        }
        Bound::Scans { scans, rows, cpu, .. } => vec![
            Some(format!("{} times by a transaction", NUMBERS.three(*scans))),
            Some(format!("{} rows each", NUMBERS.three(rows.round()))),
            cpu.map(|it| format!("PostgreSQL's CPU {} full", NUMBERS.percent(it, 0))),
        ],
        Bound::Checkpoints { requested, share, slowed } => vec![
            (*requested > 0.0).then(|| format!("{requested:.0} because the log had grown")),
            Some(format!("writing in {} of seconds", NUMBERS.percent(*share, 0))),
            slowed.map(|it| format!("throughput meanwhile {}", NUMBERS.change(it))),
        ],
        Bound::Clients { mean, throughput_bound: most, delivered, idle, .. } => vec![
            Some(format!("{}/s of at most {}/s", NUMBERS.three(*delivered), NUMBERS.three(*most))),
            Some(format!("{} on average", NUMBERS.seconds(*mean))),
            Some(format!("{} of PostgreSQL's CPU left", NUMBERS.percent(*idle, 0))),
        ],
    };
    format!("({})", figures.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn sessions(share: f64, active: f64) -> String {
    format!("{} of {active:.1} active sessions", NUMBERS.percent(share, 0))
}
