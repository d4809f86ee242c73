//! Tests of a run whose primary is killed repeatedly

use super::invent::HOSTILE;
use super::*;
use crate::style::CharacterSet;
use crate::view::DrawnReplicas;
use model::durability::{
    AccessKind, Anomaly, AnomalyKind, ClientKind, ClientOutage, Conclusion, DurabilityVerdict,
    InconclusiveReason, RecoveryPoint, WriteCounts, WriteKey,
};
use model::fault_injection::{
    ControlSummary, DualPrimary, DurationRange, FailoverResult, FaultInjection, InjectedFault, OutageSummary,
    PromotionRecord, ReadBackPhase, ReadBackRecord, RejoinRecord,
};
use model::matrix::UnappliedLimit;
use model::plan::{
    ClusterManager, FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, Goal, Limits,
    Replication, SyncMode,
};
use model::run_result::{FaultPhase, FaultPhaseResult, HopMetrics, PeriodResult, Quantiles, TrialResult};
use model::{Nanos, PerSecond};

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn spread(least: u64, median: u64, greatest: u64) -> Option<DurationRange> {
    Some(DurationRange { min: ms(least), median: ms(median), max: ms(greatest) })
}

/// Write outage of connected clients.
fn write_outage(range: Option<DurationRange>) -> Vec<OutageSummary> {
    let (client, access) = (ClientKind::Connected, AccessKind::Write);
    range
        .map(|duration| OutageSummary { client, access, duration, ongoing: 0, own_wait: None })
        .into_iter()
        .collect()
}

fn write_gap(from: u64, to: u64) -> ClientOutage {
    let (client, access) = (ClientKind::Connected, AccessKind::Write);
    ClientOutage { fault: 0, client, access, from: ms(from), to: ms(to), usual: ms(20), ongoing: false }
}

fn kept() -> FailoverResult {
    FailoverResult {
        cell: 0,
        trials: 20,
        failovers: 20,
        conclusion: Some(Conclusion::Kept),
        bound: 0.139_1,
        counts: WriteCounts {
            acknowledged: 48_120,
            failed: 2100,
            unknown: 160,
            unknown_present: 31,
            ..WriteCounts::default()
        },
        lost: 0,
        anomalies: Vec::new(),
        doubts: Vec::new(),
        recovery_point: None,
        invariants: Vec::new(),
        outage: spread(1900, 2010, 2300),
        outages: write_outage(spread(1900, 2010, 2300)),
        promoted: spread(1200, 1300, 1510),
        healthy: spread(1700, 1800, 2000),
        rejoined: spread(3000, 3000, 3000),
        control: Some(ControlSummary { cell: 2, trials: 20, lossy_trials: 19, lost: 1022 }),
        objectives: Vec::new(),
    }
}

fn found(kind: AnomalyKind, count: u64) -> Anomaly {
    let key = |sequence| WriteKey { session: 3, sequence };
    Anomaly { kind, count, examples: (0..count.min(2)).map(key).collect() }
}

/// Result with a loss that broke no promise.
fn unpromised() -> FailoverResult {
    let window_ns = Some((-12_300_000, 28_000_000));
    FailoverResult {
        cell: 1,
        lost: 21,
        anomalies: vec![found(AnomalyKind::LostWithoutPromise, 21), found(AnomalyKind::LostLocal, 2)],
        recovery_point: Some(RecoveryPoint { count: 9, sessions: 4, longest_run: 3, window_ns }),
        ..kept()
    }
}

fn verdict(
    conclusion: Conclusion,
    findings: Vec<Anomaly>,
    doubts: Vec<InconclusiveReason>,
) -> DurabilityVerdict {
    DurabilityVerdict {
        conclusion,
        counts: WriteCounts::default(),
        anomalies: findings,
        doubts,
        recovery_point: None,
        invariants: Vec::new(),
        outages: vec![write_gap(4990, 7000)],
        failovers: 1,
        bound: 0.95,
        clock_steps_us: Vec::new(),
    }
}

