//! Report lines in addition to pgbench's, at most 100 columns wide

use super::BenchStyle;
use super::pgbench::line;
use crate::lang::Lang;
use crate::say;
use crate::style::CharacterSet;
use crate::text::{to_characters, visible};
use model::objective::ObjectiveResult;
use model::summary::{Distribution, Failure, FailureClass, ScriptSummary};
use model::validity::{Doubt, InvalidReason};
use model::{Nanos, Summary};

/// Width of a label, in columns.
const LABEL: usize = 24;
/// Maximum width of a line of prose, in columns.
const WIDTH: usize = 98;

pub fn write_lines(out: &mut String, summary: &Summary, style: BenchStyle, lang: &Lang) {
    distributions(out, summary, lang);
    for (number, script) in summary.scripts.iter().enumerate() {
        statements(out, number, script, lang);
    }
    failures(out, summary, lang);
    let dropped = summary.total.counts.dropped;
    if dropped > 0 {
        write_wrapped(
            out,
            &say!(lang, "bench-dropped"),
            &lang.dropped(dropped, summary.total.counts.arrivals()),
        );
    }
    if let Some(fairness) = summary.fairness.filter(|_| summary.plan.clients > 1) {
        write_wrapped(out, &say!(lang, "bench-clients"), &lang.fairness(&fairness));
    }
    if let Some(cost) = summary.generator.per_transaction {
        let busiest = summary.generator.threads.iter().map(|it| it.busy).fold(0.0, f64::max);
        write_wrapped(out, &say!(lang, "bench-generator"), &lang.generator(&cost, busiest));
    }
    for (number, thread) in summary.generator.threads.iter().enumerate().filter(|_| style.threads) {
        let label = say!(lang, "bench-thread", number = number + 1);
        write_wrapped(out, &label, &lang.thread(thread));
    }
    write_wrapped(out, &say!(lang, "bench-measured"), &lang.measured(&summary.server, &summary.plan));
    let (validity, clients) = (&summary.validity, summary.plan.clients);
    match &validity.reasons[..] {
        [] => {
            let named = validity.doubts.iter().filter(|it| it.is_in_verdict());
            let doubts: Vec<String> = named.map(|it| lang.doubt(it, clients)).collect();
            let verdict = match doubts.is_empty() {
                true => say!(lang, "bench-valid"),
                false => lang.valid_but(&doubts.join("; ")),
            };
            write_wrapped(out, &say!(lang, "bench-verdict"), &verdict);
        }
        reasons => {
            for reason in reasons {
                let reason = match reason {
                    InvalidReason::NoSuccess => {
                        lang.nothing_succeeded(summary.top_failure().map(failure_name).as_deref())
                    }
                    reason => lang.reason(reason),
                };
                let text = format!("{}: {reason}", say!(lang, "bench-invalid"));
                write_wrapped(out, &say!(lang, "bench-verdict"), &text);
            }
        }
    }
    let is_repeated = |doubt: &&Doubt| match doubt {
        // Omit the outage if no transaction succeeded, because the verdict already implies it.
        Doubt::Outage { .. } if validity.reasons.contains(&InvalidReason::NoSuccess) => true,
        doubt => validity.reasons.is_empty() && doubt.is_in_verdict(),
    };
    for doubt in validity.doubts.iter().filter(|it| !is_repeated(it)) {
        write_wrapped(out, &say!(lang, "bench-note"), &lang.doubt(doubt, clients));
    }
}

pub fn write_objectives(out: &mut String, objectives: &[ObjectiveResult], lang: &Lang) {
    for result in objectives {
        write_wrapped(out, &say!(lang, "bench-objective"), &visible(&lang.judged(result)));
    }
}

fn failure_name(failure: &Failure) -> String {
    to_characters(&failure.describe(), CharacterSet::Utf8)
}

