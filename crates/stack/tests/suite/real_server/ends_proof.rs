//! Tests that nothing is left behind, whenever and however pgdyno ends
//!
//! In each round, a process starts a supervisor and several nodes, and ends at a seeded moment. Then no process, group,
//! interface, mount or directory may remain. A namespace without these does not exist. `./x proof` runs more than a
//! thousand rounds, the other tests a few.

use super::chain::haproxy;
use super::replicas::replicated;
use super::scratch::Scratch;
use super::server::{TEST_TIMEOUT, installation, keeper};
use model::plan::{ClusterManager, FailoverManager, Limits, ManagerSettings, Promoter, SyncMode, Transport};
use model::{Nanos, SplitMix64};
use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use stack::chain::{self, Chain};
use stack::component::postgres::{Postgres, Settings};
use stack::component::program::Programs;
use stack::host::{Cgroups, program};
use stack::supervisor::{Launch, Readiness, Sig, StopStep, Supervisor, free_port};
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Phases that the victim prints. It is killed at one of them, or some µs later.
const PHASES: [&str; 9] =
    ["born", "keeper", "forking", "limited", "deaf", "launched", "ready", "stopping", "stopped"];
/// Phases of a victim whose primary is killed.
const FAILOVER: [&str; 9] =
    ["born", "keeper", "primary", "replica", "up", "killed", "promoted", "stopping", "stopped"];

/// Set of nodes that a victim starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeSet {
    /// Shell processes that are hard to stop.
    StandIns,
    /// PostgreSQL and PgBouncer.
    Servers,
    /// Three servers with separate networks behind a balancer; the primary is killed, and pgdyno promotes.
    Replicas,
    /// Like `Replicas`, but Patroni promotes.
    Patroni,
}

impl NodeSet {
    const ALL: [NodeSet; 4] = [NodeSet::StandIns, NodeSet::Servers, NodeSet::Replicas, NodeSet::Patroni];

    fn phases(self) -> &'static [&'static str; 9] {
        match self {
            NodeSet::StandIns | NodeSet::Servers => &PHASES,
            NodeSet::Replicas | NodeSet::Patroni => &FAILOVER,
        }
    }

    /// Approximate duration of a phase, within which the victim ends, µs.
    fn lasts(self) -> u64 {
        match self {
            NodeSet::StandIns => 8_000,
            // Real servers need a second to start.
            NodeSet::Servers | NodeSet::Replicas => 1_000_000,
            NodeSet::Patroni => 5_000_000,
        }
    }
}

/// Way in which a victim ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Kill,
    /// SIGINT to its whole process group, twice, like a terminal when Ctrl-C is pressed twice.
    CtrlCTwice,
    Panic,
    /// Like `Kill`, and then kills the keeper.
    KeeperToo,
}

/// One round, determined by its seed.
#[derive(Clone, Copy, Debug)]
struct Round {
    ending: Ending,
    node_set: NodeSet,
    /// Index of the phase.
    phase: usize,
    after: Duration,
}

impl Round {
    fn new(seed: u64, number: u64, ending: Ending, node_set: NodeSet) -> Round {
        let mut chance = SplitMix64(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let phase = (chance.next_u64() % node_set.phases().len() as u64) as usize;
        Round { ending, node_set, phase, after: Duration::from_micros(chance.next_u64() % node_set.lasts()) }
    }

    fn phase(&self) -> &'static str {
        self.node_set.phases()[self.phase]
    }
}

