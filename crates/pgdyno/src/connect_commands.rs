//! Shell commands that connect to a node

use model::plan::NodeKind;
use model::product::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stack::chain::RunningNode;
use stack::client::{Address, Target};
use std::path::Path;
use wire::pg::SslMode;

/// A shell command that connects to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectCommand {
    #[serde(alias = "whose")]
    pub role: ConnectRole,
    pub command: String,
}

/// Role of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectRole {
    /// User and database of the operations.
    Application,
    Superuser,
    /// Console of a pooler.
    Console,
    /// Statistics socket of a balancer.
    Statistics,
}

/// All commands for a node. They refer to the file `passwords` and contain no passwords themselves. `root` is the root
/// certificate that verifies TLS connections.
pub fn for_node(node: &RunningNode, passwords: &Path, root: &Path) -> Vec<ConnectCommand> {
    let connect = |role, command| ConnectCommand { role, command };
    if let NodeKind::Attached(attached) = &node.plan.kind {
        // For an attached node, the user supplied the address and knows the password.
        let admin = match attached.product.role {
            Role::Server => ConnectRole::Superuser,
            _ => ConnectRole::Console,
        };
        let application = connect(ConnectRole::Application, format!("psql {}", shell_quote(&attached.dsn)));
        let admin = attached.admin.as_ref().map(|dsn| connect(admin, format!("psql {}", shell_quote(dsn))));
        return [application].into_iter().chain(admin).collect();
    }
    if let NodeKind::Service(_) = node.plan.kind {
        return vec![connect(ConnectRole::Application, curl(&node.endpoint.address))];
    }
    let psql = |target: &Target| {
        format!(
            "PGPASSFILE={} psql {}",
            shell_quote(&passwords.display().to_string()),
            shell_quote(&conninfo(target, root))
        )
    };
    let admin = match node.plan.kind {
        NodeKind::Postgres(_) => ConnectRole::Superuser,
        _ => ConnectRole::Console,
    };
    let mut all = vec![connect(ConnectRole::Application, psql(&node.endpoint))];
    all.extend(node.admin.as_ref().map(|target| connect(admin, psql(target))));
    all.extend(node.statistics.as_ref().map(|path| {
        let socket = shell_quote(&format!("unix-connect:{}", path.display()));
        connect(ConnectRole::Statistics, format!("echo 'show stat' | socat stdio {socket}"))
    }));
    all
}

/// Command that requests the root page of a service.
fn curl(address: &Address) -> String {
    match address {
        Address::Tcp(address) => format!("curl http://{address}/"),
        Address::Unix(path) => {
            format!("curl --unix-socket {} http://localhost/", shell_quote(&path.display().to_string()))
        }
    }
}

/// Contents of a password file for these nodes.
pub fn pgpass_file(nodes: &[RunningNode]) -> String {
    let started = nodes.iter().filter(|it| !it.is_attached());
    let targets = started.flat_map(|it| [Some(&it.endpoint), it.admin.as_ref()]).flatten();
    targets.filter_map(pgpass_line).collect()
}

/// Line `host:port:database:user:password`; `None` without a password. Source: PostgreSQL's manual, "The Password
/// File".
fn pgpass_line(target: &Target) -> Option<String> {
    let (host, port) = host_and_port(&target.address);
    let login = &target.login;
    let fields = [&host, &port, &login.database, &login.user, login.password.as_ref()?.reveal()]
        .map(|it| it.replace('\\', "\\\\").replace(':', "\\:"));
    Some(fields.join(":") + "\n")
}

/// Conninfo string with the target's address, database and user.
pub fn address(target: &Target) -> String {
    join_words(&address_words(target))
}

fn address_words(target: &Target) -> Vec<(&'static str, String)> {
    let (host, port) = host_and_port(&target.address);
    let login = &target.login;
    vec![("host", host), ("port", port), ("dbname", login.database.clone()), ("user", login.user.clone())]
}

fn conninfo(target: &Target, root: &Path) -> String {
    let login = &target.login;
    let mut words = address_words(target);
    match (&target.address, login.ssl) {
        (Address::Unix(_), _) => {}
        (Address::Tcp(_), SslMode::Disable) => words.push(("sslmode", "disable".to_owned())),
        (Address::Tcp(_), _) => {
            words.push(("sslmode", "verify-full".to_owned()));
            words.push(("sslrootcert", root.display().to_string()));
        }
    }
    join_words(&words)
}

fn join_words(words: &[(&str, String)]) -> String {
    let words: Vec<String> =
        words.iter().map(|(name, it)| format!("{name}={}", conninfo_value(it))).collect();
    words.join(" ")
}

/// Host and port in libpq's form, in which the host of a Unix socket is its directory.
fn host_and_port(address: &Address) -> (String, String) {
    match address {
        Address::Tcp(it) => (it.ip().to_string(), it.port().to_string()),
        Address::Unix(path) => {
            let directory = path.parent().map(|it| it.display().to_string()).unwrap_or_default();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (directory, name.rsplit('.').next().unwrap_or_default().to_owned())
        }
    }
}

/// Value quoted for a conninfo string.
fn conninfo_value(value: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && c != '\'' && c != '\\';
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Word quoted for a shell.
pub fn shell_quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use wire::pg::{Login, Secret};

    fn target(address: Address, user: &str, database: &str, ssl: SslMode) -> Target {
        let mut login = Login::new(user, database);
        login.password = Some(Secret::new("a:b\\c"));
        login.ssl = ssl;
        Target::new(address, Arc::new(login))
    }

    #[test]
    fn builds_connect_commands() {
        let unix = || Address::Unix("/run/x/.s.PGSQL.6432".into());
        let tcp = || Address::Tcp(([127, 0, 0, 1], 5433).into());
        let check = |target: &Target, connect: &str, line: &str| {
            assert_eq!(conninfo(target, Path::new("/run/x/root.pem")), connect);
            assert_eq!(pgpass_line(target).as_deref(), Some(line));
        };
        check(
            &target(unix(), "app", "app", SslMode::Disable),
            "host=/run/x port=6432 dbname=app user=app",
            "/run/x:6432:app:app:a\\:b\\\\c\n",
        );
        check(
            &target(tcp(), "o'neil", "my db", SslMode::Disable),
            "host=127.0.0.1 port=5433 dbname='my db' user='o\\'neil' sslmode=disable",
            "127.0.0.1:5433:my db:o'neil:a\\:b\\\\c\n",
        );
        check(
            &target(tcp(), "app", "app", SslMode::VerifyFull),
            "host=127.0.0.1 port=5433 dbname=app user=app sslmode=verify-full sslrootcert=/run/x/root.pem",
            "127.0.0.1:5433:app:app:a\\:b\\\\c\n",
        );
    }

    #[test]
    fn services_are_requested_with_curl() {
        assert_eq!(curl(&Address::Tcp(([127, 0, 0, 1], 8080).into())), "curl http://127.0.0.1:8080/");
        assert_eq!(
            curl(&Address::Unix("/run/my service.sock".into())),
            "curl --unix-socket '/run/my service.sock' http://localhost/"
        );
    }

    #[test]
    fn quotes_shell_words() {
        let check = |it: &str, expected: &str| assert_eq!(shell_quote(it), expected);
        check("/var/tmp/pgdyno-1/pgpass", "/var/tmp/pgdyno-1/pgpass");
        check("host=/run user=app", "'host=/run user=app'");
        check("o'neil", "'o'\\''neil'");
        check("", "''");
    }
}
