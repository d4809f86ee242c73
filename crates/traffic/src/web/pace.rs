//! Pauses of a user between pages

use super::exchange::Exchange;
use model::Nanos;

/// Pauses outside of these bounds say nothing about users.
const PAUSE_MIN: Nanos = Nanos(100_000_000);
const PAUSE_MAX: Nanos = Nanos::from_secs(300);

/// Median time from the end of the last response of a page to the start of the next page.
pub(super) fn think(exchanges: &[Exchange]) -> Option<Nanos> {
    let mut pauses = Vec::new();
    let mut last_end: Option<Nanos> = None;
    for exchange in exchanges {
        let (Some(start), Some(end)) = (exchange.start, exchange.end()) else { continue };
        if let Some(last_end) = last_end.filter(|_| exchange.is_document())
            && let Some(pause) = start.0.checked_sub(last_end.0)
            && (PAUSE_MIN..=PAUSE_MAX).contains(&Nanos(pause))
        {
            pauses.push(pause);
        }
        last_end = last_end.max(Some(end));
    }
    pauses.sort_unstable();
    let median = pauses.get(pauses.len() / 2)?;
    // Three digits are enough.
    let unit = if *median >= 10_000_000_000 { 1_000_000_000 } else { 100_000_000 };
    Some(Nanos((median + unit / 2) / unit * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages and other requests with their starts and durations in milliseconds.
    fn check(all: &[(&str, u64, u64)], expected: Option<u64>) {
        let exchange = |&(resource_type, start, elapsed): &(&str, u64, u64)| Exchange {
            resource_type: Some(resource_type.to_owned()),
            start: Some(Nanos(start * 1_000_000)),
            elapsed: Nanos(elapsed * 1_000_000),
            ..Exchange::of_request("GET", "http://a.test/")
        };
        let exchanges: Vec<Exchange> = all.iter().map(exchange).collect();
        assert_eq!(think(&exchanges), expected.map(|pause| Nanos(pause * 1_000_000)), "{all:?}");
    }

    #[test]
    fn measures_pauses() {
        check(&[("document", 0, 100), ("xhr", 50, 1000), ("document", 3000, 10)], Some(2000));
        check(&[("document", 0, 100), ("xhr", 5000, 100), ("document", 5110, 10)], None);
        check(&[("document", 0, 100), ("document", 1_000_000, 10)], None);
        check(
            &[("document", 0, 0), ("document", 1000, 0), ("document", 3000, 0), ("document", 9000, 0)],
            Some(2000),
        );
        check(&[("document", 0, 0), ("document", 12_345, 0)], Some(12_000));
        check(&[], None);
    }
}
