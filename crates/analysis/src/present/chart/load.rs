//! Chart series of the load: rates, response times, failures and in-flight transactions

use model::chart::{ChartKind, ChartSeries, ChartSeriesKind};
use model::summary::FailureClass;
use model::{FailureCounts, HistogramSum, Nanos, Second};

/// Quantiles of the response time, with their chart series.
const QUANTILES: [(f64, ChartSeriesKind); 4] = [
    (0.5, ChartSeriesKind::Quantile(0.5)),
    (0.9, ChartSeriesKind::Quantile(0.9)),
    (0.99, ChartSeriesKind::Quantile(0.99)),
    (0.999, ChartSeriesKind::Quantile(0.999)),
];
const OF_OPERATION: [f64; 2] = [0.5, 0.99];
const OF_STEP: f64 = 0.99;
const LAG: [f64; 3] = [0.5, 0.99, 0.999];

/// Label of the codes without a separate series.
const OTHER: &str = "other";

#[derive(Clone, Debug)]
pub struct LoadSeries {
    bin: u32,
    operations: Vec<String>,
    /// Steps of operations with several steps.
    steps: Vec<StepSeries>,
    /// Failure codes that occurred, with their class.
    codes: Vec<(FailureClass, String)>,
    /// Complete points.
    points: Vec<LoadPoint>,
    /// Last point, which is still incomplete.
    current: OpenPoint,
}

/// Step whose response times are drawn.
#[derive(Clone, Debug)]
struct StepSeries {
    operation: usize,
    command: usize,
    /// Names of the operation and of the step.
    label: String,
}

/// One point of the charts. `seconds` is 0 if nothing was measured.
#[derive(Clone, Debug, Default)]
struct LoadPoint {
    seconds: f64,
    offered: u64,
    /// Number of delivered transactions, by operation.
    delivered: Vec<u64>,
    /// Number of failures, in the order of the codes. The list is shorter if some codes first occurred later.
    failures: Vec<u64>,
    dropped: u64,
    /// Sum of in-flight transactions over the samples, and the number of samples.
    in_flight: (u64, u64),
    queued: u64,
    quantiles: [Option<f64>; 4],
    max: Option<f64>,
    by_operation: Vec<[Option<f64>; 2]>,
    by_step: Vec<Option<f64>>,
    lag: [Option<f64>; 3],
}

#[derive(Clone, Debug)]
struct OpenPoint {
    /// Index of the point; `None` before the first second.
    number: Option<u64>,
    point: LoadPoint,
    all: HistogramSum,
    /// Histograms by operation; empty if there is only one operation.
    by_operation: Vec<HistogramSum>,
    /// Histograms and numbers of requests without a response, by step.
    by_step: Vec<(HistogramSum, u64)>,
    /// Number of arrivals without a response, by operation.
    unanswered: Vec<u64>,
    lag: HistogramSum,
}

impl LoadSeries {
    pub fn new(bin: u32, operations: Vec<String>) -> LoadSeries {
        let several = if operations.len() > 1 { operations.len() } else { 0 };
        let current = OpenPoint {
            number: None,
            point: LoadPoint::default(),
            all: HistogramSum::new(),
            by_operation: vec![HistogramSum::new(); several],
            by_step: Vec::new(),
            unanswered: vec![0; operations.len()],
            lag: HistogramSum::new(),
        };
        let (steps, codes, points) = (Vec::new(), Vec::new(), Vec::new());
        LoadSeries { bin, operations, steps, codes, points, current }
    }

