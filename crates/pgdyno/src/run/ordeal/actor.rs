//! Who does what goes wrong, and who promotes another server then?
//!
//! On a thread of its own beside the load. It has the chain and its supervisor until it is [`Actor::finish`]ed: everything
//! that it did is undone then, or told as a trouble.

use super::super::watch::Since;
use super::agenda::{Agenda, Due};
use super::monitor::Monitor;
use model::ordeal::{Inflicted, Ordeal, Promoted, Rejoined};
use model::plan::{Deed, Event, Fault, Manager, Part, Promoter, Whom};
use model::{EventKind, LogEvent, Nanos};
use stack::chain::{Chain, Promotion, Wound};
use stack::sampler::Observation;
use stack::supervisor::{Failure, Supervisor};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at what is due.
const LOOK: Duration = Duration::from_millis(5);
/// How long one look for a new primary may hold up what else is due.
const GLANCE: Duration = Duration::from_millis(100);
/// After the load: another primary must have been found by then. Patroni's key lives twenty seconds and more.
const PATIENCE: Duration = Duration::from_secs(60);

/// Carries out what is planned.
#[derive(Debug)]
pub struct Actor<'a> {
    chain: &'a mut Chain,
    supervisor: &'a mut Supervisor,
    faults: &'a [Fault],
    agenda: Agenda<'a>,
    since: Since,
    tell: Sender<Observation>,
    /// By the number of the fault that lasts.
    wounds: BTreeMap<usize, Wound>,
    promoter: Who,
    /// Since when Patroni may make another server the primary, and whether it has to.
    leaderless: Option<(Instant, bool)>,
    /// Old primaries that have not come back.
    gone: Vec<String>,
    /// Replicas that cannot follow the new primary as they are.
    strayed: Vec<String>,
    ordeal: Ordeal,
    /// What servers said of themselves before each promotion.
    promotions: Vec<(Nanos, Promotion)>,
}

/// Who promotes.
#[derive(Debug)]
enum Who {
    Nobody,
    Us(Promoter, Monitor),
    Patroni,
}

/// What there is when all is over.
#[derive(Debug)]
pub struct Acted {
    pub ordeal: Ordeal,
    /// With when each was seen, since the window began.
    pub promotions: Vec<(Nanos, Promotion)>,
    /// Old primaries that have not come back, and replicas that strayed.
    pub gone: Vec<String>,
}

