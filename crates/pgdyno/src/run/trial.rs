//! Measurement of one trial

use super::assigned;
use super::fault_injection::{FaultPlan, FaultRun, TrialContext};
use super::test_bed::{SetupError, TestBed, failed};
use super::workload::{self, LoadInputs, PreparedLoad};
use crate::cli::CommandError;
use crate::clock::{self, unix_time};
use crate::fleet::assignment::Assignment;
use crate::fleet::{Fleet, FleetLoad};
use crate::measure::{self, IgnoreEvents, LoadConfig, LoadListener, LoadPart, MeasureError};
use crate::observer::{Observer, TrialClock};
use crate::run_result::stored::load_duration;
use crate::secrets::ENVIRONMENT;
use crate::trial_event::TrialEvent;
use analysis::strategy::search::SecondSummary;
use analysis::verdict::failover_objective;
use analysis::verdict::objective;
use analysis::verdict::rule::{self, RuleContext as Ruled, StopEvent};
use analysis::verdict::trial_failure;
use load::driver::Clock;
use model::fact::Fact;
use model::fault_injection::FaultInjection;
use model::freshness::Freshness;
use model::matrix::UnappliedLimit;
use model::message;
use model::message::Message;
use model::objective::ObjectiveResult;
use model::plan::{GENERATOR, LoadModel, Setup, ThinkTime, UserStage};
use model::summary::{Server, ServerTransport};
use model::{AgentPart, Measurement, Summary};
use stack::chain::{Chain, RunningNode};
use stack::freshness::FreshnessProber;
use stack::limits::{Group, Usage};
use stack::sampler::{Observation, Sampler, SamplingCost, SamplingTarget};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use store::{Configuration, NodeRecord, TrialId, Writer};

/// Time between the last client's exit and the last samples.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Inputs of a trial.
#[derive(Clone, Copy, Debug)]
pub struct TrialSpec<'a> {
    pub setup: &'a Setup,
    /// Seed of the repetition. All cells of a repetition share it, so that they receive the same requests.
    pub seed: u64,
    /// True if the seconds of the trial are needed after the trial.
    pub keep_seconds: bool,
}

/// Output of a trial.
#[derive(Debug)]
pub struct TrialOutput {
    pub measured: Measurement,
    pub summary: Summary,
    pub objectives: Vec<ObjectiveResult>,
    pub fired: Option<StopEvent>,
    /// Stop rules that never had a value.
    pub blind: Vec<String>,
    /// Reason why clients aborted; `None` if no client aborted.
    pub aborted: Option<Message>,
    /// First failure of the requests at the start of a client; `None` if none failed.
    pub on_start_error: Option<String>,
    /// Nodes that exited unexpectedly, with the reason.
    pub unexpected_exits: Vec<Message>,
    /// CPU cost of monitoring.
    pub monitoring_cost: SamplingCost,
    /// Seconds in their order; empty unless requested.
    pub seconds: Vec<SecondSummary>,
    /// Injected faults and their effects.
    pub fault_injection: Option<FaultInjection>,
    /// Staleness of reads on replicas; `None` without replicas.
    pub freshness: Option<Freshness>,
    /// Parts of the agents; empty without agents.
    pub agents: Vec<AgentPart>,
}

