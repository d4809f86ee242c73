//! Summary of one measurement

use crate::facts::progress::mean_difference;
use crate::facts::statement_rows::statement_rows;
use crate::facts::{error_name, outage};
use crate::verdict::validity;
use model::summary::{
    BenchPlan, CommandSummary, ConnectSummary, CpuCost, Distribution, EndCondition, Failure, FailureClass,
    Fairness, GeneratorSummary, GroupSummary, LoadModelSummary, OutcomeCounts, ScriptSummary, Server,
    Summary, ThreadSummary, UnansweredArrivals,
};
use model::{
    FailureCounts, Interval, LatencyHistogram, Measurement, Nanos, PerSecond, ScriptCounts, ThreadUsage,
};
use std::cmp::Reverse;

/// Summary of a measurement of `server` under `plan`. The plan's scripts have the order of the scripts in the measured
/// interval.
pub fn summarise(measured: &Measurement, server: Server, plan: BenchPlan) -> Summary {
    let interval = &measured.interval;
    assert_eq!(interval.scripts.len(), plan.scripts.len(), "each script has a cell");
    let all = merged(interval);
    let total = group(&all, measured.window);
    let scripts: Vec<ScriptSummary> = interval
        .scripts
        .iter()
        .zip(&plan.scripts)
        .map(|(cell, script)| ScriptSummary {
            group: group(cell, measured.window),
            share: share(cell.ok, total.counts.ok),
            failures: failures_of(cell),
            statements: cell
                .statements
                .iter()
                .zip(&script.commands)
                .map(|(command, text)| CommandSummary {
                    text: text.clone(),
                    service: distribution(&command.service),
                    response: responses(&command.service, command.unanswered(), measured.window),
                    failures: command.failures(),
                    retries: command.retries,
                })
                .collect(),
        })
        .collect();
    let closed = matches!(plan.model, LoadModelSummary::Closed { .. });
    // In a schedule of stages, the number of users varies.
    let constant = closed && plan.end != EndCondition::ScheduleEnds;
    let outages =
        outage::unexplained(&measured.outages, measured.window, interval, constant.then_some(plan.clients));
    let mut summary = Summary {
        server,
        plan,
        window: measured.window,
        failures: failures_of(&all),
        connects: ConnectSummary {
            initial: measured.connect_time,
            durations: distribution(&interval.connects),
            refused: failures(&interval.refused, FailureClass::Refused),
            clients_without_success: if constant && interval.refused.total() > 0 {
                unserved_clients(&measured.clients)
            } else {
                0
            },
        },
        outages,
        rows: statement_rows(&interval.answers),
        empty_statements: measured.empty_statements.clone(),
        fairness: closed.then(|| fairness(&measured.clients)).flatten(),
        generator: generator(measured, total.counts.executed()),
        validity: validity::Validity::default(),
        total,
        scripts,
    };
    summary.validity = validity::judge(measured, &summary);
    summary
}

fn unserved_clients(clients: &[u64]) -> u32 {
    clients.iter().filter(|it| **it == 0).count() as u32
}

/// Sum of the counts of all scripts, without their statements.
fn merged(interval: &Interval) -> ScriptCounts {
    let mut all = Interval::new(&[0]).scripts.remove(0);
    interval.scripts.iter().for_each(|it| all.merge(it));
    all
}

