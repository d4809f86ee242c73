//! `pgdyno stack`: keeps the system of an experiment running

mod directory;
mod holder;
mod status;

use crate::cell_selector;
use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{ArgumentError, CommandError, Terminal, os_error_text};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::terminal;
use clap::{Parser, Subcommand};
use directory::StackDirectory;
use holder::{StackQuery, StackRequest, StartMessage, receive_line, send_line};
use model::message;
use model::plan::{Baseline, Cell, Experiment};
use report::json_document::to_json;
use report::lang::{Lang, english};
use report::say;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use stack::supervisor::KeeperProgram;
pub use status::StackDocument;
use status::StackStatus;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Start the system of an experiment file and keep it running, to explore it by hand
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno stack", disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Args {
    #[command(flatten)]
    language: LanguageArgs,
    #[command(subcommand)]
    command: StackCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum StackCommand {
    /// Start a stack, keep it running, and print how to connect
    Up(Up),
    /// Show the running stacks, the state of their nodes, and how to connect
    Status(Status),
    /// Stop a stack, and wait until all its processes and files are gone
    Down(DownArgs),
    /// Hold a running stack
    #[command(hide = true)]
    Hold { name: String },
}

#[derive(Clone, Debug, clap::Args)]
struct Up {
    /// Experiment file
    file: PathBuf,
    /// Override a value of the file, such as pooler.size=24; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Apply the overrides of the file's section `quick`
    #[arg(long)]
    quick: bool,
    /// Cell of the matrix, such as "way=unix,load.clients=8" [default: the baseline, else the first]
    #[arg(long, value_name = "AXIS=VALUE,…")]
    cell: Option<String>,
    /// Name of the stack [default: name of the experiment]
    #[arg(long)]
    name: Option<String>,
    /// Stop the stack after this time, such as 90s, 30m or 2h [default: never]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    lifetime: Option<u64>,
    /// Print the state as JSON, in English
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, clap::Args)]
struct Status {
    /// Experiment file or name of a stack [default: all running stacks]
    #[arg(value_name = "FILE|NAME")]
    file_or_name: Option<String>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, clap::Args)]
struct DownArgs {
    /// Experiment file or name of a stack
    #[arg(value_name = "FILE|NAME")]
    file_or_name: String,
}

/// Timeout for a query. A running holder responds at once.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of log lines shown after a failure.
const LOG_LINES: usize = 12;

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno stack", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    match &args.command {
        StackCommand::Up(args) => up(args, lang),
        StackCommand::Status(args) => status(args, terminal, lang),
        StackCommand::Down(args) => down(&args.file_or_name, terminal, lang),
        StackCommand::Hold { .. } => Ok(holder::main()),
    }
}

fn up(args: &Up, lang: &'static Lang) -> Result<ExitStatus, CommandError> {
    let plan = match check::read(&args.file, &args.set, args.quick) {
        Ok(plan) => plan,
        Err(error) => return Ok(error.print("pgdyno stack", lang)),
    };
    let experiment = &plan.experiment;
    let cell = cell(experiment, args.cell.as_deref(), lang)?;
    let name = args.name.as_ref().unwrap_or(&experiment.name);
    if !is_name(name) {
        return Err(CommandError::new(say!(lang, "stack-name-invalid", name))
            .with_hint(say!(lang, "stack-name-hint")));
    }
    let place = user_directory(lang)?;
    let log = place.claim(name).map_err(|error| error.command_error(lang))?.ok_or_else(|| {
        CommandError::new(say!(lang, "stack-exists", name)).with_hint(say!(lang, "stack-exists-hint", name))
    })?;
    let request = StackRequest {
        name: name.clone(),
        place: place.directory().to_owned(),
        file: args.file.canonicalize().unwrap_or_else(|_| args.file.clone()),
        cell: cell.label.clone(),
        setup: cell.setup.clone(),
        lifetime: args.lifetime,
        lang: if args.json { english() } else { lang }.code().to_owned(),
    };
    let stack = start(&request, &place, log, lang)?;
    if args.json {
        terminal::json(&to_json(&StackDocument { stacks: vec![&stack] }));
    } else {
        out!("{}", stack.render(lang));
        outln!("\n{}", say!(lang, "stack-how-to-stop", name));
    }
    Ok(ExitStatus::Success)
}

fn user_directory(lang: &Lang) -> Result<StackDirectory, CommandError> {
    StackDirectory::for_user().map_err(|error| error.command_error(lang))
}