fn fault_trial() -> FaultInjection {
    let action = FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node };
    let nodes = |it: &str| vec![it.to_owned()];
    let paused = FaultAction::Pause { target: FaultTarget::Replica, duration: ms(2000) };
    FaultInjection {
        injected: vec![
            InjectedFault {
                at: ms(1000),
                reverted: Some(ms(3000)),
                action: paused.clone(),
                nodes: nodes("postgres-3"),
            },
            InjectedFault { at: ms(5000), reverted: None, action, nodes: nodes("postgres") },
            InjectedFault { at: ms(9000), reverted: None, action: paused, nodes: Vec::new() },
        ],
        promotions: vec![PromotionRecord {
            from: "postgres".into(),
            to: "postgres-2".into(),
            at: ms(6300),
            healthy: Some(ms(6800)),
            timeline: 2,
            safe: Some(true),
        }],
        dual_primaries: Vec::new(),
        rejoins: vec![RejoinRecord {
            node: "postgres".into(),
            at: ms(9900),
            elapsed: ms(3000),
            rewound: true,
        }],
        read_backs: vec![ReadBackRecord {
            phase: ReadBackPhase::Load,
            node: "postgres-2".into(),
            rows: 2406,
            elapsed: ms(40),
        }],
        verdict: Some(verdict(Conclusion::Unknown, Vec::new(), vec![InconclusiveReason::NoControl])),
        local_control: None,
        errors: Vec::new(),
    }
}

fn fault_phases() -> Vec<FaultPhaseResult> {
    let phase = |phase, seconds, delivered, p99, failed| FaultPhaseResult {
        phase,
        period: PeriodResult {
            measured: Nanos::from_secs(seconds),
            delivered: PerSecond(delivered),
            arrivals: 10_000 + failed,
            count: 10_000,
            response: Quantiles { p50: Some(ms(2)), p99: Some(ms(p99)), ..Quantiles::default() },
            failed,
            dropped: 0,
            refused: 0,
        },
        replay_lag: (phase != FaultPhase::During).then_some(ms(80)),
    };
    vec![
        phase(FaultPhase::Before, 100, 510.0, 9, 0),
        phase(FaultPhase::During, 60, 12.5, 2900, 402),
        phase(FaultPhase::After, 300, 498.0, 14, 0),
    ]
}

/// Run with three cells, of which the third is the control of the others.
pub fn survived() -> RunResult {
    let mut result = account();
    result.experiment.goal = Goal::Failover;
    result.experiment.cells[2].control_of = Some(0);
    result.failovers = vec![kept(), unpromised()];
    result.cells[0].fault_phases = fault_phases();
    result.trials[0].fault_injection = Some(fault_trial());
    let lost = vec![found(AnomalyKind::Lost, 2)];
    let broken = verdict(Conclusion::Broken, lost, vec![InconclusiveReason::NoWritesAfterFault { fault: 0 }]);
    let troubles = vec!["postgres did not come back\nthe last lines of its log:\n  no space left".into()];
    let nodes = ["postgres".to_owned(), "postgres-2".to_owned()];
    let dual_primaries = vec![DualPrimary { nodes, from: ms(7100), to: ms(9500) }];
    result.trials[1].fault_injection =
        Some(FaultInjection { verdict: Some(broken), errors: troubles, dual_primaries, ..fault_trial() });
    result
}

