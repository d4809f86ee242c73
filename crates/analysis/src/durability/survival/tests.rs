//! Results of cells from simulated trials

use super::*;
use crate::fixture::trial::experiment;
use model::durability::WriteKey;
use model::plan::{FaultScope, FaultTarget, Replication, SyncMode};

const MILLI: u64 = 1_000_000;

fn ms(millis: u64) -> Nanos {
    Nanos(millis * MILLI)
}

fn killed(at: u64, node: &str) -> InjectedFault {
    let action = FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node };
    InjectedFault { at: ms(at), reverted: None, action, nodes: vec![node.to_owned()] }
}

fn outage(fault: usize, client: ClientKind, from: u64, to: u64) -> ClientOutage {
    let (from, to, usual) = (ms(from), ms(to), ms(60));
    ClientOutage { fault, client, access: AccessKind::Write, from, to, usual, ongoing: false }
}

fn verdict() -> DurabilityVerdict {
    DurabilityVerdict {
        conclusion: Conclusion::Unknown,
        counts: WriteCounts { acknowledged: 100, unknown: 4, unknown_present: 1, ..WriteCounts::default() },
        anomalies: Vec::new(),
        doubts: vec![InconclusiveReason::NoControl],
        recovery_point: None,
        invariants: Vec::new(),
        outages: vec![outage(0, ClientKind::Connected, 990, 3000)],
        failovers: 1,
        bound: 0.95,
        clock_steps_us: Vec::new(),
    }
}

/// A trial in which the primary was killed at 1 s and another server was promoted. Each word changes the trial. `lost`,
/// `ambiguous`, `unpromised`, `local`, `retried` and `hole` have a count. `younger`, `torn`, `contradicts`,
/// `elsewhere`, `silent` and `changed` are doubts. `undone` removes the fault's nodes and the promotion, and `nothing`
/// removes the ledger.
fn trial(words: &str) -> FaultInjection {
    let promoted = PromotionRecord {
        from: "postgres".to_owned(),
        to: "postgres-2".to_owned(),
        at: ms(2200),
        healthy: Some(ms(2700)),
        timeline: 2,
        safe: Some(true),
    };
    let mut injection = FaultInjection {
        injected: vec![killed(1000, "postgres")],
        promotions: vec![promoted],
        verdict: Some(verdict()),
        ..FaultInjection::default()
    };
    for word in words.split_whitespace() {
        let (word, count) = word.split_once('=').unwrap_or((word, "1"));
        let count: u64 = count.parse().expect("a number");
        let examples =
            (0..count.min(EXAMPLES as u64)).map(|sequence| WriteKey { session: 0, sequence }).collect();
        let kind = match word {
            "lost" => Some(AnomalyKind::Lost),
            "ambiguous" => Some(AnomalyKind::LostAmbiguous),
            "unpromised" => Some(AnomalyKind::LostWithoutPromise),
            "local" => Some(AnomalyKind::LostLocal),
            "retried" => Some(AnomalyKind::DuplicateByRetry),
            "hole" => Some(AnomalyKind::Hole),
            _ => None,
        };
        let Some(verdict) = &mut injection.verdict else { panic!("`nothing` must be the only word") };
        if let Some(kind) = kind {
            verdict.anomalies.push(Anomaly { kind, count, examples });
            if kind == AnomalyKind::LostWithoutPromise {
                let window_ns = Some((-(count as i64), 5));
                let point = RecoveryPoint { count, sessions: 1, longest_run: count, window_ns };
                verdict.recovery_point = Some(point);
            }
            continue;
        }
        match word {
            "younger" => verdict.doubts.push(InconclusiveReason::NewerThanReadBacks { count }),
            "torn" => verdict.doubts.push(InconclusiveReason::LedgerTorn { bytes: count }),
            "contradicts" => {
                verdict.doubts.push(InconclusiveReason::LedgerContradictsItself { entries: count });
            }
            "elsewhere" => {
                verdict.doubts.push(InconclusiveReason::ReadFromOtherSystem { reading: count as usize });
            }
            "silent" => verdict.doubts.push(InconclusiveReason::NoWritesAfterFault { fault: 0 }),
            "changed" => verdict.doubts.push(InconclusiveReason::LostWhilePromiseChanged),
            "undone" => {
                injection.injected[0].nodes.clear();
                injection.promotions.clear();
                verdict.failovers = 0;
            }
            "nothing" => injection.verdict = None,
            other => panic!("{other}"),
        }
    }
    injection
}

