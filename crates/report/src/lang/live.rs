//! Sentences of the live view; a run formats them at most a few hundred times per second

use super::Lang;
use crate::say;
use model::live::{LiveSecond, NodeCpu, PoolState, SearchBracket};
use model::plan::LoadScale;
use model::validity::{Doubt, InvalidReason};
use model::{Nanos, PerSecond, RetainReason, StaleRunDirectory};

/// Slow step in the setup of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    SettingUp,
    Fetching {
        major: u32,
    },
    Starting {
        node: String,
    },
    Dropping,
    Loading {
        sent: u64,
        total: u64,
    },
    Keys,
    RestoringDump,
    Statistics,
    Restored {
        took: Nanos,
    },
    ReadingSource,
    /// No write has occurred since the last restore.
    DataUnchanged,
    Warmed,
    WarmingUp,
    /// The load has ended, and no other server accepts writes yet.
    AwaitingFailover,
    /// A command of the user reverts a fault.
    Undoing {
        command: String,
    },
    Measuring {
        second: u64,
        total: Nanos,
    },
}

/// Event whose line remains on the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Milestone {
    Ready {
        node: String,
        took: Nanos,
    },
    AlreadyLoaded {
        rows: u64,
    },
    Loaded {
        rows: u64,
        took: Nanos,
        rate: PerSecond,
    },
    /// The server started from a copy of data that an earlier run loaded.
    DataReused {
        bytes: u64,
        took: Nanos,
    },
    /// The loaded data were stored for later runs.
    DataStored {
        bytes: u64,
        took: Nanos,
    },
    /// A source database was read. `at` is the time of the snapshot, `bytes` the size of the dump.
    SourceRead {
        address: String,
        database: String,
        at: String,
        bytes: u64,
    },
    /// Some rows of a source table are in the sample.
    Sampled {
        table: String,
        kept: u64,
        total: u64,
    },
    /// The experiment requires a cold cache, which is unavailable.
    CacheNotCold,
    /// Files of a killed run were removed or kept.
    StaleDirectory(StaleRunDirectory),
}

