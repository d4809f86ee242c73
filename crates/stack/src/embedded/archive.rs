//! Archives of PostgreSQL: their formats, and how they are unpacked

use model::message;
use model::message::Message;
use std::fs::{self, Permissions};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Reason why an archive cannot be unpacked.
#[derive(Debug)]
pub enum ArchiveError {
    /// The first bytes match no known format.
    UnknownFormat,
    /// A JAR without a compressed tar file.
    NoTarFile,
    Damaged(zip::result::ZipError),
    Io(io::Error),
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> ArchiveError {
        ArchiveError::Io(error)
    }
}

impl From<zip::result::ZipError> for ArchiveError {
    fn from(error: zip::result::ZipError) -> ArchiveError {
        ArchiveError::Damaged(error)
    }
}

impl From<&ArchiveError> for Message {
    fn from(error: &ArchiveError) -> Message {
        match error {
            ArchiveError::UnknownFormat => message!("archive-unknown-format"),
            ArchiveError::NoTarFile => message!("archive-no-tar-file"),
            ArchiveError::Damaged(error) => message!("error-quoted", text = error.to_string()),
            ArchiveError::Io(error) => Message::from(error),
        }
    }
}

/// Unpacks one of Zonky's JARs, or a tar file compressed by xz or gzip, into a new directory. All users may then read
/// the files, because the server runs as another user.
pub fn unpack(bytes: &[u8], directory: &Path) -> Result<(), ArchiveError> {
    fs::create_dir_all(directory)?;
    match bytes {
        [b'P', b'K', 3, 4, ..] => return unpack(&tar_file_of_jar(bytes)?, directory),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => {
            unpack_tar(lzma_rust2::XzReader::new(bytes, true), directory)?;
        }
        [0x1F, 0x8B, ..] => unpack_tar(flate2::read::GzDecoder::new(bytes), directory)?,
        _ => return Err(ArchiveError::UnknownFormat),
    }
    Ok(make_readable(directory)?)
}

/// Contents of the first compressed tar file of a JAR.
fn tar_file_of_jar(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let mut jar = zip::ZipArchive::new(Cursor::new(bytes))?;
    for index in 0..jar.len() {
        let mut file = jar.by_index(index)?;
        if file.name()?.ends_with(".txz") {
            let mut contents = Vec::new();
            file.read_to_end(&mut contents)?;
            return Ok(contents);
        }
    }
    Err(ArchiveError::NoTarFile)
}

/// Unpacks a tar file. The crate `tar` rejects entries that lead out of the directory.
fn unpack_tar(file: impl Read, directory: &Path) -> io::Result<()> {
    tar::Archive::new(file).unpack(directory)
}

/// Makes a directory readable for every user, and its files executable where the owner may execute them.
fn make_readable(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_readable(&entry.path())?;
        } else if kind.is_file() {
            let run = entry.metadata()?.permissions().mode() & 0o100 != 0;
            fs::set_permissions(entry.path(), Permissions::from_mode(if run { 0o755 } else { 0o644 }))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// A tar file with one private program and one private text.
    fn tar_file() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, mode, text) in [("bin/postgres", 0o700, "program"), ("share/sample", 0o600, "text")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(mode);
            builder.append_data(&mut header, name, text.as_bytes()).expect("memory does not fail");
        }
        builder.into_inner().expect("memory does not fail")
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("memory does not fail");
        encoder.write_all(bytes).expect("memory does not fail");
        encoder.finish().expect("memory does not fail")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("memory does not fail");
        encoder.finish().expect("memory does not fail")
    }

    fn jar(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in [("META-INF/MANIFEST.MF", &b"Manifest-Version: 1.0"[..]), (name, bytes)] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).expect("memory does not fail");
            writer.write_all(bytes).expect("memory does not fail");
        }
        writer.finish().expect("memory does not fail").into_inner()
    }

    #[test]
    fn unpacks_all_formats_readable_for_other_users() {
        let tar = tar_file();
        for (format, archive) in
            [("jar", jar("postgres-linux-x86_64.txz", &xz(&tar))), ("xz", xz(&tar)), ("gzip", gzip(&tar))]
        {
            let directory = tempfile::tempdir().expect("there is room for temporary files");
            let files = directory.path().join("files");
            unpack(&archive, &files).unwrap_or_else(|it| panic!("{format}: {it:?}"));
            for (name, mode, text) in [("bin/postgres", 0o755, "program"), ("share/sample", 0o644, "text")] {
                let path = files.join(name);
                assert_eq!(fs::read_to_string(&path).expect("the file exists"), text, "{format}");
                let found = fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777;
                assert_eq!(found, mode, "{format}: {name}");
            }
        }
    }

    #[test]
    fn rejects_other_and_damaged_files() {
        let directory = tempfile::tempdir().expect("there is room for temporary files");
        let error = |bytes: &[u8]| unpack(bytes, &directory.path().join("files")).unwrap_err();
        assert!(matches!(error(b"<html>404</html>"), ArchiveError::UnknownFormat));
        assert!(matches!(error(b""), ArchiveError::UnknownFormat));
        assert!(matches!(error(&jar("notes.txt", b"text")), ArchiveError::NoTarFile));
        assert!(matches!(error(b"PK\x03\x04 and no more"), ArchiveError::Damaged(_)));
        let cut = xz(&tar_file());
        assert!(matches!(error(&cut[..cut.len() / 2]), ArchiveError::Io(_)));
    }
}
