//! Values of expressions, and the errors in them

use crate::english;
use load::random::SeedSequence;
use load::script::{CommandKind, Mode, ScriptSource, Value, Variables, parse};

/// Variables that have a value before the script begins, as with pgbench's option `-D`.
const PREDEFINED: [(&str, &str); 9] = [
    ("i", "+3"),
    ("d", "-10.1"),
    ("t", "t"),
    ("f", "of"),
    ("n", "null"),
    ("bla", "bla"),
    ("big", "9223372036854775808"),
    ("sign", "+"),
    ("empty", ""),
];

/// Evaluates an expression. Returns the value as `debug()` prints it, `error: …` for an error at run time, or `mistake:
/// …` with its hint for a compile error.
fn value(expression: &str) -> String {
    let text = format!("\\set x {expression}\n");
    let names: Vec<&str> = PREDEFINED.iter().map(|(name, _)| *name).collect();
    let program = match parse(&[ScriptSource::new("x.sql", &text)], Mode::Simple, false, &names) {
        Ok(program) => program,
        Err(mistakes) => {
            return format!(
                "mistake: {}; {}",
                english::text(&mistakes[0].message),
                english::help(&mistakes[0].message)
            );
        }
    };
    let mut variables = Variables::new(program.names.len());
    for (name, text) in PREDEFINED {
        variables.set_text(program.slot(name).unwrap(), text.as_bytes());
    }
    if let Some(seed) = program.slot("default_seed") {
        variables.set(seed, Value::Int(5432));
    }
    let CommandKind::Set { value, .. } = &program.scripts[0].commands[0].kind else { panic!("one \\set") };
    match value.eval(&variables, &mut SeedSequence::new(5432).client_rng(), &mut |_| ()) {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {}", english::text(&error.message(&program.names, &variables))),
    }
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (expression, expected) in rows {
        assert_eq!(value(expression), *expected, "{expression}");
    }
}

/// Checks the messages of invalid expressions. Each begins with pgbench's message; advice may follow.
#[track_caller]
fn check_errors(rows: &[(&str, &str)]) {
    for (expression, expected) in rows {
        let actual = value(expression);
        let advised = actual.strip_prefix(expected).is_some_and(|advice| advice.starts_with([';', ' ']));
        assert!(advised, "{expression}: {actual}");
    }
}

#[test]
#[rustfmt::skip]
fn follows_pgbench_precedence() {
    check(&[
        ("1 + 2 * 3", "int 7"), ("(1 + 2) * 3", "int 9"), ("8 / 2 / 2", "int 2"), ("8 - 2 - 2", "int 4"),
        ("7 % 4 * 2", "int 6"), ("-2 * 3", "int -6"), ("- - 2", "int 2"), ("+-+2", "int -2"),
        ("1 | 6 & 4", "int 4"), ("1 | 2 + 4", "int 7"), ("1 << 2 + 1", "int 8"), ("~1 + 1", "int -3"), ("~1 | 1", "int -1"),
        ("2 * ~ 1 + 1", "int -6"), ("not 1 = 2", "boolean true"), ("not true or true", "boolean true"),
        ("not 1 < 2 and true", "boolean false"), ("true or false and false", "boolean true"),
        ("1 = 2 is null", "boolean false"), ("not null is null", "boolean false"), ("- null is null", "boolean true"),
        ("1 is null is false", "boolean true"), ("null isnull notnull", "boolean true"), ("1 < 2 + 2", "boolean true"),
        ("3 & 1 = 1", "boolean true"), ("1 < NOT 2 < 3", "error: cannot coerce boolean to int; write CASE WHEN … THEN 1 ELSE 0 END"),
    ]);
}

