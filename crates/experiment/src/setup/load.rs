//! The section `load`: model, rate and duration.

use super::mix::{Mix, decimal};
use super::{SetupBuilder, seconds, whole_seconds};
use crate::ScheduleExtent;
use crate::file::{self, Arrivals, Model};
use model::message;
use model::plan::{Load, LoadModel, MaxSearch};
use model::summary::QueryMode;
use model::{Nanos, Spacing};

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
    /// `max`, if given, determines level and duration: a search, or a level to hold.
    pub(super) fn load(&mut self, it: &file::Load, mix: &Mix, max: Option<&MaxSearch>) -> RequestedLoad {
        let (model, course) = match it.model {
            Model::Closed => self.closed(it, mix, max),
            Model::Open => self.open(it, mix, max),
        };
        let warmup = it.warmup.map_or(Nanos::ZERO, |it| it.0);
        let times = [
            ("duration", it.duration),
            ("timeout", it.timeout),
            ("connect_timeout", it.connect_timeout),
            ("first_byte_timeout", it.first_byte_timeout),
            ("pacing", it.pacing),
        ];
        for (key, given) in times {
            if given.is_some_and(|it| it.0 == Nanos::ZERO) {
                self.report(&format!("load.{key}"), message!("experiment-duration-zero", key));
            }
        }
        for (key, given) in [("max_rate", it.max_rate), ("coefficient", it.coefficient)] {
            if let Some(value) = given.filter(|it| !(1e-6..=1e7).contains(it)).map(|it| it.to_string()) {
                let (min, max) = ("0.000001", "10000000");
                let message = message!("experiment-out-of-range", key, value, min, max);
                self.report(&format!("load.{key}"), message);
            }
        }
        let threads = it.threads.unwrap_or(1);
        let users = it.users.as_deref().and_then(|all| all.iter().map(|it| it.users).max());
        let at_once = it.clients.or(it.max_in_flight).or(users).unwrap_or(u32::MAX);
        if u32::from(threads) > at_once {
            let (threads, clients) = (threads.to_string(), at_once.to_string());
            self.report("load.threads", message!("experiment-threads", threads, clients));
        }
        let load = Load {
            duration: (!model.is_open()).then_some(course.duration),
            model,
            warmup,
            threads,
            query_mode: match it.query_mode {
                None | Some(file::QueryMode::Simple) => QueryMode::Simple,
                Some(file::QueryMode::Extended) => QueryMode::Extended,
                Some(file::QueryMode::Prepared) => QueryMode::Prepared,
            },
            reconnect: it.connect_each.unwrap_or(false),
            connect_timeout: it.connect_timeout.map(|it| it.0),
            first_byte_timeout: it.first_byte_timeout.map(|it| it.0),
            cookies: it.cookies.unwrap_or(false),
            timeout: it.timeout.map(|it| it.0),
            max_tries: it.max_tries.unwrap_or(1),
        };
        RequestedLoad { load, duration: warmup + course.duration, max_rate: course.max_rate }
    }

    fn open(&mut self, it: &file::Load, mix: &Mix, max: Option<&MaxSearch>) -> (LoadModel, ScheduleExtent) {
        let of_rates = it.schedule.is_none() && (mix.rate.is_some() || mix.is_empty());
        let closed_only = [
            ("clients", it.clients.is_some()),
            ("users", it.users.is_some()),
            ("think", it.think.is_some()),
            ("pacing", it.pacing.is_some()),
            ("max_rate", it.max_rate.is_some()),
            ("duration", it.duration.is_some() && !of_rates),
        ];
        self.not_with(it, "open", &closed_only);
        self.needs("open", "max_in_flight", it.max_in_flight.is_some());
        let (schedule, mut course) = match &it.schedule {
            Some(schedule) => {
                if mix.is_empty() {
                    self.report("load.schedule", message!("experiment-schedule-unused"));
                }
                (schedule.clone(), self.schedule("load.schedule", schedule))
            }
            None => match max.filter(|_| mix.rate.is_none() && !mix.is_empty()) {
                Some(max) => searched(max),
                None => self.of_rates(it, mix, max),
            },
        };
        if it.coefficient.is_some() && (it.schedule.is_some() || mix.rate.is_none()) {
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
        for (path, own) in &mix.own {
            course.max_rate += own.max_rate;
            if own.duration > course.duration && course.duration > Nanos::ZERO {
                let message = message!(
                    "experiment-schedule-too-long",
                    schedule = seconds(own.duration),
                    load = seconds(course.duration)
                );
                self.report(path, message);
            }
        }
        let arrivals = match it.arrivals {
            None | Some(Arrivals::Even) => Spacing::Even,
            Some(Arrivals::Poisson) => Spacing::Poisson,
        };
        (LoadModel::Open { schedule, arrivals, max_in_flight: it.max_in_flight.unwrap_or(1) }, course)
    }

    /// Parses a schedule; a zero extent if it has an error.
    pub(super) fn schedule(&mut self, path: &str, text: &str) -> ScheduleExtent {
        (self.request.grammars.schedule)(text).unwrap_or_else(|diagnostics| {
            let at = self.span_of(path);
            self.report_in_text(&at, text, diagnostics);
            ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 }
        })
    }

    /// Schedule of a load that consists of its operations' rates, or of their own schedules.
    fn of_rates(&mut self, it: &file::Load, mix: &Mix, max: Option<&MaxSearch>) -> (String, ScheduleExtent) {
        let own = mix.own.iter().map(|it| it.1.duration).max().unwrap_or(Nanos::ZERO);
        let said = max.filter(|_| mix.rate.is_some()).map(|it| it.window);
        let lasting = match (it.duration.map(|it| it.0).or(said), mix.rate) {
            (Some(it), _) => it,
            // A text that is no schedule is already reported.
            (None, None) if mix.is_empty() => Nanos::from_secs(own.0.div_ceil(1_000_000_000)),
            (None, Some(_)) => {
                self.needs("open", "duration", false);
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
            (None, None) => {
                self.needs("open", "schedule", false);
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
        };
        if !lasting.0.is_multiple_of(1_000_000_000) {
            self.report("load.duration", whole_seconds("load.duration", lasting));
        }
        let rate = mix.rate.unwrap_or(0.0) * it.coefficient.unwrap_or(1.0);
        if rate > 1e7 {
            self.report("load.coefficient", message!("experiment-rate-sum", rate = rate.to_string()));
        }
        let schedule = format!("const({}, {}s)", decimal(rate), lasting.0 / 1_000_000_000);
        (schedule, ScheduleExtent { duration: lasting, max_rate: rate })
    }

    /// Reports keys of the other model that are set.
    pub(super) fn not_with(&mut self, it: &file::Load, model: &str, keys: &[(&str, bool)]) {
        let fits_other = match it.model {
            Model::Closed => it.schedule.is_some() && it.clients.is_none(),
            Model::Open => it.schedule.is_none() && it.clients.is_some(),
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

/// First step of a search; the file or [`FROM`] determines its rate.
fn searched(max: &MaxSearch) -> (String, ScheduleExtent) {
    let from = max.from.unwrap_or(FROM);
    let schedule = format!("const({}, {}s)", decimal(from), max.window.0 / 1_000_000_000);
    (schedule, ScheduleExtent { duration: max.window, max_rate: max.limit.unwrap_or(from) })
}

/// Default rate at which a search begins, per second.
const FROM: f64 = 10.0;
