//! In which control groups does a node run?

use super::usage::{Source, Usage};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The control groups of one node: a directory in every hierarchy that its limits need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub version: Version,
    /// Controller, such as `cpu`, and the node's directory in its hierarchy. Never empty.
    pub directories: Vec<(String, PathBuf)>,
}

/// Of control groups; see `cgroups(7)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    V1,
    V2,
}

impl Group {
    /// The files that count what it uses; those that this kernel does not have are left out.
    pub fn files(&self) -> Vec<(Source, PathBuf)> {
        let all: &[(&str, Source, &str)] = match self.version {
            Version::V1 => &V1,
            Version::V2 => &V2,
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

    /// What it has used until now.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for (source, path) in self.files() {
            if let Ok(text) = std::fs::read_to_string(path) {
                usage.take(source, &text);
            }
        }
        usage
    }

    /// Numbers of all processes in it.
    pub fn processes(&self) -> Vec<u32> {
        let text = self.directories.first().map(|it| std::fs::read_to_string(it.1.join("cgroup.procs")));
        let text = text.and_then(Result::ok).unwrap_or_default();
        text.lines().filter_map(|it| it.parse().ok()).collect()
    }
}

/// Controller, what it tells, file.
const V1: [(&str, Source, &str); 9] = [
    ("cpu", Source::CpuStat, "cpu.stat"),
    ("cpuacct", Source::CpuUsage, "cpuacct.usage"),
    ("memory", Source::Memory, "memory.usage_in_bytes"),
    ("memory", Source::MemoryPeak, "memory.max_usage_in_bytes"),
    ("memory", Source::MemoryLimit, "memory.limit_in_bytes"),
    ("memory", Source::MemoryFailures, "memory.failcnt"),
    ("memory", Source::MemoryEvents, "memory.oom_control"),
    ("blkio", Source::IoServiced, "blkio.throttle.io_serviced"),
    ("blkio", Source::IoBytes, "blkio.throttle.io_service_bytes"),
];

/// As [`V1`]; every group of version 2 counts its processor time.
const V2: [(&str, Source, &str); 6] = [
    ("", Source::CpuStat, "cpu.stat"),
    ("memory", Source::Memory, "memory.current"),
    ("memory", Source::MemoryPeak, "memory.peak"),
    ("memory", Source::MemoryLimit, "memory.max"),
    ("memory", Source::MemoryEvents, "memory.events"),
    ("io", Source::IoStat, "io.stat"),
];
