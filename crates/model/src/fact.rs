//! Typed facts of a run or a trial, other than measurements

use crate::advice::IndexBuild;
use crate::copied_data::CopiedData;
use crate::explain::Plans;
use crate::fault_injection::FaultInjection;
use crate::feed_coverage::FeedCoverage;
use crate::freshness::Freshness;
use crate::matrix::UnappliedLimit;
use crate::message::Message;
use crate::note::{Note, OmittedFact};
use crate::objective::ObjectiveResult;
use crate::search::{CellSuspects, SearchStep};
use crate::server_log::DeadlockGroup;
use crate::stop::StopEvent;
use crate::table_sizes::TableSizes;
use crate::target::TargetState;
use crate::{AgentPart, Outage, ReplayFigures, StepFailure};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Kind of a fact, as stored in a run file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactKind {
    /// Name of the kind, `[a-z_]+`.
    pub name: &'static str,
    /// Version of the payload. It is increased when an older pgdyno would misread a new payload.
    pub version: u32,
}

/// Macro that defines [`Fact`] from rows: variant, payload, name and version of the kind.
macro_rules! facts {
    ($($(#[$doc:meta])* $variant:ident($payload:ty) = $name:literal, $version:literal;)+) => {
        /// Fact that a run file stores besides its measurements.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Fact {
            $($(#[$doc])* $variant($payload),)+
        }

        impl Fact {
            /// All kinds of facts, in the order of the variants.
            pub const KINDS: &[FactKind] = &[$(FactKind { name: $name, version: $version }),+];

            pub fn kind(&self) -> FactKind {
                match self {
                    $(Fact::$variant(_) => FactKind { name: $name, version: $version },)+
                }
            }

            pub fn serialize_payload<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Fact::$variant(payload) => payload.serialize(serializer),)+
                }
            }

            /// Fact with this payload; `None` if no kind has this name.
            pub fn deserialize_payload<'de, D: Deserializer<'de>>(
                kind: &str,
                payload: D,
            ) -> Option<Result<Fact, D::Error>> {
                match kind {
                    $($name => Some(<$payload>::deserialize(payload).map(Fact::$variant)),)+
                    _ => None,
                }
            }
        }
    };
}

facts! {
    /// Shell command that repeats the run; stored once per run.
    Command(String) = "command", 1;
    /// Suspected limiters of a cell's maximum; stored once per cell of the run.
    Suspects(CellSuspects) = "suspects", 1;
    /// Search step that the trial measures.
    SearchStep(SearchStep) = "search_step", 1;
    /// Identity of the attached server and state of its data before the trial.
    TargetState(TargetState) = "target_state", 1;
    /// Origin and tables of data that were copied from a database.
    CopiedData(CopiedData) = "copied_data", 1;
    /// Coverage of a table by a feed.
    FeedCoverage(FeedCoverage) = "feed_coverage", 1;
    /// Index built for the trial.
    IndexBuild(IndexBuild) = "index_build", 1;
    /// Limit of the generator that could not be applied.
    UnappliedLimit(UnappliedLimit) = "unapplied_limit", 2;
    /// CPU time of pgdyno's monitoring relative to the duration of the trial: 0.01 is 1 % of one CPU.
    MonitoringCpu(f64) = "monitoring_cpu", 1;
    /// Stop rule that ended the trial.
    StopRule(StopEvent) = "stop_rule", 1;
    /// Result of an objective.
    Objective(ObjectiveResult) = "objective", 2;
    /// Outages during the trial, at least one.
    Outages(Vec<Outage>) = "outages", 1;
    /// Injected faults and their effects.
    FaultInjection(Box<FaultInjection>) = "fault_injection", 2;
    /// Staleness of reads on replicas.
    Freshness(Freshness) = "freshness", 1;
    /// Sizes of the dataset's tables; at most twenty tables.
    TableSizes(Vec<TableSizes>) = "table_sizes", 1;
    /// Deadlocks of about one second, by their statements.
    Deadlocks(Vec<DeadlockGroup>) = "deadlocks", 1;
    /// Parts of the agents that generated the load.
    Agents(Vec<AgentPart>) = "agents", 1;
    /// Comparison of responses with the responses in the replayed log, by operation.
    Replay(Vec<ReplayFigures>) = "replay", 1;
    /// First failure of a step with one code; one fact per step and code.
    StepFailure(StepFailure) = "step_failure", 1;
    /// Plans of the cell's statements.
    Plans(Plans) = "plans", 2;
    /// Reason why the trial or the run is not complete. The outcome contains its text in the run's language.
    Reason(Message) = "reason", 1;
    /// Note for readers, for example about missing data.
    Note(Note) = "note", 1;
    /// Fact that was too long to be stored.
    Omitted(OmittedFact) = "omitted", 1;
}
