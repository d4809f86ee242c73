//! Descriptions of operations, feeds and services for people

use super::format_duration;
use model::Nanos;
use model::plan::{
    CaptureSource, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, Feed, FeedFormat, FeedOrder,
    FeedSource, Goal, HttpStep, LoadScale, MaxSearch, Operation, OperationKind, Service, Setup, TargetLevel,
    TriggerEvent,
};
use std::path::Path;

/// Mix of a setup, such as `by_author, 10/s: GET /books?author=${author}, of books`. Empty if all operations are plain
/// scripts.
pub fn describe_mix(setup: &Setup) -> Vec<String> {
    let plain = |it: &Operation| {
        matches!(it.kind, OperationKind::Script { .. })
            && it.feed.is_none()
            && it.rate.is_none()
            && it.schedule.is_none()
    };
    if setup.operations.iter().all(plain) {
        return Vec::new();
    }
    let line = |operation: &Operation| {
        let share = match (&operation.schedule, operation.rate) {
            (Some(schedule), _) => schedule.clone(),
            (None, Some(rate)) => format!("{rate}/s"),
            (None, None) => format!("×{}", operation.weight),
        };
        let of = operation.feed.as_ref().filter(|_| operation.kind != OperationKind::Ammo);
        let feed = of.map_or(String::new(), |it| format!(", of {it}"));
        format!(
            "{}, {share}: {}{feed}",
            operation.name,
            describe_operation(&operation.kind, operation.feed.as_deref())
        )
    };
    setup.operations.iter().map(line).collect()
}

fn describe_operation(it: &OperationKind, feed: Option<&str>) -> String {
    match it {
        OperationKind::Script { origin: Some(origin), .. } => format!("script {}", origin.display()),
        OperationKind::Script { origin: None, text } => {
            let line = text.lines().find(|it| !it.trim_start().starts_with('\\')).unwrap_or_default().trim();
            let short: String = line.chars().take(60).collect();
            if short.len() < line.len() { format!("{short}…") } else { short }
        }
        OperationKind::Http(steps) => steps.iter().map(describe_step).collect::<Vec<_>>().join(", then "),
        OperationKind::Ammo => format!("requests of {}", feed.unwrap_or_default()),
    }
}

/// Step of an HTTP operation, such as `POST /login → token by /token`.
fn describe_step(it: &HttpStep) -> String {
    let capture = |(name, from): &(String, CaptureSource)| match from {
        CaptureSource::Json(at) => format!("{name} by {at}"),
        CaptureSource::Header(at) => format!("{name} by the header {at}"),
        CaptureSource::Regex(at) => format!("{name} by {at}"),
    };
    let captures: Vec<String> = it.captures.iter().map(capture).collect();
    let gives = if captures.is_empty() { String::new() } else { format!(" → {}", captures.join(", ")) };
    let follows = match it.redirects {
        0 => String::new(),
        1 => ", 1 redirect".to_owned(),
        most => format!(", {most} redirects"),
    };
    let unpacks = if it.decompress { ", unpacked" } else { "" };
    format!("{} {}{follows}{unpacks}{gives}", it.method, it.target)
}

/// Feed in one line, such as `books: books.csv.gz (CSV), zipfian(1.2), of book.bookv2.author`.
pub fn describe_feed(it: &Feed) -> String {
    let source = match &it.source {
        FeedSource::File { path, format: form } => {
            let form = match form {
                FeedFormat::Csv => "CSV",
                FeedFormat::Tsv => "TSV",
                FeedFormat::JsonLines => "JSON lines",
                FeedFormat::Uri => "requests: uri",
                FeedFormat::UriPost => "requests: uripost",
                FeedFormat::Raw => "requests: raw",
                FeedFormat::Access => "requests: access log",
            };
            format!("{} ({form})", path.display())
        }
        FeedSource::Query(_) => "a query".to_owned(),
        FeedSource::Rows(rows) => format!("{} row{}", rows.len(), super::plural_suffix(rows.len())),
    };
    let order = match it.order {
        FeedOrder::Sequential => "sequential".to_owned(),
        FeedOrder::Shuffled => "shuffled".to_owned(),
        FeedOrder::Random => "random".to_owned(),
        FeedOrder::Zipfian { s } => format!("zipfian({s})"),
        FeedOrder::Once => "each once".to_owned(),
    };
    let of = it.lookup_column.as_ref().map_or(String::new(), |it| format!(", of {it}"));
    format!("{}: {source}, {order}{of}", it.name)
}

