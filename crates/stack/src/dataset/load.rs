//! How does a dataset get into a database?

use super::copy::{Sent, Source, fill};
use super::mark::{self, Mark};
use super::{Bare, Error, Loaded, Loader, Sheet, Stage, quoted, sheets};
use crate::ask::{self, Connection};
use model::plan::Dataset;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Opening a connection takes no longer; loading may take any time.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes the tables of `dataset`, unless they are there already, and brings them into the state in which the first
/// measurement pays for nothing: rows frozen, keys and indexes built, statistics taken.
///
/// The rows are a function of seed, table and row number alone. One worker writes them in order, in the transaction that
/// makes the tables; several write the same rows in any order. A dataset that we loaded before is dropped for another one;
/// what somebody else made is never touched: [`Error::Foreign`]. When stopped or failing, ours is dropped, or will be by
/// the next load.
pub fn load(dataset: &Dataset, loader: &Loader<'_>, tell: &mut dyn FnMut(Stage)) -> Result<Loaded, Error> {
    let begun = Instant::now();
    let sheets = sheets(dataset)?;
    let wanted = mark::wanted(dataset);
    let mut connections = vec![loader.open()?];
    let mark = Mark::read(&mut connections[0])?;
    if let Some(mark) = &mark
        && mark.holds(&wanted)
        && !loader.again
    {
        return Ok(Loaded::new(
            Sent { rows: mark.rows, bytes: mark.bytes },
            Duration::ZERO,
            begun.elapsed(),
            true,
        ));
    }
    clear(&mut connections[0], mark.as_ref(), &sheets, tell)?;
    loader.stopped()?;
    let many = loader.workers > 1;
    if many {
        for _ in 1..loader.workers {
            connections.push(loader.open()?);
        }
    }
    let made = make(&mut connections, &sheets, &wanted, loader.stop, tell)
        .and_then(|copied| finish(&mut connections[0], &sheets, copied, loader.stop, tell));
    let (sent, copying) = match made {
        Ok(it) => it,
        Err(error) => {
            drop(connections);
            // Rows that nobody asks for any more would stay. Where even that fails, the mark tells the next load.
            let _ = loader.open().map(|mut it| {
                let mark = Mark::read(&mut it);
                mark.map(|mark| mark.filter(|it| !it.complete).map(|mark| mark.drop_all(&mut it)))
            });
            return Err(error);
        }
    };
    Ok(Loaded::new(sent, copying, begun.elapsed(), false))
}

/// Takes back what [`load`] made: its tables, schemas and mark. What somebody else made stays.
pub fn unload(loader: &Loader<'_>) -> Result<(), ask::Error> {
    let mut connection = loader.open()?;
    match Mark::read(&mut connection)? {
        Some(mark) => mark.drop_all(&mut connection),
        None => Ok(()),
    }
}

/// Sends the same bytes by as many connections into the same tables, written beforehand, without keys and statistics; then
/// drops them: what loading could cost at best. Holds all bytes in memory. The dataset must not be there.
pub fn bare_copy(dataset: &Dataset, loader: &Loader<'_>) -> Result<Bare, Error> {
    let sheets = sheets(dataset)?;
    let kept: Vec<Vec<(u64, Vec<u8>)>> = sheets.iter().map(blocks).collect();
    let mut connections =
        (0..loader.workers.max(1)).map(|_| loader.open()).collect::<Result<Vec<_>, ask::Error>>()?;
    let mark = Mark::read(&mut connections[0])?;
    clear(&mut connections[0], mark.as_ref(), &sheets, &mut |_| {})?;
    let begun = Instant::now();
    create(&mut connections[0], &sheets, "a bare copy")?;
    let freeze = connections.len() == 1;
    if !freeze {
        connections[0].query("commit")?;
    }
    let mut total = Sent::default();
    for (sheet, kept) in sheets.iter().zip(&kept) {
        let source = Source::Kept(kept);
        let sent =
            fill(&mut connections, &sheet.copy(freeze), sheet.frame(), source, loader.stop, &mut |_| {})?;
        total = Sent { rows: total.rows + sent.rows, bytes: total.bytes + sent.bytes };
    }
    if freeze {
        connections[0].query("commit")?;
    }
    let took = begun.elapsed();
    if let Some(mark) = Mark::read(&mut connections[0])? {
        mark.drop_tables(&mut connections[0])?;
    }
    Ok(Bare { rows: total.rows, bytes: total.bytes, took })
}

