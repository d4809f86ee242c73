//! Standard output and standard error: nothing else in the program writes to them
//!
//! All text passes [`report::terminal`]. If the reader closes the pipe, as `head` does, further output is dropped
//! without an error. Any other write error is remembered, so that the work continues and its results are stored.
//! [`finish`] then reports the error and makes the exit status 1.

use crate::exit_status::ExitStatus;
use report::terminal::{sanitise, sanitise_json};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// First error of writing to standard output.
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
    write(&sanitise(text, is_styled(&io::stdout())));
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

/// Streams standard output piece by piece, for output that does not fit into memory. pgdyno itself produced the pieces.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // After a failed write, nothing more is written, so that the output has no gap.
    if WRITE_ERROR.get().is_none() {
        let mut out = io::stdout().lock();
        if let Err(error) = write(&mut out).and_then(|()| out.flush()) {
            // The lock on standard output excludes other writers.
            let _ = WRITE_ERROR.set(error);
        }
    }
}

/// Writes to standard error with one call, so that messages of several threads do not mix. Write errors are ignored,
/// because they could not be reported.
pub fn message(message: &str) {
    let _ = io::stderr().write_all(sanitise(message, is_styled(&io::stderr())).as_bytes());
}

/// Writes a line to standard error that the next one replaces. `clear` clears the line; `end` follows the text.
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

/// True if the stream is a terminal that should be coloured.
fn is_styled(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}

/// Status of a program whose work ended with `status`. Output that could not be written is a failure.
pub fn finish(status: ExitStatus) -> ExitStatus {
    match WRITE_ERROR.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            errln!("pgdyno: error: could not write to standard output: {}", crate::cli::os_error_text(error));
            if status == ExitStatus::Success { ExitStatus::Failed } else { status }
        }
        _ => status,
    }
}
