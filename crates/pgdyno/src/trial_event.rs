//! Events of a trial

use model::{LogEvent, Tick};

/// Events that an observer reports during a trial.
#[derive(Clone, Copy, Debug)]
pub enum TrialEvent<'a> {
    /// The load runs, but is not measured yet.
    WarmingUp,
    Second(&'a Tick),
    /// Partial second at the end of the window.
    Rest(&'a Tick),
    /// Log events; never empty.
    Events(&'a [LogEvent]),
}
