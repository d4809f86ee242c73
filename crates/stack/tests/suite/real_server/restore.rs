//! Tests that a database is restored, and that other data is kept

use super::server::{TEST_TIMEOUT, fresh_database, in_database, installation, keeper, server};
use model::plan::{CacheState, Content, Dataset};
use stack::client::Connection;
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::{self, Loader};
use stack::restore::{
    self, CachePreparation, Error, ServerOwnership, Template, create_database, prepare_cache, query_state,
    warm_cache,
};
use stack::supervisor::Supervisor;
use std::process::Command;
use std::time::{Duration, Instant};
use wire::Code;

fn value(connection: &mut Connection, sql: &str) -> String {
    let value = connection.value(sql).unwrap_or_else(|it| panic!("{sql}: {it:?}"));
    value.unwrap_or_else(|| "NULL".to_owned())
}

fn load(target: stack::client::Target, content: Content) {
    let dataset = Dataset::new(42, content);
    let loader = Loader { target, workers: 1, force: false };
    dataset::load(&dataset, &loader, &mut |_| {}).unwrap_or_else(|it| panic!("{it:?}"));
}

/// Creates a database with 80 profiles, and its only session.
fn profiles() -> (Connection, String) {
    let (mut connection, name) = fresh_database();
    load(in_database(&name), Content::Profiles { users: 5, per_user: 16 });
    // Sessions of the loader end soon after their connections.
    let count_sessions = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    let begun = Instant::now();
    while value(&mut connection, count_sessions) != "0" {
        assert!(begun.elapsed() < TEST_TIMEOUT, "the loader's sessions did not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    (connection, name)
}

const SPOIL: &str = "update profiles set value_id = -1";
const SPOILT: &str = "select count(*) from profiles where value_id = -1";

#[test]
fn restore_leaves_no_changes_of_trial() {
    let (mut lingering, name) = profiles();
    let template = Template::create(&server().target(), &name, ServerOwnership::Ours).unwrap();
    assert_eq!(template.creation.sessions_ended, 1, "{template:?}");
    assert!(template.creation.checkpoint.is_some() && template.creation.bytes > 1_000_000, "{template:?}");
    let original = query_state(&mut in_database(&name).open(TEST_TIMEOUT).unwrap()).unwrap();
    lingering.query("select 1").unwrap_err();
    for _ in 0..2 {
        let mut busy = in_database(&name).open(TEST_TIMEOUT).unwrap();
        busy.query("alter table profiles set (autovacuum_enabled = false)").unwrap();
        (0..20).for_each(|_| drop(busy.query(SPOIL).unwrap()));
        // A session may keep its counters for a second before others see them.
        let begun = Instant::now();
        let sizes = loop {
            let sizes = query_state(&mut busy).unwrap().sizes_since(&original);
            if sizes[0].after.dead_rows > 0 || begun.elapsed() > TEST_TIMEOUT {
                break sizes;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(sizes.len(), 1, "{sizes:?}");
        assert_eq!(sizes[0].table, "public.profiles");
        assert!(sizes[0].after.heap > sizes[0].before.heap && sizes[0].after.dead_rows > 0, "{sizes:?}");
        // The session is in a transaction.
        busy.query("begin; lock profiles").unwrap();
        let restored = template.restore().unwrap();
        assert!(restored.copy_duration <= restored.took, "{restored:?}");
        let mut after = in_database(&name).open(TEST_TIMEOUT).unwrap();
        assert_eq!(value(&mut after, SPOILT), "0");
        let sizes = query_state(&mut after).unwrap().sizes_since(&original);
        assert_eq!((sizes[0].after.total(), sizes[0].after.dead_rows), (sizes[0].before.total(), 0));
        assert_eq!(value(&mut after, "select to_regclass('profiles_by_user') is not null"), "t");
        // The copy contains the record of the dataset too.
        let dataset = Dataset {
            cache: CacheState::Warm,
            ..Dataset::new(42, Content::Profiles { users: 5, per_user: 16 })
        };
        let loader = Loader { target: in_database(&name), workers: 1, force: false };
        assert!(dataset::load(&dataset, &loader, &mut |_| {}).unwrap().reused);
    }
}

/// This test has a separate server, because writes of other tests would count.
#[test]
fn detects_writes_by_transaction_id() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
    let superuser = postgres.target();
    superuser.open(TEST_TIMEOUT).unwrap().query("create database trial").unwrap();
    let target = superuser.in_database("trial");
    load(target.clone(), Content::Profiles { users: 5, per_user: 16 });
    let template = Template::create(&superuser, "trial", ServerOwnership::Ours).unwrap();
    template.restore().unwrap();
    let begin = template.end_sessions_and_read_xmax().unwrap();
    assert!(begin.is_some());
    let mut reader = target.open(TEST_TIMEOUT).unwrap();
    reader.query("begin; select sum(value_id) from profiles").unwrap();
    assert_eq!(template.end_sessions_and_read_xmax().unwrap(), begin, "it was only read");
    reader.query("select 1").unwrap_err();
    // A rolled-back change leaves dead rows too.
    let writes =
        ["update profiles set value_id = -1", "begin; delete from profiles; rollback", "analyze profiles"];
    let mut known = begin;
    for sql in writes {
        target.open(TEST_TIMEOUT).unwrap().query(sql).unwrap();
        let now = template.end_sessions_and_read_xmax().unwrap();
        assert!(now > known, "{sql}: {now:?} after {known:?}");
        known = now;
    }
    // The restore is interrupted, together with its session.
    let mut writer = target.open(TEST_TIMEOUT).unwrap();
    writer.query("begin; update profiles set value_id = -2").unwrap();
    assert!(template.end_sessions_and_read_xmax().unwrap() > known);
}

#[test]
fn restore_keeps_owner_and_completes_interrupted_restore() {
    let (mut connection, name) = profiles();
    connection
        .query(&format!("create role owner_{name}; alter database {name} owner to owner_{name}"))
        .unwrap();
    let template = Template::create(&server().target(), &name, ServerOwnership::Ours).unwrap();
    let mut other = server().target().open(TEST_TIMEOUT).unwrap();
    // The restore is interrupted between its two halves.
    other.query(&format!("drop database {name}")).unwrap();
    template.restore().unwrap();
    let owner =
        format!("select datdba::regrole || ' ' || datallowconn from pg_database where datname = '{name}'");
    assert_eq!(value(&mut other, &owner), format!("owner_{name} true"));
    // The template rejects logins.
    let refused = in_database(&format!("{name}_template")).open(TEST_TIMEOUT).unwrap_err();
    assert_eq!(refused.code(), Code::SqlState(*b"55000"), "{refused:?}");
    // A second template replaces it; then it is dropped.
    let template = Template::create(&server().target(), &name, ServerOwnership::Ours).unwrap();
    template.drop_template().unwrap();
    let left = format!("select count(*) from pg_database where datname like '{name}\\_%'");
    assert_eq!(value(&mut other, &left), "0");
}

#[test]
fn foreign_databases_are_not_dropped() {
    let superuser = server().target();
    let foreign = |result: Result<Template, Error>| match result {
        Err(Error::ForeignDatabase { database }) => database,
        other => panic!("{other:?}"),
    };
    let (mut connection, name) = profiles();
    let unmarked = Template::create(&superuser, &name, ServerOwnership::Attached);
    assert!(matches!(unmarked, Err(Error::UnmarkedDatabase { database }) if database == name));
    assert_eq!(value(&mut connection, SPOILT), "0");
    assert_eq!(foreign(Template::create(&superuser, "postgres", ServerOwnership::Ours)), "postgres");
    assert!(matches!(
        Template::create(&superuser, "nowhere", ServerOwnership::Ours),
        Err(Error::MissingDatabase { database }) if database == "nowhere"
    ));
    // A foreign database has the template's name.
    let mut other = superuser.open(TEST_TIMEOUT).unwrap();
    other.query(&format!("create database {name}_template")).unwrap();
    assert_eq!(
        foreign(Template::create(&superuser, &name, ServerOwnership::Ours)),
        format!("{name}_template")
    );
    assert_eq!(value(&mut connection, SPOILT), "0");
}

/// The owner of a database lets pgdyno drop it with the statement that the error contains. Only tables of a dataset may
/// be in it.
#[test]
fn marked_database_is_used_if_empty() {
    let (mut connection, name) = fresh_database();
    let (superuser, attached) = (server().target(), ServerOwnership::Attached);
    drop(connection.query("create extension pg_stat_statements; create schema pgdyno_allowed").unwrap());
    let refused = Template::check(&superuser, &name, attached).unwrap_err();
    assert!(matches!(refused, Error::UnmarkedDatabase { .. }), "{refused:?}");
    let advice = format!("comment on database {name} is 'pgdyno: may be dropped'");
    connection.query("create table theirs()").unwrap();
    connection.query(&advice).unwrap();
    connection.query("set application_name = 'pgdyno'").unwrap();
    let refused = Template::check(&superuser, &name, attached).unwrap_err();
    let Error::ForeignTable { table, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(table, "theirs");
    connection.query("drop table theirs").unwrap();
    Template::check(&superuser, &name, attached).unwrap();
    load(in_database(&name), Content::Profiles { users: 5, per_user: 16 });
    // The next run finds the dataset.
    Template::check(&superuser, &name, attached).unwrap();
    let template = Template::create(&superuser, &name, attached).unwrap();
    template.restore().unwrap();
    let mut connection = in_database(&name).open(TEST_TIMEOUT).unwrap();
    connection.query("set application_name = 'pgdyno'").unwrap();
    assert_eq!(value(&mut connection, SPOILT), "0");
    Template::check(&superuser, &name, attached).unwrap();
    // The restored database has the owner's comment, not pgdyno's.
    connection.query("create table theirs()").unwrap();
    assert!(matches!(Template::check(&superuser, &name, attached), Err(Error::ForeignTable { .. })));
    template.drop_template().unwrap();
}

#[test]
fn foreign_sessions_are_not_ended() {
    let (superuser, name) = (server().target(), "attached_app");
    create_database(&superuser, name, "postgres").unwrap();
    load(in_database(name), Content::Profiles { users: 5, per_user: 16 });
    let mut session = in_database(name).open(TEST_TIMEOUT).unwrap();
    session.query("set application_name = 'shop'").unwrap();
    let refused = Template::create(&superuser, name, ServerOwnership::Attached).unwrap_err();
    let Error::InUse { database, sessions } = &refused else { panic!("{refused:?}") };
    assert!(
        database == name && sessions.len() == 1 && sessions[0].ends_with("user postgres, application shop")
    );
    // Other sessions may connect again.
    assert_eq!(value(&mut in_database(name).open(TEST_TIMEOUT).unwrap(), SPOILT), "0");
    session.query("set application_name = 'pgdyno load'").unwrap();
    let template = Template::create(&superuser, name, ServerOwnership::Attached).unwrap();
    assert_eq!(template.creation.sessions_ended, 1);

    let mut session = in_database(name).open(TEST_TIMEOUT).unwrap();
    session.query(SPOIL).unwrap();
    session.query("set application_name = 'shop'").unwrap();
    assert!(matches!(template.restore(), Err(Error::InUse { .. })));
    assert_eq!(value(&mut session, SPOILT), "80");
    drop(session);
    // The server notices the closed sessions a little later.
    while matches!(template.restore(), Err(Error::InUse { .. })) {
        std::thread::yield_now();
    }
    assert_eq!(value(&mut in_database(name).open(TEST_TIMEOUT).unwrap(), SPOILT), "0");
    // The copy belongs to pgdyno as well.
    template.restore().unwrap();
}

#[test]
fn prepares_warm_cache() {
    let (mut connection, name) = fresh_database();
    load(in_database(&name), Content::Tickets { rows: 20_000 });
    assert_eq!(prepare_cache(CacheState::AsIs, &in_database(&name), None).unwrap(), CachePreparation::AsIs);
    assert_eq!(
        prepare_cache(CacheState::Cold, &in_database(&name), None).unwrap(),
        CachePreparation::ColdUnavailable
    );
    // No extension is created in an attached server.
    let CachePreparation::ReadThrough { relations, bytes, indexes, .. } =
        warm_cache(&mut connection, ServerOwnership::Attached).unwrap()
    else {
        panic!("it has no pg_prewarm")
    };
    let size = "select pg_relation_size('book.tickets') + pg_relation_size('book.tickets_pkey')";
    // The third is the empty TOAST index, which has one page.
    let size: u64 = value(&mut connection, size).parse().unwrap();
    assert!(
        indexes && (2..=4).contains(&relations) && bytes >= size && bytes < size + 64 * 1024,
        "{bytes} {size}"
    );
    connection.query("create extension pg_buffercache").unwrap();
    let CachePreparation::Prewarmed { bytes, .. } =
        warm_cache(&mut connection, ServerOwnership::Ours).unwrap()
    else {
        panic!("pg_prewarm is part of contrib")
    };
    assert!(bytes >= size, "{bytes} {size}");
    let state = query_state(&mut connection).unwrap();
    let buffered = state.tables[0].buffered.unwrap();
    assert!(buffered >= size * 9 / 10, "{buffered} of {size}");
    assert_eq!((state.tables[0].rows, state.tables[0].dead), (Some(20_000), 0));
    assert!(state.tables[0].last_analyze.is_some(), "{state:?}");
}

#[test]
fn prepares_cold_cache() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let mut postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
    load(postgres.target(), Content::Tickets { rows: 20_000 });
    let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
    let file = postgres.data.join(value(&mut connection, "select pg_relation_filepath('book.tickets')"));
    // util-linux reports the bytes of the file in the page cache.
    let resident = || -> u64 {
        let output =
            Command::new("fincore").args(["--bytes", "--noheadings", "--output", "RES"]).arg(&file).output();
        String::from_utf8_lossy(&output.unwrap().stdout).trim().parse().unwrap()
    };
    assert!(resident() > 1_000_000, "{}", resident());
    let target = postgres.target();
    let done = prepare_cache(CacheState::Cold, &target, Some((&mut postgres, &mut supervisor))).unwrap();
    let CachePreparation::Cold { evicted, .. } = done else { panic!("{done:?}") };
    assert!(evicted.files > 100 && evicted.bytes > 1_000_000, "{evicted:?}");
    assert_eq!(resident(), 0);
    let mut connection = target.open(TEST_TIMEOUT).unwrap();
    assert_eq!(value(&mut connection, "select count(fio) from book.tickets"), "20000");
    assert!(resident() > 1_000_000);
    let files = restore::database_directory(&mut connection, &postgres.data).unwrap();
    assert!(file.starts_with(&files), "{} {}", file.display(), files.display());
}
