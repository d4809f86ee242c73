//! Advice on simulated tables, with plans in PostgreSQL's format

use super::*;
use model::advice::IndexObstacle;
use model::explain::{ColumnStats, ExistingIndex, IndexKey, PlanNode, TableStats};

/// A million books. Every author has five books, and every name occurs twice.
fn books(indexes: &[&str]) -> TableStats {
    let column = |name: &str, distinct| ColumnStats {
        name: name.to_owned(),
        distinct: Some(distinct),
        correlation: Some(0.0),
    };
    let index = |columns: &&str| ExistingIndex {
        name: format!("i_{columns}"),
        columns: columns.split(' ').map(str::to_owned).collect(),
        plain: true,
    };
    TableStats {
        schema: "book".to_owned(),
        name: "bookv2".to_owned(),
        rows: 1e6,
        bytes: 120 << 20,
        live_rows: None,
        dead_rows: None,
        changed_rows: None,
        columns: vec![
            column("id", 1e6),
            column("author", 2e5),
            column("name", 5e5),
            column("price", 49.0),
            column("at", 9e5),
        ],
        indexes: indexes.iter().map(index).collect(),
    }
}

fn scan(filter: Option<&str>, passed: f64) -> PlanNode {
    PlanNode {
        kind: "Seq Scan".to_owned(),
        schema: Some("book".to_owned()),
        table: Some("bookv2".to_owned()),
        alias: Some("b".to_owned()),
        filter: filter.map(str::to_owned),
        cost: 20_000.0,
        rows: passed,
        actual_rows: Some(passed),
        loops: Some(1.0),
        ..PlanNode::default()
    }
}

fn over(kind: &str, below: PlanNode) -> PlanNode {
    PlanNode { kind: kind.to_owned(), cost: below.cost, children: vec![below], ..PlanNode::default() }
}

fn planned(text: &str, plan: PlanNode) -> StatementPlan {
    StatementPlan { text: text.to_owned(), captured: 10, query_id: None, plan: Some(plan), error: None }
}

fn counted(text: &str, share: f64) -> StatementStats {
    StatementStats {
        text: text.to_owned(),
        query_ids: Vec::new(),
        calls: 100.0,
        total: 100.0 * share,
        mean: share,
        share,
        rows: 1.0,
        hit: None,
        read: None,
    }
}

const AUTHOR: &str = "(b.author = $0::text)";
const NAME: &str = "(b.name = $0::text)";
const BOTH: &str = "((b.author = $0::text) AND (b.name = $0::text))";

/// Candidates for one statement, with columns as in `CREATE INDEX`.
fn candidate_indexes(table: TableStats, plan: PlanNode) -> String {
    let plans = Plans { statements: vec![planned("x", plan)], tables: vec![table], ..Plans::default() };
    let columns = |candidate: &IndexCandidate| {
        let ddl = candidate.ddl();
        ddl[ddl.find('(').unwrap()..].to_owned()
    };
    candidates(&plans).iter().map(columns).collect::<Vec<_>>().join(" ")
}

#[test]
fn orders_columns_by_equality_then_range() {
    let check =
        |plan: PlanNode, expected: &str| assert_eq!(candidate_indexes(books(&["id"]), plan), expected);
    check(scan(Some(AUTHOR), 5.0), "(author)");
    check(scan(Some(BOTH), 1.0), "(name) (author) (name, author)");
    check(scan(Some("((b.at > $0) AND (b.author = $0))"), 3.0), "(author) (author, at)");
    check(scan(Some("((b.at > $0) AND (b.price < $0))"), 3.0), "(at)");
    check(scan(None, 1e6), "");
    check(scan(Some("(lower(b.name) = $0)"), 2.0), "");
    check(scan(Some("(b.price > $0)"), 5e5), "");
    check(scan(Some("(b.nowhere = $0)"), 1.0), "");
    let sorted = |filter, keys: &[&str]| {
        let mut sort = over("Sort", scan(filter, 1e6));
        sort.sort_key = keys.iter().map(|it| (*it).to_owned()).collect();
        sort
    };
    check(over("Limit", sorted(None, &["b.at DESC", "b.id"])), "(at DESC, id)");
    check(over("Limit", sorted(Some(AUTHOR), &["b.at"])), "(author) (author, at)");
    check(sorted(None, &["b.at"]), "");
    check(over("Limit", sorted(None, &["lower(b.name)"])), "");
    let mut join = over("Hash Join", scan(None, 1e6));
    join.hash_condition = Some("(b.author = a.name)".to_owned());
    check(join, "(author)");
}