/// Main function of the process that is killed. It prints its phase and its keeper's process id.
#[test]
fn victim() {
    let Ok(role) = std::env::var("STACK_TEST_PROOF") else { return };
    let (node_set, panics) = role.split_once(' ').unwrap();
    let Some(node_set) = NodeSet::ALL.into_iter().find(|it| format!("{it:?}") == node_set) else {
        // The next start removes the resources that are left.
        return drop(Supervisor::start(&keeper()).unwrap());
    };
    let print_phase = |phase: &str| {
        // Direct output bypasses the test harness, which would capture it.
        writeln!(std::io::stdout().lock(), "phase {phase}").unwrap();
        std::io::stdout().flush().unwrap();
        assert!(phase != panics, "the phase requested a panic");
    };
    print_phase("born");
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    println!("phase keeper-pid {}", supervisor.keeper_pid());
    print_phase("keeper");
    let node = match node_set {
        NodeSet::StandIns => stand_ins(&mut supervisor, &print_phase),
        NodeSet::Servers => servers(&mut supervisor, &print_phase),
        NodeSet::Replicas | NodeSet::Patroni => failover(&mut supervisor, node_set, &print_phase),
    };
    print_phase("ready");
    if panics.is_empty() {
        // Some nodes die while they run, others while they stop.
        supervisor.signal(node, Sig::Cont).unwrap();
    }
    print_phase("stopping");
    drop(supervisor);
    print_phase("stopped");
    // The parent process kills this process soon.
    std::thread::sleep(TEST_TIMEOUT);
}

/// Starts shell processes that are hard to stop.
fn stand_ins(supervisor: &mut Supervisor, print_phase: &dyn Fn(&str)) -> stack::supervisor::NodeId {
    let home = supervisor.home();
    let user = supervisor.user().cloned();
    let mut shell = |name: &str, script: &str, limits: &Limits| {
        let mut launch = Launch::new(name, "/bin/sh", &home).args(["-c", script]).as_user(user.as_ref());
        launch.stop = vec![StopStep { signal: Sig::Term, timeout: Duration::from_millis(20) }];
        supervisor.launch(launch.limited(limits)).unwrap()
    };
    // The script forks children, one in a new session, and grandchildren whose parent has exited.
    let forks =
        "sleep 1000 & setsid sleep 1000 & (sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' &); wait";
    shell("forking", forks, &Limits::default());
    print_phase("forking");
    let limits = Limits { cpu: Some(0.5), memory: Some(64 << 20), cpus: vec![0], ..Limits::default() };
    shell("limited", "setsid sleep 1000 & exec sleep 1000", &limits);
    print_phase("limited");
    let deaf =
        shell("deaf", "trap '' TERM INT HUP; : >deaf; while :; do sleep 1000; done", &Limits::default());
    print_phase("deaf");
    shell("plain", "exec sleep 1000", &Limits::default());
    // The node gets separate namespaces, if they may be created.
    let mut apart = Launch::new("apart", "/bin/sh", &home).args(["-c", forks]).as_user(user.as_ref());
    apart.isolated = true;
    supervisor.launch(apart).unwrap();
    print_phase("launched");
    let mark = supervisor.home().join("deaf");
    let ask = || if mark.exists() { Readiness::Ready(()) } else { Readiness::NotYet("not deaf".into()) };
    supervisor.await_ready(deaf, TEST_TIMEOUT, ask).unwrap();
    deaf
}

