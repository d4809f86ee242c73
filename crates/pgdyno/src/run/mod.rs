//! `pgdyno run`: an experiment file, from the first check to the last figure.

mod feeds;
pub mod lab;
pub mod news;
pub mod plans;
pub mod replay;
pub mod result;
mod screen;
mod show;
pub mod trial;
pub mod watch;
pub mod workload;

use crate::check;
use crate::prometheus::{Asked as Scraped, Endpoint};
use crate::serve::Server;
use crate::stand::ways::quoted;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice, plain};
use analysis::strategy::Sweep;
use clap::Parser;
use lab::{Hindrance, Lab};
use model::objective::Verdict;
use model::plan::{Dataset, Experiment, Feed, Setup};
use show::Show;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stack::restore::Bloat;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use store::{End, Header, Note, Outcome, Status, Trial, TrialId, Writer};
use trial::{Asked, Done};

/// Measures the system that an experiment file describes
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno run")]
struct Args {
    /// The experiment file
    file: PathBuf,
    /// Set a value of the file, such as pooler.size=24; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Take the file's shorter way: what its section `quick` says
    #[arg(long)]
    quick: bool,
    /// Where the run's file goes
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Show the run in a browser while it goes on
    #[arg(long)]
    live: bool,
    /// Where --live listens; the next free port unless one is given
    #[arg(long, value_name = "PORT", requires = "live")]
    port: Option<u16>,
    /// Exit with status 3 when a trial is invalid
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    spoken: Spoken,
    #[command(flatten)]
    scraped: Scraped,
}

/// The run could not start, or nothing was measured.
const COULD_NOT: u8 = 1;
/// A trial failed, or the run was interrupted.
const ERRORS: u8 = 2;
/// A trial is invalid, under `--strict`.
const INVALID: u8 = 3;
/// An objective is broken: k6's status.
const BROKEN: u8 = 99;

/// Runs the command with the arguments behind its name.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno run");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(it) => it,
        Err(error) => {
            // Help goes to standard output, whose reader may have gone; there is nobody left to tell.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let voice = Voice { program: "pgdyno run".to_owned() };
    run(&args).unwrap_or_else(|trouble| {
        trouble.tell(&voice);
        ExitCode::from(COULD_NOT)
    })
}

fn run(args: &Args) -> Result<ExitCode, Trouble> {
    let plan = match check::read(&args.file, &args.set, args.quick) {
        Ok(it) => it,
        Err(refused) => return Ok(refused.tell("pgdyno run")),
    };
    let lang = args.spoken.lang()?;
    let interrupted = on_interrupt()?;
    let live = args.live.then(|| Server::live(&args.out, args.port)).transpose()?;
    let endpoint = args.scraped.endpoint(&plan.experiment)?;
    let show = Show::new(&plan, lang);
    show.begins();
    if let Some(it) = &endpoint {
        show.scraped(it.url());
    }
    check::remarks(&plan).iter().for_each(|it| show.remark(it));
    let writer = create(args, &plan.experiment)?;
    if let Some(live) = &live {
        eprintln!("{} shows it", live.page(writer.path()));
    }
    on_request(writer.path(), Arc::clone(&interrupted))?;
    let lab = Lab::start(Arc::clone(&interrupted))?;
    let mut bench = Bench {
        lab,
        writer,
        interrupted,
        show,
        endpoint,
        planned: plans::Known::default(),
        told_of: Vec::new(),
    };
    let statuses = bench.all(&plan.experiment);
    let Bench { lab, writer, interrupted, show, .. } = bench;
    drop(lab);
    let trouble = writer.trouble().map(trouble);
    let status = match (&trouble, interrupted.load(Ordering::Relaxed)) {
        (Some(_), _) => Status::Failed,
        (None, true) => Status::Interrupted,
        (None, false) => Status::Complete,
    };
    let outcome = Outcome { status, reason: trouble.clone(), ended_ms: now_ms() };
    let path = writer.finish(outcome).map_err(|it| Trouble::new(it.to_string()))?;
    show.ends(&path, trouble.as_deref());
    // All of it is read before the result.
    drop(show);
    result::Judgement::of(&path)?.print(args.json, lang);
    if let Some(live) = live {
        live.finish();
    }
    Ok(ExitCode::from(verdict(args.strict, status, &statuses)))
}

/// What a whole run works with.
struct Bench {
    lab: Lab,
    writer: Writer,
    interrupted: Arc<AtomicBool>,
    show: Show,
    endpoint: Option<Endpoint>,
    planned: plans::Known,
    /// Feeds whose reach was told, with their data and the server's memory.
    told_of: Vec<(Vec<Feed>, Option<Dataset>, Option<u64>)>,
}

/// What matters of a trial for the program's end.
#[derive(Clone, Debug)]
struct Ended {
    status: Status,
    reason: Option<String>,
    /// Whether there is anything to show of it.
    measured: bool,
    valid: bool,
    broken: bool,
}

