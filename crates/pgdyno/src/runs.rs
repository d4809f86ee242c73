//! `pgdyno runs`: lists, shows and removes stored runs

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::replay;
use crate::run_report::RunReport;
use crate::terminal;
use clap::{Parser, Subcommand};
use report::lang::Lang;
use report::terminal::sanitise_line;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Run, RunEntry, State, TrialRecord};

/// Lists, shows and removes the runs that `pgdyno run` has kept; without a command it lists them, the newest first.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno runs")]
struct Args {
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, global = true)]
    dir: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// List all runs, the newest first
    List,
    /// Show what a run measured, and what follows from it
    Show {
        /// A path, a name or its beginning, or `last`
        run: String,
        /// Show also how each trial ended, and what was noted meanwhile
        #[arg(long)]
        trials: bool,
        /// Print all of it as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        language: LanguageArgs,
    },
    /// Tell when other stop rules would have ended its trials
    Stop {
        /// A path, a name or its beginning, or `last`
        run: String,
        /// Such as 'net(xx,25,10)'
        #[arg(required = true)]
        rules: Vec<String>,
    },
    /// Delete a run's file, without asking
    Remove {
        /// The whole name, as in the list
        name: String,
    },
}

/// Default directory of runs.
pub const DIRECTORY: &str = "runs";

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno runs");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let text = match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list(&args.dir),
        Command::Show { run, json: true, .. } => match data(&args.dir, run) {
            Ok(json) => {
                terminal::json(&json);
                return ExitCode::SUCCESS;
            }
            Err(error) => Err(error),
        },
        Command::Show { run, trials, json: false, language: spoken } => match spoken.lang() {
            Ok(lang) => show(&args.dir, run, *trials, lang),
            Err(trouble) => return print_error(&trouble),
        },
        Command::Stop { run, rules } => return replay_rules(&args.dir, run, rules),
        Command::Remove { name } => {
            store::remove(&args.dir, name).map(|path| format!("removed {}\n", path.display()))
        }
    };
    match text {
        Ok(text) => {
            terminal::text(&text);
            ExitCode::SUCCESS
        }
        Err(error) => print_error(&CommandError::new(error.to_string())),
    }
}

fn replay_rules(dir: &Path, run: &str, rules: &[String]) -> ExitCode {
    let path = store::find(dir, run).map_err(|it| CommandError::new(it.to_string()));
    let text = path.and_then(|it| replay::render(&it, rules));
    match text {
        Ok(text) => {
            terminal::text(&text);
            ExitCode::SUCCESS
        }
        Err(trouble) => print_error(&trouble),
    }
}

fn print_error(trouble: &CommandError) -> ExitCode {
    trouble.print(&terminal());
    ExitCode::FAILURE
}

fn terminal() -> Terminal {
    Terminal { program: "pgdyno runs".to_owned() }
}

fn list(dir: &Path) -> store::Result<String> {
    let all = store::list(dir)?;
    if all.is_empty() {
        return Ok(format!("no runs in {}\n", dir.display()));
    }
    let mut rows = vec![["NAME", "WHEN (UTC)", "CELLS", "TRIALS", "STATUS", "SIZE"].map(str::to_owned)];
    rows.extend(all.iter().map(row));
    for it in all.iter().filter_map(|it| it.overview.as_ref().err()) {
        terminal().warning(&it.to_string());
    }
    Ok(table(&rows, &[2, 3, 5]))
}

fn row(it: &RunEntry) -> [String; 6] {
    let size = format_size(it.bytes);
    match &it.overview {
        Ok(content) => [
            sanitise_line(&it.name),
            format_time(content.header.begun_ms),
            content.cells.to_string(),
            content.trials.to_string(),
            state(&content.state).to_owned(),
            size,
        ],
        Err(error) => {
            let why = match error.cause {
                store::ErrorCause::Empty => "empty",
                store::ErrorCause::NotRunFile => "not a run",
                store::ErrorCause::NewerVersion { .. } => "of a later pgdyno",
                _ => "unreadable",
            };
            [sanitise_line(&it.name), String::new(), String::new(), String::new(), why.to_owned(), size]
        }
    }
}

fn show(dir: &Path, run: &str, with_trials: bool, lang: &Lang) -> store::Result<String> {
    let path = store::find(dir, run)?;
    let run = Run::open(&path)?;
    let header = run.header()?;
    let how = run.state()?;
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:<11}{}", sanitise_line(value));
    };
    line("run", &header.name);
    line("file", &path.display().to_string());
    line("begun", &format!("{} UTC", format_time(header.begun_ms)));
    line("status", state(&how));
    if let State::Ended(it) = &how {
        line("ended", &format!("{} UTC", format_time(it.ended_ms)));
        if let Some(reason) = &it.reason {
            line("reason", reason);
        }
    }
    line("seed", &header.seed.to_string());
    let versions = header.versions.iter().map(|(name, version)| format!(", {name} {version}"));
    line("versions", &format!("pgdyno {}{}", header.pgdyno_version, versions.collect::<String>()));
    match RunReport::from_file(&path) {
        Ok(it) => {
            text.push('\n');
            text += &it.text(lang);
        }
        // The rest of the file is worth showing without the figures.
        Err(trouble) => line("figures", &format!("none can be shown: {}", trouble.message)),
    }
    if with_trials {
        text += &trials(&run)?;
    }
    Ok(text)
}

