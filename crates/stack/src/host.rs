//! Properties of this machine, and its interference with a measurement

mod cgroups;
mod hardware;
mod timer_jitter;

pub use cgroups::{Cgroups, Controller};
pub use hardware::{DiskKind, InstalledDisk, MemoryModule};
pub use timer_jitter::TimerJitter;

use model::{LatencyHistogram, Nanos};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Properties that do not change during a run; `None` if the system does not report one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Host {
    pub system: Option<String>,
    pub kernel: Option<String>,
    pub processor: Option<String>,
    /// Number of CPUs that pgdyno may use.
    pub processors: usize,
    /// Physical memory, bytes.
    pub memory: Option<u64>,
    /// Manufacturer and model of the mainboard; `None` if the firmware does not name them.
    pub mainboard: Option<String>,
    /// Memory modules; `None` if they are unknown, because only root may read them.
    pub memory_modules: Option<Vec<MemoryModule>>,
    pub disks: Option<Vec<InstalledDisk>>,
    /// Soft and hard limit on open files of this process.
    pub files: (Option<u64>, Option<u64>),
    /// First and last port of the range for outgoing connections.
    pub ports: Option<(u16, u16)>,
    pub clock_source: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    pub cgroups: Cgroups,
}

/// Program that a stack may contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Program {
    pub name: &'static str,
    pub path: PathBuf,
    /// First line of the version output.
    pub version: Option<String>,
}

/// Monitor of the host during a measurement.
#[derive(Debug)]
pub struct HostMonitor {
    jitter: TimerJitter,
    suspended: Nanos,
    stolen: Option<Nanos>,
}

/// Results of a [`HostMonitor`].
#[derive(Debug)]
pub struct HostInterference {
    /// Wake-up delay of a thread that is due every 2 ms.
    pub jitter: LatencyHistogram,
    /// Time for which the machine was suspended.
    pub suspended: Nanos,
    /// CPU steal, summed over all CPUs; `None` if the system does not report it.
    pub stolen: Option<Nanos>,
}

impl HostMonitor {
    pub fn start() -> HostMonitor {
        // An interval of 2 ms gives enough samples for a p99 in a run of two seconds. It costs 0.5 % of one CPU.
        HostMonitor {
            jitter: TimerJitter::start(Nanos::from_millis(2)),
            suspended: suspended(),
            stolen: stolen(),
        }
    }

    pub fn stop(self) -> HostInterference {
        let stolen = stolen().zip(self.stolen).map(|(now, before)| now - before);
        HostInterference { jitter: self.jitter.stop(), suspended: suspended() - self.suspended, stolen }
    }
}

impl Host {
    pub fn detect() -> Host {
        let read = |path: &str| read_to_string(path).ok();
        let line = |path: &str| read(path).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        let field = |text: Option<String>, name: &str, separator: char| {
            text?.lines().find_map(|entry| {
                let (key, value) = entry.split_once(separator)?;
                (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
            })
        };
        let files = getrlimit(Resource::Nofile);
        let memory = field(read("/proc/meminfo"), "MemTotal", ':');
        Host {
            system: field(read("/etc/os-release"), "PRETTY_NAME", '='),
            kernel: line("/proc/sys/kernel/osrelease"),
            processor: field(read("/proc/cpuinfo"), "model name", ':'),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory.and_then(|it| it.strip_suffix(" kB")?.parse::<u64>().ok()).map(|it| it * 1024),
            mainboard: hardware::mainboard(Path::new("/sys/class/dmi/id")),
            memory_modules: hardware::memory_modules(Path::new("/sys/firmware/dmi/entries")),
            disks: hardware::disks(Path::new("/sys/block")),
            files: (files.current, files.maximum),
            ports: line("/proc/sys/net/ipv4/ip_local_port_range").and_then(|it| port_range(&it)),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            cgroups: Cgroups::detect(),
        }
    }
}

/// Looks for a program in `directories`, `PATH` and the directories of system programs.
pub fn program(name: &'static str, version: &str, directories: &[PathBuf]) -> Option<Program> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from);
    let places = directories.iter().cloned().chain(std::env::split_paths(&path)).chain(system);
    let path = places.map(|it| it.join(name)).find(|it| it.is_file())?;
    Some(Program { name, version: version_line(&path, version), path })
}

/// Returns the first line that a program prints when called with `argument`, on stdout or stderr.
fn version_line(path: &Path, argument: &str) -> Option<String> {
    let output = Command::new(path).arg(argument).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().find(|it| !it.trim().is_empty())?.trim().to_owned();
    output.status.success().then_some(line)
}

/// Time for which the machine has been suspended since boot: the clock that includes suspension minus the clock that
/// excludes it.
pub fn suspended() -> Nanos {
    // With this order, a delay between the two readings never looks like a suspension.
    let boottime = nanos(ClockId::Boottime);
    let monotonic = nanos(ClockId::Monotonic);
    boottime - monotonic
}

/// CPU steal since boot, summed over all CPUs.
pub fn stolen() -> Option<Nanos> {
    parse_steal(&read_to_string("/proc/stat").ok()?)
}

/// Parses the eighth number of the line `cpu`, in ticks of 10 ms; `proc_stat(5)`.
fn parse_steal(text: &str) -> Option<Nanos> {
    let numbers = text.lines().find_map(|it| it.strip_prefix("cpu "))?;
    let ticks = numbers.split_whitespace().nth(7)?.parse::<u64>().ok()?;
    Some(Nanos::from_millis(ticks * 10))
}

fn port_range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once(char::is_whitespace)?;
    Some((first.parse().ok()?, last.trim().parse().ok()?))
}

fn nanos(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_steal_time() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_steal(text).map(|it| it.0), expected, "{text}");
        };
        check("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 99 9 10\n", Some(80_000_000));
        check("cpu  1 2 3 4 5 6 7\n", None);
        check("cpu0 1 2 3 4 5 6 7 8\n", None);
    }

    #[test]
    fn parses_port_range() {
        let check = |text: &str, expected| assert_eq!(port_range(text), expected, "{text}");
        check("32768\t60999", Some((32768, 60999)));
        check("1024 65535", Some((1024, 65535)));
        check("none", None);
        check("1 70000", None);
    }

    #[test]
    fn detects_host_and_measures_jitter() {
        let host = Host::detect();
        assert!(host.processors >= 1 && host.files.0.is_some_and(|it| it > 0), "{host:?}");
        let watch = HostMonitor::start();
        let usage = watch.stop();
        assert!(usage.jitter.count() >= 1);
        assert!(usage.suspended < Nanos::from_millis(10), "{:?}", usage.suspended);
    }
}
