//! Requests of feeds: their tags, their recorded times, and the arrivals of a load that repeats them

use crate::cli::CommandError;
use crate::feeds;
use experiment::{FeedRequests, RequestGroup};
use feed::{AMMO_COLUMNS, LogFormat, LoggedMoment, SkippedLines, TimedRow};
use model::message::Message;
use model::plan::{
    Feed, FeedSource, LoadModel, MissingRequests, Operation, OperationKind, RecordedTimes, Setup,
};
use model::row_table::Rows;
use model::{ArrivalList, ListedArrival, Nanos, ScriptId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of tags that become operations; the other tags share one.
const TAGS_MAX: usize = 40;
/// Maximum number of different tags that are counted. Further tags are rare.
const COUNTED_TAGS_MAX: usize = 100_000;
/// Minimum number of requests for a p99, so that ten requests are longer.
const P99_MIN: usize = 1000;
/// Minimum number of requests for a median, so that ten requests are longer.
const P50_MIN: usize = 20;

/// Reader of the requests of feeds, which reads each feed only once.
#[derive(Debug, Default)]
pub struct RequestReader {
    known: RefCell<Vec<(FeedSource, Result<FeedRequests, Message>)>>,
}

impl RequestReader {
    pub fn read(&self, source: &FeedSource) -> Result<FeedRequests, Message> {
        if let Some((_, known)) = self.known.borrow().iter().find(|it| it.0 == *source) {
            return known.clone();
        }
        let requests = describe(source).map_err(|it| it.message);
        self.known.borrow_mut().push((source.clone(), requests.clone()));
        requests
    }
}

fn describe(source: &FeedSource) -> Result<FeedRequests, CommandError> {
    let FeedSource::File { path, format, log_format } = source else { return Ok(FeedRequests::default()) };
    let (rows, skipped) = feeds::read_file(path, *format, None, log_format.as_deref())?;
    let times = feed::start_times(&rows, moment(source));
    let mut seconds: Vec<(u64, u64)> = Vec::new();
    for second in times.iter().map(|it| it.start / 1_000_000_000) {
        match seconds.last_mut() {
            Some((last, count)) if *last == second => *count += 1,
            _ => seconds.push((second, 1)),
        }
    }
    let edge = |row: Option<&TimedRow>| row.map_or(Nanos::ZERO, |it| Nanos(it.start));
    let (total, tags) = groups(&rows, &times);
    Ok(FeedRequests {
        seconds,
        first: edge(times.first()),
        last: edge(times.last()),
        missing: missing(&skipped),
        total,
        tags,
    })
}

fn missing(skipped: &SkippedLines) -> MissingRequests {
    let SkippedLines { with_body, without_request, misfits, .. } = *skipped;
    MissingRequests { with_body, without_request, misfits, without_time: 0 }
}

/// Moment that the times of a log describe.
fn moment(source: &FeedSource) -> LoggedMoment {
    let FeedSource::File { log_format: Some(text), .. } = source else { return LoggedMoment::Start };
    LogFormat::parse(text).map_or(LoggedMoment::Start, |it| it.moment)
}

fn tags(rows: &Rows) -> impl Iterator<Item = &[u8]> {
    let column = AMMO_COLUMNS.iter().position(|it| *it == "tag").expect("a column");
    rows.iter().map(move |mut fields| fields.nth(column).unwrap_or_default())
}

/// All requests, and the requests of each tag.
fn groups(rows: &Rows, times: &[TimedRow]) -> (RequestGroup, Vec<RequestGroup>) {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    for tag in tags(rows) {
        let has_room = counts.len() < COUNTED_TAGS_MAX;
        match counts.get_mut(tag) {
            Some(count) => *count += 1,
            None if has_room => drop(counts.insert(tag, 1)),
            None => {}
        }
    }
    let mut most: Vec<(&[u8], u64)> = counts.into_iter().collect();
    most.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    most.truncate(TAGS_MAX);
    let numbers: HashMap<&[u8], usize> = most.iter().map(|it| it.0).zip(0..).collect();
    // The last group has the requests with rare tags.
    let group_of_row: Vec<u8> =
        tags(rows).map(|tag| numbers.get(tag).map_or(most.len(), |it| *it) as u8).collect();
    let mut durations = vec![Vec::new(); most.len() + 1];
    for timed in times.iter().filter(|it| it.duration_us != TimedRow::NO_DURATION) {
        durations[usize::from(group_of_row[timed.row as usize])].push(timed.duration_us);
    }
    let total =
        RequestGroup { tag: None, requests: rows.len(), times: recorded_times(&mut durations.concat()) };
    let known: u64 = most.iter().map(|it| it.1).sum();
    let rest = RequestGroup {
        tag: None,
        requests: rows.len() - known,
        times: durations.last_mut().and_then(|it| recorded_times(it)),
    };
    let group = |((tag, requests), durations): ((&[u8], u64), &mut Vec<u32>)| RequestGroup {
        tag: Some(String::from_utf8_lossy(tag).into_owned()),
        requests,
        times: recorded_times(durations),
    };
    let mut all: Vec<RequestGroup> = most.into_iter().zip(&mut durations).map(group).collect();
    all.extend((rest.requests > 0).then_some(rest));
    (total, all)
}

/// Quantiles of durations in microseconds; `None` for too few durations.
fn recorded_times(durations: &mut [u32]) -> Option<RecordedTimes> {
    let count = durations.len();
    if count < P50_MIN {
        return None;
    }
    durations.sort_unstable();
    let quantile =
        |share: f64| Nanos::from_micros(u64::from(durations[(share * (count - 1) as f64) as usize]));
    Some(RecordedTimes {
        operation: 0,
        count: count as u64,
        p50: quantile(0.5),
        p99: (count >= P99_MIN).then(|| quantile(0.99)),
    })
}

/// Script for each row of the feeds whose tags select an operation; `None` for the other operations.
pub fn row_scripts(setup: &Setup, rows: &[Rows]) -> Vec<Option<Arc<[ScriptId]>>> {
    let mut known: Vec<(&str, Arc<[ScriptId]>)> = Vec::new();
    let mut all = Vec::new();
    for operation in &setup.operations {
        let Some(feed) = operation.feed.as_deref().filter(|_| is_tagged(operation)) else {
            all.push(None);
            continue;
        };
        let scripts = match known.iter().find(|it| it.0 == feed) {
            Some((_, scripts)) => Arc::clone(scripts),
            None => {
                let scripts = scripts_of_tags(setup, feed, rows);
                known.push((feed, Arc::clone(&scripts)));
                scripts
            }
        };
        all.push(Some(scripts));
    }
    all
}

fn is_tagged(operation: &Operation) -> bool {
    matches!(operation.kind, OperationKind::TaggedAmmo { .. })
}

fn scripts_of_tags(setup: &Setup, feed: &str, rows: &[Rows]) -> Arc<[ScriptId]> {
    let group =
        || (0..).zip(&setup.operations).filter(|it| it.1.feed.as_deref() == Some(feed) && is_tagged(it.1));
    let mut numbers: HashMap<&[u8], ScriptId> = HashMap::new();
    let mut rest = ScriptId(group().next().map_or(0, |it| it.0));
    for (number, operation) in group() {
        match &operation.kind {
            OperationKind::TaggedAmmo { tag: Some(tag) } => {
                numbers.insert(tag.as_bytes(), ScriptId(number));
            }
            _ => rest = ScriptId(number),
        }
    }
    let script = |tag: &[u8]| match numbers.get(tag) {
        Some(script) => *script,
        // The operation has the tag with replacement characters.
        None => numbers.get(String::from_utf8_lossy(tag).as_bytes()).copied().unwrap_or(rest),
    };
    tags(rows_of(setup, feed, rows).1).map(script).collect()
}

fn rows_of<'a>(setup: &'a Setup, feed: &str, rows: &'a [Rows]) -> (&'a Feed, &'a Rows) {
    let mut feeds = setup.feeds.iter().zip(rows);
    feeds.find(|it| it.0.name == feed).expect("the plan has the feed")
}

