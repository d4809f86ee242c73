//! Headings and sentences of a page, except its answer, charts, matrix and findings

use super::Lang;
use crate::say;
use model::matrix::UnappliedLimit;
use model::message::Message;
use model::plan::{FailoverManager, Limits, PromotionPolicy, SyncMode};
use model::run_result::RunState;
use model::{Nanos, RequestPhase};

/// Limit on the transactions that a node serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencyLimit {
    Pool(model::plan::PoolMode, u32),
    MaxConn(u32),
    Slots(u32),
}

/// Role of a server among several servers with the same data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerRole {
    Primary,
    Replica,
}

/// Kind of bottleneck in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottleneckRole {
    /// The node's CPU is the limiter.
    Processor,
    /// The size of the node's pool is the limiter.
    Pool,
    /// Transactions queue at this node until a node behind it can serve them.
    Queue,
}

impl Lang {
    /// Formats a Unix time in milliseconds as UTC, to the minute.
    pub fn moment(&self, unix_ms: u64) -> String {
        let moment = model::utc((unix_ms / 1000) as i64);
        let (year, month, day) = moment.to_calendar_date();
        let [month, day] = [month.into(), day].map(|number| format!("{number:02}"));
        say!(
            self,
            "page-moment",
            year = year.to_string(),
            month,
            day,
            time = format!("{:02}:{:02}", moment.hour(), moment.minute())
        )
    }

    /// State of the run; `None` if it is complete.
    pub fn state(&self, state: RunState, reason: Option<&Message>) -> Option<String> {
        let text = match state {
            RunState::Complete => return None,
            RunState::Running => say!(self, "page-still-running"),
            state => self.run_state(state),
        };
        Some(reason.map_or(text.clone(), |reason| format!("{text}: {}", self.message(reason))))
    }

    pub fn extent(&self, trials: usize, cells: usize) -> String {
        say!(self, "page-extent", trials, cells)
    }

    pub fn seed(&self, seed: u64) -> String {
        say!(self, "page-seed", seed = seed.to_string())
    }

    /// Lists nodes that received no load, in a sentence after the answer.
    pub fn unused_nodes(&self, nodes: &[&str]) -> String {
        say!(self, "page-not-passed", nodes = nodes.join(", "))
    }

