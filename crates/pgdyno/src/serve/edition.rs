//! What do those who watch a run know of it?
//!
//! An *edition*: a document, and the points that were appended to it since.

use crate::account;
use crate::voice::Trouble;
use hyper::body::Bytes;
use model::chart::{Chart, ChartKind, Charts, Track, TrackKind};
use report::document::document;
use report::growth;
use report::lang;
use report::lang::serve::Shown;
use report::page::{Page, page};
use std::path::Path;
use std::time::{Duration, Instant};

/// So many points and marks of the trial that goes on.
pub type Extent = (usize, usize);

#[derive(Debug)]
pub struct Edition {
    number: u64,
    /// Whether there was another one before it.
    replaces: bool,
    /// The document by language, in the order of [`lang::ALL`].
    texts: Vec<Bytes>,
    /// Place of the trial that goes on; `None` if it has no point in the document.
    place: Option<usize>,
    shape: Shape,
    /// In the document, and told since.
    pub first: Extent,
    pub told: Extent,
    pub made: Instant,
    /// To make it.
    pub took: Duration,
}

/// Which numbers a document has room for.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shape {
    bin: u32,
    charts: Vec<(ChartKind, Vec<Key>)>,
}

type Key = (TrackKind, Option<String>, Option<String>);

/// How far an edition is from what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lag {
    /// Points can be appended.
    #[default]
    None,
    /// Something has no track yet.
    Tracks,
    /// Another trial goes on, or none, or its points have become wider.
    Trial,
}

/// Who asks for events without saying what he knows has fetched the document no longer ago than this.
const FETCHED: Duration = Duration::from_secs(10);

impl Edition {
    /// Of the run in `path` as it is now. `trial`: which goes on, and what is drawn of it; `events`: where its news are.
    pub fn make(
        path: &Path,
        number: u64,
        replaces: bool,
        trial: Option<(u32, &Charts)>,
        events: Option<&str>,
    ) -> Result<Edition, Trouble> {
        let made = Instant::now();
        let mut account = account::of(path)?;
        let mut place = None;
        if let Some((id, charts)) = trial {
            // What is appended must fit to what is there.
            if let Some(it) = account.trials.iter_mut().find(|it| it.id == id) {
                it.charts = charts.clone();
            }
            place = growth::place(&account, id);
        }
        let mut pages: Vec<Page> = lang::ALL.iter().map(|it| page(&account, *it)).collect();
        for (it, lang) in pages.iter_mut().zip(lang::ALL) {
            it.words.extend(Shown::BAR.map(|(key, word)| (key, lang.shown(word).to_owned())));
        }
        let text = |it: &&dyn lang::Lang| Bytes::from(document(&account, &pages, it.code(), events));
        let charts = trial.map(|it| it.1);
        let first = charts.map_or((0, 0), extent);
        Ok(Edition {
            number,
            replaces,
            texts: lang::ALL.iter().map(text).collect(),
            place,
            shape: charts.map(Shape::of).unwrap_or_default(),
            first,
            told: first,
            made,
            took: made.elapsed(),
        })
    }

    /// `lang`: an index into [`lang::ALL`].
    pub fn text(&self, lang: usize) -> &Bytes {
        &self.texts[lang]
    }

