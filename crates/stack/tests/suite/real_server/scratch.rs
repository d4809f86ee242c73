//! Scratch directory that detects resources that a test leaves behind

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Path of this program, even if a build has replaced its file.
pub const OURSELVES: &str = "/proc/self/exe";

/// Directory on disk for the run directories of one test.
pub struct Scratch {
    pub path: PathBuf,
    /// Timeout for processes and directories to disappear.
    pub timeout: Duration,
}

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = PathBuf::from(format!("/var/tmp/stack-test-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Scratch { path, timeout: Duration::from_secs(30) }
    }

    /// Lists processes that refer to the directory in their arguments, environment or working directory.
    pub fn processes(&self) -> Vec<String> {
        let mark = self.path.to_str().unwrap();
        let describe = |pid: &Path| {
            let read = |name: &str| {
                String::from_utf8_lossy(&std::fs::read(pid.join(name)).unwrap_or_default()).into_owned()
            };
            let cwd = std::fs::read_link(pid.join("cwd")).unwrap_or_default();
            let line = format!("{} {}", pid.display(), read("cmdline").replace('\0', " "));
            (line.contains(mark) || read("environ").contains(mark) || cwd.starts_with(mark)).then_some(line)
        };
        let numbers = std::fs::read_dir("/proc").unwrap().flatten().map(|it| it.path());
        numbers.filter_map(|it| describe(&it)).collect()
    }

    pub fn entries(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.path).unwrap().flatten().map(|it| it.path()).collect()
    }

    /// Lists mounts that refer to the directory, as this process sees them, and loop devices of its files.
    pub fn mounts(&self) -> Vec<String> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let disks = std::fs::read_dir("/sys/block").unwrap().flatten();
        let files = disks.filter_map(|it| std::fs::read_to_string(it.path().join("loop/backing_file")).ok());
        let all = mounts.lines().map(str::to_owned).chain(files);
        let mark = self.path.to_str().unwrap();
        all.filter(|it| it.contains(mark)).collect()
    }

    /// Waits until nothing remains or the time is up; returns the remaining processes and directories.
    pub fn left(&self) -> (Vec<String>, Vec<PathBuf>) {
        let deadline = Instant::now() + self.timeout;
        loop {
            let left = (self.processes(), self.entries());
            if left.0.is_empty() && left.1.is_empty() || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
