//! Does nothing survive, whenever and however pgdyno ends?
//!
//! Rounds of: a process starts a supervisor and several nodes, and meets its end at a seeded moment. Then no process, no
//! group and no directory may remain. `./x proof` runs a thousand and more of them; the other tests a few.

use super::scratch::{OURSELVES, Scratch};
use super::server::{PATIENCE, installation, keeper};
use model::plan::Limits;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use stack::component::postgres::{Postgres, Settings};
use stack::host::{Cgroups, program};
use stack::supervisor::{Answer, Launch, Sig, Step, Supervisor, free_port};
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the victim says when it gets there; it is killed at one of them, or some µs later.
const PHASES: [&str; 9] =
    ["born", "keeper", "forking", "limited", "deaf", "launched", "ready", "stopping", "stopped"];

/// How a victim ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kill,
    /// SIGINT to its whole process group, twice: what a terminal does when Ctrl-C is pressed twice.
    CtrlCTwice,
    Panic,
}

/// One round, decided by its seed.
#[derive(Clone, Copy, Debug)]
struct Round {
    fate: Fate,
    real: bool,
    /// Index of [`PHASES`].
    phase: usize,
    after: Duration,
}

/// Numbers of a seed: SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (it ^ (it >> 31)) % bound
    }
}

impl Round {
    fn new(seed: u64, number: u64, fate: Fate, real: bool) -> Round {
        let mut chance = Chance(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let phase = chance.below(PHASES.len() as u64) as usize;
        // Real servers take a second to be ready.
        let most = if real { 1_000_000 } else { 8_000 };
        Round { fate, real, phase, after: Duration::from_micros(chance.below(most)) }
    }
}

/// Not a test of its own: the process that meets its end. It says which phase it is in, and its keeper's number.
#[test]
fn victim() {
    let Ok(role) = std::env::var("STACK_TEST_PROOF") else { return };
    let (real, panics) = role.split_once(' ').unwrap();
    let say = |phase: &str| {
        // Past the harness, which would keep it.
        writeln!(std::io::stdout().lock(), "phase {phase}").unwrap();
        std::io::stdout().flush().unwrap();
        assert!(phase != panics, "as it was told to");
    };
    say("born");
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    println!("phase keeper-pid {}", supervisor.keeper_pid());
    say("keeper");
    let node = if real == "real" { servers(&mut supervisor, &say) } else { stand_ins(&mut supervisor, &say) };
    say("ready");
    if panics.is_empty() {
        // Some die while they run, some while they stop.
        supervisor.signal(node, Sig::Cont).unwrap();
    }
    say("stopping");
    drop(supervisor);
    say("stopped");
    // Its end comes from outside, and soon.
    std::thread::sleep(PATIENCE);
}

/// Cheap processes with bad habits.
fn stand_ins(supervisor: &mut Supervisor, say: &dyn Fn(&str)) -> stack::supervisor::NodeId {
    let home = supervisor.home();
    let user = supervisor.user().cloned();
    let mut shell = |name: &str, script: &str, limits: &Limits| {
        let mut launch = Launch::new(name, "/bin/sh", &home).args(["-c", script]).as_user(user.as_ref());
        launch.stop = vec![Step { signal: Sig::Term, patience: Duration::from_millis(20) }];
        supervisor.launch(launch.limited(limits)).unwrap()
    };
    // Children, one in a session of its own, and grandchildren whose parent is gone.
    let forks =
        "sleep 1000 & setsid sleep 1000 & (sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' &); wait";
    shell("forking", forks, &Limits::default());
    say("forking");
    let limits = Limits { cpu: Some(0.5), memory: Some(64 << 20), cpus: vec![0], ..Limits::default() };
    shell("limited", "setsid sleep 1000 & exec sleep 1000", &limits);
    say("limited");
    let deaf =
        shell("deaf", "trap '' TERM INT HUP; : >deaf; while :; do sleep 1000; done", &Limits::default());
    say("deaf");
    shell("plain", "exec sleep 1000", &Limits::default());
    // A world of its own, where we may make one.
    let mut apart = Launch::new("apart", "/bin/sh", &home).args(["-c", forks]).as_user(user.as_ref());
    apart.apart = true;
    supervisor.launch(apart).unwrap();
    say("launched");
    let mark = supervisor.home().join("deaf");
    let ask = || if mark.exists() { Answer::Ready(()) } else { Answer::NotYet("not deaf".to_owned()) };
    supervisor.await_ready(deaf, PATIENCE, ask).unwrap();
    deaf
}

/// PostgreSQL, limited, and PgBouncer before it where there is one.
fn servers(supervisor: &mut Supervisor, say: &dyn Fn(&str)) -> stack::supervisor::NodeId {
    let pooler = program("pgbouncer", "--version", &[]).map(|program| {
        say("forking");
        let home = supervisor.home();
        let settings = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {}\nauth_type = any\n\
             unix_socket_dir =\npidfile =\nlogfile =\n",
            home.display(),
            free_port().unwrap()
        );
        let file = supervisor.private_file("pgbouncer.ini", settings.as_bytes()).unwrap();
        let limits = Limits { cpu: Some(0.5), ..Limits::default() };
        let user = supervisor.user().cloned();
        let launch = Launch::new("pgbouncer", &program.path, &home).arg(file).as_user(user.as_ref());
        supervisor.launch(launch.limited(&limits)).unwrap()
    });
    say("limited");
    say("deaf");
    let postgres = Postgres::start(supervisor, &installation(), &Settings::default()).unwrap();
    say("launched");
    pooler.unwrap_or(postgres.node)
}

