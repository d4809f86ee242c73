//! Student's t-distribution: confidence intervals of the means of few values
//!
//! Uses the regularised incomplete beta function. Sources: Press and others, "Numerical Recipes" (3rd edition), 6.1 and
//! 6.4, with Lentz's continued fraction.

/// Difference of two means, its standard error, and the degrees of freedom of that error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    pub difference: f64,
    /// Standard error of the difference, above 0.
    pub error: f64,
    /// Degrees of freedom of the standard error, above 0.
    pub degrees_of_freedom: f64,
}

impl MeanDifference {
    /// Confidence interval of the difference (95 %).
    pub fn interval(&self) -> (f64, f64) {
        let half = critical_value(self.degrees_of_freedom) * self.error;
        (self.difference - half, self.difference + half)
    }

    /// Two-sided p-value of the difference.
    pub fn p(&self) -> f64 {
        two_sided_p(self.difference / self.error, self.degrees_of_freedom)
    }
}

/// Probability that a value of Student's distribution lies at least as far from 0 as `t`.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Two-sided critical value of Student's distribution: 5 % of values lie farther from 0.
pub fn critical_value(freedom: f64) -> f64 {
    // The largest critical value is 12.7, for one degree of freedom. Callers do not pass less than one.
    let (mut low, mut high) = (0.0, 1e4);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if two_sided_p(middle, freedom) > 0.05 { low = middle } else { high = middle }
    }
    high
}

/// Difference of means with unequal variances, after Welch and Satterthwaite. `None` with fewer than two values on
/// either side.
pub fn welch(a: &Moments, b: &Moments) -> Option<MeanDifference> {
    if a.count < 2.0 || b.count < 2.0 {
        return None;
    }
    let (squared_error_a, squared_error_b) = (a.variance / a.count, b.variance / b.count);
    let sum = squared_error_a + squared_error_b;
    let freedom = sum * sum
        / (squared_error_a * squared_error_a / (a.count - 1.0)
            + squared_error_b * squared_error_b / (b.count - 1.0));
    Some(MeanDifference { difference: b.mean - a.mean, error: sum.sqrt(), degrees_of_freedom: freedom })
}

/// Count, mean and variance of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub count: f64,
    pub mean: f64,
    /// Population variance; not below the floor.
    pub variance: f64,
}

impl Moments {
    /// Moments of `values`, which must not be empty. `floor`, above 0, is the smallest standard deviation of a single
    /// value, even if all values are equal.
    pub fn from_values(values: &[f64], floor: f64) -> Moments {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
        let variance = if count > 1.0 { squares / (count - 1.0) } else { 0.0 };
        Moments { count, mean, variance: variance.max(floor * floor) }
    }
}

fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let nonzero = |it: f64| if it.abs() < 1e-300 { 1e-300 } else { it };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut h = d;
    for m in 1..300 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            h *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    h
}

/// ln Γ(x) for x > 0, by Lanczos's approximation; accurate to 2·10⁻¹⁰.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let shifted = x + 5.5;
    let sum = TERMS.iter().zip(1..).fold(1.000_000_000_190_015, |sum, (it, n)| sum + it / (x + f64::from(n)));
    (x + 0.5) * shifted.ln() - shifted + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: tables of Student's distribution, two-sided 5 %.
    #[test]
    fn equals_published_critical_values() {
        for (freedom, t) in
            [(1.0, 12.7062), (2.0, 4.3027), (4.0, 2.7764), (8.0, 2.3060), (30.0, 2.0423), (1e6, 1.9600)]
        {
            assert!((critical_value(freedom) - t).abs() < 1e-4, "{freedom}: {}", critical_value(freedom));
            assert!((two_sided_p(t, freedom) - 0.05).abs() < 1e-5, "{freedom}");
        }
        assert_eq!(two_sided_p(0.0, 3.0), 1.0);
    }

    /// Student's own example: "The Probable Error of a Mean" (1908), extra sleep by two drugs. Welch: t 1.8608, 17.776
    /// degrees of freedom, p 0.07939, interval [-0.2055, 3.3655], as R's `t.test(extra ~ group, data = sleep)` prints
    /// it.
    #[test]
    fn equals_students_example() {
        let a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let [a, b] = [a, b].map(|it| Moments::from_values(&it, 1e-9));
        let result = welch(&a, &b).expect("there are enough values");
        assert!(
            (result.degrees_of_freedom - 17.776).abs() < 1e-3 && (result.p() - 0.07939).abs() < 1e-5,
            "{result:?} {}",
            result.p()
        );
        let (low, high) = result.interval();
        assert!((low + 0.2055).abs() < 1e-4 && (high - 3.3655).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn too_few_values_have_no_estimate() {
        let [one, two] = [&[1.0][..], &[1.0, 1.1]].map(|it| Moments::from_values(it, 1e-9));
        assert_eq!(welch(&one, &two), None);
        assert_eq!(Moments::from_values(&[2.0; 3], 0.1).variance, 0.1 * 0.1, "the variance has a floor");
    }
}
