//! What is seen on the terminal while a run goes on?

use super::Ended;
use super::lab::News;
use super::trial::Done;
use experiment::Plan;
use model::plan::Cell;
use model::{Nanos, Tick};
use stack::chain::Step;
use stack::dataset::Stage;
use stack::restore::Warmth;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use store::Status;

/// Standard error: one line that changes where it is a terminal, one line per trial where it is not.
#[derive(Debug)]
pub struct Show {
    terminal: bool,
    trials: usize,
    seed: u64,
    /// By cell: its name, and how long one trial of it lasts under load.
    cells: Vec<(String, Nanos)>,
    /// Under load, of trials still to come after the one that runs.
    ahead: Duration,
    begun: Instant,
    /// What setting up and ending has taken so far, and how often.
    overhead: (Duration, u32),
    trial: Option<Trial>,
    told: Instant,
}

#[derive(Debug)]
struct Trial {
    position: usize,
    cell: usize,
    begun: Instant,
    figures: String,
}

impl Show {
    pub fn new(plan: &Plan) -> Show {
        let experiment = &plan.experiment;
        let names = experiment.cells.iter().map(name);
        let cells: Vec<(String, Nanos)> = names.zip(plan.lasting.iter().copied()).collect();
        let once: u64 = plan.lasting.iter().map(|it| it.0).sum();
        Show {
            terminal: std::io::stderr().is_terminal(),
            trials: cells.len() * experiment.repeat as usize,
            seed: experiment.seed,
            cells,
            ahead: Duration::from_nanos(once * u64::from(experiment.repeat)),
            begun: Instant::now(),
            overhead: (Duration::ZERO, 0),
            trial: None,
            told: Instant::now(),
        }
    }

    pub fn begins(&self) {
        let (trials, cells, seed) = (self.trials, self.cells.len(), self.seed);
        eprintln!(
            "{trials} trials of {cells} cells in the order of seed {seed}; about {} under load",
            span(self.ahead)
        );
    }

    pub fn remark(&self, it: &str) {
        eprintln!("note: {it}");
    }

    pub fn trial(&mut self, position: usize, cell: usize) {
        self.ahead = self.ahead.saturating_sub(self.cells[cell].1.into());
        self.trial = Some(Trial { position, cell, begun: Instant::now(), figures: String::new() });
        self.line("setting up");
    }

    /// What takes long enough to be told.
    pub fn news(&mut self, it: &News<'_>) {
        match it {
            News::Chain(Step::Fetching(major)) => self.line(&format!("fetching PostgreSQL {major}")),
            News::Chain(Step::Starting(node)) => self.line(&format!("starting {}", node.name)),
            News::Chain(_) => {}
            News::Loading(Stage::Rows(sent), rows) => {
                if self.told.elapsed() > Duration::from_millis(200) {
                    self.line(&format!("loading: {sent} of {rows} rows"));
                }
            }
            News::Loading(Stage::Dropping, _) => self.line("dropping what was loaded before"),
            News::Loading(Stage::Keys, _) => self.line("building keys"),
            News::Loading(Stage::Statistics, _) => self.line("taking statistics"),
            News::Loaded(it) if it.reused => self.whole(&format!("{} rows are there already", it.rows)),
            News::Loaded(it) => {
                let (rows, took, rate) = (it.rows, it.took.as_secs_f64(), it.rows_per_second);
                self.whole(&format!("{rows} rows loaded in {took:.1} s, {rate:.0} per second"));
            }
            News::Restored(it) => {
                self.line(&format!("the data is as it was after {:.1} s", it.took.as_secs_f64()));
            }
            News::Warmed(Warmth::NotCold) => {
                self.whole("the caches stay warm: neither the server nor its files are ours");
            }
            News::Warmed(_) => self.line("the caches are ready"),
        }
    }

