//! Unix time that does not jump when the system's clock is set.

use model::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time minus [`boottime`], in nanoseconds, when it was first asked for.
static OFFSET: LazyLock<i64> = LazyLock::new(offset);

/// Unix time. The wall clock is read once; the boot-time clock, which cannot be set and runs during suspend, advances it. So
/// the moments of one process are in order, and their differences are durations.
pub fn unix_time() -> Nanos {
    Nanos((*OFFSET + boottime()).max(0) as u64)
}

/// Unix time as the system's clock has it now, in microseconds: for those who look whether it was set.
pub fn system_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_micros() as u64)
}

/// Notices that the system's clock was set.
#[derive(Clone, Copy, Debug)]
pub struct StepDetector {
    offset: i64,
}

impl StepDetector {
    pub fn start() -> StepDetector {
        StepDetector { offset: offset() }
    }

    /// By how many nanoseconds the clock was set since the start; negative: back. Near zero where it was not.
    pub fn step(self) -> i64 {
        offset() - self.offset
    }
}

fn offset() -> i64 {
    system_us() as i64 * 1000 - boottime()
}

/// Nanoseconds since the machine was booted.
fn boottime() -> i64 {
    let it = clock_gettime(ClockId::Boottime);
    it.tv_sec * 1_000_000_000 + it.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_ascends_and_equals_the_system_clock() {
        let watch = StepDetector::start();
        let (first, system, second) = (unix_time(), system_us(), unix_time());
        assert!(first <= second);
        // Unless somebody sets the clock in this very moment.
        let step = watch.step().unsigned_abs() + 1_000_000_000;
        assert!(first.0.abs_diff(system * 1000) < step, "{first:?} {system}");
    }
}
