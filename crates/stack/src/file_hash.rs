//! SHA-256 of files

use model::message;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// SHA-256 of a file's contents in hexadecimal digits.
pub(crate) fn hash_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash_contents(path, &mut hash)?;
    Ok(hex(hash))
}

/// Hashes the contents of a file; returns its size.
pub(crate) fn hash_contents(path: &Path, hash: &mut Sha256) -> io::Result<u64> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(message!("error-not-regular-file", kind = "other").into_io_error());
    }
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(bytes);
        }
        hash.update(&buffer[..count]);
        bytes += count as u64;
    }
}

/// Finishes a hash; returns its hexadecimal digits.
pub(crate) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|it| format!("{it:02x}")).collect()
}
