//! Reads series from a trial's samples
//!
//! This module has all names of series that facts are read from; no other module of this crate names one.

use model::{Nanos, Sample};
use std::collections::BTreeMap;

/// Client sessions by state, from the server's view: `active`, `idle`, `idle in transaction`, …
pub const PG_SESSIONS: &str = "pg_sessions";
pub const PG_USED: &str = "pg_connections_used";
/// Active sessions by wait event: `Lock/transactionid`; `running` if they do not wait.
pub const PG_WAITS: &str = "pg_active_waits";
/// By database and user, as all series of a pooler.
pub const PGBOUNCER_CL_ACTIVE: &str = "pgbouncer_cl_active";
pub const PGBOUNCER_CL_WAITING: &str = "pgbouncer_cl_waiting";
pub const PGBOUNCER_SV_ACTIVE: &str = "pgbouncer_sv_active";
pub const PGBOUNCER_MAXWAIT: &str = "pgbouncer_maxwait";
pub const ODYSSEY_SV_ACTIVE: &str = "odyssey_sv_active";
/// By proxy and server. Under `BACKEND`: requests without a chosen server.
pub const HAPROXY_QCUR: &str = "haproxy_qcur";
pub const HAPROXY_QTIME: &str = "haproxy_qtime";
pub const CGROUP_CPU: &str = "cgroup_cpu";
/// By queryid of the statement that waits for a lock, followed by its text.
pub const PG_LOCK_WAITERS: &str = "pg_lock_waiters";
pub const PG_STATEMENT_TEXT: &str = "pg_statement_text";
/// Transactions of the monitoring session, which the two counters above include.
pub const PG_MONITOR_TRANSACTIONS: &str = "pg_monitor_transactions";
/// Age of the oldest open transaction, seconds.
pub const PG_LONGEST_TRANSACTION: &str = "pg_longest_transaction";
pub const PG_LONGEST_LOCK_WAIT: &str = "pg_longest_lock_wait";
/// By queryid; without one for all statements.
pub const PG_STATEMENT_ROWS: &str = "pg_statement_rows";
pub const PG_SETS: &str = "pg_sets";
/// By database.
pub const PG_BLOCKS_READ: &str = "pg_blocks_read";
pub const PG_COMMITS: &str = "pg_commits";
pub const PG_ROLLBACKS: &str = "pg_rollbacks";
pub const PG_DEADLOCKS: &str = "pg_deadlocks";
pub const PG_SESSIONS_BEGUN: &str = "pg_sessions_begun";
/// By table.
pub const PG_SCANS: &str = "pg_table_scans";
pub const PG_SCANNED_ROWS: &str = "pg_table_scanned_rows";
/// Sum over all tables.
pub const PG_DEAD_ROWS: &str = "pg_dead_rows";
pub const PG_LIVE_ROWS: &str = "pg_live_rows";
pub const PG_VACUUMS: &str = "pg_vacuums";
pub const PG_CHECKPOINTS: &str = "pg_checkpoints";
/// Sessions idle in transaction for longer than a second: all of them, those that hold back vacuum, and sessions that
/// wait for them; and how long the longest has been idle.
pub const PG_IDLE_TRANSACTIONS: &str = "pg_idle_transactions";
pub const PG_IDLE_HORIZON: &str = "pg_idle_transactions_horizon";
pub const PG_IDLE_BLOCKED: &str = "pg_idle_transactions_blocked";
pub const PG_IDLE_LONGEST: &str = "pg_idle_transaction_longest";
/// By the process that wrote.
pub const PG_BUFFERS_WRITTEN: &str = "pg_buffers_written";
/// By configured database: a sample exists as soon as the console answers.
pub const PGBOUNCER_DATABASES: &str = "pgbouncer_pool_size";
pub const PGBOUNCER_ASSIGNMENTS: &str = "pgbouncer_total_server_assignment_count";
pub const PGBOUNCER_TRANSACTIONS: &str = "pgbouncer_total_xact_count";
pub const PGBOUNCER_TIME: &str = "pgbouncer_total_xact_time";
pub const PGBOUNCER_WAITED: &str = "pgbouncer_total_wait_time";
pub const ODYSSEY_ASSIGNMENTS: &str = "odyssey_total_server_assignment_count";
pub const ODYSSEY_TRANSACTIONS: &str = "odyssey_total_xact_count";
/// By pool.
pub const SERVICE_POOL_SIZE: &str = "service_pool_size";
pub const SERVICE_POOL_BUSY: &str = "service_pool_busy";
pub const SERVICE_POOL_WAITING: &str = "service_pool_waiting";
pub const SERVICE_POOL_WAITED: &str = "service_pool_waited_total";
pub const SERVICE_THREADS_SIZE: &str = "service_threads_size";
pub const SERVICE_THREADS_BUSY: &str = "service_threads_busy";
pub const SERVICE_THREADS_WAITING: &str = "service_threads_waiting";
pub const CGROUP_READS: &str = "cgroup_reads";
pub const CGROUP_WRITES: &str = "cgroup_writes";
pub const CGROUP_READ_BYTES: &str = "cgroup_read_bytes";
pub const CGROUP_WRITTEN_BYTES: &str = "cgroup_written_bytes";
pub const CGROUP_MEMORY: &str = "cgroup_memory";
const PROCESS_READ_BYTES: &str = "process_read_bytes";
const CGROUP_THROTTLED_TIME: &str = "cgroup_throttled_time";
const CGROUP_PERIODS: &str = "cgroup_periods";
const CGROUP_THROTTLED: &str = "cgroup_throttled";
/// CPU time of the whole machine, by kind.
pub const HOST_CPU: &str = "host_cpu";
pub const PROCESS_CPU: [&str; 2] = ["process_cpu_user", "process_cpu_system"];

