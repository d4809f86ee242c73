//! Control groups of one node

use super::UnappliedReason;
use super::usage::{CounterFile, Usage};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Control groups of one node: a directory in every hierarchy that its limits need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub version: CgroupVersion,
    /// Name of each controller, such as `cpu`, with the node's directory in the hierarchy. Never empty.
    pub directories: Vec<(String, PathBuf)>,
}

/// Version of control groups; see `cgroups(7)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    V1,
    V2,
}

impl Group {
    /// Lists the counter files that exist. Some kernels lack some of them.
    pub fn files(&self) -> Vec<(CounterFile, PathBuf)> {
        let all: &[(&str, CounterFile, &str)] = match self.version {
            CgroupVersion::V1 => &V1,
            CgroupVersion::V2 => &V2,
        };
        let mut files = Vec::new();
        for (controller, directory) in &self.directories {
            let its = all.iter().filter(|it| it.0 == controller || it.0.is_empty());
            for path in its.map(|it| (it.1, directory.join(it.2))) {
                if !files.contains(&path) && path.1.exists() {
                    files.push(path);
                }
            }
        }
        files
    }

    /// Group `name` in which this group is; `None` if it is in no such group.
    pub fn above(&self, name: &str) -> Option<Group> {
        let its = |(controller, directory): &(String, PathBuf)| {
            let above = directory.parent().filter(|it| it.ends_with(name))?;
            Some((controller.clone(), above.to_owned()))
        };
        let directories: Vec<_> = self.directories.iter().filter_map(its).collect();
        (!directories.is_empty()).then_some(Group { version: self.version, directories })
    }

    /// Reads the group's usage so far.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for (source, path) in self.files() {
            if let Ok(text) = std::fs::read_to_string(path) {
                usage.read_file(source, &text);
            }
        }
        usage
    }

    /// Removes the group's limits of rates, which are its CPU quota and its disk limits, until the returned value is dropped.
    pub fn lift_rates(&self) -> LiftedRates {
        let all: &[(&str, &str)] = match self.version {
            CgroupVersion::V1 => &V1_RATES,
            CgroupVersion::V2 => &V2_RATES,
        };
        let mut lifted = LiftedRates::default();
        for (controller, directory) in &self.directories {
            for (_, file) in all.iter().filter(|it| it.0 == controller) {
                let path = directory.join(file);
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                for line in text.lines() {
                    // If the kernel refuses, the limit remains in effect.
                    if let Some(none) = without_rate(line)
                        && std::fs::write(&path, none).is_ok()
                    {
                        lifted.lines.push((path.clone(), line.to_owned()));
                    }
                }
            }
        }
        lifted
    }

    /// Lists the process ids of the group.
    pub fn processes(&self) -> Vec<u32> {
        let text = self.directories.first().map(|it| std::fs::read_to_string(it.1.join("cgroup.procs")));
        let text = text.and_then(Result::ok).unwrap_or_default();
        text.lines().filter_map(|it| it.parse().ok()).collect()
    }
}

/// Limits of rates that [`Group::lift_rates`] removed. They are set again when the value is dropped, or by
/// [`LiftedRates::restore`], which reports errors.
#[derive(Debug, Default)]
#[must_use]
pub struct LiftedRates {
    /// Files with the lines that set the limits.
    lines: Vec<(PathBuf, String)>,
}

impl LiftedRates {
    /// Adds the limits of another group.
    pub fn extend(&mut self, mut other: LiftedRates) {
        self.lines.append(&mut other.lines);
    }

    /// Sets the limits again. The error names the file that the kernel refused; that limit is not in effect.
    pub fn restore(mut self) -> Result<(), UnappliedReason> {
        self.set()
    }

    fn set(&mut self) -> Result<(), UnappliedReason> {
        // The limits of a host were lifted after those of its nodes, and must be set before them.
        for (path, line) in self.lines.drain(..).rev() {
            std::fs::write(&path, line).map_err(|it| UnappliedReason::refused(&path, &it))?;
        }
        Ok(())
    }
}

impl Drop for LiftedRates {
    fn drop(&mut self) {
        let _ = self.set();
    }
}

