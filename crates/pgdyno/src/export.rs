//! `pgdyno export`: writes a run as CSV, JSON or HdrHistogram logs

mod json;

pub use json::ExportDocument;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, os_error_text};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run_name;
use crate::run_report::RunReport;
use crate::runs;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Parser, ValueEnum};
use model::run_result::TrialResult;
use model::{HistogramEncoder, ScriptCounts, Tick};
use report::lang::Lang;
use report::say;
use report::terminal::{sanitise, sanitise_line};
use rustix::fs::OFlags;
use serde_json::json;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use store::{Run, TrialRecord};

/// Export a run to files for other programs
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno export")]
pub struct Args {
    #[arg(help = run_name::HELP)]
    run: String,
    /// Format: csv, tables of trials, ticks, failures, samples and events; json, one file; hlog, one HdrHistogram log
    /// per trial with a tag per operation
    #[arg(long, value_enum)]
    format: Format,
    /// Output directory; files are named after the run, and existing ones are replaced
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = run_name::DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Csv,
    Json,
    Hlog,
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno export", args, |args: &Args, terminal| {
        let lang = args.language.lang()?;
        let path = run_name::find(&args.dir, &args.run, terminal, lang)?;
        let written = export(args, &path, lang)?;
        written.iter().for_each(|path| outln!("{}", path.display()));
        Ok(ExitStatus::Success)
    })
}

type ExportResult<T> = Result<T, CommandError>;

fn export(args: &Args, path: &Path, lang: &Lang) -> ExportResult<Vec<PathBuf>> {
    let run = Run::open(path)?;
    create_dir_all(&args.out).map_err(|error| {
        let (path, error) = (args.out.display().to_string(), os_error_text(&error));
        CommandError::new(say!(lang, "export-no-directory", path, error))
    })?;
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or("run").to_owned();
    let mut files = OutputFiles { out: args.out.clone(), stem, lang, written: Vec::new() };
    match args.format {
        Format::Csv => csv(&run, &results(path), &mut files)?,
        Format::Json => files.write_file("json", |to| json::write(&run, path, &results(path), to))?,
        Format::Hlog => hlog(&run, &mut files)?,
    }
    Ok(files.written)
}

/// Results of the trials; empty if they cannot be computed, for example because a newer version wrote the experiment.
fn results(path: &Path) -> Vec<TrialResult> {
    RunReport::from_file(path).map_or(Vec::new(), |it| it.trials().to_vec())
}

/// Directory, file stem and list of the exported files.
struct OutputFiles<'a> {
    out: PathBuf,
    stem: String,
    /// Language of error messages.
    lang: &'a Lang,
    written: Vec<PathBuf>,
}

impl OutputFiles<'_> {
    /// Writes one file. Only its owner may read it, and symbolic links are not followed.
    fn write_file(
        &mut self,
        end: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> ExportResult<()>,
    ) -> ExportResult<()> {
        let path = self.out.join(format!("{}.{end}", self.stem));
        // Do not follow symbolic links, because the user did not choose their targets.
        let shown = path.display().to_string();
        let file = create_private_file(&path, OFlags::NOFOLLOW).map_err(|error| {
            CommandError::new(say!(self.lang, "export-failed", path = &shown, error = os_error_text(&error)))
        })?;
        let mut to = BufWriter::new(file);
        write(&mut to).and_then(|()| Ok(to.flush()?)).map_err(|error| {
            CommandError::new(say!(self.lang, "export-incomplete", path = &shown, error = error.message))
        })?;
        self.written.push(path);
        Ok(())
    }
}

/// Creates or truncates a file for a run's contents. Only its owner may read a new file; an existing file keeps its
/// permissions.
pub fn create_private_file(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags.bits() as i32;
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).custom_flags(flags).open(path)
}

/// Exported quantiles.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

