//! Progress display of a running test

use super::EndedTrial;
use super::fault_injection::is_external_fault;
use super::screen::Screen;
use super::test_bed::Update;
use super::trial::TrialOutput;
use super::update::{self, DisplayUpdate};
use crate::check::run_length::RunLength;
use crate::trial_event::TrialEvent;
use analysis::present::live::LiveState as Recent;
use analysis::present::remaining::{self, RemainingTrials, TrialProgress};
use analysis::strategy::search::Forecast;
use analysis::verdict::objective;
use experiment::Plan;
use model::feed_coverage::FeedCoverage;
use model::live::{LatencyObjective, LiveSecond, SearchBracket};
use model::plan::{Cell, GENERATOR, LoadScale, Setup, started_nodes};
use model::search::{self, LevelOutcome, SearchStep};
use model::{LogEvent, Nanos};
use report::lang::Lang;
use report::live::{
    self, Activity, FinishedTrial, LiveView, LogLine, Milestone, RunProgress, TrialEnd, TrialFigures,
};
use report::say;
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use store::RunStatus;

/// Number of seconds in the chart: the number of columns of a wide terminal.
const SECONDS_DRAWN: usize = 240;
/// Number of log events that the display shows.
const EVENTS_KEPT: usize = 3;

/// Collects the state of the run and passes it to the [`Screen`]. It never blocks on the terminal.
#[derive(Debug)]
pub struct RunDisplay {
    screen: Screen,
    lang: &'static Lang,
    /// Number of trials; `None` if the number depends on results.
    trials: Option<usize>,
    seed: u64,
    cells: Vec<DisplayedCell>,
    /// Load time of the trials that follow the current one.
    remaining_load: Duration,
    begun: Instant,
    /// Total time of setup and teardown so far, and the number of trials in this total.
    overhead: (Duration, u32),
    trial: Option<DisplayedTrial>,
    /// State of the search to which the current trial belongs.
    search: Option<SearchBracket>,
    /// Expected steps of this search, including the current trial; `None` if unknown.
    forecast: Option<Forecast>,
    last_shown: Option<Instant>,
}

/// Facts about a cell that the display needs.
#[derive(Debug)]
struct DisplayedCell {
    name: String,
    /// Load time of one trial, including the warm-up.
    duration: Nanos,
    /// Measured part of the load time.
    window: Nanos,
    /// CPU quota of each node, in CPUs.
    quotas: Vec<(String, f64)>,
    objectives: Vec<String>,
    latency_objective: Option<LatencyObjective>,
}

#[derive(Debug)]
struct DisplayedTrial {
    position: usize,
    cell: usize,
    /// Name of the cell, and its level in a search.
    name: String,
    /// Measured part of the trial.
    window: Nanos,
    searched: bool,
    begun: Instant,
    /// Beginning of the load, which includes the warm-up.
    load_begun: Option<Instant>,
    figures: Option<TrialFigures>,
    activity: Activity,
    recent: Recent,
    seconds: VecDeque<LiveSecond>,
    events: VecDeque<LogLine>,
    /// Time of the last fault that the user was told to cause.
    announced: Option<Nanos>,
}

impl RunDisplay {
    pub fn new(plan: &Plan, lang: &'static Lang) -> RunDisplay {
        let experiment = &plan.experiment;
        let RunLength { trials, durations, load, .. } = RunLength::new(plan);
        let cells = experiment.cells.iter().zip(&durations);
        RunDisplay {
            screen: Screen::start(lang),
            lang,
            trials,
            seed: experiment.seed,
            cells: cells.map(|(cell, duration)| DisplayedCell::new(cell, *duration, lang)).collect(),
            remaining_load: load.into(),
            begun: Instant::now(),
            overhead: (Duration::ZERO, 0),
            trial: None,
            search: None,
            forecast: None,
            last_shown: None,
        }
    }

