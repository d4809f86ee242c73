//! Bounds on the values of a run file

/// Maximum length of a text or blob, in bytes. It also applies to writers, so that every written value can be read.
pub const MAX_VALUE_BYTES: usize = 16 << 20;
/// Maximum memory for the rows of one query, in bytes.
pub const MAX_QUERY_MEMORY: u64 = 1 << 30;
/// Maximum number of histograms in one second of a trial: two per operation and one per command. Each histogram takes
/// 270 KiB.
pub const MAX_DISTRIBUTIONS: usize = 2048;
