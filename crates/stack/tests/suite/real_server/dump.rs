//! Tests that dumps of all formats are restored completely, and that unsuitable ones are rejected

use super::server::{TEST_TIMEOUT, fresh_database, installation, keeper, server};
use model::message::Message;
use model::plan::DumpFile;
use stack::client::{Connection, Target};
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::{self, DumpLoader, LoadResult, describe_dump};
use stack::supervisor::Supervisor;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A schema with what dumps have: roles, an extension, keys, sequences, partitions, views, functions, large objects.
const SOURCE: &str = r#"
create role dump_owner;
create role "Dump Reader";
create extension pg_trgm;
create schema shop authorization dump_owner;
set role dump_owner;
create table shop.goods(id bigint generated always as identity primary key, name text not null, price numeric);
insert into shop.goods(name, price) select 'goods ' || i || E'\tGRANT x TO y;\n', i * 1.5 from generate_series(1, 5000) i;
create index on shop.goods(price);
create table shop.orders(id serial primary key, goods bigint references shop.goods, at date not null) ;
insert into shop.orders(goods, at) select i, date '2026-01-01' + i % 300 from generate_series(1, 5000) i;
create view shop.latest as select max(at) as at from shop.orders;
grant select on shop.goods to "Dump Reader";
reset role;
create table events(at timestamptz not null, what text) partition by range (at);
create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
insert into events select '2026-06-01'::timestamptz + i * interval '1 minute', md5(i::text) from generate_series(1, 3000) i;
create index events_what on events using gin (what gin_trgm_ops);
create function twice(x integer) returns integer language sql as 'select 2 * x';
create materialized view counts as select count(*) from events;
select lo_from_bytea(4711, '\xdeadbeef');
"#;

/// Hash of everything that the dump contains.
const CHECKSUM: &str = "select concat_ws(' ', \
    (select md5(string_agg(g::text, '|' order by id)) from shop.goods g), \
    (select md5(string_agg(o::text, '|' order by id)) from shop.orders o), \
    (select md5(string_agg(e::text, '|' order by at)) from events e), \
    (select at from shop.latest), (select count from counts), twice(21), encode(lo_get(4711), 'hex'), \
    (select string_agg(indexdef, '|' order by indexdef) from pg_indexes where schemaname in ('shop', 'public')), \
    (select string_agg(conname, '|' order by conname) from pg_constraint where convalidated and connamespace::regnamespace::text in ('shop', 'public')), \
    (select last_value from shop.orders_id_seq))";

fn value(connection: &mut Connection, sql: &str) -> String {
    connection.value(sql).unwrap_or_else(|it| panic!("{sql}: {it:?}")).unwrap_or_default()
}

/// Runs one of PostgreSQL's client programs on the shared server.
fn client(program: &str, database: &str, arguments: &[&str]) {
    let target = server().target();
    let stack::client::Address::Unix(socket) = &target.address else { panic!("a Unix socket") };
    let mut command = Command::new(installation().bin.join(program));
    command.env("PGHOST", socket.parent().unwrap()).env("PGPORT", socket.extension().unwrap());
    command.env("PGUSER", "postgres").env("PGDATABASE", database);
    command.env("PGPASSWORD", target.login.password.as_ref().unwrap().reveal());
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

fn compress(program: &str, file: &Path, target: &Path) {
    let mut child =
        Command::new(program).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = std::fs::read(file).unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&text).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    std::fs::write(target, output.stdout).unwrap();
}

/// Server without the roles of [`SOURCE`].
struct Restored {
    supervisor: Supervisor,
    postgres: Postgres,
}

impl Restored {
    fn start() -> Restored {
        let mut supervisor = Supervisor::start(&keeper()).unwrap();
        let postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
        let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
        connection.query("create role app login password 'app'").unwrap();
        Restored { supervisor, postgres }
    }

    fn database(&self, name: &str) -> Target {
        let mut connection = self.postgres.target().open(TEST_TIMEOUT).unwrap();
        if connection.value(&format!("select 1 from pg_database where datname = '{name}'")).unwrap().is_none()
        {
            connection.query(&format!("create database {name} owner app")).unwrap();
        }
        self.postgres.target().in_database(name)
    }

    fn load(&mut self, name: &str, files: &[DumpFile]) -> Result<LoadResult, String> {
        let login = self.database(name);
        let mut loader = DumpLoader {
            supervisor: &mut self.supervisor,
            login,
            role: "app",
            programs: Some(installation().bin),
            jobs: 2,
            creates_roles: true,
        };
        dataset::restore_dump(files, &mut loader, &mut |_| {})
            .map_err(|it| format!("{:?}", Message::from(&it)))
    }
}

fn files(paths: &[&Path]) -> Vec<DumpFile> {
    paths.iter().map(|path| describe_dump(path).unwrap()).collect()
}

