//! Sentences of the web server of runs

use super::Lang;
use crate::say;
use model::run_result::RunState;

impl Lang {
    pub fn run_state(&self, state: RunState) -> String {
        match state {
            RunState::Running => say!(self, "serve-running"),
            RunState::Complete => say!(self, "serve-complete"),
            RunState::Interrupted => say!(self, "serve-interrupted"),
            RunState::Stopped => say!(self, "serve-stopped"),
            RunState::Failed => say!(self, "serve-failed"),
            RunState::Skipped => say!(self, "serve-skipped"),
            RunState::Lost => say!(self, "serve-lost"),
        }
    }

    /// Reports that the web server cannot read a run, and the reason.
    pub fn unreadable(&self, reason: &str) -> String {
        say!(self, "serve-unreadable", reason)
    }

    /// Describes the running trial. `seconds` is its elapsed time, formatted by [`Lang::number`].
    pub fn running_trial(&self, trial: usize, total: Option<usize>, seconds: &str) -> String {
        say!(self, "serve-measuring", trial, total, seconds)
    }

    /// Reports that the next trial is being set up.
    pub fn trial_setup(&self, trial: usize, total: Option<usize>) -> String {
        say!(self, "serve-setting-up", trial, total)
    }

    /// Reports that the run's process received a stop request.
    pub fn stop_requested(&self) -> String {
        say!(self, "serve-stopping")
    }
}
