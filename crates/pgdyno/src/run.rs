//! `pgdyno run`: measures the system that an experiment file describes

mod agents;
mod assigned;
mod completed;
pub mod display;
mod fault_injection;
pub mod known_nodes;
mod outcome;
pub mod plans;
pub mod preflight;
pub mod request;
mod screen;
pub mod search_runner;
mod stop_request;
pub mod test_bed;
pub mod trial;
pub mod update;
mod webhook;
pub mod workload;

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::connect_commands;
use crate::exit_status::ExitStatus;
use crate::fleet::options::{LabelSelector, NatsArgs};
use crate::operation_steps;
use crate::prometheus::{MetricsServer, PrometheusArgs as Scraped};
use crate::run_file::{now_ms, write_error};
use crate::run_report::RunReport;
use crate::serve::Server;
use crate::signals::Signals;
use analysis::strategy::sweep::Sweep as Order;
use analysis::strategy::{search, step_setup};
use analysis::verdict::trial_failure;
use clap::Parser;
use completed::CompletedTrial;
use display::RunDisplay;
use known_nodes::KnownNodes;
use model::fact::Fact;
use model::feed_coverage::FeedCoverage;
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{AgentCount, Dataset, Experiment, Feed, Goal, ON_START, Setup, Sweep};
use model::search::{SearchStep, StepResult};
use model::stop::StopEvent;
use model::validity::Verdict;
use model::{ReplayCounts, ReplayFigures};
use preflight::Preflight;
use report::lang::Lang;
use report::say;
use request::RunRequest;
use stack::plans::ExecutionCounts;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use store::{RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId, Writer};
use test_bed::{SetupError, TestBed};
use trial::TrialOutput;
use webhook::WebhookArgs;

