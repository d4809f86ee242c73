//! Check of PostgreSQL's settings by the installed program `postgres`, without starting a server

use experiment::{SettingError, nearest};
use model::message;
use stack::embedded;
use stack::find::InstallationSearch;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Major version and settings.
type Settings = (Option<u32>, Vec<(String, String)>);

/// Cached errors by settings, because the cells of a matrix repeat the same settings.
static ERRORS: LazyLock<Mutex<HashMap<Settings, Vec<SettingError>>>> = LazyLock::new(Mutex::default);

/// Checks names and values of settings for a major version. Accepts everything if no server is installed.
pub fn check_settings(major: Option<u32>, settings: &[(String, String)]) -> Vec<SettingError> {
    if settings.is_empty() {
        return Vec::new();
    }
    let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = errors.entry((major, settings.to_vec()));
    known.or_insert_with(|| find_server(major).map_or(Vec::new(), |it| ask_server(&it, settings))).clone()
}

/// Program `postgres` of the installation that a run would use. Downloads nothing.
fn find_server(major: Option<u32>) -> Option<PathBuf> {
    let installed = InstallationSearch::from_environment(None, major).find_first().ok();
    let program = installed.or_else(|| embedded::cached(major))?.bin.join("postgres");
    program.is_file().then_some(program)
}

/// Errors of all settings. All settings are first checked together, because each call takes about 80 ms.
fn ask_server(server: &Path, settings: &[(String, String)]) -> Vec<SettingError> {
    let of_one = |(setting, entry)| {
        let Rejection { reason, hint } = rejection(server, std::slice::from_ref(entry))?;
        let is_unknown = reason.contains("unrecognized configuration parameter");
        let names = if is_unknown { known_names(server) } else { Vec::new() };
        let nearest = nearest(&entry.0, names.iter().map(String::as_str)).map(str::to_owned);
        Some(SettingError {
            setting,
            is_unknown,
            message: message!("experiment-setting", reason, nearest, hint),
        })
    };
    match rejection(server, settings) {
        Some(_) => settings.iter().enumerate().filter_map(of_one).collect(),
        None => Vec::new(),
    }
}

/// Error in the words of the server.
#[derive(Debug)]
struct Rejection {
    reason: String,
    hint: Option<String>,
}

/// First error in these settings; `None` if there is none, or if the server cannot be asked. The program is called to
/// print another setting, so it only checks the settings and exits.
fn rejection(server: &Path, settings: &[(String, String)]) -> Option<Rejection> {
    let mut command = Command::new(server);
    command.args(["-C", "port", "--config_file=/dev/null", "-D"]).arg(std::env::temp_dir());
    for (name, value) in settings {
        // On the command line, unlike in a configuration file, a hyphen in a name is an underscore.
        if name.contains('-') {
            let reason = format!("unrecognized configuration parameter \"{name}\"");
            return Some(Rejection { reason, hint: None });
        }
        command.arg("-c").arg(format!("{name}={value}"));
    }
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let part = |label: &str| printed.lines().find_map(|it| Some(it.split_once(label)?.1.trim().to_owned()));
    Some(Rejection { reason: part("FATAL:")?, hint: part("HINT:") })
}

/// Names that the program lists. Some settings for developers are missing.
fn known_names(server: &Path) -> Vec<String> {
    let output = Command::new(server).arg("--describe-config").stdin(Stdio::null()).output();
    let printed = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    printed.lines().filter_map(|it| Some(it.split_once('\t')?.0.to_owned())).collect()
}