    /// Limits of a node; empty if there are none.
    pub fn limits(&self, limits: &Limits) -> String {
        let numbers = self.numbers();
        let size = |bytes: u64| numbers.bytes(bytes as f64);
        let cpus: Vec<String> = limits.cpus.iter().map(u32::to_string).collect();
        let cpus = (!cpus.is_empty()).then(|| cpus.join(&say!(self, "matrix-cpu-separator")));
        let parts = [
            limits.cpu.map(|cpus| say!(self, "page-limit-cpu", cpus = numbers.plain(cpus))),
            cpus.map(|cpus| say!(self, "page-limit-cpus", cpus, count = limits.cpus.len())),
            limits.memory.map(|bytes| say!(self, "page-limit-memory", size = size(bytes))),
            limits.read_iops.map(|rate| say!(self, "page-limit-read-iops", rate)),
            limits.write_iops.map(|rate| say!(self, "page-limit-write-iops", rate)),
            limits.read_bps.map(|bytes| say!(self, "page-limit-read-rate", size = size(bytes))),
            limits.write_bps.map(|bytes| say!(self, "page-limit-write-rate", size = size(bytes))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// A requested limit that was not applied.
    pub fn no_limit(&self, limit: &str) -> String {
        say!(self, "page-not-limited", limit)
    }

    /// Reports a limit of a node that could not be applied, with the reason.
    pub fn unapplied_limit(&self, UnappliedLimit { limit, reason, .. }: &UnappliedLimit) -> String {
        say!(self, "page-unapplied-limit", limit, reason)
    }

    /// Column heading of a quantile, mean or maximum, in milliseconds.
    pub fn times(&self, service: bool, figure: &str) -> String {
        match service {
            true => say!(self, "page-service-time", figure),
            false => say!(self, "page-response-time", figure),
        }
    }

    /// Column heading of the mean duration of a phase of HTTP requests.
    pub fn phase(&self, phase: RequestPhase) -> String {
        match phase {
            RequestPhase::Connect => say!(self, "page-phase-connect"),
            RequestPhase::Tls => say!(self, "page-phase-tls"),
            RequestPhase::FirstByte => say!(self, "page-phase-first-byte"),
            RequestPhase::Transfer => say!(self, "page-phase-transfer"),
        }
    }

    /// Column heading for a figure of response sizes.
    pub fn size(&self, figure: &str) -> String {
        say!(self, "page-answer-size", figure)
    }

    /// Describes a limit: the mode and size of a pool, the limit of a queue, or the number of slots.
    pub fn concurrency_limit(&self, limit: &ConcurrencyLimit) -> String {
        match *limit {
            ConcurrencyLimit::Pool(mode, size) => {
                say!(self, "page-pool", mode = self.pool_mode(mode), size = size.to_string())
            }
            ConcurrencyLimit::MaxConn(bound) => format!("maxconn {bound}"),
            ConcurrencyLimit::Slots(slots) => say!(self, "page-slots", slots),
        }
    }

    /// Describes the number of CPUs in use, and the quota.
    pub fn processors(&self, used: f64, quota: Option<f64>) -> String {
        let numbers = self.numbers();
        let quota = quota.map(|cpus| numbers.plain(cpus));
        say!(self, "page-cpu-used", used = numbers.fixed(used, 2), quota)
    }

    /// Share (0..=1) of the quota's periods in which a node was throttled.
    pub fn throttled_share(&self, share: f64) -> String {
        say!(self, "page-throttled", share = self.numbers().percent(share, 0))
    }

    /// Describes the findings about a node in a few words.
    pub fn bottleneck_role(&self, role: BottleneckRole) -> String {
        match role {
            BottleneckRole::Processor => say!(self, "page-cpu-bound"),
            BottleneckRole::Pool => say!(self, "page-pool-bound"),
            BottleneckRole::Queue => say!(self, "page-queue-here"),
        }
    }

    /// Describes the number of transactions that a node executes, and the number that queue there.
    pub fn occupancy(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String> {
        let numbers = self.numbers();
        let busy = busy.map(|count| say!(self, "page-busy", count = numbers.three(count)));
        let queue = queue.map(|count| say!(self, "page-waiting", count = numbers.three(count)));
        let parts: Vec<String> = [busy, queue].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Mean time of a transaction in one node.
    pub fn node_time(&self, time: Nanos) -> String {
        say!(self, "page-time-per-transaction", time = self.time(time))
    }

    /// Role of a server among several servers. `at_first` is true if faults may change the role.
    pub fn server_role(&self, name: &str, role: ServerRole, at_first: bool) -> String {
        let role = match role {
            ServerRole::Primary => "primary",
            ServerRole::Replica => "replica",
        };
        say!(self, "page-server-role", name, role, at_first)
    }

    /// Replication mode, and whether commits wait for replicas, in a few words.
    pub fn replication_mode(&self, mode: SyncMode) -> String {
        match mode {
            SyncMode::Async => say!(self, "page-replication-async"),
            SyncMode::First(count) => say!(self, "page-replication-first", count),
            SyncMode::Any(count) => say!(self, "page-replication-any", count),
        }
    }

    /// Settings of the failover manager, as lines.
    pub fn manager_settings(&self, manager: &FailoverManager) -> Vec<String> {
        match manager {
            FailoverManager::Builtin(promoter) => {
                let time = self.numbers().chosen(promoter.timeout);
                let promotes = match promoter.policy {
                    PromotionPolicy::Advanced => say!(self, "page-promotes-most-advanced", time),
                    PromotionPolicy::Laggard => say!(self, "page-promotes-laggard", time),
                };
                let unfenced = (!promoter.fence).then(|| say!(self, "page-no-fencing"));
                std::iter::once(promotes).chain(unfenced).collect()
            }
            FailoverManager::External(manager) => {
                let time = self.numbers().chosen(manager.settings.ttl);
                let promotes = say!(self, "page-manager-promotes", time);
                let count = u64::from(manager.store_servers);
                let store = manager.product.store();
                let store = store.map(|it| say!(self, "page-store-servers", count, store = it.name));
                std::iter::once(promotes).chain(store).collect()
            }
        }
    }

    /// Replicas of the last node of a path. `replication` is the result of [`Lang::replication_mode`]; `manager` is the
    /// failover manager.
    pub fn with_replicas(&self, count: usize, replication: &str, manager: &str) -> String {
        say!(self, "page-with-replicas", count, replication, manager)
    }

    /// Text alternative of a drawing: the path, and the node with the longest time per transaction.
    pub fn drawing_alternative(&self, path: &str, longest: Option<(Option<&str>, Nanos)>) -> String {
        let generator = say!(self, "page-generator");
        let node = longest.map(|(node, _)| match node {
            Some(node) if node == generator => "generator",
            Some(node) => node,
            None => "unknown",
        });
        say!(self, "page-drawing", path, node, time = longest.map(|(_, time)| self.time(time)))
    }

    /// Name of a trial; `cell` is empty if there is only one cell.
    pub fn trial(&self, cell: &str, repetition: u32) -> String {
        say!(self, "page-trial", cell = Some(cell).filter(|name| !name.is_empty()), number = repetition)
    }

    /// Label for folded trials, with their number.
    pub fn more_trials(&self, count: usize) -> String {
        say!(self, "page-more-trials", count)
    }

    /// Label of the collapsed steps of a search, with their number.
    pub fn all_steps(&self, count: usize) -> String {
        say!(self, "page-all-steps", count)
    }

    /// Mean time of a statement in the baseline.
    pub fn mean_in(&self, baseline: &str) -> String {
        say!(self, "page-mean-in-baseline", baseline)
    }

    /// Text about `trials` of `total` trials.
    pub fn in_trials(&self, trials: usize, total: usize, text: &str) -> String {
        match total {
            1 => text.to_owned(),
            _ => say!(self, "page-in-trials", trials, total, text),
        }
    }

    /// Name of a fact about the machine by its key, such as `cpu_model`; `None` if the key is unknown.
    pub fn machine(&self, key: &str) -> Option<String> {
        Some(match key {
            "system" => say!(self, "page-machine-system"),
            "kernel" => say!(self, "page-machine-kernel"),
            "processor" | "cpu_model" => say!(self, "page-machine-processor"),
            "processors" | "cpus" => say!(self, "page-machine-processors"),
            "mainboard" => say!(self, "page-machine-mainboard"),
            "memory" => say!(self, "page-machine-memory"),
            "memory_modules" => say!(self, "page-machine-memory-modules"),
            "disks" => say!(self, "page-machine-disks"),
            "files" => say!(self, "page-machine-files"),
            "ports" => say!(self, "page-machine-ports"),
            "clock_source" => say!(self, "page-machine-clock-source"),
            "governor" => say!(self, "page-machine-governor"),
            "cgroups" => say!(self, "page-machine-cgroups"),
            _ => return None,
        })
    }

    /// Lists the cells with a configuration, or states that all cells have it.
    pub fn cells(&self, names: &[&str], total: usize) -> String {
        if names.len() == total { say!(self, "page-all-cells") } else { names.join(", ") }
    }

    /// Joins names: `a`, `a and b`, `a, b and c`.
    pub(super) fn list(&self, names: &[&str]) -> String {
        match names {
            [first @ .., last] if !first.is_empty() => {
                say!(self, "page-list", first = first.join(", "), last = *last)
            }
            names => names.concat(),
        }
    }

    /// Joins alternatives: `a`, `a or b`, `a, b or c`.
    pub(super) fn alternatives(&self, names: &[String]) -> String {
        match names {
            [first @ .., last] if !first.is_empty() => {
                say!(self, "page-alternatives", first = first.join(", "), last)
            }
            names => names.concat(),
        }
    }
}
