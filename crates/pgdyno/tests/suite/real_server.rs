//! Measurements of `pgdyno bench` on real PostgreSQL servers, including their faults
//!
//! Each test runs the program as a user does and reads its JSON document. One throw-away server serves the tests that
//! do not damage it; the others start their own. `./x test` installs PostgreSQL if it is missing.

pub mod agents;
mod faults;
mod modes;
mod random;
mod signals;
mod surroundings;
pub mod test_server;
mod tls;
