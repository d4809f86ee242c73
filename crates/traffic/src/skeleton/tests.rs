use super::*;
use expect_test::{expect, expect_file};

fn count(text: &str, calls: u64, millis: u64) -> StatementCount {
    StatementCount { text: Some(text.to_owned()), calls, time: Nanos(millis * 1_000_000), is_nested: false }
}

fn skeleton(statements: Vec<StatementCount>) -> Skeleton {
    let period = Some(Nanos::from_secs(3600));
    select(&StatementStatistics { statements, period, deallocations: 0 }, 50)
}

/// Describes the parameters of the only operation: number, variable, column and tables.
fn parameters(text: &str) -> String {
    let skeleton = skeleton(vec![count(text, 1, 1)]);
    let [operation] = &skeleton.operations[..] else { panic!("{:?}: {text}", skeleton.left_out) };
    let parameter = |parameter: &Parameter| {
        let comparison = parameter.comparison.as_ref();
        let column = comparison.map_or(String::new(), |it| format!("={}@{}", it.column, it.tables.join("|")));
        format!("{}:{}{column}", parameter.number, parameter.variable)
    };
    operation.parameters.iter().map(parameter).collect::<Vec<_>>().join(" ")
}

#[test]
fn finds_the_columns_of_parameters() {
    for (text, expected) in [
        ("SELECT a FROM item WHERE id = $1 LIMIT $2", "1:id=id@item 2:limit"),
        ("SELECT a FROM shop.item AS i WHERE $1 = i.id", "1:p=id@shop.item"),
        ("SELECT a FROM ONLY \"Item\" i WHERE i.\"Id\" = $1 AND x > $2", "1:id=\"Id\"@\"Item\" 2:x"),
        ("SELECT 1 FROM a JOIN b ON b.id = a.id AND b.kind = $2 WHERE A.x = $1", "2:kind=kind@b 1:x=x@a"),
        ("SELECT 1 FROM a, b c WHERE x = $1 AND c.y = $2", "1:x=x@a|b 2:y=y@b"),
        ("UPDATE t SET a = $1, b = b + $2 WHERE id = $3", "1:a 2:b 3:id=id@t"),
        ("INSERT INTO t(a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = $3", "1:a 2:b 3:b2"),
        ("DELETE FROM t USING u WHERE u.id = $1", "1:id=id@u"),
        ("WITH x AS (SELECT a FROM t WHERE k = $1) SELECT * FROM x WHERE a = $2", "1:k=k@t 2:a=a@t"),
        ("SELECT a FROM generate_series($1, $2) g WHERE a = $3", "1:p 2:p2 3:a"),
        (
            "SELECT a FROM t WHERE a + b = $1 AND id IN ($2, $3) AND c IS DISTINCT FROM $4",
            "1:b 2:p 3:p2 4:p3",
        ),
        ("SELECT a FROM t WHERE c = $1 FOR UPDATE", "1:c=c@t"),
        ("SELECT CASE WHEN a = $1 THEN $2 END FROM t WHERE $1 = b + $3", "1:a 2:p 3:b"),
        ("SELECT now() - interval $1, $1", "1:p"),
        ("SELECT 1", ""),
    ] {
        assert_eq!(parameters(text), expected, "{text}");
    }
}

#[test]
fn leaves_out_what_is_no_operation() {
    use StatementLeftOutReason::*;
    let nested = StatementCount { is_nested: true, ..count("SELECT 1", 1, 1) };
    let hidden = StatementCount { text: None, ..nested.clone() };
    let mut rows = vec![(nested, Some(Nested)), (hidden, Some(Hidden))];
    let texts = [
        ("<insufficient privilege>", Some(Hidden)),
        ("BEGIN", Some(TransactionControl)),
        ("ROLLBACK TO a", Some(TransactionControl)),
        ("SET search_path TO a", Some(Utility)),
        ("SHOW work_mem", Some(Utility)),
        ("COPY t FROM STDIN", Some(Utility)),
        ("PREPARE x AS SELECT 1", Some(Utility)),
        ("VACUUM t", Some(Utility)),
        ("SELECT pg_advisory_lock($1)", Some(Utility)),
        ("SELECT * FROM pg_stat_activity WHERE state = $1", Some(Monitoring)),
        ("SELECT 1 FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = $1", Some(Monitoring)),
        ("SELECT pg_database_size($1)", Some(Monitoring)),
        ("SELECT * FROM pgdyno.dataset", Some(Pgdyno)),
        ("SELECT 'a", Some(Unreadable)),
        ("SELECT $1; SELECT $2", Some(Inexpressible)),
        ("SELECT \"a:b\"", Some(Inexpressible)),
        ("SELECT i.a FROM item i, pg_class", None),
        ("(SELECT $1) UNION SELECT $2;", None),
        ("CALL post($1)", None),
        ("SELECT pg_sleep($1)", None),
    ];
    rows.extend(texts.map(|(text, expected)| (count(text, 1, 1), expected)));
    for (statement, expected) in rows {
        let skeleton = skeleton(vec![statement.clone()]);
        let reason = skeleton.left_out.first().map(|it| it.reason);
        assert_eq!(reason, expected, "{:?}", statement.text);
        assert_eq!(skeleton.operations.is_empty(), expected.is_some(), "{:?}", statement.text);
    }
}

