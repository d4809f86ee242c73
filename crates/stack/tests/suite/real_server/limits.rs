//! Tests that limits apply, and that missing ones are reported
//!
//! Control groups require privileges. Without them, the tests of their effect check nothing and print that. The
//! behaviour without privileges is tested everywhere.

use super::scratch::{OURSELVES, Scratch};
use super::server::{TEST_TIMEOUT, keeper};
use model::message::Message;
use model::plan::{HostedNode, Limits};
use stack::host::{Cgroups, Controller};
use stack::limits::{Limit, UnappliedReason, Usage};
use stack::supervisor::{End, Launch, NodeId, Readiness, Sig, Supervisor};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn start() -> Supervisor {
    Supervisor::start(&keeper()).unwrap()
}

/// Starts a shell, or the program that the shell executes, as the user of the stack.
fn shell(supervisor: &mut Supervisor, name: &str, script: &str, limits: &Limits) -> NodeId {
    let user = supervisor.user().cloned();
    let launch = Launch::new(name, "/bin/sh", &supervisor.home()).args(["-c", script]);
    supervisor.launch(launch.as_user(user.as_ref()).limited(limits)).unwrap()
}

/// True if all limits apply; otherwise prints those that do not, and the test checks nothing.
fn holds(supervisor: &Supervisor, node: NodeId) -> bool {
    supervisor.not_applied(node).iter().for_each(|it| eprintln!("not tested here: {it:?}"));
    supervisor.not_applied(node).is_empty()
}

fn status(pid: u32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|it| it.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {field}")).trim().to_owned()
}

/// Lists groups that a keeper created, in every hierarchy below our own groups.
fn groups_of(keeper: u32) -> Vec<PathBuf> {
    let Cgroups { v1, v2 } = Cgroups::detect();
    let all = v1.into_iter().chain(v2).map(|it| it.directory.join(format!("pgdyno-{keeper}")));
    all.filter(|it| it.exists()).collect()
}

#[test]
fn cpu_limit_bounds_spinning_node() {
    for share in [0.1, 0.2] {
        let mut supervisor = start();
        let limits = Limits { cpu: Some(share), ..Limits::default() };
        let node = shell(&mut supervisor, "spinner", "while :; do :; done", &limits);
        if !holds(&supervisor, node) {
            return;
        }
        let group = supervisor.group(node).unwrap().clone();
        assert_eq!(supervisor.processes(node), [supervisor.pid(node).unwrap()]);
        let enough = |usage: Usage| match usage.periods {
            Some(periods) if periods >= 100 => Readiness::Ready(usage),
            other => Readiness::NotYet(format!("{other:?} periods").into()),
        };
        let used = supervisor.await_ready(node, TEST_TIMEOUT, || enough(group.usage())).unwrap();
        // The periods are read after the CPU time that they must account for.
        let periods = group.usage().periods.unwrap();
        // A CPU notices at its next tick, at most 10 ms later, that the quota is used up; the excess is paid back
        // later.
        let ticks = 0.01 * std::thread::available_parallelism().unwrap().get() as f64;
        let most = share * 0.01 * (periods + 1) as f64 + ticks;
        assert!(
            used.cpu_seconds.unwrap() <= most,
            "{share}: {used:?}, at most {most} s in {periods} periods"
        );
        assert!(used.throttled.unwrap() > 0 && used.throttled_seconds.unwrap() > 0.0, "{share}: {used:?}");
    }
}

