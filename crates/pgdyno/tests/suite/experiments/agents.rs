//! Experiments whose load agents generate: a matrix, a search, a resumed run, additional agents, and secrets

use super::workspace::{PGDYNO, RunOutput, Workspace, counts, trials};
use crate::real_server::agents::site::Site;
use model::AgentPart;
use model::fact::Fact;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use store::{Run, RunStatus, TrialId};

/// Two operations with 60 arrivals per second. Any machine sends them.
const MATRIX: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1, weight: 3 }, two: { sql: SELECT 2 } }
load: { model: open, schedule: \"const(60, 2s)\", arrivals: even, max_in_flight: 8, threads: 2 }
matrix: { load.query_mode: [simple, prepared] }
repeat: 2
";

/// Parts of the agents by trial.
fn parts(run: &Run) -> BTreeMap<u32, Vec<AgentPart>> {
    let facts = run.facts().expect("they can be read").into_iter();
    let parts = facts.filter_map(|record| match record.fact {
        Fact::Agents(parts) => Some((record.trial?.0, parts)),
        _ => None,
    });
    parts.collect()
}

/// Successful transactions of a trial by operation.
fn by_operation(run: &Run, trial: u32) -> Vec<u64> {
    let mut sums = vec![0; 2];
    for tick in run.ticks(TrialId(trial)).expect("the trial exists") {
        let interval = tick.expect("it can be read").interval;
        sums.iter_mut().zip(&interval.scripts).for_each(|(sum, script)| *sum += script.ok);
    }
    sums
}

/// Every trial of a matrix has the arrivals and operations of one process, and its counts are those of the agents.
#[test]
fn a_matrix_on_agents_measures_what_one_process_measures() {
    let measure = |arguments: &[&str]| {
        let workspace = Workspace::new("matrix", MATRIX);
        let document = workspace.run(&[arguments, &["--json"]].concat()).expect(0).document();
        let run = workspace.stored();
        let sums: Vec<Vec<u64>> = (1..=4).map(|it| by_operation(&run, it)).collect();
        let parts = parts(&run);
        (document, sums, parts, run)
    };
    let (_, one, none, _) = measure(&[]);
    let (document, two, parts, stored) = measure(&["--local-agents", "2"]);
    assert_eq!(two, one);
    assert_eq!(none.len(), 0);
    for (trial, sums) in (1..=4).zip(&two) {
        assert_eq!(sums.iter().sum::<u64>(), 120, "{two:?}");
        let parts = &parts[&trial];
        assert_eq!(parts.iter().map(|it| it.ok).sum::<u64>(), 120, "{parts:?}");
        assert!(parts.len() == 2 && parts.iter().all(|it| it.ok > 0 && it.lost.is_none()), "{parts:?}");
        let reasons = document["trials"][trial as usize - 1]["reasons"].as_array();
        // A busy machine may be late.
        let of_machine = ["late", "stalled", "saturated", "agents_limit", "agent_late", "clock_uncertain"];
        let is_of_machine = |it: &Value| of_machine.contains(&it["kind"].as_str().unwrap_or_default());
        assert!(reasons.is_none_or(|it| it.iter().all(is_of_machine)), "{reasons:?}");
    }
    // Their seconds are stored, and the page draws them.
    let samples = stored.samples(TrialId(1), Some("agent_rate")).expect("they can be read");
    let nodes: BTreeSet<String> = samples.iter().map(|it| it.node.to_string()).collect();
    assert_eq!(nodes.iter().map(String::as_str).collect::<Vec<_>>(), ["local-1", "local-2"]);
    let rates: f64 = samples.iter().map(|it| it.value).sum();
    assert!((rates - 120.0).abs() < 1.0, "two seconds: {samples:?}");
}

/// A search has an answer, and all its trials use all agents.
#[test]
fn a_search_on_agents_has_an_answer() {
    let text = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: open, max_in_flight: 8, threads: 2, arrivals: even }
find: { max: { from: 20, limit: 40, window: 2s, hold: 2s, precision: 50% } }
";
    let workspace = Workspace::new("search", text);
    let ended = workspace.run(&["--local-agents", "2", "--json"]);
    let answer = &ended.document()["maxima"][0]["answer"];
    // A busy machine may yield a reason instead of a level.
    ended.expect(if answer["level"].is_null() { 4 } else { 0 });
    match answer["level"].as_f64() {
        Some(level) => assert!((20.0..=40.0).contains(&level), "{answer:#}"),
        None => assert!(!answer["stop_reason"].is_null(), "{answer:#}"),
    }
    let parts = parts(&workspace.stored());
    assert!(parts.len() >= 2 && parts.values().all(|it| it.len() == 2), "{parts:?}");
}

