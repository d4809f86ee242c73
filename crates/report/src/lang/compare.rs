//! What a comparison of runs says, sentence by sentence?

/// Called when it is written, from one thread, once per sentence.
pub trait CompareWords {}
