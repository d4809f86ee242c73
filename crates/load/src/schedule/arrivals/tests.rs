use super::*;
use crate::schedule::{even_count, expected_by, parse, poisson_mean};
use model::PerSecond;
use proptest::prelude::*;

fn read(text: &str) -> Curve {
    parse(text).expect(text)
}

fn all(curve: &Curve, spacing: Spacing, seed: u64) -> Vec<Nanos> {
    Arrivals::new(curve, spacing, seed, (0, 1)).collect()
}

fn millis(curve: &Curve) -> Vec<u64> {
    Arrivals::new(curve, Spacing::Even, 0, (0, 1)).map(|due| due.0 / 1_000_000).collect()
}

/// Rows from Yandex.Tank's tests of its load plans: the first arrivals in integer milliseconds.
#[test]
fn even_arrivals_match_tank() {
    let every = |step: usize, n: u64| (0..n).step_by(step).collect::<Vec<_>>();
    for (text, due) in [
        ("line(1, 5, 2s)", vec![0, 618, 1000, 1302, 1561, 1791]),
        ("line(1.1, 5.8, 2s)", vec![0, 566, 917, 1196, 1435, 1647]),
        ("line(5, 1, 2s)", vec![0, 208, 438, 697, 1000, 1381]),
        ("const(1, 10s)", every(1000, 10_000)),
        ("const(200, 1s)", every(5, 1000)),
        ("const(1, 2s) const(2, 2s)", vec![0, 1000, 2000, 2500, 3000, 3500]),
        (
            "const(1.5, 10s)",
            vec![0, 666, 1333, 2000, 2666, 3333, 4000, 4666, 5333, 6000, 6666, 7333, 8000, 8666, 9333],
        ),
        ("const(1, 1)", vec![0]),
        ("const(100, 0)", vec![]),
        ("const(0, 10s) const(1, 2)", vec![10_000, 11_000]),
        ("line(0, 2, 2s)", vec![0, 1414]),
        ("line(2, 0, 2s)", vec![0, 585]),
        // As in Tank, the fraction of a ramp is not carried over.
        ("const(0.5, 1s) const(0.5, 3s)", vec![1000]),
        ("const(3000, 1s)", (0..3000).map(|n| n / 3).collect()),
    ] {
        assert_eq!(millis(&read(text)), due, "{text}");
    }
    let first_ten = |text| millis(&read(text))[..10].to_vec();
    assert_eq!(first_ten("step(1, 5, 1, 5s)"), [0, 1000, 2000, 3000, 4000, 5000, 5500, 6000, 6500, 7000]);
    assert_eq!(
        first_ten("step(1.2, 5.7, 1.1, 5s)"),
        [0, 833, 1666, 2500, 3333, 4166, 5000, 5434, 5869, 6304]
    );
}

/// Rows from the same tests: the number of arrivals, and how many of them are due at or after a time.
#[test]
fn even_arrival_count_matches_tank() {
    for (text, count, second, after) in [
        ("line(2, 12, 25s)", 175, 5, 160),
        ("line(2, 12, 25s)", 175, 10, 135),
        ("line(2, 12, 25s)", 175, 15, 100),
        ("line(2, 12, 25s)", 175, 20, 55),
        ("line(0, 10, 25s)", 125, 15, 80),
        ("line(10, 12, 20s)", 220, 10, 115),
        ("line(10, 10, 20s)", 200, 10, 100),
        ("line(10, 0, 25s)", 125, 10, 45),
        ("line(10, 0, 25s)", 125, 15, 20),
        ("line(0, 10, 20s) const(10, 10s)", 200, 20, 100),
        ("line(0, 10, 20s) line(10, 0, 20s)", 200, 20, 100),
        ("const(5, 10s) const(10, 5s)", 100, 10, 50),
        ("step(0, 1000, 50, 3s)", 31_500, 9, 31_050),
        ("step(0, 1000, 50, 3s)", 31_500, 15, 30_000),
        ("step(0, 1000, 50, 3s)", 31_500, 45, 15_750),
        ("line(1, 200, 200s)", 20_100, 200, 0),
    ] {
        let curve = read(text);
        let due = all(&curve, Spacing::Even, 0);
        assert_eq!(due.len(), count, "{text}");
        assert_eq!(even_count(&curve), count as u64, "{text}");
        assert_eq!(
            due.iter().filter(|due| **due >= Nanos::from_secs(second)).count(),
            after,
            "{text} at {second} s"
        );
    }
}

#[test]
fn no_arrivals_after_the_last() {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let mut arrivals = Arrivals::new(&read("const(2, 1s)"), spacing, 1, (0, 1));
        while arrivals.peek().is_some() {
            arrivals.pop();
        }
        arrivals.pop();
        assert_eq!((arrivals.peek(), arrivals.next()), (None, None));
        assert_eq!(Arrivals::new(&Curve::Chain(Vec::new()), spacing, 1, (2, 3)).peek(), None);
    }
}

