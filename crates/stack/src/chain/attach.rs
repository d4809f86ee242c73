//! Connection to nodes that pgdyno did not start

use super::{ChainError, NodeHandle, READY_TIMEOUT, RunningNode, console, guard, node_error};
use crate::client::{Address, Target};
use crate::component::postgres::random_password;
use crate::component::{self, EndpointTls, User};
use crate::dataset::quote_identifier;
use crate::roles::DirectServer;
use crate::supervisor::Readiness;
use model::LogSession;
use model::message;
use model::message::Message;
use model::plan::{AttachedNode, Node, NodeKind};
use model::product::Role;
use model::summary::ServerTransport;
use rustix::process::getuid;
use std::cell::RefCell;
use std::env::VarError;
use std::fs;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wire::pg::conninfo::{self, ConfigFile, Environment, HostSpec, Settings, TargetSessionAttrs};
use wire::pg::{Login, SslMode};
use wire::{Code, HostName};

const NO_SUCH_DATABASE: Code = Code::SqlState(*b"3D000");
/// Timeout for a login if the connection string does not set `connect_timeout`.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to an attached node. Also returns the user and database for the nodes in front of this node.
pub(super) fn attach(
    node: &Node,
    attached: &AttachedNode,
) -> Result<(RunningNode, Option<(User, String)>), ChainError> {
    let AttachedEndpoint { endpoint, other_hosts, version, host } =
        connect_first_host(node, &attached.dsn, Some(attached))?;
    let mut running = RunningNode {
        node: None,
        program: None,
        version,
        admin: None,
        statistics: None,
        read_only: None,
        other_hosts,
        host,
        url: None,
        ready: None,
        pages: Vec::new(),
        log: None,
        arguments: Vec::new(),
        configuration: Vec::new(),
        hop: ServerTransport::default(),
        endpoint_tls: match endpoint.login.ssl {
            SslMode::Disable => EndpointTls::Off,
            _ => EndpointTls::Unchecked,
        },
        handle: NodeHandle::Attached,
        plan: node.clone(),
        endpoint,
    };
    match (&attached.admin, attached.product.role) {
        (Some(dsn), _) => {
            let console = connect_first_host(node, dsn, None)?;
            running.version = console.version;
            running.admin = Some(console.endpoint);
        }
        (None, Role::Server) => running.admin = Some(running.endpoint.clone()),
        (None, _) => {}
    }
    let login = &running.endpoint.login;
    // Poolers that pgdyno starts require a password even if the attached server requires none.
    let password = match &login.password {
        Some(it) => it.clone(),
        None => {
            random_password().map_err(|it| node_error(&node.name, message!("attempt-get-password"), &it))?
        }
    };
    let app = User { name: login.user.clone(), password, verifier: None };
    let database = if login.database.is_empty() { login.user.clone() } else { login.database.clone() };
    Ok((running, Some((app, database))))
}

/// Host to which pgdyno has connected.
struct AttachedEndpoint {
    endpoint: Target,
    /// The other hosts of the connection string, with the same login.
    other_hosts: Vec<Target>,
    version: String,
    /// Host name, if it was resolved to an address.
    host: Option<String>,
}

