//! Benchmark of pgdyno against pgbench: CPU cost and accuracy
//!
//! Runs alternate against one throw-away server. Ratios are computed within each round; the result is their median.
//! Run `./x bench`, `./x bench quick` for one short round, or `./x bench WORD` for the figures whose name contains this word.

use serde_json::Value;
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::tickets::Tickets;
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use stack::tls_files::TlsFiles;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Connection to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transport {
    Unix,
    Tcp,
    Tls,
    /// Unix socket, on which the server asks for a password with SCRAM. On the others it does not.
    Scram,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Unix | Transport::Scram => "Unix socket",
            Transport::Tcp => "TCP",
            Transport::Tls => "TLS",
        }
    }

    /// Variables for libpq and pgdyno, in addition to those of the Unix socket.
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Transport::Unix => &[],
            Transport::Tcp => &[("PGHOST", "127.0.0.1")],
            Transport::Tls => &[("PGHOST", "127.0.0.1"), ("PGSSLMODE", "require")],
            Transport::Scram => &[("PGUSER", "scram"), ("PGPASSWORD", "scram")],
        }
    }
}

/// Script that both programs run.
#[derive(Clone, Copy)]
enum Script {
    Select,
    Pipeline,
    Large,
    Rows,
    One,
}

impl Script {
    fn text(self) -> String {
        const SELECT: &str = "SELECT id, fkRide, fio, contact, fkSeat FROM book.tickets WHERE id = :r;\n";
        let random = "\\set r random(1, 1000000)\n";
        match self {
            Script::Select => format!("{random}{SELECT}"),
            Script::Pipeline => format!("{random}\\startpipeline\n{}\\endpipeline\n", SELECT.repeat(10)),
            Script::Large => "SELECT body FROM large;\n".to_owned(),
            Script::Rows => "SELECT * FROM book.tickets WHERE id <= 5000;\n".to_owned(),
            Script::One => "SELECT 1;\n".to_owned(),
        }
    }
}

/// Load that both programs apply.
struct Comparison {
    /// Difference from a prepared statement that reads one row.
    kind: &'static str,
    script: Script,
    transport: Transport,
    clients: u32,
    /// Options of both programs.
    options: &'static [&'static str],
    /// Options of pgdyno.
    own_options: &'static [&'static str],
    /// Greatest CPU time per transaction relative to pgbench's that is asked for, with epoll and with io_uring.
    asked: [f64; 2],
}

const PREPARED: &[&str] = &["-M", "prepared"];
const OPEN: &[&str] = &["-M", "prepared", "-R", "20000"];

/// Load of the closed model with a prepared statement that reads one row.
const fn closed(transport: Transport, clients: u32, asked: [f64; 2]) -> Comparison {
    let (script, options, own_options) = (Script::Select, PREPARED, &[]);
    Comparison { kind: "", script, transport, clients, options, own_options, asked }
}

/// Load of the closed model of another kind.
const fn special(
    kind: &'static str,
    script: Script,
    transport: Transport,
    clients: u32,
    options: &'static [&'static str],
    asked: f64,
) -> Comparison {
    Comparison { kind, script, transport, clients, options, own_options: &[], asked: [asked; 2] }
}