/// Starts a holder, and shows its progress until the stack is up.
fn start(
    request: &StackRequest,
    place: &StackDirectory,
    log: File,
    lang: &Lang,
) -> Result<StackStatus, CommandError> {
    let failed = |error: io::Error| {
        place.clear(&request.name);
        CommandError::new(say!(lang, "stack-holder-failed", error = os_error_text(&error)))
    };
    let spawn = || {
        let (own_end, child_end) = UnixStream::pair()?;
        // A signal sends a byte to the holder, which then ends the stack and itself. A second signal ends only this
        // process.
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
            signal_hook::low_level::pipe::register(signal, own_end.try_clone()?)?;
        }
        let us = KeeperProgram::ourselves().program;
        let mut command = Command::new(us);
        command.arg0("pgdyno").args(["stack", "hold", &request.name]);
        command.stdin(Stdio::from(OwnedFd::from(child_end)));
        let child = command.stdout(log.try_clone()?).stderr(log.try_clone()?).spawn()?;
        Ok((child, own_end))
    };
    let (mut child, holder) = spawn().map_err(failed)?;
    send_line(&holder, request);
    let terminal = io::stderr().is_terminal();
    let clear = if terminal { "\r\x1b[K" } else { "" };
    let mut failure = None;
    for line in BufReader::new(&holder).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(StartMessage::Doing(activity)) if terminal => {
                terminal::overwrite_line(clear, &activity, "");
            }
            Ok(StartMessage::Doing(_)) => {}
            Ok(StartMessage::Done(milestone)) => terminal::overwrite_line(clear, &milestone, "\n"),
            Ok(StartMessage::Up(stack)) => {
                terminal::overwrite_line(clear, "", "");
                return Ok(stack);
            }
            // The holder exits after this message, which ends the loop.
            Ok(StartMessage::Failed(message, hint)) => {
                failure = Some(CommandError { hint, ..CommandError::new(message) });
            }
            Err(_) => break,
        }
    }
    terminal::overwrite_line(clear, "", "");
    let _ = child.wait();
    if let Some(error) = failure {
        return Err(error);
    }
    let mut message = say!(lang, "stack-holder-ended");
    for line in last_lines(&log) {
        message += &format!("\n  {line}");
    }
    drop(log);
    place.names();
    Err(CommandError::new(message))
}

fn status(args: &Status, terminal: &Terminal, lang: &Lang) -> Result<ExitStatus, CommandError> {
    let (found, silent) = query(&user_directory(lang)?, args.file_or_name.as_deref(), StackQuery::Status);
    if let (Some(file_or_name), true) = (&args.file_or_name, found.is_empty() && silent.is_empty()) {
        return Err(not_found(file_or_name, lang));
    }
    let all: Vec<&StackStatus> = found.iter().map(|reply| &reply.status).collect();
    if args.json {
        terminal::json(&to_json(&StackDocument { stacks: all.clone() }));
    } else if all.is_empty() && silent.is_empty() {
        outln!("{}", say!(lang, "stack-none"));
    } else {
        out!("{}", all.iter().map(|stack| stack.render(lang)).collect::<Vec<_>>().join("\n"));
    }
    silent.iter().for_each(|name| terminal.warning(&say!(lang, "stack-silent", name)));
    let is_healthy = silent.is_empty() && all.iter().all(|stack| stack.is_healthy());
    Ok(if is_healthy { ExitStatus::Success } else { ExitStatus::Incomplete })
}

fn down(file_or_name: &str, terminal: &Terminal, lang: &Lang) -> Result<ExitStatus, CommandError> {
    let place = user_directory(lang)?;
    let (found, silent) = query(&place, Some(file_or_name), StackQuery::Down);
    if found.is_empty() && silent.is_empty() {
        return Err(not_found(file_or_name, lang));
    }
    for reply in found {
        reply.await_end();
        terminal.info(&say!(lang, "stack-down", name = &reply.status.name));
    }
    place.names();
    match silent.first() {
        None => Ok(ExitStatus::Success),
        Some(name) => {
            let log = place.log(name).display().to_string();
            Err(CommandError::new(say!(lang, "stack-silent", name)).with_hint(say!(
                lang,
                "stack-silent-hint",
                name,
                log
            )))
        }
    }
}

fn not_found(file_or_name: &str, lang: &Lang) -> CommandError {
    CommandError::new(say!(lang, "stack-not-found", which = file_or_name))
        .with_hint(say!(lang, "stack-not-found-hint"))
}

/// Response of one holder.
struct StackReply {
    status: StackStatus,
    /// Process descriptor of the holder, which becomes readable when the holder exits. `None` if it has already exited.
    process: Option<OwnedFd>,
}

impl StackReply {
    fn await_end(&self) {
        if let Some(process) = &self.process {
            // Ignore errors, because only a signal would interrupt the wait, and signals end this process.
            let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], None);
        }
    }
}

