//! Checked connection settings with defaults.

use super::super::{AuthMethods, ChannelBinding, Login, Secret, SslMode, Transport};
use super::values::Values;
use super::{ConfigFile, Diagnostic, Environment, passfile};
use crate::tls::{TlsConfigError, TlsSource, TlsVersion, TlsVersionRange};
use model::message;
use model::message::Message;
use rustls::ClientConfig;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Connection settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts in the order of attempts; at least one.
    pub hosts: Vec<HostSpec>,
    pub user: String,
    pub database: String,
    /// Parameters such as `options` and `application_name`.
    pub parameters: Vec<(String, String)>,
    pub ssl: SslMode,
    /// TLS configuration, if any host can be reached by TLS.
    pub tls: Option<Arc<ClientConfig>>,
    /// Texts from which `tls` was made.
    pub tls_source: Option<Arc<TlsSource>>,
    pub channel_binding: ChannelBinding,
    pub methods: AuthMethods,
    /// Timeout for one connection attempt in seconds, at least 2; `None` means unlimited.
    pub connect_timeout: Option<u32>,
    pub tcp: TcpSettings,
    pub target_session_attrs: TargetSessionAttrs,
    /// True with `load_balance_hosts=random`: hosts are tried in random order.
    pub shuffle_hosts: bool,
}

/// Host to try, with its port and password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Host name, address, directory of Unix sockets, or `@` followed by the name of an abstract socket.
    pub host: String,
    /// Address from `hostaddr`. With it, the host name is not looked up.
    pub address: Option<IpAddr>,
    pub port: u16,
    pub password: Option<Secret>,
}

/// Options of TCP sockets; `None` keeps the system's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    pub keepalives: bool,
    /// Idle time before the first keepalive probe, in seconds.
    pub keepalives_idle: Option<u32>,
    /// Interval between keepalive probes, in seconds.
    pub keepalives_interval: Option<u32>,
    pub keepalives_count: Option<u32>,
    pub user_timeout_ms: Option<u32>,
}

/// Kind of session that one of the hosts must offer; libpq's `target_session_attrs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSessionAttrs {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

/// Default directories of server sockets, in Debian's packages and in PostgreSQL's own build.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];
const PORT: u16 = 5432;

impl HostSpec {
    /// Transport to this host: Unix socket or TCP.
    pub fn transport(&self) -> Transport {
        if self.address.is_none() && self.host.starts_with(['/', '@']) {
            Transport::Unix
        } else {
            Transport::Tcp
        }
    }

    /// Path of the host's Unix socket; `None` for TCP. The path of an abstract socket begins with `@`.
    pub fn socket(&self) -> Option<PathBuf> {
        let name = format!("{}/.s.PGSQL.{}", self.host, self.port);
        (self.transport() == Transport::Unix).then(|| name.into())
    }
}

impl Settings {
    /// Login for all connections to this host.
    pub fn login(&self, host: &HostSpec) -> Login {
        let mut login = Login::new(&self.user, &self.database);
        login.password.clone_from(&host.password);
        login.parameters.clone_from(&self.parameters);
        login.methods = self.methods;
        login.channel_binding = self.channel_binding;
        login.ssl = self.ssl;
        login.tls.clone_from(&self.tls);
        login.tls_source.clone_from(&self.tls_source);
        login.host = match (&*host.host, host.address) {
            ("", Some(address)) => address.to_string(),
            (name, _) => name.to_owned(),
        };
        login
    }

