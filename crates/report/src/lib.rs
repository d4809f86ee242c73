//! How is it said and drawn?
//!
//! Text from facts. Nothing here computes a statistic; every sentence stands in [`lang`].

pub mod advice;
pub mod bench;
pub mod comparison;
pub mod document;
pub mod findings;
pub mod growth;
pub mod html;
pub mod junit;
pub mod lang;
pub mod live;
pub mod log;
pub mod markdown;
pub mod matrix;
pub mod notice;
pub mod page;
pub mod plot;
pub mod preview;
pub mod progress;
pub mod prometheus;
pub mod searched;
pub mod sizes;
mod survived;
pub mod terminal;

/// The whole summary as one JSON document. Names that end in `_ns` are nanoseconds.
pub fn json(it: &model::Summary) -> String {
    serde_json::to_string_pretty(it).expect("strings as keys only")
}
