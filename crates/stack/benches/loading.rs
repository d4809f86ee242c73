//! Measures how long loading and restoring take, compared with a bare COPY of the same bytes.
//!
//! Runs against one temporary server; each measurement uses a fresh database. Prints medians of three rounds, in which
//! bare COPY and loading alternate. `cargo bench -p stack -- 10_000_000 tickets` sets the number of rows and the
//! contents.

use model::plan::{CacheState, Content, Dataset};
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::{Loader, bare_copy, load};
use stack::find::InstallationSearch;
use stack::restore::{CachePreparation, ServerOwnership, Template, prepare_cache};
use stack::supervisor::{KeeperProgram, Supervisor};
use std::error::Error;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TIMEOUT: Duration = Duration::from_secs(30);
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let rows = std::env::args().find_map(|it| it.replace('_', "").parse().ok()).unwrap_or(1_000_000);
    let installation =
        InstallationSearch::from_environment(None, None).find_first().map_err(|it| format!("{it:?}"))?;
    let keeper = KeeperProgram { program: env!("CARGO_BIN_EXE_keeper").into(), arguments: Vec::new() };
    let mut supervisor = Supervisor::start(&keeper).map_err(|it| format!("{it:?}"))?;
    let mut postgres = Postgres::start(&mut supervisor, &installation, &Settings::default())
        .map_err(|it| format!("{it:?}"))?;
    println!("PostgreSQL {}; seed 42", installation.version.text);
    println!(
        "{:10} {:>7} {:>11} {:>8} {:>12} {:>12} {:>12} {:>6}",
        "", "workers", "rows", "MB", "bare rows/s", "COPY rows/s", "all rows/s", "ratio"
    );
    let contents = [
        ("tickets", Content::Tickets { rows }),
        ("profiles", Content::Profiles { users: rows / 100, per_user: 100 }),
        ("pgbench", Content::Pgbench { scale: (rows / 100_000).clamp(1, 10_000) as u32 }),
        ("books", Content::Books { rows }),
        ("users", Content::Users { users: rows }),
        // A million rows is the default scale of an experiment; for delivery: 4,000,000 receivers, 400,000 senders.
        ("delivery", Content::Delivery { scale: rows as f64 / 40e6 }),
    ];
    let names: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| names.iter().any(|it| it == name);
    let all = !contents.iter().any(|(name, _)| named(name));
    for (name, content) in contents.into_iter().filter(|(name, _)| all || named(name)) {
        let dataset = Dataset::new(42, content);
        for workers in [1, 2] {
            measure(&postgres, name, &dataset, workers)?;
        }
    }
    restoring(&mut postgres, &mut supervisor, rows)?;
    postgres.stop(&mut supervisor).map_err(|it| format!("{it:?}"))?;
    Ok(())
}

fn measure(postgres: &Postgres, name: &str, dataset: &Dataset, workers: u16) -> Result<()> {
    let superuser = postgres.target();
    let mut connection = superuser.open(TIMEOUT).map_err(|it| format!("{it:?}"))?;
    connection.set_timeout(None);
    let loader = Loader { target: superuser.in_database("loading"), workers, force: false };
    let (mut bare, mut copying, mut all, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS {
        // The second load reuses files of the write-ahead log, so the order alternates.
        for first in [round % 2 == 0, round % 2 != 0] {
            connection.query("create database loading").map_err(|it| format!("{it:?}"))?;
            connection.query("checkpoint").map_err(|it| format!("{it:?}"))?;
            if first {
                let copied = bare_copy(dataset, &loader).map_err(|it| format!("{it:?}"))?;
                bare.push(copied.rows as f64 / copied.took.as_secs_f64());
            } else {
                let loaded = load(dataset, &loader, &mut |_| {}).map_err(|it| format!("{it:?}"))?;
                copying.push(loaded.rows as f64 / loaded.copy_duration.as_secs_f64());
                all.push(loaded.rows_per_second);
                bytes = loaded.bytes;
            }
            connection.query("drop database loading with (force)").map_err(|it| format!("{it:?}"))?;
        }
    }
    let rows =
        stack::dataset::total_rows(&dataset.content).expect("the rows of a generated dataset are counted");
    let (bare, copying, all) = (median(bare), median(copying), median(all));
    println!(
        "{name:10} {workers:>7} {rows:>11} {:>8.0} {bare:>12.0} {copying:>12.0} {all:>12.0} {:>6.2}",
        bytes as f64 / 1e6,
        copying / bare
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Durations of three restores of `tickets` after an update of every tenth row.
fn restoring(postgres: &mut Postgres, supervisor: &mut Supervisor, rows: u64) -> Result<()> {
    let superuser = postgres.target();
    superuser
        .open(TIMEOUT)
        .and_then(|mut it| it.query("create database restoring"))
        .map_err(|it| format!("{it:?}"))?;
    let target = superuser.in_database("restoring");
    let dataset = Dataset::new(42, Content::Tickets { rows });
    let loader = Loader { target: target.clone(), workers: 1, force: false };
    load(&dataset, &loader, &mut |_| {}).map_err(|it| format!("{it:?}"))?;
    let begun = Instant::now();
    load(&dataset, &loader, &mut |_| {}).map_err(|it| format!("{it:?}"))?;
    println!("\nrecognised after {:.3} s", begun.elapsed().as_secs_f64());
    let template =
        Template::create(&superuser, "restoring", ServerOwnership::Ours).map_err(|it| format!("{it:?}"))?;
    println!("template of {rows} tickets: {:?}", template.creation);
    for _ in 0..3 {
        let mut connection = target.open(TIMEOUT).map_err(|it| format!("{it:?}"))?;
        connection.set_timeout(None);
        connection
            .query("update book.tickets set fkSeat = fkSeat + 1 where id % 10 = 0")
            .map_err(|it| format!("{it:?}"))?;
        let restored = template.restore().map_err(|it| format!("{it:?}"))?;
        println!("restored: {restored:?}");
    }
    for state in [CacheState::Warm, CacheState::Cold, CacheState::Warm] {
        let done: CachePreparation = prepare_cache(state, &target, Some((&mut *postgres, &mut *supervisor)))
            .map_err(|it| format!("{it:?}"))?;
        println!("{done:?}");
    }
    Ok(())
}
