use super::*;
use proptest::prelude::*;

/// Formats the curve as `from>to:seconds` for ramps and `rate:seconds` for constants.
fn show(curve: &Curve) -> String {
    match curve {
        Curve::Ramp { from, to, duration } if from == to => {
            format!("{}:{}", from.0, duration.as_secs_f64())
        }
        Curve::Ramp { from, to, duration } => {
            format!("{}>{}:{}", from.0, to.0, duration.as_secs_f64())
        }
        Curve::Chain(parts) => parts.iter().map(show).collect::<Vec<_>>().join(" "),
    }
}

#[test]
fn reads_as_tank_does() {
    for (text, curve) in [
        ("line(1, 5, 2s)", "1>5:2"),
        ("line(5,1,2)", "5>1:2"),
        ("line(3,3,2)", "3:2"),
        ("const(1.5, 10s)", "1.5:10"),
        ("const(0,10)", "0:10"),
        ("const(100,0)", "100:0"),
        ("const(.5,1)", "0.5:1"),
        ("const(5.,1)", "5:1"),
        ("const(2.500000000,1)", "2.5:1"),
        ("const(0.000001,1)", "0.000001:1"),
        ("step(1, 5, 1, 5s)", "1:5 2:5 3:5 4:5 5:5"),
        ("step(5, 1, 2, 5s)", "5:5 3:5 1:5"),
        // The last increment is reduced, so that the last level is the requested one.
        ("step(1, 6, 2, 1m)", "1:60 3:60 5:60 6:60"),
        ("step(6, 1, 2, 1m)", "6:60 4:60 2:60 1:60"),
        ("step(1.2, 5.7, 1.1, 5s)", "1.2:5 2.3:5 3.4:5 4.5:5 5.6:5 5.7:5"),
        ("step(1, 2, 50, 5s)", "1:5 2:5"),
        ("step(0, 0.3, 0.1, 1)", "0:1 0.1:1 0.2:1 0.3:1"),
        ("step(7, 7, 1, 1)", "7:1"),
        ("const(1,27h103m645)", "1:104025"),
        ("const(1,1d1h1m1s)", "1:90061"),
        ("const(1,2m)const(2,1h30)", "1:120 2:3630"),
        ("const(1,1)line(1,2,3)step(1,2,1,1)", "1:1 1>2:3 1:1 2:1"),
        ("  const (1,1)\n\tline( 1 ,\n 2 , 3 )  ", "1:1 1>2:3"),
        ("const(10000000, 100d)", "10000000:8640000"),
    ] {
        assert_eq!(
            parse(text).map(|curve| show(&curve)).map_err(|it| it.to_string()),
            Ok(curve.to_owned()),
            "{text}"
        );
    }
}

/// Expects these errors; `diagnostics` has the column, the marked text and the message of each.
#[track_caller]
fn check_diagnostics(text: &str, diagnostics: &[(usize, &str, &str)]) {
    let Err(all) = parse(text) else { panic!("{text} is accepted") };
    let actual: Vec<_> = all
        .items
        .iter()
        .map(|item| {
            (
                all.line_and_column(item.span.start).1,
                &text[item.span.clone()],
                format!("{}; write {}", item.found, item.suggestion),
            )
        })
        .collect();
    let expected: Vec<_> =
        diagnostics.iter().map(|&(column, at, message)| (column, at, message.to_owned())).collect();
    assert_eq!(actual, expected, "{text}");
}

const DURATION: &str = "whole days, hours, minutes and seconds in this order, such as `1h30m` or `90s`";
const RATE: &str = "a number such as `10` or `0.5`, per second";

