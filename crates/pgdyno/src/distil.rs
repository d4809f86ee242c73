//! `pgdyno distil`: writes an experiment file from a server's logs, or from its pg_stat_statements

mod statements;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::files;
use crate::server_logs::LogArgs;
use clap::Parser;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use traffic::Traffic;
use traffic::distil::{Anonymisation, DistilOptions, Distilled, Operation};

/// Write an experiment file from the statements in a server's logs
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno distil")]
pub struct Args {
    #[command(flatten)]
    source: LogArgs,
    /// Read pg_stat_statements of this database instead of logs, or an export of the view in the format CSV; values that
    /// it does not contain are to be filled in
    #[arg(
        long,
        value_name = "DSN|FILE",
        conflicts_with_all = ["logs", "log_line_prefix", "database", "anonymise", "rows", "seed"]
    )]
    statements: Option<String>,
    /// Experiment file to write, such as shop.yaml; the feeds are written next to it. No file is replaced
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace texts in statements by others of the same length and kind; equal texts stay equal
    #[arg(long)]
    anonymise: bool,
    /// With --anonymise, replace the digits of numbers too
    #[arg(long, requires = "anonymise")]
    anonymise_numbers: bool,
    /// Maximum number of operations
    #[arg(long, value_name = "N", default_value_t = 50)]
    operations: u16,
    /// Maximum number of rows of a feed; of more transactions, a random sample is written
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    rows: u32,
    /// Random seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments, and 1 if a log or the server cannot be read, contains no statement, or a
/// file cannot be written.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno distil", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let name = experiment_name(&args.out)?;
    if let Some(source) = &args.statements {
        return statements::run(source, &name, &args.out, usize::from(args.operations), lang);
    }
    let traffic = args.source.read()?;
    let anonymise = args.anonymise.then(|| {
        random_key().map(|key| Anonymisation { key: key.to_vec(), numbers: args.anonymise_numbers })
    });
    let options = DistilOptions {
        seed: args.seed,
        max_operations: usize::from(args.operations),
        max_rows: args.rows as usize,
        anonymise: anonymise
            .transpose()
            .map_err(|error| CommandError::new(Message::of_file(Path::new(RANDOM), &error)))?,
        ..DistilOptions::new(name)
    };
    let distilled = traffic::distil::distil(&traffic, &options);
    if distilled.operations.is_empty() {
        let left_out = distilled.left_out.iter().map(|it| it.message(distilled.statements));
        return Err(CommandError::new(message!("distil-no-operation", left_out = Message::join(left_out))));
    }
    let files = distilled.files(&notes(args, &distilled, &traffic, lang));
    let written = write(files, &args.out)?;
    print_summary(&distilled, &traffic, &written, lang);
    Ok(ExitStatus::Success)
}

/// Name of the experiment: the file's name without its extension.
pub fn experiment_name(path: &Path) -> Result<String, CommandError> {
    let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
    let is_usual = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
    if is_yaml && (1..=40).contains(&name.len()) && name.bytes().all(is_usual) && !name.starts_with('-') {
        return Ok(name);
    }
    Err(CommandError::usage(message!("distil-out", path = path.display().to_string())))
}

/// Source of random bytes.
const RANDOM: &str = "/dev/urandom";

/// Key for placeholders, which is used for one file and stored nowhere.
pub fn random_key() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    std::fs::File::open(RANDOM)?.read_exact(&mut key)?;
    Ok(key)
}

/// Comment at the beginning of the experiment file.
fn notes(args: &Args, distilled: &Distilled, traffic: &Traffic, lang: &Lang) -> Vec<String> {
    let mut notes = vec![
        say!(lang, "distil-note", logs = args.source.names(), version = env!("CARGO_PKG_VERSION")),
        read_line(distilled, traffic, lang),
    ];
    notes.extend(distilled.left_out.iter().map(|it| left_out_line(distilled, it, lang)));
    notes
}

fn read_line(distilled: &Distilled, traffic: &Traffic, lang: &Lang) -> String {
    let (statements, transactions) = (distilled.statements, distilled.transactions);
    let coverage = lang.numbers().percent(distilled.coverage(), 1);
    say!(lang, "distil-read", statements, transactions, sessions = traffic.sessions.len(), coverage)
}

fn left_out_line(distilled: &Distilled, left_out: &traffic::distil::LeftOut, lang: &Lang) -> String {
    lang.message(&left_out.message(distilled.statements))
}

/// Writes the files next to `out`, or none if one of them exists.
fn write(files: Vec<(String, String)>, out: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let mut all: Vec<(PathBuf, String)> = Vec::new();
    for (number, (name, text)) in files.into_iter().enumerate() {
        // The first file is the experiment, whose extension the user chose.
        let path = if number == 0 { out.to_owned() } else { out.with_file_name(name) };
        if path.symlink_metadata().is_ok() {
            return Err(CommandError::usage(message!("distil-exists", path = path.display().to_string())));
        }
        all.push((path, text));
    }
    for (path, text) in &all {
        files::write_new(path, text).map_err(|error| CommandError::new(Message::of_file(path, &error)))?;
    }
    Ok(all.into_iter().map(|it| it.0).collect())
}

fn print_summary(distilled: &Distilled, traffic: &Traffic, written: &[PathBuf], lang: &Lang) {
    outln!("{}", read_line(distilled, traffic, lang));
    for skipped in &traffic.skipped {
        outln!("  {}", lang.message(&Message::from(skipped)));
    }
    let recorded: u64 = distilled.transactions.max(1);
    let line = |operation: &Operation| {
        let share = lang.numbers().percent(operation.transactions as f64 / recorded as f64, 1);
        let rows = operation.feed.as_ref().map_or(0, |feed| feed.rows.len());
        say!(
            lang,
            "distil-operation",
            name = &operation.name,
            share,
            statements = operation.statements.len(),
            rows
        )
    };
    distilled.operations.iter().for_each(|operation| outln!("  {}", line(operation)));
    for left_out in &distilled.left_out {
        outln!("  {}", left_out_line(distilled, left_out, lang));
    }
    let path = written[0].display().to_string();
    outln!("{}", say!(lang, "distil-written", path, feeds = written.len() - 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_the_name_from_the_file() {
        for (path, expected) in [
            ("shop.yaml", Some("shop")),
            ("a/b/shop-2.yml", Some("shop-2")),
            ("shop", None),
            ("Shop.yaml", None),
            ("-.yaml", None),
            ("shop.json", None),
        ] {
            assert_eq!(experiment_name(Path::new(path)).ok().as_deref(), expected, "{path}");
        }
    }
}
