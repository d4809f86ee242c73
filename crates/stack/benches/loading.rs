//! How long do loading and restoring take, and how far is loading from a bare COPY of the same bytes?
//!
//! Against one throw-away server, each line a fresh database. `cargo bench -p stack`, with the number of tickets if
//! another than 1,000,000 is wanted.

use model::plan::{Cache, Content, Dataset};
use stack::chain::in_database;
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::{Loader, bare_copy, load};
use stack::find::Search;
use stack::restore::{Template, Warmth, Whose, cache};
use stack::supervisor::{KeeperProgram, Supervisor};
use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

static NEVER: AtomicBool = AtomicBool::new(false);
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Result<()> {
    let rows = std::env::args().find_map(|it| it.replace('_', "").parse().ok()).unwrap_or(1_000_000);
    let installation = Search::here(None, None).first().map_err(|it| it.to_string())?;
    let keeper = KeeperProgram { program: env!("CARGO_BIN_EXE_keeper").into(), arguments: Vec::new() };
    let mut supervisor = Supervisor::start(&keeper).map_err(|it| it.to_string())?;
    let mut postgres =
        Postgres::start(&mut supervisor, &installation, &Settings::default()).map_err(|it| it.to_string())?;
    println!("PostgreSQL {}; seed 42", installation.version.text);
    println!(
        "{:24} {:>7} {:>11} {:>8} {:>12} {:>12} {:>12} {:>6}",
        "", "workers", "rows", "MB", "bare rows/s", "COPY rows/s", "all rows/s", "ratio"
    );
    let contents = [
        ("tickets", Content::Tickets { rows }),
        ("profiles", Content::Profiles { users: rows / 100, per_user: 100 }),
        ("pgbench", Content::Pgbench { scale: (rows / 100_000).clamp(1, 10_000) as u32 }),
    ];
    for (name, content) in contents {
        let dataset = Dataset { seed: 42, content, cache: Cache::AsIs };
        for workers in [1, 2] {
            measure(&postgres, name, &dataset, workers)?;
        }
    }
    restoring(&mut postgres, &mut supervisor, rows)?;
    postgres.stop(&mut supervisor).map_err(|it| it.to_string())?;
    Ok(())
}

fn measure(postgres: &Postgres, name: &str, dataset: &Dataset, workers: u16) -> Result<()> {
    let superuser = postgres.target();
    let mut connection = superuser.open(PATIENCE)?;
    connection.patience(None)?;
    connection.query("create database loading")?;
    let loader = Loader { target: in_database(&superuser, "loading"), workers, again: false, stop: &NEVER };
    connection.query("checkpoint")?;
    let bare = bare_copy(dataset, &loader)?;
    connection.query("checkpoint")?;
    let loaded = load(dataset, &loader, &mut |_| {})?;
    connection.query("drop database loading with (force)")?;
    let bare_rate = bare.rows as f64 / bare.took.as_secs_f64();
    let copy_rate = loaded.rows as f64 / loaded.copying.as_secs_f64();
    println!(
        "{name:24} {workers:>7} {:>11} {:>8.0} {bare_rate:>12.0} {copy_rate:>12.0} {:>12.0} {:>6.2}",
        loaded.rows,
        loaded.bytes as f64 / 1e6,
        loaded.rows_per_second,
        copy_rate / bare_rate
    );
    Ok(())
}

/// Of tickets, three times: what comes back after an update of every tenth row.
fn restoring(postgres: &mut Postgres, supervisor: &mut Supervisor, rows: u64) -> Result<()> {
    let superuser = postgres.target();
    superuser.open(PATIENCE)?.query("create database restoring")?;
    let target = in_database(&superuser, "restoring");
    let dataset = Dataset { seed: 42, content: Content::Tickets { rows }, cache: Cache::AsIs };
    let loader = Loader { target: target.clone(), workers: 1, again: false, stop: &NEVER };
    load(&dataset, &loader, &mut |_| {})?;
    let begun = Instant::now();
    load(&dataset, &loader, &mut |_| {})?;
    println!("\nrecognised after {:.3} s", begun.elapsed().as_secs_f64());
    let template = Template::make(&superuser, "restoring", Whose::Ours)?;
    println!("template of {rows} tickets: {:?}", template.made);
    for _ in 0..3 {
        let mut connection = target.open(PATIENCE)?;
        connection.patience(None)?;
        connection.query("update book.tickets set fkSeat = fkSeat + 1 where id % 10 = 0")?;
        let restored = template.restore()?;
        println!("restored: {restored:?}");
    }
    for how in [Cache::Warm, Cache::Cold, Cache::Warm] {
        let done: Warmth = cache(how, &target, Some((&mut *postgres, &mut *supervisor)))?;
        println!("{done:?}");
    }
    Ok(())
}
