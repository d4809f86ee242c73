//! An experiment in a folder of its own, and pgdyno run on it.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use store::{Run, RunStatus, State, TrialHeader, TrialId, TrialRecord};

pub const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// For a system of one PostgreSQL that is only asked for a 1.
pub const BARE: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 1s }
";

/// How long anything may take before a test gives up; nothing waits for it otherwise.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with an experiment. What pgdyno starts has its files below it, which is how we know it from what others run
/// meanwhile. When it is dropped nothing may be left of that.
pub struct Workspace {
    pub folder: PathBuf,
    file: PathBuf,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunOutput {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// A run under way.
pub struct RunningProcess<'a> {
    bench: &'a Workspace,
    /// Until it has been waited for.
    child: Option<Child>,
}

impl Workspace {
    pub fn new(name: &str, yaml: &str) -> Workspace {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Short, since sockets below it have names of 107 bytes at most; on a disk, since limits want one.
        let folder = PathBuf::from(format!("/var/tmp/dyno-test-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("tmp")).expect("/var/tmp can be written to");
        for it in [&folder, &folder.join("tmp")] {
            fs::set_permissions(it, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let file = folder.join(format!("{name}.yaml"));
        fs::write(&file, yaml).expect("it is ours");
        Workspace { folder, file }
    }

    /// `pgdyno run` with these arguments behind the file's name.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(&self.file, arguments)
    }

    pub fn command_on(&self, file: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(PGDYNO);
        command.arg("run").arg(file).args(arguments).current_dir(&self.folder);
        command.env("TMPDIR", self.folder.join("tmp")).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> RunOutput {
        RunOutput::run(&mut self.command(arguments))
    }

    pub fn spawn(&self, arguments: &[&str]) -> RunningProcess<'_> {
        self.spawn_command(&mut self.command(arguments))
    }

    pub fn spawn_command(&self, command: &mut Command) -> RunningProcess<'_> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be run");
        RunningProcess { bench: self, child: Some(child) }
    }

    /// The file of the last run.
    pub fn stored(&self) -> Run {
        let path = runs(&self.folder.join("runs")).pop().expect("a run's file");
        Run::open(&path).unwrap_or_else(|why| panic!("{why}"))
    }

    /// The one process of ours whose program is called so.
    pub fn process(&self, program: &str) -> Pid {
        let is = |pid: &u32| command_line(*pid).first().is_some_and(|it| it.ends_with(program));
        let found: Vec<u32> = self.processes().into_iter().filter(is).collect();
        assert_eq!(found.len(), 1, "{program}: {found:?}");
        pid(found[0])
    }

    /// Waits until a process of ours is called so, whatever else it is called.
    pub fn await_process(&self, words: &str) {
        retry_until(words, || {
            let all: Vec<String> =
                self.processes().into_iter().map(|it| command_line(it).join(" ")).collect();
            if all.iter().any(|it| it.contains(words)) { Ok(()) } else { Err(all.join("\n")) }
        });
    }

    /// Whatever has to do with our folder.
    fn processes(&self) -> Vec<u32> {
        let folder = self.folder.to_str().expect("a plain name");
        let numbers = fs::read_dir("/proc").expect("Linux").flatten();
        let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        let ours = |pid: &u32| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let said = [read("cmdline"), read("environ")].concat();
            let place = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            place.starts_with(folder) || String::from_utf8_lossy(&said).contains(folder)
        };
        numbers.filter(|it| *it != std::process::id()).filter(ours).collect()
    }

    /// Processes, files and control groups.
    pub fn leftovers(&self) -> Vec<String> {
        let processes =
            self.processes().into_iter().map(|it| format!("process {it}: {:?}", command_line(it)));
        let files = files(&self.folder.join("tmp")).into_iter().map(|it| it.display().to_string());
        processes.chain(files).collect()
    }

    /// Waits until nothing is left of what was started.
    pub fn await_cleanup(&self) {
        retry_until("nothing remains", || {
            let left = self.leftovers();
            if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
        });
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.await_cleanup();
        }
        // It lies among temporary files: nothing is lost if it stays.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl RunOutput {
    pub fn run(command: &mut Command) -> RunOutput {
        RunOutput::from(&command.output().expect("it can be run"))
    }

    fn from(output: &Output) -> RunOutput {
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        RunOutput { status: output.status, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Everything it said, if its exit status is another one.
    #[track_caller]
    pub fn expect(&self, status: i32) -> &RunOutput {
        assert_eq!(self.status.code(), Some(status), "{}\n{}", self.err, self.out);
        self
    }

    /// What `--json` printed.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|it| panic!("{it}:\n{}\n{}", self.err, self.out))
    }
}

impl RunningProcess<'_> {
    /// Waits until a second of this trial is stored; 1 is the first.
    pub fn await_trial(&mut self, trial: u32) {
        let bench = self.bench;
        self.await_trial_in(trial, || bench.folder.join("runs"));
    }

    /// The same for a run whose file lies in the folder that `look` returns; it is asked each time.
    pub fn await_trial_in(&mut self, trial: u32, look: impl Fn() -> PathBuf) {
        let child = self.child.as_mut().expect("it has not been waited for");
        retry_until("a second is stored", || {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("it has ended: {status}"));
            }
            let path = runs(&look()).pop().ok_or("no file yet")?;
            let run = Run::open(&path).map_err(|it| it.to_string())?;
            let left = run.ticks(TrialId(trial)).map_err(|it| it.to_string())?.remaining();
            if left > 0 { Ok(()) } else { Err("no second yet".to_owned()) }
        });
    }

