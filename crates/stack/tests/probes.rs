//! Do the probes read what servers of each version answered?
//!
//! `fixtures/probe/PROBE/VERSION.txt` is an answer, most of them recorded by `cargo xtask capture`; `VERSION.expected` are
//! the readings, rewritten with `UPDATE_EXPECT=1`.

use stack::ask;
use stack::limits::Source;
use stack::probe::{ALL, Answer, Ask, On, by_name};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/probe");
    let list = |it: &Path| std::fs::read_dir(it).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    let mut found: Vec<PathBuf> = list(&root).iter().flat_map(|it| list(it)).collect();
    found.retain(|it| it.extension().is_some_and(|it| it == "txt"));
    found.sort();
    found
}

fn rows(text: &str) -> ask::Answer {
    let cell = |it: &str| if it == "\\N" { None } else { Some(it.replace("\\n", "\n")) };
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or("").split('\t').map(str::to_owned).collect();
    let rows = lines.map(|it| it.split('\t').map(cell).collect()).collect();
    ask::Answer { columns, rows, tag: String::new() }
}

/// Texts stand behind lines of `=== NAME`.
fn texts(text: &str) -> Vec<(String, String)> {
    let parts = text.split("=== ").skip(1).filter_map(|it| it.split_once('\n'));
    parts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn source(name: &str) -> Source {
    match name {
        "cpu.stat" => Source::CpuStat,
        "cpuacct.usage" => Source::CpuUsage,
        "memory.usage_in_bytes" | "memory.current" => Source::Memory,
        "memory.limit_in_bytes" | "memory.max" => Source::MemoryLimit,
        "memory.events" => Source::MemoryEvents,
        "io.stat" => Source::IoStat,
        other => panic!("{other}: unknown file of a group"),
    }
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let probe = path.parent().and_then(Path::file_name).and_then(|it| by_name(it.to_str()?));
    let probe = probe.unwrap_or_else(|| panic!("{}: there is no such probe", path.display()));
    let answer = match probe.on {
        On::Postgres | On::PgBouncer | On::Odyssey => Answer::Rows(rows(&text)),
        On::HaProxy | On::Service => Answer::Texts(vec![text]),
        On::Host | On::Process | On::Thread => {
            Answer::Texts(texts(&text).into_iter().map(|it| it.1).collect())
        }
        On::Group => Answer::Group(texts(&text).into_iter().map(|it| (source(&it.0), it.1)).collect()),
    };
    let mut readings = Vec::new();
    (probe.read)(&answer, &mut readings).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    let mut shown = String::new();
    for it in &readings {
        assert!(probe.series.iter().any(|known| std::ptr::eq(known, it.series)), "{}", it.series.name);
        writeln!(shown, "{} [{}] {}", it.series.name, it.label, it.value).unwrap();
    }
    let golden = path.with_extension("expected");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&golden, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(shown, expected, "{}", path.display());
}

#[test]
fn recorded_answers() {
    let all = fixtures();
    all.iter().for_each(|it| check(it));
    let known: HashSet<_> = all.iter().filter_map(|it| it.parent()?.file_name()?.to_str()).collect();
    for probe in ALL {
        assert!(known.contains(probe.name), "{} has no recorded answer", probe.name);
    }
}

#[test]
fn what_is_not_an_answer_is_an_error() {
    for probe in ALL {
        // Those whose files may be missing have nothing to say then.
        let quiet = ["host_disk", "host_pressure", "group"].contains(&probe.name);
        let wrong = match probe.on {
            On::Group => Answer::Texts(Vec::new()),
            On::Postgres | On::PgBouncer | On::Odyssey
                if probe.name != "pg_wal" && probe.name != "pg_tables" =>
            {
                Answer::Rows(ask::Answer::default())
            }
            On::Postgres | On::PgBouncer | On::Odyssey => Answer::Texts(Vec::new()),
            _ => Answer::Texts(vec!["nothing".to_owned(); 3]),
        };
        let mut readings = Vec::new();
        let read = (probe.read)(&wrong, &mut readings);
        assert!(read.is_err() || quiet && readings.is_empty(), "{}: {readings:?}", probe.name);
    }
}

#[test]
fn names_are_unique_and_questions_harmless() {
    let (mut probes, mut series) = (HashSet::new(), HashSet::new());
    for probe in ALL {
        assert!(probes.insert(probe.name), "{}", probe.name);
        for it in probe.series {
            assert!(series.insert(it.name), "{} of {}", it.name, probe.name);
            assert!(!it.help.is_empty(), "{}", it.name);
        }
        for version in [0, 140_000, 150_000, 160_000, 170_000, 180_000] {
            match (probe.ask)(version) {
                // Odyssey 1.5.2 dies of SHOW SERVER_PREP_STMTS: only these are ever sent.
                Some(Ask::Console(it)) => {
                    let known = ["POOLS", "STATS", "SERVERS", "CLIENTS", "DATABASES"];
                    assert!(known.iter().any(|known| it == format!("SHOW {known}")), "{it}");
                }
                Some(Ask::Stats(it)) => assert!(["show stat", "show info"].contains(&it), "{it}"),
                Some(Ask::Sql(it)) => {
                    assert!(it.starts_with("select ") || it.starts_with("with "), "{it}");
                    assert!(!it.contains(';'), "{it}");
                }
                Some(Ask::Files(_) | Ask::Entries(_) | Ask::Page | Ask::Group) | None => {}
            }
        }
    }
}
