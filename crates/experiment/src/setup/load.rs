//! The section `load`: model, rate and duration.

use super::mix::{Mix, decimal};
use super::replay::is_mix;
use super::{SetupBuilder, seconds, whole_seconds};
use crate::file::{self, Arrivals, Model};
use crate::{Recording, ScheduleExtent};
use model::message;
use model::plan::{Load, LoadModel, MaxSearch};
use model::summary::QueryMode;
use model::{Nanos, Spacing};

/// Default rate of new clients in an experiment with faults, per second.
const NEW_CLIENTS: u32 = 20;

/// Load, with its duration and maximum rate.
#[derive(Debug)]
pub struct RequestedLoad {
    pub load: Load,
    /// Duration of one trial, warm-up included.
    pub duration: Nanos,
    /// Maximum offered rate, per second; 0 in the closed model.
    pub max_rate: f64,
}

impl SetupBuilder<'_> {
    /// Builds the load of a cell. `max`, if given, is a search or a fixed level. It then determines the level and the
    /// duration. `recorded` is the model of a load with recorded times. `has_faults` is true if the trials inject faults.
    pub(super) fn load(
        &mut self,
        source: &file::Load,
        mix: &Mix,
        max: Option<&MaxSearch>,
        recording: Option<&Recording>,
        recorded: Option<(LoadModel, ScheduleExtent)>,
        has_faults: bool,
    ) -> RequestedLoad {
        let (model, extent) = match (recorded, source.model) {
            (Some(recorded), _) => recorded,
            (None, Model::Closed) => self.closed(source, mix, max),
            (None, Model::Open) => self.open(source, mix, max),
            (None, Model::Replay) => self.replay(source, recording),
        };
        let warmup = source.warmup.map_or(Nanos::ZERO, |it| it.0);
        let times = [
            ("duration", source.duration),
            ("timeout", source.timeout),
            ("connect_timeout", source.connect_timeout),
            ("first_byte_timeout", source.first_byte_timeout),
            ("pacing", source.pacing),
            ("slack", source.slack),
        ];
        for (key, given) in times {
            if given.is_some_and(|it| it.0 == Nanos::ZERO) {
                self.report(&format!("load.{key}"), message!("experiment-duration-zero", key));
            }
        }
        if let Some(slack) = source.slack.filter(|it| it.0 > Load::SLACK_MAX) {
            let (key, value, min, max) = ("slack", slack.0.notation(), "1us", Load::SLACK_MAX.notation());
            self.report("load.slack", message!("experiment-out-of-range", key, value, min, max));
        }
        for (key, given) in [("max_rate", source.max_rate), ("coefficient", source.coefficient)] {
            if let Some(value) = given.filter(|it| !(1e-6..=1e7).contains(it)).map(|it| it.to_string()) {
                let (min, max) = ("0.000001", "10000000");
                let message = message!("experiment-out-of-range", key, value, min, max);
                self.report(&format!("load.{key}"), message);
            }
        }
        let threads = source.threads.unwrap_or(1);
        let sessions = matches!(model, LoadModel::Replay { .. }).then(|| model.clients());
        let users = source.users.as_deref().and_then(|all| all.iter().map(|it| it.users).max());
        let at_once = source.clients.or(source.max_in_flight).or(users).or(sessions).unwrap_or(u32::MAX);
        if u32::from(threads) > at_once {
            let (threads, clients) = (threads.to_string(), at_once.to_string());
            self.report("load.threads", message!("experiment-threads", threads, clients));
        }
        let load = Load {
            duration: (!model.is_open()).then_some(extent.duration),
            model,
            traffic: recording.and_then(|it| it.mix.clone()),
            warmup,
            threads,
            query_mode: match source.query_mode {
                None | Some(file::QueryMode::Simple) => QueryMode::Simple,
                Some(file::QueryMode::Extended) => QueryMode::Extended,
                Some(file::QueryMode::Prepared) => QueryMode::Prepared,
            },
            reconnect: source.reconnect.unwrap_or(false),
            connect_timeout: source.connect_timeout.map(|it| it.0),
            first_byte_timeout: source.first_byte_timeout.map(|it| it.0),
            cookies: source.cookies.unwrap_or(false),
            timeout: source.timeout.map(|it| it.0),
            max_tries: source.max_tries.unwrap_or(1),
            new_clients: source.new_clients.unwrap_or(if has_faults { NEW_CLIENTS } else { 0 }),
            slack: source.slack.map_or(Nanos::ZERO, |it| it.0),
            transactions: None,
        };
        RequestedLoad { load, duration: warmup + extent.duration, max_rate: extent.max_rate }
    }

    fn open(
        &mut self,
        source: &file::Load,
        mix: &Mix,
        max: Option<&MaxSearch>,
    ) -> (LoadModel, ScheduleExtent) {
        let of_rates = source.schedule.is_none() && (mix.rate.is_some() || mix.is_empty());
        let closed_only = [
            ("clients", source.clients.is_some()),
            ("users", source.users.is_some()),
            ("think", source.think.is_some()),
            ("pacing", source.pacing.is_some()),
            ("max_rate", source.max_rate.is_some()),
            ("duration", source.duration.is_some() && !of_rates && !is_mix(source)),
        ];
        if source.speed.is_some() && !is_mix(source) {
            self.report("load.speed", message!("experiment-speed-recorded"));
        }
        if max.is_none() && mix.rate.is_none() && source.schedule.is_none() && source.max_in_flight.is_none()
        {
            let given = closed_only.iter().filter(|it| it.1).map(|it| format!("`{}`", it.0));
            let given: Vec<String> = given.collect();
            if !given.is_empty() && !mix.is_empty() {
                self.report("load.model", message!("experiment-load-open", keys = given.join(", ")));
                let extent = ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 };
                let arrivals = Spacing::Even;
                return (LoadModel::Open { schedule: String::new(), arrivals, max_in_flight: 1 }, extent);
            }
        }
        self.not_with(source, "open", &closed_only);
        self.needs("open", "max_in_flight", source.max_in_flight.is_some());
        let (schedule, mut extent) = match &source.schedule {
            Some(schedule) => {
                if mix.is_empty() {
                    self.report("load.schedule", message!("experiment-schedule-unused"));
                }
                (schedule.clone(), self.schedule("load.schedule", schedule))
            }
            None => match max.filter(|_| mix.rate.is_none() && !mix.is_empty()) {
                Some(max) => searched(max),
                None => self.of_rates(source, mix, max),
            },
        };
        if source.coefficient.is_some()
            && !is_mix(source)
            && (source.schedule.is_some() || mix.rate.is_none())
        {
            self.report(
                "load.coefficient",
                match mix.rate {
                    Some(_) => {
                        message!("experiment-conflicting-keys", first = "schedule", second = "coefficient")
                    }
                    None => message!("experiment-coefficient-unused"),
                },
            );
        }
        for (path, schedule) in &mix.schedules {
            extent.max_rate += schedule.max_rate;
            if schedule.duration > extent.duration && extent.duration > Nanos::ZERO {
                let message = message!(
                    "experiment-schedule-too-long",
                    schedule = seconds(schedule.duration),
                    load = seconds(extent.duration)
                );
                self.report(path, message);
            }
        }
        let arrivals = match source.arrivals {
            None | Some(Arrivals::Even) => Spacing::Even,
            Some(Arrivals::Poisson) => Spacing::Poisson,
        };
        (LoadModel::Open { schedule, arrivals, max_in_flight: source.max_in_flight.unwrap_or(1) }, extent)
    }

    /// Parses a schedule. Returns a zero extent if the schedule has an error.
    pub(super) fn schedule(&mut self, path: &str, text: &str) -> ScheduleExtent {
        (self.request.grammars.schedule)(text).unwrap_or_else(|diagnostics| {
            let at = self.span_of(path);
            self.report_in_text(&at, text, diagnostics);
            ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 }
        })
    }

    /// Schedule of a load whose operations have rates or separate schedules.
    fn of_rates(
        &mut self,
        source: &file::Load,
        mix: &Mix,
        max: Option<&MaxSearch>,
    ) -> (String, ScheduleExtent) {
        let longest = mix.schedules.iter().map(|it| it.1.duration).max().unwrap_or(Nanos::ZERO);
        let window = max.filter(|_| mix.rate.is_some()).map(|it| it.window);
        let duration = match (source.duration.map(|it| it.0).or(window), mix.rate) {
            (Some(it), _) => it,
            // An invalid schedule is already reported.
            (None, None) if mix.is_empty() => Nanos::from_secs(longest.0.div_ceil(1_000_000_000)),
            (None, Some(_)) => {
                self.needs("open", "duration", false);
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
            (None, None) => {
                self.needs("open", "schedule", false);
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
        };
        if !duration.0.is_multiple_of(1_000_000_000) {
            self.report("load.duration", whole_seconds("load.duration", duration));
        }
        let rate = mix.rate.unwrap_or(0.0) * source.coefficient.unwrap_or(1.0);
        if rate > 1e7 {
            self.report("load.coefficient", message!("experiment-rate-sum", rate = rate.to_string()));
        }
        let schedule = format!("const({}, {}s)", decimal(rate), duration.0 / 1_000_000_000);
        (schedule, ScheduleExtent { duration, max_rate: rate })
    }

    /// Reports keys of the other model that are set.
    pub(super) fn not_with(&mut self, source: &file::Load, model: &str, keys: &[(&str, bool)]) {
        let fits_other = match source.model {
            Model::Closed => source.schedule.is_some() && source.clients.is_none(),
            Model::Open => source.schedule.is_none() && source.clients.is_some(),
            Model::Replay => false,
        };
        let other = fits_other.then_some(if model == "open" { "closed" } else { "open" });
        for (key, _) in keys.iter().filter(|it| it.1) {
            let message = message!("experiment-load-key", key = *key, model, other);
            self.report(&format!("load.{key}"), message);
        }
    }

    pub(super) fn needs(&mut self, model: &str, key: &str, is_there: bool) {
        if !is_there {
            self.report("load.model", message!("experiment-load-key-missing", key, model));
        }
    }
}

/// Schedule of a search's first step. The file or [`FROM`] determines its rate.
fn searched(max: &MaxSearch) -> (String, ScheduleExtent) {
    let from = max.from.unwrap_or(FROM);
    let schedule = format!("const({}, {}s)", decimal(from), max.window.0 / 1_000_000_000);
    (schedule, ScheduleExtent { duration: max.window, max_rate: max.limit.unwrap_or(from) })
}

/// Default rate at which a search begins, per second.
const FROM: f64 = 10.0;
