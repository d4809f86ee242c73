//! Measures how late this host wakes a sleeping thread

use super::nanos;
use model::{LatencyHistogram, Nanos};
use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Thread that sleeps until regular due times and records its lateness.
///
/// The thread has no other work. Any other thread of this host can therefore be late by the same time.
#[derive(Debug)]
pub struct TimerJitter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<LatencyHistogram>>,
}

impl TimerJitter {
    /// Starts the thread. Each wake-up costs some µs of CPU time.
    pub fn start(every: Nanos) -> TimerJitter {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("jitter".to_owned())
            .spawn(move || measure_jitter(&stopped, every));
        // If no thread can be started, there are no samples. The histogram's count of 0 distinguishes that from zero
        // jitter.
        TimerJitter { stop, thread: thread.ok() }
    }

    /// Stops the thread and returns the lateness of all due times so far.
    pub fn stop(mut self) -> LatencyHistogram {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take();
        thread.map_or_else(LatencyHistogram::new, |it| it.join().expect("the probe does not panic"))
    }
}

impl Drop for TimerJitter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn measure_jitter(stop: &AtomicBool, every: Nanos) -> LatencyHistogram {
    // Use the timer slack of the load's threads. With the default slack, the kernel adds up to 50 µs to save power;
    // prctl(2), PR_SET_TIMERSLACK.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let mut latency = LatencyHistogram::new();
    let mut due = nanos(ClockId::Monotonic) + every;
    loop {
        let deadline =
            Timespec { tv_sec: (due.0 / 1_000_000_000) as i64, tv_nsec: (due.0 % 1_000_000_000) as i64 };
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &deadline);
        let now = nanos(ClockId::Monotonic);
        // Due times that passed during a long stall were late too, like arrivals during the stall.
        while due <= now {
            latency.record(now - due);
            due += every;
        }
        // The flag is checked last, so that there is a sample even if this thread has hardly run.
        if stop.load(Ordering::Relaxed) {
            return latency;
        }
    }
}