/// Connects to the first host of a connection string that accepts a login and, if there are several hosts, is not in
/// recovery.
///
/// The first login determines whether all later connections use TLS, because results with and without encryption cannot
/// be compared. `guarded` is set for nodes that receive load, which must pass the safety check; it is `None` for
/// consoles.
fn connect_first_host(
    node: &Node,
    dsn: &str,
    guarded: Option<&AttachedNode>,
) -> Result<AttachedEndpoint, ChainError> {
    let impossible = |reason: Message| ChainError::InvalidPlan { node: node.name.clone(), reason };
    let settings = resolve_dsn(dsn).map_err(|it| impossible((&it).into()))?;
    let log_in = settings.connect_timeout.map_or(LOGIN_TIMEOUT, |it| Duration::from_secs(it.into()));
    let is_cluster = guarded.is_some() && settings.hosts.len() > 1;
    let wants_primary =
        matches!(settings.target_session_attrs, TargetSessionAttrs::ReadWrite | TargetSessionAttrs::Primary);
    if is_cluster && !wants_primary {
        return Err(impossible(message!("attach-several-hosts")));
    }
    let mut all = Vec::new();
    for host in &settings.hosts {
        let found = resolve_addresses(host);
        let found = found.map_err(|it| node_error(&node.name, message!("attempt-find"), &it))?;
        all.extend(found.into_iter().map(|address| (host, address)));
    }
    let mut tried = Vec::new();
    for (host, address) in all.clone() {
        let mut login = settings.login(host);
        login.keep_parameters = true;
        let target = Target { host: host_name(host, &address), address, login: Arc::new(login) };
        let mut connection = match target.open(log_in) {
            Ok(it) => it,
            Err(error) if error.code() == Code::TIMED_OUT => {
                let (address, seconds) = (&target.address, log_in.as_secs());
                tried.push(message!(
                    "attach-login-timeout",
                    address = address.to_string(),
                    seconds = seconds.to_string()
                ));
                continue;
            }
            Err(error) if error.code() == NO_SUCH_DATABASE && guarded.is_some() => {
                let database = quote_identifier(&settings.database);
                tried.push(message!("attach-no-database", error = Message::from(&error), database));
                continue;
            }
            Err(error) => {
                tried.push((&error).into());
                continue;
            }
        };
        connection.set_timeout(Some(READY_TIMEOUT));
        if is_cluster && connection.parameter("in_hot_standby") == Some("on") {
            let address = target.address.to_string();
            tried.push(message!("attach-in-recovery", address));
            continue;
        }
        let settled = match (connection.protection().is_some(), settings.ssl) {
            (true, SslMode::Prefer | SslMode::Allow) => SslMode::Require,
            (true, it) => it,
            (false, _) => SslMode::Disable,
        };
        let mut version = connection.parameter("server_version").unwrap_or("unknown").to_owned();
        if guarded.is_none()
            && let Some(component) = component::for_product(node.kind.product())
            && let Readiness::Ready(reported) = console::console_version(component, &target)
        {
            version = reported;
        }
        if let Some(attached) = guarded {
            let place = (&target.address, &*host_and_port(host), &*settings.database);
            guard::check_database(node, attached, place, &mut connection)?;
        }
        let name = target.host.as_ref().map(|name| name.name().to_owned());
        let endpoint = with_settled_login(&target, settled, connection.detect_direct());
        let mut other_hosts = Vec::new();
        for (host, address) in all.into_iter().filter(|it| is_cluster && it.1 != target.address) {
            let other = Target { host: host_name(host, &address), address, ..endpoint.clone() };
            if let Some(attached) = guarded {
                guard::check_other_host(node, attached, (&other, &host_and_port(host), &settings.database))?;
            }
            other_hosts.push(other);
        }
        return Ok(AttachedEndpoint { endpoint, other_hosts, version, host: name });
    }
    let reason = Message::join(tried).unwrap_or_else(|| message!("attach-no-address"));
    Err(node_error(&node.name, message!("attempt-reach"), reason).into())
}

/// Connection strings of the servers of an attached cluster.
pub(super) fn servers(node: &Node) -> &[String] {
    match &node.kind {
        NodeKind::Attached(attached) => &attached.servers,
        _ => &[],
    }
}

/// Direct connection to a server of an attached cluster, resolved without a connection, because the server may be down.
/// `user` is the user of the load, whose commit settings are read.
pub(super) fn direct_server(dsn: &str, user: &str) -> Result<DirectServer, Message> {
    let settings = resolve_dsn(dsn).map_err(|it| Message::from(&it))?;
    let [host] = &settings.hosts[..] else { return Err(message!("source-several-hosts")) };
    let addresses = resolve_addresses(host).map_err(|it| Message::from(&it))?;
    let address = addresses.into_iter().next().ok_or_else(|| message!("attach-no-address"))?;
    Ok(DirectServer {
        name: host_and_port(host),
        target: Target { host: host_name(host, &address), address, login: Arc::new(settings.login(host)) },
        address: None,
        role: user.to_owned(),
        health: None,
    })
}

/// Logs in to a database that is only read, which needs no permission. Returns the host that accepted the login.
pub fn connect_source(dsn: &str) -> Result<Target, Message> {
    let settings = resolve_dsn(dsn).map_err(|it| Message::from(&it))?;
    let log_in = settings.connect_timeout.map_or(LOGIN_TIMEOUT, |it| Duration::from_secs(it.into()));
    // pg_dump must read the same server, so there is one host.
    let [host] = &settings.hosts[..] else { return Err(message!("source-several-hosts")) };
    let mut tried = Vec::new();
    for address in resolve_addresses(host).map_err(|it| Message::from(&it))? {
        let mut login = settings.login(host);
        login.parameters.retain(|it| it.0 != "application_name");
        login.parameters.push(("application_name".to_owned(), "pgdyno source".to_owned()));
        let target = Target::new(address, Arc::new(login));
        match target.open(log_in) {
            Ok(_) => return Ok(target),
            Err(error) => tried.push((&error).into()),
        }
    }
    Err(Message::join(tried).unwrap_or_else(|| message!("attach-no-address")))
}

/// Target of a connection string, determined without a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DsnTarget {
    /// `host:port/database`; several hosts are separated by commas.
    pub address: String,
    /// True if each host is a Unix socket, a loopback address or `localhost`. The server may still be on another
    /// machine, which pgdyno detects when it attaches the server.
    pub is_local: bool,
}

