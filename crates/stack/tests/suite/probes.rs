//! Tests the probes against captured responses of each server version
//!
//! `fixtures/probe/PROBE/VERSION.txt` is a response, most of them recorded by `cargo xtask capture`.
//! `VERSION.expected` are the readings; `UPDATE_EXPECT=1` rewrites them.

use expect_test::expect_file;
use model::Series;
use model::plan::StatsForm;
use model::product;
use stack::client;
use stack::component::{find_probe, probes};
use stack::limits::CounterFile;
use stack::probe::{Probe, ProbeRequest, ProbeResponse, ProbeTarget};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/probe");
    let list = |directory: &Path| {
        std::fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>()
    };
    let mut found: Vec<PathBuf> = list(&root).iter().flat_map(|it| list(it)).collect();
    found.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    found.sort();
    found
}

fn rows(text: &str) -> client::QueryResult {
    let cell = |it: &str| if it == "\\N" { None } else { Some(it.replace("\\n", "\n")) };
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or("").split('\t').map(str::to_owned).collect();
    let rows = lines.map(|it| it.split('\t').map(cell).collect()).collect();
    client::QueryResult { columns, rows, tag: String::new() }
}

/// Splits a file into the texts that follow lines of `=== NAME`.
fn texts(text: &str) -> Vec<(String, String)> {
    let parts = text.split("=== ").skip(1).filter_map(|it| it.split_once('\n'));
    parts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn source(name: &str) -> CounterFile {
    match name {
        "cpu.stat" => CounterFile::CpuStat,
        "cpuacct.usage" => CounterFile::CpuUsage,
        "memory.usage_in_bytes" | "memory.current" => CounterFile::Memory,
        "memory.limit_in_bytes" | "memory.max" => CounterFile::MemoryLimit,
        "memory.events" => CounterFile::MemoryEvents,
        "io.stat" => CounterFile::IoStat,
        other => panic!("{other}: unknown file of a group"),
    }
}

/// True for a probe that sends a statement.
fn answers_rows(probe: &Probe) -> bool {
    [0, 180_000]
        .into_iter()
        .filter_map(probe.request)
        .any(|it| matches!(it, ProbeRequest::Sql(_) | ProbeRequest::Console(_)))
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let probe = path.parent().and_then(Path::file_name).and_then(|it| find_probe(it.to_str()?));
    let probe = probe.unwrap_or_else(|| panic!("{}: there is no such probe", path.display()));
    let answer = match probe.target {
        _ if answers_rows(probe) => ProbeResponse::Rows(rows(&text)),
        ProbeTarget::Exporter | ProbeTarget::Page(StatsForm::Prometheus) => {
            let named = ["shop_requests_total", "go_goroutines", "not_on_the_page"].map(str::to_owned);
            ProbeResponse::parse_metrics(&text, &named)
                .unwrap_or_else(|it| panic!("{}: {it:?}", path.display()))
        }
        ProbeTarget::Postgres | ProbeTarget::Product(_) | ProbeTarget::Page(_) => {
            ProbeResponse::Texts(vec![text])
        }
        ProbeTarget::Host | ProbeTarget::Process | ProbeTarget::Thread | ProbeTarget::Attached => {
            ProbeResponse::Texts(texts(&text).into_iter().map(|it| it.1).collect())
        }
        ProbeTarget::Group => {
            ProbeResponse::Group(texts(&text).into_iter().map(|it| (source(&it.0), it.1)).collect())
        }
    };
    let mut readings = Vec::new();
    (probe.read)(&answer, &mut readings).unwrap_or_else(|it| panic!("{}: {it:?}", path.display()));
    let mut shown = String::new();
    for reading in &readings {
        assert!(
            probe.series.iter().any(|known| std::ptr::eq(known, reading.series)),
            "{}",
            reading.series.name
        );
        writeln!(shown, "{} [{}] {}", reading.series.name, reading.label, reading.value).unwrap();
    }
    expect_file![path.with_extension("expected")].assert_eq(&shown);
}

#[test]
fn parses_recorded_answers() {
    let all = fixtures();
    all.iter().for_each(|it| check(it));
    let known: HashSet<_> = all.iter().filter_map(|it| it.parent()?.file_name()?.to_str()).collect();
    for probe in probes() {
        assert!(known.contains(probe.name), "{} has no recorded answer", probe.name);
    }
}

#[test]
fn rejects_invalid_answers() {
    for probe in probes() {
        // The files of these probes may be missing, and then there are no readings.
        let quiet = ["host_disk", "host_pressure", "group"].contains(&probe.name);
        let wrong = match probe.target {
            ProbeTarget::Group => ProbeResponse::Texts(Vec::new()),
            _ if ["pg_wal", "pg_tables"].contains(&probe.name) => ProbeResponse::Texts(Vec::new()),
            _ if answers_rows(probe) => ProbeResponse::Rows(client::QueryResult::default()),
            _ => ProbeResponse::Texts(vec!["nothing".to_owned(); 3]),
        };
        let mut readings = Vec::new();
        let read = (probe.read)(&wrong, &mut readings);
        assert!(read.is_err() || quiet && readings.is_empty(), "{}: {readings:?}", probe.name);
    }
}

#[test]
fn probe_names_are_unique_and_queries_read_only() {
    let mut names = HashSet::new();
    let mut known_series: HashMap<&str, &Series> = HashMap::new();
    for probe in probes() {
        assert!(names.insert(probe.name), "{}", probe.name);
        for series in probe.series {
            // Several products and forms of pages share the normalised series. Other hosts have those of this machine.
            let known = known_series.insert(series.name, series);
            let same = match probe.target {
                ProbeTarget::Product(product) => product.reports(series.name),
                ProbeTarget::Page(_) | ProbeTarget::Exporter => true,
                _ => false,
            };
            assert!(known.is_none_or(|known| same && known == series), "{} of {}", series.name, probe.name);
            assert!(!series.help.is_empty(), "{}", series.name);
        }
        for version in [0, 140_000, 150_000, 160_000, 170_000, 180_000] {
            match (probe.request)(version) {
                // Only these statements are ever sent: SHOW SERVER_PREP_STMTS crashes Odyssey 1.5.2.
                Some(ProbeRequest::Console(command)) => {
                    let known = ["POOLS", "STATS", "SERVERS", "CLIENTS", "DATABASES"];
                    let is_pgpool = probe.target == ProbeTarget::Product(&product::PGPOOL);
                    let is_known = known.iter().any(|known| command == format!("SHOW {known}"));
                    assert!(is_known || is_pgpool && command.starts_with("SHOW POOL_"), "{command}");
                }
                Some(ProbeRequest::Stats(it)) => assert!(["show stat", "show info"].contains(&it), "{it}"),
                Some(ProbeRequest::Sql(sql)) => {
                    assert!(sql.starts_with("select ") || sql.starts_with("with "), "{sql}");
                    assert!(!sql.contains(';'), "{sql}");
                }
                Some(
                    ProbeRequest::Files(_)
                    | ProbeRequest::Entries(_)
                    | ProbeRequest::Page
                    | ProbeRequest::Group
                    | ProbeRequest::CpuLimits,
                )
                | None => {}
            }
        }
    }
}

/// Checks that each product's probes write the series that analysis expects from it, and no other normalised series.
#[test]
fn products_report_the_series_of_their_table_entry() {
    for product in product::ALL {
        let its = probes().filter(|it| it.target == ProbeTarget::Product(product));
        let written: HashSet<&str> = its.flat_map(|it| it.series).map(|it| it.name).collect();
        let normalised: HashSet<&str> = product::ALL.iter().flat_map(|it| it.series).copied().collect();
        let expected: HashSet<&str> = product.series.iter().copied().collect();
        assert_eq!(&written & &normalised, expected, "{product:?}");
    }
}
