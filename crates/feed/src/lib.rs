//! Which rows does a feed hold?
//!
//! Texts of many forms become [`model::rows::Rows`]. A plain file of lines is used as it lies on the disk: [`index`] finds
//! its rows. Everything else is [`pack`]ed once, before the load begins. Nothing here opens a file, or knows who draws.

mod ammo;
mod bounds;
mod distinct;
mod index;
mod mistake;
mod pack;
mod read;

pub use distinct::distinct;
pub use index::index;
pub use mistake::Mistake;
pub use pack::Packing;
pub use read::{Form, pack, plain};

/// Columns of a feed of whole requests.
pub const AMMO: [&str; 5] = ["method", "target", "headers", "body", "tag"];
