//! Findings on machines without idle CPUs

use super::bound::{CpuUsage, SATURATED_SHARE};
use super::{CellTrials, Finding};
use crate::facts::usage::{
    generator_processors, host_usage, idle_share, other_processors, server_processors, total_processors,
    upstream_processors,
};
use model::finding::{Bound, MissingInput};
use model::plan::MetricsHost;

/// Idle share of CPU time below which the machine is saturated.
const IDLE_SHARE_MAX: f64 = 0.05;
/// Share of the machine's CPUs above which the generator is a significant load.
const GENERATOR_SHARE_MIN: f64 = 0.3;

/// Finding on a saturated machine, with the generator's share.
pub(super) fn host(cell: &CellTrials<'_>) -> Option<Finding> {
    let processors = cell.median(|it| total_processors(it.samples))?;
    let idle = cell.median(|it| idle_share(it.samples))?;
    let generator_cpu = cell.median(generator_processors);
    if idle < IDLE_SHARE_MAX {
        let server_cpu = cell.median(server_processors);
        let other_cpu = cell.median(other_processors);
        let (cell, pooler_cpu) = (cell.number, cell.median(upstream_processors));
        return Some(Finding::HostBound {
            cell,
            idle,
            processors,
            generator_cpu,
            pooler_cpu,
            server_cpu,
            other_cpu,
        });
    }
    let generator_cpu = generator_cpu.filter(|it| *it > GENERATOR_SHARE_MIN * processors)?;
    Some(Finding::GeneratorShare { cell: cell.number, generator_cpu, processors })
}

/// Findings on the saturated CPUs of other hosts. A host with several nodes has one finding: its metrics do not show
/// which node uses the CPUs.
pub(super) fn remote_hosts(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for MetricsHost { name, nodes, .. } in MetricsHost::all(&cell.setup.stack.nodes) {
        let figure = |part: fn((f64, f64)) -> f64| {
            cell.median(|it| host_usage(it.samples, &name).map(part)).ok_or(MissingInput::Metrics)
        };
        let (cpu, cpu_limit) = (figure(|it| it.0)?, figure(|it| it.1)?);
        // The sum of counters that are read at slightly different times is never exactly the number of CPUs.
        let cpu_limit = (cpu_limit * 100.0).round() / 100.0;
        let bound = Bound::HostCpu { node: name.clone(), nodes, cpu, cpu_limit };
        let full = cpu >= SATURATED_SHARE * cpu_limit;
        found.extend(full.then_some(Finding::Bound { cell: cell.number, bound }));
    }
    Ok(found)
}

/// Findings on hosts whose nodes used up their common CPU quota. Of several hosts of copies, the busiest is reported.
pub(super) fn shared_hosts(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let hosted = cell.setup.stack.hosted_nodes();
    let mut found = Vec::new();
    for part in cell.setup.stack.host_parts() {
        let mut busiest: Option<(String, CpuUsage)> = None;
        for host in part.split() {
            let Some(usage) = CpuUsage::of_part(cell, &host, None)? else { continue };
            if busiest.as_ref().is_none_or(|it| it.1.used < usage.used) {
                busiest = Some((host.name, usage));
            }
        }
        let Some((name, usage)) = busiest.filter(|it| it.1.is_saturated()) else { continue };
        let on_host = hosted.iter().filter(|it| it.host == name);
        let bound = Bound::HostCpu {
            nodes: on_host.map(|it| it.node.clone()).collect(),
            node: name,
            cpu: usage.used,
            cpu_limit: usage.available,
        };
        found.push(Finding::Bound { cell: cell.number, bound });
    }
    Ok(found)
}
