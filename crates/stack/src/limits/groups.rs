//! Creation and removal of a keeper's control groups
//!
//! All groups are below `pgdyno-<pid of the keeper>`, which is below the keeper's own group. In version 2, a group with
//! processes cannot enable controllers for its children. There, the nearest ancestor that can enable them is used.

use super::cgroup_writes::cgroup_writes;
use super::device::find_disk;
use super::group_entry::{GroupDirectory, GroupEntry};
use super::{CgroupVersion, Group, HostLimits, Limit, UnappliedLimit, UnappliedReason};
use crate::host::{Cgroups, Controller};
use model::plan::Limits;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::HashMap;
use std::fs::{DirBuilder, OpenOptions, read_to_string};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Prefix of the name of the keeper's group; the keeper's process id follows.
const PREFIX: &str = "pgdyno-";
/// Name of pgdyno's own group, if it is limited.
pub(crate) const GENERATOR: &str = "generator";

/// Control groups of one keeper.
#[derive(Debug)]
pub(crate) struct Groups {
    cgroups: Cgroups,
    version: CgroupVersion,
    /// Name of the keeper's group, `pgdyno-<pid>`.
    name: String,
    /// Directory whose disk is throttled.
    data_directory: PathBuf,
    /// File that lists every directory before it is created, so that the next keeper finds it after a kill.
    note_file: Option<PathBuf>,
    /// Directories that were created, parents before children.
    created: Vec<PathBuf>,
    /// Groups of each node, by the node's name.
    nodes: HashMap<String, NodeGroups>,
    /// Version 2: parent directory of the keeper's group.
    base: Option<PathBuf>,
    enabled_controllers: Vec<(PathBuf, String)>,
}

/// Control groups of one node.
#[derive(Clone, Debug, Default)]
struct NodeGroups {
    limits: Limits,
    host: Option<HostLimits>,
    places: Vec<GroupDirectory>,
    not_applied: Vec<UnappliedLimit>,
}

impl Groups {
    /// Creates the groups for nodes whose files are below `directory`.
    pub fn new(cgroups: Cgroups, directory: &Path, note: Option<PathBuf>) -> Groups {
        Groups {
            version: effective_version(&cgroups),
            cgroups,
            name: format!("{PREFIX}{}", std::process::id()),
            data_directory: directory.to_owned(),
            note_file: note,
            created: Vec::new(),
            nodes: HashMap::new(),
            base: None,
            enabled_controllers: Vec::new(),
        }
    }

    /// Creates the groups for a node, or reuses its groups if they have the same limits. The groups of a node on a host
    /// are below those of the host.
    pub fn prepare_node(
        &mut self,
        node: &str,
        limits: &Limits,
        host: Option<&HostLimits>,
    ) -> io::Result<GroupEntry> {
        if self.nodes.get(node).is_none_or(|it| it.limits != *limits || it.host.as_ref() != host) {
            // Directories for other limits are removed, unless they still contain a process.
            for place in self.nodes.remove(node).unwrap_or_default().places {
                let _ = std::fs::remove_dir(&place.directory);
            }
            let (shared, unshared) = match host {
                Some(host) => self.create_groups(&[&host.name], &host.limits, &[]),
                None => Default::default(),
            };
            let above = host.map(|it| it.name.as_str());
            let names: Vec<&str> = above.into_iter().chain([node]).collect();
            let (places, mut not_applied) = self.create_groups(&names, limits, &shared);
            let is_new = |it: &UnappliedLimit| not_applied.iter().all(|known| known.limit != it.limit);
            let unshared: Vec<UnappliedLimit> = unshared.into_iter().filter(is_new).collect();
            not_applied.extend(unshared);
            let (limits, host) = (limits.clone(), host.cloned());
            self.nodes.insert(node.to_owned(), NodeGroups { limits, host, places, not_applied });
        }
        let NodeGroups { places, not_applied, .. } = self.nodes[node].clone();
        GroupEntry::new(self.version, places, &limits.cpus, not_applied)
    }

