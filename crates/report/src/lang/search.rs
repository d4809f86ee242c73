//! Sentences about maxima, soaks and sweeps

use super::number::{exact, small};
use super::{Argument, Lang};
use crate::number::{exact_digits, three_digits};
use crate::say;
use model::Nanos;
use model::avoidable_work::AvoidableWork;
use model::finding::ConnectionLimit;
use model::lock::LockKind;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, Knob, LevelOutcome, LevelTrials, Limit, OverloadReason, Perturbation, ProofVerdict,
    RequiredConnections, Saturation, Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose,
    TrendMetric, TrendVerdict,
};

/// Question of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchQuestion {
    Maximum,
    Endurance,
    Plateau,
}

/// A cell's maximum and its limiter.
#[derive(Clone, Copy, Debug)]
pub struct MaximumAnswer<'a> {
    /// Name of the cell; empty if there is only one cell.
    pub name: &'a str,
    pub answer: &'a SearchResult,
    /// Number of searches whose results are combined.
    pub rounds: usize,
    pub cause: CauseAnswer<'a>,
}

/// Limiter of a maximum, and how certain it is.
#[derive(Clone, Copy, Debug)]
pub enum CauseAnswer<'a> {
    /// The perturbation changed the maximum. The effect is the elasticity, or for a knob without an elasticity the
    /// ratio of the maxima. `consumer` is the work that saturates PostgreSQL's CPU.
    Proven {
        limit: &'a Limit,
        consumer: Option<&'a Limit>,
        elasticity: Option<FittedValue>,
        ratio: Option<FittedValue>,
    },
    /// Not proven. `tested` is the perturbation of the suspect and the ratio of the maxima, if it was tried without a
    /// decision.
    Suspected {
        limit: &'a Limit,
        saturation: Option<Saturation>,
        tested: Option<(&'a Perturbation, Option<FittedValue>)>,
    },
    NotKnown,
}

/// Result of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct PlateauAnswer<'a> {
    /// True if the figures are maximum rates, false for response times.
    pub maxima: bool,
    /// Name of the recommended cell.
    pub recommended: Option<&'a str>,
    pub best: &'a str,
    /// Number of cells on the plateau: the best cell, and the cells that are not shown to be worse.
    pub plateau: usize,
    /// Number of cells with a figure.
    pub cells: usize,
}

impl Lang {
    /// Heading of a column of levels: their unit.
    pub fn load_scale(&self, scale: LoadScale) -> String {
        match scale {
            LoadScale::Rate => say!(self, "search-scale-rate"),
            LoadScale::Clients => say!(self, "search-scale-clients"),
        }
    }

    pub fn step_purpose(&self, purpose: StepPurpose) -> String {
        match purpose {
            StepPurpose::Ramp => say!(self, "search-step-ramp"),
            StepPurpose::Rest => say!(self, "search-step-rest"),
            StepPurpose::Narrow => say!(self, "search-step-narrow"),
            StepPurpose::Hold => say!(self, "search-step-hold"),
            StepPurpose::Confirm => say!(self, "search-step-confirm"),
            StepPurpose::Soak => say!(self, "search-step-soak"),
        }
    }

    /// A level with its unit.
    pub fn level(&self, scale: LoadScale, level: f64) -> String {
        match scale {
            LoadScale::Rate => say!(self, "search-level-rate", level = self.quantity(level)),
            LoadScale::Clients => say!(self, "search-level-clients", clients = level.round() as u64),
        }
    }

    /// Outcome of a level in a few words. `scale` is the scale of the level.
    pub fn level_outcome(&self, outcome: &LevelOutcome, scale: LoadScale) -> String {
        match outcome {
            LevelOutcome::Sustained => say!(self, "search-outcome-held"),
            LevelOutcome::NotSustained { reason } => self.overload_reason(reason),
            LevelOutcome::Invalid { reason: reason @ SearchStopReason::TooFewSamples { .. } } => {
                say!(self, "search-outcome-not-judged", reason = self.search_stop_reason(reason, scale))
            }
            LevelOutcome::Invalid { reason } => {
                say!(self, "search-outcome-invalid", reason = self.search_stop_reason(reason, scale))
            }
        }
    }

