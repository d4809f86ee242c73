//! Readers of feeds
//!
//! The readers convert texts in various formats to [`model::row_table::Rows`]. A plain file of lines is not converted:
//! [`index_rows`] finds its rows. [`pack`] converts all other formats once, before the load begins. This crate opens no
//! files and does not draw rows.

mod ammo;
mod bounds;
mod diagnostic;
mod distinct;
mod index;
mod pack;
mod read;

pub use diagnostic::{Diagnostic, io_message};
pub use distinct::count_distinct;
pub use index::index_rows;
pub use pack::PackedWriter;
pub use read::{decompress, pack};

/// Columns of a feed whose rows are whole HTTP requests.
///
/// `status` and `bytes` describe the recorded response; they are empty unless the format is a log.
pub const AMMO_COLUMNS: [&str; 7] = ["method", "target", "headers", "body", "tag", "status", "bytes"];