    /// Creates the group `names`, a node or a host or a node on a host, in the hierarchies that the limits need. A node
    /// also has a group in the hierarchies of its host, `shared`.
    fn create_groups(
        &mut self,
        names: &[&str],
        limits: &Limits,
        shared: &[GroupDirectory],
    ) -> (Vec<GroupDirectory>, Vec<UnappliedLimit>) {
        let (lines, mut not_applied) =
            cgroup_writes(limits, self.version, || find_disk(&self.data_directory));
        let mut places: Vec<GroupDirectory> = Vec::new();
        let mut controllers: Vec<(&str, Vec<Limit>)> = Vec::new();
        for line in lines.iter().filter(|it| !it.optional) {
            match controllers.iter_mut().find(|it| it.0 == line.controller) {
                Some(it) => it.1.push(line.limit),
                None => controllers.push((line.controller, vec![line.limit])),
            }
        }
        for place in shared.iter().filter(|it| it.controller != "cpuacct") {
            // A node that cannot have the group is not below the group of its host either.
            match controllers.iter_mut().find(|it| it.0 == place.controller) {
                Some(it) => it.1.extend(&place.limits),
                None => controllers.push((&place.controller, place.limits.clone())),
            }
        }
        // `cpuacct` only counts. If it is mounted together with `cpu`, both have the same directory.
        let counts = self.version == CgroupVersion::V1 && !controllers.is_empty();
        let is_separate = |controller: &str| {
            let find = |name: &str| self.cgroups.v1.iter().find(|it| it.name == name).map(|it| &it.directory);
            find(controller)
                .is_some_and(|place| controllers.iter().any(|it| it.0 == "cpu") || find("cpu") != Some(place))
        };
        if counts && is_separate("cpuacct") {
            controllers.push(("cpuacct", Vec::new()));
        }
        if self.version == CgroupVersion::V2 && self.base.is_none() && !controllers.is_empty() {
            self.choose_base(&controllers.iter().map(|it| it.0).collect::<Vec<_>>());
        }
        for (controller, mut limits) in controllers {
            limits.sort_unstable();
            limits.dedup();
            match self.create_group(names, controller) {
                Ok(directory) => {
                    places.push(GroupDirectory { controller: controller.to_owned(), directory, limits });
                }
                Err(reason) => {
                    not_applied.extend(
                        limits.into_iter().map(|limit| UnappliedLimit { limit, reason: reason.clone() }),
                    );
                }
            }
        }
        for line in lines {
            let Some(place) = places.iter_mut().find(|it| it.controller == line.controller) else { continue };
            if not_applied.iter().any(|it| it.limit == line.limit) {
                continue;
            }
            let path = place.directory.join(line.file);
            match write(&path, &line.value) {
                Err(error) if !line.optional => {
                    place.limits.retain(|it| *it != line.limit);
                    not_applied.push(UnappliedLimit {
                        limit: line.limit,
                        reason: UnappliedReason::refused(&path, &error),
                    });
                }
                _ => {}
            }
        }
        // A process does not join a group without limits.
        if places.iter().all(|it| it.limits.is_empty()) {
            places.clear();
        }
        places.retain(|it| !it.limits.is_empty() || it.controller == "cpuacct");
        (places, not_applied)
    }

