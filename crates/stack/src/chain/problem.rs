//! Error of starting or changing a chain

use crate::component::program::Unavailable;
use crate::supervisor::NodeError;
use std::fmt;

/// Reason why a chain could not be started or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// A component is not available on this machine. The caller skips the trials that need it.
    Unavailable(Unavailable),
    /// The plan cannot be built: its author made a mistake.
    InvalidPlan { node: String, reason: String },
    /// An operation failed that a correct plan on a working machine does not fail.
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
