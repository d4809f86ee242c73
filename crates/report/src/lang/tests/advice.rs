//! Tests of index advice, word by word

use super::*;
use model::advice::{CostChange, IndexAdvice, IndexBuild, IndexObstacle, Remedy, Scan, StatementChange};
use model::explain::{IndexCandidate, IndexKey, KeyRole};

/// Compares both languages. The expected texts contain plain blanks instead of no-break spaces.
#[track_caller]
fn check(write: impl Fn(&Lang) -> String, english: &str, russian: &str) {
    for (lang, expected) in crate::lang::all().iter().zip([english, russian]) {
        assert_eq!(write(lang).replace(['\u{202f}', '\u{a0}'], " "), expected);
    }
}

fn index(
    keys: &[(&str, KeyRole, Option<f64>)],
    helped: usize,
    kept_by: usize,
    not_hot: usize,
) -> IndexAdvice {
    let key = |&(column, role, distinct): &(&str, KeyRole, Option<f64>)| IndexKey {
        column: column.to_owned(),
        role,
        distinct,
    };
    let candidate = IndexCandidate {
        schema: "book".to_owned(),
        table: "bookv2".to_owned(),
        keys: keys.iter().map(key).collect(),
        requested_by: Vec::new(),
    };
    let help = |statement| CostChange { statement, before: 20_834.0, after: 8.06 };
    IndexAdvice {
        ddl: candidate.ddl(),
        candidate,
        bytes: Some(39 << 20),
        rows: 1e6,
        cost_changes: (0..helped).map(help).collect(),
        saved_share: Some(0.4567),
        maintaining_statements: (0..kept_by).collect(),
        non_hot_updates: (0..not_hot).collect(),
    }
}

#[test]
fn states_the_purpose_of_an_index() {
    let check = |keys: &[(&str, KeyRole, Option<f64>)], english: &str, russian: &str| {
        check(|lang| lang.why_index(&index(keys, 1, 0, 0)), english, russian);
    };
    check(
        &[("author", KeyRole::Equal, Some(200_001.0))],
        "Supports equality on author (200001 distinct values); the table has 1000000 rows.",
        "Ускоряет поиск по значению author (200 001 уникальное значение); в таблице 1 000 000 строк.",
    );
    check(
        &[("a", KeyRole::Equal, Some(22.0)), ("b", KeyRole::Equal, None), ("at", KeyRole::Range, Some(5.0))],
        "Supports equality on a (22 distinct values) and b, a range on at (5 distinct values); the table has 1000000 \
         rows.",
        "Ускоряет поиск по значению a (22 уникальных значения) и b, по диапазону at (5 уникальных значений); в таблице \
         1 000 000 строк.",
    );
    check(
        &[("at", KeyRole::Descending, None), ("id", KeyRole::Ascending, None)],
        "Supports the order by at descending, id; the table has 1000000 rows.",
        "Ускоряет поиск в порядке at по убыванию, id; в таблице 1 000 000 строк.",
    );
}

#[test]
fn states_savings_and_costs() {
    let index_advice =
        |helped, kept_by, not_hot| index(&[("a", KeyRole::Equal, None)], helped, kept_by, not_hot);
    let saves =
        |it: IndexAdvice, english: &str, russian: &str| check(|lang| lang.index_saves(&it), english, russian);
    saves(
        index_advice(1, 0, 0),
        "It speeds up 1 statement; alone, it would save 45.7 % of the total statement time.",
        "Ускорит 1 запрос; сам по себе сэкономил бы 45,7 % времени всех запросов.",
    );
    saves(
        IndexAdvice { saved_share: None, ..index_advice(5, 0, 0) },
        "It speeds up 5 statements.",
        "Ускорит 5 запросов.",
    );
    let costs =
        |it: IndexAdvice, english: &str, russian: &str| check(|lang| lang.index_costs(&it), english, russian);
    costs(
        index_advice(1, 0, 0),
        "It takes about 39 MiB. No planned statement has to maintain it.",
        "Займёт около 39 МиБ. Ни один из запросов с планом его не обновляет.",
    );
    costs(
        IndexAdvice { bytes: None, ..index_advice(1, 1, 0) },
        "1 statement has to maintain it.",
        "Обновлять его придётся 1 запросу.",
    );
    costs(
        index_advice(1, 3, 2),
        "It takes about 39 MiB. 3 statements have to maintain it. 2 of them change an indexed column, so their \
         updates can no longer be heap-only (HOT).",
        "Займёт около 39 МиБ. Обновлять его придётся 3 запросам. Из них 2 меняют его столбец, и HOT-обновления \
         для них станут невозможны.",
    );
    check(
        |lang| lang.saved_together(2, 0.75),
        "By the planner's cost these 2 indexes would save 75.0 % of the total statement time; if PostgreSQL is the limiter, \
         throughput rises to at most 4.00 times its present value.",
        "По оценке планировщика эти 2 индекса сэкономили бы 75,0 % времени всех запросов; если узкое место — PostgreSQL, \
         пропускная способность вырастет не более чем в 4,00 раза.",
    );
    check(
        |lang| lang.saved_together(1, 0.999),
        "By the planner's cost this index would save 99.9 % of the total statement time.",
        "По оценке планировщика этот индекс сэкономил бы 99,9 % времени всех запросов.",
    );
}