/// Result of a completed trial.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedTrial {
    pub trial: usize,
    /// Total number of trials, if known.
    pub trials: Option<usize>,
    pub cell: String,
    /// Figures of the trial; `None` if nothing was measured.
    pub figures: Option<TrialFigures>,
    pub end: TrialEnd,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrialFigures {
    pub rate: PerSecond,
    pub p99: Option<Nanos>,
    /// Number of failed and unknown transactions.
    pub failed: u64,
    /// First reason why the trial is invalid.
    pub invalid: Option<InvalidReason>,
    /// Doubts to show with the verdict, such as an outage.
    pub doubts: Vec<Doubt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialEnd {
    Complete,
    /// A search step ended: the level was sustained or not.
    Held,
    /// The level was not sustained, for this reason.
    TooMuch(String),
    /// A search step allows no conclusion. The text is the reason; it is empty if the user ended the step.
    NotCounted(String),
    /// A stop rule fired at the end of this second, counted from 0.
    Stopped {
        rule: String,
        second: u64,
    },
    Interrupted,
    Skipped(String),
    Failed(String),
}

impl Lang {
    /// First line of a run. `duration` is the total time under load of all trials.
    pub fn run_begins(&self, trials: usize, cells: usize, seed: u64, duration: Nanos) -> String {
        let (seed, duration) = (seed.to_string(), self.whole_seconds(duration));
        say!(self, "live-run-begins", trials, cells, seed, duration)
    }

    /// First line of a search. `duration` is the time under load of one trial.
    pub fn search_begins(&self, cells: usize, seed: u64, duration: Nanos) -> String {
        let (seed, duration) = (seed.to_string(), self.whole_seconds(duration));
        say!(self, "live-search-begins", cells, seed, duration)
    }

    /// A note about the experiment.
    /// Tells the user to cause the failover of a fault with `external: true`.
    pub fn cause_failover(&self) -> String {
        say!(self, "live-cause-failover")
    }

    pub fn run_note(&self, text: &str) -> String {
        say!(self, "live-note", text)
    }

    /// States the URL at which Prometheus can scrape the run.
    pub fn run_scraped(&self, url: &str) -> String {
        say!(self, "live-scraped", url)
    }

    /// States that the run ended early, and the reason.
    pub fn run_broken_off(&self, reason: &str) -> String {
        say!(self, "live-broken-off", reason)
    }

    /// Last line of a run, with the path of the run file.
    pub fn run_kept(&self, path: &str, elapsed: Nanos) -> String {
        say!(self, "live-kept", path, duration = self.whole_seconds(elapsed))
    }

    pub fn activity(&self, activity: &Activity) -> String {
        match activity {
            Activity::SettingUp => say!(self, "live-setting-up"),
            Activity::Fetching { major } => say!(self, "live-fetching", major = *major),
            Activity::Starting { node } => say!(self, "live-starting", node),
            Activity::Dropping => say!(self, "live-dropping"),
            Activity::Loading { sent, total } => say!(self, "live-loading", sent = *sent, total = *total),
            Activity::Keys => say!(self, "live-keys"),
            Activity::RestoringDump => say!(self, "live-restoring-dump"),
            Activity::ReadingSource => say!(self, "live-reading-source"),
            Activity::Statistics => say!(self, "live-statistics"),
            Activity::Restored { took } => say!(self, "live-restored", time = self.tenths(*took)),
            Activity::DataUnchanged => say!(self, "live-data-unchanged"),
            Activity::Warmed => say!(self, "live-warmed"),
            Activity::AwaitingFailover => say!(self, "live-awaiting-failover"),
            Activity::Undoing { command } => say!(self, "live-undoing", command),
            Activity::WarmingUp => say!(self, "live-warming-up"),
            Activity::Measuring { second, total } => {
                let total = self.numbers().fixed(total.as_secs_f64(), 0);
                say!(self, "live-measuring", second = *second, total)
            }
        }
    }

    pub fn milestone(&self, milestone: &Milestone) -> String {
        match milestone {
            Milestone::Ready { node, took } => say!(self, "live-ready", node, time = self.tenths(*took)),
            Milestone::AlreadyLoaded { rows } => say!(self, "live-already-loaded", rows = *rows),
            Milestone::Loaded { rows, took, rate } => {
                let rate = self.numbers().fixed(rate.0, 0);
                say!(self, "live-loaded", rows = *rows, time = self.tenths(*took), rate)
            }
            Milestone::DataReused { bytes, took } => {
                say!(self, "live-data-reused", size = self.bytes(*bytes as f64), time = self.tenths(*took))
            }
            Milestone::DataStored { bytes, took } => {
                say!(self, "live-data-stored", size = self.bytes(*bytes as f64), time = self.tenths(*took))
            }
            Milestone::SourceRead { address, database, at, bytes } => {
                say!(self, "live-source-read", address, database, at, size = self.bytes(*bytes as f64))
            }
            Milestone::Sampled { table, kept, total } => {
                let share = *kept as f64 / (*total).max(1) as f64;
                let percent = self.numbers().fixed(share * 100.0, 1);
                say!(self, "live-sampled", table, kept = *kept, total = *total, percent)
            }
            Milestone::CacheNotCold => say!(self, "live-cache-not-cold"),
            Milestone::StaleDirectory(stale) => self.stale_directory(stale),
        }
    }

    fn stale_directory(&self, stale: &StaleRunDirectory) -> String {
        let directory = stale.directory.display().to_string();
        let reason = match &stale.retained {
            None => return say!(self, "live-directory-removed", directory),
            Some(RetainReason::InUse { pid, program }) => {
                say!(self, "live-in-use", pid = pid.to_string(), program)
            }
            Some(RetainReason::NotInspectable { pid, program }) => {
                say!(self, "live-not-inspectable", pid = pid.to_string(), program)
            }
            Some(RetainReason::MountOrSocket(path)) => {
                say!(self, "live-mount-or-socket", path = path.display().to_string())
            }
            Some(RetainReason::ControlGroups) => say!(self, "live-control-groups"),
            Some(RetainReason::System(reason)) => reason.clone(),
        };
        say!(self, "live-directory-retained", directory, reason)
    }

    /// Result of a trial. It follows the trial's position and cell in the line.
    pub fn trial_finished(&self, trial: &FinishedTrial) -> String {
        // Omit the reason for a search step, because the step's outcome already contains it.
        let with_reason = !matches!(trial.end, TrialEnd::NotCounted(_));
        let interrupted = trial.figures.as_ref().map(|figures| self.trial_figures(figures, with_reason));
        let figures = interrupted.clone().unwrap_or_default();
        match &trial.end {
            TrialEnd::Complete => figures,
            TrialEnd::Held => say!(self, "live-held", figures),
            TrialEnd::TooMuch(reason) => say!(self, "live-too-much", figures, reason),
            TrialEnd::NotCounted(reason) => {
                say!(self, "live-not-counted", figures, reason = Some(reason).filter(|text| !text.is_empty()))
            }
            TrialEnd::Stopped { rule, second } => {
                say!(self, "live-stopped", figures, rule, second = *second)
            }
            TrialEnd::Interrupted => say!(self, "live-interrupted", figures = interrupted),
            TrialEnd::Skipped(reason) => say!(self, "live-skipped", reason),
            TrialEnd::Failed(reason) => say!(self, "live-failed-trial", reason),
        }
    }

    /// Figures of a trial. With `with_reason`, they include the reason why the trial is invalid.
    fn trial_figures(&self, figures: &TrialFigures, with_reason: bool) -> String {
        let p99 = |time| format!("p99 {}", self.live_time(time));
        let invalid = |reason| format!("{}: {}", say!(self, "bench-invalid"), self.reason(reason));
        let mut parts = vec![self.live_rate(figures.rate)];
        parts.extend(figures.p99.map(p99));
        parts.extend((figures.failed > 0).then(|| say!(self, "live-failed", count = figures.failed)));
        parts.extend(figures.doubts.iter().map(|doubt| self.doubt(doubt, 0)));
        parts.extend(figures.invalid.as_ref().filter(|_| with_reason).map(invalid));
        parts.join(", ")
    }

    pub fn live_rate(&self, rate: PerSecond) -> String {
        say!(self, "live-rate", rate = self.numbers().fixed(rate.0, 0))
    }

    pub fn live_time(&self, time: Nanos) -> String {
        let (numbers, millis) = (self.numbers(), time.as_millis_f64());
        format!("{}{}{}", numbers.fixed(millis, decimals(millis)), numbers.gap, numbers.millis)
    }

    /// Describes the counts of a second.
    pub fn live_counts(&self, second: &LiveSecond) -> String {
        let parts = [
            Some(say!(self, "live-failed", count = second.failed)),
            (second.dropped > 0).then(|| say!(self, "live-dropped", count = second.dropped)),
            (second.refused > 0).then(|| say!(self, "live-refused", count = second.refused)),
            Some(say!(self, "live-in-flight", count = second.in_flight)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub fn live_pool(&self, pool: &PoolState) -> String {
        let rounded = |count: f64| self.numbers().fixed(count, 0);
        let waiting = pool.waiting.map(|count| say!(self, "live-waiting", count = rounded(count)));
        let busy = pool.busy.map(|count| say!(self, "live-servers-busy", count = rounded(count)));
        let parts: Vec<String> = waiting.into_iter().chain(busy).collect();
        format!("{}: {}", pool.node, parts.join(", "))
    }

    /// Describes the CPU usage of a node, and its quota in CPUs.
    pub fn live_used(&self, node: &NodeCpu, quota: Option<f64>) -> String {
        let numbers = self.numbers();
        let (used, quota) = (numbers.fixed(node.processors, 2), quota.map(|cpus| numbers.plain(cpus)));
        say!(self, "live-cpu-used", node = &node.node, used, quota)
    }

    pub fn live_left(&self, duration: Nanos) -> String {
        say!(self, "live-left", duration = self.whole_seconds(duration))
    }

    pub fn live_search_left(&self, duration: Nanos) -> String {
        say!(self, "live-search-left", duration = self.whole_seconds(duration))
    }

    /// Number of the trial in a search, from 1, and the levels between which the maximum lies according to the trials
    /// so far.
    pub fn live_step(&self, number: usize, bracket: Option<&SearchBracket>) -> String {
        let plain = |level: f64| self.numbers().three(level);
        let with_unit = |scale: LoadScale, level: f64| self.at_level("", scale, level);
        match bracket.map(|bracket| (bracket.scale, bracket.sustained, bracket.failed)) {
            Some((scale, Some(low), Some(high))) => {
                say!(self, "live-step-between", number, low = plain(low), high = with_unit(scale, high))
            }
            Some((scale, Some(low), None)) => {
                say!(self, "live-step-above", number, level = with_unit(scale, low))
            }
            Some((scale, None, Some(high))) => {
                say!(self, "live-step-below", number, level = with_unit(scale, high))
            }
            Some((_, None, None)) | None => say!(self, "live-step", number),
        }
    }

    /// Names a cell and its level, in arrivals per second or clients.
    pub fn at_level(&self, cell: &str, scale: LoadScale, level: f64) -> String {
        let level = match scale {
            LoadScale::Rate => say!(self, "live-level-rate", rate = self.numbers().three(level)),
            LoadScale::Clients => say!(self, "live-level-clients", count = level.round() as u64),
        };
        if cell.is_empty() { level } else { format!("{cell}, {level}") }
    }

    /// Number of log lines that were dropped because they were not read in time.
    pub fn live_lost(&self, count: u64) -> String {
        say!(self, "live-lines-lost", count)
    }

    /// Formats a duration in whole seconds, rounded down.
    pub(crate) fn whole_seconds(&self, duration: Nanos) -> String {
        self.span(Nanos::from_secs(duration.0 / 1_000_000_000))
    }

    /// Formats seconds with one decimal.
    fn tenths(&self, duration: Nanos) -> String {
        let numbers = self.numbers();
        format!("{}{}{}", numbers.fixed(duration.as_secs_f64(), 1), numbers.gap, numbers.seconds)
    }
}

/// Number of decimals with which a value in milliseconds has about three significant digits.
fn decimals(value: f64) -> usize {
    match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    }
}
