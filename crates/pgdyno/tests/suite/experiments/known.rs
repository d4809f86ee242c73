//! Known answers: the maximum of pools whose queues theory predicts
//!
//! Each transaction sleeps in PostgreSQL behind a pooler with few server connections. For Poisson arrivals, the highest rate at
//! which a quantile of the response time meets its bound follows from the distribution of the service times. pgbench measures
//! what the pooler and PostgreSQL add to the sleep. `./x proof known` searches all settings (`PGDYNO_KNOWN=all`, or names).

use super::workspace::{PGDYNO, RunOutput, Workspace, for_each_at_once, selected};
use model::SplitMix64;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

/// A pool with a known maximum.
struct KnownSystem {
    name: &'static str,
    pooler: &'static str,
    /// Number of server connections.
    servers: usize,
    /// Mean time for which a transaction sleeps, in milliseconds.
    sleep: f64,
    /// True if the times are exponential, rounded up to whole milliseconds; false if they are constant.
    is_random: bool,
    /// Quantile of the objective, 0..1, and its bound in milliseconds.
    objective: (f64, f64),
}

const fn known(
    name: &'static str,
    pooler: &'static str,
    servers: usize,
    sleep: f64,
    is_random: bool,
    objective: (f64, f64),
) -> KnownSystem {
    KnownSystem { name, pooler, servers, sleep, is_random, objective }
}

const ALL: [KnownSystem; 12] = [
    known("constant-1", "pgbouncer", 1, 10.0, false, (0.95, 60.0)),
    known("constant-2", "pgbouncer", 2, 10.0, false, (0.9, 30.0)),
    known("constant-3", "pgbouncer", 3, 10.0, false, (0.99, 60.0)),
    known("constant-4", "pgbouncer", 4, 20.0, false, (0.95, 80.0)),
    known("constant-8", "pgbouncer", 8, 20.0, false, (0.99, 50.0)),
    known("odyssey-constant-3", "odyssey", 3, 20.0, false, (0.95, 100.0)),
    known("random-1", "pgbouncer", 1, 10.0, true, (0.95, 80.0)),
    known("random-2", "pgbouncer", 2, 10.0, true, (0.95, 60.0)),
    known("random-3", "pgbouncer", 3, 10.0, true, (0.99, 100.0)),
    known("random-4", "pgbouncer", 4, 20.0, true, (0.95, 120.0)),
    known("random-8", "pgbouncer", 8, 20.0, true, (0.99, 150.0)),
    known("odyssey-random-4", "odyssey", 4, 20.0, true, (0.95, 150.0)),
];

/// Concurrent searches. The transactions sleep, so the CPUs stay idle.
const AT_ONCE: usize = 4;
/// Largest acceptable relative error, and smallest acceptable numbers of answers within it and of intervals with the truth.
const ERROR_MAX: f64 = 0.05;
const GOOD_MIN: usize = 11;

/// Rate at which the quantile `q` of the response times is `bound` seconds, per second, with Poisson arrivals at `servers`
/// servers, first come first served. `service` draws a service time in seconds. The result is from a simulation of this number
/// of arrivals.
fn true_maximum(
    servers: usize,
    (q, bound): (f64, f64),
    arrivals: usize,
    mut service: impl FnMut(&mut SplitMix64) -> f64,
) -> f64 {
    let mut rng = SplitMix64(5);
    let gaps: Vec<f64> = (0..arrivals).map(|_| -(1.0 - rng.uniform()).ln()).collect();
    let times: Vec<f64> = (0..arrivals).map(|_| service(&mut rng)).collect();
    let is_above = |rate: f64| {
        let mut free = vec![0.0_f64; servers];
        let (mut at, mut slow) = (0.0, 0);
        for (gap, time) in gaps.iter().zip(&times) {
            at += gap / rate;
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is a server");
            *next = next.max(at) + time;
            slow += usize::from(*next - at > bound);
        }
        slow as f64 > (1.0 - q) * arrivals as f64
    };
    let mean = times.iter().sum::<f64>() / arrivals as f64;
    let (mut low, mut high) = (0.0, servers as f64 / mean);
    for _ in 0..14 {
        let middle = f64::midpoint(low, high);
        if is_above(middle) { high = middle } else { low = middle }
    }
    low
}

