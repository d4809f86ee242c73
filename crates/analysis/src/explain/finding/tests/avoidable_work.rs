//! Rules on work of PostgreSQL that could be avoided: 1000 transactions per second, a quota of one CPU

use super::*;

fn evidence(text: &str) -> String {
    format!("Bound {{ cell: 0, bound: AvoidableWork {{ evidence: {text} }} }}")
}

/// A run whose server is sampled; `cpu` is its CPU time per second.
fn sampled(cpu: f64) -> TestRun {
    run().counter("postgres", "pg_commits", "app", 1000.0).counter("postgres", "cgroup_cpu", "", cpu)
}

fn text(run: TestRun) -> TestRun {
    run.gauge("postgres", "pg_statement_text", "7 SELECT sort", 1.0)
}

#[test]
fn reports_temporary_files() {
    let spilled = |files: f64, bytes: f64| {
        let run = sampled(0.5).counter("postgres", "pg_temp_files", "app", files);
        run.counter("postgres", "pg_temp_bytes", "app", bytes)
    };
    let found = evidence(
        "TemporaryFiles { files_per_transaction: 0.5, bytes_per_transaction: 2000000.0, bytes_per_file: 4000000.0, \
         statement: None }",
    );
    check(&["direct"], &[spilled(500.0, 2e9)], &[&found]);
    let named = found.replace("statement: None", "statement: Some(\"SELECT sort\")");
    let by_statement = |run: TestRun| {
        let run = run.counter("postgres", "pg_statement_temporary", "7", 9e5);
        text(run.counter("postgres", "pg_statement_temporary", "8", 10.0))
    };
    check(&["direct"], &[by_statement(spilled(500.0, 2e9))], &[&named]);
    // Rare files, and small ones.
    check(&["direct"], &[spilled(50.0, 2e9)], &[]);
    check(&["direct"], &[spilled(500.0, 2e8)], &[]);
}

#[test]
fn reports_compilation_and_planning() {
    let compiled = |cpu: f64, jit: f64| text(sampled(cpu).counter("postgres", "pg_statement_jit", "7", jit));
    let found = evidence("Jit { share: 0.4, statement: Some(\"SELECT sort\") }");
    check(&["unix"], &[compiled(0.75, 0.3)], &[&found]);
    check(&["unix"], &[compiled(0.75, 0.14)], &[]);
    // Without the CPU time, the share is of the time of statements.
    let hosted = |jit: f64| {
        let run = run().counter("postgres", "pg_commits", "app", 1000.0);
        text(
            run.counter("postgres", "pg_statement_jit", "7", jit)
                .counter("postgres", "pg_statement_time", "7", 0.5)
                .counter("postgres", "pg_statement_time", "", 0.9),
        )
    };
    check(&["unix"], &[hosted(0.2)], &[&found]);
    check(&["unix"], &[hosted(0.09)], &[]);
    // Sessions compete for the CPU: three seconds of statements in each second, half a second of them compiling.
    let contended = compiled(0.85, 0.5).counter("postgres", "pg_statement_time", "7", 3.0);
    check(&["unix"], &[contended], &[]);
    let planned = |planning: f64| {
        let run = sampled(0.5).counter("postgres", "pg_statement_planning", "7", planning);
        text(run.counter("postgres", "pg_statement_plans", "7", 1000.0))
    };
    let found = evidence("Planning { share: 0.6, mean: 0.0003, statement: Some(\"SELECT sort\") }");
    check(&["unix"], &[planned(0.3)], &[&found]);
    // Only the first statements of each session take long to plan.
    let first = sampled(0.5).ramp("postgres", "pg_statement_planning", |second| second.min(3) as f64);
    check(&["unix"], &[first.counter("postgres", "pg_statement_plans", "", 1000.0)], &[]);
    // The planning of trivial statements takes longer than their execution, but not most of the CPU time.
    check(&["unix"], &[planned(0.02)], &[]);
}

