//! Data that pgdyno copies from the user's own databases

use super::postgres_servers::start_server;
use super::workspace::{RunOutput, Workspace, trials};
use model::copied_data::{CopiedData, DataOrigin};
use model::fact::Fact;
use stack::client::Connection;
use stack::component::postgres::Postgres;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use store::RunStatus;

const TIMEOUT: Duration = Duration::from_secs(10);

fn open(postgres: &Postgres, user: &str, database: &str) -> Connection {
    let mut target = postgres.target().in_database(database);
    if user != "postgres" {
        let login = Arc::make_mut(&mut target.login);
        (login.user, login.password) = (user.to_owned(), Some(wire::pg::Secret::new("loader")));
    }
    target.open(TIMEOUT).unwrap_or_else(|error| panic!("{error:?}"))
}

fn execute(connection: &mut Connection, sql: &str) {
    connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

fn value(connection: &mut Connection, sql: &str) -> String {
    connection.value(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}")).unwrap_or_default()
}

/// Copied data of each trial.
fn copied(workspace: &Workspace) -> Vec<CopiedData> {
    let facts = workspace.stored().facts().expect("the run can be read");
    let copied = facts.into_iter().filter_map(|record| match record.fact {
        Fact::CopiedData(data) => Some(data),
        _ => None,
    });
    copied.collect()
}

#[test]
fn a_template_is_copied_before_each_trial_and_never_changed() {
    let (_supervisor, postgres) = start_server();
    let mut superuser = open(&postgres, "postgres", "postgres");
    execute(&mut superuser, "create role loader login password 'loader'");
    execute(&mut superuser, "create database golden");
    execute(&mut superuser, "create database shop owner loader");
    let mut golden = open(&postgres, "postgres", "golden");
    execute(
        &mut golden,
        "create table goods(id int primary key, price int not null); \
         insert into goods select i, i from generate_series(1, 1000) i; grant all on goods to loader",
    );
    execute(&mut golden, "vacuum analyze goods");
    let checksum = "select md5(string_agg(g::text, ',' order by id)) from goods g";
    let original = value(&mut golden, checksum);
    let address = format!("host=127.0.0.1 port={} user=loader dbname=shop", postgres.port);
    // The updates of the first trial enlarge the table.
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{address}\" }} }}\n\
         operations: {{ one: {{ sql: \"UPDATE goods SET price = price + 1\" }} }}\n\
         load: {{ model: closed, clients: 1, pacing: 500ms, duration: 1s }}\nrepeat: 2\n\
         dataset: {{ template: golden }}\n"
    );
    let workspace = Workspace::new("template", &yaml);
    let run = |arguments: &[&str]| {
        let mut command = workspace.command(arguments);
        workspace.spawn_command(command.env("PGPASSWORD", "loader")).wait()
    };
    let refused = |expected: &str| {
        let ended = run(&[]);
        ended.expect(1);
        assert!(ended.err.contains(expected), "{expected}:\n{}", ended.err);
        ended
    };
    let advice = |ended: &RunOutput| {
        let (_, advice) = ended.err.split_once(":  ").expect("the message has a statement");
        advice.lines().next().expect("a statement").to_owned()
    };
    refused("does not drop it").expect(1);
    let mut shop = open(&postgres, "loader", "shop");
    execute(&mut shop, "comment on database shop is 'pgdyno: may be dropped'");
    // Each message names the statement that solves the problem.
    execute(&mut superuser, &advice(&refused("the user loader may not create databases")));
    execute(&mut superuser, &advice(&refused("may not copy the template golden, which belongs to postgres")));
    drop(shop);
    // A session in the template prevents the copy, and nothing is dropped.
    let mut left = open(&postgres, "loader", "shop");
    execute(&mut left, "create extension if not exists plpgsql");
    drop(left);
    let ended = refused("nothing was dropped");
    assert!(ended.err.contains("user postgres, application pgdyno"), "{}", ended.err);
    let exists = "select count(*) from pg_database where datname = 'shop'";
    assert_eq!(value(&mut superuser, exists), "1");
    drop(golden);

    run(&[]).expect(0);
    let statuses: Vec<RunStatus> = trials(&workspace.stored()).into_iter().map(|it| it.1).collect();
    assert_eq!(statuses, [RunStatus::Complete; 2]);
    let found = copied(&workspace);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], found[1], "the data of both trials are equal");
    assert_eq!((found[0].tables.len(), found[0].tables[0].rows), (1, Some(1000)));
    assert_eq!(value(&mut open(&postgres, "postgres", "golden"), checksum), original);
    let names =
        "select string_agg(datname, ' ' order by datname) from pg_database where datname ~ 'shop|golden'";
    assert_eq!(value(&mut superuser, names), "golden shop");

    // The next run replaces the copy, and a comparison reports that the template has changed.
    execute(
        &mut open(&postgres, "postgres", "golden"),
        "insert into goods select i, i from generate_series(1001, 9000) i",
    );
    let first = workspace.stored().path().display().to_string();
    run(&[]).expect(0);
    let second = workspace.stored().path().display().to_string();
    let compared = workspace.other("compare", &[&first, &second]);
    assert!(compared.out.contains("dataset.data.public.goods"), "{}\n{}", compared.out, compared.err);
    // Another dataset replaces the copy too.
    run(&["--set", "dataset.template=null", "--set", "dataset.name=tickets", "--set", "dataset.rows=10"]);
}

