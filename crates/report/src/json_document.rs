//! Versioned JSON documents
//!
//! Every JSON document that pgdyno prints begins with the keys `format` and `version`. Its JSON Schema is generated
//! from the type that is printed, so output and schema cannot differ.

mod advice;
mod judge;
mod run;
mod schedule;

pub use advice::AdviceDocument;
pub use judge::{JudgeDocument, JudgedHistory};
pub use run::{OperationRows, OperationSizes, RunDocument, RunFile};
pub use schedule::{ScheduleDocument, ScheduleRates};

use crate::terminal::sanitise_json;
use crate::view::Page;
use model::Summary;
use model::comparison::{Comparison, RunHistory};
use model::finding::Finding;
use model::matrix::Matrix;
use model::objective::ObjectiveResult;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Content of a JSON document.
pub trait JsonDocument: Serialize + JsonSchema {
    /// Name of the document, as an argument of `pgdyno schema`. The value of the key `format` is `pgdyno.` followed by
    /// this name.
    const NAME: &'static str;
    /// Value of the key `version`. It is incremented when a key is removed or renamed, or when its type or meaning
    /// changes, but not when a key is added.
    const VERSION: u32;
}

/// Document with its format and version.
#[derive(Serialize, JsonSchema)]
struct Envelope<'a, T> {
    /// Name of the format.
    format: String,
    /// Version of the format.
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a, T: JsonDocument> Envelope<'a, T> {
    fn new(content: &'a T) -> Envelope<'a, T> {
        Envelope { format: format_name::<T>(), version: T::VERSION, content }
    }
}

/// Returns the value of the key `format`.
fn format_name<T: JsonDocument>() -> String {
    format!("pgdyno.{}", T::NAME)
}

/// Renders the document as indented text, with a newline at its end.
pub fn to_json<T: JsonDocument>(content: &T) -> String {
    serde_json::to_string_pretty(&Envelope::new(content)).expect("all keys are strings") + "\n"
}

/// Renders the document in one line, without a newline.
pub fn to_json_line<T: JsonDocument>(content: &T) -> String {
    serde_json::to_string(&Envelope::new(content)).expect("all keys are strings")
}

/// Writes the document in one line, with a newline at its end. Control characters in texts are escaped.
pub fn write_json<T: JsonDocument>(content: &T, mut to: impl Write) -> io::Result<()> {
    Envelope::new(content).serialize(&mut Serializer::with_formatter(&mut to, SanitisingFormatter))?;
    to.write_all(b"\n")
}

/// Formatter that escapes the control characters that JSON allows in strings.
struct SanitisingFormatter;

impl Formatter for SanitisingFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, to: &mut W, fragment: &str) -> io::Result<()> {
        to.write_all(sanitise_json(fragment).as_bytes())
    }
}

/// Returns the JSON Schema of the document (draft 2020-12).
pub fn schema<T: JsonDocument>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema: Value = generator.into_root_schema_for::<Envelope<'_, T>>().into();
    schema["title"] = json!(format_name::<T>());
    for (key, value) in [("format", json!(format_name::<T>())), ("version", json!(T::VERSION))] {
        schema["properties"][key]["const"] = value;
    }
    translate_descriptions(&mut schema);
    schema
}

/// Replaces Rust's `None` and Rust's links in the descriptions, because the descriptions are doc comments.
fn translate_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if key == "description" => {
                        *text = text.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`");
                    }
                    other => translate_descriptions(other),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(translate_descriptions),
        _ => {}
    }
}

/// Result of a benchmark: `pgdyno bench`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchDocument<'a> {
    #[serde(flatten)]
    pub summary: &'a Summary,
    /// Results of the objectives, in the order of the options.
    pub objectives: &'a [ObjectiveResult],
    /// Path of the stored run; `None` without `--save`.
    pub run: Option<String>,
}

impl JsonDocument for BenchDocument<'_> {
    const NAME: &'static str = "bench";
    const VERSION: u32 = 2;
}

/// Comparison of runs: `pgdyno compare`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparisonDocument<'a> {
    pub comparison: &'a Comparison,
}

impl JsonDocument for ComparisonDocument<'_> {
    const NAME: &'static str = "comparison";
    const VERSION: u32 = 2;
}

/// Runs of one experiment in order of time: `pgdyno history`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryDocument<'a> {
    pub history: &'a RunHistory,
}

impl JsonDocument for HistoryDocument<'_> {
    const NAME: &'static str = "history";
    const VERSION: u32 = 2;
}

/// Report of a run in one language, with its data: `pgdyno report`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportDocument<'a> {
    pub page: &'a Page,
    pub matrix: &'a Matrix,
    pub findings: &'a [Finding],
}

impl JsonDocument for ReportDocument<'_> {
    const NAME: &'static str = "report";
    const VERSION: u32 = 2;
}