#[test]
fn reports_logins() {
    let begun = |rate: f64| sampled(0.8).counter("postgres", "pg_sessions_begun", "app", rate);
    let mut reconnecting = experiment(&["unix"], None);
    reconnecting.cells[0].setup.load.reconnect = true;
    let found = |each: &str, rate: &str| {
        evidence(&format!("Logins {{ per_second: {rate}, per_transaction: {each}, mean: None }}"))
    };
    check_in(&reconnecting, &[begun(1000.0)], &[&found("1.0", "1000.0")]);
    check_in(&reconnecting, &[begun(90.0)], &[]);
    // The server's CPU is idle at times.
    reconnecting.cells[0].setup.stack.nodes[0].limits.cpu = Some(1.1);
    check_in(&reconnecting, &[begun(1000.0)], &[]);
}

#[test]
fn reports_dead_rows_and_old_statistics() {
    let table = |run: TestRun, live: f64, dead: f64, changed: f64| {
        run.gauge("postgres", "pg_table_live_rows", "public.queue", live)
            .gauge("postgres", "pg_table_dead_rows", "public.queue", dead)
            .gauge("postgres", "pg_table_changed_rows", "public.queue", changed)
            .gauge("postgres", "pg_table_bytes", "public.queue", 1.5e6)
    };
    let unread = |blocks: f64| {
        let run = sampled(0.5).counter("postgres", "pg_blocks_hit", "app", 1000.0 * blocks);
        run.counter("postgres", "pg_blocks_read", "app", 0.0)
    };
    let reading =
        |blocks: f64| unread(blocks).counter("postgres", "pg_table_index_rows", "public.queue", 1.0);
    let dead = evidence(
        "DeadRows { table: \"public.queue\", live_rows: 600.0, dead_rows: 19400.0, bytes: Some(1500000.0) }",
    );
    check(&["unix"], &[table(reading(180.0), 600.0, 19_400.0, 0.0)], &[&dead]);
    // Sessions wait for something else.
    let waiting = |working: f64, event: &str| {
        let run = table(reading(180.0), 600.0, 19_400.0, 0.0);
        let run = run.gauge("postgres", "pg_active_waits", event, 10.0 - working);
        run.gauge("postgres", "pg_active_waits", "running", working)
    };
    check(&["unix"], &[waiting(4.0, "Lock/advisory")], &[&dead]);
    check(&["unix"], &[waiting(3.0, "Lock/advisory")], &[]);
    check(&["unix"], &[waiting(3.0, "LWLock/WALInsert")], &[]);
    // Sessions hold a lightweight lock only while they work.
    check(&["unix"], &[waiting(3.0, "LWLock/LockManager")], &[&dead]);
    // No statement reads the table, or statements only insert into it.
    check(&["unix"], &[table(unread(180.0), 600.0, 19_400.0, 0.0)], &[]);
    let inserted = unread(180.0).counter("postgres", "pg_table_index_rows", "public.queue", 0.0);
    check(&["unix"], &[table(inserted, 600.0, 19_400.0, 0.0)], &[]);
    let scanned = unread(180.0).counter("postgres", "pg_table_scans", "public.queue", 1000.0);
    let scanned = scanned.counter("postgres", "pg_table_scanned_rows", "public.queue", 6e5);
    check(&["unix"], &[table(scanned, 600.0, 19_400.0, 0.0)], &[&dead]);
    // Few blocks are read, or most rows live.
    check(&["unix"], &[table(reading(10.0), 600.0, 19_400.0, 0.0)], &[]);
    check(&["unix"], &[table(reading(180.0), 20_000.0, 19_400.0, 0.0)], &[]);
    let old =
        evidence("OldStatistics { table: \"public.queue\", live_rows: 40000.0, changed_rows: 39817.0 }");
    let changed = |second, rows| {
        let run = reading(180.0).sample(second, "postgres", "pg_table_live_rows", "public.queue", 40_000.0);
        run.sample(second, "postgres", "pg_table_changed_rows", "public.queue", rows)
    };
    check(&["unix"], &[changed(0, 39_817.0)], &[&old]);
    check(&["unix"], &[changed(0, 400.0)], &[]);
    // The trial itself changed the rows. Statistics of a table may first be read after its first changes.
    check(&["unix"], &[changed(9, 39_817.0)], &[]);
    let grown = changed(0, 400.0).sample(9, "postgres", "pg_table_changed_rows", "public.queue", 39_817.0);
    check(&["unix"], &[grown], &[]);
}