    /// Creates the directory of a group in the hierarchy of a controller.
    fn create_group(&mut self, names: &[&str], controller: &str) -> Result<PathBuf, UnappliedReason> {
        let no_controller = || UnappliedReason::NoController(controller.to_owned());
        let found = match self.version {
            CgroupVersion::V1 => &self.cgroups.v1,
            CgroupVersion::V2 => &self.cgroups.v2,
        };
        let found = found.iter().find(|it| it.name == controller).ok_or_else(no_controller)?;
        let mut above = match self.version {
            CgroupVersion::V1 => found.directory.clone(),
            CgroupVersion::V2 => self.base.clone().ok_or_else(no_controller)?,
        };
        let run_group = self.name.clone();
        for name in [run_group.as_str()].iter().chain(names) {
            let directory = above.join(name.replace('/', "-"));
            if self.version == CgroupVersion::V2 {
                self.enable_controller(&above, controller)?;
            }
            self.create_directory(&directory)?;
            if self.version == CgroupVersion::V1 && controller == "cpuset" {
                // A new group has no values for these files, and no process can join without them; cpuset(7).
                for file in ["cpuset.mems", "cpuset.cpus"] {
                    let from = above.join(file);
                    let inherited =
                        read_to_string(&from).map_err(|it| UnappliedReason::refused(&from, &it))?;
                    let path = directory.join(file);
                    write(&path, inherited.trim()).map_err(|it| UnappliedReason::refused(&path, &it))?;
                }
            }
            above = directory;
        }
        Ok(above)
    }

