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
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> OptionDiagnostic {
        OptionDiagnostic { message: message.into(), detail: None, hint: hint.into() }
    }
}

/// Writes messages that begin with the name by which the program was called.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub program: String,
}

impl Terminal {
    pub fn error(&self, message: &str) {
        self.write("error: ", message);
    }

    pub fn warning(&self, message: &str) {
        self.write("warning: ", message);
    }

    pub fn detail(&self, message: &str) {
        self.write("detail: ", message);
    }

    pub fn hint(&self, message: &str) {
        self.write("hint: ", message);
    }

    pub fn info(&self, message: &str) {
        self.write("", message);
    }

    /// Writes each message with one system call, so that messages of several threads do not mix.
    fn write(&self, kind: &str, message: &str) {
        errln!("{}: {kind}{}", self.program, message.trim_end());
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

/// Error in an argument that clap parses. The text is in English, because the language may not be known yet.
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
/// The help text of the message is another hint.
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
    pub fn new(message: impl Into<Message>) -> CommandError {
        CommandError { message: message.into(), hint: None, status: ExitStatus::Failed }
    }

    /// Error in the command line or in the environment.
    pub fn usage(message: impl Into<Message>) -> CommandError {
        CommandError { status: ExitStatus::Incomplete, ..CommandError::new(message) }
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
