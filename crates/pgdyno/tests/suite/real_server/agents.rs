//! Agents: loads over NATS, and what happens when a part of the system fails
//!
//! Needs nats-server. Each test has a server and agents of its own, which are stopped by their process ids.

mod faults;
mod proxy;
pub mod site;

use super::test_server::{SHARED, combined_output, count};
use faults::send;
use proxy::Proxy;
use site::{Site, end, start_server};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// With one seed, agents send the arrivals and operations of one process.
#[test]
fn local_agents_measure_what_one_process_measures() {
    let load = ["-b", "select-only@3", "-b", "simple-update", "-c", "6", "-j", "3", "-R", "300", "-T", "2"];
    let seed = ["--random-seed", "7", "--failures-detailed"];
    let (one, _) = SHARED.measure(&[&load[..], &seed].concat());
    let (three, status) = SHARED.measure(&[&load[..], &seed, &["--local-agents", "3"]].concat());
    assert_eq!(status, 0, "{three}");
    assert!(count(&one, "ok") > 400);
    assert_eq!(count(&three, "ok"), count(&one, "ok"));
    let arrivals = |document: &serde_json::Value| -> Vec<u64> {
        let scripts = document["scripts"].as_array().expect("operations");
        scripts.iter().map(|it| it["counts"]["ok"].as_u64().expect("a count")).collect()
    };
    assert_eq!(arrivals(&three), arrivals(&one));
    assert_eq!(three["plan"]["threads"], 3);
}

/// Impossible requests are reported before any load is generated.
#[test]
fn impossible_requests_are_refused_at_once() {
    let site = Site::start(2);
    let url = site.url();
    let check = |arguments: &[&str], expected: &str| {
        let output = SHARED.bench(&[&["-S", "-n", "-T", "1"], arguments].concat());
        let text = combined_output(&output);
        assert!(!output.status.success() && text.contains(expected), "{arguments:?}: {text}");
    };
    let on = |arguments: &[&'static str]| -> Vec<String> {
        ["--nats", &url].into_iter().chain(arguments.iter().copied()).map(str::to_owned).collect()
    };
    let check_on = |arguments: &[&'static str], expected: &str| {
        check(&on(arguments).iter().map(String::as_str).collect::<Vec<_>>(), expected);
    };
    check_on(&["--agents", "3", "-c", "3"], "3 agents are needed, but only 2 can be leased");
    check_on(&["--agents", "2", "-c", "2", "--label", "zone=b"], "does not have the required label zone");
    check_on(&["--agents", "2", "-c", "1"], "fewer clients (-c) than agents");
    check_on(&["--agents", "2", "-c", "2", "-l"], "-l cannot be used with agents");
    check(&["--agents", "1", "--nats", "nats://127.0.0.1:1"], "no NATS server answers at nats://127.0.0.1:1");
    check(&["--agents", "1", "--nats", "nats://u:secret@127.0.0.1:1"], "contains a password");
    let mut other = site.start_agent("strict", &["--allow", "192.0.2.0/24"]);
    site.wait_for("the third agent", |text| text.contains("strict"));
    check_on(&["--agents", "3", "-c", "3"], "the agent may not load");
    other.kill();
    site.wait_for("idle agents", |text| text.matches("idle").count() == 2 && !text.contains("strict"));
}

/// A killed agent ends the trial, which is invalid. Meanwhile, the agents serve no other coordinator.
#[test]
fn a_killed_agent_makes_the_trial_invalid() {
    (0..rounds().max(1)).for_each(|_| kill_agent());
}

