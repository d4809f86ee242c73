//! Facts of a run file, grouped by trial

use model::advice::IndexBuild;
use model::copied_data::CopiedData;
use model::explain::Plans;
use model::fact::Fact;
use model::fault_injection::FaultInjection;
use model::feed_coverage::FeedCoverage;
use model::freshness::Freshness;
use model::matrix::UnappliedLimit;
use model::message::Message;
use model::note::Note;
use model::search::{CellSuspects, SearchStep};
use model::server_log::DeadlockGroup;
use model::stop::StopEvent;
use model::table_sizes::TableSizes;
use model::target::TargetState;
use model::{AgentPart, Outage, ReplayFigures, StepFailure};
use std::collections::BTreeMap;
use store::{Run, TrialId};

/// Facts of one trial, or of the run.
#[derive(Debug, Default)]
pub struct FactSet {
    pub command: Option<String>,
    pub suspects: Vec<CellSuspects>,
    pub step: Option<SearchStep>,
    pub target: Option<TargetState>,
    pub copied_data: Option<CopiedData>,
    pub feed_coverage: Vec<FeedCoverage>,
    pub index_builds: Vec<IndexBuild>,
    pub unapplied_limits: Vec<UnappliedLimit>,
    pub monitoring_cpu: Option<f64>,
    pub stop: Option<StopEvent>,
    pub outages: Option<Vec<Outage>>,
    pub fault_injection: Option<FaultInjection>,
    pub freshness: Option<Freshness>,
    pub table_sizes: Vec<TableSizes>,
    pub deadlocks: Vec<DeadlockGroup>,
    pub agents: Vec<AgentPart>,
    pub replays: Vec<ReplayFigures>,
    pub step_failures: Vec<StepFailure>,
    pub plans: Option<Plans>,
    pub notes: Vec<Note>,
    /// Reason why the trial or the run is not complete.
    pub reason: Option<Message>,
}

/// Facts of each trial; the key `None` is the run itself.
pub fn fact_sets(run: &Run) -> store::Result<BTreeMap<Option<TrialId>, FactSet>> {
    let mut sets: BTreeMap<_, FactSet> = BTreeMap::new();
    for record in run.facts()? {
        sets.entry(record.trial).or_default().add(record.fact);
    }
    Ok(sets)
}

impl FactSet {
    fn add(&mut self, fact: Fact) {
        match fact {
            Fact::Command(command) => self.command = Some(command),
            Fact::Suspects(suspects) => self.suspects.push(suspects),
            Fact::SearchStep(step) => self.step = Some(step),
            Fact::TargetState(target) => self.target = Some(target),
            Fact::CopiedData(data) => self.copied_data = Some(data),
            Fact::FeedCoverage(coverage) => self.feed_coverage.push(coverage),
            Fact::IndexBuild(build) => self.index_builds.push(build),
            Fact::UnappliedLimit(limit) => self.unapplied_limits.push(limit),
            Fact::MonitoringCpu(share) => self.monitoring_cpu = Some(share),
            Fact::StopRule(event) => self.stop = Some(event),
            // Ignore stored results of objectives, because they are computed again from the summary with the rules of
            // this version.
            Fact::Objective(_) => {}
            Fact::Outages(outages) => self.outages = Some(outages),
            Fact::FaultInjection(faults) => self.fault_injection = Some(*faults),
            Fact::Freshness(freshness) => self.freshness = Some(freshness),
            Fact::TableSizes(sizes) => self.table_sizes = sizes,
            Fact::Deadlocks(groups) => {
                groups.into_iter().for_each(|it| it.add_to(&mut self.deadlocks));
            }
            Fact::Agents(parts) => self.agents = parts,
            Fact::Replay(figures) => self.replays = figures,
            Fact::StepFailure(failure) => self.step_failures.push(failure),
            Fact::Plans(plans) => self.plans = Some(plans),
            Fact::Reason(reason) => self.reason = Some(reason),
            Fact::Note(note) => self.notes.push(note),
            Fact::Omitted(omitted) => self.notes.push(omitted.into()),
        }
    }
}
