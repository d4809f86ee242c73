//! Tests that faults are injected, reverted and gone afterwards

use super::chain::{TestStack, ask, haproxy};
use super::replicas::{await_result, replicated};
use super::server::{TEST_TIMEOUT, keeper};
use model::Nanos;
use model::message::Message;
use model::plan::{
    FaultAction, FaultScope, FaultTarget, IsolationPeers, Promoter, Stack, SyncMode, Transport,
};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use stack::chain::{ActiveFault, InjectedFault};
use stack::client::Target;
use stack::supervisor::{Launch, Readiness, Sig, Supervisor};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const DURATION: Nanos = Nanos::from_secs(1);

fn up(plan: &Stack) -> TestStack {
    TestStack::up(plan).unwrap_or_else(|it| panic!("{it:?}"))
}

fn inject(test_stack: &mut TestStack, action: &FaultAction) -> InjectedFault {
    test_stack
        .chain
        .inject(&mut test_stack.supervisor, action)
        .unwrap_or_else(|it| panic!("{action:?}: {it:?}"))
}

fn revert(test_stack: &mut TestStack, active_fault: Option<ActiveFault>) {
    test_stack
        .chain
        .revert(&mut test_stack.supervisor, active_fault.unwrap())
        .unwrap_or_else(|it| panic!("{it:?}"));
}

/// True for root, which namespaces and networks need; otherwise prints that the test is skipped.
fn is_root() -> bool {
    if !geteuid().is_root() {
        println!("skipped: only root may make namespaces");
    }
    geteuid().is_root()
}

#[test]
fn withheld_commits_are_lost_with_primary() {
    let mut test_stack = up(&replicated(&[], SyncMode::Async, Promoter::default()));
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a int)");
    let replica = test_stack.chain.servers()[1].endpoint.clone();
    await_result(&mut test_stack, &replica, "select count(*) from t", "0");
    let other = test_stack.chain.servers()[2].endpoint.clone();
    await_result(&mut test_stack, &other, "select count(*) from t", "0");
    let held = inject(&mut test_stack, &FaultAction::BlockReplication { duration: Some(DURATION) });
    assert!(
        matches!(&held.active_fault, Some(ActiveFault::ProcessesPaused(_, senders)) if senders.len() == 2),
        "{held:?}"
    );
    assert_eq!(ask(&entry, "insert into t values (1) returning a"), "1");
    inject(&mut test_stack, &FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node });
    // The revert is due, but the fault has already ended.
    revert(&mut test_stack, held.active_fault);
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(!promotion.safe);
    let entry = test_stack.chain.primary().unwrap().endpoint.clone();
    assert_eq!(ask(&entry, "select count(*) from t"), "0", "it was acknowledged, and nobody else had it");
}

/// Tests that a process that dies slowly does not continue meanwhile.
#[test]
fn paused_process_of_killed_node_does_not_continue() {
    if !is_root() {
        return;
    }
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let (counter, counted) = (supervisor.home().join("counter"), supervisor.home().join("counted"));
    let count = || counted.metadata().map_or(0, |it| it.len());
    let counts = format!("while :; do echo >> {}; done", counted.display());
    std::fs::write(&counter, counts).unwrap();
    let user = supervisor.user().cloned();
    let script = format!("sh {} & for it in 1 2 3 4; do while :; do :; done & done; wait", counter.display());
    let mut launch =
        Launch::new("apart", "/bin/sh", &supervisor.home()).args(["-c", &script]).as_user(user.as_ref());
    launch.isolated = true;
    let node = supervisor.launch(launch).unwrap();
    let ask = || if count() == 0 { Readiness::NotYet("nothing".into()) } else { Readiness::Ready(()) };
    supervisor.await_ready(node, TEST_TIMEOUT, ask).unwrap();
    let run = |program: &str, args: &[&str]| {
        assert!(Command::new(program).args(args).stdout(Stdio::null()).status().unwrap().success());
    };
    let title = |it: &u32| std::fs::read_to_string(format!("/proc/{it}/cmdline")).unwrap_or_default();
    let (held, rest): (Vec<u32>, Vec<u32>) =
        supervisor.processes(node).into_iter().partition(|it| title(it).ends_with("counter\0"));
    // A PID namespace ends with its first process. The other processes now occupy its only CPU.
    rest.iter().for_each(|it| run("taskset", &["--pid", "1", &it.to_string()]));
    run("chrt", &["--idle", "--pid", "0", &supervisor.pid(node).unwrap().to_string()]);
    supervisor.signal_one(node, held[0], Sig::Stop).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let before = count();
    supervisor.signal(node, Sig::Kill).unwrap();
    supervisor.stop(node).unwrap();
    assert_eq!(count(), before);
}