    fn create_directory(&mut self, path: &Path) -> Result<(), UnappliedReason> {
        if self.created.iter().any(|it| it == path) && path.is_dir() {
            return Ok(());
        }
        if let Some(note) = &self.note_file {
            let file = OpenOptions::new().create(true).append(true).open(note);
            let noted = file.and_then(|mut it| writeln!(it, "{}", path.display()));
            noted.map_err(|it| UnappliedReason::refused(note, &it))?;
        }
        match DirBuilder::new().create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(UnappliedReason::refused(path, &error));
            }
            _ => self.created.push(path.to_owned()),
        }
        Ok(())
    }

    /// cgroup v2: chooses the nearest group, from the keeper's own group upwards, that can enable the wanted
    /// controllers. If none can, it chooses the keeper's own group.
    fn choose_base(&mut self, controllers: &[&str]) {
        let Some(own_group) = self.cgroups.v2.first().map(|it| it.directory.clone()) else { return };
        let controllers: Vec<&str> = controllers.iter().copied().filter(|it| *it != "cpuset").collect();
        let all = own_group.ancestors().take_while(|it| it.join("cgroup.subtree_control").exists());
        let able = all.map(Path::to_owned).collect::<Vec<_>>().into_iter().find(|group| {
            controllers.iter().all(|controller| self.enable_controller(group, controller).is_ok())
                && rustix::fs::access(group, rustix::fs::Access::WRITE_OK).is_ok()
        });
        self.base = Some(able.unwrap_or(own_group));
    }

    /// Version 2: enables a controller for the children of a group.
    fn enable_controller(&mut self, group: &Path, controller: &str) -> Result<(), UnappliedReason> {
        let path = group.join("cgroup.subtree_control");
        let now = read_to_string(&path).map_err(|it| UnappliedReason::refused(&path, &it))?;
        if now.split_whitespace().any(|it| it == controller) {
            return Ok(());
        }
        write(&path, &format!("+{controller}")).map_err(|it| UnappliedReason::refused(&path, &it))?;
        self.enabled_controllers.push((path, controller.to_owned()));
        Ok(())
    }

    /// Moves a running process, with all its threads, into its groups. The groups do not count resources that the
    /// process used before.
    pub fn move_process(
        &mut self,
        pid: u32,
        limits: &Limits,
    ) -> io::Result<(Option<Group>, Vec<UnappliedLimit>)> {
        // Limit the CPUs by the affinity of the threads, because a cpuset group would be harder to leave.
        let entry = self.prepare_node(GENERATOR, &Limits { cpus: Vec::new(), ..limits.clone() }, None)?;
        Ok(entry.move_process(pid))
    }

    /// Moves a process back into the keeper's own groups.
    pub fn move_back(&self, pid: u32) {
        let Some(NodeGroups { places, .. }) = self.nodes.get(GENERATOR) else { return };
        let home = self.cgroups.v1.iter().chain(&self.cgroups.v2);
        for Controller { directory, .. } in
            home.filter(|it| places.iter().any(|its| its.controller == it.name))
        {
            let _ = write(&directory.join("cgroup.procs"), &pid.to_string());
        }
    }

    /// Removes all groups; false if some remain. The processes of the groups must have ended and been reaped.
    pub fn remove(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut all_gone = true;
        for path in self.created.drain(..).rev() {
            // A reaped process may still belong to its group for a short time.
            while let Err(error) = std::fs::remove_dir(&path) {
                if error.kind() == ErrorKind::NotFound {
                    break;
                }
                if Instant::now() > deadline {
                    all_gone = false;
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        for (path, controller) in self.enabled_controllers.drain(..).rev() {
            let _ = write(&path, &format!("-{controller}"));
        }
        all_gone
    }
}

/// Returns the version of control groups that has the controllers for limits. On a hybrid system, only one version has
/// them.
fn effective_version(cgroups: &Cgroups) -> CgroupVersion {
    let limiting = |it: &Controller| matches!(it.name.as_str(), "cpu" | "memory" | "blkio");
    if cgroups.v1.iter().any(limiting) || cgroups.v2.is_empty() {
        CgroupVersion::V1
    } else {
        CgroupVersion::V2
    }
}

/// Removes the groups that a killed keeper listed, and kills their processes; false if some remain.
///
/// Only groups below `pgdyno-<keeper>` are removed: that keeper created them and moved the processes there.
pub(crate) fn remove_stale_groups(note: &Path, keeper: u32) -> bool {
    let text = read_to_string(note).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(2);
    let mut all_gone = true;
    for path in text.lines().map(Path::new).collect::<Vec<_>>().into_iter().rev() {
        if !path.exists() {
            continue;
        }
        // Another keeper may now have this process id, and thus the name.
        if !is_group_of_keeper(keeper, path) || !is_dead(keeper) {
            all_gone = false;
            continue;
        }
        // The generator group contains pgdyno itself, which may have outlived its keeper.
        let ends = !path.ends_with(GENERATOR);
        while let Err(error) = std::fs::remove_dir(path) {
            if error.kind() == ErrorKind::NotFound {
                break;
            }
            if !ends || Instant::now() > deadline {
                all_gone = false;
                break;
            }
            kill_processes(path);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    all_gone
}

/// True if a path in a control group file system is the group of a keeper, or of one of its nodes.
fn is_group_of_keeper(keeper: u32, path: &Path) -> bool {
    let names: Vec<Component<'_>> = path.components().collect();
    let plain = names.iter().skip(1).all(|it| matches!(it, Component::Normal(_)));
    let name = format!("{PREFIX}{keeper}");
    let named = names.iter().rev().take(2).any(|it| it.as_os_str() == name.as_str());
    // Source: statfs(2), CGROUP_SUPER_MAGIC and CGROUP2_SUPER_MAGIC.
    let groups =
        || rustix::fs::statfs(path).is_ok_and(|it| matches!(it.f_type as u32, 0x0027_e0eb | 0x6367_7270));
    path.is_absolute() && plain && named && groups()
}

/// Kills the processes of a group. Never kills a process that reuses the id of an ended process.
fn kill_processes(group: &Path) {
    let processes = || read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    for line in processes().lines() {
        let Some(pid) = line.parse().ok().and_then(Pid::from_raw) else { continue };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        // Check the id after opening the handle. If the id is still in the group, the handle's process is in the group
        // or has ended.
        if processes().lines().any(|it| it == line) {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
    }
}

/// True if a keeper has ended. This process may have received its id since.
fn is_dead(pid: u32) -> bool {
    pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists()
}

/// Writes a value in one system call, as the kernel's files require.
fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::message::Message;

    /// Directory tree of plain files that simulates version 2, with the files that the kernel would create.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[&str]) -> Tree {
            let tree = Tree(std::env::temp_dir().join(format!("stack-{name}-{}", std::process::id())));
            for file in files {
                let path = tree.0.join(file.replace("OURS", &format!("{PREFIX}{}", std::process::id())));
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            tree
        }

        fn text(&self, file: &str) -> String {
            read_to_string(self.0.join(file)).unwrap_or_else(|it| it.kind().to_string())
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn describe(unapplied: &UnappliedLimit) -> String {
        format!("{}: {}", unapplied.limit.name(), Message::from(&unapplied.reason).describe())
    }

    fn check(name: &str, files: &[&str], limits: &Limits, expected: &[(&str, &str)], not: &[&str]) {
        check_on_host(name, files, (limits, None), expected, not);
    }

    /// Compares the contents written to the files, and the limits that were not applied.
    fn check_on_host(
        name: &str,
        files: &[&str],
        (limits, host): (&Limits, Option<&HostLimits>),
        expected: &[(&str, &str)],
        not: &[&str],
    ) {
        let tree = Tree::new(name, files);
        let directory = tree.0.join("slice/scope");
        let controller =
            |name: &str| Controller { name: name.to_owned(), directory: directory.clone(), writable: true };
        let cgroups = Cgroups { v1: Vec::new(), v2: ["cpu", "memory", "io"].map(controller).to_vec() };
        let mut groups = Groups::new(cgroups, Path::new("/nowhere"), None);
        let entry = groups.prepare_node("node", limits, host).unwrap();
        entry.enter();
        let (group, not_applied) = entry.finish();
        for (file, text) in expected {
            let path = file.replace("OURS", &groups.name);
            assert_eq!(tree.text(&path), *text, "{name}: {file}");
        }
        let unapplied: Vec<String> =
            not_applied.iter().map(|it| describe(it).replace(tree.0.to_str().unwrap(), "")).collect();
        assert_eq!(unapplied, not, "{name}");
        assert_eq!(group.is_some(), expected.iter().any(|it| it.0.ends_with("cgroup.procs")), "{name}");
    }

    #[test]
    fn writes_cgroup_v2_files() {
        let limits =
            Limits { cpu: Some(0.1), memory: Some(1 << 20), read_iops: Some(5), ..Limits::default() };
        let no_disk = "read_iops: error-of(/nowhere, No such file or directory (os error 2))";
        let alone = [
            "slice/scope/cgroup.subtree_control",
            "slice/scope/OURS/cgroup.subtree_control",
            "slice/scope/OURS/node/cgroup.procs",
            "slice/scope/OURS/node/cpu.max",
            "slice/scope/OURS/node/memory.max",
        ];
        let expected = [
            // In plain files, each write replaces the previous one.
            ("slice/scope/cgroup.subtree_control", "+memory"),
            ("slice/scope/OURS/cgroup.subtree_control", "+memory"),
            ("slice/scope/OURS/node/cpu.max", "1000 10000"),
            ("slice/scope/OURS/node/memory.max", "1048576"),
            ("slice/scope/OURS/node/cgroup.procs", "0"),
        ];
        check("alone", &alone, &limits, &expected, &[no_disk]);
        // A group with processes rejects controllers, simulated by a directory in place of the file. Its parent is
        // used.
        let sibling = [
            "slice/cgroup.subtree_control",
            "slice/scope/cgroup.subtree_control/refuses",
            "slice/OURS/cgroup.subtree_control",
            "slice/OURS/node/cgroup.procs",
            "slice/OURS/node/cpu.max",
            "slice/OURS/node/memory.max",
        ];
        let expected = [
            ("slice/OURS/node/cpu.max", "1000 10000"),
            ("slice/OURS/node/memory.max", "1048576"),
            ("slice/OURS/node/cgroup.procs", "0"),
        ];
        check("sibling", &sibling, &limits, &expected, &[no_disk]);
        let none = ["slice/scope/cgroup.procs"];
        let refused = |limit: &str| {
            format!(
                "{limit}: error-of(/slice/scope/cgroup.subtree_control, No such file or directory (os error 2))"
            )
        };
        check("none", &none, &limits, &[], &[&refused("cpu"), &refused("memory"), no_disk]);
    }

    #[test]
    fn groups_of_nodes_are_below_their_host() {
        let files = [
            "slice/scope/cgroup.subtree_control",
            "slice/scope/OURS/cgroup.subtree_control",
            "slice/scope/OURS/web/cgroup.subtree_control",
            "slice/scope/OURS/web/cpu.max",
            "slice/scope/OURS/web/node/cgroup.procs",
            "slice/scope/OURS/web/node/memory.max",
        ];
        let cpu = Limits { cpu: Some(0.5), ..Limits::default() };
        let host = HostLimits { name: "web".to_owned(), limits: cpu.clone() };
        let memory = Limits { memory: Some(1 << 20), ..Limits::default() };
        let expected = [
            ("slice/scope/OURS/web/cpu.max", "5000 10000"),
            ("slice/scope/OURS/web/node/memory.max", "1048576"),
            ("slice/scope/OURS/web/node/cgroup.procs", "0"),
        ];
        check_on_host("hosted", &files, (&memory, Some(&host)), &expected, &[]);
        // A node without limits of its own is limited by its host.
        let expected = [
            ("slice/scope/OURS/web/cgroup.subtree_control", "+cpu"),
            ("slice/scope/OURS/web/node/cgroup.procs", "0"),
        ];
        check_on_host("unlimited", &files, (&Limits::default(), Some(&host)), &expected, &[]);
        // If the node cannot be below its host, the limit of the host is not applied.
        let refused = "cpu: error-of(/slice/scope/OURS/web/cgroup.subtree_control, \
                       No such file or directory (os error 2))";
        let refused = refused.replace("OURS", &format!("{PREFIX}{}", std::process::id()));
        let unlimited = (&Limits::default(), Some(&host));
        check_on_host("refused", &[&files[..2], &files[3..4]].concat(), unlimited, &[], &[&refused]);
    }

    #[test]
    fn detects_cgroup_version() {
        let check = |v1: &[&str], v2: &[&str], expected: CgroupVersion| {
            let all = |them: &[&str]| {
                let one = |name: &&str| Controller {
                    name: (*name).to_owned(),
                    directory: PathBuf::new(),
                    writable: true,
                };
                them.iter().map(one).collect()
            };
            assert_eq!(effective_version(&Cgroups { v1: all(v1), v2: all(v2) }), expected, "{v1:?} {v2:?}");
        };
        check(&[], &[], CgroupVersion::V1);
        check(&["cpu", "memory"], &[], CgroupVersion::V1);
        check(&[], &["cpu", "memory"], CgroupVersion::V2);
        check(&["pids"], &["cpu", "memory"], CgroupVersion::V2);
    }

    #[test]
    fn rejects_paths_outside_keeper_groups() {
        let mount = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup"].into_iter();
        let is_group = |path: &&str| {
            rustix::fs::statfs(*path).is_ok_and(|it| matches!(it.f_type as u32, 0x0027_e0eb | 0x6367_7270))
        };
        // None of these exists, except the mount itself. A path outside control groups belongs to no keeper.
        let real = mount.into_iter().find(is_group);
        for path in ["pgdyno-17", "/tmp/pgdyno-17", "/pgdyno-17/../etc", "/sys/fs/cgroup/user.slice", "/"] {
            assert!(!is_group_of_keeper(17, Path::new(path)), "{path}");
        }
        if let Some(real) = real {
            assert!(!is_group_of_keeper(17, Path::new(real)), "{real}");
        }
        assert!(!is_dead(1) && is_dead(std::process::id()));
    }

    #[test]
    fn keeps_directories_that_are_no_cgroups() {
        let tree = Tree::new("note", &["pgdyno-4194305/node/keep", "other/keep"]);
        let empty = tree.0.join("pgdyno-4194305/empty");
        std::fs::create_dir(&empty).unwrap();
        let note = tree.0.join("note");
        std::fs::write(&note, format!("{}\n/nowhere/pgdyno-4194305\n", empty.display())).unwrap();
        assert!(!remove_stale_groups(&note, 4_194_305), "it is there, and is no control group");
        assert!(empty.exists());
        std::fs::write(&note, "/nowhere/pgdyno-4194305\n").unwrap();
        assert!(remove_stale_groups(&note, 4_194_305));
    }
}