#[test]
fn nodes_on_a_host_share_its_quota() {
    const QUOTA: f64 = 0.2;
    let mut supervisor = start();
    let limits = Limits { cpu: Some(QUOTA), ..Limits::default() };
    let on = |node: &str, host: &str| HostedNode {
        node: node.to_owned(),
        planned: host.to_owned(),
        host: host.to_owned(),
        limits: limits.clone(),
    };
    supervisor.set_hosts(vec![on("one", "web"), on("two", "web"), on("other", "db")]);
    let [one, two, other] = ["one", "two", "other"]
        .map(|name| shell(&mut supervisor, name, "while :; do :; done", &Limits::default()));
    if ![one, two, other].into_iter().all(|it| holds(&supervisor, it)) {
        return;
    }
    let groups = supervisor.host_groups();
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["db", "web"]);
    let enough = |usage: Usage| match usage.periods {
        Some(periods) if periods >= 100 => Readiness::Ready(usage),
        other => Readiness::NotYet(format!("{other:?} periods").into()),
    };
    let used = supervisor.await_ready(one, TEST_TIMEOUT, || enough(groups["web"].usage())).unwrap();
    let periods = groups["web"].usage().periods.unwrap();
    let ticks = 0.01 * std::thread::available_parallelism().unwrap().get() as f64;
    let most = QUOTA * 0.01 * (periods + 1) as f64 + ticks;
    assert!(used.cpu_seconds.unwrap() <= most, "{used:?}, at most {most} s in {periods} periods");
    assert!(used.throttled.unwrap() > 0, "{used:?}");
    // Each node has counters of its own. Their sum is rounded.
    const ROUNDING: f64 = 1e-9;
    let own = |node| supervisor.group(node).unwrap().usage().cpu_seconds.unwrap();
    let [first, second] = [own(one), own(two)];
    let host = used.cpu_seconds.unwrap();
    assert!(first > 0.0 && second > 0.0 && first + second >= host - ROUNDING, "{first} + {second}, {used:?}");
    // Only nodes whose host or whose host's limits change are moved.
    assert_eq!(
        supervisor.set_hosts(vec![on("one", "web"), on("two", "db")]).into_iter().collect::<Vec<_>>(),
        ["other", "two"]
    );
}

/// Waits until a node has used this much more CPU time, in seconds.
fn await_use(supervisor: &mut Supervisor, node: NodeId, more: f64) {
    let group = supervisor.group(node).unwrap().clone();
    let used = || group.usage().cpu_seconds.unwrap();
    let before = used();
    let is_enough = || match used() - before {
        new if new >= more => Readiness::Ready(()),
        new => Readiness::NotYet(format!("{new} s of CPU").into()),
    };
    supervisor.await_ready(node, TEST_TIMEOUT, is_enough).unwrap();
}

#[test]
fn lifted_limits_do_not_throttle_until_they_are_restored() {
    let mut supervisor = start();
    let limits = |cpu: f64| Limits { cpu: Some(cpu), ..Limits::default() };
    supervisor.set_hosts(vec![HostedNode {
        node: "spinner".to_owned(),
        planned: "host".to_owned(),
        host: "host".to_owned(),
        limits: limits(0.2),
    }]);
    let node = shell(&mut supervisor, "spinner", "while :; do :; done", &limits(0.1));
    if !holds(&supervisor, node) {
        return;
    }
    let groups = [supervisor.group(node).unwrap().clone(), supervisor.host_groups()["host"].clone()];
    let throttled = || groups.each_ref().map(|it| it.usage().throttled.unwrap());
    await_use(&mut supervisor, node, 0.1);
    let lifted = supervisor.lift_rate_limits(node);
    // A period that has begun may still be throttled.
    await_use(&mut supervisor, node, 0.1);
    let before = throttled();
    await_use(&mut supervisor, node, 1.0);
    assert_eq!(throttled(), before);
    lifted.restore().unwrap();
    await_use(&mut supervisor, node, 0.1);
    assert!(throttled()[0] > before[0], "{before:?}");
}