/// Run with servers that hold the same rows, managed by pgdyno and by Patroni.
fn replicated() -> RunResult {
    let mut result = survived();
    let fault = Fault {
        trigger: FaultTrigger::At(ms(5000)),
        action: FaultAction::Restart { target: FaultTarget::Replica },
    };
    let limits = Limits { cpu: Some(0.5), ..Limits::default() };
    let builtin = Replication { limits, ..Replication::with_defaults(2, SyncMode::Any(1)) };
    let patroni = ClusterManager { store_servers: 3, ..ClusterManager::default() };
    let external = Replication {
        manager: FailoverManager::External(patroni),
        ..Replication::with_defaults(1, SyncMode::First(1))
    };
    for (cell, plan) in result.experiment.cells.iter_mut().zip([builtin, external]) {
        cell.setup.stack.replication = Some(plan);
    }
    result.experiment.cells[0].setup.faults = vec![fault];
    let replica = |node: &str, cpu| HopMetrics {
        node: node.into(),
        cpu: Some(cpu),
        cpu_limit: Some(0.5),
        ..HopMetrics::default()
    };
    result.cells[0].replicas = vec![replica("postgres-2", 0.5), replica("postgres-3", 0.1)];
    result.matrix.rows[0].unapplied_limits =
        vec![UnappliedLimit { node: "postgres-3".into(), limit: "cpu".into(), reason: "refused".into() }];
    result
}

#[test]
fn draws_replicas_with_their_primary() {
    for lang in lang::all() {
        let mut page = page(&replicated(), lang);
        page.sections.retain(|it| it.id == "stack");
        golden(&format!("replicated.{}.md", lang.code()), &to_markdown(&page));
    }
    let page = page(&replicated(), english());
    let drawn = page.sections.iter().flat_map(|it| &it.blocks).filter_map(|block| match block {
        Block::Drawing(drawing) => Some(drawing),
        _ => None,
    });
    let node_loads = |replicas: &DrawnReplicas| {
        replicas.nodes.iter().map(|node| Some(node.load.as_ref()?.share)).collect::<Vec<_>>()
    };
    let loads: Vec<_> = drawn.map(|drawing| drawing.replicas.as_ref().map(node_loads)).collect();
    assert_eq!(loads, [Some(vec![Some(1.0), Some(0.2)]), Some(vec![None])]);
}

#[test]
fn reports_what_an_open_ledger_leaves_unknown() {
    for (doubt, unresolved, reported) in [
        (InconclusiveReason::ControlLostNothing, 2, false),
        (InconclusiveReason::LedgerHasGaps { writes: 2 }, 2, false),
        (InconclusiveReason::LedgerOpen, 0, false),
        (InconclusiveReason::LedgerOpen, 2, true),
        (InconclusiveReason::LedgerTorn { bytes: 9 }, 2, true),
    ] {
        let mut result = survived();
        result.failovers[0].doubts = vec![doubt];
        result.failovers[0].counts.unresolved = unresolved;
        let text = to_markdown(&page(&result, english()));
        assert_eq!(text.contains("2 more writes may have been sent"), reported, "{doubt:?} {unresolved}");
    }
}