/// Starts PostgreSQL with limits, and PgBouncer in front of it if it is installed.
fn servers(supervisor: &mut Supervisor, print_phase: &dyn Fn(&str)) -> stack::supervisor::NodeId {
    let pooler = program("pgbouncer", "--version", &[]).map(|program| {
        print_phase("forking");
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
    print_phase("limited");
    print_phase("deaf");
    let postgres = Postgres::start(supervisor, &installation(), &Settings::default()).unwrap();
    print_phase("launched");
    pooler.unwrap_or(postgres.node)
}

/// Kills a primary, promotes another server, and lets the old one rejoin.
fn failover(
    supervisor: &mut Supervisor,
    node_set: NodeSet,
    print_phase: &dyn Fn(&str),
) -> stack::supervisor::NodeId {
    let mut plan = replicated(&[haproxy(Transport::Tcp, None)], SyncMode::First(1), Promoter::default());
    let replication = plan.replication.as_mut().unwrap();
    replication.separate_networks = geteuid().is_root();
    replication.separate_disks = geteuid().is_root();
    if node_set == NodeSet::Patroni {
        let [loop_wait, retry_timeout, ttl] = [1, 3, 10].map(Nanos::from_secs);
        let settings = ManagerSettings { loop_wait, retry_timeout, ttl, ..ManagerSettings::default() };
        let quick = ClusterManager { settings, ..ClusterManager::default() };
        replication.manager = FailoverManager::External(quick);
    }
    let mut on_progress = |step: chain::ChainProgress<'_>| match step {
        chain::ChainProgress::Ready(it, _) if it.plan.name == "postgres" => print_phase("primary"),
        chain::ChainProgress::Ready(it, _) if it.plan.name == "postgres-2" => print_phase("replica"),
        _ => {}
    };
    let mut chain = Chain::up(supervisor, &plan, &Programs::from_environment(), &mut on_progress).unwrap();
    print_phase("up");
    let start = Instant::now();
    chain.kill(supervisor, "postgres").unwrap();
    print_phase("killed");
    let promotion = match node_set {
        NodeSet::Patroni => chain.await_promotion(supervisor, start, TEST_TIMEOUT).unwrap(),
        _ => chain.fail_over(supervisor).unwrap(),
    };
    print_phase("promoted");
    chain.rejoin(supervisor, &promotion.from).unwrap();
    chain.primary().and_then(|it| it.node).unwrap()
}

/// Plays one round. Returns true if a signal ended the victim, and all resources that survived it: processes, groups,
/// interfaces, mounts, directories.
fn play(round: &Round, scratch: &Scratch) -> (bool, Vec<String>) {
    let panics = if round.ending == Ending::Panic { round.phase() } else { "" };
    let role = format!("{:?} {panics}", round.node_set);
    let mut victim = ourselves(&role, scratch).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
    let pid = Pid::from_child(&victim);
    let mut keeper = None;
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.by_ref() {
        // The harness writes before the first phase, on the same line.
        let Some((_, word)) = line.split_once("phase ") else { continue };
        if let Some(number) = word.strip_prefix("keeper-pid ") {
            keeper = number.parse::<u32>().ok();
        }
        if word == round.phase() && round.ending != Ending::Panic {
            // The seed determines the moment, so this sleep waits for no condition.
            std::thread::sleep(round.after);
            break;
        }
    }
    match round.ending {
        // The victim may have ended; its process id is not reused until it is waited for.
        Ending::Kill | Ending::KeeperToo => kill_process(pid, Signal::KILL).unwrap_or(()),
        Ending::CtrlCTwice => (0..2).for_each(|_| kill_process_group(pid, Signal::INT).unwrap_or(())),
        // The victim ends by itself.
        Ending::Panic => {}
    }
    let signalled = victim.wait().unwrap().signal().is_some();
    // This is output after the loop above stopped reading. No group is created before the keeper runs.
    for line in lines {
        keeper = keeper.or(line.split_once("keeper-pid ").and_then(|it| it.1.parse().ok()));
    }
    if round.ending == Ending::KeeperToo {
        // The keeper may have ended with its supervisor.
        let known = keeper.and_then(|it| Pid::from_raw(it.cast_signed()));
        known.map(|it| kill_process(it, Signal::KILL));
        let deadline = Instant::now() + scratch.timeout;
        while !scratch.entries().is_empty() && Instant::now() < deadline {
            assert!(ourselves("sweep ", scratch).stdout(Stdio::null()).status().unwrap().success());
        }
    }
    let keeper = keeper.unwrap_or(0);
    let Cgroups { v1, v2 } = Cgroups::detect();
    let groups = v1.into_iter().chain(v2).map(|it| it.directory.join(format!("pgdyno-{keeper}")));
    // The network has the keeper's number, unless another keeper had it.
    let interface = PathBuf::from(format!("/sys/class/net/pgdyno{}", keeper as u8));
    let resources: Vec<PathBuf> = groups.chain([interface]).collect();
    let (processes, directories) = scratch.left();
    let deadline = Instant::now() + scratch.timeout;
    loop {
        // The kernel removes interfaces and mounts of ended namespaces with a delay.
        let resources = resources.iter().filter(|it| it.exists()).chain(&directories);
        let shown = resources.map(|it| it.display().to_string()).chain(scratch.mounts());
        let left: Vec<String> = processes.iter().cloned().chain(shown).collect();
        if left.is_empty() || Instant::now() > deadline {
            return (signalled, left);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Creates a command that runs this program again. Ctrl-C ends it even if our parent made us ignore SIGINT.
fn ourselves(role: &str, scratch: &Scratch) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=INT")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "real_server::ends_proof::victim", "--nocapture"])
        .env("STACK_TEST_PROOF", role)
        .env("TMPDIR", &scratch.path)
        // Only a victim that panics by itself writes useful errors.
        .stderr(if role.ends_with(' ') { Stdio::inherit() } else { Stdio::null() });
    command
}

/// Plays many rounds, some concurrently, and prints the results.
fn play_all(name: &str, rounds: u64, endings: &[Ending], node_set: NodeSet) {
    let seed =
        std::env::var("PGDYNO_PROOF_SEED").map_or(20_260, |it| it.parse().expect("the seed is a number"));
    let (next, signalled, survivors) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let most = if node_set == NodeSet::StandIns || node_set == NodeSet::Servers { 4 } else { 2 };
        for worker in 0..if rounds < 20 { 1 } else { most } {
            let (next, signalled, survivors) = (&next, &signalled, &survivors);
            scope.spawn(move || {
                let mut scratch = Scratch::new(&format!("{name}-{worker}"));
                if node_set == NodeSet::Patroni {
                    // Each Patroni stops its server first, which takes longer.
                    scratch.timeout *= 4;
                }
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= rounds {
                        return;
                    }
                    let ending = endings[number as usize % endings.len()];
                    let round = Round::new(seed, number, ending, node_set);
                    let (by_signal, left) = play(&round, &scratch);
                    signalled.fetch_add(u64::from(by_signal), Ordering::Relaxed);
                    for survivor in left {
                        survivors.fetch_add(1, Ordering::Relaxed);
                        eprintln!("seed {seed}, round {number}, {round:?}: {survivor} survives");
                    }
                }
            });
        }
    });
    // A panic is not a signal.
    let (signalled, survivors) = (signalled.into_inner(), survivors.into_inner());
    println!("{name}: {rounds} rounds, {signalled} ended by the signal, {survivors} survivors; seed {seed}");
    assert_eq!(survivors, 0, "{name}, seed {seed}");
    assert!(endings.contains(&Ending::Panic) || signalled == rounds, "{name}: some ended by themselves");
}

