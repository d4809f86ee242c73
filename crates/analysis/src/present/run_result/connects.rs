//! Initial connection time of a cell

use crate::stats::quantile::median;
use model::Nanos;
use model::run_result::InitialConnects;

/// Median and maximum over the trials; `None` if no trial opened connections before its window.
pub fn initial_connects(trials: impl IntoIterator<Item = Nanos>) -> Option<InitialConnects> {
    let times: Vec<Nanos> = trials.into_iter().filter(|it| *it > Nanos::ZERO).collect();
    let seconds: Vec<f64> = times.iter().map(|it| it.as_secs_f64()).collect();
    let median = median(seconds)?;
    let max = times.iter().copied().max()?;
    Some(InitialConnects { median: Nanos::from_secs_f64(median), max, trials: times.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_trials_without_connections() {
        let check = |millis: &[u64], expected: Option<(u64, u64, usize)>| {
            let found = initial_connects(millis.iter().map(|it| Nanos::from_millis(*it)));
            let found = found.map(|it| (it.median.0 / 1_000_000, it.max.0 / 1_000_000, it.trials));
            assert_eq!(found, expected, "{millis:?}");
        };
        check(&[], None);
        check(&[0, 0], None);
        check(&[30, 0, 10, 20], Some((20, 30, 3)));
    }
}