#[test]
fn nodes_on_a_host_share_its_memory() {
    let mut supervisor = start();
    let limits = Limits { memory: Some(32 << 20), ..Limits::default() };
    let hosted = |node: &str| HostedNode {
        node: node.to_owned(),
        planned: "web".to_owned(),
        host: "web".to_owned(),
        limits: limits.clone(),
    };
    supervisor.set_hosts(vec![hosted("neighbour"), hosted("hungry")]);
    let neighbour = shell(&mut supervisor, "neighbour", "exec sleep 1000", &Limits::default());
    let hungry = shell(&mut supervisor, "hungry", "exec tail /dev/zero", &Limits::default());
    if !holds(&supervisor, hungry) {
        return;
    }
    let end = supervisor.await_ready::<()>(hungry, TEST_TIMEOUT, || Readiness::NotYet("hungry".into()));
    let reason = end.unwrap_err().reason.describe();
    assert!(reason.starts_with("node-out-of-memory("), "{reason}");
    let used = supervisor.host_groups()["web"].usage();
    assert_eq!(used.memory_limit, Some(32 << 20), "{used:?}");
    assert!(used.memory_peak.unwrap() <= 32 << 20 && used.memory_failures.unwrap() > 0, "{used:?}");
    assert_eq!((supervisor.end_of(neighbour), supervisor.oom_kills(neighbour)), (None, 0));
}

#[test]
fn memory_limit_kills_only_its_node() {
    let mut supervisor = start();
    let limits = Limits { memory: Some(32 << 20), ..Limits::default() };
    let neighbour = shell(&mut supervisor, "neighbour", "exec sleep 1000", &limits);
    // `tail` keeps the last line in memory, and the line never ends.
    let hungry = shell(&mut supervisor, "hungry", "exec tail /dev/zero", &limits);
    if !holds(&supervisor, hungry) {
        return;
    }
    let group = supervisor.group(hungry).unwrap().clone();
    let end = supervisor.await_ready::<()>(hungry, TEST_TIMEOUT, || Readiness::NotYet("hungry".into()));
    let expected = "node-out-of-memory(node-ended(node-signalled(9), none), 1)";
    assert_eq!(end.unwrap_err().reason.describe(), expected);
    let used = group.usage();
    assert_eq!((used.memory_limit, used.oom_kills), (Some(32 << 20), Some(1)), "{used:?}");
    assert!(used.memory_failures.unwrap() > 0 && used.memory_peak.unwrap() <= 32 << 20, "{used:?}");
    assert_eq!(supervisor.end_of(neighbour), None);
    assert_eq!((supervisor.oom_kills(hungry), supervisor.oom_kills(neighbour)), (1, 0));
    assert_eq!(supervisor.group(neighbour).unwrap().usage().oom_kills, Some(0));
}

#[test]
fn nodes_run_on_requested_cpus() {
    let last = u32::try_from(std::thread::available_parallelism().unwrap().get() - 1).unwrap();
    for cgroups in [Cgroups::detect(), Cgroups::default()] {
        let mut supervisor = Supervisor::start_in(&keeper(), cgroups).unwrap();
        for cpus in [vec![0], vec![last]] {
            let limits = Limits { cpus: cpus.clone(), ..Limits::default() };
            let node = shell(&mut supervisor, "pinned", "exec sleep 1000", &limits);
            assert_eq!(supervisor.not_applied(node), []);
            let pid = supervisor.pid(node).unwrap();
            assert_eq!(status(pid, "Cpus_allowed_list"), cpus[0].to_string());
            supervisor.stop(node).unwrap();
        }
        let limits = Limits { cpus: vec![0, 1023], ..Limits::default() };
        let node = shell(&mut supervisor, "nowhere", "exec sleep 1000", &limits);
        let [reason] = supervisor.not_applied(node) else { panic!("{:?}", supervisor.not_applied(node)) };
        assert!(Message::from(&reason.reason).describe().starts_with("limits-no-cpu(1023, "), "{reason:?}");
    }
}

