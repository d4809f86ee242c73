//! Cells of invented trials: what they say together.

use super::*;
use crate::finding::fixture::experiment;
use model::durability::Key;
use model::plan::{Part, Replication, Sync, Whom};

const MILLI: u64 = 1_000_000;

fn ms(it: u64) -> Nanos {
    Nanos(it * MILLI)
}

fn killed(at: u64, node: &str) -> Inflicted {
    let deed = Deed::Kill { whom: Whom::Primary, part: Part::Node };
    Inflicted { at: ms(at), healed: None, deed, nodes: vec![node.to_owned()] }
}

fn verdict() -> Verdict {
    Verdict {
        conclusion: Conclusion::Unknown,
        counts: Counts { acknowledged: 100, unknown: 4, unknown_present: 1, ..Counts::default() },
        findings: Vec::new(),
        doubts: vec![Doubt::NoControl],
        recovery_point: None,
        outages: vec![Outage { fault: 0, from: ms(990), to: ms(3000) }],
        failovers: 1,
        bound: 0.95,
        clock_steps_us: Vec::new(),
    }
}

/// A trial in which the primary was killed at 1 s and another took over; words change it: `lost`, `unpromised`, `local` with
/// how many, `younger`, `torn`, `contradicts`, `elsewhere`, `silent` as doubts, `undone`, `unread`, `nothing` (no ledger).
fn trial(words: &str) -> Ordeal {
    let promoted = Promoted {
        from: "postgres".to_owned(),
        to: "postgres-2".to_owned(),
        at: ms(2200),
        healthy: Some(ms(2700)),
        timeline: 2,
        safe: Some(true),
    };
    let mut it = Ordeal {
        inflicted: vec![killed(1000, "postgres")],
        promoted: vec![promoted],
        verdict: Some(verdict()),
        ..Ordeal::default()
    };
    for word in words.split_whitespace() {
        let (word, count) = word.split_once('=').unwrap_or((word, "1"));
        let count: u64 = count.parse().expect("a number");
        let examples = (0..count.min(EXAMPLES as u64)).map(|sequence| Key { session: 0, sequence }).collect();
        let kind = match word {
            "lost" => Some(Kind::Lost),
            "ambiguous" => Some(Kind::LostAmbiguous),
            "unpromised" => Some(Kind::LostUnpromised),
            "local" => Some(Kind::LostLocal),
            "retried" => Some(Kind::DuplicateByRetry),
            "hole" => Some(Kind::Hole),
            _ => None,
        };
        let Some(verdict) = &mut it.verdict else { panic!("nothing stands last") };
        if let Some(kind) = kind {
            verdict.findings.push(Found { kind, count, examples });
            if kind == Kind::LostUnpromised {
                let window_ns = Some((-(count as i64), 5));
                let point = RecoveryPoint { count, sessions: 1, longest_run: count, window_ns };
                verdict.recovery_point = Some(point);
            }
            continue;
        }
        match word {
            "younger" => verdict.doubts.push(Doubt::YoungerThanReadings { count }),
            "torn" => verdict.doubts.push(Doubt::LedgerTorn { bytes: count }),
            "contradicts" => verdict.doubts.push(Doubt::LedgerContradictsItself { entries: count }),
            "elsewhere" => verdict.doubts.push(Doubt::ReadFromElsewhere { reading: count as usize }),
            "silent" => verdict.doubts.push(Doubt::SilentAfterFault { fault: 0 }),
            "changed" => verdict.doubts.push(Doubt::LostWhilePromiseChanged),
            "undone" => {
                it.inflicted[0].nodes.clear();
                it.promoted.clear();
                verdict.failovers = 0;
            }
            "nothing" => it.verdict = None,
            other => panic!("{other}"),
        }
    }
    it
}

fn survival(trials: &str, control: &str) -> Survival {
    let read = |all: &str| all.split('|').map(trial).collect::<Vec<Ordeal>>();
    let (trials, control) = (read(trials), (control != "none").then(|| read(control)));
    let trials: Vec<&Ordeal> = trials.iter().collect();
    let control: Option<Vec<&Ordeal>> = control.as_ref().map(|it| it.iter().collect());
    of(3, &trials, control.as_deref().map(|it| (7, it))).expect("there are trials")
}

/// Conclusion, what was found, lost of how many, doubts.
#[track_caller]
fn check(trials: &str, control: &str, expected: &str) {
    let it = survival(trials, control);
    let found: Vec<String> = it.found.iter().map(|it| format!("{:?} {}", it.kind, it.count)).collect();
    let conclusion = it.conclusion.map_or("no ledger".to_owned(), |it| format!("{it:?}"));
    let told = format!(
        "{conclusion}: {} of {} in {}/{} [{}] {:?}",
        it.lost,
        it.counts.acknowledged,
        it.failovers,
        it.trials,
        found.join(", "),
        it.doubts
    );
    assert_eq!(told, expected, "{trials} beside {control}");
}

