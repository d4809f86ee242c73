//! Metrics of a run in Prometheus' text format
//!
//! Version 0.0.4: base units, counters that end in `_total`, histograms with fixed bounds.
//! Source: prometheus.io/docs/instrumenting/exposition_formats, and its naming practices.

use crate::text::is_unsafe;
use model::totals::{Buckets, Totals};
use model::{Nanos, Series, SeriesKind, Unit};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Content type of the response.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Maximum length of a label value in characters, because labels contain untrusted text.
const LABEL_CHARS_MAX: usize = 200;

/// Facts that stay constant during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLabels {
    /// Name of the experiment.
    pub run: String,
    pub program: String,
    pub seed: u64,
    /// Number of trials in all cells.
    pub trials: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetricType {
    Counter,
    Gauge,
    Histogram,
}

/// Renders all metrics in Prometheus' text format. `series` returns the description of a probe's series by name;
/// unknown series are omitted.
pub fn render(
    labels: &RunLabels,
    totals: &Totals,
    series: &dyn Fn(&str) -> Option<&'static Series>,
) -> String {
    let mut out = Exposition::default();
    out.family("pgdyno_up", MetricType::Gauge, "1 while a run is in progress").sample("", &[], 1.0);
    let info =
        [("run", labels.run.as_str()), ("version", &labels.program), ("seed", &labels.seed.to_string())];
    out.family("pgdyno_run_info", MetricType::Gauge, "Identifies the run; always 1").sample("", &info, 1.0);
    out.family("pgdyno_trials", MetricType::Gauge, "Number of trials of the run").sample(
        "",
        &[],
        labels.trials as f64,
    );
    out.family("pgdyno_trials_ended_total", MetricType::Counter, "Trials that have ended, by outcome");
    for (outcome, n) in &totals.trials {
        out.sample("", &[("outcome", outcome)], *n as f64);
    }
    out.family(
        "pgdyno_trial_info",
        MetricType::Gauge,
        "Identifies the trial that is set up or measured; always 1",
    );
    if let Some(trial) = &totals.trial {
        let repetition = trial.repetition.to_string();
        out.sample("", &[("run", &labels.run), ("cell", &trial.cell), ("repetition", &repetition)], 1.0);
    }
    load(&mut out, totals);
    probes(&mut out, totals, series);
    out.text
}

/// Metric name of a probe's series, such as `pgdyno_pg_deadlocks_total`.
pub fn metric_name(series: &Series) -> String {
    let unit = match series.unit {
        Unit::Bytes => "_bytes",
        Unit::Seconds => "_seconds",
        Unit::Share => "_ratio",
        Unit::Count | Unit::Processors => "",
    };
    let name = series.name.to_ascii_lowercase();
    let name = name.strip_suffix("_total").unwrap_or(&name);
    let unit = if name.ends_with(unit) { "" } else { unit };
    let total = if series.kind == SeriesKind::Counter { "_total" } else { "" };
    format!("pgdyno_{name}{unit}{total}")
}

