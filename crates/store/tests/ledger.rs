//! Ledgers after a kill, on a full disk and with damaged bytes; a program of its own, because it starts itself as the
//! writer

mod invent;

use invent::{RandomRun, TestDirectory};
use model::durability::{
    LedgerEnd, LedgerEntry, ServerId, ServerInstance, WriteAttempt, WriteKey, WriteOutcome,
};
use model::{Code, Nanos};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store::WriteError;
use store::ledger::{self, EntrySource, LedgerFile, LedgerHeader, LedgerReader};

const HEADER: LedgerHeader = LedgerHeader { run: 7 << 100, boot: 9, started_ms: 1_795_261_991_000 };

fn entry(random: &mut RandomRun, number: u64) -> LedgerEntry {
    let code = [Code::SqlState(*b"40001"), Code::Http(503), Code::RESET][random.below(3) as usize];
    let server = ServerId(random.below(3) as u16);
    match random.below(20) {
        0 => LedgerEntry::Reserved { session: random.below(9) as u32, until: random.next() },
        1 => LedgerEntry::Clock { at: Nanos(random.next()), wall_us: random.next() },
        2 => {
            let address = "узел-".repeat(random.below(60) as usize);
            let timeline = random.below(9) as u32;
            LedgerEntry::Server(
                server,
                ServerInstance { system: random.next(), address, started_us: random.next(), timeline },
            )
        }
        _ => LedgerEntry::Completed(WriteAttempt {
            key: WriteKey { session: random.below(9) as u32, sequence: number },
            number: 1 + random.below(3) as u16,
            outcome: [
                WriteOutcome::Acknowledged,
                WriteOutcome::AcknowledgedLocally,
                WriteOutcome::Failed(code),
                WriteOutcome::Unknown(code),
            ][random.below(4) as usize],
            invoked: Nanos(random.next()),
            ended: Nanos(random.next()),
            server: (random.below(4) > 0).then_some(server),
        }),
    }
}

/// Ledger of `count` entries and its bytes; `closes` is true if the ledger has an end mark.
fn written(seed: u64, count: u64, closes: bool) -> (Vec<LedgerEntry>, Vec<u8>) {
    let folder = TestDirectory::new(&format!("ledger-{seed}-{closes}"));
    let path = folder.0.join("a.ledger");
    let mut ledger = LedgerFile::create(&path, &HEADER).expect("the disk has room");
    let mut random = RandomRun::new(seed);
    let mut entries: Vec<LedgerEntry> = (0..count).map(|it| entry(&mut random, it)).collect();
    for entry in &entries {
        ledger.append(entry.clone());
        if random.below(3) == 0 {
            ledger.write().expect("the disk has room");
        }
    }
    ledger.write().expect("the disk has room");
    if closes {
        ledger.close().expect("the disk has room");
        entries.push(LedgerEntry::Closed);
    } else {
        drop(ledger);
    }
    let bytes = std::fs::read(&path).expect("the file exists");
    // The server's address is truncated to the maximum length.
    for entry in &mut entries {
        if let LedgerEntry::Server(_, server) = entry {
            let end = (0..=server.address.len().min(256)).rfind(|it| server.address.is_char_boundary(*it));
            server.address.truncate(end.unwrap_or(0));
        }
    }
    (entries, bytes)
}

/// Entries in these bytes; `None` if the bytes do not begin with a valid header.
fn read(bytes: &[u8]) -> Option<(Vec<LedgerEntry>, LedgerEnd)> {
    let mut entries = LedgerReader::from_reader(bytes).expect("reading from memory cannot fail")?;
    assert_eq!(*entries.header(), HEADER);
    let all = entries.by_ref().collect();
    assert_eq!(entries.next(), None, "the reader stays at the end");
    Some((all, entries.end().expect("all entries were read")))
}

#[test]
fn entries_round_trip() {
    for (seed, count, closes) in
        [(1, 0, true), (2, 0, false), (3, 300, true), (4, 300, false), (5, 20_000, true)]
    {
        let (entries, bytes) = written(seed, count, closes);
        let end = if closes { LedgerEnd::Closed } else { LedgerEnd::Open };
        assert!(read(&bytes) == Some((entries, end)), "seed {seed}");
    }
}

/// A ledger truncated at any byte yields a prefix of its entries. Only a cut between two entries leaves no surplus
/// bytes.
#[test]
fn truncated_ledger_reads_as_prefix() {
    let (entries, bytes) = written(11, 60, true);
    let mut whole = 0;
    for cut in 0..bytes.len() {
        let Some((known, end)) = read(&bytes[..cut]) else {
            assert!(cut < 60, "the header is shorter than {cut}");
            continue;
        };
        assert!(entries.starts_with(&known), "cut at {cut}");
        match end {
            LedgerEnd::Open => whole += 1,
            LedgerEnd::Torn { bytes } => assert!(bytes > 0 && bytes <= 512, "cut at {cut}"),
            LedgerEnd::Closed => panic!("cut at {cut}: the last entry is missing"),
        }
    }
    assert_eq!(whole, entries.len(), "a cut before each entry");
}

