//! Reader of a trial's sampled series

use super::sample_set::{SampleSet, SampleView};
use model::plan::Node;
use model::{Nanos, Sample};
use std::collections::{BTreeMap, BTreeSet};

pub use model::series::*;

/// All series from which facts are read.
pub const SERIES: &[&str] = &[
    PG_SESSIONS,
    PG_SESSION_GROUPS,
    PG_USED,
    PG_WAITS,
    POOL_SIZE,
    POOL_CLIENTS_ACTIVE,
    POOL_CLIENTS_WAITING,
    POOL_LONGEST_WAIT,
    POOL_SERVERS_ACTIVE,
    POOL_SERVERS_IDLE,
    POOL_RESERVE,
    POOL_CONNECTIONS,
    POOL_PAUSED,
    POOL_TRANSACTIONS,
    POOL_TRANSACTION_TIME,
    POOL_WAIT_TIME,
    POOL_ASSIGNMENTS,
    BALANCER_SESSIONS,
    BALANCER_SESSIONS_BEGUN,
    BALANCER_QUEUE,
    BALANCER_QUEUE_TIME,
    BALANCER_UP,
    BALANCER_CONNECTION_ERRORS,
    BALANCER_RESPONSE_ERRORS,
    BALANCER_RETRIES,
    CGROUP_CPU,
    CGROUP_PERIODS,
    CGROUP_THROTTLED,
    CGROUP_THROTTLED_TIME,
    CGROUP_READS,
    CGROUP_WRITES,
    CGROUP_READ_BYTES,
    CGROUP_WRITTEN_BYTES,
    CGROUP_MEMORY,
    PROCESS_READ_BYTES,
    PG_LOCK_WAITERS,
    PG_STATEMENT_TEXT,
    PG_LONGEST_LOCK_WAIT,
    PG_STATEMENT_ROWS,
    PG_STATEMENT_CALLS,
    PG_STATEMENT_TIME,
    PG_STATEMENT_HIT,
    PG_STATEMENT_READ,
    PG_STATEMENT_PLANNING,
    PG_STATEMENT_PLANS,
    PG_STATEMENT_JIT,
    PG_STATEMENT_TEMPORARY,
    PG_SETS,
    PG_TEMP_FILES,
    PG_TEMP_BYTES,
    PG_TABLE_LIVE_ROWS,
    PG_TABLE_DEAD_ROWS,
    PG_TABLE_CHANGED_ROWS,
    PG_TABLE_BYTES,
    PG_TABLE_INDEX_ROWS,
    PG_TABLE_TOAST_BLOCKS,
    PG_TABLE_INDEXED_WRITES,
    PG_TABLE_UNUSED_INDEXES,
    PG_TABLE_GROWTH,
    PG_FUNCTION_CALLS,
    PG_FUNCTION_TIME,
    PG_AUTOVACUUM_WORKERS,
    PG_OLDEST_SNAPSHOT,
    PG_WAL_FULL_PAGES,
    PG_WAL_BYTES,
    PG_BLOCKS_READ,
    PG_BLOCKS_HIT,
    PG_REPLICATION_REPLAY_LAG,
    PG_COMMITS,
    PG_ROLLBACKS,
    PG_MONITOR_TRANSACTIONS,
    PG_LONGEST_TRANSACTION,
    PG_DEADLOCKS,
    PG_SESSIONS_BEGUN,
    PG_SESSIONS_FATAL,
    PG_SESSIONS_KILLED,
    PG_SESSIONS_ABANDONED,
    PG_FREE,
    PG_SCANS,
    PG_SCANNED_ROWS,
    PG_SCANNED_BYTES,
    PG_ROW_BYTES,
    PG_TRANSACTION_IDS,
    PG_FOREIGN_KEY_DELETES,
    PG_DEAD_ROWS,
    PG_LIVE_ROWS,
    PG_VACUUMS,
    PG_CHECKPOINTS,
    PG_IDLE_TRANSACTIONS,
    PG_IDLE_HORIZON,
    PG_IDLE_BLOCKED,
    PG_IDLE_LONGEST,
    PG_BUFFERS_WRITTEN,
    SERVICE_POOL_SIZE,
    SERVICE_POOL_BUSY,
    SERVICE_POOL_WAITING,
    SERVICE_POOL_WAITED,
    SERVICE_THREADS_SIZE,
    SERVICE_THREADS_BUSY,
    SERVICE_THREADS_WAITING,
    SERVICE_PROCESS_CPU,
    HOST_CPU,
    DISK_READS,
    DISK_WRITES,
    DISK_READ_BYTES,
    DISK_WRITTEN_BYTES,
    PROCESS_CPU_LIMIT,
    PROCESS_CPU[0],
    PROCESS_CPU[1],
];

