//! What is looked for?

use super::Maker;
use super::mix::Mix;
use crate::file::find::{self as file, Found, How};
use crate::unit::Share;
use model::Nanos;
use model::plan::{Confirm, Find, Level, Max, Scale, Soak, Sweep};

impl Maker<'_> {
    /// `prove`: as the file has it.
    pub(super) fn find(
        &mut self,
        it: Option<&file::Find>,
        prove: Option<bool>,
        load: &crate::file::Load,
    ) -> Find {
        let empty = |found| match found {
            Found::Once => How::default(),
            Found::Max => How { max: Some(file::Max::default()), ..How::default() },
            Found::Confirm => How { confirm: Some(file::Confirm::default()), ..How::default() },
            Found::Soak => How { soak: Some(file::Soak::default()), ..How::default() },
            Found::Sweep => How { sweep: Some(file::Sweep::default()), ..How::default() },
            Found::Failover => How { failover: Some(file::Failover::default()), ..How::default() },
        };
        let how = match it {
            None => How::default(),
            Some(file::Find::Word(it)) => empty(*it),
            Some(file::Find::How(it)) => How::clone(it),
        };
        let scale = match load.model {
            crate::file::Model::Open => Scale::Rate,
            crate::file::Model::Closed => Scale::Clients,
        };
        let asked = [
            how.max.is_some(),
            how.confirm.is_some(),
            how.soak.is_some(),
            how.sweep.is_some(),
            how.failover.is_some(),
        ];
        if matches!(it, Some(file::Find::How(_))) && asked.iter().filter(|it| **it).count() != 1 {
            let instead = "write one of `max`, `confirm`, `soak`, `sweep` and `failover`";
            self.tell("find", "it looks for nothing, or for several things at once", instead);
        }
        let prove = Proving { asked: prove.unwrap_or(false), scale };
        let found = match how {
            How { max: Some(it), .. } => Find::Max(self.max("find.max", &it, prove)),
            How { confirm: Some(it), .. } => Find::Confirm(Confirm {
                level: self.level("find.confirm", (it.level, it.of, it.share, 1.0), it.max.as_ref(), prove),
                ramp: self.lasting("find.confirm.ramp", it.ramp, Nanos::from_secs(60)),
                hold: self.lasting("find.confirm.hold", it.hold, Nanos::from_secs(300)),
            }),
            How { soak: Some(it), .. } => Find::Soak(Soak {
                level: self.level("find.soak", (it.level, it.of, it.share, 0.8), it.max.as_ref(), prove),
                lasting: self.lasting("find.soak.for", it.lasting, Nanos::from_secs(3600)),
            }),
            How { sweep: Some(it), .. } => {
                Find::Sweep(Sweep { max: it.max.map(|it| self.max("find.sweep.max", &it, prove)) })
            }
            How { failover: Some(_), .. } => Find::Failover,
            How { .. } => Find::Once,
        };
        if prove.asked && found.max().is_none() {
            let instead = "leave it out, or write `find: max`: what is proved is what limits a maximum";
            self.tell("prove", "`prove` where no maximum is looked for", instead);
        }
        found
    }

    fn max(&mut self, path: &str, it: &file::Max, prove: Proving) -> Max {
        for (key, given) in [("from", it.from), ("most", it.most)] {
            self.above_zero(&format!("{path}.{key}"), given);
        }
        if let (Some(from), Some(most)) = (it.from, it.most)
            && from > most
        {
            self.tell(
                &format!("{path}.most"),
                format!("at most {most}, from {from}"),
                "write more than `from`",
            );
        }
        let precision = it.precision.map_or(Max::USUAL.precision, |it| it.0);
        if !(0.005..=0.5).contains(&precision) {
            let found = format!("a precision of {}%", precision * 100.0);
            self.tell(&format!("{path}.precision"), found, "write 0.5% to 50%");
        }
        Max {
            scale: prove.scale,
            from: it.from,
            most: it.most,
            precision,
            window: self.lasting(&format!("{path}.window"), it.window, Max::USUAL.window),
            hold: self.lasting(&format!("{path}.hold"), it.hold, Max::USUAL.hold),
            prove: prove.asked,
        }
    }

    fn level(
        &mut self,
        path: &str,
        (level, of, share, usual): (Option<f64>, Option<f64>, Option<Share>, f64),
        max: Option<&file::Max>,
        prove: Proving,
    ) -> Level {
        self.above_zero(&format!("{path}.level"), level);
        self.above_zero(&format!("{path}.of"), of);
        let beside = |it: bool| level.is_some() && it;
        for (key, given) in [("share", share.is_some()), ("max", max.is_some())] {
            if beside(given) {
                let found = format!("`{key}` beside a level, which is not searched for");
                self.tell(&format!("{path}.{key}"), found, "leave one of them out");
            }
        }
        if of.is_some() && level.is_none() {
            let instead = "leave it out: the maximum is searched for";
            self.tell(&format!("{path}.of"), "`of` without a level", instead);
        }
        let given = share.map_or(usual, |it| it.0);
        if given <= 0.0 {
            self.tell(&format!("{path}.share"), "a share of nothing", "write more than 0%, as in 80%");
        }
        match level {
            Some(level) => Level::Given { level, of },
            None => {
                let usual = file::Max::default();
                let max = self.max(&format!("{path}.max"), max.unwrap_or(&usual), prove);
                Level::Share { share: given, max }
            }
        }
    }

    fn above_zero(&mut self, path: &str, given: Option<f64>) {
        if let Some(it) = given.filter(|it| !(1e-3..=1e7).contains(it)) {
            self.tell(path, format!("{it}"), "write more than 0 and at most 10000000, as in 500");
        }
    }

    /// In whole seconds, of which schedules are made.
    fn lasting(&mut self, path: &str, given: Option<crate::unit::Duration>, usual: Nanos) -> Nanos {
        let it = given.map_or(usual, |it| it.0);
        if it.0 == 0 || !it.0.is_multiple_of(1_000_000_000) {
            self.tell(path, format!("{}s", it.as_secs_f64()), "write whole seconds, at least 1s");
        }
        it
    }

    /// What a search cannot turn.
    pub(super) fn searched(&mut self, find: &Find, load: &crate::file::Load, mix: &Mix) {
        if matches!(find, Find::Once | Find::Failover | Find::Sweep(Sweep { max: None })) {
            return;
        }
        if mix.is_empty() {
            let instead = "leave a `schedule` out: the search sets the rate of operations that have none";
            self.tell(
                "find",
                "every operation has a schedule of its own where a level is looked for",
                instead,
            );
        }
        if load.users.is_some() {
            let instead = "write `clients`: the search sets how many there are";
            self.tell("load.users", "users in stages where a level is looked for", instead);
        }
    }
}

/// What says how much, instead of the load: a search, or a level that is given.
pub(super) fn instead(find: &Find) -> Option<Max> {
    let at = |level: f64, window| Max { from: Some(level), most: Some(level), window, ..Max::USUAL };
    match find {
        Find::Confirm(Confirm { level: Level::Given { level, .. }, hold, .. }) => Some(at(*level, *hold)),
        Find::Soak(Soak { level: Level::Given { level, .. }, lasting }) => Some(at(*level, *lasting)),
        _ => find.max().cloned(),
    }
}

/// What all searches of a file have in common.
#[derive(Clone, Copy, Debug)]
struct Proving {
    asked: bool,
    scale: Scale,
}
