//! Sizes, dead rows and statistics of tables

use crate::client::{Connection, Error};
use model::table_sizes::{TableSize, TableSizes};
use std::cmp::Reverse;

/// User tables of one database, by name; excludes system tables and pgdyno's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatabaseState {
    pub tables: Vec<TableState>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableState {
    /// Qualified table name, quoted as in SQL.
    pub name: String,
    /// Size of rows, free space and TOAST, bytes.
    pub heap: u64,
    /// Size of all indexes, bytes.
    pub indexes: u64,
    /// Planner's estimate of the number of rows; `None` if the table was never vacuumed or analyzed.
    pub rows: Option<u64>,
    /// Number of rows updated or deleted since the last vacuum. A crash or a copy resets these statistics.
    pub dead: u64,
    /// Time of the last manual or automatic analyze, as the server prints it; `None` if there was none, or after a
    /// copy.
    pub last_analyze: Option<String>,
    /// Share of all-visible pages, 0..=1; 1 for an empty table.
    pub all_visible: f64,
    /// Size of rows and indexes in shared buffers, bytes; `None` without the extension `pg_buffercache`.
    pub buffered: Option<u64>,
}

/// Maximum number of tables whose sizes are reported.
const TABLES_MAX: usize = 20;

/// Reads the state of all tables from the catalogs; reads no rows.
pub fn query_state(connection: &mut Connection) -> Result<DatabaseState, Error> {
    let answer = connection.query(
        "select format('%I.%I', n.nspname, c.relname), \
           pg_table_size(c.oid), pg_indexes_size(c.oid), c.reltuples::bigint, \
           coalesce(s.n_dead_tup, 0), greatest(s.last_analyze, s.last_autoanalyze), \
           case when c.relpages > 0 then least(c.relallvisible::float8 / c.relpages, 1) else 1 end \
         from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         left join pg_stat_all_tables s on s.relid = c.oid \
         where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pgdyno') \
           and n.nspname !~ '^pg_(toast|temp)' order by 1",
    )?;
    let mut state = DatabaseState::default();
    for row in answer.rows {
        let text = |at: usize| row[at].as_deref().unwrap_or_default();
        let number = |at: usize| text(at).parse().unwrap_or(0);
        state.tables.push(TableState {
            name: text(0).to_owned(),
            heap: number(1),
            indexes: number(2),
            // −1, or 0 pages before version 14, means unknown.
            rows: text(3).parse().ok(),
            dead: number(4),
            last_analyze: row[5].clone(),
            all_visible: text(6).parse().unwrap_or(0.0),
            buffered: None,
        });
    }
    add_buffered(connection, &mut state)?;
    Ok(state)
}

fn add_buffered(connection: &mut Connection, state: &mut DatabaseState) -> Result<(), Error> {
    let schema = connection.value(
        "select quote_ident(nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace \
         where extname = 'pg_buffercache'",
    )?;
    let Some(schema) = schema else { return Ok(()) };
    let answer = connection.query(&format!(
        "with cached as (select relfilenode, count(*) * current_setting('block_size')::bigint as bytes \
           from {schema}.pg_buffercache where reldatabase = (select oid from pg_database where datname = current_database()) \
           group by 1), \
         parts as (select oid as whole, oid as part from pg_class where relkind in ('r', 'm') \
           union all select indrelid, indexrelid from pg_index) \
         select format('%I.%I', n.nspname, c.relname), coalesce(sum(bytes), 0) \
         from pg_class c join pg_namespace n on n.oid = c.relnamespace join parts on whole = c.oid \
         left join cached on cached.relfilenode = pg_relation_filenode(part) group by 1"
    ))?;
    for row in answer.rows {
        let name = row[0].as_deref().unwrap_or_default();
        if let Some(table) = state.tables.iter_mut().find(|it| it.name == name) {
            table.buffered = row[1].as_deref().and_then(|it| it.parse().ok());
        }
    }
    Ok(())
}

impl DatabaseState {
    /// Sizes of the tables in both states. The tables that changed most come first, then the largest.
    pub fn sizes_since(&self, before: &DatabaseState) -> Vec<TableSizes> {
        let size = |it: &TableState| TableSize { heap: it.heap, indexes: it.indexes, dead_rows: it.dead };
        let sizes = |now: &TableState| {
            let before = before.tables.iter().find(|it| it.name == now.name)?;
            Some(TableSizes { table: now.name.clone(), before: size(before), after: size(now) })
        };
        let mut all: Vec<TableSizes> = self.tables.iter().filter_map(sizes).collect();
        all.sort_by_key(|it| Reverse((it.after.total().abs_diff(it.before.total()), it.after.total())));
        all.truncate(TABLES_MAX);
        all
    }
}
