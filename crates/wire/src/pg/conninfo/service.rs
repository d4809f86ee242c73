//! Service file of connection settings.

use super::values::Values;
use super::{ConfigFile, Diagnostic, Environment, keyword};
use std::path::{Path, PathBuf};

/// Adds the settings of the requested service, except settings that have a value already.
pub(super) fn apply_service(
    values: &mut Values,
    environment: Environment<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let env = environment.env;
    let Some(service) = values.get_raw("service").map(str::to_owned).or_else(|| env("PGSERVICE")) else {
        return;
    };
    let chosen = env("PGSERVICEFILE").map(PathBuf::from);
    let directory = env("PGSYSCONFDIR");
    // Debian's packages use the first directory, builds from source the last.
    let common = match &directory {
        Some(directory) => vec![directory.as_str()],
        None => vec!["/etc/postgresql-common", "/etc", "/usr/local/pgsql/etc"],
    };
    let user_file = chosen.clone().or_else(|| environment.home_file(".pg_service.conf"));
    let all = user_file.into_iter().chain(common.iter().map(|it| Path::new(it).join("pg_service.conf")));
    let mut looked: Vec<String> = Vec::new();
    for path in all {
        let name = path.display().to_string();
        match (environment.read)(ConfigFile::Service, &path) {
            Some(text) if apply_section(&text, &service, &name, values, diagnostics) => return,
            None if chosen.as_deref() == Some(&path) => {
                let found = format!("service file \"{name}\" not found");
                diagnostics.push(Diagnostic::new(
                    "environment variable PGSERVICEFILE",
                    found,
                    "name a file that can be read",
                ));
                return;
            }
            _ => looked.push(name),
        }
    }
    let found = format!("definition of service \"{service}\" not found");
    let instead = format!("write a section [{service}] into one of {}", looked.join(", "));
    diagnostics.push(values.diagnostic("service", found, &instead));
}

/// Adds the settings of one section of a service file. Returns true if the section exists.
fn apply_section(
    text: &str,
    service: &str,
    file: &str,
    values: &mut Values,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_matches([' ', '\t', '\x0b', '\x0c', '\r']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            if inside {
                break;
            }
            inside = head.strip_prefix(service).is_some_and(|it| it.starts_with(']'));
        } else if inside {
            let place = format!("service file {file}, line {}", number + 1);
            match line.split_once('=') {
                _ if line.starts_with("ldap") => diagnostics.push(Diagnostic::new(
                    place,
                    "an LDAP address",
                    "write the settings themselves: LDAP is not supported",
                )),
                None => diagnostics.push(Diagnostic::new(
                    place,
                    "syntax error in service file",
                    "write keyword=value",
                )),
                Some(("service", _)) => {
                    let found = "nested service specifications not supported";
                    diagnostics.push(Diagnostic::new(place, found, "write that service's settings here"));
                }
                Some((name, _)) if keyword::find(name.trim()).is_some() && name != name.trim() => {
                    diagnostics.push(Diagnostic::new(
                        place,
                        "a blank before \"=\"",
                        "write keyword=value without blanks",
                    ));
                }
                Some((name, value)) => values.set_default(name, value.to_owned(), &place, diagnostics),
            }
        }
    }
    inside
}