fn survival(trials: &str, control: &str) -> FailoverResult {
    let read = |all: &str| all.split('|').map(trial).collect::<Vec<FaultInjection>>();
    let (trials, control) = (read(trials), (control != "none").then(|| read(control)));
    let trials: Vec<&FaultInjection> = trials.iter().collect();
    let control: Option<Vec<&FaultInjection>> = control.as_ref().map(|it| it.iter().collect());
    cell_result(3, &trials, control.as_deref().map(|it| (7, it))).expect("there are trials")
}

/// Checks conclusion, anomalies, losses and writes, and doubts.
#[track_caller]
fn check(trials: &str, control: &str, expected: &str) {
    let result = survival(trials, control);
    let found: Vec<String> =
        result.anomalies.iter().map(|it| format!("{:?} {}", it.kind, it.count)).collect();
    let conclusion = result.conclusion.map_or("no ledger".to_owned(), |it| format!("{it:?}"));
    let summary = format!(
        "{conclusion}: {} of {} in {}/{} [{}] {:?}",
        result.lost,
        result.counts.acknowledged,
        result.failovers,
        result.trials,
        found.join(", "),
        result.doubts
    );
    assert_eq!(summary, expected, "{trials} beside {control}");
}

#[test]
fn concludes_from_trials_and_control() {
    check("", "unpromised=7", "Kept: 0 of 100 in 1/1 [] []");
    check("||", "unpromised=7|", "Kept: 0 of 300 in 3/3 [] []");
    // Without a control, this setup may be unable to lose writes.
    check("||", "none", "Unknown: 0 of 300 in 3/3 [] [NoControl]");
    check("||", "||", "Unknown: 0 of 300 in 3/3 [] [ControlLostNothing]");
    // A control without a ledger, or with a contradictory one, proves nothing.
    check("", "nothing", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "unpromised=7 contradicts", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "local=7", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "lost=1", "Kept: 0 of 100 in 1/1 [] []");
    check("", "ambiguous=1", "Kept: 0 of 100 in 1/1 [] []");
    // One broken promise is enough, whatever the number of failovers.
    check("|lost=2|", "unpromised", "Broken: 2 of 300 in 3/3 [Lost 2] []");
    check("|lost=2|torn=9", "none", "Broken: 2 of 300 in 3/3 [Lost 2] [LedgerTorn { bytes: 9 }]");
    check("hole=1", "none", "Broken: 0 of 100 in 1/1 [Hole 1] [NoControl]");
    // A doubt about one trial is a doubt about the cell.
    check("|silent|", "unpromised", "Unknown: 0 of 300 in 3/3 [] [NoWritesAfterFault { fault: 0 }]");
    check(
        "lost=2 contradicts",
        "unpromised",
        "Unknown: 0 of 100 in 1/1 [Lost 2] [LedgerContradictsItself { entries: 1 }]",
    );
    // Losses without a promise are not a violation. Even without a control, they prove that losses are detected.
    check("unpromised=3|", "none", "Kept: 3 of 200 in 2/2 [LostWithoutPromise 3] []");
    check("local=3|", "unpromised", "Kept: 0 of 200 in 2/2 [LostLocal 3] []");
    check(
        "ambiguous=1 changed",
        "none",
        "Unknown: 1 of 100 in 1/1 [LostAmbiguous 1] [LostWhilePromiseChanged]",
    );
    // Without a ledger there is no conclusion. If only one of several trials has no ledger, that trial counts as not
    // read back.
    check("nothing|nothing", "none", "no ledger: 0 of 0 in 2/2 [] []");
    check("|nothing", "unpromised", "Unknown: 0 of 100 in 2/2 [] [NotReadBack]");
    check("|undone", "unpromised", "Kept: 0 of 200 in 1/1 [] []");
    check("undone|undone", "unpromised", "Unknown: 0 of 200 in 0/0 [] [NoFault]");
}

