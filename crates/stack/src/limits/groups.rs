//! How are the groups of one keeper made, entered and removed?
//!
//! All are below `pgdyno-<pid of the keeper>`, itself below the group that we are in. In version 2 a group with processes of
//! its own cannot hand controllers down, so there it is below the nearest group above us that can.

use super::device::disk_behind;
use super::writes::writes;
use super::{Group, Limit, NotApplied, Version, Why};
use crate::host::{Cgroups, Controller};
use model::plan::Limits;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions, read_to_string};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Groups begin so; the number of their keeper follows.
const PREFIX: &str = "pgdyno-";
/// Where pgdyno itself is put, if it is to be limited.
pub(crate) const GENERATOR: &str = "generator";

/// The groups of one keeper.
#[derive(Debug)]
pub(crate) struct Groups {
    cgroups: Cgroups,
    version: Version,
    /// `pgdyno-<pid>`.
    name: String,
    /// What is throttled is the disk behind it.
    directory: PathBuf,
    /// Every directory is noted here before it is made, so that it is found even after our sudden death.
    note: Option<PathBuf>,
    /// Parents before children.
    made: Vec<PathBuf>,
    /// By name of their node.
    nodes: HashMap<String, Node>,
    /// Version 2: where our groups are, and what was handed down for them: file, controller.
    base: Option<PathBuf>,
    handed: Vec<(PathBuf, String)>,
}

/// What was made for a node.
#[derive(Clone, Debug, Default)]
struct Node {
    limits: Limits,
    places: Vec<Place>,
    not_applied: Vec<NotApplied>,
}

/// A directory of a node, in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    controller: String,
    directory: PathBuf,
    /// Which hold only inside it.
    limits: Vec<Limit>,
}

/// What a process must do between fork and exec to be limited from its first instruction on.
#[derive(Debug)]
pub(crate) struct Entrance {
    /// `cgroup.procs` of each group.
    doors: Vec<(File, Place)>,
    /// Where there is no group for it.
    affinity: Option<CpuSet>,
    /// Failures: which door, and `errno`.
    report: (PipeReader, PipeWriter),
    pub not_applied: Vec<NotApplied>,
    version: Version,
}

/// Stands for a door in a report: the affinity could not be set.
const AFFINITY: u8 = u8::MAX;

impl Groups {
    /// For nodes whose files are below `directory`. Removes what dead keepers have left.
    pub fn new(cgroups: Cgroups, directory: &Path, note: Option<PathBuf>) -> Groups {
        for controller in cgroups.v1.iter().chain(&cgroups.v2) {
            remove_stale(&controller.directory);
        }
        Groups {
            version: if cgroups.v1.is_empty() { Version::V2 } else { Version::V1 },
            cgroups,
            name: format!("{PREFIX}{}", std::process::id()),
            directory: directory.to_owned(),
            note,
            made: Vec::new(),
            nodes: HashMap::new(),
            base: None,
            handed: Vec::new(),
        }
    }

    /// Makes what a node needs. Its groups, if they are there with the same limits, are used again.
    pub fn prepare(&mut self, node: &str, limits: &Limits) -> io::Result<Entrance> {
        if self.nodes.get(node).is_none_or(|it| it.limits != *limits) {
            // What is left of other limits goes with its directory, unless someone is in it still.
            for place in self.nodes.remove(node).unwrap_or_default().places {
                let _ = std::fs::remove_dir(&place.directory);
            }
            let (places, not_applied) = self.make_all(node, limits);
            self.nodes.insert(node.to_owned(), Node { limits: limits.clone(), places, not_applied });
        }
        let Node { places, mut not_applied, .. } = self.nodes[node].clone();
        let mut doors = Vec::new();
        for place in places {
            let path = place.directory.join("cgroup.procs");
            match OpenOptions::new().write(true).open(&path) {
                Ok(door) => doors.push((door, place)),
                Err(error) => not_applied.extend(place.not_applied(&refused(&path, &error))),
            }
        }
        let mut affinity = None;
        if !limits.cpus.is_empty() {
            // A group for processors cannot be left; without one the process is at least told where to run.
            not_applied.retain(|it| it.limit != Limit::Cpus);
            match processors(&limits.cpus) {
                Ok(_) if doors.iter().any(|it| it.1.limits.contains(&Limit::Cpus)) => {}
                Ok(set) => affinity = Some(set),
                Err(why) => not_applied.push(NotApplied { limit: Limit::Cpus, why }),
            }
        }
        not_applied.sort_by_key(|it| it.limit);
        Ok(Entrance { doors, affinity, report: io::pipe()?, not_applied, version: self.version })
    }

