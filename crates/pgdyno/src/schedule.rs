//! `pgdyno schedule`: previews the arrivals of a schedule

use crate::cli::language::LanguageArgs;
use crate::cli::{self, CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::{diagnostics, terminal};
use clap::{Parser, ValueEnum};
use load::schedule::{self, Arrivals};
use model::{Curve, Spacing};
use report::json_document::{ScheduleDocument, to_json_line};
use report::lang::Lang;
use report::plot::CharacterSet;
use report::preview::{self, SchedulePreview};
use report::terminal::{sanitise, sanitise_json};
use std::io::{self, BufWriter, Write};

/// Preview a schedule: number of arrivals, duration and rates
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno schedule")]
pub struct Args {
    /// Schedule in Yandex.Tank's syntax: line(from, to, duration), const(rate, duration) and
    /// step(from, to, increment, duration), one after the other; rates per second, durations as 1d2h3m4s
    #[arg(value_name = "EXPR")]
    expression: String,
    /// Spacing of the arrivals
    #[arg(long, value_enum, default_value = "even")]
    arrivals: SpacingArg,
    /// Random seed of Poisson arrivals
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the scheduled time of each arrival in milliseconds, one per line
    #[arg(long)]
    times: bool,
    /// Print one JSON document; with --times, it includes the arrivals
    #[arg(long)]
    json: bool,
    /// Draw the plot in ASCII
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SpacingArg {
    Even,
    Poisson,
}

/// Number of columns of the plot. With its margin, the plot fits into 80 columns.
const COLUMNS: usize = 64;

/// Largest expected number of Poisson arrivals for which arrivals are counted one by one, which takes less than a
/// second.
const EXACT_COUNT_MAX: f64 = 1e7;

/// Runs the command. The exit status is 2 for wrong arguments or a wrong schedule, and 1 if the output cannot be
/// written.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno schedule", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let curve = match schedule::parse(&args.expression) {
        Ok(curve) => curve,
        Err(diagnostics) => {
            let diagnostics = diagnostics::in_argument("EXPR", &args.expression, diagnostics);
            err!("{}", diagnostics::render(&diagnostics, diagnostics::use_colour(), lang));
            return Ok(ExitStatus::Incomplete);
        }
    };
    terminal::stream(|out| print(args, &curve, lang, &mut BufWriter::new(out)));
    Ok(ExitStatus::Success)
}

fn print(args: &Args, curve: &Curve, lang: &Lang, out: &mut impl Write) -> io::Result<()> {
    let arrivals = || Arrivals::new(curve, args.spacing(), args.seed, (0, 1)).map(|due| due.0 / 1_000_000);
    match (args.times, args.json) {
        (true, false) => arrivals().try_for_each(|millis| writeln!(out, "{millis}"))?,
        (false, false) => {
            write!(
                out,
                "{}",
                sanitise(&preview::render(&args.preview(curve), args.characters(), lang), false)
            )?;
        }
        (false, true) => {
            let preview = args.preview(curve);
            writeln!(out, "{}", sanitise_json(&to_json_line(&ScheduleDocument::from(&preview))))?;
        }
        (true, true) => {
            // Stream the intended starts, because they may not fit into memory.
            let preview = args.preview(curve);
            let document =
                ScheduleDocument { times_ms: Some(Vec::new()), ..ScheduleDocument::from(&preview) };
            let object = sanitise_json(&to_json_line(&document));
            write!(out, "{}", object.strip_suffix("]}").expect("an empty list is the last member"))?;
            arrivals()
                .enumerate()
                .try_for_each(|(i, millis)| write!(out, "{}{millis}", if i > 0 { "," } else { "" }))?;
            writeln!(out, "]}}")?;
        }
    }
    out.flush()
}

impl Args {
    fn spacing(&self) -> Spacing {
        match self.arrivals {
            SpacingArg::Even => Spacing::Even,
            SpacingArg::Poisson => Spacing::Poisson,
        }
    }

    fn preview(&self, curve: &Curve) -> SchedulePreview {
        let (lowest, highest) = schedule::rate_range(curve);
        let expected = schedule::poisson_mean(curve);
        let counted = || Arrivals::new(curve, Spacing::Poisson, self.seed, (0, 1)).count() as u64;
        let arrivals = match self.arrivals {
            SpacingArg::Even => Some(schedule::even_count(curve)),
            SpacingArg::Poisson => (expected <= EXACT_COUNT_MAX).then(counted),
        };
        SchedulePreview {
            schedule: self.expression.clone(),
            spacing: self.spacing(),
            seed: self.seed,
            arrivals,
            expected,
            duration: curve.duration(),
            lowest,
            highest,
            rates: schedule::mean_rates(curve, COLUMNS),
        }
    }

    fn characters(&self) -> CharacterSet {
        if self.ascii { CharacterSet::Ascii } else { cli::characters() }
    }
}
