//! What does the list of runs say in a browser, word by word?

use model::account::RunState;

/// Called when the list or a notice is written, from one thread, once per word.
pub trait ServeWords {
    fn serve(&self, it: Shown) -> &'static str;
    fn run_state(&self, it: RunState) -> &'static str;
    /// So many runs are shown, of so many.
    fn runs(&self, shown: usize, of: usize) -> String;
    /// Why the server could not read a run, in its own words.
    fn unreadable(&self, why: &str) -> String;
    /// Which trial goes on, and for how long, as [`Lang::number`](super::Lang::number) writes it.
    fn goes_on(&self, trial: usize, of: usize, seconds: &str) -> String;
    /// One trial has ended and the next has not begun to be measured.
    fn sets_up(&self, trial: usize, of: usize) -> String;
    /// What a run's page says where its process is asked to end.
    fn ending(&self) -> &'static str;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Title and heading of the list.
    Runs,
    NoRuns,
    NoneFits,
    /// Above columns.
    Name,
    Begun,
    Trials,
    State,
    Size,
    /// Compared with the others, and one of the others.
    Base,
    Others,
    /// On buttons.
    Filter,
    Compare,
    Stop,
    /// Asks once more, on a button.
    StopNow,
    LogIn,
    /// Before a field.
    NameContains,
    Token,
    /// Above the field for the token, and when it was a wrong one.
    WantsToken,
    WrongToken,
    /// Links.
    Save,
    AllRuns,
    /// Notices.
    Unknown,
    Busy,
    Foreign,
    Ended,
    ChooseTwo,
}
