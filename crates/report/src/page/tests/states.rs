//! Tables of sessions, pools and servers in both languages

use super::logs::section;
use super::*;
use model::states::{CellStates, Gauge, PoolStates, ServerStates, SessionGroup};

fn gauge(mean: f64, max: f64) -> Option<Gauge> {
    Some(Gauge { mean, max })
}

fn states() -> Vec<CellStates> {
    let session = |state: &str, application: &str, sessions| SessionGroup {
        node: "postgres".to_owned(),
        state: state.to_owned(),
        client: "127.0.0.1".to_owned(),
        user: "app".to_owned(),
        application: application.to_owned(),
        sessions,
    };
    let pool = PoolStates {
        node: "pooler".to_owned(),
        pool: "app/app".to_owned(),
        clients_active: gauge(195.0, 200.0),
        clients_waiting: gauge(150.25, 176.0),
        servers_active: gauge(20.0, 20.0),
        servers_idle: gauge(0.0, 0.0),
        longest_wait: Some(20.5),
        size: Some(20.0),
        reserve: Some(0.0),
        connections: gauge(20.0, 20.0),
        paused: Some(0.0),
    };
    let server = ServerStates {
        node: "balancer".to_owned(),
        server: "behind/postgres".to_owned(),
        up: Some(0.95),
        sessions: gauge(30.0, 50.0),
        queue: gauge(12.0, 40.0),
        begun: Some(12_345.0),
        connection_errors: Some(3.0),
        response_errors: Some(0.0),
        retries: None,
    };
    let small = session("…", "…", Gauge { mean: 0.5, max: 1.0 });
    vec![
        CellStates {
            cell: 0,
            sessions: vec![session("idle", "pgdyno load", Gauge { mean: 4.5, max: 8.0 }), small],
            servers: vec![server],
            ..CellStates::default()
        },
        CellStates { cell: 1, pools: vec![pool], ..CellStates::default() },
    ]
}

#[test]
fn shows_sessions_pools_and_servers() {
    let result = RunResult { states: states(), ..account() };
    for lang in lang::all() {
        golden(&format!("states.{}.md", lang.code()), &section(&result, "states", lang));
    }
}

#[test]
fn escapes_hostile_names() {
    let mut states = states();
    let text = || HOSTILE.to_owned();
    let session = &mut states[0].sessions[0];
    (session.application, session.user, session.client, session.state) = (text(), text(), text(), text());
    states[1].pools[0].pool = text();
    states[0].servers[0].server = text();
    let result = RunResult { states, ..account() };
    for lang in lang::all() {
        let text = to_markdown(&page(&result, lang));
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
}
