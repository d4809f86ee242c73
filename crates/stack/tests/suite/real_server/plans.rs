//! Tests statement capture, plans and index estimates on a real server

use super::server::{TEST_TIMEOUT, installation, keeper};
use model::explain::{IndexCandidate, IndexKey, KeyRole, PlanNode, StatementPlan};
use model::message;
use model::plan::{Content, Dataset};
use stack::component::postgres::{Postgres, Settings};
use stack::dataset::{self, Loader};
use stack::log_parser::LoggedStatement;
use stack::plans::{CountedStatement, NoPlan, Planner, StatementCapture, build_index};
use stack::supervisor::Supervisor;
use std::path::PathBuf;

/// Starts a server with 20,000 books; returns it and its log.
fn books() -> (Supervisor, Postgres, PathBuf) {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let server = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
    let dataset = Dataset::new(42, Content::Books { rows: 20_000 });
    let loader = Loader { target: server.target(), workers: 1, force: false };
    dataset::load(&dataset, &loader, &mut |_| {}).unwrap_or_else(|it| panic!("{it:?}"));
    let log = supervisor.directory().join("log/postgres.log");
    assert!(log.exists(), "{}", log.display());
    (supervisor, server, log)
}

/// Statements of an application: one with an existing name, and one with a quote.
const SENT: [&str; 5] = [
    "select * from book.bookv2 b where name = 'Туман и бескрайний лес'",
    "select * from book.bookv2 b where author = 'O''Hara'",
    "update book.bookv2 set price = 5 where author = 'O''Hara' and name = 'x'",
    "select count(*) from book.bookv2",
    "select * from book.bookv2 where id = 7",
];

fn heard(server: &Postgres, log: &std::path::Path) -> Vec<LoggedStatement> {
    let listening = StatementCapture::start(&server.target(), log).unwrap_or_else(|it| panic!("{it:?}"));
    let mut client = server.target().open(TEST_TIMEOUT).unwrap();
    for sql in SENT {
        client.query(sql).unwrap();
    }
    client.query("select 1; select 2").unwrap();
    client.query("prepare p as select * from book.bookv2 b where b.name = $1").unwrap();
    listening.finish().unwrap_or_else(|it| panic!("{it:?}"))
}

fn plan<'a>(plans: &'a [StatementPlan], text: &str) -> &'a StatementPlan {
    plans.iter().find(|it| it.text.contains(text)).unwrap_or_else(|| panic!("{text} in {plans:?}"))
}

fn candidate(columns: &[&str]) -> IndexCandidate {
    let key = |it: &&str| IndexKey { column: (*it).to_owned(), role: KeyRole::Equal, distinct: None };
    IndexCandidate {
        schema: "book".to_owned(),
        table: "bookv2".to_owned(),
        keys: columns.iter().map(key).collect(),
        requested_by: Vec::new(),
    }
}

#[test]
fn captured_statements_are_planned_and_removed_from_log() {
    let (_supervisor, server, log) = books();
    let before = std::fs::metadata(&log).unwrap().len();
    let heard = heard(&server, &log);
    let texts: Vec<&str> = heard.iter().map(|it| it.text.as_str()).collect();
    assert!(SENT.iter().all(|it| texts.contains(it)), "{texts:?}");
    let left = std::fs::read_to_string(&log).unwrap();
    assert!(!left.contains("O''Hara") && left.len() as u64 >= before, "values stay in the log:\n{left}");
    let mut other = server.target().open(TEST_TIMEOUT).unwrap();
    assert_eq!(other.value("show log_min_duration_statement").unwrap().as_deref(), Some("-1"));

    let mut planner = Planner::open(&server.target(), heard).unwrap();
    let plans = planner.explain_all().unwrap();
    let text = serde_json::to_string(&plans).unwrap();
    assert!(!text.contains("Hara") && !text.contains("Туман"), "{text}");
    let scan = |text: &str| -> &PlanNode {
        let all = plan(&plans, text).plan.as_ref().unwrap().flatten();
        all.into_iter().find(|it| it.table.is_some() && it.operation.is_none()).unwrap()
    };
    let by_name = scan("where name = ?");
    assert_eq!((by_name.kind.as_str(), by_name.filter.as_deref()), ("Seq Scan", Some("(b.name = $0::text)")));
    let (passed, removed) = (by_name.actual_rows.unwrap(), by_name.removed.unwrap());
    assert_eq!(passed + removed, 20_000.0, "it was run, with the name that was sent");
    assert!(passed >= 1.0, "{passed}");
    let update = scan("update book.bookv2");
    assert_eq!((update.kind.as_str(), update.actual_rows), ("Seq Scan", None), "it was not run");
    assert_eq!(
        other.value("select count(*) from book.bookv2 where price = 5").unwrap().as_deref(),
        Some("0")
    );
    assert_eq!(scan("id = ?").index.as_deref(), Some("bookv2_pkey"));
    let two = plan(&plans, "select ?; select ?");
    assert_eq!(two.error, Some(message!("plan-several-statements")));

    let tables = planner.table_statistics(&plans).unwrap();
    assert_eq!(tables.len(), 1, "{tables:?}");
    let books = &tables[0];
    assert_eq!((books.schema.as_str(), books.name.as_str(), books.rows), ("book", "bookv2", 20_000.0));
    let columns: Vec<&str> = books.columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(columns, ["id", "author", "name", "price"]);
    let distinct = |at: usize| books.columns[at].distinct.unwrap();
    assert!(distinct(0) == 20_000.0 && distinct(1) > 3_000.0 && distinct(3) < 60.0, "{books:?}");
    assert_eq!(books.indexes.len(), 1);
    assert_eq!((books.indexes[0].columns.as_slice(), books.indexes[0].plain), (&["id".to_owned()][..], true));
}

