//! `pgdyno compare`: reports what changed between runs, with 95 % confidence intervals

use crate::cell_selector;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::connect_commands::shell_quote;
use crate::diagnostics;
use crate::exit_status::ExitStatus;
use crate::report::html_shell;
use crate::run_name;
use crate::run_name::DIRECTORY;
use crate::run_report;
use crate::run_result::stored::{self, StoredRun};
use crate::run_result::{self, environment};
use crate::terminal;
use analysis::present::compare::{
    self, CompareOptions, ComparedRun, FailCondition, TrialCollector, TrialFigures, parse,
};
use clap::{Parser, ValueEnum};
use experiment::{Diagnostic, Diagnostics, Source, Span};
use model::comparison::{self, Comparison, ConditionOutcome, ExcludedTrial};
use model::message;
use model::plan::{Cell, Experiment};
use model::run_result::Environment;
use report::closing::NextCommand;
use report::document::PageDocument;
use report::json_document::{ComparisonDocument, JsonDocument, to_json, to_json_line};
use report::lang::{self, Lang};
use report::page::Page;
use report::say;
use std::path::{Path, PathBuf};
use store::Run;

/// Compare runs with BASE: differences in setup, and changes in results with 95 % confidence intervals. With BASE
/// alone, compare its cells with its baseline, or with the first --cell
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno compare")]
pub struct Args {
    #[arg(help = run_name::HELP)]
    base: String,
    /// Runs to compare with BASE, each given like BASE
    runs: Vec<String>,
    /// Without RUN: compare these cells of BASE, such as "way=unix,load.clients=8" or "unix/8". The first one is the base; given
    /// once, all other cells are compared with it; repeatable
    #[arg(long = "cell", value_name = "AXIS=VALUE,…", conflicts_with = "runs")]
    cells: Vec<String>,
    /// Exit with status 99 if the confidence interval confirms CONDITION: 'p99 > +10%', 'tps < -5%', 'errors > 1%',
    /// 'p99 of transfer > 200ms'; repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Also exit with status 99 if a condition cannot be ruled out
    #[arg(long)]
    strict: bool,
    /// Setting that was changed on purpose, such as postgres.version; repeatable
    #[arg(long, value_name = "PATH")]
    expect: Vec<String>,
    /// Compare only these periods, by blocks of seconds, without conclusions about other trials
    #[arg(long)]
    by_time: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    Md,
    Json,
    Html,
}

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno compare", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let find = |run: &String| run_name::find(&args.dir, run, terminal, lang);
    let paths: Vec<PathBuf> =
        std::iter::once(&args.base).chain(&args.runs).map(find).collect::<Result<_, _>>()?;
    let request = CompareRequest {
        cells: &args.cells,
        by_time: args.by_time,
        expected: &args.expect,
        conditions: &args.fail_if,
    };
    let compared = compare_files(&paths, request)?;
    for error in &compared.unreadable {
        terminal.error(&say!(lang, "runs-not-compared", error = &error.message));
    }
    let comparison = match compared.comparison {
        Ok(it) => it,
        Err(all) => {
            err!("{}", diagnostics::render(&all, diagnostics::use_colour(), lang));
            return Ok(ExitStatus::Incomplete);
        }
    };
    let page = |lang: &Lang| report::comparison::page(&comparison, lang.for_experiment(&compared.experiment));
    let next = next_commands(args, lang);
    let document = ComparisonDocument { comparison: &comparison };
    print(&render(&page, args.format, next, lang, &document), args.format);
    let unread = compared.unreadable.iter().map(|_| ExitStatus::Incomplete);
    Ok(ExitStatus::first_of(unread.chain(condition_statuses(&comparison, args.strict))))
}

/// Commands that may follow the comparison.
fn next_commands(args: &Args, lang: &Lang) -> Vec<NextCommand> {
    let directory = match args.dir == Path::new(DIRECTORY) {
        true => String::new(),
        false => format!(" --dir {}", shell_quote(&args.dir.to_string_lossy())),
    };
    let newest = shell_quote(args.runs.last().unwrap_or(&args.base));
    vec![NextCommand {
        command: format!("pgdyno report {newest}{directory}"),
        purpose: say!(lang, "closing-report"),
    }]
}