#[test]
fn folds_many_trials_and_keeps_all() {
    let lists = |faulted: usize, control: usize| {
        let mut result = survived();
        let trials = |account: &RunResult, count: usize, cell| {
            let one = |repetition| TrialResult { cell, repetition, ..account.trials[0].clone() };
            (0..count as u32).map(one).collect::<Vec<_>>()
        };
        result.trials = [trials(&result, faulted, 0), trials(&result, control, 2)].concat();
        if let Some(broken) = result.trials.get_mut(8).and_then(|it| it.fault_injection.as_mut()) {
            broken.verdict = Some(verdict(Conclusion::Broken, Vec::new(), Vec::new()));
        }
        result.failovers.truncate(1);
        let page = page(&result, english());
        let section = page
            .sections
            .into_iter()
            .find(|it| it.id == "failover")
            .expect("the page has a failover section");
        let names: Vec<String> = section.blocks.iter().filter_map(shape).collect();
        names.join(", ")
    };
    fn shape(block: &Block) -> Option<String> {
        match block {
            Block::List { items } => Some(items.len().to_string()),
            Block::Details { name, blocks } => {
                Some(format!("{name}: {}", blocks.iter().filter_map(shape).collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        }
    }
    assert_eq!(lists(6, 6), "12");
    assert_eq!(lists(12, 0), "12");
    assert_eq!(lists(12, 1), "12, 1");
    // The ninth trial is shown because it broke a promise.
    assert_eq!(lists(20, 13), "6, 14 more trials: 14, 5, 8 more trials: 8");
}

fn plain(text: &str) -> String {
    text.replace(['\u{202f}', '\u{a0}'], " ")
}

/// A trial takes one line; the log of its errors is separate.
#[test]
fn shows_logs_separately() {
    let page = page(&survived(), english());
    let blocks = || page.sections.iter().flat_map(|it| &it.blocks);
    let logs: Vec<&Block> = blocks().filter(|it| format!("{it:?}").contains("no space left")).collect();
    let [Block::Code { name, folded: true, .. }] = &logs[..] else { panic!("{logs:?}") };
    assert_eq!(name, "postgres did not come back");
    assert!(blocks().any(
        |block| matches!(block, Block::List { items } if items.iter().any(|item| item.text.contains(name)))
    ));
}

#[test]
fn renders_the_section_in_both_languages() {
    for lang in lang::all() {
        let mut page = page(&survived(), lang);
        assert_eq!(page.sections.iter().position(|it| it.id == "failover"), Some(2));
        page.sections.retain(|it| it.id == "failover");
        golden(&format!("survived.{}.md", lang.code()), &to_markdown(&page));
    }
    assert!(page(&account(), english()).sections.iter().all(|it| it.id != "failover"));
}

#[test]
fn terminal_shows_the_same() {
    let mut result = survived();
    result.failovers[0].conclusion = Some(Conclusion::Unknown);
    result.failovers[0].doubts = vec![InconclusiveReason::ControlLostNothing, InconclusiveReason::LedgerOpen];
    let style = TerminalStyle { width: 100, characters: CharacterSet::Utf8, colour: false };
    for lang in lang::all() {
        golden(&format!("survived.{}.txt", lang.code()), &crate::search_text::render(&result, style, lang));
    }
    result.failovers.clear();
    assert_eq!(crate::search_text::render(&result, style, english()), "");
}

/// A broken promise fails a CI pipeline. An unproven promise is not a success.
#[test]
fn junit_reports_lost_writes() {
    let mut result = survived();
    result.failovers[1].conclusion = Some(Conclusion::Broken);
    result.failovers.push(FailoverResult { cell: 2, conclusion: Some(Conclusion::Unknown), ..kept() });
    result.failovers.push(FailoverResult { cell: 2, conclusion: None, ..kept() });
    let text = junit(&result, "", english());
    let suite = text
        .split("<testsuite ")
        .find(|it| it.starts_with("name=\"Failover\""))
        .expect("there is a failover suite");
    for expected in ["tests=\"3\"", "failures=\"1\"", "skipped=\"1\"", "A promise was broken"] {
        assert!(suite.to_lowercase().contains(&expected.to_lowercase()), "{expected}: {suite}");
    }
}

/// The answer is about the worst cell.
#[test]
fn answers_with_the_worst_cell() {
    let check = |survivals: &[FailoverResult], expected: &str, tone: Tone| {
        let mut result = survived();
        if survivals.len() == 1 {
            result.experiment.cells.truncate(1);
        }
        result.failovers = survivals.to_vec();
        let answer = page(&result, english()).answer;
        assert_eq!((plain(&answer.text).as_str(), answer.tone), (expected, tone));
    };
    let kept_alone = "0 of 48120 acknowledged writes lost in 20 failovers (95 % CI: fewer than 14 % of failovers lose \
                      writes). Write outage: 2.01 s for a connected client (median, at most 2.30 s).";
    check(&[kept()], kept_alone, Tone::Good);
    let mut one = kept();
    (one.outages, one.failovers) = (Vec::new(), 0);
    check(&[one.clone()], "0 of 48120 acknowledged writes lost without a failover.", Tone::Good);
    one.conclusion = None;
    one.failovers = 3;
    check(&[one], "3 failovers; no operation has a ledger, so it is unknown what was lost.", Tone::Doubt);
    let lossy = FailoverResult { outages: Vec::new(), ..unpromised() };
    check(
        &[FailoverResult { cell: 0, ..lossy.clone() }],
        "21 of 48120 acknowledged writes lost in 20 failovers: recovery point 12.3 ms; nothing was promised for these writes.",
        Tone::Plain,
    );
    let unproven = FailoverResult {
        outages: Vec::new(),
        conclusion: Some(Conclusion::Unknown),
        doubts: vec![InconclusiveReason::ControlLostNothing],
        ..kept()
    };
    check(
        std::slice::from_ref(&unproven),
        "Not proven: the positive control lost nothing; 0 of 48120 acknowledged writes lost in 20 failovers.",
        Tone::Doubt,
    );
    let broken = FailoverResult {
        outages: Vec::new(),
        conclusion: Some(Conclusion::Broken),
        lost: 2,
        anomalies: vec![
            found(AnomalyKind::Lost, 2),
            found(AnomalyKind::Duplicate, 1),
            found(AnomalyKind::LostLocal, 4),
        ],
        ..kept()
    };
    let sentence = "a promise was broken: lost writes 2, duplicates 1; 2 of 48120 acknowledged writes lost in 20 failovers.";
    check(std::slice::from_ref(&broken), &sentence.replace("a promise", "A promise"), Tone::Bad);
    // With many cells, only the worst are shown.
    let name = page(&survived(), english()).sections[2].blocks.len();
    assert!(name > 0);
    let many = [kept(), broken, unproven, lossy];
    let mut run_result = survived();
    run_result.failovers = many.to_vec();
    let answer = page(&run_result, english()).answer;
    assert!(answer.text.ends_with(sentence) && answer.tone == Tone::Bad, "{}", answer.text);
    // The answer to another goal comes first.
    run_result.experiment.goal = Goal::Once;
    let both = page(&run_result, english()).answer;
    let first = page(&account(), english()).answer;
    assert_eq!((both.text, both.tone), (format!("{} {}", first.text, answer.text), Tone::Bad));
}

#[test]
fn asks_about_durability() {
    let ask = |cells: usize, lang: &Lang| {
        let mut result = survived();
        if cells == 1 {
            result.experiment.cells.remove(1);
        }
        page(&result, lang).question
    };
    let expected =
        "Does every write that PostgreSQL acknowledges survive a failover, and how long is the write outage?";
    assert_eq!(ask(1, english()), expected);
    let expected = "Does every acknowledged write survive a failover, and how long is the write outage?";
    assert_eq!(ask(3, english()), expected);
    let expected =
        "Переживает ли переключение каждая подтверждённая запись (PostgreSQL) и как долго невозможна запись?";
    assert_eq!(ask(1, russian()), expected);
}

/// Tables are as wide as their headings require, and untrusted texts stay text.
#[test]
fn escapes_hostile_names() {
    let mut result = survived();
    for row in &mut result.matrix.rows {
        row.label[0].1 += HOSTILE;
    }
    let injection = result.trials[0].fault_injection.as_mut().expect("the trial injects faults");
    injection.errors.push(HOSTILE.into());
    injection.injected[0].nodes = vec![HOSTILE.to_owned()];
    for lang in lang::all() {
        let page = page(&result, lang);
        for block in page.sections.iter().flat_map(|it| &it.blocks) {
            if let Block::Table(table) = block {
                assert!(
                    table.rows.iter().all(|it| it.cells.len() == table.columns.len()),
                    "{}",
                    table.caption
                );
            }
        }
        let text = to_markdown(&page);
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
    let style = TerminalStyle { width: 100, characters: CharacterSet::Ascii, colour: false };
    let text = crate::search_text::render(&result, style, english());
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
}