/// Measures the system in the test bed. If `interrupted` is set, the trial ends early and its results are returned.
pub fn run(
    spec: TrialSpec<'_>,
    test_bed: &mut TestBed,
    writer: (&Writer, TrialId),
    interrupted: &AtomicBool,
    show: &mut dyn FnMut(TrialEvent<'_>),
) -> Result<TrialOutput, SetupError> {
    // The agents remain leased, even if the trial fails.
    let mut fleet = test_bed.fleet.take();
    let output = run_by(spec, test_bed, fleet.as_mut(), writer, interrupted, show);
    test_bed.fleet = fleet;
    output
}

/// Measures as [`run`] does, with the load of these agents, or of this process without agents.
fn run_by(
    spec: TrialSpec<'_>,
    test_bed: &mut TestBed,
    mut fleet: Option<&mut Fleet>,
    (writer, id): (&Writer, TrialId),
    interrupted: &AtomicBool,
    show: &mut dyn FnMut(TrialEvent<'_>),
) -> Result<TrialOutput, SetupError> {
    let TrialSpec { setup, seed, keep_seconds: keep } = spec;
    let growing = fleet.as_ref().filter(|it| it.grows());
    let scaled = growing.map(|it| with_threads_of_all(setup, it.len()));
    let setup = scaled.as_ref().unwrap_or(setup);
    let limited = test_bed.supervisor.limit_generator(&setup.stack.generator);
    let (generator_group, missing) = limited.map_err(failed)?;
    for unapplied in missing {
        writer.fact(Some(id), Fact::UnappliedLimit(unapplied_limit(GENERATOR, &unapplied)));
    }
    let variables = workload::variables(setup);
    let feeds = test_bed.feeds(setup).map_err(failed)?;
    for note in test_bed.take_feed_notes() {
        writer.fact(Some(id), Fact::Note(note));
    }
    let web = test_bed.http_target();
    let has_agents = fleet.is_some();
    let part = fleet.as_ref().map_or(LoadPart::All, |it| LoadPart::Coordinator { agents: it.len() });
    let mut planned = FaultPlan::for_setup(setup);
    let inputs = LoadInputs {
        postgres: &test_bed.chain().primary_endpoints(),
        replicas: &test_bed.chain().replica_endpoints(),
        secret: planned.as_ref().map(|it| it.secret),
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        transactions: None,
        additional: None,
        abandoned: test_bed.abandoned(),
        part,
        driver: None,
        secrets: ENVIRONMENT,
    };
    if setup.load.warmup.0 > 0 {
        show(TrialEvent::WarmingUp);
        // Use another seed for the warm-up, so that the trial does not repeat its requests.
        let inputs = LoadInputs { secret: None, ..inputs };
        let setup = warm_up_setup(setup);
        let PreparedLoad { config: ready, .. } = workload::prepare(&setup, &inputs, !seed).map_err(failed)?;
        let mut load =
            GeneratedLoad::new(fleet.as_deref_mut(), &setup, &inputs, &ready, !seed).map_err(failed)?;
        let warmed = load.run(Clock::start(), &mut IgnoreEvents, interrupted);
        drop(warmed.map_err(|it| to_setup_error(&it, None))?);
    }
    let PreparedLoad { config: ready, plan } = workload::prepare(setup, &inputs, seed).map_err(failed)?;
    let mut load = GeneratedLoad::new(fleet, setup, &inputs, &ready, seed).map_err(failed)?;
    if let Some(planned) = &mut planned {
        planned.prepare_probes(setup, &inputs, seed).map_err(failed)?;
    }
    let context = Ruled::for_setup(setup);
    let rules = setup
        .stop_rules
        .iter()
        .map(|it| rule::parse(it, &context).expect("check accepted the text").rule)
        .collect();
    let clock = Clock::start();
    let wall = clock::StepDetector::start();
    let trial_clock = TrialClock::new(clock);
    let (out, observations) = channel();
    let watched = trial_clock.clone();
    let group = generator_group.clone();
    let points = probe_points(test_bed, generator_group, has_agents);
    let sampler = Sampler::start(points, move || watched.now(), out.clone());
    let prober = freshness_prober(test_bed.chain(), &trial_clock, &out)?;
    let stop = AtomicBool::new(false);
    let mut observer = Observer::new(
        observations,
        rules,
        (writer, id),
        show,
        trial_clock.clone(),
        (&stop, interrupted),
        keep,
    )
    .with_feeds(setup.feeds.iter().map(|it| it.name.clone()).collect())
    .with_operations(&setup.operations);
    let before = group.as_ref().map(Group::usage);
    let (measured, fault_run) = match &planned {
        Some(planned) => {
            let prober = prober.as_ref();
            let trial_context = TrialContext {
                run: writer.path(),
                trial: id.0,
                clock,
                trial_clock,
                observations: out,
                interrupted,
                prober,
            };
            let (measured, fault_run) =
                planned.measure(test_bed, &ready, trial_context, &mut observer, &stop)?;
            (measured, Some(fault_run))
        }
        None => (load.run(clock, &mut observer, &stop), None),
    };
    let agents = load.finish();
    let held =
        before.zip(group.as_ref().map(Group::usage)).and_then(|(before, now)| throttled_share(&before, &now));
    let freshness = prober.map(|it| it.stop(interrupted.load(Ordering::Relaxed)));
    // Wait, because poolers need some time to notice that clients have disconnected.
    std::thread::sleep(SETTLE_TIME);
    let monitoring_cost = sampler.stop();
    let (refused, aborted, messages) = (observer.connect_error(), observer.aborted(), observer.messages());
    let on_start_error = observer.on_start_error();
    let exhausted = observer.exhausted_feed().map(|it| feeds[usize::from(it)].len());
    let (fired, blind, seconds) = observer.finish();
    let hit = fault_run.as_ref().map_or(Vec::new(), FaultRun::faulted_nodes);
    let ended = test_bed.unexpected_exits(&hit);
    let measured = measured.map_err(|it| to_setup_error(&it, refused.as_deref()))?;
    let mut summary = analysis::verdict::summarise(&measured, server(test_bed.chain(), setup), plan);
    analysis::verdict::add_throttling(&mut summary, held);
    analysis::verdict::add_agents(&mut summary, &agents);
    analysis::verdict::add_clock_step(&mut summary, wall.step());
    if let Some(rows) = exhausted {
        analysis::verdict::add_feed_end(&mut summary, rows, load_duration(setup));
    }
    summary.set_messages(|code| messages.find(code));
    if !setup.faults.is_empty() {
        analysis::verdict::remove_outage_doubt(&mut summary);
    }
    let aborted = trial_failure::clients_aborted(&summary, aborted);
    let fault_injection = fault_run.map(|it| it.conclude(test_bed, interrupted, show)).transpose()?;
    let operations = &context.operations;
    let objectives = setup
        .objectives
        .iter()
        // Objectives on failovers apply to all trials of the cell.
        .filter(|it| failover_objective::parse(it).is_none())
        .map(|it| objective::parse(it, operations).expect("check accepted the text").judge(&summary));
    let objectives = objectives.collect();
    Ok(TrialOutput {
        measured,
        summary,
        objectives,
        fired,
        blind,
        aborted,
        on_start_error,
        unexpected_exits: ended,
        monitoring_cost,
        seconds,
        fault_injection,
        freshness,
        agents,
    })
}

/// Setup in which the number of threads of one agent is multiplied by the number of agents.
fn with_threads_of_all(setup: &Setup, agents: u16) -> Setup {
    let mut scaled = setup.clone();
    scaled.load.threads = scaled.load.threads.saturating_mul(agents);
    scaled
}

/// Load that this process or its agents generate.
struct GeneratedLoad<'a> {
    config: &'a LoadConfig,
    /// Agents with their assignment and the rows of the feeds.
    agents: Option<(&'a mut Fleet, Assignment, Vec<Vec<u8>>)>,
    parts: Vec<AgentPart>,
}

impl<'a> GeneratedLoad<'a> {
    fn new(
        fleet: Option<&'a mut Fleet>,
        setup: &Setup,
        inputs: &LoadInputs<'_>,
        config: &'a LoadConfig,
        seed: u64,
    ) -> Result<GeneratedLoad<'a>, CommandError> {
        let assign = |fleet: &'a mut Fleet| {
            let (assignment, feeds) = assigned::assignment(fleet, setup, inputs, config, seed)?;
            Ok::<_, CommandError>((fleet, assignment, feeds))
        };
        let agents = fleet.map(assign).transpose()?;
        Ok(GeneratedLoad { config, agents, parts: Vec::new() })
    }

    fn run(
        &mut self,
        clock: Clock,
        listener: &mut dyn LoadListener,
        stop: &AtomicBool,
    ) -> Result<Measurement, MeasureError> {
        let Some((fleet, assignment, feeds)) = &mut self.agents else {
            return measure::run(self.config, clock, listener, stop);
        };
        fleet.replace_lost()?;
        let feeds = std::mem::take(feeds);
        let load = FleetLoad { assignment, feeds, work: &self.config.work, clock };
        let measured = fleet.run(load, listener, (stop, &self.config.abandon))?;
        self.parts = measured.parts;
        Ok(measured.measurement)
    }

    /// Parts of the agents in the last measurement.
    fn finish(self) -> Vec<AgentPart> {
        self.parts
    }
}

