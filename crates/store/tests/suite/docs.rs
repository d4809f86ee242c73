//! Tests of the queries and column names in `docs/store.md`

use crate::invent::{RandomRun, TestDirectory, end, header, outcome, trial};
use model::fact::Fact;
use model::note::Note;
use model::plan::LoadScale;
use model::search::{SearchStep, StepPurpose};
use rusqlite::{Connection, OpenFlags};
use store::RunStatus;

const DOCUMENT: &str = include_str!("../../../../docs/store.md");

fn connection(folder: &TestDirectory) -> Connection {
    let mut random = RandomRun::new(9);
    let mut writer = store::create(&folder.0, &header("docs")).expect("the disk has room");
    let id = writer.begin_trial(trial(0));
    let ticks: Vec<_> = (0..8).map(|second| random.tick(second)).collect();
    ticks.iter().for_each(|it| writer.tick(id, Box::new(it.clone())));
    writer.events(id, random.events(6));
    let step = SearchStep {
        scale: LoadScale::Rate,
        level: 15.0,
        purpose: StepPurpose::Ramp,
        window: model::Nanos::from_secs(3),
        perturbation: None,
        round: 0,
    };
    writer.fact(Some(id), Fact::SearchStep(step));
    writer.fact(None, Fact::Note(Note { subject: "x".into(), message: "y".into() }));
    writer.end_trial(id, end(RunStatus::Complete, Some(random.measurement(&ticks))));
    assert_eq!(writer.error(), None);
    let path = writer.finish(outcome(RunStatus::Complete)).expect("the disk has room");
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("any SQLite client opens the file")
}

#[test]
fn documented_queries_return_rows() {
    let folder = TestDirectory::new("docs");
    let connection = connection(&folder);
    let examples: Vec<&str> = DOCUMENT
        .split("```sql\n")
        .skip(1)
        .map(|it| it.split("```").next().expect("the code block ends"))
        .collect();
    assert_eq!(examples.len(), 8);
    for sql in examples {
        let rows = connection.prepare(sql).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            let mut count = 0;
            while rows.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        });
        assert!(rows.as_ref().is_ok_and(|it| *it > 0), "{sql}: {rows:?}");
    }
}

/// Cells of the table in the section with this heading, without its header.
fn documented_rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = DOCUMENT.split_once(heading).expect(heading);
    let section = rest.split("\n## ").next().expect("a split has a first part");
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect()
}

#[test]
fn documented_facts_match_kinds() {
    let documented = documented_rows("## Facts");
    let documented: Vec<_> = documented.iter().map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    let kinds: Vec<_> =
        Fact::KINDS.iter().map(|kind| (kind.name.to_owned(), kind.version.to_string())).collect();
    assert_eq!(documented, kinds);
}

#[test]
fn documented_views_match_schema() {
    let folder = TestDirectory::new("views");
    let connection = connection(&folder);
    let rows = documented_rows("## Tables and views");
    assert_eq!(rows.len(), 17);
    for row in rows {
        let (view, documented) = (row[0], row[2]);
        let sql = format!("SELECT * FROM {view} LIMIT 1");
        let columns: Vec<String> =
            connection.prepare(&sql).expect(view).column_names().map(str::to_owned).collect();
        let tables = ["run", "fact", "note"].contains(&view);
        for name in documented.split(' ') {
            assert!(columns.iter().any(|it| it == name), "{view} has no {name}: {columns:?}");
        }
        assert!(
            tables || documented.split(' ').eq(columns.iter().map(String::as_str)),
            "{view}: {columns:?}"
        );
    }
}
