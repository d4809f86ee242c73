//! Snapshot of a run that its subscribers see
//!
//! A *snapshot* is a document plus the points that were appended to it since.

use crate::cli::CommandError;
use crate::run_result;
use hyper::body::Bytes;
use model::chart::{Chart, ChartKind, ChartSeries, ChartSeriesKind, Charts};
use report::document::document;
use report::lang;
use report::live_events;
use report::page::{Page, page};
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers of points and annotations of the current trial.
pub type SeriesExtent = (usize, usize);

#[derive(Debug)]
pub struct Snapshot {
    number: u64,
    /// True if another snapshot preceded this one.
    replaces: bool,
    /// Document in each language, in the order of [`lang::ALL`].
    documents: Vec<Bytes>,
    /// Index of the current trial; `None` if the document has no point of it.
    trial_index: Option<usize>,
    shape: ChartShape,
    /// Extent of the series in the document.
    pub initial: SeriesExtent,
    pub sent: SeriesExtent,
    pub built_at: Instant,
    /// Time that building the snapshot took.
    pub build_duration: Duration,
}

/// Series that a document contains.
#[derive(Clone, Debug, Default, PartialEq)]
struct ChartShape {
    bin: u32,
    charts: Vec<(ChartKind, Vec<SeriesKey>)>,
}

type SeriesKey = (ChartSeriesKind, Option<String>, Option<String>);

/// Difference between a snapshot and the current data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotLag {
    /// New points can be appended.
    #[default]
    None,
    /// Some data has no series yet.
    Tracks,
    /// The current trial changed or ended, or its points cover longer intervals.
    Trial,
}

/// Maximum time between fetching the document and subscribing, for subscribers without a last event id.
const FETCH_GRACE: Duration = Duration::from_secs(10);

impl Snapshot {
    /// Builds a snapshot of the run in `path`. `trial` is the current trial and its charts; `events` is the URL of the
    /// events.
    pub fn build(
        path: &Path,
        number: u64,
        replaces: bool,
        trial: Option<(u32, &Charts)>,
        events: Option<&str>,
    ) -> Result<Snapshot, CommandError> {
        let made = Instant::now();
        let mut account = run_result::from_file(path)?;
        let mut place = None;
        if let Some((id, charts)) = trial {
            // Use the given charts, because appended points must match the charts in the document.
            if let Some(trial) = account.trials.iter_mut().find(|it| it.id == id) {
                trial.charts = charts.clone();
            }
            place = live_events::data_index(&account, id);
        }
        let mut pages: Vec<Page> = lang::all().iter().map(|it| page(&account, it)).collect();
        for (page, lang) in pages.iter_mut().zip(lang::all()) {
            page.words.extend(lang.catalogue().with_prefix("bar-"));
        }
        let text = |it: &lang::Lang| Bytes::from(document(&account, &pages, it.code(), events));
        let charts = trial.map(|it| it.1);
        let first = charts.map_or((0, 0), extent);
        Ok(Snapshot {
            number,
            replaces,
            documents: lang::all().iter().map(text).collect(),
            trial_index: place,
            shape: charts.map(ChartShape::from_charts).unwrap_or_default(),
            initial: first,
            sent: first,
            built_at: made,
            build_duration: made.elapsed(),
        })
    }

    /// Document in a language. `lang` is an index into [`lang::ALL`].
    pub fn document(&self, lang: usize) -> &Bytes {
        &self.documents[lang]
    }

    /// Total size of the documents in all languages, in bytes.
    pub fn bytes(&self) -> usize {
        self.documents.iter().map(Bytes::len).sum()
    }

    /// Event that replaces an older document with this document.
    pub fn replace_event(&self, lang: usize) -> String {
        let text = std::str::from_utf8(&self.documents[lang]).expect("JSON is UTF-8");
        live_events::sse_event("document", Some(&self.id(self.initial)), text)
    }

    /// Event with the part of `charts` after `from`; empty if there is no such part.
    pub fn append_event(&self, from: SeriesExtent, charts: &Charts) -> String {
        let Some(place) = self.trial_index.filter(|_| from != extent(charts)) else { return String::new() };
        let new = self.shape.tail(charts, from);
        live_events::sse_event(
            "points",
            Some(&self.id(extent(charts))),
            &live_events::points_event(place, &new),
        )
    }

