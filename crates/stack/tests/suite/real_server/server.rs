//! Server that the tests share

use stack::client::{Connection, Target};
use stack::component::postgres::{Postgres, Settings};
use stack::find::{Installation, InstallationSearch};
use stack::supervisor::{KeeperProgram, Supervisor};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Timeout of all queries in these tests.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

static SERVER: OnceLock<(Mutex<Supervisor>, Postgres)> = OnceLock::new();

pub fn installation() -> Installation {
    InstallationSearch::from_environment(None, None)
        .find_first()
        .unwrap_or_else(|it| panic!("these tests need a PostgreSQL server: {it:?}"))
}

pub fn keeper() -> KeeperProgram {
    KeeperProgram { program: env!("CARGO_BIN_EXE_keeper").into(), arguments: Vec::new() }
}

/// Returns the shared server; it ends with the process.
pub fn server() -> &'static Postgres {
    let start = || {
        let mut supervisor = Supervisor::start(&keeper()).unwrap_or_else(|it| panic!("{it:?}"));
        let postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default());
        (Mutex::new(supervisor), postgres.unwrap_or_else(|it| panic!("{it:?}")))
    };
    &SERVER.get_or_init(start).1
}

/// Opens a session in a new, empty database; returns it with the database's name.
pub fn fresh_database() -> (Connection, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("fresh{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let mut connection = server().target().open(TEST_TIMEOUT).unwrap();
    connection.query(&format!("create database {name}")).unwrap();
    (in_database(&name).open(TEST_TIMEOUT).unwrap(), name)
}

pub fn in_database(name: &str) -> Target {
    server().target().in_database(name)
}
