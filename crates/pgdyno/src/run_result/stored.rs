//! Reader of a run file's trials
//!
//! The file is read once, and all results are computed from the data of this module.

use crate::cli::CommandError;
use crate::messages::Messages;
use crate::run_result::fact_set::{FactSet, fact_sets};
use analysis::explain::finding;
use analysis::explain::soak::{self, SoakCollector};
use analysis::facts::outage::OutageDetector;
use analysis::facts::sizes::{SizeSeries, SizeSeriesSet};
use analysis::facts::statement_rows::EmptyStatementDetector;
use analysis::facts::{self, LoadSecond, SampleReducer, SampleSet, TrialFacts};
use analysis::present::chart::{self, ChartBuilder};
use analysis::present::run_result::{
    self, FaultPhaseCollector, FaultPhaseSum, PlannedStage, StageCollector, StageSum, Statements, TailLoad,
};
use analysis::stats::steady;
use analysis::strategy::search::SecondSummary;
use analysis::strategy::{search, step_setup};
use analysis::verdict::objective;
use analysis::verdict::rule::RuleContext;
use analysis::verdict::trial_failure;
use model::chart::Charts;
use model::copied_data::CopiedData;
use model::explain::Plans;
use model::fault_injection::FaultInjection;
use model::feed_coverage::FeedCoverage;
use model::freshness::Freshness;
use model::matrix::{self, UnappliedLimit};
use model::message;
use model::message::Message;
use model::note::Note;
use model::objective::ObjectiveResult;
use model::plan::{Experiment, GENERATOR, LoadModel, Setup};
use model::search::{CellSuspects, SearchStep, StepPurpose, StepResult, Trend};
use model::server_log::DeadlockGroup;
use model::stop::StopEvent;
use model::summary::{BenchPlan, Server};
use model::table_sizes::TableSizes;
use model::target::TargetState;
use model::{
    AgentPart, CompactInterval, EmptyStatement, EventKind, LatencyHistogram, LogEvent, Nanos, ReplayFigures,
    SecondSum, SparseHistogram, StepFailure, Summary,
};
use report::lang::english;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;
use store::{
    HistogramSelection, Run, RunHeader, RunOutcome, RunStatus, Seconds, State, TrialId, TrialRecord,
};

/// A complete run as stored.
pub struct StoredRun {
    pub header: RunHeader,
    pub state: State,
    /// Stored reason why the run is not complete.
    pub reason: Option<Message>,
    pub experiment: Experiment,
    /// Number of the machine's CPUs, if known.
    pub processors: Option<f64>,
    /// Command that repeats the run; `None` for older runs.
    pub command: Option<String>,
    /// Suspects of the cells whose maximum was perturbed.
    pub suspects: Vec<CellSuspects>,
    /// Trials of the experiment's cells; trials of unknown cells are omitted.
    pub trials: Vec<StoredTrial>,
}

/// A trial as stored.
pub struct StoredTrial {
    pub recorded: TrialRecord,
    /// Setup of the cell, or of the search step.
    pub setup: Setup,
    /// Step of a search; `None` outside searches.
    pub step: Option<SearchStep>,
    /// Result of the search step; `None` while the step runs, or if the user ended it.
    pub step_result: Option<StepResult>,
    /// Trends during a soak or a confirmation: a long trial at constant load.
    pub trends: Vec<Trend>,
    /// Status of the trial; `None` while the trial runs.
    pub status: Option<matrix::TrialStatus>,
    pub fired: Option<StopEvent>,
    pub summary: Option<Summary>,
    pub clients: Vec<u64>,
    pub samples: SampleSet,
    pub events: Vec<LogEvent>,
    pub not_applied: Vec<UnappliedLimit>,
    pub monitoring_cpu: Option<f64>,
    pub in_flight_at_end: Vec<(String, u64)>,
    pub delivered: Vec<f64>,
    /// Load in each whole second.
    pub load: Vec<LoadSecond>,
    pub reaches: Vec<FeedCoverage>,
    pub answers: Vec<SizeSeries>,
    /// Attached server and its data before the trial, if known.
    pub target: Option<TargetState>,
    /// Origin and tables of data that were copied from a database.
    pub copied_data: Option<CopiedData>,
    /// Comparison with recorded responses.
    pub replayed: Vec<ReplayFigures>,
    pub fault_injection: Option<FaultInjection>,
    pub freshness: Option<Freshness>,
    pub table_sizes: Vec<TableSizes>,
    /// Deadlocks by their statements, in order of time.
    pub deadlocks: Vec<DeadlockGroup>,
    /// Parts of the agents; empty without agents.
    pub agents: Vec<AgentPart>,
    /// First failures of the steps, by code.
    pub step_failures: Vec<StepFailure>,
    pub plans: Option<Plans>,
    pub notes: Vec<Note>,
    pub charts: Charts,
    /// First server message for each failure code.
    pub messages: Messages,
    /// Sum of all seconds.
    pub whole: CompactInterval,
    pub late: TailLoad,
    pub statements: Statements,
    /// Sums of the seconds by stage of the load; empty in a search.
    pub stages: Vec<StageSum>,
    /// Sums of the seconds before, during and after the faults; `None` without a fault.
    pub fault_phases: Option<[FaultPhaseSum; 3]>,
}

