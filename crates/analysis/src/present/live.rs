//! Live figures of the last seconds of a trial

use crate::facts::samples::{
    BALANCER_QUEUE, CGROUP_CPU, POOL_CLIENTS_WAITING, POOL_SERVERS_ACTIVE, PROCESS_CPU, sums,
};
use crate::facts::{SampleSet, SampleView};
use model::live::{LatencyObjective, LiveSecond, NodeCpu, PoolState, RecentQuantile};
use model::{LatencyHistogram, Nanos, PerSecond, ScriptCounts, Tick};
use std::collections::{BTreeMap, VecDeque};

/// Live figures of one trial. A value that is sampled less often than once per second remains until the next sample.
#[derive(Clone, Debug, Default)]
pub struct LiveState {
    pools: BTreeMap<String, PoolState>,
    /// Time of the last sample, CPU time until then, and CPUs used since the previous sample, by node.
    processors: BTreeMap<String, (Nanos, f64, Option<f64>)>,
    /// Operation whose quantile is judged; `None` for all operations together.
    operation: Option<usize>,
    /// Judged quantile, 0..=1; `None` for the 99th percentile.
    quantile: Option<f64>,
    /// Response times and numbers of unanswered arrivals of the last seconds, the newest first.
    recent: VecDeque<(LatencyHistogram, u64)>,
}

/// Quantile that is shown without an objective.
const QUANTILE: f64 = 0.99;

/// Longest period of a recent quantile, in seconds.
const RECENT_MAX: usize = 30;

impl LiveState {
    /// Creates a state. Its recent quantile is the quantile of the objective.
    pub fn new(objective: Option<&LatencyObjective>) -> LiveState {
        LiveState {
            operation: objective.and_then(|it| it.operation),
            quantile: objective.map(|it| it.quantile),
            ..LiveState::default()
        }
    }

    /// Adds a second. Callers call this once per second, in order of time.
    pub fn second(&mut self, tick: &Tick) -> LiveSecond {
        self.add_samples(SampleSet::from(tick.samples.clone()).view());
        let interval = &tick.interval;
        let mut response = LatencyHistogram::new();
        interval.scripts.iter().for_each(|cell| response.merge(&cell.response));
        let duration = (interval.to - interval.from).as_secs_f64();
        let rate = if duration > 0.0 { response.count() as f64 / duration } else { 0.0 };
        let unanswered = interval.scripts.iter().map(ScriptCounts::unanswered).sum();
        let (p50, p99) = (
            response.quantile_with_unanswered(0.5, unanswered),
            response.quantile_with_unanswered(0.99, unanswered),
        );
        let judged = match self.operation {
            Some(operation) => {
                let counts = interval.scripts.get(operation);
                counts.map(|it| (it.response.clone(), it.unanswered())).unwrap_or_default()
            }
            None => (response, unanswered),
        };
        let is_answered = judged.0.count() > 0;
        self.recent.push_front(judged);
        self.recent.truncate(RECENT_MAX);
        let used = |(node, usage): (&String, &(Nanos, f64, Option<f64>))| {
            Some(NodeCpu { node: node.clone(), processors: usage.2? })
        };
        LiveSecond {
            rate: PerSecond(rate),
            p50,
            p99,
            recent_quantile: if is_answered { self.recent_quantile() } else { None },
            failed: interval.scripts.iter().map(|it| it.failed.total() + it.unknown.total()).sum(),
            dropped: interval.scripts.iter().map(|it| it.dropped).sum(),
            refused: interval.refused.total(),
            in_flight: tick.in_flight,
            pools: self.pools.values().cloned().collect(),
            processors: self.processors.iter().filter_map(used).collect(),
        }
    }

    /// Judged quantile over the shortest period that ends now and has enough samples.
    fn recent_quantile(&self) -> Option<RecentQuantile> {
        let quantile = self.quantile.unwrap_or(QUANTILE);
        let (mut response, mut unanswered) = (LatencyHistogram::new(), 0);
        self.recent.iter().enumerate().find_map(|(i, second)| {
            response.merge(&second.0);
            unanswered += second.1;
            let value = response.quantile_with_unanswered(quantile, unanswered)?;
            Some(RecentQuantile { value, seconds: i as u32 + 1 })
        })
    }