#[test]
#[rustfmt::skip]
fn evaluates_arithmetic() {
    check(&[
        ("17 / (4|1) + (4 + (7 >> 2))", "int 8"), ("-7 / 2", "int -3"), ("-7 % 2", "int -1"), ("7 % -2", "int 1"),
        ("5 % -1", "int 0"), ("-9223372036854775808 % -1", "int 0"), ("5 / -1", "int -5"), ("7.5 % 2.5", "int 0"),
        ("mod(-13, 5)", "int -3"), ("1.0 / 0", "double Infinity"), ("-1.0 / 0", "double -Infinity"), ("0.0 / 0", "double NaN"),
        ("1 + 1.5", "double 2.5"), ("2 * 0.5", "double 1"), ("1 / 3.0", "double 0.333333333333333"), ("-0.0", "double 0"),
        ("0 * -1.0", "double -0"), ("1e15", "double 1e+15"), (".5e1", "double 5"), ("1.", "double 1"), ("1e3", "double 1000"),
        ("-9223372036854775808", "int -9223372036854775808"), ("9223372036854775807", "int 9223372036854775807"),
        ("1 << 62", "int 4611686018427387904"), ("1 << 64", "int 1"), ("1 << -1", "int -9223372036854775808"),
        ("-8 >> 1", "int -4"), ("6 # 3", "int 5"), ("~0", "int -1"), ("2.5 | 0", "int 2"), ("3.5 | 0", "int 4"),
    ]);
    check_errors(&[
        ("(1<<62) + (1<<62)", "error: bigint add out of range"), ("0 - (1<<62) - (1<<62) - (1<<62)", "error: bigint sub out of range"),
        ("2 * (1<<62)", "error: bigint mul out of range"), ("-9223372036854775808 / -1", "error: bigint div out of range"),
        ("- -9223372036854775808", "error: bigint sub out of range"),
        ("1 / 0", "error: division by zero"), ("1 % 0", "error: division by zero"), ("1.5 % 0.4", "error: division by zero"),
        ("true + 2", "error: cannot coerce boolean to int"), ("1.0 + true", "error: cannot coerce boolean to double"),
        ("true = true", "error: cannot coerce boolean to int"),
    ]);
}

#[test]
#[rustfmt::skip]
fn evaluates_logic_and_null() {
    check(&[
        ("1 = 1.0", "boolean true"), ("1 <> 1.0", "boolean false"), ("1 != 2", "boolean true"), ("2 >= 2", "boolean true"), ("2 > 2", "boolean false"), ("2 < 2", "boolean false"), ("2 >= 3", "boolean false"),
        ("3 > 2.5", "boolean true"), ("2 <= 1", "boolean false"), ("0.0 = -0.0", "boolean true"),
        ("null + 1", "null"), ("null = null", "null"), ("not null", "null"), ("ln(null)", "null"), ("random(null, true)", "null"),
        ("least(1, null)", "null"), ("debug(null)", "null"), ("null and false", "null"), ("false and null", "boolean false"),
        ("true and null", "null"), ("true or null", "boolean true"), ("false or null", "null"),
        ("false and 1/0 = 1", "boolean false"), ("true or 1/0 = 1", "boolean true"), ("false and 5", "boolean false"),
        ("null is null", "boolean true"), ("1 is not null", "boolean true"), ("true is true", "boolean true"),
        ("1 is true", "boolean false"), ("null is false", "boolean false"), ("false is not false", "boolean false"),
        ("case when 0 then 1 when 0.0 then 2 when null then 3 else 4 end", "int 4"), ("case when false then 1 end", "null"),
        ("case when 0.1 then 1 end", "int 1"), ("case when true then 1 else 1/0 end", "int 1"),
        ("CASE WHEN Not False THEN TRUE END", "boolean true"),
    ]);
    check_errors(&[
        ("not 0.0", "error: cannot coerce double to boolean"), ("1 and true", "error: cannot coerce int to boolean"),
        ("true and 1", "error: cannot coerce int to boolean"),
    ]);
}

