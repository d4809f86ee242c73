//! See ARCHITECTURE.md.

pub mod plot;
pub mod preview;
