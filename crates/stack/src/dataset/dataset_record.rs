//! Record of the dataset that pgdyno loaded into a database
//!
//! One row in `pgdyno.dataset` contains the loaded content and the tables' object ids and names. pgdyno drops a table
//! only if both its id and its name agree, so it never drops a table that another program created. A copy of the
//! database keeps ids and names. A dump that is restored elsewhere keeps the row, but its object ids belong to other
//! tables there.

use super::TableSpec;
use crate::client::{Connection, Error};
use model::plan::{Content, Dataset, DumpFile};

/// Version of the generators; incremented when the same seed gives other rows.
pub const GENERATOR_VERSION: u32 = 2;

/// Contents of a row of `pgdyno.dataset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DatasetRecord {
    /// Value of [`dataset_key`].
    pub content: String,
    /// False from the creation of the first table until the last statistics are collected.
    pub complete: bool,
    pub rows: u64,
    pub bytes: u64,
    /// Existing tables that match the record by object id and name. These may be dropped.
    pub tables: Vec<String>,
    /// Number of recorded object ids that still exist, whatever their names. Records of earlier versions have no names.
    pub tables_found: usize,
    /// Number of tables that were created.
    pub tables_created: usize,
    /// Schemas that pgdyno created and that still exist.
    pub schemas: Vec<String>,
}

/// Returns a key that is equal for datasets with equal rows.
pub(super) fn dataset_key(dataset: &Dataset) -> String {
    let content = serde_json::to_string(&dataset.content).expect("the content can be serialised");
    format!("generator {GENERATOR_VERSION}, seed {}, {content}", dataset.seed)
}

/// Returns a key that is equal for dumps with equal contents, wherever they are.
pub(super) fn dump_key(files: &[DumpFile]) -> String {
    let hashes: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    format!("dump {}", hashes.join(" "))
}

/// Returns a key that is equal for equal contents; `None` if the content can change without a change of the dataset.
pub fn content_key(dataset: &Dataset) -> Option<String> {
    match &dataset.content {
        Content::Dump { files } => Some(dump_key(files)),
        Content::Template { .. } | Content::Source(_) => None,
        _ => Some(dataset_key(dataset)),
    }
}

/// Lists tables in this database that pgdyno loaded.
pub(crate) fn recorded_tables(connection: &mut Connection) -> Result<Vec<String>, Error> {
    Ok(DatasetRecord::read(connection)?.map(|it| it.tables).unwrap_or_default())
}

impl DatasetRecord {
    /// Reads the record of this database; `None` if pgdyno has loaded nothing into it.
    pub fn read(connection: &mut Connection) -> Result<Option<DatasetRecord>, Error> {
        if connection.value("select to_regclass('pgdyno.dataset')")?.is_none() {
            return Ok(None);
        }
        let answer = connection.query(
            "select content, complete, rows, bytes, coalesce(cardinality(tables), 0) from pgdyno.dataset",
        )?;
        let Some(row) = answer.rows.into_iter().next() else { return Ok(None) };
        let number = |at: usize| row[at].as_deref().and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut record = DatasetRecord {
            content: row[0].clone().unwrap_or_default(),
            complete: row[1].as_deref() == Some("t"),
            rows: number(2),
            bytes: number(3),
            tables: Vec::new(),
            tables_found: 0,
            tables_created: number(4) as usize,
            schemas: Vec::new(),
        };
        let tables = connection.query(
            "select c.oid::regclass, to_jsonb(d) -> 'names' ? format('%I.%I', n.nspname, c.relname) \
             from pgdyno.dataset d join pg_class c on c.oid = any(d.tables) \
             join pg_namespace n on n.oid = c.relnamespace order by c.oid",
        )?;
        record.tables_found = tables.rows.len();
        let named = tables.rows.into_iter().filter(|row| row[1].as_deref() == Some("t"));
        record.tables = named.filter_map(|row| row[0].clone()).collect();
        let schemas = connection.query(
            "select quote_ident(n.nspname) from pgdyno.dataset d join pg_namespace n on n.nspname = any(d.schemas)",
        )?;
        record.schemas = schemas.rows.into_iter().filter_map(|row| row[0].clone()).collect();
        Ok(Some(record))
    }

