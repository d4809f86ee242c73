//! Flag that interrupts blocking waits during set-up
//!
//! A set-up runs on one thread and makes many calls, any of which may wait for a server that never responds. The flag
//! belongs to the thread, so that all waits within [`with_interrupt`] end soon after a signal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Interval at which a wait checks the flag.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs `work`. Soon after `flag` is set, all waits of this thread in `work` return an error.
pub fn with_interrupt<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    with_flag(Some(Arc::clone(flag)), work)
}

/// Runs `work` without a flag: no signal interrupts its waits. Use it for work that must not stop halfway.
pub fn without_interrupt<T>(work: impl FnOnce() -> T) -> T {
    with_flag(None, work)
}

/// Returns the flag of this thread. Pass the flag to [`with_flag`] in the threads that this thread starts.
pub(crate) fn flag() -> Option<Arc<AtomicBool>> {
    FLAG.with_borrow(Option::clone)
}

/// Runs `work` with the flag of another thread.
pub(crate) fn with_flag<T>(flag: Option<Arc<AtomicBool>>, work: impl FnOnce() -> T) -> T {
    /// Guard that restores the outer flag, also after a panic.
    struct Restore(Option<Arc<AtomicBool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FLAG.set(self.0.take());
        }
    }
    let _outer = Restore(FLAG.replace(flag));
    work()
}

/// True if the waits of this thread must end.
pub(crate) fn is_interrupted() -> bool {
    FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)))
}

/// Maximum duration of a single wait of this thread. `left` is the time until the caller's timeout. `None` means no
/// limit.
pub(crate) fn longest_wait(left: Option<Duration>) -> Option<Duration> {
    let interval = FLAG.with_borrow(|it| it.is_some().then_some(CHECK_INTERVAL));
    left.into_iter().chain(interval).min()
}

/// Opens a TCP connection within `timeout`.
pub(crate) fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = longest_wait(Some(left)).and_then(|it| Timespec::try_from(it).ok());
        match poll(&mut [PollFd::new(&socket, PollFlags::OUT)], wait.as_ref()) {
            Ok(0) if left.is_zero() => return Err(ErrorKind::TimedOut.into()),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
        if is_interrupted() {
            return Err(error());
        }
    }
    sockopt::socket_error(&socket)??;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Returns the error of a wait that the flag interrupted.
pub(crate) fn error() -> io::Error {
    io::Error::other("interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_applies_to_its_thread_during_work() {
        let (inner, outer) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        assert!(!is_interrupted());
        with_interrupt(&outer, || {
            assert!(!is_interrupted());
            with_interrupt(&inner, || {
                assert!(is_interrupted());
                assert!(!std::thread::spawn(is_interrupted).join().expect("the thread does not panic"));
            });
            assert!(!is_interrupted());
            assert_eq!(longest_wait(None), Some(CHECK_INTERVAL));
            assert_eq!(longest_wait(Some(Duration::from_millis(1))), Some(Duration::from_millis(1)));
            assert_eq!(without_interrupt(|| longest_wait(None)), None);
            outer.store(true, Ordering::Relaxed);
            assert!(is_interrupted());
        });
        assert!(!is_interrupted());
    }
}
