//! Section with findings and links to their evidence

use super::context::PageContext;
use crate::findings::views;
use crate::say;
use crate::view::{Block, EvidenceLink};
use model::chart::ChartKind;
use model::finding::{Bound, Circumstance, Finding};

/// Maximum number of links of one finding to its evidence.
const LINKS_MAX: usize = 4;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let account = case.account;
    if account.findings.is_empty() {
        return Vec::new();
    }
    let evidence = |all: &[&Finding]| evidence(case, all);
    let findings = views(&account.findings, &account.matrix, case.lang, &evidence);
    vec![Block::Findings { findings }]
}

/// Links to the charts of the first cells that have the finding. If these cells have no charts, links to the matrix.
fn evidence(case: &PageContext<'_>, all: &[&Finding]) -> Vec<EvidenceLink> {
    let mut links: Vec<EvidenceLink> = Vec::new();
    for finding in all {
        let (cell, kinds) = chart_links(finding);
        let Some(trial) = case.trial_of(cell) else { continue };
        let charted = case.charted()[trial];
        for kind in kinds {
            if links.len() < LINKS_MAX && charted.charts.charts.iter().any(|it| it.kind == *kind) {
                let name = case.lang.trial(case.name(cell), charted.repetition + 1);
                let text = format!("{}: {name}", case.lang.chart(*kind));
                links.push(EvidenceLink { text, section: "charts", trial: Some(trial), chart: Some(*kind) });
            }
        }
    }
    if links.is_empty() {
        let text = say!(case.lang, "page-matrix");
        links.push(EvidenceLink { text, section: "matrix", trial: None, chart: None });
    }
    links
}

/// Returns the finding's cell, and the charts that show the finding.
fn chart_links(finding: &Finding) -> (usize, &'static [ChartKind]) {
    use ChartKind::{
        Connections, Disk, Failures, InFlight, Pooler, Processors, Rate, Response, SendLag, Waits,
    };
    match finding {
        Finding::SlotsExhausted { cell, .. } => (*cell, &[Connections, Failures]),
        Finding::ClientsStarved { cell, .. } => (*cell, &[]),
        Finding::NotCompared { cell, .. }
        | Finding::LikeForLikeCost { cell, .. }
        | Finding::UnlikeComparison { cell, .. }
        | Finding::NoDifference { cell, .. } => (*cell, &[]),
        Finding::HostBound { cell, .. }
        | Finding::GeneratorShare { cell, .. }
        | Finding::ServerBound { cell, .. } => (*cell, &[Processors]),
        Finding::QueueInPooler { cell, .. }
        | Finding::QueueInBalancer { cell, .. }
        | Finding::PoolBound { cell, .. }
        | Finding::ClientsLeftAfterTest { cell, .. } => (*cell, &[Pooler]),
        Finding::PoolerBound { cell, .. } => (*cell, &[Processors, Pooler]),
        Finding::SessionsWait { cell, .. } => (*cell, &[Waits]),
        Finding::Failures { cell, .. } => (*cell, &[Failures]),
        Finding::AnswerSizes { cell, .. }
        | Finding::RecordedStatus { cell, .. }
        | Finding::ReplayDiverged { cell, .. }
        | Finding::RequestsMissing { cell, .. }
        | Finding::RecordedResponseTimes { cell, .. }
        | Finding::ReplayAsRecorded { cell, .. }
        | Finding::NoRows { cell, .. } => (*cell, &[Rate, Response]),
        Finding::Deadlocks { cell, .. } | Finding::NotConcurrent { cell, .. } => (*cell, &[Failures]),
        Finding::NotOpenLoop { cell, .. } => (*cell, &[InFlight, Rate]),
        Finding::OpenAndClosed { cell, .. } => (*cell, &[Response, Rate]),
        Finding::LoginsDiffer { cell, .. } => (*cell, &[Connections, Processors]),
        Finding::FeedsDiffer { cell, .. } => (*cell, &[Response, Disk]),
        Finding::Bound { cell, bound } => (
            *cell,
            match bound {
                Bound::Service { .. } | Bound::HostCpu { .. } => &[Processors],
                Bound::ServicePool { .. } | Bound::ServiceThreads { .. } => &[InFlight, Connections],
                Bound::Reads { .. } | Bound::Writes { .. } | Bound::Memory { .. } => &[Disk, Waits],
                Bound::WalFlush { .. }
                | Bound::SyncReplicas { .. }
                | Bound::RowLocks { .. }
                | Bound::Locks { .. } => &[Waits],
                Bound::ResultReading { .. } => &[Waits, Response],
                Bound::DelayedAcknowledgements { .. } => &[Response],
                Bound::Scans { .. } | Bound::AvoidableWork { .. } => &[Processors],
                Bound::Checkpoints { .. } => &[Rate, Disk],
                Bound::Clients { .. } => &[InFlight, Processors],
            },
        ),
        Finding::Circumstance { cell, circumstance } => (
            *cell,
            match circumstance {
                Circumstance::FeedFitsCache { .. } => &[Disk],
                Circumstance::ChainedPools { .. }
                | Circumstance::LittlesLawViolation { .. }
                | Circumstance::NotUsed { .. } => &[Pooler],
                Circumstance::DeadlockStatements { .. } | Circumstance::HiddenDeadlocks { .. } => &[Failures],
                Circumstance::ActiveCollapse { .. } => &[Pooler, Connections, InFlight],
                Circumstance::NoFreeSlots { .. } | Circumstance::SessionsLost { .. } => {
                    &[Connections, Failures]
                }
                Circumstance::UnevenCopies { .. } => &[Processors, Rate],
                Circumstance::ConnectionStorm { .. } => &[Connections, Failures],
                Circumstance::ErrorOrigins { .. } => &[Failures],
                Circumstance::IdleTransactions { .. } => &[Connections, Waits],
                Circumstance::GeneratorLate { .. } => &[SendLag],
                Circumstance::NoisyHost { .. } => &[Processors, SendLag],
                Circumstance::DataChanged { .. } => &[Response, Rate],
                Circumstance::TrialTrends { .. }
                | Circumstance::Bloat { .. }
                | Circumstance::RulesSkipped { .. } => &[],
            },
        ),
    }
}
