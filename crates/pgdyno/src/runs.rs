//! `pgdyno runs`: lists, shows and removes stored runs

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::replay;
use crate::run_name::{self, DIRECTORY};
use crate::run_report::RunReport;
use crate::run_result::stored::stored_reason;
use crate::terminal;
use clap::{Parser, Subcommand};
use model::comparison::Metric;
use model::fact::Fact;
use model::run_result::TrialResult;
use model::validity::Verdict;
use report::json_document::{RunDocument, RunFile, to_json};
use report::lang::Lang;
use report::say;
use report::terminal::sanitise_line;
use std::fmt::Write as _;
use std::io::stdout;
use std::path::{Path, PathBuf};
use store::{FactRecord, Run, RunEntry, RunHeader, RunOutcome, RunStatus, State, TrialId, TrialRecord};

/// List, show and remove stored runs; without a command, list them
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno runs")]
pub struct Args {
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, global = true)]
    dir: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// List all runs, newest first
    List,
    /// Show the results and findings of a run
    Show {
        #[arg(help = run_name::HELP)]
        run: String,
        /// Also show the figures, the end and the notes of each trial
        #[arg(long)]
        trials: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show when other stop rules would have ended the trials of a run
    Stop {
        #[arg(help = run_name::HELP)]
        run: String,
        /// Stop rule, such as 'net(xx,25,10)'
        #[arg(required = true)]
        rules: Vec<String>,
    },
    /// Delete the file of a run, without confirmation
    Remove {
        /// Whole name, as listed
        name: String,
    },
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno runs", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let text = match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list(&args.dir, terminal, lang)?,
        Command::Show { run, json: true, .. } => {
            terminal::json(&data(&find(args, run, terminal, lang)?)?);
            return Ok(ExitStatus::Success);
        }
        Command::Show { run, trials, json: false } => show(&find(args, run, terminal, lang)?, *trials, lang)?,
        Command::Stop { run, rules } => replay::render(&find(args, run, terminal, lang)?, rules, lang)?,
        Command::Remove { name } => {
            let path = store::remove(&args.dir, name)?;
            say!(lang, "runs-removed", path = path.display().to_string()) + "\n"
        }
    };
    terminal::text(&text);
    Ok(ExitStatus::Success)
}

fn find(args: &Args, run: &str, terminal: &Terminal, lang: &Lang) -> Result<PathBuf, CommandError> {
    run_name::find(&args.dir, run, terminal, lang)
}

fn list(dir: &Path, terminal: &Terminal, lang: &Lang) -> Result<String, CommandError> {
    let all = store::list(dir)?;
    if all.is_empty() {
        return Ok(say!(lang, "runs-none", directory = dir.display().to_string()) + "\n");
    }
    let mut rows = vec![[
        say!(lang, "runs-column-name"),
        say!(lang, "runs-column-time"),
        say!(lang, "runs-column-cells"),
        say!(lang, "runs-column-trials"),
        say!(lang, "runs-column-status"),
        say!(lang, "runs-column-size"),
    ]];
    rows.extend(all.iter().map(|entry| row(entry, lang)));
    for error in all.iter().filter_map(|entry| entry.overview.as_ref().err()) {
        terminal.warning(&lang.error(error));
    }
    Ok(table(&rows, &[2, 3, 5], &[5, 2, 1], width()))
}

/// Width of the output, in columns.
fn width() -> usize {
    terminal::columns(&stdout()).unwrap_or(usize::MAX)
}

fn row(entry: &RunEntry, lang: &Lang) -> [String; 6] {
    let size = format_size(entry.bytes, lang);
    match &entry.overview {
        Ok(content) => [
            sanitise_line(&entry.name),
            format_minute(content.header.begun_ms),
            content.cells.to_string(),
            content.trials.to_string(),
            state_text(&content.state, lang),
            size,
        ],
        Err(error) => {
            let status = match error.cause {
                store::ErrorCause::Empty => say!(lang, "runs-empty"),
                store::ErrorCause::NotRunFile => say!(lang, "runs-no-run"),
                store::ErrorCause::NewerVersion { .. } => say!(lang, "runs-newer"),
                _ => say!(lang, "runs-unreadable"),
            };
            [sanitise_line(&entry.name), String::new(), String::new(), String::new(), status, size]
        }
    }
}

/// Width of a label in columns, including the blank after it.
const LABEL: usize = 11;

