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
    pauses.get(pauses.len() / 2).map(|it| rounded(*it))
}

/// Time from the end of all earlier responses to the start of a request, if it is a pause.
pub(super) fn pause_before(request: &Exchange, exchanges: &[Exchange]) -> Option<Nanos> {
    let start = request.start?;
    let earlier = exchanges.iter().filter(|it| it.start.is_some_and(|other| other < start));
    let pause = Nanos(start.0.checked_sub(earlier.filter_map(Exchange::end).max()?.0)?);
    (PAUSE_MIN..=PAUSE_MAX).contains(&pause).then(|| rounded(pause.0))
}

/// Pause in tenths of a second, or from ten seconds on in seconds.
fn rounded(pause: u64) -> Nanos {
    let unit = if pause >= 10_000_000_000 { 1_000_000_000 } else { 100_000_000 };
    Nanos((pause + unit / 2) / unit * unit)
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
    fn pauses_follow_all_earlier_responses() {
        let exchange = |&(start, elapsed): &(u64, u64)| Exchange {
            start: Some(Nanos::from_millis(start)),
            elapsed: Nanos::from_millis(elapsed),
            ..Exchange::of_request("GET", "http://a.test/")
        };
        let all = [(0, 100), (50, 2000), (1000, 10), (3000, 10), (3050, 10), (20_400, 10), (400_000, 10)];
        let exchanges: Vec<Exchange> = all.iter().map(exchange).collect();
        let pause = |request| pause_before(request, &exchanges).map_or(0, |it| it.0 / 1_000_000);
        let pauses: Vec<u64> = exchanges.iter().map(pause).collect();
        assert_eq!(pauses, [0, 0, 0, 1000, 0, 17_000, 0]);
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
