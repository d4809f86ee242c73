//! Tests the rows of datasets

use super::server::{TEST_TIMEOUT, fresh_database, in_database, installation, server};
use stack::client::Connection;
use stack::dataset::pgbench::{InitProgress, InitStep, PartitionMethod, Pgbench};
use stack::dataset::tickets::{Stage, Tickets};
use std::process::{Command, Stdio};

#[test]
fn tickets() {
    let (mut connection, _) = fresh_database();
    let mut stages = Vec::new();
    Tickets { rows: 20_000, seed: 42 }.load(&mut connection, &mut |it| stages.push(it)).unwrap();
    assert_eq!(stages.last(), Some(&Stage::Statistics));
    assert!(stages.contains(&Stage::Rows(20_000)), "{stages:?}");
    let mut check = |sql: &str, expected: &str| {
        assert_eq!(connection.value(sql).unwrap().as_deref(), Some(expected), "{sql}");
    };
    check("select count(*) from book.tickets", "20000");
    check("select fio from book.tickets where id = 54", "Комаров Дмитрий Кириллович");
    check("select contact->>'email' from book.tickets where id = 1", "kuznetsov1497@example.org");
    check("select count(distinct (fkRide, fkSeat)) from book.tickets", "20000");
    check("select count(*) from pg_index where indrelid = 'book.tickets'::regclass and indisprimary", "1");
    check("select relallvisible = relpages from pg_class where oid = 'book.tickets'::regclass", "t");
}

/// Reads the contents of a database: relations, constraints, and a digest of each table's rows in physical order.
fn contents(connection: &mut Connection) -> String {
    let mut lines = Vec::new();
    let mut all = |sql: &str| {
        let answer = connection.query(sql).unwrap();
        let rows: Vec<String> =
            answer.rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect();
        lines.extend(rows.clone());
        rows
    };
    all("select concat_ws(' ', c.oid::regclass, c.relkind, c.relpersistence, c.reloptions::text, \
            pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid), \
            (select string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull), ', ' order by attnum) \
             from pg_attribute where attrelid = c.oid and attnum > 0)) \
         from pg_class c where relnamespace = 'public'::regnamespace order by 1");
    all("select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint \
         where connamespace = 'public'::regnamespace order by 1");
    let tables = all(
        "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    );
    for table in tables {
        all(&format!(
            "select concat('{table} ', count(*), ' ', md5(string_agg(t::text, '|' order by ctid))) from {table} t"
        ));
    }
    lines.join("\n")
}

/// Initialises one database with pgbench's own program and one with pgdyno, and compares them.
fn check(arguments: &[&str], config: &Pgbench, steps: &str) {
    let (mut reference, name) = fresh_database();
    let pgbench = installation().bin.join("pgbench");
    let status = Command::new(&pgbench)
        .args(["-i", "-q"])
        .args(arguments)
        .envs(server().client_environment())
        .env("PGDATABASE", &name)
        .stderr(Stdio::null())
        .status()
        .unwrap_or_else(|it| panic!("{}: {it}; it is in the package postgresql-contrib", pgbench.display()));
    assert!(status.success(), "pgbench {arguments:?}");
    let expected = contents(&mut reference);

    let (_, name) = fresh_database();
    let mut connection = in_database(&name).open(TEST_TIMEOUT).unwrap();
    let steps: Vec<InitStep> = steps.chars().map(|it| InitStep::from_letter(it).unwrap()).collect();
    let mut ended = Vec::new();
    let mut sent = (0, 0);
    let mut on_progress = |progress: InitProgress<'_>| match progress {
        InitProgress::StepFinished(step) => ended.push(step),
        InitProgress::Sent(rows, total) => sent = (rows, total),
        _ => {}
    };
    config.initialise(&mut connection, &steps, &mut on_progress).unwrap();
    assert_eq!(ended, steps);
    assert_eq!(sent.0, sent.1);
    assert_eq!(contents(&mut connection), expected, "pgbench {arguments:?}");
}

#[test]
fn pgbench_plain() {
    check(&["-s", "2"], &Pgbench { scale: 2, ..Pgbench::default() }, "dtgvp");
}

#[test]
fn pgbench_server_side_with_foreign_keys() {
    check(
        &["-I", "dtGvpf", "--unlogged-tables"],
        &Pgbench { unlogged: true, ..Pgbench::default() },
        "dtGvpf",
    );
}

#[test]
fn pgbench_partitioned_by_range() {
    let config =
        Pgbench { partitions: Some((PartitionMethod::Range, 3)), fill_factor: 70, ..Pgbench::default() };
    check(&["--partitions=3", "-F", "70", "--foreign-keys"], &config, "dtgvpf");
}

#[test]
fn pgbench_partitioned_by_hash() {
    let config = Pgbench { partitions: Some((PartitionMethod::Hash, 2)), ..Pgbench::default() };
    check(&["--partitions=2", "--partition-method=hash"], &config, "dtgvp");
}

#[test]
fn fills_tables_of_other_types() {
    let (mut connection, _) = fresh_database();
    let scale_one = Pgbench::default();
    scale_one.initialise(&mut connection, &[InitStep::CreateTables], &mut |_| {}).unwrap();
    connection.query("alter table pgbench_accounts alter aid type numeric").unwrap();
    scale_one.initialise(&mut connection, &[InitStep::GenerateClientSide], &mut |_| {}).unwrap();
    let sum = connection.value("select sum(aid) from pgbench_accounts").unwrap();
    assert_eq!(sum.as_deref(), Some("5000050000"));
}