/// After a bit flip, only entries before the flipped bit are read.
#[test]
fn flipped_bit_never_creates_entry() {
    let (entries, bytes) = written(12, 60, true);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let Some((known, end)) = read_any(&flipped) else { continue };
        assert!(known.len() < entries.len() && entries.starts_with(&known), "bit {bit}");
        assert!(matches!(end, LedgerEnd::Torn { .. }), "bit {bit}");
    }
}

/// Entries as in `read`, with any header.
fn read_any(bytes: &[u8]) -> Option<(Vec<LedgerEntry>, LedgerEnd)> {
    let mut entries = LedgerReader::from_reader(bytes).expect("reading from memory cannot fail")?;
    let all = entries.by_ref().collect();
    Some((all, entries.end().expect("all entries were read")))
}

/// Intact but misplaced entries are rejected: exchanged, duplicated, removed, or from another ledger.
#[test]
fn entries_are_bound_to_their_position() {
    let frames = |bytes: &[u8]| {
        let mut frames = Vec::new();
        let mut rest = &bytes[8..];
        while let Some((length, _)) = rest.split_first_chunk() {
            let (frame, after) = rest.split_at(2 + usize::from(u16::from_le_bytes(*length)) + 4);
            frames.push(frame.to_vec());
            rest = after;
        }
        frames
    };
    let (entries, bytes) = written(13, 20, true);
    let (_, other) = written(14, 20, true);
    let (original, foreign) = (frames(&bytes), frames(&other));
    let check = |name: &str, frames: &[Vec<u8>], good: usize| {
        let bytes = [&bytes[..8], &frames.concat()].concat();
        let (known, end) = read(&bytes).expect("the header is whole");
        assert_eq!(known, entries[..good], "{name}");
        assert!(matches!(end, LedgerEnd::Torn { .. }), "{name}");
    };
    let mut exchanged = original.clone();
    exchanged.swap(5, 6);
    check("exchanged", &exchanged, 4);
    let doubled = [&original[..6], &original[5..]].concat();
    check("doubled", &doubled, 5);
    let shortened = [&original[..6], &original[7..]].concat();
    check("left out", &shortened, 5);
    let mixed = [&original[..6], &foreign[6..]].concat();
    check("of another", &mixed, 5);
    let followed = [&original[..], &foreign[6..7]].concat();
    check("after its end", &followed, entries.len());
}

/// Queue of entries, with the number of written ones.
#[derive(Clone, Default)]
struct QueueSource {
    waiting: Arc<Mutex<Vec<LedgerEntry>>>,
    taken: u64,
    written: Arc<AtomicU64>,
}

impl EntrySource for QueueSource {
    fn take(&mut self, to: &mut Vec<LedgerEntry>) {
        let mut waiting = self.waiting.lock().expect("the lock is not poisoned");
        self.taken += waiting.len() as u64;
        to.append(&mut waiting);
    }

    fn mark_written(&mut self) {
        self.written.store(self.taken, Ordering::Release);
    }
}

fn clocks() -> (Nanos, u64) {
    (Nanos(1), 1)
}

fn acknowledged(sequence: u64) -> LedgerEntry {
    let key = WriteKey { session: 0, sequence };
    let (outcome, invoked, ended) = (WriteOutcome::Acknowledged, Nanos(sequence), Nanos(sequence + 1));
    LedgerEntry::Completed(WriteAttempt { key, number: 1, outcome, invoked, ended, server: None })
}

fn sequences(entries: impl Iterator<Item = LedgerEntry>) -> Vec<u64> {
    let ended = |it| if let LedgerEntry::Completed(write) = it { Some(write.key.sequence) } else { None };
    entries.filter_map(ended).collect()
}

#[test]
fn writer_writes_every_entry() {
    let folder = TestDirectory::new("ledger-keeper");
    let path = ledger::ledger_path(&folder.0.join("a.dyno"), 1);
    let source = QueueSource::default();
    let ledger = LedgerFile::create(&path, &HEADER).expect("the disk has room");
    let keeper = ledger::start_writer(ledger, source.clone(), clocks).expect("a thread can be started");
    for batch in 0..20 {
        source
            .waiting
            .lock()
            .expect("the lock is not poisoned")
            .extend((batch * 50..batch * 50 + 50).map(acknowledged));
        while source.written.load(Ordering::Acquire) < batch * 50 + 50 {
            std::thread::yield_now();
        }
    }
    source.waiting.lock().expect("the lock is not poisoned").extend((1000..1010).map(acknowledged));
    assert_eq!(keeper.error(), None);
    let kept = keeper.finish().expect("the disk has room");
    assert_eq!(kept.entries, 1011, "including one clock entry");
    let mut entries = ledger::open(&path).expect("the file is complete");
    assert_eq!(sequences(entries.by_ref()), (0..1010).collect::<Vec<_>>());
    assert_eq!(entries.end(), Some(LedgerEnd::Closed));
    let of_disk = std::os::unix::fs::MetadataExt::blocks(&path.metadata().expect("the file exists")) * 512;
    assert!(of_disk < 1 << 20, "unused space is released: {of_disk} bytes are allocated");
}