/// A run whose coordinator was killed continues with new agents, and keeps its complete trials.
#[test]
fn a_killed_run_on_agents_is_resumed() {
    let workspace = Workspace::new("resumed", &MATRIX.replace("2s", "4s"));
    let mut running = workspace.spawn(&["--local-agents", "2"]);
    running.await_trial(2);
    kill_process(running.pid(), Signal::KILL).expect("the process is running");
    running.wait();
    workspace.await_cleanup();
    let before = by_operation(&workspace.stored(), 1);
    let path = workspace.stored().path().to_owned();
    let mut resume = Command::new(PGDYNO);
    resume.args(["run", "--json", "--resume"]).arg(&path).current_dir(&workspace.folder);
    RunOutput::run(resume.env("TMPDIR", workspace.folder.join("tmp"))).expect(0);
    let run = workspace.stored();
    assert_eq!(run.path(), path);
    let statuses: Vec<RunStatus> = trials(&run).into_iter().map(|it| it.1).collect();
    assert_eq!(statuses.iter().filter(|it| **it == RunStatus::Complete).count(), 4, "{statuses:?}");
    assert_eq!(by_operation(&run, 1), before);
    let last = statuses.len() as u32;
    assert_eq!(counts(&run, last).ok, 240);
    assert_eq!(parts(&run)[&last].len(), 2);
}

/// With `auto`, a trial that one slow agent limited is repeated with two agents.
#[test]
fn a_trial_that_its_agent_limits_is_repeated_with_more() {
    let text = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: open, schedule: \"const(200, 5s)\", max_in_flight: 8 }
generators: { agents: auto, select: { zone: a } }
";
    let site = Site::start(2);
    let workspace = Workspace::new("auto", text);
    let mut running = workspace.spawn(&["--nats", &site.url(), "--json"]);
    running.await_trial(1);
    let agent = Pid::from_raw(i32::try_from(site.agents[0].0.id()).expect("it fits")).expect("not 0");
    kill_process(agent, Signal::STOP).expect("the agent is running");
    // Shorter than the silence after which an agent is lost.
    thread::sleep(Duration::from_millis(1200));
    kill_process(agent, Signal::CONT).expect("the agent exists");
    let ended = running.wait();
    ended.expect(0);
    assert!(ended.err.contains("the trial is repeated with 2 agents"), "{}", ended.err);
    let run = workspace.stored();
    let statuses: Vec<RunStatus> = trials(&run).into_iter().map(|it| it.1).collect();
    assert_eq!(statuses, [RunStatus::Interrupted, RunStatus::Complete]);
    let parts = parts(&run);
    let used =
        |trial: u32| parts[&trial].iter().map(|it| (it.agent.as_str(), it.threads)).collect::<Vec<_>>();
    assert_eq!(used(1), [("a1", 1)]);
    assert_eq!(used(2), [("a1", 1), ("a2", 1)]);
    // Both attempts had the same arrivals, and only the second one counts.
    assert_eq!((counts(&run, 1).ok, counts(&run, 2).ok), (1000, 1000));
    let document = ended.document();
    let row = &document["matrix"]["rows"][0];
    let [first, trial] = &row["trials"].as_array().expect("the trials are a list")[..] else {
        panic!("two attempts: {row}")
    };
    assert_eq!(
        (&first["status"]["kind"], &first["valid"]),
        (&Value::from("interrupted"), &Value::from(false)),
        "{row}"
    );
    assert_eq!(trial["status"]["kind"], "done", "{row}");
    let figure = &row["figures"][0];
    if trial["valid"] == true {
        assert_eq!((&figure["figure"], &figure["runs"]), (&Value::from("tps"), &Value::from(1)), "{row}");
    } else {
        // A busy machine may disturb the generator. Such a trial has reasons, and no figure.
        assert!(figure.is_null() && trial["reasons"][0].is_object(), "{row}");
    }
}

