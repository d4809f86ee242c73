//! `time`, `quantile`: did responses take too long, second after second?

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
}

impl Watch for Time {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        let bad = self.of.read(tick, self.scope).is_some_and(|it| it > self.limit);
        self.seconds.see(tick, bad)
    }
}

impl Of {
    /// `None` when no transaction ended well.
    fn read(self, tick: &Tick, scope: Scope) -> Option<Nanos> {
        match self {
            Of::Mean => {
                let count: u64 = scope.cells(tick).map(|it| it.response.count()).sum();
                let sum: u128 = scope.cells(tick).map(|it| it.response.sum()).sum();
                sum.checked_div(u128::from(count)).map(|mean| Nanos(mean as u64))
            }
            Of::Quantile(quantile) => match &scope.cells(tick).collect::<Vec<_>>()[..] {
                [cell] => cell.response.at_rank(quantile),
                cells => {
                    let mut all = Latency::new();
                    cells.iter().for_each(|it| all.merge(&it.response));
                    all.at_rank(quantile)
                }
            },
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
    Ok(Box::new(Time { of, limit, scope, seconds }))
}
