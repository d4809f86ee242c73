//! Tests that the sampler reads a real server, costs little, and never blocks

use super::server::{TEST_TIMEOUT, fresh_database, in_database, installation, keeper};
use model::{EventKind, Nanos, Sample};
use stack::client::{Address, Connection};
use stack::component;
use stack::component::postgres::{Postgres, Settings};
use stack::probe::ProbeTarget;
use stack::sampler::{Observation, Sampler, SamplingTarget, SamplingTargetKind};
use stack::supervisor::Supervisor;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

fn clock() -> impl Fn() -> Nanos + Send + Clone + 'static {
    let begin = Instant::now();
    move || begin.elapsed().into()
}

/// Receives observations until one is accepted, for at most a minute.
fn receive_until<T>(from: &Receiver<Observation>, mut select: impl FnMut(&Observation) -> Option<T>) -> T {
    let end = Instant::now() + TEST_TIMEOUT;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let observation = from.recv_timeout(left).expect("what is waited for comes in time");
        if let Some(found) = select(&observation) {
            return found;
        }
    }
}

/// Waits for a sample of this series and label with an accepted value.
fn sample(from: &Receiver<Observation>, series: &str, label: &str, accept: impl Fn(f64) -> bool) {
    receive_until(from, |observation| {
        let Observation::Samples(them) = observation else { return None };
        them.iter().find(|it| it.series == series && it.label == label && accept(it.value)).map(drop)
    });
}

