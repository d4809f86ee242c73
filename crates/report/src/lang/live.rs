//! What is said while a run goes on, sentence by sentence?

/// Called when it is written, from one thread, once per sentence.
pub trait LiveWords {}