#[test]
fn reports_old_snapshots() {
    let held = |age: f64, growth: f64| {
        let run = sampled(0.5).gauge("postgres", "pg_oldest_snapshot", "", age);
        run.ramp("postgres", "pg_dead_rows", |second| 500.0 + growth * second as f64)
    };
    let found = evidence("OldSnapshot { age: 30.0, first_dead_rows: 1500.0, last_dead_rows: 10500.0 }");
    check(&["unix"], &[held(30.0, 1_000.0)], &[&found]);
    check(&["unix"], &[held(2.0, 1_000.0)], &[]);
    check(&["unix"], &[held(30.0, 20.0)], &[]);
}

#[test]
fn reports_clients_that_read_slowly() {
    let writing = |share: f64| {
        let run = sessions(sampled(0.5), 4.0, 0.0, 0.0);
        run.gauge("postgres", "pg_active_waits", "Client/ClientWrite", 4.0 * share).gauge(
            "postgres",
            "pg_active_waits",
            "running",
            4.0 * (1.0 - share),
        )
    };
    let found = "Bound { cell: 0, bound: ResultReading { share: 0.75, active: 4.0 } }";
    check(&["unix"], &[writing(0.75)], &[found]);
    check(&["unix"], &[writing(0.25)], &[]);
}

#[test]
fn reports_delayed_acknowledgements() {
    let slow = |millis: u64, active: f64| {
        sessions(sampled(0.1), active, 0.0, 1.0).answered(crate::fixture::millis(10_000, millis))
    };
    let answered =
        |millis: u64, server: f64| slow(millis, 1.0).counter("postgres", "pg_statement_time", "", server);
    let found = |run: TestRun, word: &str| {
        let experiment = experiment(&[word], None);
        let facts = [run.facts(&experiment)];
        let all = findings(&experiment, &facts);
        let mut bounds = all.iter().filter_map(|finding| match finding {
            Finding::Bound { bound, .. } => Some(bound),
            _ => None,
        });
        bounds.any(|it| matches!(it, model::finding::Bound::DelayedAcknowledgements { .. }))
    };
    assert!(found(answered(41, 2.0), "direct"));
    // A Unix socket, a slow server, and other times.
    assert!(!found(answered(41, 2.0), "unix"));
    assert!(!found(answered(41, 40.0), "direct"));
    assert!(!found(answered(52, 2.0), "direct"));
    // Without times of statements, the number of active sessions decides.
    assert!(found(slow(41, 2.0), "direct"));
    assert!(!found(slow(41, 40.0), "direct"));
}

#[test]
fn reports_rows_that_index_scans_read() {
    let read = |rows: f64, returned: f64| {
        let run = sampled(0.8).counter("postgres", "pg_table_index_rows", "crm.tasks", 1000.0 * rows);
        let run = run.counter("postgres", "pg_table_index_rows", "crm.customers", 1000.0);
        run.counter("postgres", "pg_statement_rows", "", 1000.0 * returned)
    };
    let found = evidence(
        "DiscardedRows { table: \"crm.tasks\", read_per_transaction: 20000.0, returned_per_transaction: 1.0 }",
    );
    check(&["unix"], &[read(20_000.0, 1.0)], &[&found]);
    // Few rows are read, many are returned, or the CPUs are idle at times.
    check(&["unix"], &[read(1_500.0, 1.0)], &[]);
    // Fewer rows take much of the CPU time too, if transactions are frequent.
    let frequent = evidence(
        "DiscardedRows { table: \"crm.tasks\", read_per_transaction: 2000.0, returned_per_transaction: 1.0 }",
    );
    check(&["unix"], &[read(2_000.0, 1.0)], &[&frequent]);
    check_in(&with_quota(2.0), &[read(20_000.0, 1.0)], &[]);
    check(&["unix"], &[read(20_000.0, 500.0)], &[]);
    let grown = |growth: f64| read(20_000.0, 1.0).gauge("postgres", "pg_table_growth", "crm.tasks", growth);
    let old = evidence(
        "GrownTable { table: \"crm.tasks\", growth: 2.5, read_per_transaction: 20000.0, returned_per_transaction: 1.0 }",
    );
    check(&["unix"], &[grown(2.5)], &[&old]);
    check(&["unix"], &[grown(1.2)], &[&found]);
    // Another table has grown.
    let other = read(20_000.0, 1.0).gauge("postgres", "pg_table_growth", "crm.customers", 2.5);
    check(&["unix"], &[other], &[&found]);
}

