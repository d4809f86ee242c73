//! English: maxima, what was held for long, and grids.

use super::page::count;
use super::{En, NUMBERS};
use crate::lang::number::Numbers;
use crate::lang::search::{
    CauseAnswer, MaximumAnswer, PlateauAnswer, SearchQuestion, SearchTerm, SearchWords,
};
use crate::page::number::{exact, format, small, three_digits};
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, Knob, LevelOutcome, Limit, OverloadReason, Perturbation, ProofVerdict, RequiredConnections,
    Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose, TrendMetric, TrendVerdict,
};

impl SearchWords for En {
    fn sought(&self, it: SearchTerm) -> &'static str {
        match it {
            SearchTerm::Maximum => "The maximum, and what stops it there",
            SearchTerm::Scalability => "Throughput against clients",
            SearchTerm::Endured => "Held for long",
            SearchTerm::Plateau => "Which settings are enough",
            SearchTerm::Steps => "The search, step by step",
            SearchTerm::Proofs => "What was changed to find the cause",
            SearchTerm::Stage => "stage",
            SearchTerm::Round => "search",
            SearchTerm::Delivered => "delivered/s",
            SearchTerm::P99 => "p99, ms",
            SearchTerm::Mean => "mean, ms",
            SearchTerm::Outcome => "outcome",
            SearchTerm::Changed => "changed",
            SearchTerm::BaseMaximum => "maximum as it is",
            SearchTerm::NewMaximum => "with the change",
            SearchTerm::Ratio => "ratio",
            SearchTerm::Elasticity => "elasticity",
            SearchTerm::Verdict => "verdict",
            SearchTerm::Clients => "clients",
            SearchTerm::Measured => "measured/s",
            SearchTerm::ByLaw => "by the law/s",
            SearchTerm::What => "what",
            SearchTerm::From => "at the beginning",
            SearchTerm::To => "at the end",
            SearchTerm::PerHour => "per hour (95 %)",
            SearchTerm::Course => "course",
            SearchTerm::Cell => "cell",
            SearchTerm::MaximumOfCell => "maximum (95 %)",
            SearchTerm::P99OfCell => "p99, ms (95 %)",
            SearchTerm::OnPlateau => "on the plateau",
            SearchTerm::Yes => "yes",
            SearchTerm::Best => "yes, the best",
            SearchTerm::Recommended => "yes, recommended",
            SearchTerm::NoAnswer => "no answer",
        }
    }

    fn scale(&self, it: LoadScale) -> &'static str {
        match it {
            LoadScale::Rate => "arrivals/s",
            LoadScale::Clients => "clients",
        }
    }

    fn stage(&self, it: StepPurpose) -> &'static str {
        match it {
            StepPurpose::Ramp => "ramp",
            StepPurpose::Rest => "rest",
            StepPurpose::Narrow => "narrowing",
            StepPurpose::Hold => "hold at the answer",
            StepPurpose::Confirm => "confirmation",
            StepPurpose::Soak => "soak",
        }
    }

    fn level(&self, scale: LoadScale, level: f64) -> String {
        match scale {
            LoadScale::Rate => format!("{} arrivals per second", exact(level, self)),
            LoadScale::Clients => count(level.round() as usize, "client"),
        }
    }

    fn outcome(&self, it: &LevelOutcome, scale: LoadScale) -> String {
        match it {
            LevelOutcome::Yes => "held".to_owned(),
            LevelOutcome::No { reason: why } => self.broke(why),
            LevelOutcome::Invalid { reason: why } => format!("does not count: {}", self.hindered(why, scale)),
        }
    }

    fn broke(&self, it: &OverloadReason) -> String {
        match it {
            OverloadReason::Objective { text } => format!("{text} is not met"),
            OverloadReason::FellBehind { share } => {
                format!("only {} of what is offered is delivered", NUMBERS.percent(*share, 1))
            }
            OverloadReason::ClientsSaturated { clients } => {
                format!("all {clients} clients are busy, and more of them would only wait")
            }
            OverloadReason::InFlightGrows { per_second } => {
                format!("what is under way grows by {} per second without end", format(*per_second, self))
            }
            OverloadReason::Rule { rule } => format!("stop rule {rule} fires"),
        }
    }

    fn hindered(&self, it: &SearchStopReason, scale: LoadScale) -> String {
        match it {
            SearchStopReason::Generator => "the generator was late or had no reserve".to_owned(),
            SearchStopReason::Descriptors => "file descriptors or local ports ran out".to_owned(),
            SearchStopReason::ClientCap { clients } => {
                format!("all {clients} clients were busy, so that the open test became a closed one")
            }
            SearchStopReason::MaxLevelHeld { level } => {
                format!("no more than {} was tried", self.level(scale, *level))
            }
            SearchStopReason::MinLevelFailed { level } => {
                format!("not even {} was held", self.level(scale, *level))
            }
            SearchStopReason::Undecided { level } => {
                format!("at {} the system is in one of two states", self.level(scale, *level))
            }
            SearchStopReason::Failed { reason: why } => why.clone(),
        }
    }

    fn limit(&self, it: &Limit) -> String {
        match it {
            Limit::Cpu { node } => format!("the processor of {node}"),
            Limit::Reads { node } => format!("reading from the disk of {node}"),
            Limit::Writes { node } => format!("writing to the disk of {node}"),
            Limit::WalFlush => "flushing the WAL".to_owned(),
            Limit::SyncReplicas => "waiting for synchronous replicas".to_owned(),
            Limit::Memory { node } => format!("the memory of {node}"),
            Limit::Pool { node } => format!("the pool of {node}"),
            Limit::ServicePool { node } => format!("the connection pool of the service {node}"),
            Limit::ServiceThreads { node } => format!("the threads of the service {node}"),
            Limit::Slots { node } => format!("the connection slots of {node}"),
            Limit::RowLocks { statement: None } => "row locks".to_owned(),
            Limit::RowLocks { statement: Some(it) } => format!("row locks in {it}"),
            Limit::Scan { table, ddl: None } => format!("scanning the whole of {table}"),
            Limit::Scan { table, ddl: Some(ddl) } => {
                format!("scanning the whole of {table} for want of {ddl}")
            }
            Limit::Checkpoints => "checkpoints".to_owned(),
            Limit::Clients => "the number of clients".to_owned(),
            Limit::ClientCap => "the bound of what may be in flight".to_owned(),
            Limit::Feed { feed } => format!("the feed {feed}, which fits the cache"),
            Limit::Host => "the machine's processors".to_owned(),
            Limit::Generator => "the generator".to_owned(),
        }
    }

    fn nudge(&self, it: &Perturbation) -> String {
        let what = match &it.knob {
            Knob::Cpu { node } => format!("processors of {node}"),
            Knob::ReadIops { node } => format!("reads per second of {node}"),
            Knob::WriteIops { node } => format!("writes per second of {node}"),
            Knob::Memory { node } => format!("memory of {node}"),
            Knob::PoolSize { node } => format!("pool of {node}"),
            Knob::ServiceEnv { node, variable } => format!("{variable} of {node}"),
            Knob::Slots { node } => format!("max_connections of {node}"),
            Knob::Clients => "clients".to_owned(),
            Knob::Setting { name, value } => format!("{name} = {value}"),
            Knob::Index { ddl } => ddl.clone(),
            Knob::FeedRows { feed } => format!("rows of the feed {feed}"),
        };
        let amount = |value: f64| match it.knob {
            Knob::Memory { .. } => self.bytes(value),
            _ => exact(value, self),
        };
        it.amount.map_or(what.clone(), |(was, is)| format!("{what}: {} → {}", amount(was), amount(is)))
    }

    fn proven(&self, it: ProofVerdict) -> &'static str {
        match it {
            ProofVerdict::Limits => "limits",
            ProofVerdict::DoesNotLimit => "does not limit",
            ProofVerdict::Undecided => "undecided",
        }
    }

    fn asked(&self, it: SearchQuestion, way: &str) -> String {
        let what = if way.is_empty() { "each cell" } else { way };
        match it {
            SearchQuestion::Maximum => format!("How much does {what} hold at most, and what stops it there?"),
            SearchQuestion::Endurance => {
                format!("Does {what} hold its load for long, and what changes meanwhile?")
            }
            SearchQuestion::Plateau => "Which settings are enough?".to_owned(),
        }
    }

    fn reached(&self, it: &MaximumAnswer<'_>) -> String {
        let answer = it.answer;
        let hindered = answer.stop_reason.as_ref().map(|it| self.hindered(it, answer.scale));
        let name = if it.name.is_empty() { String::new() } else { format!("{}: ", it.name) };
        let Some(level) = answer.level else {
            let why = hindered.unwrap_or_else(|| "the search has not ended".to_owned());
            let suspected = match it.cause {
                CauseAnswer::Suspected { limit } => format!("; suspected: {}", self.limit(limit)),
                _ => String::new(),
            };
            return format!("{name}no answer, because {why}{suspected}.");
        };
        let (at_least, beyond) = match (&hindered, &answer.overload) {
            (Some(why), _) => ("at least ", format!("; nothing is known beyond it: {why}")),
            (None, Some(why)) => ("", format!("; above it, {}", self.broke(why))),
            (None, None) => ("", String::new()),
        };
        let mut sure = Vec::new();
        sure.extend(
            answer
                .interval
                .map(|(low, high)| format!("95 %: {} to {}", format(low, self), format(high, self))),
        );
        sure.extend((it.rounds > 1).then(|| format!("{} searches", it.rounds)));
        let (held, of) = answer.confirmed;
        sure.extend((of > 0).then(|| format!("confirmed {held} of {of}")));
        let sure = if sure.is_empty() { String::new() } else { format!(" ({})", sure.join(", ")) };
        let delivered = match (answer.scale, answer.delivered) {
            (LoadScale::Clients, Some(it)) => format!(" with {} transactions per second", format(it.0, self)),
            _ => String::new(),
        };
        let cause = match it.cause {
            CauseAnswer::Proven { limit, by, elasticity, ratio } => {
                let proof = match (elasticity, ratio) {
                    (Some(it), _) => format!(" (elasticity {})", self.elasticity(&it)),
                    (None, Some(it)) if matches!(limit, Limit::Feed { .. }) => {
                        format!(" ({} times as much with rows of the whole table)", self.within(&it))
                    }
                    (None, Some(it)) => format!(" ({} times as much without it)", self.within(&it)),
                    (None, None) => String::new(),
                };
                let by = by.map_or(String::new(), |it| format!(", which {} takes", self.limit(it)));
                format!(", limited by {}{proof}{by}", self.limit(limit))
            }
            CauseAnswer::Suspected { limit } => {
                format!(", cause not proven; suspected: {}", self.limit(limit))
            }
            CauseAnswer::NotKnown => ", cause not proven".to_owned(),
        };
        format!("{name}holds {at_least}{}{sure}{delivered}{cause}{beyond}.", self.level(answer.scale, level))
    }

    fn answered(&self, answered: usize, of: usize) -> String {
        format!("{answered} of {} have an answer", count(of, "cell"))
    }

    fn rounds(&self, all: &[SearchResult]) -> String {
        let each = all
            .iter()
            .map(|it| it.level.map_or(self.sought(SearchTerm::NoAnswer).to_owned(), |it| format(it, self)));
        format!("Search by search: {}.", each.collect::<Vec<_>>().join(", "))
    }

    fn search_window(&self, it: &MaxSearch, warmup: Nanos, repeat: u32) -> String {
        let warmup = match warmup {
            Nanos::ZERO => String::new(),
            it => format!(" after {} of warm-up", self.span(it)),
        };
        let often = if repeat == 1 { String::new() } else { format!(", searched {repeat} times") };
        format!("{} each time{warmup}, {} at the answer{often}", self.span(it.window), self.span(it.hold))
    }

    fn measured_for(&self, trials: u32, measured: Nanos) -> String {
        format!("{}, {} under load.", count(trials as usize, "trial"), self.span(measured))
    }

    fn law(&self, it: &Scalability) -> String {
        let peak = match it.peak {
            Some(it) => format!("Most is delivered at {} clients", format(it, self)),
            None => "The peak is not among the clients measured, and nothing is said beyond them".to_owned(),
        };
        format!(
            "By the Universal Scalability Law one client alone brings λ = {} per second; contention σ = {}, coherency \
             κ = {}. {peak}. The law explains {} of the variance.",
            self.within(&it.lambda),
            parameter(&it.sigma),
            parameter(&it.kappa),
            NUMBERS.percent(it.r2, 1)
        )
    }

    fn endured(&self, it: &SoakResult, scale: LoadScale, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let of =
            it.of_maximum.map_or(String::new(), |it| format!(" ({} of the maximum)", NUMBERS.percent(it, 0)));
        let level = self.level(scale, it.level);
        let lasting = self.span(it.duration);
        let held = match &it.outcome {
            LevelOutcome::Yes => format!("{name}held {level}{of} for {lasting}"),
            LevelOutcome::No { reason: why } => {
                format!("{name}did not hold {level}{of} for {lasting}: {}", self.broke(why))
            }
            LevelOutcome::Invalid { reason: why } => {
                format!("{name}no answer at {level}{of}, because {}", self.hindered(why, scale))
            }
        };
        format!("{held}{}.", moved(it))
    }

    fn little_proof(&self, share: f64) -> String {
        format!(
            "At {} of the maximum this proves little: what leaks or drifts with the load was hardly asked to.",
            NUMBERS.percent(share, 0)
        )
    }

    fn trended(&self, it: &TrendMetric) -> String {
        match it {
            TrendMetric::Memory { node } => format!("memory of {node}"),
            TrendMetric::Median => "median response time".to_owned(),
            TrendMetric::P99 => "p99 of response time".to_owned(),
            TrendMetric::Connections { node } => format!("connections of {node}"),
            TrendMetric::DeadRows { table } if table.is_empty() => "dead rows of all tables".to_owned(),
            TrendMetric::DeadRows { table } => format!("dead rows of {table}"),
            TrendMetric::Size { table } if table.is_empty() => "size of the database".to_owned(),
            TrendMetric::Size { table } => format!("size of {table}"),
            TrendMetric::Throughput => "throughput".to_owned(),
            TrendMetric::Files { node } => format!("open files of {node}"),
        }
    }

    fn course(&self, it: TrendVerdict) -> &'static str {
        match it {
            TrendVerdict::Leak => "leak",
            TrendVerdict::Drift => "drift",
            TrendVerdict::Steady => "steady",
            TrendVerdict::Unknown => "cannot be told",
        }
    }

    fn amount(&self, of: &TrendMetric, value: f64) -> String {
        match of {
            TrendMetric::Memory { .. } | TrendMetric::Size { .. } => self.bytes(value),
            // A slope may be below 0, which a time cannot.
            TrendMetric::Median | TrendMetric::P99 => NUMBERS.with_unit(&three_digits(1e3 * value), "ms"),
            TrendMetric::Throughput => format!("{}/s", format(value, self)),
            TrendMetric::Connections { .. } | TrendMetric::DeadRows { .. } | TrendMetric::Files { .. } => {
                exact(value, self)
            }
        }
    }

    fn enough(&self, it: &PlateauAnswer<'_>) -> String {
        let figure = if it.maxima { "maximum" } else { "p99" };
        let best = match it.plateau {
            1 if it.of == 1 => format!("{} has the best {figure}", it.best),
            1 => format!(
                "{} has the best {figure}, and is shown to beat {}",
                it.best,
                if it.of == 2 { "the other one" } else { "each of the others" }
            ),
            plateau => format!(
                "{} has the best {figure}, but is not shown to beat {}",
                it.best,
                match (plateau - 1, it.of - plateau) {
                    (others, 0) if others > 1 => format!("any of the {others} others"),
                    (1, 0) => "the other one".to_owned(),
                    (others, left) => format!("{others} of the {} others", others + left),
                }
            ),
        };
        match it.recommended {
            Some(least) if least != it.best => {
                format!("{least} is enough: {best}, and {least} takes the least of them.")
            }
            _ => format!("{best}."),
        }
    }

    fn need(&self, it: &RequiredConnections) -> String {
        format!(
            "{} per second that each hold a connection for {} need {} connections on average (Little's law); PostgreSQL \
             has {}.",
            format(it.rate, self),
            NUMBERS.seconds(it.hold_time),
            format(it.connections, self),
            match it.processors {
                1.0 => "1 processor".to_owned(),
                other => format!("{} processors", exact(other, self)),
            }
        )
    }

    fn numerals(&self) -> &'static Numbers {
        &NUMBERS
    }

    fn within(&self, it: &FittedValue) -> String {
        let range = it
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}, {}]", format(low, self), format(high, self)));
        format!("{}{range}", format(it.value, self))
    }
}

