//! Measures the size of a run of one hour, and the time to write one second
//!
//! Usage: `cargo run --release -p store --example hour [DIRECTORY [TRANSACTIONS_PER_SECOND]]`. A second has two
//! operations and 60 samples. The file is kept if a directory is given.

#[path = "../tests/invent/mod.rs"]
mod invent;

use invent::{RandomRun, TestDirectory, end, header, outcome, trial};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::{Run, RunStatus};

const SECONDS: usize = 3600;
/// Number of ticks that are queued at once; the writer's queue has room for more.
const BATCH: usize = 8;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = TestDirectory::new("hour");
    let dir = args.first().map_or(folder.0.clone(), PathBuf::from);
    let per_second: u64 = args.get(1).map_or(1000, |it| it.parse().expect("a number"));
    let mut random = RandomRun::new(1);
    let ticks: Vec<_> = (0..64).map(|second| random.typical(second, per_second)).collect();
    let mut writer = store::create(&dir, &header("hour")).expect("the disk has room");
    let mut trial = trial(0);
    trial.operations[1].commands.clear();
    let id = writer.begin_trial(trial);
    let run = Run::open(writer.path()).expect("the file is a run file");
    let mut costs = Vec::new();
    for batch in 0..SECONDS / BATCH {
        let queued: Vec<_> = (0..BATCH).map(|i| Box::new(ticks[(batch * BATCH + i) % 64].clone())).collect();
        let began = Instant::now();
        queued.into_iter().for_each(|it| writer.tick(id, it));
        while run.ticks(id).expect("the run can be read").remaining() < (batch + 1) * BATCH {
            std::thread::sleep(Duration::from_micros(200));
        }
        costs.push(began.elapsed().as_micros() as usize / BATCH);
        assert_eq!(writer.error(), None);
    }
    drop(run);
    writer.end_trial(id, end(RunStatus::Complete, Some(random.measurement(&ticks))));
    let path = writer.finish(outcome(RunStatus::Complete)).expect("the disk has room");
    costs.sort_unstable();
    println!("{} bytes per hour", fs::metadata(&path).expect("the file exists").len());
    println!("{} µs per tick (median; 99 %: {})", costs[costs.len() / 2], costs[costs.len() * 99 / 100]);
    let began = Instant::now();
    let run = Run::open(&path).expect("the file is a run file");
    let ok: u64 = run.ticks(id).unwrap().map(|it| it.unwrap().interval.scripts[0].ok).sum();
    println!("{} ms to replay it, {ok} transactions of the first operation", began.elapsed().as_millis());
}