impl StoredRun {
    pub fn from_file(path: &Path) -> Result<StoredRun, CommandError> {
        let run = Run::open(path)?;
        let header = run.header()?;
        let experiment: Experiment = read(path, &header.experiment)?;
        let trials = run.trials()?;
        let mut facts = fact_sets(&run)?;
        let FactSet { command, suspects, reason, .. } = facts.remove(&None).unwrap_or_default();
        let known = trials.into_iter().filter(|it| (it.trial.cell as usize) < experiment.cells.len());
        let processors = header.machine["processors"].as_f64();
        let trials = known
            .map(|record| {
                let facts = facts.remove(&Some(record.id)).unwrap_or_default();
                read_trial(&run, &experiment, processors, record, facts)
            })
            .collect::<Result<_, _>>()?;
        let state = run.state()?;
        Ok(StoredRun { header, state, reason, experiment, processors, command, suspects, trials })
    }

    /// Trials that have ended, in their order.
    pub fn ended(&self) -> Vec<&StoredTrial> {
        self.trials.iter().filter(|it| it.status.is_some()).collect()
    }
}

/// Reads one trial. `facts` are the facts of this trial.
fn read_trial(
    run: &Run,
    experiment: &Experiment,
    processors: Option<f64>,
    recorded: TrialRecord,
    facts: FactSet,
) -> Result<StoredTrial, CommandError> {
    let id = recorded.id;
    let FactSet {
        step,
        target,
        copied_data,
        feed_coverage,
        unapplied_limits,
        monitoring_cpu,
        stop: fired,
        outages,
        fault_injection,
        freshness,
        table_sizes,
        deadlocks,
        agents,
        replays,
        step_failures,
        plans,
        notes,
        reason,
        ..
    } = facts;
    let of_cell = &experiment.cells[recorded.trial.cell as usize].setup;
    let of_step = |it| step_setup::apply_step(of_cell, &experiment.goal, it);
    let setup = step.as_ref().map_or_else(|| of_cell.clone(), of_step);
    let setup = &setup;
    let seconds = run.seconds(id, HistogramSelection::Response)?;
    // The last second of an ended trial is the partial second at its end.
    let rest = usize::from(matches!(recorded.state, State::Ended(_)));
    let full_seconds = seconds.remaining().saturating_sub(rest);
    let so_far = Nanos::from_secs(full_seconds as u64);
    let window = if recorded.state == State::Running { load_duration(setup).max(so_far) } else { so_far };
    let steps = || recorded.trial.operations.iter().map(|it| it.commands.as_slice());
    let charting = || ChartBuilder::new(setup, processors, window).with_steps(steps());
    let long = step.as_ref().is_some_and(|it| matches!(it.purpose, StepPurpose::Confirm | StepPurpose::Soak));
    let soaking = || long.then(|| SoakCollector::new(window));
    // Use two threads, because decoding response times takes about as long as reading samples.
    let (loaded, aside) = std::thread::scope(|scope| {
        let (path, of_samples) = (run.path(), (charting(), soaking()));
        let aside = scope.spawn(move || read_samples(path, id, full_seconds, of_samples));
        let consumers = SecondConsumers {
            charting: Some(charting()),
            pace: step.as_ref().map(|_| Vec::new()),
            soaking: soaking(),
            stages: step.is_none().then(|| StageCollector::new(stages(setup))),
            phases: fault_injection
                .as_ref()
                .and_then(|it| FaultPhaseCollector::new(it, outages.as_deref().unwrap_or_default())),
        };
        let loaded = read_seconds(seconds, &run.command_counts(id)?, full_seconds, consumers);
        let aside = aside.join().unwrap_or_else(|it| std::panic::resume_unwind(it));
        Ok::<_, CommandError>((loaded?, aside?))
    })?;
    let SampleRead { service_times, late_service_times, charting, mut samples, statements, trends } = aside;
    let trends = [loaded.trends, trends].concat();
    let late = loaded.late.with_service_times(&late_service_times);
    let together = loaded.whole.with_service_times(service_times);
    let mut charting = loaded.charting.expect("the caller passed a chart").merge_samples(charting);
    let events = run.events(id)?;
    events.iter().for_each(|it| charting.event(it));
    let mut measured = run.measurement_with(id, || Ok(together.convert(LatencyHistogram::from)))?;
    if let Some(measured) = &mut measured {
        measured.empty_statements = loaded.empty_statements;
        measured.outages = outages.unwrap_or_else(|| loaded.gaps.finish(measured.window));
    }
    let stored_summary = recorded.summary.as_ref();
    let mut summary = match (&measured, stored_summary) {
        (Some(measured), Some(stored_summary)) => {
            let server: Server = read(run.path(), &stored_summary["server"])?;
            let plan: BenchPlan = read(run.path(), &stored_summary["plan"])?;
            Some(analysis::verdict::summarise(measured, server, plan))
        }
        _ => None,
    };
    let left =
        measured.as_ref().map(|it| facts::remaining_clients(samples.view(), it.window)).unwrap_or_default();
    // Ignore samples after the load, when CPUs are idle and processes exit.
    let window = measured.as_ref().map_or(Nanos::ZERO, |it| it.window);
    samples.truncate(window);
    if let (Some(summary), Some(stored_summary)) = (&mut summary, stored_summary) {
        // Use the stored share of throttled periods, because a short trial has too few samples of the control group's
        // counters.
        analysis::verdict::add_throttling(summary, throttled_share(stored_summary));
        analysis::verdict::add_clock_step(summary, clock_step(stored_summary));
        analysis::verdict::add_agents(summary, &agents);
        if let Some(rows) = exhausted_rows(stored_summary) {
            analysis::verdict::add_feed_end(summary, rows, load_duration(setup));
        }
        if !setup.faults.is_empty() {
            analysis::verdict::remove_outage_doubt(summary);
        }
    }
    let of_nodes = recorded.trial.nodes.iter().flat_map(|node| {
        let not_applied = node.unapplied_limits.iter();
        not_applied.cloned()
    });
    let not_applied = of_nodes.chain(unapplied_limits).collect();
    let mut messages = Messages::default();
    let of_generator = events.iter().filter(|it| it.node == GENERATOR && it.kind == EventKind::Error);
    of_generator.for_each(|it| messages.add(it.code.as_deref().unwrap_or_default(), &it.text));
    if let Some(summary) = &mut summary {
        summary.set_messages(|code| messages.find(code));
    }
    let mut status = status(&recorded.state, fired.clone(), reason);
    // Older versions stored a trial as complete even if the trial or one of its operations had no success.
    let failure =
        summary.as_ref().and_then(|summary| trial_failure::transactions_failed(setup, summary, None));
    if let (Some(matrix::TrialStatus::Done), None, Some(reason)) = (&status, &step, failure) {
        status = Some(matrix::TrialStatus::Failed { reason });
    }
    let step_result = step.as_ref().and_then(|step| match (&status, &summary) {
        (Some(matrix::TrialStatus::Done | matrix::TrialStatus::Stopped { .. }), Some(summary)) => {
            let judged = objective_results(setup, summary);
            Some(search::judge(step.clone(), summary, &loaded.seconds, &judged, fired.as_ref()))
        }
        (Some(matrix::TrialStatus::Failed { reason } | matrix::TrialStatus::Skipped { reason }), _) => {
            Some(StepResult::from_failed_trial(step.clone(), reason.clone()))
        }
        _ => None,
    });
    let mut stored = StoredTrial {
        setup: setup.clone(),
        step,
        step_result,
        trends,
        status,
        fired,
        charts: charting.charts(),
        messages,
        whole: together,
        late,
        statements,
        stages: loaded.stages,
        fault_phases: loaded.phases.map(|phases| phases.finish(samples.view())),
        clients: measured.map(|it| it.clients).unwrap_or_default(),
        events,
        summary,
        samples,
        not_applied,
        monitoring_cpu,
        in_flight_at_end: left,
        delivered: loaded.delivered,
        load: loaded.load,
        answers: loaded.answers,
        target,
        copied_data,
        replayed: replays,
        reaches: feed_coverage,
        fault_injection,
        freshness,
        table_sizes,
        deadlocks,
        agents,
        step_failures,
        plans,
        notes,
        recorded,
    };
    let unused = trial_facts(&stored).map(|it| finding::unused_nodes(&it)).unwrap_or_default();
    if let Some(summary) = &mut stored.summary {
        analysis::verdict::add_unused_nodes(summary, unused);
        analysis::verdict::add_result_differences(summary, &stored.setup.load, &stored.replayed);
        analysis::verdict::add_mix_difference(summary, &stored.setup.load);
    }
    Ok(stored)
}

