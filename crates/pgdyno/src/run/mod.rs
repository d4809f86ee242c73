//! `pgdyno run`: an experiment file, from the first check to the last figure.

pub mod begin;
mod feeds;
pub mod lab;
pub mod news;
mod ordeal;
mod past;
pub mod plans;
pub mod replay;
pub mod result;
mod screen;
pub mod searching;
mod show;
pub mod trial;
pub mod watch;
pub mod workload;

use crate::check;
use crate::prometheus::{Asked as Scraped, Endpoint};
use crate::serve::Server;
use crate::signals::Signals;
use crate::stand::ways;
use crate::terminal;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice, plain};
use analysis::strategy::Sweep as Order;
use analysis::{search, setting};
use begin::Asked;
use clap::Parser;
use lab::{Hindrance, Lab};
use model::objective::Verdict;
use model::plan::{Dataset, Experiment, Feed, Find, Setup, Sweep};
use model::reach::Reach;
use model::search::{Seen, Stage, Step};
use model::stop::Fired;
use past::Past;
use show::Show;
use stack::restore::Bloat;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use store::{End, Note, Outcome, Status, Trial, TrialId, Writer};
use trial::Done;

/// Measures the system that an experiment file describes
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno run")]
struct Args {
    /// The experiment file
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// Go on with a run that broke off, instead: its file, or the beginning of its name
    #[arg(long, value_name = "RUN", conflicts_with_all = ["file", "set", "quick"])]
    resume: Option<PathBuf>,
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
        Err(error) => return terminal::usage(&error),
    };
    let voice = Voice { program: "pgdyno run".to_owned() };
    run(&args).unwrap_or_else(|trouble| {
        trouble.tell(&voice);
        ExitCode::from(COULD_NOT)
    })
}

fn run(args: &Args) -> Result<ExitCode, Trouble> {
    let asked = match begin::asked(args)? {
        Ok(it) => it,
        Err(refused) => return Ok(refused.tell("pgdyno run")),
    };
    let Asked { plan, before, .. } = &asked;
    let lang = args.spoken.lang()?;
    let signals = Signals::default().listen();
    let Signals { interrupted, abandoned } =
        signals.map_err(|it| Trouble::new(format!("could not await Ctrl-C: {it}")))?;
    let live = args.live.then(|| Server::live(&args.out, args.port)).transpose()?;
    let endpoint = args.scraped.endpoint(&plan.experiment)?;
    let show = Show::new(plan, lang);
    show.begins();
    if let Some(it) = &endpoint {
        show.scraped(it.url());
    }
    check::remarks(plan).iter().for_each(|it| show.remark(it));
    let writer = begin::kept(args, &asked)?;
    if let Some(live) = &live {
        errln!("{} shows it", live.page(writer.path()));
    }
    on_request(writer.path(), Arc::clone(&interrupted))?;
    let lab = Lab::start(Arc::clone(&interrupted), abandoned)?;
    let mut bench = Bench {
        lab,
        writer,
        interrupted,
        show,
        endpoint,
        planned: plans::Known::default(),
        position: before.len(),
        ended: Vec::new(),
        missing: BTreeMap::new(),
        told_of: Vec::new(),
    };
    bench.all(&plan.experiment, before);
    let Bench { lab, writer, interrupted, show, ended, .. } = bench;
    drop(lab);
    let trouble = writer.trouble().map(trouble);
    let status = match (&trouble, interrupted.load(Ordering::Relaxed)) {
        (Some(_), _) => Status::Failed,
        (None, true) => Status::Interrupted,
        (None, false) => Status::Complete,
    };
    let outcome = Outcome { status, reason: trouble.clone(), ended_ms: now_ms() };
    let kept = writer.path().display().to_string();
    let path = writer.finish(outcome).map_err(|it| {
        Trouble::new(format!("{it}; the last part of the run is lost"))
            .hint(format!("what was written before can be read:  pgdyno runs show {}", ways::quoted(&kept)))
    })?;
    show.ends(&path, trouble.as_deref());
    // All of it is read before the result.
    drop(show);
    result::Judgement::of(&path)?.print(args.json, lang);
    if let Some(live) = live {
        live.finish();
    }
    Ok(ExitCode::from(verdict(args.strict, status, &ended)))
}

/// What a whole run works with.
struct Bench {
    lab: Lab,
    writer: Writer,
    interrupted: Arc<AtomicBool>,
    show: Show,
    endpoint: Option<Endpoint>,
    planned: plans::Known,
    /// Of the next trial, in the order of all.
    position: usize,
    ended: Vec<Ended>,
    /// By cell: what of it cannot be had.
    missing: BTreeMap<usize, String>,
    /// What is known of feeds already.
    told_of: Vec<(Fed, Vec<Reach>)>,
}

/// Feeds, and what decides how much of it they can touch: the data, and the server's memory.
type Fed = (Vec<Feed>, Option<Dataset>, Option<u64>);

