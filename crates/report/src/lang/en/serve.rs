//! English: what a server of runs says.

use super::En;
use crate::lang::serve::{ServeWords, Shown};
use model::account::RunState;

impl ServeWords for En {
    fn shown(&self, it: Shown) -> &'static str {
        match it {
            Shown::Runs => "Runs",
            Shown::Run => "Run",
            Shown::Experiment => "Experiment",
            Shown::State => "State",
            Shown::Begun => "Begun (UTC)",
            Shown::Cells => "Cells",
            Shown::Trials => "Trials",
            Shown::Size => "Size",
            Shown::Headline => "Answer",
            Shown::Filter => "Find",
            Shown::All => "all",
            Shown::Select => "Choose",
            Shown::Base => "baseline",
            Shown::Compare => "Compare",
            Shown::CompareHelp => "Choose two runs or more: the first is the baseline.",
            Shown::Reload => "Reload",
            Shown::None => "No run matches.",
            Shown::Token => "Token",
            Shown::LogIn => "Log in",
            Shown::WantsToken => "This server wants its token: the one it was started with.",
            Shown::WrongToken => "That is not this server's token.",
            Shown::AllRuns => "All runs",
            Shown::OneFile => "Save as a file",
            Shown::Unknown => "There is no such run.",
            Shown::Ended => "This run has ended already.",
            Shown::Busy => "Too many requests at once; try again in a moment.",
            Shown::Foreign => "This was not sent from a page of this server; open the page again.",
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
