//! Clients in the closed model.

use super::SetupBuilder;
use super::mix::Mix;
use crate::ScheduleExtent;
use crate::file;
use model::Nanos;
use model::plan::{LoadModel, MaxSearch, ThinkTime, UserStage};

/// More stages are unreadable.
const MAX_STAGES: usize = 1000;

impl SetupBuilder<'_> {
    /// `max`: a search that determines the number of clients and the duration.
    pub(super) fn closed(
        &mut self,
        it: &file::Load,
        mix: &Mix,
        max: Option<&MaxSearch>,
    ) -> (LoadModel, ScheduleExtent) {
        let decide = "in the closed model answers decide when the next one starts";
        self.not_with(
            it,
            "closed",
            &[
                ("schedule", it.schedule.is_some(), decide),
                ("arrivals", it.arrivals.is_some(), decide),
                ("max_in_flight", it.max_in_flight.is_some(), "the closed model has `clients`"),
                ("coefficient", it.coefficient.is_some(), "rates are only relative to each other there"),
            ],
        );
        for (path, _) in &mix.own {
            let instead = "write `weight`, or `model: open`";
            self.report(path, "a schedule of its own in the closed model", instead);
        }
        let stages = match &it.users {
            Some(all) => self.stages(it, all),
            None => {
                self.needs(
                    "closed",
                    "clients",
                    it.clients.is_some() || max.is_some(),
                    "add how many, as in `clients: 8`",
                );
                self.needs(
                    "closed",
                    "duration",
                    it.duration.is_some() || max.is_some(),
                    "add what is measured, as in `duration: 30s`",
                );
                let of_search = max.map_or(Nanos::ZERO, |it| it.window);
                let lasting = it.duration.map_or(of_search, |it| it.0);
                vec![UserStage { users: it.clients.unwrap_or(1), spawn_rate: None, duration: lasting }]
            }
        };
        let lasting = Nanos(stages.iter().map(|it| it.duration.0).sum());
        let think = it.think.map_or(ThinkTime::NONE, |it| it.0);
        let pacing = it.pacing.map(|it| it.0);
        let model = match (stages.as_slice(), think, pacing, it.max_rate) {
            ([UserStage { users, spawn_rate: None, .. }], ThinkTime::Constant(think), None, None) => {
                LoadModel::Closed { clients: *users, think }
            }
            _ => LoadModel::Users { stages, think, pacing, rate_max: it.max_rate },
        };
        (model, ScheduleExtent { duration: lasting, max_rate: 0.0 })
    }

    fn stages(&mut self, it: &file::Load, all: &[file::Stage]) -> Vec<UserStage> {
        for (key, is_there, instead) in [
            ("clients", it.clients.is_some(), "leave it out: `users` says how many"),
            ("duration", it.duration.is_some(), "leave it out: it is as long as all stages"),
        ] {
            if is_there {
                self.report(&format!("load.{key}"), format!("`{key}` beside `users`"), instead);
            }
        }
        if all.iter().all(|it| it.users == 0) {
            let instead = "add a stage, as in `users: [{ users: 100, spawn_rate: 5, for: 90s }]`";
            self.report("load.users", "stages without a user", instead);
        }
        if all.len() > MAX_STAGES {
            self.report("load.users", format!("{} stages", all.len()), format!("write at most {MAX_STAGES}"));
        }
        let mut before = 0;
        for (i, it) in all.iter().enumerate() {
            let path = |key: &str| format!("load.users[{i}].{key}");
            if it.duration.0 == Nanos::ZERO {
                self.report(&path("for"), "a stage of 0", "write how long, as in 90s");
            }
            let Some(rate) = it.spawn_rate else {
                before = it.users;
                continue;
            };
            let seconds = f64::from(it.users.abs_diff(before)) / rate;
            if !(1e-6..=1e6).contains(&rate) {
                self.report(
                    &path("spawn_rate"),
                    format!("{rate} users per second"),
                    "write more than 0 and at most 1000000, as in 50",
                );
            } else if seconds > it.duration.0.as_secs_f64() && it.duration.0 > Nanos::ZERO {
                let found =
                    format!("{rate} users per second take {}s from {before} to {}", seconds.ceil(), it.users);
                let instead = format!("write `for: {}s` or more, or more per second", seconds.ceil());
                self.report(&path("for"), found, instead);
            }
            before = it.users;
        }
        let stage = |it: &file::Stage| UserStage {
            users: it.users,
            spawn_rate: it.spawn_rate,
            duration: it.duration.0,
        };
        all.iter().take(MAX_STAGES).map(stage).collect()
    }
}

/// Limits a closed load to `rate` transactions per second; an open load is unchanged.
pub(super) fn with_max_rate(model: &LoadModel, rate: f64, lasting: Nanos) -> LoadModel {
    match model.clone() {
        LoadModel::Closed { clients, think } => LoadModel::Users {
            stages: vec![UserStage { users: clients, spawn_rate: None, duration: lasting }],
            think: ThinkTime::Constant(think),
            pacing: None,
            rate_max: Some(rate),
        },
        LoadModel::Users { stages, think, pacing, .. } => {
            LoadModel::Users { stages, think, pacing, rate_max: Some(rate) }
        }
        open @ LoadModel::Open { .. } => open,
    }
}
