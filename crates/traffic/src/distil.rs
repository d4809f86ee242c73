//! Summary of a traffic as an experiment
//!
//! Statements that differ only in their values are one statement. Transactions with the same statements are one
//! operation, with their relative frequency as weight and their values as the rows of a feed. Each row has the values of
//! one transaction, so that values which belong together stay together.

mod anonymise;
mod collect;
mod document;
mod groups;
mod left_out;
mod naming;
mod pace;
mod pauses;
mod sample;
mod script;

pub use anonymise::Anonymisation;
pub(crate) use document::{WEIGHT_MAX, significant, write_notes, write_stack};
pub use left_out::{LeftOut, LeftOutReason};
pub(crate) use naming::name as unique_name;
pub use pace::Pace;
pub(crate) use script::{is_expressible, script};

use crate::session::{Protocol, Traffic};
use collect::Collection;
use model::summary::QueryMode;

/// Choices for [`distil`].
#[derive(Clone, Debug)]
pub struct DistilOptions {
    /// Name of the experiment; the names of the feeds' files begin with it. It names a run: `a-z`, `0-9` and `-`.
    pub name: String,
    /// Determines which transactions become rows of a feed, if there are more than `max_rows`.
    pub seed: u64,
    /// Share of the statements that the operations must cover; rarer transactions are left out.
    pub coverage: f64,
    pub max_operations: usize,
    /// Maximum number of rows of a feed.
    pub max_rows: usize,
    /// Replaces the values of statements. Statements with constants that cannot be replaced are left out.
    pub anonymise: Option<Anonymisation>,
}

impl DistilOptions {
    /// Options with the usual limits: 95 % of the statements, 50 operations, and 10,000 rows of a feed.
    pub fn new(name: impl Into<String>) -> DistilOptions {
        DistilOptions {
            name: name.into(),
            seed: 1,
            coverage: 0.95,
            max_operations: 50,
            max_rows: 10_000,
            anonymise: None,
        }
    }
}

/// Experiment that a traffic amounts to.
#[derive(Clone, Debug)]
pub struct Distilled {
    /// Name and seed of the experiment.
    pub name: String,
    pub seed: u64,
    /// Operations by decreasing frequency.
    pub operations: Vec<Operation>,
    /// Transactions that no operation contains, by reason.
    pub left_out: Vec<LeftOut>,
    /// Statements and transactions of the traffic, including those left out.
    pub statements: u64,
    pub transactions: u64,
    pub pace: Pace,
    /// Query mode of most statements.
    pub query_mode: QueryMode,
}

/// Transactions with the same statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub name: String,
    /// Number of recorded transactions.
    pub transactions: u64,
    /// Normalised statements, with `$1` and so on in place of values.
    pub statements: Vec<String>,
    /// Script in the language of pgbench.
    pub script: String,
    /// Values of the script's variables; `None` if it has none.
    pub feed: Option<Feed>,
}

/// Values of an operation's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    pub columns: Vec<String>,
    /// Values of one transaction each, in the order in which the transactions began.
    pub rows: Vec<Vec<String>>,
}

impl Distilled {
    /// Files of the experiment with their names: first the experiment file, then its feeds in CSV. `notes` are lines
    /// that the experiment file begins with, as comments.
    pub fn files(&self, notes: &[String]) -> Vec<(String, String)> {
        let mut files = vec![(format!("{}.yaml", self.name), document::experiment(self, notes))];
        for operation in &self.operations {
            if let Some(feed) = &operation.feed {
                files.push((self.feed_file(operation), document::csv(feed)));
            }
        }
        files
    }

    /// Name of the file with the feed of an operation.
    pub(crate) fn feed_file(&self, operation: &Operation) -> String {
        format!("{}-{}.csv", self.name, operation.name)
    }

    /// Share of the statements that the operations contain.
    pub fn coverage(&self) -> f64 {
        let left_out: u64 = self.left_out.iter().map(|left_out| left_out.statements).sum();
        1.0 - left_out as f64 / self.statements.max(1) as f64
    }
}

/// Summarises a traffic as an experiment.
pub fn distil(traffic: &Traffic, options: &DistilOptions) -> Distilled {
    let query_mode = query_mode(traffic);
    let Collection { operations, left_out, transactions } = collect::collect(traffic, query_mode, options);
    Distilled {
        name: options.name.clone(),
        seed: options.seed,
        operations,
        left_out,
        statements: traffic.statements() as u64,
        transactions,
        pace: pace::pace(traffic),
        query_mode,
    }
}

/// Query mode of most statements other than those that begin and end transactions, which drivers send in the simple
/// protocol. A prepared statement has a name.
fn query_mode(traffic: &Traffic) -> QueryMode {
    let mut counts = [0u64; 3];
    let controls = ["begin", "commit", "end", "rollback", "start"];
    let is_control = |text: &str| {
        let word = text.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default();
        controls.iter().any(|control| control.eq_ignore_ascii_case(word))
    };
    let statements = traffic.sessions.iter().flat_map(|session| &session.statements);
    for statement in statements.filter(|statement| !is_control(&statement.text)) {
        let mode = match statement.protocol {
            Protocol::Simple => 0,
            Protocol::Extended(None) => 1,
            Protocol::Extended(Some(_)) => 2,
        };
        counts[mode] += 1;
    }
    let [simple, unnamed, named] = counts;
    if simple >= unnamed + named {
        QueryMode::Simple
    } else if unnamed >= named {
        QueryMode::Extended
    } else {
        QueryMode::Prepared
    }
}
