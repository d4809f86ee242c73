//! Files that a user names

use model::message;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file. Other kinds are rejected without blocking: a FIFO may have no writer, and a device may be
/// endless. Inherited descriptors (`/dev/stdin`, `/dev/fd/N`) may also be pipes or terminals.
pub fn open(path: &Path) -> io::Result<File> {
    let inherited = path == Path::new("/dev/stdin") || path.starts_with("/dev/fd");
    let flags = if inherited { OFlags::empty() } else { OFlags::NONBLOCK };
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    let kind = if kind.is_fifo() && !inherited {
        "fifo"
    } else if kind.is_char_device() && !inherited {
        "character-device"
    } else if kind.is_block_device() {
        "block-device"
    } else {
        return Ok(file);
    };
    Err(message!("error-not-regular-file", kind).into_io_error())
}

/// Reads all bytes of a file that [`open`] accepts.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file that must not exist yet, and that only its owner may read.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    create_private(path)?.write_all(text.as_bytes())
}

/// Creates a file that must not exist yet, and that only its owner may read.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::message::Message;
    use report::lang::english;
    use std::fs;
    use std::process::Command;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = std::env::temp_dir().join(format!("pgdyno-test-{}-files", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary directory can be written to");
        let (regular, fifo, link) = (folder.join("regular"), folder.join("fifo"), folder.join("link"));
        fs::write(&regular, "text").expect("the file can be written");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils are there").success());
        std::os::unix::fs::symlink(&fifo, &link).expect("the link can be created");
        let refused = |path: &Path| read(path).expect_err("no regular file");
        let refused = |path: &Path| english().message(&Message::from(&refused(path)));
        assert_eq!(read(&regular).expect("the regular file can be read"), b"text");
        assert_eq!(refused(&fifo), "it is a FIFO; name a regular file");
        assert_eq!(refused(&link), "it is a FIFO; name a regular file");
        assert_eq!(refused(Path::new("/dev/zero")), "it is a character device; name a regular file");
        assert!(refused(&folder).contains("Is a directory"), "{}", refused(&folder));
        fs::remove_dir_all(&folder).expect("the test made the directory");
    }
}