/// One table by one connection, in one transaction, without a mark.
pub(super) fn alone(
    connection: &mut Connection,
    sheet: &Sheet,
    tell: &mut dyn FnMut(Stage),
) -> Result<(), ask::Error> {
    connection.patience(None).map_err(|it| connection.net(it))?;
    connection.query("begin")?;
    if let Some(schema) = &sheet.schema {
        connection.query(&format!("create schema {}", quoted(schema)))?;
    }
    connection.query(&sheet.create)?;
    let never = AtomicBool::new(false);
    let source = Source::Written(sheet, sheet.block());
    let one = std::slice::from_mut(connection);
    let sent =
        fill(one, &sheet.copy(true), sheet.frame(), source, &never, &mut |it| tell(Stage::Rows(it.rows)));
    match sent {
        Ok(_) => {}
        Err(Error::Ask(it)) => return Err(it),
        Err(it) => unreachable!("nobody stops it, and its rows are ours: {it}"),
    }
    connection.query("commit")?;
    let sheets = std::slice::from_ref(sheet);
    settle(connection, sheets, &never, tell).map_err(|it| match it {
        Error::Ask(it) => it,
        it => unreachable!("nobody stops it: {it}"),
    })
}

impl Loader<'_> {
    fn open(&self) -> Result<Connection, ask::Error> {
        let mut connection = self.target.open(PATIENCE)?;
        connection.patience(None).map_err(|it| connection.net(it))?;
        Ok(connection)
    }

    fn stopped(&self) -> Result<(), Error> {
        stopped(self.stop)
    }
}

fn stopped(stop: &AtomicBool) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
}

/// Drops what we made before; refuses if there is still something in the way.
fn clear(
    connection: &mut Connection,
    mark: Option<&Mark>,
    sheets: &[Sheet],
    tell: &mut dyn FnMut(Stage),
) -> Result<(), Error> {
    if let Some(mark) = mark {
        tell(Stage::Dropping);
        mark.drop_tables(connection)?;
    }
    for sheet in sheets {
        let sql = format!("select to_regclass({})", mark::literal(&sheet.identifier()));
        if let Some(table) = connection.value(&sql)? {
            return Err(Error::Foreign { table });
        }
    }
    Ok(())
}

/// Begins a transaction that makes schemas, tables and the mark.
fn create(connection: &mut Connection, sheets: &[Sheet], wanted: &str) -> Result<(), ask::Error> {
    connection.query("begin")?;
    let mut schemas = Vec::new();
    for schema in sheets.iter().filter_map(|it| it.schema.as_ref()) {
        let there = format!("select to_regnamespace({})", mark::literal(&quoted(schema)));
        if connection.value(&there)?.is_none() {
            connection.query(&format!("create schema {}", quoted(schema)))?;
            schemas.push(schema.clone());
        }
    }
    for sheet in sheets {
        connection.query(&sheet.create)?;
    }
    mark::begin(connection, wanted, sheets, &schemas)
}

/// Makes and fills the tables; how much was sent, and how long that took.
fn make(
    connections: &mut [Connection],
    sheets: &[Sheet],
    wanted: &str,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Stage),
) -> Result<(Sent, Duration), Error> {
    let begun = Instant::now();
    create(&mut connections[0], sheets, wanted)?;
    // In the transaction that made the table, rows can be written frozen; but only that one connection sees it.
    let freeze = connections.len() == 1;
    if !freeze {
        connections[0].query("commit")?;
    }
    let mut total = Sent::default();
    for sheet in sheets {
        let before = total;
        let mut told = |it: Sent| tell(Stage::Rows(before.rows + it.rows));
        let source = Source::Written(sheet, sheet.block());
        let sent = fill(connections, &sheet.copy(freeze), sheet.frame(), source, stop, &mut told)?;
        total = Sent { rows: before.rows + sent.rows, bytes: before.bytes + sent.bytes };
    }
    if freeze {
        connections[0].query("commit")?;
    }
    Ok((total, begun.elapsed()))
}

fn finish(
    connection: &mut Connection,
    sheets: &[Sheet],
    (sent, copying): (Sent, Duration),
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Stage),
) -> Result<(Sent, Duration), Error> {
    settle(connection, sheets, stop, tell)?;
    mark::complete(connection, sent.rows, sent.bytes)?;
    Ok((sent, copying))
}

/// Keys, indexes and statistics.
fn settle(
    connection: &mut Connection,
    sheets: &[Sheet],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Stage),
) -> Result<(), Error> {
    tell(Stage::Keys);
    for statement in sheets.iter().flat_map(|it| &it.after) {
        stopped(stop)?;
        connection.query(statement)?;
    }
    tell(Stage::Statistics);
    for sheet in sheets {
        stopped(stop)?;
        // Also sets the visibility map and hint bits, or the first readers would.
        connection.query(&format!("vacuum (freeze, analyze) {}", sheet.identifier()))?;
    }
    Ok(())
}

/// All rows of a table, written.
fn blocks(sheet: &Sheet) -> Vec<(u64, Vec<u8>)> {
    let block = sheet.block();
    let write = |at: u64| {
        let (first, end) = (at * block, sheet.rows.min((at + 1) * block));
        let mut bytes = Vec::new();
        (first..end).for_each(|row| (sheet.write)(row, &mut bytes));
        (end - first, bytes)
    };
    (0..sheet.rows.div_ceil(block)).map(write).collect()
}