fn kill_agent() {
    let mut site = Site::start(3);
    let (run, path) = site.bench("run", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    let busy = SHARED.bench(&["-S", "-n", "-T", "1", "-c", "3", "--agents", "3", "--nats", &site.url()]);
    assert!(combined_output(&busy).contains("works for another coordinator"), "{}", combined_output(&busy));
    site.agents[1].kill();
    let (_, text) = end(run, &path);
    assert!(text.contains("INVALID: agent 2 did not complete"), "{text}");
    site.wait_for("idle agents", |text| text.matches("idle").count() == 2);
}

/// A coordinator that is killed leaves nothing running.
#[test]
fn agents_stop_when_the_coordinator_is_killed() {
    (0..rounds().max(1)).for_each(|_| kill_coordinator());
}

fn kill_coordinator() {
    let site = Site::start(3);
    let (mut run, path) = site.bench("run", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    assert_ne!(site.sessions(), "0");
    run.kill().expect("it runs");
    let killed = Instant::now();
    end(run, &path);
    while site.sessions() != "0" {
        assert!(killed.elapsed() < Duration::from_secs(20), "{} sessions are left", site.sessions());
    }
    println!("no session {:.1} s after the coordinator was killed", killed.elapsed().as_secs_f64());
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// A NATS server that restarts within the silence that is tolerated loses nothing.
#[test]
fn a_restarted_nats_server_loses_nothing() {
    (0..rounds().max(1)).for_each(|_| restart_nats_server());
}

fn restart_nats_server() {
    let load = ["-T", "4", "--random-seed", "7", "--json", "-c", "6", "-j", "3", "-R", "200"];
    let (one, _) = SHARED.measure(&[&["-S"], &load[..]].concat());
    let mut site = Site::start(3);
    let (run, path) = site.bench("run", &[&["--agents", "3"], &load[..]].concat());
    site.wait_for_output(&path, "progress: 1.0 s");
    site.server.kill();
    site.server = start_server(site.port);
    let (_, text) = end(run, &path);
    let begin = text.find('{').unwrap_or_else(|| panic!("no document: {text}"));
    let all: serde_json::Value =
        serde_json::from_str(&text[begin..]).unwrap_or_else(|it| panic!("{it}: {text}"));
    assert_eq!(count(&all, "ok"), count(&one, "ok"));
    assert_eq!(all["generator"]["threads"].as_array().map(Vec::len), Some(3), "{all}");
}

/// Number of rounds of the tests that take longer, which `./x agents` sets.
fn rounds() -> u32 {
    std::env::var("PGDYNO_AGENT_ROUNDS").map_or(0, |it| it.parse().expect("a number"))
}

/// Runs a load on three agents, and disturbs it with `disturb` after a second. The trial must be invalid because of agent
/// 2, and all sessions must end within the time.
fn check_disturbed(site: &Site, disturb: impl FnOnce(&Site)) {
    let (run, path) = site.bench("disturbed", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    let begin = Instant::now();
    disturb(site);
    let (_, text) = end(run, &path);
    assert!(text.contains("INVALID: agent 2 did not complete"), "{text}");
    while site.sessions() != "0" {
        assert!(begin.elapsed() < Duration::from_secs(20), "{} sessions are left", site.sessions());
    }
    println!("no session {:.1} s after the fault", begin.elapsed().as_secs_f64());
}

/// An agent that is frozen for 5 s stops by itself when it continues, and serves the next coordinator.
#[test]
fn a_frozen_agent_stops_when_it_continues() {
    for _ in 0..rounds() {
        freeze_agent();
    }
}

fn freeze_agent() {
    let site = Site::start(3);
    check_disturbed(&site, |site| {
        send(&site.agents[1], "-STOP");
        thread::sleep(Duration::from_secs(5));
        send(&site.agents[1], "-CONT");
    });
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// An agent that is cut off from NATS, but not from the server under test, stops by itself.
#[test]
fn an_agent_without_nats_stops_by_itself() {
    for _ in 0..rounds() {
        cut_agent_off();
    }
}

fn cut_agent_off() {
    let mut site = Site::start(1);
    let proxy = Proxy::start(site.port);
    let direct = site.url();
    site.agents.push(Site::start_agent_at(&format!("nats://127.0.0.1:{}", proxy.port), "a2", &[]));
    site.agents.push(Site::start_agent_at(&direct, "a3", &[]));
    site.wait_for("the agents", |text| text.matches("idle").count() == 3);
    check_disturbed(&site, |_| proxy.is_cut.store(true, Ordering::Relaxed));
}
