use super::generated;
use super::simulated::{SimulationError, first_second, first_second_by};
use crate::measure::LoadPart;
use load::random::Prng;
use load::{Recorder, TraceEvent};
use model::Record;

const STACK: &str = "stack: { postgres: {} }\n";

/// Files that `check` accepts can be run.
#[test]
fn runs_what_check_accepts() {
    let check = |text: &str, expected: usize| {
        let records = first_second(&format!("{STACK}{text}")).unwrap_or_else(|it| panic!("{text}\n{it:?}"));
        let within = expected * 9 / 10..=expected * 3 / 2;
        assert!(within.contains(&records.len()), "{} records\n{text}", records.len());
    };
    let a = "a: { schedule: \"const(100, 5s)\", sql: SELECT 1 }";
    let b = "b: { schedule: \"const(200, 5s)\", sql: SELECT 2 }";
    let open = "load: { model: open, max_in_flight: 20 }";
    let half = "load: { model: open, max_in_flight: 20, threads: 2 }";
    check(&format!("operations: {{ {a} }}\n{open}"), 100);
    check(&format!("operations: {{ {a}, {b} }}\n{open}"), 300);
    check(&format!("operations: {{ {a}, {b} }}\n{half}"), 300);
    // A client that aborts right after its login releases its slot for further logins.
    let aborts = "operations: { a: { sql: \"\\\\set x 1 / 0\\nSELECT :x\" } }";
    check(&format!("{aborts}\nload: {{ model: closed, clients: 4, duration: 5s, reconnect: true }}"), 4);
    // Pipelines of simple queries end their clients, as in pgbench.
    let piped = "operations: { a: { sql: \"\\\\startpipeline\\nSELECT 1;\\n\\\\endpipeline\" } }";
    check(&format!("{piped}\nload: {{ model: closed, clients: 2, duration: 5s }}"), 2);
    // No operation, or only some operations, use the load's schedule.
    check(
        &format!(
            "operations: {{ {a}, c: {{ rate: 100, sql: SELECT 3 }} }}\n{open_5s}",
            open_5s = "load: { model: open, max_in_flight: 20, duration: 5s }"
        ),
        200,
    );
    check(
        &format!(
            "operations: {{ {a}, {b}, c: {{ sql: SELECT 3 }} }}\nload: {{ model: open, schedule: \"const(50, 5s)\", max_in_flight: 20 }}"
        ),
        350,
    );
}

