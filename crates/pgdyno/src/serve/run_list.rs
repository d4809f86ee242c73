//! List of the stored runs as JSON

use crate::runs;
use model::run_result::RunState;
use report::json_document::JsonDocument;
use report::lang::Lang;
use report::view::{Line, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use store::{RunEntry, RunStatus, State};

/// Stored runs: `/runs.json` of `pgdyno serve`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunListDocument {
    /// Language of the texts, as BCP 47 code.
    pub lang: String,
    /// All languages: code and name.
    pub languages: Vec<(String, String)>,
    /// Words that the page's script displays, by key.
    pub words: BTreeMap<String, String>,
    pub runs: Vec<RunListEntry>,
    /// True if some headlines are missing. They are available when the list is requested again.
    pub partial: bool,
}

impl JsonDocument for RunListDocument {
    const NAME: &'static str = "run_list";
    const VERSION: u32 = 1;
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunListEntry {
    /// File name of the run without `.dyno`.
    pub name: String,
    /// Name of the experiment; empty if the file is unreadable.
    pub experiment: String,
    /// Start of the run, as Unix time in milliseconds.
    pub started_ms: u64,
    /// Start of the run as text, in UTC.
    pub started: String,
    pub state: RunListState,
    pub state_text: String,
    /// Number of cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<usize>,
    /// Number of trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// Size of the file, in bytes.
    pub bytes: u64,
    pub size_text: String,
    /// Answer of the run, its progress while it runs, or the reason why the file is unreadable; empty if it is not known yet.
    pub headline: String,
    pub tone: Tone,
}

/// State of a run, or `unreadable`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RunListState {
    Known(RunState),
    Unreadable(Unreadable),
}

/// State of a file that cannot be read.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    Unreadable,
}

impl RunListEntry {
    pub fn new(run: &RunEntry, answer: Option<&Line>, lang: &Lang) -> RunListEntry {
        let (name, bytes, size_text) = (run.name.clone(), run.bytes, lang.bytes(run.bytes as f64));
        match &run.overview {
            Ok(content) => {
                let state = run_state(&content.state);
                RunListEntry {
                    name,
                    experiment: content.header.name.clone(),
                    started_ms: content.header.begun_ms,
                    started: runs::format_time(content.header.begun_ms),
                    state: RunListState::Known(state),
                    state_text: lang.run_state(state),
                    cells: Some(content.cells),
                    trials: Some(content.trials),
                    bytes,
                    size_text,
                    headline: answer.map_or(String::new(), |line| line.text.clone()),
                    tone: answer.map_or(Tone::Plain, |line| line.tone),
                }
            }
            Err(error) => RunListEntry {
                name,
                experiment: String::new(),
                started_ms: 0,
                started: String::new(),
                state: RunListState::Unreadable(Unreadable::Unreadable),
                state_text: "–".to_owned(),
                cells: None,
                trials: None,
                bytes,
                size_text,
                headline: lang.unreadable(&lang.error(error)),
                tone: Tone::Bad,
            },
        }
    }
}

fn run_state(state: &State) -> RunState {
    match state {
        State::Running => RunState::Running,
        State::Lost => RunState::Lost,
        State::Ended(outcome) => match outcome.status {
            RunStatus::Complete => RunState::Complete,
            RunStatus::Interrupted => RunState::Interrupted,
            RunStatus::Stopped => RunState::Stopped,
            RunStatus::Failed => RunState::Failed,
            RunStatus::Skipped => RunState::Skipped,
        },
    }
}
