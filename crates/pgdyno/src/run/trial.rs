//! How is one trial measured?

use super::fault_injection::{FaultPlan, FaultRun, TrialContext};
use super::observer::{Observer, TrialClock, TrialEvent};
use super::result::{self, GENERATOR};
use super::test_bed::{SetupError, TestBed};
use super::workload::{self, PreparedLoad};
use crate::cli::CommandError;
use crate::clock::{self, unix_time};
use crate::measure::{self, LoadListener, MeasureError};
use analysis::objective;
use analysis::rule::{self, RuleContext as Ruled, StopEvent};
use analysis::search::SecondSummary;
use load::driver::Clock;
use model::fault_injection::FaultInjection;
use model::freshness::Freshness;
use model::objective::ObjectiveResult;
use model::plan::{LoadModel, NodeKind, OperationKind, Setup, ThinkTime, UserStage};
use model::summary::{Server, ServerTransport};
use model::{Measurement, Summary};
use stack::chain::{Chain, RunningNode};
use stack::freshness::FreshnessProber;
use stack::limits::{Group, Usage};
use stack::sampler::{Observation, Sampler, SamplingCost, SamplingTarget};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use store::{Configuration, NodeRecord, Note, TrialId, Writer};

/// After the last client has left, so long until the last look.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Which trial.
#[derive(Clone, Copy, Debug)]
pub struct TrialSpec<'a> {
    pub setup: &'a Setup,
    /// Differs from repetition to repetition and is the same for all cells of one, so that all meet the same requests.
    pub seed: u64,
    /// Rows of the dataset, which scripts know as `:rows`.
    pub rows: Option<u64>,
    /// Whether each second is wanted afterwards.
    pub keep_seconds: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct TrialOutput {
    pub measured: Measurement,
    pub summary: Summary,
    pub objectives: Vec<ObjectiveResult>,
    pub fired: Option<StopEvent>,
    /// Stop rules that never had a value.
    pub blind: Vec<String>,
    /// Why clients aborted; `None` where none did.
    pub aborted: Option<String>,
    /// What ended meanwhile though nobody asked it to, and how.
    pub unexpected_exits: Vec<String>,
    /// What watching cost.
    pub monitoring_cost: SamplingCost,
    /// In their order, where they are wanted.
    pub seconds: Vec<SecondSummary>,
    /// What went wrong on purpose, and what came of it.
    pub fault_injection: Option<FaultInjection>,
    /// How old what replicas showed was, where there are some.
    pub freshness: Option<Freshness>,
}

