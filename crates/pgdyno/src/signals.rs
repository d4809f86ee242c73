//! Signals that end a measurement: SIGINT, SIGTERM, SIGHUP and SIGQUIT.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Time after the second signal within which the results must be printed.
const HURRY: Duration = Duration::from_secs(3);

/// Requests that the user sends by signals.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Flag that the first signal sets: the measurement ends, and transactions in flight may complete.
    pub interrupted: Arc<AtomicBool>,
    /// Flag that the second signal sets: transactions in flight are cancelled. The program exits at the third signal,
    /// or [`HURRY`] after the second signal.
    pub abandoned: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the signal handlers. Fails if the operating system does not provide a handler, socket or thread.
    pub fn listen(self) -> io::Result<Signals> {
        let (mut received, sender) = UnixStream::pair()?;
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            flag::register_conditional_default(signal, Arc::clone(&self.abandoned))?;
            flag::register(signal, Arc::clone(&self.interrupted))?;
            flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
            low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        let abandoned = Arc::clone(&self.abandoned);
        let wait = move || {
            if received.read_exact(&mut [0; 2]).is_ok() {
                abandoned.store(true, Ordering::Relaxed);
                thread::sleep(HURRY);
                let _ = low_level::emulate_default_handler(last.load(Ordering::Relaxed) as i32);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(self)
    }
}
