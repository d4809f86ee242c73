//! Disks for single nodes, which can be filled or frozen
//!
//! Each disk is a sparse file in the run directory, as large as the free space there. It is mounted only in the
//! keeper's mount namespace, which its nodes share. When the last of these processes ends, the kernel removes the
//! mount and its loop device.

use super::error::KeeperError;
use super::launch::SystemUser;
use crate::features::system_program;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Disks that exist; all are below one directory.
#[derive(Debug, Default)]
pub(super) struct NodeDisks {
    /// Name of each node, and mount point of its disk.
    all: Vec<(String, PathBuf)>,
    /// Name of each node whose disk is frozen, and the process that will let it continue.
    frozen: Vec<(String, Child)>,
}

/// Freezes the file system `$0`, writes a line, and lets it continue when standard input ends. This process outlives a
/// killed keeper, because processes that wait for a frozen disk cannot be killed.
const FREEZE: &str = r#"fsfreeze --freeze "$0" || exit; echo; cat >/dev/null; fsfreeze --unfreeze "$0""#;

/// Name of the file that fills a node's disk.
const FULL: &str = "full";
/// Largest and smallest allocation with which a disk is filled, bytes.
const PIECES: (u64, u64) = (1 << 30, 4096);

impl NodeDisks {
    /// Returns the mount point of the node's disk, owned by `owner`. The disk is created on first use. Needs root.
    pub fn mount_point(
        &mut self,
        run: &Path,
        node: &str,
        owner: Option<&SystemUser>,
    ) -> Result<PathBuf, KeeperError> {
        if let Some(disk) = self.all.iter().find(|it| it.0 == node) {
            return Ok(disk.1.clone());
        }
        let failure = |path: &Path| KeeperError::io::<std::io::Error>(path.display().to_string());
        let (above, place) = (run.join("disks"), run.join("disks").join(node));
        if self.all.is_empty() {
            // SAFETY: no other thread shares the file descriptors: the keeper has one thread.
            unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(KeeperError::io("new mount namespace"))?;
            mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
                .map_err(KeeperError::io("new mount namespace"))?;
            if !above.exists() {
                DirBuilder::new().mode(0o711).create(&above).map_err(failure(&above))?;
                std::fs::set_permissions(&above, PermissionsExt::from_mode(0o711))
                    .map_err(failure(&above))?;
            }
        }
        let image = above.join(format!("{node}.image"));
        let room = rustix::fs::statvfs(run).map_err(KeeperError::io(run.display()))?;
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&image);
        file.and_then(|it| it.set_len(room.f_bavail * room.f_frsize)).map_err(failure(&image))?;
        // The options suit few large files, reserve no blocks for root, and avoid zeroing inodes during a measurement.
        let options = [
            "-q",
            "-F",
            "-m",
            "0",
            "-T",
            "largefile4",
            "-E",
            "nodiscard,lazy_itable_init=1,lazy_journal_init=1",
        ];
        call(("mkfs.ext4", "e2fsprogs"), &options, &[&image])?;
        if !place.exists() {
            std::fs::create_dir(&place).map_err(failure(&place))?;
        }
        call(
            ("mount", "mount"),
            &["-t", "ext4", "-o", "loop,nosuid,nodev,discard,noinit_itable"],
            &[&image, &place],
        )?;
        self.all.push((node.to_owned(), place.clone()));
        let owner = owner.map(|it| (it.uid, it.gid));
        chown(&place, owner.map(|it| it.0), owner.map(|it| it.1)).map_err(failure(&place))?;
        Ok(place)
    }

    /// Fills a node's disk (`full` = true), or frees that space again.
    pub fn fill(&self, node: &str, full: bool) -> Result<(), KeeperError> {
        let path = self.disk(node)?.join(FULL);
        if self.frozen.iter().any(|it| it.0 == node) {
            return Err(KeeperError::DiskFrozen);
        }
        let failure = || KeeperError::io::<std::io::Error>(path.display().to_string());
        if !full {
            return std::fs::remove_file(&path).map_err(failure());
        }
        let file = File::create(&path).map_err(failure())?;
        let (mut at, mut piece) = (0, PIECES.0);
        while piece >= PIECES.1 {
            match fallocate(&file, FallocateFlags::empty(), at, piece) {
                Ok(()) => at += piece,
                Err(Errno::NOSPC) => piece /= 2,
                // The maximum file size exceeds any disk, so it cannot be the reason for a failed allocation.
                Err(it) => return Err(failure()(it.into())),
            }
        }
        Ok(())
    }

    /// Freezes a node's disk: writes wait until [`NodeDisks::thaw`], at the latest until the keeper ends.
    pub fn freeze(&mut self, node: &str) -> Result<(), KeeperError> {
        let place = self.disk(node)?.to_owned();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", FREEZE]).arg(&place).env_clear().env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut shell = shell.spawn().map_err(KeeperError::io("/bin/sh"))?;
        let mut answer = [0];
        if shell.stdout.take().is_none_or(|mut it| it.read_exact(&mut answer).is_err()) {
            let done = shell.wait_with_output().map_err(KeeperError::io("/bin/sh"))?;
            return Err(KeeperError::failed("fsfreeze", &done));
        }
        self.frozen.push((node.to_owned(), shell));
        Ok(())
    }

    /// Lets a frozen disk continue. Returns when it does.
    pub fn thaw(&mut self, node: &str) {
        while let Some(at) = self.frozen.iter().position(|it| it.0 == node) {
            let (_, mut shell) = self.frozen.swap_remove(at);
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }

    /// Lets all disks continue.
    pub fn thaw_all(&mut self) {
        while let Some((node, _)) = self.frozen.first() {
            let node = node.clone();
            self.thaw(&node);
        }
    }

    fn disk(&self, node: &str) -> Result<&Path, KeeperError> {
        let found = self.all.iter().find(|it| it.0 == node);
        found.map(|it| it.1.as_path()).ok_or(KeeperError::NoDisk)
    }

    /// Unmounts all disks; their contents are lost.
    pub fn remove(&mut self) {
        for (_, place) in self.all.drain(..) {
            let _ = unmount(&place, UnmountFlags::DETACH);
        }
    }
}

/// Runs a system program of a package to its end.
fn call(
    (name, package): (&'static str, &'static str),
    options: &[&str],
    paths: &[&Path],
) -> Result<(), KeeperError> {
    let program = system_program(name).ok_or(KeeperError::MissingProgram { program: name, package })?;
    let done = Command::new(&program).args(options).args(paths).stdin(Stdio::null()).output();
    let done = done.map_err(KeeperError::io(program.display()))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(KeeperError::failed(name, &done)),
    }
}
