use super::*;
use crate::sql::normalise::normalise;

/// Compares the script of executions of one statement, and its feed.
fn check(executions: &[(&str, &[Option<&str>])], mode: QueryMode, expected: &str, feed: &str) {
    let mut templates = Vec::new();
    let mut rows = Vec::new();
    for (text, parameters) in executions {
        let parameters: Vec<Option<String>> = parameters.iter().map(|it| it.map(str::to_owned)).collect();
        let (template, values) = normalise(text, &parameters).expect("the statement can be read");
        templates.push(template);
        rows.push(values);
    }
    assert!(templates.iter().all(|template| *template == templates[0]), "{executions:?}");
    let script = script(&[&templates[0]], false, &rows, &[], mode).expect("the language can express it");
    assert_eq!(script.text, expected, "{executions:?}");
    let rows: Vec<String> = script.rows.iter().map(|row| row.join(",")).collect();
    assert_eq!(format!("{}|{}", script.columns.join(","), rows.join("|")), feed, "{executions:?}");
}

#[test]
fn writes_variables() {
    use QueryMode::{Extended, Simple};
    let two = |first, second| [(first, &[] as &[Option<&str>]), (second, &[])];
    for (first, second, simple, extended, feed) in [
        (
            "SELECT 1 WHERE a = 1",
            "SELECT 1 WHERE a = -2",
            "SELECT 1 WHERE a = :a;\n",
            "SELECT 1 WHERE a = :a::int;\n",
            "a|1|-2",
        ),
        ("SELECT 3000000000", "SELECT 1", "SELECT :p;\n", "SELECT :p::bigint;\n", "p|3000000000|1"),
        ("SELECT 1.5", "SELECT 1", "SELECT :p;\n", "SELECT :p::numeric;\n", "p|1.5|1"),
        ("SELECT 1e5", "SELECT 1", "SELECT :p::numeric;\n", "SELECT :p::numeric;\n", "p|1e5|1"),
        ("SELECT a = 'it''s'", "SELECT a = '1'", "SELECT a = ':a';\n", "SELECT a = :a;\n", "a|it's|1"),
        (
            "SELECT date '2024-01-01'",
            "SELECT date 'now'",
            "SELECT date ':p';\n",
            "SELECT CAST(:p AS date);\n",
            "p|2024-01-01|now",
        ),
        (
            "SELECT a IN (1, 2)",
            "SELECT a IN (3)",
            "SELECT a = ANY(':a');\n",
            "SELECT a = ANY(:a);\n",
            "a|{1,2}|{3}",
        ),
        (
            "SELECT a NOT IN (1.5)",
            "SELECT a NOT IN (3.5)",
            "SELECT a <> ALL(':a'::numeric[]);\n",
            "SELECT a <> ALL(:a::numeric[]);\n",
            "a|{1.5}|{3.5}",
        ),
        (
            "SELECT a = 1, b = 1",
            "SELECT a = 2, b = 2",
            "SELECT a = :a, b = :a;\n",
            "SELECT a = :a::int, b = :a::int;\n",
            "a|1|2",
        ),
        (
            "SELECT a = 1, b.a = 2",
            "SELECT a = 2, b.a = 2",
            "SELECT a = :a, b.a = 2;\n",
            "SELECT a = :a::int, b.a = 2;\n",
            "a|1|2",
        ),
        (
            "SELECT rows = 1, rows = 3",
            "SELECT rows = 2, rows = 4",
            "SELECT rows = :p, rows = :p2;\n",
            "SELECT rows = :p::int, rows = :p2::int;\n",
            "p,p2|1,3|2,4",
        ),
        (
            "SELECT token = 1",
            "SELECT token = 2",
            "SELECT token = :token2;\n",
            "SELECT token = :token2::int;\n",
            "token2|1|2",
        ),
        (
            "SELECT 'a:b', a[1:2]",
            "SELECT 'a:b', a[1:2]",
            "SELECT ':p', a[1: 2];\n",
            "SELECT :p, a[1: 2];\n",
            "p|a:b|a:b",
        ),
        (
            "SELECT 'x', 5, a IN ('y')",
            "SELECT 'x', 5, a IN ('y')",
            "SELECT 'x', 5, a IN ('y');\n",
            "SELECT 'x', 5, a IN ('y');\n",
            "||",
        ),
    ] {
        check(&two(first, second), Simple, simple, feed);
        check(&two(first, second), Extended, extended, feed);
    }
}

