//! Findings: a disk or memory is the bottleneck

use super::waits::{BOUND_SHARE_MIN, WaitClass, class_share};
use super::{CellTrials, Finding};
use crate::facts::samples::{self, growth, is_partition_of, mean, sums};
use model::Sample;
use model::finding::{Bound, MissingInput};
use model::plan::{Limits, MetricsHost};
use std::collections::BTreeSet;

/// Share of a disk quota above which the quota counts as exhausted all the time. At a quota of 400, the kernel allows
/// 412 reads per second.
const QUOTA_USED_SHARE: f64 = 0.85;
/// Smallest share of active sessions waiting for the disk at which an exhausted quota is the limit. A checkpoint can
/// also exhaust the quota, while no session waits for the disk.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of the memory limit above which memory counts as full.
const FULL_SHARE: f64 = 0.9;
/// Bytes read from disk per transaction above which the page cache is too small: one page for every two transactions.
const MISSED_BYTES_MIN: f64 = 4096.0;

/// Disk reads or writes of a node, and their quota.
struct DiskUsage {
    per_second: Option<f64>,
    quota: Option<f64>,
    in_bytes: bool,
}

/// Disk usage relative to the quota in operations or the quota in bytes, whichever is closer to exhaustion. Without a
/// quota, it is the usage in operations.
fn disk_usage(
    cell: &CellTrials<'_>,
    series: [&'static str; 2],
    host_series: [&'static str; 2],
    quotas: [Option<u64>; 2],
    names: [&str; 2],
) -> Option<DiskUsage> {
    let node = &cell.server()?.name;
    let holds = |limit: &str| {
        let fails = |trial: &&super::TrialFacts<'_>| {
            trial.not_applied.iter().any(|it| it.node == *node && it.limit == limit)
        };
        !cell.trials.iter().any(fails)
    };
    let host = host_of_server(cell);
    let flow = |at: usize| DiskUsage {
        per_second: cell.median(|trial| {
            let of_host = || whole_disks(trial.samples, host.as_deref()?, host_series[at]);
            growth(trial.samples, node, series[at], |_| true).or_else(of_host)
        }),
        quota: quotas[at].filter(|_| holds(names[at])).map(|it| it as f64),
        in_bytes: at == 1,
    };
    let used = |it: &DiskUsage| it.per_second.zip(it.quota).map_or(-1.0, |(used, quota)| used / quota);
    let [by_count, by_bytes] = [flow(0), flow(1)];
    Some(if used(&by_bytes) > used(&by_count) || by_count.quota.is_none() && by_bytes.quota.is_some() {
        by_bytes
    } else {
        by_count
    })
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
fn whole_disks(samples: &[Sample], host: &str, series: &str) -> Option<f64> {
    let its = samples.iter().filter(|it| it.node == host && it.series == series);
    let devices: BTreeSet<&str> = its.map(|it| &*it.label).collect();
    let is_whole = |device: &str| !devices.iter().any(|whole| is_partition_of(device, whole));
    growth(samples, host, series, is_whole)
}

/// True if the disk delays the sessions. `waits` is the share of sessions that wait for it, 0..=1.
fn is_limiting(usage: &DiskUsage, waits: Option<f64>) -> Result<bool, MissingInput> {
    match usage.quota {
        Some(quota) => {
            let used = usage.per_second.ok_or(MissingInput::Group)?;
            Ok(used >= QUOTA_USED_SHARE * quota && waits.is_none_or(|it| it >= WAIT_SHARE_MIN))
        }
        None => Ok(waits.ok_or(MissingInput::Server)? >= BOUND_SHARE_MIN),
    }
}

pub fn reads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Limits { read_iops, read_bps, .. } = node.limits;
    let series = [samples::CGROUP_READS, samples::CGROUP_READ_BYTES];
    let host_series = [samples::DISK_READS, samples::DISK_READ_BYTES];
    let flow = disk_usage(cell, series, host_series, [read_iops, read_bps], ["read_iops", "read_bps"])
        .ok_or(MissingInput::Server)?;
    let wait_share = class_share(cell, WaitClass::Read);
    let DiskUsage { per_second, quota, in_bytes } = flow;
    let bound = Bound::Reads { node: node.name.clone(), per_second, quota, wait_share, in_bytes };
    Ok(is_limiting(&flow, wait_share)?
        .then_some(Finding::Bound { cell: cell.number, bound })
        .into_iter()
        .collect())
}

/// Findings on limiting disk writes. WAL is written to the same disk: if the quota is exhausted, sessions that wait for
/// WAL also wait for the quota.
pub fn writes(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Limits { write_iops, write_bps, .. } = node.limits;
    let series = [samples::CGROUP_WRITES, samples::CGROUP_WRITTEN_BYTES];
    let host_series = [samples::DISK_WRITES, samples::DISK_WRITTEN_BYTES];
    let flow = disk_usage(cell, series, host_series, [write_iops, write_bps], ["write_iops", "write_bps"])
        .ok_or(MissingInput::Server)?;
    let mut wait_share = class_share(cell, WaitClass::Write);
    if flow.quota.is_some() {
        wait_share = wait_share.zip(class_share(cell, WaitClass::Log)).map(|(data, log)| data + log);
    }
    let DiskUsage { per_second, quota, in_bytes } = flow;
    let bound = Bound::Writes { node: node.name.clone(), per_second, quota, wait_share, in_bytes };
    Ok(is_limiting(&flow, wait_share)?
        .then_some(Finding::Bound { cell: cell.number, bound })
        .into_iter()
        .collect())
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
