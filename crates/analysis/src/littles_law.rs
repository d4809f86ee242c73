//! Do number, rate and time agree?
//!
//! Little's law: what is in a node on average is what passes through it per second, times how long it stays. Three figures
//! that are measured apart have to agree; where they do not, one of them is not what it is called.

/// A figure and the standard error of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    pub mean: f64,
    /// At least 0.
    pub error: f64,
}

/// A node's three figures do not agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub hop: String,
    /// In it: at work and waiting.
    pub number: f64,
    /// What that should be: `rate` × `time`.
    pub expected: f64,
    /// Through it, per second.
    pub rate: f64,
    /// Mean of what one stays, seconds.
    pub time: f64,
    /// By how much the two numbers may differ by chance and by what begins before and ends after.
    pub tolerance: f64,
}

/// Deviations that chance may bring: with normal errors one check of 16,000 is beyond.
const DEVIATIONS_MAX: f64 = 4.0;
/// Below this share, sampling moments and clocks of two programs differ more than a law could.
const SHARE_MIN: f64 = 0.05;
/// A tenth of a transaction is what a look beside the clock misses.
const NUMBER_MIN: f64 = 0.1;

/// Samples of a gauge, neighbours being alike: by the means of batches (Law and Kelton, "Simulation Modeling and Analysis").
/// `None` with fewer than two for each of the ten batches.
pub fn estimate_mean(samples: &[f64]) -> Option<MeanEstimate> {
    const BATCHES: usize = 10;
    let size = samples.len() / BATCHES;
    if size < 2 {
        return None;
    }
    let means: Vec<f64> =
        samples.chunks_exact(size).take(BATCHES).map(|it| it.iter().sum::<f64>() / size as f64).collect();
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let middle = means.iter().sum::<f64>() / BATCHES as f64;
    let variance = means.iter().map(|it| (it - middle).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
    Some(MeanEstimate { mean, error: (variance / BATCHES as f64).sqrt() })
}

/// `n`: in the hop, by samples; `rate`: through it, per second; `time`: mean in it, seconds; `window`: seconds that all three
/// are of. Who is in it at the window's two ends counts in one figure and not in the other: at most the number twice, times
/// its time, over the window.
pub fn check_law(
    hop: &str,
    n: MeanEstimate,
    rate: MeanEstimate,
    time: MeanEstimate,
    window: f64,
) -> Option<Violation> {
    let expected = rate.mean * time.mean;
    let by_chance = [n.error, rate.error * time.mean, time.error * rate.mean].map(|it| it * it);
    let by_chance = DEVIATIONS_MAX * by_chance.iter().sum::<f64>().sqrt();
    let larger = n.mean.max(expected);
    let at_the_ends = if window > 0.0 { 2.0 * larger * time.mean / window } else { larger };
    let tolerance = by_chance + at_the_ends + (SHARE_MIN * larger).max(NUMBER_MIN);
    let differs = (n.mean - expected).abs() > tolerance;
    differs.then(|| Violation {
        hop: hop.to_owned(),
        number: n.mean,
        expected,
        rate: rate.mean,
        time: time.mean,
        tolerance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::SplitMix64;

    fn exact(mean: f64) -> MeanEstimate {
        MeanEstimate { mean, error: 0.0 }
    }

    #[test]
    fn reports_violations_beyond_the_tolerance() {
        for (n, rate, time, window, expected) in [
            // 1,000/s that stay 20 ms are 20.
            (exact(20.0), exact(1000.0), exact(0.02), 60.0, None),
            (exact(20.9), exact(1000.0), exact(0.02), 60.0, None),
            (exact(22.0), exact(1000.0), exact(0.02), 60.0, Some(20.0)),
            (exact(18.0), exact(1000.0), exact(0.02), 60.0, Some(20.0)),
            // The same with errors that allow for it.
            (MeanEstimate { mean: 22.0, error: 0.5 }, exact(1000.0), exact(0.02), 60.0, None),
            (exact(22.0), MeanEstimate { mean: 1000.0, error: 25.0 }, exact(0.02), 60.0, None),
            (exact(22.0), exact(1000.0), MeanEstimate { mean: 0.02, error: 0.0005 }, 60.0, None),
            // Whoever stays for half of the window may be of either end.
            (exact(5.0), exact(1.0), exact(30.0), 60.0, None),
            (exact(0.05), exact(10.0), exact(0.001), 60.0, None),
            (exact(0.0), exact(0.0), exact(0.0), 0.0, None),
            // A pooler that counts idle clients as waiting.
            (exact(50.0), exact(1000.0), exact(0.005), 60.0, Some(5.0)),
        ] {
            let it = check_law("pooler", n, rate, time, window);
            assert_eq!(it.map(|it| it.expected), expected, "{n:?} {rate:?} {time:?}");
        }
    }

    #[test]
    fn estimates_errors_by_batch_means() {
        assert_eq!(estimate_mean(&[3.0; 40]), Some(exact(3.0)));
        assert_eq!(estimate_mean(&[1.0; 19]), None);
        // Halves: neighbours are all alike, and forty samples are worth hardly more than two.
        let halves: Vec<f64> = (0..40).map(|it| if it < 20 { 0.0 } else { 2.0 }).collect();
        let it = estimate_mean(&halves).expect("forty");
        assert!((it.mean - 1.0).abs() < 1e-12 && (it.error - 1.0 / 3.0).abs() < 1e-3, "{it:?}");
    }

    /// A queue of one server, Poisson arrivals, exponential times, utilisation 0.7, of which ten looks per second are taken:
    /// the law holds, and is seen to be violated where the time is told a quarter too short.
    #[test]
    fn a_simulated_queue_obeys_the_law() {
        for seed in 0..20 {
            let mut chance = SplitMix64(seed);
            let mut exponential = |mean: f64| -mean * (1.0 - chance.uniform()).ln();
            let window = 300.0;
            let (mut at, mut free, mut stays) = (0.0, 0.0f64, Vec::new());
            loop {
                at += exponential(1.0 / 700.0);
                if at > window {
                    break;
                }
                free = free.max(at) + exponential(0.001);
                stays.push((at, free));
            }
            let looks: Vec<f64> = (1..3000)
                .map(|it| {
                    let look = f64::from(it) * 0.1;
                    let begun = stays.partition_point(|it| it.0 <= look);
                    // Nobody stays for more than a second here.
                    let recent = stays[..begun].iter().rev().take(1000);
                    recent.filter(|it| it.1 > look).count() as f64
                })
                .collect();
            let n = estimate_mean(&looks).expect("thousands");
            let times: Vec<f64> = stays.iter().map(|it| it.1 - it.0).collect();
            let time = estimate_mean(&times).expect("thousands");
            let rate = exact(stays.len() as f64 / window);
            assert_eq!(check_law("queue", n, rate, time, window), None, "seed {seed}");
            let halved = MeanEstimate { mean: time.mean / 2.0, ..time };
            assert!(check_law("queue", n, rate, halved, window).is_some(), "seed {seed}: {n:?} {time:?}");
        }
    }
}
