//! Durability promises in force when a write was acknowledged

use super::ledger_survey::LedgerSurvey;
use model::Nanos;
use model::durability::{AnomalyKind, DurabilityHistory, Promise, ServerInstance, WriteAttempt};

/// Durability promises of each server, with the times from which they were in force.
#[derive(Debug)]
pub(super) struct PromiseHistory<'a> {
    /// All promises, ordered by time.
    all: Vec<(Nanos, &'a ServerInstance, &'a Promise)>,
    survey: &'a LedgerSurvey,
}

/// Durability promised by the settings that may have been in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromiseStrength {
    /// The write survives the loss of the primary.
    Replicated,
    /// The write is on the primary's disk; nothing more is certain.
    Local,
    None,
    /// The write survives the loss of the primary under some of the settings that may have been in force, but not under
    /// all of them.
    Ambiguous,
    /// The settings were not sampled.
    Unknown,
}

/// Time margin around an acknowledgement. A change takes effect in each session at a different time, so promises within
/// the margin before and after an acknowledgement count as well.
pub(super) const MARGIN: Nanos = Nanos::from_secs(1);

impl<'a> PromiseHistory<'a> {
    pub fn new(history: &'a DurabilityHistory, survey: &'a LedgerSurvey) -> PromiseHistory<'a> {
        let all = history.promises.iter().map(|it| (it.at, &it.server, &it.promise)).collect();
        PromiseHistory { all, survey }
    }

    /// Strength of the promise for an acknowledged attempt.
    pub fn strength_for(&self, attempt: &WriteAttempt) -> PromiseStrength {
        let server = attempt.server.and_then(|it| self.survey.server(it));
        let (from, to) = (attempt.invoked - MARGIN, attempt.ended + MARGIN);
        let mut settled: Vec<&ServerInstance> = Vec::new();
        let mut in_force = Vec::new();
        for &(at, instance, promise) in self.all.iter().rev().filter(|it| it.0 <= to) {
            let may_be_it = server.is_none_or(|it| it.is_same_process(instance));
            if may_be_it && !settled.iter().any(|it| it.is_same_process(instance)) {
                in_force.push(promise);
                settled.extend((at <= from).then_some(instance));
            }
        }
        let mut strengths = in_force.into_iter();
        let Some(first) = strengths.next() else { return PromiseStrength::Unknown };
        let (mut least, mut most) = (first, first);
        for strength in strengths {
            (least, most) = (least.min(strength), most.max(strength));
        }
        match (least.outlives_primary(), most.outlives_primary(), least) {
            (true, _, _) => PromiseStrength::Replicated,
            (false, true, _) => PromiseStrength::Ambiguous,
            (false, false, Promise::None) => PromiseStrength::None,
            (false, false, _) => PromiseStrength::Local,
        }
    }
}

impl PromiseStrength {
    /// Anomaly to report if a write with this promise is lost.
    pub fn kind_of_loss(self) -> AnomalyKind {
        match self {
            PromiseStrength::Replicated => AnomalyKind::Lost,
            PromiseStrength::Local | PromiseStrength::None => AnomalyKind::LostWithoutPromise,
            PromiseStrength::Ambiguous | PromiseStrength::Unknown => AnomalyKind::LostAmbiguous,
        }
    }
}
