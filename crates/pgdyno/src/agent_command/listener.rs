//! Reports the seconds of an agent's load, and begins it at the agreed time

use super::lock;
use super::reporter::ReportQueue;
use super::state::AgentState;
use crate::fleet::event::SentEvent;
use crate::measure::LoadListener;
use agent::interval::{SentInterval, encode};
use agent::protocol::ReportBody;
use load::LoadEvent;
use load::driver::Clock;
use model::{Interval, Nanos};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Mutex;

/// Listener that reports everything to the coordinator.
pub struct ReportingListener<'a> {
    state: &'a Mutex<AgentState>,
    reporter: &'a ReportQueue,
    trial: u32,
    clock: Clock,
    /// True once the coordinator knows the number of connected clients.
    settled: bool,
    start: Nanos,
    /// CPU time of this process until the end of the last second.
    used: Nanos,
}

impl<'a> ReportingListener<'a> {
    pub fn new(
        state: &'a Mutex<AgentState>,
        reporter: &'a ReportQueue,
        trial: u32,
        clock: Clock,
    ) -> ReportingListener<'a> {
        ReportingListener {
            state,
            reporter,
            trial,
            clock,
            settled: false,
            start: Nanos::ZERO,
            used: Nanos::ZERO,
        }
    }

    fn report(&self, body: ReportBody<SentEvent>) {
        self.reporter.report(self.trial, body);
    }

    /// The interval in the form that is sent, with times relative to the start of the window.
    fn encode(&self, interval: &Interval) -> Box<SentInterval> {
        Box::new(encode(interval).shifted(-(self.start.0 as i64)))
    }
}

fn process_cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

impl LoadListener for ReportingListener<'_> {
    fn start_time(&mut self, connected: u32, _now: Nanos) -> Option<Nanos> {
        if !self.settled {
            self.settled = true;
            self.report(ReportBody::Settled { connected });
        }
        self.used = process_cpu_time();
        lock(self.state).trial().and_then(|it| it.start)
    }

    fn on_begin(&mut self, at: Nanos) {
        self.start = at;
    }

    fn on_tick(&mut self, interval: &Interval, _start: Nanos) {
        let used = process_cpu_time();
        let cpu = used - std::mem::replace(&mut self.used, used);
        self.report(ReportBody::Second { interval: self.encode(interval), cpu });
    }

    fn on_rest(&mut self, interval: &Interval) {
        self.report(ReportBody::Rest(self.encode(interval)));
    }

    fn on_event(&mut self, event: LoadEvent) {
        self.report(ReportBody::Event(SentEvent(event)));
    }

    /// Stops the load if the coordinator is silent.
    fn poll(&mut self) {
        lock(self.state).check_silence(self.clock.now());
    }
}
