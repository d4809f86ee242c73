//! Malicious run files, which are rejected at low cost

use crate::invent::{Describe, RandomRun, TestDirectory, end, header, outcome, read_all, trial};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use store::{Run, RunStatus};

const SECONDS: u64 = 3;

fn write(folder: &Path) -> PathBuf {
    let mut random = RandomRun::new(5);
    let mut writer = store::create(folder, &header("whole")).expect("the disk has room");
    let id = writer.begin_trial(trial(0));
    let ticks: Vec<_> = (0..SECONDS).map(|it| random.tick(it)).collect();
    ticks.iter().for_each(|it| writer.tick(id, Box::new(it.clone())));
    writer.events(id, random.events(3));
    writer.end_trial(id, end(RunStatus::Complete, Some(random.measurement(&ticks))));
    writer.finish(outcome(RunStatus::Complete)).expect("the disk has room")
}

/// Changes a copy of a complete run. Reading and resuming the copy must fail with `expected`.
fn check(whole: &Path, change: impl Fn(&Path), expected: &str) {
    let path = whole.with_file_name("x.dyno");
    fs::copy(whole, &path).expect("the disk has room");
    change(&path);
    let name = path.to_str().expect("the path is ASCII");
    let error = read_all(&path).expect_err(expected).describe().replace(name, "x");
    assert!(error.contains(expected), "read: {error} instead of {expected}");
    let listed = store::list(path.parent().expect("the path has a parent")).expect("the folder can be read");
    let others = listed.iter().filter(|it| it.name != "x" && it.overview.is_ok()).count();
    assert_eq!(others, 1, "the other run is listed");
}

fn sql(text: &str) -> impl Fn(&Path) + '_ {
    move |path| Connection::open(path).and_then(|it| it.execute_batch(text)).expect(text)
}

#[test]
fn rejects_schemas_with_executable_code() {
    let folder = TestDirectory::new("hostile-schema");
    let whole = write(&folder.0);
    let endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)";
    let endless_run = format!(
        "ALTER TABLE run RENAME TO former;
         CREATE VIEW run AS {endless} SELECT former.* FROM former, n WHERE i < 0 OR i > 1e18"
    );
    for (change, expected) in [
        (endless_run.as_str(), "store-unexpected-schema(x, store-object(view, run))"),
        (
            "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM trial; END",
            "store-object(trigger, t)",
        ),
        (
            "DROP TABLE note; CREATE VIRTUAL TABLE note USING fts5(trial, subject, text)",
            "store-object(virtual, note)",
        ),
        ("CREATE VIRTUAL TABLE mine USING fts5(x)", "store-object(virtual, mine)"),
        (
            "DROP TABLE note; CREATE TABLE note (id INTEGER PRIMARY KEY, trial INTEGER, subject TEXT NOT NULL,
                text TEXT AS (printf('%.*c', 900000000, 'x'))) STRICT",
            "store-object(table, note)",
        ),
        ("ALTER TABLE outcome ADD COLUMN x INTEGER AS (hex(zeroblob(400000000))) VIRTUAL", "store-object(table, outcome)"),
        ("ALTER TABLE event ADD COLUMN x INTEGER DEFAULT 7", "store-object(table, event)"),
        ("CREATE INDEX mine ON histogram (hex(zeroblob(count)))", "store-object(index, mine)"),
        ("DROP INDEX histogram_of_tick", "store-damaged(x, store-damage-missing(index, histogram_of_tick))"),
        ("ANALYZE", "store-object(table, sqlite_stat"),
        (
            "DROP VIEW trials; CREATE VIEW trials AS SELECT 1 AS id",
            "store-object(view, trials)",
        ),
        ("PRAGMA journal_mode = wal", "store-write-ahead(x)"),
    ] {
        check(&whole, sql(change), expected);
        let _ = fs::remove_file(folder.0.join("x.dyno-wal"));
    }
    // Objects that are never read are accepted.
    let path = folder.0.join("x.dyno");
    for change in ["CREATE TABLE mine (x)", "CREATE VIEW mine AS SELECT * FROM trial", "DROP VIEW ticks"] {
        fs::copy(&whole, &path).expect("the disk has room");
        sql(change)(&path);
        read_all(&path).expect(change);
    }
}

