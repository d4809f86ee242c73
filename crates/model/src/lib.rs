//! Data types that two or more crates share.
//!
//! Plain values: no I/O, no decisions, no formatted sentences.

pub mod advice;
mod agent_part;
pub mod avoidable_work;
pub mod chart;
mod code;
pub mod comparison;
pub mod copied_data;
pub mod durability;
pub mod explain;
pub mod fact;
mod failure_counts;
pub mod fault_injection;
pub mod feed_coverage;
mod fill_in;
pub mod finding;
pub mod freshness;
mod grammar;
mod histogram;
mod interval;
pub mod live;
pub mod lock;
pub mod matrix;
mod measurement;
pub mod message;
pub mod note;
pub mod objective;
pub mod observation;
mod percent;
pub mod plan;
pub mod product;
mod random;
mod record;
mod replay;
pub mod row_table;
pub mod run_result;
mod schedule;
pub mod search;
mod second;
pub mod series;
pub mod server_log;
mod sizes;
mod spacing;
mod stale_directory;
mod statement_rows;
pub mod states;
mod step;
pub mod stop;
mod successes;
pub mod summary;
pub mod table_sizes;
pub mod target;
mod time;
pub mod totals;
mod utc;
pub mod validity;

pub use agent_part::AgentPart;
pub use code::Code;
pub use failure_counts::FailureCounts;
pub use fill_in::{FILL_IN, fill_in_places};
pub use grammar::{GrammarDiagnostic, quote};
pub use histogram::{
    DecodeError, EncodedHistogram, HistogramDecoder, HistogramEncoder, HistogramSum, LatencyHistogram,
    SparseHistogram, is_quantile_unanswered,
};
pub use interval::{Interval, KernelCounters, ScriptCounts, ThreadUsage};
pub use measurement::{Measurement, Outage};
pub use observation::{EventKind, LogEvent, LogSession, Sample, Series, SeriesKind, Tick, Unit};
pub use percent::percent_encode;
pub use random::SplitMix64;
pub use record::{ClientId, Outcome, Record, ScriptId};
pub use replay::{Answer, ReplayCounts, ReplayFigures, StatementAnswer};
pub use schedule::{ArrivalList, Curve, ListedArrival, Schedule, Stream, UserRamp};
pub use second::{CompactInterval, OperationSecond, Second, SecondSum};
pub use sizes::{AnswerSizes, SizeFigures, SizeHistogram, SizeUnit, StatementRows};
pub use spacing::Spacing;
pub use stale_directory::{RetainReason, StaleRunDirectory};
pub use statement_rows::{EmptyStatement, StatementKind};
pub use step::{CommandCounts, PhaseSum, RequestPhase, RequestSample, StepFailure};
pub use successes::Successes;
pub use summary::Summary;
pub use time::{Nanos, PerSecond};
pub use utc::{parse_utc, unix_seconds, utc};