#[test]
fn rejects_text_that_tank_misreads() {
    let one = |text: &str, column, at: &str, message: &str| check_diagnostics(text, &[(column, at, message)]);
    one("const(1, 1.5s)", 10, "1.5s", "`1.5s` is no duration; write a whole number: `1s` or `2s`");
    one("const(1, 1.5m)", 10, "1.5m", "`1.5m` is no duration; write a whole number: `90s`");
    one("const(1, 0.1s)", 10, "0.1s", "`0.1s` is no duration; write a whole number, such as `1s`");
    one("const(1, 1500ms)", 10, "1500ms", &format!("`1500ms` is no duration; write {DURATION}"));
    one("const(1, 5s1m)", 10, "5s1m", &format!("`5s1m` is no duration; write {DURATION}"));
    one("const(1, 1m1m)", 10, "1m1m", &format!("`1m1m` is no duration; write {DURATION}"));
    one("const(1, 1h 30m)", 10, "1h 30m", &format!("`1h 30m` is no duration; write {DURATION}"));
    one("const(1, -5)", 10, "-5", &format!("`-5` is no duration; write {DURATION}"));
    one("const(1, s)", 10, "s", &format!("`s` is no duration; write {DURATION}"));
    one("const(1,)", 9, "", &format!("a duration is missing here; write {DURATION}"));
    one("const(1, 101d)", 10, "101d", "`101d` is more than 100 days; write a shorter duration");
    one("const(-1, 5)", 7, "-1", "`-1` is negative; write a rate of 0 or more");
    one("const(1e3, 5)", 7, "1e3", &format!("`1e3` is no rate; write {RATE}"));
    one("const(10/s, 5)", 7, "10/s", &format!("`10/s` is no rate; write {RATE}"));
    one("const(1.2.3, 5)", 7, "1.2.3", &format!("`1.2.3` is no rate; write {RATE}"));
    one("const(., 5)", 7, ".", &format!("`.` is no rate; write {RATE}"));
    one("const(٣, 5)", 7, "٣", &format!("`٣` is no rate; write {RATE}"));
    one("const(, 5)", 7, "", "a rate is missing here; write a number such as `10` or `0.5`");
    one("const(0.1234567, 5)", 7, "0.1234567", "`0.1234567` has more than six decimals; write at most six");
    one(
        "const(10000001, 5)",
        7,
        "10000001",
        "`10000001` per second is beyond one machine; write at most 10000000",
    );
    one(
        "line(1, 5, 0s)",
        12,
        "0s",
        "a line that lasts no time has no slope; write a duration of at least `1s`",
    );
    one("step(1, 5, 0, 5s)", 12, "0", "steps of 0 never arrive; write an increment above 0");
    one("line(1, 5)", 1, "line(1, 5", "line takes 3 values, here are 2; write `line(from, to, duration)`");
    one("const()", 1, "const(", "const takes 2 values, here are 1; write `const(rate, duration)`");
    one("LINE(1, 5, 2s)", 1, "LINE", "`LINE` is no kind of part; write `line`");
    one("once(5)", 1, "once", &format!("`once` is no kind of part; write {ANY_PART}"));
    one("(5)", 1, "(", &format!("a bracket without a name; write {ANY_PART}"));
    one(
        "ramp(5, 1m)",
        1,
        "ramp",
        &format!("`ramp` starts instances; a schedule is made of rates; write {ANY_PART}"),
    );
    one("", 1, "", "nothing stands here; write a schedule such as `const(100, 60s)`");
    one(" \n ", 1, " \n ", "nothing stands here; write a schedule such as `const(100, 60s)`");
    one("const(1,1), const(2,1)", 11, ",", &format!("`,` is no part of a schedule; write {ANY_PART}"));
    one("const(1,1))", 11, ")", &format!("`)` is no part of a schedule; write {ANY_PART}"));
    one("const(1,1) x", 12, "x", &format!("`x` is no part of a schedule; write {ANY_PART}"));
    one("const(1, 1", 6, "(1, 1", "this bracket is never closed; write `)` behind the duration");
    one("const(1, 1 const(2,1)", 6, "(1, 1", "this bracket is never closed; write `)` behind the duration");
}

#[test]
fn reports_all_diagnostics_at_once() {
    check_diagnostics(
        "line(-1, 5, 1.5s) and then const(1, 5s) stop(1)",
        &[
            (6, "-1", "`-1` is negative; write a rate of 0 or more"),
            (13, "1.5s", "`1.5s` is no duration; write a whole number: `1s` or `2s`"),
            (19, "and then", &format!("`and then` is no part of a schedule; write {ANY_PART}")),
            (41, "stop", &format!("`stop` is no kind of part; write {ANY_PART}")),
        ],
    );
    let Err(many) = parse(&"x(".repeat(10_000)) else { panic!("accepted") };
    assert!((ScheduleDiagnostics::MAX..ScheduleDiagnostics::MAX + 5).contains(&many.items.len()));
}

#[test]
fn diagnostics_point_at_their_location() {
    let shown = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(
        shown("const(1, 1.5s)"),
        concat!(
            "  const(1, 1.5s)\n",
            "           ^^^^\n",
            "column 10: `1.5s` is no duration; write a whole number: `1s` or `2s`\n"
        )
    );
    assert_eq!(
        shown("const(1, 5s)\n\tlïne(-7, 1, 5s)"),
        format!(
            concat!(
                "   lïne(-7, 1, 5s)\n",
                "   ^^^^\n",
                "line 2, column 2: `lïne` is no kind of part; write {}\n"
            ),
            ANY_PART
        )
    );
    let long = format!("{}const(-1, 5s)", "const(1, 1s) ".repeat(20));
    assert_eq!(
        shown(&long),
        concat!(
            "  , 1s) const(1, 1s) const(1, 1s) const(-1, 5s)\n",
            "                                        ^^\n",
            "column 267: `-1` is negative; write a rate of 0 or more\n"
        )
    );
}

#[test]
fn limits_schedule_size() {
    check_diagnostics(
        "step(0, 10000000, 0.000001, 1s)",
        &[(
            1,
            "step",
            "10000000000001 levels here; a schedule has at most 100000; write larger increments, or fewer parts",
        )],
    );
    check_diagnostics(
        "const(1, 60d) step(1, 2, 1, 21d)",
        &[(
            15,
            "step",
            "here the schedule has grown to 102 days; it lasts at most 100; write shorter durations",
        )],
    );
    assert!(parse("step(1, 100000, 1, 1s)").is_ok());
    assert!(parse("const(1, 1s) step(1, 100000, 1, 1s)").is_err());
    assert!(parse(&"const(1,99999999999999999999999999999999h)".repeat(3)).is_err());
}

proptest! {
    #[test]
    fn never_panics(text in "(line|const|step|[a-z ]{0,3})?[(]?([0-9]{0,3}[.,dhms( -]{0,2}){0,5}[)]?[\\PC]{0,3}") {
        let _ = parse(&text).map_err(|it| it.to_string());
        let _ = parse(&text.repeat(3)).map_err(|it| it.to_string());
    }

    #[test]
    fn arbitrary_text_gets_a_result(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}") {
        let _ = parse(&text).map_err(|it| it.to_string());
    }
}
