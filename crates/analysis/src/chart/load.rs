//! What did each stretch of the load bring?

use model::chart::{ChartKind, Track, TrackKind};
use model::summary::FailureClass;
use model::{Failures, Gathered, Nanos, Second};

/// Of response time, and what stands for them.
const QUANTILES: [(f64, TrackKind); 4] = [
    (0.5, TrackKind::Quantile(0.5)),
    (0.9, TrackKind::Quantile(0.9)),
    (0.99, TrackKind::Quantile(0.99)),
    (0.999, TrackKind::Quantile(0.999)),
];
const OF_OPERATION: [f64; 2] = [0.5, 0.99];
const LAG: [f64; 3] = [0.5, 0.99, 0.999];

/// In place of the codes that are not counted one by one.
const OTHER: &str = "other";

#[derive(Clone, Debug)]
pub struct Load {
    bin: u32,
    operations: Vec<String>,
    /// Every code that was seen.
    codes: Vec<(FailureClass, String)>,
    /// Those that are complete.
    points: Vec<Point>,
    /// The last one.
    current: Current,
}

/// One point. Where nothing was measured, `seconds` is 0.
#[derive(Clone, Debug, Default)]
struct Point {
    seconds: f64,
    offered: u64,
    /// By operation.
    delivered: Vec<u64>,
    /// In the order of the codes; shorter before one was seen.
    failures: Vec<u64>,
    dropped: u64,
    /// Sum over so many looks.
    in_flight: (u64, u64),
    waited: u64,
    quantiles: [Option<f64>; 4],
    max: Option<f64>,
    by_operation: Vec<[Option<f64>; 2]>,
    lag: [Option<f64>; 3],
}

#[derive(Clone, Debug)]
struct Current {
    /// `None` before the first second.
    number: Option<u64>,
    point: Point,
    all: Gathered,
    /// Empty with one operation.
    by_operation: Vec<Gathered>,
    /// Arrivals without an answer, by operation.
    unanswered: Vec<u64>,
    lag: Gathered,
}

impl Load {
    pub fn new(bin: u32, operations: Vec<String>) -> Load {
        let several = if operations.len() > 1 { operations.len() } else { 0 };
        let current = Current {
            number: None,
            point: Point::default(),
            all: Gathered::new(),
            by_operation: vec![Gathered::new(); several],
            unanswered: vec![0; operations.len()],
            lag: Gathered::new(),
        };
        Load { bin, operations, codes: Vec::new(), points: Vec::new(), current }
    }

    pub fn points(&self) -> usize {
        self.points.len() + usize::from(self.current.number.is_some())
    }

    pub fn push(&mut self, it: &Second) {
        let number = it.second / u64::from(self.bin);
        if self.current.number != Some(number) {
            if self.current.number.is_some() {
                self.points.push(self.current.finished());
            }
            while (self.points.len() as u64) < number {
                self.points.push(Point::default());
            }
            self.current.clear(number);
        }
        let operations = self.operations.len();
        let Current { point, all, by_operation, unanswered, lag, .. } = &mut self.current;
        point.seconds += (it.to - it.from).as_secs_f64();
        point.offered += it.begun;
        point.delivered.resize(operations, 0);
        for (number, of) in it.operations.iter().enumerate() {
            point.offered += of.dropped;
            point.dropped += of.dropped;
            point.delivered[number] += of.ok - of.late;
            all.add(&of.response);
            if let Some(it) = unanswered.get_mut(number) {
                *it += of.unanswered();
            }
            if let Some(one) = by_operation.get_mut(number) {
                one.add(&of.response);
            }
            count(&mut self.codes, point, FailureClass::Failed, &of.failed);
            count(&mut self.codes, point, FailureClass::Unknown, &of.unknown);
        }
        count(&mut self.codes, point, FailureClass::Refused, &it.refused);
        point.in_flight = (point.in_flight.0 + it.in_flight, point.in_flight.1 + 1);
        point.waited += it.backlog_wait.count();
        lag.add(&it.send_lag);
    }

