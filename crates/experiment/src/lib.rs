//! Reads experiment files and reports their errors.
//!
//! The text is parsed into a tree with positions. The tree is checked against the schema generated from the file's
//! types, and then converted into [`model::plan`]. All errors are reported at once. This crate reads no files and
//! starts nothing. The caller passes in the text, functions that read scripts and the beginnings of feeds, and the
//! grammars of other crates.

mod control;
mod datum;
mod diagnostic;
pub mod file;
mod json;
mod matrix;
mod name;
mod path;
mod renamed;
mod rich_text;
mod schema_index;
mod setup;
mod suggestion;
mod template;
mod tree;
mod unit;

pub use diagnostic::{Diagnostic, Diagnostics, Source, Span, any_of, nearest};
pub use model::GrammarDiagnostic;

use diagnostic::quote;
use model::Nanos;
use model::message;
use model::message::Message;
use model::plan::{
    Baseline, Cell, DumpFile, Experiment, FeedFormat, FeedSource, MissingRequests, OperationKind,
    RecordedMix, RecordedTimes, RecordingFile, Setup,
};
use model::summary::QueryMode;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

/// Result of parsing a text with a grammar.
pub type GrammarResult<T = ()> = Result<T, Vec<GrammarDiagnostic>>;

/// Duration and maximum rate of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleExtent {
    pub duration: Nanos,
    /// Maximum rate, per second.
    pub max_rate: f64,
}

/// Target of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTarget {
    /// `host:port`, or the path of a socket; for a database `host:port/database`, with several hosts separated by
    /// commas.
    pub address: String,
    pub transport: model::plan::Transport,
    /// True if the target is on this machine.
    pub is_local: bool,
    /// Path and query, `/` if there are none; empty for a database.
    pub target: String,
}

/// Column names, or the reason why there are none.
pub type Columns = Result<Vec<String>, Message>;

/// Reads the column names from the first lines of a file. The caller passes a list of columns if the file does not name
/// its columns.
pub type ColumnReader = dyn Fn(&Path, FeedFormat, Option<&[String]>) -> Columns;

/// Requests of a feed, as an experiment needs them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedRequests {
    /// Number of requests per second of the Unix time, in order, for the requests with a time.
    pub seconds: Vec<(u64, u64)>,
    /// Times of the first and the last request since the Unix epoch.
    pub first: Nanos,
    pub last: Nanos,
    pub missing: MissingRequests,
    /// All requests.
    pub total: RequestGroup,
    /// Most frequent tags, then the rest without a tag, if there is one.
    pub tags: Vec<RequestGroup>,
}

/// Requests with the same tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestGroup {
    /// `None` for requests with rare tags.
    pub tag: Option<String>,
    pub requests: u64,
    /// Recorded times; the operation is 0.
    pub times: Option<RecordedTimes>,
}

/// Checks a script. The list has the variables that are defined when the script begins; `None` if they are unknown.
pub type ScriptChecker<'a> = dyn Fn(&str, QueryMode, Option<&[String]>) -> GrammarResult + 'a;

/// Setting that PostgreSQL rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Index of the setting.
    pub setting: usize,
    /// True if the name is unknown, false if the value is wrong.
    pub is_unknown: bool,
    pub message: Message,
}

/// Checks the names and values of PostgreSQL settings. The first argument is the major version; `None` if the file
/// states none.
pub type SettingsChecker<'a> = dyn Fn(Option<u32>, &[(String, String)]) -> Vec<SettingError> + 'a;

