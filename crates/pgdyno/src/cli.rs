//! Messages on standard error in pgbench's form: `pgbench: error: …`, then detail and hint

pub mod language;

use crate::exit_status::ExitStatus;
use model::message::Message;
use report::lang::{Lang, english};
use report::plot::CharacterSet;
use std::fmt;

/// An error on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDiagnostic {
    /// Message, in pgbench's words if pgbench has the same message.
    pub message: String,
    /// Further detail, on a second line.
    pub detail: Option<String>,
    /// Correction.
    pub hint: String,
}

impl OptionDiagnostic {
    pub fn new(what: impl Into<String>, instead: impl Into<String>) -> OptionDiagnostic {
        OptionDiagnostic { message: what.into(), detail: None, hint: instead.into() }
    }
}

/// Writes messages that begin with the name by which the program was called.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub program: String,
}

impl Terminal {
    pub fn error(&self, what: &str) {
        self.write("error: ", what);
    }

    pub fn warning(&self, what: &str) {
        self.write("warning: ", what);
    }

    pub fn detail(&self, what: &str) {
        self.write("detail: ", what);
    }

    pub fn hint(&self, what: &str) {
        self.write("hint: ", what);
    }

    pub fn info(&self, what: &str) {
        self.write("", what);
    }

    /// Writes each message with one system call, so that messages of several threads do not mix.
    fn write(&self, kind: &str, what: &str) {
        errln!("{}: {kind}{}", self.program, what.trim_end());
    }

    /// Prints an error and its correction.
    pub fn print_error(&self, error: &Message, lang: &Lang) {
        self.error(&lang.message(error));
        if let Some(help) = lang.catalogue().help(error) {
            self.hint(&help);
        }
    }

    /// Prints every diagnostic with its correction.
    pub fn print_diagnostics(&self, all: &[OptionDiagnostic]) {
        for diagnostic in all {
            self.error(&diagnostic.message);
            if let Some(detail) = &diagnostic.detail {
                self.detail(detail);
            }
            self.hint(&diagnostic.hint);
        }
        self.hint(&format!("Try \"{} --help\" for more information.", self.program));
    }
}

/// Error in an argument that clap parses. Its text is English, because the language may not be known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError(pub Message);

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArgumentError(message) = self;
        write!(f, "{}; {}", english().message(message), english().help(message))
    }
}

impl std::error::Error for ArgumentError {}

/// Character set of the terminal, according to the locale.
pub fn characters() -> CharacterSet {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let utf8 = locale.contains("utf-8") || locale.contains("utf8");
    if utf8 { CharacterSet::Utf8 } else { CharacterSet::Ascii }
}

/// The system's error message without the error number.
pub fn os_error_text(error: &impl ToString) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Reason why a command failed, and a hint on how to correct it.
///
/// The help text of the message is a hint, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    pub message: Message,
    pub hint: Option<String>,
    pub status: ExitStatus,
}

impl From<&CommandError> for Message {
    fn from(error: &CommandError) -> Message {
        error.message.clone()
    }
}

impl From<store::Error> for CommandError {
    fn from(error: store::Error) -> CommandError {
        CommandError::new(&error)
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> CommandError {
        CommandError::new(&error)
    }
}

impl CommandError {
    pub fn new(what: impl Into<Message>) -> CommandError {
        CommandError { message: what.into(), hint: None, status: ExitStatus::Failed }
    }

    /// Error in the command line or in the environment.
    pub fn usage(what: impl Into<Message>) -> CommandError {
        CommandError { status: ExitStatus::Incomplete, ..CommandError::new(what) }
    }

    pub fn with_hint(self, hint: impl Into<String>) -> CommandError {
        CommandError { hint: Some(hint.into()), ..self }
    }

    /// Prints the error and returns the exit status.
    pub fn print(&self, terminal: &Terminal) -> ExitStatus {
        terminal.print_error(&self.message, language::selected());
        if let Some(hint) = &self.hint {
            terminal.hint(hint);
        }
        self.status
    }
}
