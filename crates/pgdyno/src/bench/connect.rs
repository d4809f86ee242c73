//! Which server is meant, and how is it reached?

use super::options;
use super::prepare::words;
use super::voice::Trouble;
use model::summary::{Hop, Server};
use stack::ask::{Address, Connection, Error, Target};
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wire::pg::{Login, Secret};

/// The server, and what reports call it.
#[derive(Clone, Debug)]
pub struct Place {
    pub target: Target,
    /// As libpq names it: `on socket "…"`, or `at "host" (address), port 5432`.
    pub named: String,
    pub server: Server,
}

/// How long a wait for the network may last when nothing is measured.
const PATIENCE: Duration = Duration::from_secs(30);

/// Finds the server that the options and the environment name.
pub fn resolve(
    wanted: &options::Target,
    env: &dyn Fn(&str) -> Option<String>,
    program: &str,
) -> Result<Place, Trouble> {
    let given = |option: &Option<String>, name: &str| option.clone().or_else(|| env(name));
    let user = given(&wanted.user, "PGUSER").or_else(|| env("USER")).unwrap_or_else(|| "postgres".to_owned());
    let database = given(&wanted.database, "PGDATABASE").unwrap_or_else(|| user.clone());
    let port = given(&wanted.port, "PGPORT").unwrap_or_else(|| "5432".to_owned());
    let port: u16 = port.parse().map_err(|_| {
        Trouble::new(format!("invalid port number: \"{port}\"")).hint("write a number from 1 to 65535")
    })?;
    let host = given(&wanted.host, "PGHOST").unwrap_or_else(default_host);
    let mut login = Login::new(user, database.clone());
    login.password = env("PGPASSWORD").map(Secret::new);
    login.keep_parameters = true;
    login
        .parameters
        .push(("application_name".to_owned(), env("PGAPPNAME").unwrap_or_else(|| program.to_owned())));
    login.parameters.extend(env("PGOPTIONS").map(|it| ("options".to_owned(), it)));
    let (address, named, transport) = if host.starts_with('/') {
        let path = PathBuf::from(&host).join(format!(".s.PGSQL.{port}"));
        let named = format!("on socket \"{}\"", path.display());
        (Address::Unix(path), named, Hop::UnixSocket)
    } else {
        let mut found = (host.as_str(), port).to_socket_addrs().map_err(|error| {
            Trouble::new(format!("could not translate host name \"{host}\" to address: {error}"))
        })?;
        let address = found.next().ok_or_else(|| Trouble::new(format!("host \"{host}\" has no address")))?;
        (Address::Tcp(address), format!("at \"{host}\" ({}), port {port}", address.ip()), Hop::Tcp)
    };
    let server = Server { transport, address: format!("{host}:{port}"), database, ..Server::default() };
    Ok(Place { target: Target { address, login: Arc::new(login) }, named, server })
}

/// Where a server most likely listens on this machine.
fn default_host() -> String {
    let sockets = "/var/run/postgresql";
    if Path::new(sockets).exists() { sockets.to_owned() } else { "localhost".to_owned() }
}

impl Place {
    /// Opens a connection for what is done before the run, and learns the server's version.
    pub fn open(&mut self) -> Result<Connection, Trouble> {
        let connection = self.target.open(PATIENCE).map_err(|error| {
            let what = match &error {
                Error::Net { error, .. } => error.to_string(),
                other => words(other),
            };
            Trouble::new(format!("connection to server {} failed: {what}", self.named))
        })?;
        self.server.version = connection.parameter("server_version").unwrap_or("unknown").to_owned();
        Ok(connection)
    }
}
