//! Tests of the live view in several sizes, terminals and languages

use super::*;
use crate::lang::{english, russian};
use model::PerSecond;
use model::live::{NodeCpu, PoolState, RecentQuantile};
use model::plan::LoadScale;
use model::validity::{Doubt, InvalidReason};

/// View in the thirteenth second of a trial.
fn live() -> LiveView {
    let series = |value: fn(usize) -> f64| (0..100).map(|n| Some(value(n))).collect::<Vec<_>>();
    let mut p99s = series(|n| 0.002 + (n % 9) as f64 * 0.001);
    p99s[98] = None;
    let event = |at, node: &str, text: &str| LogLine {
        at: Nanos::from_secs(at),
        node: node.to_owned(),
        text: text.to_owned(),
    };
    LiveView {
        trial: 3,
        cell: "transaction, 125".to_owned(),
        progress: Some(RunProgress { trials: 12, elapsed_share: 0.24, remaining: Nanos::from_secs(200) }),
        search: None,
        objectives: Vec::new(),
        latency_objective: None,
        activity: Activity::Measuring { second: 13, total: Nanos::from_secs(30) },
        second: Some(LiveSecond {
            rate: PerSecond(21_508.4),
            p50: Some(Nanos::from_micros(1_234)),
            p99: Some(Nanos::from_micros(12_345)),
            in_flight: 125,
            pools: vec![PoolState { node: "pooler".to_owned(), waiting: Some(105.0), busy: Some(20.0) }],
            processors: vec![
                NodeCpu { node: "pooler".to_owned(), processors: 0.494 },
                NodeCpu { node: "postgres".to_owned(), processors: 1.2 },
            ],
            ..LiveSecond::default()
        }),
        rates: series(|n| n as f64),
        medians: series(|n| (n % 3) as f64),
        p99s,
        quotas: vec![("pooler".to_owned(), 0.5)],
        events: vec![
            event(3, "postgres", "deadlock detected"),
            event(7, "pooler", "no more connections allowed"),
            event(12, "postgres", "canceling statement due to user request"),
        ],
    }
}

const UTF8: LiveStyle = LiveStyle { characters: CharacterSet::Utf8, colour: false };
const ASCII: LiveStyle = LiveStyle { characters: CharacterSet::Ascii, colour: false };

#[track_caller]
fn check(view: &LiveView, (columns, rows): (usize, usize), style: LiveStyle, lang: &Lang, expected: &str) {
    let lines = render_frame(view, TerminalSize { columns, rows }, style, lang);
    let drawn: String = lines.iter().map(|it| format!("{}\n", it.replace('\u{a0}', " "))).collect();
    let expected = expected.strip_prefix('\n').unwrap_or(expected);
    assert!(drawn == expected, "{columns} x {rows}\n{drawn}");
    let widest = lines.iter().map(|it| it.width()).max();
    assert!(style.colour || widest < Some(columns) || columns == 1, "wider than the terminal\n{drawn}");
    assert!(lines.len() <= (rows / 2).max(1), "higher than half of the terminal\n{drawn}");
}

#[test]
fn renders_at_several_sizes() {
    check(
        &live(),
        (80, 24),
        UTF8,
        english(),
        "
█████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  3/12  about 3 min 20 s left
transaction, 125: 13 of 30 s
rate  21508 tps  ▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████
p50     1.23 ms  █▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁
p99     12.3 ms  ▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇ ▂
0 failed, 125 in flight
pooler: 105 waiting, 20 servers busy
CPU: pooler 0.49 of 0.5, postgres 1.20
   7  pooler: no more connections allowed
  12  postgres: canceling statement due to user request
",
    );
    check(
        &live(),
        (40, 12),
        UTF8,
        english(),
        "
██░░░░░░░░  3/12  about 3 min 20 s left
transaction, 125: 13 of 30 s
rate  21508 tps  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████
p99     12.3 ms  ▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇ ▂
0 failed, 125 in flight
pooler: 105 waiting, 20 servers busy
",
    );
    check(
        &live(),
        (80, 5),
        UTF8,
        english(),
        "
█████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  3/12  about 3 min 20 s left
transaction, 125: 13 of 30 s
",
    );
    check(
        &live(),
        (80, 2),
        UTF8,
        english(),
        "
 3/12  transaction, 125: 13 of 30 s, 21508 tps, p50 1.23 ms, p99 12.3 ms, 0 fa…
",
    );
    check(&live(), (1, 1), UTF8, english(), "…\n");
}