    /// Of the document in all languages.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(Bytes::len).sum()
    }

    /// The event that brings it to those who have another one.
    pub fn whole(&self, lang: usize) -> String {
        let text = std::str::from_utf8(&self.texts[lang]).expect("JSON is UTF-8");
        growth::event("document", Some(&self.id(self.first)), text)
    }

    /// What is in `charts` and not in `from`; empty where that is nothing.
    pub fn news(&self, from: Extent, charts: &Charts) -> String {
        let Some(place) = self.place.filter(|_| from != extent(charts)) else { return String::new() };
        let new = self.shape.tail(charts, from);
        growth::event("points", Some(&self.id(extent(charts))), &growth::points(place, &new))
    }

    /// Where somebody stands who saw the event of this id last, or has just fetched the document; `None` where all of it
    /// is to be told.
    pub fn stands(&self, last: Option<&str>) -> Option<Extent> {
        let Some(last) = last else {
            let current = !self.replaces || self.made.elapsed() > FETCHED;
            return current.then_some(self.first);
        };
        let mut numbers = last.split('-').map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let (number, points, marks) = (next()?, next()? as usize, next()? as usize);
        let known = number == self.number && points <= self.told.0 && marks <= self.told.1;
        known.then_some((points, marks))
    }

    /// `charts`: of the trial that goes on.
    pub fn lag(&self, charts: Option<&Charts>) -> Lag {
        let Some(charts) = charts.filter(|it| !it.at.is_empty()) else { return Lag::None };
        let shape = Shape::of(charts);
        if self.place.is_none() || shape.bin != self.shape.bin || charts.at.len() < self.told.0 {
            return Lag::Trial;
        }
        if self.shape.holds(&shape) { Lag::None } else { Lag::Tracks }
    }

    fn id(&self, (points, marks): Extent) -> String {
        format!("{}-{points}-{marks}", self.number)
    }
}

pub fn extent(it: &Charts) -> Extent {
    (it.at.len(), it.marks.len())
}

impl Shape {
    fn of(it: &Charts) -> Shape {
        let charts = it.charts.iter().map(|it| (it.kind, it.tracks.iter().map(key).collect()));
        Shape { bin: it.bin, charts: charts.collect() }
    }

    /// Whether all of the other has a place here.
    fn holds(&self, other: &Shape) -> bool {
        other.charts.iter().all(|(kind, tracks)| {
            let here = self.charts.iter().find(|it| it.0 == *kind);
            here.is_some_and(|(_, here)| tracks.iter().all(|it| here.contains(it)))
        })
    }

    /// What comes after `from`, in these tracks and no others; what has no number any more is `None`.
    fn tail(&self, it: &Charts, (points, marks): Extent) -> Charts {
        let at = it.at[points.min(it.at.len())..].to_vec();
        let chart = |(kind, keys): &(ChartKind, Vec<Key>)| {
            let there = it.charts.iter().find(|it| it.kind == *kind);
            let track = |wanted: &Key| {
                let values = there.and_then(|it| it.tracks.iter().find(|it| key(it) == *wanted));
                let values = values.and_then(|it| it.values.get(points..)).map(<[_]>::to_vec);
                let (what, node, label) = wanted.clone();
                Track { what, node, label, values: values.unwrap_or_else(|| vec![None; at.len()]) }
            };
            Chart { kind: *kind, tracks: keys.iter().map(track).collect() }
        };
        let charts = self.charts.iter().map(chart).collect();
        let marks = it.marks[marks.min(it.marks.len())..].to_vec();
        Charts { bin: it.bin, charts, marks, at }
    }
}

