//! What happens beside the load while things go wrong, and what follows from it?
//!
//! Three look after it: an [`actor`] does what is planned and promotes another server, a watcher of `stack::roles` sees who is
//! the primary, and a ledger is kept of what was written. When the load is over, old primaries come back, everything is
//! read, and a verdict follows.

mod actor;
mod agenda;
mod evidence;
mod monitor;

use super::lab::{Hindrance, Lab};
use super::watch::{Eyes, Since};
use crate::measure::{self, Ready, Unmeasured};
use crate::voice::Trouble;
use actor::{Acted, Actor};
use evidence::{Kept, Reader};
use load::driver::Clock;
use load::ledger::Tap;
use model::ordeal::{After, Ordeal};
use model::plan::{Fault, Operation, Setup};
use model::{Measured, Nanos};
use stack::chain::Chain;
use stack::freshness::Prober;
use stack::roles::{self, Direct, Watcher};
use stack::sampler::Observation;
use stack::supervisor::Supervisor;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

pub use evidence::secret;

/// A server that is asked once answers by then.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is planned beside the load.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    faults: &'a [Fault],
    /// Of operations with a ledger: how what they wrote is read.
    queries: Vec<String>,
    /// Seals their tokens.
    pub secret: u64,
}

/// Where and when.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    pub run: &'a Path,
    /// The trial's number in the run's file.
    pub trial: u32,
    pub clock: Clock,
    pub since: Since,
    /// Takes what is done and seen.
    pub tell: Sender<Observation>,
    /// Set by the user: nothing is waited for any more.
    pub interrupted: &'a AtomicBool,
    /// Writes beside the load, and rests when it is over.
    pub prober: Option<&'a Prober>,
}

