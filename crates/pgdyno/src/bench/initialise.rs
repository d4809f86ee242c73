//! `pgdyno bench -i`: how is the making of pgbench's tables shown?

use super::options::Initialise;
use super::prepare::words;
use crate::terminal;
use crate::voice::Trouble;
use model::summary;
use stack::ask::Connection;
use stack::dataset::pgbench::{PartitionMethod, Pgbench, Progress, Step};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Makes the tables, and tells what it does in pgbench's words.
pub fn run(wanted: &Initialise, connection: &mut Connection) -> Result<(), Trouble> {
    let tables = Pgbench {
        scale: wanted.scale,
        fill_factor: wanted.fill_factor,
        partitions: wanted.partitions.map(|(method, count)| match method {
            summary::PartitionMethod::Range => (PartitionMethod::Range, count),
            summary::PartitionMethod::Hash => (PartitionMethod::Hash, count),
        }),
        unlogged: wanted.unlogged,
        tablespace: wanted.tablespace.clone(),
        index_tablespace: wanted.index_tablespace.clone(),
    };
    let steps: Vec<Step> = wanted.steps.iter().filter_map(|&it| Step::from_letter(it)).collect();
    let mut show = Show::new(wanted.quiet);
    tables.initialise(connection, &steps, &mut |it| show.tell(it)).map_err(|it| Trouble::new(words(&it)))?;
    show.done();
    Ok(())
}

/// With `-q`, between two lines of progress.
const QUIET: Duration = Duration::from_secs(5);

/// What was shown so far, and since when.
#[derive(Debug)]
struct Show {
    quiet: bool,
    terminal: bool,
    step: Instant,
    sending: Instant,
    shown: Instant,
    /// Columns of the last line of progress.
    columns: usize,
    steps: Vec<(Step, Duration)>,
}

impl Show {
    fn new(quiet: bool) -> Show {
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        Show { quiet, terminal, step: now, sending: now, shown: now, columns: 0, steps: Vec::new() }
    }

    fn tell(&mut self, it: Progress<'_>) {
        match it {
            Progress::Begun(step) => {
                self.step = Instant::now();
                errln!("{}...", begins(step));
            }
            Progress::Partitions(count) => errln!("creating {count} partitions..."),
            Progress::Sending => (self.sending, self.shown) = (Instant::now(), Instant::now()),
            Progress::Sent(rows, total) => self.sent(rows, total),
            Progress::Ended(step) => self.steps.push((step, self.step.elapsed())),
            Progress::Notice(words) => errln!("{words}"),
        }
    }

    fn sent(&mut self, rows: u64, total: u64) {
        if self.quiet && rows < total && self.shown.elapsed() < QUIET {
            return;
        }
        self.shown = Instant::now();
        let line = sent(rows, total, self.sending.elapsed());
        // On a terminal, all lines stand in one place; blanks overwrite a longer one.
        let blanks = " ".repeat(self.columns.saturating_sub(line.len()));
        self.columns = line.len();
        let end = if self.terminal && rows < total { "\r" } else { "\n" };
        terminal::replaced("", &format!("{line}{blanks}"), end);
    }

    fn done(&self) {
        let all: Duration = self.steps.iter().map(|(_, took)| *took).sum();
        let each: Vec<String> = self
            .steps
            .iter()
            .map(|(step, took)| format!("{} {:.2} s", name(*step), took.as_secs_f64()))
            .collect();
        errln!("done in {:.2} s ({}).", all.as_secs_f64(), each.join(", "));
    }
}

fn sent(rows: u64, total: u64, elapsed: Duration) -> String {
    let elapsed = elapsed.as_secs_f64();
    let remaining = (total - rows) as f64 * elapsed / rows as f64;
    format!(
        "{rows} of {total} tuples ({}%) done (elapsed {elapsed:.2} s, remaining {remaining:.2} s)",
        rows * 100 / total
    )
}

fn begins(step: Step) -> &'static str {
    match step {
        Step::DropTables => "dropping old tables",
        Step::CreateTables => "creating tables",
        Step::GenerateClientSide => "generating data (client-side)",
        Step::GenerateServerSide => "generating data (server-side)",
        Step::Vacuum => "vacuuming",
        Step::PrimaryKeys => "creating primary keys",
        Step::ForeignKeys => "creating foreign keys",
    }
}

/// In the last line.
fn name(step: Step) -> &'static str {
    match step {
        Step::DropTables => "drop tables",
        Step::CreateTables => "create tables",
        Step::GenerateClientSide => "client-side generate",
        Step::GenerateServerSide => "server-side generate",
        Step::Vacuum => "vacuum",
        Step::PrimaryKeys => "primary keys",
        Step::ForeignKeys => "foreign keys",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_progress() {
        let line = sent(100_000, 400_000, Duration::from_millis(500));
        assert_eq!(line, "100000 of 400000 tuples (25%) done (elapsed 0.50 s, remaining 1.50 s)");
    }
}
