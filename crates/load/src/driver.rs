//! Drivers: sockets, clock and CPU accounting for a shard
//!
//! Each driver is a module with a function `drive` and its [`Properties`]. [`Driver`] lists the drivers. Within this
//! crate, only this module reads a clock or uses sockets.

mod epoll;
mod meter;
mod socket;
mod uring;

pub use meter::ThreadMeter;
pub use socket::Address;

use crate::recorder::{IntervalRecorder, Recorder};
use crate::script::ShellError;
use crate::shard::{ConnId, LoadEvent, Shard};
use crate::workload::Target;
use model::{Nanos, ThreadUsage};
use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Defines [`Driver`] from the module, the variant and the name of each driver.
macro_rules! drivers {
    ($($module:ident $variant:ident $name:literal,)+) => {
        /// Kernel interface that the load threads use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Driver {
            $(#[doc = $name] $variant,)+
        }

        impl Driver {
            pub const ALL: [Driver; [$($name),+].len()] = [$(Driver::$variant),+];

            /// Accepted values of the user's option, separated by `|`.
            pub const CHOICES: &str = concat!("auto" $(, "|", $name)+);

            /// Name of the driver in options and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Driver::$variant => $name,)+
                }
            }

            pub const fn properties(self) -> Properties {
                match self {
                    $(Driver::$variant => $module::PROPERTIES,)+
                }
            }

            /// Drives `shard` on this thread until the shard is done.
            ///
            /// Returns an error if the operating system denies a resource that the driver needs. Errors of single
            /// connections are passed to the shard instead.
            pub fn drive<R: Recorder>(
                self,
                shard: Shard<R>,
                ground: &DriverContext<'_>,
            ) -> io::Result<DriveResult<R>> {
                match self {
                    $(Driver::$variant => $module::drive(shard, ground),)+
                }
            }
        }
    };
}

impl Driver {
    /// Drives `shard` as [`Driver::drive`] does. Unlike that generic function, it is compiled in this crate, with the
    /// optimisation that this crate has.
    pub fn drive_measured(
        self,
        shard: Shard<IntervalRecorder>,
        ground: &DriverContext<'_>,
    ) -> io::Result<DriveResult<IntervalRecorder>> {
        self.drive(shard, ground)
    }
}

// Order matters: `Driver::for_load` takes the last driver that suits a load.
drivers! {
    epoll Epoll "epoll",
    uring IoUring "io_uring",
}

/// Properties of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// Requirement beyond pgdyno's own requirements; `None` if there is none.
    pub requirement: Option<Requirement>,
    /// True if the driver suits loads whose responses arrive one by one.
    pub suits_few: bool,
    /// True if the driver reserves a file descriptor for each possible connection, even if it is not open.
    pub reserves_files: bool,
}

/// Requirement of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Description of the requirement for users, such as `Linux 6.1 or newer`.
    pub text: &'static str,
    /// Check whether this system meets the requirement.
    pub is_met: fn() -> bool,
}

impl Driver {
    /// Driver with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Driver> {
        Driver::ALL.into_iter().find(|driver| driver.name() == name)
    }

    /// True if the driver works on this system.
    pub fn is_available(self) -> bool {
        self.properties().requirement.is_none_or(|requirement| (requirement.is_met)())
    }

    /// Driver for a load. `batched` is true if responses arrive many at a time, as in a closed model.
    pub fn for_load(batched: bool) -> Driver {
        let suits = |driver: &Driver| batched || driver.properties().suits_few;
        let mut suitable = Driver::ALL.into_iter().rev().filter(suits);
        suitable.find(|driver| driver.is_available()).expect("epoll suits every load and system")
    }
}

/// Clock of a run: monotonic nanoseconds since the run's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(self.0.elapsed().as_nanos() as u64)
    }

    /// Reading of this clock at the time when `other` reads `at`; zero if that is before this clock's start.
    pub fn convert(&self, at: Nanos, other: &Clock) -> Nanos {
        let moment = other.0 + Duration::from_nanos(at.0);
        Nanos(moment.saturating_duration_since(self.0).as_nanos() as u64)
    }
}

/// Barrier at which threads wait, so that the window begins for all threads at the same time.
#[derive(Debug)]
pub struct StartGate {
    threads: usize,
    settled: AtomicUsize,
    connected: AtomicU32,
    window_start: AtomicU64,
}

impl StartGate {
    pub fn new(threads: usize) -> StartGate {
        let (settled, connected) = (AtomicUsize::new(0), AtomicU32::new(0));
        StartGate { threads, settled, connected, window_start: AtomicU64::new(u64::MAX) }
    }

