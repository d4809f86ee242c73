//! `pgdyno compare`: what changed from one run to another, and can that be said?

use crate::account::stored::{self, Reading};
use crate::account::{self, stand};
use crate::mistakes;
use crate::report::shell;
use crate::runs::DIRECTORY;
use crate::terminal;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice};
use analysis::compare::{self, Condition, Gather, Side, Trial, Wanted, parse};
use clap::{Parser, ValueEnum};
use experiment::{Mistake, Mistakes, Source, Span};
use model::account::Stand;
use model::comparison::{self, Comparison, LeftOut, Met};
use report::lang::{self, Lang};
use report::page::Page;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Run;

/// Compares runs with a base: what differs in what was measured, and what changed, with intervals of 95 %. With one run, its
/// cells are compared with its baseline
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno compare")]
struct Args {
    /// A path, a name or its beginning, or `last`
    base: String,
    /// What is compared with it, likewise
    runs: Vec<String>,
    /// Exit with status 99 when the interval shows it, such as 'p99 > +10%', 'tps < -5%', 'errors > 1%' or
    /// 'p99 of transfer > 200ms'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Exit with status 99 also when a condition cannot be excluded
    #[arg(long)]
    strict: bool,
    /// A setting that was changed on purpose, such as postgres.version, makes nothing unfair; may be repeated
    #[arg(long, value_name = "PATH")]
    expect: Vec<String>,
    /// Compare just these stretches of time, by blocks of seconds: what another trial would bring is then not asked
    #[arg(long)]
    by_time: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    spoken: Spoken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Md,
    Json,
    Html,
}

/// Runs could not be read.
const COULD_NOT: u8 = 1;
/// A mistake of the user.
const MISTAKEN: u8 = 2;
/// As of broken objectives.
const MET: u8 = 99;

/// Runs the command with the arguments behind its name.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno compare");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    run(&args).unwrap_or_else(|trouble| {
        trouble.tell(&Voice { program: "pgdyno compare".to_owned() });
        ExitCode::from(COULD_NOT)
    })
}

fn run(args: &Args) -> Result<ExitCode, Trouble> {
    let lang = args.spoken.lang()?;
    let find = |it: &String| store::find(&args.dir, it).map_err(|it| Trouble::new(it.to_string()));
    let paths: Vec<PathBuf> =
        std::iter::once(&args.base).chain(&args.runs).map(find).collect::<Result<_, _>>()?;
    let asked = Asked { by_time: args.by_time, expected: &args.expect, conditions: &args.fail_if };
    let compared = of(&paths, asked)?;
    let voice = Voice { program: "pgdyno compare".to_owned() };
    for it in &compared.unreadable {
        voice.error(&format!("{}; it is not compared", it.what));
    }
    let comparison = match compared.comparison {
        Ok(it) => it,
        Err(all) => {
            err!("{}", mistakes::text(&all, mistakes::colour()));
            return Ok(ExitCode::from(MISTAKEN));
        }
    };
    let page = |lang: &dyn Lang| report::comparison::page(&comparison, lang);
    print(&told(&page, args.format, lang, &json!({ "comparison": comparison })), args.format);
    let whole = if compared.unreadable.is_empty() { 0 } else { COULD_NOT };
    Ok(ExitCode::from(status(&comparison, args.strict).max(whole)))
}

fn status(it: &Comparison, strict: bool) -> u8 {
    let fails = |it: &comparison::Condition| match it.outcome {
        Met::Yes => true,
        Met::No => false,
        Met::Unknown | Met::Absent => strict,
    };
    if it.runs.iter().flat_map(|it| &it.conditions).any(fails) { MET } else { 0 }
}

/// How runs are compared, as it stands on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    pub by_time: bool,
    pub expected: &'a [String],
    pub conditions: &'a [String],
}

/// A comparison of the runs that can be read.
#[derive(Debug)]
pub struct Compared {
    /// Or all mistakes in the conditions.
    pub comparison: Result<Comparison, Mistakes>,
    /// Why others cannot be read.
    pub unreadable: Vec<Trouble>,
}

/// The runs in these files; the first one is the base, which must be readable, and so must another one if there are any.
pub fn of(paths: &[PathBuf], asked: Asked<'_>) -> Result<Compared, Trouble> {
    let (base, others) = paths.split_first().expect("the base is one of them");
    let mut all = vec![Loaded::of(base)?];
    let mut unreadable = Vec::new();
    for it in others {
        match Loaded::of(it) {
            Ok(it) => all.push(it),
            Err(trouble) => unreadable.push(trouble),
        }
    }
    if all.len() == 1 && !unreadable.is_empty() {
        return Err(unreadable.remove(0));
    }
    let conditions = match conditions(asked.conditions, &all) {
        Ok(it) => it,
        Err(mistakes) => return Ok(Compared { comparison: Err(mistakes), unreadable }),
    };
    let sides: Vec<Side<'_>> = all.iter().map(Loaded::side).collect();
    let (base, runs) = sides.split_first().expect("the base is one of them");
    let Asked { by_time, expected, .. } = asked;
    let wanted = Wanted { by_time, expected, conditions: &conditions, seed: base.experiment.seed };
    Ok(Compared { comparison: Ok(compare::compare(base, runs, &wanted)), unreadable })
}

