//! Strip of current values at the top of a live page

use crate::lang::Lang;
use crate::say;
use crate::view::{LargeFigure, Tone};
use model::live::{LiveSecond, LiveStatus};

/// Text for a value that is currently unknown.
const NOTHING: &str = "–";

/// Figures of a run in progress: rate, the response-time quantile of the objective or p99, errors, and elapsed time.
/// Without a current second, the first three are shown as unknown.
pub fn figures(status: &LiveStatus, lang: &Lang) -> Vec<LargeFigure> {
    let silence = status.silence.map(|silence| {
        let duration = lang.whole_seconds(silence);
        say!(lang, "live-now-silence", duration)
    });
    let [rate, quantile, errors] = match &status.second {
        Some(second) => [rate(second, lang), quantile(second, status, lang), errors(second, lang)],
        None => Default::default(),
    };
    let figure = |label: String, figure: LargeFigure| LargeFigure { label, ..figure };
    let mut all = vec![
        figure(say!(lang, "live-now-rate"), rate),
        figure(status.objective.as_ref().map_or("p99", |it| it.metric.as_str()).to_owned(), quantile),
        figure(say!(lang, "live-now-errors"), errors),
    ];
    if status.second.is_none() {
        all.iter_mut().for_each(|figure| figure.value = NOTHING.to_owned());
        if let Some(silence) = silence {
            (all[0].detail, all[0].tone) = (silence, Tone::Bad);
        }
    }
    all.push(LargeFigure {
        label: say!(lang, "live-now-elapsed"),
        value: lang.whole_seconds(status.elapsed),
        detail: match status.remaining {
            Some(remaining) => lang.live_left(remaining),
            None => say!(lang, "live-now-open-end"),
        },
        tone: Tone::Plain,
    });
    all
}

fn rate(second: &LiveSecond, lang: &Lang) -> LargeFigure {
    LargeFigure {
        value: lang.numbers().three(second.rate.0) + &lang.numbers().per_second,
        detail: say!(lang, "live-in-flight", count = second.in_flight),
        tone: if second.rate.0 > 0.0 { Tone::Plain } else { Tone::Bad },
        ..LargeFigure::default()
    }
}

fn quantile(second: &LiveSecond, status: &LiveStatus, lang: &Lang) -> LargeFigure {
    let objective = status.objective.as_ref();
    let text = objective.map(|objective| &objective.text);
    match second.recent_quantile {
        Some(recent) => LargeFigure {
            value: lang.live_time(recent.value),
            detail: say!(lang, "live-now-quantile-detail", seconds = recent.seconds, objective = text),
            tone: match objective.map(|objective| recent.value <= objective.bound) {
                None => Tone::Plain,
                Some(true) => Tone::Good,
                Some(false) => Tone::Bad,
            },
            ..LargeFigure::default()
        },
        None => {
            let is_outage = second.rate.0 == 0.0;
            LargeFigure {
                value: NOTHING.to_owned(),
                detail: say!(lang, "live-now-no-quantile", is_outage, objective = text),
                tone: if is_outage { Tone::Bad } else { Tone::Plain },
                ..LargeFigure::default()
            }
        }
    }
}

