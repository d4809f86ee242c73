use super::*;
use std::time::SystemTime;
use tempfile::TempDir;

/// Cache and a data directory of 1000 bytes.
fn cache(limit: u64) -> (TempDir, DataCache, PathBuf) {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    fs::create_dir_all(data.join("base/1")).unwrap();
    fs::write(data.join("base/1/1259"), [7; 900]).unwrap();
    fs::write(data.join("PG_VERSION"), [b'1'; 100]).unwrap();
    let cache = DataCache { directory: directory.path().join("cache"), limit, minimum: Duration::ZERO };
    (directory, cache, data)
}

fn set_used(cache: &DataCache, key: &str, seconds: u64) {
    let entry =
        File::options().write(true).open(cache.directory.join(hash(key.as_bytes())).join(ENTRY)).unwrap();
    entry.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[test]
fn finds_only_the_same_key_and_copies_all_files() {
    let (directory, cache, data) = cache(10_000);
    fs::write(data.join("postmaster.pid"), "1").unwrap();
    assert!(cache.find("a").is_none());
    assert_eq!(cache.store("a", &data, &[]).unwrap(), StoreResult::Stored(1001));
    assert_eq!(cache.store("a", &data, &[]).unwrap(), StoreResult::Exists);
    assert!(cache.find("b").is_none());
    let found = cache.find("a").unwrap();
    let copy = directory.path().join("copy");
    copy_data(found.path(), &copy, None).unwrap();
    assert_eq!(fs::read(copy.join("base/1/1259")).unwrap(), [7; 900]);
    assert!(!copy.join("postmaster.pid").exists());
    assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 1, "no temporary directory is left");
}

#[test]
fn limit_removes_least_recently_used_entry_that_is_not_in_use() {
    let (_directory, cache, data) = cache(3500);
    for (key, used) in [("a", 30), ("b", 10), ("c", 20)] {
        cache.store(key, &data, &[]).unwrap();
        set_used(&cache, key, used);
    }
    let in_use = cache.find("b").unwrap();
    set_used(&cache, "b", 10);
    assert_eq!(cache.store("d", &data, &[]).unwrap(), StoreResult::Stored(1000));
    let kept = |key: &str| cache.find(key).is_some();
    assert_eq!(["a", "b", "c", "d"].map(kept), [true, true, false, true]);
    drop(in_use);
    let small = DataCache { limit: 999, ..cache.clone() };
    assert_eq!(small.store("e", &data, &[]).unwrap(), StoreResult::NoSpace);
    assert!(kept("a"), "data that do not fit remove nothing");
}

#[test]
fn changed_files_of_extensions_and_damaged_entries_are_misses() {
    let (directory, cache, data) = cache(10_000);
    let control = directory.path().join("trgm.control");
    fs::write(&control, "default_version = '1.6'").unwrap();
    cache.store("a", &data, std::slice::from_ref(&control)).unwrap();
    assert!(cache.find("a").is_some());
    fs::write(&control, "default_version = '1.7'").unwrap();
    assert!(cache.find("a").is_none());
    assert_eq!(cache.store("a", &data, &[]).unwrap(), StoreResult::Stored(1000), "the old entry is removed");
    fs::write(cache.directory.join(hash(b"a")).join(ENTRY), "{").unwrap();
    assert!(cache.find("a").is_none());
}

#[test]
fn directories_of_killed_runs_are_removed_and_others_kept() {
    let (_directory, cache, data) = cache(10_000);
    let make = |name: &str| {
        fs::create_dir_all(cache.directory.join(name).join(DATA)).unwrap();
        fs::write(cache.directory.join(name).join(LOCK), "").unwrap();
    };
    make(".new-killed");
    make(".old-killed");
    make(".new-running");
    let running = File::open(cache.directory.join(".new-running").join(LOCK)).unwrap();
    let _lock = FileLock::new(running, FlockOperation::LockExclusive).unwrap();
    cache.store("a", &data, &[]).unwrap();
    let left = ["killed", "running"].map(|it| cache.directory.join(format!(".new-{it}")).exists());
    assert_eq!(left, [false, true]);
    assert!(!cache.directory.join(".old-killed").exists());
}

#[test]
fn tablespaces_are_not_stored() {
    let (_directory, cache, data) = cache(10_000);
    std::os::unix::fs::symlink("/", data.join("16384")).unwrap();
    assert_eq!(cache.store("a", &data, &[]).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 0);
}
