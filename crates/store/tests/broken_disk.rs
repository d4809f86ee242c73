//! Runs on a disk that fails or becomes read-only; a program of its own, because all its SQLite files are on that disk

mod invent;

use invent::{
    Describe, RandomRun, TestDirectory, end, format_tick, header, outcome, read_all, trial, wait_for,
};
use rusqlite::ffi;
use std::os::raw::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock};
use store::{Run, RunStatus, WriteError};

/// Result code of SQLite's writes; `SQLITE_OK` while the disk works.
static FAILURE: AtomicI32 = AtomicI32::new(ffi::SQLITE_OK);

/// Address of the original `xOpen` of the system's VFS.
static SYSTEM: OnceLock<usize> = OnceLock::new();
/// Method tables of the system by kind of file, each with a copy whose writes may fail.
static METHODS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let system = *SYSTEM.get().expect("SYSTEM is set before any file is opened") as *mut ffi::sqlite3_vfs;
    // SAFETY: SQLite calls this in place of the system's function, which receives its own VFS.
    unsafe {
        let done = (*system).xOpen.expect("the VFS has xOpen")(system, name, file, flags, out);
        if !(*file).pMethods.is_null() {
            let theirs = (*file).pMethods;
            let mut known = METHODS.lock().expect("the lock is not poisoned");
            let place = known.iter().position(|it| it.0 == theirs as usize).unwrap_or_else(|| {
                let ours = ffi::sqlite3_io_methods { xWrite: Some(write), ..*theirs };
                known.push((theirs as usize, Box::into_raw(Box::new(ours)) as usize));
                known.len() - 1
            });
            (*file).pMethods = known[place].1 as *const ffi::sqlite3_io_methods;
        }
        done
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    match FAILURE.load(Ordering::SeqCst) {
        ffi::SQLITE_OK => {
            // SAFETY: the system's function receives its own file, as SQLite passed it.
            unsafe {
                let ours = (*file).pMethods as usize;
                let known =
                    METHODS.lock().expect("the lock is not poisoned").iter().find(|it| it.1 == ours).copied();
                let (theirs, _) = known.expect("this VFS opened the file");
                (*(theirs as *const ffi::sqlite3_io_methods)).xWrite.expect("the file has xWrite")(
                    file, bytes, count, at,
                )
            }
        }
        failure => failure,
    }
}

/// Redirects all writes of SQLite in this process to [`write`].
fn install() {
    SYSTEM.get_or_init(|| {
        // SAFETY: the default VFS and its modified copy live as long as the process.
        unsafe {
            let system = ffi::sqlite3_vfs_find(std::ptr::null());
            let name = c"broken".as_ptr();
            let copy =
                ffi::sqlite3_vfs { zName: name, pNext: std::ptr::null_mut(), xOpen: Some(open), ..*system };
            assert_eq!(ffi::sqlite3_vfs_register(Box::into_raw(Box::new(copy)), 1), ffi::SQLITE_OK);
            system as usize
        }
    });
}

#[test]
fn failing_disk_is_reported_and_written_data_is_kept() {
    for (failure, words) in [
        (ffi::SQLITE_IOERR_WRITE, "disk I/O error"),
        (ffi::SQLITE_READONLY, "attempt to write a readonly database"),
    ] {
        FAILURE.store(ffi::SQLITE_OK, Ordering::SeqCst);
        install();
        let folder = TestDirectory::new(&format!("broken-{failure}"));
        let mut writer = store::create(&folder.0, &header("broken")).expect("the disk works");
        let path = writer.path().to_owned();
        let id = writer.begin_trial(trial(0));
        let mut random = RandomRun::new(5);
        let ticks: Vec<_> = (0..5).map(|it| random.tick(it)).collect();
        for (number, tick) in ticks[..3].iter().enumerate() {
            writer.tick(id, Box::new(tick.clone()));
            wait_for(&writer, id, number + 1);
        }
        assert_eq!(writer.error(), None);
        FAILURE.store(failure, Ordering::SeqCst);
        for tick in &ticks[3..] {
            writer.tick(id, Box::new(tick.clone()));
        }
        writer.flush();
        let Some(WriteError::Refused(reason)) = writer.error() else { panic!("{:?}", writer.error()) };
        assert!(reason.contains(words), "{reason}");
        writer.end_trial(id, end(RunStatus::Failed, Some(random.measurement(&ticks))));
        let error = writer.finish(outcome(RunStatus::Complete)).expect_err("the disk failed").describe();
        assert!(error.contains("store-attempt-write(") && error.contains(words), "{error:?}");
        FAILURE.store(ffi::SQLITE_OK, Ordering::SeqCst);
        read_all(&path).expect("the run can be read up to the failure");
        let run = Run::open(&path).expect("the run can be read");
        let back: Vec<String> = run
            .ticks(id)
            .expect("the trial has ticks")
            .map(|it| format_tick(&it.expect("the tick is complete")))
            .collect();
        assert_eq!(back, ticks[..3].iter().map(format_tick).collect::<Vec<_>>());
        assert_ne!(
            run.state().expect("the file exists").status(),
            Some(RunStatus::Complete),
            "the run is not marked as complete"
        );
    }
}