#[test]
fn every_format_is_restored_completely() {
    let (mut source, name) = fresh_database();
    source.query(SOURCE).unwrap();
    let expected = value(&mut source, CHECKSUM);
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let text = |it: &PathBuf| it.to_str().unwrap().to_owned();
    for (format, file) in
        [("custom", "shop.dump"), ("directory", "shop.dir"), ("tar", "shop.tar"), ("plain", "shop.sql")]
    {
        client("pg_dump", &name, &["--blobs", "-F", format, "-f", &text(&path(file))]);
    }
    compress("gzip", &path("shop.sql"), &path("shop.sql.gz"));
    client("pg_dump", &name, &["--section=pre-data", "-f", &text(&path("1.sql"))]);
    client(
        "pg_dump",
        &name,
        &["--blobs", "--section=data", "--section=post-data", "-F", "custom", "-f", &text(&path("2.dump"))],
    );
    let mut cases = vec![
        vec!["shop.dump"],
        vec!["shop.dir"],
        vec!["shop.tar"],
        vec!["shop.sql"],
        vec!["shop.sql.gz"],
        vec!["1.sql", "2.dump"],
    ];
    if Command::new("zstd").arg("--version").output().is_ok() {
        compress("zstd", &path("shop.sql"), &path("shop.sql.zst"));
        cases.push(vec!["shop.sql.zst"]);
    }
    let mut restored = Restored::start();
    for (i, case) in cases.iter().enumerate() {
        let paths: Vec<PathBuf> = case.iter().map(|it| path(it)).collect();
        let dumps = files(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        let database = format!("shop{i}");
        let result = restored.load(&database, &dumps).unwrap_or_else(|it| panic!("{case:?}: {it}"));
        assert!(!result.reused && result.rows >= 13_001, "{case:?}: {result:?}");
        let mut connection = restored.database(&database).open(TEST_TIMEOUT).unwrap();
        assert_eq!(value(&mut connection, CHECKSUM), expected, "{case:?}");
        // The load's user may do what the owners may.
        connection.query("set role app").unwrap();
        connection.query("update shop.goods set price = 0 where id = 1; delete from events; create index on events(at)").unwrap();
        connection.query("create table shop.more(); refresh materialized view counts").unwrap();
        let again = restored.load(&database, &dumps).unwrap();
        assert!(again.reused, "{case:?}: {again:?}");
    }
    let mut connection = restored.postgres.target().open(TEST_TIMEOUT).unwrap();
    let members = "select string_agg(roleid::regrole::text, ',' order by roleid::regrole::text) from pg_auth_members \
         where member = 'app'::regrole";
    assert_eq!(value(&mut connection, members), "\"Dump Reader\",dump_owner");
}

#[test]
fn unsuitable_dumps_are_rejected() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).unwrap();
    let mut restored = Restored::start();
    let mut check = |number: u32, name: &str, expected: &str| {
        let dumps = files(&[&path(name)]);
        let error = restored.load(&format!("bad{number}"), &dumps).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    };
    write("syntax.sql", b"create table a();\ncreate tabel b();\ncreate table c();\n");
    check(0, "syntax.sql", "syntax error");
    write("empty.sql", b"select 1;\n");
    check(1, "empty.sql", "dump-no-table");
    write("all.sql", b"create table a();\n\\connect shop\n");
    check(2, "all.sql", "dump-other-database");
    write("extension.sql", b"CREATE EXTENSION IF NOT EXISTS no_such_extension WITH SCHEMA public;\n");
    check(3, "extension.sql", "no_such_extension");
    write("whole.sql", b"create table a();\n");
    compress("gzip", &path("whole.sql"), &path("whole.sql.gz"));
    let bytes = std::fs::read(path("whole.sql.gz")).unwrap();
    write("cut.sql.gz", &bytes[..bytes.len() - 6]);
    check(4, "cut.sql.gz", "unexpected end of file");
    write("cut.dump", b"PGDMP\x01\x0e\0");
    check(5, "cut.dump", "pg_restore");
}

#[test]
fn other_data_is_kept() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("a.sql");
    std::fs::write(&file, "create table a(); create table b();").unwrap();
    let mut restored = Restored::start();
    let dumps = files(&[&file]);
    let mut connection = restored.database("mine").open(TEST_TIMEOUT).unwrap();
    connection.query("create table precious as select 1 as one").unwrap();
    let error = restored.load("mine", &dumps).unwrap_err();
    assert!(error.contains("dump-not-empty") && error.contains("precious"), "{error}");
    assert_eq!(value(&mut connection, "select one from precious"), "1");
    std::fs::write(&file, "create table a(); create table c();").unwrap();
    let error = restored.load("other", &dumps).unwrap_err();
    assert!(error.contains("dump-changed"), "{error}");
}