/// Exit statuses for the conditions. A condition without a result counts only if `strict` is set, because more trials
/// could decide it. More trials cannot decide a condition on a figure that no trial has.
fn condition_statuses(comparison: &Comparison, strict: bool) -> impl Iterator<Item = ExitStatus> {
    comparison.runs.iter().flat_map(|it| &it.conditions).map(move |result| match result.outcome {
        ConditionOutcome::Holds => ExitStatus::Violated,
        ConditionOutcome::Unknown | ConditionOutcome::Absent if strict => ExitStatus::Violated,
        ConditionOutcome::Absent => ExitStatus::NoAnswer,
        ConditionOutcome::DoesNotHold | ConditionOutcome::Unknown => ExitStatus::Success,
    })
}

/// Options of a comparison, as given on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompareRequest<'a> {
    /// Cells of the base to compare, the first one with the others; empty for each cell with its baseline.
    pub cells: &'a [String],
    pub by_time: bool,
    pub expected: &'a [String],
    pub conditions: &'a [String],
}

/// Comparison of the readable runs.
#[derive(Debug)]
pub struct CompareResult {
    /// Experiment of the base.
    pub experiment: Experiment,
    /// The comparison, or all diagnostics of the conditions.
    pub comparison: Result<Comparison, Diagnostics>,
    /// Reasons why the other runs could not be read.
    pub unreadable: Vec<CommandError>,
}

/// Compares the runs in these files. The first run is the base. Fails if the base is unreadable, or if all further runs
/// are unreadable.
pub fn compare_files(paths: &[PathBuf], request: CompareRequest<'_>) -> Result<CompareResult, CommandError> {
    let (base, other_paths) = paths.split_first().expect("the base is one of them");
    let mut all = vec![LoadedRun::read(base, request.by_time)?];
    let mut unreadable = Vec::new();
    for path in other_paths {
        match LoadedRun::read(path, request.by_time) {
            Ok(it) => all.push(it),
            Err(error) => unreadable.push(error),
        }
    }
    if all.len() == 1 && !unreadable.is_empty() {
        return Err(unreadable.remove(0));
    }
    let conditions = match conditions(request.conditions, &all) {
        Ok(it) => it,
        Err(diagnostics) => {
            let experiment = all.swap_remove(0).reading.experiment;
            return Ok(CompareResult { experiment, comparison: Err(diagnostics), unreadable });
        }
    };
    let sides: Vec<ComparedRun<'_>> = all.iter().map(LoadedRun::to_side).collect();
    let (base, runs) = sides.split_first().expect("the base is one of them");
    let pairs = cell_pairs(request.cells, &base.experiment.cells)?;
    let CompareRequest { by_time, expected, .. } = request;
    let options = CompareOptions {
        cells: &pairs,
        by_time,
        expected,
        conditions: &conditions,
        seed: base.experiment.seed,
    };
    let comparison = Ok(compare::compare(base, runs, &options));
    Ok(CompareResult { experiment: base.experiment.clone(), comparison, unreadable })
}

/// Index pairs of the requested cells: the first one with each of the others, or with all other cells.
fn cell_pairs(texts: &[String], cells: &[Cell]) -> Result<Vec<(usize, usize)>, CommandError> {
    let chosen: Vec<usize> =
        texts.iter().map(|it| cell_selector::find_one(cells, it)).collect::<Result<_, _>>()?;
    let Some((base, others)) = chosen.split_first() else { return Ok(Vec::new()) };
    let mut compared: Vec<usize> = Vec::new();
    for (other, text) in others.iter().zip(&texts[1..]) {
        if other == base || compared.contains(other) {
            return Err(CommandError::usage(message!("compare-cell-twice", cell = text.clone())));
        }
        compared.push(*other);
    }
    if others.is_empty() {
        compared = (0..cells.len()).filter(|it| it != base).collect();
    }
    if compared.is_empty() {
        return Err(CommandError::usage(message!("compare-one-cell")));
    }
    Ok(compared.into_iter().map(|it| (*base, it)).collect())
}

/// Parsed conditions, or all diagnostics with their positions.
fn conditions(texts: &[String], all: &[LoadedRun]) -> Result<Vec<FailCondition>, Diagnostics> {
    let cells = all.iter().flat_map(|it| &it.reading.experiment.cells);
    let mut operations: Vec<String> = Vec::new();
    for operation in cells.flat_map(|it| &it.setup.operations) {
        if !operations.contains(&operation.name) {
            operations.push(operation.name.clone());
        }
    }
    let mut wrong = Diagnostics { sources: Vec::new(), list: Vec::new() };
    let mut right = Vec::new();
    for text in texts {
        match parse(text, &operations) {
            Ok(it) => right.push(it),
            Err(error) => {
                let span = Span { source: wrong.sources.len(), bytes: error.span };
                wrong.list.push(Diagnostic { span, message: error.message });
                wrong.sources.push(Source { name: "--fail-if".into(), text: text.clone() });
            }
        }
    }
    if wrong.list.is_empty() { Ok(right) } else { Err(wrong) }
}

