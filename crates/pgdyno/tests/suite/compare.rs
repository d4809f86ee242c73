//! Output of `pgdyno compare` and `pgdyno history` for stored runs
//!
//! The runs are synthetic, so the changes between them are known.

use model::plan::{
    Cell, Experiment, Goal, Hooks, Limits, Load, LoadModel, Node, NodeKind, Operation, Postgres, Setup, Stack,
};
use model::summary::{self, EndCondition, QueryMode, Script};
use model::{Interval, LatencyHistogram, Measurement, Nanos, ThreadUsage, Tick};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use store::{RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader};

/// Directory that is removed with its contents on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("pgdyno-compare-{name}-{}", std::process::id())))
    }

    fn pgdyno(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
        command
            .args(args)
            .arg("--dir")
            .arg(&self.0)
            .env_remove("PGDYNO_LANG")
            .output()
            .expect("the program can be started")
    }
}

/// Parameters of a synthetic run.
#[derive(Clone)]
struct Run {
    begun_ms: u64,
    trials: u32,
    /// Mean latency in milliseconds; trials and seconds vary around it.
    millis: f64,
    max_connections: u32,
    cpu: Option<f64>,
    build: &'static str,
    experiment: &'static str,
    /// Values of the axis `pooler`, and the factors of the latency in these cells; one cell without a label.
    cells: &'static [(&'static str, f64)],
}

const RUN: Run = Run {
    begun_ms: 1_795_262_011_000,
    trials: 5,
    millis: 5.0,
    max_connections: 100,
    cpu: None,
    build: "15.18",
    experiment: "book",
    cells: &[("", 1.0)],
};

const SECONDS: u64 = 8;

impl Run {
    fn experiment(&self) -> Experiment {
        let kind = NodeKind::Postgres(Postgres {
            version: Some(15),
            max_connections: self.max_connections,
            settings: Vec::new(),
        });
        let limits = Limits { cpu: self.cpu, ..Limits::default() };
        let node = Node { name: "postgres".into(), kind, transport: Default::default(), limits };
        let operation = |name: &str| Operation::script(name, 1, "SELECT 1;");
        let setup = Setup {
            stack: Stack {
                nodes: vec![node],
                generator: Limits::default(),
                replication: None,
                hosts: Vec::new(),
            },
            dataset: None,
            feeds: Vec::new(),
            on_start: None,
            operations: vec![operation("read"), operation("write")],
            load: Load {
                model: LoadModel::Closed { clients: 8, think: Nanos::ZERO },
                duration: Some(Nanos::from_secs(SECONDS)),
                traffic: None,
                warmup: Nanos::ZERO,
                threads: 1,
                query_mode: QueryMode::Simple,
                reconnect: false,
                connect_timeout: None,
                first_byte_timeout: None,
                cookies: false,
                timeout: None,
                max_tries: 1,
                new_clients: 0,
                slack: Nanos::ZERO,
                transactions: None,
            },
            objectives: Vec::new(),
            stop_rules: Vec::new(),
            faults: Vec::new(),
            invariants: Vec::new(),
            hooks: Hooks::default(),
        };
        let label = |name: &str| match name {
            "" => Vec::new(),
            name => vec![("pooler".to_owned(), name.to_owned())],
        };
        let cell = |it: &(&str, f64)| Cell { label: label(it.0), control_of: None, setup: setup.clone() };
        let cells = self.cells.iter().map(cell).collect();
        Experiment {
            name: self.experiment.into(),
            seed: 7,
            repeat: self.trials,
            cells,
            baseline: None,
            goal: Goal::Once,
            generators: None,
            document: None,
        }
    }