/// What leaks and drifts, after what was held.
fn moved(it: &SoakResult) -> String {
    let those = |course: TrendVerdict| -> Vec<String> {
        it.trends.iter().filter(|it| it.verdict == course).map(|it| En.trended(&it.metric)).collect()
    };
    let found: Vec<String> = [("leaks", TrendVerdict::Leak), ("drifts", TrendVerdict::Drift)]
        .into_iter()
        .map(|(what, course)| (what, those(course)))
        .filter(|it| !it.1.is_empty())
        .map(|(what, those)| format!("; {what}: {}", those.join(", ")))
        .collect();
    match (it.trends.is_empty(), found.is_empty(), those(TrendVerdict::Unknown).len()) {
        (true, ..) => String::new(),
        (_, false, _) => found.concat(),
        (_, true, 0) => "; nothing leaks or drifts".to_owned(),
        (_, true, unknown) => {
            format!(
                "; no leak or drift is seen, but of {unknown} of {} it cannot be told",
                count(it.trends.len(), "trend")
            )
        }
    }
}

/// Of a law, however far below 1.
fn parameter(it: &FittedValue) -> String {
    let range = it
        .interval
        .map_or(String::new(), |(low, high)| format!(" [{}, {}]", small(low, &En), small(high, &En)));
    format!("{}{range}", small(it.value, &En))
}
