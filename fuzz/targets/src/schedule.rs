//! Target for schedules: they yield ascending arrivals, or diagnostics with positions.

use load::schedule::{Arrivals, MAX_DURATION, even_count, mean_rates, parse, poisson_mean};
use model::Spacing;

pub fn run(data: &[u8]) {
    let text = crate::text(data);
    match parse(text) {
        Ok(curve) => {
            let duration = curve.duration();
            assert!(duration <= MAX_DURATION);
            assert!(even_count(&curve) as f64 <= poisson_mean(&curve) * (1.0 + 1e-12));
            assert!(mean_rates(&curve, 7).iter().all(|rate| rate.0 >= 0.0));
            for spacing in [Spacing::Even, Spacing::Poisson] {
                // First thousand arrivals of the second of two threads.
                let due: Vec<_> = Arrivals::new(&curve, spacing, 7, (1, 2)).take(1000).collect();
                assert!(due.is_sorted() && due.last().is_none_or(|last| *last <= duration));
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            assert!(diagnostics.iter().all(|diagnostic| text.get(diagnostic.span.clone()).is_some()));
        }
    }
}
