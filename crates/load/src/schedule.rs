//! Schedules: times at which arrivals are due
//!
//! ```text
//! "line(1, 5, 2s)"  --parse-->  Curve  --Arrivals::new-->  0 s, 0.618 s, 1 s, 1.302 s, …
//! ```

mod arrivals;
mod parse;
mod ramp;
mod streams;
mod users;

pub use arrivals::Arrivals;
pub use parse::{MAX_DURATION, MAX_RAMPS, MAX_RATE, parse};
pub use ramp::{even_count, expected_by, mean_rates, poisson_mean, rate_range};
pub use streams::{Arrival, Streams};
pub use users::{RateCap, UserEvent, remaining_think_duration, think_duration, user_events};
