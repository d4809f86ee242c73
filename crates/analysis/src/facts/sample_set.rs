//! Samples of a trial, found by their series and node

use model::{Nanos, Sample};
use std::cmp::Ordering;

/// Samples of a trial, sorted by series and node. Samples of one series of one node keep the order in which they were
/// added.
#[derive(Clone, Debug, Default)]
pub struct SampleSet(Vec<Sample>);

impl SampleSet {
    pub fn view(&self) -> SampleView<'_> {
        SampleView { all: &self.0, from: Nanos::ZERO, to: Nanos(u64::MAX) }
    }

    /// Removes the samples after `window`.
    pub fn truncate(&mut self, window: Nanos) {
        self.0.retain(|it| it.at <= window);
    }
}

impl From<Vec<Sample>> for SampleSet {
    fn from(mut samples: Vec<Sample>) -> SampleSet {
        // The sort is stable.
        samples.sort_by(|a, b| (&a.series, &a.node).cmp(&(&b.series, &b.node)));
        SampleSet(samples)
    }
}

impl Extend<Sample> for SampleSet {
    fn extend<T: IntoIterator<Item = Sample>>(&mut self, samples: T) {
        let before = std::mem::take(&mut self.0);
        *self = before.into_iter().chain(samples).collect::<Vec<_>>().into();
    }
}

/// Samples of a [`SampleSet`] within a period.
#[derive(Clone, Copy, Debug)]
pub struct SampleView<'a> {
    all: &'a [Sample],
    /// First and last time that belong to the period.
    from: Nanos,
    to: Nanos,
}

impl<'a> SampleView<'a> {
    /// Samples of this view between two times, including both.
    pub fn between(self, from: Nanos, to: Nanos) -> SampleView<'a> {
        SampleView { all: self.all, from: self.from.max(from), to: self.to.min(to) }
    }

    /// Samples of this view after `time`.
    pub fn after(self, time: Nanos) -> SampleView<'a> {
        self.between(Nanos(time.0 + 1), self.to)
    }

    pub fn iter(self) -> impl Iterator<Item = &'a Sample> + Clone {
        self.all.iter().filter(move |it| self.from <= it.at && it.at <= self.to)
    }

    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// Samples of a series, sorted by node.
    pub fn of_series(self, series: &str) -> SampleView<'a> {
        self.part(|it| it.series.as_ref().cmp(series))
    }

    /// Samples of a series of a node.
    pub fn of(self, node: &str, series: &str) -> SampleView<'a> {
        self.part(|it| (&*it.series, &*it.node).cmp(&(series, node)))
    }

    fn part(self, order: impl Fn(&Sample) -> Ordering) -> SampleView<'a> {
        let from = self.all.partition_point(|it| order(it).is_lt());
        let length = self.all[from..].partition_point(|it| order(it).is_eq());
        SampleView { all: &self.all[from..from + length], ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_samples_by_series_node_and_time() {
        let sample = |second, node: &'static str, series: &'static str, value| {
            let (at, node) = (Nanos::from_secs(second), node.into());
            Sample { at, node, series: series.into(), label: "".into(), value }
        };
        let set = SampleSet::from(vec![
            sample(2, "b", "s", 1.0),
            sample(1, "b", "s", 2.0),
            sample(1, "a", "s", 3.0),
            sample(3, "a", "t", 4.0),
            sample(3, "b", "s", 5.0),
        ]);
        let values = |samples: SampleView<'_>| samples.iter().map(|it| it.value).collect::<Vec<_>>();
        let all = set.view();
        assert_eq!(values(all.of("b", "s")), [1.0, 2.0, 5.0], "in the order in which they were added");
        assert_eq!(values(all.of_series("s")), [3.0, 1.0, 2.0, 5.0]);
        assert!(all.of("c", "s").is_empty());
        assert!(all.of("a", "r").is_empty());
        let [one, two] = [1, 2].map(Nanos::from_secs);
        assert_eq!(values(all.between(one, two).of("b", "s")), [1.0, 2.0]);
        assert_eq!(values(all.after(one).of("b", "s")), [1.0, 5.0]);
        assert_eq!(values(all.after(one).between(one, two)), [1.0]);
        let mut set = set.clone();
        set.truncate(two);
        assert_eq!(values(set.view()), [3.0, 1.0, 2.0]);
    }
}
