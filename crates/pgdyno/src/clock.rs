//! Unix time that does not jump when the system's wall clock is changed.

use model::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time minus [`boottime`], in nanoseconds, at the first use.
static OFFSET: LazyLock<i64> = LazyLock::new(offset);

/// Unix time that never jumps. The wall clock is read only once. After that, the elapsed boot time is added, which
/// includes suspends and does not depend on the wall clock. So timestamps of one process are ordered, and their
/// differences are durations.
pub fn unix_time() -> Nanos {
    Nanos((*OFFSET + boottime()).max(0) as u64)
}

/// Current time of the wall clock in microseconds since the Unix epoch. It jumps if the clock is set.
pub fn system_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_micros() as u64)
}

/// Detects changes of the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct StepDetector {
    offset: i64,
}

impl StepDetector {
    pub fn start() -> StepDetector {
        StepDetector { offset: offset() }
    }

    /// Nanoseconds by which the wall clock was changed since the start; negative if it was set back, and near zero
    /// without a change.
    pub fn step(self) -> i64 {
        offset() - self.offset
    }
}

fn offset() -> i64 {
    system_us() as i64 * 1000 - boottime()
}

/// Nanoseconds since the machine was booted.
fn boottime() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_ascends_and_equals_the_system_clock() {
        let watch = StepDetector::start();
        let (first, system, second) = (unix_time(), system_us(), unix_time());
        assert!(first <= second);
        // The test tolerates a clock that is set during this assertion.
        let step = watch.step().unsigned_abs() + 1_000_000_000;
        assert!(first.0.abs_diff(system * 1000) < step, "{first:?} {system}");
    }
}
