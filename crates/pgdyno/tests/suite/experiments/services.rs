//! Services under load during a restart of their database, with every request accounted for
//!
//! Tests all three programs in `services/`, each with an attached PostgreSQL of its own. Services that are not built
//! are skipped; `./x services` builds them, and `./x test` does so first.

use super::postgres_servers::start_server;
use super::workspace::{Workspace, retry_until};
use model::plan::{Content, Dataset};
use model::{Code, Interval};
use rustix::process::Signal;
use stack::dataset::{Loader, load};
use std::collections::BTreeMap;
use std::path::Path;
use store::{Run, TrialId};

/// Requests per second.
const RATE: u64 = 20;
/// Consecutive seconds without a failure that show a recovered service.
const HEALTHY_SECONDS: usize = 3;
/// Seconds of load within which the service must recover.
const RECOVERY_SECONDS: usize = 20;

/// Seconds stored so far.
fn seconds(workspace: &Workspace) -> Result<Vec<Interval>, String> {
    let runs = std::fs::read_dir(workspace.folder.join("runs")).map_err(|it| it.to_string())?;
    let paths = runs.flatten().map(|it| it.path());
    let path =
        paths.filter(|path| path.extension().is_some_and(|it| it == "dyno")).max().ok_or("no file yet")?;
    let run = Run::open(&path).map_err(|it| format!("{it:?}"))?;
    let ticks = run.ticks(TrialId(1)).map_err(|it| format!("{it:?}"))?;
    ticks.map(|row| row.map(|it| it.interval).map_err(|it| format!("{it:?}"))).collect()
}

fn is_well(interval: &Interval) -> bool {
    let failed = |it: &model::ScriptCounts| it.failed.total() + it.unknown.total() + it.dropped > 0;
    interval.scripts.iter().any(|it| it.ok > 0)
        && !interval.scripts.iter().any(failed)
        && interval.refused.total() == 0
}

/// Tests one service. `built` is its build output, relative to `services/`.
fn check(name: &str, (built, command, env): (&str, &str, &str), content: Content, target: &str) {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../services");
    let services = services.canonicalize().expect("the project has them");
    if !services.join(built).exists() {
        eprintln!("skipped: {name} is not built. Type:  ./x services build {name}");
        return;
    }
    let (mut supervisor, mut postgres) = start_server();
    let loader = Loader { target: postgres.target(), workers: 1, force: false };
    let dataset = Dataset::new(42, content);
    load(&dataset, &loader, &mut |_| {}).unwrap_or_else(|error| panic!("{error:?}"));

    let command = command.replace("HERE", services.to_str().expect("the path is UTF-8"));
    let yaml = format!(
        "stack:\n  service: {{ command: [{command}], env: {{ {env} }}, stats: /stats }}\n  \
         postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }}\n\
         operations: {{ ask: {{ get: \"{target}\" }} }}\n\
         load: {{ model: open, schedule: \"const({RATE}, 10m)\", max_in_flight: 50, timeout: 10s }}\n",
        postgres.port
    );
    let workspace = Workspace::new(name, &yaml);
    let mut running =
        workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", postgres.password().reveal()));
    running.await_trial(1);
    let well_since = |from: usize| {
        retry_until("the service answers", || {
            let seconds = seconds(&workspace)?;
            let well = seconds.iter().skip(from).rev().take_while(|it| is_well(it)).count();
            if well >= HEALTHY_SECONDS { Ok(()) } else { Err(format!("{well} seconds of {}", seconds.len())) }
        });
        seconds(&workspace).expect("the seconds can be read").len()
    };
    well_since(0);
    postgres.stop(&mut supervisor).unwrap_or_else(|error| panic!("{error:?}"));
    retry_until("the service fails without its database", || {
        let failing = seconds(&workspace)?.iter().any(|it| it.scripts[0].failed.total() > 0);
        if failing { Ok(()) } else { Err("no failure yet".to_owned()) }
    });
    postgres.restart(&mut supervisor).unwrap_or_else(|error| panic!("{error:?}"));
    let restarted = seconds(&workspace).expect("the seconds can be read").len();
    let well = well_since(restarted);
    assert!(
        well - HEALTHY_SECONDS - restarted <= RECOVERY_SECONDS,
        "{name} was back {} s after its database",
        well - HEALTHY_SECONDS - restarted
    );
    running.signal(Signal::INT);
    let ended = running.wait();
    ended.expect(2);

    let seconds = seconds(&workspace).expect("the run has ended");
    let (mut codes, mut begun, mut recorded) = (BTreeMap::<String, u64>::new(), 0, 0);
    for second in &seconds {
        begun += second.started;
        for cell in &second.scripts {
            recorded += cell.ok + cell.failed.total() + cell.unknown.total() + cell.dropped;
            for (code, count) in cell.failed.iter() {
                assert!(
                    matches!(code, Code::Http(500 | 503 | 504)),
                    "{name}: {count} × {code}\n{}",
                    ended.err
                );
                *codes.entry(code.to_string()).or_default() += count;
            }
            assert_eq!(cell.unknown.total(), 0, "{name} answers every request");
        }
    }
    assert!(codes.values().sum::<u64>() > 0, "{name} does without its database");
    assert_eq!(recorded, begun, "{name}: every arrival has a record: {codes:?}");
    let duration = seconds.len() as u64;
    assert!(
        ((duration - 2) * RATE..=(duration + 1) * RATE).contains(&begun),
        "{name}: {begun} in {duration} s: {:?}",
        seconds.iter().map(|it| it.started).collect::<Vec<_>>()
    );
}

#[test]
fn delivery_recovers_from_a_database_restart() {
    let target = "/offices?seller_lat=55.75&seller_lon=37.62&seller_south=55.5&seller_west=37.2&seller_north=56\
                  &seller_east=38&buyer_south=59.7&buyer_west=29.8&buyer_north=60.2&buyer_east=30.8&weight=900\
                  &height=100&length=200&width=300&cost=5000";
    let built = "delivery/target/delivery";
    let how = (built, "HERE/delivery/target/delivery", "POOL_SIZE: 3, QUERY_TIMEOUT: 2s");
    check("delivery", how, Content::Delivery { scale: 0.0005 }, target);
}

#[test]
fn book_recovers_from_a_database_restart() {
    let built = "book/target/book";
    let how = (built, "HERE/book/target/book", "POOL_SIZE: 3, QUERY_TIMEOUT: 2s");
    check("book", how, Content::Books { rows: 2_000 }, "/books/page?page=0&size=5");
}

#[test]
fn social_recovers_from_a_database_restart() {
    let built = "social/target/venv/bin/python";
    let how = (built, "HERE/social/target/venv/bin/python, -m, social", "POOL_SIZE: 3, QUERY_TIMEOUT: 2s");
    check("social", how, Content::Users { users: 1_000 }, "/user/get/7");
}