/// PostgreSQL gives statements the same identifier if they differ only in constants, signs and comments.
#[test]
fn statements_with_one_query_identifier_are_one() {
    let (_supervisor, server, _) = books();
    let logged =
        |text: &str| LoggedStatement { text: text.to_owned(), values: Vec::new(), millis: 1.0, pid: 1 };
    let texts = [
        "select * from book.bookv2 where id = 5",
        "select * from book.bookv2 where id = -5 ;",
        "select * from book.bookv2 /* page 7 */ where id = 6;",
        "select * from book.bookv2 where id = 5 and true",
    ];
    let mut planner = Planner::open(&server.target(), texts.map(logged).to_vec()).unwrap();
    let plans = planner.explain_all().unwrap();
    let mut captured: Vec<u32> = plans.iter().map(|it| it.captured).collect();
    captured.sort_unstable();
    assert_eq!(captured, [1, 3], "{plans:?}");
    assert!(plans.iter().all(|it| it.query_id.is_some()), "{plans:?}");
    let tried = planner.estimate_indexes(&[candidate(&["name"])], &plans).unwrap();
    assert!(tried.is_err() || tried.unwrap()[0].costs.len() == 2, "one cost per statement");
}

/// A pooler may give the session to another client.
#[test]
fn planner_of_an_attached_server_leaves_no_prepared_statement() {
    let (_supervisor, server, _) = books();
    let mut other = server.target().open(TEST_TIMEOUT).unwrap();
    other.query("alter database postgres set compute_query_id = on").unwrap();
    let counted = |text: &str| CountedStatement { text: text.to_owned(), calls: 1.0, millis: 1.0 };
    let texts = [
        "select * from book.bookv2 where id = $1",
        "select * from book.bookv2 /* page 7 */ where id = $1",
        "select * from nowhere where id = $1",
        "select count(*) from book.bookv2",
    ];
    let mut planner = Planner::open_attached(&server.target(), &texts.map(counted)).unwrap();
    let plans = planner.explain_all().unwrap();
    let planned: Vec<(u32, bool)> = plans.iter().map(|it| (it.captured, it.plan.is_some())).collect();
    assert_eq!(planned, [(2, true), (1, false), (1, true)], "{plans:?}");
    let mut session = planner.close_attached().unwrap();
    let left = session.value("select count(*) from pg_prepared_statements").unwrap();
    assert_eq!(left.as_deref(), Some("0"));
}

/// HypoPG is a separate package: if it is missing, the error must say so.
#[test]
fn estimates_hypothetical_indexes() {
    let (_supervisor, server, log) = books();
    let mut other = server.target().open(TEST_TIMEOUT).unwrap();
    let extension = other.value("select 1 from pg_available_extensions where name = 'hypopg'").unwrap();
    let mut planner = Planner::open(&server.target(), heard(&server, &log)).unwrap();
    let plans = planner.explain_all().unwrap();
    let candidates = [candidate(&["name"]), candidate(&["price"]), candidate(&["nowhere"])];
    let tried = planner.estimate_indexes(&candidates, &plans).unwrap();
    if extension.is_none() {
        assert_eq!(tried.unwrap_err(), NoPlan::NoHypopg);
        return;
    }
    let tried = tried.unwrap();
    let number = |text: &str| plans.iter().position(|it| it.text.contains(text)).unwrap();
    let by_name = number("where name = ?");
    let before = plans[by_name].plan.as_ref().unwrap().cost;
    let after = tried[0].costs[by_name].expect("the planner takes it");
    assert!(after < before / 10.0, "{before} -> {after}");
    assert!(tried[0].bytes.unwrap() > 100_000, "{tried:?}");
    assert_eq!(tried[0].costs[number("count(*)")], None, "no index helps to count all rows");
    assert_eq!(tried[1].costs[by_name], None, "an index on prices does not find names");
    assert_eq!((tried[2].bytes, &tried[2].costs), (None, &vec![None; plans.len()]));
    let built = other.value("select count(*) from pg_indexes where schemaname = 'book'").unwrap();
    assert_eq!(built.as_deref(), Some("1"), "nothing was built");
}

#[test]
fn builds_index() {
    let (_supervisor, server, _) = books();
    let mut connection = server.target().open(TEST_TIMEOUT).unwrap();
    let built = build_index(&mut connection, &candidate(&["author", "name"]).ddl()).unwrap();
    assert!(built.bytes > 500_000 && built.elapsed.0 > 0, "{built:?}");
    let plan =
        connection.query("explain select * from book.bookv2 where author = 'x' and name = 'y'").unwrap();
    assert!(plan.rows[0][0].as_ref().unwrap().contains("bookv2_author_name_idx"), "{plan:?}");
    build_index(&mut connection, "create index on book.nowhere (a)").unwrap_err();
}
