//! A run whose primary was killed again and again.

use super::invent::HOSTILE;
use super::*;
use crate::plot::Characters;
use model::Nanos;
use model::account::{HopAccount, TrialAccount};
use model::durability::{Conclusion, Counts, Doubt, Found, Key, Kind, Outage, RecoveryPoint, Verdict};
use model::matrix::NotApplied;
use model::ordeal::{After, Controlled, Inflicted, Ordeal, Promoted, ReadBack, Rejoined, Spread, Survival};
use model::plan::{Deed, Fault, Find, Limits, Manager, Part, Patroni, Replication, Sync, When, Whom};

fn ms(it: u64) -> Nanos {
    Nanos::from_millis(it)
}

fn spread(least: u64, median: u64, greatest: u64) -> Option<Spread> {
    Some(Spread { least: ms(least), median: ms(median), greatest: ms(greatest) })
}

fn kept() -> Survival {
    Survival {
        cell: 0,
        trials: 20,
        failovers: 20,
        conclusion: Some(Conclusion::Kept),
        bound: 0.139_1,
        counts: Counts {
            acknowledged: 48_120,
            failed: 2100,
            unknown: 160,
            unknown_present: 31,
            ..Counts::default()
        },
        lost: 0,
        found: Vec::new(),
        doubts: Vec::new(),
        recovery_point: None,
        outage: spread(1900, 2010, 2300),
        promoted: spread(1200, 1300, 1510),
        healthy: spread(1700, 1800, 2000),
        rejoined: spread(3000, 3000, 3000),
        control: Some(Controlled { cell: 2, trials: 20, lossy: 19, lost: 1022 }),
    }
}

fn found(kind: Kind, count: u64) -> Found {
    let key = |sequence| Key { session: 3, sequence };
    Found { kind, count, examples: (0..count.min(2)).map(key).collect() }
}

/// Nothing had been promised, and some of it is gone.
fn unpromised() -> Survival {
    let window_ns = Some((-12_300_000, 28_000_000));
    Survival {
        cell: 1,
        lost: 21,
        found: vec![found(Kind::LostUnpromised, 21), found(Kind::LostLocal, 2)],
        recovery_point: Some(RecoveryPoint { count: 9, sessions: 4, longest_run: 3, window_ns }),
        ..kept()
    }
}

fn verdict(conclusion: Conclusion, findings: Vec<Found>, doubts: Vec<Doubt>) -> Verdict {
    Verdict {
        conclusion,
        counts: Counts::default(),
        findings,
        doubts,
        recovery_point: None,
        outages: vec![Outage { fault: 0, from: ms(4990), to: ms(7000) }],
        failovers: 1,
        bound: 0.95,
        clock_steps_us: Vec::new(),
    }
}

fn ordeal() -> Ordeal {
    let deed = Deed::Kill { whom: Whom::Primary, part: Part::Node };
    let nodes = |it: &str| vec![it.to_owned()];
    let paused = Deed::Pause { whom: Whom::Replica, lasting: ms(2000) };
    Ordeal {
        inflicted: vec![
            Inflicted {
                at: ms(1000),
                healed: Some(ms(3000)),
                deed: paused.clone(),
                nodes: nodes("postgres-3"),
            },
            Inflicted { at: ms(5000), healed: None, deed, nodes: nodes("postgres") },
            Inflicted { at: ms(9000), healed: None, deed: paused, nodes: Vec::new() },
        ],
        promoted: vec![Promoted {
            from: "postgres".into(),
            to: "postgres-2".into(),
            at: ms(6300),
            healthy: Some(ms(6800)),
            timeline: 2,
            safe: Some(true),
        }],
        rejoined: vec![Rejoined { node: "postgres".into(), at: ms(9900), took: ms(3000), rewound: true }],
        readings: vec![ReadBack { after: After::Load, node: "postgres-2".into(), rows: 2406, took: ms(40) }],
        verdict: Some(verdict(Conclusion::Unknown, Vec::new(), vec![Doubt::NoControl])),
        troubles: Vec::new(),
    }
}

