//! Skeletons from pg_stat_statements: written, filled in and run

use super::postgres_servers::start_server_with;
use super::workspace::{PGDYNO, RunOutput, Workspace, trials};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::RunStatus;

const DATA: &str = "
    create schema shop;
    create table shop.\"Item\"(id int primary key, name text, price numeric);
    insert into shop.\"Item\" select i, 'item ' || i, i from generate_series(1, 100) i;
    create function shop.names() returns bigint language sql as 'select count(name) from shop.\"Item\"';
";

/// Statements of the application, with the number of their executions.
const STATEMENTS: [(&str, u32); 6] = [
    ("select name from shop.\"Item\" i where i.id = 7 and name = 'item 7'", 60),
    ("update shop.\"Item\" set price = price + 1 where id = 7", 30),
    ("select count(*) from shop.\"Item\" where now() > now() - interval '1 day'", 20),
    ("begin; select shop.names(); commit", 20),
    ("select count(*) from pg_stat_activity", 5),
    ("set work_mem = '5MB'", 5),
];

#[test]
fn a_skeleton_runs_when_its_values_are_filled_in() {
    let lines = [("shared_preload_libraries", "pg_stat_statements"), ("pg_stat_statements.track", "all")];
    let (_supervisor, postgres) = start_server_with(&lines);
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let mut query = |sql: &str| connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let password = postgres.password().reveal().to_owned();
    let workspace = Workspace::new("skeleton", "");
    let pgdyno = |arguments: &[&str]| {
        let mut command = Command::new(PGDYNO);
        command.args(arguments).current_dir(&workspace.folder).env("LC_ALL", "C.UTF-8");
        command.envs(postgres.client_environment()).stdin(Stdio::null());
        let output = RunOutput::run(command.env("COLUMNS", "200"));
        assert!(!format!("{}{}", output.out, output.err).contains(&password), "the password was printed");
        output
    };
    let distil = || pgdyno(&["distil", "--statements", &address, "-o", "made.yaml"]);

    let missing = distil();
    missing.expect(1);
    assert!(missing.err.contains("no extension pg_stat_statements"), "{}", missing.err);

    query("create schema statistics");
    query("create extension pg_stat_statements schema statistics");
    query(DATA);
    pgdyno(&["bench", "-i", "-q"]).expect(0);
    query("select statistics.pg_stat_statements_reset()");
    for (sql, count) in STATEMENTS {
        (0..count).for_each(|_| drop(query(sql)));
    }
    pgdyno(&["bench", "-n", "-S", "-M", "prepared", "-t", "40", "-c", "1"]).expect(0);
    let tables = "select count(*) from pg_class where relkind = 'r'";
    let before = query(tables).rows;

    let written = distil();
    written.expect(0);
    assert_eq!(query(tables).rows, before, "the session is read-only");
    let left_out = [
        "transaction control",
        "utility statements",
        "they read only system catalogs",
        "executed inside of functions",
    ];
    for part in left_out {
        assert!(written.out.contains(part), "{part}\n{}", written.out);
    }
    let file = workspace.folder.join("made.yaml");
    let yaml = fs::read_to_string(&file).expect("it was written");
    for part in [
        "  select-item:\n    columns: [id, name]\n    sql: |\n      SELECT id, name\n      FROM shop.\"Item\"\n",
        "  # :price is $1, numeric\n  # :id is $2, integer; compared with id of shop.\"Item\"\n  update-item:\n    weight: 30\n",
        "  # :aid is $1, integer; compared with aid of pgbench_accounts\n  select-pgbench_accounts:\n    weight: 40\n",
        "  # :p is $1, interval\n  select-item-2:\n    weight: 20\n    feed: select-item-2\n",
        "calls per second on\n# average",
    ] {
        assert!(yaml.contains(part), "{part}\n{yaml}");
    }

    let check = pgdyno(&["check", "made.yaml"]);
    check.expect(2);
    for place in ["\\set price FILL_IN", "SELECT FILL_IN::interval AS p", "2 errors; nothing was started"] {
        assert!(check.err.contains(place), "{place}\n{}", check.err);
    }
    let price = yaml.replace("\\set price FILL_IN", "\\set price random(1, 9)");
    let attach = price.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}"));
    fs::write(&file, &attach).expect("there is room");
    pgdyno(&["run", "made.yaml", "--set", "load.schedule=const(50, 1s)"]).expect(2);

    fs::write(&file, attach.replace("FILL_IN::interval", "interval '1 day'")).expect("there is room");
    pgdyno(&["run", "made.yaml", "--set", "load.schedule=const(50, 1s)"]).expect(0);
    let (_, status, reason) = trials(&workspace.stored()).remove(0);
    assert_eq!(status, RunStatus::Complete, "{reason}");
    let prices = query("select sum(price) from shop.\"Item\" where id <> 7").rows;
    assert_ne!(prices, [[Some("5043".to_owned())]], "the update used the ids of several rows");
}