/// Duration of a trial, in seconds, above which series that are sampled ten times per second are averaged.
const LONG_TRIAL_SECONDS: u64 = 600;
/// Series that are sampled ten times per second.
const OFTEN: [&str; 4] = [PG_SESSIONS, PG_USED, PG_WAITS, PG_AUTOVACUUM_WORKERS];

/// Collects the samples from which facts are derived. In a long trial, it averages each series that is sampled ten
/// times per second over one second, because these series have 700,000 samples per hour.
#[derive(Debug)]
pub struct SampleReducer {
    is_long: bool,
    samples: Vec<Sample>,
    open: Vec<OpenSecond>,
}

/// One second of one series of a node.
#[derive(Debug)]
struct OpenSecond {
    node: String,
    series: &'static str,
    second: u64,
    /// Time of the last sample, and number of sample times.
    at: Nanos,
    moments: u32,
    sums: Vec<(String, f64)>,
}

impl SampleReducer {
    pub fn new(seconds: u64) -> SampleReducer {
        SampleReducer { is_long: seconds > LONG_TRIAL_SECONDS, samples: Vec::new(), open: Vec::new() }
    }

    /// Adds a sample. Samples must arrive sorted by node and series, then by time. Other series are ignored.
    pub fn push(&mut self, sample: Sample) {
        let often = OFTEN.into_iter().find(|series| sample.series == *series);
        let Some(series) = often.filter(|_| self.is_long && sample.at > Nanos::ZERO) else {
            if SERIES.contains(&&*sample.series) {
                self.samples.push(sample);
            }
            return;
        };
        let second = sample.at.0 / Nanos::from_secs(1).0;
        let known = self.open.iter().position(|open| open.series == series && open.node == sample.node);
        let known = known.unwrap_or_else(|| {
            let node = sample.node.to_string();
            self.open.push(OpenSecond {
                node,
                series,
                second,
                at: Nanos::ZERO,
                moments: 0,
                sums: Vec::new(),
            });
            self.open.len() - 1
        });
        let open = &mut self.open[known];
        if open.second != second {
            self.samples.extend(open.close(second));
        }
        open.moments += u32::from(open.at != sample.at);
        open.at = sample.at;
        match open.sums.iter_mut().find(|sum| sum.0 == sample.label) {
            Some(sum) => sum.1 += sample.value,
            None => open.sums.push((sample.label.into_owned(), sample.value)),
        }
    }

    pub fn finish(mut self) -> SampleSet {
        for mut second in self.open {
            self.samples.extend(second.close(0));
        }
        self.samples.into()
    }
}

impl OpenSecond {
    /// Ends the current second and returns its averaged samples.
    fn close(&mut self, second: u64) -> Vec<Sample> {
        let (at, moments) = (self.at, f64::from(std::mem::take(&mut self.moments)));
        self.second = second;
        let sample = |(label, sum): (String, f64)| Sample {
            at,
            node: self.node.clone().into(),
            series: self.series.into(),
            label: label.into(),
            value: sum / moments,
        };
        self.sums.drain(..).map(sample).collect()
    }
}

