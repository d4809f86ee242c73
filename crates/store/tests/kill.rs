//! Runs whose writer was killed; a program of its own, because it starts itself as the writer

mod invent;

use invent::{RandomRun, TestDirectory, format_tick, header, read_all, trial, wait_for};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store::{Run, State};

/// Environment variable with the directory of the child process; set only in the child.
const FOLDER: &str = "PGDYNO_STORE_KILL_FOLDER";

/// Environment variable with the number of rounds, for example for `./x proof`.
const ROUNDS: &str = "PGDYNO_STORE_KILL_ROUNDS";

fn tick(seed: u64, second: u64) -> model::Tick {
    RandomRun::new(seed ^ second << 32).tick(second)
}

/// Child process of the test below. It returns at once unless `FOLDER` is set.
///
/// The child writes ticks in an endless loop. It prints the number of each tick when the tick is on the disk.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut writer = store::create(Path::new(&folder), &header("kill")).expect("the disk has room");
    println!("at {}", writer.path().display());
    let id = writer.begin_trial(trial(0));
    for second in 0.. {
        writer.tick(id, Box::new(tick(1, second)));
        wait_for(&writer, id, second as usize + 1);
        assert_eq!(writer.error(), None);
        println!("on disk {second}");
    }
}

#[test]
fn killed_run_keeps_all_but_last_tick() {
    let seed = 20_261_121;
    let rounds = std::env::var(ROUNDS).map_or(20, |it| it.parse().expect("a number of rounds"));
    println!("seed {seed}");
    let mut random = RandomRun::new(seed);
    let mut half_written = 0;
    for round in 0..rounds {
        let folder = TestDirectory::new(&format!("kill-{round}"));
        let (path, on_disk) = kill(&folder.0, random.below(6), random.below(1 << 22));
        let journal = PathBuf::from(format!("{}-journal", path.display()));
        half_written += u32::from(journal.metadata().is_ok_and(|it| it.len() > 0));

        let run = Run::open(&path).unwrap_or_else(|error| panic!("round {round}: {error:?}"));
        assert_eq!(run.state().expect("the run can be read"), State::Lost, "round {round}");
        let trials = run.trials().expect("the run can be read");
        assert_eq!(trials.len(), 1, "round {round}");
        assert_eq!(trials[0].state, State::Lost);
        assert_eq!(trials[0].trial, trial(0));
        let ticks: Vec<String> = run
            .ticks(trials[0].id)
            .unwrap()
            .map(|it| format_tick(&it.expect("the tick is complete")))
            .collect();
        assert!(ticks.len() > on_disk, "round {round}: {} ticks, but {on_disk} was there", ticks.len());
        for (second, text) in ticks.iter().enumerate() {
            assert_eq!(*text, format_tick(&tick(1, second as u64)), "round {round}, second {second}");
        }
        read_all(&path).expect("the rest can be read too");
        let check: String = rusqlite::Connection::open(&path)
            .and_then(|it| it.pragma_query_value(None, "integrity_check", |row| row.get(0)))
            .expect("the file can be checked");
        assert_eq!(check, "ok", "round {round}");
    }
    println!("{rounds} kills, {half_written} in the midst of a transaction");
}

/// Kills a child `turns` loop iterations after it has printed that `ticks` ticks are on the disk.
///
/// Returns the child's file and the last tick that it printed.
fn kill(folder: &Path, ticks: u64, turns: u64) -> (PathBuf, usize) {
    let mut child = Command::new(std::env::current_exe().expect("the test has an executable"))
        .args(["--exact", "--nocapture", "writes_until_it_is_killed"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test can start itself");
    let mut lines =
        BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let (mut path, mut last) = (None, None);
    let mut hear = |line: String| {
        // The test harness may print text before our output on the line.
        if let Some((_, at)) = line.split_once("at /") {
            path = Some(PathBuf::from(format!("/{at}")));
        }
        if let Some(second) = line.strip_prefix("on disk ") {
            last = second.parse::<usize>().ok();
        }
        last
    };
    while hear(lines.next().expect("the child is running")).is_none_or(|it| (it as u64) < ticks) {}
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
    child.kill().expect("the child can be stopped");
    child.wait().expect("the child can be stopped");
    for line in lines {
        hear(line);
    }
    (path.expect("the child printed the path"), last.expect("the child printed the last tick"))
}
