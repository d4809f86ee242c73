//! Data that pgdyno copies from the user's own databases

use super::postgres_servers::start_server;
use super::workspace::{RunOutput, Workspace, trials};
use model::copied_data::CopiedData;
use model::fact::Fact;
use stack::client::Connection;
use stack::component::postgres::Postgres;
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
    let copied = facts.into_iter().filter_map(|it| match it.fact {
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