impl<'a> Actor<'a> {
    /// `tell`: what is done and seen, as events.
    pub fn new(
        (chain, supervisor): (&'a mut Chain, &'a mut Supervisor),
        faults: &'a [Fault],
        since: Since,
        tell: Sender<Observation>,
    ) -> Actor<'a> {
        let primary = chain.primary().map(|it| it.entrance.clone());
        let promoter = match (chain.replication().map(|it| &it.manager), primary) {
            (Some(Manager::Ours(it)), Some(primary)) => Who::Us(*it, Monitor::start(primary, since.clone())),
            (Some(Manager::Patroni(_)), _) => Who::Patroni,
            _ => Who::Nobody,
        };
        let agenda = Agenda::new(faults);
        let (wounds, leaderless) = (BTreeMap::new(), None);
        let (gone, strayed) = (Vec::new(), Vec::new());
        let (ordeal, promotions) = (Ordeal::default(), Vec::new());
        Actor {
            chain,
            supervisor,
            faults,
            agenda,
            since,
            tell,
            wounds,
            promoter,
            leaderless,
            gone,
            strayed,
            ordeal,
            promotions,
        }
    }

    /// Does what is due until the load is `over`, then undoes what still lasts and waits for a primary.
    ///
    /// `look` is called all the time. What is `hurried` waits for nobody.
    pub fn run(mut self, over: &AtomicBool, hurried: &AtomicBool, look: impl Fn()) -> Acted {
        while !over.load(Ordering::Relaxed) {
            look();
            self.act();
            thread::sleep(LOOK);
        }
        self.finish(hurried)
    }

    fn act(&mut self) {
        if self.since.begun().is_none() {
            return;
        }
        while let Some(due) = self.agenda.due(self.since.now()) {
            match due {
                Due::Inflict(number) => self.inflict(number),
                Due::Heal(number) => self.heal(number),
            }
        }
        self.find_primary();
        // The new primary may need their confirmations.
        let back = std::mem::take(&mut self.strayed);
        self.come_back(back);
        if !self.agenda.is_over() && self.leaderless.is_none() {
            let back = std::mem::take(&mut self.gone);
            self.come_back(back);
        }
    }

    fn finish(mut self, hurried: &AtomicBool) -> Acted {
        for it in self.agenda.rest() {
            self.heal(it);
        }
        if !self.agenda.is_over() {
            let left = self.faults.len() - self.ordeal.inflicted.len();
            self.trouble(format!("the load ended before {left} of {} faults", self.faults.len()));
        }
        let (began, until) = (self.since.now(), Instant::now() + PATIENCE);
        let patient = || !hurried.load(Ordering::Relaxed) && Instant::now() < until;
        while !self.is_led_since(began) && patient() {
            self.find_primary();
            thread::sleep(LOOK);
        }
        if !self.is_led_since(began) {
            self.trouble("no server became the primary".to_owned());
        }
        let gone = [self.strayed, self.gone].concat();
        Acted { ordeal: self.ordeal, promotions: self.promotions, gone }
    }

    fn inflict(&mut self, number: usize) {
        let deed = &self.faults[number].deed;
        let at = self.since.now();
        let hits_primary = self.hits_primary(deed);
        let done = match self.chain.inflict(self.supervisor, deed) {
            Ok(it) => it,
            Err(why) => {
                self.ordeal.inflicted.push(Inflicted {
                    at,
                    healed: None,
                    deed: deed.clone(),
                    nodes: Vec::new(),
                });
                return self.trouble(why.to_string());
            }
        };
        for it in &done.nodes {
            self.event(at, it, EventKind::Fault, word(deed).to_owned());
        }
        let inflicted = Inflicted { at, healed: None, deed: deed.clone(), nodes: done.nodes };
        self.ordeal.inflicted.push(inflicted);
        if let Some(it) = done.wound {
            self.wounds.insert(number, it);
        }
        if let Some(it) = done.promotion {
            self.promoted(it, true);
        } else if hits_primary && matches!(self.promoter, Who::Patroni) {
            // A server that was stopped only, or a postmaster, may be back before another is promoted.
            let must = matches!(deed, Deed::Kill { part: Part::Node, .. });
            self.leaderless = Some((Instant::now(), must));
        }
    }

    fn heal(&mut self, number: usize) {
        let Some(wound) = self.wounds.remove(&number) else { return };
        if let Err(why) = self.chain.heal(self.supervisor, wound) {
            return self.trouble(why.to_string());
        }
        let at = self.since.now();
        // Faults are begun in their order, each once.
        let Some(it) = self.ordeal.inflicted.get_mut(number) else { return };
        it.healed = Some(at);
        let text = word(&it.deed).to_owned();
        for node in it.nodes.clone() {
            self.event(at, &node, EventKind::Healed, text.clone());
        }
    }

    /// Whether another server may have to be the primary after it.
    fn hits_primary(&self, deed: &Deed) -> bool {
        let primary = self.chain.primary().map(|it| it.plan.name.as_str());
        match deed {
            Deed::Kill { whom, .. }
            | Deed::Pause { whom, .. }
            | Deed::CutOff { whom, .. }
            | Deed::FillDisk { whom, .. } => match whom {
                Whom::Primary => true,
                Whom::Node(name) => Some(name.as_str()) == primary,
                // Without its keys Patroni has its primary be none.
                Whom::Etcd => true,
                Whom::Replica => false,
            },
            Deed::Restart { .. } | Deed::Switchover { .. } | Deed::Withhold { .. } => false,
        }
    }

    /// Whether a primary answers now that did so after this moment.
    fn is_led_since(&self, began: Nanos) -> bool {
        match &self.promoter {
            Who::Nobody => true,
            Who::Us(_, monitor) => {
                let now = self.since.now();
                monitor.silent_for(now) < now - began
            }
            Who::Patroni => self.leaderless.is_none_or(|it| !it.1),
        }
    }

    fn find_primary(&mut self) {
        match &self.promoter {
            Who::Us(plan, monitor)
                if monitor.silent_for(self.since.now()) >= monitor.patience(plan.patience) =>
            {
                // Who cannot be followed is asked again: that replicas do not answer may pass.
                match self.chain.fail_over(self.supervisor) {
                    Ok(it) => self.promoted(it, false),
                    Err(why) => {
                        self.trouble(why.to_string());
                        thread::sleep(GLANCE);
                    }
                }
            }
            Who::Patroni => {
                let Some((began, _)) = self.leaderless else { return };
                if let Ok(it) = self.chain.await_promotion(self.supervisor, began, GLANCE) {
                    self.leaderless = None;
                    // One that lives follows by Patroni's doing.
                    let lives = |name: &str| {
                        let servers = self.chain.servers();
                        servers.iter().find(|it| it.plan.name == name).and_then(|it| it.node)
                    };
                    let follows = lives(&it.from).is_some_and(|it| self.supervisor.ended(it).is_none());
                    self.promoted(it, follows);
                }
            }
            _ => {}
        }
    }

    /// `follows`: the old primary follows the new one, or will.
    fn promoted(&mut self, it: Promotion, follows: bool) {
        let at = self.since.now();
        if let (Who::Us(_, monitor), Some(primary)) = (&self.promoter, self.chain.primary()) {
            monitor.turn_to(primary.entrance.clone(), at);
        }
        self.event(at, &it.to, EventKind::Promoted, format!("timeline {}", it.timeline));
        self.agenda.came(Event::Promoted, at);
        let safe = matches!(self.promoter, Who::Us(..)).then_some(it.safe);
        let (from, to, timeline) = (it.from.clone(), it.to.clone(), it.timeline);
        self.gone.retain(|gone| *gone != to);
        self.strayed.extend(it.strayed.iter().cloned());
        if !follows {
            self.gone.push(from.clone());
        }
        self.ordeal.promoted.push(Promoted { from, to, at, healthy: None, timeline, safe });
        self.promotions.push((at, it));
    }

    fn come_back(&mut self, nodes: Vec<String>) {
        for node in nodes {
            match rejoin(self.chain, self.supervisor, &node, &self.since) {
                Ok(it) => {
                    let how = if it.rewound { "rewound" } else { "copied" };
                    self.event(it.at, &node, EventKind::Rejoined, how.to_owned());
                    self.agenda.came(Event::Rejoined, it.at);
                    self.ordeal.rejoined.push(it);
                }
                Err(why) => self.trouble(why.to_string()),
            }
        }
    }

    fn trouble(&mut self, why: String) {
        say(&mut self.ordeal, why);
    }

    fn event(&self, at: Nanos, node: &str, kind: EventKind, text: String) {
        let event = LogEvent { at, node: node.to_owned(), kind, code: None, text };
        // Who listens may have gone with the user.
        let _ = self.tell.send(Observation::Event(event));
    }
}

impl Acted {
    pub fn trouble(&mut self, why: String) {
        say(&mut self.ordeal, why);
    }
}

/// Each trouble once.
fn say(ordeal: &mut Ordeal, why: String) {
    if !ordeal.troubles.contains(&why) {
        ordeal.troubles.push(why);
    }
}

/// A server that was the primary follows the one that is.
pub fn rejoin(
    chain: &mut Chain,
    supervisor: &mut Supervisor,
    node: &str,
    since: &Since,
) -> Result<Rejoined, Failure> {
    let stack::chain::Rejoined { node, rewound, took } = chain.rejoin(supervisor, node)?;
    let took = Nanos(took.as_nanos() as u64);
    Ok(Rejoined { node, at: since.now(), took, rewound })
}

/// In one word, which is the file's.
fn word(it: &Deed) -> &'static str {
    match it {
        Deed::Kill { .. } => "kill",
        Deed::Pause { .. } => "pause",
        Deed::Restart { .. } => "restart",
        Deed::Switchover { .. } => "switchover",
        Deed::CutOff { .. } => "cut_off",
        Deed::FillDisk { .. } => "fill_disk",
        Deed::Withhold { .. } => "withhold",
    }
}
