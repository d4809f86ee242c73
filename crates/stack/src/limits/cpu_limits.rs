//! Files that limit the CPUs of a process that pgdyno did not start

use crate::host::{Cgroups, Controller};
use std::fs::read_to_string;
use std::path::Path;

/// Texts that limit the CPUs of a process: its `status`, the list of the machine's CPUs, and a line `QUOTA PERIOD` in
/// microseconds for each of its control groups. The quota `max` or -1 is none. A text is empty if its file cannot be
/// read.
///
/// Sources: `proc_pid_status(5)`; the kernel's documents sched-bwc.rst (version 1) and cgroup-v2.rst.
pub(crate) fn cpu_limit_texts(pid: u32) -> Vec<String> {
    let text = |path: &str| read_to_string(path).unwrap_or_default();
    let status = text(&format!("/proc/{pid}/status"));
    let online = text("/sys/devices/system/cpu/online");
    vec![status, online, quotas(&Cgroups::of_process(&pid.to_string()))]
}

/// Quotas of the groups of the controller `cpu`, from the innermost one to the root.
fn quotas(cgroups: &Cgroups) -> String {
    let cpu = |controllers: &[Controller]| {
        controllers.iter().find(|it| it.name == "cpu").map(|it| it.directory.clone())
    };
    let read = |group: &Path, file: &str| read_to_string(group.join(file)).ok();
    let version_1 = |group: &Path| {
        let both = (read(group, "cpu.cfs_quota_us")?, read(group, "cpu.cfs_period_us")?);
        Some(format!("{} {}\n", both.0.trim(), both.1.trim()))
    };
    match (cpu(&cgroups.v1), cpu(&cgroups.v2)) {
        (Some(group), _) => group.ancestors().map_while(version_1).collect(),
        // The root has no such file.
        (None, Some(group)) => group.ancestors().map_while(|group| read(group, "cpu.max")).collect(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn reads_the_quotas_of_all_ancestors() {
        let root = std::env::temp_dir().join(format!("pgdyno-quotas-{}", std::process::id()));
        let controller = |directory: &str| Controller {
            name: "cpu".to_owned(),
            directory: root.join(directory),
            writable: false,
        };
        for (path, text) in [
            ("one/cpu.cfs_quota_us", "-1\n"),
            ("one/cpu.cfs_period_us", "100000\n"),
            ("one/inner/cpu.cfs_quota_us", "150000\n"),
            ("one/inner/cpu.cfs_period_us", "100000\n"),
            ("two/cpu.max", "20000 100000\n"),
            ("two/inner/cpu.max", "max 100000\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("the path has a directory")).expect("it can be created");
            fs::write(path, text).expect("the file can be written");
        }
        let cgroups = |v1: &[&str], v2: &[&str]| {
            let all = |directories: &[&str]| directories.iter().map(|it| controller(it)).collect();
            Cgroups { v1: all(v1), v2: all(v2) }
        };
        for (cgroups, expected) in [
            (cgroups(&["one/inner"], &[]), "150000 100000\n-1 100000\n"),
            (cgroups(&["one/inner"], &["two/inner"]), "150000 100000\n-1 100000\n"),
            (cgroups(&[], &["two/inner"]), "max 100000\n20000 100000\n"),
            (cgroups(&["missing"], &[]), ""),
            (cgroups(&[], &[]), ""),
        ] {
            assert_eq!(quotas(&cgroups), expected, "{cgroups:?}");
        }
        fs::remove_dir_all(root).expect("the directory can be removed");
    }
}
