//! `time`, `quantile`: did responses take too long, second after second?
//!
//! An arrival without an answer is longer than any limit. Tank has a time for each request in the end; a second in which
//! nothing ends is bad here as soon as all that is under way is known to have waited longer than the limit.

use super::arguments::Arguments;
use super::codes::Scope;
use super::window::Consecutive;
use super::{Cause, Complaint, Difference, Watch, complaint};
use model::{Latency, Nanos, Tick};

/// The quantiles that Tank keeps, in percent.
const TANKS: [f64; 9] = [25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 100.0];

/// What of the second's response times is compared.
#[derive(Clone, Copy, Debug)]
enum Of {
    Mean,
    /// 0..=1; however few samples lie beyond it.
    Quantile(f64),
}

#[derive(Debug)]
struct Time {
    of: Of,
    limit: Nanos,
    scope: Scope,
    seconds: Consecutive,
    /// For so long something was under way and nothing ended.
    silent: Nanos,
}

impl Watch for Time {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        let (mut ended, mut unanswered) = (0, 0);
        for cell in self.scope.cells(tick) {
            ended += cell.arrivals() - cell.dropped;
            unanswered += cell.unanswered();
        }
        // What is under way is not known by operation.
        let waiting = ended == 0 && tick.in_flight > 0 && self.scope.operation.is_none();
        let length = tick.interval.to - tick.interval.from;
        self.silent = if waiting { self.silent + length } else { Nanos::ZERO };
        let too_long = match self.of.read(tick, self.scope, unanswered) {
            Read::Nothing => false,
            Read::Time(it) => it > self.limit,
            Read::Unanswered => true,
        };
        self.seconds.see(tick, too_long || self.silent > self.limit)
    }
}

/// What of a second's times is compared.
enum Read {
    Nothing,
    Time(Nanos),
    Unanswered,
}

impl Of {
    /// A mean is that of the answered, as long as there are some.
    fn read(self, tick: &Tick, scope: Scope, unanswered: u64) -> Read {
        let count: u64 = scope.cells(tick).map(|it| it.response.count()).sum();
        let time = match self {
            _ if count == 0 => None,
            Of::Mean => {
                let sum: u128 = scope.cells(tick).map(|it| it.response.sum()).sum();
                Some(Nanos((sum / u128::from(count)) as u64))
            }
            Of::Quantile(quantile) => {
                let rank = (quantile * (count + unanswered) as f64).ceil();
                let among_answered = (rank / count as f64).min(1.0);
                match &scope.cells(tick).collect::<Vec<_>>()[..] {
                    _ if rank > count as f64 => None,
                    // As the histogram rounds it.
                    [cell] if unanswered == 0 => cell.response.at_rank(quantile),
                    [cell] => cell.response.at_rank(among_answered),
                    cells => {
                        let mut all = Latency::new();
                        cells.iter().for_each(|it| all.merge(&it.response));
                        all.at_rank(if unanswered == 0 { quantile } else { among_answered })
                    }
                }
            }
        };
        match time {
            Some(it) => Read::Time(it),
            None if unanswered > 0 => Read::Unanswered,
            None => Read::Nothing,
        }
    }
}

pub fn mean(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Of::Mean)
}

pub fn quantile(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    let it = from.next("a quantile in percent")?;
    let percent: Option<f64> = it.text.parse().ok().filter(|it| *it > 0.0 && *it <= 100.0);
    let percent = percent.ok_or_else(|| complaint(it.at, it.text, "a quantile in percent: `99`, `99.9`"))?;
    if !TANKS.contains(&percent) {
        from.warnings.push(Difference::OtherQuantile { percent });
    }
    build(from, Of::Quantile(percent / 100.0))
}

fn build(from: &mut Arguments<'_>, of: Of) -> Result<Box<dyn Watch>, Complaint> {
    from.warnings.push(Difference::TimesOfFailures);
    let (limit, seconds) = (from.time()?, Consecutive::new(from.seconds()?));
    let scope = from.scope()?;
    Ok(Box::new(Time { of, limit, scope, seconds, silent: Nanos::ZERO }))
}