    /// True if the dataset with this key is complete and all its tables exist.
    pub fn matches(&self, key: &str) -> bool {
        self.complete && self.content == key && self.tables_found == self.tables_created
    }

    /// Drops the recorded tables, and those schemas created by pgdyno that are then empty.
    pub fn drop_tables(&self, connection: &mut Connection) -> Result<(), Error> {
        connection.query("begin")?;
        let dropped = self.drop_tables_and_schemas(connection);
        connection.query(if dropped.is_ok() { "commit" } else { "rollback" })?;
        dropped
    }

    /// Like [`drop_tables`](Self::drop_tables). Also drops the record's table, and its schema if the schema is then
    /// empty.
    pub fn drop_all(&self, connection: &mut Connection) -> Result<(), Error> {
        self.drop_tables(connection)?;
        if connection.value("select 1 from pgdyno.dataset")?.is_none() {
            connection.query("drop table pgdyno.dataset")?;
            let used = "select 1 from pg_class where relnamespace = 'pgdyno'::regnamespace";
            if connection.value(used)?.is_none() {
                connection.query("drop schema pgdyno")?;
            }
        }
        Ok(())
    }

    fn drop_tables_and_schemas(&self, connection: &mut Connection) -> Result<(), Error> {
        if !self.tables.is_empty() {
            connection.query(&format!("drop table {}", self.tables.join(", ")))?;
        }
        for schema in &self.schemas {
            let empty = format!(
                "select not exists (select from pg_class where relnamespace = n.oid) \
                 and not exists (select from pg_type where typnamespace = n.oid) \
                 and not exists (select from pg_proc where pronamespace = n.oid) \
                 from pg_namespace n where n.oid = '{}'::regnamespace",
                schema.replace('\'', "''")
            );
            if connection.value(&empty)?.as_deref() == Some("t") {
                connection.query(&format!("drop schema {schema}"))?;
            }
        }
        connection.query("delete from pgdyno.dataset").map(drop)
    }
}

/// Inserts the record, in the transaction that creates the tables.
pub(super) fn insert_record(
    connection: &mut Connection,
    key: &str,
    specs: &[TableSpec],
    schemas: &[String],
) -> Result<(), Error> {
    connection.query("create schema if not exists pgdyno")?;
    connection.query(
        "create table if not exists pgdyno.dataset(one boolean primary key default true check (one), \
         content text not null, complete boolean not null default false, rows bigint, bytes bigint, \
         tables oid[] not null, schemas text[] not null, loaded timestamptz not null default now(), names text[])",
    )?;
    // The table of an earlier version has no column `names`.
    connection.query("alter table pgdyno.dataset add column if not exists names text[]")?;
    let tables: Vec<String> =
        specs.iter().map(|it| format!("{}::regclass::oid", quote_literal(&it.identifier()))).collect();
    let schemas: Vec<String> = schemas.iter().map(|it| quote_literal(it)).collect();
    connection
        .query(&format!(
            "insert into pgdyno.dataset(content, tables, schemas, names) \
             select {}, made, array[{}]::text[], (select array_agg(format('%I.%I', nspname, relname)) from pg_class c \
             join pg_namespace n on n.oid = relnamespace where c.oid = any(made)) from (select array[{}]::oid[]) as it(made)",
            quote_literal(key),
            schemas.join(", "),
            tables.join(", ")
        ))
        .map(drop)
}

/// Marks the dataset as complete.
pub(super) fn mark_complete(connection: &mut Connection, rows: u64, bytes: u64) -> Result<(), Error> {
    let sql = format!("update pgdyno.dataset set complete = true, rows = {rows}, bytes = {bytes}");
    connection.query(&sql).map(drop)
}

/// Quotes an SQL string literal, valid for either value of `standard_conforming_strings`.
pub(crate) fn quote_literal(text: &str) -> String {
    let text = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", text.replace('\\', "\\\\")),
        false => format!("'{text}'"),
    }
}