/// Run an experiment file: start its system, measure each cell, and store the run
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno run")]
pub struct Args {
    /// Experiment file
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// Resume an interrupted run: path, name, experiment or `last`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["file", "set", "quick"])]
    resume: Option<PathBuf>,
    /// Override a value of the file, such as pooler.size=24; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Apply the overrides of the file's section `quick`
    #[arg(long)]
    quick: bool,
    /// Directory for the file of the run
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Generate the load on this many agents, see `pgdyno agents`; `auto` adds idle agents while they limit the load
    #[arg(long, value_name = "N", value_parser = agents::parse_agent_count)]
    agents: Option<AgentCount>,
    /// Start a temporary NATS server and this many agents on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096), conflicts_with_all = ["agents", "select", "url", "credentials"])]
    local_agents: Option<u16>,
    /// Use only agents with this label, such as zone=a or zone=a,b; repeatable
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = LabelSelector::parse)]
    select: Vec<LabelSelector>,
    #[command(flatten)]
    nats: NatsArgs,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Serve a live page of the run
    #[arg(long)]
    live: bool,
    /// TCP port of --live [default: 7417, else a free one]
    #[arg(long, value_name = "PORT", requires = "live")]
    port: Option<u16>,
    /// Exit with status 3 if a trial is invalid
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(flatten)]
    prometheus: Scraped,
    #[command(flatten)]
    webhook: WebhookArgs,
}

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno run", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let webhook = args.webhook.webhook(lang)?;
    let run_request = match request::read_request(args, lang)? {
        Ok(mut request) => {
            let experiment = &mut request.plan.experiment;
            experiment.generators = args.generators(experiment);
            request
        }
        Err(error) => return Ok(error.print("pgdyno run", lang)),
    };
    let RunRequest { plan, completed: before, .. } = &run_request;
    let lang = lang.for_experiment(&plan.experiment);
    let signals = Signals::default().listen();
    let Signals { interrupted, abandoned } = signals
        .map_err(|error| CommandError::new(say!(lang, "run-no-signals", error = error.to_string())))?;
    let live = args.live.then(|| Server::live(&args.out, args.port, lang)).transpose()?;
    let endpoint = args.prometheus.start_server(&plan.experiment, lang)?;
    let show = RunDisplay::new(plan, lang);
    show.print_start();
    if let Some(endpoint) = &endpoint {
        show.print_metrics_url(endpoint.url());
    }
    check::warnings(plan, lang).iter().for_each(|it| show.print_diagnostic(it));
    let fleet = args.lease(&plan.experiment)?;
    let writer = request::open_file(args, &run_request)?;
    if let Some(live) = &live {
        errln!("{}", say!(lang, "site-live", url = live.run_url(writer.path())));
    }
    stop_request::stop_on_request(writer.path(), Arc::clone(&interrupted), lang)?;
    let mut test_bed = TestBed::start(Arc::clone(&interrupted), abandoned)?;
    test_bed.fleet = fleet;
    let mut bench = Runner {
        lang,
        test_bed,
        writer,
        interrupted,
        display: show,
        endpoint,
        explained: plans::ExplainedCells::default(),
        position: completed::count_complete(before),
        known_nodes: completed::known_nodes(before),
        address_changes: Vec::new(),
        changed_node: None,
        unavailable: BTreeMap::new(),
        preflight: Preflight::default(),
        known_coverage: Vec::new(),
        repeats_trial: false,
    };
    bench.run_all(&plan.experiment, before);
    let Runner { test_bed, writer, interrupted, display: show, changed_node, preflight, position, .. } =
        bench;
    drop(test_bed);
    if !preflight.errors.is_empty() && position == 0 && args.resume.is_none() {
        // A run without a trial has nothing to show.
        drop(show);
        let outcome = RunOutcome { status: RunStatus::Failed, reason: None, ended_ms: now_ms() };
        // Ignore a file that cannot be removed, because it is harmless.
        let _ = writer.finish(outcome).map(std::fs::remove_file);
        preflight.print("pgdyno run", false, lang);
        return Ok(ExitStatus::Incomplete);
    }
    let store_error = writer.error().map(write_error);
    let rejected = (!preflight.errors.is_empty()).then(|| message!("preflight-stopped"));
    let changed_node = changed_node.or(rejected);
    let ended_early = interrupted.load(Ordering::Relaxed) || changed_node.is_some();
    let status = match (&store_error, ended_early) {
        (Some(_), _) => RunStatus::Failed,
        (None, true) => RunStatus::Interrupted,
        (None, false) => RunStatus::Complete,
    };
    let stop_reason = store_error.or(changed_node);
    if let Some(reason) = &stop_reason {
        writer.fact(None, Fact::Reason(reason.clone()));
    }
    let stop_reason = stop_reason.map(|reason| lang.message(&reason));
    let outcome = RunOutcome { status, reason: stop_reason.clone(), ended_ms: now_ms() };
    let path_text = writer.path().display().to_string();
    let path = writer.finish(outcome).map_err(|error| {
        let path = connect_commands::shell_quote(&path_text);
        CommandError::new(say!(lang, "run-end-lost", error = Message::from(&error))).with_hint(say!(
            lang,
            "run-end-lost-hint",
            path
        ))
    })?;
    show.print_end(&path, stop_reason.as_deref());
    // Dropping the display flushes it, so that all its output precedes the result.
    drop(show);
    let report = RunReport::from_file(&path)?;
    report.print(args.json, &path, lang);
    if let Some(text) = check::limits_of_result(&plan.experiment, args.quick, lang) {
        errln!("{}", lang.run_note(&text));
    }
    if let Some(live) = live {
        live.finish();
    }
    let status = if preflight.errors.is_empty() {
        outcome::exit_status(report.result(), args.strict)
    } else {
        preflight.print("pgdyno run", true, lang);
        ExitStatus::Incomplete
    };
    if let Some(webhook) = &webhook {
        webhook.send(report.result(), status, terminal, lang);
    }
    Ok(status)
}