/// Name of a service, and facts about it.
pub fn describe_service(it: &Service, name: &str) -> (String, Vec<String>) {
    match &it.url {
        Some(url) => (format!("{url} (attached)"), Vec::new()),
        None => {
            let program = it.command.first().map(Path::new).and_then(Path::file_name);
            let mut facts: Vec<String> = program.map(|it| it.display().to_string()).into_iter().collect();
            facts.extend((it.copies > 1).then(|| format!("{} copies", it.copies)));
            facts.extend(it.env.iter().map(|(name, value)| format!("{name}={value}")));
            (name.to_owned(), facts)
        }
    }
}

/// Goal of a search, in lines. Empty if the load alone describes the trial.
pub fn describe_goal(it: &Goal) -> Vec<String> {
    let of_max = |search: &MaxSearch| {
        let what = match search.scale {
            LoadScale::Rate => "the highest rate",
            LoadScale::Clients => "the most clients",
        };
        let from = search.from.map_or(String::new(), |it| format!(" from {it}"));
        let most = search.limit.map_or(String::new(), |it| format!(" up to {it}"));
        let (window, hold) = (seconds(search.window), seconds(search.hold));
        let prove = if search.prove { "; its cause is proved" } else { "" };
        let within = search.precision * 100.0;
        format!(
            "{what} that meets the objectives, within {within} %,{from}{most} by trials of {window}, held for {hold}{prove}"
        )
    };
    let of_level = |it: &TargetLevel| match it {
        TargetLevel::Absolute { level, .. } => level.to_string(),
        TargetLevel::Share { share, .. } => format!("{} % of it", share * 100.0),
    };
    let then = match it {
        Goal::Confirm(it) => Some(format!(
            "{} reached within {} and held for {}",
            of_level(&it.level),
            seconds(it.ramp),
            seconds(it.hold)
        )),
        Goal::Soak(it) => Some(format!("{} held for {}", of_level(&it.level), seconds(it.duration))),
        Goal::Sweep(_) => Some("which point of the matrix is enough".to_owned()),
        Goal::Failover => Some("whether every acknowledged write outlives the faults".to_owned()),
        Goal::Once | Goal::Max(_) => None,
    };
    it.max_search().map(of_max).into_iter().chain(then).collect()
}

/// Fault in the file's syntax, such as `at 20s: kill primary`.
pub fn describe_fault(it: &Fault) -> String {
    let time = |it: Nanos| format_duration(it.as_secs_f64());
    let when = match it.trigger {
        FaultTrigger::At(at) => format!("at {}", time(at)),
        FaultTrigger::After(event, later) => {
            let event = match event {
                TriggerEvent::Promoted => "promoted",
                TriggerEvent::Rejoined => "rejoined",
            };
            let later = if later == Nanos::ZERO { String::new() } else { format!(" and {}", time(later)) };
            format!("after {event}{later}")
        }
    };
    let whom = |it: &FaultTarget| match it {
        FaultTarget::Primary => "primary".to_owned(),
        FaultTarget::Replica => "replica".to_owned(),
        FaultTarget::Node(name) => name.clone(),
        FaultTarget::Store(product) => product.key.to_owned(),
    };
    let deed = match &it.action {
        FaultAction::Kill { target: it, scope: part } => {
            let part = match part {
                FaultScope::Node => String::new(),
                FaultScope::Postmaster => ", its postmaster alone".to_owned(),
                FaultScope::Manager(product) => format!(", its {} alone", product.name),
            };
            format!("kill {}{part}", whom(it))
        }
        FaultAction::Pause { target: it, duration: lasting } => {
            format!("pause {} for {}", whom(it), time(*lasting))
        }
        FaultAction::Restart { target: it } => format!("restart {}", whom(it)),
        FaultAction::Switchover { target: to } => {
            format!("switch over to {}", to.as_ref().map_or("any replica".to_owned(), whom))
        }
        FaultAction::Isolate { target: it, duration: lasting } => {
            format!("cut off {} for {}", whom(it), time(*lasting))
        }
        FaultAction::FillDisk { target: it, duration: lasting } => {
            format!("fill the disk of {} for {}", whom(it), time(*lasting))
        }
        FaultAction::BlockReplication { duration: lasting } => {
            format!("withhold the primary's log for {}", time(*lasting))
        }
    };
    format!("{when}: {deed}")
}

/// Ledgers of a setup, such as `write: SELECT token FROM payments`. Operations without a ledger are omitted.
pub fn describe_ledgers(setup: &Setup) -> Vec<String> {
    let line = |it: &Operation| Some(format!("{}: {}", it.name, it.ledger.as_ref()?.trim()));
    setup.operations.iter().filter_map(line).collect()
}

fn seconds(it: Nanos) -> String {
    format_duration(it.as_secs_f64())
}