#[test]
fn keeps_parameters_and_messages() {
    let executions: [(&str, &[Option<&str>]); 2] =
        [("SELECT $1, $2, $1", &[Some("x"), None]), ("SELECT $1, $2, $1", &[Some("x"), None])];
    check(&executions, QueryMode::Prepared, "SELECT :p, NULL, :p;\n", "p|x|x");
    check(&executions, QueryMode::Simple, "SELECT ':p', NULL, ':p';\n", "p|x|x");
    let executions: [(&str, &[Option<&str>]); 2] = [
        ("SELECT concat($1, f('a')) WHERE $2 IS NULL OR b = $2", &[Some("x"), Some("y")]),
        ("SELECT concat($1, f('b')) WHERE $2 IS NULL OR b = $2", &[Some("x"), Some("z")]),
    ];
    let extended = "SELECT concat(:p::text, f(:p2)) WHERE :p3::text IS NULL OR b = :p3;\n";
    check(&executions, QueryMode::Extended, extended, "p,p2,p3|x,a,y|x,b,z");
    let simple = "SELECT concat(':p', f(':p2')) WHERE ':p3' IS NULL OR b = ':p3';\n";
    check(&executions, QueryMode::Simple, simple, "p,p2,p3|x,a,y|x,b,z");
    let message: [(&str, &[Option<&str>]); 1] = [("BEGIN; SELECT 1; END", &[])];
    check(&message, QueryMode::Simple, "BEGIN \\;\nSELECT 1 \\;\nEND;\n", "|");
    check(&message, QueryMode::Extended, "\\startpipeline\nBEGIN;\nSELECT 1;\nEND;\n\\endpipeline\n", "|");
}

#[test]
fn refuses_what_the_language_cannot_express() {
    for (text, expected) in [
        ("SELECT 1", true),
        ("SELECT a::int, b := 1, c[1:d]", true),
        ("SELECT $$a:b$$", false),
        ("SELECT \"a:b\"", false),
        ("SELECT \"a::b\", \"12:30\"", true),
        ("-- ping", false),
        (";", false),
    ] {
        let (template, _) = normalise(text, &[]).expect("the statement can be read");
        assert_eq!(is_expressible(&template), expected, "{text}");
    }
    let many = |count: usize| {
        let list: Vec<String> = (0..count).map(|_| "f($1)".to_owned()).collect();
        let (template, values) =
            normalise(&format!("SELECT {}", list.join(", ")), &[Some("1".to_owned())]).expect("read");
        script(&[&template], false, &[values], &[], QueryMode::Extended).is_some()
    };
    assert_eq!((many(255), many(256)), (true, false));
}

#[test]
fn sleeps_before_statements_except_in_a_pipeline() {
    let template = |text: &str| normalise(text, &[]).expect("the statement can be read").0;
    let templates = ["BEGIN", "UPDATE a SET b = c", "COMMIT"].map(template);
    let templates: Vec<&Template> = templates.iter().collect();
    let pauses = [None, Some(Nanos::from_millis(20)), Some(Nanos(2_500_900))];
    let text = |is_pipeline| {
        let script = script(&templates, is_pipeline, &[Vec::new()], &pauses, QueryMode::Extended);
        script.expect("the language can express it").text
    };
    assert_eq!(text(false), "BEGIN;\n\\sleep 20000 us\nUPDATE a SET b = c;\n\\sleep 2500 us\nCOMMIT;\n");
    assert!(!text(true).contains("sleep"), "{}", text(true));
}
