//! `pgdyno advise`: which indexes would help, and which statements does none help?

use crate::account;
use crate::runs::DIRECTORY;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice, plain};
use clap::Parser;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tells which indexes would help the statements of a run, and which statements none helps. Asks nobody but the run's file.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno advise")]
struct Args {
    /// A path, a name or its beginning, or `last`
    run: String,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    /// Print the advice as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    spoken: Spoken,
}

/// Runs the command with the arguments behind its name; the exit status is 2 for wrong ones and 1 when it cannot be done.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno advise");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => {
            // Help goes to standard output, whose reader may have gone; there is nobody left to tell.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match told(&args).and_then(|it| print(&it)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            trouble.tell(&Voice { program: "pgdyno advise".to_owned() });
            ExitCode::FAILURE
        }
    }
}

fn told(args: &Args) -> Result<String, Trouble> {
    let lang = args.spoken.lang()?;
    let path = store::find(&args.dir, &args.run).map_err(|it| Trouble::new(it.to_string()))?;
    let account = account::of(&path)?;
    if args.json {
        return Ok(serde_json::to_string_pretty(&account.advice).expect("strings as keys only") + "\n");
    }
    Ok(report::advice::text(&account, lang))
}

fn print(text: &str) -> Result<(), Trouble> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // The reader, `head` for instance, has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Trouble::new(format!("could not write to standard output: {}", plain(&error))))
        }
        _ => Ok(()),
    }
}
