//! Words of the web server of runs.

use model::run_result::RunState;

/// Words of lists and notices. Called while they are written, from one thread, once per word.
pub trait ServeWords {
    fn shown(&self, it: ServeTerm) -> &'static str;
    fn run_state(&self, it: RunState) -> &'static str;
    /// Reason why the server cannot read a run, in the server's own words.
    fn unreadable(&self, why: &str) -> String;
    /// The running trial and its duration, in the format of [`Lang::number`](super::Lang::number).
    fn goes_on(&self, trial: usize, of: Option<usize>, seconds: &str) -> String;
    /// The next trial is being set up.
    fn sets_up(&self, trial: usize, of: Option<usize>) -> String;
    /// The run's process received a stop request.
    fn ending(&self) -> &'static str;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServeTerm {
    /// Title and heading of the list.
    Runs,
    /// Column headings.
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
    /// Label of a field and of its button.
    Token,
    LogIn,
    /// Text above the field, and the message after a wrong token.
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
    /// Words of the list, by the keys under which its script finds them.
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

    /// Words in the bar of a page, by key.
    pub const BAR: [(&'static str, ServeTerm); 2] =
        [("all_runs", ServeTerm::AllRuns), ("one_file", ServeTerm::OneFile)];
}
