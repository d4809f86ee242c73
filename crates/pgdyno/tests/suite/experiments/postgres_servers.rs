//! PostgreSQL servers of a test, to which experiments attach

use super::workspace::PGDYNO;
use stack::component::postgres::{Postgres, Settings};
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::path::PathBuf;

/// Starts one server, which ends with its supervisor.
pub fn start_server() -> (Supervisor, Postgres) {
    let (supervisor, [postgres]) = start_servers(["postgres"]);
    (supervisor, postgres)
}

/// Starts one server with these lines of its configuration file.
pub fn start_server_with(lines: &[(&str, &str)]) -> (Supervisor, Postgres) {
    let (supervisor, [postgres]) = start_servers_with(["postgres"], lines);
    (supervisor, postgres)
}

/// Starts servers with these names, which end with their supervisor.
pub fn start_servers<const N: usize>(names: [&str; N]) -> (Supervisor, [Postgres; N]) {
    start_servers_with(names, &[])
}

fn start_servers_with<const N: usize>(
    names: [&str; N],
    lines: &[(&str, &str)],
) -> (Supervisor, [Postgres; N]) {
    let installation = InstallationSearch::from_environment(None, None)
        .find_first()
        .unwrap_or_else(|none| panic!("{none:?}"));
    let keeper = KeeperProgram { program: PathBuf::from(PGDYNO), arguments: vec!["keeper"] };
    let mut supervisor = Supervisor::start(&keeper).unwrap_or_else(|error| panic!("{error:?}"));
    let servers = names.map(|name| {
        let extra_lines = lines.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let settings = Settings { name: name.to_owned(), extra_lines, ..Settings::default() };
        Postgres::start(&mut supervisor, &installation, &settings).unwrap_or_else(|error| panic!("{error:?}"))
    });
    (supervisor, servers)
}
