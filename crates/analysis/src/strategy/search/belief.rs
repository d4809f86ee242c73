//! Bayesian estimate of the edge, the level at which half of the trials hold
//!
//! At level x, a trial holds with probability λ + (1 − 2λ) / (1 + exp((ln x − θ) / s)). θ is the logarithm of the edge,
//! s is the width of the transition, and λ is the share of results unrelated to the level. Bayes' rule is applied on a
//! grid of θ and s. Sources: Watson and Pelli, "QUEST" (1983); Kontsevich and Tyler, "Bayesian adaptive estimation of
//! psychometric slope and threshold" (1999).

/// Vote of one trial: whether its level held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrialVote {
    /// Natural logarithm of the level.
    pub at: f64,
    pub held: bool,
    /// True if the previous trial overloaded the system. The vote then has less weight, because some systems recover
    /// only after a rest.
    pub after_overload: bool,
}

/// Share of trials whose result does not depend on their level.
const LAPSE: f64 = 0.02;
/// Share of trials whose result does not depend on their level, directly after an overloaded trial.
const LAPSE_AFTER_OVERLOAD: f64 = 0.15;
/// Widths s of the transition, in the logarithm of the level, with their prior probabilities. The first three cover
/// queues of usual length. The last covers a system with two states.
const BLURS: [(f64, f64); 5] = [(0.003, 0.25), (0.007, 0.3), (0.015, 0.25), (0.035, 0.15), (0.08, 0.05)];
/// Distance between the grid's points, as a share of the precision.
const GRID_STEP: f64 = 0.08;
/// Relative standard deviation and prior weight of the hint that the throughput of an overloaded system is about its
/// capacity.
const HINT_WEIGHT: (f64, f64) = (0.05, 0.5);

/// Probability distribution of the edge and of the transition's width.
#[derive(Clone, Debug)]
pub(super) struct EdgeDistribution {
    from: f64,
    step: f64,
    /// Probabilities by width of the transition, then by grid point; their sum is 1.
    weights: Vec<Vec<f64>>,
    /// Probability that the edge is at each grid point, over all widths.
    edge: Vec<f64>,
}

impl EdgeDistribution {
    /// Distribution from the votes. `hint` is the throughput at an overloaded level. The grid extends from half of the
    /// lower to twice the higher of two levels: the highest level that held and the lowest level that did not.
    pub fn new(votes: &[TrialVote], hint: Option<f64>, precision: f64) -> EdgeDistribution {
        assert!(!votes.is_empty(), "at least one vote is required");
        let step = GRID_STEP * precision;
        let held = votes.iter().filter(|it| it.held).map(|it| it.at).reduce(f64::max);
        let refused = votes.iter().filter(|it| !it.held).map(|it| it.at).reduce(f64::min);
        let lowest = held.into_iter().chain(refused).fold(f64::INFINITY, f64::min);
        let highest = held.into_iter().chain(refused).fold(f64::NEG_INFINITY, f64::max);
        let from = lowest - std::f64::consts::LN_2;
        let places = ((highest - from + std::f64::consts::LN_2) / step).ceil() as usize + 1;
        let prior: Vec<f64> = (0..places)
            .map(|place| {
                let flat = 1.0 / places as f64;
                let Some(hint) = hint else { return flat };
                let deviation = (from + step * place as f64 - hint.ln()) / HINT_WEIGHT.0;
                let normal = step / HINT_WEIGHT.0 * (-0.5 * deviation * deviation).exp()
                    / std::f64::consts::TAU.sqrt();
                HINT_WEIGHT.1 * normal + (1.0 - HINT_WEIGHT.1) * flat
            })
            .collect();
        let blur_weights = |&(blur, likely): &(f64, f64)| -> Vec<f64> {
            prior
                .iter()
                .enumerate()
                .map(|(place, prior)| {
                    let edge = from + step * place as f64;
                    votes.iter().fold(prior * likely, |weight, it| weight * it.likelihood(edge, blur))
                })
                .collect()
        };
        let mut weights: Vec<Vec<f64>> = BLURS.iter().map(blur_weights).collect();
        let sum: f64 = weights.iter().flatten().sum();
        weights.iter_mut().flatten().for_each(|it| *it /= sum);
        let edge = (0..places).map(|place| weights.iter().map(|it| it[place]).sum()).collect();
        EdgeDistribution { from, step, weights, edge }
    }

    /// Level below which the edge lies with probability `share`.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sum = 0.0;
        let mut last = 0.0;
        for (place, weight) in self.edge.iter().enumerate() {
            sum += weight;
            if sum >= share {
                // Interpolate between two grid points, as if the probability were spread evenly.
                let within = if *weight > 0.0 { (share - last) / weight } else { 0.0 };
                return (self.from + self.step * (place as f64 - 0.5 + within)).exp();
            }
            last = sum;
        }
        (self.from + self.step * (self.edge.len() - 1) as f64).exp()
    }

    /// Interval that contains the edge with 95 % probability, according to the votes.
    pub fn interval(&self) -> (f64, f64) {
        (self.quantile(0.025), self.quantile(0.975))
    }

    /// Probability that a trial at `level` holds.
    pub fn hold_probability(&self, level: f64) -> f64 {
        let at = level.ln();
        let term = |(weights, (blur, _)): (&Vec<f64>, &(f64, f64))| -> f64 {
            let place = |(place, weight): (usize, &f64)| {
                weight * held_probability(at, self.from + self.step * place as f64, *blur, LAPSE)
            };
            weights.iter().enumerate().filter(|it| *it.1 > 1e-9).map(place).sum()
        };
        self.weights.iter().zip(&BLURS).map(term).sum()
    }

    /// Highest level, not above the median of the edge, at which a trial holds with probability `share`.
    pub fn safe_level(&self, share: f64) -> f64 {
        let (mut low, mut high) = (self.quantile(0.001), self.quantile(0.5));
        if self.hold_probability(high) >= share {
            return high;
        }
        for _ in 0..20 {
            let middle = (low * high).sqrt();
            if self.hold_probability(middle) >= share { low = middle } else { high = middle }
        }
        low
    }
}

impl TrialVote {
    fn likelihood(&self, edge: f64, blur: f64) -> f64 {
        if self.held {
            held_probability(self.at, edge, blur, LAPSE)
        } else {
            let lapse = if self.after_overload { LAPSE_AFTER_OVERLOAD } else { LAPSE };
            1.0 - held_probability(self.at, edge, blur, lapse)
        }
    }
}

fn held_probability(at: f64, edge: f64, blur: f64, lapse: f64) -> f64 {
    lapse + (1.0 - 2.0 * lapse) / (1.0 + ((at - edge) / blur).exp())
}