    /// Creates the settings from their values. Returns `None` if errors leave no usable settings.
    pub(super) fn new(
        values: &Values,
        environment: Environment<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Settings> {
        let user = values.get("user").unwrap_or(environment.os_user).to_owned();
        if user.is_empty() {
            let found = message!("conninfo-no-user");
            diagnostics.push(Diagnostic::new("user", found, message!("conninfo-write-user")));
        }
        let database = values.get("dbname").unwrap_or(&user).to_owned();
        let mut hosts = split_hosts(values, diagnostics)?;
        assign_passwords(&mut hosts, values, &user, &database, environment);
        let root = values.get("sslrootcert").map(str::to_owned);
        let system = root.as_deref() == Some("system");
        let modes = [
            ("disable", SslMode::Disable),
            ("allow", SslMode::Allow),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-ca", SslMode::VerifyCa),
            ("verify-full", SslMode::VerifyFull),
        ];
        let usual = if system { SslMode::VerifyFull } else { SslMode::Prefer };
        let ssl = values.keyword("sslmode", &modes, diagnostics).unwrap_or(usual);
        if system && ssl != SslMode::VerifyFull {
            let found = message!("conninfo-weak-sslmode");
            diagnostics.push(values.diagnostic("sslmode", found, message!("conninfo-write-verify-full")));
        }
        let uses_tls = ssl != SslMode::Disable && hosts.iter().any(|it| it.transport() == Transport::Tcp);
        let tls = if uses_tls { tls_config(ssl, values, environment, diagnostics) } else { None };
        let (tls, tls_source) = tls.unzip();
        let bindings = [
            ("disable", ChannelBinding::Disable),
            ("prefer", ChannelBinding::Prefer),
            ("require", ChannelBinding::Require),
        ];
        let targets = [
            ("any", TargetSessionAttrs::Any),
            ("read-write", TargetSessionAttrs::ReadWrite),
            ("read-only", TargetSessionAttrs::ReadOnly),
            ("primary", TargetSessionAttrs::Primary),
            ("standby", TargetSessionAttrs::Standby),
            ("prefer-standby", TargetSessionAttrs::PreferStandby),
        ];
        let timeout = values.number("connect_timeout", diagnostics).filter(|it| *it > 0);
        Some(Settings {
            parameters: parameters(values, environment.env),
            channel_binding: values.keyword("channel_binding", &bindings, diagnostics).unwrap_or_default(),
            methods: auth_methods(values, diagnostics),
            connect_timeout: timeout.map(|it| it.unsigned_abs().max(2)),
            tcp: tcp_settings(values, diagnostics),
            target_session_attrs: values
                .keyword("target_session_attrs", &targets, diagnostics)
                .unwrap_or(TargetSessionAttrs::Any),
            shuffle_hosts: values.keyword(
                "load_balance_hosts",
                &[("disable", false), ("random", true)],
                diagnostics,
            ) == Some(true),
            hosts,
            user,
            database,
            ssl,
            tls,
            tls_source,
        })
    }
}

/// Splits `host`, `hostaddr` and `port` at their commas.
fn split_hosts(values: &Values, diagnostics: &mut Vec<Diagnostic>) -> Option<Vec<HostSpec>> {
    let list = |name: &'static str| values.get(name).map(|it| it.split(',').collect::<Vec<&str>>());
    let (names, addresses) = (list("host"), list("hostaddr"));
    let count = addresses.as_ref().or(names.as_ref()).map_or(1, Vec::len);
    let names = names.unwrap_or_else(|| vec![""; count]);
    if names.len() != count {
        let (names, addresses) = (names.len().to_string(), count.to_string());
        let found = message!("conninfo-host-count", names, addresses);
        diagnostics.push(values.diagnostic("host", found, message!("conninfo-write-equal-counts")));
        return None;
    }
    let ports = list("port").unwrap_or_else(|| vec![""]);
    if ports.len() != 1 && ports.len() != count {
        let (ports, hosts) = (ports.len().to_string(), count.to_string());
        let found = message!("conninfo-port-count", ports, hosts);
        diagnostics.push(values.diagnostic("port", found, message!("conninfo-write-ports")));
        return None;
    }
    let mut number = |port: &str| {
        let number = if port.is_empty() { Some(PORT) } else { port.trim().parse().ok().filter(|it| *it > 0) };
        if number.is_none() {
            let found = message!("conninfo-invalid-port", port);
            diagnostics.push(values.diagnostic("port", found, message!("conninfo-write-port")));
        }
        number.unwrap_or(PORT)
    };
    let ports: Vec<u16> = ports.into_iter().map(&mut number).collect();
    let mut hosts = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let address = addresses.as_ref().map_or("", |it| it[index]);
        let parsed = address.parse().ok();
        if parsed.is_none() && !address.is_empty() {
            let found = message!("conninfo-invalid-address", address);
            diagnostics.push(values.diagnostic("hostaddr", found, message!("conninfo-write-address")));
        }
        let spec = |name: &str| HostSpec {
            host: name.to_owned(),
            address: parsed,
            port: ports[index % ports.len()],
            password: None,
        };
        if name.is_empty() && address.is_empty() {
            hosts.extend(SOCKET_DIRECTORIES.map(spec));
        } else {
            hosts.push(spec(name));
        }
    }
    Some(hosts)
}