    /// Extent of the series that a subscriber already has, determined from its last event id or from the document that
    /// it fetched. `None` if the subscriber needs the whole document.
    pub fn resume_position(&self, last: Option<&str>) -> Option<SeriesExtent> {
        let Some(last) = last else {
            let current = !self.replaces || self.built_at.elapsed() > FETCH_GRACE;
            return current.then_some(self.initial);
        };
        let mut numbers = last.split('-').map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let (number, points, marks) = (next()?, next()? as usize, next()? as usize);
        let known = number == self.number && points <= self.sent.0 && marks <= self.sent.1;
        known.then_some((points, marks))
    }

    /// Lag relative to `charts` of the current trial.
    pub fn lag(&self, charts: Option<&Charts>) -> SnapshotLag {
        let Some(charts) = charts.filter(|it| !it.times.is_empty()) else { return SnapshotLag::None };
        let shape = ChartShape::from_charts(charts);
        if self.trial_index.is_none() || shape.bin != self.shape.bin || charts.times.len() < self.sent.0 {
            return SnapshotLag::Trial;
        }
        if self.shape.contains(&shape) { SnapshotLag::None } else { SnapshotLag::Tracks }
    }

    fn id(&self, (points, marks): SeriesExtent) -> String {
        format!("{}-{points}-{marks}", self.number)
    }
}

pub fn extent(charts: &Charts) -> SeriesExtent {
    (charts.times.len(), charts.annotations.len())
}

impl ChartShape {
    fn from_charts(source: &Charts) -> ChartShape {
        let charts = source.charts.iter().map(|it| (it.kind, it.series.iter().map(key).collect()));
        ChartShape { bin: source.bin, charts: charts.collect() }
    }

    /// True if this shape contains all series of `other`.
    fn contains(&self, other: &ChartShape) -> bool {
        other.charts.iter().all(|(kind, tracks)| {
            let chart = self.charts.iter().find(|it| it.0 == *kind);
            chart.is_some_and(|(_, keys)| tracks.iter().all(|it| keys.contains(it)))
        })
    }

    /// Data after the given extent, in exactly the series of the document. Series without further data contain `None`.
    fn tail(&self, source: &Charts, (points, marks): SeriesExtent) -> Charts {
        let at = source.times[points.min(source.times.len())..].to_vec();
        let chart = |(kind, keys): &(ChartKind, Vec<SeriesKey>)| {
            let source_chart = source.charts.iter().find(|it| it.kind == *kind);
            let track = |series_key: &SeriesKey| {
                let values =
                    source_chart.and_then(|chart| chart.series.iter().find(|it| key(it) == *series_key));
                let values = values.and_then(|it| it.values.get(points..)).map(<[_]>::to_vec);
                let (kind, node, label) = series_key.clone();
                ChartSeries { kind, node, label, values: values.unwrap_or_else(|| vec![None; at.len()]) }
            };
            Chart { kind: *kind, series: keys.iter().map(track).collect() }
        };
        let charts = self.charts.iter().map(chart).collect();
        let marks = source.annotations[marks.min(source.annotations.len())..].to_vec();
        Charts { bin: source.bin, charts, annotations: marks, times: at }
    }
}

