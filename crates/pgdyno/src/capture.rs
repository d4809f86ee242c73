//! `pgdyno capture`: writes a recording from a server's logs

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::recording::{self, RecordingFileWriter};
use crate::server_logs::LogArgs;
use clap::Parser;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use traffic::Traffic;

/// Write the statements in a server's logs as a recording, which the load model replay sends again
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno capture")]
pub struct Args {
    #[command(flatten)]
    source: LogArgs,
    /// Recording to write, such as shop.traffic. No file is replaced
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments, and 1 if a log cannot be read, contains no statement, or the
/// recording cannot be written.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno capture", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    if args.out.symlink_metadata().is_ok() {
        return Err(CommandError::usage(message!("distil-exists", path = args.out.display().to_string())));
    }
    let of_file = |error: &io::Error| CommandError::new(Message::of_file(&args.out, error));
    let recording = recording::create(&args.out).map_err(|error| of_file(&error))?;
    let written = write(&args.source, recording);
    if !matches!(written, Ok(Ok((_, 1..)))) {
        // The rest of a recording is of no use.
        let _ = fs::remove_file(&args.out);
    }
    let (traffic, requests) = written?.map_err(|error| of_file(&error))?;
    if requests == 0 {
        return Err(CommandError::new(message!("capture-nothing")));
    }
    for skipped in &traffic.skipped {
        outln!("  {}", lang.message(&Message::from(skipped)));
    }
    print_summary(&args.out, lang)
}

/// Writes the recording. Returns what was read, and the number of requests; the inner error is that of the recording.
fn write(
    source: &LogArgs,
    mut recording: RecordingFileWriter,
) -> Result<io::Result<(Traffic, u64)>, CommandError> {
    let traffic = source.record(&mut recording)?;
    Ok(traffic.and_then(|traffic| {
        let requests = recording.requests();
        recording.finish()?.flush()?;
        Ok((traffic, requests))
    }))
}

/// Prints what a recording contains.
pub fn print_summary(path: &Path, lang: &Lang) -> Result<ExitStatus, CommandError> {
    let name = path.display().to_string();
    let error_of = |error: Message| CommandError::new(message!("error-of", subject = &*name, error));
    let recording = recording::open(path).map_err(error_of)?;
    let numbers = lang.numbers();
    let sessions = recording.sessions().len() as u64;
    outln!(
        "{}",
        say!(
            lang,
            "capture-written",
            path = &name,
            requests = numbers.count(recording.requests()),
            sessions = numbers.count(sessions),
            duration = numbers.duration(recording.duration())
        )
    );
    let all = recording.requests().max(1);
    for statement in recording.statements().iter().take(STATEMENTS_SHOWN) {
        let share = numbers.percent(statement.requests as f64 / all as f64, 1);
        outln!("  {}", say!(lang, "capture-statement", name = &statement.name, share));
    }
    if let Some(more) = recording.statements().len().checked_sub(STATEMENTS_SHOWN).filter(|it| *it > 0) {
        outln!("  {}", say!(lang, "capture-more", more));
    }
    for (reason, count) in recording.left_out() {
        outln!("  {}", say!(lang, "capture-left-out", count = *count, reason = Message::from(*reason)));
    }
    Ok(ExitStatus::Success)
}

/// Number of statements that the summary lists.
const STATEMENTS_SHOWN: usize = 10;
