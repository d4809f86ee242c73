//! Paths and creation of run files

use crate::error::{Attempt, Error, ErrorCause, Result};
use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub const EXTENSION: &str = "dyno";

/// Path of SQLite's rollback journal for the run in `path`.
pub fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

/// True if the name matches `[a-z0-9-]{1,64}`.
pub fn is_valid_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// Creates the empty file `<name>-<UTC time>.dyno` in `dir`. Creates `dir` if it does not exist.
///
/// The file's name is unique even if several processes create files at the same time. Only the owner may read the file.
pub fn create_run_file(dir: &Path, name: &str, begun_ms: u64) -> Result<PathBuf> {
    if !is_valid_name(name) {
        return Err(Error::new(dir, ErrorCause::InvalidName(name.to_owned())));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Error::system(dir, Attempt::Create))?;
    let dir = fs::canonicalize(dir).map_err(Error::system(dir, Attempt::Find))?;
    let stem = format!("{name}-{}", format_utc(begun_ms));
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("{stem}{suffix}.{EXTENSION}"));
        match create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::system(&path, Attempt::Create)(error)),
        }
    }
    unreachable!("there is a free number")
}

pub fn create_new(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(path)
}

/// Reserved disk space. The writer frees this space when the disk is full, so that it can still record the end of the
/// run.
#[derive(Debug)]
pub struct DiskReserve(#[expect(dead_code, reason = "dropping the file frees its space")] File);

impl DiskReserve {
    pub const BYTES: usize = 4 << 20;

    /// Reserves space on the disk of `path`, in an unlinked file that the kernel frees when this process ends.
    pub fn allocate_near(path: &Path) -> Result<DiskReserve> {
        let place = path.with_extension("reserve");
        let take = || {
            let mut file = create_new(&place)?;
            fs::remove_file(&place)?;
            let block = [0; 1 << 16];
            (0..DiskReserve::BYTES / block.len()).try_for_each(|_| file.write_all(&block))?;
            // Sync, so that a full disk is reported before the run instead of during it.
            file.sync_data()?;
            Ok(DiskReserve(file))
        };
        take().map_err(Error::system(&place, Attempt::Reserve))
    }
}

/// Formats a Unix time in milliseconds as a UTC time, such as `20261121T115331Z`.
pub fn format_utc(unix_ms: u64) -> String {
    let time = model::utc((unix_ms / 1000) as i64);
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second) = time.as_hms();
    format!("{year:04}{:02}{day:02}T{hour:02}{minute:02}{second:02}Z", u8::from(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validates_names() {
        for name in ["a", "001-pool-modes", "0", &"x".repeat(64)] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "..", "a/b", "../a", "A", "a.b", "a b", "ä", "a\0", &"x".repeat(65)] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn formats_utc_timestamps() {
        for (ms, text) in [
            (0, "19700101T000000Z"),
            (951_826_154_999, "20000229T120914Z"),
            (1_735_689_599_000, "20241231T235959Z"),
            (1_795_261_991_000, "20261121T115311Z"),
        ] {
            assert_eq!(format_utc(ms), text);
        }
    }
}
