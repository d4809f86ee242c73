//! English: what a server of runs says.

use super::En;
use crate::lang::serve::{ServeTerm, ServeWords};
use model::run_result::RunState;

impl ServeWords for En {
    fn shown(&self, it: ServeTerm) -> &'static str {
        match it {
            ServeTerm::Runs => "Runs",
            ServeTerm::Run => "Run",
            ServeTerm::Experiment => "Experiment",
            ServeTerm::State => "State",
            ServeTerm::Begun => "Begun (UTC)",
            ServeTerm::Cells => "Cells",
            ServeTerm::Trials => "Trials",
            ServeTerm::Size => "Size",
            ServeTerm::Headline => "Answer",
            ServeTerm::Filter => "Find",
            ServeTerm::All => "all",
            ServeTerm::Select => "Choose",
            ServeTerm::Base => "baseline",
            ServeTerm::Compare => "Compare",
            ServeTerm::CompareHelp => "Choose two runs or more: the first is the baseline.",
            ServeTerm::Reload => "Reload",
            ServeTerm::None => "No run matches.",
            ServeTerm::Token => "Token",
            ServeTerm::LogIn => "Log in",
            ServeTerm::WantsToken => "This server wants its token: the one it was started with.",
            ServeTerm::WrongToken => "That is not this server's token.",
            ServeTerm::AllRuns => "All runs",
            ServeTerm::OneFile => "Save as a file",
            ServeTerm::Unknown => "There is no such run.",
            ServeTerm::Ended => "This run has ended already.",
            ServeTerm::Busy => "Too many requests at once; try again in a moment.",
            ServeTerm::Foreign => "This was not sent from a page of this server; open the page again.",
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

    fn unreadable(&self, why: &str) -> String {
        format!("It cannot be read: {why}")
    }

    fn goes_on(&self, trial: usize, of: Option<usize>, seconds: &str) -> String {
        let of = of_all(of);
        format!("Trial {trial}{of} has been measured for {seconds} s")
    }

    fn sets_up(&self, trial: usize, of: Option<usize>) -> String {
        let of = of_all(of);
        format!("Trial {trial}{of} is being set up")
    }

    fn ending(&self) -> &'static str {
        "The run was asked to end; what was measured is kept."
    }
}

/// Nothing where nobody knows how many there will be.
fn of_all(of: Option<usize>) -> String {
    of.map_or(String::new(), |it| format!(" of {it}"))
}
