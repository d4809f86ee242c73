//! Target for run files: they are read without a crash, and a fact that can be read can be written and read again.

#[path = "../../../crates/store/tests/invent/mod.rs"]
mod invent;

use invent::{RandomRun, TestDirectory, end, header, outcome, read_all, trial};
use model::fact::Fact;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use store::{FactRecord, Run, RunStatus};

/// Content of a small complete run file.
static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = TestDirectory::new("fuzz-template");
    let mut writer = store::create(&directory.0, &header("run")).expect("the disk has room");
    let id = writer.begin_trial(trial(0));
    let mut random = RandomRun::new(1);
    let ticks: Vec<_> = (0..2).map(|second| random.typical(second, 10)).collect();
    ticks.iter().for_each(|it| writer.tick(id, Box::new(it.clone())));
    writer.events(id, random.events(3));
    writer.fact(Some(id), Fact::MonitoringCpu(0.01));
    writer.end_trial(id, end(RunStatus::Complete, Some(random.measurement(&ticks))));
    let path = writer.finish(outcome(RunStatus::Complete)).expect("the disk has room");
    fs::read(path).expect("the file can be read")
});

/// Columns of all tables of the template: table, column and declared type.
static COLUMNS: LazyLock<Vec<[String; 3]>> = LazyLock::new(|| {
    let directory = TestDirectory::new("fuzz-columns");
    let path = directory.0.join("run.dyno");
    fs::write(&path, &*TEMPLATE).expect("the disk has room");
    let connection = Connection::open(&path).expect("the file is a database");
    let sql = "SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
               WHERE t.type = 'table' ORDER BY t.name, c.cid";
    let mut statement = connection.prepare(sql).expect("the query is valid");
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]));
    rows.and_then(Iterator::collect).expect("the schema can be read")
});

/// Runs one input on a copy of a small run. The first byte selects the change: bytes of the file, one cell of a table,
/// or a fact.
pub fn run(data: &[u8]) {
    let [change, rest @ ..] = data else { return };
    let directory = TestDirectory::new("fuzz");
    let path = directory.0.join("run.dyno");
    let mut file = TEMPLATE.clone();
    if change % 3 == 0 {
        patch(&mut file, rest);
    }
    fs::write(&path, file).expect("the disk has room");
    let changed = match change % 3 {
        0 => Ok(0),
        1 => change_cell(&path, rest),
        _ => add_fact(&path, rest),
    };
    // SQLite rejects a value whose type is not that of the column.
    if changed.is_err() {
        return;
    }
    if let Err(error) = read_all(&path) {
        assert!(!format!("{error:?}").is_empty());
    }
    check_facts(&path);
}

/// Overwrites bytes of the file. Each change has an offset of four bytes, a length of one byte, and the new bytes.
fn patch(file: &mut [u8], mut changes: &[u8]) {
    while let Some((&[a, b, c, d, length], rest)) = changes.split_first_chunk() {
        let (bytes, behind) = rest.split_at(usize::from(length).min(rest.len()));
        let start = u32::from_le_bytes([a, b, c, d]) as usize % file.len();
        file[start..].iter_mut().zip(bytes).for_each(|(old, new)| *old = *new);
        changes = behind;
    }
}

/// Writes a value into all rows of a column. The first byte is the index of the column in [`COLUMNS`].
fn change_cell(path: &Path, data: &[u8]) -> rusqlite::Result<usize> {
    let [column, value @ ..] = data else { return Ok(0) };
    let [table, column, kind] = &COLUMNS[usize::from(*column) % COLUMNS.len()];
    let bits = || {
        let mut bits = [0; 8];
        bits.iter_mut().zip(value).for_each(|(bit, new)| *bit = *new);
        bits
    };
    let value = match (value, kind.as_str()) {
        ([], _) => Value::Null,
        (_, "INTEGER") => Value::Integer(i64::from_le_bytes(bits())),
        (_, "REAL") => Value::Real(f64::from_le_bytes(bits())),
        (_, "BLOB") => Value::Blob(value.to_vec()),
        _ => Value::Text(crate::text(value).to_owned()),
    };
    open(path)?.execute(&format!("UPDATE {table} SET {column} = ?"), [value])
}

/// Adds a fact. The first byte is the index of its kind; the rest is its payload.
fn add_fact(path: &Path, data: &[u8]) -> rusqlite::Result<usize> {
    let [kind, payload @ ..] = data else { return Ok(0) };
    let kind = Fact::KINDS[usize::from(*kind) % Fact::KINDS.len()];
    let sql = "INSERT INTO fact (trial, kind, version, payload) VALUES (1, ?, ?, ?)";
    open(path)?.execute(sql, params![kind.name, kind.version, crate::text(payload)])
}

/// Opens the file for changes that need not survive a crash.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = off; PRAGMA journal_mode = memory")?;
    Ok(connection)
}

/// Checks that each fact that was read can be written and read again.
fn check_facts(path: &Path) {
    let Ok(facts) = Run::open(path).and_then(|it| it.facts()) else { return };
    for FactRecord { fact, .. } in facts {
        let kind = fact.kind().name;
        let mut json = Vec::new();
        let written = fact.serialize_payload(&mut serde_json::Serializer::new(&mut json));
        written.unwrap_or_else(|error| panic!("{kind}: {error}"));
        let again = Fact::deserialize_payload(kind, &mut serde_json::Deserializer::from_slice(&json));
        again.expect("the kind is known").unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}