fn group(cell: &ScriptCounts, window: Nanos) -> GroupSummary {
    let count = |predicate: fn(model::Code) -> bool| -> u64 {
        cell.failed.iter().filter(|(code, _)| predicate(*code)).map(|(_, n)| n).sum()
    };
    let seconds = window.as_secs_f64();
    GroupSummary {
        counts: OutcomeCounts {
            ok: cell.ok,
            failed: cell.failed.total(),
            unknown: cell.unknown.total(),
            dropped: cell.dropped,
            unanswered: cell.unanswered(),
            retried: cell.retried,
            retries: cell.retries,
            serialization: count(model::Code::is_serialization_failure),
            deadlock: count(model::Code::is_deadlock),
            above_limit: cell.above_limit,
        },
        tps: PerSecond(if seconds > 0.0 { (cell.ok - cell.late) as f64 / seconds } else { 0.0 }),
        response: responses(&cell.response, cell.unanswered(), window),
        service: distribution(&cell.service),
        lag_mean: mean_difference(cell.response.sum(), cell.service.sum(), cell.response.count()),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Distribution of response times. The `unanswered` arrivals count as longer than all arrivals with a response.
fn responses(histogram: &LatencyHistogram, unanswered: u64, window: Nanos) -> Distribution {
    if unanswered == 0 {
        return distribution(histogram);
    }
    let quantile = |q| histogram.quantile_with_unanswered(q, unanswered);
    Distribution {
        unanswered: Some(self::unanswered(unanswered, histogram.mean(), histogram.max(), window)),
        mean: None,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: None,
        ..distribution(histogram)
    }
}

/// Facts about `count` arrivals without a response. They took longer than the `window`, and longer than `max`, the
/// longest arrival with a response. `mean` is the mean of the arrivals with a response.
pub(crate) fn unanswered(
    count: u64,
    mean: Option<Nanos>,
    max: Option<Nanos>,
    window: Nanos,
) -> UnansweredArrivals {
    UnansweredArrivals { count, longer_than: window.max(max.unwrap_or_default()), mean_of_answered: mean }
}

pub fn distribution(histogram: &LatencyHistogram) -> Distribution {
    Distribution {
        count: histogram.count(),
        unanswered: None,
        mean: histogram.mean(),
        deviation: histogram.deviation(),
        min: histogram.min(),
        p50: histogram.quantile(0.5),
        p90: histogram.quantile(0.9),
        p95: histogram.quantile(0.95),
        p99: histogram.quantile(0.99),
        p999: histogram.quantile(0.999),
        max: histogram.max(),
    }
}

/// Failures of one script, most frequent first.
fn failures_of(cell: &ScriptCounts) -> Vec<Failure> {
    merge_failures([(&cell.failed, &cell.unknown)].into_iter())
}

/// Failed and unknown transactions of several scripts, most frequent first.
pub(crate) fn merge_failures<'a>(
    parts: impl Iterator<Item = (&'a FailureCounts, &'a FailureCounts)>,
) -> Vec<Failure> {
    let (mut failed, mut unknown) = (FailureCounts::default(), FailureCounts::default());
    for part in parts {
        failed.merge(part.0);
        unknown.merge(part.1);
    }
    let mut all = failures(&failed, FailureClass::Failed);
    all.extend(failures(&unknown, FailureClass::Unknown));
    all.sort_by_key(|it| (it.code == OTHER, Reverse(it.count)));
    all
}

/// Label of all codes that are counted together.
const OTHER: &str = "other";

fn failures(counts: &FailureCounts, class: FailureClass) -> Vec<Failure> {
    let named = counts.iter().map(|(code, count)| Failure {
        code: code.to_string(),
        name: error_name::name(code),
        class,
        count,
        message: None,
        body: None,
    });
    let mut all: Vec<Failure> = named.collect();
    all.sort_by_key(|it| Reverse(it.count));
    if counts.other() > 0 {
        all.push(Failure {
            code: OTHER.to_owned(),
            name: None,
            class,
            count: counts.other(),
            message: None,
            body: None,
        });
    }
    all
}

/// Jain's fairness index of the clients. Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness"
/// (1984).
fn fairness(clients: &[u64]) -> Option<Fairness> {
    let mut sorted = clients.to_vec();
    sorted.sort_unstable();
    let (min_transactions, max_transactions) = (*sorted.first()?, *sorted.last()?);
    let sum: f64 = sorted.iter().map(|&it| it as f64).sum();
    let squares: f64 = sorted.iter().map(|&it| it as f64 * it as f64).sum();
    let jain = if squares > 0.0 { sum * sum / (sorted.len() as f64 * squares) } else { 1.0 };
    Some(Fairness { min_transactions, median: sorted[sorted.len() / 2], max_transactions, jain })
}

fn generator(measured: &Measurement, executed: u64) -> GeneratorSummary {
    let interval = &measured.interval;
    let sum =
        |part: fn(&ThreadUsage) -> Nanos| measured.thread_usage.iter().map(|it| part(it).0).sum::<u64>();
    let each = |part: fn(&ThreadUsage) -> Nanos| Nanos(sum(part) / executed.max(1));
    let longest = interval.send_lag.max().max(interval.backlog_wait.max());
    GeneratorSummary {
        send_lag: distribution(&interval.send_lag),
        backlog_wait: distribution(&interval.backlog_wait),
        lag_max: longest.unwrap_or_default(),
        jitter: distribution(&measured.jitter),
        per_transaction: (executed > 0).then(|| CpuCost {
            user: each(|it| it.user),
            system: each(|it| it.system),
            spun: each(|it| it.spun),
        }),
        threads: measured.thread_usage.iter().map(thread).collect(),
        aborted_clients: measured.aborted_clients,
    }
}

fn thread(usage: &ThreadUsage) -> ThreadSummary {
    let window_share = |part: Nanos| share(part.0, usage.wall.0);
    ThreadSummary {
        busy: window_share(usage.user + usage.system - usage.spun),
        starved: usage.starved.map(window_share),
        wakeups: usage.wakeups,
        longest_stall: usage.longest_stall,
        kernel: usage.kernel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{closed_plan, quiet_measurement};
    use model::Code;

    #[test]
    fn summarises_a_quiet_run() {
        let summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        assert_eq!(summary.total.counts.ok, 10_000);
        assert_eq!(summary.total.tps, PerSecond(999.0), "ten transactions ended after the window");
        assert_eq!(summary.total.response.mean, Some(Nanos::from_micros(2500)));
        assert_eq!(summary.total.service.mean, Some(Nanos::from_micros(2000)));
        assert_eq!(summary.total.lag_mean, Nanos::from_micros(500));
        let shares: Vec<f64> = summary.scripts.iter().map(|it| it.share).collect();
        assert_eq!(shares, [0.75, 0.25]);
        let names: Vec<&str> = summary.scripts[0].statements.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(names, ["SELECT 1;"]);
        assert_eq!(summary.scripts[0].statements[0].service.count, 7500);
        assert_eq!(summary.connects.initial, Nanos::from_millis(3));
    }

    #[test]
    fn names_counts_and_orders_failures() {
        let mut measured = quiet_measurement();
        let cells = &mut measured.interval.scripts;
        let states = [*b"40001", *b"40P01", *b"40001", *b"53300", *b"40001"];
        states.into_iter().for_each(|it| cells[0].failed.count(Code::SqlState(it)));
        (0..2).for_each(|_| cells[1].unknown.count(Code::RESET));
        measured.interval.refused.count(Code::SqlState(*b"53300"));
        let summary = summarise(&measured, Server::default(), closed_plan());
        let row =
            |it: &Failure| format!("{} {} {:?} {}", it.code, it.name.unwrap_or("-"), it.class, it.count);
        assert_eq!(
            summary.failures.iter().map(row).collect::<Vec<_>>(),
            [
                "40001 serialization_failure Failed 3",
                "net 104 ECONNRESET Unknown 2",
                "40P01 deadlock_detected Failed 1",
                "53300 too_many_connections Failed 1",
            ]
        );
        assert_eq!(row(&summary.connects.refused[0]), "53300 too_many_connections Refused 1");
        assert_eq!((summary.total.counts.serialization, summary.total.counts.deadlock), (3, 1));
        assert_eq!((summary.total.counts.failed, summary.total.counts.unknown), (5, 2));
        assert_eq!(summary.total.counts.arrivals(), 10_007);
        assert_eq!((summary.scripts[0].failures.len(), summary.scripts[1].failures.len()), (3, 1));
    }

    #[test]
    fn sums_codes_beyond_the_counted_ones() {
        let mut measured = quiet_measurement();
        for n in 0..20 {
            measured.interval.scripts[0].failed.count(Code::Net(n));
        }
        let summary = summarise(&measured, Server::default(), closed_plan());
        let last = summary.failures.last().expect("there are failures");
        assert_eq!((last.code.as_str(), last.count, summary.total.counts.failed), ("other", 4, 20));
    }

    #[test]
    fn computes_jains_index() {
        for (clients, expected) in [
            (vec![], None),
            (vec![0, 0], Some((0, 0, 0, 1.0))),
            (vec![7], Some((7, 7, 7, 1.0))),
            (vec![5, 5, 5], Some((5, 5, 5, 1.0))),
            (vec![9, 0, 0], Some((0, 0, 9, 1.0 / 3.0))),
            (vec![1, 2, 3], Some((1, 2, 3, 36.0 / 42.0))),
        ] {
            let got =
                fairness(&clients).map(|it| (it.min_transactions, it.median, it.max_transactions, it.jain));
            assert_eq!(got, expected, "{clients:?}");
        }
    }

    #[test]
    fn computes_cpu_per_transaction() {
        let generator = summarise(&quiet_measurement(), Server::default(), closed_plan()).generator;
        let cost = generator.per_transaction.expect("there are transactions");
        assert_eq!((cost.user, cost.system, cost.spun), (Nanos(20_000), Nanos(200_000), Nanos(2_000)));
        assert_eq!(generator.threads[0].busy, 0.109);
        assert_eq!(generator.threads[0].starved, Some(0.001));
    }
}