/// What matters of a trial for the program's end.
#[derive(Clone, Debug)]
struct Ended {
    status: Status,
    reason: Option<String>,
    /// The rule that stopped it.
    fired: Option<Fired>,
    /// Whether there is anything to show of it.
    measured: bool,
    valid: bool,
    broken: bool,
    /// Whether no transaction succeeded where some should have.
    nothing: bool,
}

/// One trial to be measured.
#[derive(Clone, Debug)]
struct Task {
    cell: usize,
    repetition: u32,
    /// Of a search.
    step: Option<Step>,
}

impl Bench {
    /// Every trial, until the user or the disk ends it. `before`: those of a run that is gone on with.
    fn all(&mut self, experiment: &Experiment, before: &[Past]) {
        match &experiment.find {
            Find::Once | Find::Failover | Find::Sweep(Sweep { max: None }) => {
                self.in_order(experiment, before);
            }
            _ => self.search(experiment, before),
        }
    }

    /// Every cell as often as it is to be repeated, in the order of the seed.
    fn in_order(&mut self, experiment: &Experiment, before: &[Past]) {
        let order = Order::new(experiment.cells.len(), experiment.repeat, experiment.seed);
        let mut done = before.iter().filter(|it| it.counts).count();
        while let Some(next) = order.next(done)
            && !self.is_over()
        {
            self.trial(experiment, &Task { cell: next.cell, repetition: next.repetition, step: None });
            done += 1;
        }
    }