/// Share of the quota's periods in which the generator was throttled, from the stored summary.
fn throttled_share(summary: &Value) -> Option<f64> {
    let reasons = summary["validity"]["reasons"].as_array()?;
    reasons.iter().find(|it| it["kind"] == "throttled")?["share"].as_f64()
}

/// Stored validity doubt of this kind; `None` without one.
fn stored_doubt<'a>(summary: &'a Value, kind: &str) -> Option<&'a Value> {
    summary["validity"]["doubts"].as_array()?.iter().find(|it| it["kind"] == kind)
}

/// Nanoseconds by which the generator's wall clock was changed. In runs of older versions, the doubt has the name
/// `clock_set`.
fn clock_step(summary: &Value) -> i64 {
    let doubt = stored_doubt(summary, "clock_stepped").or_else(|| stored_doubt(summary, "clock_set"));
    doubt.and_then(|doubt| doubt["step_ns"].as_i64()).unwrap_or(0)
}

/// Number of rows of the feed whose exhaustion ended the load early; `None` if no feed was exhausted.
fn exhausted_rows(summary: &Value) -> Option<u64> {
    stored_doubt(summary, "feed_exhausted")?["rows"].as_u64()
}

/// Results of a setup's objectives.
pub fn objective_results(setup: &Setup, summary: &Summary) -> Vec<ObjectiveResult> {
    let context = RuleContext::for_setup(setup);
    let judge = |it: &String| Some(objective::parse(it, &context.operations).ok()?.judge(summary));
    setup.objectives.iter().filter_map(judge).collect()
}