#[test]
fn io_limit_bounds_reads_per_second() {
    let mut supervisor = start();
    let limits = Limits { read_iops: Some(50), ..Limits::default() };
    let file = supervisor.home().join("file");
    std::fs::write(&file, vec![7; 4096 * 100]).unwrap();
    std::fs::File::open(&file).unwrap().sync_all().unwrap();
    // The script bypasses the page cache, which is not throttled.
    let script = format!(
        "while ! [ -e go ]; do :; done; exec dd if={} of=/dev/null bs=4k iflag=direct",
        file.display()
    );
    let node = shell(&mut supervisor, "reader", &script, &limits);
    if !holds(&supervisor, node) {
        let unapplied = &supervisor.not_applied(node)[0];
        assert_eq!(unapplied.limit, Limit::ReadIops);
        return;
    }
    let group = supervisor.group(node).unwrap().clone();
    let before = group.usage().io.unwrap_or_default();
    let begun = Instant::now();
    std::fs::write(supervisor.home().join("go"), "").unwrap();
    let end = supervisor.await_ready::<()>(node, TEST_TIMEOUT, || Readiness::NotYet("reading".into()));
    let log = end.unwrap_err();
    if log.log.iter().any(|it| it.contains("Invalid argument")) {
        eprintln!("not tested here: this file system does not read past its cache");
        return;
    }
    assert!(log.reason.describe().contains("node-exited(0)"), "{log:?}");
    let after = group.usage().io.unwrap();
    assert!(after.reads >= before.reads + 100, "{before:?} {after:?}");
    // The limit allows two seconds minus the initial burst; a slow machine is never faster.
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn missing_privileges_disable_only_limits() {
    let limits = Limits {
        cpu: Some(0.5),
        memory: Some(64 << 20),
        read_iops: Some(100),
        write_bps: Some(1 << 20),
        cpus: vec![0],
        ..Limits::default()
    };
    let closed = |name: &str| Controller {
        name: name.to_owned(),
        // No user may create directories there.
        directory: PathBuf::from("/proc/sys"),
        writable: false,
    };
    let check = |cgroups: Cgroups, expected: &[Limit], right: fn(&UnappliedReason) -> bool| {
        let mut supervisor = Supervisor::start_in(&keeper(), cgroups).unwrap();
        let node = shell(&mut supervisor, "free", "exec sleep 1000", &limits);
        let unapplied = supervisor.not_applied(node);
        assert_eq!(unapplied.iter().map(|it| it.limit).collect::<Vec<_>>(), expected);
        assert!(unapplied.iter().all(|it| right(&it.reason)), "{unapplied:?}");
        assert_eq!(supervisor.group(node), None);
        let pid = supervisor.pid(node).unwrap();
        assert_eq!(supervisor.processes(node), [pid]);
        assert_eq!(status(pid, "Cpus_allowed_list"), "0");
        assert_eq!(supervisor.stop(node).unwrap(), End::Signal(15));
        assert_eq!(supervisor.pid(node), None);
    };
    let groups = [Limit::Cpu, Limit::Memory, Limit::ReadIops, Limit::WriteBps];
    let none =
        |it: &UnappliedReason| matches!(it, UnappliedReason::NoController(_) | UnappliedReason::NoDisk(_));
    check(Cgroups::default(), &groups, none);
    let refused =
        |it: &UnappliedReason| matches!(it, UnappliedReason::Refused { .. } | UnappliedReason::NoDisk(_));
    let v1 = ["cpu", "cpuacct", "memory", "blkio", "cpuset"].map(closed).to_vec();
    check(Cgroups { v1, v2: Vec::new() }, &groups, refused);
    let v2 = ["cpu", "memory", "io", "cpuset"].map(closed).to_vec();
    check(Cgroups { v1: Vec::new(), v2 }, &groups, refused);
}

#[test]
fn restarted_node_keeps_group_and_no_group_remains() {
    let mut supervisor = start();
    let limits = Limits { cpu: Some(0.5), memory: Some(64 << 20), cpus: vec![0], ..Limits::default() };
    let first = shell(&mut supervisor, "node", "sleep 1000 & exec sleep 1000", &limits);
    if !holds(&supervisor, first) {
        return;
    }
    let group = supervisor.group(first).unwrap().clone();
    let both = || match group.processes().len() {
        2 => Readiness::Ready(()),
        other => Readiness::NotYet(format!("{other} processes").into()),
    };
    supervisor.await_ready(first, TEST_TIMEOUT, both).unwrap();
    supervisor.stop(first).unwrap();
    let counted = group.usage().cpu_seconds.unwrap();
    let second = shell(&mut supervisor, "node", "exec sleep 1000", &limits);
    assert_eq!(supervisor.group(second), Some(&group));
    assert!(group.usage().cpu_seconds.unwrap() >= counted);
    assert!(group.processes().contains(&supervisor.pid(second).unwrap()));
    // The new limits replace the previous ones.
    supervisor.stop(second).unwrap();
    let wider = Limits { memory: Some(128 << 20), ..limits };
    let third = shell(&mut supervisor, "node", "exec sleep 1000", &wider);
    assert_eq!(supervisor.not_applied(third), []);
    assert_eq!(supervisor.group(third).unwrap().usage().memory_limit, Some(128 << 20));
    let keeper = supervisor.keeper_pid();
    assert!(!groups_of(keeper).is_empty());
    drop(supervisor);
    assert_eq!(groups_of(keeper), [] as [PathBuf; 0]);
}

#[test]
fn next_keeper_ends_processes_in_groups_of_killed_keeper() {
    let mut supervisor = start();
    let limits = Limits { cpu: Some(0.5), ..Limits::default() };
    // The kernel signals the keeper's death to the shell, but not to the shell's child.
    let node = shell(&mut supervisor, "node", "setsid sleep 1000 & exec sleep 1000", &limits);
    if !holds(&supervisor, node) {
        return;
    }
    let group = supervisor.group(node).unwrap().clone();
    let both =
        || if group.processes().len() == 2 { Readiness::Ready(()) } else { Readiness::NotYet("".into()) };
    supervisor.await_ready(node, TEST_TIMEOUT, both).unwrap();
    let keeper_pid = supervisor.keeper_pid();
    let orphans = group.processes();
    assert!(Command::new("kill").args(["-9", &keeper_pid.to_string()]).status().unwrap().success());
    assert!(supervisor.signal(node, Sig::Term).is_err());
    drop(supervisor);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !groups_of(keeper_pid).is_empty() {
        assert!(Instant::now() < deadline, "{:?} are still there", groups_of(keeper_pid));
        drop(start());
    }
    assert!(orphans.iter().all(|it| !Path::new(&format!("/proc/{it}/exe")).exists()), "{orphans:?}");
}

/// Main function of the process that is limited. It prints its limits before, during and after.
#[test]
fn generator() {
    if std::env::var_os("STACK_TEST_GENERATOR").is_none() {
        return;
    }
    let me = std::process::id();
    let own_cgroups = || std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let (cpus, cgroups) = (status(me, "Cpus_allowed_list"), own_cgroups());
    let mut supervisor = start();
    let mut report = String::new();
    let limits = Limits { cpu: Some(0.5), cpus: vec![0], ..Limits::default() };
    let (group, not_applied) = supervisor.limit_generator(&limits).unwrap();
    let threads = std::thread::spawn(move || status(me, "Cpus_allowed_list")).join().unwrap();
    writeln!(report, "meanwhile: {} and {threads}", status(me, "Cpus_allowed_list")).unwrap();
    match group {
        Some(group) => assert!(group.processes().contains(&me)),
        None => assert!(!not_applied.is_empty()),
    }
    // Nodes that the keeper starts are not part of the generator.
    let node = shell(&mut supervisor, "node", "exec sleep 1000", &Limits::default());
    let its = supervisor.pid(node).unwrap();
    writeln!(report, "node: {}", status(its, "Cpus_allowed_list") == cpus).unwrap();
    drop(supervisor);
    writeln!(report, "after: {}", (status(me, "Cpus_allowed_list"), own_cgroups()) == (cpus, cgroups))
        .unwrap();
    std::fs::write(std::env::var_os("STACK_TEST_GENERATOR").unwrap(), report).unwrap();
}

#[test]
fn generator_is_limited_and_released() {
    let scratch = Scratch::new("generator");
    let report = scratch.path.join("said");
    let done = Command::new(OURSELVES)
        .args(["--exact", "real_server::limits::generator"])
        .env("STACK_TEST_GENERATOR", &report)
        .env("TMPDIR", &scratch.path)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success());
    let report = std::fs::read_to_string(report).unwrap();
    assert_eq!(report, "meanwhile: 0 and 0\nnode: true\nafter: true\n");
}