/// Two cells with the last as their control.
fn survived() -> Account {
    let mut it = account();
    it.experiment.find = Find::Failover;
    it.experiment.cells[2].control_of = Some(0);
    it.survivals = vec![kept(), unpromised()];
    it.trials[0].ordeal = Some(ordeal());
    let lost = vec![found(Kind::Lost, 2)];
    let broken = verdict(Conclusion::Broken, lost, vec![Doubt::SilentAfterFault { fault: 0 }]);
    let troubles = vec!["postgres did not come back\nthe last lines of its log:\n  no space left".to_owned()];
    it.trials[1].ordeal = Some(Ordeal { verdict: Some(broken), troubles, ..ordeal() });
    it
}

/// The same with servers that hold the same rows: ours, and Patroni's.
fn replicated() -> Account {
    let mut it = survived();
    let fault = Fault { when: When::At(ms(5000)), deed: Deed::Restart { whom: Whom::Replica } };
    let limits = Limits { cpu: Some(0.5), ..Limits::default() };
    let ours = Replication { limits, ..Replication::of(2, Sync::Any(1)) };
    let patroni = Patroni { etcd: 3, ..Patroni::default() };
    let theirs = Replication { manager: Manager::Patroni(patroni), ..Replication::of(1, Sync::First(1)) };
    for (cell, plan) in it.experiment.cells.iter_mut().zip([ours, theirs]) {
        cell.setup.stack.replication = Some(plan);
    }
    it.experiment.cells[0].setup.faults = vec![fault];
    let replica = |node: &str, cpu| HopAccount {
        node: node.into(),
        cpu: Some(cpu),
        of_cpu: Some(0.5),
        ..HopAccount::default()
    };
    it.cells[0].replicas = vec![replica("postgres-2", 0.5), replica("postgres-3", 0.1)];
    it.matrix.rows[0].not_applied =
        vec![NotApplied { node: "postgres-3".into(), limit: "cpu".into(), why: "refused".into() }];
    it
}

#[test]
fn replicas_are_drawn_with_their_primary() {
    for lang in lang::ALL {
        let mut page = page(&replicated(), lang);
        page.sections.retain(|it| it.id == "stack");
        golden(&format!("replicated.{}.md", lang.code()), &markdown(&page));
    }
    let page = page(&replicated(), &En);
    let drawn = page.sections.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Drawing(it) => Some(it),
        _ => None,
    });
    let loads =
        |it: &Drawing| it.replicas.as_ref().map(|it| it.nodes.iter().map(|it| it.load).collect::<Vec<_>>());
    let told: Vec<_> = drawn.map(loads).collect();
    assert_eq!(told, [Some(vec![Some(1.0), Some(0.2)]), Some(vec![None])]);
}

#[test]
fn what_a_ledger_that_was_not_closed_does_not_know() {
    for (doubt, untold, told) in [
        (Doubt::ControlLostNothing, 2, false),
        (Doubt::LedgerHasGaps { writes: 2 }, 2, false),
        (Doubt::LedgerOpen, 0, false),
        (Doubt::LedgerOpen, 2, true),
        (Doubt::LedgerTorn { bytes: 9 }, 2, true),
    ] {
        let mut it = survived();
        it.survivals[0].doubts = vec![doubt];
        it.survivals[0].counts.untold = untold;
        let text = markdown(&page(&it, &En));
        assert_eq!(text.contains("2 more writes may have been sent"), told, "{doubt:?} {untold}");
    }
}