fn show(path: &Path, with_trials: bool, lang: &Lang) -> Result<String, CommandError> {
    let run = Run::open(path)?;
    let header = run.header()?;
    let state = run.state()?;
    let mut text = String::new();
    let mut line = |label: String, value: &str| {
        let _ = writeln!(text, "{label:<LABEL$}{}", sanitise_line(value));
    };
    line(say!(lang, "runs-name"), &header.name);
    line(say!(lang, "runs-file"), &path.display().to_string());
    line(say!(lang, "runs-started"), &format!("{} UTC", format_time(header.begun_ms)));
    line(say!(lang, "runs-status"), &state_text(&state, lang));
    if let State::Ended(end) = &state {
        line(say!(lang, "runs-ended"), &format!("{} UTC", format_time(end.ended_ms)));
        if let Some(reason) = reason(&run, None, end, lang)? {
            line(say!(lang, "runs-reason"), &reason);
        }
    }
    line(say!(lang, "runs-seed"), &header.seed.to_string());
    let versions = header.versions.iter().map(|(name, version)| format!(", {name} {version}"));
    let versions = format!("pgdyno {}{}", header.pgdyno_version, versions.collect::<String>());
    line(say!(lang, "runs-versions"), &versions);
    let report = RunReport::from_file(path);
    match &report {
        Ok(report) => {
            text.push('\n');
            text += &report.text(lang);
        }
        // Show the rest of the file without the figures.
        Err(error) => {
            line(say!(lang, "runs-results"), &say!(lang, "runs-no-results", reason = &error.message));
        }
    }
    if with_trials {
        let results = report.as_ref().map_or(&[][..], RunReport::trials);
        let lang = report.as_ref().map_or(lang, |it| lang.for_experiment(&it.result().experiment));
        text += &trials(&run, results, lang)?;
    }
    Ok(text)
}

/// Figures, end and notes of each trial. `results` are empty if the run's results cannot be computed.
fn trials(run: &Run, results: &[TrialResult], lang: &Lang) -> Result<String, CommandError> {
    let trials = run.trials()?;
    let mut text = String::new();
    if !trials.is_empty() {
        let mut rows = vec![[
            say!(lang, "runs-column-trial"),
            say!(lang, "runs-column-cell"),
            say!(lang, "runs-column-repeat"),
            say!(lang, "runs-column-status"),
            say!(lang, "runs-column-verdict"),
            say!(lang, "runs-column-seconds"),
            say!(lang, "runs-column-tps"),
            say!(lang, "runs-column-p99"),
            say!(lang, "runs-column-errors"),
            say!(lang, "runs-column-setting"),
        ]];
        rows.extend(trials.iter().map(|record| trial(record, results, lang)));
        text += "\n";
        text += &table(&rows, &[0, 1, 2, 5, 6, 7, 8], &[5, 2], width());
    }
    for record in trials {
        let State::Ended(end) = &record.state else { continue };
        let Some(reason) = reason(run, Some(record.id), end, lang)? else { continue };
        let id = record.id.0;
        let _ = writeln!(text, "{}: {}", trial_name(id, lang), sanitise_line(&reason));
    }
    // Each text once, with the trials that have it.
    let mut notes: Vec<(String, Vec<u32>)> = Vec::new();
    for FactRecord { trial, fact } in run.facts()? {
        let note = match fact {
            Fact::Note(note) => note,
            Fact::Omitted(omitted) => omitted.into(),
            _ => continue,
        };
        let note = sanitise_line(&lang.note(&note));
        match notes.iter_mut().find(|known| known.0 == note) {
            Some((_, ids)) => ids.extend(trial.map(|id| id.0)),
            None => notes.push((note, trial.map(|id| id.0).into_iter().collect())),
        }
    }
    for (note, ids) in notes {
        let trials = trial_names(&ids, lang).map(|names| names + ": ").unwrap_or_default();
        let _ = writeln!(text, "{}", say!(lang, "runs-note", note = trials + &note));
    }
    Ok(text)
}

/// Reason why a run or a trial is not complete.
fn reason(
    run: &Run,
    trial: Option<TrialId>,
    outcome: &RunOutcome,
    lang: &Lang,
) -> store::Result<Option<String>> {
    let facts = run.facts()?.into_iter().filter(|record| record.trial == trial);
    let mut message = facts.filter_map(|record| match record.fact {
        Fact::Reason(message) => Some(message),
        _ => None,
    });
    Ok(stored_reason(outcome, message.next()).map(|reason| lang.message(&reason)))
}

