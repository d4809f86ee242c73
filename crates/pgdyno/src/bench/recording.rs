//! Run file of a benchmark: an experiment with one cell and one trial

use super::options::SaveOptions;
use super::setup::RecordedSystem;
use crate::cli::CommandError;
use crate::measure::LoadListener;
use crate::observer::{Observer, TrialClock};
use crate::run_file::{self, now_ms, write_error};
use crate::trial_event::TrialEvent;
use analysis::verdict::trial_failure;
use load::LoadEvent;
use load::driver::Clock;
use model::fact::Fact;
use model::message::Message;
use model::note::Note;
use model::objective::ObjectiveResult;
use model::plan::{Cell, Experiment, Goal, Setup};
use model::summary::Script;
use model::validity::Verdict;
use model::{AgentPart, Interval, Measurement, Nanos, Record, Sample, Summary};
use report::lang::Lang;
use stack::sampler::{Sampler, SamplingTarget};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use store::{RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId, Writer};

/// Time between the last client's exit and the last samples of the server.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Run file that is being written.
pub struct Recording {
    writer: Writer,
    trial: TrialId,
    setup: Setup,
    /// Server to sample; `None` if it cannot be queried.
    sampled: Option<SamplingTarget>,
    /// Language of the stored failure reasons.
    lang: &'static Lang,
}

/// Result of a benchmark, for its run file.
pub struct RecordedResult<'a> {
    pub measured: &'a Measurement,
    pub summary: &'a Summary,
    pub objectives: &'a [ObjectiveResult],
    pub interrupted: bool,
    /// Reason why the first client aborted; `None` if none did.
    pub aborted: Option<Message>,
    /// Parts of the agents; empty without agents.
    pub agents: &'a [AgentPart],
}

impl Recording {
    /// Creates the file, and begins its only trial. `scripts` are the operations with their measured commands.
    pub fn create(
        save: &SaveOptions,
        system: RecordedSystem,
        scripts: Vec<Script>,
        seed: u64,
        lang: &'static Lang,
    ) -> Result<Recording, CommandError> {
        let RecordedSystem { setup, nodes, sampled, command, text } = system;
        debug_assert_eq!(setup.operations.len(), scripts.len());
        let cell = Cell { label: Vec::new(), control_of: None, setup: setup.clone() };
        let experiment = Experiment {
            name: save.name.clone(),
            seed,
            repeat: 1,
            cells: vec![cell],
            baseline: None,
            goal: Goal::Once,
            generators: None,
            document: None,
        };
        let header = run_file::header(&experiment, text);
        let mut writer = store::create(&save.directory, &header)?;
        writer.fact(None, Fact::Command(command));
        let trial = writer.begin_trial(TrialHeader {
            cell: 0,
            label: Vec::new(),
            repetition: 0,
            position: 0,
            begun_ms: now_ms(),
            operations: scripts,
            nodes,
        });
        Ok(Recording { writer, trial, setup, sampled, lang })
    }

    /// Measures with `run`, which receives a listener and the flag that ends the load. The listener stores each second
    /// and passes all events on to `listener`. This process is sampled unless agents generate the load. Also returns the reason why the first client aborted.
    pub fn measure<T>(
        &self,
        clock: Clock,
        interrupted: &AtomicBool,
        listener: &mut dyn LoadListener,
        has_agents: bool,
        run: impl FnOnce(&mut dyn LoadListener, &AtomicBool) -> T,
    ) -> (T, Option<Message>) {
        let (sender, observations) = channel();
        let trial_clock = TrialClock::new(clock);
        let sampled = trial_clock.clone();
        let generator = (!has_agents).then(SamplingTarget::generator);
        let targets = [SamplingTarget::host()].into_iter().chain(generator);
        let targets = targets.chain(self.sampled.clone()).collect();
        let sampler = Sampler::start(targets, move || sampled.now(), sender);
        let stop = AtomicBool::new(false);
        let mut ignore = |_: TrialEvent<'_>| ();
        let store = (&self.writer, self.trial);
        let observer = Observer::new(
            observations,
            Vec::new(),
            store,
            &mut ignore,
            trial_clock,
            (&stop, interrupted),
            false,
        );
        let mut both = BothListeners { observer, listener };
        let result = run(&mut both, &stop);
        if self.sampled.is_some() {
            // A session adds its last transactions to the server's statistics when it ends.
            thread::sleep(SETTLE_TIME);
        }
        let cost = sampler.stop();
        self.writer.fact(Some(self.trial), Fact::MonitoringCpu(cost.cpu_share()));
        let aborted = both.observer.aborted();
        both.observer.finish();
        (result, aborted)
    }

