//! Folder with an experiment, and runs of pgdyno on it

use crate::schema;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use store::{Run, RunStatus, State, TrialHeader, TrialId, TrialRecord};

pub const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Experiment with one PostgreSQL and the statement `SELECT 1`.
pub const BARE: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 1s }
";

/// Timeout of every wait in a test. Waits end as soon as their condition holds.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Folder with an experiment. All files of the processes that pgdyno starts are below it, which distinguishes them from
/// those of other tests. On drop, none may be left.
pub struct Workspace {
    pub folder: PathBuf,
    file: PathBuf,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunOutput {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// A run in progress.
pub struct RunningProcess<'a> {
    workspace: &'a Workspace,
    /// The process; `None` after it was waited for.
    child: Option<Child>,
}

impl Workspace {
    pub fn new(name: &str, yaml: &str) -> Workspace {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // The path is short, because socket names have at most 107 bytes. It is on a disk, because disk limits need
        // one.
        let folder = PathBuf::from(format!("/var/tmp/dyno-test-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("tmp")).expect("/var/tmp can be written to");
        for directory in [&folder, &folder.join("tmp")] {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o755))
                .expect("the permissions can be changed");
        }
        let file = folder.join(format!("{name}.yaml"));
        fs::write(&file, yaml).expect("the file can be written");
        Workspace { folder, file }
    }

    /// Command `pgdyno run` with these arguments after the file's name.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(&self.file, arguments)
    }

    pub fn command_on(&self, file: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(PGDYNO);
        command.arg("run").arg(file).args(arguments).current_dir(&self.folder);
        command.env("TMPDIR", self.folder.join("tmp")).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// Runs another command on the file, with 80 columns.
    pub fn other_command(&self, command: &str, arguments: &[&str]) -> RunOutput {
        let mut other = Command::new(PGDYNO);
        other.arg(command).arg(&self.file).args(arguments).current_dir(&self.folder);
        other.env("TMPDIR", self.folder.join("tmp")).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        RunOutput::run(other.env("COLUMNS", "80"))
    }

    /// Runs a command in the folder, not on the file.
    pub fn other(&self, command: &str, arguments: &[&str]) -> RunOutput {
        let mut other = Command::new(PGDYNO);
        other.arg(command).args(arguments).current_dir(&self.folder);
        RunOutput::run(other.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()))
    }

    pub fn run(&self, arguments: &[&str]) -> RunOutput {
        RunOutput::run(&mut self.command(arguments))
    }

