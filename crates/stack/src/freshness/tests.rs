use super::round_robin::RoundRobinReader;
use super::*;

fn reads((all, old, changes): (u64, u64, u64)) -> ReadCounts {
    ReadCounts { total: all, stale: old, changes }
}

#[test]
fn counts_stale_reads_and_changes() {
    let check = |outcomes: &str, expected| {
        let mut counter = ReadCounter::default();
        outcomes.chars().for_each(|it| counter.count(it == 'o'));
        assert_eq!(counter.reads, reads(expected), "{outcomes}");
    };
    check("", (0, 0, 0));
    check("o", (1, 1, 0));
    check("..oo.", (5, 2, 2));
    check("o.o.o", (5, 3, 4));
}

#[test]
fn detects_reads_older_than_highest_seen() {
    let check = |results: &[u64], expected| {
        let mut turns = RoundRobinReader::new(&[]);
        results.iter().for_each(|it| turns.record(*it));
        assert_eq!(turns.reads(), reads(expected), "{results:?}");
    };
    check(&[], (0, 0, 0));
    // The first read has no predecessor.
    check(&[0], (0, 0, 0));
    check(&[0, 0, 1, 1, 2], (4, 0, 0));
    // A value below the highest is stale, even if it is above the previous one.
    check(&[5, 3, 4, 5, 6], (4, 2, 1));
    check(&[5, 0], (1, 1, 0));
}

#[test]
fn look_interval_grows_and_ends_before_timeout() {
    let check = |youngest: u64, oldest: u64, expected: u64| {
        let step = reader::look_interval(Duration::from_micros(youngest), Duration::from_micros(oldest));
        assert_eq!(step, Duration::from_micros(expected), "{youngest} {oldest}");
    };
    check(0, 0, 1000);
    check(4000, 4000, 1000);
    check(100_000, 100_000, 20_000);
    check(100_000, 3_000_000, 20_000);
    check(4_000_000, 4_000_000, 800_000);
    check(4_900_000, 4_900_000, 90_000);
    check(100_000, 4_985_000, 5_000);
    // The query interval covers the whole timeout.
    check(100_000, 5_000_000, 1000);
}

#[test]
fn write_intervals_average_200_ms_and_vary() {
    let intervals: Vec<Duration> = (1..=1000).map(writer::write_interval).collect();
    assert!(intervals.iter().all(|it| (WRITE_INTERVAL / 2..WRITE_INTERVAL * 3 / 2).contains(it)));
    let mean = intervals.iter().sum::<Duration>() / 1000;
    assert!((WRITE_INTERVAL.as_secs_f64() - mean.as_secs_f64()).abs() < 1e-3, "{mean:?}");
    // All phases of a period of 200 ms are equally frequent.
    let mut at = Duration::ZERO;
    let mut quarters = [0; 4];
    for interval in intervals {
        at += interval;
        quarters[(at.as_micros() % 200_000 / 50_000) as usize] += 1;
    }
    assert!(quarters.iter().all(|it| (200..300).contains(it)), "{quarters:?}");
}