/// Measures what stands ready in the lab. `interrupted` ends it early and keeps what there is.
pub fn run(
    asked: TrialSpec<'_>,
    lab: &mut TestBed,
    (writer, id): (&Writer, TrialId),
    interrupted: &AtomicBool,
    show: &mut dyn FnMut(TrialEvent<'_>),
) -> Result<TrialOutput, SetupError> {
    let TrialSpec { setup, seed, rows, keep_seconds: keep } = asked;
    let limited = lab.supervisor.limit_generator(&setup.stack.generator);
    let (own, missing) = limited.map_err(|it| SetupError::Failed(it.to_string()))?;
    for it in missing {
        writer.note(Note { trial: Some(id), subject: GENERATOR.to_owned(), text: it.to_string() });
    }
    let variables: Vec<(&str, i64)> = rows.map(|it| ("rows", it as i64)).into_iter().collect();
    let feeds = lab.feeds(setup).map_err(|it| SetupError::Failed(it.message))?;
    let web = lab.http_target();
    let planned = FaultPlan::for_setup(setup);
    let asked = workload::LoadInputs {
        postgres: &lab.chain().primary_endpoints(),
        replicas: &lab.chain().replica_endpoints(),
        secret: planned.as_ref().map(|it| it.secret),
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        abandoned: lab.abandoned(),
    };
    let hindering = |it: CommandError| SetupError::Failed(it.message);
    if setup.load.warmup.0 > 0 {
        show(TrialEvent::WarmingUp);
        // Requests of its own, so that the trial does not ask again for what it has just warmed.
        let asked = workload::LoadInputs { secret: None, ..asked };
        let PreparedLoad { config: ready, .. } =
            workload::prepare(&warm_up_setup(setup), &asked, !seed).map_err(hindering)?;
        let warmed = measure::run(&ready, Clock::start(), &mut IgnoreEvents, interrupted);
        drop(warmed.map_err(|it| to_setup_error(&it, None))?);
    }
    let PreparedLoad { config: ready, plan } = workload::prepare(setup, &asked, seed).map_err(hindering)?;
    let scene = Ruled::for_setup(setup);
    let rules =
        setup.stop_rules.iter().map(|it| rule::parse(it, &scene).expect("it was checked").rule).collect();
    let clock = Clock::start();
    let wall = clock::StepDetector::start();
    let since = TrialClock::new(clock);
    let (out, observations) = channel();
    let watched = since.clone();
    let group = own.clone();
    let sampler = Sampler::start(probe_points(lab, own), move || watched.now(), out.clone());
    let prober = freshness_prober(lab.chain(), &since, &out)?;
    let stop = AtomicBool::new(false);
    let mut eyes =
        Observer::new(observations, rules, (writer, id), show, since.clone(), (&stop, interrupted), keep);
    let before = group.as_ref().map(Group::usage);
    let (measured, course) = match &planned {
        Some(planned) => {
            let prober = prober.as_ref();
            let scene = TrialContext {
                run: writer.path(),
                trial: id.0,
                clock,
                since,
                observations: out,
                interrupted,
                prober,
            };
            let (measured, course) = planned.measure(lab, &ready, scene, &mut eyes, &stop)?;
            (measured, Some(course))
        }
        None => (measure::run(&ready, clock, &mut eyes, &stop), None),
    };
    let held =
        before.zip(group.as_ref().map(Group::usage)).and_then(|(before, now)| throttled_share(&before, &now));
    let freshness = prober.map(|it| it.stop(interrupted.load(Ordering::Relaxed)));
    // Poolers take note of clients that have left.
    std::thread::sleep(SETTLE_TIME);
    let watching = sampler.stop();
    let (refused, aborted, messages) = (eyes.connect_error(), eyes.aborted(), eyes.messages());
    let (fired, blind, seconds) = eyes.finish();
    let hit = course.as_ref().map_or(Vec::new(), FaultRun::faulted_nodes);
    let ended = lab.unexpected_exits(&hit);
    let measured = measured.map_err(|it| to_setup_error(&it, refused.as_deref()))?;
    let mut summary = analysis::summarise(&measured, server(lab.chain(), setup), plan);
    analysis::add_throttling(&mut summary, held);
    analysis::add_clock_step(&mut summary, wall.step());
    summary.set_messages(|code| messages.find(code));
    if !setup.faults.is_empty() {
        analysis::remove_outage_doubt(&mut summary);
    }
    let aborted = result::clients_aborted(&summary, aborted.as_deref());
    let ordeal = course.map(|it| it.conclude(lab)).transpose()?;
    let operations = &scene.operations;
    let objectives = setup
        .objectives
        .iter()
        .map(|it| objective::parse(it, operations).expect("it was checked").judge(&summary));
    let objectives = objectives.collect();
    Ok(TrialOutput {
        measured,
        summary,
        objectives,
        fired,
        blind,
        aborted,
        unexpected_exits: ended,
        monitoring_cost: watching,
        seconds,
        fault_injection: ordeal,
        freshness,
    })
}

/// Asks replicas what they show of what was just written, where there are some and it is asked for.
fn freshness_prober(
    chain: &Chain,
    since: &TrialClock,
    tell: &Sender<Observation>,
) -> Result<Option<FreshnessProber>, SetupError> {
    if !chain.replication().is_some_and(|it| it.freshness) {
        return Ok(None);
    }
    let since = since.clone();
    let now = move || since.window_start().map(|_| since.now());
    let started = FreshnessProber::start(chain.direct_tcp_targets(), unix_time().0 / 1000, now, tell);
    started.map(Some).map_err(|it| SetupError::Failed(format!("nobody can read from the replicas: {it}")))
}

/// Share of the quota's periods in which a group was held back; `None` without a quota.
fn throttled_share(before: &Usage, now: &Usage) -> Option<f64> {
    let periods = now.periods? - before.periods?;
    let throttled = now.throttled? - before.throttled?;
    (periods > 0).then(|| throttled as f64 / periods as f64)
}

/// The same load for the time of the warm-up, as hard as it becomes.
fn warm_up_setup(setup: &Setup) -> Setup {
    let mut warming = setup.clone();
    let load = &mut warming.load;
    load.duration = Some(load.warmup);
    if !matches!(load.model, LoadModel::Closed { .. }) {
        // A schedule may begin with next to nothing, and so may users.
        let clients = load.model.clients().min(8);
        load.model = match load.model {
            // What may not be loaded harder is not warmed harder.
            LoadModel::Users { rate_max: Some(rate), .. } => LoadModel::Users {
                stages: vec![UserStage { users: clients, spawn_rate: None, duration: load.warmup }],
                think: ThinkTime::Constant(model::Nanos::ZERO),
                pacing: None,
                rate_max: Some(rate),
            },
            _ => LoadModel::Closed { clients, think: model::Nanos::ZERO },
        };
    }
    warming
}

/// A warm-up is nobody's business.
struct IgnoreEvents;

impl LoadListener for IgnoreEvents {}

/// `refused`: what the first client was told that could not connect.
fn to_setup_error(why: &MeasureError, refused: Option<&str>) -> SetupError {
    match why {
        MeasureError::System(error) => SetupError::Failed(format!("the load could not begin: {error}")),
        MeasureError::NoClientConnected => {
            let why = refused.map_or(String::new(), |it| format!(": {it}"));
            SetupError::Failed(format!("no client could connect{why}"))
        }
        MeasureError::Stopped => SetupError::Stopped,
    }
}

/// Everything that can be watched.
fn probe_points(lab: &TestBed, own: Option<Group>) -> Vec<SamplingTarget> {
    let chain = lab.chain();
    let database = &chain.users().database;
    let replicas = chain.servers().into_iter().skip(1);
    let nodes = chain.nodes().iter().chain(replicas);
    let nodes = nodes.map(|it| SamplingTarget::for_running(it, database, &lab.supervisor));
    let own = SamplingTarget { group: own, ..SamplingTarget::generator() };
    [SamplingTarget::host(), own].into_iter().chain(nodes).collect()
}

/// What the load connects to, in a report's words. A service has no database.
fn server(chain: &Chain, setup: &Setup) -> Server {
    let only_web = !setup.operations.iter().any(|it| matches!(it.kind, OperationKind::Script { .. }));
    let entrance = &chain.nodes()[0];
    if let Some(web) = chain.http_node().filter(|_| only_web) {
        let address = web.url.as_ref().map_or_else(String::new, wire::http::Url::host_header);
        let (version, transport) = (web.version.clone(), web.hop.clone());
        return Server { version, transport, address, ..Server::default() };
    }
    let version = chain.postgres().unwrap_or(entrance).version.clone();
    Server {
        version,
        origin: chain.postgres().and_then(|it| Some(it.program.as_ref()?.parent()?.display().to_string())),
        transport: entrance.hop.clone(),
        address: entrance.endpoint.address.to_string(),
        database: entrance.endpoint.login.database.clone(),
    }
}

/// The nodes as they really are, for the store.
pub fn nodes(lab: &TestBed) -> Vec<NodeRecord> {
    let node = |it: &RunningNode| NodeRecord {
        name: it.plan.name.clone(),
        kind: kind_name(&it.plan.kind).to_owned(),
        version: it.version.clone(),
        program: it.program.as_ref().map(|it| it.display().to_string()),
        transport: transport_name(&it.hop).to_owned(),
        limits: serde_json::to_value(&it.plan.limits).expect("plain data"),
        unapplied_limits: it.node.map_or(Vec::new(), |id| {
            lab.supervisor.not_applied(id).iter().map(ToString::to_string).collect()
        }),
        configuration: it
            .configuration
            .iter()
            .map(|(name, text)| Configuration { name: name.clone(), text: text.clone() })
            .collect(),
    };
    lab.chain().nodes().iter().map(node).collect()
}

pub fn kind_name(it: &NodeKind) -> &'static str {
    match it {
        NodeKind::Postgres(_) => "postgres",
        NodeKind::PgBouncer(_) => "pgbouncer",
        NodeKind::Odyssey(_) => "odyssey",
        NodeKind::HaProxy(_) => "haproxy",
        NodeKind::Service(_) => "service",
        NodeKind::Attached(_) => "attached",
    }
}

pub fn transport_name(it: &ServerTransport) -> &'static str {
    match it {
        ServerTransport::UnixSocket => "unix",
        ServerTransport::Tcp => "tcp",
        ServerTransport::TcpTls { .. } => "tls",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttled_share_counts_from_the_beginning() {
        let usage = |periods, throttled| Usage { periods, throttled, ..Usage::default() };
        let check = |before: (u64, u64), now: (u64, u64), expected| {
            let (before, now) = (usage(Some(before.0), Some(before.1)), usage(Some(now.0), Some(now.1)));
            assert_eq!(throttled_share(&before, &now), expected);
        };
        check((100, 50), (300, 60), Some(0.05));
        check((100, 50), (100, 50), None);
        assert_eq!(throttled_share(&usage(None, None), &usage(None, None)), None, "without a quota");
    }
}
