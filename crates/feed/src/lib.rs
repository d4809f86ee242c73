//! Readers of feeds
//!
//! Texts in various formats become [`model::row_table::Rows`]. A plain file of lines is used as stored on the disk:
//! [`index_rows`] finds its rows. All other formats are converted once by [`pack`], before the load begins. This crate
//! opens no files and does not draw rows.

mod ammo;
mod bounds;
mod diagnostic;
mod distinct;
mod format;
mod index;
mod pack;
mod read;

pub use diagnostic::Diagnostic;
pub use distinct::count_distinct;
pub use format::Format;
pub use index::index_rows;
pub use pack::PackedWriter;
pub use read::{decompress, pack};

/// Columns of a feed of whole requests.
///
/// `status` and `bytes` are those of the recorded answer; they are empty unless the format is a log.
pub const AMMO_COLUMNS: [&str; 7] = ["method", "target", "headers", "body", "tag", "status", "bytes"];
