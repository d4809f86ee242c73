//! Lookup of a run by its path, name or age

use crate::error::{Error, Result};
use crate::list::{list, run_names, run_path};
use std::path::{Path, PathBuf};

/// Run that a user's text identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRun {
    pub path: PathBuf,
    /// True if the text is the run's path or whole name; false if it selects one of several runs.
    pub is_exact: bool,
}

/// Reason why a text does not identify a run.
#[derive(Debug)]
pub enum FindError {
    /// The directory cannot be read.
    Unreadable(Error),
    /// No run matches. `candidates` are the names of all runs, the newest first.
    Unknown { candidates: Vec<String> },
    /// The text is the beginning of several names, the newest first.
    Ambiguous { candidates: Vec<String> },
}

impl From<Error> for FindError {
    fn from(error: Error) -> FindError {
        FindError::Unreadable(error)
    }
}

/// Finds the file of a run. `text` is a path or one of the names that [`find_in`] accepts.
pub fn find(dir: &Path, text: &str) -> std::result::Result<FoundRun, FindError> {
    if text.contains('/') || text.ends_with(".dyno") {
        let file = [PathBuf::from(text), dir.join(text)].into_iter().find(|it| it.is_file());
        return match file {
            Some(path) => Ok(FoundRun { path, is_exact: true }),
            None => Err(FindError::Unknown { candidates: newest_names(dir)? }),
        };
    }
    find_in(dir, text)
}

/// Finds a run in `dir`. `text` is the name of a run, `last` (the newest run), the name of an experiment (its newest
/// run), `last` or an experiment's name with `~N` (the run N runs earlier), or the beginning of exactly one run's name.
/// No `text` can refer to a file outside of `dir`.
pub fn find_in(dir: &Path, text: &str) -> std::result::Result<FoundRun, FindError> {
    let names = run_names(dir)?;
    if names.iter().any(|it| it == text) {
        return Ok(FoundRun { path: run_path(dir, text), is_exact: true });
    }
    let (name, earlier) = text
        .rsplit_once('~')
        .and_then(|(name, earlier)| Some((name, earlier.parse::<usize>().ok()?)))
        .unwrap_or((text, 0));
    let listed = list(dir)?;
    let mut selected = listed
        .iter()
        .filter(|entry| entry.overview.as_ref().is_ok_and(|it| name == "last" || it.header.name == name));
    if let Some(entry) = selected.nth(earlier) {
        return Ok(FoundRun { path: entry.path.clone(), is_exact: false });
    }
    let all: Vec<String> = listed.into_iter().map(|it| it.name).collect();
    let matching: Vec<&String> = all.iter().filter(|it| !text.is_empty() && it.starts_with(text)).collect();
    match matching.as_slice() {
        [] => Err(FindError::Unknown { candidates: all }),
        [name] => Ok(FoundRun { path: run_path(dir, name), is_exact: false }),
        names => Err(FindError::Ambiguous { candidates: names.iter().map(|it| (*it).clone()).collect() }),
    }
}

fn newest_names(dir: &Path) -> Result<Vec<String>> {
    Ok(list(dir)?.into_iter().map(|it| it.name).collect())
}