    fn write(&self, folder: &Folder) -> String {
        let experiment = self.experiment();
        let header = RunHeader {
            name: self.experiment.into(),
            text: String::new(),
            experiment: serde_json::to_value(&experiment).expect("plain data can be serialised"),
            machine: json!({ "kernel": "6.1" }),
            versions: Vec::new(),
            seed: 7,
            pgdyno_version: "0.1.0".into(),
            begun_ms: self.begun_ms,
        };
        let mut writer = store::create(&folder.0, &header).expect("there is room");
        let operations: Vec<Script> = experiment.cells[0]
            .setup
            .operations
            .iter()
            .map(|it| Script { name: it.name.clone(), weight: 1, commands: Vec::new() })
            .collect();
        let outcome = |at| RunOutcome { status: RunStatus::Complete, reason: None, ended_ms: at };
        let cells = self.cells.len() as u32;
        for (position, repetition, cell) in
            (0..self.trials).flat_map(|it| (0..cells).map(move |cell| (it * cells + cell, it, cell)))
        {
            let begun_ms = self.begun_ms + 10_000 * u64::from(position);
            let id = writer.begin_trial(TrialHeader {
                cell,
                label: experiment.cells[cell as usize].label.clone(),
                repetition,
                position,
                begun_ms,
                operations: operations.clone(),
                nodes: vec![store::NodeRecord {
                    name: "postgres".into(),
                    kind: "postgres".into(),
                    version: self.build.into(),
                    program: None,
                    transport: "tcp".into(),
                    limits: Limits::default(),
                    unapplied_limits: Vec::new(),
                    configuration: Vec::new(),
                }],
            });
            let mut total = Interval::new(&[0, 0]);
            for second in 0..SECONDS {
                let tick = self.tick(repetition, second, self.cells[cell as usize].1);
                total.merge(&tick.interval);
                writer.tick(id, Box::new(tick));
            }
            // The writer does not wait for the disk while ticks arrive, and loses those that do not fit into its queue.
            writer.flush();
            (total.from, total.to) = (Nanos::ZERO, Nanos::from_secs(SECONDS));
            let measured = measured(total);
            writer.end_trial(
                id,
                TrialEnd {
                    outcome: outcome(begun_ms + 9000),
                    summary: Some(json!({ "server": summary::Server::default(), "plan": plan(&operations) })),
                    valid: Some(true),
                    measurement: Some(measured),
                },
            );
        }
        let path = writer.finish(outcome(self.begun_ms + 100_000)).expect("the disk is not full");
        path.file_stem().expect("the path has a file name").to_string_lossy().into_owned()
    }

    /// One second of eight clients. Latencies are spread by a factor of 1 to 2; trials and seconds differ by percents.
    fn tick(&self, repetition: u32, second: u64, factor: f64) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        let wave = 1.0 + 0.01 * f64::from(repetition * 7 % 5) + 0.01 * (second * 3 % 4) as f64;
        let level = self.millis * factor;
        let count = (1000.0 / level / wave) as u64;
        interval.started = 2 * count;
        for cell in &mut interval.scripts {
            cell.ok = count;
            for n in 0..count {
                let millis = level * wave * (1.0 + n as f64 / count as f64);
                cell.response.record(Nanos::from_secs_f64(millis / 1e3));
                cell.service.record(Nanos::from_secs_f64(millis / 1e3));
            }
        }
        Tick { second, interval, in_flight: 8, samples: Vec::new() }
    }
}

fn measured(interval: Interval) -> Measurement {
    let wall = Nanos::from_secs(SECONDS);
    Measurement {
        window: wall,
        interval,
        outages: Vec::new(),
        empty_statements: Vec::new(),
        clients: vec![100; 8],
        thread_usage: vec![ThreadUsage { user: Nanos::from_millis(100), wall, ..ThreadUsage::default() }],
        connect_time: Nanos::ZERO,
        aborted_clients: 0,
        jitter: LatencyHistogram::new(),
        suspended: Nanos::ZERO,
        steal_time: None,
        exhausted_connects: 0,
    }
}