/// Number of the first row with the tag of a setup's only operation; `None` for other setups.
pub fn row_of_only_tag(setup: &Setup, feed: &Feed, rows: &Rows) -> Option<u64> {
    let [Operation { kind: OperationKind::TaggedAmmo { tag: Some(tag) }, feed: Some(name), .. }] =
        setup.operations.as_slice()
    else {
        return None;
    };
    let is_tag = |it: &[u8]| String::from_utf8_lossy(it) == tag.as_str();
    (feed.name == *name).then(|| tags(rows).position(is_tag).map(|it| it as u64)).flatten()
}

/// Arrivals of a load of recorded requests; `None` for other loads.
pub fn arrival_list(
    setup: &Setup,
    rows: &[Rows],
    row_scripts: &[Option<Arc<[ScriptId]>>],
) -> Option<ArrivalList> {
    let LoadModel::Log { log, speed, .. } = &setup.load.model else { return None };
    let duration = log.duration_at(*speed);
    let each: Vec<(u16, Vec<TimedRow>)> = log
        .feeds
        .iter()
        .map(|name| {
            let (feed, rows) = rows_of(setup, name, rows);
            let operation = setup.operations.iter().position(|it| it.feed.as_ref() == Some(name));
            (operation.unwrap_or(0) as u16, feed::start_times(rows, moment(&feed.source)))
        })
        .collect();
    let first = each.iter().filter_map(|it| it.1.first()).map(|it| it.start).min().unwrap_or(0);
    let mut arrivals = Vec::with_capacity(each.iter().map(|it| it.1.len()).sum());
    for (operation, times) in each {
        let scripts = row_scripts.get(usize::from(operation)).and_then(Option::as_ref);
        arrivals.extend(times.iter().map(|timed| ListedArrival {
            at: scaled(timed.start - first, *speed).min(Nanos(duration.0.saturating_sub(1))),
            row: timed.row,
            script: scripts.map_or(ScriptId(operation), |scripts| scripts[timed.row as usize]),
        }));
    }
    // Each feed is sorted already.
    if log.feeds.len() > 1 {
        arrivals.sort_by_key(|it| it.at);
    }
    Some(ArrivalList { duration, arrivals })
}

fn scaled(nanos: u64, speed: f64) -> Nanos {
    if speed == 1.0 { Nanos(nanos) } else { Nanos((nanos as f64 / speed) as u64) }
}

#[cfg(test)]
mod tests;