/// All series that facts are read from.
pub const SERIES: &[&str] = &[
    PG_SESSIONS,
    PG_WAITS,
    PGBOUNCER_CL_ACTIVE,
    PGBOUNCER_CL_WAITING,
    PGBOUNCER_SV_ACTIVE,
    PGBOUNCER_MAXWAIT,
    ODYSSEY_SV_ACTIVE,
    HAPROXY_QCUR,
    HAPROXY_QTIME,
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
    PG_SETS,
    PG_BLOCKS_READ,
    PG_COMMITS,
    PG_ROLLBACKS,
    PG_MONITOR_TRANSACTIONS,
    PG_LONGEST_TRANSACTION,
    PG_DEADLOCKS,
    PG_SESSIONS_BEGUN,
    PG_SCANS,
    PG_SCANNED_ROWS,
    PG_DEAD_ROWS,
    PG_LIVE_ROWS,
    PG_VACUUMS,
    PG_CHECKPOINTS,
    PG_IDLE_TRANSACTIONS,
    PG_IDLE_HORIZON,
    PG_IDLE_BLOCKED,
    PG_IDLE_LONGEST,
    PG_BUFFERS_WRITTEN,
    PGBOUNCER_DATABASES,
    PGBOUNCER_ASSIGNMENTS,
    PGBOUNCER_TRANSACTIONS,
    PGBOUNCER_TIME,
    PGBOUNCER_WAITED,
    ODYSSEY_ASSIGNMENTS,
    ODYSSEY_TRANSACTIONS,
    SERVICE_POOL_SIZE,
    SERVICE_POOL_BUSY,
    SERVICE_POOL_WAITING,
    SERVICE_POOL_WAITED,
    SERVICE_THREADS_SIZE,
    SERVICE_THREADS_BUSY,
    SERVICE_THREADS_WAITING,
    HOST_CPU,
    PROCESS_CPU[0],
    PROCESS_CPU[1],
];

/// Seconds above which a trial is long.
const LONG_TRIAL_SECONDS: u64 = 600;
/// Series that are sampled ten times a second.
const OFTEN: [&str; 2] = [PG_SESSIONS, PG_WAITS];

/// Collects the samples that facts are read from. In a long trial, series that are sampled ten times a second are
/// averaged over each second: an hour has 700,000 samples of them.
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
    /// Last sample time, and number of sample times.
    at: Nanos,
    moments: u32,
    sums: Vec<(String, f64)>,
}

impl SampleReducer {
    pub fn new(seconds: u64) -> SampleReducer {
        SampleReducer { is_long: seconds > LONG_TRIAL_SECONDS, samples: Vec::new(), open: Vec::new() }
    }

