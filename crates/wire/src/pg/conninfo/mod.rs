//! Which server is meant, who are we there, and on which terms do we connect?
//!
//! As libpq reads it, so that what works with psql works here: a connection string or URI, then flags, then a service
//! file, then the environment, then what is built in; passwords from a password file. Nothing is read here: the caller
//! hands in the environment and the files. Source: PostgreSQL manual, "Database Connection Control Functions".

mod keyword;
mod keyword_value;
mod passfile;
mod service;
mod settings;
mod uri;
mod values;

pub use settings::{HostSpec, Settings, TargetSessionAttrs, TcpSettings};

use std::fmt;
use std::path::Path;
use values::Values;

/// A mistake in the connection settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where it stands: `connection string, character 17`, `environment variable PGPORT`, a file and its line.
    pub place: String,
    /// What stands there, in libpq's words where it has some. Never a password or a part of one.
    pub found: String,
    /// What to write instead.
    pub suggestion: String,
}

impl Diagnostic {
    fn new(place: impl Into<String>, found: impl Into<String>, instead: impl Into<String>) -> Diagnostic {
        Diagnostic { place: place.into(), found: found.into(), suggestion: instead.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.found, self.suggestion)
    }
}

/// What a file is read for. Who reads passwords and keys must refuse a file that others may read, as libpq does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFile {
    Service,
    Passwords,
    Certificate,
    Key,
}

/// Where everything that is not given comes from.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The content of a file; `None` when it is not there or must not be used.
    pub read: &'a dyn Fn(ConfigFile, &Path) -> Option<String>,
    /// The operating system's name of who runs us.
    pub os_user: &'a str,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Surroundings of {}", self.os_user)
    }
}

impl Environment<'_> {
    /// A file in the user's home directory.
    fn home_file(&self, name: &str) -> Option<std::path::PathBuf> {
        (self.env)("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(name))
    }
}

/// Settings from `dsn` (a database's name, a keyword string or a URI), `flags` (keywords and values, as from `-h`; the
/// connection string wins over them, an empty value is none) and the surroundings; or all mistakes.
pub fn resolve(
    dsn: Option<&str>,
    flags: &[(&str, &str)],
    around: Environment<'_>,
) -> Result<Settings, Vec<Diagnostic>> {
    let mut values = Values::default();
    let mut mistakes = Vec::new();
    for (name, text) in flags.iter().filter(|it| !it.1.is_empty()) {
        values.set(name, (*text).to_owned(), &format!("option {name}"), &mut mistakes);
    }
    if let Some(dsn) = dsn.filter(|it| !it.is_empty()) {
        connection_string(dsn, &mut values, &mut mistakes);
    }
    service::apply_service(&mut values, around, &mut mistakes);
    values.apply_environment(around.env, &mut mistakes);
    match Settings::new(&values, around, &mut mistakes) {
        Some(settings) if mistakes.is_empty() => Ok(settings),
        _ => Err(mistakes),
    }
}

fn connection_string(dsn: &str, values: &mut Values, mistakes: &mut Vec<Diagnostic>) {
    if let Some(rest) = uri::strip_scheme(dsn) {
        uri::parse(dsn, rest, values, mistakes);
    } else if dsn.contains("://") {
        // Neither libpq takes it, nor may its password be shown as a part of a database's name.
        mistakes.push(Diagnostic::new(
            "connection string, character 1",
            "an unknown kind of URI",
            "begin it with postgresql://",
        ));
    } else if dsn.contains('=') {
        keyword_value::parse(dsn, values, mistakes);
    } else {
        values.set("dbname", dsn.to_owned(), "database name", mistakes);
    }
}

/// `connection string, character N` for the byte at `at`, counted from 1.
fn location(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    format!("connection string, character {}", before.chars().count() + 1)
}

#[cfg(test)]
mod tests;