    /// Of the points from `from` on; those that have a value at any point.
    pub fn tracks(&self, from: usize) -> Vec<(ChartKind, Track)> {
        let last = self.current.number.map(|_| self.current.finished());
        let points: Vec<&Point> = self.points.iter().chain(&last).collect();
        let mut tracks = Tracks { points: &points, from, all: Vec::new() };
        let several = self.operations.len() > 1;
        tracks.add(ChartKind::Rate, TrackKind::Offered, None, |it| it.rate(it.offered));
        tracks.add(ChartKind::Rate, TrackKind::Delivered, None, |it| it.rate(it.delivered.iter().sum()));
        for (number, name) in self.operations.iter().enumerate().filter(|_| several) {
            let label = Some(name.as_str());
            tracks.add(ChartKind::Rate, TrackKind::Delivered, label, |it| {
                it.rate(it.delivered.get(number).copied().unwrap_or_default())
            });
            for (place, q) in OF_OPERATION.into_iter().enumerate() {
                let kind = ChartKind::ResponseByOperation;
                tracks.add(kind, TrackKind::Quantile(q), label, |it| it.by_operation.get(number)?[place]);
            }
        }
        for (place, (_, what)) in QUANTILES.into_iter().enumerate() {
            tracks.add(ChartKind::Response, what, None, |it| it.quantiles[place]);
        }
        tracks.add(ChartKind::Response, TrackKind::Max, None, |it| it.max);
        let mut codes: Vec<(usize, &(FailureClass, String))> = self.codes.iter().enumerate().collect();
        codes.sort_by_key(|(_, (class, code))| (*class as u8, code == OTHER, code));
        for (place, (class, code)) in codes {
            let what = match class {
                FailureClass::Failed => TrackKind::Failed,
                FailureClass::Unknown => TrackKind::Unknown,
                FailureClass::Refused => TrackKind::Refused,
            };
            tracks.add(ChartKind::Failures, what, Some(code), |it| {
                it.rate(it.failures.get(place).copied().unwrap_or_default())
            });
        }
        if points.iter().any(|it| it.dropped > 0) {
            tracks.add(ChartKind::Failures, TrackKind::Dropped, None, |it| it.rate(it.dropped));
        }
        tracks.add(ChartKind::InFlight, TrackKind::InFlight, None, |it| {
            let (sum, looks) = it.in_flight;
            (looks > 0).then(|| sum as f64 / looks as f64)
        });
        if points.iter().any(|it| it.waited > 0) {
            tracks.add(ChartKind::InFlight, TrackKind::Waited, None, |it| {
                (it.seconds > 0.0).then_some(it.waited as f64)
            });
        }
        for (place, q) in LAG.into_iter().enumerate() {
            tracks.add(ChartKind::SendLag, TrackKind::SendLag(q), None, |it| it.lag[place]);
        }
        tracks.all
    }
}

fn count(codes: &mut Vec<(FailureClass, String)>, point: &mut Point, class: FailureClass, them: &Failures) {
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

impl Point {
    fn rate(&self, count: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| count as f64 / self.seconds)
    }
}

impl Current {
    fn clear(&mut self, number: u64) {
        self.number = Some(number);
        self.point = Point::default();
        self.all.clear();
        self.by_operation.iter_mut().for_each(Gathered::clear);
        self.unanswered.fill(0);
        self.lag.clear();
    }

    fn finished(&self) -> Point {
        // Where it is an arrival without an answer there is no point.
        let at = |it: &Gathered, q: f64, unanswered| it.quantile_with(q, unanswered).map(Nanos::as_secs_f64);
        let unanswered = self.unanswered.iter().sum();
        let each = self.by_operation.iter().zip(&self.unanswered);
        Point {
            quantiles: QUANTILES.map(|(q, _)| at(&self.all, q, unanswered)),
            max: self.all.max().filter(|_| unanswered == 0).map(Nanos::as_secs_f64),
            by_operation: each.map(|(it, unanswered)| OF_OPERATION.map(|q| at(it, q, *unanswered))).collect(),
            lag: LAG.map(|q| at(&self.lag, q, 0)),
            ..self.point.clone()
        }
    }
}

struct Tracks<'a> {
    points: &'a [&'a Point],
    from: usize,
    all: Vec<(ChartKind, Track)>,
}

impl Tracks<'_> {
    fn add(
        &mut self,
        kind: ChartKind,
        what: TrackKind,
        label: Option<&str>,
        of: impl Fn(&Point) -> Option<f64>,
    ) {
        if self.points.iter().any(|it| of(it).is_some()) {
            let values = self.points[self.from..].iter().map(|it| of(it)).collect();
            self.all.push((kind, Track { what, node: None, label: label.map(str::to_owned), values }));
        }
    }
}
