//! Tests the clock of sampled pages

use super::*;

/// Rows: time on the page, our time, and the expected time of the values, in seconds.
#[test]
fn times_of_a_page_keep_their_distances() {
    let mut clock = PageClock::default();
    for (newest, now, expected) in [
        // The clocks differ by 900 s, and the first page is 4 s old.
        (1000.0, 104.0, Some(104.0)),
        (1000.0, 105.0, None),
        (999.0, 105.5, None),
        // A fresher page: the values are of this moment.
        (1006.0, 106.0, Some(106.0)),
        (1010.0, 113.0, Some(110.0)),
        (1020.0, 120.5, Some(120.0)),
    ] {
        let time = clock.time(newest, 1e9 + now, Nanos::from_secs_f64(now));
        assert_eq!(time.map(|it| (it.as_secs_f64() * 1e3).round() / 1e3), expected, "{newest} at {now}");
    }
}
