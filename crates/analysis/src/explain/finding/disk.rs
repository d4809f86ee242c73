//! Findings: a disk or memory is the bottleneck

use super::bound::replicas;
use super::waits::{self, BOUND_SHARE_MIN, WaitClass, class_share};
use super::{CellTrials, Finding};
use crate::facts::SampleView;
use crate::facts::samples::{self, growth, is_partition_of, mean, sums};
use model::finding::{Bound, MissingInput};
use model::plan::{Limits, MetricsHost, Node};
use std::collections::BTreeSet;
use std::iter;

/// Share of a disk quota above which the quota counts as exhausted all the time. At a quota of 400, the kernel allows
/// 412 reads per second.
const QUOTA_USED_SHARE: f64 = 0.85;
/// Share of a disk quota above which the quota is exhausted at times, if most active sessions wait for the disk. Operations
/// that follow one another leave a part of each period unused.
const QUOTA_QUEUE_SHARE: f64 = 0.75;
/// Share of active sessions that counts as most.
const WAIT_SHARE_MOST: f64 = 0.5;
/// Smallest share of active sessions waiting for the disk at which an exhausted quota is the limit. A checkpoint can
/// also exhaust the quota, while no session waits for the disk.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of the memory limit above which memory counts as full.
const FULL_SHARE: f64 = 0.9;
/// Bytes read from disk per transaction above which the page cache is too small: one page for every two transactions.
const MISSED_BYTES_MIN: f64 = 4096.0;

