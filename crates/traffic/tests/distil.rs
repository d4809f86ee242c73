//! Experiments from the logs of real servers

use std::collections::HashSet;
use std::path::Path;
use traffic::Traffic;
use traffic::distil::{Anonymisation, DistilOptions, Distilled, LeftOutReason, distil};
use traffic::log::{LogFormat, read};

fn traffic(names: &[&str]) -> Traffic {
    let mut traffic = Traffic::default();
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/{name}.csv"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        read(&bytes[..], &LogFormat::Csv, &mut traffic).expect("the log can be read");
    }
    traffic
}

fn distilled(name: &str) -> Distilled {
    distil(&traffic(&[name]), &DistilOptions::new("shop"))
}

#[test]
fn a_transaction_of_pgbench_is_one_operation() {
    let distilled = distilled("18-prepared");
    let operation = &distilled.operations[0];
    assert_eq!((operation.name.as_str(), operation.transactions), ("tx-update-pgbench_accounts", 2));
    expect_test::expect![[r#"
        BEGIN;
        UPDATE pgbench_accounts SET abalance = abalance + :abalance WHERE aid = :aid;
        SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
        INSERT INTO pgbench_history(tid, bid, aid, delta, mtime)
          VALUES (:tid, :bid, :aid, :abalance, CURRENT_TIMESTAMP);
        END;
    "#]]
    .assert_eq(&operation.script);
    let feed = operation.feed.as_ref().expect("the transaction has values");
    assert_eq!(feed.columns, ["abalance", "aid", "tid", "bid"]);
    assert_eq!(feed.rows.len(), 2);
}

#[test]
fn the_experiment_file_is_readable() {
    let distilled = distilled("15-extended");
    let files = distilled.files(&["13 statements of 1 session".to_owned()]);
    let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    let feeds =
        ["shop-select-item.csv", "shop-tx-insert-item.csv", "shop-insert-item.csv", "shop-select-item-2.csv"];
    assert_eq!(names[0], "shop.yaml");
    assert!(feeds.iter().all(|feed| names.contains(feed)), "{names:?}");
    expect_test::expect_file!["../fixtures/15-extended.yaml"].assert_eq(&files[0].1);
    let pipeline = files.iter().find(|file| file.0 == "shop-tx-insert-item.csv").expect("listed");
    assert_eq!(pipeline.1, "p,p2\n20,21\n");
}

#[test]
fn all_loads_reconnect_if_the_clients_did() {
    let count = |reconnects| {
        let mut distilled = distilled("15-extended");
        distilled.pace.reconnects = reconnects;
        distilled.files(&[])[0].1.matches("reconnect: true").count()
    };
    // The load of the file, and two alternatives as comments.
    assert_eq!((count(false), count(true)), (0, 3));
}

#[test]
fn transactions_are_covered_or_left_out() {
    for name in ["15-psql", "15-extended", "15-bench", "16-psql", "17-bench", "18-prepared"] {
        let distilled = distilled(name);
        let covered = distilled.operations.iter().map(|it| it.transactions * it.statements.len() as u64);
        let left_out = distilled.left_out.iter().map(|it| it.statements);
        assert_eq!(covered.chain(left_out).sum::<u64>(), distilled.statements, "{name}");
        let covered = distilled.operations.iter().map(|it| it.transactions);
        let left_out = distilled.left_out.iter().map(|it| it.transactions);
        assert_eq!(covered.chain(left_out).sum::<u64>(), distilled.transactions, "{name}");
        let names: HashSet<&str> = distilled.operations.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), distilled.operations.len(), "{name}");
    }
    let reasons: Vec<_> = distilled("15-psql").left_out.iter().map(|it| (it.reason, it.statements)).collect();
    assert_eq!(
        reasons,
        [
            (LeftOutReason::Failed, 8),
            (LeftOutReason::CopyData, 2),
            (LeftOutReason::SqlPrepare, 2),
            (LeftOutReason::Administration, 1)
        ]
    );
}

#[test]
fn limits_are_respected() {
    let traffic = traffic(&["15-bench", "18-prepared"]);
    let options = DistilOptions { max_operations: 1, max_rows: 2, ..DistilOptions::new("shop") };
    let distilled = distil(&traffic, &options);
    assert_eq!(distilled.operations.len(), 1);
    let feed = distilled.operations[0].feed.as_ref().expect("the transaction has values");
    assert_eq!(feed.rows.len(), 2);
    let rare =
        distilled.left_out.iter().find(|it| it.reason == LeftOutReason::Rare).expect("others are left out");
    assert!(rare.statements > 0 && distilled.coverage() < 0.95);
    let again = distil(&traffic, &options);
    assert_eq!(again.files(&[]), distilled.files(&[]));
}

#[test]
fn values_are_anonymised_consistently() {
    let anonymise = Some(Anonymisation { key: b"key".to_vec(), numbers: false });
    let options = DistilOptions { anonymise, ..DistilOptions::new("shop") };
    let distilled = distil(&traffic(&["15-psql", "15-extended"]), &options);
    let all: String = distilled.files(&[]).into_iter().map(|(_, text)| text).collect();
    for secret in ["it''s", "it's", "Привет", "lines", "a\\tb", "a;b"] {
        assert!(!all.contains(secret), "{secret}");
    }
    // Numbers remain, and the statements with E'…' and $tag$…$tag$ are left out.
    assert!(all.contains("7.25"));
    let left_out = distilled.left_out.iter().find(|it| it.reason == LeftOutReason::NotAnonymised);
    assert_eq!(left_out.map(|it| it.statements), Some(2));
}
