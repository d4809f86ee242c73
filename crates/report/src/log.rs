//! Lines of the transaction log in pgbench's format
//!
//! Source: `doLog` in pgbench.c of PostgreSQL 15.

use model::summary::{DurationSums, LogAggregate};
use model::{Nanos, Outcome, Record};
use std::fmt::{Result, Write};

/// Selection of optional columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStyle {
    /// True in the open model: the lag is reported.
    pub lag: bool,
    /// True with a latency limit: dropped arrivals are reported.
    pub skipped: bool,
    /// True if failures may be retried: retries are reported.
    pub retries: bool,
    /// True if serialization failures and deadlocks are counted separately.
    pub failures_detailed: bool,
}

/// Name of a log file. It contains the process id and, except for the first thread, the thread's number.
pub fn file_name(prefix: &str, pid: u32, thread: usize) -> String {
    match thread {
        0 => format!("{prefix}.{pid}"),
        _ => format!("{prefix}.{pid}.{thread}"),
    }
}

/// Writes one transaction. `nth` is the number of transactions that the client completed before this one. `epoch` is
/// the Unix time at which the run's clock was 0.
pub fn transaction(out: &mut impl Write, record: &Record, nth: u64, epoch: Nanos, style: LogStyle) -> Result {
    write!(out, "{} {nth} ", record.client.0)?;
    match record.outcome {
        Outcome::Ok => write!(out, "{:.0}", record.response().as_micros_f64()),
        Outcome::Dropped => out.write_str("skipped"),
        Outcome::Failed(code) if style.failures_detailed && code.is_serialization_failure() => {
            out.write_str("serialization")
        }
        Outcome::Failed(code) if style.failures_detailed && code.is_deadlock() => out.write_str("deadlock"),
        Outcome::Failed(_) | Outcome::Unknown(_) => out.write_str("failed"),
    }?;
    let at = (epoch + record.finished).0 / 1000;
    write!(out, " {} {} {}", record.script.0, at / 1_000_000, at % 1_000_000)?;
    if style.lag {
        // pgbench measures the lag of successful transactions only.
        let lag = if record.outcome == Outcome::Ok { record.started - record.intended } else { Nanos::ZERO };
        write!(out, " {:.0}", lag.as_micros_f64())?;
    }
    if style.retries {
        write!(out, " {}", record.tries.saturating_sub(1))?;
    }
    out.write_char('\n')
}

/// Writes one interval.
pub fn aggregate(out: &mut impl Write, aggregate: &LogAggregate, style: LogStyle) -> Result {
    let count_if = |shown: bool, n: u64| if shown { n } else { 0 };
    let lag = if style.lag { aggregate.lag } else { DurationSums::default() };
    write!(out, "{} {}", aggregate.from_epoch_secs, aggregate.ok)?;
    for sums in [aggregate.latency, lag] {
        write!(out, " {:.0} {:.0} {:.0} {:.0}", sums.sum, sums.sum_of_squares, sums.min, sums.max)?;
    }
    write!(out, " {}", count_if(style.skipped, aggregate.dropped))?;
    write!(
        out,
        " {} {}",
        count_if(style.retries, aggregate.retried),
        count_if(style.retries, aggregate.retries)
    )?;
    let detailed = style.failures_detailed;
    writeln!(
        out,
        " {} {}",
        count_if(detailed, aggregate.serialization),
        count_if(detailed, aggregate.deadlock)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, Code, ScriptId};

    #[test]
    fn builds_file_names() {
        assert_eq!(file_name("pgbench_log", 77, 0), "pgbench_log.77");
        assert_eq!(file_name("x", 77, 3), "x.77.3");
    }

    #[test]
    fn writes_transactions_as_pgbench() {
        let record = |outcome, tries| Record {
            script: ScriptId(1),
            client: ClientId(7),
            outcome,
            intended: Nanos::from_millis(100),
            started: Nanos::from_millis(101),
            finished: Nanos::from_micros(102_500),
            tries,
        };
        let all = LogStyle { lag: true, skipped: true, retries: true, failures_detailed: true };
        let serialization = Outcome::Failed(Code::SqlState(*b"40001"));
        for (logged, style, expected) in [
            (record(Outcome::Ok, 1), LogStyle::default(), "7 42 2500 1 1700000000 102500\n"),
            (record(Outcome::Ok, 3), all, "7 42 2500 1 1700000000 102500 1000 2\n"),
            (record(Outcome::Dropped, 0), all, "7 42 skipped 1 1700000000 102500 0 0\n"),
            (record(serialization, 1), LogStyle::default(), "7 42 failed 1 1700000000 102500\n"),
            (record(serialization, 2), all, "7 42 serialization 1 1700000000 102500 0 1\n"),
            (
                record(Outcome::Failed(Code::SqlState(*b"40P01")), 1),
                all,
                "7 42 deadlock 1 1700000000 102500 0 0\n",
            ),
            (record(Outcome::Unknown(Code::RESET), 1), all, "7 42 failed 1 1700000000 102500 0 0\n"),
        ] {
            let mut out = String::new();
            transaction(&mut out, &logged, 42, Nanos::from_secs(1_700_000_000), style)
                .expect("writing to a String cannot fail");
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn writes_aggregates_as_pgbench() {
        let sums = LogAggregate {
            from_epoch_secs: 1_700_000_000,
            ok: 2,
            latency: DurationSums { count: 2, sum: 30.0, sum_of_squares: 500.0, min: 10.0, max: 20.0 },
            lag: DurationSums { count: 2, sum: 3.0, sum_of_squares: 5.0, min: 1.0, max: 2.0 },
            dropped: 4,
            retried: 5,
            retries: 6,
            serialization: 7,
            deadlock: 8,
        };
        let all = LogStyle { lag: true, skipped: true, retries: true, failures_detailed: true };
        for (style, expected) in [
            (LogStyle::default(), "1700000000 2 30 500 10 20 0 0 0 0 0 0 0 0 0\n"),
            (all, "1700000000 2 30 500 10 20 3 5 1 2 4 5 6 7 8\n"),
        ] {
            let mut out = String::new();
            aggregate(&mut out, &sums, style).expect("writing to a String cannot fail");
            assert_eq!(out, expected);
        }
    }
}
