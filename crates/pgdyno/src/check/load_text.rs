//! Description of a load: clients or schedule, pacing, duration and query mode

use model::plan::{LoadModel, Setup, ThinkTime, UserStage};
use model::summary::QueryMode;
use model::{Nanos, Spacing};
use report::lang::Lang;
use report::say;

/// Load in one line, such as `closed-loop, 8 clients, 10s after 2s of warm-up, query mode simple`.
pub fn describe_load(setup: &Setup, lang: &Lang) -> String {
    let load = &setup.load;
    let time = |duration: Nanos| lang.numbers().duration(duration);
    let mut parts = match &load.model {
        LoadModel::Closed { clients, think } => {
            let think = (*think > Nanos::ZERO).then(|| say!(lang, "check-think", time = time(*think)));
            let clients = say!(lang, "check-load-clients", count = *clients);
            [say!(lang, "check-closed"), clients].into_iter().chain(think).collect()
        }
        LoadModel::Users { stages, think, pacing, rate_max } => {
            describe_users(stages, *think, *pacing, *rate_max, lang)
        }
        LoadModel::Open { schedule, arrivals, max_in_flight } => {
            let spacing = match arrivals {
                Spacing::Even => say!(lang, "check-even"),
                Spacing::Poisson => say!(lang, "check-poisson"),
            };
            let cap = say!(lang, "check-in-flight-cap", cap = max_in_flight.to_string());
            let mix = load.traffic.as_ref().map(|it| lang.recorded_mix(it));
            [Some(say!(lang, "check-open")), mix, Some(schedule.clone()), Some(spacing), Some(cap)]
                .into_iter()
                .flatten()
                .collect()
        }
        LoadModel::Log { log, speed, max_in_flight } => {
            let cap = say!(lang, "check-in-flight-cap", cap = max_in_flight.to_string());
            vec![say!(lang, "check-open"), lang.recorded_log(log, *speed), cap]
        }
        LoadModel::Replay { recording, speed } => {
            return [lang.replay(recording, *speed), time(recording.duration_at(*speed))].join(", ");
        }
    };
    let warmup = (load.warmup > Nanos::ZERO).then(|| time(load.warmup));
    match load.duration.map(time) {
        Some(duration) => parts.push(say!(lang, "check-duration", duration, warmup)),
        None => parts.extend(warmup.map(|warmup| say!(lang, "check-warmup", warmup))),
    }
    let mode = match load.query_mode {
        QueryMode::Simple => "simple",
        QueryMode::Extended => "extended",
        QueryMode::Prepared => "prepared",
    };
    parts.extend(load.traffic.is_none().then(|| say!(lang, "check-query-mode", mode)));
    parts.extend((load.slack > Nanos::ZERO).then(|| say!(lang, "check-slack", time = time(load.slack))));
    parts.extend(load.reconnect.then(|| say!(lang, "check-reconnect")));
    parts.extend(load.cookies.then(|| say!(lang, "check-cookies")));
    parts.join(", ")
}

/// Closed load of users, such as `closed-loop, 1000 users at 50/s for 1m30s, then 500 users for 1m, think time 1s`.
fn describe_users(
    stages: &[UserStage],
    think: ThinkTime,
    pacing: Option<Nanos>,
    rate_max: Option<f64>,
    lang: &Lang,
) -> Vec<String> {
    let numbers = lang.numbers();
    let time = |duration: Nanos| numbers.duration(duration);
    let stage = |stage: &UserStage| {
        let rate = stage.spawn_rate.map(|rate| numbers.plain(rate));
        let duration = (stages.len() > 1).then(|| time(stage.duration));
        say!(lang, "check-users", count = stage.users, rate, duration)
    };
    let stages: Vec<String> = stages.iter().map(stage).collect();
    let mut parts = vec![say!(lang, "check-closed"), stages.join(&say!(lang, "check-then"))];
    parts.extend(match think {
        ThinkTime::Constant(Nanos::ZERO) => None,
        ThinkTime::Constant(duration) => Some(say!(lang, "check-think", time = time(duration))),
        ThinkTime::Exponential { mean } => Some(say!(lang, "check-think-exponential", mean = time(mean))),
        ThinkTime::LogNormal { median, sigma } => {
            let sigma = numbers.plain(sigma);
            Some(say!(lang, "check-think-log-normal", median = time(median), sigma))
        }
    });
    parts.extend(pacing.map(|interval| say!(lang, "check-pacing", interval = time(interval))));
    parts.extend(rate_max.map(|rate| say!(lang, "check-rate-max", rate = numbers.plain(rate))));
    parts
}
