//! Temporary folders, and commands that are run in them

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder that is removed with its contents on drop.
pub struct Folder(pub PathBuf);

impl Folder {
    /// New folder for temporary files. `name` is unique among the tests of this process.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pgdyno-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is room for temporary files");
        Folder(path)
    }

    /// The program with these arguments, in this folder, in English and without input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
        command.args(arguments).current_dir(&self.0).env_remove("PGDYNO_LANG").stdin(Stdio::null());
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining temporary folder is harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command, checks its exit status, and returns its standard output followed by its standard error.
#[track_caller]
pub fn text(command: &mut Command, status: i32) -> String {
    let output = command.output().expect("the program can be started");
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// Path of a file of this repository.
pub fn repository_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno").join(path)
}