/// Reads or writes. The arrays contain operations first, then bytes.
struct Direction {
    counters: [&'static str; 2],
    host_counters: [&'static str; 2],
    limits: [&'static str; 2],
    quotas: fn(&Limits) -> [Option<u64>; 2],
}

const READS: Direction = Direction {
    counters: [samples::CGROUP_READS, samples::CGROUP_READ_BYTES],
    host_counters: [samples::DISK_READS, samples::DISK_READ_BYTES],
    limits: ["read_iops", "read_bps"],
    quotas: |limits| [limits.read_iops, limits.read_bps],
};
const WRITES: Direction = Direction {
    counters: [samples::CGROUP_WRITES, samples::CGROUP_WRITTEN_BYTES],
    host_counters: [samples::DISK_WRITES, samples::DISK_WRITTEN_BYTES],
    limits: ["write_iops", "write_bps"],
    quotas: |limits| [limits.write_iops, limits.write_bps],
};

impl Direction {
    fn has_quota(&self, node: &Node) -> bool {
        (self.quotas)(&node.limits).iter().any(Option::is_some)
    }
}

/// Disk reads or writes of a node, and their quota.
struct DiskUsage {
    per_second: Option<f64>,
    quota: Option<f64>,
    in_bytes: bool,
}

impl DiskUsage {
    /// Disk usage relative to the quota in operations or the quota in bytes, whichever is closer to exhaustion. Without a
    /// quota, it is the usage in operations.
    fn measure(cell: &CellTrials<'_>, node: &Node, direction: &Direction) -> DiskUsage {
        let fails = |limit: &str| {
            let mut unapplied = cell.trials.iter().flat_map(|it| it.not_applied);
            unapplied.any(|it| it.node == node.name && it.limit == limit)
        };
        let host = host_of_server(cell).filter(|_| cell.server().is_some_and(|it| it.name == node.name));
        let quotas = (direction.quotas)(&node.limits);
        let usage = |at: usize| DiskUsage {
            per_second: cell.median(|trial| {
                let of_host = || whole_disks(trial.samples, host.as_deref()?, direction.host_counters[at]);
                growth(trial.samples, &node.name, direction.counters[at], |_| true).or_else(of_host)
            }),
            quota: quotas[at].filter(|_| !fails(direction.limits[at])).map(|it| it as f64),
            in_bytes: at == 1,
        };
        let used = |it: &DiskUsage| it.per_second.zip(it.quota).map_or(-1.0, |(used, quota)| used / quota);
        let [by_count, by_bytes] = [usage(0), usage(1)];
        let bytes_first =
            used(&by_bytes) > used(&by_count) || by_count.quota.is_none() && by_bytes.quota.is_some();
        if bytes_first { by_bytes } else { by_count }
    }

    /// True if the disk delays the sessions. `waits` is the share of sessions that wait for it, 0..=1.
    fn is_limiting(&self, waits: Option<f64>) -> Result<bool, MissingInput> {
        match self.quota {
            Some(quota) => {
                let used = self.per_second.ok_or(MissingInput::Group)? / quota;
                let queues = waits.is_some_and(|it| it >= WAIT_SHARE_MOST);
                let exhausted = used >= if queues { QUOTA_QUEUE_SHARE } else { QUOTA_USED_SHARE };
                Ok(exhausted && waits.is_none_or(|it| it >= WAIT_SHARE_MIN))
            }
            None => Ok(waits.ok_or(MissingInput::Server)? >= BOUND_SHARE_MIN),
        }
    }
}

/// Host of the server, if its metrics are sampled and it is the only host of the server.
fn host_of_server(cell: &CellTrials<'_>) -> Option<String> {
    let server = cell.server()?;
    match server.kind.metrics() {
        [_] => MetricsHost::all(std::slice::from_ref(server)).pop().map(|it| it.name),
        _ => None,
    }
}

/// Increase per second of a disk counter of another host, summed over its disks without their partitions.
fn whole_disks(samples: SampleView<'_>, host: &str, series: &str) -> Option<f64> {
    let devices: BTreeSet<&str> = samples.of(host, series).iter().map(|it| &*it.label).collect();
    let is_whole = |device: &str| !devices.iter().any(|whole| is_partition_of(device, whole));
    growth(samples, host, series, is_whole)
}

/// The server, and the replicas if a quota limits them in this direction.
fn nodes(cell: &CellTrials<'_>, direction: &Direction) -> Result<Vec<Node>, MissingInput> {
    let server = cell.server().ok_or(MissingInput::Server)?;
    let replicas = replicas(cell, server).into_iter().filter(|it| direction.has_quota(it));
    Ok(iter::once(server.clone()).chain(replicas).collect())
}

pub fn reads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in nodes(cell, &READS)? {
        let usage = DiskUsage::measure(cell, &node, &READS);
        let is_read = |event: &str| WaitClass::from_event(event) == Some(WaitClass::Read);
        let wait_share = waits::share_on(cell, &node.name, is_read);
        if usage.is_limiting(wait_share)? {
            let DiskUsage { per_second, quota, in_bytes } = usage;
            let bound = Bound::Reads { node: node.name, per_second, quota, wait_share, in_bytes };
            found.push(Finding::Bound { cell: cell.number, bound });
        }
    }
    Ok(found)
}

/// Findings on limiting disk writes. WAL is written to the same disk: if the quota is exhausted, sessions that wait for
/// WAL also wait for the quota. The disk of a replica delays the commits that wait for the replica.
pub fn writes(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in nodes(cell, &WRITES)? {
        let is_replica = cell.server().is_some_and(|server| server.name != node.name);
        let usage = DiskUsage::measure(cell, &node, &WRITES);
        let wait_share = match usage.quota {
            _ if is_replica => class_share(cell, WaitClass::Replicas).or(Some(0.0)),
            Some(_) => waits::share(cell, waits::is_write),
            None => class_share(cell, WaitClass::Write),
        };
        if usage.is_limiting(wait_share)? {
            let DiskUsage { per_second, quota, in_bytes } = usage;
            let bound = Bound::Writes { node: node.name, per_second, quota, wait_share, in_bytes };
            found.push(Finding::Bound { cell: cell.number, bound });
        }
    }
    Ok(found)
}

/// Findings on a memory limit. The page cache eventually fills any memory limit, so the limit delays the server only if
/// transactions wait for evicted pages.
pub fn memory(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Some(limit_bytes) = node.limits.memory.map(|it| it as f64) else { return Ok(Vec::new()) };
    let used = cell.median(|it| mean(&sums(it.samples, &node.name, samples::CGROUP_MEMORY, |_| true)));
    let used_bytes = used.ok_or(MissingInput::Group)?;
    let read_bytes_per_transaction =
        super::alternatives::read_volume(cell).disk_bytes.ok_or(MissingInput::Group)?;
    let waits = class_share(cell, WaitClass::Read).ok_or(MissingInput::Server)?;
    let bound =
        Bound::Memory { node: node.name.clone(), used_bytes, limit_bytes, read_bytes_per_transaction };
    let short = used_bytes >= FULL_SHARE * limit_bytes
        && read_bytes_per_transaction >= MISSED_BYTES_MIN
        && waits >= WAIT_SHARE_MIN;
    Ok(short.then_some(Finding::Bound { cell: cell.number, bound }).into_iter().collect())
}
