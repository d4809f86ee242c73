//! Stop rules `metric_higher`, `metric_lower`: a sampled figure is out of bounds, in consecutive seconds
//!
//! A figure is the name of a series, such as `pg_backends`, optionally with a label, as in `pg_backends:active`. The
//! rule reads the last sample of the second for each matching node and label. The second is bad if one of these samples
//! is out of bounds. A second without a sample neither counts nor resets the count, because some series are sampled
//! less often.

use super::arguments::Arguments;
use super::window::Consecutive;
use super::{RuleState, SeriesName, TankDifference, TriggerSecond};
use model::{GrammarDiagnostic, Sample, Tick, message};
use std::cmp::Ordering;

#[derive(Debug)]
struct MetricRule {
    /// Pattern of node names: `*` matches any characters, `?` matches one.
    node: String,
    series: String,
    label: Option<String>,
    bound: f64,
    /// Ordering of a bad value relative to the bound.
    violation: Ordering,
    seconds: Consecutive,
    /// True if no second so far had a sample.
    blind: bool,
}

impl RuleState for MetricRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let matches = |sample: &&Sample| {
            sample.series == self.series
                && self.label.as_ref().is_none_or(|label| sample.label == *label)
                && glob(self.node.as_bytes(), sample.node.as_bytes())
        };
        let mut last: Vec<&Sample> = Vec::new();
        for sample in tick.samples.iter().filter(matches) {
            match last.iter_mut().find(|it| it.node == sample.node && it.label == sample.label) {
                Some(known) => *known = sample,
                None => last.push(sample),
            }
        }
        if last.is_empty() {
            return None;
        }
        self.blind = false;
        let bad = last.iter().any(|it| it.value.partial_cmp(&self.bound) == Some(self.violation));
        self.seconds.tick(tick, bad)
    }

    fn is_blind(&self) -> bool {
        self.blind
    }
}

/// True if `text` matches `pattern`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
        Some((b'?', rest)) => !text.is_empty() && glob(rest, &text[1..]),
        Some((first, rest)) => text.first() == Some(first) && glob(rest, &text[1..]),
    }
}

pub fn higher(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    build(arguments, Ordering::Greater)
}

pub fn lower(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    build(arguments, Ordering::Less)
}

fn build(arguments: &mut Arguments<'_>, bad: Ordering) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    arguments.warnings.push(TankDifference::MissingMetric);
    let node = arguments.name(|_, form| message!("rule-node", form))?.text.to_owned();
    let metric = arguments.name(|_, form| message!("rule-metric", form))?;
    let (series, label) = match metric.text.split_once(':') {
        Some((series, label)) => (series.to_owned(), Some(label.to_owned())),
        None => (metric.text.to_owned(), None),
    };
    arguments.series = Some(SeriesName { offset: metric.offset, name: series.clone() });
    let (bound, seconds) = (arguments.number()?, Consecutive::new(arguments.seconds()?));
    Ok(Box::new(MetricRule { node, series, label, bound, violation: bad, seconds, blind: true }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn matches_globs() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "postgres", true),
            ("post*", "postgres", true),
            ("*gres", "postgres", true),
            ("p?stgres", "postgres", true),
            ("p?", "p", false),
            ("postgres", "postgres2", false),
            ("*x*", "postgres", false),
        ] {
            assert_eq!(super::glob(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }
}
