//! `pgdyno schema`: prints the JSON Schema of experiment files and of the JSON documents that pgdyno prints

use crate::command;
use crate::doctor::DoctorDocument;
use crate::exit_status::ExitStatus;
use crate::export::ExportDocument;
use crate::serve::RunListDocument;
use crate::stack_command::StackDocument;
use crate::terminal;
use crate::version::VersionDocument;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use report::document::PageDocument;
use report::json_document::{
    AdviceDocument, BenchDocument, ComparisonDocument, HistoryDocument, JsonDocument, JudgeDocument,
    ReportDocument, RunDocument, ScheduleDocument, schema,
};
use serde_json::Value;

/// Name and schema of a document.
type SchemaEntry = (&'static str, fn() -> Value);

/// Schemas of experiment files and of all JSON documents, with the names that the command accepts.
static SCHEMAS: [SchemaEntry; 15] = [
    ("experiment", experiment::schema),
    entry::<AdviceDocument<'_>>(),
    entry::<BenchDocument<'_>>(),
    entry::<ComparisonDocument<'_>>(),
    entry::<DoctorDocument<'_>>(),
    entry::<ExportDocument<'_>>(),
    entry::<HistoryDocument<'_>>(),
    entry::<JudgeDocument<'_>>(),
    entry::<PageDocument<'_>>(),
    entry::<ReportDocument<'_>>(),
    entry::<RunDocument<'_>>(),
    entry::<RunListDocument>(),
    entry::<ScheduleDocument<'_>>(),
    entry::<StackDocument<'_>>(),
    entry::<VersionDocument>(),
];

const fn entry<T: JsonDocument>() -> SchemaEntry {
    (T::NAME, schema::<T>)
}

/// Print the JSON Schema of experiment files, for completion and checks in editors, or of a document that pgdyno prints
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno schema")]
pub struct Args {
    /// Experiment files, or a document: the key `format` of a document names it
    #[arg(default_value = "experiment", value_parser = PossibleValuesParser::new(SCHEMAS.map(|it| it.0)))]
    document: String,
}

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno schema", args, |args: &Args, _| {
        let known = SCHEMAS.iter().find(|it| it.0 == args.document);
        let (_, schema) = known.expect("clap accepts only these names");
        terminal::json(&format!("{:#}\n", schema()));
        Ok(ExitStatus::Success)
    })
}
