//! Values of feeds reach the server unchanged, in every query mode

use super::postgres_servers::start_server;
use super::workspace::Workspace;
use std::time::Duration;

const VALUES: [&str; 14] = [
    "1; DROP TABLE victim; --",
    "'); DROP TABLE victim; --",
    r"\'); DROP TABLE victim; --",
    "it's",
    r"C:\new\'x",
    "$1 $$ :n",
    "007",
    "-5",
    "1.50",
    "99999999999999999999",
    "",
    "NULL",
    "/* Чехов */ -- \"é\"",
    "two\nlines",
];

#[test]
fn values_of_feeds_are_the_same_in_every_query_mode() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    connection
        .query("create table victim (); create table got (n int, value text)")
        .expect("the statement succeeds");
    let rows = (0..).zip(VALUES).map(|(n, it)| serde_json::json!({ "n": n - 3, "value": it }).to_string());
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
feeds: {{ all: {{ order: once, rows: [{}] }} }}
operations: {{ put: {{ feed: all, sql: \"INSERT INTO got VALUES (:n, :value)\" }} }}
load: {{ model: closed, clients: 1, duration: 1m }}
",
        postgres.port,
        rows.collect::<Vec<_>>().join(", ")
    );
    let workspace = Workspace::new("values", &yaml);
    for mode in ["simple", "extended", "prepared"] {
        connection.query("truncate got").expect("the statement succeeds");
        let set = format!("load.query_mode={mode}");
        let mut command = workspace.command(&["--set", &set]);
        workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal())).wait().expect(0);
        let answer = connection.query("select n, value from got order by n").expect("the statement succeeds");
        let got: Vec<_> = answer.rows.iter().map(|it| (it[0].clone(), it[1].clone())).collect();
        let expected: Vec<_> =
            (-3..).zip(VALUES).map(|(n, it): (i32, _)| (Some(n.to_string()), Some(it.to_owned()))).collect();
        assert_eq!(got, expected, "{mode}");
        connection.query("table victim").expect("the table still exists");
    }
}
