//! Users of the closed model: joining and leaving, think times, rate cap

use crate::random::Prng;
use model::plan::{ThinkTime, UserStage};
use model::{Nanos, PerSecond};

/// Event: a user joins or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserEvent {
    /// Time since the first stage's start.
    pub at: Nanos,
    /// Number of the user, from 0.
    pub user: u32,
    pub joins: bool,
}

/// Times at which users join or leave, in order.
///
/// In each stage, the n-th event (from 0) takes place n / `spawn_rate` after the stage's start, unless the stage has
/// ended by then. The next stage starts with the users who are present at its start. The user who joined last leaves
/// first.
pub fn user_events(stages: &[UserStage]) -> Vec<UserEvent> {
    let (mut all, mut present, mut begin) = (Vec::new(), 0, Nanos::ZERO);
    for stage in stages {
        let end = begin + stage.duration;
        for n in 0_u32.. {
            let after = stage.spawn_rate.map_or(0.0, |rate| f64::from(n) / rate);
            let at = begin + Nanos((after * 1e9 + 0.5) as u64);
            if present == stage.users || at >= end {
                break;
            }
            let comes = present < stage.users;
            let user = if comes { present } else { present - 1 };
            present = if comes { present + 1 } else { present - 1 };
            all.push(UserEvent { at, user, joins: comes });
        }
        begin = end;
    }
    all
}

/// Random think time from the distribution.
#[inline]
pub fn think_duration(think: &ThinkTime, rng: &mut Prng) -> Nanos {
    match think {
        ThinkTime::Constant(it) => *it,
        // 1 − u is within (0, 1].
        ThinkTime::Exponential { mean } => Nanos((mean.0 as f64 * -(1.0 - rng.f64()).ln()) as u64),
        ThinkTime::LogNormal { median, sigma } => {
            // Box–Muller transform to a normal distribution.
            let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * rng.f64()).cos();
            Nanos((median.0 as f64 * (sigma * normal).exp()) as u64)
        }
    }
}

/// Random rest of a think time that is under way at a random moment.
///
/// Long think times are more likely to be under way, in proportion to their length. Source: W. Feller, "An Introduction to
/// Probability Theory and Its Applications", volume 2, on the waiting time paradox (1966).
pub fn remaining_think_duration(think: &ThinkTime, rng: &mut Prng) -> Nanos {
    let whole = match think {
        ThinkTime::Constant(Nanos::ZERO) => return Nanos::ZERO,
        ThinkTime::Constant(it) => *it,
        // The rest has the same distribution.
        ThinkTime::Exponential { .. } => return think_duration(think, rng),
        ThinkTime::LogNormal { median, sigma } => {
            let median = Nanos((median.0 as f64 * (sigma * sigma).exp()) as u64);
            think_duration(&ThinkTime::LogNormal { median, sigma: *sigma }, rng)
        }
    };
    Nanos((whole.0 as f64 * rng.f64()) as u64)
}

/// Rate cap on the transactions that one thread starts.
///
/// If i is the interval between starts over all threads, thread k of T may start transactions at k·i, (k+T)·i,
/// (k+2T)·i, …. Each thread thus gets its share without communication. One unused start is kept, so that a slightly
/// late thread loses nothing. In any period, a thread starts at most its rate × time + 2 transactions.
#[derive(Clone, Copy, Debug)]
pub struct RateCap {
    /// Nanoseconds since the window's start. A double represents them exactly for a hundred days.
    next: f64,
    interval: f64,
}

impl RateCap {
    /// Cap for thread `part.0` of `part.1`, which gets its share of `rate`. The rate must be above 0.
    pub fn new(rate: PerSecond, part: (u16, u16)) -> RateCap {
        let each = 1e9 / rate.0;
        RateCap { next: each * f64::from(part.0), interval: each * f64::from(part.1) }
    }

    /// Time of the next allowed start, since the window's start.
    pub fn next_start(&self) -> Nanos {
        Nanos(self.next.ceil() as u64)
    }

