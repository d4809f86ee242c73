//! English: maxima, what was held for long, and grids.

use super::page::count;
use super::{En, NUMBERS};
use crate::lang::Lang;
use crate::lang::number::Numbers;
use crate::lang::search::{Asked, Caused, Enough, Reached, SearchWords, Sought};
use crate::page::number::{exact, said, small, three};
use model::Nanos;
use model::plan::{Max, Scale};
use model::search::{
    Answer, Broke, Course, Endurance, Fitted, Held, Hindered, Limit, Need, Nudge, Proven, Scalability, Stage,
    Trended, Turn,
};

impl SearchWords for En {
    fn sought(&self, it: Sought) -> &'static str {
        match it {
            Sought::Maximum => "The maximum, and what stops it there",
            Sought::Scalability => "Throughput against clients",
            Sought::Endured => "Held for long",
            Sought::Plateau => "Which settings are enough",
            Sought::Steps => "The search, step by step",
            Sought::Proofs => "What was changed to find the cause",
            Sought::Stage => "stage",
            Sought::Round => "search",
            Sought::Delivered => "delivered/s",
            Sought::P99 => "p99, ms",
            Sought::Mean => "mean, ms",
            Sought::Outcome => "outcome",
            Sought::Changed => "changed",
            Sought::BaseMaximum => "maximum as it is",
            Sought::NewMaximum => "with the change",
            Sought::Ratio => "ratio",
            Sought::Elasticity => "elasticity",
            Sought::Verdict => "verdict",
            Sought::Clients => "clients",
            Sought::Measured => "measured/s",
            Sought::ByLaw => "by the law/s",
            Sought::What => "what",
            Sought::From => "at the beginning",
            Sought::To => "at the end",
            Sought::PerHour => "per hour (95 %)",
            Sought::Course => "course",
            Sought::Cell => "cell",
            Sought::MaximumOfCell => "maximum (95 %)",
            Sought::P99OfCell => "p99, ms (95 %)",
            Sought::OnPlateau => "on the plateau",
            Sought::Yes => "yes",
            Sought::Best => "yes, the best",
            Sought::Recommended => "yes, recommended",
            Sought::NoAnswer => "no answer",
        }
    }

    fn scale(&self, it: Scale) -> &'static str {
        match it {
            Scale::Rate => "arrivals/s",
            Scale::Clients => "clients",
        }
    }

    fn stage(&self, it: Stage) -> &'static str {
        match it {
            Stage::Ramp => "ramp",
            Stage::Rest => "rest",
            Stage::Narrow => "narrowing",
            Stage::Hold => "hold at the answer",
            Stage::Confirm => "confirmation",
            Stage::Soak => "soak",
        }
    }

    fn level(&self, scale: Scale, level: f64) -> String {
        match scale {
            Scale::Rate => format!("{} arrivals per second", exact(level, self)),
            Scale::Clients => count(level.round() as usize, "client"),
        }
    }

    fn outcome(&self, it: &Held, scale: Scale) -> String {
        match it {
            Held::Yes => "held".to_owned(),
            Held::No { why } => self.broke(why),
            Held::Invalid { why } => format!("does not count: {}", self.hindered(why, scale)),
        }
    }

    fn broke(&self, it: &Broke) -> String {
        match it {
            Broke::Objective { text } => format!("{text} is not met"),
            Broke::Behind { share } => {
                format!("only {} of what is offered is delivered", NUMBERS.percent(*share, 1))
            }
            Broke::Crowded { clients } => {
                format!("all {clients} clients are busy, and more of them would only wait")
            }
            Broke::Growing { per_second } => {
                format!("what is under way grows by {} per second without end", said(*per_second, self))
            }
            Broke::Rule { rule } => format!("stop rule {rule} fires"),
        }
    }

    fn hindered(&self, it: &Hindered, scale: Scale) -> String {
        match it {
            Hindered::Generator => "the generator was late or had no reserve".to_owned(),
            Hindered::Descriptors => "file descriptors or local ports ran out".to_owned(),
            Hindered::ClientCap { clients } => {
                format!("all {clients} clients were busy, so that the open test became a closed one")
            }
            Hindered::Most { level } => format!("no more than {} was tried", self.level(scale, *level)),
            Hindered::Least { level } => format!("not even {} was held", self.level(scale, *level)),
            Hindered::Undecided { level } => {
                format!("at {} the system is in one of two states", self.level(scale, *level))
            }
            Hindered::Failed { why } => why.clone(),
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

    fn nudge(&self, it: &Nudge) -> String {
        let what = match &it.turn {
            Turn::Cpu { node } => format!("processors of {node}"),
            Turn::ReadIops { node } => format!("reads per second of {node}"),
            Turn::WriteIops { node } => format!("writes per second of {node}"),
            Turn::Memory { node } => format!("memory of {node}"),
            Turn::PoolSize { node } => format!("pool of {node}"),
            Turn::ServiceEnv { node, variable } => format!("{variable} of {node}"),
            Turn::Slots { node } => format!("max_connections of {node}"),
            Turn::Clients => "clients".to_owned(),
            Turn::Setting { name, value } => format!("{name} = {value}"),
            Turn::Index { ddl } => ddl.clone(),
            Turn::FeedRows { feed } => format!("rows of the feed {feed}"),
        };
        let amount = |value: f64| match it.turn {
            Turn::Memory { .. } => self.bytes(value),
            _ => exact(value, self),
        };
        it.amount.map_or(what.clone(), |(was, is)| format!("{what}: {} → {}", amount(was), amount(is)))
    }

    fn proven(&self, it: Proven) -> &'static str {
        match it {
            Proven::Limits => "limits",
            Proven::DoesNot => "does not limit",
            Proven::Undecided => "undecided",
        }
    }

    fn asked(&self, it: Asked, way: &str) -> String {
        let what = if way.is_empty() { "each cell" } else { way };
        match it {
            Asked::Maximum => format!("How much does {what} hold at most, and what stops it there?"),
            Asked::Endurance => format!("Does {what} hold its load for long, and what changes meanwhile?"),
            Asked::Plateau => "Which settings are enough?".to_owned(),
        }
    }

    fn reached(&self, it: &Reached<'_>) -> String {
        let answer = it.answer;
        let hindered = answer.hindered.as_ref().map(|it| self.hindered(it, answer.scale));
        let name = if it.name.is_empty() { String::new() } else { format!("{}: ", it.name) };
        let Some(level) = answer.level else {
            let why = hindered.unwrap_or_else(|| "the search has not ended".to_owned());
            let suspected = match it.cause {
                Caused::Suspected { limit } => format!("; suspected: {}", self.limit(limit)),
                _ => String::new(),
            };
            return format!("{name}no answer, because {why}{suspected}.");
        };
        let (at_least, beyond) = match (&hindered, &answer.broke) {
            (Some(why), _) => ("at least ", format!("; nothing is known beyond it: {why}")),
            (None, Some(why)) => ("", format!("; above it, {}", self.broke(why))),
            (None, None) => ("", String::new()),
        };
        let mut sure = Vec::new();
        sure.extend(
            answer.interval.map(|(low, high)| format!("95 %: {} to {}", said(low, self), said(high, self))),
        );
        sure.extend((it.rounds > 1).then(|| format!("{} searches", it.rounds)));
        let (held, of) = answer.confirmed;
        sure.extend((of > 0).then(|| format!("confirmed {held} of {of}")));
        let sure = if sure.is_empty() { String::new() } else { format!(" ({})", sure.join(", ")) };
        let delivered = match (answer.scale, answer.delivered) {
            (Scale::Clients, Some(it)) => format!(" with {} transactions per second", said(it.0, self)),
            _ => String::new(),
        };
        let cause = match it.cause {
            Caused::Proven { limit, by, elasticity, ratio } => {
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
            Caused::Suspected { limit } => {
                format!(", cause not proven; suspected: {}", self.limit(limit))
            }
            Caused::NotKnown => ", cause not proven".to_owned(),
        };
        format!("{name}holds {at_least}{}{sure}{delivered}{cause}{beyond}.", self.level(answer.scale, level))
    }

    fn answered(&self, answered: usize, of: usize) -> String {
        format!("{answered} of {} have an answer", count(of, "cell"))
    }

    fn rounds(&self, all: &[Answer]) -> String {
        let each = all
            .iter()
            .map(|it| it.level.map_or(self.sought(Sought::NoAnswer).to_owned(), |it| said(it, self)));
        format!("Search by search: {}.", each.collect::<Vec<_>>().join(", "))
    }

    fn search_window(&self, it: &Max, warmup: Nanos, repeat: u32) -> String {
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
            Some(it) => format!("Most is delivered at {} clients", said(it, self)),
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

    fn endured(&self, it: &Endurance, scale: Scale, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let of =
            it.of_maximum.map_or(String::new(), |it| format!(" ({} of the maximum)", NUMBERS.percent(it, 0)));
        let level = self.level(scale, it.level);
        let lasting = self.span(it.lasting);
        let held = match &it.outcome {
            Held::Yes => format!("{name}held {level}{of} for {lasting}"),
            Held::No { why } => format!("{name}did not hold {level}{of} for {lasting}: {}", self.broke(why)),
            Held::Invalid { why } => {
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

    fn trended(&self, it: &Trended) -> String {
        match it {
            Trended::Memory { node } => format!("memory of {node}"),
            Trended::Median => "median response time".to_owned(),
            Trended::P99 => "p99 of response time".to_owned(),
            Trended::Connections { node } => format!("connections of {node}"),
            Trended::DeadRows { table } if table.is_empty() => "dead rows of all tables".to_owned(),
            Trended::DeadRows { table } => format!("dead rows of {table}"),
            Trended::Size { table } if table.is_empty() => "size of the database".to_owned(),
            Trended::Size { table } => format!("size of {table}"),
            Trended::Throughput => "throughput".to_owned(),
            Trended::Files { node } => format!("open files of {node}"),
        }
    }

    fn course(&self, it: Course) -> &'static str {
        match it {
            Course::Leak => "leak",
            Course::Drift => "drift",
            Course::Steady => "steady",
            Course::Unknown => "cannot be told",
        }
    }

    fn amount(&self, of: &Trended, value: f64) -> String {
        match of {
            Trended::Memory { .. } | Trended::Size { .. } => self.bytes(value),
            // A slope may be below 0, which a time cannot.
            Trended::Median | Trended::P99 => NUMBERS.with_unit(&three(1e3 * value), "ms"),
            Trended::Throughput => format!("{}/s", said(value, self)),
            Trended::Connections { .. } | Trended::DeadRows { .. } | Trended::Files { .. } => {
                exact(value, self)
            }
        }
    }

    fn enough(&self, it: &Enough<'_>) -> String {
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

    fn need(&self, it: &Need) -> String {
        format!(
            "{} per second that each hold a connection for {} need {} connections on average (Little's law); PostgreSQL \
             has {}.",
            said(it.rate, self),
            NUMBERS.seconds(it.held),
            said(it.connections, self),
            match it.processors {
                1.0 => "1 processor".to_owned(),
                other => format!("{} processors", exact(other, self)),
            }
        )
    }

    fn numerals(&self) -> &'static Numbers {
        &NUMBERS
    }

    fn within(&self, it: &Fitted) -> String {
        let range = it
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}, {}]", said(low, self), said(high, self)));
        format!("{}{range}", said(it.value, self))
    }
}

/// What leaks and drifts, after what was held.
fn moved(it: &Endurance) -> String {
    let those = |course: Course| -> Vec<String> {
        it.trends.iter().filter(|it| it.course == course).map(|it| En.trended(&it.what)).collect()
    };
    let found: Vec<String> = [("leaks", Course::Leak), ("drifts", Course::Drift)]
        .into_iter()
        .map(|(what, course)| (what, those(course)))
        .filter(|it| !it.1.is_empty())
        .map(|(what, those)| format!("; {what}: {}", those.join(", ")))
        .collect();
    match (it.trends.is_empty(), found.is_empty(), those(Course::Unknown).len()) {
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
fn parameter(it: &Fitted) -> String {
    let range = it
        .interval
        .map_or(String::new(), |(low, high)| format!(" [{}, {}]", small(low, &En), small(high, &En)));
    format!("{}{range}", small(it.value, &En))
}
