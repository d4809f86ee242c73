//! Sends an agent's reports until the coordinator has acknowledged them

use super::lock;
use super::state::AgentState;
use crate::cli::CommandError;
use crate::fleet::event::SentEvent;
use agent::frame::split;
use agent::nats::Nats;
use agent::protocol::{Assign, Report, ReportBody, report_subject, to_bytes};
use load::driver::Clock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Queue of the reports of one lease, and the thread that sends them. The load's threads never wait for it.
#[derive(Debug)]
pub struct ReportQueue {
    queue: Sender<Vec<u8>>,
    /// Number of reports that are not acknowledged yet.
    pending: Arc<AtomicUsize>,
}

/// Time in which the coordinator acknowledges a frame; after that, it is sent again.
const ACKNOWLEDGEMENT: Duration = Duration::from_secs(1);

/// Time before a frame is sent again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

impl ReportQueue {
    /// Starts the thread. It ends with the lease, or when the reporter is dropped.
    pub fn start(
        nats: Arc<Nats>,
        state: Arc<Mutex<AgentState>>,
        assign: &Assign,
        clock: Clock,
    ) -> Result<ReportQueue, CommandError> {
        let (queue, reports) = channel();
        let pending = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&pending);
        let (lease, agent) = (assign.lease.clone(), assign.agent);
        let is_leased = move || {
            let mut state = lock(&state);
            state.check_silence(clock.now());
            state.is_leased(&lease)
        };
        let subject = report_subject(&assign.lease, agent);
        thread::Builder::new().name("reports".to_owned()).spawn(move || {
            send_all(&nats, &subject, &reports, &counter, &is_leased);
            // Nobody waits for reports of a lease that has ended.
            counter.store(0, Ordering::Release);
        })?;
        Ok(ReportQueue { queue, pending })
    }

    pub fn report(&self, trial: u32, body: ReportBody<SentEvent>) {
        self.pending.fetch_add(1, Ordering::AcqRel);
        if self.queue.send(to_bytes(&Report { trial, body })).is_err() {
            self.pending.store(0, Ordering::Release);
        }
    }

    /// Waits until all reports are acknowledged, or the lease has ended.
    pub fn flush(&self) {
        while self.pending.load(Ordering::Acquire) > 0 {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn send_all(
    nats: &Nats,
    subject: &str,
    reports: &Receiver<Vec<u8>>,
    pending: &AtomicUsize,
    is_leased: &dyn Fn() -> bool,
) {
    for (number, report) in (0..).zip(reports) {
        for frame in split(number, &report) {
            while nats.request(subject, frame.clone(), ACKNOWLEDGEMENT) != Ok(b"+".to_vec()) {
                if !is_leased() {
                    return;
                }
                thread::sleep(RETRY_DELAY);
            }
        }
        pending.fetch_sub(1, Ordering::AcqRel);
    }
}
