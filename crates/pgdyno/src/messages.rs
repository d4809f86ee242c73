//! First words of a server on each kind of failure

use load::{Abort, Said};
use model::Code;

/// Codes of one measurement whose first message is kept.
const CODES: usize = 64;
/// Characters of a message.
const LENGTH: usize = 200;

/// The first message of each code.
#[derive(Clone, Debug, Default)]
pub struct Messages(Vec<(String, String)>);

impl Messages {
    pub fn said(&mut self, said: &Said) {
        let (code, words) = match said {
            Said::Refused { code, message, .. } | Said::Failed { code, message, .. } => {
                (*code, message.clone())
            }
            Said::Aborted { why, .. } => aborted(why),
            Said::Exhausted { .. } | Said::Debug { .. } => return,
        };
        self.add(&code.to_string(), &words);
    }

    pub fn add(&mut self, code: &str, words: &str) {
        let words = brief(words);
        if !words.is_empty() && self.0.len() < CODES && self.of(code).is_none() {
            self.0.push((code.to_owned(), words));
        }
    }

    pub fn of(&self, code: &str) -> Option<String> {
        self.0.iter().find(|it| it.0 == code).map(|it| it.1.clone())
    }
}

/// Code and words of an aborted client, such as `42601 syntax error at or near "SELEC"`.
pub fn reason(why: &Abort) -> String {
    let (code, words) = aborted(why);
    format!("{code} {}", brief(&words)).trim_end().to_owned()
}

/// The code that a client that gave up has recorded, and why it did.
pub fn aborted(why: &Abort) -> (Code, String) {
    let words = match why {
        Abort::Hopeless { code, message } => return (*code, message.clone()),
        Abort::Expression(it) | Abort::Shell(it) => it.clone(),
        Abort::Rows { got } => format!("expected one row, got {got}"),
        Abort::Name(it) => format!("error storing into variable {it}"),
        Abort::OpenTransaction => "end of script reached without completing the last transaction".to_owned(),
        Abort::OpenPipeline => "end of script reached with pipeline open".to_owned(),
        Abort::Pipeline => "a pipeline is begun within one, or ended outside one".to_owned(),
        Abort::SimplePipeline => "a pipeline is not possible with the simple query protocol".to_owned(),
        Abort::KeptInPipeline { .. } => "rows are not kept in pipeline mode".to_owned(),
        Abort::Copy => "COPY is not supported".to_owned(),
    };
    (Code::SqlState(*b"38000"), words)
}

/// The first line without its severity: of `ERROR:  syntax error at or near "SELEC"` what follows the two blanks.
fn brief(words: &str) -> String {
    let line = words.lines().next().unwrap_or_default();
    let severities = ["ERROR", "FATAL", "PANIC"];
    let told = line.split_once(":  ").filter(|it| severities.contains(&it.0)).map_or(line, |it| it.1);
    told.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_message_of_each_code_in_brief() {
        let mut it = Messages::default();
        for (code, words) in [
            ("42601", "ERROR:  syntax error at or near \"SELEC\"\nCONTEXT:  none"),
            ("42601", "ERROR:  another"),
            ("net 111", "connection refused"),
            ("HTTP 503", ""),
        ] {
            it.add(code, words);
        }
        assert_eq!(it.of("42601").as_deref(), Some("syntax error at or near \"SELEC\""));
        assert_eq!(it.of("net 111").as_deref(), Some("connection refused"));
        assert_eq!((it.of("HTTP 503"), it.of("42P01")), (None, None));
        (0..1000).for_each(|n| it.add(&n.to_string(), &"long".repeat(1000)));
        assert_eq!(it.0.len(), CODES);
        assert!(it.0.iter().all(|it| it.1.chars().count() <= LENGTH));
    }

    #[test]
    fn a_server_s_code_is_not_replaced_when_a_client_gives_up() {
        let hopeless = Abort::Hopeless { code: Code::SqlState(*b"42601"), message: "ERROR:  x".into() };
        assert_eq!(aborted(&hopeless), (Code::SqlState(*b"42601"), "ERROR:  x".to_owned()));
        assert_eq!(aborted(&Abort::Rows { got: 0 }).0, Code::SqlState(*b"38000"));
    }
}
