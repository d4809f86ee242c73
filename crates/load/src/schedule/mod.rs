//! When is each arrival due?
//!
//! ```text
//! "line(1, 5, 2s)"  --parse-->  Curve  --Arrivals::new-->  0 s, 0.618 s, 1 s, 1.302 s, …
//! ```

mod arrivals;
mod mistake;
mod parse;
mod ramp;
mod streams;
mod users;

pub use arrivals::Arrivals;
pub use mistake::{Mistake, Mistakes};
pub use parse::{MAX_LASTING, MAX_RAMPS, MAX_RATE, parse};
pub use ramp::{due_by, expected, mean_rates, rate_range, total};
pub use streams::Streams;
pub use users::{Cap, Turn, pause, turns};
