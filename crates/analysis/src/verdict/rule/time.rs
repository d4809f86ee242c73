//! Stop rules `time`, `quantile`: responses are too slow, in consecutive seconds
//!
//! An arrival without a response counts as longer than any limit. Unlike in Tank, a second in which no transaction ends
//! is bad too, once all transactions in flight have waited longer than the limit.

use super::arguments::Arguments;
use super::mask::TransactionScope;
use super::window::Consecutive;
use super::{RuleState, TankDifference, TriggerSecond};
use model::{GrammarDiagnostic, LatencyHistogram, Nanos, Tick, message};

/// Quantiles that Tank supports, in percent.
const TANK_QUANTILES: [f64; 9] = [25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 100.0];

/// Statistic of a second's response times that the rule compares with its limit.
#[derive(Clone, Copy, Debug)]
enum TimeStatistic {
    Mean,
    /// Quantile (0..=1); computed even if few samples lie beyond it.
    Quantile(f64),
}

#[derive(Debug)]
struct TimeRule {
    statistic: TimeStatistic,
    limit: Nanos,
    scope: TransactionScope,
    seconds: Consecutive,
    /// Duration of the current seconds in which transactions were in flight and none ended.
    stalled: Nanos,
}

impl RuleState for TimeRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let (mut ended, mut unanswered) = (0, 0);
        for cell in self.scope.cells(tick) {
            ended += cell.arrivals() - cell.dropped;
            unanswered += cell.unanswered();
        }
        // The number of in-flight transactions is not known for a single operation.
        let waiting = ended == 0 && tick.in_flight > 0 && self.scope.operation.is_none();
        let length = tick.interval.to - tick.interval.from;
        self.stalled = if waiting { self.stalled + length } else { Nanos::ZERO };
        let too_long = match self.statistic.read(tick, self.scope, unanswered) {
            TimeValue::Nothing => false,
            TimeValue::Time(it) => it > self.limit,
            TimeValue::Unanswered => true,
        };
        self.seconds.tick(tick, too_long || self.stalled > self.limit)
    }
}

/// Value of the statistic in one second.
enum TimeValue {
    Nothing,
    Time(Nanos),
    Unanswered,
}

impl TimeStatistic {
    /// Value of the statistic in one second. The mean covers only arrivals with a response, if there are any.
    fn read(self, tick: &Tick, scope: TransactionScope, unanswered: u64) -> TimeValue {
        let count: u64 = scope.cells(tick).map(|it| it.response.count()).sum();
        let time = match self {
            _ if count == 0 => None,
            TimeStatistic::Mean => {
                let sum: u128 = scope.cells(tick).map(|it| it.response.sum()).sum();
                Some(Nanos((sum / u128::from(count)) as u64))
            }
            TimeStatistic::Quantile(quantile) => {
                let rank = (quantile * (count + unanswered) as f64).ceil();
                let answered_rank = (rank / count as f64).min(1.0);
                match &scope.cells(tick).collect::<Vec<_>>()[..] {
                    _ if rank > count as f64 => None,
                    // Use the histogram's quantile, which is rounded to a bucket.
                    [cell] if unanswered == 0 => cell.response.quantile_unchecked(quantile),
                    [cell] => cell.response.quantile_unchecked(answered_rank),
                    cells => {
                        let mut all = LatencyHistogram::new();
                        cells.iter().for_each(|it| all.merge(&it.response));
                        all.quantile_unchecked(if unanswered == 0 { quantile } else { answered_rank })
                    }
                }
            }
        };
        match time {
            Some(it) => TimeValue::Time(it),
            None if unanswered > 0 => TimeValue::Unanswered,
            None => TimeValue::Nothing,
        }
    }
}

pub fn mean(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    build(arguments, TimeStatistic::Mean)
}

pub fn quantile(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let percent: f64 = arguments.parse(
        |argument| argument.text.parse().ok().filter(|it| *it > 0.0 && *it <= 100.0),
        |text, form| message!("rule-quantile", text, form),
    )?;
    if !TANK_QUANTILES.contains(&percent) {
        arguments.warnings.push(TankDifference::OtherQuantile { percent });
    }
    build(arguments, TimeStatistic::Quantile(percent / 100.0))
}

fn build(
    arguments: &mut Arguments<'_>,
    statistic: TimeStatistic,
) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    arguments.warnings.push(TankDifference::TimesOfFailures);
    let (limit, seconds) = (arguments.time()?, Consecutive::new(arguments.seconds()?));
    let scope = arguments.scope()?;
    Ok(Box::new(TimeRule { statistic, limit, scope, seconds, stalled: Nanos::ZERO }))
}