/// A script variable without a value is an error. `check` reports it. If only a query determines the feed's columns,
/// the preparation of the trial reports it.
#[test]
fn refuses_undefined_variables() {
    let check = |text: &str, expected: &str| {
        let refusal = first_second(text).expect_err(text);
        let (is_checked, message) = match refusal {
            SimulationError::Check(message) => (true, message),
            SimulationError::Prepare(message) => (false, message),
        };
        let (stage, words) = expected.split_once(": ").expect("who refuses, and why");
        assert!(is_checked == (stage == "check") && message.contains(words), "{text}\n{message}");
    };
    for mode in ["simple", "extended", "prepared"] {
        let load = format!("load: {{ model: closed, clients: 1, duration: 5s, query_mode: {mode} }}");
        let sql =
            |operation: &str, feeds: &str| format!("{STACK}{feeds}operations: {{ {operation} }}\n{load}");
        check(&sql("a: { sql: \"SELECT :idd\" }", ""), "check: undefined variable \"idd\"");
        check(&sql("a: { sql: \"SELECT :rows\" }", ""), "check: undefined variable \"rows\"");
        check(&sql("a: { sql: \"\\\\set x :y + 1\\nSELECT :x\" }", ""), "check: undefined variable \"y\"");
        check(
            &sql("a: { sql: \"\\\\set n 1\\nSELECT :n\" }, b: { sql: \"SELECT :n\" }", ""),
            "check: undefined variable \"n\"",
        );
        let named = "feeds: { f: { sql: \"SELECT 1 AS id\", columns: [id] } }\n";
        check(&sql("a: { feed: f, sql: \"SELECT :idd\" }", named), "check: undefined variable \"idd\"");
        let unnamed = "feeds: { f: { sql: \"SELECT 1 AS id\" } }\n";
        check(&sql("a: { feed: f, sql: \"SELECT :idd\" }", unnamed), "prepare: undefined variable \"idd\"");
        let defined = sql("a: { feed: f, sql: \"SELECT :id, :client_id, :random_seed\" }", unnamed);
        first_second(&defined).expect("every variable has a value");
    }
    let stack = "stack: { service: { command: [serve] }, postgres: {} }\n";
    let load = "load: { model: closed, clients: 1, duration: 5s }\n";
    let feed = "feeds: { f: { sql: \"SELECT 1 AS id\" } }\n";
    for request in [
        "get: \"/a/${idd}\"",
        "get: /a, headers: { X: \"${idd}\" }",
        "get: /a, query: { x: \"${idd}\" }",
        "post: /a, body: \"${idd}\"",
        "post: /a, json: { x: \"${idd}\" }",
        "post: /a, form: { x: \"${idd}\" }",
        "steps: [{ get: \"/${idd}\", capture: { idd: { json: /a } } }]",
    ] {
        let http = |feeds: &str, feed: &str| {
            format!("{stack}{feeds}operations: {{ a: {{ {feed} {request} }} }}\n{load}")
        };
        check(&http("", ""), "check: unknown variable `idd`");
        check(&http(feed, "feed: f, "), "prepare: the variable ${idd} is not defined");
    }
    let other = "a: { set: { n: 1 }, get: \"/${n}\" }, b: { feed: f, get: \"/${n}\" }";
    check(
        &format!("{stack}{feed}operations: {{ {other} }}\n{load}"),
        "prepare: operation \"b\": the variable ${n} is not defined",
    );
    let predefined = "a: { get: \"/${client_id}/${random_seed}\" }";
    let records = first_second(&format!("{stack}operations: {{ {predefined} }}\n{load}"));
    assert!(!records.expect("every variable has a value").is_empty());
}

/// Default number of generated files, unless `PGDYNO_GENERATED_FILES` is set.
const GENERATED: u64 = 150;
/// Minimum percentage of accepted files. A generator of mostly invalid files would test nothing.
const ACCEPTED_MIN: u64 = 50;

/// Every file that `check` accepts runs its first second without a panic. The first seed is `PGDYNO_GENERATED_SEED`, by
/// default 1.
#[test]
fn generated_files_run_their_first_second() {
    let number = |name: &str| std::env::var(name).ok().map(|it| it.parse::<u64>().expect("a whole number"));
    let files = number("PGDYNO_GENERATED_FILES").unwrap_or(GENERATED);
    let first = number("PGDYNO_GENERATED_SEED").unwrap_or(1);
    let (mut ran, mut refused, mut records) = (0, 0, 0);
    let mut panics = Vec::new();
    for seed in first..first + files {
        let text = generated::file(seed);
        match std::panic::catch_unwind(|| first_second(&text)) {
            Ok(Ok(all)) => {
                ran += 1;
                records += all.len();
            }
            Ok(Err(SimulationError::Check(_))) => refused += 1,
            // The feed's query determines the columns, so `check` does not know them.
            Ok(Err(SimulationError::Prepare(message))) => {
                assert!(
                    message.contains("not defined") || message.contains("undefined variable"),
                    "seed {seed}: {message}\n{text}"
                );
            }
            Err(_) => panics.push(format!("seed {seed}:\n{text}")),
        }
    }
    println!(
        "{files} files from seed {first}: {ran} ran, {refused} refused by check, {records} transactions"
    );
    assert!(panics.is_empty(), "{} files panic\n{}", panics.len(), panics.join("\n\n"));
    assert!(ran * 100 >= files * ACCEPTED_MIN, "{ran} of {files} files ran");
}

