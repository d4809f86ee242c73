//! Index advice as JSON

use super::JsonDocument;
use model::advice::Advice;
use schemars::JsonSchema;
use serde::Serialize;

/// Index advice of a run: `pgdyno advise`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdviceDocument<'a> {
    /// Advice for each group of cells that share stack, data and operations.
    pub advice: &'a [Advice],
}

impl JsonDocument for AdviceDocument<'_> {
    const NAME: &'static str = "advice";
    const VERSION: u32 = 2;
}