/// Planned duration of a setup's load.
pub fn load_duration(setup: &Setup) -> Nanos {
    let of_schedule = || match &setup.load.model {
        LoadModel::Open { schedule, .. } => load::schedule::parse(schedule).ok().map(|it| it.duration()),
        LoadModel::Log { log, speed, .. } => Some(log.duration_at(*speed)),
        LoadModel::Replay { recording, speed } => Some(recording.duration_at(*speed)),
        LoadModel::Closed { .. } | LoadModel::Users { .. } => None,
    };
    setup.load.duration.or_else(of_schedule).unwrap_or(Nanos::ZERO)
}

/// Stages of a setup's load.
pub fn stages(setup: &Setup) -> Vec<PlannedStage> {
    let schedule = match &setup.load.model {
        LoadModel::Open { schedule, .. } => load::schedule::parse(schedule).ok(),
        _ => None,
    };
    run_result::planned_stages(&setup.load.model, schedule.as_ref(), &setup.operations)
}

/// Data collected from a trial's seconds.
struct TrialLoad {
    charting: Option<ChartBuilder>,
    whole: CompactInterval,
    late: TailLoad,
    /// Delivered throughput of each whole second.
    delivered: Vec<f64>,
    load: Vec<LoadSecond>,
    answers: Vec<SizeSeries>,
    empty_statements: Vec<EmptyStatement>,
    /// Every second, if requested.
    seconds: Vec<SecondSummary>,
    trends: Vec<Trend>,
    stages: Vec<StageSum>,
    phases: Option<FaultPhaseCollector>,
    gaps: OutageDetector,
}

