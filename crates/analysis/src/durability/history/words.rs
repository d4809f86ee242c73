//! Words of a line of a history: times, keys and outcomes

use super::{LineResult, Notation};
use model::durability::{WriteKey, WriteOutcome};
use model::{Code, Nanos};

/// Words of one line that are not yet read.
#[derive(Debug)]
pub(super) struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    pub fn new(line: &'a str) -> Words<'a> {
        Words(line.trim())
    }

    /// Takes the next word. `usage` is the notation of the line, for an error if no word is left.
    pub fn next(&mut self, usage: Notation) -> LineResult<&'a str> {
        let (word, rest) = self.0.split_once(char::is_whitespace).unwrap_or((self.0, ""));
        if word.is_empty() {
            return Err((String::new(), usage));
        }
        self.0 = rest.trim_start();
        Ok(word)
    }

    /// All words that are left.
    pub fn rest(&self) -> &'a str {
        self.0
    }
}

pub(super) fn number(text: &str, usage: Notation) -> LineResult<u64> {
    text.parse().map_err(|_| (text.to_owned(), usage))
}

/// One time, or two times as in `10-11.5`, in milliseconds.
pub(super) fn times(text: &str) -> LineResult<(Nanos, Nanos)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (time(from)?, time(to)?);
    if to < from { Err((text.to_owned(), Notation::Time)) } else { Ok((from, to)) }
}

fn time(text: &str) -> LineResult<Nanos> {
    let wrong = || (text.to_owned(), Notation::Time);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{fraction:0<6}");
    let is_number = |digits: &str| digits.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(&digits) || digits.len() != 6 {
        return Err(wrong());
    }
    let (ms, ns): (u64, u64) = (whole.parse().map_err(|_| wrong())?, digits.parse().map_err(|_| wrong())?);
    Ok(Nanos::from_millis(ms) + Nanos(ns))
}

/// Highest session and sequence number of a history.
const HIGHEST: u64 = 1023;

pub(super) fn key(text: &str) -> LineResult<WriteKey> {
    let (session, sequence) = text.split_once('/').ok_or((text.to_owned(), Notation::Key))?;
    let (session, sequence) = (number(session, Notation::Key)?, number(sequence, Notation::Key)?);
    if session > HIGHEST || sequence > HIGHEST {
        return Err((text.to_owned(), Notation::Key));
    }
    Ok(WriteKey { session: session as u32, sequence })
}

/// Rows that a read found.
#[derive(Debug, Default)]
pub(super) struct FoundKeys {
    /// All keys, each with true unless its token is forged.
    pub all: Vec<(WriteKey, bool)>,
    /// Authentic keys of each list.
    pub lists: Vec<Vec<WriteKey>>,
}

/// Keys of a read. `[` and `]` enclose a list.
pub(super) fn keys(text: &str) -> LineResult<FoundKeys> {
    let mut found = FoundKeys::default();
    let mut list: Option<usize> = None;
    let spaced = text.replace('[', " [ ").replace(']', " ] ");
    for word in spaced.split_whitespace() {
        let wrong_bracket = || (word.to_owned(), Notation::Keys);
        match (word, list) {
            ("[", None) => list = Some(found.all.len()),
            ("]", Some(start)) => {
                let authentic = found.all[start..].iter().filter(|it| it.1).map(|it| it.0);
                found.lists.push(authentic.collect());
                list = None;
            }
            ("[", Some(_)) | ("]", None) => return Err(wrong_bracket()),
            _ => add_keys(word, &mut found.all)?,
        }
    }
    if list.is_some() { Err((String::new(), Notation::Keys)) } else { Ok(found) }
}

/// Adds the keys of one word, such as `0/2-9` or `0/3x2`.
fn add_keys(word: &str, keys: &mut Vec<(WriteKey, bool)>) -> LineResult<()> {
    let (plain, authentic) = word.strip_suffix('!').map_or((word, true), |it| (it, false));
    let (plain, times) = plain.split_once('x').unwrap_or((plain, "1"));
    let (first, last) = plain.split_once('-').unwrap_or((plain, ""));
    let first = key(first)?;
    let last = if last.is_empty() { first.sequence } else { number(last, Notation::Key)? };
    if last > HIGHEST {
        return Err((word.to_owned(), Notation::Key));
    }
    let times = number(times, Notation::Keys)?.min(HIGHEST);
    for sequence in first.sequence..=last {
        keys.extend((0..times).map(|_| (WriteKey { sequence, ..first }, authentic)));
    }
    Ok(())
}

/// Outcome and, for an error, its SQLSTATE.
pub(super) fn outcome(words: &mut Words<'_>) -> LineResult<WriteOutcome> {
    let word = words.next(Notation::Write)?;
    let outcome = match word {
        "acknowledged" => return Ok(WriteOutcome::Acknowledged),
        "warned" => return Ok(WriteOutcome::AcknowledgedLocally),
        "failed" | "unknown" => word,
        other => return Err((other.to_owned(), Notation::Outcome)),
    };
    let state = words.rest().split_whitespace().next().unwrap_or_default();
    let state: Option<[u8; 5]> = state.as_bytes().try_into().ok().filter(|_| !state.contains('@'));
    if state.is_some() {
        words.next(Notation::Write)?;
    }
    let code = state.map(Code::SqlState);
    Ok(match outcome {
        "failed" => WriteOutcome::Failed(code.unwrap_or(Code::SqlState(*b"40001"))),
        _ => WriteOutcome::Unknown(code.unwrap_or(Code::RESET)),
    })
}
