//! `total_*`, `negative_*`: were there too many over the last so many seconds?
//!
//! A count is the sum over the window. A percentage of codes is the mean of the seconds' percentages, each weighing as
//! much; a second without responses has none. A percentage of times is that of the window's responses.

use super::arguments::{Arguments, Level};
use super::codes::{Mask, Matched, Scope};
use super::window::Window;
use super::{Cause, Complaint, Difference, Watch};
use model::{Nanos, Tick};

#[derive(Debug)]
struct Codes {
    mask: Mask,
    /// Those that do not match are counted.
    negative: bool,
    level: Level,
    scope: Scope,
    window: Window<Matched>,
}

impl Watch for Codes {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        let mut brought = self.mask.count(tick, self.scope);
        if self.negative {
            brought.matching = brought.of - brought.matching;
        }
        self.window.push(tick, brought);
        let reached = match self.level {
            Level::Count(level) => self.window.full().map(|it| it.matching).sum::<u64>() >= level,
            Level::Percent(level) => {
                let with: Vec<&Matched> = self.window.full().filter(|it| it.of > 0).collect();
                let sum: f64 = with.iter().map(|it| 100.0 * it.matching as f64 / it.of as f64).sum();
                // A sum of quotients may end a rounding below what it should be.
                !with.is_empty() && sum / with.len() as f64 >= level * (1.0 - 1e-12)
            }
        };
        reached.then(|| self.window.cause()).flatten()
    }
}

#[derive(Debug)]
struct Time {
    limit: Nanos,
    level: Level,
    scope: Scope,
    window: Window<Matched>,
}

impl Watch for Time {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        let mut brought = Matched::default();
        for cell in self.scope.cells(tick) {
            // Without an answer: longer than any limit.
            brought.of += cell.response.count() + cell.unanswered();
            brought.matching += cell.response.above(self.limit) + cell.unanswered();
        }
        self.window.push(tick, brought);
        let sum = self.window.full().fold(Matched::default(), |sum, it| Matched {
            matching: sum.matching + it.matching,
            of: sum.of + it.of,
        });
        self.level.reached(sum).then(|| self.window.cause()).flatten()
    }
}

pub fn time(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    let (limit, percent) = (from.time()?, from.percent()?);
    from.warnings.push(Difference::TimesOfFailures);
    from.warnings.push(Difference::RoundedLimit { limit_ms: limit.as_millis_f64() });
    let (window, scope) = (Window::new(from.seconds()?), from.scope()?);
    Ok(Box::new(Time { limit, level: Level::Percent(percent), scope, window }))
}

pub fn http(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::http, false)
}

pub fn net(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::net, false)
}

pub fn sql(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::sql, false)
}

pub fn negative_http(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::http, true)
}

/// Unlike the others Tank leaves code 0 in: `negative_net(0, …)` counts whatever is not 0.
pub fn negative_net(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, |text| Mask::net(text).map(Mask::with_zero), true)
}

fn build(
    from: &mut Arguments<'_>,
    mask: fn(&str) -> Result<Mask, &'static str>,
    negative: bool,
) -> Result<Box<dyn Watch>, Complaint> {
    let (mask, level) = (from.mask(mask)?, from.level()?);
    if matches!(level, Level::Percent(_)) {
        from.warnings.push(Difference::MeanOfPercents);
    }
    let (window, scope) = (Window::new(from.seconds()?), from.scope()?);
    Ok(Box::new(Codes { mask, negative, level, scope, window }))
}