/// A schema with what makes copies difficult.
const SOURCE: &str = r#"
create role seller;
create extension pg_trgm;
create schema shop authorization seller;
create table shop.customers(id bigint generated always as identity primary key, name text not null,
    lower_name text generated always as (lower(name)) stored);
insert into shop.customers(name) select 'Name ' || i from generate_series(1, 2000) i;
alter table shop.customers owner to seller;
create table shop.goods(shop int, number int, name text, primary key (shop, number));
insert into shop.goods select i % 7, i, E'a\tb\\ ' || i from generate_series(1, 700) i;
create index on shop.goods using gin (name gin_trgm_ops);
create table shop.orders(id serial primary key, customer bigint not null references shop.customers, shop int, good int,
    foreign key (shop, good) references shop.goods);
insert into shop.orders(customer, shop, good)
    select 1 + i % 2000, i % 700 % 7, nullif(i % 700, 0) from generate_series(1, 6000) i;
create table shop.lines("Order, id" int references shop.orders, line int, note text);
insert into shop.lines select 1 + i % 6000, i, null from generate_series(1, 12000) i;
create table employees(id int primary key, boss int references employees, office int);
create table offices(id int primary key, head int not null references employees deferrable);
insert into employees select i, nullif(i / 2, 0), 1 + i % 10 from generate_series(1, 300) i;
insert into offices select i, i from generate_series(1, 10) i;
alter table employees add foreign key (office) references offices;
create table visits(id int primary key, employee int references employees);
insert into visits select i, 1 + i % 300 from generate_series(1, 3000) i;
create table events(id int, at date, visit int references visits, primary key (id, at)) partition by range (at);
create table events_2025 partition of events for values from ('2025-01-01') to ('2026-01-01');
create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
insert into events select i, date '2025-07-01' + i % 365, 1 + i % 3000 from generate_series(1, 6000) i;
create table plain(text text);
insert into plain select 'x' from generate_series(1, 50);
select setval('shop.orders_id_seq', 7777);
select lo_from_bytea(4711, '\xdeadbeef');
"#;

/// Hash of everything that a complete copy contains.
const CHECKSUM: &str = "select md5(concat_ws(' ', (select string_agg(c::text, ',' order by id) from shop.customers c), \
    (select string_agg(g::text, ',' order by number) from shop.goods g), \
    (select string_agg(o::text, ',' order by id) from shop.orders o), \
    (select string_agg(l::text, ',' order by line) from shop.lines l), \
    (select string_agg(e::text, ',' order by id) from employees e), \
    (select string_agg(e::text, ',' order by id) from events e), (select last_value from shop.orders_id_seq), \
    (select count(*) from pg_largeobject_metadata), \
    (select string_agg(conname, ',' order by conname) from pg_constraint where contype = 'f' and convalidated)))";

