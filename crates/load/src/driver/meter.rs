//! CPU usage and stalls of a generator thread

use model::{Nanos, ThreadUsage};
use std::fs;

/// Meter of a thread's CPU usage and stalls within the window.
#[derive(Debug, Default)]
pub struct ThreadMeter {
    started: Nanos,
    user: Nanos,
    system: Nanos,
    starved: Option<Nanos>,
    pub spun: Nanos,
    pub wakeups: u64,
    longest_stall: Nanos,
}

impl ThreadMeter {
    /// Starts the measurement, when the window begins.
    pub fn begin(&mut self, now: Nanos) {
        let (user, system) = cpu_times();
        *self = ThreadMeter { started: now, user, system, starved: starved_time(), ..ThreadMeter::default() };
    }

    /// Records that an event was handled `late` after it was due.
    #[inline]
    pub fn record_stall(&mut self, late: Nanos) {
        self.longest_stall = self.longest_stall.max(late);
    }

    /// Ends the measurement, when the window is over.
    pub fn finish(self, now: Nanos) -> ThreadUsage {
        let (user, system) = cpu_times();
        ThreadUsage {
            user: user - self.user,
            system: system - self.system,
            spun: self.spun,
            starved: starved_time().zip(self.starved).map(|(now, then)| now - then),
            wakeups: self.wakeups,
            longest_stall: self.longest_stall,
            wall: now - self.started,
        }
    }
}

/// User and system CPU time of this thread.
///
/// The sum comes from the thread's CPU clock, the split from the kernel's samples (/proc/thread-self/stat, fields 14
/// and 15, ticks of 10 ms; proc(5)).
fn cpu_times() -> (Nanos, Nanos) {
    let total = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let total = total.tv_sec as f64 * 1e9 + total.tv_nsec as f64;
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next().and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    let (user, system) = (ticks(), ticks());
    let share = if user + system > 0.0 { user / (user + system) } else { 0.0 };
    let user = total * share;
    (Nanos(user as u64), Nanos((total - user) as u64))
}

/// Time during which the thread was runnable but not running. Source: second field of schedstat, in nanoseconds
/// (kernel, sched-stats.rst).
fn starved_time() -> Option<Nanos> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Nanos)
}