/// Plays one round and tells whether its end was a signal, and what survived it: processes, groups, directories.
fn play(round: &Round, scratch: &Scratch) -> (bool, Vec<String>) {
    let panics = if round.fate == Fate::Panic { PHASES[round.phase] } else { "" };
    let mut victim = Command::new(OURSELVES)
        .args(["--exact", "real_server::ends_proof::victim", "--nocapture"])
        .env("STACK_TEST_PROOF", format!("{} {panics}", if round.real { "real" } else { "stand-ins" }))
        .env("TMPDIR", &scratch.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&victim);
    let mut keeper = None;
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.by_ref() {
        // The harness writes before the first one on the same line.
        let Some((_, word)) = line.split_once("phase ") else { continue };
        if let Some(number) = word.strip_prefix("keeper-pid ") {
            keeper = number.parse::<u32>().ok();
        }
        if word == PHASES[round.phase] && round.fate != Fate::Panic {
            // Not a wait for anything: the moment is what the seed decides.
            std::thread::sleep(round.after);
            break;
        }
    }
    match round.fate {
        // It may have ended by now; its number is its own until it is waited for.
        Fate::Kill => kill_process(pid, Signal::KILL).unwrap_or(()),
        Fate::CtrlCTwice => (0..2).for_each(|_| kill_process_group(pid, Signal::INT).unwrap_or(())),
        // Until it has ended by itself.
        Fate::Panic => {}
    }
    let signalled = victim.wait().unwrap().signal().is_some();
    // What it said after we stopped listening: no group is made before the keeper is there.
    for line in lines {
        keeper = keeper.or(line.split_once("keeper-pid ").and_then(|it| it.1.parse().ok()));
    }
    let (processes, directories) = scratch.left();
    let Cgroups { v1, v2 } = Cgroups::look();
    let all = v1.into_iter().chain(v2).map(|it| it.directory.join(format!("pgdyno-{}", keeper.unwrap_or(0))));
    let groups = all.filter(|it| it.exists()).collect::<Vec<PathBuf>>();
    let shown = directories.into_iter().chain(groups).map(|it| it.display().to_string());
    (signalled, processes.into_iter().chain(shown).collect())
}

/// Plays many, some at a time, and prints what came of them.
fn play_all(name: &str, rounds: u64, fate: Fate, real: bool) {
    let seed = std::env::var("PGDYNO_PROOF_SEED").map_or(20_260, |it| it.parse().expect("a number"));
    let (next, signalled, survivors) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for worker in 0..if rounds < 20 { 1 } else { 4 } {
            let (next, signalled, survivors) = (&next, &signalled, &survivors);
            scope.spawn(move || {
                let scratch = Scratch::new(&format!("{name}-{worker}"));
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= rounds {
                        return;
                    }
                    let round = Round::new(seed, number, fate, real);
                    let (by_signal, left) = play(&round, &scratch);
                    signalled.fetch_add(u64::from(by_signal), Ordering::Relaxed);
                    for it in left {
                        survivors.fetch_add(1, Ordering::Relaxed);
                        eprintln!("seed {seed}, round {number}, {round:?}: {it} survives");
                    }
                }
            });
        }
    });
    // A panic is no signal.
    let (signalled, survivors) = (signalled.into_inner(), survivors.into_inner());
    println!("{name}: {rounds} rounds, {signalled} ended by the signal, {survivors} survivors; seed {seed}");
    assert_eq!(survivors, 0, "{name}, seed {seed}");
}

/// How many rounds: so many, or what `./x proof` asks for.
fn rounds(few: u64, of_proof: impl Fn(u64) -> u64) -> u64 {
    let asked = std::env::var("PGDYNO_PROOF_ROUNDS").ok().map(|it| it.parse().expect("a number of rounds"));
    asked.map_or(few, of_proof)
}

#[test]
fn kill_9() {
    play_all("kill -9", rounds(10, |it| it), Fate::Kill, false);
}

#[test]
fn kill_9_with_real_servers() {
    play_all("kill -9 with servers", rounds(3, |it| (it / 50).max(3)), Fate::Kill, true);
}

#[test]
fn ctrl_c_twice() {
    play_all("Ctrl-C twice", rounds(3, |it| (it / 20).max(3)), Fate::CtrlCTwice, false);
}

#[test]
fn panics() {
    play_all("panic", rounds(3, |it| (it / 20).max(3)), Fate::Panic, false);
}
