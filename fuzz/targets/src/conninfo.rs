//! Target for connection strings, service files and password files: they are parsed or rejected, and passwords are
//! never displayed.

use wire::pg::conninfo::{ConfigFile, Environment, resolve};

const PASSWORD: &str = "hUnTeR2!";

/// Runs one input: four texts, separated by NUL (connection string, service file, password file, an environment
/// variable).
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    let mut parts = text.splitn(4, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (dsn, service, passwords, variable) = (part(), part(), part(), part());
    let environment = Environment {
        env: &|name| match name {
            "HOME" => Some("/home".to_owned()),
            "PGPASSWORD" => Some(PASSWORD.to_owned()),
            // TLS is disabled, because its set-up takes a hundred times longer than everything else.
            "PGSSLMODE" => Some("disable".to_owned()),
            name => variable.strip_prefix(name)?.strip_prefix('=').map(str::to_owned),
        },
        read: &|kind, _| match kind {
            ConfigFile::Service => Some(service.to_owned()),
            ConfigFile::Passwords => Some(passwords.to_owned()),
            ConfigFile::Certificate | ConfigFile::Key => None,
        },
        os_user: "me",
    };
    match resolve(Some(dsn), &[("fallback_application_name", "fuzz")], environment) {
        Ok(settings) => {
            assert!(!settings.hosts.is_empty());
            assert!(!format!("{settings:?}").contains(PASSWORD));
            for host in &settings.hosts {
                assert_eq!(host.socket().is_some(), host.transport() == wire::pg::Transport::Unix);
                // Check that the StartupMessage of the login can be built without a panic.
                let login = std::sync::Arc::new(settings.login(host));
                wire::pg::Channel::new(login, wire::pg::Transport::Unix, [0; 18]).open();
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            assert!(!format!("{diagnostics:?}").contains(PASSWORD));
        }
    }
}
