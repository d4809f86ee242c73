//! Slow agents, revoked credentials, and a cluster of NATS servers that loses one
//!
//! These tests take longer, so each runs as often as `./x agents` requests; a slow agent is also tested once by `./x test`.

use super::super::test_server::{SHARED, count};
use super::site::{NatsConfig, Process, Site, end, free_ports, start_server_with};
use super::{check_disturbed, rounds};
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Sends a signal to a process.
pub fn send(process: &Process, signal: &str) {
    let pid = process.0.id().to_string();
    assert!(Command::new("/bin/kill").args([signal, &pid]).status().expect("kill can be run").success());
}

/// An agent that is too slow for its part makes the trial invalid, and the result says that more agents would help.
#[test]
fn a_slow_agent_makes_the_trial_invalid() {
    (0..rounds().max(1)).for_each(|_| slow_agent());
}

fn slow_agent() {
    let site = Site::start(3);
    let (run, path) = site.bench("slow", &["-T", "4", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    // Shorter than the silence after which an agent is lost.
    send(&site.agents[1], "-STOP");
    thread::sleep(Duration::from_millis(1200));
    send(&site.agents[1], "-CONT");
    let (_, text) = end(run, &path);
    assert!(text.contains("INVALID: ") && !text.contains("did not complete"), "{text}");
    assert!(text.contains("the agents limited the load: 3 agents were late or saturated"), "{text}");
    assert!(text.contains("more would help"), "{text}");
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// An agent whose credentials are revoked stops by itself, and comes back when it may connect again.
#[test]
fn an_agent_with_revoked_credentials_stops() {
    (0..rounds()).for_each(|_| revoke_credentials());
}

fn revoke_credentials() {
    let [port] = free_ports();
    let config = |users: &[&str]| NatsConfig { port, users, cluster: None }.text();
    let mut site = Site::with_config(port, &config(&["user", "agent"]));
    let user =
        |name: &str| [("NATS_USER", name.to_owned()), ("NATS_PASSWORD", format!("password of {name}"))];
    for (name, account) in [("a1", "user"), ("a2", "agent"), ("a3", "user")] {
        site.agents.push(Site::start_agent_as(&site.url(), name, &user(account)));
    }
    site.wait_for("the agents", |text| text.matches("idle").count() == 3);
    let reload = |site: &Site, users: &[&str]| {
        fs::write(site.config(), config(users)).expect("the file can be written");
        send(&site.server, "-HUP");
    };
    check_disturbed(&site, |site| reload(site, &["user"]));
    site.wait_for("two agents", |text| text.matches("idle").count() == 2 && !text.contains("a2"));
    reload(&site, &["user", "agent"]);
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// A cluster that loses one of three servers loses no second: the clients of the server reconnect to the others.
#[test]
fn a_killed_server_of_a_cluster_loses_nothing() {
    (0..rounds()).for_each(|_| kill_cluster_server());
}

fn kill_cluster_server() {
    let load = ["-T", "4", "--random-seed", "7", "--json", "-c", "6", "-j", "3", "-R", "200"];
    let (one, _) = SHARED.measure(&[&["-S"], &load[..]].concat());
    let ports: [u16; 6] = free_ports();
    let (ports, routes) = ports.split_at(3);
    let config =
        |n: usize| NatsConfig { port: ports[n], users: &[], cluster: Some((routes[n], routes)) }.text();
    // The coordinator and the second agent are clients of the server that is killed.
    let mut site = Site::with_config(ports[1], &config(1));
    let others = [0, 2].map(|n| start_server_with(&site.write(&format!("nats-{n}.conf"), &config(n))));
    for (n, name) in ["a1", "a2", "a3"].into_iter().enumerate() {
        site.agents.push(Site::start_agent_at(&format!("nats://127.0.0.1:{}", ports[n]), name, &[]));
    }
    site.wait_for("the agents", |text| text.matches("idle").count() == 3);
    let (run, path) = site.bench("cluster", &[&["--agents", "3"], &load[..]].concat());
    site.wait_for_output(&path, "progress: 1.0 s");
    site.server.kill();
    let (_, text) = end(run, &path);
    let begin = text.find('{').unwrap_or_else(|| panic!("no document: {text}"));
    let all: serde_json::Value =
        serde_json::from_str(&text[begin..]).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(count(&all, "ok"), count(&one, "ok"));
    assert_eq!(all["generator"]["threads"].as_array().map(Vec::len), Some(3), "{all}");
    drop(others);
}
