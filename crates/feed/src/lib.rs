//! Readers of feeds
//!
//! The readers convert texts in various formats to [`model::row_table::Rows`]. A plain file of lines is not converted:
//! [`index_rows`] finds its rows. [`pack`] converts all other formats once, before the load begins. This crate opens no
//! files and does not draw rows.

mod access;
mod ammo;
mod bounds;
mod diagnostic;
mod distinct;
mod index;
mod pack;
mod read;
mod request;
mod start_times;

pub use access::{LogFormat, LoggedMoment, SkippedLines};
pub use diagnostic::{Diagnostic, io_message};
pub use distinct::count_distinct;
pub use index::index_rows;
pub use pack::PackedWriter;
pub use read::{decompress, pack};
pub use start_times::{TimedRow, start_times};

/// Columns of a feed whose rows are whole HTTP requests.
///
/// `status` and `bytes` describe the recorded response. `time_ns` is the recorded time since the Unix epoch and
/// `duration_ns` the recorded duration, in nanoseconds. They are empty unless the format is a log. `tag` is the kind of
/// the request: the tag of Yandex.Tank's ammunition, or the method with the path of a request in a log.
pub const AMMO_COLUMNS: [&str; 9] =
    ["method", "target", "headers", "body", "tag", "status", "bytes", "time_ns", "duration_ns"];
