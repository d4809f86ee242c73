//! What does a reader of the run need to be told?
//!
//! A finding is named only where all of it was measured; a rule that misses a series says nothing.

#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod samples;

use model::matrix::Status;
use model::plan::{Kind, Node, Setup};
use model::{LogEvent, Sample, Summary, Tick};

/// What is known of one trial.
#[derive(Clone, Debug)]
pub struct TrialFacts<'a> {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// From 0.
    pub repetition: u32,
    /// By axis: its name, and what it is here.
    pub label: &'a [(String, String)],
    pub setup: &'a Setup,
    pub status: &'a Status,
    /// Absent when nothing was measured.
    pub summary: Option<&'a Summary>,
    /// Transactions that ended well within the window, by client; empty where that is not known.
    pub clients: &'a [u64],
    pub samples: &'a [Sample],
    pub events: &'a [LogEvent],
    /// May be empty.
    pub ticks: &'a [Tick],
    /// Limits that could not be applied, as `node.what`.
    pub not_applied: &'a [String],
    /// Clients that a node still held once the load had ended and had had time to leave: its name and their number.
    pub left: &'a [(String, u64)],
}

impl<'a> TrialFacts<'a> {
    /// The summary, if the trial counts: it ended by itself or by a rule, and nothing speaks against the generator.
    pub fn valid(&self) -> Option<&'a Summary> {
        let ended = matches!(self.status, Status::Done | Status::Stopped { .. });
        self.summary.filter(|it| ended && it.validity.valid)
    }

    /// The node that is PostgreSQL.
    pub fn server(&self) -> Option<&'a Node> {
        self.setup.stack.nodes.last()
    }

    /// What stands before PostgreSQL, the entrance first.
    pub fn before(&self) -> &'a [Node] {
        self.setup.stack.nodes.split_last().map_or(&[], |(_, before)| before)
    }

    /// The pooler nearest to PostgreSQL.
    pub fn pooler(&self) -> Option<&'a Node> {
        self.before().iter().rev().find(|it| matches!(it.kind, Kind::PgBouncer(_) | Kind::Odyssey(_)))
    }
}