fn trial_name(id: u32, lang: &Lang) -> String {
    say!(lang, "runs-trial", id = id.to_string())
}

/// Names of trials, with consecutive numbers as ranges; `None` without a trial. `ids` are ascending and may contain
/// duplicates.
fn trial_names(ids: &[u32], lang: &Lang) -> Option<String> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &id in ids {
        match ranges.last_mut() {
            Some((_, last)) if id <= *last + 1 => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    if let [(first, last)] = ranges[..]
        && first == last
    {
        return Some(trial_name(first, lang));
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    let ids = ranges.iter().map(text).collect::<Vec<_>>().join(", ");
    (!ranges.is_empty()).then(|| say!(lang, "runs-trials", ids))
}

/// JSON of a run, its matrix and its findings.
fn data(path: &Path) -> Result<String, CommandError> {
    let run = Run::open(path)?;
    let header = run.header()?;
    let state = run.state()?;
    let report = RunReport::from_file(path)?;
    let file = run_file(path, &header, &state);
    Ok(to_json(&RunDocument { run: Some(file), ..report.document() }))
}

/// File of a run, with its header and state.
pub fn run_file<'a>(path: &'a Path, header: &'a RunHeader, run_state: &'a State) -> RunFile<'a> {
    let (ended_ms, reason) = match run_state {
        State::Ended(outcome) => (Some(outcome.ended_ms), outcome.reason.as_deref()),
        _ => (None, None),
    };
    RunFile {
        name: &header.name,
        file: path,
        started_ms: header.begun_ms,
        status: state(run_state),
        ended_ms,
        reason,
        seed: header.seed,
        pgdyno_version: &header.pgdyno_version,
        versions: &header.versions,
        machine: &header.machine,
    }
}

/// Verdict on a trial; `None` without a measurement. If `results` is empty, because the results cannot be computed, the
/// verdict is the one stored at the end of the trial.
pub fn verdict(record: &TrialRecord, results: &[TrialResult]) -> Option<Verdict> {
    let is_measured = matches!(record.state.status()?, RunStatus::Complete | RunStatus::Stopped);
    let result = results.iter().find(|it| it.id == record.id.0);
    match (record.valid?, result) {
        (_, Some(result)) => Some(result.verdict()),
        (true, None) if is_measured => {
            let summary = record.summary.as_ref();
            let stored = summary.and_then(|it| it["validity"]["verdict"].as_str());
            Some(if stored == Some("valid_with_doubts") { Verdict::ValidWithDoubts } else { Verdict::Valid })
        }
        _ => Some(Verdict::Invalid),
    }
}

/// Name of a verdict in exported files and JSON.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::ValidWithDoubts => "valid_with_doubts",
        Verdict::Invalid => "invalid",
    }
}

fn trial(record: &TrialRecord, results: &[TrialResult], lang: &Lang) -> [String; 10] {
    let result = results.iter().find(|it| it.id == record.id.0);
    let label = record.trial.label.iter().map(|(axis, value)| format!("{axis}={value}"));
    let seconds = match &record.state {
        State::Ended(end) => (end.ended_ms.saturating_sub(record.trial.begun_ms) / 1000).to_string(),
        _ => String::new(),
    };
    let verdict = verdict(record, results)
        .map_or(String::new(), |it| say!(lang, "runs-verdict", verdict = verdict_name(it)));
    [
        record.id.0.to_string(),
        (record.trial.cell + 1).to_string(),
        (record.trial.repetition + 1).to_string(),
        state_text(&record.state, lang),
        verdict,
        seconds,
        result.and_then(|it| it.tps).map_or(String::new(), |it| lang.metric_value(Metric::Tps, it.0)),
        result.and_then(|it| it.p99).map_or(String::new(), |it| lang.time(it)),
        result.and_then(|it| it.errors).map_or(String::new(), |it| lang.metric_value(Metric::Errors, it)),
        sanitise_line(&label.collect::<Vec<_>>().join(" ")),
    ]
}

/// State of a run or trial, in one word, as in JSON and exported files.
pub fn state(state: &State) -> &'static str {
    state.status().map_or("running", RunStatus::name)
}

fn state_text(run_state: &State, lang: &Lang) -> String {
    say!(lang, "runs-state", state = state(run_state))
}

