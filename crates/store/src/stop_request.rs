//! Requests of one process to stop a run that another process writes
//!
//! A request is an empty file next to the run's file. It therefore reaches only the writer of this run, even in another
//! container. A repeated request has no further effect.

use crate::error::{Attempt, Error, Result};
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Requests that the run in `path` stop, as after Ctrl-C.
pub fn request_stop(path: &Path) -> Result<()> {
    let place = request_path(path);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::system(&place, Attempt::RequestStop)(error)),
    }
}

/// True if a stop was requested.
pub fn is_stop_requested(path: &Path) -> bool {
    request_path(path).symlink_metadata().is_ok_and(|it| it.is_file() && it.len() == 0)
}

/// Removes the request, if there is one.
pub(crate) fn clear_request(path: &Path) {
    // A non-empty file with this name belongs to another program or to the user.
    if is_stop_requested(path) {
        let _ = fs::remove_file(request_path(path));
    }
}

fn request_path(path: &Path) -> PathBuf {
    path.with_extension("stop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_request_is_idempotent() {
        let folder = std::env::temp_dir().join(format!("pgdyno-request-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary directory is writable");
        let (one, other) = (folder.join("one.dyno"), folder.join("other.dyno"));
        for _ in 0..2 {
            request_stop(&one).expect("the directory is writable");
            assert!(is_stop_requested(&one) && !is_stop_requested(&other));
        }
        for _ in 0..2 {
            clear_request(&one);
            assert!(!is_stop_requested(&one));
        }
        fs::write(folder.join("one.stop"), "notes").expect("the directory is writable");
        clear_request(&one);
        assert!(!is_stop_requested(&one) && folder.join("one.stop").exists());
        fs::remove_file(folder.join("one.stop")).expect("the file exists");
        fs::remove_dir(&folder).expect("the directory is empty");
        assert!(request_stop(&one).is_err(), "the directory was removed");
    }
}
