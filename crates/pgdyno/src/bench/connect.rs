//! Connection to the server that the options specify

use super::options;
use super::password;
use super::prepare::libpq_text;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::fleet::assignment::RecordedEnvironment;
use model::message;
use model::message::Message;
use model::summary::{Server, ServerTransport};
use report::lang::Lang;
use report::say;
use rustix::process::getuid;
use stack::client::{Address, Connection, Error, Target};
use std::cell::RefCell;
use std::env::VarError;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use wire::pg::conninfo::{
    self, ConfigFile, Diagnostic, Environment, HostSpec, Settings, TargetSessionAttrs as Wanted,
};
use wire::pg::{ProtocolError, Secret};

/// A server to which a connection was opened, and its description for reports.
#[derive(Clone, Debug)]
pub struct ConnectedServer {
    pub target: Target,
    /// Target of the setup connection. Unlike the clients' logins, its login stores the server's parameters (1 KiB).
    setup: Target,
    /// Description, in English in libpq's words: `on socket "…"`, or `at "host" (address), port 5432`.
    pub description: String,
    pub server: Server,
    /// Host name that was resolved to the target's address; empty if no name was resolved.
    host: String,
    /// Timeout for one connection attempt.
    pub connect_timeout: Duration,
}

/// Default connection timeout, within which any healthy server responds.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout for the check whether a name still resolves to the same address.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Connection settings from the options and the environment. If they have errors, prints all diagnostics and returns
/// `None`.
pub fn settings(target: &options::TargetOptions, terminal: &Terminal, lang: &Lang) -> Option<Settings> {
    settings_with_environment(target, terminal, lang).map(|it| it.0)
}

/// Connection settings like those of [`settings`], and the part of the environment that determines them.
pub fn settings_with_environment(
    target: &options::TargetOptions,
    terminal: &Terminal,
    lang: &Lang,
) -> Option<(Settings, RecordedEnvironment)> {
    let unreadable = RefCell::new(Vec::new());
    let os_user = os_user().unwrap_or_default();
    let recorded = RefCell::new(RecordedEnvironment { os_user, ..RecordedEnvironment::default() });
    let env = |name: &str| {
        let value = std::env::var(name);
        if matches!(value, Err(VarError::NotUnicode(_))) {
            unreadable.borrow_mut().push(name.to_owned());
        }
        let value = value.ok()?;
        recorded.borrow_mut().variables.insert(name.to_owned(), value.clone());
        Some(value)
    };
    let read_file = |file: ConfigFile, path: &Path| {
        let text = read(file, path, terminal, lang)?;
        recorded.borrow_mut().files.insert(path.display().to_string(), text.clone());
        Some(text)
    };
    let os_user = recorded.borrow().os_user.clone();
    let around = Environment { env: &env, read: &read_file, os_user: &os_user };
    let resolved = resolve(target, &terminal.program, around);
    if let Some(name) = unreadable.borrow().first() {
        terminal.print_error(&message!("bench-variable-not-utf8", name), lang);
        return None;
    }
    match resolved {
        Ok(settings) => Some((settings, recorded.take())),
        Err(diagnostics) => {
            for Diagnostic { place, found, suggestion } in diagnostics {
                terminal.error(&say!(lang, "error-of", subject = place, error = found));
                terminal.hint(&lang.message(&suggestion));
            }
            None
        }
    }
}

/// Connection settings in an environment that [`settings_with_environment`] recorded.
pub fn recorded_settings(
    target: &options::TargetOptions,
    program: &str,
    recorded: &RecordedEnvironment,
) -> Result<Settings, Vec<Diagnostic>> {
    let around = Environment {
        env: &|name| recorded.variables.get(name).cloned(),
        read: &|_, path| recorded.files.get(&path.display().to_string()).cloned(),
        os_user: &recorded.os_user,
    };
    let mut settings = resolve(target, program, around)?;
    for host in &mut settings.hosts {
        let typed = || recorded.typed_password.clone().map(Secret::new);
        host.password = host.password.take().or_else(typed);
    }
    Ok(settings)
}