    /// Reason why a level is not sustained.
    pub fn overload_reason(&self, reason: &OverloadReason) -> String {
        match reason {
            OverloadReason::Objective { text } => say!(self, "search-overload-objective", objective = text),
            OverloadReason::FellBehind { share } => {
                say!(self, "search-overload-behind", share = self.numbers().percent(*share, 1))
            }
            OverloadReason::ClientsSaturated { clients } => {
                say!(self, "search-overload-clients", clients = *clients)
            }
            OverloadReason::InFlightGrows { per_second } => {
                say!(self, "search-overload-in-flight", rate = self.numbers().three(*per_second))
            }
            OverloadReason::Rule { rule } => say!(self, "search-overload-rule", rule),
        }
    }

    /// Reason why a search stopped before it reached the system's maximum. `scale` is the scale of its levels.
    pub fn search_stop_reason(&self, reason: &SearchStopReason, scale: LoadScale) -> String {
        let level = |level: f64| self.level(scale, level);
        match reason {
            SearchStopReason::Generator => say!(self, "search-stop-generator"),
            SearchStopReason::Agents { agents, busy, .. } => {
                let busy = busy.map(|it| self.numbers().percent(it, 0));
                say!(self, "search-stop-agents-limit", agents = *agents as u64, busy)
            }
            SearchStopReason::Host { share } => {
                say!(self, "search-stop-host", share = self.numbers().percent(*share, 0))
            }
            SearchStopReason::Descriptors => say!(self, "search-stop-descriptors"),
            SearchStopReason::ClientCap { clients } => {
                say!(self, "search-stop-client-cap", clients = *clients)
            }
            SearchStopReason::MaxLevelHeld { level: max } => {
                say!(self, "search-stop-max-level", level = level(*max))
            }
            SearchStopReason::MinLevelFailed { level: min } => {
                say!(self, "search-stop-min-level", level = level(*min))
            }
            SearchStopReason::TooFewSamples { objective, samples, needed } => say!(
                self,
                "search-stop-few-samples",
                objective = objective.as_ref(),
                samples = *samples,
                needed = *needed
            ),
            SearchStopReason::Undecided { level: undecided } => {
                say!(self, "search-stop-undecided", level = level(*undecided))
            }
            SearchStopReason::Failed { reason } => self.message(reason),
        }
    }

    /// A limiter, as the subject of a sentence.
    pub fn limit(&self, limit: &Limit) -> String {
        match limit {
            Limit::Cpu { node } => say!(self, "search-limit-cpu", node),
            Limit::Reads { node } => say!(self, "search-limit-reads", node),
            Limit::Writes { node } => say!(self, "search-limit-writes", node),
            Limit::WalFlush => say!(self, "search-limit-wal"),
            Limit::SyncReplicas => say!(self, "search-limit-sync-replicas"),
            Limit::Memory { node } => say!(self, "search-limit-memory", node),
            Limit::Pool { node } => say!(self, "search-limit-pool", node),
            Limit::PoolSetting { node, setting } => say!(self, "search-limit-pool-setting", node, setting),
            Limit::ServicePool { node } => say!(self, "search-limit-service-pool", node),
            Limit::ServiceThreads { node } => say!(self, "search-limit-service-threads", node),
            Limit::Service { node } => say!(self, "search-limit-service", node),
            Limit::Slots { limit: ConnectionLimit::Role, .. } => say!(self, "search-limit-role-connections"),
            Limit::Slots { limit: ConnectionLimit::Database, .. } => {
                say!(self, "search-limit-database-connections")
            }
            Limit::Slots { node, .. } => say!(self, "search-limit-slots", node),
            Limit::RowLocks { statement } => {
                say!(self, "search-limit-row-locks", statement = statement.as_ref())
            }
            Limit::Locks { lock, statement } => {
                say!(self, "search-limit-locks", lock = self.lock_kind(lock), statement = statement.as_ref())
            }
            Limit::Work { work } => self.avoidable_work(work),
            Limit::IdleTransactions => say!(self, "search-limit-idle-transactions"),
            Limit::ResultReading => say!(self, "search-limit-result-reading"),
            Limit::DelayedAcknowledgements => say!(self, "search-limit-delayed-acknowledgements"),
            Limit::Scan { table, ddl } => say!(self, "search-limit-scan", table, ddl = ddl.as_ref()),
            Limit::Checkpoints => say!(self, "search-limit-checkpoints"),
            Limit::Conflicts { code } => say!(self, "search-limit-conflicts", is_deadlock = code == "40P01"),
            Limit::Clients => say!(self, "search-limit-clients"),
            Limit::ClientCap => say!(self, "search-limit-client-cap"),
            Limit::Feed { feed } => say!(self, "search-limit-feed", feed),
            Limit::Host => say!(self, "search-limit-host"),
            Limit::Generator => say!(self, "search-limit-generator"),
            Limit::Together { limits } => {
                let limits: Vec<String> = limits.iter().map(|it| self.limit(it)).collect();
                say!(self, "search-limit-together", limits = limits.join(&say!(self, "search-limit-and")))
            }
        }
    }

