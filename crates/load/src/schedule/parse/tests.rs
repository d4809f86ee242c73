use super::*;
use model::message::Argument;
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
        assert_eq!(parse(text).map(|curve| show(&curve)), Ok(curve.to_owned()), "{text}");
    }
}

/// Expects these errors: the marked text, and the message with its arguments.
#[track_caller]
fn check_diagnostics(text: &str, expected: &[(&str, &str)]) {
    let Err(all) = parse(text) else { panic!("{text} is accepted") };
    let actual: Vec<_> = all.iter().map(|it| (&text[it.span.clone()], show_message(&it.message))).collect();
    let expected: Vec<_> =
        expected.iter().map(|(part, message)| (*part, format!("schedule-{message}"))).collect();
    assert_eq!(actual, expected, "{text}");
}

/// Identifier and arguments, without the quoted text.
fn show_message(message: &Message) -> String {
    let shown = message.arguments.iter().filter_map(|(name, value)| match value {
        Argument::Count(count) => Some(format!(" {name}={count}")),
        Argument::Text(text) if text.starts_with('`') => None,
        Argument::Text(text) => Some(format!(" {name}={text}")),
        Argument::Message(_) | Argument::AnyOf(_) => unreachable!("schedules have no such messages"),
    });
    message.id.clone().into_owned() + &shown.collect::<String>()
}

#[test]
fn rejects_text_that_tank_misreads() {
    for (text, part, message) in [
        ("const(1, 1.5s)", "1.5s", "duration-fraction below=1 above=2"),
        ("const(1, 1.5m)", "1.5m", "duration-fraction below=none above=90"),
        ("const(1, 0.1s)", "0.1s", "duration-fraction below=none above=1"),
        ("const(1, 1500ms)", "1500ms", "duration"),
        ("const(1, 5s1m)", "5s1m", "duration"),
        ("const(1, 1m1m)", "1m1m", "duration"),
        ("const(1, 1h 30m)", "1h 30m", "duration"),
        ("const(1, -5)", "-5", "duration"),
        ("const(1, s)", "s", "duration"),
        ("const(1, 1.5x)", "1.5x", "duration"),
        ("const(1,)", "", "duration-missing"),
        ("const(1, 101d)", "101d", "duration-max max=100"),
        ("const(-1, 5)", "-1", "rate-negative"),
        ("const(1e3, 5)", "1e3", "rate"),
        ("const(10/s, 5)", "10/s", "rate"),
        ("const(1.2.3, 5)", "1.2.3", "rate"),
        ("const(., 5)", ".", "rate"),
        ("const(٣, 5)", "٣", "rate"),
        ("const(, 5)", "", "rate-missing"),
        ("const(0.1234567, 5)", "0.1234567", "decimals"),
        ("const(10000001, 5)", "10000001", "rate-max max=10000000"),
        ("line(1, 5, 0s)", "0s", "line-duration"),
        ("step(1, 5, 0, 5s)", "0", "increment"),
        ("line(1, 5)", "line(1, 5", "arity name=line arity=3 count=2"),
        ("const()", "const(", "arity name=const arity=2 count=1"),
        ("LINE(1, 5, 2s)", "LINE", "part nearest=line"),
        ("once(5)", "once", "part nearest=none"),
        ("(5)", "(", "unnamed"),
        ("ramp(5, 1m)", "ramp", "instances name=ramp"),
        ("", "", "empty"),
        (" \n ", " \n ", "empty"),
        ("const(1,1), const(2,1)", ",", "junk"),
        ("const(1,1))", ")", "junk"),
        ("const(1,1) x", "x", "junk"),
        ("const(1, 1", "(1, 1", "unclosed"),
        ("const(1, 1 const(2,1)", "(1, 1", "unclosed"),
        ("step(0, 10000000, 0.000001, 1s)", "step", "levels count=10000000000001 max=100000"),
        ("const(1, 60d) step(1, 2, 1, 21d)", "step", "total days=102 max=100"),
    ] {
        check_diagnostics(text, &[(part, message)]);
    }
}

#[test]
fn reports_all_diagnostics_at_once() {
    check_diagnostics(
        "line(-1, 5, 1.5s) and then const(1, 5s) stop(1)",
        &[
            ("-1", "rate-negative"),
            ("1.5s", "duration-fraction below=1 above=2"),
            ("and then", "junk"),
            ("stop", "part nearest=none"),
        ],
    );
    let Err(many) = parse(&"x(".repeat(10_000)) else { panic!("accepted") };
    assert!((MAX_DIAGNOSTICS..MAX_DIAGNOSTICS + 5).contains(&many.len()));
}

#[test]
fn limits_schedule_size() {
    assert!(parse("step(1, 100000, 1, 1s)").is_ok());
    assert!(parse("const(1, 1s) step(1, 100000, 1, 1s)").is_err());
    assert!(parse(&"const(1,99999999999999999999999999999999h)".repeat(3)).is_err());
}

proptest! {
    #[test]
    fn never_panics(text in "(line|const|step|[a-z ]{0,3})?[(]?([0-9]{0,3}[.,dhms( -]{0,2}){0,5}[)]?[\\PC]{0,3}") {
        let _ = parse(&text);
        let _ = parse(&text.repeat(3));
    }

    #[test]
    fn arbitrary_text_gets_a_result(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}") {
        let _ = parse(&text);
    }
}
