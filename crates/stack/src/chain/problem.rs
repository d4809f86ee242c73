//! Why is there no chain?

use crate::component::program::Unavailable;
use crate::supervisor::Failure;
use std::fmt;

/// No chain, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A component cannot be had on this machine: what needs it is to be skipped.
    Unavailable(Unavailable),
    /// The plan cannot be built: a mistake of its author.
    Impossible { node: String, why: String },
    /// Something that should have worked did not.
    Failed(Failure),
}

impl From<Unavailable> for Problem {
    fn from(it: Unavailable) -> Problem {
        Problem::Unavailable(it)
    }
}

impl From<Failure> for Problem {
    fn from(it: Failure) -> Problem {
        Problem::Failed(it)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unavailable(it) => it.fmt(f),
            Problem::Impossible { node, why } => write!(f, "{node}: {why}"),
            Problem::Failed(it) => it.fmt(f),
        }
    }
}

impl std::error::Error for Problem {}