    /// Work that could be avoided, as the subject of a sentence.
    pub(super) fn avoidable_work(&self, work: &AvoidableWork) -> String {
        match work {
            AvoidableWork::TemporaryFiles => say!(self, "search-work-temporary-files"),
            AvoidableWork::Jit => say!(self, "search-work-jit"),
            AvoidableWork::Planning => say!(self, "search-work-planning"),
            AvoidableWork::Logins => say!(self, "search-work-logins"),
            AvoidableWork::DeadRows { table } => say!(self, "search-work-dead-rows", table),
            AvoidableWork::EmptyPages { table } => say!(self, "search-work-empty-pages", table),
            AvoidableWork::Subtransactions => say!(self, "search-work-subtransactions"),
            AvoidableWork::OldStatistics { table } => say!(self, "search-work-old-statistics", table),
            AvoidableWork::OldSnapshot => say!(self, "search-work-old-snapshot"),
            AvoidableWork::Autovacuum => say!(self, "search-work-autovacuum"),
            AvoidableWork::LargeValues { table } => say!(self, "search-work-large-values", table),
            AvoidableWork::DiscardedRows { table } => say!(self, "search-work-discarded-rows", table),
            AvoidableWork::UnusedIndexes { table } => say!(self, "search-work-unused-indexes", table),
            AvoidableWork::Function { function } => say!(self, "search-work-function", function),
            AvoidableWork::UnindexedForeignKey { table, columns } => {
                say!(self, "search-work-foreign-key", table, columns)
            }
            AvoidableWork::SkippedRows { table } => say!(self, "search-work-skipped-rows", table),
            AvoidableWork::GenericPlans { table } => say!(self, "search-work-generic-plans", table),
            AvoidableWork::LargeResult => say!(self, "search-work-large-result"),
            AvoidableWork::RepeatedStatement => say!(self, "search-work-repeated-statement"),
            AvoidableWork::Condition { table, obstacle } => {
                say!(self, "search-work-condition", table, obstacle = self.index_obstacle(obstacle))
            }
        }
    }

    /// A suspected limiter with its evidence, if the throughput of overloaded levels is the only evidence.
    fn suspect(&self, limit: &Limit, saturation: Option<Saturation>) -> String {
        let Some(saturation) = saturation else { return self.limit(limit) };
        let rate = |rate: f64| self.numbers().three(rate);
        let (low, high) = saturation.offered;
        let (low, high) = (rate(low), rate(high));
        let offered = if low == high { high } else { say!(self, "search-offered-range", low, high) };
        say!(
            self,
            "search-saturation",
            limit = self.limit(limit),
            delivered = rate(saturation.delivered),
            offered
        )
    }

    /// Locks of a kind, in the plural.
    fn lock_kind(&self, lock: &LockKind) -> String {
        match lock {
            LockKind::Advisory => say!(self, "search-locks-advisory"),
            LockKind::Relation => say!(self, "search-locks-relation"),
            LockKind::Extend => say!(self, "search-locks-extend"),
            LockKind::Object => say!(self, "search-locks-object"),
            LockKind::BufferPin => say!(self, "search-locks-buffer-pin"),
            LockKind::Heavyweight { name } => say!(self, "search-locks-heavyweight", name),
            LockKind::Lightweight { name } => say!(self, "search-locks-lightweight", name),
        }
    }