/// Load of the open model with a prepared statement that reads one row.
const fn open(kind: &'static str, own_options: &'static [&'static str]) -> Comparison {
    let (script, transport) = (Script::Select, Transport::Unix);
    Comparison { kind, script, transport, clients: 64, options: OPEN, own_options, asked: [0.7; 2] }
}

const COMPARISONS: [Comparison; 17] = [
    closed(Transport::Unix, 1, [0.75; 2]),
    closed(Transport::Unix, 8, [0.75; 2]),
    closed(Transport::Unix, 64, [0.52; 2]),
    closed(Transport::Unix, 512, [0.52; 2]),
    closed(Transport::Tcp, 1, [0.75; 2]),
    closed(Transport::Tcp, 8, [0.75; 2]),
    closed(Transport::Tcp, 64, [0.60; 2]),
    closed(Transport::Tcp, 512, [0.60; 2]),
    special("prepared", Script::Select, Transport::Tls, 64, PREPARED, 0.85),
    special("simple", Script::Select, Transport::Tls, 64, &["-M", "simple"], 0.85),
    special("pipelines of ten", Script::Pipeline, Transport::Unix, 64, PREPARED, 0.7),
    special("result of 1 MB", Script::Large, Transport::Unix, 8, PREPARED, 0.67),
    special("5,000 rows", Script::Rows, Transport::Unix, 8, PREPARED, 0.67),
    special("login with SCRAM", Script::One, Transport::Scram, 8, &["-M", "simple", "-C"], 0.67),
    open("20,000/s", &["--no-spin"]),
    open("20,000/s, slack 50 µs", &["--no-spin", "--slack=50us"]),
    open("20,000/s, slack 200 µs", &["--no-spin", "--slack=200us"]),
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let quick = words.iter().any(|it| it == "quick");
    let words: Vec<String> = words.into_iter().filter(|it| it != "quick").collect();
    let (rounds, secs) = if quick { (1, 1) } else { (7, 3) };
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
    let tls = Some(TlsFiles::make(&supervisor).map_err(|it| format!("{it:?}"))?);
    let settings = Settings { max_connections: 600, tls, ..Settings::default() };
    let postgres =
        Postgres::start(&mut supervisor, &installation, &settings).map_err(|it| format!("{it:?}"))?;
    set_up(&postgres)?;
    let script = scratch.join("script.sql");
    let bench = Bench { pgbench, pgdyno, script, postgres: &postgres, rounds, secs, words };
    println!("{rounds} rounds of {secs} s, interleaved, on {}\n", connection_version(&postgres)?);
    println!("{:82} {:>8} {:>17} {:>9}", "", "median", "least…greatest", "asked for");
    let measured = bench.run_all(quick);
    fs::remove_dir_all(&scratch)?;
    measured
}

/// Loads the data, and allows logins without a password, except for the user `scram`.
fn set_up(postgres: &Postgres) -> Result<()> {
    eprintln!("loading book.tickets");
    let mut connection = postgres.target().open(Duration::from_secs(10)).map_err(|it| format!("{it:?}"))?;
    Tickets::default().load(&mut connection, &mut |_| {}).map_err(|it| format!("{it:?}"))?;
    let access = "local all scram scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n";
    fs::write(postgres.data.join("pg_hba.conf"), access)?;
    for statement in [
        "create table large as select repeat('x', 1000000) as body",
        // Without compression, the server only copies the value.
        "alter table large alter body set storage external",
        "update large set body = body || ''",
        "vacuum full large",
        "create role scram login password 'scram'",
        "select pg_reload_conf()",
    ] {
        connection.query(statement).map_err(|it| format!("{it:?}"))?;
    }
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
    /// Words of which a figure's name must contain one; empty for all figures.
    words: Vec<String>,
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
        for comparison in &COMPARISONS {
            self.compare(comparison)?;
        }
        self.send_lag()?;
        self.threads()?;
        self.compare_initialisation(if quick { 2 } else { 100 })
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|it| name.contains(it.as_str()))
    }

    /// Compares CPU time per transaction and throughput with pgbench's.
    fn compare(&self, load: &Comparison) -> Result<()> {
        let kind = if load.kind.is_empty() { String::new() } else { format!(", {}", load.kind) };
        let name = format!("{}, {} clients{kind}", load.transport.name(), load.clients);
        if !self.is_wanted(&name) {
            return Ok(());
        }
        fs::write(&self.script, load.script.text())?;
        let mut ratios = [(); 4].map(|()| Vec::new());
        let mut micros = [(); 3].map(|()| Vec::new());
        let mut lags = [(); 2].map(|()| [(); 2].map(|()| Vec::new()));
        let secs = self.secs.to_string();
        let clients = load.clients.to_string();
        let script = self.script_path()?;
        let common = [&["-n", "-f", script, "-c", &clients, "-j", "1", "-T", &secs], load.options].concat();
        for round in 0..self.rounds {
            let theirs = || self.run(&self.pgbench, &common, load.transport);
            let ours = |driver: &str| {
                let own = [&["bench", "--json", "--driver", driver], &common[..], load.own_options].concat();
                self.run(&self.pgdyno, &own, load.transport)
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
                for (lags, quantile) in lags[k].iter_mut().zip(["p50_ns", "p99_ns"]) {
                    lags.extend(json["generator"]["send_lag"][quantile].as_f64().map(|it| it / 1e3));
                }
            }
            for (micros, run) in micros.iter_mut().zip([&epoll, &uring, &pgbench]) {
                micros.push(1e6 * run.cpu_each());
            }
        }
        for (k, driver) in ["epoll", "io_uring"].into_iter().enumerate() {
            let label = |figure: &str| format!("{figure}, {name}, {driver}");
            row(&label("CPU ÷ pgbench's"), &ratios[k], &format!("≤ {:.2}", load.asked[k]));
            row(&label("CPU, µs"), &micros[k], "");
            match &lags[k] {
                [median, _] if median.is_empty() => {
                    row(&label("throughput ÷ pgbench's"), &ratios[2 + k], "≥ 1.00");
                }
                [median, p99] => {
                    row(&label("send lag, median, µs"), median, "");
                    row(&label("send lag, p99, µs"), p99, "");
                }
            }
        }
        row(&format!("CPU, µs, {name}, pgbench"), &micros[2], "");
        Ok(())
    }

    fn script_path(&self) -> Result<&str> {
        Ok(self.script.to_str().ok_or("the temporary directory's name is not text")?)
    }

    /// Measures the send lag with the default busy-wait.
    fn send_lag(&self) -> Result<()> {
        if !self.is_wanted("send lag") {
            return Ok(());
        }
        fs::write(&self.script, Script::Select.text())?;
        for driver in ["epoll", "io_uring"] {
            let (mut median, mut ratio, mut p99s) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..self.rounds {
                let secs = self.secs.to_string();
                let open = ["-R", "20000", "--arrivals", "even", "-c", "64", "-j", "1", "-T", &secs];
                let script = self.script_path()?;
                let arguments = [
                    &["bench", "--json", "--driver", driver, "-n", "-M", "prepared", "-f", script],
                    &open[..],
                ]
                .concat();
                let run = self.run(&self.pgdyno, &arguments, Transport::Unix)?;
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

    /// Compares CPU time per transaction of two threads with that of one thread with half as many clients. If threads
    /// shared cache lines, two of them would need more. The throughput of two threads needs more CPUs than a small machine
    /// has.
    fn threads(&self) -> Result<()> {
        if !self.is_wanted("threads") {
            return Ok(());
        }
        fs::write(&self.script, Script::Select.text())?;
        let secs = self.secs.to_string();
        for driver in ["epoll", "io_uring"] {
            let mut ratios = Vec::new();
            for round in 0..self.rounds {
                let cost = |threads: u32| {
                    let (clients, threads) = ((32 * threads).to_string(), threads.to_string());
                    let load = ["-n", "-M", "prepared", "-c", &clients, "-j", &threads, "-T", &secs];
                    let script = ["-f", self.script_path()?, "--json", "--driver", driver];
                    let run = self.run(
                        &self.pgdyno,
                        &[&["bench"], &load[..], &script[..]].concat(),
                        Transport::Unix,
                    )?;
                    Ok::<_, Box<dyn Error>>(run.cpu_each())
                };
                let (one, two) = if round % 2 == 0 {
                    let one = cost(1)?;
                    (one, cost(2)?)
                } else {
                    let two = cost(2)?;
                    (cost(1)?, two)
                };
                ratios.push(two / one);
            }
            row(&format!("CPU of 2 threads ÷ 1 thread, {driver}"), &ratios, "≤ 1.03");
        }
        Ok(())
    }

    fn compare_initialisation(&self, scale: u32) -> Result<()> {
        let name = format!("wall time of -i -s {scale} ÷ pgbench's");
        if !self.is_wanted(&name) {
            return Ok(());
        }
        let scale = scale.to_string();
        let mut ratios = Vec::new();
        let rounds = self.rounds.min(3);
        for round in 0..rounds {
            let mut times = [0.0; 2];
            for k in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let arguments = ["bench", "-i", "-q", "-s", &scale];
                let (program, arguments) =
                    if k == 0 { (&self.pgdyno, &arguments[..]) } else { (&self.pgbench, &arguments[1..]) };
                times[k] = self.run(program, arguments, Transport::Unix)?.wall_secs;
            }
            ratios.push(times[0] / times[1]);
        }
        row(&name, &ratios, "≤ 0.60");
        Ok(())
    }

    fn run(&self, program: &Path, arguments: &[&str], transport: Transport) -> Result<Run> {
        let mut command = Command::new(program);
        command.args(arguments).envs(self.postgres.client_environment()).env("PGSSLMODE", "disable");
        command.envs(transport.environment().iter().copied());
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
    println!("{label:82} {:>8.2} {range:>17} {asked:>9}", values[values.len() / 2]);
}
