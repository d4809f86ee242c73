//! Logs that real servers wrote: `fixtures/record.py` describes how

use std::fmt::Write;
use std::path::Path;
use traffic::log::{LogFormat, Prefix, detect, read};
use traffic::{Protocol, Session, SkipKind, Statement, Traffic, TransactionEnd};

/// Recordings with their `log_line_prefix`.
const RECORDINGS: [(&str, &str); 9] = [
    ("15-psql", "%m [%p] %q%u@%d "),
    ("15-extended", "%m %c %l %v %x %e %a "),
    ("15-bench", "%t:%r:%u@%d:[%p]:"),
    ("16-psql", "%m [%p] %q%u@%d "),
    ("16-extended", "%m %c %v %e "),
    ("17-psql", "%n [%5p] %q%u %d %h %i %s %Q "),
    ("17-bench", "%m [%p] "),
    ("18-extended", "%m [%p:%b] %v %x app=%a,user=%u "),
    ("18-prepared", "%m [%p] %q%u@%d "),
];

fn bytes(name: &str, ending: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/{name}.{ending}"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn traffic(name: &str, ending: &str, format: &LogFormat) -> Traffic {
    let mut traffic = Traffic::default();
    read(&bytes(name, ending)[..], format, &mut traffic).expect("the log can be read");
    traffic
}

fn csv(name: &str) -> Traffic {
    traffic(name, "csv", &LogFormat::Csv)
}

fn count(traffic: &Traffic, kind: SkipKind) -> u64 {
    traffic.skipped.iter().find(|skipped| skipped.kind == kind).map_or(0, |skipped| skipped.count)
}

/// A statement without what not every prefix contains: fractions of seconds, SQLSTATE, transaction.
fn common(statement: &Statement) -> String {
    let Statement { text, parameters, protocol, duration, error, .. } = statement;
    format!("{text} {parameters:?} {protocol:?} {duration:?} {}", error.is_some())
}

#[test]
fn all_formats_contain_the_same_sessions() {
    for (name, prefix) in RECORDINGS {
        let csv = csv(name);
        assert_eq!(csv.sessions, traffic(name, "json", &LogFormat::Json).sessions, "{name}");
        let format = LogFormat::Stderr(Prefix::new(prefix).expect("the prefix is valid"));
        let stderr = traffic(name, "log", &format);
        assert_eq!((csv.sessions.len(), csv.entries), (stderr.sessions.len(), stderr.entries), "{name}");
        for (expected, found) in csv.sessions.iter().zip(&stderr.sessions) {
            let all = |session: &Session| session.statements.iter().map(common).collect::<Vec<_>>();
            assert_eq!(all(found), all(expected), "{name}");
            if prefix.contains("%e") && prefix.contains("%v") {
                assert_eq!(found.statements, expected.statements, "{name}");
            }
            for (found, expected) in found.statements.iter().zip(&expected.statements) {
                let difference = found.start.0.abs_diff(expected.start.0);
                assert!(difference < if prefix.contains("%t") { 1_000_000_000 } else { 2_000_000 }, "{name}");
            }
        }
        let kinds = [&csv, &stderr].map(|traffic| {
            traffic.skipped.iter().map(|skipped| (skipped.kind, skipped.count)).collect::<Vec<_>>()
        });
        assert_eq!(kinds[0], kinds[1], "{name}");
        assert_eq!(count(&stderr, SkipKind::Malformed), 0, "{name}");
    }
}

#[test]
fn formats_are_detected() {
    for (name, prefix) in RECORDINGS {
        assert!(matches!(detect(&bytes(name, "csv")), Some(LogFormat::Csv)));
        assert!(matches!(detect(&bytes(name, "json")), Some(LogFormat::Json)));
        if let Some(LogFormat::Stderr(found)) = detect(&bytes(name, "log")) {
            let is_same =
                found.text() == prefix || (found.text() == "%m [%p] %q%u@%d " && prefix == "%m [%p] ");
            assert!(is_same, "{name}: {found:?}");
        }
    }
}

/// Checks rows of recording, sessions with statements, statements, executions in the extended protocol, errors,
/// statements with a duration, explicit and all transactions.
#[test]
fn statements_are_counted_once() {
    for (name, expected) in [
        ("15-psql", [1, 23, 0, 3, 20, 2, 16]),
        ("16-psql", [1, 23, 0, 3, 20, 2, 16]),
        ("17-psql", [1, 23, 0, 3, 0, 2, 16]),
        ("15-extended", [1, 13, 13, 2, 11, 1, 10]),
        ("16-extended", [1, 13, 13, 2, 0, 1, 10]),
        ("18-extended", [1, 13, 13, 2, 11, 1, 10]),
        // Three programs count the branches and look for partitions in a session of their own.
        ("15-bench", [7, 22, 6, 0, 22, 3, 10]),
        ("17-bench", [7, 22, 6, 0, 0, 3, 10]),
        ("18-prepared", [2, 12, 10, 0, 12, 2, 4]),
    ] {
        let traffic = csv(name);
        let statements = || traffic.sessions.iter().flat_map(|session| &session.statements);
        let transactions: Vec<_> = traffic.sessions.iter().flat_map(Session::transactions).collect();
        let found = [
            traffic.sessions.iter().filter(|session| !session.statements.is_empty()).count(),
            traffic.statements(),
            statements().filter(|statement| statement.protocol != Protocol::Simple).count(),
            statements().filter(|statement| statement.error.is_some()).count(),
            statements().filter(|statement| statement.duration.is_some()).count(),
            transactions.iter().filter(|transaction| transaction.explicit).count(),
            transactions.len(),
        ];
        assert_eq!(found, expected, "{name}");
        let statements = transactions.iter().map(|transaction| transaction.statements.len()).sum::<usize>();
        assert_eq!(statements, traffic.statements(), "{name}");
        let failed =
            transactions.iter().filter(|transaction| transaction.end == TransactionEnd::Failed).count();
        // The third error of the psql recordings is followed by ROLLBACK TO SAVEPOINT.
        assert_eq!(failed, expected[3].min(2), "{name}");
    }
}

