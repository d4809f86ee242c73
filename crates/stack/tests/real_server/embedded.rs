//! Does a fetched server run?

use super::server::{PATIENCE, keeper};
use stack::component::postgres::{Postgres, Settings};
use stack::embedded::{cached, obtain};
use stack::find::Origin;
use stack::supervisor::Supervisor;

/// `cargo test -p stack --test real_server -- --ignored`
#[test]
#[ignore = "fetches 15 MB for each version"]
fn every_offered_version_runs() {
    for major in stack::embedded::MAJORS {
        let installation = obtain(Some(major), |_| {}).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!((installation.version.major, installation.origin), (major, Origin::Embedded));
        assert_eq!(cached(Some(major)), Some(installation.clone()));
        let mut supervisor = Supervisor::start(&keeper()).unwrap();
        let postgres = Postgres::start(&mut supervisor, &installation, &Settings::default());
        let postgres = postgres.unwrap_or_else(|it| panic!("{major}: {it}"));
        let mut connection = postgres.target().open(PATIENCE).unwrap();
        assert_eq!(connection.server_version() / 10_000, major);
        connection.query("create extension pg_stat_statements").unwrap();
    }
}
