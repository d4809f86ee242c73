//! Control groups of one node

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

    /// Lists the process ids of the group.
    pub fn processes(&self) -> Vec<u32> {
        let text = self.directories.first().map(|it| std::fs::read_to_string(it.1.join("cgroup.procs")));
        let text = text.and_then(Result::ok).unwrap_or_default();
        text.lines().filter_map(|it| it.parse().ok()).collect()
    }
}

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
