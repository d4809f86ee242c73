//! Observer of a trial's seconds
//!
//! It combines each second with the samples of the probes, stores it, and evaluates the stop rules.

use crate::measure::LoadListener;
use crate::messages::{self, Messages};
use crate::run_result::stored::push_bounded;
use crate::trial_event::TrialEvent;
use analysis::strategy::search::SecondSummary;
use analysis::verdict::rule::{Rule, StopEvent};
use load::LoadEvent;
use load::driver::Clock;
use model::{EventKind, Interval, LogEvent, Nanos, Sample, Second, Tick};
use stack::sampler::Observation;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use store::{Note, TrialId, Writer};

/// A clock that starts with a trial's window.
#[derive(Clone, Debug)]
pub struct TrialClock {
    clock: Clock,
    /// Start of the window; `u64::MAX` before it is known.
    begin: Arc<AtomicU64>,
}

impl TrialClock {
    pub fn new(clock: Clock) -> TrialClock {
        TrialClock { clock, begin: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Time since the window began; zero before it.
    pub fn now(&self) -> Nanos {
        self.since_begin(self.clock.now())
    }

    /// Time from the start of the window to `at`, a time of the underlying clock.
    pub fn since_begin(&self, at: Nanos) -> Nanos {
        at - Nanos(self.begin.load(Ordering::Acquire))
    }

    /// Start of the window by the underlying clock; `None` before it.
    pub fn window_start(&self) -> Option<Nanos> {
        Some(Nanos(self.begin.load(Ordering::Acquire))).filter(|it| *it != Nanos::MAX)
    }
}

/// Longest stored server message, in characters.
const MESSAGE_CHARS: usize = 1000;

/// First line of a server's message, cut to [`MESSAGE_CHARS`].
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().chars().take(MESSAGE_CHARS).collect()
}

/// Observer of one trial: combines ticks, samples and events.
pub struct Observer<'a> {
    observations: Receiver<Observation>,
    rules: Vec<Rule>,
    store: (&'a Writer, TrialId),
    show: &'a mut dyn FnMut(TrialEvent<'_>),
    since: TrialClock,
    /// Set by the observer to end the trial.
    stop: &'a AtomicBool,
    /// Set when the user interrupts the run.
    interrupted: &'a AtomicBool,
    fired: Option<StopEvent>,
    second: u64,
    in_flight: u64,
    /// Samples that arrived since the last tick.
    pending_samples: Vec<Sample>,
    /// Error of the first client that could not connect.
    connect_error: Option<String>,
    /// Reason why the first client aborted.
    aborted: Option<String>,
    /// First feed that had no row left, as an index into the plan's feeds.
    exhausted_feed: Option<u16>,
    /// Names of the plan's feeds.
    feeds: Vec<String>,
    messages: Messages,
    /// All seconds of the trial; `None` if they are not needed afterwards.
    seconds: Option<Vec<SecondSummary>>,
}

