use super::*;
use model::search::{Knob, OverloadReason, ProofVerdict};
use model::{Nanos, PerSecond};

/// Result of a trial that was sustained or overloaded at `edge`.
fn result(step: SearchStep, held: bool, edge: f64) -> StepResult {
    let outcome = if held {
        LevelOutcome::Sustained
    } else {
        LevelOutcome::NotSustained { reason: OverloadReason::FellBehind { share: 0.97 } }
    };
    let delivered = PerSecond(if held { step.level } else { step.level.min(edge) });
    StepResult {
        step,
        outcome,
        delivered,
        p95: None,
        p99: None,
        mean: Some(Nanos::from_millis(10)),
        time_objectives: Vec::new(),
    }
}

/// Random trial whose result depends only on the edge and its blur.
fn vote(step: SearchStep, edge: f64, blur: f64, rng: &mut SplitMix64) -> StepResult {
    let likely = 1.0 / (1.0 + ((step.level / edge).ln() / blur).exp());
    let held = rng.uniform() < likely;
    result(step, held, edge)
}

/// Trials of a complete search by random votes.
fn by_votes(edge: f64, blur: f64, rng: &mut SplitMix64) -> Vec<StepResult> {
    let mut done = Vec::new();
    while let NextStep::Measure(step) = next(&MaxSearch::DEFAULT, edge * 0.8, &done) {
        done.push(vote(step, edge, blur, rng));
        assert!(done.len() < 100, "the search ends");
    }
    done
}

/// Verdict of two interleaved searches, and the number of their trials. If `until_plain` is true, they end as soon as
/// the verdict is decided; otherwise, when both searches end.
fn pair(elasticity: f64, until_plain: bool, seed: u64, rng: &mut SplitMix64) -> (ProofVerdict, usize) {
    let perturbation = Perturbation::new(Knob::Cpu { node: "db".to_owned() }, Some((1.0, 1.5)));
    let (max, edges) = (MaxSearch::DEFAULT, [500.0, 500.0 * 1.5f64.powf(elasticity)]);
    let mut done = [Vec::new(), Vec::new()];
    while !until_plain || !is_decided(&perturbation, &done[0], &done[1], &max) {
        let perturbations = [None, Some(&perturbation)];
        let subject = |n: usize| SearchRun {
            max: &max,
            start: 425.0,
            perturbation: perturbations[n],
            round: 1,
            done: &done[n],
        };
        let Some((chosen, step)) = interleave(&[subject(0), subject(1)], seed) else { break };
        done[chosen].push(vote(step, edges[chosen], 0.01, rng));
    }
    let proof = proof(Limit::Host, &perturbation, &done[0], &done[1], &max, seed);
    (proof.verdict, done[0].len() + done[1].len())
}

/// Counts of the verdicts over `pairs` pairs (limits, does not limit, undecided), and the mean number of trials per
/// pair.
fn verdicts(pairs: u64, elasticity: f64, until_plain: bool) -> ([usize; 3], f64) {
    let mut rng = SplitMix64(7);
    let all: Vec<_> = (0..pairs).map(|seed| pair(elasticity, until_plain, seed, &mut rng)).collect();
    let count = |verdict| all.iter().filter(|it| it.0 == verdict).count();
    let trials = all.iter().map(|it| it.1).sum::<usize>() as f64 / pairs as f64;
    ([ProofVerdict::Limits, ProofVerdict::DoesNotLimit, ProofVerdict::Undecided].map(count), trials)
}

#[test]
fn stops_early_when_decided() {
    for (elasticity, expected) in [(0.0, 1), (1.0, 0)] {
        let (counts, trials) = verdicts(40, elasticity, true);
        assert!(counts[expected] >= 38, "elasticity {elasticity}, 40 pairs, seed 7: {counts:?}");
        let (_, full_trials) = verdicts(40, elasticity, false);
        assert!(trials < 0.8 * full_trials, "elasticity {elasticity}: {trials} trials of {full_trials}");
    }
}

