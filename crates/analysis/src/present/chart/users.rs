//! Planned number of users over time

use model::plan::{LoadModel, UserStage};

/// Stages of users that come and go; empty for other loads, whose number of users is constant or unknown.
pub fn user_stages(model: &LoadModel) -> Vec<UserStage> {
    match model {
        LoadModel::Users { stages, .. } if stages.len() > 1 || stages[0].spawn_rate.is_some() => {
            stages.clone()
        }
        _ => Vec::new(),
    }
}

/// Number of users at a time in seconds since the first stage's start; `None` after the last stage. In each stage, the
/// n-th user (from 0) comes or goes n / `spawn_rate` after the stage's start.
pub fn users_at(stages: &[UserStage], at: f64) -> Option<f64> {
    let (mut present, mut begin) = (0.0, 0.0);
    for stage in stages {
        let duration = stage.duration.as_secs_f64();
        let after = (at - begin).min(duration);
        let changed = stage.spawn_rate.map_or(f64::INFINITY, |rate| {
            // A user who would come at the very end of the stage does not come.
            if after < duration { (after * rate).floor() + 1.0 } else { (duration * rate).ceil() }
        });
        let target = f64::from(stage.users);
        let now =
            if target > present { (present + changed).min(target) } else { (present - changed).max(target) };
        if at < begin + duration {
            return Some(now);
        }
        (present, begin) = (now, begin + duration);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Nanos;

    #[test]
    fn follows_the_stages() {
        let stage =
            |users, spawn_rate, secs| UserStage { users, spawn_rate, duration: Nanos::from_secs(secs) };
        let check = |stages: &[UserStage], expected: &[(f64, Option<f64>)]| {
            for (at, users) in expected {
                assert_eq!(users_at(stages, *at), *users, "{stages:?} at {at}");
            }
        };
        let steps = [stage(5, None, 10), stage(50, None, 10), stage(2, None, 10)];
        check(
            &steps,
            &[(0.0, Some(5.0)), (9.9, Some(5.0)), (10.0, Some(50.0)), (25.0, Some(2.0)), (30.0, None)],
        );
        let ramps = [stage(4, Some(0.5), 10), stage(9, Some(1.0), 3), stage(3, Some(2.0), 10)];
        check(
            &ramps,
            &[
                (0.0, Some(1.0)),
                (2.5, Some(2.0)),
                (9.0, Some(4.0)),
                // Three users come in three seconds, and the fourth would come at the end of the stage.
                (12.9, Some(7.0)),
                (13.0, Some(6.0)),
                (14.9, Some(3.0)),
                (20.0, Some(3.0)),
            ],
        );
    }
}
