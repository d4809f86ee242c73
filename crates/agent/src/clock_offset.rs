//! Offset between the clocks of an agent and the coordinator, from round trips
//!
//! The coordinator reads its clock, asks the agent for a reading, and reads its clock again. The agent's reading was made
//! between the two, so the offset is known within half of the round-trip time. The fastest round trip is the best; queues
//! only make others slower.

use model::Nanos;
use serde::{Deserialize, Serialize};

/// Reading of an agent's clock between two readings of the coordinator's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    pub sent: Nanos,
    pub remote: Nanos,
    pub received: Nanos,
}

/// Offset of an agent's clock: its reading minus the coordinator's reading at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    pub offset: i64,
    /// Maximum error of `offset`, nanoseconds.
    pub uncertainty: Nanos,
}

impl RoundTrip {
    pub fn offset(&self) -> ClockOffset {
        let elapsed = self.received - self.sent;
        let middle = self.sent.0 + elapsed.0 / 2;
        // A clock counts nanoseconds since a process's start, so its readings fit into 63 bits.
        let offset = self.remote.0 as i64 - middle as i64;
        ClockOffset { offset, uncertainty: Nanos(elapsed.0.div_ceil(2)) }
    }
}

impl ClockOffset {
    /// The agent's reading at a time of the coordinator's clock.
    pub fn to_remote(self, local: Nanos) -> Nanos {
        Nanos(local.0.saturating_add_signed(self.offset))
    }
}

/// Estimates of the offset over a trial. Each estimate is the fastest of the round trips in [`PERIOD`].
#[derive(Clone, Debug, Default)]
pub struct OffsetTracker {
    /// Start of the current period, and its fastest round trip.
    current: Option<(Nanos, RoundTrip)>,
    /// Estimate of the last full period.
    previous: Option<ClockOffset>,
    /// Estimate at the last call of [`OffsetTracker::mark`], and the lowest and highest offset that were possible since.
    marked: Option<(ClockOffset, i64, i64)>,
}

/// Duration from which one estimate is made. Quartz clocks drift apart by at most 100 ppm, thus 0.2 ms in this time.
pub const PERIOD: Nanos = Nanos::from_secs(2);

impl OffsetTracker {
    pub fn add(&mut self, trip: RoundTrip) {
        match &mut self.current {
            Some((begun, best)) if trip.received - *begun < PERIOD => {
                if trip.received - trip.sent < best.received - best.sent {
                    *best = trip;
                }
            }
            _ => {
                self.close_period();
                self.current = Some((trip.received, trip));
            }
        }
    }

    fn close_period(&mut self) {
        let Some((_, best)) = self.current.take() else { return };
        let estimate = best.offset();
        self.previous = Some(estimate);
        if let Some((_, lowest, highest)) = &mut self.marked {
            *lowest = (*lowest).min(estimate.offset - estimate.uncertainty.0 as i64);
            *highest = (*highest).max(estimate.offset + estimate.uncertainty.0 as i64);
        }
    }

    /// Best current estimate; `None` before the first round trip.
    pub fn estimate(&self) -> Option<ClockOffset> {
        let current = self.current.map(|(_, trip)| trip.offset());
        [self.previous, current].into_iter().flatten().min_by_key(|it| it.uncertainty)
    }

    /// Returns the best current estimate, from which a start time is computed, and compares later estimates with it.
    pub fn mark(&mut self) -> Option<ClockOffset> {
        let estimate = self.estimate()?;
        let uncertainty = estimate.uncertainty.0 as i64;
        self.marked = Some((estimate, estimate.offset - uncertainty, estimate.offset + uncertainty));
        Some(estimate)
    }

    /// Offset at the last mark. Its uncertainty includes the drift and the uncertainty of all later estimates.
    pub fn finish(&mut self) -> Option<ClockOffset> {
        self.close_period();
        let (estimate, lowest, highest) = self.marked.take()?;
        let uncertainty = (highest - estimate.offset).max(estimate.offset - lowest);
        Some(ClockOffset { uncertainty: Nanos(uncertainty.unsigned_abs()), ..estimate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trip(sent: u64, remote: u64, received: u64) -> RoundTrip {
        RoundTrip { sent: Nanos(sent), remote: Nanos(remote), received: Nanos(received) }
    }

    #[test]
    fn the_offset_lies_within_its_uncertainty() {
        // An agent's clock that began `offset` earlier or later, with any delays there and back.
        proptest!(|(offset in -1_000_000_i64..1_000_000, sent in 2_000_000_u64..9_000_000, there in 0_u64..5_000_000,
                    back in 0_u64..5_000_000)| {
            let remote = (sent + there).saturating_add_signed(offset);
            let found = trip(sent, remote, sent + there + back).offset();
            prop_assert!((found.offset - offset).unsigned_abs() <= found.uncertainty.0);
        });
    }

    #[test]
    fn the_fastest_round_trip_of_a_period_counts() {
        let mut tracker = OffsetTracker::default();
        assert_eq!(tracker.estimate(), None);
        for (sent, remote, received) in [(1000, 5500, 2000), (3000, 7150, 3200), (5000, 9900, 6000)] {
            tracker.add(trip(sent, remote, received));
        }
        let best = ClockOffset { offset: 4050, uncertainty: Nanos(100) };
        assert_eq!(tracker.estimate(), Some(best));
        assert_eq!(best.to_remote(Nanos(10)), Nanos(4060));
    }

    #[test]
    fn drift_and_slow_round_trips_add_to_the_uncertainty() {
        let at = |second: u64, offset: u64, round_trip: u64| {
            let sent = second * 1_000_000_000;
            trip(sent, sent + round_trip / 2 + offset, sent + round_trip)
        };
        let finish = |trips: &[RoundTrip]| {
            let mut tracker = OffsetTracker::default();
            tracker.add(trips[0]);
            let marked = tracker.mark().expect("there was a round trip");
            trips[1..].iter().for_each(|it| tracker.add(*it));
            (marked.offset, tracker.finish().expect("the offset was marked").uncertainty.0)
        };
        assert_eq!(finish(&[at(1, 500, 40)]), (500, 20));
        assert_eq!(finish(&[at(1, 500, 40), at(9, 530, 40)]), (500, 50));
        assert_eq!(finish(&[at(1, 500, 40), at(9, 480, 40), at(20, 510, 40)]), (500, 40));
        assert_eq!(finish(&[at(1, 500, 40), at(9, 500, 4000)]), (500, 2000));
        assert_eq!(OffsetTracker::default().finish(), None);
    }
}