fn plan(scripts: &[Script]) -> summary::BenchPlan {
    summary::BenchPlan {
        scripts: scripts.to_vec(),
        scale: 1,
        partitions: None,
        query_mode: QueryMode::Simple,
        clients: 8,
        threads: 1,
        max_tries: 1,
        end: EndCondition::Time(Nanos::from_secs(SECONDS)),
        model: summary::LoadModelSummary::Closed { think: Nanos::ZERO },
        reconnect: false,
        latency_limit: None,
        seed: 7,
        driver: "epoll".into(),
    }
}

#[track_caller]
fn out(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{text}\n{error}");
    text + &error
}

#[test]
fn reports_changes_and_fails_on_met_conditions() {
    let folder = Folder::new("changed");
    let base = RUN.write(&folder);
    let slower = Run { millis: 6.5, begun_ms: RUN.begun_ms + 1_000_000, max_connections: 50, ..RUN };
    let run = slower.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &base, &run]), 0);
    for expected in ["slower", "postgres.max_connections: 100 → 50", "Welch's test of 5 and 5 trials"] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    assert!(!text.contains("Confounding"), "{text}");
    for (condition, status) in [
        ("p99 > +10%", 99),
        ("p99 > +40%", 0),
        ("tps < -5%", 99),
        ("tps > +5%", 0),
        ("p99 of write > 12ms", 99),
        ("errors > 1%", 0),
    ] {
        out(&folder.pgdyno(&["compare", &base, &run, "--fail-if", condition]), status);
    }
    // The change is about a third; the interval contains the bound.
    let near = ["compare", &base, &run, "--fail-if", "p99 > +30%"];
    assert!(out(&folder.pgdyno(&near), 0).contains(": unknown"), "the bound is in the interval");
    out(&folder.pgdyno(&[&near[..], &["--strict"]].concat()), 99);
    let same = out(&folder.pgdyno(&["compare", &base, &base]), 0);
    assert!(same.contains("no evidence of a difference"), "{same}");
    let document: Value =
        serde_json::from_slice(&folder.pgdyno(&["compare", &base, &run, "--format", "json"]).stdout)
            .expect("the text is JSON");
    let p99 = &document["comparison"]["runs"][0]["cells"][0]["figures"][3];
    assert_eq!((&p99["metric"], &p99["verdict"]), (&json!("p99"), &json!("higher")));
    let page = out(&folder.pgdyno(&["compare", &base, &run, "--format", "html", "--lang", "ru"]), 0);
    assert!(page.contains("<html lang=\"ru\">"), "a page in Russian");
}

#[test]
fn reports_unfair_differences_first() {
    let folder = Folder::new("confounders");
    let base = RUN.write(&folder);
    let other = Run { cpu: Some(0.5), build: "15.19", begun_ms: RUN.begun_ms + 1_000_000, ..RUN };
    let run = other.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &base, &run]), 0);
    let (confounders, figures) = (text.find("Confounding differences"), text.find("response time p99"));
    assert!(confounders.is_some() && confounders < figures, "{text}");
    assert!(text.contains("postgres.build: 15.18 → 15.19") && text.contains("postgres.limits.cpu"), "{text}");
    let expected = ["--expect", "postgres.build", "--expect", "postgres.limits"];
    let text = out(&folder.pgdyno(&[&["compare", &base, &run][..], &expected].concat()), 0);
    assert!(!text.contains("Confounding") && text.contains("intended"), "{text}");
}

#[test]
fn single_trials_show_no_evidence() {
    let folder = Folder::new("single");
    let base = Run { trials: 1, ..RUN }.write(&folder);
    let slower = Run { trials: 1, millis: 10.0, begun_ms: RUN.begun_ms + 1_000_000, ..RUN };
    let run = slower.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &base, &run, "--fail-if", "p99 > +10%"]), 0);
    assert!(text.contains("too few trials to detect") && text.contains(": unknown"), "{text}");
    assert!(!text.contains("slower"), "{text}");
}

