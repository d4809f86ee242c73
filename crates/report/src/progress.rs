//! Progress line in pgbench's format, extended by p99
//!
//! Source: `printProgressReport` in pgbench.c of PostgreSQL 15.

use model::Nanos;
use model::summary::Progress;

/// Selection of optional columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressStyle {
    /// Unix time at which the window began, if absolute times are printed. With `None`, times since the start of the
    /// window are printed.
    pub epoch: Option<Nanos>,
    /// True in the open model.
    pub lag: bool,
    /// True if arrivals may be dropped.
    pub skipped: bool,
    /// True if failures may be retried.
    pub retries: bool,
}

pub fn format_line(progress: &Progress, style: ProgressStyle) -> String {
    let at = match style.epoch {
        Some(epoch) => format!("{:.3} s", (epoch + progress.at).as_secs_f64()),
        None => format!("{:.1} s", progress.at.as_secs_f64()),
    };
    let (mean, deviation) = (progress.mean.as_millis_f64(), progress.deviation.as_millis_f64());
    let mut out = format!(
        "progress: {at}, {:.1} tps, lat {mean:.3} ms stddev {deviation:.3}, {} failed",
        progress.tps.0, progress.failed
    );
    if style.lag {
        out += &format!(", lag {:.3} ms", progress.lag.as_millis_f64());
    }
    if style.skipped {
        out += &format!(", {} skipped", progress.dropped);
    }
    if style.retries {
        out += &format!(", {} retried, {} retries", progress.retried, progress.retries);
    }
    if let Some(p99) = progress.p99 {
        out += &format!(", p99 {:.3} ms", p99.as_millis_f64());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PerSecond;

    #[test]
    fn formats_lines_as_pgbench() {
        let progress = Progress {
            at: Nanos::from_millis(5012),
            tps: PerSecond(1234.56),
            mean: Nanos::from_micros(123),
            deviation: Nanos::from_micros(45),
            p99: Some(Nanos::from_micros(987)),
            failed: 2,
            lag: Nanos::from_micros(7),
            dropped: 3,
            retried: 4,
            retries: 5,
        };
        let plain = ProgressStyle::default();
        let epoch = Some(Nanos::from_secs(1_700_000_000));
        for (report, style, expected) in [
            (
                progress,
                plain,
                "progress: 5.0 s, 1234.6 tps, lat 0.123 ms stddev 0.045, 2 failed, p99 0.987 ms",
            ),
            (
                Progress { p99: None, ..progress },
                ProgressStyle { epoch, ..plain },
                "progress: 1700000005.012 s, 1234.6 tps, lat 0.123 ms stddev 0.045, 2 failed",
            ),
            (
                progress,
                ProgressStyle { lag: true, skipped: true, retries: true, ..plain },
                "progress: 5.0 s, 1234.6 tps, lat 0.123 ms stddev 0.045, 2 failed, lag 0.007 ms, 3 skipped, \
                 4 retried, 5 retries, p99 0.987 ms",
            ),
            (Progress::default(), plain, "progress: 0.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed"),
        ] {
            assert_eq!(format_line(&report, style), expected);
        }
    }
}