    /// Draws the steps of operations with several steps, see [`super::ChartBuilder::with_steps`].
    pub fn with_steps<'a>(mut self, names: impl IntoIterator<Item = &'a [String]>) -> LoadSeries {
        for (operation, names) in names.into_iter().enumerate().take(self.operations.len()) {
            let steps = || names.iter().enumerate().filter(|it| !it.1.is_empty());
            if steps().count() > 1 {
                let label = |number: usize, name: &str| {
                    format!("{}: {}. {}", self.operations[operation], number + 1, shorten(name))
                };
                let series = steps().enumerate().map(|(number, (command, name))| StepSeries {
                    operation,
                    command,
                    label: label(number, name),
                });
                self.steps.extend(series);
            }
        }
        self.current.by_step = vec![(HistogramSum::new(), 0); self.steps.len()];
        self
    }

    pub fn points(&self) -> usize {
        self.points.len() + usize::from(self.current.number.is_some())
    }

    pub fn push(&mut self, second: &Second) {
        let number = second.second / u64::from(self.bin);
        if self.current.number != Some(number) {
            if self.current.number.is_some() {
                self.points.push(self.current.to_point());
            }
            while (self.points.len() as u64) < number {
                self.points.push(LoadPoint::default());
            }
            self.current.restart(number);
        }
        let operations = self.operations.len();
        let OpenPoint { point, all, by_operation, by_step, unanswered, lag, .. } = &mut self.current;
        for ((times, unanswered), step) in by_step.iter_mut().zip(&self.steps) {
            let script = second.interval.scripts.get(step.operation);
            if let Some(counts) = script.and_then(|it| it.statements.get(step.command)) {
                times.add(&counts.service);
                *unanswered += counts.unanswered();
            }
        }
        point.seconds += (second.interval.to - second.interval.from).as_secs_f64();
        point.offered += second.interval.started;
        point.delivered.resize(operations, 0);
        for (number, script) in second.interval.scripts.iter().enumerate() {
            point.offered += script.dropped;
            point.dropped += script.dropped;
            point.delivered[number] += script.ok - script.late;
            all.add(&script.response);
            if let Some(count) = unanswered.get_mut(number) {
                *count += script.unanswered();
            }
            if let Some(one) = by_operation.get_mut(number) {
                one.add(&script.response);
            }
            count(&mut self.codes, point, FailureClass::Failed, &script.failed);
            count(&mut self.codes, point, FailureClass::Unknown, &script.unknown);
        }
        count(&mut self.codes, point, FailureClass::Refused, &second.interval.refused);
        point.in_flight = (point.in_flight.0 + second.in_flight, point.in_flight.1 + 1);
        point.queued += second.interval.backlog_wait.count();
        lag.add(&second.interval.send_lag);
    }

    /// Chart series of the points from `from` on. Series without any value are left out.
    pub fn tracks(&self, from: usize) -> Vec<(ChartKind, ChartSeries)> {
        let last = self.current.number.map(|_| self.current.to_point());
        let points: Vec<&LoadPoint> = self.points.iter().chain(&last).collect();
        let mut tracks = SeriesBuilder { points: &points, from, all: Vec::new() };
        let several = self.operations.len() > 1;
        tracks.add(ChartKind::Rate, ChartSeriesKind::Offered, None, |it| it.rate(it.offered));
        tracks
            .add(ChartKind::Rate, ChartSeriesKind::Delivered, None, |it| it.rate(it.delivered.iter().sum()));
        for (number, name) in self.operations.iter().enumerate().filter(|_| several) {
            let label = Some(name.as_str());
            tracks.add(ChartKind::Rate, ChartSeriesKind::Delivered, label, |point| {
                point.rate(point.delivered.get(number).copied().unwrap_or_default())
            });
            for (place, q) in OF_OPERATION.into_iter().enumerate() {
                let kind = ChartKind::ResponseByOperation;
                tracks
                    .add(kind, ChartSeriesKind::Quantile(q), label, |it| it.by_operation.get(number)?[place]);
            }
        }
        for (place, (_, series_kind)) in QUANTILES.into_iter().enumerate() {
            tracks.add(ChartKind::Response, series_kind, None, |it| it.quantiles[place]);
        }
        tracks.add(ChartKind::Response, ChartSeriesKind::Max, None, |it| it.max);
        for (place, step) in self.steps.iter().enumerate() {
            let series = ChartSeriesKind::Quantile(OF_STEP);
            tracks.add(ChartKind::ResponseByStep, series, Some(&step.label), |it| *it.by_step.get(place)?);
        }
        let mut codes: Vec<(usize, &(FailureClass, String))> = self.codes.iter().enumerate().collect();
        codes.sort_by_key(|(_, (class, code))| (*class as u8, code == OTHER, code));
        for (place, (class, code)) in codes {
            let series_kind = match class {
                FailureClass::Failed => ChartSeriesKind::Failed,
                FailureClass::Unknown => ChartSeriesKind::Unknown,
                FailureClass::Refused => ChartSeriesKind::Refused,
            };
            tracks.add(ChartKind::Failures, series_kind, Some(code), |point| {
                point.rate(point.failures.get(place).copied().unwrap_or_default())
            });
        }
        if points.iter().any(|it| it.dropped > 0) {
            tracks.add(ChartKind::Failures, ChartSeriesKind::Dropped, None, |it| it.rate(it.dropped));
        }
        tracks.add(ChartKind::InFlight, ChartSeriesKind::InFlight, None, |point| {
            let (sum, looks) = point.in_flight;
            (looks > 0).then(|| sum as f64 / looks as f64)
        });
        if points.iter().any(|it| it.queued > 0) {
            tracks.add(ChartKind::InFlight, ChartSeriesKind::Waited, None, |point| {
                (point.seconds > 0.0).then_some(point.queued as f64)
            });
        }
        for (place, q) in LAG.into_iter().enumerate() {
            tracks.add(ChartKind::SendLag, ChartSeriesKind::SendLag(q), None, |it| it.lag[place]);
        }
        tracks.all
    }
}