/// End and notes of each trial.
fn trials(run: &Run) -> store::Result<String> {
    let trials = run.trials()?;
    let mut text = String::new();
    if !trials.is_empty() {
        let mut rows =
            vec![["TRIAL", "CELL", "REPEAT", "STATUS", "VALID", "SECONDS", "SETTING"].map(str::to_owned)];
        rows.extend(trials.iter().map(trial));
        text += "\n";
        text += &table(&rows, &[0, 1, 2, 5]);
    }
    let reasons = trials.iter().filter_map(|it| match &it.state {
        State::Ended(end) => end.reason.as_ref().map(|why| (it.id.0, why)),
        _ => None,
    });
    for (id, why) in reasons {
        let _ = writeln!(text, "trial {id}: {}", sanitise_line(why));
    }
    for it in run.notes()? {
        let whose = it.trial.map_or_else(String::new, |it| format!("trial {}: ", it.0));
        let _ = writeln!(text, "note: {whose}{}: {}", sanitise_line(&it.subject), sanitise_line(&it.text));
    }
    Ok(text)
}

/// JSON of a run, its matrix and its findings. Matrix and findings are `null` if they cannot be computed.
fn data(dir: &Path, run: &str) -> store::Result<String> {
    let path = store::find(dir, run)?;
    let run = Run::open(&path)?;
    let header = run.header()?;
    let how = run.state()?;
    let (ended_ms, reason) = match &how {
        State::Ended(it) => (Some(it.ended_ms), it.reason.as_deref()),
        _ => (None, None),
    };
    let mut all = RunReport::from_file(&path)
        .map_or_else(|_| json!({ "matrix": null, "findings": null }), |it| it.json());
    all["run"] = json!({
        "name": header.name, "file": path, "begun_ms": header.begun_ms, "status": state(&how), "ended_ms": ended_ms,
        "reason": reason, "seed": header.seed, "program": header.pgdyno_version, "versions": header.versions,
        "machine": header.machine,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&all).expect("strings as keys only")))
}

fn trial(it: &TrialRecord) -> [String; 7] {
    let label = it.trial.label.iter().map(|(axis, value)| format!("{axis}={value}"));
    let lasted = match &it.state {
        State::Ended(end) => (end.ended_ms.saturating_sub(it.trial.begun_ms) / 1000).to_string(),
        _ => String::new(),
    };
    [
        it.id.0.to_string(),
        (it.trial.cell + 1).to_string(),
        (it.trial.repetition + 1).to_string(),
        state(&it.state).to_owned(),
        it.valid.map_or("", |it| if it { "yes" } else { "no" }).to_owned(),
        lasted,
        sanitise_line(&label.collect::<Vec<_>>().join(" ")),
    ]
}

/// State of a run or trial, in one word.
pub fn state(it: &State) -> &'static str {
    it.status().map_or("running", store::RunStatus::name)
}

/// Table whose columns are as wide as necessary, separated by two blanks. Columns in `right` are right-aligned.
fn table<const N: usize>(rows: &[[String; N]], right: &[usize]) -> String {
    let widths: Vec<usize> =
        (0..N).map(|i| rows.iter().map(|it| it[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(i, cell)| match right.contains(&i) {
            true => format!("{cell:>width$}", width = widths[i]),
            false => format!("{cell:<width$}", width = widths[i]),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text += "\n";
    }
    text
}

/// UTC time such as `2026-11-21 11:53:31`.
pub fn format_time(unix_ms: u64) -> String {
    let it = store::format_utc(unix_ms);
    // Years beyond 9999 have more digits.
    let (day, time) = it.split_once('T').expect("date and time have a T between");
    let (year, rest) = day.split_at(day.len() - 4);
    format!("{year}-{}-{} {}:{}:{}", &rest[..2], &rest[2..], &time[..2], &time[2..4], &time[4..6])
}

pub fn format_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_times_and_sizes() {
        for (ms, text) in [(0, "1970-01-01 00:00:00"), (1_795_262_011_000, "2026-11-21 11:53:31")] {
            assert_eq!(format_time(ms), text);
        }
        assert!(!format_time(u64::MAX).is_empty());
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB")] {
            assert_eq!(format_size(bytes), text);
        }
    }

    #[test]
    fn aligns_columns() {
        let rows = [["NAME", "N"], ["Жук", "10"], ["a", "7"]].map(|it| it.map(str::to_owned));
        assert_eq!(table(&rows, &[1]), "NAME   N\nЖук   10\na      7\n");
    }
}