#[test]
#[rustfmt::skip]
fn evaluates_functions() {
    check(&[
        ("abs(-4)", "int 4"), ("abs(-0.5)", "double 0.5"), ("ABS(-9223372036854775808)", "int -9223372036854775808"),
        ("greatest(5, 4, 3.5, 2)", "double 5"), ("least(5, 4, 3)", "int 3"), ("least(1)", "int 1"), ("greatest(,1,2)", "int 2"),
        ("least(-5.18, .0E0, 1.0/0) * -3.3", "double 17.094"), ("least(1, 0.0/0)", "double NaN"), ("least(0.0/0, 1)", "double 1"),
        ("int(7.3)", "int 7"), ("int(2.5)", "int 2"), ("int(-3.5)", "int -4"), ("int(9223372036854774784.0)", "int 9223372036854774784"),
        ("double(1 + 1)", "double 2"), ("pi()", "double 3.14159265358979"), ("sqrt(2)", "double 1.4142135623731"),
        ("sqrt(-1)", "double NaN"), ("ln(exp(1.0))", "double 1"), ("ln(0)", "double -Infinity"), ("exp(0)", "double 1"),
        ("pow(-3, 3)", "double -27"), ("power(2.0, 10)", "double 1024"), ("pow(0, 0)", "double 1"), ("pow(-2, -3)", "double -0.125"),
        ("pow(9223372036854775807, 2)", "double 8.50705917302346e+37"), ("pow(-1, 0.5)", "double NaN"),
        ("hash(10, 5432)", "int -5817877081768721676"), ("hash(10)", "int -5817877081768721676"),
        ("hash_murmur2(10)", "int -5817877081768721676"), ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
        ("permute(9223372036854775796, 9223372036854775797, 5432)", "int 520382784483822430"),
        ("permute(0, 2, 5433)", "int 1"), ("permute(7, 1)", "int 0"), ("permute(-1, 2)", "int 1"),
    ]);
    check_errors(&[
        ("int(1E32)", "error: double to int overflow for 100000000000000005366162204393472.000000"),
        ("int(0.0/0)", "error: double to int overflow for NaN"), ("int(9223372036854775808.0)", "error: double to int overflow for 9223372036854775808.000000"),
        ("int(-1.0/0)", "error: double to int overflow for -Infinity"),
        ("int(true)", "error: cannot coerce boolean to int"), ("abs(true)", "error: cannot coerce boolean to double"), ("ln(true)", "error: cannot coerce boolean to double"),
        ("greatest(true, 1)", "error: cannot coerce boolean to int"), ("permute(0, 0)", "error: permute size parameter must be greater than zero"),
        ("least(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "error: too many function arguments, maximum is 16"),
        ("least(1/0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "error: division by zero"),
    ]);
    assert_eq!(value("least(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)"), "int 0");
}

#[test]
#[rustfmt::skip]
fn evaluates_random_functions() {
    check(&[
        ("random(10, 19)", "int 17"), ("random(4, 4)", "int 4"), ("random(0, 9223372036854775806)", "int 7531701653009843924"),
        ("random(0, 9) * 10 + random(0, 9)", "int 75"),
        // `a > b` is `b < a`, so b is evaluated first: the draws are 5 and 7, and 5 > 7 is false.
        ("random(0, 9) > random(0, 9)", "boolean false"), ("random(0, 9) <= random(0, 9)", "boolean false"),
    ]);
    check_errors(&[
        ("random(5, 3)", "error: empty range given to random"), ("random(-9223372036854775808, 9223372036854775807)", "error: random range is too large"),
        ("random(0, 9223372036854775807)", "error: random range is too large"), ("random(false, true)", "error: cannot coerce boolean to int"),
        ("random_gaussian(0, 10, 1.0)", "error: gaussian parameter must be at least 2.000000 (not 1.000000)"),
        ("random_exponential(0, 10, 0.0)", "error: exponential parameter must be greater than zero (not 0.000000)"),
        ("random_zipfian(0, 10, 1)", "error: zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
        ("random_zipfian(0, 10, 1000000)", "error: zipfian parameter must be in range [1.001, 1000] (not 1000000.000000)"),
        // The range is checked before the parameter.
        ("random_gaussian(2, 1, true)", "error: empty range given to random"),
    ]);
}

#[test]
#[rustfmt::skip]
fn evaluates_variables() {
    check(&[
        (":i + 1", "int 4"), (":d * 2", "double -20.2"), (":t", "boolean true"), (":f", "boolean false"), (":n", "null"),
        (":n is null and not :f", "boolean true"),
    ]);
    check_errors(&[
        (":nosuch", "error: undefined variable \"nosuch\""), (":1", "error: undefined variable \"1\""),
        (":bla + 1", "error: malformed variable \"bla\" value: \"bla\""), (":empty", "error: malformed variable \"empty\" value: \"\""),
        (":big", "error: value \"9223372036854775808\" is out of range for type bigint"),
        (":sign", "error: invalid input syntax for type bigint: \"+\""),
    ]);
}

#[test]
#[rustfmt::skip]
fn reports_expression_diagnostics() {
    check(&[
        ("", "mistake: syntax error in command \"set\"; expected an operand: a number, :variable, function(…), CASE or \"(\", but the line ends here"),
        ("1 +", "mistake: syntax error in command \"set\"; expected an operand: a number, :variable, function(…), CASE or \"(\", but the line ends here"),
        ("1 2", "mistake: syntax error in command \"set\"; expected an operator or the end of the line, found \"2\""),
        ("(1", "mistake: syntax error in command \"set\"; expected an operator or \")\", but the line ends here"),
        ("1 == 2", "mistake: syntax error in command \"set\"; write a single = to compare"),
        ("1 < 2 < 3", "mistake: syntax error in command \"set\"; comparisons cannot be chained; write a < b AND b < c"),
        ("CASE TRUE THEN 1 ELSE 0 END", "mistake: syntax error in command \"set\"; expected WHEN (as in CASE WHEN :i = 1 THEN … END), found \"TRUE\""),
        ("1 is 2", "mistake: syntax error in command \"set\"; expected NULL, TRUE or FALSE after IS, found \"2\""),
        ("9223372036854775808", "mistake: syntax error in command \"set\"; write a minus sign right before 9223372036854775808, which is no int without it"),
        ("abs(1,)", "mistake: syntax error in command \"set\"; expected an operand: a number, :variable, function(…), CASE or \"(\", found \")\""),
        ("least(,)", "mistake: syntax error in command \"set\"; expected an operand: a number, :variable, function(…), CASE or \"(\", found \")\""),
        ("1 ;", "mistake: unexpected character (;) in command \"set\"; a backslash command ends at the end of its line; remove the semicolon"),
        ("!true", "mistake: unexpected character (!) in command \"set\"; write NOT for negation, <> or != for inequality"),
        ("100000000000000000000", "mistake: bigint constant overflow (100000000000000000000) in command \"set\"; the greatest int is 9223372036854775807; 100000000000000000000.0 is a double"),
        ("1.0E309", "mistake: double constant overflow (1.0E309) in command \"set\"; a double lies between 2.3e-308 and 1.7e308"),
        (".1E310", "mistake: double constant overflow (.1E310) in command \"set\"; a double lies between 2.3e-308 and 1.7e308"),
        ("noSuchFunction()", "mistake: unexpected function name (noSuchFunction) in command \"set\"; a variable is written :noSuchFunction; the functions are abs, debug, double, exp, greatest, hash, hash_fnv1a, hash_murmur2, int, least, ln, mod, permute, pi, pow, power, random, random_exponential, random_gaussian, random_zipfian, sqrt"),
        ("rand(1, 2)", "mistake: unexpected function name (rand) in command \"set\"; write random(…) for the function, or :rand for a variable"),
        ("ln(1.0, 2.0)", "mistake: unexpected number of arguments (ln) in command \"set\"; write `ln(x)`"),
        ("pi(1)", "mistake: unexpected number of arguments (pi) in command \"set\"; write `pi()`"),
        ("hash()", "mistake: unexpected number of arguments (hash) in command \"set\"; write `hash(value)` or `hash(value, seed)`"),
        ("HASH(1,2,3)", "mistake: unexpected number of arguments (hash) in command \"set\"; write `hash(value)` or `hash(value, seed)`"),
        ("permute(1)", "mistake: unexpected number of arguments (permute) in command \"set\"; write `permute(value, size)` or `permute(value, size, seed)`"),
        ("random_zipfian(1, 2)", "mistake: unexpected number of arguments (random_zipfian) in command \"set\"; write `random_zipfian(min, max, parameter)`"),
        ("least()", "mistake: at least one argument expected (least) in command \"set\"; write `least(x, …)`"),
    ]);
}

/// Depth is limited in the parser and in evaluation, both of which use the stack.
#[test]
fn limits_expression_depth() {
    let nested = |n: usize| format!("{}:i{}", "(".repeat(n), ")".repeat(n));
    let chained = |n: usize| format!(":i{}", " + :i".repeat(n));
    assert_eq!(value(&nested(100)), "int 3");
    assert_eq!(value(&chained(400)), "int 1203");
    assert_eq!(value(&format!("1{}", " + 1".repeat(5000))), "int 5001", "constants are folded");
    for deep in [nested(100_000), chained(100_000), "-".repeat(100_000), "abs(".repeat(100_000)] {
        let error = value(&deep);
        assert!(error.contains("too deep"), "{error}");
    }
}
