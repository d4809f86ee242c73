//! Signals that end a measurement: SIGINT, SIGTERM, SIGHUP and SIGQUIT.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// After the second signal, what was measured must be printed within this time.
const HURRY: Duration = Duration::from_secs(3);

/// What the user asked for by signals.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Set by the first signal: the measurement ends, and what is under way may end too.
    pub interrupted: Arc<AtomicBool>,
    /// Set by the second signal: what is under way is cancelled. The program ends by the third signal, or [`HURRY`] after the
    /// second one.
    pub abandoned: Arc<AtomicBool>,
}

impl Signals {
    /// Handles the signals from now on. An error is the system's: no handler, socket or thread.
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
