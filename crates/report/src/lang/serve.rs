//! What does a server of runs say, word by word?

use model::run_result::RunState;

/// Called when a list or a notice is written, from one thread, once per word.
pub trait ServeWords {
    fn shown(&self, it: ServeTerm) -> &'static str;
    fn run_state(&self, it: RunState) -> &'static str;
    /// Why the server could not read a run, in its own words.
    fn unreadable(&self, why: &str) -> String;
    /// Which trial goes on, and for how long, as [`Lang::number`](super::Lang::number) writes it.
    fn goes_on(&self, trial: usize, of: Option<usize>, seconds: &str) -> String;
    /// One trial has ended, or none has begun, and the next is not measured yet.
    fn sets_up(&self, trial: usize, of: Option<usize>) -> String;
    /// The run's process was asked to end it.
    fn ending(&self) -> &'static str;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServeTerm {
    /// Title and heading of the list.
    Runs,
    /// Above the columns.
    Run,
    Experiment,
    State,
    Begun,
    Cells,
    Trials,
    Size,
    Headline,
    /// Fields and buttons.
    Filter,
    All,
    Select,
    Base,
    Compare,
    CompareHelp,
    Reload,
    None,
    /// Before a field, and on its button.
    Token,
    LogIn,
    /// Above the field, and when it was a wrong one.
    WantsToken,
    WrongToken,
    /// Links: to the list, and to a run's page as one file.
    AllRuns,
    OneFile,
    /// Notices.
    Unknown,
    Ended,
    Busy,
    Foreign,
}

impl ServeTerm {
    /// Those of the list, by the key under which the program that draws it finds them.
    pub const KEYS: [(&'static str, ServeTerm); 17] = [
        ("title", ServeTerm::Runs),
        ("run", ServeTerm::Run),
        ("experiment", ServeTerm::Experiment),
        ("state", ServeTerm::State),
        ("begun", ServeTerm::Begun),
        ("cells", ServeTerm::Cells),
        ("trials", ServeTerm::Trials),
        ("size", ServeTerm::Size),
        ("headline", ServeTerm::Headline),
        ("filter", ServeTerm::Filter),
        ("all", ServeTerm::All),
        ("select", ServeTerm::Select),
        ("base", ServeTerm::Base),
        ("compare", ServeTerm::Compare),
        ("compare_help", ServeTerm::CompareHelp),
        ("reload", ServeTerm::Reload),
        ("none", ServeTerm::None),
    ];

    /// Those that stand in the bar of a page, likewise.
    pub const BAR: [(&'static str, ServeTerm); 2] =
        [("all_runs", ServeTerm::AllRuns), ("one_file", ServeTerm::OneFile)];
}