fn resolve(
    target: &options::TargetOptions,
    program: &str,
    around: Environment<'_>,
) -> Result<Settings, Vec<Diagnostic>> {
    let flags = [("host", &target.host), ("port", &target.port), ("user", &target.user)];
    let mut flags: Vec<(&str, &str)> =
        flags.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    flags.push(("fallback_application_name", program));
    conninfo::resolve(target.database.as_deref(), &flags, around)
}

/// Contents of a configuration file; `None` if the file contains secrets and other users may read it.
fn read(file: ConfigFile, path: &Path, terminal: &Terminal, lang: &Lang) -> Option<String> {
    let shown = path.display().to_string();
    let about = fs::metadata(path).ok()?;
    if !about.is_file() {
        terminal.warning(&say!(lang, "bench-file-irregular", path = shown));
        return None;
    }
    let forbidden = match (file, about.uid()) {
        (ConfigFile::Service | ConfigFile::Certificate, _) => 0,
        // root may let a group read its key.
        (ConfigFile::Key, 0) => 0o027,
        (ConfigFile::Key | ConfigFile::Passwords, _) => 0o077,
    };
    if about.permissions().mode() & forbidden != 0 {
        terminal.warning(&say!(lang, "bench-file-access", path = &shown));
        terminal.hint(&format!("chmod 600 {shown}"));
        return None;
    }
    fs::read_to_string(path).ok()
}

/// Name of the current user, from `/etc/passwd`.
fn os_user() -> Option<String> {
    let uid = getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&uid.as_str())).then(|| fields[0].to_owned())
    });
    named.or_else(|| std::env::var("USER").ok())
}

/// Connects to the first suitable server. Asks for a password at the terminal if the server requires a password and
/// none is configured.
pub fn open(settings: &Settings, lang: &Lang) -> Result<(ConnectedServer, Connection), CommandError> {
    let mut typed = None;
    let mut unreachable = false;
    let mut failures: Vec<String> = Vec::new();
    for session_attrs in candidates(settings.target_session_attrs) {
        for host in &settings.hosts {
            let addresses = match addresses(host) {
                Ok(it) => it,
                Err(error) => {
                    failures.push(lang.message(&error));
                    continue;
                }
            };
            for address in addresses {
                let mut place = ConnectedServer::new(settings, host, &address, typed.as_ref(), lang);
                let mut opened = place.open();
                if matches!(opened, Err(Error::Protocol(ProtocolError::NoPassword))) && typed.is_none() {
                    typed = password::ask();
                    if typed.is_some() {
                        place = ConnectedServer::new(settings, host, &address, typed.as_ref(), lang);
                        opened = place.open();
                    }
                }
                let failed = match opened {
                    Ok(mut connection) => match rejection(*session_attrs, &mut connection) {
                        None => return Ok((place, connection)),
                        Some(reason) => lang.message(&reason),
                    },
                    Err(Error::Net { error, .. }) => {
                        unreachable |=
                            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused);
                        match error.kind() {
                            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                                say!(
                                    lang,
                                    "bench-connection-timeout",
                                    seconds = place.connect_timeout.as_secs()
                                )
                            }
                            _ => os_error_text(&error),
                        }
                    }
                    Err(other) => libpq_text(&other),
                };
                let server = place.description;
                failures.push(say!(lang, "bench-connection-failed", server, error = failed));
            }
        }
    }
    failures.dedup();
    let error = CommandError::new(failures.join("\n"));
    Err(if unreachable { error.with_hint(say!(lang, "bench-server-unreachable")) } else { error })
}

/// Requirements on the server, in the order in which they are tried.
fn candidates(target: Wanted) -> &'static [Wanted] {
    match target {
        Wanted::Any => &[Wanted::Any],
        Wanted::ReadWrite => &[Wanted::ReadWrite],
        Wanted::ReadOnly => &[Wanted::ReadOnly],
        Wanted::Primary => &[Wanted::Primary],
        Wanted::Standby => &[Wanted::Standby],
        Wanted::PreferStandby => &[Wanted::Standby, Wanted::Any],
    }
}

