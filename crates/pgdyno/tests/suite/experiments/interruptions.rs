//! However a run ends, its results are stored and nothing else remains

use super::postgres_servers::start_server;
use super::workspace::{
    BARE, PGDYNO, RunningProcess, Workspace, counts, ended_by_signal, groups, is_root, retry_until, trials,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, OpenOptions};
use std::io::pipe;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{Run, RunStatus, State};

const LONG: &str = "
stack: { pooler: { kind: pgbouncer, size: 5, limits: { cpu: 0.5 } }, postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 10m }
repeat: 2
";

#[test]
fn ctrl_c_stores_and_prints_results() {
    let workspace = Workspace::new("interrupted", LONG);
    let mut running = workspace.spawn(&[]);
    running.await_trial(1);
    running.signal(Signal::INT);
    let ended = running.wait();
    ended.expect(2);
    let run = workspace.stored();
    assert_eq!(run.state().expect("the run file can be read").status(), Some(RunStatus::Interrupted));
    let stored = trials(&run);
    assert_eq!(stored.len(), 1, "no further trial began");
    assert_eq!(stored[0].1, RunStatus::Interrupted);
    assert!(counts(&run, 1).ok > 0);
    assert!(ended.err.contains(" tps, ") && ended.err.contains(", interrupted"), "{}", ended.err);
    workspace.await_cleanup();
}

/// If the reader of the result is gone or its disk is full, the run's file is still complete.
#[test]
fn stores_the_run_if_the_output_fails() {
    let full = || OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let closed = || pipe().expect("there are descriptors").1;
    let outputs: [(Stdio, Stdio, i32); 3] = [
        (full().into(), Stdio::piped(), 1),
        (closed().into(), Stdio::piped(), 0),
        (Stdio::piped(), closed().into(), 0),
    ];
    for (out, err, status) in outputs {
        let workspace = Workspace::new("unread", BARE);
        let child =
            workspace.command(&[]).stdout(out).stderr(err).spawn().expect("the program can be started");
        let ended = child.wait_with_output().expect("the process can be waited for");
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(status), "{message}");
        assert!(
            status == 0 || message.contains("could not write to standard output: No space left"),
            "{message}"
        );
        let run = workspace.stored();
        assert_eq!(run.state().expect("the run file can be read").status(), Some(RunStatus::Complete));
        assert!(counts(&run, 1).ok > 0);
        workspace.await_cleanup();
    }
}

#[test]
fn ctrl_c_ends_loading() {
    let dataset = "dataset: { name: tickets, rows: 1_000_000_000 }";
    let workspace = Workspace::new("loading", &format!("{LONG}{dataset}\n"));
    let running = workspace.spawn(&[]);
    // PostgreSQL shows this title for a session that receives rows by COPY.
    workspace.await_process(" COPY");
    running.signal(Signal::INT);
    let ended = running.wait();
    ended.expect(1);
    assert!(ended.err.contains("1/2  the only cell: interrupted before it began"), "{}", ended.err);
    assert_eq!(trials(&workspace.stored())[0].1, RunStatus::Interrupted);
    workspace.await_cleanup();
}

/// The server is stopped, so the drain does not end. The second signal cancels it.
#[test]
fn second_ctrl_c_cancels_running_statements() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{address}\" }} }}
operations: {{ slow: {{ sql: SELECT pg_sleep(600) }} }}
load: {{ model: closed, clients: 2, duration: 10m }}
"
    );
    let workspace = Workspace::new("twice", &yaml);
    let mut sleeping = || -> usize {
        let count = "select count(*) from pg_stat_activity where query like 'SELECT pg_sleep(600)%' and state = 'active'";
        connection.value(count).expect("the server answers").and_then(|it| it.parse().ok()).expect("a number")
    };
    let mut running =
        workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", postgres.password().reveal()));
    running.await_trial(1);
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.wait().expect(2);
    assert_eq!(
        workspace.stored().state().expect("the run file can be read").status(),
        Some(RunStatus::Interrupted)
    );
    retry_until("no statement of the run is active", || match sleeping() {
        0 => Ok(()),
        other => Err(other.to_string()),
    });
}

#[test]
fn sigkill_leaves_no_process_and_a_readable_file() {
    let workspace = Workspace::new("shot", LONG);
    let mut running = workspace.spawn(&[]);
    running.await_trial(1);
    let keeper = running.keeper();
    if is_root() {
        assert!(!groups(keeper).is_empty(), "a limit makes a control group");
    }
    kill_process(running.pid(), Signal::KILL).expect("the process is running");
    assert!(ended_by_signal(&running.wait(), Signal::KILL));
    workspace.await_cleanup();
    retry_until("control groups are gone", || match &groups(keeper)[..] {
        [] => Ok(()),
        left => Err(format!("{left:?}")),
    });
    let run = workspace.stored();
    assert_eq!(run.state().expect("the run can be read"), State::Lost);
    assert!(counts(&run, 1).ok > 0, "all but the last second is there");
}

