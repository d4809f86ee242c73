//! Plateau of a grid: the cells that are not shown to be worse than the best cell
//!
//! The best cell of a grid is rarely shown to be better than its neighbours. The best cell and the cells that are not
//! shown to be worse form the plateau. Of these, the cell with the smallest settings is recommended.
//!
//! The best of many cells is partly lucky, and each cell may look worse by chance. A cell is therefore outside the
//! plateau only if the best cell beats it by more than chance explains. The bound is the 95 % quantile of the
//! difference between the best and the worst of equally many *equal* cells (Tukey's range). It is computed by
//! resampling the relative deviations of all runs from the mean of their cells. If each cell was searched once, the
//! scatter follows from the confidence intervals of the maxima.

use crate::stats::repeats;
use model::SplitMix64;
use model::search::{FittedValue, Plateau, RequiredConnections};
use std::cmp::Ordering;

const DRAWS: usize = 4000;
const LEVEL: f64 = 0.95;
/// Minimum number of runs in excess of one run per cell. Fewer runs do not show the scatter.
const RUNS_MIN: usize = 4;
/// Width of a 95 % interval of a normal value, in standard deviations.
const INTERVAL_DEVIATIONS: f64 = 2.0 * 1.959_964;

/// Data of one cell: the figure of each run, or the maximum from a search with its interval.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue {
    Runs(Vec<f64>),
    /// Maximum from a single search.
    Answer {
        value: f64,
        interval: Option<(f64, f64)>,
    },
    /// No data: the cell was skipped, or its search found no maximum.
    Missing,
}

impl CellValue {
    fn fitted(&self) -> Option<FittedValue> {
        match self {
            CellValue::Runs(runs) => {
                repeats::estimate(runs).map(|it| FittedValue { value: it.median, interval: it.interval })
            }
            CellValue::Answer { value, interval } => Some(FittedValue { value: *value, interval: *interval }),
            CellValue::Missing => None,
        }
    }
}

