//! Simulated agents, which report intervals without generating a load
//!
//! One process simulates all agents, against the real coordinator and a real NATS server.

use super::state::AgentState;
use crate::fleet::assignment::{AssignedLoad, Assignment, BenchLoad, RecordedEnvironment};
use crate::fleet::event::SentEvent;
use crate::fleet::options::{FleetOptions, NatsArgs};
use crate::fleet::{Fleet, FleetLoad, version};
use crate::measure::LoadListener;
use agent::frame::split;
use agent::interval::{encode, encode_histogram};
use agent::nats::{Nats, NatsOptions, TaskGuard};
use agent::protocol::{
    AgentMeasurement, Announcement, Assign, DISCOVER, Heartbeat, Pulse, Report, ReportBody, agent_subject,
    from_bytes, heartbeat_subject, report_subject, to_bytes,
};
use load::driver::Clock;
use load::random::{Prng, SeedSequence};
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::{LoadPlan, MeasuredCommands, RngSeeds, Service, Workload};
use model::plan::HttpStep;
use model::{
    ClientId, HistogramEncoder, Interval, LatencyHistogram, Nanos, Outcome, Record, Schedule, ScriptId,
    ThreadUsage,
};
use rustix::time::{ClockId, clock_gettime};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Successful transactions of each operation per agent and second.
const TRANSACTIONS: u64 = 500;
/// Seconds of each measurement.
const SECONDS: u64 = 2;

struct SimulatedAgent {
    state: Arc<Mutex<AgentState>>,
    assignments: Receiver<Assign>,
    _guards: [TaskGuard; 3],
}

fn simulate(nats: &Nats, clock: Clock, number: usize) -> SimulatedAgent {
    let name = format!("simulated-{number}");
    let (sender, assignments) = channel();
    let state = Arc::new(Mutex::new(AgentState::new(version(), sender)));
    let (answered, beating) = (Arc::clone(&state), Arc::clone(&state));
    let answer = move |request: &[u8]| {
        Some(to_bytes(&super::lock(&answered).answer(from_bytes(request)?, clock.now())))
    };
    let pulse = move |heartbeat: &[u8]| {
        let Heartbeat { lease } = from_bytes(heartbeat)?;
        let leased = super::lock(&beating).hear(&lease, clock.now());
        Some(to_bytes(&Pulse { now: clock.now(), leased }))
    };
    let announcement = to_bytes(&Announcement {
        agent: name.clone(),
        version: version(),
        host: "simulated".to_owned(),
        machine: String::new(),
        pid: 0,
        cpus: 1,
        files: None,
        ports: 1,
        jitter: None,
        drivers: Vec::new(),
        labels: [].into(),
        allow: Vec::new(),
        leased_by: None,
        duplicate: false,
    });
    let served = "the server is there";
    let guards = [
        nats.serve(&agent_subject(&name), answer).expect(served),
        nats.serve(&heartbeat_subject(&name), pulse).expect(served),
        nats.serve(DISCOVER, move |_| Some(announcement.clone())).expect(served),
    ];
    SimulatedAgent { state, assignments, _guards: guards }
}

/// Second of an agent with two operations, whose response times are spread as those of a real server.
fn second(seed: u64, second: u64) -> Interval {
    let mut rng = Prng::seeded(seed);
    let mut interval = Interval::new(&[0, 0]);
    let at = Nanos::from_secs(second);
    (interval.from, interval.to) = (at, at + Nanos::from_secs(1));
    for n in 0..2 * TRANSACTIONS {
        let service = Nanos((300_000.0 * (0.5 - (1.0 - rng.f64()).ln())) as u64);
        let lag = Nanos(rng.u64_range(2_000, 60_000));
        let intended = at + Nanos(n * 900_000);
        let (started, finished) = (intended + lag, intended + lag + service);
        let script = ScriptId((n % 2) as u16);
        let record = Record {
            script,
            client: ClientId(0),
            outcome: Outcome::Ok,
            intended,
            started,
            finished,
            tries: 1,
        };
        interval.started += 1;
        interval.scripts[usize::from(script.0)].record(&record, Nanos::MAX, Nanos::MAX);
        interval.send_lag.record(lag);
        interval.record_success(finished);
    }
    interval
}

