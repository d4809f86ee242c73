//! The words that two or more crates share.
//!
//! Plain values: nothing here does I/O, decides, or forms a sentence.

pub mod account;
pub mod advice;
pub mod chart;
pub mod comparison;
pub mod durability;
pub mod explain;
pub mod finding;
pub mod freshness;
mod histogram;
mod interval;
mod leftover;
pub mod live;
pub mod matrix;
mod measured;
pub mod objective;
pub mod observation;
pub mod ordeal;
pub mod plan;
pub mod reach;
mod record;
pub mod rows;
mod schedule;
pub mod search;
mod second;
mod sizes;
pub mod stop;
mod successes;
pub mod summary;
mod time;
pub mod totals;

pub use histogram::{
    DecodeError, EncodedHistogram, HistogramDecoder, HistogramEncoder, HistogramSum, LatencyHistogram,
    SparseHistogram, is_quantile_unanswered,
};
pub use interval::{CommandCounts, FailureCounts, Interval, ScriptCounts, ThreadUsage};
pub use leftover::{RetainReason, StaleRunDirectory};
pub use measured::{Measurement, Outage};
pub use observation::{EventKind, LogEvent, Sample, Series, SeriesKind, Tick, Unit};
pub use record::{ClientId, Outcome, Record, ScriptId};
pub use schedule::{Curve, Schedule, Spacing, Stream, UserRamp};
pub use second::{OperationSecond, Second, SecondSum};
pub use sizes::{AnswerSizes, SizeHistogram};
pub use successes::Successes;
pub use summary::Summary;
pub use time::{Nanos, PerSecond};
pub use wire::Code;
