//! How far is a run that is being written, and what is new in it?
//!
//! For those who look every second: each question is one short transaction, so that the writer waits for nobody.

use crate::error::Result;
use crate::read::{Run, State};
use crate::record::TrialId;
use model::LogEvent;

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub state: State,
    /// Trials that have begun, and those of them that have ended.
    pub started: u32,
    pub finished: u32,
}

impl Run {
    pub fn progress(&self) -> Result<RunProgress> {
        self.refresh();
        let state = self.state()?;
        // Not count(*) alone, for which SQLite walks the table in one instruction, however long it takes.
        let sql = "SELECT count(id), count(status) FROM trial";
        let (begun, ended) = self.query_one(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(RunProgress { state, started: begun, finished: ended })
    }

    /// [`Run::events`] without the first `known`.
    pub fn events_after(&self, trial: TrialId, known: usize) -> Result<Vec<LogEvent>> {
        self.events_where("trial = ? ORDER BY id LIMIT -1 OFFSET ?", (trial.0, known as i64))
    }
}