#[test]
fn does_not_propose_existing_indexes() {
    let check = |indexes: &[&str], expected: &str| {
        assert_eq!(candidate_indexes(books(indexes), scan(Some(BOTH), 1.0)), expected);
    };
    check(&["author"], "(name) (name, author)");
    check(&["name author"], "(author)");
    check(&["author name", "name at"], "(name, author)");
    let small = TableStats { rows: 500.0, ..books(&[]) };
    assert_eq!(candidate_indexes(small, scan(Some(BOTH), 1.0)), "");
    let mut partial = books(&["author"]);
    partial.indexes[0].plain = false;
    assert_eq!(candidate_indexes(partial, scan(Some(AUTHOR), 1.0)), "(author)");
}

/// Statements of the example document: by name, by author, by both, an update, an insert, and a count of all books.
fn document() -> (Plans, Vec<StatementStats>) {
    let change = |operation: &str, below: Vec<PlanNode>| PlanNode {
        kind: "ModifyTable".to_owned(),
        operation: Some(operation.to_owned()),
        schema: Some("book".to_owned()),
        table: Some("bookv2".to_owned()),
        cost: below.first().map_or(0.01, |it| it.cost),
        children: below,
        ..PlanNode::default()
    };
    let statements = vec![
        planned("select * from book.bookv2 b where b.name=?", scan(Some(NAME), 2.0)),
        planned("select * from book.bookv2 b where b.author=?", scan(Some(AUTHOR), 5.0)),
        planned("select * from book.bookv2 b where b.author=? and b.name=?", scan(Some(BOTH), 1.0)),
        planned("select count(*) from book.bookv2 b", over("Aggregate", scan(None, 1e6))),
        planned(
            "update book.bookv2 b set price=? where b.author=? and b.name=?",
            change("Update", vec![scan(Some(BOTH), 1.0)]),
        ),
        planned("insert into book.bookv2 (author) values (?)", change("Insert", vec![])),
        StatementPlan {
            error: Some("no".into()),
            ..StatementPlan { text: "x".to_owned(), ..StatementPlan::default() }
        },
    ];
    let shares = [0.3, 0.3, 0.1, 0.2, 0.05, 0.01, 0.04];
    let all = statements.iter().zip(shares).map(|(statement, share)| {
        // Counted statements have numbered parameters.
        counted(&statement.text.replacen('?', "$1", 1), share)
    });
    let all = all.collect();
    (Plans { statements, tables: vec![books(&["id"])], ..Plans::default() }, all)
}

/// Adds estimates like those of HypoPG: an index helps statements that compare its first column for equality.
fn add_estimates(plans: &mut Plans) {
    let costs = |candidate: &IndexCandidate| {
        let cost = |planned: &StatementPlan| {
            let filters =
                planned.plan.iter().flat_map(PlanNode::flatten).filter_map(|it| it.filter.as_deref());
            let conditions: String = filters.collect();
            let begun =
                candidate.keys.iter().take_while(|key| conditions.contains(&format!("b.{} =", key.column)));
            match begun.count() {
                0 => None,
                1 => Some(25.0),
                _ => Some(8.5),
            }
        };
        plans.statements.iter().map(cost).collect::<Vec<_>>()
    };
    let all = candidates(plans);
    plans.estimates = all
        .into_iter()
        .map(|it| IndexEstimate { costs: costs(&it), bytes: Some(1 << 20), candidate: it })
        .collect();
}

fn describe(report: &Advice) -> String {
    let index = |advice: &IndexAdvice| {
        let helped: Vec<usize> = advice.cost_changes.iter().map(|it| it.statement).collect();
        format!(
            "{} {helped:?} {:.3} {:?} {:?}\n",
            advice.ddl,
            advice.saved_share.unwrap(),
            advice.maintaining_statements,
            advice.non_hot_updates
        )
    };
    let case = |it: &StatementAdvice| format!("{:?}\n", it.remedy);
    report.indexes.iter().map(index).chain(report.statements.iter().map(case)).collect()
}

