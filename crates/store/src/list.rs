//! List of stored runs

use crate::error::{Attempt, Error, ErrorCause, Result};
use crate::file::{EXTENSION, journal_path};
use crate::read::{Run, State};
use crate::record::RunHeader;
use crate::stop_request;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Entry of the list of runs.
#[derive(Debug)]
pub struct RunEntry {
    /// Name of the run's file without `.dyno`.
    pub name: String,
    pub path: PathBuf,
    /// Size in bytes, including the journal if there is one.
    pub bytes: u64,
    /// Summary of the run, or the error that prevented reading it.
    pub overview: Result<RunOverview>,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOverview {
    pub header: RunHeader,
    pub state: State,
    /// Number of cells of the experiment.
    pub cells: usize,
    /// Number of trials that have begun.
    pub trials: usize,
}

/// Timeout for a run that its writer has locked. After the timeout, the other runs are still listed.
const LIST_TIMEOUT: Duration = Duration::from_secs(1);

/// Lists all `.dyno` files in `dir`, most recent start first and unreadable files last. The list is empty if `dir` does
/// not exist.
pub fn list(dir: &Path) -> Result<Vec<RunEntry>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::system(dir, Attempt::List)(error)),
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::system(dir, Attempt::List))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        if let (true, Some(name)) = (is_file, run_name(&path)) {
            let content = Run::open_with_timeout(&path, LIST_TIMEOUT).and_then(|it| overview(&it));
            all.push(RunEntry { name, bytes: file_bytes(&path), overview: content, path });
        }
    }
    let begun = |entry: &RunEntry| entry.overview.as_ref().ok().map(|it| it.header.begun_ms);
    all.sort_by(|a, b| begun(b).cmp(&begun(a)).then_with(|| b.name.cmp(&a.name)));
    Ok(all)
}

fn overview(run: &Run) -> Result<RunOverview> {
    let header = run.header()?;
    let cells = header.experiment["cells"].as_array().map_or(0, Vec::len);
    Ok(RunOverview { header, cells, trials: run.progress()?.started as usize, state: run.state()? })
}

/// Finds the file of the run with exactly this listed name. No `name` can refer to a file outside of `dir`.
pub fn find_exact(dir: &Path, name: &str) -> Result<PathBuf> {
    match run_names(dir)?.iter().any(|it| it == name) {
        true => Ok(run_path(dir, name)),
        false => Err(Error::new(Path::new(name), ErrorCause::NotFound)),
    }
}

/// Deletes the run with exactly this name in `dir`, and its journal. Fails if the run is being written.
pub fn remove(dir: &Path, name: &str) -> Result<PathBuf> {
    let name = name.strip_suffix(".dyno").unwrap_or(name);
    let path = run_path(dir, name);
    let is_there = run_names(dir)?.iter().any(|it| it == name);
    if !is_there {
        return Err(Error::new(Path::new(name), ErrorCause::NotFound));
    }
    match Run::open(&path).and_then(|it| it.state()) {
        Ok(State::Running) => return Err(Error::new(&path, ErrorCause::Busy)),
        // Never delete a file of another program, even if it is named like a run.
        Err(error) if matches!(error.cause, ErrorCause::NotRunFile) => return Err(error),
        _ => {}
    }
    fs::remove_file(&path).map_err(Error::system(&path, Attempt::Remove))?;
    // A journal exists only if the writer was killed.
    let _ = fs::remove_file(journal_path(&path));
    stop_request::clear_request(&path);
    Ok(path)
}

/// Names of the runs in `dir`. Files that are not regular files are ignored.
pub fn run_names(dir: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::system(dir, Attempt::List)(error)),
    };
    let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_file()));
    let mut names: Vec<String> = files.filter_map(|it| run_name(&it.path())).collect();
    names.sort();
    Ok(names)
}

fn run_name(path: &Path) -> Option<String> {
    let fits = path.extension().is_some_and(|it| it == EXTENSION);
    fits.then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
}

pub(crate) fn run_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.{EXTENSION}"))
}

fn file_bytes(path: &Path) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |it| it.len());
    length(path) + length(&journal_path(path))
}