/// Number of rounds: `few`, or the number that `./x proof` requests.
fn rounds(few: u64, of_proof: impl Fn(u64) -> u64) -> u64 {
    let requested =
        std::env::var("PGDYNO_PROOF_ROUNDS").ok().map(|it| it.parse().expect("a number of rounds"));
    requested.map_or(few, of_proof)
}

#[test]
fn kill_9() {
    play_all("kill -9", rounds(10, |it| it), &[Ending::Kill], NodeSet::StandIns);
}

#[test]
fn kill_9_with_real_servers() {
    play_all("kill -9 with servers", rounds(3, |it| (it / 50).max(3)), &[Ending::Kill], NodeSet::Servers);
}

#[test]
fn kill_9_during_a_failover() {
    let endings = [Ending::Kill, Ending::KeeperToo];
    play_all("kill -9 during a failover", rounds(4, |it| (it / 5).max(4)), &endings, NodeSet::Replicas);
}

#[test]
fn kill_9_with_patroni() {
    if program("patroni", "--version", &[]).is_none() || program("etcd", "--version", &[]).is_none() {
        return println!("skipped: there is no Patroni, or no etcd");
    }
    let endings = [Ending::Kill, Ending::KeeperToo];
    play_all("kill -9 with Patroni", rounds(2, |it| (it / 50).max(2)), &endings, NodeSet::Patroni);
}

#[test]
fn ctrl_c_twice() {
    play_all("Ctrl-C twice", rounds(3, |it| (it / 20).max(3)), &[Ending::CtrlCTwice], NodeSet::StandIns);
}

#[test]
fn panics() {
    play_all("panic", rounds(3, |it| (it / 20).max(3)), &[Ending::Panic], NodeSet::StandIns);
}
