//! Tests that a dataset is loaded once, and that other data is kept

use super::server::{TEST_TIMEOUT, fresh_database, in_database};
use model::message::Message;
use model::plan::{CacheState, Column, ColumnGenerator, Content, Dataset, Table};
use stack::client::{Connection, Target};
use stack::dataset::{self, Error, LoadResult, Loader, Stage, load};
use stack::interrupt::with_interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn loader(target: Target, workers: u16) -> Loader {
    Loader { target, workers, force: false }
}

fn dataset_with(content: Content) -> Dataset {
    Dataset::new(42, content)
}

fn load_into(name: &str, dataset: &Dataset, workers: u16) -> LoadResult {
    load(dataset, &loader(in_database(name), workers), &mut |_| {}).unwrap_or_else(|it| panic!("{it:?}"))
}

fn value(connection: &mut Connection, sql: &str) -> String {
    let value = connection.value(sql).unwrap_or_else(|it| panic!("{sql}: {it:?}"));
    value.unwrap_or_else(|| "NULL".to_owned())
}

/// Computes a digest of a table's rows, independent of their order.
fn digest(connection: &mut Connection, table: &str) -> String {
    let sql = format!(
        "select concat_ws(' ', count(*), sum(hashtextextended(t::text, 0)::numeric), \
         bit_xor(hashtextextended(t::text, 1))) from {table} t"
    );
    value(connection, &sql)
}

fn declared() -> Content {
    let column = |name: &str, generator: ColumnGenerator, nulls: f64| Column {
        name: name.to_owned(),
        sql_type: None,
        generator,
        null_fraction: nulls,
    };
    let text = |it: &str| it.to_owned();
    let columns = vec![
        column("id", ColumnGenerator::Serial, 0.0),
        column("Odd \"name\"", ColumnGenerator::RussianName, 0.1),
        column("who", ColumnGenerator::EnglishName, 0.0),
        column("n", ColumnGenerator::Uniform { min: i64::MIN, max: i64::MAX }, 0.0),
        column("z", ColumnGenerator::Zipfian { min: 1, max: 1000, s: 1.1 }, 0.0),
        column("w", ColumnGenerator::Words { min: 0, max: 5 }, 0.0),
        column("t", ColumnGenerator::Text { length: 33 }, 0.0),
        column("at", ColumnGenerator::Timestamp { from: text("2024-01-01"), to: text("2024-01-02") }, 0.0),
        column("p", ColumnGenerator::Point { from: (0.0, 0.0), to: (1.0, 2.0) }, 0.0),
        column("c", ColumnGenerator::Constant(text("\\N a\tb\n\"'\\")), 0.0),
        column("o", ColumnGenerator::OneOf(vec![text("red"), text("green")]), 0.5),
        column(
            "j",
            ColumnGenerator::Json(vec![
                (text("a \"b\" \\"), ColumnGenerator::Constant(text("x\n\"y\""))),
                (text("k"), ColumnGenerator::Serial),
                (text("p"), ColumnGenerator::Point { from: (0.0, 0.0), to: (1.0, 2.0) }),
                (text("at"), ColumnGenerator::Timestamp { from: text("2024-01-01"), to: text("2024-01-02") }),
            ]),
            0.0,
        ),
    ];
    let goods = Table {
        name: text("Shop.goods"),
        rows: 30_000,
        columns,
        primary_key: vec![text("id")],
        indexes: vec![text("z, lower(who)")],
    };
    let bare = Table {
        name: text("bare"),
        rows: 10,
        columns: vec![column("id", ColumnGenerator::Serial, 0.0)],
        primary_key: Vec::new(),
        indexes: Vec::new(),
    };
    Content::Declared(vec![goods, bare])
}

#[test]
fn one_and_three_workers_load_equal_rows() {
    let contents = [
        (Content::Tickets { rows: 20_000 }, vec!["book.tickets"], 20_000),
        (Content::Profiles { users: 50, per_user: 300 }, vec!["profiles"], 15_000),
        (
            Content::Pgbench { scale: 1 },
            vec!["pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history"],
            100_011,
        ),
        (Content::Books { rows: 20_000 }, vec!["book.bookv2"], 20_000),
        (Content::Users { users: 20_000 }, vec!["social.users"], 20_000),
        (Content::Delivery { scale: 0.0002 }, vec!["delivery.send", "delivery.receive"], 35_200),
        (declared(), vec!["\"Shop\".goods", "bare"], 30_010),
    ];
    for (content, tables, rows) in contents {
        let digests = [1, 3].map(|workers| {
            let (mut connection, name) = fresh_database();
            connection.query("create extension pg_visibility").unwrap();
            let mut sent = 0;
            let on_progress = &mut |stage| {
                if let Stage::Rows(rows) = stage {
                    assert!(rows > sent, "{rows} after {sent}");
                    sent = rows;
                }
            };
            let loaded =
                load(&dataset_with(content.clone()), &loader(in_database(&name), workers), on_progress);
            let loaded = loaded.unwrap_or_else(|it| panic!("{it:?}"));
            assert_eq!((loaded.rows, sent, loaded.reused), (rows, rows, false), "{content:?}");
            assert_eq!(dataset::total_rows(&content), Some(rows));
            for table in &tables {
                // Several connections may leave empty pages between their rows.
                let unsettled = format!(
                    "select count(*) from {table} t join pg_visibility_map('{table}') v \
                     on blkno = (t.ctid::text::point)[0] where not (all_visible and all_frozen)"
                );
                assert_eq!(value(&mut connection, &unsettled), "0", "{table}");
            }
            tables.iter().map(|it| digest(&mut connection, it)).collect::<Vec<_>>()
        });
        assert_eq!(digests[0], digests[1], "{content:?}");
    }
}

