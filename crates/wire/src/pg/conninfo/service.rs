//! Service file of connection settings.

use super::values::Values;
use super::{ConfigFile, Diagnostic, Environment, keyword};
use model::message;
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
                diagnostics.push(Diagnostic::new(
                    message!("conninfo-variable", name = "PGSERVICEFILE"),
                    message!("conninfo-no-service-file", path = name),
                    message!("conninfo-readable-file"),
                ));
                return;
            }
            _ => looked.push(name),
        }
    }
    let found = message!("conninfo-no-service", service = &service);
    let suggestion = message!("conninfo-write-section", service, files = looked.join(", "));
    diagnostics.push(values.diagnostic("service", found, suggestion));
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
            let place = message!("conninfo-service-line", file, line = (number + 1).to_string());
            match line.split_once('=') {
                _ if line.starts_with("ldap") => diagnostics.push(Diagnostic::new(
                    place,
                    message!("conninfo-ldap"),
                    message!("conninfo-no-ldap"),
                )),
                None => diagnostics.push(Diagnostic::new(
                    place,
                    message!("conninfo-service-syntax"),
                    message!("conninfo-write-keyword-value"),
                )),
                Some(("service", _)) => {
                    let found = message!("conninfo-nested-service");
                    diagnostics.push(Diagnostic::new(place, found, message!("conninfo-write-settings")));
                }
                Some((name, _)) if keyword::find(name.trim()).is_some() && name != name.trim() => {
                    diagnostics.push(Diagnostic::new(
                        place,
                        message!("conninfo-blank-before-equals"),
                        message!("conninfo-write-without-blanks"),
                    ));
                }
                Some((name, value)) => values.set_default(name, value.to_owned(), &place, diagnostics),
            }
        }
    }
    inside
}