/// Number of clients of each pooler in its last sample after the window. Nodes without clients are left out. Poolers
/// that do not report waiting clients do not report idle clients either.
pub fn remaining_clients(samples: SampleView<'_>, window: Nanos) -> Vec<(String, u64)> {
    let held = [POOL_CLIENTS_ACTIVE, POOL_CLIENTS_WAITING];
    let samples = samples.after(window);
    let reports = |node: &str| !samples.of(node, POOL_CLIENTS_WAITING).is_empty();
    let late =
        held.into_iter().flat_map(|series| samples.of_series(series).iter()).filter(|it| reports(&it.node));
    let mut last: BTreeMap<&str, Nanos> = BTreeMap::new();
    late.clone().for_each(|sample| {
        let moment = last.entry(&sample.node).or_default();
        *moment = sample.at.max(*moment);
    });
    let clients_at = |(node, at): (&str, Nanos)| {
        let clients: f64 = late.clone().filter(|it| it.node == node && it.at == at).map(|it| it.value).sum();
        (node.to_owned(), clients as u64)
    };
    last.into_iter().map(clients_at).filter(|it| it.1 > 0).collect()
}

/// Sum of a node's series over all labels that `label` accepts, at each sample time from the start of the window.
pub fn sums(
    samples: SampleView<'_>,
    node: &str,
    series: &str,
    label: impl Fn(&str) -> bool,
) -> Vec<(Nanos, f64)> {
    let node_samples = samples.of(node, series).after(Nanos::ZERO);
    let mut sums: Vec<(Nanos, f64)> =
        node_samples.iter().filter(|it| label(&it.label)).map(|it| (it.at, it.value)).collect();
    sums.sort_by_key(|it| it.0);
    sums.dedup_by(|next, sum| {
        let is_same = next.0 == sum.0;
        if is_same {
            sum.1 += next.1;
        }
        is_same
    });
    sums
}

/// Mean of the samples; `None` without samples.
pub fn mean(samples: &[(Nanos, f64)]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().map(|it| it.1).sum::<f64>() / samples.len() as f64)
}

pub fn maximum(samples: &[(Nanos, f64)]) -> Option<f64> {
    samples.iter().map(|it| it.1).max_by(f64::total_cmp)
}

/// Mean number of sessions in `state`.
pub fn sessions(samples: SampleView<'_>, node: &str, state: &str) -> Option<f64> {
    mean_sessions(samples, node, PG_SESSIONS, state)
}

/// Mean number of active sessions without a wait event. They run, or wait for a CPU.
pub fn runnable_sessions(samples: SampleView<'_>, node: &str) -> Option<f64> {
    mean_sessions(samples, node, PG_WAITS, "running")
}

/// Mean number of autovacuum workers without a wait event.
pub fn runnable_autovacuum_workers(samples: SampleView<'_>, node: &str) -> Option<f64> {
    mean_sessions(samples, node, PG_AUTOVACUUM_WORKERS, "running")
}

/// Mean of a series of sessions. A label without sessions has no sample, so the mean is taken over the sample times of all
/// states.
fn mean_sessions(samples: SampleView<'_>, node: &str, series: &str, label: &str) -> Option<f64> {
    // Without any session, only the series of the total number of sessions has samples.
    let [states, counted] = [PG_SESSIONS, PG_USED].map(|series| sums(samples, node, series, |_| true).len());
    let moments = states.max(counted);
    let sum = sums(samples, node, series, |it| it == label).iter().fold(0.0, |sum, it| sum + it.1);
    (moments > 0).then(|| sum / moments as f64)
}

/// Increase of a counter per second, corrected for restarts; `None` with fewer than two samples.
pub fn growth(
    samples: SampleView<'_>,
    node: &str,
    series: &str,
    label: impl Fn(&str) -> bool,
) -> Option<f64> {
    let all = sums(samples, node, series, label);
    let duration = (all.last()?.0 - all.first()?.0).as_secs_f64();
    (duration > 0.0).then(|| sum_of_increases(&all) / duration)
}

/// Increase of a counter between its first and last sample in the window, corrected for restarts. `None` with fewer
/// than two samples.
pub fn total_growth(samples: SampleView<'_>, node: &str, series: &str) -> Option<f64> {
    let all = sums(samples, node, series, |_| true);
    (all.len() > 1).then(|| sum_of_increases(&all))
}

/// Increase of each of a node's counters between its first and last sample in the window, by label. After a reset, a
/// counter begins at zero, so what it counted since the sample before is lost.
pub fn growth_by_label(samples: SampleView<'_>, node: &str, series: &str) -> BTreeMap<String, f64> {
    let of_node = samples.of(node, series);
    let labels: BTreeSet<&str> = of_node.after(Nanos::ZERO).iter().map(|it| &*it.label).collect();
    let growth = |label: &str| sum_of_increases(&sums(of_node, node, series, |other| other == label));
    labels.into_iter().map(|it| (it.to_owned(), growth(it))).collect()
}

