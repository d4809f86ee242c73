//! Password prompt without echo

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use wire::pg::Secret;

/// Asks for a password at the terminal, even if standard input is redirected. `None` if there is no terminal or the
/// user enters nothing.
pub fn ask() -> Option<Secret> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    let before = tcgetattr(&terminal).ok()?;
    let mut silent = before.clone();
    silent.local_modes -= LocalModes::ECHO;
    write!(terminal, "Password: ").ok()?;
    tcsetattr(&terminal, OptionalActions::Flush, &silent).ok()?;
    let mut line = String::new();
    let read = BufReader::new(&terminal).read_line(&mut line);
    // Restore the terminal even after a read error.
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    let _ = writeln!(terminal);
    read.ok()?;
    Some(Secret::new(line.trim_end_matches(['\r', '\n']))).filter(|it| !it.reveal().is_empty())
}