/// Writes a label, followed by a wrapped text.
fn write_wrapped(out: &mut String, label: &str, text: &str) {
    let mut begin = format!("{label:<LABEL$}");
    let mut line = String::new();
    for word in text.split(' ') {
        let grown = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && LABEL + grown > WIDTH {
            line!(out, "{begin}{line}");
            begin = " ".repeat(LABEL);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line!(out, "{begin}{line}");
}

fn distributions(out: &mut String, summary: &Summary, lang: &Lang) {
    const COLUMNS: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];
    let [count, mean, max] = [say!(lang, "bench-count"), say!(lang, "bench-mean"), say!(lang, "bench-max")];
    let [p50, p90, p95, p99, p999] = COLUMNS;
    line!(out, "{:LABEL$}{count:>11}{mean:>9}{p50:>9}{p90:>9}{p95:>9}{p99:>9}{p999:>9}{max:>9}", "");
    let mut row = |label: String, unit: Unit, distribution: &Distribution| {
        line!(out, "{label:<LABEL$}{}", cells(unit, distribution, lang));
    };
    row(say!(lang, "bench-response-time"), Unit::Millis, &summary.total.response);
    row(say!(lang, "bench-service-time"), Unit::Millis, &summary.total.service);
    if summary.scripts.len() > 1 {
        for (number, script) in summary.scripts.iter().enumerate() {
            let [response, service] =
                [say!(lang, "bench-script-response"), say!(lang, "bench-script-service")]
                    .map(|label| format!("{label} {}", number + 1));
            row(response, Unit::Millis, &script.group.response);
            row(service, Unit::Millis, &script.group.service);
        }
    }
    if summary.connects.durations.count > 0 && summary.plan.reconnect {
        row(say!(lang, "bench-connecting"), Unit::Millis, &summary.connects.durations);
    }
    if summary.generator.backlog_wait.count > 0 {
        row(say!(lang, "bench-backlog-wait"), Unit::Millis, &summary.generator.backlog_wait);
    }
    // The closed model has no send lag, because no transaction is due at a fixed time.
    if summary.generator.send_lag.count > 0 {
        row(say!(lang, "bench-send-lag"), Unit::Micros, &summary.generator.send_lag);
    }
    if summary.generator.jitter.count > 0 {
        row(say!(lang, "bench-timer-jitter"), Unit::Micros, &summary.generator.jitter);
    }
    out.push('\n');
}

#[derive(Clone, Copy)]
enum Unit {
    Millis,
    Micros,
}

/// Count, mean, five quantiles and the maximum: 74 columns.
fn cells(unit: Unit, distribution: &Distribution, lang: &Lang) -> String {
    let number = |time: Nanos| match unit {
        Unit::Millis => format_short(time.as_millis_f64(), 3, lang),
        Unit::Micros => format_short(time.as_micros_f64(), 1, lang),
    };
    let value = |(nanos, place): (Option<Nanos>, f64)| {
        // Lower bound, if the value lies among the arrivals that received no response.
        let longer = distribution
            .longer_than(place)
            .map(|it| format!(">{}", format_short(it.as_millis_f64(), 0, lang)));
        let shown = longer.or(nanos.map(number));
        format!("{:>9}", shown.as_deref().unwrap_or("-"))
    };
    let values = [
        (distribution.mean, 1.0),
        (distribution.p50, 0.5),
        (distribution.p90, 0.9),
        (distribution.p95, 0.95),
        (distribution.p99, 0.99),
        (distribution.p999, 0.999),
        (distribution.max, 1.0),
    ];
    format!("{:>11}{}", lang.numbers().count(distribution.count), values.map(value).concat())
}

/// Formats a number with as many decimals as fit. If the number is below a million, the text has at most eight columns.
fn format_short(value: f64, decimals: usize, lang: &Lang) -> String {
    let written = |decimals| lang.numbers().fixed(value, decimals);
    (1..=decimals).rev().map(written).find(|it| it.chars().count() <= 8).unwrap_or_else(|| written(0))
}

fn statements(out: &mut String, number: usize, script: &ScriptSummary, lang: &Lang) {
    let measured: Vec<_> = script.statements.iter().filter(|it| it.service.count > 0).collect();
    if measured.is_empty() {
        return;
    }
    line!(out, "{} {}", say!(lang, "bench-script-statements"), number + 1);
    for statement in measured {
        let text: String = statement.text.chars().take(LABEL - 3).collect();
        line!(out, "  {text:<0$}{1}", LABEL - 2, cells(Unit::Millis, &statement.service, lang));
    }
    out.push('\n');
}

fn failures(out: &mut String, summary: &Summary, lang: &Lang) {
    let all: Vec<&Failure> = summary.failures.iter().chain(&summary.connects.refused).collect();
    if all.is_empty() {
        return;
    }
    line!(
        out,
        "{:<44}{:>11}{:>9}   {}",
        say!(lang, "bench-failures"),
        say!(lang, "bench-count"),
        "%",
        say!(lang, "bench-effect")
    );
    let (arrivals, numbers) = (summary.total.counts.arrivals(), lang.numbers());
    for failure in all {
        let name = failure.name.unwrap_or("");
        let share = match failure.class {
            FailureClass::Refused => "-".to_owned(),
            _ => numbers.fixed(100.0 * failure.count as f64 / arrivals as f64, 3),
        };
        let effect = lang.effect(failure.class);
        line!(
            out,
            "  {:<8} {name:<33}{:>11}{share:>9}   {effect}",
            failure.code,
            numbers.count(failure.count)
        );
    }
    out.push('\n');
}
