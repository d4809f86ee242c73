//! In which words?
//!
//! Every sentence of every report is a method here, so that a missing translation does not compile.

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

/// All languages, the one that is spoken unless something else is asked for first.
pub const ALL: [&dyn Lang; 2] = [&En, &Ru];

/// The same code is the same language.
impl PartialEq for dyn Lang {
    fn eq(&self, other: &dyn Lang) -> bool {
        self.code() == other.code()
    }
}

/// The language of this [code](Lang::code).
pub fn find(code: &str) -> Option<&'static dyn Lang> {
    ALL.into_iter().find(|it| it.code() == code)
}

/// A language. Called when a report is written, from one thread, once per sentence.
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
    /// BCP 47, as it is given on the command line: `en`.
    fn code(&self) -> &'static str;
    /// Its own name: `English`.
    fn name(&self) -> &'static str;
    /// How it writes numbers and their units.
    fn numbers(&self) -> &'static Numbers;
    /// A number that machines write as `-21570.5`.
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
    /// At most 23 columns, but for the headings of tables.
    fn label(&self, it: Label) -> &'static str;
    /// What became of a failed transaction's effect.
    fn effect(&self, class: FailureClass) -> &'static str;
    /// `dropped` of `arrivals` were never sent.
    fn dropped(&self, dropped: u64, arrivals: u64) -> String;
    fn fairness(&self, it: &Fairness) -> String;
    /// `busiest`: share of the window in which the busiest thread worked.
    fn generator(&self, cost: &CpuCost, busiest: f64) -> String;
    /// What was measured, and how.
    fn measured(&self, server: &Server, plan: &BenchPlan) -> String;
    /// What a schedule will bring.
    fn preview(&self, it: &SchedulePreview) -> String;
    fn reason(&self, it: &InvalidReason) -> String;
    /// A verdict on a measurement in which no transaction succeeded; `first`: the code and message of its failures.
    fn nothing_succeeded(&self, first: Option<&str>) -> String;
    /// A verdict on a measurement that is valid, but not without saying this.
    fn valid_but(&self, why: &str) -> String;
    /// `clients` it had.
    fn doubt(&self, it: &Doubt, clients: u32) -> String;

    /// A heading of the matrix, with its unit, at most 12 columns.
    fn figure(&self, it: Figure) -> &'static str;
    /// At most 14 columns.
    fn verdict(&self, it: ChangeVerdict) -> &'static str;
    /// The way through a stack, and what its parts may use of the machine. `arrow` stands between them.
    fn path(&self, hops: &[Hop], generator: &Placement, arrow: &str) -> String;
    /// Why a trial does not count, where nothing speaks against the generator.
    fn status(&self, it: &TrialStatus) -> String;
    /// `left_out` of all `of` trials do not count, because of this.
    fn left_out(&self, left_out: usize, of: usize, why: &str) -> String;
    /// Limits that could not be applied for one and the same reason, at least one.
    fn not_applied(&self, limits: &[&UnappliedLimit]) -> String;
    /// What the matrix's figures are. `seed` decided the resampling; `too_few`: runs for any comparison of some cells.
    fn legend(&self, baseline: Option<&str>, seed: u64, too_few: bool) -> String;
    /// How much of a processor watching took.
    fn watching(&self, processors: f64) -> String;
    /// How much of its table a feed can touch, and whether that is a cache.
    fn reach(&self, it: &FeedCoverage) -> String;
    /// `names`: of the cells.
    fn tally(&self, it: &ObjectiveSummary, names: &[String]) -> String;
    fn entrance(&self, it: Transport) -> &'static str;
    /// Findings that have this in common are told together.
    fn group(&self, it: &Finding) -> String;
    /// Findings of one group, at least one. `names`: of the cells.
    fn findings(&self, all: &[&Finding], names: &[String]) -> String;
    /// A stop rule that never had a value.
    fn blind(&self, rule: &str) -> String;
    fn fired(&self, it: &StopEvent) -> String;
    /// Where Yandex.Tank would do otherwise with a stop rule.
    fn difference(&self, it: &TankDifference) -> String;
    fn judged(&self, it: &ObjectiveResult) -> String;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Count,
    Mean,
    Max,
    /// With their unit, milliseconds.
    Response,
    Service,
    /// The same, before a script's number.
    ResponseOfScript,
    ServiceOfScript,
    Connecting,
    BacklogWait,
    /// With their unit, microseconds.
    SendLag,
    Jitter,
    /// The unit above a plot of a schedule.
    ArrivalsPerSecond,
    /// Headings of tables.
    Statements,
    Failures,
    Effect,
    /// Before a sentence.
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