    pub fn print_start(&self) {
        let (cells, seed) = (self.cells.len(), self.seed);
        self.screen.print_line(&match self.trials {
            Some(trials) => self.lang.run_begins(trials, cells, seed, self.remaining_load.into()),
            None => self.lang.search_begins(cells, seed, self.cells[0].duration),
        });
    }

    pub fn print_metrics_url(&self, url: &str) {
        self.screen.print_line(&self.lang.run_scraped(url));
    }

    /// Name of a cell.
    pub fn cell_name(&self, cell: usize) -> &str {
        &self.cells[cell].name
    }

    pub fn print_diagnostic(&self, text: &str) {
        self.screen.print_line(&self.lang.run_note(text));
    }

    pub fn print_coverage(&self, coverage: &FeedCoverage) {
        self.print_diagnostic(&self.lang.reach(coverage));
    }

    /// Starts the display of a trial. `step` is its step of a search.
    pub fn begin_trial(&mut self, position: usize, cell: usize, step: Option<&SearchStep>) {
        let shown = &self.cells[cell];
        self.remaining_load = self.remaining_load.saturating_sub(shown.duration.into());
        let of_many = if self.cells.len() > 1 { shown.name.as_str() } else { "" };
        self.trial = Some(DisplayedTrial {
            position,
            cell,
            name: step.map_or(shown.name.clone(), |it| self.lang.at_level(of_many, it.scale, it.level)),
            window: step.map_or(shown.window, |it| it.window),
            searched: step.is_some(),
            begun: Instant::now(),
            load_begun: None,
            figures: None,
            activity: Activity::SettingUp,
            recent: Recent::new(shown.latency_objective.as_ref()),
            seconds: VecDeque::new(),
            events: VecDeque::new(),
            announced: None,
        });
        self.draw();
    }

    /// Sets the state (`None` outside searches) and the expected steps of the search to which the next trials belong.
    pub fn set_search(&mut self, bracket: Option<SearchBracket>, forecast: Option<Forecast>) {
        (self.search, self.forecast) = (bracket, forecast);
    }

    /// Shows an update of the setup that takes noticeable time.
    pub fn update(&mut self, update: &Update<'_>) {
        match update::display_update(update) {
            // Show only the message that a node is starting, not the message that it is ready.
            None | Some(DisplayUpdate::Permanent(Milestone::Ready { .. })) => {}
            Some(DisplayUpdate::Permanent(it)) => self.screen.print_line(&self.lang.milestone(&it)),
            Some(DisplayUpdate::Transient(activity)) => {
                let often = matches!(activity, Activity::Loading { .. });
                if often && self.last_shown.is_some_and(|it| it.elapsed() < update::LOADING_INTERVAL) {
                    return;
                }
                self.last_shown = Some(Instant::now());
                self.set_activity(activity);
            }
        }
    }

    pub fn observe(&mut self, event: TrialEvent<'_>) {
        let Some(trial) = &mut self.trial else { return };
        if let TrialEvent::WarmingUp | TrialEvent::Second(_) = event {
            trial.load_begun.get_or_insert_with(Instant::now);
        }
        match event {
            TrialEvent::WarmingUp => trial.activity = Activity::WarmingUp,
            TrialEvent::Second(tick) => {
                trial.seconds.push_back(trial.recent.second(tick));
                trial.seconds.drain(..trial.seconds.len().saturating_sub(SECONDS_DRAWN));
                let total = trial.window;
                trial.activity = Activity::Measuring { second: tick.second + 1, total };
            }
            TrialEvent::Rest(_) => {}
            TrialEvent::AwaitingFailover => trial.activity = Activity::AwaitingFailover,
            TrialEvent::Undoing(command) => trial.activity = Activity::Undoing { command: command.join(" ") },
            TrialEvent::Events(all) => {
                all.iter().for_each(|it| trial.push_event(it));
                // Every server has an event of the fault.
                let external = all.iter().rev().find(|it| is_external_fault(it)).map(|it| it.at);
                if external.is_some() && trial.announced != external {
                    trial.announced = external;
                    self.screen.print_line(&self.lang.cause_failover());
                }
            }
        }
        self.draw();
    }