#[test]
fn renders_without_utf8() {
    check(
        &live(),
        (60, 24),
        ASCII,
        english(),
        "
#######.......................  3/12  about 3 min 20 s left
transaction, 125: 13 of 30 s
rate  21508 tps  ----=========================#############
p50     1.23 ms  -#_-#_-#_-#_-#_-#_-#_-#_-#_-#_-#_-#_-#_-#_
p99     12.3 ms  -==##..---==##..---==##..---==##..---==# .
0 failed, 125 in flight
pooler: 105 waiting, 20 servers busy
CPU: pooler 0.49 of 0.5, postgres 1.20
   7  pooler: no more connections allowed
  12  postgres: canceling statement due to user request
",
    );
}

#[test]
fn renders_setting_up() {
    let view = LiveView {
        activity: Activity::Loading { sent: 1000, total: 100_000 },
        second: None,
        events: vec![],
        ..live()
    };
    check(
        &view,
        (80, 24),
        UTF8,
        english(),
        "
█████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  3/12  about 3 min 20 s left
transaction, 125: loading: 1000 of 100000 rows
",
    );
    assert_eq!(
        render_line(&view, CharacterSet::Utf8, english()),
        " 3/12  transaction, 125: loading: 1000 of 100000 rows; about 3 min 20 s left"
    );
}