/// Sum of the increases of a counter; decreases are restarts.
pub fn sum_of_increases(all: &[(Nanos, f64)]) -> f64 {
    // `sum` of no values would be −0, which prints as "-0".
    all.windows(2).map(|it| it[1].1 - it[0].1).filter(|it| *it > 0.0).fold(0.0, |sum, it| sum + it)
}

/// CPUs used by the node, from its control group if there is one, otherwise from its processes.
pub fn processors(samples: SampleView<'_>, node: &str) -> Option<f64> {
    growth(samples, node, CGROUP_CPU, |_| true).or_else(|| {
        let [user, system] = PROCESS_CPU.map(|series| growth(samples, node, series, |_| true));
        Some(user? + system?)
    })
}

/// CPUs used by all instances of a node; `None` if those of one instance are unknown.
pub fn node_processors(samples: SampleView<'_>, node: &Node) -> Option<f64> {
    node.instances().iter().map(|it| processors(samples, it)).sum()
}

/// CPUs used by a service's processes, as their pages report them. The service may run on another machine.
pub fn page_processors(samples: SampleView<'_>, node: &str) -> Option<f64> {
    let pages: BTreeSet<&str> = samples.of(node, SERVICE_PROCESS_CPU).iter().map(|it| &*it.label).collect();
    // Pages are read at different times, so each page has a rate of its own.
    let rate = |page| growth(samples, node, SERVICE_PROCESS_CPU, |it| it == page);
    let rates: Option<Vec<f64>> = pages.into_iter().map(rate).collect();
    rates.filter(|it| !it.is_empty()).map(|it| it.iter().sum())
}

/// Disk reads of the node in bytes per second, from its control group if there is one, otherwise from its processes.
pub fn disk_bytes(samples: SampleView<'_>, node: &str) -> Option<f64> {
    let growth_of = |series| growth(samples, node, series, |_| true);
    growth_of(CGROUP_READ_BYTES).or_else(|| growth_of(PROCESS_READ_BYTES))
}

