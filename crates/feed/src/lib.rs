//! Which rows does a feed hold?
//!
//! Texts of many forms become [`model::rows::Rows`]. A plain file of lines is used as it lies on the disk: [`index`] finds
//! its rows. Everything else is [`pack`]ed once, before the load begins. Nothing here opens a file, or knows who draws.

mod ammo;
mod bounds;
mod diagnostic;
mod distinct;
mod index;
mod pack;
mod read;

pub use diagnostic::Diagnostic;
pub use distinct::count_distinct;
pub use index::index_rows;
pub use pack::PackedWriter;
pub use read::{Format, decompress, pack};

/// Columns of a feed of whole requests.
pub const AMMO_COLUMNS: [&str; 5] = ["method", "target", "headers", "body", "tag"];
