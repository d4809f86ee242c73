//! Histories in the notation of Jepsen: a vector of operations in EDN

use model::Nanos;
use model::durability::{KeySet, LedgerEntry, ReadBack, WriteKey, WriteOutcome};
use std::fmt::Write as _;

/// Distance between the elements of two sessions: more than any session writes.
const SESSION: u64 = 1_000_000_000;

/// Event of an operation.
struct Event {
    at: Nanos,
    process: u64,
    /// Type, function and value.
    text: String,
}

/// Operations for Jepsen's checkers `set` and `set-full`, by time.
///
/// An attempt at a write adds the element session · 10⁹ + sequence number. A process is a session; after an unknown
/// outcome, its session continues as another process. A reading of a primary reads all elements; rows with an invalid token
/// are negative. Readings of standbys are left out, because the checkers know one database without replicas.
///
/// Source: J. Kingsbury, Jepsen, `jepsen.checker` and `jepsen.history`.
pub fn to_edn(entries: impl Iterator<Item = LedgerEntry>, read_backs: &[ReadBack]) -> String {
    let attempts: Vec<_> = entries
        .filter_map(|entry| match entry {
            LedgerEntry::Completed(attempt) => Some(attempt),
            _ => None,
        })
        .collect();
    let sessions = attempts.iter().map(|attempt| u64::from(attempt.key.session) + 1).max().unwrap_or(0);
    let mut processes: Vec<u64> = (0..sessions).collect();
    let mut next = sessions;
    let mut events = Vec::new();
    let mut add = |process, started, ended, [invocation, completion]: [String; 2]| {
        events.push(Event { at: started, process, text: invocation });
        events.push(Event { at: ended, process, text: completion });
    };
    for attempt in attempts {
        let process = &mut processes[attempt.key.session as usize];
        let outcome = match attempt.outcome {
            WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally => "ok",
            WriteOutcome::Failed(_) => "fail",
            WriteOutcome::Unknown(_) => "info",
        };
        let text = |kind| format!(":type :{kind}, :f :add, :value {}", element(attempt.key));
        add(*process, attempt.invoked, attempt.ended, [text("invoke"), text(outcome)]);
        if outcome == "info" {
            *process = next;
            next += 1;
        }
    }
    for read in read_backs.iter().filter(|read| !read.in_recovery) {
        let text = |kind, value: &str| format!(":type :{kind}, :f :read, :value {value}");
        let found = format!("[{}]", elements(&read.keys).join(" "));
        add(next, read.started, read.identified, [text("invoke", "nil"), text("ok", &found)]);
        next += 1;
    }
    // At equal times, the order within a process remains.
    events.sort_by_key(|event| event.at);
    let mut out = "[".to_owned();
    for (index, Event { at, process, text }) in events.iter().enumerate() {
        let begin = if index == 0 { "" } else { "\n " };
        write!(out, "{begin}{{:index {index}, :time {}, :process {process}, {text}}}", at.0)
            .expect("writing to a string cannot fail");
    }
    out + "]\n"
}

fn element(key: WriteKey) -> u64 {
    u64::from(key.session) * SESSION + key.sequence
}

/// Elements of a reading; an element of several rows occurs several times.
fn elements(keys: &KeySet) -> Vec<String> {
    let mut all = Vec::new();
    for session in 0..keys.sessions() {
        for (word, bits) in keys.session(session).iter().enumerate() {
            for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                let key = WriteKey { session: session as u32, sequence: 64 * word as u64 + bit };
                let rows = keys.repeated.get(&key).copied().unwrap_or(1);
                all.extend((0..rows).map(|_| element(key).to_string()));
            }
        }
    }
    let invalid = keys.strays.0 + keys.forged.0;
    all.extend((1..=invalid).map(|number| format!("-{number}")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::durability::history::HistoryFile;

    #[test]
    fn writes_operations_by_time() {
        let history = "
            10-11 write 0/0 acknowledged a@1
            11-15 write 0/1 unknown a@1
            12-13 write 1/0 failed 40001 a@1
            16-17 write 0/1 warned a@1
            20 read b@2 standby 0/0
            30-31 read a@1 primary 0/0 0/1x2 1/0!
        ";
        let file = HistoryFile::parse(history).expect("the history can be read");
        let expected = "\
[{:index 0, :time 10000000, :process 0, :type :invoke, :f :add, :value 0}
 {:index 1, :time 11000000, :process 0, :type :ok, :f :add, :value 0}
 {:index 2, :time 11000000, :process 0, :type :invoke, :f :add, :value 1}
 {:index 3, :time 12000000, :process 1, :type :invoke, :f :add, :value 1000000000}
 {:index 4, :time 13000000, :process 1, :type :fail, :f :add, :value 1000000000}
 {:index 5, :time 15000000, :process 0, :type :info, :f :add, :value 1}
 {:index 6, :time 16000000, :process 2, :type :invoke, :f :add, :value 1}
 {:index 7, :time 17000000, :process 2, :type :ok, :f :add, :value 1}
 {:index 8, :time 30000000, :process 3, :type :invoke, :f :read, :value nil}
 {:index 9, :time 31000000, :process 3, :type :ok, :f :read, :value [0 1 1 -1]}]
";
        assert_eq!(to_edn(file.entries.into_iter(), &file.history.read_backs), expected);
        assert_eq!(to_edn(std::iter::empty(), &[]), "[]\n");
    }
}