/// Assigns each host its password: the given password, or else the matching password from the password file.
fn assign_passwords(
    hosts: &mut [HostSpec],
    values: &Values,
    user: &str,
    database: &str,
    environment: Environment<'_>,
) {
    if let Some(given) = values.get("password") {
        hosts.iter_mut().for_each(|it| it.password = Some(Secret::new(given)));
        return;
    }
    let path = values.get("passfile").map(PathBuf::from).or_else(|| environment.home_file(".pgpass"));
    let Some(text) = path.and_then(|it| (environment.read)(ConfigFile::Passwords, &it)) else { return };
    for host in hosts {
        let address = host.address.map(|it| it.to_string()).unwrap_or_default();
        let name = match &*host.host {
            "" => &address,
            socket if SOCKET_DIRECTORIES.contains(&socket) => "localhost",
            name => name,
        };
        let found = passfile::find_password(&text, [name, &host.port.to_string(), database, user]);
        host.password = found.filter(|it| !it.reveal().is_empty());
    }
}

fn parameters(values: &Values, env: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let name = values.get_raw("application_name").or(values.get_raw("fallback_application_name"));
    // libpq derives `auto` from the locale; pgdyno sends UTF-8.
    let encoding = values.get("client_encoding").map(|it| if it == "auto" { "UTF8" } else { it });
    let given = [
        ("options", values.get("options")),
        ("application_name", name.filter(|it| !it.is_empty())),
        ("client_encoding", encoding),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let more = [("datestyle", "PGDATESTYLE"), ("timezone", "PGTZ"), ("geqo", "PGGEQO")];
    let more = more.into_iter().filter_map(|(name, variable)| Some((name.to_owned(), env(variable)?)));
    given.chain(more.filter(|it| !it.1.eq_ignore_ascii_case("default") && !it.1.contains('\0'))).collect()
}

fn tcp_settings(values: &Values, diagnostics: &mut Vec<Diagnostic>) -> TcpSettings {
    let mut number = |name| values.number(name, diagnostics);
    let positive = |number: i32| u32::try_from(number).ok().filter(|it| *it > 0);
    TcpSettings {
        keepalives: number("keepalives") != Some(0),
        keepalives_idle: number("keepalives_idle").and_then(positive),
        keepalives_interval: number("keepalives_interval").and_then(positive),
        keepalives_count: number("keepalives_count").and_then(positive),
        user_timeout_ms: number("tcp_user_timeout").and_then(positive),
    }
}

/// Parses `require_auth`, the list of allowed authentication methods. A `!` before each method excludes the listed
/// methods.
fn auth_methods(values: &Values, diagnostics: &mut Vec<Diagnostic>) -> AuthMethods {
    let Some(text) = values.get("require_auth") else { return AuthMethods::default() };
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let negative = words.iter().filter(|it| it.starts_with('!')).count();
    let mut named = AuthMethods { none: false, clear_text: false, md5: false, scram: false };
    let mut report = |found: Message, suggestion: Message| {
        diagnostics.push(values.diagnostic("require_auth", found, suggestion));
    };
    if negative != 0 && negative != words.len() {
        report(message!("conninfo-mixed-methods"), message!("conninfo-negate-all"));
    }
    for (index, word) in words.iter().enumerate() {
        if words[..index].contains(word) {
            report(message!("conninfo-method-twice", method = *word), message!("conninfo-write-once"));
        }
        match word.trim_start_matches('!') {
            "none" => named.none = true,
            "password" => named.clear_text = true,
            "md5" => named.md5 = true,
            "scram-sha-256" => named.scram = true,
            "gss" | "sspi" => {}
            _ => report(
                message!("conninfo-invalid-value", name = "require_auth", value = *word),
                message!("conninfo-write-some-of", values = "password, md5, scram-sha-256, none"),
            ),
        }
    }
    if negative == 0 {
        return named;
    }
    // A clear-text password must be allowed by name.
    AuthMethods { none: !named.none, clear_text: false, md5: !named.md5, scram: !named.scram }
}

/// Creates the TLS configuration from the files in the settings, or else from the files in the user's home directory.
///
/// Unlike libpq, pgdyno requires that a file named by a setting exists. Otherwise a typo would disable the
/// verification.
fn tls_config(
    mode: SslMode,
    values: &Values,
    environment: Environment<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Arc<ClientConfig>, Arc<TlsSource>)> {
    let shown =
        values.keyword("sslcertmode", &[("disable", false), ("allow", true)], diagnostics).unwrap_or(true);
    let mut file = |name: &'static str, usual: &str, kind: ConfigFile| {
        let (named, path) = match values.get(name) {
            Some(path) => (true, PathBuf::from(path)),
            None => (false, environment.home_file(usual)?),
        };
        let text = (environment.read)(kind, &path);
        if text.is_none() && named {
            let found = message!("conninfo-unusable-file", path = path.display().to_string());
            let suggestion = match kind {
                ConfigFile::Key => message!("conninfo-private-key"),
                _ => message!("conninfo-readable-file"),
            };
            diagnostics.push(values.diagnostic(name, found, suggestion));
        }
        text
    };
    let roots = match values.get("sslrootcert") {
        Some("system") => {
            SYSTEM_ROOTS.iter().find_map(|it| (environment.read)(ConfigFile::Certificate, Path::new(it)))
        }
        _ => file("sslrootcert", ".postgresql/root.crt", ConfigFile::Certificate),
    };
    let (mut certificate, mut key) = (None, None);
    if shown {
        certificate = file("sslcert", ".postgresql/postgresql.crt", ConfigFile::Certificate);
        // A key without a certificate is useless, but the default key file is not an error.
        key =
            certificate.as_ref().and_then(|_| file("sslkey", ".postgresql/postgresql.key", ConfigFile::Key));
    }
    let bytes = |value: &'_ Option<String>| value.as_ref().map(|it| it.as_bytes().to_vec());
    let (roots, certificate, key) = (bytes(&roots), bytes(&certificate), bytes(&key));
    let versions = tls_versions(values, diagnostics);
    let source = TlsSource { roots, certificate, key, versions };
    match source.config(mode) {
        Ok(config) => Some((config, Arc::new(source))),
        Err(error) => {
            let (name, suggestion) = match &error {
                TlsConfigError::MissingRoots => ("sslmode", message!("conninfo-write-sslrootcert")),
                TlsConfigError::Pem { what, .. } => (*what, message!("conninfo-pem-file")),
                TlsConfigError::IncompleteIdentity { missing } => {
                    (*missing, message!("conninfo-both-or-none"))
                }
                TlsConfigError::UnusableKey { .. } | TlsConfigError::OtherKey => {
                    ("sslkey", message!("conninfo-matching-key"))
                }
                TlsConfigError::VersionRange => {
                    ("ssl_min_protocol_version", message!("conninfo-write-tls-version"))
                }
            };
            diagnostics.push(values.diagnostic(name, (&error).into(), suggestion));
            None
        }
    }
}

/// Files of trusted system certificates: Debian, Red Hat, macOS and Alpine.
const SYSTEM_ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

fn tls_versions(values: &Values, diagnostics: &mut Vec<Diagnostic>) -> TlsVersionRange {
    // rustls supports TLS 1.2 and later: an older minimum version is accepted, an older maximum version is not.
    let mut version = |name: &'static str, old: Option<TlsVersion>| {
        let text = values.get(name)?.to_ascii_lowercase();
        let known = match &*text {
            "tlsv1" | "tlsv1.1" => old,
            "tlsv1.2" => Some(TlsVersion::Tls12),
            "tlsv1.3" => Some(TlsVersion::Tls13),
            _ => None,
        };
        if known.is_none() {
            let found =
                message!("conninfo-invalid-value", name, value = values.get(name).unwrap_or_default());
            diagnostics.push(values.diagnostic(name, found, message!("conninfo-write-tls-version")));
        }
        known
    };
    let lowest = version("ssl_min_protocol_version", Some(TlsVersion::Tls12)).unwrap_or(TlsVersion::Tls12);
    let highest = version("ssl_max_protocol_version", None).unwrap_or(TlsVersion::Tls13);
    TlsVersionRange { lowest, highest }
}