/// Grammars of texts within the file; each function returns the errors in a text.
#[derive(Clone, Copy)]
pub struct Grammars<'a> {
    /// Schedule.
    pub schedule: &'a dyn Fn(&str) -> GrammarResult<ScheduleExtent>,
    /// Script in pgbench's language.
    pub script: &'a ScriptChecker<'a>,
    /// URL.
    pub url: &'a dyn Fn(&str) -> GrammarResult<UrlTarget>,
    /// Target of a database's address, as far as it can be parsed; errors in it are reported when the database is
    /// attached.
    pub dsn: &'a dyn Fn(&str) -> Option<UrlTarget>,
    /// Format of an access log.
    pub log_format: &'a dyn Fn(&str) -> GrammarResult,
    /// Regular expression.
    pub regex: &'a dyn Fn(&str) -> GrammarResult,
    /// Name of an environment variable, which must be set.
    pub secret: &'a dyn Fn(&str) -> GrammarResult,
    /// Settings of PostgreSQL.
    pub settings: &'a SettingsChecker<'a>,
    /// Stop rule; it may refer to parts of the setup.
    pub rule: &'a dyn Fn(&str, &Setup) -> GrammarResult,
    /// Objective; it may refer to parts of the setup.
    pub objective: &'a dyn Fn(&str, &Setup) -> GrammarResult,
}

impl fmt::Debug for Grammars<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Grammars")
    }
}

/// Recorded traffic, as an experiment needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub file: RecordingFile,
    /// Operations with their names and their numbers of requests or transactions.
    pub operations: Vec<(String, OperationKind, u64)>,
    /// Transactions; `None` if the operations are statements.
    pub mix: Option<RecordedMix>,
}

/// Unit in which a load sends a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedUnit {
    /// Each statement is an operation.
    Request,
    /// Each kind of transactions is an operation.
    Transaction,
}

/// Experiment file to read, with the functions needed for it.
#[derive(Clone, Copy)]
pub struct ReadRequest<'a> {
    /// Path of the file, for messages and as the base of relative script paths. The file's stem is the default name.
    pub path: &'a Path,
    /// Text of the file.
    pub text: &'a str,
    /// Assignments `path=value`, where the value is YAML. The last assignment of a path wins.
    pub sets: &'a [String],
    /// True if the section `quick` applies. Errors in this section are always reported.
    pub quick: bool,
    pub grammars: Grammars<'a>,
    /// Reads a script.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Reads the column names of a feed's file.
    pub columns: &'a ColumnReader,
    /// Reads the beginning of an access log; fails if most lines do not fit the format.
    pub log_sample: &'a dyn Fn(&Path, &str) -> Result<(), Message>,
    /// Reads all requests of a feed.
    pub requests: &'a dyn Fn(&FeedSource) -> Result<FeedRequests, Message>,
    /// Reads the operations and times of a recording.
    pub recording: &'a dyn Fn(&Path, RecordedUnit) -> Result<Recording, Message>,
    /// Reads size and hash of a dump.
    pub dump: &'a dyn Fn(&Path) -> io::Result<DumpFile>,
}

impl fmt::Debug for ReadRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadRequest for {}", self.path.display())
    }
}

/// Contents of an experiment file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub experiment: Experiment,
    /// Load duration of one trial of each cell, warm-up included.
    pub durations: Vec<Nanos>,
    /// Warnings about settings that are valid but most likely not intended, without duplicates.
    pub warnings: Vec<Message>,
}

/// Path of a setting whose last key is `key`, for `--set`; `None` if there is none. Settings of the load are preferred.
pub fn path_of_key(key: &str) -> Option<String> {
    let key = key.replace('-', "_");
    let known = path::known(&SHAPE);
    let same = || known.iter().filter(|it| it.rsplit('.').next() == Some(&key));
    let is_load = |path: &&String| path.starts_with("load.");
    same().find(is_load).or_else(|| same().min_by_key(|it| it.matches('.').count())).cloned()
}

/// JSON Schema of the file, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(file::File).into()
}

/// Index of the schema. The index is built once, because building it takes longer than reading an experiment file.
static SHAPE: LazyLock<schema_index::SchemaIndex> =
    LazyLock::new(|| schema_index::SchemaIndex::new(schema()));

