//! Facts read from the records of one trial

pub(crate) mod error_name;
pub(crate) mod event_count;
pub mod feed_coverage;
pub(crate) mod figure;
pub mod outage;
pub(crate) mod progress;
pub(crate) mod sample_set;
pub(crate) mod samples;
pub mod sizes;
pub mod statement_rows;
pub(crate) mod trial;
pub(crate) mod usage;

pub use progress::progress;
pub use sample_set::{SampleSet, SampleView};
pub use samples::{SERIES, SampleReducer, remaining_clients};
pub use trial::{LoadSecond, TrialFacts};
