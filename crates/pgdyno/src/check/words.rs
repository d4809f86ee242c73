//! What do operations, feeds and a service say in words?

use super::span;
use model::Nanos;
use model::plan::{
    CaptureFrom, Deed, Event, Fault, Feed, FeedForm, FeedOrder, FeedSource, Find, Level, Max, Operation,
    Part, Scale, Service, Setup, Step, When, Whom, Work,
};
use std::path::Path;

/// `by_author, 10/s: GET /books?author=${author}, of books`; nothing of a setup whose operations are scripts and no more.
pub fn mix(setup: &Setup) -> Vec<String> {
    let plain = |it: &Operation| {
        matches!(it.work, Work::Script { .. })
            && it.feed.is_none()
            && it.rate.is_none()
            && it.schedule.is_none()
    };
    if setup.operations.iter().all(plain) {
        return Vec::new();
    }
    let line = |it: &Operation| {
        let share = match (&it.schedule, it.rate) {
            (Some(schedule), _) => schedule.clone(),
            (None, Some(rate)) => format!("{rate}/s"),
            (None, None) => format!("×{}", it.weight),
        };
        let of = it.feed.as_ref().filter(|_| it.work != Work::Ammo);
        let feed = of.map_or(String::new(), |it| format!(", of {it}"));
        format!("{}, {share}: {}{feed}", it.name, work(&it.work, it.feed.as_deref()))
    };
    setup.operations.iter().map(line).collect()
}

fn work(it: &Work, feed: Option<&str>) -> String {
    match it {
        Work::Script { origin: Some(origin), .. } => format!("script {}", origin.display()),
        Work::Script { origin: None, text } => {
            let line = text.lines().find(|it| !it.trim_start().starts_with('\\')).unwrap_or_default().trim();
            let short: String = line.chars().take(60).collect();
            if short.len() < line.len() { format!("{short}…") } else { short }
        }
        Work::Http(steps) => steps.iter().map(step).collect::<Vec<_>>().join(", then "),
        Work::Ammo => format!("requests of {}", feed.unwrap_or_default()),
    }
}

/// `POST /login → token by /token`.
fn step(it: &Step) -> String {
    let capture = |(name, from): &(String, CaptureFrom)| match from {
        CaptureFrom::Json(at) => format!("{name} by {at}"),
        CaptureFrom::Header(at) => format!("{name} by the header {at}"),
        CaptureFrom::Regex(at) => format!("{name} by {at}"),
    };
    let captures: Vec<String> = it.captures.iter().map(capture).collect();
    let gives = if captures.is_empty() { String::new() } else { format!(" → {}", captures.join(", ")) };
    let follows = match it.redirects {
        0 => String::new(),
        1 => ", 1 redirect".to_owned(),
        most => format!(", {most} redirects"),
    };
    let unpacks = if it.unpack { ", unpacked" } else { "" };
    format!("{} {}{follows}{unpacks}{gives}", it.method, it.target)
}

/// `books: books.csv.gz (CSV), zipfian(1.2), of book.bookv2.author`.
pub fn feed(it: &Feed) -> String {
    let source = match &it.source {
        FeedSource::File { path, form } => {
            let form = match form {
                FeedForm::Csv => "CSV",
                FeedForm::Tsv => "TSV",
                FeedForm::JsonLines => "JSON lines",
                FeedForm::Uri => "requests: uri",
                FeedForm::UriPost => "requests: uripost",
                FeedForm::Raw => "requests: raw",
                FeedForm::Access => "requests: access log",
            };
            format!("{} ({form})", path.display())
        }
        FeedSource::Query(_) => "a query".to_owned(),
        FeedSource::Rows(rows) => format!("{} row{}", rows.len(), super::plural(rows.len())),
    };
    let order = match it.order {
        FeedOrder::Sequential => "sequential".to_owned(),
        FeedOrder::Shuffled => "shuffled".to_owned(),
        FeedOrder::Random => "random".to_owned(),
        FeedOrder::Zipfian { s } => format!("zipfian({s})"),
        FeedOrder::Once => "each once".to_owned(),
    };
    let of = it.of.as_ref().map_or(String::new(), |it| format!(", of {it}"));
    format!("{}: {source}, {order}{of}", it.name)
}

