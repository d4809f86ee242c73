//! `pgdyno demo`: searches for the maximum of a temporary PostgreSQL server
//!
//! It is an ordinary run of the experiment in `demo/experiment.yaml`.

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::diagnostics;
use crate::exit_status::ExitStatus;
use crate::run;
use crate::run_file;
use crate::run_name::DIRECTORY;
use clap::Parser;
use report::say;
use std::path::{Path, PathBuf};

/// Start a temporary PostgreSQL server, find the highest rate that it sustains, and stop it
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno demo")]
pub struct Args {
    /// Major version of PostgreSQL [default: the newest installed one]
    #[arg(long, value_name = "N")]
    pg_version: Option<u32>,
    /// Rows of table book.tickets
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(20_001..))]
    rows: u64,
    /// Directory for the file of the run
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    out: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Exit with status 3 if a trial is invalid
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

const EXPERIMENT: &str = include_str!("demo/experiment.yaml");

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno demo", args, start)
}

fn start(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let mut sets = vec![format!("dataset.rows={}", args.rows)];
    sets.extend(args.pg_version.map(|it| format!("stack.postgres.version={it}")));
    let plan = match check::plan(Path::new("demo.yaml"), EXPERIMENT, &sets, false) {
        Ok(plan) => plan,
        Err(all) => {
            err!("{}", diagnostics::render(&all, diagnostics::use_colour(), lang));
            return Ok(ExitStatus::Incomplete);
        }
    };
    errln!("{}", say!(lang, "demo-begins", rows = args.rows));
    let version = args.pg_version.map_or(String::new(), |it| format!(" --pg-version {it}"));
    let command = format!("pgdyno demo --rows {}{version}", args.rows);
    let path = run_file::create_unmeasured(&args.out, &plan.experiment, EXPERIMENT.to_owned(), command)?;
    let mut words = vec!["--resume".to_owned(), path.display().to_string()];
    words.extend(["--lang".to_owned(), lang.code().to_owned()]);
    words.extend(args.json.then(|| "--json".to_owned()));
    words.extend(args.strict.then(|| "--strict".to_owned()));
    Ok(run::main(&words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::LoadModel;

    #[test]
    fn experiment_is_valid_and_stays_open_loop() {
        let plan = check::plan(Path::new("demo.yaml"), EXPERIMENT, &[], false).expect("the file is valid");
        assert_eq!(plan.warnings, []);
        let [cell] = &plan.experiment.cells[..] else { panic!("one cell") };
        let LoadModel::Open { max_in_flight, .. } = cell.setup.load.model else { panic!("an open load") };
        // By Little's law, 100 queries are in flight at 1000/s if each query takes 100 ms, which is the objective.
        assert!(max_in_flight >= 100, "{max_in_flight}");
    }
}