    pub fn tick(&mut self, tick: &Tick) {
        let progress = analysis::progress(&tick.interval, Nanos::ZERO);
        let p99 = progress.p99.map_or(String::new(), |it| format!(", p99 {:.1} ms", it.as_millis_f64()));
        let failed =
            if progress.failed > 0 { format!(", {} failed", progress.failed) } else { String::new() };
        let of = self.trial.as_ref().map_or(Nanos::ZERO, |it| self.cells[it.cell].1);
        let (second, of) = (tick.second + 1, of.as_secs_f64());
        self.line(&format!("{second} of {of:.0} s: {:.0} tps{p99}{failed}", progress.tps.0));
    }

    pub fn measured(&mut self, done: &Done) {
        let total = &done.summary.total;
        let p99 =
            total.response.p99.map_or(String::new(), |it| format!(", p99 {:.2} ms", it.as_millis_f64()));
        let bad = total.counts.failed + total.counts.unknown;
        let bad = if bad > 0 { format!(", {bad} failed") } else { String::new() };
        let valid = if done.summary.validity.valid { "" } else { ", INVALID" };
        if let Some(trial) = &mut self.trial {
            trial.figures = format!("{:.0} tps{p99}{bad}{valid}", total.tps.0);
        }
    }

    pub fn ended(&mut self, it: &Ended) {
        let Some(trial) = self.trial.take() else { return };
        let lasting: Duration = self.cells[trial.cell].1.into();
        let reason = it.reason.as_deref().unwrap_or_default();
        let what = match it.status {
            Status::Complete => trial.figures,
            Status::Stopped => format!("{}, stopped by a rule", trial.figures),
            Status::Interrupted if trial.figures.is_empty() => "interrupted before it began".to_owned(),
            Status::Interrupted => format!("{}, interrupted", trial.figures),
            Status::Skipped => format!("skipped: {reason}"),
            Status::Failed => format!("failed: {reason}"),
        };
        if it.status == Status::Complete {
            self.overhead.0 += trial.begun.elapsed().saturating_sub(lasting);
            self.overhead.1 += 1;
        }
        let (of, name) = (self.trials, &self.cells[trial.cell].0);
        self.whole(&format!("{:>width$}/{of}  {name}: {what}", trial.position + 1, width = digits(of)));
    }

    pub fn ends(&self, path: &Path, trouble: Option<&str>) {
        if let Some(trouble) = trouble {
            self.whole(&format!("the run was broken off: {trouble}"));
        }
        self.whole(&format!("{} after {}", path.display(), span(self.begun.elapsed())));
    }

    /// What is left, as far as can be known: the load of all trials, and what setting up has taken on average.
    fn left(&self) -> Duration {
        let Some(trial) = &self.trial else { return Duration::ZERO };
        let lasting: Duration = self.cells[trial.cell].1.into();
        let (overhead, count) = self.overhead;
        let each = overhead.checked_div(count).unwrap_or_default();
        let after = (self.trials - trial.position - 1) as u32;
        let this = (lasting + each).saturating_sub(trial.begun.elapsed());
        this + self.ahead + each * after
    }

    /// The line that changes.
    fn line(&mut self, what: &str) {
        self.told = Instant::now();
        let Some(trial) = self.trial.as_ref().filter(|_| self.terminal) else { return };
        let (position, of, name) = (trial.position + 1, self.trials, &self.cells[trial.cell].0);
        let left = span(self.left());
        let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |it| usize::from(it.ws_col));
        let line = format!("{position:>width$}/{of}  {name}: {what}; about {left} left", width = digits(of));
        let line: String = line.chars().take(width.max(20) - 1).collect();
        eprint!("\r\x1b[K{line}");
        let _ = std::io::stderr().flush();
    }

    /// A line that stays.
    fn whole(&self, what: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        eprintln!("{clear}{what}");
    }
}

/// `transaction, 125`.
fn name(cell: &Cell) -> String {
    let values: Vec<&str> = cell.label.iter().map(|it| it.1.as_str()).collect();
    if values.is_empty() { "the one cell".to_owned() } else { values.join(", ") }
}

fn digits(of: usize) -> usize {
    of.to_string().len()
}

/// `2 h 5 min`, `3 min 20 s`, `12 s`.
fn span(it: Duration) -> String {
    let seconds = it.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
