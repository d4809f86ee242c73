//! The schedule `recorded`: requests of access logs at their recorded times

use super::SetupBuilder;
use super::feeds::FeedInfo;
use super::mix::Mix;
use crate::diagnostic::quote;
use crate::file::{self, Model};
use crate::{FeedRequests, ScheduleExtent};
use model::Nanos;
use model::message;
use model::plan::{
    FeedFormat, FeedSource, Load, LoadModel, MissingRequests, Operation, OperationKind, RecordedLog,
    RecordedTimes,
};
use std::collections::BTreeMap;

/// True if the load has the schedule `recorded`.
pub(super) fn is_recorded(source: &file::Load) -> bool {
    source.model == Model::Open && source.schedule.as_deref().is_some_and(|it| it.trim() == "recorded")
}

/// Mix of operations whose shares follow from their logs.
pub(super) fn equal_mix(operations: usize) -> Mix {
    Mix { weights: vec![1; operations], ..Mix::default() }
}

impl SetupBuilder<'_> {
    /// Load model for the requests in the operations' logs, with its extent.
    pub(super) fn recorded_model(
        &mut self,
        source: &file::Load,
        operations: &[(String, file::Operation)],
        feeds: &[FeedInfo],
    ) -> (LoadModel, ScheduleExtent) {
        let others = [
            ("clients", source.clients.is_some()),
            ("users", source.users.is_some()),
            ("think", source.think.is_some()),
            ("pacing", source.pacing.is_some()),
            ("max_rate", source.max_rate.is_some()),
            ("coefficient", source.coefficient.is_some()),
            ("arrivals", source.arrivals.is_some()),
            ("duration", source.duration.is_some()),
            ("warmup", source.warmup.is_some()),
            ("traffic", source.traffic.is_some()),
        ];
        for (key, _) in others.iter().filter(|it| it.1) {
            self.report(&format!("load.{key}"), message!("experiment-recorded-key", key = *key));
        }
        let speed = self.speed(source);
        let log = self.recorded_log(operations, feeds);
        self.needs("open", "max_in_flight", source.max_in_flight.is_some());
        let max_in_flight = source.max_in_flight.unwrap_or(1);
        let extent = ScheduleExtent {
            duration: log.duration_at(speed),
            max_rate: log.requests_per_second_max as f64 * speed,
        };
        (LoadModel::Log { log, speed, max_in_flight }, extent)
    }

    fn recorded_log(&mut self, operations: &[(String, file::Operation)], feeds: &[FeedInfo]) -> RecordedLog {
        let mut log = RecordedLog {
            feeds: Vec::new(),
            duration: Nanos::ZERO,
            requests: 0,
            requests_per_second_max: 0,
            missing: MissingRequests::default(),
            times: Vec::new(),
        };
        let (mut seconds, mut first, mut last) = (BTreeMap::<u64, u64>::new(), Nanos::MAX, Nanos::ZERO);
        for (name, operation) in operations {
            let path = format!("operations.{name}");
            let keys = [
                ("weight", operation.weight.is_some()),
                ("rate", operation.rate.is_some()),
                ("schedule", operation.schedule.is_some()),
            ];
            for (key, _) in keys.iter().filter(|it| it.1) {
                self.report(&format!("{path}.{key}"), message!("experiment-recorded-key", key = *key));
            }
            let Some(feed) = &operation.ammo else {
                self.report(&path, message!("experiment-recorded-operation", operation = quote(name)));
                continue;
            };
            // An unknown feed is reported with the operation.
            let Some(feed) = feeds.iter().find(|it| it.name == *feed) else { continue };
            if log.feeds.contains(&feed.name) {
                self.report(
                    &format!("{path}.ammo"),
                    message!("experiment-recorded-twice", feed = quote(&feed.name)),
                );
                continue;
            }
            log.feeds.push(feed.name.clone());
            let Some(requests) = self.timed_requests(&path, feed) else { continue };
            let timed: u64 = requests.seconds.iter().map(|it| it.1).sum();
            log.requests += timed;
            log.missing.with_body += requests.missing.with_body;
            log.missing.without_request += requests.missing.without_request;
            log.missing.misfits += requests.missing.misfits;
            log.missing.without_time += requests.total.requests - timed;
            for (second, count) in requests.seconds {
                *seconds.entry(second).or_default() += count;
            }
            first = first.min(requests.first);
            last = last.max(requests.last);
        }
        log.requests_per_second_max = seconds.into_values().max().unwrap_or(0);
        if log.requests > 0 {
            // The last request is within the duration.
            log.duration = Nanos::from_secs((last - first).0 / 1_000_000_000 + 1);
        }
        log
    }

    /// Requests of a feed whose log has times; `None` after an error.
    fn timed_requests(&mut self, path: &str, feed: &FeedInfo) -> Option<FeedRequests> {
        // An unreadable source is already reported.
        let source = feed.source.as_ref()?;
        if !matches!(source, FeedSource::File { format: FeedFormat::Access, .. }) {
            let message = message!("experiment-recorded-feed", feed = quote(&feed.name));
            self.report(&format!("{path}.ammo"), message);
            return None;
        }
        match (self.request.requests)(source) {
            Ok(requests) if requests.seconds.is_empty() => {
                let message = message!("experiment-recorded-no-times", feed = quote(&feed.name));
                self.report("load.schedule", message);
                None
            }
            Ok(requests) => Some(requests),
            Err(reason) => {
                let feed_name = quote(&feed.name);
                let message = message!("experiment-feed-requests", feed = feed_name, reason);
                self.report(&format!("feeds.{}.file", feed.name), message);
                None
            }
        }
    }

    /// Adds the recorded response times of the operations to a load of recorded requests.
    pub(super) fn set_recorded_times(&self, load: &mut Load, operations: &[Operation], feeds: &[FeedInfo]) {
        let LoadModel::Log { log, .. } = &mut load.model else { return };
        for (number, operation) in (0..).zip(operations) {
            let feed = feeds.iter().find(|it| Some(&it.name) == operation.feed.as_ref());
            let source = feed.and_then(|it| it.source.as_ref());
            let Some(Ok(requests)) = source.map(|it| (self.request.requests)(it)) else { continue };
            let times = match &operation.kind {
                OperationKind::TaggedAmmo { tag } => {
                    requests.tags.iter().find(|it| it.tag == *tag).and_then(|it| it.times)
                }
                _ => requests.total.times,
            };
            log.times.extend(times.map(|it| RecordedTimes { operation: number, ..it }));
        }
    }
}
