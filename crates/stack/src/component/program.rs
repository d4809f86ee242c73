//! Search for the components' programs on this machine

use crate::embedded::{self, cache_directory_for};
use crate::find::InstallationSearch;
use model::message;
use model::message::Message;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names of a component's program, and how to install it.
#[derive(Debug)]
pub struct ProgramInfo {
    /// Name of the product in its usual spelling.
    pub name: &'static str,
    pub program: &'static str,
    /// Debian package, which `./x setup` installs; `None` if the program has another source.
    pub package: Option<&'static str>,
    /// Argument that makes the program print its version. The first line of the output contains it.
    pub version_argument: &'static str,
    /// Environment variable with the program's path; if set, no other place is searched.
    pub env_var: &'static str,
    /// Installation instruction for the user.
    pub install_hint: fn() -> Message,
}

/// Program that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Executable {
    pub path: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
    /// First line of the version output.
    pub text: String,
}

/// Component that is not available on this machine. The caller skips everything that needs the component, and never
/// substitutes another component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    pub component: &'static str,
    #[serde(rename = "why")]
    pub reason: Message,
    #[serde(rename = "how_to_get")]
    pub install_hint: Message,
}

/// Places to search for programs.
#[derive(Clone, Debug)]
pub struct Programs {
    /// Places to search for PostgreSQL; each node sets the version.
    pub postgres: InstallationSearch,
    /// True if a missing PostgreSQL may be downloaded.
    pub fetch: bool,
    /// Directories in order of preference: `PATH`, system directories, then programs that `./x` unpacked.
    pub search_path: Vec<PathBuf>,
    /// Function that reads an environment variable.
    pub env_var: fn(&str) -> Option<PathBuf>,
    /// Base of relative paths in a service's command, and its working directory: the directory of the experiment
    /// file.
    pub directory: PathBuf,
}

impl Programs {
    /// Returns the places on this machine, from this process's environment and working directory.
    pub fn from_environment() -> Programs {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let system = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from);
        let mut places: Vec<PathBuf> = std::env::split_paths(&path).filter(|it| it.is_absolute()).collect();
        places.extend(system);
        // `./x` run as root writes to the second cache; pgdyno itself may use the first.
        let caches = [cache_directory_for("programs").ok(), Some("/var/cache/pgdyno/programs".into())];
        for cache in caches.into_iter().flatten() {
            let unpacked = std::fs::read_dir(cache).into_iter().flatten().flatten();
            let mut unpacked: Vec<PathBuf> = unpacked.map(|it| it.path().join("bin")).collect();
            unpacked.sort();
            places.extend(unpacked);
        }
        Programs {
            postgres: InstallationSearch::from_environment(None, None),
            fetch: true,
            search_path: places,
            env_var: |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from),
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// Finds a program by its name in the search path, or by its path, which is relative to the experiment's directory.
    pub fn locate(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            Some(self.directory.join(program)).filter(|it| it.is_file())
        } else {
            self.search_path.iter().map(|it| it.join(program)).find(|it| it.is_file())
        }
    }

    /// Finds the first program that is new enough. `least` is the oldest suitable version; `None` accepts any version.
    pub fn find(
        &self,
        names: &'static ProgramInfo,
        least: Option<(u32, u32)>,
    ) -> Result<Executable, Unavailable> {
        let mut tried = Vec::new();
        let unusable = |path: &Path, reason: Message| {
            message!("error-unusable", place = path.display().to_string(), reason)
        };
        let named = (self.env_var)(names.env_var);
        let candidates: Vec<PathBuf> = match named {
            Some(it) => vec![it],
            None => {
                self.search_path.iter().map(|it| it.join(names.program)).filter(|it| it.is_file()).collect()
            }
        };
        for path in candidates {
            match query_version(&path, names.version_argument) {
                Ok(it) if least.is_none_or(|least| it.version >= least) => return Ok(it),
                Ok(Executable { version: (major, minor), .. }) => tried.push(unusable(
                    &path,
                    message!("server-other-version", version = format!("{major}.{minor}")),
                )),
                Err(error) => tried.push(unusable(&path, (&error).into())),
            }
        }
        let oldest = least.map(|(major, minor)| format!("{major}.{minor}"));
        let reason = message!("program-not-found", name = names.name, oldest, tried = Message::join(tried));
        Err(Unavailable { component: names.name, reason, install_hint: (names.install_hint)() })
    }

    /// Finds a PostgreSQL installation of this major version; `None` accepts any version. Calls `on_fetch` before a
    /// download.
    pub fn postgres(
        &self,
        major: Option<u32>,
        on_fetch: impl FnOnce(u32),
    ) -> Result<crate::find::Installation, Unavailable> {
        let search = InstallationSearch { major, ..self.postgres.clone() };
        let found = if self.fetch {
            embedded::find_or_fetch(&search, on_fetch).map_err(|it| (it.not_found, it.fetch_error))
        } else {
            search.find_first().map_err(|it| (it, None))
        };
        found.map_err(|(not_found, fetched)| {
            let (major, download) = (major.map(|it| it.to_string()), fetched.map(|it| it.reason));
            Unavailable {
                component: "PostgreSQL",
                reason: message!("program-no-postgres", major, download),
                install_hint: Message::text(not_found.install),
            }
        })
    }
}

