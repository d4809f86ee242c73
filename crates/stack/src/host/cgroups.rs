//! Control groups that can limit or measure parts of a stack

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Available controllers of control groups, by version. Each controller belongs to only one version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroups {
    pub v1: Vec<Controller>,
    pub v2: Vec<Controller>,
}

/// One controller and the group of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Controller {
    /// Name, such as `cpu`, `memory`, `blkio` (v1) or `io` (v2).
    pub name: String,
    /// Directory of the process's group.
    pub directory: PathBuf,
    /// True if pgdyno may create groups below the directory.
    pub writable: bool,
}

/// Controllers that limit or count a resource that pgdyno uses.
const RELEVANT_CONTROLLERS: [&str; 7] = ["cpu", "cpuacct", "cpuset", "memory", "blkio", "io", "pids"];

impl Cgroups {
    /// Detects the controllers of this process.
    pub fn detect() -> Cgroups {
        Cgroups::of_process("self")
    }

    /// Detects the controllers of a process, which is named as in `/proc`.
    pub fn of_process(process: &str) -> Cgroups {
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        Cgroups::parse(
            &read(Path::new("/proc/self/mounts")).unwrap_or_default(),
            &read(&Path::new("/proc").join(process).join("cgroup")).unwrap_or_default(),
            &read,
            &|path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok(),
        )
    }

    /// Parses `/proc/self/mounts` and `/proc/PID/cgroup`; see `cgroups(7)`.
    fn parse(
        mounts: &str,
        groups: &str,
        read: &dyn Fn(&Path) -> Option<String>,
        writable: &dyn Fn(&Path) -> bool,
    ) -> Cgroups {
        let mut found = Cgroups::default();
        for mount in mounts.lines() {
            let fields: Vec<&str> = mount.split(' ').collect();
            let [_, place, kind, options, ..] = fields[..] else { continue };
            // Lines are `id:controllers:group`; version 2 lists no controllers.
            let group = |controller: &str| {
                groups.lines().map(|it| it.splitn(3, ':').collect::<Vec<_>>()).find_map(|line| match line[..]
                {
                    [_, names, group] if names.split(',').any(|it| it == controller) => {
                        Some(group.to_owned())
                    }
                    _ => None,
                })
            };
            let directory = |controller: &str| {
                let group = group(controller).unwrap_or_default();
                let inside: PathBuf =
                    Path::new(place).components().chain(Path::new(&group).components().skip(1)).collect();
                // In a container, the path may be the host's, which is not visible from here.
                if read(&inside.join("cgroup.procs")).is_some() { inside } else { PathBuf::from(place) }
            };
            let controller = |name: &str, directory: PathBuf| Controller {
                name: name.to_owned(),
                writable: writable(&directory),
                directory,
            };
            match kind {
                "cgroup" => {
                    let names = options.split(',').filter(|it| RELEVANT_CONTROLLERS.contains(it));
                    found.v1.extend(names.map(|it| controller(it, directory(it))));
                }
                "cgroup2" => {
                    let directory = directory("");
                    let names = read(&directory.join("cgroup.controllers")).unwrap_or_default();
                    let names = names.split_whitespace().filter(|it| RELEVANT_CONTROLLERS.contains(it));
                    found.v2.extend(names.map(|it| controller(it, directory.clone())));
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_both_cgroup_versions() {
        let check = |mounts: &str, groups: &str, files: &[(&str, &str)], expected: &str| {
            let read =
                |path: &Path| files.iter().find(|it| Path::new(it.0) == path).map(|it| it.1.to_owned());
            let found = Cgroups::parse(mounts, groups, &read, &|path| path.ends_with("cpu,cpuacct"));
            let shown = |controller: &Controller| {
                format!(
                    "{} {}{}",
                    controller.name,
                    controller.directory.display(),
                    if controller.writable { " rw" } else { "" }
                )
            };
            let all = |them: &[Controller]| them.iter().map(shown).collect::<Vec<_>>().join(", ");
            assert_eq!(format!("v1: {}; v2: {}", all(&found.v1), all(&found.v2)), expected);
        };
        check("", "", &[], "v1: ; v2: ");
        check(
            "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
             cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
             cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n",
            "5:cpu,cpuacct:/\n4:memory:/some/group\n0::/\n",
            &[
                ("/sys/fs/cgroup/memory/some/group/cgroup.procs", ""),
                ("/sys/fs/cgroup/unified/cgroup.controllers", "\n"),
            ],
            "v1: cpu /sys/fs/cgroup/cpu,cpuacct rw, cpuacct /sys/fs/cgroup/cpu,cpuacct rw, memory /sys/fs/cgroup/memory/some/group; v2: ",
        );
        check(
            "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
            "0::/user.slice\n",
            &[
                ("/sys/fs/cgroup/user.slice/cgroup.procs", "1\n"),
                ("/sys/fs/cgroup/user.slice/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n"),
            ],
            "v1: ; v2: cpuset /sys/fs/cgroup/user.slice, cpu /sys/fs/cgroup/user.slice, io /sys/fs/cgroup/user.slice, \
             memory /sys/fs/cgroup/user.slice, pids /sys/fs/cgroup/user.slice",
        );
    }
}