fn errors(second: &LiveSecond, lang: &Lang) -> LargeFigure {
    let count = second.failed + second.dropped + second.refused;
    let parts = [
        (second.failed > 0).then(|| say!(lang, "live-failed", count = second.failed)),
        (second.dropped > 0).then(|| say!(lang, "live-dropped", count = second.dropped)),
        (second.refused > 0).then(|| say!(lang, "live-refused", count = second.refused)),
    ];
    LargeFigure {
        value: lang.numbers().count(count),
        detail: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        tone: if count > 0 { Tone::Bad } else { Tone::Good },
        ..LargeFigure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};
    use model::live::{LatencyObjective, RecentQuantile};
    use model::{Nanos, PerSecond};

    fn check(status: &LiveStatus, lang: &Lang, expected: &str) {
        let show = |figure: &LargeFigure| {
            let LargeFigure { label, value, detail, tone } = figure;
            format!("{label}: {value} ({detail}) {tone:?}\n").replace('\u{a0}', " ")
        };
        let shown: String = figures(status, lang).iter().map(show).collect();
        assert_eq!(shown, expected.trim_start());
    }

    fn status() -> LiveStatus {
        LiveStatus {
            second: Some(LiveSecond {
                rate: PerSecond(293.4),
                recent_quantile: Some(RecentQuantile { value: Nanos::from_millis(412), seconds: 4 }),
                in_flight: 12,
                ..LiveSecond::default()
            }),
            objective: Some(LatencyObjective {
                text: "p99 < 500ms".to_owned(),
                metric: "p99".to_owned(),
                quantile: 0.99,
                operation: None,
                bound: Nanos::from_millis(500),
            }),
            elapsed: Nanos::from_millis(64_900),
            remaining: Some(Nanos::from_secs(53)),
            ..LiveStatus::default()
        }
    }

    #[test]
    fn shows_the_last_second_and_the_objective() {
        check(
            &status(),
            english(),
            "
Rate, last second: 293/s (12 in flight) Plain
p99: 412 ms (last 4 s; p99 < 500ms) Good
Errors, last second: 0 () Good
Elapsed: 1 min 4 s (about 53 s left) Plain
",
        );
    }

    #[test]
    fn names_the_quantile_of_the_objective() {
        let mut buying = status();
        let objective = buying.objective.as_mut().expect("there is an objective");
        (objective.text, objective.metric) = ("buy: p95 < 500ms".to_owned(), "buy: p95".to_owned());
        check(
            &buying,
            english(),
            "
Rate, last second: 293/s (12 in flight) Plain
buy: p95: 412 ms (last 4 s; buy: p95 < 500ms) Good
Errors, last second: 0 () Good
Elapsed: 1 min 4 s (about 53 s left) Plain
",
        );
    }

    #[test]
    fn shows_violations_and_failures() {
        let mut slow = status();
        let second = slow.second.as_mut().expect("a second is measured");
        second.recent_quantile = Some(RecentQuantile { value: Nanos::from_millis(612), seconds: 1 });
        (second.failed, second.dropped) = (1200, 3);
        slow.remaining = None;
        check(
            &slow,
            russian(),
            "
Темп за секунду: 293/с (в работе: 12) Plain
p99: 612 мс (за 1 с; p99 < 500ms) Bad
Ошибки за секунду: 1203 (ошибок: 1200, отброшено: 3) Bad
Прошло: 1 мин 4 с (число шагов зависит от результатов) Plain
",
        );
    }

    /// An old value is never shown as a current one.
    #[test]
    fn omits_values_that_are_not_current() {
        let mut outage = status();
        let second = outage.second.as_mut().expect("a second is measured");
        (second.rate, second.recent_quantile, second.in_flight) = (PerSecond(0.0), None, 200);
        check(
            &outage,
            english(),
            "
Rate, last second: 0/s (200 in flight) Bad
p99: – (nothing was answered; p99 < 500ms) Bad
Errors, last second: 0 () Good
Elapsed: 1 min 4 s (about 53 s left) Plain
",
        );
        let mut few = status();
        few.second.as_mut().expect("a second is measured").recent_quantile = None;
        few.objective = None;
        check(
            &few,
            english(),
            "
Rate, last second: 293/s (12 in flight) Plain
p99: – (too few transactions) Plain
Errors, last second: 0 () Good
Elapsed: 1 min 4 s (about 53 s left) Plain
",
        );
        let silent = LiveStatus { second: None, silence: Some(Nanos::from_secs(7)), ..status() };
        check(
            &silent,
            english(),
            "
Rate, last second: – (no measurement for 7 s) Bad
p99: – () Plain
Errors, last second: – () Plain
Elapsed: 1 min 4 s (about 53 s left) Plain
",
        );
    }
}
