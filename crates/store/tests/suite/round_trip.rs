//! Round trip of runs through a file

use crate::invent::{
    RandomRun, TestDirectory, end, format_interval, format_tick, header, outcome, read_all, trial,
};
use model::fact::Fact;
use model::note::{Note, OmittedFact};
use model::plan::Operation;
use model::{HistogramEncoder, LatencyHistogram, Tick};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use store::{FactRecord, Run, RunStatus, State, TrialId};

#[test]
fn run_round_trips_through_file() {
    let folder = TestDirectory::new("round");
    let header = header("round-trip");
    let mut random = RandomRun::new(7);
    let mut writer = store::create(&folder.0, &header).expect("the disk has room");
    let path = writer.path().to_owned();
    let mut expected = Vec::new();
    let mut ids = Vec::new();
    for number in 0..2 {
        let trial = trial(number);
        let id = writer.begin_trial(trial.clone());
        let before = random.samples(3);
        writer.samples(id, before.clone());
        let ticks: Vec<Tick> = (0..5).map(|second| random.tick(second)).collect();
        let events = random.events(4);
        // The number of ticks is that of the queue; more would be too fast for a slow disk.
        for tick in &ticks {
            writer.tick(id, Box::new(tick.clone()));
        }
        writer.events(id, events.clone());
        let note = Fact::Note(Note { subject: "probe".into(), message: "no right".into() });
        writer.fact(Some(id), note.clone());
        let measured = random.measurement(&ticks);
        writer.end_trial(id, end(RunStatus::Complete, Some(measured.clone())));
        assert_eq!(writer.error(), None);
        ids.push(id);
        expected.push((trial, before, ticks, events, FactRecord { trial: Some(id), fact: note }, measured));
    }
    let running = Run::open(&path).expect("the file is a run file");
    assert_eq!(running.state().expect("the run can be read"), State::Running);
    drop(running);
    assert_eq!(writer.finish(outcome(RunStatus::Complete)).expect("everything was written"), path);

    let run = Run::open(&path).expect("the file is a run file");
    assert_eq!(run.header().expect("the run can be read"), header);
    assert_eq!(run.state().expect("the run can be read"), State::Ended(outcome(RunStatus::Complete)));
    let trials = run.trials().expect("the run can be read");
    assert_eq!(trials.iter().map(|it| it.id).collect::<Vec<_>>(), [TrialId(1), TrialId(2)]);
    let mut notes = Vec::new();
    for (stored, (trial, before, ticks, events, note, measured)) in trials.iter().zip(expected) {
        assert_eq!(stored.trial, trial);
        assert_eq!(stored.state, State::Ended(outcome(RunStatus::Complete)));
        assert_eq!((stored.valid, &stored.summary), (Some(true), &Some(serde_json::json!({"tps": 1.5}))));
        let back: Vec<String> = run.ticks(stored.id).unwrap().map(|it| format_tick(&it.unwrap())).collect();
        assert_eq!(back, ticks.iter().map(format_tick).collect::<Vec<_>>());
        let samples: Vec<_> = before.into_iter().chain(ticks.into_iter().flat_map(|it| it.samples)).collect();
        assert_eq!(run.samples(stored.id, None).unwrap(), samples);
        let one: Vec<_> = samples.iter().filter(|it| it.series == "pg_waiting").cloned().collect();
        assert_eq!(run.samples(stored.id, Some("pg_waiting")).unwrap(), one);
        assert_eq!(run.events(stored.id).unwrap(), events);
        notes.push(note);
        let back = run.measurement(stored.id).unwrap().expect("the measurement was stored");
        assert_eq!(format_interval(&back.interval), format_interval(&measured.interval));
        let rest = |measurement: &model::Measurement| {
            let jitter = HistogramEncoder::new().encode(&measurement.jitter);
            format!(
                "{:?}",
                (
                    measurement.window,
                    &measurement.clients,
                    &measurement.thread_usage,
                    measurement.connect_time,
                    measurement.aborted_clients,
                    jitter,
                    measurement.suspended,
                    measurement.steal_time,
                    measurement.exhausted_connects
                )
            )
        };
        assert_eq!(rest(&back), rest(&measured));
    }
    assert_eq!(run.facts().unwrap(), notes);
    drop(run);

    let files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(files, [path.file_name().unwrap()], "the directory contains one file");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn overlong_note_is_omitted() {
    let folder = TestDirectory::new("long-note");
    let writer = store::create(&folder.0, &header("long-note")).expect("the disk has room");
    let note = |text: String| Fact::Note(Note { subject: "plans".into(), message: text.into() });
    let long = note("x".repeat(17 << 20));
    writer.fact(None, long);
    writer.fact(None, note("y".to_owned()));
    let path = writer.finish(outcome(RunStatus::Complete)).expect("nothing failed");
    let facts = Run::open(&path).and_then(|it| it.facts()).expect("the run can be read");
    let [FactRecord { fact: Fact::Omitted(OmittedFact { kind, bytes }), .. }, short] = &facts[..] else {
        panic!("{facts:?}");
    };
    assert_eq!((kind.as_str(), bytes >> 20), ("note", 17));
    assert_eq!(short.fact, note("y".to_owned()));
}

#[test]
fn two_writers_use_two_files() {
    let folder = TestDirectory::new("two");
    let writers: Vec<_> = (0..3).map(|_| store::create(&folder.0, &header("same")).unwrap()).collect();
    let names: Vec<_> = writers.iter().map(|it| it.path().file_name().unwrap().to_owned()).collect();
    let stem = "same-20261121T115331Z";
    assert_eq!(
        names,
        [format!("{stem}.dyno"), format!("{stem}-2.dyno"), format!("{stem}-3.dyno")].map(Into::into)
            as [std::ffi::OsString; 3]
    );
}

#[test]
fn dropped_writer_marks_run_interrupted() {
    let folder = TestDirectory::new("dropped");
    let mut writer = store::create(&folder.0, &header("dropped")).unwrap();
    let path = writer.path().to_owned();
    let id = writer.begin_trial(trial(0));
    writer.events(id, RandomRun::new(1).events(2));
    drop(writer);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.events(id).unwrap().len(), 2);
    assert!(run.measurement(id).unwrap().is_none());
}