#[test]
fn paused_processes_continue_and_dead_postmaster_ends_node() {
    let mut test_stack = up(&replicated(&[], SyncMode::Async, Promoter::default()));
    let answers = |test_stack: &TestStack| {
        test_stack.chain.server_statuses().iter().map(|it| it.state.is_some()).collect::<Vec<_>>()
    };
    let paused =
        inject(&mut test_stack, &FaultAction::Pause { target: FaultTarget::Replica, duration: DURATION });
    assert_eq!(
        (paused.nodes.as_slice(), answers(&test_stack)),
        (&["postgres-2".to_owned()][..], vec![true, false, true])
    );
    revert(&mut test_stack, paused.active_fault);
    assert_eq!(answers(&test_stack), [true, true, true]);

    let target = FaultTarget::Node("postgres-3".to_owned());
    let node = test_stack.chain.servers()[2].node.unwrap();
    inject(&mut test_stack, &FaultAction::Kill { target: target.clone(), scope: FaultScope::Postmaster });
    let deadline = Instant::now() + TEST_TIMEOUT;
    while test_stack.supervisor.end_of(node).is_none() {
        assert!(Instant::now() < deadline, "what the postmaster began still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    inject(&mut test_stack, &FaultAction::Restart { target });
    assert_eq!(answers(&test_stack), [true, true, true]);
    // The process does not belong to the node.
    let stranger = test_stack.supervisor.keeper_pid();
    let node = test_stack.chain.servers()[2].node.unwrap();
    test_stack.supervisor.signal_one(node, stranger, Sig::Kill).unwrap_err();
}

#[test]
fn isolated_node_is_unreachable_until_reverted() {
    if !is_root() {
        return;
    }
    let mut plan = replicated(&[haproxy(Transport::Tcp, None)], SyncMode::Any(1), Promoter::default());
    plan.replication.as_mut().unwrap().separate_networks = true;
    let mut test_stack = up(&plan);
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a int)");
    let third = FaultTarget::Node("postgres-3".to_owned());
    // The socket is a file and needs no network.
    let inside = test_stack.admin("postgres-3").in_database("app");
    await_result(&mut test_stack, &inside, "select count(*) from t", "0");
    let isolate = |target: &FaultTarget, from| FaultAction::Isolate {
        target: target.clone(),
        duration: DURATION,
        from,
    };
    let cut = inject(&mut test_stack, &isolate(&third, IsolationPeers::All));
    assert_eq!(ask(&entry, "insert into t values (1) returning a"), "1", "the other one confirms");
    assert_eq!(ask(&inside, "select count(*) from t"), "0");
    revert(&mut test_stack, cut.active_fault);
    await_result(&mut test_stack, &inside, "select count(*) from t", "1");

    // Clients still reach a server that is isolated from the other servers.
    let cut = inject(&mut test_stack, &isolate(&third, IsolationPeers::Servers));
    assert_eq!(ask(&entry, "insert into t values (0) returning a"), "0", "the other one confirms");
    let by_tcp = test_stack.chain.direct_tcp_targets().remove(2).target;
    assert_eq!(ask(&by_tcp, "select count(*) from t"), "1");
    assert_eq!(ask(&inside, "select count(*) from t"), "1");
    revert(&mut test_stack, cut.active_fault);
    await_result(&mut test_stack, &inside, "select count(*) from t", "2");

    // A server that is restarted meanwhile stays disconnected.
    for (from, value, count) in
        [(IsolationPeers::All, "3", "3"), (IsolationPeers::Nodes(vec![FaultTarget::Primary]), "4", "4")]
    {
        let cut = inject(&mut test_stack, &isolate(&third, from));
        inject(&mut test_stack, &FaultAction::Restart { target: third.clone() });
        let before = ask(&inside, "select count(*) from t");
        assert_eq!(ask(&entry, &format!("insert into t values ({value}) returning a")), value);
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(ask(&inside, "select count(*) from t"), before);
        revert(&mut test_stack, cut.active_fault);
        await_result(&mut test_stack, &inside, "select count(*) from t", count);
    }

    // The primary still considers itself primary, but no client can reach it.
    let cut = inject(&mut test_stack, &isolate(&FaultTarget::Primary, IsolationPeers::All));
    assert_eq!(ask(&test_stack.admin("postgres"), "select pg_is_in_recovery()"), "f");
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(promotion.safe, "{promotion:?}");
    await_result(&mut test_stack, &entry, "insert into t values (2) returning a", "2");
    assert_eq!(ask(&entry, "select sum(a) from t"), "10");
    revert(&mut test_stack, cut.active_fault);
    let rejoined =
        test_stack.chain.rejoin(&mut test_stack.supervisor, "postgres").unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(rejoined.node, "postgres");
}

#[test]
fn writes_wait_for_a_frozen_disk() {
    if !is_root() {
        return;
    }
    let action = FaultAction::FreezeDisk { target: FaultTarget::Primary, duration: DURATION };
    let mut plan = replicated(&[], SyncMode::Any(1), Promoter::default());
    plan.replication.as_mut().unwrap().separate_disks = true;
    let mut test_stack = up(&plan);
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a int)");
    let write = |value: &str| {
        let (target, sql) = (entry.clone(), format!("insert into t values ({value}) returning a"));
        std::thread::spawn(move || ask(&target, &sql))
    };
    // The first session after a change of the catalog writes a cache of it.
    assert_eq!(ask(&entry, "select count(*) from t"), "0");
    let frozen = inject(&mut test_stack, &action);
    let writer = write("1");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(ask(&entry, "select count(*) from t"), "0", "reads continue");
    assert!(!writer.is_finished());
    let full = FaultAction::FillDisk { target: FaultTarget::Primary, duration: DURATION };
    let error = test_stack.chain.inject(&mut test_stack.supervisor, &full).unwrap_err();
    let error = Message::from(&error).describe();
    assert_eq!(error, "node-error(postgres, attempt-fill-disk, keeper-disk-frozen, none)");
    revert(&mut test_stack, frozen.active_fault);
    assert_eq!(writer.join().unwrap(), "1");

    // A server whose disk is frozen can be killed, and rejoins.
    inject(&mut test_stack, &action);
    let writer = write("2");
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    assert_ne!(writer.join().unwrap(), "2");
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(promotion.safe, "{promotion:?}");
    test_stack.chain.rejoin(&mut test_stack.supervisor, "postgres").unwrap_or_else(|it| panic!("{it:?}"));

    // A killed keeper leaves no process that waits for a frozen disk.
    inject(&mut test_stack, &action);
    let _writer = write("3");
    let processes = test_stack.supervisor.processes(test_stack.chain.servers()[0].node.unwrap());
    let keeper = Pid::from_raw(test_stack.supervisor.keeper_pid().cast_signed()).unwrap();
    kill_process(keeper, Signal::KILL).unwrap();
    let deadline = Instant::now() + TEST_TIMEOUT;
    while processes.iter().any(|it| Path::new(&format!("/proc/{it}")).exists()) {
        assert!(Instant::now() < deadline, "{processes:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn shifted_clocks_stay_shifted_until_reverted() {
    let shift = |seconds: i64| FaultAction::ShiftClock {
        target: FaultTarget::Primary,
        by_ns: seconds * 1_000_000_000,
        duration: DURATION,
    };
    let mut plan = replicated(&[], SyncMode::Any(1), Promoter::default());
    {
        let mut test_stack = up(&plan);
        let error = test_stack.chain.inject(&mut test_stack.supervisor, &shift(90)).unwrap_err();
        let error = Message::from(&error).describe();
        assert_eq!(error, "node-error(postgres, attempt-shift-clock, node-no-clock, none)");
    }
    plan.replication.as_mut().unwrap().separate_clocks = true;
    let mut test_stack = match TestStack::up(&plan) {
        Err(error) if format!("{error:?}").contains("node-no-faketime") => {
            println!("skipped: libfaketime is not installed");
            return;
        }
        other => other.unwrap_or_else(|error| panic!("{error:?}")),
    };
    let server = |test_stack: &TestStack, at: usize| test_stack.chain.servers()[at].endpoint.clone();
    // Seconds, in steps of 30, by which the server's clock differs from this machine's.
    let difference = |target: &Target| {
        let machine = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let sql = "select extract(epoch from clock_timestamp())";
        ((ask(target, sql).parse::<f64>().unwrap() - machine) / 30.0).round() as i64 * 30
    };
    let await_difference = |target: &Target, expected: i64| {
        let deadline = Instant::now() + TEST_TIMEOUT;
        while difference(target) != expected {
            assert!(Instant::now() < deadline, "{} instead of {expected}", difference(target));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let (first, second) = (server(&test_stack, 0), server(&test_stack, 1));
    assert_eq!((difference(&first), difference(&second)), (0, 0));
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a int)");
    for by in [-90, 90] {
        let shifted = inject(&mut test_stack, &shift(by));
        assert_eq!(shifted.nodes, ["postgres"]);
        await_difference(&first, by);
        assert_eq!(difference(&second), 0);
        // Writes go on, and durations are not affected.
        assert_eq!(ask(&entry, "insert into t values (1) returning a"), "1");
        assert_eq!(ask(&entry, "select pg_sleep(0.1)"), "");
        inject(&mut test_stack, &FaultAction::Restart { target: FaultTarget::Primary });
        await_difference(&first, by);
        revert(&mut test_stack, shifted.active_fault);
        await_difference(&first, 0);
    }
}

#[test]
fn full_disk_rejects_rows_until_reverted() {
    let action = FaultAction::FillDisk { target: FaultTarget::Primary, duration: DURATION };
    let mut plan = replicated(&[], SyncMode::Any(1), Promoter::default());
    {
        let mut test_stack = up(&plan);
        let error = test_stack.chain.inject(&mut test_stack.supervisor, &action).unwrap_err();
        let error = Message::from(&error).describe();
        assert_eq!(error, "node-error(postgres, attempt-fill-disk, keeper-no-disk, none)");
    }
    if !is_root() {
        return;
    }
    plan.replication.as_mut().unwrap().separate_disks = true;
    let mut test_stack = up(&plan);
    let run = test_stack.supervisor.directory().display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&run), "others see nothing of it");
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a text)");
    let more = "insert into t select repeat('x', 1000) from generate_series(1, 3000); select count(*) from t";
    assert_eq!(ask(&entry, more), "3000");
    let full = inject(&mut test_stack, &action);
    assert_eq!(full.nodes, ["postgres"]);
    let error = ask(&entry, more);
    assert!(error.contains("No space left on device (SQLSTATE 53100)"), "{error}");
    revert(&mut test_stack, full.active_fault);
    await_result(&mut test_stack, &entry, more, "6000");

    // A killed node still has data on its disk, and a node that is copied again has a disk too.
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(promotion.safe, "{promotion:?}");
    let rejoined =
        test_stack.chain.rejoin(&mut test_stack.supervisor, "postgres").unwrap_or_else(|it| panic!("{it:?}"));
    assert!(rejoined.rewound, "{rejoined:?}");
    let first = test_stack.chain.servers()[0].endpoint.clone();
    await_result(&mut test_stack, &first, "select count(*) from t", "6000");
    test_stack.reconcile(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(ask(&test_stack.chain.servers()[0].endpoint.clone(), "select count(*) from t"), "6000");
    let (directory, keeper) =
        (test_stack.supervisor.directory().to_owned(), test_stack.supervisor.keeper_pid());
    drop(test_stack);
    assert!(!directory.exists() && !Path::new(&format!("/proc/{keeper}")).exists());
}

#[test]
fn namespaces_and_networks_end_with_killed_keeper() {
    if !is_root() {
        return;
    }
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let address = supervisor.addresses().unwrap().next().unwrap();
    let interface = format!("/sys/class/net/pgdyno{}", address.octets()[2]);
    let mark = supervisor.home().join("mark");
    let user = supervisor.user().cloned();
    let script = format!("setsid sleep 1000 & sleep 1000 & : > {}; wait", mark.display());
    let mut launch =
        Launch::new("apart", "/bin/sh", &supervisor.home()).args(["-c", &script]).as_user(user.as_ref());
    launch.isolated = true;
    launch.address = Some(address);
    let node = supervisor.launch(launch).unwrap();
    let ask = || if mark.exists() { Readiness::Ready(()) } else { Readiness::NotYet("not there".into()) };
    supervisor.await_ready(node, TEST_TIMEOUT, ask).unwrap();
    let processes = supervisor.processes(node);
    assert!(processes.len() >= 3 && Path::new(&interface).exists(), "{processes:?} {interface}");
    let keeper = Pid::from_raw(supervisor.keeper_pid().cast_signed()).unwrap();
    kill_process(keeper, Signal::KILL).unwrap();
    let deadline = Instant::now() + TEST_TIMEOUT;
    let is_running = |it: &u32| Path::new(&format!("/proc/{it}")).exists();
    while processes.iter().any(is_running) || Path::new(&interface).exists() {
        assert!(Instant::now() < deadline, "{processes:?} or {interface} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
    let directory = supervisor.directory().to_owned();
    drop(supervisor);
    while directory.exists() {
        assert!(Instant::now() < deadline, "{} is still there", directory.display());
        drop(Supervisor::start(&super::server::keeper()).unwrap());
    }
}