#[test]
fn proposes_two_indexes_and_none_for_a_count() {
    let (mut plans, counted) = document();
    add_estimates(&mut plans);
    let advice = advice(vec![0], &plans, &counted);
    assert_eq!(
        describe(&advice),
        "CREATE INDEX ON book.bookv2 (name) [0, 3, 4] 0.449 [4, 6] []\n\
         CREATE INDEX ON book.bookv2 (author) [1, 3, 4] 0.449 [4, 6] []\n\
         Index { index: 0 }\n\
         Index { index: 1 }\n\
         EveryRow\n\
         Index { index: 0 }\n\
         Index { index: 0 }\n\
         NoPlan { reason: Some(Message { id: \"error-text\", arguments: [(\"text\", Text(\"no\"))] }) }\n\
         NotNeeded\n"
    );
    let scan = advice.statements[0].scan.as_ref().unwrap();
    assert_eq!((scan.table.as_str(), scan.rows, scan.rows_kept), ("book.bookv2", 1e6, 2.0));
    assert_eq!(advice.statements[3].mean, Some(0.1));
    let shares: Vec<f64> = advice.statements.iter().filter_map(|it| it.share).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    // The saving covers all statements except the count, the insert and the statement without a plan.
    assert!((advice.saved_share.unwrap() - 0.749).abs() < 0.001, "{:?}", advice.saved_share);
}

#[test]
fn estimates_the_same_indexes_without_the_planner() {
    let (mut plans, counted) = document();
    plans.estimates = estimate_indexes(&plans, &candidates(&plans));
    let advice = advice(vec![0], &plans, &counted);
    let ddl: Vec<&str> = advice.indexes.iter().map(|it| it.ddl.as_str()).collect();
    assert_eq!(ddl, ["CREATE INDEX ON book.bookv2 (name)", "CREATE INDEX ON book.bookv2 (author)"]);
}

/// Statements without counted times are weighted by calls and cost.
#[test]
fn weighs_uncounted_statements_by_calls_and_cost() {
    let (mut plans, _) = document();
    add_estimates(&mut plans);
    let advice = advice(vec![0], &plans, &[]);
    assert_eq!(advice.indexes.len(), 2);
    assert_eq!((advice.indexes[0].saved_share, advice.statements[0].share), (None, None));
}

/// Counters belong to the plan with the same query identifier, whatever the texts are, and to no second plan.
#[test]
fn assigns_counters_by_query_identifier() {
    let by_author =
        || StatementPlan { query_id: Some(7), ..planned("select ? where a = -?", scan(Some(AUTHOR), 5.0)) };
    let by_name = || planned("select ? where a = ?", scan(Some(NAME), 2.0));
    let plans = |statements| {
        let mut plans = Plans { statements, tables: vec![books(&["id"])], ..Plans::default() };
        add_estimates(&mut plans);
        plans
    };
    let with_id = |text, share, id| StatementStats { query_ids: vec![id], ..counted(text, share) };
    let shares = |advice: &Advice| -> Vec<Option<f64>> {
        advice.statements.iter().map(|statement| statement.share).collect()
    };

    let both = plans(vec![by_author(), by_name()]);
    let given = advice(vec![0], &both, &[with_id("select $1 where a = $2", 0.9, 7)]);
    assert_eq!(shares(&given), [Some(0.9), None]);
    assert!(given.saved_share.is_some_and(|it| it < 0.9), "{:?}", given.saved_share);
    let by_text = advice(vec![0], &both, &[with_id("select $1 where a = $2;", 0.9, 8)]);
    assert_eq!(by_text.statements[0].text, "select ? where a = ?");
    assert_eq!(shares(&by_text), [Some(0.9), None]);

    // The saving is unknown, not zero, if no statement was counted.
    let unknown = advice(vec![0], &both, &[with_id("select 1", 0.9, 8)]);
    assert_eq!((unknown.saved_share, unknown.indexes[0].saved_share), (None, None));
}

