//! Final report of pgbench 15, byte for byte, in every language
//!
//! Source: `printResults` in pgbench.c of PostgreSQL 15. Three figures differ in meaning from pgbench's. `latency
//! average` is measured, not computed from the duration of the run. `tps` excludes transactions that end after the
//! window. Failures include every code, because in pgdyno no error ends the run.

use super::BenchStyle;
use model::summary::{
    BenchPlan, Distribution, EndCondition, LoadModelSummary, OutcomeCounts, PartitionMethod, QueryMode,
    ScriptSummary,
};
use model::{Nanos, Summary};

macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write;
        writeln!($out, $($arg)*).expect("writing to a String cannot fail");
    }};
}
pub(super) use line;

/// Words of the report. pgbench's words are those for transactions; a load of HTTP requests has its own words.
#[derive(Clone, Copy)]
struct Words {
    transactions: &'static str,
    kind: &'static str,
    rate: &'static str,
}

const SQL: Words = Words { transactions: "transactions", kind: "transaction type", rate: "tps" };
const HTTP: Words = Words { transactions: "requests", kind: "request", rate: "requests per second" };

fn words(summary: &Summary) -> Words {
    if summary.server.is_postgres() { SQL } else { HTTP }
}

pub fn write_lines(out: &mut String, summary: &Summary, style: BenchStyle) {
    let words = words(summary);
    let (transactions, rate) = (words.transactions, words.rate);
    let plan = &summary.plan;
    let counts = &summary.total.counts;
    write_settings(out, plan, words, summary.server.is_postgres());
    match plan.end {
        EndCondition::Transactions(each) => {
            let requested = u64::from(each) * u64::from(plan.clients);
            line!(out, "number of {transactions} per client: {each}");
            line!(out, "number of {transactions} actually processed: {}/{requested}", counts.ok);
        }
        EndCondition::Time(_) | EndCondition::ScheduleEnds => {
            let duration = if let EndCondition::Time(time) = plan.end { time } else { summary.window };
            line!(out, "duration: {:.0} s", duration.as_secs_f64());
            line!(out, "number of {transactions} actually processed: {}", counts.ok);
        }
    }
    failures(out, "", counts, summary, style);
    if counts.ok + counts.dropped == 0 {
        return;
    }
    let open = matches!(plan.model, LoadModelSummary::Open { .. });
    if let Some(limit) = plan.latency_limit {
        if open {
            let share = percent(counts.dropped, counts.arrivals());
            line!(out, "number of {transactions} skipped: {} ({share:.3}%)", counts.dropped);
        }
        line!(
            out,
            "number of {transactions} above the {:.1} ms latency limit: {}/{} ({:.3}%)",
            limit.as_millis_f64(),
            counts.above_limit,
            counts.ok,
            percent(counts.above_limit, counts.ok)
        );
    }
    latency(
        out,
        "latency",
        &summary.total.response,
        words,
        open || style.progress || plan.latency_limit.is_some(),
    );
    if open {
        let (mean, max) = (summary.total.lag_mean.as_millis_f64(), summary.generator.lag_max.as_millis_f64());
        line!(out, "rate limit schedule lag: avg {mean:.3} (max {max:.3}) ms");
    }
    if plan.reconnect {
        let each = summary.connects.durations.mean.unwrap_or_default().as_millis_f64();
        line!(out, "average connection time = {each:.3} ms");
        line!(out, "{rate} = {:.6} (including reconnection times)", summary.total.tps.0);
    } else {
        line!(out, "initial connection time = {:.3} ms", summary.connects.initial.as_millis_f64());
        line!(out, "{rate} = {:.6} (without initial connection time)", summary.total.tps.0);
    }
    for (number, script) in summary.scripts.iter().enumerate() {
        self::script(out, summary, number, script, style);
    }
}

