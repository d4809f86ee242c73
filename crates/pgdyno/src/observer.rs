//! Observer of a trial's seconds
//!
//! The observer combines each second with the samples of the probes, stores the second, and evaluates the stop rules.

use crate::cli::language;
use crate::measure::LoadListener;
use crate::messages::{self, Messages};
use crate::run_result::stored::push_bounded;
use crate::trial_event::TrialEvent;
use analysis::strategy::search::SecondSummary;
use analysis::verdict::rule::{Rule, StopEvent};
use load::LoadEvent;
use load::driver::Clock;
use model::fact::Fact;
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{ON_START, Operation};
use model::{Code, EventKind, Interval, LogEvent, Nanos, Sample, ScriptId, Second, StepFailure, Tick};
use stack::sampler::Observation;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use store::{TrialId, Writer};

/// Clock that starts at the beginning of a trial's window.
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

    /// Time since the window began; zero before the window.
    pub fn now(&self) -> Nanos {
        self.since_begin(self.clock.now())
    }

    /// Time from the start of the window to `at`, a time of the underlying clock.
    pub fn since_begin(&self, at: Nanos) -> Nanos {
        at - Nanos(self.begin.load(Ordering::Acquire))
    }

    /// Start of the window by the underlying clock; `None` before the window.
    pub fn window_start(&self) -> Option<Nanos> {
        Some(Nanos(self.begin.load(Ordering::Acquire))).filter(|it| *it != Nanos::MAX)
    }
}

/// Maximum length of a stored server message, in characters.
const MESSAGE_CHARS: usize = 1000;

/// First line of a server's message, truncated to [`MESSAGE_CHARS`].
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().chars().take(MESSAGE_CHARS).collect()
}

/// Largest number of stored failures of steps in a trial.
const STEP_FAILURES_MAX: usize = 64;
/// Maximum length of the stored beginning of a body, in characters.
const BODY_CHARS: usize = 160;

/// Beginning of a body, in one line and without control characters; `None` if the body is empty or not text.
fn excerpt(body: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        // The end of the excerpt may split a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&body[..error.valid_up_to()]).expect("this part is valid")
        }
        Err(_) => return None,
    };
    let is_blank = |it: char| it.is_control() || it.is_whitespace();
    let words: Vec<&str> = text.split(is_blank).filter(|it| !it.is_empty()).collect();
    let line = words.join(" ");
    let short: String = line.chars().take(BODY_CHARS).collect();
    match short.len() < line.len() {
        true => Some(short + "…"),
        false => Some(short).filter(|it| !it.is_empty()),
    }
}

/// Observer of one trial: combines ticks, samples and events.
pub struct Observer<'a> {
    observations: Receiver<Observation>,
    rules: Vec<Rule>,
    store: (&'a Writer, TrialId),
    show: &'a mut dyn FnMut(TrialEvent<'_>),
    trial_clock: TrialClock,
    /// Flag that the observer sets to end the trial.
    stop: &'a AtomicBool,
    /// Flag that is set when the user interrupts the run.
    interrupted: &'a AtomicBool,
    fired: Option<StopEvent>,
    second: u64,
    in_flight: u64,
    /// Samples that arrived since the last tick.
    pending_samples: Vec<Sample>,
    /// Error of the first client that could not connect.
    connect_error: Option<String>,
    /// Reason why the first client aborted.
    aborted: Option<Message>,
    /// First failure of the requests at the start of a client.
    on_start_error: Option<String>,
    /// First feed that was exhausted, as an index into the plan's feeds.
    exhausted_feed: Option<u16>,
    /// Names of the plan's feeds.
    feeds: Vec<String>,
    messages: Messages,
    /// Operations of the plan, and the step failures that were already stored.
    operations: &'a [Operation],
    step_failures: Vec<(u16, u16, Code)>,
    /// All seconds of the trial; `None` if they are not needed after the trial.
    seconds: Option<Vec<SecondSummary>>,
}

