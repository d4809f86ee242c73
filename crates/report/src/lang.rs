//! Languages: a catalogue of messages each, and the choice of messages, which is the same for all.

mod advice;
pub mod answer;
mod catalogue;
mod chart;
mod compare;
mod en;
pub mod failover;
mod feeds;
mod findings;
pub mod freshness;
pub mod live;
mod matrix;
pub mod number;
pub mod page;
mod ru;
pub mod search;
mod serve;
mod stop;
mod text;
pub mod workload;

pub use catalogue::{Argument, Catalogue};
pub use number::Numbers;

use crate::preview::SchedulePreview;
use crate::say;
use live::LiveWords;
use model::Nanos;
use model::summary::{BenchPlan, CpuCost, Doubt, FailureClass, Fairness, InvalidReason, Server};
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::LazyLock;
use text::{cell_list, cell_name, request, short};

/// Message files of all languages by their BCP 47 codes, the default first.
static FILES: [(&str, &str, &dyn Words); 2] = [
    ("en", include_str!("../messages/en.ftl"), &en::En),
    ("ru", include_str!("../messages/ru.ftl"), &ru::Ru),
];

static LANGUAGES: LazyLock<Vec<Lang>> = LazyLock::new(|| FILES.map(Lang::new).into());

/// All languages, the default first.
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

/// The language with this [code](Lang::code).
pub fn find(code: &str) -> Option<&'static Lang> {
    LANGUAGES.iter().find(|lang| lang.code == code)
}

/// A language. Languages are equal if their codes are.
#[derive(Debug)]
pub struct Lang {
    code: &'static str,
    catalogue: Catalogue,
    numbers: Numbers,
    words: &'static dyn Words,
}

impl PartialEq for Lang {
    fn eq(&self, other: &Lang) -> bool {
        self.code == other.code
    }
}

impl Lang {
    fn new((code, text, words): (&'static str, &str, &'static dyn Words)) -> Lang {
        let catalogue = Catalogue::parse(code, text);
        let numbers = Numbers::from_catalogue(&catalogue);
        Lang { code, catalogue, numbers, words }
    }

    /// BCP 47 code, as on the command line: `en`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The language's own name: `English`.
    pub fn name(&self) -> String {
        say!(self, "number-language")
    }

    /// Format of numbers and their units.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// A number in the language's format, from a machine format such as `-21570.5`.
    pub fn number(&self, machine: &str) -> String {
        self.numbers.write(machine)
    }

    /// [`Numbers::time`].
    pub fn time(&self, time: Nanos) -> String {
        self.numbers.time(time)
    }

    /// [`Numbers::span`].
    pub fn span(&self, span: Nanos) -> String {
        self.numbers.span(span)
    }

    /// [`Numbers::bytes`].
    pub fn bytes(&self, bytes: f64) -> String {
        self.numbers.bytes(bytes)
    }
}

/// A sentence about a cell; `name` is empty if there is only one.
fn with_name(name: &str, sentence: String) -> String {
    if name.is_empty() { sentence } else { format!("{name}: {sentence}") }
}

/// Sentences that are not in the catalogue yet.
impl Deref for Lang {
    type Target = dyn Words;

    fn deref(&self) -> &(dyn Words + 'static) {
        self.words
    }
}

/// A language. Called while a report is written, from one thread, once per sentence.
pub trait Words: Debug + Sync + LiveWords {
    /// A label of at most 23 columns; table headings may be longer.
    fn label(&self, it: Label) -> &'static str;
    /// The effect of failed transactions of this class.
    fn effect(&self, class: FailureClass) -> &'static str;
    /// Reports that `dropped` of `arrivals` were never sent.
    fn dropped(&self, dropped: u64, arrivals: u64) -> String;
    fn fairness(&self, it: &Fairness) -> String;
    /// The generator's CPU cost. `busiest`: share of the window in which the busiest thread worked.
    fn generator(&self, cost: &CpuCost, busiest: f64) -> String;
    /// The server and how it was measured.
    fn measured(&self, server: &Server, plan: &BenchPlan) -> String;
    /// Arrivals and rates that a schedule will produce.
    fn preview(&self, it: &SchedulePreview) -> String;
    fn reason(&self, it: &InvalidReason) -> String;
    /// Verdict if no transaction succeeded. `first`: code and message of the top failure.
    fn nothing_succeeded(&self, first: Option<&str>) -> String;
    /// Verdict on a valid measurement with a reservation.
    fn valid_but(&self, why: &str) -> String;
    /// A doubt about a measurement with `clients` clients.
    fn doubt(&self, it: &Doubt, clients: u32) -> String;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Count,
    Mean,
    Max,
    /// Label with its unit, milliseconds.
    Response,
    Service,
    /// The response-time label before a script's number.
    ResponseOfScript,
    ServiceOfScript,
    Connecting,
    BacklogWait,
    /// Label with its unit, microseconds.
    SendLag,
    Jitter,
    /// Unit above the plot of a schedule.
    ArrivalsPerSecond,
    /// Headings of tables.
    Statements,
    Failures,
    Effect,
    /// Labels before a sentence.
    Dropped,
    Clients,
    Generator,
    Measured,
    Verdict,
    Note,
    Valid,
    Invalid,
    /// Headings of the matrix.
    Interval,
    VsBaseline,
    Path,
    /// Headings of comparisons.
    Cell,
    Beside,
    Transport,
    Runs,
}

#[cfg(test)]
mod tests;
