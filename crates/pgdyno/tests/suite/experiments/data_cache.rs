//! Loaded data that later runs reuse

use super::workspace::{RunOutput, Workspace};
use std::fs;
use std::path::PathBuf;

const STORED: &str = "loaded data stored in the cache";
const REUSED: &str = "data of an earlier run reused";

/// SQL with a role, an extension, a large object and an index.
const DUMP: &str = "
CREATE EXTENSION pg_trgm;
CREATE TABLE goods(id int PRIMARY KEY, name text NOT NULL);
ALTER TABLE goods OWNER TO seller;
INSERT INTO goods SELECT i, 'goods ' || i FROM generate_series(1, 3000) i;
CREATE INDEX goods_name ON goods USING gin (name gin_trgm_ops);
SELECT lo_from_bytea(4711, '\\xdeadbeef');
";

/// Experiment whose trial fails with a checksum of the data.
fn experiment(dataset: &str, checksum: &str) -> String {
    format!(
        "stack: {{ postgres: {{}} }}\n\
         operations: {{ one: {{ sql: SELECT 1 }} }}\n\
         load: {{ model: closed, clients: 1, duration: 1s }}\n\
         dataset:\n  {dataset}\n  after:\n    - \"DO $$ BEGIN RAISE EXCEPTION 'checksum %', ({checksum}); END $$\"\n"
    )
}

/// Runs the experiment with a cache in the workspace. Data are stored however fast they were loaded.
fn run(workspace: &Workspace, gigabytes: &str, arguments: &[&str]) -> RunOutput {
    let mut command = workspace.command(arguments);
    command.env("XDG_CACHE_HOME", workspace.folder.join("cache")).env("PGDYNO_DATA_CACHE_SECONDS", "0");
    workspace.spawn_command(command.env("PGDYNO_DATA_CACHE_GB", gigabytes)).wait()
}

/// Checksum in the message of the failed trial.
fn checksum(ended: &RunOutput) -> String {
    ended.expect(1);
    let (_, rest) =
        ended.err.split_once("ERROR: checksum ").unwrap_or_else(|| panic!("no checksum: {}", ended.err));
    rest.split(" (SQLSTATE").next().expect("the value").to_owned()
}

fn entries(workspace: &Workspace) -> Vec<PathBuf> {
    let cache = fs::read_dir(workspace.folder.join("cache/pgdyno/data")).into_iter().flatten().flatten();
    cache.map(|it| it.path()).collect()
}

#[test]
fn second_run_reuses_equal_data() {
    let goods = "SELECT md5(string_agg(g::text, ',' ORDER BY id)) || (SELECT tableowner FROM pg_tables \
        WHERE tablename = 'goods') || (SELECT string_agg(extname || extversion, ',' ORDER BY extname) FROM pg_extension) \
        || (SELECT count(*) FROM pg_largeobject_metadata) || (SELECT count(*) FROM goods WHERE name LIKE '%12%') \
        || pg_has_role('seller', 'member') FROM goods g";
    let tickets = "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM book.tickets t";
    let accounts = "SELECT md5(string_agg(a::text, ',' ORDER BY aid)) FROM pgbench_accounts a";
    for (name, dataset, sql) in [
        ("dump", "restore: goods.sql", goods),
        ("tickets", "name: tickets\n  rows: 2000", tickets),
        ("pgbench", "name: pgbench", accounts),
    ] {
        let workspace = Workspace::new(name, &experiment(dataset, sql));
        fs::write(workspace.folder.join("goods.sql"), DUMP).expect("the file can be written");
        let first = run(&workspace, "20", &[]);
        let expected = checksum(&first);
        assert!(first.err.contains(STORED) && !first.err.contains(REUSED), "{name}: {}", first.err);
        for _ in 0..2 {
            let again = run(&workspace, "20", &[]);
            assert_eq!(checksum(&again), expected, "{name}");
            assert!(again.err.contains(REUSED) && !again.err.contains(STORED), "{name}: {}", again.err);
        }
        let without = run(&workspace, "0", &[]);
        assert_eq!(checksum(&without), expected, "{name}");
        assert!(!without.err.contains(REUSED) && !without.err.contains(STORED), "{name}: {}", without.err);
        assert_eq!(entries(&workspace).len(), 1, "{name}");
    }
}

#[test]
fn other_data_and_settings_are_loaded_again() {
    let workspace = Workspace::new(
        "keys",
        &experiment("name: tickets\n  rows: 100", "SELECT count(*) FROM book.tickets"),
    );
    for (arguments, count, expected) in [
        (vec![], "100", STORED),
        (vec!["--set", "dataset.rows=200"], "200", STORED),
        (vec!["--set", "dataset.seed=7"], "100", STORED),
        (vec!["--set", "postgres.settings.default_toast_compression=lz4"], "100", STORED),
        (vec!["--set", "postgres.settings.work_mem=16MB"], "100", REUSED),
    ] {
        let ended = run(&workspace, "20", &arguments);
        assert_eq!(checksum(&ended), count, "{arguments:?}");
        assert!(ended.err.contains(expected), "{arguments:?}: {}", ended.err);
    }
    // An entry has about 48 MB, so a cache of 0.1 GB keeps at most two.
    let full = run(&workspace, "0.1", &["--set", "dataset.rows=300"]);
    assert!(full.err.contains(STORED) && entries(&workspace).len() <= 2, "{}", full.err);
    let refused = run(&workspace, "20GB", &[]);
    assert!(refused.err.contains("PGDYNO_DATA_CACHE_GB is 20GB"), "{}", refused.err);
}

/// Trials measure data from the cache, and a damaged entry is replaced.
#[test]
fn data_from_the_cache_can_be_measured() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
operations: { spoil: { sql: UPDATE book.tickets SET fio = fio } }
load: { model: closed, clients: 1, pacing: 500ms, duration: 1s }
repeat: 2
";
    let workspace = Workspace::new("reused", yaml);
    run(&workspace, "20", &[]).expect(0);
    let reused = run(&workspace, "20", &[]);
    reused.expect(0);
    assert!(reused.err.contains(REUSED), "{}", reused.err);
    let [entry] = <[PathBuf; 1]>::try_from(entries(&workspace)).expect("one entry");
    fs::remove_file(entry.join("data/global/pg_control")).expect("the entry contains a data directory");
    let loaded = run(&workspace, "20", &[]);
    loaded.expect(0);
    assert!(loaded.err.contains(STORED) && !loaded.err.contains(REUSED), "{}", loaded.err);
    run(&workspace, "20", &[]).expect(0);
    // A killed run leaves nothing that a later run would use. Dropping a run kills it.
    let mut command = workspace.command(&["--set", "dataset.rows=50000"]);
    command.env("XDG_CACHE_HOME", workspace.folder.join("cache")).env("PGDYNO_DATA_CACHE_SECONDS", "0");
    let running = workspace.spawn_command(&mut command);
    // Without its lock file, an entry counts as abandoned only after an hour.
    super::workspace::retry_until("an entry is made", || {
        let locked = entries(&workspace).iter().filter(|entry| entry.join("lock").exists()).count();
        if locked < 2 { Err("no second entry yet".to_owned()) } else { Ok(()) }
    });
    drop(running);
    run(&workspace, "20", &["--set", "dataset.rows=50000"]).expect(0);
    let temporary = |it: &PathBuf| it.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    assert!(!entries(&workspace).iter().any(temporary), "{:?}", entries(&workspace));
}
