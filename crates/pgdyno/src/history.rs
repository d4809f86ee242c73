//! `pgdyno history`: when did an experiment's figures change?

use crate::account::stored::{self, Reading};
use crate::account::{self, stand};
use crate::compare::{Format, print, source, told};
use crate::runs::DIRECTORY;
use crate::terminal;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice};
use analysis::compare::Stand;
use analysis::history::{Run, history};
use clap::Parser;
use model::Nanos;
use model::account as facts;
use model::comparison::{Dated, Source};
use report::lang::Lang;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Shows the runs of one experiment in the order of time, and where their figures changed
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno history")]
struct Args {
    /// The experiment's name; that of the newest run unless told
    experiment: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    spoken: Spoken,
}

/// Decides the permutations: the same runs always have the same changes.
const SEED: u64 = 42;

/// Runs the command with the arguments behind its name.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno history");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    match show(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            trouble.tell(&Voice { program: "pgdyno history".to_owned() });
            ExitCode::FAILURE
        }
    }
}

/// One run, read and let go again but for its figures.
struct Read {
    source: Source,
    server: Option<String>,
    experiment: model::plan::Experiment,
    stand: facts::Stand,
    trials: Vec<Vec<(model::PerSecond, Option<f64>)>>,
}

fn show(args: &Args) -> Result<(), Trouble> {
    let lang = args.spoken.lang()?;
    let voice = Voice { program: "pgdyno history".to_owned() };
    let listed = store::list(&args.dir).map_err(|it| Trouble::new(it.to_string()))?;
    for it in listed.iter().filter_map(|it| it.content.as_ref().err()) {
        voice.warning(&format!("{it}; it is left out"));
    }
    // The newest come first.
    let mut named: Vec<(String, PathBuf)> =
        listed.into_iter().filter_map(|it| Some((it.content.ok()?.header.name, it.path))).collect();
    let Some(wanted) = args.experiment.clone().or_else(|| named.first().map(|it| it.0.clone())) else {
        return Err(Trouble::new(format!("no runs in {}", args.dir.display())));
    };
    let mut known: Vec<String> = named.iter().map(|it| it.0.clone()).collect();
    known.sort();
    known.dedup();
    named.retain(|it| it.0 == wanted);
    named.reverse();
    if named.is_empty() {
        let instead = format!("write one of {}", known.join(", "));
        return Err(Trouble::new(format!("no runs of {wanted} in {}", args.dir.display())).hint(instead));
    }
    let mut runs: Vec<Read> = Vec::new();
    for (_, path) in &named {
        match read(path) {
            Ok(it) => runs.push(it),
            Err(trouble) => voice.warning(&format!("{}; it is left out", trouble.what)),
        }
    }
    if runs.is_empty() {
        return Err(Trouble::new(format!("no run of {wanted} in {} can be read", args.dir.display())));
    }
    let all: Vec<Run<'_>> = runs
        .iter()
        .map(|it| Run {
            dated: Dated { source: it.source.clone(), server: it.server.clone() },
            experiment: &it.experiment,
            stand: Stand { machine: &it.stand.machine, nodes: &it.stand.nodes, program: &it.source.program },
            trials: it.trials.clone(),
        })
        .collect();
    let history = history(&wanted, &all, SEED);
    let page = |lang: &dyn Lang| report::comparison::history(&history, lang);
    print(&told(&page, args.format, lang, &json!({ "history": history })), args.format);
    Ok(())
}

fn read(path: &Path) -> Result<Read, Trouble> {
    let reading = Reading::of(path)?;
    let mut trials = vec![Vec::new(); reading.experiment.cells.len()];
    let mut server = None;
    for facts in stored::facts(&account::counting(&reading)) {
        let Some(summary) = facts.valid() else { continue };
        server.get_or_insert_with(|| summary.server.version.clone());
        let p99 = summary.total.response.p99.map(Nanos::as_secs_f64);
        trials[facts.cell].push((summary.total.tps, p99));
    }
    let (source, stand) = (source(path, &reading.header), stand(&reading));
    Ok(Read { source, server, stand, trials, experiment: reading.experiment })
}
