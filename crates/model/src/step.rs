//! Counts of the steps of an operation: the commands of its script that send a request.

use crate::{FailureCounts, LatencyHistogram, Nanos, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Phase of an HTTP request. The phases are consecutive, and their sum is the time of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestPhase {
    /// From the request's start until the connection is open, including the wait for a free slot.
    Connect,
    /// TLS handshake.
    Tls,
    /// From sending to the first byte of the response.
    FirstByte,
    /// From the first byte of the response to its end.
    Transfer,
}

impl RequestPhase {
    /// All phases, in the order of time and of [`RequestSample::phases`].
    pub const ALL: [RequestPhase; 4] =
        [RequestPhase::Connect, RequestPhase::Tls, RequestPhase::FirstByte, RequestPhase::Transfer];

    /// Name in run files.
    pub fn name(self) -> &'static str {
        match self {
            RequestPhase::Connect => "connect",
            RequestPhase::Tls => "tls",
            RequestPhase::FirstByte => "first_byte",
            RequestPhase::Transfer => "transfer",
        }
    }
}

/// Measurement of one request of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSample {
    /// Time from the end of the previous command to the end of the response.
    pub elapsed: Nanos,
    /// Bytes sent to and received from the network, except the bytes for opening the connection.
    pub sent: u64,
    pub received: u64,
    /// Durations of the phases of an HTTP request; `None` for a phase that did not occur.
    pub phases: [Option<Nanos>; 4],
}

/// Sum of the durations of one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSum {
    pub count: u64,
    /// Sum of the durations; `max` is the longest one.
    pub sum: Nanos,
    pub max: Nanos,
}

impl PhaseSum {
    #[inline]
    fn record(&mut self, duration: Nanos) {
        self.merge(&PhaseSum { count: 1, sum: duration, max: duration });
    }

    pub fn merge(&mut self, other: &PhaseSum) {
        self.count += other.count;
        self.sum = Nanos(self.sum.0.saturating_add(other.sum.0));
        self.max = self.max.max(other.max);
    }
}

/// Counts of one command of a script. `H` is the form of the histogram.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CommandCounts<H = LatencyHistogram> {
    /// Times of the requests that succeeded.
    pub service: H,
    /// Failures that ended the transaction at this command. `unknown` counts the failures that may have had an effect.
    pub failed: FailureCounts,
    pub unknown: FailureCounts,
    /// Number of failures after which the transaction was tried again.
    pub retries: u64,
    /// Bytes of all requests, including failed ones.
    pub sent: u64,
    pub received: u64,
    /// Phases of the requests that succeeded, in the order of [`RequestPhase::ALL`].
    pub phases: [PhaseSum; 4],
}

impl<H> CommandCounts<H> {
    /// Number of requests that ended the transaction.
    pub fn failures(&self) -> u64 {
        self.failed.total() + self.unknown.total()
    }

    /// Number of failures without a response from a server.
    pub fn unanswered(&self) -> u64 {
        self.failed.unanswered() + self.unknown.total()
    }

    pub(crate) fn convert<'a, T>(&'a self, histogram: impl Fn(&'a H) -> T) -> CommandCounts<T> {
        CommandCounts {
            service: histogram(&self.service),
            failed: self.failed.clone(),
            unknown: self.unknown.clone(),
            retries: self.retries,
            sent: self.sent,
            received: self.received,
            phases: self.phases,
        }
    }

    pub(crate) fn add<T>(&mut self, other: &CommandCounts<T>, histogram: impl Fn(&mut H, &T)) {
        histogram(&mut self.service, &other.service);
        self.failed.merge(&other.failed);
        self.unknown.merge(&other.unknown);
        self.retries += other.retries;
        self.sent += other.sent;
        self.received += other.received;
        self.phases.iter_mut().zip(&other.phases).for_each(|(sum, addend)| sum.merge(addend));
    }
}

impl CommandCounts {
    /// Counts a request that succeeded.
    #[inline]
    pub fn record(&mut self, sample: &RequestSample) {
        self.service.record(sample.elapsed);
        self.record_bytes(sample);
        for (sum, duration) in self.phases.iter_mut().zip(sample.phases) {
            if let Some(duration) = duration {
                sum.record(duration);
            }
        }
    }

    /// Counts a request that failed with this outcome and ended the transaction.
    pub fn record_failure(&mut self, outcome: Outcome, sample: &RequestSample) {
        match outcome {
            Outcome::Failed(code) => self.failed.count(code),
            Outcome::Unknown(code) => self.unknown.count(code),
            Outcome::Ok | Outcome::Dropped => {}
        }
        self.record_bytes(sample);
    }

    fn record_bytes(&mut self, sample: &RequestSample) {
        self.sent += sample.sent;
        self.received += sample.received;
    }

    pub(crate) fn clear(&mut self) {
        self.service.clear();
        (self.failed, self.unknown) = (FailureCounts::default(), FailureCounts::default());
        (self.retries, self.sent, self.received) = (0, 0, 0);
        self.phases = [PhaseSum::default(); 4];
    }
}

/// First failure of a step with one code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepFailure {
    pub operation: String,
    /// Index of the command in the operation's script.
    pub command: u16,
    pub code: String,
    /// Message of the server, or the reason why the response was rejected; one line.
    pub message: String,
    /// Beginning of the body of the HTTP response, as one line of printable characters. Absent if the body has no text.
    /// Also absent if the operation's requests contain secrets, because the response may repeat them.
    pub body: Option<String>,
}