    /// Adds a sample, in order of time by node and series. Other series are left out.
    pub fn push(&mut self, it: Sample) {
        let often = OFTEN.into_iter().find(|series| it.series == *series);
        let Some(series) = often.filter(|_| self.is_long && it.at > Nanos::ZERO) else {
            if SERIES.contains(&&*it.series) {
                self.samples.push(it);
            }
            return;
        };
        let second = it.at.0 / Nanos::from_secs(1).0;
        let known = self.open.iter().position(|open| open.series == series && open.node == it.node);
        let known = known.unwrap_or_else(|| {
            let node = it.node.to_string();
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
        open.moments += u32::from(open.at != it.at);
        open.at = it.at;
        match open.sums.iter_mut().find(|sum| sum.0 == it.label) {
            Some(sum) => sum.1 += it.value,
            None => open.sums.push((it.label.into_owned(), it.value)),
        }
    }

    pub fn finish(mut self) -> Vec<Sample> {
        for mut it in self.open {
            self.samples.extend(it.close(0));
        }
        self.samples
    }
}

impl OpenSecond {
    /// Ends the current second and returns its samples.
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

/// Clients of a pooler in its last sample after the window, by node; nodes without any are left out. Odyssey's console
/// does not report them.
pub fn remaining_clients(samples: &[Sample], window: Nanos) -> Vec<(String, u64)> {
    let held = [PGBOUNCER_CL_ACTIVE, PGBOUNCER_CL_WAITING];
    let late = samples.iter().filter(|it| it.at > window && held.contains(&&*it.series));
    let mut last: BTreeMap<&str, Nanos> = BTreeMap::new();
    late.clone().for_each(|it| {
        let moment = last.entry(&it.node).or_default();
        *moment = it.at.max(*moment);
    });
    let of = |(node, at): (&str, Nanos)| {
        let clients: f64 = late.clone().filter(|it| it.node == node && it.at == at).map(|it| it.value).sum();
        (node.to_owned(), clients as u64)
    };
    last.into_iter().map(of).filter(|it| it.1 > 0).collect()
}

/// Gauge of a node, summed over all labels at each sample time, in order of time. Samples before the window are left
/// out.
pub fn sums(samples: &[Sample], node: &str, series: &str, label: impl Fn(&str) -> bool) -> Vec<(Nanos, f64)> {
    let mut sums: BTreeMap<Nanos, f64> = BTreeMap::new();
    let of_node = samples.iter().filter(|it| it.at > Nanos::ZERO && it.node == node && it.series == series);
    for it in of_node.filter(|it| label(&it.label)) {
        *sums.entry(it.at).or_default() += it.value;
    }
    sums.into_iter().collect()
}

/// Mean of the gauge over its samples.
pub fn mean(samples: &[(Nanos, f64)]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().map(|it| it.1).sum::<f64>() / samples.len() as f64)
}

pub fn maximum(samples: &[(Nanos, f64)]) -> Option<f64> {
    samples.iter().map(|it| it.1).max_by(f64::total_cmp)
}

/// Mean number of sessions in `state`. A state without sessions has no sample, so every sample time of any state
/// counts.
pub fn sessions(samples: &[Sample], node: &str, state: &str) -> Option<f64> {
    // Without sessions no state has a sample, but their number has.
    let [told, counted] = [PG_SESSIONS, PG_USED].map(|series| sums(samples, node, series, |_| true).len());
    let moments = told.max(counted);
    let of_state = sums(samples, node, PG_SESSIONS, |it| it == state).iter().fold(0.0, |sum, it| sum + it.1);
    (moments > 0).then(|| of_state / moments as f64)
}

/// Growth of a counter per second, without restarts; `None` with fewer than two samples.
pub fn growth(samples: &[Sample], node: &str, series: &str, label: impl Fn(&str) -> bool) -> Option<f64> {
    let all = sums(samples, node, series, label);
    let lasting = (all.last()?.0 - all.first()?.0).as_secs_f64();
    (lasting > 0.0).then(|| sum_of_increases(&all) / lasting)
}

/// Growth of a counter from its first sample in the window to the last, without restarts; `None` with fewer than two.
pub fn total_growth(samples: &[Sample], node: &str, series: &str) -> Option<f64> {
    let all = sums(samples, node, series, |_| true);
    (all.len() > 1).then(|| sum_of_increases(&all))
}

fn sum_of_increases(all: &[(Nanos, f64)]) -> f64 {
    // An empty sum would be -0.
    all.windows(2).map(|it| it[1].1 - it[0].1).filter(|it| *it > 0.0).fold(0.0, |sum, it| sum + it)
}

/// CPUs that the node used: by its control group, otherwise by its processes.
pub fn processors(samples: &[Sample], node: &str) -> Option<f64> {
    growth(samples, node, CGROUP_CPU, |_| true).or_else(|| {
        let [user, system] = PROCESS_CPU.map(|series| growth(samples, node, series, |_| true));
        Some(user? + system?)
    })
}

/// Bytes per second that the node read from disks: by its control group, otherwise by its processes.
pub fn disk_bytes(samples: &[Sample], node: &str) -> Option<f64> {
    let of = |series| growth(samples, node, series, |_| true);
    of(CGROUP_READ_BYTES).or_else(|| of(PROCESS_READ_BYTES))
}

/// CPUs of the node that were throttled, because its quota was used up.
pub fn throttled_processors(samples: &[Sample], node: &str) -> Option<f64> {
    growth(samples, node, CGROUP_THROTTLED_TIME, |_| true)
}

/// Share of the quota's periods in which the node was throttled.
pub fn throttled_share(samples: &[Sample], node: &str) -> Option<f64> {
    let periods = growth(samples, node, CGROUP_PERIODS, |_| true)?;
    let throttled = growth(samples, node, CGROUP_THROTTLED, |_| true)?;
    (periods > 0.0).then(|| throttled / periods)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let told = [
            often(100, "active", 4.0),
            often(200, "active", 2.0),
            often(200, "idle", 3.0),
            often(1100, "active", 5.0),
            sample(1, HOST_CPU, "user", 9.0),
            sample(1, PG_USED, "", 9.0),
        ];
        let kept = |seconds| {
            let mut kept = SampleReducer::new(seconds);
            told.iter().for_each(|it| kept.push(it.clone()));
            let it = |it: &Sample| (it.at.0 / 1_000_000, it.label.to_string(), it.value);
            kept.finish().iter().map(it).collect::<Vec<_>>()
        };
        let row = |millis, label: &str, value| (millis, label.to_owned(), value);
        let user = row(1000, "user", 9.0);
        let (active, idle) = (row(200, "active", 3.0), row(200, "idle", 1.5));
        assert_eq!(kept(601), [active, idle, user, row(1100, "active", 5.0)]);
        assert_eq!(kept(600).len(), 5, "all of a short one");
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
        assert_eq!(seconds(sums(&all, "n", "s", |_| true)), [(1.0, 5.0), (2.0, 1.0)]);
        assert_eq!(seconds(sums(&all, "n", "s", |it| it == "b")), [(1.0, 3.0)]);
        assert_eq!(seconds(sums(&all, "m", "s", |_| true)), []);
    }

    #[test]
    fn remaining_clients_come_from_the_last_sample() {
        let all = [
            sample(9, PGBOUNCER_CL_ACTIVE, "app", 200.0),
            sample(11, PGBOUNCER_CL_ACTIVE, "app", 5.0),
            sample(12, PGBOUNCER_CL_ACTIVE, "app", 2.0),
            sample(12, PGBOUNCER_CL_WAITING, "app", 1.0),
            sample(12, PGBOUNCER_SV_ACTIVE, "app", 20.0),
        ];
        assert_eq!(remaining_clients(&all, Nanos::from_secs(10)), [("n".to_owned(), 3)]);
        assert_eq!(remaining_clients(&all[..1], Nanos::from_secs(10)), [], "nobody looked afterwards");
        let gone = [sample(11, PGBOUNCER_CL_ACTIVE, "app", 5.0), sample(12, PGBOUNCER_CL_ACTIVE, "app", 0.0)];
        assert_eq!(remaining_clients(&gone, Nanos::from_secs(10)), []);
    }

    #[test]
    fn counters_survive_a_restart() {
        let cpu = |values: &[f64]| -> Option<f64> {
            let all: Vec<Sample> =
                values.iter().enumerate().map(|(n, it)| sample(n as u64 + 1, CGROUP_CPU, "", *it)).collect();
            processors(&all, "n")
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
        assert_eq!(sessions(&all, "n", "active"), Some(2.0));
        assert_eq!(sessions(&all, "n", "idle in transaction"), Some(0.0));
        assert_eq!(sessions(&all, "m", "active"), None);
        let with_an_empty_moment: Vec<Sample> =
            (1..=4).map(|second| sample(second, PG_USED, "", 4.0)).chain(all).collect();
        assert_eq!(sessions(&with_an_empty_moment, "n", "active"), Some(1.5));
    }
}
