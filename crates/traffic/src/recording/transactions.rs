//! Transactions of a recording: the requests of a session from idle to idle

use super::Recording;
use crate::distil::unique_name;
use crate::sql::command::{Command, commands};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Maximum number of kinds. The rarest transactions share the last one.
const KINDS_MAX: usize = 100;
/// Maximum number of statements of all kinds that have some.
const STATEMENTS_MAX: usize = 240;
/// Name of the kind that the rarest transactions share.
const OTHERS: &str = "other-transactions";

/// All transactions of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTransactions {
    /// Kinds by decreasing number of transactions.
    pub kinds: Vec<TransactionKind>,
    /// Sessions that have at least one transaction, in the order of the recording.
    pub sessions: Vec<SessionTransactions>,
    /// Number of requests that belong to no transaction, because the recording does not contain its end.
    pub unfinished: u64,
}

/// Transactions that consist of the same statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionKind {
    /// Name that is valid for an operation, such as `select-item` or `tx-update-item`.
    pub name: String,
    /// Indices of its statements in [`Recording::statements`]; empty if rare or long transactions share the kind.
    pub statements: Vec<u16>,
    pub transactions: u64,
}

/// Transactions of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTransactions {
    /// Number of its first request in the recording. Each transaction continues after the previous one.
    pub first: u64,
    pub transactions: Vec<RecordedTransaction>,
}

/// Transaction of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTransaction {
    /// Number of its requests, at least 1.
    pub requests: u32,
    /// Index of its kind.
    pub kind: u16,
}

impl RecordedTransactions {
    /// Finds the transactions in the messages of all requests.
    ///
    /// A request that only prepares statements belongs to the transaction that follows it.
    pub fn new<B: AsRef<[u8]>>(recording: &Recording<B>) -> RecordedTransactions {
        let mut all = RecordedTransactions::default();
        let mut counts: Vec<u64> = Vec::new();
        let mut numbers: HashMap<Vec<u16>, usize> = HashMap::new();
        let mut sessions: Vec<(u64, Vec<(u32, usize)>)> = Vec::new();
        for session in recording.sessions() {
            let mut block = Block::default();
            let mut transactions = Vec::new();
            let mut statements = Vec::new();
            for number in session.first..session.first + session.requests {
                let request = recording.request(number);
                statements.push(request.statement);
                let has_executed = block.apply(request.messages, request.outcome.error.is_some());
                if block.is_open || !has_executed {
                    continue;
                }
                let requests = u32::try_from(statements.len()).unwrap_or(u32::MAX);
                let count = numbers.len();
                let kind = *numbers.entry(std::mem::take(&mut statements)).or_insert(count);
                counts.resize(numbers.len(), 0);
                counts[kind] += 1;
                transactions.push((requests, kind));
            }
            all.unfinished += statements.len() as u64;
            if !transactions.is_empty() {
                sessions.push((session.first, transactions));
            }
        }
        let mut sequences = vec![Vec::new(); numbers.len()];
        numbers.into_iter().for_each(|(sequence, number)| sequences[number] = sequence);
        let places = all.choose(recording, &sequences, &counts);
        all.sessions = sessions
            .into_iter()
            .map(|(first, transactions)| SessionTransactions {
                first,
                transactions: transactions
                    .into_iter()
                    .map(|(requests, kind)| RecordedTransaction { requests, kind: places[kind] })
                    .collect(),
            })
            .collect();
        all
    }

    /// Number of transactions of all sessions.
    pub fn transactions(&self) -> u64 {
        self.kinds.iter().map(|it| it.transactions).sum()
    }

