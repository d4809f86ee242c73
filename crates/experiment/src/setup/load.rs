//! Which load is asked for, and how long does it last?

use super::Maker;
use crate::file::{self, Arrivals, Model};
use model::plan::{Load, LoadModel};
use model::summary::QueryMode;
use model::{Nanos, Spacing};

impl Maker<'_> {
    /// The load, and how long one trial takes, warm-up included.
    pub(super) fn load(&mut self, it: &file::Load) -> (Load, Nanos) {
        let (model, lasting) = match it.model {
            Model::Closed => self.closed(it),
            Model::Open => self.open(it),
        };
        let warmup = it.warmup.map_or(Nanos::ZERO, |it| it.0);
        for (key, given) in [("duration", it.duration), ("timeout", it.timeout)] {
            if given.is_some_and(|it| it.0 == Nanos::ZERO) {
                self.tell(&format!("load.{key}"), format!("a {key} of 0"), "write how long, as in 10s");
            }
        }
        let threads = it.threads.unwrap_or(1);
        let at_once = it.clients.or(it.max_in_flight).unwrap_or(u32::MAX);
        if u32::from(threads) > at_once {
            let found = format!("{threads} threads for {at_once} clients");
            self.tell(
                "load.threads",
                found,
                format!("write at most {at_once}: a client belongs to one thread"),
            );
        }
        let load = Load {
            model,
            duration: it.duration.map(|it| it.0),
            warmup,
            threads,
            query_mode: match it.query_mode {
                None | Some(file::QueryMode::Simple) => QueryMode::Simple,
                Some(file::QueryMode::Extended) => QueryMode::Extended,
                Some(file::QueryMode::Prepared) => QueryMode::Prepared,
            },
            connect_each: it.connect_each.unwrap_or(false),
            timeout: it.timeout.map(|it| it.0),
            max_tries: it.max_tries.unwrap_or(1),
        };
        (load, warmup + lasting)
    }

    fn closed(&mut self, it: &file::Load) -> (LoadModel, Nanos) {
        self.not_with(
            it,
            "closed",
            &[
                (
                    "schedule",
                    it.schedule.is_some(),
                    "in the closed model answers decide when the next one starts",
                ),
                (
                    "arrivals",
                    it.arrivals.is_some(),
                    "in the closed model answers decide when the next one starts",
                ),
                ("max_in_flight", it.max_in_flight.is_some(), "the closed model has `clients`"),
            ],
        );
        self.needs("closed", "clients", it.clients.is_some(), "add how many, as in `clients: 8`");
        self.needs(
            "closed",
            "duration",
            it.duration.is_some(),
            "add what is measured, as in `duration: 30s`",
        );
        let think = it.think.map_or(Nanos::ZERO, |it| it.0);
        (
            LoadModel::Closed { clients: it.clients.unwrap_or(1), think },
            it.duration.map_or(Nanos::ZERO, |it| it.0),
        )
    }

    fn open(&mut self, it: &file::Load) -> (LoadModel, Nanos) {
        self.not_with(
            it,
            "open",
            &[
                ("clients", it.clients.is_some(), "write `max_in_flight`: how many may be under way at once"),
                ("think", it.think.is_some(), "leave it out: the schedule says when transactions start"),
                ("duration", it.duration.is_some(), "leave it out: the schedule says how long"),
            ],
        );
        self.needs(
            "open",
            "schedule",
            it.schedule.is_some(),
            "add rates over time, as in `schedule: line(1, 200, 200s)`",
        );
        self.needs(
            "open",
            "max_in_flight",
            it.max_in_flight.is_some(),
            "add how many may be under way at once, as in `max_in_flight: 100`",
        );
        let schedule = it.schedule.clone().unwrap_or_default();
        let mut lasting = Nanos::ZERO;
        if it.schedule.is_some() {
            match (self.request.grammars.schedule)(&schedule) {
                Ok(it) => lasting = it,
                Err(complaints) => {
                    let at = self.at("load.schedule");
                    self.complain(&at, &schedule, complaints);
                }
            }
        }
        let arrivals = match it.arrivals {
            None | Some(Arrivals::Even) => Spacing::Even,
            Some(Arrivals::Poisson) => Spacing::Poisson,
        };
        (LoadModel::Open { schedule, arrivals, max_in_flight: it.max_in_flight.unwrap_or(1) }, lasting)
    }

    /// Keys that are of the other model.
    fn not_with(&mut self, it: &file::Load, model: &str, keys: &[(&str, bool, &str)]) {
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
            self.tell(&format!("load.{key}"), format!("`{key}` in the {model} model"), instead);
        }
    }

    fn needs(&mut self, model: &str, key: &str, is_there: bool, instead: &str) {
        if !is_there {
            self.tell("load.model", format!("the {model} model without `{key}`"), instead);
        }
    }
}
