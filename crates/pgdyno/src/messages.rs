//! First server message for each error code

use crate::cli::language;
use load::{AbortReason, LoadEvent};
use model::message::Message;
use model::{Code, message};

/// Maximum number of codes per measurement for which the first message is stored.
const CODES_MAX: usize = 64;
/// Maximum length of a message in characters. Longer messages are truncated.
const MESSAGE_CHARS_MAX: usize = 200;

/// The first message of each code.
#[derive(Clone, Debug, Default)]
pub struct Messages(Vec<(String, String)>);

impl Messages {
    pub fn add_event(&mut self, event: &LoadEvent) {
        let (code, words) = match event {
            LoadEvent::Refused { code, message, .. } | LoadEvent::Failed { code, message, .. } => {
                (*code, message.clone())
            }
            LoadEvent::Aborted { reason, .. } => {
                let (code, message) = abort_message(reason);
                (code, language::selected().message(&message))
            }
            LoadEvent::Notice { .. }
            | LoadEvent::Exhausted { .. }
            | LoadEvent::Debug { .. }
            | LoadEvent::Step { .. } => return,
        };
        self.add(&code.to_string(), &words);
    }

    pub fn add(&mut self, code: &str, words: &str) {
        let words = shorten(words);
        if !words.is_empty() && self.0.len() < CODES_MAX && self.find(code).is_none() {
            self.0.push((code.to_owned(), words));
        }
    }

    pub fn find(&self, code: &str) -> Option<String> {
        self.0.iter().find(|it| it.0 == code).map(|it| it.1.clone())
    }
}

/// Code and message of an aborted client, such as `42601 syntax error at or near "SELEC"`.
pub fn reason(reason: &AbortReason) -> Message {
    let (code, message) = abort_message(reason);
    message!("abort-reason", code = code.to_string(), message = message.map_texts(&shorten))
}

/// Error code and reason with which a client aborted.
pub fn abort_message(reason: &AbortReason) -> (Code, Message) {
    let message = match reason {
        AbortReason::PermanentError { code, message } => return (*code, Message::text(message)),
        AbortReason::Expression(it) | AbortReason::Shell(it) => it.clone(),
        AbortReason::RowCount { got } => message!("abort-row-count", got = *got),
        AbortReason::InvalidColumnName(name) => message!("abort-column-name", name),
        AbortReason::OpenTransaction => message!("abort-open-transaction"),
        AbortReason::OpenPipeline => message!("abort-open-pipeline"),
        AbortReason::Pipeline => message!("abort-pipeline"),
        AbortReason::SimplePipeline => message!("abort-simple-pipeline"),
        AbortReason::StoreInPipeline { .. } => message!("abort-store-in-pipeline"),
        AbortReason::Copy => message!("abort-copy"),
    };
    (Code::SqlState(*b"38000"), message)
}

/// Longest line that [`one_line`] returns, in characters.
const LINE_CHARS_MAX: usize = 1000;

/// A message of a server in one line of at most [`LINE_CHARS_MAX`] characters.
pub fn one_line(message: &str) -> String {
    let mut words = message.split_whitespace();
    let mut line = String::new();
    while line.len() <= 4 * LINE_CHARS_MAX
        && let Some(word) = words.next()
    {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.extend(word.chars().take(LINE_CHARS_MAX + 1));
    }
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// First line of a message without its severity, such as `ERROR: `.
fn shorten(words: &str) -> String {
    let line = words.lines().next().unwrap_or_default();
    let severities = ["ERROR", "FATAL", "PANIC"];
    let text = line.split_once(":  ").filter(|it| severities.contains(&it.0)).map_or(line, |it| it.1);
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::lang::english;

    #[test]
    fn keeps_the_first_message_of_each_code_in_brief() {
        let mut messages = Messages::default();
        for (code, words) in [
            ("42601", "ERROR:  syntax error at or near \"SELEC\"\nCONTEXT:  none"),
            ("42601", "ERROR:  another"),
            ("net 111", "connection refused"),
            ("HTTP 503", ""),
        ] {
            messages.add(code, words);
        }
        assert_eq!(messages.find("42601").as_deref(), Some("syntax error at or near \"SELEC\""));
        assert_eq!(messages.find("net 111").as_deref(), Some("connection refused"));
        assert_eq!((messages.find("HTTP 503"), messages.find("42P01")), (None, None));
        (0..1000).for_each(|n| messages.add(&n.to_string(), &"long".repeat(1000)));
        assert_eq!(messages.0.len(), CODES_MAX);
        assert!(messages.0.iter().all(|it| it.1.chars().count() <= MESSAGE_CHARS_MAX));
    }

    #[test]
    fn a_line_has_no_line_break_and_is_bounded() {
        for (message, expected) in [
            ("ERROR:  a\nDETAIL:  b\r\n\tc", "ERROR: a DETAIL: b c"),
            ("a\u{2028}b\u{85}c\u{b}d", "a b c d"),
            ("", ""),
        ] {
            assert_eq!(one_line(message), expected, "{message:?}");
        }
        for long in ["x".repeat(1 << 20), "x ".repeat(1 << 20), "ж\n".repeat(1 << 20)] {
            let line = one_line(&long);
            assert_eq!((line.chars().count(), line.ends_with('…')), (LINE_CHARS_MAX + 1, true));
        }
        assert_eq!(one_line(&"x".repeat(LINE_CHARS_MAX)), "x".repeat(LINE_CHARS_MAX));
    }

    #[test]
    fn an_abort_keeps_the_servers_code() {
        let hopeless =
            AbortReason::PermanentError { code: Code::SqlState(*b"42601"), message: "ERROR:  x".into() };
        assert_eq!(abort_message(&hopeless), (Code::SqlState(*b"42601"), Message::text("ERROR:  x")));
        assert_eq!(english().message(&reason(&hopeless)), "42601 x");
        let rows = AbortReason::RowCount { got: 0 };
        assert_eq!(abort_message(&rows).0, Code::SqlState(*b"38000"));
        assert_eq!(english().message(&reason(&rows)), "38000 expected one row, got 0");
    }
}
