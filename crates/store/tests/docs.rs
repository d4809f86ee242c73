//! Tests of the queries and column names in `docs/store.md`

mod invent;

use invent::{RandomRun, TestDirectory, end, header, outcome, trial};
use rusqlite::{Connection, OpenFlags};
use store::{Note, RunStatus};

const DOCUMENT: &str = include_str!("../../../docs/store.md");

fn connection(folder: &TestDirectory) -> Connection {
    let mut random = RandomRun(9);
    let mut writer = store::create(&folder.0, &header("docs")).expect("the disk has room");
    let id = writer.begin_trial(trial(0));
    let ticks: Vec<_> = (0..8).map(|second| random.tick(second)).collect();
    ticks.iter().for_each(|it| writer.tick(id, Box::new(it.clone())));
    writer.events(id, random.events(6));
    writer.note(Note { trial: None, subject: "x".to_owned(), text: "y".to_owned() });
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
    assert_eq!(examples.len(), 6);
    for sql in examples {
        let rows = connection.prepare(sql).and_then(|mut it| {
            let mut rows = it.query([])?;
            let mut count = 0;
            while rows.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        });
        assert!(rows.as_ref().is_ok_and(|it| *it > 0), "{sql}: {rows:?}");
    }
}

#[test]
fn documented_views_match_schema() {
    let folder = TestDirectory::new("views");
    let connection = connection(&folder);
    let rows: Vec<Vec<&str>> = DOCUMENT
        .lines()
        .filter(|it| it.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(|it| it.trim().trim_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), 13);
    for row in rows {
        let (view, documented) = (row[0], row[2]);
        let sql = format!("SELECT * FROM {view} LIMIT 1");
        let there: Vec<String> =
            connection.prepare(&sql).expect(view).column_names().map(str::to_owned).collect();
        let tables = ["run", "node", "note"].contains(&view);
        for name in documented.split(' ') {
            assert!(there.iter().any(|it| it == name), "{view} has no {name}: {there:?}");
        }
        assert!(tables || documented.split(' ').eq(there.iter().map(String::as_str)), "{view}: {there:?}");
    }
}