/// Table whose columns are as wide as necessary, separated by two blanks. Columns in `right` are right-aligned.
///
/// If the table exceeds `width`, the columns in `optional` are omitted one after the other. If it is still too wide,
/// the last column is printed below each row.
fn table<const N: usize>(rows: &[[String; N]], right: &[usize], optional: &[usize], width: usize) -> String {
    let widths: Vec<usize> =
        (0..N).map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
    let mut shown: Vec<usize> = (0..N).collect();
    let total = |shown: &[usize]| shown.iter().map(|i| widths[*i] + 2).sum::<usize>() - 2;
    for i in optional {
        if total(&shown) > width {
            shown.retain(|column| column != i);
        }
    }
    let below = if total(&shown) > width && shown.len() > 1 { shown.pop() } else { None };
    let mut text = String::new();
    for row in rows {
        let cells = shown.iter().map(|i| match right.contains(i) {
            true => format!("{:>width$}", row[*i], width = widths[*i]),
            false => format!("{:<width$}", row[*i], width = widths[*i]),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text += "\n";
        if let Some(cell) = below.map(|i| &row[i]).filter(|cell| !cell.is_empty()) {
            let _ = writeln!(text, "    {cell}");
        }
    }
    text
}

/// UTC time such as `2026-11-21 11:53:31`.
pub fn format_time(unix_ms: u64) -> String {
    let time = model::utc((unix_ms / 1000) as i64);
    let (hour, minute, second) = time.as_hms();
    format!("{} {hour:02}:{minute:02}:{second:02}", time.date())
}

/// UTC time such as `2026-11-21 11:53`.
fn format_minute(unix_ms: u64) -> String {
    let time = format_time(unix_ms);
    time.rsplit_once(':').map_or(String::new(), |(minute, _)| minute.to_owned())
}

/// Size of a file: `1023 B`, `1.5 KiB`.
fn format_size(bytes: u64, lang: &Lang) -> String {
    let numbers = lang.numbers();
    match bytes {
        0..1024 => numbers.with_unit(&bytes.to_string(), &numbers.bytes[0]),
        1024..1_048_576 => numbers.with_unit(&format!("{:.1}", bytes as f64 / 1024.0), &numbers.bytes[1]),
        _ => numbers.with_unit(&format!("{:.1}", bytes as f64 / 1_048_576.0), &numbers.bytes[2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::lang::english;

    #[test]
    fn formats_times_and_sizes() {
        for (ms, text) in [(0, "1970-01-01 00:00:00"), (1_795_262_011_000, "2026-11-21 11:53:31")] {
            assert_eq!(format_time(ms), text);
        }
        assert!(!format_time(u64::MAX).is_empty());
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB")] {
            assert_eq!(format_size(bytes, english()), text);
        }
    }

    #[test]
    fn names_trials_by_ranges() {
        for (ids, expected) in [
            (&[][..], None),
            (&[3], Some("trial 3")),
            (&[3, 3], Some("trial 3")),
            (&[1, 2], Some("trials 1, 2")),
            (&[1, 2, 2, 3, 5, 7, 8, 9], Some("trials 1–3, 5, 7–9")),
        ] {
            assert_eq!(trial_names(ids, english()).as_deref(), expected, "{ids:?}");
        }
    }

    #[test]
    fn aligns_columns() {
        let rows = [["NAME", "N"], ["Жук", "10"], ["a", "7"]].map(|it| it.map(str::to_owned));
        let check = |optional: &[usize], width: usize, expected: &str| {
            assert_eq!(table(&rows, &[1], optional, width), expected, "{optional:?} {width}");
        };
        check(&[], 8, "NAME   N\nЖук   10\na      7\n");
        check(&[1], 8, "NAME   N\nЖук   10\na      7\n");
        check(&[1], 7, "NAME\nЖук\na\n");
        check(&[], 7, "NAME\n    N\nЖук\n    10\na\n    7\n");
    }

    #[test]
    fn labels_fit_their_column_in_every_language() {
        for lang in report::lang::all() {
            for label in [
                say!(lang, "runs-name"),
                say!(lang, "runs-file"),
                say!(lang, "runs-started"),
                say!(lang, "runs-status"),
                say!(lang, "runs-ended"),
                say!(lang, "runs-reason"),
                say!(lang, "runs-seed"),
                say!(lang, "runs-versions"),
                say!(lang, "runs-results"),
            ] {
                assert!(label.chars().count() < LABEL, "{}: {label}", lang.code());
            }
        }
    }
}
