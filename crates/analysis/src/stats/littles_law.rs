//! Check of a node's figures by Little's law
//!
//! Little's law: the mean number of transactions in a node is the rate of transactions times their mean time in the
//! node. If the three figures are measured separately and do not agree, at least one of them is wrong.

/// Mean of a figure and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    pub mean: f64,
    /// Standard error, at least 0.
    pub error: f64,
}

/// Disagreement between number, rate and time of the transactions in a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub hop: String,
    /// Mean number of transactions that are executed or wait in the node.
    pub number: f64,
    /// Number expected by the law: `rate` × `time`.
    pub expected: f64,
    /// Transactions that pass through the node, per second.
    pub rate: f64,
    /// Mean time of a transaction in the node, in seconds.
    pub time: f64,
    /// Largest difference between `number` and `expected` that does not count as a violation. Chance can cause such a
    /// difference, and so can transactions at the start and end of the window.
    pub tolerance: f64,
}

/// Number of standard errors that chance may explain. If errors are normally distributed, one check in 16,000 exceeds
/// this number.
const DEVIATIONS_MAX: f64 = 4.0;
/// Relative difference that sampling times and the clocks of two programs may cause.
const SHARE_MIN: f64 = 0.05;
/// Absolute difference that unsynchronised samples may cause, in transactions.
const NUMBER_MIN: f64 = 0.1;

/// Mean of a gauge with correlated samples, by batch means (Law and Kelton, "Simulation Modeling and Analysis"). `None`
/// with fewer than two samples for each of the ten batches.
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

/// Checks the law for one node. `n` is the sampled number of transactions in the node, `rate` is their rate per second,
/// and `time` is their mean time in seconds. All three cover the same `window`, in seconds. A transaction that is in
/// the node when the window starts or ends may count in only one of the figures. The resulting difference is at most 2
/// · number · time / window.
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
    use model::SplitMix64;

    fn exact(mean: f64) -> MeanEstimate {
        MeanEstimate { mean, error: 0.0 }
    }

    #[test]
    fn reports_violations_beyond_the_tolerance() {
        for (n, rate, time, window, expected) in [
            // 1,000 transactions per second that stay for 20 ms: on average 20 are in the node.
            (exact(20.0), exact(1000.0), exact(0.02), 60.0, None),
            (exact(20.9), exact(1000.0), exact(0.02), 60.0, None),
            (exact(22.0), exact(1000.0), exact(0.02), 60.0, Some(20.0)),
            (exact(18.0), exact(1000.0), exact(0.02), 60.0, Some(20.0)),
            // The errors are large enough to allow the difference.
            (MeanEstimate { mean: 22.0, error: 0.5 }, exact(1000.0), exact(0.02), 60.0, None),
            (exact(22.0), MeanEstimate { mean: 1000.0, error: 25.0 }, exact(0.02), 60.0, None),
            (exact(22.0), exact(1000.0), MeanEstimate { mean: 0.02, error: 0.0005 }, 60.0, None),
            // Transactions that stay for half of the window may be in the node at either end.
            (exact(5.0), exact(1.0), exact(30.0), 60.0, None),
            (exact(0.05), exact(10.0), exact(0.001), 60.0, None),
            (exact(0.0), exact(0.0), exact(0.0), 0.0, None),
            // A pooler counts idle clients as waiting.
            (exact(50.0), exact(1000.0), exact(0.005), 60.0, Some(5.0)),
        ] {
            let violation = check_law("pooler", n, rate, time, window);
            assert_eq!(violation.map(|it| it.expected), expected, "{n:?} {rate:?} {time:?}");
        }
    }

    #[test]
    fn estimates_errors_by_batch_means() {
        assert_eq!(estimate_mean(&[3.0; 40]), Some(exact(3.0)));
        assert_eq!(estimate_mean(&[1.0; 19]), None);
        // Two halves of equal values: forty samples carry hardly more information than two.
        let halves: Vec<f64> = (0..40).map(|it| if it < 20 { 0.0 } else { 2.0 }).collect();
        let result = estimate_mean(&halves).expect("forty samples are enough");
        assert!((result.mean - 1.0).abs() < 1e-12 && (result.error - 1.0 / 3.0).abs() < 1e-3, "{result:?}");
    }

    /// Queue with one server, Poisson arrivals, exponential service times and utilisation 0.7, sampled ten times per
    /// second. The law holds, and is violated if the reported time is a quarter too short.
    #[test]
    fn a_simulated_queue_obeys_the_law() {
        for seed in 0..20 {
            let mut rng = SplitMix64(seed);
            let mut exponential = |mean: f64| -mean * (1.0 - rng.uniform()).ln();
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
                .map(|number| {
                    let look = f64::from(number) * 0.1;
                    let begun = stays.partition_point(|it| it.0 <= look);
                    // No transaction stays for more than a second here.
                    let recent = stays[..begun].iter().rev().take(1000);
                    recent.filter(|it| it.1 > look).count() as f64
                })
                .collect();
            let n = estimate_mean(&looks).expect("there are thousands of samples");
            let times: Vec<f64> = stays.iter().map(|it| it.1 - it.0).collect();
            let time = estimate_mean(&times).expect("there are thousands of samples");
            let rate = exact(stays.len() as f64 / window);
            assert_eq!(check_law("queue", n, rate, time, window), None, "seed {seed}");
            let halved = MeanEstimate { mean: time.mean / 2.0, ..time };
            assert!(check_law("queue", n, rate, halved, window).is_some(), "seed {seed}: {n:?} {time:?}");
        }
    }
}