/// Consumers of a trial's seconds, some of them optional.
#[derive(Default)]
struct SecondConsumers {
    charting: Option<ChartBuilder>,
    pace: Option<Vec<SecondSummary>>,
    soaking: Option<SoakCollector>,
    stages: Option<StageCollector>,
    phases: Option<FaultPhaseCollector>,
}

/// Maximum number of stored seconds. An hour suffices to judge a step and limits the memory.
const SECONDS_MAX: usize = 3600;

/// Appends a second, and removes the oldest second if there are more than [`SECONDS_MAX`].
pub fn push_bounded(seconds: &mut Vec<SecondSummary>, second: SecondSummary) {
    if seconds.len() == SECONDS_MAX {
        seconds.remove(0);
    }
    seconds.push(second);
}

/// Last third of a trial with this number of whole seconds.
fn late_seconds(full_seconds: usize) -> Range<usize> {
    full_seconds * 2 / 3..full_seconds
}

/// Reads `full_seconds` seconds and the partial second at the end, which charts do not contain.
fn read_seconds(
    seconds: Seconds<'_>,
    shape: &[usize],
    full_seconds: usize,
    mut consumers: SecondConsumers,
) -> Result<TrialLoad, CommandError> {
    let (mut together, mut late, mut delivered) = (SecondSum::new(shape), TailLoad::default(), Vec::new());
    let (mut gaps, mut load) = (OutageDetector::default(), Vec::new());
    let mut answers = SizeSeriesSet::default();
    let mut empty_statements = EmptyStatementDetector::default();
    for (number, second) in seconds.enumerate() {
        let second = second.map_err(|it| CommandError::new(&it))?;
        answers.second(number, &second.interval.answers);
        empty_statements.second(&second.interval.answers);
        together.add(&second);
        gaps.second(&second.interval);
        if let Some(charting) = consumers.charting.as_mut().filter(|_| number < full_seconds) {
            charting.second(&second);
        }
        if number < full_seconds {
            delivered.push(steady::delivered(&second));
            load.push(LoadSecond::from(&second));
        }
        if late_seconds(full_seconds).contains(&number) {
            late.add(&second.interval);
        }
        if let Some(soaking) = consumers.soaking.as_mut().filter(|_| number < full_seconds) {
            soaking.second(&second);
        }
        if let Some(stages) = consumers.stages.as_mut().filter(|_| number < full_seconds) {
            stages.second(&second);
        }
        if let Some(phases) = consumers.phases.as_mut().filter(|_| number < full_seconds) {
            phases.second(&second);
        }
        if let Some(pace) = &mut consumers.pace {
            push_bounded(pace, SecondSummary::from(&second));
        }
    }
    Ok(TrialLoad {
        charting: consumers.charting,
        whole: together.to_interval(),
        late,
        delivered,
        load,
        answers: answers.finish(),
        empty_statements: empty_statements.finish(),
        seconds: consumers.pace.unwrap_or_default(),
        trends: consumers.soaking.map_or(Vec::new(), SoakCollector::trends),
        stages: consumers.stages.map_or(Vec::new(), StageCollector::finish),
        phases: consumers.phases,
        gaps,
    })
}

/// Data that the second thread reads through a separate connection.
struct SampleRead {
    /// Service times by operation, of the whole trial and of [`late_seconds`].
    service_times: Vec<SparseHistogram>,
    late_service_times: Vec<SparseHistogram>,
    /// Charts that contain only samples.
    charting: ChartBuilder,
    /// Samples from which facts are derived.
    samples: SampleSet,
    statements: Statements,
    trends: Vec<Trend>,
}