impl Bench {
    /// Every trial, in the order of the seed, until the user or the disk ends it.
    fn all(&mut self, experiment: &Experiment) -> Vec<Ended> {
        let mut ended: Vec<Ended> = Vec::new();
        // A component that could not be had once cannot be had again.
        let mut missing: Vec<Option<String>> = vec![None; experiment.cells.len()];
        let sweep = Sweep::new(experiment.cells.len(), experiment.repeat, experiment.seed);
        while let Some(next) = sweep.next(ended.len()) {
            let cell = &experiment.cells[next.cell];
            let position = ended.len();
            self.show.trial(position, next.cell);
            if let Some(it) = &mut self.endpoint {
                let operations = cell.setup.operations.iter().map(|it| it.name.clone()).collect();
                let cell = self.show.cell(next.cell).to_owned();
                it.trial(cell, next.repetition, operations);
            }
            let seed = experiment.seed.wrapping_add(next.repetition.into());
            let ready = match &missing[next.cell] {
                Some(why) => Err(Hindrance::Unavailable(why.clone())),
                None => self.lab.set_up(&cell.setup, &mut |it| self.show.news(&it)),
            };
            if let Err(Hindrance::Unavailable(why)) = &ready {
                missing[next.cell] = Some(why.clone());
            }
            if ready.is_ok() {
                self.tell_of_feeds(&cell.setup);
            }
            let trial = Trial {
                cell: next.cell as u32,
                label: cell.label.clone(),
                repetition: next.repetition,
                position: position as u32,
                begun_ms: now_ms(),
                operations: workload::operations(&cell.setup),
                nodes: if ready.is_ok() { trial::nodes(&self.lab) } else { Vec::new() },
            };
            let id = self.writer.begin_trial(trial);
            let end = match ready {
                Ok(()) => self.measure(&cell.setup, seed, id),
                Err(why) => hindered(why),
            };
            self.show.ended(&end.0);
            if let Some(it) = &self.endpoint {
                it.ended(end.0.status.name());
            }
            self.writer.end_trial(id, end.1);
            ended.push(end.0);
            if self.interrupted.load(Ordering::Relaxed) || self.writer.trouble().is_some() {
                break;
            }
        }
        ended
    }

    /// Once for feeds and their data: how much of them they can touch.
    fn tell_of_feeds(&mut self, setup: &Setup) {
        let memory = setup.stack.nodes.last().and_then(|it| it.limits.memory);
        let these = (setup.feeds.clone(), setup.dataset.clone(), memory);
        if setup.feeds.is_empty() || self.told_of.contains(&these) {
            return;
        }
        for it in self.lab.reaches(setup) {
            self.show.reach(&it);
            let text = serde_json::to_string(&it).expect("plain data");
            self.writer.note(Note { trial: None, subject: "feed".to_owned(), text });
        }
        self.told_of.push(these);
    }

    fn measure(&mut self, setup: &Setup, seed: u64, id: TrialId) -> (Ended, End) {
        let rows = setup.dataset.as_ref().map(|it| stack::dataset::rows(&it.content));
        let asked = Asked { setup, seed, rows };
        let (show, endpoint) = (&mut self.show, &self.endpoint);
        let done = trial::run(asked, &mut self.lab, (&self.writer, id), &self.interrupted, &mut |it| {
            show.seen(it);
            if let Some(endpoint) = endpoint {
                endpoint.seen(it);
            }
        });
        let done = match done {
            Ok(it) => it,
            Err(why) => return hindered(why),
        };
        self.show.measured(&done);
        let Done { measured, summary, objectives, fired, ended, watching } = done;
        let text = format!("{:.4}", watching.share());
        self.writer.note(Note { trial: Some(id), subject: result::MONITORING.to_owned(), text });
        let told = |subject: &str, text: serde_json::Result<String>| Note {
            trial: Some(id),
            subject: subject.to_owned(),
            text: text.expect("plain data"),
        };
        // What a trial leaves behind is what the next one would have met.
        let told_of =
            |it: Bloat| format!("{}: {} bytes, then {}, {} dead", it.table, it.before, it.now, it.dead);
        let grown = self.lab.grown().into_iter().map(told_of).collect::<Vec<_>>().join("; ");
        if !grown.is_empty() {
            self.writer.note(Note { trial: Some(id), subject: "growth".to_owned(), text: grown });
        }
        let judged = objectives.iter().map(|it| told("objective", serde_json::to_string(it)));
        let fired_as = fired.iter().map(|it| told(result::FIRED, serde_json::to_string(it)));
        judged.chain(fired_as).for_each(|it| self.writer.note(it));
        let (status, reason) = match (&fired, self.writer.trouble()) {
            (_, Some(it)) => (Status::Failed, Some(trouble(it))),
            (Some(it), None) => {
                let rule = format!("{} at second {}", it.rule, it.at_second);
                (Status::Stopped, Some([vec![rule], ended].concat().join("; ")))
            }
            (None, None) if self.interrupted.load(Ordering::Relaxed) => (Status::Interrupted, None),
            // Half a trial had another system than the other half.
            (None, None) if !ended.is_empty() => (Status::Failed, Some(ended.join("; "))),
            (None, None) => (Status::Complete, None),
        };
        if status == Status::Complete {
            self.plan(setup, seed, id);
        }
        let valid = summary.validity.valid;
        let broken = objectives.iter().any(|it| it.verdict == Verdict::Broken);
        let end = End {
            outcome: Outcome { status, reason: reason.clone(), ended_ms: now_ms() },
            summary: Some(serde_json::to_value(&summary).expect("plain data")),
            valid: Some(valid),
            measured: Some(measured),
        };
        (Ended { status, reason, measured: true, valid, broken }, end)
    }
}