/// Reason why this server is unsuitable, in libpq's words; `None` if it is suitable.
fn rejection(session_attrs: Wanted, connection: &mut Connection) -> Option<Message> {
    let mut is = |sql: &str, value: &str| connection.value(sql).ok().flatten().as_deref() == Some(value);
    match session_attrs {
        Wanted::Any => None,
        Wanted::ReadWrite if is("show transaction_read_only", "off") => None,
        Wanted::ReadWrite => Some(message!("bench-session-read-only")),
        Wanted::ReadOnly if is("show transaction_read_only", "on") => None,
        Wanted::ReadOnly => Some(message!("bench-session-read-write")),
        Wanted::Primary if is("select pg_is_in_recovery()", "f") => None,
        Wanted::Primary => Some(message!("bench-server-standby")),
        Wanted::Standby | Wanted::PreferStandby if is("select pg_is_in_recovery()", "t") => None,
        Wanted::Standby | Wanted::PreferStandby => Some(message!("bench-server-primary")),
    }
}

/// Addresses of a host. A host name is resolved.
pub fn addresses(host: &HostSpec) -> Result<Vec<Address>, Message> {
    if let Some(path) = host.socket() {
        return Ok(vec![Address::Unix(path)]);
    }
    if let Some(ip) = host.address {
        return Ok(vec![Address::Tcp(SocketAddr::new(ip, host.port))]);
    }
    let found = (host.host.as_str(), host.port).to_socket_addrs();
    let found = found
        .map_err(|error| message!("bench-host-unknown", host = &host.host, error = error.to_string()))?;
    Ok(found.map(Address::Tcp).collect())
}

/// Message if `name` no longer resolves to the address that a run used. A run resolves the name only once, at its
/// start. `None` if no name server responds within a second.
pub fn address_change(name: &str, used: SocketAddr) -> Option<Message> {
    let host = name.to_owned();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let found = (host.as_str(), used.port()).to_socket_addrs();
        sender.send(found.map(|all| all.map(|it| it.ip()).collect::<Vec<_>>()))
    });
    let now = receiver.recv_timeout(RESOLVE_TIMEOUT).ok()?.ok()?;
    let moved = !now.is_empty() && !now.contains(&used.ip());
    let now: Vec<String> = now.iter().map(IpAddr::to_string).collect();
    moved.then(|| message!("bench-address-changed", name, now = now.join(", "), used = used.ip().to_string()))
}

impl ConnectedServer {
    fn new(
        settings: &Settings,
        host: &HostSpec,
        address: &Address,
        typed: Option<&Secret>,
        lang: &Lang,
    ) -> ConnectedServer {
        let (named, shown, transport) = match address {
            Address::Unix(path) => {
                let shown = path.parent().unwrap_or(path).display();
                (
                    say!(lang, "bench-on-socket", path = path.display().to_string()),
                    format!("{shown}:{}", host.port),
                    ServerTransport::UnixSocket,
                )
            }
            Address::Tcp(tcp) => {
                let name = if host.host.is_empty() { tcp.ip().to_string() } else { host.host.clone() };
                let (address, port) = (tcp.ip().to_string(), tcp.port().to_string());
                let named = say!(lang, "bench-at-host", name = &name, address, port);
                (named, format!("{name}:{}", tcp.port()), ServerTransport::Tcp)
            }
        };
        let target = |keep_parameters| {
            let mut login = settings.login(host);
            login.password = login.password.or_else(|| typed.cloned());
            login.keep_parameters = keep_parameters;
            Target::new(address.clone(), Arc::new(login))
        };
        let (target, setup) = (target(false), target(true));
        let database = settings.database.clone();
        let name = if host.address.is_none() { host.host.clone() } else { String::new() };
        ConnectedServer {
            target,
            setup,
            description: named,
            server: Server { transport, address: shown, database, ..Server::default() },
            host: name,
            connect_timeout: settings
                .connect_timeout
                .map_or(DEFAULT_CONNECT_TIMEOUT, |it| Duration::from_secs(it.into())),
        }
    }

