//! Results by stage of a load with stages of users or of rates

use super::period_sum::PeriodSum;
use model::plan::{LoadModel, Operation};
use model::run_result::{StageBreak, StageBreakReason, StageLevel, StageResult};
use model::{Curve, HistogramSum, Nanos, PerSecond, Second, SparseHistogram};

/// Maximum number of stages. A load with more stages is in effect a ramp, so it has no table.
const STAGES_MAX: usize = 60;
/// Share of unsuccessful arrivals above which a stage broke: the share above which cells are not compared.
const FAILED_SHARE: f64 = 0.01;
/// Share of the offered rate below which a stage falls behind.
const DELIVERED_SHARE: f64 = 0.99;
/// Number of standard deviations of a Poisson process by which the deliveries must also fall short of the arrivals.
const CHANCE: f64 = 3.0;
/// Share of the highest rate of earlier stages below which the throughput falls although there are more users.
const HIGHEST_SHARE: f64 = 0.95;

/// Stage as planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedStage {
    pub level: StageLevel,
    pub duration: Nanos,
}

impl PlannedStage {
    /// Planned arrivals per second at this time since the stage's start; `None` for users.
    fn rate(&self, at: f64) -> Option<f64> {
        match self.level {
            StageLevel::Users(_) => None,
            StageLevel::Rate { from, to } => {
                Some(from.0 + (to.0 - from.0) * at / self.duration.as_secs_f64().max(f64::MIN_POSITIVE))
            }
        }
    }
}

/// Stages of the load; empty if it has only one stage, or if operations have schedules of their own. `schedule` is the
/// parsed schedule of an open load.
pub fn planned_stages(
    model: &LoadModel,
    schedule: Option<&Curve>,
    operations: &[Operation],
) -> Vec<PlannedStage> {
    let mut all = Vec::new();
    match (model, schedule) {
        (LoadModel::Users { stages, .. }, _) => all.extend(
            stages
                .iter()
                .map(|it| PlannedStage { level: StageLevel::Users(it.users), duration: it.duration }),
        ),
        (LoadModel::Open { .. }, Some(curve)) if operations.iter().all(|it| it.schedule.is_none()) => {
            add_ramps(curve, &mut all);
        }
        _ => {}
    }
    if (2..=STAGES_MAX).contains(&all.len()) { all } else { Vec::new() }
}

fn add_ramps(curve: &Curve, all: &mut Vec<PlannedStage>) {
    match curve {
        Curve::Ramp { from, to, duration } => {
            let level = StageLevel::Rate { from: *from, to: *to };
            all.push(PlannedStage { level, duration: *duration });
        }
        Curve::Chain(parts) => parts.iter().for_each(|it| add_ramps(it, all)),
    }
}

/// Measurement of one stage of a trial.
#[derive(Clone, Debug, Default)]
pub struct StageSum {
    sum: PeriodSum,
    /// Planned number of arrivals; 0 for users.
    planned: f64,
}

/// Collects the seconds of a trial by stage. A second belongs to the stage that contains its middle.
#[derive(Clone, Debug)]
pub struct StageCollector {
    stages: Vec<PlannedStage>,
    sums: Vec<StageSum>,
    /// Response times of the current stage. A sum takes much memory, so there is only one.
    response: HistogramSum,
    current: usize,
}

impl StageCollector {
    pub fn new(stages: Vec<PlannedStage>) -> StageCollector {
        let sums = vec![StageSum::default(); stages.len()];
        StageCollector { stages, sums, response: HistogramSum::new(), current: 0 }
    }

    pub fn second(&mut self, second: &Second) {
        let middle = second.second as f64 + 0.5;
        let mut end = 0.0;
        let containing = self.stages.iter().position(|stage| {
            end += stage.duration.as_secs_f64();
            middle < end
        });
        let Some(number) = containing else { return };
        if number != self.current {
            self.end_stage();
            self.current = number;
        }
        let (stage, StageSum { sum, planned }) = (&self.stages[number], &mut self.sums[number]);
        let begin = end - stage.duration.as_secs_f64();
        let before = sum.seconds;
        sum.add_second(second, &mut self.response);
        *planned += stage.rate(middle - begin).unwrap_or(0.0) * (sum.seconds - before);
    }

    fn end_stage(&mut self) {
        if let Some(StageSum { sum, .. }) = self.sums.get_mut(self.current) {
            sum.response = SparseHistogram::from(&self.response);
        }
        self.response.clear();
    }

    pub fn finish(mut self) -> Vec<StageSum> {
        self.end_stage();
        self.sums
    }
}

/// Results of the stages over several trials of a cell. Stages that no trial reached are left out.
pub fn stage_results(stages: &[PlannedStage], trials: &[&[StageSum]]) -> Vec<StageResult> {
    let result = |(number, stage): (usize, &PlannedStage)| {
        let (mut sum, mut planned, mut response) = (PeriodSum::default(), 0.0, HistogramSum::new());
        for part in trials.iter().filter_map(|it| it.get(number)) {
            sum.merge(&part.sum, &mut response);
            planned += part.planned;
        }
        let offered = matches!(stage.level, StageLevel::Rate { .. });
        let offered = offered.then(|| PerSecond(planned / sum.seconds));
        let period = sum.result(&response, stage.duration)?;
        Some(StageResult { level: stage.level, offered, period })
    };
    stages.iter().enumerate().filter_map(result).collect()
}

/// First stage at which the system broke; `None` if it sustained all stages.
pub fn stage_break(stages: &[StageResult]) -> Option<StageBreak> {
    stages.iter().enumerate().find_map(|(number, stage)| {
        let reason = failed(stage)
            .or_else(|| refused(stage))
            .or_else(|| behind(stage))
            .or_else(|| slower(&stages[..number], stage))?;
        Some(StageBreak { stage: number, reason })
    })
}

fn failed(stage: &StageResult) -> Option<StageBreakReason> {
    let share = (stage.period.failed + stage.period.dropped) as f64 / stage.period.arrivals.max(1) as f64;
    (share > FAILED_SHARE).then_some(StageBreakReason::Failed { share })
}

fn refused(stage: &StageResult) -> Option<StageBreakReason> {
    (stage.period.refused > 0).then_some(StageBreakReason::Refused { count: stage.period.refused })
}

fn behind(stage: &StageResult) -> Option<StageBreakReason> {
    let seconds = stage.period.measured.as_secs_f64();
    let (offered, delivered) = (stage.offered?, stage.period.delivered);
    let arrivals = offered.0 * seconds;
    let least = (DELIVERED_SHARE * arrivals).min(arrivals - CHANCE * arrivals.sqrt());
    (delivered.0 * seconds < least).then_some(StageBreakReason::Behind { offered, delivered })
}

fn slower(earlier: &[StageResult], stage: &StageResult) -> Option<StageBreakReason> {
    let StageLevel::Users(users) = stage.level else { return None };
    let has_fewer = |it: &&StageResult| matches!(it.level, StageLevel::Users(number) if number < users);
    let rates = earlier.iter().filter(has_fewer).map(|it| it.period.delivered);
    let highest = rates.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let delivered = stage.period.delivered;
    (delivered.0 < HIGHEST_SHARE * highest.0).then_some(StageBreakReason::Slower { highest, delivered })
}

#[cfg(test)]
mod tests;