impl Bench {
    /// Asks once for the plans of what is sent, and keeps them.
    fn plan(&mut self, setup: &Setup, seed: u64, id: TrialId) {
        if !self.planned.is_new(setup) {
            return;
        }
        let (subject, text) = match plans::plans(&mut self.lab, setup, seed, &self.interrupted) {
            Some(Ok(it)) => (result::PLANS, serde_json::to_string(&it).expect("plain data")),
            Some(Err(why)) => ("no plans", why),
            None => return,
        };
        self.writer.note(Note { trial: Some(id), subject: subject.to_owned(), text });
    }
}

/// The end of a trial that had no beginning.
fn hindered(why: Hindrance) -> (Ended, End) {
    let (status, reason) = match why {
        Hindrance::Unavailable(it) => (Status::Skipped, Some(it)),
        Hindrance::Failed(it) => (Status::Failed, Some(it)),
        Hindrance::Stopped => (Status::Interrupted, None),
    };
    let outcome = Outcome { status, reason: reason.clone(), ended_ms: now_ms() };
    let end = End { outcome, summary: None, valid: None, measured: None };
    (Ended { status, reason, measured: false, valid: true, broken: false }, end)
}

fn verdict(strict: bool, status: Status, trials: &[Ended]) -> u8 {
    let any = |of: fn(&Ended) -> bool| trials.iter().any(of);
    if !any(|it| it.measured) {
        COULD_NOT
    } else if status != Status::Complete || any(|it| it.status == Status::Failed) {
        ERRORS
    } else if strict && any(|it| !it.valid) {
        INVALID
    } else if any(|it| it.broken) {
        BROKEN
    } else {
        0
    }
}

fn create(args: &Args, experiment: &Experiment) -> Result<Writer, Trouble> {
    let text = std::fs::read_to_string(&args.file)
        .map_err(|it| Trouble::new(format!("could not read {}: {}", args.file.display(), plain(&it))))?;
    let header = Header {
        name: experiment.name.clone(),
        text,
        experiment: serde_json::to_value(experiment).expect("plain data"),
        machine: serde_json::to_value(stack::host::Host::look()).expect("plain data"),
        // Those of the stack stand beside its nodes.
        versions: Vec::new(),
        seed: experiment.seed,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        begun_ms: now_ms(),
    };
    let writer = store::create(&args.out, &header).map_err(|it| Trouble::new(it.to_string()))?;
    writer.note(Note { trial: None, subject: result::COMMAND.to_owned(), text: command(args) });
    Ok(writer)
}

/// What repeats the run, as it is typed into a shell. No password can be in it: a file or `--set` with one is refused.
fn command(args: &Args) -> String {
    let mut words = vec!["pgdyno".to_owned(), "run".to_owned(), quoted(&args.file.to_string_lossy())];
    words.extend(args.set.iter().flat_map(|it| ["--set".to_owned(), quoted(it)]));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.join(" ")
}

fn trouble(it: &store::Trouble) -> String {
    match it {
        store::Trouble::DiskFull => "the disk with the run's file is full".to_owned(),
        store::Trouble::Refused(why) => format!("the run's file could not be written: {why}"),
        store::Trouble::Behind => "the disk with the run's file is too slow to keep up".to_owned(),
    }
}

/// Set by the first Ctrl-C: the trial ends, what was measured is kept. The second one ends the program, and with it all
/// that it started.
fn on_interrupt() -> Result<Arc<AtomicBool>, Trouble> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Trouble::new(format!("could not await Ctrl-C: {error}")))?;
    }
    Ok(flag)
}

/// How often it is looked for.
const REQUESTS: Duration = Duration::from_millis(250);

/// Sets the flag once somebody has asked for the end of the run in `path`, for instance in a browser.
fn on_request(path: &Path, flag: Arc<AtomicBool>) -> Result<(), Trouble> {
    let path = path.to_owned();
    let look = move || {
        while !store::is_asked_to_end(&path) {
            thread::sleep(REQUESTS);
        }
        flag.store(true, Ordering::Relaxed);
    };
    let started = thread::Builder::new().name("requests".to_owned()).spawn(look);
    started.map(drop).map_err(|it| Trouble::new(format!("could not await requests: {}", plain(&it))))
}

/// Unix time.
fn now_ms() -> u64 {
    crate::bench::logfile::unix_time().0 / 1_000_000
}
