//! Formats of dumps, and their identity

use crate::file_hash::{hash_contents, hex};
use model::message;
use model::plan::DumpFile;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DumpFormat {
    /// Archive for `pg_restore`; `parallel` is false for the tar format, which only one session can read.
    Archive { parallel: bool },
    /// SQL for `psql`.
    Sql(Compression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Name of the program that decompresses.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        }
    }
}

impl DumpFormat {
    /// Detects the format from the first bytes, whatever the file's name.
    pub fn detect(path: &Path) -> io::Result<DumpFormat> {
        if path.is_dir() {
            return match path.join("toc.dat").is_file() {
                true => Ok(DumpFormat::Archive { parallel: true }),
                false => Err(message!("dump-no-toc").into_io_error()),
            };
        }
        let mut first = Vec::new();
        File::open(path)?.take(512).read_to_end(&mut first)?;
        Ok(DumpFormat::from_first_bytes(&first))
    }

    fn from_first_bytes(first: &[u8]) -> DumpFormat {
        match first {
            [b'P', b'G', b'D', b'M', b'P', ..] => DumpFormat::Archive { parallel: true },
            // A tar archive begins with the name of its first file.
            it if it.starts_with(b"toc.dat\0") => DumpFormat::Archive { parallel: false },
            [0x1f, 0x8b, ..] => DumpFormat::Sql(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => DumpFormat::Sql(Compression::Zstd),
            _ => DumpFormat::Sql(Compression::None),
        }
    }
}

/// Size and hash of a dump. Reads all of it.
pub fn describe(path: &Path) -> io::Result<DumpFile> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    if path.is_dir() {
        DumpFormat::detect(path)?;
        let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|it| it.path()));
        let mut files = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        files.sort();
        for file in files {
            let mut contents = Sha256::new();
            bytes += hash_contents(&file, &mut contents)?;
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(b"\0");
            hash.update(contents.finalize());
        }
    } else {
        bytes = hash_contents(path, &mut hash)?;
    }
    Ok(DumpFile { path: std::path::absolute(path)?, bytes, sha256: hex(hash) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_formats() {
        let check = |first: &[u8], expected: DumpFormat| {
            assert_eq!(DumpFormat::from_first_bytes(first), expected, "{first:?}");
        };
        check(b"PGDMP\x01\x0e\0", DumpFormat::Archive { parallel: true });
        check(b"toc.dat\0\0\0", DumpFormat::Archive { parallel: false });
        check(b"\x1f\x8b\x08", DumpFormat::Sql(Compression::Gzip));
        check(b"\x28\xb5\x2f\xfd\x04", DumpFormat::Sql(Compression::Zstd));
        check(b"--\n-- PostgreSQL database dump", DumpFormat::Sql(Compression::None));
        check(b"", DumpFormat::Sql(Compression::None));
        check(b"toc.dat", DumpFormat::Sql(Compression::None));
    }

    #[test]
    fn hash_covers_names_and_contents() {
        let directory = std::env::temp_dir().join(format!("pgdyno-dump-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let write =
            |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("there is room");
        let hash = || describe(&directory).expect("a dump").sha256;
        write("toc.dat", "a");
        write("1.dat", "b");
        let first = hash();
        assert_eq!(hash(), first);
        write("1.dat", "c");
        let second = hash();
        assert_ne!(second, first);
        std::fs::rename(directory.join("1.dat"), directory.join("2.dat")).expect("the file exists");
        assert_ne!(hash(), second);
        assert_eq!(describe(&directory.join("toc.dat")).expect("a file").bytes, 1);
        std::fs::remove_dir_all(&directory).expect("the directory exists");
    }
}