#[test]
fn conclusions() {
    check("", "unpromised=7", "Kept: 0 of 100 in 1/1 [] []");
    check("||", "unpromised=7|", "Kept: 0 of 300 in 3/3 [] []");
    // Nothing can be lost here, as far as anybody knows.
    check("||", "none", "Unknown: 0 of 300 in 3/3 [] [NoControl]");
    check("||", "||", "Unknown: 0 of 300 in 3/3 [] [ControlLostNothing]");
    // A control without a ledger, or with one that contradicts itself, has shown nothing.
    check("", "nothing", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "unpromised=7 contradicts", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "local=7", "Unknown: 0 of 100 in 1/1 [] [ControlLostNothing]");
    check("", "lost=1", "Kept: 0 of 100 in 1/1 [] []");
    check("", "ambiguous=1", "Kept: 0 of 100 in 1/1 [] []");
    // One broken promise in many failovers is one.
    check("|lost=2|", "unpromised", "Broken: 2 of 300 in 3/3 [Lost 2] []");
    check("|lost=2|torn=9", "none", "Broken: 2 of 300 in 3/3 [Lost 2] [LedgerTorn { bytes: 9 }]");
    check("hole=1", "none", "Broken: 0 of 100 in 1/1 [Hole 1] [NoControl]");
    // What is doubted in one trial is not known of all.
    check("|silent|", "unpromised", "Unknown: 0 of 300 in 3/3 [] [SilentAfterFault { fault: 0 }]");
    check(
        "lost=2 contradicts",
        "unpromised",
        "Unknown: 0 of 100 in 1/1 [Lost 2] [LedgerContradictsItself { entries: 1 }]",
    );
    // What was lost without a promise is no violation, and has been seen without any control.
    check("unpromised=3|", "none", "Kept: 3 of 200 in 2/2 [LostUnpromised 3] []");
    check("local=3|", "unpromised", "Kept: 0 of 200 in 2/2 [LostLocal 3] []");
    check(
        "ambiguous=1 changed",
        "none",
        "Unknown: 1 of 100 in 1/1 [LostAmbiguous 1] [LostWhilePromiseChanged]",
    );
    // No ledger, no conclusion; one trial without it, among others, was not read.
    check("nothing|nothing", "none", "no ledger: 0 of 0 in 2/2 [] []");
    check("|nothing", "unpromised", "Unknown: 0 of 100 in 2/2 [] [NotRead]");
    check("|undone", "unpromised", "Kept: 0 of 200 in 1/1 [] []");
    check("undone|undone", "unpromised", "Unknown: 0 of 200 in 0/0 [] [NoFault]");
}

