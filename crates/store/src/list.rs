//! Which runs are there?

use crate::error::{Error, Result, Wrong};
use crate::file::{EXTENSION, journal};
use crate::read::{Run, State};
use crate::request;
use crate::words::Header;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a list tells of a run.
#[derive(Debug)]
pub struct Listed {
    /// The file's name without `.dyno`.
    pub name: String,
    pub path: PathBuf,
    /// With its journal, if it has one.
    pub bytes: u64,
    /// Why it cannot be read, otherwise.
    pub content: Result<Content>,
}

/// What is in a run, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    pub header: Header,
    pub state: State,
    /// Of the experiment.
    pub cells: usize,
    /// That have begun.
    pub trials: usize,
}

/// How long the writer of one run may keep us from listing the others.
const PATIENCE: Duration = Duration::from_secs(1);

/// All `.dyno` files in `dir`, those that began last first; unreadable ones last. Empty if there is no such directory.
pub fn list(dir: &Path) -> Result<Vec<Listed>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::system(dir, "list")(error)),
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::system(dir, "list"))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        if let (true, Some(name)) = (is_file, name_of(&path)) {
            let content = Run::open_within(&path, PATIENCE).and_then(|it| content(&it));
            all.push(Listed { name, bytes: bytes(&path), content, path });
        }
    }
    let begun = |it: &Listed| it.content.as_ref().ok().map(|it| it.header.begun_ms);
    all.sort_by(|a, b| begun(b).cmp(&begun(a)).then_with(|| b.name.cmp(&a.name)));
    Ok(all)
}

fn content(run: &Run) -> Result<Content> {
    let header = run.header()?;
    let cells = header.experiment["cells"].as_array().map_or(0, Vec::len);
    Ok(Content { header, cells, trials: run.glance()?.begun as usize, state: run.state()? })
}

/// The file that is meant by `run`: `last`, a name as in the list, the beginning of exactly one, or a path.
pub fn find(dir: &Path, run: &str) -> Result<PathBuf> {
    let unknown = || Error::new(Path::new(run), Wrong::Unknown);
    if run == "last" {
        let newest = list(dir)?.into_iter().find(|it| it.content.is_ok());
        return newest.map(|it| it.path).ok_or_else(unknown);
    }
    if run.contains('/') || run.ends_with(".dyno") {
        let path = PathBuf::from(run);
        let inside = dir.join(run);
        return [path, inside].into_iter().find(|it| it.is_file()).ok_or_else(unknown);
    }
    let names: Vec<String> = names(dir)?.into_iter().filter(|it| it.starts_with(run)).collect();
    match names.as_slice() {
        [name] => Ok(file(dir, name)),
        names if names.iter().any(|it| it == run) => Ok(file(dir, run)),
        [] => Err(unknown()),
        _ => Err(Error::new(Path::new(run), Wrong::Ambiguous { names: names.to_vec() })),
    }
}

/// The file of exactly this name as in the list: whatever `name` says, nothing outside of `dir` is meant.
pub fn exact(dir: &Path, name: &str) -> Result<PathBuf> {
    match names(dir)?.iter().any(|it| it == name) {
        true => Ok(file(dir, name)),
        false => Err(Error::new(Path::new(name), Wrong::Unknown)),
    }
}

/// Deletes the run of exactly this name in `dir`, and its journal; not while it is being written.
pub fn remove(dir: &Path, name: &str) -> Result<PathBuf> {
    let name = name.strip_suffix(".dyno").unwrap_or(name);
    let path = file(dir, name);
    let is_there = names(dir)?.iter().any(|it| it == name);
    if !is_there {
        return Err(Error::new(Path::new(name), Wrong::Unknown));
    }
    match Run::open(&path).and_then(|it| it.state()) {
        Ok(State::Running) => return Err(Error::new(&path, Wrong::Busy)),
        // Another program's file keeps its life, whatever it is called.
        Err(error) if matches!(error.wrong, Wrong::Foreign) => return Err(error),
        _ => {}
    }
    fs::remove_file(&path).map_err(Error::system(&path, "remove"))?;
    // There is one only after a kill.
    let _ = fs::remove_file(journal(&path));
    request::forget(&path);
    Ok(path)
}

/// Only plain files.
fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::system(dir, "list")(error)),
    };
    let files = entries.flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    let mut names: Vec<String> = files.filter_map(|it| name_of(&it.path())).collect();
    names.sort();
    Ok(names)
}

fn name_of(path: &Path) -> Option<String> {
    let fits = path.extension().is_some_and(|it| it == EXTENSION);
    fits.then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
}

fn file(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.{EXTENSION}"))
}

fn bytes(path: &Path) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |it| it.len());
    length(path) + length(&journal(path))
}
