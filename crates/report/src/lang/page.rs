//! What a page says beside the matrix and its findings, sentence by sentence?

/// Called when it is written, from one thread, once per sentence.
pub trait PageWords {}
