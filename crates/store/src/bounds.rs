//! Bounds on the values of a run file.

/// The longest text or blob, in bytes. It binds writers too: what is written can be read.
pub const MAX_VALUE_BYTES: usize = 16 << 20;
/// Bytes that the rows of one query may take in memory.
pub const MAX_QUERY_MEMORY: u64 = 1 << 30;
/// Distributions that a trial's second may have: two of each operation, one of each command. Each takes 270 KiB.
pub const MAX_DISTRIBUTIONS: usize = 2048;
