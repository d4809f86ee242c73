//! Standard output and standard error: nothing else in the program writes to them.
//!
//! All text passes [`report::terminal`]. A reader that has gone, `head` for instance, has seen enough: what follows is not
//! written, and nothing fails. Any other failure is remembered, so that the work goes on and its results are kept; [`end`]
//! reports it and makes the exit status 1.

use report::terminal::{sanitise, sanitise_json};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Why standard output could not be written: the first reason.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// `print!`, to standard output.
macro_rules! out {
    ($($it:tt)*) => { $crate::terminal::text(&format!($($it)*)) };
}

/// `println!`, to standard output.
macro_rules! outln {
    ($($it:tt)*) => { $crate::terminal::text(&(format!($($it)*) + "\n")) };
}

/// `eprint!`, to standard error.
macro_rules! err {
    ($($it:tt)*) => { $crate::terminal::message(&format!($($it)*)) };
}

/// `eprintln!`, to standard error.
macro_rules! errln {
    ($($it:tt)*) => { $crate::terminal::message(&(format!($($it)*) + "\n")) };
}

/// Writes text for people to standard output.
pub fn text(it: &str) {
    write(&sanitise(it, is_styled(&io::stdout())));
}

/// Writes JSON to standard output.
pub fn json(it: &str) {
    write(&sanitise_json(it));
}

/// Writes a document in a format that has an escape of its own, such as HTML or Markdown.
pub fn document(it: &str) {
    write(it);
}

fn write(it: &str) {
    stream(|out| out.write_all(it.as_bytes()));
}

/// Has standard output written piece by piece, for what is more than memory holds. The pieces are ours.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // After a piece that is missing nothing is to follow.
    if WRITE_ERROR.get().is_none() {
        let mut out = io::stdout().lock();
        if let Err(error) = write(&mut out).and_then(|()| out.flush()) {
            // Nobody else has set it under the lock.
            let _ = WRITE_ERROR.set(error);
        }
    }
}

/// Writes to standard error, at one stroke, so that messages of several threads do not mix. Where that cannot be done there
/// is nobody left to be told.
pub fn message(it: &str) {
    let _ = io::stderr().write_all(sanitise(it, is_styled(&io::stderr())).as_bytes());
}

/// Writes a line to standard error that the next one replaces: what clears the line, the text, and what ends it.
pub fn overwrite_line(clear: &'static str, it: &str, end: &'static str) {
    let line = format!("{clear}{}{end}", sanitise(it, false));
    let _ = io::stderr().write_all(line.as_bytes());
}

/// What is wrong with a command's arguments, or its help; and the exit status.
pub fn usage(error: &clap::Error) -> ExitCode {
    let (styled, plain) = (error.render().ansi().to_string(), error.render().to_string());
    match error.use_stderr() {
        true => message(if is_styled(&io::stderr()) { &styled } else { &plain }),
        false => text(if is_styled(&io::stdout()) { &styled } else { &plain }),
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Whether it is a terminal that is to be coloured.
fn is_styled(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}

/// Exit status of the program whose work ended with `status`.
pub fn finish(status: ExitCode) -> ExitCode {
    match WRITE_ERROR.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            errln!("pgdyno: error: could not write to standard output: {}", crate::cli::os_error_text(error));
            if status == ExitCode::SUCCESS { ExitCode::FAILURE } else { status }
        }
        _ => status,
    }
}