#[test]
fn samples_sessions_waits_and_reports_missing_extensions() {
    let (mut one, name) = fresh_database();
    one.query("create table t as select 1 as a").unwrap();
    let target = in_database(&name);
    let mut two = target.open(TEST_TIMEOUT).unwrap();
    let (out, observations) = channel();
    let point = SamplingTarget {
        target: Some(target),
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    let sampler =
        Sampler::start(vec![SamplingTarget::host(), SamplingTarget::generator(), point], clock(), out);
    one.query("begin; update t set a = 2").unwrap();
    let waiting = std::thread::spawn(move || two.query("update t set a = 3").unwrap());
    sample(&observations, "pg_active_waits", "Lock/transactionid", |it| it == 1.0);
    sample(&observations, "pg_locks_waiting", "transactionid/ShareLock", |it| it == 1.0);
    sample(&observations, "pg_longest_lock_wait", "", |it| it > 0.0);
    one.query("commit").unwrap();
    waiting.join().unwrap();
    sample(&observations, "pg_locks_waiting", "", |it| it == 0.0);
    let cost = sampler.stop();
    assert!(cost.wall > cost.own_cpu && cost.server_cpu > Nanos::ZERO, "{cost:?}");

    // Every probe runs a last time at the end; a missing probe was reported once.
    let rest: Vec<Observation> = observations.iter().collect();
    let series: BTreeSet<String> = rest
        .iter()
        .filter_map(|it| if let Observation::Samples(them) = it { Some(them) } else { None })
        .flatten()
        .map(|it| format!("{} {}", it.node, it.series))
        .collect();
    for expected in
        ["host host_cpu", "generator process_cpu_user", "postgres pg_commits", "postgres pg_wal_records"]
    {
        assert!(series.contains(expected), "{expected} in {series:?}");
    }
}

/// The statistics of a restored database do not include the rows that it was restored with.
#[test]
fn live_rows_include_those_from_before_a_restore() {
    let (mut original, name) = fresh_database();
    original.query("create table t as select n from generate_series(1, 3000) n").unwrap();
    original.query("analyze t").unwrap();
    drop(original);
    let (mut other, _) = fresh_database();
    let restored = format!("{name}_restored");
    other.query(&format!("create database {restored} template {name}")).unwrap();
    let target = in_database(&restored);
    let mut session = target.open(TEST_TIMEOUT).unwrap();
    session.query("delete from t where n <= 1400").unwrap();
    // PostgreSQL reports the statistics of a session at its end.
    drop(session);
    let (out, observations) = channel();
    let point = SamplingTarget {
        target: Some(target),
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    let sampler = Sampler::start(vec![point], clock(), out);
    sample(&observations, "pg_table_live_rows", "public.t", |it| it == 1600.0);
    sampler.stop();
    other.query(&format!("drop database {restored} with (force)")).unwrap();
}

#[test]
fn missing_probe_is_reported_once() {
    let (_connection, name) = fresh_database();
    let (out, observations) = channel();
    let point = SamplingTarget {
        target: Some(in_database(&name)),
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    let nobody = SamplingTarget {
        target: Some(in_database("nowhere")),
        ..SamplingTarget::new("nobody", SamplingTargetKind::POSTGRES)
    };
    let sampler = Sampler::start(vec![point, nobody], clock(), out);
    let mut missing = Vec::new();
    let mut commits = 0;
    receive_until(&observations, |observation| {
        match observation {
            Observation::Missing { node, probe, reason } => {
                missing.push(format!("{node} {probe}: {}", reason.describe()));
            }
            Observation::Samples(them) => {
                commits += them.iter().filter(|it| it.series == "pg_commits").count();
            }
            Observation::Event(_) | Observation::Deadlock(_) | Observation::Note { .. } => {}
        }
        // Every probe has run some rounds.
        (commits > 30 && missing.len() >= 4).then_some(())
    });
    sampler.stop();
    missing.sort();
    let absent =
        |probe: &str| format!("postgres {probe}: function pg_stat_statements(boolean) does not exist");
    let nowhere = "nobody connection: FATAL: database \"nowhere\" does not exist (SQLSTATE 3D000)";
    let statements = ["pg_statement_texts", "pg_statement_work", "pg_statements"].map(absent);
    assert_eq!(missing, [&[nowhere.to_owned()][..], &statements].concat());
}

#[test]
fn sampler_resumes_after_restart_and_follows_log() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let more = [("shared_preload_libraries", "pg_stat_statements"), ("log_min_duration_statement", "0")];
    let more = more.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let settings = Settings { max_connections: 5, extra_lines: more, ..Settings::default() };
    let mut postgres = Postgres::start(&mut supervisor, &installation(), &settings).unwrap();
    let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
    connection.query("create extension pg_stat_statements").unwrap();
    let (out, observations) = channel();
    let point = SamplingTarget {
        target: Some(postgres.target()),
        pid: supervisor.pid_handle(postgres.node),
        log: Some(supervisor.directory().join("log/postgres.log")),
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    let now = clock();
    let sampler = Sampler::start(vec![point], now.clone(), out);
    sample(&observations, "pg_connections_free", "", |it| it == 5.0 - 3.0 - 2.0);
    sample(&observations, "process_memory", "", |it| it > 1e6);
    sample(&observations, "process_private_memory", "", |it| it > 1e5);
    sample(&observations, "process_files", "", |it| it > 10.0);
    sample(&observations, "pg_database_size", "postgres", |it| it > 1e6);

    connection.query("set work_mem = '1MB'").unwrap();
    connection.query("select 'secret', 4711").unwrap();
    let event = |kind: EventKind, text: &str| {
        receive_until(&observations, |observation| match observation {
            Observation::Event(it) if it.kind == kind && it.text.contains(text) => Some(it.clone()),
            _ => None,
        })
    };
    event(EventKind::SlowStatement, "statement: select ?, …");
    connection.query("select 'secret'::int").unwrap_err();
    assert_eq!(event(EventKind::Error, "\"…\"").code.as_deref(), Some("22P02"));
    let mut clients: Vec<Connection> = Vec::new();
    let refused = loop {
        match postgres.target().open(TEST_TIMEOUT) {
            Ok(it) => clients.push(it),
            Err(it) => break it,
        }
    };
    assert_eq!(refused.code(), wire::Code::SqlState(*b"53300"));
    assert_eq!(event(EventKind::TooManyConnections, "").code.as_deref(), Some("53300"));
    drop(clients);

    postgres.stop(&mut supervisor).unwrap();
    let ended = now();
    postgres.restart(&mut supervisor).unwrap();
    event(EventKind::Lifecycle, "ready to accept connections");
    sample(&observations, "pg_sets", "", |it| it >= 1.0);
    let of_the_new_one = |it: &Sample| it.series == "process_cpu_user" && it.at > ended;
    receive_until(&observations, |observation| match observation {
        Observation::Samples(them) => them.iter().any(of_the_new_one).then_some(()),
        _ => None,
    });
    let cost = sampler.stop();
    let after: Vec<String> = observations.iter().map(|it| format!("{it:?}")).collect();
    assert!(after.iter().any(|it| it.contains("select $1, $2")), "the text without constants: {after:?}");
    assert!(!after.iter().any(|it| it.contains("secret")));
    assert!(cost.server_cpu > Nanos::ZERO);
}

/// Checks an isolated server, like those of a stack with replicas: children of its first process are sampled too.
#[test]
fn samples_all_processes_of_isolated_server() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let settings = Settings { isolated: true, ..Settings::default() };
    let postgres = Postgres::start(&mut supervisor, &installation(), &settings).unwrap();
    let (pid, apart) = (supervisor.pid_handle(postgres.node), supervisor.is_isolated(postgres.node));
    let (out, observations) = channel();
    let sampler = Sampler::start(
        vec![SamplingTarget { pid, apart, ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES) }],
        clock(),
        out,
    );
    let sessions: Vec<Connection> = (0..7).map(|_| postgres.target().open(TEST_TIMEOUT).unwrap()).collect();
    // The sum includes the first process, checkpointer, writers and launchers.
    sample(&observations, "process_threads", "", |it| it >= 5.0 + sessions.len() as f64);
    sampler.stop();
}

/// Starts a server that accepts connections and never responds.
#[test]
fn hanging_server_delays_no_other() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (_connection, name) = fresh_database();
    let target = in_database(&name);
    let hanging =
        stack::client::Target { address: Address::Tcp(silent.local_addr().unwrap()), ..target.clone() };
    let (out, observations) = channel();
    let points = vec![
        SamplingTarget {
            target: Some(hanging),
            ..SamplingTarget::new("hanging", SamplingTargetKind::POSTGRES)
        },
        SamplingTarget {
            target: Some(target),
            ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
        },
    ];
    let sampler = Sampler::start(points, clock(), out);
    receive_until(&observations, |observation| match observation {
        Observation::Missing { node, probe: "connection", .. } if node == "hanging" => Some(()),
        _ => None,
    });
    for _ in 0..3 {
        sample(&observations, "pg_connections_used", "", |_| true);
    }
    drop(sampler);
    assert!(
        observations.iter().all(|it| !matches!(it, Observation::Missing { node, .. } if node == "hanging"))
    );
}