    fn make_all(&mut self, node: &str, limits: &Limits) -> (Vec<Place>, Vec<NotApplied>) {
        let (lines, mut not_applied) = writes(limits, self.version, || disk_behind(&self.directory));
        let mut places: Vec<Place> = Vec::new();
        let mut wanted: Vec<(&str, Vec<Limit>)> = Vec::new();
        for line in lines.iter().filter(|it| !it.optional) {
            match wanted.iter_mut().find(|it| it.0 == line.controller) {
                Some(it) => it.1.push(line.limit),
                None => wanted.push((line.controller, vec![line.limit])),
            }
        }
        // It counts and does not limit; mounted with `cpu`, it is in the same place.
        let counts = self.version == Version::V1 && !wanted.is_empty();
        let apart = |of: &str| {
            let find = |name: &str| self.cgroups.v1.iter().find(|it| it.name == name).map(|it| &it.directory);
            find(of).is_some_and(|it| wanted.iter().any(|it| it.0 == "cpu") || find("cpu") != Some(it))
        };
        if counts && apart("cpuacct") {
            wanted.push(("cpuacct", Vec::new()));
        }
        if self.version == Version::V2 && self.base.is_none() && !wanted.is_empty() {
            self.choose_base(&wanted.iter().map(|it| it.0).collect::<Vec<_>>());
        }
        for (controller, mut limits) in wanted {
            limits.dedup();
            match self.make(node, controller) {
                Ok(directory) => places.push(Place { controller: controller.to_owned(), directory, limits }),
                Err(why) => {
                    not_applied
                        .extend(limits.into_iter().map(|limit| NotApplied { limit, why: why.clone() }));
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
                    not_applied.push(NotApplied { limit: line.limit, why: refused(&path, &error) });
                }
                _ => {}
            }
        }
        // A group that limits nothing is not entered.
        if places.iter().all(|it| it.limits.is_empty()) {
            places.clear();
        }
        places.retain(|it| !it.limits.is_empty() || it.controller == "cpuacct");
        (places, not_applied)
    }

    /// The node's directory in the hierarchy of a controller.
    fn make(&mut self, node: &str, controller: &str) -> Result<PathBuf, Why> {
        let node = node.replace('/', "-");
        match self.version {
            Version::V1 => {
                let found = self.cgroups.v1.iter().find(|it| it.name == controller);
                let above = found.ok_or_else(|| Why::NoController(controller.to_owned()))?.directory.clone();
                let ours = above.join(&self.name);
                let its = ours.join(node);
                for (directory, above) in [(&ours, &above), (&its, &ours)] {
                    self.make_directory(directory)?;
                    if controller == "cpuset" {
                        // A new group has none, and cannot be entered without; cpuset(7).
                        for file in ["cpuset.mems", "cpuset.cpus"] {
                            let from = above.join(file);
                            let inherited = read_to_string(&from).map_err(|it| refused(&from, &it))?;
                            let path = directory.join(file);
                            write(&path, inherited.trim()).map_err(|it| refused(&path, &it))?;
                        }
                    }
                }
                Ok(its)
            }
            Version::V2 => {
                if !self.cgroups.v2.iter().any(|it| it.name == controller) {
                    return Err(Why::NoController(controller.to_owned()));
                }
                let above = self.base.clone().ok_or_else(|| Why::NoController(controller.to_owned()))?;
                let ours = above.join(&self.name);
                self.hand_down(&above, controller)?;
                self.make_directory(&ours)?;
                self.hand_down(&ours, controller)?;
                let its = ours.join(node);
                self.make_directory(&its)?;
                Ok(its)
            }
        }
    }

