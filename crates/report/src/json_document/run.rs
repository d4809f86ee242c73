//! Result of a run as JSON

use super::JsonDocument;
use model::fault_injection::FailoverResult;
use model::finding::Finding;
use model::freshness::FreshnessResult;
use model::matrix::Matrix;
use model::run_result::{OperationResult, OperationStep, RunResult};
use model::search::{Maximum, Plateau, SoakResult};
use model::server_log::CellLog;
use model::states::CellStates;
use model::table_sizes::TableGrowth;
use model::{SizeFigures, StatementRows};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Result of a run: `pgdyno run`, `pgdyno runs show`. A `cell` is an index into `matrix.rows`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RunDocument<'a> {
    /// File of the run; only in `pgdyno runs show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunFile<'a>>,
    /// Figures of each cell; `null` if no figures can be computed from the file.
    pub matrix: Option<&'a Matrix>,
    /// Findings; those that affect the interpretation of other findings come first. `null` if `matrix` is `null`.
    pub findings: Option<&'a [Finding]>,
    /// Maximum of each cell, if the run searched for it.
    #[serde(skip_serializing_if = "is_empty")]
    pub maxima: &'a [Maximum],
    /// Levels that were held for a long time.
    #[serde(skip_serializing_if = "is_empty")]
    pub soaks: &'a [SoakResult],
    /// Durability results by cell, if faults were injected.
    #[serde(skip_serializing_if = "is_empty")]
    pub failovers: &'a [FailoverResult],
    /// Staleness of reads on replicas by cell, if it was measured.
    #[serde(skip_serializing_if = "is_empty")]
    pub freshness: &'a [FreshnessResult],
    /// Growth of the dataset's tables by cell, the largest table first.
    #[serde(skip_serializing_if = "is_empty")]
    pub tables: &'a [TableGrowth],
    /// Contents of the logs of servers and services by cell.
    #[serde(skip_serializing_if = "is_empty")]
    pub logs: &'a [CellLog],
    /// States of sessions, pools and balanced servers by cell.
    #[serde(skip_serializing_if = "is_empty")]
    pub states: &'a [CellStates],
    /// Sizes of the HTTP responses by cell and operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<OperationSizes<'a>>,
    /// Rows of statements by cell and operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<OperationRows<'a>>,
    /// Steps by cell and operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<OperationSteps<'a>>,
    /// Conclusion from a grid of settings, if the run was a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau: Option<&'a Plateau>,
}

impl JsonDocument for RunDocument<'_> {
    const NAME: &'static str = "run";
    const VERSION: u32 = 2;
}

/// File of a run, and how the run ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunFile<'a> {
    /// Name of the experiment.
    pub name: &'a str,
    pub file: &'a Path,
    /// Unix time in milliseconds.
    pub started_ms: u64,
    /// `running`, `complete`, `interrupted`, `stopped`, `failed`, `skipped` or `lost`.
    pub status: &'a str,
    pub ended_ms: Option<u64>,
    /// Reason why the run is not complete.
    pub reason: Option<&'a str>,
    pub seed: u64,
    pub pgdyno_version: &'a str,
    /// Names and versions of the programs other than pgdyno.
    pub versions: &'a [(String, String)],
    /// Facts about the machine, as `pgdyno doctor` prints them under `host`.
    pub machine: &'a Value,
}

/// Sizes of the responses of one operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperationSizes<'a> {
    pub cell: usize,
    pub operation: &'a str,
    /// Sizes in bytes.
    pub sizes: SizeFigures,
}

/// Rows of the statements of one operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperationRows<'a> {
    pub cell: usize,
    pub operation: &'a str,
    pub statements: &'a [StatementRows],
}

/// Steps of one operation: its HTTP requests, SQL statements or pipelines.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperationSteps<'a> {
    pub cell: usize,
    pub operation: &'a str,
    pub steps: &'a [OperationStep],
}

impl<'a> From<&'a RunResult> for RunDocument<'a> {
    fn from(result: &'a RunResult) -> RunDocument<'a> {
        let sizes = |(cell, operation): (usize, &'a OperationResult)| {
            Some(OperationSizes { cell, operation: &operation.name, sizes: operation.sizes? })
        };
        let rows = |(cell, operation): (usize, &'a OperationResult)| {
            let (operation, statements) = (operation.name.as_str(), operation.rows.as_slice());
            (!statements.is_empty()).then_some(OperationRows { cell, operation, statements })
        };
        let steps = |(cell, result): (usize, &'a OperationResult)| {
            let (operation, steps) = (result.name.as_str(), result.steps.as_slice());
            (!steps.is_empty()).then_some(OperationSteps { cell, operation, steps })
        };
        RunDocument {
            run: None,
            matrix: Some(&result.matrix),
            findings: Some(&result.findings),
            maxima: &result.maxima,
            soaks: &result.soaks,
            failovers: &result.failovers,
            freshness: &result.freshness,
            tables: &result.tables,
            logs: &result.logs,
            states: &result.states,
            sizes: operations(result).filter_map(sizes).collect(),
            rows: operations(result).filter_map(rows).collect(),
            steps: operations(result).filter_map(steps).collect(),
            plateau: result.plateau.as_ref(),
        }
    }
}

/// Lists the results of all operations, each with the index of its cell.
fn operations(result: &RunResult) -> impl Iterator<Item = (usize, &OperationResult)> {
    let cells = result.cells.iter().enumerate();
    cells.flat_map(|(cell, result)| result.operations.iter().map(move |operation| (cell, operation)))
}

fn is_empty<T>(list: &[T]) -> bool {
    list.is_empty()
}
