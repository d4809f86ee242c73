//! Progress output of `pgdyno bench -i`

use super::options::InitOptions;
use super::prepare::libpq_text;
use crate::cli::CommandError;
use crate::terminal;
use model::summary;
use stack::client::Connection;
use stack::dataset::pgbench::{InitProgress, InitStep, PartitionMethod, Pgbench};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Creates the tables and prints progress in pgbench's words.
pub fn run(options: &InitOptions, connection: &mut Connection) -> Result<(), CommandError> {
    let tables = Pgbench {
        scale: options.scale,
        fill_factor: options.fill_factor,
        partitions: options.partitions.map(|(method, count)| match method {
            summary::PartitionMethod::Range => (PartitionMethod::Range, count),
            summary::PartitionMethod::Hash => (PartitionMethod::Hash, count),
        }),
        unlogged: options.unlogged,
        tablespace: options.tablespace.clone(),
        index_tablespace: options.index_tablespace.clone(),
    };
    let steps: Vec<InitStep> = options.steps.iter().filter_map(|&it| InitStep::from_letter(it)).collect();
    let mut show = InitDisplay::new(options.quiet);
    tables
        .initialise(connection, &steps, &mut |it| show.print(it))
        .map_err(|it| CommandError::new(libpq_text(&it)))?;
    show.print_summary();
    Ok(())
}

/// Interval of progress lines with `-q`.
const QUIET_INTERVAL: Duration = Duration::from_secs(5);

/// State of the progress output.
#[derive(Debug)]
struct InitDisplay {
    quiet: bool,
    terminal: bool,
    step_started: Instant,
    sending_started: Instant,
    last_shown: Instant,
    /// Width of the last progress line.
    columns: usize,
    steps: Vec<(InitStep, Duration)>,
}

impl InitDisplay {
    fn new(quiet: bool) -> InitDisplay {
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        InitDisplay {
            quiet,
            terminal,
            step_started: now,
            sending_started: now,
            last_shown: now,
            columns: 0,
            steps: Vec::new(),
        }
    }

    fn print(&mut self, progress: InitProgress<'_>) {
        match progress {
            InitProgress::StepStarted(step) => {
                self.step_started = Instant::now();
                errln!("{}...", start_text(step));
            }
            InitProgress::Partitions(count) => errln!("creating {count} partitions..."),
            InitProgress::Sending => {
                (self.sending_started, self.last_shown) = (Instant::now(), Instant::now());
            }
            InitProgress::Sent(rows, total) => self.print_rows(rows, total),
            InitProgress::StepFinished(step) => self.steps.push((step, self.step_started.elapsed())),
            InitProgress::Notice(words) => errln!("{words}"),
        }
    }

    fn print_rows(&mut self, rows: u64, total: u64) {
        if self.quiet && rows < total && self.last_shown.elapsed() < QUIET_INTERVAL {
            return;
        }
        self.last_shown = Instant::now();
        let line = rows_line(rows, total, self.sending_started.elapsed());
        // On a terminal, each line replaces the previous line. If the previous line was longer, blanks clear its rest.
        let blanks = " ".repeat(self.columns.saturating_sub(line.len()));
        self.columns = line.len();
        let end = if self.terminal && rows < total { "\r" } else { "\n" };
        terminal::overwrite_line("", &format!("{line}{blanks}"), end);
    }

    fn print_summary(&self) {
        let all: Duration = self.steps.iter().map(|(_, took)| *took).sum();
        let each: Vec<String> = self
            .steps
            .iter()
            .map(|(step, took)| format!("{} {:.2} s", step_name(*step), took.as_secs_f64()))
            .collect();
        errln!("done in {:.2} s ({}).", all.as_secs_f64(), each.join(", "));
    }
}

fn rows_line(rows: u64, total: u64, elapsed: Duration) -> String {
    let elapsed = elapsed.as_secs_f64();
    let remaining = (total - rows) as f64 * elapsed / rows as f64;
    format!(
        "{rows} of {total} tuples ({}%) done (elapsed {elapsed:.2} s, remaining {remaining:.2} s)",
        rows * 100 / total
    )
}

fn start_text(step: InitStep) -> &'static str {
    match step {
        InitStep::DropTables => "dropping old tables",
        InitStep::CreateTables => "creating tables",
        InitStep::GenerateClientSide => "generating data (client-side)",
        InitStep::GenerateServerSide => "generating data (server-side)",
        InitStep::Vacuum => "vacuuming",
        InitStep::PrimaryKeys => "creating primary keys",
        InitStep::ForeignKeys => "creating foreign keys",
    }
}

/// Name of a step in the last line.
fn step_name(step: InitStep) -> &'static str {
    match step {
        InitStep::DropTables => "drop tables",
        InitStep::CreateTables => "create tables",
        InitStep::GenerateClientSide => "client-side generate",
        InitStep::GenerateServerSide => "server-side generate",
        InitStep::Vacuum => "vacuum",
        InitStep::PrimaryKeys => "primary keys",
        InitStep::ForeignKeys => "foreign keys",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_progress_lines() {
        let line = rows_line(100_000, 400_000, Duration::from_millis(500));
        assert_eq!(line, "100000 of 400000 tuples (25%) done (elapsed 0.50 s, remaining 1.50 s)");
    }
}