/// True if `part` is a partition of the disk `whole`, such as `sda1` of `sda` or `nvme0n1p2` of `nvme0n1`.
pub fn is_partition_of(part: &str, whole: &str) -> bool {
    let Some(rest) = part.strip_prefix(whole) else { return false };
    let number = rest.strip_prefix('p').unwrap_or(rest);
    !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

/// Mean number of CPUs that the node could not use because its quota throttled it.
pub fn throttled_processors(samples: SampleView<'_>, node: &str) -> Option<f64> {
    growth(samples, node, CGROUP_THROTTLED_TIME, |_| true)
}

/// Share (0..=1) of the quota's periods in which one process group was throttled.
pub fn throttled_share(samples: SampleView<'_>, node: &str) -> Option<f64> {
    let periods = growth(samples, node, CGROUP_PERIODS, |_| true)?;
    let throttled = growth(samples, node, CGROUP_THROTTLED, |_| true)?;
    (periods > 0.0).then(|| throttled / periods)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(all: &[Sample]) -> SampleSet {
        all.to_vec().into()
    }

    fn sample(second: u64, series: &'static str, label: &'static str, value: f64) -> Sample {
        let (at, node) = (Nanos::from_secs(second), "n".into());
        Sample { at, node, series: series.into(), label: label.into(), value }
    }

    #[test]
    fn long_trials_store_means_of_seconds() {
        let often = |millis, label, value| Sample {
            at: Nanos::from_millis(millis),
            ..sample(0, PG_SESSIONS, label, value)
        };
        let all = [
            often(100, "active", 4.0),
            often(200, "active", 2.0),
            often(200, "idle", 3.0),
            often(1100, "active", 5.0),
            sample(1, HOST_CPU, "user", 9.0),
            sample(1, PG_USED, "", 9.0),
        ];
        let reduced = |seconds| {
            let mut reduced = SampleReducer::new(seconds);
            all.iter().for_each(|it| reduced.push(it.clone()));
            let sample = |it: &Sample| (it.at.0 / 1_000_000, it.label.to_string(), it.value);
            reduced.finish().view().iter().map(sample).collect::<Vec<_>>()
        };
        let row = |millis, label: &str, value| (millis, label.to_owned(), value);
        let user = row(1000, "user", 9.0);
        let (active, idle) = (row(200, "active", 3.0), row(200, "idle", 1.5));
        let used = row(1000, "", 9.0);
        assert_eq!(reduced(601), [user, used, active, idle, row(1100, "active", 5.0)]);
        assert_eq!(reduced(600).len(), 6, "a short trial keeps all samples");
    }

    #[test]
    fn adds_up_labels_and_skips_samples_before_the_window() {
        let all = [
            sample(0, "s", "a", 50.0),
            sample(2, "s", "a", 1.0),
            sample(1, "s", "a", 2.0),
            sample(1, "s", "b", 3.0),
            sample(1, "other", "b", 9.0),
        ];
        let seconds =
            |sums: Vec<(Nanos, f64)>| sums.iter().map(|it| (it.0.as_secs_f64(), it.1)).collect::<Vec<_>>();
        assert_eq!(seconds(sums(set(&all).view(), "n", "s", |_| true)), [(1.0, 5.0), (2.0, 1.0)]);
        assert_eq!(seconds(sums(set(&all).view(), "n", "s", |it| it == "b")), [(1.0, 3.0)]);
        assert_eq!(seconds(sums(set(&all).view(), "m", "s", |_| true)), []);
    }

    #[test]
    fn remaining_clients_come_from_the_last_sample() {
        let all = [
            sample(9, POOL_CLIENTS_ACTIVE, "app", 200.0),
            sample(11, POOL_CLIENTS_ACTIVE, "app", 5.0),
            sample(12, POOL_CLIENTS_ACTIVE, "app", 2.0),
            sample(12, POOL_CLIENTS_WAITING, "app", 1.0),
            sample(12, POOL_SERVERS_ACTIVE, "app", 20.0),
        ];
        assert_eq!(remaining_clients(set(&all).view(), Nanos::from_secs(10)), [("n".to_owned(), 3)]);
        assert_eq!(
            remaining_clients(set(&all[..1]).view(), Nanos::from_secs(10)),
            [],
            "no sample after the window"
        );
        let disconnected =
            [sample(11, POOL_CLIENTS_ACTIVE, "app", 5.0), sample(12, POOL_CLIENTS_ACTIVE, "app", 0.0)];
        assert_eq!(remaining_clients(set(&disconnected).view(), Nanos::from_secs(10)), []);
    }

    #[test]
    fn counters_survive_a_restart() {
        let cpu = |values: &[f64]| -> Option<f64> {
            let all: Vec<Sample> =
                values.iter().enumerate().map(|(n, it)| sample(n as u64 + 1, CGROUP_CPU, "", *it)).collect();
            processors(set(&all).view(), "n")
        };
        for (values, expected) in [
            (&[][..], None),
            (&[5.0], None),
            (&[5.0, 5.5, 6.0], Some(0.5)),
            (&[5.0, 5.5, 0.0, 0.5, 1.0], Some(0.375)),
        ] {
            assert_eq!(cpu(values), expected, "{values:?}");
        }
    }

    #[test]
    fn missing_state_counts_as_zero() {
        let all = [
            sample(1, PG_SESSIONS, "active", 4.0),
            sample(2, PG_SESSIONS, "idle", 4.0),
            sample(3, PG_SESSIONS, "active", 2.0),
            sample(3, PG_SESSIONS, "idle", 2.0),
        ];
        assert_eq!(sessions(set(&all).view(), "n", "active"), Some(2.0));
        assert_eq!(sessions(set(&all).view(), "n", "idle in transaction"), Some(0.0));
        assert_eq!(sessions(set(&all).view(), "m", "active"), None);
        let with_an_empty_moment: Vec<Sample> =
            (1..=4).map(|second| sample(second, PG_USED, "", 4.0)).chain(all).collect();
        assert_eq!(sessions(set(&with_an_empty_moment).view(), "n", "active"), Some(1.5));
    }
}