#[test]
fn states_remedies() {
    let remedy = |remedy: Remedy, index, english: &str, russian: &str| {
        check(|lang| lang.remedy(&remedy, index), english, russian);
    };
    remedy(
        Remedy::Index { index: 1 },
        Some((2, 20_834.0, 8.06)),
        "index 2: cost 20834 → 8.06",
        "индекс 2: стоимость 20 834 → 8,06",
    );
    let table = || "public.queue".to_owned();
    remedy(
        Remedy::Vacuum { table: table(), live_rows: 600.0, dead_rows: 19_400.0, bytes: 1 << 20 },
        None,
        "VACUUM FULL public.queue: it has 600 live rows and 19400 dead row versions in 1 MiB; find out why autovacuum did \
         not remove them",
        "VACUUM FULL public.queue: живых строк 600, мёртвых версий 19 400, размер 1 МиБ; выясните, почему их не убрала \
         автоочистка",
    );
    remedy(
        Remedy::Analyze { table: table(), estimated_rows: 39_817.0, actual_rows: 20.0 },
        None,
        "ANALYZE public.queue: the planner expected 39817 rows and got 20, because its statistics are old",
        "ANALYZE public.queue: планировщик ожидал 39 817, а получил 20, потому что статистика устарела",
    );
    remedy(
        Remedy::EveryRow,
        None,
        "no index helps: it needs every row of the table",
        "индекс не поможет: нужна каждая строка таблицы",
    );
    remedy(
        Remedy::MostRows { share: 0.5 },
        None,
        "no index helps: it needs 50 % of the rows",
        "индекс не поможет: нужно 50 % строк",
    );
    remedy(
        Remedy::Condition { condition: "(a ~~ $0)".to_owned() },
        None,
        "no b-tree index supports (a ~~ $0)",
        "условие (a ~~ $0) не ускорит ни один индекс типа «B-дерево»",
    );
    let rewrite = |obstacle| Remedy::Rewrite { obstacle };
    let index = Some("t_pkey".to_owned());
    remedy(
        rewrite(IndexObstacle::Cast { column: "id".to_owned(), data_type: "numeric".to_owned(), index }),
        None,
        "the cast of id to numeric prevents the use of an index: compare id with values of its own type instead of casting it, so \
         that the index t_pkey can be used",
        "индексу мешает приведение id к типу numeric: сравнивайте id со значениями его собственного типа, не приводя столбец, \
         тогда подойдёт индекс t_pkey",
    );
    remedy(
        rewrite(IndexObstacle::Expression { expression: "lower(a)".to_owned() }),
        None,
        "the expression lower(a) prevents the use of an index: create an index on this expression, or compare the column itself",
        "индексу мешает выражение lower(a): создайте индекс по этому выражению или сравнивайте сам столбец",
    );
    remedy(
        rewrite(IndexObstacle::Pattern { column: "a".to_owned() }),
        None,
        "the pattern for a prevents the use of an index: for prefixes, create an index with text_pattern_ops; for other patterns, \
         a GIN index with pg_trgm",
        "индексу мешает шаблон для a: для начала строки создайте индекс с классом text_pattern_ops, для других шаблонов — индекс \
         GIN расширения pg_trgm",
    );
    remedy(
        rewrite(IndexObstacle::Alternatives { columns: vec!["a".to_owned(), "b".to_owned()] }),
        None,
        "OR between a, b prevents the use of an index: create an index on each of the columns, or combine two statements with \
         UNION",
        "индексу мешает условие «или» по a, b: создайте индекс по каждому из столбцов или объедините два запроса с помощью UNION",
    );
    let scan = |actual| Scan { table: "book.bookv2".to_owned(), rows: 1e6, rows_kept: 2.0, actual };
    check(
        |lang| lang.scanned(&scan(true)),
        "all 1000000 rows of book.bookv2, of which it needs 2",
        "все 1 000 000 в book.bookv2, нужно 2",
    );
    check(
        |lang| lang.scanned(&scan(false)),
        "all 1000000 rows of book.bookv2, of which it needs about 2",
        "все 1 000 000 в book.bookv2, нужно около 2",
    );
}

#[test]
fn states_measured_effects() {
    let changed = |before, after, writes| StatementChange { text: String::new(), before, after, writes };
    check(
        |lang| lang.statement_changed(&changed(0.102, 0.000_05, false)),
        "102 ms → 50.0 µs on average (÷ 2040)",
        "в среднем 102 мс → 50,0 мкс (÷ 2040)",
    );
    check(
        |lang| lang.statement_changed(&changed(0.000_03, 0.000_1, true)),
        "30.0 µs → 100 µs on average (× 3.33, writes)",
        "в среднем 30,0 мкс → 100 мкс (× 3,33; пишет)",
    );
    let built = IndexBuild {
        ddl: "CREATE INDEX ON t (a)".to_owned(),
        elapsed: Nanos::from_millis(1500),
        bytes: 1 << 20,
    };
    check(
        |lang| lang.index_built(&built),
        "CREATE INDEX ON t (a): built in 1.50 s, 1 MiB",
        "CREATE INDEX ON t (a): построен за 1,50 с, 1 МиБ",
    );
    check(
        |lang| lang.heap_only(0.98, 0.021),
        "heap-only (HOT) updates: 98.0 % → 2.1 % of updated rows",
        "HOT-обновления: 98,0 % → 2,1 % обновлённых строк",
    );
    check(
        |lang| lang.index_trial(1, 4),
        "1 index is built in a copy of the data, which is then compared with the data without the new indexes; 4 trials each",
        "1 индекс строится в копии данных, и она сравнивается с данными без них; по 4 измерения",
    );
}

#[test]
fn remedies_differ_by_language() {
    for remedy in [Remedy::NotNeeded, Remedy::NotTaken, Remedy::NoPlan { reason: Some("№".into()) }] {
        let [english, russian] = [english(), russian()].map(|lang| lang.remedy(&remedy, None));
        assert!(!english.is_empty() && english != russian, "{remedy:?}");
    }
    let [english, russian] = [english(), russian()].map(|lang| lang.no_estimates(&"№".into()));
    assert!(english.contains('№') && russian.contains('№') && english != russian);
}
