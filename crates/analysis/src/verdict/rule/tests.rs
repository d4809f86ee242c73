use super::fixture::{context, tick};
use super::*;

/// Checks the seconds, from 0 on, at which `rule` fires. `2<1` means that it fires at second 2 because of second 1. All
/// consecutive seconds at which it fires are listed, because it continues to fire, as Tank's rules do.
#[track_caller]
fn check(rule: &str, seconds: &[&str], expected: &str) {
    let mut rule = parse(rule, &context()).unwrap_or_else(|it| panic!("{rule}: {it:?}")).rule;
    let fired = seconds.iter().enumerate().find_map(|(n, text)| rule.tick(&tick(n as u64, text)));
    let shown = fired.map_or("-".to_owned(), |it| format!("{}<{}", it.at_second, it.cause_second));
    assert_eq!(shown, expected, "{} over {seconds:?}", rule.text());
}

/// Checks several rules over the same seconds.
#[track_caller]
fn check_all(rows: &[(&str, &str)], seconds: &[&str]) {
    rows.iter().for_each(|(rule, expected)| check(rule, seconds, expected));
}

const SLOW: &str = "1500ms*10";
const FAST: &str = "60ms*10";

#[test]
fn fires_on_mean_times() {
    for (rule, seconds, expected) in [
        ("time(100ms, 3s)", &["200ms"; 10][..], "2<0"),
        ("time(100, 3)", &["200ms"; 10], "2<0"),
        // A good second resets the count.
        ("time(100ms, 3s)", &["200ms", "200ms", "10ms", "200ms", "200ms", "200ms"], "5<3"),
        ("time(100ms, 3s)", &["200ms", "300ms*2", "400ms"], "2<0"),
        // The mean must be strictly greater.
        ("time(200ms, 1)", &["200ms"; 3], "-"),
        ("time(199ms, 1)", &["200ms"; 3], "0<0"),
        // The rule compares the mean, not single responses.
        ("time(100ms, 1)", &["10ms*9 900ms*1"], "-"),
        ("time(100ms, 1)", &["10ms*9 911ms*1"], "0<0"),
        // A second without responses is good.
        ("time(100ms, 2s)", &["", "", ""], "-"),
        ("time(100ms, 2s)", &["200ms", "", "200ms", ""], "-"),
        ("time(100ms, 2s)", &["net110*5", "sql40P01*5"], "-"),
        // A second is bad if all responses were unanswered, or if in-flight transactions are still waiting.
        ("time(100ms, 2s)", &["10ms*9", "unknown104*4", "dropped*9"], "2<1"),
        ("time(100ms, 2s)", &["10ms*9", "10ms*9 dropped*9"], "-"),
        ("time(2s, 2s)", &["10ms*9", "flight4", "flight4", "flight4", "flight4"], "4<3"),
        ("time(2s, 2s)", &["10ms*9", "flight4", "flight4", "10ms*4", "flight4", "flight4"], "-"),
        ("time(2s, 1s)", &["", "", "", ""], "-"),
        // One operation.
        ("time(100ms, 2s, b)", &["900ms"; 5], "-"),
        ("time(100ms, 2s, b)", &["1ms*100 b: 900ms"; 5], "1<0"),
        ("time(100ms, 2s)", &["1ms*100 b: 900ms"; 5], "-"),
        ("time(100ms, 2s)", &["1ms b: 900ms"; 5], "1<0"),
        ("time(1s500ms, 1m)", &["1600ms"; 60], "59<0"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_quantiles() {
    for (rule, seconds, expected) in [
        ("quantile(99.0, 100ms, 2s)", &["200ms*10"; 5][..], "1<0"),
        ("quantile(99, 100ms, 1s)", &["50ms*10"; 5], "-"),
        ("quantile(50, 100ms, 1s)", &["50ms*6 900ms*4"], "-"),
        ("quantile(75, 100ms, 1s)", &["50ms*6 900ms*4"], "0<0"),
        ("quantile(100, 100ms, 1s)", &["50ms*999 900ms"], "0<0"),
        ("quantile(99.9, 100ms, 1s)", &["50ms*998 900ms*2"], "0<0"),
        // An arrival without a response is longer than any limit. A failure with a response has no time.
        ("quantile(99, 100ms, 1s)", &["", "net110*100"], "1<1"),
        ("quantile(99, 100ms, 1s)", &["", "sql40P01*100"], "-"),
        ("quantile(99, 100ms, 1s)", &["50ms*100", "50ms*98 dropped*2"], "1<1"),
        ("quantile(95, 100ms, 1s)", &["50ms*100", "50ms*98 dropped*2"], "-"),
        ("quantile(99, 100ms, 1s, b)", &["50ms*100 dropped*9 b: 50ms*9"], "-"),
        ("quantile(99, 100ms, 1s, b)", &["50ms*100 b: 50ms*9 unknown104*1"], "0<0"),
        ("quantile(99, 100ms, 2s)", &["200ms", "", "200ms"], "-"),
        // The quantile of one operation, or of both operations together.
        ("quantile(99, 100ms, 1s, b)", &["10ms*10 b: 500ms*10"], "0<0"),
        ("quantile(99, 100ms, 1s, a)", &["10ms*10 b: 500ms*10"], "-"),
        ("quantile(50, 100ms, 1s)", &["10ms*60 b: 500ms*50"], "-"),
        ("quantile(50, 100ms, 1s)", &["10ms*50 b: 500ms*60"], "0<0"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_http_statuses() {
    for (rule, seconds, expected) in [
        ("http(5xx, 1, 1s)", &["http500 1ms*9"][..], "0<0"),
        ("http(5xx, 1, 1s)", &["1ms*10"], "-"),
        ("http(5XX, 1, 1s)", &["http500 1ms*9"], "0<0"),
        ("http(5xx, 10%, 1s)", &["http503*5 1ms*95"], "-"),
        ("http(5xx, 10%, 1s)", &["http503*15 1ms*85"], "0<0"),
        // The rule fires at the threshold and above.
        ("http(5xx, 10%, 1s)", &["http503*10 1ms*90"], "0<0"),
        ("http(5xx, 10%, 1s)", &["", ""], "-"),
        ("http(5xx, 3, 2s)", &["http500*3"; 5], "1<0"),
        ("http(5xx, 4, 2s)", &["http500*3"; 5], "-"),
        ("http(5xx, 3, 3s)", &["http500*3", "http500*3", "http500*2", "http500*3"], "-"),
        ("http(503, 2, 1)", &["http503*2 http502*9"], "0<0"),
        ("http(503, 3, 1)", &["http503*2 http502*9"], "-"),
        ("http(50x, 11, 1)", &["http503*2 http502*9 http510*9"], "0<0"),
        ("http(50x, 12, 1)", &["http503*2 http502*9 http510*9"], "-"),
        ("http(5xx , 1, 1s)", &["http500 1ms*9"], "0<0"),
        // A success counts as 200, and a transaction without a status as 0.
        ("http(2xx, 90%, 1s)", &["1ms*9 http404"], "0<0"),
        ("http(0, 3, 1s)", &["net110*2 sql40P01"], "0<0"),
        ("http(5xx, 1, 1s, b)", &["http500*9"], "-"),
        ("http(5xx, 50%, 1s, b)", &["1ms*90 b: http500*5 1ms*5"], "0<0"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_failures_of_all_kinds() {
    for (rule, seconds, expected) in [
        ("errors(3, 1s)", &["net110 http503 sql40P01"][..], "0<0"),
        ("errors(3, 1s)", &["net110 unknown104 1ms*9"], "-"),
        ("errors(5%, 2s)", &["http404*5 1ms*95"; 3], "1<0"),
        ("errors(5%, 2s)", &["http404*5 1ms*96"; 3], "-"),
        ("errors(5%, 2s)", &["http404*5", "1ms", "http404*5", ""], "-"),
        // A connection refused by the network or by the server counts as failed.
        ("errors(50%, 1s)", &["refused111*3 refused53300*2 1ms*5"], "0<0"),
        ("errors(50%, 1s, a)", &["refused111*3 refused53300*2 1ms*5"], "-"),
        // A dropped arrival did not succeed either.
        ("errors(51, 1s)", &["dropped*50 1ms"], "-"),
        ("errors(50%, 2s)", &["1ms*9", "dropped*50", "dropped*50"], "2<1"),
        ("errors(50%, 1s, b)", &["1ms*90 b: sql40001*5 1ms*5"], "0<0"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_network_codes() {
    for (rule, seconds, expected) in [
        // Code 0 never counts as a failure, whatever the mask.
        ("net(0, 1, 1s)", &["1ms*10"][..], "-"),
        ("net(x, 1, 1s)", &["1ms*10 sql40P01*5 http500*5"], "-"),
        ("net(110, 1, 1s)", &["net110 1ms*9"], "0<0"),
        ("net(110 , 1, 1s)", &["net110 1ms*9"], "0<0"),
        ("net(11x, 2, 1s)", &["net110 unknown111 net104"], "0<0"),
        ("net(11x, 3, 1s)", &["net110 unknown111 net104"], "-"),
        ("net(xx, 50%, 1s)", &["net110*5 1ms*5"], "0<0"),
        ("net(xx, 50%, 1s)", &["", ""], "-"),
        // A response that lacks its expected text is a failure, but not a network failure.
        ("net(xx, 1, 1s)", &["text*5 capture*5"], "-"),
        ("errors(10, 1s)", &["text*5 capture*5"], "0<0"),
        // A refused connection is a network failure. A refused login is not.
        ("net(111, 5, 1s)", &["refused111*5"], "0<0"),
        ("net(xx, 5, 1s)", &["refused53300*5"], "-"),
        ("net(xx, 50%, 1s)", &["refused111*5 1ms*6"], "-"),
        ("net(xx, 1, 1s, a)", &["refused111*5"], "-"),
        // Dropped arrivals got no response, so they have no code.
        ("net(xx, 1, 1s)", &["dropped*50"], "-"),
        ("net(xx, 100%, 1s)", &["dropped*50 net110"], "0<0"),
    ] {
        check(rule, seconds, expected);
    }
    // At least 25 responses with any code except 0 in each of ten consecutive seconds.
    let bad = "net110*15 unknown104*9 net111 1ms*75";
    check("net(xx,25,10)", &[bad; 12], "9<0");
    check("net(xx,25,10)", &["net110*24 1ms*75"; 12], "-");
    check("net(xx,25,10)", &["net110*250", "", "", "", "", "", "", "", "", ""], "-");
    let interrupted: Vec<&str> = (0..25).map(|n| if n == 9 { "1ms" } else { bad }).collect();
    check("net(xx,25,10)", &interrupted, "19<10");
}

#[test]
fn counts_a_refused_connection_once() {
    let each = RuleContext { reconnect: true, ..context() };
    for (rule_context, expected) in [(context(), true), (each, false)] {
        let mut rule = parse("net(111, 2, 1)", &rule_context).expect("well-formed").rule;
        assert_eq!(rule.tick(&tick(0, "net111 refused111")).is_some(), expected);
    }
}

#[test]
fn fires_on_sqlstates() {
    for (rule, seconds, expected) in [
        ("sql(40P01, 5, 3)", &["sql40P01*5 1ms*9"; 4][..], "2<0"),
        ("sql(40P01, 5, 3)", &["sql40001*5 1ms*9"; 4], "-"),
        ("sql(40xxx, 5, 1)", &["sql40001*3 sql40P01*2"], "0<0"),
        ("sql(xxxxx, 5, 1)", &["sql23505*3 sql40P01*2 net110*9"], "0<0"),
        ("sql(xxxxx, 6, 1)", &["sql23505*3 sql40P01*2 net110*9"], "-"),
        // Refused logins have an SQLSTATE.
        ("sql(53xxx, 20%, 1)", &["1ms*80 refused53300*20"], "0<0"),
        ("sql(53xxx, 20%, 1)", &["1ms*81 refused53300*20"], "-"),
        ("sql(XX000, 1, 1)", &["sqlXX000"], "0<0"),
        ("sql(XX000, 1, 1)", &["sql40000"], "-"),
        ("total_sql(40P01, 10, 5)", &["sql40P01*2 1ms*8"; 6], "4<0"),
        ("total_sql(40P01, 11, 5)", &["sql40P01*2 1ms*8"; 6], "-"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_in_flight_transactions() {
    for (rule, seconds, expected) in [
        ("instances(5, 2s)", &["flight7"; 4][..], "1<0"),
        ("instances(7, 1s)", &["flight7"; 4], "-"),
        ("instances(50%, 1s)", &["flight40", "flight50", "flight60"], "2<2"),
        ("instances(5, 2s)", &["flight7", "flight5", "flight7", "flight8"], "3<2"),
        ("instances(5, 2s)", &["", ""], "-"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_elapsed_time() {
    for (rule, expected) in [("limit(3)", "2<2"), ("limit(5s)", "4<4"), ("limit(1m)", "-")] {
        check(rule, &[""; 10], expected);
    }
}

#[test]
fn fires_on_metrics() {
    for (rule, seconds, expected) in [
        ("metric_higher(postgres, cpu, 0.9, 2)", &["postgres.cpu=0.95"; 3][..], "1<0"),
        ("metric_higher(postgres, cpu, 0.95, 1)", &["postgres.cpu=0.95"; 3], "-"),
        ("metric_lower(postgres, free, 5, 2)", &["postgres.free=4"; 3], "1<0"),
        ("metric_lower(postgres, free, 4, 1)", &["postgres.free=4"; 3], "-"),
        // A second without a sample counts neither as 0 nor as a good second.
        ("metric_lower(postgres, free, 5, 2)", &["", "", "pooler.free=1", ""], "-"),
        (
            "metric_higher(postgres, cpu, 1, 3)",
            &["postgres.cpu=2", "", "postgres.cpu=2", "", "postgres.cpu=2"],
            "4<0",
        ),
        ("metric_higher(postgres, cpu, 1, 2)", &["postgres.cpu=2", "postgres.cpu=0", "postgres.cpu=2"], "-"),
        ("metric_higher(p*, cpu, 1, 1)", &["host.cpu=9", "pooler.cpu=9"], "1<1"),
        // The last sample of the second decides.
        ("metric_higher(*, cpu, 1, 1)", &["a.cpu=9 a.cpu=0"], "-"),
        ("metric_higher(*, cpu, 1, 1)", &["a.cpu=9 b.cpu=0"], "0<0"),
        ("metric_higher(*, backends, 1, 1)", &["a.backends:idle=9 a.backends:active=0"], "0<0"),
        ("metric_higher(*, backends:active, 1, 1)", &["a.backends:idle=9 a.backends:active=0"], "-"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn fires_on_times_over_a_window() {
    for (rule, seconds, expected) in [
        ("total_time(300ms, 70%, 3s)", &[SLOW; 10][..], "2<0"),
        ("total_time(300ms, 70%, 3s)", &[FAST; 10], "-"),
        // The share is that of all responses of the window, not the mean of the shares of its seconds.
        ("total_time(300ms, 70%, 2s)", &["60ms*30", "1500ms*70"], "1<0"),
        ("total_time(300ms, 70%, 2s)", &["60ms*31", "1500ms*69"], "-"),
        ("total_time(300ms, 50%, 1s)", &["100ms*10 300ms*40 1000ms*50"], "0<0"),
        ("total_time(300ms, 50%, 1s)", &["100ms*10 300ms*41 1000ms*49"], "-"),
        ("total_time(300ms, 50%, 1s)", &["100ms*3 1500ms*7"], "0<0"),
        ("total_time(300ms, 50%, 1s)", &["300ms*10"], "-"),
        ("total_time(300ms, 100%, 2s)", &[FAST, SLOW, SLOW], "2<1"),
        ("total_time(300ms, 70%, 2s, b)", &["60ms*90 b: 1500ms*10"; 5], "1<0"),
        ("total_time(300ms, 70%, 2s, b)", &["1500ms*90 b: 60ms*10"; 5], "-"),
        ("total_time(300ms, 100%, 2s, b)", &[FAST, "b: 1500ms*10", FAST], "1<0"),
        ("total_time(300ms, 100%, 2s, b)", &[FAST; 5], "-"),
        ("total_time(300ms, 1%, 2s)", &["", "", "", "sql40P01*9"], "-"),
        // An arrival without a response is longer than any limit.
        ("total_time(300ms, 1%, 2s)", &["", "", "", "net110*9"], "3<2"),
        ("total_time(300ms, 50%, 1s)", &["60ms*10", "60ms*10 dropped*10"], "1<1"),
        ("total_time(300ms, 100%, 2s)", &[SLOW, "", SLOW], "1<0"),
    ] {
        check(rule, seconds, expected);
    }
}

/// Four rules at this level, each with a bad code: `http500` for the first rule, `net110` for the second. For the
/// negative rules, every code that does not match is bad.
fn families(level: &str) -> [(String, &'static str); 4] {
    [
        ("total_http(5xx", "http500"),
        ("total_net(110", "net110"),
        ("negative_http(2xx", "http500"),
        ("negative_net(0", "net110"),
    ]
    .map(|(rule, bad)| (format!("{rule}, {level})"), bad))
}

#[test]
fn fires_on_codes_over_a_window() {
    for (level, seconds, expected) in [
        // A count is the sum over the window.
        ("10, 5s", &["1ms*8 BAD*2"; 10][..], "4<0"),
        ("11, 5s", &["1ms*8 BAD*2"; 10], "-"),
        // A rule does not fire before the window is full.
        ("1, 3s", &["BAD*100"; 10], "2<0"),
        // The share equals the threshold.
        ("10%, 2s", &["1ms*90 BAD*10"; 5], "1<0"),
        ("10%, 2s", &["1ms*91 BAD*9"; 5], "-"),
        ("29%, 1s", &["1ms*71 BAD*29"], "0<0"),
        ("57%, 1s", &["1ms*43 BAD*57"], "0<0"),
        ("58%, 3s", &["1ms*42 BAD*58"; 3], "2<0"),
        // Each second's percentage has the same weight.
        ("50%, 2s", &["1ms*1000", "BAD*10"], "1<0"),
        ("46%, 2s", &["1ms*100 BAD*900", "1ms*10"], "-"),
        ("45%, 2s", &["1ms*100 BAD*900", "1ms*10"], "1<0"),
        // A second without responses has no percentage; it is not 1, as in Tank, nor 0 or 100.
        ("50%, 2s", &["", "", ""], "-"),
        ("1%, 2s", &["", "", ""], "-"),
        ("1%, 2s", &["1ms*10", "", "1ms*10"], "-"),
        ("100%, 2s", &["BAD*10", ""], "1<0"),
        ("1, 2s", &["", "", ""], "-"),
        // Seconds outside the window do not count.
        ("10, 3s", &["BAD*5", "1ms*5", "1ms*5", "BAD*5", "1ms*5", "1ms*5", "BAD*5"], "-"),
        ("100%, 2s", &["1ms*10", "BAD*10", "BAD*10"], "2<1"),
        // One operation.
        ("50%, 2s, b", &["1ms*10 b: BAD*10"; 5], "1<0"),
        ("50%, 2s, b", &["BAD*10 b: 1ms*10"; 5], "-"),
        ("1, 2s, b", &["BAD*10"; 5], "-"),
        ("1%, 2s, b", &["BAD*10"; 5], "-"),
        ("50%, 2s, b", &["b: BAD*10", "1ms*1000"], "1<0"),
    ] {
        for (rule, bad) in families(level) {
            let seconds: Vec<String> = seconds.iter().map(|it| it.replace("BAD", bad)).collect();
            let seconds: Vec<&str> = seconds.iter().map(String::as_str).collect();
            check(&rule, &seconds, expected);
        }
    }
    let mixed = ["http500*3 http503*2 http524*2 http404*4 1ms*10"];
    for (mask, matching) in [("5xx", 7), ("50x", 5), ("503", 2), ("5XX", 7), ("404", 4), ("2xx", 10)] {
        check(&format!("total_http({mask}, {matching}, 1s)"), &mixed, "0<0");
        check(&format!("total_http({mask}, {}, 1s)", matching + 1), &mixed, "-");
        check(&format!("negative_http({mask}, {}, 1s)", 21 - matching), &mixed, "0<0");
        check(&format!("negative_http({mask}, {}, 1s)", 22 - matching), &mixed, "-");
    }
}

#[test]
fn fires_on_network_codes_over_a_window() {
    // For the negative rule, 0 is a code like any other.
    let levels = ["1%", "50%", "100%", "1", "50", "100"];
    for code in [1, 100] {
        let (same, other) = (format!("net{code}*100"), format!("net{}*100", code + 1));
        for level in levels {
            check(&format!("negative_net({code}, {level}, 10s)"), &[same.as_str(); 20], "-");
            check(&format!("negative_net({code}, {level}, 10s)"), &[other.as_str(); 12], "9<0");
        }
        for percent in [1, 50, 100] {
            let rule = format!("negative_net({code}, {percent}%, 10s)");
            let seconds = format!("net{code}*{} net110*{}", 1000 - 10 * percent, 10 * percent);
            check(&rule, &[seconds.as_str(); 10], "9<0");
            check(&format!("negative_net({code}, {percent}, 10s)"), &[""; 20], "-");
        }
    }
    for level in levels {
        check(&format!("negative_net(0, {level}, 10s)"), &["1ms*100"; 20], "-");
        check(&format!("negative_net(0, {level}, 10s)"), &["net1*100"; 12], "9<0");
        check(&format!("total_net(0, {level}, 1s)"), &["1ms*100"; 3], "-");
    }
    let rising: Vec<&str> = [["net110*40"; 5], ["net110*80"; 5]].concat();
    check("negative_net(0, 50, 10s)", &rising, "9<0");
    check("total_net(0, 1, 1s, a)", &["1ms*10"; 3], "-");
    check("total_net(xx, 30, 3)", &["net104*5 unknown110*5 1ms"; 4], "2<0");
    check("negative_net(xx, 1, 1)", &["net104*5 unknown110*5"; 4], "-");
    check("negative_net(xx, 1, 1)", &["net104*5 1ms"; 4], "0<0");
}

#[test]
fn fires_on_decreasing_trends() {
    for (rule, seconds, expected) in [
        // Changes are between seconds, so a window of three needs four.
        (
            "http_trend(2xx, 3s)",
            &["1ms*100", "1ms*96 http500*4", "1ms*92 http500*8", "1ms*88 http500*12"][..],
            "3<2",
        ),
        ("http_trend(2xx, 3s)", &["1ms*100"; 6], "-"),
        ("http_trend(2xx, 3s)", &["1ms*50", "1ms*60", "1ms*70", "1ms*80", "1ms*90", "1ms*100"], "-"),
        (
            "http_trend(2xx, 3s)",
            &["1ms*50 http500*50", "1ms*50 http500*40", "1ms*50 http500*30", "1ms*50"],
            "-",
        ),
        // The mean change is −4, with an error of 6.
        ("http_trend(2xx, 3s)", &["1ms*100", "1ms*90", "1ms*98", "1ms*88"], "-"),
        (
            "http_trend(2xx, 3s, b)",
            &["1ms*300 b: 1ms*100", "1ms*310 b: 1ms*96", "1ms*320 b: 1ms*92", "b: 1ms*88"],
            "3<2",
        ),
        (
            "http_trend(2xx, 3s, b)",
            &["1ms*300 b: 1ms", "1ms*250 b: 1ms", "1ms*200 b: 1ms", "1ms*150 b: 1ms"],
            "-",
        ),
        ("http_trend(2xx, 3s)", &["", "", "", ""], "-"),
        // One gap is not a trend, because its error is as large as the change.
        ("http_trend(2xx, 3s)", &["1ms*100", "1ms*100", "1ms*100", "", "1ms*100", "1ms*100", "1ms*100"], "-"),
        ("http_trend(5xx, 1s)", &["http500*9", "http500*8"], "1<1"),
    ] {
        check(rule, seconds, expected);
    }
}

#[test]
fn reports_the_rule_that_fired() {
    let mut rule = parse(" net( xx , 2 , 2 ) ", &context()).expect("well-formed").rule;
    assert_eq!(rule.tick(&tick(0, "1ms*50")), None);
    assert_eq!(rule.tick(&tick(1, "net110*3 1ms*97")), None);
    let fired = StopEvent {
        rule: "net( xx , 2 , 2 )".into(),
        cause_second: 1,
        at_second: 2,
        rate_at_cause: PerSecond(100.0),
        tank_rc: Some(23),
    };
    assert_eq!(rule.tick(&tick(2, "net110*2 1ms*7")), Some(fired.clone()));
    // A rule that fires again has the same cause.
    assert_eq!(rule.tick(&tick(3, "net110*2 1ms*7")), Some(StopEvent { at_second: 3, ..fired }));
}

#[test]
fn reports_the_first_of_several_rules() {
    let ticks: Vec<Tick> = (0..9).map(|n| tick(n, "net110*3 200ms*97")).collect();
    let rules = |texts: &[&str]| -> Vec<Rule> {
        texts.iter().map(|it| parse(it, &context()).expect("well-formed").rule).collect()
    };
    for (texts, expected) in [
        (&["net(xx,3,5)", "time(100,2)"][..], Some("time(100,2)")),
        (&["net(xx,3,2)", "time(100,2)"], Some("net(xx,3,2)")),
        (&["net(xx,4,2)"], None),
        (&[], None),
    ] {
        let fired = replay(&mut rules(texts), &ticks);
        assert_eq!(fired.map(|it| it.rule).as_deref(), expected);
    }
}

#[test]
fn exit_statuses_equal_tanks() {
    let rows = [
        ("time(1, 1)", Some(21)),
        ("quantile(50, 1, 1)", Some(21)),
        ("limit(1)", Some(21)),
        ("http(5xx, 1, 1)", Some(22)),
        ("net(xx, 1, 1)", Some(23)),
        ("instances(1, 1)", Some(24)),
        ("total_time(1, 1%, 1)", Some(25)),
        ("total_http(5xx, 1, 1)", Some(26)),
        ("total_net(xx, 1, 1)", Some(27)),
        ("negative_http(2xx, 1, 1)", Some(28)),
        ("negative_net(0, 1, 1)", Some(29)),
        ("http_trend(2xx, 1)", Some(30)),
        ("metric_higher(*, cpu, 1, 1)", Some(31)),
        ("metric_lower(*, cpu, 1, 1)", Some(32)),
        ("errors(1, 1)", None),
        ("sql(40P01, 1, 1)", None),
        ("total_sql(40P01, 1, 1)", None),
    ];
    for (rule, rc) in rows {
        assert_eq!(parse(rule, &context()).expect("well-formed").rule.tank_rc, rc, "{rule}");
    }
    assert_eq!(rows.len(), RULES.len());
    check_all(&[("time(1, 1)", "0<0"), ("net(xx, 1, 1)", "-")], &["2ms"]);
}

#[test]
fn reports_diagnostics_with_position() {
    for (rule, offset, expected, message) in [
        ("", 0, "", "unknown"),
        ("net", 0, "net", "unknown"),
        ("  nett(xx,25,10)", 2, "nett", "unknown"),
        ("steady_cumulative(10)", 0, "steady_cumulative", "not-in-tank"),
        ("net(xx,25,10", 12, "", "unclosed"),
        ("net(xx,25,10) time(1,1)", 14, "time(1,1)", "trailing"),
        ("net()", 4, "", "mask-net"),
        ("net(xx)", 6, "", "level"),
        ("net(xx,25)", 9, "", "seconds"),
        ("net(xx,,10)", 7, "", "level"),
        ("net(xx, often, 10)", 8, "often", "level"),
        ("net(xx, 1.5, 10)", 8, "1.5", "level"),
        ("net(xx, 0, 10)", 8, "0", "level"),
        ("net(xx, 0%, 10)", 8, "0%", "level"),
        ("net(xx, 101%, 10)", 8, "101%", "level"),
        ("net(xx, NaN%, 10)", 8, "NaN%", "level"),
        ("net(xx, 10%, 10x)", 13, "10x", "seconds"),
        ("net(xx, 10%, 500ms)", 13, "500ms", "seconds"),
        ("net(xx, 10%, 1.5s)", 13, "1.5s", "seconds"),
        ("net(xx, 10%, 0)", 13, "0", "seconds"),
        ("net(xx, 10%, 10, c)", 17, "c", "operation"),
        ("net(xx, 10%, 10, a, b)", 20, "b", "surplus"),
        ("net(40P01, 1, 1)", 4, "40P01", "mask-net"),
        ("http([45]xx, 1, 1)", 5, "[45]xx", "mask-http"),
        ("sql(40, 1, 1)", 4, "40", "mask-sql"),
        ("sql(40p01, 1, 1)", 4, "40p01", "mask-sql"),
        ("time(fast, 10)", 5, "fast", "time"),
        ("time(1.5s, 10)", 5, "1.5s", "time"),
        ("quantile(p99, 1s, 10)", 9, "p99", "quantile"),
        ("quantile(0, 1s, 10)", 9, "0", "quantile"),
        ("total_time(300ms, 70%)", 21, "", "seconds"),
        ("total_time(300ms, many%, 3s)", 18, "many%", "level"),
        ("total_time(300ms, 70, 3s)", 18, "70", "percent"),
        ("total_time(300ms)", 16, "", "level"),
        ("http_trend(2xx)", 14, "", "seconds"),
        ("limit(soon)", 6, "soon", "seconds"),
        ("metric_higher(, cpu, 1, 1)", 14, "", "node"),
        ("metric_higher(*, , 1, 1)", 17, "", "metric"),
        ("metric_higher(*, cpu, high, 1)", 22, "high", "number"),
        ("http(ё, 1, 1)", 5, "ё", "mask-http"),
    ] {
        let diagnostic = parse(rule, &context()).expect_err(rule);
        let id = diagnostic.message.id.strip_prefix("rule-");
        let part = &rule[diagnostic.span.clone()];
        assert_eq!((diagnostic.span.start, part, id), (offset, expected, Some(message)), "{rule}");
    }
}

#[test]
fn a_rule_reports_its_series_and_missing_values() {
    for (rule, series, samples, blind) in [
        ("metric_higher(*, pg_backends:active, 1, 1)", Some((17, "pg_backends")), "a.cpu=9", true),
        ("metric_lower( a, cpu, 1, 1)", Some((17, "cpu")), "a.cpu=9", false),
        ("metric_lower(b, cpu, 1, 1)", Some((16, "cpu")), "a.cpu=9", true),
        ("net(xx, 1, 1)", None, "", false),
    ] {
        let mut parsed = parse(rule, &context()).expect(rule);
        let named = series.map(|(offset, name)| SeriesName { offset, name: name.to_owned() });
        assert_eq!(parsed.series, named, "{rule}");
        parsed.rule.tick(&tick(0, samples));
        assert_eq!(parsed.rule.is_blind(), blind, "{rule}");
    }
}

#[test]
fn reports_differences_from_tank() {
    use TankDifference::*;
    let times = || TimesOfFailures;
    for (rule, expected) in [
        ("net(xx,25,10)", vec![MaskOfX { mask: "xx".into() }]),
        ("net(110,25,10)", vec![]),
        ("http(5xx, 1, 1)", vec![]),
        ("http(xxx, 1, 1)", vec![MaskOfX { mask: "xxx".into() }]),
        ("quantile(99, 1s, 10)", vec![times()]),
        ("quantile(99.9, 1s, 10)", vec![OtherQuantile { percent: 99.9 }, times()]),
        ("time(1s, 10)", vec![times()]),
        ("total_time(1s, 10%, 10)", vec![times(), RoundedLimit { limit_ms: 1000.0 }]),
        ("total_net(110, 10%, 10)", vec![MeanOfPercents]),
        ("total_net(110, 10, 10)", vec![]),
        ("metric_lower(*, free, 1, 1)", vec![MissingMetric]),
        ("instances(10, 1)", vec![]),
        ("instances(10%, 1)", vec![InstancesShare]),
        ("sql(xxxxx, 1, 1)", vec![NotInTank]),
        ("limit(10)", vec![]),
    ] {
        assert_eq!(parse(rule, &context()).expect(rule).warnings, expected, "{rule}");
    }
}
