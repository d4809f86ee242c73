//! What the load brought back.

use crate::{Interval, LatencyHistogram, Nanos, ThreadUsage};
use serde::{Deserialize, Serialize};

/// A stretch of the window in which no transaction ended well although some were under way or failed. At least a tenth of a
/// second long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Since the window's beginning: the last success before it, or zero.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// The first success after it, or the end of the window.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// Whether it lasted to the end of the window.
    #[serde(rename = "unended")]
    pub ongoing: bool,
    /// Whether users were turned away and did not only wait: each of its whole seconds brought failures or refused connections,
    /// or nothing was under way when its seconds ended. Shorter than a second: the seconds around it brought failures.
    pub failing: bool,
}

impl Outage {
    pub fn duration(&self) -> Nanos {
        self.to - self.from
    }
}

/// One measured window, all threads together.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// From the first intended start to the end of the window.
    pub window: Nanos,
    pub interval: Interval,
    /// Every tenth of a second and more without a success, in order.
    pub outages: Vec<Outage>,
    /// Transactions that ended well within the window, by client.
    pub clients: Vec<u64>,
    /// By thread.
    pub thread_usage: Vec<ThreadUsage>,
    /// From the first `connect` to the last log-in before the window.
    pub connect_time: Nanos,
    /// Clients that gave up, because their script cannot go on.
    pub aborted_clients: u32,
    /// Lateness of a thread that slept until a moment and did nothing else, on the same host at the same time.
    pub jitter: LatencyHistogram,
    /// The clock that goes on in suspend minus the one that stops: how long the machine was suspended.
    pub suspended: Nanos,
    /// Processor time that the hypervisor gave to others, over all processors; `None` where the kernel does not tell.
    pub steal_time: Option<Nanos>,
    /// Connections that could not be opened because file descriptors or local ports ran out.
    pub exhausted_connects: u64,
}