/// Beginning of a step's name.
fn shorten(name: &str) -> String {
    const CHARS_MAX: usize = 30;
    let short: String = name.chars().take(CHARS_MAX).collect();
    if short.len() < name.len() { short + "…" } else { short }
}

fn count(
    codes: &mut Vec<(FailureClass, String)>,
    point: &mut LoadPoint,
    class: FailureClass,
    them: &FailureCounts,
) {
    let other = (them.other() > 0).then(|| (OTHER.to_owned(), them.other()));
    for (code, n) in them.iter().map(|(code, n)| (code.to_string(), n)).chain(other) {
        let known = codes.iter().position(|it| it.0 == class && it.1 == code);
        let place = known.unwrap_or_else(|| {
            codes.push((class, code));
            codes.len() - 1
        });
        if point.failures.len() <= place {
            point.failures.resize(place + 1, 0);
        }
        point.failures[place] += n;
    }
}

impl LoadPoint {
    fn rate(&self, count: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| count as f64 / self.seconds)
    }
}

impl OpenPoint {
    fn restart(&mut self, number: u64) {
        self.number = Some(number);
        self.point = LoadPoint::default();
        self.all.clear();
        self.by_operation.iter_mut().for_each(HistogramSum::clear);
        for (times, unanswered) in &mut self.by_step {
            times.clear();
            *unanswered = 0;
        }
        self.unanswered.fill(0);
        self.lag.clear();
    }

    fn to_point(&self) -> LoadPoint {
        // Do not draw a quantile that falls among unanswered arrivals.
        let quantile_at = |histogram: &HistogramSum, q: f64, unanswered| {
            histogram.quantile_with_unanswered(q, unanswered).map(Nanos::as_secs_f64)
        };
        let unanswered = self.unanswered.iter().sum();
        let each = self.by_operation.iter().zip(&self.unanswered);
        LoadPoint {
            quantiles: QUANTILES.map(|(q, _)| quantile_at(&self.all, q, unanswered)),
            max: self.all.max().filter(|_| unanswered == 0).map(Nanos::as_secs_f64),
            by_operation: each
                .map(|(it, unanswered)| OF_OPERATION.map(|q| quantile_at(it, q, *unanswered)))
                .collect(),
            by_step: self.by_step.iter().map(|(it, lost)| quantile_at(it, OF_STEP, *lost)).collect(),
            lag: LAG.map(|q| quantile_at(&self.lag, q, 0)),
            ..self.point.clone()
        }
    }
}

struct SeriesBuilder<'a> {
    points: &'a [&'a LoadPoint],
    from: usize,
    all: Vec<(ChartKind, ChartSeries)>,
}

impl SeriesBuilder<'_> {
    fn add(
        &mut self,
        kind: ChartKind,
        series_kind: ChartSeriesKind,
        label: Option<&str>,
        value: impl Fn(&LoadPoint) -> Option<f64>,
    ) {
        if self.points.iter().any(|it| value(it).is_some()) {
            let values = self.points[self.from..].iter().map(|it| value(it)).collect();
            self.all.push((
                kind,
                ChartSeries { kind: series_kind, node: None, label: label.map(str::to_owned), values },
            ));
        }
    }
}