/// Version 1 of the format has no response sizes. Version 2 has no row counts and no sessions of events. Both can be
/// resumed.
#[test]
fn reads_and_resumes_older_formats() {
    let drop_new =
        "DROP VIEW row_counts; DROP TABLE row_count; DROP VIEW event_sessions; DROP TABLE event_session; ";
    let drop_answers = "DROP VIEW answers; DROP TABLE answer; ";
    let units = |tick: &Tick| {
        let answered = tick.interval.answers.iter().filter(|it| it.sizes.count() > 0);
        answered.map(|it| it.statement().is_some()).collect::<Vec<_>>()
    };
    for (version, old, expected) in
        [(1, [drop_new, drop_answers].concat(), vec![]), (2, drop_new.to_owned(), vec![false])]
    {
        check_old_format(version, &old, |it| units(it) == expected, |it| units(it) == [true, false]);
    }
}

/// Reads and resumes a file of this version, which the statements in `old` create.
fn check_old_format(version: u32, old: &str, before: impl Fn(&Tick) -> bool, after: impl Fn(&Tick) -> bool) {
    let folder = TestDirectory::new(&format!("format-{version}"));
    let mut random = RandomRun::new(5);
    let mut writer = store::create(&folder.0, &header("old")).unwrap();
    let id = writer.begin_trial(trial(0));
    writer.tick(id, Box::new(random.tick(0)));
    writer.events(id, random.events(1));
    writer.end_trial(id, end(RunStatus::Complete, None));
    let path = writer.finish(outcome(RunStatus::Complete)).unwrap();
    let old = format!("{old}PRAGMA user_version = {version};");
    rusqlite::Connection::open(&path).unwrap().execute_batch(&old).unwrap();
    let run = Run::open(&path).unwrap();
    let ticks: Vec<Tick> = run.ticks(id).unwrap().map(Result::unwrap).collect();
    assert!(ticks.len() == 1 && before(&ticks[0]));
    assert_eq!(run.events(id).unwrap()[0].session, None);
    drop(run);
    read_all(&path).unwrap();
    // Resuming upgrades the file to the current format.
    let mut writer = store::resume(&path, 5).unwrap();
    let id = writer.begin_trial(trial(1));
    writer.tick(id, Box::new(random.tick(0)));
    writer.events(id, random.events(1));
    let path = writer.finish(outcome(RunStatus::Complete)).unwrap();
    let run = Run::open(&path).unwrap();
    assert!(run.events(id).unwrap()[0].session.is_some());
    assert!(run.ticks(id).unwrap().any(|it| !it.unwrap().interval.answers.is_empty()));
    assert!(run.ticks(id).unwrap().all(|it| after(&it.unwrap())));
}

