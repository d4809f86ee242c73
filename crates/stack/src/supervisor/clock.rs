//! Clocks for single servers, which can be shifted
//!
//! libfaketime, which PostgreSQL loads, adds an offset to the time of the system. It reads the offset from a file, at most
//! once per second. The monotonic clock stays as it is, as after a real jump of the system clock.
//!
//! Only PostgreSQL loads the library, not its cluster manager: libfaketime 0.9.10 breaks sleeps until a time of the
//! monotonic clock, which Python uses.

use super::{NodeError, Supervisor};
use crate::features::faketime_library;
use model::message;
use std::fs::{DirBuilder, read_dir};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

impl Supervisor {
    /// Gives a server a clock of its own. Returns a directory of programs that replaces `bin`: its `postgres` has this
    /// clock. The clock keeps its offset when the server is restarted.
    pub fn separate_clock(&self, node: &str, bin: &Path) -> Result<PathBuf, NodeError> {
        let failure = |it: io::Error| NodeError::new(node, message!("attempt-get-clock"), &it);
        let missing = || NodeError::new(node, message!("attempt-get-clock"), message!("node-no-faketime"));
        let library = faketime_library().ok_or_else(missing)?;
        let programs = self.directory().join(format!("{node}.bin"));
        if !programs.exists() {
            self.write_offset(node, 0).map_err(failure)?;
            self.write_programs(&programs, bin, &library, &self.clock_file(node)).map_err(failure)?;
        }
        Ok(programs)
    }

    /// Sets a server's own clock to this machine's time plus an offset in nanoseconds. Each process of the server sees it
    /// within a second.
    pub fn shift_clock(&self, node: &str, by_ns: i64) -> Result<(), NodeError> {
        let attempt = || message!("attempt-shift-clock");
        if !self.clock_file(node).exists() {
            return Err(NodeError::new(node, attempt(), message!("node-no-clock")));
        }
        self.write_offset(node, by_ns).map_err(|it| NodeError::new(node, attempt(), &it))
    }

    fn clock_file(&self, node: &str) -> PathBuf {
        self.directory().join(format!("{node}.clock"))
    }

    /// Replaces the file with the offset at once, because its readers do not expect a part of it.
    fn write_offset(&self, node: &str, by_ns: i64) -> io::Result<()> {
        let (sign, by) = (if by_ns < 0 { '-' } else { '+' }, by_ns.unsigned_abs());
        let offset = format!("{sign}{}.{:09}\n", by / 1_000_000_000, by % 1_000_000_000);
        let new = self.private_file(format!("{node}.clock-new"), offset.as_bytes())?;
        std::fs::rename(new, self.clock_file(node))
    }

    /// Creates a directory with links to all programs of `bin`, and with a script instead of `postgres`.
    fn write_programs(&self, programs: &Path, bin: &Path, library: &Path, clock: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(programs)?;
        for program in read_dir(bin)? {
            let program = program?;
            if program.file_name() != "postgres" {
                symlink(program.path(), programs.join(program.file_name()))?;
            }
        }
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        // NO_FAKE_STAT: the times of files stay true.
        let script = format!(
            "#!/bin/sh\nexport LD_PRELOAD={} FAKETIME_TIMESTAMP_FILE={}\n\
             export FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1\nexec {} \"$@\"\n",
            quoted(library),
            quoted(clock),
            quoted(&bin.join("postgres"))
        );
        self.private_file(programs.join("postgres"), script.as_bytes())?;
        std::fs::set_permissions(programs.join("postgres"), PermissionsExt::from_mode(0o755))
    }
}