/// Requests by the value of their header `X-Token`.
type Tokens = Arc<Mutex<BTreeMap<String, u32>>>;

/// Service that answers every request, and counts the requests by their token.
fn service() -> (u16, Tokens) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("the listener has an address").port();
    let tokens = Tokens::default();
    let counted = Arc::clone(&tokens);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                // A request fits into one read.
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let token = request.lines().find_map(|it| it.strip_prefix("X-Token: "));
                    // pgdyno asks for the head once, before the load.
                    let body = if request.starts_with("HEAD ") { "" } else { "ok" };
                    if !body.is_empty() {
                        let mut counts = counted.lock().expect("no panic");
                        *counts.entry(token.unwrap_or("-").to_owned()).or_default() += 1;
                    }
                    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{body}");
                    if stream.write_all(response.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (port, tokens)
}

/// Agents receive the values of environment variables of the coordinator. The run file does not contain them.
#[test]
fn agents_send_secrets_of_the_coordinator() {
    let site = Site::start(2);
    let (port, tokens) = service();
    let text = format!(
        "
stack: {{ service: {{ url: \"http://127.0.0.1:{port}\" }} }}
operations:
  one: {{ get: /, headers: {{ X-Token: \"${{env:PGDYNO_TEST_TOKEN}}\" }} }}
load: {{ model: open, schedule: \"const(50, 2s)\", max_in_flight: 8, threads: 2 }}
generators: {{ agents: 2 }}
"
    );
    let workspace = Workspace::new("secrets", &text);
    let mut command = workspace.command(&["--nats", &site.url(), "--json"]);
    let ended = RunOutput::run(command.env("PGDYNO_TEST_TOKEN", "canary-7391"));
    ended.expect(0);
    let run = workspace.stored();
    assert_eq!(counts(&run, 1).ok, 100);
    let received = tokens.lock().expect("no panic").clone();
    // One request of the check before the run, and those of the load. The coordinator also asks whether the service is up.
    assert_eq!(received["canary-7391"], 101, "{received:?}");
    assert!(received.iter().all(|it| it.0 == "canary-7391" || (it.0 == "-" && *it.1 == 1)), "{received:?}");
    let bytes = fs::read(run.path()).expect("the file can be read");
    assert!(!bytes.windows(11).any(|it| it == b"canary-7391"));
    assert!(!format!("{}{}", ended.out, ended.err).contains("canary-7391"));
}

/// `bench --http` sends the same requests from agents as from one process.
#[test]
fn agents_measure_a_service() {
    let site = Site::start(2);
    let (port, tokens) = service();
    let url = format!("http://127.0.0.1:{port}/");
    let bench = |arguments: &[&str]| {
        let header = ["--header", "X-Token: ${env:PGDYNO_TEST_TOKEN}"];
        let load =
            ["--http", &url, "-c", "4", "-j", "2", "-R", "100", "-T", "2", "--random-seed", "7", "--json"];
        let mut command = Command::new(PGDYNO);
        command.arg("bench").args(header).args(load).args(arguments);
        let ended = RunOutput::run(command.env("PGDYNO_TEST_TOKEN", "canary-8402"));
        ended.expect(0);
        assert!(!format!("{}{}", ended.out, ended.err).contains("canary-8402"));
        let document: Value = serde_json::from_str(&ended.out).expect("a document");
        document["total"]["counts"]["ok"].as_u64().expect("a count")
    };
    let one = bench(&[]);
    let sent = |it: &Tokens| it.lock().expect("no panic").get("canary-8402").copied().unwrap_or_default();
    let before = sent(&tokens);
    let two = bench(&["--agents", "2", "--nats", &site.url()]);
    assert!(one > 100 && two == one, "{one} {two}");
    assert_eq!(u64::from(sent(&tokens) - before), two);
    let strict = site.start_agent("strict", &["--allow", "192.0.2.0/24"]);
    site.wait_for("the third agent", |text| text.contains("strict"));
    let mut command = Command::new(PGDYNO);
    command.args(["bench", "--http", &url, "-c", "3", "-T", "1", "--agents", "3", "--nats", &site.url()]);
    let refused = RunOutput::run(&mut command);
    assert!(!refused.status.success() && refused.err.contains("the agent may not load"), "{}", refused.err);
    drop(strict);
}