#[test]
fn compares_any_two_cells_of_a_run() {
    let folder = Folder::new("cells");
    let cells = &[("none", 1.0), ("odyssey", 1.51), ("pgbouncer", 1.5), ("pgpool", 2.5)];
    let run = Run { cells, ..RUN }.write(&folder);
    let compare =
        |options: &[&str], status| out(&folder.pgdyno(&[&["compare", &run][..], options].concat()), status);
    // Neither cell is the baseline. The cell can be named as tables show it.
    let text = compare(&["--cell", "pooler=odyssey", "--cell", "pgbouncer"], 0);
    for expected in ["compare with odyssey?", "odyssey → pgbouncer", "Welch's test of 5 and 5 trials"] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    assert!(!text.contains("none →") && !text.contains("pgpool"), "{text}");
    let text = compare(&["--cell", "odyssey", "--cell", "pgpool", "--fail-if", "tps < -20%"], 99);
    assert!(text.contains("odyssey → pgpool") && text.contains("slower"), "{text}");
    // One cell is compared with all others.
    let document: Value = serde_json::from_str(&compare(&["--cell", "pgpool", "--format", "json"], 0))
        .expect("the text is JSON");
    let compared = &document["comparison"]["runs"][0]["cells"];
    let names: Vec<&str> = (0..3).filter_map(|it| compared[it]["run"][0][1].as_str()).collect();
    assert_eq!((names, &compared[0]["base"][0][1]), (vec!["none", "odyssey", "pgbouncer"], &json!("pgpool")));
    let text = compare(&["--cell", "haproxy", "--cell", "none"], 2);
    assert!(text.contains("\"haproxy\"") && text.contains("\"pooler=none\", \"pooler=odyssey\""), "{text}");
    let text = compare(&["--cell", "none", "--cell", "pooler=none"], 2);
    assert!(text.contains("\"pooler=none\" selects a cell that another --cell selects already"), "{text}");
    let text = compare(&[&run, "--cell", "none"], 2);
    assert!(text.contains("--cell"), "{text}");
    let single = Run { begun_ms: RUN.begun_ms + 1_000_000, ..RUN }.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &single, "--cell", ""]), 2);
    assert!(text.contains("only one cell"), "{text}");
    // Two trials show no difference, however large it is.
    let few = Run { trials: 2, cells, begun_ms: RUN.begun_ms + 2_000_000, ..RUN }.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &few, "--cell", "none", "--cell", "pgpool"]), 0);
    assert!(text.contains("too few trials to detect") && !text.contains("slower"), "{text}");
}

#[test]
fn reports_diagnostics_with_position() {
    let folder = Folder::new("mistakes");
    let base = RUN.write(&folder);
    let text = out(&folder.pgdyno(&["compare", &base, &base, "--fail-if", "p98 > +10%"]), 2);
    assert!(text.contains("^^^") && text.contains("one of tps, p50"), "{text}");
    out(&folder.pgdyno(&["compare", "unheard-of"]), 1);
}

#[test]
fn history_reports_the_change() {
    let folder = Folder::new("history");
    for n in 0..14 {
        let slow = n >= 7;
        let run = Run {
            trials: 1,
            begun_ms: RUN.begun_ms + 1_000_000 * n,
            millis: if slow { 6.0 } else { 5.0 } * (1.0 + 0.002 * (n * 5 % 3) as f64),
            build: if slow { "15.19" } else { "15.18" },
            ..RUN
        };
        run.write(&folder);
    }
    let text = out(&folder.pgdyno(&["history", "book"]), 0);
    assert!(
        text.contains("2 changes in 14 runs") && text.contains("postgres.build: 15.18 → 15.19"),
        "{text}"
    );
    let document: Value = serde_json::from_slice(&folder.pgdyno(&["history", "--format", "json"]).stdout)
        .expect("the text is JSON");
    let changes = document["history"]["series"][0]["changes"].as_array().expect("changes").clone();
    assert!(changes.iter().all(|it| it["point"] == 7), "{changes:?}");
    assert!(out(&folder.pgdyno(&["history", "boot"]), 1).contains("there is no run \"boot\""));
    // A run's name stands for its experiment.
    assert!(out(&folder.pgdyno(&["history", "last~3"]), 0).contains("2 changes in 14 runs"));
}

