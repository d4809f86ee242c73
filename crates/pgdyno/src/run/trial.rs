//! How is one trial measured?

use super::lab::{Hindrance, Lab};
use super::ordeal::{Course, Planned, Scene};
use super::result::{self, GENERATOR};
use super::watch::{Eyes, Seen, Since};
use super::workload::{self, Loaded};
use crate::clock::{self, unix_time};
use crate::measure::{self, Unmeasured, Watch};
use crate::voice::Trouble;
use analysis::objective;
use analysis::rule::{self, Fired, Scene as Ruled};
use analysis::search::Pace;
use load::driver::Clock;
use model::freshness::Freshness;
use model::objective::Judged;
use model::ordeal::Ordeal;
use model::plan::{Kind, LoadModel, Setup, Stage, Think, Work};
use model::summary::{Hop, Server};
use model::{Measured, Summary};
use stack::chain::{Chain, Running};
use stack::freshness::Prober;
use stack::limits::{Group, Usage};
use stack::sampler::{Cost, Observation, Point, Sampler};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use store::{Configuration, Node, Note, TrialId, Writer};

/// After the last client has left, so long until the last look.
const SETTLE: Duration = Duration::from_millis(200);

/// Which trial.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub setup: &'a Setup,
    /// Differs from repetition to repetition and is the same for all cells of one, so that all meet the same requests.
    pub seed: u64,
    /// Rows of the dataset, which scripts know as `:rows`.
    pub rows: Option<u64>,
    /// Whether each second is wanted afterwards.
    pub keep: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Done {
    pub measured: Measured,
    pub summary: Summary,
    pub objectives: Vec<Judged>,
    pub fired: Option<Fired>,
    /// Stop rules that never had a value.
    pub blind: Vec<String>,
    /// Why clients aborted; `None` where none did.
    pub aborted: Option<String>,
    /// What ended meanwhile though nobody asked it to, and how.
    pub ended: Vec<String>,
    /// What watching cost.
    pub watching: Cost,
    /// In their order, where they are wanted.
    pub seconds: Vec<Pace>,
    /// What went wrong on purpose, and what came of it.
    pub ordeal: Option<Ordeal>,
    /// How old what replicas showed was, where there are some.
    pub freshness: Option<Freshness>,
}

