//! Starts a temporary server, prints how to reach it, and keeps it until standard input ends.
//!
//! `cargo run -p stack --example server`; the keeper is this program itself.

use stack::component::postgres::{Postgres, Settings};
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor, keeper};
use std::error::Error;
use std::io::{Read, stdin};

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("keeper") {
        keeper::main();
        return Ok(());
    }
    let installation =
        InstallationSearch::from_environment(None, None).find_first().map_err(|it| format!("{it:?}"))?;
    let begun = std::time::Instant::now();
    let mut supervisor = Supervisor::start(&KeeperProgram::ourselves()).map_err(|it| format!("{it:?}"))?;
    let postgres = Postgres::start(&mut supervisor, &installation, &Settings::default())
        .map_err(|it| format!("{it:?}"))?;
    println!(
        "{} from {:?}, ready after {:?}",
        installation.version.text,
        installation.origin,
        begun.elapsed()
    );
    println!("directory {}, keeper {}", supervisor.directory().display(), supervisor.keeper_pid());
    let password = format!("*:*:*:postgres:{}\n", postgres.password().reveal());
    let file = supervisor.private_file("pgpass", password.as_bytes())?;
    let (host, port) = (postgres.sockets.display(), postgres.port);
    println!("PGPASSFILE={} psql 'host={host} port={port} user=postgres'", file.display());
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