    pub fn set_figures(&mut self, done: &TrialOutput) {
        let total = &done.summary.total;
        if let Some(trial) = &mut self.trial {
            trial.figures = Some(TrialFigures {
                rate: total.tps,
                p99: total.response.p99,
                failed: total.counts.failed + total.counts.unknown,
                invalid: done.summary.validity.reasons.first().copied(),
                doubts: done
                    .summary
                    .validity
                    .doubts
                    .iter()
                    .filter(|it| it.concerns_load())
                    .cloned()
                    .collect(),
            });
        }
        for error in done.fault_injection.iter().flat_map(|it| &it.errors) {
            self.screen.print_final_line(&self.lang.run_note(&self.lang.message(error)));
        }
        for rule in &done.blind {
            self.screen.print_final_line(&self.lang.rule_without_values(rule));
        }
    }

    /// Ends the display of a trial. `step_result` is the result of a search step.
    pub(super) fn end_trial(&mut self, ended: &EndedTrial, step_result: Option<&search::StepResult>) {
        let Some(trial) = self.trial.take() else { return };
        let duration: Duration = self.cells[trial.cell].duration.into();
        let reason = || ended.reason.as_ref().map_or(String::new(), |it| self.lang.message(it));
        let end = match ended.status {
            RunStatus::Complete | RunStatus::Stopped if trial.searched => {
                match step_result.map(|it| &it.outcome) {
                    Some(LevelOutcome::Sustained) => TrialEnd::Held,
                    Some(LevelOutcome::NotSustained { reason: overload }) => {
                        TrialEnd::TooMuch(self.lang.overload_reason(overload))
                    }
                    Some(LevelOutcome::Invalid { reason: stop_reason }) => {
                        let scale = step_result.map_or(LoadScale::Rate, |it| it.step.scale);
                        TrialEnd::NotCounted(self.lang.search_stop_reason(stop_reason, scale))
                    }
                    None => TrialEnd::NotCounted(String::new()),
                }
            }
            RunStatus::Complete => TrialEnd::Complete,
            RunStatus::Stopped => match &ended.fired {
                Some(fired) => TrialEnd::Stopped { rule: fired.rule.clone(), second: fired.at_second },
                None => TrialEnd::Interrupted,
            },
            RunStatus::Interrupted => TrialEnd::Interrupted,
            RunStatus::Skipped => TrialEnd::Skipped(reason()),
            RunStatus::Failed => TrialEnd::Failed(reason()),
        };
        if ended.status == RunStatus::Complete {
            self.overhead.0 += trial.begun.elapsed().saturating_sub(duration);
            self.overhead.1 += 1;
        }
        let (number, figures, cell) = (trial.position + 1, trial.figures, trial.name);
        let finished = FinishedTrial { trial: number, trials: self.trials, cell, figures, end };
        self.screen.print_final_line(&live::finished_line(&finished, self.screen.characters(), self.lang));
    }

    /// Ends the display of a trial that did not begin.
    pub fn cancel_trial(&mut self) {
        self.trial = None;
    }