    /// The user or the disk ends the run.
    fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.writer.trouble().is_some()
    }

    /// Sets up, measures and keeps one trial. What a step of a search showed; `None` where the user ended it.
    fn trial(&mut self, experiment: &Experiment, task: &Task) -> Option<Seen> {
        let cell = &experiment.cells[task.cell];
        let position = self.position;
        self.position += 1;
        let of_step = task.step.as_ref().map(|it| setting::at(&cell.setup, &experiment.find, it));
        let setup = of_step.as_ref().unwrap_or(&cell.setup);
        self.show.trial(position, task.cell, task.step.as_ref());
        if let Some(it) = &mut self.endpoint {
            let operations = setup.operations.iter().map(|it| it.name.clone()).collect();
            let cell = self.show.cell(task.cell).to_owned();
            it.trial(cell, task.repetition, operations);
        }
        let chance = task.step.as_ref().map_or(task.repetition as u64, |_| position as u64);
        let seed = experiment.seed.wrapping_add(chance);
        let ready = match self.missing.get(&task.cell) {
            Some(why) => Err(Hindrance::Unavailable(why.clone())),
            None => self.lab.set_up(setup, &mut |it| self.show.news(&it)),
        };
        if let Err(Hindrance::Unavailable(why)) = &ready {
            // A component that could not be had once cannot be had again.
            self.missing.insert(task.cell, why.clone());
        }
        let reaches = if ready.is_ok() { self.reaches(setup) } else { Vec::new() };
        let trial = Trial {
            cell: task.cell as u32,
            label: cell.label.clone(),
            repetition: task.repetition,
            position: position as u32,
            begun_ms: now_ms(),
            operations: workload::operations(setup),
            nodes: if ready.is_ok() { trial::nodes(&self.lab) } else { Vec::new() },
        };
        let id = self.writer.begin_trial(trial);
        let note = |subject: &str, text: serde_json::Result<String>| Note {
            trial: Some(id),
            subject: subject.to_owned(),
            text: text.expect("plain data"),
        };
        if let Some(it) = &task.step {
            self.writer.note(note(result::STEP, serde_json::to_string(it)));
        }
        for it in self.lab.built() {
            self.writer.note(note(result::BUILT, serde_json::to_string(it)));
        }
        for it in reaches {
            self.writer.note(note(result::FEED, serde_json::to_string(&it)));
        }
        let (mut ended, end, seen) = match ready {
            Ok(()) => self.measure(setup, seed, id, task.step.as_ref()),
            Err(why) => hindered(why),
        };
        let broke_off = matches!(ended.status, Status::Failed | Status::Skipped);
        let why = || ended.reason.clone().unwrap_or_default();
        let nothing = || task.step.clone().filter(|_| broke_off).map(|it| Seen::unmeasured(it, why()));
        let seen = seen.or_else(nothing);
        if let Some(step) = &task.step {
            // A search asks for what is too much, and knows what to make of a late generator.
            ended.broken &= matches!(step.stage, Stage::Confirm | Stage::Soak);
            ended.valid = true;
        }
        self.show.ended(&ended, seen.as_ref());
        if let Some(it) = &self.endpoint {
            it.ended(ended.status.name());
        }
        self.writer.end_trial(id, end);
        self.ended.push(ended);
        seen
    }

    /// How much of their data the feeds can touch: looked for and told once for feeds and their data.
    fn reaches(&mut self, setup: &Setup) -> Vec<Reach> {
        if setup.feeds.is_empty() {
            return Vec::new();
        }
        let memory = setup.stack.nodes.last().and_then(|it| it.limits.memory);
        let these = (setup.feeds.clone(), setup.dataset.clone(), memory);
        if let Some((_, known)) = self.told_of.iter().find(|it| it.0 == these) {
            return known.clone();
        }
        let found = self.lab.reaches(setup);
        found.iter().for_each(|it| self.show.reach(it));
        self.told_of.push((these, found.clone()));
        found
    }

    fn measure(
        &mut self,
        setup: &Setup,
        seed: u64,
        id: TrialId,
        step: Option<&Step>,
    ) -> (Ended, End, Option<Seen>) {
        let rows = setup.dataset.as_ref().map(|it| stack::dataset::rows(&it.content));
        let asked = trial::Asked { setup, seed, rows, keep: step.is_some() };
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
        let Done {
            measured,
            summary,
            objectives,
            fired,
            blind,
            aborted,
            ended,
            watching,
            seconds,
            ordeal,
            freshness,
        } = done;
        let seen = step.map(|it| search::judge(it.clone(), &summary, &seconds, &objectives, fired.as_ref()));
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
        if let Some(it) = &ordeal {
            self.writer.note(told(result::ORDEAL, serde_json::to_string(it)));
        }
        if let Some(it) = &freshness {
            self.writer.note(told(result::FRESHNESS, serde_json::to_string(it)));
        }
        if !measured.outages.is_empty() {
            self.writer.note(told(result::OUTAGES, serde_json::to_string(&summary.outages)));
        }
        let fired_as = fired.iter().map(|it| told(result::FIRED, serde_json::to_string(it)));
        judged.chain(fired_as).for_each(|it| self.writer.note(it));
        for rule in blind {
            self.writer.note(Note { trial: Some(id), subject: rule, text: "never had a value".to_owned() });
        }
        for it in result::never_succeeded(setup, &summary) {
            self.writer.note(Note { trial: Some(id), subject: it.0, text: it.1 });
        }
        // A level of a search may be too much for a system; a statement that fails at any level is none.
        let fails =
            |it: &String| step.is_none().then(|| it.clone()).or(answered(&summary).then(|| it.clone()));
        let nothing = result::nothing_succeeded(&summary).as_ref().and_then(fails);
        let without_success = nothing.is_some();
        // Without a success that is the reason, and aborted clients follow from it. A script that cannot go on is no limit of a
        // system, whatever the rules say.
        let aborted = aborted.filter(|_| summary.total.counts.ok > 0);
        let (status, reason) = match (&fired, self.writer.trouble()) {
            (_, Some(it)) => (Status::Failed, Some(trouble(it))),
            (_, None) if aborted.is_some() => (Status::Failed, aborted),
            (Some(it), None) => {
                let rule = format!("{} at second {}", it.rule, it.at_second);
                (Status::Stopped, Some([vec![rule], ended].concat().join("; ")))
            }
            (None, None) if self.interrupted.load(Ordering::Relaxed) => (Status::Interrupted, None),
            (None, None) if nothing.is_some() => (Status::Failed, nothing),
            // Half a trial had another system than the other half.
            (None, None) if !ended.is_empty() => (Status::Failed, Some(ended.join("; "))),
            (None, None) => (Status::Complete, None),
        };
        if status == Status::Complete && step.is_none_or(|it| it.nudge.is_none()) {
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
        // Of a trial that broke off nothing is known.
        let seen = seen.filter(|_| matches!(status, Status::Complete | Status::Stopped));
        (Ended { status, reason, fired, measured: true, valid, broken, nothing: without_success }, end, seen)
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

/// Whether the server answered any transaction, if only with an error.
fn answered(it: &model::Summary) -> bool {
    it.total.counts.arrivals() > it.total.counts.unanswered
}

/// The end of a trial that had no beginning.
fn hindered(why: Hindrance) -> (Ended, End, Option<Seen>) {
    let (status, reason) = match why {
        Hindrance::Unavailable(it) => (Status::Skipped, Some(it)),
        Hindrance::Failed(it) => (Status::Failed, Some(it)),
        Hindrance::Stopped => (Status::Interrupted, None),
    };
    let outcome = Outcome { status, reason: reason.clone(), ended_ms: now_ms() };
    let end = End { outcome, summary: None, valid: None, measured: None };
    let ended =
        Ended { status, reason, fired: None, measured: false, valid: true, broken: false, nothing: false };
    (ended, end, None)
}

fn verdict(strict: bool, status: Status, trials: &[Ended]) -> u8 {
    let any = |of: fn(&Ended) -> bool| trials.iter().any(of);
    if !any(|it| it.measured) {
        COULD_NOT
    } else if status != Status::Complete || any(|it| it.status == Status::Failed || it.nothing) {
        ERRORS
    } else if strict && any(|it| !it.valid) {
        INVALID
    } else if any(|it| it.broken) {
        BROKEN
    } else {
        0
    }
}

fn trouble(it: &store::Trouble) -> String {
    match it {
        store::Trouble::DiskFull => "the disk with the run's file is full".to_owned(),
        store::Trouble::Refused(why) => format!("the run's file could not be written: {why}"),
        store::Trouble::Behind => "the disk with the run's file is too slow to keep up".to_owned(),
    }
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
pub fn now_ms() -> u64 {
    crate::clock::unix_time().0 / 1_000_000
}