#[test]
fn distant_arrivals_keep_nanosecond_precision() {
    // Ten days at a million per second: the last millisecond is still evenly filled.
    let curve = read("const(1000000, 10d)");
    let mut late = Arrivals::new(&curve, Spacing::Even, 0, (999, 1_000_000));
    late.advance(1_000_000 * 863_999);
    assert_eq!(late.peek(), Some(Nanos(863_999_000_999_000)));
}

/// In a Poisson process, intervals have mean and standard deviation 1/rate, and counts per second have a variance equal
/// to their mean.
#[test]
fn poisson_intervals_are_exponential() {
    for seed in [1, 2, 3] {
        let due = all(&read("const(1000, 200s)"), Spacing::Poisson, seed);
        let n = due.len() as f64;
        // Five standard deviations of the count.
        assert!((n - 200_000.0).abs() < 5.0 * 200_000f64.sqrt(), "seed {seed}: {n} arrivals");
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1000.0).collect();
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.012, "seed {seed}: mean gap {mean}");
        assert!((variance - 1.0).abs() < 0.035, "seed {seed}: variance of gaps {variance}");
        let mut counts = [0f64; 200];
        due.iter().for_each(|due| counts[(due.0 / 1_000_000_000) as usize] += 1.0);
        let spread = counts.iter().map(|count| (count - 1000.0).powi(2)).sum::<f64>() / 200.0 / 1000.0;
        assert!((0.5..1.5).contains(&spread), "seed {seed}: variance over mean of counts {spread}");
    }
}

#[test]
fn poisson_rate_follows_the_curve() {
    let curve = read("line(0, 1000, 100s) const(0, 100s) line(1000, 0, 100s)");
    let due = all(&curve, Spacing::Poisson, 7);
    for second in [10, 50, 100, 150, 200, 250, 300] {
        let at = Nanos::from_secs(second);
        let (actual, expected) =
            (due.iter().filter(|due| **due < at).count() as f64, expected_by(&curve, at));
        assert!(
            (actual - expected).abs() <= 5.0 * expected.sqrt(),
            "{actual} instead of {expected} by {second} s"
        );
    }
    assert!(due.iter().all(|due| !(100..200).contains(&(due.0 / 1_000_000_000))));
}

#[test]
fn same_seed_gives_same_arrivals() {
    let curve = read("const(100, 10s)");
    assert_eq!(all(&curve, Spacing::Poisson, 5), all(&curve, Spacing::Poisson, 5));
    assert_ne!(all(&curve, Spacing::Poisson, 5), all(&curve, Spacing::Poisson, 6));
}

/// Up to eight ramps with at most a few thousand arrivals each, with pauses and empty ramps among them.
fn curves() -> impl Strategy<Value = Curve> {
    let rate = prop_oneof![Just(0.0), Just(10.0), 0.0..0.1, 0.0..500.0];
    let duration = prop_oneof![Just(0), 1..10_000_000_000u64];
    let ramp = (rate.clone(), rate, duration).prop_map(|(from, to, duration)| Curve::Ramp {
        from: PerSecond(from),
        to: PerSecond(to),
        duration: Nanos(duration),
    });
    prop::collection::vec(ramp, 0..8).prop_map(Curve::Chain)
}

proptest! {
    #[test]
    fn arrivals_ascend_within_the_curve(curve in curves(), seed: u64) {
        for spacing in [Spacing::Even, Spacing::Poisson] {
            let due = all(&curve, spacing, seed);
            prop_assert!(due.is_sorted());
            prop_assert!(due.last().is_none_or(|last| *last <= curve.duration()));
            if spacing == Spacing::Even {
                prop_assert_eq!(due.len() as u64, even_count(&curve));
            }
        }
    }

    #[test]
    fn arrivals_do_not_depend_on_thread_count(curve in curves(), seed: u64, threads in 2u32..9) {
        for spacing in [Spacing::Even, Spacing::Poisson] {
            let arrivals = all(&curve, spacing, seed);
            for k in 0..threads {
                let share: Vec<Nanos> = Arrivals::new(&curve, spacing, seed, (k, threads)).collect();
                let expected: Vec<Nanos> = arrivals.iter().copied().skip(k as usize).step_by(threads as usize).collect();
                prop_assert_eq!(share, expected);
            }
        }
    }

    /// The n-th arrival of a ramp is due when its integral reaches n.
    #[test]
    fn even_arrivals_match_the_integral(from in 0.0..500.0, to in 0.0..500.0, duration in 1..10_000_000_000u64) {
        let curve = Curve::Ramp { from: PerSecond(from), to: PerSecond(to), duration: Nanos(duration) };
        for (n, due) in all(&curve, Spacing::Even, 0).into_iter().enumerate() {
            prop_assert!((expected_by(&curve, due) - n as f64).abs() < 1e-6);
        }
        prop_assert!(poisson_mean(&curve) - (even_count(&curve) as f64) < 1.0);
    }
}
