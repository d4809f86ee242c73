//! Events of a trial

use model::{LogEvent, Tick};

/// Events that an observer reports during a trial.
#[derive(Clone, Copy, Debug)]
pub enum TrialEvent<'a> {
    /// The warm-up load runs, which is not measured.
    WarmingUp,
    Second(&'a Tick),
    /// Partial second at the end of the window.
    Rest(&'a Tick),
    /// Log events; never empty.
    Events(&'a [LogEvent]),
    /// The load has ended, and no other server accepts writes yet.
    AwaitingFailover,
    /// This command of the user reverts a fault after the load.
    Undoing(&'a [String]),
}