/// Queries the selected stacks. Returns the responses, and the names of stacks that did not respond.
fn query(
    place: &StackDirectory,
    file_or_name: Option<&str>,
    question: StackQuery,
) -> (Vec<StackReply>, Vec<String>) {
    let file = file_or_name.and_then(|it| Path::new(it).canonicalize().ok());
    let (mut found, mut silent) = (Vec::new(), Vec::new());
    for name in place.names() {
        let named = file_or_name.is_none_or(|it| it == name);
        let status = match query_one(place, &name, StackQuery::Status) {
            Ok(it) => it,
            // The stack ended in the meantime.
            Err(_) if !place.names().contains(&name) => continue,
            Err(_) => {
                silent.extend(named.then_some(name));
                continue;
            }
        };
        if !named && file.as_ref() != Some(&status.file) {
            continue;
        }
        // The process id is still valid, because the process has just responded.
        let number = Pid::from_raw(status.pid.cast_signed());
        let process = number.and_then(|it| pidfd_open(it, PidfdFlags::empty()).ok());
        if question == StackQuery::Down && query_one(place, &name, StackQuery::Down).is_err() {
            silent.push(name);
            continue;
        }
        found.push(StackReply { status, process });
    }
    (found, silent)
}

fn query_one(place: &StackDirectory, name: &str, question: StackQuery) -> io::Result<StackStatus> {
    let stream = UnixStream::connect(place.socket(name))?;
    stream.set_read_timeout(Some(QUERY_TIMEOUT))?;
    stream.set_write_timeout(Some(QUERY_TIMEOUT))?;
    send_line(&stream, &question);
    receive_line(&stream)
}

/// First cell with the requested labels. If no labels are requested, the baseline; if there is no single baseline, the
/// first cell.
fn cell<'a>(experiment: &'a Experiment, text: Option<&str>, lang: &Lang) -> Result<&'a Cell, CommandError> {
    let cells = &experiment.cells;
    let Some(text) = text else {
        let baseline = experiment.baseline.as_ref().and_then(Baseline::single);
        return Ok(&cells[baseline.unwrap_or(0)]);
    };
    cell_selector::matching(cells, text).first().map(|it| &cells[*it]).ok_or_else(|| {
        CommandError::new(say!(lang, "stack-cell-unknown", wanted = text)).with_hint(axes_hint(cells, lang))
    })
}

/// Axes of the matrix with their values.
fn axes_hint(cells: &[Cell], lang: &Lang) -> String {
    let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (axis, value) in cells.iter().flat_map(|cell| &cell.label) {
        match axes.iter_mut().find(|known| known.0 == axis) {
            Some(known) if known.1.contains(&value.as_str()) => {}
            Some(known) => known.1.push(value),
            None => axes.push((axis, vec![value])),
        }
    }
    if axes.is_empty() {
        return say!(lang, "stack-one-cell");
    }
    let or = say!(lang, "stack-or");
    let axis = |(axis, values): &(&str, Vec<&str>)| {
        say!(lang, "stack-axis", axis = *axis, values = values.join(&or))
    };
    axes.iter().map(axis).collect::<Vec<_>>().join("; ")
}

/// True if the text is a valid experiment name.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// Seconds of a duration such as `90s`, `30m` or `2h`.
fn lifetime(text: &str) -> Result<u64, ArgumentError> {
    let unit = |(text, seconds): (Option<&str>, u64)| text?.trim().parse::<u64>().ok()?.checked_mul(seconds);
    let units = [(text.strip_suffix('s'), 1), (text.strip_suffix('m'), 60), (text.strip_suffix('h'), 3600)];
    let found = units.into_iter().find_map(unit).filter(|it| (1..=u64::from(u32::MAX)).contains(it));
    found.ok_or_else(|| ArgumentError(message!("stack-lifetime")))
}

fn last_lines(mut log: &File) -> Vec<String> {
    let mut text = Vec::new();
    let _ = log.seek(SeekFrom::Start(0)).and_then(|_| log.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.strip_prefix(directory::LOG_HEADER).unwrap_or(&text).lines().collect();
    all[all.len().saturating_sub(LOG_LINES)..].iter().map(|&it| it.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_lifetimes() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(lifetime(text).ok(), expected, "{text}");
        check("90s", Some(90));
        check("30m", Some(1800));
        check("2h", Some(7200));
        for text in ["", "2", "h", "0s", "-1s", "1.5h", "2 d", "99999999999999999999h", "9999999999h"] {
            check(text, None);
        }
    }

    #[test]
    fn accepts_names_of_experiment_files() {
        let check = |it: &str, expected: bool| assert_eq!(is_name(it), expected, "{it}");
        check("pool-modes", true);
        check(&"a".repeat(64), true);
        check(&"a".repeat(65), false);
        for name in ["", "A", "a/b", "..", "a b", "é"] {
            check(name, false);
        }
    }
}