/// Everything that a thread sends and records.
#[derive(Debug, Default, PartialEq)]
struct ThreadTrace {
    records: Vec<Record>,
    /// Requests with the values of their variables.
    requests: Vec<String>,
}

impl Recorder for ThreadTrace {
    const TRACES: bool = true;

    fn trace(&mut self, event: TraceEvent<'_>) {
        if matches!(event, TraceEvent::Statement { .. } | TraceEvent::Request(_)) {
            self.requests.push(format!("{event:?}"));
        }
    }

    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }
}

/// Number of generated files for agents, unless `PGDYNO_AGENT_FILES` is set.
const AGENT_FILES: u64 = 60;

/// Agents prepare their parts by themselves. All agents together send what one process with the same threads sends:
/// the same arrivals, operations and values, in every thread.
#[test]
fn agents_together_send_what_one_process_sends() {
    let files = std::env::var("PGDYNO_AGENT_FILES").map_or(AGENT_FILES, |it| it.parse().expect("a number"));
    let mut compared = 0;
    for seed in 1..=files {
        let text = generated::file(seed);
        let mut rng = Prng::seeded(seed);
        let agents = rng.u64_range(1, 16) as u16;
        let threads = agents + rng.u64_range(0, 5) as u16;
        // A feed that is drawn once is shared by the threads of a process; see the next test.
        let whole = first_second_by::<ThreadTrace>(&text, threads, &[LoadPart::All]);
        let Ok(whole) =
            whole.map_err(drop).and_then(|it| if text.contains("once") { Err(()) } else { Ok(it) })
        else {
            continue;
        };
        let parts: Vec<LoadPart> = (0..agents).map(|agent| LoadPart::Agent { agent, agents }).collect();
        let split = first_second_by::<ThreadTrace>(&text, threads, &parts).expect("the same file");
        assert!(whole == split, "seed {seed}, {agents} agents, {threads} threads:\n{text}");
        compared += whole.iter().flatten().map(|it| it.requests.len()).sum::<usize>();
    }
    println!("{files} files, {compared} requests");
    assert!(compared > 0);
}

/// Rows that are drawn once are drawn by one agent each.
#[test]
fn agents_share_a_feed_that_is_drawn_once() {
    let rows: Vec<String> = (0..1000).map(|it| format!("{{ id: {it} }}")).collect();
    let text = format!(
        "{STACK}feeds: {{ f: {{ rows: [{}], order: once }} }}\n\
         operations: {{ a: {{ feed: f, sql: \"SELECT :id\" }} }}\n\
         load: {{ model: open, max_in_flight: 20, schedule: \"const(300, 5s)\" }}",
        rows.join(", ")
    );
    let drawn = |agents: u16| {
        let parts: Vec<LoadPart> = (0..agents).map(|agent| LoadPart::Agent { agent, agents }).collect();
        let threads = first_second_by::<ThreadTrace>(&text, 4, &parts).expect("the file is valid");
        // The last variable is the value of the row, as bytes.
        let row = |request: &String| {
            let bytes = request.rsplit('[').next().and_then(|it| it.split(']').next()).unwrap_or_default();
            let digits = bytes.split(", ").map(|it| char::from(it.parse::<u8>().expect("a byte")));
            digits.collect::<String>().parse::<usize>().expect("a number")
        };
        let mut all: Vec<usize> = threads.iter().flatten().flat_map(|it| &it.requests).map(row).collect();
        all.sort_unstable();
        all
    };
    let one = drawn(1);
    assert!(one.len() > 200 && one.iter().copied().eq(0..one.len()));
    for agents in [2, 4] {
        let mut rows = drawn(agents);
        let count = rows.len();
        rows.dedup();
        // An agent may be ahead of the others by the arrivals of its threads.
        assert!(count == one.len() && rows.len() == count && rows[count - 1] < count + 4, "{rows:?}");
    }
}