    /// A perturbation: the knob and its change.
    pub fn perturbation(&self, perturbation: &Perturbation) -> String {
        let knob = match &perturbation.knob {
            Knob::Cpu { node } => say!(self, "search-knob-cpu", node),
            Knob::ReadIops { node } => say!(self, "search-knob-read-iops", node),
            Knob::WriteIops { node } => say!(self, "search-knob-write-iops", node),
            Knob::Memory { node } => say!(self, "search-knob-memory", node),
            Knob::PoolSize { node } => say!(self, "search-knob-pool", node),
            Knob::PoolSetting { node, setting } => say!(self, "search-limit-pool-setting", node, setting),
            Knob::ServiceEnv { node, variable } => say!(self, "search-knob-environment", node, variable),
            Knob::Slots { node } => say!(self, "search-knob-slots", node),
            Knob::Clients => say!(self, "search-knob-clients"),
            Knob::Setting { name, value } => format!("{name} = {value}"),
            Knob::Index { ddl } => ddl.clone(),
            Knob::Maintenance { statement } => statement.clone(),
            Knob::KeepConnections => say!(self, "search-knob-connections"),
            Knob::FeedRows { feed } => say!(self, "search-knob-feed-rows", feed),
        };
        let change = match perturbation.amount {
            Some((before, after)) => {
                let [before, after] = [before, after].map(|amount| match perturbation.knob {
                    Knob::Memory { .. } => self.bytes(amount),
                    _ => exact(amount, self),
                });
                format!("{knob}: {before} → {after}")
            }
            None => knob,
        };
        let others = perturbation.together_with.iter().map(|it| self.perturbation(it));
        std::iter::once(change).chain(others).collect::<Vec<_>>().join("; ")
    }

    pub fn proof_verdict(&self, verdict: ProofVerdict) -> String {
        match verdict {
            ProofVerdict::Limits => say!(self, "search-proof-limits"),
            ProofVerdict::DoesNotLimit => say!(self, "search-proof-does-not-limit"),
            ProofVerdict::Undecided => say!(self, "search-proof-undecided"),
        }
    }

    /// The question of a search. `path` lists the products from the first node to PostgreSQL; `None` with several
    /// cells.
    pub fn search_question(&self, question: SearchQuestion, path: Option<&str>) -> String {
        match question {
            SearchQuestion::Maximum => say!(self, "search-question-maximum", path),
            SearchQuestion::Endurance => say!(self, "search-question-soak", path),
            SearchQuestion::Plateau => say!(self, "search-question-plateau"),
        }
    }

    /// States the maximum: one sentence with its full stop.
    pub fn maximum_answer(&self, maximum: &MaximumAnswer<'_>) -> String {
        let answer = maximum.answer;
        let stop_reason =
            answer.stop_reason.as_ref().map(|reason| self.search_stop_reason(reason, answer.scale));
        let Some(level) = answer.level else {
            let suspect = match maximum.cause {
                CauseAnswer::Suspected { limit, saturation, .. } => Some(self.suspect(limit, saturation)),
                CauseAnswer::Proven { .. } | CauseAnswer::NotKnown => None,
            };
            let reason = stop_reason.unwrap_or_else(|| say!(self, "search-unfinished"));
            let known = self.bracket(answer);
            return super::with_name(maximum.name, say!(self, "search-unanswered", reason, known, suspect));
        };
        let level = match answer.scale {
            LoadScale::Rate => say!(self, "search-sustained-rate", level = self.quantity(level)),
            LoadScale::Clients => say!(self, "search-sustained-clients", clients = level.round() as u64),
        };
        let delivered = answer.delivered.filter(|_| answer.scale == LoadScale::Clients);
        let delivered = delivered.map(|rate| self.quantity(rate.0));
        let at_least = stop_reason.is_some();
        let beyond = match (stop_reason, &answer.overload) {
            (Some(reason), _) => Some(say!(self, "search-beyond-unknown", reason)),
            (None, Some(overload)) => {
                let reason = self.overload_reason(overload);
                let failed = answer.failed.map(|it| self.level_trials(answer.scale, &it));
                Some(say!(self, "search-beyond-overload", reason, failed))
            }
            (None, None) => None,
        };
        let cause = self.cause(&maximum.cause);
        let certainty = self.certainty(maximum);
        let text = say!(self, "search-answer", at_least, level, certainty, delivered, cause, beyond);
        super::with_name(maximum.name, text)
    }

