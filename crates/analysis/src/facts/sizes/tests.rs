use super::fixture::log_normal;
use super::*;
use model::SplitMix64;

/// Draws a size.
type Law = fn(&mut SplitMix64) -> u64;

/// Distributions of sizes with natural variation, none of which is reported.
const NATURAL: [(&str, Law); 12] = [
    ("constant", |_| 40_000),
    ("empty", |_| 0),
    ("log-normal 0.3", |it| log_normal(it, 40_000.0, 0.3)),
    ("log-normal 1", |it| log_normal(it, 8_000.0, 1.0)),
    ("log-normal 2", |it| log_normal(it, 2_000.0, 2.0)),
    ("uniform", |it| 20_000 + it.below(40_000)),
    ("uniform from nothing", |it| it.below(50_000)),
    ("exponential", |it| (-5_000.0 * (1.0 - it.uniform()).ln()) as u64),
    ("list of 0 to 20", |it| 2 + 200 * it.below(21)),
    ("list of 0 to 2", |it| 2 + 200 * it.below(3)),
    ("list of a page or less", |it| 2 + 200 * (it.below(200)).min(20)),
    ("list of geometric length", |it| 30 + 180 * ((1.0 - it.uniform()).ln() / 0.8_f64.ln()) as u64),
];

/// Response sizes over 60 seconds, with `rate` responses per second.
fn simulate_series(seed: u64, rate: u64, size: &dyn Fn(&mut SplitMix64, u64) -> u64) -> SizeSeries {
    let mut rng = SplitMix64(seed);
    let mut all = SizeSeriesSet::default();
    for second in 0..60 {
        let mut sizes = AnswerSizes::new((0, 0));
        (0..rate).for_each(|_| sizes.sizes.record(size(&mut rng, second)));
        all.second(second as usize, &[sizes]);
    }
    all.finish().remove(0)
}

#[test]
fn does_not_report_natural_variation() {
    let seeds: u64 = std::env::var("PGDYNO_SIZE_SEEDS").map_or(25, |it| it.parse().expect("a whole number"));
    let (mut trials, mut alarms) = (0, Vec::new());
    for (name, size) in NATURAL {
        for seed in 0..seeds {
            for rate in [4, 20, 200] {
                let series = simulate_series(seed, rate, &|rng, _| size(rng));
                let other = simulate_series(seed + 1_000_000, rate, &|rng, _| size(rng));
                trials += 1;
                let found = (
                    series.find_fall(),
                    populations(&series.total()),
                    is_mostly_smaller(&series.total(), &other.total()),
                );
                if found != (None, None, false) {
                    alarms.push(format!("{name}, seed {seed}, {rate}/s: {found:?}"));
                }
            }
        }
    }
    println!("{} false alarms in {trials} trials", alarms.len());
    assert!(alarms.is_empty(), "of {trials}: {}", alarms.join("\n"));
}

#[test]
fn finds_error_pages_of_an_outage() {
    for (name, size) in NATURAL.into_iter().filter(|it| it.0 != "empty" && !it.0.contains("nothing")) {
        for seed in 0..5 {
            // In the second half, all responses are a login page of 300 bytes, or are smaller than usual.
            let fallen = simulate_series(seed, 50, &|rng, second| {
                let usual = size(rng).saturating_mul(20).saturating_add(10_000);
                if second < 30 { usual } else { 300 }
            });
            let fall = fallen.find_fall().unwrap_or_else(|| panic!("{name}, seed {seed}"));
            assert_eq!((fall.second, fall.share), (30, 0.5), "{name}");
            assert!((300..320).contains(&fall.after) && fall.before > 10_000, "{name} {fall:?}");
        }
    }
}

#[test]
fn finds_two_populations() {
    let check = |rate: u64, size: &dyn Fn(&mut SplitMix64) -> u64, expected: Option<(u64, u64)>| {
        for seed in 0..10 {
            let found = populations(&simulate_series(seed, rate, &|rng, _| size(rng)).total());
            let near = |it: u64, target: u64| (target * 15 / 16..=target * 17 / 16 + 1).contains(&it);
            match (found, expected) {
                (None, None) => {}
                (Some(found), Some((small, large))) => {
                    assert!(near(found.small, small) && near(found.large, large), "{found:?}");
                }
                _ => panic!("{found:?} instead of {expected:?}"),
            }
        }
    };
    // A login page of 2 KB among pages of 40 KB.
    check(20, &|it| if it.below(10) < 3 { 2_000 } else { 40_000 }, Some((2_000, 40_000)));
    check(20, &|it| if it.below(10) < 9 { 2_000 } else { 40_000 }, Some((2_000, 40_000)));
    check(20, &|it| if it.below(2) == 0 { 2_000 } else { 39_000 + it.below(2_000) }, Some((2_000, 40_000)));
    check(20, &|it| if it.below(2) == 0 { 0 } else { 40_000 }, Some((0, 40_000)));
    // One group is too small, or there are too few responses.
    check(20, &|it| if it.below(100) < 2 { 2_000 } else { 40_000 }, None);
    check(1, &|it| if it.below(2) == 0 { 2_000 } else { 40_000 }, None);
}

#[test]
fn long_trials_have_few_intervals() {
    let mut all = SizeSeriesSet::default();
    for second in 0..10_000_u64 {
        let mut sizes = AnswerSizes::new((1, 2));
        sizes.sizes.record(if second < 5_000 { 40_000 } else { 1_000 });
        all.second(second as usize, &[sizes]);
    }
    let series = all.finish().remove(0);
    assert!(series.stretches.len() <= STRETCHES_MAX);
    assert_eq!(series.total().count(), 10_000);
    let fall = series.find_fall().expect("the sizes drop");
    assert!((4_900..=5_120).contains(&fall.second), "{fall:?}");
}
