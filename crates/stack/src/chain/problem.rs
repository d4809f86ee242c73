//! Errors from starting or changing a chain

use crate::component::program::Unavailable;
use crate::supervisor::NodeError;
use model::message;
use model::message::Message;

/// Reason why a chain could not be started or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// A component is not available on this machine. The caller skips the trials that need it.
    Unavailable(Unavailable),
    /// The requested node cannot be built; the user must correct the experiment.
    InvalidPlan { node: String, reason: Message },
    /// An operation failed although the requested stack is valid.
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

impl From<&ChainError> for Message {
    fn from(error: &ChainError) -> Message {
        match error {
            ChainError::Unavailable(error) => error.into(),
            ChainError::InvalidPlan { node, reason } => message!("error-of", subject = node, error = reason),
            ChainError::Failed(error) => error.into(),
        }
    }
}
