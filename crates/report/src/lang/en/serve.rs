//! English: the list of runs.

use super::En;
use crate::lang::serve::{ServeWords, Shown};
use model::account::RunState;

impl ServeWords for En {
    fn serve(&self, it: Shown) -> &'static str {
        match it {
            Shown::Runs => "Runs",
            Shown::NoRuns => "No run is kept here yet.",
            Shown::NoneFits => "No run has a name that contains this.",
            Shown::Name => "Run",
            Shown::Begun => "Begun (UTC)",
            Shown::Trials => "Trials",
            Shown::State => "State",
            Shown::Size => "Size",
            Shown::Base => "Baseline",
            Shown::Others => "Compared",
            Shown::Filter => "Filter",
            Shown::Compare => "Compare",
            Shown::Stop => "Stop …",
            Shown::StopNow => "Stop it now and keep what was measured",
            Shown::LogIn => "Log in",
            Shown::NameContains => "Name contains",
            Shown::Token => "Token",
            Shown::WantsToken => "This server wants its token: the one it was started with.",
            Shown::WrongToken => "That is not this server's token.",
            Shown::Save => "Save as one file",
            Shown::AllRuns => "All runs",
            Shown::Unknown => "There is no such run.",
            Shown::Busy => "Too many ask at once; try again in a moment.",
            Shown::Foreign => "This was not sent from a page of this server; open the page again.",
            Shown::Ended => "This run has ended already.",
            Shown::ChooseTwo => "Choose a baseline and at least one other run.",
        }
    }

    fn run_state(&self, it: RunState) -> &'static str {
        match it {
            RunState::Running => "running",
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
            RunState::Stopped => "stopped by a rule",
            RunState::Failed => "failed",
            RunState::Skipped => "skipped",
            RunState::Lost => "lost: its process was killed",
        }
    }

    fn runs(&self, shown: usize, of: usize) -> String {
        let s = if of == 1 { "" } else { "s" };
        match shown == of {
            true => format!("{of} run{s}"),
            false => format!("{shown} of {of} run{s}"),
        }
    }

    fn unreadable(&self, why: &str) -> String {
        format!("It cannot be read: {why}")
    }

    fn goes_on(&self, trial: usize, of: usize, seconds: &str) -> String {
        format!("Trial {trial} of {of} has been measured for {seconds} s")
    }

    fn sets_up(&self, trial: usize, of: usize) -> String {
        format!("Trial {trial} of {of} is being set up")
    }

    fn ending(&self) -> &'static str {
        "The run was asked to end; what was measured is kept."
    }
}