fn csv(run: &Run, results: &[TrialResult], files: &mut OutputFiles<'_>) -> ExportResult<()> {
    let trials = run.trials()?;
    files.write_file("trials.csv", |to| {
        writeln!(to, "trial,cell,repetition,position,begun_ms,status,valid,setting,verdict")?;
        for trial in &trials {
            let label: Vec<_> =
                trial.trial.label.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
            let valid = trial.valid.map_or(String::new(), |it| it.to_string());
            let (id, t) = (trial.id.0, &trial.trial);
            let verdict = runs::verdict(trial, results).map_or("", runs::verdict_name);
            let (status, setting) = (runs::state(&trial.state), csv_field(&label.join(" ")));
            writeln!(
                to,
                "{id},{},{},{},{},{status},{valid},{setting},{verdict}",
                t.cell, t.repetition, t.position, t.begun_ms
            )?;
        }
        Ok(())
    })?;
    files.write_file("ticks.csv", |to| {
        write!(
            to,
            "trial,second,from_ns,to_ns,operation,ok,late,failed,unknown,dropped,retried,retries,above_limit"
        )?;
        for time in ["response", "service"] {
            write!(to, ",{time}_mean_ns,{time}_max_ns")?;
            QUANTILES.iter().try_for_each(|(name, _)| write!(to, ",{time}_{name}_ns"))?;
        }
        writeln!(to, ",in_flight")?;
        for_each_operation(run, &trials, |trial, tick, operation, cell| {
            let Tick { second, interval, in_flight, .. } = tick;
            let (from, to_ns) = (interval.from.0, interval.to.0);
            write!(to, "{},{second},{from},{to_ns},{}", trial.id.0, csv_field(operation))?;
            let ScriptCounts { ok, late, dropped, retried, retries, above_limit, .. } = cell;
            let (failed, unknown) = (cell.failed.total(), cell.unknown.total());
            write!(to, ",{ok},{late},{failed},{unknown},{dropped},{retried},{retries},{above_limit}")?;
            for histogram in [&cell.response, &cell.service] {
                let quantiles = QUANTILES.iter().map(|(_, q)| histogram.quantile(*q));
                for value in [histogram.mean(), histogram.max()].into_iter().chain(quantiles) {
                    write!(to, ",{}", value.map_or(String::new(), |it| it.0.to_string()))?;
                }
            }
            Ok(writeln!(to, ",{in_flight}")?)
        })
    })?;
    files.write_file("failures.csv", |to| {
        writeln!(to, "trial,second,operation,class,code,count")?;
        for_each_operation(run, &trials, |trial, tick, operation, cell| {
            for (class, all) in [("failed", &cell.failed), ("unknown", &cell.unknown)] {
                let other = (all.other() > 0).then(|| ("other".to_owned(), all.other()));
                for (code, count) in all.iter().map(|(code, n)| (code.to_string(), n)).chain(other) {
                    writeln!(
                        to,
                        "{},{},{},{class},{},{count}",
                        trial.id.0,
                        tick.second,
                        csv_field(operation),
                        csv_field(&code)
                    )?;
                }
            }
            Ok(())
        })
    })?;
    files.write_file("samples.csv", |to| {
        writeln!(to, "trial,at_ns,node,series,label,value")?;
        for trial in &trials {
            let parts = run.sample_parts(trial.id)?.flat_map(|part| match part {
                Ok(part) => part.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            });
            for s in parts {
                let s = s?;
                let words = [&s.node, &s.series, &s.label].map(|it| csv_field(it)).join(",");
                writeln!(to, "{},{},{words},{}", trial.id.0, s.at.0, s.value)?;
            }
        }
        Ok(())
    })?;
    files.write_file("events.csv", |to| {
        writeln!(to, "trial,at_ns,node,kind,code,text,application,client")?;
        for trial in &trials {
            for event in run.events(trial.id)? {
                let kind = json!(event.kind);
                let (node, code) = (csv_field(&event.node), csv_field(event.code.as_deref().unwrap_or("")));
                let kind = kind.as_str().unwrap_or_default();
                let session = event.session.as_ref();
                let session = session.map_or(["", ""], |it| [&*it.application, &*it.client]);
                let texts = [&*event.text, session[0], session[1]].map(csv_field).join(",");
                writeln!(to, "{},{},{node},{kind},{code},{texts}", trial.id.0, event.at.0)?;
            }
        }
        Ok(())
    })
}

