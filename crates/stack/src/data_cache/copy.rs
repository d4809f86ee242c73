//! Copies data directories

use crate::interrupt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, chown};
use std::path::Path;

/// Files that a running server writes, and that the next start would misread.
const OF_RUNNING_SERVER: [&str; 2] = ["postmaster.pid", "postmaster.opts"];

/// Copies a data directory, which must not exist at the target. `owner` is the user and group of the copy.
///
/// `io::copy` shares the blocks of the files if the file system can. Tablespaces are symbolic links and are rejected.
pub fn copy_data(from: &Path, to: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    set_owner(to, owner)?;
    for entry in fs::read_dir(from)? {
        if interrupt::is_interrupted() {
            return Err(ErrorKind::Interrupted.into());
        }
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_data(&entry.path(), &target, owner)?;
        } else if !kind.is_file() {
            return Err(ErrorKind::Unsupported.into());
        } else if !OF_RUNNING_SERVER.iter().any(|it| entry.file_name() == *it) {
            let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
            io::copy(&mut File::open(entry.path())?, &mut copy)?;
            set_owner(&target, owner)?;
        }
    }
    Ok(())
}

/// Size of all files, bytes.
pub(super) fn size(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

fn set_owner(path: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    owner.map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group)))
}