    pub fn spawn(&self, arguments: &[&str]) -> RunningProcess<'_> {
        self.spawn_command(&mut self.command(arguments))
    }

    pub fn spawn_command(&self, command: &mut Command) -> RunningProcess<'_> {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        RunningProcess { workspace: self, child: Some(child) }
    }

    /// File of the last run.
    pub fn stored(&self) -> Run {
        let path = runs(&self.folder.join("runs")).pop().expect("a run's file");
        Run::open(&path).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// The only process of this test whose program has this name.
    pub fn process(&self, program: &str) -> Pid {
        let runs_program = |pid: &u32| command_line(*pid).first().is_some_and(|it| it.ends_with(program));
        let found: Vec<u32> = self.processes().into_iter().filter(runs_program).collect();
        assert_eq!(found.len(), 1, "{program}: {found:?}");
        pid(found[0])
    }

    /// Kills all processes of this test that have this word at the end of an argument.
    pub fn kill(&self, end: &str) {
        let has_word = |pid: &u32| command_line(*pid).iter().any(|it| it.ends_with(end));
        let found: Vec<u32> = self.processes().into_iter().filter(has_word).collect();
        assert!(!found.is_empty(), "no process has {end}");
        // Some of them may end with the first.
        for process in found {
            let _ = kill_process(pid(process), Signal::KILL);
        }
    }

    /// Waits until the command line of a process of this test contains these words.
    pub fn await_process(&self, words: &str) {
        retry_until(words, || {
            let all: Vec<String> =
                self.processes().into_iter().map(|it| command_line(it).join(" ")).collect();
            if all.iter().any(|it| it.contains(words)) { Ok(()) } else { Err(all.join("\n")) }
        });
    }

    /// Processes that refer to the test's folder.
    fn processes(&self) -> Vec<u32> {
        let folder = self.folder.to_str().expect("the path is UTF-8");
        let numbers = fs::read_dir("/proc").expect("Linux").flatten();
        let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        let is_own = |pid: &u32| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let text = [read("cmdline"), read("environ")].concat();
            let place = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            place.starts_with(folder) || String::from_utf8_lossy(&text).contains(folder)
        };
        numbers.filter(|it| *it != std::process::id()).filter(is_own).collect()
    }

    /// Remaining processes and files.
    pub fn leftovers(&self) -> Vec<String> {
        let processes =
            self.processes().into_iter().map(|it| format!("process {it}: {:?}", command_line(it)));
        let files = files(&self.folder.join("tmp")).into_iter().map(|it| it.display().to_string());
        processes.chain(files).collect()
    }

    /// Waits until no process and no file remains.
    pub fn await_cleanup(&self) {
        retry_until("nothing remains", || {
            let left = self.leftovers();
            if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
        });
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.await_cleanup();
        }
        // A leftover temporary folder is harmless.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl RunOutput {
    pub fn run(command: &mut Command) -> RunOutput {
        RunOutput::from(&command.output().expect("the program can be started"))
    }

    fn from(output: &Output) -> RunOutput {
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        RunOutput { status: output.status, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Checks the exit status; prints all output if it differs.
    #[track_caller]
    pub fn expect(&self, status: i32) -> &RunOutput {
        assert_eq!(self.status.code(), Some(status), "{}\n{}", self.err, self.out);
        self
    }

    /// JSON document on standard output, which must conform to its published schema.
    #[track_caller]
    pub fn document(&self) -> Value {
        let document =
            serde_json::from_str(&self.out).unwrap_or_else(|it| panic!("{it}:\n{}\n{}", self.err, self.out));
        schema::check(&document);
        document
    }
}

impl RunningProcess<'_> {
    /// Waits until a second of this trial is stored; the first trial is 1.
    pub fn await_trial(&mut self, trial: u32) {
        let workspace = self.workspace;
        self.await_trial_in(trial, || workspace.folder.join("runs"));
    }

    /// Waits until a second of a trial is stored in the folder that `look` returns. `look` is called repeatedly.
    pub fn await_trial_in(&mut self, trial: u32, look: impl Fn() -> PathBuf) {
        let child = self.child.as_mut().expect("the process has not been waited for");
        retry_until("a second is stored", || {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("it has ended: {status}"));
            }
            let path = runs(&look()).pop().ok_or("no file yet")?;
            let run = Run::open(&path).map_err(|it| format!("{it:?}"))?;
            let left = run.ticks(TrialId(trial)).map_err(|it| format!("{it:?}"))?.remaining();
            if left > 0 { Ok(()) } else { Err("no second yet".to_owned()) }
        });
    }

    /// Waits for a line on standard error with this beginning. Consumes the preceding lines.
    pub fn await_line(&mut self, beginning: &str) -> String {
        let child = self.child.as_mut().expect("the process has not been waited for");
        let err = child.stderr.as_mut().expect("standard error is a pipe");
        let mut printed = String::new();
        let mut line = Vec::new();
        // Single bytes are read, so that the rest stays in the pipe.
        let mut byte = [0];
        while err.read(&mut byte).expect("standard error can be read") == 1 {
            if byte != *b"\n" {
                line.extend(byte);
                continue;
            }
            let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
            if text.starts_with(beginning) {
                return text;
            }
            printed += &format!("{text}\n");
        }
        panic!("it never says \"{beginning}\":\n{printed}")
    }

    pub fn pid(&self) -> Pid {
        pid(self.child.as_ref().expect("the process has not been waited for").id())
    }

    /// Sends a signal and waits until it was received, because two equal pending signals may merge.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("the process is running");
        retry_until("the signal is delivered", || {
            let status = fs::read_to_string(format!("/proc/{}/status", self.pid().as_raw_nonzero()))
                .unwrap_or_default();
            let pending = status.lines().find_map(|it| it.strip_prefix("ShdPnd:"));
            let none = pending.is_none_or(|mask| mask.trim().bytes().all(|it| it == b'0'));
            if none { Ok(()) } else { Err(status) }
        });
    }

    /// Stops the process for at least this time.
    pub fn stop_for(&self, duration: Duration) {
        kill_process(self.pid(), Signal::STOP).expect("the process is running");
        retry_until("the process is stopped", || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid().as_raw_nonzero()));
            let stat = stat.unwrap_or_default();
            if stat.contains(") T ") { Ok(()) } else { Err(stat) }
        });
        let begun = Instant::now();
        retry_until("the duration has passed", || {
            if begun.elapsed() > duration { Ok(()) } else { Err(String::new()) }
        });
        kill_process(self.pid(), Signal::CONT).expect("the process exists");
    }

    pub fn wait(mut self) -> RunOutput {
        RunOutput::from(
            &self.child.take().expect("only here").wait_with_output().expect("the process can be waited for"),
        )
    }

    /// True if the process has exited.
    pub fn has_exited(&mut self) -> bool {
        let child = self.child.as_mut().expect("the process has not been waited for");
        child.try_wait().expect("the process can be waited for").is_some()
    }

    /// Process id of the keeper, which is part of the control groups' names.
    pub fn keeper(&self) -> u32 {
        let directory = files(&self.workspace.folder.join("tmp")).pop().expect("a directory of its own");
        let name = directory.file_name().and_then(|it| it.to_str()).expect("a plain name");
        name.strip_prefix("pgdyno-").and_then(|it| it.parse().ok()).expect("pgdyno-<number>")
    }
}

