//! Details of a deadlock in PostgreSQL's log, in English
//!
//! The log shows the processes and their statements in the DETAIL of the error, and the relation in its CONTEXT. The
//! statements contain users' values, which are masked. Source: `DeadLockReport` and `XactLockTableWaitErrorCb`.

use super::normalize_message;
use super::postgres::split_prefix;
use super::value_mask::normalize_statement;
use model::Nanos;
use model::server_log::DeadlockGroup;

/// Maximum length of the collected details, bytes. The statements of longer details are unknown.
const LENGTH_MAX: usize = 256 * 1024;

/// Details of one deadlock, which are collected line by line.
#[derive(Clone, Debug)]
pub struct DeadlockDetails {
    /// Process whose statement was cancelled.
    pid: u32,
    part: MessagePart,
    detail: String,
    context: String,
}

/// Part of the message to which a continuation line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessagePart {
    Detail,
    Context,
    Other,
}

/// Wait of a process in the cycle.
struct Wait {
    pid: u32,
    /// Lock mode and kind of the object.
    lock: String,
    tuple: Option<String>,
}

impl DeadlockDetails {
    pub(super) fn new(pid: u32) -> DeadlockDetails {
        DeadlockDetails { pid, part: MessagePart::Other, detail: String::new(), context: String::new() }
    }

    /// Adds the next line of the log. Returns false if the details ended before this line.
    pub(super) fn push(&mut self, line: &str) -> bool {
        let text = match line.strip_prefix('\t') {
            Some(rest) => rest,
            None => {
                let Some((head, text)) = split_prefix(line) else { return false };
                self.part = match head.severity.as_str() {
                    _ if head.pid != self.pid => return false,
                    "DETAIL" => MessagePart::Detail,
                    "CONTEXT" => MessagePart::Context,
                    "HINT" | "QUERY" | "LOCATION" => MessagePart::Other,
                    // STATEMENT is the last part. It repeats a statement of the DETAIL.
                    _ => return false,
                };
                text
            }
        };
        let part = match self.part {
            MessagePart::Detail => &mut self.detail,
            MessagePart::Context => &mut self.context,
            MessagePart::Other => return true,
        };
        if part.len() + text.len() < LENGTH_MAX {
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(text);
        }
        true
    }

    /// Describes this one deadlock. Values in the statements are masked.
    pub fn group(&self, node: &str, at: Nanos) -> DeadlockGroup {
        let lines: Vec<&str> = self.detail.split('\n').collect();
        let waits: Vec<Wait> = lines.iter().map_while(|line| parse_wait(line)).collect();
        let statements = parse_statements(&waits, &lines[waits.len()..]);
        let (relation, tuple) = parse_context(&self.context).unzip();
        let tuple = tuple.or_else(|| waits.iter().find_map(|it| it.tuple.clone()));
        let mut locks: Vec<String> = waits.into_iter().map(|it| it.lock).collect();
        locks.sort_unstable();
        locks.dedup();
        DeadlockGroup {
            node: node.to_owned(),
            statements,
            locks,
            relations: Vec::from_iter(relation),
            tuple,
            count: 1,
            first: at,
        }
    }
}

/// Parses `Process 7 waits for ExclusiveLock on tuple (0,1) of relation 16385 of database 5; blocked by process 8.`
fn parse_wait(line: &str) -> Option<Wait> {
    let (pid, rest) = line.strip_prefix("Process ")?.split_once(" waits for ")?;
    let (mode, rest) = rest.split_once(" on ")?;
    let (object, blocker) = rest.strip_suffix('.')?.split_once("; blocked by process ")?;
    blocker.parse::<u32>().ok()?;
    if !mode.bytes().all(|it| it.is_ascii_alphabetic()) {
        return None;
    }
    let object = object.split(" of database ").next().unwrap_or(object);
    // Identifiers of transactions, tuples and advisory locks differ from deadlock to deadlock. Advisory locks may
    // contain users' values.
    let mut words: Vec<&str> = Vec::new();
    for word in object.split(' ') {
        let is_oid = matches!(words.last(), Some(&("relation" | "class"))) && word.parse::<u32>().is_ok();
        if is_oid || word.bytes().all(|it| it.is_ascii_alphabetic()) {
            words.push(word);
        }
    }
    let tuple = object.strip_prefix("tuple ").and_then(|it| it.split(' ').next()).filter(|it| is_tuple(it));
    let (lock, tuple) = (format!("{mode} on {}", words.join(" ")), tuple.map(str::to_owned));
    Some(Wait { pid: pid.parse().ok()?, lock, tuple })
}

/// Statements of the waiting processes, without values and sorted. Each begins with `Process 7: `, in the order of the
/// waits.
///
/// A statement may contain such a beginning in a value. The border between two statements is then unknown, so the
/// result is empty.
fn parse_statements(waits: &[Wait], lines: &[&str]) -> Vec<String> {
    let start = |line: &str| {
        let (pid, _) = line.strip_prefix("Process ")?.split_once(": ")?;
        pid.parse::<u32>().ok().filter(|pid| waits.iter().any(|it| it.pid == *pid))
    };
    let starts: Vec<(usize, u32)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, start(line)?))).collect();
    let in_order = starts.iter().map(|it| it.1).eq(waits.iter().map(|it| it.pid));
    if !in_order || starts.first().is_none_or(|it| it.0 != 0) {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).map(|it| it.0).chain([lines.len()]);
    let statement = |(start, end): (usize, usize)| {
        let text = lines[start..end].join("\n");
        normalize_statement(text.split_once(": ").map_or("", |it| it.1))
    };
    let mut statements: Vec<String> = starts.iter().map(|it| it.0).zip(ends).map(statement).collect();
    statements.sort_unstable();
    statements
}

/// Parses `while updating tuple (0,1) in relation "t"` into relation and tuple. Further lines name calling functions.
fn parse_context(context: &str) -> Option<(String, String)> {
    let (_, rest) = context.lines().next()?.strip_prefix("while ")?.split_once(" tuple ")?;
    let (tuple, relation) = rest.split_once(" in relation ")?;
    let relation = relation.strip_prefix('"')?.strip_suffix('"')?;
    is_tuple(tuple).then(|| (normalize_message(relation), tuple.to_owned()))
}

/// True for a tuple's block and line pointer, such as `(0,1)`.
fn is_tuple(text: &str) -> bool {
    let numbers = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let both = numbers.and_then(|it| it.split_once(','));
    both.is_some_and(|(block, line)| block.parse::<u32>().is_ok() && line.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests;
