use super::*;

fn show(value: &Value) -> String {
    match value {
        Value::Number(number) => number.clone(),
        Value::Text(text) => format!("'{text}'"),
        Value::List(_) => value.feed_text(),
    }
}

/// Compares the text of the template, and the names and values of its columns.
fn check(text: &str, parameters: &[Option<&str>], template: &str, values: &str) {
    let parameters: Vec<Option<String>> = parameters.iter().map(|value| value.map(str::to_owned)).collect();
    let (found, found_values) = normalise(text, &parameters).expect("the statement can be read");
    assert_eq!(found.text(), template, "{text}");
    let columns = found.columns.iter().zip(&found_values);
    let columns: Vec<String> =
        columns.map(|(column, value)| format!("{}={}", column.name, show(value))).collect();
    assert_eq!(columns.join(" "), values, "{text}");
}

#[test]
fn replaces_constants() {
    for (text, template, values) in [
        ("SELECT  1 ;", "SELECT $1", "p=1"),
        (
            "select *\n from a -- c\n where id=-5 and name='it''s'",
            "select * from a where id = $1 and name = $2",
            "id=-5 name='it's'",
        ),
        (
            "SELECT a-1, a - -1, b[1:2] FROM t LIMIT 10 OFFSET 5",
            "SELECT a - $1, a - $2, b[$3: $4] FROM t LIMIT $5 OFFSET $6",
            "a=1 a=-1 p=1 p=2 limit=10 offset=5",
        ),
        ("SELECT 1.5, 1e5, 0.1, .5, 007, 0x1F", "SELECT $1, $2, $3, .5, 007, 0x1F", "p=1.5 p=1e5 p=0.1"),
        (
            "SELECT a::numeric(10, 2), CAST(b AS varchar(5)), round(c, 2)",
            "SELECT a::numeric(10, 2), CAST(b AS varchar(5)), round(c, $1)",
            "p=2",
        ),
        (
            "SELECT a, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1, a + 7 LIMIT 3",
            "SELECT a, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1, a + $1 LIMIT $2",
            "a=7 limit=3",
        ),
        (
            "SELECT rank() OVER (PARTITION BY a ORDER BY 1), 4",
            "SELECT rank() OVER (PARTITION BY a ORDER BY 1), $1",
            "p=4",
        ),
        (
            "SELECT date '2024-01-01', interval '1' day, interval '2 days', TIMESTAMP WITH TIME ZONE 'now', mood 'sad'",
            "SELECT date $1, interval '1' day, interval $2, TIMESTAMP WITH TIME ZONE $3, mood 'sad'",
            "p='2024-01-01' p='2 days' p='now'",
        ),
        (
            "SELECT E'a\\'b', $$c$$, U&'d' UESCAPE '!', B'1', \"e\"",
            "SELECT E'a\\'b', $$c$$, U&'d' UESCAPE '!', B'1', \"e\"",
            "",
        ),
        (
            "SELECT a FROM t WHERE b BETWEEN 1 AND 2 AND c LIKE 'x%'",
            "SELECT a FROM t WHERE b BETWEEN $1 AND $2 AND c LIKE $3",
            "b=1 b_to=2 c='x%'",
        ),
        (
            "INSERT INTO t (a, \"B\", c) VALUES (1, 'x', now()), (2, 'y', lower('z'))",
            "INSERT INTO t(a, \"B\", c) VALUES ($1, $2, now()), ($3, $4, lower($5))",
            "a=1 b='x' a=2 b='y' p='z'",
        ),
        ("FETCH 10 FROM c", "FETCH 10 FROM c", ""),
        ("SET work_mem = '64MB'", "SET work_mem = '64MB'", ""),
        ("SELECT a FROM t FETCH FIRST 5 ROWS ONLY", "SELECT a FROM t FETCH FIRST 5 ROWS ONLY", ""),
        ("SELECT a FROM t OFFSET 5 ROWS", "SELECT a FROM t OFFSET 5 ROWS", ""),
        ("SELECT data->'a'->>0 FROM t", "SELECT data -> $1 ->> $2 FROM t", "data='a' p=0"),
        ("BEGIN; SELECT 1; END;", "BEGIN; SELECT $1; END", "p=1"),
        ("SELECT 'a'\n'b'", "SELECT $1", "p='ab'"),
        ("SELECT f(x=>1)", "SELECT f(x => $1)", "x=1"),
    ] {
        check(text, &[], template, values);
    }
}