/// Reads an experiment file, or returns all its errors.
pub fn read(request: &ReadRequest<'_>) -> Result<Plan, Diagnostics> {
    let name = request.path.display().to_string();
    let mut sources = vec![Source { name, text: request.text.to_owned() }];
    let mut diagnostics = Vec::new();
    let tree = tree::parse(request.text, 0, &mut diagnostics);
    let sets = assignments(request.sets, &mut sources, &mut diagnostics);
    let Some(tree) = tree else { return Err(Diagnostics::new(sources, diagnostics)) };
    let shape = &*SHAPE;
    let form = |tree: &tree::Node, complete, diagnostics: &mut Vec<Diagnostic>| {
        let at = Span { source: 0, bytes: 0..0 };
        schema_index::SchemaReader { shape, diagnostics, complete }.read(shape.root(), tree, "", &at)
    };
    form(&tree, false, &mut diagnostics);
    let quick = tree.get("quick").map(|it| it.1.entries().to_vec()).unwrap_or_default();
    if request.quick && quick.is_empty() {
        let text = "--quick".to_owned();
        let at = Span { source: sources.len(), bytes: 0..text.len() };
        sources.push(Source { name: "command line".to_owned(), text });
        diagnostics.push(Diagnostic::new(&at, message!("experiment-no-quick")));
    }
    // The file is read with and without `quick`, so that errors in `quick` are always reported.
    let ways = if quick.is_empty() { vec![request.quick] } else { vec![!request.quick, request.quick] };
    let mut plan = None;
    for is_quick in ways {
        let changes: Vec<_> = quick.iter().filter(|_| is_quick).chain(&sets).cloned().collect();
        let cells = matrix::expand(shape, &tree, &changes, &mut diagnostics);
        let mut read = Vec::new();
        for (label, tree) in &cells.list {
            let before = diagnostics.len();
            // Too many errors: skip the rest.
            if before > diagnostic::MAX_COLLECTED {
                break;
            }
            let datum = form(tree, true, &mut diagnostics);
            if diagnostics.len() == before {
                let file: file::File = serde::Deserialize::deserialize(datum).expect(
                    "what has the form of the schema can be read into the types that it was made from",
                );
                let setup = setup::SetupBuilder {
                    tree,
                    has_matrix: cells.list.len() > 1,
                    request,
                    sources: &mut sources,
                    diagnostics: &mut diagnostics,
                    defaults: setup::RequestDefaults::default(),
                    warnings: Vec::new(),
                };
                read.push((label.clone(), setup.make(file)));
            }
        }
        plan = Some((cells.baseline, read));
    }
    match plan {
        Some((baseline, read)) if diagnostics.is_empty() => Ok(build_plan(baseline, read)),
        _ => Err(Diagnostics::new(sources, diagnostics)),
    }
}