/// Reading an entire index costs as much as reading the table.
#[test]
fn rejects_indexes_that_are_read_completely() {
    let check = |kind: &str, condition: Option<&str>, passed: f64, limited: bool, expected: &str| {
        let mut plan = scan(None, passed);
        plan.kind = kind.to_owned();
        plan.index_condition = condition.map(str::to_owned);
        let plan = if limited { over("Limit", plan) } else { over("Aggregate", plan) };
        let plans =
            Plans { statements: vec![planned("x", plan)], tables: vec![books(&["id"])], ..Plans::default() };
        assert_eq!(format!("{:?}", advice(vec![0], &plans, &[]).statements[0].remedy), expected);
    };
    check("Index Only Scan", None, 1e6, false, "EveryRow");
    check("Index Only Scan", Some("(b.id > $0)"), 1e6, false, "NotNeeded");
    check("Index Scan", None, 220.0, true, "NotNeeded");
    check("Index Scan", None, 1e6, true, "NotNeeded");
    check("Seq Scan", None, 1e6, false, "EveryRow");
}

#[test]
fn reports_statements_that_no_index_helps() {
    let check = |filter: Option<&str>, passed: f64, cost: Option<f64>, expected: &str| {
        let plan = scan(filter, passed);
        let mut plans =
            Plans { statements: vec![planned("x", plan)], tables: vec![books(&["id"])], ..Plans::default() };
        let all = candidates(&plans);
        plans.estimates = all
            .into_iter()
            .map(|it| IndexEstimate { candidate: it, bytes: None, costs: vec![cost] })
            .collect();
        let advice = advice(vec![0], &plans, &[counted("x", 1.0)]);
        assert_eq!(format!("{:?}", advice.statements[0].remedy), expected, "{filter:?}");
    };
    check(Some(AUTHOR), 5.0, Some(20.0), "Index { index: 0 }");
    check(Some(AUTHOR), 5.0, Some(15_000.0), "NotTaken");
    check(Some(AUTHOR), 5.0, None, "NotTaken");
    check(None, 1e6, None, "EveryRow");
    check(Some("(b.price > $0)"), 5e5, None, "MostRows { share: 0.5 }");
    check(Some("(b.name ~~ $0)"), 5.0, None, "Rewrite { obstacle: Pattern { column: \"name\" } }");
    let unknown = "(NOT (hashed SubPlan 1))";
    check(Some(unknown), 5.0, None, &format!("Condition {{ condition: \"{unknown}\" }}"));
}

/// The advice names the HOT updates that an index would prevent.
#[test]
fn names_updates_that_would_lose_hot() {
    let (plans, _) = document();
    let key = IndexKey { column: "price".to_owned(), role: KeyRole::Equal, distinct: None };
    let index_on = |table: &str| IndexCandidate {
        schema: "book".to_owned(),
        table: table.to_owned(),
        keys: vec![key.clone()],
        requested_by: Vec::new(),
    };
    assert!(
        writes_to_table(&plans.statements[4], &index_on("bookv2"))
            && updates_column(&plans.statements[4], &index_on("bookv2"))
    );
    assert!(
        !writes_to_table(&plans.statements[4], &index_on("other"))
            && !writes_to_table(&plans.statements[0], &index_on("bookv2"))
    );
}

/// Advice for one statement that reads `table`, with an estimate for an index on `author`.
fn advice_on(table: TableStats, plan: PlanNode) -> Advice {
    let mut plans = Plans { statements: vec![planned("x", plan)], tables: vec![table], ..Plans::default() };
    let candidates = candidates(&plans);
    plans.estimates = estimate_indexes(&plans, &candidates);
    advice(vec![0], &plans, &[counted("x", 1.0)])
}

