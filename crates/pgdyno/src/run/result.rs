//! What came out of a run, read from its file?

use crate::voice::Trouble;
use std::path::Path;

/// Prints it.
pub fn show(_path: &Path, _json: bool) -> Result<(), Trouble> {
    Ok(())
}