#[test]
fn generated_values_reach_the_table_unchanged() {
    let (mut connection, name) = fresh_database();
    load_into(&name, &dataset_with(declared()), 2);
    let mut check = |sql: &str, expected: &str| assert_eq!(value(&mut connection, sql), expected, "{sql}");
    check("select count(*) from \"Shop\".goods where c <> E'\\\\N a\\tb\\n\"''\\\\'", "0");
    check("select count(*) from \"Shop\".goods where j->>E'a \"b\" \\\\' <> E'x\\n\"y\"'", "0");
    check("select count(*) from \"Shop\".goods where (j->>'k')::bigint <> id", "0");
    check("select count(*) from \"Shop\".goods where not p <@ box '((0,0),(1,2))'", "0");
    check("select jsonb_typeof(j->'p') from \"Shop\".goods limit 1", "array");
    check(
        "select count(*) from \"Shop\".goods where at not between '2024-01-01 00:00+00' and '2024-01-02 00:00+00'",
        "0",
    );
    check(
        "select count(*) between 2500 and 3500 from \"Shop\".goods where \"Odd \"\"name\"\"\" is null",
        "t",
    );
    check(
        "select string_agg(indexdef, '; ' order by indexdef) from pg_indexes where schemaname = 'Shop'",
        "CREATE INDEX goods_z_lower_idx ON \"Shop\".goods USING btree (z, lower(who)); \
         CREATE UNIQUE INDEX goods_pkey ON \"Shop\".goods USING btree (id)",
    );
    check(
        "select string_agg(format_type(atttypid, atttypmod), ', ' order by attnum) from pg_attribute \
           where attrelid = '\"Shop\".goods'::regclass and attnum > 0",
        "bigint, text, text, bigint, integer, text, text, timestamp with time zone, point, text, text, jsonb",
    );
}

#[test]
fn one_worker_sends_rows_in_order() {
    let (mut connection, name) = fresh_database();
    load_into(&name, &dataset_with(Content::Profiles { users: 100, per_user: 100 }), 1);
    let disorder = "select count(*) from (select profileid, row_number() over (order by ctid) n from profiles) t \
                    where profileid <> n";
    assert_eq!(value(&mut connection, disorder), "0");
    // The plan uses the index that updates by user and setting use.
    let plan = connection
        .query(
            "explain update profiles set value_id = 1 where userid = 2 and idx = 'web.map.zoom' and idx2 = 0",
        )
        .unwrap();
    assert!(format!("{:?}", plan.rows).contains("profiles_by_user"), "{plan:?}");
}

#[test]
fn existing_dataset_is_not_loaded_again() {
    let (mut connection, name) = fresh_database();
    let tickets = |rows| Content::Tickets { rows };
    let check = |dataset: &Dataset, again: bool, reused: bool| {
        let loader = Loader { force: again, ..loader(in_database(&name), 1) };
        let mut stages = Vec::new();
        let loaded = load(dataset, &loader, &mut |it| stages.push(it)).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(loaded.reused, reused, "{stages:?}");
        assert_eq!(Some(loaded.rows), dataset::total_rows(&dataset.content));
        assert_eq!(stages.is_empty(), reused);
    };
    check(&dataset_with(tickets(1000)), false, false);
    check(&dataset_with(tickets(1000)), false, true);
    // The requested cache state is not a property of the rows.
    check(&Dataset { cache: CacheState::Cold, ..dataset_with(tickets(1000)) }, false, true);
    check(&dataset_with(tickets(1000)), true, false);
    check(&Dataset { seed: 43, ..dataset_with(tickets(1000)) }, false, false);
    check(&dataset_with(tickets(2000)), false, false);
    // Different content replaces the first dataset, including its schema.
    check(&dataset_with(Content::Profiles { users: 5, per_user: 16 }), false, false);
    assert_eq!(value(&mut connection, "select to_regnamespace('book')"), "NULL");
    check(&dataset_with(tickets(1000)), false, false);
    // A user dropped the table, so the dataset is loaded again.
    connection.query("drop table book.tickets").unwrap();
    check(&dataset_with(tickets(1000)), false, false);
    assert_eq!(value(&mut connection, "select count(*) from book.tickets"), "1000");
}