#[test]
fn many_trials_are_folded_and_none_is_lost() {
    let lists = |own: usize, of_control: usize| {
        let mut it = survived();
        let of = |account: &Account, count: usize, cell| {
            let one = |repetition| TrialAccount { cell, repetition, ..account.trials[0].clone() };
            (0..count as u32).map(one).collect::<Vec<_>>()
        };
        it.trials = [of(&it, own, 0), of(&it, of_control, 2)].concat();
        if let Some(broken) = it.trials.get_mut(8).and_then(|it| it.ordeal.as_mut()) {
            broken.verdict = Some(verdict(Conclusion::Broken, Vec::new(), Vec::new()));
        }
        it.survivals.truncate(1);
        let page = page(&it, &En);
        let section = page.sections.into_iter().find(|it| it.id == "failover").expect("there are survivals");
        let told: Vec<String> = section.blocks.iter().filter_map(shape).collect();
        told.join(", ")
    };
    fn shape(it: &Block) -> Option<String> {
        match it {
            Block::List { items } => Some(items.len().to_string()),
            Block::Folded { name, blocks } => {
                Some(format!("{name}: {}", blocks.iter().filter_map(shape).collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        }
    }
    assert_eq!(lists(6, 6), "12");
    assert_eq!(lists(12, 0), "12");
    assert_eq!(lists(12, 1), "12, 1");
    // The ninth is shown: there a promise was broken.
    assert_eq!(lists(20, 13), "6, 14 more trials: 14, 5, 8 more trials: 8");
}

fn plain(it: &str) -> String {
    it.replace(['\u{202f}', '\u{a0}'], " ")
}

/// A trial is told in one line; the log of what went wrong stands behind it.
#[test]
fn logs_are_apart() {
    let page = page(&survived(), &En);
    let blocks = || page.sections.iter().flat_map(|it| &it.blocks);
    let logs: Vec<&Block> = blocks().filter(|it| format!("{it:?}").contains("no space left")).collect();
    let [Block::Code { name, folded: true, .. }] = &logs[..] else { panic!("{logs:?}") };
    assert_eq!(name, "postgres did not come back");
    assert!(
        blocks()
            .any(|it| matches!(it, Block::List { items } if items.iter().any(|it| it.text.contains(name))))
    );
}

#[test]
fn the_section_in_both_languages() {
    for lang in lang::ALL {
        let mut page = page(&survived(), lang);
        assert_eq!(page.sections.iter().position(|it| it.id == "failover"), Some(2));
        page.sections.retain(|it| it.id == "failover");
        golden(&format!("survived.{}.md", lang.code()), &markdown(&page));
    }
    assert!(page(&account(), &En).sections.iter().all(|it| it.id != "failover"));
}

#[test]
fn a_terminal_is_told_the_same() {
    let mut it = survived();
    it.survivals[0].conclusion = Some(Conclusion::Unknown);
    it.survivals[0].doubts = vec![Doubt::ControlLostNothing, Doubt::LedgerOpen];
    let style = Style { width: 100, characters: Characters::Utf8, colour: false };
    for lang in lang::ALL {
        golden(&format!("survived.{}.txt", lang.code()), &crate::searched::text(&it, style, lang));
    }
    it.survivals.clear();
    assert_eq!(crate::searched::text(&it, style, &En), "");
}

/// A broken promise fails a pipeline; what is not proven is no success.
#[test]
fn pipelines_are_told() {
    let mut it = survived();
    it.survivals[1].conclusion = Some(Conclusion::Broken);
    it.survivals.push(Survival { cell: 2, conclusion: Some(Conclusion::Unknown), ..kept() });
    it.survivals.push(Survival { cell: 2, conclusion: None, ..kept() });
    let text = junit(&it, "", &En);
    let suite =
        text.split("<testsuite ").find(|it| it.starts_with("name=\"Failover\"")).expect("it is there");
    for expected in ["tests=\"3\"", "failures=\"1\"", "skipped=\"1\"", "A promise was broken"] {
        assert!(suite.to_lowercase().contains(&expected.to_lowercase()), "{expected}: {suite}");
    }
}

/// The answer is of the worst.
#[test]
fn answers() {
    let check = |survivals: &[Survival], expected: &str, tone: Tone| {
        let mut it = survived();
        if survivals.len() == 1 {
            it.experiment.cells.truncate(1);
        }
        it.survivals = survivals.to_vec();
        let answer = page(&it, &En).answer;
        assert_eq!((plain(&answer.text).as_str(), answer.tone), (expected, tone));
    };
    let kept_alone = "0 of 48120 acknowledged writes lost in 20 failovers (95 %: fewer than 14 % of failovers lose \
                      something). Nothing could be written for 2.01 s at the median, 2.30 s at most.";
    check(&[kept()], kept_alone, Tone::Good);
    let mut one = kept();
    (one.outage, one.failovers) = (None, 0);
    check(&[one.clone()], "0 of 48120 acknowledged writes lost without a failover.", Tone::Good);
    one.conclusion = None;
    one.failovers = 3;
    check(&[one], "3 failovers; no operation has a ledger, so that nobody knows what was lost.", Tone::Doubt);
    let lossy = Survival { outage: None, ..unpromised() };
    check(
        &[Survival { cell: 0, ..lossy.clone() }],
        "21 of 48120 acknowledged writes lost in 20 failovers: a recovery point of 12.3 ms, nothing had been promised.",
        Tone::Plain,
    );
    let unproven = Survival {
        outage: None,
        conclusion: Some(Conclusion::Unknown),
        doubts: vec![Doubt::ControlLostNothing],
        ..kept()
    };
    check(
        std::slice::from_ref(&unproven),
        "Not proven: the positive control lost nothing; 0 of 48120 acknowledged writes lost in 20 failovers.",
        Tone::Doubt,
    );
    let broken = Survival {
        outage: None,
        conclusion: Some(Conclusion::Broken),
        lost: 2,
        found: vec![found(Kind::Lost, 2), found(Kind::Duplicate, 1), found(Kind::LostLocal, 4)],
        ..kept()
    };
    let told =
        "a promise was broken: lost 2, duplicates 1; 2 of 48120 acknowledged writes lost in 20 failovers.";
    check(std::slice::from_ref(&broken), &told.replace("a promise", "A promise"), Tone::Bad);
    // Of many cells only the worst are told.
    let name = page(&survived(), &En).sections[2].blocks.len();
    assert!(name > 0);
    let many = [kept(), broken, unproven, lossy];
    let mut it = survived();
    it.survivals = many.to_vec();
    let answer = page(&it, &En).answer;
    assert!(answer.text.ends_with(told) && answer.tone == Tone::Bad, "{}", answer.text);
    // Where something else was asked, that is answered first.
    it.experiment.find = Find::Once;
    let both = page(&it, &En).answer;
    let first = page(&account(), &En).answer;
    assert_eq!((both.text, both.tone), (format!("{} {}", first.text, answer.text), Tone::Bad));
}

#[test]
fn questions() {
    let ask = |cells: usize, lang: &dyn Lang| {
        let mut it = survived();
        if cells == 1 {
            it.experiment.cells.remove(1);
        }
        page(&it, lang).question
    };
    let expected = "Does every write that PostgreSQL acknowledges outlive a failover, and how long can nothing be written?";
    assert_eq!(ask(1, &En), expected);
    let expected = "Does every acknowledged write outlive a failover, and how long can nothing be written?";
    assert_eq!(ask(3, &En), expected);
    let expected =
        "Переживает ли переключение каждая подтверждённая запись (PostgreSQL) и как долго невозможна запись?";
    assert_eq!(ask(1, &Ru), expected);
}

/// Tables are as wide as their headings say, and texts of others stay text.
#[test]
fn hostile_names_stay_text() {
    let mut it = survived();
    for row in &mut it.matrix.rows {
        row.label[0].1 += HOSTILE;
    }
    let ordeal = it.trials[0].ordeal.as_mut().expect("it has one");
    ordeal.troubles.push(HOSTILE.to_owned());
    ordeal.inflicted[0].nodes = vec![HOSTILE.to_owned()];
    for lang in lang::ALL {
        let page = page(&it, lang);
        for block in page.sections.iter().flat_map(|it| &it.blocks) {
            if let Block::Table(table) = block {
                assert!(
                    table.rows.iter().all(|it| it.cells.len() == table.columns.len()),
                    "{}",
                    table.caption
                );
            }
        }
        let text = markdown(&page);
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
    let style = Style { width: 100, characters: Characters::Ascii, colour: false };
    let text = crate::searched::text(&it, style, &En);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
}
