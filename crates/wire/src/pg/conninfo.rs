//! Connection settings as libpq resolves them.
//!
//! Settings that work with psql work here. Order of precedence: connection string or URI, flags, service file,
//! environment, defaults. Passwords can come from a password file. This module reads no files: the caller passes the
//! environment and the files. Source: PostgreSQL manual, "Database Connection Control Functions".

mod keyword;
mod keyword_value;
mod passfile;
mod service;
mod settings;
mod uri;
mod values;

pub use settings::{HostSpec, Settings, TargetSessionAttrs, TcpSettings};

use model::message;
use model::message::Message;
use std::fmt;
use std::path::Path;
use values::Values;

/// Error in connection settings, with its location and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Location: a character of the connection string, an environment variable, or a line of a file.
    pub place: Message,
    /// Wrong text or condition, in libpq's words if libpq reports it. It never contains a password or a part of one.
    pub found: Message,
    /// Suggested correction.
    pub suggestion: Message,
}

impl Diagnostic {
    fn new(place: impl Into<Message>, found: Message, suggestion: Message) -> Diagnostic {
        Diagnostic { place: place.into(), found, suggestion }
    }
}

impl From<&Diagnostic> for Message {
    fn from(diagnostic: &Diagnostic) -> Message {
        let Diagnostic { place, found, suggestion } = diagnostic.clone();
        message!("error-of", subject = place, error = found.and(suggestion))
    }
}

/// Purpose of a file. Readers of passwords and keys must reject a file that other users may read, as libpq does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFile {
    Service,
    Passwords,
    Certificate,
    Key,
}

/// Environment, files and user name from which missing settings are taken.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Function that returns the value of an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Function that returns the content of a file; `None` if the file does not exist or must not be used.
    pub read: &'a dyn Fn(ConfigFile, &Path) -> Option<String>,
    /// Name of the current user of the operating system.
    pub os_user: &'a str,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment of {}", self.os_user)
    }
}

impl Environment<'_> {
    /// Path of a file in the user's home directory; `None` if the directory is unknown.
    fn home_file(&self, name: &str) -> Option<std::path::PathBuf> {
        (self.env)("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(name))
    }
}

/// Resolves the settings from `dsn`, `flags` and the environment, or returns all diagnostics.
///
/// `dsn` is a database name, a keyword string or a URI. `flags` are keywords and values, as from the option `-h`. The
/// connection string overrides flags. An empty value counts as missing.
pub fn resolve(
    dsn: Option<&str>,
    flags: &[(&str, &str)],
    around: Environment<'_>,
) -> Result<Settings, Vec<Diagnostic>> {
    let mut values = Values::default();
    let mut diagnostics = Vec::new();
    for (name, text) in flags.iter().filter(|it| !it.1.is_empty()) {
        values.set(name, (*text).to_owned(), &message!("conninfo-option", name = *name), &mut diagnostics);
    }
    if let Some(dsn) = dsn.filter(|it| !it.is_empty()) {
        connection_string(dsn, &mut values, &mut diagnostics);
    }
    service::apply_service(&mut values, around, &mut diagnostics);
    values.apply_environment(around.env, &mut diagnostics);
    match Settings::new(&values, around, &mut diagnostics) {
        Some(settings) if diagnostics.is_empty() => Ok(settings),
        _ => Err(diagnostics),
    }
}

fn connection_string(dsn: &str, values: &mut Values, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(rest) = uri::strip_scheme(dsn) {
        uri::parse(dsn, rest, values, diagnostics);
    } else if dsn.contains("://") {
        // libpq rejects this text. It must not be displayed as a database name, because it may contain a password.
        diagnostics.push(Diagnostic::new(
            location(dsn, 0),
            message!("conninfo-unknown-scheme"),
            message!("conninfo-write-scheme"),
        ));
    } else if dsn.contains('=') {
        keyword_value::parse(dsn, values, diagnostics);
    } else {
        values.set("dbname", dsn.to_owned(), &message!("conninfo-database-name"), diagnostics);
    }
}

/// Location of the byte offset `at` in a connection string. Characters count from 1.
fn location(text: &str, at: usize) -> Message {
    let before = text.get(..at).unwrap_or(text);
    message!("conninfo-character", position = (before.chars().count() + 1).to_string())
}

#[cfg(test)]
mod tests;
