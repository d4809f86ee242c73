//! `pgdyno demo`: measures a temporary PostgreSQL server
//!
//! Finds PostgreSQL's programs, starts a temporary server and loads `book.tickets`. Measures a closed and then an open
//! load, shows both results and prints where they are stored. The server stops with this process, however it ends.

use crate::bench::connect::ConnectedServer;
use crate::bench::options::{self, BenchOptions};
use crate::bench::{self, prepare};
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::clock::unix_time;
use crate::command;
use crate::exit_status::ExitStatus;
use crate::export::create_private_file;
use crate::signals::Signals;
use clap::Parser;
use load::script::{self, Program};
use model::Summary;
use model::summary::{Server, ServerTransport};
use report::json_document::to_json;
use report::lang::Lang;
use report::live::Milestone;
use report::say;
use rustix::fs::OFlags;
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::tickets::{Stage, Tickets};
use stack::embedded;
use stack::find::{Installation, InstallationSearch};
use stack::supervisor::{KeeperProgram, Supervisor};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Start a temporary PostgreSQL server, run a closed-loop and an open-loop test, and stop it
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno demo")]
struct Args {
    /// Directory of PostgreSQL's programs, such as /usr/lib/postgresql/15/bin
    #[arg(long, value_name = "DIR")]
    pg_bin: Option<PathBuf>,
    /// Major version of PostgreSQL [default: first one found]
    #[arg(long, value_name = "N")]
    pg_version: Option<u32>,
    /// Rows of table book.tickets
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Duration of each of the two tests, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=3600))]
    seconds: u32,
    /// Directory for the results
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Exit with status 3 if a measurement is invalid
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Clients of the closed measurement: enough to make the server the limit, rather than the connection to it.
const CLIENTS: u32 = 8;
/// In-flight cap of the open measurement: large enough that the test stays open-loop when the host delays the server.
const IN_FLIGHT: u32 = 180;
/// Highest rate of the open measurement, as a share of the closed throughput. It leaves room on a
/// host that the server and the generator share.
const LOAD_SHARE: f64 = 0.25;

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno demo", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let search = InstallationSearch::from_environment(args.pg_bin.clone(), args.pg_version);
    let print_download = |major: u32| errln!("{}", say!(lang, "demo-downloading", major = major.to_string()));
    let installation =
        embedded::find_or_fetch(&search, print_download).map_err(|it| CommandError::new(it.to_string()))?;
    let (version, directory) = (&installation.version.text, installation.bin.display().to_string());
    errln!("{}", say!(lang, "demo-server", version, directory));
    let failed = |it: stack::supervisor::NodeError| CommandError::new(it.to_string());
    let begun = Instant::now();
    let mut supervisor = Supervisor::start(&KeeperProgram::ourselves()).map_err(failed)?;
    supervisor
        .take_stale_directories()
        .into_iter()
        .for_each(|it| errln!("{}", lang.milestone(&Milestone::StaleDirectory(it))));
    let settings = Settings::default();
    let postgres = Postgres::start(&mut supervisor, &installation, &settings).map_err(failed)?;
    let (port, took) = (postgres.port.to_string(), lang.time(begun.elapsed().into()));
    errln!("{}", say!(lang, "demo-ready", port, took));
    let connected = connect(&postgres, &installation)?;
    load_dataset(args.rows, &connected, lang)?;

    let program = program(args.rows);
    let seconds = args.seconds;
    errln!("\n{}", say!(lang, "demo-closed", clients = CLIENTS, seconds = seconds.to_string()));
    let closed = options(&format!("-M prepared -c {CLIENTS} -T {seconds} -P 5"));
    let signals = bench::listen()?;
    let closed = measure(&closed, program.clone(), &connected, &signals, terminal)?;

    let rate = two_digits(LOAD_SHARE * closed.summary.total.tps.0);
    let (climb, hold) = (seconds / 2, seconds - seconds / 2);
    let schedule = format!("line(1,{rate},{climb}s)const({rate},{hold}s)");
    errln!("\n{}", say!(lang, "demo-open", schedule = &schedule));
    let open = options(&format!("-M prepared -c {IN_FLIGHT} -P 5 --arrivals=poisson --schedule={schedule}"));
    let open = match closed.complete {
        true => Some(measure(&open, program, &connected, &signals, terminal)?),
        false => None,
    };

    outln!("{}", closed.text);
    if let Some(open) = &open {
        outln!("{}", open.text);
    }
    let when = unix_time().0 / 1_000_000_000;
    write_summary(&args.out, &format!("demo-{when}-closed.json"), &closed.summary, lang)?;
    if let Some(open) = &open {
        write_summary(&args.out, &format!("demo-{when}-open.json"), &open.summary, lang)?;
    }
    postgres.stop(&mut supervisor).map_err(failed)?;
    let measured = [Some(&closed), open.as_ref()];
    let statuses = measured.map(|result| match result {
        Some(result) if result.complete => bench::validity_status(&result.summary, args.strict),
        _ => ExitStatus::Incomplete,
    });
    Ok(ExitStatus::first_of(statuses))
}

