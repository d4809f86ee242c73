//! What the load brought back.

use crate::{Effort, Interval, Latency, Nanos};
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
    pub unended: bool,
    /// Whether users were turned away and did not only wait: each of its whole seconds brought failures or refused connections,
    /// or nothing was under way when its seconds ended. Shorter than a second: the seconds around it brought failures.
    pub failing: bool,
}

impl Outage {
    pub fn length(&self) -> Nanos {
        self.to - self.from
    }
}

/// One measured window, all threads together.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From the first intended start to the end of the window.
    pub window: Nanos,
    pub interval: Interval,
    /// Every tenth of a second and more without a success, in order.
    pub outages: Vec<Outage>,
    /// Transactions that ended well within the window, by client.
    pub clients: Vec<u64>,
    /// By thread.
    pub efforts: Vec<Effort>,
    /// From the first `connect` to the last log-in before the window.
    pub connecting: Nanos,
    /// Clients that gave up, because their script cannot go on.
    pub aborted: u32,
    /// Lateness of a thread that slept until a moment and did nothing else, on the same host at the same time.
    pub jitter: Latency,
    /// The clock that goes on in suspend minus the one that stops: how long the machine was suspended.
    pub suspended: Nanos,
    /// Processor time that the hypervisor gave to others, over all processors; `None` where the kernel does not tell.
    pub stolen: Option<Nanos>,
    /// Connections that could not be opened because file descriptors or local ports ran out.
    pub exhausted: u64,
}
