//! Progress and new events of a run in progress
//!
//! The functions suit callers that poll every second. Each query is one short transaction, which hardly delays the
//! writer.

use crate::error::Result;
use crate::read::{Run, State};
use crate::record::TrialId;
use model::LogEvent;

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub state: State,
    /// Number of trials that have begun, and number of those that have ended.
    pub started: u32,
    pub finished: u32,
}

impl Run {
    pub fn progress(&self) -> Result<RunProgress> {
        self.refresh();
        let state = self.state()?;
        // Uses count(id) instead of count(*), which walks the table in one SQLite instruction, however long that takes.
        let sql = "SELECT count(id), count(status) FROM trial";
        let (begun, ended) = self.query_one(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(RunProgress { state, started: begun, finished: ended })
    }

    /// Events as in [`Run::events`], without the first `known` ones.
    pub fn events_after(&self, trial: TrialId, known: usize) -> Result<Vec<LogEvent>> {
        self.events_where("trial = ? ORDER BY id LIMIT -1 OFFSET ?", (trial.0, known as i64))
    }
}