    /// Sets the kinds, and returns the index of the kind of each sequence of statements.
    fn choose<B: AsRef<[u8]>>(
        &mut self,
        recording: &Recording<B>,
        sequences: &[Vec<u16>],
        counts: &[u64],
    ) -> Vec<u16> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|it| (Reverse(counts[*it]), &sequences[*it]));
        let mut places = vec![0; sequences.len()];
        let mut taken = HashSet::from([OTHERS.to_owned()]);
        let mut room = STATEMENTS_MAX;
        for (place, number) in order.into_iter().enumerate() {
            let (sequence, transactions) = (&sequences[number], counts[number]);
            if place >= KINDS_MAX {
                places[number] = (KINDS_MAX - 1) as u16;
                let last = self.kinds.last_mut().expect("there are kinds");
                (last.name, last.statements) = (OTHERS.to_owned(), Vec::new());
                last.transactions += transactions;
                continue;
            }
            places[number] = place as u16;
            let texts: Vec<String> =
                sequence.iter().map(|it| recording.statements()[usize::from(*it)].text.clone()).collect();
            let fits = sequence.len() <= room;
            room -= if fits { sequence.len() } else { 0 };
            let statements = if fits { sequence.clone() } else { Vec::new() };
            self.kinds.push(TransactionKind {
                name: unique_name(&texts, &mut taken),
                statements,
                transactions,
            });
        }
        places
    }
}

/// Transaction block of a session, and the effects of its prepared statements and portals on it.
#[derive(Debug, Default)]
struct Block {
    is_open: bool,
    prepared: HashMap<Vec<u8>, Effect>,
    portals: HashMap<Vec<u8>, Effect>,
}

/// Effect of statements on the transaction block of their session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Effect {
    #[default]
    None,
    Opens,
    /// `is_commit`: the block ends even if the statement fails.
    Ends {
        is_commit: bool,
    },
}

impl Effect {
    /// Effect of a text, which may contain several statements. The last one decides.
    fn of_text(text: &[u8]) -> Effect {
        let text = String::from_utf8_lossy(text);
        let effect = |command: &Command| match command {
            Command::Begin | Command::Commit { chain: true } | Command::Rollback { chain: true } => {
                Some(Effect::Opens)
            }
            Command::Commit { chain: false } => Some(Effect::Ends { is_commit: true }),
            Command::Rollback { chain: false } => Some(Effect::Ends { is_commit: false }),
            _ => None,
        };
        commands(&text).and_then(|all| all.iter().rev().find_map(effect)).unwrap_or_default()
    }
}

impl Block {
    /// Applies the messages of one request. Returns true if they execute a statement.
    fn apply(&mut self, messages: &[u8], has_failed: bool) -> bool {
        let mut has_executed = false;
        for (kind, body) in wire_messages(messages) {
            let mut fields = body.split(|byte| *byte == 0);
            let mut name = || fields.next().unwrap_or_default();
            let effect = match kind {
                b'Q' => Effect::of_text(name()),
                b'P' => {
                    let statement = name().to_vec();
                    self.prepared.insert(statement, Effect::of_text(name()));
                    continue;
                }
                b'B' => {
                    let portal = name().to_vec();
                    let effect = self.prepared.get(name()).copied().unwrap_or_default();
                    self.portals.insert(portal, effect);
                    continue;
                }
                b'E' => self.portals.get(name()).copied().unwrap_or_default(),
                b'F' | b'd' | b'c' | b'f' => Effect::None,
                _ => continue,
            };
            has_executed = true;
            match effect {
                Effect::None => {}
                Effect::Opens => self.is_open = true,
                // A failed ROLLBACK leaves the block open, whereas a failed COMMIT ends it.
                Effect::Ends { is_commit } => self.is_open &= has_failed && !is_commit,
            }
        }
        has_executed
    }
}

/// Messages of a request: types and bodies. The rest after an incomplete message is left out.
fn wire_messages(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&kind, after) = rest.split_first()?;
        let length = u32::from_be_bytes(*after.first_chunk()?) as usize;
        let body = after.get(4..length)?;
        rest = &after[length..];
        Some((kind, body))
    })
}

#[cfg(test)]
mod tests;
