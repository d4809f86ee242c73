//! Prepares the database and operating-system caches before a trial

use super::{Error, FORBIDDEN, ServerOwnership};
use crate::client::{self, Connection, Target};
use crate::component::postgres::Postgres;
use crate::supervisor::Supervisor;
use model::plan::CacheState;
use rustix::fs::{Advice, fadvise, fdatasync};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Cache preparation that was performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePreparation {
    /// The caches were left unchanged, as requested.
    AsIs,
    /// Relations were read into shared buffers with `pg_prewarm`, as far as they fit, indexes last.
    Prewarmed { relations: u32, bytes: u64, took: Duration },
    /// Relations were read once, so that the page cache contains them. `indexes` is false if the user is not
    /// permitted to read server files.
    ReadThrough { relations: u32, bytes: u64, indexes: bool, took: Duration },
    /// The server was restarted, and its files were evicted from the page cache.
    Cold { evicted: EvictionResult, took: Duration },
    /// A cold cache was requested, but neither the server nor its files belong to pgdyno.
    ColdUnavailable,
}

/// Number and size of files that were evicted from the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvictionResult {
    pub files: u32,
    pub bytes: u64,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Brings the caches into the requested state.
///
/// `database` is a superuser login. `node` is the server if pgdyno started it; it is restarted for a cold cache.
pub fn prepare_cache(
    state: CacheState,
    database: &Target,
    node: Option<(&mut Postgres, &mut Supervisor)>,
) -> Result<CachePreparation, Error> {
    match (state, node) {
        (CacheState::AsIs, _) => Ok(CachePreparation::AsIs),
        (CacheState::Warm, node) => {
            let ownership = if node.is_some() { ServerOwnership::Ours } else { ServerOwnership::Attached };
            Ok(warm_cache(&mut database.open(CONNECT_TIMEOUT)?, ownership)?)
        }
        (CacheState::Cold, None) => Ok(CachePreparation::ColdUnavailable),
        (CacheState::Cold, Some((postgres, supervisor))) => {
            let begun = Instant::now();
            let files = database_directory(&mut database.open(CONNECT_TIMEOUT)?, &postgres.local_data)?;
            postgres.stop(supervisor).map_err(Error::Server)?;
            let evicted = evict_page_cache(&files).map_err(|error| Error::Files { path: files, error });
            postgres.restart(supervisor).map_err(Error::Server)?;
            Ok(CachePreparation::Cold { evicted: evicted?, took: begun.elapsed() })
        }
    }
}

/// Reads all tables and indexes of the database into shared buffers, or at least into the page cache.
///
/// Creates the extension `pg_prewarm` in a server that pgdyno started. In an attached server, uses the extension only
/// if it exists.
pub fn warm_cache(
    connection: &mut Connection,
    ownership: ServerOwnership,
) -> Result<CachePreparation, client::Error> {
    connection.set_timeout(None);
    let begun = Instant::now();
    if ownership == ServerOwnership::Ours {
        connection.query("create schema if not exists pgdyno")?;
        // This fails if the extension's files are not installed; the fallback below handles that.
        let _ = connection.query("create extension if not exists pg_prewarm schema pgdyno");
    }
    let schema = connection.value(
        "select quote_ident(nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace \
         where extname = 'pg_prewarm'",
    )?;
    let Some(schema) = schema else { return read_through(connection, begun) };
    let (mut count, mut bytes) = (0, 0);
    for (oid, _, _) in relations(connection)? {
        let blocks = connection.value(&format!(
            "select {schema}.pg_prewarm({oid}::regclass) * current_setting('block_size')::bigint"
        ))?;
        count += 1;
        bytes += blocks.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(CachePreparation::Prewarmed { relations: count, bytes, took: begun.elapsed() })
}

/// Lists tables, then their TOAST tables, then indexes: object id, name, and whether the relation is a table.
fn relations(connection: &mut Connection) -> Result<Vec<(u32, String, bool)>, client::Error> {
    let answer = connection.query(
        "select c.oid, c.oid::regclass, c.relkind in ('r', 'm') from pg_class c \
         left join pg_index i on i.indexrelid = c.oid \
         join pg_class t on t.oid = coalesce(i.indrelid, c.oid) \
         left join pg_class w on w.reltoastrelid = t.oid \
         join pg_namespace n on n.oid = coalesce(w.relnamespace, t.relnamespace) \
         where c.relkind in ('r', 'm', 't', 'i') and n.nspname not in ('pg_catalog', 'information_schema', 'pgdyno') \
           and n.nspname !~ '^pg_(toast|temp)' \
         order by array_position('{r,m,t,i}', c.relkind::text), 1",
    )?;
    let part = |row: Vec<Option<String>>| {
        let [oid, name, table] = <[Option<String>; 3]>::try_from(row).ok()?;
        Some((oid?.parse().ok()?, name?, table? == "t"))
    };
    Ok(answer.rows.into_iter().filter_map(part).collect())
}

fn read_through(connection: &mut Connection, begun: Instant) -> Result<CachePreparation, client::Error> {
    let (mut count, mut bytes, mut indexes) = (0, 0, true);
    for (oid, name, table) in relations(connection)? {
        let size = if table {
            connection.query(&format!("select count(*) from only {name}"))?;
            connection.value(&format!("select pg_relation_size({oid})"))?
        } else {
            // The files are segments of at most 1 GB; they are read in pieces of 16 MB.
            match connection.value(&format!(
                "select sum(length(pg_read_binary_file(\
                   pg_relation_filepath({oid}) || case when at >> 30 = 0 then '' else '.' || (at >> 30) end, \
                   at & 1073741823, 16777216))) \
                 from generate_series(0, pg_relation_size({oid}) - 1, 16777216) as at"
            )) {
                Err(error) if error.code() == FORBIDDEN => {
                    indexes = false;
                    continue;
                }
                answer => answer?,
            }
        };
        count += 1;
        bytes += size.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(CachePreparation::ReadThrough { relations: count, bytes, indexes, took: begun.elapsed() })
}

/// Returns the directory of this session's database, below the data directory `data`. Ignores other tablespaces.
pub fn database_directory(connection: &mut Connection, data: &Path) -> Result<PathBuf, client::Error> {
    let oid = connection.value("select oid from pg_database where datname = current_database()")?;
    Ok(data.join("base").join(oid.unwrap_or_default()))
}

/// Asks the kernel to evict the files of a directory from the page cache.
///
/// Dirty pages are written to disk first. Pages that a running process has mapped stay.
pub fn evict_page_cache(directory: &Path) -> io::Result<EvictionResult> {
    let mut evicted = EvictionResult::default();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let size = entry.metadata()?;
        if !size.is_file() {
            continue;
        }
        let file = fs::File::open(entry.path())?;
        fdatasync(&file)?;
        // The range is from offset 0 to the end of the file.
        fadvise(&file, 0, None, Advice::DontNeed)?;
        evicted.files += 1;
        evicted.bytes += size.len();
    }
    Ok(evicted)
}
