//! Do the disk or too little memory hold the server up?

use super::samples::{self, growth, mean, sums};
use super::waits::{Class, LARGE, share_of};
use super::{Cell, Finding};
use model::finding::{Bound, Missing};
use model::plan::Limits;

/// Share of a quota from which on it is used up: the kernel lets through 412 reads a second at a quota of 400, and below
/// this it was not met all the time.
const USED_UP: f64 = 0.85;
/// Of active sessions that wait for the disk at least, where a quota is used up: others read and write too, such as
/// checkpoints, and nobody waits for them.
const WAIT: f64 = 0.2;
/// Share of its bound from which on memory is full.
const FULL: f64 = 0.9;
/// Bytes that a transaction reads from disk, from which on what was thrown out is missed: half of them read a page.
const MISSED: f64 = 4096.0;

/// What one direction of the disk has and may do.
struct Flow {
    per_second: Option<f64>,
    quota: Option<f64>,
    in_bytes: bool,
}

/// Of the quotas in operations and in bytes the one that is nearer to its end; without any, operations.
fn flow(
    cell: &Cell<'_>,
    series: [&'static str; 2],
    quotas: [Option<u64>; 2],
    names: [&str; 2],
) -> Option<Flow> {
    let node = &cell.server()?.name;
    let holds = |limit: &str| {
        let fails = |it: &&super::TrialFacts<'_>| {
            it.not_applied.iter().any(|it| it.node == *node && it.limit == limit)
        };
        !cell.trials.iter().any(fails)
    };
    let flow = |at: usize| Flow {
        per_second: cell.median(|it| growth(it.samples, node, series[at], |_| true)),
        quota: quotas[at].filter(|_| holds(names[at])).map(|it| it as f64),
        in_bytes: at == 1,
    };
    let used = |it: &Flow| it.per_second.zip(it.quota).map_or(-1.0, |(used, of)| used / of);
    let [by_count, by_bytes] = [flow(0), flow(1)];
    Some(if used(&by_bytes) > used(&by_count) || by_count.quota.is_none() && by_bytes.quota.is_some() {
        by_bytes
    } else {
        by_count
    })
}

/// Whether it holds the sessions up, of which so many wait for it.
fn holds_up(it: &Flow, waits: Option<f64>) -> Result<bool, Missing> {
    match it.quota {
        Some(quota) => {
            let used = it.per_second.ok_or(Missing::Group)?;
            Ok(used >= USED_UP * quota && waits.is_none_or(|it| it >= WAIT))
        }
        None => Ok(waits.ok_or(Missing::Server)? >= LARGE),
    }
}

pub fn reads(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = cell.server().ok_or(Missing::Server)?;
    let Limits { read_iops, read_bps, .. } = node.limits;
    let series = [samples::CGROUP_READS, samples::CGROUP_READ_BYTES];
    let flow = flow(cell, series, [read_iops, read_bps], ["read_iops", "read_bps"]).ok_or(Missing::Server)?;
    let waits = share_of(cell, Class::Read);
    let Flow { per_second, quota, in_bytes } = flow;
    let by = Bound::Reads { node: node.name.clone(), per_second, quota, waits, in_bytes };
    Ok(holds_up(&flow, waits)?.then_some(Finding::Bound { cell: cell.number, by }).into_iter().collect())
}

/// The log is written to the same disk: where its quota is used up, who waits for the log waits for that.
pub fn writes(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = cell.server().ok_or(Missing::Server)?;
    let Limits { write_iops, write_bps, .. } = node.limits;
    let series = [samples::CGROUP_WRITES, samples::CGROUP_WRITTEN_BYTES];
    let flow =
        flow(cell, series, [write_iops, write_bps], ["write_iops", "write_bps"]).ok_or(Missing::Server)?;
    let mut waits = share_of(cell, Class::Write);
    if flow.quota.is_some() {
        waits = waits.zip(share_of(cell, Class::Log)).map(|(data, log)| data + log);
    }
    let Flow { per_second, quota, in_bytes } = flow;
    let by = Bound::Writes { node: node.name.clone(), per_second, quota, waits, in_bytes };
    Ok(holds_up(&flow, waits)?.then_some(Finding::Bound { cell: cell.number, by }).into_iter().collect())
}

/// A bound of memory is met by the page cache sooner or later; it holds the server up where transactions wait for what was
/// thrown out.
pub fn memory(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = cell.server().ok_or(Missing::Server)?;
    let Some(limit) = node.limits.memory.map(|it| it as f64) else { return Ok(Vec::new()) };
    let used = cell.median(|it| mean(&sums(it.samples, &node.name, samples::CGROUP_MEMORY, |_| true)));
    let used = used.ok_or(Missing::Group)?;
    let read = super::beside::read_back(cell).disk.ok_or(Missing::Group)?;
    let waits = share_of(cell, Class::Read).ok_or(Missing::Server)?;
    let by = Bound::Memory { node: node.name.clone(), used, limit, read };
    let short = used >= FULL * limit && read >= MISSED && waits >= WAIT;
    Ok(short.then_some(Finding::Bound { cell: cell.number, by }).into_iter().collect())
}