    fn add_samples(&mut self, samples: SampleView<'_>) {
        let mut nodes: Vec<&str> = samples.iter().map(|it| &*it.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let last = |series: &str| Some(sums(samples, node, series, |_| true).last()?.1);
            let waiting = last(POOL_CLIENTS_WAITING).or_else(|| last(BALANCER_QUEUE));
            let busy = last(POOL_SERVERS_ACTIVE);
            if waiting.is_some() || busy.is_some() {
                self.pools.insert(node.to_owned(), PoolState { node: node.to_owned(), waiting, busy });
            }
            if let Some((at, cpu)) = cpu_time(samples, node) {
                let before = self.processors.get(node).copied();
                let used = match before {
                    // The counter was not reset since the previous sample.
                    Some((then, had, _)) if at > then && cpu >= had => {
                        Some((cpu - had) / (at - then).as_secs_f64())
                    }
                    Some((then, _, used)) if at == then => used,
                    _ => None,
                };
                self.processors.insert(node.to_owned(), (at, cpu, used));
            }
        }
    }
}

/// Time of a node's last sample and its CPU time in seconds, from its control group if there is one, otherwise from its
/// processes.
fn cpu_time(samples: SampleView<'_>, node: &str) -> Option<(Nanos, f64)> {
    let last = |series| sums(samples, node, series, |_| true).last().copied();
    last(CGROUP_CPU).or_else(|| {
        let [(at, user), (_, system)] = [last(PROCESS_CPU[0])?, last(PROCESS_CPU[1])?];
        Some((at, user + system))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, Code, Interval, Outcome, Record, Sample, ScriptId};

    fn sample(
        millis: u64,
        node: &'static str,
        series: &'static str,
        label: &'static str,
        value: f64,
    ) -> Sample {
        let at = Nanos::from_millis(millis);
        Sample { at, node: node.into(), series: series.into(), label: label.into(), value }
    }

    fn tick(second: u64, samples: Vec<Sample>) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 2));
        Tick { second, interval, in_flight: 7, samples }
    }

    #[test]
    fn adds_up_all_operations() {
        let mut interval_tick = tick(0, Vec::new());
        for n in 0..2000_u64 {
            let outcome = match n {
                0 => Outcome::Failed(Code::RESET),
                1 => Outcome::Unknown(Code::RESET),
                2..=4 => Outcome::Dropped,
                _ => Outcome::Ok,
            };
            let (intended, finished) = (Nanos::ZERO, Nanos::from_micros(n));
            let (script, client) = (ScriptId((n % 2) as u16), ClientId(0));
            let record = Record { script, client, outcome, intended, started: intended, finished, tries: 1 };
            interval_tick.interval.scripts[(n % 2) as usize].record(&record, Nanos::MAX, Nanos::MAX);
        }
        interval_tick.interval.refused.add(Code::REFUSED, 5);
        let second = LiveState::default().second(&interval_tick);
        let near = |quantile: Option<Nanos>, micros: f64| {
            (quantile.expect("there are enough samples").as_micros_f64() / micros - 1.0).abs() < 0.001
        };
        assert!(near(second.p50, 1004.0) && near(second.p99, 1984.0), "{second:?}");
        assert_eq!((second.rate, second.failed, second.dropped), (PerSecond(1995.0 / 2.0), 2, 3));
        assert_eq!((second.refused, second.in_flight), (5, 7));
        let nothing = LiveState::default().second(&tick(0, Vec::new()));
        assert_eq!(nothing, LiveSecond { in_flight: 7, ..LiveSecond::default() });
    }

    /// Second in which `count` transactions of an operation succeeded, each after `millis` ms.
    fn answered(operation: u16, count: u64, millis: u64) -> Tick {
        let mut tick = tick(0, Vec::new());
        let (finished, intended) = (Nanos::from_millis(millis), Nanos::ZERO);
        let (script, client, outcome) = (ScriptId(operation), ClientId(0), Outcome::Ok);
        let record = Record { script, client, outcome, intended, started: intended, finished, tries: 1 };
        let counts = &mut tick.interval.scripts[usize::from(operation)];
        (0..count).for_each(|_| counts.record(&record, Nanos::MAX, Nanos::MAX));
        tick
    }

    fn shown(second: &LiveSecond) -> Option<(f64, u32)> {
        second.recent_quantile.map(|recent| (recent.value.as_millis_f64().round(), recent.seconds))
    }

    /// At low rates, one second has too few samples for a p99.
    #[test]
    fn takes_a_quantile_of_the_last_seconds() {
        let mut live = LiveState::default();
        let mut second = |count: u64, millis: u64| shown(&live.second(&answered(0, count, millis)));
        assert_eq!(second(400, 10), None, "ten samples beyond the p99 need a thousand");
        assert_eq!(second(400, 10), None);
        assert_eq!(second(400, 10), Some((10.0, 3)));
        assert_eq!(second(2000, 30), Some((30.0, 1)));
        // During an outage, a quantile of earlier seconds is not current.
        assert_eq!(second(0, 0), None);
        assert_eq!(second(400, 20), Some((30.0, 3)));
    }

    #[test]
    fn takes_the_quantile_and_the_operation_of_the_objective() {
        let objective = |quantile, operation| LatencyObjective {
            text: String::new(),
            metric: String::new(),
            quantile,
            operation,
            bound: Nanos::ZERO,
        };
        for (objective, expected) in [
            (None, None),
            (Some(objective(0.95, None)), Some((10.0, 1))),
            (Some(objective(0.95, Some(0))), None),
            (Some(objective(0.95, Some(1))), Some((10.0, 1))),
            (Some(objective(0.99, Some(1))), None),
        ] {
            let second = LiveState::new(objective.as_ref()).second(&answered(1, 400, 10));
            assert_eq!(shown(&second), expected, "{objective:?}");
        }
    }

    #[test]
    fn keeps_pools_until_the_next_sample() {
        let mut live = LiveState::default();
        let mut pools = |samples| live.second(&tick(0, samples)).pools;
        let pool = |node: &str, waiting, busy| PoolState { node: node.to_owned(), waiting, busy };
        let sampled = vec![
            sample(500, "p", POOL_CLIENTS_WAITING, "a/x", 9.0),
            sample(900, "p", POOL_CLIENTS_WAITING, "a/x", 100.0),
            sample(900, "p", POOL_CLIENTS_WAITING, "b/x", 5.0),
            sample(900, "p", POOL_SERVERS_ACTIVE, "a/x", 20.0),
            sample(900, "o", POOL_SERVERS_ACTIVE, "a/x", 3.0),
            sample(900, "h", BALANCER_QUEUE, "pg/BACKEND", 4.0),
        ];
        let expected =
            [pool("h", Some(4.0), None), pool("o", None, Some(3.0)), pool("p", Some(105.0), Some(20.0))];
        assert_eq!(pools(sampled), expected);
        assert_eq!(pools(Vec::new()), expected);
    }

    #[test]
    fn computes_processors_since_the_last_sample() {
        let mut live = LiveState::default();
        let mut used = |samples| -> Vec<(String, f64)> {
            let used = live.second(&tick(0, samples)).processors;
            used.into_iter().map(|it| (it.node, it.processors)).collect()
        };
        let group_cpu = |millis, cpu| sample(millis, "p", CGROUP_CPU, "", cpu);
        let process_cpu = |millis, user, system| {
            [sample(millis, "d", PROCESS_CPU[0], "", user), sample(millis, "d", PROCESS_CPU[1], "", system)]
        };
        assert_eq!(used([process_cpu(500, 1.0, 1.0).to_vec(), vec![group_cpu(500, 10.0)]].concat()), []);
        let both = [process_cpu(2500, 1.5, 1.5).to_vec(), vec![group_cpu(1500, 10.25)]].concat();
        assert_eq!(used(both), [("d".to_owned(), 0.5), ("p".to_owned(), 0.25)]);
        assert_eq!(used(vec![group_cpu(2500, 1.0)]), [("d".to_owned(), 0.5)], "the counter was restarted");
    }
}
