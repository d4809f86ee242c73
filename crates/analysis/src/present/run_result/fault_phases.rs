//! Results before, during and after the faults of a trial

use super::period_sum::PeriodSum;
use crate::facts::SampleView;
use crate::facts::samples::PG_REPLICATION_REPLAY_LAG;
use model::durability::ClientOutage;
use model::fault_injection::FaultInjection;
use model::plan::FaultAction;
use model::run_result::{FaultPhase, FaultPhaseResult};
use model::{HistogramSum, Nanos, Outage, Second, SparseHistogram};

const PHASES: [FaultPhase; 3] = [FaultPhase::Before, FaultPhase::During, FaultPhase::After];

/// Times of a trial at which a fault, or an outage that followed it, was in effect.
#[derive(Clone, Debug, Default)]
pub struct FaultTimes {
    /// Start and end of each fault, by start. They may overlap.
    effects: Vec<(Nanos, Nanos)>,
}

impl FaultTimes {
    /// An effect begins with the fault. It ends when the fault was reverted, another server accepted writes, all kinds of
    /// clients were served again, and the outage of the load was over, whichever is last. `load_outages` are those of the
    /// trial; without a ledger, only they show how long clients waited. Faults that affected no node are left out. A command
    /// that reverts a fault of the user runs after the load and does not count.
    pub fn new(injection: &FaultInjection, load_outages: &[Outage]) -> FaultTimes {
        let mut starts: Vec<Nanos> = injection.injected.iter().map(|fault| fault.at).collect();
        starts.sort_unstable();
        let is_outage = |outage: &&ClientOutage| outage.duration() > Nanos::ZERO;
        let outages = || injection.verdict.iter().flat_map(|verdict| &verdict.outages).filter(is_outage);
        let effects = injection.injected.iter().enumerate().filter(|(_, fault)| !fault.nodes.is_empty());
        let effects = effects.map(|(number, fault)| {
            let next = starts.iter().find(|start| **start > fault.at).copied().unwrap_or(Nanos(u64::MAX));
            let promoted = injection.promotions.iter().map(|promotion| promotion.at);
            let promoted = promoted.filter(|at| (fault.at..next).contains(at));
            let served = outages().filter(|outage| outage.fault == number).map(|outage| outage.to);
            let loaded = load_outages.iter().filter(|outage| outage.from < next);
            let loaded = loaded.map(|outage| outage.to);
            let reverted = fault.reverted.filter(|_| fault.action.external_deadline().is_none());
            let end = reverted.into_iter().chain(promoted).chain(served).chain(loaded).max();
            (fault.at, end.unwrap_or(fault.at).max(fault.at))
        });
        let mut effects: Vec<(Nanos, Nanos)> = effects.collect();
        effects.sort_unstable();
        FaultTimes { effects }
    }

    /// Phase of the time from `from` to `to`. It is `During` if a fault has an effect at any time between them.
    fn phase(&self, from: Nanos, to: Nanos) -> FaultPhase {
        let begun = |effect: &&(Nanos, Nanos)| effect.0 < to;
        match self.effects.iter().filter(begun).map(|effect| effect.1).max() {
            None => FaultPhase::Before,
            Some(end) if end >= from => FaultPhase::During,
            Some(_) => FaultPhase::After,
        }
    }
}

/// Measurement of one phase of a trial.
#[derive(Clone, Debug, Default)]
pub struct FaultPhaseSum {
    sum: PeriodSum,
    /// Longest lag of a replica, in seconds.
    lag: Option<f64>,
}

/// Collects the seconds of a trial with faults by phase.
#[derive(Debug)]
pub struct FaultPhaseCollector {
    times: FaultTimes,
    sums: [FaultPhaseSum; 3],
    responses: [HistogramSum; 3],
    /// True if the clocks of the servers agree; otherwise PostgreSQL computes wrong lags.
    has_lag: bool,
}

impl FaultPhaseCollector {
    /// `None` if no fault was injected.
    pub fn new(injection: &FaultInjection, load_outages: &[Outage]) -> Option<FaultPhaseCollector> {
        let times = FaultTimes::new(injection, load_outages);
        let responses = [HistogramSum::new(), HistogramSum::new(), HistogramSum::new()];
        let has_lag =
            !injection.injected.iter().any(|it| matches!(it.action, FaultAction::ShiftClock { .. }));
        (!times.effects.is_empty()).then(|| FaultPhaseCollector {
            times,
            sums: Default::default(),
            responses,
            has_lag,
        })
    }