/// What it is, and facts about it.
pub fn service(it: &Service, name: &str) -> (String, Vec<String>) {
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

/// What is looked for, in lines; none where the load says it all.
pub fn find(it: &Find) -> Vec<String> {
    let of_max = |it: &Max| {
        let what = match it.scale {
            Scale::Rate => "the highest rate",
            Scale::Clients => "the most clients",
        };
        let from = it.from.map_or(String::new(), |it| format!(" from {it}"));
        let most = it.most.map_or(String::new(), |it| format!(" up to {it}"));
        let (window, hold) = (seconds(it.window), seconds(it.hold));
        let prove = if it.prove { "; its cause is proved" } else { "" };
        let within = it.precision * 100.0;
        format!(
            "{what} that meets the objectives, within {within} %,{from}{most} by trials of {window}, held for {hold}{prove}"
        )
    };
    let of_level = |it: &Level| match it {
        Level::Given { level, .. } => level.to_string(),
        Level::Share { share, .. } => format!("{} % of it", share * 100.0),
    };
    let then = match it {
        Find::Confirm(it) => Some(format!(
            "{} reached within {} and held for {}",
            of_level(&it.level),
            seconds(it.ramp),
            seconds(it.hold)
        )),
        Find::Soak(it) => Some(format!("{} held for {}", of_level(&it.level), seconds(it.lasting))),
        Find::Sweep(_) => Some("which point of the matrix is enough".to_owned()),
        Find::Failover => Some("whether every acknowledged write outlives the faults".to_owned()),
        Find::Once | Find::Max(_) => None,
    };
    it.max().map(of_max).into_iter().chain(then).collect()
}

/// `at 20s: kill primary`, as the file has it.
pub fn fault(it: &Fault) -> String {
    let time = |it: Nanos| span(it.as_secs_f64());
    let when = match it.when {
        When::At(at) => format!("at {}", time(at)),
        When::After(event, later) => {
            let event = match event {
                Event::Promoted => "promoted",
                Event::Rejoined => "rejoined",
            };
            let later = if later == Nanos::ZERO { String::new() } else { format!(" and {}", time(later)) };
            format!("after {event}{later}")
        }
    };
    let whom = |it: &Whom| match it {
        Whom::Primary => "primary".to_owned(),
        Whom::Replica => "replica".to_owned(),
        Whom::Etcd => "etcd".to_owned(),
        Whom::Node(name) => name.clone(),
    };
    let deed = match &it.deed {
        Deed::Kill { whom: it, part } => {
            let part = match part {
                Part::Node => "",
                Part::Postmaster => ", its postmaster alone",
                Part::Patroni => ", its Patroni alone",
            };
            format!("kill {}{part}", whom(it))
        }
        Deed::Pause { whom: it, lasting } => format!("pause {} for {}", whom(it), time(*lasting)),
        Deed::Restart { whom: it } => format!("restart {}", whom(it)),
        Deed::Switchover { to } => {
            format!("switch over to {}", to.as_ref().map_or("any replica".to_owned(), whom))
        }
        Deed::CutOff { whom: it, lasting } => format!("cut off {} for {}", whom(it), time(*lasting)),
        Deed::FillDisk { whom: it, lasting } => {
            format!("fill the disk of {} for {}", whom(it), time(*lasting))
        }
        Deed::Withhold { lasting } => format!("withhold the primary's log for {}", time(*lasting)),
    };
    format!("{when}: {deed}")
}

/// `write: SELECT token FROM payments`; nothing of operations without a ledger.
pub fn ledgers(setup: &Setup) -> Vec<String> {
    let line = |it: &Operation| Some(format!("{}: {}", it.name, it.ledger.as_ref()?.trim()));
    setup.operations.iter().filter_map(line).collect()
}

fn seconds(it: Nanos) -> String {
    span(it.as_secs_f64())
}
