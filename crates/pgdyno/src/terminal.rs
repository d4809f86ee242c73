//! The only module that writes to standard output and standard error
//!
//! [`report::terminal`] sanitises all text. If the reader closes the pipe, as `head` does, further output is dropped
//! without an error. After any other write error, the work continues, so that its results are stored. [`finish`] then
//! reports the error and returns the exit status 1.

use crate::exit_status::ExitStatus;
use report::terminal::{sanitise, sanitise_json};
use report::wrap::wrap;
use rustix::termios::{isatty, tcgetwinsize};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

/// Minimum width of the output, in columns. A narrower terminal wraps the lines.
const COLUMNS_MIN: usize = 40;

/// First error in writing to standard output.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// `print!` to standard output, through [`text`].
macro_rules! out {
    ($($it:tt)*) => { $crate::terminal::text(&format!($($it)*)) };
}

/// `println!` to standard output, through [`text`].
macro_rules! outln {
    ($($it:tt)*) => { $crate::terminal::text(&(format!($($it)*) + "\n")) };
}

/// `eprint!` to standard error, through [`message`].
macro_rules! err {
    ($($it:tt)*) => { $crate::terminal::message(&format!($($it)*)) };
}

/// `eprintln!` to standard error, through [`message`].
macro_rules! errln {
    ($($it:tt)*) => { $crate::terminal::message(&(format!($($it)*) + "\n")) };
}

/// Writes text for people to standard output.
pub fn text(text: &str) {
    write(&fitted(text, &io::stdout()));
}

/// Writes JSON to standard output.
pub fn json(json: &str) {
    write(&sanitise_json(json));
}

/// Writes a document whose format has its own escapes, such as HTML or Markdown.
pub fn document(document: &str) {
    write(document);
}

fn write(text: &str) {
    stream(|out| out.write_all(text.as_bytes()));
}

/// Writes output that does not fit into memory piece by piece to standard output. The output is not sanitised, so it
/// must not contain untrusted text.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // Write nothing after a failed write, so that the output has no gap.
    if WRITE_ERROR.get().is_none() {
        let mut out = io::stdout().lock();
        if let Err(error) = write(&mut out).and_then(|()| out.flush()) {
            // This sets the first error, because the lock on standard output excludes other writers.
            let _ = WRITE_ERROR.set(error);
        }
    }
}

/// Writes to standard error with one system call, so that messages of several threads do not mix. Ignores write errors,
/// because they could not be reported.
pub fn message(message: &str) {
    let _ = io::stderr().write_all(fitted(message, &io::stderr()).as_bytes());
}

/// Sanitised text, wrapped to the width of the stream.
fn fitted(text: &str, stream: &impl AsFd) -> String {
    let text = sanitise(text, is_styled(stream));
    columns(stream).map_or(text.clone(), |columns| wrap(&text, columns))
}

/// Width of a stream in columns: the width of its terminal. Without a terminal, the value of the environment variable
/// `COLUMNS`. `None` if both are unknown.
pub fn columns(stream: &impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = size.filter(|columns| *columns > 0).or_else(variable)?;
    Some(columns.max(COLUMNS_MIN))
}

/// Writes a line to standard error that the next call replaces. `clear` clears the line; `end` follows the text.
pub fn overwrite_line(clear: &'static str, text: &str, end: &'static str) {
    let line = format!("{clear}{}{end}", sanitise(text, false));
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Prints clap's usage error or help, and returns the exit status.
pub fn usage(error: &clap::Error) -> ExitStatus {
    let (styled, plain) = (error.render().ansi().to_string(), error.render().to_string());
    match error.use_stderr() {
        true => message(if is_styled(&io::stderr()) { &styled } else { &plain }),
        false => text(if is_styled(&io::stdout()) { &styled } else { &plain }),
    }
    if error.use_stderr() { ExitStatus::Incomplete } else { ExitStatus::Success }
}

/// True if the stream is a terminal with colours, and the user has not disabled colours.
pub fn is_styled(stream: &impl AsFd) -> bool {
    isatty(stream) && !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// True if the terminal has neither colours nor a movable cursor.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb")
}

/// Exit status of a program whose work ended with `status`. If output could not be written, this is the status for a
/// failure.
pub fn finish(status: ExitStatus) -> ExitStatus {
    match WRITE_ERROR.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            errln!("pgdyno: error: could not write to standard output: {}", crate::cli::os_error_text(error));
            if status == ExitStatus::Success { ExitStatus::Failed } else { status }
        }
        _ => status,
    }
}