    pub fn second(&mut self, second: &Second) {
        let from = Nanos::from_secs(second.second);
        let phase = self.times.phase(from, from + Nanos::from_secs(1)) as usize;
        self.sums[phase].sum.add_second(second, &mut self.responses[phase]);
    }

    /// Ends the trial, whose samples include those of replication.
    pub fn finish(self, samples: SampleView<'_>) -> [FaultPhaseSum; 3] {
        let FaultPhaseCollector { times, mut sums, responses, has_lag } = self;
        for (FaultPhaseSum { sum, .. }, response) in sums.iter_mut().zip(&responses) {
            sum.response = SparseHistogram::from(response);
        }
        for sample in samples.of_series(PG_REPLICATION_REPLAY_LAG).iter().filter(|_| has_lag) {
            let lag = &mut sums[times.phase(sample.at, sample.at + Nanos(1)) as usize].lag;
            *lag = Some(lag.map_or(sample.value, |longest| longest.max(sample.value)));
        }
        sums
    }
}

/// Results of the phases over several trials of a cell. Phases that no trial had are left out.
pub fn fault_phase_results(trials: &[&[FaultPhaseSum; 3]]) -> Vec<FaultPhaseResult> {
    let result = |phase: FaultPhase| {
        let (mut all, mut response) = (PeriodSum::default(), HistogramSum::new());
        let parts = || trials.iter().map(|sums| &sums[phase as usize]);
        parts().for_each(|part| all.merge(&part.sum, &mut response));
        let longest = parts().map(|part| part.sum.seconds).fold(0.0, f64::max);
        let lag = parts().filter_map(|part| part.lag).reduce(f64::max);
        let period = all.result(&response, Nanos::from_secs_f64(longest))?;
        Some(FaultPhaseResult { phase, period, replay_lag: lag.map(Nanos::from_secs_f64) })
    };
    PHASES.into_iter().filter_map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::SampleSet;
    use model::durability::{AccessKind, ClientKind, Conclusion, DurabilityVerdict, WriteCounts};
    use model::fault_injection::{InjectedFault, PromotionRecord};
    use model::plan::{FaultScope, FaultTarget};
    use model::{Code, CompactInterval, LatencyHistogram, OperationSecond, Sample};

    fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Faults at these times, each until its second time, if it has one.
    fn faults(times: &[(u64, Option<u64>)]) -> FaultInjection {
        let fault = |&(at, reverted): &(u64, Option<u64>)| InjectedFault {
            at: ms(at),
            reverted: reverted.map(ms),
            action: FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node },
            nodes: vec!["postgres".to_owned()],
        };
        FaultInjection { injected: times.iter().map(fault).collect(), ..FaultInjection::default() }
    }

    /// Phases of `count` seconds: `b`, `d` and `a`.
    fn shown(injection: &FaultInjection, load_outages: &[Outage], count: u64) -> String {
        let times = FaultTimes::new(injection, load_outages);
        let phase = |second| match times.phase(Nanos::from_secs(second), Nanos::from_secs(second + 1)) {
            FaultPhase::Before => 'b',
            FaultPhase::During => 'd',
            FaultPhase::After => 'a',
        };
        (0..count).map(phase).collect()
    }

    #[test]
    fn assigns_seconds_to_phases() {
        let mut promoted = faults(&[(2_500, None)]);
        promoted.promotions.push(PromotionRecord {
            from: "postgres".to_owned(),
            to: "postgres-2".to_owned(),
            at: ms(4_200),
            healthy: None,
            timeline: 2,
            safe: None,
        });
        let mut served = promoted.clone();
        let outage = |fault, from, to| ClientOutage {
            fault,
            client: ClientKind::Connected,
            access: AccessKind::Write,
            from: ms(from),
            to: ms(to),
            usual: ms(20),
            ongoing: false,
        };
        // The second one is hardly longer than before the faults.
        served.verdict = Some(verdict(vec![outage(0, 2_480, 6_100), outage(0, 7_000, 7_030)]));
        let mut undone = promoted.clone();
        undone.injected[0].reverted = Some(ms(9_000));
        undone.injected[0].action =
            FaultAction::Run { command: Vec::new(), undo: Vec::new(), within: ms(60_000) };
        let mut missed = faults(&[(2_500, None)]);
        missed.injected[0].nodes.clear();
        for (injection, expected) in [
            (faults(&[]), "bbbbbbbb"),
            (missed, "bbbbbbbb"),
            (faults(&[(2_500, None)]), "bbdaaaaa"),
            (faults(&[(2_500, Some(4_100))]), "bbdddaaa"),
            (promoted, "bbdddaaa"),
            (undone, "bbdddaaa"),
            (served, "bbdddddaa"),
            // A second fault begins when the first one has ended, or before.
            (faults(&[(1_500, Some(2_500)), (5_000, None)]), "bddaadaa"),
            (faults(&[(1_500, Some(6_500)), (3_000, None)]), "bddddddaa"),
        ] {
            assert_eq!(shown(&injection, &[], expected.len() as u64), expected, "{injection:?}");
        }
        // Without a ledger, the load itself shows how long its clients waited.
        let outage = |from, to| Outage { from: ms(from), to: ms(to), ongoing: false, failing: true };
        for (outages, expected) in [
            (&[outage(2_480, 5_200)][..], "bbddddaa"),
            (&[outage(300, 900), outage(2_700, 3_100)], "bbddaaaa"),
        ] {
            assert_eq!(shown(&faults(&[(2_500, None)]), outages, 8), expected, "{outages:?}");
        }
    }

    fn verdict(outages: Vec<ClientOutage>) -> DurabilityVerdict {
        DurabilityVerdict {
            conclusion: Conclusion::Kept,
            counts: WriteCounts::default(),
            anomalies: Vec::new(),
            doubts: Vec::new(),
            recovery_point: None,
            invariants: Vec::new(),
            outages,
            failovers: 1,
            bound: 0.95,
            clock_steps_us: Vec::new(),
        }
    }

    #[test]
    fn sums_each_phase_over_trials() {
        let second = |number: u64, ok: u64, failed: u64, millis: u64| {
            let mut response = LatencyHistogram::new();
            (0..ok).for_each(|_| response.record(ms(millis)));
            let mut counts =
                OperationSecond { ok, response: (&response).into(), ..OperationSecond::default() };
            counts.failed.add(Code::SqlState(*b"57P01"), failed);
            let (from, to) = (Nanos::from_secs(number), Nanos::from_secs(number + 1));
            let interval = CompactInterval { from, to, scripts: vec![counts], ..CompactInterval::default() };
            Second { second: number, in_flight: 0, interval }
        };
        let lag = |at, value| Sample {
            at: ms(at),
            node: "postgres".into(),
            series: PG_REPLICATION_REPLAY_LAG.into(),
            label: "postgres-2".into(),
            value,
        };
        let trial = |rates: [(u64, u64); 4]| {
            let mut collector = FaultPhaseCollector::new(&faults(&[(1_500, Some(2_500))]), &[])
                .expect("a fault was injected");
            (0..).zip(rates).for_each(|(number, (ok, failed))| {
                collector.second(&second(number, ok, failed, number + 1));
            });
            let lags = vec![lag(500, 0.1), lag(2_200, 3.0), lag(2_400, 2.0), lag(3_500, 0.2)];
            collector.finish(SampleSet::from(lags).view())
        };
        let trials =
            [trial([(100, 0), (20, 1), (0, 2), (90, 0)]), trial([(120, 0), (40, 0), (20, 0), (110, 0)])];
        let all = fault_phase_results(&trials.iter().collect::<Vec<_>>());
        let figures: Vec<(FaultPhase, f64, f64, u64, Option<Nanos>)> = all
            .iter()
            .map(|FaultPhaseResult { phase, period, replay_lag }| {
                (*phase, period.measured.as_secs_f64(), period.delivered.0, period.failed, *replay_lag)
            })
            .collect();
        let expected = [
            (FaultPhase::Before, 2.0, 110.0, 0, Some(ms(100))),
            (FaultPhase::During, 4.0, 20.0, 3, Some(ms(3_000))),
            (FaultPhase::After, 2.0, 100.0, 0, Some(ms(200))),
        ];
        assert_eq!(figures, expected);
        assert!(FaultPhaseCollector::new(&FaultInjection::default(), &[]).is_none());
        assert_eq!(fault_phase_results(&[]), []);
    }
}