/// Runs an experiment that fails with the value of a query on the copy.
fn value_of_copy(from: &str, password: &str, sql: &str) -> (String, RunOutput, Vec<CopiedData>) {
    let sql = sql.replace('\\', "\\\\").replace('"', "\\\"");
    let yaml = format!(
        "stack: {{ postgres: {{}} }}\noperations: {{ one: {{ sql: SELECT 1 }} }}\n\
         load: {{ model: closed, clients: 1, duration: 1s }}\n\
         dataset:\n  from: {from}\n"
    );
    let workspace = Workspace::new("from", &yaml);
    let failing = format!("dataset.after=[\"DO $$ BEGIN RAISE EXCEPTION 'value %', ({sql}); END $$\"]");
    let mut command = workspace.command(&["--set", &failing]);
    let failed = workspace.spawn_command(command.env("PGPASSWORD", password)).wait();
    let rest = failed.err.split_once("ERROR: value ").unwrap_or_else(|| panic!("no value: {}", failed.err)).1;
    let found = rest.split(" (SQLSTATE").next().expect("the value").to_owned();
    let mut command = workspace.command(&[]);
    let ended = workspace.spawn_command(command.env("PGPASSWORD", password)).wait();
    ended.expect(0);
    let file = fs::read(workspace.stored().path()).expect("the file can be read");
    for bytes in [ended.out.as_bytes(), ended.err.as_bytes(), &file[..]] {
        assert!(
            !bytes.windows(password.len()).any(|it| it == password.as_bytes()),
            "the password was printed"
        );
    }
    (found, ended, copied(&workspace))
}

#[test]
fn a_source_is_copied_completely_or_in_part_and_never_changed() {
    let (_supervisor, postgres) = start_server();
    execute(&mut open(&postgres, "postgres", "postgres"), "create database shop");
    let mut source = open(&postgres, "postgres", "shop");
    execute(&mut source, SOURCE);
    // The copies have no superuser, and their user reads everything as a member of all owners.
    let original = value(&mut source, CHECKSUM);
    let password = postgres.password().reveal();
    let address = format!("postgres://postgres@127.0.0.1:{}/shop", postgres.port);

    let (found, ended, data) = value_of_copy(&format!("\"{address}\""), password, CHECKSUM);
    assert_eq!(found, original);
    assert!(ended.err.contains("shop at 127.0.0.1"), "{}", ended.err);
    let DataOrigin::Snapshot(snapshot) = &data[0].origin else { panic!("{data:?}") };
    let system = value(&mut source, "select system_identifier from pg_control_system()");
    assert_eq!((snapshot.database.as_str(), snapshot.system.as_ref()), ("shop", Some(&system)));

    let rows =
        "select sum(reltuples) from pg_class where relkind = 'r' and relnamespace = 'shop'::regnamespace";
    let schema = format!("{{ source: \"{address}\", schema_only: true }}");
    assert_eq!(value_of_copy(&schema, password, rows).0, "0");

    // A broken foreign key would fail the restore. Rows that reference kept rows are kept, others are not.
    let sample = format!("{{ source: \"{address}\", sample: 20% }}");
    let counts = "select concat_ws(' ', (select count(*) from employees), (select count(*) from offices), \
        (select count(*) from plain), (select last_value from shop.orders_id_seq), \
        (select count(*) from pg_largeobject_metadata), \
        (select count(*) from pg_constraint where contype = 'f' and convalidated and conparentid = 0), \
        (select md5(string_agg(o::text, ',' order by id)) from shop.orders o))";
    let (found, ended, data) = value_of_copy(&sample, password, counts);
    assert!(found.starts_with("300 10 50 7777 1 8 "), "{found}");
    assert!(ended.err.contains("employees: 300 of 300 rows kept (100.0 %)"), "{}", ended.err);
    let share = |table: &str| {
        let rows = data[0].sampled.iter().find(|it| it.0 == table).unwrap_or_else(|| panic!("{data:?}")).1;
        rows.kept as f64 / rows.total as f64
    };
    for (table, low, high) in [
        ("shop.customers", 0.15, 0.25),
        ("shop.goods", 0.12, 0.28),
        ("shop.orders", 0.01, 0.1),
        ("shop.lines", 0.01, 0.1),
        ("public.visits", 0.15, 0.25),
        ("public.events", 0.15, 0.25),
        ("public.plain", 1.0, 1.0),
    ] {
        assert!((low..=high).contains(&share(table)), "{table}: {}", share(table));
    }
    // The same data give the same sample.
    assert_eq!(value_of_copy(&sample, password, counts).0, found);
    assert_eq!(value(&mut source, CHECKSUM), original);
}