#[test]
fn rejects_impossible_values() {
    let folder = TestDirectory::new("hostile-values");
    let whole = write(&folder.0);
    let too_long = "store-value-too-long(x, 16)";
    for (change, expected) in [
        ("UPDATE whole SET clients = zeroblob(17000000)", too_long),
        ("UPDATE note SET text = printf('%.*c', 17000000, 'x')", too_long),
        ("UPDATE run SET experiment = printf('%.*c', 17000000, ' ')", too_long),
        ("UPDATE histogram SET v2 = zeroblob(17000000)", too_long),
        ("UPDATE tick SET second = 1000000000", "store-damage-value(tick.second, 1)"),
        ("UPDATE tick SET second = 2 - second", "store-damage-value(tick.second, 1)"),
        ("UPDATE tick SET begun = -1", "store-damaged("),
        ("UPDATE tick SET in_flight = 1 << 50", "store-damaged("),
        ("UPDATE tick SET to_ns = 9223372036854775807", "store-damaged("),
        ("UPDATE outcome SET late = ok + 1", "store-damage-value(outcome, 1)"),
        ("UPDATE outcome SET ok = 1 << 62", "store-damaged("),
        ("UPDATE failure SET count = 1 << 62", "store-damaged("),
        ("UPDATE histogram SET sum_ns = '99999999999999999999999999999999999999'", "store-damaged("),
        ("UPDATE histogram SET sum_of_squares = 9e999", "store-damaged("),
        ("UPDATE moment SET at_ns = -1", "store-damaged("),
        ("UPDATE event SET at_ns = 1 << 60", "store-damaged("),
        ("UPDATE whole SET window_ns = -1", "store-damaged("),
        ("UPDATE whole SET exhausted = 1 << 62", "store-damaged("),
        ("UPDATE effort SET wakeups = -5", "store-damaged("),
        ("UPDATE trial SET begun_ms = 1 << 60", "store-damaged("),
        ("UPDATE run SET begun_ms = -1", "store-damaged("),
        ("UPDATE trial SET cell = -1", "store-damaged("),
        (
            "UPDATE operation SET commands = (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 3000)
                SELECT json_group_array('x') FROM n)",
            "store-damage-distributions(1, 6004)",
        ),
    ] {
        let note = "INSERT INTO note (subject, text) VALUES ('x', 'y');";
        check(&whole, sql(&format!("{note} {change}")), expected);
    }
}

/// The pages of the table all have the next page as every child. A small file thus has more rows than can be counted.
#[test]
fn rejects_endless_tables() {
    let folder = TestDirectory::new("hostile-pages");
    let whole = write(&folder.0);
    for table in ["trial", "note", "event", "sqlite_schema"] {
        check(&whole, |path| repeat_pages(path, table), "store-damaged(");
    }
    // Reading fetches one row of the table; resuming writes all of them.
    let path = folder.0.join("x.dyno");
    fs::copy(&whole, &path).expect("the disk has room");
    repeat_pages(&path, "run");
    let refused = store::resume(&path, 0).expect_err("the table is endless").describe();
    assert!(refused.contains("store-damaged("), "{refused}");
}

/// Number of levels, and of children per page: the rows of the last page count 100¹² times.
const LEVELS: u32 = 12;
const CHILDREN: u32 = 100;
const PAGE: usize = 4096;

