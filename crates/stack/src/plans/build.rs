//! Builds an index and measures its cost

use crate::client::{Connection, Error};
use model::advice::IndexBuild;
use std::time::Instant;

/// Runs a statement such as `CREATE INDEX`, without a timeout. The caller ensures that pgdyno may change the
/// database.
pub fn build_index(connection: &mut Connection, ddl: &str) -> Result<IndexBuild, Error> {
    connection.set_timeout(None);
    let before = total_index_size(connection)?;
    let begun = Instant::now();
    connection.query(ddl)?;
    let took = begun.elapsed().into();
    Ok(IndexBuild {
        ddl: ddl.to_owned(),
        elapsed: took,
        bytes: total_index_size(connection)?.saturating_sub(before),
    })
}

/// Total size of all indexes on user tables, bytes.
fn total_index_size(connection: &mut Connection) -> Result<u64, Error> {
    let sql = "select coalesce(sum(pg_relation_size(i.indexrelid)), 0) from pg_index i \
               join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace \
               where n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')";
    Ok(connection.value(sql)?.and_then(|it| it.parse().ok()).unwrap_or(0))
}
