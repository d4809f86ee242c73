//! Tests downloaded servers

use super::server::{TEST_TIMEOUT, keeper};
use stack::component::postgres::{Postgres, Settings};
use stack::embedded::{MAJORS, MIRROR_VARIABLE, cached, cached_or_fetched};
use stack::find::Origin;
use stack::supervisor::Supervisor;

/// Tests the newest version; with `PGDYNO_TEST_ALL_VERSIONS` set, all versions, each a download of 15 MB. `./x` sets the
/// mirror if it knows one.
#[test]
fn offered_versions_run() {
    if std::env::var(MIRROR_VARIABLE).is_ok_and(|it| !it.is_empty()) || cached(None).is_some() {
        run_versions();
    } else {
        eprintln!("SKIPPED: {MIRROR_VARIABLE} is not set");
    }
}

fn run_versions() {
    let all = std::env::var_os("PGDYNO_TEST_ALL_VERSIONS").is_some();
    let first = if all { *MAJORS.start() } else { *MAJORS.end() };
    for major in first..=*MAJORS.end() {
        let installation = cached_or_fetched(Some(major), |_| {}).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!((installation.version.major, installation.origin), (major, Origin::Embedded));
        assert_eq!(cached(Some(major)), Some(installation.clone()));
        let mut supervisor = Supervisor::start(&keeper()).unwrap();
        let postgres = Postgres::start(&mut supervisor, &installation, &Settings::default());
        let postgres = postgres.unwrap_or_else(|it| panic!("{major}: {it:?}"));
        let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
        assert_eq!(connection.server_version() / 10_000, major);
        connection.query("create extension pg_stat_statements").unwrap();
    }
}