impl<'a> Observer<'a> {
    /// Creates an observer. `show` receives each event. `stop` ends the trial. The user sets `interrupted`.
    pub fn new(
        observations: Receiver<Observation>,
        rules: Vec<Rule>,
        store: (&'a Writer, TrialId),
        show: &'a mut dyn FnMut(TrialEvent<'_>),
        since: TrialClock,
        (stop, interrupted): (&'a AtomicBool, &'a AtomicBool),
        keep: bool,
    ) -> Observer<'a> {
        let (second, in_flight, fresh) = (0, 0, Vec::new());
        let (fired, refused, aborted) = (None, None, None);
        Observer {
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
            pending_samples: fresh,
            connect_error: refused,
            aborted,
            exhausted_feed: None,
            feeds: Vec::new(),
            messages: Messages::default(),
            seconds: keep.then(Vec::new),
        }
    }

    /// Sets the names of the plan's feeds, for events.
    pub fn with_feeds(self, feeds: Vec<String>) -> Observer<'a> {
        Observer { feeds, ..self }
    }

    /// Ends the observer after the last samples. Returns the stop rule's event if one fired, the rules that never had a
    /// value, and the kept seconds.
    pub fn finish(mut self) -> (Option<StopEvent>, Vec<String>, Vec<SecondSummary>) {
        self.receive();
        let blind = self.rules.iter().filter(|it| it.is_blind()).map(|it| it.text().to_owned()).collect();
        let (writer, trial) = self.store;
        writer.samples(trial, self.pending_samples);
        (self.fired, blind, self.seconds.unwrap_or_default())
    }

    /// Error of the first client that could not connect.
    pub fn connect_error(&self) -> Option<String> {
        self.connect_error.clone()
    }

    /// Reason why the first client aborted, if one did.
    pub fn aborted(&self) -> Option<String> {
        self.aborted.clone()
    }

    /// Feed that ran out of rows and so ended the load, as an index into the plan's feeds. `None` if no feed did.
    pub fn exhausted_feed(&self) -> Option<u16> {
        self.exhausted_feed
    }

    /// Messages of the failures.
    pub fn messages(&self) -> Messages {
        self.messages.clone()
    }

    /// Receives and stores all observations that the probes have sent.
    fn receive(&mut self) {
        let (writer, trial) = self.store;
        let mut events = Vec::new();
        while let Ok(observation) = self.observations.try_recv() {
            match observation {
                Observation::Samples(all) => self.pending_samples.extend(all),
                Observation::Event(it) => events.push(it),
                Observation::Missing { node, probe, reason } => {
                    let subject = format!("{node}: {probe}");
                    writer.note(Note { trial: Some(trial), subject, text: reason });
                }
            }
        }
        // All events go into one message, because the store's queue is bounded by its number of messages.
        if !events.is_empty() {
            (self.show)(TrialEvent::Events(&events));
            writer.events(trial, events);
        }
    }

    fn end_second(&mut self, interval: &Interval, is_full: bool) {
        let ended: u64 = interval.scripts.iter().map(|it| it.arrivals() - it.dropped).sum();
        self.in_flight = (self.in_flight + interval.started).saturating_sub(ended);
        let samples = std::mem::take(&mut self.pending_samples);
        let tick =
            Tick { second: self.second, interval: interval.clone(), in_flight: self.in_flight, samples };
        self.second += 1;
        (self.show)(if is_full { TrialEvent::Second(&tick) } else { TrialEvent::Rest(&tick) });
        if is_full {
            for rule in &mut self.rules {
                let fired = rule.tick(&tick);
                if self.fired.is_none() && fired.is_some() {
                    self.fired = fired;
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        if let Some(seconds) = &mut self.seconds {
            push_bounded(seconds, SecondSummary::from(&Second::from(&tick)));
        }
        let (writer, trial) = self.store;
        writer.tick(trial, Box::new(tick));
    }

    fn push_event(&mut self, kind: EventKind, code: Option<String>, text: String) {
        let (writer, trial) = self.store;
        let (at, node) = (self.since.now(), "generator".to_owned());
        let event = LogEvent { at, node, kind, code, text, session: None };
        (self.show)(TrialEvent::Events(std::slice::from_ref(&event)));
        writer.events(trial, vec![event]);
    }
}

impl LoadListener for Observer<'_> {
    fn on_begin(&mut self, at: Nanos) {
        self.since.begin.store(at.0, Ordering::Release);
    }

    fn on_tick(&mut self, interval: &Interval, _start: Nanos) {
        self.receive();
        self.end_second(interval, true);
    }

    fn on_rest(&mut self, interval: &Interval) {
        self.receive();
        self.end_second(interval, false);
    }

    /// Keeps the first message of each code. The load counts all failures itself.
    fn on_event(&mut self, event: LoadEvent) {
        let before = self.messages.clone();
        self.messages.add_event(&event);
        if let (None, LoadEvent::Refused { message, .. }) = (&self.connect_error, &event) {
            self.connect_error = Some(first_line(message));
        }
        match event {
            LoadEvent::Refused { code, message, .. } | LoadEvent::Failed { code, message, .. } => {
                self.push_event(EventKind::Error, Some(code.to_string()), first_line(&message));
            }
            LoadEvent::Aborted { client, reason, .. } => {
                self.aborted.get_or_insert_with(|| messages::reason(&reason));
                let (code, words) = messages::abort_message(&reason);
                let first = words.lines().next().unwrap_or_default();
                if before.find(&code.to_string()).is_none() {
                    self.push_event(EventKind::Error, Some(code.to_string()), first.to_owned());
                }
                let text = format!("client {} aborted: its script cannot continue: {first}", client.0);
                self.push_event(EventKind::Other, None, text);
            }
            // A feed without rows ends the load of all threads, including those that seldom draw from it. Each thread
            // reports it.
            LoadEvent::Exhausted { feed } => {
                self.stop.store(true, Ordering::Relaxed);
                if self.exhausted_feed.replace(feed).is_none() {
                    let name = self.feeds.get(usize::from(feed)).map_or("", String::as_str);
                    let text = format!("feed {name} is exhausted: each of its rows has been used once");
                    self.push_event(EventKind::Other, None, text);
                }
            }
            LoadEvent::Debug { .. } => {}
        }
    }

    fn poll(&mut self) {
        let (writer, _) = self.store;
        if self.interrupted.load(Ordering::Relaxed) || writer.error().is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