/// Measures what stands ready in the lab. `interrupted` ends it early and keeps what there is.
pub fn run(
    asked: Asked<'_>,
    lab: &mut Lab,
    (writer, id): (&Writer, TrialId),
    interrupted: &AtomicBool,
    show: &mut dyn FnMut(Seen<'_>),
) -> Result<Done, Hindrance> {
    let Asked { setup, seed, rows, keep } = asked;
    let limited = lab.supervisor.limit_generator(&setup.stack.generator);
    let (own, missing) = limited.map_err(|it| Hindrance::Failed(it.to_string()))?;
    for it in missing {
        writer.note(Note { trial: Some(id), subject: GENERATOR.to_owned(), text: it.to_string() });
    }
    let variables: Vec<(&str, i64)> = rows.map(|it| ("rows", it as i64)).into_iter().collect();
    let feeds = lab.feeds(setup).map_err(|it| Hindrance::Failed(it.what))?;
    let web = lab.web();
    let planned = Planned::of(setup);
    let asked = workload::Asked {
        postgres: &lab.chain().entries(),
        replicas: &lab.chain().entries_to_replicas(),
        secret: planned.as_ref().map(|it| it.secret),
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        abandoned: lab.abandoned(),
    };
    let hindering = |it: Trouble| Hindrance::Failed(it.what);
    if setup.load.warmup.0 > 0 {
        show(Seen::WarmingUp);
        // Requests of its own, so that the trial does not ask again for what it has just warmed.
        let asked = workload::Asked { secret: None, ..asked };
        let Loaded { ready, .. } = workload::prepare(&warming(setup), &asked, !seed).map_err(hindering)?;
        let warmed = measure::run(&ready, Clock::start(), &mut Blind, interrupted);
        drop(warmed.map_err(|it| hindered(&it, None))?);
    }
    let Loaded { ready, plan } = workload::prepare(setup, &asked, seed).map_err(hindering)?;
    let scene = Ruled::of(setup);
    let rules = setup.stop.iter().map(|it| rule::parse(it, &scene).expect("it was checked").rule).collect();
    let clock = Clock::start();
    let wall = clock::Watch::start();
    let since = Since::new(clock);
    let (out, observations) = channel();
    let watched = since.clone();
    let group = own.clone();
    let sampler = Sampler::start(points(lab, own), move || watched.now(), out.clone());
    let prober = prober(lab.chain(), &since, &out)?;
    let stop = AtomicBool::new(false);
    let mut eyes =
        Eyes::new(observations, rules, (writer, id), show, since.clone(), (&stop, interrupted), keep);
    let before = group.as_ref().map(Group::usage);
    let (measured, course) = match &planned {
        Some(planned) => {
            let prober = prober.as_ref();
            let scene =
                Scene { run: writer.path(), trial: id.0, clock, since, tell: out, interrupted, prober };
            let (measured, course) = planned.measure(lab, &ready, scene, &mut eyes, &stop)?;
            (measured, Some(course))
        }
        None => (measure::run(&ready, clock, &mut eyes, &stop), None),
    };
    let held =
        before.zip(group.as_ref().map(Group::usage)).and_then(|(before, now)| held_back(&before, &now));
    let freshness = prober.map(|it| it.stop(interrupted.load(Ordering::Relaxed)));
    // Poolers take note of clients that have left.
    std::thread::sleep(SETTLE);
    let watching = sampler.stop();
    let (refused, aborted, messages) = (eyes.refused(), eyes.aborted(), eyes.messages());
    let (fired, blind, seconds) = eyes.finish();
    let hit = course.as_ref().map_or(Vec::new(), Course::hit);
    let ended = lab.ended(&hit);
    let measured = measured.map_err(|it| hindered(&it, refused.as_deref()))?;
    let mut summary = analysis::summarise(&measured, server(lab.chain(), setup), plan);
    analysis::throttled(&mut summary, held);
    analysis::clock_set(&mut summary, wall.step());
    summary.with_messages(|code| messages.of(code));
    if !setup.faults.is_empty() {
        analysis::expected_outages(&mut summary);
    }
    let aborted = result::clients_aborted(&summary, aborted.as_deref());
    let ordeal = course.map(|it| it.conclude(lab)).transpose()?;
    let operations = &scene.operations;
    let objectives = setup
        .objectives
        .iter()
        .map(|it| objective::parse(it, operations).expect("it was checked").judge(&summary));
    let objectives = objectives.collect();
    Ok(Done {
        measured,
        summary,
        objectives,
        fired,
        blind,
        aborted,
        ended,
        watching,
        seconds,
        ordeal,
        freshness,
    })
}

/// Asks replicas what they show of what was just written, where there are some and it is asked for.
fn prober(chain: &Chain, since: &Since, tell: &Sender<Observation>) -> Result<Option<Prober>, Hindrance> {
    if !chain.replication().is_some_and(|it| it.freshness) {
        return Ok(None);
    }
    let since = since.clone();
    let now = move || since.begun().map(|_| since.now());
    let started = Prober::start(chain.over_network(), unix_time().0 / 1000, now, tell);
    started.map(Some).map_err(|it| Hindrance::Failed(format!("nobody can read from the replicas: {it}")))
}

/// Share of the quota's periods in which a group was held back; `None` without a quota.
fn held_back(before: &Usage, now: &Usage) -> Option<f64> {
    let periods = now.periods? - before.periods?;
    let throttled = now.throttled? - before.throttled?;
    (periods > 0).then(|| throttled as f64 / periods as f64)
}

/// The same load for the time of the warm-up, as hard as it becomes.
fn warming(setup: &Setup) -> Setup {
    let mut warming = setup.clone();
    let load = &mut warming.load;
    load.duration = Some(load.warmup);
    if !matches!(load.model, LoadModel::Closed { .. }) {
        // A schedule may begin with next to nothing, and so may users.
        let clients = load.model.clients().min(8);
        load.model = match load.model {
            // What may not be loaded harder is not warmed harder.
            LoadModel::Users { rate_max: Some(rate), .. } => LoadModel::Users {
                stages: vec![Stage { users: clients, spawn_rate: None, lasting: load.warmup }],
                think: Think::Constant(model::Nanos::ZERO),
                pacing: None,
                rate_max: Some(rate),
            },
            _ => LoadModel::Closed { clients, think: model::Nanos::ZERO },
        };
    }
    warming
}

/// A warm-up is nobody's business.
struct Blind;

impl Watch for Blind {}

/// `refused`: what the first client was told that could not connect.
fn hindered(why: &Unmeasured, refused: Option<&str>) -> Hindrance {
    match why {
        Unmeasured::System(error) => Hindrance::Failed(format!("the load could not begin: {error}")),
        Unmeasured::NobodyConnected => {
            let why = refused.map_or(String::new(), |it| format!(": {it}"));
            Hindrance::Failed(format!("no client could connect{why}"))
        }
        Unmeasured::Stopped => Hindrance::Stopped,
    }
}

/// Everything that can be watched.
fn points(lab: &Lab, own: Option<Group>) -> Vec<Point> {
    let chain = lab.chain();
    let database = &chain.users().database;
    let replicas = chain.servers().into_iter().skip(1);
    let nodes = chain.nodes().iter().chain(replicas);
    let nodes = nodes.map(|it| Point::of_running(it, database, &lab.supervisor));
    let own = Point { group: own, ..Point::generator() };
    [Point::host(), own].into_iter().chain(nodes).collect()
}

/// What the load connects to, in a report's words. A service has no database.
fn server(chain: &Chain, setup: &Setup) -> Server {
    let only_web = !setup.operations.iter().any(|it| matches!(it.work, Work::Script { .. }));
    let entrance = &chain.nodes()[0];
    if let Some(web) = chain.web().filter(|_| only_web) {
        let address = web.url.as_ref().map_or_else(String::new, wire::http::Url::host_header);
        let (version, transport) = (web.version.clone(), web.hop.clone());
        return Server { version, transport, address, ..Server::default() };
    }
    let version = chain.postgres().unwrap_or(entrance).version.clone();
    Server {
        version,
        origin: chain.postgres().and_then(|it| Some(it.program.as_ref()?.parent()?.display().to_string())),
        transport: entrance.hop.clone(),
        address: entrance.entrance.address.to_string(),
        database: entrance.entrance.login.database.clone(),
    }
}

/// The nodes as they really are, for the store.
pub fn nodes(lab: &Lab) -> Vec<Node> {
    let node = |it: &Running| Node {
        name: it.plan.name.clone(),
        kind: kind(&it.plan.kind).to_owned(),
        version: it.version.clone(),
        program: it.program.as_ref().map(|it| it.display().to_string()),
        entrance: transport(&it.hop).to_owned(),
        limits: serde_json::to_value(&it.plan.limits).expect("plain data"),
        not_applied: it.node.map_or(Vec::new(), |id| {
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

pub fn kind(it: &Kind) -> &'static str {
    match it {
        Kind::Postgres(_) => "postgres",
        Kind::PgBouncer(_) => "pgbouncer",
        Kind::Odyssey(_) => "odyssey",
        Kind::HaProxy(_) => "haproxy",
        Kind::Service(_) => "service",
        Kind::Attached(_) => "attached",
    }
}

pub fn transport(it: &Hop) -> &'static str {
    match it {
        Hop::UnixSocket => "unix",
        Hop::Tcp => "tcp",
        Hop::TcpTls { .. } => "tls",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_back_since_the_beginning() {
        let usage = |periods, throttled| Usage { periods, throttled, ..Usage::default() };
        let check = |before: (u64, u64), now: (u64, u64), expected| {
            let (before, now) = (usage(Some(before.0), Some(before.1)), usage(Some(now.0), Some(now.1)));
            assert_eq!(held_back(&before, &now), expected);
        };
        check((100, 50), (300, 60), Some(0.05));
        check((100, 50), (100, 50), None);
        assert_eq!(held_back(&usage(None, None), &usage(None, None)), None, "without a quota");
    }
}