#[test]
fn reports_rows_that_offset_skips() {
    let read = |statement: &str| {
        let run = sampled(0.8).counter("postgres", "pg_table_index_rows", "news.articles", 6_000_000.0);
        let run = run.counter("postgres", "pg_statement_rows", "", 10_000.0);
        let run = run.counter("postgres", "pg_statement_time", "7", 0.6);
        run.gauge("postgres", "pg_statement_text", &format!("7 {statement}"), 1.0)
    };
    let skipped = |statement: &str| {
        evidence(&format!(
            "SkippedRows {{ table: \"news.articles\", read_per_transaction: 6000.0, returned_per_transaction: 10.0, \
             statement: \"{statement}\" }}"
        ))
    };
    let paged = "SELECT * FROM news.articles ORDER BY at OFFSET $1 LIMIT $2";
    check(&["unix"], &[read(paged)], &[&skipped(paged)]);
    let discarded = evidence(
        "DiscardedRows { table: \"news.articles\", read_per_transaction: 6000.0, returned_per_transaction: 10.0 }",
    );
    check(&["unix"], &[read("SELECT row_offset FROM news.articles")], &[&discarded]);
}

#[test]
fn reports_foreign_keys_without_an_index() {
    let deleted = |deletes: f64, scans: f64, table: &str| {
        let run = sampled(0.5).counter("postgres", "pg_foreign_key_deletes", "shop.items (cart_id)", deletes);
        let run = run.counter("postgres", "pg_foreign_key_deletes", "shop.logs (cart_id)", deletes);
        let run = run.counter("postgres", "pg_statement_rows", "", 1e6);
        let run = run.counter("postgres", "pg_table_scans", table, scans);
        run.counter("postgres", "pg_table_scanned_rows", table, 30_000.0 * scans)
    };
    let found = evidence(
        "UnindexedForeignKey { table: \"shop.items\", columns: \"cart_id\", deletes_per_transaction: 0.25, \
         read_per_transaction: 7500.0 }",
    );
    check(&["unix"], &[deleted(250.0, 250.0, "shop.items")], &[&found]);
    // The scans have another reason, are rare, or read another table.
    check(&["unix"], &[deleted(250.0, 100.0, "shop.items")], &[]);
    check(&["unix"], &[deleted(100.0, 100.0, "shop.items")], &[]);
    check(&["unix"], &[deleted(0.0, 250.0, "shop.items")], &[]);
    check(&["unix"], &[deleted(250.0, 250.0, "shop.carts")], &[]);
}

#[test]
fn reports_repeated_statements() {
    let repeated = |calls: f64, time: f64, blocks: f64| {
        let run = sampled(0.8).counter("postgres", "pg_statement_calls", "7", calls);
        let run = run.counter("postgres", "pg_statement_time", "7", time);
        let run = run.counter("postgres", "pg_statement_time", "8", 0.1);
        let run = run.counter("postgres", "pg_statement_time", "", 0.8);
        let run = run.counter("postgres", "pg_statement_hit", "7", blocks * calls);
        text(run.counter("postgres", "pg_statement_read", "7", 0.0))
    };
    let found = evidence(
        "RepeatedStatement { calls_per_transaction: 40.0, share: 0.75, statements: 1, statement: \"SELECT sort\" }",
    );
    check_in(&with_quota(1.0), &[repeated(40_000.0, 0.6, 3.0)], &[&found]);
    // It is executed rarely, takes little of the time, or reads much by itself; or the CPUs are idle at times.
    check_in(&with_quota(1.0), &[repeated(2_000.0, 0.6, 3.0)], &[]);
    check_in(&with_quota(1.0), &[repeated(40_000.0, 0.3, 3.0)], &[]);
    check_in(&with_quota(1.0), &[repeated(40_000.0, 0.6, 90.0)], &[]);
    check_in(&with_quota(2.0), &[repeated(40_000.0, 0.6, 3.0)], &[]);
    // Two statements, each of which takes less than half of the time.
    let second = |calls: f64| {
        let run = repeated(40_000.0, 0.3, 3.0).counter("postgres", "pg_statement_calls", "9", calls);
        let run = run.counter("postgres", "pg_statement_time", "9", 0.2);
        let run = run.counter("postgres", "pg_statement_hit", "9", 2.0 * calls);
        run.counter("postgres", "pg_statement_read", "9", 0.0)
    };
    let both = found.replace("40.0, share: 0.75, statements: 1", "70.0, share: 0.625, statements: 2");
    check_in(&with_quota(1.0), &[second(30_000.0)], &[&both]);
    check_in(&with_quota(1.0), &[second(2_000.0)], &[]);
}

