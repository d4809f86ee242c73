//! Files of a control group, and the values that set its limits

use super::device::Disk;
use super::{CgroupVersion, Limit, UnappliedLimit, UnappliedReason};
use model::plan::Limits;

/// Value to write to a file of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CgroupWrite {
    pub limit: Limit,
    pub controller: &'static str,
    pub file: &'static str,
    pub value: String,
    /// True if some kernels lack the file; the limit works without it.
    pub optional: bool,
}

/// Period of the CPU quota, µs. With the kernel's default of 100 ms, a node with 0.1 CPU would run for 10 ms and then
/// be throttled for 90 ms.
const QUOTA_PERIOD: f64 = 10_000.0;
/// Smallest quota that the kernel accepts, µs; `kernel/sched/core.c`, `min_cfs_quota_period`.
const MIN_QUOTA: f64 = 1_000.0;

/// Swap allowance of a version 1 group, bytes. Without it, the limit on memory plus swap would be reached first, and
/// the kernel does not count failures of this limit (seen with Linux 6.18).
const SWAP_ALLOWANCE: u64 = 1 << 20;

/// Computes the values to write, in order, and the limits that cannot be set. Calls `disk` only if an I/O limit is set.
pub(super) fn cgroup_writes(
    limits: &Limits,
    version: CgroupVersion,
    disk: impl FnOnce() -> Result<Disk, UnappliedReason>,
) -> (Vec<CgroupWrite>, Vec<UnappliedLimit>) {
    let mut lines = Vec::new();
    let mut line = |limit, controller, file, value: String, optional| {
        lines.push(CgroupWrite { limit, controller, file, value, optional });
    };
    if let Some(cpu) = limits.cpu {
        let period = QUOTA_PERIOD.max((MIN_QUOTA / cpu).ceil());
        let quota = (cpu * period).round().max(MIN_QUOTA);
        match version {
            CgroupVersion::V1 => {
                line(Limit::Cpu, "cpu", "cpu.cfs_period_us", format!("{period}"), false);
                line(Limit::Cpu, "cpu", "cpu.cfs_quota_us", format!("{quota}"), false);
            }
            CgroupVersion::V2 => line(Limit::Cpu, "cpu", "cpu.max", format!("{quota} {period}"), false),
        }
    }
    if let Some(bytes) = limits.memory {
        // Allow no swap, because it would only hide a shortage of memory. In version 1, the limit on memory plus swap
        // must never be below the limit on memory, so first remove the limit on memory plus swap.
        match version {
            CgroupVersion::V1 => {
                line(Limit::Memory, "memory", "memory.memsw.limit_in_bytes", "-1".to_owned(), true);
                line(Limit::Memory, "memory", "memory.limit_in_bytes", bytes.to_string(), false);
                let both = (bytes + SWAP_ALLOWANCE).to_string();
                line(Limit::Memory, "memory", "memory.memsw.limit_in_bytes", both, true);
            }
            CgroupVersion::V2 => {
                line(Limit::Memory, "memory", "memory.max", bytes.to_string(), false);
                line(Limit::Memory, "memory", "memory.swap.max", "0".to_owned(), true);
            }
        }
    }
    let io = [
        (Limit::ReadIops, limits.read_iops, "blkio.throttle.read_iops_device", "riops"),
        (Limit::WriteIops, limits.write_iops, "blkio.throttle.write_iops_device", "wiops"),
        (Limit::ReadBps, limits.read_bps, "blkio.throttle.read_bps_device", "rbps"),
        (Limit::WriteBps, limits.write_bps, "blkio.throttle.write_bps_device", "wbps"),
    ];
    let mut impossible = Vec::new();
    if io.iter().any(|it| it.1.is_some()) {
        match disk() {
            Ok(disk) => {
                // Unlimited rates are written too, because the group may have had a limit before.
                for (limit, value, file, key) in io {
                    let none = value.is_none();
                    let number = |text: &str| value.map_or(text.to_owned(), |it| it.to_string());
                    match version {
                        CgroupVersion::V1 => {
                            line(limit, "blkio", file, format!("{disk} {}", number("0")), none);
                        }
                        CgroupVersion::V2 => {
                            line(limit, "io", "io.max", format!("{disk} {key}={}", number("max")), none);
                        }
                    }
                }
            }
            Err(reason) => {
                let requested = io.iter().filter(|it| it.1.is_some());
                impossible.extend(requested.map(|it| UnappliedLimit { limit: it.0, reason: reason.clone() }));
            }
        }
    }
    if !limits.cpus.is_empty() {
        let list = limits.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        line(Limit::Cpus, "cpuset", "cpuset.cpus", list, false);
    }
    (lines, impossible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_limits_for_both_versions() {
        let check = |limits: Limits, expected: [&[&str]; 2]| {
            for (version, expected) in [CgroupVersion::V1, CgroupVersion::V2].into_iter().zip(expected) {
                let (lines, impossible) =
                    cgroup_writes(&limits, version, || Ok(Disk { major: 254, minor: 0 }));
                let shown = lines.iter().map(|line| {
                    format!(
                        "{} {}={}{}",
                        line.controller,
                        line.file,
                        line.value,
                        if line.optional { "?" } else { "" }
                    )
                });
                assert_eq!(shown.collect::<Vec<_>>(), expected);
                assert_eq!(impossible, []);
            }
        };
        let none = Limits::default;
        check(none(), [&[], &[]]);
        let cpu = |share: f64| Limits { cpu: Some(share), ..none() };
        check(
            cpu(0.1),
            [&["cpu cpu.cfs_period_us=10000", "cpu cpu.cfs_quota_us=1000"], &["cpu cpu.max=1000 10000"]],
        );
        check(
            cpu(2.5),
            [&["cpu cpu.cfs_period_us=10000", "cpu cpu.cfs_quota_us=25000"], &["cpu cpu.max=25000 10000"]],
        );
        // A quota of less than a tenth of a CPU needs a longer period.
        check(
            cpu(0.03),
            [&["cpu cpu.cfs_period_us=33334", "cpu cpu.cfs_quota_us=1000"], &["cpu cpu.max=1000 33334"]],
        );
        check(
            Limits { memory: Some(1 << 20), ..none() },
            [
                &[
                    "memory memory.memsw.limit_in_bytes=-1?",
                    "memory memory.limit_in_bytes=1048576",
                    "memory memory.memsw.limit_in_bytes=2097152?",
                ],
                &["memory memory.max=1048576", "memory memory.swap.max=0?"],
            ],
        );
        check(
            Limits { read_iops: Some(1), write_iops: Some(2), read_bps: Some(3), ..none() },
            [
                &[
                    "blkio blkio.throttle.read_iops_device=254:0 1",
                    "blkio blkio.throttle.write_iops_device=254:0 2",
                    "blkio blkio.throttle.read_bps_device=254:0 3",
                    "blkio blkio.throttle.write_bps_device=254:0 0?",
                ],
                &[
                    "io io.max=254:0 riops=1",
                    "io io.max=254:0 wiops=2",
                    "io io.max=254:0 rbps=3",
                    "io io.max=254:0 wbps=max?",
                ],
            ],
        );
        check(
            Limits { cpus: vec![0, 2, 3], ..none() },
            [&["cpuset cpuset.cpus=0,2,3"], &["cpuset cpuset.cpus=0,2,3"]],
        );
    }

    #[test]
    fn io_limits_fail_without_disk() {
        let limits = Limits { read_iops: Some(1), write_bps: Some(2), cpu: Some(1.0), ..Limits::default() };
        let (lines, impossible) =
            cgroup_writes(&limits, CgroupVersion::V2, || Err(UnappliedReason::NoDisk("tmpfs".to_owned())));
        assert_eq!(lines.len(), 1);
        assert_eq!(
            impossible.iter().map(|it| it.limit).collect::<Vec<_>>(),
            [Limit::ReadIops, Limit::WriteBps]
        );
    }
}
