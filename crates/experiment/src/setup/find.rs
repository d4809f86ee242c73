//! The settings `find` and `prove`: the goal of an experiment.

use super::mix::Mix;
use super::{SetupBuilder, whole_seconds};
use crate::file::find::{self as file, FindMode, FindSettings};
use crate::unit::Share;
use model::Nanos;
use model::message;
use model::plan::{Confirm, Goal, LoadScale, MaxSearch, Soak, Sweep, TargetLevel};

impl SetupBuilder<'_> {
    /// Goal of the experiment. `prove` is the setting as written.
    pub(super) fn find(
        &mut self,
        source: Option<&file::Find>,
        prove: Option<bool>,
        load: &crate::file::Load,
    ) -> Goal {
        let empty = |found| match found {
            FindMode::Once => FindSettings::default(),
            FindMode::Max => FindSettings { max: Some(file::Max::default()), ..FindSettings::default() },
            FindMode::Confirm => {
                FindSettings { confirm: Some(file::Confirm::default()), ..FindSettings::default() }
            }
            FindMode::Soak => FindSettings { soak: Some(file::Soak::default()), ..FindSettings::default() },
            FindMode::Sweep => {
                FindSettings { sweep: Some(file::Sweep::default()), ..FindSettings::default() }
            }
            FindMode::Failover => {
                FindSettings { failover: Some(file::Failover::default()), ..FindSettings::default() }
            }
        };
        let settings = match source {
            None => FindSettings::default(),
            Some(file::Find::Word(it)) => empty(*it),
            Some(file::Find::How(it)) => FindSettings::clone(it),
        };
        let scale = match load.model {
            crate::file::Model::Open | crate::file::Model::Replay => LoadScale::Rate,
            crate::file::Model::Closed => LoadScale::Clients,
        };
        let modes = [
            settings.max.is_some(),
            settings.confirm.is_some(),
            settings.soak.is_some(),
            settings.sweep.is_some(),
            settings.failover.is_some(),
        ];
        if matches!(source, Some(file::Find::How(_))) && modes.iter().filter(|it| **it).count() != 1 {
            self.report("find", message!("experiment-find-mode"));
        }
        let prove = SearchOptions { asked: prove.unwrap_or(false), scale };
        let found = match settings {
            FindSettings { max: Some(it), .. } => Goal::Max(self.max("find.max", &it, prove)),
            FindSettings { confirm: Some(confirm), .. } => Goal::Confirm(Confirm {
                level: self.level(
                    "find.confirm",
                    (confirm.level, confirm.maximum, confirm.share, 1.0),
                    confirm.max.as_ref(),
                    prove,
                ),
                ramp: self.whole_duration("find.confirm.ramp", confirm.ramp, Nanos::from_secs(60)),
                hold: self.whole_duration("find.confirm.hold", confirm.hold, Nanos::from_secs(300)),
            }),
            FindSettings { soak: Some(soak), .. } => Goal::Soak(Soak {
                level: self.level(
                    "find.soak",
                    (soak.level, soak.maximum, soak.share, 0.8),
                    soak.max.as_ref(),
                    prove,
                ),
                duration: self.whole_duration("find.soak.duration", soak.duration, Nanos::from_secs(3600)),
            }),
            FindSettings { sweep: Some(sweep), .. } => {
                Goal::Sweep(Sweep { max: sweep.max.map(|it| self.max("find.sweep.max", &it, prove)) })
            }
            FindSettings { failover: Some(_), .. } => Goal::Failover,
            FindSettings { .. } => Goal::Once,
        };
        if prove.asked && found.max_search().is_none() {
            self.report("prove", message!("experiment-prove"));
        }
        found
    }

    fn max(&mut self, path: &str, settings: &file::Max, prove: SearchOptions) -> MaxSearch {
        for (key, given) in [("from", settings.from), ("limit", settings.limit)] {
            self.above_zero(&format!("{path}.{key}"), given);
        }
        if let (Some(from), Some(limit)) = (settings.from, settings.limit)
            && from > limit
        {
            let message =
                message!("experiment-find-bounds", from = from.to_string(), limit = limit.to_string());
            self.report(&format!("{path}.limit"), message);
        }
        let precision = settings.precision.map_or(MaxSearch::DEFAULT.precision, |it| it.0);
        if !(0.005..=0.5).contains(&precision) {
            let value = format!("{}%", precision * 100.0);
            self.report(
                &format!("{path}.precision"),
                message!("experiment-out-of-range", key = "precision", value, min = "0.5%", max = "50%"),
            );
        }
        MaxSearch {
            scale: prove.scale,
            from: settings.from,
            limit: settings.limit,
            precision,
            window: self.whole_duration(
                &format!("{path}.window"),
                settings.window,
                MaxSearch::DEFAULT.window,
            ),
            hold: self.whole_duration(&format!("{path}.hold"), settings.hold, MaxSearch::DEFAULT.hold),
            prove: prove.asked,
        }
    }

    fn level(
        &mut self,
        path: &str,
        (level, maximum, share, usual): (Option<f64>, Option<f64>, Option<Share>, f64),
        max: Option<&file::Max>,
        prove: SearchOptions,
    ) -> TargetLevel {
        self.above_zero(&format!("{path}.level"), level);
        self.above_zero(&format!("{path}.maximum"), maximum);
        let conflicts = |it: bool| level.is_some() && it;
        for (key, given) in [("share", share.is_some()), ("max", max.is_some())] {
            if conflicts(given) {
                let message = message!("experiment-conflicting-keys", first = "level", second = key);
                self.report(&format!("{path}.{key}"), message);
            }
        }
        if maximum.is_some() && level.is_none() {
            self.report(&format!("{path}.maximum"), message!("experiment-find-maximum"));
        }
        let given = share.map_or(usual, |it| it.0);
        if given <= 0.0 {
            self.report(&format!("{path}.share"), message!("experiment-share-zero"));
        }
        match level {
            Some(level) => TargetLevel::Absolute { level, maximum },
            None => {
                let usual = file::Max::default();
                let max = self.max(&format!("{path}.max"), max.unwrap_or(&usual), prove);
                TargetLevel::Share { share: given, max }
            }
        }
    }

    fn above_zero(&mut self, path: &str, given: Option<f64>) {
        if let Some(value) = given.filter(|it| !(1e-3..=1e7).contains(it)).map(|it| it.to_string()) {
            let key = path.rsplit('.').next();
            let (min, max) = ("0.001", "10000000");
            self.report(path, message!("experiment-out-of-range", key, value, min, max));
        }
    }

    /// Duration, which must be a positive number of whole seconds, as schedules require.
    fn whole_duration(&mut self, path: &str, given: Option<crate::unit::Duration>, default: Nanos) -> Nanos {
        let duration = given.map_or(default, |it| it.0);
        if duration.0 == 0 || !duration.0.is_multiple_of(1_000_000_000) {
            self.report(path, whole_seconds(path, duration));
        }
        duration
    }

    /// Reports loads whose level a search cannot vary.
    pub(super) fn check_search(&mut self, find: &Goal, load: &crate::file::Load, mix: &Mix) {
        if matches!(find, Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None })) {
            return;
        }
        if mix.is_empty() {
            self.report("find", message!("experiment-search-schedules"));
        }
        if load.users.is_some() {
            self.report("load.users", message!("experiment-search-users"));
        }
    }
}

/// Settings that replace the level of the load: those of a search, or a fixed level.
pub(super) fn search_in_place_of_load(find: &Goal) -> Option<MaxSearch> {
    let at = |level: f64, window| MaxSearch {
        from: Some(level),
        limit: Some(level),
        window,
        ..MaxSearch::DEFAULT
    };
    match find {
        Goal::Confirm(Confirm { level: TargetLevel::Absolute { level, .. }, hold, .. }) => {
            Some(at(*level, *hold))
        }
        Goal::Soak(Soak { level: TargetLevel::Absolute { level, .. }, duration }) => {
            Some(at(*level, *duration))
        }
        _ => find.max_search().cloned(),
    }
}

/// Options that all searches of a file have in common.
#[derive(Clone, Copy, Debug)]
struct SearchOptions {
    asked: bool,
    scale: LoadScale,
}
