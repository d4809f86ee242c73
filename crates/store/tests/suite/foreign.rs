//! Errors for files that are not complete runs

use crate::invent::{Describe, RandomRun, TestDirectory, end, header, outcome, read_all, trial};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use store::{ErrorCause, FindError, Run, RunStatus};

fn write(folder: &Path) -> PathBuf {
    let mut random = RandomRun::new(3);
    let mut writer = store::create(folder, &header("whole")).expect("the disk has room");
    let id = writer.begin_trial(trial(0));
    let ticks: Vec<_> = (0..3).map(|it| random.tick(it)).collect();
    ticks.iter().for_each(|it| writer.tick(id, Box::new(it.clone())));
    writer.events(id, random.events(3));
    writer.end_trial(id, end(RunStatus::Complete, Some(random.measurement(&ticks))));
    writer.finish(outcome(RunStatus::Complete)).expect("the disk has room")
}

#[test]
fn reports_why_file_is_not_a_run() {
    let folder = TestDirectory::new("foreign");
    let whole = write(&folder.0);
    read_all(&whole).expect("the file is complete");
    let path = folder.0.join("x.dyno");
    let check = |expected: &str| {
        let error = read_all(&path).expect_err(expected).describe();
        let message = error.replace(path.to_str().expect("the path is ASCII"), "x");
        assert!(message.starts_with(expected), "{message} instead of {expected}");
    };
    check("store-attempt-failed(store-attempt-open(x), No such file");
    fs::write(&path, "").unwrap();
    check("store-empty(x)");
    fs::write(&path, "name: book\n".repeat(1000)).unwrap();
    check("store-not-run(x)");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    check("store-not-run(x)");
    fs::remove_dir(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE run (id)").unwrap();
    check("store-not-run(x)");
    let change = |sql: &str| {
        fs::copy(&whole, &path).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    };
    change("PRAGMA user_version = 6");
    check("store-newer-version(x, 6, 5)");
    for sql in [
        "UPDATE histogram SET v2 = x'00'",
        "UPDATE histogram SET kind = 9",
        "UPDATE outcome SET operation = operation + 7",
        "UPDATE failure SET code = 'x'",
        "UPDATE step_count SET command = command + 9",
        "UPDATE step_failure SET class = class + 7",
        "UPDATE step_failure SET code = 'x'",
        "UPDATE step_phase SET phase = 'x' || phase",
        "UPDATE answer SET buckets = x'8080'",
        "UPDATE answer SET buckets = x'7f'",
        "UPDATE answer SET operation = operation + 7",
        "UPDATE event SET kind = 'x'",
        "UPDATE trial SET status = 'x'",
        "UPDATE trial SET label = '{'",
        "UPDATE node SET limits = '{\"cpu\":\"x\"}'",
        "UPDATE whole SET clients = x'80'",
        "DELETE FROM run",
        "DELETE FROM jitter",
    ] {
        change(sql);
        check("store-damaged(x, ");
    }
    change("DROP TABLE sample");
    check("store-attempt-failed(store-attempt-read(x), no such table: sample");
}

#[test]
fn damaged_bytes_do_not_panic() {
    let folder = TestDirectory::new("damaged");
    let whole = fs::read(write(&folder.0)).unwrap();
    let path = folder.0.join("x.dyno");
    let seed = 11;
    println!("seed {seed}");
    let mut random = RandomRun::new(seed);
    let mut refused = 0;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        match random.below(3) {
            0 => bytes.truncate(random.below(whole.len() as u64) as usize),
            // The header and the first pages contain most of the relevant bytes.
            n => {
                let reach = if n == 1 { 8192 } else { whole.len() as u64 };
                for _ in 0..=random.below(8) {
                    bytes[random.below(reach) as usize] = random.next() as u8;
                }
            }
        }
        fs::write(&path, bytes).unwrap();
        refused += u32::from(read_all(&path).is_err());
    }
    assert!(refused > 100, "{refused} of 300");
}

#[test]
fn names_cannot_leave_their_directory() {
    let folder = TestDirectory::new("names");
    for name in ["", "..", "../x", "/tmp/x", "a/b", "x\n", "Ж"] {
        let error = store::create(&folder.0, &header(name)).expect_err(name);
        assert!(matches!(error.cause, ErrorCause::InvalidName(_)), "{error:?}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn lists_finds_and_removes_runs_by_exact_name() {
    let folder = TestDirectory::new("list");
    let dir = folder.0.join("runs");
    assert_eq!(store::list(&dir).unwrap().len(), 0, "without a directory there is no run");
    let path = write(&dir);
    let writer = store::create(&dir, &header("under-way")).unwrap();
    fs::write(dir.join("note.txt"), "mine").unwrap();
    fs::write(dir.join("mine.dyno"), "mine").unwrap();
    fs::write(folder.0.join("outside.dyno"), "").unwrap();
    std::os::unix::fs::symlink(&path, dir.join("link.dyno")).unwrap();

    let listed: Vec<_> =
        store::list(&dir).unwrap().into_iter().map(|it| (it.name, it.overview.is_ok())).collect();
    let (whole, under_way) = ("whole-20261121T115331Z", "under-way-20261121T115331Z");
    let expected = [(whole, true), (under_way, true), ("mine", false)].map(|(it, ok)| (it.to_owned(), ok));
    assert_eq!(listed, expected);

    let found = |run: &str| store::find(&dir, run).map(|it| (it.path, it.is_exact));
    let whole_path = dir.join(format!("{whole}.dyno"));
    assert_eq!(found(path.to_str().unwrap()).unwrap(), (path.clone(), true));
    assert_eq!(found(whole).unwrap(), (whole_path.clone(), true));
    for name in ["last", "whole", "whole-2026", "last~0", "whole~0"] {
        assert_eq!(found(name).unwrap(), (whole_path.clone(), false), "{name}");
    }
    for name in ["nothing", "link", "", "last~2", "whole~1", "whole~x", "./nothing", "nothing.dyno"] {
        let error = found(name).unwrap_err();
        let FindError::Unknown { candidates } = error else { panic!("{name}: {error:?}") };
        assert_eq!(candidates, [whole, under_way, "mine"], "{name}");
    }

    let removed = |run: &str| store::remove(&dir, run).map_err(|it| it.describe());
    for name in ["whole", "note.txt", "../outside", "link", "last", ""] {
        assert_eq!(removed(name), Err(format!("store-not-found({name})")));
    }
    assert!(removed("mine").unwrap_err().starts_with("store-not-run("));
    assert!(removed(under_way).unwrap_err().starts_with("store-busy("));
    assert_eq!(removed(whole), Ok(dir.join(format!("{whole}.dyno"))));
    assert!(Run::open(&path).is_err());
    drop(writer);
    assert!(removed(under_way).is_ok(), "no writer is active any more");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
}