    /// Waits for a line on standard error that begins so; what stands before it is taken.
    pub fn await_line(&mut self, beginning: &str) -> String {
        let child = self.child.as_mut().expect("it has not been waited for");
        let err = child.stderr.as_mut().expect("it is piped");
        let mut said = String::new();
        let mut line = Vec::new();
        // Byte by byte, so that the rest is still there.
        let mut byte = [0];
        while err.read(&mut byte).expect("it can be read") == 1 {
            if byte != *b"\n" {
                line.extend(byte);
                continue;
            }
            let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
            if text.starts_with(beginning) {
                return text;
            }
            said += &format!("{text}\n");
        }
        panic!("it never says \"{beginning}\":\n{said}")
    }

    pub fn pid(&self) -> Pid {
        pid(self.child.as_ref().expect("it has not been waited for").id())
    }

    /// Sends it, and waits until it was taken note of, since two of a kind may become one.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
        retry_until("the signal is taken", || {
            let status = fs::read_to_string(format!("/proc/{}/status", self.pid().as_raw_nonzero()))
                .unwrap_or_default();
            let pending = status.lines().find_map(|it| it.strip_prefix("ShdPnd:"));
            let none = pending.is_none_or(|it| it.trim().bytes().all(|it| it == b'0'));
            if none { Ok(()) } else { Err(status) }
        });
    }

    /// Stops it for at least so long.
    pub fn stop_for(&self, lasting: Duration) {
        kill_process(self.pid(), Signal::STOP).expect("it runs");
        retry_until("it is stopped", || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid().as_raw_nonzero()));
            let stat = stat.unwrap_or_default();
            if stat.contains(") T ") { Ok(()) } else { Err(stat) }
        });
        let begun = Instant::now();
        retry_until("time passes", || if begun.elapsed() > lasting { Ok(()) } else { Err(String::new()) });
        kill_process(self.pid(), Signal::CONT).expect("it is there");
    }

    pub fn wait(mut self) -> RunOutput {
        RunOutput::from(&self.child.take().expect("only here").wait_with_output().expect("it ends"))
    }

    /// It has ended.
    pub fn has_exited(&mut self) -> bool {
        let child = self.child.as_mut().expect("it has not been waited for");
        child.try_wait().expect("it is ours").is_some()
    }

    /// The number of the keeper, which control groups are named by.
    pub fn keeper(&self) -> u32 {
        let directory = files(&self.bench.folder.join("tmp")).pop().expect("a directory of its own");
        let name = directory.file_name().and_then(|it| it.to_str()).expect("a plain name");
        name.strip_prefix("pgdyno-").and_then(|it| it.parse().ok()).expect("pgdyno-<number>")
    }
}

impl Drop for RunningProcess<'_> {
    /// A test that fails leaves nothing running either.
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Directories of control groups that belong to this keeper.
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

/// Asks again and again; panics with the last answer.
#[track_caller]
pub fn retry_until(what: &str, mut ask: impl FnMut() -> Result<(), String>) {
    let begun = Instant::now();
    while let Err(answer) = ask() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}: {answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The row whose value on any axis is this one.
#[track_caller]
pub fn row<'a>(document: &'a Value, value: &str) -> &'a Value {
    let rows = document["matrix"]["rows"].as_array().expect("rows");
    let is = |it: &&Value| it["label"].as_array().is_some_and(|it| it.iter().any(|it| it[1] == value));
    rows.iter().find(is).unwrap_or_else(|| panic!("no row {value} in {document:#}"))
}

/// The median of a figure; `None` where it was not measured.
pub fn figure(row: &Value, name: &str) -> Option<f64> {
    let figures = row["figures"].as_array().expect("a list");
    figures.iter().find(|it| it["figure"] == name)?["median"].as_f64()
}

/// All trials as they were stored, with how each ended.
pub fn trials(run: &Run) -> Vec<(TrialHeader, RunStatus, String)> {
    let ended = |it: TrialRecord| match it.state {
        State::Ended(outcome) => (it.trial, outcome.status, outcome.reason.unwrap_or_default()),
        other => panic!("it has not ended: {other:?}"),
    };
    run.trials().unwrap_or_else(|why| panic!("{why}")).into_iter().map(ended).collect()
}

/// Of a trial's ticks: how many ended well, failed, are unknown or were dropped, and by code how many were refused.
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
    for tick in run.ticks(TrialId(trial)).unwrap_or_else(|why| panic!("{why}")) {
        let interval = tick.unwrap_or_else(|why| panic!("{why}")).interval;
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

/// Whether a signal ended it.
pub fn ended_by_signal(ended: &RunOutput, signal: Signal) -> bool {
    ended.status.signal() == Some(signal.as_raw())
}

/// What control groups and mounts want.
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

/// Runs' files, the last one last.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let is_run = |it: &PathBuf| it.extension().is_some_and(|it| it == "dyno");
    files(folder).into_iter().filter(is_run).collect()
}

/// What lies in a folder, by name; nothing where there is none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    all.sort();
    all
}