#[test]
fn reports_empty_pages() {
    let scanned = |bytes: f64, needed: f64, blocks: f64| {
        let run = sampled(0.8).counter("postgres", "pg_table_scans", "parking.stays", 750.0);
        let run = run.counter("postgres", "pg_table_scanned_rows", "parking.stays", 3e5);
        let run = run.gauge("postgres", "pg_table_scanned_bytes", "parking.stays", bytes);
        let run = run.gauge("postgres", "pg_table_row_bytes", "parking.stays", needed);
        let run = run.counter("postgres", "pg_blocks_hit", "app", 1000.0 * blocks);
        run.counter("postgres", "pg_blocks_read", "app", 0.0)
    };
    let found = evidence(
        "EmptyPages { table: \"parking.stays\", bytes: 8192000.0, row_bytes: 81000.0, scans_per_transaction: 0.75 }",
    );
    // 1000 pages, read by three of four transactions.
    check_in(&with_quota(1.0), &[scanned(8_192_000.0, 81_000.0, 760.0)], &[&found]);
    // The rows need half of the space, the scans end early, other tables are read more, or the CPUs are idle at times.
    check_in(&with_quota(1.0), &[scanned(8_192_000.0, 4e6, 760.0)], &[]);
    check_in(&with_quota(1.0), &[scanned(8_192_000.0, 81_000.0, 60.0)], &[]);
    check_in(&with_quota(1.0), &[scanned(8_192_000.0, 81_000.0, 5000.0)], &[]);
    check_in(&with_quota(2.0), &[scanned(8_192_000.0, 81_000.0, 760.0)], &[]);
    // Small tables.
    check_in(&with_quota(1.0), &[scanned(81_920.0, 1000.0, 8.0)], &[]);
}

#[test]
fn reports_subtransactions() {
    let assigned = |ids: f64| sampled(0.8).counter("postgres", "pg_transaction_ids", "", ids);
    let found = evidence("Subtransactions { ids_per_transaction: 25.0, statement: None }");
    check_in(&with_quota(1.0), &[assigned(25_000.0)], &[&found]);
    // Each transaction has an id, subtransactions take little of the CPU time, or the CPUs are idle at times.
    check_in(&with_quota(1.0), &[assigned(1000.0)], &[]);
    check_in(&with_quota(1.0), &[assigned(7000.0)], &[]);
    check_in(&with_quota(2.0), &[assigned(25_000.0)], &[]);
}

#[test]
fn reports_large_results() {
    let returned = |query: &str, rows: f64, time: f64| {
        let run = sampled(0.8).counter("postgres", "pg_statement_calls", "7", 1000.0);
        let run = run.counter("postgres", "pg_statement_rows", "7", 1000.0 * rows);
        let run = run.counter("postgres", "pg_statement_time", "7", time);
        let run = run.counter("postgres", "pg_statement_time", "", 0.8);
        run.gauge("postgres", "pg_statement_text", &format!("7 {query}"), 1.0)
    };
    let found = evidence("LargeResult { rows_per_execution: 5000.0, share: 0.75, statement: \"SELECT id\" }");
    check_in(&with_quota(1.0), &[returned("SELECT id", 5000.0, 0.6)], &[&found]);
    // Few rows, a short statement, or changed rows; or the CPUs are idle at times.
    check_in(&with_quota(1.0), &[returned("SELECT id", 500.0, 0.6)], &[]);
    check_in(&with_quota(1.0), &[returned("SELECT id", 5000.0, 0.3)], &[]);
    check_in(&with_quota(1.0), &[returned("UPDATE id", 5000.0, 0.6)], &[]);
    check_in(&with_quota(2.0), &[returned("SELECT id", 5000.0, 0.6)], &[]);
}

