use super::super::options::{BenchCommand, parse};
use super::*;
use load::Shard;
use load::script::{self as scripts, ScriptSource};
use load::sim::{SimulatedSystem, drive_until};
use model::Record;
use wire::pg::Login;

/// Limits of a simulated run: its simulated time, and the number of simulator steps.
const DEADLINE: Nanos = Nanos::from_millis(1500);
const STEPS_MAX: u64 = 200;

/// Simulates the first second of a run with these options; `None` if they are rejected.
fn first_second(arguments: &[String]) -> Option<usize> {
    let Ok(BenchCommand::Run(options)) = parse(arguments, &|_| None) else { return None };
    let source = ScriptSource::new("one", "SELECT 1;\n");
    let program = scripts::parse(&[source], scripts::Mode::Simple, false, &[]).expect("the script is right");
    let login = Arc::new(Login::new("me", "db"));
    let targets = BenchTargets {
        postgres: Some((PostgresEndpoint::new(login, Transport::Unix), Address::Unix("/nowhere".into()))),
        services: Vec::new(),
    };
    let PreparedBench { load: ready, .. } =
        prepare_for(&options, program, targets, 1, 7, LoadPart::All).ok()?;
    let shard = |k| Shard::new(Arc::clone(&ready.work), k, Vec::<Record>::new());
    let shards = (0..ready.work.plan().threads).map(shard).collect();
    let shards = drive_until(shards, &SimulatedSystem::default(), DEADLINE, STEPS_MAX);
    Some(shards.into_iter().map(|it| it.recorder.len()).sum())
}

/// No number that an option accepts makes the run panic or loop.
#[test]
fn accepted_numbers_run() {
    const NUMBERS: [&str; 16] = [
        "0",
        "-1",
        "nan",
        "inf",
        "1e-320",
        "0.001",
        "1",
        "7.5",
        "1e4",
        "1e7",
        "1e9",
        "1e12",
        "1e300",
        "1e308",
        "2147483647",
        "99999999999999999999",
    ];
    const OPTIONS: [&str; 12] = [
        "--rate",
        "--time",
        "--transactions",
        "--latency-limit",
        "--think",
        "--spin",
        "--max-backlog",
        "--client",
        "--jobs",
        "--max-connecting",
        "--progress",
        "--scale",
    ];
    let mut rng = Prng::seeded(11);
    let mut pick = |all: &[&'static str]| all[rng.u64_range(0, all.len() as u64 - 1) as usize];
    let option = |name: &str, number: &str| {
        let unit = if matches!(name, "--think" | "--spin") { "s" } else { "" };
        format!("{name}={number}{unit}")
    };
    let mut ran = 0;
    for name in OPTIONS {
        ran += NUMBERS.iter().filter(|it| first_second(&[option(name, it)]).is_some()).count();
    }
    for number in NUMBERS {
        for part in ["const(R,8s)", "line(0,R,8s)", "line(R,0,Rs)", "step(1,R,R,8s)", "const(1,Rd)"] {
            let schedule = format!("--schedule={}", part.replace('R', number));
            ran += usize::from(first_second(&[schedule]).is_some());
        }
    }
    for _ in 0..300 {
        let count = 1 + pick(&["", "a", "ab"]).len();
        let arguments: Vec<String> = (0..count).map(|_| option(pick(&OPTIONS), pick(&NUMBERS))).collect();
        ran += usize::from(first_second(&arguments).is_some());
    }
    assert!(ran > 50, "only {ran} were accepted");
}