/// Plateau of the grid; `None` if no cell has data. `labels` has the name and value of each axis, by cell. `known` has
/// the data of each cell; all values are positive. `maxima` is true if higher is better (rates), and false if lower is
/// better (seconds). `seed` determines the resampling.
pub fn plateau(
    labels: &[Vec<(String, String)>],
    known: &[CellValue],
    maxima: bool,
    required_connections: Option<RequiredConnections>,
    seed: u64,
) -> Option<Plateau> {
    let points: Vec<Option<FittedValue>> = known.iter().map(CellValue::fitted).collect();
    let mut ranked: Vec<(usize, f64)> = points
        .iter()
        .enumerate()
        .filter_map(|(cell, fitted)| Some((cell, fitted.filter(|it| it.value > 0.0)?.value)))
        .collect();
    // Among equal cells, the first cell counts as the best.
    ranked.sort_by(|a, b| if maxima { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
    let best = ranked.first()?.0;
    let cells: Vec<usize> = ranked.iter().map(|it| it.0).collect();
    let scatter = CellScatter::from_cells(&cells, known, &points, &mut SplitMix64(seed));
    let beats = |cell: usize| scatter.as_ref().is_some_and(|it| it.is_worse(best, cell, maxima));
    let plateau: Vec<usize> = cells.into_iter().filter(|cell| *cell == best || !beats(*cell)).collect();
    let recommended = plateau.iter().copied().min_by(|a, b| by_size(labels, *a, *b));
    Some(Plateau { maxima, points, plateau, recommended, required_connections })
}

/// Scatter of the cells, from which the largest random difference is derived.
#[derive(Debug)]
struct CellScatter {
    /// Logarithm of the figure and its standard error, by cell.
    estimates: Vec<Option<(f64, f64)>>,
    /// Largest difference that chance explains, in standard errors.
    bound: f64,
}

impl CellScatter {
    /// Scatter of these cells; `None` if it is unknown.
    fn from_cells(
        cells: &[usize],
        known: &[CellValue],
        points: &[Option<FittedValue>],
        rng: &mut SplitMix64,
    ) -> Option<CellScatter> {
        let run_values = |cell: &usize| match &known[*cell] {
            CellValue::Runs(runs) if runs.iter().all(|it| *it > 0.0) => {
                Some(runs.iter().map(|it| it.ln()).collect::<Vec<f64>>())
            }
            _ => None,
        };
        let runs: Option<Vec<Vec<f64>>> = cells.iter().map(run_values).collect();
        match runs {
            Some(runs) => CellScatter::by_runs(cells, &runs, points.len(), rng),
            None => Some(CellScatter::by_intervals(cells, points, rng)),
        }
    }

    fn by_runs(cells: &[usize], runs: &[Vec<f64>], all: usize, rng: &mut SplitMix64) -> Option<CellScatter> {
        let freedom: usize = runs.iter().map(|it| it.len() - 1).sum();
        if freedom < RUNS_MIN {
            return None;
        }
        let mut rest = Vec::new();
        for values in runs.iter().filter(|it| it.len() > 1) {
            let (n, mean) = (values.len() as f64, mean(values));
            rest.extend(values.iter().map(|it| (it - mean) * (n / (n - 1.0)).sqrt()));
        }
        let deviation = |runs: &[Vec<f64>]| {
            let squares = |it: &Vec<f64>| it.iter().map(|one| (one - mean(it)).powi(2)).sum::<f64>();
            (runs.iter().map(squares).sum::<f64>() / freedom as f64).sqrt()
        };
        let mut equal = runs.to_vec();
        let mut draw = || {
            for value in equal.iter_mut().flatten() {
                *value = rest[rng.below(rest.len() as u64) as usize];
            }
            let deviation = deviation(&equal);
            let means = equal.iter().map(|it| (mean(it), deviation / (it.len() as f64).sqrt()));
            studentized_range(&means.collect::<Vec<_>>())
        };
        let bound = bound((0..DRAWS).map(|_| draw()).collect());
        let deviation = deviation(runs);
        let mut estimates = vec![None; all];
        for (cell, values) in cells.iter().zip(runs) {
            estimates[*cell] = Some((mean(values), deviation / (values.len() as f64).sqrt()));
        }
        Some(CellScatter { estimates, bound })
    }

    fn by_intervals(cells: &[usize], points: &[Option<FittedValue>], rng: &mut SplitMix64) -> CellScatter {
        let error = |fitted: FittedValue| {
            let (low, high) = fitted.interval.filter(|it| it.0 > 0.0 && it.1 >= it.0)?;
            Some((fitted.value.ln(), (high / low).ln() / INTERVAL_DEVIATIONS))
        };
        let estimates: Vec<Option<(f64, f64)>> = points.iter().map(|it| error((*it)?)).collect();
        let errors: Vec<f64> = cells.iter().filter_map(|it| Some(estimates[*it]?.1)).collect();
        let mut draw = || {
            let values: Vec<(f64, f64)> = errors.iter().map(|it| (it * rng.normal(), *it)).collect();
            studentized_range(&values)
        };
        let bound = bound((0..DRAWS).map(|_| draw()).collect());
        CellScatter { estimates, bound }
    }

    /// True if `cell` is shown to be worse than the best.
    fn is_worse(&self, best: usize, cell: usize, maxima: bool) -> bool {
        let (Some(best), Some(cell)) = (self.estimates[best], self.estimates[cell]) else { return false };
        let behind = if maxima { best.0 - cell.0 } else { cell.0 - best.0 };
        behind > self.bound * best.1.hypot(cell.1)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Greatest difference between any two cells, in standard errors of that difference.
fn studentized_range(estimates: &[(f64, f64)]) -> f64 {
    let pairs =
        estimates.iter().enumerate().flat_map(|(at, a)| estimates[at + 1..].iter().map(move |b| (a, b)));
    let distances = pairs.map(|(a, b)| match a.1.hypot(b.1) {
        0.0 => 0.0,
        error => (a.0 - b.0).abs() / error,
    });
    distances.fold(0.0, f64::max)
}

fn bound(mut ranges: Vec<f64>) -> f64 {
    ranges.sort_by(f64::total_cmp);
    ranges[(LEVEL * (ranges.len() - 1) as f64).ceil() as usize]
}

/// Orders two cells by the product of the numbers on their axes, so that doubling the threads counts as much as
/// doubling the pool. Cells with equal products are ordered by the first axis, then by position in the file. Axes
/// without numbers do not count.
fn by_size(labels: &[Vec<(String, String)>], one: usize, other: usize) -> Ordering {
    let amounts = |cell: usize| -> Vec<f64> {
        labels.get(cell).map_or(Vec::new(), |it| it.iter().filter_map(|(_, value)| amount(value)).collect())
    };
    let (amounts_one, amounts_other) = (amounts(one), amounts(other));
    let weight = |them: &[f64]| them.iter().map(|it| it.max(f64::MIN_POSITIVE).ln()).sum::<f64>();
    // Rounding may make products of the same numbers unequal if the order of the factors differs.
    let heavier = weight(&amounts_one) - weight(&amounts_other);
    let by_weight = if heavier.abs() < 1e-9 { Ordering::Equal } else { heavier.total_cmp(&0.0) };
    let axes = amounts_one.iter().zip(&amounts_other);
    let by_axis = axes.map(|(a, b)| a.total_cmp(b)).find(|it| it.is_ne()).unwrap_or(Ordering::Equal);
    by_weight.then(by_axis).then(one.cmp(&other))
}

/// Number in an axis value such as `20`, `1_000`, `0.5`, `400MB`, `2 GiB` or `50ms`; `None` for words.
fn amount(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|it| !matches!(it, '_' | ' ')).collect();
    let digits = text.find(|it: char| !(it.is_ascii_digit() || it == '.')).unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" | "s" => 1.0,
        "kb" | "kib" | "k" => 1024.0,
        "mb" | "mib" => 1_048_576.0,
        "gb" | "gib" => 1_073_741_824.0,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * unit)
}

/// Number of connections required for `rate` transactions per second, by Little's law. Each transaction holds a
/// connection for `held` seconds. `None` if `rate` or `held` is unknown. If `held` was measured under light load, the
/// result is a lower bound, because transactions hold their connections longer under full load.
pub fn required_connections(rate: f64, held: f64, processors: f64) -> Option<RequiredConnections> {
    let sound = [rate, held].iter().all(|it| it.is_finite() && *it > 0.0);
    sound.then_some(RequiredConnections { rate, hold_time: held, connections: rate * held, processors })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(cells: &[(&str, &str)]) -> Vec<Vec<(String, String)>> {
        let one = |(threads, pool): &(&str, &str)| {
            vec![("threads".to_owned(), (*threads).to_owned()), ("pool".to_owned(), (*pool).to_owned())]
        };
        cells.iter().map(one).collect()
    }

    const GRID: [(&str, &str); 6] =
        [("5", "3"), ("10", "3"), ("20", "3"), ("5", "12"), ("10", "12"), ("20", "12")];

    #[test]
    fn finds_the_plateau_and_its_smallest_cell() {
        let answer = |value: f64| CellValue::Answer { value, interval: Some((0.97 * value, 1.03 * value)) };
        let runs = |value: f64| CellValue::Runs([0.98, 1.0, 1.01, 0.99, 1.02].map(|it| it * value).into());
        for (known, maxima, plateau_is, recommended) in [
            // Five threads are too few at any pool size.
            ([300.0, 640.0, 646.0, 310.0, 650.0, 645.0].map(answer), true, vec![4, 2, 5, 1], Some(1)),
            ([300.0, 640.0, 646.0, 310.0, 650.0, 645.0].map(runs), true, vec![4, 2, 5, 1], Some(1)),
            // Lower is better for seconds.
            ([0.3, 0.1, 0.1, 0.3, 0.101, 0.2].map(runs), false, vec![1, 2, 4], Some(1)),
            // A single best cell.
            ([100.0, 200.0, 300.0, 400.0, 500.0, 900.0].map(runs), true, vec![5], Some(5)),
            // The scatter is unknown, so no cell is shown to be worse.
            (
                [100.0, 200.0, 300.0, 1.0, 2.0, 3.0].map(|value| CellValue::Answer { value, interval: None }),
                true,
                vec![2, 1, 0, 5, 4, 3],
                Some(0),
            ),
            (
                [100.0, 200.0, 300.0, 1.0, 2.0, 3.0].map(|it| CellValue::Runs(vec![it])),
                true,
                vec![2, 1, 0, 5, 4, 3],
                Some(0),
            ),
        ] {
            let result = plateau(&labels(&GRID), &known, maxima, None, 1).expect("cells are known");
            assert_eq!((&result.plateau, result.recommended), (&plateau_is, recommended), "{known:?}");
        }
        // One cell was skipped, and one processed no transactions.
        let known = [
            CellValue::Missing,
            runs(640.0),
            runs(646.0),
            CellValue::Runs(vec![0.0; 5]),
            runs(650.0),
            CellValue::Missing,
        ];
        let result = plateau(&labels(&GRID), &known, true, None, 1).expect("cells are known");
        assert_eq!((result.plateau, result.recommended), (vec![4, 2, 1], Some(1)));
        assert_eq!(
            result.points.iter().map(Option::is_some).collect::<Vec<_>>(),
            [false, true, true, true, true, false]
        );
        assert_eq!(plateau(&labels(&GRID[..1]), &[CellValue::Missing], true, None, 1), None);
    }

    #[test]
    fn recommends_the_smallest_setting_of_a_plateau() {
        for (cells, least) in [
            // All products are 240; the cell with the fewest threads wins.
            (&[("20", "12"), ("160", "96"), ("80", "3"), ("5", "48")][..], 3),
            (&[("20", "12"), ("10", "12"), ("20", "3")], 2),
            (&[("2GiB", "1"), ("400MB", "1"), ("1_000MB", "1")], 1),
            (&[("session", "8"), ("transaction", "4"), ("statement", "4")], 1),
            (&[("a", "b"), ("c", "d")], 0),
        ] {
            let known = vec![CellValue::Runs(vec![5.0, 5.0, 5.0]); cells.len()];
            let result = plateau(&labels(cells), &known, true, None, 1).expect("cells are known");
            assert_eq!(result.recommended, Some(least), "{cells:?}");
        }
    }

    #[test]
    fn computes_connections_by_littles_law() {
        // 646 transactions per second, each 2.59 ms in the database (document 004).
        let required = required_connections(646.0, 0.002_59, 1.0).expect("rate and time are known");
        assert!((required.connections - 1.673).abs() < 0.001, "{required:?}");
        for (rate, held) in [(0.0, 0.1), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(required_connections(rate, held, 1.0), None, "{rate} {held}");
        }
    }

    /// Share of simulated grids in which any of 12 equal cells leaves the plateau, and share in which a cell that is 20
    /// % worse stays on it.
    fn error_rates(runs: usize, draws: u64) -> (f64, f64) {
        let (mut left, mut stayed) = (0, 0);
        let cells = labels(&[("1", "1"); 12]);
        for seed in 0..draws {
            let mut rng = SplitMix64(1000 * runs as u64 + seed);
            let mut cell =
                |mean: f64| CellValue::Runs((0..runs).map(|_| mean * (1.0 + 0.03 * rng.normal())).collect());
            let mut known: Vec<CellValue> = (0..12).map(|_| cell(650.0)).collect();
            let result = plateau(&cells, &known, true, None, seed).expect("cells are known");
            left += u64::from(result.plateau.len() < 12);
            known[7] = cell(520.0);
            let result = plateau(&cells, &known, true, None, seed).expect("cells are known");
            stayed += u64::from(result.plateau.contains(&7));
        }
        (left as f64 / draws as f64, stayed as f64 / draws as f64)
    }

    #[test]
    fn equal_cells_stay_and_worse_ones_leave() {
        let (left, stayed) = error_rates(3, 20);
        // With 20 draws at 5 %, three or fewer are expected in 98 of 100 cases.
        assert!(left <= 0.15 && stayed == 0.0, "seeds 3000..3020: {left} {stayed}");
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
    fn equal_cells_stay_and_worse_ones_leave_a_thousand_times() {
        for runs in [2, 3, 5] {
            let (left, stayed) = error_rates(runs, 1000);
            println!("{runs} runs: an equal cell left in {left:.3}, a worse one stayed in {stayed:.3}");
            assert!(left <= 0.07 && stayed <= 0.01, "{runs} runs: {left} {stayed}");
        }
    }
}
