//! CPU usage and stalls of a generator thread

use model::{KernelCounters, Nanos, ThreadUsage};
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
    kernel: Option<KernelCounters>,
}

impl ThreadMeter {
    /// Starts the measurement, when the window begins.
    pub fn begin(&mut self, now: Nanos) {
        let (user, system) = cpu_times();
        let (starved, kernel) = (starved_time(), kernel_counters());
        *self = ThreadMeter { started: now, user, system, starved, kernel, ..ThreadMeter::default() };
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
            kernel: kernel_counters().zip(self.kernel).map(|(now, then)| KernelCounters {
                voluntary_switches: now.voluntary_switches - then.voluntary_switches,
                involuntary_switches: now.involuntary_switches - then.involuntary_switches,
                minor_faults: now.minor_faults - then.minor_faults,
                major_faults: now.major_faults - then.major_faults,
            }),
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

/// Context switches and page faults of this thread. Sources: /proc/thread-self/status, and fields 10 and 12 of
/// /proc/thread-self/stat; proc(5).
fn kernel_counters() -> Option<KernelCounters> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let switches = |name: &str| {
        let value = status.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix("_ctxt_switches:"))?;
        value.trim().parse().ok()
    };
    let stat = fs::read_to_string("/proc/thread-self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let faults = |field: usize| fields.get(field - 3)?.parse().ok();
    Some(KernelCounters {
        voluntary_switches: switches("voluntary")?,
        involuntary_switches: switches("nonvoluntary")?,
        minor_faults: faults(10)?,
        major_faults: faults(12)?,
    })
}

/// Time during which the thread was runnable but not running. Source: second field of schedstat, in nanoseconds
/// (kernel, sched-stats.rst).
fn starved_time() -> Option<Nanos> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Nanos)
}