/// Three runs, of which the first and the last belong to one experiment.
#[test]
fn every_command_selects_runs_by_other_names() {
    let folder = Folder::new("names");
    let (day, out_dir) = (86_400_000_u64, folder.0.join("out"));
    let run = |n: u64, experiment| Run { begun_ms: RUN.begun_ms + n * day, experiment, trials: 1, ..RUN };
    let names = [run(0, "book"), run(1, "bookshop"), run(2, "book")].map(|it| it.write(&folder));
    let out_dir = out_dir.to_str().expect("the path is ASCII");
    let selected = |name: &str, expected: usize| format!("{name} is {}, started 2026-11-", names[expected]);
    // RUN stands for the name.
    for (name, expected, command) in [
        ("last", 2, &["runs", "show", "RUN"][..]),
        ("last~1", 1, &["report", "RUN", "--format", "md"]),
        ("last~2", 0, &["runs", "show", "RUN", "--json"]),
        ("book", 2, &["export", "RUN", "--format", "json", "--out", out_dir]),
        ("book~1", 0, &["compare", &names[1], "RUN"]),
        ("bookshop", 1, &["compare", "RUN", &names[0]]),
        ("books", 1, &["advise", "RUN"]),
        ("book-20261121", 0, &["runs", "stop", "RUN", "net(xx,1,1)"]),
        ("last~2", 0, &["history", "RUN"]),
    ] {
        let words: Vec<&str> = command.iter().map(|it| if *it == "RUN" { name } else { it }).collect();
        let text = out(&folder.pgdyno(&words), 0);
        assert!(text.contains(&selected(name, expected)), "{words:?}:\n{text}");
    }
    let mut resume = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    let resumed = resume.args(["run", "--resume", "book~1", "--out"]).arg(&folder.0).output();
    let resumed = out(&resumed.expect("the program can be started"), 0);
    assert!(resumed.contains(&selected("book~1", 0)), "{resumed}");
    for (name, expected) in [
        ("bool", format!("there is no run \"bool\" in {}", folder.0.display())),
        ("last~3", format!("the newest first: {}, {}, {}", names[2], names[1], names[0])),
        ("./book", "there is no run \"./book\"".to_owned()),
        ("boo", format!("it matches {}, {}, {}", names[2], names[1], names[0])),
        ("book-2026112", format!("it matches {}, {}\n", names[2], names[0])),
    ] {
        let text = out(&folder.pgdyno(&["report", name]), 1);
        assert!(text.contains(&expected), "{name}:\n{text}");
    }
    let whole = out(&folder.pgdyno(&["report", &names[1], "--format", "md"]), 0);
    assert!(!whole.contains(" is book"), "{whole}");
}

#[test]
fn trials_are_a_table_of_figures() {
    let folder = Folder::new("trials");
    RUN.write(&folder);
    let text = out(&folder.pgdyno(&["runs", "show", "last", "--trials"]), 0);
    let table: Vec<Vec<&str>> = text
        .lines()
        .map(|it| it.split_whitespace().collect())
        .skip_while(|it: &Vec<&str>| it.first() != Some(&"TRIAL"))
        .collect();
    assert_eq!(table[0].join(" "), "TRIAL CELL REPEAT STATUS VERDICT SECONDS TPS P99 ERRORS SETTING");
    assert_eq!(table[1].join(" "), "1 1 1 complete valid 9 394 10.1 ms 0.000 %");
    assert!(!text.contains('{'), "{text}");
}