/// Prints the cost with `--nocapture`; the limit is loose, because other tests run at the same time.
#[test]
fn sampling_200_clients_costs_little() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let more = vec![("shared_preload_libraries".to_owned(), "pg_stat_statements".to_owned())];
    let settings = Settings { max_connections: 250, extra_lines: more, ..Settings::default() };
    let postgres = Postgres::start(&mut supervisor, &installation(), &settings).unwrap();
    let mut clients: Vec<Connection> = Vec::new();
    while clients.len() < 200 {
        clients.push(postgres.target().open(TEST_TIMEOUT).unwrap());
    }
    clients[0].query("create extension pg_stat_statements").unwrap();
    let seconds =
        std::env::var("PGDYNO_TEST_COST_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(2.0);
    let (out, observations) = channel();
    let pid = Some(Arc::new(AtomicU32::new(supervisor.pid(postgres.node).unwrap())));
    let point = SamplingTarget {
        target: Some(postgres.target()),
        pid,
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    let sampler =
        Sampler::start(vec![SamplingTarget::host(), SamplingTarget::generator(), point], clock(), out);
    let begin = Instant::now();
    let mut next = 0;
    while begin.elapsed() < Duration::from_secs_f64(seconds) {
        clients[next % 200].query("select pg_sleep(0.001)").unwrap();
        next += 1;
    }
    let cost = sampler.stop();
    let samples: usize =
        observations.iter().map(|it| if let Observation::Samples(them) = it { them.len() } else { 0 }).sum();
    println!(
        "{samples} samples in {:.1} s: {:.2} % of a processor, ours {:.2} %, the server's {:.2} %",
        cost.wall.as_secs_f64(),
        cost.cpu_share() * 100.0,
        cost.own_cpu.as_secs_f64() / cost.wall.as_secs_f64() * 100.0,
        cost.server_cpu.as_secs_f64() / cost.wall.as_secs_f64() * 100.0,
    );
    assert!(cost.cpu_share() < 0.1, "{cost:?}");
    let probes = component::probes().filter(|it| it.target == ProbeTarget::Postgres).count();
    assert!(samples > probes);
}

/// Samples an attached node once, and returns the names of the nodes and series of processes, and the notes.
fn sample_attached(address: Address) -> (Vec<(String, String)>, Vec<String>) {
    let (out, observations) = channel();
    let point = SamplingTarget {
        listener: Some(address),
        ..SamplingTarget::new("postgres", SamplingTargetKind::POSTGRES)
    };
    // Every probe runs once more at the end.
    Sampler::start(vec![point], clock(), out).stop();
    let (mut samples, mut notes) = (Vec::new(), Vec::new());
    for observation in observations {
        match observation {
            Observation::Samples(all) => {
                let processes = all.into_iter().filter(|it| it.series.starts_with("process_"));
                samples.extend(processes.map(|it| (it.node.into_owned(), it.series.into_owned())));
            }
            Observation::Note { message, .. } => notes.push(message.describe()),
            other => panic!("{other:?}"),
        }
    }
    (samples, notes)
}

#[test]
fn samples_the_processes_that_listen_at_an_address() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let settings = Settings::default();
    let postgres = Postgres::start(&mut supervisor, &installation(), &settings).unwrap();
    let address = postgres.target().address;
    let (samples, notes) = sample_attached(address.clone());
    for series in ["process_cpu_user", "process_cpu_system", "process_private_memory", "process_threads"] {
        assert!(samples.contains(&("postgres".to_owned(), series.to_owned())), "{series}: {samples:?}");
    }
    assert_eq!(notes, [format!("listener-found(postgres, {address})")]);
    postgres.stop(&mut supervisor).unwrap();
    let (samples, notes) = sample_attached(address.clone());
    assert_eq!((samples, notes), (vec![], vec![format!("listener-none({address})")]));
}

/// This test program listens at the address, as a tunnel or a proxy of containers does.
#[test]
fn names_another_program_at_the_address_of_a_server() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(socket.local_addr().unwrap());
    let program = std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let name = format!("{program} at {address}");
    let (samples, notes) = sample_attached(address.clone());
    assert!(!samples.is_empty() && samples.iter().all(|it| it.0 == name), "{samples:?}");
    assert_eq!(notes, [format!("listener-other-program({program}, {address}, {name})")]);
}
