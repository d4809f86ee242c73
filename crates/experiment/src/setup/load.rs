//! The section `load`: model, rate and duration.

use super::SetupBuilder;
use super::mix::{Mix, decimal};
use crate::ScheduleExtent;
use crate::file::{self, Arrivals, Model};
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
                self.report(&format!("load.{key}"), format!("a {key} of 0"), "write how long, as in 10s");
            }
        }
        for (key, given) in [("max_rate", it.max_rate), ("coefficient", it.coefficient)] {
            if let Some(it) = given.filter(|it| !(1e-6..=1e7).contains(it)) {
                self.report(
                    &format!("load.{key}"),
                    format!("a {key} of {it}"),
                    "write more than 0 and at most 10000000, as in 500",
                );
            }
        }
        let threads = it.threads.unwrap_or(1);
        let users = it.users.as_deref().and_then(|all| all.iter().map(|it| it.users).max());
        let at_once = it.clients.or(it.max_in_flight).or(users).unwrap_or(u32::MAX);
        if u32::from(threads) > at_once {
            let found = format!("{threads} threads for {at_once} clients");
            self.report(
                "load.threads",
                found,
                format!("write at most {at_once}: a client belongs to one thread"),
            );
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
        let starts = "leave it out: the schedule says when transactions start";
        self.not_with(
            it,
            "open",
            &[
                ("clients", it.clients.is_some(), "write `max_in_flight`: how many may be under way at once"),
                ("users", it.users.is_some(), "write `max_in_flight`: how many may be under way at once"),
                ("think", it.think.is_some(), starts),
                ("pacing", it.pacing.is_some(), starts),
                ("max_rate", it.max_rate.is_some(), starts),
                ("duration", it.duration.is_some() && !of_rates, "leave it out: the schedule says how long"),
            ],
        );
        self.needs(
            "open",
            "max_in_flight",
            it.max_in_flight.is_some(),
            "add how many may be under way at once, as in `max_in_flight: 100`",
        );
        let (schedule, mut course) = match &it.schedule {
            Some(schedule) => {
                if mix.is_empty() {
                    let found = "a schedule of the mix, where every operation has one of its own";
                    self.report("load.schedule", found, "leave it out, or an operation's own");
                }
                (schedule.clone(), self.schedule("load.schedule", schedule))
            }
            None => match max.filter(|_| mix.rate.is_none() && !mix.is_empty()) {
                Some(max) => searched(max),
                None => self.of_rates(it, mix, max),
            },
        };
        if it.coefficient.is_some() && (it.schedule.is_some() || mix.rate.is_none()) {
            let (found, instead) = match mix.rate {
                Some(_) => ("a coefficient beside a schedule, which says how much", "leave one of them out"),
                None => ("a coefficient of nothing", "give operations a `rate`, or leave it out"),
            };
            self.report("load.coefficient", found, instead);
        }
        for (path, own) in &mix.own {
            course.max_rate += own.max_rate;
            if own.duration > course.duration && course.duration > Nanos::ZERO {
                let seconds = |it: Nanos| format!("{}s", it.as_secs_f64());
                let found = format!(
                    "a schedule of {}, in a load of {}",
                    seconds(own.duration),
                    seconds(course.duration)
                );
                self.report(
                    path,
                    found,
                    "write a shorter one: what is beyond the load's end would not be done",
                );
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
        (self.request.grammars.schedule)(text).unwrap_or_else(|complaints| {
            let at = self.span_of(path);
            self.report_in_text(&at, text, complaints);
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
                self.needs(
                    "open",
                    "duration",
                    false,
                    "add how long the operations' rates last, as in `duration: 60s`",
                );
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
            (None, None) => {
                let instead = "add rates over time, as in `schedule: line(1, 200, 200s)`";
                self.needs("open", "schedule", false, instead);
                return (String::new(), ScheduleExtent { duration: Nanos::ZERO, max_rate: 0.0 });
            }
        };
        if !lasting.0.is_multiple_of(1_000_000_000) {
            let found = format!("a duration of {}s", lasting.as_secs_f64());
            self.report("load.duration", found, "write whole seconds in the open model");
        }
        let rate = mix.rate.unwrap_or(0.0) * it.coefficient.unwrap_or(1.0);
        if rate > 1e7 {
            let found = format!("{rate}/s in all");
            self.report("load.coefficient", found, "write less: at most 10,000,000/s are offered");
        }
        let schedule = format!("const({}, {}s)", decimal(rate), lasting.0 / 1_000_000_000);
        (schedule, ScheduleExtent { duration: lasting, max_rate: rate })
    }

    /// Reports keys of the other model.
    pub(super) fn not_with(&mut self, it: &file::Load, model: &str, keys: &[(&str, bool, &str)]) {
        let fits_other = match it.model {
            Model::Closed => it.schedule.is_some() && it.clients.is_none(),
            Model::Open => it.schedule.is_none() && it.clients.is_some(),
        };
        for (key, _, instead) in keys.iter().filter(|it| it.1) {
            let other = if model == "open" { "closed" } else { "open" };
            let instead = match fits_other {
                true => format!("write `model: {other}`, or leave this out"),
                false if instead.starts_with("write") || instead.starts_with("leave") => {
                    (*instead).to_owned()
                }
                false => format!("leave it out: {instead}"),
            };
            self.report(&format!("load.{key}"), format!("`{key}` in the {model} model"), instead);
        }
    }

    pub(super) fn needs(&mut self, model: &str, key: &str, is_there: bool, instead: &str) {
        if !is_there {
            self.report("load.model", format!("the {model} model without `{key}`"), instead);
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
