//! Stop requests, for instance from a browser

use crate::cli::{CommandError, os_error_text};
use report::lang::Lang;
use report::say;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Interval between two checks for a stop request.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Sets the flag when a stop request for the run in `path` appears, for instance from a browser.
pub fn stop_on_request(path: &Path, flag: Arc<AtomicBool>, lang: &Lang) -> Result<(), CommandError> {
    let path = path.to_owned();
    let look = move || {
        while !store::is_stop_requested(&path) {
            thread::sleep(STOP_POLL_INTERVAL);
        }
        flag.store(true, Ordering::Relaxed);
    };
    let started = thread::Builder::new().name("requests".to_owned()).spawn(look);
    started
        .map(drop)
        .map_err(|error| CommandError::new(say!(lang, "run-no-stop-requests", error = os_error_text(&error))))
}