#[test]
fn merges_anomalies_and_doubts() {
    check(
        "retried=9 unpromised=8|unpromised=8 lost=1",
        "none",
        "Broken: 17 of 200 in 2/2 [Lost 1, LostWithoutPromise 16, DuplicateByRetry 9] []",
    );
    check(
        "younger=2 elsewhere=0|younger=3 elsewhere=0|elsewhere=1 torn=1",
        "unpromised",
        "Unknown: 0 of 300 in 3/3 [] [NewerThanReadBacks { count: 5 }, ReadFromOtherSystem { reading: 0 }, \
         ReadFromOtherSystem { reading: 1 }, LedgerTorn { bytes: 1 }]",
    );
    let result = survival("unpromised=8|unpromised=8", "none");
    assert_eq!(result.anomalies[0].examples.len(), EXAMPLES);
    // If several trials have the most losses, the first of them counts.
    let window = |trials: &str| survival(trials, "none").recovery_point.and_then(|it| it.window_ns);
    assert_eq!(window("unpromised=8|unpromised=9|unpromised=2"), Some((-9, 5)));
    let mut equal = [trial("unpromised=8"), trial("unpromised=8")];
    let point = equal[1]
        .verdict
        .as_mut()
        .and_then(|it| it.recovery_point.as_mut())
        .expect("the trial has a recovery point");
    point.window_ns = None;
    let result = cell_result(0, &equal.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(result.recovery_point.and_then(|it| it.window_ns), Some((-8, 5)));
    assert_eq!(window("|lost=2"), None);
}

#[test]
fn computes_bounds_and_counts() {
    let many = vec![""; 20].join("|");
    let result = survival(&many, "none");
    assert!((result.bound - 0.139_1).abs() < 1e-4, "{}", result.bound);
    // A trial may have several failovers, or none.
    let mut several = trial("");
    several.verdict.as_mut().expect("the trial has a verdict").failovers = 20;
    let result = cell_result(0, &[&several], None).expect("there is a trial");
    assert_eq!((result.trials, result.failovers, (result.bound * 1e3).round()), (1, 20, 139.0));
    let result = survival("", "unpromised=5|unpromised=6|");
    assert_eq!(result.control, Some(ControlSummary { cell: 7, trials: 3, lossy_trials: 2, lost: 11 }));
    assert_eq!(
        survival("", "undone").control,
        Some(ControlSummary { cell: 7, trials: 0, lossy_trials: 0, lost: 0 })
    );
    assert_eq!(survival("undone", "none").bound.to_bits(), 1.0_f64.to_bits());
    assert_eq!(cell_result(0, &[], None), None);
    let one = trial("");
    assert_eq!(cell_result(0, &[&one], Some((1, &[]))).expect("there is a trial").control, None);
    // A trial with a ledger and without a fault, and a trial in which one fault could not be injected.
    let [mut quiet, mut half] = [trial(""), trial("")];
    quiet.injected.clear();
    half.injected.push(InjectedFault { nodes: Vec::new(), ..killed(3000, "") });
    for injection in [quiet, half] {
        let result = cell_result(0, &[&injection], None).expect("there is a trial");
        assert_eq!(
            (result.trials, result.doubts),
            (0, vec![InconclusiveReason::NoFault, InconclusiveReason::NoControl])
        );
    }
    // Writes of all trials are added up.
    let counts = |n: u64| WriteCounts {
        acknowledged: n,
        local: 2 * n,
        failed: 3 * n,
        unknown: 4 * n,
        unknown_present: 5 * n,
        unresolved: 6 * n,
        misrouted: 7 * n,
    };
    let counted = [1, 10, 100].map(|n| {
        let mut injection = trial("");
        injection.verdict.as_mut().expect("the trial has a verdict").counts = counts(n);
        injection
    });
    let result = cell_result(0, &counted.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(result.counts, counts(111));
}

/// An outage that the load did not outlast is longer than measured, unless it is no outage at all.
#[test]
fn outages_that_have_not_ended_are_counted() {
    let trials = [(3000, true), (3000, false), (1040, true)].map(|(to, ongoing)| {
        let mut injection = trial("");
        let outage = ClientOutage { ongoing, ..outage(0, ClientKind::Connected, 1000, to) };
        injection.verdict.as_mut().expect("the trial has a verdict").outages = vec![outage];
        injection
    });
    let result = cell_result(0, &trials.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(result.write_outage().map(|it| it.ongoing), Some(1));
}

/// Durations begin with the fault on the server that was replaced.
#[test]
fn computes_duration_ranges() {
    let flat = |range: Option<DurationRange>| {
        range.map(|range| [range.min, range.median, range.max].map(|it| it.0 / MILLI))
    };
    let result = survival("", "none");
    assert_eq!(flat(result.write_outage().map(|it| it.duration)), Some([2010; 3]));
    assert_eq!((flat(result.promoted), flat(result.healthy)), (Some([1200; 3]), Some([1700; 3])));
    assert_eq!(flat(result.rejoined), None);

    let mut all: Vec<FaultInjection> = [1500, 1900, 2000, 4000]
        .map(|at| {
            let mut injection = trial("");
            injection.promotions[0].at = ms(at);
            injection.promotions[0].healthy = None;
            injection
        })
        .into();
    // Before the kill, replication was blocked and a replica was paused: neither causes a promotion.
    let withheld = InjectedFault {
        action: FaultAction::BlockReplication { duration: Some(ms(1)) },
        ..killed(1100, "postgres")
    };
    all[0].injected.push(withheld);
    all[1].injected.push(killed(1800, "postgres-3"));
    // A second primary is killed and returns; faults that were not injected do not count.
    let second =
        PromotionRecord { from: "postgres-2".to_owned(), at: ms(9000), ..all[3].promotions[0].clone() };
    all[3].promotions.push(second);
    all[3]
        .injected
        .extend([killed(8000, "postgres-2"), InjectedFault { nodes: Vec::new(), ..killed(8500, "") }]);
    for (node, took) in [("postgres", 700), ("postgres-2", 900)] {
        let node = node.to_owned();
        all[3].rejoins.push(model::fault_injection::RejoinRecord {
            node,
            at: ms(9500),
            elapsed: ms(took),
            rewound: true,
        });
    }
    all[2].verdict.as_mut().expect("the trial has a verdict").outages =
        vec![outage(0, ClientKind::Connected, 1, 2), outage(1, ClientKind::Connected, 500, 1100)];
    let result = cell_result(0, &all.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(flat(result.promoted), Some([500, 1000, 3000]));
    assert_eq!((flat(result.healthy), flat(result.rejoined)), (None, Some([700, 800, 900])));
    assert_eq!(flat(result.write_outage().map(|it| it.duration)), Some([600, 2010, 2010]));
    let promoted = |injection: &FaultInjection| {
        flat(cell_result(0, &[injection], None).expect("there is a trial").promoted).map(|it| it[0])
    };
    // If the replaced server is unknown, the last injected fault before the promotion counts.
    let mut unknown = trial("");
    unknown.promotions[0].from.clear();
    unknown.injected.push(killed(2000, "pooler"));
    unknown.injected.push(InjectedFault { nodes: Vec::new(), ..killed(2100, "") });
    unknown.injected.push(killed(2300, "pooler"));
    assert_eq!(promoted(&unknown), Some(200));
    // If there are several faults on the replaced server, the last one before the promotion counts.
    let mut twice = trial("");
    twice.injected.extend([killed(1800, "postgres"), killed(2500, "postgres")]);
    assert_eq!(promoted(&twice), Some(400));
    twice.injected.clear();
    assert_eq!(promoted(&twice), None);
}

/// An attached cluster has no control cell. Its control is in the same trials.
#[test]
fn accepts_a_control_within_the_trials() {
    use model::durability::ControlResult;
    let check = |lost: &[Option<u64>], expected: Option<(u32, u32, u64)>, conclusion: Conclusion| {
        let with = |lost: &Option<u64>| {
            let local_control = lost.map(|lost| ControlResult { lost });
            FaultInjection { local_control, ..trial("") }
        };
        let trials: Vec<FaultInjection> = lost.iter().map(with).collect();
        let result = cell_result(0, &trials.iter().collect::<Vec<_>>(), None).expect("there are trials");
        let control = result.control.map(|it| (it.trials, it.lossy_trials, it.lost));
        assert_eq!((control, result.conclusion), (expected, Some(conclusion)), "{lost:?}");
    };
    check(&[None], None, Conclusion::Unknown);
    check(&[Some(0)], Some((1, 0, 0)), Conclusion::Unknown);
    check(&[Some(0), Some(3)], Some((2, 1, 3)), Conclusion::Kept);
}

/// Each row has the outages of one trial: `n` of a new client and `c` of a connected client, from and to in ms. Expected
/// are the ranges of both, and of the connected client's own wait.
#[test]
fn separates_outages_of_new_and_connected_clients() {
    let check = |trials: &[&[(char, u64, u64)]], expected: &str| {
        let made = |rows: &&[(char, u64, u64)]| {
            let mut injection = trial("");
            let outages = rows.iter().map(|&(client, from, to)| match client {
                'n' => outage(0, ClientKind::New, from, to),
                _ => outage(0, ClientKind::Connected, from, to),
            });
            injection.verdict.as_mut().expect("the trial has a verdict").outages = outages.collect();
            injection
        };
        let all: Vec<FaultInjection> = trials.iter().map(made).collect();
        let result = cell_result(0, &all.iter().collect::<Vec<_>>(), None).expect("there are trials");
        let range = |it: DurationRange| format!("{}-{}", it.min.0 / MILLI, it.max.0 / MILLI);
        let text = |outage: &OutageSummary| {
            let wait = outage.own_wait.map_or(String::new(), |wait| format!(" of which {}", range(wait)));
            format!("{:?} {}{wait}", outage.client, range(outage.duration))
        };
        let actual: Vec<String> = result.outages.iter().map(text).collect();
        assert_eq!(actual.join(", "), expected, "{trials:?}");
    };
    check(&[&[('n', 1000, 2300), ('c', 990, 4100)]], "New 1300-1300, Connected 3110-3110 of which 1800-1800");
    // The connected client was served first.
    check(&[&[('n', 1000, 2300), ('c', 990, 2250)]], "New 1300-1300, Connected 1260-1260 of which 0-0");
    // New clients were served throughout, so the connected client waited only for itself.
    check(&[&[('n', 1000, 1050), ('c', 990, 4100)]], "New 0-0, Connected 3110-3110 of which 3110-3110");
    // A gap of at most twice the usual length is no outage.
    check(&[&[('n', 1000, 1120), ('c', 990, 1111)]], "New 0-0, Connected 121-121 of which 121-121");
    check(&[&[('c', 990, 4100)]], "Connected 3110-3110");
    check(
        &[&[('n', 1000, 2300), ('c', 990, 4100)], &[('n', 1000, 1050), ('c', 1000, 1010)]],
        "New 0-1300, Connected 0-3110 of which 0-1800",
    );
}

/// Cells are paired with their controls, and controls are reported with them.
#[test]
fn matches_cells_with_their_controls() {
    let mut experiment = experiment(&["direct", "direct", "direct", "unix"], None);
    for (cell, sync) in experiment.cells.iter_mut().zip([
        SyncMode::Any(1),
        SyncMode::Async,
        SyncMode::Async,
        SyncMode::Any(1),
    ]) {
        cell.setup.stack.replication = Some(Replication::with_defaults(2, sync));
    }
    experiment.cells[2].control_of = Some(0);
    let (intact, lossy) = (trial(""), trial("unpromised=2"));
    let trials = [(0, &intact), (2, &lossy), (1, &intact), (0, &intact), (3, &intact)];
    let found = all_cells(&experiment, &trials);
    let results: Vec<_> = found
        .iter()
        .map(|result| (result.cell, result.trials, result.conclusion, result.control.map(|it| it.cell)))
        .collect();
    // The last cell has another stack and no control.
    let expected = [
        (0, 2, Some(Conclusion::Kept), Some(2)),
        (1, 1, Some(Conclusion::Kept), Some(2)),
        (3, 1, Some(Conclusion::Unknown), None),
    ];
    assert_eq!(results, expected);
    assert_eq!(all_cells(&experiment, &[]), []);
}