fn work(threads: u16) -> Workload {
    let mut maker = ProgramBuilder::new(Mode::Prepared, &[]);
    for name in ["a", "b"] {
        maker.add_http(&ScriptHeader { name, weight: 1, draws: None }, 0, &[], &[HttpStep::new("GET", "/")]);
    }
    let mut seeds = SeedSequence::new(1);
    let plan = LoadPlan {
        abandon_max: None,
        program: maker.finish().expect("valid scripts"),
        mode: Mode::Prepared,
        schedule: Schedule::Closed { think: Nanos::ZERO },
        duration: Some(Nanos::from_secs(SECONDS)),
        transactions: None,
        clients: threads.into(),
        threads,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 0,
        drain: Nanos::from_secs(10),
        reconnect: false,
        connecting_max: 1,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        verbose: false,
        reports_steps: false,
        measured: MeasuredCommands::None,
        seeds: RngSeeds {
            clients: (0..threads).map(|_| seeds.client_rng()).collect(),
            script_rngs: (0..threads).map(|_| seeds.thread_rngs().choose).collect(),
            arrivals: 1,
            other: 1,
            variables: Vec::new(),
        },
    };
    Workload::with_services(plan, None, vec![Service::without_tls("localhost")])
}

/// Reports of all agents: those that connect, then one per second, then the last one.
fn play(nats: &Nats, clock: Clock, agents: &[SimulatedAgent]) {
    let wait = "the coordinator assigns the load";
    let assigns: Vec<Assign> =
        agents.iter().map(|it| it.assignments.recv_timeout(Duration::from_secs(30)).expect(wait)).collect();
    let frames = |number: u64, body: &dyn Fn(usize) -> ReportBody<SentEvent>| -> Vec<(String, Vec<u8>)> {
        let frame = |(n, assign): (usize, &Assign)| {
            let report = to_bytes(&Report { trial: assign.trial, body: body(n) });
            (report_subject(&assign.lease, assign.agent), split(number, &report).remove(0))
        };
        assigns.iter().enumerate().map(frame).collect()
    };
    let send = |frames: Vec<(String, Vec<u8>)>| {
        for answer in nats.request_all(frames, Duration::from_secs(20)) {
            assert_eq!(answer, Ok(b"+".to_vec()));
        }
    };
    send(frames(0, &|_| ReportBody::Settled { connected: 1 }));
    let start = loop {
        let starts: Option<Vec<Nanos>> =
            agents.iter().map(|it| super::lock(&it.state).trial().and_then(|trial| trial.start)).collect();
        if let Some(starts) = starts {
            break starts.into_iter().max().expect("an agent");
        }
        thread::sleep(Duration::from_millis(1));
    };
    // Encode before the window, because the agents' CPU time is not the coordinator's.
    let templates: Vec<Interval> = (0..8).map(|n| second(n, 0)).collect();
    let mut bytes = 0;
    let cpu = Nanos::from_millis(500);
    for n in 0..SECONDS {
        let at = Nanos::from_secs(n);
        let encoded: Vec<_> = templates.iter().map(|it| encode(it).shifted(at.0 as i64)).collect();
        let interval = |agent: usize| Box::new(encoded[agent % 8].clone());
        let seconds = frames(n + 1, &|agent| ReportBody::Second { interval: interval(agent), cpu });
        bytes += seconds.iter().map(|it| it.1.len()).sum::<usize>();
        let due = start + Nanos::from_secs(n + 1);
        thread::sleep(Duration::from_nanos((due - clock.now()).0));
        send(seconds);
    }
    println!(
        "    {:.1} KB per agent and second",
        bytes as f64 / 1e3 / (SECONDS * agents.len() as u64) as f64
    );
    let done = AgentMeasurement {
        window: Nanos::from_secs(SECONDS),
        clients: vec![2 * TRANSACTIONS * SECONDS],
        thread_usage: vec![ThreadUsage { wall: Nanos::from_secs(SECONDS), ..ThreadUsage::default() }],
        connect_time: Nanos::ZERO,
        aborted_clients: 0,
        jitter: encode_histogram(&LatencyHistogram::new(), &mut HistogramEncoder::new()),
        suspended: Nanos::ZERO,
        steal_time: None,
        exhausted_connects: 0,
    };
    send(frames(SECONDS + 1, &|_| ReportBody::Done(Box::new(done.clone()))));
}

/// Listener that notes the delay from the end of each second to its merged tick.
struct Delays {
    clock: Clock,
    start: Nanos,
    ticks: u64,
    worst: Nanos,
}