fn write_settings(out: &mut String, plan: &BenchPlan, words: Words, postgres: bool) {
    let kind = words.kind;
    match &plan.scripts[..] {
        [one] => line!(out, "{kind}: {}", one.name),
        _ => line!(out, "{kind}: multiple scripts"),
    }
    if postgres {
        line!(out, "scaling factor: {}", plan.scale);
    }
    if let Some(partitions) = plan.partitions {
        let method = match partitions.method {
            PartitionMethod::Range => "range",
            PartitionMethod::Hash => "hash",
        };
        line!(out, "partition method: {method}\npartitions: {}", partitions.count);
    }
    let mode = match plan.query_mode {
        QueryMode::Simple => "simple",
        QueryMode::Extended => "extended",
        QueryMode::Prepared => "prepared",
    };
    if postgres {
        line!(out, "query mode: {mode}");
    }
    line!(out, "number of clients: {}", plan.clients);
    line!(out, "number of threads: {}", plan.threads);
    if postgres && plan.max_tries > 0 {
        line!(out, "maximum number of tries: {}", plan.max_tries);
    }
}

fn failures(out: &mut String, prefix: &str, counts: &OutcomeCounts, summary: &Summary, style: BenchStyle) {
    let (plan, transactions) = (&summary.plan, words(summary).transactions);
    let all = counts.arrivals();
    let mut count = |label: &str, n: u64| {
        line!(out, "{prefix}number of {label}: {n} ({:.3}%)", percent(n, all));
    };
    count(&format!("failed {transactions}"), counts.failed + counts.unknown);
    if style.failures_detailed {
        count("serialization failures", counts.serialization);
        count("deadlock failures", counts.deadlock);
    }
    if plan.max_tries != 1 {
        count(&format!("{transactions} retried"), counts.retried);
        line!(out, "{prefix}total number of retries: {}", counts.retries);
    }
}

fn script(out: &mut String, summary: &Summary, number: usize, script: &ScriptSummary, style: BenchStyle) {
    let plan = &summary.plan;
    let planned = &plan.scripts[number];
    let several = summary.scripts.len() > 1;
    if several {
        let counts = &script.group.counts;
        let weights: u64 = plan.scripts.iter().map(|it| u64::from(it.weight)).sum();
        let target = percent(u64::from(planned.weight), weights);
        line!(out, "SQL script {}: {}", number + 1, planned.name);
        line!(out, " - weight: {} (targets {target:.1}% of total)", planned.weight);
        line!(
            out,
            " - {} transactions ({:.1}% of total, tps = {:.6})",
            counts.ok,
            100.0 * script.share,
            script.group.tps.0
        );
        failures(out, " - ", counts, summary, style);
        let open = matches!(plan.model, LoadModelSummary::Open { .. });
        if open && plan.latency_limit.is_some() && counts.arrivals() > 0 {
            let share = percent(counts.dropped, counts.arrivals());
            line!(out, " - number of transactions skipped: {} ({share:.3}%)", counts.dropped);
        }
        latency(out, " - latency", &script.group.response, words(summary), true);
    }
    if script.statements.is_empty() {
        return;
    }
    let retries = plan.max_tries != 1;
    let prefix = if several { " - " } else { "" };
    let suffix = if retries { ", failures and retries" } else { " and failures" };
    let kind = if summary.server.is_postgres() { "statement" } else { "request" };
    line!(out, "{prefix}{kind} latencies in milliseconds{suffix}:");
    for statement in &script.statements {
        let mean = statement.service.mean.unwrap_or_default().as_millis_f64();
        let retries = if retries { format!("  {:10}", statement.retries) } else { String::new() };
        line!(out, "   {mean:11.3}  {:10}{retries}  {}", statement.failures, statement.text);
    }
}

fn latency(out: &mut String, prefix: &str, distribution: &Distribution, words: Words, deviation: bool) {
    // As in pgbench, the average covers only executed transactions. If some arrivals were not answered, the label
    // states this.
    let suffix = match distribution.unanswered {
        Some(_) => format!(" (of answered {})", words.transactions),
        None => String::new(),
    };
    let Some(mean) = distribution.mean.or(distribution.unanswered.and_then(|it| it.mean_of_answered)) else {
        return;
    };
    line!(out, "{prefix} average = {:.3} ms{suffix}", mean.as_millis_f64());
    if deviation {
        line!(
            out,
            "{prefix} stddev = {:.3} ms",
            distribution.deviation.unwrap_or(Nanos::ZERO).as_millis_f64()
        );
    }
}

fn percent(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * part as f64 / total as f64 }
}