impl<'a> Observer<'a> {
    /// Creates an observer. It passes each event to `show`, and sets `stop` to end the trial. `interrupted` is set when
    /// the user interrupts the run.
    pub fn new(
        observations: Receiver<Observation>,
        rules: Vec<Rule>,
        store: (&'a Writer, TrialId),
        show: &'a mut dyn FnMut(TrialEvent<'_>),
        trial_clock: TrialClock,
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
            trial_clock,
            stop,
            interrupted,
            fired,
            second,
            in_flight,
            pending_samples: fresh,
            connect_error: refused,
            aborted,
            on_start_error: None,
            exhausted_feed: None,
            feeds: Vec::new(),
            messages: Messages::default(),
            operations: &[],
            step_failures: Vec::new(),
            seconds: keep.then(Vec::new),
        }
    }

    /// Sets the names of the plan's feeds, for events.
    pub fn with_feeds(self, feeds: Vec<String>) -> Observer<'a> {
        Observer { feeds, ..self }
    }

    /// Sets the plan's operations, for failures of their steps.
    pub fn with_operations(self, operations: &'a [Operation]) -> Observer<'a> {
        Observer { operations, ..self }
    }

    /// True for the script that clients execute before their first operation.
    fn is_on_start(&self, script: ScriptId) -> bool {
        !self.operations.is_empty() && usize::from(script.0) >= self.operations.len()
    }

    /// Stores the first failure of each step with each code.
    fn store_step_failure(&mut self, event: &LoadEvent) {
        let aborted;
        let (script, command, code, message, body) = match event {
            LoadEvent::Failed { script, command, code, message, body, .. } => {
                (script.0, *command, *code, message, body.as_slice())
            }
            LoadEvent::Aborted { script, command, reason, .. } => {
                let (code, message) = messages::abort_message(reason);
                aborted = (code, language::selected().message(&message));
                (script.0, *command, aborted.0, &aborted.1, &[][..])
            }
            _ => return,
        };
        let Some(operation) = self.operations.get(usize::from(script)) else { return };
        let key = (script, command, code);
        if self.step_failures.len() >= STEP_FAILURES_MAX || self.step_failures.contains(&key) {
            return;
        }
        self.step_failures.push(key);
        let failure = StepFailure {
            operation: operation.name.clone(),
            command,
            code: code.to_string(),
            message: first_line(message),
            body: Some(body).filter(|_| !operation.text().contains("${env:")).and_then(excerpt),
        };
        let (writer, trial) = self.store;
        writer.fact(Some(trial), Fact::StepFailure(failure));
    }

    /// Ends the observer after the last samples. Returns the event of the stop rule if one fired, the rules that never
    /// had a value, and the collected seconds.
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

    /// First failure of the requests at the start of a client, if one failed.
    pub fn on_start_error(&self) -> Option<String> {
        self.on_start_error.clone()
    }

    /// Reason why the first client aborted, if one did.
    pub fn aborted(&self) -> Option<Message> {
        self.aborted.clone()
    }

    /// Feed whose exhaustion ended the load, as an index into the plan's feeds; `None` if no feed was exhausted.
    pub fn exhausted_feed(&self) -> Option<u16> {
        self.exhausted_feed
    }

    /// First server message for each failure code.
    pub fn messages(&self) -> Messages {
        self.messages.clone()
    }

    /// Receives and stores all observations that the probes have sent.
    fn receive(&mut self) {
        let (writer, trial) = self.store;
        let (mut events, mut deadlocks) = (Vec::new(), Vec::new());
        while let Ok(observation) = self.observations.try_recv() {
            match observation {
                Observation::Samples(all) => self.pending_samples.extend(all),
                Observation::Event(it) => events.push(it),
                // Deadlocks before the window are events only.
                Observation::Deadlock(it) if it.first == Nanos::ZERO => {}
                Observation::Deadlock(it) => it.add_to(&mut deadlocks),
                Observation::Note { node, message } => {
                    let subject = Message::text(node);
                    writer.fact(Some(trial), Fact::Note(Note { subject, message }));
                }
                Observation::Missing { node, probe, reason } => {
                    let subject = Message::text(format!("{node}: {probe}"));
                    writer.fact(Some(trial), Fact::Note(Note { subject, message: reason }));
                }
            }
        }
        // Send all events in one message, because the store's queue holds a limited number of messages.
        if !events.is_empty() {
            (self.show)(TrialEvent::Events(&events));
            writer.events(trial, events);
        }
        if !deadlocks.is_empty() {
            writer.fact(Some(trial), Fact::Deadlocks(deadlocks));
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
        let (at, node) = (self.trial_clock.now(), "generator".to_owned());
        let event = LogEvent { at, node, kind, code, text, session: None };
        (self.show)(TrialEvent::Events(std::slice::from_ref(&event)));
        writer.events(trial, vec![event]);
    }
}

impl LoadListener for Observer<'_> {
    fn on_begin(&mut self, at: Nanos) {
        self.trial_clock.begin.store(at.0, Ordering::Release);
    }

    fn on_tick(&mut self, interval: &Interval, _start: Nanos) {
        self.receive();
        self.end_second(interval, true);
    }

    fn on_samples(&mut self, samples: Vec<Sample>) {
        self.pending_samples.extend(samples);
    }

    fn on_rest(&mut self, interval: &Interval) {
        self.receive();
        self.end_second(interval, false);
    }

    /// Stores the first message for each code. The load threads count all failures.
    fn on_event(&mut self, event: LoadEvent) {
        let before = self.messages.clone();
        self.messages.add_event(&event);
        self.store_step_failure(&event);
        if let (None, LoadEvent::Refused { message, .. }) = (&self.connect_error, &event) {
            self.connect_error = Some(first_line(message));
        }
        match event {
            LoadEvent::Failed { script, code, message, .. } if self.is_on_start(script) => {
                let text = format!("{ON_START}: {}", first_line(&message));
                self.connect_error.get_or_insert_with(|| text.clone());
                self.on_start_error.get_or_insert_with(|| first_line(&message));
                self.push_event(EventKind::Error, Some(code.to_string()), text);
            }
            LoadEvent::Refused { code, message, .. } | LoadEvent::Failed { code, message, .. } => {
                self.push_event(EventKind::Error, Some(code.to_string()), first_line(&message));
            }
            LoadEvent::Aborted { client, reason, .. } => {
                self.aborted.get_or_insert_with(|| messages::reason(&reason));
                let (lang, (code, message)) = (language::selected(), messages::abort_message(&reason));
                let text = lang.message(&message);
                let first = text.lines().next().unwrap_or_default();
                if before.find(&code.to_string()).is_none() {
                    self.push_event(EventKind::Error, Some(code.to_string()), first.to_owned());
                }
                let aborted = message!("abort-client", client = client.0.to_string(), reason = first);
                self.push_event(EventKind::Other, None, lang.message(&aborted));
            }
            // An exhausted feed ends the load of all threads, including threads that seldom draw from it. Each thread
            // reports the feed.
            LoadEvent::Exhausted { feed } => {
                self.stop.store(true, Ordering::Relaxed);
                if self.exhausted_feed.replace(feed).is_none() {
                    let name = self.feeds.get(usize::from(feed)).map_or("", String::as_str);
                    let exhausted = message!("abort-feed-exhausted", name);
                    self.push_event(EventKind::Other, None, language::selected().message(&exhausted));
                }
            }
            LoadEvent::Notice { .. } | LoadEvent::Debug { .. } | LoadEvent::Step { .. } => {}
        }
    }

    fn poll(&mut self) {
        let (writer, _) = self.store;
        if self.interrupted.load(Ordering::Relaxed) || writer.error().is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_text() {
        let long = "я".repeat(200);
        let cut = format!("{}…", "я".repeat(BODY_CHARS));
        for (body, expected) in [
            (&b""[..], None),
            (b" \r\n", None),
            (b"out of\r\n\x1b[2Jmoney\0", Some("out of [2Jmoney")),
            (b"\x1f\x8b\x08\0\xff", None),
            ("цена".as_bytes(), Some("цена")),
            (&"цена".as_bytes()[..7], Some("цен")),
            (long.as_bytes(), Some(&cut)),
        ] {
            assert_eq!(excerpt(body).as_deref(), expected, "{body:?}");
        }
    }
}
