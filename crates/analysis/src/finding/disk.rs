//! Do the disk or too little memory hold the server up?

use super::samples::{self, growth, mean, sums};
use super::waits::{BOUND_SHARE_MIN, WaitClass, class_share};
use super::{CellTrials, Finding};
use model::finding::{Bound, MissingInput};
use model::plan::Limits;

/// Share of a quota from which on it is used up: the kernel lets through 412 reads a second at a quota of 400, and below
/// this it was not met all the time.
const QUOTA_USED_SHARE: f64 = 0.85;
/// Of active sessions that wait for the disk at least, where a quota is used up: others read and write too, such as
/// checkpoints, and nobody waits for them.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of its bound from which on memory is full.
const FULL: f64 = 0.9;
/// Bytes that a transaction reads from disk, from which on what was thrown out is missed: half of them read a page.
const MISSED: f64 = 4096.0;

/// What one direction of the disk has and may do.
struct DiskUsage {
    per_second: Option<f64>,
    quota: Option<f64>,
    in_bytes: bool,
}

/// Of the quotas in operations and in bytes the one that is nearer to its end; without any, operations.
fn disk_usage(
    cell: &CellTrials<'_>,
    series: [&'static str; 2],
    quotas: [Option<u64>; 2],
    names: [&str; 2],
) -> Option<DiskUsage> {
    let node = &cell.server()?.name;
    let holds = |limit: &str| {
        let fails = |it: &&super::TrialFacts<'_>| {
            it.not_applied.iter().any(|it| it.node == *node && it.limit == limit)
        };
        !cell.trials.iter().any(fails)
    };
    let flow = |at: usize| DiskUsage {
        per_second: cell.median(|it| growth(it.samples, node, series[at], |_| true)),
        quota: quotas[at].filter(|_| holds(names[at])).map(|it| it as f64),
        in_bytes: at == 1,
    };
    let used = |it: &DiskUsage| it.per_second.zip(it.quota).map_or(-1.0, |(used, of)| used / of);
    let [by_count, by_bytes] = [flow(0), flow(1)];
    Some(if used(&by_bytes) > used(&by_count) || by_count.quota.is_none() && by_bytes.quota.is_some() {
        by_bytes
    } else {
        by_count
    })
}

/// Whether it holds the sessions up, of which so many wait for it.
fn is_limiting(it: &DiskUsage, waits: Option<f64>) -> Result<bool, MissingInput> {
    match it.quota {
        Some(quota) => {
            let used = it.per_second.ok_or(MissingInput::Group)?;
            Ok(used >= QUOTA_USED_SHARE * quota && waits.is_none_or(|it| it >= WAIT_SHARE_MIN))
        }
        None => Ok(waits.ok_or(MissingInput::Server)? >= BOUND_SHARE_MIN),
    }
}

pub fn reads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Limits { read_iops, read_bps, .. } = node.limits;
    let series = [samples::CGROUP_READS, samples::CGROUP_READ_BYTES];
    let flow = disk_usage(cell, series, [read_iops, read_bps], ["read_iops", "read_bps"])
        .ok_or(MissingInput::Server)?;
    let waits = class_share(cell, WaitClass::Read);
    let DiskUsage { per_second, quota, in_bytes } = flow;
    let by = Bound::Reads { node: node.name.clone(), per_second, quota, waits, in_bytes };
    Ok(is_limiting(&flow, waits)?
        .then_some(Finding::Bound { cell: cell.number, bound: by })
        .into_iter()
        .collect())
}

/// The log is written to the same disk: where its quota is used up, who waits for the log waits for that.
pub fn writes(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Limits { write_iops, write_bps, .. } = node.limits;
    let series = [samples::CGROUP_WRITES, samples::CGROUP_WRITTEN_BYTES];
    let flow = disk_usage(cell, series, [write_iops, write_bps], ["write_iops", "write_bps"])
        .ok_or(MissingInput::Server)?;
    let mut waits = class_share(cell, WaitClass::Write);
    if flow.quota.is_some() {
        waits = waits.zip(class_share(cell, WaitClass::Log)).map(|(data, log)| data + log);
    }
    let DiskUsage { per_second, quota, in_bytes } = flow;
    let by = Bound::Writes { node: node.name.clone(), per_second, quota, waits, in_bytes };
    Ok(is_limiting(&flow, waits)?
        .then_some(Finding::Bound { cell: cell.number, bound: by })
        .into_iter()
        .collect())
}

/// A bound of memory is met by the page cache sooner or later; it holds the server up where transactions wait for what was
/// thrown out.
pub fn memory(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let Some(limit) = node.limits.memory.map(|it| it as f64) else { return Ok(Vec::new()) };
    let used = cell.median(|it| mean(&sums(it.samples, &node.name, samples::CGROUP_MEMORY, |_| true)));
    let used = used.ok_or(MissingInput::Group)?;
    let read = super::alternatives::read_volume(cell).disk.ok_or(MissingInput::Group)?;
    let waits = class_share(cell, WaitClass::Read).ok_or(MissingInput::Server)?;
    let by = Bound::Memory { node: node.name.clone(), used, limit, read };
    let short = used >= FULL * limit && read >= MISSED && waits >= WAIT_SHARE_MIN;
    Ok(short.then_some(Finding::Bound { cell: cell.number, bound: by }).into_iter().collect())
}
