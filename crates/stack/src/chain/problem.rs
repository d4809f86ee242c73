//! Error of starting or changing a chain

use crate::component::program::Unavailable;
use crate::supervisor::NodeError;
use std::fmt;

/// Why a chain could not be started or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// A component is not available on this machine: skip what needs it.
    Unavailable(Unavailable),
    /// The plan cannot be built: a mistake of its author.
    InvalidPlan { node: String, reason: String },
    /// Something that should have worked failed.
    Failed(NodeError),
}

impl From<Unavailable> for ChainError {
    fn from(error: Unavailable) -> ChainError {
        ChainError::Unavailable(error)
    }
}

impl From<NodeError> for ChainError {
    fn from(error: NodeError) -> ChainError {
        ChainError::Failed(error)
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainError::Unavailable(it) => it.fmt(f),
            ChainError::InvalidPlan { node, reason } => write!(f, "{node}: {reason}"),
            ChainError::Failed(it) => it.fmt(f),
        }
    }
}

impl std::error::Error for ChainError {}