/// An experiment whose server may use this many CPUs.
fn with_quota(cpu: f64) -> Experiment {
    let mut limited = experiment(&["unix"], None);
    limited.cells[0].setup.stack.nodes[0].limits.cpu = Some(cpu);
    limited
}

#[test]
fn reports_autovacuum() {
    let working = |workers: f64, sessions: f64| {
        let run = sampled(0.8).gauge("postgres", "pg_sessions", "active", 5.0);
        let run = run.gauge("postgres", "pg_autovacuum_workers", "running", workers);
        let run = run.gauge("postgres", "pg_autovacuum_workers", "Timeout/VacuumDelay", 2.0);
        run.gauge("postgres", "pg_active_waits", "running", sessions)
    };
    let found = evidence("Autovacuum { share: 0.25, workers: 0.5 }");
    check_in(&with_quota(1.0), &[working(0.5, 1.5)], &[&found]);
    check_in(&with_quota(1.0), &[working(0.2, 1.5)], &[]);
    check_in(&with_quota(2.0), &[working(0.5, 1.5)], &[]);
}

#[test]
fn reports_large_values() {
    let read = |toast: f64, blocks: f64| {
        let run = sampled(0.8).counter("postgres", "pg_table_toast_blocks", "docs.pages", 1000.0 * toast);
        let run = run.counter("postgres", "pg_blocks_hit", "app", 1000.0 * blocks);
        run.counter("postgres", "pg_blocks_read", "app", 0.0)
    };
    let found = evidence(
        "LargeValues { table: \"docs.pages\", toast_blocks_per_transaction: 28.0, blocks_per_transaction: 36.0 }",
    );
    check_in(&with_quota(1.0), &[read(28.0, 36.0)], &[&found]);
    // Most blocks belong to other tables, there are few of them, or the CPUs are idle at times.
    check_in(&with_quota(1.0), &[read(28.0, 60.0)], &[]);
    check_in(&with_quota(1.0), &[read(4.0, 5.0)], &[]);
    check_in(&with_quota(2.0), &[read(28.0, 36.0)], &[]);
}

#[test]
fn reports_unused_indexes() {
    let written = |statement: &str, indexes: f64, rows: f64| {
        let run = sampled(0.8).counter("postgres", "pg_table_indexed_writes", "log.events", 1000.0 * rows);
        let run = run.gauge("postgres", "pg_table_unused_indexes", "log.events", indexes);
        let run = run.counter("postgres", "pg_statement_time", "7", 0.6);
        let run = run.counter("postgres", "pg_statement_time", "", 0.7);
        run.gauge("postgres", "pg_statement_text", &format!("7 {statement}"), 1.0)
    };
    let found = evidence(
        "UnusedIndexes { table: \"log.events\", indexes: 9.0, rows_per_transaction: 20.0, \
         statement: \"INSERT INTO log.events\" }",
    );
    check_in(&with_quota(1.0), &[written("INSERT INTO log.events", 9.0, 20.0)], &[&found]);
    check_in(&with_quota(1.0), &[written("INSERT INTO log.events", 2.0, 20.0)], &[]);
    check_in(&with_quota(1.0), &[written("INSERT INTO log.events", 9.0, 0.1)], &[]);
    check_in(&with_quota(1.0), &[written("SELECT * FROM log.events", 9.0, 20.0)], &[]);
    check_in(&with_quota(2.0), &[written("INSERT INTO log.events", 9.0, 20.0)], &[]);
}

#[test]
fn reports_functions() {
    let called = |time: f64| {
        let run = sampled(0.8).counter("postgres", "pg_function_time", "bank.add_up", time);
        let run = run.counter("postgres", "pg_function_calls", "bank.add_up", 2000.0);
        let run = run.counter("postgres", "pg_function_time", "bank.check", 0.01);
        let run = run.counter("postgres", "pg_function_calls", "bank.check", 90_000.0);
        run.counter("postgres", "pg_statement_time", "7", 1.0)
    };
    let found = evidence(
        "Function { function: \"bank.add_up\", share: 0.75, calls_per_transaction: 2.0, mean: 0.0004 }",
    );
    check_in(&with_quota(1.0), &[called(0.75)], &[&found]);
    check_in(&with_quota(1.0), &[called(0.4)], &[]);
    check_in(&with_quota(2.0), &[called(0.75)], &[]);
}
