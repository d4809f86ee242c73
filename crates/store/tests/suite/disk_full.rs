//! Runs on a full disk

use crate::invent::{
    Describe, RandomRun, TestDirectory, end, format_tick, header, outcome, read_all, trial, wait_for,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::{Run, RunStatus, State, WriteError};

/// Small disk in memory, unmounted on drop.
struct Disk(PathBuf);

impl Disk {
    /// Mounts a disk; `None` without the privilege to mount.
    fn mount(at: &Path, size: &str) -> Option<Disk> {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "pgdyno-store"])
            .arg(at)
            .output()
            .is_ok_and(|it| it.status.success());
        done.then(|| Disk(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn full_disk_is_reported_and_written_data_is_kept() {
    let folder = TestDirectory::new("full");
    let Some(disk) = Disk::mount(&folder.0, "6m") else {
        println!("skipped: no right to mount a small disk");
        return;
    };
    let mut writer = store::create(&disk.0, &header("full")).expect("the disk has room for the header");
    let path = writer.path().to_owned();
    let id = writer.begin_trial(trial(0));
    let mut random = RandomRun::new(5);
    let mut ticks = Vec::new();
    while writer.error().is_none() {
        let tick = random.tick(ticks.len() as u64);
        writer.tick(id, Box::new(tick.clone()));
        ticks.push(tick);
        wait_for(&writer, id, ticks.len());
        assert!(ticks.len() < 1000, "the disk must fill up first");
    }
    assert_eq!(writer.error(), Some(&WriteError::DiskFull));
    let why = end(RunStatus::Failed, Some(random.measurement(&ticks)));
    writer.end_trial(id, why);
    writer.finish(outcome(RunStatus::Failed)).expect("the reserve suffices");

    read_all(&path).expect("the file is complete");
    let run = Run::open(&path).unwrap();
    assert_eq!(run.state().unwrap(), State::Ended(outcome(RunStatus::Failed)));
    let back: Vec<String> = run.ticks(id).unwrap().map(|it| format_tick(&it.unwrap())).collect();
    assert_eq!(
        back,
        ticks.iter().map(format_tick).collect::<Vec<_>>(),
        "including the tick that did not fit at first"
    );
    drop(run);
}

#[test]
fn rejects_disk_that_is_full_from_the_start() {
    let folder = TestDirectory::new("too-small");
    let Some(disk) = Disk::mount(&folder.0, "3m") else {
        println!("skipped: no right to mount a small disk");
        return;
    };
    let error = store::create(&disk.0, &header("full")).expect_err("the disk has no room for the reserve");
    assert!(error.describe().contains("No space left on device"), "{error:?}");
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 0, "the failed attempt leaves no file");
}
