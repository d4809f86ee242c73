//! Monitor that detects an unresponsive primary
//!
//! The monitor connects over the clients' network, so an isolated primary counts as unresponsive although it runs.

use crate::observer::TrialClock;
use model::Nanos;
use stack::client::{Connection, Target};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two queries.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout for one query.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
/// Minimum timeout for a newly promoted primary, which may be unreachable at first, for instance until a network link
/// is restored.
const GRACE: Nanos = Nanos::from_secs(5);

/// Monitor that queries one server periodically, in a separate thread.
#[derive(Debug)]
pub struct Monitor {
    shared: Arc<MonitorState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct MonitorState {
    /// Server to query, and the number of changes so far.
    target: Mutex<(Target, u32)>,
    /// Send time of the last query that was answered.
    last_answer: AtomicU64,
    /// True if the current target has never responded.
    is_new: AtomicBool,
    stop: AtomicBool,
}

impl Monitor {
    pub fn start(target: Target, trial_clock: TrialClock) -> Monitor {
        let heard = AtomicU64::new(trial_clock.now().0);
        let shared = MonitorState {
            target: Mutex::new((target, 0)),
            last_answer: heard,
            is_new: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        };
        let shared = Arc::new(shared);
        let asks = Arc::clone(&shared);
        let thread = thread::spawn(move || asks.poll(&trial_clock));
        Monitor { shared, thread: Some(thread) }
    }

    /// Changes the target.
    pub fn set_target(&self, target: Target, now: Nanos) {
        let mut current = self.shared.target.lock().expect("no thread panicked while it held the lock");
        *current = (target, current.1 + 1);
        self.shared.is_new.store(true, Ordering::Release);
        self.shared.last_answer.store(now.0, Ordering::Release);
    }

    /// Maximum time without a response of the current target. `known` applies to a target that has responded before.
    pub fn silence_timeout(&self, known: Nanos) -> Nanos {
        if self.shared.is_new.load(Ordering::Acquire) { known.max(GRACE) } else { known }
    }

    /// Time since the last response.
    pub fn silence(&self, now: Nanos) -> Nanos {
        now - Nanos(self.shared.last_answer.load(Ordering::Acquire))
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("asking does not panic");
        }
    }
}

impl MonitorState {
    fn poll(&self, trial_clock: &TrialClock) {
        let mut session: Option<(Connection, u32)> = None;
        while !self.stop.load(Ordering::Relaxed) {
            let (target, turn) =
                self.target.lock().expect("no thread panicked while it held the lock").clone();
            let start = trial_clock.now();
            let known = session.take().filter(|it| it.1 == turn).map(|it| it.0);
            let opened = known.map_or_else(|| target.open(ANSWER_TIMEOUT), Ok);
            let answer = opened.and_then(|mut it| it.query("select 1").map(|_| it));
            let current = self.target.lock().expect("no thread panicked while it held the lock");
            if let Ok(role) = answer
                && current.1 == turn
            {
                self.last_answer.fetch_max(start.0, Ordering::AcqRel);
                self.is_new.store(false, Ordering::Release);
                session = Some((role, turn));
            }
            drop(current);
            thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::driver::Clock;
    use stack::client::Address;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use wire::pg::Login;

    const KNOWN: Nanos = Nanos::from_millis(300);

    fn target(listener: &TcpListener) -> Target {
        let address = Address::Tcp(listener.local_addr().expect("the listener is bound"));
        Target::new(address, Arc::new(Login::new("somebody", "")))
    }

    /// Server that accepts every login and acknowledges every statement.
    fn serve(mut to: TcpStream) {
        let mut bytes = [0; 512];
        let mut answer: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
        while to.read(&mut bytes).is_ok_and(|it| it > 0) && to.write_all(answer).is_ok() {
            answer = b"C\0\0\0\x0dSELECT 0\0Z\0\0\0\x05I";
        }
    }

    #[test]
    fn grants_a_new_primary_time_until_its_first_answer() {
        let [answers, silent] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("there is a port"));
        let known = target(&answers);
        thread::spawn(move || answers.incoming().flatten().for_each(serve));
        let trial_clock = TrialClock::new(Clock::start());
        let monitor = Monitor::start(target(&silent), trial_clock.clone());
        assert_eq!(monitor.silence_timeout(KNOWN), KNOWN, "the first one was there before");
        monitor.set_target(target(&silent), trial_clock.now());
        assert_eq!(monitor.silence_timeout(KNOWN), GRACE);
        assert_eq!(monitor.silence_timeout(GRACE + KNOWN), GRACE + KNOWN, "a longer timeout is kept");
        monitor.set_target(known, trial_clock.now());
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while monitor.silence_timeout(KNOWN) != KNOWN {
            assert!(std::time::Instant::now() < deadline, "it answers, and is not heard");
            thread::sleep(POLL_INTERVAL);
        }
    }
}
