//! HTTP server of the pages and of the metrics

pub mod guard;
pub mod response;
pub mod server;
mod write_timeout;