/// A table with 600 live rows and 19,400 dead row versions needs VACUUM, not an index.
#[test]
fn advises_vacuum_for_bloated_tables() {
    let queue = |live, dead| TableStats {
        rows: 20_000.0,
        live_rows: Some(live),
        dead_rows: Some(dead),
        ..books(&[])
    };
    let reads = || PlanNode { removed: Some(599.0), ..scan(Some(AUTHOR), 1.0) };
    let bloated = advice_on(queue(600.0, 19_400.0), reads());
    assert_eq!(bloated.indexes, []);
    let (table, bytes) = ("book.bookv2".to_owned(), 120 << 20);
    let expected = Remedy::Vacuum { table, live_rows: 600.0, dead_rows: 19_400.0, bytes };
    assert_eq!(bloated.statements[0].remedy, expected);
    // The scan reads the live rows, not those that the planner last counted.
    assert_eq!(bloated.statements[0].scan.as_ref().map(|it| (it.rows, it.rows_kept)), Some((600.0, 1.0)));
    let healthy = advice_on(queue(20_000.0, 1_500.0), scan(Some(AUTHOR), 1.0));
    assert_eq!(healthy.statements[0].remedy, Remedy::Index { index: 0 });
}

/// The planner expects 39,817 rows and gets 20, because the statistics are older than most of the rows.
#[test]
fn advises_analyze_for_old_statistics() {
    let changed = |rows| TableStats { live_rows: Some(1e6), changed_rows: Some(rows), ..books(&[]) };
    let misjudged = || PlanNode { rows: 39_817.0, ..scan(Some(AUTHOR), 20.0) };
    let old = advice_on(changed(9e5), misjudged());
    let table = "book.bookv2".to_owned();
    let expected = Remedy::Analyze { table, estimated_rows: 39_817.0, actual_rows: 20.0 };
    assert_eq!((old.statements[0].remedy.clone(), old.indexes.len()), (expected, 0));
    // Fresh statistics, a good estimate, or a plan that was not executed.
    let not_executed = PlanNode { actual_rows: None, loops: None, ..misjudged() };
    for (table, plan) in [
        (changed(100.0), misjudged()),
        (changed(9e5), scan(Some(AUTHOR), 20.0)),
        (changed(9e5), not_executed),
    ] {
        assert_eq!(advice_on(table, plan).statements[0].remedy, Remedy::Index { index: 0 });
    }
    // There are no statistics of expressions.
    let cast = PlanNode { rows: 5000.0, ..scan(Some("((b.author)::numeric = $0)"), 2.0) };
    let node = |kind: &str, child| PlanNode {
        kind: kind.to_owned(),
        loops: Some(1.0),
        sort_key: if kind == "Sort" { vec!["b.price DESC".to_owned()] } else { Vec::new() },
        children: vec![child],
        ..PlanNode::default()
    };
    // An index for the order seems to help, because the planner expects more rows than there are.
    let plan = PlanNode { cost: 20_000.0, ..node("Limit", node("Sort", cast)) };
    let mut plans =
        Plans { statements: vec![planned("x", plan)], tables: vec![changed(9e5)], ..Plans::default() };
    let estimate = |candidate| IndexEstimate { candidate, bytes: None, costs: vec![Some(20.0)] };
    plans.estimates = candidates(&plans).into_iter().map(estimate).collect();
    assert_ne!(plans.estimates, []);
    let all = advice(vec![0], &plans, &[counted("x", 1.0)]);
    let remedy = &all.statements[0].remedy;
    assert!(matches!(remedy, Remedy::Rewrite { obstacle: IndexObstacle::Cast { .. } }), "{remedy:?}");
    assert_eq!(all.indexes, []);
    // A LIMIT ended the scan early, unless the plan sorts all rows first. More rows than expected remain a wrong estimate.
    let under = |kinds: &[&str], child: PlanNode| {
        kinds.iter().rev().fold(child, |child, kind| PlanNode {
            kind: (*kind).to_owned(),
            loops: Some(1.0),
            children: vec![child],
            ..PlanNode::default()
        })
    };
    let is_old = |plan| matches!(advice_on(changed(9e5), plan).statements[0].remedy, Remedy::Analyze { .. });
    assert!(!is_old(under(&["Limit"], misjudged())));
    assert!(!is_old(under(&["Limit", "Nested Loop"], misjudged())));
    assert!(is_old(under(&["Limit", "Sort"], misjudged())));
    assert!(is_old(under(&["Limit"], PlanNode { rows: 20.0, ..scan(Some(AUTHOR), 39_817.0) })));
}
