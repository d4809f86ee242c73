use super::*;
use model::search::{Broke, Proven, Turn};
use model::{Nanos, PerSecond};

/// A trial by chance alone: the edge, and how blurred it is.
fn vote(step: Step, edge: f64, blur: f64, chance: &mut Chance) -> Seen {
    let likely = 1.0 / (1.0 + ((step.level / edge).ln() / blur).exp());
    let held = chance.uniform() < likely;
    let outcome = if held { Held::Yes } else { Held::No { why: Broke::Behind { share: 0.97 } } };
    let delivered = PerSecond(if held { step.level } else { step.level.min(edge) });
    Seen { step, outcome, delivered, p99: None, mean: Some(Nanos::from_millis(10)) }
}

/// A pair beside each other until the verdict is plain or both have ended, and how many trials it took.
fn pair(elasticity: f64, until_plain: bool, seed: u64, chance: &mut Chance) -> (Proven, usize) {
    let nudge = Nudge { turn: Turn::Cpu { node: "db".to_owned() }, amount: Some((1.0, 1.5)) };
    let (max, edges) = (Max::USUAL, [500.0, 500.0 * 1.5f64.powf(elasticity)]);
    let mut done = [Vec::new(), Vec::new()];
    while !until_plain || !is_plain(&nudge, &done[0], &done[1], &max) {
        let nudges = [None, Some(&nudge)];
        let subject =
            |n: usize| Subject { max: &max, start: 425.0, nudge: nudges[n], round: 1, done: &done[n] };
        let Some((turn, step)) = interleave(&[subject(0), subject(1)], seed) else { break };
        done[turn].push(vote(step, edges[turn], 0.01, chance));
    }
    let it = proof(Limit::Host, &nudge, &done[0], &done[1], &max, seed);
    (it.verdict, done[0].len() + done[1].len())
}

/// Of so many pairs: limits, does not, undecided; and trials of a pair on average.
fn verdicts(pairs: u64, elasticity: f64, until_plain: bool) -> ([usize; 3], f64) {
    let mut chance = Chance(7);
    let all: Vec<_> = (0..pairs).map(|seed| pair(elasticity, until_plain, seed, &mut chance)).collect();
    let count = |of| all.iter().filter(|it| it.0 == of).count();
    let trials = all.iter().map(|it| it.1).sum::<usize>() as f64 / pairs as f64;
    ([Proven::Limits, Proven::DoesNot, Proven::Undecided].map(count), trials)
}

#[test]
fn ended_when_it_is_plain() {
    for (elasticity, expected) in [(0.0, 1), (1.0, 0)] {
        let (counts, trials) = verdicts(40, elasticity, true);
        assert!(counts[expected] >= 38, "elasticity {elasticity}, 40 pairs, seed 7: {counts:?}");
        let (_, whole) = verdicts(40, elasticity, false);
        assert!(trials < 0.8 * whole, "elasticity {elasticity}: {trials} trials of {whole}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "seconds with optimisation, minutes without")]
fn search_a_thousand_bystanders_until_it_is_plain() {
    for elasticity in [0.0, 0.15, 0.3, 0.5, 0.8, 1.0] {
        let (counts, trials) = verdicts(1000, elasticity, true);
        println!(
            "elasticity {elasticity}: limits, does not, undecided: {counts:?}; {trials:.1} trials of a pair"
        );
        assert!(elasticity > 0.0 || counts[0] == 0);
        assert!(elasticity < 0.8 || counts[0] >= 950 && counts[1] == 0);
    }
}

#[test]
fn not_plain() {
    let nudge = Nudge { turn: Turn::Clients, amount: Some((8.0, 16.0)) };
    let (max, mut chance) = (Max::USUAL, Chance(1));
    let votes = |levels: &[f64], edge, chance: &mut Chance| -> Vec<Seen> {
        let step = |level: &f64| {
            let stage = model::search::Stage::Ramp;
            Step { scale: max.scale, level: *level, stage, window: max.window, nudge: None, round: 0 }
        };
        levels.iter().map(|it| vote(step(it), edge, 1e-6, chance)).collect()
    };
    let base = votes(&[80.0, 90.0, 110.0, 120.0], 100.0, &mut chance);
    let cases: [(&[f64], bool); 4] = [
        (&[170.0, 190.0, 210.0, 220.0], true),
        (&[190.0, 210.0, 220.0], false), // one that held is a guess
        (&[170.0, 190.0, 210.0], false),
        (&[], false),
    ];
    for (levels, plain) in cases {
        let changed = votes(levels, 200.0, &mut chance);
        assert_eq!(is_plain(&nudge, &base, &changed, &max), plain, "{levels:?}");
        let it = proof(Limit::Host, &nudge, &base, &changed, &max, 1);
        assert_eq!(it.verdict == Proven::Limits, plain, "{levels:?}");
        assert_eq!(it.elasticity.is_some(), plain, "{levels:?}: what is not plain has no figure");
    }
}