impl Drop for RunningProcess<'_> {
    /// Kills the process, so that a failed test leaves nothing running.
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Directories of the control groups that belong to this keeper.
pub fn groups(keeper: u32) -> Vec<PathBuf> {
    fn below(directory: &Path, name: &str, depth: u32, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|it| it.is_dir()) {
                continue;
            }
            if entry.file_name() == *name {
                found.push(entry.path());
            } else if depth > 0 {
                below(&entry.path(), name, depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    below(Path::new("/sys/fs/cgroup"), &format!("pgdyno-{keeper}"), 5, &mut found);
    found
}

/// Repeats `ask` until it succeeds. Panics with the last error after the timeout.
#[track_caller]
pub fn retry_until(description: &str, mut ask: impl FnMut() -> Result<(), String>) {
    let begun = Instant::now();
    while let Err(answer) = ask() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{description}: not within {WAIT_TIMEOUT:?}: {answer}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Row with this value on any axis.
#[track_caller]
pub fn row<'a>(document: &'a Value, value: &str) -> &'a Value {
    let rows = document["matrix"]["rows"].as_array().expect("rows");
    let is_labelled =
        |row: &&Value| row["label"].as_array().is_some_and(|labels| labels.iter().any(|it| it[1] == value));
    rows.iter().find(is_labelled).unwrap_or_else(|| panic!("no row {value} in {document:#}"))
}

/// Median of a figure; `None` if it was not measured.
pub fn figure(row: &Value, name: &str) -> Option<f64> {
    let figures = row["figures"].as_array().expect("the value is an array");
    figures.iter().find(|it| it["figure"] == name)?["median"].as_f64()
}

/// All stored trials, with their outcomes and reasons.
pub fn trials(run: &Run) -> Vec<(TrialHeader, RunStatus, String)> {
    let ended = |record: TrialRecord| match record.state {
        State::Ended(outcome) => (record.trial, outcome.status, outcome.reason.unwrap_or_default()),
        other => panic!("it has not ended: {other:?}"),
    };
    run.trials().unwrap_or_else(|error| panic!("{error:?}")).into_iter().map(ended).collect()
}

/// Outcomes of a trial's ticks: successful, failed, unknown and dropped ones, and refused connections by code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub seconds: usize,
    pub ok: u64,
    pub failed: u64,
    pub unknown: u64,
    pub dropped: u64,
    pub refused: Vec<(String, u64)>,
}

pub fn counts(run: &Run, trial: u32) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    for tick in run.ticks(TrialId(trial)).unwrap_or_else(|error| panic!("{error:?}")) {
        let interval = tick.unwrap_or_else(|error| panic!("{error:?}")).interval;
        counts.seconds += 1;
        for cell in &interval.scripts {
            counts.ok += cell.ok;
            counts.failed += cell.failed.iter().map(|it| it.1).sum::<u64>();
            counts.unknown += cell.unknown.iter().map(|it| it.1).sum::<u64>();
            counts.dropped += cell.dropped;
        }
        counts.refused.extend(interval.refused.iter().map(|(code, count)| (code.to_string(), count)));
    }
    counts
}

/// True if this signal ended the process.
pub fn ended_by_signal(ended: &RunOutput, signal: Signal) -> bool {
    ended.status.signal() == Some(signal.as_raw())
}

/// True if the tests run as root, which control groups and mounts require.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).expect("process numbers fit")).expect("not 0")
}

fn command_line(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|it| *it == 0).map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

/// Run files, the newest one last. The times in their names have a resolution of one second.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let is_run = |path: &PathBuf| path.extension().is_some_and(|it| it == "dyno");
    let mut runs: Vec<PathBuf> = files(folder).into_iter().filter(is_run).collect();
    runs.sort_by_key(|path| fs::metadata(path).and_then(|it| it.modified()).expect("the file exists"));
    runs
}

/// Contents of a folder, sorted by name; empty if it does not exist.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    all.sort();
    all
}

/// Results of `work` for all items, in any order, for `count` items at the same time.
pub fn for_each_at_once<T: Sync, R: Send>(
    items: &[T],
    count: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let own = iter::from_fn(|| items.get(next.fetch_add(1, Ordering::Relaxed)));
        own.map(&work).collect::<Vec<R>>()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|it| it.join().expect("no thread panics")).collect()
    })
}

/// Items that an environment variable names, separated by commas, or all items if it is `all`; `None` if it is not set.
pub fn selected<'a, T>(variable: &str, items: &'a [T], name: impl Fn(&T) -> &str) -> Option<Vec<&'a T>> {
    let selection = std::env::var(variable).ok()?;
    let is_wanted = |item: &&T| selection == "all" || selection.split(',').any(|wanted| wanted == name(item));
    Some(items.iter().filter(is_wanted).collect())
}