/// Objectives and the state of a search, at 80 columns.
#[test]
fn renders_a_search_with_objectives() {
    let bracket = |sustained, failed| {
        Some(SearchBracket { scale: LoadScale::Rate, sustained, failed, remaining: None })
    };
    let mut view = LiveView {
        trial: 7,
        cell: "300 per second".to_owned(),
        progress: None,
        search: bracket(Some(292.0), Some(307.4)),
        objectives: vec!["p99 < 10ms".to_owned(), "errors < 1%".to_owned()],
        latency_objective: Some(LatencyObjective {
            text: "p99 < 10ms".to_owned(),
            metric: "p99".to_owned(),
            quantile: 0.99,
            operation: None,
            bound: Nanos::from_millis(10),
        }),
        events: vec![],
        ..live()
    };
    let second = view.second.as_mut().expect("the view has a measured second");
    second.recent_quantile = Some(RecentQuantile { value: Nanos::from_micros(12_345), seconds: 5 });
    (view.rates, view.medians, view.p99s) = (vec![], vec![], vec![]);
    check(
        &view,
        (80, 12),
        LiveStyle { colour: true, ..UTF8 },
        english(),
        "
step 7; the maximum is between 292 and 307 per second
\x1b[1m300 per second: 13 of 30 s\x1b[0m
rate  21508 tps
p99     12.3 ms
0 failed, 125 in flight
\x1b[31mobjectives: p99 < 10ms, errors < 1%; p99 12.3 ms in the last 5 s\x1b[0m
",
    );
    for (search, expected) in [
        (bracket(Some(292.0), None), "step 7; 292 per second sustained so far"),
        (bracket(None, Some(307.4)), "step 7; 307 per second not sustained"),
        (bracket(None, None), "step 7; the number of steps depends on the results"),
        (None, "step 7; the number of steps depends on the results"),
    ] {
        view.search = search;
        let lines = render_frame(&view, TerminalSize { columns: 80, rows: 24 }, UTF8, english());
        assert_eq!(lines[0], expected);
    }
    let known = bracket(Some(292.0), Some(307.4));
    view.search = known.map(|it| SearchBracket { remaining: Some(Nanos::from_secs(80)), ..it });
    let lines = render_frame(&view, TerminalSize { columns: 80, rows: 24 }, UTF8, english());
    assert_eq!(lines[0], "step 7; the maximum is between 292 and 307 per second; ends in about 1 min 20 s");
}

#[test]
fn highlights_failures() {
    let mut view = LiveView { events: vec![], ..live() };
    let second = view.second.as_mut().expect("the view has a measured second");
    (second.failed, second.dropped, second.refused) = (3, 2, 1);
    (second.p50, second.p99) = (None, None);
    second.pools.clear();
    second.processors.clear();
    (view.rates, view.medians, view.p99s) = (vec![Some(0.0), Some(5.0)], vec![None, None], vec![None, None]);
    check(
        &view,
        (80, 24),
        LiveStyle { colour: true, ..UTF8 },
        english(),
        "
█████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  3/12  about 3 min 20 s left
\x1b[1mtransaction, 125: 13 of 30 s\x1b[0m
rate  21508 tps  ▁█
p50           –
p99           –
\x1b[31m3 failed, 2 dropped, 1 refused, 125 in flight\x1b[0m
",
    );
}

#[test]
fn renders_one_line() {
    assert_eq!(
        render_line(&live(), CharacterSet::Utf8, english()),
        " 3/12  transaction, 125: 13 of 30 s, 21508 tps, p50 1.23 ms, p99 12.3 ms, 0 failed, 125 in flight, pooler: 105 waiting, 20 servers busy; about 3 min 20 s left"
    );
}

#[test]
fn sanitises_foreign_text() {
    for (text, utf8, ascii) in [
        ("plain", "plain", "plain"),
        ("a\x1b[31mb\u{9b}2Jc\r\nd\te", "a?[31mb?2Jc  d e", "a?[31mb?2Jc  d e"),
        ("\u{202e}abc\u{2066}d\u{200f}", "abcd", "abcd"),
        ("взаимная блокировка", "взаимная блокировка", "???????? ??????????"),
        ("表 e\u{301} 🐘", "表 e\u{301} 🐘", "? e? ?"),
    ] {
        assert_eq!(sanitise(text, CharacterSet::Utf8), utf8);
        assert_eq!(sanitise(text, CharacterSet::Ascii), ascii);
    }
    // Control sequences may come from any source.
    let evil = "\x1b]0;x\x07\u{202e}表".to_owned();
    let mut view = live();
    (view.cell, view.activity) = (evil.clone(), Activity::Starting { node: evil.clone() });
    let second = view.second.as_mut().expect("the view has a measured second");
    (second.pools[0].node, second.processors[0].node) = (evil.clone(), evil.clone());
    view.quotas[0].0 = evil.clone();
    view.events[2] = LogLine { at: Nanos::ZERO, node: evil.clone(), text: evil.clone() };
    let harmless = |text: &str, characters| {
        text.chars().all(|character| {
            !character.is_control()
                && !is_format(character)
                && (characters == CharacterSet::Utf8 || character.is_ascii())
        })
    };
    let done = FinishedTrial {
        trial: 1,
        trials: Some(1),
        cell: evil.clone(),
        figures: None,
        end: TrialEnd::Failed(evil),
    };
    for style in [UTF8, ASCII] {
        for columns in 1..100 {
            let lines = render_frame(&view, TerminalSize { columns, rows: 24 }, style, english());
            assert!(lines.iter().all(|it| harmless(it, style.characters)), "{lines:?}");
            assert!(columns == 1 || lines.iter().all(|it| it.width() < columns), "{columns}: {lines:?}");
        }
        for line in [
            render_line(&view, style.characters, english()),
            finished_line(&done, style.characters, english()),
        ] {
            assert!(harmless(&line, style.characters), "{line:?}");
        }
    }
}

#[test]
fn renders_finished_trials() {
    let figures = TrialFigures {
        rate: PerSecond(7508.4),
        p99: Some(Nanos::from_micros(9_304)),
        failed: 0,
        invalid: None,
        doubts: vec![],
    };
    let held_back = Some(InvalidReason::Throttled { share: 0.4 });
    let bad = TrialFigures { p99: None, failed: 7, invalid: held_back, ..figures.clone() };
    let (from, to) = (Nanos::from_secs(2), Nanos::from_secs(5));
    let doubts = vec![Doubt::Outage { count: 1, duration: to - from, from, to }];
    let down = TrialFigures { doubts, ..figures.clone() };
    let stopped = TrialEnd::Stopped { rule: "limit(5s)".to_owned(), second: 4 };
    let reason = "the generator was late or had no reserve";
    for (figures, end, english) in [
        (Some(&figures), TrialEnd::Complete, " 3/12  a: 7508 tps, p99 9.30 ms"),
        (
            Some(&bad),
            TrialEnd::Complete,
            " 3/12  a: 7508 tps, 7 failed, INVALID: the generator was throttled by its own CPU limit in 40 % of the quota's \
             periods",
        ),
        (
            Some(&bad),
            TrialEnd::NotCounted(reason.to_owned()),
            " 3/12  a: 7508 tps, 7 failed: does not count: the generator was late or had no reserve",
        ),
        (
            Some(&figures),
            TrialEnd::NotCounted(String::new()),
            " 3/12  a: 7508 tps, p99 9.30 ms: does not count",
        ),
        (Some(&figures), TrialEnd::Held, " 3/12  a: 7508 tps, p99 9.30 ms: sustained"),
        (
            Some(&figures),
            stopped.clone(),
            " 3/12  a: 7508 tps, p99 9.30 ms, stopped by limit(5s) after second 4",
        ),
        (
            Some(&down),
            TrialEnd::Complete,
            " 3/12  a: 7508 tps, p99 9.30 ms, no transaction succeeded for 3.00 s (from 2.00 s to 5.00 s)",
        ),
        (Some(&figures), TrialEnd::Interrupted, " 3/12  a: 7508 tps, p99 9.30 ms, interrupted"),
        (None, TrialEnd::Interrupted, " 3/12  a: interrupted before it began"),
        (None, TrialEnd::Skipped("no odyssey".to_owned()), " 3/12  a: skipped: no odyssey"),
        (Some(&figures), TrialEnd::Failed("pooler ended".to_owned()), " 3/12  a: failed: pooler ended"),
    ] {
        let trial = FinishedTrial {
            trial: 3,
            trials: Some(12),
            cell: "a".to_owned(),
            figures: figures.cloned(),
            end,
        };
        assert_eq!(finished_line(&trial, CharacterSet::Utf8, crate::lang::english()), english);
    }
}

#[test]
fn renders_in_russian() {
    check(
        &live(),
        (80, 24),
        UTF8,
        russian(),
        "
█████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  3/12  осталось около 3 мин 20 с
transaction, 125: 13 из 30 с
выполнено  21 508 транз/с  ▄▄▅▅▅▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████
p50               1,23 мс  ▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁▅█▁
p99               12,3 мс  ▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇█▂▃▄▅▅▆▇▇ ▂
ошибок: 0, в работе: 125
pooler: ждут 105, занято серверов 20
ЦП: pooler 0,49 из 0,5, postgres 1,20
   7  pooler: no more connections allowed
  12  postgres: canceling statement due to user request
",
    );
    assert_eq!(
        render_line(&live(), CharacterSet::Utf8, russian()).replace('\u{a0}', " "),
        " 3/12  transaction, 125: 13 из 30 с, 21 508 транз/с, p50 1,23 мс, p99 12,3 мс, ошибок: 0, в работе: 125, pooler: ждут 105, занято серверов 20; осталось около 3 мин 20 с"
    );
}

/// Each word has the form that its number requires.
#[test]
fn inflects_russian_words_by_number() {
    let seconds = Nanos::from_secs;
    let loaded = |rows| Milestone::Loaded { rows, took: seconds(2), rate: PerSecond(rows as f64 / 2.0) };
    let pool = |waiting, busy| PoolState { node: "pooler".to_owned(), waiting, busy };
    let counts = LiveSecond { failed: 1, dropped: 2, refused: 12_345, in_flight: 4, ..LiveSecond::default() };
    let figures = TrialFigures {
        rate: PerSecond(7508.4),
        p99: Some(Nanos::from_micros(9_304)),
        failed: 12_345,
        invalid: Some(InvalidReason::Suspended { duration: seconds(3) }),
        doubts: vec![],
    };
    let end = |figures: Option<&TrialFigures>, end| {
        russian().trial_finished(&FinishedTrial {
            trial: 1,
            trials: Some(1),
            cell: String::new(),
            figures: figures.cloned(),
            end,
        })
    };
    for (text, expected) in [
        (
            russian().run_begins(21, 1, 7, seconds(7_500)),
            "21 измерение, 1 ячейка, порядок по seed 7; под нагрузкой около 2 ч 5 мин",
        ),
        (
            russian().run_begins(2, 3, 7, seconds(75)),
            "2 измерения, 3 ячейки, порядок по seed 7; под нагрузкой около 1 мин 15 с",
        ),
        (
            russian().run_begins(5, 11, 7, seconds(5)),
            "5 измерений, 11 ячеек, порядок по seed 7; под нагрузкой около 5 с",
        ),
        (russian().activity(&Activity::Loading { sent: 1, total: 21 }), "загружено 1 из 21 строки"),
        (
            russian().activity(&Activity::Loading { sent: 50_000, total: 100_000 }),
            "загружено 50 000 из 100 000 строк",
        ),
        (
            russian().activity(&Activity::Restored { took: Nanos::from_millis(300) }),
            "данные восстановлены за 0,3 с",
        ),
        (russian().milestone(&loaded(1)), "загрузка: 1 строка за 2,0 с, 0 в секунду"),
        (russian().milestone(&loaded(22)), "загрузка: 22 строки за 2,0 с, 11 в секунду"),
        (russian().milestone(&Milestone::AlreadyLoaded { rows: 100_000 }), "уже на месте: 100 000 строк"),
        (
            russian().live_counts(&counts),
            "ошибок: 1, отброшено: 2, отказов в соединении: 12 345, в работе: 4",
        ),
        (russian().live_pool(&pool(Some(105.0), Some(20.0))), "pooler: ждут 105, занято серверов 20"),
        (russian().live_pool(&pool(None, Some(1.0))), "pooler: занято серверов 1"),
        (
            end(Some(&figures), TrialEnd::Stopped { rule: "limit(5s)".to_owned(), second: 4 }),
            "7508 транз/с, p99 9,30 мс, ошибок: 12 345, НЕДОСТОВЕРНО: машина была приостановлена на 3,00 с, остановлено по \
             правилу limit(5s) после секунды 4",
        ),
        (end(None, TrialEnd::Interrupted), "прервано до начала"),
        (end(None, TrialEnd::Skipped("нет odyssey".to_owned())), "пропущено: нет odyssey"),
        (russian().live_lost(3), "(не удалось вовремя показать: 3 строки)"),
    ] {
        assert_eq!(text.replace('\u{a0}', " "), expected);
    }
}
