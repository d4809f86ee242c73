//! Times of successful transactions within about one second.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Base-2 logarithm of a bucket's length in nanoseconds; a bucket is 8.4 ms long.
const SHIFT: u32 = 23;
/// Index of the last bucket, which also represents all later times.
const LAST: u64 = 127;

/// Times of successful transactions: the first time, the last time, and a bit for each 8.4 ms bucket between these
/// times.
///
/// In an interval longer than 1.07 s, the last bucket represents the remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successes {
    pub first: Nanos,
    pub last: Nanos,
    /// Bit n is set if a success lies in the n-th bucket after the bucket of the first success.
    buckets: u128,
}

impl Successes {
    pub fn at(moment: Nanos) -> Successes {
        Successes { first: moment, last: moment, buckets: 1 }
    }

    /// Successes by another clock, whose readings are `shift` nanoseconds higher. Buckets are rounded: a gap may
    /// begin or end one bucket earlier or later.
    pub fn shifted(self, shift: i64) -> Successes {
        let shifted = |it: Nanos| Nanos(it.0.saturating_add_signed(shift));
        Successes { first: shifted(self.first), last: shifted(self.last), buckets: self.buckets }
    }

    /// Adds a success. Successes of one thread must be added in order of time.
    #[inline]
    pub fn add(&mut self, moment: Nanos) {
        if moment < self.first {
            return self.merge(&Successes::at(moment));
        }
        self.last = self.last.max(moment);
        self.buckets |= 1 << (bucket(moment) - bucket(self.first)).min(LAST);
    }

    /// Adds successes of another thread or of the following interval.
    pub fn merge(&mut self, other: &Successes) {
        let first = self.first.min(other.first);
        self.buckets = self.since(first) | other.since(first);
        (self.first, self.last) = (first, self.last.max(other.last));
    }

    /// Bits of the buckets, shifted so that bit 0 is the bucket of `first`.
    fn since(&self, first: Nanos) -> u128 {
        let shift = bucket(self.first) - bucket(first);
        if shift > LAST {
            return 1 << LAST;
        }
        let beyond = if shift == 0 { 0 } else { self.buckets >> (LAST + 1 - shift) };
        self.buckets << shift | u128::from(beyond > 0) << LAST
    }

    /// Gaps: periods of buckets without a success, between the first and the last success, in order of time. A gap is
    /// shorter than the actual time without a success, by at most one bucket per side.
    pub fn gaps(self) -> impl Iterator<Item = (Nanos, Nanos)> {
        let begin = bucket(self.first);
        let moment = move |number: u64| Nanos((begin + number) << SHIFT);
        let mut at = 0;
        std::iter::from_fn(move || {
            at += u64::from((self.buckets >> at).trailing_ones());
            let left = self.buckets.checked_shr(at as u32).filter(|it| *it > 0)?;
            let from = at;
            at += u64::from(left.trailing_zeros());
            Some((moment(from), moment(at)))
        })
    }
}

fn bucket(moment: Nanos) -> u64 {
    moment.0 >> SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn successes(millis: &[u64]) -> Successes {
        let mut successes = Successes::at(Nanos::from_millis(millis[0]));
        millis[1..].iter().for_each(|at| successes.add(Nanos::from_millis(*at)));
        successes
    }

    /// Gaps of at least 20 ms, in tenths of a second.
    fn gaps(successes: Successes) -> Vec<(u64, u64)> {
        let tenth = |it: Nanos| (it.as_millis_f64() / 100.0).round() as u64;
        let long = successes.gaps().filter(|(from, to)| *to - *from >= Nanos::from_millis(20));
        long.map(|(from, to)| (tenth(from), tenth(to))).collect()
    }

    #[test]
    fn finds_gaps_without_a_success() {
        for (millis, expected) in [
            (&[5_000][..], &[][..]),
            (&[5_000, 5_010, 5_020], &[]),
            (&[5_000, 5_850], &[(50, 58)]),
            (&[5_000, 5_100, 5_105, 5_500, 6_000], &[(50, 51), (51, 55), (55, 60)]),
            // Times beyond one second share a bucket.
            (&[5_000, 5_900, 6_500, 9_000], &[(50, 59), (59, 61)]),
        ] {
            assert_eq!(gaps(successes(millis)), expected, "{millis:?}");
        }
    }

    #[test]
    fn threads_fill_each_other_s_gaps() {
        for (one, other, expected) in [
            (&[5_000, 5_900][..], &[5_300, 5_600][..], &[(50, 53), (53, 56), (56, 59)][..]),
            (&[5_400, 5_500], &[5_000, 5_900], &[(50, 54), (54, 55), (55, 59)]),
            (&[5_900, 6_800], &[5_000], &[(50, 59), (59, 61)]),
            (&[5_000], &[9_000], &[(50, 61)]),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let mut merged = successes(one);
                merged.merge(&successes(other));
                assert_eq!(gaps(merged), expected, "{one:?} {other:?}");
                let all = [one, other].concat();
                let edges = [all.iter().min(), all.iter().max()].map(|it| Nanos::from_millis(*it.unwrap()));
                assert_eq!([merged.first, merged.last], edges);
            }
        }
    }
}
