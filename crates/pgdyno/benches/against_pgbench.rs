//! Benchmark of pgdyno against pgbench: CPU cost and accuracy
//!
//! Runs alternate against one throw-away server. Ratios are computed within each round; the result is their median.
//! Prints a table with the figures that issue "The engine" asks for. Run `./x bench`, or `./x bench quick` for one
//! short round.

use serde_json::Value;
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::tickets::Tickets;
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SCRIPT: &str =
    "\\set r random(1, 1000000)\nSELECT id, fkRide, fio, contact, fkSeat FROM book.tickets WHERE id = :r;\n";

fn main() -> Result<()> {
    let quick = std::env::args().any(|it| it == "quick");
    let (rounds, secs) = if quick { (1, 2) } else { (5, 5) };
    let installation =
        InstallationSearch::from_environment(None, None).find_first().map_err(|it| format!("{it:?}"))?;
    let pgbench = installation.bin.join("pgbench");
    if !pgbench.exists() {
        return Err(
            format!("{} is missing; it is in the package postgresql-contrib", pgbench.display()).into()
        );
    }
    // The copy keeps a concurrent build from replacing the measured program.
    let scratch = std::env::temp_dir().join(format!("pgdyno-bench-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let pgdyno = scratch.join("pgdyno");
    fs::copy(env!("CARGO_BIN_EXE_pgdyno"), &pgdyno)?;
    let keeper = KeeperProgram { program: pgdyno.clone(), arguments: vec!["keeper"] };
    let mut supervisor = Supervisor::start(&keeper).map_err(|it| format!("{it:?}"))?;
    let settings = Settings { max_connections: 300, ..Settings::default() };
    let postgres =
        Postgres::start(&mut supervisor, &installation, &settings).map_err(|it| format!("{it:?}"))?;
    trust_all_connections(&postgres)?;
    let mut connection = postgres.target().open(Duration::from_secs(10)).map_err(|it| format!("{it:?}"))?;
    eprintln!("loading book.tickets");
    Tickets::default().load(&mut connection, &mut |_| {}).map_err(|it| format!("{it:?}"))?;
    drop(connection);
    let script = scratch.join("select.sql");
    fs::write(&script, SCRIPT)?;
    let bench = Bench { pgbench, pgdyno, script, postgres: &postgres, rounds, secs };
    println!("{rounds} rounds of {secs} s, interleaved, on {}\n", connection_version(&postgres)?);
    println!("{:58} {:>8} {:>17} {:>9}", "", "median", "least…greatest", "asked for");
    let measured = bench.run_all(quick);
    fs::remove_dir_all(&scratch)?;
    measured
}

/// Allows logins without a password. pgbench spends 0.9 ms of CPU on each SCRAM login, which is not compared here.
fn trust_all_connections(postgres: &Postgres) -> Result<()> {
    fs::write(postgres.data.join("pg_hba.conf"), "local all all trust\nhost all all 127.0.0.1/32 trust\n")?;
    let mut connection = postgres.target().open(Duration::from_secs(10)).map_err(|it| format!("{it:?}"))?;
    connection.query("select pg_reload_conf()").map_err(|it| format!("{it:?}"))?;
    Ok(())
}

fn connection_version(postgres: &Postgres) -> Result<String> {
    let mut connection = postgres.target().open(Duration::from_secs(10)).map_err(|it| format!("{it:?}"))?;
    let version = connection.value("select version()").map_err(|it| format!("{it:?}"))?;
    Ok(version.unwrap_or_default())
}

struct Bench<'a> {
    pgbench: PathBuf,
    pgdyno: PathBuf,
    script: PathBuf,
    postgres: &'a Postgres,
    rounds: usize,
    secs: u32,
}

/// Result of one run.
struct Run {
    /// User and system time of the whole process.
    cpu_secs: f64,
    wall_secs: f64,
    transactions: f64,
    output: String,
}

impl Run {
    fn cpu_each(&self) -> f64 {
        self.cpu_secs / self.transactions
    }
}

impl Bench<'_> {
    fn run_all(&self, quick: bool) -> Result<()> {
        for tcp in [false, true] {
            for clients in [8, 64] {
                self.compare_cost(tcp, clients)?;
            }
        }
        self.send_lag()?;
        self.compare_initialisation(if quick { 2 } else { 100 })
    }

    /// Compares CPU time per transaction and throughput with pgbench's.
    fn compare_cost(&self, tcp: bool, clients: u32) -> Result<()> {
        let mut ratios = [(); 4].map(|()| Vec::new());
        let mut user = [(); 2].map(|()| Vec::new());
        for round in 0..self.rounds {
            let secs = self.secs.to_string();
            let clients = clients.to_string();
            let script = self.script.to_str().ok_or("the temporary directory's name is not text")?;
            let common = ["-n", "-M", "prepared", "-f", script, "-c", &clients, "-j", "1", "-T", &secs];
            let theirs = || self.run(&self.pgbench, &common, tcp);
            let ours = |driver: &str| {
                let arguments = [&["bench", "--json", "--driver", driver], &common[..]].concat();
                self.run(&self.pgdyno, &arguments, tcp)
            };
            // The order alternates, so that drift favours neither program.
            let (pgbench, epoll, uring) = if round % 2 == 0 {
                let pgbench = theirs()?;
                (pgbench, ours("epoll")?, ours("io_uring")?)
            } else {
                let (uring, epoll) = (ours("io_uring")?, ours("epoll")?);
                (theirs()?, epoll, uring)
            };
            for (k, run) in [&epoll, &uring].into_iter().enumerate() {
                ratios[k].push(run.cpu_each() / pgbench.cpu_each());
                ratios[2 + k].push(run.transactions / pgbench.transactions);
                let json: Value = serde_json::from_str(&run.output)?;
                user[k]
                    .push(json["generator"]["per_transaction"]["user_ns"].as_f64().unwrap_or(f64::NAN) / 1e3);
            }
        }
        let hop = if tcp { "TCP" } else { "Unix socket" };
        let asked = match (tcp, clients) {
            (false, 8) => [0.80, 0.80],
            (true, 8) => [0.85, 0.85],
            (false, _) => [0.80, 0.65],
            (true, _) => [0.90, 0.75],
        };
        for (k, driver) in ["epoll", "io_uring"].into_iter().enumerate() {
            let label = |figure: &str| format!("{figure}, {hop}, {clients} clients, {driver}");
            row(
                &label("CPU per transaction, relative to pgbench"),
                &ratios[k],
                &format!("≤ {:.2}", asked[k]),
            );
            row(&label("transactions per second, relative to pgbench"), &ratios[2 + k], "≥ 1.00");
            row(&label("user-space CPU per transaction, µs"), &user[k], "≤ 0.5");
        }
        Ok(())
    }

    fn send_lag(&self) -> Result<()> {
        for driver in ["epoll", "io_uring"] {
            let (mut median, mut ratio, mut p99s) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..self.rounds {
                let script = self.script.to_str().ok_or("the temporary directory's name is not text")?;
                let secs = self.secs.to_string();
                let open = ["-R", "20000", "--arrivals", "even", "-c", "64", "-j", "1", "-T", &secs];
                let arguments = [
                    &["bench", "--json", "--driver", driver, "-n", "-M", "prepared", "-f", script],
                    &open[..],
                ]
                .concat();
                let run = self.run(&self.pgdyno, &arguments, false)?;
                let json: Value = serde_json::from_str(&run.output)?;
                let micros = |quantity: &str, q: &str| {
                    json["generator"][quantity][q].as_f64().unwrap_or(f64::NAN) / 1e3
                };
                median.push(micros("send_lag", "p50_ns"));
                p99s.push(micros("send_lag", "p99_ns"));
                ratio.push(micros("send_lag", "p99_ns") / micros("jitter", "p99_ns"));
            }
            row(&format!("send lag at 20,000/s, median, µs, {driver}"), &median, "≤ 5");
            row(&format!("send lag at 20,000/s, p99, µs, {driver}"), &p99s, "");
            row(&format!("send lag p99 ÷ the jitter probe's p99, {driver}"), &ratio, "≤ 2");
        }
        Ok(())
    }

    fn compare_initialisation(&self, scale: u32) -> Result<()> {
        let scale = scale.to_string();
        let mut ratios = Vec::new();
        let rounds = self.rounds.min(3);
        for round in 0..rounds {
            let mut times = [0.0; 2];
            for k in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let arguments = ["bench", "-i", "-q", "-s", &scale];
                let (program, arguments) =
                    if k == 0 { (&self.pgdyno, &arguments[..]) } else { (&self.pgbench, &arguments[1..]) };
                times[k] = self.run(program, arguments, false)?.wall_secs;
            }
            ratios.push(times[0] / times[1]);
        }
        row(&format!("wall time of -i -s {scale}, relative to pgbench"), &ratios, "≤ 0.80");
        Ok(())
    }

    fn run(&self, program: &Path, arguments: &[&str], tcp: bool) -> Result<Run> {
        let mut command = Command::new(program);
        command.args(arguments).envs(self.postgres.client_environment()).env("PGSSLMODE", "disable");
        if tcp {
            command.env("PGHOST", "127.0.0.1");
        }
        eprint!(".");
        std::io::stderr().flush()?;
        let (before, began) = (children_secs()?, Instant::now());
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
        let (wall_secs, cpu_secs) = (began.elapsed().as_secs_f64(), children_secs()? - before);
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} {arguments:?}: {}\n{words}", program.display(), output.status).into());
        }
        let output = String::from_utf8(output.stdout)?;
        let transactions = transactions(&output).unwrap_or(f64::NAN);
        Ok(Run { cpu_secs, wall_secs, transactions, output })
    }
}

/// Number of transactions, from pgbench's text or our JSON.
fn transactions(output: &str) -> Option<f64> {
    if let Ok(json) = serde_json::from_str::<Value>(output) {
        return json["total"]["counts"]["ok"].as_f64();
    }
    let line =
        output.lines().find_map(|it| it.strip_prefix("number of transactions actually processed: "))?;
    line.split('/').next()?.parse().ok()
}

/// CPU time of all children that have ended: fields 16 and 17 of /proc/self/stat, in ticks of 10 ms (proc(5)).
fn children_secs() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("no command in /proc/self/stat")?.1.split_ascii_whitespace();
    let ticks: u64 = fields.skip(13).take(2).map(|it| it.parse::<u64>().unwrap_or(0)).sum();
    Ok(ticks as f64 / 100.0)
}

fn row(label: &str, values: &[f64], asked: &str) {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let range = format!("{:.2}…{:.2}", values[0], values[values.len() - 1]);
    println!("{label:58} {:>8.2} {range:>17} {asked:>9}", values[values.len() / 2]);
}
