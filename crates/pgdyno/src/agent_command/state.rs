//! State of an agent: its lease and its trial
//!
//! It reads no clock and sends nothing. Requests change it on the thread of the NATS client, and the load reads it.

use agent::protocol::{AgentAnswer, AgentRequest, Assign, SILENCE_MAX};
use agent::seal::{KeyHalf, LeaseKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

#[derive(Debug)]
pub struct AgentState {
    version: String,
    lease: Option<Lease>,
    /// Number of leases so far.
    leases: u64,
    assigned: Sender<Assign>,
}

/// Coordinator that has leased this agent.
#[derive(Debug)]
struct Lease {
    id: String,
    coordinator: String,
    key: Arc<LeaseKey>,
    /// Time of its last sign of life.
    heard: Nanos,
    trial: Option<Trial>,
}

/// Trial for which the agent prepares or generates a load.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Number of the lease among those of this agent.
    pub lease: u64,
    pub number: u32,
    /// Start of the window, by the agent's clock; `None` until the coordinator has set it.
    pub start: Option<Nanos>,
    /// Flags that end the window, and that cancel transactions in flight.
    pub stop: Arc<AtomicBool>,
    pub abandon: Arc<AtomicBool>,
}

impl AgentState {
    /// Creates the state of an agent without a lease. Assignments are sent to `assigned`.
    pub fn new(version: String, assigned: Sender<Assign>) -> AgentState {
        AgentState { version, lease: None, leases: 0, assigned }
    }

    /// Answers a request that arrived at `now`.
    pub fn answer(&mut self, request: AgentRequest, now: Nanos) -> AgentAnswer {
        self.check_silence(now);
        match request {
            AgentRequest::Lease { lease, coordinator, version, key } => {
                self.grant(lease, coordinator, &version, &key, now)
            }
            AgentRequest::Assign(assign) => match (self.leases, self.lease_of(&assign.lease, now)) {
                (number, Some(lease)) if lease.trial.is_none() => {
                    lease.trial = Some(Trial {
                        lease: number,
                        number: assign.trial,
                        start: None,
                        stop: Arc::default(),
                        abandon: Arc::default(),
                    });
                    match self.assigned.send(assign) {
                        Ok(()) => AgentAnswer::Accepted,
                        Err(_) => AgentAnswer::NotLeased,
                    }
                }
                _ => AgentAnswer::NotLeased,
            },
            AgentRequest::Start { lease, trial, at } => match self.trial_of(&lease, trial, now) {
                Some(trial) => {
                    let late = now - at;
                    trial.start = Some(at.max(now));
                    if late > Nanos::ZERO { AgentAnswer::Late { late } } else { AgentAnswer::Accepted }
                }
                None => AgentAnswer::NotLeased,
            },
            AgentRequest::Stop { lease, trial, abandon } => match self.trial_of(&lease, trial, now) {
                Some(trial) => {
                    trial.end(abandon);
                    AgentAnswer::Accepted
                }
                None => AgentAnswer::NotLeased,
            },
            AgentRequest::Release { lease } => match self.lease_of(&lease, now) {
                Some(_) => {
                    self.drop_lease();
                    AgentAnswer::Accepted
                }
                None => AgentAnswer::NotLeased,
            },
        }
    }

    fn grant(
        &mut self,
        id: String,
        coordinator: String,
        version: &str,
        key: &str,
        now: Nanos,
    ) -> AgentAnswer {
        if let Some(lease) = &self.lease {
            return AgentAnswer::Busy { coordinator: lease.coordinator.clone() };
        }
        if version != self.version {
            return AgentAnswer::OtherVersion { version: self.version.clone() };
        }
        let agreed = STANDARD.decode(key).ok().zip(KeyHalf::new().ok()).and_then(|(public, half)| {
            let ours = STANDARD.encode(half.public());
            Some((half.agree(&public, id.as_bytes()).ok()?, ours))
        });
        let Some((agreed, ours)) = agreed else { return AgentAnswer::NotLeased };
        self.leases += 1;
        self.lease = Some(Lease { id, coordinator, key: Arc::new(agreed), heard: now, trial: None });
        AgentAnswer::Leased { key: ours }
    }

    /// Notes a heartbeat. Returns true if the agent is leased by its sender.
    pub fn hear(&mut self, lease: &str, now: Nanos) -> bool {
        self.check_silence(now);
        self.lease_of(lease, now).is_some()
    }

    /// Ends the lease if its coordinator has been silent for too long. Returns true if the agent is leased.
    ///
    /// A coordinator that is gone cannot stop the load, so the agent stops it by itself.
    pub fn check_silence(&mut self, now: Nanos) -> bool {
        if self.lease.as_ref().is_some_and(|it| now - it.heard > SILENCE_MAX) {
            self.drop_lease();
        }
        self.lease.is_some()
    }

    fn drop_lease(&mut self) {
        if let Some(Lease { trial: Some(trial), .. }) = self.lease.take() {
            trial.end(true);
        }
    }

    /// Lease with this identifier, if it is the agent's. Its coordinator has just given a sign of life.
    fn lease_of(&mut self, id: &str, now: Nanos) -> Option<&mut Lease> {
        let lease = self.lease.as_mut().filter(|it| it.id == id)?;
        lease.heard = now;
        Some(lease)
    }

