//! What the load brought back.

use crate::{Effort, Interval, Latency, Nanos};

/// One measured window, all threads together.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From the first intended start to the end of the window.
    pub window: Nanos,
    pub interval: Interval,
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
