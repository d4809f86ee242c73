//! Words in the matrix of cells, and sentences below it

use super::Lang;
use crate::say;
use model::matrix::{ChangeVerdict, Figure, Hop, Placement, TrialStatus, UnappliedLimit};
use model::plan::{PoolMode, Transport};

impl Lang {
    /// A heading of the matrix with its unit, at most 12 columns.
    pub fn figure(&self, figure: Figure) -> String {
        match figure {
            Figure::Tps => say!(self, "matrix-tps"),
            Figure::P50 => say!(self, "matrix-p50"),
            Figure::P99 => say!(self, "matrix-p99"),
            Figure::Errors => say!(self, "matrix-errors"),
            Figure::Dropped => say!(self, "matrix-dropped"),
            Figure::Requests => say!(self, "matrix-requests"),
            Figure::Failed => say!(self, "matrix-failed-requests"),
            Figure::ReplicationLag => say!(self, "matrix-replication-lag"),
            Figure::Refused => say!(self, "matrix-refused"),
            Figure::Deadlocks => say!(self, "matrix-deadlocks"),
            Figure::Served => say!(self, "matrix-served"),
            Figure::Starved => say!(self, "matrix-starved"),
            Figure::PoolerCpu => say!(self, "matrix-pooler-cpu"),
            Figure::ServerCpu => say!(self, "matrix-server-cpu"),
            Figure::TimeToSteady => say!(self, "matrix-time-to-steady"),
        }
    }

    /// Short text of a verdict, at most 14 characters wide.
    pub fn verdict(&self, verdict: ChangeVerdict) -> String {
        match verdict {
            ChangeVerdict::NoEvidence => say!(self, "matrix-no-evidence"),
            ChangeVerdict::Lower => say!(self, "matrix-lower"),
            ChangeVerdict::Higher => say!(self, "matrix-higher"),
            ChangeVerdict::TooFewRuns => say!(self, "matrix-too-few-runs"),
        }
    }

    pub fn transport(&self, transport: Transport) -> String {
        match transport {
            Transport::Unix => say!(self, "matrix-unix"),
            Transport::Tcp => say!(self, "matrix-tcp"),
            Transport::Tls => say!(self, "matrix-tls"),
        }
    }

    /// Transport of a hop. `None` means an attached node, whose address determines the transport.
    pub fn transport_text(&self, transport: Option<Transport>) -> String {
        transport
            .map_or_else(|| say!(self, "matrix-attached-transport"), |transport| self.transport(transport))
    }

    /// Phrase for the pool's mode.
    pub(super) fn pool_mode(&self, mode: PoolMode) -> String {
        match mode {
            PoolMode::Session => say!(self, "matrix-session"),
            PoolMode::Transaction => say!(self, "matrix-transaction"),
            PoolMode::Statement => say!(self, "matrix-statement"),
        }
    }

    /// Adjective for the pool's mode, for use before the noun "mode".
    pub(super) fn of_pool_mode(&self, mode: PoolMode) -> String {
        match mode {
            PoolMode::Session => say!(self, "matrix-session-mode"),
            PoolMode::Transaction => say!(self, "matrix-transaction-mode"),
            PoolMode::Statement => say!(self, "matrix-statement-mode"),
        }
    }

    /// Describes the nodes of a stack with their limits, separated by `arrow`, such as `generator (on CPU 1) → TCP →
    /// POOLER (session, pool 20, 0.1 CPU) → TCP → PostgreSQL (50 slots, 1 CPU)`.
    pub fn path(&self, hops: &[Hop], generator: &Placement, arrow: &str) -> String {
        let mut text = format!("{} ({})", say!(self, "matrix-generator"), self.placement(generator));
        for (number, hop) in hops.iter().enumerate() {
            let is_server = number + 1 == hops.len();
            let size = hop.size.map(|size| match hop.mode {
                Some(_) => say!(self, "matrix-pool-size", size),
                None if is_server => say!(self, "matrix-slots", size),
                None => say!(self, "matrix-maxconn", size),
            });
            let mode = hop.mode.map(|mode| self.pool_mode(mode));
            // The limits of an attached node are not known.
            let placement = match hop.transport {
                Some(_) => self.placement(&hop.placement),
                None => say!(self, "matrix-attached"),
            };
            let about: Vec<String> = mode.into_iter().chain(size).chain([placement]).collect();
            let transport = self.transport_text(hop.transport);
            text += &format!(" {arrow} {transport} {arrow} {} ({})", hop.product, about.join(", "));
        }
        text
    }

    fn placement(&self, placement: &Placement) -> String {
        let numbers: Vec<String> = placement.cpus.iter().map(u32::to_string).collect();
        say!(
            self,
            "matrix-placement",
            quota = placement.cpu.map(|quota| self.numbers().plain(quota)),
            count = numbers.len(),
            numbers = numbers.join(&say!(self, "matrix-cpu-separator"))
        )
    }

    /// Reason why a trial with this status does not count.
    pub fn status(&self, status: &TrialStatus) -> String {
        match status {
            TrialStatus::Done | TrialStatus::Stopped { .. } => say!(self, "matrix-nothing-measured"),
            TrialStatus::Interrupted => say!(self, "matrix-interrupted"),
            TrialStatus::Skipped { reason } => say!(self, "matrix-skipped", reason),
            TrialStatus::Failed { reason } => say!(self, "matrix-failed", reason),
        }
    }

    /// Reports that `left_out` of `total` trials do not count, for one reason.
    pub fn left_out(&self, left_out: usize, total: usize, reason: &str) -> String {
        say!(self, "matrix-left-out", left_out, total, reason)
    }

    /// Reports limits that could not be applied for the same reason. `limits` contains at least one limit.
    pub fn not_applied(&self, limits: &[&UnappliedLimit]) -> String {
        let each: Vec<String> =
            limits.iter().map(|limit| format!("{}.{}", limit.node, limit.limit)).collect();
        let reason = limits.first().map(|limit| &limit.reason);
        say!(self, "matrix-limits-not-applied", limits = each.join(", "), reason)
    }

    /// Legend of the matrix's figures. `seed` is the seed of the resampling. `too_few` is true if some cells have too
    /// few trials for any comparison.
    pub fn legend(&self, baseline: Option<&str>, seed: u64, too_few: bool) -> String {
        say!(self, "matrix-legend", baseline, seed = seed.to_string(), too_few)
    }

    /// Number of CPUs that monitoring used.
    pub fn watching(&self, processors: f64) -> String {
        say!(self, "matrix-watching", share = self.numbers().percent(processors, 1))
    }
}