/// Reason why a connection string of the experiment file cannot be used.
#[derive(Debug)]
pub enum DsnError {
    /// The string contains a password, which would be stored with the run.
    Password,
    /// The named environment variable is not UTF-8.
    NotUnicode(String),
    Invalid(Vec<conninfo::Diagnostic>),
}

impl From<&DsnError> for Message {
    fn from(error: &DsnError) -> Message {
        match error {
            DsnError::Password => message!("dsn-password"),
            DsnError::NotUnicode(name) => message!("dsn-not-utf8", name),
            DsnError::Invalid(all) => {
                Message::join(all.iter().map(Message::from)).expect("the string is invalid")
            }
        }
    }
}

/// Returns the target of a connection string, resolved with this process's environment.
pub fn describe_dsn(dsn: &str) -> Result<DsnTarget, DsnError> {
    let settings = resolve_dsn(dsn)?;
    let near = |host: &HostSpec| match host.address.or_else(|| host.host.parse().ok()) {
        Some(ip) => ip.to_canonical().is_loopback(),
        None => host.socket().is_some() || host.host.eq_ignore_ascii_case("localhost"),
    };
    let hosts: Vec<String> = settings.hosts.iter().map(host_and_port).collect();
    let address = format!("{}/{}", hosts.join(","), settings.database);
    Ok(DsnTarget { address, is_local: settings.hosts.iter().all(near) })
}

/// Formats a host as `host:port`.
fn host_and_port(host: &HostSpec) -> String {
    match (&*host.host, host.address) {
        ("", Some(address)) => guard::join_host_port(&address.to_string(), host.port),
        (name, _) => guard::join_host_port(name, host.port),
    }
}

fn with_settled_login(target: &Target, ssl: SslMode, cancels: bool) -> Target {
    let mut login = Login::clone(&target.login);
    login.ssl = ssl;
    login.send_cancel = cancels;
    login.keep_parameters = false;
    Target { login: Arc::new(login), ..target.clone() }
}

/// Resolves a connection string with this process's environment and files. Rejects a password in it, because the
/// experiment file is stored with the run.
fn resolve_dsn(dsn: &str) -> Result<Settings, DsnError> {
    let os_user = os_user();
    let alone = Environment { env: &|_| None, read: &|_, _| None, os_user: &os_user };
    if let Ok(settings) = conninfo::resolve(Some(dsn), &[], alone)
        && settings.hosts.iter().any(|it| it.password.is_some())
    {
        return Err(DsnError::Password);
    }
    let unreadable = RefCell::new(None);
    let env = |name: &str| {
        let value = std::env::var(name);
        if matches!(value, Err(VarError::NotUnicode(_))) {
            unreadable.replace(Some(name.to_owned()));
        }
        value.ok()
    };
    let around =
        Environment { env: &env, read: &|file, path| read_unless_exposed(file, path), os_user: &os_user };
    // Mark the sessions as pgdyno's, unless the user sets `application_name`.
    let name = [("fallback_application_name", LogSession::LOAD)];
    let resolved = conninfo::resolve(Some(dsn), &name, around).map_err(DsnError::Invalid);
    match unreadable.into_inner() {
        Some(name) => Err(DsnError::NotUnicode(name)),
        None => resolved,
    }
}

/// Reads a file. Like libpq, returns `None` for a key or password file that other users may read.
fn read_unless_exposed(file: ConfigFile, path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    let forbidden = match (file, about.uid()) {
        (ConfigFile::Service | ConfigFile::Certificate, _) => 0,
        (ConfigFile::Key, 0) => 0o027,
        (ConfigFile::Key | ConfigFile::Passwords, _) => 0o077,
    };
    (about.is_file() && about.permissions().mode() & forbidden == 0).then(|| fs::read_to_string(path).ok())?
}

fn os_user() -> String {
    let uid = getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().map(|it| it.split(':').collect::<Vec<_>>());
    let named = named.into_iter().find(|it| it.get(2) == Some(&uid.as_str()));
    named.map(|it| it[0].to_owned()).or_else(|| std::env::var("USER").ok()).unwrap_or_default()
}

/// Host name of a host whose address was resolved; `None` for a socket and for a fixed address.
fn host_name(host: &HostSpec, address: &Address) -> Option<HostName> {
    let Address::Tcp(address) = address else { return None };
    let is_name = host.address.is_none() && host.host.parse::<IpAddr>().is_err();
    is_name.then(|| HostName::new(&host.host, *address))
}

fn resolve_addresses(host: &HostSpec) -> Result<Vec<Address>, std::io::Error> {
    if let Some(path) = host.socket() {
        return Ok(vec![Address::Unix(path)]);
    }
    if let Some(ip) = host.address {
        return Ok(vec![Address::Tcp(SocketAddr::new(ip, host.port))]);
    }
    Ok((host.host.as_str(), host.port).to_socket_addrs()?.map(Address::Tcp).collect())
}