/// State of a whole run.
struct Runner {
    lang: &'static Lang,
    test_bed: TestBed,
    writer: Writer,
    interrupted: Arc<AtomicBool>,
    display: RunDisplay,
    endpoint: Option<MetricsServer>,
    explained: plans::ExplainedCells,
    /// Index of the next trial in the order of all trials. An interrupted trial is measured again with the same index.
    position: usize,
    known_nodes: KnownNodes,
    /// Messages about host names that no longer resolve to the address that was measured.
    address_changes: Vec<Message>,
    /// Message about a node that differs from the one that earlier trials measured. `Some` ends the run.
    changed_node: Option<Message>,
    /// Reasons why a component of a cell is unavailable, by cell.
    unavailable: BTreeMap<usize, Message>,
    /// Check of the operations. An error ends the run.
    preflight: Preflight,
    /// Feed coverage that is already known.
    known_coverage: Vec<(FeedKey, Vec<FeedCoverage>)>,
    /// True if the last trial must be repeated, because agents were added after it.
    repeats_trial: bool,
}

/// Inputs that determine the coverage of feeds: the feeds, the data and the server's memory limit.
type FeedKey = (Vec<Feed>, Option<Dataset>, Option<u64>);

/// Facts about a completed trial that the display shows.
#[derive(Clone, Debug)]
struct EndedTrial {
    status: RunStatus,
    reason: Option<Message>,
    /// Stop rule that ended the trial.
    fired: Option<StopEvent>,
}

/// One trial to measure.
#[derive(Clone, Debug)]
struct Task {
    cell: usize,
    repetition: u32,
    /// Step of a search; `None` outside searches.
    step: Option<SearchStep>,
}

