//! Resuming of interrupted runs

use crate::invent::{RandomRun, TestDirectory, end, format_tick, header, outcome, trial};
use store::{ErrorCause, Run, RunStatus, State, TrialId};

#[test]
fn resumed_run_appends_trials() {
    let folder = TestDirectory::new("go-on");
    let mut random = RandomRun::new(11);
    let mut writer = store::create(&folder.0, &header("broken")).expect("the disk has room");
    let path = writer.path().to_owned();
    let ticks: Vec<_> = (0..3).map(|second| random.tick(second)).collect();
    let first = writer.begin_trial(trial(0));
    writer.tick(first, Box::new(ticks[0].clone()));
    writer.end_trial(first, end(RunStatus::Complete, None));
    let cut = writer.begin_trial(trial(1));
    writer.tick(cut, Box::new(ticks[1].clone()));
    let refused = store::resume(&path, 5).expect_err("another writer is active");
    assert!(matches!(refused.cause, ErrorCause::Busy), "{refused:?}");
    // Dropped without `finish`, as when the process ends.
    drop(writer);

    let mut writer = store::resume(&path, 1_795_262_999_000).expect("no writer is active");
    assert_eq!(Run::open(&path).unwrap().state().unwrap(), State::Running);
    let next = writer.begin_trial(trial(2));
    assert_eq!(next, TrialId(3));
    writer.flush();
    assert_eq!(Run::open(&path).unwrap().trials().unwrap().len(), 3, "the file has all written trials");
    writer.tick(next, Box::new(ticks[2].clone()));
    writer.end_trial(next, end(RunStatus::Complete, None));
    writer.finish(outcome(RunStatus::Complete)).expect("everything was written");

    let run = Run::open(&path).expect("the file is a run file");
    assert_eq!(run.state().unwrap(), State::Ended(outcome(RunStatus::Complete)));
    let trials = run.trials().unwrap();
    let states: Vec<_> = trials.iter().map(|it| it.state.status()).collect();
    assert_eq!(states, [RunStatus::Complete, RunStatus::Interrupted, RunStatus::Complete].map(Some));
    for (stored, (number, tick)) in trials.iter().zip(ticks.iter().enumerate()) {
        assert_eq!(stored.trial, trial(number as u32), "documents are found again");
        let back: Vec<String> = run.ticks(stored.id).unwrap().map(|it| format_tick(&it.unwrap())).collect();
        assert_eq!(back, [format_tick(tick)], "and series");
    }
}

#[test]
fn resume_rejects_files_that_are_not_runs() {
    let folder = TestDirectory::new("go-on-refused");
    let path = folder.0.join("x.dyno");
    std::fs::write(&path, "hello, this is no run at all").unwrap();
    let refused = store::resume(&path, 5).expect_err("the file is a text");
    assert!(matches!(refused.cause, ErrorCause::NotRunFile), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"hello, this is no run at all");
}
