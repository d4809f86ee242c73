//! Bounds on the values of a run file

/// Maximum length of a text or blob, in bytes. Writers obey it too, so that every written value can be read.
pub const MAX_VALUE_BYTES: usize = 16 << 20;
/// Maximum memory for the rows of one query, in bytes.
pub const MAX_QUERY_MEMORY: u64 = 1 << 30;
/// Maximum number of distributions in one second of a trial: two per operation, one per command. Each takes 270 KiB.
pub const MAX_DISTRIBUTIONS: usize = 2048;