/// Runs made before operations could be HTTP requests remain readable.
#[test]
fn reads_operations_of_first_format_as_scripts() {
    let kept = json!({ "name": "read", "weight": 3, "script": "SELECT 1;", "origin": null });
    let read: Operation = serde_json::from_value(kept).expect("the operation can be read");
    assert_eq!(read, Operation::script("read", 3, "SELECT 1;"));
    let again: Operation = serde_json::from_value(json!(read)).expect("the operation can be read");
    assert_eq!(again, read);
}

/// Two minutes are merged; the rest is read second by second. A file of an older version has no merged minutes.
#[test]
fn service_times_are_sums_of_seconds() {
    let folder = TestDirectory::new("minutes");
    let mut random = RandomRun::new(11);
    let mut writer = store::create(&folder.0, &header("minutes")).expect("the disk has room");
    let path = writer.path().to_owned();
    let mut trials = Vec::new();
    for number in 0..2 {
        let id = writer.begin_trial(trial(number));
        let mut ticks: Vec<Tick> = (0..150).map(|second| random.tick(second)).collect();
        // In the second minute, no transaction of the second operation succeeds.
        ticks[60..120].iter_mut().for_each(|it| it.interval.scripts[1].service.clear());
        for tick in &ticks {
            writer.tick(id, Box::new(tick.clone()));
            // The queue is short.
            writer.flush();
        }
        trials.push((id, ticks));
    }
    writer.finish(outcome(RunStatus::Complete)).expect("everything was written");
    let merged = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let sql = "SELECT count(*) FROM service_minute";
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let check = || {
        let run = Run::open(&path).expect("the file is a run file");
        for (id, ticks) in &trials {
            for range in
                [0..150, 0..1000, 1..150, 0..120, 59..121, 70..75, 149..150, 0..0, 150..150, 200..210]
            {
                let sums = run.service_times(*id, range.clone()).expect("the run can be read");
                assert_eq!(sums.len(), 2);
                for (operation, sum) in sums.into_iter().enumerate() {
                    let mut expected = LatencyHistogram::new();
                    let end = range.end.min(150);
                    let selected = &ticks[range.start.min(end)..end];
                    selected.iter().for_each(|it| expected.merge(&it.interval.scripts[operation].service));
                    let text = |histogram: &LatencyHistogram| {
                        let counts: Vec<_> = histogram.counts().collect();
                        format!("{counts:?} {} {:?}", histogram.sum(), (histogram.min(), histogram.max()))
                    };
                    assert_eq!(
                        text(&LatencyHistogram::from(&sum)),
                        text(&expected),
                        "{range:?} of {operation}"
                    );
                }
            }
        }
    };
    assert_eq!(merged(), 2 * 2 * 2, "two operations of two trials with two minutes");
    check();
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    // A minute was lost with a transaction that was rolled back.
    change("DELETE FROM service_minute WHERE first_tick = 1");
    assert_eq!(merged(), 6);
    check();
    change("UPDATE service_minute SET last_tick = last_tick + 1");
    let damaged = Run::open(&path).unwrap().service_times(trials[1].0, 0..150);
    assert!(damaged.is_err(), "minutes that overlap would be counted twice");
    change("DROP TABLE service_minute");
    check();
}