impl LoadListener for Delays {
    fn on_begin(&mut self, at: Nanos) {
        self.start = at;
    }

    fn on_tick(&mut self, interval: &Interval, _start: Nanos) {
        let ok: u64 = interval.scripts.iter().map(|it| it.ok).sum();
        assert!(ok.is_multiple_of(2 * TRANSACTIONS), "{ok}");
        self.ticks += 1;
        let end = self.start + Nanos::from_secs(self.ticks);
        self.worst = self.worst.max(self.clock.now() - end);
    }
}

fn thread_cpu() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// NATS server, which ends when this is dropped.
struct Server(Child);

impl Server {
    fn start(port: u16) -> Server {
        let mut command = Command::new("/usr/sbin/nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Server(command.spawn().expect("nats-server is installed"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Field of `/proc/PID/status` in kB, or the CPU time of `/proc/PID/stat` in ticks of 10 ms.
fn usage(pid: u32) -> (u64, u64) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let status = read("status");
    let memory = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or_default();
    let memory = memory.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or(0);
    let stat = read("stat");
    let fields: Vec<u64> =
        stat.split_whitespace().skip(13).take(2).filter_map(|it| it.parse().ok()).collect();
    (memory, fields.iter().sum())
}

/// The coordinator merges the intervals of all agents. Prints its cost; `PGDYNO_SIMULATED_AGENTS=1,10,100,1000` measures
/// these numbers of agents.
#[test]
fn simulated_agents_are_merged() {
    let numbers = std::env::var("PGDYNO_SIMULATED_AGENTS").unwrap_or_else(|_| "5".to_owned());
    for count in numbers.split(',').map(|it| it.parse::<u16>().expect("a number")) {
        let port = stack::supervisor::free_port().expect("a free port");
        let server = Server::start(port);
        let url = format!("nats://127.0.0.1:{port}");
        let options = NatsOptions { url: url.clone(), ..NatsOptions::default() };
        let nats = loop {
            match Nats::connect(&options) {
                Ok(nats) => break nats,
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        let clock = Clock::start();
        let agents: Vec<SimulatedAgent> = (0..count).map(|it| simulate(&nats, clock, it.into())).collect();
        let nats_args = NatsArgs { url: Some(url), credentials: None };
        let fleet_options =
            FleetOptions { agents: count, grows: false, local: false, select: Vec::new(), nats: nats_args };
        let work = work(count);
        let assignment = Assignment {
            seed: 1,
            threads: count,
            driver: String::new(),
            load: AssignedLoad::Bench(BenchLoad {
                arguments: Vec::new(),
                scripts: Vec::new(),
                scale: 1,
                environment: RecordedEnvironment::default(),
            }),
        };
        println!("{count} agents");
        thread::scope(|scope| {
            let nats = &nats;
            // The agents answer until the coordinator has ended.
            scope.spawn(move || {
                play(nats, clock, &agents);
                agents
            });
            let mut fleet = Fleet::lease(&fleet_options).expect("the agents are there");
            let clock = Clock::start();
            let mut delays = Delays { clock, start: Nanos::ZERO, ticks: 0, worst: Nanos::ZERO };
            let load = FleetLoad { assignment: &assignment, feeds: Vec::new(), work: &work, clock };
            let flags = (&AtomicBool::new(false), &AtomicBool::new(false));
            let (before, (_, ticks)) = (thread_cpu(), usage(server.0.id()));
            let measured = fleet.run(load, &mut delays, flags).expect("a measurement");
            let cpu = thread_cpu() - before;
            let (memory, after) = usage(server.0.id());
            let expected = u64::from(count) * 2 * TRANSACTIONS * SECONDS;
            let ok: u64 = measured.measurement.interval.scripts.iter().map(|it| it.ok).sum();
            assert_eq!((ok, delays.ticks), (expected, SECONDS));
            println!(
                "    {:.1} ms of CPU per second on the merging thread; nats-server {:.1} % of a CPU, {} MB; this process {} MB; \
                 worst delay of a tick {:.0} ms",
                cpu.as_secs_f64() * 1e3 / SECONDS as f64,
                (after - ticks) as f64 / SECONDS as f64,
                memory / 1000,
                usage(std::process::id()).0 / 1000,
                delays.worst.as_secs_f64() * 1e3
            );
        });
        drop(nats);
    }
}