/// All mistakes, each with its place.
fn conditions(texts: &[String], all: &[Loaded]) -> Result<Vec<Condition>, Mistakes> {
    let cells = all.iter().flat_map(|it| &it.reading.experiment.cells);
    let mut operations: Vec<String> = Vec::new();
    for it in cells.flat_map(|it| &it.setup.operations) {
        if !operations.contains(&it.name) {
            operations.push(it.name.clone());
        }
    }
    let mut wrong = Mistakes { sources: Vec::new(), list: Vec::new() };
    let mut right = Vec::new();
    for text in texts {
        match parse(text, &operations) {
            Ok(it) => right.push(it),
            Err(it) => {
                // What stands there is quoted; where nothing stands, the caret is behind the text.
                let length = if it.found == "nothing" { 0 } else { it.found.len() - 2 };
                let bytes = it.offset..(it.offset + length).min(text.len());
                wrong.list.push(Mistake {
                    at: Span { source: wrong.sources.len(), bytes },
                    found: format!("found {}", it.found),
                    instead: format!("write {}", it.instead),
                });
                wrong.sources.push(Source { name: "--fail-if".into(), text: text.clone() });
            }
        }
    }
    if wrong.list.is_empty() { Ok(right) } else { Err(wrong) }
}

/// A run as far as it is compared.
struct Loaded {
    source: comparison::Source,
    reading: Reading,
    stand: Stand,
    /// By cell.
    trials: Vec<Vec<Trial>>,
    left_out: Vec<LeftOut>,
}

impl Loaded {
    fn of(path: &Path) -> Result<Loaded, Trouble> {
        let trouble = |it: store::Error| Trouble::new(it.to_string());
        let reading = Reading::of(path)?;
        let run = Run::open(path).map_err(trouble)?;
        let mut trials = vec![Vec::new(); reading.experiment.cells.len()];
        let mut left_out = Vec::new();
        // Those that run still are in neither.
        let ended = account::counting(&reading);
        for (stored, facts) in ended.iter().zip(stored::facts(&ended)) {
            let Some(summary) = facts.valid() else {
                left_out.push(LeftOut {
                    of_base: false,
                    cell: reading.experiment.cells[facts.cell].label.clone(),
                    repetition: facts.repetition,
                    reasons: facts.summary.map_or(Vec::new(), |it| it.validity.reasons.clone()),
                    status: facts.status.clone(),
                });
                continue;
            };
            let operations = stored.recorded.trial.operations.iter().map(|it| it.name.clone());
            let mut gather = Gather::new(operations.collect());
            for tick in run.ticks(stored.recorded.id).map_err(trouble)? {
                gather.tick(&tick.map_err(trouble)?);
            }
            trials[facts.cell].push(Trial {
                repetition: facts.repetition,
                begun_ms: stored.recorded.trial.begun_ms,
                groups: gather.finish(summary.window, &summary.outages),
                processors: compare::processors(&facts),
            });
        }
        for it in &mut trials {
            it.sort_by_key(|it| it.repetition);
        }
        Ok(Loaded {
            source: source(path, &reading.header),
            stand: stand(&reading),
            reading,
            trials,
            left_out,
        })
    }

    fn side(&self) -> Side<'_> {
        Side {
            source: self.source.clone(),
            experiment: &self.reading.experiment,
            stand: compare::Stand {
                machine: &self.stand.machine,
                nodes: &self.stand.nodes,
                program: &self.source.program,
            },
            trials: self.trials.clone(),
            left_out: self.left_out.clone(),
        }
    }
}

/// What a run is called by.
pub fn source(path: &Path, header: &store::Header) -> comparison::Source {
    comparison::Source {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        begun_ms: header.begun_ms,
        program: header.program.clone(),
    }
}

/// A page in one of the formats. `data`: what stands beside it as JSON.
pub fn told(
    page: &dyn Fn(&dyn Lang) -> Page,
    format: Format,
    lang: &'static dyn Lang,
    data: &serde_json::Value,
) -> String {
    match format {
        Format::Text => report::comparison::terminal(&page(lang), crate::run::result::style()),
        Format::Md => report::markdown::markdown(&page(lang)),
        Format::Json => serde_json::to_string_pretty(data).expect("strings as keys only") + "\n",
        Format::Html => shell(&page(lang), &document(page, lang), false),
    }
}

/// What draws a page receives: there is nothing over time in it.
pub fn document(page: &dyn Fn(&dyn Lang) -> Page, lang: &dyn Lang) -> String {
    let pages: Vec<Page> = lang::ALL.iter().map(|it| page(*it)).collect();
    json!({ "format": 1, "chosen": lang.code(), "pages": pages, "data": [], "live": null }).to_string()
}

/// To standard output, as its format needs it.
pub fn print(text: &str, format: Format) {
    match format {
        Format::Text => terminal::text(text),
        Format::Json => terminal::json(text),
        Format::Md | Format::Html => terminal::document(text),
    }
}
