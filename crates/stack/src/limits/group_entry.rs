//! Entry of a process into its control groups, before its first instruction

use super::{CgroupVersion, Group, Limit, UnappliedLimit, UnappliedReason};
use model::message;
use model::message::Message;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{self, PipeReader, PipeWriter, Read, Write as _};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Directory of a node in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupDirectory {
    pub controller: String,
    pub directory: PathBuf,
    /// Limits that the kernel enforces through this directory.
    pub limits: Vec<Limit>,
}

/// State for moving a process into its groups between fork and exec.
#[derive(Debug)]
pub(crate) struct GroupEntry {
    /// Open `cgroup.procs` file of each group.
    procs_files: Vec<(File, GroupDirectory)>,
    /// CPU affinity, if no group limits the CPUs.
    affinity: Option<CpuSet>,
    /// Pipe for failures: index into `procs_files` and `errno`, one byte each.
    report: (PipeReader, PipeWriter),
    pub not_applied: Vec<UnappliedLimit>,
    version: CgroupVersion,
}

/// Index in the failure pipe that stands for the CPU affinity.
const AFFINITY: u8 = u8::MAX;

impl GroupEntry {
    /// Prepares a process to join these directories and run on these CPUs. `not_applied` lists limits that already
    /// failed.
    pub fn new(
        version: CgroupVersion,
        places: Vec<GroupDirectory>,
        cpus: &[u32],
        mut not_applied: Vec<UnappliedLimit>,
    ) -> io::Result<GroupEntry> {
        let mut procs_files = Vec::new();
        for place in places {
            let path = place.directory.join("cgroup.procs");
            match OpenOptions::new().write(true).open(&path) {
                Ok(file) => procs_files.push((file, place)),
                Err(error) => {
                    not_applied.extend(place.limits_not_applied(&UnappliedReason::refused(&path, &error)));
                }
            }
        }
        let mut affinity = None;
        if !cpus.is_empty() {
            // A process can change its affinity, but cannot leave a cpuset group. Without a group, set at least the
            // affinity.
            not_applied.retain(|it| it.limit != Limit::Cpus);
            match cpu_set(cpus) {
                Ok(_) if procs_files.iter().any(|it| it.1.limits.contains(&Limit::Cpus)) => {}
                Ok(set) => affinity = Some(set),
                Err(reason) => not_applied.push(UnappliedLimit { limit: Limit::Cpus, reason }),
            }
        }
        not_applied.sort_by_key(|it| it.limit);
        Ok(GroupEntry { procs_files, affinity, report: io::pipe()?, not_applied, version })
    }

    /// Joins the groups. Called between fork and exec, so it makes system calls only.
    pub fn enter(&self) {
        let fail = |index: u8, error: Errno| {
            let _ = rustix::io::write(self.report.1.as_fd(), &[index, error.raw_os_error() as u8]);
        };
        for (index, (file, _)) in self.procs_files.iter().enumerate() {
            // Zero means the writing process.
            if let Err(error) = rustix::io::write(file.as_fd(), b"0") {
                fail(index as u8, error);
            }
        }
        if let Some(set) = &self.affinity
            && let Err(error) = sched_setaffinity(None, set)
        {
            fail(AFFINITY, error);
        }
    }

    /// Moves another process, with all its threads, into the groups.
    pub fn move_process(self, pid: u32) -> (Option<Group>, Vec<UnappliedLimit>) {
        let (mut inside, mut not_applied) = (Vec::new(), self.not_applied);
        for (mut file, place) in self.procs_files {
            match file.write_all(pid.to_string().as_bytes()) {
                Ok(()) => inside.push(place),
                Err(error) => {
                    not_applied.extend(
                        place.limits_not_applied(&UnappliedReason::refused(&place.directory, &error)),
                    );
                }
            }
        }
        (make_group(self.version, &inside), not_applied)
    }

    /// Returns the group and the limits that are not in effect. Called after the process has started.
    pub fn finish(self) -> (Option<Group>, Vec<UnappliedLimit>) {
        let GroupEntry { procs_files, report: (mut report, writer), mut not_applied, version, .. } = self;
        drop(writer);
        let mut failures = Vec::new();
        let _ = report.read_to_end(&mut failures);
        let mut inside: Vec<GroupDirectory> = procs_files.into_iter().map(|it| it.1).collect();
        let mut outside = Vec::new();
        for failure in failures.chunks_exact(2) {
            let error = io::Error::from_raw_os_error(i32::from(failure[1]));
            match inside.get(usize::from(failure[0])) {
                Some(place) => {
                    not_applied.extend(
                        place.limits_not_applied(&UnappliedReason::refused(&place.directory, &error)),
                    );
                    outside.push(usize::from(failure[0]));
                }
                None => not_applied.push(UnappliedLimit {
                    limit: Limit::Cpus,
                    reason: UnappliedReason::NoSuchProcessors(message!(
                        "error-of",
                        subject = "sched_setaffinity",
                        error = Message::from(&error)
                    )),
                }),
            }
        }
        outside.iter().rev().for_each(|&it| drop(inside.remove(it)));
        (make_group(version, &inside), not_applied)
    }
}

impl GroupDirectory {
    fn limits_not_applied<'a>(
        &'a self,
        reason: &'a UnappliedReason,
    ) -> impl Iterator<Item = UnappliedLimit> + 'a {
        self.limits.iter().map(|&limit| UnappliedLimit { limit, reason: reason.clone() })
    }
}

fn make_group(version: CgroupVersion, places: &[GroupDirectory]) -> Option<Group> {
    let directories = places.iter().map(|it| (it.controller.clone(), it.directory.clone())).collect();
    (!places.is_empty()).then_some(Group { version, directories })
}

/// Converts CPU numbers to a set; an error if one of the CPUs does not exist.
pub(crate) fn cpu_set(numbers: &[u32]) -> Result<CpuSet, UnappliedReason> {
    let online = read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let mut set = CpuSet::new();
    for &number in numbers {
        if !in_list(&online, number) || number as usize >= CpuSet::MAX_CPU {
            return Err(UnappliedReason::NoSuchProcessors(message!(
                "limits-no-cpu",
                number = number.to_string(),
                online = online.trim()
            )));
        }
        set.set(number as usize);
    }
    Ok(set)
}

/// True if a list such as `0-3,8` contains a number; `cpuset(7)`, List format.
fn in_list(list: &str, number: u32) -> bool {
    list.trim().split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let within = |(first, last): (u32, u32)| (first..=last).contains(&number);
        first.parse().ok().zip(last.parse().ok()).is_some_and(within)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_cpu_lists() {
        let check =
            |list: &str, number: u32, expected: bool| assert_eq!(in_list(list, number), expected, "{list}");
        check("0-3,8\n", 0, true);
        check("0-3,8\n", 3, true);
        check("0-3,8\n", 4, false);
        check("0-3,8\n", 8, true);
        check("0", 0, true);
        check("", 0, false);
        check("x-y", 0, false);
    }
}