fn load(out: &mut Exposition, totals: &Totals) {
    let operations = &totals.operations;
    let arrivals = "Arrivals whose outcome is known, each with exactly one outcome";
    out.family("pgdyno_arrivals_total", MetricType::Counter, arrivals);
    for (name, counts) in operations {
        out.sample(
            "",
            &[("operation", name)],
            (counts.ok + counts.failed + counts.unknown + counts.dropped) as f64,
        );
    }
    let sent = "Transactions that were sent, by outcome; the effect of unknown ones may exist";
    out.family("pgdyno_transactions_total", MetricType::Counter, sent);
    for (name, counts) in operations {
        for (outcome, n) in [("ok", counts.ok), ("failed", counts.failed), ("unknown", counts.unknown)] {
            out.sample("", &[("operation", name), ("outcome", outcome)], n as f64);
        }
    }
    out.family("pgdyno_dropped_total", MetricType::Counter, "Arrivals that were never sent");
    for (name, counts) in operations {
        out.sample("", &[("operation", name)], counts.dropped as f64);
    }
    let failures = "Failed and unknown transactions by SQLSTATE or errno";
    for (family, help, counts) in [
        ("pgdyno_failures_total", failures, &totals.failures),
        ("pgdyno_refused_total", "Connections that were refused, by SQLSTATE or errno", &totals.refused),
    ] {
        out.family(family, MetricType::Counter, help);
        counts.iter().for_each(|(code, n)| out.sample("", &[("code", code)], *n as f64));
    }
    let in_flight = "Transactions sent and not yet answered";
    out.family("pgdyno_in_flight", MetricType::Gauge, in_flight).sample("", &[], totals.in_flight as f64);
    let response = "From the intended start to the outcome, of successful transactions; arrivals without an answer exceed all bounds";
    out.family("pgdyno_response_seconds", MetricType::Histogram, response);
    operations.iter().for_each(|(name, it)| out.buckets(Some(name), &it.response));
    out.family(
        "pgdyno_service_seconds",
        MetricType::Histogram,
        "From the send to the outcome, of the same transactions",
    );
    operations.iter().for_each(|(name, it)| out.buckets(Some(name), &it.service));
    let lag = "From the intended start to the send while a client was idle: the generator's own lateness";
    out.family("pgdyno_send_lag_seconds", MetricType::Histogram, lag).buckets(None, &totals.send_lag);
    let wait = "From the intended start to the send while all clients were busy";
    out.family("pgdyno_backlog_wait_seconds", MetricType::Histogram, wait)
        .buckets(None, &totals.backlog_wait);
}

fn probes(out: &mut Exposition, totals: &Totals, series: &dyn Fn(&str) -> Option<&'static Series>) {
    // Group samples by metric family, because the lines of a family must be contiguous.
    let mut families: BTreeMap<&str, Vec<(&str, &str, f64)>> = BTreeMap::new();
    for ((node, _), sampled) in &totals.probes {
        for ((series, label), value) in &sampled.values {
            families.entry(series).or_default().push((node, label, *value));
        }
    }
    for (family, values) in families {
        let Some(series) = series(family) else { continue };
        let kind = match series.kind {
            SeriesKind::Gauge => MetricType::Gauge,
            SeriesKind::Counter => MetricType::Counter,
        };
        out.family(&metric_name(series), kind, series.help);
        for (node, label, value) in values {
            let labels = [("node", node), ("label", label)];
            out.sample("", if label.is_empty() { &labels[..1] } else { &labels }, value);
        }
    }
}

#[derive(Debug, Default)]
struct Exposition {
    text: String,
    /// Name of the family to which the samples belong.
    family: String,
}

impl Exposition {
    fn family(&mut self, name: &str, kind: MetricType, help: &str) -> &mut Exposition {
        let kind = match kind {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram => "histogram",
        };
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        name.clone_into(&mut self.family);
        self
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(name, it)| format!("{name}=\"{}\"", escape_label(it))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.family);
    }

    fn buckets(&mut self, operation: Option<&str>, buckets: &Buckets) {
        let operation = operation.map(|it| ("operation", it));
        let bucket_labels = |bound: &str| -> Vec<(String, String)> {
            let labels = operation.into_iter().chain((!bound.is_empty()).then_some(("le", bound)));
            labels.map(|(name, it)| (name.to_owned(), it.to_owned())).collect()
        };
        let mut line = |suffix: &str, bound: &str, value: f64| {
            let labels = bucket_labels(bound);
            let labels: Vec<(&str, &str)> = labels.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
            self.sample(suffix, &labels, value);
        };
        for (bound, n) in buckets.bounds.iter().zip(&buckets.at_most) {
            line("_bucket", &format_seconds(*bound), *n as f64);
        }
        line("_bucket", "+Inf", buckets.count as f64);
        line("_sum", "", buckets.sum as f64 / 1e9);
        line("_count", "", buckets.count as f64);
    }
}

/// Formats seconds with all nanoseconds: `0.000131071`.
fn format_seconds(time: Nanos) -> String {
    let text = format!("{}.{:09}", time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape_label(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(LABEL_CHARS_MAX) {
        match c {
            '\\' => out += r"\\",
            '"' => out += "\\\"",
            '\n' => out += r"\n",
            c if is_unsafe(c) => {
                out += r"\";
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