/// Reason why a program is unusable. Messages print it after the path of the program.
#[derive(Debug)]
enum UnusableProgram {
    Run(io::Error),
    /// The output for this argument contains no version.
    UnknownVersion {
        line: String,
        argument: String,
    },
}

impl From<&UnusableProgram> for Message {
    fn from(error: &UnusableProgram) -> Message {
        match error {
            UnusableProgram::Run(error) => message!("program-not-run", error = Message::from(error)),
            UnusableProgram::UnknownVersion { line, argument } => {
                message!("program-no-version", line, argument)
            }
        }
    }
}

/// Runs a program to read its version.
fn query_version(path: &Path, argument: &str) -> Result<Executable, UnusableProgram> {
    let output = Command::new(path).arg(argument).stdin(Stdio::null()).output();
    let output = output.map_err(UnusableProgram::Run)?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    let Some(version) = parse_version(&line) else {
        return Err(UnusableProgram::UnknownVersion { line, argument: argument.to_owned() });
    };
    Ok(Executable { path: path.to_owned(), version, text: line })
}

/// Parses the first `number.number` of a line.
fn parse_version(line: &str) -> Option<(u32, u32)> {
    line.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
        let mut numbers = word.split('.').map(|it| it.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    })
}

impl From<&Unavailable> for Message {
    fn from(Unavailable { reason, install_hint, .. }: &Unavailable) -> Message {
        message!("program-unavailable", reason, install = install_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::ALL;

    #[test]
    fn parses_program_versions() {
        let check =
            |line: &str, expected: Option<(u32, u32)>| assert_eq!(parse_version(line), expected, "{line}");
        check("PgBouncer 1.18.0", Some((1, 18)));
        check("HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/", Some((2, 6)));
        check("odyssey 1.5.2 release +pam -ldap +systemd -prom", Some((1, 5)));
        check("postgres (PostgreSQL) 18", None);
        check("", None);
    }

    #[test]
    fn reports_missing_programs() {
        let programs =
            Programs { search_path: Vec::new(), env_var: |_| None, ..Programs::from_environment() };
        for component in ALL.iter().map(|it| it.names()) {
            let error = programs.find(component, None).unwrap_err();
            let (oldest, tried) = (None::<String>, None::<String>);
            assert_eq!(error.reason, message!("program-not-found", name = component.name, oldest, tried));
            assert_eq!(error.install_hint, (component.install_hint)());
        }
        let programs = Programs { env_var: |_| Some("/nowhere".into()), ..programs };
        let error = programs.find(ALL[1].names(), Some((1, 21))).unwrap_err();
        assert!(error.reason.facts().starts_with("PgBouncer 1.21 /nowhere "), "{error:?}");
    }
}