/// Small disk in memory, unmounted on drop.
struct Disk(PathBuf);

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn full_disk_is_reported_and_written_entries_are_kept() {
    let folder = TestDirectory::new("ledger-full");
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "pgdyno-ledger"]).arg(&folder.0).output();
    if !mount.is_ok_and(|it| it.status.success()) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let disk = Disk(folder.0.clone());
    let path = disk.0.join("a.ledger");
    let source = QueueSource::default();
    let ledger = LedgerFile::create(&path, &HEADER).expect("the disk has room for the header");
    let keeper = ledger::start_writer(ledger, source.clone(), clocks).expect("a thread can be started");
    let mut sent = 0;
    while sent < 100_000 {
        source
            .waiting
            .lock()
            .expect("the lock is not poisoned")
            .extend((sent..sent + 1000).map(acknowledged));
        sent += 1000;
        // No producer waits for a full disk.
        while source.written.load(Ordering::Acquire) < sent {
            std::thread::yield_now();
        }
    }
    assert_eq!(keeper.error(), Some(&WriteError::DiskFull));
    let (written, _) = keeper.durable_bytes();
    let kept = keeper.finish().expect("the ledger can be closed");
    assert!(kept.bytes == written && kept.bytes > 900_000, "entries that fit were written: {kept:?}");
    let mut entries = ledger::open(&path).expect("the header is complete");
    let known = sequences(entries.by_ref());
    assert_eq!(known, (0..known.len() as u64).collect::<Vec<_>>());
    assert_eq!(entries.end(), Some(LedgerEnd::Open));
}

/// Environment variable with the directory of the child process; set only in the child.
const FOLDER: &str = "PGDYNO_LEDGER_KILL_FOLDER";

/// Environment variable with the number of rounds, for example for `./x proof`.
const ROUNDS: &str = "PGDYNO_LEDGER_KILL_ROUNDS";

/// Child process of the test below. It returns at once unless `FOLDER` is set.
///
/// The child writes in an endless loop and prints which sequence numbers are safe.
#[test]
fn keeps_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let ledger =
        LedgerFile::create(&Path::new(&folder).join("a.ledger"), &HEADER).expect("the disk has room");
    let source = QueueSource::default();
    let _keeper = ledger::start_writer(ledger, source.clone(), clocks).expect("a thread can be started");
    for sequence in 0.. {
        source.waiting.lock().expect("the lock is not poisoned").push(acknowledged(sequence));
        let written = source.written.load(Ordering::Acquire);
        if sequence % 1000 == 0 && written > 0 {
            println!("safe {written}");
        }
        // The lead is limited to that of a real load; otherwise the child would only allocate.
        while sequence > source.written.load(Ordering::Acquire) + 20_000 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn killed_ledger_keeps_all_durable_entries() {
    let seed = 20_261_121;
    let rounds = std::env::var(ROUNDS).map_or(30, |it| it.parse().expect("a number of rounds"));
    println!("seed {seed}");
    let mut random = RandomRun::new(seed);
    let (mut torn, mut most) = (0, 0);
    for round in 0..rounds {
        let folder = TestDirectory::new(&format!("ledger-kill-{round}"));
        let safe = kill(&folder.0, random.below(40), random.below(1 << 20));
        let mut entries =
            ledger::open(&folder.0.join("a.ledger")).unwrap_or_else(|it| panic!("round {round}: {it:?}"));
        let known = sequences(entries.by_ref());
        assert_eq!(known, (0..known.len() as u64).collect::<Vec<_>>(), "round {round}");
        assert!(known.len() as u64 >= safe, "round {round}: {} are there, and {safe} were safe", known.len());
        torn += u32::from(matches!(entries.end(), Some(LedgerEnd::Torn { .. })));
        assert_ne!(entries.end(), Some(LedgerEnd::Closed), "round {round}");
        most = most.max(known.len());
    }
    println!("{rounds} kills, {rounds} read, {torn} with a torn tail; up to {most} outcomes");
}

/// Kills a child `turns` loop iterations after it has printed `words` numbers. Returns the last printed number.
fn kill(folder: &Path, words: u64, turns: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("the test has an executable"))
        .args(["--exact", "--nocapture", "keeps_until_it_is_killed"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test can start itself");
    let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    // The test harness may print text before our output on the line.
    let mut numbers = lines.filter_map(|it| it.split_once("safe ")?.1.parse::<u64>().ok());
    let mut last = numbers.nth(words as usize).expect("the child is running");
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
    child.kill().expect("the child can be stopped");
    child.wait().expect("the child can be stopped");
    last = numbers.last().unwrap_or(last);
    last
}