fn key(series: &ChartSeries) -> SeriesKey {
    (series.kind, series.node.clone(), series.label.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventKind;
    use model::chart::Annotation;

    /// Charts from a text such as `rate:offered=1,2,-;failures:a=3,4`: chart, label, numbers.
    fn charts(bin: u32, text: &str) -> Charts {
        let kind = |name: &str| match name {
            "rate" => ChartKind::Rate,
            "failures" => ChartKind::Failures,
            it => panic!("{it}"),
        };
        let track = |text: &str| {
            let (label, values) = text.split_once('=').expect("a label and numbers");
            let values = values.split(',').map(|it| it.parse().ok()).collect();
            ChartSeries { kind: ChartSeriesKind::Failed, node: None, label: Some(label.to_owned()), values }
        };
        let chart = |text: &str| {
            let (name, tracks) = text.split_once(':').expect("a name and tracks");
            Chart { kind: kind(name), series: tracks.split(' ').map(track).collect() }
        };
        let charts: Vec<Chart> = text.split(';').map(chart).collect();
        let points = charts.iter().flat_map(|it| &it.series).map(|it| it.values.len()).max().unwrap_or(0);
        Charts { bin, times: (0..points).map(|it| it as f64).collect(), charts, annotations: Vec::new() }
    }

    fn snapshot(charts: &Charts) -> Snapshot {
        let first = extent(charts);
        Snapshot {
            number: 7,
            replaces: false,
            documents: Vec::new(),
            trial_index: Some(1),
            shape: ChartShape::from_charts(charts),
            initial: first,
            sent: first,
            built_at: Instant::now(),
            build_duration: Duration::ZERO,
        }
    }

    #[test]
    fn appends_points_to_the_tracks_of_the_document() {
        let known = snapshot(&charts(1, "rate:a=1,2 b=3,4"));
        for (now, from, expected) in [
            ("rate:a=1,2,5 b=3,4,6", 2, "[[[5],[6]]]"),
            // Series have the order of the document. Unknown series are omitted, and ended series contain null.
            ("failures:x=1,1,1;rate:b=3,4,6 c=0,0,0 a=1,2,5", 2, "[[[5],[6]]]"),
            ("rate:b=3,4,6,7", 2, "[[[null,null],[6,7]]]"),
            ("rate:a=1,2,- b=3,4,6", 2, "[[[null],[6]]]"),
            ("rate:a=1,2,5 b=3,4,6", 0, "[[[1,2,5],[3,4,6]]]"),
        ] {
            let event = known.append_event((from, 0), &charts(1, now));
            assert!(event.contains(&format!("\"charts\":{expected},")), "{now}: {event}");
            assert!(event.contains("\"trial\":1,"), "{event}");
        }
        assert_eq!(known.append_event((2, 0), &charts(1, "rate:a=1,2 b=3,4")), "");
    }

    #[test]
    fn sends_marks_without_points() {
        let mut now = charts(1, "rate:a=1,2 b=3,4");
        let known = snapshot(&now);
        let mark = |text: &str| Annotation {
            at: 1.0,
            node: "postgres".to_owned(),
            kind: EventKind::Deadlock,
            count: 1,
            text: text.to_owned(),
        };
        now.annotations = vec![mark("first"), mark("second")];
        let event = known.append_event((2, 1), &now);
        assert!(event.contains("second") && !event.contains("first"), "{event}");
        assert!(event.starts_with("id: 7-2-2\n"), "{event}");
    }

    #[test]
    fn reports_missing_tracks_and_new_trials() {
        let known = snapshot(&charts(1, "rate:a=1,2 b=3,4"));
        for (bin, now, expected) in [
            (1, "rate:a=1,2,5 b=3,4,6", SnapshotLag::None),
            (1, "rate:a=1,2,5", SnapshotLag::None),
            (1, "rate:a=1,2,5 b=3,4,6 c=1,2,3", SnapshotLag::Tracks),
            (1, "rate:a=1,2,5 b=3,4,6;failures:x=-,-,1", SnapshotLag::Tracks),
            (2, "rate:a=1,2,5 b=3,4,6", SnapshotLag::Trial),
            // The points of another trial.
            (1, "rate:a=1 b=3", SnapshotLag::Trial),
        ] {
            assert_eq!(known.lag(Some(&charts(bin, now))), expected, "{now}");
        }
        assert_eq!(known.lag(None), SnapshotLag::None);
        let without = Snapshot { trial_index: None, ..snapshot(&Charts::default()) };
        assert_eq!(without.lag(Some(&charts(1, "rate:a=1"))), SnapshotLag::Trial);
        assert_eq!(without.lag(Some(&Charts::default())), SnapshotLag::None);
    }

    #[test]
    fn sends_missed_points_after_a_reconnect() {
        let mut known = snapshot(&charts(1, "rate:a=1,2"));
        known.sent = (9, 3);
        for (last, expected) in [
            (None, Some((2, 0))),
            (Some("7-5-1"), Some((5, 1))),
            (Some("7-9-3"), Some((9, 3))),
            (Some("6-5-1"), None),
            (Some("7-10-3"), None),
            (Some("7-9-4"), None),
            (Some("7-5"), None),
            (Some(""), None),
            (Some("7--1-1"), None),
            (Some("18446744073709551616-0-0"), None),
        ] {
            assert_eq!(known.resume_position(last), expected, "{last:?}");
        }
        // The subscriber may have fetched the previous document.
        known.replaces = true;
        assert_eq!(known.resume_position(None), None);
        assert_eq!(known.resume_position(Some("7-5-1")), Some((5, 1)));
    }
}