/// Starts the freshness probe if it is enabled and there are replicas.
fn freshness_prober(
    chain: &Chain,
    trial_clock: &TrialClock,
    sender: &Sender<Observation>,
) -> Result<Option<FreshnessProber>, SetupError> {
    if !chain.replication().is_some_and(|it| it.freshness) {
        return Ok(None);
    }
    let trial_clock = trial_clock.clone();
    let now = move || trial_clock.window_start().map(|_| trial_clock.now());
    let started = FreshnessProber::start(chain.direct_tcp_targets(), unix_time().0 / 1000, now, sender);
    started.map(Some).map_err(|it| failed(message!("failure-freshness-probe", error = Message::from(&it))))
}

/// Share of the quota's periods in which a group was throttled; `None` without a quota.
fn throttled_share(before: &Usage, now: &Usage) -> Option<f64> {
    let periods = now.periods? - before.periods?;
    let throttled = now.throttled? - before.throttled?;
    (periods > 0).then(|| throttled as f64 / periods as f64)
}

/// Setup of the warm-up: the trial's load at its highest level.
fn warm_up_setup(setup: &Setup) -> Setup {
    let mut warming = setup.clone();
    let load = &mut warming.load;
    load.duration = Some(load.warmup);
    if !matches!(load.model, LoadModel::Closed { .. }) {
        // Do not use the load's schedule or user stages, because they may begin with almost no load.
        let clients = load.model.clients().min(8);
        load.model = match load.model {
            // The load's rate limit also applies to the warm-up.
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

/// Converts a measurement error to a setup error. `refused` is the error of the first client that could not connect.
fn to_setup_error(measure_error: &MeasureError, refused: Option<&str>) -> SetupError {
    match measure_error {
        MeasureError::System(error) => failed(message!("failure-load-start", error = Message::from(error))),
        MeasureError::NoClientConnected => failed(message!("failure-no-client-connected", reason = refused)),
        MeasureError::Stopped => SetupError::Stopped,
        MeasureError::Agents(reason) => SetupError::Failed(reason.clone()),
    }
}

/// All targets that can be sampled. This process is none of them if agents generate the load.
fn probe_points(test_bed: &TestBed, generator_group: Option<Group>, has_agents: bool) -> Vec<SamplingTarget> {
    let chain = test_bed.chain();
    let database = &chain.users().database;
    let replicas = chain.servers().into_iter().skip(1);
    let nodes = chain.nodes().iter().chain(replicas);
    let nodes = nodes.map(|it| SamplingTarget::for_running(it, database, &test_bed.supervisor));
    let generator = SamplingTarget { group: generator_group, ..SamplingTarget::generator() };
    let hosts = SamplingTarget::remote_hosts(chain.nodes().iter().map(|it| &it.plan));
    let shared = SamplingTarget::shared_hosts(&test_bed.supervisor);
    let generator = (!has_agents).then_some(generator);
    [SamplingTarget::host()].into_iter().chain(generator).chain(nodes).chain(hosts).chain(shared).collect()
}

/// Description of the load's target for the report. A service has no database.
fn server(chain: &Chain, setup: &Setup) -> Server {
    let only_web = !setup.operations.iter().any(|it| it.kind.is_sql());
    let first_node = &chain.nodes()[0];
    if let Some(web) = chain.http_node().filter(|_| only_web) {
        let address = web.url.as_ref().map_or_else(String::new, wire::http::Url::host_header);
        let (version, transport) = (web.version.clone(), web.hop.clone());
        return Server { version, transport, address, ..Server::default() };
    }
    let version = chain.postgres().unwrap_or(first_node).version.clone();
    Server {
        version,
        origin: chain.postgres().and_then(|it| Some(it.program.as_ref()?.parent()?.display().to_string())),
        transport: first_node.hop.clone(),
        address: first_node.endpoint.address.to_string(),
        database: first_node.endpoint.login.database.clone(),
    }
}

/// Unapplied limit of a node, in the form for the run file.
pub fn unapplied_limit(node: &str, unapplied: &stack::limits::UnappliedLimit) -> UnappliedLimit {
    UnappliedLimit {
        node: node.to_owned(),
        limit: unapplied.limit.name().to_owned(),
        reason: (&unapplied.reason).into(),
    }
}

/// The running nodes, in the form for the run file.
pub fn nodes(test_bed: &TestBed) -> Vec<NodeRecord> {
    let node = |running: &RunningNode| NodeRecord {
        name: running.plan.name.clone(),
        kind: running.plan.kind.key().to_owned(),
        version: running.version.clone(),
        program: running.program.as_ref().map(|it| it.display().to_string()),
        transport: transport_name(&running.hop).to_owned(),
        limits: running.plan.limits.clone(),
        unapplied_limits: running.node.map_or(Vec::new(), |id| {
            test_bed
                .supervisor
                .not_applied(id)
                .iter()
                .map(|it| unapplied_limit(&running.plan.name, it))
                .collect()
        }),
        configuration: running
            .configuration
            .iter()
            .map(|(name, text)| Configuration { name: name.clone(), text: text.clone() })
            .collect(),
    };
    test_bed.chain().nodes().iter().map(node).collect()
}

pub fn transport_name(transport: &ServerTransport) -> &'static str {
    match transport {
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