fn key(it: &Track) -> Key {
    (it.what, it.node.clone(), it.label.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventKind;
    use model::chart::Mark;

    /// Charts as in `rate:offered=1,2,-;failures:a=3,4`: by chart, by label, their numbers.
    fn charts(bin: u32, text: &str) -> Charts {
        let kind = |it: &str| match it {
            "rate" => ChartKind::Rate,
            "failures" => ChartKind::Failures,
            it => panic!("{it}"),
        };
        let track = |it: &str| {
            let (label, values) = it.split_once('=').expect("a label and numbers");
            let values = values.split(',').map(|it| it.parse().ok()).collect();
            Track { what: TrackKind::Failed, node: None, label: Some(label.to_owned()), values }
        };
        let chart = |it: &str| {
            let (name, tracks) = it.split_once(':').expect("a name and tracks");
            Chart { kind: kind(name), tracks: tracks.split(' ').map(track).collect() }
        };
        let charts: Vec<Chart> = text.split(';').map(chart).collect();
        let points = charts.iter().flat_map(|it| &it.tracks).map(|it| it.values.len()).max().unwrap_or(0);
        Charts { bin, at: (0..points).map(|it| it as f64).collect(), charts, marks: Vec::new() }
    }

    fn edition(it: &Charts) -> Edition {
        let first = extent(it);
        Edition {
            number: 7,
            replaces: false,
            texts: Vec::new(),
            place: Some(1),
            shape: Shape::of(it),
            first,
            told: first,
            made: Instant::now(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn what_is_new_comes_in_the_tracks_of_the_document() {
        let known = edition(&charts(1, "rate:a=1,2 b=3,4"));
        for (now, from, expected) in [
            ("rate:a=1,2,5 b=3,4,6", 2, "[[[5],[6]]]"),
            // Their order is the document's, what has no place there is left out, what has ended is not measured.
            ("failures:x=1,1,1;rate:b=3,4,6 c=0,0,0 a=1,2,5", 2, "[[[5],[6]]]"),
            ("rate:b=3,4,6,7", 2, "[[[null,null],[6,7]]]"),
            ("rate:a=1,2,- b=3,4,6", 2, "[[[null],[6]]]"),
            ("rate:a=1,2,5 b=3,4,6", 0, "[[[1,2,5],[3,4,6]]]"),
        ] {
            let news = known.news((from, 0), &charts(1, now));
            assert!(news.contains(&format!("\"charts\":{expected},")), "{now}: {news}");
            assert!(news.contains("\"trial\":1,"), "{news}");
        }
        assert_eq!(known.news((2, 0), &charts(1, "rate:a=1,2 b=3,4")), "");
    }

    #[test]
    fn marks_come_without_points_too() {
        let mut now = charts(1, "rate:a=1,2 b=3,4");
        let known = edition(&now);
        let mark = |text: &str| Mark {
            at: 1.0,
            node: "postgres".to_owned(),
            kind: EventKind::Deadlock,
            count: 1,
            text: text.to_owned(),
        };
        now.marks = vec![mark("first"), mark("second")];
        let news = known.news((2, 1), &now);
        assert!(news.contains("second") && !news.contains("first"), "{news}");
        assert!(news.starts_with("id: 7-2-2\n"), "{news}");
    }

    #[test]
    fn lags() {
        let known = edition(&charts(1, "rate:a=1,2 b=3,4"));
        for (bin, now, expected) in [
            (1, "rate:a=1,2,5 b=3,4,6", Lag::None),
            (1, "rate:a=1,2,5", Lag::None),
            (1, "rate:a=1,2,5 b=3,4,6 c=1,2,3", Lag::Tracks),
            (1, "rate:a=1,2,5 b=3,4,6;failures:x=-,-,1", Lag::Tracks),
            (2, "rate:a=1,2,5 b=3,4,6", Lag::Trial),
            // Another trial's.
            (1, "rate:a=1 b=3", Lag::Trial),
        ] {
            assert_eq!(known.lag(Some(&charts(bin, now))), expected, "{now}");
        }
        assert_eq!(known.lag(None), Lag::None);
        let without = Edition { place: None, ..edition(&Charts::default()) };
        assert_eq!(without.lag(Some(&charts(1, "rate:a=1"))), Lag::Trial);
        assert_eq!(without.lag(Some(&Charts::default())), Lag::None);
    }

    #[test]
    fn who_comes_back_is_told_what_he_missed() {
        let mut known = edition(&charts(1, "rate:a=1,2"));
        known.told = (9, 3);
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
            assert_eq!(known.stands(last), expected, "{last:?}");
        }
        // He may have fetched the one before.
        known.replaces = true;
        assert_eq!(known.stands(None), None);
        assert_eq!(known.stands(Some("7-5-1")), Some((5, 1)));
    }
}
