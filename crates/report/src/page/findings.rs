//! What follows, and where can it be seen?

use super::case::Case;
use super::{Block, Link};
use crate::findings::told;
use crate::lang::page::Term;
use model::chart::ChartKind;
use model::finding::{Bound, Circumstance, Finding};

/// Links of one finding to its evidence.
const MOST: usize = 4;

pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let account = case.account;
    if account.findings.is_empty() {
        return Vec::new();
    }
    let evidence = |all: &[&Finding]| evidence(case, all);
    let findings = told(&account.findings, &account.matrix, case.lang, &evidence);
    vec![Block::Findings { findings }]
}

/// Charts of the first cells that show it; the matrix where none does.
fn evidence(case: &Case<'_>, all: &[&Finding]) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for finding in all {
        let (cell, kinds) = seen(finding);
        let Some(trial) = case.trial_of(cell) else { continue };
        let charted = case.charted()[trial];
        for kind in kinds {
            if links.len() < MOST && charted.charts.charts.iter().any(|it| it.kind == *kind) {
                let name = case.lang.trial(case.name(cell), charted.repetition + 1);
                let text = format!("{}: {name}", case.lang.chart(*kind));
                links.push(Link { text, section: "charts", trial: Some(trial), chart: Some(*kind) });
            }
        }
    }
    if links.is_empty() {
        let text = case.lang.term(Term::Matrix).to_owned();
        links.push(Link { text, section: "matrix", trial: None, chart: None });
    }
    links
}

/// The cell it is of, and the charts in which it is seen.
fn seen(it: &Finding) -> (usize, &'static [ChartKind]) {
    use ChartKind::{
        Connections, Disk, Failures, InFlight, Pooler, Processors, Rate, Response, SendLag, Waits,
    };
    match it {
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
        Finding::AnswerSizes { cell, .. } => (*cell, &[Rate, Response]),
        Finding::Deadlocks { cell, .. } | Finding::NotConcurrent { cell, .. } => (*cell, &[Failures]),
        Finding::RunIsClosed { cell, .. } => (*cell, &[InFlight, Rate]),
        Finding::OpenAndClosed { cell, .. } => (*cell, &[Response, Rate]),
        Finding::FeedsDiffer { cell, .. } => (*cell, &[Response, Disk]),
        Finding::Bound { cell, by } => (
            *cell,
            match by {
                Bound::Service { .. } => &[Processors],
                Bound::ServicePool { .. } | Bound::ServiceThreads { .. } => &[InFlight, Connections],
                Bound::Reads { .. } | Bound::Writes { .. } | Bound::Memory { .. } => &[Disk, Waits],
                Bound::WalFlush { .. } | Bound::SyncReplicas { .. } | Bound::RowLocks { .. } => &[Waits],
                Bound::Scans { .. } => &[Processors],
                Bound::Checkpoints { .. } => &[Rate, Disk],
                Bound::Clients { .. } => &[InFlight, Processors],
            },
        ),
        Finding::Circumstance { cell, it } => (
            *cell,
            match it {
                Circumstance::FeedFits { .. } => &[Disk],
                Circumstance::PoolsInRow { .. }
                | Circumstance::Little { .. }
                | Circumstance::NotUsed { .. } => &[Pooler],
                Circumstance::Storm { .. } => &[Connections, Failures],
                Circumstance::IdleTransactions { .. } => &[Connections, Waits],
                Circumstance::GeneratorLate { .. } => &[SendLag],
                Circumstance::NoisyHost { .. } => &[Processors, SendLag],
                Circumstance::Bloat { .. } | Circumstance::NotJudged { .. } => &[],
            },
        ),
    }
}
