//! Samples of each agent's part, for charts

use model::series::{AGENT_CPU, AGENT_P50, AGENT_P99, AGENT_RATE, AGENT_SEND_LAG};
use model::{CompactInterval, HistogramSum, Nanos, Sample};

/// Samples of one second of an agent. Times of the interval are relative to the start of the window. `cpu` is the CPU
/// time of the agent's process in this second. A quantile with too few transactions is left out.
pub fn samples(agent: &str, interval: &CompactInterval, cpu: Nanos) -> Vec<Sample> {
    let duration = (interval.to - interval.from).as_secs_f64();
    if duration <= 0.0 {
        return Vec::new();
    }
    // In the middle of the second, so that the sample belongs to this point of a chart.
    let at = interval.from + Nanos((interval.to - interval.from).0 / 2);
    let (mut response, mut send_lag) = (HistogramSum::new(), HistogramSum::new());
    interval.scripts.iter().for_each(|it| response.add(&it.response));
    send_lag.add(&interval.send_lag);
    let ok: u64 = interval.scripts.iter().map(|it| it.ok).sum();
    let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
    let values = [
        (AGENT_RATE, Some(ok as f64 / duration)),
        (AGENT_P50, seconds(response.quantile(0.5))),
        (AGENT_P99, seconds(response.quantile(0.99))),
        (AGENT_SEND_LAG, seconds(send_lag.quantile(0.99))),
        (AGENT_CPU, Some(cpu.as_secs_f64() / duration)),
    ];
    let sample = |(series, value): (&'static str, Option<f64>)| {
        let node = agent.to_owned().into();
        Some(Sample { at, node, series: series.into(), label: "".into(), value: value? })
    };
    values.into_iter().filter_map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, Interval, Outcome, Record, ScriptId, SparseHistogram};

    /// Second number 2 with this many transactions of 5 ms, sent 1 ms late.
    fn second(transactions: u64) -> CompactInterval {
        let mut interval = Interval::new(&[0]);
        (interval.from, interval.to) = (Nanos::from_secs(2), Nanos::from_secs(3));
        for n in 0..transactions {
            let intended = interval.from + Nanos(n);
            let (started, finished) = (intended + Nanos::from_millis(1), intended + Nanos::from_millis(5));
            let (script, client, outcome) = (ScriptId(0), ClientId(0), Outcome::Ok);
            let record = Record { script, client, outcome, intended, started, finished, tries: 1 };
            interval.scripts[0].record(&record, Nanos::MAX, Nanos::MAX);
            interval.send_lag.record(started - intended);
        }
        interval.convert(SparseHistogram::from)
    }

    #[test]
    fn a_quantile_without_enough_transactions_is_missing() {
        let check = |transactions: u64, expected: &[&str]| {
            let all = samples("a1", &second(transactions), Nanos::from_millis(500));
            let shown = all.iter().map(|sample| {
                assert_eq!((sample.at, &*sample.node), (Nanos::from_millis(2500), "a1"));
                format!("{} {:.3}", sample.series, sample.value)
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{transactions} transactions");
        };
        check(0, &["agent_rate 0.000", "agent_cpu 0.500"]);
        check(1, &["agent_rate 1.000", "agent_cpu 0.500"]);
        check(100, &["agent_rate 100.000", "agent_p50 0.005", "agent_cpu 0.500"]);
        check(
            1000,
            &[
                "agent_rate 1000.000",
                "agent_p50 0.005",
                "agent_p99 0.005",
                "agent_send_lag 0.001",
                "agent_cpu 0.500",
            ],
        );
    }

    #[test]
    fn an_empty_second_has_no_sample() {
        let mut interval = second(10);
        interval.to = interval.from;
        assert_eq!(samples("a1", &interval, Nanos::ZERO), []);
    }
}