#[test]
fn findings_and_doubts_stand_once() {
    check(
        "retried=9 unpromised=8|unpromised=8 lost=1",
        "none",
        "Broken: 17 of 200 in 2/2 [Lost 1, LostUnpromised 16, DuplicateByRetry 9] []",
    );
    check(
        "younger=2 elsewhere=0|younger=3 elsewhere=0|elsewhere=1 torn=1",
        "unpromised",
        "Unknown: 0 of 300 in 3/3 [] [YoungerThanReadings { count: 5 }, ReadFromElsewhere { reading: 0 }, \
         ReadFromElsewhere { reading: 1 }, LedgerTorn { bytes: 1 }]",
    );
    let it = survival("unpromised=8|unpromised=8", "none");
    assert_eq!(it.found[0].examples.len(), EXAMPLES);
    // The first of the trials that lost most.
    let window = |trials: &str| survival(trials, "none").recovery_point.and_then(|it| it.window_ns);
    assert_eq!(window("unpromised=8|unpromised=9|unpromised=2"), Some((-9, 5)));
    let mut equal = [trial("unpromised=8"), trial("unpromised=8")];
    let point = equal[1].verdict.as_mut().and_then(|it| it.recovery_point.as_mut()).expect("it has one");
    point.window_ns = None;
    let it = of(0, &equal.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(it.recovery_point.and_then(|it| it.window_ns), Some((-8, 5)));
    assert_eq!(window("|lost=2"), None);
}

#[test]
fn bounds_and_counts() {
    let many = vec![""; 20].join("|");
    let it = survival(&many, "none");
    assert!((it.bound - 0.139_1).abs() < 1e-4, "{}", it.bound);
    // A trial may have several failovers, or none.
    let mut several = trial("");
    several.verdict.as_mut().expect("it has one").failovers = 20;
    let it = of(0, &[&several], None).expect("there is one");
    assert_eq!((it.trials, it.failovers, (it.bound * 1e3).round()), (1, 20, 139.0));
    let it = survival("", "unpromised=5|unpromised=6|");
    assert_eq!(it.control, Some(Controlled { cell: 7, trials: 3, lossy: 2, lost: 11 }));
    assert_eq!(survival("", "undone").control, Some(Controlled { cell: 7, trials: 0, lossy: 0, lost: 0 }));
    assert_eq!(survival("undone", "none").bound.to_bits(), 1.0_f64.to_bits());
    assert_eq!(of(0, &[], None), None);
    let one = trial("");
    assert_eq!(of(0, &[&one], Some((1, &[]))).expect("there is one").control, None);
    // A ledger without faults, and faults of which one could not be done.
    let [mut quiet, mut half] = [trial(""), trial("")];
    quiet.inflicted.clear();
    half.inflicted.push(Inflicted { nodes: Vec::new(), ..killed(3000, "") });
    for it in [quiet, half] {
        let told = of(0, &[&it], None).expect("there is one");
        assert_eq!((told.trials, told.doubts), (0, vec![Doubt::NoFault, Doubt::NoControl]));
    }
    // All of them, of all trials.
    let counts = |n: u64| Counts {
        acknowledged: n,
        local: 2 * n,
        failed: 3 * n,
        unknown: 4 * n,
        unknown_present: 5 * n,
        untold: 6 * n,
        misrouted: 7 * n,
    };
    let counted = [1, 10, 100].map(|n| {
        let mut it = trial("");
        it.verdict.as_mut().expect("it has one").counts = counts(n);
        it
    });
    let it = of(0, &counted.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(it.counts, counts(111));
}

/// How long things took: by the deed to the server that was followed.
#[test]
fn spreads() {
    let flat = |it: Option<Spread>| it.map(|it| [it.least, it.median, it.greatest].map(|it| it.0 / MILLI));
    let it = survival("", "none");
    assert_eq!(flat(it.outage), Some([2010; 3]));
    assert_eq!((flat(it.promoted), flat(it.healthy)), (Some([1200; 3]), Some([1700; 3])));
    assert_eq!(flat(it.rejoined), None);

    let mut all: Vec<Ordeal> = [1500, 1900, 2000, 4000]
        .map(|at| {
            let mut it = trial("");
            it.promoted[0].at = ms(at);
            it.promoted[0].healthy = None;
            it
        })
        .into();
    // Before the kill its log was withheld, and a replica paused: neither makes anybody primary.
    let withheld = Inflicted { deed: Deed::Withhold { lasting: ms(1) }, ..killed(1100, "postgres") };
    all[0].inflicted.push(withheld);
    all[1].inflicted.push(killed(1800, "postgres-3"));
    // A second primary dies, and comes back; what was not done has done nothing.
    let second = Promoted { from: "postgres-2".to_owned(), at: ms(9000), ..all[3].promoted[0].clone() };
    all[3].promoted.push(second);
    all[3]
        .inflicted
        .extend([killed(8000, "postgres-2"), Inflicted { nodes: Vec::new(), ..killed(8500, "") }]);
    for (node, took) in [("postgres", 700), ("postgres-2", 900)] {
        let node = node.to_owned();
        all[3].rejoined.push(model::ordeal::Rejoined { node, at: ms(9500), took: ms(took), rewound: true });
    }
    all[2].verdict.as_mut().expect("it has one").outages =
        vec![Outage { fault: 0, from: ms(1), to: ms(2) }, Outage { fault: 1, from: ms(5), to: ms(11) }];
    let it = of(0, &all.iter().collect::<Vec<_>>(), None).expect("there are trials");
    assert_eq!(flat(it.promoted), Some([500, 1000, 3000]));
    assert_eq!((flat(it.healthy), flat(it.rejoined)), (None, Some([700, 800, 900])));
    assert_eq!(flat(it.outage), Some([6, 2010, 2010]));
    let promoted = |it: &Ordeal| flat(of(0, &[it], None).expect("there is one").promoted).map(|it| it[0]);
    // Who was followed is not known: the last deed of all that were done before counts.
    let mut unknown = trial("");
    unknown.promoted[0].from.clear();
    unknown.inflicted.push(killed(2000, "pooler"));
    unknown.inflicted.push(Inflicted { nodes: Vec::new(), ..killed(2100, "") });
    unknown.inflicted.push(killed(2300, "pooler"));
    assert_eq!(promoted(&unknown), Some(200));
    // Of several to the same server the last before it.
    let mut twice = trial("");
    twice.inflicted.extend([killed(1800, "postgres"), killed(2500, "postgres")]);
    assert_eq!(promoted(&twice), Some(400));
    twice.inflicted.clear();
    assert_eq!(promoted(&twice), None);
}

/// Cells find their control, and controls are told with them.
#[test]
fn of_an_experiment() {
    let mut experiment = experiment(&["direct", "direct", "direct", "unix"], None);
    for (cell, sync) in
        experiment.cells.iter_mut().zip([Sync::Any(1), Sync::Async, Sync::Async, Sync::Any(1)])
    {
        cell.setup.stack.replication = Some(Replication::of(2, sync));
    }
    experiment.cells[2].control_of = Some(0);
    let (kept, lossy) = (trial(""), trial("unpromised=2"));
    let trials = [(0, &kept), (2, &lossy), (1, &kept), (0, &kept), (3, &kept)];
    let found = all(&experiment, &trials);
    let told: Vec<_> =
        found.iter().map(|it| (it.cell, it.trials, it.conclusion, it.control.map(|it| it.cell))).collect();
    // The last has another stack, and nothing controls it.
    let expected = [
        (0, 2, Some(Conclusion::Kept), Some(2)),
        (1, 1, Some(Conclusion::Kept), Some(2)),
        (3, 1, Some(Conclusion::Unknown), None),
    ];
    assert_eq!(told, expected);
    assert_eq!(all(&experiment, &[]), []);
}
