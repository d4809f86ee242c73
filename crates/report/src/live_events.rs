//! Server-sent events of a run in progress
//!
//! The event `document` contains a whole document, `points` contains data to append to the displayed document, and
//! `state` contains a sentence. `end` closes the stream. Source: HTML Standard, "Server-sent events".

use crate::document::{self, ChartValues, CompactNumber};
use crate::lang::{self, Lang};
use crate::live_strip;
use crate::page::{charted, mark};
use crate::view::{LargeFigure, MarkView};
use model::chart::Charts;
use model::live::LiveStatus;
use model::run_result::RunResult;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Index into the document's `data` of the trial that has the number `trial` in the run file.
pub fn data_index(account: &RunResult, trial: u32) -> Option<usize> {
    charted(account).position(|it| it.id == trial)
}

/// Formats an event. `data` must be one line, such as JSON. A client that reconnects sends the last `id` that it
/// received.
pub fn sse_event(kind: &str, id: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 64);
    if let Some(id) = id {
        let _ = writeln!(text, "id: {id}");
    }
    let _ = write!(text, "event: {kind}\ndata: {data}\n\n");
    text
}

/// Formats new points and marks of a trial. `place` is the trial's index in the document. Values are in the order of
/// the document's series. Marks are in all languages, because the reader may switch the language at any time.
pub fn points_event(place: usize, new: &Charts) -> String {
    let marks = lang::all().iter().map(|lang| {
        let marks = new.annotations.iter().map(|annotation| mark(annotation, lang));
        (lang.code(), marks.collect())
    });
    let event = PointsEvent {
        trial: place,
        times_s: document::times(new),
        charts: document::chart_values(&new.charts),
        marks: marks.collect(),
    };
    serde_json::to_string(&event).expect("all keys are strings")
}

/// Data of the event `points`.
#[derive(Serialize)]
struct PointsEvent {
    trial: usize,
    times_s: Vec<CompactNumber>,
    charts: ChartValues,
    /// Marks by language.
    marks: BTreeMap<&'static str, Vec<MarkView>>,
}

/// Data of the event `state`.
#[derive(Serialize)]
struct StateEvent {
    /// Sentence by language.
    text: BTreeMap<&'static str, String>,
    /// Current values by language.
    now: BTreeMap<&'static str, Vec<LargeFigure>>,
}

/// Formats one sentence about the current activity, and the current values, in all languages.
pub fn state_event(sentence: impl Fn(&Lang) -> String, status: &LiveStatus) -> String {
    let text = lang::all().iter().map(|lang| (lang.code(), sentence(lang))).collect();
    let now = lang::all().iter().map(|lang| (lang.code(), live_strip::figures(status, lang))).collect();
    serde_json::to_string(&StateEvent { text, now }).expect("all keys are strings")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventKind;
    use model::chart::{Annotation, Chart, ChartKind, ChartSeries, ChartSeriesKind};

    #[test]
    fn points_are_one_line() {
        let track = |kind, values: &[Option<f64>]| ChartSeries {
            kind,
            node: None,
            label: None,
            values: values.to_vec(),
        };
        let tracks = vec![
            track(ChartSeriesKind::Offered, &[Some(10.0), Some(12.0)]),
            track(ChartSeriesKind::Delivered, &[None, Some(0.5)]),
        ];
        let text = "</script>\n\u{2028}event: end\n\n".to_owned();
        let new = Charts {
            bin: 1,
            times: vec![3.0, 4.0],
            charts: vec![Chart { kind: ChartKind::Rate, series: tracks }],
            annotations: vec![Annotation {
                at: 3.5,
                node: "postgres".to_owned(),
                kind: EventKind::Error,
                count: 2,
                text,
            }],
        };
        let data = points_event(1, &new);
        let expected = "{\"trial\":1,\"times_s\":[3,4],\"charts\":[[[10,12],[null,0.5]]],\"marks\":{\"en\":[{\"at_s\":3.5,\"text\":";
        assert!(data.starts_with(expected), "{data}");
        assert!(!data.contains(['\n', '\r']), "{data}");
        assert_eq!(sse_event("points", Some("1-2-3"), "{}"), "id: 1-2-3\nevent: points\ndata: {}\n\n");
        assert_eq!(sse_event("end", None, "{}"), "event: end\ndata: {}\n\n");
        let sentence = |it: &Lang| format!("\"{}\"", it.code());
        let state = state_event(sentence, &LiveStatus::default());
        assert!(state.starts_with(r#"{"text":{"en":"\"en\"","ru":"\"ru\""},"now":{"en":[{"#), "{state}");
        assert!(!state.contains(['\n', '\r']), "{state}");
    }
}
