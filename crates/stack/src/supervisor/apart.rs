//! How does a node have processes of its own, so that all of them end when the first one does?
//!
//! In a process namespace whose first process only waits: whoever kills it has killed all, as when a machine loses its
//! power. Beside it stand a namespace of System V memory, and a `/dev/shm` of its own, so that what a killed server leaves
//! there goes as well.

use super::keeper::parents;
use super::launch::{Sig, User};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the keeper starts while this lives is in namespaces of its own; dropped, the keeper is back in its old ones.
#[derive(Debug)]
pub(super) struct NamespaceGuard {
    home: Vec<(File, LinkNameSpaceType)>,
}

/// A process namespace, by the number that the kernel gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PidNamespace(u64);

/// What all processes of a node are told, until there is none that was not.
const ROUNDS: u32 = 100;

impl NamespaceGuard {
    /// Only root may.
    pub fn enter() -> io::Result<NamespaceGuard> {
        let kinds = [
            ("pid", LinkNameSpaceType::ProcessID),
            ("ipc", LinkNameSpaceType::InterProcessCommunication),
            ("mnt", LinkNameSpaceType::Mount),
        ];
        let mut home = Vec::new();
        for (name, kind) in kinds {
            home.push((File::open(format!("/proc/self/ns/{name}"))?, kind));
        }
        let flags = UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWNS;
        // SAFETY: file descriptors stay shared with nobody: the keeper has one thread.
        unsafe { unshare_unsafe(flags) }?;
        let away = NamespaceGuard { home };
        // What is mounted here is seen here only.
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        mount("pgdyno", "/dev/shm", "tmpfs", plain, Some(c"mode=1777"))?;
        Ok(away)
    }
}

impl Drop for NamespaceGuard {
    fn drop(&mut self) {
        for (space, kind) in &self.home {
            let back = move_into_link_name_space(space.as_fd(), Some(*kind));
            assert!(back.is_ok(), "who may leave a namespace may come back: {back:?}");
        }
    }
}

/// Called between fork and exec as the first process of a namespace: gives it a `/proc` that shows its own processes, which
/// Patroni looks for there, and becomes its user.
///
/// # Safety
/// Makes system calls only; nothing else may be done between fork and exec.
pub(super) unsafe fn furnish(user: Option<&User>) -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(c"proc", c"/proc", c"proc", plain, None)?;
    let Some(user) = user else { return Ok(()) };
    let done = |it: libc::c_int| if it == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: plain system calls of a process with one thread.
    unsafe {
        done(libc::setgroups(0, std::ptr::null()))?;
        done(libc::setgid(user.gid))?;
        done(libc::setuid(user.uid))
    }
}

/// Called between fork and exec as the first process of a namespace. Its child returns and becomes the program; itself it
/// waits until no process is left, and ends as the program did: with 128 and the signal's number after a signal.
///
/// # Safety
/// Makes system calls only; nothing else may be done between fork and exec.
pub(super) unsafe fn stay_first() -> io::Result<()> {
    // SAFETY: one thread, and the child goes on to exec.
    let program = unsafe { libc::fork() };
    match program {
        -1 => return Err(io::Error::last_os_error()),
        0 => return Ok(()),
        _ => {}
    }
    // SAFETY: plain system calls. The keeper waits for the end of a pipe that we hold; we shall never write to it.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    let (mut status, mut end) = (0, 0);
    loop {
        // SAFETY: `status` is ours.
        let pid = unsafe { libc::wait(&raw mut status) };
        if pid == program {
            end = match libc::WIFSIGNALED(status) {
                true => 128 + libc::WTERMSIG(status),
                false => libc::WEXITSTATUS(status),
            };
        }
        if pid == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) {
            // SAFETY: ends this process, without what others registered for its end.
            unsafe { libc::_exit(end) };
        }
    }
}

impl PidNamespace {
    pub fn of(pid: Pid) -> io::Result<PidNamespace> {
        let link = Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join("ns/pid");
        Ok(PidNamespace(link.metadata()?.ino()))
    }

    /// All its processes, as they are now.
    pub fn processes(self) -> Vec<Pid> {
        let all = parents().into_iter().filter_map(|it| Pid::from_raw(it.0.cast_signed()));
        all.filter(|it| PidNamespace::of(*it).is_ok_and(|its| its == self)).collect()
    }

    /// The handle of one of its processes. Numbers are used again; a handle is of the one process for ever.
    pub fn handle(self, pid: Pid) -> io::Result<OwnedFd> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        // Asked after it was opened: who has the number now is who the handle is of, or has ended.
        if PidNamespace::of(pid)? == self { Ok(handle) } else { Err(Errno::SRCH.into()) }
    }

    /// Sends a signal to every process but the first, also to those that are begun meanwhile.
    pub fn signal_all(self, first: Pid, signal: Sig) {
        let mut told = Vec::new();
        for _ in 0..ROUNDS {
            let new = self.processes().into_iter().filter(|it| *it != first && !told.contains(it));
            let new: Vec<Pid> = new.collect();
            if new.is_empty() {
                return;
            }
            for it in new {
                if let Ok(handle) = self.handle(it) {
                    let _ = pidfd_send_signal(&handle, signal.into());
                }
                told.push(it);
            }
        }
    }
}

/// The program that the first process of a namespace waits for: its oldest child.
pub(super) fn program_of(first: Pid) -> Option<Pid> {
    let number = first.as_raw_nonzero().get().unsigned_abs();
    let children = parents().into_iter().filter(|it| it.1 == number).map(|it| it.0);
    Pid::from_raw(children.min()?.cast_signed())
}
