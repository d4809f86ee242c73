//! Progress and new events of a run in progress
//!
//! Callers may poll every second, because each query is one short transaction, which hardly delays the writer.

use crate::error::Result;
use crate::read::{Run, State};
use crate::record::TrialId;
use model::LogEvent;

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub state: State,
    /// Number of trials that have begun; `finished` is the number of trials that have ended.
    pub started: u32,
    pub finished: u32,
}

impl Run {
    pub fn progress(&self) -> Result<RunProgress> {
        self.refresh();
        let state = self.state()?;
        // Use count(id), because count(*) reads the whole table in a single SQLite instruction, to which the work limit
        // does not apply.
        let sql = "SELECT count(id), count(status) FROM trial";
        let (begun, ended) = self.query_one(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(RunProgress { state, started: begun, finished: ended })
    }

    /// Events as in [`Run::events`], without the first `known` events.
    pub fn events_after(&self, trial: TrialId, known: usize) -> Result<Vec<LogEvent>> {
        self.events_where("trial = ? ORDER BY id LIMIT -1 OFFSET ?", (trial.0, known as i64))
    }
}
