//! Durability verdicts as JSON

use super::JsonDocument;
use model::durability::DurabilityVerdict;
use schemars::JsonSchema;
use serde::Serialize;

/// Verdicts on ledgers and histories: `pgdyno judge`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JudgeDocument<'a> {
    /// Verdicts in the order of the files.
    pub histories: Vec<JudgedHistory<'a>>,
}

/// Verdict on one ledger or history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JudgedHistory<'a> {
    /// File and, if the file contains several histories, line and title of the history.
    pub name: &'a str,
    pub verdict: &'a DurabilityVerdict,
}

impl JsonDocument for JudgeDocument<'_> {
    const NAME: &'static str = "judge";
    const VERSION: u32 = 1;
}