    /// Ends the trial and the run. Returns the path of the file.
    pub fn finish(self, result: RecordedResult<'_>) -> Result<PathBuf, CommandError> {
        let RecordedResult { measured, summary, objectives, interrupted, aborted, agents } = result;
        let Recording { writer, trial, setup, lang, .. } = self;
        if !agents.is_empty() {
            writer.fact(Some(trial), Fact::Agents(agents.to_vec()));
        }
        if !measured.outages.is_empty() {
            writer.fact(Some(trial), Fact::Outages(summary.outages.clone()));
        }
        objectives.iter().cloned().for_each(|it| writer.fact(Some(trial), Fact::Objective(it)));
        for failure in trial_failure::never_succeeded(&setup, summary) {
            let note = Note { subject: Message::text(failure.operation), message: failure.reason };
            writer.fact(Some(trial), Fact::Note(note));
        }
        let store_error = writer.error().map(write_error);
        let run_status = match () {
            () if store_error.is_some() => RunStatus::Failed,
            () if interrupted => RunStatus::Interrupted,
            () => RunStatus::Complete,
        };
        let aborted = trial_failure::clients_aborted(summary, aborted);
        let failure = store_error.or_else(|| trial_failure::nothing_succeeded(summary)).or(aborted);
        let reason = failure.filter(|_| run_status != RunStatus::Interrupted);
        let trial_status = if reason.is_some() { RunStatus::Failed } else { run_status };
        if let Some(reason) = &reason {
            writer.fact(Some(trial), Fact::Reason(reason.clone()));
        }
        let reason = reason.map(|it| lang.message(&it));
        let outcome = |status, reason| RunOutcome { status, reason, ended_ms: now_ms() };
        let end = TrialEnd {
            outcome: outcome(trial_status, reason.clone()),
            summary: Some(serde_json::to_value(summary).expect("plain data can be serialised")),
            valid: Some(summary.validity.verdict != Verdict::Invalid),
            measurement: Some(measured.clone()),
        };
        writer.end_trial(trial, end);
        // As in `run`, a failed trial does not make the run incomplete.
        Ok(writer.finish(outcome(run_status, reason.filter(|_| run_status == RunStatus::Failed)))?)
    }

    /// Removes the file, because nothing was measured.
    pub fn discard(self) {
        let outcome = RunOutcome { status: RunStatus::Failed, reason: None, ended_ms: now_ms() };
        // A file that cannot be removed is harmless.
        let _ = self.writer.finish(outcome).map(std::fs::remove_file);
    }
}

/// Listener that passes all events to the observer of a run file, and to another listener.
struct BothListeners<'a> {
    observer: Observer<'a>,
    listener: &'a mut dyn LoadListener,
}

impl LoadListener for BothListeners<'_> {
    fn on_begin(&mut self, at: Nanos) {
        self.observer.on_begin(at);
        self.listener.on_begin(at);
    }

    fn on_samples(&mut self, samples: Vec<Sample>) {
        self.observer.on_samples(samples);
    }

    fn on_tick(&mut self, interval: &Interval, start: Nanos) {
        self.observer.on_tick(interval, start);
        self.listener.on_tick(interval, start);
    }

    fn poll(&mut self) {
        self.observer.poll();
        self.listener.poll();
    }

    fn on_rest(&mut self, interval: &Interval) {
        self.observer.on_rest(interval);
        self.listener.on_rest(interval);
    }

    fn on_event(&mut self, event: LoadEvent) {
        self.observer.on_event(event.clone());
        self.listener.on_event(event);
    }

    fn on_records(&mut self, thread: usize, records: &[Record], start: Nanos) {
        self.listener.on_records(thread, records, start);
    }
}