/// Builds the plan. Name, seed and repeat come from the first cell, because no axis may set them.
fn build_plan(baseline: Option<Baseline>, read: Vec<(matrix::Label, setup::CellSetup)>) -> Plan {
    let first = &read.first().expect("a matrix without errors has a cell").1;
    let (name, seed, repeat) = (first.name.clone(), first.seed, first.repeat);
    let (find, generators, document) = (first.find.clone(), first.generators.clone(), first.document.clone());
    let durations: Vec<Nanos> = read.iter().map(|(_, made)| made.duration).collect();
    let mut warnings: Vec<Message> = Vec::new();
    for warning in read.iter().flat_map(|(_, made)| &made.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let controls = control::cells(&read);
    let durations = [durations, controls.iter().map(|it| it.duration).collect()].concat();
    let ordinary = read.into_iter().map(|(label, made)| Cell { label, control_of: None, setup: made.setup });
    let cells = ordinary.chain(controls.into_iter().map(|it| it.cell)).collect();
    Plan {
        experiment: Experiment { name, seed, repeat, cells, baseline, goal: find, generators, document },
        durations,
        warnings,
    }
}

/// Parses `path=value` arguments of the command line.
fn assignments(
    sets: &[String],
    sources: &mut Vec<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<matrix::Assignment> {
    let mut all = Vec::new();
    for set in sets {
        let source = sources.len();
        sources.push(Source { name: "--set".to_owned(), text: set.clone() });
        let span = |bytes| Span { source, bytes };
        let Some((path, value)) = set.split_once('=') else {
            let message = message!("experiment-set-syntax", text = quote(set));
            diagnostics.push(Diagnostic::new(&span(0..set.len()), message));
            continue;
        };
        // The padding makes positions refer to the whole argument.
        let blanks = " ".repeat(path.len() + 1);
        if let Some(mut node) = tree::parse(&format!("{blanks}{value}"), source, diagnostics) {
            if value.trim().is_empty() {
                node = tree::Node {
                    span: span(set.len()..set.len()),
                    value: tree::Value::Scalar(String::new(), tree::Style::Plain),
                };
            }
            let key = tree::Key { text: path.trim().to_owned(), span: span(0..path.len()) };
            all.push((key, node));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammars() -> Grammars<'static> {
        Grammars {
            schedule: &|_| Ok(ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 }),
            script: &|_, _, _| Ok(()),
            url: &|_| Err(Vec::new()),
            dsn: &|_| None,
            log_format: &|_| Ok(()),
            regex: &|_| Ok(()),
            secret: &|_| Ok(()),
            settings: &|_, _| Vec::new(),
            rule: &|_, _| Ok(()),
            objective: &|_, _| Ok(()),
        }
    }

    fn request(text: &str) -> ReadRequest<'_> {
        ReadRequest {
            path: Path::new("book.yaml"),
            text,
            sets: &[],
            quick: false,
            grammars: grammars(),
            read: &|_| Ok(String::new()),
            columns: &|_, _, _| Ok(Vec::new()),
            log_sample: &|_, _| Ok(()),
            requests: &|_| Ok(FeedRequests::default()),
            recording: &|_, _| Err(message!("traffic-no-recording")),
            dump: &|_| Err(io::ErrorKind::NotFound.into()),
        }
    }

    #[test]
    fn compares_each_cell_with_its_baseline() {
        let check = |keys: &str, expected: Option<Baseline>| {
            let text = format!(
                "stack: {{ postgres: {{}} }}\noperations: {{ a: {{ sql: SELECT 1 }} }}\n\
                 load: {{ model: closed, duration: 1s }}\n\
                 matrix: {{ load.clients: [1, 2], postgres.max_connections: [50, 60, 70] }}\n{keys}\n"
            );
            let plan = read(&request(&text)).unwrap_or_else(|it| panic!("{keys}: {it:?}"));
            assert_eq!(plan.experiment.baseline, expected, "{keys}");
        };
        let per_cell = |all: &[Option<usize>]| Some(Baseline::PerCell(all.to_vec()));
        check("", None);
        let first = [None, Some(0), Some(0), None, Some(3), Some(3)];
        check("baseline: { postgres.max_connections: 50 }", per_cell(&first));
        check("baseline: { load.clients: 1 }", per_cell(&[None, None, None, Some(0), Some(1), Some(2)]));
        let both = "baseline: { load.clients: 2, postgres.max_connections: 60 }";
        check(both, Some(Baseline::Single(4)));
        let skip = "skip: [ { load.clients: 1, postgres.max_connections: 50 } ]\n";
        check(&format!("{skip}baseline: {{ postgres.max_connections: 60 }}"), {
            per_cell(&[None, Some(0), Some(3), None, Some(3)])
        });
        check(&format!("{skip}baseline: {{ load.clients: 2, postgres.max_connections: 50 }}"), {
            Some(Baseline::Single(2))
        });
        check(&format!("{skip}baseline: {{ postgres.max_connections: 50 }}"), Some(Baseline::Single(2)));
    }

    #[test]
    fn reports_a_diagnostic_of_many_cells_once() {
        let numbers: Vec<String> = (1..=900).map(|it| it.to_string()).collect();
        let text = format!(
            "stack: {{ postgres: {{ max_connections: no }} }}\noperations: {{ a: {{ sql: SELECT 1 }} }}\n\
             load: {{ model: closed, duration: 1s }}\nmatrix: {{ load.clients: [{}] }}\n",
            numbers.join(", ")
        );
        let diagnostics = read(&request(&text)).expect_err("`no` is not an integer");
        let [diagnostic] = diagnostics.list.as_slice() else { panic!("{diagnostics:?}") };
        assert_eq!(diagnostics.line_and_column(&diagnostic.span), (1, 39));
        let right = text.replace(": no", ": 5");
        let plan = read(&request(&right)).expect("the file is valid");
        assert_eq!((plan.experiment.cells.len(), plan.durations[899]), (900, Nanos::from_secs(1)));
    }
}