/// The part of a run that a comparison uses.
struct LoadedRun {
    source: comparison::RunRef,
    reading: StoredRun,
    environment: Environment,
    /// Figures of the trials, indexed by cell.
    trials: Vec<Vec<TrialFigures>>,
    left_out: Vec<ExcludedTrial>,
}

impl LoadedRun {
    /// Reads a run. `by_time` also reads the seconds of its trials.
    fn read(path: &Path, by_time: bool) -> Result<LoadedRun, CommandError> {
        let reading = StoredRun::from_file(path)?;
        let run = Run::open(path)?;
        let mut trials = vec![Vec::new(); reading.experiment.cells.len()];
        let mut left_out = Vec::new();
        // Omit running trials. They are neither compared nor listed as excluded.
        let ended = run_result::counted_trials(&reading);
        for (stored, facts) in ended.iter().zip(stored::facts(&ended)) {
            let Some(mut figures) = TrialFigures::from_facts(&facts) else {
                left_out.push(ExcludedTrial {
                    from_base: false,
                    cell: reading.experiment.cells[facts.cell].label.clone(),
                    repetition: facts.repetition,
                    reasons: facts.summary.map_or(Vec::new(), |it| it.validity.reasons.clone()),
                    status: facts.status.clone(),
                });
                continue;
            };
            if by_time {
                let mut collector = TrialCollector::new(stored.recorded.trial.operations.len());
                for tick in run.ticks(stored.recorded.id)? {
                    collector.push(&tick?);
                }
                collector.finish(&mut figures);
            }
            trials[facts.cell].push(figures);
        }
        for cell_trials in &mut trials {
            cell_trials.sort_by_key(|it| it.repetition);
        }
        Ok(LoadedRun {
            source: source(path, &reading.header),
            environment: environment(&reading),
            reading,
            trials,
            left_out,
        })
    }

    fn to_side(&self) -> ComparedRun<'_> {
        ComparedRun {
            source: self.source.clone(),
            experiment: &self.reading.experiment,
            environment: compare::RunEnvironment {
                machine: &self.environment.machine,
                nodes: &self.environment.nodes,
                copied_data: &self.environment.copied_data,
                program: &self.source.pgdyno_version,
            },
            trials: self.trials.clone(),
            left_out: self.left_out.clone(),
        }
    }
}

/// Reference to a run in a comparison: its name, start time and pgdyno version.
pub fn source(path: &Path, header: &store::RunHeader) -> comparison::RunRef {
    comparison::RunRef {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        started_ms: header.begun_ms,
        pgdyno_version: header.pgdyno_version.clone(),
    }
}

/// Renders a page in one of the formats. Text ends with the `next` commands. JSON contains `data` instead of the page.
pub fn render<T: JsonDocument>(
    page: &dyn Fn(&Lang) -> Page,
    format: OutputFormat,
    next: Vec<NextCommand>,
    lang: &'static Lang,
    data: &T,
) -> String {
    match format {
        OutputFormat::Text => report::comparison::terminal(&page(lang), next, run_report::style(), lang),
        OutputFormat::Md => report::markdown::to_markdown(&page(lang)),
        OutputFormat::Json => to_json(data),
        OutputFormat::Html => html_shell(&page(lang), &page_document(page, lang), false),
    }
}

/// JSON document from which the page's script draws the page. It contains no time series.
pub fn page_document(page: &dyn Fn(&Lang) -> Page, lang: &Lang) -> String {
    let pages: Vec<Page> = lang::all().iter().map(page).collect();
    to_json_line(&PageDocument { lang: lang.code(), pages: &pages, data: Vec::new(), live: None })
}

/// Prints text to standard output, escaped as its format requires.
pub fn print(text: &str, format: OutputFormat) {
    match format {
        OutputFormat::Text => terminal::text(text),
        OutputFormat::Json => terminal::json(text),
        OutputFormat::Md | OutputFormat::Html => terminal::document(text),
    }
}
