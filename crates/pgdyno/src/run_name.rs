//! Run arguments of all commands: path, name, experiment, `last`, or the beginning of a name

use crate::cli::{CommandError, Terminal};
use report::lang::Lang;
use report::say;
use std::path::{Path, PathBuf};
use store::FindError;

/// Default directory of runs.
pub const DIRECTORY: &str = "runs";

/// Help text of arguments that name a run.
pub const HELP: &str =
    "Run: path, name or its beginning, experiment (its newest run), or `last`; with ~N, N runs earlier";

/// Maximum number of names in an error message.
const CANDIDATES_MAX: usize = 5;

/// Finds the file of a run in `dir`. Unless `text` is the run's whole name or path, prints which run was selected.
pub fn find(dir: &Path, text: &str, terminal: &Terminal, lang: &Lang) -> Result<PathBuf, CommandError> {
    let found = store::find(dir, text).map_err(|error| find_error(&error, dir, text, lang))?;
    if !found.is_exact {
        let name = found.path.file_stem().unwrap_or_default().to_string_lossy();
        let started = store::Run::open(&found.path).and_then(|it| it.header()).ok();
        let started = started.map(|it| lang.moment(it.begun_ms));
        terminal.info(&say!(lang, "runs-selected", text, run = name.as_ref(), started));
    }
    Ok(found.path)
}

fn find_error(error: &FindError, dir: &Path, text: &str, lang: &Lang) -> CommandError {
    let directory = dir.display().to_string();
    let shown = |names: &[String]| {
        let shown = names.iter().take(CANDIDATES_MAX).cloned().collect::<Vec<_>>().join(", ");
        say!(lang, "runs-candidates", names = shown, more = names.len().saturating_sub(CANDIDATES_MAX))
    };
    match error {
        FindError::Unreadable(error) => CommandError::new(error),
        FindError::Unknown { candidates } => {
            CommandError::new(say!(lang, "runs-unknown", text, directory = &directory)).with_hint(
                match candidates.is_empty() {
                    true => say!(lang, "runs-none", directory),
                    false => say!(lang, "runs-unknown-hint", candidates = shown(candidates)),
                },
            )
        }
        FindError::Ambiguous { candidates } => {
            CommandError::new(say!(lang, "runs-ambiguous", text, candidates = shown(candidates)))
                .with_hint(say!(lang, "runs-ambiguous-hint"))
        }
    }
}