impl<'a> Planned<'a> {
    /// `None` where nothing goes wrong and no ledger is to be kept.
    pub fn of(setup: &'a Setup) -> Option<Planned<'a>> {
        let queries = queries(&setup.operations);
        let faults = &setup.faults;
        (!faults.is_empty() || !queries.is_empty()).then(|| Planned { faults, queries, secret: secret() })
    }

    /// Measures with all that is planned.
    pub fn measure(
        &self,
        lab: &mut Lab,
        ready: &Ready,
        scene: Scene<'_>,
        eyes: &mut Eyes<'_>,
        stop: &AtomicBool,
    ) -> Result<(Result<Measured, Unmeasured>, Course), Hindrance> {
        let (chain, supervisor) = lab.parts();
        let Scene { run, trial, clock, since, tell, interrupted, prober } = scene;
        let servers = chain.direct();
        let watcher = Watcher::start(servers.clone(), roles::EVERY, move || clock.now());
        let watcher =
            watcher.map_err(|it| Hindrance::Failed(format!("nobody can watch the servers: {it}")))?;
        let (taps, kept) = self.kept(chain, ready, (run, trial), clock)?;
        let over = AtomicBool::new(false);
        // What is not kept proves nothing.
        let look = || {
            if kept.as_ref().is_some_and(|it| it.trouble().is_some()) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let (measured, ended, mut acted) = thread::scope(|scope| {
            let actor = Actor::new((chain, supervisor), self.faults, since.clone(), tell);
            let acts = scope.spawn(|| actor.run(&over, interrupted, look));
            let measured = measure::run_kept(ready, taps, clock, eyes, stop);
            let ended = clock.now();
            over.store(true, Ordering::Relaxed);
            prober.inspect(|it| it.rest());
            (measured, ended, acts.join().expect("whoever acts does not panic"))
        });
        if let Some(why) = kept.as_ref().and_then(Kept::trouble) {
            acted.trouble(format!("the ledger ends before the load: {why}"));
        }
        let ledger = kept.map(Kept::finish).transpose().map_err(failed)?;
        let reader = ledger.map(|it| Reader::new(it, self.queries.clone(), self.secret));
        let reader = reader.transpose().map_err(failed)?;
        let hurried = interrupted.load(Ordering::Relaxed);
        Ok((measured, Course { acted, watcher, servers, reader, clock, since, ended, hurried }))
    }

    /// The ledger, if there is one to be kept, and what the threads tell it by.
    fn kept(
        &self,
        chain: &mut Chain,
        ready: &Ready,
        (run, trial): (&Path, u32),
        clock: Clock,
    ) -> Result<(Vec<Tap>, Option<Kept>), Hindrance> {
        if self.queries.is_empty() {
            return Ok((Vec::new(), None));
        }
        let (taps, drain) = measure::taps(ready, system(chain));
        let kept = Kept::begin(run, trial, drain, clock).map_err(failed)?;
        Ok((taps, Some(kept)))
    }
}

/// What has happened when the load is over.
#[derive(Debug)]
pub struct Course {
    acted: Acted,
    watcher: Watcher,
    servers: Vec<Direct>,
    reader: Option<Reader>,
    clock: Clock,
    since: Since,
    /// When the load was over.
    ended: Nanos,
    /// The user waits for the end.
    hurried: bool,
}

impl Course {
    /// Nodes that something was done to.
    pub fn hit(&self) -> Vec<String> {
        let ordeal = &self.acted.ordeal;
        let inflicted = ordeal.inflicted.iter().flat_map(|it| &it.nodes);
        inflicted.chain(ordeal.promoted.iter().map(|it| &it.from)).cloned().collect()
    }

    /// Old primaries come back, and everything is read after the load, after that, and after all servers were restarted.
    pub fn conclude(mut self, lab: &mut Lab) -> Result<Ordeal, Hindrance> {
        if !self.hurried {
            self.come_back(lab);
        }
        let Course { mut acted, watcher, reader, since, ended, .. } = self;
        let watched = watcher.stop();
        for promoted in &mut acted.ordeal.promoted {
            let of = |it: &&roles::Healthy| it.node == promoted.to && it.timeline == promoted.timeline;
            promoted.healthy = watched.healthy.iter().find(of).map(|it| since.of(it.at));
        }
        let begun = since.begun().unwrap_or_default();
        let verdict = reader.map(|it| it.verdict(&acted, &watched, (begun, ended)));
        let verdict = verdict.transpose().map_err(failed)?;
        Ok(Ordeal { verdict, ..acted.ordeal })
    }

    fn come_back(&mut self, lab: &mut Lab) {
        let (chain, supervisor) = lab.parts();
        self.read(After::Load);
        for node in std::mem::take(&mut self.acted.gone) {
            match actor::rejoin(chain, supervisor, &node, &self.since) {
                Ok(it) => self.acted.ordeal.rejoined.push(it),
                Err(why) => self.acted.trouble(why.to_string()),
            }
        }
        if !self.acted.ordeal.rejoined.is_empty() {
            self.read(After::Rejoining);
        }
        if self.reader.is_some() && !self.acted.promotions.is_empty() {
            match restart(chain, supervisor) {
                Ok(()) => self.read(After::Restart),
                Err(why) => self.acted.trouble(why),
            }
        }
    }

    fn read(&mut self, after: After) {
        let Some(reader) = &mut self.reader else { return };
        match reader.read(&self.servers, after, self.clock) {
            Ok(it) => self.acted.ordeal.readings.push(it),
            Err(why) => self.acted.trouble(format!("nothing could be read back: {why}")),
        }
    }
}

/// The servers' `system_identifier`; 0 where it is not told to us.
fn system(chain: &Chain) -> u64 {
    let sql = "select system_identifier from pg_control_system()";
    let told = |it: &Direct| it.target.open(PATIENCE).ok()?.value(sql).ok()??.parse().ok();
    chain.direct().iter().find_map(told).unwrap_or(0)
}

/// Every server is stopped and started.
fn restart(chain: &mut Chain, supervisor: &mut Supervisor) -> Result<(), String> {
    let names: Vec<String> = chain.servers().iter().map(|it| it.plan.name.clone()).collect();
    names.iter().try_for_each(|it| chain.restart(supervisor, it)).map_err(|it| it.to_string())
}

fn failed(it: Trouble) -> Hindrance {
    Hindrance::Failed(it.what)
}

/// How what operations wrote is read: those that share a table name it each, and what is read twice is there once.
fn queries(operations: &[Operation]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for it in operations.iter().filter_map(|it| it.ledger.as_ref()) {
        if !all.contains(it) {
            all.push(it.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_operations_share_is_read_once() {
        let with = |ledger: Option<&str>| {
            let ledger = ledger.map(str::to_owned);
            Operation { ledger, ..Operation::script("a", 1, "SELECT :token") }
        };
        let all = [Some("SELECT t FROM x"), None, Some("SELECT t FROM y"), Some("SELECT t FROM x")].map(with);
        assert_eq!(queries(&all), ["SELECT t FROM x", "SELECT t FROM y"]);
    }
}