    /// The environment with the password of this connection, which the user may have typed.
    pub fn with_password(&self, environment: RecordedEnvironment) -> RecordedEnvironment {
        let typed_password = self.target.login.password.as_ref().map(|it| it.reveal().to_owned());
        RecordedEnvironment { typed_password, ..environment }
    }

    /// Message if the host's name now resolves to another address; see [`address_change`].
    pub fn address_change(&self) -> Option<Message> {
        match &self.target.address {
            Address::Tcp(used) if !self.host.is_empty() => address_change(&self.host, *used),
            _ => None,
        }
    }

    /// Login for the queries about the server's state; `None` behind a pooler, where such queries would occupy a server
    /// connection of the load.
    pub fn monitoring_target(&self) -> Option<Target> {
        self.target.login.send_cancel.then(|| self.setup.clone())
    }

    /// Opens the setup connection, and records facts about the server.
    fn open(&mut self) -> Result<Connection, Error> {
        let mut connection = self.setup.open(self.connect_timeout)?;
        Arc::make_mut(&mut self.target.login).send_cancel = connection.detect_direct();
        self.server.version = connection.parameter("server_version").unwrap_or("unknown").to_owned();
        if let Some(protection) = connection.protection() {
            self.server.transport =
                ServerTransport::TcpTls { version: protection.version.trim_start_matches("TLSv").to_owned() };
        }
        Ok(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the diagnostics of a connection string in English and in Russian.
    #[test]
    fn conninfo_diagnostics_are_translated() {
        let check = |dsn: &str, expected: [&str; 2]| {
            let around = Environment { env: &|_| None, read: &|_, _| None, os_user: "me" };
            let diagnostics = conninfo::resolve(Some(dsn), &[], around).expect_err(dsn);
            for (code, expected) in ["en", "ru"].into_iter().zip(expected) {
                let lang = report::lang::find(code).expect("a language");
                let texts: Vec<String> = diagnostics.iter().map(|it| lang.error(it)).collect();
                assert_eq!(texts.join("\n"), expected, "{dsn}");
            }
        };
        check(
            "hots=x port=0",
            [
                "connection string, character 1: invalid connection option \"hots\"; did you mean host?\n\
                 connection string, character 8: invalid port number: \"0\"; write a number from 1 to 65535",
                "строка подключения, символ 1: неверный параметр подключения «hots»; возможно, имелся в виду host\n\
                 строка подключения, символ 8: неверный номер порта: «0»; укажите число от 1 до 65535",
            ],
        );
        check(
            "password='x",
            [
                "connection string, character 1: unterminated quoted string in connection info string; \
                 end it with '; write ' itself as \\'",
                "строка подключения, символ 1: в строке подключения не хватает закрывающей кавычки; \
                 закройте её знаком '; сам знак ' пишите как \\'",
            ],
        );
        check(
            "postgres://u:%zz@h",
            [
                "connection string, character 14: invalid percent-encoded token; \
                 write two hexadecimal digits after %, and % itself as %25",
                "строка подключения, символ 14: неверный символ, закодированный с %; \
                 после % напишите две шестнадцатеричные цифры; сам % пишите как `%25`",
            ],
        );
        check(
            "host=h sslcrl=x sslmode=verify-full",
            [
                "connection string, character 8: sslcrl=x is not supported; \
                 revocation lists are not read: leave this out\n\
                 connection string, character 17: sslmode requires verification of the server's certificate, \
                 but sslrootcert is missing; write sslrootcert=FILE with the certificates that may sign the \
                 server's, or sslmode=require",
                "строка подключения, символ 8: sslcrl=x не поддерживается; \
                 списки отзыва не читаются: уберите этот параметр\n\
                 строка подключения, символ 17: `sslmode` требует проверки сертификата сервера, \
                 но `sslrootcert` не задан; напишите `sslrootcert=ФАЙЛ` с сертификатами, которыми может быть \
                 подписан сертификат сервера, или `sslmode=require`",
            ],
        );
    }
}