    pub fn print_end(&self, path: &Path, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.screen.print_line(&self.lang.run_broken_off(reason));
        }
        let took = self.begun.elapsed().into();
        self.screen.print_line(&self.lang.run_kept(&path.display().to_string(), took));
    }

    /// Estimated time until the run ends.
    fn remaining(&self, trial: &DisplayedTrial, trials: usize) -> Nanos {
        let trials = trials.saturating_sub(trial.position + 1) as u32;
        self.remaining_after(trial, self.cells[trial.cell].duration, trials, self.remaining_load.into())
    }

    /// Estimated time until the current search ends; `None` if unknown.
    fn search_remaining(&self, trial: &DisplayedTrial) -> Option<Nanos> {
        let forecast = self.forecast?;
        let cell = &self.cells[trial.cell];
        let warmup = Nanos(cell.duration.0.saturating_sub(cell.window.0));
        let trials = forecast.steps.saturating_sub(1);
        let later = forecast.load.0.saturating_sub(trial.window.0) + u64::from(trials) * warmup.0;
        Some(self.remaining_after(trial, warmup + trial.window, trials, Nanos(later)))
    }

    /// Estimated time until the current trial and `trials` later trials have ended. `duration` is the load time of the
    /// current trial; `later` is the total load time of the later trials.
    fn remaining_after(&self, trial: &DisplayedTrial, duration: Nanos, trials: u32, later: Nanos) -> Nanos {
        let (overhead, count) = self.overhead;
        let current = TrialProgress {
            load: duration,
            elapsed: trial.begun.elapsed().into(),
            under_load: trial.load_begun.map(|begun| begun.elapsed().into()),
        };
        let overhead = overhead.checked_div(count).map(Nanos::from);
        remaining::remaining(Some(current), RemainingTrials { trials, load: later, overhead })
    }

    fn set_activity(&mut self, activity: Activity) {
        if let Some(trial) = &mut self.trial {
            trial.activity = activity;
        }
        self.draw();
    }

    fn draw(&self) {
        let Some(trial) = &self.trial else { return };
        let cell = &self.cells[trial.cell];
        let elapsed = self.begun.elapsed().as_secs_f64();
        let progress = self.trials.map(|trials| {
            let left = self.remaining(trial, trials);
            RunProgress { trials, elapsed_share: elapsed / (elapsed + left.as_secs_f64()), remaining: left }
        });
        let series = |value: fn(&LiveSecond) -> Option<f64>| trial.seconds.iter().map(value).collect();
        self.screen.show_live(LiveView {
            trial: trial.position + 1,
            cell: trial.name.clone(),
            progress,
            search: self.search.map(|it| SearchBracket { remaining: self.search_remaining(trial), ..it }),
            objectives: cell.objectives.clone(),
            latency_objective: cell.latency_objective.clone(),
            activity: trial.activity.clone(),
            second: trial.seconds.back().cloned(),
            rates: series(|it| Some(it.rate.0)),
            medians: series(|it| it.p50.map(Nanos::as_secs_f64)),
            p99s: series(|it| it.p99.map(Nanos::as_secs_f64)),
            quotas: cell.quotas.clone(),
            events: trial.events.iter().cloned().collect(),
        });
    }
}

impl DisplayedTrial {
    /// Adds a log line. If the line repeats the previous line, only the time is updated.
    fn push_event(&mut self, event: &LogEvent) {
        if self.events.back().is_some_and(|last| last.node == event.node && last.text == event.text) {
            self.events.pop_back();
        }
        self.events.push_back(LogLine { at: event.at, node: event.node.clone(), text: event.text.clone() });
        self.events.drain(..self.events.len().saturating_sub(EVENTS_KEPT));
    }
}

impl DisplayedCell {
    fn new(cell: &Cell, duration: Nanos, lang: &Lang) -> DisplayedCell {
        let Setup { stack, load, .. } = &cell.setup;
        let generator = (GENERATOR.to_owned(), &stack.generator);
        let started = started_nodes(&stack.nodes);
        let nodes = started.iter().map(|it| (it.name.clone(), &it.limits));
        let quotas = nodes.chain([generator]).filter_map(|(name, limits)| Some((name, limits.cpu?)));
        let values: Vec<&str> = cell.label.iter().map(|it| it.1.as_str()).collect();
        // Label such as `transaction, 125`.
        let name = if values.is_empty() { say!(lang, "page-only-cell") } else { values.join(", ") };
        DisplayedCell {
            name,
            duration,
            window: duration - load.warmup,
            quotas: quotas.collect(),
            objectives: cell.setup.objectives.clone(),
            latency_objective: objective::latency_objective(&cell.setup),
        }
    }
}
