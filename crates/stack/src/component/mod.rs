//! Which kinds of node can the stack consist of?

pub mod postgres;