/// The kernel kills processes in a control group without memory when they request a page.
#[test]
fn an_oom_kill_leaves_an_interrupted_run() {
    let Some(group) = NoMemory::new() else {
        eprintln!("skipped: no control group of memory can be made here");
        return;
    };
    let workspace = Workspace::new("starved", LONG);
    let mut running = workspace.spawn(&[]);
    running.await_trial(1);
    group.take(running.pid());
    assert!(ended_by_signal(&running.wait(), Signal::KILL));
    workspace.await_cleanup();
    let run = workspace.stored();
    assert_eq!(run.state().expect("the run can be read"), State::Lost);
    assert!(counts(&run, 1).ok > 0, "all but the last second is there");
    let listed = Command::new(PGDYNO)
        .arg("runs")
        .current_dir(&workspace.folder)
        .output()
        .expect("the program can be started");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("interrupted"), "{listed}");
}

/// Control group whose processes may use no memory; removed on drop.
struct NoMemory(PathBuf);

impl NoMemory {
    fn new() -> Option<NoMemory> {
        let name = format!("pgdyno-test-{}", std::process::id());
        ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].into_iter().find_map(|root| {
            let group = NoMemory(Path::new(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            let limits = ["memory.limit_in_bytes", "memory.max"];
            limits.iter().find(|it| fs::write(group.0.join(it), "0").is_ok()).map(|_| group)
        })
    }

    fn take(&self, process: Pid) {
        let pid = process.as_raw_nonzero().to_string();
        fs::write(self.0.join("cgroup.procs"), pid).expect("a process may be moved");
    }
}

impl Drop for NoMemory {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn concurrent_runs_are_independent() {
    let yaml = LONG.replace("10m", "1s");
    let benches = ["one", "two"].map(|name| Workspace::new(name, &yaml));
    let running = benches.each_ref().map(|it| it.spawn(&["--json"]));
    let ended = running.map(RunningProcess::wait);
    for (workspace, ended) in benches.iter().zip(&ended) {
        ended.expect(0);
        let run: Run = workspace.stored();
        assert!(trials(&run).iter().all(|it| it.1 == RunStatus::Complete), "{}", ended.err);
        assert_eq!((counts(&run, 1).failed, counts(&run, 2).failed), (0, 0));
    }
}

/// Server that accepts every login and answers the first query with notices without end.
fn flooding_server() -> (u16, std::sync::mpsc::Receiver<()>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("the listener is bound").port();
    let (sender, queries) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let sender = sender.clone();
            // The thread ends with its client.
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                let welcome = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
                if stream.read(&mut buffer).is_err() || stream.write_all(welcome).is_err() {
                    return;
                }
                if stream.read(&mut buffer).is_ok_and(|it| it > 0) {
                    let _ = sender.send(());
                    let notice = [&b"N\0\0\x04\x06M"[..], &[b'x'; 1024 - 1], b"\0\0"].concat();
                    while stream.write_all(&notice).is_ok() {}
                }
            });
        }
    });
    (port, queries)
}

/// A server that never ends an answer during set-up does not delay the end of the run.
#[test]
fn signals_end_a_set_up_that_waits_for_a_server() {
    let (port, queries) = flooding_server();
    for signal in [Signal::TERM, Signal::INT] {
        let address = format!("host=127.0.0.1 port={port} user=me dbname=book sslmode=disable");
        let flood = Workspace::new(
            "flood",
            &BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}")),
        );
        while queries.try_recv().is_ok() {}
        let running = flood.spawn(&[]);
        queries.recv().expect("the set-up asks");
        running.signal(signal);
        let ended = running.wait();
        ended.expect(1);
        assert!(ended.err.contains("interrupted before it began"), "{}", ended.err);
        assert_eq!(trials(&flood.stored())[0].1, RunStatus::Interrupted);
    }
}

/// The query of a feed runs during set-up. A signal cancels it at the server.
#[test]
fn a_signal_cancels_the_query_of_a_feed() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let mut sleeping = || -> u32 {
        let count = "select count(*) from pg_stat_activity where query like '%FROM pg_sleep(600)' and state = 'active'";
        connection.value(count).expect("the server answers").and_then(|it| it.parse().ok()).expect("a number")
    };
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
feeds: {{ slow: {{ columns: [n], sql: SELECT 1 AS n FROM pg_sleep(600) }} }}
operations: {{ one: {{ feed: slow, sql: 'SELECT :n' }} }}
load: {{ model: closed, clients: 1, duration: 1s }}
",
        postgres.port
    );
    let workspace = Workspace::new("feed", &yaml);
    let running =
        workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", postgres.password().reveal()));
    retry_until("the query of the feed runs", || match sleeping() {
        1 => Ok(()),
        other => Err(other.to_string()),
    });
    running.signal(Signal::TERM);
    running.wait().expect(1);
    assert_eq!(trials(&workspace.stored())[0].1, RunStatus::Interrupted);
    retry_until("the query is cancelled", || match sleeping() {
        0 => Ok(()),
        other => Err(other.to_string()),
    });
}
