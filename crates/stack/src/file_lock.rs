//! Locks on files, released when they are dropped

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::ops::Deref;

/// Open file with a lock on it; see `flock(2)`.
///
/// Closing the file would not always release the lock: a process that another thread forks meanwhile has a copy of the
/// file until it executes its program.
#[derive(Debug)]
pub(crate) struct FileLock(File);

impl FileLock {
    /// Locks a file. Fails with `WouldBlock` if another open file has a conflicting lock and `operation` does not
    /// block.
    pub(crate) fn new(file: File, operation: FlockOperation) -> io::Result<FileLock> {
        flock(&file, operation)?;
        Ok(FileLock(file))
    }
}

impl Deref for FileLock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_the_file_do_not_keep_the_lock() {
        let path = std::env::temp_dir().join(format!("stack-file-lock-{}", std::process::id()));
        let open = || File::create(&path).unwrap();
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        let lock = FileLock::new(open(), exclusive).unwrap();
        assert_eq!(FileLock::new(open(), exclusive).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let _copy = lock.try_clone().unwrap();
        drop(lock);
        FileLock::new(open(), exclusive).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