#[test]
fn foreign_tables_are_not_dropped() {
    let (mut connection, name) = fresh_database();
    let profiles = dataset_with(Content::Profiles { users: 5, per_user: 16 });
    let refused = |dataset: &Dataset| match load(dataset, &loader(in_database(&name), 1), &mut |_| {}) {
        Err(Error::ForeignTable { table }) => table,
        other => panic!("{other:?}"),
    };
    connection.query("create table profiles(a int); insert into profiles values (7)").unwrap();
    assert_eq!(refused(&profiles), "profiles");
    assert_eq!(value(&mut connection, "select a from profiles"), "7");
    connection.query("drop table profiles").unwrap();
    load_into(&name, &profiles, 1);
    // The table has the right name, but pgdyno did not create it.
    connection.query("drop table profiles; create table profiles as select 8 as a").unwrap();
    assert_eq!(refused(&profiles), "profiles");
    assert_eq!(value(&mut connection, "select a from profiles"), "8");
    // A foreign table in a schema that pgdyno created keeps the schema.
    connection.query("drop table profiles").unwrap();
    load_into(&name, &dataset_with(Content::Tickets { rows: 10 }), 1);
    connection.query("create table book.theirs as select 9 as a").unwrap();
    load_into(&name, &profiles, 1);
    assert_eq!(value(&mut connection, "select a from book.theirs"), "9");
    assert_eq!(value(&mut connection, "select to_regclass('book.tickets')"), "NULL");
}

#[test]
fn record_from_dump_of_another_server_drops_no_table() {
    let (mut connection, name) = fresh_database();
    load_into(&name, &dataset_with(Content::Profiles { users: 5, per_user: 16 }), 1);
    // This simulates a dump and a restore: the record's object ids belong to other tables.
    connection.query("create table precious as select 7 as a; create table more as select 8 as a").unwrap();
    let ids = "array['precious'::regclass::oid, 'more'::regclass::oid]";
    connection.query(&format!("update pgdyno.dataset set tables = {ids}")).unwrap();
    load_into(&name, &dataset_with(Content::Tickets { rows: 10 }), 1);
    assert_eq!(value(&mut connection, "select p.a + m.a from precious p, more m"), "15");
    // A record of an earlier version has no names, so its tables are used, but not dropped.
    connection.query("alter table pgdyno.dataset drop column names").unwrap();
    assert!(load_into(&name, &dataset_with(Content::Tickets { rows: 10 }), 1).reused);
    let refused =
        load(&dataset_with(Content::Tickets { rows: 11 }), &loader(in_database(&name), 1), &mut |_| {});
    assert!(matches!(refused, Err(Error::ForeignTable { .. })), "{refused:?}");
    assert_eq!(value(&mut connection, "select count(*) from book.tickets"), "10");
}

#[test]
fn stopped_loads_leave_no_table() {
    for workers in [1, 2] {
        let (mut connection, name) = fresh_database();
        let stop: Arc<AtomicBool> = Arc::default();
        let loader = Loader { target: in_database(&name), workers, force: false };
        let tickets = dataset_with(Content::Tickets { rows: 1_000_000 });
        let mut sent = 0;
        let mut stop_after_first_rows = |stage| {
            if let Stage::Rows(rows) = stage {
                sent = rows;
                stop.store(true, Ordering::Relaxed);
            }
        };
        let result = with_interrupt(&stop, || load(&tickets, &loader, &mut stop_after_first_rows));
        assert!(matches!(result, Err(Error::Stopped)), "{result:?}");
        assert!(sent > 0 && sent < 1_000_000, "{sent}");
        assert_eq!(value(&mut connection, "select to_regclass('book.tickets')"), "NULL", "{workers}");
        load_into(&name, &dataset_with(Content::Tickets { rows: 100 }), workers);
    }
}

#[test]
fn failed_load_reports_error_and_leaves_no_table() {
    for workers in [1, 2] {
        let (mut connection, name) = fresh_database();
        let Content::Declared(mut tables) = declared() else { unreachable!() };
        tables[0].columns[2].sql_type = Some("varchar(5)".to_owned());
        let result =
            load(&dataset_with(Content::Declared(tables)), &loader(in_database(&name), workers), &mut |_| {});
        let Err(Error::Client(error)) = result else { panic!("{result:?}") };
        assert!(
            Message::from(&error).describe().contains("too long for type character varying(5)"),
            "{error:?}"
        );
        assert_eq!(value(&mut connection, "select to_regclass('\"Shop\".goods')"), "NULL", "{workers}");
        load_into(&name, &dataset_with(declared()), workers);
    }
}

#[test]
fn bare_copy_sends_same_bytes_and_leaves_no_table() {
    for workers in [1, 2] {
        let (mut connection, name) = fresh_database();
        let dataset = dataset_with(Content::Pgbench { scale: 1 });
        let bare = dataset::bare_copy(&dataset, &loader(in_database(&name), workers));
        let bare = bare.unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(value(&mut connection, "select to_regclass('pgbench_accounts')"), "NULL");
        let loaded = load_into(&name, &dataset, workers);
        assert_eq!((loaded.rows, loaded.bytes), (bare.rows, bare.bytes));
        let count = "select count(*) from pgbench_accounts";
        assert_eq!(value(&mut in_database(&name).open(TEST_TIMEOUT).unwrap(), count), "100000");
    }
}