/// A statement is kept for its calls or for its time. The rows of several users are one statement.
#[test]
fn selects_frequent_and_expensive_statements() {
    let mut statements = vec![
        count("SELECT a FROM frequent WHERE id = $1", 60_000, 100),
        count("SELECT  a FROM frequent WHERE id = $1;", 40_000, 100),
        count("SELECT count(*) FROM expensive", 3, 9_000),
        count("SELECT a FROM rare", 2, 10),
        count("BEGIN", 25_000, 1),
    ];
    let made = skeleton(statements.clone());
    let names: Vec<_> = made.operations.iter().map(|it| (it.name.as_str(), it.calls)).collect();
    assert_eq!(names, [("select-frequent", 100_000), ("select-expensive", 3)]);
    assert_eq!(made.coverage(), 100_003.0 / 125_005.0);
    let left_out: Vec<_> = made.left_out.iter().map(|it| (it.reason, it.statements, it.calls)).collect();
    let expected =
        [(StatementLeftOutReason::TransactionControl, 1, 25_000), (StatementLeftOutReason::Rare, 1, 2)];
    assert_eq!(left_out, expected);
    statements.push(count("SELECT a FROM unused", 0, 0));
    let one = select(&StatementStatistics { statements, ..StatementStatistics::default() }, 1);
    assert_eq!((one.operations.len(), one.left_out[1].statements), (1, 2), "the maximum is 1");
}

#[test]
fn writes_a_readable_skeleton() {
    let mut made = skeleton(vec![
        count("SELECT a FROM item i WHERE i.id = $1 AND i.shop = $2 AND i.id = $3 LIMIT $4", 900, 90),
        count("UPDATE item SET name = $1, changed = now() - interval $2 WHERE id = $3", 90, 900),
        count("INSERT INTO log(text) VALUES ($1)", 80, 9),
        count("SELECT a FROM item WHERE id IN ($1 /*, ... */)", 9, 900),
        count("SELECT 1", 85, 1),
    ]);
    let kinds = [
        &["integer", "smallint", "integer", "bigint"][..],
        &["text", "interval", "integer"],
        &[],
        &["text"],
        &["integer"],
    ];
    for (operation, kinds) in made.operations.iter_mut().zip(kinds) {
        for (parameter, kind) in operation.parameters.iter_mut().zip(kinds) {
            parameter.kind = Some((*kind).to_owned());
        }
    }
    assert_eq!(made.fill_ins(), 6);
    expect_file!["../../fixtures/skeleton.yaml"].assert_eq(&made.experiment("shop", &["note".to_owned()]));
}

#[test]
fn writes_the_load_without_a_period() {
    let statistics = StatementStatistics { statements: vec![count("SELECT 1", 5, 1)], ..Default::default() };
    let made = select(&statistics, 50);
    assert_eq!(made.fill_ins(), 1, "the rate");
    let yaml = made.experiment("shop", &[]);
    let load = &yaml[yaml.find("# The statistics").expect("it has a comment")..];
    expect![[r#"
        # The statistics contain 5 calls of these statements; since when is not known. Write the number of calls
        # per second.
        load:
          model: open
          schedule: const(FILL_IN, 60s)
          arrivals: poisson
          max_in_flight: 50
          query_mode: extended
    "#]]
    .assert_eq(load);
}

/// Text, calls, nanoseconds, and whether the statement is nested.
type Row = (Option<&'static str>, u64, u64, bool);

#[test]
fn reads_exports() {
    let check = |text: &str, expected: Result<&[Row], ExportError>| {
        let found = read_export(text.as_bytes()).map(|it| it.statements);
        let statement = |row: &Row| StatementCount {
            text: row.0.map(str::to_owned),
            calls: row.1,
            time: Nanos(row.2),
            is_nested: row.3,
        };
        let expected = expected.map(|it| it.iter().map(statement).collect::<Vec<_>>());
        assert_eq!(found, expected, "{text}");
    };
    let number = |column, text: &str| Err(ExportError::Number { line: 2, column, text: text.to_owned() });
    check(
        "userid,toplevel,query,calls,total_exec_time\n10,t,\"SELECT \"\"a\"\"\n, $1\",7,1.5\n10,f,x,1,0\n10,t,,1,0\n",
        Ok(&[
            (Some("SELECT \"a\"\n, $1"), 7, 1_500_000, false),
            (Some("x"), 1, 0, true),
            (None, 1, 0, false),
        ]),
    );
    check("query,calls,total_time\nx,2,3\n", Ok(&[(Some("x"), 2, 3_000_000, false)]));
    check("query,calls\nx,2\n", Err(ExportError::MissingColumn("total_exec_time")));
    check("calls,total_time\n", Err(ExportError::MissingColumn("query")));
    check("", Err(ExportError::MissingColumn("query")));
    check("query,calls,total_time\nx,many,3\n", number("calls", "many"));
    check("query,calls,total_time\nx,1,-3\n", number("total_exec_time", "-3"));
    assert!(matches!(read_export(b"query,calls,total_time\nx,1\n"), Err(ExportError::Csv(_))));
}