    fn trial_of(&mut self, lease: &str, number: u32, now: Nanos) -> Option<&mut Trial> {
        self.lease_of(lease, now)?.trial.as_mut().filter(|it| it.number == number)
    }

    pub fn coordinator(&self) -> Option<&str> {
        self.lease.as_ref().map(|it| it.coordinator.as_str())
    }

    pub fn trial(&self) -> Option<&Trial> {
        self.lease.as_ref()?.trial.as_ref()
    }

    /// Key of this lease, if it is the agent's.
    pub fn key(&self, lease: &str) -> Option<Arc<LeaseKey>> {
        self.lease.as_ref().filter(|it| it.id == lease).map(|it| Arc::clone(&it.key))
    }

    /// True if this lease is the agent's.
    pub fn is_leased(&self, lease: &str) -> bool {
        self.lease.as_ref().is_some_and(|it| it.id == lease)
    }

    /// Makes the agent ready for its next trial, unless another lease has begun.
    pub fn end_trial(&mut self, ended: &Trial) {
        let is_ended = |it: &Trial| (it.lease, it.number) == (ended.lease, ended.number);
        if let Some(lease) = &mut self.lease {
            lease.trial.take_if(|it| is_ended(it));
        }
    }
}

impl Trial {
    fn end(&self, abandon: bool) {
        self.stop.store(true, Ordering::Relaxed);
        if abandon {
            self.abandon.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn second(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    fn lease(id: &str, version: &str) -> AgentRequest {
        let key = STANDARD.encode(KeyHalf::new().expect("random").public());
        let (lease, coordinator, version) = (id.to_owned(), format!("host of {id}"), version.to_owned());
        AgentRequest::Lease { lease, coordinator, version, key }
    }

    fn assign(lease: &str, trial: u32) -> AgentRequest {
        let lease = lease.to_owned();
        AgentRequest::Assign(Assign {
            lease,
            trial,
            agent: 0,
            agents: 1,
            documents: vec![],
            first_document: 0,
        })
    }

    fn start(lease: &str, trial: u32, at: Nanos) -> AgentRequest {
        AgentRequest::Start { lease: lease.to_owned(), trial, at }
    }

    fn kind(answer: &AgentAnswer) -> String {
        let text = serde_json::to_value(answer).expect("plain data");
        text["kind"].as_str().expect("each answer has a kind").to_owned()
    }

    #[test]
    fn only_the_coordinator_of_the_lease_commands() {
        let (sender, assignments) = channel();
        let mut state = AgentState::new("1".into(), sender);
        let release = |lease: &str| AgentRequest::Release { lease: lease.to_owned() };
        let stop = |trial| AgentRequest::Stop { lease: "a".into(), trial, abandon: false };
        let rows = [
            (assign("a", 1), "not_leased"),
            (lease("a", "2"), "other_version"),
            (lease("a", "1"), "leased"),
            (lease("b", "1"), "busy"),
            (lease("a", "1"), "busy"),
            (assign("b", 1), "not_leased"),
            (start("a", 1, second(9)), "not_leased"),
            (assign("a", 1), "accepted"),
            (assign("a", 2), "not_leased"),
            (start("b", 1, second(9)), "not_leased"),
            (start("a", 2, second(9)), "not_leased"),
            (start("a", 1, second(9)), "accepted"),
            (stop(2), "not_leased"),
            (stop(1), "accepted"),
            (release("b"), "not_leased"),
            (release("a"), "accepted"),
            (release("a"), "not_leased"),
            (lease("b", "1"), "leased"),
        ];
        for (n, (request, expected)) in rows.into_iter().enumerate() {
            assert_eq!(kind(&state.answer(request, second(1))), expected, "row {n}");
        }
        assert_eq!(assignments.try_iter().count(), 1);
    }

    #[test]
    fn a_late_start_is_reported() {
        let (sender, _assignments) = channel();
        let mut state = AgentState::new("1".into(), sender);
        state.answer(lease("a", "1"), second(1));
        state.answer(assign("a", 1), second(1));
        let answer = state.answer(start("a", 1, second(2)), second(3));
        assert_eq!(answer, AgentAnswer::Late { late: second(1) });
        assert_eq!(state.trial().and_then(|it| it.start), Some(second(3)));
    }

    #[test]
    fn silence_stops_the_load_and_ends_the_lease() {
        let (sender, _assignments) = channel();
        let mut state = AgentState::new("1".into(), sender);
        state.answer(lease("a", "1"), second(1));
        state.answer(assign("a", 1), second(1));
        let trial = state.trial().expect("it was assigned").clone();
        for now in 2..=8 {
            assert!(state.hear("a", second(now)));
        }
        // Another coordinator's heartbeats are no sign of life.
        assert!(!state.hear("b", second(10)));
        assert!(state.check_silence(second(11)) && !trial.stop.load(Ordering::Relaxed));
        assert!(!state.check_silence(second(12)));
        assert!(trial.stop.load(Ordering::Relaxed) && trial.abandon.load(Ordering::Relaxed));
        assert!(!state.hear("a", second(12)), "the coordinator learns that the lease has ended");
        assert_eq!(kind(&state.answer(lease("b", "1"), second(12))), "leased");
    }
}