impl Runner {
    /// Runs every trial, unless the user or an error ends the run. `before` has the completed trials of a resumed run.
    fn run_all(&mut self, experiment: &Experiment, before: &[CompletedTrial]) {
        match &experiment.goal {
            Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None }) => self.run_matrix(experiment),
            _ => self.search(experiment, before),
        }
    }

    /// Measures each cell once per repetition, in the order that the seed determines.
    fn run_matrix(&mut self, experiment: &Experiment) {
        let order = Order::new(experiment.cells.len(), experiment.repeat, experiment.seed);
        while let Some(next) = order.next(self.position)
            && !self.is_over()
        {
            self.trial(experiment, &Task { cell: next.cell, repetition: next.repetition, step: None });
        }
    }

    /// True if the user interrupted the run, the store reported a write error, a node has changed, or the server
    /// rejects a statement.
    fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
            || self.writer.error().is_some()
            || self.changed_node.is_some()
            || !self.preflight.errors.is_empty()
    }

    /// Sets up, measures and stores one trial, and repeats it while agents are added. Returns the result of a search step,
    /// or `None` if the user ended the trial or a node differs from the node of earlier trials.
    fn trial(&mut self, experiment: &Experiment, task: &Task) -> Option<StepResult> {
        loop {
            let position = self.position;
            let step_result = self.attempt(experiment, task);
            if !std::mem::take(&mut self.repeats_trial) || self.is_over() {
                return step_result;
            }
            self.position = position;
        }
    }

    /// Sets up, measures and stores one trial.
    fn attempt(&mut self, experiment: &Experiment, task: &Task) -> Option<StepResult> {
        let cell = &experiment.cells[task.cell];
        let position = self.position;
        self.position += 1;
        let of_step = task.step.as_ref().map(|it| step_setup::apply_step(&cell.setup, &experiment.goal, it));
        let setup = of_step.as_ref().unwrap_or(&cell.setup);
        self.display.begin_trial(position, task.cell, task.step.as_ref());
        if let Some(endpoint) = &mut self.endpoint {
            let operations = setup.operations.iter().map(|it| it.name.clone()).collect();
            let cell = self.display.cell_name(task.cell).to_owned();
            endpoint.begin_trial(cell, task.repetition, operations);
        }
        let seed_offset = task.step.as_ref().map_or(task.repetition as u64, |_| position as u64);
        let seed = experiment.seed.wrapping_add(seed_offset);
        let ready = match self.unavailable.get(&task.cell) {
            Some(reason) => Err(SetupError::Unavailable(reason.clone())),
            None => self.preflight.set_up(
                &experiment.cells,
                setup,
                (&mut self.test_bed, &self.known_nodes),
                experiment.seed,
                &mut |it| self.display.update(&it),
            ),
        };
        if let Err(error @ SetupError::OtherNode(_)) = ready {
            // Do not store this trial, so that the run can be resumed with the right node.
            let (ended, ..) = self.setup_failed(&error);
            self.display.end_trial(&ended, None);
            if let Some(endpoint) = &self.endpoint {
                endpoint.end_trial(ended.status.name());
            }
            self.changed_node = ended.reason;
            return None;
        }
        if !self.preflight.errors.is_empty() {
            // Do not store this trial, so that the run can be resumed with the corrected schema.
            self.position = position;
            self.display.cancel_trial();
            if let Some(endpoint) = &self.endpoint {
                endpoint.end_trial(RunStatus::Failed.name());
            }
            return None;
        }
        if let Err(SetupError::Unavailable(reason)) = &ready {
            // Store the reason for later trials, because an unavailable component remains unavailable during the run.
            self.unavailable.insert(task.cell, reason.clone());
        }
        let reaches = if ready.is_ok() { self.feed_coverage(setup) } else { Vec::new() };
        let target = self.test_bed.target().filter(|_| ready.is_ok()).cloned();
        if ready.is_ok() {
            self.known_nodes.add_chain(self.test_bed.chain(), target.as_ref().map(|it| &it.server));
        }
        let trial = TrialHeader {
            cell: task.cell as u32,
            label: cell.label.clone(),
            repetition: task.repetition,
            position: position as u32,
            begun_ms: now_ms(),
            operations: operation_steps::operations(setup),
            nodes: if ready.is_ok() { trial::nodes(&self.test_bed) } else { Vec::new() },
        };
        let id = self.writer.begin_trial(trial);
        let steps = task.step.clone().into_iter().map(Fact::SearchStep);
        let builds = self.test_bed.built().iter().cloned().map(Fact::IndexBuild);
        let copied = self.test_bed.copied_data().filter(|_| ready.is_ok()).map(Fact::CopiedData);
        let facts = steps.chain(builds).chain(target.map(Fact::TargetState)).chain(copied);
        for fact in facts.chain(reaches.into_iter().map(Fact::FeedCoverage)) {
            self.writer.fact(Some(id), fact);
        }
        let (ended, end, step_result) = match ready {
            Ok(()) => self.measure(setup, seed, id, task.step.as_ref()),
            Err(_) if self.interrupted.load(Ordering::Relaxed) => self.setup_failed(&SetupError::Stopped),
            Err(error) => self.setup_failed(&error),
        };
        if let Err(error) = self.test_bed.run_after_trial() {
            self.display.print_diagnostic(&self.lang.message(&error));
            let subject = Message::text("hooks.after_trial");
            self.writer.fact(Some(id), Fact::Note(Note { subject, message: error }));
        }
        let broke_off = matches!(ended.status, RunStatus::Failed | RunStatus::Skipped);
        if let Some(reason) = &ended.reason {
            self.writer.fact(Some(id), Fact::Reason(reason.clone()));
        }
        let failed_step = task.step.clone().filter(|_| broke_off).zip(ended.reason.clone());
        let step_result = step_result
            .or_else(|| failed_step.map(|(step, reason)| StepResult::from_failed_trial(step, reason)));
        self.display.end_trial(&ended, step_result.as_ref());
        if let Some(endpoint) = &self.endpoint {
            endpoint.end_trial(ended.status.name());
        }
        self.writer.end_trial(id, end);
        step_result
    }

    /// Shares of tables that the feeds cover. They are computed and stored once for each combination of feeds and data.
    fn feed_coverage(&mut self, setup: &Setup) -> Vec<FeedCoverage> {
        if setup.feeds.is_empty() {
            return Vec::new();
        }
        let memory = setup.stack.nodes.last().and_then(|it| it.limits.memory);
        let inputs = (setup.feeds.clone(), setup.dataset.clone(), memory);
        if let Some((_, known)) = self.known_coverage.iter().find(|it| it.0 == inputs) {
            return known.clone();
        }
        let found = self.test_bed.feed_coverage(setup);
        found.iter().for_each(|it| self.display.print_coverage(it));
        self.known_coverage.push((inputs, found.clone()));
        found
    }

    fn measure(
        &mut self,
        setup: &Setup,
        seed: u64,
        id: TrialId,
        step: Option<&SearchStep>,
    ) -> (EndedTrial, TrialEnd, Option<StepResult>) {
        let spec = trial::TrialSpec { setup, seed, keep_seconds: step.is_some() };
        let counts = match self.explained.contains(setup) {
            true => None,
            false => plans::attached_counts(&self.test_bed),
        };
        let (show, endpoint) = (&mut self.display, &self.endpoint);
        let begun = Instant::now();
        let done = trial::run(spec, &mut self.test_bed, (&self.writer, id), &self.interrupted, &mut |it| {
            show.observe(it);
            if let Some(endpoint) = endpoint {
                endpoint.observe(it);
            }
        });
        let done = match done {
            Ok(it) => it,
            Err(_) if self.interrupted.load(Ordering::Relaxed) => {
                return self.setup_failed(&SetupError::Stopped);
            }
            Err(error) => return self.setup_failed(&error),
        };
        self.display.set_figures(&done);
        for change in self.test_bed.address_changes() {
            if !self.address_changes.contains(&change) {
                self.display.print_diagnostic(&self.lang.message(&change));
                let note = Note { subject: message!("note-subject-address"), message: change.clone() };
                self.writer.fact(Some(id), Fact::Note(note));
                self.address_changes.push(change);
            }
        }
        let TrialOutput {
            measured,
            summary,
            objectives,
            fired,
            blind,
            aborted,
            on_start_error,
            unexpected_exits: ended,
            monitoring_cost,
            seconds,
            fault_injection,
            freshness,
            agents,
        } = done;
        let step_result =
            step.map(|it| search::judge(it.clone(), &summary, &seconds, &objectives, fired.as_ref()));
        if step.is_some() && summary.total.counts.unanswered > 0 {
            self.test_bed.wait_for_abandoned_statements(begun.elapsed(), &self.interrupted);
        }
        let added = self.add_agents(id, &summary, agents.len());
        let table_sizes = self.test_bed.end_trial();
        let replays: Vec<ReplayFigures> =
            measured.interval.replays.iter().filter_map(ReplayCounts::figures).collect();
        let facts = [
            Some(Fact::MonitoringCpu(monitoring_cost.cpu_share())),
            fault_injection.map(|it| Fact::FaultInjection(Box::new(it))),
            freshness.map(Fact::Freshness),
            (!measured.outages.is_empty()).then(|| Fact::Outages(summary.outages.clone())),
            (!table_sizes.is_empty()).then_some(Fact::TableSizes(table_sizes)),
            (!replays.is_empty()).then_some(Fact::Replay(replays)),
            (!agents.is_empty()).then_some(Fact::Agents(agents)),
            fired.clone().map(Fact::StopRule),
        ];
        let judged = objectives.iter().cloned().map(Fact::Objective);
        facts.into_iter().flatten().chain(judged).for_each(|fact| self.writer.fact(Some(id), fact));
        let blind = blind.into_iter().map(|rule| (rule, message!("failure-blind-rule")));
        let purpose = step.map(|it| it.purpose);
        let failure = trial_failure::transactions_failed(setup, &summary, purpose);
        // Note the operations without a success, unless they are the reason why the trial failed.
        let is_reason = failure.is_some() && summary.total.counts.ok > 0;
        let failed = trial_failure::never_succeeded(setup, &summary).into_iter();
        let failed = failed.filter(|_| !is_reason).map(|it| (it.operation, it.reason));
        let starts = on_start_error.map(|reason| (ON_START.to_owned(), message!("failure-on-start", reason)));
        for (subject, message) in blind.chain(failed).chain(starts) {
            let note = Note { subject: Message::text(subject), message };
            self.writer.fact(Some(id), Fact::Note(note));
        }
        // If no transaction succeeded, that is the reason, and aborted clients are a consequence. Otherwise, aborted
        // clients take precedence over stop rules, because a script that cannot continue is not a limit of the system.
        let aborted = aborted.filter(|_| summary.total.counts.ok > 0);
        let (status, reason) = match (&fired, self.writer.error()) {
            (_, Some(it)) => (RunStatus::Failed, Some(write_error(it))),
            // The trial is repeated, and only its repetition counts.
            (_, None) if added.is_some() => (RunStatus::Interrupted, added),
            (_, None) if aborted.is_some() => (RunStatus::Failed, aborted),
            (Some(stop), None) => {
                let rule =
                    message!("failure-stop-rule", rule = &stop.rule, second = stop.at_second.to_string());
                (RunStatus::Stopped, Message::join([vec![rule], ended].concat()))
            }
            (None, None) if self.interrupted.load(Ordering::Relaxed) => (RunStatus::Interrupted, None),
            (None, None) if failure.is_some() => (RunStatus::Failed, failure),
            // If a node exited, the trial measured different systems before and after the exit.
            (None, None) if !ended.is_empty() => (RunStatus::Failed, Message::join(ended)),
            (None, None) => (RunStatus::Complete, None),
        };
        if status == RunStatus::Complete && step.is_none_or(|it| it.perturbation.is_none()) {
            self.explain(setup, seed, id, counts.as_ref());
        }
        let end = TrialEnd {
            outcome: self.outcome(status, reason.as_ref()),
            summary: Some(serde_json::to_value(&summary).expect("plain data can be serialised")),
            valid: Some(summary.validity.verdict != Verdict::Invalid),
            measurement: Some(measured),
        };
        // An interrupted or failed trial yields no result.
        let step_result = step_result.filter(|_| matches!(status, RunStatus::Complete | RunStatus::Stopped));
        (EndedTrial { status, reason, fired }, end, step_result)
    }
}