    /// True once all clients of all threads are connected or refused.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire) == self.threads
    }

    /// Number of connected clients in the threads whose clients are all connected or refused.
    pub fn connected(&self) -> u32 {
        self.connected.load(Ordering::Acquire)
    }

    /// Opens the gate: the window begins at `at`.
    pub fn open(&self, at: Nanos) {
        self.window_start.store(at.0, Ordering::Release);
    }

    /// Start of the window; `None` until it is known.
    pub fn window_start(&self) -> Option<Nanos> {
        let at = self.window_start.load(Ordering::Acquire);
        (at != u64::MAX).then_some(Nanos(at))
    }

    fn settle(&self, connected: u32) {
        self.connected.fetch_add(connected, Ordering::AcqRel);
        self.settled.fetch_add(1, Ordering::AcqRel);
    }
}

/// Environment of a driver, shared by all threads of a run.
#[derive(Debug)]
pub struct DriverContext<'a> {
    /// Addresses of PostgreSQL, by endpoint and host; empty if the load contains no SQL.
    pub postgres: &'a [Vec<Address>],
    /// Addresses of the HTTP services, in the workload's order.
    pub services: &'a [Address],
    pub clock: Clock,
    pub gate: &'a StartGate,
    /// Flag that ends the window at once.
    pub stop: &'a AtomicBool,
    /// Flag that cancels transactions in flight, whose outcome is then Unknown.
    pub abandon: &'a AtomicBool,
    /// Length of the busy-wait before a due time. If it is zero, the driver only sleeps.
    pub spin: Nanos,
    /// Minimum time between two wake-ups of a thread. What is due or arrives in between is handled at the next wake-up, so
    /// it is sent or received up to this much later. If it is zero, the driver wakes up at once.
    pub slack: Nanos,
    /// Channel for reported events; each thread has a sender.
    pub events: Sender<LoadEvent>,
}

impl DriverContext<'_> {
    fn address(&self, target: Target) -> &Address {
        match target {
            Target::Postgres { endpoint, host } => &self.postgres[usize::from(endpoint)][usize::from(host)],
            Target::Service(it) => &self.services[usize::from(it)],
        }
    }
}

/// Result of a driver.
#[derive(Debug)]
pub struct DriveResult<R> {
    pub shard: Shard<R>,
    pub effort: ThreadUsage,
    /// Number of connections that could not be opened because file descriptors or local ports ran out.
    pub exhausted: u64,
    /// Time at which all transactions had ended and all connections were closed.
    pub finished: Nanos,
}

/// Maximum sleep of a driver. It limits the time until the driver notices `stop` and the open gate.
const MAX_SLEEP: Nanos = Nanos::from_millis(100);
/// Maximum sleep of a driver before the gate opens.
const MAX_SLEEP_BEFORE_START: Nanos = Nanos::from_millis(1);
/// Interval between two ticks of the recorder.
const TICK_INTERVAL: Nanos = Nanos::from_secs(1);

/// Phase of a thread: connecting, waiting at the gate, or measuring. A driver updates it once per round.
#[derive(Debug)]
struct DriverState {
    settled: bool,
    started: bool,
    stopped: bool,
    tick: Nanos,
    /// Start of the last round.
    last: Nanos,
    max_sleep: Nanos,
    /// Time of the last wake-up; only kept up to date if there is a slack.
    woken: Nanos,
    /// True if the last round waited, so that the current one begins with a wake-up.
    has_waited: bool,
    meter: ThreadMeter,
}

