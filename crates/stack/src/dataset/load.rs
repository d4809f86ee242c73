//! Loads a dataset into a database

use super::copy::{CopyProgress, RowSource, copy_rows};
use super::dataset_record::{self, DatasetRecord};
use super::{BareCopyResult, Error, LoadResult, Loader, Stage, TableSpec, quote_identifier, table_specs};
use crate::client::{self, Connection};
use crate::interrupt::without_interrupt;
use model::plan::Dataset;
use std::time::{Duration, Instant};

/// Timeout for opening a connection; loading itself has none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Creates the tables of `dataset` unless they exist, and prepares them so that the first measurement has no extra
/// cost: rows are frozen, keys and indexes are built, statistics are collected.
///
/// Rows depend only on seed, table and row number. One worker writes them in order, in the transaction that creates the
/// tables. Several workers write the same rows in any order. A different dataset that pgdyno loaded before is dropped.
/// Tables that pgdyno did not create are never changed: [`Error::ForeignTable`]. If loading is stopped or fails, its
/// tables are dropped at once or by the next load.
pub fn load(
    dataset: &Dataset,
    loader: &Loader,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<LoadResult, Error> {
    let begun = Instant::now();
    let specs = table_specs(dataset)?;
    let key = dataset_record::dataset_key(dataset);
    let mut connections = vec![loader.connect()?];
    let record = DatasetRecord::read(&mut connections[0])?;
    if let Some(record) = &record
        && record.matches(&key)
        && !loader.force
    {
        return Ok(LoadResult::new(
            CopyProgress { rows: record.rows, bytes: record.bytes },
            Duration::ZERO,
            begun.elapsed(),
            true,
        ));
    }
    drop_previous(&mut connections[0], record.as_ref(), &specs, on_progress)?;
    let is_parallel = loader.workers > 1;
    if is_parallel {
        for _ in 1..loader.workers {
            connections.push(loader.connect()?);
        }
    }
    let made = create_and_fill(&mut connections, &specs, &key, on_progress)
        .and_then(|copied| finish_load(&mut connections[0], &specs, copied, on_progress));
    let (sent, copying) = match made {
        Ok(it) => it,
        Err(error) => {
            drop(connections);
            // Drop the incomplete tables. If this fails too, the next load drops them because of the record.
            let _ = without_interrupt(|| drop_incomplete(loader));
            return Err(error.into());
        }
    };
    Ok(LoadResult::new(sent, copying, begun.elapsed(), false))
}

/// Drops the tables that a failed load has created.
fn drop_incomplete(loader: &Loader) -> Result<(), client::Error> {
    let mut connection = loader.connect()?;
    let record = DatasetRecord::read(&mut connection)?.filter(|it| !it.complete);
    record.map_or(Ok(()), |it| it.drop_all(&mut connection))
}

/// Drops everything that [`load`] created: tables, schemas and record. Other tables stay.
pub fn unload(loader: &Loader) -> Result<(), client::Error> {
    without_interrupt(|| {
        let mut connection = loader.connect()?;
        let record = DatasetRecord::read(&mut connection)?;
        record.map_or(Ok(()), |it| it.drop_all(&mut connection))
    })
}

/// Sends the rows of [`load`] over the same number of connections, but builds no keys and collects no statistics. Drops
/// the tables afterwards.
///
/// The duration is a lower bound for the duration of a load. All rows are generated beforehand and held in memory. The
/// dataset must not exist.
pub fn bare_copy(dataset: &Dataset, loader: &Loader) -> Result<BareCopyResult, Error> {
    let specs = table_specs(dataset)?;
    let blocks: Vec<Vec<(u64, Vec<u8>)>> = specs.iter().map(render_blocks).collect();
    let mut connections =
        (0..loader.workers.max(1)).map(|_| loader.connect()).collect::<Result<Vec<_>, client::Error>>()?;
    let record = DatasetRecord::read(&mut connections[0])?;
    drop_previous(&mut connections[0], record.as_ref(), &specs, &mut |_| {})?;
    let begun = Instant::now();
    create_tables(&mut connections[0], &specs, "a bare copy")?;
    let freeze = connections.len() == 1;
    if !freeze {
        connections[0].query("commit")?;
    }
    let mut total = CopyProgress::default();
    for (spec, blocks) in specs.iter().zip(&blocks) {
        let source = RowSource::Buffered(blocks);
        let sent = copy_rows(
            &mut connections,
            &spec.copy_statement(freeze),
            spec.header_and_trailer(),
            source,
            &mut |_| {},
        )?;
        total = CopyProgress { rows: total.rows + sent.rows, bytes: total.bytes + sent.bytes };
    }
    if freeze {
        connections[0].query("commit")?;
    }
    let took = begun.elapsed();
    if let Some(record) = DatasetRecord::read(&mut connections[0])? {
        record.drop_tables(&mut connections[0])?;
    }
    Ok(BareCopyResult { rows: total.rows, bytes: total.bytes, took })
}

/// Loads one table over one connection, in one transaction, without a record.
pub(super) fn load_single_table(
    connection: &mut Connection,
    spec: &TableSpec,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(), client::Error> {
    connection.set_timeout(None);
    connection.query("begin")?;
    if let Some(schema) = &spec.schema {
        connection.query(&format!("create schema {}", quote_identifier(schema)))?;
    }
    connection.query(&spec.create)?;
    let source = RowSource::Generated(spec, spec.rows_per_block());
    let one = std::slice::from_mut(connection);
    copy_rows(one, &spec.copy_statement(true), spec.header_and_trailer(), source, &mut |progress| {
        on_progress(Stage::Rows(progress.rows));
    })?;
    connection.query("commit")?;
    build_keys_and_statistics(connection, std::slice::from_ref(spec), on_progress)
}

impl Loader {
    fn connect(&self) -> Result<Connection, client::Error> {
        let mut connection = self.target.open(CONNECT_TIMEOUT)?;
        connection.set_timeout(None);
        Ok(connection)
    }
}

/// Drops the dataset that pgdyno loaded before; fails if another table has a required name.
fn drop_previous(
    connection: &mut Connection,
    record: Option<&DatasetRecord>,
    specs: &[TableSpec],
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(), Error> {
    if let Some(record) = record {
        on_progress(Stage::Dropping);
        record.drop_tables(connection)?;
    }
    for spec in specs {
        let sql = format!("select to_regclass({})", dataset_record::quote_literal(&spec.identifier()));
        if let Some(table) = connection.value(&sql)? {
            return Err(Error::ForeignTable { table });
        }
    }
    Ok(())
}

/// Begins a transaction and creates schemas, tables and the record in it.
fn create_tables(connection: &mut Connection, specs: &[TableSpec], key: &str) -> Result<(), client::Error> {
    connection.query("begin")?;
    let mut schemas = Vec::new();
    for schema in specs.iter().filter_map(|it| it.schema.as_ref()) {
        let query =
            format!("select to_regnamespace({})", dataset_record::quote_literal(&quote_identifier(schema)));
        if connection.value(&query)?.is_none() {
            connection.query(&format!("create schema {}", quote_identifier(schema)))?;
            schemas.push(schema.clone());
        }
    }
    for spec in specs {
        connection.query(&spec.create)?;
    }
    dataset_record::insert_record(connection, key, specs, &schemas)
}

/// Creates and fills the tables; returns the amount sent and the duration of the COPY.
fn create_and_fill(
    connections: &mut [Connection],
    specs: &[TableSpec],
    key: &str,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(CopyProgress, Duration), client::Error> {
    let begun = Instant::now();
    create_tables(&mut connections[0], specs, key)?;
    // Only the connection that created a table can freeze its rows, and only in the same transaction.
    let freeze = connections.len() == 1;
    if !freeze {
        connections[0].query("commit")?;
    }
    let mut total = CopyProgress::default();
    for spec in specs {
        let before = total;
        let mut on_copy = |it: CopyProgress| on_progress(Stage::Rows(before.rows + it.rows));
        let source = RowSource::Generated(spec, spec.rows_per_block());
        let sent = copy_rows(
            connections,
            &spec.copy_statement(freeze),
            spec.header_and_trailer(),
            source,
            &mut on_copy,
        )?;
        total = CopyProgress { rows: before.rows + sent.rows, bytes: before.bytes + sent.bytes };
    }
    if freeze {
        connections[0].query("commit")?;
    }
    Ok((total, begun.elapsed()))
}

fn finish_load(
    connection: &mut Connection,
    specs: &[TableSpec],
    (sent, copying): (CopyProgress, Duration),
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(CopyProgress, Duration), client::Error> {
    build_keys_and_statistics(connection, specs, on_progress)?;
    dataset_record::mark_complete(connection, sent.rows, sent.bytes)?;
    Ok((sent, copying))
}

/// Builds keys and indexes, and collects statistics.
fn build_keys_and_statistics(
    connection: &mut Connection,
    specs: &[TableSpec],
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(), client::Error> {
    on_progress(Stage::Keys);
    for statement in specs.iter().flat_map(|it| &it.post_load_statements) {
        connection.query(statement)?;
    }
    on_progress(Stage::Statistics);
    for spec in specs {
        // VACUUM also sets the visibility map and hint bits, so that the first queries need not.
        connection.query(&format!("vacuum (freeze, analyze) {}", spec.identifier()))?;
    }
    Ok(())
}

/// Renders all rows of a table as blocks.
fn render_blocks(spec: &TableSpec) -> Vec<(u64, Vec<u8>)> {
    let block = spec.rows_per_block();
    let write = |at: u64| {
        let (first, end) = (at * block, spec.rows.min((at + 1) * block));
        let mut bytes = Vec::new();
        (first..end).for_each(|row| (spec.write)(row, &mut bytes));
        (end - first, bytes)
    };
    (0..spec.rows.div_ceil(block)).map(write).collect()
}