    /// Uses up a start and returns true if a start is allowed at `now`, a time since the window's start.
    #[inline]
    pub fn try_take(&mut self, now: Nanos) -> bool {
        let may = now >= self.next_start();
        if may {
            self.next = (self.next + self.interval).max(now.0 as f64);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    fn stage(users: u32, spawn_rate: Option<f64>, secs: u64) -> UserStage {
        UserStage { users, spawn_rate, duration: Nanos::from_secs(secs) }
    }

    /// Number of present users at each of these seconds.
    fn active_users(stages: &[UserStage], seconds: &[f64]) -> Vec<usize> {
        let turns = user_events(stages);
        let turns_until = |at: f64| turns.iter().filter(move |it| it.at.as_secs_f64() <= at);
        let count = |&at: &f64| {
            turns_until(at).filter(|it| it.joins).count() - turns_until(at).filter(|it| !it.joins).count()
        };
        seconds.iter().map(count).collect()
    }

    #[test]
    fn users_join_and_leave_by_stages() {
        type Row<'a> = (&'a [UserStage], &'a [(f64, usize)]);
        let rows: [Row<'_>; 6] = [
            (
                &[stage(1000, Some(50.0), 90)],
                &[(0.0, 1), (1.0, 51), (10.0, 501), (19.98, 1000), (89.0, 1000)],
            ),
            (&[stage(3, None, 1)], &[(0.0, 3), (0.9, 3)]),
            // The second stage starts with the users of the first.
            (
                &[stage(10, Some(1.0), 5), stage(100, Some(10.0), 5), stage(20, Some(10.0), 60)],
                &[(0.0, 1), (4.0, 5), (5.0, 6), (6.0, 16), (9.9, 55), (10.0, 54), (13.4, 20), (50.0, 20)],
            ),
            (&[stage(4, None, 1), stage(0, None, 1), stage(2, None, 1)], &[(0.5, 4), (1.0, 0), (2.0, 2)]),
            (&[stage(5, Some(0.5), 3)], &[(0.0, 1), (1.9, 1), (2.0, 2), (3.0, 2)]),
            (&[stage(5, Some(1.0), 0)], &[(0.0, 0)]),
        ];
        for (stages, expected) in rows {
            let seconds: Vec<f64> = expected.iter().map(|it| it.0).collect();
            let users: Vec<usize> = expected.iter().map(|it| it.1).collect();
            assert_eq!(active_users(stages, &seconds), users, "{stages:?} at {seconds:?}");
        }
    }

    #[test]
    fn no_user_joins_twice_or_leaves_unjoined() {
        let stage = (0_u32..50, proptest::option::of(0.1_f64..100.0), 0_u64..20);
        proptest!(|(stages in proptest::collection::vec(stage, 0..6))| {
            let stages: Vec<UserStage> = stages.into_iter().map(|(users, rate, secs)| self::stage(users, rate, secs)).collect();
            let total = stages.iter().map(|it| it.duration.0).sum();
            let (mut present, mut last) = (0, Nanos::ZERO);
            for event in user_events(&stages) {
                prop_assert!(event.at >= last && event.at < Nanos(total));
                // Users 0 to `present` - 1 are present, and no others.
                prop_assert_eq!(event.user, if event.joins { present } else { present - 1 });
                present = if event.joins { present + 1 } else { present - 1 };
                last = event.at;
            }
        });
    }

    #[test]
    fn think_durations_have_their_distribution() {
        let sorted = |think: &ThinkTime| {
            let mut rng = Prng::seeded(5);
            let mut all: Vec<f64> =
                (0..100_000).map(|_| think_duration(think, &mut rng).as_millis_f64()).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        let check = |name: &str, actual: f64, expected: f64| {
            assert!((actual / expected - 1.0).abs() < 0.015, "{name}: {actual}, expected {expected}");
        };
        assert!(sorted(&ThinkTime::Constant(ms(7))).iter().all(|it| *it == 7.0));
        let exponential = sorted(&ThinkTime::Exponential { mean: ms(100) });
        check("mean", mean(&exponential), 100.0);
        check("p90", exponential[90_000], 100.0 * 10_f64.ln());
        let normal = sorted(&ThinkTime::LogNormal { median: ms(100), sigma: 0.5 });
        check("median", normal[50_000], 100.0);
        check("mean", mean(&normal), 100.0 * (0.5_f64 * 0.5 / 2.0).exp());
        check("one deviation", normal[84_134], 100.0 * 0.5_f64.exp());
    }

    /// The mean rest is E(X²) ÷ 2 E(X).
    #[test]
    fn remaining_think_durations_have_the_mean_of_a_random_moment() {
        for (think, expected) in [
            (ThinkTime::Constant(Nanos::ZERO), 0.0),
            (ThinkTime::Constant(ms(100)), 50.0),
            (ThinkTime::Exponential { mean: ms(100) }, 100.0),
            (ThinkTime::LogNormal { median: ms(100), sigma: 0.5 }, 50.0 * (1.5 * 0.5_f64 * 0.5).exp()),
        ] {
            let mut rng = Prng::seeded(5);
            let rests = (0..100_000).map(|_| remaining_think_duration(&think, &mut rng).as_millis_f64());
            let mean = rests.sum::<f64>() / 100_000.0;
            assert!((mean - expected).abs() <= 0.015 * expected, "{think:?}: {mean}, expected {expected}");
        }
    }

    #[test]
    fn cap_holds_over_all_threads() {
        for threads in [1_u16, 2, 5] {
            let mut caps: Vec<RateCap> =
                (0..threads).map(|k| RateCap::new(PerSecond(300.0), (k, threads))).collect();
            let mut begun = 0;
            // Polled continuously, a third of a millisecond late on average.
            for now in (0..10_000_000_000).step_by(666_667) {
                begun += caps.iter_mut().filter_map(|it| it.try_take(Nanos(now)).then_some(())).count();
            }
            assert!((2_999..=3_000).contains(&begun), "{begun} with {threads} threads");
        }
        // After a pause, one start is available, not all missed starts.
        let mut cap = RateCap::new(PerSecond(10.0), (0, 1));
        let taken =
            |cap: &mut RateCap, at: u64| (0..100).filter(|_| cap.try_take(Nanos::from_millis(at))).count();
        assert_eq!(
            (taken(&mut cap, 0), taken(&mut cap, 99), taken(&mut cap, 5_000), taken(&mut cap, 5_001)),
            (1, 0, 2, 0)
        );
    }
}
