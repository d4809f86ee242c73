//! Which bytes ask this statement?