    /// Describes the bracket around the maximum: the highest sustained level and the next level that was not sustained.
    /// `None` if no level has a result.
    fn bracket(&self, answer: &SearchResult) -> Option<String> {
        let levels = [answer.sustained, answer.failed];
        let texts: Vec<String> =
            levels.iter().flatten().map(|level| self.level_trials(answer.scale, level)).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    fn level_trials(&self, scale: LoadScale, level: &LevelTrials) -> String {
        let LevelTrials { level, sustained: held, trials: total } = *level;
        say!(self, "search-level-trials", level = self.level(scale, level), held, total)
    }

    /// Advice on how to remove a reason that lies outside the system under test; `None` if there is no advice.
    pub fn search_remedy(&self, reason: &SearchStopReason) -> Option<String> {
        Some(match reason {
            SearchStopReason::Generator => say!(self, "search-remedy-generator"),
            SearchStopReason::Agents { agents, more, .. } => {
                say!(self, "search-remedy-agents", more = *more as u64, all = (agents + more) as u64)
            }
            SearchStopReason::Host { .. } => say!(self, "search-remedy-host"),
            SearchStopReason::Descriptors => say!(self, "search-remedy-descriptors"),
            SearchStopReason::ClientCap { .. } => say!(self, "search-remedy-client-cap"),
            SearchStopReason::MaxLevelHeld { .. } => say!(self, "search-remedy-max-level"),
            SearchStopReason::MinLevelFailed { .. } => say!(self, "search-remedy-min-level"),
            SearchStopReason::TooFewSamples { .. } => say!(self, "search-remedy-few-samples"),
            SearchStopReason::Undecided { .. } | SearchStopReason::Failed { .. } => return None,
        })
    }

    /// Describes how certain a maximum is: its interval, and the numbers of searches and confirmations. `None` if none
    /// of these is known.
    fn certainty(&self, maximum: &MaximumAnswer<'_>) -> Option<String> {
        let mut parts = Vec::new();
        parts.extend(maximum.answer.interval.map(|(low, high)| {
            let [low, high] = [low, high].map(|end| self.numbers().three(end));
            say!(self, "search-interval", low, high)
        }));
        if maximum.rounds > 1 {
            parts.push(say!(self, "search-searches", count = maximum.rounds));
        }
        let (held, total) = maximum.answer.confirmations;
        if total > 0 {
            parts.push(say!(self, "search-confirmed", held, total));
        }
        let lower = maximum.answer.fully_sustained.filter(|_| held < total);
        parts.extend(lower.map(|it| self.level_trials(maximum.answer.scale, &it)));
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn cause(&self, cause: &CauseAnswer<'_>) -> String {
        match cause {
            CauseAnswer::Proven { limit, consumer, elasticity, ratio } => {
                let proof = match (elasticity, ratio) {
                    (Some(value), _) => {
                        Some(say!(self, "search-cause-elasticity", value = self.elasticity(value)))
                    }
                    (None, Some(ratio)) if matches!(limit, Limit::Feed { .. }) => {
                        Some(say!(self, "search-cause-feed", ratio = self.fitted(ratio)))
                    }
                    (None, Some(ratio)) => {
                        Some(say!(self, "search-cause-switch", ratio = self.fitted(ratio)))
                    }
                    (None, None) => None,
                };
                let consumer = consumer.map(|consumer| self.limit(consumer));
                say!(self, "search-cause-proven", limit = self.limit(limit), proof, consumer)
            }
            CauseAnswer::Suspected { limit, saturation, tested } => {
                let tested = tested.map(|(perturbation, ratio)| {
                    let ratio = ratio.map(|it| self.fitted(&it));
                    say!(
                        self,
                        "search-cause-undecided",
                        perturbation = self.perturbation(perturbation),
                        ratio
                    )
                });
                say!(self, "search-cause-suspected", limit = self.suspect(limit, *saturation), tested)
            }
            CauseAnswer::NotKnown => say!(self, "search-cause-unknown"),
        }
    }

    /// States for how many cells, of all cells, the search has a result.
    pub fn answered_cells(&self, count: usize, cells: usize) -> String {
        say!(self, "search-answered-cells", answered = count, cells)
    }

    /// Lists the results of all searches of a cell.
    pub fn search_rounds(&self, rounds: &[SearchResult]) -> String {
        let levels = rounds.iter().map(|round| match round.level {
            Some(level) => self.numbers().three(level),
            None => say!(self, "search-no-answer"),
        });
        let levels = levels.collect::<Vec<_>>().join(self.numbers().among());
        say!(self, "search-rounds", levels)
    }

    /// Method of a search: duration of each step, and number of repetitions.
    pub fn search_window(&self, search: &MaxSearch, warmup: Nanos, repeat: u32) -> String {
        let warmup = (warmup > Nanos::ZERO).then(|| self.span(warmup));
        let (window, hold) = (self.span(search.window), self.span(search.hold));
        say!(self, "search-window", window, warmup, hold, repeat)
    }

    /// Number and total duration of the trials of a search.
    pub fn search_effort(&self, trials: u32, measured: Nanos) -> String {
        say!(self, "search-effort", trials, duration = self.span(measured))
    }

    /// Conclusion from the scalability law: two or three sentences.
    pub fn scalability(&self, law: &Scalability) -> String {
        let parameter = |value: &FittedValue| self.with_interval(value, |value| small(value, self));
        say!(
            self,
            "search-law",
            lambda = self.fitted(&law.lambda),
            sigma = parameter(&law.sigma),
            kappa = parameter(&law.kappa),
            peak = law.peak.map(|clients| clients.round() as u64),
            variance = self.numbers().percent(law.r2, 1)
        )
    }

    /// Result of a soak: a sentence with its full stop. `name` is the name of the cell; empty if there is only one
    /// cell. `scale` is the scale of the soak's level.
    pub fn soak_result(&self, soak: &SoakResult, scale: LoadScale, name: &str) -> String {
        let share = soak.share_of_maximum.map(|share| self.numbers().percent(share, 0));
        let (level, duration) = (self.level(scale, soak.level), self.span(soak.duration));
        let mut parts = vec![match &soak.outcome {
            LevelOutcome::Sustained => say!(self, "search-soak-held", level, share, duration),
            LevelOutcome::NotSustained { reason } => {
                let reason = self.overload_reason(reason);
                say!(self, "search-soak-failed", level, share, duration, reason)
            }
            LevelOutcome::Invalid { reason } => {
                say!(
                    self,
                    "search-soak-invalid",
                    level,
                    share,
                    reason = self.search_stop_reason(reason, scale)
                )
            }
        }];
        parts.extend(self.trends(soak));
        super::with_name(name, parts.join("; ") + ".")
    }

    /// Sentences about metrics that leak or drift; empty if no trend was measured.
    fn trends(&self, soak: &SoakResult) -> Vec<String> {
        let metrics = |verdict: TrendVerdict| -> Vec<String> {
            let trends = soak.trends.iter().filter(|trend| trend.verdict == verdict);
            trends.map(|trend| self.trend_metric(&trend.metric)).collect()
        };
        let [leaks, drifts] = [TrendVerdict::Leak, TrendVerdict::Drift].map(metrics);
        let mut parts = Vec::new();
        if !leaks.is_empty() {
            parts.push(say!(self, "search-soak-leaks", metrics = leaks.join(", ")));
        }
        if !drifts.is_empty() {
            parts.push(say!(self, "search-soak-drifts", metrics = drifts.join(", ")));
        }
        if parts.is_empty() && !soak.trends.is_empty() {
            let unknown = metrics(TrendVerdict::Unknown).len();
            parts.push(say!(self, "search-soak-steady", unknown, trends = soak.trends.len()));
        }
        parts
    }

    /// Warning that a soak proves little if its level is a small share (0..=1) of the maximum: a sentence with its full
    /// stop.
    pub fn low_level_warning(&self, share: f64) -> String {
        say!(self, "search-soak-low-level", share = self.numbers().percent(share, 0))
    }

    pub fn trend_metric(&self, metric: &TrendMetric) -> String {
        match metric {
            TrendMetric::Memory { node } => say!(self, "search-trend-memory", node),
            TrendMetric::Median => say!(self, "search-trend-median"),
            TrendMetric::P99 => say!(self, "search-trend-p99"),
            TrendMetric::Connections { node } => say!(self, "search-trend-connections", node),
            TrendMetric::DeadRows { table } => {
                say!(self, "search-trend-dead-rows", table = Some(table).filter(|name| !name.is_empty()))
            }
            TrendMetric::Size { table } => {
                say!(self, "search-trend-size", table = Some(table).filter(|name| !name.is_empty()))
            }
            TrendMetric::Throughput => say!(self, "search-trend-throughput"),
            TrendMetric::Files { node } => say!(self, "search-trend-files", node),
        }
    }

    pub fn trend_verdict(&self, verdict: TrendVerdict) -> String {
        match verdict {
            TrendVerdict::Leak => say!(self, "search-trend-leak"),
            TrendVerdict::Drift => say!(self, "search-trend-drift"),
            TrendVerdict::Steady => say!(self, "search-trend-steady"),
            TrendVerdict::Unknown => say!(self, "search-trend-unknown"),
        }
    }

    /// A value of a metric that may leak or drift, in its unit.
    pub fn trend_value(&self, metric: &TrendMetric, value: f64) -> String {
        let numbers = self.numbers();
        match metric {
            TrendMetric::Memory { .. } | TrendMetric::Size { .. } => self.bytes(value),
            // Format slopes separately, because a slope may be negative, but a time cannot.
            TrendMetric::Median | TrendMetric::P99 => {
                numbers.with_unit(&three_digits(1e3 * value), &numbers.millis)
            }
            TrendMetric::Throughput => numbers.three(value) + &numbers.per_second,
            TrendMetric::Connections { .. } | TrendMetric::DeadRows { .. } | TrendMetric::Files { .. } => {
                exact(value, self)
            }
        }
    }

    /// Result of a sweep: a sentence with its full stop.
    pub fn plateau_answer(&self, answer: &PlateauAnswer<'_>) -> String {
        let (equal, worse) = (answer.plateau - 1, answer.cells - answer.plateau);
        let comparison = match (equal, worse) {
            (0, 0) => None,
            (0, _) => Some(say!(self, "search-plateau-beats", others = worse)),
            (_, 0) => Some(say!(self, "search-plateau-beats-none", others = equal)),
            _ => Some(say!(self, "search-plateau-beats-some", equal, others = equal + worse)),
        };
        let recommended = answer.recommended.filter(|name| *name != answer.best);
        let figure = if answer.maxima { "maximum" } else { "p99" };
        say!(self, "search-plateau", best = answer.best, figure, others = comparison, recommended)
    }

    /// Number of required connections, with the reason: a sentence with its full stop.
    pub fn required_connections(&self, required: &RequiredConnections) -> String {
        let numbers = self.numbers();
        say!(
            self,
            "search-connections",
            rate = self.quantity(required.rate),
            hold_time = numbers.seconds(required.hold_time),
            connections = numbers.three(required.connections),
            processors = self.quantity(required.processors)
        )
    }

    /// Elasticity of a maximum, with its 95 % CI.
    pub fn elasticity(&self, value: &FittedValue) -> String {
        self.with_interval(value, |value| self.numbers().fixed(value, 2))
    }

    /// A figure with its 95 % CI, if the CI is known.
    pub fn fitted(&self, value: &FittedValue) -> String {
        self.with_interval(value, |value| self.numbers().three(value))
    }

    fn with_interval(&self, fitted: &FittedValue, format: impl Fn(f64) -> String) -> String {
        let value = format(fitted.value);
        match fitted.interval {
            Some((low, high)) => {
                format!("{value} [{}{}{}]", format(low), self.numbers().among(), format(high))
            }
            None => value,
        }
    }

    /// A number rounded to three significant digits. A whole number selects the plural form of its noun.
    fn quantity(&self, value: f64) -> Argument<'static> {
        let digits = exact_digits(value);
        match digits.parse::<u64>() {
            Ok(count) => count.into(),
            Err(_) => self.number(&digits).into(),
        }
    }
}