#[test]
fn folds_lists() {
    for (text, template, values) in [
        ("SELECT 1 FROM t WHERE a IN (1,2, -3)", "SELECT $1 FROM t WHERE a IN ($2, …)", "p=1 a={1,2,-3}"),
        (
            "DELETE FROM t WHERE lower(a) NOT IN ('x','y z')",
            "DELETE FROM t WHERE lower(a) NOT IN ($1, …)",
            "p={x,\"y z\"}",
        ),
        ("SELECT * FROM t WHERE a IN (1.5, 2)", "SELECT * FROM t WHERE a IN ($1, …)", "a={1.5,2}"),
        ("SELECT * FROM t WHERE a IN (1, 'x')", "SELECT * FROM t WHERE a IN ($1, $2)", "p=1 p='x'"),
        ("SELECT * FROM t WHERE a IN (1, b)", "SELECT * FROM t WHERE a IN ($1, b)", "p=1"),
        ("SELECT * FROM t WHERE 5 IN (1, 2)", "SELECT * FROM t WHERE $1 IN ($2, $3)", "p=5 p=1 p=2"),
        (
            "SELECT * FROM t WHERE (a, b) IN ((1, 2), (3, 4))",
            "SELECT * FROM t WHERE (a, b) IN (($1, $2), ($3, $4))",
            "p=1 p=2 p=3 p=4",
        ),
        ("SELECT * FROM t WHERE a IN (SELECT 1)", "SELECT * FROM t WHERE a IN (SELECT $1)", "p=1"),
    ] {
        check(text, &[], template, values);
    }
}

#[test]
fn replaces_parameters() {
    let check =
        |text, parameters: &[Option<&str>], template, values| check(text, parameters, template, values);
    check(
        "SELECT * FROM t WHERE a = $2 AND b > $1 OR a < $2",
        &[Some("x"), Some("y")],
        "SELECT * FROM t WHERE a = $1 AND b > $2 OR a < $1",
        "a='y' b='x'",
    );
    check("INSERT INTO t VALUES ($1, $2)", &[None, Some("")], "INSERT INTO t VALUES (NULL, $1)", "p=''");
    check(
        "SELECT $1::int, 7 FROM t WHERE a IN ($2, $3)",
        &[Some("1"), Some("2"), None],
        "SELECT $1::int, $2 FROM t WHERE a IN ($3, …)",
        "p='1' p=7 a={2,NULL}",
    );
}

#[test]
fn rejects_statements() {
    for (text, error) in [
        ("SELECT 'a", NormaliseError::Unreadable),
        ("SELECT $1", NormaliseError::MissingParameter),
        ("SELECT $0", NormaliseError::MissingParameter),
        ("SELECT a IN ($99999999999999999999999) FROM t", NormaliseError::MissingParameter),
    ] {
        assert_eq!(normalise(text, &[]), Err(error), "{text}");
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// Statements from parts that the normaliser treats in different ways, in random order and spacing.
    fn statement() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[a-z]{1,3}",
            Just("AND".to_owned()),
            Just("in".to_owned()),
            Just("not in".to_owned()),
            Just("ORDER BY".to_owned()),
            Just("interval".to_owned()),
            Just("timestamp with time zone".to_owned()),
            Just("day".to_owned()),
            Just("values".to_owned()),
            Just("limit".to_owned()),
            "-?(0|[1-9][0-9]{0,4})(\\.[0-9]{1,2})?(e[0-9])?",
            "[0-9]{1,3}[a-z]?",
            "\\.[0-9]",
            "'([a-zЖ :;$-]|''){0,4}'",
            "\"[a-z ';]{1,4}\"",
            "[eE]'([a-z]|\\\\'|''){0,3}'",
            "\\$a\\$[a-z' ]{0,3}\\$a\\$",
            "[-+*/<>=~!@#%^&|?]{1,3}",
            "(::|:=|:)",
            "[\\]\\[(),.;]",
            "\\([0-9]{1,2}(, ?-?[0-9]{1,2}){0,3}\\)",
            "\\('[a-z]'(, '[a-z]'){0,3}\\)",
            "(--[a-z]*\n|/\\*[a-z]*\\*/)",
        ];
        let space = prop_oneof![Just(" "), Just("\n"), Just("")];
        ("(SELECT|insert|UPDATE|SET) ", prop::collection::vec((part, space), 0..14)).prop_map(
            |(first, parts)| parts.into_iter().fold(first, |all, (part, space)| all + &part + space),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_filled_template_has_the_tokens_of_the_statement(text in statement()) {
            let Ok((template, values)) = normalise(&text, &[]) else { return Ok(()) };
            let filled = template.fill(&values);
            let strip = |text: &str| {
                let all = tokens(text).expect("the statement can be read");
                // `IN` is written in capital letters.
                let all = all.into_iter().map(|token| match token.kind {
                    TokenKind::Word => (token.kind, token.text.to_lowercase()),
                    _ => (token.kind, token.text.into_owned()),
                });
                let mut all: Vec<_> = all.collect();
                // Empty statements are left out.
                let is_separator = |token: &(TokenKind, String)| token.1 == ";" && token.0 == TokenKind::Punctuation;
                all.dedup_by(|next, before| is_separator(next) && is_separator(before));
                while all.last().is_some_and(is_separator) {
                    all.pop();
                }
                all
            };
            prop_assert_eq!(strip(&filled), strip(&text), "{}", filled);
        }

        #[test]
        fn a_template_does_not_depend_on_its_values(text in statement()) {
            let Ok((template, values)) = normalise(&text, &[]) else { return Ok(()) };
            let (again, same) = normalise(&template.fill(&values), &[]).expect("the statement can be read");
            prop_assert_eq!((again, same), (template, values));
        }
    }
}