#[test]
fn skipped_entries_are_counted() {
    let traffic = csv("15-extended");
    assert_eq!(count(&traffic, SkipKind::Fetch), 2);
    assert_eq!(count(&traffic, SkipKind::DurationAlone), 0);
    let counted: u64 = traffic.skipped.iter().map(|skipped| skipped.count).sum();
    // The other entries are statements, their durations, errors and connections.
    assert!(counted > 20 && counted < traffic.entries, "{counted} of {}", traffic.entries);
    // log_duration reports parse and bind without their text.
    assert_eq!(count(&csv("18-prepared"), SkipKind::DurationAlone), 15);
}

#[test]
fn values_are_read_exactly() {
    let mut out = String::new();
    for name in ["15-extended", "17-psql"] {
        for statement in csv(name).sessions.iter().flat_map(|session| &session.statements) {
            let Statement { text, parameters, protocol, error, transaction, .. } = statement;
            let state = error.and_then(|error| error.sqlstate).map(|state| state.escape_ascii().to_string());
            let protocol = match protocol {
                Protocol::Simple => "simple",
                Protocol::Extended(name) => name.as_deref().unwrap_or("unnamed"),
            };
            let parameters: Vec<_> = parameters.iter().map(|value| value.as_deref().unwrap_or("∅")).collect();
            let transaction = transaction.unwrap_or_default();
            writeln!(out, "{protocol} {transaction} {} {text:?} {parameters:?}", state.unwrap_or_default())
                .expect("writing to a string cannot fail");
        }
    }
    expect_test::expect![[r#"
        unnamed 2  "CREATE TABLE item (id int PRIMARY KEY, name text, price numeric)" []
        unnamed 3  "INSERT INTO item VALUES ($1, $2, $3)" ["10", "∅", "7.25"]
        unnamed 4  "SELECT name FROM item WHERE name = $1 OR id = $2" ["it's, $2 = 'x'", "1"]
        unnamed 5  "SELECT $1::text,\n\t$2::text" ["", "two\nlines"]
        unnamed 6 23505 "INSERT INTO item VALUES ($1, 'again', 0)" ["10"]
        unnamed 7 42703 "SELECT nothing FROM item WHERE id = $1" []
        unnamed 8  "INSERT INTO item VALUES ($1, 'pipeline', 1)" ["20"]
        unnamed 8  "INSERT INTO item VALUES ($1, 'pipeline', 1)" ["21"]
        by_price 10  "SELECT id FROM item WHERE price > $1" ["1"]
        by_price 11  "SELECT id FROM item WHERE price > $1" ["2.5"]
        unnamed 12  "BEGIN" []
        by_price 12  "SELECT id FROM item WHERE price > $1" ["0"]
        unnamed 12  "COMMIT" []
        simple 2  "CREATE TABLE item (id int PRIMARY KEY, name text, price numeric(10,2));" []
        simple 3  "INSERT INTO item VALUES (1, 'it''s', 1.50), (2, E'a\\tb', -2);" []
        simple 4  "SELECT id,\n       name   -- the name\n  FROM item\n WHERE name = 'it''s';" []
        simple 5  "SELECT * FROM item WHERE id IN (1, 2, 3);" []
        simple 6  "SELECT * FROM item WHERE id IN (4);" []
        simple 7  "SELECT 'a;b' AS \"odd;name\", $tag$it's $1$tag$;" []
        simple 8 42601 "SELEC 1;" []
        simple 9 42P01 "SELECT * FROM missing;" []
        simple 10  "BEGIN;" []
        simple 10  "UPDATE item SET price = price + 1 WHERE id = 1;" []
        simple 10  "SAVEPOINT a;" []
        simple 10 23505 "INSERT INTO item VALUES (1, 'twice', 0);" []
        simple 10  "ROLLBACK TO SAVEPOINT a;" []
        simple 10  "COMMIT;" []
        simple 11  "START TRANSACTION ISOLATION LEVEL REPEATABLE READ;" []
        simple 11  "SELECT count(*) FROM item;" []
        simple 11  "ROLLBACK;" []
        simple 12  "SELECT 1 AS first; SELECT 2 AS second;" []
        simple 13  "COPY item FROM STDIN;" []
        simple 14  "COPY item TO STDOUT;" []
        simple 15  "PREPARE by_id (int) AS SELECT name FROM item WHERE id = $1;" []
        simple 16  "EXECUTE by_id(3);" []
        simple 17  "SELECT 'Привет', 'line 1\nline 2';" []
    "#]]
    .assert_eq(&out);
}