fn read_samples(
    path: &Path,
    id: TrialId,
    full_seconds: usize,
    (mut charting, mut soaking): (ChartBuilder, Option<SoakCollector>),
) -> Result<SampleRead, CommandError> {
    let run = Run::open(path)?;
    let series: Vec<&'static str> =
        [&chart::SERIES[..], facts::SERIES, &run_result::STATEMENTS, &soak::SERIES].concat();
    let (mut reducer, mut statements) = (SampleReducer::new(full_seconds as u64), Statements::default());
    run.for_each_sample(id, &series, |sample| {
        if run_result::STATEMENTS.contains(&&*sample.series) {
            statements.push(&sample);
        } else {
            if let Some(soaking) = &mut soaking {
                soaking.samples(std::slice::from_ref(&sample));
            }
            charting.samples(std::slice::from_ref(&sample));
        }
        reducer.push(sample);
    })?;
    let trends = soaking.map_or(Vec::new(), SoakCollector::trends);
    Ok(SampleRead {
        service_times: run.service_times(id, 0..usize::MAX)?,
        late_service_times: run.service_times(id, late_seconds(full_seconds))?,
        charting,
        samples: reducer.finish(),
        statements,
        trends,
    })
}

/// Reason of an outcome: the stored message. If this version lacks the message, the stored text.
pub fn stored_reason(outcome: &RunOutcome, message: Option<Message>) -> Option<Message> {
    let known = message.filter(|message| english().catalogue().find_message(message).is_some());
    known.or_else(|| outcome.reason.clone().map(Message::text))
}

fn status(state: &State, fired: Option<StopEvent>, reason: Option<Message>) -> Option<matrix::TrialStatus> {
    let outcome = match state {
        State::Running => return None,
        State::Lost => return Some(matrix::TrialStatus::Interrupted),
        State::Ended(outcome) => outcome,
    };
    let reason = stored_reason(outcome, reason).unwrap_or_else(|| Message::text(""));
    Some(match (outcome.status, fired) {
        (RunStatus::Complete, _) => matrix::TrialStatus::Done,
        (RunStatus::Stopped, Some(event)) => matrix::TrialStatus::Stopped { event },
        (RunStatus::Interrupted | RunStatus::Stopped, _) => matrix::TrialStatus::Interrupted,
        (RunStatus::Failed, _) => matrix::TrialStatus::Failed { reason },
        (RunStatus::Skipped, _) => matrix::TrialStatus::Skipped { reason },
    })
}

/// Facts of each ended trial, in their order. Rules and figures are computed from them.
pub fn facts<'a>(ended: &[&'a StoredTrial]) -> Vec<TrialFacts<'a>> {
    ended.iter().filter_map(|it| trial_facts(it)).collect()
}

fn trial_facts(stored: &StoredTrial) -> Option<TrialFacts<'_>> {
    let trial = &stored.recorded.trial;
    let cell = trial.cell as usize;
    Some(TrialFacts {
        cell,
        repetition: trial.repetition,
        begun_ms: trial.begun_ms,
        setup: &stored.setup,
        status: stored.status.as_ref()?,
        summary: stored.summary.as_ref(),
        clients: &stored.clients,
        samples: stored.samples.view(),
        events: &stored.events,
        deadlocks: &stored.deadlocks,
        // Leave out ticks, because events already contain their seconds and a tick takes a megabyte.
        ticks: &[],
        not_applied: &stored.not_applied,
        monitoring_cpu: stored.monitoring_cpu,
        delivered: &stored.delivered,
        load: &stored.load,
        feed_coverage: &stored.reaches,
        remaining_clients: &stored.in_flight_at_end,
        answers: &stored.answers,
        data: stored.target.as_ref().and_then(|it| it.data.as_ref()),
        replayed: &stored.replayed,
    })
}

fn read<T: DeserializeOwned>(path: &Path, value: &Value) -> Result<T, CommandError> {
    T::deserialize(value).map_err(|error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        CommandError::new(message!("runs-other-version", path, error))
    })
}