    fn make_directory(&mut self, path: &Path) -> Result<(), Why> {
        if self.made.iter().any(|it| it == path) && path.is_dir() {
            return Ok(());
        }
        if let Some(note) = &self.note {
            let file = OpenOptions::new().create(true).append(true).open(note);
            let noted = file.and_then(|mut it| writeln!(it, "{}", path.display()));
            noted.map_err(|it| refused(note, &it))?;
        }
        match DirBuilder::new().create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(refused(path, &error)),
            _ => self.made.push(path.to_owned()),
        }
        Ok(())
    }

    /// Version 2: the nearest group, from ours upwards, that can hand down what is wanted; ours if none can.
    fn choose_base(&mut self, wanted: &[&str]) {
        let Some(ours) = self.cgroups.v2.first().map(|it| it.directory.clone()) else { return };
        let wanted: Vec<&str> = wanted.iter().copied().filter(|it| *it != "cpuset").collect();
        let all = ours.ancestors().take_while(|it| it.join("cgroup.subtree_control").exists());
        let able = all.map(Path::to_owned).collect::<Vec<_>>().into_iter().find(|it| {
            wanted.iter().all(|controller| self.hand_down(it, controller).is_ok())
                && rustix::fs::access(it, rustix::fs::Access::WRITE_OK).is_ok()
        });
        self.base = Some(able.unwrap_or(ours));
    }

    /// Version 2: lets the children of a group have a controller.
    fn hand_down(&mut self, group: &Path, controller: &str) -> Result<(), Why> {
        let path = group.join("cgroup.subtree_control");
        let now = read_to_string(&path).map_err(|it| refused(&path, &it))?;
        if now.split_whitespace().any(|it| it == controller) {
            return Ok(());
        }
        write(&path, &format!("+{controller}")).map_err(|it| refused(&path, &it))?;
        self.handed.push((path, controller.to_owned()));
        Ok(())
    }

    /// Puts a running process, with all its threads, where its limits hold; what it has already is not counted.
    pub fn put(&mut self, pid: u32, limits: &Limits) -> io::Result<(Option<Group>, Vec<NotApplied>)> {
        // Its processors are told to its threads: a group would be harder to leave again.
        let groups = self.prepare(GENERATOR, &Limits { cpus: Vec::new(), ..limits.clone() })?;
        let mut not_applied = groups.not_applied;
        let mut inside = Vec::new();
        for (mut door, place) in groups.doors {
            match door.write_all(pid.to_string().as_bytes()) {
                Ok(()) => inside.push(place),
                Err(error) => not_applied.extend(place.not_applied(&refused(&place.directory, &error))),
            }
        }
        Ok((group(self.version, &inside), not_applied))
    }

    /// Puts a process back into the groups that we ourselves are in.
    pub fn put_back(&self, pid: u32) {
        let Some(Node { places, .. }) = self.nodes.get(GENERATOR) else { return };
        let home = self.cgroups.v1.iter().chain(&self.cgroups.v2);
        for Controller { directory, .. } in
            home.filter(|it| places.iter().any(|its| its.controller == it.name))
        {
            let _ = write(&directory.join("cgroup.procs"), &pid.to_string());
        }
    }

    /// Removes all groups; their processes must have ended, and been waited for.
    pub fn remove(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        for path in self.made.drain(..).rev() {
            // A process that is gone for its parent may still count for its group, for a moment.
            while let Err(error) = std::fs::remove_dir(&path) {
                if error.kind() == ErrorKind::NotFound || Instant::now() > until {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        for (path, controller) in self.handed.drain(..).rev() {
            let _ = write(&path, &format!("-{controller}"));
        }
    }
}

impl Entrance {
    /// Called between fork and exec: makes system calls only.
    pub fn enter(&self) {
        let fail = |which: u8, error: Errno| {
            let _ = rustix::io::write(self.report.1.as_fd(), &[which, error.raw_os_error() as u8]);
        };
        for (which, (door, _)) in self.doors.iter().enumerate() {
            // Zero is whoever writes it.
            if let Err(error) = rustix::io::write(door.as_fd(), b"0") {
                fail(which as u8, error);
            }
        }
        if let Some(set) = &self.affinity
            && let Err(error) = sched_setaffinity(None, set)
        {
            fail(AFFINITY, error);
        }
    }

    /// After the process has begun: where it is, and what does not hold.
    pub fn result(self) -> (Option<Group>, Vec<NotApplied>) {
        let Entrance { doors, report: (mut report, ours), mut not_applied, version, .. } = self;
        drop(ours);
        let mut failures = Vec::new();
        let _ = report.read_to_end(&mut failures);
        let mut inside: Vec<Place> = doors.into_iter().map(|it| it.1).collect();
        let mut outside = Vec::new();
        for failure in failures.chunks_exact(2) {
            let error = io::Error::from_raw_os_error(i32::from(failure[1]));
            match inside.get(usize::from(failure[0])) {
                Some(place) => {
                    not_applied.extend(place.not_applied(&refused(&place.directory, &error)));
                    outside.push(usize::from(failure[0]));
                }
                None => not_applied.push(NotApplied {
                    limit: Limit::Cpus,
                    why: Why::NoSuchProcessors(format!("sched_setaffinity: {error}")),
                }),
            }
        }
        outside.iter().rev().for_each(|&it| drop(inside.remove(it)));
        (group(version, &inside), not_applied)
    }
}

impl Place {
    fn not_applied<'a>(&'a self, why: &'a Why) -> impl Iterator<Item = NotApplied> + 'a {
        self.limits.iter().map(|&limit| NotApplied { limit, why: why.clone() })
    }
}

fn group(version: Version, places: &[Place]) -> Option<Group> {
    let directories = places.iter().map(|it| (it.controller.clone(), it.directory.clone())).collect();
    (!places.is_empty()).then_some(Group { version, directories })
}

/// The set of these processors, all of which must be there.
pub(crate) fn processors(numbers: &[u32]) -> Result<CpuSet, Why> {
    let online = read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let mut set = CpuSet::new();
    for &number in numbers {
        if !in_list(&online, number) || number as usize >= CpuSet::MAX_CPU {
            return Err(Why::NoSuchProcessors(format!(
                "there is no processor {number}; there are {}",
                online.trim()
            )));
        }
        set.set(number as usize);
    }
    Ok(set)
}

/// Whether a list such as `0-3,8` has a number; `cpuset(7)`, List format.
fn in_list(list: &str, number: u32) -> bool {
    list.trim().split(',').any(|it| {
        let (first, last) = it.split_once('-').unwrap_or((it, it));
        let within = |(first, last): (u32, u32)| (first..=last).contains(&number);
        first.parse().ok().zip(last.parse().ok()).is_some_and(within)
    })
}

/// Removes the groups that a dead keeper has noted, and ends what still runs in them; false if some are still there.
///
/// Only the keeper of this number made them and put processes in: whatever is in them is ours.
pub(crate) fn clear_noted(note: &Path) -> bool {
    let text = read_to_string(note).unwrap_or_default();
    let until = Instant::now() + Duration::from_secs(2);
    let mut all_gone = true;
    for path in text.lines().map(Path::new).collect::<Vec<_>>().into_iter().rev() {
        // Its number may be another keeper's by now, and so the name.
        if !path.components().any(|it| keeper_of(it.as_os_str().to_str()).is_some_and(is_dead)) {
            all_gone &= !path.exists();
            continue;
        }
        // The generator is pgdyno itself, and may have outlived its keeper.
        let ends = !path.ends_with(GENERATOR);
        while let Err(error) = std::fs::remove_dir(path) {
            if error.kind() == ErrorKind::NotFound {
                break;
            }
            if !ends || Instant::now() > until {
                all_gone = false;
                break;
            }
            let processes = read_to_string(path.join("cgroup.procs")).unwrap_or_default();
            for pid in processes.lines().filter_map(|it| Pid::from_raw(it.parse().ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    all_gone
}

/// Removes empty groups of dead keepers below a directory.
fn remove_stale(directory: &Path) {
    for ours in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if !keeper_of(ours.file_name().to_str()).is_some_and(is_dead) {
            continue;
        }
        for node in std::fs::read_dir(ours.path()).into_iter().flatten().flatten() {
            if node.file_type().is_ok_and(|it| it.is_dir()) {
                let _ = std::fs::remove_dir(node.path());
            }
        }
        let _ = std::fs::remove_dir(ours.path());
    }
}

/// The number of the keeper in the name of its group.
fn keeper_of(name: Option<&str>) -> Option<u32> {
    name?.strip_prefix(PREFIX)?.parse().ok()
}

/// A keeper that was given our own number since is dead too.
fn is_dead(pid: u32) -> bool {
    pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists()
}

/// In one system call, as the kernel's files want it.
fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

fn refused(path: &Path, error: &io::Error) -> Why {
    Why::Refused { path: path.to_owned(), error: error.to_string() }
}