impl DriverState {
    fn new() -> DriverState {
        // Make timers fire without the default slack of 50 µs; prctl(2), PR_SET_TIMERSLACK.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        DriverState {
            settled: false,
            started: false,
            stopped: false,
            tick: Nanos::MAX,
            last: Nanos::MAX,
            max_sleep: Nanos::ZERO,
            woken: Nanos::ZERO,
            has_waited: false,
            meter: ThreadMeter::default(),
        }
    }

    /// Checks the gate, the stop flags and whether a tick is due.
    #[inline]
    fn update<R: Recorder>(&mut self, now: Nanos, shard: &mut Shard<R>, ground: &DriverContext<'_>) {
        if !self.started {
            self.check_gate(now, shard, ground);
        } else {
            // A round that is longer than its sleep means that the thread was stalled or had much work.
            if now <= shard.window_end() {
                self.meter.record_stall((now - self.last) - self.max_sleep);
            }
            if now >= self.tick {
                self.tick += TICK_INTERVAL;
                shard.recorder.tick(now);
            }
        }
        self.last = now;
        if ground.stop.load(Ordering::Relaxed) && !self.stopped {
            self.stopped = true;
            shard.stop(now);
        }
        if ground.abandon.load(Ordering::Relaxed) {
            shard.abandon(now);
        }
    }

    fn check_gate<R: Recorder>(&mut self, now: Nanos, shard: &mut Shard<R>, ground: &DriverContext<'_>) {
        if !self.settled && shard.is_settled() {
            self.settled = true;
            ground.gate.settle(shard.connected_clients());
        }
        match ground.gate.window_start() {
            Some(at) if self.tick == Nanos::MAX => {
                shard.begin(at);
                shard.recorder.window(at, shard.window_end());
                self.tick = at + TICK_INTERVAL;
            }
            Some(at) if now >= at => {
                self.started = true;
                self.meter.begin(now);
            }
            _ => {}
        }
    }

    /// Time that the driver may sleep from `now`: at most until `deadline` or the next tick, and short enough to notice
    /// the stop flag.
    #[inline]
    fn sleep_until(&mut self, now: Nanos, deadline: Nanos) -> Nanos {
        let nap = if self.started { MAX_SLEEP } else { MAX_SLEEP_BEFORE_START };
        self.max_sleep = (deadline.min(self.tick) - now).min(nap);
        self.max_sleep
    }

    /// Sleeps until `slack` has passed since the last wake-up, if the driver waits. Returns how much of `wait` is left.
    #[inline]
    fn coalesce(&mut self, now: Nanos, wait: Nanos, ground: &DriverContext<'_>) -> Nanos {
        if ground.slack == Nanos::ZERO {
            return wait;
        }
        if std::mem::take(&mut self.has_waited) {
            self.woken = now;
        }
        if wait == Nanos::ZERO {
            return wait;
        }
        self.has_waited = true;
        let pause = self.woken + ground.slack - now;
        if pause == Nanos::ZERO {
            return wait;
        }
        self.max_sleep = self.max_sleep.max(pause);
        std::thread::sleep(Duration::from_nanos(pause.0));
        wait - (ground.clock.now() - now)
    }

    /// CPU usage and stalls of the thread since the window began.
    fn finish(self, now: Nanos) -> ThreadUsage {
        self.meter.finish(now)
    }
}

/// Runs the command line of the shard's action. The command blocks the thread, as in pgbench.
fn run_shell<R: Recorder>(
    shard: &mut Shard<R>,
    ground: &DriverContext<'_>,
    conn: ConnId,
    line: &str,
    keep: bool,
) {
    let output = run_command(line, keep);
    shard.shell_done(ground.clock.now(), conn, output.as_deref());
}

/// Runs a command line. With `keep` (`\setshell`), returns the command's output. Without `keep` (`\shell`), the command
/// must succeed.
fn run_command(line: &str, keep: bool) -> Result<Vec<u8>, ShellError> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.stdout(if keep { Stdio::piped() } else { Stdio::inherit() });
    let ended = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = ended.map_err(|error| ShellError::Launch { line: line.to_owned(), error })?;
    if keep || output.status.success() {
        return Ok(output.stdout);
    }
    Err(ShellError::Status { line: line.to_owned(), status: output.status.to_string() })
}

/// True if a connection could not be opened because the generator lacks file descriptors or local ports.
fn is_local_exhaustion(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::ADDRNOTAVAIL | Errno::NOBUFS | Errno::NOMEM)
}

fn index(conn: ConnId) -> usize {
    conn.0 as usize
}

/// Error message of the operating system, without the error number.
fn describe(error: rustix::io::Errno) -> String {
    io::Error::from(error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two wake-ups are at least the slack apart, and a thread does not sleep if something is due.
    #[test]
    fn wakes_up_at_most_once_per_slack() {
        let slack = Nanos::from_millis(2);
        let (events, _receiver) = std::sync::mpsc::channel();
        let ground = DriverContext {
            postgres: &[],
            services: &[],
            clock: Clock::start(),
            gate: &StartGate::new(1),
            stop: &AtomicBool::new(false),
            abandon: &AtomicBool::new(false),
            spin: Nanos::ZERO,
            slack,
            events,
        };
        let wait = Nanos::from_secs(1);
        let mut driver = DriverState::new();
        // The first wait is not preceded by a wake-up.
        let first = Nanos::from_secs(100);
        assert_eq!(driver.coalesce(first, wait, &ground), wait);
        let woken = ground.clock.now();
        assert_eq!(driver.coalesce(woken, Nanos::ZERO, &ground), Nanos::ZERO);
        assert_eq!(driver.max_sleep, Nanos::ZERO, "it does not sleep");
        let left = driver.coalesce(woken, wait, &ground);
        assert!(ground.clock.now() >= woken + slack && left <= wait - slack, "{left:?}");
        // The next due time is nearer than the slack.
        let woken = ground.clock.now();
        assert_eq!(driver.coalesce(woken, Nanos(1), &ground), Nanos::ZERO);
        assert!(ground.clock.now() >= woken + slack && driver.max_sleep >= slack);
        let none = DriverContext { slack: Nanos::ZERO, ..ground };
        assert_eq!(driver.coalesce(woken, wait, &none), wait);
    }
}
