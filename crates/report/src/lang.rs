//! Traits that every language implements: one method per sentence.
//!
//! A missing translation does not compile.

pub mod advice;
pub mod compare;
mod en;
pub mod failover;
pub mod freshness;
pub mod live;
pub mod number;
pub mod page;
mod ru;
pub mod search;
pub mod serve;
mod told;

pub use en::En;
pub use number::Numbers;
pub use ru::Ru;

use crate::preview::SchedulePreview;
use advice::AdviceWords;
use compare::CompareWords;
use failover::FailoverWords;
use freshness::FreshnessWords;
use live::LiveWords;
use model::Nanos;
use model::feed_coverage::FeedCoverage;
use model::finding::Finding;
use model::matrix::{ChangeVerdict, Figure, Hop, Placement, TrialStatus, UnappliedLimit};
use model::objective::{ObjectiveResult, ObjectiveSummary};
use model::plan::Transport;
use model::stop::{StopEvent, TankDifference};
use model::summary::{BenchPlan, CpuCost, Doubt, FailureClass, Fairness, InvalidReason, Server};
use page::PageWords;
use search::SearchWords;
use serve::ServeWords;
use std::fmt::Debug;

/// All languages, the default first.
pub const ALL: [&dyn Lang; 2] = [&En, &Ru];

/// Languages are equal if their codes are.
impl PartialEq for dyn Lang {
    fn eq(&self, other: &dyn Lang) -> bool {
        self.code() == other.code()
    }
}

/// The language with this [code](Lang::code).
pub fn find(code: &str) -> Option<&'static dyn Lang> {
    ALL.into_iter().find(|it| it.code() == code)
}

/// A language. Called while a report is written, from one thread, once per sentence.
pub trait Lang:
    Debug
    + Sync
    + PageWords
    + CompareWords
    + LiveWords
    + SearchWords
    + FailoverWords
    + FreshnessWords
    + ServeWords
    + AdviceWords
{
    /// BCP 47 code, as on the command line: `en`.
    fn code(&self) -> &'static str;
    /// The language's own name: `English`.
    fn name(&self) -> &'static str;
    /// Format of numbers and their units.
    fn numbers(&self) -> &'static Numbers;
    /// A number in the language's format, from a machine format such as `-21570.5`.
    fn number(&self, it: &str) -> String {
        self.numbers().write(it)
    }
    /// [`Numbers::time`].
    fn time(&self, it: Nanos) -> String {
        self.numbers().time(it)
    }
    /// [`Numbers::span`].
    fn span(&self, it: Nanos) -> String {
        self.numbers().span(it)
    }
    /// [`Numbers::bytes`].
    fn bytes(&self, it: f64) -> String {
        self.numbers().bytes(it)
    }
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

    /// A heading of the matrix with its unit, at most 12 columns.
    fn figure(&self, it: Figure) -> &'static str;
    /// A verdict of at most 14 columns.
    fn verdict(&self, it: ChangeVerdict) -> &'static str;
    /// The nodes of a stack with their limits, separated by `arrow`.
    fn path(&self, hops: &[Hop], generator: &Placement, arrow: &str) -> String;
    /// The reason why a trial does not count, apart from its generator.
    fn status(&self, it: &TrialStatus) -> String;
    /// Reports that `left_out` of `of` trials do not count, for one reason.
    fn left_out(&self, left_out: usize, of: usize, why: &str) -> String;
    /// Limits that could not be applied for one common reason; at least one.
    fn not_applied(&self, limits: &[&UnappliedLimit]) -> String;
    /// Legend of the matrix's figures. `seed`: seed of the resampling. `too_few`: true if some cells have too few
    /// trials for any comparison.
    fn legend(&self, baseline: Option<&str>, seed: u64, too_few: bool) -> String;
    /// CPU time that sampling took, in CPUs.
    fn watching(&self, processors: f64) -> String;
    /// Share of its table that a feed can touch, and whether that fits a cache.
    fn reach(&self, it: &FeedCoverage) -> String;
    /// An objective's summary. `names`: names of the cells.
    fn tally(&self, it: &ObjectiveSummary, names: &[String]) -> String;
    fn entrance(&self, it: Transport) -> &'static str;
    /// Grouping key: findings with equal keys are reported together.
    fn group(&self, it: &Finding) -> String;
    /// Findings of one group, at least one. `names`: names of the cells.
    fn findings(&self, all: &[&Finding], names: &[String]) -> String;
    /// A stop rule that never had a value.
    fn blind(&self, rule: &str) -> String;
    fn fired(&self, it: &StopEvent) -> String;
    /// A difference between our stop rule and Yandex.Tank's.
    fn difference(&self, it: &TankDifference) -> String;
    fn judged(&self, it: &ObjectiveResult) -> String;
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
