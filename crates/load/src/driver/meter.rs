//! What does the generator's own thread cost, and what does it suffer?

use model::{Nanos, ThreadUsage};
use std::fs;

/// Takes a thread's accounts at the beginning and the end of the window.
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
    /// The window begins.
    pub fn begin(&mut self, now: Nanos) {
        let (user, system) = cpu_times();
        *self = ThreadMeter { started: now, user, system, starved: starved_time(), ..ThreadMeter::default() };
    }

    /// Something due was looked at this late.
    #[inline]
    pub fn record_stall(&mut self, late: Nanos) {
        self.longest_stall = self.longest_stall.max(late);
    }

    /// The window is over.
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

/// User and system time of this thread: the sum from its own clock, the split from what the kernel sampled
/// (/proc/thread-self/stat, fields 14 and 15, ticks of 10 ms; proc(5)).
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

/// Time spent ready to run without a processor; second field of schedstat, ns (kernel, sched-stats.rst).
fn starved_time() -> Option<Nanos> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Nanos)
}