fn connect(postgres: &Postgres, installation: &Installation) -> Result<ConnectedServer, CommandError> {
    let target = postgres.target();
    let server = Server {
        version: installation.version.text.clone(),
        origin: Some(installation.bin.display().to_string()),
        transport: ServerTransport::UnixSocket,
        address: format!("{}:{}", postgres.sockets.display(), postgres.port),
        database: "postgres".to_owned(),
    };
    Ok(ConnectedServer::from_target(target, server))
}

fn load_dataset(rows: u64, connected: &ConnectedServer, lang: &Lang) -> Result<(), CommandError> {
    let begun = Instant::now();
    let failed =
        |error| CommandError::new(say!(lang, "demo-load-failed", error = prepare::libpq_text(&error)));
    let mut connection = connected.target.open(Duration::from_secs(30)).map_err(failed)?;
    let mut shown = Instant::now();
    let mut show = |stage| match stage {
        Stage::Rows(sent) if shown.elapsed() > Duration::from_secs(1) => {
            shown = Instant::now();
            errln!("{}", say!(lang, "demo-loading", sent, rows));
        }
        _ => {}
    };
    Tickets { rows, ..Tickets::default() }.load(&mut connection, &mut show).map_err(failed)?;
    errln!("{}", say!(lang, "demo-loaded", rows, took = lang.time(begun.elapsed().into())));
    Ok(())
}

/// Script that selects one ticket by its key.
fn program(rows: u64) -> Program {
    let text = format!("\\set id random(1, {rows})\nSELECT * FROM book.tickets WHERE id = :id;\n");
    let source = script::ScriptSource::new("book.tickets by key", &text);
    script::parse(&[source], script::Mode::Prepared, false, &[]).expect("the demo's script is valid")
}

/// Parses options that this module wrote itself.
fn options(line: &str) -> BenchOptions {
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match options::parse(&args, &|_| None) {
        Ok(options::BenchCommand::Run(it)) => *it,
        other => panic!("{line} is a run: {other:?}"),
    }
}

struct DemoResult {
    summary: Summary,
    text: String,
    complete: bool,
}

fn measure(
    options: &BenchOptions,
    program: Program,
    connected: &ConnectedServer,
    signals: &Signals,
    terminal: &Terminal,
) -> Result<DemoResult, CommandError> {
    let (summary, complete) = bench::measure(options, program, connected, None, 42, signals, terminal)?;
    let text = bench::text(options, &summary);
    Ok(DemoResult { summary, text, complete })
}

/// Rounds to two significant digits; at least 1.
fn two_digits(value: f64) -> u64 {
    let unit = 10f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
    ((value / unit).round() * unit).max(1.0) as u64
}

fn write_summary(directory: &Path, name: &str, summary: &Summary, lang: &Lang) -> Result<(), CommandError> {
    let path = directory.join(name);
    let shown = path.display().to_string();
    fs::create_dir_all(directory)
        .and_then(|()| create_private_file(&path, OFlags::empty())?.write_all(to_json(summary).as_bytes()))
        .map_err(|error| {
            let error = os_error_text(&error);
            CommandError::new(say!(lang, "demo-write-failed", path = &shown, error))
        })?;
    outln!("{}", say!(lang, "demo-written", path = shown));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_rates_to_two_digits() {
        for (number, expected) in [(0.0, 1), (0.4, 1), (7.3, 7), (99.0, 99), (123.0, 120), (45_678.0, 46_000)]
        {
            assert_eq!(two_digits(number), expected, "{number}");
        }
    }
}
