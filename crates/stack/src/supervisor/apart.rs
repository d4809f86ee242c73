//! Namespaces for isolated nodes, whose processes all end when the first process ends
//!
//! The first process of the PID namespace only waits. Killing it kills all processes of the namespace, as a power
//! failure would. The node also gets an IPC namespace and its own `/dev/shm`, so that a killed server's shared memory
//! is freed too.

use super::launch::{Sig, SystemUser};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Guard for new namespaces. While it exists, processes that the keeper starts are in these namespaces. Dropping it
/// returns the keeper to its previous namespaces.
#[derive(Debug)]
pub(super) struct NamespaceGuard {
    home: Vec<(File, LinkNameSpaceType)>,
}

/// PID namespace, identified by its inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PidNamespace(u64);

/// Maximum number of rounds of signalling until no new process appears.
const ROUNDS: u32 = 100;

impl NamespaceGuard {
    /// Creates new namespaces and enters them. Needs root.
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
        // SAFETY: no other thread shares the file descriptors: the keeper has one thread.
        unsafe { unshare_unsafe(flags) }?;
        let guard = NamespaceGuard { home };
        // Mounts made from now on are visible only in this namespace.
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        mount("pgdyno", "/dev/shm", "tmpfs", plain, Some(c"mode=1777"))?;
        Ok(guard)
    }
}

impl Drop for NamespaceGuard {
    fn drop(&mut self) {
        for (space, kind) in &self.home {
            let result = move_into_link_name_space(space.as_fd(), Some(*kind));
            assert!(result.is_ok(), "who may leave a namespace may come back: {result:?}");
        }
    }
}

/// Prepares the first process of a namespace, between fork and exec. Mounts a separate `/proc`, in which failover
/// managers look for processes, and changes to the user.
///
/// # Safety
/// Call only between fork and exec. It makes system calls only.
pub(super) unsafe fn prepare_first_process(user: Option<&SystemUser>) -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(c"proc", c"/proc", c"proc", plain, None)?;
    let Some(user) = user else { return Ok(()) };
    let done = |it: libc::c_int| if it == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the calls are plain system calls of a process with one thread.
    unsafe {
        done(libc::setgroups(0, std::ptr::null()))?;
        done(libc::setgid(user.gid))?;
        done(libc::setuid(user.uid))
    }
}

/// Forks the program from the first process of a namespace, between fork and exec.
///
/// The child returns and becomes the program. The parent waits until no process is left and exits with the program's
/// status, or with 128 plus the number of the signal that ended it.
///
/// # Safety
/// Call only between fork and exec. It makes system calls only.
pub(super) unsafe fn fork_program() -> io::Result<()> {
    // SAFETY: the process has one thread, and the child continues to exec.
    let program = unsafe { libc::fork() };
    match program {
        -1 => return Err(io::Error::last_os_error()),
        0 => return Ok(()),
        _ => {}
    }
    // SAFETY: the call is a plain system call. `spawn` in the keeper waits until a pipe closes; this process must not
    // hold the pipe open.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    let (mut status, mut end) = (0, 0);
    loop {
        // SAFETY: `status` is a local variable.
        let pid = unsafe { libc::wait(&raw mut status) };
        if pid == program {
            end = match libc::WIFSIGNALED(status) {
                true => 128 + libc::WTERMSIG(status),
                false => libc::WEXITSTATUS(status),
            };
        }
        if pid == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) {
            // SAFETY: the call ends this process, without running exit handlers.
            unsafe { libc::_exit(end) };
        }
    }
}

impl PidNamespace {
    pub fn from_pid(pid: Pid) -> io::Result<PidNamespace> {
        let link = Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join("ns/pid");
        Ok(PidNamespace(link.metadata()?.ino()))
    }

    /// Lists all current processes of the namespace.
    pub fn processes(self) -> Vec<Pid> {
        let all = parents().into_iter().filter_map(|it| Pid::from_raw(it.0.cast_signed()));
        all.filter(|it| PidNamespace::from_pid(*it).is_ok_and(|its| its == self)).collect()
    }

    /// Opens a handle to one of the namespace's processes. Ids are reused, but a handle always refers to the same
    /// process.
    pub fn handle(self, pid: Pid) -> io::Result<OwnedFd> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        // Check the id after opening the handle. If the id is still in the namespace, the handle's process is in it or
        // has ended.
        if PidNamespace::from_pid(pid)? == self { Ok(handle) } else { Err(Errno::SRCH.into()) }
    }

    /// Signals every process except the first, including processes that start during the call.
    pub fn signal_all(self, first: Pid, signal: Sig) {
        let mut signalled = Vec::new();
        for _ in 0..ROUNDS {
            let new = self.processes().into_iter().filter(|it| *it != first && !signalled.contains(it));
            let new: Vec<Pid> = new.collect();
            if new.is_empty() {
                return;
            }
            for pid in new {
                if let Ok(handle) = self.handle(pid) {
                    let _ = pidfd_send_signal(&handle, signal.into());
                }
                signalled.push(pid);
            }
        }
    }
}

/// Finds the program that the first process of a namespace waits for: its oldest child.
pub(super) fn program_of(first: Pid) -> Option<Pid> {
    let number = first.as_raw_nonzero().get().unsigned_abs();
    let children = parents().into_iter().filter(|it| it.1 == number).map(|it| it.0);
    Pid::from_raw(children.min()?.cast_signed())
}

/// Lists every process of the machine with its parent, from `proc(5)`.
pub(super) fn parents() -> Vec<(u32, u32)> {
    let parent = |stat: &str| stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok();
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let read = |it: u32| std::fs::read(format!("/proc/{it}/stat")).unwrap_or_default();
    numbers.filter_map(|it| Some((it, parent(&String::from_utf8_lossy(&read(it)))?))).collect()
}