/// Line that removes the limits of a line of a file with limits of rates; `None` if the line has none. Lines are a quota
/// (`-1` or `max` without a limit), perhaps with its period, or the limits of a disk (`254:0 …`).
fn without_rate(line: &str) -> Option<String> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let is_disk = first.contains(':');
    let none = match (is_disk, rest.contains('=')) {
        (true, true) => format!("{first} rbps=max wbps=max riops=max wiops=max"),
        (true, false) => format!("{first} 0"),
        (false, _) if rest.is_empty() => "-1".to_owned(),
        (false, _) => format!("max {rest}"),
    };
    (none != line && !line.is_empty()).then_some(none)
}

/// Files with limits of rates of version 1, by controller.
const V1_RATES: [(&str, &str); 5] = [
    ("cpu", "cpu.cfs_quota_us"),
    ("blkio", "blkio.throttle.read_iops_device"),
    ("blkio", "blkio.throttle.write_iops_device"),
    ("blkio", "blkio.throttle.read_bps_device"),
    ("blkio", "blkio.throttle.write_bps_device"),
];

/// Files with limits of rates of version 2, like [`V1_RATES`].
const V2_RATES: [(&str, &str); 2] = [("cpu", "cpu.max"), ("io", "io.max")];

/// Counter files of version 1: controller, counter, file name.
const V1: [(&str, CounterFile, &str); 9] = [
    ("cpu", CounterFile::CpuStat, "cpu.stat"),
    ("cpuacct", CounterFile::CpuUsage, "cpuacct.usage"),
    ("memory", CounterFile::Memory, "memory.usage_in_bytes"),
    ("memory", CounterFile::MemoryPeak, "memory.max_usage_in_bytes"),
    ("memory", CounterFile::MemoryLimit, "memory.limit_in_bytes"),
    ("memory", CounterFile::MemoryFailures, "memory.failcnt"),
    ("memory", CounterFile::MemoryEvents, "memory.oom_control"),
    ("blkio", CounterFile::IoServiced, "blkio.throttle.io_serviced"),
    ("blkio", CounterFile::IoBytes, "blkio.throttle.io_service_bytes"),
];

/// Counter files of version 2, like [`V1`]. Every group counts its CPU time, so `cpu.stat` needs no controller.
const V2: [(&str, CounterFile, &str); 6] = [
    ("", CounterFile::CpuStat, "cpu.stat"),
    ("memory", CounterFile::Memory, "memory.current"),
    ("memory", CounterFile::MemoryPeak, "memory.peak"),
    ("memory", CounterFile::MemoryLimit, "memory.max"),
    ("memory", CounterFile::MemoryEvents, "memory.events"),
    ("io", CounterFile::IoStat, "io.stat"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, read_to_string, write};

    #[test]
    fn removes_the_rates_of_a_line() {
        for (line, expected) in [
            ("2000", Some("-1")),
            ("-1", None),
            ("2000 10000", Some("max 10000")),
            ("max 10000", None),
            ("254:0 300000", Some("254:0 0")),
            (
                "254:0 rbps=max wbps=300000 riops=max wiops=max",
                Some("254:0 rbps=max wbps=max riops=max wiops=max"),
            ),
            ("254:0 rbps=max wbps=max riops=max wiops=max", None),
            ("", None),
        ] {
            assert_eq!(without_rate(line).as_deref(), expected, "{line:?}");
        }
    }

    #[test]
    fn sets_lifted_rates_again() {
        let directory = tempfile::tempdir().expect("a directory can be created");
        let [node, blkio] = ["node", "blkio"].map(|name| directory.path().join(name));
        [&node, &blkio].iter().for_each(|it| create_dir_all(it).expect("it can be created"));
        let (quota, disk) = (node.join("cpu.cfs_quota_us"), blkio.join("blkio.throttle.write_bps_device"));
        write(&quota, "2000\n").expect("it can be written");
        write(&disk, "254:0 300000\n").expect("it can be written");
        let directories = vec![("cpu".to_owned(), node), ("blkio".to_owned(), blkio)];
        let group = Group { version: CgroupVersion::V1, directories };
        let read = |path: &PathBuf| read_to_string(path).expect("it can be read");
        let lifted = group.lift_rates();
        assert_eq!([read(&quota), read(&disk)], ["-1", "254:0 0"]);
        drop(lifted);
        assert_eq!([read(&quota), read(&disk)], ["2000", "254:0 300000"]);
        let lifted = group.lift_rates();
        std::fs::remove_dir_all(directory.path()).expect("it can be removed");
        let error = lifted.restore().expect_err("the group is gone");
        assert!(matches!(&error, UnappliedReason::Refused { path, .. } if *path == disk), "{error:?}");
    }
}
