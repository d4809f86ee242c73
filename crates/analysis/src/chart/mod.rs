//! What is drawn of a trial over time?

use model::chart::{Chart, ChartKind, Charts, Mark, Track, TrackKind};
use model::{Latency, LogEvent, Nanos, Tick};

/// Charts of one trial, built tick by tick.
#[derive(Clone, Debug)]
pub struct Charting {
    at: Vec<f64>,
    offered: Vec<Option<f64>>,
    delivered: Vec<Option<f64>>,
    quantiles: Vec<[Option<f64>; 5]>,
    marks: Vec<Mark>,
}

impl Charting {
    /// `operations`: their names, in the order of the intervals' cells; `lasting`: seconds that the window is to last.
    pub fn new(_operations: &[String], _lasting: f64) -> Charting {
        Charting {
            at: Vec::new(),
            offered: Vec::new(),
            delivered: Vec::new(),
            quantiles: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub fn push(&mut self, tick: &Tick) {
        let it = &tick.interval;
        let length = (it.to - it.from).as_secs_f64();
        let rate = |count: u64| (length > 0.0).then(|| count as f64 / length);
        self.at.push(tick.second as f64);
        self.offered.push(rate(it.cells.iter().map(model::Cell::arrivals).sum()));
        self.delivered.push(rate(it.cells.iter().map(|it| it.ok - it.late).sum()));
        let mut all = Latency::new();
        it.cells.iter().for_each(|it| all.merge(&it.response));
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| all.quantile(q).map(Nanos::as_secs_f64));
        self.quantiles.push([p50, p90, p99, p999, all.max().map(Nanos::as_secs_f64)]);
    }

    pub fn event(&mut self, it: &LogEvent) {
        let (at, node, kind) = (it.at.as_secs_f64(), it.node.clone(), it.kind);
        self.marks.push(Mark { at, node, kind, count: it.lines(), text: it.text.clone() });
    }

    pub fn charts(&self) -> Charts {
        let track = |what, values| Track { what, node: None, label: None, values };
        let what = [
            TrackKind::Quantile(0.5),
            TrackKind::Quantile(0.9),
            TrackKind::Quantile(0.99),
            TrackKind::Quantile(0.999),
            TrackKind::Max,
        ];
        let quantiles = what.into_iter().enumerate();
        let quantiles =
            quantiles.map(|(n, what)| track(what, self.quantiles.iter().map(|it| it[n]).collect()));
        let rates = vec![
            track(TrackKind::Offered, self.offered.clone()),
            track(TrackKind::Delivered, self.delivered.clone()),
        ];
        Charts {
            bin: 1,
            at: self.at.clone(),
            charts: vec![
                Chart { kind: ChartKind::Rate, tracks: rates },
                Chart { kind: ChartKind::Response, tracks: quantiles.collect() },
            ],
            marks: self.marks.clone(),
        }
    }
}