impl Runner {
    /// Result of a trial whose setup failed.
    fn setup_failed(&self, error: &SetupError) -> (EndedTrial, TrialEnd, Option<StepResult>) {
        let status = match error {
            SetupError::Unavailable(_) => RunStatus::Skipped,
            SetupError::Failed(_) | SetupError::OtherNode(_) => RunStatus::Failed,
            SetupError::Stopped => RunStatus::Interrupted,
        };
        let reason = (status != RunStatus::Interrupted).then(|| error.message());
        let outcome = self.outcome(status, reason.as_ref());
        let end = TrialEnd { outcome, summary: None, valid: None, measurement: None };
        let ended = EndedTrial { status, reason, fired: None };
        (ended, end, None)
    }

    /// Outcome of a trial that ends now, with the reason in the run's language.
    fn outcome(&self, status: RunStatus, reason: Option<&Message>) -> RunOutcome {
        RunOutcome { status, reason: reason.map(|it| self.lang.message(it)), ended_ms: now_ms() }
    }

    /// Explains the statements of a setup once, and stores their plans. `counts` are those of an attached server before
    /// the trial.
    fn explain(&mut self, setup: &Setup, seed: u64, id: TrialId, counts: Option<&ExecutionCounts>) {
        if !self.explained.is_new(setup) {
            return;
        }
        let explained = match counts {
            Some(before) => plans::attached_plans(&self.test_bed, before),
            None => plans::plans(&mut self.test_bed, setup, seed, &self.interrupted),
        };
        match explained {
            Some(Ok(plans)) => self.writer.fact(Some(id), Fact::Plans(plans)),
            Some(Err(error)) => {
                let note = Note { subject: message!("note-subject-no-plans"), message: error.into() };
                self.writer.fact(Some(id), Fact::Note(note));
            }
            None => {}
        }
    }
}
