use super::*;
use model::plan::{FeedFormat, FeedOrder, Load, RecordedLog};
use model::summary::QueryMode;
use std::path::PathBuf;

/// Log in a temporary folder, which is removed on drop.
struct TestLog(tempfile::TempDir);

impl TestLog {
    fn new(text: &str) -> TestLog {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(folder.path().join("access.log"), text).expect("there is room");
        TestLog(folder)
    }

    fn source(&self, log_format: &str) -> FeedSource {
        let path: PathBuf = self.0.path().join("access.log");
        FeedSource::File { path, format: FeedFormat::Access, log_format: Some(log_format.to_owned()) }
    }
}

#[test]
fn counts_tags_and_seconds() {
    let mut text = String::new();
    for n in 0..30 {
        text += &format!("{}.5 \"GET /user/{n}\" 0.{:03}\n", 1000 + n / 10, n);
    }
    for n in 0..50 {
        text += &format!("1005.0 \"GET /page-{}\" 1.0\n", (b'a' + n % 25) as char);
        text += &format!("1005.0 \"GET /other/{}\" 1.0\n", ["x"].repeat(usize::from(n) + 1).concat());
    }
    text += "1006.0 \"POST /user\" 0.1\n1006.0 \"-\" 0.1\nx\n";
    let log = TestLog::new(&text);
    let reader = RequestReader::default();
    let found = reader.read(&log.source("$msec \"$request\" $request_time")).expect("the log is valid");
    assert_eq!(found.total.requests, 130);
    assert_eq!(
        found.missing,
        MissingRequests { with_body: 1, without_request: 1, misfits: 1, without_time: 0 }
    );
    // 100 requests of a second begin at 1004.0, because their duration is a second.
    let seconds: Vec<(u64, u64)> = found.seconds.clone();
    assert_eq!(seconds, [(1000, 10), (1001, 10), (1002, 10), (1004, 100)]);
    assert_eq!((found.first, found.last), (Nanos::from_millis(1_000_491), Nanos::from_secs(1004)));
    let tag = |n: usize| (found.tags[n].tag.as_deref(), found.tags[n].requests);
    assert_eq!(tag(0), (Some("GET /user/{number}"), 30));
    let times = found.tags[0].times.expect("30 durations");
    assert_eq!((times.count, times.p50, times.p99), (30, Nanos::from_millis(14), None));
    assert_eq!(found.tags.len(), TAGS_MAX + 1);
    let listed: u64 = found.tags.iter().map(|it| it.requests).sum();
    assert_eq!((found.tags[TAGS_MAX].tag.as_deref(), listed), (None, 130));
}

fn setup(feeds: Vec<Feed>, kinds: &[(&str, OperationKind)], speed: f64, duration: u64) -> Setup {
    let operation = |(feed, kind): &(&str, OperationKind)| Operation {
        feed: Some((*feed).to_owned()),
        kind: kind.clone(),
        ..Operation::script("o", 1, "")
    };
    let mut names: Vec<String> = feeds.iter().map(|it| it.name.clone()).collect();
    names.dedup();
    let log = RecordedLog {
        feeds: names,
        duration: Nanos::from_secs(duration),
        requests: 0,
        requests_per_second_max: 0,
        missing: MissingRequests::default(),
        times: Vec::new(),
    };
    Setup {
        stack: model::plan::Stack {
            nodes: Vec::new(),
            generator: Default::default(),
            replication: None,
            hosts: Vec::new(),
        },
        dataset: None,
        feeds,
        on_start: None,
        operations: kinds.iter().map(operation).collect(),
        load: Load {
            model: LoadModel::Log { log, speed, max_in_flight: 1 },
            duration: None,
            transactions: None,
            traffic: None,
            warmup: Nanos::ZERO,
            threads: 1,
            query_mode: QueryMode::Simple,
            reconnect: false,
            connect_timeout: None,
            first_byte_timeout: None,
            cookies: false,
            timeout: None,
            max_tries: 1,
            new_clients: 0,
            slack: Nanos::ZERO,
        },
        objectives: Vec::new(),
        stop_rules: Vec::new(),
        faults: Vec::new(),
        invariants: Vec::new(),
        hooks: model::plan::Hooks::default(),
    }
}

fn feed(name: &str, source: FeedSource) -> Feed {
    Feed { name: name.to_owned(), source, columns: None, order: FeedOrder::Sequential, lookup_column: None }
}

/// Arrivals as time in milliseconds, script and row.
fn arrivals(setup: &Setup) -> Vec<(u64, u16, u32)> {
    let mut feeds = feeds::Feeds::default();
    let mut no_connection = || Err(CommandError::new("no server".to_owned()));
    let rows: Vec<Rows> = setup
        .feeds
        .iter()
        .map(|feed| {
            feeds.rows(feed, &mut no_connection).map_err(|error| error.message).expect("the log is valid")
        })
        .collect();
    let list = arrival_list(setup, &rows, &row_scripts(setup, &rows)).expect("a recorded load");
    assert!(list.arrivals.iter().all(|it| it.at < list.duration), "the window has all arrivals");
    list.arrivals.iter().map(|it| (it.at.0 / 1_000_000, it.script.0, it.row)).collect()
}

#[test]
fn lists_arrivals_of_several_logs() {
    let format = "$msec $request";
    let (one, two) = (
        TestLog::new("1000.5 GET /a\n1000.0 GET /b/1\n1001.0 GET /b/2\n"),
        TestLog::new("999.0 GET /c\n1000.25 GET /c\n"),
    );
    let feeds = || vec![feed("one", one.source(format)), feed("two", two.source(format))];
    let plain = [("one", OperationKind::Ammo), ("two", OperationKind::Ammo)];
    let expected = [(0, 1, 0), (1000, 0, 1), (1250, 1, 1), (1500, 0, 0), (2000, 0, 2)];
    assert_eq!(arrivals(&setup(feeds(), &plain, 1.0, 3)), expected);
    let expected = [(0, 1, 0), (500, 0, 1), (625, 1, 1), (750, 0, 0), (1000, 0, 2)];
    assert_eq!(arrivals(&setup(feeds(), &plain, 2.0, 3)), expected);
    let tagged = |tag: Option<&str>| OperationKind::TaggedAmmo { tag: tag.map(str::to_owned) };
    let split =
        [("one", tagged(Some("GET /b/{number}"))), ("two", OperationKind::Ammo), ("one", tagged(None))];
    let expected = [(0, 1, 0), (1000, 0, 1), (1250, 1, 1), (1500, 2, 0), (2000, 0, 2)];
    assert_eq!(arrivals(&setup(feeds(), &split, 1.0, 3)), expected);
}

#[test]
fn finds_a_row_of_the_only_tag() {
    let log = TestLog::new("1.0 GET /a\n1.0 GET /b/1\n");
    let feeds = vec![feed("one", log.source("$msec $request"))];
    let only = OperationKind::TaggedAmmo { tag: Some("GET /b/{number}".to_owned()) };
    let setup = setup(feeds, &[("one", only)], 1.0, 1);
    let mut no_connection = || Err(CommandError::new("no server".to_owned()));
    let rows = feeds::Feeds::default().rows(&setup.feeds[0], &mut no_connection);
    let rows = rows.map_err(|error| error.message).expect("the log is valid");
    assert_eq!(row_of_only_tag(&setup, &setup.feeds[0], &rows), Some(1));
}
