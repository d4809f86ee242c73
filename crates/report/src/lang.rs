//! Languages, each with a message catalogue. The code that selects messages is the same for all languages.

mod advice;
pub mod answer;
pub mod bench;
mod catalogue;
mod chart;
mod compare;
pub mod failover;
mod feeds;
mod findings;
pub mod freshness;
pub mod live;
mod matrix;
pub mod number;
pub mod page;
mod remedies;
pub mod search;
mod serve;
mod stop;
mod text;
pub mod workload;

pub use catalogue::Catalogue;
pub use model::message::Argument;
pub use number::Numbers;

use crate::say;
use model::Nanos;
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{Experiment, Operation, OperationKind};
use std::sync::LazyLock;
use text::{cell_list, cell_name, request, short};

/// Message files of all languages with their BCP 47 codes, the default language first.
static FILES: &[(&str, &str)] =
    &[("en", include_str!("../messages/en.ftl")), ("ru", include_str!("../messages/ru.ftl"))];

static LANGUAGES: LazyLock<Vec<Lang>> = LazyLock::new(|| FILES.iter().map(Lang::new).collect());

/// Variants of all languages for loads of single HTTP requests.
static LANGUAGES_OF_REQUESTS: LazyLock<Vec<Lang>> =
    LazyLock::new(|| LANGUAGES.iter().map(Lang::of_requests).collect());

/// All languages, the default language first.
pub fn all() -> &'static [Lang] {
    &LANGUAGES
}

/// The default language.
pub fn english() -> &'static Lang {
    &LANGUAGES[0]
}

#[cfg(test)]
pub fn russian() -> &'static Lang {
    &LANGUAGES[1]
}

/// Finds the language with this [code](Lang::code).
pub fn find(code: &str) -> Option<&'static Lang> {
    LANGUAGES.iter().find(|lang| lang.code == code)
}

/// Language of reports. Languages are equal if their codes are.
#[derive(Debug)]
pub struct Lang {
    code: &'static str,
    catalogue: Catalogue,
    numbers: Numbers,
}

impl PartialEq for Lang {
    fn eq(&self, other: &Lang) -> bool {
        self.code == other.code
    }
}

impl Lang {
    fn new((code, text): &(&'static str, &str)) -> Lang {
        let catalogue = Catalogue::parse(code, text);
        let numbers = Numbers::from_catalogue(&catalogue);
        Lang { code, catalogue, numbers }
    }

    fn of_requests(&self) -> Lang {
        let catalogue = self.catalogue.of_requests();
        Lang { code: self.code, numbers: Numbers::from_catalogue(&catalogue), catalogue }
    }

    /// Variant of the language for a load of single HTTP requests. Its texts contain "requests" instead of
    /// "transactions".
    pub fn for_requests(&self) -> &'static Lang {
        let same = LANGUAGES_OF_REQUESTS.iter().find(|lang| lang.code == self.code);
        same.expect("every language has both forms")
    }

    /// Variant of the language for an experiment: [`Lang::for_requests`] if each operation is a single HTTP request or a
    /// recorded request, otherwise the language itself.
    pub fn for_experiment<'a>(&'a self, experiment: &Experiment) -> &'a Lang {
        let is_request = |operation: &Operation| match &operation.kind {
            OperationKind::Script { .. } | OperationKind::RecordedTransaction { .. } => false,
            OperationKind::Http(steps) => steps.len() == 1,
            OperationKind::Ammo | OperationKind::TaggedAmmo { .. } | OperationKind::Recorded { .. } => true,
        };
        let mut operations = experiment.cells.iter().flat_map(|cell| &cell.setup.operations);
        if operations.all(is_request) { self.for_requests() } else { self }
    }

    /// BCP 47 code of the language, as on the command line: `en`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Name of the language in the language itself: `English`.
    pub fn name(&self) -> String {
        say!(self, "number-language")
    }

    /// Renders the text of a message.
    pub fn message(&self, message: &Message) -> String {
        self.catalogue.message(message)
    }

    /// Renders the subject and the text of a note.
    pub fn note(&self, note: &Note) -> String {
        let message = message!("error-of", subject = &note.subject, error = &note.message);
        self.message(&message)
    }

    /// Renders the text of an error.
    pub fn error(&self, error: impl Into<Message>) -> String {
        self.message(&error.into())
    }

    /// Renders the correction of the error that a message describes; empty if there is no correction.
    pub fn help(&self, message: &Message) -> String {
        self.catalogue.help(message).unwrap_or_default()
    }

    /// Format of numbers and their units.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Formats a number in the language's format, from a machine format such as `-21570.5`.
    pub fn number(&self, machine: &str) -> String {
        self.numbers.write(machine)
    }

    /// Formats a measured time, see [`Numbers::time`].
    pub fn time(&self, time: Nanos) -> String {
        self.numbers.time(time)
    }

    /// Formats a duration in whole units, see [`Numbers::span`].
    pub fn span(&self, span: Nanos) -> String {
        self.numbers.span(span)
    }

    /// Formats a size in bytes, see [`Numbers::bytes`].
    pub fn bytes(&self, bytes: f64) -> String {
        self.numbers.bytes(bytes)
    }
}

/// Prefixes a sentence with the name of its cell; `name` is empty if there is only one cell.
fn with_name(name: &str, sentence: String) -> String {
    if name.is_empty() { sentence } else { format!("{name}: {sentence}") }
}

#[cfg(test)]
mod tests;