impl KnownSystem {
    fn sql(&self) -> String {
        let KnownSystem { sleep, is_random, .. } = self;
        if *is_random {
            format!("SELECT pg_sleep(ceil(-{sleep:?} * ln(1 - random())) / 1000)")
        } else {
            format!("SELECT pg_sleep({sleep:?} / 1000)")
        }
    }

    fn experiment(&self) -> String {
        let KnownSystem { name, pooler, servers, objective: (q, bound), .. } = self;
        let (sql, quantile, from) = (self.sql(), q * 100.0, *servers as f64 / self.sleep * 500.0);
        format!(
            "name: {name}
stack:
  pooler: {{ kind: {pooler}, mode: transaction, size: {servers} }}
  postgres: {{ max_connections: 60 }}
operations: {{ sleep: {{ sql: \"{sql}\" }} }}
load: {{ model: open, arrivals: poisson, max_in_flight: 300 }}
objectives: [ \"p{quantile} < {bound}ms\" ]
find: {{ max: {{ from: {from}, window: 5s, hold: 10s, precision: 5% }} }}
"
        )
    }

    /// Times that the pooler and PostgreSQL add to a sleep of 20 ms, in seconds, according to pgbench.
    fn overheads(&self) -> Vec<f64> {
        const SLEEP: f64 = 0.02;
        let workspace = Workspace::new(&format!("{}-overhead", self.name), &self.experiment());
        let stack = |verb: &str| {
            let mut command = Command::new(PGDYNO);
            command.args(["stack", verb, &format!("{}-overhead.yaml", self.name)]);
            command.current_dir(&workspace.folder).stdin(Stdio::null());
            command.env("XDG_RUNTIME_DIR", &workspace.folder).env("TMPDIR", workspace.folder.join("tmp"));
            RunOutput::run(&mut command)
        };
        let up = stack("up");
        let line = up.expect(0).out.lines().find_map(|it| it.trim_start().strip_prefix("application"));
        let line = line.unwrap_or_else(|| panic!("no address in {}", up.out));
        fs::write(workspace.folder.join("sleep.sql"), format!("SELECT pg_sleep({SLEEP});\n"))
            .expect("the file can be written");
        let options = format!("pgbench -n -c {} -T 8 -l --log-prefix=times -f sleep.sql", self.servers);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line.replacen("psql", &options, 1)]).current_dir(&workspace.folder);
        let ended = RunOutput::run(shell.stdin(Stdio::null()));
        stack("down").expect(0);
        ended.expect(0);
        let logs = fs::read_dir(&workspace.folder).expect("the directory can be read").flatten();
        let logs = logs.filter(|it| it.file_name().to_string_lossy().starts_with("times"));
        let text: String =
            logs.map(|it| fs::read_to_string(it.path()).expect("the log can be read")).collect();
        // The third field is the time of the transaction in microseconds.
        let times = text.lines().filter_map(|it| it.split(' ').nth(2)?.parse::<f64>().ok());
        let overheads: Vec<f64> = times.map(|it| (it / 1e6 - SLEEP).max(0.0)).collect();
        assert!(overheads.len() >= 100, "{}: {} times in the log of pgbench", self.name, overheads.len());
        overheads
    }

    fn truth(&self, overheads: &[f64]) -> f64 {
        let KnownSystem { servers, sleep, is_random, objective: (q, bound), .. } = *self;
        true_maximum(servers, (q, bound / 1e3), 1_000_000, |rng| {
            let sleep = if is_random { (-sleep * (1.0 - rng.uniform()).ln()).ceil() } else { sleep };
            sleep / 1e3 + overheads[(rng.uniform() * overheads.len() as f64) as usize]
        })
    }

    /// Searches the maximum and compares it with the true one.
    fn measure(&self) -> KnownAnswer {
        let before = self.overheads();
        let workspace = Workspace::new(self.name, &self.experiment());
        let ended = workspace.run(&["--json"]);
        println!("{}: {}\n{}", self.name, ended.status, ended.err);
        let status = if ended.status.code() == Some(4) { 4 } else { 0 };
        let after = self.overheads();
        let maximum = ended.expect(status).document()["maxima"][0].clone();
        let (answer, limit) = (&maximum["answer"], &maximum["cause"]["suspect"]["limit"]);
        let bounds = &answer["interval"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        KnownAnswer {
            overheads: [mean(&before), mean(&after)],
            truth: self.truth(&[before, after].concat()),
            level: answer["level"].as_f64(),
            interval: bounds[0].as_f64().zip(bounds[1].as_f64()),
            suspect: text(&limit["kind"]).zip(text(&limit["node"])).map(|it| format!("{} {}", it.0, it.1)),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

struct KnownAnswer {
    truth: f64,
    /// Mean time that pgbench measured in addition to the sleep, before and after the search, in seconds.
    overheads: [f64; 2],
    level: Option<f64>,
    interval: Option<(f64, f64)>,
    suspect: Option<String>,
}

impl KnownAnswer {
    fn error(&self) -> Option<f64> {
        self.level.map(|it| it / self.truth - 1.0)
    }

    fn is_accurate(&self) -> bool {
        self.error().is_some_and(|it| it.abs() <= ERROR_MAX)
    }

    fn includes_truth(&self) -> bool {
        self.interval.is_some_and(|it| it.0 <= self.truth && self.truth <= it.1)
    }

    fn row(&self, system: &KnownSystem) -> String {
        let KnownAnswer { truth, overheads, .. } = self;
        let [before, after] = overheads.map(|it| it * 1e3);
        let mut row = format!("| {} | {before:.2}, {after:.2} ms | {truth:.1} | ", system.name);
        let none = "–".to_owned();
        let level = self.level.map_or(none.clone(), |it| format!("{it:.1}"));
        let interval = self.interval.map_or(none.clone(), |it| format!("{:.1} to {:.1}", it.0, it.1));
        let error = self.error().map_or(none.clone(), |it| format!("{:+.1} %", it * 100.0));
        let suspect = self.suspect.as_ref().unwrap_or(&none);
        write!(row, "{level} | {interval} | {error} | {suspect} |").expect("a string can be extended");
        row
    }
}

#[test]
fn the_simulation_agrees_with_theory() {
    // M/M/1: response times are exponential with the rate μ − λ.
    let (mean, bound) = (0.01, 0.08);
    let exponential = |rng: &mut SplitMix64| -mean * (1.0 - rng.uniform()).ln();
    for q in [0.9, 0.95, 0.99] {
        let exact = 1.0 / mean + (1.0_f64 - q).ln() / bound;
        let found = true_maximum(1, (q, bound), 100_000, exponential);
        assert!((found / exact - 1.0).abs() < 0.04, "{q}: {found}, exactly {exact}");
    }
    // With many servers, no arrival waits, and the quantile is that of the service times.
    let found = true_maximum(200, (0.5, 0.01), 10_000, |_| 0.0099);
    assert!(found > 0.9 * 200.0 / 0.0099, "{found}");
}

/// All settings. `PGDYNO_KNOWN` selects them and enables the test.
#[test]
fn known_maxima_are_found() {
    let Some(wanted) = selected("PGDYNO_KNOWN", &ALL, |it| it.name) else {
        println!("skipped: about 25 minutes; ./x proof known asks for it");
        return;
    };
    println!(
        "| system | overhead before, after | true maximum | maximum | 95 % interval | error | suspect |"
    );
    println!("|---|--:|--:|--:|---|--:|---|");
    let answers = for_each_at_once(&wanted, AT_ONCE, |system| {
        let answer = system.measure();
        println!("{}", answer.row(system));
        answer
    });
    let count = |is_good: fn(&KnownAnswer) -> bool| answers.iter().filter(|it| is_good(it)).count();
    let (accurate, included) = (count(KnownAnswer::is_accurate), count(KnownAnswer::includes_truth));
    let named = count(|it| it.suspect.as_deref() == Some("pool pooler"));
    let all = answers.len();
    println!("\n{accurate} of {all} within 5 %, truth in {included} intervals, pool named {named} times");
    let allowed = ALL.len() - GOOD_MIN;
    assert!(accurate + allowed >= all && included + allowed >= all && named == all);
}