#[test]
fn distinguishes_unrelated_resources_from_limiters() {
    let ([limits, not, _], _) = verdicts(40, 0.0, false);
    assert!(limits == 0 && not >= 36, "a bystander, 40 pairs, seed 7: {limits} {not}");
    for elasticity in [0.8, 1.0] {
        let ([limits, not, _], _) = verdicts(40, elasticity, false);
        assert!(limits >= 38 && not == 0, "elasticity {elasticity}, 40 pairs, seed 7: {limits} {not}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "seconds with optimisation, minutes without")]
fn unrelated_resources_are_rarely_proven() {
    for until_plain in [false, true] {
        for elasticity in [0.0, 0.15, 0.3, 0.5, 0.8, 1.0] {
            let ([limits, not, undecided], trials) = verdicts(1000, elasticity, until_plain);
            let duration = if until_plain { "until it is plain" } else { "to their ends" };
            println!(
                "{duration}, elasticity {elasticity}: limits {limits}, does not {not}, undecided {undecided}; \
                 {trials:.1} trials of a pair"
            );
            assert!(elasticity > 0.0 || limits == 0);
            assert!(elasticity < 0.8 || limits >= 950 && not == 0);
        }
    }
}

#[test]
fn is_not_decided_by_few_votes() {
    let perturbation = Perturbation::new(Knob::Clients, Some((8.0, 16.0)));
    let (max, mut rng) = (MaxSearch::DEFAULT, SplitMix64(1));
    let votes = |levels: &[f64], edge, rng: &mut SplitMix64| -> Vec<StepResult> {
        let step = |level: &f64| {
            let stage = model::search::StepPurpose::Ramp;
            SearchStep {
                scale: max.scale,
                level: *level,
                purpose: stage,
                window: max.window,
                perturbation: None,
                round: 0,
            }
        };
        levels.iter().map(|it| vote(step(it), edge, 1e-6, rng)).collect()
    };
    let base = votes(&[80.0, 90.0, 110.0, 120.0], 100.0, &mut rng);
    let cases: [(&[f64], bool); 4] = [
        (&[170.0, 190.0, 210.0, 220.0], true),
        (&[190.0, 210.0, 220.0], false), // a single vote that held is not enough
        (&[170.0, 190.0, 210.0], false),
        (&[], false),
    ];
    for (levels, plain) in cases {
        let changed = votes(levels, 200.0, &mut rng);
        assert_eq!(is_decided(&perturbation, &base, &changed, &max), plain, "{levels:?}");
        let proof = proof(Limit::Host, &perturbation, &base, &changed, &max, 1);
        assert_eq!(proof.verdict == ProofVerdict::Limits, plain, "{levels:?}");
        assert_eq!(proof.elasticity.is_some(), plain, "{levels:?}: no figure unless decided");
    }
}

#[test]
fn judges_switches_and_searches_without_an_answer() {
    let mut rng = SplitMix64(9);
    let switch = Perturbation::new(Knob::Index { ddl: "CREATE INDEX".to_owned() }, None);
    for (factor, expected) in
        [(1.0, ProofVerdict::DoesNotLimit), (0.7, ProofVerdict::DoesNotLimit), (1.5, ProofVerdict::Limits)]
    {
        let (base, changed) = (by_votes(500.0, 0.005, &mut rng), by_votes(500.0 * factor, 0.005, &mut rng));
        let complete = proof(Limit::Host, &switch, &base, &changed, &MaxSearch::DEFAULT, 1);
        assert_eq!(
            (complete.verdict, complete.elasticity),
            (expected, None),
            "{factor}: {:?}",
            complete.ratio
        );
        let unfinished = proof(Limit::Host, &switch, &base, &changed[..2], &MaxSearch::DEFAULT, 1);
        assert_eq!((unfinished.verdict, unfinished.ratio), (ProofVerdict::Undecided, None));
    }
}

/// A feed that fits a cache is the cause if requesting all rows of the table lowers the maximum, but not if it raises
/// it.
#[test]
fn a_falling_maximum_proves_a_feed() {
    let mut rng = SplitMix64(9);
    let all = Perturbation::new(Knob::FeedRows { feed: "keys".to_owned() }, None);
    for (factor, expected) in
        [(0.3, ProofVerdict::Limits), (1.0, ProofVerdict::DoesNotLimit), (1.5, ProofVerdict::DoesNotLimit)]
    {
        let (base, changed) = (by_votes(500.0, 0.005, &mut rng), by_votes(500.0 * factor, 0.005, &mut rng));
        let proof =
            proof(Limit::Feed { feed: "keys".to_owned() }, &all, &base, &changed, &MaxSearch::DEFAULT, 1);
        assert_eq!((proof.verdict, proof.elasticity), (expected, None), "{factor}: {:?}", proof.ratio);
        let ratio = proof.ratio.map(|it| it.0).expect("both searches have an answer");
        assert!(
            (ratio / factor - 1.0).abs() < 0.08,
            "{factor}: the ratio must equal the measured one, not {ratio}"
        );
    }
}

/// All searches take one step each, in changing orders, until the last one ends. An interruption at any point does not
/// change the sequence.
#[test]
fn interleaves_all_searches() {
    let perturbation = Perturbation::new(Knob::Clients, Some((8.0, 16.0)));
    let (max, edges) = (MaxSearch::DEFAULT, [300.0, 450.0, 320.0]);
    let run = |seed: u64, from: [Vec<StepResult>; 3]| {
        let mut done = from;
        let mut order = Vec::new();
        loop {
            let subjects: Vec<SearchRun<'_>> = (0..3)
                .map(|n| SearchRun {
                    max: &max,
                    start: 290.0,
                    perturbation: (n > 0).then_some(&perturbation),
                    round: 0,
                    done: &done[n],
                })
                .collect();
            let Some((n, step)) = interleave(&subjects, seed) else { return (order, done) };
            assert_eq!(step.perturbation.is_some(), n > 0);
            let held = step.level <= edges[n];
            done[n].push(result(step, held, edges[n]));
            order.push(n);
        }
    };
    let (order, done) = run(3, Default::default());
    let fewest = done.iter().map(Vec::len).min().expect("there are three sets of trials");
    for chunk in order.chunks(3).take(fewest) {
        let mut all = chunk.to_vec();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2], "{order:?}");
    }
    assert!(order.chunks(3).take(fewest).any(|it| it != &order[..3]), "{order:?}");
    assert_ne!(run(4, Default::default()).0, order);
    for (n, results) in done.iter().enumerate() {
        let level = answer(&max, results).level.expect("the search has an answer");
        assert!((0.95..=1.0).contains(&(level / edges[n])), "{n}: {level}");
    }
    for cut in [1, 4, order.len() - 1] {
        let count = |n| order[..cut].iter().filter(|it| **it == n).count();
        let part = [0, 1, 2].map(|n| done[n][..count(n)].to_vec());
        assert_eq!(run(3, part).0, order[cut..], "cut after {cut}");
    }
}