/// Calls `see` for each operation of each tick, trial by trial.
fn for_each_operation(
    run: &Run,
    trials: &[TrialRecord],
    mut see: impl FnMut(&TrialRecord, &Tick, &str, &ScriptCounts) -> ExportResult<()>,
) -> ExportResult<()> {
    for trial in trials {
        for tick in run.ticks(trial.id)? {
            let tick = tick?;
            for (operation, cell) in trial.trial.operations.iter().zip(&tick.interval.scripts) {
                see(trial, &tick, &operation.name, cell)?;
            }
        }
    }
    Ok(())
}

/// Text as a CSV field (RFC 4180). Text that a spreadsheet would evaluate as a formula gets an apostrophe. Terminal
/// control characters become visible escapes.
fn csv_field(field: &str) -> String {
    let field = &sanitise(field, false);
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let field = if formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// Writes logs in the format of `HistogramLogWriter.java`, version 1.3. Columns: seconds since the trial began,
/// interval, greatest value in milliseconds, histogram. Histogram values are nanoseconds.
fn hlog(run: &Run, files: &mut OutputFiles<'_>) -> ExportResult<()> {
    for trial in run.trials()? {
        files.write_file(&format!("trial-{}.hlog", trial.id.0), |to| {
            let begun = trial.trial.begun_ms as f64 / 1e3;
            writeln!(to, "#[pgdyno: response times; with .service, service times; values are nanoseconds]")?;
            writeln!(to, "#[Histogram log format version 1.3]")?;
            writeln!(
                to,
                "#[StartTime: {begun:.3} (seconds since epoch), {}]",
                store::format_utc(trial.trial.begun_ms)
            )?;
            writeln!(to, "#[BaseTime: {begun:.3} (seconds since epoch)]")?;
            writeln!(
                to,
                "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
            )?;
            let mut packer = HistogramEncoder::new();
            let mut first = None;
            for_each_operation(run, std::slice::from_ref(&trial), |_, tick, operation, cell| {
                let (from, end) = (tick.interval.from, tick.interval.to);
                let offset = from - *first.get_or_insert(from);
                for (suffix, histogram) in [("", &cell.response), (".service", &cell.service)] {
                    let Some(max) = histogram.max() else { continue };
                    let (start, length) = (offset.as_secs_f64(), (end - from).as_secs_f64());
                    let v2 = STANDARD.encode(packer.encode(histogram).v2);
                    let max = max.as_millis_f64();
                    writeln!(to, "Tag={}{suffix},{start:.3},{length:.3},{max:.3},{v2}", tag(operation))?;
                }
                Ok(())
            })
        })?;
    }
    Ok(())
}

/// Tag of an operation, without commas and blanks, which the format does not allow.
fn tag(operation: &str) -> String {
    sanitise_line(operation)
        .chars()
        .map(|it| if it == ',' || it.is_whitespace() || it.is_control() { '_' } else { it })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_csv_fields() {
        for (text, expected) in [
            ("read", "read"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("@x", "'@x"),
            ("-1", "'-1"),
            ("+7,5", "\"'+7,5\""),
            ("\tx", "'\tx"),
            ("\u{1b}[31m\u{202e}x", "\\u{1b}[31m\\u{202e}x"),
            ("a\nb", "\"a\nb\""),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(csv_field(text), expected, "{text:?}");
        }
        assert_eq!(tag("<builtin: select only>,x"), "<builtin:_select_only>_x");
    }
}
