//! Tests of the protocols from outside of the crate

mod arbitrary;
mod cookies;
mod http;
mod login;
mod packed;
#[path = "../server/mod.rs"]
mod server;
mod session;
