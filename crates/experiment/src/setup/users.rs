//! Clients in the closed model.

use super::mix::Mix;
use super::{SetupBuilder, too_many};
use crate::ScheduleExtent;
use crate::file;
use model::Nanos;
use model::message;
use model::plan::{LoadModel, MaxSearch, ThinkTime, UserStage};

/// Maximum number of stages. A longer ramp is unreadable.
const MAX_STAGES: usize = 1000;

impl SetupBuilder<'_> {
    /// Builds a closed load. `max` is a search that determines the number of clients and the duration.
    pub(super) fn closed(
        &mut self,
        source: &file::Load,
        mix: &Mix,
        max: Option<&MaxSearch>,
    ) -> (LoadModel, ScheduleExtent) {
        let open_only = [
            ("schedule", source.schedule.is_some()),
            ("arrivals", source.arrivals.is_some()),
            ("max_in_flight", source.max_in_flight.is_some()),
            ("slack", source.slack.is_some()),
            ("coefficient", source.coefficient.is_some()),
            ("traffic", source.traffic.is_some()),
            ("speed", source.speed.is_some()),
        ];
        self.not_with(source, "closed", &open_only);
        for (path, _) in &mix.schedules {
            self.report(path, message!("experiment-schedule-closed"));
        }
        let stages = match &source.users {
            Some(all) => self.stages(source, all),
            None => {
                self.needs("closed", "clients", source.clients.is_some() || max.is_some());
                self.needs("closed", "duration", source.duration.is_some() || max.is_some());
                let of_search = max.map_or(Nanos::ZERO, |it| it.window);
                let duration = source.duration.map_or(of_search, |it| it.0);
                vec![UserStage { users: source.clients.unwrap_or(1), spawn_rate: None, duration }]
            }
        };
        let duration = Nanos(stages.iter().map(|it| it.duration.0).sum());
        let think = source.think.map_or(ThinkTime::NONE, |it| it.0);
        let pacing = source.pacing.map(|it| it.0);
        let model = match (stages.as_slice(), think, pacing, source.max_rate) {
            ([UserStage { users, spawn_rate: None, .. }], ThinkTime::Constant(think), None, None) => {
                LoadModel::Closed { clients: *users, think }
            }
            _ => LoadModel::Users { stages, think, pacing, rate_max: source.max_rate },
        };
        (model, ScheduleExtent { duration, max_rate: 0.0 })
    }

    fn stages(&mut self, source: &file::Load, all: &[file::Stage]) -> Vec<UserStage> {
        for (key, is_there) in
            [("clients", source.clients.is_some()), ("duration", source.duration.is_some())]
        {
            if is_there {
                self.report(
                    &format!("load.{key}"),
                    message!("experiment-conflicting-keys", first = "users", second = key),
                );
            }
        }
        if all.iter().all(|it| it.users == 0) {
            self.report("load.users", message!("experiment-users-zero"));
        }
        if all.len() > MAX_STAGES {
            self.report("load.users", too_many("users", all.len(), MAX_STAGES));
        }
        let mut before = 0;
        for (i, stage) in all.iter().enumerate() {
            let path = |key: &str| format!("load.users[{i}].{key}");
            if stage.duration.0 == Nanos::ZERO {
                self.report(&path("duration"), message!("experiment-duration-zero", key = "duration"));
            }
            let Some(rate) = stage.spawn_rate else {
                before = stage.users;
                continue;
            };
            let seconds = f64::from(stage.users.abs_diff(before)) / rate;
            if !(1e-6..=1e6).contains(&rate) {
                self.report(
                    &path("spawn_rate"),
                    message!(
                        "experiment-out-of-range",
                        key = "spawn_rate",
                        value = rate.to_string(),
                        min = "0.000001",
                        max = "1000000"
                    ),
                );
            } else if seconds > stage.duration.0.as_secs_f64() && stage.duration.0 > Nanos::ZERO {
                let message = message!(
                    "experiment-stage-too-short",
                    from = before.to_string(),
                    to = stage.users.to_string(),
                    rate = rate.to_string(),
                    seconds = seconds.ceil().to_string()
                );
                self.report(&path("duration"), message);
            }
            before = stage.users;
        }
        let stage = |source: &file::Stage| UserStage {
            users: source.users,
            spawn_rate: source.spawn_rate,
            duration: source.duration.0,
        };
        all.iter().take(MAX_STAGES).map(stage).collect()
    }
}

/// Limits a closed load to `rate` transactions per second; an open load is unchanged.
pub(super) fn with_max_rate(model: &LoadModel, rate: f64, duration: Nanos) -> LoadModel {
    match model.clone() {
        LoadModel::Closed { clients, think } => LoadModel::Users {
            stages: vec![UserStage { users: clients, spawn_rate: None, duration }],
            think: ThinkTime::Constant(think),
            pacing: None,
            rate_max: Some(rate),
        },
        LoadModel::Users { stages, think, pacing, .. } => {
            LoadModel::Users { stages, think, pacing, rate_max: Some(rate) }
        }
        other @ (LoadModel::Open { .. } | LoadModel::Log { .. } | LoadModel::Replay { .. }) => other,
    }
}
