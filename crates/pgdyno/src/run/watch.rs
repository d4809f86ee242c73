//! What happens with every second of a trial?
//!
//! It is laid beside what the probes saw, written down, and shown to the stop rules.

use crate::measure::Watch;
use crate::messages::{self, Messages};
use analysis::rule::{Fired, Rule};
use analysis::search::Pace;
use load::Said;
use load::driver::Clock;
use model::{EventKind, Interval, LogEvent, Nanos, Sample, Second, Tick};
use stack::sampler::Observation;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use store::{Note, TrialId, Writer};

/// A clock that begins with a trial's window.
#[derive(Clone, Debug)]
pub struct Since {
    clock: Clock,
    /// `u64::MAX` before it is known.
    begin: Arc<AtomicU64>,
}

impl Since {
    pub fn new(clock: Clock) -> Since {
        Since { clock, begin: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Since the window began; zero before it.
    pub fn now(&self) -> Nanos {
        self.of(self.clock.now())
    }

    /// The same of a moment of the clock.
    pub fn of(&self, at: Nanos) -> Nanos {
        at - Nanos(self.begin.load(Ordering::Acquire))
    }

    /// When the window began, by the clock; `None` before it.
    pub fn begun(&self) -> Option<Nanos> {
        Some(Nanos(self.begin.load(Ordering::Acquire))).filter(|it| *it != Nanos::MAX)
    }
}

/// What can be seen of a trial while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// The load runs, and is not measured yet.
    WarmingUp,
    Second(&'a Tick),
    /// What came after the last whole second.
    Rest(&'a Tick),
    /// At least one.
    Events(&'a [LogEvent]),
}

/// Seconds that are kept at most: hours of them are more than a judgement needs, and than there is room for.
const KEPT: usize = 3600;

/// Behind the others; the oldest goes when there are too many.
pub fn keep(kept: &mut Vec<Pace>, it: Pace) {
    if kept.len() == KEPT {
        kept.remove(0);
    }
    kept.push(it);
}

/// Characters of a server's message that are kept.
const SAID: usize = 1000;

/// A server's message as far as it is kept: of its first line.
fn first_words(message: &str) -> String {
    message.lines().next().unwrap_or_default().chars().take(SAID).collect()
}

/// One trial's eyes.
pub struct Eyes<'a> {
    observations: Receiver<Observation>,
    rules: Vec<Rule>,
    store: (&'a Writer, TrialId),
    show: &'a mut dyn FnMut(Seen<'_>),
    since: Since,
    /// Set to end the trial.
    stop: &'a AtomicBool,
    /// Set by the user.
    interrupted: &'a AtomicBool,
    fired: Option<Fired>,
    second: u64,
    in_flight: u64,
    /// Samples that came since the last tick.
    fresh: Vec<Sample>,
    /// What the first client was told that could not connect.
    refused: Option<String>,
    /// Why the first client aborted.
    aborted: Option<String>,
    messages: Messages,
    /// Each second, where they are wanted afterwards.
    kept: Option<Vec<Pace>>,
}

impl<'a> Eyes<'a> {
    /// `show` is called with what is seen; `stop` is what ends the trial, `interrupted` is what the user sets.
    pub fn new(
        observations: Receiver<Observation>,
        rules: Vec<Rule>,
        store: (&'a Writer, TrialId),
        show: &'a mut dyn FnMut(Seen<'_>),
        since: Since,
        (stop, interrupted): (&'a AtomicBool, &'a AtomicBool),
        keep: bool,
    ) -> Eyes<'a> {
        let (second, in_flight, fresh) = (0, 0, Vec::new());
        let (fired, refused, aborted) = (None, None, None);
        Eyes {
            observations,
            rules,
            store,
            show,
            since,
            stop,
            interrupted,
            fired,
            second,
            in_flight,
            fresh,
            refused,
            aborted,
            messages: Messages::default(),
            kept: keep.then(Vec::new),
        }
    }

    /// After the last look of the probes. What a rule said, if one did, the rules that never had a value, and the seconds that
    /// were kept.
    pub fn finish(mut self) -> (Option<Fired>, Vec<String>, Vec<Pace>) {
        self.gather();
        let blind = self.rules.iter().filter(|it| it.is_blind()).map(|it| it.text().to_owned()).collect();
        let (writer, trial) = self.store;
        writer.samples(trial, self.fresh);
        (self.fired, blind, self.kept.unwrap_or_default())
    }

    /// What the first client was told that could not connect.
    pub fn refused(&self) -> Option<String> {
        self.refused.clone()
    }

    /// Why the first client aborted, if one did.
    pub fn aborted(&self) -> Option<String> {
        self.aborted.clone()
    }

    /// What was said of failures.
    pub fn messages(&self) -> Messages {
        self.messages.clone()
    }

    /// Takes what the probes have sent.
    fn gather(&mut self) {
        let (writer, trial) = self.store;
        let mut events = Vec::new();
        while let Ok(it) = self.observations.try_recv() {
            match it {
                Observation::Samples(all) => self.fresh.extend(all),
                Observation::Event(it) => events.push(it),
                Observation::Missing { node, probe, why } => {
                    let subject = format!("{node}: {probe}");
                    writer.note(Note { trial: Some(trial), subject, text: why });
                }
            }
        }
        // One message, however many: the store's patience is counted in messages.
        if !events.is_empty() {
            (self.show)(Seen::Events(&events));
            writer.events(trial, events);
        }
    }

    fn second(&mut self, interval: &Interval, whole: bool) {
        let ended: u64 = interval.cells.iter().map(|it| it.arrivals() - it.dropped).sum();
        self.in_flight = (self.in_flight + interval.begun).saturating_sub(ended);
        let samples = std::mem::take(&mut self.fresh);
        let tick =
            Tick { second: self.second, interval: interval.clone(), in_flight: self.in_flight, samples };
        self.second += 1;
        (self.show)(if whole { Seen::Second(&tick) } else { Seen::Rest(&tick) });
        if whole {
            for rule in &mut self.rules {
                let fired = rule.watch(&tick);
                if self.fired.is_none() && fired.is_some() {
                    self.fired = fired;
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        if let Some(kept) = &mut self.kept {
            keep(kept, Pace::from(&Second::from(&tick)));
        }
        let (writer, trial) = self.store;
        writer.tick(trial, Box::new(tick));
    }

    fn event(&mut self, kind: EventKind, code: Option<String>, text: String) {
        let (writer, trial) = self.store;
        let (at, node) = (self.since.now(), "generator".to_owned());
        let event = LogEvent { at, node, kind, code, text };
        (self.show)(Seen::Events(std::slice::from_ref(&event)));
        writer.events(trial, vec![event]);
    }
}

impl Watch for Eyes<'_> {
    fn begins(&mut self, at: Nanos) {
        self.since.begin.store(at.0, Ordering::Release);
    }

    fn tick(&mut self, interval: &Interval, _began: Nanos) {
        self.gather();
        self.second(interval, true);
    }

    fn rest(&mut self, interval: &Interval) {
        self.gather();
        self.second(interval, false);
    }

    /// The first of each code is told; all are counted elsewhere.
    fn said(&mut self, said: Said) {
        let before = self.messages.clone();
        self.messages.said(&said);
        if let (None, Said::Refused { message, .. }) = (&self.refused, &said) {
            self.refused = Some(first_words(message));
        }
        match said {
            Said::Refused { code, message, .. } | Said::Failed { code, message, .. } => {
                self.event(EventKind::Error, Some(code.to_string()), first_words(&message));
            }
            Said::Aborted { client, why, .. } => {
                self.aborted.get_or_insert_with(|| messages::reason(&why));
                let (code, words) = messages::aborted(&why);
                let first = words.lines().next().unwrap_or_default();
                if before.of(&code.to_string()).is_none() {
                    self.event(EventKind::Error, Some(code.to_string()), first.to_owned());
                }
                let text = format!("client {} gave up: its script cannot go on: {first}", client.0);
                self.event(EventKind::Other, None, text);
            }
            Said::Exhausted { feed } => {
                let text = format!("feed {feed}, whose rows are drawn once each, has none left");
                self.event(EventKind::Other, None, text);
            }
            Said::Debug { .. } => {}
        }
    }

    fn look(&mut self) {
        let (writer, _) = self.store;
        if self.interrupted.load(Ordering::Relaxed) || writer.trouble().is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