fn repeat_pages(path: &Path, table: &str) {
    let root: u32 = match table {
        "sqlite_schema" => 1,
        _ => Connection::open(path)
            .and_then(|connection| {
                connection.execute_batch("INSERT INTO note (subject, text) VALUES ('x', 'y')")?;
                connection
                    .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?", [table], |row| row.get(0))
            })
            .expect("the object is a table"),
    };
    let mut bytes = fs::read(path).expect("the file exists");
    let pages = (bytes.len() / PAGE) as u32;
    // Appends a copy of the table's page after the levels. Page 1 begins with the file's header.
    let at = (root as usize - 1) * PAGE;
    let header = if root == 1 { 100 } else { 0 };
    let mut leaf = bytes[at..at + PAGE].to_vec();
    leaf.copy_within(header..header + 8 + 2 * 100, 0);
    let level = |child: u32, header: usize| {
        let mut page = vec![0; PAGE];
        let content = PAGE - 5 * CHILDREN as usize;
        page[header] = 5;
        page[header + 3..header + 5].copy_from_slice(&(CHILDREN as u16).to_be_bytes());
        page[header + 5..header + 7].copy_from_slice(&(content as u16).to_be_bytes());
        page[header + 8..header + 12].copy_from_slice(&child.to_be_bytes());
        for n in 0..CHILDREN as usize {
            let cell = content + 5 * n;
            page[header + 12 + 2 * n..header + 14 + 2 * n].copy_from_slice(&(cell as u16).to_be_bytes());
            page[cell..cell + 4].copy_from_slice(&child.to_be_bytes());
            page[cell + 4] = n as u8;
        }
        page
    };
    let top = level(pages + 1, header);
    bytes[at + header..at + PAGE].copy_from_slice(&top[header..]);
    for n in 1..LEVELS {
        bytes.extend(level(pages + n + 1, 0));
    }
    bytes.extend(leaf);
    bytes[28..32].copy_from_slice(&(pages + LEVELS).to_be_bytes());
    fs::write(path, bytes).expect("the disk has room");
}

/// After rolling back a journal, SQLite deletes the file that the end of the journal names.
#[test]
fn journals_cannot_reach_other_files() {
    let folder = TestDirectory::new("hostile-journal");
    let whole = write(&folder.0);
    let journal = folder.0.join("x.dyno-journal");
    let victim = folder.0.join("precious");
    fs::write(&victim, "mine").expect("the disk has room");
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let pages = (fs::metadata(&whole).expect("the file exists").len() / PAGE as u64) as u32;
    let mut bytes = magic.to_vec();
    for word in [0, 7, pages, 512, PAGE as u32] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.resize(512, 0);
    let name = victim.to_str().expect("the path is ASCII").as_bytes();
    // Number of the page at byte 2³⁰, which is reserved for locks and never a data page.
    bytes.extend((0x4000_0000 / PAGE as u32 + 1).to_be_bytes());
    bytes.extend(name);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name.iter().map(|it| u32::from(*it)).sum::<u32>().to_be_bytes());
    bytes.extend(magic);
    let expected = "store-hostile-journal(x)";
    check(&whole, |_| fs::write(&journal, &bytes).expect("the disk has room"), expected);
    let refused = store::resume(&folder.0.join("x.dyno"), 0).expect_err("the file is hostile").describe();
    assert!(refused.contains("store-hostile-journal("), "{refused}");
    fs::remove_file(&journal).expect("the journal was not touched");
    let link = |_: &Path| std::os::unix::fs::symlink(&victim, &journal).expect("the disk has room");
    fs::write(&victim, &bytes[..512]).expect("the disk has room");
    check(&whole, link, expected);
    assert_eq!(fs::read(&victim).expect("the file exists").len(), 512, "the file is not truncated");
    let refused = store::resume(&folder.0.join("x.dyno"), 0).expect_err("the file is hostile").describe();
    assert!(refused.contains("store-hostile-journal("), "{refused}");
}

#[test]
fn resuming_hostile_run_writes_nothing() {
    let folder = TestDirectory::new("hostile-resume");
    let whole = write(&folder.0);
    let path = folder.0.join("x.dyno");
    for change in [
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM trial; END",
        "DROP TABLE note; CREATE TABLE note (id INTEGER PRIMARY KEY, trial INTEGER, subject TEXT NOT NULL, text TEXT NOT NULL,
            CHECK (length(hex(zeroblob(400000000))) > 0)) STRICT",
        "DROP TABLE sample",
        "DROP INDEX tick_of_trial",
    ] {
        fs::copy(&whole, &path).expect("the disk has room");
        sql(change)(&path);
        let before = fs::read(&path).expect("the file exists");
        store::resume(&path, 0).expect_err(change);
        assert!(fs::read(&path).expect("the file exists") == before, "{change}");
    }
    fs::copy(&whole, &path).expect("the disk has room");
    store::resume(&path, 0)
        .expect("the file is a valid run file")
        .finish(outcome(RunStatus::Complete))
        .expect("the disk has room");
    assert_eq!(Run::open(&path).and_then(|it| it.trials()).expect("the file is complete").len(), 1);
}
