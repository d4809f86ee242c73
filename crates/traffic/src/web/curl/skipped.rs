//! Commands that cannot be translated

use model::message;
use model::message::Message;

/// Command that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCommand {
    /// Line on which the command begins, from 1.
    pub line: usize,
    pub reason: CommandDiagnostic,
}

/// Reason why a command cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandDiagnostic {
    /// An experiment cannot express the option, such as `-F`.
    Option {
        option: String,
    },
    /// The option is not known.
    UnknownOption {
        option: String,
    },
    /// The value of the option is missing.
    MissingValue {
        option: String,
    },
    /// The value of the option is read from a file.
    File {
        option: String,
    },
    MissingUrl,
    UnclosedQuote,
}

impl From<&SkippedCommand> for Message {
    fn from(skipped: &SkippedCommand) -> Message {
        let reason = match &skipped.reason {
            CommandDiagnostic::Option { option } => message!("traffic-web-curl-option", option),
            CommandDiagnostic::UnknownOption { option } => message!("traffic-web-curl-unknown", option),
            CommandDiagnostic::MissingValue { option } => message!("traffic-web-curl-value", option),
            CommandDiagnostic::File { option } => message!("traffic-web-curl-file", option),
            CommandDiagnostic::MissingUrl => message!("traffic-web-curl-url"),
            CommandDiagnostic::UnclosedQuote => message!("traffic-web-curl-quote"),
        };
        message!("traffic-web-curl-skipped", line = skipped.line.to_string(), reason)
    }
}
