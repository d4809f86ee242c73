//! Has somebody asked the process that writes a run to end it?
//!
//! A request is an empty file beside the run's: nobody but the one who writes that run can be meant by it, on whichever
//! side of a container's wall he runs, and asking twice is asking once.

use crate::error::{Error, Result};
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Asks for the run in `path` to be ended, as by Ctrl-C.
pub fn ask_to_end(path: &Path) -> Result<()> {
    let place = place(path);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::system(&place, "ask for the end with")(error)),
    }
}

/// Whether that was asked for.
pub fn is_asked_to_end(path: &Path) -> bool {
    place(path).symlink_metadata().is_ok_and(|it| it.is_file() && it.len() == 0)
}

/// Takes the request away, if there is one.
pub(crate) fn forget(path: &Path) {
    // A file of this name that is not empty is somebody else's.
    if is_asked_to_end(path) {
        let _ = fs::remove_file(place(path));
    }
}

fn place(path: &Path) -> PathBuf {
    path.with_extension("stop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_twice_is_asking_once() {
        let folder = std::env::temp_dir().join(format!("pgdyno-request-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("there is room for temporary files");
        let (one, other) = (folder.join("one.dyno"), folder.join("other.dyno"));
        for _ in 0..2 {
            ask_to_end(&one).expect("the folder is ours");
            assert!(is_asked_to_end(&one) && !is_asked_to_end(&other));
        }
        for _ in 0..2 {
            forget(&one);
            assert!(!is_asked_to_end(&one));
        }
        fs::write(folder.join("one.stop"), "notes").expect("the folder is ours");
        forget(&one);
        assert!(!is_asked_to_end(&one) && folder.join("one.stop").exists());
        fs::remove_file(folder.join("one.stop")).expect("it is there");
        fs::remove_dir(&folder).expect("nothing is left in it");
        assert!(ask_to_end(&one).is_err(), "the folder has gone");
    }
}
