//! Durability promises in force when a write was acknowledged

use super::ledger_survey::LedgerSurvey;
use model::Nanos;
use model::durability::{AnomalyKind, DurabilityHistory, Promise, ServerInstance, WriteAttempt};

/// Durability promises of each server, with the times from which they were in force.
#[derive(Debug)]
pub(super) struct PromiseHistory<'a> {
    history: &'a DurabilityHistory,
    survey: &'a LedgerSurvey,
    /// True if a server had `fsync = off`.
    unsynced: bool,
}

/// Durability promised by the settings that may have been in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromiseStrength {
    /// The write survives the loss of the primary.
    Replicated,
    /// The write survives a crash of its own server; nothing more is certain.
    Local,
    None,
    /// The write survives the loss of the primary under some of the settings that may have been in force, but not under
    /// all of them. Under all of them, it survives a crash of its own server.
    AmbiguousLocal,
    /// The write does not survive the loss of the primary. Under some of the settings that may have been in force, but
    /// not under all of them, it survives a crash of its own server.
    NoneOrLocal,
    /// The settings that may have been in force include `off`, or were not sampled.
    Ambiguous {
        is_sampled: bool,
    },
}

/// Event that may explain the loss of a write that does not survive every fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossCause {
    /// Another server became the primary after the write was acknowledged.
    Failover,
    /// The server of the write crashed, or may have crashed, and recovered.
    Crash,
    /// Nothing that was observed explains a loss.
    None,
    /// It is not known on which timeline the write was acknowledged.
    Unknown,
}

/// Time margin around an acknowledgement. A change takes effect in each session at a different time, so promises within
/// the margin before and after an acknowledgement count as well.
pub(super) const MARGIN: Nanos = Nanos::from_secs(1);

impl<'a> PromiseHistory<'a> {
    pub fn new(history: &'a DurabilityHistory, survey: &'a LedgerSurvey) -> PromiseHistory<'a> {
        let unsynced = history.samples.iter().any(|it| !it.fsync);
        PromiseHistory { history, survey, unsynced }
    }

    /// Strength of the promise for an acknowledged attempt.
    pub fn strength_for(&self, attempt: &WriteAttempt) -> PromiseStrength {
        let server = attempt.server.and_then(|it| self.survey.server(it));
        let (from, to) = (attempt.invoked - MARGIN, attempt.ended + MARGIN);
        let mut settled: Vec<&ServerInstance> = Vec::new();
        let mut in_force = Vec::new();
        for change in self.history.promises.iter().rev().filter(|it| it.at <= to) {
            let may_be_it = server.is_none_or(|it| it.is_same_process(&change.server));
            if may_be_it && !settled.iter().any(|it| it.is_same_process(&change.server)) {
                in_force.push(&change.promise);
                settled.extend((change.at <= from).then_some(&change.server));
            }
        }
        let crashed = self.history.faults.iter().any(|it| it.crashes_hosts && it.at >= attempt.invoked);
        let is_replicated = |promise: &Promise| match crashed {
            true => promise.outlives_hosts() && !self.unsynced,
            false => promise.outlives_primary(),
        };
        // Without fsync, a crash of the operating system may lose everything.
        let is_local = |it: &Promise| *it != Promise::None && !(crashed && self.unsynced);
        let all_local = in_force.iter().all(|it| is_local(it));
        let any_local = in_force.iter().any(|it| is_local(it));
        let replicated = in_force.iter().filter(|it| is_replicated(it)).count();
        match (in_force.len(), replicated) {
            (0, _) => PromiseStrength::Ambiguous { is_sampled: false },
            (all, replicated) if all == replicated => PromiseStrength::Replicated,
            (_, 0) if all_local => PromiseStrength::Local,
            (_, 0) if any_local => PromiseStrength::NoneOrLocal,
            (_, 0) => PromiseStrength::None,
            _ if all_local => PromiseStrength::AmbiguousLocal,
            _ => PromiseStrength::Ambiguous { is_sampled: true },
        }
    }

    /// Strength of the promise for an attempt that was acknowledged with the warning. A server sends the warning after it
    /// has flushed the commit to its own disk.
    pub fn strength_after_warning(&self, attempt: &WriteAttempt) -> PromiseStrength {
        let crashed = self.history.faults.iter().any(|it| it.crashes_hosts && it.at >= attempt.invoked);
        if crashed && self.unsynced { PromiseStrength::None } else { PromiseStrength::Local }
    }

    /// Event that may explain why an acknowledged attempt is absent.
    pub fn loss_cause(&self, attempt: &WriteAttempt) -> LossCause {
        let takeovers = &self.survey.takeovers;
        let known = attempt.server.and_then(|it| self.survey.server(it));
        let Some(server) = known.or_else(|| takeovers.primary_at(attempt.ended)) else {
            return LossCause::Unknown;
        };
        if takeovers.deposed_at(server).is_some_and(|it| it > attempt.ended) {
            return LossCause::Failover;
        }
        let faulted = self.history.faults.iter().any(|it| it.at >= attempt.invoked);
        if faulted || takeovers.was_restarted(server) { LossCause::Crash } else { LossCause::None }
    }
}

impl PromiseStrength {
    /// Anomaly to report if a write with this promise is lost.
    pub fn kind_of_loss(self, cause: LossCause) -> AnomalyKind {
        match (self, cause) {
            // Without a failover or a crash, every acknowledged write stays.
            (PromiseStrength::Replicated, _) | (_, LossCause::None) => AnomalyKind::Lost,
            (PromiseStrength::Local | PromiseStrength::AmbiguousLocal, LossCause::Crash) => AnomalyKind::Lost,
            (PromiseStrength::Local | PromiseStrength::NoneOrLocal, LossCause::Failover) => {
                AnomalyKind::LostWithoutPromise
            }
            (PromiseStrength::None, LossCause::Failover | LossCause::Crash) => {
                AnomalyKind::LostWithoutPromise
            }
            (PromiseStrength::AmbiguousLocal | PromiseStrength::Ambiguous { .. }, _)
            | (PromiseStrength::NoneOrLocal, LossCause::Crash | LossCause::Unknown)
            | (PromiseStrength::Local | PromiseStrength::None, LossCause::Unknown) => {
                AnomalyKind::LostAmbiguous
            }
        }
    }
}
